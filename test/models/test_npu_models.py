#===-- test_npu_models.py - whole networks on the simulated NPU --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles whole networks for two NPUs and compares their answers with those in f32: of ONNX
Runtime or TensorFlow where they are stored, else of the CPU. No access may race with another.

Needs numpy and pytest. Networks that are not part of the checkout are looked for in a folder
`shared` beside it.
"""

import functools
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_tools import ROOT, SHARED  # noqa: E402

import recipes  # noqa: E402
import recipes_tf  # noqa: E402
import test_models  # noqa: E402

MODELS, PICTURES = SHARED / "models", SHARED / "models" / "inputs"
# Parts of the range that f16 may be off by, where it is more than 1 %: scores that add up to 1,
# boxes whose exponents are computed.
ERRORS = {"tf-mobilenet-v1-025": 2e-2, "yolox-nano": 6e-2}


def noise(*shape, dtype=np.float32):
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


def stored_pb(folder):
    return test_models.protobuf_tensor(test_models.stored(PICTURES / folder / "input_0.pb"))


# name: inputs and flags of models that recipes.py does not have.
OTHERS = {
    "mnist-onnxmodels": (lambda: [stored_pb("mnist-onnxmodels/test_data_set_0")], []),
    "super-resolution": (lambda: [stored_pb("super-resolution").reshape(1, 1, 224, 224)],
                         ["--input_shape=input:1,1,224,224"]),
    "vittrack": (lambda: [noise(1, 3, 128, 128), noise(1, 3, 256, 256)], []),
}
NAMES = [*recipes.REAL, *recipes_tf.MODELS, *OTHERS]


def case(name):
    """The model's path, atc's flags, the framework and the inputs."""
    if name in recipes_tf.MODELS:
        model = recipes_tf.MODELS[name]
        path = test_models.stored(MODELS / model.path)
        return path, list(model.flags), 3, [recipes_tf.input_of(name, PICTURES)]
    path = test_models.stored(MODELS / f"{name}.onnx")
    if name in recipes.REAL:
        return path, [], 5, recipes.inputs_of(name, PICTURES)
    inputs, flags = OTHERS[name]
    return path, flags, 5, inputs()


def check_stored(name, outputs, allowed):
    """Against the samples of other frameworks' answers."""
    with np.load(recipes.EXPECTED / f"{name}.npz") as arrays:
        expected = dict(arrays)
    if name in recipes_tf.MODELS:
        (value,) = outputs.values()
        flat = value.reshape(-1)
        error = np.abs(flat[recipes.samples(flat.size)] - expected["values"]) / expected["range"]
        assert error.max() <= allowed, name
        assert flat.size > 1001 or flat.argmax() == expected["top"], "another top 1"
        return
    for index, value in enumerate(outputs.values()):
        flat, span = value.reshape(-1), expected[f"ranges{index}"].max()
        wanted = expected[f"values{index}"]
        error = np.abs(flat[recipes.samples(flat.size)] - wanted) / span
        assert error.max() <= allowed, name


@pytest.fixture(scope="module")
def answers_of_the_cpu(tmp_path_factory):
    """A function from a name to what the CPU computes: once, for all SoCs."""
    @functools.cache
    def answers(name):
        path, flags, framework, inputs = case(name)
        om = npu.build(path, tmp_path_factory.mktemp("cpu"), None, flags, framework)
        return npu.run(om, inputs)[0]
    return answers


@pytest.mark.parametrize("name, soc", [(name, soc) for name in NAMES for soc in npu.SOCS])
def test_network(name, soc, answers_of_the_cpu, tmp_path, request):
    path, flags, framework, inputs = case(name)
    allowed = ERRORS.get(name, 1e-2)
    got, report = npu.run_npu(npu.build(path, tmp_path, soc, flags, framework), inputs)
    want = answers_of_the_cpu(name)
    error, cosine = npu.assert_near(got, want, f"{name} on {soc}", allowed)
    if (recipes.EXPECTED / f"{name}.npz").exists():
        check_stored(name, got, allowed)
    for output, value in want.items():
        if value.ndim == 2 and value.shape[0] == 1:
            assert got[output].argmax() == value.argmax(), "another top 1"
    assert report["macs_share"] > 0.95, "contractions stay on the CPU"
    print(f"{request.node.name}: error {error:.3g}, cosine {cosine:.6f}, "
          f"MACs {report['macs_share']:.3f}, {report['ms']:.4f} ms")


