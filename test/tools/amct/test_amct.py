#===-- test_amct.py - quantization as a user calls it ------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibrates the bundled digit network, and says what is wrong with a command line or data."""

import html.parser
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import ROOT, RUNTIME, call, compile_model, tool  # noqa: E402

DIGITS = ROOT / "examples" / "digits"
MODEL, PICTURES = DIGITS / "digits.onnx", DIGITS / "pictures"
FILES = ["deploy_model.onnx", "fake_quant_model.onnx", "quant.json", "record.txt", "report.html",
         "report.json", "report.txt"]


def amct(*arguments):
    return call(tool("amct"), *arguments)


def calibrate(folder, *flags, data=PICTURES):
    prefix = folder / "digits"
    code, out, err = amct("calibrate", "--model", MODEL, "--data", data, "--output", prefix, *flags)
    assert code == 0, out + err
    return prefix, out, err


def scores(om, picture):
    session = Session(RUNTIME, om)
    (_, image), = session.inputs
    image[...] = picture
    session.run()
    result = session.outputs[0][1].copy()
    session.close()
    return result


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    return calibrate(tmp_path_factory.mktemp("amct"))


def test_writes_all_files(calibrated):
    prefix, out, err = calibrated
    assert sorted(path.name for path in prefix.parent.iterdir()) == [f"digits_{name}"
                                                                     for name in FILES]
    assert "8 layers" in out
    # No terminal: a line for every tenth.
    assert err.splitlines() == [f"calibrating {tenth * 10} % ({tenth} of 10)"
                                for tenth in range(1, 11)]


def test_the_quantized_model_compiles_and_answers(calibrated, tmp_path):
    om = compile_model(f"{calibrated[0]}_fake_quant_model.onnx", tmp_path)
    for digit in range(10):
        picture = np.load(PICTURES / f"digit_{digit}.npy")
        assert scores(om, picture).argmax() == digit


def test_scales(calibrated):
    table = json.loads(Path(f"{calibrated[0]}_quant.json").read_text())
    assert len(table["layers"]) == 8
    tensors = {entry["name"]: entry for entry in table["tensors"]}
    assert tensors["image"]["min"] >= 0 and tensors["image"]["max"] <= 1
    for entry in tensors.values():
        assert entry["scale"] > 0 and -128 <= entry["zero_point"] <= 127
        assert entry["min"] <= entry["max"]
    # What follows a relu has its zero at the end, and a pool the scale of what it pools.
    assert tensors["stem_relu"]["zero_point"] == -128
    assert tensors["stem_pool"]["scale"] == tensors["stem_relu"]["scale"]
    record = Path(f"{calibrated[0]}_record.txt").read_text()
    assert record.count("record {") == 8
    assert f"scale_d: {tensors['image']['scale']:.6}"[:16] in record
    for layer in table["layers"]:
        assert len(layer["weight_scales"]) >= 1 and min(layer["weight_scales"]) > 0


def test_reports_agree(calibrated):
    prefix = calibrated[0]
    report = json.loads(Path(f"{prefix}_report.json").read_text())
    text = Path(f"{prefix}_report.txt").read_text()
    page = Path(f"{prefix}_report.html").read_text()
    assert [row["tensor"] for row in report["outputs"]] == ["scores"]
    assert report["outputs"][0]["cosine"] > 0.99
    assert report["samples"] == 8
    for row in report["tensors"]:
        assert row["tensor"] in text and row["tensor"] in page
        assert row["cosine"] > 0.95
    assert page.count("<svg") > 10
    # It needs nothing from elsewhere, and all that opens closes.
    assert not re.search(r"https?://|<script|<link|<img|url\(", page)
    open_tags = []

    class Checker(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "br"):
                open_tags.append(tag)

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Checker().feed(page)
    assert open_tags == []


