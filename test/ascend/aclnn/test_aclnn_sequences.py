# Functions of aclnn for labels, bags of words, unpooled images, sampled volumes, feed-forward layers, and the
# gradients of tokens that went to experts. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import itertools
import math

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, close, drawer, failed, prepare, refused, zeros  # noqa: E402, F401

RNG, draw = drawer(47)
F32, NULL = np.float32, POINTER()


def integers(low, high, *dims, kind=np.int32):
    return RNG.integers(low, high, dims).astype(kind)


#--- labels -----------------------------------------------------------------------------

def loss_of_all_paths(scores, labels, blank):
    """Sums the chance of each path, of which equal labels one behind the other, and then blanks, are taken out."""
    total = 0.
    for path in itertools.product(range(scores.shape[1]), repeat=len(scores)):
        kept = [c for i, c in enumerate(path) if (i == 0 or path[i - 1] != c) and c != blank]
        if kept == list(labels):
            total += math.exp(sum(scores[t, c] for t, c in enumerate(path)))
    return -math.log(total) if total else math.inf


@pytest.mark.parametrize("is_padded", [True, False])
def test_losses_of_labels(acl, is_padded):
    steps, classes, blank = 5, 3, 1
    targets, lengths, inputs = [[0, 2, 0], [2, 2], [], [0, 0, 0]], [3, 2, 0, 3], [5, 4, 3, 4]
    scores = draw(steps, 4, classes)
    scores -= np.log(np.exp(scores).sum(-1, keepdims=True))
    given = np.zeros((4, 3), np.int64) if is_padded else np.array(sum(targets, []))
    for i, row in enumerate(targets if is_padded else []):
        given[i, :len(row)] = row
    for zero in (False, True):
        losses, paths = zeros(acl, 4), zeros(acl, 4, steps, 8)
        call(acl, "CtcLoss", scores, given, inputs, lengths, LONG(blank), BOOL(zero), losses, paths)
        want = [loss_of_all_paths(scores[:n, i], row, blank) for i, (row, n) in enumerate(zip(targets, inputs, strict=True))]
        assert math.isinf(want[3])  # three equal labels need five steps
        want[3] = 0 if zero else math.inf
        np.testing.assert_allclose(losses.read(), want, rtol=1e-4)
    # The gradient is exp(score) less the share of the paths through it, 0 behind the end and without a path.
    factors, gradient = draw(4), zeros(acl, steps, 4, classes)
    call(acl, "CtcLossBackward", factors, scores, given, inputs, lengths, losses, paths, LONG(blank), BOOL(True), gradient)
    want = np.zeros(scores.shape)
    for b, t, c in itertools.product(range(3), range(steps), range(classes)):
        if t < inputs[b]:
            higher, lower = (scores[:inputs[b], b].astype(np.float64) for _ in range(2))
            higher[t, c] += 1e-4
            lower[t, c] -= 1e-4
            slope = (loss_of_all_paths(higher, targets[b], blank) - loss_of_all_paths(lower, targets[b], blank)) / 2e-4
            want[t, b, c] = (math.exp(scores[t, b, c]) + slope) * factors[b]
    close(gradient, want)
    assert "blank 3" in refused(acl, "CtcLoss", scores, given, inputs, lengths, LONG(3), BOOL(False), losses, paths)
    assert "targetLengths" in refused(acl, "CtcLoss", scores, given, inputs, [9] * 4, LONG(0), BOOL(False), losses, paths)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("has_last", [False, True])
def test_bags_of_words(acl, mode, has_last):
    table, words = draw(6, 4), np.array([1, 3, 5, 2, 2, 0, 4, 3])
    offsets = np.array([0, 3, 3, 7] + [8] * has_last)
    weights = draw(8) if mode == 0 else None
    out, bag, sizes = zeros(acl, 4, 4), zeros(acl, 8, kind=np.int64), zeros(acl, 4, kind=np.int64)
    rows = zeros(acl, *((4, 4) if mode == 2 else (0,)), kind=np.int64)
    call(acl, "EmbeddingBag", table, words, offsets, BOOL(False), LONG(mode), BOOL(False),
         NULL if weights is None else weights, BOOL(has_last), LONG(5), out, bag, sizes, rows)
    ends = [3, 3, 7, 8]
    want, positions, counts = np.zeros((4, 4)), np.zeros((4, 4)), []
    for i, end in enumerate(ends):
        kept = [k for k in range(offsets[i], end) if words[k] != 5]
        counts.append(len(kept))
        if not kept:
            continue
        part = table[words[kept]].astype(np.float64)
        want[i] = (part * weights[kept, None]).sum(0) if mode == 0 else part.mean(0) if mode == 1 else part.max(0)
        positions[i] = words[kept][part.argmax(0)]
    close(out, want)
    assert bag.read().tolist() == [0, 0, 0, 2, 2, 2, 2, 3] and sizes.read().tolist() == counts
    if mode == 2:
        assert (rows.read() == positions).all()
        assert "perSampleWeights" in refused(acl, "EmbeddingBag", table, words, offsets, BOOL(False), LONG(2), BOOL(False),
                                             draw(8), BOOL(has_last), LONG(5), out, bag, sizes, rows)


