"""Indices out of range that are an input of a model: every run refuses them, on both targets, as ONNX
Runtime and TensorFlow do, whether dims are known at compile time, chosen by gears, or open."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("common", "tools")]
from openatc_tools import call, compile_model, tool  # noqa: E402
from scale_models import tf_node  # noqa: E402
from test_dynamic_dim import Net, T  # noqa: E402
from test_tf_nodes import compute, tf_input, tf_ints  # noqa: E402

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
needs_protoc = pytest.mark.skipif(not shutil.which("protoc"), reason="needs protoc (Debian: protobuf-compiler)")


def run(om, folder, **inputs):
    """What the model computes, or why it does not."""
    for name, values in inputs.items():
        np.save(folder / f"{name}.npy", values)
    given = ",".join(f"{name}={folder}/{name}.npy" for name in inputs)
    code, _, err = call(tool("om-run"), om, "--input", given, "--output", folder / "out")
    if code:
        return err
    return np.load(next((folder / "out").glob("*.npy")))


def gather(kind, dims, is_open=False, dtype=T.INT64, **attributes):
    net = Net()
    shape = ["n", *dims[1:]] if is_open else dims
    table, at = net.input("table", ["b", 3] if is_open else [4, 3]), net.input("at", shape, dtype)
    net.output(net.op(kind, table, at, **attributes), None)
    return net


CASES = {
    "rows": ("Gather", {}, [0, -4, 3], [0, 4, 1], lambda at: TABLE[at]),
    "columns": ("Gather", {"axis": 1}, [2, -3], [-4, 0], lambda at: TABLE[:, at]),
    "elements": ("GatherElements", {}, [[0, -1, 2]], [[0, 1, 9]], lambda at: np.take_along_axis(TABLE, at, 0)),
    "tuples": ("GatherND", {}, [[3, 2], [-1, -3]], [[0, 0], [2, 3]], lambda at: TABLE[at[:, 0], at[:, 1]]),
}


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("case", CASES)
def test_the_cpu_refuses_them(case, dtype, is_open, tmp_path):
    kind, attributes, good, bad, wanted = CASES[case]
    if kind == "GatherND" and dtype == np.int32:
        pytest.skip("ONNX has no GatherND by int32")
    net = gather(kind, list(np.shape(good)), is_open, T.INT32 if dtype == np.int32 else T.INT64, **attributes)
    om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
    np.testing.assert_array_equal(run(om, tmp_path, table=TABLE, at=np.array(good, dtype)), wanted(np.array(good)))
    said = run(om, tmp_path, table=TABLE, at=np.array(bad, dtype))
    assert isinstance(said, str) and said.startswith("E10014: ") and "outside of a dim of" in said


@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_the_npu_refuses_them(soc, tmp_path):
    net = Net()
    net.output(net.op("Gather", net.weight(5, 16), net.input("at", [2], T.INT64)), None)
    model, om = net.save(tmp_path / "net.onnx"), tmp_path / "net.om"
    code, _, err = call(tool("atc"), f"--model={model}", "--framework=5", f"--soc_version={soc}", f"--output={om.with_suffix('')}")
    assert code == 0, err
    np.testing.assert_array_equal(*run(om, tmp_path, at=np.int64([4, -1])))
    for bad in (5, -6):
        said = run(om, tmp_path, at=np.int64([0, bad]))
        assert said == f"E10014: element 1 of input 'at' is the index {bad}, which is outside of a dim of 5 elements.\n"


def test_the_smallest_of_several_tables_counts(tmp_path):
    net = Net()
    at = net.input("at", [2, 2], T.INT32)
    wide = net.op("Reshape", net.op("Cast", at, to=T.INT64), net.ints(4))
    large, small = net.op("Gather", net.weight(9, 2), at), net.op("Gather", net.weight(5, 2), wide)
    net.output(net.op("Add", net.op("Reshape", large, net.ints(4, 2)), small), None)
    om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
    assert run(om, tmp_path, at=np.int32([[0, 4], [-5, 1]])).shape == (4, 2)
    for bad in (5, -6):
        assert f"the index {bad}, which is outside of a dim of 5" in run(om, tmp_path, at=np.int32([[0, 0], [bad, 0]]))


def test_another_order_of_the_input_is_checked(tmp_path):
    """As networks that take the steps first transpose their tokens."""
    net = Net()
    at = net.input("at", [2, 3], T.INT64)
    rows = net.op("Gather", net.weight(9, 2), net.op("Transpose", at, perm=[1, 0]))
    more = net.op("Gather", net.weight(7, 2), net.op("Expand", at, net.ints(2, 2, 3)))
    net.output(net.op("Relu", rows), None)
    net.output(net.op("Relu", more), None)
    om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
    assert not isinstance(run(om, tmp_path, at=np.int64([[0, 6, -7], [1, 1, 1]])), str)
    said = run(om, tmp_path, at=np.int64([[0, 6, 1], [1, 7, 1]]))
    assert "element 4 of input 'at' is the index 7, which is outside of a dim of 7" in said


def test_tiles_and_static_parts_check_them(tmp_path):
    """Parts of known sizes in a model of open ones: tiles along the batch, and what stands beside an
    operator whose result has an open size."""
    for is_tiled in (True, False):
        net = Net()
        ids = net.input("ids", ["b" if is_tiled else 5, 8], T.INT64)
        rows = net.op("Gather", net.weight(50, 64), ids)
        net.output(net.op("Relu", net.op("MatMul", rows, net.weight(64, 64))), None)
        inputs = {"ids": np.zeros((5, 8), np.int64)}
        if not is_tiled:
            net.output(net.op("NonZero", net.input("mask", [5], T.BOOL)), None, T.INT64)
            inputs["mask"] = np.ones(5, bool)
        om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
        inputs["ids"][4, 7] = 49
        assert not isinstance(run(om, tmp_path, **inputs), str)
        inputs["ids"][4, 7] = 50
        said = run(om, tmp_path, **inputs)
        assert "element 39 of input 'ids' is the index 50, which is outside of a dim of 50" in said


def test_each_gear_has_its_own_dims(tmp_path):
    om = compile_model(gather("Gather", ["n"], is_open=True).save(tmp_path / "net.onnx"), tmp_path,
                       "--input_shape=table:-1,3;at:-1", "--input_format=ND", "--dynamic_dims=4,2;8,2")
    twice = np.concatenate([TABLE, TABLE + 100])
    np.testing.assert_array_equal(run(om, tmp_path, table=twice, at=np.int64([7, 0])), twice[[7, 0]])
    assert "index 7, which is outside of a dim of 4" in run(om, tmp_path, table=TABLE, at=np.int64([7, 0]))


def test_a_side_that_is_not_taken_refuses_nothing(tmp_path):
    net = Net()
    c, at, table = net.input("c", [], T.BOOL), net.input("at", [2], T.INT64), net.input("table", [4, 3])
    from onnx import helper as H
    sides = [H.make_graph([node], name, [], [H.make_tensor_value_info(node.output[0], T.FLOAT, [2, 3])])
             for name, node in (("yes", H.make_node("Gather", [table, at], ["picked"])),
                                ("no", H.make_node("Slice", [table, net.ints(0), net.ints(2)], ["first"])))]
    net.output(net.op("If", c, then_branch=sides[0], else_branch=sides[1]), [2, 3])
    om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
    np.testing.assert_array_equal(run(om, tmp_path, c=np.array(False), at=np.int64([9, 9]), table=TABLE), TABLE[:2])


def test_constants_out_of_range_are_refused_by_the_node(tmp_path):
    for kind, at in (("Gather", [4]), ("GatherElements", [[0, 4, 0]]), ("GatherND", [[4, 0]])):
        net = Net()
        net.output(net.op(kind, net.input("table", [4, 3]), net.constant(np.int64(at))), None)
        om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
        said = run(om, tmp_path, table=TABLE)
        assert said == f"E10014: node 'n0' ({kind}) failed: index 4 is outside of a dim of 4 elements.\n"


@needs_protoc
def test_tensorflow_has_no_negative_indices(tmp_path):
    text = tf_input("x", [4, 3]) + tf_input("i", [2], "INT32")
    for body in (tf_node("y", "Gather", "x", "i"), tf_ints("axis", 0) + tf_node("y", "GatherV2", "x", "i", "axis")):
        np.testing.assert_array_equal(compute(tmp_path, text + body, x=TABLE, i=np.int32([3, 0])), TABLE[[3, 0]])
        for bad in (4, -1):
            said = compute(tmp_path, text + body, x=TABLE, i=np.int32([0, bad]))
            assert f"element 1 of input 'i' is the index {bad}" in said


@needs_protoc
def test_a_side_of_a_tensorflow_condition_refuses_nothing(tmp_path):
    text = (tf_input("x", [4, 3]) + tf_input("i", [4], "INT32") + tf_input("c", [], "BOOL")
            + tf_node("s", "Switch", "x", "c") + tf_node("at", "Switch", "i", "c")
            + tf_node("picked", "Gather", "s:1", "at:1") + tf_node("same", "Identity", "s")
            + tf_node("y", "Merge", "same", "picked"))
    np.testing.assert_array_equal(compute(tmp_path, text, x=TABLE, i=np.int32([9] * 4), c=np.array(False)), TABLE)
