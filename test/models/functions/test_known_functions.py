"""Operators of com.microsoft that are imported as functions of standard operators, for fixed and
dynamic dims."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, mapping, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, tool  # noqa: E402

RNG = np.random.default_rng(3)


def write(path, op, inputs, feeds, constants, dynamic, outputs, domain="com.microsoft", **attributes):
    """Writes a model of one node; `outputs` are (name, element type)."""
    values = [helper.make_tensor_value_info(
        name, mapping.NP_TYPE_TO_TENSOR_TYPE[feed.dtype],
        [f"d{name}{i}" for i in range(feed.ndim)] if dynamic else feed.shape)
        for name, feed in feeds.items()]
    graph = helper.make_graph(
        [helper.make_node(op, inputs, [name for name, _ in outputs], op, domain=domain,
                          **attributes)], "g", values,
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15),
                                                      helper.make_opsetid("com.microsoft", 1)]), path)


def run(path, folder, feeds):
    session = Session(RUNTIME, compile_model(path, folder), threads=1)
    got = session.run_values(feeds)
    session.close()
    return got


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("per_gate", [False, True])
def test_lstm_of_integers(tmp_path, per_gate, dynamic):
    """It is the LSTM of what its integers stand for, with the other order of dims."""
    directions, hidden, size = 2, 5, 4
    shape = (directions, 4 * hidden) if per_gate else (directions,)
    constants = {"B": RNG.standard_normal((directions, 8 * hidden)).astype("f4")}
    real = dict(constants)
    for name, rows in (("W", size), ("R", hidden)):
        integers = RNG.integers(0, 256, (directions, rows, 4 * hidden)).astype("u1")
        scale = (RNG.random(shape) * 0.01 + 0.002).astype("f4")
        zero = RNG.integers(100, 150, shape).astype("u1")
        constants |= {name: integers, name + "s": scale, name + "z": zero}
        fields = [value.astype("f4").reshape(directions, 1, -1) for value in (zero, scale)]
        real[name] = ((integers - fields[0]) * fields[1]).transpose(0, 2, 1).astype("f4")
    feeds = {"X": RNG.standard_normal((6, 3, size)).astype("f4"),
             "h": RNG.standard_normal((directions, 3, hidden)).astype("f4")}
    outputs = [(name, onnx.TensorProto.FLOAT) for name in ("Y", "last", "cell")]
    attributes = dict(hidden_size=hidden, direction="bidirectional")
    write(tmp_path / "integers.onnx", "DynamicQuantizeLSTM",
          ["X", "W", "R", "B", "", "h", "", "", "Ws", "Wz", "Rs", "Rz"], feeds, constants, dynamic,
          outputs, **attributes)
    write(tmp_path / "reals.onnx", "LSTM", ["X", "W", "R", "B", "", "h"], feeds, real, dynamic,
          outputs, domain="", **attributes)
    got = run(tmp_path / "integers.onnx", tmp_path, feeds)
    want = run(tmp_path / "reals.onnx", tmp_path, feeds)
    for name, _ in outputs:
        np.testing.assert_allclose(got[name], want[name], atol=1e-5, err_msg=name)


@pytest.mark.parametrize("dynamic", [False, True])
def test_where_of_integers(tmp_path, dynamic):
    feeds = {"c": RNG.random((3, 4)) > 0.5, "x": RNG.integers(0, 256, (3, 4)).astype("u1"),
             "y": RNG.integers(0, 256, (1, 4)).astype("u1")}
    constants = {"xs": np.float32(0.02), "xz": np.uint8(7), "ys": np.float32(0.03),
                 "yz": np.uint8(100), "zs": np.float32(0.025), "zz": np.uint8(50)}
    write(tmp_path / "where.onnx", "QLinearWhere",
          ["c", "x", "xs", "xz", "y", "ys", "yz", "zs", "zz"], feeds,
          {name: np.asarray(value) for name, value in constants.items()}, dynamic,
          [("z", onnx.TensorProto.UINT8)])
    real = np.where(feeds["c"], (feeds["x"].astype("f4") - 7) * 0.02,
                    (feeds["y"].astype("f4") - 100) * 0.03)
    want = np.clip(np.rint(real / 0.025) + 50, 0, 255)
    got = run(tmp_path / "where.onnx", tmp_path, feeds)["z"]
    assert got.dtype == np.uint8
    assert np.abs(got.astype(int) - want).max() <= 1 and np.mean(got == want) > 0.8


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("metric", [None, "sqeuclidean", "euclidean"])
def test_distances(tmp_path, metric, dynamic):
    a, b = (RNG.standard_normal(shape).astype("f4") for shape in ((6, 5), (7, 5)))
    write(tmp_path / "distances.onnx", "CDist", ["a", "b"], {"a": a}, {"b": b}, dynamic,
          [("c", onnx.TensorProto.FLOAT)], **({"metric": metric} if metric else {}))
    want = np.square(a[:, None] - b[None]).sum(-1)
    got = run(tmp_path / "distances.onnx", tmp_path, {"a": a})["c"]
    np.testing.assert_allclose(got, np.sqrt(want) if metric == "euclidean" else want, rtol=1e-5)


def test_unknown_metric_is_refused(tmp_path):
    a = np.zeros((2, 3), np.float32)
    write(tmp_path / "distances.onnx", "CDist", ["a", "a"], {"a": a}, {}, False,
          [("c", onnx.TensorProto.FLOAT)], metric="cosine")
    code, out, err = call(tool("atc"), f"--model={tmp_path}/distances.onnx", "--framework=5",
                          "--target=cpu", f"--output={tmp_path}/model")
    assert code != 0 and "E14001" in out + err and "attribute 'metric' is 'cosine'" in out + err


def check_one(folder, op, inputs, feeds, constants, want, dynamic, atol=1e-5, **options):
    """Compares the outputs of one node, by their names in `want`."""
    constants = {name: np.asarray(value) for name, value in constants.items()}
    kinds = [(name, mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype]) for name, value in want.items()]
    write(folder / "one.onnx", op, inputs, feeds, constants, dynamic, kinds, **options)
    got = run(folder / "one.onnx", folder, feeds)
    for name, value in want.items():
        assert got[name].dtype == value.dtype and got[name].shape == value.shape
        np.testing.assert_allclose(got[name], value, atol=atol, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("kind", ["relu", "silu", "swiglu"])
def test_mixture_of_experts(tmp_path, kind, dynamic):
    """The tokens go to two experts, each with its share; gates stand beside what they open."""
    experts, width, inner, tokens = 4, 8, 6, 5
    x, router = (RNG.standard_normal((tokens, n)).astype("f4") for n in (width, experts))
    first = inner * (2 if kind == "swiglu" else 1)
    constants = {name: RNG.standard_normal(shape).astype("f4") for name, shape in (
        ("w1", (experts, first, width)), ("b1", (experts, first)), ("w2", (experts, width, inner)),
        ("b2", (experts, width)))}
    attributes = dict(activation_alpha=1.7, activation_beta=1.0, swiglu_fusion=1, swiglu_limit=1.5,
                      normalize_routing_weights=1) if kind == "swiglu" else {}
    odds = np.exp(router) / np.exp(router).sum(-1, keepdims=True)
    want = np.zeros((tokens, width))
    for token in range(tokens):
        chosen = np.argsort(-odds[token])[:2]
        for expert in chosen:
            h = constants["w1"][expert] @ x[token] + constants["b1"][expert]
            if kind == "relu":
                h = np.maximum(h, 0)
            elif kind == "silu":
                h = h / (1 + np.exp(-h))
            else:
                gate, linear = np.minimum(h[::2], 1.5), np.clip(h[1::2], -1.5, 1.5)
                h = gate / (1 + np.exp(-1.7 * gate)) * (linear + 1)
            share = odds[token, expert] / (odds[token, chosen].sum() if kind == "swiglu" else 1)
            want[token] += share * (constants["w2"][expert] @ h + constants["b2"][expert])
    check_one(tmp_path, "MoE", ["x", "r", "w1", "b1", "w2", "b2"], {"x": x, "r": router}, constants,
              {"y": want.astype("f4")}, dynamic, k=2, activation_type=kind, atol=2e-5, **attributes)


def unpacked(packed, bits):
    """The integers of bytes; of 4 bits the lower half of a byte is the first."""
    halves = np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)
    return (packed if bits == 8 else halves).astype("f8")


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("block, has_zero", [(0, False), (0, True), (16, True)])
def test_mixture_of_integers(tmp_path, block, has_zero, bits):
    """Scales and zeros of rows or of blocks; the shares of the chosen experts sum up to 1. With
    three blocks and 4 bits, half of a row's last byte of zeros belongs to nothing."""
    experts, width, inner, tokens = 3, 48, 16, 5
    x, router = (RNG.standard_normal((tokens, n)).astype("f4") for n in (width, experts))
    constants, real = {}, {}
    for layer, rows, depth in (("1", inner, width), ("2", width, inner)):
        packed = RNG.integers(0, 256, (experts, rows, depth * bits // 8)).astype("u1")
        shape = (experts, rows, depth // block) if block else (experts, rows)
        zero = RNG.integers(0, 256, (*shape[:-1], (shape[-1] * bits + 7) // 8)).astype("u1")
        scale = (RNG.random(shape) * .02 + .005).astype("f4")
        constants |= {"w" + layer: packed, "s" + layer: scale,
                      "b" + layer: RNG.standard_normal((experts, rows)).astype("f4")}
        zeros = np.full(shape, 8 if bits == 4 else 128)
        if has_zero:
            constants["z" + layer], zeros = zero, unpacked(zero, bits)[..., :shape[-1]]
        wide = [np.repeat(value[..., None] if not block else value, block or depth, -1)
                for value in (scale, zeros)]
        real["w" + layer] = (unpacked(packed, bits) - wide[1]) * wide[0]
    want = np.zeros((tokens, width))
    for token in range(tokens):
        chosen = np.argsort(-router[token])[:2]
        odds = np.exp(router[token, chosen])
        for expert, share in zip(chosen, odds / odds.sum()):
            h = np.maximum(real["w1"][expert] @ x[token] + constants["b1"][expert], 0)
            want[token] += share * (real["w2"][expert] @ h + constants["b2"][expert])
    inputs = ["x", "r", "w1", "s1", "b1", "w2", "s2", "b2"] + has_zero * ["", "", "", "z1", "z2"]
    options = dict(block_size=block) if block else {}
    check_one(tmp_path, "QMoE", inputs, {"x": x, "r": router}, constants, {"y": want.astype("f4")},
              False, k=2, activation_type="relu", expert_weight_bits=bits, atol=2e-3, **options)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("size, length", [(1, 5), (2, 9), (3, 9), (4, 2)])
def test_repeated_tokens(tmp_path, size, length, dynamic):
    """A row may be too short for what it could repeat."""
    ids, scores = RNG.integers(0, 3, (4, length)), RNG.standard_normal((4, 6)).astype("f4")
    want = scores.copy()
    for row in range(4):
        for i in range(length - size + 1):
            if np.array_equal(ids[row, i:i + size - 1], ids[row, length - size + 1:]):
                want[row, ids[row, i + size - 1]] = -np.inf
    check_one(tmp_path, "NGramRepeatBlock", ["i", "s"], {"i": ids, "s": scores}, {}, {"y": want},
              dynamic, ngram_size=size)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("layout, streams", [(0, [0, 0, 0, 1, 1, 2]), (1, [0, 1, 2, 0, 1, 0])])
def test_rotation_by_three_positions(tmp_path, layout, streams, dynamic):
    """Sections of 3, 2 and 1 columns stand behind each other, or in turn from the first on."""
    x = RNG.standard_normal((2, 3, 5, 12)).astype("f4")
    positions = RNG.integers(0, 9, (3, 2, 5))
    tables = [RNG.standard_normal((9, 6)).astype("f4") for _ in range(2)]
    cosines, sines = (np.stack([table[positions[stream], column]
                                for column, stream in enumerate(streams)], -1)[:, None]
                      for table in tables)
    a, b = x[..., :6], x[..., 6:]
    want = np.concatenate([a * cosines - b * sines, b * cosines + a * sines], -1)
    check_one(tmp_path, "MRotaryEmbedding", ["x", "p", "c", "s"], {"x": x, "p": positions},
              {"c": tables[0], "s": tables[1]}, {"y": want}, dynamic, mrope_section=[3, 2, 1],
              mrope_layout=layout)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(1, 4), (3, 5)])
def test_crops(tmp_path, size, mode, dynamic):
    """Boxes reach over the image; one row is taken from the middle."""
    x = RNG.standard_normal((2, 3, 6, 7)).astype("f4")
    boxes = RNG.uniform(-.2, 1.2, (5, 4)).astype("f4")
    images = np.array([1, 0, 1, 1, 0], "i4")
    want = np.full((5, 3, *size), 2.5, "f4")
    places = [[(box[d] + box[d + 2]) / 2 * (x.shape[d + 2] - 1) if size[d] == 1 else
               (box[d] + i * (box[d + 2] - box[d]) / (size[d] - 1)) * (x.shape[d + 2] - 1)
               for i in range(size[d])] for box in boxes for d in (0, 1)]
    for box, image in enumerate(images):
        for i, row in enumerate(places[2 * box]):
            for j, column in enumerate(places[2 * box + 1]):
                if not (0 <= row <= 5 and 0 <= column <= 6):
                    continue
                if mode == "nearest":
                    row, column = int(row + .5), int(column + .5)
                top, left = int(row), int(column)
                down, across = row - top, column - left
                rows = x[image, :, [top, min(top + 1, 5)]]
                line = rows[0] * (1 - down) + rows[1] * down
                want[box, :, i, j] = line[:, left] * (1 - across) + line[:, min(left + 1, 6)] * across
    check_one(tmp_path, "CropAndResize", ["x", "b", "i", "s"], {"x": x, "b": boxes, "i": images},
              {"s": np.array(size, "i4")}, {"y": want}, dynamic, mode=mode, extrapolation_value=2.5)


@pytest.mark.parametrize("dynamic", [False, True])
def test_windows_and_scaled_silu(tmp_path, dynamic):
    x = RNG.standard_normal((3, 8, 5)).astype("f4")
    windows = np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2]
    check_one(tmp_path, "UnfoldTensor", ["x"], {"x": x}, {}, {"y": windows}, dynamic, dim=1, size=3,
              step=2)
    for options in (dict(inputs=["x"], alpha=.4), dict(inputs=["x", "k"])):
        z = x * np.float32(options.get("alpha", 1.5))
        inputs = options.pop("inputs")
        constants = {"k": np.float32(1.5)} if len(inputs) == 2 else {}
        check_one(tmp_path, "ScaledSiLU", inputs, {"x": x}, constants, {"y": z / (1 + np.exp(-z))},
                  dynamic, **options)


FLOATS = [0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4]
QUANTILES = [-1, -.69619280, -.52507305, -.39491749, -.28444138, -.18477343, -.09105004, 0,
             .07958030, .16093020, .24611230, .33791524, .44070983, .56261700, .72295684, 1]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("kind, depth, width, block", [(0, 32, 6, 16), (1, 32, 6, 64), (1, 9, 3, 16)])
def test_weights_of_a_table(tmp_path, kind, depth, width, block, dynamic):
    """Two numbers are in a byte, the first one in its upper half; the last block may be short."""
    count = depth * width
    data = RNG.integers(0, 256, (count + 1) // 2).astype("u1")
    factors = (RNG.random(-(-count // block)) + 0.1).astype("f4")
    table = np.array(QUANTILES if kind else FLOATS + [-v for v in FLOATS], "f4")
    weights = table[np.stack([data >> 4, data & 15], 1).reshape(-1)[:count]]
    weights = weights * np.repeat(factors, block)[:count]
    a = RNG.standard_normal((4, depth)).astype("f4")
    check_one(tmp_path, "MatMulBnb4", ["a", "b", "m"], {"a": a}, {"b": data, "m": factors},
              {"y": a @ weights.reshape(width, depth).T}, dynamic, K=depth, N=width,
              block_size=block, quant_type=kind)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("segments, mask", [(True, True), (False, False)])
def test_embedding_of_integers(tmp_path, segments, mask, dynamic):
    feeds = {"ids": RNG.integers(0, 9, (2, 5)).astype("i4")}
    if segments:
        feeds["seg"] = RNG.integers(0, 2, (2, 5)).astype("i4")
    if mask:
        feeds["mask"] = RNG.integers(0, 2, (2, 5)).astype("i4")
    constants, real = {}, {}
    for name, shape in (("w", (9, 8)), ("p", (7, 8)), ("k", (2, 8)), ("g", (8,)), ("b", (8,))):
        scale, zero = np.float32(RNG.random() * 0.02 + 0.01), np.uint8(RNG.integers(100, 150))
        constants |= {name: RNG.integers(0, 256, shape).astype("u1"), name + "s": scale, name + "z": zero}
        real[name] = (constants[name].astype("f4") - zero) * scale
    total = real["w"][feeds["ids"]] + real["p"][:5] + (real["k"][feeds["seg"]] if segments else 0)
    total = total - total.mean(-1, keepdims=True)
    want = total / np.sqrt(np.square(total).mean(-1, keepdims=True) + 1e-12) * real["g"] + real["b"]
    lengths = feeds["mask"].sum(1) if mask else np.zeros(2)
    inputs = ["ids", "seg", "w", "p", "k", "g", "b", "mask", "ws", "ps", "ks", "gs", "bs", "wz", "pz",
              "kz", "gz", "bz"]
    left_out = ([] if segments else ["seg", "k", "ks", "kz"]) + ([] if mask else ["mask"])
    check_one(tmp_path, "QEmbedLayerNormalization", ["" if n in left_out else n for n in inputs], feeds,
              {n: v for n, v in constants.items() if n not in left_out},
              {"y": want, "m": lengths.astype("i4")}, dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("form", ["plain", "mask", "packed", "shared"])
def test_attention_of_one_token(tmp_path, form, dynamic):
    """Behind the past or, in a shared buffer, behind its first positions; a mask hides keys."""
    batch, heads, size, room = 2, 3, 4, 6
    hidden, before = heads * size, 2 if form == "shared" else room
    q, k, v = (RNG.standard_normal((batch, 1, hidden)).astype("f4") for _ in "qkv")
    past = {name: RNG.standard_normal((batch, heads, room, size)).astype("f4") for name in ("pk", "pv")}
    bias = RNG.standard_normal(3 * hidden).astype("f4")
    mask = np.ones((batch, before + 1), "i4")
    mask[1, :2] = 0
    rows = [(x[:, 0] + part).reshape(batch, heads, 1, size)
            for x, part in zip((q, k, v), np.split(bias, 3))]
    keys, values = (np.concatenate([old[:, :, :before], new, old[:, :, before + 1:]], 2)
                    for old, new in zip(past.values(), rows[1:]))
    scores = rows[0] @ keys[:, :, :before + 1].transpose(0, 1, 3, 2) * .3
    if form == "mask":
        scores = np.where(mask[:, None, None] != 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    want = (weights @ values[:, :, :before + 1]).reshape(batch, 1, hidden)
    feeds = {"q": np.concatenate([q, k, v], -1)} if form == "packed" else {"q": q, "k": k, "v": v}
    feeds |= past | ({"m": mask} if form == "mask" else {})
    feeds |= {"n": np.array([before], "i4")} if form == "shared" else {}
    inputs = ["q", "k", "v", "m", "", "pk", "pv", "n", "", "", "b"]
    check_one(tmp_path, "DecoderMaskedMultiHeadAttention",
              [name if name in feeds or name == "b" else "" for name in inputs], feeds, {"b": bias},
              {"y": want, "keys": keys, "values": values}, dynamic, num_heads=heads, scale=.3,
              past_present_share_buffer=int(form == "shared"))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("length", [4, 5])
def test_attention_of_one_token_to_an_encoder(tmp_path, length, dynamic):
    """Keys and values of four dims are those of another sequence, and nothing is appended."""
    q = RNG.standard_normal((2, 1, 12)).astype("f4")
    k, v = (RNG.standard_normal((2, 3, length, 4)).astype("f4") for _ in "kv")
    scores = q.reshape(2, 3, 1, 4) @ k.transpose(0, 1, 3, 2) / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    check_one(tmp_path, "DecoderMaskedMultiHeadAttention", ["q", "k", "v"],
              {"q": q, "k": k, "v": v}, {}, {"y": (weights @ v).reshape(2, 1, 12)}, dynamic,
              num_heads=3)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("pads", [None, [0, 0, 0, 0], [1, 0, 2, 1], [0, 2, 0, 3]])
def test_transposed_convolution_with_pads_that_are_values(tmp_path, pads, dynamic):
    x, w = (RNG.standard_normal(shape).astype("f4") for shape in ((2, 3, 4, 5), (3, 2, 3, 2)))
    b, strides, extra = RNG.standard_normal(2).astype("f4"), (2, 3), (1, 2)
    whole = np.zeros((2, 2, 3 * 2 + 3 + 1, 4 * 3 + 2 + 2), "f8") + b.reshape(2, 1, 1)
    for i in range(3):
        for j in range(2):
            whole[:, :, i:i + 7:2, j:j + 13:3] += np.einsum("nchw,cm->nmhw", x, w[:, :, i, j])
    top, left, bottom, right = pads or [0] * 4
    want = whole[:, :, top:whole.shape[2] - bottom, left:whole.shape[3] - right].astype("f4")
    feeds = {"x": x} | ({"p": np.array(pads)} if pads else {})
    check_one(tmp_path, "ConvTransposeWithDynamicPads", ["x", "w", "p" if pads else "", "b"], feeds,
              {"w": w, "b": b}, {"y": want}, dynamic, strides=strides, output_padding=extra)


@pytest.mark.parametrize("dynamic", [False, True])
def test_operators_that_share_a_name_with_a_standard_one(tmp_path, dynamic):
    """Unique has the values in their order and no places; the step of Range may be left out."""
    feeds = {"x": np.array([3, 1, 3, 2, 1], "f4")}
    check_one(tmp_path, "Unique", ["x"], feeds, {}, {
        "y": np.array([3, 1, 2], "f4"), "i": np.array([0, 1, 0, 2, 1]), "c": np.array([2, 2, 1])}, dynamic)
    check_one(tmp_path, "Range", ["a", "b"], {"a": np.array(1, "f4"), "b": np.array(4, "f4")}, {},
              {"y": np.array([1, 2, 3], "f4")}, dynamic)
    x = RNG.integers(0, 256, (2, 5, 6, 4)).astype("u1")
    w = RNG.integers(0, 256, (3, 4, 1, 1)).astype("u1")
    constants = {"xs": np.float32(.02), "xz": np.uint8(120), "w": w, "ws": np.float32(.01),
                 "wz": np.uint8(128), "ys": np.float32(.05), "yz": np.uint8(110)}
    real = np.einsum("nhwc,mc->nhwm", x.astype("f8") - 120, w[:, :, 0, 0].astype("f8") - 128)
    check_one(tmp_path, "QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], {"x": x},
              constants, {"y": np.clip(np.rint(real * .02 * .01 / .05) + 110, 0, 255).astype("u1")},
              dynamic, atol=1, channels_last=1, kernel_shape=[1, 1])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("op, attributes, formula", [
    ("ImageScaler", dict(scale=.5, bias=[.1, -.2]),
     lambda x: x * .5 + np.array([.1, -.2]).reshape(2, 1, 1)),
    ("Crop", dict(border=[1, 0, 0, 2]), lambda x: x[:, :, :-2, 1:]),
    ("Crop", dict(border=[1, 2, 0, 0], scale=[3, 4]), lambda x: x[:, :, 2:5, 1:5]),
    ("Affine", dict(alpha=2.0), lambda x: x * 2),
    ("ScaledTanh", dict(alpha=1.5, beta=.7), lambda x: 1.5 * np.tanh(.7 * x)),
    ("ParametricSoftplus", dict(alpha=1.5, beta=.7), lambda x: 1.5 * np.log1p(np.exp(.7 * x)))])
def test_operators_once_tried(tmp_path, op, attributes, formula, dynamic):
    x = RNG.standard_normal((1, 2, 6, 7)).astype("f4")
    check_one(tmp_path, op, ["x"], {"x": x}, {}, {"y": formula(x).astype("f4")}, dynamic, domain="",
              **attributes)


@pytest.mark.parametrize("op, inputs, attributes, text", [
    ("MoE", ["x", "x", "x", "x", "x"], dict(activation_type="tanh"), "'activation_type' is 'tanh'"),
    ("MoE", ["x", "x", "x", "x", "x"], dict(use_sparse_mixer=1), "'use_sparse_mixer' is set"),
    ("MatMulBnb4", ["x", "x", "x"], dict(K=2, N=3, block_size=16, quant_type=2), "'quant_type' is 2"),
    ("QMoE", ["x"] * 8, dict(quant_type="fp8"), "'quant_type' is 'fp8'"),
    ("QMoE", ["x"] * 8, dict(expert_weight_bits=3), "'expert_weight_bits' is 3"),
    ("QMoE", ["x"] * 9, {}, "input 8 is given"),
    ("MRotaryEmbedding", ["x"] * 4, dict(mrope_section=[1, 2]), "must have 3 numbers"),
    ("NGramRepeatBlock", ["x", "x"], dict(ngram_size=0), "'ngram_size' is 0"),
    ("UnfoldTensor", ["x"], dict(size=0), "'size' is 0"),
    ("DecoderMaskedMultiHeadAttention", ["x"] * 9, dict(num_heads=1), "'beam_width' and"),
    ("DecoderMaskedMultiHeadAttention", ["x"], dict(num_heads=1, past_present_share_buffer=1),
     "needs a past and its length"),
    ("ConvTransposeWithDynamicPads", ["x"] * 3, dict(auto_pad="VALID"), "'auto_pad' is VALID"),
    ("CropAndResize", ["x"] * 4, dict(mode="cubic"), "'mode' is 'cubic'"),
    ("QLinearWhere", ["x"] * 9, dict(axis=1), "attribute 'axis' is not known"),
    ("GatedAdd", ["x"] * 4, {}, "input 'gate_weight' is not supported"),
    ("GroupNorm", ["x"] * 3, dict(groups=0, activation=0), "'groups' is 0, expected a number above 0"),
    ("SkipGroupNorm", ["x"] * 4, dict(groups=2, activation=2), "'activation' is 2, expected 0"),
    ("RelativePositionBias", ["x"] * 3, {}, "'max_distance' is 0"),
    ("GatedRelativePositionBias", ["x"] * 7, dict(num_heads=2), "'token_offset' is not supported"),
    ("Rfft", ["x"], dict(signal_ndim=2), "'signal_ndim' is 2, expected 1"),
    ("Irfft", ["x"], dict(signal_ndim=1, normalized=1), "'normalized' is 1, expected 0")])
def test_what_functions_do_not_take_is_refused(tmp_path, op, inputs, attributes, text):
    write(tmp_path / "one.onnx", op, inputs, {"x": np.zeros((2, 3), np.float32)}, {}, False,
          [("y", onnx.TensorProto.FLOAT)], **attributes)
    code, out, err = call(tool("atc"), f"--model={tmp_path}/one.onnx", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code != 0 and "E14001" in out + err and text in out + err


@pytest.mark.parametrize("op, inputs, attributes, text", [
    ("GroupQueryAttention", 7, dict(causal=2), "attribute 'causal' is 2, expected 0 or 1"),
    ("GroupQueryAttention", 7, dict(k_quant_type="PER_ROW"), "'k_quant_type' is 'PER_ROW', expected one of NONE"),
    ("GroupQueryAttention", 18, {}, "has 18 inputs, expected at most 17"),
    ("CausalConvWithState", 2, dict(ndim=2), "attribute 'ndim' is 2, only 1 is supported"),
    ("CausalConvWithState", 2, dict(state_length=5), "'state_length' is not known"),
    ("MultiHeadAttention", 9, {}, "input 8, past_sequence_length, is not supported"),
    ("MultiHeadAttention", 10, {}, "is not supported")])
def test_what_kernels_would_ignore_is_refused(tmp_path, op, inputs, attributes, text):
    sizes = {} if op == "CausalConvWithState" else {"num_heads": 1}
    sizes |= {"kv_num_heads": 1} if op == "GroupQueryAttention" else {}
    write(tmp_path / "one.onnx", op, ["x"] * inputs, {"x": np.zeros((1, 2, 8), np.float32)}, {},
          False, [("y", onnx.TensorProto.FLOAT)], **sizes, **attributes)
    code, out, err = call(tool("atc"), f"--model={tmp_path}/one.onnx", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code != 0 and "E14001" in out + err and text in out + err


def test_values_that_change_nothing_are_accepted(tmp_path):
    """Exporters write attributes of GroupQueryAttention that have their default."""
    feeds = {"x": RNG.standard_normal((1, 2, 8)).astype("f4"), "n": np.array([1], "i4"),
             "t": np.array(2, "i4")}
    got = []
    for attributes in ({}, dict(causal=1, qk_output=0, sliding_window_cache=0, k_quant_type="NONE",
                                v_quant_type="NONE")):
        write(tmp_path / "one.onnx", "GroupQueryAttention", ["x", "x", "x", "", "", "n", "t"], feeds,
              {}, False, [("y", onnx.TensorProto.FLOAT)], num_heads=1, kv_num_heads=1, **attributes)
        got.append(run(tmp_path / "one.onnx", tmp_path, feeds)["y"])
    np.testing.assert_array_equal(*got)
    np.testing.assert_array_equal(got[0][:, 0], feeds["x"][:, 0])


def murmur(data, seed):
    """MurmurHash3 of 32 bits, as its author describes it."""
    def multiply(a, b):
        return a * b & 0xffffffff

    def rotate(value, by):
        return (value << by | value >> (32 - by)) & 0xffffffff

    def mixed(part):
        return multiply(rotate(multiply(int.from_bytes(part, "little"), 0xcc9e2d51), 15), 0x1b873593)
    result, whole = seed, len(data) // 4 * 4
    for i in range(0, whole, 4):
        result = (multiply(rotate(result ^ mixed(data[i:i + 4]), 13), 5) + 0xe6546b64) & 0xffffffff
    result ^= mixed(data[whole:]) ^ len(data)
    result = multiply(result ^ result >> 16, 0x85ebca6b)
    result = multiply(result ^ result >> 13, 0xc2b2ae35)
    return result ^ result >> 16


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8", "f4", "f8"])
def test_hashes_of_numbers(tmp_path, dtype, dynamic):
    x = np.array([0, 1, 77, 1 << 20], dtype)
    for seed in (0, 42):
        want = np.array([murmur(value.tobytes(), seed) for value in x], "u4")
        check_one(tmp_path, "MurmurHash3", ["x"], {"x": x}, {}, {"y": want}, dynamic, seed=seed)
        check_one(tmp_path, "MurmurHash3", ["x"], {"x": x}, {}, {"y": want.view("i4")}, dynamic,
                  seed=seed, positive=0)


def cheapest_way(costs):
    """Of steps that cost the same the one along a row."""
    rows, columns = costs.shape
    sums, steps = np.full((rows + 1, columns + 1), np.inf, "f4"), {}
    sums[0, 0] = 0
    for i in range(rows):
        for j in range(columns):
            both, down, along = sums[i, j], sums[i, j + 1], sums[i + 1, j]
            step = (1, 1) if both < min(down, along) else (1, 0) if down < min(both, along) else (0, 1)
            sums[i + 1, j + 1] = costs[i, j] + sums[i + 1 - step[0], j + 1 - step[1]]
            steps[i, j] = step
    way, at = [], (rows - 1, columns - 1)
    while at in steps:
        way.append(at)
        at = at[0] - steps[at][0], at[1] - steps[at][1]
    return np.array(way[::-1], "i4").T


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (7, 20), (1, 9, 9)])
def test_cheapest_ways(tmp_path, shape, dynamic):
    # Rounded costs have ties.
    for costs in (RNG.standard_normal(shape), np.round(RNG.standard_normal(shape))):
        costs = costs.astype("f4")
        check_one(tmp_path, "DynamicTimeWarping", ["x"], {"x": costs}, {},
                  {"y": cheapest_way(costs.reshape(shape[-2:]))}, dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_sample_operator_changes_nothing(tmp_path, dynamic):
    x = RNG.standard_normal((3, 4)).astype("f4")
    check_one(tmp_path, "SampleOp", ["x"], {"x": x}, {}, {"y": x}, dynamic)
