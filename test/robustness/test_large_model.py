#===-- test_large_model.py - a model of 3 GB with external data ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs a static model above the 2 GB that a protobuf message can hold, within
1.3 times its weights and 300 MB of memory. With OPENATC_NIGHTLY only: it writes 6 GB.

Needs numpy, pytest and the onnx package.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, tool  # noqa: E402

pytestmark = pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"),
                                reason="with OPENATC_NIGHTLY only")
WIDTH, LAYERS = 8192, 12


def write(folder, layers, rows):
    """Writes x -> relu(x w) through all layers, with one file of external data."""
    rng = np.random.default_rng(9)
    constants, nodes, value = [], [], "x"
    with open(folder / "weights.bin", "wb") as file:
        for i in range(layers):
            weight = onnx.TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT,
                                      dims=[WIDTH, WIDTH],
                                      data_location=TensorProto.EXTERNAL)
            for key, entry in (("location", "weights.bin"), ("offset", file.tell()),
                               ("length", WIDTH * WIDTH * 4)):
                weight.external_data.add(key=key, value=str(entry))
            (rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) * np.float32(0.015)).tofile(file)
            constants.append(weight)
            nodes += [helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"]),
                      helper.make_node("Relu", [f"m{i}"], [f"r{i}"])]
            value = f"r{i}"
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "large", [info("x", TensorProto.FLOAT, [rows, WIDTH])],
                              [info(value, TensorProto.FLOAT, [rows, WIDTH])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "large.onnx").write_bytes(model.SerializeToString())
    return value


@pytest.fixture
def folder(tmp_path):
    """A folder that is removed at once: pytest would keep that of several runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_three_gigabytes(folder):
    result = write(folder, LAYERS, rows=1)
    weights = (folder / "weights.bin").stat().st_size
    # A process of its own, whose peak is that of the compiler alone.
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
              "print('PEAK', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", script, tool("atc"),
                           f"--model={folder}/large.onnx", "--framework=5", "--target=cpu",
                           f"--output={folder}/large"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    peak = int(done.stdout.split("PEAK ")[1]) * 1024
    assert weights > 3e9 and peak <= 1.3 * weights + 300e6, f"{peak / 1e6:.0f} MB"
    x = np.random.default_rng(2).standard_normal((1, WIDTH)).astype(np.float32)
    session = Session(RUNTIME, folder / "large.om", threads=2)
    got = session.run_values({"x": x})[result]
    session.close()
    for weight in np.memmap(folder / "weights.bin", np.float32, "r",
                            shape=(LAYERS, WIDTH, WIDTH)):
        x = np.maximum(x @ weight, 0)
    np.testing.assert_allclose(got, x, rtol=1e-3, atol=1e-3 * np.abs(x).max())
