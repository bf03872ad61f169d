#===-- test_npu_grid_sample.py - samples at points on the NPU ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GridSample, of which deformable attention consists, runs on the NPU as a whole and gives what the operator is defined to give."""

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


def sample(x, grid, mode, padding_mode, align_corners=0):
    """GridSample in f64: one image at a time, all pixels of a window of taps. What is no finite number is -1."""
    grid = np.where(np.isfinite(grid), grid, -1)
    images, channels, height, width = x.shape
    y = np.zeros((images, channels, *grid.shape[1:3]))
    for image, plane, points in zip(y, x, grid.astype(np.float64)):
        at = []
        for dim, size in ((1, height), (0, width)):
            moved = points[..., dim] + 1
            where = moved * (size - 1) / 2 if align_corners else (moved * size - 1) / 2
            at.append(np.clip(where, 0, size - 1) if padding_mode == "border" else where)
        first = [np.rint(where) if mode == "nearest" else np.floor(where) for where in at]
        for offset in np.ndindex((1, 1) if mode == "nearest" else (2, 2)):
            rows, columns = (where + step for where, step in zip(first, offset))
            near = 1 if mode == "nearest" else (1 - abs(at[0] - rows)) * (1 - abs(at[1] - columns))
            inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            pixels = plane[:, np.clip(rows, 0, height - 1).astype(int), np.clip(columns, 0, width - 1).astype(int)]
            image += np.where(inside, near, 0) * pixels
    return y


def compile_sample(tmp_path, soc, shapes, form):
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], **form)
    graph = helper.make_graph([node], "sample", [info["x"], info["grid"]], [info["y"]])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)]), str(tmp_path / "m.onnx"))
    code, out, err = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5", f"--output={tmp_path / soc}",
                          f"--soc_version={soc}")
    assert code == 0 and "NPU: " in out + err and "CPU: " not in out + err, out + err


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("form", FORMS)
def test_samples_are_gathers(form, soc, tmp_path):
    shapes = {"x": (3, 20, 9, 12), "grid": (3, 10, 7, 2), "y": (3, 20, 10, 7)}
    compile_sample(tmp_path, soc, shapes, FORMS[form])
    random = np.random.default_rng(7)
    x = random.standard_normal(shapes["x"]).astype(np.float32)
    # Multiples of 1/64 that f16 holds, also outside of the image, and off the middle between two pixels.
    grid = ((random.integers(-90, 91, shapes["grid"]) + 0.5) / 64).astype(np.float32)
    grid[0, 0, :3] = (-9, 9), (np.nan, 0.3), (np.inf, -np.inf)
    outputs, _ = npu.run_npu(tmp_path / f"{soc}.om", [x, grid])
    np.testing.assert_allclose(outputs["y"], sample(x, grid, **FORMS[form]), rtol=0, atol=4e-3)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("aligned", [0, 1])
def test_points_on_pixels(aligned, soc, tmp_path):
    """The grid that leaves an image as it is: its points are pixels but for the last bits of f32, which f16 has not."""
    height, width = 13, 29
    shapes = {"x": (1, 16, height, width), "grid": (1, height, width, 2), "y": (1, 16, height, width)}
    compile_sample(tmp_path, soc, shapes, dict(mode="bilinear", padding_mode="border", align_corners=aligned))
    x = np.random.default_rng(8).standard_normal(shapes["x"]).astype(np.float32)

    def points(size):
        at = np.arange(size)
        return 2 * at / (size - 1) - 1 if aligned else (2 * at + 1) / size - 1

    grid = np.stack(np.meshgrid(points(width), points(height)), -1)[None].astype(np.float32)
    outputs, _ = npu.run_npu(tmp_path / f"{soc}.om", [x, grid])
    np.testing.assert_allclose(outputs["y"], x, rtol=0, atol=1e-2)
