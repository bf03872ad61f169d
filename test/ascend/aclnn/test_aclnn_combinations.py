# Functions of aclnn that join two steps, and gradients beside them, against NumPy. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, TINY, Tensor, acl, call, refused  # noqa: E402, F401
from test_aclnn import erf, softmax  # noqa: E402

RNG = np.random.default_rng(12)
F32, INT, FLOAT = np.float32, ctypes.c_int32, ctypes.c_float
X, Y, G = (RNG.standard_normal((3, 8)).astype(F32) for _ in range(3))
SHARE = RNG.uniform(0.1, 0.9, (3, 8)).astype(F32)
WEIGHT, BIAS = RNG.uniform(0.5, 2, 8).astype(F32), RNG.standard_normal(8).astype(F32)
HALF = RNG.standard_normal((3, 4)).astype(F32)
WHOLE = RNG.integers(-99, 99, (3, 8)).astype(np.int32)
ROWS = RNG.uniform(0.1, 1, 3).astype(F32)
BOUNDS = np.array([-1, 0, 0.5, 1], F32)
S = 1 / (1 + np.exp(-X))
A, B = (RNG.standard_normal(dims).astype(F32) for dims in ((4, 2, 5), (4, 5, 3)))
IMAGE = RNG.standard_normal((1, 2, 8, 6)).astype(F32)
CLASSES = RNG.integers(0, 3, (2, 2, 2))
SCORES, LOSSES = (RNG.standard_normal(dims).astype(F32) for dims in ((2, 3, 2, 2), (2, 2, 2)))
FACTORS = np.array([0.5, 1, 2], F32)


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def slope(x):
    return (1 + erf(x / np.sqrt(2))) / 2 + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def halves(value, gate):
    return np.concatenate([value, gate], -1)


