# ===-- test_transformers.py - KvAttention, PackedMatMul, MatMulNBits ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of language models against formulas in numpy."""

import numpy as np
import pytest

from host_kernels import KernelError, Raw, call

rng = np.random.default_rng(3)


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def attention(q, k, v, scale, mask=None, causal_offset=None):
    """Of [batch, heads, positions, size]; heads of keys are shared by groups."""
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x.astype("f8"), group, axis=1) for x in (k, v))
    scores = q.astype("f8") @ k.transpose(0, 1, 3, 2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal_offset is not None:
        rows, columns = np.indices(scores.shape[2:])
        scores = np.where(columns <= rows + causal_offset, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


# One position and several, below and above what is computed without packing; keys around the size
# of a tile.
@pytest.mark.parametrize("heads,kv,length,past,size,value", [
    (4, 4, 1, 0, 8, 8), (6, 2, 1, 70, 16, 16), (4, 2, 3, 5, 8, 40), (2, 1, 7, 0, 33, 65),
    (4, 2, 50, 0, 64, 64), (3, 3, 130, 63, 16, 24), (6, 2, 9, 120, 20, 36), (64, 1, 1, 65, 8, 8)])
@pytest.mark.parametrize("form", ["plain", "mask", "bool", "causal", "lower", "lower bool"])
def test_kv_attention(heads, kv, length, past, size, value, form):
    q, k, v = floats(2, heads, length, size), floats(2, kv, length, size), floats(2, kv, length,
                                                                                  value)
    before = [floats(2, kv, past, size), floats(2, kv, past, value)]
    total = past + length
    masks = {"mask": np.where(rng.random((2, 1, length, total)) < 0.3, np.float32(-3.4e38),
                              floats(2, 1, length, total)).astype("f4"),
             "bool": rng.random((length, total)) < 0.7}
    lower = np.tri(length, total, past, dtype=bool)  # tiles of which a part is hidden
    masks |= {"lower": np.where(lower, 0, -3.4e38).astype("f4")[None, None], "lower bool": lower}
    mask = masks.get(form)
    if mask is not None:
        mask[..., 0] = 0 if mask.dtype != bool else True  # a key that each row sees
    attributes = {"is_causal": 1} if form == "causal" else {}
    y, keys, values = call("KvAttention", q, k, v, mask, *before, scale=0.3, outputs=3,
                           **attributes)
    all_keys, all_values = (np.concatenate(pair, axis=2) for pair in zip(before, (k, v)))
    np.testing.assert_array_equal(keys, all_keys)
    np.testing.assert_array_equal(values, all_values)
    want = attention(q, all_keys, all_values, 0.3, mask, past if form == "causal" else None)
    np.testing.assert_allclose(y, want, rtol=1e-3, atol=2e-5)

    # [batch, positions, heads * size], as Attention of ONNX has it.
    def packed(x):
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(2, x.shape[2], -1)
    flat, _, _ = call("KvAttention", packed(q), packed(k), packed(v), mask, *before, scale=0.3,
                      outputs=3, q_num_heads=heads, kv_num_heads=kv, **attributes)
    np.testing.assert_allclose(flat, packed(y), rtol=1e-5, atol=1e-6)


# Operands and the result as [batch, positions, heads, size], each alone and together; keys that end
# within a vector and behind a tile.
@pytest.mark.parametrize("length,keys", [(1, 5), (4, 77), (50, 133), (60, 128)])
@pytest.mark.parametrize("swapped", [1, 2, 4, 7])
def test_kv_attention_of_swapped_dims(length, keys, swapped):
    def middle(x, part):
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)) if swapped & part else x
    q, k, v = floats(2, 6, length, 32), floats(2, 3, keys, 32), floats(2, 3, keys, 16)
    got, = call("KvAttention", middle(q, 1), middle(k, 2), middle(v, 2), scale=0.3,
                swapped=swapped)
    np.testing.assert_allclose(got, middle(attention(q, k, v, 0.3), 4), rtol=1e-3, atol=2e-5)
    # The caches have heads in front of positions, whatever the operands have.
    _, all_keys, all_values = call("KvAttention", middle(q, 1), middle(k, 2), middle(v, 2),
                                   scale=0.3, swapped=swapped, outputs=3)
    np.testing.assert_array_equal(all_keys, k)
    np.testing.assert_array_equal(all_values, v)


def test_kv_attention_of_swapped_dims_of_0():
    none, one = floats(2, 0, 3, 8), floats(2, 1, 3, 8)
    got, = call("KvAttention", none, one, one, scale=0.3, swapped=7)  # no positions
    assert got.shape == (2, 0, 3, 8)
    got, = call("KvAttention", one, none, none, scale=0.3, swapped=7)  # no keys
    assert not got.any()
    for heads in ((3, 0), (0, 3)):
        q, k = (floats(2, 4, count, 8) for count in heads)
        with pytest.raises(KernelError, match="0 heads"):
            call("KvAttention", q, k, k, scale=0.3, swapped=7)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("length,past,size,value", [(1, 70, 16, 32), (3, 0, 8, 40), (50, 63, 64, 24)])
