#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring PyTorch as users have it, less NVIDIA's math and runtime wheels: the virtual GPU stands in for those.
#
#     fetch_torch.sh small|whole|cu12|old DIR leaves DIR/bin/python with it; does nothing when it is there
#
# small: PyTorch and the compilers that it links (nvrtc, nvJitLink). whole: also Triton, transformers, accelerate, peft,
# bitsandbytes. cu12: the last release for CUDA 12 that PyPI has. old: the oldest whose kernels are known.
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -u

what=$1 directory=$2
torch=torch==2.15.0
pure='filelock typing-extensions setuptools sympy networkx jinja2 fsspec numpy'
more='nvidia-cuda-nvrtc==13.2.* nvidia-nvjitlink==13.2.*'
case $what in
small) ;;
whole)
    pure="$pure triton==3.9.* psutil huggingface-hub tokenizers safetensors regex pyyaml requests tqdm packaging typer"
    more="$more cuda-bindings==13.* cuda-pathfinder transformers==5.23.0 accelerate peft bitsandbytes"
    ;;
cu12)
    torch=torch==2.10.0
    more='nvidia-cuda-nvrtc-cu12==12.8.93 nvidia-nvjitlink-cu12==12.8.93'
    ;;
old)
    torch=torch==2.5.1
    more='nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-nvjitlink-cu12==12.4.127'
    ;;
*)
    echo "fetch: there is no '$what'" >&2
    exit 2
    ;;
esac

if [ -e "$directory/is-whole" ]; then
    exit 0
fi
pip() { "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "$@"; }
rm -rf "$directory"
echo "fetching $torch and what it needs (half a gigabyte and more)" >&2
# shellcheck disable=SC2086 # words on purpose
if python3 -m venv "$directory" && pip --no-deps $torch && pip $pure && pip --no-deps $more; then
    : >"$directory/is-whole"
    exit 0
fi
rm -rf "$directory"
echo "fetch: pip could not bring $torch" >&2
exit 77
