# ===-- test_cache_rows.py - windowed and quantized caches of GroupQueryAttention -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each form of a cache gives the result of a cache of all positions, in floats: a window of a
sequence, elements of eight and of four bits, chunks that are padded, queries that see all keys."""

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(14)
HEADS, KEY_HEADS, SIZE = 4, 2, 8


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def attend(q, k, v, causal=True, window=0, bias=None):
    """The result [length, heads * size] of the last positions of one sequence; `q` [length, ...],
    `k` and `v` [positions, ...], `bias` [heads, length, positions]."""
    length, total = len(q), len(k)
    split = [x.reshape(len(x), -1, SIZE).transpose(1, 0, 2).astype("f8") for x in (q, k, v)]
    keys, values = (np.repeat(x, HEADS // KEY_HEADS, 0) for x in split[1:])
    scores = split[0] @ keys.transpose(0, 2, 1) / np.sqrt(SIZE)
    if bias is not None:
        scores = scores + bias
    at, columns = total - length + np.arange(length)[:, None], np.arange(total)
    if causal:
        scores = np.where(columns > at, -np.inf, scores)
    if window:
        scores = np.where(columns <= at - window, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return ((weights / weights.sum(-1, keepdims=True)) @ values).transpose(1, 0, 2).reshape(length, -1)


def heads_of(rows):
    """[positions, heads * size] -> [heads, positions, size]."""
    return rows.reshape(len(rows), -1, SIZE).transpose(1, 0, 2)


def group(q, k, v, past, ends, total, *more, **attributes):
    return call("GroupQueryAttention", q, k, v, *past, np.array(ends, "i4") - np.int32(1),
                np.array(total, "i4"), *more, outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS,
                **attributes)


# Each tuple of steps: the first prompt, then steps that push positions out of the cache.
@pytest.mark.parametrize("room,window", [(4, 4), (7, 4), (5, 1)])
@pytest.mark.parametrize("steps", [(3, 1, 1, 1, 1, 1, 1), (11, 1, 2, 1), (1, 9, 1)])
@pytest.mark.parametrize("biased", [False, True])
def test_a_cache_that_holds_a_window(room, window, steps, biased):
    count = sum(steps)
    q, k, v = floats(count, HEADS * SIZE), floats(count, KEY_HEADS * SIZE), floats(count, KEY_HEADS * SIZE)
    past, done = [np.zeros((1, KEY_HEADS, room, SIZE), "f4")] * 2, 0
    for step in steps:
        new = slice(done, done + step)
        done += step
        bias = floats(1, HEADS, step, done) if biased else None
        got, *past = group(q[None, new], k[None, new], v[None, new], past, [done], done, None, None, None, bias,
                           local_window_size=window, sliding_window_cache=1)
        want = attend(q[new], k[:done], v[:done], window=window, bias=None if bias is None else bias[0])
        np.testing.assert_allclose(got[0], want, rtol=2e-5, atol=2e-5)
        # When a cache is full, room - window + 1 positions leave it at once.
        held = done
        while held > room:
            held -= room - window + 1
        for cache, rows in zip(past, (k, v)):
            assert cache.shape == (1, KEY_HEADS, room, SIZE)
            np.testing.assert_array_equal(cache[0, :, :held], heads_of(rows[done - held:done]))


@pytest.mark.parametrize("length", [2, 9])
def test_a_window_begins_empty(length):
    """A past without positions becomes a cache of a window."""
    q, k, v = floats(1, length, HEADS * SIZE), *(floats(1, length, KEY_HEADS * SIZE) for _ in "kv")
    past = [np.zeros((1, KEY_HEADS, 0, SIZE), "f4")] * 2
    got, keys, _ = group(q, k, v, past, [length], length, local_window_size=4, sliding_window_cache=1)
    np.testing.assert_allclose(got[0], attend(q[0], k[0], v[0], window=4), rtol=2e-5, atol=2e-5)
    held = min(length, 4)
    assert keys.shape[2] == 4
    np.testing.assert_array_equal(keys[0, :, :held], heads_of(k[0, length - held:]))
    with pytest.raises(KernelError, match="batch 0 has 1 positions before"):
        group(q, k, v, past, [length + 1], length + 1, local_window_size=4, sliding_window_cache=1)


def test_windows_of_sequences_of_different_lengths():
    ends, room, window = [9, 3], 5, 4
    q, k, v = ([floats(end, n * SIZE) for end in ends] for n in (HEADS, KEY_HEADS, KEY_HEADS))
    past = [np.zeros((2, KEY_HEADS, room, SIZE), "f4") for _ in "kv"]
    for b, end in enumerate(ends):
        held = end - 1
        while held > room:
            held -= room - window + 1
        for cache, rows in zip(past, (k, v)):
            cache[b, :, :held] = heads_of(rows[b][end - 1 - held:end - 1])
    last = [np.stack([x[b][-1:] for b in range(2)]) for x in (q, k, v)]
    got, _, _ = group(*last, past, ends, 9, local_window_size=window, sliding_window_cache=1)
    for b in range(2):
        np.testing.assert_allclose(got[b], attend(q[b][-1:], k[b], v[b], window=window), rtol=2e-5, atol=2e-5)


def quantized(rows, scale, bits):
    """The numbers [heads, positions, size], and what is stored of them."""
    most = 2 ** (bits - 1) - 1
    digits = np.clip(np.rint(heads_of(rows) / scale), -most - 1, most)
    stored = digits.astype("i1")
    if bits == 4:
        nibbles = (digits + 8).astype("u1")
        stored = nibbles[..., ::2] | nibbles[..., 1::2] << 4
    return (digits * scale).astype("f4"), stored


def rows_of(heads):
    return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("kind", ["PER_TENSOR", "PER_CHANNEL"])
@pytest.mark.parametrize("window", [0, 4])
def test_caches_of_integers(bits, kind, window):
    steps, room = (5, 1, 1, 3, 1), 5
    count, width = sum(steps), SIZE * bits // 8
    q, k, v = floats(count, HEADS * SIZE), floats(count, KEY_HEADS * SIZE), floats(count, KEY_HEADS * SIZE)
    shape = (1,) if kind == "PER_TENSOR" else (1, KEY_HEADS, 1, SIZE)
    scales = [rng.uniform(0.5, 1, shape).astype("f4") * (0.02 if bits == 8 else 0.4) for _ in "kv"]
    numbers, stored = zip(*(quantized(rows, scale if scale.ndim == 1 else scale[0], bits)
                            for rows, scale in zip((k, v), scales)))
    kinds = dict(k_quant_type=kind, v_quant_type=kind, kv_cache_bit_width=bits)
    past = [np.zeros((1, KEY_HEADS, room if window else 0, width), "i1" if bits == 8 else "u1")] * 2
    done = 0
    for step in steps:
        new = slice(done, done + step)
        done += step
        got, *past = group(q[None, new], k[None, new], v[None, new], past, [done], done, *[None] * 5, *scales,
                           **kinds, **(dict(local_window_size=window, sliding_window_cache=1) if window else {}))
        want = attend(q[new], *(rows_of(x[:, :done]) for x in numbers), window=window)
        np.testing.assert_allclose(got[0], want, rtol=2e-5, atol=2e-5)
        held = done
        while window and held > room:
            held -= room - window + 1
        for cache, bytes_ in zip(past, stored):
            np.testing.assert_array_equal(cache[0, :, :held], bytes_[:, done - held:done])


def test_numbers_that_integers_do_not_hold():
    """Infinite numbers saturate, NaN becomes the least one, and a scale of 0 stores zeros."""
    k = np.array([[[np.inf, -np.inf, np.nan, 1e30, 0.5, -0.5, 1.5, 127.6]]], "f4")
    scales = [np.ones(1, "f4"), np.zeros(1, "f4")]
    _, keys, values = call("GroupQueryAttention", k, k, k, *[np.zeros((1, 1, 0, SIZE), "i1")] * 2,
                           np.zeros(1, "i4"), np.array(1, "i4"), *[None] * 5, *scales, outputs=3, num_heads=1,
                           kv_num_heads=1, k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR")
    np.testing.assert_array_equal(keys[0, 0, 0], [127, -128, -128, 127, 0, 0, 2, 127])
    np.testing.assert_array_equal(values[0, 0, 0], np.zeros(SIZE))


def test_chunks_that_are_padded():
    """Three sequences with 4, 1 and no new tokens, behind 2, 5 and 3."""
    before, fresh, room, length = [2, 5, 3], [4, 1, 0], 12, 4
    q = floats(3, length, HEADS * SIZE)
    k, v = ([floats(count, KEY_HEADS * SIZE) for count in np.add(before, fresh)] for _ in "kv")
    past = [np.zeros((3, KEY_HEADS, room, SIZE), "f4") for _ in "kv"]
    new = [np.full((3, length, KEY_HEADS * SIZE), 1e3, "f4") for _ in "kv"]
    for b in range(3):
        for cache, chunk, rows in zip(past, new, (k, v)):
            cache[b, :, :before[b]] = heads_of(rows[b][:before[b]])
            chunk[b, :fresh[b]] = rows[b][before[b]:]
    got, keys, values = group(q, *new, past, np.add(before, fresh), room, *[None] * 9, np.array(fresh, "i4"))
    for b in range(3):
        if fresh[b]:
            want = attend(q[b, :fresh[b]], k[b], v[b])
            np.testing.assert_allclose(got[b, :fresh[b]], want, rtol=2e-5, atol=2e-5)
        for cache, rows in ((keys, k), (values, v)):
            np.testing.assert_array_equal(cache[b, :, :len(rows[b])], heads_of(rows[b]))
    with pytest.raises(KernelError, match="batch 0 has 5 new positions"):
        group(q, *new, past, np.add(before, fresh), room, *[None] * 9, np.array([5, 1, 0], "i4"))


@pytest.mark.parametrize("kinds", [{}, dict(local_window_size=4, sliding_window_cache=1),
                                   dict(k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR")])
def test_the_addend_of_a_padded_chunk(kinds):
    """Padding would have columns behind the last one: what lies behind the addend is not read."""
    before, length, fresh = 3, 3, 1
    q, rows = floats(1, length, HEADS * SIZE), floats(before + length, KEY_HEADS * SIZE).round()
    past = np.zeros((1, KEY_HEADS, 8, SIZE), "i1" if "k_quant_type" in kinds else "f4")
    past[0, :, :before] = heads_of(rows[:before])
    scales = [np.ones(1, "f4")] * 2 if "k_quant_type" in kinds else [None, None]
    end = before + fresh
    bias = floats(1, HEADS, length, end)
    got, _, _ = group(q, *[rows[None, before:]] * 2, [past] * 2, [end], end, *[None] * 3, bias, None, *scales,
                      None, None, np.array([fresh], "i4"), **kinds)
    want = attend(q[0, :fresh], rows[:end], rows[:end], window=kinds.get("local_window_size", 0),
                  bias=bias[0, :, :fresh])
    np.testing.assert_allclose(got[0, :fresh], want, rtol=2e-5, atol=2e-5)
    assert np.isfinite(got).all()


@pytest.mark.parametrize("bits", [0, 8])
def test_sequences_longer_than_the_stated_total(bits):
    """A past with room for more is read to the end of its sequence."""
    rows, q = floats(6, KEY_HEADS * SIZE).round(), floats(1, 1, HEADS * SIZE)
    past = np.zeros((1, KEY_HEADS, 8, SIZE), "i1" if bits else "f4")
    past[0, :, :5] = heads_of(rows[:5])
    more = [None] * 5 + [np.ones(1, "f4")] * 2 if bits else []
    kinds = dict(k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR") if bits else {}
    got, _, _ = group(q, *[rows[None, 5:]] * 2, [past] * 2, [6], 2, *more, **kinds)
    np.testing.assert_allclose(got[0], attend(q[0], rows, rows), rtol=2e-5, atol=2e-5)
    with pytest.raises(KernelError, match="attention_bias does not fit"):
        more[:5] = [None] * 3 + [floats(1, HEADS, 1, 5), None]
        group(q, *[rows[None, 5:]] * 2, [past] * 2, [6], 2, *more, **kinds)


@pytest.mark.parametrize("ends", [[5, 5], [5, 2]])
def test_queries_that_see_all_keys(ends):
    q, k, v = floats(2, 5, HEADS * SIZE), floats(2, 5, KEY_HEADS * SIZE), floats(2, 5, KEY_HEADS * SIZE)
    got, keys, _ = group(q, k, v, (None, None), ends, 5, causal=0)
    for b, end in enumerate(ends):
        want = attend(q[b, :end], k[b, :end], v[b, :end], causal=False)
        np.testing.assert_allclose(got[b, :end], want, rtol=2e-5, atol=2e-5)
        np.testing.assert_array_equal(keys[b, :, :end], heads_of(k[b, :end]))


@pytest.mark.parametrize("attributes,more,text", [
    (dict(sliding_window_cache=1), [], "a cache of 4 positions for windows of 0"),
    (dict(sliding_window_cache=1, local_window_size=5), [], "a cache of 4 positions for windows of 5"),
    (dict(causal=0, local_window_size=2), [], "needs causal = 1"),
    (dict(k_quant_type="PER_TENSOR"), [None] * 5, "a cache of element type"),
    (dict(k_quant_type="PER_ROW"), [], "element type|PER_ROW|type")])
def test_caches_that_do_not_fit(attributes, more, text):
    x = floats(1, 1, HEADS * SIZE), *(floats(1, 1, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(1, KEY_HEADS, 4, SIZE)] * 2
    if "PER_ROW" in str(attributes):
        past = [x.astype("i1") for x in past]
    with pytest.raises(KernelError, match=text):
        group(*x, past, [5], 5, *more, **attributes)


@pytest.mark.parametrize("scale", [None, np.ones(2, "f4"), np.ones(1, "f8")])
def test_scales_that_do_not_fit_a_cache(scale):
    x = floats(1, 1, HEADS * SIZE), *(floats(1, 1, KEY_HEADS * SIZE) for _ in "kv")
    with pytest.raises(KernelError, match="scales of a cache|type"):
        group(*x, [np.zeros((1, KEY_HEADS, 4, SIZE), "i1")] * 2, [5], 5, *[None] * 5, scale, scale,
              k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR")


def test_an_addend_behind_which_queries_are_padding():
    """The addend has columns for the positions of the sequence, and the chunk has more rows: an addend of large numbers
    behind it must change nothing."""
    q, k, v = floats(1, 40, HEADS * SIZE), *(floats(1, 40, KEY_HEADS * SIZE) for _ in "kv")
    past = [np.zeros((1, KEY_HEADS, 4, SIZE), "f4")] * 2
    bias = floats(1, 1, 40, 1)
    got, keys, _ = group(q, k, v, past, [1], 1, None, None, None, bias, local_window_size=4, sliding_window_cache=1)
    np.testing.assert_allclose(got[0, :1], attend(q[0, :1], k[0, :1], v[0, :1]), rtol=2e-5, atol=2e-5)
    assert np.isfinite(got).all()
    np.testing.assert_array_equal(keys[0, :, :1], heads_of(k[0, :1]))
