#===-- test_caffe.py - Caffe models (--framework=0) ------------------------------------------===//
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers equal NumPy, small nets of the classic kinds equal OpenCV, and errors are clear."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from caffe_nets import Net  # noqa: E402
from caffe_zoo import ZOO  # noqa: E402
from openatc_npu import distances  # noqa: E402
from openatc_tools import ROOT, call, tool  # noqa: E402

EXPECTED = json.loads((ROOT / "test/frontends/caffe/expected.json").read_text())
SHAPE = (2, 6, 5, 7)


def atc(folder, prototxt, weights, *flags, target="--target=cpu"):
    return call(tool("atc"), f"--model={prototxt}", f"--weight={weights}", "--framework=0",
                f"--output={folder / 'out'}", target, *flags)


def compute(folder, net, inputs, *flags, target="--target=cpu"):
    code, out, err = atc(folder, *net.save(folder), *flags, target=target)
    assert code == 0, out + err
    return run(folder, dict(zip(net.inputs, inputs, strict=True)))


def run(folder, inputs):
    """The outputs of out.om by name."""
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
    given = ",".join(f"{name}={folder / name}.npy" for name in inputs)
    code, out, err = call(tool("om-run"), folder / "out.om", "--input", given, "--output",
                          folder / "outputs")
    assert code == 0, out + err
    return {path.stem: np.load(path) for path in (folder / "outputs").glob("*.npy")}


