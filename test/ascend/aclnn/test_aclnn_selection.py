# aclnn functions that choose elements by values, of random numbers and of lists, against NumPy. Run
# with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, failed, refused, shown, whole  # noqa: E402, F401

RNG = np.random.default_rng(5)
F32, FLOAT = np.float32, ctypes.c_float
X = RNG.standard_normal((3, 4, 5)).astype(F32)
Y = RNG.uniform(0.5, 2, (3, 4, 5)).astype(F32)
ALL = np.zeros(0, np.int64)  # takes the whole dim
ROWS, COLUMNS = np.array([[2, 0], [-1, 1]]), np.array([1, -2])
MASK = X[:, :, 0] > 0
HALF = RNG.standard_normal((3, 4)).astype(np.float16)

CHOICES = [((ROWS,), X[ROWS]), ((ROWS, COLUMNS), X[ROWS, COLUMNS]), ((ALL, COLUMNS), X[:, COLUMNS]),
           ((ALL, ALL, ROWS), X[:, :, ROWS]), ((ROWS, ALL, COLUMNS), X[ROWS, :, COLUMNS]),
           ((ALL, ROWS, COLUMNS), X[:, ROWS, COLUMNS]), ((MASK,), X[MASK]), ((X > 0,), X[X > 0]),
           ((np.array([True, False, True]), ALL, np.array([0, 3])), X[np.array([0, 2]), :, np.array([0, 3])]),
           ((np.array([1], np.int32),), X[[1]]), ((ALL, np.array([True, False, True, True])), X[:, [0, 2, 3]])]


@pytest.mark.parametrize("indices, result", CHOICES)
def test_elements_of_a_list_of_indices(acl, indices, result):
    out = Tensor(acl, np.zeros_like(result))
    call(acl, "Index", X, indices, out)
    np.testing.assert_array_equal(out.read(), result)


@pytest.mark.parametrize("values", [X, X.astype(np.float16), (X * 50).astype(np.int32), (X * 50).astype(np.int64), X > 0,
                                    (X * 50).astype(np.int8)])
@pytest.mark.parametrize("accumulate", [False, True])
def test_elements_put_at_indices(acl, values, accumulate):
    """One place is written twice: the last value stays, or both are added."""
    rows, columns = np.array([0, 2, 0]), np.array([1, -1, 1])
    given = values[:, 0, :].copy()
    want = values.copy()
    if accumulate:
        np.add.at(want, (rows, columns), given)
    else:
        want[rows, columns] = given
    self = Tensor(acl, values)
    call(acl, "IndexPutImpl", self, (rows, columns), given, BOOL(accumulate), BOOL(False))
    np.testing.assert_allclose(self.read().astype(F32), want.astype(F32), rtol=2e-3)


def test_values_put_under_a_mask(acl):
    self, want = Tensor(acl, X), X.copy()
    want[MASK] = 7
    call(acl, "IndexPutImpl", self, (MASK,), np.array([7], F32), BOOL(False), BOOL(False))
    np.testing.assert_array_equal(self.read(), want)
    self, source = Tensor(acl, X), np.arange(60, dtype=F32)
    want = X.copy()
    want[X > 0.5] = source[:(X > 0.5).sum()]
    call(acl, "InplaceMaskedScatter", self, X > 0.5, source)
    np.testing.assert_array_equal(self.read(), want)


@pytest.mark.parametrize("values", [X, (X * 3).astype(np.int32), X > 0, np.zeros((2, 3), F32), HALF,
                                    np.array([1e-30, 0, -0.0, np.nan], F32)])
def test_places_of_what_is_not_zero(acl, values):
    """The dims are known when the stream is done."""
    want = np.argwhere(values)
    out = Tensor(acl, np.zeros((values.size, values.ndim), np.int64))
    call(acl, "Nonzero", values, out)
    assert shown(acl, out) == list(want.shape)
    np.testing.assert_array_equal(out.read().reshape(-1)[:want.size].reshape(want.shape), want)
    out = Tensor(acl, np.zeros((values.ndim, values.size), np.int64))
    call(acl, "NonzeroV2", values, out)
    assert shown(acl, out) == list(want.T.shape)
    np.testing.assert_array_equal(out.read().reshape(-1)[:want.size].reshape(want.T.shape), want.T)


