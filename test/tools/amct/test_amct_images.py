#===-- test_amct_images.py - folders of images as calibration data -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder of images gives the same scales as the arrays that they stand for."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import images  # noqa: E402
from openatc_tools import ROOT, call, tool  # noqa: E402

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


def make_model(folder, shape, channels_last=False, element=TensorProto.FLOAT):
    """A convolution whose weights differ from channel to channel."""
    generator = np.random.default_rng(1)
    channels = shape[-1] if channels_last else shape[1]
    weights = generator.standard_normal((4, channels, 3, 3)).astype("f4")
    nodes, name = [], "image"
    if element != TensorProto.FLOAT:
        nodes.append(helper.make_node("Cast", [name], ["floats"], to=TensorProto.FLOAT))
        name = "floats"
    if channels_last:
        nodes.append(helper.make_node("Transpose", [name], ["moved"], perm=[0, 3, 1, 2]))
        name = "moved"
    nodes.append(helper.make_node("Conv", [name, "w"], ["y"], name="conv"))
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("image", element, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w")])
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def run(folder, model, data, *flags):
    return call(tool("amct"), "calibrate", "--model", model, "--data", data, "--output",
                folder / "out", "--method", "minmax", *flags)


def table(folder, model, data, *flags):
    code, out, err = run(folder, model, data, *flags)
    assert code == 0, out + err
    return json.loads((folder / "out_quant.json").read_text())


def numbers(entry):
    if isinstance(entry, dict):
        return [number for value in entry.values() for number in numbers(value)]
    if isinstance(entry, list):
        return [number for value in entry for number in numbers(value)]
    return [entry] if isinstance(entry, (int, float)) else []


def check(folder, model, files, arrays, *flags, tolerance=0.0):
    """Images as files of the names' kinds give what the arrays give."""
    given, right = folder / "images", folder / "arrays"
    for each in (given, right):
        each.mkdir()
    for name, content in files.items():
        (given / name).write_bytes(content)
    for index, array in enumerate(arrays):
        np.save(right / f"{index}.npy", array)
    ours, theirs = table(folder, model, given, *flags), table(folder, model, right)
    assert [entry["name"] for entry in ours["tensors"]] == [entry["name"] for entry
                                                             in theirs["tensors"]]
    assert len(numbers(theirs)) >= 15
    np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=tolerance, atol=tolerance)


def random_pixels(*shape, seed=5):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("kind", ["bmp", "png", "pgm", "PNG", "jpg"])
def test_gray(kind, tmp_path):
    blocks = [random_pixels(4, 4, seed=seed) for seed in range(3)]
    pixels = [np.kron(each, np.ones((8, 8), np.uint8))[:28, :28] for each in blocks]
    if kind == "jpg":
        contents = [images.jpeg(each, 28, 28) for each in blocks]
    else:
        encode = {"bmp": images.bmp, "pgm": images.pnm}.get(kind, images.png)
        contents = [encode(each) for each in pixels]
    arrays = [(each[None, None] * (1 / 255)).astype("f4") for each in pixels]
    check(tmp_path, DIGITS, {f"{i}.{kind}": content for i, content in enumerate(contents)}, arrays,
          "--var_reci_chn", repr(1 / 255))


MEAN, STD = [123.5, 116.25, 103.75], [58.5, 57.0, 57.5]


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("order", ["RGB", "BGR"])
@pytest.mark.parametrize("how", ["flags", "settings", "aipp"])
def test_colors(channels_last, order, how, tmp_path):
    pixels = random_pixels(7, 9, 3)
    model = make_model(tmp_path, [1, 7, 9, 3] if channels_last else [1, 3, 7, 9], channels_last)
    array = pixels if order == "RGB" else pixels[..., ::-1]
    array = ((array - np.array(MEAN)) * (1 / np.array(STD))).astype("f4")
    array = array if channels_last else array.transpose(2, 0, 1)
    flags = []
    if how == "flags":
        flags = ["--image_format", order, "--mean_chn", ",".join(map(str, MEAN)), "--std_chn",
                 ",".join(map(str, STD))]
    else:
        config = tmp_path / "settings.json"
        settings = {"image_format": order, "mean_chn": MEAN, "std_chn": STD,
                    "input_format": "NHWC" if channels_last else "NCHW"}
        if how == "aipp":
            settings = {"image_format": order.lower()}
            for i in range(3):
                settings |= {f"mean_chn_{i}": 100, f"min_chn_{i}": MEAN[i] - 100,
                             f"var_reci_chn_{i}": 1 / STD[i]}
        config.write_text(json.dumps(settings))
        flags = ["--config", config]
    check(tmp_path, model, {"a.png": images.png(pixels)}, [array[None]], *flags, tolerance=1e-6)


