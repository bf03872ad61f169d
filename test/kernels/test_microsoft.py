# ===-- test_microsoft.py - com.microsoft's operators against onnxruntime's results ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
from host_kernels import KernelError, Raw, call
from microsoft_cases import EXPECTED, cases

CASES = list(cases())


@pytest.fixture(scope="module")
def expected():
    with np.load(EXPECTED) as stored:
        return dict(stored)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case, expected):
    wanted = {i: expected[f"{case.name}/{i}"] for i in range(case.outputs)
              if f"{case.name}/{i}" in expected}
    assert wanted
    left_out = [i for i, value in enumerate(case.inputs) if value is None]
    results = call(case.kernel, *case.inputs, outputs=case.outputs, missing=left_out,
                   **case.attributes)
    shapes = call(case.kernel, *case.inputs, outputs=case.outputs, missing=left_out,
                  only_shapes=True, **case.attributes)
    for i, want in wanted.items():
        got = results[i]
        assert got.dtype == want.dtype and got.shape == want.shape == shapes[i]
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
        else:  # roundings of halves may differ
            assert np.abs(got.astype(int) - want.astype(int)).max(initial=0) <= 1


def test_half_precision():
    x = np.linspace(-3, 3, 24, dtype=np.float16).reshape(3, 8)
    gamma = np.ones(8, np.float16)
    full, = call("SimplifiedLayerNormalization", x.astype(np.float32), gamma.astype(np.float32))
    half, = call("SimplifiedLayerNormalization", x, gamma)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, full, rtol=2e-3)


# Small floats have no zero points.
@pytest.mark.parametrize("number,zeros", [(17, False), (19, False), (23, False), (21, False),
                                          (21, True), (22, False), (22, True)])
def test_gather_blocks_of_other_types(number, zeros):
    """The rows that DequantizeLinear makes of the whole table."""
    rng = np.random.default_rng(number)
    small = number > 20
    bits = rng.integers(0, 256 if small else 0x70, 6 * 32 // (2 if small else 1), dtype=np.uint8)
    table = Raw(number, bits, (6, 32))
    scales = rng.normal(size=(6, 2)).astype(np.float32)
    others = [Raw(number, rng.integers(0, 256, 6, dtype=np.uint8), (6, 2))] if zeros else []
    whole, = call("DequantizeLinear", table, scales, *others, axis=1, block_size=16)
    indices = np.array([5, -6, 7, 2])
    rows, = call("GatherBlockQuantized", table, indices, scales, *others, block_size=16)
    np.testing.assert_allclose(rows[[0, 1, 3]], whole[[5, 0, 2]], rtol=1e-6)
    assert not rows[2].any()
    columns, = call("GatherBlockQuantized", table, np.array(3), scales, *others, block_size=16,
                    gather_axis=1)
    np.testing.assert_allclose(columns, whole[:, 3], rtol=1e-6)


def test_errors():
    x = np.zeros((2, 3, 8), np.float32)
    with pytest.raises(KernelError, match=r"dims \[4\] in input 1, expected \{2\*h\} where h is 4"):
        call("BiasSplitGelu", x, np.zeros(4, np.float32))
    with pytest.raises(KernelError):
        call("MultiHeadAttention", x, x, np.zeros((2, 4, 8), np.float32), num_heads=2)
    with pytest.raises(KernelError, match="dim 1 has 3 scales for 32 numbers"):
        call("GatherBlockQuantized", np.zeros((4, 16), np.uint8), np.zeros(1, np.int64),
             np.zeros((4, 3), np.float32), block_size=16)
    with pytest.raises(KernelError, match=r"dims \[2\] in input 3, expected \{1\}"):
        call("QAttention", np.zeros((1, 2, 8), np.uint8), np.zeros((8, 24), np.uint8),
             np.zeros(24, np.float32), np.zeros(2, np.float32), np.float32(1), num_heads=2)
    with pytest.raises(KernelError):
        call("NhwcMaxPool", x, kernel_shape=[1])
    with pytest.raises(KernelError, match="7 in input 0, expected numbers from 0 to 4"):
        call("EmbedLayerNormalization", np.array([[7]], np.int32), None,
             np.zeros((5, 8), np.float32), np.zeros((4, 8), np.float32), None,
             np.ones(8, np.float32), np.ones(8, np.float32), missing=[1, 4])


@pytest.mark.parametrize("activation", ["Clip", "Silu", None])
@pytest.mark.parametrize("group", [1, 4])
# The dims of the convolution, dims that broadcast to these, and dims to which these broadcast.
@pytest.mark.parametrize("z", [(1, 4, 6, 5), (4, 1, 1), (2, 4, 6, 5), ()])
def test_fused_conv(activation, group, z):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 4, 6, 5)).astype(np.float32)
    w = rng.standard_normal((4, 4 // group, 3, 3)).astype(np.float32)
    b = rng.standard_normal(4).astype(np.float32)
    other = rng.standard_normal(z).astype(np.float32)
    conv, = call("Conv", x, w, b, pads=[1, 1, 1, 1], group=group)
    want = conv + other
    if activation == "Clip":
        want = np.clip(want, -.5, 1.5)
    elif activation == "Silu":
        want = want / (1 + np.exp(-want))
    attributes = {"activation": activation} if activation else {}
    if activation == "Clip":
        attributes["activation_params"] = [-.5, 1.5]
    got, = call("FusedConv", x, w, b, other, pads=[1, 1, 1, 1], group=group, **attributes)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_fused_conv_errors():
    x, w = np.zeros((1, 2, 5, 5), np.float32), np.zeros((3, 2, 1, 1), np.float32)
    with pytest.raises(KernelError, match="broadcast"):
        call("FusedConv", x, w, None, np.zeros((1, 2, 5, 5), np.float32), missing=[2])
    with pytest.raises(KernelError, match="activation"):
        call("FusedConv", x, w, activation="Gelu")


@pytest.mark.parametrize("trans_a, trans_b", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("batch_a, batch_b", [(1, 0), (0, 1), (1, 1)])
def test_products_with_rows_in_front_of_the_batch(trans_a, trans_b, batch_a, batch_b):
    rng = np.random.default_rng(4)
    a = rng.standard_normal((2, 3) + ((5, 4) if trans_a else (4, 5))).astype("f4")
    b = rng.standard_normal((2, 3) + ((6, 5) if trans_b else (5, 6))).astype("f4")
    expected = (a.swapaxes(-1, -2) if trans_a else a) @ (b.swapaxes(-1, -2) if trans_b else b)
    (got,) = call("FusedMatMul", np.moveaxis(a, -2, 0) if batch_a else a,
                  np.moveaxis(b, -2, 0) if batch_b else b, transA=trans_a, transB=trans_b,
                  transBatchA=batch_a, transBatchB=batch_b)
    np.testing.assert_allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_the_epsilon_that_skips_have_where_none_is_stated(op):
    """It is 1e-12, not the 1e-5 of other norms: rows of small numbers show it."""
    x = np.arange(8, dtype="f4")[None] * np.float32(1e-4)
    centered = x - x.mean() if op == "SkipLayerNormalization" else x
    got, = call(op, x, np.zeros_like(x), np.ones(8, "f4"))
    np.testing.assert_allclose(got, centered / np.sqrt(np.square(centered.astype("f8")).mean()), rtol=1e-4)
