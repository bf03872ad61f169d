# Operators of a .json file: the names of the files, what these state, results, and mistakes. Run
# with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()


def tool(name, *args, cwd=None, fails=False):
    result = subprocess.run([openatc_tools.tool(name), *map(str, args)], cwd=cwd, capture_output=True,
                            text=True, timeout=300)
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout


def tensor(shape, type="float16", format="ND", **more):
    return {"format": format, "shape": list(shape), "type": type, **more}


def constant(values, type="int64"):
    return tensor([len(values)], type, is_const=True, const_value=list(values))


def op(type, inputs, outputs, name="", **attributes):
    kinds = {bool: "bool", int: "int", float: "float", str: "string"}

    def kind(value):
        return "list_" + kind((value or [0])[0]) if isinstance(value, list) else kinds[type_of(value)]
    type_of = __builtins__["type"] if isinstance(__builtins__, dict) else __builtins__.type
    made = {"op": type, "input_desc": inputs, "output_desc": outputs,
            "attr": [{"name": n, "type": kind(v), "value": v} for n, v in attributes.items()]}
    return made | ({"name": name} if name else {})


def compile_(folder, ops, target="--soc_version=Ascend310P3", fails=False):
    (folder / "ops.json").write_text(ops if isinstance(ops, str) else json.dumps(ops))
    return tool("atc", "--singleop=ops.json", "--output=out", target, cwd=folder, fails=fails)


def run(folder, name, *inputs):
    files = []
    for i, value in enumerate(inputs):
        if value is not None:
            np.save(folder / f"x{i}.npy", value)
            files.append(f"x{i}={folder}/x{i}.npy")
    tool("om-run", folder / "out" / (name + ".om"), "--input", ",".join(files), "--output",
         folder / "results")
    return np.load(folder / "results" / "y0.npy")


def test_names_of_files(tmp_path):
    add = op("Add", [tensor([3, 3], "int32")] * 2, [tensor([3, 3], "int32")])
    conv = op("Abs", [tensor([1, 2, 4, 4], "float", "NCHW")], [tensor([1, 2, 4, 4], "float", "NCHW")])
    compile_(tmp_path, [add, conv, op("Neg", [tensor([2])], [tensor([2])], name="negate")])
    assert sorted(os.listdir(tmp_path / "out")) == [
        "0_Add_3_2_3_3_3_2_3_3_3_2_3_3.om", "1_Abs_0_0_1_2_4_4_0_0_1_2_4_4.om", "negate.om"]


def test_a_file_states_its_operator(tmp_path):
    made = op("SoftmaxV2", [tensor([2, 8])], [tensor([2, 8])], name="s", axes=[-1], half_to_float=True)
    compile_(tmp_path, [made])
    tool("atc", "--mode=1", "--om=out/s.om", "--json=s.json", cwd=tmp_path)
    shown = json.loads((tmp_path / "s.json").read_text())
    assert shown["name"] == "SoftmaxV2"
    line = shown["command_line"]
    begin = line.index("--singleop=") + len("--singleop=")
    stated, _ = json.JSONDecoder().raw_decode(line[begin:])
    assert stated == {"op": "SoftmaxV2", "input_desc": [{"type": 1, "format": 2, "shape": [2, 8]}],
                      "output_desc": [{"type": 1, "format": 2, "shape": [2, 8]}],
                      "attr": [{"name": "axes", "type": "list_int", "value": [-1]},
                               {"name": "half_to_float", "type": "bool", "value": True}]}


def im2col_conv(x, w, stride, pads):
    """NCHW, OIHW."""
    x = np.pad(x, ((0, 0), (0, 0), pads[:2], pads[2:]))
    h = (x.shape[2] - w.shape[2]) // stride + 1
    v = (x.shape[3] - w.shape[3]) // stride + 1
    y = np.zeros((x.shape[0], w.shape[0], h, v))
    for i in range(h):
        for j in range(v):
            part = x[:, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]]
            y[:, :, i, j] = np.einsum("nchw,ochw->no", part, w)
    return y


