#===-- test_open_pools.py - pools, interpolation and scatters of open sizes -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One file for all sizes computes what the file of each size does.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME  # noqa: E402

SIZES = {1: [(1,), (5,), (17,), (300,), (1500,), (3000,)], 2: [(1, 1), (7, 40), (5, 9), (8, 14), (56, 56), (3, 600)],
         3: [(1, 2, 3), (4, 5, 12), (5, 6, 21)]}


def save(path, kind, rank, size, outputs, **window):
    dims = [2, 3, *(size or "dhw"[:rank])]
    graph = helper.make_graph([helper.make_node(kind, ["x"], ["y", "at"][:outputs], **window)], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
                               helper.make_tensor_value_info("at", TensorProto.INT64, None)][:outputs])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8), str(path))


def window_of(rng, rank):
    kernel = [int(k) for k in rng.integers(1, 5, rank)]
    dilations = [int(d) for d in rng.integers(1, 3, rank)]
    ends = [int(rng.integers(0, k)) for k in kernel]
    return dict(kernel_shape=kernel, strides=[int(s) for s in rng.integers(1, 4, rank)],
                dilations=dilations, pads=[*(int(rng.integers(0, k)) for k in kernel), *ends],
                ceil_mode=int(rng.integers(2)))


@pytest.mark.parametrize("seed", range(24))
def test_open_sizes_are_as_fixed_ones(tmp_path, seed):
    rng = np.random.default_rng(seed)
    rank, kind = 1 + seed % 3, ("MaxPool", "AveragePool")[seed // 3 % 2]
    window, outputs = window_of(rng, rank), 1
    if seed == 0:  # longer than a line of the generated code, and than what it unrolls
        window.update(kernel_shape=[20], dilations=[120], pads=[0, 0])
    if seed == 6:
        window.update(kernel_shape=[9], dilations=[200], strides=[7], pads=[3, 0])
    if seed == 3:  # a mean by the taps
        window.update(kernel_shape=[20], dilations=[60], strides=[2], pads=[5, 7])
    if kind == "AveragePool":
        window["count_include_pad"] = int(rng.integers(2))
    elif seed % 4 == 0:
        outputs = 2
    save(tmp_path / "open.onnx", kind, rank, None, outputs, **window)
    session = Session(RUNTIME, npu.build(tmp_path / "open.onnx", tmp_path, None), threads=2)
    ran = 0
    for size in SIZES[rank]:
        span = [(k - 1) * d + 1 for k, d in zip(window["kernel_shape"], window["dilations"])]
        if any(n + b + e < s for n, b, e, s in zip(size, window["pads"], window["pads"][rank:], span)):
            continue
        x = rng.integers(-50, 50, (2, 3, *size)).astype("f4")
        if kind == "MaxPool":
            x[rng.random(x.shape) < .02] = np.nan
            x[rng.random(x.shape) < .05] = -np.inf
        folder = tmp_path / "x".join(map(str, size))
        folder.mkdir()
        save(folder / "fixed.onnx", kind, rank, size, outputs, **window)
        fixed = Session(RUNTIME, npu.build(folder / "fixed.onnx", folder, None), threads=1)
        want, got = fixed.run_values({"x": x}), session.run_values({"x": x})
        for name, values in want.items():
            assert got[name].shape == values.shape
            np.testing.assert_allclose(got[name], values, rtol=1e-6, atol=1e-5, err_msg=f"{name} {size} {window}")
        ran += 1
    assert ran


RESIZES = [dict(mode="linear"), dict(mode="cubic"), dict(mode="linear", coordinate_transformation_mode="align_corners"),
           dict(mode="cubic", coordinate_transformation_mode="asymmetric", exclude_outside=1),
           dict(mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.)]


@pytest.mark.parametrize("attributes", RESIZES)
def test_interpolation_of_open_sizes(tmp_path, attributes):
    """Rows of several blocks of columns, rows that share rows of the input, planes, dims that stay as they are, and what is too large for code."""
    rng, region = np.random.default_rng(7), np.array([0, 0, -.2, .1, 1, 1, .9, 1.3], "f4")

    def session_of(name, shape):
        (tmp_path / name).mkdir()
        inputs = [helper.make_tensor_value_info("x", 1, shape), helper.make_tensor_value_info("scales", 1, [4])]
        node = helper.make_node("Resize", ["x", "region", "scales"], ["y"], **attributes)
        graph = helper.make_graph([node], "g", inputs[:1 + (name == "open")], [helper.make_tensor_value_info("y", 1, None)],
                                  [numpy_helper.from_array(region, "region")] + ([] if name == "open" else [numpy_helper.from_array(scales, "scales")]))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(tmp_path / name / "m.onnx"))
        return Session(RUNTIME, npu.build(tmp_path / name / "m.onnx", tmp_path / name, None), threads=2)

    session = session_of("open", [None] * 4)
    for number, (shape, by) in enumerate([((2, 3, 7, 9), (1, 1, 2, 3)), ((1, 2, 3, 90), (1, 1, 1.5, 4.1)), ((2, 3, 40, 33), (1, 1, .3, .7)),
                                          ((2, 3, 6, 20), (1, 1, 1, 2)), ((2, 3, 6, 20), (1, 1, 1.5, 1)), ((2, 3, 4, 5), (1, 2, 2, 2)),
                                          ((2, 3, 30, 30), (1, 1, 2, 2))]):
        x, scales = rng.standard_normal(shape).astype("f4"), np.array(by, "f4")
        # Where a corner is of a size that is no whole number depends on whether its scale is a constant.
        if "align_corners" in attributes.values() and (shape * scales % 1).any():
            continue
        want = session_of(f"fixed{number}", x.shape).run_values({"x": x})["y"]
        np.testing.assert_allclose(session.run_values({"x": x, "scales": scales})["y"], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduction,fn", [("none", lambda old, new: new), ("add", np.add), ("max", np.maximum)])
def test_scatter_of_rows(tmp_path, reduction, fn):
    """Rows with one index, as those of the edges of a graph, beside rows with several, and no rows."""
    node = helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, **({} if reduction == "none" else {"reduction": reduction}))
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, "abc"), helper.make_tensor_value_info("i", TensorProto.INT64, "def"),
                      helper.make_tensor_value_info("u", TensorProto.FLOAT, "def")], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), tmp_path / "m.onnx")
    session = Session(RUNTIME, npu.build(tmp_path / "m.onnx", tmp_path, None), threads=1)
    rng = np.random.default_rng(3)
    for shape in ((2, 6, 19), (1, 5, 1), (2, 3, 16), (2, 0, 4), (1, 2, 0)):
        x = rng.standard_normal((2, 4, 20)).astype("f4")
        u = rng.standard_normal(shape).astype("f4")
        index = np.broadcast_to(rng.integers(-4, 4, shape[:2] + (1,)), shape).copy()
        index[0, ::2] = (index[0, ::2] + np.arange(shape[2])) % 4
        want = x.copy()
        for (a, b, c), to in np.ndenumerate(index):
            want[a, to, c] = fn(want[a, to, c], u[a, b, c])
        assert (session.run_values({"x": x, "i": index, "u": u})["y"] == want).all(), shape
    with pytest.raises(RuntimeError, match="index 4"):
        session.run_values({"x": x, "i": np.full((1, 1, 3), 4), "u": np.zeros((1, 1, 3), "f4")})
    session.close()
