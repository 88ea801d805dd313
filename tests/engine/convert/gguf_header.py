# SPDX-License-Identifier: MIT
"""
The header of a GGUF file, of version 3 and little-endian, as plain Python: keys with their types, tensors in file order.
"""
from __future__ import annotations

import struct
from typing import BinaryIO, NamedTuple

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TYPE_NAMES = ("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64")
STRING, ARRAY = 8, 9
GGML_TYPES = {0: "f32", 1: "f16", 2: "q4_0", 3: "q4_1", 8: "q8_0", 26: "i32", 28: "f64", 30: "bf16", 39: "mxfp4", 40: "nvfp4"}


class Tensor(NamedTuple):
    name: str
    type: str
    ne: tuple[int, ...]


class Key(NamedTuple):
    type: str
    value: object


def _scalar(file: BinaryIO, kind: int):
    width = struct.calcsize(SCALARS[kind])
    return struct.unpack("<" + SCALARS[kind], file.read(width))[0]


def _string(file: BinaryIO) -> str:
    (n,) = struct.unpack("<Q", file.read(8))
    return file.read(n).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Key:
    if kind == STRING:
        return Key("string", _string(file))
    if kind != ARRAY:
        return Key(TYPE_NAMES[kind], _scalar(file, kind))
    kind, n = struct.unpack("<IQ", file.read(12))
    if kind in (STRING, ARRAY):
        return Key("array of " + TYPE_NAMES[kind], [_value(file, kind).value for _ in range(n)])
    width = struct.calcsize(SCALARS[kind])
    return Key("array of " + TYPE_NAMES[kind], list(struct.unpack(f"<{n}{SCALARS[kind]}", file.read(n * width))))


def read(path: str) -> tuple[dict[str, Key], list[Tensor]]:
    with open(path, "rb") as file:
        magic, version, n_tensors, n_keys = struct.unpack("<4sIQQ", file.read(24))
        if magic != b"GGUF" or version != 3:
            raise ValueError(f"{path}: no GGUF of version 3")
        keys = {}
        for _ in range(n_keys):
            name = _string(file)
            keys[name] = _value(file, *struct.unpack("<I", file.read(4)))
        tensors = []
        for _ in range(n_tensors):
            name = _string(file)
            (n_dims,) = struct.unpack("<I", file.read(4))
            ne = struct.unpack(f"<{n_dims}Q", file.read(8 * n_dims))
            kind, _ = struct.unpack("<IQ", file.read(12))
            tensors.append(Tensor(name, GGML_TYPES.get(kind, f"type {kind}"), ne))
    return keys, tensors
