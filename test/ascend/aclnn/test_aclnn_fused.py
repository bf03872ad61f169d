# Functions of aclnn that do several steps at once: rotations that are written to caches, quantized norms and gates,
# tokens of several ranks, grids and sampled convolutions, steps of training. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each operator of another shape is compiled by a process of its own, which is most of the time: tests have shapes of
# other ones where theirs do not matter.
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, close, drawer, failed, refused, zeros  # noqa: E402, F401

RNG, draw = drawer(61)
F32, NULL = np.float32, POINTER()


def text(word):
    return ctypes.c_char_p(word)


#--- rotations --------------------------------------------------------------------------

def interleaved(x, cos, sin):
    """The even elements, then the odd ones, rotated by halves."""
    even, odd = x[..., ::2], x[..., 1::2]
    return np.concatenate([even, odd], -1) * cos + np.concatenate([-odd, even], -1) * sin


def test_heads_whose_pairs_are_neighbours(acl):
    x, cos, sin = draw(2, 3, 4, 64), draw(2, 1, 4, 64), draw(2, 1, 4, 64)
    result = zeros(acl, *x.shape)
    call(acl, "InterleaveRope", x, cos, sin, result)
    close(result, interleaved(x, cos, sin))


def test_rotation_by_a_matrix(acl):
    x, cos, sin, matrix = draw(2, 3, 4, 64), draw(2, 1, 4, 64), draw(2, 1, 4, 64), draw(64, 64) / 8
    result = zeros(acl, *x.shape)
    call(acl, "RotaryPositionEmbeddingV2", x, cos, sin, LONG(0), matrix, result)
    close(result, x * cos + (x @ matrix) * sin)
    call(acl, "RotaryPositionEmbeddingV2", x, cos, sin, LONG(0), NULL, result)
    close(result, x * cos + np.concatenate([-x[..., 32:], x[..., :32]], -1) * sin)
    for dims in ((64, 1), (2, 3, 64, 64)):
        assert "[D, D]" in refused(acl, "RotaryPositionEmbeddingV2", x, cos, sin, LONG(0), draw(*dims), result)


def from_cache(x, angles, head, neox):
    """Rotates the first elements of each head by angles [tokens, 2, half]."""
    y = x.reshape(len(x), -1, head).copy()
    half = angles.shape[2]
    cos, sin = angles[:, None, 0], angles[:, None, 1]
    first, second = (slice(0, half), slice(half, 2 * half)) if neox else (slice(0, 2 * half, 2), slice(1, 2 * half, 2))
    a, b = y[..., first].copy(), y[..., second].copy()
    y[..., first], y[..., second] = a * cos - b * sin, b * cos + a * sin
    return y.reshape(x.shape)


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize("sections", [None, [1, 2, 1]])
def test_rotations_by_a_cache_of_angles(acl, neox, sections):
    query, key, cache = draw(5, 20), draw(5, 10), draw(7, 8)
    positions = RNG.integers(0, 7, (3, 5) if sections else 5)
    rows = cache[positions].reshape(*positions.shape, 2, 4)
    if sections:
        row = np.repeat(np.arange(3), sections)
        rows = np.stack([rows[row[i], :, :, i] for i in range(4)], -1)
    results = zeros(acl, 5, 20), zeros(acl, 5, 10)
    call(acl, "RopeWithSinCosCache", positions, query, key, cache, sections or NULL, LONG(10), BOOL(neox), *results)
    for given, result in zip((query, key), results):
        close(result, from_cache(given, rows, 10, neox))
    assert "cosSinCache" in refused(acl, "RopeWithSinCosCache", positions, query, key, cache, sections or NULL, LONG(3),
                                    BOOL(neox), *results)
    positions.flat[-1] = 7
    assert "positions has 7" in failed(acl, "RopeWithSinCosCache", positions, query, key, cache, sections or NULL,
                                       LONG(10), BOOL(neox), *results)


