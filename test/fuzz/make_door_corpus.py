#!/usr/bin/env python3
#===-- make_door_corpus.py - seeds of the fuzz targets that read no models ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the seeds in corpus-npy, -image, -aipp, -settings, -singleop, -regex, -checkpoint, -caffe, -air
and -acl beside this file (those in corpus-video are the streams of test/ascend/VideoTest.cpp). They need nothing that is built; the images need Pillow.
"""

import io
import json
import os
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def npy(descr, shape, data, version=1, order=False):
    header = str({"descr": descr, "fortran_order": order, "shape": shape}).encode() + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + data


def npy_files():
    yield "f32", npy("<f4", (2, 3), bytes(24))
    yield "f32-fortran", npy("<f4", (3, 2), bytes(24), order=True)
    yield "i64-version-3", npy("<i8", (4,), bytes(32), version=3)
    yield "u4", npy("|u1", (2, 3), bytes(range(6)))
    yield "bf16", npy("<V2", (3,), bytes(6))
    yield "bool", npy("|b1", (), b"\1")
    yield "empty", npy("<f4", (0, 7), b"")
    yield "strings", npy("<U2", (3,), "a\0bc\0\0".encode("utf-32-le"))
    yield "raw", bytes(24)


def image_files():
    from PIL import Image
    picture = Image.new("RGB", (9, 7))
    picture.putdata([(x * 25, y * 30, (x * y * 5) % 256) for y in range(7) for x in range(9)])
    for name, format, options in (
            ("baseline.jpg", "JPEG", {"quality": 60, "subsampling": 2}),
            ("444.jpg", "JPEG", {"quality": 90, "subsampling": 0}),
            ("progressive.jpg", "JPEG", {"progressive": True}), ("rgb.png", "PNG", {}),
            ("rgb.bmp", "BMP", {}), ("rgb.ppm", "PPM", {})):
        file = io.BytesIO()
        picture.save(file, format, **options)
        yield name, file.getvalue()
    for name, mode in (("gray.png", "L"), ("palette.png", "P"), ("alpha.png", "RGBA"),
                       ("bits.png", "1")):
        file = io.BytesIO()
        picture.convert(mode).save(file, "PNG")
        yield name, file.getvalue()
    file = io.BytesIO()
    picture.convert("L").save(file, "JPEG")
    yield "gray.jpg", file.getvalue()


AIPP = """# a comment
aipp_op {
  aipp_mode: static
  related_input_rank: 0
  input_format: YUV420SP_U8
  src_image_size_w: 32
  src_image_size_h: 16
  crop: true
  load_start_pos_h: 2
  load_start_pos_w: 2
  crop_size_w: 16
  crop_size_h: 8
  csc_switch: true
  rbuv_swap_switch: false
  matrix_r0c0: 256
  matrix_r0c2: 359
  input_bias_0: 16
  output_bias_1: 3
  mean_chn_0: 104
  min_chn_1: 1.5
  var_reci_chn_2: 0.0039
  padding: true
  left_padding_size: 3
}
"""


def aipp_files():
    yield "static", AIPP.encode()
    yield "dynamic", b'aipp_op { aipp_mode: dynamic max_src_image_size: 752640 }\n'
    yield "two", b'aipp_op{aipp_mode:static input_format:RGB888_U8 related_input_name:"a"}' \
                 b'aipp_op{aipp_mode:static input_format:YUV400_U8 related_input_rank:1}'


def settings_files():
    """The first byte is that of fuzz-settings."""
    yield "lines", b"\0# a comment\nconv1\nOpType::Relu\n;more\n"
    yield "json", b'\0{"black-list": {"to-add": ["Conv", "MatMul"]}, "n": [1, -2.5e3, null, true]}'
    yield "message", b'\1name: "net" op { name: "a" attr { key: "k" value { i: -7 } } dim: 3 }'
    yield "escapes", b"\1graph { s: 'a\\n\\101' \"b\" f: 1e-3, g: inf; }"
    yield "amct", b"\2batch_num : 2\nskip_layers : \"conv1\"\ncommon_config : {\n" \
                  b"  conv_calibration_config : { arq_quantize : { channel_wise : true } }\n}\n"
    yield "amct-json", b'\2{"version": 1, "batch_num": 1, "conv1": {"quant_enable": true}}'
    yield "record", b'\3record { key: "conv1" value { scale_d: 0.01 offset_d: -3 scale_w: 1 ' \
                    b'scale_w: 2 shift_bit: 1 } }'
    yield "train", b"\4" + json.dumps({
        "loss": {"kind": "softmax_cross_entropy", "output": "scores", "axis": 1, "smoothing": 0.1,
                 "ignore_index": -100, "reduction": "mean"},
        "optimizer": {"kind": "adamw", "beta1": 0.9, "weight_decay": 0.01, "no_decay": ["*.bias"],
                      "groups": [{"parameters": ["w"], "rate": 2, "weight_decay": 0}]},
        "learning_rate": {"kind": "steps", "peak": 0.01, "milestones": [1, 3], "factor": 0.5},
        "parameters": ["w", "conv*"], "zero_rows": {"w": 3}, "clip_norm": 0.5, "accumulate": 2,
        "loss_scale": "dynamic", "ranks": 2, "compress": {"kind": "topk", "ratio": 0.1},
        "recompute": True, "seed": 7}).encode()
    yield "cluster", b"\5" + json.dumps({
        "servers": 4, "devices_per_server": 8, "soc": "Ascend910A", "memory_bytes": 32e9,
        "local": {"kind": "HCCS", "gigabytes_per_second": 30, "latency_us": 2},
        "network": {"gigabytes_per_second": 12.5}, "oversubscription": 1,
        "host": {"gigabytes_per_second": 16, "memory_bytes": 1e12}}).encode()
    yield "transformer", b"\6" + json.dumps({
        "name": "t", "batch": 64, "transformer": {
            "layers": 4, "hidden": 512, "heads": 8, "key_value_heads": 2, "vocabulary": 1000,
            "sequence": 128, "gated": True}}).encode()
    yield "chain", b"\6" + json.dumps({
        "batch": 16, "weight_bytes": 4, "layers": [
            {"name": "a", "macs": 1e9, "parameters": 1e6, "output_bytes": 1e5, "divisible_by": 8},
            {"macs": 5e8, "kept_bytes": 3e5, "reduced_bytes": 1e4}, {"macs": 1}]}).encode()
    yield "network", b"\7" + json.dumps({
        "name": "n", "batch": 32, "forward_ms": 12.5, "backward_ratio": 2, "layers": [
            {"name": "a", "macs": 118013952, "parameters": 9536},
            {"name": "b", "macs": 0, "parameters": 2000000}]}).encode()
    entry = {"format": 1, "pass": "npu-select-tiles", "target": "Ascend310P3", "op": "npu.conv2d",
             "operands": ["1x4x56x56x16xf16", "64xf32"], "hash": "3f0c", "compiler": "0.1.0",
             "choice": "64,64,64", "before_cycles": 1200.5, "after_cycles": 1100.0, "model": "net"}
    yield "bank", b"\10" + b"".join(json.dumps({**entry, "hash": part}).encode() + b"\n"
                                   for part in ("0a", "0b"))
    yield "manifest", b"\11" + json.dumps({
        "format": "openatc-ranks", "version": 1, "model": "net",
        "parallel": {"tp": 2, "pp": 1, "dp": 1}, "inputs": ["x"],
        "outputs": [{"name": "y", "rank": 1}],
        "ranks": [{"file": "net.rank0.om", "identity": "00ff"}, {"file": "net.rank1.om"}]}).encode()
    yield "divided-tensors", b'\12{"w0": 1, "w1": -1, "w2": 0}'


SINGLE_OPS = [
    {"op": "Add", "name": "add",
     "input_desc": [{"format": "ND", "shape": [2, 3], "type": "float16"},
                    {"format": "ND", "shape": [3], "type": "float16", "is_const": True,
                     "const_value": [1, 2.5, -3]}],
     "output_desc": [{"format": "ND", "shape": [2, 3], "type": "float16"}]},
    {"op": "Softmax",
     "input_desc": [{"format": "NCHW", "shape": [-1, 4], "type": "float"}],
     "output_desc": [{"format": "NCHW", "shape": [-1, 4], "type": "float"}],
     "attr": [{"name": "axis", "type": "int", "value": -1}]},
    {"op": "Conv2D",
     "input_desc": [{"format": "NCHW", "shape": [1, 2, 5, 5], "type": "float"},
                    {"format": "NCHW", "shape": [3, 2, 3, 3], "type": "float"},
                    {"format": "RESERVED", "type": "UNDEFINED"}],
     "output_desc": [{"format": "NCHW", "shape": [1, 3, 5, 5], "type": "float"}],
     "attr": [{"name": "strides", "type": "list_int", "value": [1, 1, 1, 1]},
              {"name": "pads", "type": "list_int", "value": [1, 1, 1, 1]},
              {"name": "data_format", "type": "string", "value": "NCHW"}]}]


def single_op_files():
    for op in SINGLE_OPS:
        yield op["op"], json.dumps([op]).encode()
    yield "list", json.dumps(SINGLE_OPS, indent=1).encode()


def regex_files():
    """A pattern, and the texts that it is matched with."""
    for name, pattern in (("class", r"[a-z_0-9.+-]+@[[:alpha:]]*\.(com|org)"),
                          ("groups", r"(?i:(a|b)+?c{2,5})(?s).*$"), ("edges", r"^\bx\B\d\W\S*$"),
                          ("unicode", "[\u00e4-\u4e2d]\u20ac?\\x{1F600}"), ("nested", "((a*)*b|c)*")):
        yield name, "\n".join([pattern, "", "aabcc", "x@y.com", "\u4e2d\u20ac", "x7 y"]).encode()


def varint(value):
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def checkpoint_index():
    """Two blocks, a third one that names them, and the footer; fuzz-tf-checkpoint makes the
    checksums right."""
    def block(entries):
        body, last = b"", b""
        for key, value in entries:
            shared = len(os.path.commonprefix([last, key]))
            body += varint(shared) + varint(len(key) - shared) + varint(len(value)) + \
                key[shared:] + value
            last = key
        return body + struct.pack("<II", 0, 1)

    file, handles = b"", []
    for entries in ([(b"", b"\x08\x01\x1a\x02\x08\x01")],
                    [(b"layer/bias", b"\x08\x01\x28\x10"), (b"layer/kernel", b"\x08\x01\x28\x20")]):
        made = block(entries)
        handles.append((entries[-1][0] or b"a", varint(len(file)) + varint(len(made))))
        file += made + bytes(5)
    index = block(handles)
    footer = varint(0) + varint(0) + varint(len(file)) + varint(len(index))
    return file + index + bytes(5) + footer.ljust(40, b"\0") + struct.pack("<Q", 0xdb4775248b80fb57)


CAFFE = """name: "net" input: "data" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 pad: 1 stride: 2 } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" relu_param { negative_slope: 0.1 } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
  inner_product_param { num_output: 2 bias_term: false } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
