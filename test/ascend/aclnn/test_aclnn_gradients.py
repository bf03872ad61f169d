# Gradients of aclnn, pools of volumes, regions and complex numbers, against NumPy: gradients are
# differences of the function itself. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import itertools
import math

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BOOL, DOUBLE, LONG, POINTER, TINY, Tensor, acl, call, close, drawer, failed, refused  # noqa: E402, F401

RNG, draw = drawer(23)
F32, NULL, INT = np.float32, POINTER(), ctypes.c_int
COMPLEX64 = 16


def zeros(acl, like, kind=F32):
    return Tensor(acl, np.zeros(np.shape(like), kind))


def mask(acl, *values):
    return POINTER(acl.aclCreateBoolArray((BOOL * len(values))(*values), ctypes.c_uint64(len(values))))


def floats(acl, *values):
    return POINTER(acl.aclCreateFloatArray((ctypes.c_float * len(values))(*values), ctypes.c_uint64(len(values))))


@pytest.fixture(autouse=True)
def arrays(acl):
    for name in ("BoolArray", "FloatArray"):
        getattr(acl, f"aclCreate{name}").restype = POINTER


def slope(function, x, gradient, step=1e-4):
    """Returns the gradient of sum(function(x) * gradient), by differences."""
    x, result = x.astype(np.float64), np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        moved = x.copy()
        moved[place] += step
        high = function(moved)
        moved[place] -= 2 * step
        result[place] = np.sum((high - function(moved)) * gradient) / (2 * step)
    return result


#--- layers -----------------------------------------------------------------------