@pytest.mark.parametrize("mode", [b"Norm", b"PA"])
def test_keys_that_are_normed_rotated_and_kept(acl, mode):
    kv, gamma, cos, sin = draw(2, 1, 3, 10), draw(6), draw(2, 1, 3, 4), draw(2, 1, 3, 4)
    normed = kv[..., :6] / np.sqrt((kv[..., :6] ** 2).mean(-1, keepdims=True) + 1e-5) * gamma
    turned = interleaved(kv[..., 6:], cos, sin)
    index = np.array([[4, 0, -1], [2, 3, 1]])
    dims = (2, 1, 5) if mode == b"Norm" else (3, 2, 1)
    keys, latents = (Tensor(acl, np.full((*dims, width), 9, F32)) for width in (4, 6))
    outs = zeros(acl, *turned.shape), zeros(acl, *normed.shape)
    given = (kv, gamma, cos, sin, index if mode == b"Norm" else np.array([4, 0, -1, 2, 3, 1]), keys, latents)
    call(acl, "KvRmsNormRopeCache", *given, NULL, NULL, NULL, NULL, DOUBLE(1e-5), text(mode), BOOL(True), *outs)
    close(outs[0], turned)
    close(outs[1], normed)
    for cache, rows in ((keys, turned), (latents, normed)):
        want = np.full(cache.array.shape, 9, F32)
        for b, s in np.ndindex(2, 3):
            if index[b, s] >= 0:
                slot = index[b, s] if mode == b"Norm" else given[4][b * 3 + s]
                want[(b, 0, slot) if mode == b"Norm" else (slot // 2, slot % 2, 0)] = rows[b, 0, s]
        close(cache, want)
    assert "PA_BNSD" in refused(acl, "KvRmsNormRopeCache", *given, NULL, NULL, NULL, NULL, DOUBLE(1e-5), text(b"PA_NZ"),
                                BOOL(False), NULL, NULL)
    given[4].flat[0] = 6
    assert "index has 6" in failed(acl, "KvRmsNormRopeCache", *given, NULL, NULL, NULL, NULL, DOUBLE(1e-5), text(mode),
                                   BOOL(False), NULL, NULL)


#--- quantized results ------------------------------------------------------------------

def near(tensor, want):
    """Integers are the wanted ones, but for a few that rounding may change by 1."""
    wrong = np.abs(tensor.read().astype(np.int64) - np.clip(want, -128, 127).astype(np.int64))
    assert wrong.max() <= 1 and (wrong > 0).mean() <= 0.1


def test_a_quantized_norm(acl):
    x, gamma, beta = draw(2, 1, 3, 6), draw(6), draw(1, 6)
    result = zeros(acl, 2, 1, 3, 6, kind=np.int8)
    scale, offset = np.array([20], F32), np.array([-3], np.int8)
    call(acl, "RmsNormQuant", x, gamma, beta, scale, offset, DOUBLE(1e-5), result)
    normed = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5) * gamma + beta
    near(result, np.rint(normed * 20 - 3))
    assert "gamma" in refused(acl, "RmsNormQuant", x, gamma[1:], beta, scale, offset, DOUBLE(1e-5), result)
    for dims in ((0, 12), (4, 0)):
        call(acl, "RmsNormQuant", draw(*dims), draw(dims[1]), draw(dims[1]), scale, offset, DOUBLE(1e-5),
             zeros(acl, *dims, kind=np.int8))


def test_a_product_of_bytes_with_a_bias_before_its_scale(acl):
    x, w = (RNG.integers(-128, 128, dims).astype(np.int8) for dims in ((3, 16), (5, 16)))
    bias, scale = RNG.integers(-999, 999, 5).astype(np.int32), RNG.random(5).astype(F32) / 500
    packed = np.zeros(5, np.int64)
    packed.view(np.uint32)[::2] = scale.view(np.uint32)
    result = zeros(acl, 3, 5, kind=np.float16)
    call(acl, "QuantMatmulV2", x, w, bias, packed, BOOL(False), BOOL(True), result)
    close(result, (x.astype(np.int64) @ w.T.astype(np.int64) + bias) * scale)


@pytest.mark.parametrize("mode, axes", [(b"pertoken", (-1,)), (b"perchannel", (-2,)), (b"pertensor", None)])
@pytest.mark.parametrize("symmetrical", [True, False])
def test_scales_of_rows_columns_and_tensors(acl, mode, axes, symmetrical):
    x = draw(2, 1, 3, 6)
    high, low = x.max(axes, keepdims=True), x.min(axes, keepdims=True)
    scale = np.abs(x).max(axes, keepdims=True) / 127 if symmetrical else (high - low) / 255
    offset = 0 * scale if symmetrical else 127 - high / scale
    dims = [1] if axes is None else [n for i, n in enumerate(x.shape) if i - 4 not in axes]
    result, scales, offsets = zeros(acl, *x.shape, kind=np.int8), zeros(acl, *dims), zeros(acl, *dims)
    call(acl, "DynamicQuantV3", x, NULL, NULL, LONG(2), BOOL(symmetrical), text(mode), result, scales,
         NULL if symmetrical else offsets)
    near(result, np.rint(x / scale + offset))
    close(scales, scale.reshape(dims))
    if not symmetrical:
        close(offsets, offset.reshape(dims))
    call(acl, "DynamicQuantV3", draw(0, 6), NULL, NULL, LONG(2), BOOL(symmetrical), text(mode),
         zeros(acl, 0, 6, kind=np.int8), zeros(acl, {b"pertoken": 0, b"perchannel": 6}.get(mode, 1)), NULL)
    assert "pertensor" in refused(acl, "DynamicQuantV3", x, NULL, NULL, LONG(2), BOOL(symmetrical), text(b"all"), result,
                                  scales, NULL)


@pytest.mark.parametrize("variant", [0, 1])
@pytest.mark.parametrize("kind", [np.int32, F32])
def test_gates_of_groups_with_biases(acl, variant, kind):
    x = RNG.integers(-900, 900, (5, 12)).astype(np.int32)
    weights, rows = (RNG.random((2, 12)) / 50).astype(F32), (RNG.random(5) + .5).astype(F32)
    bias = (RNG.standard_normal((2, 12)) * (100 if kind is np.int32 else 1)).astype(kind)
    group = np.array([0, 0, 1, 1, 1])
    first = (x + bias[group] if kind is np.int32 else x) * weights[group] * rows[:, None]
    all = first if kind is np.int32 else first + bias[group]
    gate, other = (all[:, ::2], all[:, 1::2]) if variant else (all[:, :6], all[:, 6:])
    if variant:
        gate, other = np.minimum(gate, 2), np.clip(other, -2, 2) + .5
    value = gate / (1 + np.exp(-(1.7 if variant else 1) * gate)) * other
    scale = np.abs(value).max(1, keepdims=True) / 127
    result, scales = zeros(acl, 5, 6, kind=np.int8), zeros(acl, 5)
    given = (x, weights, rows, bias, NULL, NULL, np.array([2, 3]), BOOL(True), text(b"dynamic"), LONG(2), text(b"rint"))
    more = (DOUBLE(2), DOUBLE(1.7), DOUBLE(.5), result, scales)
    call(acl, "DequantSwigluQuantV2", *given, LONG(-1), LONG(variant), *more)
    near(result, np.rint(value / scale))
    close(scales, scale[:, 0])
    assert "activateDim is 0" in refused(acl, "DequantSwigluQuantV2", *given, LONG(0), LONG(variant), *more)


#--- experts and training ---------------------------------------------------------------

@pytest.mark.parametrize("kind", [0, 1])
def test_tokens_of_ranks_are_sorted_by_experts(acl, kind):
    counts = np.array([[2, 0, 3], [1, 4, 0]])
    tokens, scales = draw(10, 4).astype(np.float16), draw(10)
    expert = np.repeat(np.tile(np.arange(3), 2), counts.ravel())
    order = np.argsort(expert, kind="stable")
    moved, units = zeros(acl, 10, 4, kind=np.float16), zeros(acl, 10)
    index, numbers = zeros(acl, 10, kind=np.int32), zeros(acl, 3, kind=np.int64)
    call(acl, "MoeReRouting", tokens, counts, scales, LONG(kind), LONG(kind), moved, units, index, numbers)
    np.testing.assert_array_equal(moved.read(), tokens[order])
    np.testing.assert_array_equal(units.read(), scales[order])
    np.testing.assert_array_equal(index.read(), np.argsort(order) if kind else order)
    np.testing.assert_array_equal(numbers.read(), counts.sum(0) if kind else counts.sum(0).cumsum())
    counts[0, 0] = 1
    failed(acl, "MoeReRouting", tokens, counts, NULL, LONG(1), LONG(0), moved, NULL, index, numbers)


def test_gradients_of_the_weights_of_groups(acl):
    x, w, y = draw(4, 4), draw(4, 5), draw(3, 4, 5)
    result = Tensor(acl, y)
    call(acl, "GroupedMatmulAdd", x, w, np.array([2, 2, 4]), result, BOOL(True), BOOL(False), LONG(2))
    close(result, [y[0] + x[:2].T @ w[:2], y[1], y[2] + x[2:].T @ w[2:]])
    # Sums of halves stay floats until they are added.
    big = Tensor(acl, y)
    call(acl, "GroupedMatmulAdd", np.full((4, 4), 300, np.float16), np.full((4, 5), 301, np.float16), np.array([2, 2, 4]),
         big, BOOL(True), BOOL(False), LONG(2))
    close(big, [y[0] + 2 * 90300, y[1], y[2] + 2 * 90300])
    assert "groups, m, n" in refused(acl, "GroupedMatmulAdd", x, w, np.array([2, 2, 4]), Tensor(acl, draw(4, 3, 5)),
                                     BOOL(True), BOOL(False), LONG(2))
    assert "groupList has 1" in refused(acl, "GroupedMatmulAdd", x, w, np.array([2, 1, 4]), result, BOOL(True), BOOL(False),
                                        LONG(2))


def test_gradients_that_are_scaled_back(acl):
    a, b, found = Tensor(acl, draw(3, 2)), Tensor(acl, draw(4)), zeros(acl, 1)
    call(acl, "ForeachNonFiniteCheckAndUnscale", (a, b), found, np.array([.25], F32))
    close(a, a.array / 4)
    close(b, b.array / 4)
    assert found.read()[0] == 0
    call(acl, "ForeachNonFiniteCheckAndUnscale", (a, np.array([1, np.inf], F32)), found, np.array([2], F32))
    assert found.read()[0] == 1


@pytest.mark.parametrize("power", [1., 2., np.inf])
def test_rows_of_an_embedding_have_a_norm_at_most(acl, power):
    x = Tensor(acl, draw(6, 5) * np.arange(6, dtype=F32)[:, None] / 3)
    names = np.array([[1, 4], [4, 5]])
    call(acl, "EmbeddingRenorm", x, names, DOUBLE(1.5), DOUBLE(power))
    want = x.array.copy()
    for row in (1, 4, 5):
        norm = np.linalg.norm(want[row], power)
        want[row] *= 1.5 / norm if norm > 1.5 else 1
    close(x, want)
    names[0, 0] = 6
    assert "indices has 6" in failed(acl, "EmbeddingRenorm", x, names, DOUBLE(1.5), DOUBLE(power))


#--- grids, sampled convolutions, divisors ----------------------------------------------

@pytest.mark.parametrize("corners", [True, False])
@pytest.mark.parametrize("dims", [(3, 4), (2, 3, 4)])
def test_grids_of_affine_maps(acl, corners, dims):
    axes = len(dims)
    theta, result = draw(2, axes, axes + 1), zeros(acl, 2, *dims, axes)
    call(acl, "AffineGrid", theta, [2, 5, *dims], BOOL(corners), result)
    lines = [np.linspace(-1, 1, n) if corners else (2 * np.arange(n) + 1) / n - 1 for n in dims]
    base = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(dims)], -1)
    close(result, np.einsum("...k,njk->n...j", base, theta))
    assert "size" in refused(acl, "AffineGrid", theta, [2, 5, *dims[1:]], BOOL(corners), result)


