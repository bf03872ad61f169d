#===-- scale_shapes.py - large graphs that are not chains of arithmetic ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More models of any size, for scale_models.py: values with many users, chains of operators that
move elements, many products, trees, long lists and names. Needs numpy and onnx."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


class Graph:
    """Nodes and initializers of a graph, in the order in which they are added."""

    def __init__(self):
        self.nodes, self.initializers = [], []

    def constant(self, values, kind=np.float32):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def add(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}",
                                           **attributes))
        return name

    def model(self, inputs, outputs):
        value = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "scale", [value(*each) for each in inputs],
                                  [value(*each) for each in outputs], self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        made.ir_version = 8
        return made


def fan_out(size):
    """One value with as many users, whose results are joined in a tree."""
    graph = Graph()
    shared = graph.add("Tanh", "x")
    level = [graph.add("Mul", shared, graph.constant(0.001 * i)) for i in range(size)]
    return join(graph, level, 2)


def join(graph, level, arity):
    while len(level) > 1:
        level = [graph.add("Sum", *level[i:i + arity]) for i in range(0, len(level), arity)]
    return graph.model([("x", FLOAT, [16])], [(level[0], FLOAT, [16])])


def fan_out_products(size):
    """One value that as many matrix products read, each with weights of its own."""
    graph, rng = Graph(), np.random.default_rng(1)
    level = [graph.add("MatMul", "x", graph.constant(rng.standard_normal((8, 8))))
             for _ in range(size)]
    while len(level) > 1:
        level = [graph.add("Sum", *level[i:i + 8]) for i in range(0, len(level), 8)]
    return graph.model([("x", FLOAT, [4, 8])], [(level[0], FLOAT, [4, 8])])


