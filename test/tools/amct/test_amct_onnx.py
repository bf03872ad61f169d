#===-- test_amct_onnx.py - the Python names of the vendor's quantization -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibrates the digit network through the package amct_onnx, and searches layers to leave float.
Samples are handed over directly, or by a session of onnxruntime where that is installed."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from digits_amct import MODEL, PICTURES, amct, scores, tool_of_the_build  # noqa: E402,F401
from amct_onnx._calibration import calibration_of  # noqa: E402
from amct_onnx._config import batch_num_of  # noqa: E402
from amct_onnx._tool import run_tool  # noqa: E402
from amct_onnx.tensor_decompose import auto_decomposition  # noqa: E402
from amct_onnx.common.auto_calibration import AutoCalibrationEvaluatorBase  # noqa: E402


def configure(folder, **arguments):
    amct.create_quant_config(folder / "config.json", MODEL, **arguments)
    return json.loads((folder / "config.json").read_text())


def test_a_configuration_lists_the_layers(tmp_path):
    names = [key for key, value in configure(tmp_path, batch_num=2).items()
             if isinstance(value, dict)]
    assert len(names) == 8
    config = configure(tmp_path, skip_layers=names[:1], activation_offset=False)
    assert config["batch_num"] == 1 and config["activation_offset"] is False
    assert [config[name]["quant_enable"] for name in names[:2]] == [False, True]
    with pytest.raises(ValueError, match="'none' of skip_layers"):
        configure(tmp_path, skip_layers=["none"])
    with pytest.raises(ValueError, match="batch_num"):
        configure(tmp_path, batch_num=0)
    definition = tmp_path / "simple.cfg"
    definition.write_text('batch_num : 3 # runs\nactivation_offset : false\n'
                          f'skip_layers : "{names[1]}"\nskip_layers : "{names[2]}"\n'
                          'common_config { ifmr_quantize { search_step : 0.02 } }\n')
    config = configure(tmp_path, config_defination=definition)
    assert config["batch_num"] == 3 and config["skip_layers"] == names[1:3]
    assert config["common_config"] == {"ifmr_quantize": {"search_step": 0.02}}
    with pytest.raises(ValueError, match="no ONNX model"):
        amct.create_quant_config(tmp_path / "x.json", definition)


@pytest.mark.parametrize("text, message", [
    ("[" * 100000, "nested too deep"), ("a {" * 100000, "nested too deep"), ("[1]", "no configuration"),
    *((f'{{"batch_num": {number}}}', "positive whole number")
      for number in ("[1]", "1e999", "NaN", '"x"', "true", "0", "-3"))])
def test_a_configuration_that_is_none(text, message, tmp_path):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        batch_num_of(tmp_path / "config.json")


def test_layers_without_a_name_have_that_of_the_ascend_toolchain(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(MODEL)
    for node in model.graph.node:
        node.name = ""
    onnx.save(model, tmp_path / "m.onnx")
    at, layer = next((at, node) for at, node in enumerate(model.graph.node) if node.op_type == "Conv")
    amct.create_quant_config(tmp_path / "config.json", tmp_path / "m.onnx", skip_layers=[f"Conv_{at}"])
    config = json.loads((tmp_path / "config.json").read_text())
    assert [name for name, value in config.items() if isinstance(value, dict) and not value["quant_enable"]] \
        == [layer.output[0]]
    with pytest.raises(ValueError, match="'Conv_99' of skip_layers"):
        amct.create_quant_config(tmp_path / "config.json", tmp_path / "m.onnx", skip_layers=["Conv_99"])


def test_inference_of_the_modified_model_calibrates(tmp_path):
    configure(tmp_path, batch_num=4)
    record, modified = tmp_path / "record.txt", tmp_path / "modified.onnx"
    amct.quantize_model(tmp_path / "config.json", MODEL, modified, record)
    with pytest.raises(RuntimeError, match="no sample was seen"):
        amct.save_model(modified, record, tmp_path / "out/digits")
    for number, picture in enumerate(PICTURES[:4]):
        assert record.exists() == (number == 4)
        calibration_of(modified).add([picture])
    assert "record" in record.read_text()
    amct.save_model(modified, record, tmp_path / "out/digits")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "digits_deploy_model.onnx", "digits_fake_quant_model.onnx"]
    results = scores(tmp_path / "out/digits_fake_quant_model.onnx", tmp_path)
    assert list(results.argmax(axis=1)) == list(range(10))
    with pytest.raises(ValueError, match="the record file"):
        amct.save_model(modified, tmp_path / "other.txt", tmp_path / "out/digits")
    with pytest.raises(ValueError, match="not written by quantize_model"):
        amct.save_model(MODEL, record, tmp_path / "out/digits")


