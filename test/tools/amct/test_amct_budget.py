#===-- test_amct_budget.py - budgets, evaluators and trained models of amct ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`amct calibrate --min_cosine` and `--evaluator`, and `amct convert`."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from digits_amct import MODEL, amct, scores, tool_of_the_build  # noqa: E402,F401
from openatc_tools import ROOT, call, tool  # noqa: E402


def run(*arguments):
    return call(tool("amct"), *arguments)


@pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"),
                    reason="eight calibrations run with OPENATC_NIGHTLY")
def test_a_budget_of_the_tool(tmp_path):
    """--min_cosine leaves layers float, --evaluator asks a Python file."""
    data = ROOT / "examples/digits/pictures"
    common = ("calibrate", "--model", MODEL, "--data", data, "--batch_num", "4")
    code, out, err = run(*common, "--output", tmp_path / "a", "--min_cosine", "0.5")
    assert code == 0 and "multiply-accumulates" not in out, out + err
    worst = min(row["cosine"] for row in
                json.loads((tmp_path / "a_report.json").read_text())["outputs"])
    wanted = (1 + worst) / 2
    code, out, err = run(*common, "--output", tmp_path / "b", "--min_cosine", f"{wanted:.9f}")
    assert code == 0 and "multiply-accumulates" in out, out + err
    report = json.loads((tmp_path / "b_report.json").read_text())
    assert all(row["cosine"] >= wanted - 1e-9 for row in report["outputs"])
    assert report["float_layers"] and 0 < report["float_macs"] < 1
    code, out, err = run(*common, "--output", tmp_path / "c", "--min_cosine", "1")
    assert code == 1 and "E10014" in err and not list(tmp_path.glob("c_*"))
    code, out, err = run(*common, "--output", tmp_path / "c", "--min_cosine", "1.5")
    assert code == 1 and "E10001" in err


def test_an_evaluator_of_the_command_line(tmp_path):
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(
        "from amct_onnx.common.auto_calibration import AutoCalibrationEvaluatorBase\n"
        "class Evaluator(AutoCalibrationEvaluatorBase):\n"
        "    def evaluate(self, model_file):\n"
        "        return model_file.count('fake_quant')\n"
        "    def metric_eval(self, original_metric, new_metric):\n"
        "        return new_metric == 1, original_metric - new_metric\n")
    common = ("calibration", "--model", MODEL, "--data_dir", ROOT / "examples/digits/pictures",
              "--save_path", tmp_path / "out/digits")
    code, out, err = run(*common, "--evaluator", evaluator)
    assert code == 0 and "wrote" in out, out + err
    assert (tmp_path / "out/digits_deploy_model.onnx").exists()
    code, out, err = run(*common, "--evaluator", tmp_path / "none.py")
    assert code == 1 and "E10410" in err
    evaluator.write_text("x = 1\n")
    code, out, err = run(*common, "--evaluator", evaluator)
    assert code == 1 and "E10001" in err


def test_an_evaluator_with_its_own_samples_needs_no_folder(tmp_path):
    ort = pytest.importorskip("onnxruntime")
    del ort
    np.save(tmp_path / "x.npy", np.random.default_rng(1).random((4, 1, 28, 28), np.float32))
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(
        "import numpy as np\nimport onnxruntime as ort\nimport amct_onnx as amct\n"
        "from amct_onnx.common.auto_calibration import AutoCalibrationEvaluatorBase\n"
        "class Evaluator(AutoCalibrationEvaluatorBase):\n"
        "    def run(self, model_file):\n"
        "        session = ort.InferenceSession(model_file, amct.AMCT_SO)\n"
        f"        samples = np.load({str(tmp_path / 'x.npy')!r})\n"
        "        return [session.run(None, {session.get_inputs()[0].name: x[None]}) for x in samples]\n"
        "    def calibration(self, model_file):\n"
        "        self.run(model_file)\n"
        "    def evaluate(self, model_file):\n"
        "        return len(self.run(model_file))\n"
        "    def metric_eval(self, original_metric, new_metric):\n"
        "        return True, 0\n")
    common = ("calibration", "--model", MODEL, "--save_path", tmp_path / "out/digits")
    code, out, err = run(*common, "--evaluator", evaluator)
    assert code == 0 and (tmp_path / "out/digits_deploy_model.onnx").exists(), out + err
    code, out, err = run(*common)
    assert code == 1 and "E10007" in err and "--data" in err


def test_weights_of_convolutions_have_fewer_bits_and_inputs_of_pools_own_ranges(tmp_path):
    """quant_bits and tensor_quantize of the vendor's settings."""
    model = onnx.load(MODEL)
    pool = next(node for node in model.graph.node if "Pool" in node.op_type)
    settings = tmp_path / "quant.cfg"
    settings.write_text(f"""common_config : {{ arq_quantize : {{ quant_bits : 6 }} }}
tensor_quantize {{ layer_name: "{pool.name or pool.output[0]}" input_index: 0
                   ifmr_quantize : {{ search_range_start : 2 search_range_end : 2 }} }}""")
    common = ("calibration", "--model", MODEL, "--data", ROOT / "examples/digits/pictures")
    ranges = {}
    for name, options in (("plain", ()), ("six", ("--calibration_config", settings))):
        code, out, err = run(*common, "--save_path", tmp_path / name, *options)
        assert code == 0, out + err
        table = json.loads((tmp_path / f"{name}_quant.json").read_text())
        ranges[name] = next(t["scale"] for t in table["tensors"] if t["name"] == pool.input[0])
        graph = onnx.load(tmp_path / f"{name}_fake_quant_model.onnx").graph
        weights = {w.name: numpy_helper.to_array(w) for w in graph.initializer
                   if w.data_type == onnx.TensorProto.INT8 and len(w.dims) == 4}
        limit = 31 if name == "six" else 127
        assert weights and all(np.abs(w.astype(int)).max() == limit for w in weights.values())
    assert ranges["six"] > 1.5 * ranges["plain"]


def test_a_trained_model_is_converted(tmp_path):
    """The form that training with quantization exports becomes what calibration had written."""
    data = ROOT / "examples/digits/pictures"
    code, out, err = run("calibrate", "--model", MODEL, "--data", data, "--output", tmp_path / "a")
    assert code == 0, out + err
    code, out, err = run("convert", "--model", tmp_path / "a_fake_quant_model.onnx", "--save_path",
                         tmp_path / "new/b")
    assert code == 0 and "8 layers" in out, out + err
    first = scores(tmp_path / "a_fake_quant_model.onnx", tmp_path)
    assert np.array_equal(scores(tmp_path / "new/b_fake_quant_model.onnx", tmp_path), first)
    assert np.array_equal(scores(tmp_path / "new/b_deploy_model.onnx", tmp_path), first)
    amct.convert_qat_model(tmp_path / "a_fake_quant_model.onnx", tmp_path / "c/c",
                           record_file=tmp_path / "c.txt")
    assert (tmp_path / "c.txt").read_text() == (tmp_path / "new/b_record.txt").read_text()
    code, out, err = run("convert", "--model", MODEL, "--save_path", tmp_path / "d")
    assert code == 1 and "E10055" in err
