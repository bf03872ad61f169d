# Operators of a .json file whose formula is not that of the ONNX operator of their name, or which
# ONNX has not: results against NumPy on both targets, and mistakes. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math

import numpy as np
import pytest

from test_singleop import compile_, constant, op, run, tensor

RNG = np.random.default_rng(11)
A = RNG.standard_normal((4, 6)).astype(np.float32)
D = np.where(A < 0, A - 0.5, A + 0.5)  # divisors
I = RNG.integers(-20, 20, (4, 6), np.int32)
J = np.where(I % 7 < 3, -3, 5).astype(np.int32)
T, U = RNG.random((2, 4, 6)) < 0.5
X = RNG.standard_normal((2, 4, 4, 6)).astype(np.float32)  # NCHW
S, B, M, V = RNG.uniform(0.5, 1.5, (4, 4)).astype(np.float32)  # of its channels
ONE = np.float32([0.25])
Z = np.where(A < 0.3, 0, A).astype(np.float32)
TURNS = np.linspace(-3.1, 3.1, 12).astype(np.float32)
AROUND = np.stack([np.append(np.sin(TURNS), 0), np.append(np.cos(TURNS), 0)]).astype(np.float32)
PICKED = RNG.integers(0, 6, (4, 3), np.int32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def channels(v):
    return v[:, None, None]


def lrn(x, radius, bias, alpha, beta):
    sums = sum(np.pad(x * x, ((0, 0), (radius, radius), (0, 0), (0, 0)))[:, i:i + x.shape[1]]
               for i in range(2 * radius + 1))
    return x / (bias + alpha * sums) ** beta


def blocks_to_depth(x, size):  # NHWC
    n, h, w, c = x.shape
    cells = x.reshape(n, h // size, size, w // size, size, c).transpose(0, 1, 3, 2, 4, 5)
    return cells.reshape(n, h // size, w // size, -1)


def reversed_rows(x, lengths):
    out = x.copy()
    for row, count in enumerate(lengths):
        out[row, :count] = x[row, :count][::-1]
    return out


INSTANCE = (X - X.mean((2, 3), keepdims=True)) / np.sqrt(X.var((2, 3), keepdims=True) + 1e-6)
RMS = 1 / np.sqrt((A * A).mean(-1, keepdims=True) + 1e-6)
def area_matrix(size, pixels):
    """The share of each pixel in the interval that each new pixel covers."""
    edges, scale = np.arange(pixels), pixels / size
    begin = np.arange(size)[:, None] * scale
    return np.clip(np.minimum(begin + scale, edges + 1) - np.maximum(begin, edges), 0, None) / scale


def halved_cubic(pixels):
    """New pixels lie in the middle of two; those outside do not count."""
    matrix = np.zeros((pixels // 2, pixels))
    for row in range(pixels // 2):
        for tap, weight in enumerate([-0.0625, 0.5625, 0.5625, -0.0625]):
            if 0 <= 2 * row - 1 + tap < pixels:
                matrix[row, 2 * row - 1 + tap] = weight
    return matrix / matrix.sum(1, keepdims=True)


NHWC = np.ascontiguousarray(X.transpose(0, 2, 3, 1))

# operator, inputs (a list: a constant), outputs, attributes, format of the first input and output
CASES = [
    ("Mod", [I, J], [np.fmod(I, J)], {}), ("FloorMod", [I, J], [np.mod(I, J)], {}),
    ("FloorMod", [A, D], [np.mod(A, D)], {}), ("TruncateMod", [A * 3, D], [np.fmod(A * 3, D)], {}),
    ("FloorDiv", [I, J], [I // J], {}), ("FloorDiv", [A * 3, D], [A * 3 // D], {}),
    ("TruncateDiv", [I, J], [np.trunc(I / J).astype(np.int32)], {}),
    ("TruncateDiv", [A * 3, D], [np.trunc(A * 3 / D)], {}),
    ("Xlogy", [np.maximum(A, 0), abs(A) + 1], [np.maximum(A, 0) * np.log(abs(A) + 1)], {}),
    ("Xdivy", [A, D], [A / D], {}),
    ("DivNoNan", [A, Z], [np.where(Z == 0, 0, A / np.where(Z == 0, 1, Z))], {}),
    ("MulNoNan", [A * np.inf, Z * 0], [A * 0], {}),
    ("Atan2", [AROUND[0], AROUND[1]], [np.arctan2(*AROUND)], {}), ("Trunc", [3 * A], [np.trunc(3 * A)], {}),
    ("Erfc", [A], [np.float32([[math.erfc(x) for x in row] for row in A])], {}),
    ("LogSigmoid", [A], [np.log(sigmoid(A))], {}),
    ("LpNorm", [A], [np.sqrt((A * A).sum(1, keepdims=True))], {"axes": [1], "keepdim": True}),
    ("LpNormV2", [A], [abs(A).sum(0)], {"axes": [0], "p": 1.0}),
    ("HardSigmoid", [A], [np.clip(A / 6 + 0.5, 0, 1)], {}),
    ("HardSigmoid", [A], [np.clip(0.2 * A + 0.4, 0, 1)], {"alpha": 0.2, "beta": 0.4}),
    ("FastGelu", [A], [A * sigmoid(1.702 * A)], {}),
    ("GeluV2", [A], [A * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (A + 0.044715 * A ** 3)))],
     {"approximate": "tanh"}),
    ("HardShrink", [A], [np.where(abs(A) > 0.7, A, 0)], {"lambd": 0.7}),
    ("SoftShrink", [A], [np.sign(A) * np.maximum(abs(A) - 0.5, 0)], {}),
    ("ThresholdV2D", [A], [np.where(A > 0.1, A, -2)], {"threshold": 0.1, "value": -2.0}),
    ("Threshold", [A], [(A > 0.1).astype(np.float32)], {"threshold": 0.1}),
    ("CeluV2", [A], [np.maximum(A, 0) + np.minimum(0, 2 * np.expm1(A / 2))], {"alpha": 2.0}),
    ("Addcmul", [A, A + 1, D, ONE], [A + 0.25 * (A + 1) * D], {}),
    ("Addcdiv", [A, A + 1, D, ONE], [A + 0.25 * (A + 1) / D], {}),
    ("Lerp", [A, D, abs(A)], [A + abs(A) * (D - A)], {}),
    ("MaskedFill", [A, T, ONE], [np.where(T, 0.25, A)], {}),
    ("LogicalXor", [T, U], [T ^ U], {}), ("Invert", [I], [~I], {}),
    ("ReduceAllD", [T], [T.all(1)], {"axes": [1]}),
    ("ReduceAny", [T, [0]], [T.any(0, keepdims=True)], {"keep_dims": True}),
    ("L2Loss", [A], [np.float32([(A * A).sum() / 2])], {}),
    ("BatchNorm", [X, S, B, M, V],
     [(X - channels(M)) / np.sqrt(channels(V) + 1e-4) * channels(S) + channels(B), M, V],
     {"is_training": False}, "NCHW"),
    ("InstanceNorm", [X, S, B], [INSTANCE * channels(S) + channels(B)], {}, "NCHW"),
    ("InstanceNorm", [NHWC, S, B], [(INSTANCE * channels(S) + channels(B)).transpose(0, 2, 3, 1),
                                    *(v.transpose(0, 2, 3, 1) for v in (X.mean((2, 3), keepdims=True), X.var((2, 3), keepdims=True)))],
     {}, "NHWC"),
    ("LayerNormV3", [A, A[0], A[1]], [(A - A.mean(1, keepdims=True)) / np.sqrt(A.var(1, keepdims=True) + 1e-5) * A[0] + A[1],
                                      A.mean(1, keepdims=True), 1 / np.sqrt(A.var(1, keepdims=True) + 1e-5)],
     {"begin_norm_axis": 1}),
    ("RmsNorm", [A, D[0]], [A * RMS * D[0], RMS], {}),
    ("LRN", [X], [lrn(X, 1, 1.5, 0.4, 0.75)],
     {"depth_radius": 1, "bias": 1.5, "alpha": 0.4, "beta": 0.75}, "NCHW"),
    ("LRN", [X], [lrn(X, 1, 1.0, 0.2, 0.75)], {"size": 3, "alpha": 0.6}, "NCHW"),
    ("Slice", [A, [1, 2], [2, -1]], [A[1:3, 2:]], {}),
    ("SliceD", [A], [A[:2, 1:4]], {"offsets": [0, 1], "size": [2, 3]}),
    ("Pad", [A, [1, 2, 0, 3]], [np.pad(A, ((1, 2), (0, 3)))], {}),
    ("PadV3", [A, [1, 0, 2, 1]], [np.pad(A, ((1, 0), (2, 1)), "reflect")], {"mode": "reflect"}),
    ("PadV3", [A, [1, 0, 2, 1], ONE], [np.pad(A, ((1, 0), (2, 1)), constant_values=0.25)], {}),
    ("ReverseV2", [A, [1]], [A[:, ::-1]], {}), ("ReverseV2D", [A], [A[::-1, ::-1]], {"axis": [0, 1]}),
    ("ReverseSequence", [A, np.int32([3, 1, 6, 2])], [reversed_rows(A, [3, 1, 6, 2])],
     {"seq_dim": 1, "batch_dim": 0}),
    ("Permute", [X], [X.transpose(0, 3, 1, 2)], {"order": [0, 3, 1, 2]}),
    ("Upsample", [X], [2 * X.repeat(3, 2).repeat(2, 3)],
     {"scale": 2.0, "stride_h": 3, "stride_w": 2}, "NCHW"),
    ("SpaceToDepth", [NHWC], [blocks_to_depth(NHWC, 2)], {"block_size": 2}, "NHWC"),
    ("DepthToSpace", [blocks_to_depth(NHWC, 2)], [NHWC], {"block_size": 2}, "NHWC"),
    ("Fill", [[2, 3], ONE], [np.full((2, 3), 0.25, np.float32)], {}), ("ZerosLike", [A * np.inf], [A * 0], {}),
    ("OnesLike", [A], [A * 0 + 1], {}), ("Tril", [A], [np.tril(A, 1)], {"diagonal": 1}),
    ("Triu", [A], [np.triu(A)], {}), ("Cumsum", [A, [1]], [A.cumsum(1)], {}),
    ("ArgMaxWithValue", [A], [A.argmax(1).astype(np.int32), A.max(1)], {"dimension": 1}),
    ("ArgMinWithValue", [A], [A.argmin(0)[None].astype(np.int32), A.min(0)[None]],
     {"dimension": 0, "keep_dims": True}),
    ("GatherElements", [A, PICKED], [np.take_along_axis(A, PICKED, 1)], {"dim": 1}),
    ("GatherD", [A, [1], PICKED], [np.take_along_axis(A, PICKED, 1)], {}),
    # From the centres of pixels: floor((i + 0.5) * scale).
    ("ResizeNearestNeighborV2", [X, [8, 12]], [X.repeat(2, 2).repeat(2, 3)],
     {"half_pixel_centers": True}, "NCHW"),
    # Images without a format have their channels last, as in TensorFlow.
    ("ResizeArea", [NHWC, [3, 4]], [np.einsum("ih,jw,nhwc->nijc", area_matrix(3, 4), area_matrix(4, 6), NHWC)], {}),
    ("ResizeArea", [X, [2, 3]], [X.reshape(2, 4, 2, 2, 3, 2).mean((3, 5))], {}, "NCHW"),
    ("ResizeBicubic", [NHWC, [2, 3]], [np.einsum("ih,jw,nhwc->nijc", halved_cubic(4), halved_cubic(6), NHWC)],
     {"half_pixel_centers": True}),
    # The second input gives the dims of the part, not values.
    ("Crop", [X, X[:, :2, :3, :4]], [X[:, 1:3, 1:4, 2:6]], {"axis": 1, "offsets": [1, 1, 2]}),
    ("Crop", [X, X[:, :, :2, :2]], [X[:, :, 1:3, 1:3]], {"offsets": [1]}),
    # Its constant is a table, not the count.
    ("TopKD", [A, [3]], [np.sort(A, 1)[:, ::-1][:, :2], np.argsort(-A, 1)[:, :2].astype(np.int32)], {"k": 2}),
    ("MatMulV3", [A, D], [A @ D.T], {"transpose_x2": True}),
    ("AddBlockCust", [I, J], [I + J], {}), ("LeakyReluDemo", [A], [np.where(A < 0, A / 4, A)],
                                            {"negative_slope": 0.25}),
    ("PermuteTik", [A], [A.T], {"order": [1, 0]}),
]
TYPES = {np.dtype(np.int32): "int32", np.dtype(np.float32): "float", np.dtype(np.float16): "float16",
         np.dtype(bool): "bool"}


def wanted(array):
    return array.astype(np.float32) if array.dtype == np.float64 else array


def compile_cases(path, cases, target):
    """Compiles all cases for a target; returns the folder and how far results may be off."""
    ops = []
    for i, (type, inputs, outputs, attributes, *format) in enumerate(cases):
        def described(array):
            fits = format and array.ndim == 4
            return tensor(array.shape, TYPES[wanted(array).dtype], format[0] if fits else "ND")

        ops.append(op(type, [constant(x) if isinstance(x, list) else described(x) for x in inputs],
                      [described(y) for y in outputs], name=f"case{i}", **attributes))
    compile_(path, ops, target)
    return path, 1e-4 if "cpu" in target else 2e-2


def check_case(folder, cases, index):
    """Runs a case and compares its results."""
    path, tolerance = folder
    _, inputs, outputs, *_ = cases[index]
    run(path, f"case{index}", *(None if isinstance(x, list) else np.ascontiguousarray(x) for x in inputs))
    for i, want in enumerate(map(wanted, outputs)):
        got = np.load(path / "results" / f"y{i}.npy")
        assert got.shape == want.shape and got.dtype == want.dtype
        if want.dtype.kind == "f":
            bound = max(tolerance, 2e-3) if want.dtype == np.float16 else tolerance
            np.testing.assert_allclose(got, want, rtol=bound, atol=bound)
        else:
            assert np.array_equal(got, want)


TARGETS = ["--soc_version=Ascend310P3", "--target=cpu"]


@pytest.fixture(scope="module", params=TARGETS)
def folder(request, tmp_path_factory):
    return compile_cases(tmp_path_factory.mktemp("ops"), CASES, request.param)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i][0]}")
def test_results(folder, index):
    check_case(folder, CASES, index)


def test_slices_whose_bounds_are_inputs(tmp_path):
    bounds = tensor([2], "int32")
    compile_(tmp_path, [op("Slice", [tensor(A.shape, "float"), bounds, bounds],
                           [tensor([-1, -1], "float")], name="part")], "--target=cpu")
    for offsets, size in (([1, 2], [2, 3]), ([3, 0], [-1, 6])):
        got = run(tmp_path, "part", A, np.int32(offsets), np.int32(size))
        ends = [o + s if s >= 0 else None for o, s in zip(offsets, size, strict=True)]
        assert np.array_equal(got, A[offsets[0]:ends[0], offsets[1]:ends[1]])


@pytest.mark.parametrize("made, code, words", [
    (op("BatchNorm", [tensor([1, 2, 3, 3])] + [tensor([2])] * 4, [tensor([1, 2, 3, 3])]),
     "E10030", "is_training"),
    (op("Pad", [tensor([4]), tensor([2], "int32")], [tensor([6])]), "E10030", "a pair of numbers"),
    (op("SliceD", [tensor([4])], [tensor([2])], offsets=[1], size=[1, 2]), "E10030", "equal lengths"),
    (op("Permute", [tensor([2, 3])], [tensor([3, 2])], order=[1]), "E10030", "each dim"),
    (op("LRN", [tensor([1, 2, 3, 3])], [tensor([1, 2, 3, 3])], norm_region="WITHIN_CHANNEL"),
     "E10030", "ACROSS_CHANNELS"),
    (op("GeluV2", [tensor([4])], [tensor([4])], approximate="erf"), "E10030", "approximate"),
    (op("SpaceToDepth", [tensor([1, 2, 2, 1], format="NHWC")], [tensor([1, 1, 1, 4], format="NHWC")]),
     "E10030", "block_size"),
    # Which axis it is was read as 0, and the sum of all of them made.
    (op("Cumsum", [tensor([3, 3]), tensor([1], "int32")], [tensor([3, 3])]), "E10030", '"axis" must be'),
    (op("ArgMaxV2", [tensor([3, 3]), tensor([1], "int32")], [tensor([3], "int32")]), "E10030", "constant"),
    (op("GatherV2", [tensor([3, 3]), tensor([3], "int32"), tensor([1], "int32")], [tensor([3, 3])]),
     "E10030", "constant"),
    (op("ReduceSum", [tensor([1, 3]), tensor([1], "int32")], [tensor([1, 1])], keep_dims=True), "E10030",
     "constant"),
    (op("SplitV", [tensor([4]), tensor([2], "int32"), constant([0])], [tensor([2])] * 2), "E10030",
     "constant"),
    (op("Transpose", [tensor([2, 3]), tensor([2], "int32")], [tensor([3, 2])]), "E10030", '"perm" must be'),
    (op("Transpose", [tensor([2, 3]), tensor([], "UNDEFINED", "RESERVED")], [tensor([3, 2])]), "E10030",
     '"perm" is missing'),
    (op("HardSwishh", [tensor([4])], [tensor([4])]), "E10055", 'did you mean "HardSwish"?'),
])
def test_mistakes(tmp_path, made, code, words):
    text = compile_(tmp_path, [made], fails=True)
    errors = text.split("for more information\n")[1].splitlines()
    assert errors[0].startswith(code) and words in errors[0], text
