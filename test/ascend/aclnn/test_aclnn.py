# Operators that are called as functions, against NumPy. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, TINY, Tensor, acl, call  # noqa: E402, F401


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def erf(x):
    import math
    return np.vectorize(math.erf)(x)


RNG = np.random.default_rng(5)
X = RNG.uniform(0.3, 0.9, (3, 8)).astype(np.float32)
Y = RNG.uniform(0.5, 2, (8,)).astype(np.float32)
SIGNED = RNG.standard_normal((3, 8)).astype(np.float32)
COUNTS = RNG.integers(-50, 50, (3, 8)).astype(np.int32)

# name, arguments without the output, result. A tuple of results: several outputs.
CASES = [
    ("Add", (X, Y, 1.2), X + np.float32(1.2) * Y), ("Mul", (X, Y), X * Y),
    ("Softmax", (SIGNED, LONG(-1)), softmax(SIGNED)),
    ("Gelu", (SIGNED,), SIGNED * 0.5 * (1 + erf(SIGNED / np.sqrt(2)))),
    ("Matmul", (SIGNED, SIGNED.T.copy()), SIGNED @ SIGNED.T),
    ("ReduceSum", (SIGNED, [1], BOOL(False), 0), SIGNED.sum(1)),
    ("LayerNorm", (SIGNED, [8], Y, Y, DOUBLE(1e-5)),
     ((SIGNED - SIGNED.mean(1, keepdims=True)) / np.sqrt(SIGNED.var(1, keepdims=True) + 1e-5) * Y + Y,
      SIGNED.mean(1, keepdims=True), 1 / np.sqrt(SIGNED.var(1, keepdims=True) + 1e-5))),
    ("GtTensor", (X, Y), X > Y), ("Cast", (SIGNED, 1), SIGNED.astype(np.float16)),
    ("ArgMax", (SIGNED, LONG(1), BOOL(False)), SIGNED.argmax(1)),
    ("Embedding", (SIGNED, np.array([2, 0])), SIGNED[[2, 0]]),
    ("Add", (COUNTS, COUNTS, 3.0), COUNTS * 4), ("Adds", (COUNTS, 0.5, 1.0), COUNTS + np.float32(0.5)),
    ("Sub", (X, Y, 2.0), X - 2 * Y), ("Div", (X, Y), X / Y), ("Div", (COUNTS, np.abs(COUNTS) + 1),
                                                             (COUNTS / (np.abs(COUNTS) + 1)).astype(np.float32)),
    ("Muls", (X, 3.0), X * 3), ("Divs", (X, 4.0), X / 4), ("Maximum", (X, Y), np.maximum(X, Y)),
    ("PowTensorScalar", (X, 2.5), X ** 2.5), ("PowScalarTensor", (2.0, X), 2 ** X),
    ("EqScalar", (COUNTS, float(COUNTS[0, 0])), COUNTS == COUNTS[0, 0]),
    ("LogicalAnd", (X > 0.5, X < 0.7), (X > 0.5) & (X < 0.7)), ("LogicalNot", (X > 0.5,), X <= 0.5),
    ("SWhere", (X > 0.6, X, -X), np.where(X > 0.6, X, -X)),
    ("Clamp", (SIGNED, -0.5, 0.5), SIGNED.clip(-0.5, 0.5)),
    ("Addcmul", (X, SIGNED, Y, 0.5), X + 0.5 * SIGNED * Y), ("Lerps", (X, SIGNED, 0.25), X + 0.25 * (SIGNED - X)),
    ("Mm", (SIGNED, SIGNED.T.copy()), SIGNED @ SIGNED.T),
    ("BatchMatMul", (SIGNED.reshape(3, 2, 4), SIGNED.reshape(3, 4, 2)),
     SIGNED.reshape(3, 2, 4) @ SIGNED.reshape(3, 4, 2)),
    ("Addmm", (np.ones((3, 3), np.float32), SIGNED, SIGNED.T.copy(), 2.0, 0.5), 2 + 0.5 * SIGNED @ SIGNED.T),
    ("LogSoftmax", (SIGNED, LONG(1)), np.log(softmax(SIGNED))),
    ("Mean", (SIGNED, [0], BOOL(True), 0), SIGNED.mean(0, keepdims=True)),
    ("Amax", (SIGNED, [1], BOOL(False)), SIGNED.max(1)), ("Min", (SIGNED,), np.float32(SIGNED.min())),
    ("Cumsum", (SIGNED, LONG(1), 0), SIGNED.cumsum(1)),
    ("Topk", (SIGNED, LONG(2), LONG(1), BOOL(True), BOOL(True)),
     (-np.sort(-SIGNED, 1)[:, :2], np.argsort(-SIGNED, 1)[:, :2])),
    ("RmsNorm", (SIGNED, Y, DOUBLE(1e-6)),
     (SIGNED / np.sqrt((SIGNED ** 2).mean(1, keepdims=True) + 1e-6) * Y,
      1 / np.sqrt((SIGNED ** 2).mean(1, keepdims=True) + 1e-6))),
    ("Silu", (SIGNED,), SIGNED / (1 + np.exp(-SIGNED))), ("LeakyRelu", (SIGNED, 0.1),
                                                         np.where(SIGNED > 0, SIGNED, 0.1 * SIGNED)),
    ("Elu", (SIGNED, 1.0, 1.0, 1.0), np.where(SIGNED > 0, SIGNED, np.expm1(SIGNED))),
    ("Hardswish", (SIGNED,), SIGNED * np.clip(SIGNED + 3, 0, 6) / 6),
    ("Hardsigmoid", (SIGNED,), np.clip(SIGNED + 3, 0, 6) / 6), ("Abs", (COUNTS,), np.abs(COUNTS)),
    *((name, (X,), function(X)) for name, function in (
        ("Sqrt", np.sqrt), ("Rsqrt", lambda x: 1 / np.sqrt(x)), ("Exp", np.exp), ("Log", np.log),
        ("Log2", np.log2), ("Sigmoid", lambda x: 1 / (1 + np.exp(-x))), ("Tanh", np.tanh), ("Sin", np.sin),
        ("Cos", np.cos), ("Reciprocal", lambda x: 1 / x), ("Erf", erf), ("Floor", np.floor), ("Neg", np.negative),
        ("Relu", lambda x: np.maximum(x, 0)), ("Asin", np.arcsin), ("Atan", np.arctan), ("Round", np.round),
        ("Ceil", np.ceil), ("Expm1", np.expm1), ("Log1p", np.log1p), ("Sign", np.sign))),
]
CUBE = {"Matmul", "Mm", "BatchMatMul", "Addmm"}


