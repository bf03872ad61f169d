"""Models with a dynamic batch: static tiles in a loop give what the static model gives, at every
size, and models along whose dim nothing can be tiled are still right."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T, helper as H, numpy_helper as NH  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_npu import build  # noqa: E402
from openatc_runtime import Npu, Session  # noqa: E402
from openatc_tools import RUNTIME, call, compile_model, tool  # noqa: E402

SIZES = (1, 3, 8, 41, 0)


class Net:
    """A small graph builder; weights are seeded."""

    def __init__(self, opset=17):
        self.rng, self.opset = np.random.default_rng(7), opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, dtype=T.FLOAT):
        self.inputs.append(H.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, shape, dtype=T.FLOAT):
        self.outputs.append(H.make_tensor_value_info(name, dtype, shape))

    def weight(self, *shape):
        return self.constant((self.rng.standard_normal(shape) / max(1, shape[-1]) ** 0.5)
                             .astype(np.float32))

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights.append(NH.from_array(np.array(value), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def op(self, kind, *inputs, count=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(H.make_node(kind, list(inputs), names, name=f"n{len(self.nodes)}",
                                      **attributes))
        return names[0] if count == 1 else names

    def save(self, path):
        graph = H.make_graph(self.nodes, "net", self.inputs, self.outputs, self.weights)
        model = H.make_model(graph, opset_imports=[H.make_opsetid("", self.opset)])
        model.ir_version = 8
        onnx.save(model, str(path))
        return path


def cnn():
    net = Net()
    x = net.input("x", ["N", 3, 16, 16])
    y = net.op("Relu", net.op("Conv", x, net.weight(8, 3, 3, 3), net.weight(8), pads=[1] * 4))
    y = net.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = net.op("Add", y, net.op("Conv", y, net.weight(8, 1, 3, 3), pads=[1] * 4, group=8))
    # The reshape of old exporters: the batch from Shape, the rest computed.
    batch = net.op("Gather", net.op("Shape", y), net.constant(np.int64(0)), axis=0)
    shape = net.op("Concat", net.op("Unsqueeze", batch, net.ints(0)), net.ints(-1), axis=0)
    y = net.op("Reshape", y, shape)
    y = net.op("Gemm", y, net.weight(10, 512), net.weight(10), transB=1)
    net.output(net.op("Softmax", y), ["N", 10])
    return net


def mlp():
    """Few rows for many weights, so that larger tiles are used."""
    net = Net()
    x = net.input("x", ["N", 50])
    y = net.op("Relu", net.op("MatMul", x, net.weight(50, 64)))
    # A row that is repeated for the batch.
    batch = net.op("Slice", net.op("Shape", x), net.ints(0), net.ints(1))
    row = net.op("Tile", net.weight(1, 64), net.op("Concat", batch, net.ints(1), axis=0))
    y = net.op("Add", y, row)
    net.output(net.op("MatMul", y, net.weight(64, 5)), ["N", 5])
    net.output(net.op("ReduceMean", y, axes=[1], keepdims=0), ["N"])
    net.output(net.op("Reshape", y, net.ints(1, -1)), [1, "all"])
    return net


def attention():
    """Token ids with a class token that is expanded to the batch as PyTorch writes it, heads that
    are merged with the batch, and a second input."""
    net = Net()
    ids = net.input("ids", ["batch", 6], T.INT64)
    mask = net.input("mask", ["batch", 7])
    x = net.op("Gather", net.weight(30, 16), ids, axis=0)
    batch = net.op("Unsqueeze", net.op("Gather", net.op("Shape", x), net.constant(np.int64(0)),
                                       axis=0), net.ints(0))
    wanted = net.op("Concat", batch, net.ints(-1), net.ints(-1), axis=0)
    ones = net.op("ConstantOfShape", net.ints(3),
                  value=NH.from_array(np.array([1], np.int64)))
    unknown = net.op("Equal", wanted, net.op("Mul", ones, net.constant(np.int64(-1))))
    token = net.op("Expand", net.weight(1, 1, 16), net.op("Where", unknown, ones, wanted))
    x = net.op("Concat", token, x, axis=1)
    x = net.op("LayerNormalization", x, net.weight(16), net.weight(16), axis=-1)

    def heads(y):
        y = net.op("Reshape", y, net.ints(0, 7, 4, 4))
        y = net.op("Transpose", y, perm=[0, 2, 1, 3])
        return net.op("Reshape", y, net.ints(-1, 7, 4))

    q, k, v = (heads(net.op("MatMul", x, net.weight(16, 16))) for _ in range(3))
    s = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 2, 1]))
    s = net.op("Reshape", s, net.ints(-1, 4, 7, 7))
    s = net.op("Add", s, net.op("Unsqueeze", mask, net.ints(1, 2)))
    s = net.op("Reshape", net.op("Softmax", s, axis=-1), net.ints(-1, 7, 7))
    y = net.op("Reshape", net.op("MatMul", s, v), net.ints(-1, 4, 7, 4))
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.ints(0, 7, 16))
    net.output(y, ["batch", 7, 16])
    # The batch in the middle, and one that is four times the batch.
    net.output(net.op("Transpose", y, perm=[1, 0, 2]), [7, "batch", 16])
    net.output(s, ["heads", 7, 7])
    return net


def quantized():
    net = Net(13)
    x = net.input("x", ["N", 4, 8, 8])

    def qdq(y, scale):
        q = net.op("QuantizeLinear", y, net.constant(np.float32(scale)), net.constant(np.int8(0)))
        return net.op("DequantizeLinear", q, net.constant(np.float32(scale)),
                      net.constant(np.int8(0)))

    w = net.op("DequantizeLinear",
               net.constant(net.rng.integers(-100, 100, (8, 4, 3, 3)).astype(np.int8)),
               net.constant(np.float32(0.01)), net.constant(np.int8(0)))
    y = net.op("Relu", net.op("Conv", qdq(x, 0.03), w, pads=[1] * 4))
    net.output(qdq(y, 0.1), ["N", 8, 8, 8])
    return net


def resized():
    """Sizes for Resize that are put together from Shape."""
    net = Net()
    x = net.input("x", ["N", 2, 5, 7])
    sizes = net.op("Concat", net.op("Slice", net.op("Shape", x), net.ints(0), net.ints(2)),
                   net.ints(10, 14), axis=0)
    y = net.op("Resize", x, "", "", sizes, mode="nearest")
    a, b = net.op("Split", y, net.ints(4, 6), axis=2, count=2)
    net.output(net.op("Concat", net.op("Slice", a, net.ints(0, 1), net.ints(2**63 - 1, 4),
                                       net.ints(0, 2)), b, axis=2), ["N", 2, 9, 14])
    return net


def positions(net, x):
    """0, 1, ... along the batch of `x`, and the batch itself."""
    batch = net.op("Squeeze", net.op("Shape", x, end=1))
    return net.op("Range", net.constant(np.int64(0)), batch, net.constant(np.int64(1))), batch


def indexed():
    """What PyTorch exports with indices along the batch: as_strided of pooled images, the mask of
    tokens that transformers read by pairs of indices, a query that is repeated, and one that is
    expanded by sizes of which those that are -1 become 1."""
    net = Net(21)
    x, mask = net.input("x", ["N", 8, 3, 3]), net.input("mask", ["N", 5], T.INT64)
    row, batch = positions(net, x)
    flat = net.op("Reshape", net.op("ReduceMean", x, net.ints(2, 3), keepdims=1), net.ints(-1))
    at = net.op("Unsqueeze", net.op("Mul", row, net.constant(np.int64(8))), net.ints(1, 2, 3))
    at = net.op("Add", at, net.constant(np.arange(8).reshape(1, 8, 1, 1)))
    y = net.op("Reshape", net.op("Gather", flat, at, axis=0), net.ints(-1, 8))

    rows = net.op("Unsqueeze", row, net.ints(1, 2, 3))
    columns = net.constant(np.array([3, 1, 0]).reshape(1, 1, 1, 3))
    shape = net.op("Shape", net.op("Max", rows, columns))
    pairs = net.op("Concat", *(net.op("Unsqueeze", net.op("Expand", part, shape), net.ints(-1))
                               for part in (rows, columns)), axis=-1)
    seen = net.op("Cast", net.op("GatherND", mask, pairs), to=T.FLOAT)

    one = net.ints(1)
    query = net.op("Tile", net.weight(1, 2, 8),
                   net.op("Concat", net.op("Unsqueeze", batch, net.ints(0)), one, one, axis=0))
    y = net.op("Add", query, net.op("Unsqueeze", y, net.ints(1)))
    sizes = net.op("Reshape", net.op("Concat", net.op("Unsqueeze", batch, net.ints(0)),
                                     net.ints(2, -1), axis=0), net.ints(-1))
    ones = net.op("ConstantOfShape", net.op("Shape", sizes),
                  value=NH.from_array(np.ones(1, np.int64)))
    kept = net.op("Equal", sizes, net.op("Mul", ones, net.constant(np.int64(-1))))
    y = net.op("Add", y, net.op("Expand", net.weight(1, 1, 8),
                                net.op("Where", kept, ones, sizes)))
    net.output(net.op("MatMul", y, net.weight(8, 4)), ["N", 2, 4])
    net.output(seen, ["N", 1, 1, 3])
    return net


def called():
    """Operators that have only host kernels where sizes are not known: routers of experts, samples
    of images, and the attention and rotation of the newest exporters."""
    net = Net(23)
    x, grid = net.input("x", ["N", 2, 48, 8]), net.input("grid", ["N", 6, 1, 2])
    mask = net.input("mask", ["N", 1, 48, 48])
    angle = np.random.default_rng(3).standard_normal((1, 48, 4)).astype(np.float32)
    turned = net.op("RotaryEmbedding", x, net.constant(np.cos(angle)), net.constant(np.sin(angle)))
    y = net.op("Attention", turned, x, x, mask)
    w = net.weight(16, 256)
    y = net.op("MatMul", net.op("Reshape", y, net.ints(-1, 48, 16)), w)
    y = net.op("MatMul", net.op("Relu", y), net.weight(256, 16))
    y = net.op("GridSample", net.op("Reshape", y, net.ints(-1, 4, 12, 16)), grid,
               padding_mode="border")
    best, at = net.op("TopK", y, net.ints(2), axis=1, count=2)
    net.output(best, ["N", 2, 6, 1])
    net.output(at, ["N", 2, 6, 1], T.INT64)
    return net


TILED = {"cnn": cnn, "called": called, "mlp": mlp, "attention": attention, "quantized": quantized,
         "resized": resized, "indexed": indexed}


def bad(build, *extra):
    """A model of one input x[N, 4]; `build` returns its output."""
    net = Net(*extra)
    net.output(build(net, net.input("x", ["N", 4])), None)
    return net


def size_of(net, x):
    return net.op("Gather", net.op("Shape", x), net.constant(np.int64(0)), axis=0)


MIXED = {
    "mean over the batch": lambda: bad(lambda n, x: n.op(
        "Sub", x, n.op("ReduceMean", x, axes=[0], keepdims=1))),
    "sum of positions": lambda: bad(lambda n, x: n.op("Add", x, n.op(
        "Unsqueeze", n.op("Cast", n.op("Range", n.constant(np.int64(0)), size_of(n, x),
                                       n.constant(np.int64(1))), to=T.FLOAT), n.ints(1)))),
    "the first rows again": lambda: bad(lambda n, x: n.op("Gather", x, n.op(
        "Min", positions(n, x)[0], n.constant(np.int64(2)))), 21),
    "far positions": lambda: bad(lambda n, x: n.op("Where", n.op("Unsqueeze", n.op(
        "Less", positions(n, x)[0], n.constant(np.int64(20000))), n.ints(1)), x,
        n.op("Neg", x)), 21),
    "the first half": lambda: bad(lambda n, x: n.op("Gather", n.op("Reshape", x, n.ints(-1)), n.op(
        "Add", n.op("Unsqueeze", n.op("Mul", positions(n, x)[0], n.constant(np.int64(2))),
                    n.ints(1)), n.constant(np.arange(2)[None]))), 21),
    "at most 5": lambda: bad(lambda n, x: n.op("Mul", x, n.op("Cast", n.op(
        "Min", size_of(n, x), n.constant(np.int64(5))), to=T.FLOAT))),
    "the batch as a factor": lambda: bad(lambda n, x: n.op("Mul", x, n.op(
        "Cast", size_of(n, x), to=T.FLOAT))),
    "the first 7": lambda: bad(lambda n, x: n.op("Slice", x, n.ints(0), n.ints(7), n.ints(0))),
    "the first 100000": lambda: bad(lambda n, x: n.op("Slice", x, n.ints(0), n.ints(100000),
                                                      n.ints(0))),
    "squeeze": lambda: bad(lambda n, x: n.op("Squeeze", n.op("Unsqueeze", x, n.ints(1)))),
    "compared": lambda: bad(lambda n, x: n.op("Where", n.op(
        "Equal", size_of(n, x), n.constant(np.int64(3))), x, n.op("Neg", x))),
    "sort": lambda: bad(lambda n, x: n.op("TopK", x, n.ints(1), axis=0, count=2)[0]),
    "reversed": lambda: bad(lambda n, x: n.op("Slice", x, n.ints(-1), n.ints(-2**62), n.ints(0),
                                              n.ints(-1))),
    "a constant shape": lambda: bad(lambda n, x: n.op("Add", n.op("Reshape", x, n.ints(1, -1)),
                                                      n.op("ReduceSum", x, keepdims=1))),
    # The padding is dead behind its shape, which is no multiple of the batch.
    "the size of a padding": lambda: bad(lambda n, x: n.op("Mul", x, n.op("Cast", size_of(
        n, n.op("Neg", n.op("Pad", x, n.ints(1, 0, 1, 0)))), to=T.FLOAT))),
    "the size as a byte": lambda: bad(lambda n, x: n.op("Mul", x, n.op("Cast", n.op(
        "Cast", size_of(n, x), to=T.UINT8), to=T.FLOAT))),
    "gram": lambda: bad(lambda n, x: n.op("MatMul", x, n.op("Transpose", x, perm=[1, 0]))),
}


def feed_of(net, size, seed=1):
    rng = np.random.default_rng(seed)
    feed = {}
    for info in net.inputs:
        dims = [dim.dim_value if dim.HasField("dim_value") else size
                for dim in info.type.tensor_type.shape.dim]
        feed[info.name] = (rng.integers(0, 30, dims) if info.type.tensor_type.elem_type == T.INT64
                           else rng.standard_normal(dims).astype(np.float32))
    return feed


def shapes_of(feed):
    return "--input_shape=" + ";".join(
        f"{name}:{','.join(map(str, value.shape))}" for name, value in feed.items())


def has_tiles(om):
    code, out, err = call(tool("om-dump"), om)
    assert code == 0, err
    return " = tiles(" in out


def assert_close(got, want):
    assert list(got) == list(want)
    for name, value in want.items():
        assert got[name].shape == value.shape
        spread = float(np.ptp(value)) if value.size else 0.0
        assert value.size == 0 or np.abs(got[name] - value).max() <= 1e-5 * (spread or 1)


def check_sizes(net, folder, tiled, sizes, *flags):
    model = net.save(folder / "net.onnx")
    om = compile_model(model, folder, *flags)
    assert has_tiles(om) == tiled
    dynamic = Session(RUNTIME, om, threads=2)
    for size in sizes:
        feed = feed_of(net, size)
        got = dynamic.run_values(feed)
        if size == 0:
            assert all(value.size == 0 for value in got.values())
            continue
        (folder / str(size)).mkdir()
        static = Session(RUNTIME, compile_model(model, folder / str(size), shapes_of(feed), *flags),
                         threads=2)
        assert_close(got, static.run_values(feed))
        static.close()
    dynamic.close()


@pytest.mark.parametrize("name", TILED)
def test_tiles_give_what_the_static_model_gives(name, tmp_path):
    check_sizes(TILED[name](), tmp_path, True, SIZES)


@pytest.mark.parametrize("name", MIXED)
def test_models_that_mix_the_indices_stay_right(name, tmp_path):
    check_sizes(MIXED[name](), tmp_path, False, (1, 3, 8))


def test_inputs_that_share_the_dim_must_agree(tmp_path):
    net = attention()
    session = Session(RUNTIME, compile_model(net.save(tmp_path / "net.onnx"), tmp_path))
    feed = feed_of(net, 3) | {"mask": np.zeros((4, 7), np.float32)}
    with pytest.raises(RuntimeError, match="'mask' has 4 elements, but 3 were expected"):
        session.run_values(feed)
    assert session.run_values(feed_of(net, 2))
    session.close()


def test_dims_of_two_names_may_differ(tmp_path):
    """What has two dynamic dims is no loop over one: they may be 1 and broadcast."""
    net = Net()
    net.output(net.op("Add", net.input("a", ["N", 4]), net.input("b", ["M", 4])), None)
    om = compile_model(net.save(tmp_path / "net.onnx"), tmp_path)
    assert not has_tiles(om)
    session = Session(RUNTIME, om)
    a, b = np.ones((1, 4), np.float32), np.ones((5, 4), np.float32)
    (got,) = session.run_values({"a": a, "b": b}).values()
    assert (got == a + b).all()
    session.close()


def test_a_static_model_with_an_open_batch(tmp_path):
    """--input_shape makes the batch dynamic that the model states as 1."""
    net = Net()
    x = net.input("x", [1, 3, 8, 8])
    y = net.op("Relu", net.op("Conv", x, net.weight(4, 3, 3, 3)))
    net.output(net.op("Reshape", y, net.ints(1, 144)), [1, 144])
    model = net.save(tmp_path / "net.onnx")
    om = compile_model(model, tmp_path, "--input_shape=x:-1,3,8,8")
    assert has_tiles(om)
    session = Session(RUNTIME, om)
    feed = {"x": np.random.default_rng(0).standard_normal((5, 3, 8, 8)).astype(np.float32)}
    (tmp_path / "5").mkdir()
    static = Session(RUNTIME, compile_model(model, tmp_path / "5", "--input_shape=x:5,3,8,8"))
    assert_close(session.run_values(feed), static.run_values(feed))
    session.close()
    static.close()


def encoder(opset):
    """A transformer layer whose batch and sequence are dynamic, with the norms and GELU as
    exporters of the opset write them."""
    net, width, heads = Net(opset), 64, 4
    x = net.input("x", ["batch", "sequence", width])
    mask = net.input("mask", ["batch", 1, 1, "sequence"])

    def norm(y):
        scale, bias = net.weight(width), net.weight(width)
        if opset >= 17:
            return net.op("LayerNormalization", y, scale, bias, axis=-1)
        centered = net.op("Sub", y, net.op("ReduceMean", y, axes=[-1]))
        square = net.op("Pow", centered, net.constant(np.float32(2)))
        variance = net.op("ReduceMean", square, axes=[-1])
        deviation = net.op("Sqrt", net.op("Add", variance, net.constant(np.float32(1e-5))))
        return net.op("Add", net.op("Mul", net.op("Div", centered, deviation), scale), bias)

    def linear(y, rows, columns):
        return net.op("Add", net.op("MatMul", y, net.weight(rows, columns)), net.weight(columns))

    def gelu(y):
        erf = net.op("Erf", net.op("Div", y, net.constant(np.float32(2**0.5))))
        return net.op("Mul", net.op("Mul", y, net.op("Add", erf, net.constant(np.float32(1)))),
                      net.constant(np.float32(0.5)))

    def split(y, perm):
        return net.op("Transpose", net.op("Reshape", y, net.ints(0, 0, heads, -1)), perm=perm)

    for _ in range(2):
        y = norm(x)
        q, k, v = (split(linear(y, width, width), perm)
                   for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = net.op("Div", net.op("MatMul", q, k), net.constant(np.float32(4)))
        scores = net.op("Softmax", net.op("Add", scores, mask), axis=-1)
        y = net.op("Transpose", net.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        x = net.op("Add", x, linear(net.op("Reshape", y, net.ints(0, 0, width)), width, width))
        x = net.op("Add", x, linear(gelu(linear(norm(x), width, 96)), 96, width))
    net.output(norm(x), ["batch", "sequence", width])
    return net


@pytest.mark.parametrize("opset", [13, 17])
def test_rows_give_what_the_static_model_gives(opset, tmp_path):
    net = encoder(opset)
    model = net.save(tmp_path / "net.onnx")
    om = compile_model(model, tmp_path)
    code, out, err = call(tool("om-dump"), om)
    assert code == 0, err
    # Norm, projections, feed-forward: no product with weights is a host kernel any more.
    assert out.count(" = rows(") >= 4
    session = Session(RUNTIME, om, threads=2)
    rng = np.random.default_rng(5)
    for batch, sequence in ((1, 5), (2, 70), (1, 1)):
        feed = {"x": rng.standard_normal((batch, sequence, 64)).astype(np.float32),
                "mask": rng.standard_normal((batch, 1, 1, sequence)).astype(np.float32)}
        got = session.run_values(feed)
        folder = tmp_path / f"{batch}-{sequence}"
        folder.mkdir()
        static = Session(RUNTIME, compile_model(model, folder, shapes_of(feed)), threads=2)
        assert_close(got, static.run_values(feed))
        static.close()
    session.close()


@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
def test_tiles_run_on_an_npu(soc, tmp_path):
    net = cnn()
    om = build(net.save(tmp_path / "net.onnx"), tmp_path, soc)
    assert has_tiles(om)
    file = json.loads(call(tool("om-dump"), om, "--json")[1])
    assert len(file["npu_programs"]) >= 2
    npu = Npu()
    session = Session(RUNTIME, om, npu=npu)
    cpu = Session(RUNTIME, compile_model(net.save(tmp_path / "host.onnx"), tmp_path))
    for size in (2, 1, 0):
        feed = feed_of(net, size)
        got, want = session.run_values(feed), cpu.run_values(feed)
        for name, value in want.items():
            assert got[name].shape == value.shape
            # The NPU computes in float16.
            assert value.size == 0 or np.abs(got[name] - value).max() <= 1e-2 * np.ptp(value)
    session.close()
    cpu.close()


def test_a_remark_says_what_hinders_tiles(tmp_path):
    path = MIXED["at most 5"]().save(tmp_path / "m.onnx")
    status, out, _ = call(tool("atc"), f"--model={path}", "--framework=5", "--target=cpu",
                          f"--output={tmp_path / 'm'}", "--remarks=missed")
    assert status == 0 and "not tiled along dynamic dim 'N': node 'n2' (Min)" in out, out
    assert "computes with the size of a dynamic dim" in out, out


def test_the_pass_can_be_left_out(tmp_path):
    check_sizes(mlp(), tmp_path, False, (3, ), "--disable_passes=host-tile-dynamic-dim")


@pytest.mark.parametrize("shapes, code", [
    ("nobody:3,3,16,16", "E10016"), ("x:0,3,16,16", "E10011"), ("x:2,3,16", "E10049"),
    ("x:-1,3,16,16;x:-1,3,16,16", "E10002")])
def test_wrong_shapes_are_reported(shapes, code, tmp_path):
    path = cnn().save(tmp_path / "m.onnx")
    status, out, _ = call(tool("atc"), f"--model={path}", "--framework=5", "--target=cpu",
                          f"--output={tmp_path / 'm'}", f"--input_shape={shapes}")
    assert status == 1 and code in out, out
