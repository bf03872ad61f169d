#===-- test_open_norms.py - softmax and layer norms whose sizes are known at run time ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that fill registers and that do not, rows with NaN and infinities, parameters that are broadcast.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from open_models import session_of  # noqa: E402


def softmax(x):
    with np.errstate(invalid="ignore"):
        power = np.exp(x.astype("f8") - x.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True)


def test_softmax(tmp_path):
    rng = np.random.default_rng(1)
    session = session_of(tmp_path, helper.make_node("Softmax", ["x"], ["y"]), {"x": (np.float32, ["b", "n"])}, np.float32, {})
    for rows, width in ((1, 1), (3, 7), (2, 16), (2, 17), (3, 31), (2, 33), (1, 48), (5, 64), (2, 65), (4, 75), (2, 500)):
        x = (rng.standard_normal((rows, width)) * 4).astype("f4")
        np.testing.assert_allclose(session.run_values({"x": x})["y"], softmax(x), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("width", [2, 16, 35, 75, 300])
@pytest.mark.parametrize("place", [0, -1, 1])
def test_softmax_of_what_is_no_number(tmp_path, width, place):
    """A row with a NaN has no other result, and the rows beside it do not notice."""
    session = session_of(tmp_path, helper.make_node("Softmax", ["x"], ["y"]), {"x": (np.float32, ["b", "n"])}, np.float32, {})
    x = np.random.default_rng(2).standard_normal((3, width)).astype("f4")
    x[1, place] = np.nan
    x[2, place] = -np.inf
    got = session.run_values({"x": x})["y"]
    assert np.isnan(got[1]).all() and got[2, place] == 0
    np.testing.assert_allclose(got[[0, 2]], softmax(x[[0, 2]]), rtol=2e-6, atol=1e-7)


REDUCTIONS = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceMean": np.mean, "ReduceL1": lambda x, axis: np.abs(x).sum(axis),
              "ReduceLogSumExp": lambda x, axis: np.log(np.exp(x).sum(axis)), "ReduceProd": np.prod,
              "ReduceL2": lambda x, axis: np.sqrt(np.square(x).sum(axis)), "ReduceSumSquare": lambda x, axis: np.square(x).sum(axis)}