RNG = np.random.default_rng(5)
A = RNG.standard_normal((4, 6)).astype(np.float32)
B = RNG.standard_normal((6, 5)).astype(np.float32)
P = np.abs(A) + 0.5
X = RNG.standard_normal((1, 6, 5, 4)).astype(np.float32)  # NHWC
W = RNG.standard_normal((3, 3, 4, 8)).astype(np.float32)  # HWCN
CONV = im2col_conv(X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1), 2, (1, 1, 1, 1))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# operator, inputs (None: in the file), output, attributes, formats
CASES = [
    ("Add", [A, A[0]], A + A[0], {}),
    ("Sub", [A, A * 2], -A, {}),
    ("RealDiv", [A, P], A / P, {}),
    ("Maximum", [A, -A], np.abs(A), {}),
    ("SquaredDifference", [A, P], (A - P) ** 2, {}),
    ("Relu6", [A * 4], np.clip(A * 4, 0, 6), {}),
    ("Rsqrt", [P], 1 / np.sqrt(P), {}),
    ("Square", [A], A * A, {}),
    ("Swish", [A], A / (1 + np.exp(-2 * A)), {"scale": 2.0}),
    ("LeakyRelu", [A], np.where(A < 0, 0.25 * A, A), {"negative_slope": 0.25}),
    ("SoftmaxV2", [A], softmax(A), {"axes": [-1]}),
    ("ReduceSumD", [A], A.sum(1, keepdims=True), {"axes": [1], "keep_dims": True}),
    ("ReduceMeanD", [A], A.mean(0), {"axes": [0], "keep_dims": False}),
    ("TransposeD", [A], A.T, {"perm": [1, 0]}),
    ("Reshape", [A], A.reshape(3, 8), {}),
    ("ConcatD", [A, P], np.concatenate([A, P], 1), {"concat_dim": 1, "N": 2}),
    ("SliceD", [A], A[1:3, 2:], {"offsets": [1, 2], "size": [2, -1]}),
    ("TileD", [A], np.tile(A, (2, 1)), {"multiples": [2, 1]}),
    ("PadD", [A], np.pad(A, ((1, 0), (0, 2))), {"paddings": [[1, 0], [0, 2]]}),
    ("BiasAdd", [A, A[0]], A + A[0], {}),
    ("MatMul", [A, B], A @ B, {}),
    ("MatMulV2", [A.T.copy(), B.T.copy(), B[0]], A @ B + B[0],
     {"transpose_x1": True, "transpose_x2": True}),
    ("BatchMatMul", [A[None], B.T[None].copy()], (A @ B)[None], {"adj_x2": True}),
    ("GEMM", [A, B, np.ones((4, 5), np.float32), np.float32([2]), np.float32([3])], 2 * A @ B + 3,
     {"transpose_a": False, "transpose_b": False}),
    ("Erf", [A], np.vectorize(__import__("math").erf)(A), {}),
    ("LpNormalization", [P], P / np.sqrt((P * P).sum(1, keepdims=True)), {"axis": 1, "p": 2}),
]


@pytest.mark.parametrize("target", ["--soc_version=Ascend310P3", "--target=cpu"])
def test_results(tmp_path, target):
    ops = []
    for i, (type, inputs, output, attributes) in enumerate(CASES):
        ops.append(op(type, [tensor(x.shape, "float") for x in inputs],
                      [tensor(output.shape, "float")], name=f"case{i}", **attributes))
    compile_(tmp_path, ops, target)
    for i, (type, inputs, output, _) in enumerate(CASES):
        got = run(tmp_path, f"case{i}", *(np.ascontiguousarray(x, np.float32) for x in inputs))
        assert got.shape == output.shape, type
        tolerance = 1e-5 if target == "--target=cpu" else 2e-2
        assert np.allclose(got, output, rtol=tolerance, atol=tolerance), (type, got, output)


