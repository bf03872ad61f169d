# ===-- test_tensorflow.py - kernels of TensorFlow's lists and matrices ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest
from host_kernels import KernelError, call


def index(value):
    return np.array(value, "i8")


def test_sequence_set_replaces_and_grows():
    rows = [np.full((2, 3), i, "f4") for i in range(3)]
    (changed,) = call("SequenceSet", rows, np.full((2, 3), 9, "f4"), index(1))
    assert [row[0, 0] for row in changed] == [0, 9, 2]
    (grown,) = call("SequenceSet", rows, np.full((2, 3), 9, "f4"), index(5))
    assert [row[0, 0] for row in grown] == [0, 1, 2, 0, 0, 9]
    assert all(row.shape == (2, 3) for row in grown)
    assert not grown[3].any() and not grown[4].any()


@pytest.mark.parametrize("at", [-1, 1 << 40])
def test_sequence_set_refuses_positions(at):
    with pytest.raises(KernelError, match="is not one of a sequence"):
        call("SequenceSet", [np.zeros(2, "f4")], np.zeros(2, "f4"), index(at))


def test_sequence_set_keeps_one_element_type():
    with pytest.raises(KernelError, match="element type"):
        call("SequenceSet", [np.zeros(2, "f4")], np.zeros(2, "i8"), index(0))


def test_sequence_resize():
    rows = [np.full(3, i + 1, "i4") for i in range(2)]
    (longer,) = call("SequenceResize", rows, index(4))
    np.testing.assert_array_equal(longer, [[1] * 3, [2] * 3, [0] * 3, [0] * 3])
    (shorter,) = call("SequenceResize", rows, index(1))
    np.testing.assert_array_equal(shorter, [[1] * 3])
    with pytest.raises(KernelError, match="cannot have"):
        call("SequenceResize", rows, index(-1))


@pytest.mark.parametrize("full", [0, 1])
@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 3), (2, 3, 5), (1, 1), (6, 2)])
def test_svd(shape, full):
    matrices = np.random.default_rng(3).standard_normal(shape)
    s, u, v = call("Svd", matrices, outputs=3, full_matrices=full)
    _, expected, _ = np.linalg.svd(matrices, full_matrices=bool(full))
    np.testing.assert_allclose(s, expected, rtol=1e-12)
    rank = min(shape[-2:])
    for part, size in ((u, shape[-2]), (v, shape[-1])):
        assert part.shape == shape[:-2] + (size, size if full else rank)
        unit = np.swapaxes(part, -1, -2) @ part
        np.testing.assert_allclose(unit, np.broadcast_to(np.eye(part.shape[-1]), unit.shape),
                                   atol=1e-12)
    back = (u[..., :rank] * s[..., None, :]) @ np.swapaxes(v[..., :rank], -1, -2)
    np.testing.assert_allclose(back, matrices, atol=1e-12)


def test_svd_of_dependent_columns():
    matrix = np.outer([1.0, 2, 3], [1.0, 1, 0])
    s, u, v = call("Svd", matrix, outputs=3, full_matrices=1)
    np.testing.assert_allclose(s, np.linalg.svd(matrix)[1], atol=1e-14)
    np.testing.assert_allclose(u.T @ u, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 5, 5), (1, 1), (0, 3, 3), (2, 0, 0)])
def test_symmetric_eigen(shape):
    lower = np.tril(np.random.default_rng(4).standard_normal(shape))
    # Above the diagonal nothing is read.
    values, vectors = call("SymmetricEigen", lower + np.triu(np.full(shape, 9.0), 1), outputs=2)
    whole = lower + np.swapaxes(np.tril(lower, -1), -1, -2)
    assert values.shape == shape[:-1] and vectors.shape == shape
    np.testing.assert_allclose(values, np.linalg.eigvalsh(whole), rtol=1e-12, atol=1e-13)
    back = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    np.testing.assert_allclose(back, whole, atol=1e-12)


