#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make the bundled sample: the header of an 8B model without its weights, from published hyperparameters.

    make.py            write the header beside this file
    make.py --check    fail when the header there is not what would be written

tools/sample.sh grows the header to the size the model's file has; what follows the header is a hole.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "gguf"))

import gguf  # noqa: E402
import make  # noqa: E402
from quant_recipes import assign  # noqa: E402
from zoo import ZOO  # noqa: E402

NAME, FTYPE = "Llama 3.1 8B Instruct", "Q4_K_M"
HEADER = os.path.join(HERE, "Llama-3.1-8B-Instruct-Q4_K_M.gguf.header")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the header of the bundled sample.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    entry = ZOO["llama-3.1-8b"]
    model = entry.family(entry.hyper)
    meta = make.metadata(model, NAME, FTYPE, False, gguf.DEFAULT_ALIGNMENT)
    head, data_bytes = gguf.header(meta, assign(model, FTYPE))
    if options.check:
        with open(HEADER, "rb") as file:
            is_same = file.read() == head
        with open(os.path.join(HERE, "..", "..", "tools", "sample.sh"), encoding="utf-8") as file:
            has_size = f"file_bytes={len(head) + data_bytes}\n" in file.read()
        print("header:", "same" if is_same else "differs", "- size in tools/sample.sh:", "same" if has_size else "differs")
        return 0 if is_same and has_size else 1
    with open(HEADER, "wb") as file:
        file.write(head)
    print(f"{len(head)} bytes of header, {len(head) + data_bytes} bytes of file")
    return 0


if __name__ == "__main__":
    sys.exit(main())
