#===-- test_quantized_operators.py - quantized operators of com.microsoft ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""With fixed shapes the operators that quantizers write are generated code on every target; with open
dims they are host kernels, which are the reference here.

Needs numpy, onnx and pytest.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, host_calls, tool  # noqa: E402


RNG = np.random.default_rng(11)
KINDS = {"u1": TensorProto.UINT8, "i1": TensorProto.INT8, "f4": TensorProto.FLOAT}
MICROSOFT = dict(domain="com.microsoft")


class Net:
    """Nodes and their constants; tensors have names."""

    def __init__(self, dtype):
        self.dtype, self.nodes, self.constants = dtype, [], {}

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def scale(self, scale, zero):
        return [self.constant(np.float32(scale)), self.constant(np.array(zero, self.dtype))]

    def node(self, op, inputs, output, **attributes):
        domain = {} if op in ("QLinearConv", "QLinearMatMul") else MICROSOFT
        self.nodes.append(helper.make_node(op, inputs, [output], output, **domain, **attributes))
        return output

    def bytes(self, *shape):
        low = 0 if self.dtype == "u1" else -128
        return RNG.integers(low, low + 256, shape).astype(self.dtype)

    def write(self, path, inputs, outputs, dynamic):
        graph = helper.make_graph(
            self.nodes, "g",
            [helper.make_tensor_value_info(name, KINDS[self.dtype],
                                           [f"{name}{i}" for i in range(len(shape))]
                                           if dynamic else shape)
             for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, KINDS[kind], None)
             for name, kind in outputs.items()],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8),
            path)


def operators(dtype):
    """Each of the operators, on images `x` and `r` and on rows `m`; and the outputs."""
    net = Net(dtype)
    zero = 120 if dtype == "u1" else -9
    x, r, m = (["x", *net.scale(0.03, zero)], ["r", *net.scale(0.04, zero + 5)],
               ["m", *net.scale(0.05, zero)])
    to = lambda scale, offset=0: net.scale(scale, zero + offset)  # noqa: E731
    net.node("QLinearAdd", x + r + to(0.05), "sum")
    net.node("QLinearMul", x + r + to(0.09, 3), "product")
    net.node("QLinearSigmoid", x + to(1 / 256, -zero if dtype == "u1" else -119), "sigmoid")
    net.node("QLinearLeakyRelu", x + to(0.03, 2), "leaky", alpha=0.25)
    net.node("QLinearConcat", to(0.05) + x + ["x", *net.scale(0.06, zero - 4)], "joined", axis=1)
    net.node("QLinearAveragePool", x + to(0.02), "mean", kernel_shape=[3, 3], strides=[2, 2],
             pads=[1, 1, 1, 1], ceil_mode=1)
    net.node("QLinearAveragePool", x + to(0.02), "mean_last", kernel_shape=[2, 3],
             channels_last=1, count_include_pad=1, pads=[0, 1, 0, 1])
    net.node("QLinearAveragePool", x + to(0.02), "mean_ceil", kernel_shape=[2, 3], strides=[2, 3],
             pads=[0, 1, 1, 0], ceil_mode=1, count_include_pad=1)
    net.node("QLinearGlobalAveragePool", x + to(0.01), "whole")
    net.node("QLinearGlobalAveragePool", x + to(0.0101), "whole_last", channels_last=1)
    net.node("QLinearSoftmax", x + to(1 / 256), "softmax", axis=1, opset=17)
    net.node("QLinearSoftmax", x + to(1 / 256), "softmax_flat", axis=2, opset=11)
    net.node("NhwcMaxPool", ["x"], "most", kernel_shape=[2, 2], strides=[2, 1])
    weights = [net.constant(net.bytes(12, 7)), net.constant(RNG.random(7).astype("f4") * 0.02),
               net.constant(net.bytes(7))]
    bias = net.constant(RNG.integers(-2000, 2000, 7).astype("i4"))
    net.node("QGemm", m + weights + [bias] + to(0.4), "layer")
    net.node("QGemm", m + [net.constant(net.bytes(5, 12)), *net.scale(0.01, zero)],
             "layer_real", transB=1)
    names = [node.output[0] for node in net.nodes]
    kinds = {name: "f4" if name == "layer_real" else dtype for name in names}
    return net, {"x": (2, 4, 6, 5), "r": (2, 4, 1, 5), "m": (3, 12)}, kinds


def run(path, folder, feeds):
    om = compile_model(path, folder)
    session = Session(RUNTIME, om, threads=1)
    got = session.run_values(feeds)
    session.close()
    return om, got


