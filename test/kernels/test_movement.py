# ===-- test_movement.py - kernels that move elements ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ONNX tests leave out: empty tensors, packed types, strings, errors, shapes alone."""

import itertools

import numpy as np
import pytest

from host_kernels import KernelError, Raw, call

I64 = np.int64


def ints(*values):
    return np.array(values, I64)


def texts(*values):
    return np.array(values, object)


def pack(values, dtype, bits):
    """Numbers as a packed tensor."""
    fields = [int(v) & ((1 << bits) - 1) for v in np.reshape(values, -1)]
    per = 8 // bits
    data = [sum(field << (bits * k) for k, field in enumerate(fields[i:i + per]))
            for i in range(0, len(fields), per)]
    return Raw(dtype, np.array(data, np.uint8), np.shape(values))


def fields(raw, bits):
    per = 8 // bits
    count = int(np.prod(raw.dims))
    return np.array([int(raw.bits[i // per]) >> (i % per * bits) & ((1 << bits) - 1)
                     for i in range(count)]).reshape(raw.dims)


DATA = np.arange(24).reshape(2, 3, 4)
TYPES = [np.float64, np.float16, np.int8, np.uint16, np.complex64, np.complex128, bool]


@pytest.mark.parametrize("dtype", TYPES)
def test_slice_of_every_size(dtype):
    data = DATA.astype(dtype)
    got, = call("Slice", data, ints(-1, 1), ints(-100, 100), ints(2, -2), ints(-2, 1))
    assert got.dtype == data.dtype and np.array_equal(got, data[:, 1:, ::-2])


def test_reshape_to_more_than_there_can_be():
    with pytest.raises(KernelError, match="too many"):
        call("Reshape", DATA, ints(8, np.iinfo(I64).max))


def test_slice_limits():
    data = DATA.astype("f4")
    big = np.iinfo(I64)
    got, = call("Slice", data, ints(big.max), ints(big.min), ints(0), ints(big.min))
    assert np.array_equal(got, data[1:2])
    got, = call("Slice", data, ints(5), ints(2), ints(1))
    assert got.shape == (2, 0, 4)
    got, = call("Slice", np.zeros((0, 3), "f4"), ints(0), ints(-9), ints(0), ints(-1))
    assert got.shape == (0, 3)
    for end in (big.max, np.iinfo(np.int32).max):  # the beginning, as in ONNX Runtime
        got, = call("Slice", data, ints(-2), ints(end), ints(2), ints(-1))
        assert np.array_equal(got, data[:, :, 2::-1])
    assert call("Slice", data, ints(-1), ints(1 << 40), ints(2), ints(-1))[0].shape == (2, 3, 0)
    with pytest.raises(KernelError, match="step 0 is 0"):
        call("Slice", data, ints(0), ints(1), ints(0), ints(0))
    with pytest.raises(KernelError, match="axis 3"):
        call("Slice", data, ints(0), ints(1), ints(3))


@pytest.mark.parametrize("dtype,bits", [(21, 4), (22, 4), (23, 4), (25, 2), (26, 2)])
def test_packed_elements(dtype, bits):
    values = np.arange(15).reshape(3, 5) % (1 << bits)
    data = pack(values, dtype, bits)
    got, = call("Slice", data, ints(1), ints(4), ints(1))
    assert got.dtype == dtype and np.array_equal(fields(got, bits), values[:, 1:4])
    got, = call("Concat", data, data, axis=1)
    assert np.array_equal(fields(got, bits), np.concatenate([values, values], 1))
    got, = call("Gather", data, ints(2, -1, 0), axis=0)
    assert np.array_equal(fields(got, bits), values[[2, 2, 0]])
    got, = call("Transpose", data)
    assert got.dims == (5, 3) and np.array_equal(fields(got, bits), values.T)
    cube = values.reshape(1, 3, 5)
    got, = call("Transpose", pack(cube, dtype, bits), perm=[1, 0, 2])
    assert np.array_equal(fields(got, bits), cube.transpose(1, 0, 2))
    got, = call("Pad", data, ints(0, 1, 0, 2), pack(1, dtype, bits))
    assert np.array_equal(fields(got, bits), np.pad(values, [(0, 0), (1, 2)], constant_values=1))
    got, = call("Where", values > 1, data, pack(3, dtype, bits))
    assert np.array_equal(fields(got, bits), np.where(values > 1, values, 3))
    parts = call("Split", data, ints(2, 3), outputs=2, axis=1)
    assert np.array_equal(fields(parts[1], bits), values[:, 2:])
    got, = call("ScatterElements", data, ints([0], [1], [2]), pack(values[:, :1], dtype, bits),
                axis=1)
    want = values.copy()
    want[[0, 1, 2], [0, 1, 2]] = values[:, 0]
    assert np.array_equal(fields(got, bits), want)


def test_strings_move():
    data = texts("a", "bc", "", "déf").reshape(2, 2)
    flat = [b"a", b"bc", b"", "déf".encode()]
    assert call("Transpose", data)[0].reshape(-1).tolist() == [flat[i] for i in (0, 2, 1, 3)]
    assert call("Concat", data, data, axis=0)[0].shape == (4, 2)
    assert call("Gather", data, ints(1), axis=1)[0].tolist() == [[flat[1]], [flat[3]]]
    assert call("Expand", texts("x"), ints(2, 2))[0].tolist() == [[b"x"] * 2] * 2
    assert call("Pad", texts("x"), ints(1, 0))[0].tolist() == [b"", b"x"]
    assert call("Where", np.array([True, False]), texts("y"), texts("n"))[0].tolist() == [b"y", b"n"]
    assert call("Equal", data, texts("a", "bc"))[0].tolist() == [[True, True], [False, False]]
    values, first, inverse, counts = call("Unique", texts("b", "a", "b"), outputs=4)
    assert values.tolist() == [b"a", b"b"] and first.tolist() == [1, 0]
    assert inverse.tolist() == [1, 0, 1] and counts.tolist() == [1, 2]
    assert call("NonZero", data)[0].tolist() == [[0, 0, 1], [0, 1, 1]]


def test_empty_tensors():
    empty = np.zeros((0, 3), "f4")
    assert call("Concat", empty, np.ones((2, 3), "f4"), axis=0)[0].shape == (2, 3)
    assert call("Concat", empty, empty, axis=1)[0].shape == (0, 6)
    assert call("Gather", empty, ints(0, 1), axis=1)[0].shape == (0, 2)
    assert call("Gather", np.ones((2, 3), "f4"), np.zeros((0,), I64))[0].shape == (0, 3)
    assert call("Tile", empty, ints(2, 2))[0].shape == (0, 6)
    assert call("Expand", np.ones((1, 3), "f4"), ints(0, 3))[0].shape == (0, 3)
    assert call("NonZero", empty)[0].shape == (2, 0)
    assert call("Pad", empty, ints(1, 0, 1, 0))[0].tolist() == [[0] * 3] * 2
    assert call("TopK", np.zeros((2, 0), "f4"), ints(0), outputs=2)[1].shape == (2, 0)
    assert call("Compress", empty, np.zeros(0, bool), axis=0)[0].shape == (0, 3)
    assert call("CumSum", empty, ints(0))[0].shape == (0, 3)
    assert call("Where", np.zeros((0, 1), bool), empty, np.ones(3, "f4"))[0].shape == (0, 3)
    with pytest.raises(KernelError, match="empty"):
        call("ArgMax", empty, axis=0)
    with pytest.raises(KernelError, match="out of the range"):
        call("Gather", empty, ints(0), axis=0)


def test_scalars():
    one = np.array(3, "f4")
    assert call("Unsqueeze", one, ints(-1, 0))[0].shape == (1, 1)
    assert call("Expand", one, ints(2))[0].tolist() == [3, 3]
    assert call("Pad", one, np.zeros(0, I64))[0] == 3
    assert call("NonZero", one)[0].shape == (0, 1)
    assert call("Tile", one, np.zeros(0, I64))[0] == 3
    assert call("Flatten", one, axis=0)[0].shape == (1, 1)


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_pad_modes(mode):
    data = DATA.astype("i4")
    pads = [(1, 5), (0, 2), (9, 1)]
    got, = call("Pad", data, ints(1, 0, 9, 5, 2, 1), mode=mode)
    if mode == "wrap":  # older numpy repeats wrongly where a pad is longer than the dim
        want = data
        for axis, (before, after) in enumerate(pads):
            places = range(-before, data.shape[axis] + after)
            want = want.take(places, axis, mode="wrap")
    else:
        want = np.pad(data, pads, mode=mode)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("pads,want", [
    ((-1, 3), [1, 2, 3, 4, 5, 1, 2, 3]), ((3, -1), [2, 3, 4, 0, 1, 2, 3, 4]),
    ((2, -3), [1, 2, 0, 1, 2]), ((7, -2), [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])])
def test_only_what_negative_pads_leave_repeats(pads, want):
    """As ONNX Runtime does it."""
    got, = call("Pad", np.arange(6, dtype="f4"), ints(*pads), mode="wrap")
    assert got.tolist() == want
    with pytest.raises(KernelError, match="dim 0 is empty"):
        call("Pad", np.arange(6, dtype="f4"), ints(-6, 7), mode="wrap")


def test_pad_negative_and_axes():
    data = DATA.astype("f8")
    got, = call("Pad", data, ints(-1, 2, 1, -3), np.array(7.0), ints(-1, 1))
    want = np.pad(data, [(0, 0), (2, 0), (0, 1)], constant_values=7)[:, :2, 1:]
    assert np.array_equal(got, want)
    with pytest.raises(KernelError, match="dim of -1"):
        call("Pad", data, ints(0, 0, -5, 0, 0, 0))
    with pytest.raises(KernelError, match="2 pads for 3 axes"):
        call("Pad", data, ints(0, 0))


@pytest.mark.parametrize("reduction,fn", [("add", np.add), ("mul", np.multiply),
                                          ("max", np.maximum), ("min", np.minimum)])
@pytest.mark.parametrize("dtype", ["f8", "f2", "i1", "u8"])
def test_scatter_reductions(reduction, fn, dtype):
    data = (np.arange(12) % 5).reshape(3, 4).astype(dtype)
    index = np.array([[0, 1, -1, 1], [2, 0, 0, 0], [-1, -1, -1, -1]])
    updates = np.arange(12).reshape(3, 4).astype(dtype)
    want = data.copy()
    for (i, j), row in np.ndenumerate(index):
        want[row, j] = fn(want[row, j], updates[i, j])
    got, = call("ScatterElements", data, index.astype(np.int32), updates, reduction=reduction)
    assert got.dtype == data.dtype and np.array_equal(got, want)
    got, = call("ScatterND", data, ints([0], [2], [0]), np.ones((3, 4), dtype),
                reduction=reduction)
    want = data.copy()
    for row in (0, 2, 0):
        want[row] = fn(want[row], np.ones(4, dtype))
    assert np.array_equal(got, want)


def test_scatter_errors():
    data = np.zeros((2, 3), "f4")
    with pytest.raises(KernelError, match="index 2 is out of the range of a dim of 2"):
        call("ScatterElements", data, ints([2]), np.ones((1, 1), "f4"))
    with pytest.raises(KernelError, match="updates do not have the shape"):
        call("ScatterND", data, ints([0]), np.ones((1, 2), "f4"))
    with pytest.raises(KernelError, match="the reduction"):
        call("ScatterND", data, ints([0]), np.ones((1, 3), "f4"), reduction="sum")


def test_tensor_scatter():
    past = np.zeros((2, 3, 4, 2), "f2")
    update = np.arange(1, 25).reshape(2, 3, 2, 2).astype("f2")
    got, = call("TensorScatter", past, update, ints(1, 3), mode="circular")
    want = past.copy()
    want[0, :, 1:3] = update[0]
    want[1, :, [3, 0]] = update[1].transpose(1, 0, 2)
    assert np.array_equal(got, want)
    with pytest.raises(KernelError, match="2 elements at 3 do not fit a cache of 4"):
        call("TensorScatter", past, update, ints(1, 3))


def test_gather_nd_batches():
    data = DATA.astype("i2")
    got, = call("GatherND", data, ints([[2, -1], [0, 0]], [[1, 1], [2, 2]]), batch_dims=1)
    assert got.tolist() == [[11, 0], [17, 22]]
    with pytest.raises(KernelError, match="tuples of 4"):
        call("GatherND", data, ints([0, 0, 0, 0]))


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
def test_argument_of_nan(name):
    data = np.array([[1, np.nan, 3], [2, 2, 2]], "f4")
    assert call(name, data, axis=1, keepdims=0)[0].tolist() == [1, 0]
    assert call(name, data, axis=-1, keepdims=0, select_last_index=1)[0].tolist() == [1, 2]
    assert call(name, np.array([5, 9, 9], "i1"))[0].tolist() == [1 if name == "ArgMax" else 0]


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, -1])
def test_top_k(largest, axis):
    random = np.random.default_rng(3)
    data = random.integers(0, 9, (50, 60)).astype("f2")
    values, indices = call("TopK", data, ints(7), outputs=2, axis=axis, largest=largest)
    order = np.argsort(-data if largest else data, axis=axis, kind="stable")
    want = np.take(order, range(7), axis=axis)
    assert np.array_equal(indices, want)
    assert np.array_equal(values, np.take_along_axis(data, want, axis))
    with pytest.raises(KernelError, match="61 elements are wanted of a dim of 60"):
        call("TopK", data, ints(61), outputs=2)


