# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as MLIR modules: read, looked at, rewritten, interpreted, compiled."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, overload

import numpy as np

from . import _compiler
from ._error import Error, _printable
from ._runtime import Model

Path = str | os.PathLike[str]
Shapes = Mapping[str, Sequence[int]]


class ModulePort(NamedTuple):
    """An input or output of a module; a dim that is not known is None."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]


class Module:
    """A model in MLIR. Made by `load` and `parse`.

    Several threads may use one module: they take turns.
    """

    def __init__(self, handle: _compiler.Module) -> None:
        if not isinstance(handle, _compiler.Module):
            raise TypeError("openatc.load and openatc.parse make modules")
        self._handle = handle

    @property
    def inputs(self) -> list[ModulePort]:
        return [ModulePort(*port) for port in self._handle.inputs()]

    @property
    def outputs(self) -> list[ModulePort]:
        """The results; none once a pass has made them arguments."""
        return [ModulePort(*port) for port in self._handle.outputs()]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name}: {port.dtype}{list(port.shape)}" for port in self.inputs)
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
        return _compile_to(self._handle.compile, output,
                           _target(soc, soc_file, precision_mode, target_cpu), disable_passes,
                           save_temps, load)

    def _in_order(self, inputs: Sequence[np.ndarray] | Mapping[str, np.ndarray]
                  ) -> list[np.ndarray]:
        if not isinstance(inputs, Mapping):
            if isinstance(inputs, np.ndarray) or not isinstance(inputs, Sequence):
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


def _target(soc: str | None, soc_file: Path | None, precision_mode: str | None, target_cpu: str
            ) -> list[str]:
    """What to compile for, as flags of atc."""
    flags = {"target": "cpu" if soc is None and soc_file is None else "npu", "soc_version": soc,
             "soc_file": soc_file, "precision_mode": precision_mode, "target_cpu": target_cpu}
    return [f"--{name}={os.fspath(value)}" for name, value in flags.items() if value is not None]


def _file_without_name() -> int:
    """A file that is gone when it is closed, whatever happens to this process."""
    folder = tempfile.gettempdir()
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:  # not all file systems have such files
        number, path = tempfile.mkstemp(suffix=".om", prefix="openatc-", dir=folder)
        os.unlink(path)
        return number


def _compile_to(compile_into: Callable[..., list[str]], output: Path | None, target: list[str],
                disable_passes: Iterable[str], save_temps: Path | None, load: bool
                ) -> Model | None:
    passes, folder = _words(disable_passes), os.fspath(save_temps) if save_temps else ""
    if output is None and not load:
        raise ValueError("without an output and without loading there is nothing to compile for")
    number = _file_without_name() if output is None else None
    path = output if number is None else f"/proc/self/fd/{number}"
    try:
        for line in compile_into(path, target, passes, folder):
            warnings.warn(line, stacklevel=3)
        return Model(path) if load else None
    finally:
        # What is mapped stays while the model does.
        if number is not None:
            os.close(number)


def load(path: Path, *, input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None
         ) -> Module:
    """Reads a model file, as `atc --model` does.

    `input_shapes` gives inputs their shapes: {"image": (1, 3, 224, 224)}; -1 leaves a dim of an
    ONNX model open. `outputs` cuts the
    model: "node:0" or names of tensors.
    """
    return Module(_compiler.Module.load(path, _shapes(input_shapes), _words(outputs or ())))


def parse(text: str) -> Module:
    """Makes a module of MLIR text."""
    return Module(_compiler.Module.parse(text))


@overload
def compile(model: Module | Path, output: Path | None = None, *,
            input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None,
            load: Literal[True] = True) -> Model: ...
@overload
def compile(model: Module | Path, output: Path, *,
            input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None,
            load: bool) -> Model | None: ...


def compile(model, output=None, *, input_shapes=None, outputs=None, soc=None, soc_file=None,
            precision_mode=None, target_cpu="host", disable_passes=(), save_temps=None, load=True):
    """Compiles a model file or a module into the file `output`, and opens it.

    Without `output` the `.om` is in no folder and lives as long as the Model.

    `soc` compiles for an NPU, such as "Ascend310P3"; what it has no instructions for runs on
    the CPU. `soc_file` is a table that changes that NPU or describes another. `precision_mode`
    is "force_fp16" (what None means), "allow_fp32_to_fp16", "cube_fp16in_fp32out" or
    "must_keep_origin_dtype". `target_cpu` is a list such as "host" or "x86-64-v2,v3,v4". `disable_passes` names passes to leave out.
    `save_temps` is a folder for the IR after each stage. `load=False` returns None: for a
    processor that is not this machine's.
    """
    if isinstance(model, Module):
        if input_shapes is not None or outputs is not None:
            raise TypeError("a module has its shapes and outputs: give them to openatc.load")
        return model.compile(output, soc=soc, soc_file=soc_file, precision_mode=precision_mode,
                             target_cpu=target_cpu, disable_passes=disable_passes,
                             save_temps=save_temps, load=load)
    shapes, names = _shapes(input_shapes), _words(outputs or ())

    def compile_into(path: Path, target: list[str], disabled: list[str], temps: str) -> list[str]:
        return _compiler.compile_file(model, shapes, names, path, target, disabled, temps)

    return _compile_to(compile_into, output, _target(soc, soc_file, precision_mode, target_cpu),
                       disable_passes, save_temps, load)


@overload
def interpret(model: Module | Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]: ...
@overload
def interpret(model: Module | Path, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]: ...


def interpret(model, inputs):
    """Runs a model file or a module in the reference interpreter."""
    return (model if isinstance(model, Module) else load(model)).interpret(inputs)
