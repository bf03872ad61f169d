#===-- test_mca.py - inner loops on cores that are not at hand ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loops of convolutions and matrix products, simulated by llvm-mca: a change of tiles or of
code generation that spills accumulators or waits for them fails here, on any machine."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import mca  # noqa: E402
from openatc_tools import compile_model, tool  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

pytestmark = pytest.mark.skipif(not mca.llvm_tool("llvm-mca"), reason="llvm-mca is not installed")

# The share of the core's rate that a loop must reach, a little below what it does. Zen 4 waits for
# accumulators in the model of llvm-mca, and the narrow Neoverse N1 for the front end; integer loops
# load and broadcast bytes for each multiplication.
FLOATS = {"skylake-avx512": 0.85, "cascadelake": 0.85, "icelake-server": 0.9,
          "sapphirerapids": 0.9, "znver3": 0.85, "znver4": 0.6, "neoverse-n1": 0.5,
          "neoverse-v1": 0.9}
# Products of Winograd's positions have shorter loops. On NEON they are far below the direct form's.
WINOGRAD = {"skylake-avx512": 0.8, "cascadelake": 0.8, "neoverse-n1": 0.15, "neoverse-v1": 0.25}
INTEGERS = {"cascadelake": 0.65, "icelake-server": 0.65, "sapphirerapids": 0.9, "znver4": 0.65}


def save(path):
    """Convolutions of 3x3, direct and Winograd's, one of 1x1, matrix products of floats and integers."""
    rng = np.random.default_rng(1)
    weights = {"c": rng.standard_normal((64, 64, 3, 3)), "d": rng.standard_normal((64, 64, 1, 1)),
               "e": rng.standard_normal((128, 128, 3, 3)),
               "m": rng.standard_normal((256, 256))}
    constants = [numpy_helper.from_array(w.astype(np.float32), k) for k, w in weights.items()]
    constants.append(numpy_helper.from_array(rng.integers(-99, 99, (256, 256), np.int8), "i"))
    nodes = [helper.make_node("Conv", ["x", "c"], ["y"], pads=[1, 1, 1, 1]),
             helper.make_node("Conv", ["y", "d"], ["z"]),
             helper.make_node("Conv", ["x", "c"], ["s"], pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("Conv", ["w", "e"], ["t"], pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("MatMul", ["a", "m"], ["b"]),
             helper.make_node("MatMulInteger", ["q", "i"], ["r"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "loops", [value("x", TensorProto.FLOAT, [1, 64, 28, 28]),
                         value("w", TensorProto.FLOAT, [1, 128, 56, 56]),
                         value("a", TensorProto.FLOAT, [128, 256]),
                         value("q", TensorProto.UINT8, [128, 256])],
        [value("z", TensorProto.FLOAT, [1, 64, 28, 28]),
         value("s", TensorProto.FLOAT, [1, 64, 14, 14]),
         value("t", TensorProto.FLOAT, [1, 128, 28, 28]), value("b", TensorProto.FLOAT, [128, 256]),
         value("r", TensorProto.INT32, [128, 256])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


def analyze(folder, levels, cores):
    om = compile_model(save(folder / f"loops{len(levels)}.onnx"), folder, f"--target_cpu={levels}")
    dump = json.loads(subprocess.run([tool("om-dump"), om, "--json"], check=True,
                                     capture_output=True).stdout)
    return mca.analyze(om, dump, list(cores))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return analyze(tmp_path_factory.mktemp("mca"), "x86-64-v3,x86-64-v4,aarch64", FLOATS)


@pytest.fixture(scope="module")
def vnni_rows(tmp_path_factory):
    """Weights are packed for exact dot products only where all levels of a file have them."""
    return analyze(tmp_path_factory.mktemp("vnni"), "x86-64-v4-vnni", INTEGERS)


@pytest.mark.parametrize("core", FLOATS)
def test_float_loops(rows, core):
    found = [row for row in rows if row.core == core and
             row.kernel.startswith(("conv2d", "matmul", "winograd"))]
    assert {row.kernel for row in found} >= {"conv2d_3x3", "conv2d_1x1", "matmul_packed",
                                            "winograd_4x4"}
    for row in found:
        shares = FLOATS | WINOGRAD if row.kernel.startswith("winograd") else FLOATS
        assert row.share >= shares[core], row


def test_accumulators_stay_in_registers(rows):
    """A tile that uses all of the 32 registers had two moves to or from the stack for five
    multiplications where the stride is 2."""
    found = [row for row in rows if row.core == "icelake-server" and
             row.kernel.startswith(("conv2d", "matmul", "winograd"))]
    assert {row.kernel for row in found} >= {"conv2d_3x3", "matmul_packed"}
    assert not [row for row in found if row.stack * 16 > row.multiplies]


@pytest.mark.parametrize("core", INTEGERS)
def test_integer_loops(vnni_rows, core):
    found = [row for row in vnni_rows if row.core == core and row.kernel.startswith("integer_conv2d")]
    assert found
    for row in found:
        assert row.share >= INTEGERS[core], row


def test_levels(rows):
    """A core is measured with the image that the loader selects there."""
    level = {row.core: row.level for row in rows}
    assert level["znver3"] == "x86-64-v3" and level["skylake-avx512"] == "x86-64-v4"
    assert level["cascadelake"] == "x86-64-v4" and level["neoverse-n1"] == "armv8-a"


def test_waiting_loop_is_found():
    """One accumulator waits for itself; 12 do not."""
    def region(count):
        return [f"vfmadd231ps %ymm14, %ymm15, %ymm{i % count}" for i in range(12)]
    (waiting, why), (busy, _) = mca.simulate([region(1), region(12)], "x86-64", "znver3")
    assert waiting > 6 * busy and why == "data dependencies"
