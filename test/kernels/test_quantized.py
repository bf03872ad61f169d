# ===-- test_quantized.py - QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

from host_kernels import KernelError, Raw, call

rng = np.random.default_rng(5)
INTEGERS = {2: ("u1", 0, 255), 3: ("i1", -128, 127), 4: ("u2", 0, 65535), 5: ("i2", -32768, 32767)}
# Four or two bits: ONNX's number, bits, least, most.
PACKED = [(21, 4, 0, 15), (22, 4, -8, 7), (25, 2, 0, 3), (26, 2, -2, 1)]


def pack(values, bits):
    """The first element in the lowest bits."""
    flat = np.asarray(values).reshape(-1) & ((1 << bits) - 1)
    per = 8 // bits
    flat = np.append(flat, np.zeros(-len(flat) % per, int)).reshape(-1, per)
    return (flat << (np.arange(per) * bits)).sum(1).astype("u1")


@pytest.mark.parametrize("number", INTEGERS)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_integers_per_tensor(number, dtype):
    name, least, most = INTEGERS[number]
    x = (rng.standard_normal((7, 90)) * 300).astype(dtype)
    x[0, :4] = [np.inf, -np.inf, 0.5, 1.5]
    scale, zero = np.array(2, dtype), np.array(5, name)
    want = np.clip(np.rint(x.astype("f8") / 2) + 5, least, most).astype(name)
    got, = call("QuantizeLinear", x, scale, zero)
    assert got.dtype == want.dtype and (got == want).all()
    got, = call("DequantizeLinear", want, scale, zero)
    assert got.dtype == x.dtype
    with np.errstate(over="ignore"):
        back = ((want.astype("f8") - 5) * 2).astype(dtype)
    np.testing.assert_allclose(got, back, rtol=1e-3)


