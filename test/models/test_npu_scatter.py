#===-- test_npu_scatter.py - scatters to known positions on the NPU ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""x[:, 1:3, 2:5] = y and the like, as exporters write them, and means over dims of one element run on the NPU as a
whole and give what numpy gives."""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="making the networks needs the onnx package")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_tools import call, tool  # noqa: E402

SHAPE = (2, 6, 7)


def info(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


@pytest.mark.parametrize("soc", npu.SOCS)
def test_scatters_to_known_positions_are_slices(soc, tmp_path):
    block = (slice(None), slice(1, 3), slice(2, 5))
    grid = np.stack(np.meshgrid(np.arange(2), np.arange(1, 3), np.arange(2, 5), indexing="ij"), -1)
    rows = np.broadcast_to(np.array([0, 3, 5])[None, :, None], (2, 3, 7))
    nodes = [helper.make_node("Add", ["x", "one"], ["a"]),
             helper.make_node("ScatterND", ["a", "grid", "y"], ["b"]),
             helper.make_node("ScatterElements", ["b", "rows", "z"], ["c"], axis=1),
             helper.make_node("Mul", ["c", "two"], ["d"]),
             helper.make_node("Reshape", ["d", "wide"], ["w"]),
             helper.make_node("ReduceMean", ["w"], ["r"], axes=[1], keepdims=0)]
    constants = {"one": np.float32(1), "two": np.float32(2), "grid": grid.astype(np.int64), "rows": rows.astype(np.int64),
                 "wide": np.array([2, 1, 6, 7], np.int64)}
    graph = helper.make_graph(nodes, "scatter", [info("x", *SHAPE), info("y", 2, 2, 3), info("z", 2, 3, 7)],
                              [info("r", *SHAPE)], [numpy_helper.from_array(np.array(v), k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(tmp_path / "m.onnx"))
    code, out, err = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5", f"--output={tmp_path / 'm'}",
                          f"--soc_version={soc}")
    assert code == 0 and "NPU: " in out + err and "CPU: " not in out + err, out + err
    random = np.random.default_rng(3)
    x, y, z = (random.integers(-8, 9, shape).astype(np.float32) for shape in (SHAPE, (2, 2, 3), (2, 3, 7)))
    want = x + 1
    want[block] = y
    np.put_along_axis(want, rows, z, 1)
    np.testing.assert_array_equal(npu.run_npu(tmp_path / "m.om", [x, y, z])[0]["r"], 2 * want)
