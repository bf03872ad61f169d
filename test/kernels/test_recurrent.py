# ===-- test_recurrent.py - RNN, GRU, LSTM -------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(4)
FUNCTIONS = {
    "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)), "Tanh": lambda x, a, b: np.tanh(x),
    "Relu": lambda x, a, b: np.maximum(x, 0), "Affine": lambda x, a, b: a * x + b,
    "LeakyRelu": lambda x, a, b: np.where(x < 0, a * x, x),
    "ThresholdedRelu": lambda x, a, b: np.where(x > a, x, 0),
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
    "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "Elu": lambda x, a, b: np.where(x < 0, a * np.expm1(x), x),
    "Softsign": lambda x, a, b: x / (1 + abs(x)), "Softplus": lambda x, a, b: np.logaddexp(0, x),
}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def run_direction(kind, x, w, r, bias, h, c, peep, lengths, reverse, fns, clip, options):
    """One sequence after the other, one step after the other."""
    steps, batch, _ = x.shape
    y = np.zeros((steps, batch, h.shape[1]))
    h, c, n = h.copy(), c.copy(), h.shape[1]
    limit = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
    wb, rb = bias[:len(w)], bias[len(w):]
    for b in range(batch):
        for step in range(lengths[b]):
            t = lengths[b] - 1 - step if reverse else step
            gx, gh = w @ x[t, b] + wb, r @ h[b] + rb
            if kind == "RNN":
                h[b] = fns[0](limit(gx + gh))
            elif kind == "GRU":
                z = fns[0](limit(gx[:n] + gh[:n]))
                reset = fns[0](limit(gx[n:2 * n] + gh[n:2 * n]))
                if options.get("linear_before_reset"):
                    new = fns[1](limit(gx[2 * n:] + reset * gh[2 * n:]))
                else:
                    new = fns[1](limit(gx[2 * n:] + r[2 * n:] @ (reset * h[b]) + rb[2 * n:]))
                h[b] = (1 - z) * new + z * h[b]
            else:
                i, o, f, g = (gx + gh).reshape(4, n)
                i = fns[0](limit(i + peep[:n] * c[b]))
                f = 1 - i if options.get("input_forget") else fns[0](limit(f + peep[2 * n:] * c[b]))
                c[b] = f * c[b] + i * fns[1](limit(g))
                h[b] = fns[0](limit(o + peep[n:2 * n] * c[b])) * fns[2](c[b])
            y[t, b] = h[b]
    return y, h, c


def pack(kind, weights, hidden):
    """The order of kernels/nn/gates/GateLayout.h: panels of 64 columns, of all gates of some units."""
    packed = []
    for one in weights:
        gates = one.reshape(GATES[kind], hidden, -1)
        for part in [gates[:2], gates[2:]] if kind == "GRU" else [gates]:
            units = 64 // len(part)
            for first in range(0, hidden, units):
                packed.append(part[:, first:first + units].transpose(2, 0, 1).ravel())
    return np.concatenate([weights[:0].ravel(), *packed]).reshape(weights.shape)


