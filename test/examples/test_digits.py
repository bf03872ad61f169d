#===-- test_digits.py - the bundled digit network and its pictures -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the committed digit network, its pictures and the code that made them.

Nothing is trained to the end here. Needs numpy, pytest and onnx (Debian: python3-onnx).
"""

import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
sys.path.insert(0, str(DIGITS))
import draw_digits as drawing  # noqa: E402
import onnx_file  # noqa: E402
import strokes  # noqa: E402
import train_digits as training  # noqa: E402
from layers import BatchNorm  # noqa: E402

MODEL = DIGITS / "digits.onnx"


def read_json(name):
    return json.loads((DIGITS / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def held_out():
    with np.load(DIGITS / "heldout.npz") as arrays:
        return {name: arrays[name] for name in arrays.files}


@pytest.fixture(scope="module")
def held_out_scores(held_out):
    return onnx_file.run(MODEL, drawing.as_input(held_out["images"]))


def read_grey_png(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, header, packed = 8, None, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        checksum, = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height = header[:2]
    assert header[2:] == (8, 0, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def assert_same_pictures(one, other):
    # A vector unit's sine may round differently; that is one grey level in few pixels.
    difference = np.abs(one.astype(int) - other.astype(int))
    assert difference.max() <= 1
    assert (difference != 0).mean() < 1e-3


# Drawing


def test_drawing_is_deterministic():
    first, first_labels = drawing.draw_digits(100, 11)
    second, second_labels = drawing.draw_digits(100, 11)
    assert np.array_equal(first, second)
    assert np.array_equal(first_labels, second_labels)
    other, _ = drawing.draw_digits(100, 12)
    assert (first != other).any(axis=(1, 2)).all()


def test_drawing_gives_the_asked_digits():
    pictures, labels = drawing.draw_digits(100, 3)
    assert pictures.shape == (100, 28, 28) and pictures.dtype == np.uint8
    assert np.bincount(labels, minlength=10).tolist() == [10] * 10
    _, labels = drawing.draw_digits(4, 3, labels=[7, 7, 0, 1])
    assert labels.tolist() == [7, 7, 0, 1]


def test_every_picture_has_ink_inside_the_frame():
    pictures, _ = drawing.draw_digits(500, 4)
    assert (pictures.max(axis=(1, 2)) > 120).all()
    border = pictures[:, [0, -1], :].mean(), pictures[:, :, [0, -1]].mean()
    assert max(border) < 0.5 * pictures.mean()


@pytest.mark.parametrize("digit", range(10))
def test_styles_pass_through_their_first_and_last_keys(digit):
    for style in strokes.STYLES[digit]:
        keys, weights, drawn = strokes.compile_style(style)
        points = weights @ keys
        assert points.shape == (strokes.SEGMENTS + 1, 2) and drawn.shape == (strokes.SEGMENTS,)
        assert np.allclose(points[0], style[0][0][:2])
        assert np.allclose(points[-1], style[-1][-1][:2])
        assert (~drawn).sum() == len(style) - 1
        for stroke in style:
            for corner in (key[:2] for key in stroke if len(key) == 3):
                assert np.abs(points - corner).sum(axis=1).min() < 1e-6


# The committed files


def test_committed_pictures_are_what_the_script_draws(held_out):
    images, labels = drawing.draw_digits(drawing.HELD_OUT_COUNT, drawing.HELD_OUT_SEED)
    count = len(held_out["images"])
    assert_same_pictures(held_out["images"], images[:count])
    assert np.array_equal(held_out["labels"], labels[:count])


def test_picture_files_agree():
    seed = read_json("reference.json")["pictures_seed"]
    pictures, _ = drawing.draw_digits(10, seed, labels=np.arange(10))
    for digit in range(10):
        image = np.load(DIGITS / "pictures" / f"digit_{digit}.npy")
        assert image.shape == (1, 1, 28, 28) and image.dtype == np.float32
        grey = read_grey_png(DIGITS / "pictures" / f"digit_{digit}.png")
        assert np.array_equal(image, drawing.as_input(grey[None]))
        assert_same_pictures(grey, pictures[digit])


def test_network_file():
    assert MODEL.stat().st_size < 300_000
    assert (DIGITS / "heldout.npz").stat().st_size <= 400_000
    model = onnx.load(str(MODEL))
    onnx.checker.check_model(model, full_check=True)
    assert [opset.version for opset in model.opset_import] == [13]

    def described(value):
        kind = value.type.tensor_type
        return value.name, kind.elem_type, [d.dim_value for d in kind.shape.dim]

    assert [described(v) for v in model.graph.input] == [("image", 1, [1, 1, 28, 28])]
    assert [described(v) for v in model.graph.output] == [("scores", 1, [1, 10])]
    operators = [node.op_type for node in model.graph.node]
    assert operators.count("Conv") == operators.count("BatchNormalization") == 7
    assert {"Relu", "Clip", "MaxPool", "Add", "GlobalAveragePool", "Flatten",
            "Gemm"} <= set(operators)


def test_training_report_fits_the_network():
    report = read_json("train.json")
    assert report["file_bytes"] == MODEL.stat().st_size
    parameters = training.build_network().parameters
    assert report["parameters"] == sum(array.size for array in parameters.values())
    stored = {tensor.name for tensor in onnx.load(str(MODEL)).graph.initializer}
    assert set(parameters) <= stored


# What the network answers


def test_stated_accuracy_of_the_network(held_out, held_out_scores):
    report = read_json("reference.json")
    right = int((held_out_scores.argmax(axis=1) == held_out["labels"]).sum())
    assert len(held_out["labels"]) == report["heldout_pictures"]
    assert right == report["heldout_right"]
    assert right / len(held_out["labels"]) >= 0.98


def test_stated_accuracy_on_all_held_out_pictures():
    report = read_json("train.json")
    pictures, labels = drawing.draw_digits(drawing.HELD_OUT_COUNT, drawing.HELD_OUT_SEED)
    assert report["held_out_pictures"] == len(pictures)
    # One picture on the edge may fall to the other side with another numpy.
    measured = training.accuracy(MODEL, pictures, labels)
    assert measured == pytest.approx(report["held_out_accuracy"], abs=1.5 / len(pictures))


def test_scores_agree_with_onnx_runtime(held_out, held_out_scores):
    reference = held_out["scores"]
    assert np.abs(held_out_scores - reference).max() <= 1e-4 * np.ptp(reference)
    assert np.array_equal(held_out_scores.argmax(axis=1), reference.argmax(axis=1))

    reference = np.load(DIGITS / "reference_scores.npy")
    images = [np.load(DIGITS / "pictures" / f"digit_{digit}.npy") for digit in range(10)]
    scores = onnx_file.run(MODEL, np.concatenate(images))
    assert np.abs(scores - reference).max() <= 1e-4 * np.ptp(reference)
    assert scores.argmax(axis=1).tolist() == list(range(10))


# The training code


def small_problem(count):
    pictures, labels = drawing.draw_digits(count, 6)
    return drawing.as_input(pictures).transpose(0, 2, 3, 1), labels


def test_gradients_agree_with_differences():
    # In f64 and away from special values: a new batch norm's zero bias hides mistakes.
    network = training.build_network()
    rng = np.random.Generator(np.random.PCG64(7))
    network.update({name: array + (0.1 if array.ndim == 1 else 0) * rng.standard_normal(array.shape)
                    for name, array in network.parameters.items()})
    images, labels = small_problem(4)
    images = images.astype(np.float64)

    def loss():
        return training.softmax_loss(network.forward(images, {})[0], labels)[0]

    scores, caches = network.forward(images, {})
    _, gradients = network.backward(training.softmax_loss(scores, labels)[1], caches)
    assert set(gradients) == set(network.parameters)
    for name, array in network.parameters.items():
        at = tuple(rng.integers(0, extent) for extent in array.shape)
        start, losses = array[at], []
        for moved in (start + 1e-6, start - 1e-6):
            array[at] = moved
            losses.append(loss())
        array[at] = start
        difference = (losses[0] - losses[1]) / 2e-6
        assert gradients[name][at] == pytest.approx(difference, rel=1e-4, abs=1e-6), name


def test_exported_file_computes_what_the_layers_compute(tmp_path):
    network = training.build_network()
    rng = np.random.Generator(np.random.PCG64(8))
    for layer in network.flat():
        if isinstance(layer, BatchNorm):
            layer.mean = rng.standard_normal(layer.mean.shape).astype(np.float32)
            layer.variance = rng.uniform(0.5, 2, layer.variance.shape).astype(np.float32)
            layer.parameters = {name: rng.uniform(0.5, 1.5, array.shape).astype(np.float32)
                                for name, array in layer.parameters.items()}
    training.export(network, str(tmp_path / "model.onnx"))
    images, _ = small_problem(16)
    expected, _ = network.forward(images, None)
    scores = onnx_file.run(tmp_path / "model.onnx", images.transpose(0, 3, 1, 2))
    assert np.abs(scores - expected).max() <= 1e-4 * np.ptp(expected)
