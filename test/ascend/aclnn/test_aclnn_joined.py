# aclnn functions that do the work of several others: losses of logits, experts with gates, pools
# whose indices are bytes, against NumPy. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, Tensor, acl, call, close, drawer, failed, refused, zeros  # noqa: E402, F401

RNG, draw = drawer(41)
F32, NULL = np.float32, POINTER()


def test_cross_entropy(acl):
    """As in PyTorch: a part of each label goes to all classes, an ignored row has no loss."""
    x, target, weight = draw(5, 4), np.array([2, 0, 3, 9, 1]), np.abs(draw(4)) + .5
    logarithms = x.astype(np.float64) - np.log(np.exp(x.astype(np.float64)).sum(-1, keepdims=True))
    own, rest = target != 9, (logarithms * weight).sum(-1) / 4
    positions = np.where(own, target, 0)
    out, scores = {kind: zeros(acl, *dims) for kind, dims in ((b"none", (5,)), (b"mean", ()), (b"sum", ()))}, zeros(acl, 5, 4)
    for smoothing in (0, .2):
        losses = -np.where(own, (1 - smoothing) * logarithms[np.arange(5), positions] * weight[positions] + smoothing * rest, 0)
        for kind, want in ((b"none", losses), (b"sum", losses.sum()), (b"mean", losses.sum() / weight[target[own]].sum())):
            call(acl, "CrossEntropyLoss", x, target, weight.astype(F32), ctypes.c_char_p(kind), LONG(9), DOUBLE(smoothing), DOUBLE(0),
                 BOOL(False), out[kind], scores, NULL, NULL)
            close(out[kind], want)
            close(scores, logarithms)
    call(acl, "CrossEntropyLoss", x, target % 4, NULL, NULL, LONG(-100), DOUBLE(0), DOUBLE(0), BOOL(False), out[b"mean"], scores, NULL,
         NULL)
    close(out[b"mean"], -logarithms[np.arange(5), target % 4].mean())
    assert "labelSmoothing" in refused(acl, "CrossEntropyLoss", x, target, NULL, NULL, LONG(9), DOUBLE(np.nan), DOUBLE(0), BOOL(False),
                                       out[b"mean"], scores, NULL, NULL)
    assert failed(acl, "CrossEntropyLoss", x, np.array([2, 0, -1, 9, 1]), NULL, NULL, LONG(9), DOUBLE(0), DOUBLE(0), BOOL(False),
                   out[b"mean"], scores, NULL, NULL)
    call(acl, "CrossEntropyLoss", x[:0], target[:0], NULL, ctypes.c_char_p(b"none"), LONG(9), DOUBLE(0), DOUBLE(0), BOOL(False),
         zeros(acl, 0), zeros(acl, 0, 4), NULL, NULL)
    assert "returnZloss" in refused(acl, "CrossEntropyLoss", x, target, NULL, NULL, LONG(9), DOUBLE(0), DOUBLE(1), BOOL(True),
                                    out[b"mean"], scores, NULL, NULL)


def test_experts_with_gates(acl):
    """Rows of int8 by the matrix of their group; the last row belongs to no group."""
    x, weight = (RNG.integers(-9, 9, dims).astype(np.int8) for dims in ((6, 16), (3, 16, 8)))
    scales, of_rows = np.abs(draw(3, 8)) / 50 + .01, np.abs(draw(6)) / 50 + .01
    y, factors = zeros(acl, 6, 4, kind=np.int8), zeros(acl, 6)
    call(acl, "GroupedMatmulSwigluQuant", x, weight, NULL, NULL, scales.astype(F32), of_rows.astype(F32), np.array([2, 2, 5]), y, factors,
         NULL)
    group = [0, 0, 2, 2, 2]
    values = np.einsum("rk,rkn->rn", x[:5].astype(np.int64), weight[group].astype(np.int64)) * scales[group] * of_rows[:5, None]
    gated = values[:, :4] / (1 + np.exp(-values[:, :4])) * values[:, 4:]
    want = np.abs(gated).max(-1) / 127
    close(factors, np.append(want, 0))
    assert np.abs(y.read()[:5] - np.rint(gated / want[:, None])).max() <= 1 and not y.read()[5].any()
    assert "must be NULL" in refused(acl, "GroupedMatmulSwigluQuant", x, weight, draw(3, 8), NULL, scales.astype(F32),
                                     of_rows.astype(F32), np.array([2, 2, 5]), y, factors, NULL)
    assert "depth" in refused(acl, "GroupedMatmulSwigluQuant", x[:, :0], weight[:, :0], NULL, NULL, scales.astype(F32),
                              of_rows.astype(F32), np.array([2, 2, 5]), y, factors, NULL)
    assert "groupList" in refused(acl, "GroupedMatmulSwigluQuant", x, weight, NULL, NULL, scales.astype(F32), of_rows.astype(F32),
                                  np.array([2, 2, 7]), y, factors, NULL)


def test_pools_with_indices_as_bytes(acl):
    x, y = draw(1, 2, 5, 5), zeros(acl, 1, 2, 2, 2)
    positions, mask = zeros(acl, 1, 2, 2, 2, kind=np.int32), Tensor(acl, np.full((1, 2, 9, 64), 7, np.int8))
    options = [3, 3], [2, 2], [0, 0], [1, 1], BOOL(False), y
    call(acl, "MaxPool2dWithIndices", x, *options, positions)
    call(acl, "MaxPool2dWithMask", x, *options, mask)
    bytes_of = mask.read().reshape(-1)
    assert (bytes_of[:32].view(np.int32) == positions.read().reshape(-1)).all() and not bytes_of[32:].any()
    assert "dense bytes" in refused(acl, "MaxPool2dWithMask", x, *options, Tensor(acl, np.zeros((1, 1, 1, 16), np.int8)))
