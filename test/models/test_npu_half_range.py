#===-- test_npu_half_range.py - attention and sums near the end of f16 -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks of whole rows, scores that are too large before they are scaled, sums and other reductions of many elements give
on an NPU what f32 gives."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="making the networks needs the onnx package")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_tools import call, tool  # noqa: E402


def run(folder, soc, nodes, inputs, output, constants):
    """Compiles a network for `soc`, runs it there and returns its output `y` of the shape `output`."""
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "range", [info(k, v.shape) for k, v in inputs.items()], [info("y", output)],
                              [numpy_helper.from_array(np.array(v), k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(folder / "m.onnx"))
    return npu.run_npu(npu.build(folder / "m.onnx", folder, soc), list(inputs.values()))[0]["y"]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("is_input", [True, False])
def test_rows_that_are_masked_as_a_whole(soc, is_input, tmp_path):
    random = np.random.default_rng(7)
    x = random.normal(0, 12, (2, 5, 33)).astype(np.float32)
    mask = np.where(random.random((5, 33)) < 0.5, np.float32(-3e38), np.float32(0))
    mask[3] = -3e38
    nodes = [helper.make_node("Add", ["x", "mask"], ["s"]), helper.make_node("Softmax", ["s"], ["y"], axis=-1)]
    inputs, constants = ({"x": x, "mask": mask}, {}) if is_input else ({"x": x}, {"mask": mask})
    got = run(tmp_path, soc, nodes, inputs, x.shape, constants)
    rows = [0, 1, 2, 4] if is_input else list(range(5))  # An input's row is finite, a constant's also right.
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[:, rows], softmax(x + mask)[:, rows], atol=4e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("number", [-1e4, -65504, -1e5, -1e9])
@pytest.mark.parametrize("is_input", [True, False])
def test_rows_of_masks_that_are_no_constants(soc, is_input, number, tmp_path):
    """f32 keeps the scores of a row in which all is masked by -1e4, and hides those by -1e9."""
    random = np.random.default_rng(8)
    x = random.normal(0, 3, (2, 3, 5, 33)).astype(np.float32)
    keep = (random.random((2, 1, 5, 33)) < 0.5).astype(np.float32)
    keep[0, 0, 3] = keep[1] = 0
    mask = (1 - keep) * np.float32(number)
    nodes = [] if is_input else [helper.make_node("Sub", ["one", "keep"], ["hide"]),
                                 helper.make_node("Mul", ["hide", "number"], ["mask"])]
    nodes += [helper.make_node("Add", ["x", "mask"], ["s"]), helper.make_node("Softmax", ["s"], ["y"], axis=-1)]
    inputs = {"x": x, "mask": mask} if is_input else {"x": x, "keep": keep}
    constants = {} if is_input else {"one": np.float32(1), "number": np.float32(number)}
    got = run(tmp_path, soc, nodes, inputs, x.shape, constants)
    np.testing.assert_allclose(got, softmax(x + mask), atol=4e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_scores_that_fit_when_they_are_scaled(soc, tmp_path):
    random = np.random.default_rng(7)
    x, weights = random.normal(0, 1, (7, 32)).astype(np.float32), random.normal(0, 9, (3, 32, 32)).astype(np.float32)
    q, k, v = x @ weights
    assert np.abs(q @ k.T).max() > 65504 / 4
    q, k, factor = 4 * q, 4 * k, np.float32(1 / 64)
    nodes = [helper.make_node("MatMul", ["x", "wq"], ["q"]), helper.make_node("MatMul", ["x", "wk"], ["k"]),
             helper.make_node("Transpose", ["k"], ["kt"], perm=[1, 0]), helper.make_node("MatMul", ["q", "kt"], ["s"]),
             helper.make_node("Mul", ["s", "factor"], ["y"])]
    got = run(tmp_path, soc, nodes, {"x": x}, (7, 7), {"wq": 4 * weights[0], "wk": 4 * weights[1], "factor": factor})
    want = q @ k.T * factor
    np.testing.assert_allclose(got, want, atol=4e-3 * np.abs(want).max())


@pytest.mark.parametrize("soc", npu.SOCS)
def test_sums_of_many_elements(soc, tmp_path):
    x = np.random.default_rng(7).uniform(100, 900, (4, 256)).astype(np.float32)
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["s"]), helper.make_node("Mul", ["s", "small"], ["y"])]
    got = run(tmp_path, soc, nodes, {"x": x}, (4, 1), {"axes": np.array([1], np.int64), "small": np.float32(1e-4)})
    np.testing.assert_allclose(got, x.sum(1, keepdims=True) * 1e-4, rtol=2e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("kind, want", [("Mean", np.mean), ("Max", np.max), ("Min", np.min),
                                        ("L2", lambda x, axis: np.sqrt((x ** 2).sum(axis)))])
def test_reductions_of_rows_that_do_not_fit_into_ub(soc, kind, want, tmp_path):
    x = np.random.default_rng(7).uniform(-1, 2, (2, 3, 98304)).astype(np.float32)
    nodes = [helper.make_node("Reduce" + kind, ["x"], ["y"], axes=[2], keepdims=0)]
    got = run(tmp_path, soc, nodes, {"x": x}, (2, 3), {})
    np.testing.assert_allclose(got, want(x.astype(np.float64), axis=2), rtol=3e-3)
    assert not json.loads(call(tool("om-dump"), tmp_path / f"{soc}.om", "--json")[1])["kernels"]


@pytest.mark.parametrize("soc", npu.SOCS)
def test_sums_whose_parts_leave_f16(soc, tmp_path):
    """The sum fits, and so does what a product makes of it; those of the halves do not."""
    x = np.repeat(np.array([[20, -20]], np.float32), 49152, 1).repeat(2, 0)
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["s"]), helper.make_node("MatMul", ["s", "ones"], ["y"])]
    got = run(tmp_path, soc, nodes, {"x": x}, (2, 16),
              {"axes": np.array([1], np.int64), "ones": np.ones((1, 16), np.float32)})
    np.testing.assert_array_equal(got, 0)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("axis", [0, 1])
