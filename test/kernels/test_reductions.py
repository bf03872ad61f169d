# ===-- test_reductions.py - Reduce*, softmax, normalizations, losses ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(3)


def numbers(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


REDUCTIONS = {
    "ReduceSum": lambda x, **k: x.sum(**k), "ReduceMean": lambda x, **k: x.mean(**k),
    "ReduceMax": lambda x, **k: x.max(**k), "ReduceMin": lambda x, **k: x.min(**k),
    "ReduceProd": lambda x, **k: x.prod(**k), "ReduceL1": lambda x, **k: abs(x).sum(**k),
    "ReduceL2": lambda x, **k: np.sqrt((x * x).sum(**k)),
    "ReduceSumSquare": lambda x, **k: (x * x).sum(**k),
    "ReduceLogSum": lambda x, **k: np.log(x.sum(**k)),
    "ReduceLogSumExp": lambda x, **k: np.log(np.exp(x).sum(**k)),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shape,axes", [((3, 4, 5), [1]), ((3, 4, 5), [-1]), ((3, 4, 5), [0, 2]),
                                        ((2, 3, 40, 7), [0, 1]), ((2, 3, 4, 70), [1, 3]),
                                        ((5, 1100), [0]), ((1100,), [0]), ((3, 2, 300), [0, 2]), ((2, 1, 3, 1), [1, 3]),
                                        ((2, 3, 2, 3, 2), [0, 2, 4])])
@pytest.mark.parametrize("keep", [0, 1])
def test_reduce(name, shape, axes, keep):
    x = np.abs(numbers(*shape)) + 0.5
    if name == "ReduceProd":
        x = 1 + x / 100
    want = REDUCTIONS[name](x.astype("f8"), axis=tuple(axes), keepdims=bool(keep))
    got, = call(name, x, np.array(axes), keepdims=keep)
    assert got.shape == np.shape(want) and got.dtype == x.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert call(name, x, np.array(axes), keepdims=keep, only_shapes=True) == [np.shape(want)]


@pytest.mark.parametrize("dtype", ["f8", "f2", "i1", "u1", "i4", "u4", "i8", "u8"])
def test_reduce_types(dtype):
    x = rng.integers(0, 4, (3, 5)).astype(dtype)
    for name in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"):
        got, = call(name, x, np.array([1]), keepdims=0)
        want = REDUCTIONS[name](x.astype("f8"), axis=1)
        assert got.dtype == x.dtype and (got == want).all()


