# Functions of aclnn that layers of images and of language need: gradients of resized and padded
# images, statistics of several devices, tokens that go to experts, forms with scalars.
# Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import math

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, close, drawer, refused, whole, zeros  # noqa: E402, F401

RNG, draw = drawer(31)
F32, NULL = np.float32, POINTER()


#--- images: the matrix of an axis, whose transpose is the gradient -----------------------

def nearest(n, m, exact=False):
    matrix = np.zeros((m, n))
    for i in range(m):
        matrix[i, min(int((i + (0.5 if exact else 0)) * n / m), n - 1)] = 1
    return matrix


def linear(n, m, corners):
    matrix = np.zeros((m, n))
    for i in range(m):
        at = i * (n - 1) / max(m - 1, 1) if corners else max((i + .5) * n / m - .5, 0)
        low = min(int(at), n - 1)
        matrix[i, low] += 1 - (at - low)
        matrix[i, min(low + 1, n - 1)] += at - low
    return matrix


def cubic(n, m, corners):
    matrix = np.zeros((m, n))
    for i in range(m):
        at = i * (n - 1) / max(m - 1, 1) if corners else (i + .5) * n / m - .5
        for tap in range(math.floor(at) - 1, math.floor(at) + 3):
            x = abs(at - tap)
            weight = 1.25 * x ** 3 - 2.25 * x ** 2 + 1 if x <= 1 else -.75 * (x ** 3 - 5 * x ** 2 + 8 * x - 4)
            matrix[i, min(max(tap, 0), n - 1)] += weight
    return matrix


def along(matrices, x):
    """Applies matrices to the last axes."""
    for i, matrix in enumerate(matrices):
        axis = x.ndim - len(matrices) + i
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


@pytest.mark.parametrize("name, size, matrix, corners", [
    ("Nearest1d", [7], nearest, None), ("Nearest2d", [7, 3], nearest, None), ("Nearest3d", [3, 7, 4], nearest, None),
    ("NearestExact1d", [7], lambda n, m: nearest(n, m, True), None),
    ("NearestExact2d", [7, 3], lambda n, m: nearest(n, m, True), None),
    ("NearestExact3d", [3, 7, 4], lambda n, m: nearest(n, m, True), None),
    ("Linear1d", [9], linear, False), ("Linear1d", [9], linear, True), ("Bilinear2d", [9, 3], linear, False),
    ("Bilinear2d", [9, 3], linear, True), ("Bicubic2d", [9, 3], cubic, False), ("Bicubic2d", [9, 3], cubic, True),
    ("Trilinear3d", [3, 8, 2], linear, True)])
def test_gradients_of_resized_images(acl, name, size, matrix, corners):
    dims = [2, 3, *[5, 4, 3][:len(size)]]
    gradient, result = draw(2, 3, *size), zeros(acl, *dims)
    more = [] if corners is None else [BOOL(corners)]
    matrices = [matrix(n, m, *([] if corners is None else [corners])) for n, m in zip(dims[2:], size)]
    call(acl, f"Upsample{name}Backward", gradient, size, dims, *more, *[DOUBLE(0)] * len(size), result)
    close(result, along([m.T for m in matrices], gradient))
    assert "inputSize" in refused(acl, f"Upsample{name}Backward", gradient, size, dims[1:], *more,
                                  *[DOUBLE(0)] * len(size), result)


@pytest.mark.parametrize("name, size", [("Nearest3d", [3, 7, 4]), ("NearestExact1d", [7]), ("NearestExact3d", [3, 7, 4])])
def test_nearest_elements(acl, name, size):
    x, result = draw(2, 3, *[5, 4, 3][:len(size)]), zeros(acl, 2, 3, *size)
    call(acl, f"Upsample{name}", x, size, *[DOUBLE(0)] * len(size), result)
    close(result, along([nearest(n, m, "Exact" in name) for n, m in zip(x.shape[2:], size)], x))


@pytest.mark.parametrize("name, mode", [("Reflection", "reflect"), ("Replication", "edge"), ("Circular", "wrap")])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_gradients_of_pads(acl, name, mode, axes):
    if name == "Circular" and axes == 1:
        pytest.skip("there is no such function")
    x = draw(2, *[4, 5, 3][:axes])
    pads = [2, 1, 0, 3, 1, 1][:2 * axes]
    widths = [(0, 0)] + [(pads[2 * i], pads[2 * i + 1]) for i in reversed(range(axes))]
    positions = np.pad(np.arange(x.size).reshape(x.shape), widths, mode)
    gradient, result = draw(*positions.shape), zeros(acl, *x.shape)
    call(acl, f"{name}Pad{axes}dBackward", gradient, x, pads, result)
    want = np.zeros(x.size)
    np.add.at(want, positions.ravel(), gradient.ravel())
    close(result, want.reshape(x.shape))
    assert "padding" in refused(acl, f"{name}Pad{axes}dBackward", gradient, x, [-1] + pads[1:], result)
    if name == "Circular":
        forward = zeros(acl, *positions.shape)
        call(acl, f"CircularPad{axes}d", x, pads, forward)
        close(forward, np.pad(x, widths, "wrap"))


