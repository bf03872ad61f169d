# Whole programs, as users have them: each is built with the others and runs as it is.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
PROGRAMS = BUILD / "bin"
PICTURES = ROOT / "examples/digits/pictures"
PACKAGES = os.environ.get("OPENATC_ACL_PYTHON", str(BUILD / "python"))
DIGITS = (2, 7, 4, 0)


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            timeout=300, env=os.environ | {"PYTHONPATH": PACKAGES,
                                                           "OPENATC_ATC": openatc_tools.tool("atc")})
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def program(name, *arguments):
    path = PROGRAMS / f"ascend-program-{name}"
    if not path.exists():
        pytest.skip(f"{path.name} was not built")
    return run(path, *arguments)


def compiled(folder, model, name, *options, target="--soc_version=Ascend310P3"):
    run(BUILD / "bin/atc", f"--model={model}", "--framework=5", f"--output={folder / name}",
        target, *options)
    return folder / f"{name}.om"


def save(path, nodes, inputs, outputs, constants):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
                     for name, dims in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)
    return path


def detector(path):
    """Scores of red and of blue per cell of 8 x 8 pixels; a box is as large as 2 x 2 cells."""
    grid = np.arange(8, dtype=np.float32) * 8 + 4
    boxes = np.full((1, 64, 4), 16, np.float32)
    boxes[0, :, 0], boxes[0, :, 1] = np.tile(grid, 8), np.repeat(grid, 8)
    colours = np.array([[1, -.5, -.5], [-.5, -.5, 1]], np.float32).reshape(2, 3, 1, 1)
    return save(path, [
        helper.make_node("Conv", ["images", "colours", "limit"], ["c"], name="Conv_0"),
        helper.make_node("AveragePool", ["c"], ["p"], kernel_shape=[8, 8], strides=[8, 8]),
        helper.make_node("Mul", ["p", "steep"], ["m"]),
        helper.make_node("Sigmoid", ["m"], ["s"]),
        helper.make_node("Reshape", ["s", "flat"], ["f"]),
        helper.make_node("Transpose", ["f"], ["t"], perm=[0, 2, 1]),
        helper.make_node("Concat", ["boxes", "t"], ["output"], axis=2)],
        {"images": [1, 3, 64, 64]}, ["output"],
        {"colours": colours, "limit": np.full(2, -.3, np.float32), "steep": np.float32(20),
         "flat": np.array([1, 2, 64], np.int64), "boxes": boxes})


def test_a_detector_of_pictures(tmp_path):
    (tmp_path / "aipp.cfg").write_text("""aipp_op {
  aipp_mode: static  input_format: YUV420SP_U8  src_image_size_w: 64  src_image_size_h: 64
  csc_switch: true  rbuv_swap_switch: false
  matrix_r0c0: 256  matrix_r0c1: 0  matrix_r0c2: 359
  matrix_r1c0: 256  matrix_r1c1: -88  matrix_r1c2: -183
  matrix_r2c0: 256  matrix_r2c1: 454  matrix_r2c2: 0
  input_bias_0: 0  input_bias_1: 128  input_bias_2: 128
  var_reci_chn_0: 0.00392157  var_reci_chn_1: 0.00392157  var_reci_chn_2: 0.00392157
}""")
    model = compiled(tmp_path, detector(tmp_path / "m.onnx"), "detector",
                     "--input_shape=images:1,3,64,64", "--input_format=NCHW",
                     f"--insert_op_conf={tmp_path / 'aipp.cfg'}", "--log=error")
    lines = [line.split() for line in program("detector", model, tmp_path).splitlines()]
    assert sorted(line[0] for line in lines) == ["blue", "red"]
    for kind, x, y, side, score, _, u, _, v in lines:
        left, top = {"red": (16, 16), "blue": (64, 48)}[kind]
        assert abs(int(x) - left) <= 16 and abs(int(y) - top) <= 16 and abs(int(side) - 32) <= 1
        assert float(score) > 0.9
        # The cut-out has the colour of the square.
        assert (int(v) > 200) == (kind == "red") and (int(u) > 200) == (kind == "blue")
    for index in range(2):
        assert (tmp_path / f"found{index}.jpg").read_bytes()[:3] == b"\xff\xd8\xff"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    for digit in DIGITS:
        np.load(PICTURES / f"digit_{digit}.npy").tofile(folder / f"{digit}.bin")
    return compiled(folder, ROOT / "examples/digits/digits.onnx", "digits")


def test_a_pipeline_of_streams_and_threads(digits):
    pictures = [digits.parent / f"{digit}.bin" for digit in DIGITS]
    answers = list(map(int, program("pipeline", digits, *pictures).split()))
    assert answers == list(DIGITS) * 4


