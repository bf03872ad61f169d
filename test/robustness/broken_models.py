#===-- broken_models.py - models that are broken in one way each -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CASES: (what makes the model, code of the error, words in it, extra flags, number of lines)."""

from collections import namedtuple

import numpy as np
from models import (TensorProto, conv, field, helper, model, nested_ifs, nested_sequences, net,
                    node, tensor, varint)

Case = namedtuple("Case", "build code words flags count")
CASES = []


def case(code, *words, flags=(), count=1):
    """Registers a model that atc must refuse with `count` lines, the first of this code."""
    def add(build):
        CASES.append(Case(build, code, words, flags, count))
        return build
    return add


# Files that are no models.

@case("E13003", "m.onnx", "empty")
def empty_file():
    return b""


@case("E13005", "m.onnx")
def random_bytes():
    return np.random.default_rng(7).bytes(5000)


@case("E13005", "m.onnx")
def text_file():
    return b"this is not a model\n" * 50


@case("E13005", "m.onnx")
def zeros():
    return bytes(4096)


@case("E13005", "m.onnx")
def wrong_wire_type_of_a_varint():
    # ir_version as a fixed 64-bit number that is not there.
    return varint(1 << 3 | 1) + b"\1\2\3"


@case("E13005", "m.onnx")
def wrong_wire_type_that_does_not_exist():
    return net().SerializeToString() + varint(7 << 3 | 7)


@case("E16004", "m.onnx", "no graph")
def graph_as_a_number():
    # A field of another wire type is an unknown field, which readers skip.
    return varint(1 << 3) + b"\x08" + varint(7 << 3) + b"\1" + field(8, varint(2 << 3) + b"\x0d")


@case("E13005", "m.onnx")
def graph_longer_than_the_file():
    return varint(1 << 3) + b"\x08" + varint(7 << 3 | 2) + varint(1 << 30)


@case("E13005", "m.onnx", "Git LFS")
def git_lfs_pointer():
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


@case("E16004", "no outputs")
def no_outputs():
    made = net()
    made.graph.ClearField("output")
    return made


# Opsets and operators.

@case("E16005", "opset", "ai.onnx")
def no_opset_import():
    return model([node("Relu", ["x"], ["y"])], opset=None)


@case("E16005", "opset 0", "1 to")
def opset_too_old():
    return model([node("Relu", ["x"], ["y"])], opset=0)


@case("E16005", "opset -3")
def opset_negative():
    return model([node("Relu", ["x"], ["y"])], opset=-3)


@case("E16005", "opset 13", "opset 15")
def two_opsets_of_one_domain():
    made = model([node("Relu", ["x"], ["y"])])
    made.opset_import.extend([helper.make_opsetid("", 15)])
    return made


@case("E16002", "NoSuchOp", "(strange)", "opset 13")
def unknown_op():
    return model([node("NoSuchOp", ["x"], ["y"], "strange")])


@case("E16002", "com.example.Relu", "domain com.example", "(ours)")
def unknown_domain():
    return model([node("Relu", ["x"], ["y"], "ours", domain="com.example")])


@case("E16002", "Alpha x2 (a1, a2)", "Beta x1", "org.other.Gamma x1", "(g)")
def several_unknown_ops():
    return model([node("Alpha", ["x"], ["a"], "a1"), node("Relu", ["a"], ["b"], "known"),
                  node("Alpha", ["b"], ["c"], "a2"), node("Beta", ["c"], ["d"], "b"),
                  node("Gamma", ["d"], ["y"], "g", domain="org.other")])


@case("E16002", "x50000", "more)")
def very_many_unknown_ops():
    chain = [node("NoSuchOp", [f"t{i}" if i else "x"], [f"t{i + 1}"], f"node{i}" + "n" * 90)
             for i in range(50000)]
    return model(chain, outputs=[tensor("t50000", None)])


@case("E16002", "NoSuchOp")
def unknown_op_with_an_endless_name():
    return model([node("NoSuchOp", ["x"], ["y"], "n" * 1000000)])


