#===-- test_calibrated.py - networks as int8 beside what they are in float ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantizes networks with one set of pictures and compares int8 with float on others.

Needs numpy and pytest. Networks that are not part of the checkout are looked for in a
folder `shared` beside it.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "digits"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import ROOT, RUNTIME, SHARED, call, compile_model, tool  # noqa: E402

import draw_digits  # noqa: E402
import recipes  # noqa: E402
from test_models import report, run, stored  # noqa: E402

MODELS, PICTURES = SHARED / "models", SHARED / "models" / "inputs"
DIGITS = ROOT / "examples" / "digits"

# How each network wants its picture; super-resolution sees its brightness alone.
NETWORKS = {name: inputs[0] for name, inputs in recipes.REAL.items()}
NETWORKS["super-resolution"] = ((1, 1, 224, 224),
                                {"mean": 0, "scale": 1 / 255, "order": "grey"})


def save_samples(folder, samples):
    folder.mkdir()
    for index, sample in enumerate(samples):
        np.save(folder / f"{index:03}.npy", sample)
    return folder


def calibrate(model, data, folder, *flags):
    """Runs amct; returns the path of the quantized ONNX file."""
    folder.mkdir(exist_ok=True)
    prefix = folder / model.stem
    code, out, err = call(tool("amct"), "calibrate", "--model", model, "--data",
                          save_samples(folder / "data", data), "--output", prefix, *flags)
    assert code == 0, out + err
    return Path(f"{prefix}_fake_quant_model.onnx")


def prepare(picture, shape, how):
    """A picture as a network's input: nearest pixels, then the numbers that it wants."""
    rows = np.arange(shape[2]) * picture.shape[0] // shape[2]
    columns = np.arange(shape[3]) * picture.shape[1] // shape[3]
    values = picture[rows][:, columns].astype(np.float32)
    if how["order"] == "grey":
        values = values @ np.float32([[0.114], [0.587], [0.299]])
    elif how["order"] == "rgb":
        values = values[:, :, ::-1]
    values = (values - np.float32(how["mean"])) * np.float32(how["scale"])
    return np.ascontiguousarray(values.transpose(2, 0, 1)[None])


def variations(picture, count, seed):
    """Crops of a picture, mirrored, lighter and darker."""
    generator = np.random.default_rng(seed)
    yield picture
    for _ in range(count - 1):
        height, width = (int(side * generator.uniform(0.4, 1)) for side in picture.shape[:2])
        top = generator.integers(picture.shape[0] - height + 1)
        left = generator.integers(picture.shape[1] - width + 1)
        crop = picture[top:top + height, left:left + width]
        if generator.random() < 0.5:
            crop = crop[:, ::-1]
        light = crop * generator.uniform(0.5, 1.3) + generator.uniform(-20, 20)
        yield np.clip(light, 0, 255).astype(np.uint8)


def cosine(left, right):
    left, right = (value.astype(np.float64).reshape(-1) for value in (left, right))
    return left @ right / (np.linalg.norm(left) * np.linalg.norm(right))


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_int8_is_near_float(name, tmp_path, request):
    if name != "super-resolution" and not os.environ.get("OPENATC_NIGHTLY"):
        pytest.skip("takes half a minute: scripts/test.sh --nightly")
    shape, how = NETWORKS[name]
    model = stored(MODELS / f"{name}.onnx")
    seen = recipes.read_bmp(stored(PICTURES / "cat.bmp"))
    unseen = recipes.read_bmp(stored(PICTURES / "grace_hopper.bmp"))
    data = [prepare(picture, shape, how) for picture in variations(seen, 12, seed=1)]
    quantized = calibrate(model, data, tmp_path / "amct")
    flags = ["--input_shape=input:1,1,224,224"] if name == "super-resolution" else []
    float_om = compile_model(model, tmp_path, *flags)
    int8_om = compile_model(quantized, tmp_path, *flags)
    worst = 1.0
    for picture in variations(unseen, 3, seed=2):
        sample = prepare(picture, shape, how)
        right, ours = run(float_om, [sample]), run(int8_om, [sample])
        assert list(right) == list(ours)
        worst = min([worst] + [cosine(right[output], ours[output]) for output in right])
    report(request, cosine=worst)
    assert worst >= 0.99


def digits_accuracy(om):
    """In percent, on the held-out pictures."""
    held_out = np.load(DIGITS / "heldout.npz")
    inputs = draw_digits.as_input(held_out["images"])
    session = Session(RUNTIME, om)
    (_, image), = session.inputs
    (_, scores), = session.outputs
    count = 0
    for picture, label in zip(inputs, held_out["labels"], strict=True):
        image[...] = picture
        session.run()
        count += scores.argmax() == label
    session.close()
    return 100 * count / len(inputs)


@pytest.mark.parametrize("method", ["minmax", "percentile", "kl", "mse"])
def test_digits_keep_their_accuracy(method, tmp_path, request):
    """Calibrated on drawn digits that are not among the held-out ones."""
    pictures, _ = draw_digits.draw_digits(64, seed=77)
    data = draw_digits.as_input(pictures)
    model = DIGITS / "digits.onnx"
    quantized = calibrate(model, [data[i:i + 1] for i in range(len(data))], tmp_path / "amct",
                          "--method", method)
    right = {kind: digits_accuracy(compile_model(path, tmp_path))
             for kind, path in (("float", model), ("int8", quantized))}
    report(request, **right)
    assert abs(right["float"] - right["int8"]) <= 0.5


def test_a_tensorflow_model_is_quantized_while_it_is_compiled(tmp_path, request):
    model = stored(MODELS / "tf-mobilenet-v1-025.pb")
    seen = recipes.read_bmp(stored(PICTURES / "grace_hopper.bmp"))
    unseen = recipes.read_bmp(stored(PICTURES / "cat.bmp"))
    how = {"mean": 127.5, "scale": 1 / 127.5, "order": "rgb"}

    def sample(picture):
        return np.ascontiguousarray(prepare(picture, (1, 3, 128, 128), how).transpose(0, 2, 3, 1))

    data = save_samples(tmp_path / "data", map(sample, variations(seen, 12, seed=1)))
    (tmp_path / "compress.cfg").write_text(f'calibration: {{ input_data_dir: "{data}" }}\n')
    outputs = []
    for name, flags in (("float", []),
                        ("int8", [f"--compression_optimize_conf={tmp_path / 'compress.cfg'}"])):
        code, out, err = call(tool("atc"), f"--model={model}", "--framework=3", "--target=cpu",
                              "--input_shape=input:1,128,128,3", f"--output={tmp_path / name}",
                              *flags)
        assert code == 0, out + err
        outputs.append(run(tmp_path / f"{name}.om", [sample(unseen)]))
    worst = min(cosine(outputs[0][name], outputs[1][name]) for name in outputs[0])
    report(request, cosine=worst)
    assert worst >= 0.97
    size = [(tmp_path / f"{name}.om").stat().st_size for name in ("float", "int8")]
    assert size[1] < 0.6 * size[0]
