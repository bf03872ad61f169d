#===-- test_models.py - whole networks against ONNX Runtime's answers --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles whole networks, runs them and compares with the stored answers of ONNX Runtime.

Needs numpy and pytest, and for some tests the onnx package. Networks that are not part of
the checkout are looked for in a folder `shared` beside it.
"""

import json
import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import BUILD, ROOT, RUNTIME, SHARED, call, compile_model, tool  # noqa: E402

import recipes  # noqa: E402

MODELS, PICTURES = SHARED / "models", SHARED / "models" / "inputs"
GENERATOR = SHARED / "zoo" / "make_zoo.py"
TOLERANCE = 1e-4  # of the output's range


def stored(path):
    if not path.exists():
        pytest.skip(f"needs {path.relative_to(ROOT.parent)} beside the checkout")
    return path


def zoo_model(name):
    if not (BUILD / "zoo" / f"{name}.onnx").exists():
        pytest.importorskip("onnx", reason="making the network needs the onnx package")
        stored(GENERATOR)
    return recipes.zoo_model(name, GENERATOR, BUILD / "zoo")


def run(om, inputs, **options):
    """The outputs of an .om file, by name in the model's order."""
    session = Session(RUNTIME, om, **options)
    for (_, array), value in zip(session.inputs, inputs, strict=True):
        array[...] = value
    session.run()
    outputs = {name: array.copy() for name, array in session.outputs}
    session.close()
    return outputs


def assert_near(got, want, what):
    assert got.shape == want.shape, what
    error = np.abs(got - want).max() / np.ptp(want)
    assert error <= TOLERANCE, f"{what}: max error {error:.3g} of the range"


def report(request, **values):
    """For pytest -s, and for --junit-xml."""
    for key, value in values.items():
        request.node.user_properties.append((key, value))
    print(request.node.name, *(f"{key} {value:.3g}" for key, value in values.items()))


# Against answers that make_expected.py stored


def check_outputs(expected, outputs, request):
    assert len(outputs) == int(expected["outputs"])
    worst = 0.0
    for index, (name, value) in enumerate(outputs.items()):
        assert name == str(expected[f"name{index}"])
        assert list(value.shape) == expected[f"shape{index}"].tolist()
        flat, ranges = value.reshape(-1), expected[f"ranges{index}"]
        assert np.isfinite(flat).all(), name
        for at, want in ((recipes.samples(flat.size), expected[f"values{index}"]),
                         (expected[f"largest{index}"], expected[f"largest_values{index}"])):
            error = np.abs(flat[at].astype(np.float64) - want) / ranges[at % len(ranges)]
            worst = max(worst, float(error.max()))
            assert worst <= TOLERANCE, (
                f"{name}: max error {worst:.3g} of the range, at element {at[error.argmax()]}")
        if value.ndim == 2 and value.shape[0] == 1:
            assert flat.argmax() == expected[f"largest{index}"][0], f"{name}: another top 1"
    report(request, max_error=worst)


@pytest.mark.parametrize("name", [*recipes.ZOO, *recipes.REAL])
def test_network(name, tmp_path, request):
    if name in recipes.LARGE and os.environ.get("OPENATC_TEST_LARGE") != "1":
        pytest.skip("a large file: set OPENATC_TEST_LARGE=1")
    if name in recipes.ZOO:
        model = zoo_model(name)
    else:
        model = stored(MODELS / f"{name}.onnx")
        stored(PICTURES)
    with np.load(recipes.EXPECTED / f"{name}.npz") as arrays:
        expected = dict(arrays)
    inputs = recipes.inputs_of(name, PICTURES)
    assert recipes.checksum(inputs) == expected["inputs_crc"], "the recipe gives other inputs"
    assert zlib.crc32(model.read_bytes()) == expected["model_crc"], (
        f"{model} is not the file that the answers are of: remove it to make it again, or "
        "renew the answers with make_expected.py")
    check_outputs(expected, run(compile_model(model, tmp_path), inputs), request)