@case("E16002", "Bad\\nOp")
def unknown_op_with_control_characters():
    return model([node("Bad\nOp", ["x"], ["y"], "two\nlines\x1b[31m")])


@case("E16004", "(Twice)", "more than 64 deep", "must not call itself")
def model_local_function_that_calls_itself():
    made = model([node("Twice", ["x"], ["y"], "call", domain="local")])
    made.opset_import.extend([helper.make_opsetid("local", 1)])
    twice = helper.make_function("local", "Twice", ["a"], ["b"],
                                 [node("Twice", ["a"], ["b"], domain="local")],
                                 [helper.make_opsetid("local", 1)])
    made.functions.extend([twice])
    return made


# Nesting.

@case("E14001", "'deep' (If)", "'else_branch' is missing")
def nested_ifs_within_limits():
    return nested_ifs(20)


@case("E13005", "m.onnx")
def nested_ifs_without_end():
    return nested_ifs(5000)


@case("E13005", "m.onnx")
def nested_sequence_types_without_end():
    return nested_sequences(5000)


# How the graph hangs together.

@case("E16004", "cycle", "'first' (Add)", "'second' (Relu)")
def cyclic_graph():
    return model([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"),
                  node("Relu", ["b"], ["y"], "third")])


@case("E16004", "cycle", "'self' (Add)")
def node_that_reads_itself():
    return model([node("Add", ["x", "y"], ["y"], "self")])


@case("E16004", "cycle", "ring")
def cycle_of_very_many_nodes():
    ring = [node("Relu", [f"t{i}"], [f"t{(i + 1) % 3000}"], f"ring{i}") for i in range(3000)]
    return model([*ring, node("Add", ["x", "t0"], ["y"], "last")])


@case("E16001", "'w'", "'conv1' (Conv)", "not defined")
def missing_initializer():
    made = conv()
    made.graph.ClearField("initializer")
    return made


@case("E16001", "'nowhere'", "'add' (Add)", "'gone'", "'mul' (Mul)", count=2)
def undefined_tensors():
    return model([node("Add", ["x", "nowhere"], ["t"], "add"),
                  node("Mul", ["t", "gone"], ["y"], "mul")])


@case("E16001", "'z'", "not produced")
def output_that_nothing_makes():
    return model([node("Relu", ["x"], ["y"])], outputs=[tensor("y", None), tensor("z", None)])


@case("E13009", "'y'", "'one' (Relu)", "'two' (Neg)")
def tensor_made_twice():
    return model([node("Relu", ["x"], ["y"], "one"), node("Neg", ["x"], ["y"], "two")])


@case("E13009", "'w'")
def initializer_twice():
    made = conv()
    made.graph.initializer.append(made.graph.initializer[0])
    return made


@case("E13009", "'x'")
def input_twice():
    return model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", [1]), tensor("x", [1])])


# Inputs of the model.

@case("E14001", "'x'", "77")
def input_of_an_unknown_type():
    made = model([node("Relu", ["x"], ["y"])])
    made.graph.input[0].type.tensor_type.elem_type = 77
    return made


@case("E14001", "'x'", "has a type, which is not supported")
def input_without_a_type():
    made = model([node("Relu", ["x"], ["y"])])
    made.graph.input[0].ClearField("type")
    return made


@case("E14001", "'x'", "2^40")
def absurd_dims():
    return model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", [1 << 20, 1 << 21])])


@case("E14001", "'x'", "2^40")
def dims_whose_product_overflows():
    return model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", [1 << 31] * 4)])


@case("E14001", "'x'", "9223372036854775807")
def largest_dim_there_is():
    return model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", [(1 << 63) - 1])])


@case("E14001", "'x'", "has 17 dims", "16")
def more_dims_than_there_can_be():
    return model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", [1] * 17)])


@case("E14001", "'x'", "has 100000 dims", "16")
def more_dynamic_dims_than_there_can_be():
    return model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", ["n"] * 100000)])


