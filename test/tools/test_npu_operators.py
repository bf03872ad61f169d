#===-- test_npu_operators.py - operators that once left the NPU --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that indices of the run select, norms, remainders and columns leave nothing on the CPU and are
right.

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
from openatc_tools import call, tool  # noqa: E402

info = helper.make_tensor_value_info
F32, I32, I64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64


def outputs_on(soc, folder, nodes, inputs, outputs, constants, values):
    """Compiles and runs a graph; no kernel may be left to the CPU."""
    graph = helper.make_graph(nodes, "g", inputs, outputs,
                              [numpy_helper.from_array(array, name)
                               for name, array in constants.items()])
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    om, summary = folder / soc, folder / f"{soc}.json"
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5", f"--output={om}",
                          f"--soc_version={soc}", f"--json={summary}")
    assert code == 0, out + err
    placement = json.loads(summary.read_text())["placement"]
    assert placement["cpu"]["kernels"] == 0, placement["cpu_layers"]
    got, report = npu.run_npu(om.with_name(f"{om.name}.om"), values)
    return got, report, placement


@pytest.mark.parametrize("soc", npu.SOCS)
def test_gathers_by_indices_of_the_run(soc, tmp_path):
    rng = np.random.default_rng(5)
    table = rng.integers(-2000, 2000, (300, 48)).astype(np.float32) / 64  # exact in f16
    numbers = rng.integers(-(1 << 40), 1 << 40, (30, 5))
    x = rng.integers(-2000, 2000, (6, 7, 20)).astype(np.float32) / 64
    ids = np.array([[3, -1, 299, 0], [-300, 7, 7, 150]])
    picks = np.array([29, 0, -2], np.int32)
    got, report, placement = outputs_on(
        soc, tmp_path,
        [helper.make_node("Gather", ["table", "ids"], ["rows"], axis=0),
         helper.make_node("Gather", ["numbers", "picks"], ["integers"], axis=0),
         helper.make_node("Gather", ["x", "where"], ["inside"], axis=1),
         helper.make_node("Gather", ["x", "where"], ["last"], axis=2),
         helper.make_node("ArgMax", ["x"], ["best"], axis=0, keepdims=0),
         helper.make_node("Gather", ["table", "best"], ["found"], axis=0)],
        [info("ids", I64, ids.shape), info("picks", I32, picks.shape), info("x", F32, x.shape),
         info("where", I64, (2,))],
        [info("rows", F32, None), info("integers", I64, None), info("inside", F32, None),
         info("last", F32, None), info("found", F32, None)],
        {"table": table, "numbers": numbers}, [ids, picks, x, np.array([4, -2])])
    np.testing.assert_array_equal(got["rows"], table[ids])
    np.testing.assert_array_equal(got["integers"], numbers[picks])
    np.testing.assert_array_equal(got["inside"], x[:, [4, -2]])
    np.testing.assert_array_equal(got["last"], x[:, :, [4, -2]])
    np.testing.assert_array_equal(got["found"], table[x.argmax(0)])


def test_a_table_costs_the_rows_that_are_read(tmp_path):
    """Neither the placement nor the lower bound counts the rest of it."""
    table = np.ones((20000, 256), np.float32)
    got, report, placement = outputs_on(
        "Ascend310P3", tmp_path, [helper.make_node("Gather", ["table", "ids"], ["rows"], axis=0)],
        [info("ids", I64, (16,))], [info("rows", F32, None)], {"table": table},
        [np.arange(16)])
    assert got["rows"].shape == (16, 256)
    assert placement["npu"]["bytes"] < 100_000
    assert report["roofline"]["bound_ms"] <= report["ms"]
    assert report["ddr"]["read_bytes"] < 100_000


