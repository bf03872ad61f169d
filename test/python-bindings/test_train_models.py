# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.train on models as exporters write them: which initializers are trained, and what
export_onnx makes of nodes that are in training mode."""

import re

import numpy as np
import openatc
import pytest

from conftest import ROOT

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)


def constants(graph, **arrays):
    return {name: graph.constant(np.asarray(value, np.float32), name)
            for name, value in arrays.items()}


def test_the_lone_bias_of_a_layer_is_trained():
    """A head with one output has a bias of one element, which is no constant of a formula."""
    graph = openatc.builder.Graph("heads")
    x = graph.input("x", "float32", [8, 3])
    c = constants(graph, w=np.ones((3, 1)), gemm_bias=[0.5], v=[[2.0]], bias=[0.25], scale=[3.0])
    y = graph.op("Gemm", x, c["w"], c["gemm_bias"])
    y = graph.op("Add", graph.op("MatMul", y, c["v"]), c["bias"])
    graph.output("y", graph.op("Mul", y, c["scale"]))
    target = np.zeros((8, 1), np.float32)
    trainer = openatc.train(graph.to_onnx(), loss="mse", optimizer="sgd", learning_rate=0.125,
                            threads=1)
    assert trainer.parameters == ["w", "gemm_bias", "v", "bias"]
    y = ((X.sum(1) + 0.5) * 2 + 0.25) * 3
    trainer.step(X, target)
    state = trainer.state_dict()
    assert state["bias"][0] == pytest.approx(0.25 - 0.125 * 2 * 3 * y.mean(), rel=1e-5)
    assert state["gemm_bias"][0] == pytest.approx(0.5 - 0.125 * 2 * 6 * y.mean(), rel=1e-5)


@pytest.fixture(scope="module")
def in_training():
    """A model as an exporter in training mode writes it: three outputs of the batch norm, and a
    dropout that drops."""
    graph = openatc.builder.Graph("training")
    x = graph.input("x", "float32", [8, 3])
    c = constants(graph, scale=[1, 2, 3], shift=[0, 1, 2], mean=[0.5, 0.5, 0.5], var=[4, 4, 4],
                  ratio=0.5)
    y, _, _ = graph.op("BatchNormalization", x, c["scale"], c["shift"], c["mean"], c["var"],
                       training_mode=1, momentum=0.75, outputs=3)
    graph.output("y", graph.op("Dropout", y, c["ratio"], graph.constant(np.array(True), "mode")))
    return graph.to_onnx()


def test_running_statistics_of_a_norm_in_training_mode_are_updated(in_training, tmp_path):
    trainer = openatc.train(in_training, loss={"kind": "output"}, optimizer="sgd",
                            learning_rate=0.0, threads=1)
    trainer.step(X)
    with pytest.raises(openatc.Error, match="E10014: a target is given"):
        trainer.step(X, X)
    state = trainer.state_dict()
    mean, variance = 0.375 + 0.25 * X.mean(0), 3 + 0.25 * X.var(0)
    np.testing.assert_allclose(state["mean"], mean, rtol=1e-5)
    np.testing.assert_allclose(state["var"], variance, rtol=1e-5)

    # The exported model computes with them, and drops nothing.
    trainer.export_onnx(tmp_path / "trained.onnx")
    with openatc.Session(openatc.compile(tmp_path / "trained.onnx"), threads=1) as session:
        y, = session.run([X])
    expected = (X - mean) / np.sqrt(variance + 1e-5) * [1, 2, 3] + [0, 1, 2]
    np.testing.assert_allclose(y, expected, atol=1e-5)

    # A checkpoint still is the model in training mode.
    trainer.save(tmp_path / "checkpoint.onnx")
    again = openatc.train(tmp_path / "checkpoint.onnx", loss={"kind": "output"}, optimizer="sgd",
                          threads=1)
    assert "train.random" in again.state_dict()


def test_recomputed_activations_change_the_memory_and_not_the_loss():
    graph = openatc.builder.Graph("deep")
    value = graph.input("x", "float32", [64, 32])
    rng = np.random.default_rng(2)
    for layer in range(6):
        weight = rng.standard_normal((32, 32)).astype(np.float32) / 6
        value = graph.op("MatMul", value, graph.constant(weight, f"w{layer}"))
        scale = graph.constant(np.ones(32, np.float32), f"scale{layer}")
        shift = graph.constant(np.zeros(32, np.float32), f"shift{layer}")
        value = graph.op("Tanh", graph.op("Softplus", graph.op("Mul", value, scale) + shift))
    graph.output("y", value)
    x = rng.standard_normal((64, 32)).astype(np.float32)
    losses, bytes_ = {}, {}
    for recompute in (False, True):
        trainer = openatc.train(graph.to_onnx(), loss="mse", optimizer="adam", threads=1,
                                recompute=recompute)
        losses[recompute] = [trainer.step(x, np.zeros_like(x)) for _ in range(4)]
        bytes_[recompute] = trainer.model.arena_bytes
    np.testing.assert_allclose(losses[True], losses[False], rtol=1e-5)
    assert losses[True][-1] < losses[True][0]
    assert bytes_[True] < 0.75 * bytes_[False], bytes_


def test_written_models_have_what_lay_beside_their_source(tmp_path):
    """An exporter's file of weights is not where the trained model is written."""
    onnx = pytest.importorskip("onnx", reason="needs the package onnx")
    graph = openatc.builder.Graph("beside")
    frozen = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    y = graph.input("x", "float32", [8, 3]) * graph.constant(np.ones(3, np.float32), "w")
    graph.output("y", graph.op("MatMul", y, graph.constant(frozen, "frozen")))
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir(), target.mkdir()
    onnx.save(onnx.load_from_string(graph.to_onnx()), str(source / "model.onnx"),
              save_as_external_data=True, location="model.data", size_threshold=0)
    trainer = openatc.train(source / "model.onnx", loss="mse", optimizer="sgd", frozen=["frozen"],
                            threads=1)
    trainer.export_onnx(target / "trained.onnx")
    with openatc.Session(openatc.compile(target / "trained.onnx"), threads=1) as session:
        np.testing.assert_allclose(session.run([X])[0], X @ frozen, atol=1e-5)
    trainer.save(target / "checkpoint.onnx")
    trainer.load(target / "checkpoint.onnx")