"""
CAFFE_MOVES = """name: "moves" layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 1 dim: 4 dim: 6 dim: 6 } } }
layer { name: "slice" type: "Slice" bottom: "data" top: "a" top: "b" slice_param { axis: 1 } }
layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "sum"
  eltwise_param { operation: SUM coeff: 1 coeff: -2 } }
layer { name: "cat" type: "Concat" bottom: "sum" bottom: "a" top: "cat" }
layer { name: "perm" type: "Permute" bottom: "cat" top: "perm"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "flat" type: "Flatten" bottom: "perm" top: "flat" }
layer { name: "shape" type: "Reshape" bottom: "flat" top: "shape"
  reshape_param { shape { dim: 0 dim: -1 dim: 4 } } }
layer { name: "arg" type: "ArgMax" bottom: "shape" top: "arg" argmax_param { axis: 2 } }
"""


def caffe_blob(*dims):
    count = 1
    for dim in dims:
        count *= dim
    shape = b"".join(varint(dim) for dim in dims)
    data = struct.pack(f"<{count}f", *[(i % 7 - 3) / 4 for i in range(count)])
    shape = b"\x0a" + varint(len(shape)) + shape
    message = b"\x3a" + varint(len(shape)) + shape + b"\x2a" + varint(len(data)) + data
    return b"\x3a" + varint(len(message)) + message


def caffe_files():
    """A .prototxt, a zero byte, a .caffemodel."""
    weights = b""
    for name, blobs in (("conv", [(2, 3, 3, 3), (2,)]), ("bn", [(2,), (2,), (1,)]),
                        ("scale", [(2,), (2,)]), ("fc", [(2, 8)])):
        layer = b"\x0a" + varint(len(name)) + name.encode() + \
            b"".join(caffe_blob(*dims) for dims in blobs)
        weights += b"\xa2\x06" + varint(len(layer)) + layer
    yield "net", CAFFE.encode() + b"\0" + weights
    yield "moves", CAFFE_MOVES.encode() + b"\0" + weights


def air_files():
    """Graphs of MindSpore and of the toolchain's graph interface, with and without shapes."""
    sys.path.insert(0, str(HERE.parent / "common"))
    import numpy as np
    from air_graphs import constant, data, desc, net_output, op, serialized

    def floats(*dims):
        return (np.arange(np.prod(dims)) % 7 - 3).reshape(dims).astype(np.float32) / 4

    def graph(is_stated, batch=1):
        def shapes(*dims):
            return [desc(d) if is_stated else desc(None, None, "ND") for d in dims]
        return [
            op("x", "Data", (), [desc((batch, 3, 4, 4))], index=0),
            constant("filter", floats(2, 3, 3, 3)), constant("bias", floats(2)),
            constant("dense", floats(8, 3)), constant("shape", np.array([1, -1], np.int32)),
            constant("axes", np.array([-1], np.int64)),
            op("conv", "Conv2D", ("x:0", "filter:0", "bias:0", "x:-1"), shapes((1, 2, 4, 4)),
               strides=[1, 1, 1, 1], pads=[1, 1, 1, 1], dilations=[1, 1, 1, 1], groups=1,
               data_format="NCHW"),
            op("relu", "Relu", ("conv:0",), shapes((1, 2, 4, 4)), shapes((1, 2, 4, 4))),
            op("pool", "MaxPoolV3", ("relu:0",), shapes((1, 2, 2, 2)), ksize=[1, 1, 2, 2],
               strides=[1, 1, 2, 2], padding_mode="CALCULATED", pads=[0, 0, 0, 0],
               data_format="NCHW"),
            op("flat", "Reshape", ("pool:0", "shape:0"), shapes((1, 8))),
            op("dense1", "MatMulV2", ("flat:0", "dense:0"), shapes((1, 3)), transpose_x1=False,
               transpose_x2=False),
            op("prob", "SoftmaxV2", ("dense1:0",), shapes((1, 3)), axes=[-1]),
            op("sum", "ReduceSum", ("prob:0", "axes:0"), shapes((1, 1)), keep_dims=True),
            op("wide", "ExpandDims", ("sum:0", "axes:0"), shapes((1, 1, 1))),
            op("bytes", "Cast", ("wide:0",), (), dst_type=3),
            op("out", "NetOutput", ("bytes:0", "relu:0"))]
    yield "stated", serialized(graph(True))
    yield "built", serialized(graph(False))
    # Reshape fixes the batch there, Flatten does not.
    dynamic = [o for o in graph(False, -1) if b"Reshape" not in o]
    yield "dynamic", serialized(dynamic + [op("flat", "Flatten", ("pool:0",))])
    graphs = {"then": [data("a"), op("y", "Neg", ("a:0",)), net_output(("y:0",))],
              "else": [data("a"), net_output(("a:0",))],
              "more": [data("i"), data("a"), constant("n", np.array(3, np.int32)), op("y", "Less", ("i:0", "n:0")),
                       net_output(("y:0",))],
              "round": [data("i"), data("a"), constant("one", np.array(1, np.int32)), op("next", "Add", ("i:0", "one:0")),
                        op("y", "If", ("i:0", "a:0"), graphs=["then", "else"]), net_output(("next:0", "y:0"))]}
    yield "control", serialized([
        data("i", (), "int32", index=0), data("x", (2, 3), index=1),
        op("case", "Case", ("i:0", "x:0"), graphs=["then", "else", "then"]),
        op("loop", "While", ("i:0", "case:0"), graphs=["more", "round"]),
        op("call", "PartitionedCall", ("loop:1",), graphs=["then"]), net_output(("call:0",))], graphs=graphs)


