# ===-- test_sampling.py - Resize, grids, regions of interest ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import math

import numpy as np
import pytest

from host_kernels import KernelError, call

rng = np.random.default_rng(6)


def source(mode, i, n, size, scale):
    if mode == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if size > 1 else 0
    if mode == "half_pixel_symmetric":
        return n / 2 * (1 - size / (scale * n)) + (i + 0.5) / scale - 0.5
    if mode == "align_corners":
        return i * (n - 1) / (scale * n - 1) if scale * n != 1 else 0
    return i / scale


def cubic(t, a=-0.75):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0


def matrix(mode, coordinates, n, size, scale, antialias=False, exclude=False, rounding=None):
    """The weights of n inputs for `size` results; those beyond the ends count for the ends."""
    result = np.zeros((size, n))
    for i in range(size):
        x = source(coordinates, i, n, size, scale)
        if mode == "nearest":
            at = {
                "round_prefer_floor": math.ceil(x - 0.5),
                "round_prefer_ceil": math.floor(x + 0.5),
                "floor": math.floor(x),
                "ceil": math.ceil(x)
            }[rounding]
            result[i, min(max(at, 0), n - 1)] = 1
            continue
        shrink = min(scale, 1) if antialias else 1
        kernel = cubic if mode == "cubic" else lambda t: max(0, 1 - abs(t))
        row = np.zeros(n)
        for at in range(math.floor(x) - 40, math.floor(x) + 40):
            if not exclude or 0 <= at < n:
                row[min(max(at, 0), n - 1)] += kernel((at - x) * shrink)
        result[i] = row / row.sum() if exclude or shrink < 1 else row
    return result


MODES = ["half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric"]


