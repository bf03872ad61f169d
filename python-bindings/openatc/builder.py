# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds models from numpy arrays and ONNX operators, without the package onnx.

    from openatc import builder
    graph = builder.Graph("linear")
    x = graph.input("x", "float32", ["batch", 64])
    y = graph.op("Softmax", x @ weights + bias, axis=-1)
    graph.output("scores", y)
    model = openatc.compile(graph)

`openatc.compile`, `load`, `lower`, `interpret` and `quantize` take a graph as they take a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _onnx_writer as _write
from ._output import write_file

__all__ = ["Graph", "Value"]

_OPSET = 21
_IR_VERSION = 10


class Value:
    """An input, a constant or a result of a graph. Its operators (+, -, *, /, @, **, unary -)
    are the ONNX operators; the other side may be an array, or a number or a list of them, which
    get this value's element type."""

    graph: Graph
    """The graph that made it."""
    name: str
    """The name in the model."""
    dtype: str | None
    """The element type as numpy names it; None where only the compiler finds it out."""

    def __init__(self, graph: Graph, name: str, dtype: str | None) -> None:
        self.graph, self.name, self.dtype = graph, name, dtype

    def _binary(self, kind: str, other: Any, swapped: bool = False) -> Value:
        if isinstance(other, (int, float, list, tuple)) and not isinstance(other, bool):
            other = np.asarray(other, self.dtype or "float32")
        operands = (other, self) if swapped else (self, other)
        result = self.graph.op(kind, *operands)
        assert isinstance(result, Value)
        result.dtype = self.dtype
        return result

    def __add__(self, other: Any) -> Value:
        return self._binary("Add", other)

    def __radd__(self, other: Any) -> Value:
        return self._binary("Add", other, swapped=True)

    def __sub__(self, other: Any) -> Value:
        return self._binary("Sub", other)

    def __rsub__(self, other: Any) -> Value:
        return self._binary("Sub", other, swapped=True)

    def __mul__(self, other: Any) -> Value:
        return self._binary("Mul", other)

    def __rmul__(self, other: Any) -> Value:
        return self._binary("Mul", other, swapped=True)

    def __truediv__(self, other: Any) -> Value:
        return self._binary("Div", other)

    def __rtruediv__(self, other: Any) -> Value:
        return self._binary("Div", other, swapped=True)

    def __matmul__(self, other: Any) -> Value:
        return self._binary("MatMul", other)

    def __rmatmul__(self, other: Any) -> Value:
        return self._binary("MatMul", other, swapped=True)

    def __pow__(self, other: Any) -> Value:
        return self._binary("Pow", other)

    def __neg__(self) -> Value:
        result = self.graph.op("Neg", self)
        assert isinstance(result, Value)
        result.dtype = self.dtype
        return result

    # numpy leaves operators with an array on the left to this class.
    __array_ufunc__ = None

    def __repr__(self) -> str:
        return f"<openatc.builder.Value '{self.name}'>"


