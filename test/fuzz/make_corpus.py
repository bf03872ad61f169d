#!/usr/bin/env python3
#===-- make_corpus.py - writes the seeds of the fuzz targets -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models that together use most importers, and .om files made from some of them.

  make_corpus.py BUILD_DIR      writes corpus-onnx/*.onnx, corpus-tf/*.pb and corpus-om/*.om
                                beside this file
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "robustness"))
from models import (TensorProto, conv, helper, ints, model, net, nested_ifs, node,  # noqa: E402
                    tensor, weights)


def chain(*steps, initializers=(), shape=(1, 4, 4, 4), opset=13):
    """x -> steps one behind the other -> y; a step is (op, more inputs, attributes)."""
    nodes, last = [], "x"
    for i, (op, more, attributes) in enumerate(steps):
        name = "y" if i + 1 == len(steps) else f"t{i}"
        nodes.append(node(op, [last, *more], [name], f"n{i}", **attributes))
        last = name
    return model(nodes, inputs=[tensor("x", shape)], initializers=initializers, opset=opset)


def models():
    yield "net", net()
    yield "conv", conv(filters=(2, 3, 2, 2), pads=[1, 0, 1, 0], strides=[2, 1])
    yield "elementwise", chain(
        *[(op, [], {}) for op in ("Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Sqrt", "HardSwish",
                                  "Softplus", "Erf", "Floor", "Neg", "Identity")],
        ("LeakyRelu", [], {"alpha": 0.1}), ("Clip", ["lo"], {}), ("PRelu", ["s"], {}),
        ("Add", ["s"], {}), ("Mul", ["s"], {}), ("Pow", ["s"], {}), ("Softmax", [], {"axis": 1}),
        initializers=[weights("lo"), weights("s", 4, 1, 1)], opset=14)
    yield "movement", chain(
        ("Transpose", [], {"perm": [0, 2, 3, 1]}), ("Reshape", ["shape"], {}),
        ("Unsqueeze", ["axes"], {}), ("Squeeze", ["axes"], {}), ("Slice", ["b", "e"], {}),
        ("Pad", ["pads"], {"mode": "reflect"}), ("Tile", ["twice"], {}),
        ("Gather", ["b"], {"axis": 1}), ("Expand", ["wide"], {}), ("Flatten", [], {"axis": 1}),
        initializers=[ints("shape", 8, -1), ints("axes", 0), ints("b", 0, 1), ints("e", 4, 6),
                      ints("pads", 1, 0, 0, 2), ints("twice", 1, 2), ints("wide", 2, 1, 1)])
    yield "images", chain(
        ("MaxPool", [], {"kernel_shape": [2, 2], "ceil_mode": 1}),
        ("AveragePool", [], {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1]}),
        ("Resize", ["", "scales"], {"mode": "linear"}), ("DepthToSpace", [], {"blocksize": 2}),
        ("SpaceToDepth", [], {"blocksize": 2}), ("GlobalMaxPool", [], {}),
        initializers=[helper.make_tensor("scales", TensorProto.FLOAT, [4], [1, 1, 2, 2])],
        shape=(1, 4, 6, 6))
    yield "reduce", chain(
        ("ReduceMean", [], {"axes": [2]}), ("ReduceMax", [], {"axes": [1], "keepdims": 0}),
        ("ArgMax", [], {"axis": 1}), ("Cast", [], {"to": TensorProto.FLOAT}))
    yield "norm", chain(
        ("BatchNormalization", ["s", "s", "s", "v"], {}), ("InstanceNormalization", ["s", "s"], {}),
        ("LRN", [], {"size": 3}), initializers=[weights("s", 4), weights("v", 4)])
    yield "shapes", model(
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["g"]),
         node("Concat", ["g", "m"], ["c"], axis=0), node("Reshape", ["x", "c"], ["r"]),
         node("Split", ["r"], ["a", "b"], axis=1), node("ConstantOfShape", ["m1"], ["k"]),
         node("Add", ["a", "k"], ["d"]), node("MatMul", ["d", "w"], ["y"])],
        inputs=[tensor("x", [2, 3, 2])],
        initializers=[ints("i", 0), ints("m", -1), ints("m1", 1), weights("w", 3, 2)])
    yield "constants", model(
        [node("Constant", [], ["c"], value_floats=[1.0, 2.0]),
         node("Constant", [], ["e"], value=weights("v", 2)), node("Mul", ["c", "e"], ["m"]),
         node("Add", ["x", "m"], ["y"])], inputs=[tensor("x", [2])])
    yield "nested", nested_ifs(3)
    external = conv(filters=(1, 3, 1, 1))
    external.graph.initializer[0].ClearField("raw_data")
    external.graph.initializer[0].data_location = TensorProto.EXTERNAL
    external.graph.initializer[0].external_data.add(key="location", value="w.bin")
    yield "external", external


def graph(nodes, inputs, outputs, name="body"):
    return helper.make_graph(nodes, name, list(inputs), list(outputs))


def host_models():
    """What needs a host program: open shapes, control flow, sequences, strings, functions."""
    scalar, boolean, integer = [], TensorProto.BOOL, TensorProto.INT64
    yield "open", model(
        [node("Conv", ["x", "w"], ["c"]), node("NonZero", ["c"], ["n"]),
         node("TopK", ["c", "k"], ["v", "i"]), node("Cast", ["n"], ["f"], to=1),
         node("ReduceSum", ["f"], ["y"], keepdims=0)],
        inputs=[tensor("x", ["batch", 1, "height", 4])],
        outputs=[tensor("y", None), tensor("v", None), tensor("i", None, integer)],
        initializers=[weights("w", 2, 1, 3, 3), ints("k", 1)])
    branch = [graph([node(op, ["x"], ["r"])], [], [tensor("r", None)], op)
              for op in ("Relu", "Shape")]
    branch[1].node.add().CopyFrom(node("Cast", ["r"], ["q"], to=1))
    branch[1].output[0].name = "q"
    yield "if", model([node("If", ["c"], ["y"], then_branch=branch[0], else_branch=branch[1])],
                      inputs=[tensor("c", scalar, boolean), tensor("x", [2, "n"])])
    body = graph([node("Add", ["s", "x"], ["t"]), node("Concat", ["l", "t"], ["m"], axis=0),
                  node("Identity", ["go"], ["on"])],
                 [tensor("i", scalar, integer), tensor("go", scalar, boolean),
                  tensor("s", [2]), tensor("l", [None])],
                 [tensor("on", scalar, boolean), tensor("t", [2]), tensor("m", [None]),
                  tensor("t", [2])])
    yield "loop", model([node("Loop", ["trips", "", "x", "x"], ["a", "b", "y"], body=body)],
                        inputs=[tensor("trips", scalar, integer), tensor("x", [2])],
                        outputs=[tensor(name, None) for name in "aby"])
    body = graph([node("Add", ["s", "e"], ["t"]), node("Mul", ["t", "e"], ["u"])],
                 [tensor("s", [2]), tensor("e", [2])], [tensor("t", [2]), tensor("u", [2])])
    yield "scan", model(
        [node("Scan", ["s", "x"], ["a", "y"], body=body, num_scan_inputs=1, scan_input_axes=[1],
              scan_output_directions=[1], scan_output_axes=[-1])],
        inputs=[tensor("s", [2]), tensor("x", [2, "n"])],
        outputs=[tensor("a", None), tensor("y", None)])
    # An axis that its input does not have.
    body = graph([node("Add", ["s", "e"], ["t"])], [tensor("s", [2]), tensor("e", [2])],
                 [tensor("t", [2])])
    yield "scan-axes", model(
        [node("Scan", ["x", "x"], ["y"], body=body, num_scan_inputs=2, scan_input_axes=[1])],
        inputs=[tensor("x", [2])])
    body = graph([node("Neg", ["e"], ["r"])], [tensor("e", [None])], [tensor("r", [None])])
    yield "sequences", model(
        [node("SplitToSequence", ["x", "one"], ["s"], axis=0),
         node("SequenceMap", ["s"], ["m"], body=body), node("SequenceAt", ["m", "at"], ["e"]),
         node("SequenceInsert", ["m", "e"], ["g"]), node("SequenceErase", ["g", "at"], ["h"]),
         node("Optional", ["h"], ["o"]), node("OptionalGetElement", ["o"], ["p"]),
         node("ConcatFromSequence", ["p"], ["y"], axis=0)],
        inputs=[tensor("x", ["n", 2])], opset=17,
        initializers=[ints("one", 1), helper.make_tensor("at", integer, [], [0])])
    yield "strings", model(
        [node("StringNormalizer", ["x"], ["n"], case_change_action="LOWER", stopwords=["a", "the"],
              locale="en_US"),
         node("Equal", ["n", "c"], ["e"]), node("Cast", ["e"], ["f"], to=1),
         node("TfIdfVectorizer", ["n"], ["v"], mode="TF", min_gram_length=1, max_gram_length=1,
              max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1],
              pool_strings=["one", "two"]),
         node("Add", ["f", "v"], ["y"])],
        inputs=[tensor("x", [2], TensorProto.STRING)], opset=19,
        initializers=[helper.make_tensor("c", TensorProto.STRING, [1], [b"one"])])
    made = model([helper.make_node("Twice", ["x"], ["t"], domain="own", by=2.0),
                  helper.make_node("Twice", ["t"], ["y"], domain="own", by=0.5)],
                 inputs=[tensor("x", [2, "n"])], opset=15)
    made.opset_import.add(domain="own", version=1)
    scale = node("LeakyRelu", ["a"], ["b"])
    scale.attribute.add(name="alpha", ref_attr_name="by", type=1)
    made.functions.add().CopyFrom(helper.make_function(
        "own", "Twice", ["a"], ["c"], [scale, node("Add", ["b", "a"], ["c"])],
        [helper.make_opsetid("", 15)], ["by"]))
    yield "functions", made
    yield "recurrent", model(
        [node("LSTM", ["x", "w", "r"], ["a", "h", "c"], hidden_size=2, direction="reverse"),
         node("GRU", ["h", "w2", "r2"], ["y"], hidden_size=1, linear_before_reset=1)],
        inputs=[tensor("x", ["n", 1, 3])], opset=14, outputs=[tensor("y", None), tensor("a", None)],
        initializers=[weights("w", 1, 8, 3), weights("r", 1, 8, 2), weights("w2", 1, 3, 2),
                      weights("r2", 1, 3, 1)])


def attribute(value):
    """An AttrValue as protobuf text; numbers stand for themselves, lists for ints."""
    if isinstance(value, bool):
        return f"b: {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"{'i' if isinstance(value, int) else 'f'}: {value}"
    if isinstance(value, list):
        return "list { " + " ".join(f"i: {item}" for item in value) + " }"
    return value if ":" in value or "{" in value else f's: "{value}"'


def tf_node(name, op, inputs="", **attributes):
    text = "".join(f' input: "{tensor}"' for tensor in inputs.split())
    for key, value in attributes.items():
        text += f' attr {{ key: "{key}" value {{ {attribute(value)} }} }}'
    return f'node {{ name: "{name}" op: "{op}"{text} }}\n'


def tf_dims(*dims):
    return "".join(f"dim {{ size: {dim} }} " for dim in dims)


def tf_input(*dims, name="x"):
    return tf_node(name, "Placeholder", dtype="type: DT_FLOAT",
                   shape=f"shape {{ {tf_dims(*dims)} }}")


def tf_const(name, *values, dims=None, kind="DT_INT32"):
    field = "float_val" if kind == "DT_FLOAT" else "int_val"
    items = " ".join(f"{field}: {value}" for value in values)
    dims = tf_dims(*([len(values)] if dims is None else dims))
    return tf_node(name, "Const", dtype=f"type: {kind}",
                   value=f"tensor {{ dtype: {kind} tensor_shape {{ {dims}}} {items} }}")


def tf_chain(*steps, shape=(1, 4, 4, 4), constants=""):
    """x -> steps one behind the other; a step is (op, inputs with @ for the last one, attributes)."""
    text, last = tf_input(*shape) + constants, "x"
    for i, (op, inputs, attributes) in enumerate(steps):
        text += tf_node(f"n{i}", op, inputs.replace("@", last), **attributes)
        last = f"n{i}"
    return text


def tf_models():
    """Name, message and protobuf text of each seed."""
    graph, same = "GraphDef", {"strides": [1, 1, 1, 1], "padding": "SAME"}
    yield "elementwise", graph, tf_chain(
        *[(op, "@", {}) for op in ("Relu6", "Elu", "Selu", "Softplus", "Rsqrt", "Square", "Tanh",
                                   "Log1p", "Expm1", "Round", "ZerosLike", "StopGradient")],
        *[(op, "@ s", {}) for op in ("FloorDiv", "FloorMod", "DivNoNan", "SquaredDifference", "Xlogy",
                                     "BiasAdd", "Maximum")],
        ("LeakyRelu", "@", {"alpha": 0.1}), ("AddN", "@ @ x", {}), ("ClipByValue", "@ lo hi", {}),
        ("Greater", "@ s", {}), ("Select", "@ x x", {}), ("Cast", "@", {"DstT": "type: DT_HALF"}),
        constants=tf_const("s", 1, 2, 3, 4, kind="DT_FLOAT") +
        tf_const("lo", 0.5, dims=[], kind="DT_FLOAT") + tf_const("hi", 3, dims=[], kind="DT_FLOAT"))
    yield "images", graph, tf_chain(
        ("Conv2D", "@ mix", same), ("DepthwiseConv2dNative", "@ w", same),
        ("FusedBatchNormV3", "@ v v v v", {"is_training": False, "epsilon": 0.001}),
        ("MaxPool", "@", {**same, "ksize": [1, 1, 2, 2], "data_format": "NCHW",
                          "explicit_paddings": [0] * 8}),
        ("AvgPool", "@", {"ksize": [1, 2, 2, 1], "strides": [1, 2, 1, 1], "padding": "VALID"}),
        ("ResizeBilinear", "@ size", {"half_pixel_centers": True}),
        ("ResizeNearestNeighbor", "@ size", {"align_corners": True}),
        ("SpaceToDepth", "@", {"block_size": 2}), ("DepthToSpace", "@", {"block_size": 2}),
        ("LRN", "@", {"depth_radius": 1}),
        ("SpaceToBatchND", "@ two pads", {}), ("BatchToSpaceND", "@ two pads", {}),
        constants=tf_const("mix", 0.5, dims=[1, 1, 4, 4], kind="DT_FLOAT") +
        tf_const("w", 0.5, dims=[1, 1, 4, 1], kind="DT_FLOAT") +
        tf_const("v", 1, dims=[4], kind="DT_FLOAT") + tf_const("size", 4, 6) +
        tf_const("two", 2, 1) + tf_const("pads", 0, 0, 0, 0, dims=[2, 2]))
    yield "transposed", graph, (
        tf_input(1, 4, 4, 2) + tf_const("shape", 1, 8, 8, 3) +
        tf_const("w", 0.1, dims=[3, 3, 3, 2], kind="DT_FLOAT") +
        tf_node("y", "Conv2DBackpropInput", "shape w x", strides=[1, 2, 2, 1], padding="SAME"))
    yield "movement", graph, tf_chain(
        ("Transpose", "@ perm", {}), ("Reshape", "@ flat", {}), ("ExpandDims", "@ zero", {}),
        ("Squeeze", "@", {"squeeze_dims": [0]}), ("Slice", "@ b sizes", {}),
        ("StridedSlice", "@ b e st", {"begin_mask": 1, "new_axis_mask": 0, "shrink_axis_mask": 0}),
        ("Pad", "@ pads", {}), ("MirrorPad", "@ pads", {"mode": "REFLECT"}), ("Tile", "@ st", {}),
        ("GatherV2", "@ b zero", {}), ("ReverseV2", "@ b", {}), ("ConcatV2", "@ @ zero", {}),
        ("BroadcastTo", "@ wide", {}), ("Pack", "@ @", {"axis": 1, "N": 2}),
        ("Unpack", "@", {"num": 2, "axis": 1}), ("Split", "zero @", {"num_split": 2}),
        ("SplitV", "@ parts zero", {"num_split": 2}), ("OneHot", "b depth one one", {}),
        constants=tf_const("perm", 0, 3, 1, 2) + tf_const("flat", 8, -1) +
        tf_const("zero", 0, dims=[]) + tf_const("b", 0, 1) + tf_const("e", 8, -1) +
        tf_const("st", 2, 1) + tf_const("sizes", -1, 6) +
        tf_const("pads", 1, 1, 0, 0, dims=[2, 2]) + tf_const("wide", 2, 4, 4) +
        tf_const("parts", 1, -1) + tf_const("depth", 3, dims=[]) +
        tf_const("one", 1, dims=[], kind="DT_FLOAT"))
    yield "reduce", graph, tf_chain(
        ("Mean", "@ axes", {"keep_dims": True}), ("Softmax", "@", {}), ("Max", "@ one", {}),
        ("Sum", "@ one", {"keep_dims": False}),
        ("MatMul", "@ m", {"transpose_b": True}), ("BatchMatMulV2", "@ @", {"adj_x": True}),
        ("LogSoftmax", "@", {}), ("ArgMax", "@ one", {}), ("Range", "zero four one", {}),
        ("L2Loss", "x", {}), ("IsNan", "x", {}), ("All", "@ axes", {}),
        constants=tf_const("axes", 1, -2) + tf_const("one", 1, dims=[]) +
        tf_const("zero", 0, dims=[]) + tf_const("four", 4, dims=[]) +
        tf_const("m", 1, dims=[4, 4], kind="DT_FLOAT"))
    yield "shapes", graph, (
        tf_input(2, 3, 4) + tf_const("b", 0) + tf_const("e", 1) + tf_const("m", -1) +
        tf_const("zero", 0, dims=[]) + tf_node("s", "Shape", "x") +
        tf_node("g", "StridedSlice", "s b e e") + tf_node("c", "ConcatV2", "g m zero") +
        tf_node("r", "Reshape", "x c ^s") + tf_node("n", "Size", "x") + tf_node("k", "Rank", "x") +
        tf_node("a", "Prod", "s zero") + tf_node("q", "FloorDiv", "a k") +
        tf_node("z", "Pack", "q", axis=0) + tf_node("f", "Fill", "z zero"))
    function = """graph_def {
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "y" op: "StatefulPartitionedCall" input: "x" input: "^x"
        attr { key: "f" value { func { name: "outer" } } } }
      library {
        function { signature { name: "outer" input_arg { name: "a" type: DT_FLOAT }
            output_arg { name: "r" type: DT_FLOAT } }
          node_def { name: "call" op: "PartitionedCall" input: "a"
            attr { key: "f" value { func { name: "inner"
              attr { key: "T" value { type: DT_FLOAT } } } } } }
          node_def { name: "parts" op: "Split" input: "axis:output:0" input: "call:output:0"
            attr { key: "num_split" value { i: 2 } } }
          node_def { name: "axis" op: "Const" attr { key: "value" value { tensor {
            dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
          ret { key: "r" value: "parts:output:1" } }
        function { signature { name: "inner" input_arg { name: "a" type: DT_FLOAT }
            output_arg { name: "r" type: DT_FLOAT } }
          node_def { name: "add" op: "AddV2" input: "a" input: "a"
            attr { key: "T" value { placeholder: "T" } } }
          ret { key: "r" value: "add:z:0" } } } }"""
    yield "functions", "SavedModel", """saved_model_schema_version: 1 meta_graphs {
      meta_info_def { tags: "serve" stripped_op_list { op { name: "Split"
        output_arg { name: "output" number_attr: "num_split" } } } } """ + function + """
      signature_def { key: "serving_default" value {
        inputs { key: "in" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: 2 } } } }
        outputs { key: "out" value { name: "y:0" dtype: DT_FLOAT } } } } }"""


def encode(message, text):
    """Protobuf text as bytes."""
    root = HERE.parent.parent
    return subprocess.run(["protoc", f"-I{root}", f"--encode=atc.tf.pb.{message}",
                           str(root / "frontends/tf/schema/tensorflow.proto")],
                          input=text.encode(), check=True, stdout=subprocess.PIPE).stdout


def main():
    for name, message, text in tf_models():
        (HERE / "corpus-tf" / f"{name}.pb").write_bytes(encode(message, text))
    atc = Path(sys.argv[1]).resolve() / "bin" / "atc"
    for name, made in [*models(), *host_models()]:
        data = made if isinstance(made, bytes) else made.SerializeToString()
        (HERE / "corpus-onnx" / f"{name}.onnx").write_bytes(data)
    for name in ("conv", "reduce", "constants", "if", "loop"):
        with tempfile.TemporaryDirectory() as folder:
            # By a relative path, for the command line becomes a part of the file.
            shutil.copy(HERE / "corpus-onnx" / f"{name}.onnx", folder)
            subprocess.run([atc, f"--model={name}.onnx", "--framework=5", "--target=cpu",
                            "--target_cpu=x86-64-v2", "--output=" + name],
                           cwd=folder, check=True, stdout=subprocess.DEVNULL)
            (HERE / "corpus-om" / f"{name}.om").write_bytes(
                (Path(folder) / f"{name}.om").read_bytes())


if __name__ == "__main__":
    main()
