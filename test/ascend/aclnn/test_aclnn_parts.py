# aclnn functions of diagonals, slices and caches, and gradients of norms, against NumPy. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, prepare, refused  # noqa: E402, F401

RNG = np.random.default_rng(31)
F32, NULL = np.float32, POINTER()
X = RNG.standard_normal((4, 6)).astype(F32)
IMAGE = RNG.standard_normal((2, 6, 3, 5)).astype(F32)


@pytest.mark.parametrize("name, arguments, want", [
    ("Diag", (X, LONG(1)), np.diag(X, 1)), ("Diag", (X, LONG(-2)), np.diag(X, -2)), ("Diag", (X, LONG(9)), np.zeros(0, F32)),
    ("Diag", (X[0].copy(), LONG(-2)), np.diag(X[0], -2)), ("DiagFlat", (X, LONG(3)), np.diag(X.reshape(-1), 3)),
    ("Trace", (X,), np.asarray(np.trace(X))), ("Trace", (np.arange(6).reshape(2, 3),), np.asarray(4)),
    ("SliceV2", (IMAGE, [1, -4, 0], [99, 2, 3], [1, 3, 2], [2, 1, 1]), IMAGE[:, 1::2, 0:3, -4:2]),
    ("SliceV2", (X, [3], [1], [0], [1]), X[3:1]),
    ("ChannelShuffle", (IMAGE, LONG(3)), IMAGE.reshape(2, 3, 2, 3, 5).transpose(0, 2, 1, 3, 4).reshape(IMAGE.shape))])
def test_parts(acl, name, arguments, want):
    out = Tensor(acl, np.zeros(want.shape, want.dtype))
    call(acl, name, *arguments, out)
    np.testing.assert_allclose(out.read(), want, rtol=1e-6)


def test_a_filled_tensor(acl):
    out = Tensor(acl, np.zeros((3, 4), np.int32))
    call(acl, "InplaceFillTensor", out, np.array([7], np.int64))
    assert (out.read() == 7).all()


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_rows_of_a_cache(acl, dtype):
    cache, rows = (RNG.integers(-9, 9, shape).astype(dtype) for shape in ((3, 2, 8, 4), (2, 2, 3, 4)))
    want = cache.copy()
    for batch, place in enumerate((5, 0)):
        want[batch, :, place:place + 3] = rows[batch]
    own = Tensor(acl, cache)
    call(acl, "InplaceScatterUpdate", own, np.array([5, 0]), rows, LONG(-2))
    np.testing.assert_array_equal(own.read(), want)
    want = cache.copy()
    want[2, :, 4:7], want[0, :, 1:4] = rows[0], rows[1]
    own = Tensor(acl, cache)
    call(acl, "InplaceScatterUpdate", own, np.array([[2, 4], [0, 1]], np.int32), rows, LONG(2))
    np.testing.assert_array_equal(own.read(), want)
    assert "a row for each" in refused(acl, "InplaceScatterUpdate", own, np.array([5]), rows, LONG(-2))
    size, executor = ctypes.c_uint64(), POINTER()
    values, kept = prepare(acl, (own, np.array([6, 0]), rows, LONG(-2)))
    assert acl.aclnnInplaceScatterUpdateGetWorkspaceSize(*values, ctypes.byref(size), ctypes.byref(executor)) == 0
    assert acl.aclnnInplaceScatterUpdate(None, size, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) != 0  # behind the end of the cache
    np.testing.assert_array_equal(own.read(), want)
    del kept


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_norm_of_each_image(acl, layout):
    gamma, beta = RNG.uniform(0.5, 2, 6).astype(F32), X[0].copy()
    mean, variance = IMAGE.mean((2, 3), keepdims=True), IMAGE.var((2, 3), keepdims=True)
    want = (IMAGE - mean) / np.sqrt(variance + 1e-5) * gamma[:, None, None] + beta[:, None, None]
    turned = (lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1))) if layout == "NHWC" else lambda a: a
    y, m, v = (Tensor(acl, np.zeros_like(turned(a))) for a in (IMAGE, mean, variance))
    call(acl, "InstanceNorm", turned(IMAGE), gamma, beta, layout.encode(), DOUBLE(1e-5), y, m, v)
    np.testing.assert_allclose(y.read(), turned(want), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(m.read(), turned(mean), atol=1e-5)
    np.testing.assert_allclose(v.read(), turned(variance), rtol=1e-4)


def slopes(function, *points):
    """Returns the gradients of a function of arrays of float64, by differences."""
    result = []
    for number, point in enumerate(points):
        slope = np.zeros_like(point)
        for place in np.ndindex(*point.shape):
            step = np.zeros_like(point)
            step[place] = 1e-5
            values = [function(*[p + sign * step if i == number else p for i, p in enumerate(points)]) for sign in (1, -1)]
            slope[place] = (values[0] - values[1]) / 2e-5
        result.append(slope)
    return result


def test_gradients_of_norms(acl):
    x, g, gamma, beta = (a.astype(np.float64) for a in (X, X[::-1] * 2, X[1] + 2, X[2]))

    def layer(at, by, plus):
        return (g * ((at - at.mean(1, keepdims=True)) / np.sqrt(at.var(1, keepdims=True) + 1e-3) * by + plus)).sum()

    def root(at, by):
        return (g * at / np.sqrt((at ** 2).mean(1, keepdims=True) + 1e-3) * by).sum()
    f = [a.astype(F32) for a in (g, x, gamma, beta)]
    outputs = [Tensor(acl, np.zeros_like(a)) for a in (X, X[0], X[0])]
    mean, rstd = x.mean(1, keepdims=True).astype(F32), (1 / np.sqrt(x.var(1, keepdims=True) + 1e-3)).astype(F32)
    call(acl, "LayerNormBackward", f[0], f[1], [6], mean, rstd, f[2], f[3], NULL, *outputs)
    for output, want in zip(outputs, slopes(layer, x, gamma, beta), strict=True):
        np.testing.assert_allclose(output.read(), want, rtol=1e-3, atol=1e-3)
    call(acl, "LayerNormBackward", f[0], f[1], [6], mean, rstd, NULL, NULL, NULL, outputs[0], NULL, NULL)
    np.testing.assert_allclose(outputs[0].read(), slopes(lambda at: layer(at, 1, 0), x)[0], rtol=1e-3, atol=1e-3)
    rstd = (1 / np.sqrt((x ** 2).mean(1, keepdims=True) + 1e-3)).astype(F32)
    call(acl, "RmsNormGrad", f[0], f[1], rstd, f[2], *outputs[:2])
    for output, want in zip(outputs[:2], slopes(root, x, gamma), strict=True):
        np.testing.assert_allclose(output.read(), want, rtol=1e-3, atol=1e-3)
    assert "mean and rstd" in refused(acl, "LayerNormBackward", f[0], f[1], [6], f[2], rstd, NULL, NULL, NULL, *outputs)


def test_a_masked_softmax(acl):
    mask = RNG.random((2, 1, 3, 5)) > 0.6
    out = Tensor(acl, np.zeros_like(IMAGE))
    call(acl, "ScaledMaskedSoftmax", IMAGE, mask, DOUBLE(0.5), BOOL(False), out)
    scores = np.where(mask, -10000, IMAGE * 0.5)
    want = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(out.read(), want / want.sum(-1, keepdims=True), rtol=1e-4, atol=1e-6)
