# What flags about element types and precision do to results: types and layouts of inputs and
# outputs, single nodes in f32, single operators. Run with `pytest test/tools`.
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
from caffe_nets import Net  # noqa: E402

BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
SOC = "--soc_version=Ascend310P3"


def tool(name, *args, cwd=None, fails=False):
    result = subprocess.run([openatc_tools.tool(name), *map(str, args)], cwd=cwd, capture_output=True,
                            text=True, timeout=300)
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout


def save(path, nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, "net",
                              [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
                              [helper.make_tensor_value_info(n, t, None) for n, t in outputs],
                              list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())


def compile_(folder, *flags, target=SOC, fails=False):
    return tool("atc", "--model=m.onnx", "--framework=5", "--output=m", target, *flags, cwd=folder,
                fails=fails)


def run(folder, om="m.om", **inputs):
    """The outputs of a file by their names."""
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
    out = folder / "out"
    given = ",".join(f"{name}={folder}/{name}.npy" for name in inputs)
    tool("om-run", folder / om, "--input", given, "--output", out)
    return {path.stem: np.load(path) for path in out.glob("*.npy")}


FLOAT = TensorProto.FLOAT


@pytest.fixture
def norm(tmp_path):
    """x / |x| with |x| so large that its square leaves f16: Mul, ReduceSum, Sqrt, Div. The factors are
    two inputs, as the square of one is f32 by itself."""
    axes = numpy_helper.from_array(np.array([1], np.int64), "axes")
    save(tmp_path / "m.onnx",
         [helper.make_node("Mul", ["x", "same"], ["s"], name="square"),
          helper.make_node("ReduceSum", ["s", "axes"], ["t"], name="sum", keepdims=1),
          helper.make_node("Sqrt", ["t"], ["r"], name="root"),
          helper.make_node("Div", ["x", "r"], ["y"], name="divide")],
         [("x", FLOAT, [4, 64]), ("same", FLOAT, [4, 64])], [("y", FLOAT)], [axes])
    x = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32) * 300
    return tmp_path, x, x / np.sqrt((x * x).sum(axis=1, keepdims=True))


def error_of(norm):
    folder, x, want = norm
    return np.abs(run(folder, x=x, same=x)["y"] - want).max()


def test_f16_alone_is_not_enough(norm):
    compile_(norm[0])
    assert not error_of(norm) < 0.05  # zeros, or not a number


@pytest.mark.parametrize("flags, files", [
    (["--precision_mode=force_fp32"], {}),
    (["--precision_mode=allow_fp32_to_fp16"], {}),
    (["--precision_mode=must_keep_origin_dtype"], {}),
    (["--precision_mode_v2=origin"], {}),
    (["--keep_dtype=k"], {"k": "square\nsum\nroot\n"}),
    (["--keep_dtype=k"], {"k": "OpType::Mul\nOpType::ReduceSumD\nOpType::Sqrt\n"}),
    (["--op_precision_mode=p"], {"p": "[ByOpType]\nMul=high_precision\nReduceSum=high_precision\n"
                                      "[ByNodeName]\nroot = enable_float_32_execution\n"}),
    (["--customize_dtypes=c"], {"c": "square::InputDtype:float32,float32,OutputDtype:float32\n"
                                     "OpType::ReduceSum:OutputDtype:float32\nroot::InputDtype:float32\n"}),
    (["--op_select_implmode=high_precision_for_all"], {}),
    (["--op_select_implmode=high_precision", "--optypelist_for_implmode=Mul,ReduceSum,Sqrt"], {}),
    (["--precision_mode=allow_mix_precision", "--modify_mixlist=b"],
     {"b": '{"black-list": {"to-add": ["Mul"]}}'}),
    (["--precision_mode_v2=mixed_float16", "--keep_dtype=k"], {"k": "square\n"}),
    (["--precision_mode=force_fp32", "--op_precision_mode=p"], {"p": "Div = high_performance\n"}),
])
def test_nodes_in_f32(norm, flags, files):
    for name, text in files.items():
        (norm[0] / name).write_text(text)
    compile_(norm[0], *flags)
    assert error_of(norm) < 1e-3