@pytest.mark.parametrize("method", ["minmax", "percentile", "kl", "mse"])
def test_methods(method, tmp_path):
    prefix, out, _ = calibrate(tmp_path, "--method", method, "--json")
    report = json.loads(out)
    assert report["outputs"][0]["cosine"] > 0.98
    table = json.loads(Path(f"{prefix}_quant.json").read_text())
    for entry in table["tensors"]:
        if method == "minmax":
            assert (entry["chosen_min"], entry["chosen_max"]) == (entry["min"], entry["max"])
        elif method in ("percentile", "kl"):
            assert entry["min"] <= entry["chosen_min"] <= entry["chosen_max"] <= entry["max"]


def test_batch_num_and_config(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"batch_num": 3, "symmetric": True, "skip_layers": ["stem"],
                                  "method": "minmax"}))
    prefix, out, _ = calibrate(tmp_path, "--config", config)
    assert "7 layers" in out and "(3 samples)" in out
    table = json.loads(Path(f"{prefix}_quant.json").read_text())
    assert all(entry["zero_point"] == 0 for entry in table["tensors"])
    assert all(layer["node"] != "stem" for layer in table["layers"])
    assert "(2 samples)" in calibrate(tmp_path, "--config", config, "--batch_num", 2)[1]


@pytest.fixture
def nameless(tmp_path):
    """The network with one layer that has no name: (model, the layer's name in the Ascend toolchain,
    its output)."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load(MODEL)
    for number, node in enumerate(model.graph.node):
        node.name = node.name if number % 2 else ""
    onnx.save(model, tmp_path / "nameless.onnx")
    others = [node for node in model.graph.node if not node.name]
    at, layer = next((at, node) for at, node in enumerate(others) if node.op_type == "Conv")
    return tmp_path / "nameless.onnx", f"Conv_{at}", layer.output[0]


def test_layers_without_a_name_have_that_of_the_ascend_toolchain(nameless, tmp_path):
    model, name, output = nameless
    for settings in ({"skip_layers": [name]}, {name: {"quant_enable": False}}):
        config = tmp_path / "config.json"
        config.write_text(json.dumps({"batch_num": 1, **settings}))
        code, out, err = amct("calibrate", "--model", model, "--data", PICTURES, "--output",
                              tmp_path / "net", "--config", config)
        assert code == 0, out + err
        table = json.loads((tmp_path / "net_quant.json").read_text())
        assert len(table["layers"]) == 7 and output not in [layer["output"] for layer in table["layers"]]
    conf = tmp_path / "compress.cfg"
    conf.write_text(f'calibration: {{ input_data_dir: "{PICTURES}" batch_num: 1 skip_layers: "{name}" }}')
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
                          f"--output={tmp_path / 'net'}", f"--compression_optimize_conf={conf}")
    assert code == 0, out + err
    sparse = tmp_path / "prune.cfg"
    sparse.write_text(f'prune_config {{ n_out_of_m_pruner {{ l1_selective_prune {{ }} }} }} skip_layers: "{name}"')
    code, out, err = amct("prune", f"--model={model}", f"--config={sparse}", f"--output={tmp_path}/sparse.onnx",
                          "--json")
    assert code == 0, out + err
    pruned = [layer["node"] for layer in json.loads(out)["layers"]]
    assert pruned and output not in pruned


@pytest.mark.parametrize("batch", [1, -1])
def test_the_vendors_command_line(batch, tmp_path):
    """.bin files, and the names of the flags that the vendor's tool has; a batch of any size takes
    samples one by one."""
    data = tmp_path / "data"
    data.mkdir()
    pictures = [np.load(PICTURES / f"digit_{digit}.npy") for digit in range(10)]
    for index, picture in enumerate(pictures[:5]):
        picture.tofile(data / f"{index}.bin")
    np.concatenate(pictures[5:]).tofile(data / "rest.bin")  # several samples in a file
    config = tmp_path / "quant.cfg"
    config.write_text('batch_num : 10\nactivation_offset : true\nskip_layer_types : "Gemm"\n')
    code, out, err = amct("calibration", "--model", MODEL, "--input_shape", f"image:{batch},1,28,28",
                          "--data_type", "float32", "--data_dir", data, "--save_path",
                          tmp_path / "out", "--calibration_config", config)
    assert code == 0, out + err
    assert "7 layers" in out and "(10 samples)" in out
    assert (tmp_path / "out_deploy_model.onnx").exists()


def test_npy_files_of_several_samples(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    pictures = [np.load(PICTURES / f"digit_{digit}.npy") for digit in range(10)]
    np.save(data / "a.npy", np.concatenate(pictures[:4]))
    np.save(data / "b.npy", pictures[4][0])  # without the batch's dim
    assert "(5 samples)" in calibrate(tmp_path, data=data)[1]


def check_fails(tmp_path, codes, *arguments):
    before = sorted(path.name for path in tmp_path.rglob("*"))
    code, out, err = amct(*arguments)
    lines = [line for line in err.splitlines() if not line.startswith("calibrating")]
    assert code == 1 and out == ""
    assert [line[:6] for line in lines if line[0] == "E"] == codes, err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before  # nothing was written
    return err


def test_all_errors_of_a_command_line_at_once(tmp_path):
    err = check_fails(tmp_path, ["E10410", "E10410", "E10410", "E10001"],
                      "calibrate", "--model", tmp_path / "no.onnx", "--data", tmp_path / "none",
                      "--output", tmp_path / "no" / "x", "--config", tmp_path / "no.json",
                      "--method", "best")
    assert "no.onnx" in err and "best" in err and "of --data (--data_dir) does not exist" in err


@pytest.mark.parametrize("arguments, code", [
    ([], "E10007"), (["calibrate"], "E10007"), (["calibrate", "--modle", "x"], "E10055"),
    (["convert"], "E10007")])
def test_a_command_line_without_sense(arguments, code, tmp_path):
    check_fails(tmp_path, [code], *arguments)


@pytest.mark.parametrize("name, framework", [("amct_caffe", 0), ("amct_tensorflow", 3)])
def test_tools_for_other_models_say_what_to_do(name, framework):
    code, _, err = call(tool(name), "calibration", "--model", "x")
    assert code == 1 and err.startswith(f"E10055: {name} is no tool here")
    assert f"atc --framework={framework} --compression_optimize_conf=FILE" in err


@pytest.mark.parametrize("file, contents, words", [
    ("net.pb", b"\n\x04\n\x02ab", "is a TensorFlow graph (GraphDef): amct reads ONNX models; atc --framework=3"),
    ("net.prototxt", b"name: 'x'\n", "is a Caffe prototxt: amct reads ONNX models; atc --framework=0"),
    ("net.pt", b"PK\x03\x04", "is a PyTorch file: export the model with torch.onnx.export"),
])
def test_models_of_other_kinds_are_named(tmp_path, file, contents, words):
    (tmp_path / "data").mkdir()
    (tmp_path / file).write_bytes(contents)
    assert words in fails_with_data(tmp_path, ["E13005"], model=tmp_path / file)


def fails_with_data(tmp_path, codes, *flags, data=None, model=MODEL):
    return check_fails(tmp_path, codes, "calibrate", "--model", model, "--data",
                       data or tmp_path / "data", "--output", tmp_path / "x", *flags)


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_an_empty_folder(tmp_path, data):
    fails_with_data(tmp_path, ["E10014"])


def test_files_that_do_not_fit_are_all_named(tmp_path, data):
    np.save(data / "a.npy", np.zeros((1, 1, 28, 27), np.float32))
    np.save(data / "b.npy", np.zeros((1, 1, 28, 28), np.float64))
    np.save(data / "c.npy", np.zeros((28, 28), np.float32))
    (data / "d.bin").write_bytes(b"123")
    (data / "e.npy").write_bytes(b"\x93NUMPY garbage")
    err = fails_with_data(tmp_path, ["E10014", "E10014", "E10049", "E10014", "E13005"])
    for name in ("a.npy", "b.npy", "c.npy", "d.bin", "e.npy"):
        assert name in err


def test_numbers_that_are_none(tmp_path, data):
    picture = np.zeros((1, 1, 28, 28), np.float32)
    picture[0, 0, 3, 3] = np.nan
    np.save(data / "a.npy", picture)
    assert "'image'" in fails_with_data(tmp_path, ["E10014"])


def test_too_many_folders(tmp_path, data):
    fails_with_data(tmp_path, ["E10014"], data=f"{PICTURES};{PICTURES}")


def test_a_data_type_that_is_not_the_inputs(tmp_path, data):
    fails_with_data(tmp_path, ["E10014"], "--data_type", "uint8", data=PICTURES)


@pytest.mark.parametrize("text, code", [
    ("{", "E10032"), ('{"method": "best"}', "E10001"), ('{"unknown": 1}', "E10001"),
    ("batch_num : {", "E13018"), ('{"skip_layers": ["no_such_layer"]}', "E10016"),
    ('{"skip_layer_types": ["Conv", "Gemm"]}', "E10055")])
def test_configurations(tmp_path, data, text, code):
    (tmp_path / "c.json").write_text(text)
    fails_with_data(tmp_path, [code], "--config", tmp_path / "c.json", data=PICTURES)


def test_a_file_that_is_no_model(tmp_path, data):
    (tmp_path / "m.onnx").write_bytes(b"not a model")
    fails_with_data(tmp_path, ["E13005"], data=PICTURES, model=tmp_path / "m.onnx")


def test_a_model_that_is_quantized_already(calibrated, tmp_path):
    fails_with_data(tmp_path, ["E10055"], data=PICTURES,
                    model=f"{calibrated[0]}_fake_quant_model.onnx")


def test_batch_num_beyond_the_data_is_told(tmp_path):
    _, out, err = calibrate(tmp_path, "--batch_num", 99)
    assert "W10014" in err and "(10 samples)" in out


# atc --compression_optimize_conf


def compress(folder, text, *flags):
    conf = folder / "compress.cfg"
    conf.write_text(text)
    return call(tool("atc"), f"--model={MODEL}", "--framework=5", "--target=cpu",
                f"--output={folder / 'digits'}", f"--compression_optimize_conf={conf}", *flags)


def test_atc_quantizes_while_compiling(tmp_path):
    code, out, err = compress(tmp_path, f'calibration: {{\n  input_data_dir: "{PICTURES}"\n'
                                        f'  batch_num: 10\n  infer_soc: "Ascend310P3"\n}}\n')
    assert code == 0, out + err
    assert "W10055" in out and "infer_soc" in out
    for digit in range(10):
        picture = np.load(PICTURES / f"digit_{digit}.npy")
        assert scores(tmp_path / "digits.om", picture).argmax() == digit
    # Its weights are bytes.
    code, out, _ = call(tool("om-dump"), tmp_path / "digits.om", "--json")
    plain = compile_model(MODEL, tmp_path.joinpath("plain").mkdir() or tmp_path / "plain")
    assert (tmp_path / "digits.om").stat().st_size < plain.stat().st_size


def test_atc_reads_values_without_quotes(tmp_path):
    """As the vendor's page writes the file."""
    (tmp_path / "simple_config.cfg").write_text("batch_num: 10\n")
    code, out, err = compress(tmp_path, "enable_first_layer_quantization:true\ncalibration:\n{\n"
                              f"    input_data_dir: {PICTURES}\n    input_shape: image:1,1,28,28\n"
                              f"    config_file: {tmp_path / 'simple_config.cfg'}\n"
                              "    infer_soc: Ascend310P3\n    infer_aicore_num: 8\n"
                              "    infer_ip: 192.168.1.2\n    log: info\n}\n")
    assert code == 0, out + err
    assert '"enable_first_layer_quantization" has no effect' in out


@pytest.mark.parametrize("text, codes", [
    ("calibration: {", ["E13018"]), ("calibration: { }", ["E10007"]),
    ("pruning: { }", ["E10001", "E10007"]),
    ('calibration: { input_data_dir: "none" }', ["E10410"]),
    ('calibration: { input_data_dir: "none" config_file: "no.cfg" }', ["E10410"]),
    (f'calibration: {{ input_data_dir: "{PICTURES}" skip_layers: "none" }}', ["E10016"])])
def test_atc_tells_what_is_wrong(tmp_path, text, codes):
    code, out, _ = compress(tmp_path, text)
    assert code == 1
    lines = out.splitlines()
    assert [line[:6] for line in lines if re.match(r"E\d{5}:", line)] == codes, out
    assert not (tmp_path / "digits.om").exists()
