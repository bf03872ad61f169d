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
                             ("FusedInferAttentionScoreV3", 20, (LONG(0), LONG(0)))):
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
    """As places of a batch are that no request has: nothing of the cache, which holds what others have left, is read."""
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
    assert "slotMapping has 12; the cache has 12 places" in failed(acl, "ScatterPaKvCache", *given, NULL, NULL, NULL, NULL)
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
