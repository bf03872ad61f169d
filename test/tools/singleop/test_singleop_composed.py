# Operators of a .json file that stand for long formulas: results against NumPy on both targets, and
# mistakes. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess

import numpy as np
import pytest

from test_singleop import BUILD, compile_, constant, op, run, tensor
from test_singleop_formulas import TARGETS, check_case, compile_cases, sigmoid

RNG = np.random.default_rng(23)
A = RNG.standard_normal((4, 6)).astype(np.float32)
GAMMA = RNG.uniform(-0.5, 0.5, 6).astype(np.float32)
RMS = 1 / np.sqrt((A * A).mean(-1, keepdims=True) + 1e-6)
WIDE = np.float32([0, 0.1, -0.5, 1, -3, 3.74, -3.76, 10, -80, 4000])
ENDS = np.float32([-1.5]), np.float32([2.3])
QUERY, KEY = RNG.standard_normal((1, 3, 2, 8)).astype(np.float32), RNG.standard_normal((1, 3, 1, 8)).astype(np.float32)
TURNS = RNG.uniform(0, 6, (1, 3, 1, 8)).astype(np.float32)
COS, SIN = np.cos(TURNS), np.sin(TURNS)
SEQUENCE = RNG.standard_normal((3, 2, 5)).astype(np.float32)
WEIGHTS = RNG.uniform(-0.5, 0.5, (5 + 4, 4 * 4)).astype(np.float32)
BIAS = RNG.uniform(-0.5, 0.5, 16).astype(np.float32)
FIRST = RNG.uniform(-0.5, 0.5, (2, 1, 2, 4)).astype(np.float32)


def bessel(x):
    """exp(-|x|) * I0(x), the mean of exp(x cos t - |x|) over a half turn."""
    angles = (np.arange(200000) + 0.5) * np.pi / 200000
    return np.float32([np.exp(abs(float(v)) * (np.cos(angles) - 1)).mean() for v in x])


def rotated(x, mode):
    outer = {"half": 1, "quarter": 2, "interleave": 4}[mode]
    pairs = x.reshape(*x.shape[:-1], outer, 2, 4 // outer)
    return x * COS + np.stack([-pairs[..., 1, :], pairs[..., 0, :]], -2).reshape(x.shape) * SIN


def lstm(order="ijfo", h=np.zeros((2, 4)), c=np.zeros((2, 4)), forget_bias=0.0):
    steps = []
    for x in SEQUENCE:
        gates = dict(zip(order, np.split(np.concatenate([x, h], 1) @ WEIGHTS + BIAS, 4, 1), strict=True))
        i, f, o = sigmoid(gates["i"]), sigmoid(gates["f"] + forget_bias), sigmoid(gates["o"])
        j = np.tanh(gates["j"])
        c = f * c + i * j
        h = o * np.tanh(c)
        steps.append([h, h, c, i, j, f, o, np.tanh(c)])
    return [np.stack(each).astype(np.float32) for each in zip(*steps, strict=True)]


def overlap(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    both = np.prod(np.maximum(high - low, 0))
    return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)


def suppressed(boxes, scores, total, each):
    """One class after the other, and the best of all classes; boxes have the dims of the operator."""
    found = []
    for c in range(scores.shape[2]):
        kept = []
        for row in np.argsort(-scores[0, :, c], kind="stable"):
            box = boxes[0, row, c if boxes.shape[2] > 1 else 0]
            if scores[0, row, c] > 0.2 and len(kept) < each and all(overlap(box, k[1]) <= 0.4 for k in kept):
                kept.append((scores[0, row, c], box, c))
        found += kept
    found = sorted(found, key=lambda k: -k[0])[:total]
    rest = total - len(found)
    return [np.float32([[*(k[1] for k in found), *[np.zeros(4)] * rest]]),
            np.float32([[*(k[0] for k in found), *[0] * rest]]),
            np.float32([[*(k[2] for k in found), *[0] * rest]]), np.int32([len(found)])]


LOW = RNG.uniform(0, 3, (1, 9, 2, 2))
BOXES = np.concatenate([LOW, LOW + RNG.uniform(1, 3, LOW.shape)], -1).astype(np.float32)
SCORES = RNG.permutation(18).reshape(1, 9, 2).astype(np.float32) / 16
LIMITS = {"score_threshold": 0.2, "iou_threshold": 0.4, "max_size_per_class": 4}

CASES = [
    ("GemmaRmsNorm", [A, GAMMA], [A * RMS * (1 + GAMMA), RMS], {"epsilon": 1e-6}),
    ("BesselI0e", [WIDE], [bessel(WIDE)], {}),
    ("LinSpace", [*ENDS, [7]], [np.linspace(-1.5, 2.3, 7)], {}),
    ("LinSpaceD", [*ENDS], [np.float32([-1.5])], {"num": 1}),
    ("ApplyRotaryPosEmb", [QUERY, KEY, COS, SIN], [rotated(QUERY, "half"), rotated(KEY, "half")], {"layout": 1}),
    *(("ApplyRotaryPosEmb", [QUERY, KEY, COS, SIN], [rotated(QUERY, mode), rotated(KEY, mode)],
       {"rotary_mode": mode}) for mode in ("interleave", "quarter")),
    ("DynamicRNN", [SEQUENCE, WEIGHTS, BIAS], lstm(), {"forget_bias": 0.0}),
    ("DynamicRNN", [SEQUENCE, WEIGHTS, BIAS], lstm("ifjo", forget_bias=1.0),
     {"forget_bias": 1.0, "gate_order": "ifjo"}),
    ("BatchMultiClassNonMaxSuppression", [BOXES[:, :, :1], SCORES],
     suppressed(BOXES[:, :, :1], SCORES, 5, 4), {**LIMITS, "max_total_size": 5}),
    ("BatchMultiClassNonMaxSuppression", [BOXES, SCORES], suppressed(BOXES, SCORES, 20, 4),
     {**LIMITS, "max_total_size": 20}),
]


@pytest.fixture(scope="module", params=TARGETS)
def folder(request, tmp_path_factory):
    return compile_cases(tmp_path_factory.mktemp("ops"), CASES, request.param)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i][0]}")