@pytest.mark.parametrize("target", ["--soc_version=Ascend310P3", "--target=cpu"])
def test_images(tmp_path, target):
    conv = op("Conv2D", [tensor(X.shape, "float16", "NHWC"), tensor(W.shape, "float16", "HWCN")],
              [tensor([1, 3, 3, 8], "float16", "NHWC")], name="conv", strides=[1, 2, 2, 1],
              pads=[1, 1, 1, 1], dilations=[1, 1, 1, 1], data_format="NHWC")
    pool = op("MaxPool", [tensor(X.shape, "float16", "NHWC")], [tensor([1, 3, 3, 4], "float16", "NHWC")],
              name="pool", ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    depthwise = op("DepthwiseConv2D", [tensor([1, 4, 6, 5], "float16", "NCHW"),
                                       tensor([3, 3, 4, 1], "float16", "HWCN")],
                   [tensor([1, 4, 6, 5], "float16", "NCHW")], name="depthwise", strides=[1, 1, 1, 1],
                   pads=[1, 1, 1, 1])
    compile_(tmp_path, [conv, pool, depthwise], target)
    x, w = X.astype(np.float16), W.astype(np.float16)
    assert np.allclose(run(tmp_path, "conv", x, w), CONV.transpose(0, 2, 3, 1), rtol=2e-2, atol=3e-2)
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=-9)
    want = padded.reshape(1, 3, 2, 3, 2, 4).max((2, 4))
    assert np.array_equal(run(tmp_path, "pool", x), want)
    nchw = x.transpose(0, 3, 1, 2).copy()
    each = [im2col_conv(nchw[:, c:c + 1], w[:, :, c:c + 1, :1].transpose(3, 2, 0, 1), 1, (1, 1, 1, 1))
            for c in range(4)]
    got = run(tmp_path, "depthwise", nchw, w[:, :, :, :1].copy())
    assert np.allclose(got, np.concatenate(each, 1), rtol=2e-2, atol=2e-2)


def test_constants_and_types(tmp_path):
    ops = [op("ReduceSum", [tensor([4, 6], "int32"), constant([1])], [tensor([4], "int32")], name="sum"),
           op("Cast", [tensor([4, 6], "int32")], [tensor([4, 6], "float16")], name="cast", dst_type=1),
           op("ConcatV2", [tensor([4, 6], "int32"), tensor([4, 6], "int32"), constant([0], "int32")],
              [tensor([8, 6], "int32")], name="concat"),
           op("Conv2D", [tensor([1, 2, 4, 4], "float", "NCHW"),
                         tensor([1, 2, 1, 1], "float", "NCHW", is_const=True, const_value=[1, 2]),
                         {"type": "UNDEFINED", "format": "RESERVED", "shape": []}],
              [tensor([1, 1, 4, 4], "float", "NCHW")], name="conv", strides=[1, 1, 1, 1],
              pads=[0, 0, 0, 0])]
    compile_(tmp_path, ops)
    x = np.arange(24, dtype=np.int32).reshape(4, 6)
    assert np.array_equal(run(tmp_path, "sum", x), x.sum(1))
    assert np.array_equal(run(tmp_path, "cast", x), x.astype(np.float16))
    assert np.array_equal(run(tmp_path, "concat", x, x), np.concatenate([x, x]))
    image = np.ones((1, 2, 4, 4), np.float32)
    assert np.array_equal(run(tmp_path, "conv", image), np.full((1, 1, 4, 4), 3, np.float32))


def test_formats(tmp_path):
    pack = op("TransData", [tensor([2, 20, 3, 4], "float16", "NCHW")],
              [tensor([2, 2, 3, 4, 16], "float16", "NC1HWC0")], name="pack")
    unpack = op("TransData", [tensor([2, 2, 3, 4, 16], "float16", "NC1HWC0")],
                [tensor([2, 3, 4, 20], "float16", "NHWC")], name="unpack")
    fractal = op("TransData", [tensor([20, 40], "float16")],
                 [tensor([3, 2, 16, 16], "float16", "FRACTAL_NZ")], name="fractal")
    plain = op("TransData", [tensor([3, 2, 16, 16], "float16", "FRACTAL_NZ")],
               [tensor([20, 40], "float16")], name="plain")
    compile_(tmp_path, [pack, unpack, fractal, plain])
    x = RNG.standard_normal((2, 20, 3, 4)).astype(np.float16)
    packed = run(tmp_path, "pack", x)
    padded = np.pad(x, ((0, 0), (0, 12), (0, 0), (0, 0)))
    assert np.array_equal(packed, padded.reshape(2, 2, 16, 3, 4).transpose(0, 1, 3, 4, 2))
    assert np.array_equal(run(tmp_path, "unpack", packed), x.transpose(0, 2, 3, 1))
    m = RNG.standard_normal((20, 40)).astype(np.float16)
    tiles = run(tmp_path, "fractal", m)
    want = np.pad(m, ((0, 12), (0, 8))).reshape(2, 16, 3, 16).transpose(2, 0, 1, 3)
    assert np.array_equal(tiles, want)
    assert np.array_equal(run(tmp_path, "plain", tiles), m)