def test_words_outside_of_bags(acl):
    table, words = draw(6, 4), np.array([1, 3, 5, 2])

    def bags(offsets, has_last=True, indices=words, function=call):
        count = len(offsets) - has_last
        # Memory that was used before must not show through.
        owners = Tensor(acl, np.full(4, -77))
        message = function(acl, "EmbeddingBag", table, indices, np.array(offsets, np.int64), BOOL(False), LONG(0), BOOL(False), NULL,
                           BOOL(has_last), LONG(-1), zeros(acl, count, 4), owners, zeros(acl, count, kind=np.int64),
                           zeros(acl, 0, kind=np.int64))
        return message or owners.read().tolist()

    assert bags([0, 1, 3]) == [0, 1, 1, 2]
    assert bags([0]) == [0, 0, 0, 0] and bags([], False) == [0, 0, 0, 0]
    for wrong in ({"offsets": [1, 3]}, {"offsets": [0, 9]}, {"offsets": [0, 4], "indices": np.array([1, -1, 2, 0])}):
        message = bags(**wrong, function=failed)
        assert "aclnnEmbeddingBag" in message and "out of range" in message


def test_labels_and_places_out_of_range(acl):
    scores, losses, paths = draw(3, 1, 4), zeros(acl, 1), zeros(acl, 1, 3, 5)
    message = failed(acl, "CtcLoss", scores, np.array([[1, 4]]), [3], [2], LONG(0), BOOL(False), losses, paths)
    assert "aclnnCtcLoss" in message and "out of range" in message
    message = failed(acl, "MaxUnpool2d", draw(1, 2, 2), np.array([[[0, 1], [2, 99]]]), [4, 4], zeros(acl, 1, 4, 4))
    assert "aclnnMaxUnpool2d" in message and "out of range" in message
    # The first of two failures is told, and the second does not lend its message to a later one.
    wrong = (scores, np.array([[1, 4]]), [3], [2], LONG(0), BOOL(False), losses, paths)
    values, kept = prepare(acl, wrong)
    for _ in range(2):
        size, executor = ctypes.c_uint64(), POINTER()
        assert acl.aclnnCtcLossGetWorkspaceSize(*values, ctypes.byref(size), ctypes.byref(executor)) == 0
        assert acl.aclnnCtcLoss(None, size, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) != 0 and b"aclnnCtcLoss" in acl.aclGetRecentErrMsg()
    del kept
    assert "aclnnMaxUnpool2d" in failed(acl, "MaxUnpool2d", draw(1, 2, 2), np.array([[[0, 1], [2, 99]]]), [4, 4], zeros(acl, 1, 4, 4))
    # The stream goes on.
    call(acl, "MaxUnpool2d", draw(1, 2, 2), np.array([[[0, 1], [2, 9]]]), [4, 4], zeros(acl, 1, 4, 4))


@pytest.mark.parametrize("zero", [False, True])
def test_losses_of_nan_are_nan(acl, zero):
    scores, losses, paths, gradient = draw(3, 1, 3), zeros(acl, 1), zeros(acl, 1, 3, 5), zeros(acl, 3, 1, 3)
    scores[0] = np.nan
    call(acl, "CtcLoss", scores, np.array([[1, 2]]), [3], [2], LONG(0), BOOL(zero), losses, paths)
    assert np.isnan(losses.read()).all()
    call(acl, "CtcLossBackward", np.ones(1, F32), scores, np.array([[1, 2]]), [3], [2], losses, paths, LONG(0), BOOL(zero), gradient)
    assert np.isnan(gradient.read()).all()


#--- images -----------------------------------------------------------------------------

