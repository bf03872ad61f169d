# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators called one at a time, against numpy."""

import functools

import numpy as np
import pytest

import openatc
from conftest import BUILD  # noqa: F401 puts the package on the path

RNG = np.random.default_rng(3)
X = RNG.standard_normal((1, 3, 6, 8)).astype(np.float32)
W = RNG.standard_normal((4, 3, 1, 1)).astype(np.float32)
POINTWISE = np.einsum("nchw,oc->nohw", X, W[:, :, 0, 0])


def test_attributes_and_formats():
    result = openatc.op("Conv2D", X, W, strides=[1, 1, 1, 1])
    np.testing.assert_allclose(result, POINTWISE, atol=1e-5)
    last = openatc.op("Conv2D", X.transpose(0, 2, 3, 1), W.transpose(2, 3, 1, 0), format=["NHWC", "HWCN"],
                      strides=[1, 1, 1, 1], data_format="NHWC")
    np.testing.assert_allclose(last.transpose(0, 3, 1, 2), POINTWISE, atol=1e-5)
    np.testing.assert_allclose(openatc.op("LeakyRelu", X, negative_slope=0.25), np.where(X > 0, X, X / 4))


@pytest.mark.parametrize("soc", [None, "Ascend310P3"])
def test_where_it_computes(soc):
    half = X.astype(np.float16)
    result = openatc.op("Mul", half, half, soc=soc)
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, half * half, rtol=1e-3)


def test_constants():
    np.testing.assert_array_equal(openatc.op("Reshape", X, [3, -1]), X.reshape(3, -1))
    np.testing.assert_array_equal(openatc.op("Maximum", X, 0.5), np.maximum(X, np.float32(0.5)))
    # The same shapes with other constants are another operator.
    np.testing.assert_array_equal(openatc.op("Reshape", X, [4, -1]), X.reshape(4, -1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int8, np.uint8])
def test_numbers_take_the_type_of_arrays(dtype):
    x = np.array([[1, 2, 3], [4, 5, 6]], dtype)
    for kind, number, want in (("Add", 1, x + dtype(1)), ("Mul", 2, x * dtype(2)), ("Maximum", 3, np.maximum(x, dtype(3))),
                               ("Sub", [1, 0, 1], x - np.array([1, 0, 1], dtype))):
        result = openatc.op(kind, x, number)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(openatc.op("Greater", x, 2), x > 2)
    np.testing.assert_array_equal(openatc.op("SelectV2", x > 2, x, 0), np.where(x > 2, x, dtype(0)))
    if np.issubdtype(dtype, np.floating):
        result = openatc.op("RealDiv", 1, x)
        assert result.dtype == dtype
        np.testing.assert_allclose(result, 1 / x, rtol=1e-3)
        # An axis or a number of elements keeps its type.
        assert openatc.op("TopK", x, 2, outputs=2)[0].shape == (2, 2)


def test_types_of_results():
    values, places = openatc.op("TopK", X, 2, outputs=2)
    assert (values.dtype, places.dtype) == (np.float32, np.int32)
    np.testing.assert_array_equal(places[..., 0], X.argmax(-1))
    assert openatc.op("TopK", X, 2, outputs=["float32", "int64"])[1].dtype == np.int64
    assert openatc.op("ArgMaxD", X, dimension=1).dtype == np.int32
    assert openatc.op("Cast", X, dst_type=9).dtype == np.int64
    assert openatc.op("Greater", X, X).dtype == bool
    assert openatc.op("MatMulV2", np.ones((2, 4), np.int8), np.ones((4, 3), np.int8)).dtype == np.int32


