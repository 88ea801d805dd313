# SPDX-License-Identifier: MIT
"""
What llama.cpp's converter and quantizer make of a config, kept as text: one file per config in tests/data/converted.

    # how it was made
    config {...}                        the config.json the converter read, on one line
    option --mmproj                     the converter's options, if any
    key NAME TYPE JSON                  the file's keys without the tokenizer's and the author's
    tokens N                            entries of the (made-up) vocabulary
    tensors                             in file order: NAME TYPE NE...
      token_embd.weight bf16 1024 151936
    blocks 0 1 10 11 2-9                in file order, each of these blocks with:
      attn_k.weight bf16 1024 1024
    types Q4_K_M                        what the quantizer makes of it: NAME without its block, TYPE, blocks; no blocks: all
      attn_v.weight q6_K 0-2,5 q5_K 3-4
"""
from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from gguf_header import Key, Tensor

BLOCK = re.compile(r"((?:[a-z]+\.)*blk)\.(\d+)\.(.*)")  # "blk.0.x", "v.blk.0.x", "enc.blk.0.x"
# Keys that tell of the author, or hold the vocabulary.
IGNORED = re.compile(r"tokenizer\.|general\.(?!architecture$|file_type$|type$|alignment$)")


@dataclass
class Truth:
    notes: list[str]
    config: dict
    options: list[str] = field(default_factory=list)
    keys: dict[str, Key] = field(default_factory=dict)
    n_tokens: int = 0
    tensors: list[Tensor] = field(default_factory=list)
    types: dict[str, dict[str, str]] = field(default_factory=dict)  # recipe -> tensor -> type


def _ranges(numbers: list[int], joint: str) -> str:
    """0 1 2 3 7 -> "0-3,7"; in the order they have."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return joint.join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _numbers(text: str) -> list[int]:
    found = []
    for run in re.split("[ ,]", text):
        first, _, last = run.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _split(name: str) -> tuple[str, int, str]:
    """The prefix, the number and the rest of a block's tensor; ("", -1, name) of one that has no block."""
    match = BLOCK.fullmatch(name)
    return (match[1], int(match[2]), match[3]) if match else ("", -1, name)


def _tensor_lines(tensors: list[Tensor]) -> list[str]:
    runs: list[tuple[str, list[int], list[str]]] = []  # prefix, blocks, their tensors
    last = None
    for tensor in tensors:
        prefix, number, rest = _split(tensor.name)
        words = " ".join((rest, tensor.type, *map(str, tensor.ne)))
        if (prefix, number) == last:
            runs[-1][2].append(words)
        else:
            runs.append((prefix, [number], [words]))
        last = (prefix, number)
    merged: list[tuple[str, list[int], list[str]]] = []
    for prefix, numbers, words in runs:
        if merged and prefix and merged[-1][0] == prefix and merged[-1][2] == words:
            merged[-1][1].extend(numbers)
        else:
            merged.append((prefix, numbers, words))
    lines = []
    for prefix, numbers, words in merged:
        head = "tensors" if not prefix else "blocks"
        if prefix not in ("", "blk"):
            head += f" of {prefix}"
        lines.append(f"{head} {_ranges(numbers, ' ')}" if prefix else head)
        lines += ["  " + word for word in words]
    return lines


def _type_lines(types: dict[str, str]) -> list[str]:
    kinds: dict[str, dict[str, list[int]]] = {}
    for name, dtype in types.items():
        prefix, number, rest = _split(name)
        kinds.setdefault(f"{prefix}.*.{rest}" if prefix else rest, {}).setdefault(dtype, []).append(number)
    lines = []
    for kind, found in sorted(kinds.items()):
        if len(found) == 1:
            lines.append(f"  {kind} {next(iter(found))}")
        else:
            lines.append(f"  {kind} " + " ".join(f"{t} {_ranges(sorted(blocks), ',')}" for t, blocks in sorted(found.items())))
    return lines


def dump(truth: Truth) -> str:
    lines = ["# " + note for note in truth.notes]
    lines.append("config " + json.dumps(truth.config))
    lines += ["option " + option for option in truth.options]
    lines += [f"key {name} {key.type} {json.dumps(key.value)}" for name, key in truth.keys.items()]
    lines.append(f"tokens {truth.n_tokens}")
    lines += _tensor_lines(truth.tensors)
    for recipe, types in truth.types.items():
        lines.append(f"types {recipe}")
        lines += _type_lines(types)
    return "\n".join(lines) + "\n"


def _load_types(truth: Truth, lines: list[str]) -> dict[str, str]:
    kinds: dict[str, list[str]] = {kind: words for kind, *words in (line.split() for line in lines)}
    types = {}
    for tensor in truth.tensors:
        prefix, number, rest = _split(tensor.name)
        words = kinds[f"{prefix}.*.{rest}" if prefix else rest]
        of_block = {n: dtype for dtype, blocks in zip(words[::2], words[1::2]) for n in _numbers(blocks)}
        types[tensor.name] = of_block[number] if of_block else words[0]
    return types


def load(text: str) -> Truth:
    truth = Truth([], {})
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if line.startswith("  "):
            sections[-1][1].append(line.strip())
        elif word == "#":
            truth.notes.append(rest)
        elif word == "config":
            truth.config = json.loads(rest)
        elif word == "option":
            truth.options.append(rest)
        elif word == "tokens":
            truth.n_tokens = int(rest)
        elif word == "key":
            name, rest = rest.split(" ", 1)
            kind, value = re.fullmatch(r"(array of \w+|\w+) (.*)", rest).groups()
            truth.keys[name] = Key(kind, json.loads(value))
        else:
            sections.append((line, []))
    for head, lines in sections:
        word, _, rest = head.partition(" ")
        if word == "types":
            continue
        prefix = "blk"
        if rest.startswith("of "):
            _, prefix, rest = rest.split(" ", 2)
        for number in _numbers(rest) if word == "blocks" else [-1]:
            for name, dtype, *ne in (line.split() for line in lines):
                full = f"{prefix}.{number}.{name}" if word == "blocks" else name
                truth.tensors.append(Tensor(full, dtype, tuple(map(int, ne))))
    for head, lines in sections:
        word, _, rest = head.partition(" ")
        if word == "types":
            truth.types[rest] = _load_types(truth, lines)
    return truth