@pytest.mark.parametrize("number,bits,least,most", PACKED)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 513])
def test_packed_integers(number, bits, least, most, count):
    x = (rng.standard_normal(count) * 8).astype("f4")
    want = np.clip(np.rint(x / 0.5), least, most).astype("i8")
    got, = call("QuantizeLinear", x, np.float32(0.5), output_dtype=number)
    assert got.dtype == number and got.dims == (count,) and (got.bits == pack(want, bits)).all()
    got, = call("DequantizeLinear", got, np.float32(0.5))
    assert (got == want * 0.5).all()


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_per_axis(axis):
    x = (rng.standard_normal((4, 5, 6)) * 20).astype("f4")
    n = x.shape[axis]
    shape = [n if d == axis % 3 else 1 for d in range(3)]
    scale, zero = np.linspace(0.1, 0.5, n).astype("f4"), np.arange(n).astype("i1")
    want = np.clip(np.rint(x / scale.reshape(shape)) + zero.reshape(shape), -128, 127).astype("i1")
    assert (call("QuantizeLinear", x, scale, zero, axis=axis)[0] == want).all()
    back = (want - zero.reshape(shape).astype("f4")) * scale.reshape(shape)
    np.testing.assert_allclose(call("DequantizeLinear", want, scale, zero, axis=axis)[0],
                               back,
                               rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_blocks(axis, dtype):
    x = (rng.standard_normal((4, 7, 5)) * 20).astype(dtype)
    shape = [-(-size // 3) if d == axis else size for d, size in enumerate(x.shape)]
    scale = rng.choice([0.25, 0.5, 1], shape).astype(dtype)
    zero = rng.integers(0, 9, shape).astype("u1")
    wide, zeros = (np.repeat(v, 3, axis).take(range(x.shape[axis]), axis) for v in (scale, zero))
    want = np.clip(np.rint(x / wide) + zeros, 0, 255).astype("u1")
    assert (call("QuantizeLinear", x, scale, zero, axis=axis, block_size=3)[0] == want).all()
    got, = call("DequantizeLinear", want, scale, zero, axis=axis, block_size=3)
    assert (got == (want - zeros.astype(dtype)) * wide).all()
    with pytest.raises(KernelError):
        call("QuantizeLinear", x, scale, zero, axis=axis, block_size=8)


def test_small_floats():
    x = np.array([0, -0.0, 0.3, 1, -448, 1000, np.nan], "f4")
    got, = call("QuantizeLinear", x, np.float32(1), output_dtype=17)
    assert got.bits.tolist()[:6] == [0, 0x80, 0x2a, 0x38, 0xfe, 0x7e] and got.bits[6] & 0x7f == 0x7f
    got, = call("QuantizeLinear", x[:6], np.float32(1), output_dtype=17, saturate=0)
    assert got.bits[5] == 0x7f
    x = np.array([0.25, 0.75, 1.75, 2.5, 3.5, 5, 7, -9], "f4")  # ties to even
    got, = call("QuantizeLinear", x, np.float32(1), output_dtype=23)
    assert got.bits.tolist() == [0x20, 0x44, 0x66, 0xf7]
    back, = call("DequantizeLinear", got, np.float32(1))
    assert back.tolist() == [0, 1, 2, 2, 4, 4, 6, -6]


def test_types_of_results():
    x = np.zeros((2, 0), "f4")
    got, = call("QuantizeLinear", x, np.float32(1))
    assert got.dtype == np.uint8 and got.shape == (2, 0)
    got, = call("DequantizeLinear", np.arange(5, dtype="i4"), np.float32(0.5), output_dtype=10)
    assert got.dtype == np.float16 and got.tolist() == [0, 0.5, 1, 1.5, 2]
    assert call("QuantizeLinear", x, np.float32(1), only_shapes=True) == [(2, 0)]
    for scale in (np.ones(3, "f4"), np.ones((2, 1), "f4")):
        with pytest.raises(KernelError):
            call("QuantizeLinear", np.zeros((2, 4), "f4"), scale)
    with pytest.raises(KernelError):
        call("QuantizeLinear", np.zeros((2, 4), "f4"), np.ones(2, "f4"), axis=2)


@pytest.mark.parametrize("x", [[0, 2, -3, -2.5, 1.34, 0.5], [1, 2, 3], [-1, -2, -3], [0, 0], []])
def test_dynamic(x):
    x = np.array(x, "f4")
    y, scale, zero = call("DynamicQuantizeLinear", x, outputs=3)
    least, most = min(0, x.min(initial=0)), max(0, x.max(initial=0))
    # As in ONNX Runtime and in generated code: zeros alone have the scale 1.
    by = np.float32((most - least) / np.float32(255)) or np.float32(1)
    assert scale == by
    want_zero = np.clip(np.rint(np.float32(0 - least / by)), 0, 255)
    assert zero == want_zero and zero.dtype == np.uint8
    assert (y == np.clip(np.rint(x / by) + want_zero, 0, 255)).all()


# Rows that fill registers, and what is left behind them; NaN counts for nothing.
@pytest.mark.parametrize("count", [63, 64, 65, 5000])
def test_dynamic_of_many(count):
    x = (rng.standard_normal(count) * 3 + 1).astype("f4")
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    step = (high - low) / np.float32(255)
    zero = np.rint(-low / step)
    got, scale, point = call("DynamicQuantizeLinear", x, outputs=3)
    assert scale == step and point == zero
    assert (got == np.clip(np.rint(x / step) + zero, 0, 255)).all()
    with_nan = x.copy()
    with_nan[count // 2] = np.nan
    others = np.delete(x, count // 2)
    assert call("DynamicQuantizeLinear", with_nan, outputs=3)[1] == call(
        "DynamicQuantizeLinear", others, outputs=3)[1]


# Rows shorter and longer than the 256 elements that there can be, along either axis.
@pytest.mark.parametrize("size", [1, 7, 256, 257, 900])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype,zero", [("u1", 0), ("i1", -128)])
def test_softmax_of_bytes(size, axis, dtype, zero):
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max + 1, (size, 3) if axis == 0 else (3, size)).astype(dtype)
    real = (x.astype("f8") - 5) * 0.06
    power = np.exp(real - real.max(axis, keepdims=True))
    # As in ONNX Runtime, 1 has a whole number of steps, whatever the scale.
    for scale, steps in ((1 / 256, 256), (0.0061, 163)):
        share = power / power.sum(axis, keepdims=True) * steps
        got, = call("QLinearSoftmax", x, np.float32(0.06), np.array(5, dtype), np.float32(scale),
                    np.array(zero, dtype), axis=axis, opset=13)
        # Where a share is halfway between two steps either may be the result.
        assert np.abs(got - np.clip(share + zero, limits.min, limits.max)).max() <= 0.5001


def test_dims_beside_a_dim_of_zero():
    """Sums of dims of tensors without elements may not fit."""
    one, zero = np.float32(0.5), np.array(3, "u1")
    wide = np.zeros((0, 2**62), "u1")
    with pytest.raises(KernelError, match="dim 1 of the result is too large"):
        call("QLinearConcat", one, zero, *[wide, one, zero] * 2, axis=1)
    image = np.zeros((0, 2, 2**31, 2**30), "u1")
    got, = call("QLinearGlobalAveragePool", image, one, zero, one, zero, channels_last=0)
    assert got.shape == (0, 2, 1, 1)
    x = rng.integers(0, 256, (2, 3, 4, 5)).astype("u1")
    got, = call("QLinearGlobalAveragePool", x, one, zero, one, zero, channels_last=1)
    assert np.abs(got - x.mean((1, 2), keepdims=True)).max() <= 0.5001
