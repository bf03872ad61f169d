#===-- test_npu_decompose.py - resizes, large pools and bytes on the NPU -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resizes in all modes and pools of whole images leave nothing on the CPU and compute what it does, as do positions of
the largest bytes, repeated bytes and nearest resizes of bytes.

Needs numpy, pytest and the onnx package.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_tools import call, tool  # noqa: E402

SHAPE = (1, 20, 12, 18)
RESIZES = [  # mode, coordinates, scales of height and width
    ("linear", "half_pixel", (2.0, 2.0)),
    ("linear", "align_corners", (2.0, 1.5)),
    ("linear", "asymmetric", (1.0, 2.0)),
    ("linear", "pytorch_half_pixel", (0.5, 0.5)),
    ("cubic", "half_pixel", (2.0, 2.0)),
    ("nearest", "asymmetric", (1.5, 1.5)),
]


def model(path):
    nodes, constants, outputs = [], {}, []
    for i, (mode, coordinates, scales) in enumerate(RESIZES):
        constants[f"s{i}"] = np.array([1, 1, *scales], np.float32)
        more = {"nearest_mode": "floor"} if mode == "nearest" else {}
        nodes.append(helper.make_node("Resize", ["x", "", f"s{i}"], [f"y{i}"], name=f"resize{i}",
                                      mode=mode, coordinate_transformation_mode=coordinates, **more))
        outputs.append(f"y{i}")
    nodes.append(helper.make_node("AveragePool", ["x"], ["mean"], name="pool",
                                  kernel_shape=SHAPE[2:]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, SHAPE)],
        [info(name, TensorProto.FLOAT, None) for name in [*outputs, "mean"]],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              str(path))


def outputs_of(folder, name, *flags):
    file = folder / name
    code, out, err = call(tool("atc"), f"--model={folder / 'm.onnx'}", "--framework=5",
                          f"--output={file}", f"--json={file}.json", *flags)
    assert code == 0, out + err
    code, out, err = call(tool("om-run"), f"{file}.om", "--input", folder / "x.npy", "--output",
                          folder / f"{name}-out", *([] if name == "cpu" else ["--check-hazards"]))
    assert code == 0, out + err
    values = {path.stem: np.load(path) for path in (folder / f"{name}-out").glob("*.npy")}
    return values, json.loads(Path(f"{file}.json").read_text())


def test_nothing_stays_on_the_cpu_and_the_values_are_right(tmp_path):
    model(tmp_path / "m.onnx")
    x = np.random.default_rng(2).normal(size=SHAPE).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    expected, _ = outputs_of(tmp_path, "cpu", "--target=cpu")
    assert len(expected) == len(RESIZES) + 1
    for soc in ("Ascend310P3", "Ascend910B1"):
        got, summary = outputs_of(tmp_path, soc, f"--soc_version={soc}")
        assert summary["placement"]["cpu"]["kernels"] == 0, summary["placement"]["cpu_layers"]
        for name, values in expected.items():
            np.testing.assert_allclose(got[name], values, atol=6e-3, err_msg=f"{soc} {name}")
        np.testing.assert_allclose(got["mean"], x.mean(axis=(2, 3), keepdims=True), atol=2e-3)


def test_without_the_pass_they_are_kernels_of_the_cpu(tmp_path):
    model(tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", np.zeros(SHAPE, np.float32))
    _, summary = outputs_of(tmp_path, "plain", "--soc_version=Ascend310P3",
                            "--disable_passes=npu-decompose")
    kept = {layer["name"] for layer in summary["placement"]["cpu_layers"]}
    assert {"resize0", "resize4", "resize5"} <= kept, kept


TYPES = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL, "int64": TensorProto.INT64}


def output_on_npu(folder, soc, node, x, want, constants=()):
    """Compiles a node for `soc`, without anything on the CPU, and returns its output."""
    info = lambda name, value: helper.make_tensor_value_info(name, TYPES[value.dtype.name], value.shape)
    graph = helper.make_graph([node], "bytes", [info("x", x)], [info("y", want)],
                              [numpy_helper.from_array(np.array(v), k) for k, v in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(folder / "m.onnx"))
    code, out, err = call(tool("atc"), f"--model={folder / 'm.onnx'}", "--framework=5", f"--output={folder / 'm'}",
                          f"--soc_version={soc}")
    assert code == 0 and "NPU: " in out + err and "CPU: " not in out + err, out + err
    return npu.run_npu(folder / "m.om", [x])[0]["y"]


def drawn(dtype, *shape):
    random = np.random.default_rng(9)
    limits = (0, 2) if dtype == bool else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return random.integers(*limits, shape).astype(dtype)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("op, of", [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_positions_of_bytes(soc, op, of, axis, dtype, tmp_path):
    x = drawn(dtype, 3, 9, 21)
    want = of(x, axis=axis, keepdims=True).astype(np.int64)
    node = helper.make_node(op, ["x"], ["y"], axis=axis)
    np.testing.assert_array_equal(output_on_npu(tmp_path, soc, node, x, want), want)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
def test_bytes_repeated_along_the_last_dim(soc, dtype, tmp_path):
    x = drawn(dtype, 4, 8, 1)
    want = np.broadcast_to(x, (4, 8, 37))
    node = helper.make_node("Expand", ["x", "dims"], ["y"])
    got = output_on_npu(tmp_path, soc, node, x, want, [("dims", np.array(want.shape))])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_resized_by_no_whole_factor(soc, dtype, tmp_path):
    x = drawn(dtype, 1, 16, 8, 8)
    rows = np.arange(12) * 2 // 3
    want = x[:, :, rows][:, :, :, rows]
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest", nearest_mode="floor",
                            coordinate_transformation_mode="asymmetric")
    got = output_on_npu(tmp_path, soc, node, x, want, [("scales", np.array([1, 1, 1.5, 1.5], np.float32))])
    np.testing.assert_array_equal(got, want)
