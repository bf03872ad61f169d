#!/usr/bin/env python3
#===-- make_networks.py - small TensorFlow networks and their answers --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes <name>.pb.gz, a frozen graph, and <name>.npz, its inputs x0, ... and TensorFlow's outputs
y0, ... for each of them.

    make_networks.py [name ...]

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


def network(*inputs, shapes=None, frames=False):
    """Registers a function that makes what is frozen; `inputs` are the arrays that it is called
    with, `shapes` the stated shapes where they are dynamic."""
    def register(make):
        name = make.__name__.replace("_", "-")
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


@network(values(2, 7, 4), frames=True)
def lstm():
    return stack(LAYERS.LSTM(6, return_sequences=True), LAYERS.Dense(3))((2, 7, 4))


@network(values(2, 7, 4), frames=True)
def gru():
    return stack(LAYERS.GRU(5))((2, 7, 4))


@network(values(2, 6, 4))
def bidirectional():
    return stack(LAYERS.Bidirectional(LAYERS.LSTM(3, return_sequences=True)),
                 LAYERS.Bidirectional(LAYERS.GRU(2)))((2, 6, 4))


@network(values(3, 9, 4), shapes=[(None, None, 4)])
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


@network(np.array(5, "i4"), values(3), frames=True)
def loop_counted():
    """The number of iterations is an input."""
    def run(count, value):
        return tf.while_loop(lambda i, v: i < count,
                             lambda i, v: (i + 1, v * 0.5 + tf.cast(i, tf.float32)), (0, value))[1]
    return run


@network(values(3), frames=True)
def loop_in_loop():
    def run(value):
        def outer(i, v):
            inner = tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, w + 0.25), (0, v))[1]
            return i + 1, inner * 0.9
        return tf.while_loop(lambda i, v: i < 4, outer, (0, value))[1]
    return run


@network(values(4), frames=True)
def condition_of_shapes():
    """The branches have different shapes, and a loop that only one of them needs."""
    def run(value):
        total = tf.reduce_sum(value)
        return tf.cond(total > 0, lambda: tf.concat([value, value], 0),
                       lambda: tf.while_loop(lambda v: tf.reduce_max(v) < 10,
                                             lambda v: [v + 1], [value])[0])
    return run


@network(values(5, 3), frames=True)
def list_of_rows():
    """Rows are written out of order; one is left out."""
    def run(value):
        rows = tf.TensorArray(tf.float32, 5, element_shape=(3,))
        return tf.while_loop(lambda i, a: i < 4,
                             lambda i, a: (i + 1, a.write(4 - i, value[i] * 2)), (0, rows))[1].stack()
    return run


@network(np.array([3, 1, 3, 7, 1], "i4"), np.array([[0, 2, 0], [1, 0, 0]], "f4"))
def found_and_unique():
    def run(numbers, matrix):
        unique, positions = tf.unique(numbers)
        return unique, positions, tf.where(matrix > 0)
    return run


@network(np.linspace(-1, 1, 6))
def doubles():
    return lambda value: tf.tanh(value) + tf.sin(value) * tf.exp(value) + tf.math.erf(value)


@network(values(4, 5))
def buckets():
    return lambda value: tf.raw_ops.Bucketize(input=value, boundaries=[-1.0, 0.0, 0.5])


@network(values(2, 4))
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


@network(values(2, 5))
def bfloat16_sums():
    def run(value):
        narrow = tf.cast(value, tf.bfloat16)
        return tf.cast(narrow + narrow * narrow, tf.float32)
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