@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("axes", [(-1,), (1, 2), (0, 2), (0, 1, 2), (0,), (1,), (0, 1)])
def test_reductions(tmp_path, kind, axes):
    """Rows and columns shorter than a vector, of whole ones, of blocks of them and of what is between; NaN is never lost."""
    rng = np.random.default_rng(4)
    node = helper.make_node(kind, ["x"], ["y"], axes=list(axes), keepdims=0)
    session = session_of(tmp_path, node, {"x": (np.float32, ["a", "b", "c"])}, np.float32, {})
    for shape in ((2, 3, 1), (2, 2, 15), (1, 3, 16), (2, 2, 17), (3, 1, 63), (1, 2, 64), (2, 1, 65), (1, 1, 80), (2, 2, 131), (5, 9, 16)):
        x = rng.uniform(.5, 1.5, shape).astype("f4") * rng.choice([-1, 1], shape).astype("f4")
        want = REDUCTIONS[kind](x.astype("f8"), axes)
        np.testing.assert_allclose(session.run_values({"x": x})["y"], want, rtol=1e-5, atol=1e-6)
        for place in (0, shape[2] // 2, shape[2] - 1):
            holed = x.copy()
            holed[0, 0, place] = np.nan
            got, want = session.run_values({"x": holed})["y"], REDUCTIONS[kind](holed.astype("f8"), axes)
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("is_last", [0, 1])
@pytest.mark.parametrize("dtype", ["f4", "f2", "f8"])
def test_places_of_extremes(tmp_path, kind, is_last, dtype):
    """Of equal values the first or the last, of NaN in the same way, of infinities alone too."""
    rng = np.random.default_rng(5)
    node = helper.make_node(kind, ["x"], ["y"], axis=-1, keepdims=0, select_last_index=is_last)
    session = session_of(tmp_path, node, {"x": (np.dtype(dtype).type, ["b", "n"])}, np.int64, {})

    def place_of(row):
        hits = np.isnan(row) if np.isnan(row).any() else row == (row.max() if kind == "ArgMax" else row.min())
        return np.flatnonzero(hits)[-1 if is_last else 0]

    for width in (1, 7, 15, 16, 17, 64, 65, 81, 300):
        x = rng.integers(-3, 4, (6, width)).astype(dtype)
        x[1, rng.integers(width, size=2)] = np.nan
        x[2], x[3], x[4, -1] = np.inf, -np.inf, np.nan
        assert session.run_values({"x": x})["y"].tolist() == [place_of(row) for row in x]


@pytest.mark.parametrize("axis, opset", [(1, 17), (-1, 17), (-1, 12)])
def test_hardmax(tmp_path, axis, opset):
    """The first maximum or NaN is one, also of rows that have no elements."""
    rng = np.random.default_rng(6)
    node = helper.make_node("Hardmax", ["x"], ["y"], axis=axis)
    session = session_of(tmp_path, node, {"x": (np.float32, ["a", "b", "c"])}, np.float32, {}, opset)
    for shape in ((2, 3, 5), (1, 5, 17), (3, 2, 80), (2, 2, 0)):
        x = rng.integers(-2, 3, shape).astype("f4")
        x[0, 1, 2:4] = np.nan
        want = np.zeros_like(x)
        if x.size:
            np.put_along_axis(want, np.expand_dims(x.argmax(axis), axis), 1, axis)
        assert (session.run_values({"x": x})["y"] == want).all()


# Parameters of the dims that are normalized, of one number, and of rows that are repeated.
@pytest.mark.parametrize("axis, shape", [(-1, (24,)), (-1, (1,)), (1, (5, 24)), (1, (1, 24)), (1, (5, 1))])
@pytest.mark.parametrize("has_bias", [False, True])
def test_layer_norm(tmp_path, axis, shape, has_bias):
    rng = np.random.default_rng(3)
    constants = {name: rng.standard_normal(shape).astype("f4") for name in ("s", "t")[:1 + has_bias]}
    node = helper.make_node("LayerNormalization", ["x", *constants], ["y"], axis=axis)
    session = session_of(tmp_path, node, {"x": (np.float32, ["b", 5, 24])}, np.float32, constants)
    for batch in (1, 3):
        x = rng.standard_normal((batch, 5, 24)).astype("f4")
        dims = (2,) if axis == -1 else (1, 2)
        wide = x.astype("f8")
        want = (wide - wide.mean(dims, keepdims=True)) / np.sqrt(wide.var(dims, keepdims=True) + 1e-5)
        want = want * constants["s"] + constants.get("t", 0)
        np.testing.assert_allclose(session.run_values({"x": x})["y"], want, rtol=1e-5, atol=1e-5)


def test_tile_and_power(tmp_path):
    """Repeats that are inputs, also none; whole bases of fractional powers."""
    session = session_of(tmp_path, helper.make_node("Tile", ["x", "r"], ["y"]), {"x": (np.float32, ["a", "b"]), "r": (np.int64, [2])}, np.float32, {})
    for shape, repeats in (((2, 3), (3, 2)), ((3, 1), (1, 5)), ((1, 70), (4, 2)), ((2, 0), (2, 3)), ((2, 2), (0, 4))):
        x = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        assert np.array_equal(session.run_values({"x": x, "r": np.array(repeats)})["y"], np.tile(x, repeats))
    session = session_of(tmp_path, helper.make_node("Pow", ["x", "p"], ["y"]), {"x": (np.int64, ["a"]), "p": (np.float32, ["a"])}, np.int64, {})
    got = session.run_values({"x": np.array([1, 4, 9, 5]), "p": np.array([3, .5, 1.5, 2], "f4")})["y"]
    assert got.dtype == np.int64 and got.tolist() == [1, 2, 27, 25]


@pytest.mark.parametrize("dims", [["a"], [60]])
@pytest.mark.parametrize("kind, power", [(np.int32, np.float32), (np.int64, np.float64)])
def test_powers_of_integers_are_exact(tmp_path, dims, kind, power):
    """Exponents that are floats: inputs like the bases, a single input, a constant."""
    x, node = np.arange(60).astype(kind), helper.make_node("Pow", ["x", "p"], ["y"])
    session = session_of(tmp_path, node, {"x": (kind, dims), "p": (power, dims)}, kind, {})
    single = session_of(tmp_path, node, {"x": (kind, dims), "p": (power, [])}, kind, {})
    for exponent in (2, 3):
        value = np.array(exponent, power)
        stated = session_of(tmp_path, node, {"x": (kind, dims)}, kind, {"p": value})
        for got in (session.run_values({"x": x, "p": np.full(60, value)}), single.run_values({"x": x, "p": value}), stated.run_values({"x": x})):
            assert got["y"].dtype == kind and np.array_equal(got["y"], x**exponent)
    for exponent, want in ((.5, x), (1.5, x**3)):
        fraction = session_of(tmp_path, node, {"x": (kind, dims)}, kind, {"p": np.array(exponent, power)})
        assert np.array_equal(fraction.run_values({"x": x * x})["y"], want)
