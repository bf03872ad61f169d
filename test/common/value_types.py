"""Element types by ONNX's numbers, and the values that numpy has no form for."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np

STRING = 8
BFLOAT16 = 16
NUMBERS = {np.dtype(name): number for name, number in {
    "f4": 1, "u1": 2, "i1": 3, "u2": 4, "i2": 5, "i4": 6, "i8": 7, "b1": 9, "f2": 10, "f8": 11,
    "u4": 12, "u8": 13, "c8": 14, "c16": 15}.items()}
# How many bits an element has of the types that numpy lacks.
RAW_BITS = {BFLOAT16: 16, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2}
# What holds elements: their own type, or one for their bits.
STORAGE = {number: dtype for dtype, number in NUMBERS.items()} | {
    number: np.dtype("u2" if bits == 16 else "u1") for number, bits in RAW_BITS.items()}

# Kinds of values, as the runtime and the host kernels number them.
NONE, TENSOR, SEQUENCE, MAP = range(4)


class Raw:
    """Elements of a type that numpy lacks: ONNX's number, their bits, their dims."""

    def __init__(self, dtype, bits, dims):
        self.dtype, self.bits, self.dims = dtype, np.ascontiguousarray(bits), tuple(dims)

    def __repr__(self):
        return f"Raw({self.dtype}, {self.bits.tolist()}, {self.dims})"


class Map:
    """A map: a tensor of keys and one of values."""

    def __init__(self, keys, values):
        self.keys, self.values = keys, values


def has_address(number):
    """Whether elements lie in whole bytes of their own."""
    return number in STORAGE and RAW_BITS.get(number, 8) >= 8


def stored_bytes(number, count):
    """The bytes of `count` elements; small ones share a byte."""
    bits = RAW_BITS.get(number, 8 * STORAGE[number].itemsize)
    return -(-count * bits // 8)


def to_bytes(thing):
    """Number, dims and bytes of an array or `Raw`."""
    if isinstance(thing, Raw):
        return thing.dtype, thing.dims, thing.bits.tobytes()
    return NUMBERS[thing.dtype], thing.shape, np.ascontiguousarray(thing).tobytes()


def from_bytes(number, dims, data):
    """The array, or `Raw`, of what is stored."""
    stored = np.frombuffer(data, STORAGE[number]).copy()
    return Raw(number, stored, dims) if number in RAW_BITS else stored.reshape(dims)