def compare(got, want, steps=1):
    """A step at most, as sums of floats are rounded in another order."""
    for name, value in want.items():
        assert got[name].dtype == value.dtype and got[name].shape == value.shape, name
        if value.dtype == np.float32:
            np.testing.assert_allclose(got[name], value, rtol=1e-4, atol=1e-4, err_msg=name)
        else:
            difference = np.abs(got[name].astype(int) - value.astype(int))
            assert difference.max() <= steps and np.mean(difference == 0) > 0.7, name
            assert len(np.unique(value)) > 3, f"{name} says little"


@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_fixed_shapes_are_generated_code(dtype, tmp_path):
    net, shapes, kinds = operators(dtype)
    net.write(tmp_path / "open.onnx", shapes, kinds, dynamic=True)
    net.write(tmp_path / "fixed.onnx", shapes, kinds, dynamic=False)
    feeds = {name: net.bytes(*shape) for name, shape in shapes.items()}
    om, want = run(tmp_path / "open.onnx", tmp_path, feeds)
    assert {"QLinearAdd", "QLinearConcat", "QGemm", "NhwcMaxPool"} <= host_calls(om)
    om, got = run(tmp_path / "fixed.onnx", tmp_path, feeds)
    code, out, err = call(tool("om-dump"), om)
    assert code == 0 and "QLinear" not in out and "QGemm" not in out, out + err
    compare(got, want)


@pytest.mark.parametrize("columns", [17, 33])
def test_one_column_behind_whole_vectors(columns, tmp_path):
    """The last column was stored as four bytes, over the first columns of the next row."""
    net = Net("u1")
    weights = [net.constant(net.bytes(12, columns)), *net.scale(0.02, 125)]
    for op in ("QLinearMatMul", "QGemm"):
        more = [""] if op == "QGemm" else []
        net.node(op, ["m", *net.scale(0.05, 120)] + weights + more + net.scale(0.8, 128), op)
    shapes, kinds = {"m": (9, 12)}, {"QLinearMatMul": "u1", "QGemm": "u1"}
    net.write(tmp_path / "open.onnx", shapes, kinds, dynamic=True)
    net.write(tmp_path / "fixed.onnx", shapes, kinds, dynamic=False)
    feeds = {"m": net.bytes(9, 12)}
    _, want = run(tmp_path / "open.onnx", tmp_path, feeds)
    _, got = run(tmp_path / "fixed.onnx", tmp_path, feeds)
    compare(got, want)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("soc", npu.SOCS)