def test_convolutions_of_sampled_images(acl):
    groups, parts, top, right = 2, 4, 1, 2
    x, w, bias = draw(2, 4, 6, 5), draw(6, 2, 3, 2), draw(6)
    out = (3, 6)  # (6 + 1 + 1 - 2 - 1) / 2 + 1, (5 + 1 + 2 - 2 - 1) / 1 + 1
    offset = draw(2, 3 * parts * 6, *out)
    shift = offset.reshape(2, 3, parts, 3, 2, *out)
    samples = np.zeros((2, 4, out[0], 3, out[1], 2))
    for n, c, h, v, i, j in np.ndindex(2, 4, *out, 3, 2):
        at = shift[n, :, c // (4 // parts), i, j, h, v]
        y, z = h * 2 - top + i + at[1], v - 1 + j * 2 + at[0]
        for row in range(6):
            for column in range(5):
                near_by = max(0, 1 - abs(y - row)) * max(0, 1 - abs(z - column))
                samples[n, c, h, i, v, j] += near_by * at[2] * x[n, c, row, column]
    want = np.einsum("ngchivj,gocij->ngohv", samples.reshape(2, groups, 2, out[0], 3, out[1], 2),
                     w.reshape(groups, 3, 2, 3, 2)).reshape(2, 6, *out) + bias[:, None, None]
    result, sampled = zeros(acl, 2, 6, *out), zeros(acl, 2, 4, out[0] * 3, out[1] * 2)
    sizes = [3, 2], [1, 1, 2, 1], [top, 1, 1, right], [1, 1, 1, 2]
    call(acl, "DeformableConv2d", x, w, offset, bias, *sizes, LONG(groups), LONG(parts), BOOL(True), result, sampled)
    close(sampled, samples.reshape(2, 4, out[0] * 3, out[1] * 2))
    close(result, want)
    assert "offset" in refused(acl, "DeformableConv2d", x, w, offset[:, 1:], bias, *sizes, LONG(groups), LONG(parts),
                               BOOL(True), result, NULL)
    one = np.ones((1, 1, 2, 2), F32), np.ones((1, 1, 3, 3), F32), np.zeros((1, 27, 1, 1), F32), NULL
    result = zeros(acl, 1, 1, 1, 1)
    assert "larger" in refused(acl, "DeformableConv2d", *one, [3, 3], [1, 1, 2, 2], [0, 0, 0, 0], [1, 1, 1, 1], LONG(1),
                               LONG(1), BOOL(True), result, NULL)
    assert "groups" in refused(acl, "DeformableConv2d", draw(1, 0, 2, 2), draw(0, 0, 1, 1), draw(1, 3, 2, 2), NULL, [1, 1],
                               [1] * 4, [0] * 4, [1] * 4, LONG(2**62), LONG(2**62), BOOL(True), draw(1, 0, 2, 2), NULL)
    for stride, dilation in ([[7, 1, 2, 2], [1, 1, 1, 1]], [[1, 1, 2, 2], [1, 9, 1, 1]]):
        assert "first two" in refused(acl, "DeformableConv2d", *one, [3, 3], stride, [1, 1, 0, 0], dilation, LONG(1),
                                      LONG(1), BOOL(True), result, NULL)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_common_divisors(acl, kind):
    a = np.array([[12, -18, 0], [7, 0, np.iinfo(kind).min]], kind)
    b = np.array([8, 27, 0], kind)
    result = zeros(acl, 2, 3, kind=kind)
    call(acl, "Gcd", a, b, result)
    # The divisor of the least number is as large, which wraps to the number itself.
    np.testing.assert_array_equal(result.read(), [[4, 9, 0], [1, 27, np.iinfo(kind).min]])
    assert "whole numbers" in refused(acl, "Gcd", a.astype(F32), b, result)
