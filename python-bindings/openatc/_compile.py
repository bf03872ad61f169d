# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as MLIR modules: read, looked at, rewritten, interpreted, compiled."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

from numpy.typing import NDArray

from ._display import _shape_text, ports_html
from ._error import Error, _printable
from ._foreign import (Example, InMemory, apart_from_tensorflow, exported, needs_example,
                       refuse_other_bytes, refuse_other_objects)
from ._hooks import Action, Hooks, Operation, as_hooks
from ._runtime import Model
from ._values import Ports, Shape, as_arrays, is_array
from .builder import Graph

with apart_from_tensorflow():
    from . import _compiler

Path = str | os.PathLike[str]
Source = Path | bytes | bytearray | memoryview | Any
"""A model file, the bytes of an ONNX model, an onnx.ModelProto, an openatc.builder.Graph, a module
of PyTorch, a model of Keras or a tf.function."""
Shapes = Mapping[str, Sequence[int | None]]
Gears = Iterable[int | Sequence[int]]
Arrays = NDArray[Any] | Sequence[NDArray[Any]] | Mapping[str, NDArray[Any]]
"""An array for each input, in their order or by name; one array where there is one input."""
HookSource = Hooks | Mapping[str, Action] | None
"""Hooks, or their actions by phase."""
Progress = Callable[[str], object]
"""Is called with the name of each stage of a compilation as it begins."""


class ModulePort(NamedTuple):
    """An input or output of a module. A dynamic dim is its name in the model, or None where it has
    none; a shape without a known rank is None."""

    name: str
    """The name in the model."""
    dtype: str
    """The runtime's name of the element type: "f32", "i64", "bool" ..."""
    shape: Shape | None
    """The dims."""


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

    def _repr_html_(self) -> str:
        return ports_html(self.inputs, self.outputs, "module")

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

    def walk(self) -> list[Operation]:
        """Returns the operations in the order of the text, each before those inside of it.

        They are a copy; run_passes, and `parse` of an edited text, change a module.
        """
        return [Operation(*each) for each in self._handle.operations()]

    @overload
    def interpret(self, inputs: NDArray[Any] | Sequence[NDArray[Any]]
                  ) -> list[NDArray[Any]]: ...
    @overload
    def interpret(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]: ...

    def interpret(self, inputs: Any) -> Any:
        """Runs the module in the reference interpreter, which is slow and obvious.

        The answer is a list for a list of inputs, a dict for a dict.
        """
        results = self._handle.interpret(self._in_order(inputs), None)
        if isinstance(inputs, Mapping):
            return {port.name: array for port, array in zip(self.outputs, results)}
        return results

    def tensors(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """Interprets the module and returns every tensor that has a name."""
        tensors: dict[str, NDArray[Any]] = {}
        self._handle.interpret(self._in_order(inputs), tensors)
        return tensors

    @overload
    def compile(self, output: Path | None = None, *, soc: str | None = None,
                soc_file: Path | None = None, precision_mode: str | None = None,
                target_cpu: str = "host", disable_passes: Iterable[str] = (),
                save_temps: Path | None = None, load: Literal[True] = True,
                hooks: HookSource = None, progress: Progress | None = None,
            signature: str | None = None) -> Model: ...
    @overload
    def compile(self, output: Path, *, soc: str | None = None, soc_file: Path | None = None,
                precision_mode: str | None = None, target_cpu: str = "host",
                disable_passes: Iterable[str] = (), save_temps: Path | None = None,
                load: bool, hooks: HookSource = None,
                progress: Progress | None = None) -> Model | None: ...

    def compile(self, output: Path | None = None, *, soc: str | None = None,
                soc_file: Path | None = None, precision_mode: str | None = None,
                target_cpu: str = "host", disable_passes: Iterable[str] = (),
                save_temps: Path | None = None, load: bool = True, hooks: HookSource = None,
                progress: Progress | None = None) -> Any:
        """Compiles the module, which stays as it is; see `openatc.compile`."""
        request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps,
                           hooks, progress)
        return _compile_to(lambda path: self._handle.compile(request, path), output, load)

    def lower(self, stop_after: str, *, soc: str | None = None, soc_file: Path | None = None,
              precision_mode: str | None = None, target_cpu: str = "host",
              disable_passes: Iterable[str] = (), save_temps: Path | None = None,
              hooks: HookSource = None, progress: Progress | None = None) -> Module:
        """Returns a copy that has gone through the compiler's phases up to `stop_after`; see
        `openatc.lower`."""
        request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps,
                           hooks, progress)
        return Module(self._handle.lower(request, stop_after))

    def _in_order(self, inputs: Arrays) -> list[NDArray[Any]]:
        if not isinstance(inputs, Mapping):
            if is_array(inputs) and len(self.inputs) == 1:
                return as_arrays([inputs])
            if is_array(inputs) or not isinstance(inputs, Sequence):
                raise TypeError("inputs must be a list of arrays, or a dict of them by name")
            return as_arrays(inputs)
        names = [port.name for port in self.inputs]
        errors = [f"E10017: '{name}' is not an input of the model; its inputs are: "
                  + ", ".join(f"'{known}'" for known in names) for name in inputs
                  if name not in names]
        errors += [f"E10014: there is no array for input '{name}'" for name in names
                   if name not in inputs]
        if errors:
            raise Error(errors)
        return as_arrays(inputs[name] for name in names)


