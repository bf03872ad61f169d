# ===-- test_windows.py - convolutions and pools -------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import resource

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(2)


def numbers(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def conv_reference(x, w, bias, strides, dilations, pads, group):
    """One output at a time, in double precision."""
    rank = x.ndim - 2
    x = np.pad(x.astype("f8"), [(0, 0), (0, 0)] + list(zip(pads[:rank], pads[rank:])))
    out = [(x.shape[2 + d] - (w.shape[2 + d] - 1) * dilations[d] - 1) // strides[d] + 1
           for d in range(rank)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    per_out, per_in = w.shape[0] // group, w.shape[1]
    for at in itertools.product(*map(range, out)):
        window = tuple(slice(a * s, a * s + (k - 1) * d + 1, d)
                       for a, s, k, d in zip(at, strides, w.shape[2:], dilations))
        for m in range(w.shape[0]):
            g = m // per_out
            part = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *window)]
            y[(slice(None), m, *at)] = (part * w[m]).reshape(len(x), -1).sum(1)
    return y if bias is None else y + bias.reshape(-1, *[1] * rank)


CASES = [  # x, w, strides, dilations, pads, group
    ((2, 3, 9), (4, 3, 3), [1], [1], [1, 1], 1),
    ((1, 4, 40), (8, 2, 5), [3], [2], [4, 0], 2),
    ((1, 3, 12, 14), (5, 3, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
    ((2, 6, 11, 7), (6, 1, 3, 3), [2, 1], [1, 2], [2, 1, 0, 3], 6),
    ((1, 8, 20, 21), (16, 8, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),
    ((1, 4, 9, 9), (8, 2, 3, 3), [2, 2], [2, 2], [2, 2, 2, 2], 2),
    ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), [1, 2, 2], [2, 1, 1], [1, 0, 1, 0, 1, 1], 1),
    ((1, 60, 30, 30), (70, 60, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
    ((1, 2, 9, 9), (3, 2, 3, 3), [1, 1], [1, 1], [-1, 0, 0, -2], 1),
    # Panels within one row, across rows with and without a gap, of many short rows, beside pads.
    ((1, 3, 9, 50), (4, 3, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
    ((1, 3, 10, 67), (4, 3, 3, 3), [2, 2], [1, 1], [1, 1, 1, 1], 1),
    ((2, 4, 7, 7), (5, 4, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
    ((1, 3, 8, 40), (4, 3, 1, 1), [2, 2], [1, 1], [0, 0, 0, 0], 1),
    ((1, 3, 6, 90), (4, 3, 2, 4), [1, 3], [1, 5], [0, 7, 1, 2], 1),
    ((1, 3, 30, 3), (4, 3, 3, 3), [1, 2], [2, 1], [2, 1, 2, 0], 1),
    # Lines and volumes whose panels are pieces of rows.
    ((1, 3, 170), (5, 3, 11), [5], [1], [0, 3], 1), ((2, 2, 100), (4, 2, 3), [1], [7], [7, 7], 1),
    ((1, 2, 6, 9, 40), (3, 2, 3, 3, 3), [1, 2, 2], [1, 1, 1], [1] * 6, 1),
    ((1, 2, 5, 6, 20), (3, 2, 2, 3, 3), [2, 1, 1], [1, 2, 1], [0, 2, 1, 1, 2, 1], 1),
    # One channel per group: a few columns, a vector, and some at once.
    ((2, 3, 5, 5), (3, 1, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 3),
    ((1, 3, 4, 2), (6, 1, 3, 5), [1, 1], [1, 1], [1, 2, 1, 2], 3),
    ((2, 5, 14, 13), (10, 1, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 5),
    ((1, 3, 29, 61), (3, 1, 5, 5), [2, 2], [1, 1], [2, 2, 2, 2], 3),
    ((1, 4, 33, 40), (4, 1, 3, 3), [2, 2], [1, 1], [0, 0, 1, 1], 4),
    ((1, 2, 12, 75), (2, 1, 2, 3), [1, 1], [3, 2], [2, 4, 1, 0], 2),
    ((1, 2, 20, 110), (4, 1, 3, 3), [3, 3], [1, 1], [1, 1, 1, 1], 2),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_conv(case, dtype):
    shape, weights, strides, dilations, pads, group = case
    x, w, b = numbers(*shape, dtype=dtype), numbers(*weights, dtype=dtype), numbers(weights[0],
                                                                                    dtype=dtype)
    if min(pads) < 0:
        cut = x[:, :, 1:, :-2]
        want = conv_reference(cut, w, b, strides, dilations, [0] * 4, group)
    else:
        want = conv_reference(x, w, b, strides, dilations, pads, group)
    got, = call("Conv", x, w, b, strides=strides, dilations=dilations, pads=pads, group=group)
    assert got.shape == want.shape and got.dtype == x.dtype
    tolerance = {"f4": 1e-4, "f8": 1e-10, "f2": 3e-3}[dtype]
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=20 * tolerance)
    assert call("Conv", x, w, b, strides=strides, dilations=dilations, pads=pads, group=group,
                only_shapes=True) == [want.shape]


@pytest.mark.parametrize("mode,pads", [("SAME_UPPER", [0, 1, 1, 1]), ("SAME_LOWER", [1, 1, 0, 1]),
                                       ("VALID", [0, 0, 0, 0])])
def test_conv_auto_pad(mode, pads):
    x, w = numbers(1, 2, 8, 9), numbers(3, 2, 3, 3)
    got, = call("Conv", x, w, auto_pad=mode, strides=[2, 2])
    want = conv_reference(x, w, None, [2, 2], [1, 1], pads, 1)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_conv_finds_its_groups():
    """Groups that follow from the channels of data and weights."""
    x, w = numbers(2, 6, 5, 4), numbers(9, 2, 3, 3)
    got, = call("Conv", x, w, groups_by_channels=1)
    np.testing.assert_array_equal(got, call("Conv", x, w, group=3)[0])
    with pytest.raises(KernelError):
        call("Conv", numbers(2, 5, 5, 4), w, groups_by_channels=1)


def test_conv_empty_and_errors():
    w = numbers(3, 2, 3, 3)
    assert call("Conv", numbers(0, 2, 8, 8), w)[0].shape == (0, 3, 6, 6)
    for x in (numbers(1, 3, 8, 8), numbers(1, 2, 2, 2), numbers(1, 2, 8)):
        with pytest.raises(KernelError):
            call("Conv", x, w)
    with pytest.raises(KernelError):
        call("Conv", numbers(1, 2, 8, 8), w, strides=[0, 1])
    with pytest.raises(KernelError):
        call("Conv", numbers(1, 2, 8, 8), w, numbers(4))


def test_conv_integers():
    x, w = rng.integers(0, 255, (1, 4, 9, 9)).astype("u1"), rng.integers(-128, 127,
                                                                         (6, 2, 3, 3)).astype("i1")
    zx, zw = np.uint8(7), rng.integers(-9, 9, 6).astype("i1")
    exact = conv_reference(
        x.astype("i4") - 7,
        w.astype("i4") - zw[:, None, None, None], None, [1, 1], [1, 1], [1, 1, 1, 1], 2)
    got, = call("ConvInteger", x, w, zx, zw, pads=[1, 1, 1, 1], group=2)
    assert got.dtype == np.int32 and (got == exact).all()
    scale = np.linspace(0.01, 0.02, 6).astype("f4")
    bias = rng.integers(-1000, 1000, 6).astype("i4")
    got, = call("QLinearConv",
                x,
                np.float32(0.02),
                zx,
                w,
                scale,
                zw,
                np.float32(0.5),
                np.uint8(128),
                bias,
                pads=[1, 1, 1, 1],
                group=2)
    # One factor, rounded to f32 once, as docs/rationale/quant.md has it.
    by = np.float64(np.float32(0.02)) * scale.astype("f8") / np.float64(np.float32(0.5))
    sums = (exact + bias[:, None, None]).astype("f4")
    want = np.clip(np.rint(sums * by.astype("f4")[:, None, None]) + 128, 0, 255)
    assert got.dtype == np.uint8 and (got == want).all()
    with pytest.raises(KernelError, match=r"dims \[4\] in input 3, expected \{1\}\|\{m\} where m is 6"):
        call("ConvInteger", x, w, zx, zw[:4], pads=[1, 1, 1, 1], group=2)


# Rank 1 to 3, panels that end inside, odd k, few channels (rows are added), strides, dilations.
INTEGER_CONVS = [((2, 3, 17), (7, 3, 4), {"strides": [3], "pads": [2, 1]}),
                 ((1, 5, 13, 19), (50, 5, 3, 3), {"pads": [1, 2, 0, 1], "strides": [1, 2]}),
                 ((2, 6, 9, 11), (6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
                 ((1, 4, 12, 12), (8, 1, 3, 3), {"group": 4, "strides": [2, 2]}),
                 ((1, 4, 12, 12), (4, 1, 2, 3), {"group": 4, "strides": [3, 3]}),
                 ((1, 8, 14, 14), (6, 4, 3, 3), {"group": 2, "dilations": [2, 1]}),
                 ((1, 300, 5, 5), (49, 300, 2, 2), {}),
                 ((1, 2, 4, 5, 6), (3, 2, 2, 2, 2), {"pads": [0, 1, 1, 1, 0, 0]}),
                 ((0, 3, 8, 8), (4, 3, 3, 3), {}), ((1, 1, 1, 1), (1, 1, 1, 1), {})]


@pytest.mark.parametrize("data,weights,attributes", INTEGER_CONVS)
@pytest.mark.parametrize("dtypes", [("u1", "i1"), ("i1", "u1"), ("u1", "u1"), ("i1", "i1")])
def test_conv_integers_of_every_form(data, weights, attributes, dtypes):
    def numbers_of(shape, dtype):
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True,
                            dtype=dtype)

    x, w = numbers_of(data, dtypes[0]), numbers_of(weights, dtypes[1])
    zx, zw = numbers_of((), dtypes[0]), numbers_of(weights[:1], dtypes[1])
    wide = zw.astype("i4").reshape(-1, *[1] * (len(weights) - 1))
    # Doubles hold these sums exactly.
    want, = call("Conv", x.astype("f8") - zx, (w.astype("i4") - wide).astype("f8"), **attributes)
    got, = call("ConvInteger", x, w, zx, zw, **attributes)
    assert got.shape == want.shape and (got == want).all()
    scale = np.float32(0.01)
    got, = call("QLinearConv", x, scale, zx, w, scale, zw, np.float32(0.5), zx, **attributes)
    by = (np.float64(scale) ** 2 / 0.5).astype("f4")
    least, most = np.iinfo(dtypes[0]).min, np.iinfo(dtypes[0]).max
    want = np.clip(np.rint(want.astype("f4") * by) + np.float32(zx), least, most)
    assert got.dtype == x.dtype and (got == want).all()


@pytest.mark.parametrize("group,strides,dilations,pads,more", [
    (1, [1, 1], [1, 1], [0] * 4, [0, 0]), (2, [2, 3], [1, 2], [1, 0, 0, 1], [1, 2]),
    (4, [2, 2], [2, 1], [1, 1, 1, 1], [0, 1])])
def test_conv_transpose(group, strides, dilations, pads, more):
    x, w, b = numbers(2, 4, 5, 6), numbers(4, 3, 3, 2), numbers(3 * group)
    full = [s * (n - 1) + o + (k - 1) * d + 1
            for s, n, o, k, d in zip(strides, x.shape[2:], more, w.shape[2:], dilations)]
    y = np.zeros((2, 3 * group, *full))
    for c, m in itertools.product(range(4), range(3)):
        out = c // (4 // group) * 3 + m
        for i, j, p, q in itertools.product(range(5), range(6), range(3), range(2)):
            y[:, out, i * strides[0] + p * dilations[0], j * strides[1] + q * dilations[1]] += (
                x[:, c, i, j] * w[c, m, p, q])
    y = y[:, :, pads[0]:full[0] - pads[2], pads[1]:full[1] - pads[3]] + b[:, None, None]
    got, = call("ConvTranspose",
                x,
                w,
                b,
                group=group,
                strides=strides,
                dilations=dilations,
                pads=pads,
                output_padding=more)
    assert got.shape == y.shape
    np.testing.assert_allclose(got, y, rtol=1e-4, atol=1e-4)


def pool_reference(x, fill, fn, kernel, strides, dilations, pads):
    rank = x.ndim - 2
    x = np.pad(x.astype("f8"), [(0, 0), (0, 0)] + list(zip(pads[:rank], pads[rank:])),
               constant_values=fill)
    out = [(x.shape[2 + d] - (kernel[d] - 1) * dilations[d] - 1) // strides[d] + 1
           for d in range(rank)]
    y = np.zeros((*x.shape[:2], *out))
    for at in itertools.product(*map(range, out)):
        window = tuple(slice(a * s, a * s + (k - 1) * d + 1, d)
                       for a, s, k, d in zip(at, strides, kernel, dilations))
        y[(Ellipsis, *at)] = fn(x[(slice(None), slice(None), *window)].reshape(*x.shape[:2], -1))
    return y


POOLS = [((2, 3, 11), [3], [2], [2], [1, 1]), ((1, 2, 9, 10), [3, 2], [1, 2], [1, 1], [1, 0, 1, 1]),
         ((1, 2, 5, 6, 7), [2, 2, 3], [1, 1, 2], [1, 2, 1], [0, 1, 1, 1, 0, 1])]


@pytest.mark.parametrize("shape,kernel,strides,dilations,pads", POOLS)
def test_pools(shape, kernel, strides, dilations, pads):
    x = numbers(*shape)
    attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}
    args = kernel, strides, dilations, pads
    got, = call("MaxPool", x, **attributes)
    want = pool_reference(x, -np.inf, lambda v: v.max(-1), *args)
    np.testing.assert_array_equal(got, want.astype("f4"))
    both, indices = call("MaxPool", x, outputs=2, **attributes)
    np.testing.assert_array_equal(both, got)
    np.testing.assert_array_equal(x.reshape(-1)[indices], got)
    # A NaN is the result of each window that holds it.
    hole = x.copy()
    hole.reshape(-1)[[7, x.size // 2]] = np.nan
    want = pool_reference(hole, -np.inf, lambda v: v.max(-1), *args).astype("f4")
    for outputs in (1, 2):
        np.testing.assert_array_equal(call("MaxPool", hole, outputs=outputs, **attributes)[0], want)
    got, = call("AveragePool", x, count_include_pad=1, **attributes)
    np.testing.assert_allclose(got,
                               pool_reference(x, 0, lambda v: v.mean(-1), *args),
                               rtol=1e-5,
                               atol=1e-6)
    got, = call("AveragePool", x, **attributes)
    np.testing.assert_allclose(got, pool_reference(x, np.nan, lambda v: np.nanmean(v, -1), *args),
                               rtol=1e-5, atol=1e-6)
    for p in (1, 2, 3):
        got, = call("LpPool", x, p=p, **attributes)
        want = pool_reference(x, 0, lambda v: (abs(v)**p).sum(-1)**(1 / p), *args)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_max_pool_columns_and_integers():
    x = rng.integers(-128, 127, (2, 1, 4, 6)).astype("i1")
    got, indices = call("MaxPool",
                        x,
                        outputs=2,
                        kernel_shape=[2, 2],
                        strides=[2, 2],
                        storage_order=1)
    columns = x.transpose(0, 1, 3, 2).reshape(-1)
    assert got.dtype == np.int8 and (columns[indices] == got).all()


def test_windows_far_larger_than_the_data():
    """Only taps that read something take time, and the number of all taps may wrap."""
    x = numbers(1, 2, 3, 4, 2)
    huge = 2**30
    huge_window = dict(kernel_shape=[huge] * 3, pads=[huge - 1] * 6,
                       strides=[huge // 2, huge - 2, huge])
    highest, = call("MaxPool", x, **huge_window)
    assert np.isfinite(highest).any()
    for kernel, more in (("AveragePool", {"count_include_pad": 1}), ("LpPool", {})):
        assert call(kernel, x, **huge_window, **more)[0].shape == highest.shape
    whole = dict(kernel_shape=[2**20] * 3, pads=[0, 0, 0] + [2**20 - n for n in x.shape[2:]])
    np.testing.assert_array_equal(call("MaxPool", x, **whole)[0],
                                  x.max((2, 3, 4), keepdims=True))
    # More taps than elements along the last dim alone, and a step between taps.
    row = numbers(1, 1, 5)
    wide = dict(kernel_shape=[100], pads=[60, 60], dilations=[1])
    padded = np.pad(row, [(0, 0), (0, 0), (60, 60)], constant_values=-np.inf)
    np.testing.assert_array_equal(
        call("MaxPool", row, **wide)[0][0, 0],
        [padded[0, 0, i:i + 100].max() for i in range(26)])


def test_indices_of_windows_that_hold_nothing():
    for order in (0, 1):
        x = numbers(1, 1, 2, 0)
        highest, indices = call("MaxPool", x, kernel_shape=[1, 1], pads=[0, 1, 0, 1],
                                storage_order=order, outputs=2)
        assert highest.shape == (1, 1, 2, 2) and not indices.any()


def test_ceil_mode_leaves_windows_out_that_begin_in_the_end_pads():
    x = np.arange(5, dtype="f4").reshape(1, 1, 5)
    got, = call("MaxPool", x, kernel_shape=[1], strides=[3], pads=[0, 1], ceil_mode=1)
    assert got.reshape(-1).tolist() == [0, 3]
    got, = call("AveragePool", x, kernel_shape=[3], strides=[3], ceil_mode=1, count_include_pad=1)
    assert got.reshape(-1).tolist() == [1, 3.5]


def test_ceil_mode_counts_a_window_that_is_larger_than_the_data():
    x = np.arange(1, 11, dtype="f4").reshape(1, 1, 2, 5)
    pool = dict(kernel_shape=[320, 4], strides=[320, 3], ceil_mode=1)
    for count in (0, 1):
        got, = call("AveragePool", x, count_include_pad=count, **pool)
        assert got.shape == (1, 1, 1, 2) and got.reshape(-1).tolist() == [5, 7]
    assert call("MaxPool", x, **pool)[0].reshape(-1).tolist() == [9, 10]
    for strides in ([3, 1], [5, 1]):
        with pytest.raises(KernelError, match="a window of 7 does not fit spatial dim 0 of 2 with pads 0 and 0"):
            call("MaxPool", x, kernel_shape=[7, 1], strides=strides, ceil_mode=1)


def test_max_unpool_turns_max_pool_around():
    x = numbers(1, 2, 6, 8)
    y, indices = call("MaxPool", x, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    got, = call("MaxUnpool", y, indices, kernel_shape=[2, 2], strides=[2, 2])
    want = np.zeros(x.size, "f4")
    want[indices.reshape(-1)] = y.reshape(-1)
    assert (got.reshape(-1) == want).all()
    indices[0, 0, 0, 0] = 10**6
    with pytest.raises(KernelError):
        call("MaxUnpool", y, indices, kernel_shape=[2, 2], strides=[2, 2])


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 2, 3), (2, 3, 2, 2, 2)])
def test_global_pools(shape):
    x = numbers(*shape)
    axes = tuple(range(2, len(shape)))
    for name, want in [("GlobalAveragePool", x.mean(axes, keepdims=True)),
                       ("GlobalMaxPool", x.max(axes, keepdims=True)),
                       ("GlobalLpPool", np.sqrt((x**2).sum(axes, keepdims=True)))]:
        np.testing.assert_allclose(call(name, x)[0], want, rtol=1e-5)
    np.testing.assert_allclose(call("GlobalLpPool", x, p=3)[0],
                               (abs(x)**3).sum(axes, keepdims=True)**(1 / 3), rtol=1e-4)


def test_deform_conv_without_offsets_is_conv():
    x, w, b = numbers(1, 4, 7, 8), numbers(6, 2, 3, 3), numbers(6)
    offset = np.zeros((1, 2 * 9 * 2, 7, 8), "f4")
    got, = call("DeformConv", x, w, offset, b, group=2, offset_group=2, pads=[1, 1, 1, 1])
    want, = call("Conv", x, w, b, group=2, pads=[1, 1, 1, 1])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    offset[:, 0::2] = 1  # one row down
    got, = call("DeformConv", x, w, offset, b, group=2, offset_group=2, pads=[1, 1, 1, 1])
    np.testing.assert_allclose(got[:, :, :-1], want[:, :, 1:], rtol=1e-4, atol=1e-5)
    mask = np.full((1, 18, 7, 8), 0.5, "f4")
    got, = call("DeformConv",
                x,
                w,
                0 * offset,
                0 * b,
                mask,
                group=2,
                offset_group=2,
                pads=[1, 1, 1, 1])
    np.testing.assert_allclose(got, (want - b[:, None, None]) / 2, rtol=1e-4, atol=1e-5)
    with pytest.raises(KernelError):
        call("DeformConv", x, w, offset[:, :6], b, group=2, offset_group=2, pads=[1, 1, 1, 1])


def test_deform_conv_whose_groups_cross_those_of_offsets():
    x, w = numbers(2, 60, 6, 7), numbers(4, 30, 3, 3)
    offset, mask = 2 * numbers(2, 3 * 18, 6, 7), numbers(2, 27, 6, 7)
    x[0, 0, 0, 0] = np.inf  # read by the samples around it only
    got, = call("DeformConv", x, w, offset, None, mask, missing=[3], group=2, offset_group=3,
                pads=[1] * 4)
    # The sample of each tap as the weights of its image, one image after the other.
    samples = np.zeros((2, 60, 9, 6, 7))
    for n, c, t, i, j in itertools.product(*map(range, samples.shape)):
        g = c // 20
        down, right = offset[n, g * 18 + 2 * t:g * 18 + 2 * t + 2, i, j]
        y, z = i + t // 3 - 1 + np.float64(down), j + t % 3 - 1 + np.float64(right)
        for p, q in itertools.product((0, 1), repeat=2):
            row, column = int(np.floor(y)) + p, int(np.floor(z)) + q
            share = (1 - abs(y - row)) * (1 - abs(z - column))
            if 0 <= row < 6 and 0 <= column < 7 and share:
                samples[n, c, t, i, j] += share * x[n, c, row, column]
        samples[n, c, t, i, j] *= mask[n, g * 9 + t, i, j]
    want = np.concatenate([np.einsum("nctij,oct->noij", samples[:, 30 * g:30 * g + 30],
                                     w[2 * g:2 * g + 2].reshape(2, 30, 9)) for g in (0, 1)], 1)
    infinite = ~np.isfinite(want)
    assert infinite.any() and (np.isfinite(got) == ~infinite).all()
    np.testing.assert_allclose(got[~infinite], want[~infinite], rtol=1e-4, atol=1e-3)


def test_conv_transpose_of_strides_beyond_the_result():
    got, = call("ConvTranspose", numbers(1, 1, 1), np.ones((1, 1, 3), "f4"), strides=[1 << 30])
    assert got.shape == (1, 1, 3) and (got == got[0, 0, 0]).all()


def test_weights_of_transposed_convolutions_are_turned_once():
    """Each image of a batch had a copy of its own: 256 of 262 KB."""
    x, w = numbers(256, 64, 2, 2), numbers(64, 64, 4, 4)
    call("ConvTranspose", x[:1], w, strides=[2, 2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got, = call("ConvTranspose", x, w, strides=[2, 2])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 << 10
    first, = call("ConvTranspose", x[:1], w, strides=[2, 2])
    np.testing.assert_allclose(got[:1], first, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("stride, more", [(1, 0), (2, 1), (3, 2), (8, 0)])
def test_conv_transpose_of_lines_and_volumes(stride, more):
    """As that of an image of one row, and of one plane."""
    x, w, b = numbers(2, 20, 19), numbers(20, 9, 10), numbers(9)
    attributes = {"strides": [stride], "pads": [2, 3], "output_padding": [more]}
    line, = call("ConvTranspose", x, w, b, **attributes)
    for rank in (2, 3):
        ones = [1] * (rank - 1)
        got, = call("ConvTranspose", x.reshape(2, 20, *ones, 19), w.reshape(20, 9, *ones, 10), b,
                    strides=[*ones, stride], pads=[*[0] * (rank - 1), 2, *[0] * (rank - 1), 3],
                    output_padding=[*[0] * (rank - 1), more])
        np.testing.assert_allclose(got.reshape(line.shape), line, rtol=1e-5, atol=1e-5)
    want = np.zeros((2, 9, 19 * stride + 20 + more))
    for i, j in itertools.product(range(19), range(10)):
        want[:, :, i * stride + j] += x[:, :, i] @ w[:, :, j]
    want = want[:, :, 2:2 + line.shape[2]] + b[:, None]
    np.testing.assert_allclose(line, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size, block, attributes", [
    (5, 3, {"dilations": [2**63 - 1]}), (5, 3, {"pads": [2**63 - 1, 1]}), (5, 3, {"pads": [-2**63, -2**63]}),
    (1, 1, {"pads": [-2**62, -2**62]}), (2**63 - 1, 2**63 - 1, {"dilations": [2**62]})])
def test_sizes_of_images_from_columns_that_overflow(size, block, attributes):
    """2 * 2^63 was 0 or any other number."""
    with pytest.raises(KernelError):
        call("Col2Im", np.zeros((1, 3, 4), np.float32), np.array([size]), np.array([block]), **attributes)