def test_network_on_the_npu(soc, dtype, tmp_path):
    """Convolutions whose quantized results are added, pooled, multiplied and classified."""
    net = Net(dtype)
    zero = 120 if dtype == "u1" else -9
    x = ["x", *net.scale(0.03, zero)]
    filters = [net.constant(net.bytes(16, 3, 3, 3)), *net.scale(0.01, zero)]
    biases = net.constant(RNG.integers(-500, 500, 16).astype("i4"))
    one, two, three = (net.scale(scale, zero) for scale in (0.2, 0.2, 0.25))
    net.node("QLinearConv", x + filters + one + [biases], "a", pads=[1, 1, 1, 1])
    points = [net.constant(net.bytes(16, 16, 1, 1)), *net.scale(0.004, zero)]
    net.node("QLinearConv", ["a", *one] + points + two, "b")
    net.node("QLinearAdd", ["a", *one, "b", *two, *three], "c")
    net.node("QLinearGlobalAveragePool", ["c", *three, *net.scale(0.1, zero)], "d")
    net.node("QLinearMatMul", ["c", *three, "b", *two, *net.scale(20, zero)], "e")
    weights = [net.constant(net.bytes(32, 24)), *net.scale(0.01, 3)]
    net.node("QGemm", ["m", *net.scale(0.05, zero)] + weights + [""] + net.scale(0.3, zero), "f")
    net.write(tmp_path / "net.onnx", {"x": (1, 3, 8, 8), "m": (9, 32)},
              {name: dtype for name in "def"}, dynamic=False)
    feeds = {"x": net.bytes(1, 3, 8, 8), "m": net.bytes(9, 32)}
    _, want = run(tmp_path / "net.onnx", tmp_path, feeds)
    summary = tmp_path / "summary.json"
    om = npu.build(tmp_path / "net.onnx", tmp_path, soc, [f"--json={summary}"])
    assert json.loads(summary.read_text())["placement"]["cpu"]["kernels"] == 0
    got, _ = npu.run_npu(om, feeds)
    compare(got, want, steps=2)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_border_of_an_image_with_sign(soc, tmp_path):
    """Around an image there is its zero point, which was taken for a number without sign."""
    net = Net("i1")
    filters = [net.constant(net.bytes(16, 3, 3, 3)), *net.scale(0.01, 0)]
    net.node("QLinearConv", ["x", *net.scale(0.02, -40)] + filters + net.scale(0.2, -10), "y",
             pads=[1, 1, 1, 1])
    net.write(tmp_path / "net.onnx", {"x": (1, 3, 16, 16)}, {"y": "i1"}, dynamic=False)
    feeds = {"x": net.bytes(1, 3, 16, 16)}
    _, want = run(tmp_path / "net.onnx", tmp_path, feeds)
    got, _ = npu.run_npu(npu.build(tmp_path / "net.onnx", tmp_path, soc), feeds)
    compare(got, want)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_weights_behind_a_host_kernel(soc, tmp_path):
    """A layer behind an operator of the host has its weights as constants."""
    net = Net("u1")
    x = ["x", *net.scale(0.03, 120)]
    filters = [net.constant(net.bytes(16, 3, 3, 3)), *net.scale(0.01, 128)]
    one = net.scale(0.2, 0)
    net.node("QLinearConv", x + filters + one, "a", pads=[1, 1, 1, 1])
    net.nodes.append(helper.make_node("Compress", ["a", net.constant(np.ones(16, bool))], ["k"],
                                      "k", axis=1))
    net.nodes.append(helper.make_node("Reshape", ["k", net.constant([1, 16, 8, 8])], ["f"], "f"))
    points = [net.constant(net.bytes(16, 16, 1, 1)), *net.scale(0.004, 127)]
    net.node("QLinearConv", ["f", *one] + points + net.scale(0.2, 110), "b")
    net.write(tmp_path / "net.onnx", {"x": (1, 3, 8, 8)}, {"b": "u1"}, dynamic=False)
    feeds = {"x": net.bytes(1, 3, 8, 8)}
    _, want = run(tmp_path / "net.onnx", tmp_path, feeds)
    om = npu.build(tmp_path / "net.onnx", tmp_path, soc)
    np.save(tmp_path / "x.npy", feeds["x"])
    code, out, err = call(tool("om-run"), om, "--input", tmp_path / "x.npy", "--output",
                          tmp_path / "out")
    assert code == 0, out + err
    compare({"b": np.load(tmp_path / "out/b.npy")}, want)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_resized_integers(dtype, tmp_path):
    """Quantizers leave a Resize on the integers as it is; what is between integers is cut off."""
    net = Net(dtype)
    net.nodes.append(helper.make_node("Resize", ["x", "", net.constant(np.float32([1, 1, 2, 4]))],
                                      ["y"], "y", mode="linear"))
    feeds = {"x": net.bytes(1, 3, 5, 6)}
    results = []
    for dynamic in (True, False):
        net.write(tmp_path / "net.onnx", {"x": (1, 3, 5, 6)}, {"y": dtype}, dynamic)
        results.append(run(tmp_path / "net.onnx", tmp_path, feeds)[1])
    np.testing.assert_array_equal(results[1]["y"], results[0]["y"])
    # Behind half of the first element come three eighths on the way to the next one, then five.
    first, second = feeds["x"][0, 0, 0, :2].astype("f8")
    row = [first, first, *(first + (second - first) * np.array([1, 3, 5, 7]) / 8)]
    np.testing.assert_array_equal(results[1]["y"][0, 0, 0, :6], np.trunc(row))


def between(values, rows, columns):
    """Linear interpolation as ONNX Runtime computes it: in f32, corner by corner, cut off."""
    def along(size, scale):
        at = (np.arange(np.floor(size * scale), dtype="f4") + np.float32(0.5)) / scale - np.float32(0.5)
        at = np.clip(at, 0, size - 1).astype("f4")
        low = at.astype("i8")
        high = np.minimum(low + 1, size - 1)
        half = np.float32(0.5)
        return (low, np.where(low == high, half, high.astype("f4") - at)), (
            high, np.where(low == high, half, at - low.astype("f4")))

    total = np.float32(0)
    for row, vertical in along(values.shape[2], np.float32(rows)):
        for column, horizontal in along(values.shape[3], np.float32(columns)):
            weights = horizontal[None, :] * vertical[:, None]
            total = total + weights * values[:, :, row][..., column].astype("f4")
    return np.trunc(total).astype(values.dtype)