def ordered(data, axis, largest):
    """The places of a stable sort, in which NaN is the greatest and zeros are equal."""
    if data.dtype.kind == "f":
        keys = np.where(np.isnan(data), np.inf, data).astype("f8")
        keys = np.lexsort((np.moveaxis(keys, axis, -1), np.isnan(np.moveaxis(data, axis, -1))))
        # Ranks in which equal numbers are equal.
        lanes, flat = np.moveaxis(data, axis, -1), np.empty(keys.shape)
        for at in np.ndindex(keys.shape[:-1]):
            line = lanes[at][keys[at]]
            same = (line[1:] == line[:-1]) | (np.isnan(line[1:]) & np.isnan(line[:-1]))
            flat[at][keys[at]] = np.concatenate([[0], np.cumsum(~same)])
    else:
        flat = np.moveaxis(data, axis, -1).astype("f8")
    order = np.argsort(-flat if largest else flat, axis=-1, kind="stable")
    return np.moveaxis(order, -1, axis)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "u1", "i4", "u4", "i8"])
@pytest.mark.parametrize("shape,axis,k", [((3, 1000), -1, 1), ((3, 1000), 1, 8), ((3, 1000), 1, 9),
                                          ((2, 5000), 1, 300), ((900, 3), 0, 40), ((2, 37, 5), 1, 37),
                                          ((1, 161), 1, 161), ((40, 33), 1, 3), ((4, 1), 1, 1)])
