# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as MLIR modules: read, looked at, rewritten, interpreted, compiled."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from . import _compiler
from ._error import Error, _printable
from ._runtime import Model
from ._values import Ports

Path = str | os.PathLike[str]
Source = Path | bytes | bytearray | memoryview | Any
"""A model file, the bytes of an ONNX model, or an onnx.ModelProto."""
Shapes = Mapping[str, Sequence[int]]
Gears = Iterable[int | Sequence[int]]


class ModulePort(NamedTuple):
    """An input or output of a module; a dim that is not known is None, a shape without a known
    rank too."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


class Module:
    """A model in MLIR. Made by `load` and `parse`.

    Several threads may use one module: they take turns.
    """

    def __init__(self, handle: _compiler.Module) -> None:
        if not isinstance(handle, _compiler.Module):
            raise TypeError("openatc.load and openatc.parse make modules")
        self._handle = handle

    @property
    def inputs(self) -> Ports:
        """The arguments, also by name: module.inputs["image"]."""
        return Ports(ModulePort(*port) for port in self._handle.inputs())

    @property
    def outputs(self) -> Ports:
        """The results, also by name; none once a pass has made them arguments."""
        return Ports(ModulePort(*port) for port in self._handle.outputs())

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name}: {port.dtype}{_shape_text(port.shape)}"
                           for port in self.inputs)
        return _printable(f"<openatc.Module ({inputs})>")

    def to_text(self, *, weights: bool = False, locations: bool = False) -> str:
        """The IR. Only with its weights can `parse` make the same module of it."""
        return self._handle.print(weights, locations)

    def run_passes(self, passes: str | Iterable[str]) -> None:
        """Runs passes and pipelines by name, in place.

        A list of names, or text as in "canonicalize,graph-fold{...},func.func(cse)". When one
        fails the module stays as it was.
        """
        self._handle.run_passes(passes if isinstance(passes, str) else ",".join(passes))

    def run_pipeline(self, name: str, **options: object) -> None:
        """Runs one pipeline, such as "graph-pipeline" or "cpu-pipeline", with its options:
        `run_pipeline("graph-pipeline", disable="fuse-maps")`."""
        words = [f"{key.replace('_', '-')}={_option(value)}" for key, value in options.items()]
        self._handle.run_passes(name + ("{" + " ".join(words) + "}" if words else ""))

    @overload
    def interpret(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]: ...
    @overload
    def interpret(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]: ...

    def interpret(self, inputs):
        """Runs the module in the reference interpreter, which is slow and obvious.

        The answer is a list for a list of inputs, a dict for a dict.
        """
        results = self._handle.interpret(self._in_order(inputs), None)
        if isinstance(inputs, Mapping):
            return {port.name: array for port, array in zip(self.outputs, results)}
        return results

    def tensors(self, inputs: Sequence[np.ndarray] | Mapping[str, np.ndarray]
                ) -> dict[str, np.ndarray]:
        """Interprets the module and returns every tensor that has a name."""
        tensors: dict[str, np.ndarray] = {}
        self._handle.interpret(self._in_order(inputs), tensors)
        return tensors

    @overload
    def compile(self, output: Path | None = None, *, soc: str | None = None,
                soc_file: Path | None = None, precision_mode: str | None = None,
                target_cpu: str = "host", disable_passes: Iterable[str] = (),
                save_temps: Path | None = None, load: Literal[True] = True) -> Model: ...
    @overload
    def compile(self, output: Path, *, soc: str | None = None, soc_file: Path | None = None,
                precision_mode: str | None = None, target_cpu: str = "host",
                disable_passes: Iterable[str] = (), save_temps: Path | None = None,
                load: bool) -> Model | None: ...

    def compile(self, output=None, *, soc=None, soc_file=None, precision_mode=None,
                target_cpu="host", disable_passes=(), save_temps=None, load=True):
        """Compiles the module, which stays as it is; see `openatc.compile`."""
        request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps)
        return _compile_to(lambda path: self._handle.compile(request, path), output, load)

    def lower(self, stop_after: str, *, soc: str | None = None, soc_file: Path | None = None,
              precision_mode: str | None = None, target_cpu: str = "host",
              disable_passes: Iterable[str] = (), save_temps: Path | None = None) -> Module:
        """Returns a copy that has gone through the compiler's phases up to `stop_after`; see
        `openatc.lower`."""
        request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps)
        return Module(self._handle.lower(request, stop_after))

    def _in_order(self, inputs: Sequence[np.ndarray] | Mapping[str, np.ndarray]
                  ) -> list[np.ndarray]:
        if not isinstance(inputs, Mapping):
            if hasattr(inputs, "__array__") and len(self.inputs) == 1:
                return [inputs]  # type: ignore[list-item]
            if hasattr(inputs, "__array__") or not isinstance(inputs, Sequence):
                raise TypeError("inputs must be a list of arrays, or a dict of them by name")
            return list(inputs)
        names = [port.name for port in self.inputs]
        faults = [f"E10017: '{name}' is not an input of the model; its inputs are: "
                  + ", ".join(f"'{known}'" for known in names) for name in inputs
                  if name not in names]
        faults += [f"E10014: there is no array for input '{name}'" for name in names
                   if name not in inputs]
        if faults:
            raise Error(faults)
        return [inputs[name] for name in names]


def _shape_text(shape: tuple[int | None, ...] | None) -> str:
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"


def _option(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    return ",".join(str(item) for item in value)


def _shapes(shapes: Shapes | None) -> list[tuple[str, list[int]]]:
    checked = [(name, [int(dim) for dim in dims]) for name, dims in (shapes or {}).items()]
    faults = [f"E10011: the shape of input '{name}' has the dim {dim}, which is neither positive "
              "nor -1 (open)" for name, dims in checked for dim in dims if dim < -1 or dim == 0]
    if faults:
        raise Error(faults)
    return checked


def _words(words: Iterable[str]) -> list[str]:
    if isinstance(words, str):
        raise TypeError("a list of names is needed, not one str")
    return list(words)


def _request(soc: str | None, soc_file: Path | None, precision_mode: str | None, target_cpu: str,
             disable_passes: Iterable[str], save_temps: Path | None) -> _compiler.CompileRequest:
    """What to compile for, and how."""
    given = {"soc": soc, "soc_file": soc_file, "precision_mode": precision_mode,
             "target_cpu": target_cpu}
    faults = [f"E10004: the value of {name} is empty" for name, value in given.items()
              if value is not None and not os.fspath(value)]
    if faults:
        raise Error(faults)
    return _compiler.CompileRequest(soc, soc_file, precision_mode, target_cpu,
                                    _words(disable_passes), save_temps or None)


class _InMemory(NamedTuple):
    """An ONNX model that is in no file."""

    name: str
    data: bytes


def _in_memory(model: Source) -> Path | _InMemory:
    """Bytes and an onnx.ModelProto as a model without a file; a path as it is."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _InMemory("model.onnx", bytes(model))
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return _InMemory((model.graph.name or "model") + ".onnx", model.SerializeToString())
    return model