def test_symmetric_eigen_of_equal_values():
    values, vectors = call("SymmetricEigen", np.diag([2.0, 1.0, 2.0]), outputs=2)
    np.testing.assert_allclose(values, [1, 2, 2])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3))
    (zeros,) = call("SymmetricEigen", np.zeros((3, 3), "f4"))
    assert not zeros.any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_decompositions_of_what_is_no_number_end(bad):
    """They ran 60 rounds over all pairs of columns, minutes for these sizes."""
    a = np.ones((2, 150, 150))
    a[1] = np.random.default_rng(0).normal(size=(150, 150))
    a[0, 70, 20] = bad
    for name in ("SymmetricEigen", "Svd"):
        for part in call(name, a, outputs=2 if name == "SymmetricEigen" else 3):
            assert np.isnan(part[0]).all() and np.isfinite(part[1]).all(), name



@pytest.mark.parametrize("full", [0, 1])
@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 3), (2, 3, 5), (1, 1), (0, 2, 3), (3, 0)])
def test_qr(shape, full):
    matrices = np.random.default_rng(5).standard_normal(shape)
    q, r = call("Qr", matrices, outputs=2, full_matrices=full)
    size = shape[-2] if full else min(shape[-2:])
    assert q.shape == shape[:-1] + (size,) and r.shape == shape[:-2] + (size, shape[-1])
    np.testing.assert_allclose(q @ r, matrices, atol=1e-12)
    unit = np.swapaxes(q, -1, -2) @ q
    np.testing.assert_allclose(unit, np.broadcast_to(np.eye(size), unit.shape), atol=1e-12)
    np.testing.assert_array_equal(r, np.triu(r))
    if len(shape) == 2 and 0 not in shape:
        np.testing.assert_allclose(r, np.linalg.qr(matrices, "complete" if full else "reduced")[1],
                                   atol=1e-12)


def test_qr_of_nothing_does_nothing():
    """The square of a dim was asked for as memory, though there is no element."""
    q, r = call("Qr", np.zeros((10**6, 0), "f4"), outputs=2)
    assert q.shape == (10**6, 0) and r.shape == (0, 0)


def test_decompositions_of_high_matrices_need_little_memory():
    """Their first columns alone were taken of a square matrix: 80 GB here."""
    high = np.random.default_rng(6).standard_normal((100_000, 2)).astype("f4")
    q, r = call("Qr", high, outputs=2)
    np.testing.assert_allclose(q @ r, high, atol=1e-5)
    s, u, v = call("Svd", high, outputs=3)
    np.testing.assert_allclose((u * s) @ v.T, high, atol=1e-5)
    empty = np.zeros((10**6, 0), "f4")
    assert [x.shape for x in call("Svd", empty, outputs=3)] == [(0,), (10**6, 0), (0, 0)]


@pytest.mark.parametrize("axes, keep, expected", [
    ([1], 0, ["a-b-", "c--d"]), ([-1], 1, [["a-b-"], ["c--d"]]), ([0], 0, ["a-c", "b-", "-d"]),
    ([1, 0], 0, "a-b--c--d"), ([0, 1], 0, "a-c-b---d"), ([], 0, [["a", "b", ""], ["c", "", "d"]])])
def test_string_reduce(axes, keep, expected):
    texts = np.array([[b"a", b"b", b""], [b"c", b"", b"d"]], object)
    (got,) = call("StringReduce", texts, index(axes), separator="-", keepdims=keep)
    assert np.char.decode(got.astype("S")).tolist() == expected
    with pytest.raises(KernelError, match="named twice"):
        call("StringReduce", texts, index([1, -1]))


def test_zeta():
    x, q = np.array([2.0, 4.0, 1.5, 3.0, 10.0]), np.array([1.0, 1.0, 2.5, 0.25, 7.0])
    (got,) = call("Zeta", x, q)
    # zeta(2, 1) and zeta(4, 1).
    expected = [np.pi**2 / 6, np.pi**4 / 90]
    np.testing.assert_allclose(got[:2], expected, rtol=1e-13)
    for value, power, start in zip(got[2:], x[2:], q[2:]):
        # The sum of 200,000 terms and the integral of the rest, to the second order.
        k = np.arange(200000) + start
        end = 200000 + start
        rest = end**(1 - power) / (power - 1) + end**-power / 2 + power * end**(-power - 1) / 12
        np.testing.assert_allclose(value, (k**-power).sum() + rest, rtol=1e-10)
    (special,) = call("Zeta", np.array([1.0, 0.5]), np.array([2.0, 2.0]))
    assert np.isinf(special[0]) and np.isnan(special[1])


