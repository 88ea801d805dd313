#!/bin/sh
# SPDX-License-Identifier: MIT
# test-engines.sh: the engines themselves on the virtual GPU, every program of tests/engine. Downloads some gigabytes into
# .cache once. A test whose engine cannot be downloaded is skipped, with the reason.
set -u
cd "$(dirname "$0")/.."
sh tools/install-packages.sh test || exit 1

build=build-test-gcc
[ -f $build/build.ninja ] || meson setup $build -Dwerror_extra=true || exit 1
ninja -C $build || exit 1
sh tests/engine/fetch.sh .cache/llama.cpp-v0.5.0
sh tests/engine/convert/fetch.sh .cache/convert
sh tests/engine/fetch_safetensors.sh .cache/safetensors
sh tests/engine/fetch_torch.sh small .cache/torch
sh tests/engine/fetch_torch.sh whole .cache/torch-whole
sh tests/engine/fetch_torch.sh cu12 .cache/torch-cu12
sh tests/engine/fetch_torch.sh old .cache/torch-old
for group in trl unsloth field recipes cuda11 jax12 jax13 tf cuda small rust go node; do
    sh tests/engine/programs/fetch.sh .cache/programs-$group $group
done
sh tests/engine/watch/fetch.sh .cache/monitors
sh tests/engine/fetch_vllm.sh .cache/vllm
# Names that NVIDIA's newest wheels export and our lists lack: told, and no failure of this tree.
python3 tools/wheels.py || echo "the lists of src/vgpu/exports are to be renewed: tools/wheels.py --write"
meson test -C $build --print-errorlogs --verbose --suite engine --suite engines -t 0
result=$?
python3 tools/skipped.py $build/meson-logs/testlog.json
exit $result