class Graph:
    """A model that is being built: inputs, constants, operators and outputs.

    `opset` is the version of ONNX's operators that `op` means; `domains` gives versions to other
    domains, which have version 1 otherwise.
    """

    name: str
    """The name of the model."""

    def __init__(self, name: str = "graph", *, opset: int = _OPSET,
                 domains: dict[str, int] | None = None) -> None:
        self.name = name
        self._opsets: dict[str, int] = {"": opset, **(domains or {})}
        self._used = {""}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}  # how many names of a stem were made
        self._outer: Graph | None = None
        self._inputs: list[tuple[Value, int, Sequence[int | str | None] | None]] = []
        self._outputs: list[tuple[Value, int | None, Sequence[int | str | None] | None]] = []
        self._constants: list[tuple[Value, np.ndarray[Any, Any], int | None]] = []
        self._nodes: list[tuple[str, str, str, list[Value | None], list[Value],
                                dict[str, Any]]] = []

    def subgraph(self, name: str = "body") -> Graph:
        """Returns a graph for an attribute of If, Loop or Scan, whose operators may use the
        values of this one."""
        inner = Graph(name)
        inner._opsets, inner._used = self._opsets, self._used
        inner._taken, inner._counts = self._taken, self._counts  # names are unique in the model
        inner._outer = self
        return inner

    def input(self, name: str, dtype: Any = "float32",
              shape: Sequence[int | str | None] | None = None) -> Value:
        """Adds an input. `shape` has a size per dim, a name for a dynamic one ("batch"), or None;
        without `shape` the rank is dynamic too."""
        number = _write.element_type(dtype)
        value = self._value(name, _write._TYPES[number][0])
        self._inputs.append((value, number, shape))
        return value

    def constant(self, array: Any, name: str | None = None, *, dtype: Any = None) -> Value:
        """Adds a constant. The elements of `dtype="bf16"` are given by their bits, as uint16."""
        plain = np.asarray(array)
        number = None if dtype is None else _write.element_type(dtype)
        if number is not None and number not in (8, 16):
            plain, number = plain.astype(_write._TYPES[number][0]), None
        if number == 16 and plain.dtype != np.uint16:
            raise TypeError("the elements of a bf16 constant are given by their bits, as uint16, "
                            f"not as {plain.dtype}")
        _write.element_type(plain.dtype)  # raises TypeError where ONNX has no such type
        value = self._value(name or self._free("constant"),
                            "bfloat16" if number == 16 else plain.dtype.name)
        self._constants.append((value, plain, number))
        return value

    def op(self, kind: str, *inputs: Any, outputs: int | None = None, domain: str = "",
           name: str | None = None, **attributes: Any) -> Any:
        """Adds an operator by its ONNX name and returns its result: `graph.op("Conv", x, weights,
        pads=[1, 1, 1, 1])`.

        An input is a value, an array or a number, which become constants (a float is f32, an
        integer i64), or None for an optional one that is left out. `name` names the operator and
        its result. With `outputs` the operator
        has that many results, which come as a tuple. An attribute is a number, a text, a list of
        either, an array, an element type (`to=np.float16`) or a `subgraph`.
        """
        values = [self._operand(item) for item in inputs]
        count = 1 if outputs is None else outputs
        if count < 1:
            raise ValueError(f"an operator has at least 1 output, not {count}")
        for key, value in attributes.items():
            if not isinstance(value, Graph):
                _write.attribute(key, value)  # raises TypeError where it is none
            elif value._outer is not self:
                raise ValueError(f"the graph for '{key}' was made by another one: make it with "
                                 "subgraph() of the graph that has the operator")
        label = name or self._free(kind.lower())
        self._used.add(domain)
        results = [self._value(label, None)] if count == 1 else \
            [self._value(self._free(f"{label}.{i}"), None) for i in range(count)]
        if count > 1:
            self._take(label)
        self._nodes.append((label, kind, domain, values, results, attributes))
        return tuple(results) if outputs is not None else results[0]

    def output(self, name: str, value: Value, dtype: Any = None,
               shape: Sequence[int | str | None] | None = None) -> None:
        """Makes a value an output of that name. Its type is found out by the compiler where
        `dtype` is None."""
        number = None if dtype is None else _write.element_type(dtype)
        source = self._operand(value)
        assert source is not None
        result = self._value(name, source.dtype)
        self._nodes.append((self._free("output"), "Identity", "", [source], [result], {}))
        self._outputs.append((result, number, shape))

    def to_onnx(self) -> bytes:
        """Returns the model in ONNX's format. Raises ValueError without an output, and for more
        than 2 GB, which that format cannot hold."""
        if self._outer is not None:
            raise ValueError("a subgraph is a part of its graph and no model of its own")
        opsets = b"".join(
            _write.data(8, _write.data(1, domain) + _write.number(2, self._opsets.get(domain, 1)))
            for domain in sorted(self._used))
        model = _write.number(1, _IR_VERSION) + _write.data(2, "openatc.builder") + opsets + \
            _write.data(7, self._encode())
        if len(model) >= 1 << 31:
            raise ValueError(f"the model has {len(model):,} bytes; ONNX's format holds less than "
                             "2 GB")
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as an ONNX file."""
        write_file(path, self.to_onnx())

    def __repr__(self) -> str:
        return f"<openatc.builder.Graph '{self.name}', {len(self._nodes)} operators>"

    def _encode(self) -> bytes:
        if not self._outputs:
            raise ValueError(f"the graph '{self.name}' has no output: name one with output()")
        nodes = b"".join(_write.data(1, self._node(*node)) for node in self._nodes)
        constants = b"".join(_write.data(5, _write.tensor(value.name, array, dtype))
                             for value, array, dtype in self._constants)
        ends = b"".join(_write.data(field, _write.value_info(value.name, dtype, shape))
                        for field, ports in ((11, self._inputs), (12, self._outputs))
                        for value, dtype, shape in ports)
        return nodes + _write.data(2, self.name) + constants + ends

    def _node(self, label: str, kind: str, domain: str, inputs: list[Value | None],
              results: list[Value], attributes: dict[str, Any]) -> bytes:
        fields = b"".join(
            _write.data(5, _write.attribute(
                key, _write.Message(value._encode()) if isinstance(value, Graph) else value))
            for key, value in attributes.items())
        return (_write.texts(1, (value.name if value else "" for value in inputs)) +
                _write.texts(2, (value.name for value in results)) + _write.data(3, label) +
                _write.data(4, kind) + fields + (_write.data(7, domain) if domain else b""))

    def _operand(self, item: Any) -> Value | None:
        if isinstance(item, Value):
            graph: Graph | None = self
            while graph is not None and graph is not item.graph:
                graph = graph._outer
            if graph is None:
                raise ValueError(f"the value '{item.name}' belongs to another graph")
            return item
        if item is None:
            return None
        if isinstance(item, float):
            return self.constant(np.float32(item))
        if isinstance(item, (list, tuple)):
            array = np.asarray(item)
            return self.constant(array.astype("float32") if array.dtype == np.float64 else array)
        return self.constant(item)

    def _free(self, stem: str) -> str:
        if stem not in self._taken:
            return stem
        number = self._counts.get(stem, 0) + 1
        while f"{stem}_{number}" in self._taken:
            number += 1
        self._counts[stem] = number
        return f"{stem}_{number}"

    def _take(self, name: str) -> None:
        if not name or name in self._taken:
            raise ValueError(f"the graph has the name '{name}' already" if name else
                             "a value needs a name")
        self._taken.add(name)

    def _value(self, name: str, dtype: str | None) -> Value:
        self._take(name)
        return Value(self, name, dtype)