@pytest.mark.parametrize("kernel, inputs, attributes, expected", [
    ("Digamma", [[0.25, 1, 2.5, 12, 40, -0.5, -3.25]], {},
     [-4.2274535333762655, -0.5772156649015329, 0.7031566406452432, 2.4426616799758123,
      3.6763273740348428, 0.03648997397857651, 4.4662758723502805]),
    ("Lgamma", [[0.25, 1, 2.5, 12, 40, -0.5, -3.25]], {},
     [1.2880225246980774, 0, 0.2846828704729192, 17.502307845873887, 106.63176026064345,
      1.2655121234846454, -0.6231534513209985]),
    ("Erfinv", [[0, 0.3, -0.7, 0.999, 1e-9, -0.9999999999]], {},
     [0, 0.2724627147267544, -0.7328690779592169, 2.326753765513524, 8.86226925452758e-10,
      -4.572824958544925]),
    ("Ndtri", [[0.5, 0.02, 0.9, 1e-12, 0.999999]], {},
     [0, -2.053748910631823, 1.2815515655446004, -7.034483825301131, 4.753424308817087]),
    ("BesselI", [[0, 0.5, -3, 20, 29, 31, -700]], {"order": 0, "scaled": 1},
     [1, 0.64503527044915, 0.24300035416182536, 0.089780311884826, 0.07440746822222559,
      0.07194649669698383, 0.015081295651531355]),
    ("BesselI", [[0, 0.5, -3, 20, 29, 31, -700]], {"order": 1, "scaled": 1},
     [0, 0.15642080318487173, -0.19682671329730084, 0.08750622218328867, 0.07311311793938836,
      0.07077639283438569, -0.015070519444716846]),
    ("BesselI", [[0.5, -2]], {"order": 1}, [0.2578943053908963, -1.5906368546373290]),
    ("BesselJ", [[0.5, -3, 8.56, 24.9, 25.1, 300]], {"order": 0},
     [0.9384698072408129, -0.26005195490193345, 0.02554400558347841, 0.0832459683530155,
      0.10827567149994945, -0.03329855487630567]),
    ("BesselJ", [[0.5, -3, 8.56, 24.9, 25.1, 300]], {"order": 1},
     [0.2422684576748739, -0.3390589585259365, 0.27322441586997126, -0.13485569953140886,
      -0.11463478413442257, -0.03188743137749995]),
    ("BesselY", [[1e-9, 0.5, 3, 8.56, 24.9, 25.1, 300]], {"order": 0},
     [-13.266645074938387, -0.44451873350670656, 0.3768500100127904, 0.27128368654033264,
      -0.13649918399676522, -0.11676770763803694, -0.0318318897300034]),
    ("BesselY", [[1e-9, 0.5, 3, 8.56, 24.9, 25.1, 300]], {"order": 1},
     [-636619772.3675814, -1.471472392670243, 0.3246744247918, -0.009792588859185993,
      -0.08600255759555425, -0.11062223322783099, 0.03324554812131022]),
    ("BesselK", [[1e-9, 0.5, 3, 24.9, 25.1]], {"order": 0},
     [20.839197352604824, 0.9244190712276659, 0.03473950438627925, 3.836096520989492e-12,
      3.1283127143211173e-12]),
    ("BesselK", [[1e-9, 0.5, 3, 24.9, 25.1, 5000]], {"order": 0, "scaled": 1},
     [20.83919737344402, 1.5241093857739094, 0.6977615980438517, 0.24993215015402473,
      0.24894399546328752, 0.017724095445432315]),
    ("BesselK", [[1e-9, 0.5, 3, 24.9, 25.1, 5000]], {"order": 1, "scaled": 1},
     [1000000001.0, 2.731009708211786, 0.8065634801287869, 0.25490238558081707, 0.25385550089505654,
      0.017725867766374102]),
    ("Dawsn", [[0.1, -0.5, 2, 12.3, 1e4]], {},
     [0.09933599239785286, -0.4244363835020223, 0.30134038892379195, 0.04078610702392124,
      5.000000025e-05]),
    ("Expint", [[1e-3, 0.5, 3, 39.9, 40.1, 700]], {},
     [-6.329539364025038, 0.4542199048631736, 9.933832570625416, 5479032048901894.0,
      6657825191607100.0, 1.4509787360525608e+301]),
    ("Fresnel", [[0.5, -1.59, 1.61, 7, 50.25]], {"cosine": 1},
     [0.4923442258714464, -0.3720264592222394, 0.3592841534732351, 0.5454670925469698,
      0.5063041005976566]),
    ("Fresnel", [[0.5, -1.59, 1.61, 7, 50.25]], {},
     [0.06473243285999927, -0.6464297519859867, 0.6310253086563824, 0.49970478945344676,
      0.5006200973196998]),
    ("Spence", [[0.01, 0.3, 0.9, 1.7, 2.5, 1e6]], {},
     [1.5886254480763753, 0.8893776242860387, 0.1026177910993911, -0.6051584023377052,
      -1.1473806603755707, -97.07908523994168]),
    ("Igamma", [[0.5, 1, 3, 20, 100, 4], [0.1, 2, 2.5, 25, 90, 40]], {},
     [0.34527915398142317, 0.8646647167633873, 0.45618688411667035, 0.8664251659143496,
      0.15822098918643007, 0.9999999999999512]),
    ("Igammac", [[0.5, 1, 3, 20, 100, 4], [0.1, 2, 2.5, 25, 90, 40]], {},
     [0.6547208460185768, 0.1353352832366127, 0.5438131158833297, 0.1335748340856504,
      0.84177901081357, 4.888864465181043e-14]),
    ("Betainc", [[0.5, 2, 8, 1, 30], [0.5, 3, 2, 4, 50], [0.2, 0.5, 0.9, 0.01, 0.4]], {},
     [0.2951672353008665, 0.6875, 0.7748409780000002, 0.03940399, 0.6829428460308882]),
    ("Polygamma", [[0, 1, 2, 5], [2.5, 0.5, 3, 1.25]], {},
     [0.7031566406452432, 4.93480220054468, -0.15411380631918856, 32.51376768129206]),
])
def test_special_functions(kernel, inputs, attributes, expected):
    """The values are those of scipy.special and mpmath."""
    (got,) = call(kernel, *[np.array(values, "f8") for values in inputs], **attributes)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-14)
    (single,) = call(kernel, *[np.array(values, "f4") for values in inputs], **attributes)
    assert single.dtype == np.float32


