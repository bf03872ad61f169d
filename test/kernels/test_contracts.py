# ===-- test_contracts.py - inputs that a kernel does not take ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels refuse what their contracts (kernels/Kernels.def) do not allow. Each case was, or would be
without the check, an access outside a buffer or a value taken for one of another kind."""

import numpy as np
import pytest
from host_kernels import KernelError, Map, call


def f32(*dims):
    return np.zeros(dims, np.float32)


def i64(*values):
    return np.array(values, np.int64)


def u8(*dims):
    return np.zeros(dims, np.uint8)


CASES = [
    # name, inputs, attributes, words of the error
    ("BiasSplitGelu", [f32(2, 6), f32(4)], {}, ["input 1", "{2*h}", "h is 3"]),
    ("BiasSplitGelu", [f32(2, 5), f32(5)], {}, ["input 0", "[..,2*h]"]),
    ("BiasSplitGelu", [f32(), f32(1)], {}, ["input 0"]),
    ("FeatureVectorizer", [f32(2, 3)], {"inputdimensions": [-4]}, ["-4 features"]),
    ("MatMulInteger", [u8(2, 3), u8(3, 4), u8(3)], {}, ["input 2", "m is 2"]),
    ("MatMulInteger", [u8(2, 3), u8(3, 4), u8(1), u8(5)], {}, ["input 3", "n is 4"]),
    ("QLinearMatMul", [u8(2, 3), f32(), u8(), u8(3, 4), f32(3), u8(), f32(), u8()], {}, ["input 4"]),
    ("SkipLayerNormalization", [f32(2, 3, 4), f32(2, 3, 5), f32(4)], {}, ["input 1", "h is 4"]),
    ("SkipLayerNormalization", [f32(2, 3, 4), f32(2, 3, 4), f32(3)], {}, ["input 2", "{h}"]),
    ("SkipSimplifiedLayerNormalization", [f32(2, 4), f32(2, 4), f32(2, 4)], {}, ["input 2"]),
    ("EmbedLayerNormalization",
     [np.full((1, 2), 9, np.int32), np.zeros((1, 2), np.int32), f32(5, 4), f32(3, 4), f32(2, 4),
      f32(4), f32(4)], {}, ["9 in input 0", "0 to 4"]),
    ("EmbedLayerNormalization",
     [np.zeros((1, 2), np.int32), np.full((1, 2), -1, np.int32), f32(5, 4), f32(3, 4), f32(2, 4),
      f32(4), f32(4)], {}, ["-1 in input 1"]),
    ("EmbedLayerNormalization",
     [np.zeros((1, 2), np.int32), np.zeros((2, 2), np.int32), f32(5, 4), f32(3, 4), f32(2, 4),
      f32(4), f32(4)], {}, ["input 1", "b is 1"]),
    ("MsRotaryEmbedding", [f32(1, 2, 8), i64(0), f32(4, 4), f32(4, 4)],
     {"rotary_embedding_dim": -2, "num_heads": 1}, ["-2 of them rotated"]),
    ("Slice", [f32(4), i64(2, 2), i64(4, 4), i64(0, 0)], {}, ["axis 0 is sliced twice"]),
    ("Slice", [f32(4), i64(2, 2), i64(4, 4), i64(0, -1)], {}, ["axis 0 is sliced twice"]),
    ("HannWindow", [i64()], {}, ["input 0", "{1}"]),
    ("LRN", [f32(1, 2, 3)], {"size": -3}, ["a window of -3"]),
    ("MaxRoiPool", [f32(1, 9, 4, 4), f32(1, 5)], {"pooled_shape": [1, 1 << 62]}, ["too large"]),
    ("RoiAlign", [f32(1, 1, 4, 4), f32(1, 4), i64(0)], {"sampling_ratio": 1 << 40}, ["sampling_ratio"]),
    ("LSTM", [f32(3, 1, 2), f32(1, 12, 2), f32(1, 12, 4)], {}, ["input 2", "h is 3"]),
    ("GRU", [f32(3, 1, 2), f32(1, 12, 3), f32(1, 12, 4)], {}, ["input 1", "i is 2"]),
    ("KvAttention", [f32(1, 2, 3, 4), f32(1, 2, 5, 4), f32(1, 2, 6, 4)], {}, ["input 2", "l is 5"]),
    ("ConvTranspose", [f32(1, 1, 4), f32(1, 1, 3)], {"output_shape": [-1 << 63]}, ["output_shape"]),
    ("MsAttention", [f32(1, 2, 3), f32(3, 6)],
     {"num_heads": 1, "qkv_hidden_sizes": [(1 << 63) - 1, (1 << 63) - 1, 8]}, ["6 columns"]),
    ("GroupQueryAttention", [f32(1, 2, 8), None, None, None, None, np.ones(1, np.int32),
                             np.array(2, np.int32)],
     {"num_heads": (1 << 63) - 1, "kv_num_heads": 1}, ["heads"]),
    # One kind of value in place of another.
    ("Add", [f32(2), [f32(2)]], {}, ["a sequence as input 1", "expected a tensor"]),
    ("Relu", [Map(i64(1), f32(1))], {}, ["a map as input 0"]),
    ("Neg", [None], {}, ["no input 0"]),
    ("SequenceAt", [f32(2), i64(0)], {}, ["a tensor as input 0", "expected a sequence"]),
    ("SequenceLength", [Map(i64(1), f32(1))], {}, ["a map as input 0"]),
    ("ConcatFromSequence", [[[f32(1)]]], {"axis": 0}, ["tensors of one element type"]),
    ("DictVectorizer", [[f32(1), f32(1)]], {}, ["a sequence as input 0", "expected a map"]),
    ("CastMap", [Map(i64(1, 2, 3), f32(1))], {}, ["as many keys as values"]),
    # One element type in place of another.
    ("Add", [f32(2), i64(1, 2)], {}, ["int64 in input 1", "expected float32"]),
    ("Add", [f32(2), np.array(["a", "b"], object)], {}, ["string in input 1", "does not allow"]),
    ("Gather", [f32(2), np.array(["a"], object)], {}, ["string in input 1"]),
    ("Where", [f32(2), f32(2), f32(2)], {}, ["float32 in input 0"]),
]


@pytest.mark.parametrize("name,inputs,attributes,words", CASES,
                         ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_refused(name, inputs, attributes, words):
    with pytest.raises(KernelError) as error:
        call(name, *inputs, **attributes)
    for word in words:
        assert word in str(error.value)


def test_too_many_inputs():
    with pytest.raises(KernelError, match="has 3 inputs, expected at most 2"):
        call("Add", f32(1), f32(1), f32(1))


def test_more_outputs_than_the_kernel_makes():
    with pytest.raises(KernelError, match="has 3 outputs, expected at most 1"):
        call("Size", f32(2), outputs=3, only_shapes=True)


def test_large_regions_take_the_time_of_the_image():
    """Samples beyond the image are not computed one by one."""
    region = np.array([[-1e9, -1e9, 1e9, 1e9]], np.float32)
    result, = call("RoiAlign", np.ones((1, 1, 8, 8), np.float32), region, i64(0),
                   output_height=2, output_width=2)
    assert result.shape == (1, 1, 2, 2) and np.abs(result).max() < 1e-6


def test_unknown_elements_are_not_looked_at():
    """Shapes are inferred before the elements of inputs are there."""
    shapes = call("EmbedLayerNormalization", np.full((1, 2), 9, np.int32),
                  np.zeros((1, 2), np.int32), f32(16, 4), f32(3, 4), f32(2, 4), f32(4), f32(4),
                  only_shapes=True)
    assert shapes[0] == (1, 2, 4)


def test_shapes_of_an_attention_whose_inputs_are_known():
    """All outputs are asked for before the cache is written: none of them has memory."""
    q, k, past = f32(1, 2, 3, 4), f32(1, 2, 5, 4), f32(1, 2, 6, 4)
    shapes = call("KvAttention", q, k, k, None, past, past, outputs=3, only_shapes=True,
                  missing=(3,))
    assert shapes == [(1, 2, 3, 4), (1, 2, 11, 4), (1, 2, 11, 4)]


@pytest.mark.parametrize("unknown", [(7,), (8,), (7, 8), (10,), (14, 15)])
def test_shapes_of_a_group_attention_whose_tables_are_unknown(unknown):
    """The tables of a rotation, an addend and the scales of norms may be known later than all
    other inputs."""
    past = f32(1, 1, 2, 4)
    inputs = [f32(1, 1, 8), f32(1, 1, 4), f32(1, 1, 4), past, past, np.array([2], np.int32),
              np.array([3], np.int32), f32(8, 2), f32(8, 2), None, f32(1, 1, 1, 3), None, None,
              None, f32(4), f32(4)]
    shapes = call("GroupQueryAttention", *inputs, outputs=3, only_shapes=True, unknown=unknown,
                  num_heads=2, kv_num_heads=1, do_rotary=1)
    assert shapes == [(1, 1, 8), (1, 1, 3, 4), (1, 1, 3, 4)]


HUGE = 2**62


@pytest.mark.parametrize("name, inputs, attributes", [
    ("LinearAttention", [f32(1, 2, 0), f32(1, 2, 0), f32(1, 2, 4)],
     {"q_num_heads": HUGE, "kv_num_heads": 4, "update_rule": "linear"}),
    ("Attention", [f32(1, 2, 0), f32(1, 2, 0), f32(1, 2, 4)],
     {"q_num_heads": HUGE, "kv_num_heads": 4}),
    ("KvAttention", [f32(1, 2, 0), f32(1, 2, 0), f32(1, 2, 4)],
     {"q_num_heads": HUGE, "kv_num_heads": 4}),
    ("MsAttention", [f32(1, 2, 3), f32(3, 0)], {"num_heads": HUGE}),
    ("MultiHeadAttention", [f32(1, 2, 0), f32(1, 2, 0), f32(1, 2, 0)], {"num_heads": 2**31 - 1}),
    ("RotaryEmbedding", [f32(1, 2, 0), f32(1, 2, 0), f32(1, 2, 0)], {"num_heads": HUGE}),
    ("MsRotaryEmbedding", [f32(1, 2, 0), i64(0), f32(1, 0), f32(1, 0)], {"num_heads": 2**31 - 1}),
    ("ConvTranspose", [f32(1, 0, 3), f32(0, 4, 1)], {"group": HUGE}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_parts_without_elements_are_counted(name, inputs, attributes):
    """0 can be divided by any number: what a file states must not be that many loops, nor a product
    that wraps to memory of no bytes."""
    with pytest.raises(KernelError):
        call(name, *inputs, **attributes)
