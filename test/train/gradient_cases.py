# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph functions whose gradients are checked: one per op, and random ones of 20 ops.

A case has its inputs, MLIR text and the formula for PyTorch (`t` is torch, `F`
torch.nn.functional). The loss is the sum of the result's elements times cos(1), cos(2), ..., so
that every element counts differently. make_gradients.py writes gradients.npz from the formulas.
"""

import random
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{dim}x" for dim in shape) + element + ">"


def ints(*values):
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


@dataclass
class Case:
    name: str
    inputs: list[tuple[int, ...]]
    text: str
    """Ops on %a, %b, ... that end with %y."""
    result: tuple[int, ...]
    formula: Callable[..., Any]
    low: float = -2.0
    high: float = 2.0
    constants: dict[str, Any] = field(default_factory=dict)

    def values(self):
        rng = np.random.default_rng(sum(map(ord, self.name)))
        return [rng.uniform(self.low, self.high, shape).astype(np.float32)
                for shape in self.inputs]

    def weights(self):
        count = int(np.prod(self.result))
        return np.cos(np.arange(1, count + 1)).reshape(self.result).astype(np.float32)

    def module(self):
        """The function with its loss, all of whose inputs are parameters."""
        arguments = ", ".join(
            f"%{chr(97 + index)}: {tensor(shape)} "
            f'{{om.name = "{chr(97 + index)}", train.parameter}}'
            for index, shape in enumerate(self.inputs))
        whole = tensor(self.result)
        axes = ints(*range(len(self.result)))
        return f"""