@pytest.mark.parametrize("flags, files", [
    ([], None),
    (["--keep_dtype=k"], "exp\nlargest\nlog\n"),
    (["--precision_mode=allow_mix_precision"], None),
    (["--precision_mode=force_fp32"], None),
])
def test_numbers_that_f16_certainly_loses_are_named(tmp_path, flags, files):
    """e^12 is beyond f16, whatever the input is: the advice of the warning makes the result right."""
    low, high = (numpy_helper.from_array(np.array(v, np.float32), n) for n, v in (("low", 12), ("high", 14)))
    save(tmp_path / "m.onnx",
         [helper.make_node("Clip", ["x", "low", "high"], ["c"], name="clip"),
          helper.make_node("Exp", ["c"], ["e"], name="exp"),
          helper.make_node("ReduceMax", ["e"], ["m"], name="largest", axes=[1]),
          helper.make_node("Log", ["m"], ["y"], name="log")],
         [("x", FLOAT, [4, 64])], [("y", FLOAT)], [low, high])
    (tmp_path / "k").write_text(files or "")
    shown = compile_(tmp_path, *flags)
    x = np.random.default_rng(1).uniform(10, 13, (4, 64)).astype(np.float32)
    if flags:
        assert "W11016" not in shown, shown
        np.testing.assert_allclose(run(tmp_path, x=x)["y"], x.max(axis=1, keepdims=True), rtol=2e-3)
    else:
        assert shown.count("W11016") == 1 and "node 'exp' makes numbers of 162755 or more" in shown, shown
        assert np.isinf(run(tmp_path, x=x)["y"]).all()


@pytest.mark.parametrize("flags, kept", [
    (["--op_select_implmode=high_precision_for_all"], None),
    (["--precision_mode=allow_fp32_to_fp16", "--keep_dtype=k"], "end"),
    (["--keep_dtype=k"], "norm\nshift"),
])
def test_norms_do_not_say_how_weights_multiply(tmp_path, flags, kept):
    """A convolution into whose weights a norm or a sum in f32 is folded stays on the NPU in f16."""
    rng = np.random.default_rng(3)
    constants = {"w": rng.standard_normal((16, 16, 3, 3)) / 12, "g": rng.uniform(0.5, 2, 16),
                 "b": rng.standard_normal(16), "m": rng.standard_normal(16),
                 "v": rng.uniform(0.5, 2, 16), "s": rng.standard_normal((1, 16, 1, 1))}
    save(tmp_path / "m.onnx",
         [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
          helper.make_node("BatchNormalization", ["c", "g", "b", "m", "v"], ["n"], name="norm"),
          helper.make_node("Add", ["n", "s"], ["a"], name="shift"),
          helper.make_node("Softmax", ["a"], ["y"], name="end", axis=1)],
         [("x", FLOAT, [1, 16, 8, 8])], [("y", FLOAT)],
         [numpy_helper.from_array(value.astype(np.float32), name)
          for name, value in constants.items()])
    if kept:
        (tmp_path / "k").write_text(kept)
    shown = compile_(tmp_path, *flags)
    assert "(100.0 %)" in shown and "CPU" not in shown
    # The other way round the convolution is f32, which only the CPU has, and stays so.
    (tmp_path / "k").write_text("conv")
    assert "W11010" in compile_(tmp_path, "--keep_dtype=k")


@pytest.mark.parametrize("flags, files", [
    (["--keep_dtype=k"], {"k": "Mul_0\nReduceSum_1\nSqrt_2\n"}),
    (["--op_precision_mode=p"], {"p": "[ByNodeName]\nMul_0=high_precision\nReduceSum_1=high_precision\nr=high_precision\n"}),
    (["--customize_dtypes=c"], {"c": "Mul_0::InputDtype:float32,float32,OutputDtype:float32\n"
                                     "ReduceSum_1::OutputDtype:float32\nSqrt_2::InputDtype:float32\n"}),
])
def test_nodes_without_a_name_in_f32(norm, flags, files):
    """They have the names that the Ascend toolchain makes, and those of their first outputs."""
    model = onnx.load(norm[0] / "m.onnx")
    for node in model.graph.node:
        node.name = ""
    onnx.save(model, norm[0] / "m.onnx")
    for name, text in files.items():
        (norm[0] / name).write_text(text)
    assert "W11002" not in compile_(norm[0], *flags)
    assert error_of(norm) < 1e-3
    (norm[0] / "k").write_text("Mul_1\n")
    assert "W11002: --keep_dtype (k:1): the model has no node 'Mul_1'" in compile_(norm[0], "--keep_dtype=k")


def test_one_node_in_f16_is_enough_to_lose(norm):
    """A rule about a node outweighs the mode."""
    (norm[0] / "p").write_text("[ByNodeName]\nsquare = high_performance\nsum=high_performance\n")
    compile_(norm[0], "--precision_mode=allow_fp32_to_fp16", "--op_precision_mode=p")
    assert not error_of(norm) < 0.05