def test_top_k_of_long_lanes(dtype, shape, axis, k):
    random = np.random.default_rng(3)
    data = random.integers(-90 if np.dtype(dtype).kind != "u" else 0, 90, shape).astype(dtype)
    if data.dtype.kind == "f":
        data = data * random.choice([0, 1, 1.5], shape).astype(dtype)
        data[random.random(shape) < 0.01] = np.nan
        data[random.random(shape) < 0.01] = np.inf
        data[random.random(shape) < 0.02] = -0.0
    for largest in (0, 1):
        values, indices = call("TopK", data, ints(k), outputs=2, axis=axis, largest=largest)
        want = np.take(ordered(data, axis, largest), range(k), axis=axis)
        assert np.array_equal(indices, want)
        np.testing.assert_array_equal(values, np.take_along_axis(data, want, axis))


def test_top_k_where_all_are_better_than_the_ones_before():
    data = np.arange(3000, dtype="f4")
    assert call("TopK", data, ints(20), outputs=2)[1].tolist() == list(range(2999, 2979, -1))
    assert call("TopK", data, ints(20), outputs=2, largest=0)[1].tolist() == list(range(20))
    # All elements are equal, or none is a number.
    for value in (1.0, np.nan, -np.inf):
        same = np.full(3000, value, "f4")
        for largest in (0, 1):
            indices = call("TopK", same, ints(20), outputs=2, largest=largest)[1]
            assert indices.tolist() == list(range(20))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "u1", "i4", "i8"])