def statistics(x):
    mean = x.mean(-1, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def norm(x):
    mean, rstd = statistics(x)
    return (x - mean) * rstd


def norm_gradients(g, x, more):
    normal, rstd, weighted = norm(x), statistics(x)[1], g * WEIGHT
    ofx = rstd * (weighted - weighted.mean(-1, keepdims=True)
                  - normal * (weighted * normal).mean(-1, keepdims=True))
    return ofx + more, (g * normal).sum(0), g.sum(0)


def filtered(image, size, radius, kernel):
    """PyTorch's filter with antialiasing, an axis after the other."""
    for axis, to in ((2, size[0]), (3, size[1])):
        count = image.shape[axis]
        step = count / to
        stretch = max(step, 1)
        matrix = np.zeros((to, count))
        for i in range(to):
            centre = step * (i + 0.5)
            low, high = max(int(centre - radius * stretch + 0.5), 0), min(int(centre + radius * stretch + 0.5), count)
            row = np.array([kernel((k - centre + 0.5) / stretch) for k in range(low, high)])
            matrix[i, low:high] = row / row.sum()
        image = np.moveaxis(np.moveaxis(image, axis, -1) @ matrix.T, -1, axis)
    return image


def hat(x):
    return max(1 - abs(x), 0)


def cubic(x, a=-0.5):
    x = abs(x)
    return ((a + 2) * x - a - 3) * x * x + 1 if x < 1 else ((x - 5) * x + 8) * x * a - 4 * a if x < 2 else 0


def class_gradient():
    g = np.zeros_like(SCORES)
    for n, h, w in np.ndindex(2, 2, 2):
        k = CLASSES[n, h, w]
        g[n, k, h, w] = -LOSSES[n, h, w] * FACTORS[k]
    return g


def probable(logits, p, k):
    result = np.full_like(logits, -np.inf)
    for row, (values, share, count) in enumerate(zip(logits, p, k, strict=True)):
        order = np.argsort(-values)[:count]
        chances = softmax(values[order])
        kept = order[np.concatenate([[0], chances.cumsum()[:-1]]) < share]
        result[row, kept] = values[kept]
    return result


P, K = np.array([0.5, 1, 0.9], F32), np.array([8, 3, 5], np.int32)
SUM = (0.75 * X.astype(float) + Y).astype(F32)
CASES = [
    ("AddRelu", (X, Y, 2.0), np.maximum(X + 2 * Y, 0)),
    ("AddRelu", (WHOLE, WHOLE[:1], 1.0), np.maximum(WHOLE + WHOLE[:1], 0)),
    ("GeluMul", (X, ctypes.c_char_p(b"none")), gelu(X[:, :4]) * X[:, 4:]),
    ("FatreluMul", (X, X[:1, 1]), np.where(X[:, :4] < X[0, 1], 0, X[:, :4]) * X[:, 4:]),
    ("LogitGrad", (SHARE, G, DOUBLE(0.2)),
     np.where((SHARE < F32(0.2)) | (SHARE > F32(0.8)), 0, G / (SHARE * (1 - SHARE)))),
    ("DequantBias", (WHOLE, WEIGHT, ROWS, BIAS, LONG(0)), WHOLE * WEIGHT * ROWS[:, None] + BIAS),
    ("DequantBias", (WHOLE, WEIGHT, None, WHOLE[0], LONG(0)), (WHOLE + WHOLE[0]) * WEIGHT),
    ("ApplyTopKTopP", (X, P, K), probable(X, P, K)),
    ("ApplyTopKTopP", (X, None, K), probable(X, [1.1] * 3, K)),
    # Of equal logits the last one stays.
    ("ApplyTopKTopP", (np.zeros((1, 4), F32), np.array([0.6], F32), None), np.array([[-np.inf, 0, 0, 0]])),
    ("Bucketize", (X, BOUNDS, BOOL(False), BOOL(True)), np.searchsorted(BOUNDS, X, "right")),
    ("TransposeBatchMatMul", (A, B, None, None, [0, 1, 2], [0, 1, 2], [1, 0, 2], TINY(0), INT(1)),
     (A @ B).transpose(1, 0, 2)),
    ("TransposeBatchMatMul", (A.transpose(1, 0, 2), B, None, None, [1, 0, 2], [0, 1, 2], [1, 0, 2], TINY(0), INT(2)),
     (A @ B).transpose(1, 0, 2).reshape(2, 2, 6).transpose(1, 0, 2)),
    ("DeepNorm", (X, Y, BIAS, WEIGHT, DOUBLE(0.75), DOUBLE(1e-5)),
     (*statistics(SUM), norm(SUM) * WEIGHT + BIAS)),
    ("AddLayerNormGrad", (G, X, Y, statistics(X + Y)[1], statistics(X + Y)[0], WEIGHT, None),
     norm_gradients(G, X + Y, 0)),
    ("AddLayerNormGrad", (G, X, Y, statistics(X + Y)[1], statistics(X + Y)[0], WEIGHT, SHARE),
     norm_gradients(G, X + Y, SHARE)),
    ("GeGluBackward", (HALF, X, gelu(X[:, 4:]), LONG(-1), LONG(0)),
     halves(HALF * gelu(X[:, 4:]), HALF * X[:, :4] * slope(X[:, 4:]))),
    ("GeGluV3Backward", (HALF, X, gelu(X[:, :4]), LONG(-1), LONG(0), BOOL(True)),
     halves(HALF * X[:, 4:] * slope(X[:, :4]), HALF * gelu(X[:, :4]))),
    ("HardswishBackwardV2", (G, X), G * np.where(X < -3, 0, np.where(X > 3, 1, X / 3 + 0.5))),
    ("BinaryCrossEntropyWithLogitsTargetBackward", (G, X, SHARE, WEIGHT, BIAS, LONG(0)),
     G * WEIGHT * (np.log(1 - S) - BIAS * np.log(S))),
    ("BinaryCrossEntropyWithLogitsTargetBackward", (G[:1, 0], X, SHARE, None, None, LONG(1)), -G[0, 0] * X / 24),
    ("KlDivTargetBackward", (G, X, np.maximum(Y, 0), LONG(0), BOOL(False)),
     np.where(Y > 0, G * (np.log(np.maximum(Y, 1e-30)) + 1 - X), 0)),
    ("KlDivTargetBackward", (G, X, Y, LONG(0), BOOL(True)), G * np.exp(Y) * (Y + 1 - X)),
    ("NLLLoss2dBackward", (LOSSES, SCORES, CLASSES, FACTORS, LONG(0), LONG(-100), np.array([1], F32)), class_gradient()),
    ("UpsampleBilinear2dAA", (IMAGE, [3, 9], BOOL(False), DOUBLE(0), DOUBLE(0)), filtered(IMAGE, (3, 9), 1, hat)),
    ("UpsampleBicubic2dAA", (IMAGE, [3, 4], BOOL(False), DOUBLE(0), DOUBLE(0)), filtered(IMAGE, (3, 4), 2, cubic)),
    ("UpsampleNearest1dV2", (IMAGE[0], [3], FLOAT(0)), IMAGE[0][:, :, [0, 2, 4]]),
    ("UpsampleNearest3dV2", (IMAGE[None], [1, 4, 3], FLOAT(0), FLOAT(0), FLOAT(0)), IMAGE[None][:, :, :1, ::2, ::2]),
    ("UpsampleBilinear2dBackwardV2", (np.ones((1, 2, 4, 3), F32), [4, 3], [1, 2, 8, 6], BOOL(False), DOUBLE(0), DOUBLE(0)),
     np.full((1, 2, 8, 6), 0.25, F32)),
]


@pytest.mark.parametrize("index", range(len(CASES)))
def test_function(acl, index):
    name, arguments, results = CASES[index]
    results = [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]
    results = [result.astype(F32) if result.dtype == np.float64 else result for result in results]
    outputs = [Tensor(acl, np.zeros_like(result)) for result in results]
    call(acl, name, *arguments, *outputs)
    # Matrices are read as float16.
    error = 2e-2 if name == "TransposeBatchMatMul" else 1e-4
    for output, result in zip(outputs, results, strict=True):
        np.testing.assert_allclose(output.read(), result, rtol=error, atol=error)


@pytest.mark.parametrize("axes", [2, 3])
def test_the_gradient_of_an_adaptive_maximum(acl, axes):
    x = RNG.permutation(2 * 4 ** axes).reshape(2, *[4] * axes).astype(F32)
    dims = (2, *[2] * axes)
    values, positions = Tensor(acl, np.zeros(dims, F32)), Tensor(acl, np.zeros(dims, np.int64))
    call(acl, f"AdaptiveMaxPool{axes}d", x, [2] * axes, values, positions)
    windows = x.reshape(2, *[2] * (2 * axes)).max(tuple(range(2, 2 + 2 * axes, 2)))
    np.testing.assert_array_equal(values.read(), windows)
    gradient = Tensor(acl, np.zeros_like(x))
    call(acl, f"AdaptiveMaxPool{axes}dBackward", windows, x, positions.read(), gradient)
    np.testing.assert_array_equal(gradient.read(), np.where(np.isin(x, windows), x, 0))


def test_numbers_around_those_of_a_tensor(acl):
    means, spread = np.arange(4096, dtype=F32) % 7 * 10, np.full(4096, 2, F32)
    drawn = [Tensor(acl, np.zeros_like(means)) for _ in range(3)]
    seed = LONG(5), LONG(0)
    call(acl, "NormalTensorTensor", means, spread, *seed, drawn[0])
    call(acl, "NormalTensorFloat", means, FLOAT(2), *seed, drawn[1])
    call(acl, "NormalFloatTensor", FLOAT(0), spread, *seed, drawn[2])
    both, one, none = (tensor.read() for tensor in drawn)
    np.testing.assert_array_equal(both, one)
    np.testing.assert_allclose(both - means, none, atol=1e-4)
    assert abs(none.mean()) < 0.15 and abs(none.std() - 2) < 0.15


def test_noisy_relu(acl):
    noise, out = Tensor(acl, np.zeros_like(X)), Tensor(acl, np.zeros_like(X))
    call(acl, "RReluWithNoise", X, noise, 0.125, 0.5, BOOL(True), LONG(3), LONG(0), out)
    factors = noise.read()
    assert (factors[X > 0] == 1).all()
    assert ((factors[X <= 0] >= 0.125) & (factors[X <= 0] <= 0.5)).all() and len(set(factors[X <= 0])) > 3
    np.testing.assert_allclose(out.read(), X * factors, rtol=1e-6)
    same = Tensor(acl, X)
    call(acl, "InplaceRReluWithNoise", same, noise, 0.125, 0.375, BOOL(False), LONG(3), LONG(0))
    np.testing.assert_allclose(same.read(), np.where(X > 0, X, X / 4), rtol=1e-6)


def test_a_sum_above_zero_in_place(acl):
    tensor = Tensor(acl, X)
    call(acl, "InplaceAddRelu", tensor, Y, 1.0)
    np.testing.assert_allclose(tensor.read(), np.maximum(X + Y, 0), rtol=1e-6)


@pytest.mark.parametrize("name, arguments, said", [
    ("GeluMul", (X, ctypes.c_char_p(b"erf")), "none or tanh"),
    ("FatreluMul", (X[:, :7], X[0, :1]), "no halves"),
    ("FatreluMul", (X, X), "must have one element"),
    ("ApplyTopKTopP", (X, P[:2], None), "p and k must have 3 elements"),
    ("ApplyTopKTopP", (X, None, None), "must not both be NULL"),
    ("Bucketize", (X, X, BOOL(False), BOOL(False)), "must have one dim"),
    ("DequantBias", (X, WEIGHT, None, None, LONG(0)), "must be int32"),
    ("DeepNorm", (X, Y, BIAS, WEIGHT[:7], DOUBLE(1), DOUBLE(1e-5), Tensor, Tensor), "last dims"),
    ("TransposeBatchMatMul", (A, B, None, None, [0, 0, 2], None, None, TINY(0), INT(1)), "an order of 0, 1 and 2"),
])
def test_what_does_not_fit(acl, name, arguments, said):
    arguments = [Tensor(acl, X) if argument is Tensor else argument for argument in arguments]
    assert said in refused(acl, name, *arguments, Tensor(acl, X))
