# Gradients, losses, forms in place and other functions that are made of others, against NumPy. Run
# with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, TINY, Tensor, acl, call, refused  # noqa: E402, F401
from test_aclnn import erf, softmax  # noqa: E402

RNG = np.random.default_rng(11)
X, Y, G = (RNG.standard_normal((3, 8)).astype(np.float32) for _ in range(3))
SHARE = RNG.uniform(0.1, 0.9, (3, 8)).astype(np.float32)
WEIGHT = RNG.uniform(0.5, 2, (8,)).astype(np.float32)
COUNTS, OTHERS = RNG.integers(-9, 9, (3, 8)).astype(np.int32), RNG.integers(1, 5, (3, 8)).astype(np.int32)
INT, FLOAT = ctypes.c_int, ctypes.c_float
S = 1 / (1 + np.exp(-X))
SOFT = softmax(Y)
A, B, C = (RNG.uniform(-1, 1, dims).astype(np.float32) for dims in ((4, 5), (4, 3), (5, 3)))
ODD = np.array([[0.0, -0.0, -1, 1, np.inf, -np.inf, np.nan, 2]] * 3, np.float32)
SAME = np.array([[0.0, 0.0, -1.001, 1.5, np.inf, np.inf, np.nan, 2.0000001]] * 3, np.float32)


def log(x):
    return np.maximum(np.log(x), -100)


def bce(share, target):
    return -(target * log(share) + (1 - target) * log(1 - share))


