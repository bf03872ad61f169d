# aclnn functions that order, count and search, quantized products, and gradients, against NumPy. Run
# with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, LONG, POINTER, Tensor, acl, call, failed, refused, shown  # noqa: E402, F401

RNG = np.random.default_rng(23)
F32, FLOAT, NULL, INT = np.float32, ctypes.c_float, POINTER(), ctypes.c_int32
X = RNG.standard_normal((3, 7, 4)).astype(F32)
WHOLE = RNG.integers(-5, 5, (3, 7, 4))
HUGE = np.array([2 ** 62 + 1, 2 ** 62, 2 ** 62 + 1, -2 ** 62], np.int64)  # no float tells them apart


@pytest.mark.parametrize("values", [X, WHOLE, WHOLE.astype(np.int32), X.astype(np.float16)])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_the_kth_element_and_the_middle_one(acl, values, dim):
    order, at = np.argsort(values, dim, kind="stable"), np.sort(values, dim)
    for k in (1, 3):
        for keep in (False, True):
            want, place = (np.take(part, [k - 1], dim) for part in (at, order))
            want, place = (part if keep else part.squeeze(dim) for part in (want, place))
            out, index = Tensor(acl, np.zeros_like(want)), Tensor(acl, np.zeros(want.shape, np.int64))
            call(acl, "Kthvalue", values, LONG(k), LONG(dim), BOOL(keep), out, index)
            np.testing.assert_array_equal(out.read(), want)
            np.testing.assert_array_equal(index.read(), place)
    middle = np.take(at, (values.shape[dim] - 1) // 2, dim)
    out, index = Tensor(acl, np.zeros_like(middle)), Tensor(acl, np.zeros(middle.shape, np.int64))
    call(acl, "MedianDim", values, LONG(dim), BOOL(False), out, index)
    np.testing.assert_array_equal(out.read(), middle)
    out = Tensor(acl, np.zeros((), values.dtype))
    call(acl, "Median", values, out)
    assert out.read() == np.sort(values.reshape(-1))[(values.size - 1) // 2]
    assert "from 1 to" in refused(acl, "Kthvalue", values, LONG(99), LONG(dim), BOOL(False), out, index)


def test_running_extrema_and_products(acl):
    for name, function, better in (("Cummax", np.maximum, lambda a, b: a >= b), ("Cummin", np.minimum, lambda a, b: a <= b)):
        for values in (X, WHOLE):
            out, index = Tensor(acl, np.zeros_like(values)), Tensor(acl, np.zeros(values.shape, np.int64))
            call(acl, name, values, LONG(1), out, index)
            np.testing.assert_array_equal(out.read(), function.accumulate(values, 1))
            np.testing.assert_array_equal(np.take_along_axis(values, index.read(), 1), out.read())
            place = np.zeros((3, 4), np.int64)
            for i in range(7):
                place = np.where(better(values[:, i], np.take_along_axis(values, place[:, None], 1)[:, 0]), i, place)
                np.testing.assert_array_equal(index.read()[:, i], place)
    out = Tensor(acl, np.zeros_like(X))
    call(acl, "Cumprod", X, 1.0, 0, out)
    np.testing.assert_allclose(out.read(), np.cumprod(X, 1), rtol=1e-5)


def test_places_in_ordered_rows(acl):
    rows, numbers = np.sort(X[:, :, 0], 1), X[:, :5, 1].copy()
    for right in (False, True):
        out = Tensor(acl, np.zeros((3, 5), np.int64))
        call(acl, "SearchSorted", rows, numbers, BOOL(False), BOOL(right), NULL, out)
        side = "right" if right else "left"
        np.testing.assert_array_equal(out.read(), [np.searchsorted(a, b, side) for a, b in zip(rows, numbers)])
        few = np.array([1, 3, 3, 5])
        out = Tensor(acl, np.zeros((3, 7, 4), np.int32))
        call(acl, "SearchSorted", few, WHOLE, BOOL(True), BOOL(right), NULL, out)
        np.testing.assert_array_equal(out.read(), np.searchsorted(few, WHOLE, side))
        mixed = few[[2, 0, 3, 1]].copy()
        call(acl, "SearchSorted", mixed, WHOLE, BOOL(True), BOOL(right), np.argsort(mixed, kind="stable"), out)
        np.testing.assert_array_equal(out.read(), np.searchsorted(few, WHOLE, side))
        out = Tensor(acl, np.zeros((), np.int64))
        call(acl, "SearchSorteds", few, 3.0, BOOL(False), BOOL(right), NULL, out)
        assert out.read() == np.searchsorted(few, 3, side)


@pytest.mark.parametrize("values", [WHOLE, X.round(1), HUGE, X > 0, WHOLE.astype(np.int8)])
def test_each_element_once(acl, values):
    want, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    out, positions, times = Tensor(acl, np.zeros(values.size, values.dtype)), Tensor(acl, np.zeros(values.shape, np.int64)), \
        Tensor(acl, np.zeros(values.size, np.int64))
    call(acl, "Unique2", values, BOOL(True), BOOL(True), BOOL(True), out, positions, times)
    assert shown(acl, out) == [want.size] and shown(acl, times) == [want.size]
    np.testing.assert_array_equal(out.read()[:want.size], want)
    np.testing.assert_array_equal(positions.read().reshape(-1), inverse.reshape(-1))
    np.testing.assert_array_equal(times.read()[:want.size], counts)
    call(acl, "Unique", values, BOOL(True), BOOL(False), Tensor(acl, np.zeros(values.size, values.dtype)), NULL)


def runs(slices):
    starts = [i for i in range(len(slices)) if i == 0 or (slices[i] != slices[i - 1]).any()]
    counts = np.diff(starts + [len(slices)])
    return slices[starts], np.repeat(np.arange(len(starts)), counts), counts


# NaN equals nothing, also not itself.
@pytest.mark.parametrize("kind", [F32, np.int64])
@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_slices_once(acl, dim, kind):
    few = np.random.default_rng(5).integers(0, 2, (6, 9, 2))
    x = np.ascontiguousarray(few[[0, 0, 1, 0, 5, 5]][:, [3, 3, 1, 1, 0, 3, 3, 3, 2]]).astype(kind)
    if kind is F32:
        x[2, 0, 0] = x[3, 0, 0] = np.nan
    outer = x.reshape(-1) if dim is None else np.moveaxis(x, dim, 0)
    slices = outer.reshape(len(outer), -1)
    cases = [("UniqueConsecutive", (BOOL(True), BOOL(True), LONG(1000 if dim is None else dim)), runs(slices))]
    if dim is not None:
        order = sorted(range(len(slices)), key=lambda i: [(v != v, v) for v in slices[i]])
        if kind is not F32:
            cases.append(("UniqueDim", (BOOL(True), BOOL(True), LONG(dim)),
                          np.unique(slices, axis=0, return_inverse=True, return_counts=True)))
        else:
            want, inverse, counts = runs(slices[order])
            cases.append(("UniqueDim", (BOOL(True), BOOL(True), LONG(dim)), (want, None, counts)))
    for name, flags, (want, inverse, counts) in cases:
        out, times = Tensor(acl, np.zeros(x.shape, kind)), Tensor(acl, np.zeros(len(slices), np.int64))
        positions = Tensor(acl, np.zeros(x.shape if dim is None else len(slices), np.int64))
        call(acl, name, x, *flags, out, positions, times)
        want = want.reshape((len(want), *outer.shape[1:]))
        want = want if dim is None else np.moveaxis(want, 0, dim)
        assert shown(acl, out) == list(want.shape) and shown(acl, times) == [len(counts)]
        np.testing.assert_array_equal(out.read().reshape(-1)[:want.size], want.reshape(-1))
        np.testing.assert_array_equal(times.read()[:len(counts)], counts)
        if inverse is not None:
            np.testing.assert_array_equal(positions.read().reshape(-1), inverse.reshape(-1))
    for wrong in (3, 1000):
        assert f"dim {wrong} is given" in refused(acl, "UniqueDim", x, BOOL(True), BOOL(True), LONG(wrong), out, positions,
                                                  times)


def test_counts(acl):
    x, weights = np.array([1, 4, 1, 0]), np.array([0.5, 2, 3, 1], F32)
    out = Tensor(acl, np.zeros(7, np.int64))
    call(acl, "Bincount", x, NULL, LONG(7), out)
    np.testing.assert_array_equal(out.read(), np.bincount(x, minlength=7))
    out = Tensor(acl, np.zeros(5, F32))
    call(acl, "Bincount", x, weights, LONG(0), out)
    np.testing.assert_allclose(out.read(), np.bincount(x, weights))
    for low, high in ((-1.0, 2.0), (0.0, 0.0)):
        out = Tensor(acl, np.zeros(5, F32))
        call(acl, "Histc", X, LONG(5), low, high, out)
        np.testing.assert_array_equal(out.read(), np.histogram(X, 5, (low, high) if low < high else None)[0])


def test_ranges_of_histograms(acl):
    """Elements that are no numbers lie in no range, and give none."""
    x, out = np.array([1, np.nan, 3, np.inf, 2, -np.inf], F32), Tensor(acl, np.zeros(2, F32))
    call(acl, "Histc", x, LONG(2), 0.0, 4.0, out)
    np.testing.assert_array_equal(out.read(), [1, 2])
    for bad in (np.nan, np.inf):
        assert "give min and max" in failed(acl, "Histc", np.array([1, bad], F32), LONG(2), 0.0, 0.0, out)
    for low, high in ((0.0, float("inf")), (float("nan"), 1.0), (float("-inf"), 0.0), (2.0, 1.0)):
        assert "min at most max" in refused(acl, "Histc", x, LONG(2), low, high, out)


#--- quantized products ---------------------------------------------------------

@pytest.mark.parametrize("depth", [16, 3000])
def test_products_of_integers(acl, depth):
    """Sums are exact, also those that no float32 holds."""
    a, b = RNG.integers(-128, 128, (4, depth)).astype(np.int8), RNG.integers(-128, 128, (depth, 6)).astype(np.int8)
    scale, rows = RNG.uniform(1e-3, 2e-3, 6).astype(F32), RNG.uniform(0.5, 2, 4).astype(F32)
    bias = RNG.integers(-1000, 1000, 6).astype(np.int32)
    exact = a.astype(np.int64) @ b + bias
    out = Tensor(acl, np.zeros((4, 6), np.int32))
    call(acl, "QuantMatmulV3", a, b, scale, NULL, bias, BOOL(False), BOOL(False), out)
    np.testing.assert_array_equal(out.read(), exact)
    out = Tensor(acl, np.zeros((4, 6), np.float16))
    call(acl, "QuantMatmulV3", a.T.copy(), b.T.copy(), scale, NULL, bias, BOOL(True), BOOL(True), out)
    np.testing.assert_allclose(out.read(), exact * scale, rtol=2e-3, atol=1e-2)
    call(acl, "QuantMatmulV4", a, b, scale, NULL, rows, scale, BOOL(False), BOOL(False), out)
    np.testing.assert_allclose(out.read(), (exact - bias) * scale * rows[:, None] + scale, rtol=2e-3, atol=1e-2)
    words = Tensor(acl, np.zeros(6, np.int64))
    call(acl, "TransQuantParamV2", scale, NULL, words)
    packed = Tensor(acl, np.zeros((4, 6), np.int8))
    call(acl, "QuantMatmulV3", a, b, words, np.array([3], F32), bias, BOOL(False), BOOL(False), packed)
    np.testing.assert_allclose(packed.read(), np.clip(exact * scale + 3, -128, 127), atol=1)
    assert "int8" in refused(acl, "QuantMatmulV3", X[0], X[0], scale, NULL, NULL, BOOL(False), BOOL(True), out)
    # What does not fit is named as the program knows it.
    for given, message in (((a, b, scale[:5].copy(), NULL, rows, NULL, BOOL(False), BOOL(False)), "scale [5] must have 1 or 6 elements"),
                           ((a, b, scale, scale[:2].copy(), NULL, NULL, BOOL(False), BOOL(False)), "offset [2] must have 1 or 6"),
                           ((a, b, scale, NULL, rows[:3].copy(), NULL, BOOL(False), BOOL(False)), "pertokenScale [3] must have 1 or 4"),
                           ((a, b, scale, NULL, rows, bias[:5].copy(), BOOL(False), BOOL(False)), "bias [5] must have 1 or 6"),
                           ((a, b, scale, NULL, rows, NULL, BOOL(False), BOOL(True)), f"x2 [6,{depth}] (transposed) cannot be multiplied")):
        assert message in refused(acl, "QuantMatmulV4", *given, out)


def test_other_quantized_forms(acl):
    q, scale, offset = RNG.integers(-128, 128, (3, 5)).astype(np.int8), np.array([0.25], F32), np.array([3], F32)
    out = Tensor(acl, np.zeros((3, 5), np.float16))
    call(acl, "AscendAntiQuant", q, scale, offset, LONG(1), BOOL(True), out)
    np.testing.assert_allclose(out.read(), (q.astype(F32) + 3) / 16)
    x = X[:, :, 0].copy()
    y, s, o = Tensor(acl, np.zeros((3, 7), np.int8)), Tensor(acl, np.zeros(3, F32)), Tensor(acl, np.zeros(3, F32))
    call(acl, "DynamicQuantV2", x, NULL, NULL, LONG(2), y, s, o)
    np.testing.assert_allclose(s.read(), (x.max(1) - x.min(1)) / 255, rtol=1e-5)
    np.testing.assert_allclose((y.read() - o.read()[:, None]) * s.read()[:, None], x, atol=s.read().max())
    assert (y.read().max(1) == 127).all() and (y.read().min(1) == -128).all()
    call(acl, "DynamicQuantV2", x, NULL, NULL, LONG(2), y, s, NULL)
    np.testing.assert_allclose(s.read(), np.abs(x).max(1) / 127, rtol=1e-5)
    weight = RNG.integers(-8, 8, (16, 6)).astype(np.int8)
    rows, factors = RNG.standard_normal((2, 16)).astype(np.float16), RNG.uniform(0.1, 0.2, 6).astype(np.float16)
    out = Tensor(acl, np.zeros((2, 6), np.float16))
    call(acl, "WeightQuantBatchMatmulV3", rows, weight, factors, NULL, NULL, NULL, NULL, INT(0), INT(0), out)
    np.testing.assert_allclose(out.read(), rows.astype(F32) @ (weight * factors.astype(F32)), rtol=2e-2, atol=2e-2)


#--- gradients -------------------------------------------------------------------

GIVEN, AT = X[0] * 2, X[1] * 4


def slope(function):
    step = 1e-4
    return GIVEN * (function(AT.astype(np.float64) + step) - function(AT.astype(np.float64) - step)) / (2 * step)


def elu(x, alpha=0.5, scale=2, inner=1.5):
    return scale * np.where(x > 0, x, alpha * np.expm1(x * inner))


@pytest.mark.parametrize("name, arguments, want", [
    ("Hardswish", (GIVEN, AT), slope(lambda x: x * np.clip(x + 3, 0, 6) / 6)),
    ("Hardsigmoid", (GIVEN, AT), slope(lambda x: np.clip(x / 6 + 0.5, 0, 1))),
    ("Hardtanh", (GIVEN, AT, -1.0, 2.0), slope(lambda x: x.clip(-1, 2))),
    ("LeakyRelu", (GIVEN, AT, 0.25, BOOL(False)), slope(lambda x: np.where(x > 0, x, x / 4))),
    ("Softplus", (GIVEN, AT, 2.0, 20.0), slope(lambda x: np.log1p(np.exp(2 * x)) / 2)),
    ("Elu", (GIVEN, 0.5, 2.0, 1.5, BOOL(False), AT), slope(elu)),
    ("Elu", (GIVEN, 0.5, 2.0, 1.5, BOOL(True), elu(AT).astype(F32)), slope(elu))])
def test_gradients_of_activations(acl, name, arguments, want):
    out = Tensor(acl, np.zeros_like(AT))
    call(acl, name + "Backward", *arguments, out)
    np.testing.assert_allclose(out.read(), want, rtol=2e-3, atol=2e-3)


def test_gradients_of_halves_and_of_rows(acl):
    x, g = X[0].astype(np.float64), X[1, :, :2].astype(np.float64)

    def value(at):
        a, b = at[:, :2], at[:, 2:]
        return (g * a / (1 + np.exp(-a)) * b).sum()
    want = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-5
        want[place] = (value(x + step) - value(x - step)) / 2e-5
    out = Tensor(acl, np.zeros((7, 4), F32))
    call(acl, "SwiGluGrad", g.astype(F32), x.astype(F32), LONG(-1), out)
    np.testing.assert_allclose(out.read(), want, rtol=1e-3, atol=1e-3)
    indices, grad = np.array([[1, 0, 1], [4, 2, 2]]), X.reshape(-1)[:24].reshape(2, 3, 4)
    want = np.zeros((6, 4), F32)
    np.add.at(want, indices, np.where((indices == 2)[..., None], 0, grad))
    out = Tensor(acl, np.zeros((6, 4), F32))
    call(acl, "EmbeddingDenseBackward", grad, indices, ctypes.c_uint64(6), ctypes.c_uint64(2), BOOL(False), out)
    np.testing.assert_allclose(out.read(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("amsgrad, maximize", [(False, False), (True, True)])
def test_a_step_of_an_optimizer(acl, amsgrad, maximize):
    w, m, v, g = X[0].copy(), X[1] * 0.1, X[2] ** 2, X[2].copy()
    own = [Tensor(acl, part) for part in (w, m, v)]
    most = Tensor(acl, v * 1.5)
    call(acl, "ApplyAdamWV2", *own, most if amsgrad else NULL, g, np.array([3], F32), FLOAT(0.01), FLOAT(0.9), FLOAT(0.99),
         FLOAT(0.1), FLOAT(1e-6), BOOL(amsgrad), BOOL(maximize))
    g = -g if maximize else g
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    peak = np.maximum(X[2] ** 2 * 1.5, v) if amsgrad else v
    change = m / (1 - 0.9 ** 3) / (np.sqrt(peak / (1 - 0.99 ** 3)) + 1e-6)
    for tensor, want in zip(own, (w * (1 - 0.001) - 0.01 * change, m, v), strict=True):
        np.testing.assert_allclose(tensor.read(), want, rtol=1e-3, atol=1e-4)
    if amsgrad:
        np.testing.assert_allclose(most.read(), peak, rtol=1e-4)