def test_bindings_do_not_ask_pybind11_for_the_bytes_of_an_array():
    """pybind11 before 2.12 reads the size of an element where only NumPy 1 has it: with NumPy 2
    such a copy has no elements."""
    for path in sorted((ROOT / "python-bindings" / "src").glob("*.cpp")):
        assert not re.search(r"\.(nbytes|itemsize)\(\)", path.read_text()), path


def test_an_exponent_is_trained_where_its_name_says_so_and_other_settings_are_refused():
    x = np.array([[0.5, 2.0], [1.5, 3.0]], np.float32)

    def graph_of(kind):
        graph = openatc.builder.Graph(kind)
        given = graph.input("x", "float32", [2, 2])
        learned = graph.constant(np.array(1.5, np.float32), "learned")
        scaled = graph.op("Mul", given, graph.constant(np.ones(2, np.float32), "scale"))
        graph.output("y", graph.op(kind, scaled, learned))
        return graph.to_onnx()

    options = {"loss": {"kind": "output", "reduction": "sum"}, "optimizer": "sgd",
               "learning_rate": 1.0, "threads": 1}
    assert openatc.train(graph_of("Pow"), **options).parameters == ["scale"]
    trainer = openatc.train(graph_of("Pow"), parameters=["learned"], **options)
    trainer.step(x)
    slope = (x ** 1.5 * np.log(x)).sum()
    np.testing.assert_allclose(trainer.state_dict()["learned"], 1.5 - slope, rtol=1e-5)
    with pytest.raises(openatc.Error, match=r"E15002: 'learned' cannot be trained: .*\(Clip\)"):
        openatc.train(graph_of("Clip"), parameters=["learned"], **options)
