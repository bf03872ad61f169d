# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts tensors of the Open Inference Protocol to numpy arrays of a model's ports, and back."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mlserver.errors import InferenceError
from mlserver.types import InferenceRequest, MetadataTensor, RequestInput, ResponseOutput

from .._runtime import TensorInfo

# The protocol's names of the types that numpy has. bf16 travels as its bits.
_DATATYPES = {"bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32",
              "uint64": "UINT64", "int8": "INT8", "int16": "INT16", "int32": "INT32",
              "int64": "INT64", "float16": "FP16", "float32": "FP32", "float64": "FP64",
              "object": "BYTES"}


# Of a request, which may have as many inputs as its sender likes.
_MAX_ERRORS = 20


def datatype(port: TensorInfo) -> str:
    """Returns the protocol's name of a port's type."""
    return _DATATYPES[port.numpy_dtype.name]


def metadata(port: TensorInfo) -> MetadataTensor:
    """Returns what the metadata route says of a port; -1 stands for a dynamic dim, and a single
    -1 for any rank."""
    shape = [-1] if port.shape is None else list(port.numpy_shape)
    return MetadataTensor(name=port.name, datatype=datatype(port), shape=shape)


def unservable(ports: Sequence[TensorInfo]) -> list[str]:
    """Returns a line for each port that the protocol has no tensor for."""
    return [f"'{port.name}' is a {port.kind} of {port.dtype}" for port in ports
            if port.kind != "tensor" or port.numpy_dtype.name not in _DATATYPES
            or port.dtype in ("i4", "u4")]


def _shape_text(port: TensorInfo) -> str:
    if port.shape is None:
        return "any shape"
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in port.shape) + "]"


def _accepts(port: TensorInfo, shape: Sequence[int]) -> bool:
    if any(dim < 0 for dim in shape):
        return False
    return port.shape is None or (len(shape) == len(port.shape) and all(
        not isinstance(want, int) or want == dim for dim, want in zip(shape, port.shape)))


def _flat(data: Any) -> list[Any]:
    """Returns the elements of nested lists in row-major order."""
    values = list(data)
    while values and isinstance(values[0], (list, tuple)):
        if not all(isinstance(value, (list, tuple)) for value in values):
            raise ValueError("lists and values are mixed")
        values = [element for value in values for element in value]
    return values


def _strings(values: Sequence[Any], content_type: str | None) -> list[bytes]:
    # bytes() of a number would be as many zeros.
    if not all(isinstance(value, (str, bytes)) for value in values):
        raise ValueError("has values that are not strings")
    strings = [value.encode() if isinstance(value, str) else value for value in values]
    return [base64.b64decode(s, validate=True) for s in strings] if content_type == "base64" else strings


def _decode(given: RequestInput, port: TensorInfo) -> np.ndarray:
    """Returns the array of one input, or raises a ValueError with a sentence on it."""
    wanted = datatype(port)
    name = given.datatype if isinstance(given.datatype, str) else given.datatype.value
    if name != wanted:
        raise ValueError(f"has datatype {name}, expected {wanted}")
    if not _accepts(port, given.shape):
        raise ValueError(f"has shape {list(given.shape)}, expected {_shape_text(port)}")
    values = _flat(getattr(given.data, "root", given.data))
    if len(values) != math.prod(given.shape):
        raise ValueError(f"has {len(values)} values, but its shape {list(given.shape)} "
                         f"has {math.prod(given.shape)}")
    if wanted == "BYTES":
        content = given.parameters.content_type if given.parameters else None
        array = np.empty(len(values), dtype=object)
        array[:] = _strings(values, content)
    else:
        array = _numbers(values, port.numpy_dtype)
    return array.reshape(given.shape)


def _numbers(values: list[Any], dtype: np.dtype[Any]) -> np.ndarray:
    """Returns an array of `values`, which must be representable in `dtype`; None is NaN."""
    if dtype.kind == "f":
        values = [math.nan if value is None else value for value in values]
    raw = np.array(values) if values else np.empty(0, dtype)
    if raw.dtype.kind not in "biuf":
        raise ValueError("has values that are not numbers")
    if dtype.kind == "f":
        return raw.astype(dtype)
    if raw.dtype.kind == "f" or (dtype.kind != "b" and raw.dtype.kind == "b" and len(raw)):
        raise ValueError(f"has values that are not of {dtype.name}")
    if dtype.kind == "b":
        if not np.isin(raw, (0, 1)).all():
            raise ValueError("has values that are neither true nor false")
    elif len(raw):
        limits = np.iinfo(dtype)
        if int(raw.min()) < limits.min or int(raw.max()) > limits.max:
            raise ValueError(f"has values beyond the range of {dtype.name}")
    return raw.astype(dtype)


def decode(request: InferenceRequest, ports: Sequence[TensorInfo]) -> list[np.ndarray]:
    """Returns an array per port. The errors of the request are listed in one InferenceError."""
    given: dict[str, RequestInput] = {}
    errors: list[str] = []
    names = [port.name for port in ports]
    for entry in request.inputs:
        if entry.name not in names:
            errors.append(f"input '{entry.name}' is unknown, the model has {', '.join(names)}")
        elif entry.name in given:
            errors.append(f"input '{entry.name}' is given twice")
        given[entry.name] = entry
    arrays = []
    for port in ports:
        if port.name not in given:
            errors.append(f"input '{port.name}' is missing ({datatype(port)} "
                          f"{_shape_text(port)})")
            continue
        try:
            arrays.append(_decode(given[port.name], port))
        except (TypeError, ValueError, OverflowError) as error:
            errors.append(f"input '{port.name}' {error}")
    if len(errors) > _MAX_ERRORS:
        errors[_MAX_ERRORS:] = [f"and {len(errors) - _MAX_ERRORS} more errors"]
    if errors:
        raise InferenceError("; ".join(errors))
    return arrays


def wanted_outputs(request: InferenceRequest, ports: Sequence[TensorInfo]) -> list[int]:
    """Returns the indices of the outputs that a request asks for: all, if it names none."""
    if not request.outputs:
        return list(range(len(ports)))
    names = [port.name for port in ports]
    unknown = [output.name for output in request.outputs if output.name not in names]
    if unknown:
        raise InferenceError(f"output '{unknown[0]}' is unknown, the model has {', '.join(names)}")
    return [names.index(output.name) for output in request.outputs]


def encode(array: np.ndarray, port: TensorInfo) -> ResponseOutput:
    """Returns the protocol's form of an output. What JSON has no number for (NaN) is null."""
    name = datatype(port)
    values = array.reshape(-1).tolist()
    if name == "BYTES":
        values = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                  for value in values]
    elif array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if math.isfinite(value) else None for value in values]
    return ResponseOutput(name=port.name, datatype=name, shape=list(array.shape), data=values)