@pytest.mark.parametrize("soc", npu.SOCS)
def test_rms_norm_is_one_kernel(soc, tmp_path):
    """Activations up to 3000, whose squares no f16 can hold, and rows that are nearly 0."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(2, 9, 96)).astype(np.float32) * np.logspace(-3, 3, 9)[:, None].astype(np.float32)
    gamma = rng.normal(size=96).astype(np.float32)
    got, report, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("Mul", ["x", "x"], ["squares"]),
         helper.make_node("ReduceMean", ["squares"], ["mean"], axes=[-1]),
         helper.make_node("Add", ["mean", "epsilon"], ["above"]),
         helper.make_node("Sqrt", ["above"], ["root"]),
         helper.make_node("Div", ["x", "root"], ["scaled"]),
         helper.make_node("Mul", ["gamma", "scaled"], ["y"])],
        [info("x", F32, x.shape)], [info("y", F32, None)],
        {"epsilon": np.float32(1e-6), "gamma": gamma}, [x])
    exact = x.astype(np.float16).astype(np.float64)
    want = exact / np.sqrt((exact ** 2).mean(-1, keepdims=True) + 1e-6) * gamma
    np.testing.assert_allclose(got["y"], want, atol=4e-3, rtol=4e-3)
    # The input becomes f16 and the output f32 again.
    assert report["launches"] <= 3, report["launches"]


@pytest.mark.parametrize("soc", npu.SOCS)
def test_remainders(soc, tmp_path):
    """By a number and by a tensor; quotients that are integers are the hard ones."""
    rng = np.random.default_rng(7)
    y = rng.choice(np.array([-3.5, -0.75, 0.125, 1.5, 7], np.float32), (8, 40))
    x = (y * rng.integers(-8, 8, y.shape) + rng.choice([0, 0.0625], y.shape)).astype(np.float32)
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("Mod", ["x", "y"], ["fmod"], fmod=1),
         helper.make_node("Mod", ["x", "number"], ["scalar"], fmod=1)],
        [info("x", F32, x.shape), info("y", F32, y.shape)],
        [info("fmod", F32, None), info("scalar", F32, None)],
        {"number": np.float32(0.6875)}, [x, y])
    np.testing.assert_allclose(got["fmod"], np.fmod(x, y), atol=1e-3)
    np.testing.assert_allclose(got["scalar"], np.fmod(x, np.float32(0.6875)), atol=1e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_bools(soc, tmp_path):
    """Masks of the run, comparisons, and what logic makes of them."""
    rng = np.random.default_rng(8)
    x, y = (rng.integers(-9, 9, (3, 5, 70)).astype(np.float32) / 4 for _ in range(2))
    mask = rng.random((3, 1, 70)) < 0.5
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("Less", ["x", "y"], ["below"]),
         helper.make_node("Equal", ["x", "y"], ["same"]),
         helper.make_node("Not", ["same"], ["differ"]),
         helper.make_node("And", ["differ", "mask"], ["both"]),
         helper.make_node("Where", ["both", "x", "low"], ["chosen"])],
        [info("x", F32, x.shape), info("y", F32, y.shape),
         info("mask", TensorProto.BOOL, mask.shape)],
        [info("below", TensorProto.BOOL, None), info("both", TensorProto.BOOL, None),
         info("chosen", F32, None)], {"low": np.float32(-1000)}, [x, y, mask])
    np.testing.assert_array_equal(got["below"], x < y)
    both = (x != y) & mask
    np.testing.assert_array_equal(got["both"], both)
    np.testing.assert_array_equal(got["chosen"], np.where(both, x, np.float32(-1000)))


@pytest.mark.parametrize("soc", npu.SOCS)
def test_layouts_that_need_copies(soc, tmp_path):
    """Dims that are not the last one, columns, borders, and integers that become floats."""
    rng = np.random.default_rng(9)
    x = (rng.integers(-64, 64, (2, 5, 6, 70)) / 16).astype(np.float32)
    numbers = np.array([[3, -7, 1 << 40, 0, 2048, 2049]])
    starts, ends, axes = np.array([4]), np.array([5]), np.array([3])
    pads = np.array([0, 0, 1, 0, 0, 0, 2, 3])
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("Softmax", ["x"], ["softmax"], axis=1),
         helper.make_node("Slice", ["x", "starts", "ends", "axes"], ["column"]),
         helper.make_node("Mul", ["column", "column"], ["square"]),
         helper.make_node("ReduceMean", ["x"], ["mean"], axes=[0, 2], keepdims=0),
         helper.make_node("Pad", ["x", "pads", "two"], ["padded"]),
         helper.make_node("Pad", ["x", "wide"], ["mirrored"], mode="reflect"),
         helper.make_node("Equal", ["numbers", "wanted"], ["is_found"]),
         helper.make_node("Cast", ["numbers"], ["floats"], to=F32),
         helper.make_node("Min", ["floats", "most"], ["least"]),
         helper.make_node("CumSum", ["x", "axis"], ["sums"])],
        [info("x", F32, x.shape), info("numbers", I64, numbers.shape)],
        [info("softmax", F32, None), info("square", F32, None), info("mean", F32, None),
         info("padded", F32, None), info("mirrored", F32, None),
         info("is_found", TensorProto.BOOL, None), info("least", F32, None), info("sums", F32, None)],
        {"starts": starts, "ends": ends, "axes": axes, "pads": pads, "two": np.float32(2),
         "wide": np.array([0, 0, 0, 40, 0, 0, 0, 1]), "wanted": np.array(2049),
         "most": np.float32(100), "axis": np.array(2)},
        [x, numbers])
    power = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(got["softmax"], power / power.sum(1, keepdims=True), atol=2e-3)
    np.testing.assert_allclose(got["square"], x[..., 4:5] ** 2, atol=1e-2)
    np.testing.assert_allclose(got["mean"], x.mean((0, 2)), atol=4e-3)
    np.testing.assert_array_equal(
        got["padded"], np.pad(x, [(0, 0), (0, 0), (1, 2), (0, 3)], constant_values=2))
    np.testing.assert_array_equal(
        got["mirrored"], np.pad(x, [(0, 0), (0, 0), (0, 0), (40, 1)], mode="reflect"))
    np.testing.assert_array_equal(got["is_found"], numbers == 2049)
    np.testing.assert_array_equal(got["least"], np.minimum(numbers, 100))
    np.testing.assert_allclose(got["sums"], x.cumsum(2), atol=2e-2)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_powers(soc, tmp_path):
    """Bases of both signs with whole, odd, even and fractional exponents, in operands and constants."""
    bases = np.array([-3, -2, -1.5, -1, -0.5, 0, 0.25, 1, 1.5, 2, 7], np.float32)
    exponents = np.array([-3, -2, -0.5, 0, 0.5, 1, 2, 3, 4, 2.5], np.float32)
    x, y = (np.ascontiguousarray(a) for a in np.meshgrid(bases, exponents))
    fixed = {"third": 1 / 3, "odd": 21, "even": -18, "none": 0}
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("Pow", ["x", "y"], ["both"]), helper.make_node("Pow", ["two", "y"], ["of_two"]),
         *(helper.make_node("Pow", ["x", name], ["to_" + name]) for name in fixed)],
        [info("x", F32, x.shape), info("y", F32, y.shape)],
        [info(name, F32, None) for name in ("both", "of_two", *("to_" + name for name in fixed))],
        {"two": np.float32(2), **{name: np.float32(value) for name, value in fixed.items()}}, [x, y])

    def wanted(base, exponent):
        with np.errstate(all="ignore"):
            return np.power(base, exponent, dtype=np.float32).astype(np.float16).astype(np.float32)

    np.testing.assert_allclose(got["both"], wanted(x, y), rtol=2e-3)
    np.testing.assert_allclose(got["of_two"], wanted(np.float32(2), y), rtol=2e-3)
    for name, value in fixed.items():
        np.testing.assert_allclose(got["to_" + name], wanted(x, np.float32(value)), rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_integers_that_are_known_to_be_small(soc, tmp_path):
    """Indices of arg-reductions, masks and bytes: sums, products, quotients, remainders and selections of
    them are integers again, and are indices of gathers."""
    rng = np.random.default_rng(11)
    x = rng.integers(-64, 64, (3, 5, 60)).astype(np.float32)
    table = rng.integers(-64, 64, (400, 24)).astype(np.float32)
    raw = rng.integers(0, 256, (3, 5), dtype=np.uint8)
    mask = rng.integers(0, 2, (3, 5)).astype(bool)
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("ArgMax", ["x"], ["best"], axis=2, keepdims=0),
         helper.make_node("Cast", ["raw"], ["byte"], to=I64), helper.make_node("Cast", ["mask"], ["bit"], to=I64),
         helper.make_node("Sub", ["byte", "centre"], ["signed"]),
         helper.make_node("Div", ["best", "seven"], ["quotient"]),
         helper.make_node("Mod", ["signed", "seven"], ["floored"]),
         helper.make_node("Mod", ["signed", "seven"], ["truncated"], fmod=1),
         helper.make_node("Mul", ["best", "bit"], ["kept"]), helper.make_node("Add", ["kept", "byte"], ["index"]),
         helper.make_node("Gather", ["table", "index"], ["rows"]),
         helper.make_node("Cast", ["quotient"], ["narrow"], to=I32),
         helper.make_node("Max", ["signed", "kept"], ["most"])],
        [info("x", F32, x.shape), info("raw", TensorProto.UINT8, raw.shape),
         info("mask", TensorProto.BOOL, mask.shape)],
        [info("quotient", I64, None), info("floored", I64, None), info("truncated", I64, None), info("rows", F32, None),
         info("narrow", I32, None), info("most", I64, None)],
        {"table": table, "seven": np.array(7), "centre": np.array(128)}, [x, raw, mask])
    best, signed = x.argmax(2), raw.astype(np.int64) - 128
    np.testing.assert_array_equal(got["quotient"], best // 7)
    np.testing.assert_array_equal(got["floored"], signed % 7)
    np.testing.assert_array_equal(got["truncated"], np.fmod(signed, 7))
    np.testing.assert_array_equal(got["rows"], table[best * mask + raw])
    np.testing.assert_array_equal(got["narrow"], best // 7)
    np.testing.assert_array_equal(got["most"], np.maximum(signed, best * mask))


@pytest.mark.parametrize("soc", npu.SOCS)
def test_masks_that_are_repeated_along_rows(soc, tmp_path):
    """As the attention of language models combines them: one bool a row, and one a column."""
    rng = np.random.default_rng(12)
    scores = rng.integers(-64, 64, (2, 3, 20, 20)).astype(np.float32)
    rows, columns = (rng.integers(0, 2, shape).astype(bool) for shape in ((2, 1, 20, 1), (1, 1, 20, 20)))
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("And", ["rows", "columns"], ["both"]),
         helper.make_node("Where", ["both", "scores", "low"], ["masked"])],
        [info("scores", F32, scores.shape), info("rows", TensorProto.BOOL, rows.shape),
         info("columns", TensorProto.BOOL, columns.shape)], [info("masked", F32, None)],
        {"low": np.float32(-1000)}, [scores, rows, columns])
    np.testing.assert_array_equal(got["masked"], np.where(rows & columns, scores, np.float32(-1000)))


@pytest.mark.parametrize("soc", npu.SOCS)
def test_floats_become_integers(soc, tmp_path):
    """The conversion truncates towards 0."""
    x = np.array([[-2.75, -2, -0.5, 0, 0.5, 1.5, 2.5, 1000, -1e4]], np.float32).repeat(3, 0)
    got, _, _ = outputs_on(soc, tmp_path,
                           [helper.make_node("Cast", ["x"], ["wide"], to=I64),
                            helper.make_node("Cast", ["x"], ["narrow"], to=I32)],
                           [info("x", F32, x.shape)], [info("wide", I64, None), info("narrow", I32, None)], {}, [x])
    np.testing.assert_array_equal(got["wide"], np.trunc(x))
    np.testing.assert_array_equal(got["narrow"], np.trunc(x))


def test_layers_that_leave_the_range_of_f16_are_named(tmp_path):
    """The first one, with these inputs; not the layers behind it, and not what f16 holds."""
    square = [helper.make_node("Mul", ["x", "x"], ["square"], name="square"),
              helper.make_node("Transpose", ["square"], ["turned"], name="turn", perm=[1, 0]),
              helper.make_node("ReduceMax", ["turned"], ["y"], name="largest", axes=[1], keepdims=0)]
    graph = helper.make_graph(square, "g", [info("x", F32, (3, 40))], [info("y", F32, None)])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    om = npu.build(path, tmp_path, "Ascend310P3")
    x = np.ones((3, 40), np.float32)
    for largest, code in ((200, 0), (300, 1)):
        x[1, 7] = largest
        np.save(tmp_path / "x.npy", x)
        done, out, err = call(tool("om-run"), om, "--input", tmp_path / "x.npy", "--check-ranges")
        assert done == code and not err, out + err
        assert ("1 of 120 elements of 'square' are infinite" in out) == bool(code), out
        assert ("allow_mix_precision" in out) == bool(code)
        # A plain run points there when a result is not finite.
        done, out, err = call(tool("om-run"), om, "--input", tmp_path / "x.npy")
        assert done == 0 and ("--check-ranges names the layers" in out) == bool(code), out + err
    _, out, _ = call(tool("om-run"), om, "--input", tmp_path / "x.npy", "--check-ranges", "--json")
    first, = json.loads(out)["beyond_f16"]
    assert first["tensor"] == "square" and first["not_finite"] == 1 and first["elements"] == 120
    # With f32 for the product nothing leaves the range.
    wide = npu.build(path, tmp_path, "Ascend310P3", ["--precision_mode=must_keep_origin_dtype"])
    done, out, err = call(tool("om-run"), wide, "--input", tmp_path / "x.npy", "--check-ranges")
    assert done == 0, out + err


@pytest.mark.parametrize("soc", npu.SOCS)
def test_sums_and_factors_beyond_f16_keep_quotients(soc, tmp_path):
    """A sum of squares, a sum of exponentials and a factor of 10^6: quotients were 0, and products wrong."""
    rng = np.random.default_rng(3)
    x, e = (rng.standard_normal((4, 64)).astype(np.float32) for _ in range(2))
    factor = np.where(np.arange(64) % 7, 1, 1e6).astype(np.float32)
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("ReduceSumSquare", ["x"], ["squares"], axes=[1]),
         helper.make_node("Sqrt", ["squares"], ["norm"]),
         helper.make_node("Div", ["x", "norm"], ["unit"]),
         helper.make_node("Exp", ["e"], ["exp"]),
         helper.make_node("ReduceSum", ["exp", "axis"], ["total"]),
         helper.make_node("Div", ["exp", "total"], ["share"]),
         helper.make_node("Mul", ["unit", "factor"], ["large"]),
         helper.make_node("Mul", ["large", "small"], ["scaled"])],
        [info("x", F32, x.shape), info("e", F32, e.shape)],
        [info(name, F32, None) for name in ("unit", "share", "scaled")],
        {"axis": np.array([1]), "factor": factor, "small": np.float32(1e-4)}, [x * 300, e + 7])
    unit = x / np.sqrt((x * x).sum(1, keepdims=True))
    share = np.exp(e) / np.exp(e).sum(1, keepdims=True)
    for name, want in {"unit": unit, "share": share, "scaled": unit * factor * np.float32(1e-4)}.items():
        np.testing.assert_allclose(got[name], want, rtol=5e-3, atol=2e-3 * np.abs(want).max(), err_msg=name)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_products_of_vectors(soc, tmp_path):
    """A vector on either side of batches of matrices; a part of a larger tensor as the result."""
    rng = np.random.default_rng(7)
    rows, many, wide = (rng.integers(-8, 8, shape).astype(np.float32) / 4
                        for shape in ((5,), (3, 5, 16), (6, 16, 5)))
    side = rng.integers(-8, 8, (6, 1)).astype(np.float32) / 4
    names = ["from_left", "from_right", "computed", "part"]
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("MatMul", ["rows", "many_constant"], ["from_left"]),
         helper.make_node("MatMul", ["wide", "rows_constant"], ["from_right"]),
         helper.make_node("MatMul", ["rows", "many"], ["computed"]),
         helper.make_node("Concat", ["from_right", "side"], ["part"], axis=1)],
        [info(name, F32, value.shape)
         for name, value in (("rows", rows), ("many", many), ("wide", wide), ("side", side))],
        [info(name, F32, None) for name in names],
        {"many_constant": many, "rows_constant": rows}, [rows, many, wide, side])
    np.testing.assert_allclose(got["from_left"], rows @ many, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(got["computed"], rows @ many, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(got["from_right"], wide @ rows, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(got["part"], np.concatenate([wide @ rows, side], 1), rtol=2e-3,
                               atol=2e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_quotients_by_the_norm_of_zeros(soc, tmp_path):
    """What is added to a norm, or bounds it, against a division by zero is too small for f16."""
    rng = np.random.default_rng(6)
    x = rng.integers(-64, 64, (2, 8, 32)).astype(np.float32) / 16
    x[:, 3:] = 0
    norm = np.sqrt(np.square(x).sum(-1, keepdims=True))
    got, report, placement = outputs_on(
        soc, tmp_path,
        [helper.make_node("ReduceL2", ["x"], ["norm"], axes=[-1]),
         helper.make_node("Max", ["norm", "least"], ["bound"]),
         helper.make_node("Add", ["norm", "least"], ["sum"]),
         helper.make_node("Expand", ["bound", "shape"], ["bounds"]),
         helper.make_node("Expand", ["sum", "shape"], ["sums"]),
         helper.make_node("Div", ["x", "bounds"], ["y"]), helper.make_node("Div", ["x", "sums"], ["z"])],
        [info("x", F32, x.shape)], [info("y", F32, None), info("z", F32, None)],
        {"least": np.float32(1e-12), "shape": np.array(x.shape)}, [x])
    for name in ("y", "z"):
        np.testing.assert_allclose(got[name], x / np.maximum(norm, 1e-12), atol=2e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_columns_that_change_in_place(soc, tmp_path):
    """Both columns of a pair are computed where they stand, from and to copies."""
    rng = np.random.default_rng(7)
    x = rng.integers(-64, 64, (8, 1, 1, 2)).astype(np.float32) / 16
    grid = rng.integers(-64, 64, (1, 7, 7, 2)).astype(np.float32) / 16
    nodes = [helper.make_node("Add", ["x", "grid"], ["all"]),
             helper.make_node("Split", ["all"], ["p", "q"], axis=3)]
    for name, factor in (("p", "two"), ("q", "three")):
        nodes += [helper.make_node("Mul", [name, factor], [name + "1"]),
                  helper.make_node("Sub", [name + "1", "one"], [name + "2"])]
    nodes.append(helper.make_node("Concat", ["p2", "q2"], ["y"], axis=3))
    got, report, placement = outputs_on(
        soc, tmp_path, nodes, [info("x", F32, x.shape)], [info("y", F32, None)],
        {"grid": grid, "one": np.float32(1), "two": np.float32(2), "three": np.float32(3)}, [x])
    np.testing.assert_allclose(got["y"], (x + grid) * [2, 3] - 1, atol=0.03)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_the_largest_elements(soc, tmp_path):
    """Ties, masked elements, blocks of candidates with a rest, another axis, smallest first; also behind a
    product, where everything is f16."""
    rng = np.random.default_rng(3)
    x = rng.integers(-300, 300, (2, 3001)).astype(np.float32)  # many are equal
    x[0, 2900:] = -np.inf
    y = rng.permutation(40 * 6).reshape(40, 6).astype(np.float32)
    few = np.full((1, 50), -np.inf, np.float32)
    few[0, 40:42] = [1, 2]
    weight = np.eye(64, dtype=np.float32)
    z = rng.integers(-500, 500, (3, 64)).astype(np.float32)

    def top(name, source, k, **attributes):
        return helper.make_node("TopK", [source, k], [f"{name}_v", f"{name}_i"], **attributes)

    nodes = [top("long", "x", "seven"), top("small", "y", "five", axis=0, largest=0),
             top("one", "y", "single", axis=1), top("masked", "few", "five"),
             helper.make_node("MatMul", ["z", "weight"], ["product"]), top("half", "product", "five"),
             helper.make_node("Gather", ["rows", "half_i"], ["chosen"])]
    shapes = {"long": (2, 7), "small": (5, 6), "one": (40, 1), "masked": (1, 5), "half": (3, 5)}
    outputs = [value for name, shape in shapes.items()
               for value in (info(f"{name}_v", F32, shape), info(f"{name}_i", I64, shape))]
    rows = rng.integers(-99, 99, (64, 16)).astype(np.float32)
    got, _, _ = outputs_on(
        soc, tmp_path, nodes,
        [info(n, F32, a.shape) for n, a in (("x", x), ("y", y), ("few", few), ("z", z))],
        [*outputs, info("chosen", F32, (3, 5, 16))],
        {"seven": np.array([7]), "five": np.array([5]), "single": np.array([1]), "weight": weight, "rows": rows},
        [x, y, few, z])

    def expected(array, k, axis=-1, largest=True):
        order = np.argsort(-array if largest else array, axis=axis, kind="stable")
        order = np.take(order, range(k), axis=axis)
        return np.take_along_axis(array, order, axis), order

    wanted = [*expected(x, 7), *expected(y, 5, 0, False), *expected(y, 1, 1), *expected(few, 5), *expected(z, 5)]
    for value, array in zip(outputs, wanted):
        np.testing.assert_array_equal(got[value.name], array, err_msg=value.name)
    np.testing.assert_array_equal(got["chosen"], rows[expected(z, 5)[1]])


@pytest.mark.parametrize("soc", npu.SOCS)
def test_attention_of_an_odd_number_of_tokens(soc, tmp_path):
    """Scores whose rows do not begin at blocks of 32 bytes have gaps in memory, which nothing reads."""
    rng = np.random.default_rng(8)
    q, k, v = (rng.standard_normal((2, 3, 197, 64)).astype(np.float32) for _ in range(3))
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "kt"], ["scores"]),
             helper.make_node("Mul", ["scores", "scale"], ["scaled"]),
             helper.make_node("Softmax", ["scaled"], ["odds"], axis=-1),
             helper.make_node("MatMul", ["odds", "v"], ["y"])]
    got, _, _ = outputs_on(soc, tmp_path, nodes,
                           [info(n, F32, q.shape) for n in "qkv"], [info("y", F32, q.shape)],
                           {"scale": np.array(0.125, np.float32)}, [q, k, v])
    scores = q @ k.transpose(0, 1, 3, 2) * 0.125
    odds = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(got["y"], odds / odds.sum(-1, keepdims=True) @ v, atol=4e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_signs_and_inverse_functions(soc, tmp_path):
    x = np.linspace(-0.96875, 0.96875, 63, dtype=np.float32).reshape(7, 9)
    functions = {"Sign": np.sign, "Atan": np.arctan, "Asin": np.arcsin, "Acos": np.arccos,
                 "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh, "Atanh": np.arctanh}
    got, _, _ = outputs_on(soc, tmp_path,
                           [helper.make_node(kind, ["x"], [kind]) for kind in functions],
                           [info("x", F32, x.shape)], [info(kind, F32, x.shape) for kind in functions], {}, [x])
    npu.assert_near(got, {kind: function(x).astype(np.float32) for kind, function in functions.items()},
                    soc, error=1e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_elements_at_the_places_of_a_top_k(soc, tmp_path):
    """Detectors pick the boxes of the best scores: the arithmetic with their places is the NPU's."""
    rng = np.random.default_rng(21)
    scores = rng.permutation(2 * 80).reshape(2, 80).astype(np.float32) / 256
    boxes = rng.integers(-500, 500, (2, 4, 80)).astype(np.float32) / 4
    nodes = [helper.make_node("TopK", ["scores", "k"], ["best", "places"], axis=1),
             helper.make_node("Unsqueeze", ["places", "one"], ["rows"]),
             helper.make_node("Expand", ["rows", "shape"], ["all"]),
             helper.make_node("GatherElements", ["boxes", "all"], ["picked"], axis=2)]
    got, _, _ = outputs_on(soc, tmp_path, nodes,
                           [info("scores", F32, scores.shape), info("boxes", F32, boxes.shape)],
                           [info("best", F32, None), info("picked", F32, None)],
                           {"k": np.array([5]), "one": np.array([1]), "shape": np.array([2, 4, 5])},
                           [scores, boxes])
    places = np.argsort(-scores, 1)[:, :5]
    np.testing.assert_array_equal(got["best"], np.take_along_axis(scores, places, 1))
    np.testing.assert_array_equal(got["picked"], np.take_along_axis(boxes, places[:, None].repeat(4, 1), 2))


