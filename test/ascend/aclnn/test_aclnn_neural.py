# Norms, pools, indices, attention and quantized products of aclnn, against NumPy. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import math

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, TINY, Tensor, acl, call, refused  # noqa: E402, F401

RNG = np.random.default_rng(11)
X = RNG.standard_normal((3, 8)).astype(np.float32)
POSITIVE = RNG.uniform(0.5, 2, (3, 8)).astype(np.float32)
IMAGE = RNG.standard_normal((2, 4, 5, 6)).astype(np.float32)
WHOLE = RNG.integers(-9, 9, (3, 8)).astype(np.int32)
INT, FLOAT = ctypes.c_int32, ctypes.c_float
erf = np.vectorize(math.erf)
F32 = np.float32


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu(x):
    return x * (1 + erf(x / math.sqrt(2))) / 2


def scattered(base, index, values, axis, add):
    result = base.copy()
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[axis] = index[place]
        result[tuple(target)] = values[place] + (result[tuple(target)] if add else 0)
    return result


def pooled(x, kernel, stride, pad, dilation=1, ceil=False):
    """Returns the largest elements of windows, and their positions in an image."""
    n, c, h, w = x.shape

    def count(size):
        free = size + 2 * pad - dilation * (kernel - 1) - 1
        result = free // stride + 1
        return result + 1 if ceil and free % stride and result * stride < size + pad else result
    values = np.zeros((n, c, count(h), count(w)), F32)
    positions = np.zeros(values.shape, np.int32)
    for i, j, r, q in np.ndindex(*values.shape):
        best = None
        for a in range(kernel):
            for b in range(kernel):
                y, z = r * stride - pad + a * dilation, q * stride - pad + b * dilation
                if 0 <= y < h and 0 <= z < w and (best is None or x[i, j, y, z] > best[0]):
                    best = x[i, j, y, z], y * w + z
        values[i, j, r, q], positions[i, j, r, q] = best
    return values, positions


