#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make GGUF test models.

    make.py NAME... -o DIR [--ftype Q4_K_M] [--vocab none|full] [--layers N] [--split N] [--version 2|3]
            [--big-endian] [--alignment N]
    make.py --all -o DIR
    make.py --list

Each file is DIR/NAME-FTYPE.gguf: a real header and a hole. Paths are printed as files are written.
"""
from __future__ import annotations

import argparse
import os
import sys

import gguf
import vocab
from quant_recipes import FILE_TYPES, assign
from model import Model
from zoo import ZOO, Entry

GENERAL_QUANTIZATION_VERSION = 2


def metadata(model: Model, name: str, ftype: str, with_vocab: bool, alignment: int) -> dict[str, gguf.Value]:
    """All keys in the order of published files: general, the architecture's, the tokenizer's."""
    meta = {
        "general.architecture": gguf.string(model.arch),
        "general.type": gguf.string(model.type),
        "general.name": gguf.string(name),
    }
    if alignment != gguf.DEFAULT_ALIGNMENT:
        meta["general.alignment"] = gguf.u32(alignment)
    meta["general.file_type"] = gguf.u32(FILE_TYPES[ftype][0])
    meta["general.quantization_version"] = gguf.u32(GENERAL_QUANTIZATION_VERSION)
    meta.update(model.meta)
    if model.type == "model":
        if model.writes_vocab_size or not with_vocab:
            meta[f"{model.arch}.vocab_size"] = gguf.u32(model.hyper.vocab)
        meta.update(vocab.full(model.hyper.vocab, model.hyper.pre) if with_vocab else vocab.none())
    return meta


def make(name: str, entry: Entry, options: argparse.Namespace) -> list[str]:
    """Write one model and return the paths of its files."""
    ftype = options.ftype or entry.ftype
    hyper = entry.hyper.cut(options.layers) if options.layers else entry.hyper
    model = entry.family(hyper)
    meta = metadata(model, name, ftype, options.vocab == "full", options.alignment)
    path = os.path.join(options.output, f"{name}-{ftype}.gguf")
    form = {"version": options.version, "big_endian": options.big_endian}
    if options.split > 1:
        return gguf.write_split(path, meta, assign(model, ftype), options.split, **form)
    gguf.write(path, meta, assign(model, ftype), **form)
    return [path]


def list_models() -> None:
    for name, entry in ZOO.items():
        model = entry.family(entry.hyper.cut(1))
        print(f"{name:28} {entry.kind:7} {model.arch:16} {entry.ftype:10} {'approx' if entry.approx else ''}".rstrip())


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make GGUF test models: real headers, no weights.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a model of the zoo")
    parser.add_argument("-o", "--output", metavar="DIR", help="where the files go")
    parser.add_argument("--all", action="store_true", help="every model of the zoo")
    parser.add_argument("--list", action="store_true", help="list the zoo: name, kind, architecture, usual file type")
    parser.add_argument("--ftype", choices=FILE_TYPES, help="file type; without it each model's usual one")
    parser.add_argument("--vocab", choices=("none", "full"), default="none")
    parser.add_argument("--layers", type=int, metavar="N", help="keep only the first N layers")
    parser.add_argument("--split", type=int, default=1, metavar="N", help="spread each model over N files")
    parser.add_argument("--version", type=int, choices=(2, 3), default=3, help="version of the format")
    parser.add_argument("--big-endian", action="store_true")
    parser.add_argument("--alignment", type=int, default=gguf.DEFAULT_ALIGNMENT, metavar="BYTES")
    options = parser.parse_args()
    if options.list:
        return options
    if not options.output or not (options.names or options.all):
        parser.error("say which models (NAME... or --all) and where to (-o DIR)")
    if options.layers is not None and options.layers < 1:
        parser.error("--layers takes a positive number")
    unknown = [name for name in options.names if name not in ZOO]
    if unknown:
        parser.error(f"not in the zoo: {', '.join(unknown)} (see --list)")
    return options


def main() -> int:
    options = parse()
    if options.list:
        list_models()
        return 0
    os.makedirs(options.output, exist_ok=True)
    for name in ZOO if options.all else options.names:
        for path in make(name, ZOO[name], options):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