GOOD = tensor([2])


@pytest.mark.parametrize("ops, code, words", [
    ("[{", "E10025", "ops.json:1"),
    ("[]", "E10025", "must be a list"),
    ("3", "E10025", "must be a list"),
    ("[" * 100 + "]" * 100, "E10025", "deeper"),
    ([{"input_desc": [GOOD], "output_desc": [GOOD]}], "E10026", "operator 0"),
    ([op("Add", [GOOD], [GOOD], name="../x")], "E10026", "not a path"),
    ([op("Abs", [tensor([2], "float61")], [GOOD])], "E10027", 'did you mean "float16"?'),
    ([op("Abs", [tensor([2], format="NHCW")], [GOOD])], "E10027", "NCHW"),
    ([op("Abs", [tensor([0])], [GOOD])], "E10027", "the dim 0"),
    ([op("Abs", [{"type": "float", "format": "ND"}], [GOOD])], "E10027", "\"shape\""),
    ([op("Abs", [GOOD], [])], "E10027", "output_desc"),
    ([op("Add", [GOOD, tensor([3], is_const=True, const_value=[1])], [GOOD])], "E10027", "1 numbers"),
    ([op("MatMul", [GOOD], [GOOD])], "E10027", "reads 2"),
    ([op("MatMul", [GOOD, {"format": "RESERVED", "type": "UNDEFINED"}], [GOOD])], "E10027",
     "cannot do without input_desc[1], which is stated as absent"),
    ([{"op": "Abs", "input_desc": [GOOD], "output_desc": [GOOD], "attr": [{"type": "int"}]}], "E10029",
     "attr[0]"),
    ([{"op": "Abs", "input_desc": [GOOD], "output_desc": [GOOD],
       "attr": [{"name": "a", "type": "int", "value": "x"}]}], "E10030", '"a"'),
    ([op("SoftmaxV2", [GOOD], [GOOD], axes=[0, 1])], "E10030", "one axis"),
    ([op("SoftmaxV2", [GOOD], [GOOD], axs=[1])], "E14001", 'does not read the attribute "axs", which is [1]; did you mean "axes"?'),
    ([op("SoftmaxV2", [GOOD], [GOOD], axes="1")], "E14001", '"axes" is "1", which is of another kind'),
    ([op("Elu", [GOOD], [GOOD], alfa=2.0)], "E14001", 'did you mean "alpha"?'),
    ([op("Elu", [GOOD], [GOOD], alpha=[2])], "E14001", '"alpha" is [2], which is of another kind'),
    ([op("Relu", [GOOD], [GOOD], foo=1)], "E14001", 'does not read the attribute "foo", which is 1; take it out'),
    *(([op("Eltwise", [GOOD, GOOD], [GOOD], coeff=wrong)], "E10030", '"coeff" must be a list of numbers')
      for wrong in (0.5, ["2", "3"], [True, False])),
    ([op("Elu", [GOOD], [GOOD], kernel=[1])], "E14001", 'does not read the attribute "kernel"'),
    ([op("Conv2D", [tensor([1, 1, 4, 4]), tensor([1, 1, 3, 3])], [tensor([1, 1, 2, 2])], padding="VALID")], "E14001",
     'does not read the attribute "padding"'),
    ([op("Adds", [tensor([2], "uint8")], [tensor([2], "uint8")], value=-1.0)], "E10030", "its number -1 is none of the type"),
    ([op("Muls", [tensor([2], "int32")], [tensor([2], "int32")], value=1.5)], "E10030", "its number 1.5 is none of the type"),
    ([op("Relu", [GOOD], [GOOD], sorted=True)], "E14001", 'does not read the attribute "sorted", which is true; take it out'),
    ([op("Round", [GOOD], [GOOD], decimals=2)], "E14001", 'does not read the attribute "decimals", which is 2'),
    ([op("MatMull", [GOOD, GOOD], [GOOD])], "E10055", 'did you mean "MatMul"?'),
    ([op("Abs", [tensor([1, 1, 2, 2, 16], format="NC1HWC0")], [GOOD])], "E10055", "TransData"),
    ([op("Abs", [GOOD], [tensor([3])])], "E10027", "the result is f16 [2], but the file describes f16 [3]"),
    ([op("Abs", [GOOD], [tensor([2], "float")])], "E10027", "describes f32 [2]"),
    ([op("Abs", [GOOD], [GOOD], name="a"), op("Neg", [GOOD], [GOOD], name="a")], "E13009", '"a"'),
])
def test_mistakes(tmp_path, ops, code, words):
    text = compile_(tmp_path, ops, fails=True)
    errors = text.split("for more information\n")[1].splitlines()
    assert [line.split(":")[0] for line in errors] == [code], text
    assert words in errors[0]
    assert not list(tmp_path.glob("out/*.om"))