def test_columns_become_images(acl):
    gradient, result = draw(2, 3 * 2 * 3, 4 * 5), zeros(acl, 2, 3, 6, 8)
    want = np.zeros((2, 3, 6 + 2, 8 + 4))
    for tap in range(6):
        for i in range(20):
            y, x = i // 5 * 2 + tap // 3 * 1, i % 5 * 2 + tap % 3 * 1
            want[:, :, y, x] += gradient.reshape(2, 3, 6, 20)[:, :, tap, i]
    call(acl, "Im2colBackward", gradient, [6, 8], [2, 3], [1, 1], [1, 2], [2, 2], result)
    close(result, want[:, :, 1:-1, 2:-2])
    assert "gradOutput" in refused(acl, "Im2colBackward", gradient, [6, 9], [2, 3], [1, 1], [1, 2], [1, 2], result)


#--- norms -------------------------------------------------------------------------

def test_norms_of_several_devices(acl):
    parts = [draw(3, 4, 5) * 2 + 1, draw(2, 4, 5)]
    means, spreads = [], []
    for x in parts:
        mean, spread = zeros(acl, 4), zeros(acl, 4)
        call(acl, "BatchNormStats", x, DOUBLE(1e-5), mean, spread)
        close(mean, x.mean((0, 2)))
        close(spread, 1 / np.sqrt(x.var((0, 2)) + 1e-5))
        means.append(mean.read())
        spreads.append(spread.read())
        total, squares = zeros(acl, 4), zeros(acl, 4)
        call(acl, "BatchNormReduce", x, total, squares)
        close(total, x.sum((0, 2)))
        close(squares, (x * x).sum((0, 2)))
    every = np.concatenate(parts)
    counts = np.array([15, 10], F32)
    run_mean, run_variance = draw(4), np.abs(draw(4))
    kept = Tensor(acl, run_mean), Tensor(acl, run_variance)
    mean, spread = zeros(acl, 4), zeros(acl, 4)
    call(acl, "BatchNormGatherStatsWithCounts", parts[0], np.stack(means), np.stack(spreads), *kept, DOUBLE(.25),
         DOUBLE(1e-5), counts, mean, spread)
    close(mean, every.mean((0, 2)))
    close(spread, 1 / np.sqrt(every.var((0, 2)) + 1e-5))
    close(kept[0], run_mean * .75 + .25 * every.mean((0, 2)))
    close(kept[1], run_variance * .75 + .25 * every.var((0, 2), ddof=1))

    def column(v):
        return v[:, None]
    m, s, weight, bias = mean.read(), spread.read(), draw(4), draw(4)
    y = zeros(acl, 3, 4, 5)
    call(acl, "BatchNormElemt", parts[0], weight, bias, m, s, DOUBLE(1e-5), y)
    close(y, (parts[0] - column(m)) * column(s * weight) + column(bias))
    g = draw(3, 4, 5)
    sums = [zeros(acl, 4) for _ in range(4)]
    call(acl, "BatchNormReduceBackward", g, parts[0], m, s, weight, BOOL(True), BOOL(True), BOOL(True), *sums)
    product = (g * (parts[0] - column(m))).sum((0, 2))
    for tensor, want in zip(sums, (g.sum((0, 2)), product, product * s, g.sum((0, 2)))):
        close(tensor, want)
    result = zeros(acl, 3, 4, 5)
    call(acl, "BatchNormElemtBackward", g, parts[0], m, s, weight, sums[0].read(), sums[1].read(),
         np.array([15, 10], np.int32), result)
    close(result, (g - column(sums[0].read()) / 25 - (parts[0] - column(m)) * column(s ** 2 * product) / 25)
          * column(s * weight))
    assert "counts" in refused(acl, "BatchNormGatherStatsWithCounts", parts[0], np.stack(means), np.stack(spreads),
                               *kept, DOUBLE(.25), DOUBLE(1e-5), counts[:1], mean, spread)


