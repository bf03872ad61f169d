#!/usr/bin/python3
# ===-- microsoft_cases.py - calls of com.microsoft's operators -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases for test_microsoft.py. Run with onnxruntime it writes what that computes:

    test/kernels/microsoft_cases.py          writes microsoft_expected.npz
"""

import sys
import zlib
from pathlib import Path

import numpy as np

EXPECTED = Path(__file__).with_name("microsoft_expected.npz")
# Kernels of operators whose names ONNX has with another meaning.
PREFIXED = {"Attention", "RotaryEmbedding"}


class Case:
    def __init__(self, name, op, outputs, inputs, unused=(), **attributes):
        self.name, self.op, self.outputs, self.attributes = name, op, outputs, attributes
        self.unused = unused
        self.inputs = inputs(np.random.default_rng(zlib.crc32(name.encode())))

    @property
    def kernel(self):
        return "Ms" + self.op if self.op in PREFIXED else self.op


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def cache(rng, positions, half):
    angles = rng.uniform(-3, 3, size=(positions, half))
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def u8(rng, *shape):
    return rng.integers(0, 256, size=shape, dtype=np.uint8)


def scale(value):
    return np.array(value, np.float32)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


def cases():
    f = floats
    yield Case("skip_layer_norm", "SkipLayerNormalization", 4,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 3, 8), f(r, 8), f(r, 8), f(r, 8)],
               unused=(1, 2))
    yield Case("skip_layer_norm_broadcast", "SkipLayerNormalization", 1,
               lambda r: [f(r, 2, 3, 8), f(r, 3, 8), f(r, 8)], epsilon=1e-3)
    yield Case("skip_simplified_layer_norm", "SkipSimplifiedLayerNormalization", 4,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 3, 8), f(r, 8), f(r, 8)],
               unused=(1, 2))
    yield Case("embed_layer_norm", "EmbedLayerNormalization", 3,
               lambda r: [r.integers(0, 5, (2, 3), np.int32), r.integers(0, 2, (2, 3), np.int32),
                          f(r, 5, 8), f(r, 4, 8), f(r, 2, 8), f(r, 8), f(r, 8),
                          np.array([[1, 1, 0], [1, 0, 0]], np.int32)])
    yield Case("embed_layer_norm_positions", "EmbedLayerNormalization", 2,
               lambda r: [r.integers(0, 5, (2, 3), np.int32), None, f(r, 5, 8), f(r, 4, 8), None,
                          f(r, 8), f(r, 8), None, np.array([[3, 1, 0], [0, 1, 2]], np.int32)])
    for rank, shape in ((3, (2, 3, 16)), (4, (2, 2, 3, 8))):
        for interleaved in (0, 1):
            yield Case(f"rotary_{rank}_{interleaved}", "RotaryEmbedding", 1,
                       lambda r: [f(r, *shape), np.array([[0, 1, 2], [4, 2, 0]]),
                                  *cache(r, 6, 4)], interleaved=interleaved)
    yield Case("rotary_part", "RotaryEmbedding", 1,
               lambda r: [f(r, 2, 3, 16), np.array([2]), *cache(r, 6, 2)],
               num_heads=2, rotary_embedding_dim=4)
    yield Case("attention", "Attention", 1, lambda r: [f(r, 2, 4, 6), f(r, 6, 24), f(r, 24)],
               num_heads=2)
    yield Case("attention_causal", "Attention", 1,
               lambda r: [f(r, 2, 4, 6), f(r, 6, 24), f(r, 24)], num_heads=2, unidirectional=1)
    yield Case("attention_sizes", "Attention", 1,
               lambda r: [f(r, 2, 4, 6), f(r, 6, 28), f(r, 28)], num_heads=2,
               qkv_hidden_sizes=[8, 8, 12], scale=0.3)
    masks = {"ends": np.array([2, 4], np.int32), "both": np.array([3, 4, 1, 0], np.int32),
             "raw": np.array([[1, 1, 1, 0], [1, 0, 1, 1]], np.int32),
             "three": (np.arange(32).reshape(2, 4, 4) % 3 > 0).astype(np.int32)}
    for name, mask in masks.items():
        yield Case(f"attention_mask_{name}", "Attention", 1,
                   lambda r: [f(r, 2, 4, 6), f(r, 6, 24), f(r, 24), mask], num_heads=2)
    yield Case("attention_past", "Attention", 2,
               lambda r: [f(r, 2, 3, 6), f(r, 6, 24), f(r, 24), None,
                          f(r, 2, 2, 2, 2, 4)], num_heads=2, unidirectional=1)
    yield Case("multi_head", "MultiHeadAttention", 1,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 5, 8), f(r, 2, 5, 12)], num_heads=2)
    yield Case("multi_head_bias", "MultiHeadAttention", 3,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 3, 8), f(r, 2, 3, 8), f(r, 24),
                          np.array([[1, 1, 0], [1, 1, 1]], np.int32), f(r, 2, 1, 3, 3)],
               num_heads=2)
    yield Case("multi_head_past", "MultiHeadAttention", 3,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 3, 8), f(r, 2, 3, 8), None, None, None,
                          f(r, 2, 2, 2, 4), f(r, 2, 2, 2, 4)], num_heads=2, unidirectional=1)
    yield Case("multi_head_split", "MultiHeadAttention", 1,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 2, 5, 4), f(r, 2, 2, 5, 4)], num_heads=2)
    # The last of the queries sees all keys.
    for keys in (2, 5):
        yield Case(f"multi_head_causal_{keys}", "MultiHeadAttention", 1,
                   lambda r: [f(r, 2, 3, 8), f(r, 2, keys, 8), f(r, 2, keys, 8)], num_heads=2,
                   unidirectional=1)
    yield Case("multi_head_causal_mask", "MultiHeadAttention", 1,
               lambda r: [f(r, 2, 3, 8), f(r, 2, 5, 8), f(r, 2, 5, 8), None,
                          np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 1]], np.int32),
                          f(r, 2, 1, 3, 5)], num_heads=2, unidirectional=1)
    group = dict(num_heads=4, kv_num_heads=2)
    for window in (-1, 2):
        yield Case(f"group_query_prompt_{window}", "GroupQueryAttention", 3,
                   lambda r: [f(r, 2, 3, 64), f(r, 2, 3, 32), f(r, 2, 3, 32), None, None,
                              np.array([2, 2], np.int32), np.array(3, np.int32)],
                   local_window_size=window, **group)
    yield Case("group_query_token", "GroupQueryAttention", 3,
               lambda r: [f(r, 2, 1, 64), f(r, 2, 1, 32), f(r, 2, 1, 32), f(r, 2, 2, 3, 16),
                          f(r, 2, 2, 3, 16), np.array([3, 3], np.int32), np.array(4, np.int32),
                          *cache(r, 8, 8)], do_rotary=1, **group)
    yield Case("group_query_packed", "GroupQueryAttention", 3,
               lambda r: [f(r, 1, 3, 128), None, None, None, None, np.array([2], np.int32),
                          np.array(3, np.int32), *cache(r, 8, 8)],
               do_rotary=1, rotary_interleaved=1, softcap=5.0, **group)
    for left, right, name in (((2, 1, 3, 4), (5, 1, 4), "broadcast"), ((7,), (7,), "same")):
        for op in ("QLinearAdd", "QLinearMul"):
            yield Case(f"{op}_{name}", op, 1,
                       lambda r: [u8(r, *left), scale(.1), zero(120), u8(r, *right), scale(.07),
                                  zero(9), scale(.15), zero(100)])
    yield Case("QLinearAdd_int8", "QLinearAdd", 1,
               lambda r: [u8(r, 9).view(np.int8), scale(.1), zero(5, np.int8),
                          u8(r, 9).view(np.int8), scale(.07), zero(-4, np.int8), scale(.15), zero(3, np.int8)])
    unary = [("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": .3})]
    for op, attributes in unary:
        yield Case(op, op, 1, lambda r: [u8(r, 3, 50), scale(.05), zero(120), scale(.01),
                                         zero(7)], **attributes)
    yield Case("QLinearSoftmax", "QLinearSoftmax", 1,
               lambda r: [u8(r, 3, 20), scale(.05), zero(120), scale(1 / 256), zero(0)],
               axis=-1, opset=13)
    for last in (0, 1):
        yield Case(f"QLinearGlobalAveragePool_{last}", "QLinearGlobalAveragePool", 1,
                   lambda r: [u8(r, 2, 5, 4, 3), scale(.05), zero(120), scale(.03), zero(99)],
                   channels_last=last)
    yield Case("QLinearAveragePool", "QLinearAveragePool", 1,
               lambda r: [u8(r, 1, 2, 6, 7), scale(.05), zero(120), scale(.03), zero(99)],
               kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    yield Case("QLinearAveragePool_ceil", "QLinearAveragePool", 1,
               lambda r: [u8(r, 1, 2, 6, 7), scale(.05), zero(120), scale(.03), zero(99)],
               kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 0], ceil_mode=1, count_include_pad=1)
    yield Case("QLinearConcat", "QLinearConcat", 1,
               lambda r: [scale(.1), zero(100), u8(r, 2, 3), scale(.05), zero(120), u8(r, 2, 4),
                          scale(.1), zero(100)], axis=1)
    for a, b in ((0, 0), (1, 0), (0, 1), (1, 1)):
        yield Case(f"fused_matmul_{a}{b}", "FusedMatMul", 1,
                   lambda r: [f(r, 2, *((5, 3) if a else (3, 5))),
                              f(r, 2, *((4, 5) if b else (5, 4)))],
                   transA=a, transB=b, alpha=0.5)
    yield Case("fused_matmul_vector", "FusedMatMul", 1, lambda r: [f(r, 2, 3, 5), f(r, 5, 4)])
    for activation in ("Relu", "LeakyRelu", "Tanh", "Sigmoid"):
        yield Case(f"fused_gemm_{activation}", "FusedGemm", 1,
                   lambda r: [f(r, 3, 5), f(r, 4, 5), f(r, 4)], transB=1, alpha=.5,
                   activation=activation,
                   **({"activation_alpha": .2} if activation == "LeakyRelu" else {}))
        yield Case(f"fused_conv_{activation}", "FusedConv", 1,
                   lambda r: [f(r, 1, 2, 5, 5), f(r, 3, 2, 3, 3), f(r, 3)], pads=[1, 1, 1, 1],
                   activation=activation,
                   **({"activation_params": [.2]} if activation == "LeakyRelu" else {}))
    for bits in (4, 8):
        blob = 32 * bits // 8
        yield Case(f"matmul_nbits_{bits}", "MatMulNBits", 1,
                   lambda r: [f(r, 2, 3, 40), u8(r, 6, 2, blob), f(r, 12)],
                   K=40, N=6, bits=bits, block_size=32)
        yield Case(f"matmul_nbits_zeros_{bits}", "MatMulNBits", 1,
                   lambda r: [f(r, 3, 70), u8(r, 6, 3, blob), f(r, 18),
                              u8(r, 6 * -(-3 * bits // 8)), None, f(r, 6)],
                   K=70, N=6, bits=bits, block_size=32)
    yield Case("dynamic_quantize_matmul", "DynamicQuantizeMatMul", 1,
               lambda r: [f(r, 3, 8), u8(r, 8, 4), np.float32([.1]), np.uint8([120]), f(r, 4)])
    yield Case("matmul_integer_to_float", "MatMulIntegerToFloat", 1,
               lambda r: [u8(r, 2, 3, 8), u8(r, 8, 4), np.float32([.1]), f(r, 4), np.uint8([9]),
                          u8(r, 4), f(r, 4)])
    yield Case("qgemm", "QGemm", 1,
               lambda r: [u8(r, 3, 8), scale(.1), zero(100), u8(r, 4, 8), scale(.05), zero(90),
                          r.integers(-1000, 1000, 4, np.int32), scale(.9), zero(77)], transB=1)
    yield Case("qgemm_float", "QGemm", 1,
               lambda r: [u8(r, 3, 8), scale(.1), zero(100), u8(r, 8, 4), scale(.05), zero(90)],
               alpha=.5)
    yield Case("inverse", "Inverse", 1, lambda r: [f(r, 2, 4, 4)])
    yield from quantized_attentions()
    for name, size, given in (("plain", (2, 9, 8, 3), {}),
                              ("strides", (1, 7, 11, 16),
                               {"strides": [2, 3], "pads": [1, 0, 0, 1], "dilations": [1, 2]}),
                              ("ceil", (1, 8, 8, 5), {"strides": [2, 2], "ceil_mode": 1}),
                              ("same", (1, 5, 6, 4), {"strides": [2, 2],
                                                      "auto_pad": "SAME_LOWER"})):
        yield Case(f"nhwc_max_pool_{name}", "NhwcMaxPool", 1,
                   lambda r, size=size: [u8(r, *size)], kernel_shape=[3, 2], **given)
    yield Case("nhwc_max_pool_signed", "NhwcMaxPool", 1,
               lambda r: [u8(r, 2, 6, 5, 4).astype(np.int8)], kernel_shape=[2, 2])
    yield from gathers()


def quantized_attentions():
    """Sequences of 5, vectors of 8 in 2 heads."""
    def inputs(rng, *others, columns=0, signed=False):
        weights = u8(rng, 8, 24)
        if signed:  # of 7 bits: onnxruntime's sums of larger ones saturate on some processors
            weights = (weights // 2).astype(np.int8) - np.int8(64)
        return [u8(rng, 2, 5, 8), weights, floats(rng, 24), scale(.02),
                floats(rng, columns) * .01 if columns else scale(.01), *others]
    yield Case("q_attention", "QAttention", 1,
               lambda r: inputs(r, None, zero(120), zero(130)), num_heads=2)
    yield Case("q_attention_signed", "QAttention", 1,
               lambda r: inputs(r, None, zero(7), zero(-3, np.int8), signed=True), num_heads=2,
               unidirectional=1)
    yield Case("q_attention_columns", "QAttention", 1,
               lambda r: inputs(r, None, zero(120), u8(r, 24), columns=24), num_heads=2)
    yield Case("q_attention_mask", "QAttention", 1,
               lambda r: inputs(r, np.array([3, 5], np.int32), zero(120), zero(130)), num_heads=2)
    yield Case("q_attention_past", "QAttention", 2,
               lambda r: inputs(r, None, zero(120), zero(130), floats(r, 2, 2, 2, 3, 4)),
               num_heads=2, unidirectional=1, scale=.3)


def gathers():
    indices = np.array([[4, 0, -1], [2, 2, 5]])
    yield Case("gather_blocks_8_bits", "GatherBlockQuantized", 1,
               lambda r: [u8(r, 6, 40), indices, floats(r, 6, 3)], block_size=16, bits=8)
    yield Case("gather_blocks_8_bits_zeros", "GatherBlockQuantized", 1,
               lambda r: [u8(r, 6, 3, 40), indices.astype(np.int32), floats(r, 6, 3, 3),
                          u8(r, 6, 3, 3)], block_size=16, bits=8, quantize_axis=2)
    yield Case("gather_blocks_4_bits", "GatherBlockQuantized", 1,
               lambda r: [u8(r, 6, 32), indices, floats(r, 6, 2)], block_size=32)
    yield Case("gather_blocks_4_bits_zeros", "GatherBlockQuantized", 1,
               lambda r: [u8(r, 6, 24), indices, floats(r, 6, 3), u8(r, 6, 2)], block_size=16)
    yield Case("gather_blocks_2_bits_zeros", "GatherBlockQuantized", 1,
               lambda r: [u8(r, 6, 24), indices, floats(r, 6, 6), u8(r, 6, 2)], block_size=16,
               bits=2)


def onnxruntime_outputs(case):
    import onnxruntime
    from onnx import TensorProto, helper
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(case.inputs)]
    results = ["" if i in case.unused else f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, results, domain="com.microsoft", **case.attributes)
    given = [(name, value) for name, value in zip(names, case.inputs) if name]
    types = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8,
             np.dtype(np.int8): TensorProto.INT8, np.dtype(np.int32): TensorProto.INT32,
             np.dtype(np.int64): TensorProto.INT64}
    # Quantized operators want their scales and zero points as constants.
    constants = {name for name, value in given if value.ndim == 0 and value.dtype != np.int64}
    graph = helper.make_graph(
        [node], "case",
        [helper.make_tensor_value_info(name, types[value.dtype], value.shape)
         for name, value in given if name not in constants],
        [helper.make_empty_tensor_value_info(name) for name in results if name],
        [helper.make_tensor(name, types[value.dtype], value.shape, value.tobytes(), raw=True)
         for name, value in given if name in constants])
    model = helper.make_model(graph, ir_version=9, opset_imports=[
        helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    values = session.run(None, {n: value for n, value in given if n not in constants})
    return dict(zip((i for i, name in enumerate(results) if name), values))


def main():
    stored, missing = {}, 0
    for case in cases():
        try:
            for i, value in onnxruntime_outputs(case).items():
                stored[f"{case.name}/{i}"] = value
        except Exception as error:  # an operator that this build of onnxruntime lacks
            print(case.name, str(error)[-160:].strip(), file=sys.stderr)
            missing += 1
    np.savez_compressed(EXPECTED, **stored)
    print(f"{len(stored)} results, {missing} cases without")


if __name__ == "__main__":
    main()
