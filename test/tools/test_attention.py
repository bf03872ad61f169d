#===-- test_attention.py - a layer of a transformer on the CPU -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention of a layer is one kernel without copies, with the same answers as its parts, on
several levels, with masks and with keys of another sequence; references are in numpy."""

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

HEADS, SIZE = 3, 20
WIDTH = HEADS * SIZE
PASSES = "cpu-fuse-attention,cpu-compose-layer-norm,cpu-fuse-residuals,graph-merge-products"


class Layer:
    """A model of one layer, built node by node, and the same computation in double precision."""

    def __init__(self, batch, rows, keys, causal):
        self.rng = np.random.default_rng(7)
        self.nodes, self.weights, self.values = [], [], {}
        own = keys is None
        self.inputs = {"x": self.rng.standard_normal((batch, rows, WIDTH)).astype(np.float32),
                       "mask": self.rng.standard_normal((batch, 1, 1, keys or rows)).astype(np.float32)}
        if not own:
            self.inputs["y"] = self.rng.standard_normal((batch, keys, WIDTH)).astype(np.float32)
        source = "x" if own else "y"
        x, y = self.inputs["x"].astype(np.float64), self.inputs[source].astype(np.float64)
        wq, wk, wv, wo = (self.rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 8 for _ in range(4))
        gamma, beta = (self.rng.standard_normal(WIDTH).astype(np.float32) for _ in range(2))
        split = self.weight("split", np.array([0, -1, HEADS, SIZE], np.int64))

        def heads(value, weight, name, perm):
            product = self.node("MatMul", value, self.weight(name, weight))
            return self.node("Transpose", self.node("Reshape", product, split), perm=perm)

        query = heads("x", wq, "wq", [0, 2, 1, 3])
        key = heads(source, wk, "wk", [0, 2, 3, 1])
        value = heads(source, wv, "wv", [0, 2, 1, 3])
        scores = self.node("Div", self.node("MatMul", query, key),
                           self.weight("root", np.float32(SIZE ** 0.5)))
        scores = self.node("Add", scores, "mask")
        visible = np.tril(np.ones((1, 1, rows, keys or rows), bool))
        if causal:
            scores = self.node("Where", self.weight("visible", visible), scores,
                               self.weight("hidden", np.float32(-1e9)))
        probabilities = self.node("Softmax", scores, axis=-1)
        result = self.node("Transpose", self.node("MatMul", probabilities, value), perm=[0, 2, 1, 3])
        result = self.node("Reshape", result, self.weight("join", np.array([0, -1, WIDTH], np.int64)))
        result = self.node("Add", self.node("MatMul", result, self.weight("wo", wo)), "x")
        self.node("LayerNormalization", result, self.weight("gamma", gamma),
                  self.weight("beta", beta), axis=-1, epsilon=1e-5)
        self.nodes[-1].output[0] = "out"

        def split_heads(value, weight):
            return (value @ weight).reshape(batch, -1, HEADS, SIZE).transpose(0, 2, 1, 3)

        s = split_heads(x, wq) @ split_heads(y, wk).swapaxes(2, 3) / SIZE ** 0.5 + self.inputs["mask"]
        s = np.where(visible, s, -1e9) if causal else s
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        z = (p @ split_heads(y, wv)).transpose(0, 2, 1, 3).reshape(batch, rows, WIDTH) @ wo + x
        centered = z - z.mean(axis=-1, keepdims=True)
        self.want = centered / np.sqrt((centered ** 2).mean(axis=-1, keepdims=True) + 1e-5) * gamma + beta

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def save(self, path):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
                  for name, value in self.inputs.items()]
        out = helper.make_tensor_value_info("out", TensorProto.FLOAT, self.want.shape)
        model = helper.make_model(helper.make_graph(self.nodes, "layer", inputs, [out], self.weights),
                                  opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, str(path))


def kernels_of(layer, folder, *flags):
    """Compiles and runs the layer, checks its answer, and returns the names of its kernels."""
    layer.save(folder / "layer.onnx")
    code, out, err = call(tool("atc"), f"--model={folder / 'layer.onnx'}", "--framework=5",
                          "--target=cpu", f"--output={folder / 'layer'}", *flags)
    assert code == 0, out + err
    for threads in (1, 2):
        session = Session(RUNTIME, folder / "layer.om", threads)
        for name, array in session.inputs:
            array[...] = layer.inputs[name]
        session.run()
        got = session.outputs[0][1].copy()
        session.close()
        np.testing.assert_allclose(got, layer.want, rtol=0, atol=1e-5 * np.ptp(layer.want))
    code, dump, error = call(tool("om-dump"), folder / "layer.om", "--json")
    assert code == 0, error
    return [name.rstrip("0123456789").rstrip("_") for name in json.loads(dump)["kernels"]]


@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_a_layer_is_four_kernels(tmp_path, level):
    layer = Layer(batch=2, rows=19, keys=None, causal=False)
    assert kernels_of(layer, tmp_path, f"--target_cpu={level}") == [
        "matmul_packed", "attention", "matmul_packed", "layer_norm"]


def test_keys_of_another_sequence_and_a_causal_mask(tmp_path):
    layer = Layer(batch=1, rows=33, keys=40, causal=True)
    kernels = kernels_of(layer, tmp_path, "--target_cpu=x86-64-v3")
    assert "attention" in kernels
    assert not {"copy", "softmax", "reduce_mean"} & set(kernels)


def test_the_parts_answer_the_same(tmp_path):
    layer = Layer(batch=1, rows=19, keys=None, causal=True)
    kernels = kernels_of(layer, tmp_path, "--target_cpu=x86-64-v3", f"--disable_passes={PASSES}")
    assert {"softmax", "reduce_mean", "copy"} <= set(kernels)
    assert not {"attention", "layer_norm"} & set(kernels)
