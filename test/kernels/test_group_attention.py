# ===-- test_group_attention.py - GroupQueryAttention against numpy ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with rotation, window, sinks and addends, over caches of equal and of other lengths."""

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(8)
HEADS, KEY_HEADS, SIZE = 4, 2, 16
ANGLES = rng.uniform(0, 6, (40, SIZE // 2))
TABLES = [np.cos(ANGLES).astype("f4"), np.sin(ANGLES).astype("f4")]


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def turned(x, positions):
    """`x` [heads, positions, size] with its halves rotated by the angles of the positions."""
    c, s = (np.cos(ANGLES[positions]), np.sin(ANGLES[positions]))
    a, b = x[..., :SIZE // 2], x[..., SIZE // 2:]
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def expected(q, k, v, past, valid, rotary, window, sinks, bias, softcap, norms=None, seen=None):
    """The result per batch, and the keys and values that are valid behind it. `valid` counts the
    positions of each batch before the new ones; `norms` has the scale and the epsilon of queries
    and those of keys; `seen` receives the scores and the weights per batch."""
    batch, length = q.shape[:2]
    results, caches = [], []
    for b in range(batch):
        at = valid[b] + np.arange(length)
        split = [x[b].reshape(length, -1, SIZE).transpose(1, 0, 2).astype("f8") for x in (q, k, v)]
        if norms:
            split[:2] = [x / np.sqrt(np.square(x).mean(-1, keepdims=True) + epsilon) * scale
                         for x, (scale, epsilon) in zip(split, norms)]
        if rotary:
            split[:2] = [turned(x, at) for x in split[:2]]
        keys, values = (np.concatenate([old[b, :, :valid[b]], new], 1)
                        for old, new in zip(past, split[1:]))
        caches.append((keys, values))
        keys, values = (np.repeat(x, HEADS // KEY_HEADS, 0) for x in (keys, values))
        scores = split[0] @ keys.transpose(0, 2, 1) / np.sqrt(SIZE)
        if softcap:
            scores = softcap * np.tanh(scores / softcap)
        columns = np.arange(keys.shape[1])
        if bias is not None:
            scores = scores + bias[b % len(bias), :, :, :len(columns)]
        hidden = columns > at[:, None]
        if window > 0:
            hidden |= columns <= at[:, None] - window
        shown, scores = np.where(hidden, 0, scores), np.where(hidden, -np.inf, scores)
        extra = np.full((HEADS, length, 1), -np.inf if sinks is None else 0.0)
        if sinks is not None:
            extra += np.asarray(sinks).reshape(-1, 1, 1)
        scores = np.concatenate([scores, extra], -1)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        if seen is not None:
            seen.append((shown, weights[..., :-1]))
        results.append((weights[..., :-1] @ values).transpose(1, 0, 2).reshape(length, -1))
    return np.stack(results), caches


# Lengths of the past per batch and what the past's tensors hold; several tiles of keys.
@pytest.mark.parametrize("valid,room,length", [
    ([0, 0], 0, 3), ([5, 5], 5, 1), ([5, 3], 5, 1), ([20, 20], 20, 9), ([70, 1], 70, 1),
    ([150, 150], 150, 1), ([150, 150], 150, 60), ([4, 4], 9, 2)])
@pytest.mark.parametrize("form", ["plain", "rotary", "window", "sinks", "smooth", "bias", "cap"])
def test_group_query_attention(valid, room, length, form):
    batch = len(valid)
    rotary = form == "rotary" and max(valid) + length <= len(ANGLES)
    window = 4 if form == "window" else -1
    q, k, v = floats(batch, length, HEADS * SIZE), *(floats(batch, length, KEY_HEADS * SIZE)
                                                     for _ in "kv")
    past = [floats(batch, KEY_HEADS, room, SIZE) for _ in "kv"]
    total = max(valid) + length
    bias = floats(1, HEADS, length, total) if form == "bias" else None
    sinks = floats(HEADS) if form == "sinks" else [0] * HEADS if form == "smooth" else None
    inputs = [q, k, v, *past, np.array(valid, "i4") + np.int32(length - 1), np.array(total, "i4"),
              *(TABLES if rotary else (None, None)), None, bias,
              sinks if form == "sinks" else None]
    got, keys, values = call(
        "GroupQueryAttention", *inputs, outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS,
        do_rotary=int(rotary), local_window_size=window, smooth_softmax=1 if form == "smooth" else -1,
        softcap=3.0 if form == "cap" else 0.0)
    want, caches = expected(q, k, v, past, valid, rotary, window, sinks, bias,
                            3.0 if form == "cap" else 0)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    for b, (wanted_keys, wanted_values) in enumerate(caches):
        count = wanted_keys.shape[1]
        np.testing.assert_allclose(keys[b, :, :count], wanted_keys, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(values[b, :, :count], wanted_values, rtol=1e-5, atol=1e-5)
        assert keys.shape[2] == max(total, room)


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("form", ["rotary", "window", "sinks", "bias", "cap", "rows", "f16"])
def test_scores_are_an_output(mode, form):
    """As ONNX Runtime has them: keys that a query does not see have 0, before the softmax as well."""
    valid, length = ([6, 3], 1) if form != "window" else ([6, 6], 3)
    q, k, v = floats(2, length, HEADS * SIZE), *(floats(2, length, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(2, KEY_HEADS, 6, SIZE) for _ in "kv"]
    bias = floats(1, HEADS, length, 6 + length) if form == "bias" else None
    sinks = floats(HEADS) if form == "sinks" else None
    given, kinds = past, {}
    if form == "rows":
        given = [np.clip(np.rint(x * 32), -128, 127).astype("i1") for x in past]
        past, k, v = ([np.clip(np.rint(x * 32), -128, 127).astype("f4") / 32 for x in each]
                      for each in (past, [k], [v]))
        k, v = k[0], v[0]
        kinds = dict(k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR")
    if form == "f16":
        q, k, v, *past = (x.astype("f2") for x in (q, k, v, *past))
        given = past
    scales = [np.array([1 / 32], "f4")] * 2 if kinds else [None, None]
    window, cap = 4 if form == "window" else -1, 3.0 if form == "cap" else 0.0
    seen = []
    want, _ = expected(q, k, v, past, valid, form == "rotary", window, sinks, bias, cap, None, seen)
    inputs = [q, k, v, *given, np.array(valid, "i4") + np.int32(length - 1),
              np.array(6 + length, "i4"), *(TABLES if form == "rotary" else (None, None)), None,
              bias, sinks, *scales]
    got, _, _, scores = call("GroupQueryAttention", *inputs, outputs=4, num_heads=HEADS,
                             kv_num_heads=KEY_HEADS, do_rotary=int(form == "rotary"),
                             local_window_size=window, softcap=cap, qk_output=mode, **kinds)
    exact = 2e-5 if form != "f16" else 5e-3
    np.testing.assert_allclose(got.astype("f4"), want, rtol=exact, atol=exact)
    assert scores.dtype == q.dtype and scores.shape == (2, HEADS, length, 6 + length)
    for b, both in enumerate(seen):
        keys = both[0].shape[-1]
        np.testing.assert_allclose(scores[b, ..., :keys], both[mode - 1], rtol=exact, atol=exact)
        assert not scores[b, ..., keys:].any()


@pytest.mark.parametrize("attributes, outputs, text", [
    ({}, 4, "qk_output is 0, expected 1 to 2"), (dict(qk_output=3), 3, "qk_output is 3, expected 0 to 2"),
    (dict(qk_output=2, sliding_window_cache=1, local_window_size=2), 4, "beside sliding_window_cache")])
def test_scores_that_are_no_output_are_refused(attributes, outputs, text):
    x = floats(1, 1, HEADS * SIZE)
    with pytest.raises(KernelError, match=text):
        call("GroupQueryAttention", x, x, x, floats(1, HEADS, 4, SIZE), floats(1, HEADS, 4, SIZE),
             np.array([4], "i4"), np.array(5, "i4"), outputs=outputs, num_heads=HEADS,
             kv_num_heads=HEADS, **attributes)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("valid", [[4, 4], [4, 2]])
@pytest.mark.parametrize("epsilons", [{}, {"qk_norm_epsilon": 0.5},
                                      {"q_norm_epsilon": 0.25, "k_norm_epsilon": 0.75}])
def test_queries_and_keys_are_normalized(valid, rotary, packed, epsilons):
    """RMS normalization per head comes before the rotation; values and the past stay as they are."""
    q, k, v = floats(2, 1, HEADS * SIZE), *(floats(2, 1, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(2, KEY_HEADS, 4, SIZE) for _ in "kv"]
    scales = [floats(SIZE), floats(SIZE)]
    both = epsilons.get("qk_norm_epsilon", 1e-6)
    norms = list(zip(scales, (epsilons.get(f"{name}_norm_epsilon", both) for name in "qk")))
    vectors = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
    got, keys, values = call(
        "GroupQueryAttention", *vectors, *past, np.array(valid, "i4"), np.array(5, "i4"),
        *(TABLES if rotary else (None, None)), *[None] * 5, *scales, outputs=3, num_heads=HEADS,
        kv_num_heads=KEY_HEADS, do_rotary=int(rotary), **epsilons)
    want, caches = expected(q, k, v, past, valid, rotary, -1, None, None, 0, norms)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    for b, wanted in enumerate(caches):
        for made, each in zip((keys, values), wanted):
            np.testing.assert_allclose(made[b, :, :each.shape[1]], each, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("room", [0, 3])
def test_caches_that_nobody_reads(room):
    """Only the result is wanted; without a past the caches were written to no memory."""
    q, k, v = floats(2, 4, HEADS * SIZE), *(floats(2, 4, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(2, KEY_HEADS, room, SIZE) for _ in "kv"]
    [got] = call("GroupQueryAttention", q, k, v, *(past if room else (None, None)),
                 np.full(2, room + 3, "i4"), np.array(room + 4, "i4"), outputs=1, num_heads=HEADS,
                 kv_num_heads=KEY_HEADS)
    want, _ = expected(q, k, v, past, [room, room], False, -1, None, None, 0)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("size", [0, 3, SIZE])
@pytest.mark.parametrize("kind", ["f4", "f2"])
def test_an_empty_cache_has_any_size_of_a_head(size, kind):
    """Models leave it open by a name, of which a first cache knows no number."""
    q, k, v = floats(2, 4, HEADS * SIZE), *(floats(2, 4, KEY_HEADS * SIZE) for _ in "kv")
    past = [np.zeros((2, KEY_HEADS, 0, size), kind)] * 2
    got, keys, _ = call("GroupQueryAttention", q, k, v, *past, np.full(2, 3, "i4"), np.array(4, "i4"), outputs=3,
                        num_heads=HEADS, kv_num_heads=KEY_HEADS)
    whole = [np.zeros((2, KEY_HEADS, 0, SIZE), "f4")] * 2
    want, caches = expected(q, k, v, whole, [0, 0], False, -1, None, None, 0)
    np.testing.assert_allclose(got, want, rtol=3e-3 if kind == "f2" else 2e-5, atol=3e-3 if kind == "f2" else 2e-5)
    assert keys.dtype == np.dtype(kind)
    np.testing.assert_allclose(keys, np.stack([pair[0] for pair in caches]), rtol=1e-3, atol=1e-3)
    with pytest.raises(KernelError, match="the past does not fit"):
        call("GroupQueryAttention", q, k, v, *[np.zeros((2, 1, 0, size), kind)] * 2, np.full(2, 3, "i4"),
             np.array(4, "i4"), outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS)


@pytest.mark.parametrize("scales", [(floats(SIZE), None), (floats(SIZE), floats(SIZE - 1))])
def test_scales_that_do_not_fit(scales):
    q, k, v = floats(1, 1, HEADS * SIZE), *(floats(1, 1, KEY_HEADS * SIZE) for _ in "kv")
    with pytest.raises(KernelError, match="q_norm_weight and k_norm_weight have 16 and"):
        call("GroupQueryAttention", q, k, v, None, None, np.zeros(1, "i4"), np.array(1, "i4"),
             *[None] * 7, *scales, outputs=1, num_heads=HEADS, kv_num_heads=KEY_HEADS)


def test_half_precision_is_computed_in_floats():
    valid, length = [3, 3], 1
    q, k, v = floats(2, length, HEADS * SIZE), *(floats(2, length, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(2, KEY_HEADS, 3, SIZE) for _ in "kv"]
    halves = [x.astype("f2") for x in (q, k, v, *past)]
    got, _, _ = call("GroupQueryAttention", *halves, np.array([3, 3], "i4"), np.array(4, "i4"),
                     outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS)
    q, k, v, *past = (x.astype("f4") for x in halves)
    want, _ = expected(q, k, v, past, valid, False, -1, None, None, 0)
    assert got.dtype == np.float16
    np.testing.assert_allclose(got.astype("f4"), want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("valid", [[3, 3], [3, 1]])
def test_a_cache_has_the_type_of_the_past(valid):
    q, k, v = floats(2, 1, HEADS * SIZE), *(floats(2, 1, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(2, KEY_HEADS, 3, SIZE).astype("f2") for _ in "kv"]
    got, keys, values = call(
        "GroupQueryAttention", q, k, v, *past, np.array(valid, "i4"), np.array(4, "i4"), outputs=3,
        num_heads=HEADS, kv_num_heads=KEY_HEADS)
    want, caches = expected(q, k, v, past, valid, False, -1, None, None, 0)
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)
    for b, wanted in enumerate(caches):
        for made, each in zip((keys, values), wanted):
            assert made.dtype == np.float16
            np.testing.assert_array_equal(made[b, :, :each.shape[1]], each.astype("f2"))


def test_caches_of_two_types():
    q, k, v = floats(2, 1, HEADS * SIZE), *(floats(2, 1, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(2, KEY_HEADS, 3, SIZE).astype(kind) for kind in ("f2", "f4")]
    with pytest.raises(KernelError, match="past_key and past_value have different types|type"):
        call("GroupQueryAttention", q, k, v, *past, np.array([3, 3], "i4"), np.array(4, "i4"),
             outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS)


def test_positions_that_no_cache_holds():
    q, k, v = floats(1, 1, HEADS * SIZE), *(floats(1, 1, KEY_HEADS * SIZE) for _ in "kv")
    past = [floats(1, KEY_HEADS, 50, SIZE) for _ in "kv"]
    with pytest.raises(KernelError, match="position 50 is not in the cache of 40"):
        call("GroupQueryAttention", q, k, v, *past, np.array([50], "i4"), np.array(51, "i4"),
             *TABLES, outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS, do_rotary=1)
    with pytest.raises(KernelError, match="the past does not fit"):
        call("GroupQueryAttention", q, k, v, *(x.reshape(1, 4, 50, 8) for x in past),
             np.array([50], "i4"), np.array(51, "i4"), outputs=3, num_heads=HEADS, kv_num_heads=KEY_HEADS)