@pytest.mark.parametrize("last", [0, 1])
def test_arguments_of_long_lanes(dtype, last):
    random = np.random.default_rng(5)
    data = random.integers(-50 if np.dtype(dtype).kind != "u" else 0, 50, (20, 333)).astype(dtype)
    if data.dtype.kind == "f":
        data[3, 100] = data[3, 200] = data[9, 0] = np.nan
        data[4, 5] = np.inf
        data[5] = -np.inf
        data[6] = -0.0
        data[6, 40] = 0.0
    for name in ("ArgMax", "ArgMin"):
        for axis in (0, 1):
            got, = call(name, data, axis=axis, keepdims=0, select_last_index=last)
            lanes = np.flip(data, axis) if last else data
            want = (np.argmax if name == "ArgMax" else np.argmin)(lanes, axis)  # the first NaN
            assert np.array_equal(got, data.shape[axis] - 1 - want if last else want)


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(5, 17, 3, 20), (2, 40, 33, 4), (1, 18, 1, 70), (4, 2, 16, 16),
                                   (3, 0, 2, 5)])
def test_transpositions_of_every_order(dtype, shape):
    data = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for perm in itertools.permutations(range(4)):
        got, = call("Transpose", data, perm=perm)
        np.testing.assert_array_equal(got, data.transpose(perm))


