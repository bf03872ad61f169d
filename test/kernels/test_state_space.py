# ===-- test_state_space.py - com.microsoft: operators that carry a state -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the operators of com.microsoft have beyond those of the standard (test_attention.py), and
the gates around them."""

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(21)


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype("f8")))


@pytest.mark.parametrize("length", [0, 1, 2, 9])
@pytest.mark.parametrize("taps,dilation", [(4, 1), (3, 2), (1, 3)])
@pytest.mark.parametrize("window", [0, 1, 3])
@pytest.mark.parametrize("last", [0, 1])
def test_causal_conv(length, taps, dilation, window, last):
    before = (taps - 1) * dilation
    x, w, b = floats(2, 6, length), floats(6, 1, taps), floats(6)
    pasts = floats(max(window, 1), 2, 6, before)
    line = np.concatenate([pasts[-1], x], 2)
    want = b[:, None] + sum(w[:, 0, i, None] * line[..., i * dilation:i * dilation + length] for i in range(taps))
    states = [line[..., passed:passed + before] if passed > 0 or passed == length else np.zeros((2, 6, before), "f4")
              for passed in range(length - max(window, 1) + 1, length + 1)]

    def layout(x):
        # Channels are two dims where they are the last ones.
        return np.moveaxis(x, -2, -1).reshape(*x.shape[:-2], x.shape[-1], 2, 3) if last else x

    past = layout(pasts if window else pasts[0])
    got, state = call("MsCausalConvWithState", layout(x), w, b, past, outputs=2, dilation=dilation,
                      channels_last=last, state_window=window, activation="silu")
    np.testing.assert_allclose(got, layout(want * sigmoid(want)), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(state, layout(np.stack(states) if window else states[0]))


@pytest.mark.parametrize("attributes", [dict(dilation=0), dict(state_window=9), dict(state_window=2)])
def test_causal_conv_errors(attributes):
    with pytest.raises(KernelError):
        call("MsCausalConvWithState", floats(2, 6, 3), floats(6, 1, 3), None, floats(2, 6, 2), **attributes)


@pytest.mark.parametrize("heads,shared", [(2, 4), (4, 2), (2, 2)])
@pytest.mark.parametrize("window", [0, 1, 3, 8])
def test_linear_attention(heads, shared, window):
    """States of the last steps are kept, and heads of states may share those of queries."""
    batch, steps, size, values = 2, 5, 3, 4
    q, k, v = floats(batch, steps, heads, size), floats(batch, steps, shared, size), floats(batch, steps, shared, values)
    decay, beta = -np.abs(floats(batch, steps, shared)), rng.random((batch, steps, shared)).astype("f4")
    slots, results = max(window, 1), max(heads, shared)
    pasts = floats(slots, batch, shared, size, values)
    s, want, states = pasts[-1].astype("f8"), np.zeros((batch, steps, results, values)), []
    for t in range(steps):
        s = s * np.exp(decay[:, t, :, None, None])
        error = beta[:, t, :, None] * (v[:, t] - np.einsum("bhd,bhdv->bhv", k[:, t], s))
        s = s + k[:, t, ..., None] * error[:, :, None]
        queries, held = (np.repeat(x, results // x.shape[1], 1) for x in (q[:, t], s))
        want[:, t] = np.einsum("bhd,bhdv->bhv", queries, held) * size**-0.5
        states.append(s)
    states = [np.zeros_like(s)] * (slots - steps) + states[-slots:]
    got, last = call("MsLinearAttention", *(x.reshape(batch, steps, -1) for x in (q, k, v)),
                     pasts if window else pasts[0], decay, beta, outputs=2, q_num_heads=heads,
                     kv_num_heads=shared, state_window=window)
    np.testing.assert_allclose(got, want.reshape(batch, steps, -1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(last, np.stack(states) if window else states[0], rtol=1e-4, atol=1e-5)
    with pytest.raises(KernelError):
        call("MsLinearAttention", q.reshape(batch, steps, -1), k.reshape(batch, steps, -1),
             v.reshape(batch, steps, -1), None, decay, beta, outputs=2, q_num_heads=3, kv_num_heads=shared)


@pytest.mark.parametrize("kind", ["f4", "f2"])
def test_gates_of_linear_attention(kind):
    a, b = (floats(2, 3, 4) * np.float32(20)).astype(kind), floats(2, 3, 4).astype(kind)
    bias, scale = floats(4), floats(4)
    decay, beta = call("LinearAttentionGate", a, bias, scale, b, outputs=2)
    tolerance = 1e-5 if kind == "f4" else 2e-3
    np.testing.assert_allclose(decay, scale * np.logaddexp(0, a.astype("f8") + bias), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(beta, sigmoid(b), rtol=tolerance, atol=tolerance)
    assert decay.dtype == beta.dtype == np.dtype(kind)
    decay, = call("LinearAttentionGate", a, bias, scale)
    np.testing.assert_allclose(decay, scale * np.logaddexp(0, a.astype("f8") + bias), rtol=tolerance, atol=tolerance)
    with pytest.raises(KernelError):
        call("LinearAttentionGate", a, bias, scale, outputs=2)
    with pytest.raises(KernelError):
        call("LinearAttentionGate", a, bias[:3], scale)


@pytest.mark.parametrize("activation", ["silu", "swish", "sigmoid"])
def test_gated_norm(activation):
    x, scale, gate = floats(2, 3, 12), floats(4), floats(2, 3, 12)
    rows = x.reshape(2, 3, 3, 4).astype("f8")
    want = (rows / np.sqrt(np.square(rows).mean(-1, keepdims=True) + 0.5) * scale).reshape(x.shape)
    want *= sigmoid(gate) * (1 if activation == "sigmoid" else gate)
    got, = call("GatedRMSNorm", x, scale, gate, activation=activation, epsilon=0.5)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    for wrong in ((x, floats(5), gate), (x, scale, gate[:1])):
        with pytest.raises(KernelError):
            call("GatedRMSNorm", *wrong)
    with pytest.raises(KernelError):
        call("GatedRMSNorm", x, scale, gate, activation="tanh")
