#!/usr/bin/env python3
#===-- make_preprocessing.py - SavedModels of preprocessing and TensorFlow's answers ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes saved/<name>.zip for each of the models below: saved_model.pb, the files of its folder
`assets` and of its variables, and expected.npz with the inputs x0, ... and TensorFlow's outputs y0, ....

    make_preprocessing.py [name ...]

Needs a Python with tensorflow (2.21 with Keras 3.15 made the stored files). The first dim of all
inputs is dynamic. Strings are arrays of bytes.
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

HERE = Path(__file__).resolve().parent / "saved"
LAYERS = keras.layers
MODELS = {}

WORDS = np.array([[b"tea", b"cake", b"tea"], [b"", "кофе".encode(), b"milk"], [b"milk", b"x" * 40, b"Tea"],
                  [b"cake", b"cake", b"oolong"]])
NUMBERS = np.array([[10, -7, 30], [0, 20, 10], [30, 30, 30]], "i8")
SENTENCES = np.array([b"Hello, World!", b"", b"  the world said: 'hello' (twice)\t", b"foo-foo foo_foo [x]",
                      b"a b c d e f g hello", "Жук\u00a0hello".encode()])


def model(*inputs):
    """Registers a function that makes what is saved, called with the arrays `inputs`."""
    def register(make):
        MODELS[make.__name__.replace("_", "-")] = (make, inputs)
        return make
    return register


@model(WORDS, NUMBERS, np.array([[1], [4], [0], [2]], "i8"))
def lookups():
    vocabulary = ["tea", "cake", "milk"]
    layers = [LAYERS.StringLookup(vocabulary=vocabulary),
              LAYERS.StringLookup(vocabulary=vocabulary, mask_token="", num_oov_indices=2),
              LAYERS.StringLookup(vocabulary=vocabulary, output_mode="multi_hot", num_oov_indices=3),
              LAYERS.StringLookup(vocabulary=vocabulary, output_mode="count"),
              LAYERS.StringLookup(vocabulary=vocabulary, output_mode="tf_idf", idf_weights=[.5, 1, 2])]
    numbers = [LAYERS.IntegerLookup(vocabulary=[10, 20, 30]),
               LAYERS.IntegerLookup(vocabulary=[10, 20, 30], mask_token=0, num_oov_indices=2),
               LAYERS.IntegerLookup(vocabulary=[10, 20, 30], output_mode="multi_hot")]
    inverse = [LAYERS.StringLookup(vocabulary=vocabulary, invert=True),
               LAYERS.IntegerLookup(vocabulary=[10, 20, 30], invert=True)]
    return lambda words, integers, indices: [
        *[layer(words) for layer in layers], *[layer(integers) for layer in numbers],
        *[layer(indices) for layer in inverse]]


@model(WORDS, NUMBERS)
def hashes():
    layers = [LAYERS.Hashing(7), LAYERS.Hashing(10 ** 6), LAYERS.Hashing(50, mask_value="tea"),
              LAYERS.Hashing(1000, salt=133), LAYERS.Hashing(1000, salt=[-5, 2 ** 40])]
    numbers = [LAYERS.Hashing(1000), LAYERS.Hashing(1000, salt=133)]
    return lambda words, integers: [*[layer(words) for layer in layers],
                                    *[layer(integers) for layer in numbers]]


@model(np.array([[-1, 0, 2.5], [1, 7, 0.5], [2, 3, -9]], "f4"), np.array([[0, 4, 4], [1, 2, 3]], "i4"),
       np.array([[3], [0]], "i4"))
def encodings():
    real = [LAYERS.Discretization([0., 1., 2.5]), LAYERS.Discretization([0.], output_mode="multi_hot"),
            LAYERS.Normalization(mean=[1., 2., 3.], variance=[1., 4., 9.]),
            LAYERS.Normalization(mean=[1., 2., 3.], variance=[1., 4., 9.], invert=True)]
    for layer in real[2:]:
        layer.build((None, 3))
    sets = [LAYERS.CategoryEncoding(5, output_mode="multi_hot"),
            LAYERS.CategoryEncoding(5, output_mode="count")]
    one = LAYERS.CategoryEncoding(5, output_mode="one_hot")
    return lambda values, numbers, single: [*[layer(values) for layer in real],
                                            *[layer(numbers) for layer in sets], one(single)]


@model(SENTENCES)
def words():
    vocabulary = ["hello", "world", "foo", "the"]
    layers = [LAYERS.TextVectorization(vocabulary=vocabulary, output_sequence_length=6),
              LAYERS.TextVectorization(vocabulary=vocabulary),
              LAYERS.TextVectorization(vocabulary=vocabulary, standardize="lower", output_sequence_length=4)]
    return lambda sentences: [layer(sentences) for layer in layers]


@model(SENTENCES, np.array([-12, 0, 7, 1 << 40, 5, 6], "i8"))
def texts():
    def run(sentences, numbers):
        parts = tf.raw_ops.StringSplitV2(input=sentences, sep="", maxsplit=-1)
        commas = tf.raw_ops.StringSplitV2(input=sentences, sep="o", maxsplit=-1)
        upper, lower = tf.strings.upper(sentences), tf.strings.lower(sentences)
        return [upper, lower, tf.strings.strip(sentences), tf.strings.length(sentences),
                tf.strings.length(sentences, unit="UTF8_CHAR"), tf.strings.substr(sentences, 0, 3),
                tf.strings.substr(sentences, -1 * tf.strings.length(sentences), tf.fill(tf.shape(sentences), 4)),
                tf.strings.substr(sentences, tf.zeros_like(numbers), numbers * numbers, unit="UTF8_CHAR"),
                tf.strings.join([upper, "x", lower], separator=" - "), tf.strings.as_string(numbers),
                tf.strings.as_string(numbers > 0),
                tf.strings.regex_replace(sentences, r"(\w+)[^\w]*?", r"<\0\\>"),
                tf.strings.regex_replace(sentences, "o*", "-", replace_global=False),
                tf.strings.regex_full_match(sentences, ".*hello.*"),
                parts.indices, parts.values, parts.shape, commas.indices, commas.values, commas.shape]
    return run