def group_norm(x, groups, weight, bias, eps=1e-5):
    wide = x.reshape(x.shape[0], groups, -1).astype(np.float64)
    mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    y = ((wide - mean) / np.sqrt(variance + eps)).reshape(x.shape)
    return y * weight[:, None, None] + bias[:, None, None], mean[..., 0], 1 / np.sqrt(variance[..., 0] + eps)


def test_norms_of_groups_that_are_activated(acl):
    x, weight, bias = draw(2, 6, 3, 4), draw(6), draw(6)
    want, mean, spread = group_norm(x, 3, weight, bias)

    def swish(scale):
        return want / (1 + np.exp(-scale * want))
    for name, middle, result in (("GroupNormSilu", [LONG(3), DOUBLE(1e-5)], swish(1)),
                                 ("GroupNormSiluV2", [LONG(3), DOUBLE(1e-5), BOOL(False)], want),
                                 ("GroupNormSwish", [LONG(3), ctypes.c_char_p(b"NCHW"), DOUBLE(1e-5), BOOL(True),
                                                     DOUBLE(1.5)], swish(1.5)),
                                 ("GroupNormSwish", [LONG(3), ctypes.c_char_p(b"NCHW"), DOUBLE(1e-5), BOOL(True),
                                                     DOUBLE(0)], want / 2)):
        outs = zeros(acl, *x.shape), zeros(acl, 2, 3), zeros(acl, 2, 3)
        call(acl, name, x, weight, bias, *middle, *outs)
        for tensor, values in zip(outs, (result, mean, spread)):
            close(tensor, values)
    assert "dataFormat" in refused(acl, "GroupNormSwish", x, weight, bias, LONG(3), ctypes.c_char_p(b"NHWC"),
                                   DOUBLE(1e-5), BOOL(True), DOUBLE(1), *outs)


def test_norms_of_sums(acl):
    a, b, gamma = draw(3, 8), draw(3, 8), draw(8)
    both = a.astype(np.float64) + b
    spread = 1 / np.sqrt((both ** 2).mean(-1, keepdims=True) + 1e-6)
    normal = both * spread * gamma
    x, residual, rstd = Tensor(acl, a), Tensor(acl, b), zeros(acl, 3, 1)
    call(acl, "InplaceAddRmsNorm", x, residual, gamma, DOUBLE(1e-6), rstd)
    close(x, normal)
    close(residual, both)
    close(rstd, spread)
    scale, zero = np.abs(draw(8)) * 5 + 5, np.full(8, 3, np.int32)
    y, total = zeros(acl, 3, 8, kind=np.int8), zeros(acl, 3, 8)
    for divides in (False, True):
        factor = 1 / scale if divides else scale
        call(acl, "AddRmsNormQuant", a, b, gamma, factor.astype(F32), NULL, zero, NULL, LONG(-1), DOUBLE(1e-6),
             BOOL(divides), y, NULL, total)
        assert np.abs(y.read() - np.clip(np.rint(normal * scale + 3), -128, 127)).max() <= 1
    close(total, both)
    smooth, scales = np.abs(draw(8)) + .5, zeros(acl, 3)
    call(acl, "AddRmsNormDynamicQuant", a, b, gamma, smooth.astype(F32), NULL, DOUBLE(1e-6), y, NULL, total, scales, NULL)
    want = np.abs(normal * smooth).max(-1) / 127
    close(scales, want)
    assert np.abs(y.read() - np.rint(normal * smooth / want[:, None])).max() <= 1
    beta, norm = draw(8), zeros(acl, 3, 8)
    call(acl, "AddRmsNormQuantV2", a, b, gamma, scale.astype(F32), NULL, zero, NULL, beta, LONG(-1), DOUBLE(1e-6), BOOL(False), y,
         NULL, total, norm)
    assert np.abs(y.read() - np.clip(np.rint((normal + beta) * scale + 3), -128, 127)).max() <= 1
    close(norm, normal)
    call(acl, "AddRmsNormDynamicQuantV2", a, b, gamma, smooth.astype(F32), NULL, beta, DOUBLE(1e-6), NULL, y, NULL, total, scales, NULL)
    want = np.abs((normal + beta) * smooth).max(-1) / 127
    close(scales, want)
    assert np.abs(y.read() - np.rint((normal + beta) * smooth / want[:, None])).max() <= 1
    acl.aclCreateBoolArray.restype = POINTER
    both = POINTER(acl.aclCreateBoolArray((BOOL * 2)(True, True), ctypes.c_uint64(2)))
    assert "outputMask" in refused(acl, "AddRmsNormDynamicQuantV2", a, b, gamma, smooth.astype(F32), NULL, beta, DOUBLE(1e-6), both, y,
                                   NULL, total, scales, NULL)
    acl.aclDestroyBoolArray(both)
    assert "beta [3]" in refused(acl, "AddRmsNormQuantV2", a, b, gamma, scale.astype(F32), NULL, zero, NULL, draw(3), LONG(-1),
                                 DOUBLE(1e-6), BOOL(False), y, NULL, total, NULL)


