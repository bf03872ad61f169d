# AIR graphs (--framework=1): results against NumPy, with and without stated shapes, control flow, and mistakes.
# Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from air_graphs import constant, data, desc, field, net_output, op, save  # noqa: E402
from openatc_tools import call, tool  # noqa: E402


def atc(folder, model, *flags, target="--target=cpu"):
    return call(tool("atc"), f"--model={model}", "--framework=1", f"--output={folder / 'out'}",
                target, *flags)


def compute(folder, model, inputs, *flags, target="--target=cpu"):
    code, out, err = atc(folder, model, *flags, target=target)
    assert code == 0, out + err
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
    given = ",".join(f"{name}={folder / name}.npy" for name in inputs)
    code, out, err = call(tool("om-run"), folder / "out.om", "--input", given, "--output",
                          folder / "outputs")
    assert code == 0, out + err
    return {path.stem: np.load(path) for path in (folder / "outputs").glob("*.npy")}


def draw(shape, seed=0, low=-1):
    return np.random.default_rng(seed).uniform(low, 1, shape).astype(np.float32)


FILTER, BIAS, DENSE = draw((4, 3, 3, 3), 1), draw((4,), 2), draw((4 * 3 * 4, 5), 3)


def network(is_stated):
    """Conv2D -> BiasAdd -> Relu -> MaxPoolV3 -> Reshape -> MatMul -> SoftmaxV2, as MindSpore
    exports it where shapes are stated, and as a program builds it where they are not."""
    def shapes(*dims):
        return [desc(d) if is_stated else desc(None, None, "ND") for d in dims]
    image, map_, pooled = (2, 3, 6, 8), (2, 4, 6, 8), (2, 4, 3, 4)
    return [
        op("x", "Data", (), [desc(image)], index=0),
        constant("filter", FILTER), constant("bias", BIAS), constant("dense", DENSE),
        constant("shape", np.array([2, -1], np.int32)),
        # An optional input in the middle is not given, and an order of execution is no input.
        op("conv", "Conv2D", ("x:0", "filter:0", "", "x:-1"), shapes(map_),
           shapes(image, FILTER.shape), strides=[1, 1, 1, 1], pads=[1, 1, 1, 1],
           dilations=[1, 1, 1, 1], groups=1, data_format="NCHW"),
        op("add", "BiasAdd", ("conv:0", "bias:0"), shapes(map_), shapes(map_, (4,)),
           data_format="NCHW"),
        op("relu", "Relu", ("add:0",), shapes(map_), shapes(map_)),
        op("pool", "MaxPoolV3", ("relu:0",), shapes(pooled), shapes(map_), ksize=[1, 1, 2, 2],
           strides=[1, 1, 2, 2], padding_mode="CALCULATED", pads=[0, 0, 0, 0], data_format="NCHW"),
        op("flat", "Reshape", ("pool:0", "shape:0"), shapes((2, 48)), shapes(pooled, (2,))),
        op("dense1", "MatMul", ("flat:0", "dense:0"), shapes((2, 5)), shapes((2, 48), (48, 5)),
           transpose_x1=False, transpose_x2=False),
        op("prob", "SoftmaxV2", ("dense1:0",), shapes((2, 5)), shapes((2, 5)), axes=[-1]),
        op("Node_Output", "NetOutput", ("prob:0", "relu:0"), (), shapes((2, 5), map_))]


def expected(x):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    n, _, h, w = x.shape
    conv = sum(np.einsum("nchw,oc->nohw", padded[:, :, i:i + h, j:j + w], FILTER[:, :, i, j])
               for i in range(3) for j in range(3))
    relu = np.maximum(conv + BIAS[:, None, None], 0)
    pooled = relu.reshape(n, 4, h // 2, 2, w // 2, 2).max((3, 5))
    scores = pooled.reshape(n, -1) @ DENSE
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True), relu


