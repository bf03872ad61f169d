# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that are no numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


class Raw:
    """Elements of a type that numpy lacks: the runtime's name of it ("bf16", "f8e4m3fn", "i4"
    ...), their bits as uint16 or uint8, and their shape. Types of 4 and 2 bits lie two and four
    in a byte, the first in the lowest bits."""

    dtype: str
    bits: np.ndarray[Any, Any]
    shape: tuple[int, ...]

    def __init__(self, dtype: str, bits: Any, shape: Sequence[int]) -> None:
        self.dtype, self.shape = dtype, tuple(shape)
        self.bits = np.ascontiguousarray(bits)

    def __repr__(self) -> str:
        return f"Raw({self.dtype!r}, {self.bits!r}, {self.shape})"


def as_array(value: Any) -> Any:
    """Returns the memory of an array of another framework as a numpy array, without a copy where
    it is dense and on the CPU: of torch tensors, of what has __array__, and by DLPack."""
    if isinstance(value, Raw):
        # Its type would be lost: an input of f8e5m2 could be given bits of f8e4m3fn.
        raise TypeError(f"an openatc.Raw ({value.dtype}) cannot be given here: give its bits, an "
                        f"array of {value.bits.dtype} in the input's shape")
    if _is_tensor(value):
        from ._torch import to_numpy
        return to_numpy(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    try:
        return np.from_dlpack(value)
    except (RuntimeError, BufferError) as error:
        raise TypeError(f"an object with __dlpack__ has memory that numpy cannot take: {error}") from error


def is_array(value: Any) -> bool:
    """Returns whether a value is one array, of numpy or of another framework."""
    return any(hasattr(value, name) for name in ("dtype", "__array__", "__dlpack__"))


def as_arrays(values: Iterable[Any]) -> list[Any]:
    """Returns arrays of other frameworks as numpy arrays, and everything else as it is."""
    return [as_array(value) if is_array(value) and not isinstance(value, np.ndarray) else value
            for value in values]


def as_output(value: Any) -> Any:
    """Returns the memory of an array to write into; raises ValueError where that would be a
    copy."""
    if not _is_tensor(value):
        return value
    if value.device.type != "cpu" or not value.is_contiguous():
        raise ValueError("a tensor to write an output into must be contiguous and on the CPU")
    from ._torch import to_numpy
    return to_numpy(value)


def _is_tensor(value: Any) -> bool:
    return any(each.__module__ == "torch" and each.__name__ == "Tensor"
               for each in type(value).__mro__)


class Shape(tuple[int | str | None, ...]):
    """The dims of an input or output: a tuple of sizes, with the model's name of a dynamic dim
    ("batch"), or None where it has none. It equals a list of the same dims too."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class Ports(list):  # type: ignore[type-arg]
    """The inputs, outputs or tensors of a model, by number and by name."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for port in self:
            if port.name == key:
                return port
        names = ", ".join(repr(port.name) for port in self) or "none"
        raise KeyError(f"there is no {key!r}; the names are: {names}")


class Map:
    """A map: an array of keys and one of as many values."""

    keys: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]

    def __init__(self, keys: Any, values: Any) -> None:
        self.keys, self.values = keys, values

    def __repr__(self) -> str:
        return f"Map({self.keys!r}, {self.values!r})"