@model(np.array([[b"one", b"two"], [b"three", b"four"]]), np.array([0, 2, 9], "i8"))
def files():
    folder = Path(tempfile.mkdtemp())
    (folder / "lines.txt").write_bytes(b"one\ntwo\nthree\n")
    (folder / "columns.txt").write_bytes(b"one,11\nthree,-3\nfour,1")
    of = tf.lookup.TextFileIndex

    def table(file, key_type, key, value_type, value, default, **options):
        return tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            str(folder / file), key_type, key, value_type, value, **options), default)
    tables = [table("lines.txt", tf.string, of.WHOLE_LINE, tf.int64, of.LINE_NUMBER, -1),
              table("lines.txt", tf.int64, of.LINE_NUMBER, tf.string, of.WHOLE_LINE, "none"),
              table("columns.txt", tf.string, 0, tf.int64, 1, 0, delimiter=",", vocab_size=2)]
    module = tf.Module()
    module.tables = tables

    def run(words, numbers):
        return [tables[0].lookup(words), tables[1].lookup(numbers), tables[2].lookup(words),
                tables[2].size() + tf.reduce_max(numbers)]
    module.run = run
    return module


@model(np.array([[1, 2], [3, 4], [1, -4]], "i8"), np.array([[b"a"], [b"bc"], [b"a"]]))
def crossed_features():
    crossing = LAYERS.HashedCrossing(7)
    vectors = LAYERS.HashedCrossing(5, output_mode="one_hot")

    def run(numbers, words):
        pairs = tf.sparse.cross_hashed([tf.sparse.from_dense(numbers), words, tf.sparse.from_dense(numbers - 1)],
                                       num_buckets=1000, hash_key=17)
        return [crossing((numbers[:, :1], words)), vectors((words, numbers[:, 1:])),
                pairs.indices, pairs.values, pairs.dense_shape,
                tf.sparse.cross_hashed([numbers, numbers]).values]
    return run


@model((np.arange(120).reshape(2, 3, 4, 5) % 17 / 256).astype("f4"))
def volumes_of_frequencies():
    def run(x):
        complex_ = tf.signal.rfft3d(x)
        both = tf.signal.fft3d(tf.complex(x, x * 2))
        back = tf.signal.ifft3d(tf.complex(x, -x))
        return [tf.math.real(complex_), tf.math.imag(complex_), tf.math.real(both), tf.math.imag(both),
                tf.math.real(back), tf.math.imag(back), tf.signal.irfft3d(complex_, [3, 4, 5]),
                tf.math.real(tf.signal.rfft3d(x, [2, 6, 4]))]
    return run


@model(np.arange(2 * 6 * 5 * 3).reshape(2, 6, 5, 3).astype("f4") % 13)
def augmented_images():
    """Layers that draw random numbers: their states are counted while the model runs."""
    module = tf.Module()
    layers = [LAYERS.RandomFlip(seed=3), LAYERS.RandomTranslation(.2, .2, seed=4), LAYERS.RandomContrast(.2, seed=5)]

    def run(x):
        for layer in layers:
            x = layer(x, training=True)
        return [x]
    module.states = [variable.value for layer in layers for variable in layer.variables]
    module.run = run
    return module


def main():
    for name in sys.argv[1:] or MODELS:
        make, inputs = MODELS[name]
        made = make()
        module = made if isinstance(made, tf.Module) else tf.Module()
        call = made.run if isinstance(made, tf.Module) else made
        # Keeps what the function captures; attributes hold layers and tables.
        module.kept = [cell.cell_contents for cell in call.__closure__ or ()]
        specs = [tf.TensorSpec((None, *x.shape[1:]), tf.string if x.dtype.kind == "S" else x.dtype, f"x{i}")
                 for i, x in enumerate(inputs)]
        function = tf.function(lambda *x: {f"y{i:02}": y for i, y in enumerate(call(*x))}, input_signature=specs)
        with tempfile.TemporaryDirectory() as folder:
            module.function = function
            tf.saved_model.save(module, folder, signatures=function)
            # The first run from the states that are saved.
            answers = function(*[tf.constant(x) for x in inputs])
            stored = io.BytesIO()
            arrays = {f"x{i}": x for i, x in enumerate(inputs)}
            for key, answer in answers.items():
                value = answer.numpy()
                arrays[key] = value.astype("S") if value.dtype == object else value
            np.savez_compressed(stored, **arrays)
            with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                parts = ("assets", "variables") if module.variables else ("assets",)
                for path in [Path(folder) / "saved_model.pb",
                             *[file for part in parts for file in sorted((Path(folder) / part).glob("*"))]]:
                    archive.writestr(zipfile.ZipInfo(str(path.relative_to(folder))), path.read_bytes(),
                                     zipfile.ZIP_DEFLATED)
                archive.writestr(zipfile.ZipInfo("expected.npz"), stored.getvalue())
        print(name, (HERE / f"{name}.zip").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
