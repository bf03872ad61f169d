#===-- test_open_quantized.py - quantized operators with open dims -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks of DequantizeLinear, operators and QuantizeLinear. With open dims they are host
calls on the stored integers, and give what the code for fixed dims gives, but for single steps
where means of windows are rounded differently.

Needs numpy, onnx and pytest.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, compile_model, host_calls  # noqa: E402


# Calls that are fused are one kernel, Map.
EACH_CALL = "--disable_passes=cpu-fuse-element-calls"
FLOAT = {"Conv", "Gemm", "MatMul", "Mul", "Add", "AveragePool", "GlobalAveragePool", "Sigmoid",
         "Softmax", "Relu", "LeakyRelu", "Concat"}


class Net:
    """Nodes one behind the other; the last name is `at`."""

    def __init__(self, dtype="u1"):
        self.rng = np.random.default_rng(7)
        self.nodes, self.constants, self.at, self.dtype = [], [], "x", dtype
        self.quantize(0.05)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        self.at = name
        return self

    def apply(self, op, *more, **attributes):
        return self.node(op, self.at, *more, **attributes)

    def quantize(self, scale, zero=None, stored=False):
        """To integers, and back unless `stored`."""
        middle = 120 if self.dtype == "u1" else -7
        scale = self.constant(np.float32(scale))
        zero = self.constant(np.array(middle if zero is None else zero, self.dtype))
        self.apply("QuantizeLinear", scale, zero)
        return self if stored else self.apply("DequantizeLinear", scale, zero)

    def weights(self, shape, axis=None, dtype="i1"):
        count = shape[axis] if axis is not None else 1
        scale = self.rng.uniform(0.01, 0.03, count).astype("f4")
        limits = np.iinfo(dtype)
        values = self.rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
        zero = np.full(count, 128 if dtype == "u1" else 0, dtype)
        if axis is None:
            scale, zero = scale[0], zero[0]
        here = self.at
        self.node("DequantizeLinear", self.constant(values), self.constant(scale),
                  self.constant(zero), **({} if axis is None else {"axis": axis}))
        name, self.at = self.at, here
        return name

    def model(self, shape):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        outputs = [helper.make_tensor_value_info(
            self.at, TensorProto.UINT8 if self.nodes[-1].op_type == "QuantizeLinear" and
            self.dtype == "u1" else TensorProto.INT8 if self.nodes[-1].op_type == "QuantizeLinear"
            else TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                                 ir_version=8)


def bias(net, count):
    return net.constant(net.rng.standard_normal(count).astype("f4") * 3)


def images(dtype):
    net = Net(dtype)
    net.apply("Conv", net.weights((6, 3, 3, 3), 0), bias(net, 6), pads=[1, 1, 1, 1])
    net.apply("Relu").quantize(0.3)
    first = net.at
    net.apply("Conv", net.weights((6, 1, 3, 3)), group=6, pads=[1, 1, 1, 1]).quantize(0.8)
    net.apply("Add", first).quantize(0.7)
    net.apply("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).quantize(0.65)
    net.apply("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]).quantize(0.6)
    second = net.at
    net.apply("Sigmoid").quantize(1 / 256, 0 if dtype == "u1" else -128)
    net.apply("Mul", second).quantize(0.5)
    net.node("Concat", net.at, second, axis=1).quantize(0.55)
    return net


def silu(net, scale):
    here = net.at
    net.apply("Sigmoid").quantize(1 / 256, 0 if net.dtype == "u1" else -128)
    return net.node("Mul", here, net.at).quantize(scale)


def blocks(dtype):
    """As mobile networks: windows of few channels, by channels, of groups; gates; joined images."""
    net = Net(dtype)
    conv = lambda shape, axis=0, kind="i1", **attributes: net.apply(
        "Conv", net.weights(shape, axis, kind), bias(net, shape[0]), **attributes)
    conv((20, 3, 3, 3), strides=[2, 2], pads=[1, 0, 1, 2]).quantize(0.6)
    silu(net, 0.5)
    conv((20, 1, 5, 3), group=20, pads=[2, 1, 2, 1]).quantize(1.2)
    wide = net.at
    net.apply("GlobalAveragePool").quantize(0.5)
    conv((8, 20, 1, 1)).apply("Relu").quantize(0.6)
    conv((20, 8, 1, 1)).quantize(1.2).apply("HardSigmoid", alpha=0.01, beta=0.5)
    net.quantize(1 / 256, 0 if dtype == "u1" else -128)
    net.node("Mul", wide, net.at).quantize(1.1)
    conv((32, 10, 1, 1), group=2).quantize(4)
    left = net.at
    conv((32, 4, 3, 3), kind="u1", group=8, dilations=[2, 1], pads=[2, 1, 2, 1]).quantize(25)
    net.node("Add", net.at, left).quantize(25)
    net.apply("MaxPool", kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1])
    net.node("Concat", net.at, net.at, axis=1).quantize(30)
    conv((16, 64, 1, 1)).quantize(400)
    net.apply("ReduceMean", axes=[2, 3], keepdims=1).quantize(300)
    return net.quantize(330, stored=True)


def wide(dtype):
    """Windows of whole blocks of channels, in steps of 64 bytes and with a rest, and by groups."""
    net = Net(dtype)
    conv = lambda shape, **attributes: net.apply(
        "Conv", net.weights(shape, 0), bias(net, shape[0]), **attributes)
    conv((64, 3, 3, 3), pads=[1, 1, 1, 1]).quantize(0.6)
    conv((80, 64, 3, 3), pads=[1, 1, 1, 1]).apply("Relu").quantize(20)
    conv((64, 80, 1, 1)).quantize(250)
    conv((96, 32, 3, 3), group=2, strides=[1, 2], pads=[0, 1, 1, 0]).quantize(7000)
    return conv((48, 96, 1, 1)).quantize(100000, stored=True)


def classes(dtype):
    net = images(dtype)
    net.apply("GlobalAveragePool").quantize(0.3).apply("Flatten")
    net.apply("Gemm", net.weights((9, 12), 0), bias(net, 9), transB=1).quantize(0.4)
    return net.apply("Softmax", axis=-1)


def ends_real(dtype):
    net = Net(dtype)
    return net.apply("Conv", net.weights((5, 3, 2, 2), 0), bias(net, 5))


def products(dtype, last):
    net = Net(dtype)
    net.apply("MatMul", net.weights((16, 40), 1)).quantize(0.9)
    net.apply("MatMul", net.weights((40, 24), None, "u1"))
    net.node("Add", net.at, bias(net, 24)).quantize(5)
    left = net.at
    net.apply("Transpose", perm=[0, 2, 1])
    net.node("MatMul", left, net.at)
    return net.quantize(15000, stored=True) if last else net


SCENES = [(1, 3, 8, 8), (2, 3, 12, 10)]
CASES = {
    "images": (lambda d: images(d).apply("Relu").quantize(0.55, stored=True), SCENES, 0,
               {"QLinearConv", "QLinearAdd", "QLinearAveragePool", "QLinearConcat", "ByteTable"}),
    "blocks": (blocks, [(1, 3, 19, 24), (2, 3, 40, 17), (1, 3, 5, 4)], 0,
               {"BlockedQLinearConv", "BlockedQLinearDepthwiseConv", "QLinearAdd", "QLinearMul",
                "QLinearGlobalAveragePool", "Concat", "MaxPool", "ByteTable"}),
    # The softmax is not quantized behind: it alone stays.
    "classes": (classes, SCENES, 1e-6, {"QGemm", "QLinearGlobalAveragePool", "Softmax"}),
    "ends_real": (ends_real, SCENES, 1e-4, {"ConvInteger", "Mul", "Add"}),
    "products": (lambda d: products(d, last=True), [(1, 5, 16), (3, 9, 16)], 0,
                 {"QLinearMatMul", "MatMulIntegerToFloat"}),
    "real_products": (lambda d: products(d, last=False), [(1, 5, 16), (3, 9, 16)], 1e-3,
                      {"QLinearMatMul", "MatMulIntegerToFloat", "MatMulInteger", "Mul"}),
}


@pytest.mark.parametrize("dtype", ["u1", "i1"] if os.environ.get("OPENATC_NIGHTLY") else ["u1"])
@pytest.mark.parametrize("name", CASES)
def test_quantized_with_open_dims(name, dtype, tmp_path):
    make, shapes, tolerance, wanted = CASES[name]
    net = make(dtype)
    shape = list(shapes[0])
    for axis in range(len(shape)):
        if len(shape) == 4 and axis == 1 or len(shape) == 3 and axis == 2:
            continue
        shape[axis] = f"d{axis}"
    path = tmp_path / "model.onnx"
    onnx.save(net.model(shape), str(path))
    kernels = host_calls(compile_model(path, tmp_path, EACH_CALL))
    assert wanted <= kernels
    assert not kernels & (FLOAT - wanted), kernels
    session = Session(RUNTIME, compile_model(path, tmp_path))
    for number, size in enumerate(shapes):
        x = np.random.default_rng(number).standard_normal(size).astype("f4") * 3
        got, = session.run_values({"x": x}).values()
        folder = tmp_path / str(number)
        folder.mkdir()
        dims = ",".join(map(str, size))
        fixed = Session(RUNTIME, compile_model(path, folder, f"--input_shape=x:{dims}"))
        want, = fixed.run_values({"x": x}).values()
        fixed.close()
        assert got.shape == want.shape and got.dtype == want.dtype
        difference = np.abs(got.astype("f8") - want.astype("f8"))
        if got.dtype == np.float32:
            assert difference.max() <= tolerance * max(1, np.abs(want).max())
        else:
            assert len(np.unique(want)) > 9
            # A step in an early layer may be two behind it.
            most = 0.01 if want.size > 1000 else 0.2
            assert difference.max() <= 2 and (difference > 0).mean() < most
    session.close()


def test_every_pair_of_bytes(tmp_path):
    """What lies at the middle of two integers is rounded as by the three operators one by one, with
    fixed and with open dims: scales in simple ratios have such results."""
    pairs = np.stack(np.meshgrid(np.arange(256), np.arange(256), indexing="ij")).astype("u1")
    scales = {"Add": (0.02, 0.02, 0.04), "Mul": (0.02, 0.03, 0.05), "Concat": (0.02, 0.03, 0.04),
              "LeakyRelu": (0.02, 0.03, 0.04), "Sigmoid": (0.02, 0.03, 1 / 200)}
    nodes, constants, want = [], [], {}

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    functions = {"Add": np.add, "Mul": np.multiply,
                 "Concat": lambda x, y: np.concatenate([x, y], 1),
                 "LeakyRelu": lambda x: np.where(x < 0, np.float32(0.1) * x, x),
                 "Sigmoid": lambda x: (1 / (1 + np.exp(-x.astype("f8")))).astype("f4")}
    for op, three in scales.items():
        a, b, c = map(np.float32, three)
        attributes = {"Concat": {"axis": 1}, "LeakyRelu": {"alpha": 0.1}}.get(op, {})
        names = [f"{op}_{i}" for i in range(2 if op in ("Add", "Mul", "Concat") else 1)]
        zero = constant(f"{op}_zero", np.uint8(101))
        for name, data, scale in zip(names, "ab", (a, b)):
            nodes.append(helper.make_node(
                "DequantizeLinear", [data, constant(f"{name}_scale", scale), zero], [name]))
        nodes.append(helper.make_node(op, names, [f"{op}_real"], **attributes))
        nodes.append(helper.make_node(
            "QuantizeLinear", [f"{op}_real", constant(f"{op}_scale", c), zero], [op]))
        reals = [(data.astype("f4") - 101) * scale for data, scale in zip(pairs, (a, b))]
        real = functions[op](*reals[:len(names)])
        want[op] = np.clip(np.rint(real / c) + 101, 0, 255).astype("u1")
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "net", [value(x, TensorProto.UINT8, ["n", "m"]) for x in "ab"],
                              [value(op, TensorProto.UINT8, None) for op in scales], constants)
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8),
              str(path))
    for options in ([], ["--input_shape=a:256,256;b:256,256"]):
        session = Session(RUNTIME, compile_model(path, tmp_path, *options))
        got = session.run_values({"a": pairs[0], "b": pairs[1]})
        session.close()
        for op, expected in want.items():
            np.testing.assert_array_equal(got[op], expected, err_msg=f"{op} {options}")


