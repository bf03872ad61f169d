# Attention of aclnn for sequences that lie one behind the other, as servers of language models call it, and the
# caches of their keys, against NumPy. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, drawer, failed, refused  # noqa: E402, F401

RNG, draw = drawer(18)
F32, F16, NULL = np.float32, np.float16, POINTER()
HUGE = LONG(2 ** 31 - 1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def close(tensor, want):
    np.testing.assert_allclose(tensor.read(), want, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_sequences_one_behind_the_other(acl, mode):
    rows, lengths, heads, shared = [3, 3, 5], [4, 5, 9], 4, 2
    q, k, v = (draw(count, n, 16, dtype=F16) for count, n in ((5, heads), (9, shared), (9, shared)))
    mask = RNG.random((4, 5)) > 0.6
    mask[:, 0] = False
    out, want = Tensor(acl, np.zeros_like(q)), np.zeros(q.shape)
    largest, total = (Tensor(acl, np.zeros((5, heads, 8), F32)) for _ in range(2))
    peaks, sums = np.zeros((5, heads)), np.zeros((5, heads))
    for first, last, start, end in zip([0, *rows], rows, [0, *lengths], lengths):
        own = np.einsum("snd,tnd->nst", q[first:last].astype(F32), k[start:end].astype(F32).repeat(2, 1)) / 4
        row, column = np.arange(last - first)[:, None], np.arange(end - start)
        hidden = mask[:last - first, :end - start] if mode < 2 else column > row + (end - start - last + first if mode == 3 else 0)
        own = np.where(hidden, -1e30, own)
        want[first:last] = np.einsum("nst,tnd->snd", softmax(own), v[start:end].astype(F32).repeat(2, 1))
        if last > first:
            peaks[first:last] = own.max(-1).T
            sums[first:last] = np.exp(own - own.max(-1, keepdims=True)).sum(-1).T
    options = LONG(mode), largest, total, NULL, out
    given = NULL, NULL, NULL, mask if mode < 2 else NULL, NULL
    call(acl, "FlashAttentionVarLenScore", q, k, v, *given, rows, lengths, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(heads), b"TND", LONG(0),
         *options)
    close(out, want)
    close(largest, peaks[..., None].repeat(8, -1))
    close(total, sums[..., None].repeat(8, -1))
    for ends in ([3, 2, 5], [3, 3, 4], [5]):
        assert "equences" in refused(acl, "FlashAttentionVarLenScore", q, k, v, *given, ends, lengths, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE,
                                     LONG(heads), b"TND", LONG(0), *options) or ends != [5]


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_sequences_of_one_row_have_the_mode_of_the_others(acl, mode):
    """As servers of language models call it: some sequences have one new token, and all share a mask of 2048."""
    rows, lengths, heads, shared = [1, 4, 5], [6, 10, 17], 4, 2
    q, k, v = (draw(count, n, 16, dtype=F16) for count, n in ((5, heads), (17, shared), (17, shared)))
    mask, want = np.triu(np.ones((2048, 2048), bool), 1), np.zeros(q.shape)
    for first, last, start, end in zip([0, *rows], rows, [0, *lengths], lengths):
        own = np.einsum("snd,tnd->nst", q[first:last].astype(F32), k[start:end].astype(F32).repeat(2, 1)) / 4
        row, column = np.arange(last - first)[:, None], np.arange(end - start)
        shift = 0 if mode == 2 else (end - start) - (last - first)
        hidden = (column > row + shift) | ((mode == 4) & (column < row + shift - 2))
        want[first:last] = np.einsum("nst,tnd->snd", softmax(np.where(hidden, -1e30, own)), v[start:end].astype(F32).repeat(2, 1))
    band = (LONG(2), LONG(0)) if mode == 4 else (HUGE, LONG(0))
    out = Tensor(acl, np.zeros_like(q))
    call(acl, "FlashAttentionVarLenScore", q, k, v, NULL, NULL, NULL, mask, NULL, rows, lengths, DOUBLE(0.25), DOUBLE(1), *band, LONG(heads),
         b"TND", LONG(0), LONG(mode), NULL, NULL, NULL, out)
    close(out, want)
    tail = LONG(heads), DOUBLE(0.25), *band, b"TND", LONG(shared), LONG(mode), LONG(0), LONG(0), LONG(0), BOOL(False)
    for name, none, more in (("FusedInferAttentionScore", 10, ()), ("FusedInferAttentionScoreV2", 17, (LONG(0), LONG(0))),
                             ("FusedInferAttentionScoreV3", 20, (LONG(0), LONG(0))),
                             ("FusedInferAttentionScoreV4", 22, (LONG(0), LONG(0), LONG(0)))):
        out = Tensor(acl, np.zeros_like(q))
        call(acl, name, q, (k,), (v,), NULL, mask, rows, lengths, *[NULL] * none, *tail, *more, out, NULL)
        close(out, want)


@pytest.mark.parametrize("mode", [0, 1, 3])
def test_gradients_of_sequences(acl, mode):
    """Those of each sequence are those of a batch of its own; what nothing depends on has none."""
    rows, lengths, heads, shared = [3, 3, 5, 6], [4, 5, 9, 9], 4, 2
    q, k, v, dy = (draw(count, n, 16, dtype=F16) for count, n in ((6, heads), (9, shared), (9, shared), (6, heads)))
    mask = np.triu(np.ones((4, 5), bool), 1) if mode == 1 else np.triu(np.ones((2048, 2048), bool), 1) if mode == 3 else NULL
    want = [np.zeros(x.shape) for x in (q, k, v)]
    for first, last, start, end in zip([0, *rows], rows, [0, *lengths], lengths):
        if first == last or start == end:
            continue
        x, y, z, g = (np.ascontiguousarray(t.transpose(1, 0, 2)[None]) for t in (q[first:last], k[start:end], v[start:end], dy[first:last]))
        own = [Tensor(acl, np.zeros_like(t)) for t in (x, y, z)]
        part = mask[:last - first, :end - start].copy() if mode == 1 else mask
        call(acl, "FlashAttentionScoreGrad", x, y, z, g, *[NULL] * 3, part, *[NULL] * 5, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(heads),
             b"BNSD", LONG(0), LONG(mode), *own, NULL)
        for into, tensor, at in zip(want, own, (slice(first, last), slice(start, end), slice(start, end))):
            into[at] = tensor.read()[0].transpose(1, 0, 2)
    outputs = [Tensor(acl, np.ones_like(x)) for x in (q, k, v)]
    given = q, k, v, dy, *[NULL] * 3, mask, *[NULL] * 5
    tail = DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(heads), b"TND", LONG(0), LONG(mode), *outputs, NULL
    call(acl, "FlashAttentionUnpaddingScoreGrad", *given, rows, lengths, *tail)
    for tensor, values in zip(outputs, want):
        close(tensor, values)
    assert want[0].any() and not outputs[0].read()[5].any() and not outputs[1].read()[4].any()
    assert "actualSeqLengthsKv" in refused(acl, "FlashAttentionUnpaddingScoreGrad", *given, rows, [4, 5, 9, 8], *tail)
    assert "aclnnFlashAttentionUnpaddingScoreGrad" in refused(acl, "FlashAttentionScoreGrad", *given, *tail)


@pytest.mark.parametrize("mode", [2, 3])
def test_one_row_of_a_training_has_the_mode(acl, mode):
    q, k, v = draw(1, 2, 1, 16, dtype=F16), draw(1, 2, 5, 16, dtype=F16), draw(1, 2, 5, 16, dtype=F16)
    mask, out = np.triu(np.ones((2048, 2048), bool), 1), Tensor(acl, np.zeros_like(q))
    shown = 1 if mode == 2 else 5
    weights = softmax(np.einsum("bnsd,bntd->bnst", q.astype(F32), k[:, :, :shown].astype(F32)) / 4)
    call(acl, "FlashAttentionScore", q, k, v, *[NULL] * 3, mask, NULL, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(2), b"BNSD", LONG(0),
         LONG(mode), *[NULL] * 3, out)
    close(out, weights @ v[:, :, :shown].astype(F32))
    gradients, dy = [Tensor(acl, np.zeros_like(x)) for x in (q, k, v)], draw(1, 2, 1, 16, dtype=F16)
    call(acl, "FlashAttentionScoreGrad", q, k, v, dy, *[NULL] * 3, mask, *[NULL] * 5, DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(2), b"BNSD",
         LONG(0), LONG(mode), *gradients, NULL)
    want = np.zeros(v.shape)
    want[:, :, :shown] = weights.transpose(0, 1, 3, 2) @ dy.astype(F32)
    close(gradients[2], want)


def test_sequences_with_keys_in_blocks(acl):
    """Queries lie one behind the other, keys in blocks: the lengths of the keys are those of each sequence."""
    rows, lengths, heads, shared, size = [1, 4, 5], [6, 4, 7], 4, 2, 4
    table = np.array([[5, 2], [0, -1], [4, 1]], np.int32)
    q, cache = draw(5, heads, 16, dtype=F16), draw(2, 6, size, shared * 16, dtype=F16)
    mask, want = np.triu(np.ones((2048, 2048), bool), 1), np.zeros(q.shape)
    for i, (first, last) in enumerate(zip([0, *rows], rows)):
        k, v = (np.concatenate([x[block] for block in table[i] if block >= 0])[:lengths[i]].reshape(-1, shared, 16).astype(F32).repeat(2, 1)
                for x in cache)
        own = np.einsum("snd,tnd->nst", q[first:last].astype(F32), k) / 4
        hidden = np.arange(lengths[i]) > np.arange(last - first)[:, None] + lengths[i] - (last - first)
        want[first:last] = np.einsum("nst,tnd->snd", softmax(np.where(hidden, -1e30, own)), v)
    out = Tensor(acl, np.zeros_like(q))
    tail = LONG(heads), DOUBLE(0.25), HUGE, HUGE, b"TND", LONG(shared), LONG(3), LONG(0), LONG(size), LONG(0), BOOL(False)
    given = [q, (cache[0].copy(),), (cache[1].copy(),), NULL, mask, rows, lengths, *[NULL] * 7, table, NULL, NULL, *tail, out, NULL]
    call(acl, "FusedInferAttentionScore", *given)
    close(out, want)
    given[6] = [6, 9, 7]
    assert "a length of the keys is 9" in refused(acl, "FusedInferAttentionScore", *given)
    given[5], given[6] = [1, 5], [6, 4, 7]
    assert "actualSeqLengths has 2 sequences" in refused(acl, "FusedInferAttentionScore", *given)


def test_sequences_without_keys_are_zero(acl):
    """As positions of a batch are that no request has: nothing of the cache, which holds what others have left, is read."""
    rows, heads, size = [1, 3, 4], 2, 4
    q, cache = draw(4, heads, 16, dtype=F16), draw(2, 6, size, heads * 16, dtype=F16)
    table, out = np.array([[5, 2], [-1, -1], [4, 1]], np.int32), Tensor(acl, np.full((4, heads, 16), 7, F16))
    tail = LONG(heads), DOUBLE(0.25), HUGE, HUGE, b"TND", LONG(heads), LONG(0), LONG(0), LONG(size), LONG(0), BOOL(False)
    given = [q, (cache[0].copy(),), (cache[1].copy(),), NULL, NULL, rows, [8, 0, 3], *[NULL] * 7, table, NULL, NULL, *tail, out, NULL]
    call(acl, "FusedInferAttentionScore", *given)
    assert not out.read()[1:3].any() and out.read()[[0, 3]].all(-1).all()
    for huge in (2 ** 62, 2 ** 63 - 1):
        given[-5] = LONG(huge)
        assert "blocks" in refused(acl, "FusedInferAttentionScore", *given)
    # The same of padded batches, and of a training, which has no sums of no keys.
    q, k, v = (draw(2, heads, 5, 16, dtype=F16) for _ in range(3))
    out = Tensor(acl, np.full(q.shape, 7, F16))
    call(acl, "PromptFlashAttentionV2", q, k, v, NULL, NULL, NULL, [0, 5], *[NULL] * 5, LONG(heads), DOUBLE(0.25), HUGE, HUGE, b"BNSD",
         LONG(heads), LONG(0), out)
    want = softmax(np.einsum("nsd,ntd->nst", q[1].astype(F32), k[1].astype(F32)) / 4) @ v[1].astype(F32)
    assert not out.read()[0].any()
    np.testing.assert_allclose(out.read()[1], want, rtol=2e-2, atol=2e-2)
    q, k = draw(5, heads, 16, dtype=F16), draw(9, heads, 16, dtype=F16)
    out, sums = Tensor(acl, np.full(q.shape, 7, F16)), Tensor(acl, np.zeros((5, heads, 8), F32))
    given = [q, k, k, *[NULL] * 5, [3, 5], [0, 9], DOUBLE(0.25), DOUBLE(1), HUGE, HUGE, LONG(heads), b"TND", LONG(0), LONG(0), NULL, NULL,
             NULL, out]
    call(acl, "FlashAttentionVarLenScore", *given)
    assert not out.read()[:3].any() and out.read()[3:].all(-1).all()
    given[-3] = sums
    assert "rows without keys" in refused(acl, "FlashAttentionVarLenScore", *given)


def test_tokens_are_written_to_caches(acl):
    keys, values, slots = draw(5, 2, 8, dtype=F16), draw(5, 2, 6, dtype=F16), np.array([7, 0, -1, 11, 4], np.int32)
    caches = [np.full((3, 4, 2, width), 9, F16) for width in (8, 6)]
    held = [Tensor(acl, cache) for cache in caches]
    for cache, rows in zip(caches, (keys, values)):
        cache.reshape(12, 2, -1)[[7, 0, 11, 4]] = rows[[0, 1, 3, 4]]
    call(acl, "ScatterPaKvCache", keys, held[0], slots, values, held[1], NULL, NULL, NULL, b"Norm", b"None", NULL, NULL)
    for cache, tensor in zip(caches, held):
        assert (tensor.read() == cache).all()
    slots[0] = 12
    given = keys, held[0], slots, values, held[1], NULL, NULL, NULL
    assert "slotMapping has 12; the cache has 12 slots" in failed(acl, "ScatterPaKvCache", *given, NULL, NULL, NULL, NULL)
    assert "cacheMode" in refused(acl, "ScatterPaKvCache", *given, b"PA_NZ", NULL, NULL, NULL)


@pytest.mark.parametrize("dims", [(), (4,)])
def test_masks_of_sequences_have_rows_and_columns(acl, dims):
    q = draw(4, 2, 16, dtype=F16)
    out = Tensor(acl, np.zeros_like(q))
    tail = LONG(0), NULL, NULL, NULL, out
    assert "must have 2 dims or more with TND" in refused(
        acl, "FlashAttentionVarLenScore", q, q, q, NULL, NULL, NULL, np.zeros(dims, bool), NULL, [2, 4], [2, 4], DOUBLE(0.25), DOUBLE(1),
        HUGE, HUGE, LONG(2), b"TND", LONG(0), *tail)
    assert "must have 2 dims or more with TND" in refused(
        acl, "FusedInferAttentionScore", q, (q,), (q,), NULL, np.zeros(dims, bool), [2, 4], [2, 4], *[NULL] * 10, LONG(2), DOUBLE(0.25),
        HUGE, HUGE, b"TND", LONG(2), LONG(0), LONG(0), LONG(0), LONG(0), BOOL(False), out, NULL)


#--- dropout -----------------------------------------------------------------------------

def bits_of(kept):
    """One bit per weight, the lowest of a byte first, in whole 16 bytes."""
    packed = np.packbits(kept.ravel(), bitorder="little")
    return np.pad(packed, (0, -len(packed) % 16))


def test_dropout_of_a_training(acl):
    """Weights that a bit drops are 0, others larger; the gradients are those of that, by differences."""
    q, k, v, g = (draw(2, n, s, 16, dtype=F16) for n, s in ((4, 5), (2, 6), (2, 6), (4, 5)))
    kept, keep = RNG.random((2, 4, 5, 6)) < 0.75, 0.75
    mask = bits_of(kept)

    def result(q, k, v):
        weights = softmax(np.einsum("bnsd,bntd->bnst", q, k.repeat(2, 1)) / 4)
        return np.einsum("bnst,bntd->bnsd", weights * kept / keep, v.repeat(2, 1))
    out, values = Tensor(acl, np.zeros_like(q)), [x.astype(np.float64) for x in (q, k, v)]
    tail = DOUBLE(0.25), DOUBLE(keep), HUGE, HUGE, LONG(4), b"BNSD", LONG(0), LONG(0)
    given = q, k, v, NULL, mask, *[NULL] * 3
    call(acl, "FlashAttentionScore", *given, *tail, NULL, NULL, NULL, out)
    close(out, result(*values))
    call(acl, "FlashAttentionScoreV2", *given, NULL, NULL, *tail, LONG(1), NULL, NULL, NULL, out)
    close(out, result(*values))
    outputs = [Tensor(acl, np.zeros_like(x)) for x in (q, k, v)]
    call(acl, "FlashAttentionScoreGrad", q, k, v, g, NULL, mask, *[NULL] * 7, *tail, *outputs, NULL)
    positions = np.random.default_rng(2)
    for at, (x, output) in enumerate(zip(values, outputs)):
        for _ in range(8):
            place = tuple(positions.integers(0, n) for n in x.shape)
            moved = [v.copy() for v in values]
            moved[at][place] += 1e-4
            high = result(*moved)
            moved[at][place] -= 2e-4
            want = ((high - result(*moved)) * g).sum() / 2e-4
            assert abs(output.read()[place] - want) < 0.03 * max(1, abs(want)), (at, place, want)
    for share, given_mask, word in ((0.75, NULL, "give dropMask"), (0, mask, "keepProb"), (1.5, mask, "keepProb"),
                                    (0.75, mask[:16].copy(), "dropMask has 128 bits; the attention has 240"),
                                    (0.75, mask.astype(F32), "uint8")):
        assert word in refused(acl, "FlashAttentionScore", q, k, v, NULL, given_mask, *[NULL] * 3, tail[0], DOUBLE(share), *tail[2:], NULL,
                               NULL, NULL, out)


def test_where_shifts_are_added(acl):
    """In front of the scale, or behind it."""
    q, k, v = (draw(1, 2, 4, 16, dtype=F16) for _ in range(3))
    shift, out = draw(1, 2, 4, 4, dtype=F16), Tensor(acl, np.zeros_like(q))
    scores = np.einsum("bnsd,bntd->bnst", q.astype(F32), k.astype(F32))
    arguments = lambda kind: (q, k, v, shift, *[NULL] * 6, DOUBLE(.25), DOUBLE(1), HUGE, HUGE, LONG(2), b"BNSD", LONG(0), LONG(0),  # noqa: E731
                              LONG(kind), NULL, NULL, NULL, out)
    for kind, weights in ((0, scores / 4 + shift), (1, (scores + shift) / 4)):
        call(acl, "FlashAttentionScoreV2", *arguments(kind))
        close(out, softmax(weights) @ v.astype(F32))
    assert "pseType" in refused(acl, "FlashAttentionScoreV2", *arguments(2))


def test_dropout_of_sequences(acl):
    """The bits of each sequence follow those of the one before."""
    rows, lengths, heads = [2, 5], [4, 9], 2
    q, k, v, g = (draw(n, heads, 16, dtype=F16) for n in (5, 9, 9, 5))
    kept = [RNG.random((heads, n, m)) < 0.5 for n, m in ((2, 4), (3, 5))]
    mask, want = bits_of(np.concatenate([x.ravel() for x in kept])), []
    tail = DOUBLE(0.25), DOUBLE(0.5), HUGE, HUGE, LONG(heads)
    ofv = np.zeros(v.shape)
    for own, first, last, start, end in zip(kept, [0, *rows], rows, [0, *lengths], lengths):
        weights = softmax(np.einsum("snd,tnd->nst", q[first:last].astype(F32), k[start:end].astype(F32)) / 4) * own * 2
        want.append(np.einsum("nst,tnd->snd", weights, v[start:end].astype(F32)))
        ofv[start:end] = np.einsum("nst,snd->tnd", weights, g[first:last].astype(F32))
    out = Tensor(acl, np.zeros_like(q))
    call(acl, "FlashAttentionVarLenScore", q, k, v, NULL, mask, *[NULL] * 3, rows, lengths, *tail, b"TND", LONG(0), LONG(0), NULL, NULL,
         NULL, out)
    close(out, np.concatenate(want))
    outputs = [Tensor(acl, np.zeros_like(x)) for x in (q, k, v)]
    call(acl, "FlashAttentionUnpaddingScoreGrad", q, k, v, g, NULL, mask, *[NULL] * 7, rows, lengths, *tail, b"TND", LONG(0), LONG(0),
         *outputs, NULL)
    close(outputs[2], ofv)


#--- keys in parts -----------------------------------------------------------------------

def arranged(x, layout):
    if layout == "BNSD":
        return x
    moved = np.ascontiguousarray(x.transpose(0, 2, 1, 3))
    return moved if layout == "BSND" else moved.reshape(*moved.shape[:2], -1)


def fused(acl, name, q, k, v, out, layout, heads, shared, *, lengths=NULL, rows=NULL, mask=NULL, mode=0, table=NULL, size=0, padding=NULL,
          prefix=(NULL,) * 3, rope=(NULL,) * 2, use=call):
    more = {"FusedInferAttentionScore": (), "FusedInferAttentionScoreV2": (*[NULL] * 4, *prefix),
            "FusedInferAttentionScoreV3": (*[NULL] * 4, *prefix, *rope, NULL)}[name]
    modes = () if name == "FusedInferAttentionScore" else (LONG(0), LONG(0))
    return use(acl, name, q, (k,), (v,), NULL, mask, rows, lengths, *[NULL] * 7, table, NULL, padding, *more, LONG(heads), DOUBLE(0.25),
               HUGE, LONG(0) if mode == 4 else HUGE, layout.encode(), LONG(shared), LONG(mode), LONG(0), LONG(size), LONG(0), BOOL(False),
               *modes, out, NULL)


def attended(q, k, v, hidden=False):
    repeat = q.shape[1] // k.shape[1]
    weights = np.einsum("bnsd,bntd->bnst", q.astype(F32), k.astype(F32).repeat(repeat, 1)) / 4
    return np.einsum("bnst,bntd->bnsd", softmax(np.where(hidden, -1e30, weights)), v.astype(F32).repeat(repeat, 1))


@pytest.mark.parametrize("name, layout", [("FusedInferAttentionScoreV2", "BNSD"), ("FusedInferAttentionScoreV2", "BSH"),
                                          ("FusedInferAttentionScoreV3", "BSND")])
def test_a_shared_prefix(acl, name, layout):
    """It is in front of the keys of each batch; lengths are those behind it, and the triangle ends at the last key."""
    q, k, v = draw(2, 4, 3, 16, dtype=F16), draw(2, 2, 6, 16, dtype=F16), draw(2, 2, 6, 16, dtype=F16)
    prefix = draw(1, 2, 5, 16, dtype=F16), draw(1, 2, 5, 16, dtype=F16)
    own = [arranged(x, layout) for x in (q, k, v)]
    given = [arranged(x, layout) for x in prefix]
    for length, lengths, mode in ((NULL, NULL, 0), ([4], [2, 6], 0), ([4], [3, 6], 3), ([0], [3, 6], 0)):
        front = 5 if length is NULL else length[0]
        ends = np.array([6, 6] if lengths is NULL else lengths)[:, None, None, None]
        whole = [np.concatenate([p[:, :, :front].repeat(2, 0), x], 2) for p, x in zip(prefix, (k, v))]
        column, row = np.arange(front + 6), np.arange(3)[:, None]
        hidden = column >= front + ends
        if mode == 3:
            hidden = hidden | (column > row + front + ends - 3)
        out = Tensor(acl, np.zeros_like(own[0]))
        mask = np.triu(np.ones((2048, 2048), bool), 1) if mode == 3 else NULL
        fused(acl, name, *own, out, layout, 4, 2, lengths=lengths, mask=mask, mode=mode, prefix=(*given, length))
        close(out, arranged(attended(q, *whole, hidden), layout))
    out = Tensor(acl, np.zeros_like(own[0]))
    for prefix, word, mode in (((given[0], NULL, NULL), "give both", 0), ((NULL, NULL, [3]), "give both", 0),
                               ((*given, [6]), "at most its 5 rows", 0), ((*given, [1, 2]), "one number", 0),
                               ((*given, NULL), "sparseMode 2", 2), ((given[0].astype(F32), given[1], NULL), "the type of the keys", 0)):
        assert word in fused(acl, name, *own, out, layout, 4, 2, mode=mode, prefix=prefix, use=refused)


@pytest.mark.parametrize("layout", ["BNSD", "BSH", "BSND", "TND", "NTD", "blocks"])
def test_positions_in_tensors_of_their_own(acl, layout):
    """Scores are those of queries and keys with the elements of the rope behind their own; values are narrower."""
    q, k, v, qr, kr = (draw(2, n, s, w, dtype=F16) for n, s, w in ((4, 3, 32), (1, 4, 32), (1, 4, 16), (4, 3, 8), (1, 4, 8)))
    want = attended(np.concatenate([q, qr], -1), np.concatenate([k, kr], -1), v)
    if layout == "blocks":
        # [blocks, tokens of a block, heads * width]; a block of as many tokens as a head has is not one of heads.
        k, v, kr = (x.reshape(4, 2, -1)[[1, 3, 0, 2]].copy() for x in (k, v, kr))
        out = Tensor(acl, np.zeros(arranged(q, "BSH").shape[:2] + (64,), F16))
        fused(acl, "FusedInferAttentionScoreV3", arranged(q, "BSH"), k, v, out, "BSH", 4, 1, lengths=[4, 4], size=2,
              table=np.array([[2, 0], [3, 1]], np.int32), rope=(arranged(qr, "BSH"), kr))
        return close(out, arranged(want, "BSH"))
    if layout in ("TND", "NTD"):
        q, k, v, qr, kr, want = (x.transpose(0, 2, 1, 3).reshape(-1, x.shape[1], x.shape[3]) for x in (q, k, v, qr, kr, want))
        if layout == "NTD":
            q, k, v, qr, kr, want = (np.ascontiguousarray(x.transpose(1, 0, 2)) for x in (q, k, v, qr, kr, want))
        ends = {"rows": [3, 6], "lengths": [4, 8]}
    else:
        q, k, v, qr, kr, want = (arranged(x, layout) for x in (q, k, v, qr, kr, want))
        ends = {}
    out = Tensor(acl, np.zeros(want.shape, F16))
    fused(acl, "FusedInferAttentionScoreV3", q, k, v, out, layout, 4, 1, rope=(qr, kr), **ends)
    close(out, want)
    for rope, word in (((qr, NULL), "belong together"), ((qr.astype(F32), kr), "one float type"), ((qr[:1].copy(), kr), "last dim only")):
        assert word in fused(acl, "FusedInferAttentionScoreV3", q, k, v, out, layout, 4, 1, rope=rope, use=refused, **ends)


@pytest.mark.parametrize("layouts", ["BNSD_BSND", "BNSD_NBSD", "BSND_NBSD", "BSH_NBSD", "BSND_BNSD", "TND_NTD", "NTD_TND"])
def test_results_of_another_layout(acl, layouts):
    layout, shown = layouts.split("_")
    q, k, v = draw(2, 4, 3, 16, dtype=F16), draw(2, 2, 6, 16, dtype=F16), draw(2, 2, 6, 16, dtype=F16)

    def form(x, layout):
        if layout in ("TND", "NTD"):
            x = x.transpose(0, 2, 1, 3).reshape(-1, x.shape[1], x.shape[3])
            return np.ascontiguousarray(x if layout == "TND" else x.transpose(1, 0, 2))
        return np.ascontiguousarray(x.transpose(1, 0, 2, 3)) if layout == "NBSD" else arranged(x, layout)
    want = form(attended(q, k, v), shown)
    ends = {"rows": [3, 6], "lengths": [6, 12]} if layout.endswith("TD") or layout == "TND" else {}
    out = Tensor(acl, np.zeros(want.shape, F16))
    fused(acl, "FusedInferAttentionScore", *(form(x, layout) for x in (q, k, v)), out, layouts, 4, 2, **ends)
    close(out, want)
    assert "inputLayout" in fused(acl, "FusedInferAttentionScore", q, k, v, out, "BNSD_TND", 4, 2, use=refused)


def test_keys_with_padding_behind(acl):
    """The keys of a batch end in front of the padding; what else the tensor holds is not read."""
    q, k, v = draw(2, 4, 1, 16, dtype=F16), draw(2, 2, 8, 16, dtype=F16), draw(2, 2, 8, 16, dtype=F16)
    want = np.concatenate([attended(q[i:i + 1], *(x[i:i + 1, :, 7 - n:7] for x in (k, v))) for i, n in enumerate((3, 6))])
    for x in (k, v):
        x[:, :, 7:], x[0, :, :4], x[1, :, :1] = np.nan, np.nan, np.nan
    out = Tensor(acl, np.zeros_like(q))
    fused(acl, "FusedInferAttentionScore", q, k, v, out, "BNSD", 4, 2, lengths=[3, 6], padding=np.array([1]))
    close(out, want)
    out = Tensor(acl, np.zeros_like(q))
    given = [q, (k,), (v,), NULL, NULL, [3, 6], *[NULL] * 8, np.array([1]), LONG(4), DOUBLE(0.25), b"BNSD", LONG(2), LONG(0), LONG(0), out]
    call(acl, "IncreFlashAttentionV4", *given)
    close(out, want)
    # Where the keys of a batch would begin in front of the tensor, there are none.
    out = Tensor(acl, np.ones_like(q))
    fused(acl, "FusedInferAttentionScore", q, k, v, out, "BNSD", 4, 2, lengths=[2, 6], padding=np.array([3]))
    assert not out.read()[1].any()
    assert "must be NULL with kvPaddingSize" in fused(acl, "FusedInferAttentionScore", q, k, v, out, "BNSD", 4, 2, lengths=[3, 6],
                                                      mask=np.zeros((2, 8), bool), padding=np.array([1]), use=refused)
