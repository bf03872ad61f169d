"""Small networks drawn by seeds: the odd shapes and neighbours that known networks do not have.

Needs the onnx package.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
IR_VERSION = 7
CHANNELS = (1, 2, 3, 5, 8, 12, 16, 17, 24, 32, 33, 40, 48, 64, 72)
ACTIVATIONS = ("relu", "relu6", "silu", "hswish", "hsigmoid", "sigmoid", "prelu", "leaky", "gelu",
               "tanh", "elu", "softplus", "none")


class Network:
    """Builds a graph node by node; keeps the shape of every value."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.shapes = {}

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, part):
        return bool(self.random.random() < part)

    def input(self, *shape):
        name = f"in{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.shapes[name] = list(shape)
        return name

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, *shape, fan_in=None, shift=0.0):
        """Normal values, such that what they are multiplied with keeps its size."""
        scale = 1 / np.sqrt(fan_in or 4)
        values = self.random.standard_normal(shape) * scale + shift
        return self.constant(values.astype(np.float32))

    def node(self, op, inputs, shape, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.shapes[name] = list(shape)
        return name

    def output(self, value):
        if value not in self.outputs:
            self.outputs.append(value)

    def model(self):
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes[name])
                   for name in self.outputs]
        graph = helper.make_graph(self.nodes, "random", self.inputs, outputs, self.weights)
        return helper.make_model(graph, ir_version=IR_VERSION,
                                 opset_imports=[helper.make_opsetid("", OPSET)])

    # Operators

    def activation(self, value, kind=None):
        kind = kind or self.pick(ACTIVATIONS)
        shape = self.shapes[value]
        unary = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "elu": "Elu",
                 "softplus": "Softplus"}
        if kind in unary:
            return self.node(unary[kind], [value], shape)
        if kind == "relu6":
            return self.node("Clip", [value, self.constant(np.float32(0)),
                                      self.constant(np.float32(6))], shape)
        if kind == "silu":
            return self.node("Mul", [value, self.activation(value, "sigmoid")], shape)
        if kind == "hsigmoid":
            return self.node("HardSigmoid", [value], shape, alpha=1 / 6, beta=0.5)
        if kind == "hswish":
            return self.node("Mul", [value, self.activation(value, "hsigmoid")], shape)
        if kind == "leaky":
            return self.node("LeakyRelu", [value], shape, alpha=0.1)
        if kind == "prelu":
            slope = [shape[1]] + [1] * (len(shape) - 2)
            return self.node("PRelu", [value, self.weight(*slope, shift=0.2)], shape)
        if kind == "gelu":
            erf = self.node("Erf", [self.scaled(value, np.sqrt(0.5))], shape)
            half = self.scaled(self.node("Add", [erf, self.constant(np.float32(1))], shape), 0.5)
            return self.node("Mul", [value, half], shape)
        return value

    def scaled(self, value, factor):
        return self.node("Mul", [value, self.constant(np.float32(factor))], self.shapes[value])

    def conv(self, value, out, kernel, stride=(1, 1), pads=(0, 0, 0, 0), dilation=(1, 1), group=1,
             bias=True):
        n, channels, *size = self.shapes[value]
        fan_in = channels // group * kernel[0] * kernel[1]
        operands = [value, self.weight(out, channels // group, *kernel, fan_in=fan_in)]
        operands += [self.weight(out)] if bias else []
        size = [(size[i] + pads[i] + pads[i + 2] - dilation[i] * (kernel[i] - 1) - 1) // stride[i]
                + 1 for i in range(2)]
        return self.node("Conv", operands, [n, out, *size], kernel_shape=kernel, strides=stride,
                         pads=pads, dilations=dilation, group=group)

    def any_conv(self, value):
        """A convolution with drawn parameters that fits the value."""
        _, channels, *size = self.shapes[value]
        kind = self.pick(("plain", "plain", "point", "depthwise", "group"))
        if kind == "point":
            stride = self.pick((1, 1, 2))
            return self.conv(value, self.pick(CHANNELS), (1, 1), (stride, stride),
                             bias=self.chance(0.7))
        kernel = [self.pick((1, 2, 3, 3, 3, 5)) for _ in range(2)]
        dilation = [self.pick((1, 1, 1, 2, 3)) if k > 1 else 1 for k in kernel]
        reach = [dilation[i] * (kernel[i] - 1) for i in range(2)]
        pads = [int(self.random.integers(0, reach[i % 2] + 1)) for i in range(4)]
        if self.chance(0.5):
            pads = [r // 2 for r in reach] * 2
        if any(size[i] + pads[i] + pads[i + 2] <= reach[i] for i in range(2)):
            return self.conv(value, self.pick(CHANNELS), (1, 1))
        stride = [self.pick((1, 1, 1, 2, 3)) for _ in range(2)]
        group, out = 1, self.pick(CHANNELS)
        if kind == "depthwise":
            group, out = channels, channels * self.pick((1, 1, 2))
        elif kind == "group":
            group = self.pick([g for g in range(1, channels + 1) if channels % g == 0])
            out = group * int(self.random.integers(1, 72 // group + 2))
        return self.conv(value, out, kernel, stride, pads, dilation, group, self.chance(0.7))

    def transposed_conv(self, value):
        n, channels, *size = self.shapes[value]
        out, kernel = self.pick(CHANNELS), self.pick((2, 3, 4))
        stride, pad = self.pick((1, 2, 2)), self.pick((0, 1))
        extra = self.pick((0, 1)) if stride == 2 else 0
        grown = [(s - 1) * stride - 2 * pad + kernel + extra for s in size]
        if min(grown) < 1:
            return self.activation(value)
        operands = [value, self.weight(channels, out, kernel, kernel,
                                       fan_in=channels * kernel**2 / stride**2), self.weight(out)]
        return self.node("ConvTranspose", operands, [n, out, *grown], kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[pad] * 4, output_padding=[extra] * 2)

    def batch_norm(self, value):
        channels = self.shapes[value][1]
        operands = [value, self.weight(channels, shift=1.0), self.weight(channels),
                    self.weight(channels),
                    self.constant(self.random.uniform(0.5, 2, channels).astype(np.float32))]
        return self.node("BatchNormalization", operands, self.shapes[value], epsilon=1e-5)

    def pool(self, value):
        n, channels, *size = self.shapes[value]
        kernel = [min(self.pick((2, 3, 3, 5)), s) for s in size]
        stride = [self.pick((1, 2, 2, 3)) for _ in range(2)]
        pads = [int(self.random.integers(0, (k + 1) // 2)) for k in kernel] * 2
        ceil, average = self.pick((0, 0, 1)), self.chance(0.4)
        shape = []
        for i in range(2):
            room = size[i] + 2 * pads[i] - kernel[i]
            steps = -(-room // stride[i]) if ceil else room // stride[i]
            # A last window that begins behind the data is left out.
            shape.append(steps + (steps * stride[i] < size[i] + pads[i]))
        names = {"kernel_shape": kernel, "strides": stride, "pads": pads, "ceil_mode": ceil}
        if average:
            names["count_include_pad"] = 0 if ceil else self.pick((0, 1))
        return self.node("AveragePool" if average else "MaxPool", [value], [n, channels, *shape],
                         **names)

    def concat(self, values, axis=1):
        shape = list(self.shapes[values[0]])
        shape[axis] = sum(self.shapes[value][axis] for value in values)
        return self.node("Concat", values, shape, axis=axis)

    def slice(self, value, axis=None):
        shape = list(self.shapes[value])
        axes = [a for a in range(1, len(shape)) if shape[a] > 1]
        if not axes:
            return value
        axis = self.pick(axes) if axis is None else axis
        step = self.pick((1, 1, 2))
        begin = int(self.random.integers(0, (shape[axis] + 1) // 2))
        end = int(self.random.integers(begin + 1, shape[axis] + 1))
        shape[axis] = -(-(end - begin) // step)
        operands = [self.constant(np.array([v], np.int64)) for v in (begin, end, axis, step)]
        return self.node("Slice", [value, *operands], shape)

    def resize(self, value):
        n, channels, *size = self.shapes[value]
        factors = [self.pick((1, 2, 2, 3)) for _ in size]
        scales = self.constant(np.array([1, 1, *factors], np.float32))
        mode = self.pick(("nearest", "nearest", "linear"))
        names = {"mode": mode, "coordinate_transformation_mode": "asymmetric"}
        if mode == "nearest":
            names["nearest_mode"] = "floor"
        return self.node("Resize", [value, "", scales],
                         [n, channels, *(s * f for s, f in zip(size, factors))], **names)

    def residual(self, value):
        """The value and something of its shape made from it."""
        branch = self.activation(self.conv(value, self.shapes[value][1], (3, 3), pads=(1,) * 4))
        if self.chance(0.3):
            # A gate for each channel, as squeeze-and-excitation has.
            n, channels = self.shapes[branch][:2]
            mean = self.node("GlobalAveragePool", [branch], [n, channels, 1, 1])
            gate = self.activation(self.conv(mean, channels, (1, 1)), self.pick(("sigmoid",
                                                                                 "hsigmoid")))
            branch = self.node("Mul", [branch, gate], self.shapes[branch])
        op = self.pick(("Add", "Add", "Add", "Sub", "Mul", "Max"))
        total = self.node(op, [value, branch], self.shapes[value])
        return self.activation(total) if self.chance(0.6) else total

    def branches(self, value):
        parts = [self.activation(self.conv(value, self.pick(CHANNELS), (k, k), pads=(k // 2,) * 4))
                 for k in (1, 3, 1)[:self.pick((2, 3))]]
        if self.chance(0.3):
            parts.append(value)
        return self.concat(parts)

    def pad(self, value):
        n, channels, height, width = self.shapes[value]
        pads = self.random.integers(0, 3, 4)
        amounts = np.array([0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3]], np.int64)
        mode = self.pick(("constant", "constant", "reflect", "edge"))
        if mode == "reflect" and min(height, width) < 3:
            mode = "constant"
        shape = [n, channels, height + int(pads[0] + pads[2]), width + int(pads[1] + pads[3])]
        return self.node("Pad", [value, self.constant(amounts)], shape, mode=mode)

    def softmax(self, value, axis):
        return self.node("Softmax", [value], self.shapes[value], axis=axis)

    def flat(self, value):
        n, *rest = self.shapes[value]
        return self.node("Flatten", [value], [n, int(np.prod(rest))], axis=1)

    def gemm(self, value, out):
        n, width = self.shapes[value]
        turned = self.chance(0.5)
        shape = (out, width) if turned else (width, out)
        operands = [value, self.weight(*shape, fan_in=width)]
        operands += [self.weight(out)] if self.chance(0.7) else []
        return self.node("Gemm", operands, [n, out], transB=int(turned))

    def norm(self, value):
        """Layer normalization of the last axis, spelled out."""
        shape = self.shapes[value]
        inner = [*shape[:-1], 1]
        mean = self.node("ReduceMean", [value], inner, axes=[-1])
        centred = self.node("Sub", [value, mean], shape)
        square = self.node("Mul", [centred, centred], shape)
        variance = self.node("ReduceMean", [square], inner, axes=[-1])
        safe = self.node("Add", [variance, self.constant(np.float32(1e-5))], inner)
        unit = self.node("Div", [centred, self.node("Sqrt", [safe], inner)], shape)
        scaled = self.node("Mul", [unit, self.weight(shape[-1], shift=1.0)], shape)
        return self.node("Add", [scaled, self.weight(shape[-1])], shape)

    def linear(self, value, out):
        *rest, width = self.shapes[value]
        product = self.node("MatMul", [value, self.weight(width, out, fan_in=width)], [*rest, out])
        return self.node("Add", [product, self.weight(out)], [*rest, out])

    def transpose(self, value, order):
        return self.node("Transpose", [value], [self.shapes[value][i] for i in order], perm=order)

    def reshape(self, value, *shape):
        return self.node("Reshape", [value, self.constant(np.array(shape, np.int64))], shape)

    def attention(self, value, heads):
        n, length, width = self.shapes[value]
        query, key, val = (self.transpose(
            self.reshape(self.linear(value, width), n, length, heads, width // heads),
            [0, 2, 1, 3]) for _ in range(3))
        scores = self.node("MatMul", [query, self.transpose(key, [0, 1, 3, 2])],
                           [n, heads, length, length])
        chosen = self.softmax(self.scaled(scores, (width // heads)**-0.5), -1)
        mixed = self.node("MatMul", [chosen, val], self.shapes[query])
        joined = self.reshape(self.transpose(mixed, [0, 2, 1, 3]), n, length, width)
        return self.linear(joined, width)


def convolutional(net):
    size = [net.pick((7, 9, 12, 15, 16, 21, 28)) for _ in range(2)]
    value = net.input(net.pick((1, 1, 2, 3)), net.pick(CHANNELS), *size)
    steps = {"conv": lambda v: net.activation(
                 net.batch_norm(net.any_conv(v)) if net.chance(0.3) else net.any_conv(v)),
             "residual": net.residual, "branches": net.branches, "pool": net.pool,
             "resize": net.resize, "slice": net.slice, "pad": net.pad,
             "transposed": net.transposed_conv}
    value = net.activation(net.any_conv(value))
    for _ in range(int(net.random.integers(3, 7))):
        kind = net.pick(["conv"] * 4 + ["residual", "residual", "branches", "pool", *steps])
        if np.prod(net.shapes[value][2:]) > 1500 and kind in ("resize", "transposed"):
            kind = "pool"
        value = steps[kind](value)
        if net.chance(0.1):
            net.output(value)
    end = net.pick(("maps", "average", "flat", "scores", "softmax over channels"))
    n, channels, *size = net.shapes[value]
    if end == "softmax over channels":
        value = net.softmax(value, 1)
    elif end != "maps":
        if end != "flat" or channels * np.prod(size) > 4000:
            value = net.node("GlobalAveragePool", [value], [n, channels, 1, 1])
        value = net.gemm(net.flat(value), net.pick((3, 10, 16, 33, 100)))
        if end == "scores":
            value = net.softmax(value, -1)
    net.output(value)


def perceptron(net):
    value = net.input(net.pick((1, 3, 16, 37)), net.pick((7, 16, 50, 128, 200)))
    for _ in range(net.pick((2, 3, 4))):
        width = net.shapes[value][1]
        after = net.activation(net.gemm(value, net.pick((16, 30, 64, 100, 257))))
        if net.chance(0.3):
            after = net.concat([after, value])
        if net.chance(0.3):
            after = net.norm(after)
        if net.chance(0.3) and net.shapes[after][1] == width:
            after = net.node("Add", [after, value], net.shapes[after])
        if net.chance(0.2):
            after = net.slice(after)
        value = after
    net.output(net.softmax(value, 1) if net.chance(0.5) else value)


def encoder(net):
    heads = net.pick((1, 2, 3))
    width = heads * net.pick((8, 16, 20, 32))
    value = net.input(net.pick((1, 2)), net.pick((5, 16, 19, 50)), width)
    for _ in range(net.pick((1, 2))):
        value = net.node("Add", [value, net.attention(net.norm(value), heads)], net.shapes[value])
        inner = net.activation(net.linear(net.norm(value), 2 * width), net.pick(("gelu", "relu")))
        value = net.node("Add", [value, net.linear(inner, width)], net.shapes[value])
    net.output(net.norm(value))


def network(seed):
    """A model and inputs for it."""
    net = Network(seed)
    net.pick((convolutional,) * 6 + (perceptron, encoder))(net)
    shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in net.inputs]
    inputs = [net.random.standard_normal(shape).astype(np.float32) for shape in shapes]
    return net.model(), inputs
