#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make data/ollama.csv, the tags of Ollama's library: ollama_tags.py LIBRARY.json; or its sizes anew: ollama_tags.py

data/ollama-library.csv says which model a size of a library entry is. LIBRARY.json is the list of the library's tags
with their digests, ollama_models/ollama_models.json of github.com/MarkWard0110/ollama-models. A tag that names no
quantization has the one of a tag with the same digest. `bytes` is the size of the file where tests/data/published.csv has it.
"""
import collections
import csv
import json
import os
import re
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
TYPE = re.compile(r"-(i?q\d(?:_[0-9a-z]+)*|fp16|bf16|f16|mxfp4|mxfp8|nvfp4|fp8|int4|int8|mlx.*|cloud|.*-cloud)$", re.IGNORECASE)

# Digests without a second tag that names the type: the type that the page of the library says.
STATED = {"gpt-oss:20b": "MXFP4_MOE", "gpt-oss:120b": "MXFP4_MOE", "smollm2:135m": "F16", "smollm2:360m": "F16", "bge-m3:567m": "F16",
          "all-minilm:22m": "F16", "all-minilm:33m": "F16"}
NAMES = {"fp16": "F16", "f16": "F16", "bf16": "BF16", "mxfp4": "MXFP4_MOE"}


def recipe(quantizations):
    if len(quantizations) != 1:
        return ""
    name = next(iter(quantizations)).lower()
    return NAMES.get(name, name.upper())


def read_library():
    with open(os.path.join(DATA, "ollama-library.csv"), newline="", encoding="utf-8") as file:
        return {(row["library"], row["tag"]): row["id"] for row in csv.DictReader(file)}


def model_of(library, models, tags, by_digest):
    """The id for a tag: its own row, that of its longest beginning, or that of a tag with the same digest."""
    for tag in [tags["name"], *sorted(other["name"] for other in by_digest[tags["hash"]])]:
        parts = tag.split("-")
        for n in range(len(parts), 0, -1):
            if (library, "-".join(parts[:n])) in models:
                return models[library, "-".join(parts[:n])]
    return ""


def rows(library_json):
    models = read_library()
    known = {library for library, _ in models}
    for entry in library_json:
        if entry["name"] not in known:
            continue
        by_digest = collections.defaultdict(list)
        for tag in entry["tags"]:
            by_digest[tag["hash"]].append(tag)
        for tag in entry["tags"]:
            if tag.get("quantization") or TYPE.search(tag["name"]):
                continue
            ident = model_of(entry["name"], models, tag, by_digest)
            found = {other["quantization"] for other in by_digest[tag["hash"]] if other.get("quantization")}
            stated = {STATED[f"{entry['name']}:{other['name']}"] for other in by_digest[tag["hash"]]
                      if f"{entry['name']}:{other['name']}" in STATED}
            if tag["name"].endswith("-it-qat"):  # Google's checkpoints that were trained for Q4_0
                found = {"q4_0"}
            if ident:
                yield f"{entry['name']}:{tag['name']}".lower(), ident, recipe(found or stated)


def read_sizes():
    """Bytes of files of the library, by its entry, the model and the quantization."""
    sizes = {}
    with open(os.path.join(DATA, "..", "tests", "data", "published.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found = re.match(r"([^ :]+):\S+ sha256", row["file"])
            if found:
                sizes[found[1], row["id"], row["quant"]] = row["bytes"]
    return sizes


def main(path=None):
    if path:
        with open(path, encoding="utf-8") as file:
            made = dict((tag, (ident, quant)) for tag, ident, quant in rows(json.load(file)))
    else:
        with open(os.path.join(DATA, "ollama.csv"), newline="", encoding="utf-8") as file:
            made = {row["tag"]: (row["id"], row["quant"]) for row in csv.DictReader(file)}
    sizes = read_sizes()
    for (library, tag), ident in read_library().items():  # of tags that are spelled with a type only
        made.setdefault(f"{library}:{tag}", (ident, ""))
    with open(os.path.join(DATA, "ollama.csv"), "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["tag", "id", "quant", "bytes"])
        writer.writerows((tag, *made[tag], sizes.get((tag.partition(":")[0], *made[tag]), "")) for tag in sorted(made))


if __name__ == "__main__":
    main(*sys.argv[1:])