def test_kv_attention_over_a_cache_of_16_bits(length, past, size, value, kind):
    def bits(stored):
        return (stored.bits if isinstance(stored, Raw) else stored).view("u2")

    q, before = floats(2, 4, length, size), [floats(2, 2, past, size), floats(2, 2, past, value)]
    stored, values = zip(*(narrowed(x, kind) for x in before))
    new = [narrowed(floats(2, 2, length, width), kind)[1] for width in (size, value)]
    y, *present = call("KvAttention", q, *new, None, *stored, scale=0.3, is_causal=1, outputs=3)
    all_values = [np.concatenate(pair, axis=2) for pair in zip(values, new)]
    for got, right in zip(present, all_values):
        np.testing.assert_array_equal(bits(got).reshape(right.shape),
                                      bits(narrowed(right, kind)[0]).reshape(right.shape))
    np.testing.assert_allclose(y, attention(q, *all_values, 0.3, None, past), rtol=1e-3, atol=2e-5)


def test_kv_attention_hides_whole_tiles_and_rows():
    q, k, v = floats(1, 2, 60, 16), floats(1, 2, 200, 16), floats(1, 2, 200, 16)
    mask = np.full((1, 1, 60, 200), np.float32(-3.4e38))
    mask[..., 140:150] = 0      # only a late tile, after which all is hidden again
    mask[:, :, 10, :] = -3.4e38  # a row that sees nothing gets the mean, as the formula has it
    got, = call("KvAttention", q, k, v, mask, scale=1.0, mask_broadcast=1)
    want = attention(q, k, v, 1.0, mask)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=2e-5)
    # One column stands for all keys where the mask is an addend.
    column = floats(1, 1, 60, 1)
    got, = call("KvAttention", q, k, v, column, scale=1.0, mask_broadcast=1)
    np.testing.assert_allclose(got, attention(q, k, v, 1.0), rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("change", [
    dict(q=(1, 3, 2, 8)), dict(k=(1, 2, 2, 9)), dict(v=(1, 2, 3, 8)), dict(past=(1, 2, 5, 9)),
    dict(mask=(1, 1, 2, 9)), dict(q=(1, 2, 32))])
def test_kv_attention_misfits(change):
    shapes = dict(q=(1, 4, 2, 8), k=(1, 2, 2, 8), v=(1, 2, 2, 8), mask=(1, 1, 2, 7),
                  past=(1, 2, 5, 8))
    shapes.update(change)
    x = {name: floats(*shape) for name, shape in shapes.items()}
    with pytest.raises(KernelError):
        call("KvAttention", x["q"], x["k"], x["v"], x["mask"], x["past"], floats(1, 2, 5, 8),
             outputs=3, mask_broadcast=1)


def packed_weights(w):
    k, n = w.shape
    panels = -(-n // 16)
    padded = np.zeros((k, panels * 16), "f4")
    padded[:, :n] = w
    return np.ascontiguousarray(padded.reshape(k, panels, 16).transpose(1, 0, 2))


@pytest.mark.parametrize("m", [1, 2, 6, 7, 48, 100])
@pytest.mark.parametrize("k,n", [(1, 1), (300, 40), (17, 700), (513, 64)])
@pytest.mark.parametrize("bias", [False, True])
def test_packed_matmul(m, k, n, bias):
    x, w, add = floats(m, k), floats(k, n), floats(n)
    got, = call("PackedMatMul", x, packed_weights(w), *([add] if bias else []), n=n)
    want = x.astype("f8") @ w + (add if bias else 0)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_packed_matmul_shapes():
    w = floats(8, 20)
    assert call("PackedMatMul", floats(2, 3, 8), packed_weights(w), n=20)[0].shape == (2, 3, 20)
    assert call("PackedMatMul", floats(8), packed_weights(w), n=20)[0].shape == (20,)
    assert call("PackedMatMul", floats(0, 8), packed_weights(w), n=20)[0].shape == (0, 20)
    for x, n in ((floats(2, 9), 20), (floats(2, 8), 33), (floats(2, 8), 16)):
        with pytest.raises(KernelError):
            call("PackedMatMul", x, packed_weights(w), n=n)


def narrowed(array, kind):
    """The array in 16 bits, as a kernel takes it, and its values."""
    if kind == "f16":
        return array.astype("f2"), array.astype("f2").astype("f4")
    bits = array.view("u4") >> 16
    return Raw(16, bits.astype("u2"), array.shape), (bits << 16).view("f4")


# Up to 6 rows read panels in registers; others expand 64 columns and 256 rows at a time.
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6, 7, 100])
@pytest.mark.parametrize("k,n", [(1, 1), (301, 40), (17, 700), (513, 64)])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_packed_matmul_of_16_bits(m, k, n, kind):
    x, add = floats(m, k), floats(n)
    weights, values = narrowed(packed_weights(floats(k, n)), kind)
    w = values.transpose(1, 0, 2).reshape(k, -1)[:, :n]
    for bias in ([], [add]):
        got, = call("PackedMatMul", x, weights, *bias, n=n)
        want = x.astype("f8") @ w + (add if bias else 0)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    got, = call("PackedMatMul", x.astype("f2"), weights, n=n)
    assert got.dtype == np.float16
    want = x.astype("f2").astype("f8") @ w
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3 * np.abs(want).max())


