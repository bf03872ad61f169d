#===-- test_tf_models.py - TensorFlow networks against TensorFlow's answers --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles frozen graphs and SavedModels, runs them and compares with stored answers of TensorFlow.

The models are looked for in a folder `shared` beside the checkout. TensorFlow itself is only
needed to make the answers: make_expected_tf.py.
"""

import functools
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
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


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A function from a name to the .om file of the network; the modules of its phases are beside it
    in `temps`."""
    @functools.cache
    def compile_tf(name):
        model, folder = recipes_tf.MODELS[name], tmp_path_factory.mktemp("tf")
        code, out, err = call(tool("atc"), f"--model={stored(MODELS / model.path)}", "--framework=3",
                              f"--output={folder / 'model'}", "--target=cpu",
                              f"--save_temps={folder / 'temps'}", *model.flags)
        assert code == 0, out + err
        return folder / "model.om"
    return compile_tf


@pytest.mark.parametrize("name", recipes_tf.MODELS)
def test_network(name, compiled, request):
    stored(PICTURES)
    value = recipes_tf.input_of(name, PICTURES)
    with np.load(recipes.EXPECTED / f"{name}.npz") as arrays:
        expected = dict(arrays)
    assert recipes.checksum([value]) == expected["inputs_crc"], "the recipe gives other inputs"
    session = Session(RUNTIME, compiled(name))
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


# A transpose of the picture itself stays where it has more channels than one; where
# the output has them, that of the output.
@pytest.mark.parametrize("name, left", [("tf-mobilenet-v1-025", 1), ("tf-meet-segm-full", 2),
                                        ("tf-espcn-x3", 0), ("tf-kws-dscnn-s", 0),
                                        ("sm-mlperf-kws", 0)])
def test_no_transpose_is_left_inside(name, left, compiled):
    text = (compiled(name).parent / "temps" / "2-graph.mlir").read_text()
    assert "graph.conv" in text
    assert text.count("graph.transpose") == left
