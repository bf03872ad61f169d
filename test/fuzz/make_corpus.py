#===-- make_corpus.py - writes the seeds of the fuzz targets -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models that together use most importers, and .om files made from some of them.

  make_corpus.py BUILD_DIR      writes corpus-onnx/*.onnx and corpus-om/*.om beside this file
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


def main():
    atc = Path(sys.argv[1]).resolve() / "bin" / "atc"
    for name, made in models():
        data = made if isinstance(made, bytes) else made.SerializeToString()
        (HERE / "corpus-onnx" / f"{name}.onnx").write_bytes(data)
    for name in ("conv", "reduce", "constants"):
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
