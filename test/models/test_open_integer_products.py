#===-- test_open_integer_products.py - MatMulInteger with any number of rows -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of bytes by the instructions of this machine's level, against 64-bit integers.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from open_models import full, session_of  # noqa: E402

KINDS = (np.uint8, np.int8)


def integer_product(folder, inputs, constants):
    node = helper.make_node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])
    return session_of(folder, node, inputs, np.int32, constants)


def product(a, b, za, zb):
    """Wraps at 32 bits, as the operator does."""
    wide = (a.astype(np.int64) - np.int64(za)) @ (b.astype(np.int64) - zb.astype(np.int64))
    return wide.astype(np.int32)


@pytest.mark.parametrize("a_kind", KINDS)
@pytest.mark.parametrize("b_kind", KINDS)
@pytest.mark.parametrize("k, n", [(1, 1), (3, 33), (64, 15), (130, 16), (1027, 70), (4, 16), (64, 96), (1100, 208)])
def test_constant_weights(tmp_path, a_kind, b_kind, k, n):
    rng = np.random.default_rng(k)
    b, zb = full(rng, b_kind, (k, n)), full(rng, b_kind, (n,))
    session = integer_product(tmp_path, {"a": (a_kind, ["m", k]), "za": (a_kind, [])}, {"b": b, "zb": zb})
    for m in (0, 1, 4, 5, 12, 23, 49, 130):
        a, za = full(rng, a_kind, (m, k)), full(rng, a_kind, ())
        got = session.run_values({"a": a, "za": za})["y"]
        np.testing.assert_array_equal(got, product(a, b, za, zb), err_msg=f"{m} rows")


@pytest.mark.parametrize("b_kind", KINDS)
def test_dynamic_range(tmp_path, b_kind):
    """com.microsoft.DynamicQuantizeMatMul quantizes its rows to 8 bits together."""
    rng = np.random.default_rng(5)
    k, n = 768, 80
    b, zb, scales = full(rng, b_kind, (k, n)), full(rng, b_kind, (n,)), rng.uniform(.01, .02, n).astype("f4")
    bias = rng.standard_normal(n).astype("f4")
    node = helper.make_node("DynamicQuantizeMatMul", ["a", "b", "s", "zb", "bias"], ["y"], domain="com.microsoft")
    session = session_of(tmp_path, node, {"a": (np.float32, ["m", k])}, np.float32,
                         {"b": b, "s": scales, "zb": zb, "bias": bias})
    for m in (1, 3, 50):
        a = rng.standard_normal((m, k)).astype("f4")
        low, high = min(a.min(), np.float32(0)), max(a.max(), np.float32(0))
        step = (high - low) / np.float32(255)
        zero = np.rint(-low / step)
        stored = np.clip(np.rint(a / step) + zero, 0, 255) - zero
        want = (stored.astype("f8") @ (b.astype("f8") - zb)) * step * scales + bias
        np.testing.assert_allclose(session.run_values({"a": a})["y"], want, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("a_kind", KINDS)
@pytest.mark.parametrize("b_kind", KINDS)
def test_several_matrices(tmp_path, a_kind, b_kind):
    rng = np.random.default_rng(7)
    session = integer_product(tmp_path, {"a": (a_kind, ["g", 2, "m", "k"]), "b": (b_kind, [2, "k", "n"]),
                                         "za": (a_kind, []), "zb": (b_kind, [])}, {})
    for g, m, k, n in ((1, 6, 5, 3), (3, 50, 64, 65), (2, 9, 1100, 17), (1, 7, 0, 4)):
        a, b = full(rng, a_kind, (g, 2, m, k)), full(rng, b_kind, (2, k, n))
        za, zb = full(rng, a_kind, ()), full(rng, b_kind, ())
        got = session.run_values({"a": a, "b": b, "za": za, "zb": zb})["y"]
        np.testing.assert_array_equal(got, product(a, b, za, zb), err_msg=f"{(g, m, k, n)}")


def test_sums_wrap(tmp_path):
    """The largest sums of each kind, of which those without zero points would not fit in 32 bits."""
    k = 70000
    b = np.full((k, 20), -128, np.int8)
    session = integer_product(tmp_path, {"a": (np.uint8, ["m", k]), "za": (np.uint8, [])},
                              {"b": b, "zb": np.full(20, 127, np.int8)})
    a = np.full((9, k), 255, np.uint8)
    for za in (0, 255):
        got = session.run_values({"a": a, "za": np.array(za, np.uint8)})["y"]
        np.testing.assert_array_equal(got, product(a, b, za, np.full(20, 127)))


@pytest.mark.parametrize("per_column, has_bias", [(False, False), (True, True)])
def test_layer_quantized_dynamically(tmp_path, per_column, has_bias):
    """The product scales its sums itself (host-scale-sums)."""
    rng = np.random.default_rng(5)
    k, n = 70, 100
    w, bias = full(rng, np.int8, (k, n)), rng.standard_normal(n).astype("f4")
    scale = rng.uniform(.01, .1, n if per_column else ()).astype("f4")
    zero = full(rng, np.int8, (n,) if per_column else ())
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             helper.make_node("MatMulInteger", ["q", "w", "z", "zw"], ["i"]),
             helper.make_node("Cast", ["i"], ["f"], to=1),
             helper.make_node("Mul", ["s", "sw"], ["both"]),
             helper.make_node("Mul", ["f", "both"], ["m" if has_bias else "y"])]
    constants = {"w": w, "zw": zero, "sw": scale}
    if has_bias:
        nodes.append(helper.make_node("Add", ["bias", "m"], ["y"]))
        constants["bias"] = bias
    session = session_of(tmp_path, nodes, {"x": (np.float32, ["b", "s", k])}, np.float32, constants)
    for rows in ((1, 1), (2, 3), (1, 48), (3, 61)):
        x = rng.standard_normal((*rows, k)).astype("f4")
        low, high = min(x.min(), 0), max(x.max(), 0)
        step = np.float32(high - low) / np.float32(255)
        z = np.clip(np.rint(-low / step), 0, 255)
        q = np.clip(np.rint(x / step) + z, 0, 255)
        want = (q - z) @ (w.astype("f8") - zero) * (step * scale) + (bias if has_bias else 0)
        np.testing.assert_allclose(session.run_values({"x": x})["y"], want, rtol=1e-5, atol=1e-3)
