#===-- test_winograd.py - the switches of Winograd convolutions --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each way to select the form of a 3x3 convolution of f32 reaches the kernels of the file, and the
answers are those of a reference in numpy."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, tool  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A model with one convolution, its input and what it must answer."""
    rng = np.random.default_rng(1)
    w = rng.standard_normal((32, 16, 3, 3)).astype(np.float32)
    x = rng.standard_normal((1, 16, 30, 29)).astype(np.float32)
    shapes = [("x", x.shape), ("y", (1, 32, 30, 29))]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
              for name, shape in shapes]
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    model = helper.make_model(
        helper.make_graph([node], "graph", values[:1], values[1:], [numpy_helper.from_array(w, "w")]),
        opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    path = tmp_path_factory.mktemp("winograd") / "conv.onnx"
    onnx.save(model, str(path))
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    return path, x, np.einsum("nchwij,ocij->nohw", windows, w)


def build(network, folder, *flags):
    """Compiles and runs; returns the name of the convolution's kernel and what atc printed."""
    path, x, want = network
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5", "--target=cpu",
                          "--target_cpu=x86-64-v3", f"--output={folder / 'conv'}", *flags)
    assert code == 0, out + err
    om = folder / "conv.om"
    session = Session(RUNTIME, om)
    session.inputs[0][1][...] = x
    session.run()
    got = session.outputs[0][1].copy()
    session.close()
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-5 * np.ptp(want))
    code, dump, error = call(tool("om-dump"), om, "--json")
    assert code == 0, error
    (kernel,) = [name for name in json.loads(dump)["kernels"]
                 if name.startswith(("conv2d", "winograd"))]
    return kernel, out + err


@pytest.fixture(scope="module")
def bank_entry(network, tmp_path_factory):
    """The line of a bank for the convolution, with what is chosen without one."""
    kernel, text = build(network, tmp_path_factory.mktemp("choice"), "--remarks=analysis")
    assert kernel == "winograd_4x4"
    (line,) = [line for line in text.splitlines() if 'key "cpu-select-winograd|' in line]
    name, target, op, operands, digest = line.split('for the key "')[1].rstrip('"').split("|")
    return {"format": 1, "pass": name, "target": target, "op": op,
            "operands": operands.split(","), "hash": digest,
            "compiler": call(tool("atc"), "--version")[1].split()[1],
            "choice": "4x4", "before_cycles": 1, "after_cycles": 1, "model": "conv"}


def test_a_disabled_pass_keeps_the_direct_form(network, tmp_path):
    assert build(network, tmp_path, "--disable_passes=cpu-select-winograd")[0] == "conv2d_3x3"


def test_a_fusion_switch_keeps_the_direct_form(network, tmp_path):
    switches = tmp_path / "fusion.cfg"
    switches.write_text("Conv2DWinogradFusionPass:off\n")
    assert build(network, tmp_path, f"--fusion_switch_file={switches}")[0] == "conv2d_3x3"


@pytest.mark.parametrize("choice, kernel", [("2x2", "winograd_2x2"), ("direct", "conv2d_3x3"),
                                            ("3x3", "winograd_4x4")])
def test_a_bank_sets_the_form(network, bank_entry, tmp_path, choice, kernel):
    bank = tmp_path / "bank.jsonl"
    bank.write_text(json.dumps({**bank_entry, "choice": choice}) + "\n")
    built, text = build(network, tmp_path, f"--op_bank_path={bank}")
    assert built == kernel
    assert ("it must be direct, 2x2 or 4x4" in text) == (choice == "3x3"), text