def check(kind, direction="forward", layout=0, lengths=False, initial=True, peep=False, clip=0.0,
          activations=None, alpha=(), beta=(), dtype="f4", sizes=(5, 3, 4, 6), **options):
    steps, batch, inputs, hidden = sizes
    gates, both = GATES[kind], 2 if direction == "bidirectional" else 1
    functions = {"RNN": 1, "GRU": 2, "LSTM": 3}[kind]

    def make(*shape):
        return rng.standard_normal(shape).astype(dtype)

    x, w = make(steps, batch, inputs), make(both, gates * hidden, inputs)
    # Larger weights of the state would amplify the rounding of each step.
    r = make(both, gates * hidden, hidden) / np.asarray(np.sqrt(hidden), dtype)
    bias, h, c = make(both, 2 * gates * hidden), make(both, batch,
                                                      hidden), make(both, batch, hidden)
    p = make(both, 3 * hidden) * peep
    size = rng.integers(0, steps +
                        1, batch).astype("i4") if lengths else np.full(batch, steps, "i4")
    h, c = h * initial, c * initial
    names = activations or (["Tanh"]
                            if kind == "RNN" else ["Sigmoid", "Tanh", "Tanh"][:functions]) * both
    al, be = list(alpha), list(beta)
    fns = []
    for name in names:
        a = al.pop(0) if name in ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
                                  "HardSigmoid", "Elu") and al else {
                                      "HardSigmoid": 0.2,
                                      "LeakyRelu": 0.01
                                  }.get(name, 1)
        b = be.pop(0) if name in ("Affine", "ScaledTanh", "HardSigmoid") and be else {
            "HardSigmoid": 0.5,
            "Affine": 0
        }.get(name, 1)
        fns.append(lambda v, f=FUNCTIONS[name], a=a, b=b: f(v, a, b))
    results = [
        run_direction(kind, x.astype("f8"), w[d].astype("f8"), r[d].astype("f8"),
                      bias[d].astype("f8"), h[d].astype("f8"), c[d].astype("f8"), p[d], size, d == 1
                      or direction == "reverse", fns[d * functions:(d + 1) * functions], clip,
                      options) for d in range(both)
    ]
    y, last_h, last_c = (np.stack([one[i] for one in results], 1 if i == 0 else 0)
                         for i in range(3))
    arrays = [x, w, r, bias, size, h, c, p]
    if layout:
        arrays[0] = x.transpose(1, 0, 2)
        arrays[5], arrays[6] = h.transpose(1, 0, 2), c.transpose(1, 0, 2)
        y, last_h, last_c = y.transpose(2, 0, 1, 3), last_h.transpose(1, 0,
                                                                      2), last_c.transpose(1, 0, 2)
    count = 8 if kind == "LSTM" else 6
    missing = [4] * (not lengths) + [5, 6] * (not initial) + [7] * (not peep)
    attributes = dict(options, direction=direction, layout=layout, hidden_size=hidden)
    if clip:
        attributes["clip"] = clip
    for name, value in (("activations", activations), ("activation_alpha", alpha),
                        ("activation_beta", beta)):
        if value:
            attributes[name] = list(value)
    outputs = 3 if kind == "LSTM" else 2
    got = call(kind, *arrays[:count], outputs=outputs, missing=missing, **attributes)
    shapes = call(kind,
                  *arrays[:count],
                  outputs=outputs,
                  missing=missing,
                  only_shapes=True,
                  **attributes)
    packed = [pack(kind, weights, hidden) for weights in (w, r)]
    again = call(kind, arrays[0], *packed, *arrays[3:count], outputs=outputs, missing=missing,
                 packed=1, **attributes)
    for one, other in zip(got, again):
        np.testing.assert_array_equal(one, other)
    tolerance = {"f4": 2e-5, "f8": 1e-12, "f2": 2e-2}[dtype]
    for one, want, shape in zip(got, (y, last_h, last_c), shapes):
        assert one.shape == want.shape == shape and one.dtype == x.dtype
        np.testing.assert_allclose(one, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind,direction,layout,lengths", itertools.product(
    GATES, ["forward", "reverse", "bidirectional"], [0, 1], [False, True]))
def test_directions(kind, direction, layout, lengths):
    check(kind, direction, layout, lengths)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("dtype", ["f8", "f2"])
def test_types(kind, dtype):
    check(kind, dtype=dtype, initial=False)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (0, 2, 3, 4), (3, 0, 2, 5), (4, 9, 33, 40),
                                   (2, 1, 300, 70), (2, 10, 5, 80), (9, 1, 7, 200)])
