# ===-- host_kernels.py - calls host kernels with ctypes ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host kernels on numpy arrays.

Values: an array (bfloat16 and 8-bit floats as `Raw`), an array of dtype object for strings, a list
for a sequence, `Map(keys, values)`, None for an optional without a value.
"""

import ctypes
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from value_types import (MAP, NONE, SEQUENCE, STRING, TENSOR, Map, Raw, from_bytes,  # noqa: E402
                         stored_bytes, to_bytes)

MAX_RANK = 16


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_uint64)]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint8), ("dtype", ctypes.c_uint8), ("rank", ctypes.c_uint16),
                ("reserved", ctypes.c_uint32), ("dims", ctypes.c_int64 * MAX_RANK),
                ("data", ctypes.c_void_p)]


class Attribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_uint8), ("count", ctypes.c_uint64),
                ("data", ctypes.c_void_p)]


class KernelError(Exception):
    """What the kernel said, or that there is no such kernel."""


class Packer:
    """Makes ctypes values and keeps alive what they point at."""

    def __init__(self):
        self.kept = []

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def aligned(self, data):
        buffer = self.keep(np.zeros(len(data) + 64, "u1"))
        start = -buffer.ctypes.data % 64
        buffer[start:start + len(data)] = np.frombuffer(data, "u1")
        return buffer.ctypes.data + start

    def strings(self, texts):
        texts = [text.encode() if isinstance(text, str) else bytes(text) for text in texts]
        return self.keep((String * max(1, len(texts)))(
            *[String(self.keep(text), len(text)) for text in texts]))

    def value(self, thing):
        value = self.keep(Value())
        if thing is None:
            value.kind = NONE
        elif isinstance(thing, (list, Map)):
            items = [thing.keys, thing.values] if isinstance(thing, Map) else thing
            packed = [self.value(item) for item in items]
            value.kind = MAP if isinstance(thing, Map) else SEQUENCE
            value.rank = 1
            value.dims[0] = len(items)
            value.dtype = packed[0].dtype if packed else 1
            pointers = self.keep((ctypes.POINTER(Value) * max(1, len(packed)))(
                *[ctypes.pointer(item) for item in packed]))
            value.data = ctypes.addressof(pointers)
        else:
            value.kind = TENSOR
            if isinstance(thing, np.ndarray) and thing.dtype.kind in "OSU":
                value.dtype, dims = STRING, thing.shape
                value.data = ctypes.addressof(self.strings(thing.reshape(-1)))
            else:
                value.dtype, dims, data = to_bytes(thing)
                value.data = self.aligned(data)
            value.rank = len(dims)
            for i, dim in enumerate(dims):
                value.dims[i] = dim
        return value

    def attribute(self, name, thing):
        """An int, float, str, bytes, array, or a list of them."""
        items = thing if isinstance(thing, (list, tuple)) else [thing]
        first = items[0] if items else 0
        if isinstance(first, (str, bytes)):
            kind, data = 2, self.strings(items)
        elif isinstance(first, (np.ndarray, Raw)):
            kind, data = 3, self.keep((Value * len(items))(*[self.value(i) for i in items]))
        elif isinstance(first, float):
            kind, data = 1, self.keep((ctypes.c_double * len(items))(*items))
        else:
            kind, data = 0, self.keep((ctypes.c_int64 * max(1, len(items)))(*items))
        return Attribute(self.keep(name.encode()), kind, len(items), ctypes.addressof(data))


def unpack(value):
    if value.kind == NONE:
        return None
    if value.kind in (SEQUENCE, MAP):
        items = ctypes.cast(value.data, ctypes.POINTER(ctypes.POINTER(Value)))
        things = [unpack(items[i].contents) for i in range(value.dims[0])]
        return Map(*things) if value.kind == MAP else things
    dims = tuple(value.dims[:value.rank])
    count = int(np.prod(dims, dtype=np.int64))
    if value.dtype == STRING:
        texts = ctypes.cast(value.data, ctypes.POINTER(String))
        result = np.empty(count, object)
        for i in range(count):
            pointer = ctypes.cast(ctypes.addressof(texts[i]), ctypes.POINTER(ctypes.c_void_p))[0]
            result[i] = ctypes.string_at(pointer, texts[i].size) if texts[i].size else b""
        return result.reshape(dims)
    size = stored_bytes(value.dtype, count)
    return from_bytes(value.dtype, dims, ctypes.string_at(value.data, size) if size else b"")


def library():
    build = Path(os.environ.get("OPENATC_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))
    return ctypes.CDLL(str(build / "lib" / "libopenatc_call_kernel.so"))


_library = None


def call(name, *inputs, outputs=1, only_shapes=False, missing=(), unknown=(), **attributes):
    """The outputs of kernel `name`. An input at an index in `missing` is left out; of one in
    `unknown` only the type and the dims are known."""
    global _library
    _library = _library or library()
    packer = Packer()
    values = [None if i in missing else ctypes.pointer(packer.value(thing))
              for i, thing in enumerate(inputs)]
    for i in unknown:
        values[i].contents.data = None
    pointers = (ctypes.POINTER(Value) * max(1, len(values)))(*values)
    packed = [packer.attribute(key, thing) for key, thing in attributes.items()]
    array = (Attribute * max(1, len(packed)))(*packed)
    results = (ctypes.POINTER(Value) * outputs)()
    error = ctypes.create_string_buffer(1000)
    status = _library.call_kernel(name.encode(), pointers, len(values), array, len(packed), outputs,
                                  (1 << outputs) - 1, int(only_shapes), results, error,
                                  ctypes.c_size_t(1000))
    if status == 1:
        raise KernelError(f"there is no kernel {name}")
    if status == 2:
        raise KernelError(error.value.decode())
    if only_shapes:
        return [tuple(r.contents.dims[:r.contents.rank]) if r else None for r in results]
    return [unpack(r.contents) if r else None for r in results]
