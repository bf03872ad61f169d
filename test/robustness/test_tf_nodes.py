# TensorFlow graphs that are run: what only a run shows, and nodes whose attributes and inputs are replaced.
# Run with `pytest test/robustness`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import random
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402
from scale_models import tf_bytes, tf_node  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("protoc"), reason="needs protoc (Debian: protobuf-compiler)")


def tf_input(name, dims, type="FLOAT"):
    sizes = " ".join(f"dim {{ size: {dim} }}" for dim in dims)
    return tf_node(name, "Placeholder", dtype=f"type: DT_{type}", shape=f"shape {{ {sizes} }}")


def tf_ints(name, *values):
    return tf_node(name, "Const", dtype="type: DT_INT32",
                   value=f"tensor {{ dtype: DT_INT32 tensor_shape {{ dim {{ size: {len(values)} }} }} "
                         f"int_val: [{', '.join(map(str, values))}] }}")


def atc(folder, text, *flags):
    (folder / "net.pb").write_bytes(tf_bytes(text))
    return call(tool("atc"), f"--model={folder}/net.pb", "--framework=3", "--target=cpu", f"--output={folder}/net",
                *flags)


def compute(folder, text, **inputs):
    code, out, err = atc(folder, text)
    assert code == 0, out + err
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
    given = ",".join(f"{name}={folder}/{name}.npy" for name in inputs)
    code, out, err = call(tool("om-run"), folder / "net.om", *(["--input", given] if given else []), "--output",
                          folder / "outputs")
    return np.load(folder / "outputs/y.npy") if code == 0 else err


@pytest.mark.parametrize("op, of_nothing", [("Any", False), ("All", True)])
def test_logic_of_no_element(op, of_nothing, tmp_path):
    text = tf_input("x", [-1, 2], "BOOL") + tf_ints("axis", 0) + tf_node("y", op, "x", "axis")
    assert (compute(tmp_path, text, x=np.zeros((0, 2), bool)) == of_nothing).all()
    assert (compute(tmp_path, text, x=np.array([[True, False]])) == [True, False]).all()


def test_a_dim_of_0_is_not_that_of_the_input(tmp_path):
    text = tf_input("x", [-1]) + tf_input("to", [2], "INT32") + tf_node("y", "Reshape", "x", "to")
    said = compute(tmp_path, text, x=np.ones(2, np.float32), to=np.int32([0, 1]))
    assert "E10014" in said and "2 elements do not fit" in said
    assert compute(tmp_path, text, x=np.ones(0, np.float32), to=np.int32([0, 3])).shape == (0, 3)


def test_targets_that_are_no_class(tmp_path):
    text = tf_input("x", [3, 4]) + tf_input("t", [3], "INT32") + tf_node("y", "InTopK", "x", "t", k="i: 2")
    scores = np.float32([[4, 3, 2, 1]] * 3)
    np.testing.assert_array_equal(compute(tmp_path, text, x=scores, t=np.int32([1, -1, 4])), [True, False, False])


def test_a_row_that_is_not_finite_has_no_best(tmp_path):
    text = tf_input("x", [3, 3]) + tf_input("t", [3], "INT32") + tf_node("y", "InTopK", "x", "t", k="i: 2")
    scores = np.float32([[np.inf, 1, 2], [np.nan, 1, 2], [0, 1, 2]])
    np.testing.assert_array_equal(compute(tmp_path, text, x=scores, t=np.int32([2, 2, 2])), [False, False, True])


def test_images_have_three_channels(tmp_path):
    text = tf_input("x", [2, -1]) + tf_node("y", "HSVToRGB", "x")
    hsv = np.float32([[0, 0, 0.5], [1 / 3, 1, 1]])
    np.testing.assert_allclose(compute(tmp_path, text, x=hsv), [[0.5, 0.5, 0.5], [0, 1, 0]], atol=1e-6)
    assert "E10014" in compute(tmp_path, text, x=np.zeros((2, 4), np.float32))


def test_a_diagonal_that_the_matrix_lacks(tmp_path):
    fill = "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0 }"
    text = (tf_input("x", [-1, -1]) + tf_ints("k", 2) + tf_node("fill", "Const", dtype="type: DT_FLOAT", value=fill) +
            tf_node("y", "MatrixDiagPartV2", "x", "k", "fill"))
    assert compute(tmp_path, text, x=np.arange(12, dtype=np.float32).reshape(3, 4)).tolist() == [2, 7]
    assert "index 2 is out of the range" in compute(tmp_path, text, x=np.zeros((4, 2), np.float32))


def test_the_end_of_a_slice_backward(tmp_path):
    """The largest number is one behind the last element, not an end that is left out as in ONNX."""
    text = (tf_input("x", [-1]) + tf_ints("at", 3) + tf_ints("to", 2**31 - 1) + tf_ints("by", -1) +
            tf_node("y", "StridedSlice", "x", "at", "to", "by"))
    assert compute(tmp_path, text, x=np.arange(10, dtype=np.float32)).shape == (0, )


