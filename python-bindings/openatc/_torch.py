# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports modules of PyTorch, and compiles what torch.compile captures."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _torch_graphs
from ._error import Error, _printable
from ._foreign import Example, InMemory, framework

# The format of an ONNX file holds less than 2 GB; above this the weights get a file of their own.
_MAX_IN_MEMORY = 1_500_000_000


def _weight_bytes(module: Any) -> int:
    tensors = [*module.parameters(), *module.buffers()]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def export(module: Any, example: Example, folder: str,
           output_names: Sequence[str] | None = None) -> str | InMemory:
    """Exports a torch.nn.Module with its example inputs, or an ExportedProgram, as an ONNX model,
    in memory or, where it is too large for that, in `folder`. The module is exported as it is in
    eval(). Raises TypeError without example inputs, ImportError without PyTorch's exporter, and
    Error with the exporter's reason."""
    torch = framework("torch")

    is_program = not isinstance(module, torch.nn.Module)
    if is_program and any(each is not None for each in example):
        raise TypeError("a program of torch.export has its inputs and shapes")
    if not is_program and example.args is None and example.kwargs is None:
        raise TypeError("a torch.nn.Module needs example inputs, as in "
                        "openatc.compile(module, args=(torch.randn(1, 3, 224, 224),))")
    args = () if example.args is None else example.args
    if isinstance(args, (torch.Tensor, np.ndarray)):
        args = (args,)
    args = tuple(_as_example(torch, each) for each in args)
    if example.kwargs is not None:
        example = example._replace(kwargs={name: _as_example(torch, each)
                                           for name, each in example.kwargs.items()})
    training = [] if is_program else [each for each in module.modules() if each.training]
    if training:
        module.eval()
    try:
        program = _run_exporter(torch, module, args, example, output_names)
    finally:
        for each in training:
            each.training = True
    name = type(module).__name__
    if _weight_bytes(module) > _MAX_IN_MEMORY:
        path = os.path.join(folder, name + ".onnx")
        program.save(path, external_data=True)
        return path
    return InMemory(name + ".onnx", program.model_proto.SerializeToString())


def _as_example(torch: Any, value: Any) -> Any:
    """Returns an example input as the exporter takes it: an array as a tensor."""
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def _run_exporter(torch: Any, module: Any, args: tuple[Any, ...], example: Example,
                  output_names: Sequence[str] | None, *,
                  input_names: Sequence[str] | None = None, optimize: bool = True) -> Any:
    """Returns the program that PyTorch exports; without `optimize` its initializers are exactly
    the parameters and buffers of the module."""
    try:
        framework("onnxscript")
    except ImportError as error:
        raise ImportError("PyTorch's ONNX exporter needs the packages onnx and onnxscript: "
                          "pip install onnx onnxscript") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the exporter's own inner workings
            program = torch.onnx.export(
                module, args, kwargs=dict(example.kwargs or {}), dynamo=True, verbose=False,
                dynamic_shapes=example.dynamic_shapes, input_names=input_names,
                output_names=output_names, optimize=optimize)
            _name_returned_inputs(program.model.graph)
            return program
    except torch.onnx.OnnxExporterError as error:
        reason = error.__cause__ or error
        line = next((line.strip() for line in str(reason).splitlines() if line.strip()), "")
        raise Error([f"E10055: PyTorch cannot export {type(module).__name__} as ONNX: "
                     f"{type(reason).__name__}: {_printable(line)}"]) from error


def _name_returned_inputs(graph: Any) -> None:
    """Gives inputs that the module returns the names of its parameters: the exporter leaves
    these names to the outputs and appends "_orig" to those of the inputs."""
    values = {value.name: value for value in (*graph.inputs, *graph.outputs)}
    for value in graph.inputs:
        is_returned = any(use.node.op_type == "Identity" and use.node.outputs[0].is_graph_output()
                          for use in value.uses())
        if not is_returned or not value.name.endswith("_orig"):
            continue
        name = value.name.removesuffix("_orig")
        if output := values.pop(name, None):
            if not output.is_graph_output() or f"{name}_out" in values:
                continue
            output.name = f"{name}_out"
        value.name = name
        values[name] = value