def test_polygamma_of_large_negative_numbers():
    """The values are those of mpmath, but the last, the reflection's: it has 10^15 terms."""
    x = np.array([-30.25, -30.25, -21.5, -1000.75, -1e15 - 0.5])
    (got,) = call("Polygamma", np.array([1.0, 2, 3, 5, 1]), x)
    expected = [19.706691341963048, 124.02404942909005, 194.81799443299284, 492231.26711055587,
                np.pi**2]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_special_functions_outside_their_domain():
    inf, nan = np.inf, np.nan
    for kernel, inputs, expected in [
            ("Lgamma", [[-2, 0, inf, -inf, nan]], [inf, inf, inf, inf, nan]),
            ("Digamma", [[-2, inf, nan]], [nan, inf, nan]),
            ("Erfinv", [[1, -1, 1.5, nan]], [inf, -inf, nan, nan]),
            ("Ndtri", [[1, 0, 1.5, -1]], [inf, -inf, nan, nan]),
            ("BesselJ", [[0, -0.0, nan]], [1, 1, nan]),
            ("BesselY", [[0, -2, nan]], [-inf, -inf, nan]),
            ("BesselK", [[0, -2, inf, nan]], [inf, inf, 0, nan]),
            ("Dawsn", [[0, inf, -inf, nan]], [0, 0, 0, nan]),
            ("Expint", [[0, -1, inf, nan]], [-inf, nan, inf, nan]),
            ("Fresnel", [[0, inf, -inf, nan]], [0, 0.5, -0.5, nan]),
            ("Spence", [[0, 1, -1, inf, nan]], [np.pi**2 / 6, 0, nan, -inf, nan]),
            ("Igamma", [[1, -1, 2, 2], [0, 1, inf, -1]], [0, nan, 1, nan]),
            ("Igammac", [[1, -1, 2, 2], [0, 1, inf, -1]], [1, nan, 0, nan]),
            ("Betainc", [[1, 1, 1, -1], [2, 2, 2, 2], [0, 1, 1.5, 0.5]], [0, 1, nan, nan])]:
        (got,) = call(kernel, *[np.array(values, "f8") for values in inputs])
        np.testing.assert_array_equal(got, expected)


