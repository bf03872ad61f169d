#===-- test_quantized.py - a quantized network as its makers exported it -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mobilenetv2-int8-maui in integers: its stored answer to one quantization step, on each level."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, SHARED, call, compile_model, tool  # noqa: E402

MODEL = SHARED / "models" / "mobilenetv2-int8-maui.onnx"
DATA = SHARED / "models" / "inputs" / "mobilenetv2-int8-maui" / "test_data_set_0"
STEP = 0.1530993  # The scale of the scores, which the model quantizes last.


def tensor(name):
    onnx = pytest.importorskip("onnx")
    value = onnx.TensorProto()
    value.ParseFromString((DATA / name).read_bytes())
    return onnx.numpy_helper.to_array(value)


@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_mobilenetv2_int8(tmp_path, level):
    if not MODEL.exists():
        pytest.skip(f"needs {MODEL.name} in the folder `shared` beside the checkout")
    image, want = tensor("input_0.pb"), tensor("output_0.pb")
    shape = ",".join(map(str, image.shape))
    om = compile_model(MODEL, tmp_path, f"--target_cpu={level}", f"--input_shape=image:{shape}")
    code, out, err = call(tool("om-dump"), om, "--json")
    assert code == 0, err
    kernels = json.loads(out)["kernels"]
    assert any(name.startswith("integer_depthwise") for name in kernels)
    assert not any(name.startswith(("conv2d", "depthwise", "matmul")) for name in kernels), kernels

    session = Session(RUNTIME, om)
    session.inputs[0][1][...] = image
    session.run()
    got = session.outputs[0][1].copy()
    session.close()
    assert got.argmax() == want.argmax()
    assert np.abs(got - want).max() <= 1.001 * STEP
