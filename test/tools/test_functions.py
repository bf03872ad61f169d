"""Generated code of functions, for fixed and dynamic dims and each width of floats. Powers are those
of C's pow(): of negative bases, zeros, infinities and numbers that are none. Sines know the angles
of many turns, and inverse hyperbolic functions the largest numbers."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, mapping, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, compile_model  # noqa: E402

INF, NAN = np.inf, np.nan


def compile_graph(folder, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)]),
              folder / "functions.onnx")
    return Session(RUNTIME, compile_model(folder / "functions.onnx", folder), threads=1)


BASES = np.array([-INF, -3, -1.5, -1, -0.5, -0.0, 0.0, 0.5, 1, 1.5, 3, INF, NAN])
EXPONENTS = np.array([-INF, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 5, INF, NAN])


@pytest.mark.parametrize("exponents", [EXPONENTS, 5.0, None])
@pytest.mark.parametrize("dims", [[13, 15], ["N", "M"]])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_powers(tmp_path, dtype, dims, exponents):
    x = np.repeat(BASES[:, None], len(EXPONENTS), 1).astype(dtype)
    run_time = exponents is None
    y = np.repeat((EXPONENTS if run_time else np.broadcast_to(exponents, 15))[None], 13, 0)
    element = mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(dtype)]
    inputs = [helper.make_tensor_value_info(name, element, dims)
              for name in (("x", "y") if run_time else ("x",))]
    constants = [] if run_time else [numpy_helper.from_array(np.asarray(exponents, dtype), "y")]
    # A second node, so that the power is part of a fused loop.
    nodes = [helper.make_node("Pow", ["x", "y"], ["p"]), helper.make_node("Abs", ["p"], ["a"]),
             helper.make_node("Neg", ["p"], ["n"])]
    outputs = [helper.make_tensor_value_info(name, element, dims) for name in ("n", "a")]
    session = compile_graph(tmp_path, nodes, inputs, outputs, constants)
    feed = {"x": x, "y": y.astype(dtype)} if run_time else {"x": x}
    with np.errstate(all="ignore"):
        want = np.power(x.astype("f8"), y)
        got = session.run_values(feed)
    session.close()
    tolerance = 2e-3 if dtype == np.float16 else 1e-5
    np.testing.assert_allclose(-got["n"].astype("f8"), want, rtol=tolerance)
    np.testing.assert_allclose(got["a"].astype("f8"), np.abs(want), rtol=tolerance)


TURNS = {np.float16: [0, 1, 100, 1e4, 6e4], np.float32: [0, 1, 100, 1e4, 1e6, 1e9, 1e12]}
LARGE = {np.float16: [-6e4, -300, -0.9, 0, 1e-3, 0.9, 0.999, 1, 1.5, 300, 6e4],
         np.float32: [-1e30, -1e8, -0.999, 0, 1e-5, 0.5, 0.999, 1, 1.00001, 1e4, 1e30]}
FUNCTIONS = {"Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asinh": np.arcsinh,
             "Acosh": np.arccosh, "Atanh": np.arctanh}


@pytest.mark.parametrize("dims", [[28], ["N"]])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_large_arguments(tmp_path, dtype, dims):
    angles = np.concatenate([np.linspace(turn, turn * 1.003 + 3, 28) for turn in TURNS[dtype]])
    others = np.resize([*LARGE[dtype], -INF, INF, NAN], 28)
    element = mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(dtype)]
    nodes = [helper.make_node(op, ["x"], [op]) for op in FUNCTIONS]
    session = compile_graph(tmp_path, nodes, [helper.make_tensor_value_info("x", element, dims)],
                            [helper.make_tensor_value_info(op, element, dims) for op in FUNCTIONS])
    tolerance = 1e-3 if dtype == np.float16 else 1e-6
    with np.errstate(all="ignore"):
        for x in [*angles.reshape(-1, 28).astype(dtype), others.astype(dtype)]:
            got = session.run_values({"x": x})
            for op, function in FUNCTIONS.items():
                if op in ("Sin", "Cos", "Tan") and np.nanmax(np.abs(x)) > 2e12:
                    assert np.all(np.isnan(got[op]) | (np.abs(got[op]) <= 1) | (op == "Tan"))
                    continue
                np.testing.assert_allclose(got[op].astype("f8"), function(x.astype("f8")),
                                           rtol=tolerance, atol=tolerance / 10, err_msg=op)
    session.close()