@pytest.mark.parametrize("target", ["--target=cpu", "--soc_version=Ascend310P3"])
@pytest.mark.parametrize("is_stated", [True, False])
def test_network(tmp_path, is_stated, target):
    x = draw((2, 3, 6, 8))
    outputs = compute(tmp_path, save(tmp_path / "net.air", network(is_stated)), {"x": x},
                      target=target)
    prob, relu = expected(x)
    near = {"rtol": 1e-5, "atol": 1e-5} if "cpu" in target else {"rtol": 2e-3, "atol": 2e-3}
    assert sorted(outputs) == ["prob_0", "relu_0"]
    np.testing.assert_allclose(outputs["prob_0"], prob, **near)
    np.testing.assert_allclose(outputs["relu_0"], relu, **near)


def test_nodes_and_shapes_by_flags(tmp_path):
    """Flags name operators; the shapes behind another batch are inferred again."""
    ops = [o for o in network(True) if not o.startswith(field(1, "Node_Output"))]
    x = draw((3, 3, 6, 8), 5)
    outputs = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x},
                      "--out_nodes=pool:0;relu:0", "--input_shape=x:3,3,6,8")
    prob, relu = expected(x)
    np.testing.assert_allclose(outputs["relu_0"], relu, rtol=1e-5, atol=1e-5)
    assert outputs["pool_0"].shape == (3, 4, 3, 4)


def test_outputs_without_netoutput(tmp_path):
    """The file's list counts; without one, what nobody reads."""
    ops = [op("x", "Data", (), [desc((4,), layout="ND")]), op("neg", "Neg", ("x:0",)),
           op("twice", "AddN", ("neg:0", "neg:0"), N=2)]
    x = draw((4,))
    outputs = compute(tmp_path, save(tmp_path / "a.air", ops), {"x": x})
    assert list(outputs) == ["twice_0"]
    np.testing.assert_array_equal(outputs["twice_0"], -2 * x)
    assert list(compute(tmp_path, save(tmp_path / "b.air", ops, ["neg:0"]), {"x": x}))[0] == "neg_0"


@pytest.mark.parametrize("attributes, type", [({}, "float16"), ({"dst_type": 3}, "int32")])
def test_types_of_casts(tmp_path, attributes, type):
    """The attribute says the type of the result; without it the result's description does."""
    ops = [op("x", "Data", (), [desc((4,), layout="ND")]),
           op("y", "Cast", ("x:0",), [desc((4,), "float16", "ND")], **attributes)]
    x = np.array([0.1, 1.5, -2.75, 3], np.float32)
    got = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x})["y_0"]
    assert got.dtype.name == type
    np.testing.assert_array_equal(got, x.astype(type))


def test_large_integers(tmp_path):
    """A double does not hold them: a constant was rounded, and the end of all was the begin of all."""
    unknown = desc(None, None, "ND")
    most = np.iinfo(np.int64).max
    ops = [op("x", "Data", (), [desc((2, 5), "int64", "ND")]),
           constant("more", np.array([2**53 + 1], np.int64)),
           constant("begin", np.array([0, 2], np.int64)), constant("end", np.array([most, most], np.int64)),
           constant("step", np.array([1, 2], np.int64)),
           op("sum", "Add", ("x:0", "more:0"), [unknown]),
           op("y", "StridedSlice", ("sum:0", "begin:0", "end:0", "step:0"), [unknown])]
    x = np.arange(10).reshape(2, 5)
    got = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x})["y_0"]
    np.testing.assert_array_equal(got, (x + (2**53 + 1))[:, 2::2])


def test_dims_of_a_broadcast(tmp_path):
    """It returned its input as it was."""
    ops = [op("x", "Data", (), [desc((1, 3), layout="ND")]), constant("to", np.array([2, 4, 3])),
           op("y", "BroadcastTo", ("x:0", "to:0"), [desc(None, None, "ND")])]
    x = draw((1, 3))
    got = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x})["y_0"]
    np.testing.assert_array_equal(got, np.broadcast_to(x, (2, 4, 3)))


def test_inputs_have_the_order_of_their_numbers(tmp_path):
    ops = [op("b", "Data", (), [desc((2,), layout="ND")], index=1),
           op("a", "Data", (), [desc((2,), layout="ND")], index=0),
           op("sub", "Sub", ("a:0", "b:0"))]
    code, out, err = atc(tmp_path, save(tmp_path / "net.air", ops))
    assert code == 0, out + err
    assert "inputs   a f32[2], b f32[2]\n" in out


