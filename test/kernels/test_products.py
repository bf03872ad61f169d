# ===-- test_products.py - MatMul, Gemm, Einsum and their integer forms --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, Raw, call

rng = np.random.default_rng(1)


def numbers(shape, dtype="f4"):
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -100), min(info.max, 100), shape).astype(dtype)


# Rows, columns and depths around the sizes of tiles, panels and blocks.
@pytest.mark.parametrize("m,k,n", [(1, 1, 1), (1, 300, 40), (3, 33, 17), (6, 64, 16), (7, 5, 15),
                                   (48, 256, 32), (49, 257, 33), (100, 700, 130), (2, 3, 600)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "u8"])
def test_matmul_sizes(m, k, n, dtype):
    a, b = numbers((m, k), dtype), numbers((k, n), dtype)
    wide = "f8" if np.dtype(dtype).kind == "f" else dtype
    want = np.matmul(a.astype(wide), b.astype(wide)).astype(dtype)
    got, = call("MatMul", a, b)
    assert got.dtype == want.dtype and got.shape == want.shape
    tolerance = {"f4": 1e-4, "f8": 1e-12, "f2": 2e-3}.get(dtype, 0)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 20)


@pytest.mark.parametrize("a,b", [((5,), (5,)), ((5,), (5, 3)), ((2, 5), (5,)), ((4, 2, 5), (5, 3)),
                                 ((3, 1, 9, 5), (2, 5, 7)), ((2, 5), (3, 4, 5, 1)),
                                 ((2, 0, 5), (5, 3)), ((2, 3, 0), (0, 4)), ((0, 2, 3), (3, 4)),
                                 ((2, 1, 8, 5), (1, 3, 5, 9)), ((5,), (4, 5, 6))])
def test_matmul_shapes(a, b):
    x, y = numbers(a), numbers(b)
    want = np.matmul(x, y)
    got, = call("MatMul", x, y)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert call("MatMul", x, y, only_shapes=True) == [want.shape]


@pytest.mark.parametrize("a,b", [((2, 3), (4, 5)), ((2, 2, 3), (3, 3, 4)), ((), (3,))])
def test_matmul_misfits(a, b):
    with pytest.raises(KernelError):
        call("MatMul", numbers(a), numbers(b))


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("bias", [None, (), (1,), (9,), (1, 9), (20, 1), (20, 9)])
def test_gemm(trans_a, trans_b, bias):
    a, b = numbers((20, 30)), numbers((30, 9))
    want = 0.5 * (a @ b)
    inputs = [a.T.copy() if trans_a else a, b.T.copy() if trans_b else b]
    if bias is not None:
        inputs.append(numbers(bias))
        want = want + 2 * inputs[2]
    got, = call("Gemm", *inputs, alpha=0.5, beta=2.0, transA=trans_a, transB=trans_b)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_gemm_integers_and_empty():
    a, b, c = numbers((4, 5), "i4"), numbers((5, 6), "i4"), numbers((6,), "i4")
    assert (call("Gemm", a, b, c)[0] == a @ b + c).all()
    got, = call("Gemm", numbers((3, 0)), numbers((0, 2)), np.ones(2, "f4"))
    assert (got == 1).all() and got.shape == (3, 2)
    with pytest.raises(KernelError):
        call("Gemm", numbers((4, 5)), numbers((5, 6)), numbers((7,)))


def test_matmul_integer():
    a, b = numbers((2, 4, 30), "u1"), numbers((30, 6), "i1")
    za, zb = np.array([3, 100, 5, 0], "u1"), numbers((6,), "i1")
    want = (a.astype("i4") - za[:, None].astype("i4")) @ (b.astype("i4") - zb.astype("i4"))
    assert (call("MatMulInteger", a, b, za, zb)[0] == want).all()
    want = a.astype("i4") @ b.astype("i4")
    assert (call("MatMulInteger", a, b)[0] == want).all()
    with pytest.raises(KernelError):
        call("MatMulInteger", a, b, np.zeros(3, "u1"))


def test_qlinear_matmul_saturates():
    a, b = numbers((8, 16), "i1"), numbers((16, 4), "i1")
    scale, zero = np.float32(0.1), np.int8(-3)
    got, = call("QLinearMatMul", a, scale, np.int8(1), b, scale, np.int8(2), np.float32(0.5), zero)
    exact = (a.astype("i4") - 1) @ (b.astype("i4") - 2)
    by = (np.float64(scale) ** 2 / 0.5).astype("f4")
    want = np.clip(np.rint(exact.astype("f4") * by) - 3, -128, 127)
    assert (got == want).all() and got.dtype == np.int8


