#===-- test_compare.py - om-run --compare as a user calls it -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the first bad layer of the bundled digit network."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import BUILD, ROOT, call, compile_model, tool  # noqa: E402

DIGITS = ROOT / "examples" / "digits"
MODEL, PICTURE = DIGITS / "digits.onnx", DIGITS / "pictures" / "digit_7.npy"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return compile_model(MODEL, tmp_path_factory.mktemp("digits"))


@pytest.fixture
def reference(tmp_path):
    """All tensors of the network, from the interpreter."""
    code, _, err = call(tool("atc-translate"), "--interpret", MODEL, "--input", PICTURE, "--dump",
                        tmp_path / "reference")
    assert code == 0, err
    return tmp_path / "reference"


def compare(om, reference, *args, picture=PICTURE):
    return call(tool("om-run"), om, "--compare", reference, "--input", picture, *args)


def test_agrees_with_the_model(digits, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code, out, err = compare(digits, MODEL)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0][:3] == ["tensor", "launch", "kernel"]
    names = [row[0] for row in rows[1:-1]]
    # One launch for each fused group, by the name of its last tensor.
    assert [name for name in names if "#" not in name] == [
        "stem_relu", "stem_pool", "expand_relu6", "depthwise_relu6", "inverted_add", "down_relu",
        "basic_relu", "head_relu", "pool_mean", "scores"]
    assert rows[-1] == f"all {len(names)} tensors agree".split()
    assert list(tmp_path.iterdir()) == []  # The temporary folder is gone.


def test_a_launch_without_a_tensor_claims_none(digits):
    """Borders are filled for the sake of a reader; they are nobody's tensor."""
    code, out, _ = call(tool("om-dump"), digits, "--json")
    assert code == 0
    data = json.loads(out)
    fills = [step for step in data["schedule"]
             if data["kernels"][step["kernel"]].startswith("fill_border")]
    assert fills and all(not step["writes"] for step in fills)