def test_a_session_of_onnxruntime_keeps_samples(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    configure(tmp_path, batch_num=2)
    amct.quantize_model(tmp_path / "config.json", MODEL, tmp_path / "m.onnx", tmp_path / "r.txt")
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), amct.AMCT_SO)
    for picture in PICTURES[:3]:
        session.run(None, {session.get_inputs()[0].name: picture})
    assert calibration_of(tmp_path / "m.onnx").samples() == 2
    assert (tmp_path / "r.txt").exists()


class Similarity(AutoCalibrationEvaluatorBase):
    """Accepts models whose output has a cosine similarity to that of the float model. It is read
    from the report that the calibration writes beside the model."""

    def __init__(self, limit):
        self.limit = limit

    def calibration(self, model_file):
        for picture in PICTURES:
            calibration_of(model_file).add([picture])

    def evaluate(self, model_file):
        path = Path(str(model_file).replace("fake_quant_model.onnx", "report.json"))
        if path.suffix != ".json":
            return 1.0
        return min(row["cosine"] for row in json.loads(path.read_text())["outputs"])

    def metric_eval(self, original_metric, new_metric):
        return new_metric >= self.limit, original_metric - new_metric


@pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"),
                    reason="nine calibrations run with OPENATC_NIGHTLY")
def test_layers_stay_float_until_the_evaluator_is_satisfied(tmp_path):
    configure(tmp_path, batch_num=4)

    def search(limit):
        amct.accuracy_based_auto_calibration(
            model_file=MODEL, model_evaluator=Similarity(limit),
            config_file=tmp_path / "config.json", record_file=tmp_path / "record.txt",
            save_dir=str(tmp_path / "out/digits"), strategy="BinarySearch",
            sensitivity="CosineSimilarity")
        path = tmp_path / "out/digits_accuracy_based_auto_calibration_record.json"
        return json.loads(path.read_text())["attempts"]

    all_int8 = search(0.9)
    assert len(all_int8) == 1 and all_int8[0]["satisfied"]
    loss = all_int8[0]["loss"]
    mixed = search(1 - loss / 2)
    assert not mixed[0]["satisfied"] and any(each["satisfied"] for each in mixed)
    kept = min((each for each in mixed if each["satisfied"]),
               key=lambda each: len(each["float_layers"]))
    final = json.loads((tmp_path / "out/digits_accuracy_based_auto_calibration_final_config.json")
                       .read_text())
    assert final["skip_layers"] == sorted(kept["float_layers"])
    assert (tmp_path / "out/digits_deploy_model.onnx").exists()
    assert not (tmp_path / "out/digits_modified_model.onnx").exists()
    with pytest.raises(RuntimeError, match="no model that has int8 layers"):
        search(2)
    with pytest.raises(ValueError, match="strategy"):
        amct.accuracy_based_auto_calibration(MODEL, None, None, None, "x", strategy="Random")


def test_a_search_for_shares_of_channels(tmp_path):
    (tmp_path / "auto.cfg").write_text("compress_ratio: 1.5\nascend_optimized: false\n")
    pictures = np.concatenate(PICTURES)
    with pytest.warns(UserWarning, match="no gradients"):
        amct.auto_channel_prune_search(str(MODEL), tmp_path / "auto.cfg", [pictures],
                                       tmp_path / "out/prune.cfg", "TaylorLossSensitivity",
                                       "GreedySearch")
    assert 'layer_name: "stem"' in (tmp_path / "out/prune.cfg").read_text()
    run_tool("prune", "--model", MODEL, "--config", tmp_path / "out/prune.cfg", "--output",
             tmp_path / "pruned.onnx")
    with pytest.raises(ValueError, match="GreedySearch"):
        amct.auto_channel_prune_search(MODEL, None, [], "x", None, "Random")
    (tmp_path / "auto.cfg").write_text("compress_ratio: 1000")
    with pytest.raises(RuntimeError, match="E10014"):
        amct.auto_channel_prune_search(MODEL, tmp_path / "auto.cfg", pictures, "x", None)


def test_tensor_decomposition(tmp_path):
    changes = auto_decomposition(MODEL, tmp_path / "small.onnx", tmp_path / "info.json")
    assert changes == {"basic": ["basic_vertical", "basic_horizontal"]}
    assert json.loads((tmp_path / "info.json").read_text())["basic"]["energy"] >= 0.9
    assert list(scores(tmp_path / "small.onnx", tmp_path).argmax(axis=1)) == list(range(10))


def test_what_is_refused_says_why():
    for function in (amct.convert_model, amct.create_prune_retrain_model,
                     amct.create_quant_retrain_config):
        with pytest.raises(NotImplementedError, match=function.__name__):
            function("model.onnx")
    with pytest.raises(ValueError, match="print_level"):
        amct.set_logging_level("loud")
