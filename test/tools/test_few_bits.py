#===-- test_few_bits.py - DequantizeLinear of few bits in front of products ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of 4 and 8 bits that DequantizeLinear of opset 21 expands by blocks.

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

CPU = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
ROWS, COLUMNS = 320, 256
UINT4, INT4, INT8 = 21, 22, TensorProto.INT8  # older packages lack the names
RANGES = {INT4: (-8, 8), UINT4: (0, 16), INT8: (-128, 128)}


def tensor(name, kind, values):
    fields = values.reshape(-1)
    if kind == INT8:
        data = fields.astype(np.int8)
    else:
        fields = (fields & 15).astype(np.uint8)
        data = fields[0::2] | fields[1::2] << 4
    return TensorProto(name=name, data_type=kind, dims=values.shape, raw_data=data.tobytes())


def make(path, kind, block, form, rows):
    """Writes y = x * weights; returns the weights in f64."""
    rng = np.random.default_rng(5)
    blocks = ROWS // block if block else 1
    levels = rng.integers(*RANGES[kind], (ROWS, COLUMNS))
    scales = rng.uniform(0.01, 0.03, (blocks, COLUMNS)).astype(np.float32)
    zeros = rng.integers(*RANGES[kind], (blocks, COLUMNS))
    hasZeros = form != "transposed"
    size = block or ROWS
    weights = ((levels - np.repeat(zeros, size, 0) * hasZeros) * np.repeat(scales, size, 0)
               .astype(np.float64))
    stored = [levels, scales, zeros]
    axis = 0 if block else 1
    if form != "plain":
        stored, axis = [np.ascontiguousarray(each.T) for each in stored], 1 - axis
    if not block:
        stored[1:] = [each.reshape(-1) for each in stored[1:]]
    constants = [tensor("q", kind, stored[0]), numpy_helper.from_array(stored[1], "s"),
                 numpy_helper.from_array(np.arange(COLUMNS, dtype=np.float32), "b")]
    inputs = ["q", "s"]
    if hasZeros:
        constants.append(tensor("z", kind, stored[2]))
        inputs.append("z")
    blocked = {"block_size": block} if block else {}
    nodes = [helper.make_node("DequantizeLinear", inputs, ["d"], axis=axis, **blocked)]
    if form == "transposed":
        nodes += [helper.make_node("Transpose", ["d"], ["t"], perm=[1, 0]),
                  helper.make_node("MatMul", ["x", "t"], ["y"])]
    elif form == "gemm":
        nodes.append(helper.make_node("Gemm", ["x", "d", "b"], ["y"], transB=1))
    else:
        nodes.append(helper.make_node("MatMul", ["x", "d"], ["y"]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "few_bits", [info("x", TensorProto.FLOAT, [rows, ROWS])],
                              [info("y", TensorProto.FLOAT, [rows, COLUMNS])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                                ir_version=10), path)
    return weights, np.arange(COLUMNS) * (form == "gemm")


@pytest.mark.parametrize("kind, block, form, rows", [
    (INT4, 32, "plain", "n"), (UINT4, 64, "gemm", "n"),
    (INT4, 16, "transposed", 3), (UINT4, 0, "gemm", "n"),
    (INT8, 32, "gemm", 2), (INT8, 64, "plain", "n")])
def test_products_read_few_bits(tmp_path, kind, block, form, rows):
    weights, bias = make(tmp_path / "model.onnx", kind, block, form, rows)
    code, out, err = call(tool("atc"), f"--model={tmp_path}/model.onnx", "--framework=5",
                          "--target=cpu", f"--output={tmp_path}/model")
    assert code == 0, out + err
    code, out, err = call(tool("om-dump"), tmp_path / "model.om")
    assert code == 0 and "MatMulNBits(" in out and "DequantizeLinear(" not in out, out + err
    session = Session(RUNTIME, tmp_path / "model.om", threads=1)
    for count in (1, 3, 9) if rows == "n" else (rows,):
        x = np.random.default_rng(count).standard_normal((count, ROWS)).astype(np.float32)
        want = x @ weights + bias
        np.testing.assert_allclose(session.run_values({"x": x})["y"], want, rtol=1e-4,
                                   atol=1e-4 * np.abs(want).max())
    session.close()


@pytest.mark.parametrize("level", [0, 4])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("block", [32, 64, 128, 256])
@pytest.mark.parametrize("cpu", ["host", "v3"])
def test_rows_of_any_range(tmp_path, cpu, level, bits, block):
    """Rows of zeros, of large and small elements, with a NaN: accuracy_level 4 accepts elements in
    8 bits, else results are as exact as in f32. Other registers multiply other pairs of bytes."""
    if cpu == "v3" and (" avx2 " not in CPU or bits == 8):
        pytest.skip("needs AVX2, and weights of 4 bits")
    rng = np.random.default_rng(block)
    blocks = -(-ROWS // block)
    columns = 37  # not a whole number of tiles
    perByte = 8 // bits
    levels = rng.integers(0, 1 << bits, (columns, blocks, block // perByte, perByte))
    packed = (levels[..., 0] | levels[..., -1] << 8 - bits).astype(np.uint8)
    scales = rng.uniform(0.01, 0.03, (columns, blocks)).astype(np.float32)
    zeros = rng.integers(0, 1 << bits, (columns, -(-blocks // perByte), perByte))
    stored = (zeros[..., 0] | zeros[..., -1] << 8 - bits).astype(np.uint8)
    zeros = zeros.reshape(columns, -1)
    constants = [numpy_helper.from_array(array, name)
                 for name, array in zip("qsz", (packed, scales, stored))]
    node = helper.make_node("MatMulNBits", ["x", "q", "s", "z"], ["y"], domain="com.microsoft",
                            K=ROWS, N=columns, bits=bits, block_size=block, accuracy_level=level)
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "rows", [info("x", TensorProto.FLOAT, ["n", ROWS])],
                              [info("y", TensorProto.FLOAT, ["n", columns])], constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), tmp_path / "m.onnx")
    code, out, err = call(tool("atc"), f"--model={tmp_path}/m.onnx", "--framework=5",
                          "--target=cpu", f"--target_cpu={cpu}", f"--output={tmp_path}/m")
    assert code == 0, out + err
    weights = (levels.reshape(columns, blocks, block) - zeros[:, :blocks, None]) * scales[..., None]
    weights = weights.reshape(columns, -1)[:, :ROWS].T.astype(np.float64)
    session = Session(RUNTIME, tmp_path / "m.om", threads=2)
    for count in (1, 2, 3, 4, 9, 29):
        x = rng.standard_normal((count, ROWS)).astype(np.float32)
        x[count // 2, :40] *= 1e10
        if count > 1:
            x[0], x[1] = 0, x[1] * np.float32(1e-20)
        y = session.run_values({"x": x})["y"]
        for got, row in zip(y, x.astype(np.float64)):
            want = row @ weights
            # The error of an element is a share of the largest of its block.
            unit = min(block, 128)
            top = np.abs(np.pad(row, (0, -ROWS % unit))).reshape(-1, unit).max(1).repeat(unit)
            bound = top[:ROWS] @ np.abs(weights)
            assert (np.abs(got - want) <= bound * (1e-2 if level else 1e-5)).all()
        assert count == 1 or not y[0].any()
        x[count - 1, 3] = [np.nan, np.inf][count % 2]
        y = session.run_values({"x": x})["y"]
        assert not np.isfinite(y[count - 1]).any() and np.isfinite(y[:count - 1]).all()
    session.close()
