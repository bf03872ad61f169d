"""Operators of com.microsoft that are imported as functions of standard operators, for fixed and
dynamic dims."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, mapping, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, tool  # noqa: E402

RNG = np.random.default_rng(3)


def write(path, op, inputs, feeds, constants, dynamic, outputs, domain="com.microsoft", **attributes):
    """Writes a model of one node; `outputs` are (name, element type)."""
    values = [helper.make_tensor_value_info(
        name, mapping.NP_TYPE_TO_TENSOR_TYPE[feed.dtype],
        [f"d{name}{i}" for i in range(feed.ndim)] if dynamic else feed.shape)
        for name, feed in feeds.items()]
    graph = helper.make_graph(
        [helper.make_node(op, inputs, [name for name, _ in outputs], op, domain=domain,
                          **attributes)], "g", values,
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15),
                                                      helper.make_opsetid("com.microsoft", 1)]), path)


def run(path, folder, feeds):
    session = Session(RUNTIME, compile_model(path, folder), threads=1)
    got = session.run_values(feeds)
    session.close()
    return got


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("per_gate", [False, True])
def test_lstm_of_integers(tmp_path, per_gate, dynamic):
    """It is the LSTM of what its integers stand for, with the other order of dims."""
    directions, hidden, size = 2, 5, 4
    shape = (directions, 4 * hidden) if per_gate else (directions,)
    constants = {"B": RNG.standard_normal((directions, 8 * hidden)).astype("f4")}
    real = dict(constants)
    for name, rows in (("W", size), ("R", hidden)):
        integers = RNG.integers(0, 256, (directions, rows, 4 * hidden)).astype("u1")
        scale = (RNG.random(shape) * 0.01 + 0.002).astype("f4")
        zero = RNG.integers(100, 150, shape).astype("u1")
        constants |= {name: integers, name + "s": scale, name + "z": zero}
        fields = [value.astype("f4").reshape(directions, 1, -1) for value in (zero, scale)]
        real[name] = ((integers - fields[0]) * fields[1]).transpose(0, 2, 1).astype("f4")
    feeds = {"X": RNG.standard_normal((6, 3, size)).astype("f4"),
             "h": RNG.standard_normal((directions, 3, hidden)).astype("f4")}
    outputs = [(name, onnx.TensorProto.FLOAT) for name in ("Y", "last", "cell")]
    attributes = dict(hidden_size=hidden, direction="bidirectional")
    write(tmp_path / "integers.onnx", "DynamicQuantizeLSTM",
          ["X", "W", "R", "B", "", "h", "", "", "Ws", "Wz", "Rs", "Rz"], feeds, constants, dynamic,
          outputs, **attributes)
    write(tmp_path / "reals.onnx", "LSTM", ["X", "W", "R", "B", "", "h"], feeds, real, dynamic,
          outputs, domain="", **attributes)
    got = run(tmp_path / "integers.onnx", tmp_path, feeds)
    want = run(tmp_path / "reals.onnx", tmp_path, feeds)
    for name, _ in outputs:
        np.testing.assert_allclose(got[name], want[name], atol=1e-5, err_msg=name)


@pytest.mark.parametrize("dynamic", [False, True])
def test_where_of_integers(tmp_path, dynamic):
    feeds = {"c": RNG.random((3, 4)) > 0.5, "x": RNG.integers(0, 256, (3, 4)).astype("u1"),
             "y": RNG.integers(0, 256, (1, 4)).astype("u1")}
    constants = {"xs": np.float32(0.02), "xz": np.uint8(7), "ys": np.float32(0.03),
                 "yz": np.uint8(100), "zs": np.float32(0.025), "zz": np.uint8(50)}
    write(tmp_path / "where.onnx", "QLinearWhere",
          ["c", "x", "xs", "xz", "y", "ys", "yz", "zs", "zz"], feeds,
          {name: np.asarray(value) for name, value in constants.items()}, dynamic,
          [("z", onnx.TensorProto.UINT8)])
    real = np.where(feeds["c"], (feeds["x"].astype("f4") - 7) * 0.02,
                    (feeds["y"].astype("f4") - 100) * 0.03)
    want = np.clip(np.rint(real / 0.025) + 50, 0, 255)
    got = run(tmp_path / "where.onnx", tmp_path, feeds)["z"]
    assert got.dtype == np.uint8
    assert np.abs(got.astype(int) - want).max() <= 1 and np.mean(got == want) > 0.8


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("metric", [None, "sqeuclidean", "euclidean"])
def test_distances(tmp_path, metric, dynamic):
    a, b = (RNG.standard_normal(shape).astype("f4") for shape in ((6, 5), (7, 5)))
    write(tmp_path / "distances.onnx", "CDist", ["a", "b"], {"a": a}, {"b": b}, dynamic,
          [("c", onnx.TensorProto.FLOAT)], **({"metric": metric} if metric else {}))
    want = np.square(a[:, None] - b[None]).sum(-1)
    got = run(tmp_path / "distances.onnx", tmp_path, {"a": a})["c"]
    np.testing.assert_allclose(got, np.sqrt(want) if metric == "euclidean" else want, rtol=1e-5)


def test_unknown_metric_is_refused(tmp_path):
    a = np.zeros((2, 3), np.float32)
    write(tmp_path / "distances.onnx", "CDist", ["a", "a"], {"a": a}, {}, False,
          [("c", onnx.TensorProto.FLOAT)], metric="cosine")
    code, out, err = call(tool("atc"), f"--model={tmp_path}/distances.onnx", "--framework=5",
                          "--target=cpu", f"--output={tmp_path}/model")
    assert code != 0 and "E16002" in out + err and "com.microsoft.CDist" in out + err