# Against answers that come with the models


def protobuf_tensor(path):
    why = "reading stored tensors needs the onnx package"
    onnx = pytest.importorskip("onnx", reason=why)
    helper = pytest.importorskip("onnx.numpy_helper", reason=why)
    return helper.to_array(onnx.load_tensor(str(path)))


@pytest.mark.parametrize("name, folder, flags", [
    *[("mnist-onnxmodels", f"mnist-onnxmodels/test_data_set_{i}", []) for i in range(3)],
    ("super-resolution", "super-resolution", ["--input_shape=input:1,1,224,224"])])
def test_stored_answers(name, folder, flags, tmp_path, request):
    model, folder = stored(MODELS / f"{name}.onnx"), stored(PICTURES / folder)
    want = protobuf_tensor(folder / "output_0.pb")
    outputs = run(compile_model(model, tmp_path, *flags), [protobuf_tensor(folder / "input_0.pb")])
    got, = outputs.values()
    assert_near(got, want, name)
    if want.ndim == 2:
        assert got.argmax() == want.argmax()
    report(request, max_error=float(np.abs(got - want).max() / np.ptp(want)))


# The bundled network


def test_digits_reach_their_accuracy(tmp_path, request):
    digits = ROOT / "examples" / "digits"
    session = Session(RUNTIME, compile_model(digits / "digits.onnx", tmp_path))
    with np.load(digits / "heldout.npz") as arrays:
        images, labels, reference = arrays["images"], arrays["labels"], arrays["scores"]
    scores = np.zeros_like(reference)
    for image, row in zip(images, scores):
        session.inputs[0][1][...] = image.astype(np.float32) / np.float32(255)
        session.run()
        row[...] = session.outputs[0][1][0]
    session.close()
    assert_near(scores, reference, "scores")
    assert np.array_equal(scores.argmax(axis=1), reference.argmax(axis=1))
    right = int((scores.argmax(axis=1) == labels).sum())
    assert right == json.loads((digits / "reference.json").read_text())["heldout_right"]
    report(request, right=right, of=len(labels))


# CPU levels and threads


@pytest.fixture(scope="module")
def three_levels(tmp_path_factory):
    """mobilenetv2 with code for three CPU levels, and an input for it."""
    model = zoo_model("mobilenetv2")
    om = compile_model(model, tmp_path_factory.mktemp("levels"),
                       "--target_cpu=x86-64-v2,x86-64-v3,x86-64-v4")
    return om, recipes.inputs_of("mobilenetv2", PICTURES)


def best_level():
    flags = next((line.split() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("flags")), [])
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(flags):
        return "x86-64-v4"
    return "x86-64-v3" if {"avx2", "fma", "bmi2", "f16c", "movbe"} <= set(flags) else "x86-64-v2"


def test_loader_picks_the_best_level(three_levels):
    om, _ = three_levels
    code, out, err = call(tool("om-run"), om, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["cpu_level"] == best_level()


def test_levels_give_the_same_answers(three_levels):
    om, inputs = three_levels
    order = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    usable = order[:order.index(best_level()) + 1]
    answers = {}
    for level in usable:
        code, out, err = call(tool("om-run"), om, "--json", "--cpu_level", level)
        assert code == 0 and json.loads(out)["cpu_level"] == level, err
        answers[level], = run(om, inputs, cpu_level=level).values()
    for level in usable[1:]:
        # Not to the bit: the lowest level has no fused multiply-add.
        assert_near(answers[level], answers["x86-64-v2"], level)
        assert answers[level].argmax() == answers["x86-64-v2"].argmax()
    for level in order[len(usable):]:
        code, out, err = call(tool("om-run"), om, "--cpu_level", level)
        assert code == 1 and level in err, err


def test_threads_give_the_same_bytes(three_levels):
    om, inputs = three_levels
    answers = [run(om, inputs, threads=threads)["output"].tobytes() for threads in (1, 2, 3)]
    assert answers[0] == answers[1] == answers[2]
