# ===-- test_npu_transformers.py - attention and fused operators on the NPU ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, rotary embeddings and what ONNX Runtime fuses run on NPUs where shapes are fixed, and compute what the host
kernels compute.

Needs numpy, pytest and the onnx package.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from openatc_tools import call, tool  # noqa: E402

RNG = np.random.default_rng(17)
TYPES = {np.dtype("f4"): TensorProto.FLOAT, np.dtype("i8"): TensorProto.INT64, np.dtype("i4"): TensorProto.INT32, np.dtype("bool"): TensorProto.BOOL}


def floats(*shape):
    return RNG.standard_normal(shape).astype("f4")


def results(folder, op, inputs, constants, outputs, flags, **attributes):
    """The outputs of one node on a target; `inputs` are arrays or None, of which those in `constants` are stored."""
    names = [f"i{n}" if array is not None else "" for n, array in enumerate(inputs)]
    info = helper.make_tensor_value_info
    feeds = {name: array for n, (name, array) in enumerate(zip(names, inputs)) if name and n not in constants}
    domain, _, kind = op.rpartition(".")
    graph = helper.make_graph(
        [helper.make_node(kind, names, [f"y{n}" for n in range(outputs)], name="node", domain=domain, **attributes)],
        "g", [info(name, TYPES[array.dtype], array.shape) for name, array in feeds.items()],
        [info(f"y{n}", TensorProto.FLOAT, None) for n in range(outputs)],
        [numpy_helper.from_array(inputs[n], names[n]) for n in constants])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), str(folder / "m.onnx"))
    code, out, err = call(tool("atc"), f"--model={folder / 'm.onnx'}", "--framework=5", f"--output={folder / 'm'}",
                          f"--json={folder / 'm.json'}", *flags)
    assert code == 0, out + err
    given = []
    for name, array in feeds.items():
        np.save(folder / f"{name}.npy", array)
        given += ["--input", f"{name}={folder / name}.npy"]
    code, out, err = call(tool("om-run"), folder / "m.om", *given, "--output", folder / "out")
    assert code == 0, out + err
    layers = json.loads((folder / "m.json").read_text()).get("placement", {}).get("cpu_layers", [])
    return [np.load(folder / "out" / f"y{n}.npy") for n in range(outputs)], [layer["kernel"] for layer in layers]