def test_sizes(kind, sizes):
    check(kind, sizes=sizes, direction="bidirectional")


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_blocks_of_steps(kind, layout, direction):
    # More rows of data than are multiplied at once: 19 steps of 17 sequences are 3 blocks, 130 of
    # one sequence 2.
    check(kind, direction, layout, sizes=(19, 17, 5, 8))
    check(kind, direction, layout, sizes=(130, 1, 2, 3))
    check(kind, direction, layout, lengths=True, sizes=(19, 17, 5, 8))


@pytest.mark.parametrize("kind", GATES)
def test_clip(kind):
    """The gates are limited, the state of an LSTM is not: as ONNX Runtime has it."""
    check(kind, clip=0.4)


def test_options():
    check("GRU", linear_before_reset=1, direction="bidirectional", lengths=True)
    check("LSTM", peep=True, direction="bidirectional")
    check("LSTM", input_forget=1)


def rounded(weights):
    """Weights with 16 significant bits."""
    bits = weights.view("u4")
    return ((bits + np.uint32(128)) & ~np.uint32(255)).view("f4")


def narrow(kind, weights, hidden):
    """Packed weights [directions, gates * hidden, hidden] as kernels/nn/gates/NarrowGates.h stores them."""
    words = []
    for one in pack(kind, weights, hidden).reshape(len(weights), -1):
        gates = GATES[kind]
        for part in [2, 1] if kind == "GRU" else [gates]:
            units = hidden // (64 // part) * (64 // part)
            whole, one = np.split(one, [part * units * hidden])
            rest, one = np.split(one, [part * (hidden - units) * hidden])
            rows = whole.reshape(-1, 4, 16)
            last = rounded(rows[:, 3]).view("u4")
            for row in range(3):
                low = (last >> np.uint32(24 - 8 * row)) & np.uint32(255)
                bits = rows[:, row].view("u4").astype("i8")
                rows.view("u4")[:, row] = ((bits + 128 - low) // 256 * 256 + low).astype("u4")
            words += [rows[:, :3].ravel(), rest]
    return np.concatenate(words).reshape(len(weights), -1, hidden)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("sizes", [(5, 1, 4, 128), (3, 2, 4, 80)])
def test_narrow_weights(kind, sizes):
    """Differ from f32 by the rounding of weights to 16 bits, at most 2^-16 of each."""
    steps, batch, inputs, hidden = sizes
    gates = GATES[kind]
    x = rng.standard_normal((steps, batch, inputs)).astype("f4")
    w, r = (rng.standard_normal((2, gates * hidden, depth)).astype("f4") / np.float32(hidden**.5)
            for depth in (inputs, hidden))
    words = narrow(kind, r, hidden)
    assert words.shape[1] < r.shape[1]
    np.testing.assert_allclose(
        words[0, 0, 0], pack(kind, r, hidden).ravel()[0], rtol=2**-16)
    options = {"direction": "bidirectional", "hidden_size": hidden, "outputs": 2}
    want = call(kind, x, w, r, **options)
    got = call(kind, x, pack(kind, w, hidden), words, packed=2, **options)
    for one, other in zip(got, want):
        np.testing.assert_allclose(one, other, atol=2e-5)
        assert not np.array_equal(one, other)
    for wrong, packed in ((words, 1), (words, 0), (r, 2), (words.astype("f8"), 2)):
        with pytest.raises(KernelError):
            call(kind, x.astype(wrong.dtype), w.astype(wrong.dtype), wrong, packed=packed, **options)


def integers(kind, weights, hidden):
    """Packed weights as kernels/nn/gates/IntegerGates.h stores them, and the weights that they stand for
    in the order of ONNX."""
    chunks = weights.reshape(*weights.shape[:2], -1, 32)
    scales = abs(chunks).max(-1, keepdims=True) / np.float32(32767)
    digits = np.rint(chunks / scales).astype("i2")
    words = []
    packed = zip(*(pack(kind, array.astype("f4").reshape(weights.shape), hidden).reshape(
        len(weights), -1) for array in (digits, np.broadcast_to(scales, chunks.shape))))
    for digit, scale in packed:
        for part in [2, 1] if kind == "GRU" else [GATES[kind]]:
            whole = part * (hidden // (64 // part) * (64 // part)) * hidden
            both = [array[:whole].reshape(-1, hidden // 32, 32, 64) for array in (digit, scale)]
            pairs = both[0].astype("i2").reshape(-1, hidden // 32, 16, 2, 64).swapaxes(3, 4)
            pairs = np.ascontiguousarray(pairs).view("f4").reshape(*both[0].shape[:2], -1)
            words += [np.concatenate([pairs, both[1][:, :, 0]], 2).ravel()]
            rest = part * hidden * hidden - whole
            words += [digit[whole:whole + rest] * scale[whole:whole + rest]]
            digit, scale = digit[whole + rest:], scale[whole + rest:]
    return (np.concatenate(words).reshape(len(weights), -1, hidden),
            (digits * scales).reshape(weights.shape))


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("sizes", [(5, 1, 4, 128), (3, 2, 4, 96)])
def test_integer_weights(kind, sizes):
    """Differ from f32 by the rounding of weights to 16 bits. An infinite state saturates gates."""
    steps, batch, inputs, hidden = sizes
    gates = GATES[kind]
    x = rng.standard_normal((steps, batch, inputs)).astype("f4")
    w, r = (rng.standard_normal((2, gates * hidden, depth)).astype("f4") / np.float32(hidden**.5)
            for depth in (inputs, hidden))
    words, rounded_weights = integers(kind, r, hidden)
    assert words.shape[1] < 0.8 * r.shape[1]
    np.testing.assert_allclose(rounded_weights, r, atol=2**-16 * abs(r).max())
    options = {"direction": "bidirectional", "hidden_size": hidden, "outputs": 2}
    first = np.zeros((2, batch, hidden), "f4")
    infinite = first.copy()
    infinite[0, 0, 3] = np.inf
    for state in (first, infinite):
        rest = [np.zeros((2, 2 * gates * hidden), "f4"), np.full(batch, steps, "i4"), state]
        want = call(kind, x, w, rounded_weights, *rest, **options)
        got = call(kind, x, pack(kind, w, hidden), words, *rest, packed=3, **options)
        for one, other in zip(got, want):
            np.testing.assert_allclose(one, other, atol=2e-6)
    for wrong, packed in ((words, 1), (words, 2), (r, 3), (words, 4),
                          (np.zeros(words.shape), 3)):
        with pytest.raises(KernelError):
            call(kind, x.astype(wrong.dtype), w.astype(wrong.dtype), wrong, packed=packed, **options)


def test_integer_weights_have_whole_chunks():
    words, _ = integers("RNN", rng.standard_normal((1, 96, 96)).astype("f4"), 96)
    x, w = np.zeros((1, 1, 2), "f4"), np.zeros((1, 80, 2), "f4")
    with pytest.raises(KernelError, match="no weights of 80 units have 16 bits"):
        call("RNN", x, w, words[:, :, :80], packed=3, hidden_size=80, outputs=1)


def integer_bytes(kind, digits, scales, hidden):
    """Packed weights as kernels/nn/gates/ByteGates.h stores them: `digits` [directions, gates * hidden, depth]
    times the scale of each row."""
    depth, words = digits.shape[2], []
    tail = -(-128 // depth) * depth - 128
    values = [pack(kind, array.astype("f4"), hidden).reshape(len(digits), -1)
              for array in (digits, np.broadcast_to(scales, digits.shape))]
    for digit, scale in zip(*values):
        for part in [2, 1] if kind == "GRU" else [GATES[kind]]:
            whole = part * (hidden // (64 // part) * (64 // part)) * depth
            for first in range(0, whole, 64 * depth):
                panel = digit[first:first + 64 * depth].reshape(depth, 64)
                groups = np.ascontiguousarray(panel.astype("i1").reshape(-1, 4, 64).swapaxes(1, 2))
                words += [groups.view("f4").ravel(), scale[first:first + 64],
                          (panel.sum(0).astype("i4") * 32768).view("f4"), np.zeros(tail, "f4")]
            rest = part * hidden * depth - whole
            words += [digit[whole:whole + rest] * scale[whole:whole + rest]]
            digit, scale = digit[whole + rest:], scale[whole + rest:]
    return np.concatenate(words).reshape(len(digits), -1, depth)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("sizes", [(5, 1, 12, 128), (3, 5, 160, 76)])
def test_byte_weights(kind, sizes):
    """Weights are exact, data and states have 16 bits. An infinite state saturates gates."""
    steps, batch, inputs, hidden = sizes
    rows = GATES[kind] * hidden
    x = rng.standard_normal((steps, batch, inputs)).astype("f4")
    w, r = (rng.integers(-127, 128, (2, rows, depth)) for depth in (inputs, hidden))
    w[0, 3], r[1, 5] = 0, 127
    scales = [rng.uniform(.5, 1, (2, rows, 1)).astype("f4") / np.float32(64 * depth**.5) for depth in (inputs, hidden)]
    real = [(digits * scale).astype("f4") for digits, scale in zip((w, r), scales)]
    words = [integer_bytes(kind, digits, scale, hidden) for digits, scale in zip((w, r), scales)]
    words[0] = words[0].reshape(2, 1, -1)
    options = {"direction": "bidirectional", "hidden_size": hidden, "outputs": 2}
    first = np.zeros((2, batch, hidden), "f4")
    infinite = first.copy()
    infinite[0, 0, 3] = np.inf
    for state in (first, infinite):
        rest = [np.zeros((2, 2 * rows), "f4"), np.full(batch, steps, "i4"), state]
        want = call(kind, x, *real, *rest, **options)
        for packed, data in ((4, pack(kind, real[0], hidden)), (5, words[0])):
            for one, other in zip(call(kind, x, data, words[1], *rest, packed=packed, **options), want):
                np.testing.assert_allclose(one, other, atol=4e-4)
    for data, state, packed in ((words[0], words[1], 4), (real[0], words[1], 5), (words[0], real[1], 5),
                                (words[0][:, :, 1:], words[1], 5), (words[0], words[1], 6)):
        with pytest.raises(KernelError):
            call(kind, x, data, state, packed=packed, **options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations(name):
    check("RNN", activations=[name], dtype="f8", initial=False)
    check("RNN",
          activations=[name] * 2,
          direction="bidirectional",
          alpha=[0.3, 0.5],
          beta=[0.2, 0.7])
    check("GRU", activations=["Sigmoid", name], alpha=[0.4], beta=[0.3])


def test_errors():
    x, w, r = np.zeros((2, 3, 4), "f4"), np.zeros((1, 20, 4), "f4"), np.zeros((1, 20, 5), "f4")
    call("LSTM", x, w, r, outputs=3)
    for inputs in ([x, w[:, :19], r], [x, w[..., :3], r], [x[0], w, r]):
        with pytest.raises(KernelError):
            call("LSTM", *inputs, outputs=3)
    with pytest.raises(KernelError):
        call("LSTM", x, w, r, outputs=3, activations=["Sigmoid", "Tanh", "Sine"])
    with pytest.raises(KernelError):
        call("LSTM", x, w, r, outputs=3, direction="bidirectional")


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_states_without_steps_have_a_size(kind):
    """2^58 sequences of no steps: as many elements as an address has are refused, not wrapped."""
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    x = np.empty((0, 1 << 58, 3), np.float32)
    with pytest.raises(KernelError):
        call(kind, x, np.zeros((1, gates * 64, 3), np.float32),
             np.zeros((1, gates * 64, 64), np.float32), outputs=1, hidden_size=64)
