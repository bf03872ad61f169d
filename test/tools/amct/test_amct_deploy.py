#===-- test_amct_deploy.py - the vendor's form of a quantized model, and comparing models ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""atc makes the same integers of the deploy model as of the standard one."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import ROOT, RUNTIME, call, compile_model, tool  # noqa: E402

DIGITS = ROOT / "examples" / "digits"
MODEL, PICTURES = DIGITS / "digits.onnx", DIGITS / "pictures"


def amct(*arguments):
    return call(tool("amct"), *arguments)


def calibrate(folder, model=MODEL, data=PICTURES, *flags):
    code, out, err = amct("calibrate", "--model", model, "--data", data, "--output", folder / "q",
                          *flags)
    assert code == 0, out + err
    return folder / "q_fake_quant_model.onnx", folder / "q_deploy_model.onnx"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return calibrate(tmp_path_factory.mktemp("deploy"))


def results(model, folder, inputs):
    folder.mkdir()
    session = Session(RUNTIME, compile_model(model, folder))
    (_, array), = session.inputs
    answers = []
    for each in inputs:
        array[...] = each
        session.run()
        answers.append([output.copy() for _, output in session.outputs])
    session.close()
    return answers


def check_same(models, folder, inputs):
    first, second = (results(model, folder / str(i), inputs) for i, model in enumerate(models))
    for ours, theirs in zip(first, second):
        for left, right in zip(ours, theirs):
            assert left.tobytes() == right.tobytes()
    return first


def test_both_forms_give_the_same(digits, tmp_path):
    generator = np.random.default_rng(2)
    inputs = [np.load(PICTURES / f"digit_{digit}.npy") for digit in range(10)]
    inputs += [generator.random((1, 1, 28, 28), np.float32) for _ in range(20)]
    answers = check_same(digits, tmp_path, inputs)
    assert [answer[0].argmax() for answer in answers[:10]] == list(range(10))
    assert np.ptp([answer[0] for answer in answers]) > 1


def test_the_compiled_models_have_the_same_launches(digits, tmp_path):
    def launches(model):
        folder = tmp_path / model.stem
        folder.mkdir()
        code, out, _ = call(tool("om-dump"), compile_model(model, folder), "--json")
        assert code == 0
        om = json.loads(out)
        written = [[om["tensors"][index] for index in step["writes"]] for step in om["schedule"]]
        return [[(tensor["dtype"], tensor["dims"]) for tensor in step] for step in written]

    first = launches(digits[0])
    assert first == launches(digits[1])
    assert sum(tensor[0] in ("i8", "u8") for step in first for tensor in step) >= 8


@pytest.mark.parametrize("settings", [
    {"symmetric": True}, {"activation_type": "uint8"}, {"channel_wise": False},
    {"quantize_outputs": True}, {"skip_layers": ["stem"]}])
def test_both_forms_with_settings(settings, tmp_path):
    config = tmp_path / "c.json"
    config.write_text(json.dumps(settings))
    inputs = [np.load(PICTURES / f"digit_{digit}.npy") for digit in range(3)]
    check_same(calibrate(tmp_path, MODEL, PICTURES, "--config", config), tmp_path, inputs)