def to_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    """Returns a torch tensor's elements, without a copy where it is dense and on the CPU; those
    of bf16 are their bits, as uint16."""
    torch = framework("torch")

    plain = tensor.detach().cpu().contiguous()
    array: np.ndarray[Any, Any] = \
        (plain.view(torch.uint16) if plain.dtype == torch.bfloat16 else plain).numpy()
    return array


def to_tensor(array: np.ndarray[Any, Any], dtype: str) -> Any:
    """Returns an array as a torch tensor, without a copy. `dtype` is the runtime's name of the
    elements: "bf16" are bits in `array`."""
    torch = framework("torch")

    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bf16" else tensor


class _Captured:
    """A graph of torch.compile: compiled when it first runs, for then its weights are known, and
    again when a weight has changed."""

    def __init__(self, graph: Any, examples: Sequence[Any], options: dict[str, Any]) -> None:
        torch = framework("torch")

        self.graph, self.options = graph, options
        nodes = _torch_graphs.placeholders(graph)
        # Dims that torch.compile takes for dynamic are symbols only in what it noted itself.
        noted = [node.meta.get("example_value", each) for node, each in zip(nodes, examples)]
        self.shapes = [tuple(each.shape) if isinstance(each, torch.Tensor) else each
                       for each in noted]
        self.is_marked = ["_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})
                          for node in nodes]
        self.numbers = _torch_graphs.number_positions(graph)
        self.session: Any = None
        self.versions: list[tuple[int, int]] = []
        self.values: dict[int, float] = {}
        self.refusal: str | None = None
        self.says_gradients = True

    def _split(self, args: Sequence[Any]) -> tuple[list[int], list[int]]:
        """Returns the positions of the weights and those of the inputs."""
        torch = framework("torch")

        tensors = [i for i, arg in enumerate(args)
                   if isinstance(arg, torch.Tensor) and i not in self.numbers]
        weights = [i for i in tensors if isinstance(args[i], torch.nn.Parameter)
                   or (i < len(self.is_marked) and self.is_marked[i])]
        return weights, [i for i in tensors if i not in weights]

    def __call__(self, *args: Any) -> Any:
        torch = framework("torch")

        if self.refusal is not None:
            return self.graph(*args)
        if torch.is_grad_enabled() and any(
                isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
            if self.says_gradients:
                self.says_gradients = False
                warnings.warn("the backend openatc computes no gradients, so PyTorch runs this "
                              "graph: call the module in torch.inference_mode() or "
                              "torch.no_grad()", stacklevel=2)
            return self.graph(*args)
        # Numbers that vary, such as a step of time, are inputs of another model.
        fixed = [i for i in self.numbers if self.values.get(i, args[i]) == args[i]]
        if fixed != self.numbers:
            self.numbers, self.session = fixed, None
        weights, inputs = self._split(args)
        versions = [(args[i].data_ptr(), 0 if args[i].is_inference() else args[i]._version)
                    for i in weights]
        if self.session is None or versions != self.versions:
            try:
                self._compile(args, weights, inputs)
                self.versions = versions
            except Exception as error:  # whatever an exporter raises, the program must go on
                self.refusal = str(error) or type(error).__name__
                warnings.warn("openatc refuses a graph of torch.compile, which PyTorch runs: "
                              f"{_printable(self.refusal)}", stacklevel=2)
                return self.graph(*args)
        arrays = [to_numpy(args[i]) for i in inputs]
        results = self.session.run([arrays[i] for i in self.order])
        return tuple(to_tensor(result, dtype)
                     for result, dtype in zip(results, self.output_types))

    def _compile(self, args: Sequence[Any], weights: list[int], inputs: list[int]) -> None:
        torch = framework("torch")
        from . import _compile, _runtime
        self.values = {i: float(args[i]) for i in self.numbers}
        graph = _torch_graphs.prepare(self.graph, self.values)
        captured = _Wrapped.make(graph, args, weights, inputs, self.shapes)
        dynamic = tuple({d: torch.export.Dim.DYNAMIC for d, dim in enumerate(self.shapes[i])
                         if isinstance(dim, torch.SymInt)} for i in inputs)
        example = Example(tuple(args[i].detach() for i in inputs), None,
                          (dynamic,) if any(dynamic) else None)
        model = _compile._compile_foreign(captured, example, self.options)
        # The exporter leaves inputs out of the names' order where it does not need them.
        names = [f"args_{k}" for k in range(len(inputs))]
        known = [port.name for port in model.inputs]
        self.order = [names.index(name) for name in known] if set(known) <= set(names) \
            else list(range(len(inputs)))
        if len(known) != len(self.order):
            raise Error(["E10055: the exported model has other inputs than the graph"])
        self.output_types = [port.dtype for port in model.outputs]
        self.session = _runtime.Session(model)


class _Wrapped:
    """Makes the module that is exported for a captured graph."""

    @staticmethod
    def make(graph: Any, args: Sequence[Any], weights: list[int], inputs: list[int],
             shapes: Sequence[Any]) -> Any:
        """Returns a module whose arguments are the tensors at `inputs`: the weights are its
        constants, and the sizes that torch.compile passes as integers are read from the shapes
        of its arguments."""
        torch = framework("torch")

        sources: dict[int, tuple[int, int]] = {}
        for i, shape in enumerate(shapes):
            if isinstance(shape, torch.SymInt):
                for k, position in enumerate(inputs):
                    for d, dim in enumerate(shapes[position]):
                        if isinstance(dim, torch.SymInt) and str(dim) == str(shape):
                            sources.setdefault(i, (k, d))
                if i not in sources:
                    raise Error([f"E10055: the size {shape} is of no input"])
        fixed = {i: args[i].detach() if i in weights else args[i]
                 for i in range(len(args)) if i not in inputs and i not in sources}

        class Captured(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.graph = graph
                for i, value in fixed.items():
                    if isinstance(value, torch.Tensor):
                        self.register_buffer(f"fixed_{i}", value)

            def forward(self, *args: Any) -> Any:
                values: dict[int, Any] = dict(zip(inputs, args))
                for i, value in fixed.items():
                    values[i] = getattr(self, f"fixed_{i}") \
                        if isinstance(value, torch.Tensor) else value
                for i, (k, d) in sources.items():
                    values[i] = args[k].shape[d]
                results = self.graph(*(values[i] for i in range(len(values))))
                if not all(isinstance(result, torch.Tensor) for result in results):
                    raise Error(["E10055: an output of the graph is no tensor"])
                # A copy, for an exported model has no output that is an input or a weight.
                return tuple(result.clone() for result in results)

        return Captured()


def backend(graph: Any, example_inputs: Sequence[Any], *,
            options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The backend of `torch.compile(module, backend="openatc")`.

    `options` are arguments of `openatc.compile`: torch.compile(module, backend="openatc",
    options={"soc": "Ascend310P3"}). A graph that is refused, and one that needs gradients, runs
    in PyTorch, with a warning that says why. TypeError for an option that `openatc.compile` does
    not have.
    """
    # Found here, because a call that fails is taken for a graph that is refused.
    from . import _compile
    known = set(inspect.signature(_compile.compile).parameters) - {
        "model", "args", "kwargs", "dynamic_shapes", "signature"}
    if unknown := sorted(set(options or {}) - known):
        raise TypeError(f"openatc.compile has no option {', '.join(map(repr, unknown))}; "
                        f"options are: {', '.join(sorted(known))}")
    return _Captured(graph, list(example_inputs), dict(options or {}))
