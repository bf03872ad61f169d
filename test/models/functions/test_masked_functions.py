"""Operators of com.microsoft with masks and lengths, for fixed and dynamic dims. The rules are those
of ONNX Runtime's kernels for the CPU."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from test_known_functions import call, check_one, tool, write  # noqa: E402

RNG = np.random.default_rng(6)


def normal(*shape):
    return RNG.standard_normal(shape).astype("f4")


def masked_pool(x, mask, kernel, strides, pads):
    """Pixel for pixel; in a row of a window a mask of 0 hides the rest, except at pixel 0."""
    images, channels, height, width = x.shape
    planes, pixels = mask.shape[0] * mask.shape[1], height * width
    rows = (height + pads[0] + pads[2] - kernel[0]) // strides[0] + 1
    columns = (width + pads[1] + pads[3] - kernel[1]) // strides[1] + 1
    y = np.full((images, channels, rows, columns), np.finfo("f4").min, "f4")
    for b, c, i, j in np.ndindex(y.shape):
        first = (b * channels + c) * pixels % planes
        plane = mask.reshape(-1)[first:first + pixels].reshape(height, width)
        top, left = i * strides[0] - pads[0], j * strides[1] - pads[1]
        for h in range(max(top, 0), min(top + kernel[0], height)):
            for w in range(max(left, 0), min(left + kernel[1], width)):
                if (h, w) != (0, 0) and plane[h, w] == 0:
                    break
                y[b, c, i, j] = max(y[b, c, i, j], x[b, c, h, w])
    return y


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("planes", [(2, 3), (1, 3), (1, 1)])
@pytest.mark.parametrize("kernel, strides, pads", [((2, 3), (1, 1), (0, 0, 0, 0)), ((3, 2), (2, 3), (1, 1, 1, 0)),
                                                   ((1, 1), (2, 1), (0, 0, 0, 0))])
def test_pool_with_mask(tmp_path, kernel, strides, pads, planes, dynamic):
    x, mask = normal(2, 3, 6, 7), (RNG.random((*planes, 6, 7)) < 0.6).astype("i4")
    check_one(tmp_path, "MaxpoolWithMask", ["x", "m"], {"x": x, "m": mask}, {},
              {"y": masked_pool(x, mask, kernel, strides, pads)}, dynamic, kernel_shape=kernel,
              strides=strides, pads=pads)


@pytest.mark.parametrize("attributes, named", [(dict(kernel_shape=[2]), "kernel_shape"), ({}, "kernel_shape"),
                                               (dict(kernel_shape=[2, 2], auto_pad="SAME_UPPER"), "auto_pad")])
def test_other_windows_are_refused(tmp_path, attributes, named):
    write(tmp_path / "one.onnx", "MaxpoolWithMask", ["x", "m"],
          {"x": normal(1, 1, 4, 4), "m": np.ones((1, 1, 4, 4), "i4")}, {}, False,
          [("y", onnx.TensorProto.FLOAT)], **attributes)
    code, out, err = call(tool("atc"), f"--model={tmp_path}/one.onnx", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code != 0 and f"attribute '{named}'" in out + err, out + err


@pytest.mark.parametrize("shape", [(1, 1, 2, 2), (1, 1, 8, 8)])
def test_masks_of_other_planes_are_refused(tmp_path, shape):
    write(tmp_path / "one.onnx", "MaxpoolWithMask", ["x", "m"], {"x": normal(2, 3, 4, 4), "m": np.ones(shape, "i4")}, {},
          False, [("y", onnx.TensorProto.FLOAT)], kernel_shape=[2, 2])
    code, out, err = call(tool("atc"), f"--model={tmp_path}/one.onnx", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code != 0 and "E1" in out + err, out + err


def embedded(words, filters, bias, characters):
    window, y = filters.shape[2], np.zeros((len(words), len(filters)), "f4")
    for row, result in zip(words, y):
        if row[0] > 0:
            length, vectors = max((row > 0).sum(), window), characters[row]
            result[:] = np.max([np.tanh((vectors[i:i + window] * filters[:, 0]).sum((1, 2)) + bias)
                                for i in range(length - window + 1)], axis=0)
    return y


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("window", [1, 3])
def test_vectors_of_words(tmp_path, window, dynamic):
    """Of full words, words shorter than the window, with gaps, and empty ones."""
    words = np.array([[1, 2, 3, 4, 5], [5, 0, 0, 0, 0], [2, 0, 3, 0, 1], [0, 0, 0, 0, 0]], "i4")
    constants = {"w": normal(4, 1, window, 3), "b": normal(4), "c": normal(6, 3)}
    check_one(tmp_path, "WordConvEmbedding", ["x", "w", "b", "c"], {"x": words}, constants,
              {"y": embedded(words, *constants.values())}, dynamic, conv_window_size=window,
              embedding_size=4, char_embedding_size=3)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("filters", ["stored", "computed"])
@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", "Tanh"])
def test_fused_convolution_of_a_computed_bias(tmp_path, activation, filters, dynamic):
    feeds = {"x": normal(1, 4, 5, 5), "b": normal(3)}
    weights = {"w": normal(3, 4, 1, 1)}
    sums = np.einsum("nchw,kc->nkhw", feeds["x"], weights["w"][:, :, 0, 0]) + feeds["b"][:, None, None]
    want = {"Relu": np.maximum(sums, 0), "Tanh": np.tanh(sums),
            "Sigmoid": 1 / (1 + np.exp(-sums))}[activation]
    stored = filters == "stored"
    check_one(tmp_path, "FusedConv", ["x", "w", "b"], feeds if stored else feeds | weights,
              weights if stored else {}, {"y": want.astype("f4")}, dynamic, activation=activation)