# Few rows and many, columns and k that no panel ends at, batches on one side or on both.
@pytest.mark.parametrize("a,b", [((1, 9), (9, 1)), ((3, 700), (700, 70)), ((49, 33), (33, 17)),
                                 ((7, ), (7, 90)), ((90, 7), (7, )), ((2, 5, 8), (2, 8, 20)),
                                 ((2, 1, 60, 5), (3, 5, 66)), ((2, 3, 9), (9, 130)),
                                 ((4, 0), (0, 5)), ((0, 4), (4, 5)), ((128, 1100), (1100, 65))])
@pytest.mark.parametrize("dtypes", [("u1", "i1"), ("i1", "u1")])
def test_integer_products_of_every_form(a, b, dtypes):
    a, b = numbers(a, dtypes[0]), numbers(b, dtypes[1])
    za, zb = np.array(9, dtypes[0]), np.array(-5 if dtypes[1] == "i1" else 5, dtypes[1])
    want = (a.astype("i4") - np.int32(za)) @ (b.astype("i4") - np.int32(zb))
    got, = call("MatMulInteger", a, b, za, zb)
    assert got.shape == want.shape and (got == want).all()
    scales = np.linspace(0.01, 0.1, b.shape[-1] if b.ndim > 1 else 1).astype("f4")
    step = np.float32(40)
    got, = call("QLinearMatMul", a, np.float32(0.3), za, b, scales, zb, step, np.uint8(77))
    by = (np.float64(np.float32(0.3)) * scales.astype("f8") / 40).astype("f4")
    if b.ndim == 1:
        by = by[0]
    assert (got == np.clip(np.rint(want.astype("f4") * by) + 77, 0, 255)).all()