def draw(shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("f4")


#===--- Nets -----------------------------------------------------------------------------------===#


@pytest.mark.parametrize("name", ZOO)
def test_zoo(tmp_path, name):
    net = ZOO[name]()
    outputs = compute(tmp_path, net, [draw(net.inputs["data"])])
    assert sorted(outputs) == sorted(EXPECTED[name])
    for output, expected in EXPECTED[name].items():
        assert list(outputs[output].shape) == expected["shape"]
        got = outputs[output]
        if output == "detection_out":  # Caffe groups by classes, OpenCV does not
            got = got[:, :, np.argsort(-got[0, 0, :, 2], kind="stable")]
        got = got.reshape(-1)[::expected["step"]]
        np.testing.assert_allclose(got, expected["values"], rtol=2e-4, atol=2e-5)


def test_zoo_on_an_npu(tmp_path):
    net = ZOO["resnet"]()
    outputs = compute(tmp_path, net, [draw(net.inputs["data"])], target="--soc_version=Ascend310P3")
    error, cosine = distances(outputs["prob"].reshape(-1), EXPECTED["resnet"]["prob"]["values"])
    assert error < 0.03 and cosine > 0.999


#===--- Layers ---------------------------------------------------------------------------------===#


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def pool(x, kernel, stride, pad, ceil, mean):
    """As Caffe does it: windows begin inside the image or the pad in front of it."""
    n, c, h, w = x.shape

    def count(size):
        room = size + 2 * pad - kernel
        pooled = (-(-room // stride) if ceil else room // stride) + 1
        return pooled - (pad > 0 and (pooled - 1) * stride >= size + pad)
    out = np.zeros((n, c, count(h), count(w)), "f8")
    for y, row in np.ndindex(out.shape[2:]):
        top, left = y * stride - pad, row * stride - pad
        bottom, right = min(top + kernel, h + pad), min(left + kernel, w + pad)
        window = x[:, :, max(top, 0):min(bottom, h), max(left, 0):min(right, w)]
        out[:, :, y, row] = (window.sum((2, 3)) / ((bottom - top) * (right - left)) if mean
                             else window.max((2, 3)))
    return out


POWER = {"power": 2.0, "scale": 0.5, "shift": 3.0}
UNARY = [
    ("ReLU", {}, lambda x: np.maximum(x, 0)),
    ("ReLU", {"relu_param": {"negative_slope": 0.25}}, lambda x: np.where(x > 0, x, x / 4)),
    ("ReLU6", {}, lambda x: np.clip(x, 0, 6)),
    ("ELU", {"elu_param": {"alpha": 0.5}}, lambda x: np.where(x > 0, x, np.expm1(x) / 2)),
    ("Sigmoid", {}, lambda x: 1 / (1 + np.exp(-x))),
    ("TanH", {}, np.tanh),
    ("AbsVal", {}, np.abs),
    ("BNLL", {}, lambda x: np.log1p(np.exp(x))),
    ("Swish", {"swish_param": {"beta": 2.0}}, lambda x: x / (1 + np.exp(-2 * x))),
    ("Clip", {"clip_param": {"min": -0.5, "max": 0.25}}, lambda x: np.clip(x, -0.5, 0.25)),
    ("Power", {"power_param": POWER}, lambda x: (x / 2 + 3) ** 2),
    ("Power", {}, lambda x: x),
    ("Power", {"power_param": {"power": 0.0}}, np.ones_like),
    ("Exp", {"exp_param": {"base": 2.0, "scale": 3.0, "shift": 1.0}}, lambda x: 2 ** (3 * x + 1)),
    ("Exp", {}, np.exp),
    ("Log", {"log_param": {"base": 10.0, "shift": 2.0}}, lambda x: np.log10(x + 2)),
    ("Threshold", {"threshold_param": {"threshold": 0.1}}, lambda x: x > 0.1),
    ("Dropout", {"dropout_param": {"dropout_ratio": 0.9}}, lambda x: x),
    ("Softmax", {}, lambda x: softmax(x, 1)),
    ("Softmax", {"softmax_param": {"axis": -1}}, lambda x: softmax(x, 3)),
    ("LRN", {"lrn_param": {"local_size": 3, "alpha": 2.0, "beta": 0.5, "k": 1.5}},
     lambda x: x / np.sqrt(1.5 + 2 / 3 * sum(
         np.pad(x ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, i:i + 6] for i in range(3)))),
    ("LRN", {"lrn_param": {"local_size": 3, "alpha": 2.0, "norm_region": "WITHIN_CHANNEL"}},
     lambda x: x * (1 + 2 * sum(np.pad(x ** 2, ((0, 0), (0, 0), (1, 1), (1, 1)))[
         :, :, i:i + 5, j:j + 7] for i in range(3) for j in range(3)) / 9) ** -0.75),
    ("MVN", {}, lambda x: (x - x.mean((2, 3), keepdims=True)) / (
        x.std((2, 3), keepdims=True) + 1e-9)),
    ("MVN", {"mvn_param": {"across_channels": True, "normalize_variance": False}},
     lambda x: x - x.mean((1, 2, 3), keepdims=True)),
    ("Flatten", {}, lambda x: x.reshape(2, -1)),
    ("Flatten", {"flatten_param": {"axis": 2, "end_axis": 3}}, lambda x: x.reshape(2, 6, 35)),
    ("Reshape", {"reshape_param": {"shape": {"dim": [0, -1, 5]}}}, lambda x: x.reshape(2, -1, 5)),
    ("Reshape", {"reshape_param": {"shape": {"dim": [3, 2]}, "axis": 1, "num_axes": 1}},
     lambda x: x.reshape(2, 3, 2, 5, 7)),
    ("Permute", {"permute_param": {"order": [0, 2]}}, lambda x: x.transpose(0, 2, 1, 3)),
    ("Tile", {"tile_param": {"axis": 2, "tiles": 3}}, lambda x: np.tile(x, (1, 1, 3, 1))),
    ("ShuffleChannel", {"shuffle_channel_param": {"group": 3}},
     lambda x: x.reshape(2, 3, 2, 35).swapaxes(1, 2).reshape(x.shape)),
    ("ArgMax", {"argmax_param": {"axis": 1}}, lambda x: x.argmax(1)[:, None]),
    ("ArgMax", {"argmax_param": {"top_k": 2, "out_max_val": True}},
     lambda x: np.stack([np.argsort(-x.reshape(2, -1))[:, :2],
                         -np.sort(-x.reshape(2, -1))[:, :2]], 1)),
    ("Reduction", {"reduction_param": {"axis": 1, "coeff": 0.5}}, lambda x: x.sum((1, 2, 3)) / 2),
    ("Reduction", {"reduction_param": {"operation": "ASUM", "axis": 2}},
     lambda x: np.abs(x).sum((2, 3))),
    ("Reduction", {"reduction_param": {"operation": "SUMSQ", "axis": -1}}, lambda x: (x * x).sum(3)),
    ("Reduction", {"reduction_param": {"operation": "MEAN"}}, lambda x: x.mean()),
    ("Upsample", {"upsample_param": {"scale": 2}}, lambda x: x.repeat(2, 2).repeat(2, 3)),
    ("Upsample", {"upsample_param": {"scale": 3.0, "stride": 2}},
     lambda x: 3 * x.repeat(2, 2).repeat(2, 3)),
    ("Mish", {}, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    ("Interp", {"interp_param": {"height": 9, "width": 13}}, lambda x: interp(x, 9, 13)),
    ("Interp", {"interp_param": {"zoom_factor": 2}}, lambda x: interp(x, 9, 13)),
    ("Pooling", {"pooling_param": {"pool": "MAX", "global_pooling": True}},
     lambda x: x.max((2, 3), keepdims=True)),
]


def interp(x, height, width):
    def along(values, size, axis):
        at = np.arange(size) * (values.shape[axis] - 1) / (size - 1)
        low = np.minimum(np.floor(at).astype(int), values.shape[axis] - 2)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        return values.take(low, axis) * (1 - part) + values.take(low + 1, axis) * part
    return along(along(x.astype("f8"), height, 2), width, 3)


@pytest.mark.parametrize("case", range(len(UNARY)), ids=[f"{k}-{i}" for i, (k, *_) in
                                                         enumerate(UNARY)])
def test_one_input(tmp_path, case):
    kind, params, reference = UNARY[case]
    net, x = Net(data=SHAPE), draw(SHAPE)
    net.add(kind, "y", **params)
    got = compute(tmp_path, net, [x])
    assert list(got) == ["y"]
    want = np.asarray(reference(x.astype("f8")), "f4")
    assert got["y"].shape == want.shape
    np.testing.assert_allclose(got["y"], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["MAX", "AVE"])
@pytest.mark.parametrize("kernel, stride, pad, size", [(3, 2, 0, 6), (3, 2, 1, 6), (2, 2, 1, 5),
                                                       (3, 3, 2, 7), (3, 1, 1, 5), (2, 3, 1, 4)])
@pytest.mark.parametrize("ceil", [True, False])
def test_pooling(tmp_path, mode, kernel, stride, pad, size, ceil):
    x = draw((1, 2, size, size + 1))
    net = Net(data=x.shape)
    params = {"pool": mode, "kernel_size": kernel, "stride": stride, "pad": pad}
    net.add("Pooling", "y", pooling_param=params if ceil else params | {"round_mode": "FLOOR"})
    got = compute(tmp_path, net, [x])["y"]
    want = pool(x.astype("f8"), kernel, stride, pad, ceil, mode == "AVE")
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_weights(tmp_path):
    """Layers with weights of their own, one behind the other."""
    x = draw(SHAPE)
    net = Net(data=SHAPE)
    slopes, scale, bias, unit = (net.weights(6) for _ in range(4))
    y = np.where(x > 0, x, x * slopes[:, None, None])
    net.add("PReLU", "prelu", blobs=[slopes])
    y = y * scale[:, None, None] + bias[:, None, None]
    net.add("Scale", "scale", blobs=[scale, bias], scale_param={"bias_term": True})
    y = y + 3 * unit[:, None, None]
    net.add("Bias", "bias", blobs=[3 * unit])
    y = y / np.sqrt((y * y).sum(1, keepdims=True) + 1e-10) * unit[:, None, None]
    net.add("Normalize", "norm", blobs=[unit], norm_param={"across_spatial": False,
                                                           "channel_shared": False})
    matrix, offset = net.weights(4, 7), net.weights(4)
    y = y @ matrix.T + offset
    net.add("InnerProduct", "dense", blobs=[matrix, offset],
            inner_product_param={"num_output": 4, "axis": 3})
    got = compute(tmp_path, net, [x])["dense"]
    np.testing.assert_allclose(got, y, rtol=1e-4, atol=1e-5)


def test_deconvolution(tmp_path):
    x = draw((1, 4, 3, 3))
    net = Net(data=x.shape)
    net.conv("y", 2, 4, 4, kind="Deconvolution", stride=2, pad=1, bias=False)
    weights = net.layers[0][4][0]
    want = np.zeros((1, 2, 8, 8))
    for i, j in np.ndindex(3, 3):
        want[0, :, 2 * i:2 * i + 4, 2 * j:2 * j + 4] += np.einsum(
            "c,cokl->okl", x[0, :, i, j], weights)
    np.testing.assert_allclose(compute(tmp_path, net, [x])["y"], want[:, :, 1:-1, 1:-1],
                               rtol=1e-4, atol=1e-5)


def test_upsampling_by_masks(tmp_path):
    """As SegNet does: each maximum goes back to where it was, also of windows that are cut off."""
    x = draw((2, 3, 5, 6))
    net = Net(data=x.shape)
    net.add("Pooling", "pool", tops=["pool", "mask"], pooling_param={"pool": "MAX", "kernel_size": 2, "stride": 2})
    scale, shift = net.weights(3), net.weights(3)
    net.add("BN", "bn", blobs=[scale.reshape(1, 3, 1, 1), shift.reshape(1, 3, 1, 1)],
            bn_param={"scale_filler": {"type": "constant"}, "bn_mode": "INFERENCE"})
    net.add("Upsample", "up", ["bn", "mask"], upsample_param={"scale": 2.0, "upsample_h": 5, "upsample_w": 6})
    want, mask = np.zeros_like(x), np.zeros((2, 3, 3, 3), "f4")
    for n, c, i, j in np.ndindex(mask.shape):
        window = x[n, c, 2 * i:2 * i + 2, 2 * j:2 * j + 2]
        row, column = np.unravel_index(window.argmax(), window.shape)
        mask[n, c, i, j] = (2 * i + row) * 6 + 2 * j + column
        want[n, c, 2 * i + row, 2 * j + column] = window.max() * scale[c] + shift[c]
    np.testing.assert_allclose(compute(tmp_path, net, [x])["up"], want, rtol=1e-5, atol=1e-6)
    # The mask itself is as Caffe counts.
    net.layers[1:] = []
    np.testing.assert_array_equal(compute(tmp_path, net, [x])["mask"], mask)


@pytest.mark.parametrize("place", [25, -1])
def test_masks_stay_in_their_planes(tmp_path, place):
    x, mask = draw((1, 2, 2, 2)), np.zeros((1, 2, 2, 2), "f4")
    net = Net(data=x.shape, mask=mask.shape)
    net.add("Upsample", "up", ["data", "mask"], upsample_param={"scale": 2.0, "upsample_h": 5, "upsample_w": 5})
    mask[0] = [[[0, 2], [12, 24]]] * 2
    want = np.zeros((1, 2, 5, 5), "f4")
    want[..., 0, 0], want[..., 0, 2], want[..., 2, 2], want[..., 4, 4] = (x[..., i, j] for i, j in np.ndindex(2, 2))
    np.testing.assert_array_equal(compute(tmp_path, net, [x, mask])["up"], want)
    mask[0, 1 if place < 0 else 0, 1, 1] = place
    with pytest.raises(AssertionError, match="'up'.*index -1 is "):
        compute(tmp_path, net, [x, mask])


def test_sizes_of_upsampling_are_bounded(tmp_path):
    net = Net(data=(1, 2, 2, 2))
    net.add("Upsample", "up", upsample_param={"upsample_h": 2 ** 32 - 1, "upsample_w": 2 ** 32 - 1})
    with pytest.raises(AssertionError, match="'up'.*too large"):
        compute(tmp_path, net, [draw((1, 2, 2, 2))])


def test_bn_with_statistics(tmp_path):
    x = draw(SHAPE)
    net = Net(data=SHAPE)
    slope, bias, mean, deviation = (net.weights(6) for _ in range(4))
    net.add("BN", "y", blobs=[slope, bias, mean, deviation ** 2],
            bn_param={"slope_filler": {"type": "constant"}, "frozen": True, "eps": 1e-3})
    slope, bias, mean, deviation = (value[:, None, None] for value in (slope, bias, mean, deviation))
    want = slope * (x - mean) / np.sqrt(deviation ** 2 + 1e-3) + bias
    np.testing.assert_allclose(compute(tmp_path, net, [x])["y"], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["MAX", "AVE"])
@pytest.mark.parametrize("height", [1, 3])
def test_pyramids(tmp_path, mode, height):
    x = draw((2, 3, 7, 10))
    net = Net(data=x.shape)
    net.add("SPP", "out", spp_param={"pyramid_height": height, "pool": mode})
    levels = []
    for bins in (1 << level for level in range(height)):
        kernel = [-(-size // bins) for size in x.shape[2:]]
        pads = [(k * bins - size + 1) // 2 for k, size in zip(kernel, x.shape[2:], strict=True)]
        pooled = np.zeros((2, 3, bins, bins))
        for at in np.ndindex(bins, bins):
            low = [i * k - p for i, k, p in zip(at, kernel, pads, strict=True)]
            high = [min(a + k, size + p) for a, k, size, p in
                    zip(low, kernel, x.shape[2:], pads, strict=True)]
            part = x[:, :, max(low[0], 0):high[0], max(low[1], 0):high[1]]
            pooled[(..., *at)] = part.max((2, 3)) if mode == "MAX" else (
                part.sum((2, 3)) / ((high[0] - low[0]) * (high[1] - low[1])))
        levels.append(pooled if height == 1 else pooled.reshape(2, -1))
    got = compute(tmp_path, net, [x])["out"]
    np.testing.assert_allclose(got, np.concatenate(levels, 1), rtol=1e-5, atol=1e-6)


def test_lookups(tmp_path):
    net = Net(words=(2, 3), order=(3,))
    table, bias, more = draw((7, 4)), draw(4, 1), draw((1, 3, 4), 2)
    net.add("Embed", "rows", blobs=[table, bias], embed_param={"input_dim": 7, "num_output": 4})
    net.add("Parameter", "more", [], blobs=[more],
            parameter_param={"shape": {"dim": list(more.shape)}})
    net.add("Concat", "joined", ["rows", "more"], concat_param={"axis": 0})
    net.add("BatchReindex", "out", ["joined", "order"])
    words, order = np.array([[0, 6, 2], [5, 5, 1]], "f4"), np.array([2, 0, 2], "f4")
    got = compute(tmp_path, net, [words, order])["out"]
    expected = np.concatenate([table[words.astype(int)] + bias, more])[order.astype(int)]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def recur(kind, x, goes_on, fixed, states, blobs):
    """As Caffe unrolls it; the weights of `fixed` are there where it is."""
    blobs = list(blobs)
    steps, batch = x.shape[:2]
    sums = x.reshape(steps, batch, -1) @ blobs.pop(0).T + blobs.pop(0)
    if fixed is not None:
        sums = sums + fixed.reshape(batch, -1) @ blobs.pop(0).T
    recurrent, results = blobs.pop(0), []
    for total, on in zip(sums, goes_on[..., None], strict=True):
        total = total + (on * states[0]) @ recurrent.T
        if kind == "RNN":
            states = [np.tanh(total)]
            results.append(np.tanh(states[0] @ blobs[0].T + blobs[1]))
        else:
            i, f, o, g = np.split(total, 4, 1)
            i, f, o = (1 / (1 + np.exp(-value)) for value in (i, f, o))
            cell = on * f * states[1] + i * np.tanh(g)
            states = [o * np.tanh(cell), cell]
            results.append(states[0])
    return [np.stack(results), *(state[None] for state in states)]


@pytest.mark.parametrize("kind", ["LSTM", "RNN"])
@pytest.mark.parametrize("has_all", [False, True])
def test_recurrence(tmp_path, kind, has_all):
    states, gates = (2, 4) if kind == "LSTM" else (1, 1)
    inputs = {"x": (4, 2, 3, 2), "cont": (4, 2)}
    inputs |= {"fixed": (2, 5), **{f"s{i}": (1, 2, 3) for i in range(states)}} if has_all else {}
    net = Net(**inputs)
    shapes = [(gates * 3, 6), (gates * 3,), *([(gates * 3, 5)] if has_all else []), (gates * 3, 3),
              *([(3, 3), (3,)] if kind == "RNN" else [])]
    blobs = [draw(shape, seed) for seed, shape in enumerate(shapes)]
    tops = ["out", *(f"last{i}" for i in range(states) if has_all)]
    net.add(kind, "recurrent", list(inputs), tops, blobs,
            recurrent_param={"num_output": 3, "expose_hidden": has_all})
    values = {name: draw(shape, 9) for name, shape in inputs.items()}
    values["cont"] = np.array([[0, 1], [1, 1], [0, 1], [1, 0]], "f4")
    got = compute(tmp_path, net, values.values())
    first = [values[f"s{i}"][0] if has_all else np.zeros((2, 3)) for i in range(states)]
    expected = recur(kind, values["x"], values["cont"], values.get("fixed"), first, blobs)
    for name, value in zip(tops, expected, strict=False):
        np.testing.assert_allclose(got[name], value, rtol=1e-4, atol=1e-5)


def test_several_inputs(tmp_path):
    a, b = draw(SHAPE, 1), draw(SHAPE, 2)
    net = Net(a=SHAPE, b=SHAPE)
    net.add("Eltwise", "sum", ["a", "b"], eltwise_param={"operation": "SUM", "coeff": [2.0, -1.0]})
    net.add("Eltwise", "product", ["a", "b"], eltwise_param={"operation": "PROD"})
    net.add("Eltwise", "max", ["a", "b"], eltwise_param={"operation": "MAX"})
    net.add("Slice", "cut", ["a"], ["first", "second", "third"],
            slice_param={"axis": 1, "slice_point": [1, 4]})
    net.add("Concat", "joined", ["third", "first"])
    net.add("Crop", "crop", ["b", "third"], crop_param={"axis": 1, "offset": [3, 0, 0]})
    net.add("Pooling", "mean", ["a"], pooling_param={"pool": "AVE", "global_pooling": True})
    net.add("Axpy", "axpy", ["mean", "a", "b"])
    net.add("Split", "split", ["second"], ["copy0", "copy1"])
    net.add("Silence", "silence", ["copy1"], [])
    got = compute(tmp_path, net, [a, b])
    want = {"sum": 2 * a - b, "product": a * b, "max": np.maximum(a, b),
            "joined": np.concatenate([a[:, 4:], a[:, :1]], 1), "crop": b[:, 3:5],
            "axpy": a.mean((2, 3), keepdims=True) * a + b, "copy0": a[:, 1:4]}
    assert sorted(got) == sorted(want)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def test_fixed_detections(tmp_path):
    """The Ascend toolchain's SSDDetectionOutput has the rows of DetectionOutput."""
    net = ZOO["mobilenet_ssd"]()
    *_, (_, _, bottoms, _, _, params) = net.layers
    rows = compute(tmp_path, net, [draw(net.inputs["data"])])["detection_out"][0, 0]
    net.layers.pop()
    p = params["detection_output_param"]
    net.add("SSDDetectionOutput", "ssd", bottoms, ["out_boxnum", "y"], ssddetectionoutput_param={
        "num_classes": 3, "iou_threshold": p["nms_param"]["nms_threshold"],
        "top_k": p["nms_param"]["top_k"], "keep_top_k": p["keep_top_k"] + 20, "code_type": 2,
        "confidence_threshold": p["confidence_threshold"]})
    got = compute(tmp_path, net, [draw(net.inputs["data"])])
    count = got["out_boxnum"][0, 0]
    assert got["out_boxnum"].shape == (1, 8) and got["y"].shape == (1, p["keep_top_k"] + 20, 8)
    assert count >= len(rows) == p["keep_top_k"]
    table = {tuple(row) for row in got["y"][0, :count, :7]}
    assert table.issuperset(tuple(row) for row in rows)
    assert not got["y"][0, count:].any() and not got["y"][..., 7].any()


def test_reorg(tmp_path):
    """What YOLOv2's reorganization gives, by its own loops."""
    n, c, h, w, s = 1, 8, 4, 6, 2
    x = np.arange(n * c * h * w, dtype="f4").reshape(n, c, h, w)
    net = Net(data=x.shape)
    net.add("Reorg", "y", reorg_param={"stride": s})
    wide = x.reshape(n, c * h // (s * s), s, w, s)
    want = wide.transpose(0, 2, 4, 1, 3).reshape(n, c * s * s, h // s, w // s)
    np.testing.assert_array_equal(compute(tmp_path, net, [x])["y"], want)


def test_roi_pooling(tmp_path):
    x = draw((1, 2, 8, 8))
    regions = np.array([[0, 0, 0, 14, 14], [0, 4, 2, 9, 15]], "f4")
    net = Net(data=x.shape, rois=regions.shape)
    net.add("ROIPooling", "y", ["data", "rois"],
            roi_pooling_param={"pooled_h": 2, "pooled_w": 2, "spatial_scale": 0.5})
    got = compute(tmp_path, net, [x, regions])["y"]
    np.testing.assert_allclose(got[0, :, 0, 0], x[0, :, 0:4, 0:4].max((1, 2)), rtol=1e-6)
    np.testing.assert_allclose(got[0, :, 1, 1], x[0, :, 4:8, 4:8].max((1, 2)), rtol=1e-6)
    assert got.shape == (2, 2, 2, 2)


#===--- Files ----------------------------------------------------------------------------------===#

INPUT = ('layer { name: "in" type: "Input" top: "data" '
         "input_param { shape: { dim: 1 dim: 4 dim: 8 dim: 8 } } }\n")
RELU = 'layer { name: "relu" type: "ReLU" bottom: "data" top: "y" }\n'


def import_text(folder, text, *flags, net=None):
    (folder / "a.prototxt").write_text(text)
    (folder / "a.caffemodel").write_bytes((net or ZOO["vgg"]()).caffemodel())
    return atc(folder, folder / "a.prototxt", folder / "a.caffemodel", *flags)


def shape_of(folder, name="data"):
    code, out, _ = call(tool("om-dump"), folder / "out.om", "--json")
    assert code == 0
    return next(t["dims"] for t in json.loads(out)["tensors"] if t["name"] == name)


def test_phases(tmp_path):
    code, out, _ = import_text(tmp_path, INPUT + RELU + '''
        layer { name: "train" type: "Data" top: "data" include { phase: TRAIN }
                data_param { source: "x" batch_size: 32 backend: LMDB } }
        layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss"
                exclude { phase: TEST } }
        layer { name: "staged" type: "Python" include { stage: "debug" } }''')
    assert code == 0, out


def test_input_shape(tmp_path):
    for flag in ("--input_shape=data:3,4,6,6", "--input_shape=in:3,4,6,6"):
        code, out, _ = import_text(tmp_path, INPUT + RELU, flag)
        assert code == 0, out
        assert shape_of(tmp_path) == [3, 4, 6, 6]


def test_batch_of_any_size(tmp_path):
    net = ZOO["googlenet"]()
    code, out, _ = atc(tmp_path, *net.save(tmp_path), "--input_shape=data:-1,3,63,63")
    assert code == 0, out
    images = draw((3, 3, 63, 63))
    got = run(tmp_path, {"data": images})["prob"]
    one = compute(tmp_path, net, [images[2:]])["prob"]
    np.testing.assert_allclose(got[2:], one, rtol=1e-4, atol=1e-6)


def test_out_nodes(tmp_path):
    """Layers behind what is asked for may be of any type."""
    text = INPUT + RELU + 'layer { name: "own" type: "Mine" bottom: "y" top: "z" }\n'
    for node in ("relu:0", "y"):
        code, out, _ = import_text(tmp_path, text, f"--out_nodes={node}")
        assert code == 0, out


def test_out_nodes_in_front_of_a_layer_that_works_in_place(tmp_path):
    """The layer gives what it makes, and not what a later one makes of it."""
    net = Net(data=(1, 3, 6, 6))
    net.conv("conv", 4, 3, 3)
    net.relu("relu")
    net.dense("dense", 5, 4 * 4 * 4)
    x = draw((1, 3, 6, 6))
    code, out, _ = atc(tmp_path, *net.save(tmp_path), "--out_nodes=conv:0")
    assert code == 0, out
    (alone,) = run(tmp_path, {"data": x}).values()
    code, out, _ = atc(tmp_path, *net.save(tmp_path), "--out_nodes=conv:0;relu:0")
    assert code == 0, out
    both = sorted(run(tmp_path, {"data": x}).values(), key=lambda values: values.min())
    assert alone.min() < 0 <= both[1].min()
    np.testing.assert_array_equal(alone, both[0])
    np.testing.assert_array_equal(np.maximum(alone, 0), both[1])


def test_shared_weights(tmp_path):
    """A layer without weights takes those of the layer that names its parameters alike."""
    x = draw((1, 5))
    net = Net(data=x.shape)
    names = {"param": [{"name": "w"}, {"name": "b"}]}
    first = net.weights(5, 5), net.weights(5)
    dense = {"inner_product_param": {"num_output": 5}}
    net.add("InnerProduct", "one", blobs=first, **names, **dense)
    net.add("InnerProduct", "two", **names, **dense)
    want = (x @ first[0].T + first[1]) @ first[0].T + first[1]
    np.testing.assert_allclose(compute(tmp_path, net, [x])["two"], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("text, expected", [
    ("", ["E13003"]),
    ("layer { name: ", ["E13018: ", "a.prototxt:1: this '{' is not closed"]),
    ('name: "x"', ["E16004: "]),
    (INPUT + RELU.replace('"data" top', '"none" top'),
     ["E16001: bottom 'none' of layer 'relu' is made by no layer"]),
    (INPUT + RELU + RELU, ["E13009: two layers have the name 'relu'"]),
    (INPUT + 'layer { name: "c" type: "Convolution" bottom: "data" top: "y" '
     "convolution_param { num_output: 2 kernel: 3 } }", ["E13018: ", "a.prototxt:2: 'kernel' is "
                                                         "not a field of ConvolutionParameter"]),
    (INPUT + 'layer { name: "a" type: "Mine" bottom: "data" top: "a" mine_param { k: 3 } }\n'
     'layer { name: "b" type: "Mine" bottom: "a" top: "b" }\n'
     'layer { name: "c" type: "SoftmaxWithLoss" bottom: "b" top: "c" }\n'
     'layer { name: "d" type: "Tile" bottom: "data" top: "d" }',
     ["E13010: ", "Mine x2 (a, b)", "SoftmaxWithLoss x1 [is for training", "E14001: layer 'd' "
      "(Tile): tiles 0 must be 1 or more"]),
    ("layers { layer { name: 'c' type: 'conv' } }", ["E13018: ", "V0"]),
    ('input: "data" input_dim: 1 input_dim: 3\n' + RELU, ["E13018: ", "2 input_dim for 1 inputs"]),
    ('input: "data"\n' + RELU, ["E10002: input 'data' has no shape"]),
    ('input: "data" input_shape { dim: 1 dim: -5 }\n' + RELU, ["E14001: input 'data' has the dim -5: expected"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { kernel_size: 2 kernel_h: 3 } }',
     ["E14001: layer 'p' (Pooling): kernel_size is given together with kernel_h; give either kernel_size, or kernel_h and kernel_w"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { kernel_size: 2 stride: 1 stride_w: 2 } }',
     ["E14001: layer 'p' (Pooling): stride is given together with stride_w; give either stride, or stride_h and stride_w"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { kernel_size: 2 stride_h: 2 } }',
     ["E14001: layer 'p' (Pooling): stride_h is given without stride_w; give either stride, or stride_h and stride_w"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { kernel_size: 2 pad_w: 1 } }',
     ["E14001: layer 'p' (Pooling): pad_w is given without pad_h; give either pad, or pad_h and pad_w"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { kernel_h: 2 } }',
     ["E14001: layer 'p' (Pooling): kernel_h is given without kernel_w"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { global_pooling: true kernel_size: 2 } }',
     ["E14001: layer 'p' (Pooling): global_pooling takes the whole image, but kernel_size, kernel_h or kernel_w is given too"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" top: "m" pooling_param { pool: AVE kernel_size: 2 } }',
     ["E14001: layer 'p' (Pooling): only a MAX pool of windows has a second top, its mask"]),
    (INPUT + 'layer { name: "fc6" type: "BN" bottom: "data" top: "y" }',
     ["E14001: layer 'fc6' (BN): bn_mode: LEARN computes statistics of the batch"]),
    (INPUT + 'layer { name: "p" type: "Convolution" bottom: "data" top: "y" convolution_param { num_output: 1 kernel_size: 1 kernel_h: 1 kernel_w: 1 } }',
     ["E14001: layer 'p' (Convolution): kernel_size is given together with kernel_h"]),
    (INPUT + 'layer { name: "p" type: "Convolution" bottom: "data" top: "y" convolution_param { num_output: 1 kernel_size: 1 pad: 0 pad_w: 1 } }',
     ["E14001: layer 'p' (Convolution): pad is given together with pad_w"]),
    (INPUT + 'layer { name: "p" type: "Pooling" bottom: "data" top: "y" pooling_param { kernel_size: 4294967295 } }',
     ["E14001: layer 'p' (Pooling): kernel_size 4294967295 is not allowed, expected 1 to 1048576"]),
    (INPUT + 'layer { name: "fc6" type: "InnerProduct" bottom: "data" top: "y" '
     "inner_product_param { num_output: 64 } }",
     ["E14001: layer 'fc6' (InnerProduct): its weights 0 have 8192 elements [1, 1, 64, 128], "
      "expected 16384 [64, 256]"]),
    (INPUT + 'layer { name: "new" type: "InnerProduct" bottom: "data" top: "y" '
     "inner_product_param { num_output: 64 } }",
     ["E14001: layer 'new' (InnerProduct): its weights 0 are not in the .caffemodel"]),
])
def test_errors(tmp_path, text, expected):
    code, out, err = import_text(tmp_path, text)
    assert code == 1 and not err
    for words in expected:
        assert words in out
    assert not (tmp_path / "out.om").exists()


def test_bad_weights(tmp_path):
    (tmp_path / "a.prototxt").write_text(INPUT + RELU)
    command = [tool("atc"), f"--model={tmp_path / 'a.prototxt'}", "--framework=0",
               f"--output={tmp_path / 'out'}", "--target=cpu"]
    code, out, _ = call(*command)
    assert code == 1 and "E10008" in out
    code, out, _ = call(*command, f"--weight={tmp_path / 'none'}")
    assert code == 1 and "E10410" in out
    # Exchanged: neither is read as what it is not.
    (tmp_path / "net.caffemodel").write_bytes(ZOO["vgg"]().caffemodel())
    code, out, _ = call(tool("atc"), f"--model={tmp_path / 'net.caffemodel'}", f"--weight={tmp_path / 'a.prototxt'}",
                        "--framework=0", f"--output={tmp_path / 'out'}", "--target=cpu")
    errors = [line for line in out.splitlines() if line.startswith("E")]
    assert code == 1 and [line[:6] for line in errors] == ["E13005", "E13005"], out
    assert "a file of Caffe weights" in out and "of --weight is a Caffe prototxt" in out
    data = ZOO["vgg"]().caffemodel()
    for content, word in ((b"\xff" * 40, "E13005"), (data[:-9], "E13005"), (b"", "E13003"),
                          (b"\n\x01x", "has no layers")):
        (tmp_path / "w").write_bytes(content)
        code, out, err = call(*command, f"--weight={tmp_path / 'w'}")
        assert code == 1 and word in out and not err
    # As many elements as 64 bits count: none.
    net = Net(data=(1, 2**31, 2, 2))
    net.add("InnerProduct", "d", blobs=[np.zeros(0, "f4")], inner_product_param={"num_output": 2**31, "bias_term": False})
    assert "its weights 0 have 0 elements [0], expected 9223" in atc(tmp_path, *net.save(tmp_path))[1]