def test_a_cpu_computes_in_f32(norm):
    (norm[0] / "k").write_text("square\n")
    compile_(norm[0], "--keep_dtype=k", target="--target=cpu")
    assert error_of(norm) < 1e-6
    (norm[0] / "p").write_text("Mul=high_performance\n")
    text = compile_(norm[0], "--op_precision_mode=p", target="--target=cpu", fails=True)
    assert "E10055: --op_precision_mode (p:1): 'Mul' cannot compute in f16" in text


def test_a_convolution_in_f32(tmp_path):
    """The cube has no f32: the CPU computes what must be f32."""
    rng = np.random.default_rng(2)
    w = rng.standard_normal((8, 16, 1, 1)).astype(np.float32)
    save(tmp_path / "m.onnx", [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                               helper.make_node("Relu", ["c"], ["y"], name="relu")],
         [("x", FLOAT, [1, 16, 4, 4])], [("y", FLOAT)], [numpy_helper.from_array(w, "w")])
    x = rng.standard_normal((1, 16, 4, 4)).astype(np.float32)
    want = np.maximum(np.einsum("oc,nchw->nohw", w[:, :, 0, 0].astype(np.float64), x), 0)
    (tmp_path / "k").write_text("conv\n")
    compile_(tmp_path)
    assert np.abs(run(tmp_path, x=x)["y"] - want).max() > 1e-4
    compile_(tmp_path, "--keep_dtype=k")
    # What comes out of the convolution is f32, and what goes into the activation f16.
    error = np.abs(run(tmp_path, x=x)["y"] - want)
    assert (error <= np.abs(want) * 2**-11 + 1e-6).all()


# ---- inputs and outputs --------------------------------------------------------------


@pytest.fixture
def relu(tmp_path):
    save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"], name="relu"),
                               helper.make_node("Neg", ["x"], ["z"], name="neg")],
         [("x", FLOAT, [2, 20, 3, 5])], [("y", FLOAT), ("z", FLOAT)])
    x = np.random.default_rng(3).integers(-60, 60, (2, 20, 3, 5)).astype(np.float32)
    return tmp_path, x


@pytest.mark.parametrize("target, name, dtype", [
    *((target, name, dtype) for target in (SOC, "--target=cpu")
      for name, dtype in (("FP32", np.float32), ("FP16", np.float16), ("UINT8", np.uint8), ("INT8", np.int8))),
    ("--target=cpu", "INT32", np.int32), ("--target=cpu", "INT64", np.int64)])
def test_type_of_all_outputs(relu, target, name, dtype):
    folder, x = relu
    compile_(folder, "--output_type=" + name, "--out_nodes=relu:0", target=target)
    y = run(folder, x=x)["y"]
    assert y.dtype == dtype and np.array_equal(y, np.maximum(x, 0).astype(dtype))


def test_type_of_one_output(relu):
    folder, x = relu
    compile_(folder, "--output_type=neg:0:FP16", target="--target=cpu")
    outputs = run(folder, x=x)
    assert outputs["y"].dtype == np.float32 and outputs["z"].dtype == np.float16
    model = onnx.load(folder / "m.onnx")
    for node in model.graph.node:
        node.name = ""
    onnx.save(model, folder / "nameless.onnx")
    at = [node.op_type for node in model.graph.node].index("Neg")
    tool("atc", "--model=nameless.onnx", "--framework=5", "--output=m", "--target=cpu", f"--output_type=Neg_{at}:0:FP16", cwd=folder)
    outputs = run(folder, x=x)
    assert outputs["y"].dtype == np.float32 and outputs["z"].dtype == np.float16
    compile_(folder, "--output_type=relu:0:INT8;neg:0:FP32", "--out_nodes=neg:0;relu:0")
    outputs = run(folder, x=x)
    assert outputs["y"].dtype == np.int8 and outputs["z"].dtype == np.float32
    assert np.array_equal(outputs["z"], -x)


@pytest.mark.parametrize("target", [SOC, "--target=cpu"])
def test_inputs_in_f16(relu, target):
    folder, x = relu
    compile_(folder, "--input_fp16_nodes=x", "--output_type=FP16", target=target)
    outputs = run(folder, x=x.astype(np.float16))
    assert np.array_equal(outputs["z"], (-x).astype(np.float16))