def test_json(digits, reference):
    code, out, err = compare(digits, reference, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["agree"] is True and data["first_bad"] is None and data["tolerance"] is None
    scores = data["tensors"][-1]
    assert scores["tensor"] == "scores" and scores["launch"] > 10
    assert 0 < scores["of_range"] < 1e-5 and scores["cosine"] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("layer", ["stem_pool", "inverted_add", "scores"])
def test_names_the_bad_layer(digits, reference, layer):
    values = np.load(reference / f"{layer}.npy")
    values.reshape(-1)[values.size // 2] += 0.01 * np.ptp(values)
    np.save(reference / f"{layer}.npy", values)
    code, out, err = compare(digits, reference)
    assert (code, err) == (1, "")
    marked = [line.split()[0] for line in out.splitlines() if line.endswith("<- first bad")]
    assert marked == [layer]
    assert out.splitlines()[-1].startswith(f"first bad layer: {layer} (launch ")
    assert compare(digits, reference, "--tolerance", "0.02")[0] == 0


@pytest.mark.parametrize("layer", ["expand_relu6", "basic_relu", "scores"])
def test_names_the_layer_with_a_wrong_weight(digits, tmp_path, layer):
    """A mistake in the model itself, found with the interpreter's answers."""
    code, out, _ = call(tool("om-dump"), digits, "--json")
    assert code == 0
    data = json.loads(out)
    names = [tensor["name"] for tensor in data["tensors"]]
    step, = (step for step in data["schedule"] if [names[i] for i in step["writes"]] == [layer])
    weights = next(arg for arg in step["args"] if arg["space"] == "weights")
    start = next(s["offset"] for s in data["segments"] if s["kind"] == "weights")
    broken = bytearray(digits.read_bytes())
    values = np.frombuffer(broken, np.float32, weights["size"] // 4, start + weights["offset"])
    values[:len(values) // 4] *= -1
    (tmp_path / "broken.om").write_bytes(broken)
    # The mistake is the model's, not the file's: the hash has to look away.
    code, out, err = compare(tmp_path / "broken.om", MODEL, "--no-verify")
    assert (code, err) == (1, "")
    assert out.splitlines()[-1].startswith(f"first bad layer: {layer} (launch ")


def test_the_first_of_several_is_named(digits, reference):
    for layer in ("head_relu", "down_relu", "scores"):
        np.save(reference / f"{layer}.npy", 2 * np.load(reference / f"{layer}.npy") + 1)
    code, out, _ = compare(digits, reference, "--json")
    assert code == 1
    data = json.loads(out)
    assert data["first_bad"]["tensor"] == "down_relu" and not data["agree"]
    bad = [row["tensor"] for row in data["tensors"] if row["of_range"] > 1e-4]
    assert bad == ["down_relu", "head_relu", "scores"]


def test_not_a_number_is_bad(digits, reference):
    values = np.load(reference / "down_relu.npy")
    values[0, 0, 0, 0] = np.nan
    np.save(reference / "down_relu.npy", values)
    code, out, _ = compare(digits, reference)
    assert code == 1 and "first bad layer: down_relu" in out


def test_another_input_is_seen(digits, reference):
    code, out, _ = compare(digits, reference, picture=DIGITS / "pictures" / "digit_1.npy")
    assert code == 1 and "first bad layer: " in out


def test_a_folder_without_a_manifest(digits, reference):
    (reference / "manifest.json").unlink()
    for path in reference.iterdir():
        if path.stem not in ("stem_pool", "scores"):
            path.unlink()
    code, out, _ = compare(digits, reference)
    assert code == 0
    assert out.splitlines()[-1] == "all 2 tensors agree"
    assert "have no counterpart" in out


def test_errors(digits, reference, tmp_path):
    code, _, err = compare(digits, tmp_path / "nowhere")
    assert code == 1 and err.startswith("E10410: ")
    (tmp_path / "empty").mkdir()
    code, _, err = compare(digits, tmp_path / "empty")
    assert code == 1 and err.startswith("E10014: the reference has none")
    (tmp_path / "text.onnx").write_text("no model")
    code, _, err = compare(digits, tmp_path / "text.onnx")
    assert code == 1 and err.startswith("E")
    np.save(reference / "scores.npy", np.load(reference / "scores.npy").astype(np.float64))
    code, _, err = compare(digits, reference)
    assert code == 1 and err.startswith("E10014: ") and "tensor 'scores'" in err

def write_dynamic(path):
    """y = relu(x @ w + 1) with a dynamic batch."""
    sys.path.insert(0, str(BUILD / "python"))
    builder = pytest.importorskip("openatc", reason="needs the built package").builder
    graph = builder.Graph("dynamic")
    x = graph.input("x", "float32", ["batch", 4])
    weights = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
    graph.output("y", graph.op("Relu", x @ weights + 1))
    graph.save(path)


def test_layers_of_a_dynamic_model(tmp_path):
    """A batch of 5 runs as tiles, which are compared as one tensor."""
    write_dynamic(tmp_path / "dynamic.onnx")
    om = compile_model(tmp_path / "dynamic.onnx", tmp_path)
    x = np.random.default_rng(0).standard_normal((5, 4)).astype("float32")
    np.save(tmp_path / "x.npy", x)
    code, out, err = compare(om, tmp_path / "dynamic.onnx", picture=tmp_path / "x.npy")
    assert (code, err) == (0, "") and out.splitlines()[-1].startswith("all "), out
    right = np.maximum(x @ np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3) + 1, 0)
    right[3, 1] += 1  # of the second tile
    (tmp_path / "right").mkdir()
    np.save(tmp_path / "right" / "y.npy", right)
    code, out, _ = compare(om, tmp_path / "right", picture=tmp_path / "x.npy")
    assert code == 1 and "first bad layer: y" in out


def write_onnx(path, nodes, inputs, outputs, opset=13, **constants):
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(nodes(helper), "net", [info(*each) for each in inputs.items()],
                              [info(name, None) for name in outputs],
                              [numpy_helper.from_array(np.asarray(value), name)
                               for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def recurrent(helper):
    return [helper.make_node("MatMul", ["x", "m"], ["scaled"], "product"),
            helper.make_node("LSTM", ["scaled", "w", "r"], ["states", "last"], "lstm", hidden_size=6),
            helper.make_node("Tanh", ["states"], ["bounded"], "tanh"),
            helper.make_node("ReduceSum", ["bounded"], ["y"], "sum", keepdims=0)]


# Layers that are fused have one result.
EACH_LAYER = "--disable_passes=cpu-fuse-element-calls"


def branches(helper):
    def body(name, node):
        out = helper.make_tensor_value_info(name, 1, None)
        return helper.make_graph(node, name, [], [out])
    return [helper.make_node("ReduceSum", ["x"], ["total"], "total", keepdims=0),
            helper.make_node("Greater", ["total", "zero"], ["positive"], "greater"),
            helper.make_node("If", ["positive"], ["chosen"], "if",
                             then_branch=body("a", [helper.make_node("Exp", ["x"], ["e"], "exp"),
                                                    helper.make_node("Neg", ["e"], ["a"], "neg")]),
                             else_branch=body("b", [helper.make_node("Sin", ["x"], ["b"], "sin")])),
            helper.make_node("Softmax", ["chosen"], ["y"], "softmax", axis=-1)]


@pytest.mark.parametrize("steps", [7, "steps"])
def test_layers_of_a_recurrent_model(tmp_path, steps):
    random = np.random.default_rng(2)
    model, x = tmp_path / "net.onnx", random.standard_normal((7, 2, 4)).astype("float32")
    write_onnx(model, recurrent, {"x": [steps, 2, 4]}, ["y", "last"],
               m=np.eye(4, dtype="float32") * 2,
               w=random.standard_normal((1, 24, 4)).astype("float32"),
               r=random.standard_normal((1, 24, 6)).astype("float32"))
    np.save(tmp_path / "x.npy", x)
    om = compile_model(model, tmp_path)
    code, out, err = compare(om, model, picture=tmp_path / "x.npy")
    assert (code, err) == (0, ""), out + err
    names = [line.split()[0] for line in out.splitlines()[1:-1]]
    assert {"states", "y", "last"} <= set(names), out
    # The recurrent layer is where the values go wrong first.
    (tmp_path / "right").mkdir()
    code, _, err = call(tool("atc-translate"), "--interpret", model, "--input", tmp_path / "x.npy",
                        "--input_shape", "x:7,2,4", "--dump", tmp_path / "right")
    assert code == 0, err
    for layer in ("states", "bounded", "y"):
        path = tmp_path / "right" / f"{layer}.npy"
        np.save(path, np.load(path) * np.float32(1.5))
    code, out, err = compare(om, tmp_path / "right", picture=tmp_path / "x.npy")
    assert code == 1 and "first bad layer: states" in out, out + err


@pytest.mark.parametrize("sign, layer", [(1, "e"), (-1, "b")])
def test_layers_of_the_branch_that_is_taken(tmp_path, sign, layer):
    model, x = tmp_path / "net.onnx", sign * np.linspace(0, 1, 12, dtype="float32").reshape(3, 4)
    write_onnx(model, branches, {"x": ["n", 4]}, ["y"], zero=np.float32(0))
    np.save(tmp_path / "x.npy", x)
    om = compile_model(model, tmp_path, EACH_LAYER)
    code, out, err = compare(om, model, picture=tmp_path / "x.npy")
    assert (code, err) == (0, ""), out + err
    (tmp_path / "right").mkdir()
    np.save(tmp_path / "right" / f"{layer}.npy", np.ones_like(x))
    code, out, _ = compare(om, tmp_path / "right", picture=tmp_path / "x.npy")
    assert code == 1 and f"first bad layer: {layer}" in out, out


def count_up(helper):
    body = helper.make_graph(
        [helper.make_node("Exp", ["v"], ["w"], "exp"), helper.make_node("Mul", ["w", "half"], ["next"], "mul"),
         helper.make_node("Identity", ["go"], ["go_on"], "id")], "body",
        [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("go", 9, []),
         helper.make_tensor_value_info("v", 1, None)],
        [helper.make_tensor_value_info("go_on", 9, []), helper.make_tensor_value_info("next", 1, None)])
    return [helper.make_node("Loop", ["three", "", "x"], ["y"], "loop", body=body)]


def test_the_first_iteration_of_a_loop_is_compared(tmp_path):
    model, x = tmp_path / "net.onnx", np.linspace(0, 1, 12, dtype="float32").reshape(3, 4)
    write_onnx(model, count_up, {"x": ["n", 4]}, ["y"], three=np.int64(3), half=np.float32(0.5))
    np.save(tmp_path / "x.npy", x)
    om = compile_model(model, tmp_path, EACH_LAYER)
    code, out, err = compare(om, model, picture=tmp_path / "x.npy")
    assert (code, err) == (0, ""), out + err
    (tmp_path / "right").mkdir()
    for value, found in ((np.exp(x), 0), (np.exp(np.exp(x) / 2), 1)):
        np.save(tmp_path / "right" / "w.npy", value)
        code, out, _ = compare(om, tmp_path / "right", picture=tmp_path / "x.npy")
        assert code == found, out


def test_f16_of_an_npu_is_compared_with_a_reference_in_f32(tmp_path):
    om = tmp_path / "digits.om"
    assert call(tool("atc"), f"--model={MODEL}", "--framework=5", "--soc_version=Ascend310P3",
                f"--output={om.with_suffix('')}")[0] == 0
    code, out, err = compare(om, MODEL)
    assert (code, err) == (0, ""), out + err
    code, out, _ = compare(om, MODEL, "--tolerance", "1e-6")
    assert code == 1 and "first bad layer: " in out


def test_an_npu_has_the_tolerance_of_a_quantized_reference(tmp_path, reference):
    """A launch of several layers keeps the integers between them to itself."""
    om = tmp_path / "digits.om"
    assert call(tool("atc"), f"--model={MODEL}", "--framework=5", "--soc_version=Ascend310P3",
                f"--output={om.with_suffix('')}")[0] == 0

    def tolerances():
        code, out, err = compare(om, reference, "--json")
        assert (code, err) == (0, "")
        return {row["tolerance"] for row in json.loads(out)["tensors"]}

    assert tolerances() == {0.01}
    np.save(reference / "integers.npy", np.zeros((2, 3), np.uint8))
    assert tolerances() == {0.03}


def test_ranks_refuse_options_of_inputs(tmp_path):
    for options in (["--seed=3"], ["--mean_chn=1"], ["--image_format=BGR"], ["--input_format=NHWC"]):
        code, _, err = call(tool("om-run"), tmp_path / "net.manifest", *options)
        assert code == 1 and err.startswith("E10057: of a model that is split over ranks"), err


def test_om_run_links_only_the_kernels_of_images():
    assert Path(tool("om-run")).stat().st_size < 3_300_000


def test_random_values_are_not_those_of_the_model(digits):
    """The reference is computed on files or zeros: with other values every layer looked bad."""
    code, out, err = call(tool("om-run"), digits, "--random", "--compare", MODEL)
    assert code == 1 and not out
    assert err.startswith("E10057: ") and "give the inputs as files" in err


def test_names_longer_than_those_of_files(tmp_path):
    """Converters from TensorFlow join the names of all nodes that became one."""
    from onnx import TensorProto, helper, save
    name = "model/a_layer_of_many_parts;" * 12
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], [name + "1"]), helper.make_node("Relu", [name + "1"], [name + "2"]),
         helper.make_node("Softmax", [name + "2"], [name + "3"])],
        "long", [info("x", TensorProto.FLOAT, [1, 2, 6, 6])], [info(name + "3", TensorProto.FLOAT, None)],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 2, 3, 3], np.linspace(-1, 1, 72, dtype=np.float32))])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    om = compile_model(tmp_path / "m.onnx", tmp_path)
    np.save(tmp_path / "x.npy", np.ones((1, 2, 6, 6), np.float32))
    code, out, err = compare(om, tmp_path / "m.onnx", "-o", tmp_path / "outputs", picture=tmp_path / "x.npy")
    assert (code, err) == (0, ""), out
    code, out, err = call(tool("om-run"), om, "--input", tmp_path / "x.npy", "-o", tmp_path / "outputs")
    assert code == 0, err
    written, = (tmp_path / "outputs").iterdir()
    assert written.name.startswith("model_a_layer_of_many_parts;") and np.load(written).shape == (1, 4, 4, 4)
