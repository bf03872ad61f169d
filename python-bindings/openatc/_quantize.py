# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float models become int8 models, with samples from Python."""

from __future__ import annotations

import itertools
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as _FilePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._compile import (Module, Path, Shapes, Source, _model_request, _shapes, compile, load,
                       load_with)
from ._error import Error
from ._foreign import InMemory
from ._runtime import Model
from ._values import as_arrays, is_array

from . import _compiler  # isort: skip  (which _compile has loaded)

Sample = NDArray[Any] | Sequence[NDArray[Any]] | Mapping[str, NDArray[Any]]


class TensorScale(NamedTuple):
    """How the numbers of a tensor become integers: round(x / scale) + zero_point."""

    scale: float
    """The step between two integers."""
    zero_point: int
    """The integer that means 0."""
    dtype: str
    """The type of the integers: "i8" or "u8"."""


class QuantError(NamedTuple):
    """How far a tensor of the quantized model is from that of the float model."""

    tensor: str
    """The name of the tensor."""
    cosine: float
    """The cosine of the angle between both, as vectors."""
    sqnr_db: float
    """Signal to noise; infinite where both are equal."""
    max_error: float
    """The largest difference of two elements."""


class QuantizedModel:
    """What `quantize` makes: an int8 model, its scales and its errors."""

    def __init__(self, handle: _compiler.Quantized) -> None:
        if not isinstance(handle, _compiler.Quantized):
            raise TypeError("openatc.quantize makes quantized models")
        self._handle = handle

    @property
    def scales(self) -> dict[str, TensorScale]:
        """Of every activation that is stored as integers."""
        return {entry["name"]: TensorScale(entry["scale"], entry["zero_point"], entry["type"])
                for entry in json.loads(self._handle.table())["tensors"]}

    @property
    def errors(self) -> list[QuantError]:
        """Of the same tensors, on the first samples."""
        return self._errors("tensors")

    @property
    def output_errors(self) -> list[QuantError]:
        """Of the outputs, on the first samples."""
        return self._errors("outputs")

    def _errors(self, kind: str) -> list[QuantError]:
        return [QuantError(row["tensor"], row["cosine"], float(row["sqnr_db"]),
                           float(row["max_error"]))
                for row in json.loads(self._handle.report())[kind]]

    def __str__(self) -> str:
        return self._handle.report_text()

    @property
    def module(self) -> Module:
        """The int8 model in MLIR: a copy."""
        handle = self._handle.module()
        if handle is not None:
            return Module(handle.copy())
        return Module(_compiler.Module.load(_model_request(self._onnx(), None, None)))

    @property
    def _is_onnx(self) -> bool:
        """Whether the model was an ONNX model, and has its dynamic dims still."""
        return self._handle.module() is None

    def _onnx(self) -> InMemory:
        return InMemory("quantized.onnx", self._handle.onnx())

    def save(self, path: Path) -> None:
        """Writes an ONNX model with QuantizeLinear and DequantizeLinear, which any runtime
        for ONNX runs. Only a model that was ONNX can be written so."""
        self._handle.save(os.fspath(path), "", "", "")

    def save_deploy(self, path: Path) -> None:
        """Writes an ONNX model with AscendQuant and AscendDequant."""
        self._handle.save("", os.fspath(path), "", "")

    def save_record(self, path: Path) -> None:
        """Writes the scales of the layers as text."""
        self._handle.save("", "", os.fspath(path), "")

    def save_report(self, path: Path) -> None:
        """Writes the errors as an HTML page with plots."""
        self._handle.save("", "", "", os.fspath(path))

    def save_all(self, prefix: Path) -> list[_FilePath]:
        """Writes all files that the command `amct calibrate --output=prefix` writes."""
        return [_FilePath(path) for path in self._handle.save_all(prefix)]

    def compile(self, output: Path | None = None, **options: Any) -> Model | None:
        """Compiles the int8 model; `options` are those of `openatc.compile`."""
        handle = self._handle.module()
        if handle is not None:
            return compile(Module(handle), output, **options)
        return compile(self._onnx(), output, **options)


def _arrays(sample: Sample, names: Sequence[str]) -> list[NDArray[Any]]:
    if isinstance(sample, Mapping):
        errors = [f"E10017: '{name}' is not an input of the model" for name in sample
                  if name not in names]
        errors += [f"E10014: a sample has no array for input '{name}'" for name in names
                   if name not in sample]
        if errors:
            raise Error(errors)
        return as_arrays(sample[name] for name in names)
    if is_array(sample):
        return as_arrays([sample])
    if not isinstance(sample, Sequence) or isinstance(sample, str):
        raise TypeError("a sample must be an array, a list of arrays, or a dict of them by name")
    return as_arrays(sample)


@dataclass(frozen=True)
class Histogram:
    """The distribution of a tensor's values over all samples, for a calibrator."""

    counts: NDArray[np.uint64]
    """How many values each bin has."""
    edges: NDArray[np.float64]
    """The edges of the bins, of equal width: one more than `counts`."""
    min: float
    """The smallest finite value."""
    max: float
    """The largest finite value."""

    def percentile(self, share: float) -> float:
        """Returns the upper edge of the bin below or in which `share` (0 to 1) of the values
        are."""
        sums = np.cumsum(self.counts)
        index = int(np.searchsorted(sums, share * float(sums[-1])))
        return float(self.edges[min(index, len(self.counts) - 1) + 1])


Calibrator = Callable[[str, Histogram], "tuple[float, float] | None"]
"""Chooses the range (minimum, maximum) of a tensor by its name and distribution; None leaves the
choice to the configured method."""


