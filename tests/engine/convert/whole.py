#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
One conversion with its data: that records are made without weights changes nothing but the weights.

    whole.py --convert DIR --engine DIR --probe PROGRAM --vgpu DIR [CASE]

A small config's checkpoint is filled with random weights, converted with the data and quantized in earnest; header and
types are laid beside those of the same steps without data.
Exit status: 0 the same, 1 not, 77 the converter or the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile

import cases
import gguf_header
import record

CHUNK_BYTES = 1 << 22
BF16_SIGN_AND_HALF = 0xBF  # the upper byte of a bfloat16 with its highest exponent bit cleared: no infinity, no NaN


def fill(path: str) -> None:
    """Random bfloat16 weights in place of the hole of a safetensors file."""
    size = os.path.getsize(path)
    source = random.Random(0)
    with open(path, "r+b") as file:
        at = 8 + int.from_bytes(file.read(8), "little")
        file.seek(at)
        while at < size:
            n = min(CHUNK_BYTES, size - at)
            data = bytearray(source.randbytes(n))
            data[1::2] = bytes(byte & BF16_SIGN_AND_HALF for byte in data[1::2])
            file.write(data)
            at += n


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare a conversion with its data with one without.")
    parser.add_argument("case", nargs="?", default="HuggingFaceTB__SmolLM2-135M")
    parser.add_argument("--convert", required=True, help="folder that fetch.sh made")
    parser.add_argument("--engine", required=True, help="folder of llama.cpp's libraries")
    parser.add_argument("--probe", required=True, help="quant_probe")
    parser.add_argument("--vgpu", required=True, help="folder of the virtual GPU's libraries")
    options = parser.parse_args()
    if not record.is_there(options):
        return 77
    tools = record.Tools(options)
    case = next(case for case in cases.read() if case.name == options.case)
    with tempfile.TemporaryDirectory(prefix="converted-") as folder:
        config, checkpoint = os.path.join(folder, "config.json"), os.path.join(folder, "checkpoint")
        hollow, whole, made = (os.path.join(folder, name) for name in ("hollow.gguf", "whole.gguf", "made.gguf"))
        with open(config, "w", encoding="utf-8") as file:
            json.dump(cases.without_notes(case.config()), file)
        tools.checkpoint[case.transformers].run(config, checkpoint)
        tools.convert.run(checkpoint, "--outfile", hollow)
        fill(os.path.join(checkpoint, "model.safetensors"))
        tools.convert.run("--data", checkpoint, "--outfile", whole)
        headers = gguf_header.read(hollow) == gguf_header.read(whole) and os.path.getsize(hollow) == os.path.getsize(whole)
        dry = record.quantize(options, hollow, ["Q4_K_M"])
        types = dry == record.quantize(options, whole, ["Q4_K_M"], output=made)
        n = os.path.getsize(made)
    print(f"{case.name}: header {'the same' if headers else 'DIFFERENT'} with data and without, "
          f"types of Q4_K_M {'the same' if types else 'DIFFERENT'} in earnest ({n} bytes) and dry")
    return 0 if headers and types and n else 1


if __name__ == "__main__":
    sys.exit(main())