@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("antialias,exclude", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("scales", [(1.7, 2.5), (0.6, 0.35), (1, 3)])
def test_resize(coordinates, mode, antialias, exclude, scales):
    x = rng.standard_normal((2, 3, 7, 8)).astype("f4")
    size = [int(n * np.float32(s)) for n, s in zip(x.shape[2:], scales)]
    a, b = (matrix(mode, coordinates, n, out, float(np.float32(s)), antialias, exclude)
            for n, out, s in zip(x.shape[2:], size, scales))
    want = np.einsum("ih,bchw,jw->bcij", a, x, b)
    got, = call("Resize",
                x,
                x[:0],
                np.array(scales, "f4"),
                missing=[1],
                axes=[2, 3],
                mode=mode,
                coordinate_transformation_mode=coordinates,
                antialias=antialias,
                exclude_outside=exclude)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("antialias", [0, 1])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("shape,size", [((35, 40), (50, 81)), ((16, 300), (5, 700)),
                                        ((49, 17), (49, 6)), ((3, 200), (7, 130)), ((1, 1), (4, 5)),
                                        ((33, 5, 2), (20, 9, 2))])
def test_resize_of_many_rows(mode, antialias, dtype, shape, size):
    """Whole squares of rows and columns, what is left of them, and more columns than one block."""
    x = rng.standard_normal((2, *shape)).astype(dtype)
    want = x.astype("f8")
    for d, (n, out) in enumerate(zip(shape, size)):
        if n != out:
            by = matrix(mode, "half_pixel", n, out, out / n, antialias, 0)
            want = np.moveaxis(np.tensordot(by, want, (1, d + 1)), 0, d + 1)
    got, = call("Resize", x, None, None, np.array([2, *size]), missing=[1, 2], mode=mode,
                antialias=antialias)
    assert got.shape == want.shape
    tolerance = 1e-2 if dtype == "f2" else 1e-4
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def between_integers(x, axes, sizes, coordinates):
    """Sums in f32 over all corners, the innermost axis first, without fused products."""
    places = []
    for d, size in zip(axes, sizes):
        n, f = x.shape[d], np.float32
        i, scale = np.arange(size, dtype=f), f(size / n)
        at = {
            "half_pixel": (i + f(0.5)) / scale - f(0.5),
            "align_corners": i * f(n - 1) / f(size - 1),
            "asymmetric": i / scale
        }[coordinates]
        at = np.clip(at, f(0), f(n - 1))
        low = at.astype(int)
        high = np.minimum(low + 1, n - 1)
        weights = np.array([high - at, at - low], f)
        weights[:, low == high] = 0.5
        places.append(list(zip((low, high), weights)))
    total = np.float32(0)
    for corner in itertools.product(*places):
        taken, weight = x, np.float32(1)
        for d, (index, own) in reversed(list(zip(axes, corner))):
            taken = np.take(taken, index, d)
            weight = weight * own.reshape([-1 if d == k else 1 for k in range(x.ndim)])
        total = total + weight * taken.astype("f4")
    return total.astype(x.dtype)


@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("dtype,axes,sizes", [("i4", (2, 3), (40, 29)), ("u1", (2, 3), (9, 11)),
                                              ("i1", (1, 2), (5, 31)), ("u8", (3,), (38,)),
                                              ("i2", (1, 2, 3), (3, 9, 40))])
def test_resize_of_integers(coordinates, dtype, axes, sizes):
    """Fractions are cut off, so each rounding of a sum that should be whole counts."""
    x = rng.integers(0 if dtype[0] == "u" else -128, 127, (1, 2, 17, 23)).astype(dtype)
    got, = call("Resize", x, None, None, np.array(sizes), missing=[1, 2], mode="linear",
                axes=list(axes), coordinate_transformation_mode=coordinates)
    np.testing.assert_array_equal(got, between_integers(x, axes, sizes, coordinates))


def test_resize_of_integers_by_polynomials():
    x = rng.integers(0, 256, (17, 23)).astype("u1")
    got, = call("Resize", x, None, None, np.array([9, 40]), missing=[1, 2], mode="cubic")
    a, b = (matrix("cubic", "half_pixel", n, out, out / n) for n, out in ((17, 9), (23, 40)))
    want = np.clip(a @ x @ b.T, 0, 255)
    assert np.abs(got - want).max() < 0.5 + 1e-9


def test_resize_of_large_integers():
    """What f32 does not hold is interpolated in f64."""
    x = np.array([2**30 + 1, 2**30 + 3], "i4")
    got, = call("Resize", x, None, None, np.array([4]), missing=[1, 2], mode="linear",
                coordinate_transformation_mode="align_corners")
    np.testing.assert_array_equal(got[[0, 3]], x)


def test_resize_reads_nothing_without_weight():
    """What has no weight may be infinite; a NaN is in the results that it has a weight in."""
    x = np.ones((18, 20), "f4")
    x[:, 7] = np.inf
    x[3] = np.nan
    got, = call("Resize", x, None, np.array([2, 2], "f4"), missing=[1], mode="linear",
                coordinate_transformation_mode="asymmetric")
    want = np.ones((36, 40), "f4")
    want[:, 13:16] = np.inf
    want[5:8] = np.nan
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["f4", "u1", "f8", "c16"])
@pytest.mark.parametrize("width", [1, 15, 16, 33, 40])
def test_resize_doubles_rows(dtype, width):
    x = np.arange(2 * 3 * width).reshape(2, 3, width).astype(dtype)
    for sizes in ((2, 6, 2 * width), (4, 3, 2 * width), (2, 6, width)):
        got, = call("Resize", x, None, None, np.array(sizes), missing=[1, 2], nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")
        want = x
        for axis, (n, out) in enumerate(zip(x.shape, sizes)):
            want = np.repeat(want, out // n, axis)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("dtype", ["f4", "u1", "i8", "O"])
def test_resize_nearest(coordinates, rounding, dtype):
    x = np.arange(42).reshape(6, 7)
    x = x.astype(str).astype(object) if dtype == "O" else x.astype(dtype)
    a, b = (matrix("nearest", coordinates, n, out, out / n, rounding=rounding).argmax(1)
            for n, out in zip(x.shape, (9, 4)))
    got, = call("Resize", x, None, None, np.array([9, 4]), missing=[1, 2], nearest_mode=rounding,
                coordinate_transformation_mode=coordinates)
    want = x[a][:, b]
    if dtype == "O":
        got = np.array([t.decode() for t in got.reshape(-1)], object).reshape(want.shape)
    assert (got == want).all()


@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric"])
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "floor", "ceil"])
@pytest.mark.parametrize("scale", np.float32([0.1, 0.3, 0.6, 0.7, 1.1, 1.2, 1.3, 1.6, 1.7, 2.2]))
def test_sizes_and_nearest_positions_are_those_of_f32(coordinates, rounding, scale):
    """10 * 0.7f is 7 in f32 and below it in f64; 8 / 1.6f is 5, and below it in f64."""
    half = np.float32(0.5)
    for n in (4, 8, 10, 13, 50):
        i = np.arange(int(np.float32(n) * scale), dtype="f4")
        x = i / scale if coordinates == "asymmetric" else (i + half) / scale - half
        at = {"round_prefer_floor": np.ceil(x - half), "floor": np.floor(x),
              "ceil": np.ceil(x)}[rounding]
        got, = call("Resize", np.arange(n, dtype="f4"), None, scale.reshape(1), missing=[1],
                    nearest_mode=rounding, coordinate_transformation_mode=coordinates)
        assert got.tolist() == np.clip(at, 0, n - 1).tolist(), n


