# Gradients, losses and fused operators of a .json file: results against differences of the
# functions that the gradients are of, and against NumPy, on both targets. Run with
# `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest

from test_singleop import compile_, constant, op, run, tensor
from test_singleop_formulas import TARGETS, check_case, compile_cases, sigmoid

RNG = np.random.default_rng(23)
X = RNG.uniform(-2, 2, (4, 6))
X = np.where(abs(abs(X) - 0.5) < 0.05, X + 0.2, X)  # not at the corners of functions
P = RNG.uniform(0.2, 0.9, (4, 6))
DY = RNG.uniform(-1, 1, (4, 6))
ONE = np.float32([0.75])
IMAGE = RNG.standard_normal((2, 4, 4, 6))
ROW, COLUMNS = RNG.uniform(0.5, 1.5, (2, 6))
CHANNELS, OFFSETS = RNG.uniform(0.5, 1.5, (2, 4))
LABELS = np.eye(6)[[1, 5, 0, 2]]
TARGET = RNG.uniform(-2, 2, (4, 6))
BITS = (RNG.random((4, 6)) < 0.5).astype(float)


def slope(function, x):
    step = 1e-5
    return (function(x + step) - function(x - step)) / (2 * step)


def elu(x):
    return np.where(x > 0, x, np.expm1(x))


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))


def softplus(x):
    return np.log1p(np.exp(x))


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def softmax(x):
    powers = np.exp(x)
    return powers / powers.sum(-1, keepdims=True)


def smooth(sigma):
    return lambda d: np.where(abs(d) < sigma, d * d / 2 / sigma, abs(d) - sigma / 2)


def of_result(type, function, x=P):
    return type, [function(x), DY], [slope(function, x) * DY], {}


def of_input(type, function, *more, **attributes):
    return type, [DY, X, *more], [slope(function, X) * DY], attributes


CROSS = -(LABELS * np.log(softmax(X))).sum(1)
ENTROPY = -(BITS * np.log(P) + (1 - BITS) * np.log(1 - P))
SUM = X + DY
ROOT = 1 / np.sqrt((SUM * SUM).mean(1, keepdims=True) + 1e-6)
HALVES = IMAGE[..., :3], IMAGE[..., 3:]
# Two bins per side with one sample each, which lie on pixels.
PLANE = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
REGION = np.float32([[0, 1, 2, 5, 6]])