@pytest.mark.parametrize("target", [SOC, "--target=cpu"])
def test_inputs_of_integers_in_f16(tmp_path, target):
    """Scripts name the mask of a language model, which an export may have as integers."""
    save(tmp_path / "m.onnx", [helper.make_node("Cast", ["m"], ["f"], to=FLOAT), helper.make_node("Mul", ["x", "f"], ["y"])],
         [("x", FLOAT, [2, 6]), ("m", TensorProto.INT64, [2, 6])], [("y", FLOAT)])
    compile_(tmp_path, "--input_fp16_nodes=m", target=target)
    x, mask = np.arange(12, dtype=np.float32).reshape(2, 6), np.arange(12).reshape(2, 6) % 3
    assert np.array_equal(run(tmp_path, x=x, m=mask.astype(np.float16))["y"], x * mask)


def blocked(x):
    n, c, h, w = x.shape
    blocks = (c + 15) // 16
    padded = np.zeros((n, blocks * 16, h, w), np.float16)
    padded[:, :c] = x
    return padded.reshape(n, blocks, 16, h, w).transpose(0, 1, 3, 4, 2)


@pytest.mark.parametrize("target", [SOC, "--target=cpu"])
def test_layout_of_the_hardware(relu, target):
    folder, x = relu
    compile_(folder, "--input_fp16_nodes=x", "--is_input_adjust_hw_layout=true",
             "--out_nodes=relu:0;neg:0", "--is_output_adjust_hw_layout=false,true", target=target)
    outputs = run(folder, x=np.ascontiguousarray(blocked(x)))
    assert np.array_equal(outputs["y"], np.maximum(x, 0))
    assert outputs["z"].shape == (2, 2, 3, 5, 16)
    assert np.array_equal(outputs["z"], blocked(-x))


def test_types_of_a_dynamic_model(tmp_path):
    save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"], name="relu")],
         [("x", FLOAT, ["n", 6])], [("y", FLOAT)])
    compile_(tmp_path, "--output_type=FP16", "--input_fp16_nodes=x", target="--target=cpu")
    x = np.arange(-9, 9).reshape(3, 6).astype(np.float16)
    y = run(tmp_path, x=x)["y"]
    assert y.dtype == np.float16 and np.array_equal(y, np.maximum(x, 0))


# ---- JSON ----------------------------------------------------------------------------


def test_graph_of_a_compiled_model(relu):
    folder, _ = relu
    compile_(folder)
    tool("atc", "--mode=1", "--om=m.om", "--json=deep/m.json", cwd=folder)
    shown = json.loads((folder / "deep" / "m.json").read_text())
    ops = {op["name"]: op for op in shown["graph"][0]["op"]}
    assert ops["x"]["type"] == "Data"
    assert ops["x"]["output_desc"][0]["shape"]["dim"] == [2, 20, 3, 5]
    assert ops["x"]["output_desc"][0]["dtype"] == "DT_FLOAT"
    assert [tensor["name"] for tensor in ops["NetOutput"]["input_desc"]] == ["y", "z"]
    makers = [text.rsplit(":", 1) for text in ops["NetOutput"]["input"]]
    assert [ops[name]["output_desc"][int(index)]["name"] for name, index in makers] == ["y", "z"]
    # Every input is the output of an operator, and every operator has a name of its own.
    assert all(text.rsplit(":", 1)[0] in ops for op in ops.values() for text in op["input"])
    assert len(ops) == len(shown["graph"][0]["op"])


def test_graph_of_a_model_file(relu):
    folder, _ = relu
    tool("atc", "--mode=1", "--om=m.onnx", "--framework=5", "--json=m.json", cwd=folder)
    ops = {op["name"]: op for op in json.loads((folder / "m.json").read_text())["graph"][0]["op"]}
    assert ops["relu"]["type"] == "Relu" and ops["relu"]["input"] == ["x:0"]
    assert ops["relu"]["input_desc"][0]["layout"] == "NCHW"
    assert ops["NetOutput"]["input"] == ["relu:0", "neg:0"]


def test_layers_of_a_caffe_net(tmp_path):
    net = Net(data=(1, 3, 8, 8))
    net.conv("conv1", 4, 3, 3)
    net.relu("relu1")
    net.save(tmp_path)
    tool("atc", "--mode=1", "--om=net.prototxt", "--framework=0", "--json=net.json", cwd=tmp_path)
    shown = json.loads((tmp_path / "net.json").read_text())
    assert shown["name"] == "net"
    assert [(layer["name"], layer["type"], layer["bottom"], layer["top"]) for layer in shown["layer"]] == [
        ("conv1", "Convolution", ["data"], ["conv1"]), ("relu1", "ReLU", ["conv1"], ["conv1"])]
    assert shown["layer"][0]["convolution_param"] == {"num_output": 4, "kernel_size": 3}