@case("E19001", "inputs and outputs", "70368744177664")
def more_outputs_than_there_is_memory_for():
    """Each of them could be had alone."""
    names = [f"y{i}" for i in range(9)]
    return model([node("Neg", ["x"], [name]) for name in names],
                 inputs=[tensor("x", [1 << 20, 1 << 20], TensorProto.DOUBLE)],
                 outputs=[tensor(name, None, TensorProto.DOUBLE) for name in names])


# Initializers.

@case("E14001", "'w'", "428 bytes", "432")
def initializer_data_too_short():
    made = conv()
    made.graph.initializer[0].raw_data = made.graph.initializer[0].raw_data[:-4]
    return made


@case("E14001", "'w'", "433 bytes", "432")
def initializer_data_too_long():
    made = conv()
    made.graph.initializer[0].raw_data += b"\0"
    return made


@case("E14001", "'w'", "0 elements", "108")
def initializer_without_data():
    made = conv()
    made.graph.initializer[0].ClearField("raw_data")
    return made


@case("E14001", "'w'", "-4")
def initializer_with_a_negative_dim():
    made = conv()
    made.graph.initializer[0].dims[0] = -4
    return made


@case("E14001", "'w'", "2^40")
def initializer_with_absurd_dims():
    made = conv()
    made.graph.initializer[0].dims[:] = [1 << 30] * 4
    return made


@case("E14001", "'w'", "1099511627776", "432")
def initializer_that_would_need_a_terabyte():
    made = conv()
    made.graph.initializer[0].dims[:] = [1 << 16, 1 << 10, 64, 64]
    return made


@case("E14001", "'conv1' (Conv)")
def string_initializer():
    made = conv()
    made.graph.initializer[0].CopyFrom(
        helper.make_tensor("w", TensorProto.STRING, [1], [b"text"]))
    return made


@case("E14001", "'w'", "99")
def initializer_of_an_unknown_type():
    made = conv()
    made.graph.initializer[0].data_type = 99
    return made


@case("E14001", "'w'", "segments")
def initializer_in_segments():
    made = conv()
    made.graph.initializer[0].segment.begin = 3
    return made


def external(**entries):
    made = conv()
    weight = made.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        weight.external_data.add(key=key, value=value)
    return made


@case("E14001", "'w'", "'none.bin'", "No such file")
def external_data_missing():
    return external(location="none.bin")


@case("E14001", "'w'", "'/etc/passwd'", "relative")
def external_data_with_an_absolute_path():
    return external(location="/etc/passwd")


@case("E14001", "'w'", "leads out")
def external_data_that_escapes():
    return external(location="../../../../../../etc/passwd")


@case("E14001", "'w'", "not a regular file")
def external_data_that_is_a_folder():
    return external(location="folder")


@case("E14001", "'w'")
def external_data_without_a_location():
    return external(length="432")


@case("E14001", "'w'", "'short.bin'", "needs bytes 0 to 432", "has 100")
def external_data_too_short():
    return external(location="short.bin")


@case("E14001", "'w'", "'short.bin'", "has 100")
def external_data_offset_that_overflows():
    return external(location="short.bin", offset="18446744073709551615")


@case("E14001", "'w'", "offset 'many'", "not a number")
def external_data_offset_that_is_no_number():
    return external(location="short.bin", offset="many")


@case("E14001", "'w'", "16 bytes", "432")
def external_data_length_that_does_not_fit():
    return external(location="short.bin", length="16")


# Values of one kind or element type where another is expected: kernels would read one as the other.

def branches(then_nodes, else_nodes, after=(), output=None):
    """If(c) then ... else ..., the result 'v' of each branch as 'r'."""
    def branch(name, nodes):
        return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info("v")])
    choice = node("If", ["c"], ["r"], "choice", then_branch=branch("then", then_nodes),
                  else_branch=branch("else", else_nodes))
    return model([choice, *after], opset=17,
                 inputs=[tensor("c", [], TensorProto.BOOL), tensor("x", [2])],
                 outputs=[tensor(output or "r", None)])