CASES = [
    of_result("SigmoidGrad", sigmoid, X), of_result("TanhGrad", np.tanh, X), of_result("SqrtGrad", np.sqrt),
    of_result("RsqrtGrad", lambda x: x ** -0.5), of_result("ReciprocalGrad", lambda x: 1 / x),
    of_result("InvGrad", lambda x: 1 / x), ("AbsGrad", [X, DY], [np.sign(X) * DY], {}),
    # These read the input.
    ("AsinGrad", [P, DY], [slope(np.arcsin, P) * DY], {}), ("AcosGrad", [P, DY], [slope(np.arccos, P) * DY], {}),
    ("AtanGrad", [X, DY], [slope(np.arctan, X) * DY], {}),
    of_result("AsinhGrad", np.arcsinh, X), of_result("AcoshGrad", np.arccosh, P + 1),
    ("HardtanhGrad", [X, DY], [np.where(abs(X) < 1, DY, 0)], {}),
    ("SoftmaxGrad", [softmax(X), DY],
     [softmax(X) * (DY - (DY * softmax(X)).sum(-1, keepdims=True))], {"axes": [-1]}),
    ("LogSoftmaxGrad", [DY, np.log(softmax(X))], [DY - softmax(X) * DY.sum(-1, keepdims=True)], {}),
    ("ConfusionSoftmaxGrad", [DY, softmax(X)], [DY - (DY * softmax(X)).sum(-1, keepdims=True)], {}),
    of_input("ReluGrad", lambda x: np.maximum(x, 0)), of_input("Relu6Grad", lambda x: np.clip(x, 0, 6)),
    of_input("LeakyReluGrad", lambda x: np.where(x > 0, x, x / 4), negative_slope=0.25),
    ("EluGrad", [DY, elu(X)], [slope(elu, X) * DY], {}), ("SeluGrad", [DY, selu(X)], [slope(selu, X) * DY], {}),
    of_input("SoftplusGrad", softplus), of_input("SoftsignGrad", lambda x: x / (1 + abs(x))),
    of_input("LogSigmoidGrad", lambda x: np.log(sigmoid(x))),
    of_input("ThresholdGradV2D", lambda x: np.where(x > 0.5, x, 0), threshold=0.5),
    of_input("HardSwishGrad", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("HardSwishGrad", [DY, 3 * X], [slope(lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 3 * X) * DY], {}),
    of_input("HardSigmoidGrad", lambda x: np.clip(0.4 * x + 0.5, 0, 1), alpha=0.4),
    of_input("HardShrinkGrad", lambda x: np.where(abs(x) > 0.5, x, 0)),
    of_input("SoftShrinkGrad", lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0)),
    of_input("SwishGrad", lambda x: x * sigmoid(2 * x), X, scale=2.0), of_input("SiluGrad", lambda x: x * sigmoid(x)),
    of_input("FastGeluGrad", lambda x: x * sigmoid(1.702 * x)), of_input("GeluGrad", gelu, gelu(X)),
    of_input("MishGrad", lambda x: x * np.tanh(softplus(x))),
    ("BiasAddGrad", [IMAGE], [IMAGE.sum((0, 2, 3))], {"data_format": "NCHW"}, "NCHW"),
    ("MseLoss", [X, TARGET], [np.square(X - TARGET).mean()[None]], {}),
    ("MseLoss", [X, TARGET], [np.square(X - TARGET)], {"reduction": "none"}),
    ("MseLossGrad", [X, TARGET, DY], [DY * (X - TARGET) / 12], {}),
    ("SmoothL1Loss", [X, TARGET], [smooth(0.7)(X - TARGET)], {"sigma": 0.7}),
    ("SmoothL1LossV2", [X, TARGET], [smooth(1)(X - TARGET).sum()[None]], {"reduction": "sum"}),
    ("SmoothL1LossGrad", [X, TARGET, DY], [DY * slope(smooth(0.7), X - TARGET)], {"sigma": 0.7}),
    ("SigmoidCrossEntropyWithLogits", [X, BITS],
     [-(BITS * np.log(sigmoid(X)) + (1 - BITS) * np.log(sigmoid(-X)))], {}),
    ("SoftmaxCrossEntropyWithLogits", [X, LABELS], [CROSS, softmax(X) - LABELS], {}),
    ("BinaryCrossEntropy", [P, BITS], [ENTROPY.mean()[None]], {}),
    ("BinaryCrossEntropy", [P, BITS, P], [ENTROPY * P], {"reduction": "none"}),
    ("SoftMarginLoss", [X, np.sign(DY)], [np.log1p(np.exp(-np.sign(DY) * X))], {"reduction": "none"}),
    # fused
    ("FusedMulAdd", [X, DY, P], [X * DY + P], {}), ("FusedMulAddN", [X, P, ONE], [X * 0.75 + P], {}),
    ("Inv", [P], [1 / P], {}), ("Silu", [X], [X * sigmoid(X)], {}),
    ("Fills", [X], [np.full_like(X, 2.5)], {"value": 2.5}),
    ("ThresholdV2", [X, ONE, ONE * 2], [np.where(X > 0.75, X, 1.5)], {}), ("ThresholdV2", [X, ONE], [np.where(X > 0.75, X, 0)], {}),
    ("Exp", [X], [np.exp2(0.5 * X + 1)], {"base": 2.0, "scale": 0.5, "shift": 1.0}),
    ("Log", [P], [np.log10(2 * P + 1)], {"base": 10.0, "scale": 2.0, "shift": 1.0}),
    ("Exp", [X], [np.exp(X)], {}), ("Log", [P], [np.log(P)], {}), ("AccumulateNV2", [X, DY, P], [X + DY + P], {}),
    ("Scale", [IMAGE, CHANNELS, OFFSETS],
     [IMAGE * CHANNELS[:, None, None] + OFFSETS[:, None, None]], {"axis": 1}, "NCHW"),
    ("SwiGlu", [IMAGE], [HALVES[0] * sigmoid(HALVES[0]) * HALVES[1]], {"dim": -1}),
    ("RotaryMul", [IMAGE, ROW, COLUMNS],
     [IMAGE * ROW + np.concatenate([-HALVES[1], HALVES[0]], -1) * COLUMNS], {}),
    ("SquareSumV1", [X], [np.square(X).sum(1)], {"axis": [1]}),
    ("SquareSumAll", [X, P], [np.square(X).sum()[None], np.square(P).sum()[None]], {}),
    ("ReduceEuclideanNormD", [X], [np.sqrt(np.square(X).sum(0, keepdims=True))], {"axes": [0], "keep_dims": True}),
    ("Centralization", [X], [X - X.mean(0)], {"axes": [0]}),
    ("ReduceMeanVariance", [X], [X.mean(1, keepdims=True), X.var(1, keepdims=True)], {"axes": [1]}),
    ("AddRmsNorm", [X, DY, ROW], [SUM * ROOT * ROW, ROOT, SUM], {}),
    ("ShuffleChannel", [IMAGE], [IMAGE[:, [0, 2, 1, 3]]], {"group": 2}, "NCHW"),
    ("PixelShuffle", [IMAGE], [IMAGE.reshape(2, 1, 2, 2, 4, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 8, 12)],
     {"upscale_factor": 2}, "NCHW"),
    ("ConfusionTransposeD", [X], [X.reshape(4, 2, 3).transpose(1, 0, 2)],
     {"perm": [1, 0, 2], "shape": [4, 2, 3], "transpose_first": False}),
    ("ConfusionTransposeD", [X], [X.T.reshape(3, 8)], {"perm": [1, 0], "shape": [3, 8], "transpose_first": True}),
    ("Roll", [X], [np.roll(X, (1, -2), (0, 1))], {"shifts": [1, -2], "dims": [0, 1]}),
    ("Roll", [X], [np.roll(X, 5)], {"shifts": [5]}),
    ("Ger", [ROW, CHANNELS], [np.outer(ROW, CHANNELS)], {}), ("MV", [X, ROW], [X @ ROW], {}),
    ("ROIAlign", [PLANE, REGION], [np.float32([[[[26, 28], [42, 44]]]])],
     {"roi_end_mode": 0, "pooled_height": 2, "pooled_width": 2, "sample_num": 1, "spatial_scale": 1.0,
      "pool_mode": "avg"}, "NCHW"),
    # corners
    ("HardSwishGrad", [[[1] * 4], [[-3.5, -3, 3, 3.5]]], [[[0, 0, 1, 1]]], {}),
    ("BinaryCrossEntropy", [[[0, 1, 0, 1]], [[1, 0, 0, 1]]], [[[100, 100, 0, 0]]], {"reduction": "none"}),
    ("PixelShuffle", [np.arange(16).reshape(1, 2, 2, 4)],
     [np.arange(16).reshape(1, 2, 2, 2, 2).transpose(0, 1, 3, 2, 4).reshape(1, 4, 4, 1)],
     {"upscale_factor": 2}, "NHWC"),
    ("Roll", [ROW], [np.roll(ROW, -2 ** 63 % 6)], {"shifts": [-2 ** 63], "dims": [0]}),
    ("Elu", [X], [elu(X)], {"alpha": 1.0, "scale": 1.0, "input_scale": 1.0}),
    ("LpNorm", [[[0] * 6, ROW]], [[0.5, np.linalg.norm(ROW)]], {"axes": [1], "epsilon": 0.5}),
]
CASES = [(type, [np.float32(x) for x in inputs], [np.float32(y) for y in outputs], *rest)
         for type, inputs, outputs, *rest in CASES]

