#===-- test_npu_int8.py - quantized networks give the CPU's integers on the NPU ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized networks: every stored integer is the same on the CPU and on the NPU.

Needs numpy and pytest, for residuals also the onnx package.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

try:
    import onnx
    import onnx.numpy_helper
except ImportError:
    onnx = None

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "digits"))
from openatc_tools import call, compile_model, tool  # noqa: E402

import draw_digits  # noqa: E402
from test_calibrated import DIGITS, calibrate  # noqa: E402


INTEGER_SOCS = ["Ascend310P3", "Ascend310", "Ascend910A", "Ascend910B1", "Ascend310B1"]


def run_dumped(om, picture, folder):
    np.save(folder.with_suffix(".npy"), picture)
    code, out, err = call(tool("om-run"), om, "--input", folder.with_suffix(".npy"), "--dump",
                          folder, "--json", *(["--check-hazards"] if "npu" in folder.name else []))
    assert code == 0, out + err
    return {path.stem: np.load(path) for path in folder.glob("*.npy")}, json.loads(out)


def compare(cpu_om, npu_om, picture, folder, number, least_share):
    """How many tensors of integers both made, all of them equal."""
    want, _ = run_dumped(cpu_om, picture, folder / f"cpu-{number}")
    got, report = run_dumped(npu_om, picture, folder / f"npu-{number}")
    assert report["npu"]["macs_share"] >= least_share
    names = [n for n in sorted(want.keys() & got.keys()) if want[n].dtype.kind in "iu"]
    for name in names:
        np.testing.assert_array_equal(got[name], want[name], err_msg=name)
    return len(names)


@pytest.mark.parametrize("soc", INTEGER_SOCS)
def test_digits_have_the_same_integers(tmp_path, soc):
    pictures, _ = draw_digits.draw_digits(18, seed=77)
    data = draw_digits.as_input(pictures)
    samples = [data[i:i + 1] for i in range(len(data))]
    model = calibrate(DIGITS / "digits.onnx", samples[:16], tmp_path / "amct")
    cpu_om = compile_model(model, tmp_path)
    npu_om = tmp_path / "npu.om"
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5",
                          f"--soc_version={soc}", f"--output={tmp_path / 'npu'}")
    assert code == 0, out + err
    compared = 0
    for number, picture in enumerate(samples[16:]):
        # The scores leave their product as real numbers: that one is the CPU's.
        compared += compare(cpu_om, npu_om, picture, tmp_path, number, 0.99)
    assert compared >= 4


@pytest.fixture(scope="module")
def calibrated_digits(tmp_path_factory):
    """The files of amct with balanced channels, whose scales no epilogue of the cube has, the
    model compiled for the CPU, and pictures that were not among the samples."""
    folder = tmp_path_factory.mktemp("digits")
    pictures, _ = draw_digits.draw_digits(28, seed=77)
    data = draw_digits.as_input(pictures)
    samples = [data[i:i + 1] for i in range(len(data))]
    model = calibrate(DIGITS / "digits.onnx", samples[:24], folder / "amct")
    return model, compile_model(model, folder), samples[24:]


def scores_of(om, picture, folder):
    picture_file = folder / "picture.npy"
    np.save(picture_file, picture)
    code, out, err = call(tool("om-run"), om, "--input", picture_file, "--output", folder / om.stem)
    assert code == 0, out + err
    return np.load(folder / om.stem / "scores.npy").reshape(-1)


@pytest.mark.parametrize("form", ["fake_quant", "deploy"])
@pytest.mark.parametrize("soc", ["Ascend310", "Ascend310P3", "Ascend310B1", "Ascend910A",
                                 "Ascend910ProB", "Ascend910B1", "Ascend910B3", "Ascend910B4"])
def test_digits_of_amct_compile_for_every_soc(calibrated_digits, tmp_path, soc, form):
    model, cpu_om, pictures = calibrated_digits
    model = model.with_name(model.name.replace("fake_quant", form))
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5",
                          f"--soc_version={soc}", f"--output={tmp_path / 'npu'}")
    assert code == 0, out + err
    for picture in pictures:
        want = scores_of(cpu_om, picture, tmp_path)
        got = scores_of(tmp_path / "npu.om", picture, tmp_path)
        # Where a SoC computes in f16 a stored integer may be the next one.
        assert np.abs(got - want).max() <= 0.05 * np.ptp(want), (got, want)
        assert got.argmax() == want.argmax()


