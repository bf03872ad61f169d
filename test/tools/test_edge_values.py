#===-- test_edge_values.py - operators at the ends of what they are defined for ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of fuzz-random-graphs, each minimized. Needs numpy and onnx."""

import os
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve() / "bin"
pytestmark = pytest.mark.skipif(not (BIN / "atc").exists(), reason=f"atc is not in {BIN}")


def run(folder, tool, *args):
    done = subprocess.run([str(BIN / tool), *map(str, args)], cwd=folder, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def compute(folder, nodes, x, target, kind=TensorProto.FLOAT, **constants):
    """Returns the output 'y', of type `kind`, of a model with the input 'x'; the interpreter agrees
    with it."""
    element = numpy_helper.from_array(x).data_type
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    np.save(folder / "x.npy", x)
    run(folder, "atc", "--model=m.onnx", "--framework=5", "--output=m", *target)
    run(folder, "om-run", "m.om", "--input", "x.npy", "--output", ".")
    run(folder, "om-run", "m.om", "--input", "x.npy", "--compare", "m.onnx")
    return np.load(folder / "y.npy")


TARGETS = pytest.mark.parametrize("target", [["--target=cpu"], ["--soc_version=Ascend310P3"]],
                                  ids=["cpu", "npu"])


@TARGETS
def test_bounds_that_contradict_each_other(target, tmp_path):
    """The upper one holds: the interpreter took the lower one for values below both."""
    x = np.array([-3.25, 0.25, 0.75, 4], np.float32)
    y = compute(tmp_path, [helper.make_node("Clip", ["x", "low", "high"], ["y"])], x, target,
                low=np.float32(1), high=np.float32(0.5))
    assert (y == 0.5).all()


@TARGETS
def test_pad_that_crops_all_of_its_input(target, tmp_path):
    """The view of what is left lay behind the end of the result."""
    x = np.ones((1, 16, 7, 8), np.float32)
    y = compute(tmp_path, [helper.make_node("Relu", ["x"], ["r"]),
                           helper.make_node("Pad", ["r", "pads", "value"], ["y"])], x, target,
                pads=np.array([3, 0, 0, 0, -1, -1, 4, 0]), value=np.float32(2))
    assert y.shape == (3, 15, 11, 8) and (y == 2).all()


@pytest.mark.parametrize("columns", [7, 16, 40])
def test_comparison_behind_an_integer_product(columns, tmp_path):
    """Its vector of booleans was stored with a bit per element."""
    rng = np.random.default_rng(columns)
    x = rng.integers(-128, 128, (7, 5), np.int8)
    w = rng.integers(0, 9, (5, columns), np.uint8)
    y = compute(tmp_path, [helper.make_node("MatMulInteger", ["x", "w", "zero"], ["p"]),
                           helper.make_node("LessOrEqual", ["p", "bound"], ["y"])], x,
                ["--target=cpu"], TensorProto.BOOL, w=w, zero=np.int8(3), bound=np.int32(40))
    assert (y == ((x.astype(np.int32) - 3) @ w.astype(np.int32) <= 40)).all()