def test_resized_integers_of_other_scales(tmp_path):
    """Each rounding of a sum counts where it is cut off."""
    net = Net("u1")
    net.nodes.append(helper.make_node("Resize", ["x", "", net.constant(np.float32([1, 1, 1.5, 3]))],
                                      ["y"], "y", mode="linear"))
    feeds = {"x": net.bytes(1, 2, 9, 11)}
    want = between(feeds["x"], 1.5, 3)
    for dynamic in (True, False):
        net.write(tmp_path / "net.onnx", {"x": (1, 2, 9, 11)}, {"y": "u1"}, dynamic)
        np.testing.assert_array_equal(run(tmp_path / "net.onnx", tmp_path, feeds)[1]["y"], want)


def test_real_type_that_is_asked_for(tmp_path):
    """`output_dtype` of DequantizeLinear, not the type of the scale."""
    net = Net("u1")
    net.nodes.append(helper.make_node("DequantizeLinear", ["x", net.constant(np.float32(0.1))],
                                      ["y"], "y", output_dtype=TensorProto.FLOAT16))
    value = helper.make_tensor_value_info
    feeds = {"x": net.bytes(3, 5)}
    for shape in ((3, 5), ("n", 5)):
        graph = helper.make_graph(net.nodes, "g", [value("x", TensorProto.UINT8, shape)],
                                  [value("y", TensorProto.FLOAT16, shape)],
                                  [numpy_helper.from_array(v, k) for k, v in net.constants.items()])
        path = tmp_path / "net.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)],
                                    ir_version=11), str(path))
        got = run(path, tmp_path, feeds)[1]["y"]
        np.testing.assert_array_equal(got, (feeds["x"] * np.float32(0.1)).astype("f2"))
        assert got.dtype == np.float16


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("dtype", ["i2", "u2"])
def test_integers_of_16_bits_between_convolutions(soc, dtype, tmp_path):
    """The vector queue has no code for them, so that no convolution takes them in: asking what the
    code would cost crashed the compiler."""
    x = RNG.standard_normal((1, 16, 5, 6)).astype("f4")
    first, second = (RNG.standard_normal((16, 16, 1, 1)).astype("f4") * 0.2 for _ in range(2))
    scale, zero = np.float32(0.0003), np.array(30000 if dtype == "u2" else 3, dtype)
    nodes = [helper.make_node("Conv", ["x", "first"], ["a"]),
             helper.make_node("QuantizeLinear", ["a", "scale", "zero"], ["q"]),
             helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["b"]),
             helper.make_node("Conv", ["b", "second"], ["y"])]
    constants = {"first": first, "second": second, "scale": scale, "zero": zero}
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), str(path))
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5", f"--output={tmp_path}/m",
                          f"--soc_version={soc}")
    assert code == 0, out + err
    got, _ = npu.run_npu(tmp_path / "m.om", {"x": x})
    limits = np.iinfo(dtype)
    between = np.einsum("oi,nihw->nohw", first[..., 0, 0], x)
    whole = np.clip(np.round(between / scale) + zero, limits.min, limits.max)
    expected = np.einsum("oi,nihw->nohw", second[..., 0, 0], (whole - zero) * scale)
    np.testing.assert_allclose(got["y"], expected, atol=0.01 * np.ptp(expected))


@pytest.mark.parametrize("dynamic", [False, True])
def test_quotients_in_the_middle_of_two_integers(dynamic, tmp_path):
    """Scales are multiplied by as the sum of two floats, which is to round as a division does."""
    scales = np.float32([0.1, 0.5, 0.75, 1 / 3, 0.0235, 1.0000001, 0.99999994, 7.3, 1e-30])
    zeros = np.array([0, 3, 255, 128, 7, 0, 1, 128, 9], "u1")
    middle = (np.arange(-260, 260) + 0.5).astype("f4")[:, None] * scales
    x = np.stack([middle, np.nextafter(middle, np.float32(1e38)),
                  np.nextafter(middle, np.float32(-1e38))])
    x[:, 0], x[:, 1], x[:, 2] = np.inf, -np.inf, np.nan
    nodes, constants = [], []
    for i, pair in enumerate(zip(scales, zeros)):
        constants += [numpy_helper.from_array(np.asarray(value), f"{name}{i}")
                      for name, value in zip("sz", pair)]
        nodes.append(helper.make_node("QuantizeLinear", [f"x{i}", f"s{i}", f"z{i}"], [f"y{i}"]))
    shape = ["n", "m"] if dynamic else x.shape[:2]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape)
                     for i in range(len(scales))],
        [helper.make_tensor_value_info(f"y{i}", TensorProto.UINT8, None)
         for i in range(len(scales))], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              tmp_path / "net.onnx")
    _, got = run(tmp_path / "net.onnx", tmp_path,
                 {f"x{i}": np.ascontiguousarray(x[:, :, i]) for i in range(len(scales))})
    with np.errstate(over="ignore"):
        numbers = np.where(np.isnan(x), -np.inf, x)  # NaN becomes the minimum
        want = np.clip(np.rint(numbers / scales) + zeros.astype("f4"), 0, 255).astype("u1")
    for i in range(len(scales)):
        assert (got[f"y{i}"] == want[:, :, i]).all(), scales[i]


