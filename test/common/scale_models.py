#!/usr/bin/env python3
#===-- scale_models.py - models of any size, to see how the compiler scales --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each function of MODELS makes an ONNX model, each of TF_MODELS the text of a GraphDef; `size` is
the number of nodes, inputs, outputs, calls or levels that the name says. Tensors are tiny, so that
only the compiler's own work grows. Needs numpy and onnx (Debian: python3-onnx)."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scale_shapes import SHAPES

ROOT = Path(__file__).resolve().parents[2]
FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


def value(name, shape=(16,), element=FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def constant(name, values, kind=np.float32):
    return numpy_helper.from_array(np.asarray(values, kind), name)


def weights(name, rng, *shape):
    return constant(name, rng.standard_normal(shape) * 0.5)


def model(nodes, inputs, outputs, initializers=(), functions=(), opset=17):
    graph = helper.make_graph(nodes, "scale", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", opset)]
    if functions:
        imports.append(helper.make_opsetid("local", 1))
    made = helper.make_model(graph, opset_imports=imports, functions=functions)
    made.ir_version = 8
    return made


#===-- Chains --------------------------------------------------------------===#

def elementwise(size, shape=(16,)):
    """Elementwise operators in a row; every third one reads a constant of its own."""
    nodes, initializers, last = [], [], "x"
    for i in range(size):
        op = ("Add", "Tanh", "Sigmoid")[i % 3]
        inputs = [last]
        if op == "Add":
            initializers.append(constant(f"c{i}", 0.001 * i))
            inputs.append(f"c{i}")
        last = f"t{i}"
        nodes.append(helper.make_node(op, inputs, [last], name=f"n{i}"))
    nodes.append(helper.make_node("Identity", [last], ["y"], name="end"))
    return model(nodes, [value("x", shape)], [value("y", shape)], initializers)


def dynamic(size):
    """The chain of `elementwise` with a dim that is not known."""
    return elementwise(size, ("n",))


def unranked(size):
    """Running sums of integers whose rank only the last operator's code asks for."""
    nodes, last = [helper.make_node("Reshape", ["x", "shape"], ["t"], name="reshape")], "t"
    for i in range(size):
        nodes.append(helper.make_node("CumSum", [last, "axis"], [f"t{i}"], name=f"n{i}"))
        last = f"t{i}"
    nodes.append(helper.make_node("Cast", [last], ["floats"], to=FLOAT, name="cast"))
    nodes.append(helper.make_node("Softmax", ["floats"], ["y"], name="end"))
    return model(nodes, [value("x", ("a", "b"), INT64),
                         value("shape", ("k",), INT64)], [value("y", None)],
                 [constant("axis", 0, np.int64)])


def varied(size, batch=1):
    """Convolutions, matrix products, reductions and what moves elements, in a row."""
    rng = np.random.default_rng(1)
    nodes, last = [], "x"
    initializers = [constant("image", [0, 4, 4, 4], np.int64), constant("rows", [0, 8, 8], np.int64),
                    constant("first", [0, 0, 0], np.int64), constant("half", [9, 4, 8], np.int64),
                    constant("axes", [0, 1, 2], np.int64)]

    def add(op, *inputs, **attributes):
        nonlocal last
        last = f"t{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [last], name=f"n{len(nodes)}", **attributes))

    while len(nodes) < size:
        i = len(nodes)
        initializers += [weights(f"conv{i}", rng, 4, 4, 3, 3), weights(f"product{i}", rng, 8, 8)]
        add("Conv", last, f"conv{i}", pads=[1, 1, 1, 1])
        add("Relu", last)
        add("Reshape", last, "rows")
        rows = last
        add("MatMul", last, f"product{i}")
        add("Add", last, rows)
        add("Softmax", last, axis=-1)
        product = last
        add("Slice", last, "first", "half", "axes")
        half = last
        add("Concat", half, half, axis=1)
        add("Transpose", last, perm=[0, 2, 1])
        add("Mul", last, product)
        add("Reshape", last, "image")
    nodes.append(helper.make_node("Identity", [last], ["y"], name="end"))
    return model(nodes, [value("x", [batch, 4, 4, 4])], [value("y", [batch, 4, 4, 4])], initializers)


def varied_dynamic(size):
    """The chain of `varied` with a batch that is not known."""
    return varied(size, "n")


def views(size):
    """Slices and reshapes in a row, each of another shape: all of them are copied."""
    nodes, initializers, last = [], [constant("one", [1], np.int64), constant("zero", [0], np.int64)], "x"
    rest = size + 4

    def add(op, *inputs):
        nonlocal last
        nodes.append(helper.make_node(op, [last, *inputs], [f"t{len(nodes)}"], name=f"n{len(nodes)}"))
        last = f"t{len(nodes) - 1}"

    initializers.append(constant("end", [rest], np.int64))
    while len(nodes) < size:
        rest -= 1
        add("Slice", "one", "end", ("one", "zero")[len(nodes) // 2 % 2])
        shape = [rest, 2] if len(nodes) // 2 % 2 == 0 else [2, rest]
        initializers.append(constant(f"s{rest}", shape, np.int64))
        add("Reshape", f"s{rest}")
    return model(nodes, [value("x", [2, size + 4])], [value(last, None)], initializers)


#===-- Ports ---------------------------------------------------------------===#

def inputs(size):
    """As many inputs, all added up in one node."""
    names = [f"x{i}" for i in range(size)]
    return model([helper.make_node("Sum", names, ["y"], name="sum")],
                 [value(name, [4]) for name in names], [value("y", [4])])


def dynamic_inputs(size):
    """As many inputs of dims that are not known."""
    names = [f"x{i}" for i in range(size)]
    return model([helper.make_node("Sum", names, ["y"], name="sum")],
                 [value(name, ["n"]) for name in names], [value("y", ["n"])])


def inputs_chain(size):
    """As many inputs, added up one after the other."""
    nodes, last = [], "x0"
    for i in range(1, size):
        nodes.append(helper.make_node("Add", [last, f"x{i}"], [f"s{i}"], name=f"n{i}"))
        last = f"s{i}"
    nodes.append(helper.make_node("Relu", [last], ["y"], name="end"))
    return model(nodes, [value(f"x{i}", [4]) for i in range(size)], [value("y", [4])])


def concat(size):
    """As many inputs side by side."""
    names = [f"x{i}" for i in range(size)]
    return model([helper.make_node("Concat", names, ["y"], name="concat", axis=0)],
                 [value(name, [2]) for name in names], [value("y", [2 * size])])


def outputs(size):
    """As many outputs, each made by a node of its own."""
    initializers = [constant(f"c{i}", i) for i in range(size)]
    nodes = [helper.make_node("Add", ["x", f"c{i}"], [f"y{i}"], name=f"n{i}") for i in range(size)]
    return model(nodes, [value("x", [4])], [value(f"y{i}", [4]) for i in range(size)], initializers)


def dynamic_outputs(size):
    """The same where the number of rows is not known, so that one static region has all kernels."""
    initializers = [constant(f"c{i}", [i]) for i in range(size)]
    nodes = [helper.make_node("Add", ["x", f"c{i}"], [f"y{i}"], name=f"n{i}") for i in range(size)]
    return model(nodes, [value("x", ["n", 4])], [value(f"y{i}", ["n", 4]) for i in range(size)],
                 initializers)


def split(size):
    """One node with as many outputs, all of which leave the model."""
    names = [f"y{i}" for i in range(size)]
    return model([helper.make_node("Split", ["x"], names, name="split", axis=0)],
                 [value("x", [size])], [value(name, [1]) for name in names], opset=13)


def parts(size):
    """An intermediate tensor, split into as many outputs: on an NPU each is a kernel."""
    names = [f"y{i}" for i in range(size)]
    return model([helper.make_node("Relu", ["x"], ["r"]),
                  helper.make_node("Split", ["r"], names, name="split", axis=1)],
                 [value("x", [1, size])], [value(name, [1, 1]) for name in names], opset=13)


def multiples(size):
    """As many different multiples of one input, joined."""
    names = [f"t{i}" for i in range(size)]
    nodes = [helper.make_node("Mul", ["x", f"c{i}"], [name]) for i, name in enumerate(names)]
    return model([*nodes, helper.make_node("Concat", names, ["y"], axis=0)], [value("x", [4])],
                 [value("y", [4 * size])], [constant(f"c{i}", [i]) for i in range(size)])


def initializers(size):
    """As many constants, which the compiler can add up."""
    made = [constant(f"c{i}", [i, 1]) for i in range(size)]
    nodes, last = [], "x"
    for i in range(size):
        nodes.append(helper.make_node("Mul", [last, f"c{i}"], [f"t{i}"], name=f"n{i}"))
        last = f"t{i}"
    return model(nodes, [value("x", [2])], [value(last, [2])], made)


#===-- Functions -----------------------------------------------------------===#

def function(name, nodes, imports=("",)):
    return helper.make_function("local", name, ["a"], ["b"], nodes,
                                [helper.make_opsetid(domain, 1 if domain else 17) for domain in
                                 imports])


def calls(size):
    """Calls in a row of a function that writes a sigmoid with smaller operators."""
    body = [helper.make_node("Neg", ["a"], ["neg"]), helper.make_node("Exp", ["neg"], ["e"]),
            helper.make_node("Constant", [], ["one"], value=constant("one", 1.0)),
            helper.make_node("Add", ["e", "one"], ["d"]),
            helper.make_node("Reciprocal", ["d"], ["b"])]
    nodes, last = [], "x"
    for i in range(size):
        nodes.append(helper.make_node("Sig", [last], [f"t{i}"], name=f"n{i}", domain="local"))
        last = f"t{i}"
    return model(nodes, [value("x")], [value(last)], functions=[function("Sig", body)])


def many_functions(size):
    """As many functions, each called once."""
    nodes, functions, last = [], [], "x"
    for i in range(size):
        functions.append(function(f"F{i}", [helper.make_node("Relu", ["a"], ["b"])]))
        nodes.append(helper.make_node(f"F{i}", [last], [f"t{i}"], name=f"n{i}", domain="local"))
        last = f"t{i}"
    return model(nodes, [value("x")], [value(last)], functions=functions)


def bomb(size):
    """Functions that call the one before twice: 2^size nodes."""
    functions = [function("F0", [helper.make_node("Tanh", ["a"], ["b"])])]
    for i in range(1, size + 1):
        functions.append(function(f"F{i}", [
            helper.make_node(f"F{i - 1}", ["a"], ["m"], domain="local"),
            helper.make_node(f"F{i - 1}", ["m"], ["b"], domain="local")], ("", "local")))
    return model([helper.make_node(f"F{size}", ["x"], ["y"], name="call", domain="local")],
                 [value("x")], [value("y")], functions=functions)


def call_depth(size):
    """Functions that each call the next one once."""
    functions = [function("F0", [helper.make_node("Tanh", ["a"], ["b"])])]
    for i in range(1, size + 1):
        functions.append(function(f"F{i}", [helper.make_node(f"F{i - 1}", ["a"], ["b"],
                                                             domain="local")], ("", "local")))
    return model([helper.make_node(f"F{size}", ["x"], ["y"], name="call", domain="local")],
                 [value("x")], [value("y")], functions=functions)


#===-- Nesting -------------------------------------------------------------===#

def ifs(size):
    """Ifs as deep inside each other; the inner graphs read tensors of all those around."""
    inner = helper.make_graph([helper.make_node("Tanh", ["x"], ["r0"], name="in0")], "then", [],
                              [value("r0", ["n"])])
    for level in range(1, size + 1):
        other = helper.make_graph([helper.make_node("Neg", ["x"], [f"o{level}"], name=f"no{level}")],
                                  "else", [], [value(f"o{level}", ["n"])])
        branch = helper.make_node("If", ["c"], [f"r{level}"], name=f"if{level}", then_branch=inner,
                                  else_branch=other)
        if level == size:
            return model([branch], [value("x", ["n"]), value("c", [], BOOL)],
                         [value(f"r{level}", ["n"])])
        inner = helper.make_graph([branch], "then", [], [value(f"r{level}", ["n"])])


def both(size, shape=("n",)):
    """Ifs with Ifs in both branches: 2^size leaves, all of them in the file."""
    def graph(level, path):
        name = f"r{path}"
        if level == 0:
            return helper.make_graph([helper.make_node("Tanh", ["x"], [name])], "leaf", [],
                                     [value(name, shape)])
        node = helper.make_node("If", ["c"], [name], name=f"if{path}",
                                then_branch=graph(level - 1, path + "a"),
                                else_branch=graph(level - 1, path + "b"))
        return helper.make_graph([node], "branch", [], [value(name, shape)])
    whole = graph(size, "")
    return model(list(whole.node), [value("x", shape), value("c", [], BOOL)], list(whole.output))


def both_static(size):
    """The Ifs of `both` around operators of fixed shapes."""
    return both(size, [16])


def both_varied(size):
    """Ifs with Ifs in both branches, of which each leaf adds another number."""
    leaves = []
    def graph(level):
        name = f"r{level}_{len(leaves)}"
        if level == 0:
            leaves.append(constant(f"k{len(leaves)}", [len(leaves)] * 4))
            node = helper.make_node("Add", ["x", leaves[-1].name], [name])
        else:
            node = helper.make_node("If", ["c"], [name], then_branch=graph(level - 1),
                                    else_branch=graph(level - 1))
        return helper.make_graph([node], "branch", [], [value(name, [4])])
    whole = graph(size)
    return model(list(whole.node), [value("x", [4]), value("c", [], BOOL)], list(whole.output), leaves)


def branches(size):
    """As many Ifs in a row, with operators of fixed shapes in each branch, all of them different."""
    nodes, initializers, last = [], [], "x"
    for i in range(size):
        graphs = []
        for side in "ab":
            initializers.append(constant(f"k{side}{i}", [i, 1, 2, ord(side)]))
            graphs.append(helper.make_graph(
                [helper.make_node("Mul", [last, f"k{side}{i}"], [f"m{side}{i}"]),
                 helper.make_node("Tanh", [f"m{side}{i}"], [f"r{side}{i}"])], side, [],
                [value(f"r{side}{i}", [4])]))
        nodes.append(helper.make_node("If", ["c"], [f"t{i}"], name=f"if{i}", then_branch=graphs[0],
                                      else_branch=graphs[1]))
        last = f"t{i}"
    return model(nodes, [value("x", [4]), value("c", [], BOOL)], [value(last, [4])], initializers)


def loops(size):
    """Loops as deep inside each other, whose carried value changes its shape in the innermost."""
    inner = [helper.make_node("Concat", ["v0", "v0"], ["w0"], name="double", axis=0)]
    for level in range(1, size + 1):
        body = helper.make_graph(
            [helper.make_node("Identity", [f"k{level}"], [f"g{level}"]), *inner], "body",
            [value(f"i{level}", [], INT64), value(f"k{level}", [], BOOL), value(f"v{level - 1}", None)],
            [value(f"g{level}", [], BOOL), value(f"w{level - 1}", None)])
        inner = [helper.make_node("Loop", ["m", "", f"v{level}"], [f"w{level}"], name=f"loop{level}",
                                  body=body)]
    inner[0].input[2] = "x"
    return model(inner, [value("x", [2]), value("m", [], INT64)], [value(f"w{size}", None)])


def loop_bomb(size):
    """Loops inside each other whose carried values take another type in the second iteration, so
    that each body is imported more than once for each time that the one around it is."""
    inner = [helper.make_node("Concat", ["v0", "v0"], ["w0"], name="double", axis=0)]
    for level in range(1, size + 1):
        body = helper.make_graph(
            [helper.make_node("Identity", [f"k{level}"], [f"g{level}"]), *inner,
             helper.make_node("Concat", [f"u{level}", f"u{level}"], [f"z{level}"], axis=0)], "body",
            [value(f"i{level}", [], INT64), value(f"k{level}", [], BOOL),
             value(f"v{level - 1}", None), value(f"u{level}", None)],
            [value(f"g{level}", [], BOOL), value(f"w{level - 1}", None), value(f"z{level}", None)])
        inner = [helper.make_node("Loop", ["m", "", "x", "x"], [f"w{level}", f"s{level}"],
                                  name=f"loop{level}", body=body)]
    return model(inner, [value("x", [2]), value("m", [], INT64)], [value(f"w{size}", None)])


#===-- Sizes of tensors ----------------------------------------------------===#

def fill(size):
    """A constant of 2^size elements, which the model's input is added to."""
    nodes = [helper.make_node("ConstantOfShape", ["shape"], ["big"], name="fill"),
             helper.make_node("Add", ["big", "x"], ["y"], name="add")]
    return model(nodes, [value("x", [1])], [value("y", None)],
                 [constant("shape", [1 << (size - size // 2), 1 << size // 2], np.int64)])


def ranges(size):
    """Constants of 2^size different numbers together, 2^26 at most in each."""
    length, count = 1 << min(size, 26), 1 << max(size - 26, 0)
    nodes, constants = [], [constant("one", 1, np.int64)]
    for i in range(count):
        constants += [constant(f"begin{i}", i, np.int64), constant(f"end{i}", i + length, np.int64)]
        nodes += [helper.make_node("Range", [f"begin{i}", f"end{i}", "one"], [f"r{i}"], name=f"range{i}"),
                  helper.make_node("Add", [f"r{i}", "x"], [f"y{i}"], name=f"add{i}")]
    return model(nodes, [value("x", [1], INT64)],
                 [value(f"y{i}", None, INT64) for i in range(count)], constants)


MODELS = {made.__name__: made for made in
          (elementwise, varied, dynamic, unranked, varied_dynamic, views, inputs, dynamic_inputs, dynamic_outputs,
           inputs_chain, concat, outputs,
           split, parts, multiples, initializers, calls, many_functions, bomb, call_depth, ifs, both, both_static, both_varied,
           branches, loops, loop_bomb, fill, ranges)} | SHAPES


#===-- TensorFlow ----------------------------------------------------------===#

def tf_node(name, op, *inputs, **attributes):
    text = "".join(f' input: "{tensor}"' for tensor in inputs)
    for key, attribute in attributes.items():
        text += f' attr {{ key: "{key}" value {{ {attribute} }} }}'
    return f'node {{ name: "{name}" op: "{op}"{text} }}\n'


def tf_input(name):
    return tf_node(name, "Placeholder", dtype="type: DT_FLOAT", shape="shape { dim { size: 4 } }")


def tf_elementwise(size):
    """Elementwise operators in a row."""
    text, last = [tf_input("x")], "x"
    for i in range(size):
        text.append(tf_node(f"n{i}", ("Tanh", "Sigmoid", "Square")[i % 3], last))
        last = f"n{i}"
    return "".join(text)


def tf_inputs(size):
    """As many inputs, added up one after the other."""
    text, last = [tf_input("x0")], "x0"
    for i in range(1, size):
        text += [tf_input(f"x{i}"), tf_node(f"n{i}", "AddV2", last, f"x{i}")]
        last = f"n{i}"
    return "".join(text)


def tf_orders(size):
    """Nodes in a row that only order others, and one behind all of them."""
    text = [tf_input("x"), tf_node("n0", "NoOp", "^x")]
    text += [tf_node(f"n{i}", "NoOp", "^x", f"^n{i - 1}") for i in range(1, size)]
    return "".join(text) + tf_node("last", "Tanh", "x", *(f"^n{i}" for i in range(size)))


def tf_outputs(size):
    """As many outputs, each made by a node of its own."""
    return tf_input("x") + "".join(tf_node(f"n{i}", "Tanh", "x") for i in range(size))


def tf_concats(size):
    """A binary tree of concatenations of one value."""
    text = [tf_input("x"), tf_node("axis", "Const", dtype="type: DT_INT32", value="tensor { dtype: "
                                   "DT_INT32 tensor_shape { } int_val: 0 }")]
    level = ["x"] * size
    while len(level) > 1:
        joined = []
        for i in range(0, len(level) - 1, 2):
            name = f"n{len(text)}"
            text.append(tf_node(name, "ConcatV2", level[i], level[i + 1], "axis", N="i: 2"))
            joined.append(name)
        level = joined + level[len(level) // 2 * 2:]
    return "".join(text) + tf_node("last", "Tanh", level[0])


def tf_split(size):
    """One node with as many outputs, each of which is a result."""
    text = [tf_node("x", "Placeholder", dtype="type: DT_FLOAT",
                    shape=f"shape {{ dim {{ size: {size} }} }}"),
            tf_node("axis", "Const", dtype="type: DT_INT32", value="tensor { dtype: DT_INT32 "
                    "tensor_shape { } int_val: 0 }"),
            tf_node("split", "Split", "axis", "x", num_split=f"i: {size}")]
    text += [tf_node(f"n{i}", "Tanh", f"split:{i}") for i in range(size)]
    return "".join(text)


def tf_function(name, *nodes):
    body = "".join(node.replace("node {", "node_def {", 1) for node in nodes)
    return (f'function {{ signature {{ name: "{name}" input_arg {{ name: "a" type: DT_FLOAT }} '
            f'output_arg {{ name: "r" type: DT_FLOAT }} }} {body}'
            'ret { key: "r" value: "end:y:0" } }\n')


def tf_saved_model(graph, *functions):
    """The functions of a frozen graph are not read: those of a SavedModel are."""
    return ('saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: "serve" } graph_def { '
            f'{graph} library {{ {"".join(functions)} }} }} signature_def {{ key: "serving_default" '
            'value { inputs { key: "in" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: 4'
            ' } } } } outputs { key: "out" value { name: "last:0" dtype: DT_FLOAT } } } } }')


def tf_call(name, function_name, *inputs):
    return tf_node(name, "PartitionedCall", *inputs, f=f'func {{ name: "{function_name}" }}')


def tf_calls(size):
    """Calls of a function in a row."""
    made = tf_function("f", tf_node("t", "Tanh", "a"), tf_node("end", "Sigmoid", "t:y:0"))
    text, last = [tf_input("x")], "x"
    for i in range(size):
        text.append(tf_call(f"n{i}", "f", last))
        last = f"n{i}"
    return tf_saved_model("".join(text) + tf_node("last", "Tanh", last), made)


def tf_identities(size):
    """Nodes in a row that hand a value on, as they hand on variables."""
    text = "".join(tf_node(f"n{i}", "Identity", f"n{i - 1}" if i else "x") for i in range(size))
    return tf_saved_model(tf_input("x") + text + tf_node("last", "Tanh", f"n{size - 1}"))


def tf_bomb(size):
    """Functions that call the one before twice: 2^size nodes."""
    functions = [tf_function("f0", tf_node("end", "Tanh", "a"))]
    for i in range(1, size + 1):
        functions.append(tf_function(f"f{i}", tf_call("m", f"f{i - 1}", "a"),
                                     tf_call("o", f"f{i - 1}", "m:output:0"),
                                     tf_node("end", "Tanh", "o:output:0")))
    return tf_saved_model(tf_input("x") + tf_call("last", f"f{size}", "x"), *functions)


TF_MODELS = {made.__name__: made for made in
             (tf_elementwise, tf_inputs, tf_outputs, tf_concats, tf_split, tf_orders, tf_calls,
              tf_identities, tf_bomb)}


def tf_bytes(text, message="GraphDef"):
    """A message of TensorFlow's schema, of its text form."""
    return subprocess.run(
        ["protoc", f"-I{ROOT}", f"--encode=atc.tf.pb.{message}",
         str(ROOT / "frontends/tf/schema/tensorflow.proto")],
        input=text.encode(), check=True, stdout=subprocess.PIPE).stdout


def write(name, size, folder):
    """Writes the model into `folder`; returns its path and the flags that atc needs for it."""
    if name in MODELS:
        path = Path(folder) / f"{name}-{size}.onnx"
        path.write_bytes(MODELS[name](size).SerializeToString())
        return path, ["--framework=5"]
    text = TF_MODELS[name](size)
    path = file = Path(folder) / f"{name}-{size}.pb"
    message = "GraphDef"
    if text.startswith("saved_model"):
        path, message = Path(folder) / f"{name}-{size}", "SavedModel"
        path.mkdir(exist_ok=True)
        file = path / "saved_model.pb"
    file.write_bytes(tf_bytes(text, message))
    return path, ["--framework=3"]


if __name__ == "__main__":
    # In a process of its own, a large model costs the caller no memory: MODEL SIZE FOLDER.
    print(*[part for made in [write(sys.argv[1], int(sys.argv[2]), sys.argv[3])]
            for part in (made[0], *made[1])], sep="\n")