def test_betainc_repeats_single_elements():
    (got,) = call("Betainc", np.array(2.0), np.array([[3.0]]), np.array([0.5, 0.25]))
    np.testing.assert_allclose(got, [0.6875, 0.26171875], rtol=1e-13)
    with pytest.raises(KernelError, match="has 3 elements"):
        call("Betainc", np.ones(3), np.array(3.0), np.array([0.5, 0.25]))


def positive(rng, *shape):
    a = rng.standard_normal(shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def test_cholesky():
    a = positive(np.random.default_rng(1), 2, 3, 5, 5)
    (lower,) = call("Cholesky", np.tril(a))
    np.testing.assert_allclose(lower, np.linalg.cholesky(a), atol=1e-12)
    (nothing,) = call("Cholesky", np.zeros((2, 0, 0)))
    assert nothing.shape == (2, 0, 0)
    with pytest.raises(KernelError, match="matrix 1 is not positive definite"):
        call("Cholesky", np.stack([np.eye(2), -np.eye(2)]))


@pytest.mark.parametrize("adjoint", [0, 1])
def test_matrix_solve(adjoint):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((3, 1, 4, 4)), rng.standard_normal((2, 4, 5))
    a[0, 0, 0, 0] = 0  # the pivot is another row
    (got,) = call("MatrixSolve", a, b, adjoint=adjoint)
    expected = np.linalg.solve(np.swapaxes(a, -1, -2) if adjoint else a, np.broadcast_to(b, (3, 2, 4, 5)))
    np.testing.assert_allclose(got, expected, atol=1e-11)
    with pytest.raises(KernelError, match="matrix 0 is singular"):
        call("MatrixSolve", np.ones((2, 2)), np.ones((2, 1)))


@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("adjoint", [0, 1])
def test_triangular_solve(lower, adjoint):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 4, 4)) + 3 * np.eye(4), rng.standard_normal((2, 4, 3))
    (got,) = call("TriangularSolve", a, b, lower=lower, adjoint=adjoint)
    triangle = np.tril(a) if lower else np.triu(a)
    expected = np.linalg.solve(np.swapaxes(triangle, -1, -2) if adjoint else triangle, b)
    np.testing.assert_allclose(got, expected, atol=1e-11)


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_cumulative_log_sum_exp(exclusive, reverse):
    x = np.array([[1.0, -800, 900, 900, 3], [-np.inf, -np.inf, 0, np.inf, 1]])
    (got,) = call("CumLogSumExp", x, index(1), exclusive=exclusive, reverse=reverse)
    rows = x[:, ::-1] if reverse else x
    expected = np.logaddexp.accumulate(rows, 1)
    if exclusive:
        expected = np.concatenate([np.full((2, 1), -np.inf), expected[:, :-1]], 1)
    np.testing.assert_allclose(got, expected[:, ::-1] if reverse else expected, rtol=1e-14)
    with pytest.raises(KernelError):
        call("CumLogSumExp", np.arange(3), index(0))