@pytest.mark.parametrize("type,attributes,dims,result", [
    ("FlattenV2", {"axis": 1, "end_axis": 2}, (2, 3, 4, 5), (2, 12, 5)),
    ("Flatten", {"axis": 2}, (2, 3, 4, 5), (6, 20)),
    ("Squeeze", {"axis": [1]}, (2, 1, 4), (2, 4)),
    ("Squeeze", {}, (2, 1, 4, 1), (2, 4)),
    ("Unsqueeze", {"axes": [0, -1]}, (2, 4), (1, 2, 4, 1)),
    ("TransposeD", {"perm": [1, 2, 0]}, (2, 3, 4), (3, 4, 2)),
    ("ReduceMeanD", {"axes": [1], "keep_dims": False}, (2, 3, 4), (2, 4)),
    ("AvgPoolV2", {"ksize": [1, 1, 3, 3], "strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1]},
     (1, 2, 5, 6), (1, 2, 5, 6)),
    ("AvgPoolV2", {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "global_pooling": True},
     (1, 2, 5, 6), (1, 2, 1, 1)),
    ("SplitD", {"split_dim": 1, "num_split": 2}, (3, 4), (3, 2)),
])
def test_inferred_shapes(tmp_path, type, attributes, dims, result):
    unknown = desc(None, None, "ND")
    count = 2 if type == "SplitD" else 1
    ops = [op("x", "Data", (), [desc(dims)]),
           op("y", type, ("x:0",), [unknown] * count, **attributes),
           op("z", "Relu", ("y:0",), [unknown])]
    x = draw(dims, low=0.1)
    got = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x})["z_0"]
    assert got.shape == result
    if type in ("FlattenV2", "Flatten", "Squeeze", "Unsqueeze"):
        np.testing.assert_array_equal(got.ravel(), x.ravel())


@pytest.mark.parametrize("type,attributes,stated,dims,result", [
    ("Flatten", {"axis": 1}, (-1, 3, -1), (2, 3, 5), (2, 15)),
    ("FlattenV2", {"axis": 1, "end_axis": 2}, (2, -1, -1), (2, 3, 5), (2, 15)),
    ("FlattenV2", {"axis": 1, "end_axis": 2}, (-1, 3, 4, -1), (2, 3, 4, 5), (2, 12, 5)),
    ("Squeeze", {"axis": [1]}, (-1, 1, -1), (2, 1, 5), (2, 5)),
    ("Unsqueeze", {"axes": [1]}, (-1, -1), (2, 5), (2, 1, 5)),
    ("Reshape", {"shape": [0, -1]}, (-1, -1, 4), (2, 3, 4), (2, 12)),
    ("Reshape", {"shape": [-1, 2]}, (-1, 4), (3, 4), (6, 2)),
])
def test_dims_of_any_size(tmp_path, type, attributes, stated, dims, result):
    ops = [op("x", "Data", (), [desc(stated)])]
    if type == "Reshape":
        ops += [constant("shape", np.array(attributes["shape"], np.int32)),
                op("y", type, ("x:0", "shape:0"))]
    else:
        ops.append(op("y", type, ("x:0",), (), **attributes))
    ops.append(op("z", "Neg", ("y:0",)))
    x = draw(dims)
    got = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x})["z_0"]
    assert got.shape == result
    np.testing.assert_array_equal(got.ravel(), -x.ravel())


@pytest.mark.parametrize("batch", [1, 5])
def test_network_with_a_dynamic_batch(tmp_path, batch):
    ops = [op("x", "Data", (), [desc((-1, 3, 6, 8))], index=0), constant("filter", FILTER),
           constant("bias", BIAS), constant("dense", DENSE),
           op("conv", "Conv2D", ("x:0", "filter:0", "bias:0"), [desc((-1, 4, 6, 8))],
              strides=[1, 1, 1, 1], pads=[1, 1, 1, 1], dilations=[1, 1, 1, 1], groups=1,
              data_format="NCHW"),
           op("relu", "Relu", ("conv:0",)),
           op("pool", "MaxPoolV3", ("relu:0",), ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2],
              padding_mode="CALCULATED", pads=[0, 0, 0, 0], data_format="NCHW"),
           op("flat", "Flatten", ("pool:0",)),
           op("dense1", "MatMul", ("flat:0", "dense:0"), transpose_x1=False, transpose_x2=False),
           op("prob", "SoftmaxV2", ("dense1:0",), axes=[-1])]
    x = draw((batch, 3, 6, 8))
    got = compute(tmp_path, save(tmp_path / "net.air", ops), {"x": x})["prob_0"]
    np.testing.assert_allclose(got, expected(x)[0], rtol=1e-5, atol=1e-5)


