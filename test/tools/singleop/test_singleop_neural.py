# Norms, layers, resizes and movements of elements of a .json file: results against NumPy on both
# targets, and mistakes. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest

from test_singleop import compile_, constant, op, run, tensor

RNG = np.random.default_rng(7)
A = RNG.standard_normal((4, 6)).astype(np.float32)
G, B = RNG.uniform(0.5, 1.5, (2, 6)).astype(np.float32)
X = RNG.standard_normal((2, 4, 5, 3)).astype(np.float32)  # NCHW
S, T, M, V = RNG.uniform(0.5, 1.5, (4, 4)).astype(np.float32)  # of its channels
W = RNG.standard_normal((4, 2, 3, 3)).astype(np.float32)  # of a transposed convolution


def channels(v):
    return v[:, None, None]


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def transposed_conv(x, w, stride, pad):
    n, _, h, v = x.shape
    out = np.zeros((n, w.shape[1], (h - 1) * stride + 3, (v - 1) * stride + 3), np.float32)
    for i in range(h):
        for j in range(v):
            out[:, :, i * stride:i * stride + 3, j * stride:j * stride + 3] += np.einsum(
                "nc,cohw->nohw", x[:, :, i, j], w)
    return out[:, :, pad:out.shape[2] - pad, pad:out.shape[3] - pad]


# operator, inputs, outputs, attributes, the format of the first input and output
CASES = [
    ("Muls", [A], [A * 2.5], {"value": 2.5}),
    ("Adds", [A], [A - 0.5], {"value": -0.5}),
    ("Power", [A], [(1.0 + 0.5 * A) ** 2], {"power": 2.0, "scale": 0.5, "shift": 1.0}),
    ("Axpy", [A, A[::-1]], [A + 3 * A[::-1]], {"alpha": 3.0}),
    ("Eltwise", [A, A * A, A + 1], [np.maximum(np.maximum(A, A * A), A + 1)], {"mode": 2, "N": 3}),
    ("Eltwise", [A, A * A], [2 * A - A * A / 2], {"mode": 1, "N": 2, "coeff": [2.0, -0.5]}),
    ("PRelu", [X, S], [np.where(X < 0, X * channels(S), X)], {}, "NCHW"),
    ("BNInfer", [X, S, T, M, V],
     [(X - channels(M)) / np.sqrt(channels(V) + 1e-4) * channels(S) + channels(T)],
     {"epsilon": 1e-4}, "NCHW"),
    ("BNInfer", [X.transpose(0, 2, 3, 1), S, T, M, V],
     [((X - channels(M)) / np.sqrt(channels(V) + 1e-3) * channels(S) + channels(T))
      .transpose(0, 2, 3, 1)], {"epsilon": 1e-3}, "NHWC"),
    ("BNInference", [X, M, V, np.float32([2]), S, T],
     [(X - channels(M) / 2) / np.sqrt(channels(V) / 2 + 1e-5) * channels(S) + channels(T)], {}, "NCHW"),
    ("LayerNorm", [A, G, B],
     [layer_norm(A) * G + B, A.mean(-1, keepdims=True), A.var(-1, keepdims=True)],
     {"begin_norm_axis": -1, "begin_params_axis": -1, "epsilon": 1e-5}),
    ("L2Normalize", [A], [A / np.sqrt((A * A).sum(1, keepdims=True))], {"axis": [1], "eps": 1e-4}),
    ("FullyConnection", [X, RNG.standard_normal((5, 60)).astype(np.float32)], None,
     {"num_output": 5, "transpose": False}, "NCHW"),
    ("Deconvolution", [X, W], [transposed_conv(X, W, 2, 1)],
     {"strides": [2, 2], "pads": [1, 1, 1, 1]}, "NCHW"),
    ("ResizeNearestNeighborV2D", [X], [X.repeat(2, 2).repeat(2, 3)], {"size": [10, 6]}, "NCHW"),
    ("SplitD", [A], [A[:, :3], A[:, 3:]], {"split_dim": 1, "num_split": 2}),
    ("SplitVD", [A], [A[:1], A[1:]], {"size_splits": [1, 3], "split_dim": 0, "num_split": 2}),
    ("Unpack", [A], [A[0], A[1], A[2], A[3]], {"num": 4, "axis": 0}),
    ("Pack", [A, -A], [np.stack([A, -A], 1)], {"axis": 1, "N": 2}),
    ("StridedSliceD", [A], [A[1:3, 0:6:2]], {"begin": [1, 0], "end": [3, 6], "strides": [1, 2]}),
    ("StridedSliceD", [A], [A[0:4:1, 5:2:-1]], {"begin": [0, 5], "end": [2**63 - 1, 2], "strides": [1, -1]}),
    ("BroadcastToD", [A[:1]], [np.broadcast_to(A[:1], (3, 6))], {"shape": [3, 6]}),
    ("CumsumD", [A], [A.cumsum(1)], {"axis": 1}),
    ("TopK", [A], [np.sort(A, 1)[:, ::-1][:, :2], np.argsort(-A, 1)[:, :2].astype(np.int32)],
     {"k": 2, "dim": -1, "sorted": True}),
    ("ArgMaxD", [A[0]], [np.int32([A[0].argmax()])], {"dimension": 0}),
]


