# Attention, mixtures of experts, norms, losses and resampled images of aclnn, against NumPy. Run
# with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, drawer, failed, refused  # noqa: E402, F401

RNG, draw = drawer(17)
F32, F16, FLOAT, NULL = np.float32, np.float16, ctypes.c_float, POINTER()
HUGE = LONG(2 ** 31 - 1)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


#--- attention ------------------------------------------------------------------

Q, K, V = draw(2, 4, 5, 16, dtype=F16), draw(2, 2, 6, 16, dtype=F16), draw(2, 2, 6, 16, dtype=F16)
SHIFT = draw(2, 4, 5, 6, dtype=F16)
MASK = RNG.random((2, 1, 5, 6)) > 0.7
MASK[..., 0] = False
ROW, COLUMN = np.arange(5)[:, None], np.arange(6)


def scores(shift=0, first=False, q=Q):
    products = np.einsum("bnsd,bntd->bnst", q.astype(F32), K.astype(F32).repeat(2, 1))
    return (products + shift) / 4 if first else products / 4 + shift


def attended(values, hidden):
    return np.einsum("bnst,bntd->bnsd", softmax(np.where(hidden, -1e30, values)), V.astype(F32).repeat(2, 1))


def arranged(x, layout):
    if layout == "BNSD":
        return x
    x = x.transpose(0, 2, 1, 3)
    if layout == "SBH":
        x = x.transpose(1, 0, 2, 3)
    return np.ascontiguousarray(x.reshape((*x.shape[:2], -1)) if layout in ("BSH", "SBH") else x)


def back(x, layout, shape):
    """Undoes arranged."""
    batch, heads, rows, width = shape
    if layout == "BNSD":
        return x.astype(np.float64)
    x = x.reshape(rows, batch, heads, width).transpose(1, 2, 0, 3) if layout == "SBH" else x.reshape(
        batch, rows, heads, width).transpose(0, 2, 1, 3)
    return x.astype(np.float64)