def test_repeated_elements_and_rows():
    data = np.arange(2 * 33 * 5).reshape(2, 33, 5).astype("f4")
    for repeats in ((3, 1, 1), (1, 2, 1), (1, 1, 70), (2, 3, 2), (1, 1, 0)):
        np.testing.assert_array_equal(call("Tile", data, ints(*repeats))[0], np.tile(data, repeats))
    for shape in ((4, 2, 33, 5), (4, 1, 1, 1)):
        want = np.broadcast_to(data, np.broadcast_shapes(shape, data.shape))
        np.testing.assert_array_equal(call("Expand", data, ints(*shape))[0], want)
    column = data[:, :, :1]
    np.testing.assert_array_equal(call("Expand", column, ints(2, 33, 37))[0],
                                  np.broadcast_to(column, (2, 33, 37)))


def test_unique_slices():
    random = np.random.default_rng(4)
    data = random.integers(0, 2, (5, 9, 2)).astype("f8")
    results = call("Unique", data, outputs=4, axis=1)
    for got, want in zip(results, np.unique(data, True, True, True, axis=1)):
        assert np.array_equal(got, want.reshape(got.shape))
    values, first, inverse, counts = call("Unique", np.array([np.nan, 1, np.nan]), outputs=4)
    assert counts.tolist() == [1, 2] and inverse.tolist() == [1, 0, 1] and values[0] == 1


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "f4", "f8", "f2"])
def test_range(dtype):
    for start, limit, delta in [(1, 10, 3), (10, 1, -4), (3, 3, 1), (5, 1, 1)]:
        got, = call("Range", *(np.array(x, dtype) for x in (start, limit, delta)))
        assert got.dtype == dtype and got.tolist() == list(range(start, limit, delta))
    with pytest.raises(KernelError, match="delta is 0"):
        call("Range", *(np.array(x, dtype) for x in (1, 2, 0)))


def test_range_far():
    least, most = np.iinfo(I64).min, np.iinfo(I64).max
    got, = call("Range", np.array(least), np.array(most), np.array(2**62))
    assert got.tolist() == [least + i * 2**62 for i in range(4)]
    with pytest.raises(KernelError):
        call("Range", np.array(least), np.array(most), np.array(1))


def test_make():
    assert call("ConstantOfShape", ints(2, 0))[0].shape == (2, 0)
    assert call("ConstantOfShape", ints(2), value=np.array([7], "i1"))[0].tolist() == [7, 7]
    with pytest.raises(KernelError, match="dim of -1"):
        call("ConstantOfShape", ints(-1))
    with pytest.raises(KernelError, match="dims of a result are negative or too large"):
        call("ConstantOfShape", ints(2**62, 2**62))
    got, = call("EyeLike", np.zeros((3, 4), "i4"), dtype=11, k=-1)
    assert np.array_equal(got, np.eye(3, 4, -1))
    got, = call("OneHot", np.array([-1, 5, 1.5]), np.array(3), np.array([2, 9], "i2"), axis=0)
    assert got.T.tolist() == [[2, 2, 9], [2, 2, 2], [2, 9, 2]]
    got, = call("Trilu", DATA.astype("f2"), np.array(1))
    assert np.array_equal(got, np.triu(DATA, 1))


