#===-- test_open_integer_convs.py - convolutions of bytes with any size of image -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ConvInteger with open dims by the instructions of this machine's level, against integers in numpy, and pools of
bytes.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from open_models import full, session_of  # noqa: E402

def conv(x, w, zx, zw, group, pads, strides):
    """As the operator is defined: pads are the zero point."""
    rank = w.ndim - 2
    wide = np.pad(x.astype(np.int64) - int(zx), [(0, 0), (0, 0), *[(p, p) for p in pads]])
    w = w.astype(np.int64) - zw.astype(np.int64).reshape(-1, *[1] * (rank + 1))
    sizes = [(wide.shape[2 + d] - w.shape[2 + d]) // strides[d] + 1 for d in range(rank)]
    own, made = w.shape[1], w.shape[0] // group
    out = np.zeros((len(x), w.shape[0], *sizes), np.int64)
    for tap in np.ndindex(*w.shape[2:]):
        part = wide[(slice(None), slice(None), *[
            slice(tap[d], tap[d] + (sizes[d] - 1) * strides[d] + 1, strides[d]) for d in range(rank)])]
        for g in range(group):
            out[:, g * made:(g + 1) * made] += np.einsum(
                "nc...,mc->nm...", part[:, g * own:(g + 1) * own], w[(slice(g * made, (g + 1) * made), slice(None), *tap)])
    return out.astype(np.int32)


# Channels that fill words of four and that do not, filters that the compiler packs and that it does not.
@pytest.mark.parametrize("x_kind, w_kind", [(np.uint8, np.int8), (np.int8, np.uint8), (np.uint8, np.uint8)])
@pytest.mark.parametrize("group, channels, made, kernel, strides", [
    (1, 3, 20, (7, 7), (2, 2)), (1, 16, 70, (3, 3), (1, 1)), (1, 36, 8, (1, 1), (1, 1)), (2, 4, 5, (3, 2), (1, 2)),
    (3, 5, 4, (3, 3), (2, 1)), (1, 8, 3, (5, ), (1, )), (2, 6, 3, (2, 1, 3), (1, 1, 1)), (4, 1, 2, (3, 3), (1, 1)),
    (6, 1, 1, (3, 3), (2, 2)), (5, 1, 1, (9, ), (1, )), (3, 1, 2, (5, 4), (2, 3)), (3, 1, 1, (4, 6), (1, 2))])
def test_convolutions(tmp_path, x_kind, w_kind, group, channels, made, kernel, strides):
    rng = np.random.default_rng(channels)
    w = full(rng, w_kind, (group * made, channels, *kernel))
    zx, zw = full(rng, x_kind, ()), full(rng, w_kind, (group * made,))
    pads = [k // 2 for k in kernel]
    node = helper.make_node("ConvInteger", ["x", "w", "zx", "zw"], ["y"], group=group, strides=list(strides),
                            pads=pads + pads)
    dims = ["n", group * channels, *"dhw"[:len(kernel)]]
    session = session_of(tmp_path, node, {"x": (x_kind, dims)}, np.int32, {"w": w, "zx": zx, "zw": zw})
    for n, size in ((1, 9), (2, 18), (1, 75)):
        x = full(rng, x_kind, (n, group * channels, *[size - d for d in range(len(kernel))]))
        np.testing.assert_array_equal(session.run_values({"x": x})["y"], conv(x, w, zx, zw, group, pads, strides),
                                      err_msg=f"{n} of {size}")


@pytest.mark.parametrize("kind", (np.uint8, np.int8))
def test_pools(tmp_path, kind):
    rng = np.random.default_rng(3)
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0])
    session = session_of(tmp_path, node, {"x": (kind, ["n", 5, "h", "w"])}, kind, {})
    for height, width in ((3, 2), (16, 40), (9, 300)):
        x = full(rng, kind, (2, 5, height, width))
        wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)], constant_values=np.iinfo(kind).min)
        windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 2), (2, 3))[:, :, ::2]
        np.testing.assert_array_equal(session.run_values({"x": x})["y"], windows.max((4, 5)))
