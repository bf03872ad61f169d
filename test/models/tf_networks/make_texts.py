#!/usr/bin/env python3
#===-- make_texts.py - SavedModels of operators on texts, and TensorFlow's answers -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More models of make_preprocessing.py, which says what is written.

    make_texts.py [name ...]
"""
import make_preprocessing
import numpy as np
import tensorflow as tf
from make_preprocessing import SENTENCES, model

RAW = tf.raw_ops
REALS = np.array([0, -0.0, 1.5, -2.25, 1e10, 3e-7, 0.125, 2.5, 1e38, np.nan, np.inf, -np.inf, 0.3], "f4")


@model(REALS, REALS.astype("f8") * 3, np.array([0, 5, -17, 123456, 9, 1, 1, 1, 1, 1, 1, 1, -(1 << 62)], "i8"))
def numbers_as_texts():
    def run(single, double, integers):
        text = tf.strings.as_string
        return [text(single), text(double), text(single, precision=2), text(double, precision=0),
                text(single, precision=3, width=12), text(single, precision=1, width=9, fill="0"),
                text(double, precision=20), text(single, width=14, fill="-"), text(single, fill="+"),
                text(single, fill=" ", width=11), text(integers, width=6), text(integers, width=6, fill="0"),
                text(integers, width=6, fill="-"), text(integers, fill="+"), text(integers > 0)]
    return run


@model(np.array([b"", b"f", b"fo", b"foo", b"foob", b"\xff\xfe\xfd\xfb>?", b"fooba", b"foobar"]),
       np.array([b"12345678", b"abcdefgh", b"\x00\x01\x02\x03\x04\x05\x06\x07"]))
def bytes_as_texts():
    def run(texts, numbers):
        padded, plain = tf.io.encode_base64(texts, pad=True), tf.io.encode_base64(texts)
        return [padded, plain, tf.io.decode_base64(padded), tf.io.decode_base64(plain),
                *[tf.io.decode_raw(numbers, kind) for kind in (tf.uint8, tf.int16, tf.int64)],
                tf.io.decode_raw(numbers, tf.int32, little_endian=False)]
    return run


@model(np.concatenate([SENTENCES, np.array([b"a\xffb\xc3", "\u65e5\u672c\U0001f600".encode(), b"x\x01y"])]))
def characters():
    def run(texts):
        split = RAW.UnicodeDecodeWithOffsets(input=texts, input_encoding="UTF-8")
        ignored = RAW.UnicodeDecode(input=texts, input_encoding="UTF-8", errors="ignore")
        marked = RAW.UnicodeDecode(input=texts, input_encoding="UTF-8", replacement_char=63,
                                   replace_control_characters=True)
        return [split.row_splits, split.char_values, split.char_to_byte_starts, ignored.row_splits,
                ignored.char_values, marked.char_values,
                RAW.UnicodeEncode(input_values=ignored.char_values + 1, input_splits=ignored.row_splits,
                                  output_encoding="UTF-8"),
                tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8"),
                tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")]
    return run


@model(np.concatenate([SENTENCES, np.array([b"abcdefg", b"\xfe\xff345678", b"0123456789abcdef", b"123456789"])]))
def older_hashes():
    def run(texts):
        return [RAW.StringToHashBucket(string_tensor=texts, num_buckets=count) for count in (1, 10, (1 << 63) - 1)]
    return run


@model(SENTENCES)
def texts_side_by_side():
    def run(texts):
        words = tf.strings.split(texts)
        grams = [tf.strings.ngrams(words, 2), tf.strings.ngrams(words, [1, 3], separator="_"),
                 tf.strings.ngrams(words, 3, pad_values=("<", ">"), separator=""),
                 tf.strings.ngrams(words, 3, pad_values="#", padding_width=1),
                 tf.strings.ngrams(words, 4, preserve_short_sequences=True)]
        ids = words.value_rowids()
        parts = [RAW.StringSplitV2(input=texts, sep=sep, maxsplit=most) for sep, most in (("", 2), ("o", 1), (" ", 3))]
        return [*[x for g in grams for x in (g.values, g.row_splits)],
                tf.strings.unsorted_segment_join(words.values, ids, 8, separator="+"),
                tf.strings.unsorted_segment_join(words.values, ids % 2, 3),
                *[x for p in parts for x in (p.indices, p.values, p.shape)], "<" + texts + ">"]
    return run


def picture(height, width):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x * y) % 256], -1).astype("u1")


FILES = np.array([tf.io.encode_jpeg(picture(33, 41), quality=90).numpy(), tf.io.encode_png(picture(7, 5)).numpy(),
                  tf.io.encode_base64(tf.io.encode_jpeg(picture(16, 24), quality=100, chroma_downsampling=False)).numpy()])


@model(FILES)
def pictures():
    def jpeg(file):
        # The default is a fast transform, whose pixels differ by up to 3.
        return tf.io.decode_jpeg(file, channels=3, dct_method="INTEGER_ACCURATE")

    def run(files):
        decoded = tf.map_fn(lambda f: tf.image.resize(jpeg(f), [8, 8]), files[:1], fn_output_signature=tf.float32)
        # TensorFlow does not look beyond the edges of what it cuts out where colors have fewer pixels.
        cut = tf.io.decode_and_crop_jpeg(tf.io.decode_base64(files[2]), tf.stack([3, 5, tf.strings.length(files[1]) * 0 + 9, 19]),
                                         channels=3, dct_method="INTEGER_ACCURATE")
        return [jpeg(files[0]), tf.io.decode_png(files[1], channels=3), jpeg(tf.io.decode_base64(files[2])), decoded, cut]
    return run


@model(SENTENCES)
def groups_of_patterns():
    def run(texts):
        return [tf.strings.regex_replace(texts, pattern, rewrite) for pattern, rewrite in (
            (r"([.,!?':()\[\]])", r" \1 "), (r"(\w+) (\w+)", r"\2-\1"), (r"(o+)|(l)", r"<\1|\2>"),
            (r"((\w)\w*)([^\w]|$)", r"\3\2\1"), (r"(?:h)(e)(?P<x>l*)", r"\2\1\\"), (r"(a|ab)(c|bcd)*(d*)", r"[\1,\2,\3]"),
            (r"(\w*?)(o*)( |$)", r"\2\1_"), (r"((f)o|(h)e)+", r"{\1\2\3}"), (r"^(.)(.*)(.)$", r"\3\2\1"))]
    return run


if __name__ == "__main__":
    make_preprocessing.main()
