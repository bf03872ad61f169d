# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization with samples from Python."""

import json

import numpy as np
import pytest

import openatc
from conftest import DIGITS


@pytest.fixture(scope="module")
def quantized(digits_onnx, pictures):
    return openatc.quantize(digits_onnx, pictures)


def test_answers(quantized, pictures):
    assert isinstance(quantized, openatc.QuantizedModel)
    model = quantized.compile(target_cpu="host")
    assert isinstance(model, openatc.Model)
    session = openatc.Session(model)
    for digit, picture in enumerate(pictures):
        scores, = session.run([picture])
        assert scores.argmax() == digit


def test_scales_and_errors(quantized):
    scale = quantized.scales["image"]
    assert isinstance(scale, openatc.TensorScale)
    assert 0 < scale.scale < 0.01 and scale.zero_point == -128 and scale.dtype == "int8"
    names = {error.tensor for error in quantized.errors}
    assert names == set(quantized.scales)
    output, = quantized.output_errors
    assert isinstance(output, openatc.QuantError)
    assert output.tensor == "scores" and output.cosine > 0.99
    assert output.sqnr_db > 20 and 0 < output.max_error < 5
    for line in ("stem_relu", "scores", "cosine"):
        assert line in str(quantized)


def test_dynamic_dims_of_objects_are_those_of_the_first_sample():
    graph = openatc.builder.Graph("product")
    x = graph.input("x", "float32", ["batch", 8])
    graph.output("y", graph.op("Relu", x @ np.eye(8, 4, dtype="float32")))
    sample = np.random.default_rng(1).standard_normal((3, 8)).astype("float32")
    for model in (graph, graph.to_onnx()):
        for first in (sample, [sample], {"x": sample}):
            module = openatc.quantize(model, [first, first]).module
            assert module.inputs["x"].shape == (3, 8)
        assert openatc.quantize(model, [sample], input_shapes={"x": (3, 8)}).scales
        with pytest.raises(openatc.ArgumentError):
            openatc.quantize(model, [[sample, sample]])


def test_samples_of_every_kind(digits_onnx, pictures):
    kinds = [pictures, ([picture] for picture in pictures),
             ({"image": picture} for picture in pictures),
             (np.asfortranarray(picture) for picture in pictures)]
    results = [openatc.quantize(digits_onnx, data).scales for data in kinds]
    assert all(result == results[0] for result in results)


def test_methods_config_and_progress(digits_onnx, pictures):
    seen = []
    result = openatc.quantize(digits_onnx, pictures, method="minmax", batch_num=3,
                              config={"symmetric": True, "skip_layer_types": ["Gemm"]},
                              input_shapes={"image": (1, 1, 28, 28)}, progress=seen.append)
    assert seen == [1, 2, 3]
    assert all(scale.zero_point == 0 for scale in result.scales.values())
    wide = openatc.quantize(digits_onnx, pictures, method="percentile",
                            config={"percentile": 0.9}).scales["image"].scale
    assert wide < result.scales["image"].scale * 2


def test_config_files(digits_onnx, pictures, tmp_path):
    (tmp_path / "a.json").write_text('{"symmetric": true}')
    (tmp_path / "b.cfg").write_text("activation_offset : false\n")
    for name in ("a.json", "b.cfg"):
        for more in ({}, {"batch_num": 2}):
            result = openatc.quantize(digits_onnx, pictures, config=tmp_path / name, **more)
            assert all(scale.zero_point == 0 for scale in result.scales.values())