def transposed(x, w, groups, strides, pads):
    """The sums of a transposed convolution of integers: each element adds its window."""
    last = [(size - 1) * stride + kernel for size, stride, kernel
            in zip(x.shape[2:], strides, w.shape[2:])]
    outputs = w.shape[1]
    sums = np.zeros((len(x), groups * outputs, *last), "i8")
    for group, (part, weights) in enumerate(zip(np.split(x.astype("i8"), groups, 1),
                                                np.split(w.astype("i8"), groups, 0))):
        to = sums[:, group * outputs:(group + 1) * outputs]
        for row, column in np.ndindex(*x.shape[2:]):
            top, left = row * strides[0], column * strides[1]
            to[:, :, top:top + w.shape[2], left:left + w.shape[3]] += np.einsum(
                "nc,cmhw->nmhw", part[:, :, row, column], weights)
    return sums[:, :, pads[0]:last[0] - pads[2], pads[1]:last[1] - pads[3]]


@pytest.mark.parametrize("level", ["host", "x86-64-v2"])
def test_transposed_convolutions(level, tmp_path):
    """Between integers they are sums of integers and one factor, with a scale per channel or not."""
    net, want = Net("u1"), {}
    x, scale, zero = net.bytes(2, 8, 5, 6), np.float32(0.03), 117
    net.nodes.append(helper.make_node("DequantizeLinear", ["x", *net.scale(scale, zero)], ["r"]))
    for name, outputs, groups, kernel, strides, pads, per_channel, relu in [
            ("phases", 6, 1, (4, 4), (2, 2), (1, 1, 1, 1), True, True),
            ("groups", 3, 2, (2, 2), (2, 2), (0, 0, 0, 0), True, False),
            ("uneven", 5, 1, (3, 2), (3, 1), (1, 0, 0, 1), False, False)]:
        w = RNG.integers(-127, 128, (8, outputs, *kernel)).astype("i1")
        scales = np.float32(RNG.random(outputs) * 0.01 + 0.002) if per_channel else np.float32(0.007)
        bias = RNG.integers(-9000, 9000, groups * outputs).astype("i4")
        units = (np.tile(scales, groups) if per_channel else scales) * scale
        for value, scaled, axis in (w, scales, 1), (bias, units, 0):
            of = [net.constant(value), net.constant(scaled),
                  net.constant(np.zeros_like(scaled, value.dtype))]
            net.nodes.append(helper.make_node("DequantizeLinear", of, [of[0] + "r"], axis=axis))
        weights, biases = (node.output[0] for node in net.nodes[-2:])
        net.nodes.append(helper.make_node("ConvTranspose", ["r", weights, biases], [name + "c"],
                                          strides=strides, pads=pads, group=groups))
        if relu:
            net.nodes.append(helper.make_node("Relu", [name + "c"], [name + "r"]))
        step, offset = np.float32(0.15), 0 if relu else 120
        net.nodes.append(helper.make_node("QuantizeLinear", [net.nodes[-1].output[0],
                                                             *net.scale(step, offset)], [name]))
        sums = transposed(x.astype("i4") - zero, w, groups, strides, pads)
        factors = np.float64(scale) * (np.tile(scales, groups) if per_channel else
                                       np.full(outputs * groups, scales)).astype("f8")
        real = np.float32(sums + bias[:, None, None]) * np.float32(
            factors / np.float64(step))[:, None, None]
        want[name] = np.clip(np.rint(real) + offset, 0, 255).astype("u1")
    net.write(tmp_path / "net.onnx", {"x": x.shape}, dict.fromkeys(want, "u1"), dynamic=False)
    om = compile_model(tmp_path / "net.onnx", tmp_path, f"--target_cpu={level}")
    code, out, err = call(tool("om-dump"), om, "--json")
    assert code == 0, err
    kernels = json.loads(out)["kernels"]
    assert not any(name.startswith("conv2d") for name in kernels), kernels
    session = Session(RUNTIME, om, threads=1)
    got = session.run_values({"x": x})
    session.close()
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)
        assert len(np.unique(value)) > 9, name
