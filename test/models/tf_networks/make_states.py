#!/usr/bin/env python3
#===-- make_states.py - SavedModels whose variables go on from run to run ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes states/<name>.zip for each of the models below: saved_model.pb, the files of its variables,
and expected.npz with the input x0 and what TensorFlow's outputs y0, ... are in the third run of it.
The variables of those in states/refused are none that can be states.

    make_states.py [NAME ...]

Needs a Python with tensorflow (2.21 with Keras 3.15 made the stored files).
"""
import io
import os
import sys
import tempfile
import zipfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = Path(__file__).resolve().parent / "states"
LAYERS = keras.layers
RUNS = 3


class Layers:
    """Recurrent layers of Keras that are stateful, one behind the other and in both directions."""

    def __init__(self):
        steps = keras.Input(batch_shape=(2, 4, 3))
        first = LAYERS.LSTM(5, stateful=True, return_sequences=True)(steps)
        both = LAYERS.Bidirectional(LAYERS.GRU(3, stateful=True))(first)
        last = LAYERS.SimpleRNN(2, stateful=True)(first)
        self.model = keras.Model(steps, [both, last])

    @tf.function(input_signature=[tf.TensorSpec([2, 4, 3], tf.float32, name="x0")])
    def run(self, x0):
        both, last = self.model(x0)
        return {"y0": both, "y1": last}

    def save(self, folder):
        archive = keras.export.ExportArchive()
        archive.track(self.model)
        archive.add_endpoint("serve", self.run)
        archive.write_out(folder, verbose=False)


class Sums(tf.Module):
    """Variables that are read in front of their write and behind it."""

    def __init__(self):
        self.count, self.mean = tf.Variable(0), tf.Variable(tf.zeros([2, 3]))
        self.left = tf.Variable(tf.zeros([3], tf.float64))

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        before = tf.identity(self.mean)
        self.count.assign_add(1)
        self.mean.assign(self.mean * 0.5 + x0)
        self.left.assign_sub(tf.cast(x0[0], tf.float64))
        return {"y0": before, "y1": self.mean * tf.cast(self.count, tf.float32), "y2": self.count,
                "y3": self.left}

    def save(self, folder):
        tf.saved_model.save(self, folder, signatures=self.run)


class ChainedSums(tf.Module):
    """A variable that only the next value of another one needs, and names of inputs and outputs."""

    def __init__(self):
        self.count, self.sum = tf.Variable(0., name="x0"), tf.Variable(tf.zeros([2, 3]), name="y0")

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        before = tf.identity(self.sum)
        self.count.assign_add(1.)
        self.sum.assign(self.sum + x0 * self.count)
        return {"y0": before}

    def save(self, folder):
        tf.saved_model.save(self, folder, signatures=self.run)


class Begun(Sums):
    """A state that does not begin with zeros."""

    def __init__(self):
        super().__init__()
        self.mean.assign(tf.ones([2, 3]))


class Chosen(Sums):
    """Variables that branches write, read and do neither with."""

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        if self.count < 2:
            self.mean.assign(self.mean * 0.5 + x0)
            self.count.assign_add(1)
        else:
            self.count.assign_add(2)
            if x0[0, 0] > -2.0:
                self.left.assign_add([1.0, 2.0, 3.0])
        return {"y0": self.mean + 0.0, "y1": self.count, "y2": self.left}


class Read(Sums):
    """Variables that branches read behind their own write, or read only and others write."""

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        def more():
            self.mean.assign_add(x0)
            return self.mean * 2.0

        def again():
            self.mean.assign(self.mean)
            return self.mean + x0

        chosen = tf.switch_case(tf.identity(self.count), [more, again, lambda: x0 * 3.0 + self.mean])
        shown = x0
        if self.count > 0:
            if self.count > 1:
                shown = shown + tf.cast(self.left, tf.float32)
            else:
                self.left.assign_add([1.0, 2.0, 3.0])
        self.count.assign_add(1)
        return {"y0": chosen, "y1": self.mean + shown, "y2": self.count}


class WrittenTwice(Sums):
    """A variable that the model and functions that it calls change, once and more than once."""

    @tf.function
    def add(self, x0):
        self.mean.assign_add(x0)
        return self.mean * 0.5

    @tf.function
    def twice(self, x0):
        return self.add(x0) + self.add(x0 * 0.25)

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        before = self.twice(x0)
        self.mean.assign_sub(x0 * 0.5)
        return {"y0": before + self.twice(x0 + 1.), "y1": self.mean + 0.}


class Rows(tf.Module):
    """Variables whose elements are written one by one: a ring of the last rows, and tables."""

    def __init__(self):
        self.step, self.ring = tf.Variable(0), tf.Variable(tf.zeros([4, 3]))
        self.table, self.cells = tf.Variable(tf.zeros([5, 3])), tf.Variable(tf.zeros([3, 4]))

    @tf.function
    def learn(self, rows, x0):
        self.table.scatter_add(tf.IndexedSlices(x0, rows))
        return tf.gather(self.table, rows[::-1])

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        self.ring.scatter_update(tf.IndexedSlices(x0[:1] + 1., [self.step % 4]))
        learned = self.learn([1, 3], x0) + self.learn([3, 3], x0)
        self.cells.scatter_nd_add([[0, 1], [2, 3]], x0[:, 0] + 1.)
        self.cells[1:3, ::2].assign(x0[:, :2] + self.cells[1:3, 1::2])
        self.step.assign_add(1)
        return {"y0": self.ring + 0., "y1": learned, "y2": self.cells.gather_nd([[2, 3], [1, 2]]),
                "y3": self.step}

    def save(self, folder):
        tf.saved_model.save(self, folder, signatures=self.run)


class Multiplied(Sums):
    """No operator on tensors multiplies chosen rows."""

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        self.mean.scatter_mul(tf.IndexedSlices(x0[:1], [1]))
        return {"y0": self.mean + 0.}


class LoopedProducts(Sums):
    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        for _ in tf.range(3):
            self.mean.scatter_mul(tf.IndexedSlices(x0[:1], [1]))
        return {"y0": self.mean + 0.}


class Growing(tf.Module):
    """A variable of any number of rows."""

    def __init__(self):
        self.rows = tf.Variable(tf.zeros([0, 3]), shape=[None, 3])

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        rows = tf.concat([self.rows, x0], 0)
        self.rows.assign(rows)
        return {"y0": rows}

    save = Sums.save


class Looped(Sums):
    """A variable that a condition writes and a loop reads."""

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        total = x0
        for _ in tf.range(3):
            total = total + self.mean
        if tf.reduce_sum(total) > -100.0:
            self.mean.assign(total)
        return {"y0": self.mean + 0.0}


class LoopedWrites(Sums):
    """Variables that a loop, a function that it calls, and a condition in it write."""

    @tf.function
    def add(self, x0):
        if self.count % 2 == 0:
            self.mean.assign_add(x0)
        self.count.assign_add(1)
        return self.mean * 2.

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        total = x0
        for _ in tf.range(3):
            total = total + self.add(x0) + self.mean
        return {"y0": total, "y1": self.mean + 0., "y2": self.count}


class Helped(Sums):
    """A variable that a function changes in a condition, and that its caller reads behind it."""

    @tf.function
    def help(self, x0):
        if tf.reduce_sum(self.mean) < 50.0:
            self.mean.assign_add(x0)

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        self.help(x0)
        return {"y0": self.mean + 0.0}


class Words(tf.Module):
    def __init__(self):
        self.words = tf.Variable(["a", "bc"])

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        before = tf.identity(self.words)
        self.words.assign(tf.strings.join([before, ["x", "y"]]))
        return {"y0": tf.strings.length(before), "y1": x0 + 1.0}

    save = Sums.save


class Complex(tf.Module):
    def __init__(self):
        self.turned = tf.Variable(tf.ones([2, 3], tf.complex64))

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x0")])
    def run(self, x0):
        self.turned.assign(self.turned * tf.complex(x0, x0))
        return {"y0": tf.math.real(self.turned)}

    save = Sums.save


MODELS = [("stateful-layers", Layers, (2, 4, 3)), ("running-sums", Sums, (2, 3)),
          ("chained-sums", ChainedSums, (2, 3)), ("begun", Begun, (2, 3)), ("chosen", Chosen, (2, 3)),
          ("read", Read, (2, 3)), ("looped", Looped, (2, 3)), ("looped-writes", LoopedWrites, (2, 3)),
          ("helped", Helped, (2, 3)), ("written-twice", WrittenTwice, (2, 3)), ("rows", Rows, (2, 3)),
          ("refused/multiplied", Multiplied, (2, 3)), ("refused/looped-products", LoopedProducts, (2, 3)),
          ("refused/words", Words, (2, 3)), ("refused/complex", Complex, (2, 3)),
          ("refused/growing", Growing, (2, 3))]


def main():
    (HERE / "refused").mkdir(parents=True, exist_ok=True)
    for name, make, shape in MODELS:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        keras.utils.set_random_seed(1)
        model = make()
        x0 = np.random.default_rng(1).uniform(-1, 1, shape).astype("f4")
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder)
            for _ in range(RUNS):
                outputs = model.run(tf.constant(x0))
            arrays = {"x0": x0, **{key: value.numpy() for key, value in outputs.items()}}
            data = io.BytesIO()
            np.savez_compressed(data, **arrays)
            with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as file:
                for path in sorted(Path(folder).rglob("*")):
                    if path.is_file() and path.name != "fingerprint.pb":
                        file.write(path, str(path.relative_to(folder)))
                file.writestr("expected.npz", data.getvalue())


if __name__ == "__main__":
    main()