def acl_programs():
    """Lists of calls as fuzz-acl-calls reads them: a model is loaded and executed."""
    load = bytes([8])
    data = b"".join(bytes([0, 8, 0, 1, 40 + i * 60, 255, i]) for i in range(3))
    sets = bytes([2, 5, 2, 6]) + bytes([3, 5, 0, 3, 6, 1, 3, 6, 2])
    yield "execute", load + data + sets + bytes([6, 0, 5, 6])
    yield "async", load + data + sets + bytes([10, 7, 12, 8, 7, 0, 5, 6, 7, 13, 8, 7, 15, 7, 9])
    yield "casts", data + bytes([4, 0, 1, 8, 0, 0, 0, 0, 2, 3, 4, 1, 1, 8, 0, 0, 0, 0, 2, 4,
                                 25, 3, 0, 4, 1, 0, 9, 26, 3, 1, 5, 27, 3])
    yield "aipp", bytes([35, 4, 3, 36, 3, 1, 0, 0, 8, 8, 2, 29, 4, 30, 4, 7, 31, 2, 3, 3, 0, 1, 4, 9])


def write_bytes_of(folder, files, suffix=""):
    (HERE / folder).mkdir(exist_ok=True)
    for name, data in files:
        # Text ends with a newline, as everywhere in the project.
        is_text = b"\0" not in data and data[:1].isascii() and not data.endswith(b"\n")
        (HERE / folder / (name + suffix)).write_bytes(data + b"\n" * is_text)


def main():
    write_bytes_of("corpus-npy", npy_files(), ".npy")
    write_bytes_of("corpus-image", image_files())
    write_bytes_of("corpus-aipp", aipp_files(), ".cfg")
    write_bytes_of("corpus-settings", settings_files())
    write_bytes_of("corpus-singleop", single_op_files(), ".json")
    write_bytes_of("corpus-regex", regex_files())
    write_bytes_of("corpus-checkpoint", [("two-blocks.index", checkpoint_index())])
    write_bytes_of("corpus-caffe", caffe_files())
    write_bytes_of("corpus-air", air_files(), ".air")
    write_bytes_of("corpus-acl", acl_programs())


if __name__ == "__main__":
    main()