#--- gradients of elements, against differences --------------------------------------------

def slope(function, x, step=1e-4):
    x = x.astype(np.float64)
    return (function(x + step) - function(x - step)) / (2 * step)


def test_gradients_of_elements(acl):
    x, g, out = draw(2, 3, 4), draw(2, 3, 4), zeros(acl, 2, 3, 4)
    erf = np.vectorize(math.erf)
    for kind, function in ((b"tanh", lambda v: .5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + .044715 * v ** 3)))),
                           (b"none", lambda v: .5 * v * (1 + erf(v / math.sqrt(2))))):
        call(acl, "GeluBackwardV2", g, x, ctypes.c_char_p(kind), out)
        close(out, g * slope(function, x))
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    selu = np.where(x > 0, scale * x, scale * alpha * np.expm1(x)).astype(F32)
    call(acl, "SeluBackward", g, selu, out)
    close(out, g * np.where(x > 0, scale, scale * alpha * np.exp(x)))
    for weight in (draw(3), draw(1)):
        factor, of_weight = weight.reshape(1, -1, 1), zeros(acl, weight.size)
        call(acl, "PreluBackward", g, x, weight, out, of_weight)
        close(out, g * np.where(x > 0, 1, factor))
        parts = np.where(x > 0, 0, g * x)
        close(of_weight, parts.sum((0, 2)) if weight.size == 3 else parts.sum().reshape(1))
    target = np.abs(draw(2, 3, 4))
    target[0, 0] = 0
    for reduction, count in ((0, 1), (1, 24), (2, 1), (3, 2)):
        gradient = g if reduction == 0 else draw(1)
        call(acl, "KlDivBackward", gradient, x, target, LONG(reduction), BOOL(False), out)
        close(out, -target * gradient / count)
        call(acl, "KlDivBackward", gradient, x, target, LONG(reduction), BOOL(True), out)
        close(out, -np.exp(target) * gradient / count)
    sign = np.where(draw(2, 3, 4) > 0, 1, -1).astype(F32)
    for reduction, count in ((0, 1), (1, 24), (2, 1)):
        gradient = g if reduction == 0 else draw(1)
        call(acl, "SoftMarginLossBackward", gradient, x, sign, LONG(reduction), out)
        close(out, slope(lambda v: np.log1p(np.exp(-sign * v)), x) * gradient / count)
    assert "reduction" in refused(acl, "SoftMarginLossBackward", g, x, sign, LONG(3), out)
    mask = draw(2, 3, 4) > 1
    y = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    call(acl, "ScaledMaskedSoftmaxBackward", g, y, mask, DOUBLE(.5), BOOL(False), out)
    close(out, np.where(mask, 0, .5 * y * (g - (g * y).sum(-1, keepdims=True))))


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_gradients_of_rotations(acl, mode):
    x, g, c, s = draw(2, 3, 2, 8), draw(2, 3, 2, 8), draw(1, 3, 1, 8), draw(1, 3, 1, 8)

    def rotated(x, c, s):
        out = zeros(acl, 2, 3, 2, 8)
        call(acl, "RotaryPositionEmbedding", x, c, s, LONG(mode), out)
        return out.read().astype(np.float64)
    outs = zeros(acl, *x.shape), zeros(acl, *c.shape), zeros(acl, *s.shape)
    call(acl, "RotaryPositionEmbeddingGrad", g, c, s, x, LONG(mode), *outs)
    # It is linear in each argument.
    for tensor, given, at in zip(outs, (x, c, s), range(3)):
        want = np.zeros(given.shape)
        for place in np.ndindex(*given.shape):
            unit = np.zeros(given.shape, F32)
            unit[place] = 1
            arguments = [x, c, s]
            arguments[at] = unit
            if at:
                arguments[3 - at] = np.zeros(c.shape, F32)
            want[place] = (rotated(*arguments) * g).sum()
        close(tensor, want)


#--- experts -------------------------------------------------------------------------