def test_selected_elements(acl):
    for mask in (X > 0, MASK[:, :, None], np.zeros((5,), bool)):
        want = X[np.broadcast_to(mask, X.shape)]
        out = Tensor(acl, np.zeros(X.size, F32))
        call(acl, "MaskedSelect", X, mask, out)
        assert shown(acl, out) == [want.size]
        np.testing.assert_array_equal(out.read()[:want.size], want)


def test_mistakes_of_indices(acl):
    out = Tensor(acl, np.zeros((2, 4, 5), F32))
    assert "int32, int64 or bool" in refused(acl, "Index", X, (np.zeros(2, F32),), out)
    assert "must be [3,4,5]" in refused(acl, "Index", X, (np.array([0, 1, 2]),), out)
    assert "must have dims" in refused(acl, "Index", X, (np.array(False),), out)
    assert "more indices" in refused(acl, "Index", X, (COLUMNS,) * 4, out)
    assert "does not fit" in refused(acl, "Index", X, (np.ones(2, bool),), out)
    assert "60" in refused(acl, "MaskedSelect", X, X > 0, Tensor(acl, np.zeros(59, F32)))
    size, executor = ctypes.c_uint64(), POINTER()
    from aclnn_calls import prepare
    values, kept = prepare(acl, (X, (np.array([0, 3]),), out))
    assert acl.aclnnIndexGetWorkspaceSize(*values, ctypes.byref(size), ctypes.byref(executor)) == 0
    assert acl.aclnnIndex(None, size, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) != 0  # an index outside of the dim
    del kept


#--- random numbers -----------------------------------------------------------

def drawn(acl, name, dtype, *arguments, count=20000):
    out = Tensor(acl, np.zeros(count, dtype))
    call(acl, name, out, *arguments)
    return out.read()


def test_distributions(acl):
    normal = drawn(acl, "InplaceNormal", F32, FLOAT(2), FLOAT(3), LONG(1), LONG(0))
    assert abs(normal.mean() - 2) < 0.1 and abs(normal.std() - 3) < 0.1
    assert abs(np.mean(normal < 2) - 0.5) < 0.02 and abs(np.mean(np.abs(normal - 2) < 3) - 0.683) < 0.02
    for dtype in (F32, np.float16, np.float64):
        uniform = drawn(acl, "InplaceUniform", dtype, DOUBLE(-1), DOUBLE(3), LONG(7), LONG(0)).astype(np.float64)
        assert uniform.min() >= -1 and uniform.max() < 3 + (dtype == np.float16) * 1e-3
        counts, _ = np.histogram(uniform, 8, (-1, 3))
        assert np.abs(counts / 20000 - 1 / 8).max() < 0.02
    whole = drawn(acl, "InplaceRandom", np.int32, LONG(-2), LONG(4), LONG(3), LONG(0))
    assert np.abs(np.bincount(whole + 2, minlength=6) / 20000 - 1 / 6).max() < 0.02
    huge = drawn(acl, "InplaceRandom", np.int64, LONG(-2 ** 62), LONG(2 ** 62), LONG(3), LONG(0))
    assert huge.min() < -2 ** 61 and huge.max() > 2 ** 61
    coins = drawn(acl, "InplaceBernoulli", F32, 0.25, LONG(3), LONG(0))
    assert set(coins) == {0, 1} and abs(coins.mean() - 0.25) < 0.02
    out = Tensor(acl, np.zeros(20000, bool))
    call(acl, "BernoulliTensor", out, np.tile(np.array([0, 1], F32), 10000), LONG(1), LONG(0), out)
    np.testing.assert_array_equal(out.read(), np.tile([False, True], 10000))


@pytest.mark.parametrize("dtype", [np.float16, F32, np.float64])
@pytest.mark.parametrize("low, high", [(0, 1), (-1, 3), (1000, 1001), (0.5, 0.5)])
def test_uniform_numbers_are_below_their_end(acl, dtype, low, high):
    numbers = drawn(acl, "InplaceUniform", dtype, DOUBLE(low), DOUBLE(high), LONG(7), LONG(0)).astype(np.float64)
    assert numbers.min() >= low and (numbers.max() < high or low == high)


def test_seeds(acl):
    def numbers(seed, offset):
        return drawn(acl, "InplaceUniform", F32, DOUBLE(0), DOUBLE(1), LONG(seed), LONG(offset), count=64)
    np.testing.assert_array_equal(numbers(1, 2), numbers(1, 2))
    assert (numbers(1, 2) != numbers(2, 2)).mean() > 0.9 and (numbers(1, 2) != numbers(1, 3)).mean() > 0.9


