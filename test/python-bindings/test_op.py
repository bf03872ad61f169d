# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators called one at a time, against numpy."""

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


@pytest.mark.parametrize("call, kind, said", [
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
    (lambda: openatc.op("Abs", X, outputs=[]), ValueError, "at least 1"),
    (lambda: openatc.op("Cast", X), openatc.Error, "E14001.*dst_type is missing"),
    (lambda: openatc.op("Add", X, X, soc="Ascend31"), openatc.Error, "Ascend31")])
def test_what_cannot_be_computed(call, kind, said):
    with pytest.raises(kind, match=said):
        call()