def test_an_npu_says_what_suffices_for_open_dims(tmp_path):
    x = desc((-1, 4, 6, 8))
    model = save(tmp_path / "net.air", [op("x", "Data", (), [x], index=0), op("y", "Relu", ("x:0",), [x])])
    code, out, err = atc(tmp_path, model, target="--soc_version=Ascend310P3")
    assert code == 1 and "E10002" in out + err and "[-1,4,6,8]" in out + err
    for flags, quoted in ((["--input_shape=x:1,4,6,8"], '--input_shape="x:1,4,6,8"'),
                          (["--input_shape=x:-1,4,6,8", "--dynamic_batch_size=1,2"],
                           '--input_shape="x:-1,4,6,8" and --dynamic_batch_size')):
        assert quoted in out + err
        code, *text = atc(tmp_path, model, *flags, target="--soc_version=Ascend310P3")
        assert code == 0, text


def test_mode_1(tmp_path):
    model = save(tmp_path / "net.air", network(True))
    code, out, err = call(tool("atc"), "--mode=1", f"--om={model}", "--framework=1",
                          f"--json={tmp_path / 'net.json'}")
    assert code == 0, out + err
    ops = {o["name"]: o for o in
           json.loads((tmp_path / "net.json").read_text())["graph"][0]["op"]}
    assert ops["conv"]["type"] == "Conv2D" and ops["conv"]["input"][:2] == ["x:0", "filter:0"]
    assert ops["prob"]["output_desc"][0]["dtype"] == "DT_FLOAT"
    assert {"key": "groups", "value": {"i": 1}} in ops["conv"]["attr"]


def refused(tmp_path, ops, *words, outputs=(), flags=()):
    code, out, err = atc(tmp_path, save(tmp_path / "net.air", ops, outputs), *flags)
    assert code == 1, out
    for word in words:
        assert word in out, out


def test_errors(tmp_path):
    x = op("x", "Data", (), [desc((2, 4), layout="ND")])
    refused(tmp_path, [x, op("a", "Frobnicate", ("x:0",)), op("b", "Frobnicate", ("a:0",))],
            "E13010", "Frobnicate x1 (a)")
    refused(tmp_path, [x, op("a", "Neg", ("y:0",))], "E16001", "'y:0'")
    refused(tmp_path, [x, op("a", "Add", ("x:0", "b:0")), op("b", "Neg", ("a:0",))], "E16004")
    refused(tmp_path, [x, x, op("a", "Neg", ("x:0",))], "E13009", "'x'")
    refused(tmp_path, [x, op("a", "Reshape", ("x:0", "x:0"))], "E14001", "operator 'a' (Reshape)")
    refused(tmp_path, [x, op("a", "Neg", ("x:0",))], "E10016", flags=["--out_nodes=c:0"])
    refused(tmp_path, [op("x", "Data", (), [desc((-2,))]), op("a", "Neg", ("x:0",))], "E10002")
    (tmp_path / "net.air").write_bytes(save(tmp_path / "net.air", [x]).read_bytes()[:-3])
    assert "E13005" in atc(tmp_path, tmp_path / "net.air")[1]
    (tmp_path / "net.air").write_bytes(b"")
    assert atc(tmp_path, tmp_path / "net.air")[0] == 1


def test_constant_of_another_size(tmp_path):
    wrong = field(12, field(1, desc((4,))) + field(2, bytes(15)))
    const = field(1, "w") + field(2, "Const") + field(10, field(1, "value") + field(2, wrong))
    refused(tmp_path, [op("x", "Data", (), [desc((4,))]), const,
                       op("a", "Add", ("x:0", "w:0"))], "E13002", "15 bytes")


