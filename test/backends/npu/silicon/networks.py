"""The networks of the published measurements, in full size with seeded weights.

build(name, path) writes one as an ONNX file with a batch of 1; inputs(name, batch) is its
--input_shape for another batch. Weights are noise: simulated times depend on shapes only.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """An ONNX graph that grows at its end; `shape` has the dims of each value behind the batch."""

    def __init__(self, name, inputs):
        self.name, self.inputs = name, inputs
        self.noise = np.random.default_rng(zlib.crc32(name.encode())).random(1 << 16, np.float32)
        self.nodes, self.weights = [], []
        self.shape = {name: list(dims) for name, (_, dims) in inputs.items()}

    def add(self, kind, inputs, shape, **attributes):
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [result], name=f"n{len(self.nodes)}", **attributes))
        self.shape[result] = shape
        return result

    def weight(self, *dims, scale=None):
        # Each weight begins elsewhere in the noise: equal ones would be merged.
        noise = np.roll(self.noise, 997 * len(self.weights))
        values = (np.resize(noise, int(np.prod(dims))) - np.float32(0.5)).reshape(dims)
        values *= scale or np.float32(3.4 / np.prod(dims[1:]) ** 0.5)
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, x, channels, kernel, stride=1, groups=1, relu="Relu", pad=None, kernel_w=None):
        c, h, w = self.shape[x]
        kernels = [kernel, kernel_w or kernel]
        pads = [k // 2 if pad is None else pad for k in kernels]
        size = [(d + 2 * p - k) // stride + 1 for d, p, k in zip((h, w), pads, kernels)]
        inputs = [x, self.weight(channels, c // groups, *kernels), self.weight(channels, scale=0.1)]
        x = self.add("Conv", inputs, [channels, *size], kernel_shape=kernels, pads=pads * 2,
                     strides=[stride] * 2, group=groups)
        if relu == "Clip":
            low, high = (self.constant(v) for v in (0, 6))
            return self.add("Clip", [x, low, high], self.shape[x])
        return self.add(relu, [x], self.shape[x]) if relu else x

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(value, np.float32), name))
        return name

    def integers(self, *values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def norm_relu(self, x):
        c = self.shape[x][0]
        scale = [self.weight(c, scale=0.1) for _ in range(3)]
        scale.append(f"w{len(self.weights)}")
        self.weights.append(numpy_helper.from_array(np.ones(c, np.float32), scale[-1]))
        x = self.add("BatchNormalization", [x, *scale], self.shape[x])
        return self.add("Relu", [x], self.shape[x])

    def pool(self, x, kernel, stride, pad=0, kind="MaxPool", ceil=0):
        c, h, w = self.shape[x]
        size = [-(-(d + 2 * pad - kernel) // stride) if ceil else (d + 2 * pad - kernel) // stride
                for d in (h, w)]
        return self.add(kind, [x], [c, *(s + 1 for s in size)], kernel_shape=[kernel] * 2,
                        strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil)

    def concat(self, *parts):
        shape = self.shape[parts[0]]
        return self.add("Concat", parts, [sum(self.shape[p][0] for p in parts), *shape[1:]], axis=1)

    def dense(self, x, columns, relu=False):
        rows = int(np.prod(self.shape[x]))
        if len(self.shape[x]) > 1:
            x = self.add("Flatten", [x], [rows])
        x = self.add("Gemm", [x, self.weight(columns, rows), self.weight(columns, scale=0.1)], [columns],
                     transB=1)
        return self.add("Relu", [x], [columns]) if relu else x

    def head(self, x):
        x = self.add("GlobalAveragePool", [x], [self.shape[x][0], 1, 1])
        return self.dense(x, 1000)

    def save(self, result, path):
        self.nodes[-1].output[0] = "output"
        value = helper.make_tensor_value_info
        given = [value(name, kind, [1, *dims]) for name, (kind, dims) in self.inputs.items()]
        graph = helper.make_graph(self.nodes, self.name, given,
                                  [value("output", TensorProto.FLOAT, [1, *self.shape[result]])], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, str(path))


class Transformer(Network):
    """Encoder layers of 768 channels and 12 heads, as their exporters write them."""

    WIDTH, HEADS = 768, 12

    def binary(self, kind, x, y):
        return self.add(kind, [x, y], self.shape[x])

    def linear(self, x, columns):
        rows = self.shape[x][-1]
        x = self.add("MatMul", [x, self.weight(rows, columns, scale=rows**-0.5)], [self.shape[x][0], columns])
        return self.binary("Add", x, self.weight(columns, scale=0.1))

    def layer_norm(self, x):
        row = [self.shape[x][0], 1]
        centred = self.binary("Sub", x, self.add("ReduceMean", [x], row, axes=[-1]))
        square = self.binary("Pow", centred, self.constant(2))
        variance = self.binary("Add", self.add("ReduceMean", [square], row, axes=[-1]), self.constant(1e-6))
        x = self.binary("Div", centred, self.add("Sqrt", [variance], row))
        x = self.binary("Mul", x, self.constant(np.ones(self.WIDTH)))
        return self.binary("Add", x, self.weight(self.WIDTH, scale=0.1))

    def gelu(self, x):
        erf = self.add("Erf", [self.binary("Div", x, self.constant(2**0.5))], self.shape[x])
        x = self.binary("Mul", x, self.binary("Add", erf, self.constant(1)))
        return self.binary("Mul", x, self.constant(0.5))

    def heads(self, x, perm):
        tokens, depth = self.shape[x][0], self.WIDTH // self.HEADS
        x = self.add("Reshape", [x, self.integers(0, 0, self.HEADS, depth)], [tokens, self.HEADS, depth])
        return self.add("Transpose", [x], [self.shape[x][p - 1] for p in perm[1:]], perm=perm)

    def attention(self, x, mask=None):
        tokens, depth = self.shape[x][0], self.WIDTH // self.HEADS
        query, key, value = (self.heads(self.linear(x, self.WIDTH), perm)
                             for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.add("MatMul", [query, key], [self.HEADS, tokens, tokens])
        scores = self.binary("Div", scores, self.constant(depth**0.5))
        if mask:
            scores = self.binary("Add", scores, mask)
        scores = self.add("Softmax", [scores], self.shape[scores], axis=-1)
        x = self.add("MatMul", [scores, value], [self.HEADS, tokens, depth])
        x = self.add("Transpose", [x], [tokens, self.HEADS, depth], perm=[0, 2, 1, 3])
        x = self.add("Reshape", [x, self.integers(0, 0, self.WIDTH)], [tokens, self.WIDTH])
        return self.linear(x, self.WIDTH)

    def feed_forward(self, x):
        return self.linear(self.gelu(self.linear(x, 4 * self.WIDTH)), self.WIDTH)


def vit(net, patch):
    x = net.conv("input", net.WIDTH, patch, patch, relu=None, pad=0)
    tokens = int(np.prod(net.shape[x][1:])) + 1
    x = net.add("Reshape", [x, net.integers(0, 0, -1)], [net.WIDTH, tokens - 1])
    x = net.add("Transpose", [x], [tokens - 1, net.WIDTH], perm=[0, 2, 1])
    # The token of the class is a part of a pad, so that it follows the batch.
    x = net.add("Pad", [x, net.integers(0, 1, 0, 0, 0, 0)], [tokens, net.WIDTH])
    x = net.binary("Add", x, net.weight(1, tokens, net.WIDTH, scale=0.1))
    for _ in range(12):
        x = net.binary("Add", x, net.attention(net.layer_norm(x)))
        x = net.binary("Add", x, net.feed_forward(net.layer_norm(x)))
    x = net.add("Gather", [net.layer_norm(x), net.integers(0)], [1, net.WIDTH], axis=1)
    return net.dense(x, 1000)


def bert(net):
    tokens = net.shape["input"][0]
    x = net.add("Gather", [net.weight(30522, net.WIDTH), "input"], [tokens, net.WIDTH], axis=0)
    kind = net.add("Gather", [net.weight(2, net.WIDTH), "segments"], [tokens, net.WIDTH], axis=0)
    x = net.binary("Add", net.binary("Add", x, kind), net.weight(1, tokens, net.WIDTH, scale=0.1))
    x = net.layer_norm(x)
    mask = net.add("Unsqueeze", ["mask", net.integers(1, 2)], [1, 1, tokens])
    mask = net.add("Cast", [mask], [1, 1, tokens], to=TensorProto.FLOAT)
    mask = net.add("Sub", [net.constant(1), mask], [1, 1, tokens])
    mask = net.binary("Mul", mask, net.constant(-10000))
    for _ in range(12):
        x = net.layer_norm(net.binary("Add", x, net.attention(x, mask)))
        x = net.layer_norm(net.binary("Add", x, net.feed_forward(x)))
    return net.linear(x, 2)


def resnet(net, layers, bottleneck=True):
    x = net.pool(net.conv("input", 64, 7, 2), 3, 2, 1)
    for stage, count in enumerate(layers):
        channels = 64 << stage
        for block in range(count):
            stride = 2 if stage and not block else 1
            wide = channels * 4 if bottleneck else channels
            kept = x
            if net.shape[x][0] != wide or stride > 1:
                kept = net.conv(x, wide, 1, stride, relu=None)
            if bottleneck:
                x = net.conv(net.conv(net.conv(x, channels, 1), channels, 3, stride), wide, 1, relu=None)
            else:
                x = net.conv(net.conv(x, channels, 3, stride), channels, 3, relu=None)
            x = net.add("Relu", [net.add("Add", [x, kept], net.shape[x])], net.shape[x])
    return net.head(x)


def squeezenet11(net):
    x = net.pool(net.conv("input", 64, 3, 2, pad=0), 3, 2, ceil=1)
    for row in [(16, 64), (16, 64), None, (32, 128), (32, 128), None, (48, 192), (48, 192), (64, 256), (64, 256)]:
        if not row:
            x = net.pool(x, 3, 2, ceil=1)
            continue
        squeezed = net.conv(x, row[0], 1)
        x = net.concat(net.conv(squeezed, row[1], 1), net.conv(squeezed, row[1], 3))
    x = net.conv(x, 1000, 1)
    return net.add("GlobalAveragePool", [x], [1000, 1, 1])


def vgg16(net):
    x = "input"
    for count, channels in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(count):
            x = net.conv(x, channels, 3)
        x = net.pool(x, 2, 2)
    return net.dense(net.dense(net.dense(x, 4096, True), 4096, True), 1000)


def alexnet(net):
    x = net.pool(net.conv("input", 64, 11, 4, pad=2), 3, 2)
    x = net.pool(net.conv(x, 192, 5), 3, 2)
    x = net.conv(net.conv(net.conv(x, 384, 3), 256, 3), 256, 3)
    return net.dense(net.dense(net.dense(net.pool(x, 3, 2), 4096, True), 4096, True), 1000)


def mobilenetv1(net):
    x = net.conv("input", 32, 3, 2)
    for channels, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5,
                             (1024, 2), (1024, 1)]:
        c = net.shape[x][0]
        x = net.conv(net.conv(x, c, 3, stride, groups=c), channels, 1)
    return net.head(x)


def mobilenetv2(net):
    x = net.conv("input", 32, 3, 2, relu="Clip")
    for expand, channels, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                            (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(count):
            c, step = net.shape[x][0], 1 if block else stride
            y = net.conv(x, c * expand, 1, relu="Clip") if expand > 1 else x
            y = net.conv(y, c * expand, 3, step, groups=c * expand, relu="Clip")
            y = net.conv(y, channels, 1, relu=None)
            x = net.add("Add", [x, y], net.shape[y]) if step == 1 and c == channels else y
    return net.head(net.conv(x, 1280, 1, relu="Clip"))


def densenet121(net):
    x = net.pool(net.conv("input", 64, 7, 2), 3, 2, 1)
    for stage, count in enumerate((6, 12, 24, 16)):
        for _ in range(count):
            y = net.conv(net.norm_relu(x), 128, 1, relu=None)
            x = net.concat(x, net.conv(net.norm_relu(y), 32, 3, relu=None))
        x = net.norm_relu(x)
        if stage < 3:
            x = net.pool(net.conv(x, net.shape[x][0] // 2, 1, relu=None), 2, 2, kind="AveragePool")
    return net.head(x)


def googlenet(net):
    x = net.pool(net.conv("input", 64, 7, 2), 3, 2, ceil=1)
    x = net.pool(net.conv(net.conv(x, 64, 1), 192, 3), 3, 2, ceil=1)
    for row in [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None, (192, 96, 208, 16, 48, 64),
                (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
                (256, 160, 320, 32, 128, 128), None, (256, 160, 320, 32, 128, 128),
                (384, 192, 384, 48, 128, 128)]:
        if not row:
            x = net.pool(x, 3 if net.shape[x][1] == 28 else 2, 2, ceil=1)
            continue
        one, reduce3, three, reduce5, five, pool = row
        x = net.concat(net.conv(x, one, 1), net.conv(net.conv(x, reduce3, 1), three, 3),
                       net.conv(net.conv(x, reduce5, 1), five, 3), net.conv(net.pool(x, 3, 1, 1), pool, 1))
    return net.head(x)


IMAGE = {"input": (TensorProto.FLOAT, (3, 224, 224))}
LARGE_IMAGE = {"input": (TensorProto.FLOAT, (3, 384, 384))}
TEXT = {name: (TensorProto.INT64, (512,)) for name in ("input", "segments", "mask")}
# Inputs, and what adds the layers.
NETWORKS = {"resnet18": (IMAGE, lambda n: resnet(n, (2, 2, 2, 2), False)),
            "resnet34": (IMAGE, lambda n: resnet(n, (3, 4, 6, 3), False)),
            "resnet50": (IMAGE, lambda n: resnet(n, (3, 4, 6, 3))),
            "resnet101": (IMAGE, lambda n: resnet(n, (3, 4, 23, 3))),
            "resnet152": (IMAGE, lambda n: resnet(n, (3, 8, 36, 3))),
            "vgg16": (IMAGE, vgg16), "alexnet": (IMAGE, alexnet), "mobilenetv1": (IMAGE, mobilenetv1),
            "mobilenetv2": (IMAGE, mobilenetv2), "densenet121": (IMAGE, densenet121),
            "googlenet": (IMAGE, googlenet), "squeezenet11": (IMAGE, squeezenet11)}
TRANSFORMERS = {"bert_base_512": (TEXT, bert), "vit_base_patch8_224": (IMAGE, lambda n: vit(n, 8)),
                "vit_base_patch16_224": (IMAGE, lambda n: vit(n, 16)),
                "vit_base_patch32_224": (IMAGE, lambda n: vit(n, 32)),
                "vit_base_patch16_384": (LARGE_IMAGE, lambda n: vit(n, 16)),
                "vit_base_patch32_384": (LARGE_IMAGE, lambda n: vit(n, 32))}


def build(name, path):
    """Writes the network `name` of NETWORKS or TRANSFORMERS as an ONNX file."""
    given, layers = (NETWORKS | TRANSFORMERS)[name]
    net = (Transformer if name in TRANSFORMERS else Network)(name, given)
    net.save(layers(net), path)


def inputs(name, batch):
    """The inputs of a network with a batch, as atc takes them in --input_shape."""
    given, _ = (NETWORKS | TRANSFORMERS)[name]
    return ";".join(f"{key}:{batch}," + ",".join(map(str, dims)) for key, (_, dims) in given.items())