def test_resize_policies_and_errors():
    x = np.zeros((1, 1, 10, 20), "f4")

    def shape(**attributes):
        return call("Resize",
                    x,
                    None,
                    None,
                    np.array([7, 8]),
                    missing=[1, 2],
                    axes=[2, -1],
                    only_shapes=True,
                    **attributes)[0]
    assert shape() == (1, 1, 7, 8)
    assert shape(keep_aspect_ratio_policy="not_larger") == (1, 1, 4, 8)
    assert shape(keep_aspect_ratio_policy="not_smaller") == (1, 1, 7, 14)
    got, = call("Resize", x, None, np.array([1, 1, 0.01, 1], "f4"), missing=[1])
    assert got.shape == (1, 1, 0, 20)
    for scales in ([1, 1, -1, 1], [1, 1], [1, 1, np.nan, 1], [1, 1, 1e30, 1]):
        with pytest.raises(KernelError):
            call("Resize", x, None, np.array(scales, "f4"), missing=[1])
    with pytest.raises(KernelError):
        call("Resize", x)


def test_max_roi_pool_divides_in_f32():
    x = np.arange(70 * 70, dtype="f4").reshape(1, 1, 70, 70)
    sizes = np.arange(1, 61, dtype="f4")
    regions = np.stack([0 * sizes, 0 * sizes, 0 * sizes, sizes - 1, sizes - 1], 1)
    for bins in (3, 7):
        got, = call("MaxRoiPool", x, regions, pooled_shape=[bins, bins])
        ends = np.ceil(np.arange(1, bins + 1, dtype="f4") * (sizes[:, None] / np.float32(bins)))
        want = (ends[:, :, None] - 1) * 70 + ends[:, None, :] - 1
        assert bins == 3 or (ends[:, -1] > sizes).any()
        np.testing.assert_array_equal(got[:, 0], want)


def test_crop_and_resize():
    x = np.arange(16, dtype="f4").reshape(4, 4)
    got, = call("Resize",
                x,
                np.array([0, 0.5, 1, 1.5], "f4"),
                None,
                np.array([4, 4]),
                missing=[2],
                mode="linear",
                coordinate_transformation_mode="tf_crop_and_resize",
                extrapolation_value=-1.0)
    columns = 1.5 + np.arange(4)
    want = np.where(columns > 3, -1, np.arange(4)[:, None] * 4 + columns)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_upsample():
    x = np.arange(6, dtype="f4").reshape(1, 1, 2, 3)
    got, = call("Upsample", x, np.array([1, 1, 2, 3], "f4"))
    assert (got == x.repeat(2, 2).repeat(3, 3)).all()
    got, = call("Upsample", x, np.array([1, 1, 2, 1], "f4"), mode="linear")
    np.testing.assert_allclose(got[0, 0, :, 0], [0, 1.5, 3, 3])


@pytest.mark.parametrize("rank,mode,align",
                         itertools.product([1, 2, 3], ["nearest", "linear", "cubic"], [0, 1]))