def test_packed_matmul_of_special_halfs():
    """Subnormal and special elements of f16 keep their values."""
    row = np.array([2.0**-24, -2.0**-24, 2.0**-14, 65504, np.inf, -np.inf, 0, 1023 * 2.0**-24,
                    -65504, 1, -1, 2.0**-15, 0.1, -0.1, 3, 0], "f2")
    got, = call("PackedMatMul", np.ones((1, 1), "f4"), row.reshape(1, 1, 16), n=16)
    np.testing.assert_array_equal(got[0], row.astype("f4"))
    row[0] = np.nan
    got, = call("PackedMatMul", np.ones((1, 1), "f4"), row.reshape(1, 1, 16), n=16)
    assert np.isnan(got[0, 0]) and not np.isnan(got[0, 1:]).any()


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 60])
@pytest.mark.parametrize("k,n,block", [(32, 5, 32), (70, 65, 32), (300, 70, 64), (48, 3, 16),
                                       (600, 130, 128), (576, 33, 32), (352, 20, 96),
                                       (500, 17, 256)])
@pytest.mark.parametrize("zeros", ["none", "packed", "floats"])
def test_matmul_nbits(bits, m, k, n, block, zeros):
    blocks = -(-k // block)
    levels = rng.integers(0, 1 << bits, (n, blocks * block), "u1")
    scales = rng.random(n * blocks, "f4") + np.float32(0.1)
    middles = rng.integers(0, 1 << bits, (n, blocks), "u1")
    pack = (lambda x: x) if bits == 8 else (lambda x: x[..., ::2] | x[..., 1::2] << 4)
    inputs = [floats(m, k), pack(levels).reshape(n, blocks, -1), scales]
    if zeros == "packed":
        padded = np.pad(middles, ((0, 0), (0, blocks % 2))) if bits == 4 else middles
        inputs.append(pack(padded).reshape(-1))
    elif zeros == "floats":
        inputs.append(middles.astype("f4").reshape(-1))
    else:
        middles = np.full((n, blocks), 1 << (bits - 1))
    add = floats(n)
    inputs += [None] * (5 - len(inputs)) + [add]
    w = (levels.reshape(n, blocks, block).astype("f8") - middles[..., None])
    w = (w * scales.reshape(n, blocks, 1)).reshape(n, -1)[:, :k]
    got, = call("MatMulNBits", *inputs, K=k, N=n, bits=bits, block_size=block)
    want = inputs[0].astype("f8") @ w.T + add
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("split", [None, 0, 3, 10])
@pytest.mark.parametrize("x,tables", [((2, 3, 5, 10), (2, 1, 5, 10)), ((2, 3, 5, 10), (5, 10)),
                                      ((1, 10), (4, 1, 10)), ((10,), (10,)), ((2, 0, 10), (10,))])
def test_rotate_half(x, tables, split):
    x, cos, sin = floats(*x), floats(*tables), floats(*tables)
    at = 5 if split is None else split
    turned = np.concatenate([-x[..., at:], x[..., :at]], -1)
    got, = call("RotateHalf", x, cos, sin, **({} if split is None else {"split": split}))
    np.testing.assert_allclose(got, x * cos + turned * sin, rtol=1e-5, atol=1e-6)


def test_rotate_half_refuses():
    for inputs, attributes in (((floats(2, 8), floats(2, 4), floats(2, 4)), {}),
                               ((floats(2, 8), floats(3, 8), floats(3, 8)), {}),
                               ((floats(2, 8), floats(2, 8), floats(2, 8)), {"split": 9})):
        with pytest.raises(KernelError):
            call("RotateHalf", *inputs, **attributes)


@pytest.mark.parametrize("kind", ["f4", "f2"])
@pytest.mark.parametrize("biased", [False, True])
def test_packed_product_without_an_inner_dim(kind, biased):
    """Nothing is summed: the result is the bias, or zeros."""
    bias = floats(4).astype(kind) if biased else None
    got, = call("PackedMatMul", np.zeros((3, 2, 0), kind), np.zeros((1, 0, 16), kind), bias, n=4)
    np.testing.assert_array_equal(got, np.broadcast_to(bias if biased else np.zeros(4, kind), (3, 2, 4)))