@pytest.mark.parametrize("soc", npu.SOCS)
def test_logarithms_of_sums_and_repeated_rows(soc, tmp_path):
    x = np.random.default_rng(2).normal(0, 8, (3, 24, 10)).astype(np.float32)
    x[1, :, 3] = -np.inf
    x[2, 5, 4] = np.inf
    rows = x[:1, :6, :8]
    nodes = [helper.make_node("ReduceLogSumExp", ["x"], ["sum"], axes=[1], keepdims=0),
             helper.make_node("Resize", ["rows", "", "scales"], ["twice"], mode="nearest",
                              coordinate_transformation_mode="asymmetric", nearest_mode="floor")]
    got, _, _ = outputs_on(soc, tmp_path, nodes, [info("x", F32, x.shape), info("rows", F32, rows.shape)],
                           [info("sum", F32, (3, 10)), info("twice", F32, (1, 6, 16))],
                           {"scales": np.array([1, 1, 2], np.float32)}, [x, rows])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        want = np.log(np.exp(x.astype(np.float64)).sum(1))
    np.testing.assert_allclose(got["sum"], want, rtol=2e-3, atol=5e-3)
    np.testing.assert_allclose(got["twice"], rows.repeat(2, 2), rtol=1e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_clamped_floats_become_bytes(soc, tmp_path):
    """As models end whose results are pictures: the conversion truncates towards 0."""
    x = np.linspace(-1.25, 1.25, 240, dtype=np.float32).reshape(2, 3, 8, 5)
    constants = {"scale": np.float32(255), "low": np.float32(0), "high": np.float32(255),
                 "least": np.float32(-128), "most": np.float32(100)}
    nodes = [helper.make_node("Mul", ["x", "scale"], ["wide"]),
             helper.make_node("Clip", ["wide", "low", "high"], ["picture"]),
             helper.make_node("Cast", ["picture"], ["u8"], to=TensorProto.UINT8),
             helper.make_node("Clip", ["wide", "least", "most"], ["inside"]),
             helper.make_node("Cast", ["inside"], ["s8"], to=TensorProto.INT8)]
    got, _, _ = outputs_on(soc, tmp_path, nodes, [info("x", F32, x.shape)],
                           [info("u8", TensorProto.UINT8, x.shape), info("s8", TensorProto.INT8, x.shape)],
                           constants, [x])
    wide = x * np.float32(255)
    np.testing.assert_array_equal(got["u8"], np.clip(wide, 0, 255).astype(np.uint8))
    np.testing.assert_array_equal(got["s8"], np.trunc(np.clip(wide, -128, 100)).astype(np.int8))


@pytest.mark.parametrize("soc", npu.SOCS)
def test_inputs_without_elements(soc, tmp_path):
    """A first step of a language model: its cache has no rows."""
    rng = np.random.default_rng(8)
    query, key = (rng.standard_normal((1, 2, 3, 8)).astype(np.float32) for _ in range(2))
    got, _, _ = outputs_on(
        soc, tmp_path,
        [helper.make_node("Concat", ["past", "key"], ["keys"], axis=2),
         helper.make_node("Transpose", ["keys"], ["turned"], perm=[0, 1, 3, 2]),
         helper.make_node("MatMul", ["query", "turned"], ["scores"]),
         helper.make_node("ReduceSum", ["past", "axis"], ["sum"], keepdims=0),
         helper.make_node("Relu", ["past"], ["nothing"])],
        [info("query", F32, query.shape), info("past", F32, (1, 2, 0, 8)), info("key", F32, key.shape)],
        [info(name, F32, None) for name in ("scores", "sum", "nothing")],
        {"axis": np.array([2])}, [query, np.zeros((1, 2, 0, 8), np.float32), key])
    np.testing.assert_allclose(got["scores"], query @ key.transpose(0, 1, 3, 2), atol=2e-2)
    np.testing.assert_array_equal(got["sum"], np.zeros((1, 2, 8), np.float32))
    assert got["nothing"].shape == (1, 2, 0, 8)


@pytest.mark.parametrize("soc", [*npu.SOCS, None])
def test_borders_of_a_value_of_the_run(soc, tmp_path):
    """Pad with a value that is an input; negative pads take elements away."""
    rng = np.random.default_rng(10)
    x = (rng.integers(-64, 64, (2, 3, 6, 70)) / 16).astype(np.float32)
    value = np.float32(-2.5)
    nodes = [helper.make_node("Pad", ["x", "around", "value"], ["grown"]),
             helper.make_node("Pad", ["x", "mixed", "value"], ["moved"]),
             helper.make_node("Pad", ["x", "around", "value"], ["edges"], mode="edge")]
    inputs = [info("x", F32, x.shape), info("value", F32, [])]
    outputs = [info(name, F32, None) for name in ("grown", "moved", "edges")]
    constants = {"around": np.array([0, 0, 1, 3, 0, 0, 2, 0]), "mixed": np.array([0, 1, -2, 0, -1, 0, 3, -5])}
    if soc:
        got, _, _ = outputs_on(soc, tmp_path, nodes, inputs, outputs, constants, [x, value])
    else:
        graph = helper.make_graph(nodes, "g", inputs, outputs,
                                  [numpy_helper.from_array(v, k) for k, v in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(tmp_path / "m.onnx"))
        got, _ = npu.run(npu.build(tmp_path / "m.onnx", tmp_path), [x, value])
    np.testing.assert_array_equal(got["grown"], np.pad(x, [(0, 0), (0, 0), (1, 2), (3, 0)], constant_values=-2.5))
    np.testing.assert_array_equal(got["edges"], np.pad(x, [(0, 0), (0, 0), (1, 2), (3, 0)], mode="edge"))
    np.testing.assert_array_equal(
        got["moved"], np.pad(x[:1, :, 2:, :65], [(0, 0), (1, 0), (0, 3), (0, 0)], constant_values=-2.5))


def test_outputs_that_join_parts(tmp_path):
    """Parts that are converted one by one have the bits of the whole; L2 is too small for that here."""
    rng = np.random.default_rng(11)
    values = [rng.normal(size=(2, rows, 300)).astype(np.float32) for rows in (40, 70)]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["a"], ["r"]), helper.make_node("Sigmoid", ["b"], ["s"]),
         helper.make_node("Concat", ["r", "s"], ["y"], axis=1)],
        "g", [info("a", F32, values[0].shape), info("b", F32, values[1].shape)], [info("y", F32, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(tmp_path / "m.onnx"))
    table = tmp_path / "small.soc"
    table.write_text("base = Ascend310P3\nl2Bytes = 131072\n")
    found = []
    for name, disabled in (("parts", []), ("whole", ["--disable_passes=npu-convert-parts"])):
        (tmp_path / name).mkdir()
        om = npu.build(tmp_path / "m.onnx", tmp_path / name, "Ascend310P3", [f"--soc_file={table}", *disabled])
        found.append(npu.run(om, values, "--check-hazards", f"--soc-file={table}"))
    np.testing.assert_array_equal(found[0][0]["y"].view(np.uint32), found[1][0]["y"].view(np.uint32))
    conversions = [sum(launch["program"].startswith("map_extf") for launch in report["npu"]["per_launch"])
                   for _, report in found]
    assert conversions[0] > conversions[1], found[0][1]["npu"]["per_launch"]