def test_files(quantized, tmp_path):
    quantized.save(tmp_path / "qdq.onnx")
    quantized.save_deploy(tmp_path / "deploy.onnx")
    quantized.save_record(tmp_path / "record.txt")
    quantized.save_report(tmp_path / "report.html")
    assert b"DequantizeLinear" in (tmp_path / "qdq.onnx").read_bytes()
    assert b"AscendDequant" in (tmp_path / "deploy.onnx").read_bytes()
    assert "scale_d" in (tmp_path / "record.txt").read_text()
    assert "<svg" in (tmp_path / "report.html").read_text()
    paths = quantized.save_all(tmp_path / "all")
    assert len(paths) == 7 and all(path.exists() for path in paths)
    assert json.loads((tmp_path / "all_quant.json").read_text())["tensors"]
    with pytest.raises(openatc.Error) as caught:
        quantized.save(tmp_path / "no" / "x.onnx")
    assert caught.value.code == "E13004"
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("data, code", [
    ([], "E10014"), ([np.zeros((1, 1, 28, 27), "f4")], "E10014"),
    ([np.zeros((1, 1, 28, 28))], "E10014"), ([[np.zeros((1, 1, 28, 28), "f4")] * 2], "E10014"),
    ([{"picture": np.zeros((1, 1, 28, 28), "f4")}], "E10017"),
    ([np.full((1, 1, 28, 28), np.inf, "f4")], "E10014")])
def test_data_that_does_not_fit(digits_onnx, data, code):
    with pytest.raises(openatc.Error) as caught:
        openatc.quantize(digits_onnx, data)
    assert caught.value.code == code


def test_one_array_is_no_list_of_samples(digits_onnx, pictures):
    stacked = np.concatenate(pictures)
    with pytest.raises(openatc.ArgumentError) as caught:
        openatc.quantize(digits_onnx, stacked)
    assert "data[i:i+1] for i in range(len(data))" in caught.value.messages[1]
    rows = openatc.quantize(digits_onnx, (stacked[i:i+1] for i in range(len(stacked))))
    assert rows.scales == openatc.quantize(digits_onnx, pictures).scales