def test_philox_is_checked():
    shape, key, counter = index([2]), np.zeros(1, "u8"), np.zeros(2, "u8")
    with pytest.raises(KernelError, match="expected 1 and 2"):
        call("PhiloxRandom", shape, key, np.zeros(1, "u8"))
    with pytest.raises(KernelError, match="no integer between the bounds"):
        call("PhiloxRandom", shape, key, counter, index(3), index(3), dtype=7)
    with pytest.raises(KernelError, match="element type"):
        call("PhiloxRandom", shape, key, counter, dtype=6, distribution="normal")
    with pytest.raises(KernelError, match="has 3 numbers, expected 2"):
        call("PhiloxKey", index([1, 2, 3]), outputs=2)
    # The counter carries into its upper half.
    ends = call("PhiloxRandom", index([8]), key, np.array([2 ** 64 - 1, 0], "u8"), dtype=12)[0]
    begins = call("PhiloxRandom", index([4]), key, np.array([0, 1], "u8"), dtype=12)[0]
    np.testing.assert_array_equal(ends[4:], begins)


def test_soft_suppression_is_checked():
    boxes, scores, numbers = np.zeros((2, 4), "f4"), np.zeros(2, "f4"), np.ones(1, "f4")
    with pytest.raises(KernelError, match="deviation is not above 0"):
        call("SoftSuppression", boxes, scores, index(3), numbers, numbers * 0, outputs=2)
    with pytest.raises(KernelError, match="do not fit"):
        call("SoftSuppression", boxes[:, :3], scores, index(3), numbers, numbers, outputs=2)


def test_soft_suppression_infers_shapes():
    """It wrote elements of its first output in front of the second one, into no memory of its own."""
    boxes = np.array([[0, 0, 1, 1], [0, 5, 1, 6], [0, 0, 1, 1.1]], "f4")
    given = (boxes, np.array([.9, .8, .7], "f4"), index(3), np.zeros(1, "f4"), np.ones(1, "f4"))
    chosen, scores = call("SoftSuppression", *given, outputs=2)
    assert call("SoftSuppression", *given, outputs=2, only_shapes=True) == [chosen.shape, scores.shape]


def paths_of(scores, lengths, **attributes):
    labels, chances = call("CtcBeams", np.array(scores, "f4"), np.array(lengths, "i4"), outputs=2, **attributes)
    return labels.tolist(), chances


def test_beams_are_all_paths_where_there_is_room():
    """The sums over all alignments of three steps of two labels and the blank."""
    scores = np.random.default_rng(2).normal(size=(3, 1, 3)).astype("f4")
    chances = scores[:, 0] - np.log(np.exp(scores[:, 0]).sum(1, keepdims=True))
    sums = {}
    for steps in np.ndindex(3, 3, 3):
        path = tuple(label for i, label in enumerate(steps) if label < 2 and (i == 0 or steps[i - 1] != label))
        sums[path] = np.logaddexp(sums.get(path, -np.inf), sum(chances[i, label] for i, label in enumerate(steps)))
    best = sorted(sums, key=sums.get, reverse=True)
    labels, found = paths_of(scores, [3], beams=50, paths=5)
    assert labels == [[list(path) + [-1] * (3 - len(path)) for path in best[:5]]]
    np.testing.assert_allclose(found[0], [sums[path] for path in best[:5]], rtol=1e-5)


@pytest.mark.parametrize("shape,lengths,attributes,message", [
    ((2, 1, 3), [3], dict(beams=2, paths=1), "sequence 0 has 3 steps of 2"),
    ((2, 1, 3), [0], dict(beams=2, paths=2), "has 1 possible paths, of which 2 are asked for"),
    ((2, 1, 3), [2], dict(beams=1, paths=2), "2 paths of 1 beams"),
    ((2, 1, 3), [2], dict(beams=1 << 40, paths=2), "are too many"),
    ((2, 1, 0), [2], dict(beams=2, paths=1), "no class")])
def test_beams_that_are_none(shape, lengths, attributes, message):
    with pytest.raises(KernelError, match=message):
        paths_of(np.zeros(shape), lengths, **attributes)


