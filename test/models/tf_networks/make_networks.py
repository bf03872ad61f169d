#!/usr/bin/env python3
#===-- make_networks.py - small TensorFlow networks and their answers --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes <folder>/<name>.pb.gz, a frozen graph, and <folder>/<name>.npz, its inputs x0, ... and
TensorFlow's outputs y0, ... for each of them.

    make_networks.py [folder/name ...]

Needs a Python with tensorflow (2.21 with Keras 3.15 made the stored files). Graphs hold random
weights. Those with the ending `-frames` have the loops and conditions of v1 control flow, the
others While and If of functions.
"""
import gzip
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework.convert_to_constants import (  # noqa: E402
    convert_variables_to_constants_v2)

HERE = Path(__file__).resolve().parent
LAYERS = keras.layers
NETWORKS = {}


def network(*inputs, shapes=None, frames=False, folder="layers"):
    """Registers a function that makes what is frozen; `inputs` are the arrays that it is called
    with, `shapes` the stated shapes where they are dynamic. Its files are written to `folder`."""
    def register(make):
        name = f"{folder}/{make.__name__}".replace("_", "-")
        NETWORKS[name] = (make, inputs, shapes, False)
        if frames:
            NETWORKS[name + "-frames"] = (make, inputs, shapes, True)
        return make
    return register


def values(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f4")


def stack(*layers):
    def build(shape):
        return keras.Sequential([keras.Input(batch_shape=shape), *layers])
    return build


@network(values(2, 7, 4), frames=True, folder="recurrent")
def lstm():
    return stack(LAYERS.LSTM(6, return_sequences=True), LAYERS.Dense(3))((2, 7, 4))


@network(values(2, 7, 4), frames=True, folder="recurrent")
def gru():
    return stack(LAYERS.GRU(5))((2, 7, 4))


@network(values(2, 6, 4), folder="recurrent")
def bidirectional():
    return stack(LAYERS.Bidirectional(LAYERS.LSTM(3, return_sequences=True)),
                 LAYERS.Bidirectional(LAYERS.GRU(2)))((2, 6, 4))


@network(values(3, 9, 4), shapes=[(None, None, 4)], folder="recurrent")
def lstm_dynamic():
    return stack(LAYERS.LSTM(6, return_sequences=True), LAYERS.Dense(3))((None, None, 4))


@network(values(2, 6, 8))
def attention():
    source = keras.Input(batch_shape=(2, 6, 8))
    return keras.Model(source, LAYERS.MultiHeadAttention(2, 4)(source, source))


@network(values(2, 6, 8), shapes=[(None, None, 8)])
def attention_dynamic():
    source = keras.Input(batch_shape=(None, None, 8))
    return keras.Model(source, LAYERS.MultiHeadAttention(2, 4)(source, source))


@network(values(2, 12, 10, 3), shapes=[(None, None, None, 3)])
def images_dynamic():
    return stack(LAYERS.Conv2D(4, 3, padding="same", activation="relu"), LAYERS.MaxPooling2D(),
                 LAYERS.DepthwiseConv2D(3, strides=2, padding="same"),
                 LAYERS.BatchNormalization(), LAYERS.GlobalAveragePooling2D(),
                 LAYERS.Dense(3, activation="softmax"))((None, None, None, 3))


@network(np.array(5, "i4"), values(3), frames=True, folder="control-flow")
def loop_counted():
    """The number of iterations is an input."""
    def run(count, value):
        return tf.while_loop(lambda i, v: i < count,
                             lambda i, v: (i + 1, v * 0.5 + tf.cast(i, tf.float32)), (0, value))[1]
    return run


@network(values(3), frames=True, folder="control-flow")
def loop_in_loop():
    def run(value):
        def outer(i, v):
            inner = tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, w + 0.25), (0, v))[1]
            return i + 1, inner * 0.9
        return tf.while_loop(lambda i, v: i < 4, outer, (0, value))[1]
    return run


@network(values(4), frames=True, folder="control-flow")
def condition_of_shapes():
    """The branches have different shapes, and a loop that only one of them needs."""
    def run(value):
        total = tf.reduce_sum(value)
        return tf.cond(total > 0, lambda: tf.concat([value, value], 0),
                       lambda: tf.while_loop(lambda v: tf.reduce_max(v) < 10,
                                             lambda v: [v + 1], [value])[0])
    return run


@network(values(3, 4), np.array(2, "i4"), np.array(-1, "i4"), frames=True, folder="control-flow")
def chosen_branches():
    def run(value, index, outside):
        def choose(number):
            return tf.switch_case(number, [lambda: (value + 1.0, value), lambda: (value * 2.0, -value),
                                           lambda: (value[:2], value * value),
                                           lambda: (tf.exp(value), value - 3.0)])
        turns = tf.while_loop(
            lambda i, v: i < 4,
            lambda i, v: (i + 1, tf.switch_case(i, [lambda: v + value, lambda: v * 0.5,
                                                    lambda: v - value])),
            [tf.constant(0), value])[1]
        return *choose(index), *choose(outside), turns
    return run


@network(values(5, 3), shapes=[(None, 3)], folder="control-flow")
def lists_of_dynamic_size():
    def run(value):
        size = tf.shape(value)[0]
        partial = tf.TensorArray("float32", size + 2, element_shape=(3,)).write(1, value[0])
        return (tf.scan(lambda last, row: last * 0.5 + row, value),
                tf.scan(lambda last, row: tf.tanh(last + row), value, reverse=True),
                partial.size(), partial.stack())
    return run


@network(values(3, 4), values(5, 3), frames=True, folder="control-flow")
def growing_list():
    """Arrays whose writes add items, in a loop that is left in its midst."""
    @tf.function
    def run(value, rows):
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=(3, 4))
        longer = tf.TensorArray(tf.float32, 2, dynamic_size=True, element_shape=(3,))
        i = tf.constant(0)
        while i < 9:
            if tf.reduce_sum(value) > 0:
                value = value - 0.3
            else:
                value = value + 0.2
            grown = grown.write(i, value)
            if i % 2 == 0:
                longer = longer.write(i, rows[i])
            i += 1
            if i > 3 and tf.reduce_mean(value) < 0:
                break
        return grown.stack(), longer.stack(), grown.size() + longer.size(), i
    return run


@network(values(5, 3), frames=True, folder="control-flow")
def list_of_rows():
    """Rows are written out of order; one is left out."""
    def run(value):
        rows = tf.TensorArray(tf.float32, 5, element_shape=(3,))
        return tf.while_loop(lambda i, a: i < 4,
                             lambda i, a: (i + 1, a.write(4 - i, value[i] * 2)), (0, rows))[1].stack()
    return run


@network(np.array([3, 1, 3, 7, 1], "i4"), np.array([[0, 2, 0], [1, 0, 0]], "f4"), folder="operators")
def found_and_unique():
    def run(numbers, matrix):
        unique, positions = tf.unique(numbers)
        return unique, positions, tf.where(matrix > 0)
    return run


@network(np.linspace(-1, 1, 6), folder="operators")
def doubles():
    return lambda value: tf.tanh(value) + tf.sin(value) * tf.exp(value) + tf.math.erf(value)


@network(values(4, 5), folder="operators")
def buckets():
    return lambda value: tf.raw_ops.Bucketize(input=value, boundaries=[-1.0, 0.0, 0.5])


@network(values(2, 4), folder="operators")
def stored_integers():
    """Weights that were stored as integers of 8 bits with a range each."""
    def run(value):
        weights = np.random.default_rng(5).integers(-128, 128, (4, 3))
        first = tf.quantization.dequantize(tf.constant(weights.astype("i1").view(), tf.qint8),
                                           -1.5, 2.0, mode="SCALED")
        second = tf.quantization.dequantize(tf.constant((weights + 128).astype("u1"), tf.quint8),
                                            -1.5, 2.0, mode="MIN_FIRST")
        third = tf.quantization.dequantize(tf.constant((weights + 128).astype("u1"), tf.quint8),
                                           -0.5, 2.0, mode="MIN_COMBINED")
        return value @ first, value @ second, value @ third
    return run


@network(values(2, 5), folder="operators")
def bfloat16_sums():
    def run(value):
        narrow = tf.cast(value, tf.bfloat16)
        return tf.cast(narrow + narrow * narrow, tf.float32)
    return run


@network(values(2, 4, 5, 3), values(3), values(3))
def batch_statistics():
    """Normalization by the statistics of the batch, and running ones that follow it."""
    def run(image, scale, offset):
        one = tf.raw_ops.FusedBatchNormV3(x=image, scale=scale, offset=offset, mean=[], variance=[],
                                          epsilon=1e-3, is_training=True)
        two = tf.raw_ops.FusedBatchNormV3(x=image, scale=scale, offset=offset, mean=scale,
                                          variance=offset, exponential_avg_factor=0.25)
        return one[0], one[1], one[2], two[1], two[2]
    return run


def normalized(tensor):
    """Layer normalization in the form of Keras 2."""
    shape = tf.shape(tensor)
    rows, width = shape[0] * shape[1], shape[2]
    flat = tf.reshape(tensor, [1, rows, width, 1])
    flat = tf.compat.v1.nn.fused_batch_norm(
        flat, tf.fill([rows], 1.0), tf.fill([rows], 0.0), epsilon=1e-3, data_format="NCHW")[0]
    return tf.reshape(flat, shape)


@network(values(3, 5, 8))
def layer_norm_fused():
    return lambda value: normalized(value) * values(8) + values(8)


@network(values(2, 6, 7, 12), shapes=[(None, 6, 7, 12)])
def grouped_convolutions():
    """The groups follow from channels that a shape made by Pack or Slice states."""
    def run(value):
        shape = tf.shape(value)
        packed = tf.reshape(value * 2, tf.stack([shape[0], 6, 7, 12]))
        sliced = tf.reshape(value + 1, tf.concat([shape[:3], [-1]], 0))
        first = tf.nn.conv2d(packed, values(3, 3, 1, 24), 1, "SAME")
        second = tf.nn.conv2d(sliced, values(3, 3, 4, 6), 2, "VALID")
        return first, second
    return run


@network(values(2, 3, 4, 4, 2), shapes=[(None, 3, None, 4, 2)])
def volumes_dynamic():
    return stack(LAYERS.Conv3D(4, 2, padding="same", activation="relu"),
                 LAYERS.Conv3DTranspose(3, 2, strides=2),
                 LAYERS.Conv3DTranspose(2, 3, padding="same"))((None, 3, None, 4, 2))


@network(values(2, 4, 6, 3), values(2, 9, 4), shapes=[(None, None, None, 3), (None, None, 4)])
def blocks_dynamic():
    def run(image, sequence):
        split = tf.space_to_batch(image, [2, 3], [[1, 1], [0, 3]])
        causal = tf.nn.conv1d(tf.pad(sequence, [[0, 0], [4, 0], [0, 0]]), values(3, 4, 5), 1,
                              "VALID", dilations=2)
        return split, tf.batch_to_space(split + 1.0, [2, 3], [[1, 0], [0, 2]]), causal
    return run


@network(values(2, 40), folder="operators")
def spectra():
    """Spectra with and without zeros behind the signal, arithmetic on them, and back."""
    def run(signal):
        half, longer = tf.signal.rfft(signal), tf.signal.rfft(signal, [64])
        whole = tf.signal.fft(tf.complex(signal, signal * 0.5))
        product = whole * tf.math.conj(whole) / tf.cast(tf.abs(signal) + 1.0, tf.complex64)
        image = tf.signal.fft2d(tf.reshape(tf.cast(signal, tf.complex64), [2, 8, 5]))
        moved = tf.transpose(half[:, 3:9])
        return (tf.abs(half), tf.math.angle(longer[:, 1:4] + 0.5), tf.math.real(product),
                tf.math.imag(tf.signal.ifft(product)), tf.signal.irfft(longer, [50]),
                tf.math.real(image), tf.math.imag(tf.signal.ifft2d(image * image)),
                tf.math.imag(moved), tf.math.imag(tf.signal.rfft2d(tf.reshape(signal, [2, 8, 5]))),
                tf.signal.irfft2d(tf.signal.rfft2d(tf.reshape(signal, [2, 4, 10]))))
    return run


@network(values(2, 400), shapes=[(None, 400)], folder="operators")
def mel_spectrogram_dynamic():
    """The front end of audio networks."""
    def run(signal):
        magnitudes = tf.abs(tf.signal.stft(signal, 64, 32, fft_length=128))
        mel = tf.signal.linear_to_mel_weight_matrix(10, 65, 8000, 80.0, 3800.0)
        return tf.signal.mfccs_from_log_mel_spectrograms(
            tf.math.log(tf.tensordot(magnitudes, mel, 1) + 1e-3))
    return run


@network(values(2, 6, 10), shapes=[(None, 6, 10)])
def fourier_mixer_dynamic():
    """Mixes positions and features by a transform, as FNet does in place of attention."""
    def run(value):
        mixed = tf.math.real(tf.signal.fft2d(tf.cast(value, tf.complex64)))
        return value + mixed, tf.math.real(tf.signal.ifft2d(tf.complex(mixed, value)))
    return run


@network(values(2, 9, 12, 3), values(2, 5, 5), values(2, 4),
         shapes=[(None, 9, 12, 3), (2, 5, 5), (2, 4)], folder="operators")
def resized_and_diagonals():
    def run(image, matrix, diagonal):
        return (tf.image.resize(image, [14, 7], "bicubic"), tf.image.resize(image, [4, 20], "area"),
                tf.raw_ops.ResizeBicubic(images=image, size=[12, 12], align_corners=True),
                tf.linalg.diag(diagonal), tf.linalg.diag_part(matrix),
                tf.linalg.set_diag(matrix[:, :, :4], diagonal))
    return run


@network(np.array([[3, 1, 3], [0, 9, 1]], "i4"), shapes=[(None, 3)], folder="operators")
def categories_dynamic():
    def run(numbers):
        return tuple(tf.math.bincount(numbers, minlength=6, maxlength=6, axis=-1,
                                      binary_output=binary) for binary in (False, True))
    return run


@network(values(2, 9), values(3, 4), shapes=[(2, None), (None, None)], folder="operators")
def spectra_of_any_length_dynamic():
    def run(signal, matrix):
        part = signal[:, 1:]
        return (tf.abs(tf.signal.rfft(part)), tf.pad(matrix, [[0, 2], [3, 1]], "SYMMETRIC"),
                tf.math.bincount(tf.cast(tf.abs(signal[0] * 3), tf.int32)))
    return run


def shares(*shape):
    return np.random.default_rng(sum(shape)).random(shape, "f4")


@network(shares(2, 8, 9, 3), folder="operators")
def sampled_images():
    def run(image):
        return tuple(tf.image.resize(image, size, method, antialias=antialias)
                     for size, method, antialias in [
                         ([5, 14], "lanczos3", False), ([14, 5], "lanczos5", True),
                         ([5, 14], "gaussian", True), ([5, 14], "mitchellcubic", True),
                         ([5, 14], "bicubic", True), ([5, 4], "bilinear", True)]) + (
            tf.raw_ops.ScaleAndTranslate(images=image, size=[9, 8], scale=[1.5, 0.7],
                                         translation=[2, -1], kernel_type="box"),
            tf.raw_ops.ResizeArea(images=image, size=[3, 7], align_corners=True),
            tf.raw_ops.ResizeBicubic(images=image, size=[11, 4], align_corners=False))
    return run


@network(shares(2, 8, 9, 3), np.array([[0, 0, 1, 1], [0.2, 0.3, 0.9, 0.5], [0.5, 0.5, 1.4, -0.3],
                                       [-0.2, 0.1, 0.3, 0.8]], "f4"),
         np.array([0, 1, 1, 0], "i4"), folder="operators")
def cropped_images():
    def run(image, boxes, owners):
        def crop(size, **options):
            return tf.image.crop_and_resize(image, boxes, owners, size, **options)
        return crop([4, 5]), crop([1, 3], extrapolation_value=0.5), crop([6, 2], method="nearest")
    return run


@network(shares(2, 6, 7, 3) - 0.1, folder="operators")
def colors():
    def run(image):
        hsv = tf.image.rgb_to_hsv(image)
        return (hsv, tf.image.hsv_to_rgb(image * 0.9), tf.image.hsv_to_rgb(hsv),
                tf.image.adjust_saturation(image, 1.6), tf.image.adjust_hue(image, 0.3),
                tf.image.adjust_contrast(image, 1.7))
    return run


@network(values(2, 9, 8, 4), values(3, 2, 4), folder="operators")
def windows():
    def run(image, filters):
        def patches(size, stride, rate, padding):
            return tf.image.extract_patches(image, [1, *size, 1], [1, *stride, 1], [1, *rate, 1],
                                            padding)
        pool = dict(input=image, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1])
        return (patches([3, 2], [1, 2], [1, 1], "SAME"), patches([2, 2], [2, 3], [2, 1], "VALID"),
                tf.nn.dilation2d(image, tf.constant(values(3, 2, 4)), [1, 2, 1, 1], "SAME", "NHWC",
                                 [1, 1, 2, 1]),
                tf.nn.local_response_normalization(image, 2, 1.5, 0.3, 0.6),
                *tf.raw_ops.MaxPoolWithArgmax(padding="SAME", **pool),
                *tf.raw_ops.MaxPoolWithArgmax(padding="VALID", include_batch_in_index=True, **pool),
                tf.nn.depthwise_conv2d(image, filters[..., tf.newaxis], [1, 1, 1, 1], "SAME"))
    return run


@network(shares(9, 4), shares(9), shares(2, 9, 1, 4), shares(2, 9, 3, 4), shares(2, 9, 3),
         shapes=[(9, 4), (9,), (2, 9, 1, 4), (2, 9, 3, 4), (2, 9, 3)], folder="operators")
def suppressed_boxes():
    def run(boxes, scores, shared, own, by_class):
        def corners(value):
            return tf.concat([value[..., :2], value[..., :2] + value[..., 2:] + 0.1], -1)
        few = dict(boxes=corners(boxes), scores=scores, max_output_size=4, iou_threshold=0.2)
        many = dict(scores=by_class, max_output_size_per_class=4, max_total_size=14,
                    iou_threshold=0.2, score_threshold=0.1)
        return (tf.raw_ops.NonMaxSuppressionV2(**few),
                tf.raw_ops.NonMaxSuppressionV3(score_threshold=0.5, **few),
                *tf.raw_ops.NonMaxSuppressionV4(score_threshold=0.8, pad_to_max_output_size=True,
                                                **few),
                *tf.raw_ops.NonMaxSuppressionV5(score_threshold=0.8, soft_nms_sigma=0.0, **few),
                *tf.raw_ops.CombinedNonMaxSuppression(boxes=corners(shared), **many),
                *tf.raw_ops.CombinedNonMaxSuppression(boxes=corners(own), pad_per_class=True,
                                                      clip_boxes=False, **many))
    return run


@network(values(2, 5, 4), values(2, 4), folder="operators")
def diagonals():
    def run(matrix, diagonal):
        square = tf.linalg.matmul(matrix, matrix, transpose_a=True)
        return (tf.linalg.diag(diagonal), tf.linalg.diag_part(matrix),
                tf.linalg.diag_part(tf.transpose(matrix, [0, 2, 1])), tf.linalg.trace(square),
                tf.linalg.set_diag(matrix, diagonal), tf.linalg.set_diag(square, diagonal))
    return run


@network(values(2, 5), values(2, 3, 5), shapes=[(None, 5), (None, 3, 5)], folder="operators")
def side_diagonals_dynamic():
    def run(diagonal, matrix):
        return (tf.linalg.diag(diagonal, k=2), tf.linalg.diag(diagonal, k=-1, padding_value=7),
                tf.linalg.diag_part(matrix, k=1), tf.linalg.diag_part(matrix, k=-2),
                tf.linalg.set_diag(matrix, diagonal[:, :2], k=-1),
                tf.linalg.set_diag(matrix, diagonal[:, :3], k=1))
    return run


@network(values(7, 3), np.array([0, 3, 3, -1, 2, 0, 3], "i4"), np.array([1, 1, 2, 4, 4, 4, 6], "i4"),
         shapes=[(None, 3), (None,), (None,)], folder="operators")
def segments_dynamic():
    def run(rows, owners, sorted_owners):
        whole = tf.cast(rows * 9, tf.int32)
        return (*[op(rows, owners, 5) for op in (
                    tf.math.unsorted_segment_sum, tf.math.unsorted_segment_max,
                    tf.math.unsorted_segment_min, tf.math.unsorted_segment_prod)],
                tf.math.unsorted_segment_max(whole, owners, 5),
                *[op(rows, sorted_owners) for op in (
                    tf.math.segment_sum, tf.math.segment_mean, tf.math.segment_max,
                    tf.math.segment_min, tf.math.segment_prod)],
                *tf.dynamic_partition(rows, tf.maximum(owners, 0), 5),
                tf.histogram_fixed_width(rows, [-1.0, 1.5], 6))
    return run


@network(values(5, 3), np.array([1, 0, 1, 1, 0], "i4"), values(4, 1), shapes=[(None, 3), (None,), (None, 1)],
         folder="numbers")
def parted_and_joined_dynamic():
    def run(rows, owners, column):
        places = tf.dynamic_partition(tf.range(tf.shape(rows)[0]), owners, 2)
        parts = tf.dynamic_partition(rows * 2.0, owners, 2)
        dense = tf.raw_ops.SparseToDense(sparse_indices=places[1], output_shape=tf.shape(owners),
                                         sparse_values=tf.constant(7.0), default_value=tf.constant(-1.0))
        shape = tf.raw_ops.BroadcastArgs(s0=tf.shape(column), s1=tf.shape(rows)[1:])
        return tf.dynamic_stitch(places, parts), dense, tf.broadcast_to(column, shape)
    return run


@network(values(4, 3), shapes=[(None, 3)], folder="numbers")
def ranges_of_integers_dynamic():
    def run(value):
        fake = tf.quantization
        return (fake.fake_quant_with_min_max_vars(value, -1.5, 2.0),
                fake.fake_quant_with_min_max_vars(value, 0.0, 0.0),
                fake.fake_quant_with_min_max_args(value, -1.3, 2.1, num_bits=4, narrow_range=True),
                fake.fake_quant_with_min_max_vars_per_channel(value, [-1.0, 0.0, -0.3], [1.0, 2.0, 0.7]))
    return run


@network(values(2, 6), values(2, 4), np.array([5, 0], "i4"), values(2, 5, 3), np.array([4, 2], "i4"),
         shapes=[(2, None), (2, None), (2,), (2, None, 3), (2,)], folder="operators")
def places_dynamic():
    def run(rows, queries, targets, sequence, lengths):
        ordered = tf.sort(rows, -1)
        return (tf.roll(rows, [2, -1], [1, 1]), tf.roll(sequence, [1, -2], [0, 1]),
                tf.searchsorted(ordered, queries), tf.searchsorted(ordered, rows, "right"),
                tf.math.in_top_k(targets, rows, 2), *tf.math.approx_max_k(tf.ensure_shape(rows, [2, 6]), 3),
                tf.reverse_sequence(sequence, lengths, 1),
                tf.reverse_sequence(tf.transpose(sequence, [1, 2, 0]), lengths, 0, 2),
                tf.linalg.cross(sequence, sequence[:, ::-1]), tf.nn.l2_loss(rows),
                tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(rows), rows * 2),
                tf.nn.sparse_softmax_cross_entropy_with_logits(targets, rows),
                tf.bitcast(rows, tf.int32))
    return run


@network(values(3, 12), folder="operators")
def angles_of_spectra():
    def run(signal):
        # Imaginary parts of zero: whether an angle is pi or -pi depends on their sign.
        return tf.math.angle(tf.signal.rfft(signal))
    return run


@network(np.array([5, -7, 100, -(2 ** 31)], "i4"), np.array([1, 3, 31, 4], "i4"),
         np.array([200, 7], "u1"), np.array([1, 7], "u1"), folder="numbers")
def shifted_bits():
    def run(value, amount, byte, by):
        bits = tf.bitwise
        return (bits.left_shift(value, amount), bits.right_shift(value, amount),
                bits.left_shift(byte, by), bits.right_shift(byte, by))
    return run


@network(np.array([122, 112, -94, -118, -128, 127, 7, -7, 0], "i1"),
         np.array([-20, -99, 90, 23, 3, -2, -7, 2, -5], "i1"),
         np.array([2 ** 31 - 1, -(2 ** 31), -(2 ** 31), 40], "i4"), np.array([-20, 7, 2 ** 31 - 1, -9], "i4"),
         np.array([2 ** 63 - 1, -(2 ** 63), 40], "i8"), np.array([-20, 7, -9], "i8"),
         np.array([250, 7], "u1"), np.array([249, 2], "u1"), folder="numbers")
def quotients_near_limits():
    def run(*values):
        return [form(values[i], values[i + 1]) for i in range(0, 8, 2)
                for form in (tf.math.floordiv, tf.math.floormod, tf.truncatediv)]
    return run


@network(values(4, 6) * 3, folder="numbers")
def quantized_and_back():
    def run(value):
        ops = tf.raw_ops
        def both(**options):
            return [ops.QuantizeAndDequantizeV4(input=value, input_min=-2.0, input_max=1.5,
                                                round_mode=mode, **options)
                    for mode in ("HALF_TO_EVEN", "HALF_UP")]
        low, high = tf.reduce_min(value), tf.reduce_max(value) * 0.5
        return (*both(range_given=True), *both(range_given=False, num_bits=4),
                *both(range_given=True, signed_input=False, num_bits=5),
                *both(range_given=True, narrow_range=True, num_bits=3),
                ops.QuantizeAndDequantizeV4(input=value, input_min=low, input_max=high,
                                            range_given=True),
                ops.QuantizeAndDequantizeV4(input=value, input_min=tf.zeros(6), input_max=tf.zeros(6),
                                            axis=1, range_given=False),
                ops.QuantizeAndDequantizeV3(input=value, input_min=-1.0, input_max=3.0, num_bits=6))
    return run


def frozen(make, inputs, shapes, frames):
    keras.utils.set_random_seed(1)
    made = make()
    specs = [tf.TensorSpec(shapes[i] if shapes else array.shape, array.dtype, f"x{i}")
             for i, array in enumerate(inputs)]
    function = tf.function(made).get_concrete_function(*specs)
    outputs = tf.nest.flatten(function(*[tf.constant(array) for array in inputs]))
    graph = convert_variables_to_constants_v2(function, lower_control_flow=frames).graph.as_graph_def()
    graph.ClearField("versions")
    for nodes in [graph.node, *[f.node_def for f in graph.library.function]]:
        for node in nodes:
            node.ClearField("experimental_debug_info")
            for attribute in [a for a in node.attr if a.startswith("_")]:
                del node.attr[attribute]
    return graph, [np.asarray(output) for output in outputs]


def main():
    for name in sys.argv[1:] or NETWORKS:
        make, inputs, shapes, frames = NETWORKS[name]
        graph, outputs = frozen(make, inputs, shapes, frames)
        (HERE / f"{name}.pb.gz").write_bytes(gzip.compress(graph.SerializeToString(), mtime=0))
        np.savez_compressed(HERE / f"{name}.npz", **{f"x{i}": x for i, x in enumerate(inputs)},
                            **{f"y{i}": y for i, y in enumerate(outputs)})
        print(name, (HERE / f"{name}.pb.gz").stat().st_size, "bytes,",
              sorted({n.op for n in graph.node} & {"While", "StatelessWhile", "Enter", "If",
                                                   "StatelessIf", "Switch"}))


if __name__ == "__main__":
    main()
