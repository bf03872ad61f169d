#===-- test_npu_grid_sample.py - samples at points on the NPU ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GridSample, of which deformable attention consists, runs on the NPU as a whole and gives what the host kernel gives."""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="making the networks needs the onnx package")
from onnx import TensorProto, helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_tools import call, tool  # noqa: E402

FORMS = {
    "zeros": dict(mode="bilinear", padding_mode="zeros"),
    "aligned": dict(mode="bilinear", padding_mode="zeros", align_corners=1),
    "border": dict(mode="bilinear", padding_mode="border"),
    "nearest": dict(mode="nearest", padding_mode="zeros"),
    "nearest-border": dict(mode="nearest", padding_mode="border", align_corners=1),
}


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("form", FORMS)
def test_samples_are_gathers(form, soc, tmp_path):
    shapes = {"x": (3, 20, 9, 12), "grid": (3, 10, 7, 2), "y": (3, 20, 10, 7)}
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], **FORMS[form])
    graph = helper.make_graph([node], "sample", [info["x"], info["grid"]], [info["y"]])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)]), str(tmp_path / "m.onnx"))
    code, out, err = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5", f"--output={tmp_path / soc}",
                          f"--soc_version={soc}")
    assert code == 0 and "NPU: " in out + err and "CPU: " not in out + err, out + err
    random = np.random.default_rng(7)
    x = random.standard_normal(shapes["x"]).astype(np.float32)
    # Multiples of 1/64 that f16 holds, also outside of the image, and off the middle between two pixels.
    grid = ((random.integers(-90, 91, shapes["grid"]) + 0.5) / 64).astype(np.float32)
    grid[0, 0, 0] = (-9, 9)
    want = npu.run(npu.build(tmp_path / "m.onnx", tmp_path), [x, grid])[0]["y"]
    outputs, _ = npu.run_npu(tmp_path / f"{soc}.om", [x, grid])
    np.testing.assert_allclose(outputs["y"], want, rtol=0, atol=4e-3)
