#!/usr/bin/env python3
#===-- make_records.py - SavedModels of records, files, cases and sparse sums, and the answers --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More models of make_preprocessing.py, which says what is written.

    make_records.py [name ...]
"""
import make_preprocessing
import numpy as np
import tensorflow as tf
from make_preprocessing import SENTENCES, model
from make_texts import picture

RAW = tf.raw_ops
LETTERS = ["Straße ΟΔΥΣΣΕΥΣ İstanbul", "ß", "ﬃ ŉ ǰ", "Σ ΑΣ. ΣΑ ΑΣΑ Σ", "ÀÉÎ àéî ÿ", "𐐀𐐨 Ⅷⅷ", "", "ЖУК жук"]


@model(np.concatenate([SENTENCES, np.array([each.encode() for each in LETTERS])]))
def cases_of_letters():
    return lambda texts: [change(texts, encoding) for change in (tf.strings.lower, tf.strings.upper)
                          for encoding in ("", "utf-8")]


ROWS = np.array([b'1.5,3,abc', b'2,,"q,""z"""', b'-1e3, 7,', b'0.25,-12,"""a"""', b'"4",5,""', b'\n1,2,x y'])


@model(ROWS, np.array([b"1.5;x\";3", b"2;;NA", b"-7;z;4;more", b"0;\"q;9"]))
def records_of_columns():
    def run(rows, others):
        none = tf.constant([], tf.float64)
        return [*tf.io.decode_csv(rows, [[7.], [tf.constant(2, tf.int64)], ["none"]]),
                *tf.io.decode_csv(rows, [["-"], ["-"], ["-"]]),
                *tf.io.decode_csv(others, [none, [tf.constant(11, tf.int32)]], field_delim=";", na_value="NA",
                                  select_cols=[0, 2], use_quote_delim=False)]
    return run


GRAY = picture(9, 12)[..., :1]
PNG_FILES = [tf.io.encode_png(image).numpy() for image in (picture(7, 5), GRAY)]
FILES = np.array(PNG_FILES + [tf.io.encode_jpeg(np.full((16, 24, 3), (200, 30, 90), "u1"), quality=95).numpy(),
                              tf.io.encode_jpeg(np.full((8, 8, 1), 77, "u1"), quality=95).numpy()])


@model(FILES)
def pictures_of_any_kind():
    def run(files):
        return [tf.io.decode_image(files[0], channels=3, expand_animations=False),
                tf.io.decode_image(files[1], channels=3, expand_animations=False),
                tf.io.decode_image(files[2], channels=3, expand_animations=False),
                tf.io.decode_image(files[0], dtype=tf.float32, expand_animations=False),
                *[tf.io.decode_png(files[i], channels=channels) for i in (0, 1) for channels in (0, 1)],
                *[tf.io.decode_jpeg(files[i], channels=channels, dct_method="INTEGER_ACCURATE")
                  for i in (2, 3) for channels in (0, 1)]]
    return run


def example(**features):
    def values(list_):
        if isinstance(list_[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=list_))
        return tf.train.Feature(float_list=tf.train.FloatList(value=list_))
    return tf.train.Example(features=tf.train.Features(feature={k: values(v) for k, v in features.items()}))


@model(np.array([example(a=[1., 2.], s=[b"x", b"yz", b"w"]).SerializeToString(), example(a=[3.]).SerializeToString(),
                 example(s=[b"v"]).SerializeToString()]))
def features_of_any_length():
    def run(records):
        kinds = {"a": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1.),
                 "s": tf.io.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
                 "i": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
        many, one = tf.io.parse_example(records, kinds), tf.io.parse_single_example(records[0], kinds)
        return [each[key] for each in (many, one) for key in kinds]
    return run