def test_lu():
    rng = np.random.default_rng(5)
    a = rng.standard_normal((2, 3, 4, 4))
    parts, order = call("Lu", a, outputs=2)
    lower = np.tril(parts, -1) + np.eye(4)
    np.testing.assert_allclose(lower @ np.triu(parts), np.take_along_axis(a, order[..., None], -2),
                               atol=1e-12)
    for shape in [(0, 0), (0, 3, 3), (2, 0, 0)]:
        parts, order = call("Lu", np.zeros(shape), outputs=2)
        assert parts.shape == shape and order.shape == shape[:-1]
    with pytest.raises(KernelError, match="matrix 1 is singular"):
        call("Lu", np.stack([np.eye(2), np.ones((2, 2))]), outputs=2)


def test_matrix_square_root():
    rng = np.random.default_rng(6)
    thin = rng.standard_normal((4, 2))
    regular = rng.standard_normal((4, 4)) + 4 * np.eye(4)  # not symmetric
    for a in [positive(rng, 4, 4), regular, np.ones((3, 3)), thin @ thin.T, np.diag([1.0, 0, 4]),
              1e200 * np.eye(2), 1e-200 * positive(rng, 3, 3), np.diag([1e-10, 1e10]), np.zeros((2, 2)),
              np.array([[0.0, -1], [1, 0]])]:
        (root,) = call("MatrixSquareRoot", a)
        np.testing.assert_allclose(root @ root, a, atol=1e-13 * np.abs(a).max())
    # Of elements in single precision, eigenvalues that rounding made negative count as 0.
    narrow = (thin @ thin.T).astype("f4")
    (root,) = call("MatrixSquareRoot", narrow)
    np.testing.assert_allclose(root @ root, narrow, atol=1e-5)
    assert call("MatrixSquareRoot", np.zeros((2, 0, 0)))[0].shape == (2, 0, 0)


def test_matrices_without_a_square_root_are_nan():
    nilpotent = np.array([[0.0, 1], [0, 0]])
    (roots,) = call("MatrixSquareRoot", np.stack([np.eye(2), -np.eye(2), nilpotent, np.diag([1, np.nan]),
                                                  np.diag([np.inf, 1]), 4 * np.eye(2)]))
    assert np.isnan(roots[1:5]).all()
    np.testing.assert_array_equal(roots[[0, 5]], [np.eye(2), 2 * np.eye(2)])


@pytest.mark.parametrize("pivots", [0, 1])
def test_tridiagonal_solve(pivots):
    rng = np.random.default_rng(7)
    diagonals, right = rng.standard_normal((3, 3, 5)) + [[[0]], [[4]], [[0]]], rng.standard_normal((3, 5, 2))
    diagonals[:, 0, -1] = diagonals[:, 2, 0] = np.nan  # outside of the matrix
    diagonals[1, 1] = diagonals[1, 2] = 0  # singular
    (got,) = call("TridiagonalSolve", diagonals, right, pivots=pivots)
    for i in (0, 2):
        above, main, below = diagonals[i]
        whole = np.diag(above[:-1], 1) + np.diag(main) + np.diag(below[1:], -1)
        np.testing.assert_allclose(got[i], np.linalg.solve(whole, right[i]), rtol=1e-9)
    assert np.isnan(got[1]).all()
    assert call("TridiagonalSolve", np.zeros((3, 0)), np.zeros((0, 2)))[0].shape == (0, 2)
    with pytest.raises(KernelError):
        call("TridiagonalSolve", np.zeros((3, 4)), np.zeros((3, 2)))


def test_tridiagonal_solve_exchanges_rows():
    diagonals = np.array([[2.0, 1, 0], [0, 1, 3], [0, 4, 1]])
    right = np.array([[1.0], [2], [3]])
    (got,) = call("TridiagonalSolve", diagonals, right)
    whole = np.diag(diagonals[0, :-1], 1) + np.diag(diagonals[1]) + np.diag(diagonals[2, 1:], -1)
    np.testing.assert_allclose(whole @ got, right, atol=1e-13)
    (got,) = call("TridiagonalSolve", diagonals, right, pivots=0)
    assert np.isnan(got).all()