def test_split_parts():
    data = DATA.astype("f4")
    for got, want in zip(call("Split", data, outputs=3, axis=2, num_outputs=3),
                         (data[..., :2], data[..., 2:4], data[..., 4:])):
        assert np.array_equal(got, want)
    parts = call("Split", np.arange(40), outputs=40)
    assert [int(p[0]) for p in parts] == list(range(40))
    with pytest.raises(KernelError, match="add up to 3"):
        call("Split", data, ints(1, 2), outputs=2, axis=2)


def test_shapes_alone():
    data = DATA.astype("f4")
    assert call("Slice", data, ints(1), ints(3), ints(2), only_shapes=True) == [(2, 3, 2)]
    assert call("Split", data, ints(1, 3), outputs=2, axis=2,
                only_shapes=True) == [(2, 3, 1), (2, 3, 3)]
    assert call("TopK", data, ints(2), outputs=2, only_shapes=True) == [(2, 3, 2)] * 2
    assert call("Concat", data, data, axis=-1, only_shapes=True) == [(2, 3, 8)]
    assert call("Gather", data, ints([0, 0]), axis=1, only_shapes=True) == [(2, 1, 2, 4)]
    assert call("Pad", data, ints(0, 0, 1, 0, 1, 1), only_shapes=True) == [(2, 4, 6)]
    assert call("Add", data, np.ones((5, 1, 1, 1), "f4"), only_shapes=True) == [(5, 2, 3, 4)]
    assert call("Range", np.array(0), np.array(5), np.array(2), only_shapes=True) == [(3,)]
    assert call("Cast", data, to=8, only_shapes=True) == [(2, 3, 4)]


def test_squeeze_errors():
    data = np.zeros((1, 2, 1), "f4")
    assert call("Squeeze", data)[0].shape == (2,)
    assert call("Squeeze", data, ints(-1))[0].shape == (1, 2)
    with pytest.raises(KernelError, match="dim 1 is 2"):
        call("Squeeze", data, ints(1))
    with pytest.raises(KernelError, match="named twice"):
        call("Unsqueeze", data, ints(0, -5))


def test_sequences():
    a, b = np.ones(2, "f4"), np.zeros((3, 1), "f4")
    sequence, = call("SequenceConstruct", a, b)
    assert [x.shape for x in sequence] == [(2,), (3, 1)]
    longer, = call("SequenceInsert", sequence, b, np.array(-1))
    assert [x.shape for x in longer] == [(2,), (3, 1), (3, 1)]
    assert call("SequenceLength", longer)[0] == 3
    assert [x.shape for x in call("SequenceErase", longer, np.array(0))[0]] == [(3, 1), (3, 1)]
    assert call("SequenceAt", sequence, np.array(-2))[0].shape == (2,)
    assert call("SequenceEmpty", dtype=7)[0] == []
    with pytest.raises(KernelError, match="position 2 is not one of a sequence of 2"):
        call("SequenceAt", sequence, np.array(2))
    with pytest.raises(KernelError, match="element type"):
        call("SequenceInsert", sequence, np.ones(1, "i4"))
    parts, = call("SplitToSequence", texts("a", "b", "c"), np.array(2))
    assert [x.tolist() for x in parts] == [[b"a", b"b"], [b"c"]]
    got, = call("ConcatFromSequence", [a, a + 1], axis=-1, new_axis=1)
    assert got.tolist() == [[1, 2], [1, 2]]
    with pytest.raises(KernelError, match="nothing to join"):
        call("ConcatFromSequence", [], axis=0)


def test_optionals():
    a = np.ones(2, "f4")
    assert call("Optional")[0] is None
    assert np.array_equal(call("Optional", a)[0], a)
    assert not call("OptionalHasElement", None)[0]
    assert call("OptionalHasElement", [a])[0]
    with pytest.raises(KernelError, match="no element"):
        call("OptionalGetElement", None)