def test_kind_of_file(tmp_path):
    model = save(tmp_path / "net.air", network(True))
    code, out, err = call(tool("atc"), f"--model={model}", f"--output={tmp_path / 'out'}",
                          "--target=cpu")
    assert code == 0, out + err  # --framework follows from the name
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5",
                          f"--output={tmp_path / 'out'}", "--target=cpu")
    assert code == 1 and "E13005" in out and "--framework=1" in out


def packed(scales):
    """Scales as AscendDequant reads them: the bits of a float in an uint64."""
    return np.asarray(scales, np.float32).view(np.uint32).astype(np.uint64)


@pytest.mark.parametrize("target", ["--target=cpu", "--soc_version=Ascend310P3"])
@pytest.mark.parametrize("is_stated", [True, False])
def test_quantized_network(tmp_path, is_stated, target):
    """AscendQuant -> Conv2D -> AscendDequant -> AscendQuant -> MatMul -> AscendDequant, in integers."""
    def shapes(type, *dims):
        return [desc(d, type) if is_stated else desc(None, None, "ND") for d in dims]
    rng = np.random.default_rng(5)
    weights = rng.integers(-20, 20, (4, 3, 3, 3)).astype(np.int8)
    bias = rng.integers(-500, 500, 4).astype(np.int32)
    dense = rng.integers(-20, 20, (4 * 6 * 8, 5)).astype(np.int8)
    scales, last = rng.uniform(1e-4, 1e-3, 4).astype(np.float32), np.float32([2e-3])
    image, map_ = (2, 3, 6, 8), (2, 4, 6, 8)
    graph = [
        op("x", "Data", (), [desc(image)], index=0),
        constant("w", weights), constant("b", bias), constant("dense", dense),
        constant("s", packed(scales)), constant("l", packed(last)),
        constant("shape", np.array([2, -1], np.int32)),
        op("q", "AscendQuant", ("x:0",), shapes("int8", image), shapes("float32", image),
           scale=50.0, offset=3.0),
        op("conv", "Conv2D", ("q:0", "w:0", "b:0"), shapes("int32", map_),
           shapes("int8", image, weights.shape) + shapes("int32", (4,)), strides=[1, 1, 1, 1],
           pads=[1, 1, 1, 1], dilations=[1, 1, 1, 1], groups=1, data_format="NCHW", offset_x=3),
        op("d", "AscendDequant", ("conv:0", "s:0"), shapes("float32", map_),
           shapes("int32", map_) + shapes("uint64", (4,)), relu_flag=True),
        op("q2", "AscendQuant", ("d:0",), shapes("int8", map_), shapes("float32", map_),
           scale=80.0, offset=-2.0),
        op("flat", "Reshape", ("q2:0", "shape:0"), shapes("int8", (2, 192)),
           shapes("int8", map_) + shapes("int32", (2,))),
        op("mm", "MatMulV2", ("flat:0", "dense:0"), shapes("int32", (2, 5)),
           shapes("int8", (2, 192), dense.shape), transpose_x1=False, transpose_x2=False),
        op("d2", "AscendDequant", ("mm:0", "l:0"), shapes("float32", (2, 5)),
           shapes("int32", (2, 5)) + shapes("uint64", (1,))),
        op("a", "AscendAntiQuant", ("q:0",), shapes("float32", image), shapes("int8", image),
           scale=0.02, offset=-3.0),
        op("Node_Output", "NetOutput", ("d2:0", "a:0"), (), shapes("float32", (2, 5), image))]
    model = save(tmp_path / "m.air", graph)
    x = draw(image, 7)

    def quantized(value, scale, offset):
        return np.clip(np.rint(value / np.float32(1 / scale)) + offset, -128, 127).astype(np.int32)

    q = quantized(x, np.float32(50), 3)
    padded = np.pad(q, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=3)
    conv = sum(np.einsum("nchw,oc->nohw", padded[:, :, i:i + 6, j:j + 8],
                         weights[:, :, i, j].astype(np.int32)) for i in range(3) for j in range(3))
    d = np.maximum((conv + bias[:, None, None]).astype(np.float32) * scales[:, None, None], 0)
    q2 = quantized(d, np.float32(80), -2)
    want = (q2.reshape(2, -1) @ dense.astype(np.int32)).astype(np.float32) * last
    got = compute(tmp_path, model, {"x": x}, target=target)
    # A value at the border of two integers may be either, where what is before it is f16.
    assert np.abs(got["d2_0"] - want).max() <= (0.5 if "soc" in target else 1e-5)
    assert np.abs(got["a_0"] - (q - 3) * np.float32(0.02)).max() <= (0.021 if "soc" in target else 1e-6)