def test_a_gray_file_for_colors_and_a_colored_one_for_gray(tmp_path):
    gray = random_pixels(6, 6)
    check(tmp_path, make_model(tmp_path, [1, 3, 6, 6]), {"a.pgm": images.pnm(gray)},
          [np.stack([gray] * 3)[None].astype("f4")])
    colors = random_pixels(28, 28, 3)
    luma = np.rint(colors @ np.array([0.299, 0.587, 0.114]))
    folder = tmp_path / "gray"
    folder.mkdir()
    check(folder, DIGITS, {"a.ppm": images.pnm(colors)}, [luma[None, None].astype("f4")],
          tolerance=0.02)


def test_uint8_and_float16_inputs(tmp_path):
    pixels = random_pixels(6, 6, 3)
    for element, dtype in ((TensorProto.UINT8, "u1"), (TensorProto.FLOAT16, "f2")):
        folder = tmp_path / dtype
        folder.mkdir()
        array = (pixels.transpose(2, 0, 1)[None] * 0.5).astype("f4")
        array = np.rint(array).astype(dtype) if dtype == "u1" else array.astype(dtype)
        check(folder, make_model(folder, [1, 3, 6, 6], element=element),
              {"a.bmp": images.bmp(pixels)}, [array], "--var_reci_chn", 0.5, tolerance=1e-6)


def matrix(size, wanted):
    """Bilinear, pixels having their values in the middle; what shrinks is averaged over."""
    scale = wanted / size
    reach = max(1.0, 1 / scale)
    middle = (np.arange(wanted)[:, None] + 0.5) / scale - 0.5
    weights = np.maximum(0, 1 - np.abs(np.arange(size)[None] - middle) / reach)
    return weights / weights.sum(1, keepdims=True)


@pytest.mark.parametrize("height, width", [(14, 10), (3, 4), (21, 5)])
def test_resizing(height, width, tmp_path):
    pixels = random_pixels(height, width, 3)
    array = np.einsum("yh,xw,hwc->cyx", matrix(height, 7), matrix(width, 9), pixels.astype("f8"))
    check(tmp_path, make_model(tmp_path, [1, 3, 7, 9]), {"a.png": images.png(pixels)},
          [array[None].astype("f4")], tolerance=1e-4)


def test_several_images_make_a_sample(tmp_path):
    pixels = [random_pixels(6, 6, 3, seed=seed) for seed in range(5)]
    model = make_model(tmp_path, [2, 3, 6, 6])
    arrays = [np.stack([each.transpose(2, 0, 1) for each in pixels[i:i + 2]]).astype("f4")
              for i in (0, 2)]
    check(tmp_path, model, {f"{i}.png": images.png(each) for i, each in enumerate(pixels)}, arrays)
    code, out, err = run(tmp_path, model, tmp_path / "images")
    assert code == 0 and "W10014" in err and "(2 samples)" in out


def test_an_open_batch_is_one_image(tmp_path):
    model = make_model(tmp_path, ["batch", 3, 6, 6])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").write_bytes(images.png(random_pixels(6, 6, 3)))
    code, out, err = run(tmp_path, model, tmp_path / "data")
    assert code == 0 and "(1 samples)" in out, out + err


def fails(tmp_path, model, codes, *flags, data=None):
    data = data or tmp_path / "data"
    code, out, err = run(tmp_path, model, data, *flags)
    assert code == 1 and out == ""
    assert [line[:6] for line in err.splitlines()] == codes, err
    assert not list(tmp_path.glob("out*"))
    return err


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").write_bytes(images.png(random_pixels(6, 6, 3)))
    return tmp_path / "data"