@pytest.mark.parametrize("index", range(len(CASES)))
def test_operator(acl, index):
    name, arguments, results = CASES[index]
    results = results if isinstance(results, tuple) else (results,)
    outputs = [Tensor(acl, np.zeros_like(result, dtype={"float64": np.float32}.get(
        np.asarray(result).dtype.name, np.asarray(result).dtype))) for result in results]
    more = (TINY(0),) if name in CUBE else ()
    call(acl, name, *arguments, *outputs, *more)
    for output, result in zip(outputs, results, strict=True):
        if output.array.dtype.kind == "f":
            # Products read float16; everything else has the type of its tensors. erf is a polynomial.
            error = 4e-3 if name in CUBE else 1e-3 if output.array.dtype == np.float16 else \
                5e-5 if name in ("Erf", "Gelu") else 3e-6
            np.testing.assert_allclose(output.read(), result, rtol=error, atol=error)
        else:
            np.testing.assert_array_equal(output.read(), result)


def test_a_result_replaces_an_argument(acl):
    x = Tensor(acl, X)
    call(acl, "InplaceAdds", x, 1.0, 2.0)
    call(acl, "InplaceSqrt", x)
    np.testing.assert_allclose(x.read(), np.sqrt(X + 2), rtol=3e-6)


@pytest.mark.parametrize("groups, pads", [(1, [1, 1]), (2, [0, 1, 2, 0])])
def test_convolution(acl, groups, pads):
    image = RNG.standard_normal((2, 4, 7, 6)).astype(np.float32)
    weight = RNG.standard_normal((6, 4 // groups, 3, 3)).astype(np.float32)
    bias = RNG.standard_normal(6).astype(np.float32)
    top, bottom, left, right = pads if len(pads) == 4 else (pads[0], pads[0], pads[1], pads[1])
    wide = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)))
    rows, columns = (wide.shape[2] - 3) // 2 + 1, wide.shape[3] - 2
    want = np.zeros((2, 6, rows, columns), np.float32) + bias[:, None, None]
    for out in range(6):
        channels = range(out // (6 // groups) * (4 // groups), (out // (6 // groups) + 1) * (4 // groups))
        for own, channel in enumerate(channels):
            for i in range(3):
                for j in range(3):
                    want[:, out] += weight[out, own, i, j] * wide[:, channel, i:i + 2 * rows - 1:2, j:j + columns]
    result = Tensor(acl, np.zeros_like(want))
    call(acl, "Convolution", image, weight, bias, [2, 1], pads, [1, 1], BOOL(False), [0, 0], LONG(groups), result,
         TINY(0))
    np.testing.assert_allclose(result.read(), want, rtol=1e-2, atol=1e-2)