def _option(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    return ",".join(str(item) for item in value)


def _dims(name: str, dims: Sequence[int | None]) -> list[int]:
    try:
        if not isinstance(dims, str):
            checked = [-1 if dim is None else operator.index(dim) for dim in dims]
            # The compiler refuses what is too large, as far as its numbers go.
            for dim in checked:
                if dim <= -(1 << 63):
                    raise ValueError(f"the shape of input '{name}' has the dim {dim}, expected 0 or "
                                     "more, or -1 for a dim that is dynamic")
                if dim >= 1 << 63:
                    raise ValueError(f"the shape of input '{name}' has the dim {dim}, more than "
                                     "the largest supported one, 2^31")
            return checked
    except TypeError:
        pass
    raise TypeError(f"the shape of input '{name}' must be integers, -1 or None for a dim that is "
                    f"dynamic, as in (1, 3, 224, 224), not {dims!r}")


def _shapes(shapes: Shapes | None) -> list[tuple[str, list[int]]]:
    if shapes is not None and not isinstance(shapes, Mapping):
        raise TypeError('input_shapes must be a dict of shapes by name, as in '
                        f'{{"image": (1, 3, 224, 224)}}, not {type(shapes).__name__}')
    checked = [(name, _dims(name, dims)) for name, dims in (shapes or {}).items()]
    errors = [f"E10011: the shape of input '{name}' has the dim {dim}, which is neither positive "
              "nor -1 (dynamic)" for name, dims in checked for dim in dims if dim < -1 or dim == 0]
    if errors:
        raise Error(errors)
    return checked


def _words(words: Iterable[str]) -> list[str]:
    if isinstance(words, str):
        raise TypeError("a list of names is needed, not one str")
    return list(words)


def _request(soc: str | None, soc_file: Path | None, precision_mode: str | None, target_cpu: str,
             disable_passes: Iterable[str], save_temps: Path | None, hooks: HookSource = None,
             progress: Progress | None = None) -> _compiler.CompileRequest:
    """What to compile for, and how."""
    given = {"soc": soc, "soc_file": soc_file, "precision_mode": precision_mode,
             "target_cpu": target_cpu}
    errors = [f"E10004: the value of {name} is empty" for name, value in given.items()
              if value is not None and not os.fspath(value)]
    if errors:
        raise Error(errors)
    wanted = as_hooks(hooks)

    def run_hook(phase: str, handle: _compiler.Module) -> _compiler.Module:
        return wanted.run(phase, Module(handle))._handle

    return _compiler.CompileRequest(soc, soc_file, precision_mode, target_cpu,
                                    _words(disable_passes), save_temps or None, wanted._changes,
                                    wanted.phases, run_hook, progress)


def _in_memory(model: Source) -> Path | InMemory:
    """Returns bytes, an onnx.ModelProto and a graph of the builder as a model without a file; a
    path as it is."""
    if isinstance(model, Graph):
        return InMemory(model.name + ".onnx", model.to_onnx())
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        refuse_other_bytes(data)
        return InMemory("model.onnx", data)
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return InMemory((model.graph.name or "model") + ".onnx", model.SerializeToString())
    return model


def _model_request(model: Source | InMemory, input_shapes: Shapes | None,
                   outputs: Iterable[str] | None, gears: Gears | None = None,
                   signature: str | None = None) -> _compiler.ModelRequest:
    if signature == "":
        raise Error(["E10004: the value of signature is empty"])
    model = model if isinstance(model, InMemory) else _in_memory(model)
    if not isinstance(model, InMemory):
        refuse_other_objects(model)
    path, data = model if isinstance(model, InMemory) else (model, None)
    try:
        sizes = [[operator.index(size) for size in (gear if isinstance(gear, Iterable) else [gear])]
                 for gear in (() if gears is None else gears)]
    except TypeError:
        raise TypeError("gears must be a list of sizes, or of tuples of them where several dims "
                        f"are -1, as in [1, 8] or [(1, 224), (8, 224)], not {gears!r}") from None
    return _compiler.ModelRequest(path, data, _shapes(input_shapes), _words(outputs or ()), sizes,
                                  signature or "")


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


def load(path: Source, *, input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
         args: Any = None, kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
         signature: str | None = None) -> Module:
    """Reads a model: a file, as `atc --model` does, the bytes of an ONNX model, an
    onnx.ModelProto, a graph of `openatc.builder`, or an object of PyTorch or TensorFlow.

    `input_shapes` gives inputs their shapes: {"image": (1, 3, 224, 224)}; -1 or None leaves a dim
    of an ONNX model dynamic. `outputs` cuts the model: "node:0" or names of tensors. `args`, `kwargs`
    and `dynamic_shapes` export an object; see `compile`, also for `signature`.
    """
    with exported(path, Example(args, kwargs, dynamic_shapes)) as source:
        return Module(_compiler.Module.load(_model_request(source, input_shapes, outputs,
                                                           signature=signature)))


def from_torch(module: Any, args: Any = None, kwargs: Mapping[str, Any] | None = None, *,
               dynamic_shapes: Any = None) -> Module:
    """Exports a torch.nn.Module with example inputs, or a program of torch.export, and reads it.

    `args` are the example inputs, a tuple or one tensor, `kwargs` those by name.
    `dynamic_shapes` says which dims are dynamic, as torch.export takes it:
    {"image": {0: "batch"}}. The module is exported as it is in eval().
    """
    return load(module, args=args, kwargs=kwargs, dynamic_shapes=dynamic_shapes)


def from_keras(model: Any, args: Any = None) -> Module:
    """Exports a Keras model, a tf.function or a tf.Module as a SavedModel and reads it.

    `args` are examples of its inputs, arrays or tf.TensorSpec (None is a dynamic dim), for what
    does not know their shapes itself.
    """
    return load(model, args=args)


def parse(text: str) -> Module:
    """Makes a module of MLIR text."""
    return Module(_compiler.Module.parse(text))


@overload
def compile(model: Module | Source | InMemory, output: Path | None = None, *,
            input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
            gears: Gears | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None,
            load: Literal[True] = True, args: Any = None,
            kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
            hooks: HookSource = None, progress: Progress | None = None) -> Model: ...
@overload
def compile(model: Module | Source | InMemory, output: Path, *,
            input_shapes: Shapes | None = None, outputs: Iterable[str] | None = None,
            gears: Gears | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None,
            load: bool, args: Any = None, kwargs: Mapping[str, Any] | None = None,
            dynamic_shapes: Any = None, hooks: HookSource = None,
            progress: Progress | None = None, signature: str | None = None) -> Model | None: ...


def compile(model: Any, output: Path | None = None, *, input_shapes: Shapes | None = None,
            outputs: Iterable[str] | None = None, gears: Gears | None = None,
            soc: str | None = None, soc_file: Path | None = None,
            precision_mode: str | None = None, target_cpu: str = "host",
            disable_passes: Iterable[str] = (), save_temps: Path | None = None, load: bool = True,
            args: Any = None, kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
            hooks: HookSource = None, progress: Progress | None = None,
            signature: str | None = None) -> Any:
    """Compiles a model into the file `output`, and opens it: a file, the bytes of an ONNX model,
    an onnx.ModelProto, a graph of `openatc.builder`, a module, or an object of PyTorch or
    TensorFlow.

    Without `output` the `.om` is in no folder and lives as long as the Model.

    `gears` makes a static model per item in one file: a size for each -1 of `input_shapes`, in
    their order, as in `input_shapes={"image": (-1, 3, 224, 224)}, gears=[1, 2, 4, 8]`.

    `soc` compiles for an NPU, such as "Ascend310P3"; what it has no instructions for runs on
    the CPU. `soc_file` is a table that changes that NPU or describes another. `precision_mode`
    is "force_fp16" (what None means), "allow_fp32_to_fp16", "cube_fp16in_fp32out" or
    "must_keep_origin_dtype". `target_cpu` is a list such as "host" or "x86-64-v2,v3,v4".
    `disable_passes` names passes to leave out. `save_temps` is a folder for the IR after each
    stage. `load=False` returns None: for a processor that is not this machine's.

    `hooks` are an `openatc.Hooks` or its actions by phase, {"graph": function}. `progress` is
    called with the name of each stage as it begins. What they raise ends the compilation and
    comes out of this call.

    A torch.nn.Module is exported with the example inputs `args` (a tuple, or one tensor) and
    `kwargs`; `dynamic_shapes`, as torch.export takes it, says which dims are dynamic:
    {"image": {0: "batch"}}. A tf.function without a signature needs `args` too: arrays or
    tf.TensorSpec. Keras models need nothing. `signature` chooses among those of a SavedModel,
    a folder, or of a .tflite file: without it "serving_default" is compiled, or the only one.
    """
    request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps,
                       hooks, progress)
    if isinstance(model, Module):
        _refuse_source(input_shapes, outputs, signature)
        if gears is not None:
            raise TypeError("a module has its shapes: compile the model's file with gears")
        return _compile_to(lambda path: model._handle.compile(request, path), output, load)
    with exported(model, Example(args, kwargs, dynamic_shapes)) as readable:
        source = _model_request(readable, input_shapes, outputs, gears, signature)
        return _compile_to(lambda path: _compiler.compile_model(source, request, path), output,
                           load)


