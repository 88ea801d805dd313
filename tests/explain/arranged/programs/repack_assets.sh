#!/bin/bash
# SPDX-License-Identifier: MIT
# Commit versions of game textures to a repository and repack it for the mirror: repack_assets.sh TEXTURES MIB
set -eu
textures=$1 mib=$2
export GIT_AUTHOR_NAME=assets GIT_AUTHOR_EMAIL=assets@studio.example GIT_COMMITTER_NAME=assets GIT_COMMITTER_EMAIL=assets@studio.example
git init -q -b main assets.git
cd assets.git
git config core.compression 0
for texture in $(seq "$textures"); do
    openssl enc -aes-128-ctr -K 00 -iv "$texture" -nosalt -in /dev/zero 2>/dev/null | head -c "${mib}M" > "texture_$texture.dds" || true
done
echo "committing $(ls ./*.dds | wc -l) textures, $(du -sm . | cut -f1) MiB"
git add . 
git commit -q -m "Textures of the harbour level"
for texture in $(seq "$textures"); do printf 'mip bias %s\n' "$texture" >> "texture_$texture.dds"; done
git commit -q -a -m "Set the mip bias"
git count-objects -v | grep -e count -e size
echo "repacking with a window of 4"
git -c pack.threads=1 repack -a -d -f --window=4
git count-objects -v | grep -e count -e size