def test_exclusive_flags(tmp_path):
    (tmp_path / "ops.json").write_text("[]")
    text = tool("atc", "--singleop=ops.json", "--model=x.onnx", "--output=o", "--target=cpu",
                cwd=tmp_path, fails=True)
    assert "E10047: --singleop and --model exclude each other" in text


def test_operators_that_a_program_names_after_others(tmp_path):
    """Samples call the kernels that they write Conv2DTik, MatmulTik, AddDsl, AddCustom."""
    rng = np.random.default_rng(0)
    image, weights = rng.uniform(-1, 1, (1, 4, 5, 5)), rng.uniform(-1, 1, (4, 4, 3, 3))
    dense = [tensor(shape, "float", "NCHW") for shape in (image.shape, weights.shape)]
    conv = op("Conv2DTik", dense, [tensor([1, 4, 5, 5], "float", "NCHW")], name="conv",
              strides=[1] * 4, pads=[1] * 4, dilations=[1] * 4)
    add = op("AddDsl", [tensor([2, 3], "float")] * 2, [tensor([2, 3], "float")], name="add")
    compile_(tmp_path, [conv, add], target="--target=cpu")
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = sum(np.einsum("nchw,oc->nohw", padded[:, :, y:y + 5, x:x + 5], weights[:, :, y, x])
                   for y in range(3) for x in range(3))
    got = run(tmp_path, "conv", image.astype("f4"), weights.astype("f4"))
    np.testing.assert_allclose(got, expected, atol=1e-4)
    values = rng.uniform(-1, 1, (2, 3)).astype("f4")
    assert np.array_equal(run(tmp_path, "add", values, values), values + values)
    text = compile_(tmp_path, [op("NothingCustom", [GOOD], [GOOD])], fails=True)
    assert "E10055: the operator NothingCustom" in text


def test_shapes_of_results_are_inferred(tmp_path):
    unknown = tensor([-2])
    made = [op("Add", [tensor([2, 3]), tensor([3])], [unknown], name="add"),
            op("Reshape", [tensor([2, 6]), constant([3, -1])], [unknown], name="reshape"),
            op("MatMulV2", [tensor([-1, 4]), tensor([4, 5])], [unknown], name="dynamic")]
    compile_(tmp_path, made)
    x = np.arange(12, dtype=np.float16).reshape(2, 6)
    assert run(tmp_path, "add", x[:, :3], x[0, :3]).shape == (2, 3)
    np.testing.assert_array_equal(run(tmp_path, "reshape", x), x.reshape(3, 4))
    np.testing.assert_allclose(run(tmp_path, "dynamic", x[:, :4], np.ones((4, 5), np.float16)),
                               x[:, :4].sum(1, keepdims=True).repeat(5, 1))
    dump = tool("om-dump", tmp_path / "out/add.om")
    assert '"shape":[2,3]' in dump and "[-2]" not in dump


@pytest.mark.parametrize("made, code, said", [
    (op("Add", [tensor([-2]), tensor([3])], [tensor([-2])]), "E10027", "the dim -2"),
    (op("Add", [tensor([4]), tensor([3])], [tensor([-2])]), "E14001", "to be inferred"),
    (op("Reshape", [tensor([4]), tensor([2], "int32")], [tensor([-2])]), "E14001", "do not follow from constants"),
    (op("NoSuchOp", [tensor([4])], [tensor([-2])]), "E10055", "NoSuchOp"),
    (op("Equal", [tensor([4]), tensor([4])], [tensor([-2])]), "E10027", "the result is bool [4]")])
def test_shapes_that_cannot_be_inferred(tmp_path, made, code, said):
    text = compile_(tmp_path, [made], fails=True)
    assert code in text and said in text