#--- branches, loops and calls ---------------------------------------------------------

SQUARE = draw((4, 4), 3)


def scalar(value, type=np.int32):
    return np.array(value, type)


@pytest.mark.parametrize("target", ["--target=cpu", "--soc_version=Ascend310P3"])
@pytest.mark.parametrize("type", ["If", "StatelessIf"])
def test_if(tmp_path, type, target):
    """Files of the toolchain state which input and output a tensor is; the numbers of Data and the
    order of outputs differ from these. A constant around the branch stays the constant that
    Reshape needs."""
    graphs = {
        "net/if/then": [data("b", index=0, _parent_node_index=2),
                        data("a", index=1, _parent_node_index=1),
                        data("s", index=2, _parent_node_index=3),
                        op("flat", "Reshape", ("a:0", "s:0")), op("sub", "Sub", ("a:0", "b:0")),
                        net_output(("flat:0", "sub:0"), (1, 0))],
        "net/if/else": [data("a", index=0), data("b", index=1), data("s", index=2),
                        constant("w", SQUARE), op("mul", "MatMul", ("a:0", "w:0")),
                        op("flat", "Reshape", ("b:0", "s:0")), net_output(("mul:0", "flat:0"))]}
    model = save(tmp_path / "net.air", [
        data("c", (), "bool", index=0), data("x", (2, 4), index=1), data("y", (2, 4), index=2),
        constant("shape", np.array([-1], np.int32)),
        op("if", type, ("c:0", "x:0", "y:0", "shape:0"), graphs=list(graphs)),
        op("out", "Neg", ("if:0",)), net_output(("out:0", "if:1"))], graphs=graphs)
    x, y = draw((2, 4)), draw((2, 4), 1)
    for taken in (True, False):
        got = compute(tmp_path, model, {"c": scalar(taken, bool), "x": x, "y": y}, target=target)
        near = {"rtol": 0, "atol": 1e-6 if "cpu" in target else 2e-3}
        np.testing.assert_allclose(got["out_0"], y - x if taken else -(x @ SQUARE), **near)
        np.testing.assert_allclose(got["if_1"], (x if taken else y).ravel(), **near)


@pytest.mark.parametrize("value,taken", [(scalar(0, np.float32), False), (scalar(-0.5, np.float32), True),
                                         (scalar(2), True), (np.zeros(3, np.int32), True)])
def test_conditions_that_are_no_bool(tmp_path, value, taken):
    """A scalar is true that is not 0; any other tensor that has elements."""
    graphs = {"then": [data("a"), op("r", "Neg", ("a:0",)), net_output(("r:0",))],
              "else": [data("a"), net_output(("a:0",))]}
    model = save(tmp_path / "net.air", [
        data("c", value.shape, str(value.dtype), index=0), data("x", (3,), index=1),
        op("if", "If", ("c:0", "x:0"), graphs=list(graphs)), net_output(("if:0",))], graphs=graphs)
    x = draw((3,))
    got = compute(tmp_path, model, {"c": value, "x": x})["if_0"]
    np.testing.assert_array_equal(got, -x if taken else x)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_case(tmp_path, count):
    """Numbers that no branch has are the last branch."""
    graphs = {f"branch{i}": [data("a"), constant("k", np.float32([i + 1])),
                             op("r", "Mul", ("a:0", "k:0")), net_output(("r:0",))]
              for i in range(count)}
    model = save(tmp_path / "net.air", [
        data("n", (), "int32", index=0), data("x", (3,), index=1),
        op("case", "Case", ("n:0", "x:0"), graphs=list(graphs)), net_output(("case:0",))],
        graphs=graphs)
    x = draw((3,))
    for number in (0, 1, 3, count, -1):
        branch = number if 0 <= number < count else count - 1
        got = compute(tmp_path, model, {"n": scalar(number), "x": x})["case_0"]
        np.testing.assert_array_equal(got, x * np.float32(branch + 1))