def _model_request(model: Source | _InMemory, input_shapes: Shapes | None,
                   outputs: Iterable[str] | None, gears: Gears | None = None
                   ) -> _compiler.ModelRequest:
    model = model if isinstance(model, _InMemory) else _in_memory(model)
    path, data = model if isinstance(model, _InMemory) else (model, None)
    sizes = [[int(size) for size in (gear if isinstance(gear, Iterable) else [gear])]
             for gear in gears or ()]
    return _compiler.ModelRequest(path, data, _shapes(input_shapes), _words(outputs or ()), sizes)


def _compile_to(compile_into: Callable[[Path | None], tuple[list[str], Any]], output: Path | None,
                load: bool) -> Model | None:
    if output is None and not load:
        raise ValueError("without an output and without loading there is nothing to compile for")
    lines, file = compile_into(output)
    for line in lines:
        warnings.warn(line, stacklevel=3)
    if not load:
        return None
    return Model(file if output is None else output)


def load(path: Source, *, input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None
         ) -> Module:
    """Reads a model: a file, as `atc --model` does, the bytes of an ONNX model, or an
    onnx.ModelProto.

    `input_shapes` gives inputs their shapes: {"image": (1, 3, 224, 224)}; -1 leaves a dim of an
    ONNX model open. `outputs` cuts the
    model: "node:0" or names of tensors.
    """
    return Module(_compiler.Module.load(_model_request(path, input_shapes, outputs)))


