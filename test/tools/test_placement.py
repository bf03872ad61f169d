#===-- test_placement.py - what atc and om-run say of NPU and CPU ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What leaves the NPU is told: by atc with reasons, in --json, and in the times of om-run.

Needs numpy, pytest and the onnx package.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402

FIRST = "ATC start working now, please wait for a moment."
LAST = "ATC run success, welcome to the next use."
CONV = 16 * 14 * 14 * 8 * 9  # of the convolution
# Without the pass that expands it a recurrent cell is a call of the CPU.
CALLS = "--disable_passes=host-expand-recurrent"
LSTM = 14 * 1 * (4 * 32 * 224 + 4 * 32 * 32)


def model(path, recurrent=True, batch=1):
    """A convolution, and behind it an LSTM over the rows of its result."""
    random = np.random.default_rng(3)
    constants = {"k": random.normal(size=(16, 8, 3, 3)), "w": random.normal(size=(1, 128, 224)),
                 "r": random.normal(size=(1, 128, 32))}
    nodes = [helper.make_node("Conv", ["x", "k"], ["c"], name="conv"),
             helper.make_node("Transpose", ["c"], ["t"], perm=[2, 0, 1, 3]),
             helper.make_node("Reshape", ["t", "shape"], ["s"]),
             helper.make_node("LSTM", ["s", "w", "r"], ["y"], name="memory", hidden_size=32)]
    if not recurrent:
        nodes, constants = [helper.make_node("Conv", ["x", "k"], ["y"], name="conv")], \
            {"k": constants["k"]}
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, [batch, 8, 16, 16])],
        [info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array.astype(np.float32), name)
         for name, array in constants.items()] +
        [numpy_helper.from_array(np.array([14, 1, 224]), "shape")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              str(path))
    return path


def atc(path, *flags):
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5",
                          f"--output={path.with_suffix('')}", *flags)
    assert code == 0, out + err
    lines = out.splitlines()
    assert lines[0] == FIRST and lines[-1] == LAST
    # The summary of the file is another test's (test_dump.py).
    words = ("file ", "inputs ", "outputs ", "memory ", "CPU  ")
    lines = [line for line in lines if not line.startswith(words)]
    return lines[1:-1]


def test_a_layer_that_leaves_the_npu_is_told(tmp_path):
    path = model(tmp_path / "m.onnx")
    lines = atc(path, "--soc_version=Ascend310P3", CALLS, f"--json={tmp_path / 's.json'}")
    npu, cpu, why, warning = lines
    assert re.fullmatch(r"NPU: \d+ kernels?, 0\.226 MMAC \(\d+\.\d %\), [\d.]+ KB", npu), npu
    assert re.fullmatch(r"CPU: \d+ kernels?, 0\.459 MMAC \(\d+\.\d %\), [\d.]+ KB; \d+ switch(es)? "
                        r"between them, [\d.]+ \w+ copied", cpu), cpu
    assert why == "On the CPU because of 'memory': the NPU has no program for LSTM", why
    assert warning.startswith("W11010: 67.0 % of the multiply-accumulates of the model run on the "
                              "CPU: 'memory' (LSTM: "), warning
    placement = json.loads((tmp_path / "s.json").read_text())["placement"]
    assert placement["npu"]["macs"] == CONV and placement["cpu"]["macs"] == LSTM
    assert placement["switches"] == 1 and placement["copied_bytes"] >= 14 * 224 * 4
    layer, = [each for each in placement["cpu_layers"] if each["name"] == "memory"]
    assert layer["kernel"] == "LSTM" and layer["macs"] == LSTM and layer["why"]


def test_the_report_counts_host_kernels(tmp_path):
    path = model(tmp_path / "m.onnx")
    atc(path, "--soc_version=Ascend310P3", CALLS)
    om = path.with_suffix(".om")
    npu = json.loads(call(tool("om-run"), om, "--json")[1])["npu"]
    assert npu["macs_npu"] == CONV and npu["macs_total"] == CONV + LSTM
    assert npu["macs_share"] == pytest.approx(CONV / (CONV + LSTM))
    host = npu["host"]
    assert host["kernels"] >= 1 and host["switches"] == 1 and host["ms"] > 0
    assert npu["total_ms"] == pytest.approx(npu["ms"] + host["ms"])
    text = call(tool("om-run"), om)[1]
    assert re.search(r"^MACs on the NPU +33\.0 %", text, re.M), text
    assert re.search(r"^host time +[\d.]+ ms +measured here, \d+ kernels?, 1 switch$", text, re.M)
    assert re.search(r"^both +[\d.]+ ms", text, re.M), text


def test_nothing_leaves_the_npu_silently_only(tmp_path):
    path = model(tmp_path / "m.onnx", recurrent=False)
    line, = atc(path, "--soc_version=Ascend910B1")
    assert line.startswith("NPU: ") and "(100.0 %)" in line
    npu = json.loads(call(tool("om-run"), path.with_suffix(".om"), "--json")[1])["npu"]
    assert npu["macs_npu"] == npu["macs_total"] == CONV
    assert npu["host"] == {"kernels": 0, "switches": 0, "ms": 0}
    assert npu["total_ms"] == pytest.approx(npu["ms"])


def test_a_loop_over_tiles_counts_as_its_tile(tmp_path):
    path = model(tmp_path / "m.onnx", recurrent=False, batch="n")
    line, = atc(path, "--soc_version=Ascend310P3")
    assert line.startswith("NPU: ") and "(100.0 %)" in line


def test_a_cpu_has_nothing_to_tell(tmp_path):
    assert atc(model(tmp_path / "m.onnx"), "--target=cpu") == []
