#===-- test_npu_recurrent.py - RNN, GRU and LSTM on the NPU ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent operators in all their forms leave no multiplication on the CPU and compute what it does.

Needs numpy, pytest and the onnx package.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402

STEPS, BATCH, FEATURES, HIDDEN = 5, 3, 20, 18
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
# Operator, attributes, and which optional inputs it has beside the biases.
FORMS = [
    ("LSTM", {}, ""),
    ("LSTM", {"direction": "bidirectional"}, "hc"),
    ("LSTM", {"direction": "reverse", "layout": 1, "clip": 0.7}, "hcp"),
    ("LSTM", {"input_forget": 1, "activations": ["HardSigmoid", "Softsign", "Relu"],
              "activation_alpha": [0.3], "activation_beta": [0.4]}, "l"),
    ("GRU", {}, "h"),
    ("GRU", {"linear_before_reset": 1, "direction": "bidirectional"}, ""),
    ("GRU", {"linear_before_reset": 1, "layout": 1, "activations": ["Sigmoid", "ScaledTanh"],
             "activation_alpha": [1.2], "activation_beta": [0.8]}, "h"),
    ("RNN", {"direction": "bidirectional", "activations": ["Affine", "LeakyRelu"],
             "activation_alpha": [0.5, 0.2], "activation_beta": [0.1]}, "h"),
    # Sequences whose lengths only the run knows.
    ("LSTM", {"direction": "bidirectional"}, "hcv"),
    # Gates that an exporter put into order.
    ("GRU", {"direction": "reverse", "layout": 1}, "vg"),
]
LENGTHS = np.array([5, 2, 3], np.int32)


def model(path):
    rng = np.random.default_rng(4)
    nodes, constants, outputs = [], {}, []
    for i, (kind, attributes, optional) in enumerate(FORMS):
        both = attributes.get("direction") == "bidirectional"
        directions, gates, by_batch = 1 + both, GATES[kind], attributes.get("layout", 0)

        def constant(name, *shape):
            constants[f"{name}{i}"] = rng.normal(size=shape, scale=0.25).astype(np.float32)
            return f"{name}{i}"

        state = (BATCH, directions, HIDDEN) if by_batch else (directions, BATCH, HIDDEN)
        inputs = ["xb" if by_batch else "x", constant("w", directions, gates * HIDDEN, FEATURES),
                  constant("r", directions, gates * HIDDEN, HIDDEN),
                  constant("b", directions, 2 * gates * HIDDEN), "",
                  constant("h", *state) if "h" in optional else "",
                  constant("c", *state) if "c" in optional else "",
                  constant("p", directions, 3 * HIDDEN) if "p" in optional else ""]
        if "l" in optional:
            inputs[4] = "lengths"
            constants["lengths"] = np.full(BATCH, STEPS, np.int32)
        if "g" in optional:
            for part, rows in enumerate((HIDDEN, (gates - 1) * HIDDEN)):
                constants[f"w{i}{part}"] = constants[f"w{i}"][:, :rows]
            del constants[f"w{i}"]
            nodes.append(helper.make_node("Concat", [f"w{i}0", f"w{i}1"], [f"w{i}"], axis=1))
        if "v" in optional:
            inputs[4] = "ends"
        inputs = inputs[:8 if kind == "LSTM" else 6]
        names = [f"y{i}", f"h{i}out", f"c{i}out"][:3 if kind == "LSTM" else 2]
        nodes.append(helper.make_node(kind, inputs, names, name=f"{kind.lower()}{i}",
                                      hidden_size=HIDDEN, **attributes))
        outputs += names
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, (STEPS, BATCH, FEATURES)),
                     info("xb", TensorProto.FLOAT, (BATCH, STEPS, FEATURES)),
                     info("ends", TensorProto.INT32, (BATCH,))],
        [info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8),
              str(path))


def outputs_of(folder, name, *flags):
    file = folder / name
    code, out, err = call(tool("atc"), f"--model={folder / 'm.onnx'}", "--framework=5",
                          f"--output={file}", f"--json={file}.json", *flags)
    assert code == 0, out + err
    code, out, err = call(tool("om-run"), f"{file}.om", "--input", f"{folder}/x.npy,{folder}/xb.npy,{folder}/ends.npy",
                          "--output", folder / f"{name}-out",
                          *(["--check-hazards"] if name.startswith("Ascend") else []))
    assert code == 0, out + err
    values = {path.stem: np.load(path) for path in (folder / f"{name}-out").glob("*.npy")}
    return values, json.loads(Path(f"{file}.json").read_text())


def test_all_forms_run_on_the_npu(tmp_path):
    model(tmp_path / "m.onnx")
    x = np.random.default_rng(2).normal(size=(STEPS, BATCH, FEATURES)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "xb.npy", np.ascontiguousarray(x.transpose(1, 0, 2)))
    np.save(tmp_path / "ends.npy", LENGTHS)
    expected, _ = outputs_of(tmp_path, "cpu", "--target=cpu")
    assert len(expected) == sum(2 + (kind == "LSTM") for kind, _, _ in FORMS)
    for soc in ("Ascend310P3", "Ascend910B1"):
        got, summary = outputs_of(tmp_path, soc, f"--soc_version={soc}")
        assert summary["placement"]["cpu"]["kernels"] == 0, summary["placement"]["cpu_layers"]
        for name, values in expected.items():
            np.testing.assert_allclose(got[name], values, atol=4e-3, err_msg=f"{soc} {name}")


def test_without_the_pass_they_are_calls_of_the_cpu(tmp_path):
    model(tmp_path / "m.onnx")
    for name, shape in (("x", (STEPS, BATCH, FEATURES)), ("xb", (BATCH, STEPS, FEATURES))):
        np.save(tmp_path / f"{name}.npy", np.zeros(shape, np.float32))
    np.save(tmp_path / "ends.npy", LENGTHS)
    _, summary = outputs_of(tmp_path, "plain", "--soc_version=Ascend310P3",
                            "--disable_passes=host-expand-recurrent")
    kept = {layer["name"] for layer in summary["placement"]["cpu_layers"]}
    assert {f"{kind.lower()}{i}" for i, (kind, _, _) in enumerate(FORMS)} <= kept, kept
