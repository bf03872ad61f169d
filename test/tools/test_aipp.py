#===-- test_aipp.py - images in front of a model (--insert_op_conf) --------------------------===//
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What AIPP files make of images equals a plain reference, bit by bit, on CPU and NPU."""

import struct
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_npu import SOCS, build, run  # noqa: E402
from openatc_tools import call, tool  # noqa: E402

FORMATS = {"RGB888_U8": 3, "XRGB8888_U8": 4, "YUV420SP_U8": 3, "YUV400_U8": 1}
MATRIX = [f"matrix_r{r}c{c}" for r in range(3) for c in range(3)]
BT601 = dict(zip(MATRIX, [256, 0, 359, 256, -88, -183, 256, 454, 0], strict=True),
             input_bias_0=0, input_bias_1=128, input_bias_2=128)
TO_YUV = dict(zip(MATRIX, [66, 129, 25, -38, -74, 112, 112, -94, -18], strict=True),
              output_bias_0=16, output_bias_1=128, output_bias_2=128)
# Sums beyond 2^24, which float32 does not hold.
LARGE = dict(zip(MATRIX, [32767, -32768, 129, -32768, 32767, 301, 32767, 32767, -32768],
                 strict=True),
             input_bias_0=3, input_bias_1=5, input_bias_2=250, output_bias_1=77)


#===--- The reference --------------------------------------------------------------------------===#


def pixels_of(image, config, h, w):
    """int64 [n, channels, h, w] of the raw bytes, with the channels swapped."""
    name = config["input_format"]
    if name == "YUV420SP_U8":
        flat = image.reshape(len(image), h * 3 // 2, w)
        pairs = flat[:, h:].reshape(-1, h // 2, w // 2, 2)
        if config.get("rbuv_swap_switch"):
            pairs = pairs[..., ::-1]
        chroma = pairs.repeat(2, axis=1).repeat(2, axis=2)
        planes = np.concatenate([flat[:, :h, :, None], chroma], axis=3)
    else:
        planes = image.reshape(len(image), h, w, -1)
        if config.get("ax_swap_switch"):
            planes = planes[..., [1, 2, 3, 0]]
        if config.get("rbuv_swap_switch"):
            order = list(range(planes.shape[3]))
            order[0], order[2] = 2, 0
            planes = planes[..., order]
    return planes.transpose(0, 3, 1, 2).astype("i8")


def convert_colour(pixels, config):
    matrix = np.array([[config.get(f"matrix_r{r}c{c}") for c in range(3)] for r in range(3)])
    yuv = config["input_format"] == "YUV420SP_U8"
    before = np.array([config.get(f"input_bias_{i}", 0) if yuv else 0 for i in range(3)])
    after = np.array([0 if yuv else config.get(f"output_bias_{i}", [16, 128, 128][i])
                      for i in range(3)])
    shifted = np.einsum("rc,nchw->nrhw", matrix, pixels[:, :3] - before.reshape(1, 3, 1, 1)) >> 8
    colours = np.clip(shifted + after.reshape(1, 3, 1, 1), 0, 255)
    return np.concatenate([colours, pixels[:, 3:]], axis=1)


def reference(image, config, source, channels):
    h, w = source
    pixels = pixels_of(image, config, h, w)
    if config.get("crop"):
        top, left = config["load_start_pos_h"], config["load_start_pos_w"]
        pixels = pixels[:, :, top:top + config["crop_size_h"], left:left + config["crop_size_w"]]
    if config.get("csc_switch"):
        pixels = convert_colour(pixels, config)
    values = pixels[:, :channels].astype("f4")
    for i in range(channels):
        values[:, i] -= np.float32(config.get(f"mean_chn_{i}", 0))
        values[:, i] -= np.float32(config.get(f"min_chn_{i}", 0))
        values[:, i] *= np.float32(config.get(f"var_reci_chn_{i}", 1))
    if config.get("padding"):
        sizes = [config.get(f"{side}_padding_size", 0) for side in
                 ("top", "bottom", "left", "right")]
        values = np.pad(values, ((0, 0), (0, 0), sizes[:2], sizes[2:]),
                        constant_values=np.float32(config.get("padding_value", 0)))
    return values


#===--- Configurations -------------------------------------------------------------------------===#


def text_of(config):
    def word(key, value):
        if isinstance(value, bool):
            return str(value).lower()
        return f'"{value}"' if key == "related_input_name" else str(value)
    return "aipp_op {\n" + "".join(f"  {k} : {word(k, v)}\n" for k, v in config.items()) + "}\n"


def make_case(number):
    """A configuration, the size of its images and the dims that the model reads."""
    draw = np.random.default_rng(number)
    name = list(FORMATS)[number % 4]
    even = 2 if name == "YUV420SP_U8" else 1
    config = {"aipp_mode": "static", "input_format": name}
    h, w = (int(draw.integers(8, 20)) * even for _ in range(2))
    source = h, w
    if draw.integers(4):
        config |= {"src_image_size_h": h, "src_image_size_w": w}
    if draw.integers(2):
        top, left = (int(draw.integers(0, 3)) * even for _ in range(2))
        crop_h, crop_w = h - top - 2 * int(draw.integers(0, 2)), w - left - 2 * even
        config |= {"src_image_size_h": h, "src_image_size_w": w, "crop": True,
                   "load_start_pos_h": top, "load_start_pos_w": left,
                   "crop_size_h": crop_h, "crop_size_w": crop_w}
        h, w = crop_h, crop_w
    if draw.integers(2):
        config["padding"] = True
        pads = [int(draw.integers(0, 5)) for _ in range(4)]
        for side, pad in zip(("top", "bottom", "left", "right"), pads, strict=True):
            if pad:
                config[f"{side}_padding_size"] = pad
        h, w = h + sum(pads[:2]), w + sum(pads[2:])
        if draw.integers(2):
            config["padding_value"] = [-1.5, 114, 0.25][draw.integers(3)]
        config["cpadding_value"] = 77  # beside the channels, which are never padded
    if name != "YUV400_U8":
        config["rbuv_swap_switch"] = bool(draw.integers(2))
        if draw.integers(2):
            yuv = name == "YUV420SP_U8"
            config |= {"csc_switch": True} | (LARGE if draw.integers(8) > 6 else BT601 if yuv else TO_YUV)
    if name == "XRGB8888_U8":
        config["ax_swap_switch"] = bool(draw.integers(2))
    for i in range(FORMATS[name]):
        if draw.integers(2):
            config[f"mean_chn_{i}"] = int(draw.integers(0, 256))
        if draw.integers(2):
            config[f"min_chn_{i}"] = [0, 7.25, 123.675, 255][draw.integers(4)]
        if draw.integers(2):
            config[f"var_reci_chn_{i}"] = [0.0171247538, 1 / 255, -2.5, 1][draw.integers(4)]
    channels = 1 if not draw.integers(4) else FORMATS[name] - int(draw.integers(2)) * (
        name == "XRGB8888_U8")
    return config, source, (int(draw.integers(1, 3)), channels, h, w)


def image_for(config, source, batch, draw):
    h, w = source
    if config["input_format"] == "YUV420SP_U8":
        return draw.integers(0, 256, (batch, h * 3 // 2, w, 1), dtype="u1")
    return draw.integers(0, 256, (batch, h, w, FORMATS[config["input_format"]]), dtype="u1")


def negating_model(folder, shapes, channels_last=False):
    """A model that returns each of its inputs with the sign changed, which rounds nothing."""
    nodes, inputs, outputs = [], [], []
    for i, shape in enumerate(shapes):
        dims = [shape[0], shape[2], shape[3], shape[1]] if channels_last else shape
        inputs.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, dims))
        outputs.append(helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None))
        nodes.append(helper.make_node("Neg", [f"x{i}"], [f"y{i}"], name=f"neg{i}"))
    path = folder / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "images", inputs, outputs),
                                opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def convolving_model(folder, shapes):
    """The same by convolutions, whose only tap that is not zero is the one in the middle."""
    nodes, inputs, outputs, weights = [], [], [], []
    for i, (n, c, h, w) in enumerate(shapes):
        inputs.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [n, c, h, w]))
        outputs.append(helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None))
        taps = np.zeros((c, c, 3, 3), "f4")
        taps[range(c), range(c), 1, 1] = -1
        weights.append(numpy_helper.from_array(taps, f"w{i}"))
        nodes.append(helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"y{i}"], name=f"conv{i}",
                                      pads=[1, 1, 1, 1]))
    path = folder / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "images", inputs, outputs, weights),
                                opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def compare(folder, cases, soc=None, make_model=negating_model):
    """Runs cases as the inputs of one model."""
    draw = np.random.default_rng(5)
    model = make_model(folder, [shape for _, _, shape in cases])
    file = folder / "aipp.cfg"
    file.write_text("# one for each input\n" + "".join(
        text_of({"related_input_rank": i} | config) for i, (config, _, _) in enumerate(cases)))
    images = [image_for(config, source, shape[0], draw) for config, source, shape in cases]
    om = build(model, folder, soc, [f"--insert_op_conf={file}"])
    outputs, _ = run(om, images)
    for i, (config, source, shape) in enumerate(cases):
        expected = reference(images[i], config, source, shape[1])
        if soc:
            expected = expected.astype("f2").astype("f4")
        assert expected.shape == shape
        np.testing.assert_array_equal(outputs[f"y{i}"], -expected, err_msg=str(config))


@pytest.mark.parametrize("group", range(8))
def test_cpu(tmp_path, group):
    compare(tmp_path, [make_case(number) for number in range(group * 16, group * 16 + 16)])


@pytest.mark.parametrize("soc", SOCS)
def test_npu(tmp_path, soc):
    compare(tmp_path, [make_case(number) for number in range(0, 24)], soc)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("group", range(4))
def test_npu_convolutions(tmp_path, soc, group):
    """Convolutions preprocess the images that they load, where load_image can."""
    if group and soc == SOCS[1]:
        pytest.skip("one group is enough there")
    compare(tmp_path, [make_case(number) for number in range(group * 20, group * 20 + 20)], soc,
            convolving_model)


@pytest.mark.parametrize("change, costs_launches", [
    ({}, False),
    ({"rbuv_swap_switch": True, "mean_chn_0": 104, "min_chn_1": 7.25, "var_reci_chn_2": -2.5}, False),
    ({"input_format": "XRGB8888_U8", "ax_swap_switch": True}, False),
    ({"src_image_size_w": 24, "crop": True, "load_start_pos_h": 3, "load_start_pos_w": 5, "crop_size_h": 12,
      "crop_size_w": 16, "padding": True, "top_padding_size": 2, "bottom_padding_size": 2,
      "left_padding_size": 1, "right_padding_size": 3}, False),
    ({"input_format": "YUV420SP_U8", "rbuv_swap_switch": True} | BT601, False),
    ({"input_format": "YUV420SP_U8", "csc_switch": True, "mean_chn_0": 104, "crop": True,
      "load_start_pos_h": 2, "load_start_pos_w": 4, "crop_size_h": 14, "crop_size_w": 16,
      "padding": True, "bottom_padding_size": 2, "left_padding_size": 4,
      "var_reci_chn_2": -2.5} | BT601, False),
    # What the loads do not compute costs kernels of its own.
    ({"padding": True, "padding_value": 114, "left_padding_size": 2, "src_image_size_w": 18}, True),
    ({"csc_switch": True} | TO_YUV, True),
])
def test_launches_of_a_convolution(tmp_path, change, costs_launches):
    """Preprocessing is part of the convolution's launch."""
    (tmp_path / "bare").mkdir()
    config = BASE | {"src_image_size_h": 16, "src_image_size_w": 20} | change
    shape = (2, 3, 16, 20)
    file = tmp_path / "aipp.cfg"
    file.write_text(text_of(config))
    model = convolving_model(tmp_path, [shape])
    apart = "--disable_passes=npu-join-launches"
    om = build(model, tmp_path, SOCS[0], [f"--insert_op_conf={file}", apart])
    source = config["src_image_size_h"], config["src_image_size_w"]
    image = image_for(config, source, 2, np.random.default_rng(9))
    outputs, statistics = run(om, [image])
    expected = reference(image, config, source, 3).astype("f2").astype("f4")
    np.testing.assert_array_equal(outputs["y0"], -expected)
    bare = build(model, tmp_path / "bare", SOCS[0], [apart])
    _, without = run(bare, [np.zeros(shape, "f4")])
    more = statistics["npu"]["launches"] - without["npu"]["launches"]
    assert more > 0 if costs_launches else more <= 0


