#===-- test_quantized.py - a quantized network as its makers exported it -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mobilenetv2-int8-maui in integers: its stored answer to one quantization step, on each level;
with open dims, by host kernels, what the code for fixed ones says."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, SHARED, call, compile_model, host_calls, tool  # noqa: E402

MODEL = SHARED / "models" / "mobilenetv2-int8-maui.onnx"
DATA = SHARED / "models" / "inputs" / "mobilenetv2-int8-maui" / "test_data_set_0"
STEP = 0.1530993  # The scale of the scores, which the model quantizes last.


def tensor(name):
    onnx = pytest.importorskip("onnx")
    helper = pytest.importorskip("onnx.numpy_helper")
    value = onnx.TensorProto()
    value.ParseFromString((DATA / name).read_bytes())
    return helper.to_array(value)


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


def open_dims(path):
    """The model with its batch, height and width left open."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(MODEL))
    image, = (value for value in model.graph.input if value.name == "image")
    for axis in (0, 2, 3):
        image.type.tensor_type.shape.dim[axis].dim_param = f"dim{axis}"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    onnx.save(model, str(path))
    return path


def test_mobilenetv2_int8_with_open_dims(tmp_path):
    if not MODEL.exists():
        pytest.skip(f"needs {MODEL.name} in the folder `shared` beside the checkout")
    model = open_dims(tmp_path / "open.onnx")
    om = compile_model(model, tmp_path)
    kernels = host_calls(om)
    assert {"BlockedQLinearConv", "QLinearAdd", "QGemm", "QLinearGlobalAveragePool"} <= kernels
    assert not kernels & {"Conv", "Gemm", "MatMul", "Add", "GlobalAveragePool", "Relu"}, kernels
    whole = tensor("input_0.pb")
    session = Session(RUNTIME, om)
    for batch, height, width in (1, *whole.shape[2:]), (2, 96, 128):
        image = np.ascontiguousarray(np.repeat(whole, batch, 0)[:, :, :height, :width])
        image[batch - 1] *= np.float32(0.75) if batch > 1 else 1
        got, = session.run_values({"image": image}).values()
        folder = tmp_path / f"{height}"
        folder.mkdir()
        fixed = Session(RUNTIME, compile_model(model, folder,
                                               f"--input_shape=image:{batch},3,{height},{width}"))
        want, = fixed.run_values({"image": image}).values()
        fixed.close()
        assert got.shape == want.shape == (batch, 1000)
        assert (got.argmax(1) == want.argmax(1)).all()
        # A mean that rounds the other way may change a score by a step.
        assert np.abs(got - want).max() <= 1.001 * STEP
    session.close()
