#===-- onnx_file.py - writes the network as ONNX and runs it with numpy ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the digit network as an ONNX file, and evaluates such a file with numpy.

The evaluation knows the operators of this network only. It shares no code with the layers that
training uses, so it also checks what was exported.
"""

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
IR_VERSION = 7  # The one that came with opset 13; newer readers take it too.


class GraphWriter:
    def __init__(self):
        self.nodes, self.initializers = [], {}

    def constant(self, name, array):
        array = np.ascontiguousarray(array, dtype=np.float32).reshape(np.shape(array))
        self.initializers.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def node(self, op_type, name, inputs, **attributes):
        """Appends a node with one output, named like the node."""
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=name, **attributes))
        return name

    def save(self, path, output, output_shape, input_shape):
        graph = helper.make_graph(
            self.nodes, "digits",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, input_shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
            list(self.initializers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                  producer_name="OpenATC examples/digits")
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        with open(path, "wb") as file:
            file.write(model.SerializeToString(deterministic=True))


def _conv(x, weight, *, kernel_shape, pads, strides, group):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    windows = sliding_window_view(x, kernel_shape, axis=(2, 3))[:, :, ::strides[0], ::strides[1]]
    if group == 1:
        return np.tensordot(windows, weight, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
    if group != x.shape[1] or weight.shape[:2] != (group, 1):
        raise ValueError("a grouped convolution is expected to be depthwise")
    return np.einsum("nchwyx,cyx->nchw", windows, weight[:, 0])


def _batch_norm(x, scale, bias, mean, variance, *, epsilon):
    def column(values):
        return values.reshape(1, -1, 1, 1)

    return column(scale) * (x - column(mean)) / np.sqrt(column(variance) + epsilon) + column(bias)


def _max_pool(x, *, kernel_shape, strides):
    windows = sliding_window_view(x, kernel_shape, axis=(2, 3))
    return windows[:, :, ::strides[0], ::strides[1]].max(axis=(4, 5))


def _gemm(x, weight, bias, *, transB):
    return x @ (weight.T if transB else weight) + bias


_OPERATORS = {
    "Conv": _conv,
    "BatchNormalization": _batch_norm,
    "MaxPool": _max_pool,
    "Gemm": _gemm,
    "Relu": lambda x: np.maximum(x, 0),
    "Clip": lambda x, low, high: np.clip(x, low, high),
    "Add": lambda a, b: a + b,
    "GlobalAveragePool": lambda x: x.mean(axis=(2, 3), keepdims=True),
    "Flatten": lambda x, *, axis: x.reshape(int(np.prod(x.shape[:axis])), -1),
}


def run(path, images):
    """The scores f32 [count, 10] of images f32 [count, 1, 28, 28]."""
    graph = onnx.load(str(path)).graph
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    values[graph.input[0].name] = images
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        operator = _OPERATORS[node.op_type]
        values[node.output[0]] = operator(*[values[name] for name in node.input], **attributes)
    return values[graph.output[0].name]