def test_raw_gray_pixels_of_a_convolution(tmp_path):
    """The NPU's convolution loads the bytes itself where nothing is computed with them before."""
    weights = np.array([[0, -1, 0], [1, 2, 3], [0, -1, 0]], "f4")
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    graph = helper.make_graph(
        [node], "gray", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 12, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights[None, None], "w")])
    model = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), model)
    file = tmp_path / "aipp.cfg"
    file.write_text(text_of({"aipp_mode": "static", "input_format": "YUV400_U8"}))
    om = build(model, tmp_path, SOCS[0], [f"--insert_op_conf={file}"])
    image = np.arange(64, 256, dtype="u1").reshape(1, 12, 16, 1)
    outputs, _ = run(om, [image])
    padded = np.pad(image[0, :, :, 0].astype("f4"), 1)
    expected = sum(weights[i, j] * padded[i:i + 12, j:j + 16] for i in range(3) for j in range(3))
    np.testing.assert_array_equal(outputs["y"], expected[None, None])


#===--- Parameters given at run time -----------------------------------------------------------===#


def parameters_of(config, source, shape):
    """The bytes that AscendCL's aclmdlSetInputAIPP writes."""
    def get(name, default=0):
        return int(config.get(name, default))
    number = {"YUV420SP_U8": 1, "XRGB8888_U8": 2, "RGB888_U8": 3, "YUV400_U8": 4}
    out = struct.pack("<5B3x2i9h6x", number[config["input_format"]],
        get("csc_switch"), get("rbuv_swap_switch"), get("ax_swap_switch"), shape[0],
        source[1], source[0], *(get(name) for name in MATRIX))
    out += bytes([get(f"output_bias_{i}", [16, 128, 128][i]) for i in range(3)])
    out += bytes([get(f"input_bias_{i}") for i in range(3)]) + bytes(18)
    one = struct.pack("<4B4x12i", get("crop"), 0, get("padding"), 0, *(get(name) for name in (
        "load_start_pos_w", "load_start_pos_h", "crop_size_w", "crop_size_h")), 0, 0, 0, 0, *(
            get(f"{side}_padding_size") for side in ("top", "bottom", "left", "right")))
    one += struct.pack("<4h", *(get(f"mean_chn_{i}") for i in range(4)))
    one += struct.pack("<8e16x", *(config.get(f"min_chn_{i}", 0) for i in range(4)),
                       *(config.get(f"var_reci_chn_{i}", 1) for i in range(4)))
    assert len(out) == 64 and len(one) == 96
    return out + one * shape[0]


