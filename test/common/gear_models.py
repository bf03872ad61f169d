#===-- gear_models.py - small networks whose sizes are dynamic ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models with seeded weights for gears. Needs numpy and onnx (Debian: python3-onnx)."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Network:
    """Collects nodes and weights; `name` returns fresh tensor names."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def constant(self, values, kind=np.float32):
        self.count += 1
        self.weights.append(numpy_helper.from_array(np.asarray(values, kind), f"w{self.count}"))
        return self.weights[-1].name

    def random(self, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 4)
        return self.constant(self.rng.standard_normal(shape) * scale)

    def node(self, op, inputs, output=None, **attributes):
        self.count += 1
        output = output or f"t{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"n_{output}", **attributes))
        return output

    def conv(self, x, inputs, outputs, kernel=3, stride=1):
        pad = kernel // 2
        return self.node("Conv", [x, self.random(outputs, inputs, kernel, kernel),
                                  self.random(outputs)],
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def save(self, path, inputs, outputs):
        info = lambda ends: [helper.make_tensor_value_info(*end) for end in ends]
        graph = helper.make_graph(self.nodes, "gears", info(inputs), info(outputs), self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        path.write_bytes(model.SerializeToString())
        return path


def resnet(path, channels=32):
    """A stem, two residual blocks, a pool over the image and a classifier: [n,3,32,32] -> [n,10]."""
    net = Network(1)
    x = net.node("Relu", [net.conv("x", 3, channels, stride=2)])
    for _ in range(2):
        y = net.node("Relu", [net.conv(x, channels, channels)])
        x = net.node("Relu", [net.node("Add", [net.conv(y, channels, channels), x])])
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])], axis=1)
    net.node("Gemm", [x, net.random(10, channels), net.random(10)], "y", transB=1)
    return net.save(path, [("x", FLOAT, ["n", 3, 32, 32])], [("y", FLOAT, ["n", 10])])


def mlp(path):
    """Two inputs of one batch, three layers: [n,40], [n,24] -> [n,12]."""
    net = Network(2)
    x = net.node("Concat", ["a", "b"], axis=1)
    for wide, narrow in ((64, 96), (96, 48)):
        x = net.node("Tanh",
                     [net.node("Gemm", [x, net.random(narrow, wide), net.random(narrow)], transB=1)])
    net.node("Softmax", [net.node("Gemm", [x, net.random(12, 48), net.random(12)], transB=1)], "y",
             axis=1)
    return net.save(path, [("a", FLOAT, ["n", 40]), ("b", FLOAT, ["n", 24])],
                    [("y", FLOAT, ["n", 12])])


def detector(path):
    """Two scales of a one-stage detector for images of any size: two maps, and the boxes of both
    in one list, which is as long as the image is large."""
    net = Network(3)
    x = "x"
    for inputs, outputs in ((3, 16), (16, 32), (32, 32)):
        x = net.node("LeakyRelu", [net.conv(x, inputs, outputs, stride=2)], alpha=0.1)
    y = net.node("LeakyRelu", [net.conv(x, 32, 48, stride=2)], alpha=0.1)
    up = net.node("Resize", [y, "", net.constant([1, 1, 2, 2])], mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    small = net.conv(net.node("Concat", [x, up], axis=1), 80, 18, kernel=1)
    large = net.conv(y, 48, 18, kernel=1)
    lists = []
    for scale, name in ((small, "small"), (large, "large")):
        net.node("Sigmoid", [scale], name)
        flat = net.node("Reshape", [name, net.constant([1, 18, -1], np.int64)])
        lists.append(net.node("Transpose", [flat], perm=[0, 2, 1]))
    net.node("Concat", lists, "boxes", axis=1)
    image = ["h", "w"]
    return net.save(path, [("x", FLOAT, [1, 3, *image])],
                    [("small", FLOAT, [1, 18, "a", "b"]), ("large", FLOAT, [1, 18, "c", "d"]),
                     ("boxes", FLOAT, [1, "e", 18])])


def one_conv(path):
    """A convolution that reads x[b, 3, h, w]."""
    net = Network(9)
    y = net.conv("x", 3, 4)
    return net.save(path, [("x", FLOAT, ["b", 3, "h", "w"])], [(y, FLOAT, ["b", 4, None, None])])


def one_op(path, op, shape, extra=(), outputs=None, **attributes):
    """One operator on an input of `shape`; `extra` are constants behind it."""
    net = Network(4)
    names = [net.constant(values, kind) for values, kind in extra]
    net.node(op, ["x", *names], "y", **attributes)
    return net.save(path, [("x", FLOAT, shape)], [("y", FLOAT, outputs or ["r"] * len(shape))])
