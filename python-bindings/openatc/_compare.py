# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the first layer of a compiled model that is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _runtime
from ._compile import Arrays, Module, Path, Source, load
from ._display import table_html, to_pandas
from ._error import Error, _printable
from ._runtime import Model, Session, TensorInfo


@dataclass(frozen=True)
class TensorError:
    """How far a tensor that a launch or a host kernel made, or an output of a dynamic model, is
    from the reference."""

    tensor: str
    """The name of the tensor."""
    launch: int
    """Index into Model.launches; their number for an output of a dynamic model."""
    kernel: str
    """What made it."""
    max_abs: float
    """Infinite where only one side is NaN or infinite."""
    of_range: float
    """`max_abs` over the reference's max - min."""
    cosine: float
    """The cosine of the angle between both, as vectors."""
    tolerance: float = 1e-4
    """The largest `of_range` that fits the element types of this tensor and those before it."""


@dataclass(frozen=True)
class Comparison:
    """The tensors of a model beside a reference, in the order of the schedule."""

    tolerance: float | None
    """The largest `of_range` that is accepted; None: the tolerance of each tensor."""
    errors: list[TensorError] = field(default_factory=list)
    """The tensors that both have, in the order of the schedule."""
    without_counterpart: int = 0
    """How many tensors the reference has not."""

    def is_bad(self, error: TensorError) -> bool:
        """Whether an error is above the tolerance."""
        return not error.of_range <= (error.tolerance if self.tolerance is None
                                      else self.tolerance)

    @property
    def first_bad(self) -> TensorError | None:
        """The first tensor whose error is above the tolerance: where to look. None without one."""
        return next((error for error in self.errors if self.is_bad(error)), None)

    @property
    def agree(self) -> bool:
        """Whether no tensor is bad."""
        return self.first_bad is None

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the columns: tensor, launch, kernel, max_abs, of_range, cosine,
        tolerance, bad."""
        columns: dict[str, list[Any]] = {each.name: [getattr(error, each.name)
                                                     for error in self.errors]
                                         for each in fields(TensorError)}
        return {**columns, "bad": [self.is_bad(error) for error in self.errors]}

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame with the columns of `to_dict`; ImportError without
        pandas."""
        return to_pandas(self.to_dict())

    def _repr_html_(self) -> str:
        first = self.first_bad
        caption = f"the first bad tensor is {first.tensor}" if first else "all tensors agree"
        return table_html(["tensor", "launch", "max error", "of range", "cosine"],
                          [(error.tensor, error.launch, f"{error.max_abs:.3g}",
                            f"{error.of_range:.3g}", f"{error.cosine:.7f}")
                           for error in self.errors], caption,
                          [i for i, error in enumerate(self.errors) if self.is_bad(error)])

    def __str__(self) -> str:
        names = [_printable(error.tensor) for error in self.errors]
        width = max([6] + [len(name) for name in names])
        lines = [f"{'tensor':{width}}  {'launch':>6}  {'max error':>10}  {'of range':>10}  "
                 f"{'cosine':>10}"]
        for name, error in zip(names, self.errors):
            mark = "  <- first bad" if error is self.first_bad else \
                "  bad" if self.is_bad(error) else ""
            lines.append(f"{name:{width}}  {error.launch:6}  {error.max_abs:10.3g}  "
                         f"{error.of_range:10.3g}  {error.cosine:10.7f}{mark}")
        return "\n".join(lines)


# Of the range of the reference: what rounding to the type costs over some layers.
_TOLERANCES = {"f16": 0.01, "bf16": 0.05, "i8": 0.03, "u8": 0.03}


def _on_npu(model: Model, reference: Mapping[str, NDArray[Any]]) -> float:
    """Returns the tolerance of what an NPU computes: that of 8-bit integers where the reference has
    such tensors besides its inputs, because a launch of several layers keeps them to itself."""
    inputs = {port.name for port in model.inputs}
    bytes_ = any(array.dtype in ("int8", "uint8") for name, array in reference.items()
                 if name not in inputs)
    return _TOLERANCES["i8" if bytes_ else "f16"]


def _dims(tensor: TensorInfo) -> list[int]:
    return [dim for dim in tensor.shape or () if isinstance(dim, int)]


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [dim for dim in shape if dim != 1]


def _counterpart(tensor: TensorInfo, reference: Mapping[str, NDArray[Any]]) -> NDArray[Any] | None:
    right = reference.get(tensor.name)
    # "conv#2" is the tensor 'conv' once more, in another layout.
    if right is None and "#" in tensor.name:
        right = reference.get(tensor.name.rpartition("#")[0])
    if right is None or _without_ones(right.shape) != _without_ones(tensor.numpy_shape):
        return None
    # Where an NPU computes in f16, the reference is rounded to it.
    if right.dtype.kind == "f" and tensor.numpy_dtype.kind == "f":
        right = right.astype(tensor.numpy_dtype)
    if right.dtype != tensor.numpy_dtype:
        return None
    return np.ascontiguousarray(right).reshape(tensor.numpy_shape)