def test_errors_of_the_caller(digits_onnx, pictures):
    with pytest.raises(openatc.Error) as caught:
        openatc.quantize(digits_onnx, pictures, method="best")
    assert caught.value.code == "E10001"
    with pytest.raises(openatc.Error):
        openatc.quantize(DIGITS / "none.onnx", pictures)
    with pytest.raises(TypeError):
        openatc.quantize(digits_onnx, [3])
    with pytest.raises(TypeError):
        openatc.QuantizedModel(None)

    def failing():
        yield pictures[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        openatc.quantize(digits_onnx, failing())


def test_too_few_samples_are_a_warning(digits_onnx, pictures):
    with pytest.warns(UserWarning, match="W10014"):
        openatc.quantize(digits_onnx, pictures, batch_num=99)


# Folders


def test_folders(digits_onnx, pictures, tmp_path):
    right = openatc.quantize(digits_onnx, pictures, method="minmax").scales
    assert openatc.quantize(digits_onnx, DIGITS / "pictures", method="minmax").scales == right
    for digit, picture in enumerate(pictures):
        gray = np.rint(picture[0, 0] * 255).astype(np.uint8)
        (tmp_path / f"{digit}.pgm").write_bytes(b"P5 28 28 255\n" + gray.tobytes())
    seen = []
    scales = openatc.quantize(digits_onnx, str(tmp_path), method="minmax", progress=seen.append,
                              config={"image_format": "GRAY", "var_reci_chn": 1 / 255}).scales
    assert seen == list(range(1, 11))
    for name, scale in scales.items():
        assert scale.scale == pytest.approx(right[name].scale, rel=0.02)


@pytest.mark.parametrize("config, code", [
    ({"mean_chn": [1, 2, 3]}, "E10014"), ({"image_format": "YUV"}, "E10001")])
def test_errors_of_folders(digits_onnx, tmp_path, config, code):
    def error_text(data, **more):
        with pytest.raises(openatc.Error) as caught:
            openatc.quantize(digits_onnx, data, **more)
        return caught.value.code

    assert error_text(tmp_path) == "E10014"
    assert error_text(tmp_path / "none") == "E10410"
    assert error_text("") == "E10004"
    (tmp_path / "a.pgm").write_bytes(b"P5 28 28 255\n" + bytes(784))
    assert error_text(tmp_path, config=config) == code


# Modules and models of TensorFlow


def check_int8(quantized, samples, right, tolerance):
    """The answers, and that the ONNX output is refused."""
    model = quantized.compile(target_cpu="host")
    assert any(tensor.dtype in ("i8", "u8") for tensor in model.tensors)
    session = openatc.Session(model)
    for sample, answer in zip(samples, right):
        ours, = session.run([sample])
        assert np.abs(ours - answer).max() < tolerance * np.ptp(answer)
    for save in (quantized.save, quantized.save_deploy, quantized.save_all):
        with pytest.raises(openatc.Error) as caught:
            save("int8.onnx")
        assert caught.value.code == "E10055"
    assert quantized.errors and {each.tensor for each in quantized.errors} == set(quantized.scales)
    for error in quantized.errors + quantized.output_errors:
        assert error.cosine > 0.98 and error.max_error > 0


def test_modules(digits_onnx, pictures, right_scores, tmp_path):
    module = openatc.load(digits_onnx, input_shapes={"image": (1, 1, 28, 28)})
    before = str(module)
    quantized = openatc.quantize(module, pictures)
    assert str(module) == before
    check_int8(quantized, pictures, right_scores.reshape(10, 1, -1), 0.1)
    assert isinstance(quantized.module, openatc.Module)
    assert "quant.uniform" in str(quantized.module) and "quant.uniform" not in before
    quantized.module.run_pipeline("graph-pipeline")  # of a copy
    assert "graph.integer_conv" not in str(quantized.module)
    quantized.save_record(tmp_path / "record.txt")
    quantized.save_report(tmp_path / "report.html")
    assert (tmp_path / "record.txt").read_text().count("record {") >= 7
    assert "<svg" in (tmp_path / "report.html").read_text()
    with pytest.raises(TypeError):
        openatc.quantize(module, pictures, input_shapes={"image": (1, 1, 28, 28)})
    with pytest.raises(openatc.Error) as caught:
        openatc.quantize(openatc.parse("module {}"), pictures)
    assert caught.value.code[0] == "E"


def test_open_dims_are_refused(digits_onnx, pictures):
    for model, more in ((openatc.load(digits_onnx, input_shapes={"image": (-1, 1, 28, 28)}), {}),
                        (digits_onnx, {"input_shapes": {"image": (1, 1, -1, 28)}})):
        with pytest.raises(openatc.Error) as caught:
            openatc.quantize(model, pictures, **more)
        assert caught.value.code == "E10002" and "image" in str(caught.value)
        assert "--input_shape" not in str(caught.value)


def test_the_module_of_an_onnx_model(quantized):
    assert isinstance(quantized.module, openatc.Module)
    assert "quant.uniform" in str(quantized.module)


def field(number, value):
    """A field of protobuf: an integer, or bytes with their length."""
    def varint(value):
        out = b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tf_node(name, op, inputs=(), **attributes):
    body = field(1, name) + field(2, op) + b"".join(field(3, each) for each in inputs)
    for key, value in attributes.items():
        body += field(5, field(1, key) + field(2, value))
    return field(1, body)


def tf_tensor(array):
    dims = b"".join(field(2, field(1, dim)) for dim in array.shape)
    return field(8, field(1, 1) + field(2, dims) + field(4, array.astype("<f4").tobytes()))


F32 = field(6, 1)


@pytest.fixture(scope="module")
def tf_model(tmp_path_factory):
    """A frozen graph: image [?, 8, 8, 3], convolution, bias, relu."""
    generator = np.random.default_rng(9)
    weights = generator.standard_normal((3, 3, 3, 8)).astype("f4")
    bias = generator.standard_normal(8).astype("f4")
    shape = b"".join(field(2, field(1, dim)) for dim in ((1 << 64) - 1, 8, 8, 3))
    graph = (tf_node("image", "Placeholder", dtype=F32, shape=field(7, shape))
             + tf_node("weights", "Const", dtype=F32, value=tf_tensor(weights))
             + tf_node("bias", "Const", dtype=F32, value=tf_tensor(bias))
             + tf_node("conv", "Conv2D", ["image", "weights"], T=F32, padding=field(2, "SAME"),
                       strides=field(1, field(3, bytes([1, 1, 1, 1]))),
                       data_format=field(2, "NHWC"))
             + tf_node("sum", "BiasAdd", ["conv", "bias"], T=F32)
             + tf_node("relu", "Relu", ["sum"], T=F32))
    path = tmp_path_factory.mktemp("tf") / "model.pb"
    path.write_bytes(graph)
    return path


@pytest.mark.parametrize("kind", ["dict", "shapes", "folder"])
def test_models_of_tensorflow(kind, tf_model, tmp_path):
    generator = np.random.default_rng(7)
    samples = [generator.standard_normal((1, 8, 8, 3)).astype("f4") for _ in range(8)]
    session = openatc.Session(openatc.compile(tf_model, input_shapes={"image": (1, 8, 8, 3)}))
    right = [session.run([sample])[0].copy() for sample in samples]
    shapes = {"input_shapes": {"image": (1, 8, 8, 3)}}
    if kind == "dict":
        quantized = openatc.quantize(tf_model, [{"image": sample} for sample in samples])
    elif kind == "shapes":
        quantized = openatc.quantize(tf_model, samples, **shapes)
    else:
        np.save(tmp_path / "a.npy", np.concatenate(samples))
        quantized = openatc.quantize(tf_model, tmp_path, **shapes)
    check_int8(quantized, samples, right, 0.03)


def test_errors_with_models_of_tensorflow(tf_model, tmp_path):
    sample = np.zeros((1, 8, 8, 3), "f4")
    for model, data, code in ((tmp_path / "no.pb", [sample], "E10410"),
                              (tf_model, [{"picture": sample}], "E1"),
                              (tf_model, [{"image": np.zeros((1, 8, 8, 2), "f4")}], "E1")):
        with pytest.raises(openatc.Error) as caught:
            openatc.quantize(model, data)
        assert caught.value.code.startswith(code)


# Both forms of an ONNX model


def test_both_forms_have_the_same_integers_layer_by_layer(quantized, pictures, tmp_path):
    quantized.save(tmp_path / "qdq.onnx")
    quantized.save_deploy(tmp_path / "deploy.onnx")
    models = [openatc.compile(tmp_path / name) for name in ("qdq.onnx", "deploy.onnx")]
    written = [[index for launch in model.launches for index in launch.writes] for model in models]
    assert len(written[0]) == len(written[1]) > 5
    sessions = [openatc.Session(model) for model in models]
    for picture in pictures[:4]:
        tensors = [session.tensors([picture]) for session in sessions]
        count = 0
        for left, right in zip(*written):
            left, right = models[0].tensors[left], models[1].tensors[right]
            assert left.dtype == right.dtype and left.shape == right.shape
            if left.name not in tensors[0] or right.name not in tensors[1]:
                continue
            np.testing.assert_array_equal(tensors[0][left.name], tensors[1][right.name])
            count += left.dtype in ("i8", "u8")
        assert count > 5


@pytest.mark.parametrize("soc", [None, "Ascend310P3"])
def test_compare_knows_what_fits_a_type(digits_onnx, pictures, tmp_path, soc):
    """Without a tolerance that of the element types counts, on both targets."""
    model = openatc.compile(digits_onnx, soc=soc)
    comparison = openatc.compare(model, digits_onnx, [pictures[2]])
    assert comparison.agree and comparison.tolerance is None, comparison
    assert {error.tolerance for error in comparison.errors} == {0.01 if soc else 1e-4}
    openatc.quantize(digits_onnx, pictures).save(tmp_path / "int8.onnx")
    model = openatc.compile(tmp_path / "int8.onnx", soc=soc)
    comparison = openatc.compare(model, tmp_path / "int8.onnx", [pictures[2]])
    assert comparison.agree and comparison.errors[-1].tolerance == 0.03, comparison
    # What is wrong is found all the same.
    right = openatc.load(tmp_path / "int8.onnx").tensors([pictures[2]])
    name = comparison.errors[-1].tensor
    right[name] = right[name] * np.float32(1.2)
    assert openatc.compare(model, right, [pictures[2]]).first_bad.tensor == name