def wanted(case):
    type, inputs, outputs, *_ = case
    if type == "FullyConnection":
        return [inputs[0].reshape(2, 60) @ inputs[1].T]
    return outputs


@pytest.fixture(scope="module", params=["--soc_version=Ascend310P3", "--target=cpu"])
def folder(request, tmp_path_factory):
    """All cases compiled for a target."""
    path = tmp_path_factory.mktemp("ops")
    ops = []
    for i, case in enumerate(CASES):
        type, inputs, _, attributes, *format = case
        types = {np.dtype(np.int32): "int32", np.dtype(np.float32): "float"}
        formats = [*format, *["ND"] * 9] if format else ["ND"] * 9
        if type == "Deconvolution":
            formats[1] = "NCHW"
        outputs = [tensor(y.shape, types[y.dtype], format[0] if format and y.ndim == 4 else "ND")
                   for y in wanted(case)]
        ops.append(op(type, [tensor(x.shape, "float", f) for x, f in zip(inputs, formats)], outputs,
                      name=f"case{i}", **attributes))
    compile_(path, ops, request.param)
    return path, 1e-4 if "cpu" in request.param else 2e-2


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i][0]}")
def test_results(folder, index):
    path, tolerance = folder
    run(path, f"case{index}", *(np.ascontiguousarray(x) for x in CASES[index][1]))
    for i, want in enumerate(wanted(CASES[index])):
        got = np.load(path / "results" / f"y{i}.npy")
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_indices(tmp_path):
    rows = np.int32([[2], [0]])
    updates = np.ones((2, 6), np.float32)
    scatter = op("ScatterNdAdd", [tensor(A.shape, "float"), tensor(rows.shape, "int32"),
                                  tensor(updates.shape, "float")], [tensor(A.shape, "float")], name="scatter")
    gather = op("GatherNd", [tensor(A.shape, "float"), tensor(rows.shape, "int32")],
                [tensor([2, 6], "float")], name="gather")
    one_hot = op("OneHotD", [tensor([2, 1], "int32"), tensor([1], "float"), tensor([1], "float")],
                 [tensor([2, 1, 4], "float")], name="hot", depth=4, axis=-1)
    pads = op("PadV3", [tensor(A.shape, "float"), constant([1, 0, 2, 3])], [tensor([7, 9], "float")], name="pads",
              paddings_contiguous=False)
    turn = op("Transpose", [tensor(A.shape, "float"), constant([1, 0])], [tensor([6, 4], "float")], name="turn")
    compile_(tmp_path, [scatter, gather, one_hot, pads, turn])
    want = A.copy()
    want[[2, 0]] += 1
    np.testing.assert_allclose(run(tmp_path, "scatter", A, rows, updates), want, atol=2e-3, rtol=2e-3)
    np.testing.assert_allclose(run(tmp_path, "gather", A, rows), A[[2, 0]], atol=2e-3, rtol=2e-3)
    hot = run(tmp_path, "hot", rows, np.float32([5]), np.float32([-1]))
    assert np.array_equal(hot, np.where(np.arange(4) == rows[:, :, None], 5, -1))
    # The numbers in front of all dims come first.
    np.testing.assert_allclose(run(tmp_path, "pads", A), np.pad(A, ((1, 2), (0, 3))), atol=2e-3, rtol=2e-3)
    np.testing.assert_allclose(run(tmp_path, "turn", A), A.T, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("target", ["--soc_version=Ascend310P3", "--target=cpu"])
def test_quantized_operators(tmp_path, target):
    """Layers of int8 have accumulators, whose scales AscendDequant reads as bits of an uint64."""
    rng = np.random.default_rng(9)
    image = rng.integers(-128, 128, (1, 4, 5, 6)).astype(np.int8)
    filters = rng.integers(-128, 128, (3, 4, 3, 3)).astype(np.int8)
    bias = rng.integers(-1000, 1000, 3).astype(np.int32)
    left, right = rng.integers(-128, 128, (2, 6, 6)).astype(np.int8)
    scales = np.float32([1e-3, 2e-3, 5e-4])
    shape, sums = [1, 4, 5, 6], [1, 3, 5, 6]
    settings = {"strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1]}
    packed = constant(scales.view(np.uint32).tolist(), "uint64")
    ops = [
        op("Conv2D", [tensor(shape, "int8", "NCHW"), tensor(filters.shape, "int8", "NCHW"),
                      tensor([3], "int32")], [tensor(sums, "int32", "NCHW")], name="conv",
           offset_x=7, **settings),
        op("Conv2D", [tensor(shape, "int8", "NCHW"), tensor(filters.shape, "int8", "NCHW")],
           [tensor(sums, "int32", "NCHW")], name="plain", **settings),
        op("MatMulV2", [tensor([6, 6], "int8")] * 2, [tensor([6, 6], "int32")], name="product",
           transpose_x2=True),
        op("AscendDequant", [tensor(sums, "int32", "NCHW"), packed],
           [tensor(sums, "float", "NCHW")], name="dequant", relu_flag=True),
        op("AscendQuant", [tensor([4, 6], "float")], [tensor([4, 6], "int8")], name="quant",
           scale=40.0, offset=-5.0),
        op("AscendAntiQuant", [tensor([6, 6], "int8")], [tensor([6, 6], "float16")], name="anti",
           scale=0.25, offset=5.0)]
    compile_(tmp_path, ops, target)

    def conv(value):
        padded = np.pad(image.astype(np.int32), ((0, 0), (0, 0), (1, 1), (1, 1)),
                        constant_values=value)
        return sum(np.einsum("nchw,oc->nohw", padded[:, :, i:i + 5, j:j + 6],
                             filters[:, :, i, j].astype(np.int32))
                   for i in range(3) for j in range(3)).astype(np.int32)

    assert np.array_equal(run(tmp_path, "conv", image, filters, bias), conv(7) + bias[:, None, None])
    assert np.array_equal(run(tmp_path, "plain", image, filters), conv(0))
    assert np.array_equal(run(tmp_path, "product", left, right),
                          left.astype(np.int32) @ right.T.astype(np.int32))
    got = run(tmp_path, "dequant", conv(0))
    want = np.maximum(conv(0) * scales[:, None, None], 0)
    np.testing.assert_allclose(got, want, rtol=2e-3)
    # At the border of two integers f16 may choose the other one.
    quantized = np.clip(np.rint(A * 40) - 5, -128, 127)
    assert np.abs(run(tmp_path, "quant", A) - quantized).max() <= ("soc" in target)
    assert np.array_equal(run(tmp_path, "anti", left), (left.astype(np.float16) + 5) * 0.25)
    scales = [tensor(sums, "int32", "NCHW"), tensor([3], "uint64")]
    text = compile_(tmp_path, [op("AscendDequant", scales, [tensor(sums, "float", "NCHW")])],
                    target, fails=True)
    assert "must be a constant" in text
    shifted = [scales[0], constant([1 << 32, 0, 0], "uint64")]
    text = compile_(tmp_path, [op("AscendDequant", shifted, [tensor(sums, "float", "NCHW")])],
                    target, fails=True)
    assert "bits 32 to 47" in text


def test_dims_of_any_size_run_on_the_cpu(tmp_path):
    dynamic = tensor([-1, 6], "float")
    text = compile_(tmp_path, [op("Add", [dynamic] * 2, [dynamic], name="add")])
    assert text.count("W11010") == 1 and "Add" in text
    for rows in (1, 4):
        assert np.array_equal(run(tmp_path, "add", A[:rows], A[:rows]), A[:rows] + A[:rows])


@pytest.mark.parametrize("made, code, words", [
    (op("Transpose", [tensor([2, 3]), tensor([2], "int64")], [tensor([3, 2])]), "E10030", "is_const"),
    (op("TopK", [tensor([4])], [tensor([2])], k=2, dim=3), "E10030", "the axis 3"),
    (op("StridedSliceD", [tensor([4])], [tensor([2])], begin=[0], end=[2, 3]), "E10030", "equal lengths"),
    (op("Upsample", [tensor([1, 1, 2, 2])], [tensor([1, 1, 2, 4])], stride_h=0), "E10030", "positive"),
    (op("LayerNorm", [tensor([4])], [tensor([4])]), "E10027", "reads 3"),
    (op("Layernorm", [tensor([4])] * 3, [tensor([4])]), "E10055", 'did you mean "LayerNorm"?'),
    (op("Deconvolution", [tensor([4]), tensor([4])], [tensor([4])]), "E10030", "4 dims"),
    (op("Eltwise", [tensor([4])], [tensor([4])], mode=7), "E10030", "mode"),
])
def test_mistakes(tmp_path, made, code, words):
    text = compile_(tmp_path, [made], fails=True)
    errors = text.split("for more information\n")[1].splitlines()
    assert errors[0].startswith(code) and words in errors[0], text


@pytest.mark.parametrize("target", ["--soc_version=Ascend310P3", "--target=cpu"])
@pytest.mark.parametrize("bound", [-1.0, 1.5, 254.0, 300.0])
def test_bounds_that_bytes_do_not_hold(tmp_path, target, bound):
    x = np.uint8([0, 1, 2, 254, 255])
    made = op("ThresholdV2D", [tensor([5], "uint8")], [tensor([5], "uint8")], name="t", threshold=bound, value=7.0)
    compile_(tmp_path, [made], target)
    assert np.array_equal(run(tmp_path, "t", x), np.where(x.astype(float) > bound, x, 7))
