#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The bill of a config beside the bill of the GGUF file that llama.cpp's converter and quantizer made of it: byte for byte.

    bills.py --plimsoll PROGRAM [--all] [--page FILE] [NAME...]

The file is written again from what tests/data/converted recorded of it: its keys, its tensors with their types, a
vocabulary of its length, and a hole for the data. Every device's every line has to be equal in what it is and in its
bytes; where the forecast has a doubt its band is the wider one. A config that tests/data/converted/without-rules.txt names has no forecast.
Exit status: 0 all equal, 1 some are not.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import check
import forecasts
import truth

sys.path.insert(0, os.path.join(os.path.dirname(check.RECORDED), "..", "gguf"))
import gguf  # noqa: E402

FILE_TYPES = {"Q8_0": 7, "Q5_K_S": 16, "Q4_K_M": 15, "IQ4_XS": 30, "IQ3_XXS": 23}
ONE_CARD = ["--budget", "80GiB", "-c", "16384"]
TWO_CARDS = ["--budget", "16GiB", "--budget", "24GiB", "-c", "4096", "-ngl", "20"]
FEW = (("Q4_K_M", ONE_CARD), ("Q8_0", TWO_CARDS))
ALL = tuple((recipe, setup) for recipe in FILE_TYPES for setup in (ONE_CARD, TWO_CARDS))


def value(key: truth.Key) -> gguf.Value:
    word = key.type.removeprefix("array of ").upper()
    if key.type.startswith("array of "):
        return gguf.array(gguf.Kind[word], key.value)
    return gguf.Value(gguf.Kind[word], key.value)


def write_file(recorded: truth.Truth, recipe: str, path: str) -> None:
    """The file of a recipe."""
    keys = {name: value(key) for name, key in recorded.keys.items()}
    keys["general.file_type"] = gguf.u32(FILE_TYPES[recipe])
    keys["general.quantization_version"] = gguf.u32(2)
    keys["tokenizer.ggml.model"] = gguf.string("gpt2")
    keys["tokenizer.ggml.tokens"] = gguf.array(gguf.Kind.STRING, [f"t{i}" for i in range(recorded.n_tokens)])
    types = recorded.types[recipe]
    names = {tensor.name: tensor for tensor in recorded.tensors}
    tensors = [gguf.Tensor(name, names[name].ne, types[name].upper()) for name in sorted(types, key=check.quantizer_order)]
    gguf.write(path, keys, tensors)


def bill(plimsoll: str, arguments: list[str]) -> list[tuple] | str:
    """Device, line, bytes; or why there is none."""
    command = [plimsoll, "fit", "--json", "--ram", "512GiB", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return f"exit status {done.returncode}: {done.stderr.strip()[-200:]}"
    devices = json.loads(done.stdout)["devices"]
    return [(device["id"], line["label"], line["bytes"], line["low"], line["high"])
            for device in devices for line in device["lines"]]


def agrees(of_file: tuple, of_config: tuple) -> bool:
    """The same line with the same bytes, and the file's band inside that of the config."""
    *what, low, high = of_file
    *forecast, lowest, highest = of_config
    return what == forecast and lowest <= low and high <= highest


def compare(plimsoll: str, path: str, setups: tuple) -> tuple[int, int, list[str]]:
    """How many bills, how many of them differ, and in what."""
    with open(path, encoding="utf-8") as file:
        recorded = truth.load(file.read())
    name = os.path.basename(path).removesuffix(".txt")
    n, n_different, wrong = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(recorded.config, file)
        for recipe, setup in setups:
            made = os.path.join(folder, f"{recipe}.gguf")
            write_file(recorded, recipe, made)
            theirs = bill(plimsoll, [made, *setup])
            ours = bill(plimsoll, [config, "--quant", recipe, *setup])
            n += 1
            if isinstance(theirs, str) or isinstance(ours, str):
                n_different += 1
                wrong += [f"{name} {recipe}: {words}" for words in (theirs, ours) if isinstance(words, str)]
                continue
            differ = [f"{a} from the file, {b} from the config" for a, b in zip(theirs, ours) if not agrees(a, b)]
            if len(theirs) != len(ours):
                differ.append(f"{len(theirs)} lines from the file, {len(ours)} from the config")
            n_different += bool(differ)
            wrong += [f"{name} {recipe}: {words}" for words in differ[:3]]
    return n, n_different, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare bills of configs with those of the files they become.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="recorded configs whose names begin so")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--all", action="store_true", help="five recipes on one card and on two, and not two bills of each")
    parser.add_argument("--page", metavar="FILE", help="write the row of docs/accuracy.md there")
    options = parser.parse_args()
    left_out = check.without_rules()
    names = [name for name in check.recorded_names(options.names) if "@mmproj" not in name and name not in left_out]
    paths = [os.path.join(check.RECORDED, name + ".txt") for name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda path: compare(options.plimsoll, path, ALL if options.all else FEW), paths))
    for _, _, wrong in found:
        for words in wrong:
            print(f"DIFFERENT {words}")
    n_bad = sum(bool(wrong) for _, _, wrong in found)
    n_bills, n_different = sum(n for n, _, _ in found), sum(n for _, n, _ in found)
    print(f"{len(paths)} configs, {n_bills} bills: {len(paths) - n_bad} configs equal the file, {n_bad} not")
    if options.page:
        what = f"{len(paths)} configs, {n_bills // len(paths)} bills of each" if paths else "none"
        forecasts.write_row(options.page, forecasts.BILLS, what, n_bills - n_different, n_different,
                            f"{len(left_out)} configs")
    return 1 if n_bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