def rows_of(x, kernel, pad, stride):
    wide = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    height, width = ((size - kernel) // stride + 1 for size in wide.shape[2:])
    windows = [wide[:, :, a:a + stride * height:stride, b:b + stride * width:stride]
               for a in range(kernel) for b in range(kernel)]
    return np.stack(windows, 2).reshape(x.shape[0], -1, height * width)


INDEX = np.array([[2, 0, 1, 1, 0, 2, 2, 1], [0, 1, 2, 0, 1, 0, 1, 2]])
GROUPS = IMAGE.reshape(2, 2, -1)
GROUP_MEAN, GROUP_RSTD = GROUPS.mean(2), 1 / np.sqrt(GROUPS.var(2) + 1e-5)
CHANNELS = RNG.uniform(0.5, 2, 4).astype(F32)
NORMALIZED = ((GROUPS - GROUP_MEAN[..., None]) * GROUP_RSTD[..., None]).reshape(IMAGE.shape)
BATCH_MEAN, BATCH_VAR = IMAGE.mean((0, 2, 3)), IMAGE.var((0, 2, 3))
COLUMN = CHANNELS[:, None, None]
MAXIMA, PLACES = pooled(IMAGE, 3, 2, 1)
COS, SIN = np.cos(X[:1]), np.sin(X[:1])
BOTH = X + POSITIVE
ROOT = 1 / np.sqrt((BOTH ** 2).mean(1, keepdims=True) + 1e-6)
LABELS = softmax(POSITIVE)

# name, arguments before the outputs, results, arguments behind them.
# Weights [8, 20] in blocks of 16 by 16, those of the columns first.
WEIGHT = np.linspace(-1, 1, 160, dtype=F32).reshape(8, 20)
NZ = np.pad(WEIGHT, ((0, 8), (0, 12))).reshape(1, 16, 2, 16).transpose(2, 0, 1, 3).copy()

CASES = [
    ("GeluV2", (X, LONG(0)), gelu(X)), ("GeluV2", (X, LONG(1)), tanh_gelu(X)),
    ("FastGelu", (X,), X * sigmoid(1.702 * X)), ("Erfc", (X,), 1 - erf(X)), ("Exp2", (X,), 2 ** X),
    ("Trunc", (X * 3,), np.trunc(X * 3)), ("Frac", (X * 3,), X * 3 - np.trunc(X * 3)),
    ("IsFinite", (np.array([1, np.inf, np.nan, -np.inf], F32),), np.array([True, False, False, False])),
    ("IsInf", (np.array([1, np.inf, np.nan, -np.inf], F32),), np.array([False, True, False, True])),
    ("IsPosInf", (np.array([1, np.inf, np.nan, -np.inf], F32),), np.array([False, True, False, False])),
    ("IsNegInf", (np.array([1, np.inf, np.nan, -np.inf], F32),), np.array([False, False, False, True])),
    ("NanToNum", (np.array([1, np.inf, np.nan, -np.inf], F32), FLOAT(0.5), FLOAT(9), FLOAT(-7)),
     np.array([1, 9, 0.5, -7], F32)),
    ("Sinc", (np.append(X.ravel(), np.float32(0)),), np.sinc(np.append(X.ravel(), 0))),
    ("Logit", (np.array([0.001, 0.3, 0.99], F32), DOUBLE(0.1)), np.log([1 / 9, 3 / 7, 9])),
    ("Logit", (np.array([0.001, 0.3, 0.99], F32), DOUBLE(-1)), np.log([1 / 999, 3 / 7, 99])),
    ("LogAddExp", (X * 40, X[::-1].copy()), np.logaddexp(X * 40, X[::-1])),
    ("LogAddExp2", (np.array([1, -np.inf, 3, np.inf], F32), np.array([1, -np.inf, -np.inf, 2], F32)),
     np.array([2, -np.inf, 3, np.inf], F32)),
    ("XLogYTensor", (np.array([0, 2], F32), np.array([0, 3], F32)), np.array([0, 2 * np.log(3)])),
    ("Heaviside", (np.array([-2, 0, 3], F32), np.array([7, 8, 9], F32)), np.array([0, 8, 1], F32)),
    ("BitwiseNot", (WHOLE,), ~WHOLE), ("LogSigmoid", (X,), np.log(sigmoid(X))),
    ("Selu", (X,), 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X))),
    ("Celu", (X, 2.0), np.where(X > 0, X, 2 * np.expm1(X / 2))),
    ("Prelu", (IMAGE, CHANNELS), np.where(IMAGE > 0, IMAGE, IMAGE * COLUMN)),
    ("Swish", (X, 2.0), X * sigmoid(2 * X)), ("Hardtanh", (X, -0.5, 0.5), X.clip(-0.5, 0.5)),
    ("Hardshrink", (X, 0.5), np.where(np.abs(X) > 0.5, X, 0)),
    ("Softshrink", (X, 0.5), X - X.clip(-0.5, 0.5)),
    ("Softplus", (X * 20, 2.0, 20.0), np.where(X * 40 > 20, X * 20, np.log1p(np.exp(np.minimum(X * 40, 30))) / 2)),
    ("Threshold", (X, 0.1, -3.0), np.where(X > 0.1, X, -3)),
    ("Elu", (X, 0.5, 2.0, 3.0), 2 * np.where(X > 0, X, 0.5 * np.expm1(3 * X))),
    ("Glu", (X, LONG(-1)), X[:, :4] * sigmoid(X[:, 4:])), ("SwiGlu", (X, LONG(1)), X[:, :4] * sigmoid(X[:, :4]) * X[:, 4:]),
    ("GeGlu", (X, LONG(1), LONG(1)), (X[:, :4] * gelu(X[:, 4:]), gelu(X[:, 4:]))),
    ("GeGluV3", (X, LONG(1), LONG(0), BOOL(True)), (X[:, 4:] * tanh_gelu(X[:, :4]), tanh_gelu(X[:, :4]))),
    ("Rsub", (X, POSITIVE, 2.0), POSITIVE - 2 * X), ("Rsubs", (X, 3.0, 2.0), 3 - 2 * X),
    ("Lerp", (X, POSITIVE, LABELS), X + LABELS * (POSITIVE - X)),
    ("FmodTensor", (X * 5, POSITIVE), np.fmod(X * 5, POSITIVE)), ("FmodScalar", (WHOLE, 4.0), np.fmod(WHOLE, 4)),
    ("RemainderTensorScalar", (WHOLE, 4.0), WHOLE % 4), ("RemainderTensorTensor", (X * 5, POSITIVE), (X * 5) % POSITIVE),
    ("FloorDivides", (WHOLE, 4.0), WHOLE // 4), ("FloorDivide", (X * 5, POSITIVE), (X * 5) // POSITIVE),
    ("BitwiseAndTensor", (WHOLE, WHOLE[::-1].copy()), WHOLE & WHOLE[::-1]), ("BitwiseOrScalar", (WHOLE, 5.0), WHOLE | 5),
    ("BitwiseXorTensor", (X > 0, POSITIVE > 1), (X > 0) ^ (POSITIVE > 1)),
    ("LogicalXor", (X > 0, POSITIVE > 1), (X > 0) ^ (POSITIVE > 1)), ("Atan2", (X, X[::-1].copy()), np.arctan2(X, X[::-1])),
    ("PowTensorScalar", (X, 5.0), X ** 5), ("PowTensorScalar", (X, -2.0), X ** -2.0),
    ("PowScalarTensor", (-2.0, np.array([3, 2, 0, -1], F32)), np.array([-8, 4, 1, -0.5], F32)),
    ("PowTensorTensor", (np.array([0, 0, -2, -4, 2], F32), np.array([0, 2, 3, 0.5, 0.5], F32)),
     np.array([1, 0, -8, np.nan, 2 ** 0.5], F32)),
    ("GatherV2", (X, LONG(1), np.array([[7, 1], [0, 0]])), X[:, [[7, 1], [0, 0]]]),
    ("Gather", (X, LONG(0), INDEX), np.take_along_axis(X, INDEX, 0)),
    ("Scatter", (X, LONG(0), INDEX, POSITIVE, LONG(0)), scattered(X, INDEX, POSITIVE, 0, False)),
    ("ScatterAdd", (X, LONG(0), INDEX, POSITIVE), scattered(X, INDEX, POSITIVE, 0, True)),
    ("ScatterValue", (X, LONG(0), INDEX, 4.0, LONG(0)), scattered(X, INDEX, np.full((2, 8), 4, F32), 0, False)),
    ("IndexCopy", (X, LONG(1), np.array([3, 0]), POSITIVE[:, :2].copy()),
     np.concatenate([POSITIVE[:, 1:2], X[:, 1:3], POSITIVE[:, :1], X[:, 4:]], 1)),
    ("IndexAdd", (X, LONG(0), np.array([2, 0]), POSITIVE[:2].copy(), 0.5),
     X + 0.5 * np.stack([POSITIVE[1], 0 * X[1], POSITIVE[0]])),
    ("OneHot", (np.array([2, 0]), INT(3), np.array([5], F32), np.array([1], F32), LONG(-1)),
     np.array([[1, 1, 5], [5, 1, 1]], F32)),
    ("Sort", (X, BOOL(True), LONG(1), BOOL(False)), (np.sort(X, 1), np.argsort(X, 1, kind="stable"))),
    ("Argsort", (X, LONG(0), BOOL(True)), np.argsort(-X, 0, kind="stable")),
    ("Tril", (X, LONG(1)), np.tril(X, 1)), ("Triu", (IMAGE, LONG(-1)), np.triu(IMAGE, -1)),
    ("ConstantPadNd", (X, [1, -2, 0, 3], 7.0), np.pad(X[:, :6], ((0, 3), (1, 0)), constant_values=7)),
    ("ReflectionPad2d", (IMAGE, [1, 2, 3, 0]), np.pad(IMAGE, ((0, 0), (0, 0), (3, 0), (1, 2)), "reflect")),
    ("ReplicationPad1d", (X, [2, 1]), np.pad(X, ((0, 0), (2, 1)), "edge")),
    ("Roll", (X, [2, -1], [1, 0]), np.roll(X, (2, -1), (1, 0))), ("Roll", (X, [5], []), np.roll(X, 5)),
    ("Flip", (X, [0, 1]), X[::-1, ::-1]),
    ("RepeatInterleaveIntWithDim", (X, LONG(3), LONG(1), LONG(24)), X.repeat(3, 1)),
    ("RepeatInterleaveInt", (X, LONG(2), LONG(48)), X.reshape(-1).repeat(2)),
    ("Eye", (LONG(2), LONG(3)), np.eye(2, 3, dtype=F32)), ("Linspace", (1.0, 2.0, LONG(5)), np.linspace(1, 2, 5, dtype=F32)),
    ("Range", (1.0, 7.0, 2.0), np.array([1, 3, 5, 7], F32)),
    ("Im2col", (IMAGE, [3, 3], [1, 1], [1, 1], [2, 2]), rows_of(IMAGE, 3, 1, 2)),
    ("UpsampleNearest2d", (IMAGE, [10, 9]), IMAGE[:, :, np.arange(10) // 2][:, :, :, np.arange(9) * 6 // 9]),
    ("Var", (X, [1], BOOL(True), BOOL(True)), X.var(1, ddof=1, keepdims=True)),
    ("Std", (X, [0, 1], LONG(0), BOOL(False)), np.asarray(X.std())),
    ("VarMean", (X, [0], LONG(1), BOOL(False)), (X.var(0, ddof=1), X.mean(0))),
    ("Norm", (X, 2.0, [1], BOOL(False)), np.sqrt((X ** 2).sum(1))),
    ("Norm", (X, 3.0, [0], BOOL(True)), (np.abs(X) ** 3).sum(0, keepdims=True) ** (1 / 3)),
    ("Norm", (X, math.inf, [0], BOOL(False)), np.abs(X).max(0)),
    ("LogSumExp", (X * 60, [1], BOOL(False)), (X * 60).max(1) + np.log(np.exp(X * 60 - (X * 60).max(1, keepdims=True)).sum(1))),
    ("MaxDim", (X, LONG(1), BOOL(False)), (X.max(1), X.argmax(1))), ("MinDim", (X, LONG(0), BOOL(True)), (X.min(0, keepdims=True), X.argmin(0)[None])),
    ("ProdDim", (POSITIVE, LONG(1), BOOL(False), 0), POSITIVE.prod(1)),
    ("All", (X > -1, [1], BOOL(False)), (X > -1).all(1)), ("Any", (X, [0], BOOL(True)), np.ones((1, 8), bool)),
    ("MseLoss", (X, POSITIVE, LONG(1)), np.asarray(((X - POSITIVE) ** 2).mean())),
    ("L1Loss", (X, POSITIVE, LONG(2)), np.asarray(np.abs(X - POSITIVE).sum())),
    ("SmoothL1Loss", (X, POSITIVE, LONG(0), FLOAT(1)),
     np.where(np.abs(X - POSITIVE) < 1, 0.5 * (X - POSITIVE) ** 2, np.abs(X - POSITIVE) - 0.5)),
    ("SoftmaxCrossEntropyWithLogits", (X, LABELS), (-(LABELS * np.log(softmax(X))).sum(1), softmax(X) - LABELS)),
    ("GroupNorm", (IMAGE, CHANNELS, CHANNELS, LONG(2), LONG(4), LONG(30), LONG(2), DOUBLE(1e-5)),
     (NORMALIZED * COLUMN + COLUMN, GROUP_MEAN, GROUP_RSTD)),
    ("GroupNorm", (IMAGE, POINTER(), POINTER(), LONG(2), LONG(4), LONG(30), LONG(2), DOUBLE(1e-5)),
     (NORMALIZED, GROUP_MEAN, GROUP_RSTD)),
    ("AddRmsNorm", (X, POSITIVE, CHANNELS.repeat(2), DOUBLE(1e-6)), (BOTH * ROOT * CHANNELS.repeat(2), ROOT, BOTH)),
    ("AvgPool2d", (IMAGE, [2, 2], [1, 2], [0, 0], BOOL(False), BOOL(True), LONG(0), TINY(0)),
     (IMAGE[:, :, :-1, ::2] + IMAGE[:, :, 1:, ::2] + IMAGE[:, :, :-1, 1::2] + IMAGE[:, :, 1:, 1::2]) / 4),
    ("AdaptiveAvgPool2d", (IMAGE, [2, 3]),
     np.stack([IMAGE[:, :, :3].mean(2), IMAGE[:, :, 2:].mean(2)], 2).reshape(2, 4, 2, 3, 2).mean(4)),
    ("MaxPool", (IMAGE, [3, 3], [2, 2], LONG(0), [1, 1], [1, 1], LONG(0)), MAXIMA),
    ("MaxPool", (IMAGE, [2, 2], [2, 2], LONG(0), [0, 0], [2, 2], LONG(1)), pooled(IMAGE, 2, 2, 0, 2, True)[0]),
    ("MaxPool2dWithIndices", (IMAGE, [3, 3], [2, 2], [1, 1], [1, 1], BOOL(False)), (MAXIMA, PLACES)),
    ("Mv", (X, POSITIVE[0].copy()), X @ POSITIVE[0], TINY(0)), ("Dot", (X[0].copy(), X[1].copy()), np.asarray(X[0] @ X[1])),
    ("Ger", (X[0].copy(), CHANNELS), np.outer(X[0], CHANNELS)),
    ("Addmv", (CHANNELS[:3].copy(), X, POSITIVE[0].copy(), 2.0, 0.5), 0.5 * CHANNELS[:3] + 2 * X @ POSITIVE[0], TINY(0)),
    ("Baddbmm", (np.ones((2, 4, 4), F32), IMAGE[:, :, 0].copy(), IMAGE[:, :, 1].transpose(0, 2, 1).copy(), 3.0, 0.5),
     3 + 0.5 * IMAGE[:, :, 0] @ IMAGE[:, :, 1].transpose(0, 2, 1), TINY(0)),
    ("Addbmm", (np.ones((4, 4), F32), IMAGE[:, :, 0].copy(), IMAGE[:, :, 1].transpose(0, 2, 1).copy(), 1.0, 1.0),
     1 + (IMAGE[:, :, 0] @ IMAGE[:, :, 1].transpose(0, 2, 1)).sum(0), TINY(0)),
    ("AscendQuant", (X, np.array([20], F32), np.array([3], F32), BOOL(False), b"round", INT(2)),
     np.clip(np.round(X * 20 + 3), -128, 127).astype(np.int8)),
    *(("AscendQuantV3", (X, scale, np.array([3], F32), BOOL(False), b"floor", INT(2), INT(axis)),
       np.clip(np.floor(X * scale.reshape(shape) + 3), -128, 127).astype(np.int8))
      for axis, shape, scale in ((-1, (1, 8), np.arange(10, 18).astype(F32)), (0, (3, 1), np.array([9, 5, 7], F32)))),
    ("GemmaRmsNorm", (X, X[1].copy(), DOUBLE(1e-6)),
     (X / np.sqrt((X * X).mean(1, keepdims=True) + 1e-6) * (1 + X[1]), 1 / np.sqrt((X * X).mean(1, keepdims=True) + 1e-6))),
    ("MatmulWeightNz", (X, NZ), X @ WEIGHT, TINY(1)), ("MatmulWeightNz", (X, WEIGHT), X @ WEIGHT, TINY(1)),
    ("DynamicQuant", (X, POINTER()), (np.round(X / (np.abs(X).max(1, keepdims=True) / 127)).astype(np.int8),
                                      np.abs(X).max(1) / 127)),
    ("RotaryPositionEmbedding", (X, COS, SIN, LONG(0)), X * COS + np.concatenate([-X[:, 4:], X[:, :4]], 1) * SIN),
    ("RotaryPositionEmbedding", (X, COS, SIN, LONG(1)),
     X * COS + np.stack([-X[:, 1::2], X[:, ::2]], 2).reshape(3, 8) * SIN),
    ("RotaryPositionEmbedding", (X, COS, SIN, LONG(2)),
     X * COS + np.concatenate([-X[:, 2:4], X[:, :2], -X[:, 6:], X[:, 4:6]], 1) * SIN),
    ("RotaryPositionEmbedding", (X, COS, SIN, LONG(3)),
     np.concatenate([X[:, ::2], X[:, 1::2]], 1) * COS + np.concatenate([-X[:, 1::2], X[:, ::2]], 1) * SIN),
]
# Products read float16.
CUBE = {"Mv", "Addmv", "Baddbmm", "Addbmm", "MatmulWeightNz"}


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_operator(acl, index):
    name, arguments, results, *more = CASES[index]
    results = results if isinstance(results, tuple) else (results,)
    outputs = [Tensor(acl, np.zeros(np.shape(result), {"float64": F32}.get(np.asarray(result).dtype.name,
                                                                         np.asarray(result).dtype)))
               for result in results]
    call(acl, name, *arguments, *outputs, *more)
    for output, result in zip(outputs, results, strict=True):
        if output.array.dtype.kind == "f":
            error = 1e-2 if name in CUBE else 1e-4
            np.testing.assert_allclose(output.read(), result, rtol=error, atol=error)
        else:
            np.testing.assert_array_equal(output.read(), result)


@pytest.mark.parametrize("name, arguments, result", [
    ("InplaceScatter", (LONG(0), INDEX, POSITIVE, LONG(1)), scattered(X, INDEX, POSITIVE, 0, True)),
    ("InplaceScatterValue", (LONG(0), INDEX, 2.0, LONG(0)), scattered(X, INDEX, np.full((2, 8), 2, F32), 0, False)),
    ("InplaceIndexCopy", (LONG(0), np.array([1]), POSITIVE[:1].copy()), np.stack([X[0], POSITIVE[0], X[2]])),
    ("InplaceIndexFillTensor", (LONG(1), [-1, 2], 6.0), np.where(np.isin(np.arange(8), (2, 7)), 6, X)),
    ("InplaceMaskedFillScalar", (X[0] > 0, 3.0), np.where(X[0] > 0, 3, X)),
    ("InplaceMaskedFillTensor", (X > 0, np.array([4], F32)), np.where(X > 0, 4, X)),
    ("InplaceTril", (LONG(0),), np.tril(X)), ("InplaceTriu", (LONG(1),), np.triu(X, 1)),
    ("InplaceThreshold", (0.0, -1.0), np.where(X > 0, X, -1)), ("InplaceClampMax", (0.25,), np.minimum(X, 0.25)),
    ("InplaceLeakyRelu", (0.1,), np.where(X > 0, X, 0.1 * X)), ("InplacePowTensorScalar", (2.0,), X * X),
    ("InplaceElu", (1.0, 1.0, 1.0), np.where(X > 0, X, np.expm1(X))),
    ("InplacePowTensorTensor", (np.full((3, 8), 3, F32),), X ** 3),
    ("InplaceAddcmul", (POSITIVE, LABELS, 2.0), X + 2 * POSITIVE * LABELS),
    ("InplaceAddcdiv", (LABELS, POSITIVE, 2.0), X + 2 * LABELS / POSITIVE)])
def test_in_place(acl, name, arguments, result):
    x = Tensor(acl, X)
    call(acl, name, x, *arguments)
    np.testing.assert_allclose(x.read(), result, rtol=1e-4, atol=1e-5)


def test_running_values_of_a_batch_norm(acl):
    mean, variance = Tensor(acl, CHANNELS), Tensor(acl, CHANNELS)
    y, means, deviations = Tensor(acl, IMAGE), Tensor(acl, CHANNELS), Tensor(acl, CHANNELS)
    arguments = (CHANNELS, CHANNELS, mean, variance)
    call(acl, "BatchNorm", IMAGE, *arguments, BOOL(False), DOUBLE(0.1), DOUBLE(1e-5), y, means, deviations)
    want = (IMAGE - COLUMN) / np.sqrt(COLUMN + 1e-5) * COLUMN + COLUMN
    np.testing.assert_allclose(y.read(), want, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(mean.read(), CHANNELS)
    call(acl, "BatchNorm", IMAGE, *arguments, BOOL(True), DOUBLE(0.1), DOUBLE(1e-5), y, means, deviations)
    spread = 1 / np.sqrt(BATCH_VAR + 1e-5)
    want = (IMAGE - BATCH_MEAN[:, None, None]) * spread[:, None, None] * COLUMN + COLUMN
    np.testing.assert_allclose(y.read(), want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(means.read(), BATCH_MEAN, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(deviations.read(), spread, rtol=1e-4)
    np.testing.assert_allclose(mean.read(), 0.9 * CHANNELS + 0.1 * BATCH_MEAN, rtol=1e-4)
    np.testing.assert_allclose(variance.read(), 0.9 * CHANNELS + 0.1 * BATCH_VAR * 60 / 59, rtol=1e-4)


def test_tensors_are_split_and_added(acl):
    parts = [Tensor(acl, np.zeros((3, size), F32)) for size in (3, 3, 2)]
    call(acl, "SplitTensor", X, ctypes.c_uint64(3), LONG(1), tuple(parts))
    for part, want in zip(parts, (X[:, :3], X[:, 3:6], X[:, 6:]), strict=True):
        np.testing.assert_array_equal(part.read(), want)
    parts = [Tensor(acl, np.zeros((3, size), F32)) for size in (1, 7)]
    call(acl, "SplitWithSize", X, [1, 7], LONG(-1), tuple(parts))
    np.testing.assert_array_equal(parts[1].read(), X[:, 1:])
    total = Tensor(acl, X)
    call(acl, "Sum", (X, POSITIVE, X), total)
    np.testing.assert_allclose(total.read(), 2 * X + POSITIVE, rtol=1e-5)


def correlated(wide, weight, stride):
    """Returns the correlation of [N, C, ...] with [O, C, ...], without pads."""
    spatial = weight.ndim - 2
    counts = [(wide.shape[2 + i] - weight.shape[2 + i]) // stride + 1 for i in range(spatial)]
    out = np.zeros((wide.shape[0], weight.shape[0], *counts), F32)
    for place in np.ndindex(*weight.shape[2:]):
        windows = wide[(slice(None), slice(None), *(slice(p, p + stride * (c - 1) + 1, stride)
                                                    for p, c in zip(place, counts, strict=True)))]
        out += np.einsum("nc...,oc->no...", windows, weight[(slice(None), slice(None), *place)])
    return out


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolution_of_each_rank(acl, spatial, transposed):
    image = RNG.standard_normal((1, 4, 7, 6, 5)[:2 + spatial]).astype(F32)
    weight = RNG.standard_normal(((4, 3) if transposed else (3, 4)) + (3, 3, 2)[:spatial]).astype(F32)
    bias = RNG.standard_normal(3).astype(F32)
    if transposed:
        # Zeros between the elements, and the filter turned around.
        spread = np.zeros((1, 4, *(2 * size - 1 for size in image.shape[2:])), F32)
        spread[(slice(None), slice(None)) + (slice(None, None, 2),) * spatial] = image
        wide = np.pad(spread, [(0, 0), (0, 0)] + [(size - 2, size - 1) for size in weight.shape[2:]])
        turned = np.flip(weight, tuple(range(2, 2 + spatial))).swapaxes(0, 1)
        want = correlated(wide, turned, 1)
    else:
        want = correlated(np.pad(image, [(0, 0), (0, 0)] + [(1, 1)] * spatial), weight, 2)
    want = want + bias.reshape(1, 3, *[1] * spatial)
    result = Tensor(acl, np.zeros_like(want))
    call(acl, "Convolution", image, weight, bias, [2] * spatial, [1] * spatial, [1] * spatial, BOOL(transposed),
         [1] * spatial if transposed else [0] * spatial, LONG(1), result, TINY(0))
    np.testing.assert_allclose(result.read(), want, rtol=1e-2, atol=2e-2)


def test_depthwise_convolution(acl):
    weight = RNG.standard_normal((4, 1, 3, 3)).astype(F32)
    want = np.concatenate([correlated(IMAGE[:, i:i + 1], weight[i:i + 1], 1) for i in range(4)], 1)
    result = Tensor(acl, np.zeros_like(want))
    call(acl, "ConvDepthwise2d", IMAGE, weight, [3, 3], POINTER(), [1, 1], [0, 0], [1, 1], result, TINY(0))
    np.testing.assert_allclose(result.read(), want, rtol=1e-2, atol=2e-2)


@pytest.mark.parametrize("bits, group", [(8, 0), (8, 32), (4, 32)])
def test_products_with_quantized_weights(acl, bits, group):
    rows = RNG.standard_normal((3, 64)).astype(np.float16)
    values = RNG.integers(-8, 8, (64, 6)).astype(np.int8)
    scale = RNG.uniform(0.1, 0.2, (64 // group if group else 1, 6)).astype(np.float16)
    weight = values
    if bits == 4:  # the low half of a byte is first
        flat = values.reshape(-1, 2) & 15
        weight = Tensor(acl, (flat[:, 0] | flat[:, 1] << 4).astype(np.uint8), 29, (64, 6))
    want = rows.astype(F32) @ (values * scale.astype(F32).repeat(64 // len(scale), 0))
    result = Tensor(acl, np.zeros((3, 6), np.float16))
    call(acl, "WeightQuantBatchMatmulV2", rows, weight, scale, *[POINTER()] * 4, INT(group), result)
    np.testing.assert_allclose(result.read(), want, rtol=1e-2, atol=2e-2)


def test_grouped_products(acl):
    rows = RNG.standard_normal((5, 8)).astype(np.float16)
    weights = RNG.standard_normal((3, 8, 4)).astype(np.float16)
    result = Tensor(acl, np.zeros((5, 4), np.float16))
    call(acl, "GroupedMatmulV3", (rows,), (weights,), *[POINTER()] * 5, np.array([2, 2, 5]), LONG(3), LONG(0), (result,))
    want = np.concatenate([rows[:2].astype(F32) @ weights[0], rows[2:].astype(F32) @ weights[2]])
    np.testing.assert_allclose(result.read(), want, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("layout, mode, pre_tokens, next_tokens, masked, lengths", [
    ("BNSD", 0, 65535, 65535, False, None), ("BSND", 3, 65535, 65535, False, None), ("BSH", 0, 65535, 0, True, None),
    ("BSND", 0, 65535, 65535, False, [4, 6]), ("BNSD", 4, 2, (1 << 63) - 1, False, None),
    ("BNSD", 0, 1, (1 << 63) - 1, True, None), ("BNSD", 4, (1 << 63) - 1, 0, False, None)])
def test_attention(acl, layout, mode, pre_tokens, next_tokens, masked, lengths):
    q = RNG.standard_normal((2, 4, 5, 16)).astype(np.float16)
    k, v = (RNG.standard_normal((2, 2, 6, 16)).astype(np.float16) for _ in range(2))
    shift = RNG.standard_normal((2, 4, 5, 6)).astype(np.float16)
    mask = RNG.random((2, 1, 5, 6)) > 0.7
    mask[..., 0] = mask[..., -1] = False
    scores = np.einsum("bnsd,bntd->bnst", q.astype(F32), k.astype(F32).repeat(2, 1)) / 4 + shift
    row, column = np.arange(5)[:, None], np.arange(6)
    last = 1 if mode > 2 else 0  # the last row ends with the last column
    hidden = column > row + last + min(0 if mode == 3 else next_tokens, 99)
    if mode == 4 or masked:
        hidden = hidden | (column < row + last - min(pre_tokens, 99))
    if masked:
        hidden = hidden | mask
    if lengths:
        hidden = hidden | (column >= np.array(lengths)[:, None, None, None])
    want = np.einsum("bnst,bntd->bnsd", softmax(np.where(hidden, -1e30, scores)), v.astype(F32).repeat(2, 1))

    def arranged(x):
        return x if layout == "BNSD" else np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(
            (*x.transpose(0, 2, 1, 3).shape[:2], -1) if layout == "BSH" else x.transpose(0, 2, 1, 3).shape)
    result = Tensor(acl, np.zeros_like(arranged(q)))
    null = POINTER()
    call(acl, "FusedInferAttentionScoreV2", arranged(q), (arranged(k),), (arranged(v),), shift,
         mask if masked else null, null, lengths or null, *[null] * 17, LONG(4), DOUBLE(0.25), LONG(pre_tokens),
         LONG(next_tokens), layout.encode(), LONG(2), LONG(mode), LONG(0), LONG(0), LONG(0), BOOL(False), LONG(0),
         LONG(0), result, null)
    np.testing.assert_allclose(result.read(), arranged(want), rtol=2e-2, atol=2e-2)


def test_weights_are_as_large_as_their_blocks(acl):
    size = ctypes.c_uint64()
    shape = POINTER(acl.aclCreateIntArray((LONG * 2)(17, 20), ctypes.c_uint64(2)))
    assert acl.aclnnCalculateMatmulWeightSizeV2(shape, 1, ctypes.byref(size)) == 0 and size.value == 32 * 32 * 2
    assert acl.aclnnCalculateMatmulWeightSizeV2(shape, 2, ctypes.byref(size)) == 0 and size.value == 32 * 32
    weight = Tensor(acl, X)
    call(acl, "TransMatmulWeight", weight)
    np.testing.assert_array_equal(weight.read(), X)


@pytest.mark.parametrize("name, arguments, message", [
    ("GatherV2", (X, LONG(2), INDEX, X), "dim 2"), ("Gather", (X, LONG(0), X, X), "int32 or int64"),
    ("Scatter", (X, LONG(0), INDEX, POSITIVE, LONG(3), X), "reduce is 3"),
    ("IndexCopy", (X, LONG(0), np.array([1]), X, X), "source the dims [1,8]"),
    ("ConstantPadNd", (X, [1], 0.0, X), "1 pads"), ("ReflectionPad1d", (X, [8, 0], X), "do not fit"),
    ("Roll", (X, [1, 2], [0], X), "shifts"), ("SplitWithSize", (X, [3, 4], LONG(1), (X, X)), "the parts [3,4]"),
    ("Glu", (X[:, :3].copy(), LONG(1), X), "no halves"), ("GeluV2", (X, LONG(2), X), "approximate is 2"),
    ("MseLoss", (X, X, LONG(3), X), "reduction is 3"), ("MaxPool", (IMAGE, [9, 9], [1, 1], LONG(0), [0, 0], [1, 1],
                                                                   LONG(0), IMAGE), "does not fit the image"),
    ("GroupNorm", (IMAGE, POINTER(), POINTER(), LONG(2), LONG(4), LONG(30), LONG(3), DOUBLE(0), IMAGE, POINTER(),
                   POINTER()), "group 3"),
    ("RotaryPositionEmbedding", (X, COS, SIN, LONG(4), X), "mode is 4"),
    ("RepeatInterleaveIntWithDim", (X, LONG(2), LONG(1), LONG(9), X), "it must be 16"),
    ("MatmulWeightNz", (IMAGE[0], NZ, IMAGE, TINY(1)), "must have 2 dims where mat2"),
    ("InplaceIndexFillTensor", (X, LONG(0), [3], 1.0), "index has 3"), ("BitwiseNot", (X, X), "integers or bool"),
    ("TriangularSolve", (X, X, BOOL(0), BOOL(0), BOOL(0), X, X), "no functions here")])
def test_what_does_not_fit_is_refused(acl, name, arguments, message):
    assert message in refused(acl, name, *arguments)