# In halves, whose largest number is 65504.
LARGE = np.float16([[-300, -256, -250, 250, 256, 300]])
UNIT = np.float16([1] * 6)
MEANS = np.square(np.float32(LARGE)).mean(1, keepdims=True)
NORMED = np.float16(LARGE / np.sqrt(MEANS))
MANY = np.full((300, 300), 4, np.float16)
CASES += [
    ("RmsNorm", [LARGE, UNIT], [NORMED, 1 / np.sqrt(MEANS)], {}),
    ("RmsNorm", [LARGE, UNIT], [NORMED, np.float16(1 / np.sqrt(MEANS))], {}),
    ("AddRmsNorm", [LARGE, 0 * LARGE, UNIT], [NORMED, 1 / np.sqrt(MEANS), LARGE], {}),
    ("LayerNorm", [LARGE, UNIT, 0 * UNIT], [NORMED, 0 * MEANS, MEANS], {"begin_norm_axis": 1}),
    ("L2Normalize", [LARGE], [np.float16(NORMED / 6 ** 0.5)], {"axis": [1]}),
    ("ReduceMeanVariance", [LARGE], [0 * MEANS, MEANS], {"axes": [1]}),
    ("GeluGrad", [UNIT[None], LARGE, LARGE], [np.float16(LARGE > 0)], {}),
    ("BinaryCrossEntropy", [np.float16([0, 1, 0, 1]), np.float16([1, 0, 0, 1])], [np.float16([100, 100, 0, 0])],
     {"reduction": "none"}),
    ("MseLossGrad", [MANY, 0 * MANY, 250 * MANY], [np.float16(0 * MANY + 8 / 90)], {}),
]


@pytest.fixture(scope="module", params=TARGETS)
def folder(request, tmp_path_factory):
    return compile_cases(tmp_path_factory.mktemp("gradients"), CASES, request.param)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i][0]}")
def test_results(folder, index):
    check_case(folder, CASES, index)


