#===-- test_convolutions.py - windows of much padding, groups of any size ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On both targets, against plain sums over windows. Needs numpy, pytest and the onnx package."""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402

# image, kernel, strides, dilations, pads, groups
CASES = [
    ((16, 16), (3, 3), (1, 1), (12, 12), (12, 12, 12, 12), 1),
    ((16, 16), (3, 3), (1, 1), (24, 18), (24, 18, 24, 18), 1),   # only the tap in the middle reads the image
    ((9, 11), (5, 3), (2, 1), (4, 6), (8, 6, 8, 6), 1),
    ((8, 8), (2, 2), (3, 3), (1, 1), (1, 1, 1, 1), 1),           # the last window ends in front of the image's end
    ((3, 4), (3, 3), (2, 2), (1, 1), (5, 4, 2, 0), 1),           # whole windows of padding
    ((1, 1), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 1),
    ((7, 7), (3, 3), (1, 1), (2, 2), (2, 2, 2, 2), 32),
    ((7, 7), (3, 3), (1, 1), (9, 9), (9, 9, 9, 9), 32),
    ((12, 10), (3, 3), (1, 1), (6, 6), (0, 6, 12, 6), 2),
]


def convolution(x, w, case):
    (height, width), kernel, strides, dilations, pads, groups = case
    padded = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])]).astype(np.float64)
    size = [(n + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1) // strides[d] + 1
            for d, n in enumerate((height, width))]
    taps = np.stack([padded[:, :, a * dilations[0]:, b * dilations[1]:][:, :, ::strides[0], ::strides[1]]
                     [:, :, :size[0], :size[1]] for a, b in np.ndindex(*kernel)])
    grouped = taps.reshape(len(taps), len(x), groups, x.shape[1] // groups, *size)
    weights = w.reshape(groups, w.shape[0] // groups, w.shape[1], len(taps))
    return np.einsum("goct,tngchw->ngohw", weights, grouped).reshape(len(x), w.shape[0], *size)


def outputs_of(soc, folder, nodes, constants, x, shape):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    got, _ = npu.run(npu.build(path, folder, soc), [x])
    return got["y"]


def convolve(soc, folder, case, inputs, outputs, behind=(), constants=()):
    """Returns what a target computes, and the convolution."""
    size, kernel, strides, dilations, pads, groups = case
    rng = np.random.default_rng(5)
    x = rng.standard_normal((1, inputs, *size)).astype(np.float32)
    w = rng.standard_normal((outputs, inputs // groups, *kernel)).astype(np.float32)
    want = convolution(x, w, case)
    node = helper.make_node("Conv", ["x", "w"], ["c" if behind else "y"], kernel_shape=kernel, strides=strides,
                            dilations=dilations, pads=pads, group=groups)
    return outputs_of(soc, folder, [node, *behind], {"w": w, **dict(constants)}, x, want.shape), want


def assert_near(got, want, soc):
    np.testing.assert_allclose(got, want, rtol=0, atol=(3e-3 if soc else 1e-6) * max(np.ptp(want), 1))


@pytest.mark.parametrize("soc", (None, *npu.SOCS))
@pytest.mark.parametrize("case", CASES)
def test_padding_adds_nothing(soc, case, tmp_path):
    assert_near(*convolve(soc, tmp_path, case, 32, 32), soc)


@pytest.mark.parametrize("soc", (None, *npu.SOCS))
@pytest.mark.parametrize("inputs, outputs, groups", [
    (104, 104, 13), (72, 72, 3), (84, 56, 7), (20, 20, 2), (50, 30, 10), (33, 66, 33), (40, 40, 5)])
def test_groups_of_any_size(soc, inputs, outputs, groups, tmp_path):
    """Also those that do not fill blocks of 16 channels; with an activation of each channel, and a sum."""
    case = ((9, 7), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), groups)
    slope = np.linspace(-1, 1, outputs).astype(np.float32).reshape(outputs, 1, 1)
    addend = np.random.default_rng(6).standard_normal((1, outputs, 9, 7)).astype(np.float32)
    behind = [helper.make_node("PRelu", ["c", "slope"], ["p"]), helper.make_node("Add", ["p", "addend"], ["y"])]
    got, sums = convolve(soc, tmp_path, case, inputs, outputs, behind, {"slope": slope, "addend": addend})
    assert_near(got, np.where(sums < 0, sums * slope, sums) + addend, soc)


@pytest.mark.parametrize("soc", npu.SOCS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("batch", [1, 3])
def test_pixels_of_interleaved_channels_are_loaded_as_they_are(soc, channels, batch, tmp_path):
    """The bits are those of the planes, and no launch transposes the image."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((batch, 13, 17, channels)).astype(np.float32)
    w = rng.standard_normal((20, channels, 3, 3)).astype(np.float32)
    conv = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    planes = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    folders = [tmp_path / name for name in ("planes", "pixels")]
    for folder in folders:
        folder.mkdir()
    want = outputs_of(soc, folders[0], [helper.make_node("Conv", ["x", "w"], ["y"], **conv)], {"w": w}, planes,
                      (batch, 20, 7, 9))
    got = outputs_of(soc, folders[1], [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
                                       helper.make_node("Conv", ["t", "w"], ["y"], **conv)], {"w": w}, x,
                     (batch, 20, 7, 9))
    np.testing.assert_array_equal(got, want)
    launches = [npu.run_npu(folder / f"{soc}.om", [value])[1]["per_launch"]
                for folder, value in zip(folders, (planes, x))]
    assert len(launches[1]) == len(launches[0]), launches[1]


@pytest.mark.parametrize("soc", (None, *npu.SOCS))
@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("perm", [True, False])
def test_some_of_interleaved_channels(soc, channels, perm, tmp_path):
    """Pixels of which a slice leaves out channels have gaps between them."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((2, 8, 9, 4)).astype(np.float32)
    w = rng.standard_normal((8, channels, 3, 3)).astype(np.float32)
    part = x[..., 1:1 + channels]
    # With one channel a reshape separates it, as converters of TensorFlow's graphs write it.
    planes = part.transpose(0, 3, 1, 2) if perm or channels > 1 else part.reshape(2, 1, 8, 9)
    separate = (helper.make_node("Transpose", ["s"], ["t"], perm=[0, 3, 1, 2]) if perm or channels > 1 else
                helper.make_node("Reshape", ["s", "dims"], ["t"]))
    case = ((8, 9), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 1)
    got = outputs_of(soc, tmp_path, [helper.make_node("Slice", ["x", "from", "to", "axis"], ["s"]), separate,
                                     helper.make_node("Conv", ["t", "w"], ["y"], kernel_shape=[3, 3], pads=[1] * 4)],
                     {"w": w, "from": np.array([1]), "to": np.array([1 + channels]), "axis": np.array([3]),
                      "dims": np.array([2, 1, 8, 9])}, x, (2, 8, 8, 9))
    assert_near(got, convolution(planes, w, case), soc)
