#===-- test_recurrent_levels.py - recurrent cells compiled for CPU levels ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cells with constant weights, which the compiler packs, in the code of CPU levels: their register
tiles differ. test/kernels/test_recurrent.py compares the kernels themselves with numpy."""

import platform
import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("common", "kernels")]
import host_kernels  # noqa: E402
from openatc_runtime import Session  # noqa: E402
from openatc_tools import BUILD, RUNTIME, compile_model  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

# 16 rows of data, of which a tile has 6, 3 or 1; 5 whole panels of an LSTM of 80 units, and a part
# of one of a GRU.
STEPS, BATCH, INPUTS, HIDDEN = 2, 8, 21, 80
CELLS = {"lstm": ("LSTM", 4, 2, {"direction": "bidirectional"}),
         "gru": ("GRU", 3, 1, {"linear_before_reset": 1}),
         "gru_reset": ("GRU", 3, 1, {"direction": "reverse"})}


def weights_of(gates, directions, hidden=HIDDEN):
    rng = np.random.default_rng(gates)
    shapes = [(directions, gates * hidden, INPUTS), (directions, gates * hidden, hidden),
              (directions, 2 * gates * hidden)]
    return [(0.2 * HIDDEN / hidden * rng.standard_normal(shape)).astype(np.float32)
            for shape in shapes]


def save(path, steps=STEPS, batch=BATCH, hidden=HIDDEN):
    nodes, constants = [], []
    for name, (kind, gates, directions, attributes) in CELLS.items():
        inputs = [f"{name}_{part}" for part in "wrb"]
        constants += [numpy_helper.from_array(array, key)
                      for key, array in zip(inputs, weights_of(gates, directions, hidden))]
        nodes.append(helper.make_node(kind, ["x", *inputs], [name], hidden_size=hidden,
                                      **attributes))
    value = helper.make_tensor_value_info
    outputs = [value(name, TensorProto.FLOAT, [steps, cell[2], batch, hidden])
               for name, cell in CELLS.items()]
    graph = helper.make_graph(nodes, "cells",
                              [value("x", TensorProto.FLOAT, [steps, batch, INPUTS])], outputs,
                              constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


@pytest.mark.parametrize("level", ["x86-64-v3", "host"])
def test_levels(tmp_path, level):
    om = compile_model(save(tmp_path / "cells.onnx"), tmp_path, f"--target_cpu={level}")
    session = Session(RUNTIME, om)
    x = np.random.default_rng(1).standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32)
    session.inputs[0][1][...] = x
    session.run()
    results = {name: array.copy() for name, array in session.outputs}
    session.close()
    for name, (kind, gates, directions, attributes) in CELLS.items():
        want = host_kernels.call(kind, x, *weights_of(gates, directions), outputs=1, **attributes)[0]
        np.testing.assert_allclose(results[name], want, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("level", ["x86-64-v3", "host"])
@pytest.mark.parametrize("hidden", [220, 224])
def test_threads(tmp_path, level, hidden):
    """Threads share the units of a step, and the directions; the results have the same bits. Weights
    that one sequence reads have 24 bits, or 16 where the units are a multiple of 32."""
    steps, batch = 40, 1
    om = compile_model(save(tmp_path / "cells.onnx", steps, batch, hidden), tmp_path,
                       f"--target_cpu={level}")
    x = np.random.default_rng(1).standard_normal((steps, batch, INPUTS)).astype(np.float32)
    results = []
    for threads in (1, 2, 3):
        session = Session(RUNTIME, om, threads)
        session.inputs[0][1][...] = x
        for _ in range(3):
            session.run()
        results.append({name: array.copy() for name, array in session.outputs})
        session.inputs[0][1][steps // 2] = np.nan
        session.run()
        # A state of NaN reaches all units of the steps behind it.
        for name, array in session.outputs:
            known = np.isfinite(array).all((2, 3))
            backward = CELLS[name][3].get("direction") == "reverse"
            assert known[:steps // 2, 0].all() != backward == known[steps // 2 + 1:, 0].all(), name
            assert np.isnan(array[steps // 2 + (-1 if backward else 1), 0]).all(), name
        session.close()
    for name, (kind, gates, directions, attributes) in CELLS.items():
        want = host_kernels.call(kind, x, *weights_of(gates, directions, hidden), outputs=1,
                                 **attributes)[0]
        np.testing.assert_allclose(results[0][name], want, atol=4e-5, err_msg=name)
        for other in results[1:]:
            np.testing.assert_array_equal(other[name], results[0][name], err_msg=name)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines have other levels")
@pytest.mark.parametrize("level", ["host", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni"])
@pytest.mark.parametrize("kind, gates", [("LSTM", 4), ("GRU", 3)])
def test_compiler_has_the_code_of_cells(tmp_path, kind, gates, level):
    """Nothing is generated, which would take seconds, where steps and batch are dynamic."""
    named = re.search(r"OPENATC_PREBUILT_LEVELS:STRING=(.*)", (BUILD / "CMakeCache.txt").read_text())[1]
    built = set(re.findall(r'"(x86-64-v\d)"', (BUILD / "backends/cpu/PrebuiltKernels.inc").read_text()))
    if not (level == "host" and "host" in named.split(",")) and not level.startswith(tuple(built)):
        pytest.skip(f"this build has the code of {', '.join(sorted(built)) or 'no level'}")
    w, r, b = weights_of(gates, 1)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(kind, ["x", "w", "r", "b"], ["y"], hidden_size=HIDDEN)], "cell",
        [value("x", TensorProto.FLOAT, ["steps", "batch", INPUTS])],
        [value("y", TensorProto.FLOAT, ["steps", 1, "batch", HIDDEN])],
        [numpy_helper.from_array(array, name) for name, array in zip("wrb", (w, r, b))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.save(model, str(tmp_path / "cell.onnx"))
    cache = tmp_path / "cache"
    compile_model(tmp_path / "cell.onnx", tmp_path, f"--target_cpu={level}",
                  f"--op_compiler_cache_dir={cache}")
    # That of a host kernel would be larger than what is generated around it.
    assert sum(file.stat().st_size for file in cache.glob("*")) < 10000
