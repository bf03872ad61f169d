"""Convolutional models with dynamic batch, height and width: one file gives what the models
compiled for each size give."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, tool  # noqa: E402
from test_dynamic_dim import Net, assert_close, shapes_of  # noqa: E402

SIZES = ((2, 33, 21), (1, 96, 70), (3, 5, 7))


def classifier():
    """Residual blocks with batch norms, some with strides, as in ResNets and MobileNets."""
    net = Net()
    x = net.input("x", ["batch", 3, "height", "width"])

    def conv(y, out, size, stride=1, group=1, channels=None):
        y = net.op("Conv", y, net.weight(out, (channels or out) // group, size, size), group=group,
                   strides=[stride] * 2, pads=[size // 2] * 4)
        scale, shift, mean = (net.weight(out) for _ in range(3))
        variance = net.constant(net.rng.uniform(0.5, 1.5, out).astype(np.float32))
        return net.op("BatchNormalization", y, scale, shift, mean, variance)

    def clip(y):
        return net.op("Clip", y, net.constant(np.float32(0)), net.constant(np.float32(6)))

    y = net.op("Relu", conv(x, 16, 7, stride=2, channels=3))
    y = net.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stride, width in ((1, 16), (2, 24)):
        skip = y if stride == 1 else conv(y, width, 1, stride, channels=16)
        z = net.op("Relu", conv(y, width, 3, stride, channels=16))
        y = net.op("Relu", net.op("Add", conv(z, width, 1), skip))
    z = clip(conv(y, 72, 1, channels=24))
    z = clip(conv(z, 72, 3, group=72))
    y = net.op("Add", y, conv(z, 24, 1, channels=72))
    # A factor per image and channel, which broadcasts.
    gate = conv(net.op("GlobalAveragePool", y), 24, 1)
    y = net.op("Add", gate, y)
    y = net.op("Flatten", net.op("GlobalAveragePool", y))
    net.output(net.op("Gemm", y, net.weight(10, 24), net.weight(10), transB=1), ["batch", 10])
    return net


def detector():
    """SiLU, concatenation with an upsampled map, and heads with all positions."""
    net = Net()
    x = net.input("x", ["batch", 3, "height", "width"])

    def silu(y, out, channels, size=1, stride=1):
        y = net.op("Conv", y, net.weight(out, channels, size, size), net.weight(out),
                   strides=[stride] * 2, pads=[size // 2] * 4)
        return net.op("Mul", y, net.op("Sigmoid", y))

    low = silu(x, 8, 3, 3)
    high = silu(low, 16, 8, 3)
    up = net.op("Resize", high, "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    wide = net.op("Resize", low, "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    y = silu(net.op("Concat", up, wide, axis=1), 24, 24, 3, 2)
    y = net.op("Conv", y, net.weight(21, 24, 1, 1), net.weight(21))
    y = net.op("Transpose", net.op("Reshape", y, net.ints(0, 3, 7, -1)), perm=[0, 1, 3, 2])
    net.output(net.op("Reshape", y, net.ints(0, -1, 7)), ["batch", "boxes", 7])
    return net


def heads():
    """Heads as exporters write them: a shape that is computed, and channels behind the pixels."""
    net = Net()
    x = net.input("x", ["batch", 3, "height", "width"])

    def conv(y, out, channels, size):
        # Results of about one: a sigmoid of large ones is steep for what differs by rounding.
        scale = (channels * size * size) ** 0.5
        weights = (net.rng.standard_normal((out, channels, size, size)) / scale).astype(np.float32)
        return net.op("Conv", y, net.constant(weights), net.weight(out), pads=[size // 2] * 4)

    y = net.op("Relu", conv(net.op("Relu", conv(x, 32, 3, 3)), 32, 32, 3))
    z = conv(y, 3 * 21, 32, 1)
    shape = net.op("Shape", z)
    batch, height, width = (net.op("Gather", shape, net.ints(i)) for i in (0, 2, 3))
    shape = net.op("Concat", batch, net.ints(3, 21), height, width, axis=0)
    z = net.op("Transpose", net.op("Reshape", z, shape), perm=[0, 1, 3, 4, 2])
    net.output(net.op("Sigmoid", z), ["batch", 3, "height", "width", 21])
    last = net.op("Transpose", conv(y, 40, 32, 1), perm=[0, 2, 3, 1])
    net.output(net.op("Reshape", last, net.ints(0, -1, 10)), ["batch", "boxes", 10])
    return net


def test_factors_per_channel_of_any_size(tmp_path):
    """Planes that end in, at and behind the end of 512 elements, which are computed at once."""
    net = Net()
    dims = ["n", "c", "h", "w"]
    x, s, r = (net.input(name, shape) for name, shape in
               (("x", dims), ("s", ["n", "c", 1, 1]), ("r", ["w"])))
    net.output(net.op("Add", net.op("Mul", x, s), r), dims)
    session = Session(RUNTIME, compile_model(net.save(tmp_path / "net.onnx"), tmp_path), threads=2)
    rng = np.random.default_rng(3)
    for size in ((2, 3, 16, 32), (1, 5, 33, 31), (2, 40, 3, 5), (1, 2, 1, 2000), (3, 1, 1, 1)):
        x = rng.standard_normal(size).astype("f4")
        s = rng.standard_normal((*size[:2], 1, 1)).astype("f4")
        r = rng.standard_normal(size[3]).astype("f4")
        got, = session.run_values({"x": x, "s": s, "r": r}).values()
        np.testing.assert_allclose(got, x * s + r, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make, convolutions", [(classifier, 10), (detector, 4), (heads, 4)])
def test_images_of_any_size(make, convolutions, tmp_path):
    model = make().save(tmp_path / "net.onnx")
    om = compile_model(model, tmp_path)
    code, out, err = call(tool("om-dump"), om)
    assert code == 0, err
    winograd = out.count("WinogradConv(")
    blocked = out.count("BlockedConv(") + out.count("BlockedDepthwiseConv(") + winograd
    assert winograd > 0 and blocked == convolutions and "BatchNormalization(" not in out, out
    dynamic = Session(RUNTIME, om, threads=2)
    rng = np.random.default_rng(4)
    for size in SIZES:
        feed = {"x": rng.standard_normal((size[0], 3, *size[1:])).astype(np.float32)}
        folder = tmp_path / "-".join(map(str, size))
        folder.mkdir()
        static = Session(RUNTIME, compile_model(model, folder, shapes_of(feed)), threads=2)
        assert_close(dynamic.run_values(feed), static.run_values(feed))
        static.close()
    dynamic.close()


@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"] if os.environ.get("OPENATC_NIGHTLY")
                         else ["x86-64-v3"])
def test_smaller_registers(level, tmp_path):
    """Tiles depend on the registers of the CPU level."""
    model = classifier().save(tmp_path / "net.onnx")
    (tmp_path / "level").mkdir()
    dynamic = Session(RUNTIME, compile_model(model, tmp_path / "level", f"--target_cpu={level}"),
                      threads=1)
    feed = {"x": np.random.default_rng(7).standard_normal((2, 3, 33, 40)).astype(np.float32)}
    static = Session(RUNTIME, compile_model(model, tmp_path, shapes_of(feed)), threads=1)
    assert_close(dynamic.run_values(feed), static.run_values(feed))
    static.close()
    dynamic.close()