def panels(b):
    """A matrix of bytes as the compiler packs it, and the sums of its columns."""
    k, n = b.shape
    signed = (b.view("u1") ^ (0x80 if b.dtype == np.uint8 else 0)).view("i1")
    packed = signed.reshape(k // 4, 4, n // 16, 16).transpose(2, 0, 3, 1)
    return np.ascontiguousarray(packed).view(b.dtype).reshape(k, n), signed.sum(0, dtype="i8").tolist()


@pytest.mark.parametrize("rows", [1, 4, 5, 49])
@pytest.mark.parametrize("k,n", [(4, 16), (68, 80), (1100, 16)])
@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_packed_integers(rows, k, n, dtype):
    a, b, za = numbers((rows, k), "u1"), numbers((k, n), dtype), np.array(9, "u1")
    zb, scales = numbers((n, ), dtype), np.linspace(0.01, 0.1, n).astype("f4")
    packed, sums = panels(b)
    got, = call("MatMulInteger", a, packed, za, zb, packed=sums)
    assert (got == (a.astype("i4") - 9) @ (b.astype("i4") - zb.astype("i4"))).all()
    scale, step, zero = np.float32(0.3), np.float32(40), np.uint8(77)
    for kernel, dims, more in (("QLinearMatMul", (k, n), []), ("QGemm", (k, n), [None]), ("QGemm", (n, k), [None])):
        flags = {"transB": 1} if dims == (n, k) else {}
        plain = b.T.copy() if flags else b
        want, = call(kernel, a, scale, za, plain, scales, zb, *more, step, zero, **flags)
        got, = call(kernel, a, scale, za, packed.reshape(dims), scales, zb, *more, step, zero, packed=sums, **flags)
        assert (got == want).all()


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("groups,channels,kernel", [(1, 8, (3, 3)), (2, 4, (1, 5)), (1, 12, (1, 1)), (1, 4, (3, ))])
def test_packed_filters(dtype, groups, channels, kernel):
    x = numbers((2, groups * channels, *[7] * len(kernel)), "u1")
    w = numbers((groups * 3, channels, *kernel), dtype)
    zx, zw = np.array(7, "u1"), numbers((groups * 3, ), dtype)
    unsigned = (w.view("u1") ^ (0x80 if dtype == "i1" else 0)).reshape(groups * 3, channels // 4, 4, -1)
    packed = np.ascontiguousarray(unsigned.transpose(0, 1, 3, 2)).view(dtype).reshape(w.shape)
    sums = unsigned.sum((1, 2, 3), dtype="i8").tolist()
    flags = {"group": groups, "pads": [1] * 2 * len(kernel)}
    want, = call("ConvInteger", x, w, zx, zw, **flags)
    assert (call("ConvInteger", x, packed, zx, zw, packed=sums, **flags)[0] == want).all()
    scale, step = np.float32(0.3), np.float32(40)
    want, = call("QLinearConv", x, scale, zx, w, scale, zw, step, zx, **flags)
    assert (call("QLinearConv", x, scale, zx, packed, scale, zw, step, zx, packed=sums, **flags)[0] == want).all()
    for wrong in ([], sums[1:]):
        with pytest.raises(KernelError, match="are packed"):
            call("ConvInteger", x, packed, zx, zw, packed=wrong, **flags)


def test_filters_with_wide_gaps():
    """Pads and gaps make planes of which only the image is there: they are no reason to take memory."""
    x, w = numbers((1, 16, 1, 1), "u1"), numbers((16, 1, 2, 1), "i1")
    got, = call("ConvInteger", x, w, group=16, dilations=[980000, 1], pads=[980000, 0, 0, 0])
    assert (got[0, :, 0, 0] == x[0, :, 0, 0].astype("i4") * w[:, 0, 1, 0]).all()


def test_packed_integers_for_floats():
    packed, sums = panels(numbers((4, 16), "i1"))
    with pytest.raises(KernelError, match="weights are packed"):
        call("QLinearMatMul", numbers((3, 4), "u1"), np.float32(1), np.array(0, "u1"), packed, np.float32(1),
             np.array(0, "i1"), np.float32(1), Raw(17, np.array(0, "u1"), ()), packed=sums)


@pytest.mark.parametrize("k,n,sums", [(6, 16, 16), (8, 15, 15), (8, 16, 15), (8, 16, 0)])
def test_packed_integers_of_wrong_sizes(k, n, sums):
    with pytest.raises(KernelError, match="are packed"):
        call("MatMulInteger", numbers((3, k), "u1"), numbers((k, n), "i1"), packed=[0] * sums)
    with pytest.raises(KernelError, match="are packed"):
        call("MatMulInteger", numbers((2, 3, 8), "u1"), numbers((2, 8, 16), "i1"), packed=[0] * 16)


def test_integer_products_with_zero_points_of_each_line():
    a, b = numbers((2, 6, 10), "u1"), numbers((2, 10, 40), "i1")
    for rows, columns in (((6, ), (40, )), ((2, 6), (2, 40))):
        za, zb = numbers(rows, "u1"), numbers(columns, "i1")
        want = (a.astype("i4") - za[..., None].astype("i4")) @ (
            b.astype("i4") - (zb if zb.ndim == 1 else zb[:, None]).astype("i4"))
        assert (call("MatMulInteger", a, b, za, zb)[0] == want).all()


@pytest.mark.parametrize("equation,shapes", [("ij,jk->ik", [(3, 4), (4, 5)]),
                                             ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
                                             ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 6)]),
                                             ("ii", [(4, 4)]), ("ii->i", [(4, 4)]),
                                             ("ij->ji", [(3, 4)]), ("ij->", [(3, 4)]),
                                             ("i,j,k->kji", [(2, ), (3, ), (4, )]),
                                             ("bhid,bhjd->bhij", [(2, 3, 5, 8), (2, 3, 6, 8)]),
                                             ("ab, bc, cd", [(2, 3), (3, 4), (4, 5)]),
                                             ("a...,a->...", [(3, 2, 4), (3, )]),
                                             ("ij,kj->", [(3, 4), (5, 4)]),
                                             ("bA,bA->b", [(2, 3), (2, 3)]),
                                             ("ij,jk->ik", [(0, 4), (4, 5)]),
                                             ("i,i->", [(0, ), (0, )]), (",i->i", [(), (3, )])])
@pytest.mark.parametrize("dtype", ["f4", "i4", "i8"])
def test_einsum(equation, shapes, dtype):
    operands = [numbers(shape, dtype) for shape in shapes]
    want = np.einsum(equation.replace(" ", ""), *operands)
    got, = call("Einsum", *operands, equation=equation)
    assert got.shape == want.shape and got.dtype == operands[0].dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("equation", ["ij,jk", "ij->ijk", "i->i", "ij->ii", "i1->i", "ij,->i"])
def test_einsum_errors(equation):
    with pytest.raises(KernelError):
        call("Einsum", numbers((3, 4)), equation=equation)
