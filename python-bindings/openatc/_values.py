# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that are no numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
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