@model(np.array([b"abcdefgh", b"1", b"", b"0123456789"]), SENTENCES)
def bytes_and_parts():
    def run(numbers, texts):
        parts = [RAW.StringSplit(input=texts, delimiter=delimiter, skip_empty=skips)
                 for delimiter in (" ", "o") for skips in (True, False)]
        return [tf.io.decode_raw(numbers, tf.uint8, fixed_length=5), tf.io.decode_raw(numbers, tf.int32, fixed_length=8),
                tf.io.decode_raw(numbers, tf.int16, fixed_length=6, little_endian=False),
                *[x for p in parts for x in (p.indices, p.values, p.shape)]]
    return run


SCORES = np.random.default_rng(3).normal(0, 2, (9, 3, 6)).astype("f4")
SCORES[3:5, 1] = SCORES[2, 1]


@model(SCORES, np.array([9, 6, 0], "i4"))
def beams_of_labels():
    def run(scores, lengths):
        few = RAW.CTCBeamSearchDecoder(inputs=scores, sequence_length=lengths, beam_width=4, top_paths=1,
                                       merge_repeated=False)
        many = RAW.CTCBeamSearchDecoder(inputs=scores[:, :2], sequence_length=lengths[:2], beam_width=50, top_paths=3,
                                        merge_repeated=False)
        merged = RAW.CTCBeamSearchDecoder(inputs=tf.cast(scores, tf.float64), sequence_length=lengths, beam_width=7,
                                          top_paths=1, merge_repeated=True)
        return [x for each in (few, many, merged) for x in (*each.decoded_indices, *each.decoded_values,
                                                            *each.decoded_shape, each.log_probability)]
    return run


TABLE = np.array([[1, 0, -2, 0], [0, 3, 0, 0], [0, 0, 0, 0], [5, 0, .25, 6]], "f4")
OTHER = np.array([[-1, 0, 4, 0], [0, 0, 1, 0], [0, -7, 0, 0], [0, 0, .5, 2]], "f4")


@model(TABLE, OTHER, np.array([[3, 1, 1], [0, 7, 0], [2, 2, 2]], "i4"))
def sums_of_sparse():
    def run(first, second, numbers):
        a, b = tf.sparse.from_dense(first), tf.sparse.from_dense(second)
        weights = tf.cast(numbers, tf.float32) * .5
        sparse = [tf.sparse.add(a, b), tf.sparse.add(a, b, threshold=1.), tf.sparse.maximum(a, b), tf.sparse.minimum(a, b),
                  tf.sparse.bincount(numbers), tf.sparse.bincount(numbers, axis=-1, binary_output=True, minlength=10),
                  tf.sparse.bincount(numbers, weights=weights, axis=-1, maxlength=3)]
        return [tf.sparse.add(a, second), *[x for s in sparse for x in (s.indices, s.values, s.dense_shape)]]
    return run


@model(np.random.default_rng(5).normal(size=(2, 16, 3)).astype("f4"))
def dilated_and_added():
    weights = np.random.default_rng(6).normal(size=(2, 3, 3)).astype("f4") / 3

    def run(x):
        for dilation in (2, 4, 8):
            padded = tf.pad(x, [[0, 0], [dilation, 0], [0, 0]])
            x += tf.nn.convolution(padded, weights, padding="VALID", dilations=[dilation])
        return [x]
    return run


CUBE = np.random.default_rng(4).normal(size=(3, 4, 5)).astype("f4")


@model(np.array([3, 1, 4, 1, 5, 9], "i4"), np.array([1, 9], "i4"), SENTENCES, CUBE,
       np.array([[[1], [0]], [[3], [3]], [[2], [1]]], "i4"))
def picked_and_left():
    def run(numbers, others, texts, cube, places):
        differences = [RAW.ListDiff(x=numbers, y=others), RAW.ListDiff(x=texts, y=texts[1:3], out_idx=tf.int64)]
        return [*[x for d in differences for x in (d.out, d.idx)], tf.gather_nd(cube, places, batch_dims=1)]
    return run


if __name__ == "__main__":
    make_preprocessing.main()