def make_layers(folder):
    """All kinds of layers: grouped and transposed convolutions, products with both weights."""
    generator = np.random.default_rng(4)

    def weights(name, *shape):
        return numpy_helper.from_array(generator.standard_normal(shape).astype("f4") * 0.3, name)

    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c"], group=2, pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("ConvTranspose", ["r", "w2", "b2"], ["t"], group=2, strides=[2, 2]),
             helper.make_node("AveragePool", ["t"], ["a"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Flatten", ["a"], ["f"]),
             helper.make_node("Gemm", ["f", "w3", "b3"], ["g"], transB=1),
             helper.make_node("Sigmoid", ["g"], ["s"]),
             helper.make_node("MatMul", ["s", "w4"], ["m"]),
             # Weights that are stored the other way round, and by a node.
             helper.make_node("Gemm", ["m", "w5", "b5"], ["n"]),
             helper.make_node("Relu", ["n"], ["o"]),
             helper.make_node("Transpose", ["w6"], ["w6t"], perm=[1, 0]),
             helper.make_node("MatMul", ["o", "w6t"], ["y"])]
    graph = helper.make_graph(
        nodes, "layers", [helper.make_tensor_value_info("x", 1, [1, 4, 6, 6])],
        [helper.make_tensor_value_info("y", 1, None)],
        [weights("w1", 8, 2, 3, 3), weights("b1", 8), weights("w2", 8, 3, 2, 2), weights("b2", 6),
         weights("w3", 10, 216), weights("b3", 10), weights("w4", 10, 5),
         weights("w5", 5, 200), weights("b5", 200), weights("w6", 7, 200)])
    path = folder / "layers.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def test_both_forms_of_other_layers(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    generator = np.random.default_rng(6)
    inputs = [generator.standard_normal((1, 4, 6, 6)).astype("f4") for _ in range(6)]
    for i, each in enumerate(inputs):
        np.save(data / f"{i}.npy", each)
    models = calibrate(tmp_path, make_layers(tmp_path), data)
    nodes = [node.op_type for node in onnx.load(models[1]).graph.node]
    assert nodes.count("AscendDequant") == 6 and "QuantizeLinear" not in nodes
    check_same(models, tmp_path, inputs)


def test_weights_behind_their_own_node(digits, tmp_path):
    """AscendWeightQuant between the constant and the layer; integers kept as numbers."""
    model = onnx.load(digits[1])
    zero = numpy_helper.from_array(np.zeros(1, np.int8), "weight_offset")
    model.graph.initializer.append(zero)
    for node in list(model.graph.node):
        if node.op_type == "Conv":
            name = node.input[1] + "_node"
            model.graph.node.insert(0, helper.make_node("AscendWeightQuant",
                                                        [node.input[1], "weight_offset"], [name]))
            node.input[1] = name
        if node.op_type.startswith("Ascend"):
            node.domain = "amct.customop"
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.UINT64:
            values = numpy_helper.to_array(tensor)
            tensor.ClearField("raw_data")
            tensor.uint64_data.extend(values.tolist())
    onnx.save(model, tmp_path / "w.onnx")
    check_same([digits[0], tmp_path / "w.onnx"], tmp_path,
               [np.load(PICTURES / f"digit_{digit}.npy") for digit in range(3)])


def set_attribute(op, name, value):
    def change(model):
        node = next(node for node in model.graph.node if node.op_type == op)
        kept = [attribute for attribute in node.attribute if attribute.name != name]
        del node.attribute[:]
        node.attribute.extend(kept + [helper.make_attribute(name, value)])
    return change


def set_scales(values):
    def change(model):
        node = next(node for node in model.graph.node if node.op_type == "AscendDequant")
        model.graph.initializer.append(numpy_helper.from_array(np.array(values), "scales"))
        node.input[1] = "scales"
    return change


def stem_without_quant(model):
    conv = next(node for node in model.graph.node if node.op_type == "Conv")
    conv.input[0] = "image"


def bias_longer_than_its_data(model):
    conv = next(node for node in model.graph.node if node.op_type == "Conv")
    bias = next(each for each in model.graph.initializer if each.name == conv.input[2])
    bias.dims[0] = 1 << 60


ONE = 0x3F800000


@pytest.mark.parametrize("change, word", [
    (set_attribute("AscendQuant", "scale", 0.0), "scale"),
    (set_attribute("AscendQuant", "scale", float("nan")), "scale"),
    (set_attribute("AscendQuant", "offset", 0.5), "offset"),
    (set_attribute("AscendQuant", "offset", 1000.0), "offset"),
    (set_attribute("AscendQuant", "dst_type", "INT16"), "dst_type"),
    (set_attribute("AscendQuant", "sorcery", 1), "sorcery"),
    (set_attribute("AscendAntiQuant", "scale", 7.0), "AscendQuant"),
    (set_attribute("Conv", "offset_x", 3), "offset_x"),
    (set_scales(np.array([ONE], np.uint32)), "uint64"),
    (set_scales(np.array([ONE] * 3, np.uint64)), "channels"),
    (set_scales(np.array([0], np.uint64)), "positive"),
    (set_scales(np.array([ONE | 1 << 32], np.uint64)), "shift"),
    (stem_without_quant, "AscendQuant"),
    (bias_longer_than_its_data, "bias")])
def test_errors_of_a_deploy_model(change, word, digits, tmp_path):
    model = onnx.load(digits[1])
    change(model)
    onnx.save(model, tmp_path / "bad.onnx")
    code, out, err = call(tool("atc"), f"--model={tmp_path / 'bad.onnx'}", "--framework=5",
                          "--target=cpu", f"--output={tmp_path / 'bad'}")
    lines = [line for line in (out + err).splitlines() if line.startswith("E14001")]
    assert code == 1 and lines and word in lines[0], out + err
    assert not (tmp_path / "bad.om").exists()


def test_all_errors_of_a_deploy_model_at_once(digits, tmp_path):
    model = onnx.load(digits[1])
    count = 0
    for node in model.graph.node:
        if node.op_type == "AscendQuant":
            node.attribute.append(helper.make_attribute("sorcery", 1))
            count += 1
    onnx.save(model, tmp_path / "bad.onnx")
    code, out, err = call(tool("atc"), f"--model={tmp_path / 'bad.onnx'}", "--framework=5",
                          "--target=cpu", f"--output={tmp_path / 'bad'}")
    assert code == 1 and count > 5
    assert len([line for line in (out + err).splitlines() if line.startswith("E14001")]) == count


# amct compare


def compare(quantized, *flags, model=MODEL, data=PICTURES):
    return amct("compare", "--model", model, "--quantized_model", quantized, "--data", data, *flags)


@pytest.mark.parametrize("form", [0, 1])
def test_compare_tells_what_calibrate_told(form, digits, tmp_path):
    code, out, err = compare(digits[form], "--batch_num", 8, "--json")
    assert code == 0, out + err
    ours = json.loads(out)
    right = json.loads((digits[0].parent / "q_report.json").read_text())
    assert ours["samples"] == 8
    assert [row["tensor"] for row in ours["outputs"]] == ["scores"]
    # A division that balances channels is no tensor of the float model.
    assert {row["tensor"] for row in ours["tensors"]} == {
        row["tensor"] for row in right["tensors"] if not row["tensor"].endswith("_balanced")}
    assert len(ours["tensors"]) > 8
    for kind in ("tensors", "outputs"):
        theirs = {row["tensor"]: row for row in right[kind]}
        for row in ours[kind]:
            same = theirs[row["tensor"]]
            assert row["cosine"] == pytest.approx(same["cosine"], abs=1e-4)
            assert row["sqnr_db"] == pytest.approx(same["sqnr_db"], abs=0.5)


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("factor", [255, 1 / 255])
def test_compare_hints_at_other_preparation(digits, tmp_path, form, factor):
    np.save(tmp_path / "p.npy", np.load(next(PICTURES.glob("*.npy"))) * np.float32(factor))
    code, out, err = compare(digits[form], data=tmp_path)
    hints = [line for line in err.splitlines() if line.startswith("W10015: ")]
    assert code == 0 and len(hints) == 1, out + err
    assert "'image'" in hints[0] and "calibrated" in hints[0]


@pytest.mark.parametrize("form", [0, 1])
def test_compare_gives_no_hint_at_the_right_preparation(digits, form):
    code, out, err = compare(digits[form])
    assert code == 0 and "W10015" not in err, out + err


def test_compare_writes_the_report(digits, tmp_path):
    code, out, err = compare(digits[0], "--output", tmp_path / "c", "--report",
                             tmp_path / "page.html")
    assert code == 0, out + err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c_report.json", "c_report.txt",
                                                                "page.html"]
    text = (tmp_path / "c_report.txt").read_text()
    assert "stem_relu" in text and text in out and "10 samples" in text
    page = (tmp_path / "page.html").read_text()
    assert "stem_relu" in page and "<svg" in page and "10 samples" in page
    assert "comparing 100 %" in err


