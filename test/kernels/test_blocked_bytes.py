# ===-- test_blocked_bytes.py - 8-bit convolutions of images in blocks of channels ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, call
from test_blocked import block, unblock

rng = np.random.default_rng(11)


def bytes_of(dtype, *shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def block_bytes(x):
    return block(x).astype(x.dtype)


def pack(w, groups=1):
    """[o, i, kh, kw] -> [output blocks / 4, taps, words, output blocks of these 4, 16, 4]"""
    o, i, kh, kw = w.shape
    words, blocks = -(-i // 4), -(-o // 16)
    padded = np.zeros((blocks * 16, words * 4, kh * kw), "i1")
    padded[:o, :i] = w.reshape(o, i, -1)
    shaped = padded.reshape(blocks, 16, words, 4, -1).transpose(0, 4, 2, 1, 3)
    parts = []
    per_group = blocks // groups
    for group in range(groups):
        for first in range(0, per_group, 4):
            begin = group * per_group + first
            parts.append(shaped[begin:min(begin + 4, (group + 1) * per_group)]
                         .transpose(1, 2, 0, 3, 4).ravel())
    return np.concatenate(parts).reshape(blocks, kh * kw, words, 16, 4)


def pack_depthwise(w):
    """[c, 1, kh, kw] -> [blocks, kh, words of columns, 16, 4]"""
    c, _, kh, kw = w.shape
    padded = np.zeros((-(-c // 16) * 16, kh, -(-kw // 4) * 4), "i1")
    padded[:c, :, :kw] = w[:, 0]
    shaped = padded.reshape(-1, 16, kh, padded.shape[2] // 4, 4)
    return np.ascontiguousarray(shaped.transpose(0, 2, 3, 1, 4))


def sums_of(x, w, zero, strides, dilations, pads, groups):
    """The exact sums of products, by plain numpy."""
    n, channels, height, width = x.shape
    o, i, kh, kw = w.shape
    centered = x.astype("i8") - zero
    padded = np.zeros((n, channels, height + 200, width + 200), "i8")
    padded[:, :, 100:100 + height, 100:100 + width] = centered
    rows = (height + pads[0] + pads[2] - (kh - 1) * dilations[0] - 1) // strides[0] + 1
    columns = (width + pads[1] + pads[3] - (kw - 1) * dilations[1] - 1) // strides[1] + 1
    y = np.zeros((n, o, rows, columns), "i8")
    # What negative pads cut off is not read.
    padded[:, :, :100 + max(0, -pads[0])] = 0
    padded[:, :, :, :100 + max(0, -pads[1])] = 0
    for a in range(kh):
        for b in range(kw):
            top, left = 100 - pads[0] + a * dilations[0], 100 - pads[1] + b * dilations[1]
            part = padded[:, :, top:top + (rows - 1) * strides[0] + 1:strides[0],
                          left:left + (columns - 1) * strides[1] + 1:strides[1]]
            part = part.reshape(n, groups, i, rows, columns)
            filters = w[:, :, a, b].astype("i8").reshape(groups, o // groups, i)
            y += np.einsum("ngihw,goi->ngohw", part, filters).reshape(y.shape)
    return y


def operands(w, dtype, zero, bias, factors):
    """Biases with the zero point of the data, and factors, for whole blocks."""
    shifted = int(zero) + (128 if dtype == "i1" else 0)
    own = bias - shifted * w.astype("i8").reshape(len(w), -1).sum(1)
    rest = (0, -len(w) % 16)
    return np.pad(own, rest).astype("i4"), np.pad(factors, rest).astype("f4")


def check(x, w, dtype, strides, dilations, pads, groups=1, depthwise=False, planes=False, result="u1"):
    limits = np.iinfo(x.dtype)
    zero = x.dtype.type(rng.integers(limits.min, limits.max + 1))
    zero_y = np.dtype(result).type(rng.integers(-20, 20) + (0 if result == "i1" else 100))
    bias = rng.integers(-2000, 2000, len(w))
    sums = sums_of(x, w, int(zero), strides, dilations, pads, groups) + bias[:, None, None]
    factors = (rng.uniform(50, 90, len(w)) / np.abs(sums).max()).astype("f4")
    real = np.float32(sums) * factors[:, None, None]
    bounds = np.iinfo(result)
    expected = np.clip(np.rint(real) + float(zero_y), bounds.min, bounds.max).astype(result)
    own_bias, own_factors = operands(w, x.dtype.str[1:], zero, bias, factors)
    attributes = {"kernel_shape": list(w.shape[2:]), "strides": strides, "dilations": dilations,
                  "pads": pads}
    data = x if planes else block_bytes(x)
    if depthwise:
        packed = pack_depthwise(w)
    else:
        packed = pack(w, groups)
        if groups > 1:
            attributes["group"] = groups
    kernel = "BlockedQLinearDepthwiseConv" if depthwise else "BlockedQLinearConv"
    got, = call(kernel, data, packed, own_bias, own_factors, np.array(zero), np.array(zero_y),
                **attributes)
    assert got.dtype == np.dtype(result)
    np.testing.assert_array_equal(unblock(got, len(w)), expected)


CASES = [  # x, w, strides, dilations, pads, groups
    ((1, 16, 5, 7), (16, 16, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),
    ((2, 40, 9, 5), (24, 40, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),
    ((1, 32, 20, 31), (80, 32, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),  # several tasks
    ((1, 20, 9, 9), (33, 20, 1, 1), [2, 2], [1, 1], [0, 0, 0, 0], 1),
    ((2, 16, 7, 7), (64, 16, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
    ((1, 18, 6, 9), (112, 18, 3, 3), [2, 2], [1, 1], [1, 1, 1, 1], 1),  # seven blocks of outputs
    ((1, 17, 11, 12), (16, 17, 2, 4), [1, 2], [2, 3], [1, 4, 2, 3], 1),
    ((1, 16, 9, 9), (16, 16, 3, 3), [1, 1], [1, 1], [-1, 1, 1, -2], 1),
    ((1, 16, 9, 9), (16, 16, 2, 2), [1, 1], [1, 1], [-1, -2, 0, 0], 1),
    ((1, 16, 2, 3), (16, 16, 5, 5), [1, 1], [1, 1], [2, 2, 2, 2], 1),
    ((1, 200, 3, 3), (16, 200, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),
    ((1, 100, 1, 1), (24, 100, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),  # one pixel
    ((2, 20, 6, 7), (16, 20, 3, 3), [1, 1], [9, 8], [9, 8, 9, 8], 1),  # most taps read pads
    ((1, 64, 6, 5), (160, 32, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 2),
    ((1, 48, 6, 5), (48, 16, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 3),
]
PLANES = [
    ((2, 3, 21, 30), (32, 3, 6, 6), [2, 2], [1, 1], [2, 2, 2, 2], 1),
    ((1, 1, 8, 9), (16, 1, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], 1),
    ((1, 15, 8, 9), (24, 15, 3, 3), [1, 1], [2, 2], [2, 2, 2, 2], 1),
    ((1, 6, 19, 40), (16, 6, 7, 7), [2, 2], [1, 1], [3, 3, 3, 3], 1),
]
DEPTHWISE = [
    ((1, 16, 9, 20), 3, 3, [1, 1], [1, 1], [1, 1, 1, 1]),
    ((2, 40, 10, 21), 3, 3, [2, 2], [1, 1], [0, 0, 1, 1]),
    ((1, 24, 8, 9), 5, 5, [1, 1], [1, 1], [2, 2, 2, 2]),
    ((1, 16, 8, 30), 2, 4, [1, 3], [1, 1], [0, 0, 0, 0]),
    ((1, 16, 12, 13), 3, 3, [1, 1], [2, 2], [2, 2, 2, 2]),
    ((1, 33, 12, 13), 3, 7, [2, 1], [1, 3], [1, 9, 1, 9]),
    ((1, 16, 6, 6), 1, 1, [1, 1], [1, 1], [0, 0, 0, 0]),
    ((1, 16, 7, 9), 3, 3, [1, 1], [1, 1], [-1, 0, 1, -1]),
]


@pytest.mark.parametrize("case", CASES + PLANES, ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_convolutions_are_exact(case, dtype):
    x, w, strides, dilations, pads, groups = case
    check(bytes_of(dtype, *x), bytes_of("i1", *w), dtype, strides, dilations, pads, groups,
          planes=case in PLANES, result=dtype)


@pytest.mark.parametrize("case", DEPTHWISE, ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_depthwise_convolutions_are_exact(case, dtype):
    x, rows, columns, strides, dilations, pads = case
    check(bytes_of(dtype, *x), bytes_of("i1", x[1], 1, rows, columns), dtype, strides, dilations,
          pads, groups=x[1], depthwise=True)


def test_results_may_have_another_type_than_the_data():
    check(bytes_of("u1", 1, 16, 4, 4), bytes_of("i1", 16, 16, 1, 1), "u1", [1, 1], [1, 1],
          [0, 0, 0, 0], result="i1")


def test_images_without_pixels():
    got, = call("BlockedQLinearConv", np.zeros((0, 1, 4, 4, 16), "u1"),
                np.zeros((1, 1, 4, 16, 4), "i1"), np.zeros(16, "i4"), np.ones(16, "f4"),
                np.array(0, "u1"), np.array(0, "u1"), kernel_shape=[1, 1])
    assert got.shape == (0, 1, 4, 4, 16)


@pytest.mark.parametrize("kernel", ["BlockedQLinearConv", "BlockedQLinearDepthwiseConv"])
@pytest.mark.parametrize("change", ["kernel_shape", "channels", "bias", "window"])
def test_what_does_not_fit_is_refused(kernel, change):
    blocks = 2 if change == "channels" else 1
    inputs = [np.zeros((1, blocks, 4, 4, 16), "u1"), np.zeros((1, 1, 4, 16, 4), "i1"),
              np.zeros(8 if change == "bias" else 16, "i4"), np.ones(16, "f4"),
              np.array(0, "u1"), np.array(0, "u1")]
    if kernel.endswith("DepthwiseConv"):
        inputs[1] = np.zeros((1, 3, 1, 16, 4), "i1")
    shape = {"kernel_shape": [2, 2], "window": [9, 9]}.get(change, [1, 1])
    with pytest.raises(KernelError):
        call(kernel, *inputs, kernel_shape=shape)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("channels", [1, 16, 20, 48])
def test_bytes_change_places(dtype, channels):
    x = bytes_of(dtype, 2, channels, 7, 11)
    blocked, = call("BlockChannels", x, channels=channels)
    np.testing.assert_array_equal(blocked, block_bytes(x))
    back, = call("UnblockChannels", blocked, channels=channels)
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 1000, 5000])
def test_tables(dtype, count):
    x, table = bytes_of(dtype, count), bytes_of("u1" if dtype == "i1" else "i1", 256)
    got, = call("ByteTable", x, table)
    np.testing.assert_array_equal(got, table[x.view("u1")])


@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("size", [(1, 1), (7, 9)])
def test_means_of_blocks_are_those_of_planes(dtype, size):
    x = bytes_of(dtype, 2, 32, *size)
    zero = x.dtype.type(3)
    numbers = [np.array(0.5, "f4"), np.array(zero), np.array(0.25, "f4"), np.array(zero)]
    planes, = call("QLinearGlobalAveragePool", x, *numbers)
    blocks, = call("QLinearGlobalAveragePool", block_bytes(x), *numbers, blocks=1)
    np.testing.assert_array_equal(unblock(blocks, 32), planes)
    last, = call("QLinearGlobalAveragePool", np.ascontiguousarray(x.transpose(0, 2, 3, 1)), *numbers,
                 channels_last=1)
    np.testing.assert_array_equal(last.transpose(0, 3, 1, 2), planes)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_maxima_of_blocks_are_those_of_planes(dtype):
    x = bytes_of(dtype, 1, 32, 9, 23)
    planes, = call("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    blocks, = call("MaxPool", block_bytes(x), kernel_shape=[3, 3, 1], strides=[2, 2, 1],
                   pads=[1, 1, 0, 1, 1, 0])
    np.testing.assert_array_equal(unblock(blocks, 32), planes)


@pytest.mark.parametrize("kernel", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_gates_of_blocks_are_those_of_planes(dtype, swapped, kernel):
    x, gate = bytes_of(dtype, 2, 32, 9, 23), bytes_of(dtype, 2, 32, 1, 1)
    numbers = lambda scale, zero: (np.array(scale, "f4"), np.array(zero, dtype))
    pairs = [(x, numbers(0.5, 3)), (gate, numbers(0.01, 7))]
    pairs = pairs[::-1] if swapped else pairs
    operands = [thing for value, own in pairs for thing in (value, *own)] + [*numbers(0.6, 5)]
    planes, = call(kernel, *operands)
    in_blocks = [block_bytes(o) if o.ndim == 4 else o for o in operands]
    blocks, = call(kernel, *in_blocks)
    np.testing.assert_array_equal(unblock(blocks, 32), planes)
