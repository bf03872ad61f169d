# ===-- test_attention.py - attention and other operators of sequences ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(7)


def numbers(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def reference(q, k, v, bias=0.0, scale=None, softcap=0.0):
    """[batch, heads, length, size] in double precision; `bias` is added to the scores."""
    q, k, v = (x.astype("f8") for x in (q, k, v))
    k, v = (x.repeat(q.shape[1] // k.shape[1], 1) for x in (k, v))
    raw = q @ k.swapaxes(2, 3) * (scale or q.shape[-1]**-0.5)
    capped = softcap * np.tanh(raw / softcap) if softcap else raw
    biased = capped + bias
    with np.errstate(invalid="ignore"):
        e = np.exp(biased - biased.max(-1, keepdims=True))
        p = np.nan_to_num(e / e.sum(-1, keepdims=True))
    return p @ v, [raw, capped, biased, p]


def pack(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("past", [0, 5])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_attention(kv_heads, packed, causal, past, dtype):
    q = numbers(2, 6, 7, 16, dtype=dtype)
    k, v = numbers(2, kv_heads, 9, 16, dtype=dtype), numbers(2, kv_heads, 9, 10, dtype=dtype)
    old_k, old_v = numbers(2, kv_heads, past, 16, dtype=dtype), numbers(2,
                                                                        kv_heads,
                                                                        past,
                                                                        10,
                                                                        dtype=dtype)
    mask = numbers(7, 9 + past, dtype=dtype)
    all_k, all_v = np.concatenate([old_k, k], 2), np.concatenate([old_v, v], 2)
    hidden = np.arange(9 + past) > np.arange(7)[:, None] + past
    want, _ = reference(q, all_k, all_v, mask + np.where(causal * hidden, -np.inf, 0), softcap=3)
    heads = {"q_num_heads": 6, "kv_num_heads": kv_heads} if packed else {}
    inputs = [*((pack(x) if packed else x) for x in (q, k, v)), mask, old_k, old_v]
    missing = () if past else (4, 5)
    y, present_k, present_v = call("Attention",
                                   *inputs,
                                   outputs=3,
                                   missing=missing,
                                   is_causal=causal,
                                   softcap=3.0,
                                   **heads)
    tolerance = {"f4": 1e-4, "f8": 1e-11, "f2": 1e-2}[dtype]
    want = pack(want) if packed else want
    assert y.shape == want.shape and y.dtype == q.dtype
    np.testing.assert_allclose(y, want, rtol=tolerance, atol=tolerance)
    assert (present_k == all_k).all() and (present_v == all_v).all()
    alone, = call("Attention", *inputs, missing=missing, is_causal=causal, softcap=3.0, **heads)
    assert (alone == y).all()


@pytest.mark.parametrize("mode", range(4))
def test_scores(mode):
    q, k, v, mask = numbers(1, 2, 3, 8), numbers(1, 2, 5, 8), numbers(1, 2, 5, 8), rng.random(
        (1, 1, 3, 4)) > 0.3
    mask[..., 0, :] = False  # one row sees nothing
    bias = np.where(np.pad(mask, [(0, 0)] * 3 + [(0, 1)]), 0, -np.inf)
    want, scores = reference(q, k, v, bias, scale=0.3, softcap=2)
    got, seen = [r for r in call("Attention", q, k, v, mask, outputs=4, scale=0.3, softcap=2.0,
                                 qk_matmul_output_mode=mode)][::3]
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert (got[:, :, 0] == 0).all()
    np.testing.assert_allclose(seen, scores[mode], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", [-1, 4, 2**32 - 1])
def test_scores_of_a_mode_that_there_is_not(mode):
    q, k = numbers(1, 2, 3, 8), numbers(1, 2, 5, 8)
    with pytest.raises(KernelError, match=f"qk_matmul_output_mode is {mode}, expected 0 to 3"):
        call("Attention", q, k, k, outputs=4, qk_matmul_output_mode=mode)


@pytest.mark.parametrize("left,right", [(-1, 1), (2, -1), (2, 0), (0, 0), (1, 3)])
@pytest.mark.parametrize("causal", [0, 1])
def test_windows_and_lengths(left, right, causal):
    q, k, v = numbers(2, 2, 4, 8), numbers(2, 2, 6, 8), numbers(2, 2, 6, 8)
    lengths = np.array([5, 2])
    i, j = np.arange(4)[:, None] + (lengths - 4)[:, None, None, None], np.arange(6)
    allowed = (j < lengths[:, None, None, None]) & ((j <= i) | (not causal))
    if left >= 0:
        allowed = allowed & (j >= i - left)
    if right >= 0:
        allowed = allowed & (j <= i + right)
    want, _ = reference(q, k, v, np.where(allowed, 0, -np.inf))
    got, = call("Attention",
                q,
                k,
                v,
                None,
                None,
                None,
                lengths,
                missing=[3, 4, 5],
                is_causal=causal,
                left_window_size=left,
                right_window_size=right)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_attention_errors_and_empty():
    q, k = numbers(1, 4, 3, 8), numbers(1, 2, 5, 8)
    for inputs in ([q, numbers(1, 3, 5, 8), numbers(1, 3, 5, 8)], [q, k, numbers(1, 2, 4, 8)],
                   [q[0], k[0], k[0]], [q, k, k, numbers(3, 6)], [q, k, k, numbers(2, 5)]):
        with pytest.raises(KernelError):
            call("Attention", *inputs)
    long = np.zeros((1, 1, 2**31, 0), "f4")  # its scores are more than there can be
    with pytest.raises(KernelError):
        call("Attention", long, long, long)
    assert call("Attention", q[:, :, :0], k, k)[0].shape == (1, 4, 0, 8)
    assert (call("Attention", q, k[:, :, :0], k[:, :, :0])[0] == 0).all()


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("per_key", [False, True])
def test_linear_attention(rule, per_key):
    batch, steps, heads, shared, size, values = 2, 5, 4, 2, 3, 6
    q, k, v = numbers(batch, steps,
                      heads * size), numbers(batch, steps,
                                             shared * size), numbers(batch, steps, shared * values)
    state = numbers(batch, shared, size, values)
    decay, beta = -abs(numbers(batch, steps, shared * (size if per_key else 1))), rng.random(
        (batch, steps, shared)).astype("f4")
    s, want = state.astype("f8"), np.zeros((batch, steps, heads, values))
    for t in range(steps):
        kt, vt = k[:, t].reshape(batch, shared, size), v[:, t].reshape(batch, shared, values)
        if "gated" in rule:
            s = s * np.exp(decay[:, t].reshape(batch, shared, -1, 1))
        error = vt
        if "delta" in rule:
            error = beta[:, t, :, None] * (vt - np.einsum("bhd,bhdv->bhv", kt, s))
        s = s + kt[..., None] * error[:, :, None]
        qt = q[:, t].reshape(batch, shared, heads // shared, size)
        want[:, t] = np.einsum("bhgd,bhdv->bhgv", qt, s).reshape(batch, heads, values) * size**-0.5
    got, last = call("LinearAttention",
                     q,
                     k,
                     v,
                     state,
                     decay,
                     beta,
                     outputs=2,
                     q_num_heads=heads,
                     kv_num_heads=shared,
                     update_rule=rule)
    np.testing.assert_allclose(got, want.reshape(batch, steps, -1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(last, s, rtol=1e-4, atol=1e-4)
    with pytest.raises(KernelError):
        call("LinearAttention",
             q,
             k,
             v[:, 1:],
             outputs=2,
             q_num_heads=heads,
             kv_num_heads=shared,
             update_rule="linear")


@pytest.mark.parametrize("length,taps", [(9, 4), (1, 4), (2, 1), (0, 3)])
def test_causal_conv(length, taps):
    x, w, b, past = numbers(2, 3, length), numbers(3, 1, taps), numbers(3), numbers(2, 3, taps - 1)
    line = np.concatenate([past, x], 2)
    want = b[:, None] + sum(w[:, 0, i, None] * line[..., i:i + length] for i in range(taps))
    got, state = call("CausalConvWithState", x, w, b, past, outputs=2)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert (state == line[..., length:]).all()
    got, = call("CausalConvWithState", x, w, b, past, activation="silu")
    np.testing.assert_allclose(got, want / (1 + np.exp(-want)), rtol=1e-4, atol=1e-6)
    with pytest.raises(KernelError):
        call("CausalConvWithState", x, w, b, past, activation="relu")


def test_rotary_embedding_turns():
    x, angle = numbers(2, 3, 4, 8), numbers(2, 4, 3)
    got, = call("RotaryEmbedding",
                x,
                np.cos(angle),
                np.sin(angle),
                rotary_embedding_dim=6,
                interleaved=1)
    z = (x[..., 0:6:2] + 1j * x[..., 1:6:2]) * np.exp(1j * angle[:, None])
    np.testing.assert_allclose(got[..., 0:6:2], z.real, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[..., 1:6:2], z.imag, rtol=1e-4, atol=1e-5)
    assert (got[..., 6:] == x[..., 6:]).all()
    packed, = call("RotaryEmbedding",
                   pack(x),
                   np.cos(angle),
                   np.sin(angle),
                   rotary_embedding_dim=6,
                   interleaved=1,
                   num_heads=3)
    assert (packed == pack(got)).all()
    first = angle[:1]
    shared, = call("RotaryEmbedding", x, np.cos(first), np.sin(first), rotary_embedding_dim=6)
    each = np.repeat(first, len(x), 0)
    repeated, = call("RotaryEmbedding", x, np.cos(each), np.sin(each), rotary_embedding_dim=6)
    assert (shared == repeated).all()
    cache = numbers(10, 4)
    rows = np.arange(x.shape[2])[None]
    shared, = call("RotaryEmbedding", x, cache, cache, rows)
    repeated, = call("RotaryEmbedding", x, cache, cache, np.repeat(rows, len(x), 0))
    assert (shared == repeated).all()
    for positions in (np.full((2, 4), 10), rows[:, 1:]):
        with pytest.raises(KernelError):
            call("RotaryEmbedding", x, cache, cache, positions)


def test_swiglu():
    a, b = numbers(3, 50, dtype="f8"), numbers(3, 50, dtype="f8")
    np.testing.assert_allclose(call("SwiGLU", a, b, alpha=1.5)[0],
                               a / (1 + np.exp(-1.5 * a)) * b,
                               rtol=1e-12)
    with pytest.raises(KernelError):
        call("SwiGLU", a, b[:1])