def _compile_foreign(model: Any, example: Example, options: Mapping[str, Any]) -> Model:
    """Compiles what torch.compile captured, with options of `compile`."""
    compiled: Model = compile(model, args=example.args, kwargs=example.kwargs,
                              dynamic_shapes=example.dynamic_shapes, **options)
    return compiled


def lower(model: Module | Source, stop_after: str, *, input_shapes: Shapes | None = None,
          outputs: Iterable[str] | None = None, soc: str | None = None,
          soc_file: Path | None = None, precision_mode: str | None = None,
          target_cpu: str = "host", disable_passes: Iterable[str] = (),
          save_temps: Path | None = None, hooks: HookSource = None,
          progress: Progress | None = None, signature: str | None = None) -> Module:
    """Compiles a model file or a module up to a phase and returns the module as it is there.

    `stop_after` is "import", "quantize", "graph", "kernels", "schedule" or "programs"; the other
    arguments are those of `compile`. `print(openatc.lower("net.onnx", "schedule"))` shows the
    launches that `compile` would put into the file.
    """
    request = _request(soc, soc_file, precision_mode, target_cpu, disable_passes, save_temps,
                       hooks, progress)
    if isinstance(model, Module):
        _refuse_source(input_shapes, outputs, signature)
        return Module(model._handle.lower(request, stop_after))
    with exported(model, Example()) as readable:
        source = _model_request(readable, input_shapes, outputs, signature=signature)
        return Module(_compiler.lower_model(source, request, stop_after))