@pytest.mark.parametrize("target", ["--target=cpu", "--soc_version=Ascend310P3"])
@pytest.mark.parametrize("type", ["While", "StatelessWhile"])
def test_while(tmp_path, type, target):
    """While i < n: x = x @ w + x; n, w and the shape are handed on, and the latter is one that
    Reshape needs."""
    names = ("i", "n", "x", "w", "s")
    inside = [data(name, _parent_node_index=k) for k, name in enumerate(names)]
    graphs = {
        "cond": [inside[0], inside[1], op("less", "Less", ("i:0", "n:0")), net_output(("less:0",))],
        "body": inside + [
            constant("one", np.array(1, np.int32)), op("next", "Add", ("i:0", "one:0")),
            op("mm", "MatMul", ("x:0", "w:0")), op("sum", "Add", ("mm:0", "x:0")),
            op("r", "Reshape", ("sum:0", "s:0")),
            net_output(("next:0", "n:0", "r:0", "w:0", "s:0"), range(5))]}
    model = save(tmp_path / "net.air", [
        data("i", (), "int32", index=0), data("n", (), "int32", index=1),
        data("x", (2, 4), index=2), constant("w", SQUARE), constant("s", np.array([2, 4], np.int32)),
        op("loop", type, ("i:0", "n:0", "x:0", "w:0", "s:0"), graphs=list(graphs)),
        op("y", "Relu", ("loop:2",)), net_output(("y:0", "loop:0"))], graphs=graphs)
    x = draw((2, 4), 5)
    for rounds in (0, 1, 3):
        got = compute(tmp_path, model, {"i": scalar(0), "n": scalar(rounds), "x": x}, target=target)
        want = x
        for _ in range(rounds):
            want = want @ SQUARE + want
        near = {"rtol": 0, "atol": 1e-5 if "cpu" in target else 2e-2}
        np.testing.assert_allclose(got["y_0"], np.maximum(want, 0), **near)
        assert got["loop_0"] == rounds


def test_a_loop_whose_tensor_grows(tmp_path):
    """Each round appends a row; the dims become of any size, those of other operators as well."""
    graphs = {
        "cond": [data("i"), data("x"), constant("n", np.array(3, np.int32)),
                 op("less", "Less", ("i:0", "n:0")), net_output(("less:0",))],
        "body": [data("i"), data("x"), constant("one", np.array(1, np.int32)),
                 constant("row", np.ones((1, 2), np.float32)), op("next", "Add", ("i:0", "one:0")),
                 op("twice", "Add", ("x:0", "x:0")),
                 op("cat", "ConcatD", ("twice:0", "row:0"), concat_dim=0, N=2),
                 net_output(("next:0", "cat:0"))]}
    model = save(tmp_path / "net.air", [
        data("x", (1, 2)), constant("zero", np.array(0, np.int32)),
        op("loop", "While", ("zero:0", "x:0"), graphs=list(graphs)),
        op("y", "Neg", ("loop:1",)), net_output(("y:0",))], graphs=graphs)
    x = draw((1, 2))
    got = compute(tmp_path, model, {"x": x})["y_0"]
    np.testing.assert_array_equal(got, -np.concatenate([8 * x, [[4, 4], [2, 2], [1, 1]]]))