class Quantized:
    """Writes a QDQ network: `values` are f32 between a dequantize and a quantize."""

    def __init__(self, storage, seed):
        self.storage, self.random = np.dtype(storage), np.random.default_rng(seed)
        self.nodes, self.constants, self.scales = [], [], {}

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def quantize(self, value, scale, zero):
        low = -128 if self.storage == np.int8 else 0
        how = self.constant(np.float32(scale)), self.constant(np.array(zero + low, self.storage))
        result = self.node("DequantizeLinear", self.node("QuantizeLinear", value, *how), *how)
        self.scales[result] = scale
        return result

    def known(self, integers, scales):
        zeros = np.zeros(len(scales), integers.dtype)
        return self.node("DequantizeLinear", self.constant(integers),
                         self.constant(scales.astype(np.float32)), self.constant(zeros), axis=0)

    def conv(self, value, inputs, outputs, size, stride=1, relu=True, groups=1):
        inputs //= groups
        weights = self.random.integers(-127, 128, (outputs, inputs, size, size)).astype(np.int8)
        scales = self.random.uniform(0.5, 2, outputs) / 127 / size / inputs ** 0.5
        bias_scales = scales * self.scales[value]
        bias = (self.random.normal(0, 0.2, outputs) / bias_scales).astype(np.int32)
        filter_, bias = self.known(weights, scales), self.known(bias, bias_scales)
        result = self.node("Conv", value, filter_, bias, kernel_shape=[size] * 2,
                           strides=[stride] * 2, pads=[size // 2] * 4, group=groups)
        return self.node("Relu", result) if relu else result

    def save(self, path, result, shape, out_shape):
        info = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            self.nodes, "residuals", [info("x", onnx.TensorProto.FLOAT, shape)],
            [info(result, onnx.TensorProto.FLOAT, out_shape)], self.constants)
        opsets = [onnx.helper.make_opsetid("", 13)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def residual_network(path, storage):
    """A stem that reads an image, and additions: with a convolution on both sides, with what
    came before, of all kinds of zero points, with a relu behind and without."""
    q = Quantized(storage, 5)
    x = q.quantize("x", 0.017, 121)
    x = q.quantize(q.conv(x, 3, 40, 7, 2), 0.013, 0)
    x = q.quantize(q.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 0.013, 0)
    left = q.quantize(q.conv(x, 40, 72, 3, relu=False), 0.021, 133)
    right = q.quantize(q.conv(x, 40, 72, 1, relu=False), 0.034, 117)
    x = q.quantize(q.node("Relu", q.node("Add", left, right)), 0.019, 0)
    for relu in (True, False):
        part = q.quantize(q.conv(x, 72, 72, 1, relu=False), 0.023, 126)
        total = q.node("Add", x, part)
        x = q.quantize(q.node("Relu", total) if relu else total, 0.027, 0 if relu else 97)
    q.save(path, x, [2, 3, 44, 44], [2, 72, 11, 11])


def compile_for_both(model, tmp_path, soc):
    """Returns the files for the CPU and for an NPU, there with the launches of each layer apart, so
    that their tensors can be compared, and what om-dump shows of the latter."""
    cpu_om = compile_model(model, tmp_path)
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", f"--soc_version={soc}",
                          f"--output={tmp_path / 'npu'}", "--disable_passes=npu-join-launches")
    assert code == 0, out + err
    return cpu_om, tmp_path / "npu.om", call(tool("om-dump"), tmp_path / "npu.om",
                                             "--disassemble")[1]


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", INTEGER_SOCS)
def test_residuals_have_the_same_integers(tmp_path, soc, storage):
    model = tmp_path / "residuals.onnx"
    residual_network(model, storage)
    cpu_om, npu_om, text = compile_for_both(model, tmp_path, soc)
    # Quantizing, adding and storing are parts of loads and of leaving l0c; FIX of split cores does not
    # add.
    assert text.count(" requantize_add ") == (0 if "B1" in soc else 3), text
    assert " requantize " in text
    assert "scale=" in next(line for line in text.splitlines() if " load_image " in line)
    assert " div " not in text
    picture = np.random.default_rng(9).normal(0, 1, (2, 3, 44, 44)).astype(np.float32)
    assert compare(cpu_om, npu_om, picture, tmp_path, 0, 0.99) >= 4


def grouped_network(path, storage):
    """Inverted residuals: depthwise convolutions of more channels than a block of bytes holds, padded
    with zero points that are not 0, and groups that meet inside of blocks. Their last blocks are not
    full."""
    q = Quantized(storage, 6)
    x = q.quantize("x", 0.017, 121)
    x = q.quantize(q.conv(x, 3, 40, 3, 2), 0.013, 0)
    for groups, size, stride, relu in ((144, 3, 1, True), (144, 5, 2, False), (6, 3, 1, False),
                                       (36, 1, 1, True)):
        hidden = q.quantize(q.conv(x, 40, 144, 1, relu=relu), 0.02, 0 if relu else 119)
        hidden = q.conv(hidden, 144, 144, size, stride, relu, groups)
        hidden = q.quantize(hidden, 0.02, 0 if relu else 131)
        part = q.quantize(q.conv(hidden, 144, 40, 1, relu=False), 0.03, 126)
        x = q.quantize(q.node("Add", x, part), 0.03, 121) if stride == 1 else part
    q.save(path, x, [2, 3, 44, 44], [2, 40, 11, 11])


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", INTEGER_SOCS)
def test_groups_have_the_same_integers(tmp_path, soc, storage):
    model = tmp_path / "groups.onnx"
    grouped_network(model, storage)
    cpu_om, npu_om, text = compile_for_both(model, tmp_path, soc)
    # All in bytes but the first convolution, which reads the image as f16.
    types = [line.split(" type=")[1].split()[0] for line in text.splitlines() if " mmad " in line]
    assert types.count("f16") == 1 and "u8" in types and set(types) <= {"f16", "u8", "s8"}, types
    picture = np.random.default_rng(9).normal(0, 1, (2, 3, 44, 44)).astype(np.float32)
    assert compare(cpu_om, npu_om, picture, tmp_path, 0, 0.99) >= 12


def repeat_pixels(q, value, rows, columns):
    return q.node("Resize", value, "", q.constant(np.array([1, 1, rows, columns], np.float32)), mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def compare_on_npu_alone(model, folder, soc, share, count):
    """Nothing runs on the host, and at least `count` tensors of integers are the CPU's."""
    cpu_om, npu_om, _ = compile_for_both(model, folder, soc)
    assert not json.loads(call(tool("om-dump"), npu_om, "--json")[1])["kernels"]
    picture = np.random.default_rng(9).normal(0, 1, (2, 3, 14, 22)).astype(np.float32)
    assert compare(cpu_om, npu_om, picture, folder, 0, share) >= count


def resized_network(path, storage, has_real_weights=False):
    """The neck of a detector: nearest resizes of bytes by whole numbers, and a concat behind them. Two
    convolutions of real weights, of more than a tenth of the multiply-accumulates, make it a network
    of floats, whose bytes are in blocks of 16."""
    q = Quantized(storage, 13)
    x = q.quantize("x", 0.017, 121)
    if has_real_weights:
        for outputs, inputs, size in ((128, 3, 0.3), (3, 128, 0.02)):
            weights = q.constant(q.random.normal(0, size, (outputs, inputs, 3, 3)).astype(np.float32))
            x = q.node("Conv", x, weights, kernel_shape=[3, 3], pads=[1] * 4)
        x = q.quantize(x, 0.017, 121)
    large = q.quantize(q.conv(x, 3, 40, 3), 0.02, 0)
    small = q.quantize(q.conv(large, 40, 40, 3, 2), 0.02, 0)
    part = q.quantize(repeat_pixels(q, small, 2, 2), 0.02, 0)
    both = q.quantize(q.node("Concat", part, large, axis=1), 0.02, 0)
    x = q.quantize(q.conv(both, 80, 72, 1), 0.02, 0)
    x = repeat_pixels(q, x, 3, 1)
    x = q.quantize(q.conv(q.quantize(x, 0.02, 0), 72, 20, 3), 0.02, 0)
    q.save(path, x, [2, 3, 14, 22], [2, 20, 42, 22])


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_resizes_of_bytes_stay_on_the_npu(tmp_path, soc, storage):
    model = tmp_path / "resized.onnx"
    resized_network(model, storage)
    compare_on_npu_alone(model, tmp_path, soc, 0.99, 4)


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_resizes_keep_every_byte(tmp_path, soc, storage):
    """Pairs of bytes that would be a NaN of halves lost bits: 125 became 127."""
    model, q = tmp_path / "resized.onnx", Quantized(storage, 13)
    x = q.quantize(q.conv(q.quantize("x", 0.017, 121), 3, 40, 1, relu=False), 0.02, 124)
    x = repeat_pixels(q, x, 2, 2)
    q.save(model, q.quantize(q.conv(q.quantize(x, 0.02, 124), 40, 20, 1, relu=False), 0.02, 124),
           [2, 3, 14, 22], [2, 20, 28, 44])
    compare_on_npu_alone(model, tmp_path, soc, 0.9, 2)


def mixed_network(path, storage, has_real_weights):
    """Quantized convolutions, if asked for around two of real weights, and one with a result of floats, whose
    channels have scales that differ a lot."""
    q = Quantized(storage, 21)
    x = q.quantize(q.conv(q.quantize("x", 0.017, 121), 3, 40, 3), 0.02, 0)
    x = q.quantize(q.conv(x, 40, 72, 3), 0.02, 0)
    for _ in range(2 if has_real_weights else 0):
        weights = q.constant(q.random.normal(0, 0.3, (72, 9, 1, 1)).astype(np.float32))
        x = q.node("Conv", x, weights, kernel_shape=[1, 1], group=8)
    if has_real_weights:
        x = q.quantize(q.node("Relu", x), 0.02, 0)
    x = q.quantize(q.conv(x, 72, 72, 3), 0.02, 0)
    weights = q.random.integers(-127, 128, (20, 72, 1, 1)).astype(np.int8)
    scales = np.geomspace(1e-5, 1e-2, 20)
    image = q.node("Conv", x, q.known(weights, scales), kernel_shape=[1, 1])
    q.save(path, image, [2, 3, 14, 22], [2, 20, 14, 22])


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", INTEGER_SOCS)
@pytest.mark.parametrize("has_real_weights", [False, True])
def test_integers_and_halves_mix_in_a_network(tmp_path, soc, storage, has_real_weights):
    model = tmp_path / "mixed.onnx"
    mixed_network(model, storage, has_real_weights)
    cpu_om, npu_om, text = compile_for_both(model, tmp_path, soc)
    types = [line.split(" type=")[1].split()[0] for line in text.splitlines() if " mmad " in line]
    assert "f16" in types and {"u8", "s8"} & set(types), types
    assert not json.loads(call(tool("om-dump"), npu_om, "--json")[1])["kernels"]
    picture = np.random.default_rng(9).normal(0, 1, (2, 3, 14, 22)).astype(np.float32)
    want, _ = run_dumped(cpu_om, picture, tmp_path / "cpu-0")
    got, _ = run_dumped(npu_om, picture, tmp_path / "npu-0")
    exact = 0
    for name in want.keys() & got.keys():
        if want[name].dtype.kind in "iu":
            # Behind a convolution of f16 a stored integer may be the next one.
            steps = np.abs(want[name].astype(int) - got[name].astype(int))
            assert steps.max() <= has_real_weights and steps.mean() < 0.05, (name, steps.max(), steps.mean())
            exact += not steps.any()
    assert exact
    images = [name for name in want.keys() & got.keys() if want[name].shape == (2, 20, 14, 22)]
    assert images
    for name in images:
        # Channels of all scales; a step of the input is much where its values are small.
        error = np.abs(got[name] - want[name]).max((0, 2, 3)) / np.abs(want[name]).max((0, 2, 3))
        assert error.max() < (0.1 if has_real_weights else 0.001), (name, error)


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_resizes_of_bytes_between_floats_stay_on_the_npu(tmp_path, soc):
    model = tmp_path / "resized.onnx"
    resized_network(model, "uint8", has_real_weights=True)
    cpu_om, npu_om, text = compile_for_both(model, tmp_path, soc)
    assert " requantize" not in text
    assert not json.loads(call(tool("om-dump"), npu_om, "--json")[1])["kernels"]
    picture = np.random.default_rng(9).normal(0, 1, (2, 3, 14, 22)).astype(np.float32)
    want, _ = run_dumped(cpu_om, picture, tmp_path / "cpu-0")
    got, _ = run_dumped(npu_om, picture, tmp_path / "npu-0")
    names = [name for name in sorted(want.keys() & got.keys()) if want[name].dtype == np.uint8]
    assert {(2, 40, 14, 22), (2, 72, 42, 22)} <= {want[name].shape for name in names}  # Behind the resizes.
    for name in names:
        # In f16 a stored integer may be the next one.
        steps = np.abs(want[name].astype(int) - got[name].astype(int))
        assert steps.max() <= 2 and steps.mean() < 0.2, (name, steps.max(), steps.mean())


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_padding_has_the_zero_point(tmp_path, soc, storage):
    """Zeros around a quantized tensor were 127 of 255 where the zero point is beyond that."""
    model, q = tmp_path / "padded.onnx", Quantized(storage, 3)
    x = q.node("Pad", q.quantize("x", 0.017, 232),
               q.constant(np.array([0, 0, 2, 0, 0, 1])))
    q.save(model, x, [1, 4, 5], [1, 4, 8])
    cpu_om, npu_om, _ = compile_for_both(model, tmp_path, soc)
    numbers = np.random.default_rng(4).normal(0, 1, (1, 4, 5)).astype(np.float32)
    want, _ = run_dumped(cpu_om, numbers, tmp_path / "cpu-0")
    got, _ = run_dumped(npu_om, numbers, tmp_path / "npu-0")
    name, = (name for name in want.keys() & got.keys() if want[name].shape == (1, 4, 8)
             and want[name].dtype == np.float32)
    assert not want[name][0, :, :2].any() and not want[name][0, :, 7:].any()
    np.testing.assert_allclose(got[name], want[name], atol=0.02)


def encoder_network(path, storage):
    """A layer of an encoder: products of activations, numbers that an addition and a product read,
    and bytes that are cut into heads. Behind it an image of 13 channels, which are shuffled."""
    q = Quantized(storage, 8)

    def product(value, rows, columns):
        integers = q.random.integers(-127, 128, (rows, columns)).astype(np.int8)
        scale = q.constant(np.float32(2 / 127 / rows ** 0.5))
        return q.node("MatMul", value, q.node("DequantizeLinear", q.constant(integers), scale,
                                              q.constant(np.int8(0))))

    def heads(value, perm):
        parts = q.node("Reshape", value, q.constant(np.array([2, 19, 4, 18])))
        return q.quantize(q.node("Transpose", parts, perm=perm), 0.03, 126)

    x = q.quantize("x", 0.03, 121)
    query, key, value = (heads(q.quantize(product(x, 72, 72), 0.03, 126), perm)
                         for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = q.quantize(q.node("MatMul", query, key), 0.2, 128)
    scores = q.quantize(q.node("Softmax", q.node("Mul", scores, q.constant(np.float32(0.25))), axis=-1),
                        1 / 255, 0)
    parts = q.quantize(q.node("MatMul", scores, value), 0.03, 126)
    parts = q.node("Reshape", q.node("Transpose", parts, perm=[0, 2, 1, 3]),
                   q.constant(np.array([2, 19, 72])))
    x = q.quantize(q.node("Add", x, q.quantize(product(parts, 72, 72), 0.02, 128)), 0.03, 121)
    hidden = q.quantize(q.node("Relu", product(x, 72, 100)), 0.02, 0)
    x = q.quantize(q.node("Add", x, q.quantize(product(hidden, 100, 72), 0.02, 128)), 0.04, 121)
    image = q.node("Reshape", q.node("Slice", x, *(q.constant(np.array([v])) for v in (0, 13, 1))),
                   q.constant(np.array([2, 13, 8, 9])))
    image = q.quantize(image, 0.04, 121)
    image = q.quantize(q.conv(image, 13, 26, 3), 0.03, 0)
    image = q.node("Reshape", image, q.constant(np.array([2, 2, 13, 8, 9])))
    image = q.node("Transpose", image, perm=[0, 2, 1, 3, 4])
    image = q.quantize(q.node("Reshape", image, q.constant(np.array([2, 26, 8, 9]))), 0.03, 0)
    result = q.quantize(q.conv(image, 26, 13, 1), 0.03, 0)
    q.save(path, result, [2, 19, 72], [2, 13, 8, 9])


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("storage", ["uint8", "int8"])
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_quantized_encoder_stays_on_the_npu(tmp_path, soc, storage):
    model = tmp_path / "encoder.onnx"
    encoder_network(model, storage)
    outputs = []
    x = np.random.default_rng(3).normal(0, 1, (2, 19, 72)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    for name, target in (("cpu", "--target=cpu"), ("npu", f"--soc_version={soc}")):
        code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", target,
                              f"--output={tmp_path / name}")
        assert code == 0, out + err
        assert name == "cpu" or "CPU:" not in out, out
        hazards = ["--check-hazards"] if name == "npu" else []
        code, out, err = call(tool("om-run"), tmp_path / f"{name}.om", "--input", tmp_path / "x.npy",
                              "--output", tmp_path / name, *hazards)
        assert code == 0, out + err
        outputs.append(np.load(next((tmp_path / name).glob("*.npy"))))
    # Products of activations read f16: a stored integer may be the next one, and what follows of it.
    steps = np.abs(outputs[0] - outputs[1]) / 0.03
    assert steps.max() <= 3.01 and steps.mean() < 0.2, (steps.max(), steps.mean())
    assert np.ptp(outputs[0]) > 1


def partly_quantized_network(path):
    """Products whose inputs are quantized and whose results are not, as converters write them that
    quantize the operands of products only."""
    q = Quantized(np.int8, 11)
    x = "x"
    for _ in range(3):
        integers = q.random.integers(-127, 128, (64, 64)).astype(np.int8)
        weights = q.node("DequantizeLinear", q.constant(integers), q.constant(np.float32(0.002)),
                         q.constant(np.int8(0)))
        product = q.node("MatMul", q.quantize(x, 0.03, 128), weights)
        x = q.node("Add", q.node("Tanh", product), x)
    # The only product that an epilogue of the cube quantizes again.
    x = q.quantize(q.node("MatMul", q.quantize(x, 0.04, 128), weights), 0.05, 128)
    q.save(path, x, [9, 64], [9, 64])


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
def test_products_with_real_results_stay_on_the_npu(tmp_path):
    model = tmp_path / "partly.onnx"
    partly_quantized_network(model)
    outputs = []
    np.save(tmp_path / "x.npy", np.random.default_rng(4).normal(0, 1, (9, 64)).astype(np.float32))
    for name, target in (("cpu", "--target=cpu"), ("npu", "--soc_version=Ascend310P3")):
        code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", target,
                              f"--output={tmp_path / name}")
        assert code == 0, out + err
        assert name == "cpu" or "CPU:" not in out, out
        code, out, err = call(tool("om-run"), tmp_path / f"{name}.om", "--input", tmp_path / "x.npy",
                              "--output", tmp_path / name)
        assert code == 0, out + err
        outputs.append(np.load(next((tmp_path / name).glob("*.npy"))))
    assert np.abs(outputs[0] - outputs[1]).max() <= 0.1001 and np.ptp(outputs[0]) > 1


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
def test_remarks_say_why_a_quantized_network_is_computed_in_floats(tmp_path):
    """What graph passes do to find out whether the cube can is not in the remarks, and nothing runs on the CPU."""
    for quantized, reason in ((True, "are not rounded to bytes before"), (False, "an operand that is not quantized")):
        q = Quantized(np.uint8, 5)
        x = q.conv(q.quantize("x", 0.02, 128), 32, 32, 1, relu=False)
        x = q.node("Mul", x, q.node("Sigmoid", x))
        q.scales[x] = 0.02
        x = q.quantize(q.conv(q.quantize(x, 0.02, 14) if quantized else x, 32, 32, 1), 0.02, 0)
        q.save(tmp_path / "m.onnx", x, [1, 32, 4, 4], [1, 32, 4, 4])
        code, out, err = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5", "--soc_version=Ascend310P3",
                              f"--output={tmp_path / 'm'}", "--remarks=all")
        assert code == 0, out + err
        ours = [line for line in out.splitlines() if "npu-select-int8-contractions" in line]
        assert all("computed in floats" in line for line in ours), out
        assert any(reason in line for line in ours), out
        assert "is computed on stored integers" not in out and "CPU:" not in out, out


def dynamic_network(path):
    """Two products whose inputs are quantized by their range in each run, with a scale per column of
    the weights."""
    q = Quantized(np.uint8, 5)
    x, parts = "x", []
    for columns, scales in ((64, (1e-5, 6e-5)), (32, (1e-7, 1e-6))):
        integers = q.random.integers(-127, 128, (64, columns)).astype(np.int8)
        factors = q.random.uniform(*scales, columns).astype(np.float32)
        parts.append((integers, factors))
        image, scale, zero = f"q{columns}", f"s{columns}", f"z{columns}"
        q.nodes.append(onnx.helper.make_node("DynamicQuantizeLinear", [x], [image, scale, zero]))
        product = q.node("Mul", scale, q.constant(factors))
        halves = [q.node("Cast", q.node("MatMulInteger", image, q.constant(part), zero), to=onnx.TensorProto.FLOAT)
                  for part in (integers, np.roll(integers, 1, axis=0))]
        x = q.node("Relu", q.node("Add", *(q.node("Mul", half, product) for half in halves)))
    q.save(path, x, [16, 64], [16, 32])
    return parts


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_products_of_tiny_scales_stay_f32(soc, tmp_path):
    """A product of two scales is below the numbers of f16, the sums times it are not."""
    model = tmp_path / "dynamic.onnx"
    parts = dynamic_network(model)
    value = given = np.random.default_rng(4).normal(0, 30, (16, 64)).astype(np.float32)
    for integers, factors in parts:
        least, most = min(value.min(), 0), max(value.max(), 0)
        scale = np.float32((most - least) / np.float32(255))
        assert (scale * factors < 6e-5).all()
        zero = np.round(-least / scale)
        image = np.clip(np.round(value / scale) + zero, 0, 255)
        both = integers.astype(np.float64) + np.roll(integers, 1, axis=0)
        value = np.maximum((image - zero) @ both * (scale * factors), 0).astype(np.float32)
    np.save(tmp_path / "x.npy", given)
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", f"--soc_version={soc}",
                          f"--output={tmp_path / 'npu'}")
    assert code == 0, out + err
    code, out, err = call(tool("om-run"), tmp_path / "npu.om", "--input", tmp_path / "x.npy", "--output", tmp_path / "y")
    assert code == 0, out + err
    result = np.load(next((tmp_path / "y").glob("*.npy")))
    assert 1e-3 < value.max() < 1
    # Rounding of results to f16; a value that is quantized may be the next integer.
    np.testing.assert_allclose(result, value, rtol=2e-3, atol=5e-3 * value.max())


@pytest.mark.skipif(onnx is None, reason="needs the onnx package")
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_scales_of_many_operators_stay_in_their_programs(tmp_path, soc):
    """Beyond max-code of graph-fuse-elementwise constants are operands for the CPU, whose code grows with
    maps; with a zero point as an operand the NPU knows no quantization: a MaxViT had 334 kernels on the CPU."""
    model, q = tmp_path / "scales.onnx", Quantized("uint8", 3)
    x = "x"
    for i in range(340):
        x = q.quantize(x, 0.02 + 1e-5 * i, 121)
        x = q.node("Mul", x, q.quantize(q.node("Sigmoid", x), 1 / (256 + i), 0))
        x = q.node("Add", q.quantize(x, 0.02 + 2e-5 * i, 100), q.constant(np.float32(0.1)))
        x = q.node("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4)
    q.save(model, x, [1, 3, 4, 4], [1, 3, 4, 4])
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", f"--soc_version={soc}", f"--output={tmp_path / 'npu'}",
                          f"--json={tmp_path / 'npu.json'}")
    assert code == 0, out + err
    assert not json.loads((tmp_path / "npu.json").read_text())["placement"]["cpu_layers"]