# name, arguments without the output, result. A tuple of results: several outputs.
CASES = [
    ("SigmoidBackward", (G, SHARE), G * SHARE * (1 - SHARE)), ("TanhBackward", (G, SHARE), G * (1 - SHARE ** 2)),
    ("SiluBackward", (G, X), G * S * (1 + X * (1 - S))),
    ("GeluBackward", (G, X), G * (0.5 * (1 + erf(X / np.sqrt(2))) + X * np.exp(-X * X / 2) / np.sqrt(2 * np.pi))),
    ("ThresholdBackward", (G, X, 0.25), np.where(X > 0.25, G, 0)),
    ("SoftmaxBackward", (G, SOFT, LONG(-1)), SOFT * (G - (G * SOFT).sum(-1, keepdims=True))),
    ("SoftmaxBackward", (G, SOFT, LONG(0)), SOFT * (G - (G * SOFT).sum(0, keepdims=True))),
    ("LogSoftmaxBackward", (G, np.log(SOFT), LONG(1)), G - SOFT * G.sum(1, keepdims=True)),
    ("BinaryCrossEntropy", (SHARE, (X > 0).astype(np.float32), WEIGHT, LONG(1)), (bce(SHARE, X > 0) * WEIGHT).mean()),
    ("BinaryCrossEntropy", (np.round(SHARE), np.round(SHARE) * 0 + 1, None, LONG(0)), bce(np.round(SHARE), 1.0)),
    ("BinaryCrossEntropyWithLogits", (X * 40, SHARE, None, None, LONG(0)),
     np.maximum(X * 40, 0) - X * 40 * SHARE + np.log1p(np.exp(-np.abs(X * 40)))),
    ("BinaryCrossEntropyWithLogits", (X, SHARE, WEIGHT, WEIGHT, LONG(2)),
     -(WEIGHT * (WEIGHT * SHARE * np.log(S) + (1 - SHARE) * np.log(1 - S))).sum()),
    ("SoftMarginLoss", (X, np.sign(Y), LONG(1)), np.log1p(np.exp(-X * np.sign(Y))).mean()),
    ("DivMod", (X, Y, INT(0)), X / Y), ("DivMod", (X * 9, Y, INT(1)), np.trunc(X * 9 / Y)),
    ("DivMod", (X * 9, Y, INT(2)), np.floor(X * 9 / Y)), ("DivMod", (COUNTS, OTHERS, INT(2)), COUNTS // OTHERS),
    ("DivMod", (COUNTS, OTHERS, INT(1)), np.trunc(COUNTS / OTHERS).astype(np.int32)),
    ("DivMods", (COUNTS, 3.0, INT(1)), np.trunc(COUNTS / 3).astype(np.int32)),
    ("IsClose", (ODD, SAME, DOUBLE(1e-5), DOUBLE(1e-8), BOOL(False)), np.isclose(ODD, SAME)),
    ("IsClose", (ODD, SAME, DOUBLE(1e-2), DOUBLE(1e-8), BOOL(True)), np.isclose(ODD, SAME, 1e-2, equal_nan=True)),
    ("IsClose", (COUNTS, OTHERS, DOUBLE(0), DOUBLE(2), BOOL(False)), np.abs(COUNTS - OTHERS) <= 2),
    ("IsClose", (np.array([3, 9, 200], np.uint8), np.array([5, 3, 202], np.uint8), DOUBLE(0), DOUBLE(2), BOOL(False)),
     np.array([True, False, True])),
    ("IsClose", (np.array([3e38, np.inf], np.float32), np.array([-1, 3e38], np.float32), DOUBLE(2), DOUBLE(0), BOOL(False)),
     np.array([False, False])),
    ("Equal", (X, X), np.array([True])), ("Equal", (X, Y), np.array(False)), ("Equal", (X, X[:2]), np.array([False])),
    ("Signbit", (ODD[:, :6],), np.signbit(ODD[:, :6])), ("Signbit", (COUNTS,), COUNTS < 0),
    ("ClampTensor", (X, -WEIGHT, WEIGHT / 2), np.minimum(np.maximum(X, -WEIGHT), WEIGHT / 2)),
    ("ClampMinTensor", (X, Y), np.maximum(X, Y)), ("MaxN", ((X, Y, G),), np.maximum(np.maximum(X, Y), G)),
    ("MinN", ((COUNTS, OTHERS),), np.minimum(COUNTS, OTHERS)),
    ("Aminmax", (X, [1], BOOL(True)), (X.min(1, keepdims=True), X.max(1, keepdims=True))),
    ("Aminmax", (X, None, BOOL(False)), (X.min(), X.max())),
    ("Addr", (A.T[:3], WEIGHT[:3], WEIGHT[:4], 0.5, 2.0), 0.5 * A.T[:3] + 2 * np.outer(WEIGHT[:3], WEIGHT[:4])),
    ("Addr", (A.T[:3] * np.nan, WEIGHT[:3], WEIGHT[:4], 0.0, None), np.outer(WEIGHT[:3], WEIGHT[:4])),
    ("LinalgVectorNorm", (X, 3.0, [1], BOOL(False), -1), (np.abs(X) ** 3).sum(1) ** (1 / 3)),
    ("LinalgVectorNorm", (X, 2.0, None, BOOL(False), 0), np.sqrt((X ** 2).sum())),
    ("LinalgCross", (B, B[::-1], LONG(-1)), np.cross(B, B[::-1])),
    ("LinalgCross", (X.astype(np.float16), Y.astype(np.float16), LONG(0)),
     np.cross(X.astype(np.float16), Y.astype(np.float16), axis=0)),
    ("CumsumV2", (X, LONG(1), BOOL(False), BOOL(True)), X[:, ::-1].cumsum(1)[:, ::-1]),
    ("CumsumV2", (X, LONG(0), BOOL(True), BOOL(False)), X.cumsum(0) - X),
    ("Take", (X, np.array([[3, 22], [0, 9]])), X.reshape(-1)[[[3, 22], [0, 9]]]),
]


@pytest.mark.parametrize("index", range(len(CASES)))
def test_function(acl, index):
    name, arguments, results = CASES[index]
    results = [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]
    results = [result.astype(np.float32) if result.dtype == np.float64 else result for result in results]
    outputs = [Tensor(acl, np.zeros_like(result)) for result in results]
    call(acl, name, *arguments, *outputs)
    for output, result in zip(outputs, results, strict=True):
        if result.dtype.kind == "f":
            error = 4e-3 if result.dtype == np.float16 else 5e-5 if name.startswith("Gelu") else 2e-5
            np.testing.assert_allclose(output.read(), result, rtol=error, atol=error)
        else:
            np.testing.assert_array_equal(output.read(), result)


@pytest.mark.parametrize("name, start, arguments, result", [
    ("FloorDivide", COUNTS, (OTHERS,), COUNTS // OTHERS), ("FloorDivides", COUNTS, (4.0,), COUNTS // 4),
    ("FmodTensor", COUNTS, (OTHERS,), np.fmod(COUNTS, OTHERS)), ("FmodScalar", X, (0.5,), np.fmod(X, 0.5)),
    ("RemainderTensorTensor", COUNTS, (OTHERS,), COUNTS % OTHERS), ("RemainderTensorScalar", COUNTS, (5.0,), COUNTS % 5),
    ("BitwiseAndTensor", COUNTS, (OTHERS,), COUNTS & OTHERS), ("BitwiseOrScalar", COUNTS, (6.0,), COUNTS | 6),
    ("BitwiseXorTensor", COUNTS, (OTHERS,), COUNTS ^ OTHERS), ("GtTensor", X, (Y,), X > Y), ("LeScalar", COUNTS, (2.0,), COUNTS <= 2),
    ("EqTensor", COUNTS, (OTHERS,), COUNTS == OTHERS), ("LogicalNot", X > 0, (), X <= 0),
    ("LogicalAnd", X > 0, (Y > 0,), (X > 0) & (Y > 0)), ("LogicalOr", X > 0, (Y > 0,), (X > 0) | (Y > 0)),
    ("Lerp", X, (Y, SHARE), X + SHARE * (Y - X)), ("Lerps", X, (Y, 0.25), X + 0.25 * (Y - X)),
    ("DivMod", COUNTS, (OTHERS, INT(2)), COUNTS // OTHERS), ("DivMods", X, (0.5, INT(1)), np.trunc(X / 0.5))])
def test_a_form_in_place(acl, name, start, arguments, result):
    tensor = Tensor(acl, start)
    call(acl, "Inplace" + name, tensor, *arguments)
    np.testing.assert_allclose(tensor.read(), np.asarray(result).astype(start.dtype), rtol=3e-6, atol=3e-6)


def test_products(acl):
    def close(tensor, result):
        np.testing.assert_allclose(tensor.read(), result, rtol=4e-3, atol=4e-3)  # they read float16
    out = Tensor(acl, np.zeros((5, 3), np.float32))
    call(acl, "Gemm", A, B, C, FLOAT(2), FLOAT(0.5), LONG(1), LONG(0), out, TINY(0))
    close(out, 2 * A.T @ B + 0.5 * C)
    call(acl, "Gemm", A.T.copy(), B.T.copy(), C * np.nan, FLOAT(1), FLOAT(0), LONG(0), LONG(1), out, TINY(0))
    close(out, A.T @ B)
    own = Tensor(acl, C)
    call(acl, "InplaceAddmm", own, A.T.copy(), B, 0.5, 2.0, TINY(0))
    close(own, 0.5 * C + 2 * A.T @ B)
    many = Tensor(acl, np.stack([C, C]))
    call(acl, "InplaceBaddbmm", many, np.stack([A.T, -A.T]), np.stack([B, B]), 1.0, 1.0, TINY(0))
    close(many, np.stack([C + A.T @ B, C - A.T @ B]))


@pytest.mark.parametrize("name, arguments, said", [
    ("DivMod", (X, Y, INT(3), X), "mode is 3"), ("IsClose", (X, Y, DOUBLE(-1), DOUBLE(0), BOOL(False), X > 0), "negative"),
    ("LinalgCross", (X, Y, LONG(1), X), "have 3"), ("Equal", (X, Y, X > 0), "one element"),
    ("Addr", (X, X, Y, None, None, X), "vectors"), ("SoftMarginLoss", (X, Y, LONG(4), X), "reduction is 4"),
    ("Gemm", (A, WEIGHT, C, FLOAT(1), FLOAT(1), LONG(0), LONG(0), C, TINY(0)), "2 dims")])
def test_mistakes(acl, name, arguments, said):
    assert said in refused(acl, name, *arguments)
