# ===-- test_blocked_chains.py - what follows a convolution of bytes in blocks ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of bytes with open height and width compute the same with channels in blocks and without.

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

MICROSOFT = "com.microsoft"
CHANNELS = 32
SCALES = {"s1": np.float32(0.9), "z1": np.uint8(120), "s2": np.float32(0.8), "z2": np.uint8(100),
          "equal": np.full(CHANNELS, 0.5, "f4"), "zeros": np.full(CHANNELS, 7, "u1"), "half": np.float16(0.5)}
U8, F32, F16 = TensorProto.UINT8, TensorProto.FLOAT, TensorProto.FLOAT16
NODE = helper.make_node
CHAINS = {  # the nodes behind "q", the element type of the result
    "average": ([NODE("QLinearAveragePool", ["q", "s1", "z1", "s2", "z2"], ["y"], domain=MICROSOFT, kernel_shape=[3, 3],
                      strides=[2, 2])], U8),
    "average with pads": ([NODE("QLinearAveragePool", ["q", "s1", "z1", "s2", "z2"], ["y"], domain=MICROSOFT,
                                kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1,
                                count_include_pad=1)], U8),
    "max": ([NODE("MaxPool", ["q"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])], U8),
    "equal scales": ([NODE("DequantizeLinear", ["q", "equal", "zeros"], ["y"], axis=1)], F32),
    "equal scales again": ([NODE("DequantizeLinear", ["q", "s1", "z1"], ["d"]),
                            NODE("QuantizeLinear", ["d", "equal", "zeros"], ["y"], axis=1)], U8),
    "half": ([NODE("DequantizeLinear", ["q", "half", "z1"], ["y"])], F16),
    "half between": ([NODE("DequantizeLinear", ["q", "half", "z1"], ["d"]), NODE("Relu", ["d"], ["r"]),
                      NODE("QuantizeLinear", ["r", "half", "z2"], ["y"])], U8),
}


def convolution(path, channels, nodes, result, rng, open_channels=False):
    """A model of x, a QLinearConv with the result q, and what follows."""
    values = dict(SCALES, sx=np.float32(0.1), zx=np.uint8(3), sw=np.float32(0.02), zw=np.int8(0), sy=np.float32(0.9),
                  zy=np.uint8(120), w=rng.integers(-60, 60, (CHANNELS, channels, 3, 3)).astype("i1"))
    conv = NODE("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"], ["q"], "conv", pads=[1, 1, 1, 1])
    shape = ["n", "c" if open_channels else channels, "h", "w"]
    graph = helper.make_graph(
        [conv, *nodes], "g", [helper.make_tensor_value_info("x", U8, shape)],
        [helper.make_tensor_value_info("y" if nodes else "q", result, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    opsets = [helper.make_opsetid("", 19), helper.make_opsetid(MICROSOFT, 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(path))


@pytest.mark.parametrize("chain", CHAINS)
def test_blocks_change_nothing(chain, tmp_path):
    rng = np.random.default_rng(31)
    nodes, result = CHAINS[chain]
    convolution(tmp_path / "m.onnx", 16, nodes, result, rng)
    plain = Session(RUNTIME, compile_model(tmp_path / "m.onnx", tmp_path, "--disable_passes=host-block-channels"))
    blocked = compile_model(tmp_path / "m.onnx", tmp_path)
    assert "BlockedQLinearConv" in host_calls(blocked)
    session = Session(RUNTIME, blocked)
    for shape in ((1, 16, 9, 11), (2, 16, 5, 4), (1, 16, 20, 33)):
        x = rng.integers(0, 256, shape).astype("u1")
        np.testing.assert_array_equal(session.run_values({"x": x})["y"], plain.run_values({"x": x})["y"])


def test_planes_of_another_number(tmp_path):
    """An input whose channels are open must have as many as the weights."""
    rng = np.random.default_rng(32)
    convolution(tmp_path / "m.onnx", 4, [], U8, rng, open_channels=True)
    session = Session(RUNTIME, compile_model(tmp_path / "m.onnx", tmp_path))
    assert session.run_values({"x": np.zeros((1, 4, 6, 6), "u1")})["q"].shape == (1, CHANNELS, 6, 6)
    with pytest.raises(Exception, match="data of 3 channels, not 4"):
        session.run_values({"x": np.zeros((1, 3, 6, 6), "u1")})


@pytest.mark.parametrize("pads", [[0, -2, 0, 0], [0, 0, 0, -1]])
def test_pools_have_no_negative_pads(pads, tmp_path):
    """Such a pool of open sizes wrote in front of its result."""
    graph = helper.make_graph([NODE("MaxPool", ["x"], ["y"], "pool", kernel_shape=[1, 3], pads=pads)], "g",
                              [helper.make_tensor_value_info("x", F32, ["n", 2, "h", "w"])],
                              [helper.make_tensor_value_info("y", F32, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(tmp_path / "m.onnx"))
    with pytest.raises(Exception, match="E14001.*'pool'.*attribute 'pads' has the number -"):
        compile_model(tmp_path / "m.onnx", tmp_path)


def test_a_number_of_rank_1_raises_a_scalar(tmp_path):
    """A table of bytes has the dims of what it is read by, one number times [1] those of the vector."""
    nodes = [NODE("DequantizeLinear", ["x", "s1", "z1"], ["d"]), NODE("Mul", ["d", "one"], ["m"]),
             NODE("QuantizeLinear", ["m", "s1", "z1"], ["y"])]
    values = {"s1": SCALES["s1"], "z1": SCALES["z1"], "one": np.array([1.5], "f4")}
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", U8, None)],
                              [helper.make_tensor_value_info("y", U8, None)],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(tmp_path / "m.onnx"))
    session = Session(RUNTIME, compile_model(tmp_path / "m.onnx", tmp_path))
    assert session.run_values({"x": np.array(7, "u1")})["y"].shape == (1,)
    assert session.run_values({"x": np.arange(5, dtype="u1")})["y"].shape == (5,)