def test_dims_of_results_follow_from_constants():
    """They are stated nowhere: an operator that is made of them did nothing, or something else."""
    row = np.float32([[1, 2, 3]])
    for name in ("Expand", "BroadcastTo"):
        np.testing.assert_array_equal(openatc.op(name, row, [2, 4, 3]), np.broadcast_to(row, (2, 4, 3)))
    np.testing.assert_array_equal(openatc.op("BroadcastToD", row, shape=[4, 3]), np.broadcast_to(row, (4, 3)))
    np.testing.assert_array_equal(openatc.op("Fill", [2, 3], np.float32(5)), np.full((2, 3), 5, np.float32))
    np.testing.assert_array_equal(openatc.op("FillD", np.float32([5]), dims=[2, 3]), np.full((2, 3), 5, np.float32))
    twice = X.repeat(2, 2).repeat(3, 3)
    np.testing.assert_array_equal(openatc.op("ResizeNearestNeighborV2", X, [12, 24], format=["NCHW", "ND"]), twice)
    np.testing.assert_array_equal(openatc.op("Upsample", X, stride_h=2, stride_w=3), twice)
    image = X[0, 0]
    slice_of = functools.partial(openatc.op, "StridedSlice", image)
    np.testing.assert_array_equal(slice_of([1, 2], [9, 2**63 - 1], [1, 2]), image[1:, 2::2])
    np.testing.assert_array_equal(slice_of([1, 2], [0, 5], [1, 1], shrink_axis_mask=1), image[1, 2:5])
    np.testing.assert_array_equal(slice_of([-1, -1], [0, 0], [1, 1], shrink_axis_mask=3), image[-1, -1])


@pytest.mark.parametrize("call, kind, said", [
    (lambda: openatc.op("Expand", X, np.array([2, 1, 3, 6, 8])), openatc.Error, "as a constant"),
    (lambda: openatc.op("Expand", X, [5, 8]), openatc.Error, "as a constant"),
    (lambda: openatc.op("Add", np.zeros(1, np.int64), 2**53 + 1), openatc.Error, "E10027.*9007199254740993"),
    (lambda: openatc.op("Add", np.zeros(1, np.uint64), 2**64 - 1), openatc.Error, "E10027.*18446744073709551615"),
    (lambda: openatc.op("Elu", X, alpha=float("nan")), ValueError, "attribute alpha is nan"),
    (lambda: openatc.op("Elu", X, alpha=[1, float("inf")]), ValueError, "must be finite"),
    (lambda: openatc.op("Abs", X, outputs=["int64"]), openatc.Error, "output 0 has another element type"),
    (lambda: openatc.op("A\ud800", X), UnicodeEncodeError, "surrogates"),
    (lambda: openatc.op("Ad", X, X), openatc.UnsupportedError, "^E10055: the operator Ad is not supported"),
    (lambda: openatc.op("Add", X, X[0, 0, 0, :5]), openatc.Error, "the operator Add: .*broadcast"),
    (lambda: openatc.op("Reshape", X, np.array([3, -1])), openatc.Error, "as a constant"),
    (lambda: openatc.op("Add", np.array(["a"]), X), openatc.Error, "E10027.*input_desc.0"),
    (lambda: openatc.op("Add"), openatc.Error, "E14001.*missing"),
    (lambda: openatc.op("Add", X, X, other=object()), TypeError, "the attribute other"),
    (lambda: openatc.op("Add", X, X, format=["ND"]), ValueError, "1 items for 2 inputs"),
    (lambda: openatc.op("Maximum", X, float("-inf")), ValueError, "-inf is not finite"),
    (lambda: openatc.op("Add", X.astype(np.int8), 300), OverflowError, "300 is no int8"),
    (lambda: openatc.op("Maximum", X.astype(np.float16), 1e6), ValueError, "1000000.0 is not finite"),
    (lambda: openatc.op("Abs", X, outputs=[]), ValueError, "from 1 to 65536, not 0"),
    (lambda: openatc.op("Abs", X, outputs=10**6), ValueError, "from 1 to 65536, not 1000000"),
    (lambda: openatc.op("Cast", X), openatc.Error, "E14001.*dst_type is missing"),
    (lambda: openatc.op("Add", X, X, soc="Ascend31"), openatc.Error, "Ascend31")])
def test_what_cannot_be_computed(call, kind, said):
    with pytest.raises(kind, match=said):
        call()
