#===-- test_ties.py - among equal values the order is that of ONNX Runtime --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TopK, ArgMax, ArgMin and NonMaxSuppression on data with many equal values: the lower index comes
first (the last one with select_last_index), as in ONNX Runtime, whatever runs them.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int64": TensorProto.INT64,
         "uint8": TensorProto.UINT8}
WAYS = ["fixed", "dynamic", "Ascend310P3", "Ascend910B1"]
CASES = [(way, element) for way in WAYS for element in TYPES
         if not way.startswith("Ascend") or element.startswith("float")]
info = helper.make_tensor_value_info


def answers(folder, way, nodes, arrays, outputs, constants=()):
    """Compiles a graph and returns its outputs for `arrays`."""
    def dims(array):
        return [f"d{i}" for i in range(array.ndim)] if way == "dynamic" else array.shape
    inputs = [info(name, TYPES[array.dtype.name], dims(array)) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "ties", inputs, outputs, list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    target = f"--soc_version={way}" if way.startswith("Ascend") else "--target=cpu"
    code, out, err = call(tool("atc"), f"--model={folder / 'm.onnx'}", "--framework=5", target,
                          f"--output={folder / 'm'}")
    assert code == 0, out + err
    files = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        files.append(f"{name}={folder / name}.npy")
    code, out, err = call(tool("om-run"), folder / "m.om", "--input", ",".join(files), "--output",
                          folder / "out")
    assert code == 0, out + err
    return [np.load(folder / "out" / f"{output.name}.npy") for output in outputs]


@pytest.mark.parametrize("way, element", CASES)
def test_top_k(tmp_path, way, element):
    random = np.random.default_rng(3)
    forms = [(n, k, axis, largest, random.integers(0, 6, shape).astype(element))
             for n, (shape, axis, k) in enumerate([([3, 20], 1, 7), ([20, 3], 0, 20),
                                                   ([1, 1000], 1, 300)]) for largest in (0, 1)]
    names = [f"{n}_{largest}" for n, _, _, largest, _ in forms]
    nodes = [helper.make_node("TopK", ["x" + name, "k" + name], ["v" + name, "i" + name],
                              axis=axis, largest=largest)
             for name, (_, _, axis, largest, _) in zip(names, forms)]
    outputs = [info(kind + name, TYPES[element] if kind == "v" else TensorProto.INT64, None)
               for name in names for kind in "vi"]
    got = answers(tmp_path, way, nodes, {"x" + name: form[-1] for name, form in zip(names, forms)},
                  outputs, [numpy_helper.from_array(np.array([form[1]]), "k" + name)
                            for name, form in zip(names, forms)])
    for (_, k, axis, largest, x), values, indices in zip(forms, got[::2], got[1::2]):
        key = -x.astype(np.int64) if largest else x.astype(np.int64)
        want = np.take(np.argsort(key, axis=axis, kind="stable"), range(k), axis=axis)
        np.testing.assert_array_equal(indices, want)
        np.testing.assert_array_equal(values, np.take_along_axis(x, want, axis))


@pytest.mark.parametrize("way, element", CASES)
def test_arg(tmp_path, way, element):
    x = np.random.default_rng(8).integers(0, 3, [4, 37, 5]).astype(element)
    forms = [(kind, axis, last) for kind in ("ArgMax", "ArgMin") for axis in (1, 2)
             for last in (0, 1)]
    nodes = [helper.make_node(kind, ["x"], [f"y{n}"], axis=axis, select_last_index=last, keepdims=0)
             for n, (kind, axis, last) in enumerate(forms)]
    got = answers(tmp_path, way, nodes, {"x": x},
                  [info(f"y{n}", TensorProto.INT64, None) for n in range(len(forms))])
    for (kind, axis, last), result in zip(forms, got):
        pick = np.argmax if kind == "ArgMax" else np.argmin
        want = x.shape[axis] - 1 - pick(np.flip(x, axis), axis) if last else pick(x, axis)
        np.testing.assert_array_equal(result, want, err_msg=f"{kind} {axis} {last}")


@pytest.mark.parametrize("way", WAYS)
def test_non_max_suppression(tmp_path, way):
    # Boxes apart from each other, all of one of two scores: the order is all there is to see.
    count = 24
    left = np.arange(count, dtype=np.float32) * 10
    boxes = np.stack([left, left, left + 4, left + 4], -1)[None]
    scores = (np.random.default_rng(2).integers(1, 3, (1, 1, count)) / 4).astype(np.float32)
    nodes = [helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap"], ["y"])]
    result, = answers(tmp_path, way, nodes, {"boxes": boxes, "scores": scores},
                      [info("y", TensorProto.INT64, None)],
                      [numpy_helper.from_array(np.array([count - 4]), "most"),
                       numpy_helper.from_array(np.array([0.5], np.float32), "overlap")])
    want = np.argsort(-scores[0, 0], kind="stable")[:count - 4]
    np.testing.assert_array_equal(result[:, 2], want)