def test_permutations_and_draws(acl):
    out = Tensor(acl, np.zeros(100, np.int64))
    call(acl, "Randperm", LONG(100), LONG(5), LONG(0), out)
    assert sorted(out.read()) == list(range(100)) and list(out.read()) != list(range(100))
    weights = np.array([[0, 1, 3, 0], [1, 0, 0, 0]], F32)
    out = Tensor(acl, np.zeros((2, 4000), np.int64))
    call(acl, "Multinomial", weights, LONG(4000), BOOL(True), LONG(5), LONG(0), out)
    assert np.abs(np.bincount(out.read()[0], minlength=4) / 4000 - [0, 0.25, 0.75, 0]).max() < 0.03
    assert not out.read()[1].any()
    out = Tensor(acl, np.zeros((2, 2), np.int64))
    call(acl, "Multinomial", weights + 1, LONG(2), BOOL(False), LONG(5), LONG(0), out)
    assert (out.read()[:, 0] != out.read()[:, 1]).all()
    assert "without replacement" in refused(acl, "Multinomial", weights, LONG(5), BOOL(False), LONG(5), LONG(0), out)


@pytest.mark.parametrize("weights, replacement, reason", [
    ([0, 0, 0], True, "0 weights that are not 0"), ([1, -1, 3], True, "the weight -1"), ([1, np.nan, 3], True, "the weight nan"),
    ([1, np.inf, 3], True, "the weight inf"), ([0, 0, 3], False, "1 weights that are not 0, of which 2 positions")])
def test_weights_that_nothing_is_drawn_by(acl, weights, replacement, reason):
    out = Tensor(acl, np.zeros((2, 2), np.int64))
    rows = np.array([[1, 2, 3], weights], F32)
    assert reason in failed(acl, "Multinomial", rows, LONG(2), BOOL(replacement), LONG(5), LONG(0), out)


