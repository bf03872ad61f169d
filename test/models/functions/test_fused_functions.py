"""Operators of com.microsoft into which ONNX Runtime's optimizers fuse nodes for GPUs, for fixed and
dynamic dims."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import itertools
import math

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from test_known_functions import call, check_one, tool, write  # noqa: E402

RNG = np.random.default_rng(5)


def normal(*shape):
    return RNG.standard_normal(shape).astype("f4")


def group_norm(x, gamma, beta, groups, epsilon, activation):
    """Of [images, rows, columns, channels]."""
    images, _, _, channels = x.shape
    rows = x.reshape(images, -1, groups, channels // groups).astype("f8")
    mean = rows.mean((1, 3), keepdims=True)
    rows = (rows - mean) / np.sqrt(rows.var((1, 3), keepdims=True) + epsilon)
    y = rows.reshape(x.shape) * gamma + beta
    return (y / (1 + np.exp(-y)) if activation else y).astype("f4")


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("activation", [0, 1])
@pytest.mark.parametrize("last", [0, 1])
def test_groups_of_channels(tmp_path, last, activation, dynamic):
    x, gamma, beta = normal(2, 3, 5, 8), normal(8), normal(8)
    want = group_norm(x, gamma, beta, 4, 1e-3, activation)
    order = (0, 1, 2, 3) if last else (0, 3, 1, 2)
    check_one(tmp_path, "GroupNorm", ["x", "g", "b"], {"x": x.transpose(order)},
              {"g": gamma, "b": beta}, {"y": want.transpose(order)}, dynamic, groups=4,
              epsilon=1e-3, activation=activation, channels_last=last)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("skip, last", [((2, 3, 5, 8), 1), ((2, 1, 1, 8), 1), ((2, 8), 1), ((2, 8), 0)])
def test_groups_of_a_sum(tmp_path, skip, last, bias, dynamic):
    x, s, gamma, beta = normal(2, 3, 5, 8), normal(*skip), normal(8), normal(8)
    constants = {"g": gamma, "b": beta} | ({"a": normal(8)} if bias else {})
    total = x + (s if s.ndim == 4 else s[:, None, None]) + constants.get("a", 0)
    order = (0, 1, 2, 3) if last else (0, 3, 1, 2)
    want = {"y": group_norm(total, gamma, beta, 2, 1e-5, 1), "sum": total}
    check_one(tmp_path, "SkipGroupNorm", ["x", "g", "b", "s"] + ["a"] * bias,
              {"x": x.transpose(order), "s": s}, constants,
              {name: value.transpose(order) for name, value in want.items()}, dynamic, groups=2,
              activation=1, channels_last=last)


@pytest.mark.parametrize("op, more", [("GroupNorm", []), ("SkipGroupNorm", ["x"])])
def test_groups_that_do_not_divide_the_channels_are_refused(tmp_path, op, more):
    write(tmp_path / "one.onnx", op, ["x", "g", "b"] + more, {"x": normal(1, 2, 2, 6)},
          {"g": normal(6), "b": normal(6)}, False, [("y", onnx.TensorProto.FLOAT)], groups=4, activation=0)
    code, out, err = call(tool("atc"), f"--model={tmp_path}/one.onnx", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code != 0 and "E14001" in out + err and f"'{op}.groups.gamma'" in out + err and "[4, -1]" in out + err


@pytest.mark.parametrize("dynamic", [False, True])
def test_convolution_of_channels_last(tmp_path, dynamic):
    x, weights, bias = normal(2, 6, 5, 4), normal(8, 3, 3, 2), normal(8)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = np.zeros((2, 3, 3, 8), "f4")
    for i, j, out in np.ndindex(3, 3, 8):
        first = 0 if out < 4 else 2
        part = padded[:, 2 * i:2 * i + 3, 2 * j:2 * j + 3, first:first + 2]
        want[:, i, j, out] = (part * weights[out]).sum((1, 2, 3)) + bias[out]
    check_one(tmp_path, "NhwcConv", ["x", "w", "b"], {"x": x}, {"w": weights, "b": bias},
              {"y": want}, dynamic, group=2, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])


@pytest.mark.parametrize("dynamic", [False, True])
def test_sums_and_gelu(tmp_path, dynamic):
    x, skip, bias = normal(2, 3, 8), normal(2, 3, 8), normal(8)
    check_one(tmp_path, "BiasAdd", ["x", "b", "s"], {"x": x, "s": skip}, {"b": bias},
              {"y": x + bias + skip}, dynamic)
    gate = normal(2, 3, 1)
    check_one(tmp_path, "GatedAdd", ["x", "s", "g"], {"x": x, "s": skip, "g": gate}, {},
              {"y": x + skip * gate}, dynamic)
    weights, bias = normal(8, 6), normal(6)
    z = x @ weights + bias
    want = 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    check_one(tmp_path, "GemmFastGelu", ["x", "w", "b"], {"x": x}, {"w": weights, "b": bias},
              {"y": want.astype("f4")}, dynamic)


@pytest.mark.parametrize("op", ["BiasGelu", "FastGelu"])
@pytest.mark.parametrize("shape", [(1,), (2, 8), (3, 2, 8)])
def test_biases_of_other_lengths_are_refused(tmp_path, op, shape):
    write(tmp_path / "one.onnx", op, ["x", "b"], {"x": normal(2, 8)}, {"b": normal(*shape)}, False,
          [("y", onnx.TensorProto.FLOAT)])
    code, out, err = call(tool("atc"), f"--model={tmp_path}/one.onnx", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code != 0 and "E1" in out + err, out + err


@pytest.mark.parametrize("dynamic", [False, True])
def test_gelu_of_one_operator(tmp_path, dynamic):
    x, bias = 4 * normal(2, 3, 8), normal(8)
    tanh = lambda z: 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    exact = lambda z: 0.5 * z * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
    for op, inputs, want, attributes in (
            ("FastGelu", ["x", "b"], tanh(x + bias), {}), ("FastGelu", ["x"], tanh(x), {}),
            ("BiasGelu", ["x", "b"], exact(x + bias), {}),
            ("QuickGelu", ["x"], x / (1 + np.exp(-1.702 * x)), {}),
            ("QuickGelu", ["x"], x / (1 + np.exp(-1.5 * x)), dict(alpha=1.5))):
        check_one(tmp_path, op, inputs, {"x": x}, {"b": bias}, {"y": want.astype("f4")}, dynamic,
                  **attributes)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("both", [0, 1])
def test_bias_of_distances(tmp_path, both, dynamic):
    table, size, farthest = normal(16, 3), 40, 20
    own = 8 if both else 16
    row = np.empty((size, size), int)
    for i, j in np.ndindex(size, size):
        span = abs(j - i) if both else max(i - j, 0)
        if span >= own // 2:
            share = np.log(np.float32(span / (own // 2))) / np.float32(np.log(farthest / (own // 2)))
            span = min(own // 2 + int(share * np.float32(own - own // 2)), own - 1)
        row[i, j] = span + (own if both and j > i else 0)
    length = np.array([size], "i8")
    check_one(tmp_path, "RelativePositionBias", ["t", "n", "n"], {"n": length}, {"t": table},
              {"y": table[row].transpose(2, 0, 1)[None]}, dynamic, max_distance=farthest,
              is_bidirectional=both)


@pytest.mark.parametrize("dynamic", [False, True])
def test_gated_bias(tmp_path, dynamic):
    heads, size = 2, 4
    query, positions = normal(2, 5, heads * size), normal(1, heads, 5, 5)
    constants = {"a": normal(heads * size), "w": normal(size, 8), "b": normal(8),
                 "e": normal(1, heads, 1, 1)}
    rows = (query + constants["a"]).reshape(2, 5, heads, size).transpose(0, 2, 1, 3)
    halves = (rows @ constants["w"] + constants["b"]).reshape(2, heads, 5, 2, 4).sum(-1)
    update, reset = np.split(1 / (1 + np.exp(-halves)), 2, -1)
    check_one(tmp_path, "GatedRelativePositionBias", ["q", "a", "p", "w", "b", "e"],
              {"q": query, "p": positions}, constants,
              {"y": (update * (reset * constants["e"] - 1) + 2) * positions}, dynamic,
              num_heads=heads)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("size", [2, 8, 12])
def test_transforms_of_real_numbers(tmp_path, size, dynamic):
    x = normal(3, 2, size)
    spectrum = np.fft.rfft(x)
    parts = np.stack([spectrum.real, spectrum.imag], -1).astype("f4")
    check_one(tmp_path, "Rfft", ["x"], {"x": x}, {}, {"y": parts}, dynamic, signal_ndim=1)
    check_one(tmp_path, "Irfft", ["x"], {"x": parts}, {}, {"y": x}, dynamic, signal_ndim=1,
              onesided=1, normalized=0)


LAYOUTS = np.array([[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]],
                    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]])


def sparse_attention(query, past, totals, block, heads, pairs):
    """Of queries [batch, steps, (heads + 2 * pairs) * size]; what is new is behind the past."""
    batch, steps, width = query.shape
    size = width // (heads + 2 * pairs)
    q, k, v = np.split(query.reshape(batch, steps, -1, size).transpose(0, 2, 1, 3),
                       [heads, heads + pairs], 1)
    present, y = [cache.copy() for cache in past], np.zeros((batch, steps, heads, size))
    for b in range(batch):
        begin = 0 if steps > 1 else totals[b] - steps
        for cache, new in zip(present, (k, v)):
            cache[b, :, begin:begin + steps] = new[b]
        for h, i in np.ndindex(heads, steps):
            at = begin + i
            seen = [j for j in range(at + 1) if LAYOUTS[h % 2, at // block, j // block]]
            keys, values = (cache[b, h * pairs // heads, seen] for cache in present)
            scores = np.exp(keys @ q[b, h, i] / math.sqrt(size))
            y[b, i, h] = scores / scores.sum() @ values
    return y.reshape(batch, steps, -1).astype("f4"), *present


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("steps, totals", [(14, [14, 14]), (1, [11, 16])])
def test_attention_to_blocks(tmp_path, steps, totals, dynamic):
    heads, pairs, size, block = 4, 2, 8, 4
    feeds = {"q": normal(2, steps, (heads + 2 * pairs) * size), "pk": normal(2, pairs, 16, size),
             "pv": normal(2, pairs, 16, size), "l": np.array(totals, "i4")}
    for cache, (b, total) in itertools.product((feeds["pk"], feeds["pv"]), enumerate(totals)):
        cache[b, :, total:] = 0  # what stands behind a sequence has no meaning
    columns = [np.concatenate([np.flatnonzero(row) for row in layout]) for layout in LAYOUTS]
    constants = {"r": np.array([np.append(0, layout.sum(1).cumsum()) for layout in LAYOUTS], "i4"),
                 "c": np.array([np.append(columns[0], -1), columns[1]], "i4"),
                 "t": np.array([max(totals)], "i4")}
    wanted = sparse_attention(feeds["q"], (feeds["pk"], feeds["pv"]), totals, block, heads, pairs)
    check_one(tmp_path, "SparseAttention", ["q", "", "", "pk", "pv", "r", "c", "t", "l"], feeds,
              constants, dict(zip(("y", "k", "v"), wanted)), dynamic, num_heads=heads,
              kv_num_heads=pairs, sparse_block_size=block)