def dynamic_model(folder, shape, size, soc=None):
    file = folder / "dynamic.cfg"
    file.write_text(text_of({"aipp_mode": "dynamic", "max_src_image_size": size}))
    return build(negating_model(folder, [shape]), folder, soc, [f"--insert_op_conf={file}"])


def run_dynamic(folder, om, image, parameters, size):
    (folder / "image.bin").write_bytes(image.tobytes().ljust(size, b"\xaa"))
    (folder / "parameters.bin").write_bytes(parameters)
    return call(tool("om-run"), om, "--output", folder, "--input",
                f"x0={folder / 'image.bin'},ascend_dynamic_aipp_data={folder / 'parameters.bin'}")


@pytest.mark.parametrize("number", range(24))
@pytest.mark.parametrize("soc", [None, SOCS[0]])
def test_dynamic(tmp_path, number, soc):
    if soc and number > 3:
        pytest.skip("one of each format is enough there")
    config, source, shape = make_case(number)
    config.pop("padding_value", None)
    for key in config:  # parameters of AscendCL are half floats
        if key.startswith(("min_chn", "var_reci")):
            config[key] = float(np.float16(config[key]))
    image = image_for(config, source, shape[0], np.random.default_rng(number))
    om = dynamic_model(tmp_path, shape, 20000, soc)
    code, out, err = run_dynamic(tmp_path, om, image, parameters_of(config, source, shape), 20000)
    assert code == 0, out + err
    expected = reference(image, config, source, shape[1])
    if soc:
        expected = expected.astype("f2").astype("f4")
    np.testing.assert_array_equal(np.load(tmp_path / "y0.npy"), -expected)