def parse(text: str) -> Module:
    """Makes a module of MLIR text."""
    return Module(_compiler.Module.parse(text))


@overload
def compile(model: Module | Source | _InMemory, output: Path | None = None, *,
            input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
            gears: Gears | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None,
            load: Literal[True] = True) -> Model: ...
@overload
def compile(model: Module | Source | _InMemory, output: Path, *,
            input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
            gears: Gears | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None,
            load: bool) -> Model | None: ...


def compile(model, output=None, *, input_shapes=None, outputs=None, gears=None, soc=None,
            soc_file=None, precision_mode=None, target_cpu="host", disable_passes=(),
            save_temps=None, load=True):
    """Compiles a model into the file `output`, and opens it: a file, the bytes of an ONNX model,
    an onnx.ModelProto or a module.

    Without `output` the `.om` is in no folder and lives as long as the Model.

    `gears` makes a static model per item in one file: a size for each -1 of `input_shapes`, in
    their order, as in `input_shapes={"image": (-1, 3, 224, 224)}, gears=[1, 2, 4, 8]`.

    `soc` compiles for an NPU, such as "Ascend310P3"; what it has no instructions for runs on
    the CPU. `soc_file` is a table that changes that NPU or describes another. `precision_mode`
    is "force_fp16" (what None means), "allow_fp32_to_fp16", "cube_fp16in_fp32out" or
    "must_keep_origin_dtype". `target_cpu` is a list such as "host" or "x86-64-v2,v3,v4". `disable_passes` names passes to leave out.
    `save_temps` is a folder for the IR after each stage. `load=False` returns None: for a
    processor that is not this machine's.
    """
    request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps)
    if isinstance(model, Module):
        _refuse_source(input_shapes, outputs)
        if gears is not None:
            raise TypeError("a module has its shapes: compile the model's file with gears")
        return _compile_to(lambda path: model._handle.compile(request, path), output, load)
    source = _model_request(model, input_shapes, outputs, gears)
    return _compile_to(lambda path: _compiler.compile_model(source, request, path), output, load)


def lower(model: Module | Source, stop_after: str, *, input_shapes: Shapes | None = None,
          outputs: Iterable[str] | None = None, soc: str | None = None,
          soc_file: Path | None = None, precision_mode: str | None = None,
          target_cpu: str = "host", disable_passes: Iterable[str] = (),
          save_temps: Path | None = None) -> Module:
    """Compiles a model file or a module up to a phase and returns the module as it is there.

    `stop_after` is "import", "quantize", "graph", "kernels", "schedule" or "programs"; the other
    arguments are those of `compile`. `print(openatc.lower("net.onnx", "schedule"))` shows the
    launches that `compile` would put into the file.
    """
    request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps)
    if isinstance(model, Module):
        _refuse_source(input_shapes, outputs)
        return Module(model._handle.lower(request, stop_after))
    source = _model_request(model, input_shapes, outputs)
    return Module(_compiler.lower_model(source, request, stop_after))


def _refuse_source(input_shapes: Shapes | None, outputs: Iterable[str] | None) -> None:
    if input_shapes is not None or outputs is not None:
        raise TypeError("a module has its shapes and outputs: give them to openatc.load")


@overload
def interpret(model: Module | Source, inputs: Sequence[np.ndarray]) -> list[np.ndarray]: ...
@overload
def interpret(model: Module | Source, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]: ...


def interpret(model, inputs):
    """Runs a model or a module in the reference interpreter."""
    return (model if isinstance(model, Module) else load(model)).interpret(inputs)