def test_reduce_axes_left_out_and_empty_sets():
    x = numbers(3, 4)
    np.testing.assert_allclose(call("ReduceSum", x)[0], x.sum(keepdims=True), rtol=1e-5)
    none = np.zeros(0, "i8")
    np.testing.assert_allclose(call("ReduceSum", x, none, keepdims=0)[0], x.sum(), rtol=1e-5)
    assert (call("ReduceSum", x, none, noop_with_empty_axes=1)[0] == x).all()
    assert (call("ReduceL1", x, noop_with_empty_axes=1)[0] == abs(x)).all()
    empty = np.zeros((2, 0, 3), "f4")
    for name, want in [("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf),
                       ("ReduceMin", np.inf), ("ReduceLogSumExp", -np.inf), ("ReduceL2", 0)]:
        got, = call(name, empty, np.array([1]), keepdims=0)
        assert got.shape == (2, 3) and (got == want).all(), name
    got, = call("ReduceMax", np.zeros((0, 2), "i4"), np.array([0]), keepdims=0)
    assert (got == np.iinfo("i4").min).all()
    assert call("ReduceSum", empty, np.array([0]))[0].shape == (1, 0, 3)
    assert call("ReduceSum", np.float32(3))[0] == 3
    with pytest.raises(KernelError):
        call("ReduceSum", x, np.array([2]))


def test_reduce_bool_and_nan():
    x = np.array([[True, False], [False, False]])
    assert call("ReduceMax", x, np.array([1]), keepdims=0)[0].tolist() == [True, False]
    assert call("ReduceMin", x, np.array([1]), keepdims=0)[0].tolist() == [False, False]
    y = numbers(40)
    y[17] = np.nan
    assert np.isnan(call("ReduceMax", y)[0]).all()
    big = np.full((4,), 1000, "f4")
    np.testing.assert_allclose(call("ReduceLogSumExp", big)[0], 1000 + np.log(4), rtol=1e-6)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("shape,axis", [((3, 1000), -1), ((3, 40, 7), 1), ((40, 30), 0), ((5,), 0),
                                        ((2, 3, 4, 5), -2), ((2, 1, 5), 1), ((), -1), ((0, 3), 1),
                                        ((3, 29), -1), ((2, 48), -1)])
@pytest.mark.parametrize("dtype,tolerance", [("f4", 2e-6), ("f8", 1e-13), ("f2", 2e-3)])
def test_softmax(shape, axis, dtype, tolerance):
    x = (5 * numbers(*shape)).astype(dtype)
    wide = np.atleast_1d(x.astype("f8"))
    want = softmax(wide, axis).reshape(shape) if x.size else x
    np.testing.assert_allclose(call("Softmax", x, axis=axis)[0], want, rtol=tolerance, atol=1e-7)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(call("LogSoftmax", x, axis=axis)[0], np.log(want),
                                   rtol=3 * tolerance, atol=3 * tolerance)


def test_softmax_extremes():
    x = np.array([[-np.inf, 0, 1000], [-200, -100, -300]], "f4")
    got, = call("Softmax", x)
    np.testing.assert_allclose(got, [[0, 0, 1], [3.8e-44, 1, 0]], atol=1e-43)
    with pytest.raises(KernelError):
        call("Softmax", x, axis=2)


def normalized(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_layer_norm(axis, dtype):
    x = (3 + numbers(4, 5, 37)).astype(dtype)
    axes = tuple(range(axis % 3, 3))
    scale, bias = numbers(*x.shape[axis % 3:], dtype=dtype), numbers(*x.shape[axis % 3:],
                                                                     dtype=dtype)
    y, mean, inverse = call("LayerNormalization", x, scale, bias, outputs=3, axis=axis)
    wide = x.astype("f8")
    tolerance = 1e-2 if dtype == "f2" else 1e-4
    np.testing.assert_allclose(y,
                               normalized(wide, axes) * scale + bias,
                               rtol=tolerance,
                               atol=tolerance)
    assert mean.dtype == inverse.dtype == np.float32
    np.testing.assert_allclose(mean, wide.mean(axes, keepdims=True), rtol=1e-4)
    np.testing.assert_allclose(inverse,
                               1 / np.sqrt(wide.var(axes, keepdims=True) + 1e-5),
                               rtol=1e-3)
    y, = call("RMSNormalization", x, scale, axis=axis)
    want = wide / np.sqrt((wide**2).mean(axes, keepdims=True) + 1e-5) * scale
    np.testing.assert_allclose(y, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(1,), (7,), (5, 1), (5, 7), (2, 5, 7), (2, 1, 1), ()])
def test_layer_norm_broadcasts(shape):
    x, scale, bias = numbers(2, 5, 7), numbers(*shape), numbers(*shape)
    got, = call("LayerNormalization", x, scale, bias)
    np.testing.assert_allclose(got, normalized(x, (2,)) * scale + bias, rtol=1e-4, atol=1e-5)
    with pytest.raises(KernelError):
        call("LayerNormalization", x, numbers(3))


def test_channel_norms():
    x, scale, bias = numbers(3, 6, 4, 5), numbers(6), numbers(6)
    by, add = scale[:, None, None], bias[:, None, None]
    got, = call("InstanceNormalization", x, scale, bias)
    np.testing.assert_allclose(got, normalized(x, (2, 3)) * by + add, rtol=1e-4, atol=1e-5)
    got, = call("GroupNormalization", x, scale, bias, num_groups=2)
    want = normalized(x.reshape(3, 2, -1), (2,)).reshape(x.shape) * by + add
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    with pytest.raises(KernelError):
        call("GroupNormalization", x, scale, bias, num_groups=4)
    mean, var = numbers(6), abs(numbers(6)) + 0.1
    got, = call("BatchNormalization", x, scale, bias, mean, var)
    want = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5) * by + add
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    y, m, v = call("BatchNormalization",
                   x,
                   scale,
                   bias,
                   mean,
                   var,
                   outputs=3,
                   training_mode=1,
                   momentum=0.8)
    np.testing.assert_allclose(y, normalized(x, (0, 2, 3)) * by + add, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(m, 0.8 * mean + 0.2 * x.mean((0, 2, 3)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(v, 0.8 * var + 0.2 * x.var((0, 2, 3)), rtol=1e-4)


def test_other_norms():
    x = numbers(2, 3, 4, 5)
    got, = call("MeanVarianceNormalization", x)
    np.testing.assert_allclose(got, normalized(x, (0, 2, 3), 0), rtol=1e-4, atol=1e-5)
    for axes in ([-1], [0], [1], [0, 1], [2, 3], [1, 3], [0, 1, 2, 3]):
        got, = call("MeanVarianceNormalization", x, axes=axes)
        np.testing.assert_allclose(got, normalized(x, tuple(axes), 0), rtol=1e-4, atol=1e-5)
    got, = call("MeanVarianceNormalization", numbers(2, 3, 300), axes=[2])
    np.testing.assert_allclose([got.mean(2), got.var(2)], [np.zeros((2, 3)), np.ones((2, 3))], atol=1e-5)
    for axis in (-1, 1):
        got, = call("LpNormalization", x, axis=axis, p=1)
        np.testing.assert_allclose(got, x / abs(x).sum(axis, keepdims=True), rtol=1e-5)
        got, = call("LpNormalization", x, axis=axis)
        np.testing.assert_allclose(got, x / np.sqrt((x * x).sum(axis, keepdims=True)), rtol=1e-5)
    assert (call("LpNormalization", np.zeros((2, 3), "f4"))[0] == 0).all()
    x = numbers(1, 6, 3)
    padded = np.pad(x * x, [(0, 0), (1, 2), (0, 0)])
    sums = sum(padded[:, i:i + 6] for i in range(4))
    got, = call("LRN", x, size=4, alpha=0.5, beta=0.6, bias=2.0)
    np.testing.assert_allclose(got, x / (2 + 0.5 / 4 * sums)**0.6, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f2", "f8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_hardmax_is_the_first_maximum_or_nan(axis, dtype):
    x = rng.integers(0, 4, (5, 6, 7)).astype(dtype)
    x[1, 2, 3] = x[1, 4, 3] = np.nan
    got, = call("Hardmax", x, axis=axis)
    want = np.zeros_like(x)
    np.put_along_axis(want, np.expand_dims(x.argmax(axis), axis), 1, axis)
    assert got.dtype == x.dtype and (got == want).all()


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses(reduction, weighted):
    x, target, weight = numbers(3, 5, 4), rng.integers(0, 5, (3, 4)), abs(numbers(5))
    target[0, 1] = -7
    logs = np.log(softmax(x.astype("f8"), 1))
    by = np.where(target == -7, 0, weight[np.maximum(target, 0)] if weighted else 1)
    loss = -np.take_along_axis(logs, np.maximum(target, 0)[:, None], 1)[:, 0] * by
    want = {"none": loss, "sum": loss.sum(), "mean": loss.sum() / by.sum()}[reduction]
    extra = [weight] if weighted else []
    got, log_prob = call("SoftmaxCrossEntropyLoss", x, target, *extra, outputs=2,
                         reduction=reduction, ignore_index=-7)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    np.testing.assert_allclose(log_prob, logs, rtol=1e-5)
    got, = call("NegativeLogLikelihoodLoss", logs.astype("f4"), target, *extra, reduction=reduction,
                ignore_index=-7)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    with pytest.raises(KernelError):
        call("SoftmaxCrossEntropyLoss", x, target, *extra)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 5), (4, 1, 1), (2, 0, 0), (0, 3, 3)])
def test_det(shape):
    x = numbers(*shape, dtype="f8")
    np.testing.assert_allclose(call("Det", x)[0], np.linalg.det(x), rtol=1e-10)
    if x.size:
        x[..., 0, :] = 0
        assert (call("Det", x)[0] == 0).all()
