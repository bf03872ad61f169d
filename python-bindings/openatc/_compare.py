# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the first layer of a compiled model that is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from . import _runtime
from ._compile import Module, Path, load
from ._error import Error, _printable
from ._runtime import Model, Session, TensorInfo


@dataclass(frozen=True)
class TensorError:
    """How far a tensor that a launch made is from the reference."""

    tensor: str
    launch: int
    kernel: str
    max_abs: float
    """Infinite where only one side is NaN or infinite."""
    of_range: float
    """`max_abs` over the reference's max - min."""
    cosine: float


@dataclass(frozen=True)
class Comparison:
    """The tensors of a model beside a reference, in the order of the schedule."""

    tolerance: float
    errors: list[TensorError] = field(default_factory=list)
    without_counterpart: int = 0

    def is_bad(self, error: TensorError) -> bool:
        """Whether an error is above the tolerance."""
        return not error.of_range <= self.tolerance

    @property
    def first_bad(self) -> TensorError | None:
        """The first tensor whose error is above the tolerance: where to look. None without one."""
        return next((error for error in self.errors if self.is_bad(error)), None)

    @property
    def agree(self) -> bool:
        """Whether no tensor is bad."""
        return self.first_bad is None

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


def _dims(tensor: TensorInfo) -> list[int]:
    return [dim for dim in tensor.shape or () if dim is not None]


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [dim for dim in shape if dim != 1]


def _counterpart(tensor: TensorInfo, reference: Mapping[str, np.ndarray]) -> np.ndarray | None:
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


def compare(model: Model | Path, reference: Module | Path | Mapping[str, np.ndarray],
            inputs: Sequence[np.ndarray] | Mapping[str, np.ndarray], *,
            tolerance: float = 1e-4) -> Comparison:
    """Runs a compiled model once and compares every tensor that a launch makes.

    `reference` is the model file or module it was compiled from, which the reference
    interpreter runs on the same inputs, or the right tensors by name.
    """
    if not isinstance(model, Model):
        model = Model(model)
    if isinstance(reference, (str, os.PathLike)):
        reference = load(reference, input_shapes={each.name: _dims(each) for each in model.inputs
                                                  if each.shape})
    if isinstance(reference, Module):
        reference = reference.tensors(inputs)
    infos = model.tensors
    ours = Session(model).tensors(inputs)
    errors, unknown = [], 0
    for index, launch in enumerate(model.launches):
        for info in (infos[written] for written in launch.writes):
            right = _counterpart(info, reference)
            if right is None:
                unknown += 1
                continue
            measured = _runtime.difference(info, ours[info.name], right)
            errors.append(TensorError(info.name, index, launch.kernel, *measured))
    if not errors:
        raise Error(["E10014: the reference has none of the model's tensors: it is of another "
                     "model"])
    return Comparison(tolerance, errors, unknown)