def test_a_model_beside_itself(tmp_path):
    code, out, err = compare(MODEL, "--json")
    assert code == 0, out + err
    report = json.loads(out)
    assert len(report["tensors"]) == 8
    for row in report["tensors"] + report["outputs"]:
        assert row["max_error"] == 0 and row["sqnr_db"] == "inf" and row["cosine"] > 0.999999


def test_tensors_balanced_in_place_are_left_out(tmp_path):
    """Two convolutions, of whose channels between one is far larger than the others."""
    generator = np.random.default_rng(8)
    weights = [generator.standard_normal(shape).astype("f4") for shape in ((8, 3, 3, 3),
                                                                           (4, 8, 3, 3))]
    weights[0][0] *= 100
    weights[1][:, 0] /= 100
    nodes = [helper.make_node("Conv", ["x", "w0"], ["c"]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Conv", ["r", "w1"], ["y"])]
    graph = helper.make_graph(
        nodes, "balance", [helper.make_tensor_value_info("x", 1, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(each, f"w{i}") for i, each in enumerate(weights)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              tmp_path / "m.onnx")
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "a.npy", generator.standard_normal((6, 3, 8, 8)).astype("f4"))
    models = calibrate(tmp_path, tmp_path / "m.onnx", tmp_path / "data")
    metadata = {each.key: each.value for each in onnx.load(models[0]).metadata_props}
    assert metadata["openatc.balanced_tensors"].split("\n") == ["c", "r"]
    for model in models:
        code, out, err = compare(model, "--json", model=tmp_path / "m.onnx",
                                 data=tmp_path / "data")
        assert code == 0, out + err
        report = json.loads(out)
        assert [row["tensor"] for row in report["tensors"]] == ["x"]
        assert report["outputs"][0]["cosine"] > 0.999


def test_compare_errors(digits, tmp_path):
    code, out, err = compare(tmp_path / "no.onnx", "--batch_num", -1, model=tmp_path / "none.onnx",
                             data=tmp_path / "nothing")
    assert code == 1 and out == ""
    assert [line[:6] for line in err.splitlines()] == ["E10410", "E10410", "E10410", "E10001"], err
    other = make_layers(tmp_path)
    code, out, err = compare(other)
    assert code == 1 and [line[:6] for line in err.splitlines()] == ["E10014", "E10014"], err
    assert "'image'" in err and "'scores'" in err
    code, out, err = compare(digits[0], "--input_shape", "image:1,1,-1,28")
    assert code == 1 and "E10002" in err and out == "", err
    code, out, err = amct("compare", "--model", MODEL)
    assert code == 1 and err.startswith("E10007")
