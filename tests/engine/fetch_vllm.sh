#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring vLLM as users have it, less NVIDIA's math and runtime wheels: the virtual GPU stands in for those.
#
#     fetch_vllm.sh DIR     leaves DIR/bin/python with it; does nothing when it is there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -u

directory=$1
vllm=vllm==0.33.0
if [ -e "$directory/is-whole" ]; then
    exit 0
fi
rm -rf "$directory"
echo "fetching $vllm and what it needs (ten gigabytes on the disk)" >&2
mkdir -p "$directory" # uv leaves out what an override says is for no system
for wheel in cublas cuda-cupti cuda-runtime cudnn-cu13 cufft cufile curand cusolver cusparse cusparselt-cu13 nccl-cu13 nvshmem-cu13; do
    echo "nvidia-$wheel ; sys_platform == 'never'"
done >"$directory.left-out"
echo certifi >>"$directory.left-out" # any version: not every mirror has the newest
if python3 -m venv "$directory" && "$directory/bin/python" -m pip install --quiet --disable-pip-version-check uv &&
    "$directory/bin/uv" pip install --quiet --python "$directory/bin/python" --override "$directory.left-out" $vllm; then
    : >"$directory/is-whole"
    exit 0
fi
rm -rf "$directory" "$directory.left-out"
echo "fetch: pip could not bring $vllm" >&2
exit 77
