#===-- test_tf_models.py - TensorFlow networks against TensorFlow's answers --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles frozen graphs and SavedModels, runs them and compares with stored answers of TensorFlow.

The models are looked for in a folder `shared` beside the checkout. TensorFlow itself is only
needed to make the answers: make_expected_tf.py.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import ROOT, RUNTIME, SHARED, call, tool  # noqa: E402

import recipes  # noqa: E402
import recipes_tf  # noqa: E402

MODELS, PICTURES = SHARED / "models", SHARED / "models" / "inputs"
TOLERANCE = 1e-4  # of the output's range


def stored(path):
    if not path.exists():
        pytest.skip(f"needs {path.relative_to(ROOT.parent)} beside the checkout")
    return path


def compile_tf(name, folder, *flags):
    model = recipes_tf.MODELS[name]
    om = folder / name
    code, out, err = call(tool("atc"), f"--model={stored(MODELS / model.path)}", "--framework=3",
                          f"--output={om}", "--target=cpu", *model.flags, *flags)
    assert code == 0, out + err
    return Path(f"{om}.om")


@pytest.mark.parametrize("name", recipes_tf.MODELS)
def test_network(name, tmp_path, request):
    stored(PICTURES)
    value = recipes_tf.input_of(name, PICTURES)
    with np.load(recipes.EXPECTED / f"{name}.npz") as arrays:
        expected = dict(arrays)
    assert recipes.checksum([value]) == expected["inputs_crc"], "the recipe gives other inputs"
    session = Session(RUNTIME, compile_tf(name, tmp_path))
    ((_, source),) = session.inputs
    ((_, target),) = session.outputs
    source[...] = value
    session.run()
    output = target.copy()
    session.close()
    assert list(output.shape) == expected["shape"].tolist()
    flat = output.reshape(-1)
    error = np.abs(flat[recipes.samples(flat.size)] - expected["values"]).max() / expected["range"]
    assert error <= TOLERANCE, f"max error {error:.3g} of the range"
    if flat.size <= 1001:
        assert flat.argmax() == expected["top"], "another top 1"
    if name == "tf-mobilenet-v1-025":
        labels = stored(PICTURES / "imagenet_labels.txt").read_text().splitlines()
        # The network has a class more, in front: "background".
        label = labels[int(flat.argmax()) - (1 if len(labels) == 1000 else 0)]
        assert "Egyptian cat" in label or "tabby" in label, label
    request.node.user_properties.append(("max_error", float(error)))
    print(f"max error {error:.3g}")


@pytest.mark.parametrize("soc", openatc_npu.SOCS)
@pytest.mark.parametrize("name", recipes_tf.MODELS)
def test_network_on_the_npu(name, soc, tmp_path):
    model = recipes_tf.MODELS[name]
    value = recipes_tf.input_of(name, stored(PICTURES))
    with np.load(recipes.EXPECTED / f"{name}.npz") as arrays:
        expected = dict(arrays)
    om = openatc_npu.build(stored(MODELS / model.path), tmp_path, soc, model.flags, framework=3)
    outputs, npu = openatc_npu.run_npu(om, [value])
    ((_, output),) = outputs.items()
    flat = output.reshape(-1)
    got = flat[recipes.samples(flat.size)]
    error = np.abs(got - expected["values"]).max() / expected["range"]
    assert error <= 2e-2, f"max error {error:.3g} of the range"
    assert openatc_npu.distances(got, expected["values"])[1] >= 0.999
    if flat.size <= 1001:
        assert flat.argmax() == expected["top"], "another top 1"
    assert npu["macs_share"] >= 0.95


# A transpose of the picture itself stays where it has more channels than one; where
# the output has them, that of the output.
@pytest.mark.parametrize("name, left", [("tf-mobilenet-v1-025", 1), ("tf-meet-segm-full", 2),
                                        ("tf-espcn-x3", 0), ("tf-kws-dscnn-s", 0),
                                        ("sm-mlperf-kws", 0)])
def test_no_transpose_is_left_inside(name, left, tmp_path):
    compile_tf(name, tmp_path, f"--save_temps={tmp_path / 'temps'}")
    text = (tmp_path / "temps" / "2-graph.mlir").read_text()
    assert "graph.conv" in text
    assert text.count("graph.transpose") == left