def _is_static(port: TensorInfo) -> bool:
    return port.kind == "tensor" and port.shape is not None \
        and all(isinstance(dim, int) for dim in port.shape)


def _shapes_of(model: Model, inputs: Any) -> dict[str, list[int]]:
    """Returns the shapes of this run: those of the model, and of arrays for what it leaves
    open."""
    named = inputs if isinstance(inputs, Mapping) else \
        {} if model.gears else dict(zip((each.name for each in model.inputs), inputs))
    shapes = {}
    for port in model.inputs:
        if _is_static(port):
            shapes[port.name] = _dims(port)
        elif port.kind == "tensor" and port.name in named and hasattr(named[port.name], "shape"):
            shapes[port.name] = list(named[port.name].shape)
    return {name: dims for name, dims in shapes.items() if dims}


def _compare_dynamic(model: Model, reference: Mapping[str, NDArray[Any]], inputs: Any,
                     tolerance: float | None) -> Comparison:
    """Compares the layers of a run of a model with dynamic shapes, recurrence or control flow."""
    shapes = {name: list(array.shape) for name, array in reference.items()}
    errors, unknown, allowed = [], 0, 1e-4
    on_npu = _on_npu(model, reference)
    for name, kernel, launch, npu, dtype, ours in Session(model)._layers(inputs, shapes):
        allowed = max(allowed, _TOLERANCES.get(dtype, 0.0), on_npu if npu else 0.0)
        right = reference[name]
        if ours.dtype.kind not in "fiub" or right.dtype.kind not in "fiub" \
                or (ours.dtype.kind == "f") != (right.dtype.kind == "f") \
                or _without_ones(right.shape) != _without_ones(ours.shape):
            unknown += 1
            continue
        measured = _difference(ours.astype("float64"), right.reshape(ours.shape).astype("float64"))
        errors.append(TensorError(name, launch, kernel, *measured, allowed))
    if not errors:
        raise Error(["E10014: the reference has none of the model's tensors: it is of another "
                     "model"])
    return Comparison(tolerance, errors, unknown)


def _difference(ours: NDArray[Any], right: NDArray[Any]) -> tuple[float, float, float]:
    """Returns the largest error, that over the range of the reference, and the cosine."""
    finite = np.isfinite(ours) & np.isfinite(right)
    differs = ~finite & ~((ours == right) | (np.isnan(ours) & np.isnan(right)))
    error = float("inf") if differs.any() else \
        float(np.abs(ours - right)[finite].max(initial=0.0))
    left, other = ours[finite], right[finite]
    span = float(other.max() - other.min()) if other.size else 0.0
    norms = float(np.linalg.norm(left) * np.linalg.norm(other))
    cosine = float(left.ravel() @ other.ravel()) / norms if norms else 1.0
    return error, error / span if span else (0.0 if error == 0 else float("inf")), cosine


def compare(model: Model | Path, reference: Module | Source | Mapping[str, NDArray[Any]],
            inputs: Arrays, *, tolerance: float | None = None) -> Comparison:
    """Runs a compiled model once and compares every tensor that a launch makes.

    A tensor is bad whose error is more than `tolerance` of the reference's range. Where it is
    None the element types decide: 1e-4 for f32, 0.01 for f16 and what an NPU computes, 0.03 for
    8-bit integers and 0.05 for bf16, of the tensor and of those before it, whose errors it has
    too. What an NPU computes of a quantized model has that of 8-bit integers.

    `reference` is the model it was compiled from, as `openatc.load` takes it, or a module of it,
    which the reference interpreter runs on the same inputs, or the right tensors by name. Of a
    model with dynamic shapes, recurrence or control flow, of whose loops the first iteration is
    compared, the results of host kernels are compared, too.
    """
    if not isinstance(model, Model):
        model = Model(model)
    if hasattr(inputs, "__array__"):
        inputs = [cast("NDArray[Any]", inputs)]
    is_static = all(_is_static(port) for port in (*model.inputs, *model.outputs))
    if not isinstance(reference, (Module, Mapping)):
        reference = load(reference, input_shapes=_shapes_of(model, inputs))
    if isinstance(reference, Module):
        reference = reference.tensors(inputs)
    if not is_static or any(launch.host for launch in model.launches):
        return _compare_dynamic(model, reference, inputs, tolerance)
    infos = model.tensors
    ours = Session(model).tensors(inputs)
    errors, unknown = [], 0
    allowed, on_npu = 1e-4, _on_npu(model, reference)
    for index, launch in enumerate(model.launches):
        for info in (infos[written] for written in launch.writes):
            allowed = max(allowed, _TOLERANCES.get(info.dtype, 0.0), on_npu if launch.npu else 0.0)
            right = _counterpart(info, reference)
            if right is None:
                unknown += 1
                continue
            measured = _runtime.difference(info, ours[info.name], right)
            errors.append(TensorError(info.name, index, launch.kernel, *measured, allowed))
    if not errors:
        raise Error(["E10014: the reference has none of the model's tensors: it is of another "
                     "model"])
    return Comparison(tolerance, errors, unknown)
