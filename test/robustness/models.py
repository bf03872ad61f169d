#===-- models.py - small ONNX models to be broken ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models by the onnx package, and messages that it would refuse to make, byte by byte."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def tensor(name, shape, element=FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def weights(name, *shape):
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32) * 0.1
    return numpy_helper.from_array(values, name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=13):
    graph = helper.make_graph(
        nodes, "net",
        [tensor("x", [1, 3, 8, 8])] if inputs is None else inputs,
        [tensor("y", None)] if outputs is None else outputs,
        list(initializers))
    imports = [helper.make_opsetid("", opset)] if opset is not None else []
    made = helper.make_model(graph, opset_imports=imports, producer_name="robustness")
    made.ir_version = 8
    if not imports:
        made.ClearField("opset_import")
    return made


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def conv(filters=(4, 3, 3, 3), **attributes):
    """x -> Conv 'conv1' -> y"""
    return model([node("Conv", ["x", "w"], ["y"], "conv1", **attributes)],
                 initializers=[weights("w", *filters)])


def net():
    """A convolutional network with one of each usual layer."""
    return model(
        [node("Conv", ["x", "w1", "b1"], ["c"], "conv1", pads=[1, 1, 1, 1]),
         node("Relu", ["c"], ["r"], "relu1"),
         node("MaxPool", ["r"], ["m"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
         node("GlobalAveragePool", ["m"], ["g"], "pool2"),
         node("Flatten", ["g"], ["f"], "flat"),
         node("Gemm", ["f", "w2", "b2"], ["y"], "fc", transB=1)],
        outputs=[tensor("y", [1, 10])],
        initializers=[weights("w1", 16, 3, 3, 3), weights("b1", 16), weights("w2", 10, 16),
                      weights("b2", 10)])


# The wire format of protobuf, for what the package's own classes do not allow.

def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested_ifs(depth):
    """If in If in If ...: GraphProto.node = 1, NodeProto.attribute = 5, AttributeProto.g = 6."""
    graph = field(2, b"inner") + field(12, field(1, b"y"))
    for _ in range(depth):
        attribute = field(1, b"then_branch") + varint(20 << 3) + varint(5) + field(6, graph)
        made = field(1, b"x") + field(2, b"y") + field(3, b"deep") + field(4, b"If") + field(5, attribute)
        graph = field(1, made) + field(2, b"inner") + field(12, field(1, b"y"))
    outer = graph + field(11, tensor("x", [1]).SerializeToString())
    return (varint(1 << 3) + varint(8) + field(8, varint(2 << 3) + varint(13)) + field(7, outer))


def nested_sequences(depth):
    """An input that is a sequence of a sequence of ...: TypeProto.sequence_type = 4."""
    kind = tensor("x", [1]).type.SerializeToString()
    for _ in range(depth):
        kind = field(4, field(1, kind))
    base = model([node("Relu", ["x"], ["y"])], inputs=[])
    base.graph.ClearField("input")
    graph = base.graph.SerializeToString() + field(11, field(1, b"x") + field(2, kind))
    base.ClearField("graph")
    return base.SerializeToString() + field(7, graph)