def test_without_integers(tmp_path):
    """The passes that bring integers into a host program can be left out."""
    path = tmp_path / "model.onnx"
    make, _, _, wanted = CASES["images"]
    onnx.save(make("u1").model(["n", 3, "h", "w"]), str(path))
    assert wanted <= host_calls(compile_model(path, tmp_path, EACH_CALL))
    without_tables = host_calls(compile_model(path, tmp_path, EACH_CALL + ",host-fold-byte-tables"))
    assert {"QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "Clip"} <= without_tables
    left_out = (EACH_CALL + ",host-integer-calls,host-move-quantization,host-fold-batch-norm"
                ",host-fold-byte-tables")
    kernels = host_calls(compile_model(path, tmp_path, left_out))
    assert {"Conv", "Mul", "Sigmoid"} <= kernels and not any(k.startswith("QLinear") for k in kernels)


def test_same_bytes_on_all_levels(tmp_path):
    """Tile registers, where this machine has them, and pairs of 16 bits compute the same sums."""
    path = tmp_path / "model.onnx"
    onnx.save(wide("u1").model(["n", 3, "h", "w"]), str(path))
    assert "BlockedQLinearConv" in host_calls(compile_model(path, tmp_path, EACH_CALL))
    own = Session(RUNTIME, compile_model(path, tmp_path))
    (tmp_path / "v2").mkdir()
    other = Session(RUNTIME, compile_model(path, tmp_path / "v2", "--target_cpu=v2"))
    for number, size in enumerate([(1, 3, 9, 9), (2, 3, 23, 31), (1, 3, 4, 5)]):
        x = np.random.default_rng(number).standard_normal(size).astype("f4") * 3
        got, = own.run_values({"x": x}).values()
        want, = other.run_values({"x": x}).values()
        assert len(np.unique(want)) > 9
        np.testing.assert_array_equal(got, want)
