#===-- test_valgrind.py - the whole compiler, every access watched -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles small models of different kinds under valgrind, libraries included: no access outside of
memory and no decision on a value that was never set."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import TensorProto, ints, model, net, node, tensor, weights  # noqa: E402
from tools import BUILD, SANITIZED, available  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin"),
    pytest.mark.skipif(SANITIZED or not shutil.which("valgrind"),
                       reason="needs valgrind and tools without sanitizers"),
    pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"), reason="takes minutes"),
]


def scalar(name, value, element):
    return onnx.numpy_helper.from_array(np.array(value, element), name)


def loop():
    body = onnx.helper.make_graph(
        [node("Add", ["c", "x"], ["d"]), node("Identity", ["k"], ["k2"])], "body",
        [tensor("i", [], TensorProto.INT64), tensor("k", [], TensorProto.BOOL),
         tensor("c", [1, 3, 8, 8])],
        [tensor("k2", [], TensorProto.BOOL), tensor("d", [1, 3, 8, 8])])
    return model([node("Loop", ["t", "", "x"], ["y"], body=body)],
                 initializers=[scalar("t", 3, np.int64)])


MODELS = {
    "net": net(),
    "softmax": model([node("Softmax", ["x"], ["y"], axis=-1)]),
    "layer norm": model([node("LayerNormalization", ["x", "w", "b"], ["y"], axis=-1)],
                        initializers=[weights("w", 8), weights("b", 8)], opset=17),
    "unique": model([node("Unique", ["x"], ["y"])], outputs=[tensor("y", [None])]),
    "dynamic": model([node("MatMul", ["x", "w"], ["m"]), node("Relu", ["m"], ["y"])],
                     inputs=[tensor("x", ["n", 8])], initializers=[weights("w", 8, 16)]),
    "lstm": model([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=8)],
                  inputs=[tensor("x", [4, 1, 6])],
                  initializers=[weights("w", 1, 32, 6), weights("r", 1, 32, 8)], opset=14),
    "loop": loop(),
    "quantized": model([node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                        node("DequantizeLinear", ["q", "s", "z"], ["y"])],
                       initializers=[scalar("s", 0.1, np.float32), scalar("z", 3, np.uint8)]),
    "strings": model([node("Gather", ["x", "i"], ["y"], axis=0)],
                     inputs=[tensor("x", [4], TensorProto.STRING)],
                     outputs=[tensor("y", [2], TensorProto.STRING)],
                     initializers=[ints("i", 1, 2)]),
    "sequence": model([node("SplitToSequence", ["x"], ["q"], axis=1, keepdims=1),
                       node("ConcatFromSequence", ["q"], ["y"], axis=1)]),
}


@pytest.mark.parametrize("target", ["--target=cpu", "--soc_version=Ascend310P3"])
@pytest.mark.parametrize("name", MODELS)
def test_compiles_cleanly(name, target, tmp_path):
    (tmp_path / "m.onnx").write_bytes(MODELS[name].SerializeToString())
    # Valgrind has no AVX-512, which the host may have: its own code is not run.
    done = subprocess.run(
        ["valgrind", "-q", "--error-exitcode=99", "--max-stackframe=8000000", BUILD / "bin" / "atc",
         "--model=m.onnx", "--framework=5", "--output=m", target, "--target_cpu=x86-64-v3"],
        cwd=tmp_path, env={**os.environ, "OPENATC_CACHE_DIR": ""}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False, timeout=600)
    text = done.stdout.decode(errors="replace")
    assert done.returncode == 0, text[-5000:]
