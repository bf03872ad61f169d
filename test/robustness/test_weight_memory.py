# ===-- test_weight_memory.py - how often a compilation holds the weights -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neither atc nor the file may hold the weights twice, nor once for each of several sizes of tiles.
Needs numpy and onnx."""

import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
from onnx import TensorProto, helper  # noqa: E402

for folder in ("robustness", "bench", "common"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

import scale_bench  # noqa: E402
from tools import BUILD, MAX_SECONDS, SANITIZED, available  # noqa: E402

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")
WIDTH, LAYERS = 2048, 12
WEIGHTS = WIDTH * WIDTH * LAYERS * 4


def write(folder, batch, sequence):
    """Writes x -> relu(x w) through all layers. The weights are a file of external data, of which a
    compilation reads one tensor after the other."""
    rng = np.random.default_rng(9)
    constants, nodes, value = [], [], "x"
    with open(folder / "weights.bin", "wb") as file:
        for i in range(LAYERS):
            weight = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH],
                                 data_location=TensorProto.EXTERNAL)
            for key, entry in (("location", "weights.bin"), ("offset", file.tell()),
                               ("length", WIDTH * WIDTH * 4)):
                weight.external_data.add(key=key, value=str(entry))
            rng.standard_normal((WIDTH, WIDTH), dtype=np.float32).tofile(file)
            constants.append(weight)
            nodes += [helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"]),
                      helper.make_node("Relu", [f"m{i}"], [f"r{i}"]),
                      # Rows that are mixed end a region of tiles.
                      helper.make_node("CumSum", [f"r{i}", "axis"], [f"s{i}"])]
            value = f"s{i}"
    constants.append(helper.make_tensor("axis", TensorProto.INT64, [], [1]))
    info = helper.make_tensor_value_info
    shape = [batch, sequence, WIDTH]
    graph = helper.make_graph(nodes, "weights", [info("x", TensorProto.FLOAT, shape)],
                              [info(value, TensorProto.FLOAT, shape)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "net.onnx").write_bytes(model.SerializeToString())


# Several sizes of tiles pack the same weights; a static model transposes them.
@pytest.mark.parametrize("batch, sequence, limit",
                         [("batch", "sequence", 1.3 * WEIGHTS + 300e6), (1, 8, WEIGHTS + 230e6),
                          ("batch", 8, WEIGHTS + 230e6)])
def test_weights_are_held_once(batch, sequence, limit, tmp_path):
    write(tmp_path, batch, sequence)
    command = [str(BUILD / "bin/atc"), "--model=net.onnx", "--output=net", "--target=cpu"]
    _, peak, status, out = scale_bench.run(command, MAX_SECONDS, cwd=tmp_path)
    assert status == 0, out[-1000:]
    assert (tmp_path / "net.om").stat().st_size <= 1.1 * WEIGHTS + 1e6
    assert SANITIZED or peak <= limit, f"{peak / 1e6:.0f} MB, not {limit / 1e6:.0f}"
