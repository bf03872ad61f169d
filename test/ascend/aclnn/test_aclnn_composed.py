# Functions of aclnn for maps of experts, sampled images, sums of letters, QR, fake quantization and formats. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import itertools

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, close, drawer, failed, refused, zeros  # noqa: E402, F401

RNG, draw = drawer(91)
F32, NULL, FLOAT = np.float32, POINTER(), ctypes.c_float


def mask_of(acl, *values):
    acl.aclCreateBoolArray.restype = POINTER
    return POINTER(acl.aclCreateBoolArray((ctypes.c_bool * len(values))(*values), ctypes.c_uint64(len(values))))


#--- tokens and experts -----------------------------------------------------------------

def routes(tokens, experts, choices):
    taken = np.zeros((tokens, experts), bool)
    for row in taken:
        row[RNG.permutation(experts)[:choices]] = True
    return taken


def test_tokens_go_to_experts_by_a_map_and_come_back(acl):
    x, taken, shares = draw(5, 3), routes(5, 4, 2), draw(5, 4)
    expert, token = np.nonzero(taken.T)
    rows, of_rows, positions = zeros(acl, 10, 3), zeros(acl, 10), zeros(acl, 10, kind=np.int32)
    call(acl, "MoeTokenPermuteWithRoutingMap", x, taken, shares, LONG(10), BOOL(False), rows, of_rows, positions)
    close(rows, x[token], 0)
    close(of_rows, shares[token, expert], 0)
    np.testing.assert_array_equal(positions.read(), np.argsort(token, kind="stable"))
    sums, index, tokens, each = zeros(acl, 5, 3), zeros(acl, 10, kind=np.int32), zeros(acl, 10, kind=np.int32), zeros(acl, 10)
    call(acl, "MoeTokenUnpermuteWithRoutingMap", rows, positions, taken, shares, BOOL(False), [5, 3], sums, index, tokens, each)
    close(sums, x * (shares * taken).sum(1, keepdims=True), 1e-6)
    np.testing.assert_array_equal(tokens.read(), np.arange(10) // 2)
    close(each, shares[token, expert], 0)
    call(acl, "MoeTokenUnpermuteWithRoutingMap", rows, positions, NULL, NULL, BOOL(False), NULL, sums, index, tokens, NULL)
    close(sums, 2 * x, 1e-6)
    # Padded: each expert takes 2 rows, those that it was given first.
    order = np.argsort(~taken.T, axis=1, kind="stable")[:, :2]
    rows, of_rows, positions = zeros(acl, 8, 3), zeros(acl, 8), zeros(acl, 8, kind=np.int32)
    call(acl, "MoeTokenPermuteWithRoutingMap", x, taken.astype(np.int8), shares, LONG(9), BOOL(True), rows, of_rows, positions)
    np.testing.assert_array_equal(positions.read(), order.ravel())
    close(rows, x[order.ravel()], 0)
    close(of_rows, np.take_along_axis(shares.T, order, 1).ravel(), 0)
    sums, index, tokens, each = zeros(acl, 5, 3), zeros(acl, 8, kind=np.int32), zeros(acl, 8, kind=np.int32), zeros(acl, 8)
    call(acl, "MoeTokenUnpermuteWithRoutingMap", rows, positions, NULL, shares, BOOL(True), [5, 3], sums, index, tokens, each)
    want = np.zeros((5, 3))
    for e, t in itertools.product(range(4), range(2)):
        want[order[e, t]] += x[order[e, t]] * shares[order[e, t], e]
    close(sums, want, 1e-6)
    np.testing.assert_array_equal(tokens.read(), np.sort(order.ravel()))
    assert "restoreShape [4,3]" in refused(acl, "MoeTokenUnpermuteWithRoutingMap", rows, positions, NULL, shares, BOOL(True), [4, 3],
                                            sums, index, tokens, each)
    taken[0] = False
    assert failed(acl, "MoeTokenPermuteWithRoutingMap", x, taken, NULL, LONG(10), BOOL(False), zeros(acl, 10, 3), NULL,
                  zeros(acl, 10, kind=np.int32))
    assert "2 dims" in refused(acl, "MoeTokenPermuteWithRoutingMap", x, taken, NULL, LONG(21), BOOL(False), zeros(acl, 10, 3),
                               NULL, zeros(acl, 10, kind=np.int32))
    for padded in (False, True):
        call(acl, "MoeTokenPermuteWithRoutingMap", x[:0], taken[:0], shares[:0], LONG(0), BOOL(padded), zeros(acl, 0, 3),
             zeros(acl, 0), zeros(acl, 0, kind=np.int32))


@pytest.mark.parametrize("capacity", [0, 2])
def test_moved_rows_are_quantized(acl, capacity):
    x, chosen, scale = draw(4, 6), np.array([[2, 0], [1, 2], [0, 1], [2, 1]], np.int32), np.abs(draw(3, 6)) + F32(.1)
    order = np.argsort(chosen.ravel(), kind="stable")
    positions = np.empty(8, np.int64)
    positions[order] = np.arange(8)
    experts, tokens = chosen.ravel()[order], order // 2
    if capacity:
        number = np.array([np.count_nonzero(experts[:i] == e) for i, e in enumerate(experts)])
        kept = number < capacity
        to = experts[kept] * capacity + number[kept]
        tokens, experts = tokens[kept], experts[kept]
    else:
        to = np.arange(8)
    dims = (3, capacity, 6) if capacity else (8, 6)
    for dynamic, factors in ((False, None), (True, None), (True, scale[:1]), (True, scale)):
        rows = np.zeros((8 if not capacity else 6, 6), F32)
        rows[to] = x[tokens]
        if dynamic:
            if factors is not None:
                of = np.zeros(len(rows), np.int64)
                of[to] = experts
                rows = rows * (factors[of] if len(factors) > 1 else factors)
            most = np.abs(rows).max(1) / F32(127)
            want = np.rint(rows / np.where(most > 0, most, 1)[:, None])
        else:
            want = np.zeros_like(rows)
            want[to] = np.clip(np.rint(rows[to] * F32(20) + F32(3)), -128, 127)
        moved, index, of_rows = zeros(acl, *dims, kind=np.int8), zeros(acl, 8, kind=np.int32), zeros(acl, len(rows))
        counts = zeros(acl, 3, kind=np.int32)
        given = (NULL if factors is None else factors, NULL) if dynamic else (np.array([20], F32), np.array([3], F32))
        call(acl, "MoeInitRoutingQuantV2", x, chosen, *given, LONG(0), LONG(capacity), LONG(3), LONG(bool(capacity)),
             LONG(0 if capacity else 2), BOOL(bool(capacity)), LONG(dynamic), moved, index, NULL if capacity else counts,
             counts if capacity else NULL, of_rows if dynamic else NULL)
        assert np.abs(moved.read().reshape(rows.shape) - want).max() <= (1 if dynamic else 0)
        np.testing.assert_array_equal(counts.read(), [2, 3, 3])
        if dynamic:
            close(of_rows, most, 1e-6)
        if not capacity:
            np.testing.assert_array_equal(index.read(), positions)
    assert "quantMode" in refused(acl, "MoeInitRoutingQuantV2", x, chosen, scale, np.array([3], F32), LONG(0), LONG(0), LONG(3),
                                  LONG(0), LONG(0), BOOL(False), LONG(0), zeros(acl, 8, 6, kind=np.int8),
                                  zeros(acl, 8, kind=np.int32), NULL, NULL, NULL)


def test_rows_are_sorted_by_expert_and_quantized(acl):
    x, chosen = np.array([[.1, -2], [.2, 9], [.3, 300]], F32), np.array([[1, 2], [0, 1], [0, 2]], np.int32)
    row = np.array([[0, 3], [1, 4], [2, 5]], np.int32)
    by = np.argsort(chosen.ravel(), kind="stable")
    from_rows = row.ravel()[by]
    for active, kept in ((3, 6), (2, 4)):
        moved, index, names = zeros(acl, kept, 2, kind=np.int8), zeros(acl, 6, kind=np.int32), zeros(acl, 6, kind=np.int32)
        call(acl, "MoeInitRoutingQuant", x, row, chosen, LONG(active), DOUBLE(2), DOUBLE(1), moved, index, names)
        np.testing.assert_array_equal(moved.read(), np.clip(np.rint(x * 2 + 1), -128, 127)[from_rows % 3][:kept])
        np.testing.assert_array_equal(index.read()[from_rows], np.arange(6))
        np.testing.assert_array_equal(names.read(), chosen.ravel()[by])
    assert "activeNum" in refused(acl, "MoeInitRoutingQuant", x, row, chosen, LONG(-1), DOUBLE(2), DOUBLE(1), moved, index, names)


def test_no_tokens_come_back(acl):
    none = [np.zeros((0, 3), F32), np.zeros(0, np.int32), np.zeros((0, 4), bool), np.zeros((0, 4), F32)]
    for shares in (none[3], NULL):
        call(acl, "MoeTokenUnpermuteWithRoutingMap", *none[:3], shares, BOOL(False), [0, 3], zeros(acl, 0, 3),
             zeros(acl, 0, kind=np.int32), zeros(acl, 0, kind=np.int32), zeros(acl, 0))
    # Tokens that no expert has taken are 0.
    sums = Tensor(acl, np.full((2, 3), 7, F32))
    call(acl, "MoeTokenUnpermuteWithRoutingMap", *none[:2], np.zeros((2, 4), bool), NULL, BOOL(False), NULL, sums,
         zeros(acl, 0, kind=np.int32), zeros(acl, 0, kind=np.int32), NULL)
    close(sums, np.zeros((2, 3)), 0)


@pytest.mark.parametrize("name", ["GroupedMatmulFinalizeRouting", "GroupedMatmulFinalizeRoutingWeightNz"])
def test_products_of_experts_are_added_up(acl, name):
    x, w = RNG.integers(-128, 128, (6, 5)).astype(np.int8), RNG.integers(-128, 128, (3, 5, 4)).astype(np.int8)
    scale, bias, of_rows, factors = np.abs(draw(3, 4)), draw(3, 4), np.abs(draw(6)), draw(6)
    counts, positions, shared = np.array([2, 0, 4]), np.array([1, 3, 0, 3, 2, 1]), draw(2, 4)
    group = np.repeat(np.arange(3), counts)
    each = np.einsum("ik,ikj->ij", x.astype(float), w[group].astype(float)) * scale[group] * of_rows[:, None] + bias[group]
    want = np.zeros((4, 4))
    np.add.at(want, positions, each * factors[:, None])
    want[1:3] += .5 * shared
    for kind, turned in itertools.product((0, 1), (False, True)):
        out = zeros(acl, 4, 4)
        call(acl, name, x, w.transpose(0, 2, 1) if turned else w, scale, bias, of_rows, counts if kind else np.cumsum(counts),
             shared, factors, positions, LONG(0), FLOAT(.5), LONG(1), BOOL(False), BOOL(turned), LONG(kind), out)
        close(out, want, 1e-5)
    out = zeros(acl, 4, 4)
    tail = (positions, LONG(0), FLOAT(1), LONG(0), BOOL(False), BOOL(False))
    call(acl, name, x, w, scale, NULL, NULL, counts, NULL, NULL, *tail, LONG(1), out)
    assert failed(acl, name, x, w, scale, NULL, NULL, counts * 2, NULL, NULL, *tail, LONG(1), out)
    assert "groupListType" in refused(acl, name, x, w, scale, NULL, NULL, counts, NULL, NULL, *tail, LONG(2), out)
    for shared in (draw(5, 4), np.array(1, F32)):
        assert "sharedInput" in refused(acl, name, x, w, scale, NULL, NULL, counts, shared, NULL, *tail, LONG(1), out)
    assert "dtype 1" in refused(acl, name, x, w, scale, NULL, NULL, counts, NULL, NULL, positions, LONG(1), *tail[2:], LONG(1), out)


@pytest.mark.parametrize("name", ["GroupedMatmulFinalizeRoutingV2", "GroupedMatmulFinalizeRoutingV3",
                                  "GroupedMatmulFinalizeRoutingWeightNzV2"])
def test_products_of_experts_with_weights_of_4_bits(acl, name):
    x, w = RNG.integers(-128, 128, (6, 5)).astype(np.int8), RNG.integers(-8, 8, (3, 5, 8)).astype(np.int8)
    scale, offset, of_rows, factors = np.abs(draw(3, 1, 8)), draw(3, 1, 8), np.abs(draw(6)), draw(6)
    counts, positions, shared = np.array([2, 0, 4]), np.array([1, 3, 0, 3, 2, 1]), draw(2, 8)
    group = np.repeat(np.arange(3), counts)
    words = ((w.astype(np.int64) & 15) << np.arange(8) * 4).sum(-1, keepdims=True).astype(np.uint32).view(np.int32)
    nibbles = ((w[..., ::2] & 15) | (w[..., 1::2] & 15) << 4).astype(np.int8)
    packed = scale.view(np.uint32).astype(np.int64)
    bias = (8 * w * scale.astype(np.float64)).sum(1).astype(F32)
    tail = (counts, shared, factors, positions, LONG(0), FLOAT(.5), LONG(1), BOOL(False), BOOL(False), LONG(1))
    tuning = () if name.endswith("RoutingV2") else (NULL,)
    for weights, factor, given, added in (
            (words, packed, bias, NULL), (words, scale, NULL, offset),
            (Tensor(acl, nibbles, kind=29, dims=w.shape), packed, bias, offset), (w, scale, bias[:, None], NULL)):
        each = np.einsum("ik,ikj->ij", x.astype(float), w[group].astype(float)) * scale[group, 0]
        if added is not NULL:
            each = each + x.astype(float).sum(1, keepdims=True) * offset[group, 0]
        each = each * of_rows[:, None] + (bias[group] if weights is w else 0)
        want = np.zeros((4, 8))
        np.add.at(want, positions, each * factors[:, None])
        want[1:3] += .5 * shared
        out = zeros(acl, 4, 8)
        call(acl, name, x, weights, factor, given, added, NULL, NULL, of_rows, *tail, *tuning, out)
        close(out, want, 1e-5)
    assert "antiquantScale" in refused(acl, name, x, words, packed, bias, NULL, scale, NULL, of_rows, *tail, *tuning, out)


@pytest.mark.parametrize("scales, offsets, want", [
    ([1.1, 2.2], [], [0x40003F8CCCCD, 0x4000400CCCCD] + [0] * 14),
    ([1.1], [0.], [0x40003F8CCCCD]), ([1.], [-1.4, 300.], [0x40003F800000 | 511 << 37, 0x40003F800000 | 255 << 37] + [0] * 14)])
def test_scales_as_words_of_the_program(acl, scales, offsets, want):
    words, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
    floats = [(FLOAT * len(part))(*part) if part else None for part in (scales, offsets)]
    def convert(scale_count, offset_count):
        return acl.aclnnTransQuantParam(floats[0], ctypes.c_uint64(scale_count), floats[1], ctypes.c_uint64(offset_count),
                                        ctypes.byref(words), ctypes.byref(count))
    assert convert(len(scales), len(offsets)) == 0 and words[:count.value] == want
    ctypes.CDLL(None).free(words)
    assert convert(0, len(offsets)) == 161002 and convert(len(scales), 0 if offsets else 1) == 161002
    assert acl.aclnnTransQuantParam(None, ctypes.c_uint64(1), None, ctypes.c_uint64(0), ctypes.byref(words),
                                    ctypes.byref(count)) == 161001



def test_steps_take_sampled_tokens(acl):
    tokens, positions, slots = (Tensor(acl, np.array([7, 7, 7])) for _ in range(3))
    lengths, blocks = Tensor(acl, np.array([3, 8, 5], np.int32)), np.array([[4, 9, 2], [1, 6, 3], [0, 5, 8]], np.int32)
    call(acl, "AdvanceStep", tokens, np.array([[11], [12]]), positions, lengths, slots, blocks, LONG(3), LONG(2), LONG(4))
    for tensor, want in ((tokens, [11, 12, 7]), (positions, [3, 8, 7]), (lengths, [4, 9, 5]), (slots, [4 * 4 + 3, 3 * 4, 7])):
        np.testing.assert_array_equal(tensor.read(), want)
    assert "numQueries" in refused(acl, "AdvanceStep", tokens, np.array([1]), positions, lengths, slots, blocks, LONG(3), LONG(4),
                                   LONG(4))


#--- sampled images ---------------------------------------------------------------------

def cubic(at):
    """What a bicubic sample of the numbers 0, 1, 2 ... is."""
    t, total = at - np.floor(at), np.floor(at)
    for k in (-1, 0, 1, 2):
        d = np.abs(t - k)
        total = total + k * np.where(d <= 1, (1.25 * d - 2.25) * d * d + 1, -.75 * d * d * d + 3.75 * d * d - 6 * d + 3)
    return total


@pytest.mark.parametrize("mode,padding,corners", [(0, 0, False), (0, 1, True), (0, 2, False), (1, 2, True), (2, 0, True),
                                                  (2, 1, False), (2, 2, False), (2, 2, True)])
def test_gradients_of_sampled_images(acl, mode, padding, corners):
    """Those of images are differences of the forward function; those of grids as well, where it is not bicubic."""
    x, grid, given = draw(1, 2, 4, 5), RNG.uniform(-1.4, 1.4, (1, 3, 2, 2)).astype(F32), draw(1, 2, 3, 2)
    numbers = (LONG(mode), LONG(padding), BOOL(corners))
    of_x, of_grid = zeros(acl, *x.shape), zeros(acl, *grid.shape)
    call(acl, "GridSampler2DBackward", given, x, grid, *numbers, mask_of(acl, True, True), of_x, of_grid)

    def loss(image, positions):
        out = zeros(acl, 1, 2, 3, 2)
        call(acl, "GridSampler2D", image, positions, *numbers, out)
        return float((out.read().astype(np.float64) * given).sum())
    for index in ((0, 0, 0, 0), (0, 1, 3, 4), (0, 0, 1, 2)):
        step = np.zeros_like(x)
        step[index] = 1
        assert abs(loss(x + step, grid) - loss(x - step, grid) - 2 * of_x.read()[index]) < 2e-2
    if mode == 1:
        assert not of_grid.read().any()
    only = zeros(acl, *grid.shape)
    call(acl, "GridSampler2DBackward", given, x, grid, *numbers, mask_of(acl, False, True), NULL, only)
    np.testing.assert_array_equal(only.read(), of_grid.read())
    if mode != 1:  # of a plane, the slope by a number of the grid is that of the axis, or that of a sum of cubics
        plane = np.broadcast_to(np.arange(5, dtype=F32), (1, 2, 4, 5)).copy()
        inside = RNG.uniform(-.3, .3, (1, 3, 2, 2)).astype(F32)
        call(acl, "GridSampler2DBackward", given, plane, inside, *numbers, mask_of(acl, True, True), of_x, of_grid)
        at = (inside[0, ..., 0].astype(np.float64) + 1) * 2 if corners else ((inside[0, ..., 0].astype(np.float64) + 1) * 5 - 1) / 2
        slope = (cubic(at + 1e-5) - cubic(at - 1e-5)) / 2e-5 if mode == 2 else 1
        want = np.zeros(grid.shape)
        want[0, ..., 0] = given.sum((0, 1)) * (2 if corners else 2.5) * slope
        close(of_grid, want, 1e-4)
    assert "0 to 2" in refused(acl, "GridSampler2DBackward", given, x, grid, LONG(3), LONG(0), BOOL(False), mask_of(acl, True, True),
                               of_x, of_grid)


def test_attention_samples_levels(acl):
    sizes, starts = np.array([[3, 4], [2, 2]], np.int32), np.array([0, 12], np.int32)
    value, positions, weight = draw(2, 16, 2, 3), RNG.uniform(-.2, 1.2, (2, 5, 2, 2, 3, 2)).astype(F32), draw(2, 5, 2, 2, 3)
    want = np.zeros((2, 5, 2, 3))
    for n, q, h, lv, p in itertools.product(range(2), range(5), range(2), range(2), range(3)):
        height, width = sizes[lv]
        x, y = positions[n, q, h, lv, p] * (width, height) - .5
        for i, j in itertools.product(range(height), range(width)):
            share = max(0, 1 - abs(y - i)) * max(0, 1 - abs(x - j))
            want[n, q, h] += weight[n, q, h, lv, p] * share * value[n, starts[lv] + i * width + j, h]
    out = zeros(acl, 2, 5, 6)
    call(acl, "MultiScaleDeformableAttnFunction", value, sizes, starts, positions, weight, out)
    close(out, want.reshape(2, 5, 6), 1e-5)
    assert failed(acl, "MultiScaleDeformableAttnFunction", value, sizes, starts + 3, positions, weight, out)
    assert "levels" in refused(acl, "MultiScaleDeformableAttnFunction", value, sizes[:1], starts, positions, weight, out)


#--- algebra ----------------------------------------------------------------------------

@pytest.mark.parametrize("equation,dims", [
    ("ij,jk->ik", [(3, 4), (4, 5)]), ("bij,bkj->bki", [(2, 3, 4), (2, 5, 4)]), ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("ii->i", [(4, 4)]), ("ij->", [(3, 4)]), ("abc->ca", [(2, 3, 4)]), ("i,j", [(3,), (4,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
    ("ijk, k -> ij", [(2, 3, 4), (4,)]), ("ba", [(2, 3)]), ("ij,ij->ij", [(3, 4), (3, 4)]), ("abi,aci->b", [(2, 3, 4), (2, 5, 4)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]), ("ij->i", [(2, 0)]), ("ij,k->ij", [(2, 3), (0,)])])
def test_sums_of_letters(acl, equation, dims):
    tensors = [draw(*each) for each in dims]
    want = np.einsum(equation, *tensors)
    out = zeros(acl, *want.shape)
    call(acl, "Einsum", tuple(tensors), ctypes.c_char_p(equation.encode()), out)
    close(out, want, 5e-3)


def test_sums_of_letters_that_are_refused(acl):
    for equation, message in ((b"ij,jk->iq", "'q'"), (b"ij->ij", "1 tensors"), (b"...i,ij->j", "letter per dim"), (b"i,jk->i", "dims"),
                              (b"ij,kj->ik", "'j'"), (b"ij,jk->ii", "once"), (b"ij,jk->i,k", "','"), (b"ij,jk->,", "','")):
        assert message in refused(acl, "Einsum", (draw(2, 3), draw(3, 4)), ctypes.c_char_p(equation), zeros(acl, 2, 4)), equation
    assert "','" in refused(acl, "Einsum", (draw(2, 3),), ctypes.c_char_p(b"ij->,"), zeros(acl, 1))
    assert "bool" in refused(acl, "Einsum", (np.ones((2, 3), bool),), ctypes.c_char_p(b"ij->i"), zeros(acl, 2, kind=bool))


@pytest.mark.parametrize("rows,columns", [(4, 3), (3, 5), (3, 3), (1, 4)])
def test_qr(acl, rows, columns):
    x = draw(2, rows, columns)
    x[1, 1:, 0] = 0
    for mode, name in enumerate(("reduced", "complete", "r")):
        k = rows if mode == 1 else min(rows, columns)
        q, r = zeros(acl, 2, rows, k), zeros(acl, 2, k, columns)
        call(acl, "LinalgQr", x, LONG(mode), NULL if mode == 2 else q, r)
        for i in range(2):
            made = np.linalg.qr(x[i].astype(np.float64), name)
            np.testing.assert_allclose(r.read()[i], made if mode == 2 else made[1], atol=1e-5)
            if mode != 2:
                np.testing.assert_allclose(q.read()[i], made[0], atol=1e-5)
    assert "mode" in refused(acl, "LinalgQr", x, LONG(3), q, r)


#--- quantized tensors, formats ---------------------------------------------------------

def test_fake_quantization(acl):
    x, scale, zero = draw(3, 4, 2) * 3, np.array([.1, .25, .5, 1], F32), np.array([0, 3, -2, 1], np.int32)
    for name, factor, shift, middle in (("Channel", scale[:, None], zero[:, None], (LONG(-2),)),
                                        ("Tensor", scale[1], zero[1], (FLOAT(1),))):
        q = np.rint(x / factor) + shift
        out, mask = zeros(acl, 3, 4, 2), zeros(acl, 3, 4, 2, kind=bool)
        given = (scale, zero) if name == "Channel" else (scale[1:2], zero[1:2])
        name = f"FakeQuantPer{name}AffineCachemask"
        call(acl, name, x, *given, *middle, LONG(-8), LONG(7), out, mask)
        close(out, (np.clip(q, -8, 7) - shift) * factor, 1e-6)
        np.testing.assert_array_equal(mask.read(), (q >= -8) & (q <= 7))
        assert not mask.read().all()
        assert "quantMin" in refused(acl, name, x, *given, *middle, LONG(8), LONG(7), out, mask)
    call(acl, name, x, *given, FLOAT(0), LONG(-8), LONG(7), out, mask)
    np.testing.assert_array_equal(out.read(), x)
    assert mask.read().all()
    assert "axis 0" in refused(acl, "FakeQuantPerChannelAffineCachemask", np.array(x[0, 0, 0]), scale[:1], zero[:1], LONG(0), LONG(-8), LONG(7),
                               zeros(acl), zeros(acl, kind=bool))


def test_products_of_int8_with_scales_and_blocks(acl):
    x, w = RNG.integers(-128, 128, (3, 40)).astype(np.int8), RNG.integers(-128, 128, (40, 20)).astype(np.int8)
    scale = np.abs(draw(20)) / 100
    words = zeros(acl, 20, kind=np.int64)
    for mode in (0, 1):
        call(acl, "TransQuantParamV3", scale, NULL, LONG(mode), words)
        bits = words.read() & 0xFFFFFFFF
        kept = bits.astype(np.uint32).view(F32)
        assert ((words.read() >> 46) == 1).all() and not (bits & 0x1FFF).any()
        assert (np.abs(kept - scale) <= scale * 2 ** (-10 - mode)).all() and (mode or (kept <= scale).all())
    assert "roundMode" in refused(acl, "TransQuantParamV3", scale, NULL, LONG(2), words)
    want = x.astype(float) @ w * kept
    for turned in (False, True):
        matrix = np.ascontiguousarray(w.T if turned else w)
        rows, columns = (-(-n // size) * size for n, size in zip(matrix.shape, (16, 32)))
        padded = np.zeros((rows, columns), np.int8)
        padded[:matrix.shape[0], :matrix.shape[1]] = matrix
        blocks = np.ascontiguousarray(padded.reshape(rows // 16, 16, columns // 32, 32).transpose(2, 0, 1, 3))
        for each in (matrix, blocks):
            out = zeros(acl, 3, 20)
            call(acl, "QuantMatmulWeightNz", x, each, NULL, words, NULL, NULL, NULL, NULL, NULL, BOOL(False), BOOL(turned), LONG(0),
                 out)
            close(out, want, 1e-5)
    assert "4 of FRACTAL_NZ" in refused(acl, "QuantMatmulWeightNz", x[None], blocks, NULL, words, NULL, NULL, NULL, NULL, NULL,
                                        BOOL(False), BOOL(False), LONG(0), zeros(acl, 1, 3, 20))


def test_formats_keep_elements_in_their_order(acl):
    x = draw(20, 40, dtype=np.float16)
    tensor, made = Tensor(acl, x), zeros(acl, 20, 40, kind=np.float16)
    dims, rank, kind = ctypes.POINTER(LONG)(), ctypes.c_uint64(), ctypes.c_int()
    ask = acl.aclnnNpuFormatCastCalculateSizeAndFormat
    where = (ctypes.byref(dims), ctypes.byref(rank), ctypes.byref(kind))
    for element, want in ((-1, [3, 2, 16, 16]), (2, [2, 2, 16, 32]), (0, [5, 2, 16, 8])):
        assert ask(tensor.handle, 29, element, *where) == 0 and kind.value == 29
        assert dims[:rank.value] == want
    assert ask(tensor.handle, 2, -1, *where) == 0 and dims[:rank.value] == [20, 40]
    assert ask(tensor.handle, 3, -1, *where) == 161002 and ask(None, 29, -1, *where) == 161001
    call(acl, "NpuFormatCast", tensor, made)
    np.testing.assert_array_equal(made.read(), x)
    assert "dims" in refused(acl, "NpuFormatCast", tensor, zeros(acl, 40, 20, kind=np.float16))
