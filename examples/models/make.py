#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the ONNX models and inputs that the pages of docs/ name, with seeded random weights:

    examples/models/make.py folder               resnet50.onnx in its full size (102 MB), and the others
    examples/models/make.py --width 0.125 folder a narrow resnet50.onnx: the same layers, 2 MB

Needs the Python packages onnx and numpy.
"""
import argparse
import pathlib
import struct
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes are added in order; every method returns the name of the tensor that it makes."""

    def __init__(self, name, **inputs):
        self.name, self.inputs = name, inputs
        self.nodes, self.weights = [], []
        self.draw = np.random.default_rng(zlib.crc32(name.encode()))

    def node(self, kind, *inputs, **attributes):
        output = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def constant(self, array):
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def random(self, *shape):
        """Weights whose products keep the range of what they multiply."""
        fan = np.prod(shape[1:]) if len(shape) > 1 else 100
        return self.constant((self.draw.standard_normal(shape) * np.sqrt(2 / fan)).astype(np.float32))

    def conv(self, x, channels, outputs, kernel, stride=1):
        pad = [kernel // 2] * 4
        return self.node("Conv", x, self.random(outputs, channels, kernel, kernel), self.random(outputs),
                         kernel_shape=[kernel, kernel], strides=[stride, stride], pads=pad)

    def dense(self, x, inputs, outputs):
        return self.node("Gemm", x, self.random(outputs, inputs), self.random(outputs), transB=1)

    def write(self, path, *outputs):
        def port(name, kind, shape):
            return helper.make_tensor_value_info(name, kind, shape)
        graph = helper.make_graph(
            self.nodes, self.name, [port(name, *value) for name, value in self.inputs.items()],
            [port(name, TensorProto.FLOAT, None) for name in outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, path)


def resnet50(folder, width):
    """ResNet-50 with its batch norms folded; `width` scales all channels but the classes'."""
    graph = Graph("resnet50", image=(TensorProto.FLOAT, [1, 3, 224, 224]))
    base = int(64 * width)
    x = graph.node("Relu", graph.conv("image", 3, base, 7, 2))
    x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = base
    for stage, blocks in enumerate([3, 4, 6, 3]):
        inner = base << stage
        for block in range(blocks):
            stride = 2 if stage and block == 0 else 1
            y = graph.node("Relu", graph.conv(x, channels, inner, 1))
            y = graph.node("Relu", graph.conv(y, inner, inner, 3, stride))
            y = graph.conv(y, inner, 4 * inner, 1)
            if block == 0:
                x = graph.conv(x, channels, 4 * inner, 1, stride)
            channels = 4 * inner
            x = graph.node("Relu", graph.node("Add", x, y))
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    graph.write(folder / "resnet50.onnx", graph.dense(x, channels, 1000))


def detector(folder, name):
    """Five convolutions on a picture of any size."""
    graph = Graph(name, image=(TensorProto.FLOAT, ["N", 3, "H", "W"]))
    x, channels = "image", 3
    for outputs in (8, 16, 16, 32):
        x = graph.node("Relu", graph.conv(x, channels, outputs, 3, 2))
        channels = outputs
    graph.write(folder / f"{name}.onnx", graph.conv(x, channels, 6, 1))


def bert(folder):
    """Words and a mask of any length, one layer of attention."""
    ids = (TensorProto.INT64, ["N", "L"])
    graph = Graph("bert", ids=ids, mask=ids)
    x = graph.node("Gather", graph.random(100, 64), "ids")
    mask = graph.node("Cast", "mask", to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", mask, graph.constant(np.array([1], np.int64)))
    query, key, value = (graph.node("MatMul", x, graph.random(64, 64)) for _ in range(3))
    scores = graph.node("MatMul", query, graph.node("Transpose", key, perm=[0, 2, 1]))
    scores = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)
    graph.write(folder / "bert.onnx", graph.node("MatMul", scores, value))


def net(folder):
    """A classifier of grey pictures of 28 x 28, of a batch of any size."""
    graph = Graph("net", image=(TensorProto.FLOAT, ["N", 1, 28, 28]))
    x = graph.node("Relu", graph.conv("image", 1, 8, 3, 2))
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    graph.write(folder / "net.onnx", graph.dense(x, 8, 10))


def mlp(folder):
    """Two dense layers on a batch of any size."""
    graph = Graph("mlp", x=(TensorProto.FLOAT, ["N", 40]))
    hidden = graph.node("Relu", graph.dense("x", 40, 64))
    graph.write(folder / "mlp.onnx", graph.dense(hidden, 64, 10))


def write_png(path, pixels):
    """Writes u8 [height, width, 3] as a PNG."""
    height, width, _ = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" +
                     chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--width", type=float, default=1, help="of resnet50's channels (default 1)")
    options = parser.parse_args()
    folder = options.folder
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    resnet50(folder, options.width)
    for name in ("detector", "yolo"):
        detector(folder, name)
    bert(folder)
    net(folder)
    mlp(folder)
    draw = np.random.default_rng(1)
    np.save(folder / "input.npy", draw.standard_normal((1, 3, 224, 224)).astype(np.float32))
    for i in range(4):
        write_png(folder / "pictures" / f"{i}.png",
                  draw.integers(0, 256, (224, 224, 3), np.uint8, endpoint=False))


if __name__ == "__main__":
    main()
