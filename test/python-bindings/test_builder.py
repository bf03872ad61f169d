# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.builder, Graph, Value: models of numpy arrays and ONNX operators."""

import numpy as np
import pytest

import openatc
from openatc import builder


def linear(generator):
    graph = builder.Graph("linear")
    x = graph.input("x", "float32", ["batch", 8])
    weights = generator.standard_normal((8, 4)).astype("f4")
    bias = graph.constant(np.arange(4, dtype="f4"), "bias")
    assert isinstance(bias, builder.Value) and bias.name == "bias" and bias.dtype == "float32"
    assert x.graph is graph and graph.name == "linear" and "linear" in repr(graph)
    graph.output("scores", graph.op("Softmax", x @ weights + bias, axis=-1))
    return graph, weights


def test_dynamic_batch():
    assert openatc.builder is builder
    graph, weights = linear(np.random.default_rng(1))
    model = openatc.compile(graph)
    assert model.name == "linear" and model.inputs["x"].dtype == "f32"
    session = openatc.Session(model)
    for rows in (1, 3):
        x = np.random.default_rng(rows).standard_normal((rows, 8)).astype("f4")
        e = np.exp(x @ weights + np.arange(4, dtype="f4"))
        np.testing.assert_allclose(session(x), e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_operators_of_values():
    graph = builder.Graph()
    x = graph.input("x", np.float64, [3])
    y = (2 * x - 1) / (x + 3) ** 2 + (1 - (-x)) * [0.5, 1, 2] + 4 / (x + 10) - (5 + x)
    graph.output("y", np.eye(3) @ (y @ np.eye(3)))
    x = np.array([1.0, 2.5, -1.0])
    right = (2 * x - 1) / (x + 3) ** 2 + (1 + x) * [0.5, 1, 2] + 4 / (x + 10) - (5 + x)
    np.testing.assert_allclose(openatc.interpret(graph, [x])[0], right, rtol=1e-12)


def test_several_outputs_attributes_and_domains():
    graph = builder.Graph(opset=18, domains={"ai.onnx.ml": 3})
    x = graph.input("x", "f32", [2, 6])
    left, right = graph.op("Split", x, np.array([2, 4]), outputs=2, axis=1, name="parts")
    gelu = graph.op("Gelu", left, domain="com.microsoft")
    graph.output("left", graph.op("Clip", gelu, None, 1.0), "f32", [2, 2])
    graph.output("right", graph.op("Cast", graph.op("Transpose", right, perm=[1, 0]), to=np.int64))
    graph.output("scaled", graph.op("Scaler", x, domain="ai.onnx.ml", offset=[0.5], scale=[2.0]))
    model = openatc.compile(graph)
    x = np.random.default_rng(0).standard_normal((2, 6)).astype("f4") * 3
    left, right, scaled = openatc.Session(model)(x)
    from math import erf
    gelu = [[v * (1 + erf(v / 2 ** .5)) / 2 for v in row[:2]] for row in x]
    np.testing.assert_allclose(left, np.minimum(gelu, 1), atol=1e-5)
    np.testing.assert_array_equal(right, x[:, 2:].T.astype("i8"))
    np.testing.assert_allclose(scaled, (x - 0.5) * 2, atol=1e-6)


def test_subgraphs():
    """A condition whose branches use a value of the graph around them."""
    graph = builder.Graph()
    x = graph.input("x", "f32", [3])
    positive = graph.input("positive", "bool", [])
    branches = []
    for kind in ("Relu", "Neg"):
        branch = graph.subgraph(kind)
        branch.output(f"of_{kind}", branch.op(kind, x), "f32", [3])
        branches.append(branch)
    graph.output("y", graph.op("If", positive, then_branch=branches[0], else_branch=branches[1]))
    session = openatc.Session(openatc.compile(graph))
    x = np.array([-1, 0, 2], "f4")
    np.testing.assert_array_equal(session(x, np.array(True)), [0, 0, 2])
    np.testing.assert_array_equal(session(x, np.array(False)), -x)
    with pytest.raises(ValueError, match="no model of its own"):
        branches[0].to_onnx()
    with pytest.raises(ValueError, match="another one"):
        builder.Graph().op("If", True, then_branch=branches[0])


@pytest.mark.parametrize("dtype", ["u8", "i8", "u16", "i16", "i32", "i64", "bool", "f16", "f64",
                                   "u32", "u64"])
def test_types(dtype):
    graph = builder.Graph()
    values = graph.constant([[0, 1], [1, 0]], dtype=dtype)
    graph.output("y", graph.op("Concat", graph.input("x", dtype, [2, 2]), values, axis=0))
    model = openatc.compile(graph)
    port, = model.outputs
    assert port.dtype == dtype and port.numpy_dtype.name == values.dtype
    x = np.ones((2, 2), port.numpy_dtype)
    result = openatc.Session(model)(x)
    np.testing.assert_array_equal(result, np.concatenate([x, np.array([[0, 1], [1, 0]])]))


def test_bf16_and_strings():
    graph = builder.Graph()
    graph.output("y", graph.constant(np.array([0x3f80, 0xc000], "u2"), dtype="bf16")
                 + graph.input("x", "bf16", [2]))
    y = openatc.Session(openatc.compile(graph))(np.array([0x3f80, 0x3f80], "u2"))
    assert y.tolist() == [0x4000, 0xbf80]  # 2 and -1
    graph = builder.Graph()
    x = graph.input("x", "string", [2])
    graph.output("same", graph.op("Equal", x, graph.constant(np.array(["a", "\u00e4"]))))
    assert openatc.Session(openatc.compile(graph))(np.array(["a", "b"], "O")).tolist() == \
        [True, False]


def test_same_graph_same_bytes(tmp_path):
    first, second = (linear(np.random.default_rng(5))[0] for _ in range(2))
    assert first.to_onnx() == second.to_onnx()
    first.save(tmp_path / "linear.onnx")
    assert str(openatc.load(tmp_path / "linear.onnx")) == str(openatc.load(second))


def test_onnx_accepts_it():
    onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
    model = onnx.load_from_string(linear(np.random.default_rng(2))[0].to_onnx())
    assert [port.name for port in model.graph.input] == ["x"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert [node.op_type for node in model.graph.node] == ["MatMul", "Add", "Softmax", "Identity"]
    assert model.graph.node[2].attribute[0].i == -1


def test_quantize_takes_a_graph():
    graph, _ = linear(np.random.default_rng(2))
    x = np.random.default_rng(3).standard_normal((4, 8)).astype("f4")
    quantized = openatc.quantize(graph, [x], input_shapes={"x": (4, 8)})
    assert "i8" in str(quantized.module)


def test_errors():
    graph = builder.Graph()
    x = graph.input("x")
    for wrong, kind, text in (
            (lambda: graph.input("x"), ValueError, "the name 'x' already"),
            (lambda: graph.input(""), ValueError, "needs a name"),
            (lambda: graph.input("y", "f31"), TypeError, "f31"),
            (lambda: graph.input("y", "M8[s]"), TypeError, "no tensor"),
            (lambda: graph.constant([1.5], dtype="bf16"), TypeError, "bits"),
            (lambda: graph.op("Relu", builder.Graph().input("x")), ValueError, "another graph"),
            (lambda: graph.op("Relu", x, outputs=0), ValueError, "at least 1"),
            (lambda: graph.op("Relu", x, alpha={}), TypeError, "attribute"),
            (lambda: graph.op("Relu", x, alpha=object()), TypeError, "'alpha'"),
            (graph.to_onnx, ValueError, "no output")):
        with pytest.raises(kind, match=text):
            wrong()
    graph.output("y", graph.op("NoSuchOperator", x))
    with pytest.raises(openatc.Error) as raised:
        openatc.compile(graph)
    assert raised.value.code == "E16002" and "NoSuchOperator" in str(raised.value)
    with pytest.raises(TypeError, match="args"):
        openatc.load(graph, args=(1,))