# Nodes that are right, the values of whose attributes others replace.
NODES = [
    ("Conv2D", ["x", "w"], dict(strides="list { i: [1, 1, 1, 1] }", padding="s: 'SAME'", T="type: DT_FLOAT",
            data_format="s: 'NHWC'", dilations="list { i: [1, 1, 1, 1] }", explicit_paddings="list { }")),
    ("MaxPool", ["x"], dict(ksize="list { i: [1, 2, 2, 1] }", strides="list { i: [1, 2, 2, 1] }",
            padding="s: 'VALID'")),
    ("StridedSlice", ["x", "at", "to", "by"], dict(begin_mask="i: 0", end_mask="i: 0", ellipsis_mask="i: 0",
            new_axis_mask="i: 0", shrink_axis_mask="i: 0")),
    ("Concat", ["zero", "x", "x"], dict(N="i: 2")), ("Pack", ["x", "x"], dict(N="i: 2", axis="i: 0")),
    ("Squeeze", ["x"], dict(squeeze_dims="list { i: [0] }")), ("Sum", ["x", "at"], dict(keep_dims="b: true")),
    ("SpaceToDepth", ["x"], dict(block_size="i: 2")), ("LRN", ["x"], dict(depth_radius="i: 2", bias="f: 1")),
    ("ResizeBilinear", ["x", "size"], dict(align_corners="b: false", half_pixel_centers="b: true")),
    ("Split", ["zero", "x"], dict(num_split="i: 1")), ("TopKV2", ["x", "one"], dict(sorted="b: true")),
    ("Cast", ["x"], dict(SrcT="type: DT_FLOAT", DstT="type: DT_INT32")),
    ("OneHot", ["at", "one", "f", "f"], dict(axis="i: -1")), ("Bucketize", ["x"], dict(boundaries="list { f: 1 }")),
    ("FusedBatchNormV3", ["x", "v", "v", "v", "v"], dict(epsilon="f: 0.001", is_training="b: false")),
]
VALUES = ["i: -9223372036854775808", "i: 9223372036854775807", "i: 4294967296", "i: -1", "i: 0", "f: nan", "f: -inf", "f: 0",
          "b: true", "s: 'text'", "s: ''", "type: DT_RESOURCE", "type: DT_INVALID", "placeholder: 'p'",
          "func { name: 'f' }", "shape { unknown_rank: true }", "tensor { dtype: DT_FLOAT tensor_shape { dim { size: -5 } } }",
          "list { }", "list { i: [0, 0, 0, 0] }", "list { i: [1, 4294967297, 1, 1] }", "list { i: [-1, -1, -1, -1] }",
          "list { i: [1, 1, 1, 1, 1] }", "list { f: [nan, inf] }", "list { s: 'text' }", "list { i: 1 f: 1 }"]
SMALL = (tf_input("x", [1, 4, 4, 2]) + tf_ints("at", 0) + tf_ints("to", 1) + tf_ints("by", 1) + tf_ints("size", 8, 8) +
         "".join(tf_node(name, "Const", dtype=f"type: DT_{type}", value=f"tensor {{ dtype: DT_{type} tensor_shape {{ {dims} }} {value} }}")
                 for name, type, dims, value in (
                     ("w", "FLOAT", "dim { size: 3 } dim { size: 3 } dim { size: 2 } dim { size: 4 }", "float_val: 0.5"),
                     ("v", "FLOAT", "dim { size: 2 }", "float_val: 1"), ("f", "FLOAT", "", "float_val: 1"),
                     ("zero", "INT32", "", "int_val: 0"), ("one", "INT32", "", "int_val: 1"))))


def change(node, rng):
    """The node with another value of an attribute, without it, or with another list of inputs."""
    op, inputs, attributes = node[0], list(node[1]), dict(node[2])
    what = rng.random()
    if what < .7 and attributes:
        name = rng.choice(list(attributes))
        del attributes[name]
        if what < .65:
            attributes[name] = rng.choice(VALUES)
    elif what < .85:
        inputs.pop(rng.randrange(len(inputs)))
    else:
        inputs.append(rng.choice(["x", "w", "at", "y", "gone", "^x"]))
    return op, inputs, attributes


def render(node):
    return SMALL + tf_node("y", node[0], *node[1], **node[2])