@pytest.mark.parametrize("start,limit,delta", [(0, 4, 1), (1, 8, 3), (5, 0, -2), (3, 3, 1), (4, 0, 1)])
def test_for(tmp_path, start, limit, delta):
    graphs = {"body": [data("i", index=0), data("x", index=1), op("f", "Cast", ("i:0",), dst_type=0),
                       op("sum", "Add", ("x:0", "f:0")), op("r", "Muls", ("sum:0",), value=2.0),
                       net_output(("r:0",))]}
    model = save(tmp_path / "net.air", [
        *(data(n, (), "int32", index=i) for i, n in enumerate(("start", "limit", "delta"))),
        data("x", (3,), index=3),
        op("for", "For", ("start:0", "limit:0", "delta:0", "x:0"), graphs=["body"]),
        net_output(("for:0",))], graphs=graphs)
    x = want = draw((3,))
    for i in range(start, limit, delta):
        want = (want + np.float32(i)) * 2
    got = compute(tmp_path, model, {"start": scalar(start), "limit": scalar(limit),
                                    "delta": scalar(delta), "x": x})["for_0"]
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_calls_inside_each_other(tmp_path):
    """Names of operators are those of their graph only; a graph is called twice, once in a branch."""
    graphs = {"twice": [data("x"), op("y", "Add", ("x:0", "x:0")), net_output(("y:0",))],
              "then": [data("x"), op("y", "PartitionedCall", ("x:0",), graphs=["twice"]),
                       net_output(("y:0",))],
              "else": [data("x"), op("y", "Neg", ("x:0",)), net_output(("y:0",))]}
    model = save(tmp_path / "net.air", [
        data("c", (), "bool", index=0), data("x", (3,), index=1),
        op("y", "PartitionedCall", ("x:0",), graphs=["twice"]),
        op("z", "If", ("c:0", "y:0"), graphs=["then", "else"]), net_output(("z:0", "y:0"))],
        graphs=graphs)
    x = draw((3,))
    for taken in (True, False):
        got = compute(tmp_path, model, {"c": scalar(taken, bool), "x": x})
        np.testing.assert_array_equal(got["z_0"], 4 * x if taken else -2 * x)
        np.testing.assert_array_equal(got["y_0"], 2 * x)


def test_errors_of_control_flow(tmp_path):
    same = [data("a"), net_output(("a:0",))]
    neg = [data("a"), op("r", "Neg", ("a:0",)), net_output(("r:0",))]

    def refused(graphs, *words, type="If", inputs=("c:0", "x:0"), names=("then", "else")):
        model = save(tmp_path / "net.air", [
            data("c", (), "bool", index=0), data("x", (2, 3), index=1),
            op("if", type, inputs, graphs=names), net_output(("if:0",))], graphs=graphs)
        code, out, err = atc(tmp_path, model)
        assert code == 1
        for word in ("operator 'if", *words):
            assert word in out + err, out + err
    refused({"then": same}, "E12013", "'else'")
    refused({"then": same, "else": same}, "E14001", "names 1 graphs", names=("then",))
    refused({"then": same, "else": [data("a"), net_output(("a:0", "a:0"))]}, "E14001", "1 and 2 outputs")
    refused({"then": same, "else": [data("a"), op("r", "Cast", ("a:0",), dst_type=3),
                                    net_output(("r:0",))]},
            "E14001", "FLOAT[2,3] in one branch and INT32[2,3]")
    refused({"then": same, "else": [data("a", index=1), *neg[1:]]}, "E14001", "if/else_branch/a")
    refused({"then": same, "else": [data("a"), op("r", "Reshape", ("a:0", "a:0")), neg[2]]},
            "E14001", "'if/else_branch/r'")
    refused({"then": [data("a"), op("b", "If", ("a:0", "a:0"), graphs=("then", "else")),
                      net_output(("b:0",))], "else": same}, "E16004", "nested deeper than 60")
    refused({"then": same, "else": same}, "E14001", "1 tensors, expected the 2", type="While")
    refused({"then": same, "else": [data("a"), data("b", index=1), op("r", "Cast", ("b:0",), dst_type=3),
                                   net_output(("a:0", "r:0"))]},
            "E14001", "before its body and INT32[2,3] behind it", type="While")
    refused({"then": [data("a"), data("b", index=1), net_output(("a:0", "b:0"))],
             "else": [data("a"), data("b", index=1), net_output(("a:0", "b:0"))]},
            "E14001", "makes 2 tensors, expected 1", type="While")
    refused({"then": same}, "E14001", "three tensors of INT32", type="For")
    refused({}, "E14001", "BOOL[], expected INT32", type="Case")
    # Operators without an importer are listed together, those inside graphs as well.
    model = save(tmp_path / "net.air", [
        data("c", (), "bool", index=0), data("x", (2,), index=1), op("u", "Frob", ("x:0",)),
        op("if", "If", ("c:0", "x:0"), graphs=("then", "else")), net_output(("if:0", "u:0"))],
        graphs={"then": same, "else": [data("a"), op("r", "Frob", ("a:0",)), neg[2]]})
    code, out, err = atc(tmp_path, model)
    assert code == 1 and "E13010" in out and "Frob x2 (u, if/else_branch/r)" in out, out