def pooled(path, dims):
    """Sums of each channel, of images of any size."""
    return save(path, [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
                       helper.make_node("ReduceSum", ["c", "axes"], ["y"], keepdims=0)],
                {"x": dims}, ["y"],
                {"w": np.pad(np.array([[[[1]], [[2]], [[4]]]], np.float32),
                             ((0, 0), (0, 0), (1, 1), (1, 1))),
                 "axes": np.array([2, 3], np.int64)})


@pytest.mark.parametrize("shape, options, lines", [
    ("x:-1,3,8,6", ["--dynamic_batch_size=1,4"], ["batch 1 -> 1 1 sum 336", "batch 4 -> 4 1 sum 1344"]),
    ("x:1,3,-1,-1", ["--dynamic_image_size=8,6;4,4"],
     ["image 8x6 -> 1 1 sum 336", "image 4x4 -> 1 1 sum 112"]),
    ("x:-1,3,-1,6", ["--dynamic_dims=1,8;2,4", "--input_format=ND"],
     ["dims 1 3 8 6 -> 1 1 sum 336", "dims 2 3 4 6 -> 2 1 sum 336"]),
])
def test_all_gears_of_a_model(tmp_path, shape, options, lines):
    model = compiled(tmp_path, pooled(tmp_path / "m.onnx", ["n", 3, "h", "w"]), "m",
                     f"--input_shape={shape}", *options)
    assert program("gears", model).splitlines() == [line + ".000" for line in lines]


def test_dynamic_preprocessing(tmp_path):
    (tmp_path / "aipp.cfg").write_text(
        "aipp_op { aipp_mode: dynamic max_src_image_size: 4096 related_input_rank: 0 }")
    model = compiled(tmp_path, pooled(tmp_path / "m.onnx", [1, 3, 8, 6]), "m",
                     f"--insert_op_conf={tmp_path / 'aipp.cfg'}")
    # (1 - 0.5) * 4 per element.
    assert program("gears", model, "aipp", 6, 8) == "aipp -> 1 1 sum 672.000\nown size -> 1 1 sum 672.000\n"


def test_shapes_of_any_size(tmp_path):
    model = compiled(tmp_path, pooled(tmp_path / "m.onnx", ["n", 3, "h", "w"]), "m",
                     "--input_shape=x:-1,3,-1,-1", target="--target=cpu")
    assert program("gears", model, "shape", "2,3,8,6", "1,3,4,5").splitlines() == [
        "shape 2,3,8,6 -> 2 1 sum 672.000", "shape 1,3,4,5 -> 1 1 sum 140.000"]


def test_operators_one_by_one(tmp_path):
    (tmp_path / "ops.json").write_text(json.dumps([
        {"op": "ArgMaxD", "input_desc": [{"format": "ND", "shape": [16, 16], "type": "float16"}],
         "output_desc": [{"format": "ND", "shape": [16], "type": "int32"}],
         "attr": [{"name": "dimension", "type": "int", "value": 1}]},
        {"op": "Cast", "input_desc": [{"format": "ND", "shape": [256], "type": "float"}],
         "output_desc": [{"format": "ND", "shape": [256], "type": "float16"}],
         "attr": [{"name": "truncate", "type": "bool", "value": False},
                  {"name": "dst_type", "type": "int", "value": 1}]}]))
    run(BUILD / "bin/atc", f"--singleop={tmp_path / 'ops.json'}", "--soc_version=Ascend310P3",
        f"--output={tmp_path / 'op_models'}")
    said = dict(line.split() for line in program("operators", tmp_path / "op_models").splitlines())
    assert said.keys() == {"compiled", "cast", "best", "functions", "product"}
    for part in ("compiled", "cast", "functions"):
        assert float(said[part]) < 2e-3, said
    assert float(said["product"]) < 0.02, said


@pytest.mark.parametrize("name", ["graph-build", "graph-build-old-strings"])
def test_graphs_that_a_program_builds(name, tmp_path):
    model = save(tmp_path / "m.onnx", [helper.make_node("Neg", ["x"], ["y"])], {"x": ["n", 3]},
                 ["y"], {})
    assert program(name, tmp_path, model) == "graphs: ok\n"
    assert (tmp_path / "made/network.om").stat().st_size > 0


def test_graphs_that_call_graphs():
    assert program("graph-branches") == "branches: ok\n"


def test_a_program_of_pyacl(digits, tmp_path):
    video = tmp_path / "out.h265" if (BUILD / "lib/libacl_dvpp.so").exists() else "-"
    said = run(sys.executable, ROOT / "test/ascend/programs/classifier.py", digits, video,
               *(PICTURES / f"digit_{digit}.npy" for digit in DIGITS))
    assert said.split() == [str(digit) for digit in DIGITS]
    if video != "-":
        assert video.read_bytes()[:5] == b"\x00\x00\x00\x01\x40"  # a parameter set of H.265
