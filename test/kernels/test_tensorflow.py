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
