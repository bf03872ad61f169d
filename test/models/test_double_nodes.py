#===-- test_double_nodes.py - nodes of float64 whose parts have no code ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers of float64, the statistics of LayerNormalization, whose type is stated, and shifts
by amounts that are computed.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import RUNTIME, call, tool  # noqa: E402
from openatc_runtime import Session  # noqa: E402


KINDS = {"f8": TensorProto.DOUBLE, "u1": TensorProto.UINT8, "u4": TensorProto.UINT32,
         "u8": TensorProto.UINT64}


def run(folder, op, arrays, outputs, dims, **attributes):
    """The outputs of a model of one node."""
    node = helper.make_node(op, [*arrays], outputs, **attributes)
    inputs = [helper.make_tensor_value_info(name, KINDS[array.dtype.str[1:]],
                                            array.shape if dims == "fixed" else [None] * array.ndim)
              for name, array in arrays.items()]
    graph = helper.make_graph([node], "graph", inputs,
                              [helper.make_empty_tensor_value_info(name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    code, out, err = call(tool("atc"), f"--model={folder}/m.onnx", "--framework=5", "--target=cpu",
                          f"--output={folder}/m")
    assert code == 0, out + err
    made = Session(RUNTIME, folder / "m.om", threads=1).run_values(arrays)
    return [made[name] for name in outputs]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("dims", ["fixed", "open"])
@pytest.mark.parametrize("op,gates", [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_recurrent(tmp_path, op, gates, dims):
    """One step from zeros, where the weights of the state do not count."""
    random = np.random.default_rng(3)
    x, w = random.normal(size=(1, 2, 5)), random.normal(size=(1, gates * 4, 5))
    r = random.normal(size=(1, gates * 4, 4))
    [y] = run(tmp_path, op, {"x": x, "w": w, "r": r}, ["y"], dims, hidden_size=4)
    gate = np.split(x[0] @ w[0].T, gates, axis=-1)
    if op == "RNN":
        want = np.tanh(gate[0])
    elif op == "GRU":
        want = (1 - sigmoid(gate[0])) * np.tanh(gate[2])
    else:
        want = sigmoid(gate[1]) * np.tanh(sigmoid(gate[0]) * np.tanh(gate[3]))
    assert y.dtype == np.float64
    np.testing.assert_allclose(y[0, 0], want, rtol=1e-12)


@pytest.mark.parametrize("dims", ["fixed", "open"])
def test_statistics_have_the_stated_type(tmp_path, dims):
    x = np.random.default_rng(5).normal(size=(3, 8))
    y, mean, inverse = run(tmp_path, "LayerNormalization", {"x": x, "s": np.ones(8)},
                           ["y", "mean", "inverse"], dims)
    deviation = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    assert (y.dtype, mean.dtype, inverse.dtype) == (np.float64, np.float32, np.float32)
    np.testing.assert_allclose(y, (x - x.mean(-1, keepdims=True)) / deviation, rtol=1e-6)
    np.testing.assert_allclose(mean, x.mean(-1, keepdims=True), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(inverse, 1 / deviation, rtol=1e-6)


@pytest.mark.parametrize("count", [9, 300])
@pytest.mark.parametrize("dtype", ["u1", "u4", "u8"])
def test_shifts(tmp_path, dtype, count):
    """Few are looked up as powers, many shifted by a kernel: by the width or more leaves 0."""
    width = 8 * np.dtype(dtype).itemsize
    x = np.random.default_rng(3).integers(0, 2**width, count, dtype=dtype)
    by = np.arange(count).astype(dtype)
    for direction in ("LEFT", "RIGHT"):
        [y] = run(tmp_path, "BitShift", {"x": x, "y": by}, ["z"], "fixed", direction=direction)
        shift = np.left_shift if direction == "LEFT" else np.right_shift
        want = np.where(by < width, shift(x, np.minimum(by, width - 1)), 0)
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(y, want)