@pytest.mark.parametrize("seed", range(20 if os.environ.get("OPENATC_NIGHTLY") else 1))
def test_nodes_whose_parts_are_replaced(seed, tmp_path):
    """A model, or errors with a code that are no internal error, soon."""
    rng = random.Random(seed)
    refused = 0
    for node in NODES:
        code, out, err = atc(tmp_path, render(node))
        assert code == 0, (node, out)
        for _ in range(4):
            changed = change(node, rng)
            code, out, err = atc(tmp_path, render(changed))
            lines = [line for line in out.splitlines() if line.startswith("E")]
            assert err == "" and code in (0, 1) and bool(lines) == (code == 1), (changed, code, out, err)
            assert all(re.match(r"E(?!19)\d{5}: ", line) for line in lines), (changed, out)
            refused += code
    assert refused > len(NODES)


def tf_texts(name, *values, dims=None):
    sizes = "" if dims == () else f"dim {{ size: {len(values)} }}"
    each = " ".join(f'string_val: "{"".join(f"{chr(92)}{byte:03o}" for byte in value)}"' for value in values)
    return tf_node(name, "Const", dtype="type: DT_STRING",
                   value=f"tensor {{ dtype: DT_STRING tensor_shape {{ {sizes} }} {each} }}")


def length_and(message):
    return bytes([len(message)]) + message


def example(**features):
    """A message of TensorFlow's type Example: lists of floats."""
    entries = b""
    for name, values in features.items():
        values = b"\x12" + length_and(b"\x0a" + length_and(np.float32(values).tobytes()))
        entries += b"\x0a" + length_and(b"\x0a" + length_and(name.encode()) + b"\x12" + length_and(values))
    return b"\x0a" + length_and(entries)


def test_features_of_examples(tmp_path):
    """Of one size for all, with a default, and of any number."""
    floats = "type: DT_FLOAT"
    shapes = "list { shape { dim { size: 2 } } shape { } }"
    default = "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 7 }"
    none = "tensor { dtype: DT_FLOAT tensor_shape { dim { } } }"
    node = tf_node("p", "ParseExampleV2", "x", "no_names", "sparse", "dense", "ragged", "none", "default",
                   num_sparse="i: 1", sparse_types="list { type: DT_FLOAT }", dense_shapes=shapes,
                   Tdense="list { type: DT_FLOAT type: DT_FLOAT }", ragged_value_types="list { type: DT_FLOAT }",
                   ragged_split_types="list { type: DT_INT32 }")
    text = (tf_texts("x", example(a=[1, 2], b=[3], s=[4, 5]), example(a=[6, 8], r=[5, 6, 7]), example(a=[9, 1], s=[2, 3, 4])) +
            tf_texts("no_names") + tf_texts("sparse", b"s") + tf_texts("dense", b"a", b"b") + tf_texts("ragged", b"r") +
            tf_node("none", "Const", dtype=floats, value=none) +
            tf_node("default", "Const", dtype=floats, value=default) + node)
    want = [[[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], [4, 5, 2, 3, 4], [3, 3], [[1, 2], [6, 8], [9, 1]], [3, 7, 7],
            [5, 6, 7], [0, 0, 3, 3]]
    for output, values in enumerate(want):
        got = compute(tmp_path, text + tf_node("y", "Identity", f"p:{output}"))
        assert got.tolist() == values, output
    lacks = tf_texts("x", example(b=[3])) + text[text.index("node {", 1):]
    code, out, err = atc(tmp_path, lacks + tf_node("y", "Identity", "p:3"))
    assert code != 0 or "Example 0 lacks the feature" in call(tool("om-run"), tmp_path / "net.om")[2]


@pytest.mark.parametrize("given", [False, True])
def test_commands_from_a_recording(given, tmp_path):
    """The first nodes of a network that hears words; the bytes of a file, as of an input, may be 0."""
    samples = (np.sin(np.arange(300) / 3) * 20000).astype("<i2").tobytes()
    file = (b"RIFF" + np.uint32(36 + len(samples)).tobytes() + b"WAVEfmt \x10\0\0\0\1\0\1\0" + np.uint32(8000).tobytes() +
            np.uint32(16000).tobytes() + b"\2\0\x10\0data" + np.uint32(len(samples)).tobytes() + samples)
    text = ((tf_input("x", [], "STRING") if given else tf_texts("x", file, dims=())) +
            tf_node("wav", "DecodeWav", "x", desired_channels="i: 1", desired_samples="i: -1") +
            tf_node("spectra", "AudioSpectrogram", "wav", window_size="i: 128", stride="i: 100",
                    magnitude_squared="b: true") +
            tf_node("y", "Mfcc", "spectra", "wav:1", dct_coefficient_count="i: 3"))
    # TensorFlow's values, whose spectra are of f64: a tone leaves little for the other bands.
    want = [[[-43.92175, 17.96472, -1.10952], [-44.31624, 18.33947, -0.42308]]]
    inputs = {"x": np.array(file)} if given else {}
    np.testing.assert_allclose(compute(tmp_path, text, **inputs), want, rtol=1e-3, atol=1e-3)