func.func @main({arguments}, %weights: {whole} {{om.name = "weights"}})
    -> (tensor<f32> {{om.name = "loss"}}) {{
{self.text}
  %weighted = graph.mul %y, %weights : ({whole}, {whole}) -> {whole}
  %loss = graph.reduce %weighted {{kind = #graph<reduce_kind sum>, axes = {axes},
      keepdims = false}} : ({whole}) -> tensor<f32>
  return %loss : tensor<f32>
}}"""


def op(name, operands, types, result, attributes="", to="%y"):
    return (f"  {to} = graph.{name} {', '.join(operands)} {{{attributes}}} : "
            f"({', '.join(map(str, types))}) -> {result}")


def unary(name, formula, low=-2.0, high=2.0, attributes="", label=None):
    shape = (2, 3, 4)
    text = op(name, ["%a"], [tensor(shape)], tensor(shape), attributes)
    return Case(label or name, [shape], text, shape, formula, low, high)


def binary(name, formula, low=-2.0, high=2.0, attributes="", shapes=((2, 3, 4), (3, 1))):
    result = np.broadcast_shapes(*shapes)
    text = op(name, ["%a", "%b"], map(tensor, shapes), tensor(result), attributes)
    return Case(name, list(shapes), text, result, formula, low, high)


def one(name, label, shapes, result, attributes, formula, low=-2.0, high=2.0):
    """A case with any number of operands."""
    operands = [f"%{chr(97 + index)}" for index in range(len(shapes))]
    return Case(label, list(shapes), op(name, operands, map(tensor, shapes), tensor(result),
                                        attributes), result, formula, low, high)


UNARY = [
    unary("abs", lambda t, F, a: t.abs(a)), unary("neg", lambda t, F, a: -a),
    unary("exp", lambda t, F, a: t.exp(a)), unary("log", lambda t, F, a: t.log(a), 0.2),
    unary("sqrt", lambda t, F, a: t.sqrt(a), 0.2), unary("rsqrt", lambda t, F, a: t.rsqrt(a), 0.2),
    unary("reciprocal", lambda t, F, a: 1 / a, 0.3),
    unary("sin", lambda t, F, a: t.sin(a)), unary("cos", lambda t, F, a: t.cos(a)),
    unary("tan", lambda t, F, a: t.tan(a), -1, 1), unary("asin", lambda t, F, a: t.asin(a), -.9, .9),
    unary("acos", lambda t, F, a: t.acos(a), -.9, .9), unary("atan", lambda t, F, a: t.atan(a)),
    unary("sinh", lambda t, F, a: t.sinh(a)), unary("cosh", lambda t, F, a: t.cosh(a)),
    unary("tanh", lambda t, F, a: t.tanh(a)), unary("asinh", lambda t, F, a: t.asinh(a)),
    unary("acosh", lambda t, F, a: t.acosh(a), 1.2, 3), unary("atanh", lambda t, F, a: t.atanh(a), -.9, .9),
    unary("erf", lambda t, F, a: t.erf(a)), unary("sigmoid", lambda t, F, a: t.sigmoid(a)),
    unary("relu", lambda t, F, a: t.relu(a)), unary("softplus", lambda t, F, a: F.softplus(a)),
    unary("softsign", lambda t, F, a: F.softsign(a)), unary("silu", lambda t, F, a: F.silu(a)),
    unary("mish", lambda t, F, a: F.mish(a)),
    unary("hard_swish", lambda t, F, a: F.hardswish(a), -4, 4),
    unary("gelu", lambda t, F, a: F.gelu(a), attributes="approximate = false"),
    unary("gelu", lambda t, F, a: F.gelu(a, approximate="tanh"), label="gelu_tanh",
          attributes="approximate = true"),
    unary("leaky_relu", lambda t, F, a: F.leaky_relu(a, .1), attributes="alpha = 0.1"),
    unary("elu", lambda t, F, a: F.elu(a, 1.5), attributes="alpha = 1.5"),
    unary("selu", lambda t, F, a: F.selu(a),
          attributes="alpha = 1.6732632423543772, gamma = 1.0507009873554805"),
    unary("hard_sigmoid", lambda t, F, a: F.hardsigmoid(a), -4, 4,
          "alpha = 0.16666666666666666, beta = 0.5"),
    unary("thresholded_relu", lambda t, F, a: F.threshold(a, .5, 0.), attributes="alpha = 0.5"),
    unary("clip", lambda t, F, a: t.clamp(a, -1, .5), attributes="min = -1.0, max = 0.5"),
    unary("sign", lambda t, F, a: t.sign(a)), unary("floor", lambda t, F, a: t.floor(a)),
    unary("ceil", lambda t, F, a: t.ceil(a)), unary("round", lambda t, F, a: t.round(a)),
]

BINARY = [
    binary("add", lambda t, F, a, b: a + b), binary("sub", lambda t, F, a, b: a - b),
    binary("mul", lambda t, F, a, b: a * b), binary("div", lambda t, F, a, b: a / b, .3),
    binary("pow", lambda t, F, a, b: a ** b, .3), binary("max", lambda t, F, a, b: t.maximum(a, b)),
    binary("min", lambda t, F, a, b: t.minimum(a, b)),
    binary("prelu", lambda t, F, a, b: t.where(a < 0, a * b, a)),
    binary("mod", lambda t, F, a, b: t.remainder(a, b), .3),
]


def reductions():
    shape = (2, 3, 4)
    formulas = {
        "sum": lambda t, F, a: a.sum((0, 2)), "mean": lambda t, F, a: a.mean((0, 2)),
        "max": lambda t, F, a: a.amax((0, 2)), "min": lambda t, F, a: a.amin((0, 2)),
        "prod": lambda t, F, a: a.prod(2).prod(0), "l1": lambda t, F, a: a.abs().sum((0, 2)),
        "l2": lambda t, F, a: t.linalg.vector_norm(a, dim=(0, 2)),
        "log_sum": lambda t, F, a: a.sum((0, 2)).log(),
        "log_sum_exp": lambda t, F, a: t.logsumexp(a, (0, 2)),
        "sum_square": lambda t, F, a: (a * a).sum((0, 2)),
    }
    for kind, formula in formulas.items():
        for keeps in (False, True):
            result = (1, 3, 1) if keeps else (3,)
            yield one("reduce", f"reduce_{kind}_{keeps}", [shape], result,
                      f"kind = #graph<reduce_kind {kind}>, axes = {ints(0, 2)}, "
                      f"keepdims = {str(keeps).lower()}",
                      lambda t, F, a, f=formula, r=result: f(t, F, a).reshape(r), .2, 1.5)
    for name in ("softmax", "log_softmax"):
        yield one(name, name, [shape], shape, "axis = 1 : i64",
                  lambda t, F, a, n=name: getattr(F, n)(a, 1))


def products():
    for label, left, right, result in [
            ("matrix", (3, 4), (4, 5), (3, 5)), ("batch", (2, 3, 4), (2, 4, 5), (2, 3, 5)),
            ("shared", (2, 3, 4), (4, 5), (2, 3, 5)), ("shared_left", (3, 4), (2, 4, 5), (2, 3, 5)),
            ("spread", (2, 1, 3, 4), (3, 4, 2), (2, 3, 3, 2)),
            ("vector_right", (2, 3, 4), (4,), (2, 3)), ("vector_left", (4,), (2, 4, 3), (2, 3))]:
        yield one("matmul", "matmul_" + label, [left, right], result, "",
                  lambda t, F, a, b: t.matmul(a, b))
    yield Case("fully_connected", [(2, 3, 4), (5, 4), (5,)],
               "  %y = graph.fully_connected %a, %b bias %c {activation = #graph.activation<relu>} "
               ": (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>",
               (2, 3, 5), lambda t, F, a, b, c: F.relu(F.linear(a, b, c)))


def conv(label, shape, kernel, result, *, strides=(1, 1), pads=(0, 0), dilations=(1, 1), groups=1):
    def formula(t, F, a, b, c):
        f = (F.conv1d, F.conv2d, F.conv3d)[len(shape) - 3]
        return f(a, b, c, strides, pads, dilations, groups)
    text = (f"  %y = graph.conv %a, %b bias %c {{strides = {ints(*strides)}, "
            f"pads = {ints(*pads, *pads)}, dilations = {ints(*dilations)}, groups = {groups} : i64}}"
            f" : ({tensor(shape)}, {tensor(kernel)}, {tensor(kernel[:1])}) -> {tensor(result)}")
    return Case("conv_" + label, [shape, kernel, kernel[:1]], text, result, formula)


def conv_transpose(label, shape, kernel, result, *, strides=(1, 1), pads=(0, 0), rest=(0, 0),
                   dilations=(1, 1), groups=1):
    text = (f"  %y = graph.conv_transpose %a, %b {{strides = {ints(*strides)}, "
            f"pads = {ints(*pads, *pads)}, dilations = {ints(*dilations)}, "
            f"output_padding = {ints(*rest)}, groups = {groups} : i64}}"
            f" : ({tensor(shape)}, {tensor(kernel)}) -> {tensor(result)}")
    return Case("conv_transpose_" + label, [shape, kernel], text, result,
                lambda t, F, a, b: F.conv_transpose2d(a, b, None, strides, pads, rest, groups,
                                                      dilations))


WINDOWS = [
    conv("plain", (2, 3, 6, 5), (4, 3, 3, 3), (2, 4, 6, 5), pads=(1, 1)),
    conv("strided", (2, 3, 7, 6), (4, 3, 3, 3), (2, 4, 4, 3), strides=(2, 2), pads=(1, 1)),
    conv("dilated", (1, 2, 8, 8), (3, 2, 3, 3), (1, 3, 4, 4), dilations=(2, 2)),
    conv("pointwise", (2, 3, 4, 4), (5, 3, 1, 1), (2, 5, 4, 4)),
    conv("pointwise_strided", (2, 3, 5, 5), (5, 3, 1, 1), (2, 5, 3, 3), strides=(2, 2)),
    conv("grouped", (2, 4, 5, 5), (6, 2, 3, 3), (2, 6, 5, 5), pads=(1, 1), groups=2),
    conv("depthwise", (2, 3, 6, 6), (3, 1, 3, 3), (2, 3, 6, 6), pads=(1, 1), groups=3),
    conv("depthwise_strided", (2, 3, 6, 6), (3, 1, 3, 3), (2, 3, 3, 3), pads=(1, 1),
         strides=(2, 2), groups=3),
    conv("wide_pads", (1, 2, 4, 4), (2, 2, 3, 3), (1, 2, 8, 8), pads=(3, 3)),
    conv("line", (2, 3, 9), (4, 3, 3), (2, 4, 5), strides=(2,), pads=(1,), dilations=(1,)),
    conv("space", (1, 2, 4, 4, 4), (2, 2, 2, 2, 2), (1, 2, 3, 3, 3), strides=(1, 1, 1),
         pads=(0, 0, 0), dilations=(1, 1, 1)),
    conv_transpose("strided", (2, 3, 3, 3), (3, 2, 3, 3), (2, 2, 6, 6), strides=(2, 2),
                   pads=(1, 1), rest=(1, 1)),
    conv_transpose("plain", (2, 3, 3, 3), (3, 2, 3, 3), (2, 2, 5, 5)),
    conv_transpose("grouped", (1, 4, 3, 3), (4, 1, 2, 2), (1, 2, 6, 6), strides=(2, 2), groups=2),
]


def pools():
    for label, shape, kernel, strides, pads, ceil, result in [
            ("tiles", (1, 2, 6, 6), (2, 2), (2, 2), (0, 0), False, (1, 2, 3, 3)),
            ("overlapping", (1, 2, 7, 7), (3, 3), (2, 2), (1, 1), False, (1, 2, 4, 4)),
            ("ceil", (1, 2, 6, 6), (3, 3), (2, 2), (0, 0), True, (1, 2, 3, 3)),
            ("rest", (1, 2, 7, 5), (2, 2), (2, 2), (0, 0), False, (1, 2, 3, 2))]:
        window = (f"kernel = {ints(*kernel)}, strides = {ints(*strides)}, "
                  f"pads = {ints(*pads, *pads)}, dilations = {ints(1, 1)}, "
                  f"ceil_mode = {str(ceil).lower()}")
        yield one("max_pool", "max_pool_" + label, [shape], result, window,
                  lambda t, F, a, k=kernel, s=strides, p=pads, c=ceil:
                  F.max_pool2d(a, k, s, p, ceil_mode=c))
        for counts in (False, True):
            yield one("average_pool", f"average_pool_{label}_{counts}", [shape], result,
                      window + f", count_include_pad = {str(counts).lower()}",
                      lambda t, F, a, k=kernel, s=strides, p=pads, c=ceil, i=counts:
                      F.avg_pool2d(a, k, s, p, c, i))


def space_pools():
    """Pools over three dims, which are lowered to slices."""
    window = (f"kernel = {ints(2, 3, 2)}, strides = {ints(2, 1, 2)}, pads = {ints(1, 1, 0, 1, 1, 0)}"
              f", dilations = {ints(1, 1, 1)}, ceil_mode = false")
    shape, result = (2, 2, 4, 3, 5), (2, 2, 3, 3, 2)
    yield one("max_pool", "max_pool_space", [shape], result, window,
              lambda t, F, a: F.max_pool3d(a, (2, 3, 2), (2, 1, 2), (1, 1, 0)))
    for counts in (False, True):
        yield one("average_pool", f"average_pool_space_{counts}", [shape], result,
                  window + f", count_include_pad = {str(counts).lower()}",
                  lambda t, F, a, c=counts:
                  F.avg_pool3d(a, (2, 3, 2), (2, 1, 2), (1, 1, 0), count_include_pad=c))


def call(kernel, operands, types, results, attributes="", to="%y"):
    return (f'  {to} = graph.host_call "{kernel}"({", ".join(operands)}) {{{attributes}}} : '
            f"({', '.join(types)}) -> ({', '.join(results)})")


def scatters():
    """Scatters by elements along a dim, and of rows; indices count from the end, too."""
    for reduction, elements, rows in [
            ("none", [[0, 2, 1, -1, 0], [2, 0, 0, 1, 1]], [[1], [-1]]),
            ("add", [[0, 2, 1, -1, 0], [0, 2, 0, 2, 1]], [[1], [1]])]:
        mode = f'reduction = "{reduction}"'
        index = f"  %i = graph.constant dense<{elements}> : tensor<2x5xi64>\n"
        types = [tensor((3, 5)), "tensor<2x5xi64>", tensor((2, 5))]
        yield Case(f"scatter_elements_{reduction}", [(3, 5), (2, 5)],
                   index + call("ScatterElements", ["%a", "%i", "%b"], types, types[:1],
                                "axis = array<i64: 0>, " + mode), (3, 5),
                   lambda t, F, a, b, e=elements, adds=reduction == "add":
                   (t.scatter_add if adds else t.scatter)(a, 0, t.tensor(e) % 3, b))
        index = f"  %i = graph.constant dense<{rows}> : tensor<2x1xi64>\n"
        types = [tensor((4, 3)), "tensor<2x1xi64>", tensor((2, 3))]
        yield Case(f"scatter_rows_{reduction}", [(4, 3), (2, 3)],
                   index + call("ScatterND", ["%a", "%i", "%b"], types, types[:1], mode), (4, 3),
                   lambda t, F, a, b, r=rows, adds=reduction == "add":
                   a.index_put((t.tensor(r)[:, 0],), b, accumulate=adds))


INDEXED = [
    Case("top_k", [(3, 6, 2)],
         "  %k = graph.constant dense<2> : tensor<1xi64>\n"
         + call("TopK", ["%a", "%k"], [tensor((3, 6, 2)), "tensor<1xi64>"],
                [tensor((3, 2, 2)), "tensor<3x2x2xi64>"], "axis = array<i64: 1>", "%y, %i"), (3, 2, 2),
         lambda t, F, a: a.topk(2, 1).values),
    Case("gather_elements", [(3, 4)],
         "  %i = graph.constant dense<[[0, 3, 3], [-1, 2, 2]]> : tensor<2x3xi64>\n"
         + call("GatherElements", ["%a", "%i"], [tensor((3, 4)), "tensor<2x3xi64>"],
                [tensor((2, 3))], "axis = array<i64: 1>"), (2, 3),
         lambda t, F, a: a[:2].gather(1, t.tensor([[0, 3, 3], [3, 2, 2]]))),
    *scatters(),
    Case("scatter_points", [(3, 4), (2,)],
         "  %i = graph.constant dense<[[0, -1], [2, 1]]> : tensor<2x2xi64>\n"
         + call("ScatterND", ["%a", "%i", "%b"], [tensor((3, 4)), "tensor<2x2xi64>", tensor((2,))],
                [tensor((3, 4))]), (3, 4),
         lambda t, F, a, b: a.index_put((t.tensor([0, 2]), t.tensor([3, 1])), b)),
]


MOVEMENT = [
    one("reshape", "reshape", [(2, 3, 4)], (4, 6), "", lambda t, F, a: a.reshape(4, 6)),
    one("transpose", "transpose", [(2, 3, 4)], (4, 2, 3), f"permutation = {ints(2, 0, 1)}",
        lambda t, F, a: a.permute(2, 0, 1)),
    one("expand", "expand", [(3, 1)], (2, 3, 4), "", lambda t, F, a: a.expand(2, 3, 4)),
    one("tile", "tile", [(2, 3)], (4, 9), f"repeats = {ints(2, 3)}",
        lambda t, F, a: a.repeat(2, 3)),
    one("cumulative_sum", "cumulative_sum", [(2, 3, 4)], (2, 3, 4),
        "axis = 1 : i64, exclusive = true", lambda t, F, a: a.cumsum(1) - a),
    one("concat", "concat", [(2, 3), (2, 2)], (2, 5), "axis = 1 : i64",
        lambda t, F, a, b: t.cat([a, b], 1)),
    one("slice", "slice", [(5, 8)], (2, 3), f"starts = {ints(1, 1)}, sizes = {ints(2, 3)}, "
        f"steps = {ints(2, 2)}", lambda t, F, a: a[1:5:2, 1:7:2]),
    one("slice", "slice_reversed", [(5, 8)], (3, 3), f"starts = {ints(4, 7)}, "
        f"sizes = {ints(3, 3)}, steps = {ints(-1, -3)}",
        lambda t, F, a: a.flip(0, 1)[:3, 0:7:3]),
    one("pad", "pad", [(3, 4)], (6, 4), f"low = {ints(1, 1)}, high = {ints(2, -1)}, "
        "mode = #graph<pad_mode constant>, value = 1.5",
        lambda t, F, a: F.pad(a, (1, -1, 1, 2), value=1.5)),
    *(one("pad", "pad_" + mode, [(1, 2, 3, 4)], (1, 2, 6, 6), f"low = {ints(0, 0, 1, 2)}, "
          f"high = {ints(0, 0, 2, 0)}, mode = #graph<pad_mode {mode}>",
          lambda t, F, a, m=torch: F.pad(a, (2, 0, 1, 2), mode=m))
      for mode, torch in (("edge", "replicate"), ("reflect", "reflect"), ("wrap", "circular"))),
    one("depth_to_space", "depth_to_space_crd", [(1, 8, 2, 3)], (1, 2, 4, 6),
        "block = 2 : i64, order = #graph<depth_order crd>", lambda t, F, a: F.pixel_shuffle(a, 2)),
    one("depth_to_space", "depth_to_space_dcr", [(1, 8, 2, 3)], (1, 2, 4, 6),
        "block = 2 : i64, order = #graph<depth_order dcr>",
        lambda t, F, a: a.reshape(1, 2, 2, 2, 2, 3).permute(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)),
    one("space_to_depth", "space_to_depth", [(1, 2, 4, 6)], (1, 8, 2, 3), "block = 2 : i64",
        lambda t, F, a: a.reshape(1, 2, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3)),
    one("resize", "resize_nearest", [(1, 2, 3, 4)], (1, 2, 6, 8), "scales = array<f64: 1.0, 1.0, "
        "2.0, 2.0>, mode = #graph<resize_mode nearest>, coordinates = #graph<coordinate_mode "
        "asymmetric>, nearest = #graph<nearest_mode floor>",
        lambda t, F, a: F.interpolate(a, scale_factor=2, mode="nearest")),
    one("resize", "resize_linear", [(1, 2, 3, 4)], (1, 2, 6, 10), "scales = array<f64: 1.0, 1.0, "
        "2.0, 2.5>, mode = #graph<resize_mode linear>, coordinates = #graph<coordinate_mode "
        "half_pixel>, nearest = #graph<nearest_mode floor>",
        lambda t, F, a: F.interpolate(a, size=(6, 10), mode="bilinear", align_corners=False)),
    one("resize", "resize_cubic", [(1, 1, 4, 4)], (1, 1, 7, 7), "scales = array<f64: 1.0, 1.0, "
        "1.75, 1.75>, mode = #graph<resize_mode cubic>, coordinates = #graph<coordinate_mode "
        "align_corners>, nearest = #graph<nearest_mode floor>",
        lambda t, F, a: F.interpolate(a, size=(7, 7), mode="bicubic", align_corners=True)),
    Case("gather", [(2, 5, 3)],
         "  %i = graph.constant dense<[[0, 3, 3], [-1, 2, 0]]> : tensor<2x3xi64>\n"
         + op("gather", ["%a", "%i"], [tensor((2, 5, 3)), "tensor<2x3xi64>"],
              tensor((2, 2, 3, 3)), "axis = 1 : i64"), (2, 2, 3, 3),
         lambda t, F, a: a[:, t.tensor([[0, 3, 3], [4, 2, 0]])]),
    Case("where", [(2, 3), (3,)],
         op("compare", ["%a", "%b"], [tensor((2, 3)), tensor((3,))], "tensor<2x3xi1>",
            "predicate = #graph<compare_predicate gt>", "%c") + "\n"
         + op("where", ["%c", "%a", "%b"], ["tensor<2x3xi1>", tensor((2, 3)), tensor((3,))],
              tensor((2, 3))), (2, 3), lambda t, F, a, b: t.where(a > b, a, b)),
    Case("cast", [(2, 3)],
         op("cast", ["%a"], [tensor((2, 3))], "tensor<2x3xf16>", to="%h") + "\n"
         + op("cast", ["%h"], ["tensor<2x3xf16>"], tensor((2, 3))), (2, 3),
         lambda t, F, a: a.half().float()),
    Case("batch_norm", [(2, 3, 4, 4), (3,), (3,), (3,), (3,)],
         "  %y = graph.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0e-3} : (tensor<2x3x4x4xf32>, "
         "tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>",
         (2, 3, 4, 4),
         lambda t, F, a, b, c, d, e: (a - d.view(3, 1, 1)) * t.rsqrt(e + 1e-3).view(3, 1, 1)
         * b.view(3, 1, 1) + c.view(3, 1, 1), .3, 1.5),
    Case("conv_fused", [(1, 2, 4, 4), (3, 2, 1, 1), (3,), (1, 3, 4, 4)],
         "  %y = graph.conv %a, %b bias %c residual %d {strides = array<i64: 1, 1>, pads = "
         "array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, activation = "
         "#graph.activation<silu>, residual_last} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, "
         "tensor<3xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>", (1, 3, 4, 4),
         lambda t, F, a, b, c, d: F.silu(F.conv2d(a, b, c)) + d),
]


def random_case(seed):
    """20 random ops on values of shape [2, 3, 4], each of which reads any earlier values."""
    rng = random.Random(seed)
    shape, square = (2, 3, 4), (4, 4)
    type_, matrix = tensor(shape), tensor(square)
    values, lines, steps = ["%a", "%b", "%c"], [], []
    unary_ops = {"tanh": lambda t, F, x: t.tanh(x), "sigmoid": lambda t, F, x: t.sigmoid(x),
                 "gelu": lambda t, F, x: F.gelu(x), "softplus": lambda t, F, x: F.softplus(x),
                 "sin": lambda t, F, x: t.sin(x), "silu": lambda t, F, x: F.silu(x),
                 "erf": lambda t, F, x: t.erf(x), "atan": lambda t, F, x: t.atan(x)}
    binary_ops = {"add": lambda t, F, x, y: x + y, "sub": lambda t, F, x, y: x - y,
                  "mul": lambda t, F, x, y: x * y, "max": lambda t, F, x, y: t.maximum(x, y),
                  "min": lambda t, F, x, y: t.minimum(x, y)}
    for number in range(20):
        to = "%y" if number == 19 else f"%v{number}"
        # The last op reads the one before, so that most of the graph counts.
        first = values[-1] if number == 19 or rng.random() < 0.5 else rng.choice(values)
        second = rng.choice(values)
        kind = rng.choice(["unary", "unary", "binary", "binary", "softmax", "matmul", "norm",
                           "turn", "halves"])
        if kind == "unary":
            name = rng.choice(sorted(unary_ops))
            lines.append(op(name, [first], [type_], type_, to=to))
            steps.append((to, unary_ops[name], (first,)))
        elif kind == "binary":
            name = rng.choice(sorted(binary_ops))
            lines.append(op(name, [first, second], [type_, type_], type_, to=to))
            steps.append((to, binary_ops[name], (first, second)))
        elif kind == "softmax":
            axis = rng.randrange(3)
            lines.append(op("softmax", [first], [type_], type_, f"axis = {axis} : i64", to))
            steps.append((to, lambda t, F, x, d=axis: F.softmax(x, d), (first,)))
        elif kind == "matmul":
            lines.append(op("matmul", [first, "%d"], [type_, matrix], type_, to=to))
            steps.append((to, lambda t, F, x, w: x @ w, (first, "%d")))
        elif kind == "norm":
            mean = tensor((2, 3, 1))
            lines.append(op("reduce", [first], [type_], mean, "kind = #graph<reduce_kind mean>, "
                            f"axes = {ints(2)}, keepdims = true", f"%m{number}"))
            lines.append(op("sub", [first, f"%m{number}"], [type_, mean], type_, to=to))
            steps.append((to, lambda t, F, x: x - x.mean(2, keepdim=True), (first,)))
        elif kind == "turn":
            flat = tensor((4, 6))
            lines.append(op("reshape", [first], [type_], flat, to=f"%f{number}"))
            lines.append(op("transpose", [f"%f{number}"], [flat], tensor((6, 4)),
                            f"permutation = {ints(1, 0)}", f"%t{number}"))
            lines.append(op("reshape", [f"%t{number}"], [tensor((6, 4))], type_, to=to))
            steps.append((to, lambda t, F, x: x.reshape(4, 6).T.reshape(2, 3, 4), (first,)))
        else:
            half = tensor((2, 3, 2))
            for index in range(2):
                lines.append(op("slice", [first], [type_], half, f"starts = {ints(0, 0, 2 * index)},"
                                f" sizes = {ints(2, 3, 2)}, steps = {ints(1, 1, 1)}",
                                f"%h{number}_{index}"))
            lines.append(op("concat", [f"%h{number}_1", f"%h{number}_0"], [half, half], type_,
                            "axis = 2 : i64", to))
            steps.append((to, lambda t, F, x: t.cat([x[..., 2:], x[..., :2]], 2), (first,)))
        values.append(to)

    def formula(t, F, a, b, c, d):
        known = {"%a": a, "%b": b, "%c": c, "%d": d}
        for to, function, operands in steps:
            known[to] = function(t, F, *(known[each] for each in operands))
        return known["%y"]
    return Case(f"random_{seed}", [shape, shape, shape, square], "\n".join(lines), shape, formula,
                -1.0, 1.0)


CASES = [*UNARY, *BINARY, *reductions(), *products(), *WINDOWS, *pools(), *MOVEMENT,
         *space_pools(), *INDEXED]
RANDOM = [random_case(seed) for seed in range(40)]