def add_tree(size):
    """A binary tree of additions over slices of the input."""
    graph = Graph()
    axis = graph.constant([0], np.int64)
    level = [graph.add("Slice", "x", graph.constant([i], np.int64), graph.constant([i + 1], np.int64),
                       axis) for i in range((size + 2) // 3)]
    rows = len(level)
    while len(level) > 1:
        level = [graph.add("Add", *level[i:i + 2]) if i + 1 < len(level) else level[i]
                 for i in range(0, len(level), 2)]
    return graph.model([("x", FLOAT, [rows, 4])], [(level[0], FLOAT, [1, 4])])


def doubling(size):
    """x + x, again and again: a graph with 2^size paths."""
    graph, last = Graph(), "x"
    for _ in range(size):
        last = graph.add("Add", last, last)
        last = graph.add("Mul", last, graph.constant(0.5))
    return graph.model([("x", FLOAT, [4])], [(last, FLOAT, [4])])


def chain(size, step, shape, last_shape=None):
    """`step(graph, value, i)` as often as that."""
    graph, last = Graph(), "x"
    for i in range(size):
        last = step(graph, last, i)
    return graph.model([("x", FLOAT, shape)], [(last, FLOAT, last_shape or shape)])


def reshapes(size):
    """Reshapes in a row."""
    shapes = ([2, 12], [4, 6], [3, 8], [1, 24])
    return chain(size, lambda graph, last, i: graph.add(
        "Reshape", last, graph.constant(shapes[i % 4], np.int64)), [24], None if size == 0 else
        shapes[(size - 1) % 4])


def transposes(size):
    """Transposes in a row, each followed by an operator that is not linear."""
    return chain(size // 2 * 2, lambda graph, last, i: graph.add("Transpose", last, perm=[2, 0, 1])
                 if i % 2 else graph.add("Tanh", last), [5, 5, 5])


def pure_transposes(size):
    """Transposes in a row and nothing else."""
    return chain(size, lambda graph, last, i: graph.add("Transpose", last, perm=[2, 0, 1]), [5, 5, 5])


def reversals(size):
    """Gathers in a row, each of all elements in the opposite order."""
    return chain(size, lambda graph, last, i: graph.add(
        "Gather", last, graph.constant(range(15, -1, -1), np.int64), axis=0), [16])


def concats(size):
    """Concatenations of halves, in a row."""
    def step(graph, last, i):
        if not graph.initializers:
            for bounds in ([0], [4], [8]):
                graph.constant(bounds, np.int64)
        low = graph.add("Slice", last, "c0", "c1", "c0")
        high = graph.add("Slice", last, "c1", "c2", "c0")
        return graph.add("Concat", high, low, axis=0)
    return chain(size // 3, step, [8, 3])


def slices(size):
    """Slices in a row, each of one element less."""
    def step(graph, last, i):
        return graph.add("Slice", last, graph.constant([1], np.int64),
                         graph.constant([1 << 40], np.int64), graph.constant([0], np.int64))
    return chain(size, step, [size + 4], [4])


def growing(size):
    """Concatenations in a row, each with one element more."""
    graph, last = Graph(), "x"
    for _ in range(size):
        last = graph.add("Concat", last, "x", axis=0)
    return graph.model([("x", FLOAT, [1])], [(last, FLOAT, [size + 1])])


def pads(size):
    """Pads and slices in a row."""
    def step(graph, last, i):
        if i % 2 == 0:
            return graph.add("Pad", last, graph.constant([1, 0, 0, 1], np.int64))
        return graph.add("Slice", last, graph.constant([0, 1], np.int64),
                         graph.constant([4, 5], np.int64))
    return chain(size // 2 * 2, step, [4, 4])


def gathers(size):
    """Gathers in a row, each with indices of its own."""
    return chain(size, lambda graph, last, i: graph.add(
        "Gather", last, graph.constant(np.roll(np.arange(6), i), np.int64)), [6, 2])


def products(size):
    """Matrix products in a row, all with other weights."""
    rng = np.random.default_rng(1)
    return chain(size, lambda graph, last, i: graph.add(
        "MatMul", last, graph.constant(rng.standard_normal((8, 8)) / 3)), [4, 8])


def other_products(size):
    """Matrix products in a row of which no two have the same dims."""
    rng, columns = np.random.default_rng(1), [8]

    def step(graph, last, i):
        columns.append(2 + (i * 7) % 61)
        return graph.add("MatMul", last, graph.constant(rng.standard_normal(columns[-2:]) / 5))
    graph, last = Graph(), "x"
    for i in range(size):
        last = step(graph, last, i)
    return graph.model([("x", FLOAT, [3, 8])], [(last, FLOAT, [3, columns[-1]])])


def convolutions(size):
    """Convolutions in a row, all with other weights."""
    rng = np.random.default_rng(1)
    return chain(size, lambda graph, last, i: graph.add(
        "Conv", last, graph.constant(rng.standard_normal((4, 4, 3, 3)) / 6), pads=[1, 1, 1, 1]),
        [1, 4, 6, 6])


def residuals(size):
    """Convolutions whose results are added to what they read, and one value that all read."""
    rng = np.random.default_rng(1)

    def step(graph, last, i):
        made = graph.add("Conv", last, graph.constant(rng.standard_normal((4, 4, 1, 1)) / 4))
        return graph.add("Add", graph.add("Relu", graph.add("Add", made, last)), "x")
    return chain(size // 4, step, [1, 4, 6, 6])


def reductions(size):
    """Reductions and what is broadcast again, in a row."""
    def step(graph, last, i):
        if i % 2 == 0:
            return graph.add("Sub", last, graph.add("ReduceMean", last, axes=[-1], keepdims=1))
        return graph.add("Softmax", last, axis=0)
    return chain(size * 2 // 3, step, [6, 6])


def quantized(size):
    """Pairs of QuantizeLinear and DequantizeLinear in a row."""
    def step(graph, last, i):
        if not graph.initializers:
            graph.constant(0.05)
            graph.constant(3, np.int8)
        return graph.add("Relu", graph.add("DequantizeLinear", graph.add(
            "QuantizeLinear", last, "c0", "c1"), "c0", "c1"))
    return chain(size // 3, step, [16])


def logic(size):
    """Comparisons and selections in a row."""
    def step(graph, last, i):
        return graph.add("Where", graph.add("Less", last, graph.constant(0.5)), last,
                         graph.constant(0.25 + i % 3))
    return chain(size // 2, step, [16])


def long_list(size):
    """A node with attributes of as many numbers."""
    graph = Graph()
    graph.nodes.append(helper.make_node("Split", ["x", graph.constant([1] * size, np.int64)],
                                        [f"s{i}" for i in range(size)], name="split", axis=0))
    graph.nodes.append(helper.make_node("Constant", [], ["k"], name="k",
                                        value_floats=[0.5] * size))
    graph.nodes.append(helper.make_node("Concat", [f"s{i}" for i in reversed(range(size))], ["z"],
                                        name="back", axis=0))
    last = graph.add("Add", "z", "k")
    return graph.model([("x", FLOAT, [size])], [(last, FLOAT, [size])])


def long_names(size):
    """Ten nodes whose names have as many letters each."""
    graph, last = Graph(), "x"
    for i in range(10):
        name = f"v{i}" + "n" * size
        graph.nodes.append(helper.make_node(("Tanh", "Exp")[i % 2], [last], [name],
                                            name=f"node{i}" + "m" * size))
        last = name
    return graph.model([("x", FLOAT, [4])], [(last, FLOAT, [4])])


def scopes(size):
    """A chain whose names are paths of many folders, as exporters write them."""
    graph, last = Graph(), "x"
    for i in range(size):
        path = "/".join(f"layer.{(i >> shift) % 8}" for shift in (9, 6, 3, 0))
        name = f"/model/{path}/Tanh_{i}_output_0"
        graph.nodes.append(helper.make_node(("Tanh", "Relu")[i % 2], [last], [name],
                                            name=f"/model/{path}/Tanh_{i}"))
        last = name
    return graph.model([("x", FLOAT, [4])], [(last, FLOAT, [4])])


def big_loop(size):
    """A Loop whose body has as many nodes."""
    body, last = Graph(), "v"
    for i in range(size):
        last = body.add(("Tanh", "Neg")[i % 2], last)
    value = helper.make_tensor_value_info
    body.nodes.append(helper.make_node("Identity", ["k"], ["g"]))
    inside = helper.make_graph(
        body.nodes, "body", [value("i", INT64, []), value("k", BOOL, []), value("v", FLOAT, [4])],
        [value("g", BOOL, []), value(last, FLOAT, [4])])
    graph = Graph()
    graph.nodes.append(helper.make_node("Loop", ["m", "", "x"], ["y"], name="loop", body=inside))
    return graph.model([("x", FLOAT, [4]), ("m", INT64, [])], [("y", FLOAT, [4])])


def many_loops(size):
    """As many Loops in a row."""
    value = helper.make_tensor_value_info
    graph, last = Graph(), "x"
    for i in range(size):
        body = helper.make_graph(
            [helper.make_node("Tanh", [f"v{i}"], [f"w{i}"]),
             helper.make_node("Identity", [f"k{i}"], [f"g{i}"])], "body",
            [value(f"i{i}", INT64, []), value(f"k{i}", BOOL, []), value(f"v{i}", FLOAT, [4])],
            [value(f"g{i}", BOOL, []), value(f"w{i}", FLOAT, [4])])
        graph.nodes.append(helper.make_node("Loop", ["m", "", last], [f"y{i}"], name=f"loop{i}",
                                            body=body))
        last = f"y{i}"
    return graph.model([("x", FLOAT, [4]), ("m", INT64, [])], [(last, FLOAT, [4])])


def concat_tree(size):
    """A binary tree of concatenations of as many slices of the input, the last one first."""
    graph = Graph()
    axis = graph.constant([0], np.int64)
    level = [graph.add("Slice", "x", graph.constant([i], np.int64), graph.constant([i + 1], np.int64),
                       axis) for i in reversed(range(size))]
    while len(level) > 1:
        level = [graph.add("Concat", *level[i:i + 2], axis=0) if i + 1 < len(level) else level[i]
                 for i in range(0, len(level), 2)]
    return graph.model([("x", FLOAT, [size, 2])], [(level[0], FLOAT, [size, 2])])


def wide_if(size):
    """An If with as many results."""
    value = helper.make_tensor_value_info

    def branch(op, name):
        graph = Graph()
        names = [graph.add(op, "x") for _ in range(size)]
        for node, result in zip(graph.nodes, [f"{name}{i}" for i in range(size)]):
            node.output[0] = result
        return helper.make_graph(graph.nodes, name, [],
                                 [value(f"{name}{i}", FLOAT, [4]) for i in range(len(names))])
    graph = Graph()
    results = [f"y{i}" for i in range(size)]
    graph.nodes.append(helper.make_node("If", ["c"], results, name="if",
                                        then_branch=branch("Tanh", "a"), else_branch=branch("Exp", "b")))
    return graph.model([("x", FLOAT, [4]), ("c", BOOL, [])], [(name, FLOAT, [4]) for name in results])


def wide_loop(size):
    """A Loop with as many carried values, which go round."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Tanh", [f"v{i}"], [f"w{i}"]) for i in range(size)]
    nodes.append(helper.make_node("Identity", ["k"], ["g"]))
    body = helper.make_graph(
        nodes, "body", [value("i", INT64, []), value("k", BOOL, [])] +
        [value(f"v{i}", FLOAT, [4]) for i in range(size)],
        [value("g", BOOL, [])] + [value(f"w{(i + 1) % size}", FLOAT, [4]) for i in range(size)])
    graph = Graph()
    graph.nodes.append(helper.make_node("Loop", ["m", ""] + ["x"] * size,
                                        [f"y{i}" for i in range(size)], name="loop", body=body))
    return graph.model([("x", FLOAT, [4]), ("m", INT64, [])],
                       [(f"y{i}", FLOAT, [4]) for i in range(size)])


def wide_scan(size):
    """A Scan over as many inputs, with as many outputs."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Tanh", [f"v{i}"], [f"w{i}"]) for i in range(size)], "body",
        [value(f"v{i}", FLOAT, [4]) for i in range(size)],
        [value(f"w{i}", FLOAT, [4]) for i in range(size)])
    graph = Graph()
    graph.nodes.append(helper.make_node("Scan", ["x"] * size, [f"y{i}" for i in range(size)],
                                        name="scan", body=body, num_scan_inputs=size))
    return graph.model([("x", FLOAT, [3, 4])], [(f"y{i}", FLOAT, [3, 4]) for i in range(size)])


def shape_chains(size):
    """As many nodes that compute shapes from shapes, as exporters write them."""
    graph, last = Graph(), "x"
    zero = graph.constant([0], np.int64)
    minus = graph.constant([-1], np.int64)
    while len(graph.nodes) < size:
        shape = graph.add("Shape", last)
        rows = graph.add("Gather", shape, zero, axis=0)
        last = graph.add("Tanh", graph.add("Reshape", last, graph.add("Concat", rows, minus, axis=0)))
    return graph.model([("x", FLOAT, ["n", 4])], [(last, FLOAT, None)])


def sequences(size):
    """A sequence that grows by one tensor with each node."""
    graph = Graph()
    last = graph.add("SequenceConstruct", "x")
    for _ in range(size):
        last = graph.add("SequenceInsert", last, "x")
    last = graph.add("ConcatFromSequence", last, axis=0)
    return graph.model([("x", FLOAT, [2])], [(last, FLOAT, [2 * size + 2])])


def dead(size):
    """As many nodes that nothing reads, and one that is read."""
    graph = Graph()
    for i in range(size):
        graph.add("Tanh", "x" if i % 10 == 0 else f"t{i - 1}")
    last = graph.add("Relu", "x")
    return graph.model([("x", FLOAT, [4])], [(last, FLOAT, [4])])


def equal_nodes(size):
    """As many equal nodes, all of which are results."""
    graph = Graph()
    names = [graph.add("Tanh", "x") for _ in range(size)]
    return graph.model([("x", FLOAT, [4])], [(name, FLOAT, [4]) for name in names])


def skips(size):
    """Every node reads the one before and the one half as far from the input."""
    graph = Graph()
    names = [graph.add("Tanh", "x")]
    for i in range(1, size):
        names.append(graph.add("Add", names[-1], names[i // 2]) if i % 2 else
                     graph.add("Tanh", names[-1]))
    return graph.model([("x", FLOAT, [4])], [(names[-1], FLOAT, [4])])


SHAPES = {made.__name__: made for made in
          (fan_out, fan_out_products, add_tree, doubling, reshapes, transposes, pure_transposes, reversals, concats,
           slices, growing, pads, gathers, products, other_products, convolutions, residuals,
           reductions, quantized, logic, long_list, long_names, scopes, big_loop, many_loops,
           sequences, dead, equal_nodes, skips, concat_tree, wide_if, wide_loop, wide_scan,
           shape_chains)}
