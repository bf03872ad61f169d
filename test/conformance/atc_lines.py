#!/usr/bin/env python3
"""Command lines of atc as they stand in public repositories: which share behaves as the Ascend toolchain?

Each line of atc_lines.txt has three columns, divided by tabs: what must come of it (`ok`, or the codes of errors
where the Ascend toolchain refuses it as well), where such a line stands, and the line itself, written for a shell.
Shell variables have values. What a line names is made here: a small model with inputs of the same names, types and
shapes and with outputs of the same names, an AIPP file of the same image size, and so on. An input whose dim is -1 or a
range is open in the model, too. Where that is another dim than the batch, a layer has 4096 weights or more, as those of
real networks have: atc refuses models of which nothing can stay on the NPU.

    test/conformance/atc_lines.py [--build build] [--only TEXT] [--verbose]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "common"), str(HERE.parent / "tools")]
import air_graphs  # noqa: E402
import caffe_nets  # noqa: E402
import command_lines  # noqa: E402

INTEGERS = re.compile(r"ids|mask|token|segment|position|lens|length|relations|texts|num_points|coords|index|prev_|input_word")


# ---- what a line says ----------------------------------------------------------------


def flags_of(line):
    """The flags of a line by their names, as far as the models need them."""
    words, flags = shlex.split(line.replace("\\\n", "")), {}
    for i, word in enumerate(words):
        if not word.startswith("-"):
            continue
        name, equals, value = word.partition("=")
        if not equals and i + 1 < len(words) and not words[i + 1].startswith("--"):
            value = words[i + 1]
        flags[name.strip("-").replace("-", "_")] = value
    return flags


def shapes_of(flags):
    """[(name, dims)] of --input_shape or --input_shape_range; an open dim is None."""
    text = flags.get("input_shape_range") or flags.get("input_shape") or ""
    shapes = []
    for item in filter(None, (part.strip() for part in text.split(";"))):
        name, _, dims = item.rpartition(":")
        dims = dims.strip(" []")
        words = [word.strip() for word in dims.split(",")] if dims else []
        shapes.append((name.strip(), [None if word == "-1" or "~" in word else int(word) for word in words]))
    return shapes


def names_of(flags):
    """[(node, output)] of --out_nodes; a tensor has no number."""
    outputs = []
    for item in filter(None, flags.get("out_nodes", "").split(";")):
        node, colon, number = item.rpartition(":")
        outputs.append((node, int(number)) if colon else (item, None))
    return outputs


# ---- models --------------------------------------------------------------------------


def onnx_model(path, shapes, outputs):
    rng, nodes, initializers, made = np.random.default_rng(1), [], [], []

    def weight(*shape, integers=None):
        name = f"w{len(initializers)}"
        value = integers if integers is not None else rng.standard_normal(shape).astype(np.float32) / 8
        initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(kind, *inputs, **attributes):
        nodes.append(helper.make_node(kind, inputs, [f"t{len(nodes)}"], name=f"Stand_in_{len(nodes)}", **attributes))
        return f"t{len(nodes) - 1}"

    infos = []
    for i, (name, dims) in enumerate(shapes):
        is_integer = bool(INTEGERS.search(name)) and len(dims) < 4
        symbols = [f"open_{d}" if dim is None else dim for d, dim in enumerate(dims)]
        infos.append(helper.make_tensor_value_info(name, TensorProto.INT64 if is_integer else TensorProto.FLOAT, symbols))
        value = name

        def columns(rows, few, is_open=None in dims[1:]):  # the batch is padded
            return max(few, -(-4096 // rows)) if is_open else few

        if is_integer and len(dims) == 2 and re.search("ids|token|text|prev", name):  # each looks at all others
            value = node("Gather", weight(100, 16), node("Abs", node("Mod", name, weight(integers=np.int64(100)))))
            scores = node("Softmax", node("MatMul", value, node("Transpose", value, perm=[0, 2, 1])), axis=-1)
            value = node("MatMul", node("MatMul", scores, value), weight(16, columns(16, 8)))
        elif is_integer:
            value = node("Sigmoid", node("Cast", name, to=TensorProto.FLOAT))
        elif len(dims) in (4, 5) and dims[1] and dims[1] <= 2048:
            depth = len(dims) - 2
            filters = weight(columns(dims[1] * 3**depth, 4), dims[1], *[3] * depth)
            value = node("Relu", node("Conv", name, filters, pads=[1] * 2 * depth))
        elif len(dims) == 3 and dims[-1] and dims[-1] <= 4096 and (dims[1] or 1) <= 4096:  # frames
            scores = node("Softmax", node("MatMul", name, node("Transpose", name, perm=[0, 2, 1])), axis=-1)
            value = node("MatMul", node("MatMul", scores, name), weight(dims[-1], columns(dims[-1], 8)))
        elif len(dims) >= 2 and dims[-1] and dims[-1] <= 4096:
            value = node("MatMul", name, weight(dims[-1], columns(dims[-1], 8)))
        else:
            value = node("Sigmoid", name)
        made.append(value)
    for i, (name, number) in enumerate(outputs or [(f"Result_{i}", 0) for i in range(len(made))]):
        tensor = f"{name}_out" if number is not None else name
        nodes.append(helper.make_node("Sigmoid", [made[i % len(made)]], [tensor], name=name if number is not None else ""))
    results = [node.output[0] for node in nodes if node.op_type == "Sigmoid" and not node.output[0].startswith("t")]
    graph = helper.make_graph(nodes, "net", infos, [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                                                    for name in results], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())


def tf_model(path, shapes, outputs):
    field, node = command_lines._field, command_lines._node
    nodes, made = [], []
    for name, dims in shapes:
        is_integer = bool(INTEGERS.search(name))
        dtype = b"\x30\x09" if is_integer else b"\x30\x01"
        shape = b"".join(field(2, b"\x08" + command_lines._varint(-1 if dim is None else dim)) for dim in dims)
        nodes.append(node(name, "Placeholder", [], [("dtype", dtype), ("shape", field(7, shape))]))
        if is_integer:
            nodes.append(node(f"{name}/cast", "Cast", [name], [("SrcT", dtype), ("DstT", b"\x30\x01")]))
        made.append(f"{name}/cast" if is_integer else name)
    counts = collections.OrderedDict()
    for name, number in outputs or [(f"result_{i}", 0) for i in range(len(made))]:
        counts[name] = max(counts.get(name, 0), (number or 0) + 1)
    for i, (name, count) in enumerate(counts.items()):
        source = made[i % len(made)]
        if count == 1:
            nodes.append(node(name, "Sigmoid", [source], [("T", b"\x30\x01")]))
        else:
            types = field(1, b"\x32" + command_lines._varint(count) + b"\x01" * count)
            nodes.append(node(name, "IdentityN", [source] * count, [("T", types)]))
    path.write_bytes(b"".join(field(1, each) for each in nodes))


def caffe_model(path, weights, shapes, outputs):
    shapes = shapes or [("data", [1, 3, 16, 16])]
    net = caffe_nets.Net(**{name: [dim or 16 for dim in dims] for name, dims in shapes})
    for i, (name, _) in enumerate(outputs or [("result", 0)]):
        net.conv(name, 4, shapes[0][1][1], 3, bottoms=[shapes[0][0]], pad=1)
    for name, _ in shapes[1:]:
        net.add("AbsVal", name + "_abs", [name])
    path.write_text(net.prototxt())
    weights.write_bytes(net.caffemodel())


def air_model(path, shapes):
    shapes = shapes or [("x", [1, 3, 16, 16])]
    ops = [air_graphs.data(name, [-1 if dim is None else dim for dim in dims], index=i) for i, (name, dims) in enumerate(shapes)]
    ops += [air_graphs.op(f"act{i}", "Relu", (f"{name}:0",), [air_graphs.desc()]) for i, (name, _) in enumerate(shapes)]
    ops.append(air_graphs.net_output([f"act{i}:0" for i in range(len(shapes))]))
    air_graphs.save(path, ops)


# ---- other files ---------------------------------------------------------------------


def aipp(name, shapes, channels_last):
    image = next((dims for _, dims in shapes if len(dims) == 4), [1, 3, 16, 16])
    height, width = (image[1], image[2]) if channels_last else (image[2], image[3])
    channels = image[3] if channels_last else image[1]
    kind = "YUV400_U8" if channels == 1 else "YUV420SP_U8" if re.search("nv12|nv21|yuv", name) else "RGB888_U8"
    text = f"aipp_op {{\n  aipp_mode: static\n  related_input_rank: 0\n  input_format: {kind}\n"
    if height and width:
        text += f"  src_image_size_w: {width}\n  src_image_size_h: {height}\n"
    if kind == "YUV420SP_U8":
        text += "  csc_switch: true\n  matrix_r0c0: 256\n  matrix_r0c2: 359\n  matrix_r1c0: 256\n  matrix_r1c1: -88\n" \
                "  matrix_r1c2: -183\n  matrix_r2c0: 256\n  matrix_r2c1: 454\n  input_bias_1: 128\n  input_bias_2: 128\n"
    return text + "  var_reci_chn_0: 0.003921568627\n}\n"


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_files(folder, line):
    """Everything that a line names."""
    flags = flags_of(line)
    shapes, outputs = shapes_of(flags), names_of(flags)
    model = flags.get("om") if flags.get("mode") == "1" and flags.get("framework") else flags.get("model")
    framework = flags.get("framework", "5")
    if model:
        path = folder / model
        path.parent.mkdir(parents=True, exist_ok=True)
        if model.endswith((".om", ".txt", ".mindir", ".pt")):
            path.write_bytes(b"\0")
        elif framework == "0":
            caffe_model(path, folder / flags.get("weight", "net.caffemodel"), shapes, outputs)
        elif framework == "1":
            air_model(path, shapes)
        elif framework == "3":
            tf_model(path, shapes or [("Placeholder", [1, 8, 8, 3])], outputs)
        else:
            onnx_model(path, shapes or [("images", [1, 3, 16, 16])], outputs)
    if flags.get("insert_op_conf"):
        last = framework == "3" or flags.get("input_format") == "NHWC"
        write(folder, flags["insert_op_conf"], aipp(flags["insert_op_conf"], shapes, last))
    texts = {"fusion_switch_file": '{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}\n',
             "keep_dtype": "Stand_in_0\n", "op_precision_mode": "[ByOpType]\nGelu=high_performance\n",
             "modify_mixlist": '{"black-list": {"to-add": ["Softmax"]}}\n',
             "customize_dtypes": "OpType::MatMulV2:InputDtype:float16,OutputDtype:float16\n"}
    for flag, text in texts.items():
        if flags.get(flag):
            write(folder, flags[flag], text)
    if flags.get("singleop"):
        tensor = {"format": "ND", "shape": [8, 16], "type": "float16"}
        write(folder, flags["singleop"], json.dumps([{"op": "Add", "input_desc": [tensor] * 2, "output_desc": [tensor]}]))
    if flags.get("mode") == "5":
        write(folder, flags["om"], 'name: "ge"\ngraph {\n  name: "g"\n  op {\n    name: "a"\n    type: "Data"\n  }\n}\n')


# ---- the run -------------------------------------------------------------------------


def run(build, line):
    """Returns the codes of the errors, what was printed, and the exit code."""
    environment = dict(os.environ, PATH=f"{build}/bin:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        make_files(pathlib.Path(folder), line)
        try:
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=600)
        except subprocess.TimeoutExpired:
            return [], "W00000: no end within 600 s", None
    text = done.stdout + done.stderr
    return re.findall(r"^(E\d{5}): ", text, re.MULTILINE), text, done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", type=pathlib.Path)
    parser.add_argument("--table", default=HERE / "atc_lines.txt", type=pathlib.Path)
    parser.add_argument("--only", default="", help="lines that have this text")
    parser.add_argument("--verbose", action="store_true", help="print what atc says of each line")
    options = parser.parse_args()
    rows = [row.split("\t") for row in options.table.read_text().splitlines() if row and row[0] != "#"]
    rows = [row for row in rows if options.only in row[2]]
    right = refused = moved = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda row: run(options.build.resolve(), row[2]), rows)
        for (expect, _, line), (codes, text, status) in zip(rows, results, strict=True):
            good = status == 0 if expect == "ok" else status == 1 and sorted(set(codes)) == expect.split()
            right += good
            refused += good and expect != "ok"
            moved += "W11010: dims of -1" in text
            if options.verbose or not good:
                said = [f"    {each[:400]}" for each in text.splitlines() if re.match(r"[EW]\d{5}: ", each)]
                print(f"{'right' if good else 'WRONG'} [{expect}] {line}", *said, sep="\n", flush=True)
    print(f"{right} of {len(rows)} lines ({100 * right / max(1, len(rows)):.1f} %) behave as the Ascend toolchain's "
          f"documents say: {right - refused} compile, {refused} are refused there, too; {moved} leave dims open")
    return right != len(rows)


if __name__ == "__main__":
    sys.exit(main())
