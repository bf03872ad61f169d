# ===-- test_blocked.py - convolutions of images in blocks of channels ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, call
from test_windows import conv_reference

rng = np.random.default_rng(5)


def numbers(*shape):
    return rng.standard_normal(shape).astype("f4")


def block(x):
    """[n, c, h, w] -> [n, ceil(c / 16), h, w, 16]"""
    n, c, h, w = x.shape
    padded = np.zeros((n, -(-c // 16) * 16, h, w), "f4")
    padded[:, :c] = x
    return np.ascontiguousarray(padded.reshape(n, padded.shape[1] // 16, 16, h, w).transpose(0, 1, 3, 4, 2))


def unblock(x, channels):
    n, blocks, h, w, _ = x.shape
    return x.transpose(0, 1, 4, 2, 3).reshape(n, blocks * 16, h, w)[:, :channels]


def pack(w, lanes=16):
    """[o, i, kh, kw] -> [output blocks, input blocks, taps, lanes, 16]"""
    o, i, *kernel = w.shape
    padded = np.zeros((-(-o // 16) * 16, -(-i // lanes) * lanes, *kernel), "f4")
    padded[:o, :i] = w
    shaped = padded.reshape(len(padded) // 16, 16, -1, lanes, kernel[0] * kernel[1])
    return np.ascontiguousarray(shaped.transpose(0, 2, 4, 3, 1))


def pad_bias(b):
    return np.pad(b, (0, -len(b) % 16))


CASES = [  # x, w, strides, dilations, pads
    ((1, 16, 5, 7), (16, 16, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),
    ((2, 40, 9, 5), (24, 40, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),
    ((1, 32, 70, 81), (48, 32, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),  # several tasks
    ((1, 20, 9, 9), (33, 20, 1, 1), [2, 2], [1, 1], [0, 0, 0, 0]),
    ((2, 16, 7, 7), (64, 16, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1]),
    ((1, 48, 60, 61), (32, 48, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1]),  # several tasks
    ((1, 16, 14, 23), (32, 16, 3, 3), [2, 2], [1, 1], [1, 1, 1, 1]),
    ((1, 20, 13, 14), (116, 20, 3, 3), [2, 2], [1, 1], [1, 1, 1, 1]),  # rows of few pixels
    ((1, 16, 12, 11), (8, 16, 3, 3), [1, 1], [1, 1], [0, 0, 0, 0]),
    ((1, 17, 11, 12), (16, 17, 2, 4), [1, 2], [2, 3], [1, 4, 2, 3]),
    ((1, 16, 9, 9), (16, 16, 3, 3), [1, 1], [1, 1], [-1, 1, 1, -2]),
    ((1, 16, 9, 9), (16, 16, 2, 2), [1, 1], [1, 1], [-1, -2, 0, 0]),
    ((1, 400, 3, 3), (16, 400, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),  # several chunks
    ((1, 16, 2, 3), (16, 16, 5, 5), [1, 1], [1, 1], [2, 2, 2, 2]),
    # Rows of few pixels, for seven blocks of outputs.
    ((1, 24, 9, 6), (104, 24, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1]),
    # Weights that do not stay in the second cache, in several tasks: windows in a copy, in place.
    ((1, 144, 40, 38), (112, 144, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1]),
    ((1, 512, 33, 21), (272, 512, 1, 1), [2, 2], [1, 1], [0, 0, 0, 0]),
    ((1, 512, 9, 50), (272, 512, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),
    # Taps that read only padding: all but one, one side, those of some rows, whole windows.
    ((2, 40, 6, 7), (24, 40, 3, 3), [1, 1], [9, 8], [9, 8, 9, 8]),
    ((1, 40, 6, 7), (24, 40, 3, 3), [1, 1], [7, 2], [7, 4, 7, 0]),
    ((1, 400, 9, 8), (40, 400, 3, 3), [1, 1], [6, 5], [6, 5, 6, 5]),
    ((1, 20, 5, 5), (16, 20, 5, 3), [2, 3], [2, 4], [8, 9, 8, 9]),
    ((1, 20, 4, 4), (16, 20, 2, 2), [3, 3], [1, 1], [4, 5, 6, 5]),
    ((1, 20, 3, 3), (16, 20, 2, 3), [5, 5], [4, 3], [4, 6, 4, 0]),
    # Those of runs of columns: far apart, neighbours, none at the right, too many runs.
    ((2, 40, 13, 16), (40, 40, 3, 3), [1, 1], [6, 6], [6, 6, 6, 6]),
    ((1, 400, 8, 33), (40, 400, 3, 3), [1, 1], [12, 12], [12, 12, 12, 12]),
    ((1, 20, 9, 31), (24, 20, 3, 2), [2, 2], [5, 14], [5, 16, 7, 14]),
    ((1, 16, 3, 2), (16, 16, 1, 9), [1, 1], [1, 1], [0, 8, 0, 8]),
    ((1, 16, 3, 9), (16, 16, 1, 5), [1, 1], [1, 3], [0, 6, 0, 40]),
    ((1, 24, 5, 2), (16, 24, 2, 30), [1, 1], [1, 1], [1, 29, 0, 29]),
    # Windows beyond the ends of wide rows: only the left one, several tiles of them, only the right.
    ((2, 20, 9, 66), (40, 20, 3, 3), [2, 2], [1, 1], [1, 1, 1, 1]),
    ((1, 36, 7, 90), (24, 36, 3, 3), [1, 1], [2, 17], [2, 17, 2, 16]),
    ((1, 20, 8, 61), (16, 20, 2, 4), [1, 1], [1, 1], [0, -1, 1, 3]),
    # Padded rows alone.
    ((1, 36, 70, 75), (40, 36, 3, 1), [1, 1], [1, 1], [1, 0, 1, 0]),
]
LINES = [  # Their columns are divided: in place, in runs, with a copy of the ends.
    ((1, 32, 2, 240), (16, 32, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),
    ((1, 40, 1, 301), (24, 40, 1, 3), [1, 2], [1, 1], [0, -1, 0, 0]),
    ((1, 16, 1, 260), (16, 16, 1, 3), [1, 1], [1, 100], [0, 100, 0, 100]),
    ((1, 40, 1, 299), (72, 40, 1, 3), [1, 1], [1, 64], [0, 64, 0, 64]),
    ((1, 20, 1, 403), (40, 20, 1, 5), [1, 2], [1, 16], [0, 64, 0, 0]),
    ((1, 20, 3, 230), (16, 20, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1]),
    # Tasks begin within the copied ends.
    ((1, 16, 1, 300), (16, 16, 1, 20), [1, 1], [1, 8], [0, 76, 0, 76]),
]
CASES += LINES
PLANES = [
    ((2, 3, 21, 30), (32, 3, 6, 6), [2, 2], [1, 1], [2, 2, 2, 2]),
    ((1, 1, 8, 9), (16, 1, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0]),
    ((1, 15, 8, 9), (24, 15, 3, 3), [1, 1], [2, 2], [2, 2, 2, 2]),
    ((1, 3, 90, 400), (16, 3, 7, 7), [2, 2], [1, 1], [3, 3, 3, 3]),  # several tasks
    # Their columns are divided.
    ((1, 1, 1, 1601), (32, 1, 1, 80), [1, 4], [1, 1], [0, 0, 0, 0]),
    ((1, 3, 2, 501), (16, 3, 3, 7), [1, 2], [1, 1], [1, 3, 1, 4]),
]


def reference(x, w, b, strides, dilations, pads, group=1):
    kept = x[:, :, max(0, -pads[0]):x.shape[2] - max(0, -pads[2]),
             max(0, -pads[1]):x.shape[3] - max(0, -pads[3])]
    return conv_reference(kept, w, b, strides, dilations, [max(0, p) for p in pads], group)


@pytest.mark.parametrize("case", CASES + PLANES)
def test_conv(case):
    shape, weights, strides, dilations, pads = case
    x, w, b = numbers(*shape), numbers(*weights), numbers(weights[0])
    planes = case in PLANES
    want = reference(x, w, b, strides, dilations, pads)
    attributes = dict(strides=strides, dilations=dilations, pads=pads,
                      kernel_shape=list(weights[2:]))
    inputs = (x, pack(w, shape[1])) if planes else (block(x), pack(w))
    got, = call("BlockedConv", *inputs, pad_bias(b), **attributes)
    np.testing.assert_allclose(unblock(got, weights[0]), want, rtol=1e-4, atol=2e-3)
    assert np.isfinite(got).all()
    # A sum in the dims of the result, and a Clip.
    add = block(numbers(*want.shape))
    got, = call("BlockedConv", *inputs, pad_bias(b), add, activation="Clip",
                activation_params=[-1.5, 6.0], **attributes)
    np.testing.assert_allclose(unblock(got, weights[0]),
                               np.clip(want + unblock(add, weights[0]), -1.5, 6), rtol=1e-4,
                               atol=2e-3)


@pytest.mark.parametrize("case", LINES + PLANES[-2:])
def test_tasks_change_no_bit(case):
    """Each of many images is computed as one alone, whose columns are divided."""
    shape, weights, strides, dilations, pads = case
    x, w = numbers(*shape), pack(numbers(*weights), shape[1] if case in PLANES else 16)
    x = x if case in PLANES else block(x)
    attributes = dict(strides=strides, dilations=dilations, pads=pads,
                      kernel_shape=list(weights[2:]))
    one, = call("BlockedConv", x, w, **attributes)
    many, = call("BlockedConv", x.repeat(16, axis=0), w, **attributes)
    assert all(np.array_equal(each, one[0]) for each in many)


@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("inputs, outputs, groups", [(16, 16, 3), (32, 48, 2)])
def test_groups(inputs, outputs, groups, pad):
    """Groups are parts of the blocks of the image, which may be several images."""
    x, w = numbers(2, inputs * groups, 9, 17), numbers(outputs * groups, inputs, 3, 3) / 8
    want = reference(x, w, None, [1, 1], [1, 1], [pad] * 4, groups)
    parts = [block(x[:, :16]), block(x[:, 16:])]
    for images in ([block(x)], [parts[0], pack(w), None, None, parts[1]]):
        got, = call("BlockedConv", *(images if len(images) > 1 else [*images, pack(w)]),
                    kernel_shape=[3, 3], pads=[pad] * 4)
        np.testing.assert_allclose(unblock(got, w.shape[0]), want, rtol=1e-4, atol=2e-3)
    # Three blocks of outputs have no two equal parts.
    with pytest.raises(KernelError):
        call("BlockedConv", block(numbers(1, 32, 8, 8)), pack(numbers(48, 16, 3, 3)),
             kernel_shape=[3, 3])


def joined(w, channels, form=None):
    """The weights of images of so many channels, each of which begins with a block of its own."""
    parts = np.split(w, np.cumsum(channels)[:-1], 1)
    if form:
        return np.concatenate([transform(part, form) for part in parts], 2)
    return np.concatenate([pack(part) for part in parts], 1)


@pytest.mark.parametrize("channels", [[16, 32], [24, 5, 16], [400, 16], [8] * 8], ids=str)
@pytest.mark.parametrize("kernel, stride, pad, form", [
    (1, 1, 0, None), (1, 2, 0, None), (3, 1, 0, None), (3, 2, 1, None), (3, 1, 1, 2),
    (3, 1, 1, 4)])
def test_several_images(channels, kernel, stride, pad, form):
    """They are read as if they were joined along their channels."""
    images = [numbers(2, count, 9, 11) for count in channels]
    w, b = numbers(40, sum(channels), kernel, kernel) / 8, numbers(40)
    attributes = dict(strides=[stride] * 2, dilations=[1, 1], pads=[pad] * 4)
    want = reference(np.concatenate(images, 1), w, b, **attributes)
    first, *others = map(block, images)
    name = "WinogradConv" if form else "BlockedConv"
    attributes |= dict(kernel_shape=[kernel] * 2, channels=40)
    got, = call(name, first, joined(w, channels, form), pad_bias(b), None, *others, **attributes)
    np.testing.assert_allclose(unblock(got, 40), want, rtol=1e-4, atol=2e-3)
    add = block(numbers(*want.shape))
    got, = call(name, first, joined(w, channels, form), pad_bias(b), add, *others, **attributes)
    np.testing.assert_allclose(unblock(got, 40), want + unblock(add, 40), rtol=1e-4, atol=2e-3)
    for wrong in (others[0][:, :, :-1], others[0][:1], others[0][..., :8], None):
        with pytest.raises(KernelError):
            call(name, first, joined(w, channels, form), None, None,
                 *(np.ascontiguousarray(wrong) if wrong is not None else None, *others[1:]),
                 **attributes)
    with pytest.raises(KernelError, match="blocks"):
        call(name, first, joined(w, channels, form), None, None, *others[1:], **attributes)


@pytest.mark.parametrize("channels", [8, 24, 40])
def test_unused_lanes_stay_zero(channels):
    """An infinity in the image reaches only the channels whose weights read it."""
    x, w, after = numbers(1, 16, 4, 5), numbers(channels, 16, 1, 1), numbers(16, channels, 1, 1)
    x[0, 3, 1, 2] = np.inf
    first, = call("BlockedConv", block(x), pack(w), None, kernel_shape=[1, 1], channels=channels)
    assert not first.transpose(0, 1, 4, 2, 3).reshape(1, -1, 4, 5)[:, channels:].any()
    got, = call("BlockedConv", np.where(np.isinf(first), 1e3, first).astype("f4"), pack(after), None,
                kernel_shape=[1, 1])
    assert np.isfinite(got).all()
    with pytest.raises(KernelError, match=f"{channels + 16} channels for"):
        call("BlockedConv", block(x), pack(w), None, kernel_shape=[1, 1], channels=channels + 16)


@pytest.mark.parametrize("activation,function", [
    ("Silu", lambda v: v / (1 + np.exp(-v))), ("Sigmoid", lambda v: 1 / (1 + np.exp(-v))),
    ("Tanh", np.tanh), ("", lambda v: v)])
@pytest.mark.parametrize("depthwise", [False, True])
def test_activations(activation, function, depthwise):
    """A sum that broadcasts is added, and the activation applied, to the whole result."""
    x, add = numbers(2, 32, 5, 6), numbers(1, 32, 1, 6)
    w = numbers(32, 1 if depthwise else 32, 1, 1)
    want = conv_reference(x, w, None, [1, 1], [1, 1], [0] * 4, 32 if depthwise else 1)
    attributes = dict(kernel_shape=[1, 1], **({"activation": activation} if activation else {}))
    name = "BlockedDepthwiseConv" if depthwise else "BlockedConv"
    packed = (np.ascontiguousarray(w.reshape(2, 16, 1).transpose(0, 2, 1)) if depthwise
              else pack(w))
    got, = call(name, block(x), packed, None, **attributes)
    np.testing.assert_allclose(unblock(got, 32), function(want), rtol=1e-4, atol=1e-3)
    got, = call(name, block(x), packed, None, block(add), **attributes)
    np.testing.assert_allclose(unblock(got, 32), function(want + add), rtol=1e-4, atol=1e-3)
    # Behind the activation: a sum of the result's dims, and one that broadcasts.
    for late in (numbers(*want.shape), add):
        got, = call(name, block(x), packed, None, block(late), sum_last=1, **attributes)
        np.testing.assert_allclose(unblock(got, 32), function(want) + late, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("case", [
    ((2, 16, 9, 30), (3, 3), [1, 1], [1, 1], [1, 1, 1, 1]),
    ((1, 40, 15, 16), (3, 3), [2, 2], [1, 1], [1, 1, 1, 1]),
    ((1, 32, 15, 16), (3, 3), [2, 2], [1, 1], [0, 0, 1, 1]),
    ((1, 16, 12, 13), (5, 5), [1, 1], [1, 1], [2, 2, 2, 2]),
    ((1, 24, 13, 23), (5, 5), [2, 2], [1, 1], [2, 2, 2, 2]),
    ((1, 16, 2, 2), (5, 5), [1, 1], [1, 1], [2, 2, 2, 2]),
    ((1, 16, 12, 13), (3, 3), [1, 1], [2, 3], [2, 3, 2, 3]),
    ((1, 16, 12, 13), (2, 4), [3, 3], [1, 1], [0, 5, 3, 0]),
    ((1, 16, 8, 8), (3, 3), [1, 1], [1, 1], [-1, -1, 1, 1]),
])
def test_depthwise(case):
    shape, kernel, strides, dilations, pads = case
    channels = shape[1]
    x, w, b = numbers(*shape), numbers(channels, 1, *kernel), numbers(channels)
    want = reference(x, w, b, strides, dilations, pads, channels)
    padded = np.zeros((-(-channels // 16) * 16, kernel[0] * kernel[1]), "f4")
    padded[:channels] = w.reshape(channels, -1)
    packed = np.ascontiguousarray(padded.reshape(-1, 16, padded.shape[1]).transpose(0, 2, 1))
    got, = call("BlockedDepthwiseConv", block(x), packed, pad_bias(b), strides=strides,
                dilations=dilations, pads=pads, kernel_shape=list(kernel), activation="Clip",
                activation_params=[0.0, 3.0])
    np.testing.assert_allclose(unblock(got, channels), np.clip(want, 0, 3), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [(1, 16, 1, 1), (2, 5, 7, 9), (1, 64, 13, 11), (3, 31, 4, 40),
                                   (0, 16, 3, 3), (1, 17, 0, 3)])
def test_layouts(shape):
    x = numbers(*shape)
    blocked, = call("BlockChannels", x, channels=shape[1])
    np.testing.assert_array_equal(blocked, block(x))
    np.testing.assert_array_equal(call("UnblockChannels", blocked, channels=shape[1])[0], x)


@pytest.mark.parametrize("shape", [(1, 16, 1, 1), (2, 5, 7, 9), (1, 255, 13, 11), (3, 33, 4, 40),
                                   (0, 16, 3, 3), (1, 17, 0, 3)])
def test_rows_of_channels(shape):
    x = numbers(*shape)
    got, = call("UnblockChannels", block(x), channels=shape[1], last=1)
    np.testing.assert_array_equal(got, x.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("shape, wanted", [
    ((2, 255, 5, 7), [0, 3, 85, 5, 7]), ((1, 255, 9, 20), [0, 3, 85, -1]),
    ((2, 21, 8, 9), [-1, 3, 7, 8, 9]), ((2, 64, 3, 4), [2, 2, 32, 4, 3]),
    ((3, 48, 2, 1), [0, 2, 24, 2, 1]), ((2, 48, 6, 4), [6, 1, 16, 6, 4]),
    # Groups of other numbers of channels or pixels than an image has.
    ((2, 24, 3, 4), [1, 3, 16, 3, 4]), ((1, 32, 4, 6), [1, 4, 16, 4, 3]),
    ((1, 32, 4, 6), [1, 2, 4, 4, -1]), ((0, 16, 3, 3), [0, 1, 16, 3, 3]),
    ((1, 16, 2, 0), [1, 4, 4, 0, 2])], ids=str)
def test_groups_of_channels(shape, wanted):
    """The last dim is that of the channels of a group of a Reshape."""
    x = numbers(*shape)
    dims = [shape[i] if size == 0 else size for i, size in enumerate(wanted[:4])] + wanted[4:]
    want = np.moveaxis(x.reshape(dims), 2, -1)
    got, = call("UnblockChannels", block(x), np.array(wanted), channels=shape[1], last=1)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("columns", [(0, 85), (0, 2), (4, 85), (17, 60), (7, 23), (84, 85), (5, 5)],
                         ids=str)
@pytest.mark.parametrize("widths, before", [((), 0), ((2, 2), 2), ((3, 20), 1), ((1, 0), 0)],
                         ids=str)
@pytest.mark.parametrize("shape, wanted", [
    ((2, 255, 9, 8), [0, 3, 85, 9, 8]), ((1, 85, 5, 7), None),
    ((1, 170, 3, 4), [1, 1, 85, 6, 4])], ids=str)  # the last joins planes
def test_columns_of_rows(shape, wanted, widths, before, columns):
    """Some channels of each row, with rows of other tensors in front and behind."""
    x, (first, end) = numbers(*shape), columns
    dims = wanted and [shape[i] if size == 0 else size for i, size in enumerate(wanted)]
    rows = np.moveaxis(x.reshape(dims), 2, -1) if wanted else np.moveaxis(x, 1, -1)
    parts = [numbers(*rows.shape[:-1], width) for width in widths]
    got, = call("UnblockChannels", block(x), wanted and np.array(wanted), *parts,
                channels=shape[1], last=1, columns=[first, end, 85], before=before)
    want = np.concatenate([*parts[:before], rows[..., first:end], *parts[before:]], -1)
    np.testing.assert_array_equal(got, want)


def test_columns_that_do_not_fit():
    x = block(numbers(1, 20, 3, 4))
    fitting = dict(channels=20, last=1, columns=[4, 20, 20], before=1)
    good = numbers(1, 3, 4, 2)
    assert call("UnblockChannels", x, None, good, **fitting)[0].shape == (1, 3, 4, 18)
    for part in (numbers(1, 3, 4), numbers(1, 3, 5, 2), numbers(2, 3, 4, 2), None):
        with pytest.raises(KernelError, match="part 0"):
            call("UnblockChannels", x, None, part, good, **fitting)
    for columns in ([4, 20, 21], [-1, 4, 20], [8, 4, 20], [4, 21, 20]):
        with pytest.raises(KernelError, match="of rows of 20 channels"):
            call("UnblockChannels", x, None, good, **{**fitting, "columns": columns})


# Windows next to each other are computed four at a time where they read no pads.
@pytest.mark.parametrize("columns", [1, 3, 4, 6, 7, 12, 19])
@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_pools_of_blocks(columns, stride, dilation):
    """Windows over three dims of which the last passes through."""
    x = numbers(2, 32, 13, columns)
    x[0, 3, 5] = np.nan
    window = dict(kernel_shape=[3, 5], strides=[2, stride], dilations=[1, dilation],
                  pads=[1, 4, 0, 5])
    blocked = dict(kernel_shape=[3, 5, 1], strides=[2, stride, 1], dilations=[1, dilation, 1],
                   pads=[1, 4, 0, 0, 5, 0])
    for name in ("MaxPool", "AveragePool", "LpPool"):
        want, = call(name, x, **window)[:1]
        got, = call(name, block(x), **blocked)[:1]
        np.testing.assert_allclose(unblock(got, 32), want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape, scales", [
    ((2, 3, 5, 7, 16), [1, 1, 2, 3, 1]),  # blocks of channels: whole lines are copied
    ((2, 3, 5, 7, 5), [1, 1, 2, 0.5, 1]),  # runs that are no lines
    ((2, 5, 7, 4, 8), [1, 2, 1, 1, 1]),
    ((5, 7), [2, 3]),
    ((5, 7), [1, 1]),
    ((6,), [1.5])], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "u1", "f8"])
def test_nearest_resize_copies(shape, scales, dtype):
    x = (numbers(*shape) * 50).astype(dtype) if dtype != "u1" else \
        rng.integers(0, 255, shape).astype(dtype)
    got, = call("Resize", x, None, np.array(scales, "f4"), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    want = x
    for d, scale in enumerate(scales):
        at = np.floor(np.arange(int(np.floor(shape[d] * scale))) / scale).astype(int)
        want = np.take(want, at, axis=d)
    np.testing.assert_array_equal(got, want)


def test_errors():
    w = pack(numbers(16, 32, 3, 3))
    good = block(numbers(1, 32, 8, 8))
    assert call("BlockedConv", good, w, kernel_shape=[3, 3], only_shapes=True) == [(1, 1, 6, 6, 16)]
    assert call("BlockedConv", good[:0], w, kernel_shape=[3, 3])[0].shape == (0, 1, 6, 6, 16)
    for x, weights, attributes in (
            (good, w, {}), (good, w, {"kernel_shape": [9, 9]}), (good, w, {"kernel_shape": [1, 1]}),
            (good, w, {"kernel_shape": [3, 3], "strides": [0, 1]}),
            (good[:, :1], w, {"kernel_shape": [3, 3]}),
            (good[:, :, :, :, :8], w, {"kernel_shape": [3, 3]}),
            (good[:, :, :2], w, {"kernel_shape": [3, 3]}),
            (numbers(1, 3, 8, 8), w, {"kernel_shape": [3, 3]}),
            (numbers(1, 32, 8, 8), w, {"kernel_shape": [3, 3]}),
            (good, np.zeros((1, 2, 9, 17, 16), "f4"), {"kernel_shape": [3, 3]}),
            (good, np.zeros((1, 2, 9, 0, 16), "f4"), {"kernel_shape": [3, 3]}),
            (good[:, :0], w[:, :0], {"kernel_shape": [3, 3]}),
            # Padded rows of more elements than there can be.
            (good, w, {"kernel_shape": [3, 3], "strides": [1 << 30] * 2,
                       "pads": [1 << 30] * 4})):
        with pytest.raises(KernelError):
            call("BlockedConv", np.ascontiguousarray(x), weights, **attributes)
    with pytest.raises(KernelError):
        call("BlockedConv", good, w, numbers(15), kernel_shape=[3, 3])
    with pytest.raises(KernelError):
        call("BlockedDepthwiseConv", good, numbers(1, 9, 16), kernel_shape=[3, 3])
    with pytest.raises(KernelError):
        call("BlockChannels", numbers(1, 3, 8, 8), channels=4)
    with pytest.raises(KernelError):
        call("UnblockChannels", good, channels=33)
    for wanted in ([1, 32, 64], [1, 2, 16, 9, 9], [1, 2, 16, 8, 0], [0, -1, 16, -1, 8],
                   [1, 2, 16, 1 << 62, 8], [1, 2, 16, -2, 8]):
        with pytest.raises(KernelError):
            call("UnblockChannels", good, np.array(wanted), channels=32, last=1)


POINT = 11 / 16  # kernels/core/WinogradPoint.h
FORMS = {  # outputs per side of a tile: factors of a row of weights
    2: [[1, 0, 0], [.5, .5, .5], [.5, -.5, .5], [0, 0, 1]],
    4: [[1 / (4 * POINT**4), 0, 0],
        *([-1 / (6 * POINT**4), -sign / (6 * POINT**3), -1 / (6 * POINT**2)] for sign in (1, -1)),
        *([1 / (24 * POINT**4), sign / (12 * POINT**3), 1 / (6 * POINT**2)] for sign in (1, -1)),
        [0, 0, 1]]}


def transform(w, form):
    """[o, i, 3, 3] -> [output blocks, positions, channels, 16]"""
    o, i, _, _ = w.shape
    padded = np.zeros((-(-o // 16) * 16, -(-i // 16) * 16, 3, 3))
    padded[:o, :i] = w
    places = np.einsum("ak,oikl,bl->oiab", np.array(FORMS[form]), padded, np.array(FORMS[form]))
    shaped = places.reshape(len(padded) // 16, 16, padded.shape[1], -1)
    return np.ascontiguousarray(shaped.transpose(0, 3, 2, 1), dtype="f4")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", [
    ((2, 16, 7, 7), 64, [1, 1, 1, 1]),
    ((1, 48, 60, 61), 32, [1, 1, 1, 1]),  # several tasks
    ((1, 16, 12, 11), 8, [0, 0, 0, 0]),  # unused lanes
    ((3, 20, 9, 5), 40, [2, 0, 1, 3]),
    ((1, 16, 9, 9), 16, [-1, 1, 1, -2]),
    ((1, 16, 1, 1), 48, [1, 1, 1, 1]),
    ((1, 256, 5, 6), 272, [1, 1, 1, 1]),  # output channels are divided among tasks
    ((1, 16, 300, 4), 16, [1, 1, 1, 1])], ids=str)
def test_winograd(form, case):
    shape, outputs, pads = case
    x, w, b = numbers(*shape), numbers(outputs, shape[1], 3, 3) / 8, numbers(outputs)
    want = reference(x, w, b, [1, 1], [1, 1], pads)
    inputs = (block(x), transform(w, form), pad_bias(b))
    attributes = dict(pads=pads, kernel_shape=[3, 3], channels=outputs)
    got, = call("WinogradConv", *inputs, **attributes)
    np.testing.assert_allclose(unblock(got, outputs), want, rtol=1e-4, atol=1e-3)
    lanes = got.transpose(0, 1, 4, 2, 3).reshape(shape[0], -1, *want.shape[2:])
    assert not lanes[:, outputs:].any()
    add = numbers(*want.shape)
    for activation, parameters, function in [
            ("Clip", dict(activation_params=[-1.5, 6.0]), lambda v: np.clip(v, -1.5, 6)),
            ("Silu", {}, lambda v: v / (1 + np.exp(-v)))]:
        got, = call("WinogradConv", *inputs, block(add), activation=activation, **parameters,
                    **attributes)
        np.testing.assert_allclose(unblock(got, outputs), function(want + add), rtol=1e-4,
                                   atol=2e-3)
        got, = call("WinogradConv", *inputs, block(add), activation=activation, sum_last=1,
                    **parameters, **attributes)
        np.testing.assert_allclose(unblock(got, outputs), function(want) + add, rtol=1e-4,
                                   atol=2e-3)
    # A sum that broadcasts.
    got, = call("WinogradConv", *inputs, block(add[:, :, :1, :1]), **attributes)
    np.testing.assert_allclose(unblock(got, outputs), want + add[:, :, :1, :1], rtol=1e-4,
                               atol=2e-3)


def test_winograd_refuses_what_does_not_fit():
    x, w = block(numbers(1, 32, 5, 5)), transform(numbers(16, 32, 3, 3), 2)
    assert call("WinogradConv", x, w, kernel_shape=[3, 3], only_shapes=True) == [(1, 1, 3, 3, 16)]
    assert call("WinogradConv", x[:0], w, kernel_shape=[3, 3])[0].shape == (0, 1, 3, 3, 16)
    for image, weights, attributes, message in [
            (x, w[:, :9], {}, "9 positions and 32 channels for 2 blocks"),
            (x, w[:, :, :16], {}, "16 positions and 16 channels for 2 blocks"),
            (x, w, dict(strides=[2, 1]), "a kernel of 3, stride 2 and dilation 1"),
            (x, w, dict(dilations=[1, 2]), "a kernel of 3, stride 1 and dilation 2"),
            (x, w, dict(kernel_shape=[9, 1], pads=[4, 0, 4, 0]), "a kernel of 9")]:
        with pytest.raises(KernelError, match=message):
            call("WinogradConv", image, np.ascontiguousarray(weights),
                 **{"kernel_shape": [3, 3], **attributes})