@pytest.mark.parametrize("target", TARGETS)
def test_the_mean_of_dims_of_any_size(tmp_path, target):
    rows = [tensor([-1, 6], "float")]
    compile_(tmp_path, [op("MseLossGrad", 3 * rows, rows, name="grad")], target)
    inputs = [np.float32(x) for x in (X, TARGET, DY)]
    np.testing.assert_allclose(run(tmp_path, "grad", *inputs), DY * (X - TARGET) / 12, atol=2e-3)


@pytest.mark.parametrize("made, words", [
    (op("MseLoss", [tensor([4])] * 2, [tensor([1])], reduction="max"), "none, mean or sum"),
    (op("MseLossGrad", [tensor([4])] * 3, [tensor([4])], reduction="max"), "none, mean or sum"),
    (op("SwiGlu", [tensor([2, 3])], [tensor([2, 1])]), "must be even, not 3"),
    (op("RotaryMul", [tensor([2, 3])] * 3, [tensor([2, 3])]), "must be even, not 3"),
    (op("RotaryMul", [tensor([2, 4])] * 3, [tensor([2, 4])], mode=1), '"mode"'),
    (op("ShuffleChannel", [tensor([-1, 4, -1, 2], format="NCHW")], [tensor([-1, 4, -1, 2], format="NCHW")],
        group=2), "at most one dim"),
    (op("Elu", [tensor([4])], [tensor([4])], scale=1.5), '"scale", which is 1.5'),
    (op("ROIAlign", [tensor([1, 1, 4, 4], format="NCHW"), tensor([1, 5])], [tensor([1, 1, 1, 1], format="NCHW")],
        roi_end_mode=0, pool_mode="max"), '"pool_mode"'),
    (op("ROIAlign", [tensor([1, 1, 4, 4], format="NCHW"), tensor([1, 5]), tensor([1], "int32")],
        [tensor([1, 1, 1, 1], format="NCHW")], roi_end_mode=0), "rois_n"),
    (op("SmoothL1Loss", [tensor([4])] * 2, [tensor([4])], sigma=0.0), '"sigma"'),
    (op("BiasAddGrad", [tensor([4])], [tensor([4])]), "2 dims or more"),
    (op("BiasAddGrad", [tensor([4, 2])], [tensor([2])], data_format="NDHWC"), "NHWC or NCHW"),
    (op("SoftmaxCrossEntropyWithLogits", [tensor([4])] * 2, [tensor([1])]), "2 dims"),
    (op("Exp", [tensor([4])], [tensor([4])], base=0.0), '"base"'),
    (op("Log", [tensor([4])], [tensor([4])], base=1.0), '"base"'),
    (op("Scale", [tensor([2, 4, 3, 3]), tensor([4, 3, 3, 3])], [tensor([2, 4, 3, 3])], axis=1), "do not broadcast"),
    (op("Scale", [tensor([2, 4]), tensor([3, 4, 2])], [tensor([2, 4])], axis=1), "no more dims"),
    (op("RotaryMul", [tensor([2, 4])] * 3, [tensor([2, 4])], mode="interleave"), '"mode"'),
    (op("AddRmsNorm", [tensor([4])] * 2 + [tensor([2, 4])], [tensor([4])]), "gamma"),
    (op("ShuffleChannel", [tensor([1, 4, 2, 2], format="NCHW")], [tensor([1, 4, 2, 2], format="NCHW")],
        group=3), '"group"'),
    (op("Roll", [tensor([4])], [tensor([4])], shifts=[1, 2], dims=[0]), '"shifts"'),
    (op("ROIAlign", [tensor([1, 1, 4, 4], format="NCHW"), tensor([1, 5])], [tensor([1, 1, 1, 1], format="NCHW")]),
     '"roi_end_mode"'),
    (op("ROIAlign", [tensor([1, 1, 4, 4], format="NCHW"), tensor([1, 4])], [tensor([1, 1, 1, 1], format="NCHW")],
        roi_end_mode=0), "[count, 5]"),
])
def test_mistakes(tmp_path, made, words):
    text = compile_(tmp_path, [made], fails=True)
    errors = text.split("for more information\n")[1].splitlines()
    assert errors[0].startswith("E1") and words in errors[0], text


@pytest.mark.parametrize("target", TARGETS)
def test_bilinear_resizes_make_floats_of_halves(tmp_path, target):
    compile_(tmp_path, [op("ResizeBilinearV2", [tensor([1, 1, 2, 2], format="NCHW"), constant([4, 4])],
                           [tensor([1, 1, 4, 4], "float", "NCHW")], name="resize", half_pixel_centers=True)], target)
    image = np.float16([[[[0, 4], [8, 12]]]])
    want = np.float32([[0, 1, 3, 4], [2, 3, 5, 6], [6, 7, 9, 10], [8, 9, 11, 12]])
    got = run(tmp_path, "resize", image, None)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got[0, 0], want, atol=2e-2)