def test_results(folder, index):
    check_case(folder, CASES, index)


def test_first_states(tmp_path):
    """init_h and init_c stand behind the lengths of sequences, which are not given."""
    h, c = FIRST
    none = tensor([], "UNDEFINED", "RESERVED")
    given = [tensor(x.shape, "float") for x in (SEQUENCE, WEIGHTS, BIAS)]
    compile_(tmp_path, [op("DynamicRNN", [*given, none, *[tensor(h.shape, "float")] * 2],
                           [tensor([3, 2, 4], "float")], name="rnn")], "--target=cpu")
    got = run(tmp_path, "rnn", SEQUENCE, WEIGHTS, BIAS, None, h, c)
    np.testing.assert_allclose(got, lstm(h=h[0], c=c[0])[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("domain", ["", "mmdeploy"])
def test_suppression_as_a_node_of_onnx(tmp_path, domain):
    """Models that were edited for the Ascend toolchain have the operator as a node."""
    onnx = pytest.importorskip("onnx")
    make = onnx.helper
    nodes = [make.make_node("BatchMultiClassNMS", ["boxes", "scores"], ["b", "s", "c", "n"], "nms", domain=domain,
                            **LIMITS, max_total_size=5)]
    sizes = [("boxes", [1, 9, 1, 4]), ("scores", [1, 9, 2])]
    kinds = [("b", 1, [1, 5, 4]), ("s", 1, [1, 5]), ("c", 1, [1, 5]), ("n", 6, [1])]
    graph = make.make_graph(nodes, "g", [make.make_tensor_value_info(n, 1, d) for n, d in sizes],
                            [make.make_tensor_value_info(n, t, d) for n, t, d in kinds])
    opsets = [make.make_opsetid("", 11)] + ([make.make_opsetid(domain, 1)] if domain else [])
    onnx.save(make.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    done = subprocess.run([BUILD / "bin" / "atc", f"--model={tmp_path / 'm.onnx'}", "--framework=5",
                           f"--output={tmp_path / 'nms'}", "--target=cpu"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    boxes = BOXES[:, :, :1]
    np.save(tmp_path / "boxes.npy", boxes)
    np.save(tmp_path / "scores.npy", SCORES)
    subprocess.run([BUILD / "bin" / "om-run", tmp_path / "nms.om", "--input",
                    f"boxes={tmp_path / 'boxes.npy'},scores={tmp_path / 'scores.npy'}", "--output", tmp_path / "out"],
                   check=True, capture_output=True)
    for (name, *_), want in zip(kinds, suppressed(boxes, SCORES, 5, 4), strict=True):
        np.testing.assert_allclose(np.load(tmp_path / "out" / f"{name}.npy"), want, rtol=1e-6)


@pytest.mark.parametrize("made, words", [
    (op("LinSpace", [tensor([1])] * 2 + [tensor([1], "int32")], [tensor([3])]), '"num"'),
    (op("LinSpace", [tensor([1])] * 2 + [constant([0])], [tensor([3])]), "1 or more"),
    (op("ApplyRotaryPosEmb", [tensor([1, 2, 1, 6])] * 4, [tensor([1, 2, 1, 6])] * 2, rotary_mode="quarter"),
     "divide into pairs"),
    (op("ApplyRotaryPosEmb", [tensor([1, 2, 1, 6])] * 4, [tensor([1, 2, 1, 6])] * 2, rotary_mode="full"),
     "interleave or quarter, not full"),
    (op("DynamicRNN", [tensor([3, 1, 4]), tensor([6, 12])], [tensor([3, 1, 3])]), "[I + H, 4 H]"),
    (op("DynamicRNN", [tensor([3, 1, 4]), tensor([7, 12])], [tensor([3, 1, 3])], direction="BIDIRECTIONAL"),
     "in one direction"),
    (op("BatchMultiClassNonMaxSuppression", [tensor([1, 9, 4]), tensor([1, 9, 2])], [tensor([1, 5, 4])]),
     "boxes must have the dims"),
    (op("BatchMultiClassNonMaxSuppression", [tensor([1, 9, 1, 4]), tensor([1, 9, 2])], [tensor([1, 5, 4])] * 4),
     '"max_total_size" must be'),
])
def test_mistakes(tmp_path, made, words):
    text = compile_(tmp_path, [made], fails=True)
    errors = text.split("for more information\n")[1].splitlines()
    assert errors[0].startswith("E10030") and words in errors[0], text