@pytest.mark.parametrize("soc", npu.SOCS)
def test_quantized_network(soc, tmp_path):
    """Sums in f16 in front of a rounding to 8 bits may come out as the next number: such a
    network is as near to the CPU's answer as 8 bits allow, and names the same class."""
    path = test_models.stored(MODELS / "mobilenetv2-int8-maui.onnx")
    image = stored_pb("mobilenetv2-int8-maui/test_data_set_0")
    flags = [f"--input_shape=image:{','.join(map(str, image.shape))}"]
    want, _ = npu.run(npu.build(path, tmp_path, None, flags), [image])
    got, _ = npu.run_npu(npu.build(path, tmp_path, soc, flags), [image])
    npu.assert_near(got, want, soc, error=8e-2, cosine=0.995)
    assert got["scores"].argmax() == want["scores"].argmax()


@pytest.mark.parametrize("soc", npu.SOCS)
def test_digits_in_batches(soc, tmp_path):
    """A batch that layer groups pass through in parts, against whole layers and single images."""
    folder, size = ROOT / "examples" / "digits", 24
    with np.load(folder / "heldout.npz") as arrays:
        images = arrays["images"][:size, None].astype(np.float32) / np.float32(255)
        want = arrays["scores"][:size]

    def scores(inputs, *flags):
        om = npu.build(folder / "digits.onnx", tmp_path, soc,
                       [f"--input_shape=image:{len(inputs)},1,28,28", *flags])
        outputs, report = npu.run_npu(om, [inputs])
        assert report["macs_share"] == 1
        return outputs["scores"], report["launches"]

    got, launches = scores(images)
    whole, fewer = scores(images, "--disable_passes=npu-split-batch")
    assert launches >= fewer
    assert np.array_equal(got, whole), "the split changes answers"
    assert np.abs(got - want).max() <= 5e-3 * np.ptp(want)
    assert np.array_equal(got.argmax(axis=1), want.argmax(axis=1))
    for image, row in zip(images[:4], got):
        alone, _ = scores(image[None])
        assert np.array_equal(alone[0], row), "a batch changes answers"


@pytest.mark.parametrize("soc", npu.SOCS)
def test_split_batch(soc, tmp_path):
    """Feature maps that do not fit into L2 at once: npu-split-batch is at work. The L2 of the
    Ascend910B1 holds them: what is then to be seen takes half a minute, with OPENATC_NIGHTLY."""
    if soc != "Ascend310P3" and not os.environ.get("OPENATC_NIGHTLY"):
        pytest.skip("runs with OPENATC_NIGHTLY=1")
    model = test_models.zoo_model("squeezenet11")
    images = noise(8, 3, 224, 224)

    def answers(inputs, *flags):
        om = npu.build(model, tmp_path, soc,
                       [f"--input_shape=input:{len(inputs)},3,224,224", *flags])
        outputs, report = npu.run_npu(om, [inputs])
        (value,) = outputs.values()
        return value.reshape(len(inputs), -1), len(report["per_launch"])

    got, launches = answers(images)
    whole, fewer = answers(images, "--disable_passes=npu-split-batch")
    print(f"{soc}: {launches} kernels, {fewer} without the split")
    if soc == "Ascend310P3":
        assert launches > fewer, "nothing was split"
    for image, row, other in zip(images[:2], got, whole):
        alone, _ = answers(image[None])
        error, cosine = npu.distances(row, alone[0])
        assert error < 2e-3 and cosine > 0.99999
        error, cosine = npu.distances(other, alone[0])
        assert error < 2e-3 and cosine > 0.99999
