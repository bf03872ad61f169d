#===-- test_interpret.py - the reference interpreter on models with host kernels ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""atc-translate --interpret computes recurrent and dynamic models, and refuses others with a code.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402

info = helper.make_tensor_value_info


def save(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs,
                              [numpy_helper.from_array(array.astype(np.float32), name)
                               for name, array in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())


def interpret(model, *flags):
    return call(tool("atc-translate"), "--interpret", model, *flags)


def test_a_recurrent_model_has_the_answers_of_its_code(tmp_path):
    random = np.random.default_rng(2)
    model, om, x = tmp_path / "m.onnx", tmp_path / "m.om", tmp_path / "x.npy"
    save(model, [helper.make_node("GRU", ["x", "w", "r"], ["y", "h"], hidden_size=6),
                 helper.make_node("Tanh", ["y"], ["z"])],
         [info("x", TensorProto.FLOAT, [5, 2, 4])],
         [info(name, TensorProto.FLOAT, None) for name in ("z", "h")],
         [("w", random.normal(size=(1, 18, 4))), ("r", random.normal(size=(1, 18, 6)))])
    np.save(x, random.normal(size=(5, 2, 4)).astype(np.float32))
    code, out, err = interpret(model, "--input", x, "--dump", tmp_path / "ref")
    assert code == 0, out + err
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
                          f"--output={om.with_suffix('')}")
    assert code == 0, out + err
    code, out, err = call(tool("om-run"), om, "--input", x, "--output", tmp_path / "out")
    assert code == 0, out + err
    for name in ("z", "h"):
        np.testing.assert_allclose(np.load(tmp_path / "out" / f"{name}.npy"),
                                   np.load(tmp_path / "ref" / f"{name}.npy"), atol=1e-5)
    assert (tmp_path / "ref" / "y.npy").exists()


def test_a_dynamic_model_takes_the_shape_that_is_given(tmp_path):
    save(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])],
         [info("x", TensorProto.FLOAT, ["n", 3])], [info("y", TensorProto.FLOAT, None)],
         [("w", np.eye(3))])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    code, out, err = interpret(tmp_path / "m.onnx", "--input_shape", "x:2,3", "--input",
                               tmp_path / "x.npy", "--dump", tmp_path / "ref")
    assert code == 0, out + err
    np.testing.assert_array_equal(np.load(tmp_path / "ref" / "y.npy"), x)
    code, out, err = interpret(tmp_path / "m.onnx")
    assert code == 1 and "E10001: argument 0 of @main has no static shape" in err


def test_what_is_no_tensor_of_numbers_is_one_coded_line(tmp_path):
    save(tmp_path / "m.onnx", [helper.make_node("SequenceConstruct", ["x", "x"], ["s"]),
                               helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0)],
         [info("x", TensorProto.FLOAT, [2])], [info("y", TensorProto.FLOAT, None)])
    code, out, err = interpret(tmp_path / "m.onnx")
    assert code == 1 and out == ""
    assert err == ("E14001: 's': the host kernel 'SequenceConstruct': its result 0 is no tensor of "
                   "numbers\n")
