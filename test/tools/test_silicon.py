"""Simulated times against published ones: a few points of test/backends/npu/silicon, which has all."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import sys

import pytest

pytest.importorskip("onnx")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "backends" / "npu" / "silicon"))
import validate  # noqa: E402


@pytest.fixture(scope="module")
def validation(tmp_path_factory):
    return validate.Validation(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build"), tmp_path_factory.mktemp("silicon"))


def points(network, soc):
    text = (validate.HERE / "networks.json").read_text()
    return [p for p in json.loads(text) if (p["network"], p["soc"]) == (network, soc)]


@pytest.mark.parametrize("network, batch", [("resnet18", 1), ("resnet18", 8), ("mobilenetv1", 4)])
def test_network(validation, network, batch):
    rows = validation.measure([p for p in points(network, "Ascend310P3") if p["batch"] == batch])
    assert len(rows) == 1
    assert 0.7 < rows[0]["ratio"] < 1.3


def test_constants_change_times(validation):
    point = points("resnet18", "Ascend310P3")[0]
    plain = validation.milliseconds(point)
    slower = validation.milliseconds(point, changes={"runCycles": 2 * validate.UNSOURCED["runCycles"]})
    assert slower == pytest.approx(plain + 0.1, abs=0.001)


def test_unsourced_constants_are_those_of_the_table():
    table = dict(line.split("#")[0].split(" = ") for line in
                 (ROOT / "npu/soc/tables/Ascend310P3.soc").read_text().splitlines() if " = " in line)
    assert {key: float(table[key]) for key in validate.UNSOURCED} == validate.UNSOURCED


def test_summary():
    rows = [{"ratio": r, "soc": "A", "half": "unseen", "network": "vgg16"} for r in (0.5, 1, 1.2, 2)]
    expected = {"points": 4, "geometric_mean": pytest.approx(1.2 ** 0.25), "within_15": 1, "within_25": 2}
    assert validate.summary(rows) == expected
    assert validate.groups(rows) == {"A": expected, "A, unseen": expected}
    # Transformers do not count for the means of the others.
    other = {"ratio": 0.5, "soc": "A", "half": "unseen", "network": "bert_base_512"}
    assert validate.groups([*rows, other]) == {"A": expected, "A, unseen": expected,
                                               "A, transformers": validate.summary([other])}


def test_transformers_take_other_batches(tmp_path, monkeypatch):
    import networks
    import onnx
    monkeypatch.setattr(networks.Transformer, "WIDTH", 48)
    path = tmp_path / "vit.onnx"
    networks.build("vit_base_patch32_384", path)
    model = onnx.load(str(path), load_external_data=False)
    onnx.checker.check_model(model)
    assert networks.inputs("vit_base_patch32_384", 8) == "input:8,3,384,384"
    assert networks.inputs("bert_base_512", 4) == "input:4,512;segments:4,512;mask:4,512"
    # Nothing but the inputs fixes the batch: reshapes take it from their operand.
    shapes = {w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer if w.data_type == 7}
    reshapes = [shapes[n.input[1]] for n in model.graph.node if n.op_type == "Reshape"]
    assert reshapes and all(shape[0] == 0 for shape in reshapes)


def test_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("head\n<!-- validate.py begin -->\nold\n<!-- validate.py end -->\ntail\n")
    validate.write(page, ["new"])
    assert page.read_text() == "head\n<!-- validate.py begin -->\nnew<!-- validate.py end -->\ntail\n"
    # A table of sensitivities stays until it is measured again.
    page.write_text("<!-- validate.py begin -->\nold\n### Sensitivity\n\n| a |\n<!-- validate.py end -->\n")
    validate.write(page, ["new", ""])
    assert page.read_text() == "<!-- validate.py begin -->\nnew\n\n### Sensitivity\n\n| a |\n<!-- validate.py end -->\n"
    validate.write(page, ["newer", "### Sensitivity", "", "| b |", ""])
    assert "| a |" not in page.read_text() and "| b |" in page.read_text()