def convolved(x, w, stride, pad, dilation, groups, transposed=False, extra=()):
    """Returns a convolution, or the transposed one, of any number of axes."""
    axes = x.ndim - 2
    kernel = w.shape[2:]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    if transposed:
        size = [(n - 1) * s - 2 * p + r + e for n, s, p, r, e in zip(x.shape[2:], stride, pad, reach, extra)]
    else:
        size = [(n + 2 * p - r) // s + 1 for n, s, p, r in zip(x.shape[2:], stride, pad, reach)]
    channels = w.shape[1] * groups if transposed else w.shape[0]
    y = np.zeros((x.shape[0], channels, *size))
    inner, outer = w.shape[:2]
    for at in np.ndindex(*(x.shape[2:] if transposed else size)):
        for tap in np.ndindex(*kernel):
            other = tuple(a * s + t * d - p for a, s, t, d, p in zip(at, stride, tap, dilation, pad))
            if any(o < 0 or o >= n for o, n in zip(other, size if transposed else x.shape[2:])):
                continue
            for group in range(groups):
                part = w[(slice(group * inner // groups, (group + 1) * inner // groups), slice(None), *tap)]
                if transposed:
                    rows = slice(group * inner // groups, (group + 1) * inner // groups)
                    y[(slice(None), slice(group * outer, (group + 1) * outer), *other)] += x[(slice(None), rows, *at)] @ part
                else:
                    rows = slice(group * inner // groups, (group + 1) * inner // groups)
                    y[(slice(None), rows, *at)] += x[(slice(None), slice(group * outer, (group + 1) * outer), *other)] @ part.T
    assert axes == len(kernel)
    return y


@pytest.mark.parametrize("dims, filters, stride, pad, dilation, groups, extra", [
    ((2, 3, 5, 6), (4, 3, 3, 2), (2, 1), (1, 0), (1, 2), 1, None), ((1, 4, 5, 5), (4, 2, 3, 3), (2, 2), (1, 1), (1, 1), 2, None),
    ((2, 3, 6, 6), (3, 1, 3, 3), (1, 1), (1, 1), (1, 1), 3, None), ((2, 2, 8), (3, 2, 3), (3,), (0,), (1,), 1, None),
    ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), (1, 2, 1), (0, 1, 0), (1, 1, 1), 1, None),
    ((2, 2, 4), (2, 3, 2), (1,), (0,), (2,), 1, (1,)), ((2, 4, 3, 3), (4, 2, 3, 3), (2, 2), (1, 1), (1, 1), 1, (1, 0)), ((1, 4, 3, 4), (4, 2, 2, 3), (1, 2), (0, 1), (2, 1), 2, (0, 1))])
def test_convolution(acl, dims, filters, stride, pad, dilation, groups, extra):
    x, w = draw(*dims), draw(*filters)
    options = (stride, pad, dilation, groups, extra is not None, extra)
    g = draw(*convolved(x, w, *options).shape)
    ofInput, ofWeight = zeros(acl, x), zeros(acl, w)
    ofBias = Tensor(acl, np.zeros(g.shape[1], F32))
    arguments = (g, x, w, [g.shape[1]], list(stride), list(pad), list(dilation), BOOL(extra is not None),
                 list(extra or [0] * len(stride)), INT(groups))
    call(acl, "ConvolutionBackward", *arguments, mask(acl, True, True, True), TINY(0), ofInput, ofWeight, ofBias)
    close(ofInput, slope(lambda v: convolved(v, w, *options), x, g))
    close(ofWeight, slope(lambda v: convolved(x, v, *options), w, g))
    close(ofBias, g.sum((0, *range(2, g.ndim))))
    own = [Tensor(acl, x), Tensor(acl, w)]
    call(acl, "ConvolutionBackward", g, *own, *arguments[3:], mask(acl, True, True, True), TINY(0), *own, ofBias)
    for tensor, output in zip(own, (ofInput, ofWeight)):
        np.testing.assert_array_equal(tensor.read(), output.read())
    call(acl, "ConvolutionBackward", *arguments, mask(acl, False, True, False), TINY(0), NULL, ofWeight, NULL)
    assert "gradOutput" in refused(acl, "ConvolutionBackward", x[:1, :1].copy(), *arguments[1:], mask(acl, True, True, True), TINY(0),
                                   ofInput, ofWeight, ofBias)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dims", [(3, 4), (2, 3, 4, 2)])
def test_norm_of_batches(acl, training, dims):
    x, g, w = draw(*dims), draw(*dims), draw(dims[1])
    axes, column = (0, *range(2, len(dims))), (1, -1, *[1] * (len(dims) - 2))
    running, spread = draw(dims[1]), RNG.uniform(0.5, 2, dims[1]).astype(F32)
    saved = x.mean(axes), 1 / np.sqrt(x.var(axes) + 1e-5)

    def norm(v, weight=w):
        mean, variance = (v.mean(axes, keepdims=True), v.var(axes, keepdims=True)) if training else (
            running.reshape(column), spread.reshape(column))
        return (v - mean) / np.sqrt(variance + 1e-5) * weight.reshape(column)
    ofInput, ofWeight, ofBias = zeros(acl, x), zeros(acl, w), zeros(acl, w)
    call(acl, "BatchNormBackward", g, x, w, running, spread, *saved, BOOL(training), DOUBLE(1e-5), mask(acl, True, True, True), ofInput,
         ofWeight, ofBias)
    close(ofInput, slope(norm, x, g))
    close(ofWeight, slope(lambda v: norm(x, v), w, g))
    close(ofBias, g.sum(axes))
    call(acl, "BatchNormBackward", g, x, NULL, running, spread, *saved, BOOL(training), DOUBLE(1e-5), mask(acl, True, False, False),
         ofInput, NULL, NULL)
    close(ofInput, slope(lambda v: norm(v, np.ones_like(w)), x, g))


def test_norm_of_groups(acl):
    n, c, size, groups = 2, 6, 5, 3
    x, g, w = draw(n, c, size), draw(n, c, size), draw(c)

    def norm(v, weight=w):
        v = v.reshape(n, groups, -1)
        v = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
        return v.reshape(n, c, size) * weight[:, None]
    rows = x.reshape(n, groups, -1)
    ofInput, ofWeight, ofBias = zeros(acl, x), zeros(acl, w), zeros(acl, w)
    arguments = (g, x, rows.mean(-1), 1 / np.sqrt(rows.var(-1) + F32(1e-5)), w, LONG(n), LONG(c), LONG(size))
    call(acl, "GroupNormBackward", *arguments, LONG(groups), mask(acl, True, True, True), ofInput, ofWeight, ofBias)
    close(ofInput, slope(norm, x, g))
    close(ofWeight, slope(lambda v: norm(x, v), w, g))
    close(ofBias, g.sum((0, 2)))
    assert "divide C" in refused(acl, "GroupNormBackward", *arguments, LONG(4), mask(acl, True, True, True), ofInput, ofWeight, ofBias)


#--- pools ------------------------------------------------------------------------

def windows(size, kernel, stride, pad, ceil, dilation=1):
    free = size + 2 * pad - dilation * (kernel - 1) - 1
    count = free // stride + 1
    if ceil and free % stride and count * stride < size + pad:
        count += 1
    for i in range(count):
        start = i * stride - pad
        yield ([p for p in range(start, start + dilation * kernel, dilation) if 0 <= p < size],
               min(start + kernel, size + pad) - start)


def pooled(x, axes, reduce):
    """Reduces the elements of windows: reduce(values, elements of the window with its pads)."""
    rank = len(axes)
    y = np.zeros((*x.shape[:-rank], *map(len, axes)))
    for at in np.ndindex(*map(len, axes)):
        chosen = [axis[i] for axis, i in zip(axes, at)]
        positions = np.ix_(*(c[0] for c in chosen))
        values = x[(..., *positions)].reshape(*x.shape[:-rank], -1)
        y[(..., *at)] = reduce(values, math.prod(c[1] for c in chosen))
    return y


def averages(includes, divisor):
    return lambda values, padded: values.sum(-1) / (divisor or (padded if includes else values.shape[-1]))


@pytest.mark.parametrize("ceil, includes, divisor", [(False, True, 0), (True, False, 0), (True, True, 0), (False, False, 5)])
@pytest.mark.parametrize("axes", [2, 3])
def test_averages(acl, axes, ceil, includes, divisor):
    dims = (2, 3, 5, 4)[-axes - 1:] if axes == 2 else (2, 2, 3, 5, 4)
    x, kernel, stride, pad = draw(*dims), [2, 3, 2][-axes:], [1, 2, 2][-axes:], [1, 1, 0][-axes:]
    lists = [list(windows(*a, ceil)) for a in zip(dims[-axes:], kernel, stride, pad)]

    def pool(v):
        return pooled(v, lists, averages(includes, divisor))
    g = draw(*pool(x).shape)
    options = (kernel, stride, pad, BOOL(ceil), BOOL(includes), LONG(divisor))
    if axes == 3:
        out = zeros(acl, g)
        call(acl, "AvgPool3d", x, *options, out)
        close(out, pool(x))
    out = zeros(acl, x)
    call(acl, f"AvgPool{axes}dBackward", g, x, *options, *([TINY(0)] if axes == 2 else []), out)
    close(out, slope(pool, x, g))
    assert "it must be" in refused(acl, f"AvgPool{axes}dBackward", g[..., :1].copy(), x, *options, *([TINY(0)] if axes == 2 else []), out)


@pytest.mark.parametrize("axes, parts", [(2, (3, 2)), (3, (2, 3, 4))])
def test_averages_of_parts(acl, axes, parts):
    x = draw(2, 5, 4) if axes == 2 else draw(1, 2, 4, 5, 4)
    lists = [[(list(range(i * n // p, -(-(i + 1) * n // p))), 1) for i in range(p)] for n, p in zip(x.shape[-axes:], parts)]

    def pool(v):
        return pooled(v, lists, averages(False, 0))
    g, out = draw(*pool(x).shape), zeros(acl, x)
    call(acl, f"AdaptiveAvgPool{axes}dBackward", g, x, out)
    close(out, slope(pool, x, g))
    if axes == 3:
        out = zeros(acl, g)
        call(acl, "AdaptiveAvgPool3d", x, list(parts), out)
        close(out, pool(x))
    else:
        values, positions = zeros(acl, g), zeros(acl, g, np.int64)
        call(acl, "AdaptiveMaxPool2d", x, list(parts), values, positions)
        close(values, pooled(x, lists, lambda v, _: v.max(-1)))
        np.testing.assert_array_equal(np.take_along_axis(x.reshape(2, -1), positions.read().reshape(2, -1), -1).ravel(),
                                      values.read().ravel())


@pytest.mark.parametrize("ceil, dilation", [(False, 1), (True, 1), (False, 2)])
@pytest.mark.parametrize("axes", [2, 3])
def test_maxima(acl, axes, ceil, dilation):
    x = draw(2, 3, 5, 6) if axes == 2 else draw(2, 2, 4, 5, 6)
    kernel, stride, pad = [2, 3, 2][-axes:], [1, 2, 2][-axes:], [1, 1, 0][-axes:]
    lists = [list(windows(*a, ceil, dilation)) for a in zip(x.shape[-axes:], kernel, stride, pad)]

    def pool(v):
        return pooled(v, lists, lambda values, _: values.max(-1))
    values, positions = zeros(acl, pool(x)), zeros(acl, pool(x), np.int64 if axes == 2 else np.int32)
    options = (kernel, stride, pad, [dilation] * axes, BOOL(ceil))
    call(acl, "MaxPool2dWithIndices" if axes == 2 else "MaxPool3dWithArgmax", x, *options, values, positions)
    close(values, pool(x))
    g, out = draw(*values.array.shape), zeros(acl, x)
    name = "MaxPool2dWithIndicesBackward" if axes == 2 else "MaxPool3dWithArgmaxBackward"
    call(acl, name, g, x, positions.read(), *options, out)
    close(out, slope(pool, x, g, 1e-6))
    assert "indices have 999" in failed(acl, name, g, x, np.full_like(positions.read(), 999), *options, out)


def test_pools_over_nothing(acl):
    flags = BOOL(False), BOOL(True), LONG(0)
    assert "no elements" in refused(acl, "AdaptiveAvgPool3d", draw(1, 2, 0, 4, 4), [2, 2, 2], zeros(acl, draw(1, 2, 2, 2, 2)))
    assert "no elements" in refused(acl, "AvgPool3d", draw(1, 1, 0, 2, 2), [2], [1], [1, 0, 0], *flags, zeros(acl, draw(1, 1, 1, 1, 1)))
    values = zeros(acl, draw(1, 2, 2))
    assert "no elements" in refused(acl, "AdaptiveMaxPool2d", draw(1, 0, 4), [2, 2], values, zeros(acl, draw(1, 2, 2), np.int64))
    call(acl, "AdaptiveAvgPool3d", draw(0, 2, 4, 4, 4), [2, 2, 2], zeros(acl, draw(0, 2, 2, 2, 2)))


def test_sizes_of_windows_have_bounds(acl):
    x, flags, out = draw(1, 1, 4, 4, 4), (BOOL(False), BOOL(True), LONG(0)), zeros(acl, draw(1, 1, 1, 1, 1))
    for kernel, stride, pad in ((2**62, 1, 0), (2, 2**62, 0), (2**62, 1, 2**61), (2, 1, 2)):
        assert "half of the kernel" in refused(acl, "AvgPool3d", x, [kernel], [stride], [pad], *flags, out)
    indices = zeros(acl, out.array, np.int32)
    for dilation in (2**62, 2**21):
        assert "half of the kernel" in refused(acl, "MaxPool3dWithArgmax", x, [2], [1], [0], [dilation], BOOL(False), out, indices)
    dims, strides = (LONG * 3)(1, 1 << 40, 1), (LONG * 3)(0, 0, 0)
    endless = POINTER(acl.aclCreateTensor(dims, ctypes.c_uint64(3), 0, strides, LONG(0), 2, (LONG * 1)(64), ctypes.c_uint64(1), Tensor(acl, x).data))
    assert "along an axis" in refused(acl, "AdaptiveMaxPool2d", endless, [1, 1], zeros(acl, draw(1, 1, 1)), zeros(acl, draw(1, 1, 1), np.int64))


#--- losses and activations ----------------------------------------------------------

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_losses(acl, reduction):
    x, t, w = draw(3, 4), draw(3, 4), RNG.uniform(0.5, 2, (3, 4)).astype(F32)
    p, y = RNG.uniform(0.1, 0.9, (3, 4)).astype(F32), RNG.integers(0, 2, (3, 4)).astype(F32)
    positive = RNG.uniform(0.5, 2, 4).astype(F32)
    reduce = (lambda v: v, np.mean, np.sum)[reduction]
    g = draw(3, 4) if reduction == 0 else draw()
    order = LONG(reduction)
    out = zeros(acl, x)
    call(acl, "L1LossBackward", g, x, t, order, out)
    close(out, slope(lambda v: reduce(np.abs(v - t)), x, g))
    call(acl, "SmoothL1LossBackward", g, x, t, order, ctypes.c_float(0.5), out)
    close(out, slope(lambda v: reduce(np.where(np.abs(v - t) < 0.5, (v - t) ** 2, np.abs(v - t) - 0.25)), x, g))
    call(acl, "BinaryCrossEntropyBackward", g, p, y, w, order, out)
    close(out, slope(lambda v: reduce(-w * (y * np.log(v) + (1 - y) * np.log(1 - v))), p, g))
    for weight, factor in ((NULL, NULL), (w, positive)):
        own, more = (1, 1) if weight is NULL else (w, positive)
        call(acl, "BinaryCrossEntropyWithLogitsBackward", g, x, y, weight, factor, order, out)
        close(out, slope(lambda v: reduce(-own * (more * y * np.log(sigmoid(v)) + (1 - y) * np.log(sigmoid(-v)))), x, g))
    target, classes = np.array([2, 9, 0]), RNG.uniform(0.5, 2, 4).astype(F32)
    g = draw(3) if reduction == 0 else draw()
    want = np.zeros((3, 4))
    for row in (0, 2):
        share = g[row] if reduction == 0 else g / (classes[2] + classes[0]) if reduction == 1 else g
        want[row, target[row]] = -share * classes[target[row]]
    arguments = classes, order, LONG(9), np.array([classes[2] + classes[0]], F32), out
    call(acl, "NLLLossBackward", g, x, target, *arguments)
    close(out, want)
    assert "there are 4 classes" in failed(acl, "NLLLossBackward", g, x, np.array([2, 4, 0]), *arguments)


def test_activations(acl):
    x, g = draw(4, 6), draw(4, 6)
    out = zeros(acl, x)
    for name, function, more in (("LogSigmoid", lambda v: np.log(sigmoid(v)), (NULL,)),
                                 ("Mish", lambda v: v * np.tanh(np.log1p(np.exp(v))), ()),
                                 ("Hardshrink", lambda v: np.where(np.abs(v) > 0.5, v, 0), (0.5,)),
                                 ("Softshrink", lambda v: np.where(np.abs(v) > 0.5, v - np.sign(v) * 0.5, 0), (0.5,))):
        call(acl, name + "Backward", g, x, *more, out)
        close(out, slope(function, x, g))
    for dim in (0, -1):
        def glu(v):
            a, b = np.split(v, 2, dim)
            return a * sigmoid(b)
        g2 = draw(*glu(x).shape)
        call(acl, "GluBackward", g2, x, LONG(dim), out)
        close(out, slope(glu, x, g2))
        own = Tensor(acl, x)
        call(acl, "GluBackward", g2, own, LONG(dim), own)
        np.testing.assert_array_equal(own.read(), out.read())


#--- regions ------------------------------------------------------------------------

def between(image, y, x):
    h, w = image.shape[-2:]
    if not (-1 <= y <= h and -1 <= x <= w):
        return np.zeros(image.shape[:-2])
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    t, s = int(y), int(x)
    b, r = min(t + 1, h - 1), min(s + 1, w - 1)
    return ((1 - y + t) * ((1 - x + s) * image[:, t, s] + (x - s) * image[:, t, r])
            + (y - t) * ((1 - x + s) * image[:, b, s] + (x - s) * image[:, b, r]))


@pytest.mark.parametrize("ratio", [0, 2])
def test_regions(acl, ratio):
    x, rois = draw(2, 3, 8, 10), np.array([[2, 2, 14, 9], [-3, 0, 30, 6], [4, 4, 4.5, 4.2]], F32)
    own, rows, columns, scale = np.array([1, 0, 1]), 3, 2, 0.5
    want = np.zeros((3, 3, rows, columns))
    for roi, (left, top, right, bottom) in enumerate(rois * scale):
        high, wide = max(bottom - top, 1) / rows, max(right - left, 1) / columns
        down, across = ratio or math.ceil(high), ratio or math.ceil(wide)
        for i, j in np.ndindex(rows, columns):
            want[roi, :, i, j] = sum(between(x[own[roi]], top + high * (i + (a + 0.5) / down), left + wide * (j + (b + 0.5) / across))
                                     for a in range(down) for b in range(across)) / (down * across)
    out = zeros(acl, want)
    call(acl, "RoiAlign", x, rois, own, b"avg", INT(rows), INT(columns), INT(ratio), ctypes.c_float(scale), out)
    close(out, want, 1e-4)
    assert "must be avg" in refused(acl, "RoiAlign", x, rois, own, b"mean", INT(rows), INT(columns), INT(ratio), ctypes.c_float(scale), out)
    assert "there are 2 images" in failed(acl, "RoiAlign", x, rois, own + 1, b"avg", INT(rows), INT(columns), INT(ratio),
                                          ctypes.c_float(scale), out)


@pytest.mark.parametrize("ratio, aligned", [(0, True), (2, True), (2, False)])
def test_regions_with_the_image_in_front(acl, ratio, aligned):
    x, scale, shift = draw(2, 3, 8, 10), 0.5, 0.5 * aligned
    boxes = np.array([[1, 2, 2, 14, 9], [0, -3, 0, 30, 6], [1, 4, 4, 4.5, 4.2]], F32)
    want = np.zeros((3, 3, 3, 2))
    for row, (image, *corners) in enumerate(boxes):
        left, top, right, bottom = np.array(corners) * scale - shift
        smallest = 0 if aligned else 1
        high, wide = max(bottom - top, smallest) / 3, max(right - left, smallest) / 2
        down, across = ratio or math.ceil(high), ratio or math.ceil(wide)
        for i, j in np.ndindex(3, 2):
            want[row, :, i, j] = sum(between(x[int(image)], top + high * (i + (a + 0.5) / down), left + wide * (j + (b + 0.5) / across))
                                     for a in range(down) for b in range(across)) / (down * across)
    out = zeros(acl, want)
    arguments = (LONG(3), LONG(2), ctypes.c_float(scale), LONG(ratio), ctypes.c_bool(aligned), out)
    call(acl, "RoiAlignV2", x, boxes, *arguments)
    close(out, want, 1e-4)
    assert "must be [n, 5]" in refused(acl, "RoiAlignV2", x, boxes[:, 1:].copy(), *arguments)
    text = refused(acl, "RoiAlignV2", x, boxes, LONG(0), *arguments[1:])
    assert "aclnnRoiAlignV2" in text and "pooledHeight and pooledWidth be 1 to 16384" in text
    text = failed(acl, "RoiAlignV2", x, boxes + F32([2, 0, 0, 0, 0]), *arguments)
    assert "aclnnRoiAlignV2" in text and "the numbers of images in boxes have" in text
    # Turned around without an end, and of more samples than an image has.
    for isGiven, corner in ((aligned, [4, -np.inf]), (ratio == 0, [2e6, 2e6])):
        if isGiven:
            boxes[1, 3:] = corner
            text = failed(acl, "RoiAlignV2", x, boxes, *arguments)
            assert "aclnnRoiAlignV2" in text and "region 1 has no size" in text


def test_boxes_that_overlap(acl):
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 11.1, 0, 10.1]]], F32)
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5], [0.1, 0.2, 0.3, 0.4, 0.05]]], F32)
    out = Tensor(acl, np.zeros((7, 3), np.int32))
    call(acl, "NonMaxSuppression", boxes, scores, [3], floats(acl, 0.5), floats(acl, 0.25), INT(0), out)
    np.testing.assert_array_equal(out.read(), [[0, 0, 3], [0, 0, 0], [0, 1, 3], [0, 1, 2], *[[-1, -1, -1]] * 3])
    centred = np.stack([boxes[..., 1::2].mean(-1), boxes[..., ::2].mean(-1), np.abs(boxes[..., 3] - boxes[..., 1]),
                        np.abs(boxes[..., 2] - boxes[..., 0])], -1).astype(F32)
    again = Tensor(acl, np.zeros((7, 3), np.int64))
    call(acl, "NonMaxSuppression", centred, scores, [3], floats(acl, 0.5), floats(acl, 0.25), INT(1), again)
    np.testing.assert_array_equal(again.read(), out.read())
    assert "iouThreshold be 0 to 1" in refused(acl, "NonMaxSuppression", boxes, scores, [3], floats(acl, 1.5), floats(acl, 0), INT(0), out)


#--- complex numbers, repeats ---------------------------------------------------------

def test_complex_numbers(acl):
    real, imaginary = draw(2, 3), draw(3)
    real[0, 0], imaginary[1:] = 3e25, [4e25, 0]
    z = (real + 1j * imaginary).astype(np.complex64)
    out = Tensor(acl, np.zeros_like(z), COMPLEX64)
    call(acl, "Complex", real, imaginary, out)
    np.testing.assert_array_equal(out.read(), z)
    part = zeros(acl, real)
    call(acl, "Real", Tensor(acl, z, COMPLEX64), part)
    np.testing.assert_array_equal(part.read(), real)
    call(acl, "Abs", Tensor(acl, z, COMPLEX64), part)
    np.testing.assert_allclose(part.read(), np.abs(z.astype(np.complex128)), rtol=1e-5)
    radius, angle = np.abs(draw(2, 3)), draw(2, 3)
    call(acl, "Polar", radius, angle, out)
    np.testing.assert_allclose(out.read(), radius * np.exp(1j * angle), rtol=1e-3, atol=1e-3)
    call(acl, "Permute", Tensor(acl, z, COMPLEX64), [1, 0], out := Tensor(acl, np.zeros((3, 2), np.complex64), COMPLEX64))
    np.testing.assert_array_equal(out.read(), z.T)
    assert "complex64" in refused(acl, "Complex", real, imaginary, part)
    for name, more in (("Exp", ()), ("Cast", (0,)), ("Cumsum", (LONG(0), 0))):
        assert "complex" in refused(acl, name, Tensor(acl, z, COMPLEX64), *more, part)


def test_complex_numbers_have_no_constants(acl):
    """Zeros, pads and sums of them were elements of memory that nothing had written."""
    def tensor(*dims):
        return Tensor(acl, np.ones(dims, np.complex64), COMPLEX64)
    for name, arguments in (
            ("InplaceZero", (tensor(3),)), ("InplaceOne", (tensor(3),)), ("InplaceFillScalar", (tensor(3), 2.0)),
            ("ForeachZeroInplace", ((tensor(3),),)), ("ConstantPadNd", (tensor(3), [1, 1], 0.0, tensor(5))),
            ("Diag", (tensor(3), LONG(0), tensor(3, 3))), ("DiagFlat", (tensor(3), LONG(0), tensor(3, 3))),
            ("IndexPutImpl", (tensor(3), (np.array([0, 0]),), tensor(2), BOOL(True), BOOL(False))),
            ("ForeachNorm", ((draw(3),), tensor(1), (Tensor(acl, np.zeros((), F32)),)))):
        assert "complex" in refused(acl, name, *arguments), name
    own = tensor(3)
    call(acl, "IndexPutImpl", own, (np.array([0, 2]),), Tensor(acl, np.array([2j, 3]).astype(np.complex64), COMPLEX64), BOOL(False),
         BOOL(False))
    np.testing.assert_array_equal(own.read(), [2j, 1, 3])


def test_sizes_of_complex_numbers(acl):
    """Infinite parts decide, and numbers below the least normal one have a size."""
    inf, nan = np.inf, np.nan
    z = np.array([complex(inf, inf), complex(-inf, 1), complex(2, -inf), complex(inf, nan), complex(nan, inf), complex(nan, 1), 0,
                  1e-40 + 1e-40j, 3e-39 + 4e-39j], np.complex64)
    out = Tensor(acl, np.zeros(z.shape, F32))
    call(acl, "Abs", Tensor(acl, z, COMPLEX64), out)
    np.testing.assert_allclose(out.read(), np.abs(z.astype(np.complex128)), rtol=1e-4)


def test_inverse_of_the_error_function(acl):
    x = np.array([0, 0.1, -0.5, 0.9, -0.999, 1 - 1e-7, 1e-20, 1, -1, 1.5], F32)
    out = zeros(acl, x)
    call(acl, "Erfinv", x, out)
    y = out.read()
    np.testing.assert_array_equal(y[7:], [np.inf, -np.inf, np.nan])
    np.testing.assert_allclose([math.erf(v) for v in y[:7]], x[:7], rtol=1e-6)
    own = Tensor(acl, x)
    call(acl, "InplaceErfinv", own)
    np.testing.assert_array_equal(own.read(), y)


def test_repeats(acl):
    x, counts = draw(3, 4), np.array([2, 0, 3])
    out = Tensor(acl, np.zeros((5, 4), F32))
    call(acl, "RepeatInterleaveWithDim", x, counts, LONG(0), LONG(5), out)
    np.testing.assert_array_equal(out.read(), np.repeat(x, counts, 0))
    out = Tensor(acl, np.zeros((3, 8), F32))
    call(acl, "RepeatInterleaveWithDim", x, np.array([2]), LONG(-1), LONG(8), out)
    np.testing.assert_array_equal(out.read(), np.repeat(x, 2, 1))
    counts = RNG.integers(0, 3, 12)
    out = Tensor(acl, np.zeros(counts.sum(), F32))
    call(acl, "RepeatInterleave", x, counts, LONG(int(counts.sum())), out)
    np.testing.assert_array_equal(out.read(), np.repeat(x, counts))
    assert "outputSize is 5" in failed(acl, "RepeatInterleave", x, np.array([2]), LONG(5), Tensor(acl, np.zeros(5, F32)))


def test_updates_of_places(acl):
    for dims, depth in (((4, 3), 1), ((4, 3, 2), 2)):
        x = draw(*dims)
        positions = np.array(list(itertools.islice(itertools.product(*map(range, dims[:depth])), 3)), np.int32)
        updates = draw(3, *dims[depth:])
        own = Tensor(acl, x)
        call(acl, "ScatterNdUpdate", own, positions, updates)
        want = x.copy()
        want[tuple(positions.T)] = updates
        np.testing.assert_array_equal(own.read(), want)
        assert "indices have 9" in failed(acl, "ScatterNdUpdate", own, np.full_like(positions, 9), updates)
