#!/usr/bin/env python3
#===-- make_layer_networks.py - parameters of a run, and sizes that are stated -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More networks of make_networks.py, which says what is written.

    make_layer_networks.py folder/name ...
"""
import make_networks
import numpy as np
import tensorflow as tf
from make_networks import network, values

@network(values(2, 3, 4, 2), np.abs(values(2)), values(2),
         np.array([[[[7, 200], [9, 3], [128, 64]]] * 2], "u1"), folder="numbers")
def given_parameters():
    """Statistics and filters that only a run knows, results whose size a constant states, and
    images of integers."""
    def run(image, variance, mean, bytes_):
        norm = tf.raw_ops.FusedBatchNormV3(x=image, scale=mean, offset=variance, mean=mean,
                                           variance=variance, epsilon=1e-3, is_training=False)
        wide = tf.cast(image, tf.float64)
        spread = tf.constant(values(2, 3, 4, 2))
        def transposed(size, padding, kernel=spread):
            return tf.nn.conv2d_transpose(image, kernel, size, [1, 2, 3, 1], padding)
        return (norm.y, transposed([2, 5, 11, 4], "SAME", tf.constant(values(2, 3, 4, 2))),
                transposed([2, 6, 12, 4], "SAME"), transposed([2, 7, 13, 4], "VALID"),
                transposed([2, 6, 12, 4], "VALID", tf.constant(values(1, 2, 4, 2))),
                transposed([tf.shape(image)[0], 5, 11, 4], "SAME"),
                tf.raw_ops.EuclideanNorm(input=image, axis=[1, -1]),
                tf.raw_ops.EuclideanNorm(input=wide, axis=[2], keep_dims=True),
                tf.cast(tf.raw_ops.ApproximateEqual(x=wide, y=wide + 1e-6), tf.float32),
                tf.raw_ops.ResizeBilinear(images=bytes_, size=[5, 4], half_pixel_centers=True),
                tf.raw_ops.ResizeArea(images=image[:, :1], size=[3, 6], align_corners=True))
    return run


@network(values(2, 3, 4, 2), shapes=[(None, 3, 4, 2)], folder="numbers")
def transposed_batch():
    """The result's size is put together of the batch and of constants that are not the strides times
    the image's."""
    def run(image):
        filters = tf.constant(values(2, 3, 4, 2))
        result = tf.nn.conv2d_transpose(image, filters, [tf.shape(image)[0], 5, 11, 4], [1, 2, 3, 1],
                                        "SAME")
        return tf.reshape(result, [tf.shape(image)[0], 55, 4])
    return run


@network(np.array([2, 5, 10, 2], "i4"), np.array([7, 12], "i4"), values(2, 3, 4, 3),
         shapes=[(None,), (None,), (None, None, None, 3)], folder="numbers")
def transposed_sizes():
    """The results' sizes are inputs: all dims, and height and width."""
    def run(whole, spatial, image):
        def transposed(size, kernel, padding, explicit=()):
            return tf.raw_ops.Conv2DBackpropInput(
                input_sizes=size, filter=tf.constant(values(*kernel, 2, 3)), out_backprop=image,
                strides=[1, 2, 3, 1], padding=padding, explicit_paddings=explicit)
        four, two = tf.reshape(whole, [4]), tf.reshape(spatial, [2])
        return (transposed(whole, (3, 3), "SAME"), transposed(four, (1, 2), "SAME"),
                transposed(four, (3, 3), "EXPLICIT", [0, 0, 1, 1, 1, 2, 0, 0]),
                transposed(spatial, (3, 2), "VALID"),
                transposed(two, (2, 3), "VALID"))
    return run


if __name__ == "__main__":
    make_networks.main()
