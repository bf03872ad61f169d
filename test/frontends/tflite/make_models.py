#!/usr/bin/env python3
"""Writes models.tar.xz: TensorFlow Lite models, mostly of one operator, with inputs and the results
of TensorFlow Lite's interpreter. Needs tensorflow. Names on the command line limit what is made:

    make_models.py [NAME...]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import io
import os
import pathlib
import sys
import tarfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import (  # noqa: E402
    xla_dynamic_update_slice as update_slice)

import operator_models as single  # noqa: E402
import table_models as tables  # noqa: E402

nn, raw = tf.nn, tf.raw_ops
rng = np.random.default_rng(0)
CASES = {}  # name: (function, inputs, form)


def real(*shape, low=-2, high=2):
    return rng.uniform(low, high, shape).astype("f4")


def whole(*shape, low=-9, high=9, kind="i4"):
    return rng.integers(low, high, shape).astype(kind)


def truth(*shape):
    return rng.integers(0, 2, shape).astype(bool)


def ints(*values):
    return np.array(values, "i4")


def case(name, function, *inputs, form="float"):
    CASES[name] = (function, inputs, form)


IMAGE = real(1, 8, 8, 4)


def add_elementwise():
    a, b = real(3, 4), real(3, 4)
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "atan2"):
        case(name, getattr(tf, name), a, b)
    case("add_broadcast", tf.add, real(2, 3, 4), real(4))
    case("add_int", tf.add, whole(2, 3), whole(2, 3))
    case("add_relu", lambda x, y: nn.relu(x + y), a, b)
    case("mul_relu6", lambda x, y: nn.relu6(x * y * 3.), a, b)
    case("pow", tf.pow, real(3, 4, low=.1), b)
    case("squared_difference", tf.math.squared_difference, a, b)
    positive = whole(3, 4, low=1)
    for name in ("floordiv", "floormod"):
        function = getattr(tf.math, name)
        case(name, function, a, b)
        case(name + "_int", function, whole(3, 4), positive)
        case(name + "_negative", function, whole(3, 4), -positive)
    case("xor", tf.bitwise.bitwise_xor, whole(3, 4), whole(3, 4))
    case("right_shift", tf.bitwise.right_shift, whole(3, 4), whole(3, 4, low=0, high=5))
    case("right_shift_u8", tf.bitwise.right_shift, whole(3, 4, low=0, high=255, kind="u1"),
         whole(3, 4, low=0, high=5, kind="u1"))
    few = whole(4, 5, low=0, high=3), whole(4, 5, low=0, high=3)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        case(name, getattr(tf, name), *few)
        case(name + "_float", getattr(tf, name), *(value.astype("f4") for value in few))
    case("logical_and", tf.logical_and, truth(3, 4), truth(3, 4))
    case("logical_or", tf.logical_or, truth(3, 4), truth(3, 4))
    case("logical_not", tf.logical_not, truth(3, 4))
    for name in ("abs", "exp", "floor", "sin", "cos", "tanh", "sigmoid", "square", "sign",
                 "negative", "zeros_like"):
        case(name, getattr(tf, name), a)
    for name in ("log", "sqrt", "rsqrt"):
        case(name, getattr(tf.math, name), real(3, 4, low=.1))
    case("ceil", tf.math.ceil, a)
    case("round", tf.round, np.array([[.5, 1.5, 2.5, -.5, -1.5, .7]], "f4"))
    for name in ("relu", "relu6", "elu", "gelu", "leaky_relu"):
        case(name, getattr(nn, name), real(3, 4, low=-9, high=9))
    case("gelu_tanh", lambda x: nn.gelu(x, True), a)
    case("relu_n1_to_1", lambda x: tf.minimum(tf.maximum(x, -1.), 1.), a)
    case("relu_0_to_1", lambda x: tf.minimum(tf.maximum(x, 0.), 1.), a)
    case("hard_swish", lambda x: x * nn.relu6(x + 3.) * (1 / 6.), real(1, 4, 4, 3, low=-5, high=5))
    slope = tf.constant(real(1, 1, 4))
    case("prelu", lambda x: nn.relu(x) - slope * nn.relu(-x), IMAGE)
    case("add_n", lambda x, y, z: tf.add_n([x, y, z]), a, b, real(3, 4))
    case("cast_to_int", lambda x: tf.cast(x, tf.int32), a)
    case("cast_to_float", lambda x: tf.cast(x, tf.float32), whole(3, 4))
    case("cast_to_bool", lambda x: tf.cast(x, tf.bool), whole(3, 4, low=0, high=2))
    case("where", tf.where, truth(3, 4), a, b)
    case("where_broadcast", tf.where, truth(3, 1), a, real(1, 4))
    case("select_rows", lambda c, x, y: raw.Select(condition=c, x=x, y=y), truth(3), a, b)
    fake = tf.quantization.fake_quant_with_min_max_args
    case("fake_quant", lambda x: fake(x, -1.3, 1.7), a)
    case("bucketize", lambda x: raw.Bucketize(input=x, boundaries=[-1., 0., 1.]), a)
    case("bitcast", lambda x: tf.bitcast(x, tf.int32), a)
    case("several_results", lambda x: (nn.relu(x), x, tf.constant([1., 2.])), a)


def add_windows():
    weights, bias = tf.constant(real(3, 3, 4, 6)), tf.constant(real(6))
    per_channel = [tf.constant(real(3, 3, 4, count)) for count in (1, 2)]
    cube = tf.constant(real(2, 3, 3, 4, 5))
    up, grouped = tf.constant(real(3, 3, 5, 4)), tf.constant(real(3, 3, 2, 6))
    for pad, size in (("SAME", 16), ("VALID", 17)):
        case("conv_" + pad, lambda x, p=pad: nn.conv2d(x, weights, 1, p) + bias, IMAGE)
        case("conv_stride_" + pad,
             lambda x, p=pad: nn.relu(nn.conv2d(x, weights, 2, p) + bias), real(2, 9, 7, 4))
        case("conv_dilated_" + pad, lambda x, p=pad: nn.conv2d(x, weights, 1, p, dilations=2),
             IMAGE)
        case("conv_transpose_" + pad,
             lambda x, p=pad, n=size: nn.conv2d_transpose(x, up, [1, n, n, 5], 2, p), IMAGE)
        case("conv3d_" + pad, lambda x, p=pad: nn.conv3d(x, cube, [1, 1, 2, 1, 1], p),
             real(1, 4, 6, 6, 4))
        case("average_pool_" + pad, lambda x, p=pad: nn.avg_pool2d(x, 3, 2, p), real(1, 9, 8, 4))
        case("max_pool_" + pad, lambda x, p=pad: nn.max_pool2d(x, [2, 3], 2, p), real(1, 9, 8, 4))
    case("conv_grouped", lambda x: nn.conv2d(x, grouped, 1, "SAME"), IMAGE)
    case("conv3d_transpose",
         lambda x: nn.conv3d_transpose(x, tf.constant(np.ones((2, 2, 2, 3, 4), "f4")),
                                       [1, 8, 8, 8, 3], [1, 2, 2, 2, 1], "SAME"),
         real(1, 4, 4, 4, 4))
    case("depthwise", lambda x: nn.depthwise_conv2d(x, per_channel[0], [1] * 4, "SAME"), IMAGE)
    case("depthwise_2",
         lambda x: nn.depthwise_conv2d(x, per_channel[1], [1, 2, 2, 1], "SAME"), IMAGE)
    case("depthwise_dilated", lambda x: nn.depthwise_conv2d(x, per_channel[0], [1] * 4, "SAME",
                                                            dilations=[2, 2]), IMAGE)
    case("l2_pool", lambda x: tf.sqrt(nn.avg_pool2d(x * x, 2, 2, "SAME")), IMAGE)
    matrix, row = tf.constant(real(12, 7)), tf.constant(real(7))
    case("dense", lambda x: tf.matmul(x, matrix) + row, real(3, 12))
    case("dense_relu", lambda x: nn.relu(tf.matmul(x, matrix)), real(3, 12))
    case("dense_3", lambda x: tf.tensordot(x, matrix, 1), real(2, 3, 12))
    case("batch_matmul", tf.matmul, real(2, 3, 4), real(2, 4, 5))
    case("batch_matmul_y", lambda x, y: tf.matmul(x, y, adjoint_b=True), real(2, 3, 4),
         real(2, 5, 4))
    case("batch_matmul_x", lambda x, y: tf.matmul(x, y, adjoint_a=True), real(2, 4, 3),
         real(2, 4, 5))


def add_norms():
    rows = real(3, 7)
    case("softmax", nn.softmax, rows)
    case("log_softmax", nn.log_softmax, rows)
    case("l2_normalize", lambda x: tf.math.l2_normalize(x, -1), rows)
    case("local_response", lambda x: nn.local_response_normalization(x, 2, 1., .5, .75),
         real(1, 4, 4, 9))
    for name, op in (("bilinear", raw.ResizeBilinear), ("nearest", raw.ResizeNearestNeighbor)):
        for tag, flags in (("half", {"half_pixel_centers": True}),
                           ("corners", {"align_corners": True}), ("old", {})):
            for size in ([13, 5], [12, 14]):
                case(f"resize_{name}_{tag}_{size[0]}",
                     lambda x, op=op, flags=flags, size=size: op(images=x, size=size, **flags),
                     real(1, 6, 7, 3))


def add_reductions():
    for name in ("sum", "mean", "max", "min", "prod"):
        function = getattr(tf, "reduce_" + name)
        case("reduce_" + name, lambda x, f=function: f(x, [1, 2]), IMAGE)
        case("reduce_keep_" + name, lambda x, f=function: f(x, -1, keepdims=True), IMAGE)
    case("reduce_any", lambda x: tf.reduce_any(x, 1), truth(3, 4))
    case("reduce_all", lambda x: tf.reduce_all(x, 1), truth(3, 4))
    case("reduce_everything", lambda x: tf.reduce_sum(x), real(3, 4))
    case("arg_max", lambda x: tf.argmax(x, -1), real(3, 7))
    case("arg_min", lambda x: tf.argmin(x, 1, output_type=tf.int32), real(3, 7))
    case("cumsum", lambda x: tf.cumsum(x, 1), real(3, 7))
    case("cumsum_reverse", lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), real(3, 7))
    case("top_k", lambda x: tf.math.top_k(x, 3), real(3, 7))


def add_moves():
    flat = real(2, 6)
    case("reshape", lambda x: tf.reshape(x, [2, -1]), real(2, 3, 4))
    case("transpose", lambda x: tf.transpose(x, [2, 0, 1]), real(2, 3, 4))
    case("squeeze", lambda x: tf.squeeze(x, [1]), real(2, 1, 4))
    case("expand_dims", lambda x: tf.expand_dims(x, 1), flat)
    case("concat", lambda x, y: tf.concat([x, y], 1), flat, real(2, 4))
    case("split", lambda x: tf.split(x, 3, 1), flat)
    case("split_sizes", lambda x: tf.split(x, [1, 2, 3], 1), flat)
    case("stack", lambda x, y: tf.stack([x, y], 1), real(2, 3), real(2, 3))
    case("unstack", lambda x: tf.unstack(x, axis=1), real(2, 3))
    case("tile", lambda x: tf.tile(x, [2, 3]), real(2, 3))
    case("broadcast_to", lambda x: tf.broadcast_to(x, [4, 2, 3]), real(2, 3))
    case("broadcast_args", tf.broadcast_dynamic_shape, ints(4, 1, 3), ints(2, 1))
    case("space_to_depth", lambda x: nn.space_to_depth(x, 2), IMAGE)
    case("depth_to_space", lambda x: nn.depth_to_space(x, 2), IMAGE)
    case("space_to_batch", lambda x: tf.space_to_batch(x, [2, 2], [[1, 1], [0, 2]]), IMAGE)
    case("batch_to_space", lambda x: raw.BatchToSpaceND(input=x, block_shape=[2, 2],
                                                        crops=[[1, 0], [0, 1]]), real(4, 3, 3, 2))
    case("shape", lambda x: tf.shape(x) + 1, flat)
    case("fill", tf.fill, ints(2, 3), real())
    case("range", lambda x, y: tf.range(x, y, 2), np.int32(1), np.int32(9))
    case("slice_strided", lambda x: x[:, 1:5:2, ::-1], real(2, 6, 5))
    case("slice_one", lambda x: x[0, ..., -1], real(2, 6, 5))
    case("slice_new_axis", lambda x: x[:, tf.newaxis, 2:], flat)
    case("slice_negative", lambda x: x[:-1, -3:], real(4, 6))
    case("slice", lambda x: tf.slice(x, [0, 1], [2, -1]), real(3, 6))
    case("slice_computed", lambda x, s: tf.slice(x, s, [2, 3]), real(4, 6), ints(1, 2))
    case("pad", lambda x: tf.pad(x, [[0, 0], [1, 2]]), flat)
    case("pad_value", lambda x: tf.pad(x, [[0, 0], [1, 2]], constant_values=3.), flat)
    for mode in ("REFLECT", "SYMMETRIC"):
        case("mirror_" + mode, lambda x, m=mode: tf.pad(x, [[1, 1], [2, 1]], m), real(3, 4))
    case("reverse", lambda x: tf.reverse(x, [0, 1]), flat)
    case("reverse_sequence",
         lambda x, n: tf.reverse_sequence(x, n, seq_axis=1, batch_axis=0), real(3, 5, 2),
         ints(2, 5, 1))
    case("reverse_sequence_2",
         lambda x, n: tf.reverse_sequence(x, n, seq_axis=2, batch_axis=1), real(2, 3, 5),
         ints(2, 5, 1))


def add_lookups():
    table = real(3, 4, 5)
    case("gather", lambda x: tf.gather(x, [2, 0, 1], axis=1), table)
    case("gather_computed", tf.gather, real(5, 4), whole(3, low=0, high=5))
    case("gather_batch", lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), real(3, 5, 4),
         whole(3, 2, low=0, high=5))
    case("gather_batch_2", lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), table,
         whole(3, 2, low=0, high=5))
    case("gather_nd", tf.gather_nd, table, whole(2, 2, low=0, high=3))
    case("embedding", lambda i: nn.embedding_lookup(tf.constant(np.eye(9, dtype="f4")), i),
         whole(5, low=0, high=9))
    case("one_hot", lambda i: tf.one_hot(i, 5, 2., -1.), whole(3, low=0, high=5))
    case("one_hot_first", lambda i: tf.one_hot(i, 5, axis=0), whole(3, 2, low=0, high=5))
    case("one_hot_outside", lambda i: tf.one_hot(i, 5), ints(-1, 5, 2, -5))
    case("positions", tf.where, truth(3, 4))
    case("unique", tf.unique, whole(9, low=0, high=4))
    case("scatter_nd", lambda i, u: tf.scatter_nd(i, u, [6, 2]), ints([1], [3], [1]), real(3, 2))
    case("sparse_to_dense", lambda v: raw.SparseToDense(
        sparse_indices=[[0, 1], [2, 3]], output_shape=[3, 4], sparse_values=v, default_value=1.),
        real(2))
    case("matrix_diag", tf.linalg.diag, real(2, 3))
    case("matrix_set_diag", tf.linalg.set_diag, real(2, 3, 3), real(2, 3))
    case("update_slice", update_slice,
         real(4, 5), real(2, 2), ints(1, 4))
    case("segment_sum", lambda x: tf.math.segment_sum(x, [0, 0, 1, 2]), real(4, 2))
    for name in ("sum", "prod", "max", "min"):
        case("unsorted_segment_" + name,
             lambda x, i, n=name: getattr(tf.math, "unsorted_segment_" + n)(x, i, 4), real(5, 2),
             ints(0, 2, 0, 1, 2))
    case("suppress", lambda b, s: raw.NonMaxSuppressionV5(
        boxes=b, scores=s, max_output_size=5, iou_threshold=.5, score_threshold=.1,
        soft_nms_sigma=0., pad_to_max_output_size=True), np.sort(real(9, 4), -1), real(9, low=0))


def add_networks():
    case("while", lambda x: tf.while_loop(lambda n, y: n < 4, lambda n, y: (n + 1, y * 1.5 + 1.),
                                          (tf.constant(0), x))[1], real(2, 3))
    case("while_computed", lambda x, k: tf.while_loop(
        lambda n, y: n < k, lambda n, y: (n + 1, y * 1.5 + 1.), (tf.constant(0), x))[1],
        real(2, 3), np.int32(3))
    case("if", lambda x: tf.cond(tf.reduce_sum(x) > 0., lambda: x * 2., lambda: x - 1.),
         real(2, 3))
    layers = tf.keras.layers
    for layer in (layers.LSTM(5, return_sequences=True), layers.GRU(5),
                  layers.SimpleRNN(5, return_sequences=True),
                  layers.Bidirectional(layers.LSTM(5, return_sequences=True))):
        layer.build((1, 6, 4))
        case(type(layer).__name__.lower(), lambda x, layer=layer: layer(x), real(1, 6, 4))
    case("rfft2d", lambda x: tf.abs(tf.signal.rfft2d(x)), real(4, 4))
    fixed = np.random.default_rng(7)
    filters, several = (fixed.uniform(-1, 1, shape).astype("f4") for shape in
                        [(3, 3, 4, 4), (3, 8, 9, 4)])
    tf.keras.utils.set_random_seed(1)
    image = x = tf.keras.Input((16, 16, 3), batch_size=1)
    x = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
    x = layers.ReLU(6.)(layers.BatchNormalization()(layers.DepthwiseConv2D(3, padding="same")(x)))
    x = layers.MaxPool2D(2)(layers.Add()([x, layers.Conv2D(8, 1)(x)]))
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu6")(
        layers.Concatenate()([x, x]))
    x = layers.Dense(10)(layers.Flatten()(layers.AveragePooling2D(2)(x)))
    network = tf.keras.Model(image, layers.Softmax()(x))
    for form in ("float", "dynamic", "f16", "int8", "int8io", "uint8io", "int16"):
        case("cnn_" + form, network, real(1, 16, 16, 3), form=form)
    # Items of a batch whose ranges differ, with and without negative values.
    draws = np.random.default_rng(11)
    weights = [draws.uniform(-1, 1, shape).astype("f4")
               for shape in ((3, 3, 16, 16), (1, 1, 16, 80), (3, 3, 80, 16), (16, 80))]

    def scaled_items(x):
        x = nn.relu(nn.conv2d(x, weights[0], 1, "SAME"))
        x = nn.relu(nn.conv2d(x, weights[1], 1, "VALID"))
        x = nn.conv2d(nn.max_pool2d(x, 2, 2, "SAME"), weights[2], 2, "SAME")
        x = tf.reduce_mean(x, (1, 2)) @ weights[3]
        return x / tf.reduce_max(tf.abs(x), 1, keepdims=True)

    items = draws.uniform(-1, 1, (3, 8, 8, 16)).astype("f4") * np.float32([1, 50, .02]).reshape(3, 1, 1, 1)
    case("dynamic_items", scaled_items, items, form="dynamic")
    case("open_dynamic_items", scaled_items, items, form="dynamicopen")
    # Dilated convolutions of a batch of any size, which the converter surrounds by moves to batches.
    case("open_dilated", lambda x: nn.relu(nn.conv2d(nn.conv2d(x, filters, 1, "SAME", dilations=2),
                                                     filters, 1, "VALID", dilations=(1, 2))),
         several, form="open")
    case("open_mirror", lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], "SYMMETRIC"), several,
         form="open")
    case("open_pool_int16", lambda x: nn.max_pool2d(nn.conv2d(x, filters, 1, "SAME"), 2, 2, "SAME"), several,
         form="int16open")
    matrix = np.linspace(-1, 1, 20, dtype="f4").reshape(4, 5)
    case("open_dense_rows", lambda x: nn.relu(tf.reshape(x, [tf.shape(x)[0], -1, 4]) @ matrix + matrix[0]), several,
         form="open")
    for name in ("sum", "max"):
        function = getattr(tf.math, f"unsorted_segment_{name}")
        case(f"open_segment_{name}",
             lambda x, function=function: function(tf.transpose(x), np.arange(6) % 4, 5),
             fixed.uniform(-2, 2, (3, 6)).astype("f4"), form="open")
    case("open_diag", tf.linalg.diag, fixed.uniform(-2, 2, (3, 6)).astype("f4"), form="open")
    case("open_set_diag", lambda x: tf.linalg.set_diag(x, x[..., :6, 0]),
         fixed.uniform(-2, 2, (3, 7, 6)).astype("f4"), form="open")
    # The converter dequantizes the input, and the operators behind it read both of its forms.
    case("q_dequantized", lambda x: nn.relu(x) - filters[0, 0, 0] * nn.relu(-x), several,
         form="int8io")


    # Weights that are stored without their zeros, in blocks and one by one.
    blocks = (fixed.uniform(0, 1, (16, 32, 1)) < 0.2) * fixed.uniform(-1, 1, (16, 32, 4))
    few = fixed.uniform(-1, 1, (3, 3, 4, 8)) * (fixed.uniform(0, 1, (3, 3, 4, 8)) < 0.15)
    rows = fixed.uniform(-2, 2, (2, 128)).astype("f4")
    for form in ("sparse", "sparsef16", "sparseint8"):
        # The interpreter does not expand matrices of halves.
        if form != "sparsef16":
            case(f"{form}_dense", lambda x: x @ blocks.reshape(16, 128).T.astype("f4"), rows, form=form)
        case(f"{form}_conv", lambda x: nn.conv2d(x, few.astype("f4"), 1, "SAME"), several, form=form)
    sound = fixed.uniform(-2, 2, (2, 64)).astype("f4")
    for form, prefix in (("float", ""), ("open", "open_")):
        case(prefix + "spectrum", lambda x: tf.abs(tf.signal.stft(x, 16, 8, 16)), sound, form=form)
        case(prefix + "update_part", update_slice, fixed.uniform(-2, 2, (3, 4, 5)).astype("f4"),
             fixed.uniform(-2, 2, (2, 1, 5)).astype("f4"), ints(2, 3, 0), form=form)
    case("spectrum_parts", lambda x: [tf.math.real(tf.signal.rfft(x)), tf.math.imag(tf.signal.rfft(x))],
         sound)
    case("complex_result", tf.signal.rfft, sound)
    case("bitcast_narrow", lambda x: tf.bitcast(x, tf.uint8), sound)
    case("bitcast_wide", lambda x: tf.bitcast(x, tf.int64), ints([1, 2], [-3, 4], [5, -6]))


def add_quantized():
    for name in ("add", "multiply", "subtract", "maximum", "sigmoid", "tanh", "exp", "leaky_relu",
                 "relu6", "hard_swish", "conv_SAME", "depthwise_2", "conv_transpose_SAME", "dense",
                 "average_pool_SAME", "max_pool_SAME", "softmax", "log_softmax", "l2_normalize",
                 "resize_bilinear_half_13", "reduce_mean", "concat", "split", "transpose", "pad",
                 "mirror_REFLECT", "reshape", "squeeze", "stack", "slice_strided", "gather",
                 "top_k"):
        function, inputs, _ = CASES[name]
        case("q_" + name, function, *inputs, form="int8io")


class Counter(tf.Module):
    """Variables that begin with something, with zeros, and with what no run changes."""

    def __init__(self):
        super().__init__()
        self.mean = tf.Variable([1., 2., 3.])
        self.weight = tf.Variable(2.)
        self.count = tf.Variable(0)

    def __call__(self, x):
        self.mean.assign(self.mean * .5 + x * self.weight)
        self.count.assign_add(1)
        return self.mean + tf.cast(self.count, tf.float32)


def add_tables():
    draw = np.random.default_rng(11)
    boxes, scores = draw.uniform(-3, 3, (1, 12, 4)), draw.uniform(0, 1, (1, 12, 5))
    reals = boxes.astype("f4"), scores.astype("f4")
    bytes_ = draw.integers(0, 256, boxes.shape, "u1"), draw.integers(0, 256, scores.shape, "u1")
    regular = {"use_regular_nms": True}
    for name, options in (("fast", {}), ("classes", {"max_classes_per_detection": 3}),
                          ("regular", regular), ("few", regular | {"detections_per_class": 1}),
                          ("none", regular | {"nms_score_threshold": 2.})):
        case("detections_" + name, lambda options=options: tables.detections(**options), *reals,
             form="tables")
    case("detections_u8", lambda: tables.detections(kind="u1", **regular), *bytes_, form="tables")
    case("detections_background", lambda: tables.detections(background=0), reals[0],
         reals[1][:, :, 1:], form="tables")
    case("composite", tables.composite, *(draw.uniform(-1, 1, (2, 3)).astype("f4") for _ in "xy"),
         form="tables")
    for kind in ("LSTM", "RNN"):
        for merges in (False, True):
            name = f"both_{kind.lower()}" + ("_merged" if merges else "")
            shape = (5, 2, 3) if merges else (2, 5, 3)
            case(name, lambda kind=kind, merges=merges: tables.both_directions(kind, merges, merges),
                 draw.uniform(-1, 1, shape).astype("f4"), form="tables")
    case("variables", Counter(), draw.uniform(-1, 1, 3).astype("f4"), form="variables")


def add_single():
    fixed = np.random.default_rng(13)

    def given(*shape):
        return fixed.uniform(-2, 2, shape).astype("f4")

    def model(name, function, *inputs):
        case(name, function, *inputs, form="tables")

    model("svdf", lambda: single.svdf(1), given(2, 4))
    model("svdf_rank", lambda: single.svdf(2, "RELU"), given(2, 4))
    model("lstm_basic", single.basic_lstm, given(2, 3), given(2, 4), given(2, 4))
    every = {"peepholes": True, "norms": True, "projects": True, "clip": .6}
    for name, options in (("plain", {}), ("coupled", {"coupled": True, "peepholes": True}),
                          ("all", every), ("clipped", {"clip": .3})):
        model("lstm_step_" + name, lambda options=options: single.lstm(**options), given(2, 3))
        model("lstm_steps_" + name, lambda options=options: single.lstm(True, **options),
              given(2, 5, 3))
    model("lstm_steps_time", lambda: single.lstm(True, isTimeMajor=True, **every), given(5, 2, 3))
    model("rnn_step", single.rnn, given(2, 3))
    model("hashtable_lookup", single.hashtable_lookup, ints(2, 3, -3, 9, 10))
    for name in ("SUM", "MEAN", "SQRTN"):
        model("embedding_" + name.lower(), lambda name=name: single.embedding_sum(name),
              ints(5, 0, 3, 3), given(4))
    model("dilate", single.dilate, given(3, 1, 4))
    for name, first in (("ADD", 0.), ("MUL", 1.), ("MINIMUM", 9.), ("MAXIMUM", -9.)):
        model("window_" + name.lower(), lambda n=name, f=first: single.reduce_window(n, f),
              given(2, 4, 7))
    for name, first in (("ADD", 0.), ("MULTIPLY", 1.), ("MINIMUM", 9.), ("MAXIMUM", -9.)):
        hlo = "STABLEHLO_" + name
        model("hlo_" + name.lower(), lambda n=name: single.hlo_two(n), given(2, 3), given(2, 3))
        model("hlo_window_" + name.lower(), lambda n=hlo, f=first: single.hlo_reduce_window(n, f),
              given(2, 4, 3))
        model("hlo_scatter_" + name.lower(), lambda n=hlo: single.hlo_scatter(n), given(5, 4),
              ints([1, 0], [4, 3], [1, 1]), given(3, 3))
    model("hlo_scatter_last", lambda: single.hlo_scatter(""), given(5, 4),
          ints([1, 0], [4, 3], [1, 1]), given(3, 3))
    model("hlo_shift_left", single.hlo_shift_left, ints([1, -5, 7], [100, 2**30, -2**31]),
          ints([0, 3, 9], [2, 1, 1]))
    model("hlo_pad", single.hlo_pad, given(2, 3, 4))
    model("hlo_gather", single.hlo_gather, given(5, 4, 6), ints([0, 1], [9, 2], [3, 7]))
    model("hlo_gather_first", lambda: single.hlo_gather(False), given(5, 4, 6),
          ints([0, 9, 3], [1, 2, 7]))
    for index in (1, 7):
        model(f"hlo_case_{index}", single.hlo_case, np.int32(index), given(2, 3), given(2, 3))
    for name in ("max", "min"):
        case(f"unsorted_segment_{name}_int",
             lambda x, i, n=name: getattr(tf.math, "unsorted_segment_" + n)(x, i, 4),
             fixed.integers(-9, 9, (5, 2), "i4"), ints(0, 2, 0, 1, 2))


def convert(function, inputs, form):
    """The bytes of a model. Forms: tables (made by the function), variables, float, open (a batch of any size), f16, dynamic and dynamicopen (weights), int8,
    int8io and uint8io (also inputs and results), int16 and int16open (activations); sparse, sparsef16 and sparseint8
    store weights without their zeros."""
    if form == "tables":
        return function()
    if isinstance(function, tf.keras.Model):
        converter = tf.lite.TFLiteConverter.from_keras_model(function)
    else:
        specs = [tf.TensorSpec([None, *value.shape[1:]] if form.endswith("open") else np.shape(value),
                               np.asarray(value).dtype) for value in inputs]
        traced = tf.function(function, input_signature=specs, autograph=False)
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [traced.get_concrete_function()], function if form == "variables" else traced)
    converter.experimental_enable_resource_variables = form == "variables"
    if form not in ("float", "open", "sparse", "variables"):
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form.startswith("sparse"):
        converter.optimizations = [*converter.optimizations, tf.lite.Optimize.EXPERIMENTAL_SPARSITY]
        form = form[6:]
    if form == "f16":
        converter.target_spec.supported_types = [tf.float16]
    if "int" in form:
        def samples():
            draws = np.random.default_rng(5)
            for _ in range(20):
                yield [draws.uniform(-2, 2, value.shape).astype("f4") for value in inputs]
        converter.representative_dataset = samples
        converter.target_spec.supported_ops = [
            tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            if form.startswith("int16") else tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    if form.endswith("io"):
        converter.inference_input_type = getattr(tf, form[:-2])
        converter.inference_output_type = getattr(tf, form[:-2])
    return converter.convert()


def stored(value, detail):
    """A value in the type of an input."""
    value = np.asarray(value)
    if detail["dtype"] == value.dtype:
        return value
    scale, zero = detail["quantization"]
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(value / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


def interpret(model, inputs):
    """Inputs and results by name, the scales of the latter."""
    resolver = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    for value, detail in zip(inputs, interpreter.get_input_details(), strict=True):
        if -1 in detail["shape_signature"]:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    values = {}
    for value, detail in zip(inputs, interpreter.get_input_details(), strict=True):
        values["in:" + detail["name"]] = stored(value, detail)
        interpreter.set_tensor(detail["index"], stored(value, detail))
    interpreter.invoke()
    for index, detail in enumerate(interpreter.get_output_details()):
        values[f"out:{index}:{detail['name']}"] = interpreter.get_tensor(detail["index"])
        values[f"scale:{index}"] = np.float32(detail["quantization"][0])
    return values


def add_all():
    for add in (add_elementwise, add_windows, add_norms, add_reductions, add_moves, add_lookups,
                add_networks, add_quantized, add_tables, add_single):
        add()


def tolerance_of(form):
    """Weights that are quantized change the results of networks that compute in float."""
    return 1e-4 if form == "float" else 3e-2


def main():
    add_all()
    path = pathlib.Path(__file__).resolve().parent / "models.tar.xz"
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, (function, inputs, form) in sorted(CASES.items()):
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            tolerance = {"tolerance": np.float32(tolerance_of(form))}
            try:
                model = convert(function, inputs, form)
                values = interpret(model, inputs) | tolerance
            except RuntimeError as error:
                print(f"{name}: left out, TensorFlow Lite cannot run it: {error}")
                continue
            file = io.BytesIO()
            np.savez(file, **values)
            for ending, data in ((".tflite", model), (".npz", file.getvalue())):
                member = tarfile.TarInfo(name + ending)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
            print(name)


if __name__ == "__main__":
    main()