def test_tokens_go_to_experts(acl):
    x, experts = draw(5, 4), RNG.integers(0, 3, (5, 2)).astype(np.int32)
    order = np.argsort(experts.ravel(), kind="stable")
    positions = np.empty(10, np.int32)
    positions[order] = np.arange(10)
    counts = np.bincount(experts.ravel(), minlength=3)
    for flag, want in ((1, counts.cumsum()), (2, counts)):
        moved, rows, number = zeros(acl, 10, 4), zeros(acl, 10, kind=np.int32), zeros(acl, 3, kind=np.int32)
        call(acl, "MoeInitRoutingV2", x, experts, LONG(0), LONG(0), LONG(3), LONG(0), LONG(flag), BOOL(False), moved,
             rows, number, NULL)
        assert (moved.read() == x[order // 2]).all() and (rows.read() == positions).all() and (number.read() == want).all()
    permuted, sorted_rows = zeros(acl, 10, 4), zeros(acl, 10, kind=np.int32)
    call(acl, "MoeTokenPermute", x, experts, LONG(0), BOOL(False), permuted, sorted_rows)
    assert (permuted.read() == x[order // 2]).all() and (sorted_rows.read() == positions).all()
    shares, back = np.abs(draw(5, 2)), zeros(acl, 5, 4)
    call(acl, "MoeTokenUnpermute", permuted.read(), positions, shares, BOOL(False), NULL, back)
    close(back, x * shares.sum(-1, keepdims=True))
    # Each expert takes two tokens; the others are dropped.
    padded, rows, before = zeros(acl, 3, 2, 4), zeros(acl, 10, kind=np.int32), zeros(acl, 3, kind=np.int32)
    call(acl, "MoeInitRoutingV2", x, experts, LONG(0), LONG(2), LONG(3), LONG(1), LONG(0), BOOL(True), padded, rows,
         NULL, before)
    seen, want, at = [0] * 3, np.zeros((3, 2, 4), F32), []
    for i, expert in enumerate(experts.ravel()):
        if seen[expert] < 2:
            want[expert, seen[expert]] = x[i // 2]
        at.append(expert * 2 + seen[expert] if seen[expert] < 2 else -1)
        seen[expert] += 1
    assert (padded.read() == want).all() and (rows.read() == at).all() and (before.read() == counts).all()
    assert "expertCapacity" in refused(acl, "MoeInitRoutingV2", x, experts, LONG(0), LONG(0), LONG(3), LONG(1), LONG(0),
                                       BOOL(True), padded, rows, NULL, before)


@pytest.mark.parametrize("quant", [-1, 0, 1])
@pytest.mark.parametrize("numbers, sources", [(0, 0), (1, 1), (2, 0)])
def test_tokens_go_to_a_range_of_experts(acl, quant, numbers, sources):
    x, experts = draw(5, 4), RNG.integers(0, 6, (5, 2)).astype(np.int32)
    experts[0] = 1, 4
    scale = {-1: draw(5), 0: np.array([20], F32), 1: RNG.uniform(0.5, 2, (3, 4)).astype(F32)}[quant]
    chosen = experts.ravel()
    order = [i for i in np.argsort(chosen, kind="stable") if 1 <= chosen[i] < 4]
    rows, units = np.zeros((10, 4)), np.zeros(10)
    for i, own in enumerate(order):
        rows[i] = x[own // 2]
        if quant == -1:
            units[i] = scale[own // 2]
        elif quant == 0:
            rows[i] = np.rint(rows[i] * 20 + 0.5)
        else:
            rows[i] *= scale[chosen[own] - 1]
            units[i] = np.abs(rows[i]).max() / 127
            rows[i] = np.rint(rows[i] / units[i])
    positions, counts = np.full(10, -1), np.bincount(chosen[order], minlength=4)[1:]
    if sources:
        positions[:len(order)] = order
    else:
        positions[order] = np.arange(len(order))
    pairs = np.zeros((6, 2), np.int64)
    named = [(i + 1, n) for i, n in enumerate(counts) if n]
    pairs[:len(named)] = named
    moved, at = zeros(acl, 10, 4, kind=F32 if quant == -1 else np.int8), zeros(acl, 10, kind=np.int32)
    said, scales = Tensor(acl, np.full_like(pairs if numbers == 2 else pairs[:3, 0], 7)), zeros(acl, 10)
    offset = np.array([0.5], F32) if quant == 0 else NULL
    call(acl, "MoeInitRoutingV3", x, experts, scale, offset, LONG(0), LONG(0), LONG(6), LONG(0), LONG(numbers), BOOL(True), LONG(quant),
         [1, 4], LONG(sources), moved, at, said, scales)
    np.testing.assert_allclose(moved.read(), np.clip(rows, -128, 127) if quant == 0 else rows, rtol=1e-6, atol=quant == 1)
    assert (at.read() == positions).all() and (said.read() == (counts.cumsum(), counts, pairs)[numbers]).all()
    if quant != 0:
        np.testing.assert_allclose(scales.read(), units, rtol=1e-5)


def test_experts_of_a_range_with_rows_of_their_own(acl):
    x, experts = draw(5, 4), np.array([[0, 2], [0, 1], [0, 2], [1, 2], [2, 0]], np.int32)
    padded, rows, counts = zeros(acl, 3, 2, 4), zeros(acl, 10, kind=np.int32), zeros(acl, 3, kind=np.int64)
    given = x, experts, NULL, NULL, LONG(0), LONG(2), LONG(3), LONG(1)
    call(acl, "MoeInitRoutingV3", *given, LONG(1), BOOL(True), LONG(-1), NULL, LONG(0), padded, rows, counts, NULL)
    assert (padded.read() == x[[[0, 1], [1, 3], [0, 2]]]).all() and (counts.read() == [4, 2, 4]).all()
    assert (rows.read() == [0, 4, 1, 2, -1, 5, 3, -1, -1, -1]).all()
    for more, message in (((LONG(1), BOOL(True), LONG(2), NULL, LONG(0)), "quantMode is 2"),
                          ((LONG(1), BOOL(True), LONG(-1), [1, 3], LONG(0)), "activeExpertRange"),
                          ((LONG(1), BOOL(True), LONG(0), NULL, LONG(0)), "one number each"),
                          ((LONG(2), BOOL(True), LONG(-1), NULL, LONG(0)), "expertTokensNumType 2")):
        assert message in refused(acl, "MoeInitRoutingV3", *given, *more, padded, rows, counts, NULL)


@pytest.mark.parametrize("mode", [0, 2])
def test_tokens_come_back(acl, mode):
    rows, positions = draw(10, 4), RNG.permutation(10).astype(np.int32)
    scales, bias, experts = draw(5, 2), draw(3, 4), RNG.integers(0, 3, (5, 2)).astype(np.int32)
    first, out = draw(5, 4), zeros(acl, 5, 4)
    call(acl, "MoeFinalizeRoutingV2", rows, positions, first, NULL, bias, scales, experts, LONG(mode), out)
    want = first.astype(np.float64)
    for i in range(5):
        for k in range(2):
            want[i] += scales[i, k] * (rows[positions[i + 5 * k if mode == 0 else 2 * i + k]] + bias[experts[i, k]])
    close(out, want)


# Shares of a softmax are divided by their sum where renorm is 1, those of a sigmoid always.
@pytest.mark.parametrize("sigmoid, renorm, groups, kept, sums",
                         [(False, 0, 1, 1, 0), (False, 1, 1, 1, 0), (False, 1, 4, 2, 1), (True, 0, 4, 2, 1),
                          (True, 0, 4, 2, 0), (True, 1, 4, 2, 0)])
def test_gates(acl, sigmoid, renorm, groups, kept, sums):
    x, bias = draw(6, 16), draw(16) / 4
    norm = 1 / (1 + np.exp(-x)) if sigmoid else np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    shares, experts, every = zeros(acl, 6, 3), zeros(acl, 6, 3, kind=np.int32), zeros(acl, 6, 16)
    call(acl, "MoeGatingTopK", x, bias, LONG(3), LONG(kept), LONG(groups), LONG(sums), LONG(renorm),
         LONG(int(sigmoid)), BOOL(True), DOUBLE(2.5), DOUBLE(0.125), shares, experts, every)
    close(every, norm)
    for i in range(6):
        by = norm[i] + bias
        parts = np.sort(by.reshape(groups, -1), -1)
        best = np.argsort(-(parts[:, -2:].sum(-1) if sums else parts[:, -1]))[:kept]
        hidden = np.full((groups, 16 // groups), -np.inf)
        hidden[best] = by.reshape(groups, -1)[best]
        want = np.argsort(-hidden.ravel())[:3]
        assert (experts.read()[i] == want).all()
        share = norm[i, want]
        divisor = share.sum() + 0.125 if sigmoid or renorm else 1
        np.testing.assert_allclose(shares.read()[i], 2.5 * share / divisor, rtol=2e-3)
    assert "renorm 2" in refused(acl, "MoeGatingTopK", x, bias, LONG(3), LONG(kept), LONG(groups), LONG(sums), LONG(2),
                                 LONG(1), BOOL(True), DOUBLE(1), DOUBLE(0), shares, experts, every)
    assert "kGroup" in refused(acl, "MoeGatingTopK", x, bias, LONG(3), LONG(groups + 1), LONG(groups), LONG(sums), LONG(0),
                               LONG(1), BOOL(True), DOUBLE(1), DOUBLE(0), shares, experts, every)


def test_gates_of_groups_without_a_finite_score(acl):
    """A kept group whose biases are minus infinity still goes before the others; NaN is the largest."""
    x, bias = np.zeros((2, 8), np.float32), np.array([-np.inf] * 3 + [1, 2, 0, 0, 0], np.float32)
    x[1, 6] = np.nan
    shares, experts, every = zeros(acl, 2, 3), zeros(acl, 2, 3, kind=np.int32), zeros(acl, 2, 8)
    call(acl, "MoeGatingTopK", x, bias, LONG(3), LONG(1), LONG(2), LONG(0), LONG(0), LONG(1), BOOL(True), DOUBLE(1),
         DOUBLE(0), shares, experts, every)
    assert experts.read()[0].tolist() == [4, 5, 6]
    assert experts.read()[1].tolist() == [6, 4, 5]
    bias[3] = 3
    call(acl, "MoeGatingTopK", x, bias, LONG(3), LONG(1), LONG(2), LONG(0), LONG(0), LONG(1), BOOL(True), DOUBLE(1),
         DOUBLE(0), shares, experts, every)
    assert experts.read()[0].tolist() == [3, 0, 1]


#--- scalars -------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("value", [-1, 0, 1, 200, 255, 256, 300, -129, 2**31, -2**31 - 1, 2**53 + 1])
def test_whole_scalars_are_compared_as_they_are(acl, kind, value):
    x = np.array([0, 1, 100, 127, 255, -1, -128]).astype(kind)
    if kind == "int64":
        x = np.append(x, [2**53, 2**53 + 1, 2**31])
    flags, flag = zeros(acl, *x.shape, kind=bool), Tensor(acl, np.zeros((), bool))
    exact = [int(item) for item in x]
    for name, op in (("Eq", "__eq__"), ("Ne", "__ne__"), ("Lt", "__lt__"), ("Le", "__le__"), ("Gt", "__gt__"),
                     ("Ge", "__ge__")):
        call(acl, f"{name}Scalar", x, whole(acl, value), flags)
        assert flags.read().tolist() == [getattr(item, op)(value) for item in exact], name
    call(acl, "IsInTensorScalar", x, whole(acl, value), BOOL(False), BOOL(False), flags)
    assert flags.read().tolist() == [item == value for item in exact]
    call(acl, "IsInScalarTensor", whole(acl, value), x, BOOL(False), BOOL(False), flag)
    assert bool(flag.read()) == (value in exact)


def test_arithmetic_with_scalars_that_the_type_does_not_hold(acl):
    """The result is computed in a type that holds the scalar, and wraps where the output does not hold it."""
    x, same, wide = np.array([0, 1, 7, 255], np.uint8), zeros(acl, 4, kind=np.uint8), zeros(acl, 4, kind=np.int32)
    call(acl, "Adds", x, whole(acl, -1), whole(acl, 1), same)
    assert same.read().tolist() == [255, 0, 6, 254]
    call(acl, "Adds", x, whole(acl, -1), whole(acl, 1), wide)
    assert wide.read().tolist() == [-1, 0, 6, 254]
    call(acl, "Muls", x, whole(acl, 300), wide)
    assert wide.read().tolist() == [0, 300, 2100, 76500]
    call(acl, "ClampMin", x, whole(acl, -5), same)
    assert same.read().tolist() == x.tolist()
    call(acl, "ClampMax", x, whole(acl, 300), same)
    assert same.read().tolist() == x.tolist()
    truth = np.array([True, False])
    call(acl, "Adds", truth, whole(acl, 1), whole(acl, 1), both := zeros(acl, 2, kind=np.int64))
    assert both.read().tolist() == [2, 1]
    # 1e6 is no number of float16, the product is one.
    call(acl, "Muls", np.array([0.001, 0.002], np.float16), 1e6, half := zeros(acl, 2, kind=np.float16))
    np.testing.assert_allclose(half.read(), [1000, 2000], rtol=2e-3)
    call(acl, "LtScalar", np.array([np.inf, 1], np.float16), 1e6, flags := zeros(acl, 2, kind=bool))
    assert flags.read().tolist() == [False, True]
    large = np.array([2**53 + 1, 5])
    call(acl, "InplaceFillScalar", filled := Tensor(acl, large), whole(acl, 2**53 + 1))
    assert filled.read().tolist() == [2**53 + 1] * 2
    call(acl, "InplaceMaskedFillScalar", masked := Tensor(acl, x), np.array([True, False, False, True]), whole(acl, -1))
    assert masked.read().tolist() == [255, 1, 7, 255]


def test_pads_are_refused_before_anything_is_allocated(acl):
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    image = np.zeros((1, 2, 3, 3), np.float32)
    out = zeros(acl, 1, 2, 4, 4)
    for name in ("ReplicationPad2d", "ReplicationPad2dBackward"):
        given = (out, image) if name.endswith("Backward") else (image,)
        assert "must be" in refused(acl, name, *given, [1, 2**27, 0, 0], out)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_forms_with_scalars(acl):
    x, out = draw(3, 4), zeros(acl, 3, 4)
    positive = np.abs(x) + .1
    call(acl, "XLogYScalarOther", x, 2.5, out)
    close(out, x * math.log(2.5))
    call(acl, "XLogYScalarSelf", 2.5, positive, out)
    close(out, 2.5 * np.log(positive))
    call(acl, "RemainderScalarTensor", 5.5, x, out)
    close(out, np.mod(5.5, x), 1e-2)
    limit = draw(3, 4)
    call(acl, "ClampMaxTensor", x, limit, out)
    close(out, np.minimum(x, limit))
    numbers, flags, flag = np.array([1, 5, 3, 5], np.int32), zeros(acl, 4, kind=bool), Tensor(acl, np.zeros((), bool))
    for invert in (False, True):
        call(acl, "IsInTensorScalar", numbers, 5.0, BOOL(False), BOOL(invert), flags)
        assert (flags.read() == ((numbers == 5) != invert)).all()
        for number in (3.0, 7.0):
            call(acl, "IsInScalarTensor", number, numbers, BOOL(False), BOOL(invert), flag)
            assert flag.read() == ((number in numbers) != invert)
    for decimals in (2, 0, -1):
        call(acl, "RoundDecimals", x * 100, LONG(decimals), out)
        close(out, np.round(x * 100, decimals), 1e-5)
    call(acl, "LogSigmoidForward", x, out, NULL)
    close(out, -np.log1p(np.exp(-x)))
    mean, deviation = zeros(acl, 3), zeros(acl, 3)
    call(acl, "StdMeanCorrection", x, [1], LONG(1), BOOL(False), deviation, mean)
    close(deviation, x.std(1, ddof=1))
    close(mean, x.mean(1))
    call(acl, "MeanV2", x, [1], BOOL(False), BOOL(False), mean)
    close(mean, x.mean(1))
    call(acl, "MeanV2", x, [], BOOL(False), BOOL(True), out)
    close(out, x)
    for power in (1., 2., math.inf):
        call(acl, "Renorm", x, power, LONG(0), 1.5, out)
        norm = np.linalg.norm(x, power, axis=1, keepdims=True)
        close(out, x * np.where(norm > 1.5, 1.5 / norm, 1))
    image = draw(2, 3, 4, 5)
    for name, want in (("GlobalAveragePool", image.mean((2, 3))), ("GlobalMaxPool", image.max((2, 3)))):
        pooled = zeros(acl, 2, 3, 1, 1)
        call(acl, name, image, pooled)
        close(pooled, want.reshape(2, 3, 1, 1))


@pytest.mark.parametrize("dims", [(3, 5), (7, 3), (4, 4, 4)])
def test_diagonals_are_filled(acl, dims):
    for wrap in (False, True):
        x = draw(*dims)
        tensor = Tensor(acl, x)
        call(acl, "InplaceFillDiagonal", tensor, 2.0, BOOL(wrap))
        np.fill_diagonal(x, 2, wrap)
        assert (tensor.read() == x).all()


def test_matrices_are_inverted(acl):
    x = draw(3, 5, 5)
    inverse, sign, logarithm, determinant = zeros(acl, 3, 5, 5), zeros(acl, 3), zeros(acl, 3), zeros(acl, 3)
    call(acl, "Inverse", x, inverse)
    close(inverse, np.linalg.inv(x))
    call(acl, "Slogdet", x, sign, logarithm)
    want = np.linalg.slogdet(x.astype(np.float64))
    close(sign, want[0])
    close(logarithm, want[1])
    call(acl, "Logdet", x, determinant)
    np.testing.assert_allclose(determinant.read(), np.where(want[0] > 0, want[1], np.nan), rtol=1e-3, atol=1e-4)
    # Whatever row a NaN is in.
    gaps = np.array([[[0, 1], [np.nan, 2]], [[np.nan, 2], [0, 1]]], F32)
    call(acl, "Slogdet", gaps, signs := zeros(acl, 2), sizes := zeros(acl, 2))
    assert np.isnan(signs.read()).all() and np.isnan(sizes.read()).all()
    call(acl, "Inverse", np.zeros((1, 2, 2), F32), small := zeros(acl, 1, 2, 2))
    assert np.isnan(small.read()).all()
    assert "square" in refused(acl, "Inverse", draw(2, 3), zeros(acl, 2, 3))