HIDDEN = 32
MASK = np.where(RNG.random((2, 1, 6, 6)) < 0.3, np.float32(-1e4), 0).astype("f4")
ALLOWED = RNG.random((2, 1, 6, 6)) < 0.7
ALLOWED[1, 0, 2] = False  # sees no key
MICROSOFT = "com.microsoft."
QKV = [floats(2, 6, HIDDEN) for _ in "qkv"]
SHARED = [floats(2, 6, HIDDEN), floats(2, 6, HIDDEN // 2), floats(2, 6, HIDDEN // 2)]
SPLIT = [floats(2, 4, 6, 8) for _ in "qkv"]
PAST = [floats(2, 2, 3, 8) for _ in "kv"]
ANGLES = RNG.uniform(0, 6, (2, 6, 4))
TABLES = [np.cos(ANGLES).astype("f4"), np.sin(ANGLES).astype("f4")]
ROWS = [np.cos(RNG.uniform(0, 6, (12, 4))).astype("f4"), np.sin(RNG.uniform(0, 6, (12, 4))).astype("f4")]
LENGTHS, SEEN = np.array([6, 3], "i4"), (RNG.random((2, 6)) < 0.7).astype("i4")
SEEN[:, 0] = 1
ONE, FOUR = [floats(2, 1, 32), floats(2, 1, 16), floats(2, 1, 16)], [floats(1, 4, 32), floats(1, 4, 16), floats(1, 4, 16)]
CACHE, LONG = [floats(2, 2, 11, 8) for _ in "kv"], [floats(1, 2, 16, 8) for _ in "kv"]
FLAT = [np.cos(RNG.uniform(0, 6, (24, 4))).astype("f4"), np.sin(RNG.uniform(0, 6, (24, 4))).astype("f4")]
GROUP = MICROSOFT + "GroupQueryAttention"
HEADS = dict(num_heads=4, kv_num_heads=2)
LAST, TOTAL = np.array([11, 4], "i4"), np.array(12, "i4")
GAMMA, BETA, BIAS = floats(HIDDEN), floats(HIDDEN), floats(HIDDEN)
PROJECTION = [QKV[0], floats(HIDDEN, 3 * HIDDEN) / 6, floats(3 * HIDDEN)]
CASES = {  # operator, inputs, which are constants, number of outputs, attributes
    "attention": ("Attention", SPLIT, (), 1, {}),
    "causal": ("Attention", QKV, (), 1, dict(q_num_heads=4, kv_num_heads=4, is_causal=1)),
    "shared": ("Attention", SHARED, (), 1, dict(q_num_heads=4, kv_num_heads=2, scale=0.3, softcap=2.0)),
    "mask": ("Attention", [*SHARED, MASK], (), 1, dict(q_num_heads=4, kv_num_heads=2)),
    "bools": ("Attention", [*QKV, ALLOWED], (), 1, dict(q_num_heads=4, kv_num_heads=4)),
    "past": ("Attention", [*SHARED, None, *PAST], (), 3, dict(q_num_heads=4, kv_num_heads=2, is_causal=1)),
    "heads": (MICROSOFT + "MultiHeadAttention", [*QKV, floats(3 * HIDDEN)], (3,), 1, dict(num_heads=4)),
    "addend": (MICROSOFT + "MultiHeadAttention", [*QKV, None, None, MASK], (), 1, dict(num_heads=4, scale=0.2)),
    "later": (MICROSOFT + "MultiHeadAttention", QKV, (), 3, dict(num_heads=4, unidirectional=1)),
    "projected": (MICROSOFT + "Attention", PROJECTION, (1, 2), 1, dict(num_heads=4)),
    "lengths": (MICROSOFT + "Attention", [*PROJECTION, LENGTHS], (1, 2), 1, dict(num_heads=4)),
    "seen": (MICROSOFT + "Attention", [*PROJECTION, SEEN], (1, 2), 1, dict(num_heads=4, unidirectional=1)),
    "rotary": ("RotaryEmbedding", [QKV[0], *TABLES], (), 1, dict(num_heads=4)),
    "interleaved": ("RotaryEmbedding", [SPLIT[0], *TABLES], (1, 2), 1, dict(interleaved=1)),
    "part": ("RotaryEmbedding", [SPLIT[0], *(t[..., :3] for t in TABLES)], (1, 2), 1,
             dict(rotary_embedding_dim=6)),
    "positions": (MICROSOFT + "RotaryEmbedding", [QKV[0], np.array([5]), *ROWS], (1, 2, 3), 1, {}),
    "step": (GROUP, [*ONE, *CACHE, LAST, TOTAL, *FLAT], (6, 7, 8), 3, dict(HEADS, do_rotary=1)),
    "packed step": (GROUP, [np.concatenate(ONE, 2), None, None, *CACHE, LAST, TOTAL, *FLAT], (6, 7, 8), 3,
                    dict(HEADS, do_rotary=1, rotary_interleaved=1, local_window_size=5, softcap=3.0)),
    "shared buffer": (GROUP, [*ONE, *CACHE, LAST - 1, np.array(4, "i4"), *FLAT], (6, 7, 8), 3, dict(HEADS, do_rotary=1)),
    "prompt": (GROUP, [*FOUR, None, None, np.array([2], "i4"), np.array(4, "i4"), *FLAT], (6, 7, 8), 3,
               dict(HEADS, do_rotary=1)),
    "chunk": (GROUP, [*FOUR, *LONG, np.array([13], "i4"), np.array(20, "i4"), *FLAT], (6, 7, 8), 3,
              dict(HEADS, do_rotary=1, scale=0.2)),
    "sinks": (GROUP, [*ONE, *CACHE, LAST, TOTAL, None, None, None, None, floats(4)], (6,), 3, HEADS),
    "norms": (GROUP, [*ONE, *CACHE, LAST, TOTAL, *FLAT, np.array([[9], [3]]), *[None] * 4, floats(8), floats(8)],
              (6, 7, 8, 14, 15), 3, dict(HEADS, do_rotary=1, qk_norm_epsilon=0.1)),
    "added": (GROUP, [*ONE, *CACHE, LAST, TOTAL, None, None, None, floats(2, 1, 1, 12)], (6,), 3,
              dict(HEADS, smooth_softmax=1)),
    "gelu": (MICROSOFT + "BiasGelu", [QKV[0], BIAS], (1,), 1, {}),
    "tanh gelu": (MICROSOFT + "FastGelu", [QKV[0], BIAS], (1,), 1, {}),
    "no bias": (MICROSOFT + "FastGelu", [QKV[0]], (), 1, {}),
    "quick gelu": (MICROSOFT + "QuickGelu", [QKV[0]], (), 1, dict(alpha=1.5)),
    "split gelu": (MICROSOFT + "BiasSplitGelu", [QKV[0], BIAS], (1,), 1, {}),
    "rms": ("SimplifiedLayerNormalization", [QKV[0], GAMMA], (1,), 1, dict(epsilon=0.1)),
    "skip": (MICROSOFT + "SkipLayerNormalization", [QKV[0], QKV[1], GAMMA, BETA, BIAS], (2, 3, 4), 1, {}),
    "skip broadcast": (MICROSOFT + "SkipLayerNormalization", [QKV[0], QKV[1][:1], GAMMA], (2,), 1, {}),
    "skip rms": (MICROSOFT + "SkipSimplifiedLayerNormalization", [QKV[0], QKV[1], GAMMA, BIAS], (2, 3), 1,
                 dict(epsilon=0.1)),
    "product": (MICROSOFT + "FusedMatMul", [SPLIT[0], SPLIT[1]], (), 1, dict(alpha=0.5, transB=1)),
    "gemm": (MICROSOFT + "FusedGemm", [floats(6, 32), floats(16, 32), floats(16)], (1, 2), 1,
             dict(activation="Relu", transB=1, alpha=0.5, beta=2.0)),
    "conv": (MICROSOFT + "FusedConv", [floats(1, 8, 9, 9), floats(12, 8, 3, 3) / 8, floats(12), floats(1, 12, 5, 5)],
             (1, 2), 1, dict(activation="Relu", strides=[2, 2], pads=[1, 1, 1, 1])),
}


@pytest.mark.parametrize("case", CASES)
def test_an_operator_runs_on_the_npu(case, tmp_path):
    op, inputs, constants, outputs, attributes = CASES[case]
    want, _ = results(tmp_path, op, inputs, constants, outputs,
                      ["--target=cpu", "--disable_passes=host-expand-fused"], **attributes)
    for soc in ("Ascend310P3", "Ascend910B1"):
        got, on_cpu = results(tmp_path, op, inputs, constants, outputs, [f"--soc_version={soc}"], **attributes)
        # The mask of integers is compared on the CPU.
        assert all(kernel.startswith("map_") for kernel in on_cpu) and (not on_cpu or case in ("lengths", "seen")), on_cpu
        for a, b in zip(got, want):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=0.02, atol=0.01 * np.abs(b).max())


@pytest.mark.parametrize("case", ["skip", "past"])
def test_a_switch_keeps_the_host_kernel(case, tmp_path):
    op, inputs, constants, outputs, attributes = CASES[case]
    flags = ["--soc_version=Ascend310P3", "--disable_passes=host-expand-fused,host-expand-attention"]
    _, on_cpu = results(tmp_path, op, inputs, constants, outputs, flags, **attributes)
    assert on_cpu


def test_a_fused_convolution_of_a_known_size_is_a_convolution(tmp_path):
    """On the CPU as well: generated code, and the same values as the host kernel's."""
    op, inputs, constants, outputs, attributes = CASES["conv"]
    want, _ = results(tmp_path, op, inputs, constants, outputs,
                      ["--target=cpu", "--disable_passes=host-expand-fused"], **attributes)
    got, _ = results(tmp_path, op, inputs, constants, outputs, ["--target=cpu"], **attributes)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-5, atol=1e-5)
    code, out, _ = call(tool("om-dump"), tmp_path / "m.om")
    assert code == 0 and "conv2d" in out and "BlockedConv" not in out


def test_positions_that_tables_of_angles_lack(tmp_path):
    """A gather of rows would take the last one; the host kernel refuses them."""
    for rows, positions, text in ((8, None, "position 11 is not in the cache of 8"), (16, [[3], [16]], "i9")):
        tables = [floats(rows, 4), floats(rows, 4)]
        more = [] if positions is None else [np.array(positions, "i8")]
        with pytest.raises(AssertionError, match=text):
            results(tmp_path, GROUP, [*ONE, *CACHE, LAST, TOTAL, *tables, *more], (6, 7, 8), 3, ["--soc_version=Ascend310P3"],
                    **HEADS, do_rotary=1)
