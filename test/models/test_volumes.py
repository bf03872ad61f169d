#===-- test_volumes.py - convolutions and pools over three dims --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""They run as generated code on both targets, and are right: against plain sums over windows.

Needs numpy, pytest and the onnx package.
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

RNG = np.random.default_rng(12)
TARGETS = (None, *npu.SOCS)


def outputs_on(soc, folder, nodes, wanted, constants, x):
    """Compiles and runs a graph of the input x; no call of a host kernel may be left."""
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in wanted.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    summary = folder / "summary.json"
    om = npu.build(path, folder, soc, [f"--json={summary}"])
    if soc:
        assert json.loads(summary.read_text())["placement"]["cpu"]["kernels"] == 0
        got, _ = npu.run_npu(om, [x])
    else:
        code, out, _ = npu.call(npu.tool("om-dump"), om, "--json")
        assert code == 0 and not json.loads(out).get("host_program"), "a host kernel is called"
        got, _ = npu.run(om, [x])
    for name, value in wanted.items():
        value = value.astype(np.float32)
        bound = (2e-3 if soc else 2e-6) * np.ptp(value)
        np.testing.assert_allclose(got[name], value, rtol=0, atol=bound, err_msg=f"{name} on {soc}")


def windows(x, pads, kernel, strides, dilations, fill):
    """Returns what each tap reads: [taps, *shape of the result]."""
    padded = np.pad(x, [(0, 0), (0, 0), *((pads[d], pads[d + 3]) for d in range(3))], constant_values=fill)
    size = [(padded.shape[d + 2] - (kernel[d] - 1) * dilations[d] - 1) // strides[d] + 1 for d in range(3)]

    def tap(at):
        return padded[(..., *(slice(a * dilations[d], a * dilations[d] + (size[d] - 1) * strides[d] + 1, strides[d])
                              for d, a in enumerate(at)))]
    return np.stack([tap(at) for at in np.ndindex(*kernel)])


def convolution(x, w, b, groups, **window):
    taps = windows(x.astype(np.float64), fill=0, **window)
    count, images, channels = taps.shape[:3]
    grouped = taps.reshape(count, images, groups, channels // groups, *taps.shape[3:])
    weights = w.reshape(groups, w.shape[0] // groups, w.shape[1], count)
    result = np.einsum("goct,tngcdhw->ngodhw", weights, grouped)
    return result.reshape(images, w.shape[0], *result.shape[3:]) + b[:, None, None, None]


def transposed(x, w, b, groups, strides, pads, output_padding):
    """Adds a scaled filter to the result for every element of the input."""
    n, channels, *size = x.shape
    kernel, outputs = w.shape[2:], w.shape[1] * groups
    whole = [(size[d] - 1) * strides[d] + kernel[d] + output_padding[d] for d in range(3)]
    result = np.zeros((n, outputs, *whole))
    own = channels // groups
    for c in range(channels):
        first = c // own * w.shape[1]
        for at in np.ndindex(*size):
            place = tuple(slice(a * s, a * s + k) for a, s, k in zip(at, strides, kernel))
            values = x[(slice(None), c, *at)][:, None, None, None, None]
            result[(slice(None), slice(first, first + w.shape[1]), *place)] += values * w[c]
    inside = tuple(slice(pads[d], whole[d] - pads[d + 3]) for d in range(3))
    return result[(..., *inside)] + b[:, None, None, None]


def weights(*shape):
    return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


@pytest.mark.parametrize("soc", TARGETS)
def test_windows(soc, tmp_path):
    x = RNG.standard_normal((2, 6, 7, 12, 9)).astype(np.float32)
    constants = {"w": weights(10, 3, 2, 3, 3), "b": weights(10), "alone": weights(12, 1, 3, 3, 3), "c": weights(12)}
    window = {"strides": [2, 2, 1], "pads": [1, 1, 0, 0, 1, 2], "dilations": [3, 1, 1]}
    even = {"strides": [1] * 3, "pads": [1] * 6, "dilations": [1] * 3}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["conv"], group=2, kernel_shape=[2, 3, 3], **window),
             helper.make_node("Conv", ["x", "alone", "c"], ["depthwise"], group=6, kernel_shape=[3] * 3, **even),
             helper.make_node("MaxPool", ["x"], ["largest"], kernel_shape=[2, 3, 2], strides=[1, 2, 2],
                              pads=[1, 0, 0, 0, 1, 1]),
             helper.make_node("AveragePool", ["x"], ["mean"], kernel_shape=[3, 2, 3], strides=[2, 2, 2],
                              pads=[1, 0, 1, 1, 0, 1])]
    outputs_on(soc, tmp_path, nodes, {
        "conv": convolution(x, constants["w"], constants["b"], 2, kernel=[2, 3, 3], **window),
        "depthwise": convolution(x, constants["alone"], constants["c"], 6, kernel=[3] * 3, **even),
        "largest": windows(x, [1, 0, 0, 0, 1, 1], [2, 3, 2], [1, 2, 2], [1] * 3, -np.inf).max(0),
        "mean": np.nanmean(windows(x, [1, 0, 1, 1, 0, 1], [3, 2, 3], [2] * 3, [1] * 3, np.nan), 0)}, constants, x)


@pytest.mark.parametrize("soc", TARGETS)
@pytest.mark.parametrize("kernel, groups, window", [
    ((2, 2, 2), 1, {"strides": [2, 2, 2], "pads": [0] * 6, "output_padding": [0, 0, 0]}),
    ((3, 3, 3), 1, {"strides": [2, 2, 2], "pads": [1] * 6, "output_padding": [1, 1, 0]}),
    ((4, 3, 3), 2, {"strides": [3, 1, 2], "pads": [2, 1, 0, 0, 1, 1], "output_padding": [0, 0, 1]}),
    ((3, 1, 1), 1, {"strides": [1, 1, 1], "pads": [1, 0, 0, 1, 0, 0], "output_padding": [0, 0, 0]})])
def test_transposed(soc, tmp_path, kernel, groups, window):
    x = RNG.standard_normal((2, 4, 5, 4, 6)).astype(np.float32)
    constants = {"w": weights(4, 6 // groups, *kernel), "b": weights(6)}
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=groups, kernel_shape=kernel, **window)
    outputs_on(soc, tmp_path, [node], {"y": transposed(x, constants["w"], constants["b"], groups, **window)}, constants, x)


@pytest.mark.parametrize("soc", TARGETS)
def test_pools_over_planes(soc, tmp_path):
    """Channels that fill vectors: behind a convolution, with strides and dilations in depth."""
    x = RNG.standard_normal((1, 16, 9, 8, 10)).astype(np.float32)
    constants = {"w": weights(32, 16, 3, 3, 3), "b": weights(32)}
    even = {"strides": [1] * 3, "pads": [1] * 6, "dilations": [1] * 3}
    wide = {"kernel_shape": [3, 2, 2], "strides": [2, 2, 2], "pads": [0, 1, 0, 0, 0, 1]}
    apart = {"kernel_shape": [2, 3, 1], "strides": [3, 1, 2], "pads": [0] * 6}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["conv"], kernel_shape=[3] * 3, **even),
             helper.make_node("Relu", ["conv"], ["r"]),
             helper.make_node("MaxPool", ["r"], ["largest"], **wide),
             helper.make_node("MaxPool", ["x"], ["far"], dilations=[4, 1, 1], **apart),
             helper.make_node("AveragePool", ["r"], ["mean"], **apart)]
    r = np.maximum(convolution(x, constants["w"], constants["b"], 1, kernel=[3] * 3, **even), 0)
    outputs_on(soc, tmp_path, nodes, {
        "largest": windows(r, wide["pads"], [3, 2, 2], [2] * 3, [1] * 3, -np.inf).max(0),
        "far": windows(x, [0] * 6, [2, 3, 1], [3, 1, 2], [4, 1, 1], -np.inf).max(0),
        "mean": windows(r, [0] * 6, [2, 3, 1], [3, 1, 2], [1] * 3, 0).mean(0)}, constants, x)