def _refuse_source(input_shapes: Shapes | None, outputs: Iterable[str] | None,
                   signature: str | None) -> None:
    if input_shapes is not None or outputs is not None or signature is not None:
        raise TypeError("a module has its shapes, outputs and signature: give them to openatc.load")


@overload
def interpret(model: Module | Source, inputs: NDArray[Any] | Sequence[NDArray[Any]]
              ) -> list[NDArray[Any]]: ...
@overload
def interpret(model: Module | Source, inputs: Mapping[str, NDArray[Any]]
              ) -> dict[str, NDArray[Any]]: ...


def interpret(model: Any, inputs: Any) -> Any:
    """Runs a model or a module in the reference interpreter. A torch.nn.Module is exported with
    the inputs."""
    return (model if isinstance(model, Module) else load_with(model, inputs)).interpret(inputs)


def load_with(model: Source, inputs: Any, input_shapes: Shapes | None = None) -> Module:
    """Loads a model; one that is exported with example inputs, which a torch.nn.Module is, with
    `inputs`: a list of arrays, a dict of them by name, or one array."""
    if not needs_example(model):
        return load(model, input_shapes=input_shapes)
    if isinstance(inputs, Mapping):
        return load(model, args=(), kwargs=inputs, input_shapes=input_shapes)
    args = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    return load(model, args=args, input_shapes=input_shapes)
