#!/usr/bin/env python3
#===-- make_random.py - SavedModels of random tensors, and TensorFlow's answers ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More models of make_preprocessing.py, which says what is written.

    make_random.py [name ...]
"""
import make_preprocessing
import numpy as np
import tensorflow as tf
from make_preprocessing import model

RAW = tf.raw_ops


@model(np.array([[3, -1], [1 << 40, 7]], "i8"), np.zeros((5, 3), "f4"))
def numbers_of_seeds():
    def run(seeds, like):
        first, second = seeds[0], seeds[1]
        shape = tf.shape(like)
        random = tf.random
        integers = {"shape": shape, "seed": second, "dtype": tf.int64}
        old = {"shape": [7], "seed": first}
        return [random.stateless_uniform(shape, first), random.stateless_uniform([2, 3, 3], second, -2.0, 3.0),
                random.stateless_normal(shape, first), random.stateless_normal([9], second),
                random.stateless_truncated_normal(shape, first), random.stateless_truncated_normal([31], second),
                random.stateless_uniform([9], first, -5, 17, tf.int32),
                random.stateless_uniform(minval=-(1 << 40), maxval=1 << 41, **integers),
                random.stateless_uniform(minval=None, maxval=None, **integers),
                random.stateless_uniform([6], second, None, None, tf.int32),
                RAW.StatelessRandomUniform(**old), RAW.StatelessRandomNormal(**old), RAW.StatelessTruncatedNormal(**old),
                RAW.StatelessRandomUniformInt(minval=0, maxval=10, **old),
                RAW.StatelessRandomUniformFullInt(dtype=tf.int32, **old)]
    return run


@model(np.array([[3, -1], [1 << 40, 7]], "i8"))
def numbers_of_other_types():
    def run(seeds):
        random = tf.random
        drawn = [draw([7, 3], seeds[i], dtype=kind) for kind in (tf.float16, tf.bfloat16, tf.float64) for i in (0, 1)
                 for draw in (random.stateless_uniform, random.stateless_normal, random.stateless_truncated_normal)]
        return [tf.cast(numbers, tf.float64) for numbers in drawn]
    return run


@model(np.arange(4000, dtype="f4").reshape(2000, 2))
def numbers_of_a_state():
    """What is known of numbers that differ from run to run."""
    def run(rows):
        def facts(drawn, low, high):
            drawn = tf.cast(drawn, tf.float32)
            return [tf.shape(drawn), tf.reduce_min(drawn) >= low, tf.reduce_max(drawn) <= high,
                    tf.abs(tf.reduce_mean(drawn) - (low + high) / 2) < 0.1,
                    tf.math.reduce_std(drawn) > 0.5 * (high - low) / 12 ** 0.5]
        shape = tf.shape(rows)
        shuffled = RAW.RandomShuffle(value=rows)
        return [*facts(RAW.RandomUniform(shape=shape, dtype=tf.float32), 0, 1),
                *facts(RAW.TruncatedNormal(shape=[3000], dtype=tf.float32), -2, 2),
                *facts(RAW.RandomStandardNormal(shape=shape, dtype=tf.float32), -7, 7)[:4],
                *facts(RAW.RandomUniformInt(shape=[5000], minval=-1, maxval=2), -1, 1),
                *facts(RAW.Multinomial(logits=tf.zeros([1, 3]), num_samples=5000), 0, 2),
                tf.sort(shuffled[:, 0]), shuffled[:, 1] - shuffled[:, 0], tf.reduce_any(shuffled[:, 0] != rows[:, 0])]
    return run


if __name__ == "__main__":
    make_preprocessing.main()
