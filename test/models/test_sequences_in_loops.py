#===-- test_sequences_in_loops.py - sequences that loops make item by item ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An item is added in place only where nobody reads the sequence without it any more.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME  # noqa: E402

X = np.array([1.5, -2], np.float32)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, [2])


def run(folder, nodes, outputs, n):
    """Returns the outputs of a graph of the inputs x, two floats, and n, a number of rounds."""
    graph = helper.make_graph(nodes, "g", [tensor("x", [2]), tensor("n", [], TensorProto.INT64)],
                              [tensor(name, None) for name in outputs],
                              [numpy_helper.from_array(np.array(True), "yes"),
                               numpy_helper.from_array(np.array(0, np.int64), "zero")])
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              str(path))
    session = Session(RUNTIME, npu.build(path, folder, None), threads=1)
    first, second = (session.run_values({"x": X, "n": np.array(n, np.int64)}) for _ in range(2))
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg="two runs of a session")
    return first


def loop(body, carried):
    """A Loop over n rounds; `body` makes `<name>_out` of `<name>_in` from `item`, which is x * round."""
    body = [node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), node("Mul", ["x", "f"], ["item"]), *body,
            node("Identity", ["c"], ["c_out"])]
    graph = helper.make_graph(
        body, "body", [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL),
                       *(sequence(f"{name}_in") for name in carried)],
        [tensor("c_out", [], TensorProto.BOOL), *(sequence(f"{name}_out") for name in carried)])
    return node("Loop", ["n", "yes", *(f"{name}_0" for name in carried)], list(carried), body=graph)


def stack(name):
    return node("ConcatFromSequence", [name], [f"{name}_all"], axis=0, new_axis=1)


@pytest.mark.parametrize("n", [1, 2, 9, 300])
def test_items_are_added_to_the_end(tmp_path, n):
    got = run(tmp_path, [node("SequenceEmpty", [], ["s_0"]),
                         loop([node("SequenceInsert", ["s_in", "item"], ["s_out"])], ["s"]), stack("s")],
              ["s_all"], n)
    np.testing.assert_array_equal(got["s_all"], X * np.arange(n, dtype=np.float32)[:, None])


def test_items_are_added_to_the_front(tmp_path):
    got = run(tmp_path, [node("SequenceConstruct", ["x"], ["s_0"]),
                         loop([node("SequenceInsert", ["s_in", "item", "zero"], ["s_out"])], ["s"]),
                         stack("s")], ["s_all"], 6)
    np.testing.assert_array_equal(got["s_all"], X * np.array([5, 4, 3, 2, 1, 0, 1], np.float32)[:, None])


def test_the_sequence_of_the_round_before_stays_as_it_was(tmp_path):
    body = [node("SequenceInsert", ["s_in", "item"], ["s_out"]),
            node("Identity", ["s_in"], ["before_out"])]
    got = run(tmp_path, [node("SequenceConstruct", ["x"], ["s_0"]),
                         node("SequenceConstruct", ["x"], ["before_0"]), loop(body, ["s", "before"]),
                         stack("s"), stack("before")], ["s_all", "before_all"], 5)
    want = X * np.array([1, 0, 1, 2, 3, 4], np.float32)[:, None]
    np.testing.assert_array_equal(got["s_all"], want)
    np.testing.assert_array_equal(got["before_all"], want[:-1])


def test_two_sequences_begin_with_the_same_one(tmp_path):
    """Also where the same item is in a sequence twice, and where the sequence is read in between."""
    nodes = [node("Add", ["x", "x"], ["y"]), node("SequenceConstruct", ["x", "x"], ["s"]),
             node("SequenceInsert", ["s", "y"], ["a"]), node("SequenceInsert", ["s", "x"], ["b"]),
             node("SequenceInsert", ["a", "x"], ["c"]), stack("a"), stack("b"), stack("c")]
    got = run(tmp_path, nodes, ["a_all", "b_all", "c_all"], 0)
    for name, factors in (("a", [1, 1, 2]), ("b", [1, 1, 1]), ("c", [1, 1, 2, 1])):
        np.testing.assert_array_equal(got[f"{name}_all"], X * np.array(factors, np.float32)[:, None])


def test_a_branch_may_read_the_sequence(tmp_path):
    """In odd rounds the sequence without the item goes on, in even ones that with it."""
    branches = {f"{side}_branch": helper.make_graph([node("Identity", [of], [f"{side}_s"])], side, [],
                                                    [sequence(f"{side}_s")])
                for side, of in (("then", "s_in"), ("else", "grown"))}
    body = [node("Constant", [], ["two"], value_int=2), node("Mod", ["i", "two"], ["rest"]),
            node("Cast", ["rest"], ["odd"], to=TensorProto.BOOL),
            node("SequenceInsert", ["s_in", "item"], ["grown"]),
            node("If", ["odd"], ["s_out"], **branches)]
    got = run(tmp_path, [node("SequenceConstruct", ["x"], ["s_0"]), loop(body, ["s"]), stack("s")],
              ["s_all"], 7)
    np.testing.assert_array_equal(got["s_all"], X * np.array([1, 0, 2, 4, 6], np.float32)[:, None])