def close(tensor, want):
    np.testing.assert_allclose(tensor.read(), want, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("layout", ["BNSD", "BSH", "SBH", "BSND"])
def test_attention_for_training(acl, layout):
    """It adds the shift in front of the scaling, and tells the largest score and the sum of each row."""
    q, k, v = (arranged(x, layout) for x in (Q, K, V))
    out = Tensor(acl, np.zeros_like(q))
    largest, total = (Tensor(acl, np.zeros((2, 4, 5, 8), F32)) for _ in range(2))
    call(acl, "FlashAttentionScore", q, k, v, SHIFT, NULL, NULL, MASK, NULL, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(4),
         layout.encode(), LONG(0), LONG(1), largest, total, NULL, out)
    values = np.where(MASK, -1e30, scores(SHIFT, first=True))
    close(out, arranged(attended(values, MASK), layout))
    close(largest, values.max(-1, keepdims=True).repeat(8, -1))
    close(total, np.exp(values - values.max(-1, keepdims=True)).sum(-1, keepdims=True).repeat(8, -1))
    assert "give dropMask" in refused(acl, "FlashAttentionScore", q, k, v, NULL, NULL, NULL, NULL, NULL, DOUBLE(0.25), DOUBLE(0.9),
                                 HUGE, HUGE, LONG(4), layout.encode(), LONG(0), LONG(0), largest, total, NULL, out)


@pytest.mark.parametrize("layout", ["BNSD", "BSH", "SBH", "BSND"])
def test_gradients_of_attention(acl, layout):
    """By differences, with heads that share keys, a shift and a mask, which hides a row whole."""
    g, mask = draw(2, 4, 5, 16, dtype=F16), MASK.copy()
    mask[1, 0, 2] = True

    def result(q, k, v, shift):
        products = np.einsum("bnsd,bntd->bnst", q, k.repeat(2, 1))
        weights = softmax(np.where(mask, -1e30, (products + shift) / 4))
        return np.einsum("bnst,bntd->bnsd", weights, v.repeat(2, 1))
    values = [x.astype(np.float64) for x in (Q, K, V, SHIFT)]
    outputs = [Tensor(acl, np.zeros_like(arranged(x, layout))) for x in (Q, K, V)] + [Tensor(acl, np.zeros(SHIFT.shape, F32))]
    call(acl, "FlashAttentionScoreGrad", *(arranged(x, layout) for x in (Q, K, V, g)), SHIFT, NULL, NULL, mask, *[NULL] * 5,
         DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(4), layout.encode(), LONG(0), LONG(1), *outputs)
    positions = np.random.default_rng(1)
    for at, (x, output) in enumerate(zip(values, outputs)):
        whole = output.read().astype(np.float64) if at == 3 else back(output.read(), layout, x.shape)
        for _ in range(12):
            place = tuple(positions.integers(0, n) for n in x.shape)
            moved = [v.copy() for v in values]
            moved[at][place] += 1e-4
            high = result(*moved)
            moved[at][place] -= 2e-4
            want = ((high - result(*moved)) * g).sum() / 2e-4
            assert abs(whole[place] - want) < 0.02 * max(1, abs(want)), (at, place, whole[place], want)
        if at in (0, 3):
            assert not whole[1, :, 2].any()
    # The gradients may take the positions of what they are those of.
    own = [Tensor(acl, arranged(x, layout)) for x in (Q, K, V)]
    call(acl, "FlashAttentionScoreGrad", *own, arranged(g, layout), SHIFT, NULL, NULL, mask, *[NULL] * 5, DOUBLE(0.25), DOUBLE(1), HUGE,
         HUGE, LONG(4), layout.encode(), LONG(0), LONG(1), *own, NULL)
    for tensor, output in zip(own, outputs):
        np.testing.assert_array_equal(tensor.read(), output.read())
    assert "do not fit" in refused(acl, "FlashAttentionScoreGrad", *(arranged(x, layout) for x in (Q, K[:, :, :4].copy(), V, g)), NULL,
                                   NULL, NULL, NULL, *[NULL] * 5, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(4), layout.encode(), LONG(0),
                                   LONG(1), outputs[0], outputs[1], outputs[2], NULL)


@pytest.mark.parametrize("mode, before, after, masked, hidden", [
    (0, 0, 0, False, np.zeros((5, 6), bool)),  # without a mask the numbers have no meaning
    (0, 1, 2, True, (COLUMN > ROW + 2) | (COLUMN < ROW - 1)),
    (1, 0, 0, True, np.zeros((5, 6), bool)), (2, 0, 0, False, COLUMN > ROW), (3, 0, 0, False, COLUMN > ROW + 1),
    (4, 1, 1, False, (COLUMN > ROW + 2) | (COLUMN < ROW))])
def test_modes_of_attention(acl, mode, before, after, masked, hidden):
    mask = np.broadcast_to(COLUMN[:1] > 9, (2, 1, 5, 6)).copy()
    want = attended(scores(), hidden)
    out = Tensor(acl, np.zeros_like(Q))
    call(acl, "PromptFlashAttentionV3", Q, K, V, NULL, mask if masked else NULL, NULL, NULL, *[NULL] * 5, LONG(4), DOUBLE(0.25),
         LONG(before), LONG(after), b"BNSD", LONG(2), LONG(mode), LONG(0), out)
    close(out, want)
    out, lse = Tensor(acl, np.zeros_like(Q)), Tensor(acl, np.zeros((2, 4, 5, 1), F32))
    call(acl, "FusedInferAttentionScore", Q, (K,), (V,), NULL, mask if masked else NULL, NULL, NULL, *[NULL] * 10, LONG(4),
         DOUBLE(0.25), LONG(before), LONG(after), b"BNSD", LONG(2), LONG(mode), LONG(0), LONG(0), LONG(0), BOOL(True), out, lse)
    close(out, want)
    values = np.where(hidden, -1e30, scores())
    close(lse, values.max(-1, keepdims=True) + np.log(np.exp(values - values.max(-1, keepdims=True)).sum(-1, keepdims=True)))


def test_sequences_of_several_lengths(acl):
    rows, lengths = np.array([3, 5]), np.array([2, 6])
    hidden = COLUMN >= lengths[:, None, None, None]
    want = np.where(ROW >= rows[:, None, None, None], 0, attended(scores(), hidden))
    out = Tensor(acl, np.ones_like(Q))
    call(acl, "PromptFlashAttentionV2", Q, K, V, NULL, NULL, [3, 5], [2, 6], *[NULL] * 5, LONG(4), DOUBLE(0.25), HUGE, HUGE,
         b"BNSD", LONG(2), LONG(0), out)
    close(out, want)
    # The triangle ends at the last row of each batch.
    hidden = hidden | (COLUMN > ROW + (lengths - rows)[:, None, None, None])
    hidden[..., 0] &= (lengths < rows)[:, None, None]  # rows without any key have no meaning
    call(acl, "PromptFlashAttentionV2", Q, K, V, NULL, NULL, [3, 5], [2, 6], *[NULL] * 5, LONG(4), DOUBLE(0.25), HUGE, HUGE,
         b"BNSD", LONG(2), LONG(3), out)
    want = np.where(ROW >= rows[:, None, None, None], 0, attended(scores(), hidden))
    np.testing.assert_allclose(out.read()[1], want[1], rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(out.read()[0, :, 1:], want[0, :, 1:], rtol=2e-2, atol=2e-2)
    call(acl, "PromptFlashAttention", Q, K, V, SHIFT, NULL, NULL, LONG(4), DOUBLE(0.25), LONG(0), LONG(0), b"BNSD", LONG(2), out)
    close(out, attended(scores(SHIFT), False))
    assert "there are 6 rows" in refused(acl, "PromptFlashAttentionV2", Q, K, V, NULL, NULL, NULL, [2, 7], *[NULL] * 5, LONG(4),
                                         DOUBLE(0.25), HUGE, HUGE, b"BNSD", LONG(2), LONG(0), out)


def test_attention_of_one_row(acl):
    """No mode hides keys of a single row; lengths do."""
    one = Q[:, :, :1].copy()
    out = Tensor(acl, np.zeros_like(one))
    want = attended(scores(q=one), COLUMN >= np.array([4, 6])[:, None, None, None])
    call(acl, "IncreFlashAttention", one, (K,), (V,), NULL, NULL, [4, 6], LONG(4), DOUBLE(0.25), b"BNSD", LONG(2), out)
    close(out, want)
    call(acl, "IncreFlashAttentionV4", one, (K,), (V,), NULL, NULL, [4, 6], *[NULL] * 9, LONG(4), DOUBLE(0.25), b"BNSD", LONG(2),
         LONG(0), LONG(1), out)
    close(out, want)
    for mode in (2, 3):
        call(acl, "PromptFlashAttentionV3", one, K, V, NULL, NULL, NULL, [4, 6], *[NULL] * 5, LONG(4), DOUBLE(0.25), HUGE,
             LONG(0), b"BNSD", LONG(2), LONG(mode), LONG(0), out)
        close(out, want)


@pytest.mark.parametrize("dims", [(5, 6), (2, 5, 6), (1, 5, 6), (2, 4, 5, 6), (2, 32, 32)])
def test_dims_of_masks(acl, dims):
    """A mask of 3 dims is one for each batch and not for each head, also with as many heads as batches."""
    mask = RNG.random(dims) > 0.5
    mask[..., 0] = False
    hidden = mask[:, None] if len(dims) == 3 else mask
    q, keys, values = Q[:, :2].copy(), K, V
    for heads, given in ((4, Q), (2, q)):
        if len(dims) == 4 and heads == 2:
            continue
        out = Tensor(acl, np.zeros_like(given))
        call(acl, "FusedInferAttentionScore", given, (keys,), (values,), NULL, mask, NULL, NULL, *[NULL] * 10, LONG(heads),
             DOUBLE(0.25), HUGE, HUGE, b"BNSD", LONG(2), LONG(1), LONG(0), LONG(0), LONG(0), BOOL(False), out, NULL)
        products = np.einsum("bnsd,bntd->bnst", given.astype(F32), keys.astype(F32).repeat(heads // 2, 1)) / 4
        weights = softmax(np.where(hidden[..., :5, :6], -1e30, products))
        close(out, np.einsum("bnst,bntd->bnsd", weights, values.astype(F32).repeat(heads // 2, 1)))


@pytest.mark.parametrize("dims", [(2, 6), (2, 1, 6), (2, 1, 1, 6), (1, 6), (2, 32)])
def test_dims_of_masks_of_one_row(acl, dims):
    mask = RNG.random(dims) > 0.5
    mask[..., 0] = False
    one = Q[:, :, :1].copy()
    out = Tensor(acl, np.zeros_like(one))
    call(acl, "IncreFlashAttention", one, (K,), (V,), NULL, mask, NULL, LONG(4), DOUBLE(0.25), b"BNSD", LONG(2), out)
    close(out, attended(scores(q=one), mask[..., :6].reshape(-1, 1, 1, 6)))
    assert "cannot be broadcast" in refused(acl, "IncreFlashAttention", one, (K,), (V,), NULL, np.zeros((3, 6), bool), NULL, LONG(4),
                                            DOUBLE(0.25), b"BNSD", LONG(2), out)


@pytest.mark.parametrize("layout, cache", [("BNSD", "BnNBsD"), ("BSND", "BnBsND"), ("BSH", "BnBsH"), ("BNSD", "BnBsH")])
def test_keys_in_blocks(acl, layout, cache):
    """Blocks lie in any order; those behind the end of a batch are not looked at."""
    size, lengths, table = 4, np.array([3, 6]), np.array([[4, -7], [1, 3]], np.int32)
    one = Q[:, :, :1].copy()
    caches = []
    for whole in (K, V):
        blocks = np.full((5, 2, size, 16), np.nan, np.float16)
        for batch in range(2):
            for token in range(lengths[batch]):
                blocks[table[batch, token // size], :, token % size] = whole[batch, :, token]
        if cache != "BnNBsD":
            blocks = np.ascontiguousarray(blocks.transpose(0, 2, 1, 3))
        caches.append(blocks.reshape(5, size, 32) if cache == "BnBsH" else blocks)
    q = arranged(one, layout)
    want = arranged(attended(scores(q=one), COLUMN >= lengths[:, None, None, None]), layout)
    out = Tensor(acl, np.zeros_like(q))
    call(acl, "IncreFlashAttentionV4", q, (caches[0],), (caches[1],), NULL, NULL, list(lengths), *[NULL] * 7, table, NULL, LONG(4),
         DOUBLE(0.25), layout.encode(), LONG(2), LONG(size), LONG(1), out)
    close(out, want)
    out = Tensor(acl, np.zeros_like(q))
    fused = [q, (caches[0],), (caches[1],), NULL, NULL, NULL, list(lengths), *[NULL] * 7, table, NULL, NULL, LONG(4), DOUBLE(0.25), HUGE,
             HUGE, layout.encode(), LONG(2), LONG(0), LONG(0), LONG(size), LONG(0), BOOL(False), out, NULL]
    call(acl, "FusedInferAttentionScore", *fused)
    close(out, want)
    fused[6] = NULL
    assert "lengths of the keys be given" in refused(acl, "FusedInferAttentionScore", *fused)
    fused[6] = [3, 9]
    assert "2 blocks of 4" in refused(acl, "FusedInferAttentionScore", *fused)
    fused[6] = [5, 6]
    assert "blockTable has -7 for block 1 of batch 0" in failed(acl, "FusedInferAttentionScore", *fused)


@pytest.mark.parametrize("kind", ["all", "elements", "tokens"])
def test_keys_of_integers(acl, kind):
    shape = {"all": (2, 1), "elements": (2, 2, 1, 16), "tokens": (2, 2, 6)}[kind]
    scale, offset = RNG.uniform(0.01, 0.03, shape).astype(np.float16), RNG.uniform(-3, 3, shape).astype(np.float16)
    keys, values = (RNG.integers(-128, 128, (2, 2, 6, 16)).astype(np.int8) for _ in range(2))

    def whole(x, at):
        dims = {"all": (1, 1, 1, 1), "elements": (1, 2, 1, 16), "tokens": (2, 1, 6, 1)}[kind]
        return (x + offset[at].astype(F32).reshape(dims)) * scale[at].astype(F32).reshape(dims)
    products = np.einsum("bnsd,bntd->bnst", Q.astype(F32), whole(keys, 0).repeat(2, 1)) / 4
    want = np.einsum("bnst,bntd->bnsd", softmax(products), whole(values, 1).repeat(2, 1))
    mode = LONG(kind == "tokens")
    tail = LONG(4), DOUBLE(0.25), HUGE, HUGE, b"BNSD", LONG(2), LONG(0), LONG(0), LONG(0)
    out = Tensor(acl, np.zeros_like(Q))
    call(acl, "FusedInferAttentionScore", Q, (keys,), (values,), *[NULL] * 9, scale, offset, *[NULL] * 3, *tail, mode, BOOL(False), out, NULL)
    close(out, want)
    out = Tensor(acl, np.zeros_like(Q))
    halves = scale[0].copy(), offset[0].copy(), scale[1].copy(), offset[1].copy()
    call(acl, "FusedInferAttentionScoreV2", Q, (keys,), (values,), *[NULL] * 14, *halves, *[NULL] * 3, *tail, LONG(0), BOOL(False), mode,
         mode, out, NULL)
    close(out, want)
    assert "give an antiquant scale" in refused(acl, "FusedInferAttentionScore", Q, (keys,), (values,), *[NULL] * 14, *tail, mode,
                                                BOOL(False), out, NULL)
    assert "must have 1 element" in refused(acl, "FusedInferAttentionScore", Q, (keys,), (values,), *[NULL] * 9, np.ones((2, 5), np.float16),
                                            *[NULL] * 4, *tail, mode, BOOL(False), out, NULL)


@pytest.mark.parametrize("mode", [0, 1])
def test_modes_of_antiquant_scales(acl, mode):
    """As many numbers may be those of elements or of tokens."""
    q, scale = draw(1, 1, 16, 16, dtype=F16), RNG.uniform(0.01, 0.1, (2, 1, 16)).astype(F16)
    keys, values = (RNG.integers(-128, 128, (1, 1, 16, 16)).astype(np.int8) for _ in range(2))
    k, v = (x * scale[at].astype(F32).reshape((1, 1, 16, 1) if mode else (1, 1, 1, 16)) for at, x in enumerate((keys, values)))
    want = np.einsum("bnst,bntd->bnsd", softmax(np.einsum("bnsd,bntd->bnst", q.astype(F32), k) / 4), v)
    tail = LONG(1), DOUBLE(0.25), HUGE, HUGE, b"BNSD", LONG(1), LONG(0), LONG(0), LONG(0)
    out = Tensor(acl, np.zeros_like(q))
    call(acl, "FusedInferAttentionScore", q, (keys,), (values,), *[NULL] * 9, scale, *[NULL] * 4, *tail, LONG(mode), BOOL(False), out, NULL)
    close(out, want)
    out = Tensor(acl, np.zeros_like(q))
    call(acl, "FusedInferAttentionScoreV2", q, (keys,), (values,), *[NULL] * 14, scale[0].copy(), NULL, scale[1].copy(), *[NULL] * 4, *tail,
         LONG(1 - mode), BOOL(False), LONG(mode), LONG(mode), out, NULL)
    close(out, want)


def test_floats_have_no_antiquant_scales(acl):
    out, one = Tensor(acl, np.zeros_like(Q)), np.ones(1, F16)
    tail = LONG(4), DOUBLE(0.25), HUGE, HUGE, b"BNSD", LONG(2), LONG(0), LONG(0), LONG(0), LONG(0), BOOL(False), LONG(0), LONG(0), out, NULL
    for at in range(4):
        given = [one if i == at else NULL for i in range(4)]
        message = refused(acl, "FusedInferAttentionScoreV2", Q, (K,), (V,), *[NULL] * 14, *given, *[NULL] * 3, *tail)
        assert ("key", "value")[at // 2] + " is not of integers" in message


def test_errors_name_the_function_that_was_called(acl):
    out = Tensor(acl, np.zeros_like(Q))
    for name, parts, modes in (("FusedInferAttentionScore", [], []), ("FusedInferAttentionScoreV2", [NULL] * 7, [LONG(0)] * 2),
                               ("FusedInferAttentionScoreV3", [NULL] * 10, [LONG(0)] * 2)):
        message = refused(acl, name, Q, (K,), (V,), *[NULL] * 14, *parts, LONG(4), DOUBLE(0.25), HUGE, HUGE, b"XYZ", LONG(2), LONG(0),
                          LONG(0), LONG(0), LONG(0), BOOL(False), *modes, out, NULL)
        assert name + "GetWorkspaceSize" in message and "inputLayout" in message


def test_positions_that_lack_a_tensor_are_refused(acl):
    for at, word in enumerate(("belong together", "belong together", "scales of the rope")):
        given = [Q if i == at else NULL for i in range(3)]
        assert word in refused(acl, "FusedInferAttentionScoreV3", Q, (K,), (V,), *[NULL] * 21, *given, LONG(4), DOUBLE(0.25),
                                                 HUGE, HUGE, b"BSND", LONG(2), *[LONG(0)] * 4, BOOL(False), *[LONG(0)] * 2,
                                                 Tensor(acl, np.zeros_like(Q)), NULL)


@pytest.mark.parametrize("mode, outer", [(None, 1), ("half", 1), ("quarter", 2), ("interleave", 4)])
def test_rotated_in_place(acl, mode, outer):
    q, k, angle = draw(1, 3, 4, 8), draw(1, 3, 2, 8), draw(1, 3, 1, 8)

    def turned(x):
        pairs = x.reshape(*x.shape[:-1], outer, 2, 4 // outer)
        half = np.stack([-pairs[..., 1, :], pairs[..., 0, :]], -2).reshape(x.shape)
        return x * np.cos(angle) + half * np.sin(angle)
    first, second = Tensor(acl, q), Tensor(acl, k)
    more = (mode.encode(),) if mode else ()
    call(acl, "ApplyRotaryPosEmb" + ("V2" if mode else ""), first, second, np.cos(angle), np.sin(angle), LONG(1), *more)
    np.testing.assert_allclose(first.read(), turned(q), atol=1e-5)
    np.testing.assert_allclose(second.read(), turned(k), atol=1e-5)


def test_rotations_that_are_refused(acl):
    x = Tensor(acl, draw(1, 3, 4, 8))
    assert "rotaryMode must be" in refused(acl, "ApplyRotaryPosEmbV2", x, x, x, x, LONG(1), b"full")


#--- mixtures of experts ----------------------------------------------------------

def test_products_of_groups(acl):
    x, weights = draw(5, 16, dtype=F16), draw(3, 16, 8, dtype=F16)
    want = np.concatenate([x[a:b].astype(F32) @ weights[i] for i, (a, b) in enumerate(((0, 2), (2, 2), (2, 5)))])
    out = Tensor(acl, np.zeros((5, 8), F16))
    quantized = [NULL] * 5
    call(acl, "GroupedMatmul", (x,), (weights,), *quantized, [2, 2, 5], LONG(3), (out,))
    close(out, want)
    call(acl, "GroupedMatmulV2", (x,), (weights,), *quantized, [2, 2, 5], LONG(3), LONG(0), (out,))
    close(out, want)
    call(acl, "GroupedMatmulV4", (x,), (weights,), *quantized, NULL, np.array([2, 0, 3]), *[NULL] * 3, LONG(3), LONG(0), LONG(1),
         LONG(0), (out,), NULL, NULL)
    close(out, want)
    apart = tuple(Tensor(acl, np.zeros((2, 8), F16)) for _ in range(2))
    call(acl, "GroupedMatmul", (x[:2].copy(), x[2:4].copy()), (weights[0].copy(), weights[1].copy()), *quantized, NULL, LONG(0), apart)
    close(apart[1], x[2:4].astype(F32) @ weights[1])
    assert "for each of 3" in refused(acl, "GroupedMatmul", (x,), (weights,), *quantized, [2, 5], LONG(3), (out,))


def test_tokens_find_their_experts(acl):
    tokens, experts, k, width = 6, 4, 2, 8
    x, gates = draw(tokens, width), draw(tokens, experts)
    shares, named, rows = (Tensor(acl, np.zeros((tokens, k), kind)) for kind in (F32, np.int32, np.int32))
    call(acl, "MoeGatingTopKSoftmax", gates, NULL, LONG(k), shares, named, rows)
    order = np.argsort(-gates, 1)[:, :k]
    np.testing.assert_array_equal(named.read(), order)
    np.testing.assert_allclose(shares.read(), np.take_along_axis(softmax(gates), order, 1), rtol=1e-4)
    np.testing.assert_array_equal(rows.read(), np.arange(tokens * k).reshape(k, tokens).T)
    done = np.array([0, 1, 0, 0, 0, 0], bool)
    other = Tensor(acl, np.zeros((tokens, k), np.int32))
    call(acl, "MoeGatingTopKSoftmax", gates, done, LONG(k), shares, other, rows)
    np.testing.assert_array_equal(other.read(), np.where(done[:, None], experts, order))

    moved, positions, sorted_ = Tensor(acl, np.zeros((tokens * k, width), F32)), *(
        Tensor(acl, np.zeros(tokens * k, np.int32)) for _ in range(2))
    call(acl, "MoeInitRouting", x, rows, named, LONG(tokens), moved, positions, sorted_)
    flat = np.argsort(order.reshape(-1), kind="stable")
    source = rows.read().reshape(-1)[flat]
    np.testing.assert_array_equal(sorted_.read(), np.sort(order.reshape(-1)))
    np.testing.assert_array_equal(moved.read(), x[source % tokens])
    np.testing.assert_array_equal(positions.read()[source], np.arange(tokens * k))
    ends = Tensor(acl, np.zeros(experts, np.int32))
    call(acl, "MoeComputeExpertTokens", sorted_, LONG(experts), ends)
    np.testing.assert_array_equal(ends.read(), np.cumsum(np.bincount(order.reshape(-1), minlength=experts)))

    bias, skip, out = draw(experts, width), draw(tokens, width), Tensor(acl, np.zeros((tokens, width), F32))
    call(acl, "MoeFinalizeRouting", moved, skip, NULL, bias, shares, positions, named, out)
    want = skip + sum(np.take_along_axis(softmax(gates), order, 1)[:, i:i + 1] * (x + bias[order[:, i]]) for i in range(k))
    np.testing.assert_allclose(out.read(), want, rtol=1e-4, atol=1e-4)


#--- norms and losses ---------------------------------------------------------------

def test_norm_of_a_sum(acl):
    a, b, gamma, beta, bias = draw(2, 3, 8), draw(2, 3, 8), draw(8), draw(8), draw(8)
    y, x = (Tensor(acl, np.zeros((2, 3, 8), F32)) for _ in range(2))
    mean, rstd = (Tensor(acl, np.zeros((2, 3, 1), F32)) for _ in range(2))
    call(acl, "AddLayerNorm", a, b, gamma, beta, bias, DOUBLE(1e-5), BOOL(True), y, mean, rstd, x)
    both = a + b + bias
    spread = 1 / np.sqrt(both.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y.read(), (both - both.mean(-1, keepdims=True)) * spread * gamma + beta, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(x.read(), both, rtol=1e-6)
    np.testing.assert_allclose(mean.read(), both.mean(-1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(rstd.read(), spread, rtol=1e-4)
    call(acl, "AddLayerNorm", a, b, gamma, beta, NULL, DOUBLE(1e-5), BOOL(False), y, mean, rstd, NULL)
    np.testing.assert_allclose(mean.read(), (a + b).mean(-1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("image", [False, True])
def test_losses_of_classes(acl, reduction, image):
    x = np.log(softmax(draw(3, 4, 2, 5) if image else draw(7, 4), 1))
    target = RNG.integers(0, 4, (3, 2, 5) if image else (7,))
    target.reshape(-1)[1] = 9  # ignored, whatever its classes are
    x[(0, 0, 0, 1) if image else (1, 0)] = -np.inf
    weight = RNG.uniform(0.5, 2, 4).astype(F32)
    kept = target != 9
    share = np.where(kept, weight[np.where(kept, target, 0)], 0)
    picked = np.take_along_axis(x, np.where(kept, target, 0)[:, None], 1)[:, 0]
    losses = -share * np.where(kept, picked, 0)
    want = (losses, losses.sum() / share.sum(), losses.sum())[reduction].astype(F32)
    out, total = Tensor(acl, np.zeros_like(want)), Tensor(acl, np.zeros((), F32))
    call(acl, "NLLLoss2d" if image else "NLLLoss", x, target, weight, LONG(reduction), LONG(9), out, total)
    np.testing.assert_allclose(out.read(), want, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(total.read(), share.sum(), rtol=1e-5)


def test_divergence_and_slope(acl):
    x, t = np.log(softmax(draw(3, 5))), softmax(draw(3, 5))
    t[0] = [0, 0, 1, 0, 0]
    logs = np.log(np.where(t > 0, t, 1))
    out = Tensor(acl, np.zeros((), F32))
    call(acl, "KlDiv", x, t, LONG(1), BOOL(False), out)
    np.testing.assert_allclose(out.read(), (t * (logs - x)).mean(), rtol=1e-4)
    call(acl, "KlDiv", x, np.log(softmax(x * 2)), LONG(2), BOOL(True), out)
    np.testing.assert_allclose(out.read(), (softmax(x * 2) * (np.log(softmax(x * 2)) - x)).sum(), rtol=1e-4)
    slope = Tensor(acl, np.zeros((3, 5), F32))
    call(acl, "MseLossBackward", np.asarray(F32(3)), x, t, LONG(1), slope)
    np.testing.assert_allclose(slope.read(), 3 * 2 * (x - t) / 15, rtol=1e-4, atol=1e-6)


#--- images ---------------------------------------------------------------------------

def cubic(x, size, axis, corners):
    def weight(d):
        a, d = -0.75, abs(d)
        return ((a + 2) * d - (a + 3)) * d * d + 1 if d <= 1 else (((d - 5) * d + 8) * d - 4) * a if d < 2 else 0
    count = x.shape[axis]
    rows = []
    for i in range(size):
        at = i * (count - 1) / (size - 1) if corners else (i + 0.5) * count / size - 0.5
        low = int(np.floor(at))
        rows.append(sum(weight(at - j) * x.take(np.clip(j, 0, count - 1), axis) for j in range(low - 1, low + 3)))
    return np.stack(rows, axis)


def linear(x, size, axis, corners):
    count = x.shape[axis]
    at = np.arange(size) * (count - 1) / (size - 1) if corners else ((np.arange(size) + 0.5) * count / size - 0.5).clip(0, count - 1)
    shape = [1] * x.ndim
    shape[axis] = size
    low = np.floor(at).astype(int)
    share = (at - low).reshape(shape)
    return x.take(low, axis) * (1 - share) + x.take(np.minimum(low + 1, count - 1), axis) * share


@pytest.mark.parametrize("corners", [False, True])
def test_resampled_images(acl, corners):
    x = draw(2, 3, 5, 6)
    out = Tensor(acl, np.zeros((2, 3, 8, 4), F32))
    call(acl, "UpsampleBicubic2d", x, [8, 4], BOOL(corners), DOUBLE(0), DOUBLE(0), out)
    np.testing.assert_allclose(out.read(), cubic(cubic(x, 8, 2, corners), 4, 3, corners), rtol=1e-4, atol=1e-5)
    out = Tensor(acl, np.zeros((6, 5, 9), F32))
    call(acl, "UpsampleLinear1d", x.reshape(6, 5, 6), [9], BOOL(corners), DOUBLE(0), out)
    np.testing.assert_allclose(out.read(), linear(x.reshape(6, 5, 6), 9, 2, corners), rtol=1e-4, atol=1e-5)
    out = Tensor(acl, np.zeros((1, 2, 4, 7, 3), F32))
    call(acl, "UpsampleTrilinear3d", x.reshape(1, 2, 3, 5, 6), [4, 7, 3], BOOL(corners), DOUBLE(0), DOUBLE(0), DOUBLE(0), out)
    want = linear(linear(linear(x.reshape(1, 2, 3, 5, 6), 4, 2, corners), 7, 3, corners), 3, 4, corners)
    np.testing.assert_allclose(out.read(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name, arguments", [
    ("UpsampleNearest2d", ([2 ** 40, 1],)), ("UpsampleBicubic2d", ([1, 2 ** 40], BOOL(False), DOUBLE(0), DOUBLE(0)))])
def test_sizes_that_nothing_holds(acl, name, arguments):
    assert "is the most" in refused(acl, name, draw(1, 1, 2, 2), *arguments, Tensor(acl, np.zeros((1, 1, 2, 2), F32)))
    assert "is the most" in refused(acl, "MoeComputeExpertTokens", np.zeros(3, np.int32), LONG(2 ** 40), Tensor(acl, np.zeros(3, np.int32)))


def test_nearest_elements(acl):
    x = draw(2, 3, 5, 6)
    out = Tensor(acl, np.zeros((2, 3, 8, 4), F32))
    call(acl, "UpsampleNearestExact2d", x, [8, 4], DOUBLE(0), DOUBLE(0), out)
    rows, columns = (np.floor((np.arange(n) + 0.5) * m / n).astype(int) for n, m in ((8, 5), (4, 6)))
    np.testing.assert_array_equal(out.read(), x[:, :, rows][:, :, :, columns])
    out = Tensor(acl, np.zeros((6, 5, 9), F32))
    call(acl, "UpsampleNearest1d", x.reshape(6, 5, 6), [9], out)
    np.testing.assert_array_equal(out.read(), x.reshape(6, 5, 6)[:, :, np.arange(9) * 6 // 9])


@pytest.mark.parametrize("corners", [False, True])
def test_sampled_images(acl, corners):
    x, grid = draw(1, 2, 4, 5), RNG.uniform(-1.2, 1.2, (1, 3, 6, 2)).astype(F32)
    out = Tensor(acl, np.zeros((1, 2, 3, 6), F32))
    call(acl, "GridSampler2D", x, grid, LONG(0), LONG(0), BOOL(corners), out)
    want = np.zeros((1, 2, 3, 6))
    for i, j in np.ndindex(3, 6):
        u, v = ((grid[0, i, j, k] + 1) / 2 * (n - 1) if corners else ((grid[0, i, j, k] + 1) * n - 1) / 2
                for k, n in ((0, 5), (1, 4)))
        for a in (int(np.floor(v)), int(np.floor(v)) + 1):
            for b in (int(np.floor(u)), int(np.floor(u)) + 1):
                if 0 <= a < 4 and 0 <= b < 5:
                    want[0, :, i, j] += x[0, :, a, b] * (1 - abs(v - a)) * (1 - abs(u - b))
    np.testing.assert_allclose(out.read(), want, rtol=1e-3, atol=1e-4)
    assert "0 to 2" in refused(acl, "GridSampler2D", x, grid, LONG(3), LONG(0), BOOL(corners), out)


#--- forms in place -------------------------------------------------------------------

SELF, OTHER = draw(3, 4), RNG.uniform(0.5, 2, (3, 4)).astype(F32)


@pytest.mark.parametrize("name, start, arguments, result", [
    ("Exp2", SELF, (), 2 ** SELF), ("Trunc", SELF * 3, (), np.trunc(SELF * 3)), ("Frac", SELF * 3, (), SELF * 3 - np.trunc(SELF * 3)),
    ("Sinc", SELF, (), np.sinc(SELF)), ("Hardtanh", SELF, (-0.5, 0.5), SELF.clip(-0.5, 0.5)),
    ("Celu", SELF, (2.0,), np.where(SELF > 0, SELF, 2 * np.expm1(SELF / 2))),
    ("Selu", SELF, (), 1.0507009873554805 * np.where(SELF > 0, SELF, 1.6732632423543772 * np.expm1(SELF))),
    ("NanToNum", np.array([1, np.nan, np.inf], F32), (FLOAT(5), FLOAT(6), FLOAT(7)), np.array([1, 5, 6], F32)),
    ("Logit", OTHER / 3, (DOUBLE(-1),), np.log(OTHER / 3 / (1 - OTHER / 3))), ("Atan2", SELF, (OTHER,), np.arctan2(SELF, OTHER)),
    ("XLogYTensor", SELF, (OTHER,), SELF * np.log(OTHER)),
    ("Addr", np.ones((3, 4), F32), (SELF[:, 0].copy(), SELF[0].copy(), 2.0, 3.0), 2 + 3 * np.outer(SELF[:, 0], SELF[0]))])
def test_a_form_in_place(acl, name, start, arguments, result):
    tensor = Tensor(acl, start)
    call(acl, "Inplace" + name, tensor, *arguments)
    np.testing.assert_allclose(tensor.read(), result, rtol=1e-4, atol=1e-5)
