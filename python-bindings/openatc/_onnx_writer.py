# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ONNX messages without the package onnx: the fields that `openatc.builder` needs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Element types by ONNX's number: the names of numpy and of the runtime.
_TYPES: dict[int, tuple[str, str]] = {
    1: ("float32", "f32"), 2: ("uint8", "u8"), 3: ("int8", "i8"), 4: ("uint16", "u16"),
    5: ("int16", "i16"), 6: ("int32", "i32"), 7: ("int64", "i64"), 8: ("object", "string"),
    9: ("bool", "bool"), 10: ("float16", "f16"), 11: ("float64", "f64"), 12: ("uint32", "u32"),
    13: ("uint64", "u64"), 14: ("complex64", "c64"), 15: ("complex128", "c128"),
    16: ("bfloat16", "bf16")}
_NUMBERS = {name: number for number, names in _TYPES.items() for name in names}


def element_type(dtype: Any) -> int:
    """Returns ONNX's number of an element type: of a numpy dtype, or of a name such as "float32",
    "f32", "bf16" or "string". Raises TypeError for a type that no tensor has."""
    if isinstance(dtype, str) and dtype in _NUMBERS:
        return _NUMBERS[dtype]
    if getattr(dtype, "__name__", "") == "bfloat16":
        return 16
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is not None and (found.kind in "USO" or found.name in _NUMBERS):
        return 8 if found.kind in "USO" else _NUMBERS[found.name]
    raise TypeError(f"no tensor has elements of the type {dtype!r}; the types are: "
                    + ", ".join(names[1] for names in _TYPES.values()))


def varint(value: int) -> bytes:
    """Returns an integer of 64 bits, whatever its sign, as a varint."""
    value &= (1 << 64) - 1
    coded = bytearray()
    while value > 127:
        coded.append(value & 127 | 128)
        value >>= 7
    coded.append(value)
    return bytes(coded)


def number(field: int, value: int) -> bytes:
    """Returns an integer field."""
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes | str) -> bytes:
    """Returns a field of bytes, text or a message."""
    coded = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(coded)) + coded


def texts(field: int, values: Iterable[str]) -> bytes:
    """Returns a repeated field of texts."""
    return b"".join(data(field, value) for value in values)


def tensor(name: str, array: np.ndarray[Any, Any], dtype: int | None = None) -> bytes:
    """Returns a TensorProto; the elements of `dtype` 16 (bf16) are the bits in uint16."""
    kind = element_type(array.dtype) if dtype is None else dtype
    head = b"".join(number(1, dim) for dim in array.shape) + number(2, kind) + data(8, name)
    if kind == 8:
        return head + b"".join(data(6, item if isinstance(item, bytes) else str(item))
                               for item in array.ravel().tolist())
    plain = np.ascontiguousarray(array)
    return head + data(9, plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes())


def value_info(name: str, dtype: int | None, shape: Sequence[int | str | None] | None) -> bytes:
    """Returns a ValueInfoProto; a dim is a size, a name, or None where it is not known."""
    if dtype is None:
        return data(1, name)
    kind = number(1, dtype)
    if shape is not None:
        dims = [b"" if dim is None else data(2, dim) if isinstance(dim, str) else number(1, dim)
                for dim in shape]
        kind += data(2, b"".join(data(1, dim) for dim in dims))
    return data(1, name) + data(2, data(1, kind))


def attribute(name: str, value: Any) -> bytes:
    """Returns an AttributeProto. Lists hold integers, floats (one float makes all of them
    floats) or texts; an array is a tensor, a numpy or Python type the number of the element
    type. Raises TypeError for anything else."""
    def typed(kind: int, fields: bytes) -> bytes:
        return data(1, name) + fields + number(20, kind)

    def single(field: int, value: float) -> bytes:
        return varint(field << 3 | 5) + struct.pack("<f", value)

    if isinstance(value, Message):
        return typed(5, data(6, value.encoded))
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return typed(2, number(3, int(value)))
    if isinstance(value, (float, np.floating)):
        return typed(1, single(2, float(value)))
    if isinstance(value, (str, bytes)):
        return typed(3, data(4, value))
    if isinstance(value, np.ndarray):
        return typed(4, data(5, tensor("", value)))
    if isinstance(value, (type, np.dtype)):
        return typed(2, number(3, element_type(value)))
    if isinstance(value, (list, tuple, range)):
        items = list(value)
        if all(isinstance(item, (int, np.integer)) for item in items):
            return typed(7, b"".join(number(8, int(item)) for item in items))
        if all(isinstance(item, (int, float, np.integer, np.floating)) for item in items):
            return typed(6, b"".join(single(7, float(item)) for item in items))
        if all(isinstance(item, (str, bytes)) for item in items):
            return typed(8, b"".join(data(9, item) for item in items))
    raise TypeError(f"an attribute cannot be {value!r}: '{name}' may be a number, a text, a list "
                    "of either, an array, an element type or a graph")


class Message:
    """A message that is encoded already."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