@pytest.mark.parametrize("change, words", [
    ({"input_format": "YUV400_U8"}, "have not the 3 channels"),
    ({"crop": True, "crop_size_h": 6, "crop_size_w": 9}, "out of an image of 8 x 8"),
    ({"padding": True, "top_padding_size": 1}, "the model reads 8 x 8"),
    (None, "state format 0; set them"),
])
def test_dynamic_errors(tmp_path, change, words):
    om = dynamic_model(tmp_path, (1, 3, 8, 8), 300)
    image = np.zeros((1, 8, 8, 3), "u1")
    parameters = bytes(160)
    if change is not None:
        config = {"input_format": "RGB888_U8"} | change
        parameters = parameters_of(config, (8, 8), (1, 3, 8, 8))
    code, out, err = run_dynamic(tmp_path, om, image, parameters, 300)
    assert code == 1 and words in out + err


BASE = {"aipp_mode": "static", "input_format": "RGB888_U8"}


def test_defaults_of_the_matrix(tmp_path):
    """csc_switch alone converts YUV to BGR, and RGB to YUV."""
    to_bgr = dict(zip(MATRIX, [298, 516, 0, 298, -100, -208, 298, 0, 409], strict=True),
                  input_bias_0=16, input_bias_1=128, input_bias_2=128)
    draw = np.random.default_rng(3)
    model = negating_model(tmp_path, [(1, 3, 8, 6)] * 2)
    configs = [BASE | {"csc_switch": True},
               BASE | {"csc_switch": True, "input_format": "YUV420SP_U8"}]
    file = tmp_path / "aipp.cfg"
    file.write_text("".join(text_of(config | {"related_input_name": f"x{i}"})
                            for i, config in enumerate(configs)))
    images = [image_for(config, (8, 6), 1, draw) for config in configs]
    outputs, _ = run(build(model, tmp_path, None, [f"--insert_op_conf={file}"]), images)
    for i, stated in enumerate((TO_YUV, to_bgr)):
        expected = reference(images[i], configs[i] | stated, (8, 6), 3)
        np.testing.assert_array_equal(outputs[f"y{i}"], -expected)


