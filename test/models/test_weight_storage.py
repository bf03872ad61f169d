#===-- test_weight_storage.py - weights in 16 bits on the CPU --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products and convolutions with weights that are stored in f16 or bf16 and computed in f32.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, tool  # noqa: E402

K, N = 128, 100
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8}
MODES = {"f16": "--precision_mode=force_fp16", "bf16": "--precision_mode_v2=mixed_bfloat16"}


def rounded(weights, kind):
    if kind == "f16":
        return weights.astype(np.float16).astype(np.float32)
    return (weights.view(np.uint32) & 0xffff0000).view(np.float32)


def random_weights():
    return np.random.default_rng(2).standard_normal((K, N)).astype(np.float32)


def save(path, rows, weights, dtype=np.float32, image=False):
    """Writes y = relu(x * weights), or a 1x1 convolution with the same numbers."""
    kind = TensorProto.FLOAT16 if dtype == np.float16 else TensorProto.FLOAT
    columns = weights.shape[1]
    shape, out = ([rows, K, 5, 5], [rows, columns, 5, 5]) if image else ([rows, K], [rows, columns])
    stored = weights.T.reshape(columns, K, 1, 1) if image else weights
    graph = helper.make_graph(
        [helper.make_node("Conv" if image else "MatMul", ["x", "w"], ["p"], name="product"),
         helper.make_node("Relu", ["p"], ["y"])], "storage",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, out)],
        [numpy_helper.from_array(np.ascontiguousarray(stored).astype(dtype), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def compile_(path, *flags):
    """Returns the file of the model."""
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5", "--target=cpu",
                          f"--output={path.with_suffix('')}", *flags)
    assert code == 0, out + err
    return path.with_suffix(".om")


def run(path, rows, dtype=np.float32):
    session = Session(RUNTIME, path, threads=1)
    results = []
    for count in (1, 2, 9) if rows == "n" else (rows,):
        x = np.random.default_rng(count).standard_normal((count, K)).astype(dtype)
        results.append((x.astype(np.float64), session.run_values({"x": x})["y"]))
    session.close()
    return results


@pytest.mark.parametrize("rows", ["n", 1, 20])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_weights_that_do_not_change(tmp_path, rows, kind):
    """The file is smaller and the answers are those of f32; below AVX2 only bf16 is narrowed."""
    path = tmp_path / "model.onnx"
    weights = rounded(random_weights(), kind)
    save(path, rows, weights)
    for level in ("v2", "v3", "host"):
        # A compiled kernel of the host calls, too, so that only the weights differ.
        wide = compile_(path, f"--target_cpu={level}", "--disable_passes=cpu-narrow-weights" if
                        rows != "n" else "--disable_passes=host-pack-weights").stat().st_size
        narrow = compile_(path, f"--target_cpu={level}")
        if rows != "n":
            assert (wide - narrow.stat().st_size > K * N * 3 // 2) == (kind == "bf16" or
                                                                       level != "v2")
        for x, y in run(narrow, rows):
            want = np.maximum(x @ weights.astype(np.float64), 0)
            np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5 * want.max())


@pytest.mark.parametrize("rows", ["n", 1, 20])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_modes_of_precision_round_weights(tmp_path, rows, kind):
    path = tmp_path / "model.onnx"
    weights = random_weights()
    save(path, rows, weights)
    errors = {}
    for mode in (None, kind):
        flags = [MODES[mode]] if mode else []
        for x, y in run(compile_(path, *flags), rows):
            want = np.maximum(x @ weights.astype(np.float64), 0)
            bound = np.abs(x) @ np.abs(weights.astype(np.float64))
            errors[mode] = (np.abs(y - want) / bound).max()
    assert errors[None] < 1e-6 < errors[kind] < ROUNDING[kind]


@pytest.mark.skipif("avx512_fp16" not in Path("/proc/cpuinfo").read_text(), reason="needs AVX512-FP16")
@pytest.mark.parametrize("image", [False, True])
def test_products_in_f16(tmp_path, image):
    """Sums of f16 have errors, but not those of long sums of f16."""
    path = tmp_path / "model.onnx"
    weights = random_weights()[:, :96]
    save(path, 20, weights, image=image)
    kernels = {}
    for name, flags in (("half", [MODES["f16"]]), ("float", []),
                        ("levels", [MODES["f16"], "--target_cpu=host,v3"]),
                        ("off", [MODES["f16"], "--disable_passes=cpu-select-half-products"])):
        om = compile_(path, *flags)
        code, out, err = call(tool("om-dump"), om)
        assert code == 0, err
        kernels[name] = "half_conv2d" in out
        session = Session(RUNTIME, om, threads=2)
        x = session.inputs[0][1]
        x[...] = np.random.default_rng(5).standard_normal(x.shape)
        session.run()
        y = session.outputs[0][1].astype(np.float64)
        rows = np.moveaxis(x.astype(np.float64), 1, -1).reshape(-1, K)
        found = np.moveaxis(y, 1, -1).reshape(-1, 96)
        session.close()
        want = np.maximum(rows @ weights.astype(np.float64), 0)
        error = np.abs(found - want).max() / want.max()
        assert error < 4e-3, name
        assert (error > 1e-6) == (name != "float"), name
    assert kernels == {"half": True, "float": False, "levels": False, "off": False}


def test_filters_are_narrowed_where_that_is_asked_for(tmp_path):
    path = tmp_path / "model.onnx"
    save(path, 1, random_weights(), image=True)
    wide = compile_(path).stat().st_size
    narrow = compile_(path, MODES["bf16"])
    assert wide - narrow.stat().st_size > K * N * 3 // 2
    session = Session(RUNTIME, narrow, threads=1)
    x = np.random.default_rng(1).standard_normal((1, K, 5, 5)).astype(np.float32)
    y = session.run_values({"x": x})["y"]
    want = np.maximum(np.einsum("bkhw,kn->bnhw", x.astype(np.float64), random_weights()), 0)
    assert 1e-5 < np.abs(y - want).max() / want.max() < ROUNDING["bf16"]
    session.close()


@pytest.mark.parametrize("rows", ["n", 3])
def test_a_weight_beyond_f16_keeps_its_matrix(tmp_path, rows):
    path = tmp_path / "model.onnx"
    weights = random_weights()
    weights[5, 7] = 1e6
    save(path, rows, weights)
    for x, y in run(compile_(path, MODES["f16"]), rows):
        want = np.maximum(x @ weights.astype(np.float64), 0)
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5 * np.abs(want[:, :7]).max())


@pytest.mark.parametrize("rows", ["n", 3])
def test_models_in_f16_keep_their_weights(tmp_path, rows):
    path = tmp_path / "model.onnx"
    save(path, rows, random_weights(), dtype=np.float16)
    weights = rounded(random_weights(), "f16").astype(np.float64)
    for x, y in run(compile_(path), rows, np.float16):
        assert y.dtype == np.float16
        want = np.maximum(x @ weights, 0)
        np.testing.assert_allclose(y, want, rtol=2e-3, atol=1e-3)
