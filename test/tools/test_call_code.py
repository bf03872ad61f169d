"""Host calls with generated code: any dims, any broadcasting, sizes around the chunks and blocks
that the code works in, and errors that are found while it runs."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, tool  # noqa: E402
from test_dynamic_dim import Net, T  # noqa: E402

# Chunks have 512 elements, blocks 256 columns.
SHAPES = ((2, 3, 5), (1, 1, 1), (4, 1, 512), (3, 7, 300), (2, 600, 3), (1, 0, 4))
UNKNOWN = ["a", "b", "c"]


def elements():
    """Every operand broadcasts somewhere; the mask is bool, the steps are doubles."""
    net = Net()
    x, y = net.input("x", UNKNOWN), net.input("y", ["d", "e", "f"])
    z, steps = net.input("z", ["g"]), net.input("steps", ["h", "i"], T.DOUBLE)
    s = net.op("Mul", net.op("Sigmoid", net.op("Add", x, y)), z)
    picked = net.op("Where", net.op("Less", x, y), s, net.constant(np.float32(2.5)))
    net.output(net.op("Clip", picked, net.constant(np.float32(-1)), net.constant(np.float32(3))),
               UNKNOWN)
    net.output(net.op("Pow", net.op("Abs", steps), net.constant(np.float64(1.5))), ["h", "i"],
               T.DOUBLE)
    return net


def reductions():
    net = Net(opset=18)
    x = net.input("x", UNKNOWN)

    def reduce(kind, axes, keep):
        return net.op(kind, x, net.ints(*axes), keepdims=keep)

    net.output(reduce("ReduceMean", (-1,), 1), UNKNOWN)
    net.output(reduce("ReduceSum", (0, 2), 0), ["b"])
    net.output(reduce("ReduceMax", (1,), 0), ["a", "c"])
    net.output(reduce("ReduceLogSumExp", (0, 1), 1), UNKNOWN)
    net.output(net.op("ArgMax", x, axis=1, keepdims=0), ["a", "c"], T.INT64)
    for axis in (0, 1, 2):
        net.output(net.op("Softmax", x, axis=axis), UNKNOWN)
    net.output(net.op("LogSoftmax", x, axis=1), UNKNOWN)
    return net


def movement():
    """The kernel transposes faster than generated code would."""
    net = Net(opset=18)
    x, rows = net.input("x", UNKNOWN), net.input("rows", ["k"], T.INT64)
    net.output(net.op("Transpose", x, perm=[2, 0, 1]), ["c", "a", "b"])
    net.output(net.op("Concat", x, x, axis=1), ["a", "2b", "c"])
    net.output(net.op("Slice", x, net.ints(-2, 10), net.ints(-5000, 1), net.ints(1, 2),
                      net.ints(-1, -2)), ["a", "s", "t"])
    net.output(net.op("Pad", x, net.ints(0, 1, 2, 0, -1, 3)), ["a", "p", "q"])
    net.output(net.op("Gather", x, rows, axis=1), ["a", "k", "c"])
    return net


def lists():
    """Reads elements by index, also of tensors that turn out to be empty."""
    net = Net(opset=18)
    x, rows = net.input("x", ["a", "b"]), net.input("rows", ["k"], T.INT64)
    places, classes = net.input("places", ["p", "b"], T.INT64), net.input("classes", ["a"], T.INT64)
    net.output(net.op("Gather", x, rows), ["k", "b"])
    net.output(net.op("GatherElements", x, places), ["p", "b"])
    net.output(net.op("NegativeLogLikelihoodLoss", x, classes, reduction="none"), ["a"])
    return net


def axes():
    """The rank of the sum depends on the axes: the compiler takes it that they differ."""
    net = Net(opset=18)
    x, which = net.input("x", UNKNOWN), net.input("axes", [2], T.INT64)
    total = net.op("ReduceSum", x, which, keepdims=0)
    net.output(net.op("Softmax", total), None)
    net.output(net.op("CumSum", total, net.constant(np.int64(-1))), None)
    return net


def bodies_of(om):
    """The generated code of each call of host kernels, None where it has none."""
    code, out, err = call(tool("om-dump"), "--json", om)
    assert code == 0, err
    steps = [step for block in json.loads(out)["host"]["blocks"] for step in block]
    bodies = [step["body"] for step in steps if step["kind"] == "call"]
    assert bodies
    return bodies


def open_session(net, folder, plain=0):
    """Compiles the model; every node but `plain` ones must have generated code, or be part of a call
    that has."""
    om = compile_model(net.save(folder / "net.onnx"), folder)
    assert bodies_of(om).count(None) == plain
    return Session(RUNTIME, om, threads=2)


def assert_near(got, want):
    assert len(got) == len(want)
    for (name, value), expected in zip(got.items(), want):
        assert value.shape == expected.shape and value.dtype == expected.dtype, name
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    made = {}
    for make, plain in ((elements, 0), (reductions, 0), (movement, 1), (lists, 0), (axes, 1)):
        made[make.__name__] = open_session(make(), tmp_path_factory.mktemp(make.__name__), plain)
    yield made
    for session in made.values():
        session.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_elements(shape, sessions):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape).astype(np.float32)
    y = rng.standard_normal((1, shape[1], 1)).astype(np.float32)
    z = rng.standard_normal(shape[2:]).astype(np.float32)
    steps = rng.standard_normal((shape[2], 33))
    got = sessions["elements"].run_values({"x": x, "y": y, "z": z, "steps": steps})
    s = z / (1 + np.exp(-(x + y)))
    want = np.clip(np.where(x < y, s, np.float32(2.5)), np.float32(-1), np.float32(3))
    assert_near(got, [want.astype(np.float32), np.abs(steps) ** 1.5])


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if 0 not in shape])
def test_reductions(shape, sessions):
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    got = sessions["reductions"].run_values({"x": x})

    def softmax(axis):
        powers = np.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    assert_near(got, [x.mean(-1, keepdims=True), x.sum((0, 2)), x.max(1),
                      np.log(np.exp(x).sum((0, 1), keepdims=True)), x.argmax(1), softmax(0),
                      softmax(1), softmax(2), np.log(softmax(1))])


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[1] > 1])
def test_movement(shape, sessions):
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    rows = np.array([shape[1] - 1, 0, -2])
    got = sessions["movement"].run_values({"x": x, "rows": rows})
    padded = np.pad(x, ((0, 0), (1, 0), (2, 3)))[:, :-1]
    assert_near(got, [x.transpose(2, 0, 1), np.concatenate([x, x], 1),
                      x[:, -2::-1, min(10, shape[2] - 1):1:-2], padded, x[:, rows]])


def test_fused_nodes_are_named(tmp_path):
    """An error of a call that several nodes became names the one at fault, not the last one."""
    net = Net()
    x, y, z = (net.input(name, [f"{name}0", f"{name}1"]) for name in "xyz")
    net.output(net.op("Tanh", net.op("Mul", net.op("Add", x, y), z)), ["m", "n"])
    session = open_session(net, tmp_path)
    assert session.run_values({"x": np.ones((2, 3), "f4"), "y": np.ones((1, 3), "f4"),
                               "z": np.ones((2, 1), "f4")})
    wide, narrow = np.ones((2, 4), "f4"), np.ones((2, 3), "f4")
    for feed, node in (({"x": wide, "y": narrow, "z": wide}, "n0"),
                       ({"x": wide, "y": wide, "z": narrow}, "n1")):
        with pytest.raises(RuntimeError, match=f"dims of 4 and 3 do not .* in its node '{node}'"):
            session.run_values(feed)
    session.close()


def test_errors(sessions):
    ones = np.ones((2, 3, 4), np.float32)
    with pytest.raises(RuntimeError, match="dims of 3 and 2 do not broadcast"):
        sessions["elements"].run_values({"x": ones, "y": ones[:, :2], "z": ones[0, 0],
                                         "steps": np.ones((1, 1))})
    with pytest.raises(RuntimeError, match="index 3 is outside of a dim of 3 elements"):
        sessions["movement"].run_values({"x": ones, "rows": np.array([0, 3])})


@pytest.mark.parametrize("pair", [(0, 1), (2, 2), (-1, 2)])
def test_ranks_that_are_not_those_of_the_types(pair, sessions):
    """Axes that are named twice leave a dim more than the code is for: the kernels compute."""
    x = np.random.default_rng(6).standard_normal((300, 2, 3)).astype(np.float32)
    total = x.sum(tuple({axis % 3 for axis in pair}))
    powers = np.exp(total - total.max(-1, keepdims=True))
    got = sessions["axes"].run_values({"x": x, "axes": np.array(pair)})
    assert_near(got, [powers / powers.sum(-1, keepdims=True), total.cumsum(-1)])


def test_indices_into_empty_tensors(sessions):
    """There is no element that a wrong index could read instead."""
    wide, none = np.zeros((0, 1 << 20), np.float32), np.zeros(0, np.int64)
    several = np.zeros((0, 1 << 20), np.int64)
    for rows, places in (([0], several), (none, np.zeros((1, 1 << 20), np.int64))):
        with pytest.raises(RuntimeError, match="index 0 is out of the range of a dim of 0"):
            sessions["lists"].run_values({"x": wide, "rows": np.array(rows), "places": places,
                                          "classes": none})
    with pytest.raises(RuntimeError, match="target 0 of 0 classes"):
        sessions["lists"].run_values({"x": np.zeros((3, 0), np.float32), "rows": none,
                                      "places": np.zeros((0, 0), np.int64),
                                      "classes": np.zeros(3, np.int64)})


def test_sequences_of_other_types_are_refused(tmp_path):
    """A loop that runs no iteration must not hand on floats as the doubles that its body makes."""
    H = pytest.importorskip("onnx").helper
    flag, item = T.BOOL, H.make_tensor_sequence_value_info
    body = H.make_graph(
        [H.make_node("SequenceConstruct", ["d"], ["next"]), H.make_node("Identity", ["go"], ["go2"])],
        "body", [H.make_tensor_value_info("i", T.INT64, []), H.make_tensor_value_info("go", flag, []),
                 item("s", T.DOUBLE, None)],
        [H.make_tensor_value_info("go2", flag, []), item("next", T.DOUBLE, None)])
    net = Net()
    n, x, _ = net.input("n", [], T.INT64), net.input("x", ["k"]), net.input("d", ["m"], T.DOUBLE)
    last = net.op("Loop", n, "", net.op("SequenceConstruct", x), body=body)
    value = net.op("SequenceAt", last, net.constant(np.int64(0)))
    net.output(net.op("Add", value, value), None, T.DOUBLE)
    code, out, err = call(tool("atc"), f"--model={net.save(tmp_path / 'net.onnx')}", "--framework=5",
                          "--target=cpu", f"--output={tmp_path / 'net'}")
    assert code == 1 and "E14001" in out + err and "sequence<tensor<*xf64>> behind it" in out + err