def test_dynamic_batch(tmp_path):
    """The model runs in tiles of the batch, in which volumes are images."""
    constants = {"w": weights(10, 6, 3, 3, 3), "b": weights(10)}
    window = {"strides": [1, 1, 1], "pads": [1] * 6, "dilations": [1] * 3}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], kernel_shape=[3] * 3, **window),
             helper.make_node("MaxPool", ["c"], ["y"], kernel_shape=[2] * 3, strides=[2] * 3)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 6, 4, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10, 2, 4, 4])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    om = npu.build(path, tmp_path)
    code, out, _ = npu.call(npu.tool("om-dump"), om)
    assert code == 0 and "  Conv(" not in out and "= Conv(" not in out and "MaxPool(" not in out, out
    for batch in (1, 3):
        x = RNG.standard_normal((batch, 6, 4, 8, 8)).astype(np.float32)
        np.save(tmp_path / "x.npy", x)
        code, out, err = npu.call(npu.tool("om-run"), om, "--input", tmp_path / "x.npy", "--output", tmp_path)
        assert code == 0, out + err
        conv = convolution(x, constants["w"], constants["b"], 1, kernel=[3] * 3, **window)
        want = windows(conv, [0] * 6, [2] * 3, [2] * 3, [1] * 3, -np.inf).max(0)
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), want, rtol=0, atol=1e-5)
