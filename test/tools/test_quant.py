#===-- test_quant.py - quantized operators, integer by integer --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators on quantized tensors, compiled for two levels and interpreted: every integer is that of
a reference in numpy, which follows docs/rationale/quant.md."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, tool  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

LEVELS = ["x86-64-v2", "x86-64-v3", "interpreter"]
TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.int32: TensorProto.INT32,
         np.float32: TensorProto.FLOAT}


def save(path, nodes, inputs, outputs, constants):
    """A model file; `inputs` and `outputs` are name, type, shape."""
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, TYPES[kind], shape)
    graph = helper.make_graph(nodes, "graph", [value(*i) for i in inputs],
                              [value(*o) for o in outputs],
                              [numpy_helper.from_array(np.asarray(v), k)
                               for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


def interpret(model, folder, feeds, outputs):
    """What the reference interpreter says."""
    arguments = []
    for index, feed in enumerate(feeds):
        np.save(folder / f"feed{index}.npy", feed)
        arguments.append(str(folder / f"feed{index}.npy"))
    code, _, err = call(tool("atc-translate"), "--interpret", model, "--input",
                        ",".join(arguments), "--dump", folder / "reference")
    assert code == 0, err
    return [np.load(folder / "reference" / f"{name}.npy") for name in outputs]


def run(model, folder, feeds, level):
    if level == "interpreter":
        return interpret(model, folder, feeds,
                         [output.name for output in onnx.load(str(model)).graph.output])
    om = compile_model(model, folder, f"--target_cpu={level}")
    session = Session(RUNTIME, om)
    for (_, array), feed in zip(session.inputs, feeds, strict=True):
        array[...] = feed
    session.run()
    results = [array.copy() for _, array in session.outputs]
    session.close()
    om.unlink()
    return results


def conv_sums(x, w, zero, w_zeros, strides, pads, dilations, groups):
    """Exact sums of (x - zero) * (w - its zero); padding is zero."""
    x = x.astype(np.int64) - zero
    w = w.astype(np.int64) - np.asarray(w_zeros, np.int64).reshape(-1, 1, 1, 1)
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    outputs, per_group, kh, kw = w.shape
    height = (x.shape[2] - (kh - 1) * dilations[0] - 1) // strides[0] + 1
    width = (x.shape[3] - (kw - 1) * dilations[1] - 1) // strides[1] + 1
    sums = np.zeros((x.shape[0], outputs, height, width), np.int64)
    for m in range(outputs):
        first = m // (outputs // groups) * per_group
        for i in range(kh):
            for j in range(kw):
                y0, x0 = i * dilations[0], j * dilations[1]
                rows = slice(y0, y0 + (height - 1) * strides[0] + 1, strides[0])
                columns = slice(x0, x0 + (width - 1) * strides[1] + 1, strides[1])
                part = x[:, first:first + per_group, rows, columns]
                sums[:, m] += np.einsum("nchw,c->nhw", part, w[m, :, i, j])
    return sums


def requantize(sums, factors, zero, kind, channel_dim=1):
    shape = [1] * sums.ndim
    shape[channel_dim] = -1
    m = np.asarray(factors, np.float64).astype(np.float32).reshape(shape if np.size(factors) > 1
                                                                   else [1] * sums.ndim)
    scaled = np.rint(sums.astype(np.float32) * m) + np.float32(zero)
    return np.clip(scaled, np.iinfo(kind).min, np.iinfo(kind).max).astype(kind)


def integers(rng, kind, shape):
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape, dtype=kind)


# x [N, C, H, W], filters [M, C / groups, KH, KW], strides, pads, dilations, groups
CASES = {
    "first layer": ((1, 3, 17, 19), (20, 3, 7, 7), (2, 2), (3, 3, 3, 3), (1, 1), 1),
    "one channel": ((2, 1, 9, 8), (5, 1, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    "1x1 of three": ((1, 3, 6, 5), (7, 3, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    "3x3": ((1, 24, 14, 13), (40, 24, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    "1x1 stride 2": ((1, 37, 11, 7), (33, 37, 1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 1),
    "asymmetric": ((1, 18, 10, 12), (16, 18, 3, 5), (2, 1), (0, 2, 1, 1), (1, 1), 1),
    "dilated": ((1, 16, 15, 15), (17, 16, 3, 3), (1, 1), (2, 3, 2, 3), (2, 3), 1),
    "groups": ((1, 24, 8, 9), (36, 6, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 4),
    "groups of blocks": ((1, 64, 7, 7), (64, 16, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 4),
    "depthwise": ((1, 35, 12, 11), (35, 1, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 35),
    "depthwise 7x7 stride 2": ((2, 16, 13, 14), (16, 1, 7, 7), (2, 2), (3, 3, 3, 3), (1, 1), 16),
    "one pixel": ((3, 48, 1, 1), (19, 48, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    "3x3 in tiles": ((2, 32, 12, 14), (24, 32, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    "3x3 in tiles, odd rows": ((1, 48, 13, 24), (40, 48, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    "3x3 in tiles, odd": ((1, 32, 29, 27), (16, 32, 3, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kinds", ["u8 by s8", "s8 by s8", "u8 by u8"])
def test_convolutions(tmp_path, level, kinds):
    """All shapes as one model: full-range integers, so that nothing may be cut between."""
    x_kind = np.int8 if kinds.startswith("s8") else np.uint8
    w_kind = np.uint8 if kinds.endswith("u8") else np.int8
    nodes, inputs, outputs, constants, feeds, wanted = [], [], [], {}, [], []
    for index, (x_shape, w_shape, strides, pads, dilations, groups) in enumerate(CASES.values()):
        rng = np.random.default_rng(index)
        x, w = integers(rng, x_kind, x_shape), integers(rng, w_kind, w_shape)
        zero, y_zero = int(integers(rng, x_kind, ())), int(integers(rng, x_kind, ()))
        count = w_shape[0] if index % 2 else 1
        w_zeros = integers(rng, np.uint8, count) if w_kind == np.uint8 else np.zeros(count, np.int8)
        x_scale, y_scale = np.float32(0.043), np.float32(0.37 * np.sqrt(w[0].size))
        w_scales = rng.uniform(0.01, 0.09, count).astype(np.float32)
        bias = rng.integers(-40000, 40000, w_shape[0], dtype=np.int32)
        names = [f"{n}{index}" for n in ("x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b")]
        scalar = (lambda a: a[0]) if count == 1 else (lambda a: a)
        constants.update(zip(names[1:], [
            x_scale, np.asarray(zero, x_kind), w, scalar(w_scales), scalar(w_zeros), y_scale,
            np.asarray(y_zero, x_kind), bias]))
        nodes.append(helper.make_node("QLinearConv", names, [f"y{index}"], strides=strides,
                                      pads=pads, dilations=dilations, group=groups))
        sums = conv_sums(x, w, zero, np.resize(w_zeros, w_shape[0]), strides, pads, dilations,
                         groups)
        sums += bias.reshape(1, -1, 1, 1)
        factors = np.float64(x_scale) * w_scales.astype(np.float64) / np.float64(y_scale)
        wanted.append(requantize(sums, factors, y_zero, x_kind))
        inputs.append((names[0], x_kind, x_shape))
        outputs.append((f"y{index}", x_kind, wanted[-1].shape))
        feeds.append(x)
    model = save(tmp_path / "conv.onnx", nodes, inputs, outputs, constants)
    for name, got, want in zip(CASES, run(model, tmp_path, feeds, level), wanted):
        assert np.ptp(want.astype(int)) > 50, name
        np.testing.assert_array_equal(got, want, err_msg=f"{name}, {kinds}, {level}")


@pytest.mark.parametrize("level", LEVELS)
def test_sums(tmp_path, level):
    """ConvInteger and MatMulInteger give the sums themselves."""
    rng = np.random.default_rng(5)
    x, w = integers(rng, np.uint8, (1, 20, 9, 9)), integers(rng, np.int8, (18, 20, 3, 3))
    a, b = integers(rng, np.int8, (2, 5, 39)), integers(rng, np.uint8, (39, 37))
    b_zeros = integers(rng, np.uint8, 37)
    constants = {"w": w, "xz": np.uint8(77), "b": b, "az": np.int8(-5), "bz": b_zeros}
    nodes = [helper.make_node("ConvInteger", ["x", "w", "xz"], ["y"], pads=[1, 1, 1, 1]),
             helper.make_node("MatMulInteger", ["a", "b", "az", "bz"], ["c"])]
    model = save(tmp_path / "sums.onnx", nodes, [("x", np.uint8, x.shape), ("a", np.int8, a.shape)],
                 [("y", np.int32, (1, 18, 9, 9)), ("c", np.int32, (2, 5, 37))], constants)
    y, c = run(model, tmp_path, [x, a], level)
    np.testing.assert_array_equal(y, conv_sums(x, w, 77, [0], (1, 1), (1, 1, 1, 1), (1, 1), 1))
    np.testing.assert_array_equal(c, (a.astype(int) + 5) @ (b.astype(int) - b_zeros.astype(int)))


@pytest.mark.parametrize("level", LEVELS)
def test_dynamic_zero_points(tmp_path, level):
    """MatMulInteger by a constant matrix, with zero points that depend on the inputs: one, one per
    row; or constant ones per row."""
    rng = np.random.default_rng(6)
    a, b = integers(rng, np.uint8, (2, 5, 39)), integers(rng, np.int8, (39, 37))
    zero, row_zeros = integers(rng, np.uint8, ()), integers(rng, np.uint8, 5)
    b_zeros = integers(rng, np.int8, 37)
    constants = {"b": b, "bz": b_zeros, "z0": np.int8(0), "known": row_zeros}
    nodes = [helper.make_node("MatMulInteger", ["a", "b", "az", "bz"], ["c"]),
             helper.make_node("MatMulInteger", ["a", "b", "rz", "z0"], ["d"]),
             helper.make_node("MatMulInteger", ["a", "b", "known"], ["e"])]
    shape = (2, 5, 37)
    model = save(tmp_path / "sums.onnx", nodes,
                 [("a", np.uint8, a.shape), ("az", np.uint8, ()), ("rz", np.uint8, (5,))],
                 [(name, np.int32, shape) for name in "cde"], constants)
    c, d, e = run(model, tmp_path, [a, zero, row_zeros], level)
    rows = a.astype(int) - row_zeros[:, None].astype(int)
    np.testing.assert_array_equal(c, (a.astype(int) - int(zero)) @ (b.astype(int) - b_zeros))
    np.testing.assert_array_equal(d, rows @ b.astype(int))
    np.testing.assert_array_equal(e, rows @ b.astype(int))


@pytest.mark.parametrize("level", LEVELS)
def test_dynamic_quantization(tmp_path, level):
    """A product as dynamic quantization writes it: one kernel computes all of it but the integers
    of the input."""
    rng = np.random.default_rng(7)
    x, w = rng.standard_normal((9, 70)).astype(np.float32), integers(rng, np.int8, (70, 48))
    bias = rng.standard_normal(48).astype(np.float32)
    constants = {"w": w, "ws": np.float32(0.01), "wz": np.int8(0), "b": bias}
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["i"]),
             helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
             helper.make_node("Mul", ["s", "ws"], ["scale"]),
             helper.make_node("Mul", ["f", "scale"], ["m"]),
             helper.make_node("Add", ["m", "b"], ["y"])]
    model = save(tmp_path / "dynamic.onnx", nodes, [("x", np.float32, x.shape)],
                 [("y", np.float32, (9, 48))], constants)
    scale = (max(x.max(), np.float32(0)) - min(x.min(), np.float32(0))) / np.float32(255)
    zero = np.clip(np.rint(-min(x.min(), np.float32(0)) / scale), 0, 255)
    q = np.clip(np.rint(x / scale) + zero, 0, 255).astype(int) - int(zero)
    want = (q @ w.astype(int)) * np.float64(scale) * 0.01 + bias
    got, = run(model, tmp_path, [x], level)
    np.testing.assert_allclose(got, want, atol=1e-4 * np.ptp(want))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("depth,columns", [(3, 5), (4, 16), (39, 37), (130, 48)])
def test_products(tmp_path, level, depth, columns):
    rng = np.random.default_rng(depth)
    a, b = integers(rng, np.uint8, (7, depth)), integers(rng, np.int8, (depth, columns))
    factor = 0.02 * 0.03 / 1.5
    constants = {"as": np.float32(0.02), "az": np.uint8(131), "b": b, "bs": np.float32(0.03),
                 "bz": np.int8(0), "ys": np.float32(1.5), "yz": np.uint8(120)}
    node = helper.make_node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"])
    model = save(tmp_path / "product.onnx", [node], [("a", np.uint8, a.shape)],
                 [("y", np.uint8, (7, columns))], constants)
    scales = [np.float64(constants[n]) for n in ("as", "bs", "ys")]
    want = requantize((a.astype(int) - 131) @ b.astype(int), scales[0] * scales[1] / scales[2], 120,
                      np.uint8)
    np.testing.assert_array_equal(run(model, tmp_path, [a], level)[0], want)


def qdq(nodes, constants, name, scale, zero, kind=np.uint8):
    """quantize and dequantize of tensor `name`; returns the name of what follows. Integers with a
    sign are 128 less."""
    zero += np.iinfo(kind).min
    constants.update({f"{name}_s": np.float32(scale), f"{name}_z": np.asarray(zero, kind)})
    nodes.append(helper.make_node("QuantizeLinear", [name, f"{name}_s", f"{name}_z"],
                                  [f"{name}_q"]))
    nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"],
                                  [f"{name}_r"]))
    return f"{name}_r"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("batch,height,width", [(1, 12, 12), (2, 14, 18)])
def test_block(tmp_path, level, kind, batch, height, width):
    """A residual block with a pool, as exporters write it: every tensor quantized, and no
    convolution left that computes on floats."""
    rng = np.random.default_rng(11)
    x = rng.standard_normal((batch, 32, height, width)).astype(np.float32)
    nodes, constants = [], {}
    w = integers(rng, np.int8, (32, 32, 3, 3))
    # The interpreter adds up floats: with this scale next to no sum is halfway between integers.
    constants.update(w=w, ws=np.float32(0.0041), wz=np.int8(0))
    nodes.append(helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"]))
    data = qdq(nodes, constants, "x", 0.025, 117, kind)
    nodes.append(helper.make_node("Conv", [data, "wr"], ["c"], pads=[1, 1, 1, 1]))
    nodes.append(helper.make_node("Relu", ["c"], ["a"]))
    main = qdq(nodes, constants, "a", 0.05, 0, kind)
    nodes.append(helper.make_node("Add", [main, data], ["s"]))
    total = qdq(nodes, constants, "s", 0.07, 30, kind)
    nodes.append(helper.make_node("MaxPool", [total], ["p"], kernel_shape=[2, 2], strides=[2, 2]))
    pooled = qdq(nodes, constants, "p", 0.07, 30, kind)
    nodes.append(helper.make_node("Identity", [pooled], ["y"]))
    model = save(tmp_path / "block.onnx", nodes, [("x", np.float32, x.shape)],
                 [("y", np.float32, (batch, 32, height // 2, width // 2))], constants)

    q = np.clip(np.rint(x / np.float32(0.025)) + 117, 0, 255).astype(int)
    sums = conv_sums(q, w, 117, [0], (1, 1), (1, 1, 1, 1), (1, 1), 1)
    scales = [np.float64(np.float32(s)) for s in (0.025, 0.0041, 0.05)]
    a = requantize(sums, scales[0] * scales[1] / scales[2], 0, np.uint8)
    real = (a.astype(np.float32) * np.float32(0.05) +
            (q - 117).astype(np.float32) * np.float32(0.025))
    s = np.clip(np.rint(real * np.float32(1 / np.float64(np.float32(0.07)))) + 30, 0, 255)
    p = s.reshape(batch, 32, height // 2, 2, width // 2, 2).max((3, 5)).astype(np.float32)
    want = (p - 30) * np.float32(0.07)
    got = run(model, tmp_path, [x], level)[0]
    np.testing.assert_array_equal(got, want)

    if level == "interpreter":
        return
    om = compile_model(model, tmp_path, f"--target_cpu={level}")
    code, out, _ = call(tool("om-dump"), om, "--json")
    assert code == 0
    kernels = json.loads(out)["kernels"]
    assert any(kernel.startswith("winograd_conv2d") for kernel in kernels), kernels
    assert not any(kernel.startswith(("conv2d", "depthwise")) for kernel in kernels), kernels


def weights_adding_up(shape, first_total, second_total, rng):
    """Weights of 9 bits, less their zero points, whose magnitudes add up to so much: the first
    output's are positive, the second one's negative, the others' of any sign."""
    w = rng.integers(-255, 256, shape)
    for output, total in ((0, first_total), (1, second_total)):
        each, more = divmod(total, w[0].size)
        row = np.full(w[0].size, each)
        row[:more] += 1
        w[output] = rng.permutation(row).reshape(shape[1:]) * (1 - 2 * output)
    w[2:] = np.where(np.arange(shape[0])[2:, None, None, None] % 2, w[2:] % 101, w[2:] // 3)
    return w


# Sums of weights of one sign that times the largest byte are just below 2^25 (36 places) or 2^29.
LARGEST = {np.uint8: {36: 131586, 16: 2105376}, np.int8: {36: 262143, 16: 4194303}}

# N, C, H, W, sums of the two large outputs (a pair: so many more than the largest for so many
# places) and of how many places tiles are, if any.
TILES = {
    "whole": (1, 32, 12, 16, 40000, 36),
    "odd": (1, 32, 17, 19, 40000, 36),
    "even": (2, 48, 14, 14, 100000, 36),
    "largest": (1, 128, 14, 13, (0, 36), 36),
    "one more": (1, 128, 14, 14, (1, 36), 16),
    "both signs": (1, 128, 14, 14, 140000, 36),
    "cut": (1, 32, 6, 26, 40000, 16),
    "largest of 2x2": (1, 1856, 12, 12, (0, 16), 16),
    "one more than 2x2": (1, 1856, 12, 12, (1, 16), None),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("case", TILES)
def test_tiles(tmp_path, level, kind, case):
    """3x3 convolutions by tiles give the sums themselves, up to the largest that they may have."""
    batch, channels, height, width, total, places = TILES[case]
    if isinstance(total, tuple):
        total = total[0] + LARGEST[kind][total[1]]
    rng = np.random.default_rng(len(case))
    x = integers(rng, kind, (batch, channels, height, width))
    # Windows of the largest bytes, and of the smallest ones.
    x[0, :, :5, :6], x[0, :, -5:, -6:] = np.iinfo(kind).max, np.iinfo(kind).min
    shape, zero = (24, channels, 3, 3), int(integers(rng, kind, ()))
    w = weights_adding_up(shape, total, total, rng)
    w_zeros = np.zeros(24, np.uint8)
    w_zeros[1], w_zeros[2::2] = 255, 85
    if case == "both signs":  # Magnitudes add up to more than products with bytes can.
        w[:2, ::2] *= -1
        w_zeros[:2] = 128
    stored = w + w_zeros.astype(int).reshape(-1, 1, 1, 1)
    assert stored.min() >= 0 and stored.max() <= 255
    node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], pads=[1, 1, 1, 1])
    model = save(tmp_path / "tiles.onnx", [node], [("x", kind, x.shape)],
                 [("y", np.int32, (batch, 24, height, width))],
                 {"w": stored.astype(np.uint8), "xz": np.asarray(zero, kind), "wz": w_zeros})
    want = conv_sums(x, w, zero, [0], (1, 1), (1, 1, 1, 1), (1, 1), 1)
    np.testing.assert_array_equal(run(model, tmp_path, [x], level)[0], want)

    if level == "interpreter":
        return
    code, out, _ = call(tool("om-dump"), compile_model(model, tmp_path, f"--target_cpu={level}"),
                        "--json")
    assert code == 0
    content = json.loads(out)
    assert ("winograd_conv2d" in content["kernels"]) == (places is not None), content["kernels"]
    if places:
        # Two blocks of 16 outputs; beside them there is little.
        size = sum(s["size"] for s in content["segments"] if s["kind"] == "weights")
        assert size // (2 * 16 * channels * 2) == places


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("scales", [(0.0213, 0.0317, 0.0459), (0.02, 0.03, 0.04)],
                         ids=["folded", "ties"])
def test_sums(tmp_path, level, kind, scales):
    """A quantized sum of two tensors is that of the formula in f32, for every pair of bytes."""
    info = np.iinfo(kind)
    values = np.arange(info.min, info.max + 1).astype(kind)
    a, b = (array.reshape(1, 16, 64, 64).copy() for array in np.meshgrid(values, values))
    zeros = np.asarray([info.min + zero for zero in (120, 7, 100)], kind)
    constants = {f"s{i}": np.float32(scale) for i, scale in enumerate(scales)}
    constants |= {f"z{i}": zero for i, zero in enumerate(zeros)}
    names = [name for i, tensor in enumerate(["a", "b"]) for name in (tensor, f"s{i}", f"z{i}")]
    node = helper.make_node("QLinearAdd", [*names, "s2", "z2"], ["y"], domain="com.microsoft")
    model = save(tmp_path / "sums.onnx", [node], [("a", kind, a.shape), ("b", kind, b.shape)],
                 [("y", kind, a.shape)], constants)
    got = run(model, tmp_path, [a, b], level)[0]
    parts = [(x.astype(np.float32) - np.float32(zero)) * np.float32(scale)
             for x, zero, scale in zip((a, b), zeros, scales)]
    total = parts[0] + parts[1]
    scaled = total / np.float32(scales[2])
    want = np.clip(np.rint(scaled) + np.float32(zeros[2]), info.min, info.max).astype(kind)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("level", LEVELS)
def test_moves(tmp_path, level):
    """What only moves elements moves integers: one quantize in front, one dequantize behind."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 20, 6, 5)).astype(np.float32)
    nodes, constants = [], {"r": np.zeros(0, np.float32), "rs": np.float32([1, 1, 2, 2]),
                            "p": np.int64([0, 0, 1, 0, 0, 0, 0, 2]),
                            "b": np.int64([1, 3]), "e": np.int64([9, 11]), "a": np.int64([2, 3])}
    data = qdq(nodes, constants, "x", 0.02, 200)
    steps = [("Resize", [data, "", "rs"], dict(mode="nearest", nearest_mode="floor",
                                              coordinate_transformation_mode="asymmetric")),
             ("Pad", ["m0", "p"], {}), ("Slice", ["m1", "b", "e", "a"], {}),
             ("DepthToSpace", ["m2"], dict(blocksize=2)), ("Concat", ["m3", "m3"], dict(axis=1)),
             ("Transpose", ["m4"], dict(perm=[0, 2, 3, 1]))]
    for index, (kind, inputs, attributes) in enumerate(steps):
        nodes.append(helper.make_node(kind, inputs, [f"m{index}"], **attributes))
    del constants["r"]
    last = qdq(nodes, constants, "m5", 0.02, 200)
    nodes.append(helper.make_node("Identity", [last], ["y"]))
    model = save(tmp_path / "moves.onnx", nodes, [("x", np.float32, x.shape)],
                 [("y", np.float32, (1, 16, 16, 10))], constants)

    q = np.clip(np.rint(x / np.float32(0.02)) + 200, 0, 255).astype(np.int64)
    q = np.pad(q.repeat(2, 2).repeat(2, 3), ((0, 0), (0, 0), (1, 0), (0, 2)), constant_values=200)
    q = q[:, :, 1:9, 3:11].reshape(1, 2, 2, 5, 8, 8).transpose(0, 3, 4, 1, 5, 2)
    q = np.concatenate([q.reshape(1, 5, 16, 16)] * 2, 1).transpose(0, 2, 3, 1)
    want = (q - 200).astype(np.float32) * np.float32(0.02)
    np.testing.assert_array_equal(run(model, tmp_path, [x], level)[0], want)