def test_resize(tmp_path):
    """Bilinear, between the centres of pixels, behind the crop and before the normalization."""
    config = BASE | {"src_image_size_h": 6, "src_image_size_w": 6, "crop": True,
                     "load_start_pos_h": 1, "load_start_pos_w": 2, "crop_size_h": 4,
                     "crop_size_w": 4, "resize": True, "resize_output_h": 8, "resize_output_w": 2,
                     "mean_chn_1": 100, "var_reci_chn_2": 0.5}
    file = tmp_path / "aipp.cfg"
    file.write_text(text_of(config))
    image = image_for(config, (6, 6), 1, np.random.default_rng(8))
    om = build(negating_model(tmp_path, [(1, 3, 8, 2)]), tmp_path, None,
               [f"--insert_op_conf={file}"])
    outputs, _ = run(om, [image])
    pixels = image[0, 1:5, 2:6].astype("f8").transpose(2, 0, 1)
    at = np.clip((np.arange(8) + 0.5) / 2 - 0.5, 0, 3)
    low, part = np.floor(at).astype(int), at % 1
    rows = (pixels[:, low] * (1 - part)[None, :, None]
            + pixels[:, np.minimum(low + 1, 3)] * part[None, :, None])
    expected = (rows[:, :, ::2] + rows[:, :, 1::2]) / 2
    expected[1] -= 100
    expected[2] *= 0.5
    np.testing.assert_allclose(outputs["y0"][0], -expected, rtol=0, atol=1e-4)


def test_readers_of_one_input(tmp_path):
    """Each reader of an input has an aipp_op of its own by input_edge_idx."""
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Abs", ["x"], ["b"])]
    graph = helper.make_graph(
        nodes, "two", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "ab"])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              tmp_path / "model.onnx")
    configs = [BASE | {"input_edge_idx": 0, "mean_chn_0": 9},
               BASE | {"input_edge_idx": 1, "rbuv_swap_switch": True}]
    file = tmp_path / "aipp.cfg"
    file.write_text("".join(map(text_of, configs)))
    image = image_for(BASE, (4, 4), 1, np.random.default_rng(2))
    om = build(tmp_path / "model.onnx", tmp_path, None, [f"--insert_op_conf={file}"])
    outputs, _ = run(om, [image])
    np.testing.assert_array_equal(outputs["a"], -reference(image, configs[0], (4, 4), 3))
    np.testing.assert_array_equal(outputs["b"], reference(image, configs[1], (4, 4), 3))
    file.write_text(text_of(configs[0]))
    code, out, _ = atc(tmp_path, file)
    assert code == 1 and "E10052: input_edge_idx leaves 1 of the 2 readers" in out


def atc(folder, file, *flags):
    return call(tool("atc"), f"--model={folder / 'model.onnx'}", "--framework=5",
                f"--output={folder / 'out'}", "--target=cpu", f"--insert_op_conf={file}", *flags)


