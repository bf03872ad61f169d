"""Generated code of operators whose dims are all dynamic, one file for several sizes, gives what
their host kernels give: products, convolutions, resizes, samples, regions, quantization, norms,
planes, sorted elements, indices, and recurrent cells."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, mapping  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, compile_model  # noqa: E402
from test_call_code import bodies_of  # noqa: E402


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def scales(*values):
    return np.array(values, np.float32)


# Equal values, and several that are no number.
ORDERED = np.array([[[1, 3, 3, 0], [np.nan, 5, np.nan, 7], [-np.inf, -np.inf, 2, 2]]], np.float32)
NO_REGION = np.zeros(0, np.float32)


def convolutions(*shapes, channels=6, kernel=(3, 2), groups=1, dtype=np.float32):
    """Data, weights and biases of a convolution."""
    return [(floats(n, 4, *image, dtype=dtype), floats(channels, 4 // groups, *kernel, dtype=dtype),
             floats(channels, dtype=dtype)) for n, *image in shapes]


def pairs(*shapes, dtype=np.float32):
    return [tuple(floats(*shape, dtype=dtype) for shape in both) for both in shapes]


def cells(gates, hidden, *sizes, directions=1, peepholes=False):
    """Data, weights and biases of a recurrent operator; with peepholes the other inputs, too. Sizes
    are those of steps and batch."""
    return [(floats(steps, batch, 5), floats(directions, gates * hidden, 5) / 4,
             floats(directions, gates * hidden, hidden) / 8, floats(directions, 2 * gates * hidden),
             *((np.arange(batch, dtype=np.int32) % (steps + 1), floats(directions, batch, hidden),
                floats(directions, batch, hidden), floats(directions, 3 * hidden))
               if peepholes else ())) for steps, batch in sizes]


# Per operator: attributes, and the inputs of several runs of one file. Blocks have 256 columns, or
# 128 points; products take four rows, channels, and elements of the summed dim at a time. Some runs
# are larger than what the code is used for.
CASES = {
    "matmul": ("MatMul", {}, pairs(((2, 3), (3, 5)), ((1, 1), (1, 1)), ((5, 0), (0, 3)),
                                   ((0, 3), (3, 2)), ((3, 5), (5, 261)),
                                   ((7, 13), (13, 261)))),
    "matmul-batches": ("MatMul", {}, pairs(((3, 1, 5, 4), (2, 4, 7)), ((1, 2, 9, 3), (1, 3, 1)))),
    "matmul-double": ("MatMul", {}, pairs(((5, 3), (3, 7)), dtype=np.float64)),
    "matmul-half": ("MatMul", {}, pairs(((5, 3), (3, 7)), dtype=np.float16)),
    "gemm": ("Gemm", {"alpha": 0.5, "beta": 2.0},
             pairs(((5, 3), (3, 7), (5, 7)), ((1, 4), (4, 2), (1, 1)), ((3, 0), (0, 2), (1, 2)))),
    "gemm-transposed": ("Gemm", {"transA": 1, "transB": 1},
                        pairs(((3, 5), (7, 3), (7,)), ((1, 1), (1, 1), (1,)))),
    "gemm-without-bias": ("Gemm", {"transB": 1}, pairs(((6, 37), (9, 37)), ((1, 2), (4, 2)))),
    "einsum": ("Einsum", {"equation": "ij,j->ji"}, pairs(((2, 3), (3,)), ((300, 1), (4,)))),
    "einsum-diagonal": ("Einsum", {"equation": "...ii->...i"}, [(floats(2, 3, 3),),
                                                                (floats(1, 1, 1),)]),
    "einsum-scalar": ("Einsum", {"equation": "i, i"}, pairs(((7,), (7,)), ((0,), (0,)))),
    "conv": ("Conv", {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1]},
             convolutions((2, 5, 7), (1, 1, 1), (3, 4, 270), (0, 4, 4))),
    "conv-wide": ("Conv", {"kernel_shape": [1, 2], "pads": [0, 1, 0, 0]},
                  [(floats(1, 1, 2, 270), floats(1, 1, 1, 2), floats(1))]),
    "conv-strides": ("Conv", {"strides": [2, 3], "dilations": [1, 2], "pads": [2, 1, 0, 3]},
                     convolutions((1, 9, 11), (1, 8, 23))),
    "conv-groups": ("Conv", {"group": 2, "auto_pad": "SAME_LOWER"},
                    convolutions((2, 5, 7), (1, 2, 2), groups=2)),
    "conv-points": ("Conv", {"kernel_shape": [1, 1]}, convolutions((1, 3, 5), kernel=(1, 1))),
    "conv-1d": ("Conv", {"kernel_shape": [9], "pads": [4, 4]},
                convolutions((2, 11), (1, 3), kernel=(9,))),
    "conv-double": ("Conv", {}, convolutions((1, 5, 6), dtype=np.float64)),
    "conv-half": ("Conv", {}, convolutions((1, 5, 6), dtype=np.float16)),
    "conv-transpose": ("ConvTranspose", {"strides": [2, 3], "pads": [1, 0, 0, 2],
                                         "output_padding": [1, 0]},
                       [(floats(2, 4, 3, 5), floats(4, 6, 3, 2), floats(6)),
                        (floats(1, 4, 1, 97), floats(4, 6, 3, 4), floats(6))]),
    "conv-transpose-same": ("ConvTranspose", {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
                            [(floats(1, 2, 3, 3), floats(2, 5, 3, 3))]),
    "conv-transpose-groups": ("ConvTranspose", {"group": 2, "dilations": [2]},
                              [(floats(2, 4, 5), floats(4, 3, 3), floats(6))]),
    "resize-nearest": ("Resize", {"coordinate_transformation_mode": "asymmetric",
                                  "nearest_mode": "floor"},
                       [(floats(1, 2, 3, 4), NO_REGION, scales(1, 1, 2, 3)),
                        (floats(2, 3, 5, 4), NO_REGION, scales(1, 2, 0.5, 1)),
                        # 8 / 1.6f and 10 * 0.7f are whole numbers in f32 only.
                        (floats(1, 1, 8, 10), NO_REGION, scales(1, 1, 1.6, 0.7))]),
    "grid-sample": ("GridSample", {"padding_mode": "reflection", "align_corners": 1},
                    [(floats(2, 3, 4, 5), 2 * floats(2, 6, 7, 2)),
                     (floats(1, 1, 3, 3), 2 * floats(1, 1, 131, 2))]),
    "grid-sample-zeros": ("GridSample", {}, [(floats(2, 3, 4, 5), floats(2, 6, 7, 2))]),
    "quantize": ("QuantizeLinear", {"axis": 1},
                 [(100 * floats(2, 3, 4), scales(0.5, 1, 2), np.array([1, 128, 255], np.uint16)),
                  (100 * floats(1, 2, 0), scales(1, 1), np.array([0, 0], np.uint16))]),
    "quantize-last": ("QuantizeLinear", {"axis": -1},
                      [(100 * floats(3, 2), scales(0.5, 1), np.array([-1, 3], np.int8))]),
    "dequantize": ("DequantizeLinear", {"axis": 0},
                   [(np.arange(-6, 6, dtype=np.int8).reshape(2, 6), scales(0.5, 2),
                     np.array([1, -2], np.int8))]),
    "lrn": ("LRN", {"size": 3, "alpha": 0.1}, [(floats(1, 5, 3, 4),), (floats(2, 1, 1, 300),)]),
    "scatter-nd": ("ScatterND", {"reduction": "add"},
                   [(floats(4, 3, 20), np.array([[[0, 1], [0, -2]]]), floats(1, 2, 20)),
                    (floats(4, 3, 2), np.array([[[3, 1], [3, 1]]]), floats(1, 2, 2))]),
    "max-unpool": ("MaxUnpool", {"kernel_shape": [2], "strides": [2]},
                   [(floats(1, 2, 3), np.array([[[0, 3, 5], [6, 9, 11]]]))]),
    "argmax": ("ArgMax", {"axis": 1}, [(ORDERED,), (ORDERED.reshape(1, 4, 3),)]),
    "reduce": ("ReduceSum", {}, [(floats(3, 4, 5), np.array([-1, 0])),
                                 (floats(2, 3, 300), np.array([1]))]),
    "reduce-all": ("ReduceSum", {}, [(floats(2, 3), np.zeros(0, np.int64)),
                                     (floats(4, 1), np.array([1, 0]))]),
    "slice": ("Slice", {}, [(floats(5, 6, 7), *np.array([[1, -1], [4, -9], [0, -1], [2, -2]])),
                            (floats(4, 3, 2), *np.array([[-2], [9], [1], [1]]))]),
    "pad-reflect": ("Pad", {"mode": "reflect"}, [(floats(3, 4), np.array([1, 3, 2, 2])),
                                                 (floats(1, 3), np.array([0, 5, 0, -1]))]),
    "pad-edge": ("Pad", {"mode": "edge"}, [(floats(3, 4), np.array([1, 3, 2, 0]))]),
    "compress": ("Compress", {"axis": 1}, [(floats(2, 4, 3), np.array([1, 0, 1], bool)),
                                           (floats(1, 2, 5), np.array([0, 1, 1], bool))]),
    "compress-flat": ("Compress", {}, [(floats(2, 4), np.array([0, 1, 1, 0, 1], bool))]),
    "roi-align": ("RoiAlign", {"output_height": 2, "output_width": 3, "sampling_ratio": 2,
                               "spatial_scale": 0.5},
                  [(floats(2, 3, 6, 7), scales(1, 2, 9, 8, -5, -3, 40, 50).reshape(2, 4),
                    np.array([1, 0])),
                   (floats(1, 1, 1, 1), scales(0, 0, 1, 1).reshape(1, 4), np.array([0]))]),
    "roi-align-max": ("RoiAlign", {"mode": "max", "sampling_ratio": 3, "output_height": 2,
                                   "coordinate_transformation_mode": "output_half_pixel"},
                      [(floats(2, 3, 6, 7), scales(1, 2, 2, 2, -5, -3, 4, 5).reshape(2, 4),
                        np.array([1, 0]))]),
    "range": ("Range", {}, [(np.float32(1), np.float32(4.2), np.float32(0.5)),
                            (np.float32(1), np.float32(-40), np.float32(-2))]),
    "trilu": ("Trilu", {}, [(floats(2, 3, 5), np.array(1)), (floats(1, 5, 3), np.array(-2)),
                            (floats(1, 2, 2), np.array(-2**63))]),
    "trilu-lower": ("Trilu", {"upper": 0}, [(floats(2, 3, 5), np.array(-1)),
                                            (floats(1, 4, 4), np.array(2**63 - 1))]),
    "eye-like": ("EyeLike", {"k": -1}, [(floats(3, 4),), (floats(1, 2),)]),
    "group-norm": ("GroupNormalization", {"num_groups": 3},
                   [(floats(2, 6, 5, 7), floats(6), floats(6)), (floats(1, 3, 1, 300), floats(3), floats(3))]),
    "lp-norm": ("LpNormalization", {"p": 1}, [(floats(3, 40),), (np.zeros((1, 3), "f4"),)]),
    "lp-norm-columns": ("LpNormalization", {"axis": 1}, [(floats(2, 3, 300),), (floats(1, 1, 2),)]),
    "max-pool-places": ("MaxPool", {"kernel_shape": [3, 2], "pads": [1, 1, 1, 0], "strides": [2, 1]},
                        [(floats(2, 3, 5, 7),), (np.ones((1, 1, 4, 300), "f4"),),
                         (np.full((1, 2, 2, 2), -np.inf, "f4"),),
                         (np.array([1, np.nan, 2, 0] * 9, "f4").reshape(1, 1, 6, 6),)]),
    "max-pool-half": ("MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]},
                      [(floats(2, 3, 9, 41, dtype=np.float16),), (floats(1, 1, 5, 7, dtype=np.float16),)]),
    "softmax-half": ("Softmax", {}, [(floats(3, n, dtype=np.float16),) for n in (7, 12, 40)]),
    "softmax-rows": ("Softmax", {}, [(floats(3, n),) for n in (3, 4, 7, 8, 15, 16)]),
    "log-softmax-rows": ("LogSoftmax", {}, [(floats(2, n),) for n in (5, 10, 13)]),
    "average-pool-lines": ("AveragePool", {"kernel_shape": [3, 1]}, [(floats(2, 3, 7, 5),)]),
    "one-hot": ("OneHot", {"axis": 1}, [(np.float32([[1, -2], [0, 9]]), np.array(4), scales(-1, 3))]),
    "rnn": ("RNN", {"hidden_size": 37, "activations": ["ScaledTanh"], "activation_alpha": [0.7],
                    "clip": 0.5}, cells(1, 37, (5, 2), (1, 1))),
    "gru": ("GRU", {"hidden_size": 21, "direction": "bidirectional"},
            cells(3, 21, (4, 3), (1, 1), directions=2)),
    "gru-linear": ("GRU", {"hidden_size": 16, "linear_before_reset": 1, "direction": "reverse",
                           "activations": ["HardSigmoid", "Softsign"]}, cells(3, 16, (6, 2))),
    "lstm": ("LSTM", {"hidden_size": 67}, cells(4, 67, (7, 3), (1, 1), (2, 9))),
    "lstm-peepholes": ("LSTM", {"hidden_size": 5, "clip": 0.8, "direction": "bidirectional"},
                       cells(4, 5, (6, 4), (3, 1), directions=2, peepholes=True)),
    "lstm-functions": ("LSTM", {"hidden_size": 33, "input_forget": 1,
                                "activations": ["HardSigmoid", "Elu", "Softplus"]},
                       cells(4, 33, (3, 2))),
    "reverse-sequence": ("ReverseSequence", {}, [(floats(5, 3, 2), np.array([5, 1, 2]))]),
}


# Host kernels have code for all element types of a model, so that these cases take long to compile.
ONLY_NIGHTLY = ("matmul-double", "matmul-half", "conv-double", "conv-half", "conv-transpose-groups",
                "conv-1d", "gemm-without-bias", "pad-edge", "max-pool-half", "softmax-half")
if not os.environ.get("OPENATC_NIGHTLY"):
    CASES = {name: case for name, case in CASES.items() if name not in ONLY_NIGHTLY}


def type_of(array):
    return mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]


def outputs_of(name):
    """The outputs of a case with their types."""
    operator, _, runs = CASES[name]
    single = onnx.TensorProto.FLOAT
    if operator == "TopK" or name == "max-pool-places":
        return {f"{name}-y": type_of(runs[0][0]), f"{name}-at": onnx.TensorProto.INT64}
    types = {"ArgMax": onnx.TensorProto.INT64, "QuantizeLinear": type_of(runs[0][-1]), "DequantizeLinear": single,
             "OneHot": single}
    return {f"{name}-y": types.get(operator, type_of(runs[0][0]))}


def inputs_of(name, run):
    """The inputs of a case; with fewer runs than others, it repeats its last one."""
    runs = CASES[name][2]
    return {f"{name}-{i}": value for i, value in enumerate(runs[min(run, len(runs) - 1)])}


@pytest.fixture(scope="module")
def results(request, tmp_path_factory):
    """Per run, the outputs of the cases that run, which are one model: of generated code, of host kernels."""
    names = [item.callspec.params["name"] for item in request.session.items
             if item.module is request.module and item.originalname == "test_operator"]
    folder = tmp_path_factory.mktemp("operators")
    nodes, inputs, outputs = [], [], []
    for name in names:
        operator, attributes, _ = CASES[name]
        own = inputs_of(name, 0)
        nodes.append(helper.make_node(operator, list(own), list(outputs_of(name)), name=name,
                                      **attributes))
        inputs += [helper.make_tensor_value_info(each, type_of(value),
                                                 [f"{each}_{d}" for d in range(value.ndim)])
                   for each, value in own.items()]
        outputs += [helper.make_tensor_value_info(each, kind, None)
                    for each, kind in outputs_of(name).items()]
    model = helper.make_model(helper.make_graph(nodes, "net", inputs, outputs),
                              opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = folder / "net.onnx"
    onnx.save(model, str(path))
    sessions = []
    for flags in ([], ["--disable_passes=cpu-generate-calls,host-widen-floats"]):
        own = tmp_path_factory.mktemp("compiled")
        om = compile_model(path, own, *flags)
        assert {body is not None for body in bodies_of(om)} == {not flags}
        sessions.append(Session(RUNTIME, om, threads=2))
    runs = []
    for run in range(max(len(CASES[name][2]) for name in names)):
        feed = {key: value for name in names for key, value in inputs_of(name, run).items()}
        runs.append([session.run_values(feed) for session in sessions])
    yield runs
    for session in sessions:
        session.close()


@pytest.mark.parametrize("name", CASES)
def test_operator(name, results):
    for run, (all_got, all_want) in enumerate(results):
        for each in outputs_of(name):
            got, want = all_got[each], all_want[each]
            shapes = [value.shape for value in inputs_of(name, run).values()]
            assert got.shape == want.shape and got.dtype == want.dtype, shapes
            tolerance = 4e-3 if want.dtype == np.float16 else 2e-5
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance,
                                       err_msg=f"{each} of {shapes}")
    assert any(np.any(all_want[each]) for _, all_want in results for each in outputs_of(name))