def text(name):
    return node("Cast", ["x"], [name], to=TensorProto.STRING)


def constant_number(name):
    return node("Constant", [], [name], value_int=7)


@case("E14001", "'choice' (If)", "output 0", "then_branch", "else_branch")
def branches_of_two_element_types():
    return branches([text("v")], [constant_number("v")])


@case("E14001", "'choice' (If)", "output 0", "element type")
def branches_of_two_kinds():
    return branches([node("SequenceConstruct", ["x"], ["v"])], [node("Identity", ["x"], ["v"])])


@case("E14001", "'choice' (If)", "output 0")
def branches_of_sequences_of_two_element_types():
    return branches([node("SequenceConstruct", ["x"], ["v"])],
                    [text("t"), node("SequenceConstruct", ["t"], ["v"])])


@case("E14001", "'n' (Add)", "input 1", "expected a tensor")
def sequence_as_a_number():
    return model([node("SequenceConstruct", ["x"], ["s"]), node("Add", ["x", "s"], ["y"], "n")],
                 opset=17)


@case("E14001", "'n' (SequenceAt)", "input 0", "not a sequence")
def tensor_as_a_sequence():
    return model([constant_number("i"), node("SequenceAt", ["x", "i"], ["y"], "n")], opset=17)


@case("E14001", "'again' (Loop)", "element type")
def loop_that_makes_texts_of_numbers():
    body = helper.make_graph(
        [node("Identity", ["on"], ["more"]), node("Cast", ["carried"], ["next"], to=TensorProto.STRING)],
        "body", [tensor("i", [], TensorProto.INT64), tensor("on", [], TensorProto.BOOL),
                 helper.make_empty_tensor_value_info("carried")],
        [tensor("more", [], TensorProto.BOOL), helper.make_empty_tensor_value_info("next")])
    return model([node("Loop", ["n", "", "x"], ["y"], "again", body=body)], opset=17,
                 inputs=[tensor("n", [], TensorProto.INT64), tensor("x", [2])])


# Conditions and counts of rounds have one element of one type.

def branches_on(element, shape):
    made = branches([node("Identity", ["x"], ["v"])], [node("Neg", ["x"], ["v"])])
    made.graph.input[0].CopyFrom(tensor("c", shape, element))
    return made


def loop_of(rounds=(TensorProto.INT64, []), goes_on=(TensorProto.BOOL, [])):
    """A loop of as many rounds as the input 'n' says, while the input 'c' is true."""
    body = helper.make_graph(
        [node("Identity", ["c"], ["more"]), node("Neg", ["carried"], ["next"])], "body",
        [tensor("i", [], TensorProto.INT64), tensor("on", [], TensorProto.BOOL),
         helper.make_empty_tensor_value_info("carried")],
        [tensor("more", [], TensorProto.BOOL), helper.make_empty_tensor_value_info("next")])
    return model([node("Loop", ["n", "", "x"], ["y"], "again", body=body)], opset=17,
                 inputs=[tensor("n", rounds[1], rounds[0]), tensor("c", goes_on[1], goes_on[0]),
                         tensor("x", [2])])


@case("E14001", "'choice' (If)", "input 0", "expected a tensor of one bool")
def condition_of_floats():
    return branches_on(TensorProto.FLOAT, [])


@case("E14001", "'choice' (If)", "input 0", "expected a tensor of one bool")
def condition_of_two_elements():
    return branches_on(TensorProto.BOOL, [2])


@case("E14001", "'again' (Loop)", "input 0", "expected a tensor of one int64")
def rounds_of_three_elements():
    return loop_of(rounds=(TensorProto.INT64, [3]))


@case("E14001", "'again' (Loop)", "input 0", "expected a tensor of one int64")
def rounds_of_floats():
    return loop_of(rounds=(TensorProto.FLOAT, []))


@case("E14001", "'again' (Loop)", "output 0 of its body", "expected a tensor of one bool")
def body_that_decides_with_two_elements():
    return loop_of(goes_on=(TensorProto.BOOL, [2]))