def _range_chooser(calibrator: Calibrator) -> Callable[..., tuple[float, float] | None]:
    def choose(tensor: str, begin: float, width: float, counts: list[int], smallest: float,
               largest: float) -> tuple[float, float] | None:
        edges = begin + width * np.arange(len(counts) + 1, dtype=np.float64)
        chosen = calibrator(tensor, Histogram(np.array(counts, np.uint64), edges, smallest,
                                              largest))
        if chosen is None:
            return None
        low, high = chosen
        return float(low), float(high)

    return choose


def _config_text(config: Path | Mapping[str, Any] | None, method: str | None,
                 batch_num: int | None) -> str:
    given = {"method": method, "batch_num": batch_num}
    given = {name: value for name, value in given.items() if value is not None}
    if config is not None and not isinstance(config, Mapping):
        text = _FilePath(config).read_text()
        if not given:
            return text
        if not text.lstrip().startswith("{"):
            return text + "\n" + "\n".join(f"{name}: {json.dumps(value)}"
                                           for name, value in given.items())
        config = dict(json.loads(text))
    settings: Mapping[str, Any] = config or {}
    return json.dumps({**settings, **given})


def _is_tensorflow(path: Path) -> bool:
    return os.path.isdir(path) or os.fsdecode(path).endswith(".pb")


def _load_for(sample: Sample, model: Source, input_shapes: Shapes | None) -> Module:
    """Reads a model that is in no file. Dims that neither it nor `input_shapes` states are those
    of a sample."""
    module = load_with(model, sample, input_shapes)
    shapes = [port.shape for port in module.inputs]
    if input_shapes is not None or all(
            shape is not None and all(isinstance(dim, int) for dim in shape) for shape in shapes):
        return module
    names = [port.name for port in module.inputs]
    arrays = _arrays(sample, names)
    if len(arrays) != len(names):
        return module  # which refuses the sample with what it needs
    return load(model, input_shapes={name: np.shape(array) for name, array in zip(names, arrays)})


def quantize(model: Source | Module, data: Iterable[Sample] | Path, *,
             method: str | Calibrator | None = None,
             batch_num: int | None = None, config: Path | Mapping[str, Any] | None = None,
             input_shapes: Shapes | None = None,
             progress: Callable[[int], object] | None = None) -> QuantizedModel:
    """Quantizes a model to int8: an ONNX file, a model of TensorFlow, a module, or what
    else `openatc.load` takes.

    `data` gives samples: an array (for one input), a list of arrays, or a dict of them by name,
    each as the model's inputs are. It is gone through once. Or it is the path of a folder of
    images, `.npy` or `.bin` files ("folder1;folder2" for several inputs), as `amct` takes it.

    `method` chooses the ranges of the activations: "minmax", "percentile", "kl" or "mse" (what
    None means); or it is a calibrator, a function or an object with `__call__`, that gets the name
    and the `openatc.Histogram` of each tensor and returns its range (minimum, maximum), or None
    for the method of `config`. `batch_num` is how many samples are used. `config` is a file of settings or a
    dict with the same keys. Without `input_shapes`, dynamic dims of an ONNX model and
    of an object are those of the first sample. `progress` is called with the number of samples that are done.
    """
    folders = os.fspath(data) if isinstance(data, (str, os.PathLike)) else ""
    if folders == "" and isinstance(data, (str, os.PathLike)):
        raise Error(["E10004: the data folder has no name"])
    samples: Iterator[Any] = iter(() if folders else data)  # type: ignore[arg-type]
    first: Any = None if folders else next(samples, None)
    if first is None and not folders:
        raise Error(["E10014: there is no sample to calibrate with"])
    samples = itertools.chain([first], samples)
    if not isinstance(model, (Module, str, os.PathLike)):
        model, input_shapes = _load_for(first, model, input_shapes), None
    elif not isinstance(model, Module) and _is_tensorflow(model):
        # The reader of ONNX models finds out shapes itself.
        if input_shapes is None and isinstance(first, Mapping):
            input_shapes = {name: np.shape(array) for name, array in first.items()}
        model, input_shapes = load(model, input_shapes=input_shapes), None
    elif isinstance(model, Module) and input_shapes is not None:
        raise TypeError("a module has its shapes: give them to openatc.load")

    def shape_of(name: str, index: int) -> tuple[int, ...]:
        if isinstance(first, Mapping):
            return np.shape(first[name]) if name in first else ()
        arrays = [first] if is_array(first) else list(first)
        return np.shape(arrays[index]) if index < len(arrays) else ()

    def sample(names: list[str]) -> list[NDArray[Any]] | None:
        item = next(samples, None)
        return None if item is None else _arrays(item, names)

    name = method if method is None or isinstance(method, str) else None
    choose_range = _range_chooser(method) if callable(method) else None
    if method is not None and name is None and choose_range is None:
        raise TypeError("method must be the name of a method, or a calibrator to call")
    try:
        handle = _compiler.quantize(model._handle if isinstance(model, Module) else model,
                                    _shapes(input_shapes), _config_text(config, name, batch_num),
                                    folders, shape_of, sample, progress, choose_range)
    except Error as error:
        if error.code == "E10014" and is_array(data):
            raise Error([*error.messages, "E10014: data is one array, whose items along the first "
                         "dim are taken as samples: give [data] for one sample, or "
                         "(data[i:i+1] for i in range(len(data))) for one per row"]) from None
        raise
    for line in handle.warnings():
        warnings.warn(line, stacklevel=2)
    return QuantizedModel(handle)
