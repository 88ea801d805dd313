# SPDX-License-Identifier: MIT
"""
Writer of GGUF files whose tensor data is a hole.

A test model needs a real header (keys, tensor names, shapes, types, offsets) and no weights: the header is written,
then the file is extended with truncate, so that a model of 400 GB takes a few hundred KB of disk.

The writer covers the whole format, more than llama.cpp itself writes: versions 2 and 3, both byte orders, nested
arrays, any alignment, and models split over several files.
"""
from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Iterable

DEFAULT_ALIGNMENT = 32
MAX_SPLITS = 99999


class Kind(IntEnum):
    """Types of a metadata value, with the numbers the file uses."""

    U8 = 0
    I8 = 1
    U16 = 2
    I16 = 3
    U32 = 4
    I32 = 5
    F32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    U64 = 10
    I64 = 11
    F64 = 12


STRUCT_CODE = {
    Kind.U8: "B", Kind.I8: "b", Kind.U16: "H", Kind.I16: "h", Kind.U32: "I", Kind.I32: "i", Kind.F32: "f",
    Kind.BOOL: "?", Kind.U64: "Q", Kind.I64: "q", Kind.F64: "d",
}


@dataclass(frozen=True)
class Value:
    """One metadata value. For an array, `element` is the type of its members and `data` a list; the members of an
    array of arrays are Values themselves."""

    kind: Kind
    data: Any
    element: Kind | None = None


def u16(number: int) -> Value:
    return Value(Kind.U16, number)


def u32(number: int) -> Value:
    return Value(Kind.U32, number)


def i32(number: int) -> Value:
    return Value(Kind.I32, number)


def f32(number: float) -> Value:
    return Value(Kind.F32, number)


def boolean(flag: bool) -> Value:
    return Value(Kind.BOOL, flag)


def string(text: str) -> Value:
    return Value(Kind.STRING, text)


def array(element: Kind, members: Iterable[Any]) -> Value:
    return Value(Kind.ARRAY, list(members), element)


@dataclass(frozen=True)
class TensorType:
    """A ggml tensor type: `bytes` are taken by each block of `block` elements of a row."""

    id: int
    name: str
    block: int
    bytes: int


TENSOR_TYPES = {
    t.name: t
    for t in (
        TensorType(0, "F32", 1, 4), TensorType(1, "F16", 1, 2), TensorType(2, "Q4_0", 32, 18),
        TensorType(3, "Q4_1", 32, 20), TensorType(6, "Q5_0", 32, 22), TensorType(7, "Q5_1", 32, 24),
        TensorType(8, "Q8_0", 32, 34), TensorType(9, "Q8_1", 32, 36), TensorType(10, "Q2_K", 256, 84),
        TensorType(11, "Q3_K", 256, 110), TensorType(12, "Q4_K", 256, 144), TensorType(13, "Q5_K", 256, 176),
        TensorType(14, "Q6_K", 256, 210), TensorType(15, "Q8_K", 256, 292), TensorType(16, "IQ2_XXS", 256, 66),
        TensorType(17, "IQ2_XS", 256, 74), TensorType(18, "IQ3_XXS", 256, 98), TensorType(19, "IQ1_S", 256, 50),
        TensorType(20, "IQ4_NL", 32, 18), TensorType(21, "IQ3_S", 256, 110), TensorType(22, "IQ2_S", 256, 82),
        TensorType(23, "IQ4_XS", 256, 136), TensorType(24, "I8", 1, 1), TensorType(25, "I16", 1, 2),
        TensorType(26, "I32", 1, 4), TensorType(27, "I64", 1, 8), TensorType(28, "F64", 1, 8),
        TensorType(29, "IQ1_M", 256, 56), TensorType(30, "BF16", 1, 2), TensorType(34, "TQ1_0", 256, 54),
        TensorType(35, "TQ2_0", 256, 66), TensorType(39, "MXFP4", 32, 17), TensorType(40, "NVFP4", 64, 36),
        TensorType(41, "Q1_0", 128, 18), TensorType(42, "Q2_0", 64, 18),
    )
}