def test_flag_of_0_and_1_without_a_value(relu):
    folder, _ = relu
    text = tool("atc", "--model=m.onnx", "--framework=5", "--enable_small_channel", "--target=cpu",
                "--output=small", "--disable_reuse_memory", cwd=folder)
    assert (folder / "small.om").exists() and "E1" not in text
    text = tool("atc", "--model=m.onnx", "--framework=5", "--target=cpu", "--output=small",
                "--enable_small_channel=", cwd=folder, fails=True)
    assert "E10004" in text


def test_framework_of_a_compiled_model(tmp_path):
    import command_lines
    command_lines.tf_model(tmp_path / "m.pb", "x", (1, 4))
    tool("atc", "--model=m.pb", "--framework=3", "--output=m", SOC, cwd=tmp_path)
    assert "framework_type[3]" in tool("atc", "--mode=6", "--om=m.om", cwd=tmp_path)


def test_text_message(tmp_path):
    (tmp_path / "g.txt").write_text('# a dump\ngraph { op { name: "a\\n" input: "b:0" input: "c:1" '
                                    'attr { key: "k" value { i: -3 f: 1.5 b: true } } } }')
    tool("atc", "--mode=5", "--om=g.txt", "--json=g.json", cwd=tmp_path)
    op = json.loads((tmp_path / "g.json").read_text())["graph"][0]["op"][0]
    assert op["name"] == "a\n" and op["input"] == ["b:0", "c:1"]
    assert op["attr"] == [{"key": "k", "value": {"i": -3, "f": 1.5, "b": True}}]
    for text, words in (("graph {\n op {", "the end of the file"), ("a: \"x", "end of string"),
                        ("a b", "expected ':'"), ("a {" * 300, "deep")):
        (tmp_path / "g.txt").write_text(text)
        shown = tool("atc", "--mode=5", "--om=g.txt", "--json=g.json", cwd=tmp_path, fails=True)
        assert "E13018" in shown and words in shown


def test_a_compiled_model_is_no_dump_in_text_form(relu):
    compile_(relu[0])
    shown = tool("atc", "--mode=5", "--om=m.om", "--json=g.json", cwd=relu[0], fails=True)
    assert "E13005" in shown and "--mode=1" in shown


def test_display_model_info(relu):
    assert "Display Model Info start" in compile_(relu[0], "--display_model_info=1")


def test_booleans_are_compared_without_bytes(tmp_path):
    """Host kernels are linked with code for the element types of the model alone."""
    other = numpy_helper.from_array(np.array([[True], [False], [True]]), "c")
    save(tmp_path / "m.onnx", [helper.make_node("Equal", ["x", "c"], ["y"], name="equal")],
         [("x", TensorProto.BOOL, ["n", "m"])], [("y", TensorProto.BOOL)], [other])
    compile_(tmp_path, target="--target=cpu")
    x = np.array([[True, False]])
    assert (run(tmp_path, x=x)["y"] == (x == numpy_helper.to_array(other))).all()


@pytest.mark.parametrize("op", ["Identity", "Concat"])
def test_copy_of_an_input_as_an_output_without_a_shape(op, tmp_path):
    attributes = {"axis": 0} if op == "Concat" else {}
    save(tmp_path / "m.onnx", [helper.make_node(op, ["x"], ["y"], name="copy", **attributes)],
         [("x", FLOAT, ["n", "m"])], [("y", FLOAT)])
    compile_(tmp_path, target="--target=cpu")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert (run(tmp_path, x=x)["y"] == x).all()


@pytest.mark.parametrize("op", ["ReduceMin", "ReduceMax", "ArgMin", "ArgMax"])
@pytest.mark.parametrize("element", [np.uint8, np.int8])
def test_bytes_are_compared_by_their_sign(op, element, tmp_path):
    """128 and above are the largest elements of uint8, the smallest of int8."""
    x = np.array([[3, 200, 127, 90], [250, 5, 129, 128], [1, 2, 3, 4]]).astype(element)
    axis = {"axes": [1]} if op.startswith("R") else {"axis": 1}
    kind = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}[element]
    save(tmp_path / "m.onnx", [helper.make_node(op, ["x"], ["y"], name="r", keepdims=0, **axis)],
         [("x", kind, [3, 4])],
         [("y", kind if op.startswith("R") else TensorProto.INT64)])
    compile_(tmp_path, target="--target=cpu")
    expected = {"ReduceMin": x.min, "ReduceMax": x.max, "ArgMin": x.argmin, "ArgMax": x.argmax}[op]
    assert (run(tmp_path, x=x)["y"] == expected(1)).all()