def test_grid_at_the_elements(rank, mode, align):
    x = rng.standard_normal((2, 3, 4, 5, 6)[:rank + 2]).astype("f4")
    size = x.shape[2:]
    lines = [np.linspace(-1, 1, n) if align else (2 * np.arange(n) + 1) / n - 1 for n in size]
    grid = np.stack(np.meshgrid(*lines, indexing="ij")[::-1], -1)
    grid = np.broadcast_to(grid, (2, *grid.shape)).astype("f4")
    got, = call("GridSample", x, grid, mode=mode, align_corners=align, padding_mode="border")
    np.testing.assert_allclose(got, x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("padding,want", [("zeros", [0, 0.5, 2, 0]), ("border", [1, 1, 2, 4]),
                                          ("reflection", [2, 1, 2, 3])])
def test_grid_padding(padding, want):
    x = np.arange(1, 5, dtype="f4").reshape(1, 1, 1, 4)
    columns = np.array([-2, -0.5, 1, 5])  # as indices, 0 at the first element
    grid = np.stack([(2 * columns + 1) / 4 - 1, 0 * columns], -1).reshape(1, 1, 4, 2).astype("f4")
    got, = call("GridSample", x, grid, padding_mode=padding)
    np.testing.assert_allclose(got.reshape(-1), want, atol=1e-5)
    for mode in ("linear", "nearest", "cubic"):  # what is no finite number is -1
        bad = np.array([np.nan, np.inf, -np.inf, 1e30, -1]).astype("f4").repeat(2).reshape(1, 1, 5, 2)
        got, = call("GridSample", x, bad, padding_mode=padding, mode=mode)
        assert (got == got[..., -1:]).all()


def test_affine_grid():
    theta = np.array([[[2, 0, 0.5], [0, 3, -1]]], "f4")
    got, = call("AffineGrid", theta, np.array([1, 1, 2, 3]), align_corners=1)
    x, y = np.meshgrid([-1, 0, 1], [-1, 1])
    np.testing.assert_allclose(got[0], np.stack([2 * x + 0.5, 3 * y - 1], -1))
    with pytest.raises(KernelError):
        call("AffineGrid", theta, np.array([2, 1, 2, 3]))


def test_roi_align_of_a_ramp():
    x = np.broadcast_to(np.arange(20, dtype="f4"), (1, 2, 20, 20)).copy()
    rois = np.array([[4, 4, 12, 12]], "f4")
    got, = call("RoiAlign",
                x,
                rois,
                np.array([0]),
                output_height=2,
                output_width=4,
                sampling_ratio=2)
    np.testing.assert_allclose(got[0, 0], np.broadcast_to([4.5, 6.5, 8.5, 10.5], (2, 4)), rtol=1e-6)
    with pytest.raises(KernelError):
        call("RoiAlign", x, rois, np.array([1]))
    got, = call("MaxRoiPool", x, np.array([[0, 4, 4, 11, 11]], "f4"), pooled_shape=[2, 4])
    np.testing.assert_allclose(got[0, 1], np.broadcast_to([5, 7, 9, 11], (2, 4)))
    with pytest.raises(KernelError):
        call("MaxRoiPool", x, np.array([[3, 4, 4, 11, 11]], "f4"), pooled_shape=[2, 4])


@pytest.mark.parametrize("mode, ratio", [("avg", 2), ("max", 2), ("avg", 0)])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_roi_align_of_many_channels(mode, ratio, dtype):
    """Samples are found once for 64 channels: each has what it has alone."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((2, 130, 9, 11)).astype(dtype)
    rois = np.array([[0, 0, 10, 8], [-3, 2, 6, 20], [4, 4, 4, 4]], dtype)
    images = np.array([1, 0, 1])
    options = {"output_height": 3, "output_width": 2, "sampling_ratio": ratio, "mode": mode}
    got, = call("RoiAlign", x, rois, images, **options)
    for channel in (0, 63, 64, 127, 128, 129):
        alone, = call("RoiAlign", x[:, channel:channel + 1].copy(), rois, images, **options)
        np.testing.assert_array_equal(got[:, channel:channel + 1], alone)


def test_non_max_suppression():
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [1, 1.1, 0, 0.1], [0, 10, 1, 11]]], "f4")
    scores = np.array([[[0.9, 0.75, 0.6, 0.95], [0.1, 0.2, 0.2, 0.1]]], "f4")
    most, overlap, least = np.array([3]), np.float32(0.5), np.float32(0.15)
    got, = call("NonMaxSuppression", boxes, scores, most, overlap, least)
    assert got.tolist() == [[0, 0, 3], [0, 0, 0], [0, 1, 1]]
    assert call("NonMaxSuppression", boxes, scores)[0].shape == (0, 3)
    assert call("NonMaxSuppression", boxes[:, :0], scores[..., :0], most)[0].shape == (0, 3)
    got, = call("NonMaxSuppression", boxes, scores, np.array([1]), overlap)
    assert got.tolist() == [[0, 0, 3], [0, 1, 1]]


@pytest.mark.parametrize("count,centered", [(1, 0), (15, 1), (16, 0), (17, 0), (200, 1), (333, 0)])
def test_suppression_among_many_boxes(count, centered):
    """Scores in steps, so that many are equal, some -0 and some no numbers: these are last."""
    rng = np.random.default_rng(count)
    boxes = rng.integers(0, 40, (1, count, 4)).astype("f4")
    scores = rng.integers(-4, 5, (1, 2, count)).astype("f4") / 4
    scores[rng.random(scores.shape) < .1] = -0.0
    scores[rng.random(scores.shape) < .1] = np.nan

    def corners(box):
        if centered:
            return (box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2)
        return min(box[1], box[3]), min(box[0], box[2]), max(box[1], box[3]), max(box[0], box[2])

    def hides(a, b):
        a, b = corners(a), corners(b)
        width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
        return (width > 0 and height > 0 and min(areas) > 0 and
                np.float32(width * height) / np.float32(sum(areas) - width * height) > np.float32(.3))

    want = []
    for row in range(2):
        order = sorted(range(count), key=lambda i: (np.isnan(scores[0, row, i]), -scores[0, row, i], i))
        taken = []
        for i in order:
            if len(taken) < 50 and not any(hides(boxes[0, i], boxes[0, j]) for j in taken):
                taken.append(i)
        want += [[0, row, i] for i in taken]
    got, = call("NonMaxSuppression", boxes, scores, np.array([50]), np.float32(.3),
                center_point_box=centered)
    assert got.tolist() == want
