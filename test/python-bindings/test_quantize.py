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


def test_faults_of_the_caller(digits_onnx, pictures):
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
