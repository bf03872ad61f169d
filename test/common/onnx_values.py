# ===-- onnx_values.py - what ONNX test data holds, as numpy has it --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of the ONNX backend tests: arrays, `Raw` for types that numpy lacks, arrays of dtype
object with bytes for strings, lists for sequences, `Map`, None for an optional without a value."""

import numpy as np
import onnx
from onnx import numpy_helper

from value_types import BFLOAT16, RAW_BITS, STORAGE, Map, Raw


def tensor_value(tensor, stated=0):
    """`stated` is the type that the model states: old files hold bfloat16 as uint16."""
    if stated == BFLOAT16 and tensor.data_type == onnx.TensorProto.UINT16:
        return Raw(BFLOAT16, numpy_helper.to_array(tensor), tensor.dims)
    if tensor.data_type in RAW_BITS:
        dtype = STORAGE[tensor.data_type]
        bits = (np.frombuffer(tensor.raw_data, dtype) if tensor.raw_data
                else np.array(tensor.int32_data, np.int64).astype(dtype))
        return Raw(tensor.data_type, bits, tensor.dims)
    value = np.asarray(numpy_helper.to_array(tensor))
    return value.astype(object) if value.dtype.kind in "SU" else value


def sequence_value(sequence):
    if sequence.elem_type == onnx.SequenceProto.MAP:
        return [map_value(item) for item in sequence.map_values]
    if sequence.elem_type == onnx.SequenceProto.SEQUENCE:
        return [sequence_value(item) for item in sequence.sequence_values]
    return [tensor_value(tensor) for tensor in sequence.tensor_values]


def map_value(stored):
    if stored.string_keys:
        keys = np.array(list(stored.string_keys), object)
    else:
        keys = np.array(list(stored.keys), "i8")
    return Map(keys, tensor_value(stored.values.tensor_values[0])
               if stored.values.tensor_values else np.zeros(0, "f4"))


def load_value(path, type_proto):
    """The value in a .pb file of an input or output of this type."""
    data = path.read_bytes()
    kind = type_proto.WhichOneof("value")
    if kind == "sequence_type":
        return sequence_value(onnx.SequenceProto.FromString(data))
    if kind == "map_type":
        return map_value(onnx.MapProto.FromString(data))
    if kind == "optional_type":
        optional = onnx.OptionalProto.FromString(data)
        if optional.elem_type == onnx.OptionalProto.TENSOR:
            return tensor_value(optional.tensor_value)
        if optional.elem_type == onnx.OptionalProto.SEQUENCE:
            return sequence_value(optional.sequence_value)
        return None
    return tensor_value(onnx.TensorProto.FromString(data), type_proto.tensor_type.elem_type)


def describe(thing):
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype}{list(thing.shape)}"
    if isinstance(thing, Raw):
        return f"type {thing.dtype} {list(thing.dims)}"
    if isinstance(thing, list):
        return f"a sequence of {len(thing)}"
    return "no value" if thing is None else type(thing).__name__


def widen(raw):
    """The numbers of bfloat16 bits."""
    return (raw.bits.reshape(raw.dims).astype("u4") << 16).view("f4")


def difference(got, want, near, only_types=False):
    """What is wrong with a value, or nothing. `near(got, want, rtol)` says for every element
    whether it is as good as equal."""
    if isinstance(want, Map) and isinstance(got, Map):
        return (difference(got.keys, want.keys, near, only_types) or
                difference(got.values, want.values, near, only_types))
    if isinstance(want, list) and isinstance(got, list) and len(got) == len(want):
        for index, pair in enumerate(zip(got, want)):
            if text := difference(*pair, near, only_types):
                return f"item {index}: {text}"
        return ""
    if describe(got) != describe(want) or want is None or isinstance(want, list):
        return "" if got is None and want is None else f"is {describe(got)}, expected {describe(want)}"
    if only_types:
        return ""
    rtol = 1e-3
    if isinstance(want, Raw):
        if want.dtype != BFLOAT16:
            wrong = int(np.sum(got.bits != want.bits))
            return f"has {wrong} wrong bytes" if wrong else ""
        # Two units in the last place, as the suite's own runner has it.
        got, want, rtol = widen(got), widen(want), 2.0**-6
    elif want.dtype.kind == "O":
        texts = [[t if isinstance(t, bytes) else t.encode() for t in array.reshape(-1)]
                 for array in (got, want)]
        return "" if texts[0] == texts[1] else f"is {texts[0][:5]}, expected {texts[1][:5]}"
    elif want.dtype == np.float16:
        rtol = max(rtol, 2.0**-10)
    good = np.atleast_1d(near(got, want, rtol))
    if good.all():
        return ""
    at = np.unravel_index(np.argmin(good), good.shape)
    return (f"has {np.sum(~good)} wrong elements of {good.size}, first at "
            f"{[int(i) for i in at]}: {np.atleast_1d(got)[at]}, expected {np.atleast_1d(want)[at]}")
