#!/bin/bash
# SPDX-License-Identifier: MIT
# Play a clip backwards for the replay wall: clip_reverse.sh SECONDS SIZE
set -e
ffmpeg -hide_banner -loglevel warning -y -f lavfi -i "testsrc2=size=$2:rate=25:duration=$1" -c:v libx264 -preset ultrafast -threads 1 -an clip.mp4
echo "clip.mp4: $(stat -c %s clip.mp4) bytes, $1 s of $2"
ffmpeg -hide_banner -nostats -y -threads 1 -filter_threads 1 -i clip.mp4 -vf reverse -c:v mpeg4 -q:v 5 -threads 1 -an backwards.mp4
