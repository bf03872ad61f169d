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