@pytest.mark.parametrize("text, expected", [
    ("# nothing", "E10052: {0}: the file has no aipp_op"),
    ("", "E13003: file '{0}' is empty"),
    ("aipp_op {\n aipp_mode: static\n", "E10052: {0}:1: this '{{' is not closed"),
    ("aipp_op { # }\n related_input_name: '}'\n", "E10052: {0}:1: this '{{' is not closed"),
    ("aipp_op {\n aipp_mode: static\n}\n}", "E10052: {0}:4: this '}}' closes nothing"),
    ("aipp_op {\n aipp_op {\n }\n}", "E10052: {0}:2: aipp_op stands inside of another one"),
    ("aipp_op\n aipp_mode: static\n", "E10052: {0}:2: aipp_op must be followed by {{"),
    ("aipp_mode: static", "E10052: {0}:1: 'aipp_mode' stands outside of aipp_op"),
    ("aipp_op {\n input_format: RGB888_U8\n}", "E10052: {0}:1: aipp_mode must be static"),
    ("aipp_op { aipp_mode: static }", "E10052: {0}:1: input_format is missing"),
    ("aipp_op { aipp_mode: dynamic }", "max_src_image_size must be the size in bytes"),
    ("aipp_op {\n aipp_mode: static\n input_format: RGB8 }",
     'Unknown enumeration value of "RGB8" for field "input_format"'),
    ("aipp_op {\n aipp_mode: static\n input_format: YUYV_U8 }",
     "E10052: {0}:3: input_format: YUYV_U8 is not a format that these chips read"),
    ("aipp_op {\n mean_chn0: 3 }", "E10052: {0}:2: 'mean_chn0' is not a field of aipp_op; did "
     "you mean 'mean_chn_0'?"),
    ("aipp_op {\n mean_chn_0: 123.5 }", "E10052: {0}:2: Expected integer, got: 123.5"),
    (text_of(BASE | {"mean_chn_0": 256}), "{0}:4: mean_chn_0: 256 must be from 0 to 255"),
    (text_of(BASE | {"crop": True, "crop_size_w": -1}), "crop_size_w: -1 must be from 0 to 4096"),
    (text_of(BASE | {"padding": True, "left_padding_size": 33}), "must be from 0 to 32"),
    (text_of(BASE | {"ax_swap_switch": True}), "ax_swap_switch: true must be false"),
    (text_of(BASE | {"related_input_rank": 1}), "E10052: {0}:4: related_input_rank: 1 is not an "
     "input of the model: it has 1, counted from 0: 'x0'"),
    (text_of(BASE | {"related_input_name": "y"}), "its inputs are 'x0'"),
    (text_of(BASE) * 2, "configures input 'x0' a second time"),
    (text_of(BASE | {"src_image_size_w": 100}), "E70014: {0}:4: src_image_size_w: 100 must be 12 "
     "for the 12 columns that the model's input 'x0' has"),
    *((text_of(BASE | {"src_image_size_w": size}), f"{{0}}:4: src_image_size_w: {size} must be from 2 to 4096, or left out")
      for size in (-3, 1, 5000)),
    (text_of(BASE | {"crop": True, "crop_size_w": 8}), "E70014: {0}:5: crop_size_w: 8 must be 12"),
    (text_of(BASE | {"crop": True, "src_image_size_w": 14, "load_start_pos_w": 3}),
     "E70014: {0}:1: crop_size_w from load_start_pos_w: 3 ends behind the 14"),
    (text_of(BASE | {"padding": True, "top_padding_size": 10}), "E70014: {0}:5: top_padding_size: "
     "10 leaves nothing of the image"),
    (text_of(BASE | {"input_format": "YUV400_U8"}), "E70014: {0}:3: input_format: YUV400_U8 gives "
     "1 channels, but the model's input 'x0' has 3 (NCHW)"),
    (text_of(BASE | {"input_format": "YUV420SP_U8", "src_image_size_h": 11, "crop": True,
                     "load_start_pos_w": 1, "src_image_size_w": 14}),
     "load_start_pos_w: 1 must be even for YUV420SP_U8"),
])
def test_errors(tmp_path, text, expected):
    negating_model(tmp_path, [(1, 3, 10, 12)])
    file = tmp_path / "a.cfg"
    file.write_text(text)
    code, out, err = atc(tmp_path, file)
    assert code == 1 and not err
    assert expected.format(file) in out and ("or left out" not in expected or "E70014" not in out)
    assert not (tmp_path / "out.om").exists()


def test_every_error_at_once(tmp_path):
    negating_model(tmp_path, [(1, 3, 10, 12)])
    file = tmp_path / "a.cfg"
    file.write_text(text_of(BASE | {"src_image_size_w": 10, "src_image_size_h": 14}))
    code, out, _ = atc(tmp_path, file)
    assert code == 1 and out.count("E70014") == 2
    code, out, _ = atc(tmp_path, tmp_path / "none.cfg")
    assert code == 1 and "E10410" in out