@dataclass
class Tensor:
    """A tensor: its shape in ggml order (row length first) and the name of its type."""

    name: str
    shape: tuple[int, ...]
    type: str = "F32"

    def data_bytes(self) -> int:
        """Bytes of the data: whole rows of whole blocks."""
        kind = TENSOR_TYPES[self.type]
        if self.shape[0] % kind.block:
            raise ValueError(f"{self.name}: a row of {self.shape[0]} is not whole blocks of {self.type}")
        rows = 1
        for length in self.shape[1:]:
            rows *= length
        return self.shape[0] // kind.block * kind.bytes * rows


def pad(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _encode_string(order: str, text: str) -> bytes:
    raw = text.encode("utf-8")
    return struct.pack(order + "Q", len(raw)) + raw


def _encode_payload(order: str, value: Value) -> bytes:
    """A value without its leading type number."""
    if value.kind == Kind.STRING:
        return _encode_string(order, value.data)
    if value.kind != Kind.ARRAY:
        return struct.pack(order + STRUCT_CODE[value.kind], value.data)
    head = struct.pack(order + "IQ", value.element, len(value.data))
    if value.element == Kind.STRING:
        return head + b"".join(_encode_string(order, text) for text in value.data)
    if value.element == Kind.ARRAY:
        return head + b"".join(_encode_payload(order, member) for member in value.data)
    return head + struct.pack(f"{order}{len(value.data)}{STRUCT_CODE[value.element]}", *value.data)


def header(meta: dict[str, Value], tensors: list[Tensor], version: int = 3,
           big_endian: bool = False) -> tuple[bytes, int]:
    """The bytes before the tensor data, padded, and the size of the data that follows them."""
    order = ">" if big_endian else "<"
    alignment = meta["general.alignment"].data if "general.alignment" in meta else DEFAULT_ALIGNMENT
    parts = [b"GGUF", struct.pack(order + "IQQ", version, len(tensors), len(meta))]
    for key, value in meta.items():
        parts += [_encode_string(order, key), struct.pack(order + "I", value.kind), _encode_payload(order, value)]
    offset = 0
    for tensor in tensors:
        n = len(tensor.shape)
        parts.append(_encode_string(order, tensor.name))
        parts.append(struct.pack(f"{order}I{n}QIQ", n, *tensor.shape, TENSOR_TYPES[tensor.type].id, offset))
        offset += pad(tensor.data_bytes(), alignment)
    raw = b"".join(parts)
    return raw.ljust(pad(len(raw), alignment), b"\0"), offset


def write(path: str, meta: dict[str, Value], tensors: list[Tensor], version: int = 3, big_endian: bool = False) -> None:
    """Write one file; its tensor data is a hole."""
    head, data_bytes = header(meta, tensors, version, big_endian)
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + data_bytes)


def write_split(path: str, meta: dict[str, Value], tensors: list[Tensor], count: int, **options: Any) -> list[str]:
    """Write a model as `count` files named as llama-gguf-split names them, and return their paths.

    The first file holds all keys of the model, the others only the three split keys; tensors keep their order and are
    dealt out in equal numbers.
    """
    if not 1 <= count <= min(len(tensors), MAX_SPLITS):
        raise ValueError(f"{len(tensors)} tensors cannot be split over {count} files")
    stem, extension = os.path.splitext(path)
    paths = []
    for number in range(count):
        keys = dict(meta) if number == 0 else {}
        keys["split.no"] = u16(number)
        keys["split.count"] = u16(count)
        keys["split.tensors.count"] = i32(len(tensors))
        first, last = (len(tensors) * k // count for k in (number, number + 1))
        paths.append(f"{stem}-{number + 1:05d}-of-{count:05d}{extension}")
        write(paths[-1], keys, tensors[first:last], **options)
    return paths
