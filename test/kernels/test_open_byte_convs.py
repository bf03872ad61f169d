# ===-- test_open_byte_convs.py - QLinearConv of images of open sizes --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of bytes of all forms and tails, with open height and width, as the code of each CPU
level computes them in images with channels in blocks, against exact sums.

Needs numpy, onnx and pytest.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, compile_model, host_calls  # noqa: E402

from test_blocked_bytes import CASES, DEPTHWISE, PLANES, sums_of  # noqa: E402

# Groups whose channels do not fill blocks, several input channels of one or two outputs, those that
# stay as they are.
GROUPS = [
    ((1, 32, 7, 9), (32, 4, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 8),
    ((1, 48, 7, 9), (48, 24, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 2),
    ((1, 20, 7, 9), (40, 10, 3, 2), [2, 1], [1, 2], [1, 0, 2, 3], 2),
    ((1, 24, 7, 9), (48, 1, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 24),
    ((1, 9, 7, 9), (5, 9, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
]
ALL = CASES + PLANES + GROUPS + [
    (x, (x[1], 1, rows, columns), strides, dilations, pads, x[1])
    for x, rows, columns, strides, dilations, pads in DEPTHWISE]
# The importer takes no negative pads.
ALL = [case for case in ALL if min(case[4]) >= 0]


def network(rng, data, weights):
    """A model with one convolution per case; returns it with what each result must be."""
    graph = helper.make_graph([], "net", [], [])
    checks = []
    kinds = {"u1": TensorProto.UINT8, "i1": TensorProto.INT8}

    def constant(value):
        name = f"c{len(graph.initializer)}"
        graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    for i, (x, w, strides, dilations, pads, groups) in enumerate(ALL):
        limits = np.iinfo(weights)
        filters = rng.integers(limits.min, limits.max, w, endpoint=True).astype(weights)
        # Some weights have a zero point of their own: they are not in blocks.
        middle = 128 if weights == "u1" else 0
        middle += 3 if i % 7 == 6 else 0
        zero = rng.integers(np.iinfo(data).min, np.iinfo(data).max, endpoint=True)
        bias = rng.integers(-2000, 2000, len(filters))
        scales = rng.uniform(0.5, 1, len(filters)).astype("f4")

        def expected(image, filters=filters, zero=zero, bias=bias, scales=scales, middle=middle,
                     strides=strides, dilations=dilations, pads=pads, groups=groups, size=w[1:]):
            sums = sums_of(image, filters.astype("i8") - middle, zero, strides, dilations, pads,
                           groups) + bias[:, None, None]
            step = np.float32(400 * np.sqrt(np.prod(size)))
            factors = (0.5 * scales.astype("f8") / step.astype("f8")).astype("f4")
            real = np.rint(np.float32(sums) * factors[:, None, None])
            bounds = np.iinfo(data)
            return np.clip(real + (100 if data == "u1" else -5), bounds.min, bounds.max).astype(data)

        step = np.float32(400 * np.sqrt(np.prod(w[1:])))
        inputs = [f"x{i}", constant(np.float32(0.5)), constant(np.array(zero, data)),
                  constant(filters), constant(scales), constant(np.full(len(filters), middle, weights)),
                  constant(step), constant(np.array(100 if data == "u1" else -5, data)),
                  constant(bias.astype("i4"))]
        graph.node.append(helper.make_node("QLinearConv", inputs, [f"y{i}"], f"conv{i}", group=groups,
                                           strides=strides, dilations=dilations, pads=pads))
        graph.input.append(helper.make_tensor_value_info(
            f"x{i}", kinds[data], [f"n{i}", x[1], f"h{i}", f"w{i}"]))
        graph.output.append(helper.make_tensor_value_info(f"y{i}", kinds[data], None))
        checks.append((x, expected))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), checks


@pytest.mark.parametrize("level", ["", "--target_cpu=v3"], ids=["best", "v3"])
@pytest.mark.parametrize("data,weights", [("u1", "i1"), ("u1", "u1"), ("i1", "i1")])
def test_open_convolutions_are_exact(data, weights, level, tmp_path):
    rng = np.random.default_rng(23)
    model, checks = network(rng, data, weights)
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    om = compile_model(path, tmp_path, *([level] if level else []))
    assert {"BlockedQLinearConv", "BlockedQLinearDepthwiseConv", "QLinearConv"} <= host_calls(om)
    session = Session(RUNTIME, om)
    limits = np.iinfo(data)
    for more in (0, 3, 1):  # sizes of one session
        feeds = {f"x{i}": rng.integers(limits.min, limits.max, (x[0], x[1], x[2] + more, x[3] + 2 * more),
                                       endpoint=True).astype(data)
                 for i, (x, _) in enumerate(checks)}
        results = session.run_values(feeds)
        for i, (_, expected) in enumerate(checks):
            np.testing.assert_array_equal(results[f"y{i}"], expected(feeds[f"x{i}"]), str(ALL[i]))
    session.close()