def test_all_bad_images_are_named(tmp_path, data):
    good = images.png(random_pixels(6, 6, 3))
    progressive = images.jpeg(random_pixels(1, 1), 8, 8).replace(b"\xff\xc0", b"\xff\xc2")
    huge = images.jpeg(random_pixels(1, 1), 65500, 65500)
    wide = good[:16] + b"\0\0\xff\xff\0\0\xff\xff" + good[24:]
    bad = {"b.png": good[:40], "c.jpg": progressive, "d.bmp": b"BM", "e.ppm": b"P6 9 9 255 123",
           "f.jpeg": b"", "g.png": b"text", "h.jpg": huge, "i.png": wide}
    for name, content in bad.items():
        (data / name).write_bytes(content)
    err = fails(tmp_path, make_model(tmp_path, [1, 3, 6, 6]), ["E10014"] * len(bad))
    assert all(name in err for name in bad) and "a.png" not in err


@pytest.mark.parametrize("shape, flags, word", [
    ([1, 4, 6, 6], [], "4"), ([1, 2, 6, 6], ["--input_format", "NHWC"], "6"),
    ([1, 3, 6, 6], ["--image_format", "GRAY"], "GRAY"),
    ([1, 1, 6, 6], ["--image_format", "BGR"], "BGR"),
    ([1, 1, 6, 6], ["--mean_chn", "1,2,3"], "mean_chn"),
    ([1, 1, 6, 6], ["--std_chn", "1,2,3"], "std_chn")])
def test_inputs_that_take_no_such_images(shape, flags, word, tmp_path, data):
    assert word in fails(tmp_path, make_model(tmp_path, shape), ["E10014"], *flags)


def test_folders_without_images(tmp_path):
    model = make_model(tmp_path, [1, 3, 6, 6])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "readme.txt").write_text("no image")
    assert "image" in fails(tmp_path, model, ["E10014"])
    (tmp_path / "data" / "a.png").write_bytes(images.png(random_pixels(6, 6, 3)))
    folder = tmp_path / "batch"
    folder.mkdir()
    err = fails(folder, make_model(folder, [2, 3, 6, 6]), ["E10014"], data=tmp_path / "data")
    assert "1 images" in err


def test_options_that_are_wrong_are_all_told(tmp_path, data):
    model = make_model(tmp_path, [1, 3, 6, 6])
    err = fails(tmp_path, model, ["E10001"] * 5, "--image_format", "YUV", "--input_format", "ND",
                "--mean_chn", "1,2", "--std_chn", "0", "--var_reci_chn", "1")
    for word in ("image_format", "input_format", "mean_chn", "std_chn", "var_reci_chn"):
        assert word in err
    config = tmp_path / "c.json"
    for settings, count in (({"mean_chn": "x", "image_format": 3}, 2), ({"std_chn": [1, -1, 1]}, 1),
                            ({"mean_chn_3": 1}, 1), ({"std_chn_0": 1}, 1)):
        config.write_text(json.dumps(settings))
        fails(tmp_path, model, ["E10001"] * count, "--config", config)


def test_atc_takes_images(tmp_path, data):
    model = make_model(tmp_path, [1, 3, 6, 6])
    conf = tmp_path / "compress.cfg"
    start = f'calibration: {{\n  input_data_dir: "{data}"\n'
    conf.write_text(start + '  image_format: "BGR"\n  mean_chn: 123.7 mean_chn: 116.3\n'
                            '  mean_chn: 103.5\n  var_reci_chn: 0.017\n}\n')
    command = [tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
               f"--output={tmp_path / 'x'}", f"--compression_optimize_conf={conf}"]
    code, out, err = call(*command)
    assert code == 0, out + err
    code, out, _ = call(tool("om-dump"), tmp_path / "x.om")
    assert code == 0 and "integer_conv2d" in out
    conf.write_text(start + '  image_format: "GRAY"\n}\n')
    code, out, err = call(*command)
    assert code == 1 and "E10014" in out + err


def test_pictures_of_the_world(tmp_path):
    shared = ROOT.parent / "shared" / "models" / "inputs"
    if not shared.is_dir():
        pytest.skip(f"needs the pictures in {shared}")
    code, out, err = run(tmp_path, make_model(tmp_path, [1, 3, 64, 64]), shared, "--mean_chn",
                         "124", "--var_reci_chn", "0.017")
    assert code == 0, out + err
    count = len([path for path in shared.iterdir() if path.suffix in (".bmp", ".png")])
    assert count > 2 and f"({count} samples)" in out