def test_dropout(acl):
    x = np.ones((100, 77), F32)
    out, mask = Tensor(acl, x), Tensor(acl, np.zeros((7700 + 127) // 128 * 16, np.uint8))
    call(acl, "Dropout", x, DOUBLE(0.2), BOOL(True), LONG(9), LONG(0), out, mask)
    bits = np.unpackbits(mask.read(), bitorder="little")[:7700].reshape(x.shape)
    np.testing.assert_array_equal(out.read(), bits * F32(1.25))
    assert abs(bits.mean() - 0.8) < 0.02
    same = Tensor(acl, np.zeros_like(mask.array))
    call(acl, "DropoutGenMask", [100, 77], DOUBLE(0.2), LONG(9), LONG(0), same)
    np.testing.assert_array_equal(same.read(), mask.read())
    back = Tensor(acl, x)
    call(acl, "DropoutDoMask", x * 3, mask, DOUBLE(0.2), back)
    np.testing.assert_allclose(back.read(), bits * 3.75)
    call(acl, "DropoutBackward", x, mask, DOUBLE(1.25), back)
    np.testing.assert_array_equal(back.read(), bits * F32(1.25))
    call(acl, "Dropout", x * 2, DOUBLE(0.2), BOOL(False), LONG(9), LONG(0), out, mask)
    np.testing.assert_array_equal(out.read(), x * 2)
    assert "shape has -5" in refused(acl, "DropoutGenMask", [100, -5], DOUBLE(0.2), LONG(9), LONG(0), same)
    assert "0 to 1" in refused(acl, "Dropout", x, DOUBLE(1.5), BOOL(True), LONG(9), LONG(0), out, mask)


#--- lists --------------------------------------------------------------------

A, B = (X, Y[0], HALF), (Y, X[0], HALF[::-1].copy())
C = (X * X, Y[0] + 1, HALF + np.float16(3))
TWO, POWERS = np.array([2], F32), np.array([1, 2, 3], F32)


@pytest.mark.parametrize("name, arguments, results", [
    ("Exp", (A,), [np.exp(a) for a in A]), ("Abs", (A,), [np.abs(a) for a in A]),
    ("Sqrt", ((Y, C[1]),), [np.sqrt(Y), np.sqrt(C[1])]), ("Neg", (A,), [-a for a in A]), ("Copy", (A,), A),
    ("Sigmoid", (A,), [1 / (1 + np.exp(-a)) for a in A]), ("Log2", ((Y,),), [np.log2(Y)]),
    ("AddScalar", (A, TWO), [a + 2 for a in A]), ("AddScalarV2", (A, 2.0), [a + 2 for a in A]),
    ("MulScalar", (A, TWO), [a * 2 for a in A]), ("SubScalarV2", (A, 2.0), [a - 2 for a in A]),
    ("DivScalarV2", (A, 2.0), [a / 2 for a in A]), ("MaximumScalar", (A, TWO), [np.maximum(a, 2) for a in A]),
    ("PowScalar", (A, TWO), [a * a for a in A]), ("PowScalarAndTensor", (2.0, A), [2 ** a for a in A]),
    ("AddList", (A, B, TWO), [a + 2 * b for a, b in zip(A, B)]), ("SubListV2", (A, B, 2.0), [a - 2 * b for a, b in zip(A, B)]),
    ("MulList", (A, B), [a * b for a, b in zip(A, B)]), ("MinimumList", (A, B), [np.minimum(a, b) for a, b in zip(A, B)]),
    ("DivList", (A, C), [a / c for a, c in zip(A, C)]),
    ("AddcmulScalar", (A, B, C, TWO), [a + 2 * b * c for a, b, c in zip(A, B, C)]),
    ("AddcdivScalarV2", (A, B, C, 2.0), [a + 2 * b / c for a, b, c in zip(A, B, C)]),
    ("AddcmulList", (A, B, C, POWERS), [a + k * b * c for a, b, c, k in zip(A, B, C, (1, 2, 3))]),
    ("LerpScalar", (A, B, TWO), [a + 2 * (b - a) for a, b in zip(A, B)]),
    ("LerpList", (A, B, C), [a + c * (b - a) for a, b, c in zip(A, B, C)]),
    ("Norm", ((X, Y), TWO), [np.sqrt((v ** 2).sum()) for v in (X, Y)]),
    ("Norm", ((X, Y), np.array([1], F32)), [np.abs(v).sum() for v in (X, Y)]),
    ("Norm", ((X, Y), np.array([np.inf], F32)), [np.abs(v).max() for v in (X, Y)])])
def test_functions_of_lists(acl, name, arguments, results):
    results = [np.asarray(result) for result in results]
    outputs = tuple(Tensor(acl, np.zeros_like(result)) for result in results)
    call(acl, "Foreach" + name, *arguments, outputs)
    for output, result in zip(outputs, results, strict=True):
        error = 6e-3 if result.dtype == np.float16 else 1e-4
        np.testing.assert_allclose(output.read(), result, rtol=error, atol=error)


def test_lists_in_place_and_of_numbers(acl):
    own = tuple(Tensor(acl, a) for a in A)
    call(acl, "ForeachAddScalarV2", own, 1.0, own)
    for tensor, a in zip(own, A, strict=True):
        np.testing.assert_allclose(tensor.read(), a + 1, rtol=2e-3)
    call(acl, "ForeachZeroInplace", own)
    assert not any(tensor.read().any() for tensor in own)
    acl.aclCreateScalarList.restype = POINTER
    scalars = [POINTER(acl.aclCreateScalar(ctypes.byref(FLOAT(k)), 0)) for k in (2, 3, 4)]
    numbers = POINTER(acl.aclCreateScalarList((POINTER * 3)(*scalars), ctypes.c_uint64(3)))
    call(acl, "ForeachMulScalarList", A, numbers, own)
    for tensor, a, k in zip(own, A, (2, 3, 4), strict=True):
        np.testing.assert_allclose(tensor.read(), a * k, rtol=2e-3)
    # Whole numbers keep their digits, and numbers that are none make a number of a truth.
    scalars = [whole(acl, 2**53 + 1), whole(acl, -1)]
    numbers = POINTER(acl.aclCreateScalarList((POINTER * 2)(*scalars), ctypes.c_uint64(2)))
    sums = tuple(Tensor(acl, np.zeros(1, np.int64)) for _ in range(2))
    call(acl, "ForeachAddScalarList", (np.array([0]), np.array([2**53 + 2])), numbers, sums)
    assert [tensor.read()[0] for tensor in sums] == [2**53 + 1, 2**53 + 1]
    assert "3 tensors" in refused(acl, "ForeachExp", A[:2], own)
    assert "order 1, 2" in refused(acl, "ForeachNorm", (X,), np.array([3], F32), (Tensor(acl, np.zeros((), F32)),))