def test_masked_scores_that_others_read(soc, axis, tmp_path):
    """Numbers that a softmax does not see are seen by another one along another axis."""
    x, mask = np.zeros((2, 64), np.float32), np.array([[-1e4], [-3e3]], np.float32)
    nodes = [helper.make_node("Add", ["x", "m"], ["s"]), helper.make_node("Softmax", ["s"], ["a"], axis=-1),
             helper.make_node("Softmax", ["s"], ["b"], axis=axis), helper.make_node("Add", ["a", "b"], ["y"])]
    got = run(tmp_path, soc, nodes, {"x": x}, (2, 64), {"m": mask})
    other = np.full_like(x, 1 / 64) if axis else np.repeat([[0.], [1.]], 64, 1)
    np.testing.assert_allclose(got, 1 / 64 + other, atol=2e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_norms_of_whole_images(soc, tmp_path):
    x = np.random.default_rng(7).normal(5, 3, (1, 64, 40, 32)).astype(np.float32)
    nodes = [helper.make_node("Reshape", ["x", "rows"], ["r"]),
             helper.make_node("InstanceNormalization", ["r", "one", "zero"], ["n"]),
             helper.make_node("Reshape", ["n", "image"], ["y"])]
    constants = {"rows": np.array([1, 1, -1], np.int64), "image": np.array(x.shape, np.int64),
                 "one": np.ones(1, np.float32), "zero": np.zeros(1, np.float32)}
    got = run(tmp_path, soc, nodes, {"x": x}, x.shape, constants)
    np.testing.assert_allclose(got, (x - x.mean()) / np.sqrt(x.var() + 1e-5), atol=6e-3)
    assert not json.loads(call(tool("om-dump"), tmp_path / f"{soc}.om", "--json")[1])["kernels"]


@pytest.mark.parametrize("soc", npu.SOCS)
def test_residuals_with_infinite_elements(soc, tmp_path):
    """A mask of minus infinity that is added to a convolution stays in its channel."""
    random = np.random.default_rng(12)
    x = random.normal(0, 1, (1, 16, 5, 5)).astype(np.float32)
    made, added, last = (random.normal(0, 0.25, shape).astype(np.float32) for shape in ((20, 16), (20, 16), (16, 20)))
    constants = {"zero": np.float32(0), "low": np.float32(-np.inf),
                 "made": made[..., None, None], "added": added[..., None, None], "last": last[..., None, None]}
    nodes = [helper.make_node("Conv", ["x", "made"], ["r0"]), helper.make_node("Greater", ["r0", "zero"], ["keep"]),
             helper.make_node("Where", ["keep", "r0", "low"], ["r"]), helper.make_node("Conv", ["x", "added"], ["c"]),
             helper.make_node("Add", ["c", "r"], ["s"]), helper.make_node("Relu", ["s"], ["t"]),
             helper.make_node("Conv", ["t", "last"], ["y"])]
    conv = lambda value, weights: np.einsum("nchw,oc->nohw", value, weights)
    r = conv(x, made)
    s = np.where(r > 1e-2, conv(x, added) + r, 0)
    clear = (np.abs(r) > 1e-2).all(1, keepdims=True)  # f16 decides near zero otherwise
    want = conv(np.maximum(s, 0), last)
    got = run(tmp_path, soc, nodes, {"x": x}, want.shape, constants)
    assert np.isfinite(got).all() and clear.mean() > 0.5
    np.testing.assert_allclose(np.where(clear, got, 0), np.where(clear, want, 0), atol=2e-2)