@pytest.mark.parametrize("shape, size", [((2, 3, 4, 5), (8, 11)), ((3, 2, 2), (4, 5)), ((2, 2, 2, 3, 2), (4, 6, 5))])
def test_unpooled_images(acl, shape, size):
    axes = len(size)
    x, count = draw(*shape), math.prod(size)
    small = math.prod(shape[-axes:])
    positions = np.stack([RNG.permutation(count)[:small] for _ in range(x.size // small)])
    whole = shape[:-axes] + size
    name, more = f"MaxUnpool{axes}d", ([2] * axes, [0] * axes) if axes == 3 else ()
    out, gradient, back = zeros(acl, *whole), draw(*whole), zeros(acl, *shape)
    call(acl, name, x, positions.reshape(shape), list(size), *more, out)
    want = np.zeros((len(positions), count), F32)
    np.put_along_axis(want, positions, x.reshape(len(positions), small), 1)
    assert (out.read() == want.reshape(whole)).all()
    call(acl, name + "Backward", gradient, x, positions.reshape(shape), list(size), *more, back)
    assert (back.read() == np.take_along_axis(gradient.reshape(len(positions), count), positions, 1).reshape(shape)).all()
    assert "outputSize" in refused(acl, name, x, positions.reshape(shape), [2] * axes, *more, out)


def place_on(number, count, corners, padding):
    at = (number + 1) / 2 * (count - 1) if corners else ((number + 1) * count - 1) / 2
    if padding == 2:
        low, high = (0, count - 1) if corners else (-.5, count - .5)
        while high > low and not low <= at <= high:
            at = 2 * low - at if at < low else 2 * high - at
    return min(max(at, 0), count - 1) if padding else at


@pytest.mark.parametrize("nearest", [0, 1])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("corners", [False, True])
def test_sampled_volumes(acl, nearest, padding, corners):
    x, grid = draw(2, 2, 3, 4, 5), (RNG.uniform(-1.7, 1.7, (2, 2, 3, 2, 3))).astype(F32)
    out = zeros(acl, 2, 2, 2, 3, 2)
    call(acl, "GridSampler3D", x, grid, LONG(nearest), LONG(padding), BOOL(corners), out)
    want = np.zeros((2, 2, 2, 3, 2))
    for n, *point in itertools.product(range(2), range(2), range(3), range(2)):
        at = [place_on(float(grid[(n, *point)][2 - i]), x.shape[2 + i], corners, padding) for i in range(3)]
        taps = [[(round(a), 1.)] if nearest else [(math.floor(a), 1 - a % 1), (math.floor(a) + 1, a % 1)] for a in at]
        for tap in itertools.product(*taps):
            index = [t[0] for t in tap]
            if all(0 <= i < size for i, size in zip(index, x.shape[2:], strict=True)):
                want[(n, slice(None), *point)] += math.prod(t[1] for t in tap) * x[(n, slice(None), *index)]
    close(out, want)


#--- feed-forward layers ----------------------------------------------------------------

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + .044715 * x ** 3))),
    "fastgelu": lambda x: x / (1 + np.exp(-1.702 * x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_feed_forward(acl, name):
    x, none = draw(5, 6), [NULL] * 8
    first, second, bias1, bias2 = draw(3, 6, 8) / 3, draw(3, 8, 4) / 3, draw(3, 8), draw(3, 4)
    act, text, out = ACTIVATIONS[name], ctypes.c_char_p(name.upper().encode()), zeros(acl, 5, 4)
    call(acl, "FFN", x, first[0], second[0], NULL, bias1[0], bias2[0], *none, text, LONG(0), out)
    close(out, act(x @ first[0] + bias1[0]) @ second[0] + bias2[0], 1e-2)
    want = np.concatenate([act(x[a:b] @ first[i] + bias1[i]) @ second[i] + bias2[i] for i, (a, b) in enumerate([(0, 2), (2, 2), (2, 5)])])
    for form, tokens, flag in (("FFN", [2, 0, 3], ()), ("FFNV2", [2, 0, 3], (BOOL(False),)), ("FFNV2", [2, 2, 5], (BOOL(True),)),
                               ("FFNV3", np.array([2, 2, 5]), (BOOL(True),))):
        out = zeros(acl, 5, 4)
        call(acl, form, x, first, second, tokens, bias1, bias2, *none, text, LONG(0), *flag, out)
        close(out, want, 1e-2)
    assert "expertTokens" in refused(acl, "FFN", x, first, second, [2, 1, 1], bias1, bias2, *none, text, LONG(0), out)
    assert "activation" in refused(acl, "FFN", x, first[0], second[0], NULL, NULL, NULL, *none, ctypes.c_char_p(b"glu"), LONG(0), out)


@pytest.mark.parametrize("name, base", [("geglu", "gelu"), ("swiglu", "silu"), ("reglu", "relu")])
def test_gated_feed_forward(acl, name, base):
    """The left half of a row, times the activated right one."""
    x, none, text = draw(5, 6), [NULL] * 8, ctypes.c_char_p(name.encode())
    first, second, bias1, bias2 = draw(6, 16) / 3, draw(8, 4) / 3, draw(16), draw(4)
    hidden = x @ first + bias1
    want = (hidden[:, :8] * ACTIVATIONS[base](hidden[:, 8:])) @ second + bias2
    for form, flag in (("FFN", ()), ("FFNV2", (BOOL(False),)), ("FFNV3", (BOOL(False),))):
        out = zeros(acl, 5, 4)
        call(acl, form, x, first, second, NULL, bias1, bias2, *none, text, LONG(0), *flag, out)
        close(out, want, 1e-2)
    for one, two, tokens, word in ((first[:, :8].copy(), second, NULL, "twice the columns"),
                                   (draw(2, 6, 16), draw(2, 8, 4), [2, 3], "have no experts")):
        assert word in refused(acl, "FFN", x, one, two, tokens, NULL, NULL, *none, text, LONG(0), out)


def gated(x, left):
    a, b = np.split(x.astype(np.float64), 2, -1)
    return a / (1 + np.exp(-a)) * b if left else a * b / (1 + np.exp(-b))


def is_quantized(values, rows, scales):
    """Half a step from the next integer either one is right."""
    scale = np.abs(values).max(-1) / 127
    np.testing.assert_allclose(scales, scale, rtol=1e-4)
    assert np.abs(rows - values / scale[:, None]).max() < .51


@pytest.mark.parametrize("left", [False, True])
def test_gated_rows_are_quantized(acl, left):
    x, smooth = draw(5, 16), np.abs(draw(2, 8)) + .1
    rows, scales = zeros(acl, 5, 8, kind=np.int8), zeros(acl, 5)
    call(acl, "SwiGluQuant", x, smooth, NULL, np.array([2, 5], np.int32), BOOL(left), ctypes.c_char_p(b"dynamic"), rows, scales)
    is_quantized(gated(x, left) * smooth[[0, 0, 1, 1, 1]], rows.read(), scales.read())
    call(acl, "SwiGluQuant", x, NULL, NULL, NULL, BOOL(left), NULL, rows, scales)
    is_quantized(gated(x, left), rows.read(), scales.read())
    per_group, offsets = np.array([9, 20], F32), np.array([3, -4], F32)
    call(acl, "SwiGluQuant", x, per_group, offsets, np.array([2, 5], np.int32), BOOL(left), ctypes.c_char_p(b"static"), rows, scales)
    want = gated(x, left) * per_group[[0, 0, 1, 1, 1], None] + offsets[[0, 0, 1, 1, 1], None]
    assert np.abs(rows.read() - np.clip(want, -128, 127)).max() < .51
    sums, weight, token = integers(-2000, 2000, 5, 16), np.abs(draw(2, 16)) / 1000, np.abs(draw(5)) + .5
    call(acl, "DequantSwigluQuant", sums, weight, token, NULL, NULL, NULL, np.array([2, 3]), BOOL(left), ctypes.c_char_p(b"dynamic"),
         rows, scales)
    is_quantized(gated(sums * weight[[0, 0, 1, 1, 1]] * token[:, None], left), rows.read(), scales.read())
    message = failed(acl, "DequantSwigluQuant", sums, weight, token, NULL, NULL, NULL, np.array([2, 2**63 - 1]), BOOL(left),
                     ctypes.c_char_p(b"dynamic"), rows, scales)
    assert "aclnnDequantSwigluQuant" in message and "out of range" in message
    assert "quantMode" in refused(acl, "SwiGluQuant", x, NULL, NULL, NULL, BOOL(left), ctypes.c_char_p(b"both"), rows, scales)


def test_products_of_int8(acl):
    x, weights = integers(-128, 128, 5, 6, kind=np.int8), integers(-128, 128, 3, 6, 4, kind=np.int8)
    scales, token, bias = np.abs(draw(3, 4)) / 100, np.abs(draw(5)), integers(-99, 99, 3, 4)
    which = [0, 0, 2, 2, 2]
    sums = np.stack([x[i].astype(np.int64) @ weights[e] for i, e in enumerate(which)])
    for form, more in (("GroupedMatmulV4", ()), ("GroupedMatmulV5", (NULL,))):
        tail = [NULL] * 3
        def grouped(out, biases, scale, rows, act, kind=0, form=form, more=more, tail=tail):
            call(acl, form, (x,), (weights,), biases, scale, *tail, rows, np.array([2, 0, 3]), *tail, LONG(3), LONG(kind), LONG(1), LONG(act),
                 *more, (out,), NULL, NULL)
        whole, out = zeros(acl, 5, 4, kind=np.int32), zeros(acl, 5, 4)
        grouped(whole, NULL, NULL, NULL, 0)
        assert (whole.read() == sums).all()
        grouped(out, (bias,), (scales,), (token,), 0)
        want = (sums + bias[which]) * scales[which] * token[:, None]
        close(out, want)
        grouped(out, NULL, (scales,), NULL, 5)
        close(out, ACTIVATIONS["silu"](sums * scales[which]))
    # A list of scales, one for each x; as many columns as rows must not confuse them.
    each, pair = integers(-128, 128, 2, 4, 8, kind=np.int8), integers(-128, 128, 2, 8, 4, kind=np.int8)
    tokens, results = np.abs(draw(2, 4)), tuple(zeros(acl, 4, 4) for _ in range(2))
    call(acl, "GroupedMatmulV4", tuple(each), tuple(pair), *[NULL] * 5, tuple(tokens), NULL, *[NULL] * 3, LONG(0), LONG(-1), LONG(1), LONG(0),
         results, NULL, NULL)
    for i, result in enumerate(results):
        close(result, each[i].astype(np.int64) @ pair[i] * tokens[i][:, None])
    # Numbers of rows, and ends, that no sum of 64 bits holds.
    for counts, kind in (([1, 2**63 - 1, 0], 1), ([-2**63, 2**63 - 1, 5], 0), ([4, 2, 5], 0)):
        for group_type, given, target in ((0, (x, weights), whole), (2, (draw(3, 5), draw(5, 4)), zeros(acl, 3, 3, 4))):
            assert "groupList" in refused(acl, "GroupedMatmulV4", (given[0],), (given[1],), *[NULL] * 6, np.array(counts), *[NULL] * 3,
                                          LONG(3), LONG(group_type), LONG(kind), LONG(0), (target,), NULL, NULL)
    # Gradients of weights: the depth is divided.
    left, right, parts = draw(3, 5), draw(5, 4), zeros(acl, 3, 3, 4)
    call(acl, "GroupedMatmulV4", (left,), (right,), *[NULL] * 6, np.array([2, 0, 3]), *[NULL] * 3, LONG(3), LONG(2), LONG(1), LONG(0),
         (parts,), NULL, NULL)
    close(parts, np.stack([left[:, :2] @ right[:2], np.zeros((3, 4)), left[:, 2:] @ right[2:]]))
    row, columns = np.abs(draw(5)), np.abs(draw(4)) / 100
    call(acl, "QuantMatmulV5", x, weights[0].T.copy(), row, columns, *[NULL] * 5, BOOL(False), BOOL(True), LONG(0), out)
    close(out, x.astype(np.int64) @ weights[0] * columns * row[:, None])
    assert "groupSize" in refused(acl, "QuantMatmulV5", x, weights[0], row, columns, *[NULL] * 5, BOOL(False), BOOL(False), LONG(32), out)


#--- experts ----------------------------------------------------------------------------

@pytest.mark.parametrize("renorm", [0, 1])
def test_gates_with_renorm(acl, renorm):
    x, shares, experts, every = draw(4, 7), zeros(acl, 4, 3), zeros(acl, 4, 3, kind=np.int32), zeros(acl, 4, 7)
    call(acl, "MoeGatingTopKSoftmaxV2", x, NULL, LONG(3), LONG(renorm), BOOL(True), shares, experts, every)
    order = np.argsort(-x, 1)[:, :3]
    norm = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    chosen = np.take_along_axis(norm, order, 1)
    assert (experts.read() == order).all()
    close(shares, chosen / chosen.sum(1, keepdims=True) if renorm else chosen)
    if renorm == 0:
        close(every, norm)


def test_gradients_of_routes(acl):
    tokens, k, width = 4, 2, 5
    positions = RNG.permutation(tokens * k).astype(np.int32)
    positions[3] = -1  # a token that was dropped
    rows, gradient, scales, bias = draw(tokens * k, width), draw(tokens, width), draw(tokens, k), draw(3, width)
    experts = integers(0, 3, tokens, k)
    kept, sums = positions.reshape(tokens, k), np.zeros((tokens, width))
    for i, j in itertools.product(range(tokens), range(k)):
        sums[i] += rows[kept[i, j]] if kept[i, j] >= 0 else 0
    out = zeros(acl, tokens, width)
    call(acl, "MoeTokenPermuteGrad", rows, positions, LONG(k), BOOL(False), out)
    close(out, sums)
    call(acl, "MoeInitRoutingV2Grad", rows, positions, LONG(k), LONG(0), LONG(0), out)
    close(out, sums)
    call(acl, "MoeInitRoutingV2Grad", rows.reshape(2, 4, width), positions, LONG(k), LONG(1), LONG(0), out)
    close(out, sums)
    for has_bias in (False, True):
        of_rows, of_scales = np.zeros((tokens * k, width)), np.zeros((tokens, k))
        for i, j in itertools.product(range(tokens), range(k)):
            at, value = kept[i, j], bias[experts[i, j]] * has_bias
            if at >= 0:
                of_rows[at] = gradient[i] * scales[i, j]
                value = value + rows[at]
            of_scales[i, j] = (value * gradient[i]).sum()
        got, share = zeros(acl, tokens * k, width), zeros(acl, tokens, k)
        call(acl, "MoeFinalizeRoutingV2Grad", gradient, positions, rows, scales, experts, bias if has_bias else NULL, LONG(0), LONG(0),
             LONG(0), LONG(0), got, share)
        close(got, of_rows)
        close(share, of_scales)
        if not has_bias:
            call(acl, "MoeTokenUnpermuteGrad", rows, gradient, positions, scales, BOOL(False), NULL, got, share)
            close(got, of_rows)
            close(share, of_scales)
    plain = zeros(acl, tokens, width)
    call(acl, "MoeTokenUnpermuteGrad", rows[:tokens].copy(), gradient, np.array([2, 0, 3, 1], np.int32), NULL, BOOL(False), NULL, plain, NULL)
    close(plain, gradient[[1, 3, 0, 2]])
    assert "numTopk" in refused(acl, "MoeTokenPermuteGrad", rows, positions, LONG(3), BOOL(False), out)


#--- reductions, functions and gradients of elements ------------------------------------

def test_reductions_without_nan(acl):
    x = draw(4, 5)
    x[0, 1] = x[2, :3] = np.nan
    x[3] = np.nan
    out, positions, one = zeros(acl, 4), zeros(acl, 4, kind=np.int64), zeros(acl)
    with np.errstate(all="ignore"):
        want = [np.sort(row[~np.isnan(row)])[(np.sum(~np.isnan(row)) - 1) // 2] if (row == row).any() else np.nan for row in x]
    call(acl, "NanMedianDim", x, LONG(1), BOOL(False), out, positions)
    np.testing.assert_array_equal(out.read(), np.array(want, F32))
    for row, place, value in zip(x, positions.read(), want, strict=True):
        assert row[place] == value or np.isnan(value)
    call(acl, "NanMedian", x, one)
    assert one.read() == np.sort(x[x == x])[(np.sum(x == x) - 1) // 2]
    call(acl, "ReduceNansum", x, [1], BOOL(False), ctypes.c_int(0), out)
    close(out, np.nansum(x, 1))
    x = draw(3, 4, 5)
    low, high = zeros(acl, 3, 1, 5), zeros(acl, 3, 1, 5)
    call(acl, "AminmaxDim", x, LONG(-2), BOOL(True), low, high)
    assert (low.read() == x.min(1, keepdims=True)).all() and (high.read() == x.max(1, keepdims=True)).all()
    low, high = zeros(acl), zeros(acl)
    call(acl, "AminmaxAll", x, low, high)
    assert low.read() == x.min() and high.read() == x.max()


def test_gamma_functions(acl):
    x = np.array([.5, 1, 2, 3.7, 12, 100, -.5, -1.3, 1e-3], F32)
    out = zeros(acl, len(x))
    call(acl, "Lgamma", x, out)
    np.testing.assert_allclose(out.read(), [math.lgamma(v) for v in x], rtol=1e-5, atol=1e-5)
    call(acl, "Digamma", x, out)
    slopes = [(math.lgamma(v + 1e-5) - math.lgamma(v - 1e-5)) / 2e-5 for v in x.astype(np.float64)]
    np.testing.assert_allclose(out.read(), slopes, rtol=2e-4, atol=1e-4)
    call(acl, "Digamma", np.array([0, -0., -2, np.nan], F32), edges := zeros(acl, 4))
    assert edges.read()[0] == -np.inf and edges.read()[1] == np.inf and np.isnan(edges.read()[2:]).all()


def test_gradients_of_elements_and_windows(acl):
    x, g, out = draw(3, 6), draw(3, 6), zeros(acl, 3, 6)
    for name, beta, more in (("SwishBackward", 1, (NULL,)), ("SwishBackward", 2.5, (2.5,)), ("FastGeluBackward", 1.702, ())):
        share = 1 / (1 + np.exp(-beta * x))
        call(acl, name, g, x, *more, out)
        close(out, g * (share + beta * x * share * (1 - share)))
    for dim, size, step in ((0, 3, 2), (1, 2, 1), (2, 4, 3)):
        dims = (7, 5, 8)
        count = (dims[dim] - size) // step + 1
        windows = draw(*dims[:dim], count, *dims[dim + 1:], size)
        want = np.zeros(dims)
        for i, k in itertools.product(range(count), range(size)):
            want.swapaxes(0, dim)[i * step + k] += windows[..., k].swapaxes(0, dim)[i]
        call(acl, "UnfoldGrad", windows, list(dims), LONG(dim), LONG(size), LONG(step), result := zeros(acl, *dims))
        close(result, want)
    assert "gradOut" in refused(acl, "UnfoldGrad", windows, list(dims), LONG(2), LONG(9), LONG(1), result)


def test_norm_of_a_sum_in_two_types(acl):
    a, b, gamma = (draw(*dims).astype(np.float16) for dims in ((2, 3, 8), (2, 3, 8), (8,)))
    wide, narrow, both = zeros(acl, 2, 3, 8), zeros(acl, 2, 3, 8, kind=np.float16), zeros(acl, 2, 3, 8, kind=np.float16)
    rstd = zeros(acl, 2, 3, 1)
    call(acl, "AddRmsNormCast", a, b, gamma, DOUBLE(1e-5), wide, narrow, rstd, both)
    x = a.astype(F32) + b
    scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    close(narrow, x * scale * gamma, 5e-3)
    assert (wide.read() == narrow.read()).all()
    close(rstd, scale, 5e-3)
    close(both, x)


def test_nearest_pixels_by_scales(acl):
    image = draw(1, 2, 4, 6)
    number = ctypes.c_float
    for to, scales in (((10, 9), (0, 0)), ((8, 12), (2., 2.)), ((9, 11), (2.3, 1.9))):
        out = zeros(acl, 1, 2, *to)
        call(acl, "UpsampleNearest2dV2", image, list(to), number(scales[0]), number(scales[1]), out)
        rows, columns = (np.minimum(np.floor(np.arange(t) * (1 / np.float32(s) if s else n / t)), n - 1).astype(int)
                         for t, s, n in zip(to, scales, (4, 6), strict=True))
        assert (out.read() == image[:, :, rows][:, :, :, columns]).all()
    # A tiny scale leads beyond the last element, whose place 64 bits must hold.
    for tiny in (1e-30, 1e-45):
        out = zeros(acl, 1, 2, 3, 6)
        call(acl, "UpsampleNearest2dV2", image, [3, 6], number(tiny), number(0), out)
        assert (out.read() == image[:, :, [0, 3, 3]]).all()
        call(acl, "UpsampleNearestExact2d", image, [3, 6], DOUBLE(tiny), DOUBLE(0), out)
        assert (out.read() == image[:, :, [3, 3, 3]]).all()
        call(acl, "UpsampleBicubic2d", image, [3, 6], BOOL(False), DOUBLE(tiny), DOUBLE(0), out)
        close(out, image[:, :, [3, 3, 3]])
        for name in ("UpsampleBilinear2dBackward", "UpsampleBicubic2dBackward"):
            call(acl, name, gradient := draw(1, 2, 3, 6), [3, 6], [1, 2, 4, 6], BOOL(False), DOUBLE(tiny), DOUBLE(0), back := zeros(acl, 1, 2, 4, 6))
            want = np.zeros((1, 2, 4, 6))
            want[:, :, 3] = gradient.sum(2)
            close(back, want)


#--- recurrent networks -----------------------------------------------------------------

def logistic(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, params, first, sizes, layers, directions, bias):
    """The results of LSTM: the last layer's hidden elements, the last ones of each run, and what runs keep."""
    steps, batch, hidden = len(x), x.shape[1], params[1].shape[1]
    kept, last, states, each = [], [], [], 4 if bias else 2
    for layer in range(layers):
        rows = np.zeros((steps, batch, directions, hidden))
        for direction in range(directions):
            run = layer * directions + direction
            w, u, *biases = params[run * each:(run + 1) * each]
            h, c = first[0][run].astype(np.float64), first[1][run].astype(np.float64)
            gates = np.zeros((7, steps, batch, hidden))
            for step in range(steps)[::-1 if direction else 1]:
                own = slice(0, sizes[step])
                i, f, g, o = np.split(x[step, own] @ w.T + h[own] @ u.T + sum(biases), 4, axis=-1)
                i, f, g, o = logistic(i), logistic(f), np.tanh(g), logistic(o)
                c[own] = f * c[own] + i * g
                h[own] = o * np.tanh(c[own])
                gates[:, step, own] = i, g, f, o, h[own], c[own], np.tanh(c[own])
                rows[step, own, direction] = h[own]
            kept.append(gates)
            last.append(h)
            states.append(c)
        x = rows.reshape(steps, batch, -1)
    return x, np.array(last), np.array(states), np.array(kept)


@pytest.mark.parametrize("layers, directions, bias, form", [
    (1, 1, True, "steps"), (2, 2, True, "batch"), (2, 1, False, "packed"), (1, 2, True, "packed")])
def test_lstm(acl, layers, directions, bias, form):
    steps, batch, width, hidden = 4, 3, 5, 2
    sizes = np.array([3, 2, 2, 1] if form == "packed" else [3] * 4)
    params = []
    for run in range(layers * directions):
        params += [draw(8, width if run < directions else directions * hidden), draw(8, hidden)]
        params += [draw(8), draw(8)] if bias else []
    x, first = draw(steps, batch, width), [draw(layers * directions, batch, hidden) for _ in range(2)]
    want = lstm(x, params, first, sizes, layers, directions, bias)
    runs = layers * directions
    y = zeros(acl, *((batch, steps) if form == "batch" else (steps, batch)), directions * hidden)
    h, c = zeros(acl, runs, batch, hidden), zeros(acl, runs, batch, hidden)
    lists = [tuple(zeros(acl, steps, batch, hidden) for _ in range(runs)) for _ in range(7)]
    given = x.swapaxes(0, 1) if form == "batch" else x.reshape(-1, width) if form == "packed" else x
    form_of = (sizes if form == "packed" else NULL, BOOL(bias), LONG(layers), DOUBLE(0))
    call(acl, "LSTM", given, tuple(params), tuple(first), *form_of, BOOL(True), BOOL(directions == 2),
         BOOL(form == "batch"), y, h, c, *lists)
    close(y, want[0].swapaxes(0, 1) if form == "batch" else want[0], 1e-5)
    close(h, want[1], 1e-5)
    close(c, want[2], 1e-5)
    for k, tensors in enumerate(lists):
        for run, tensor in enumerate(tensors):
            close(tensor, want[3][run, k], 1e-5)
    # Without hx the first elements are 0, and without train nothing is kept.
    want = lstm(x, params, np.zeros((2, runs, batch, hidden)), sizes, layers, directions, bias)
    call(acl, "LSTM", given, tuple(params), NULL, *form_of, BOOL(False), BOOL(directions == 2), BOOL(form == "batch"), y,
         h, c, *[NULL] * 7)
    close(h, want[1], 1e-5)


def test_lstm_refuses_what_does_not_fit(acl):
    x, params = draw(4, 3, 5), (draw(8, 5), draw(8, 2))
    out = (zeros(acl, 4, 3, 2), zeros(acl, 1, 3, 2), zeros(acl, 1, 3, 2), *[NULL] * 7)
    flags = (BOOL(False), BOOL(False), BOOL(False))
    one = (BOOL(False), LONG(1), DOUBLE(0))
    assert "params has 2 tensors; 1 layers have 4" in refused(acl, "LSTM", x, params, NULL, NULL, BOOL(True), LONG(1),
                                                              DOUBLE(0), *flags, *out)
    assert "params[0] [8,4] must be [8,5]" in refused(acl, "LSTM", x, (draw(8, 4), params[1]), NULL, NULL, *one, *flags, *out)
    assert "hx must be 2 tensors of [1,3,2]" in refused(acl, "LSTM", x, params, (draw(1, 3, 2),), NULL, *one, *flags, *out)
    assert "numLayers 0" in refused(acl, "LSTM", x, params, NULL, NULL, BOOL(False), LONG(0), DOUBLE(0), *flags, *out)
    failed(acl, "LSTM", x, params, NULL, np.array([3, 1, 2, 1]), *one, *flags, *out)
    failed(acl, "LSTM", x, params, NULL, np.array([4, 1, 1, 1]), *one, *flags, *out)