def texts(*values):
    return np.array([value.encode() for value in values] + [None], object)[:-1]


@pytest.mark.parametrize("operation,expected", [
    ("union", {0: {1, 2, 5}, 1: {-7}, 2: {3}}), ("intersection", {0: {2}}),
    ("a-b", {0: {1}, 1: {-7}}), ("b-a", {0: {5}, 2: {3}})])
def test_set_operation(operation, expected):
    # The rows of the first set do not rise, and an element repeats.
    rows_a, a = index([1, 0, 0, 0]), np.array([-7, 2, 1, 2])
    rows_b, b = index([0, 0, 2]), np.array([5, 2, 3])
    rows, values = call("SetOperation", rows_a, a, rows_b, b, outputs=2, operation=operation)
    answer = [(row, value) for row in expected for value in sorted(expected[row])]
    assert list(zip(rows.tolist(), values.tolist())) == answer
    none = index([])
    rows, values = call("SetOperation", none, none, none, none, outputs=2, operation=operation)
    assert rows.shape == values.shape == (0,)


def test_set_operation_of_strings():
    rows, values = call("SetOperation", index([0, 0, 0]), texts("b", "", "\xe9"), index([0, 0]),
                        texts("a", "b"), outputs=2, operation="union")
    assert rows.tolist() == [0] * 4
    assert values.tolist() == [b"", b"a", b"b", "\xe9".encode()]
    with pytest.raises(KernelError, match="the operation is none of"):
        call("SetOperation", index([0]), index([1]), index([0]), index([1]), outputs=2, operation="or")
    with pytest.raises(KernelError, match="do not fit"):
        call("SetOperation", index([0]), index([1, 2]), index([0]), index([1]), outputs=2)


def test_edit_distance():
    rows_a, a = index([0] * 6 + [2]), texts(*"kitten", "x")
    rows_b, b = index([0] * 7 + [1]), texts(*"sitting", "y")
    for normalize, expected in [(0, [3, 1, 1, 0]), (1, [3 / 7, 1, np.inf, 0])]:
        (got,) = call("EditDistance", rows_a, a, rows_b, b, index(4), normalize=normalize)
        np.testing.assert_array_equal(got, np.array(expected, "f4"))
    none = index([])
    assert call("EditDistance", none, none, none, none, index(0))[0].shape == (0,)


@pytest.mark.parametrize("rows", [[1, 0], [0, 3], [-1, 0]])
def test_edit_distance_of_rows_that_are_none(rows):
    with pytest.raises(KernelError, match="out of order or none of 3 rows"):
        call("EditDistance", index(rows), index([1, 2]), index([0]), index([1]), index(3))


def test_overlap_suppression():
    overlaps = np.array([[1, 0.8, 0.1], [0.8, 1, 0.2], [0.1, 0.2, 1]], "f4")
    scores = np.array([0.5, 0.9, 0.7], "f4")

    def kept(size, overlap, score, given=scores):
        return call("OverlapSuppression", overlaps, given, index(size), np.array(overlap, "f4"),
                    np.array(score, "f4"))[0].tolist()
    assert kept(3, 0.5, 0) == [1, 2]
    assert kept(3, 0.9, 0) == [1, 2, 0]
    assert kept(3, 0.9, 0.6) == [1, 2]
    assert kept(1, 0.9, 0) == [1]
    assert kept(0, 0.9, 0) == []
    assert 1 not in kept(3, 0.9, 0, np.array([0.5, np.nan, 0.7], "f4"))


def test_require():
    value = np.arange(3)
    assert call("Require", value, np.array([[True], [True]]), message="no")[0].tolist() == [0, 1, 2]
    assert call("Require", value, np.zeros(0, bool), message="no")[0].tolist() == [0, 1, 2]
    with pytest.raises(KernelError, match="other dims"):
        call("Require", value, np.array([True, False]), message="other dims")
