# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.train and the passes behind it. test/train/gradients.npz has PyTorch's gradients."""

import sys

import numpy as np
import openatc
import pytest

from conftest import DIGITS, ROOT

FOLDER = ROOT / "test" / "train"
sys.path.insert(0, str(FOLDER))
from gradient_cases import CASES, RANDOM  # noqa: E402

EXPECTED = np.load(FOLDER / "gradients.npz")


def check(case, results):
    for index in range(len(case.inputs)):
        name = chr(97 + index)
        expected = EXPECTED[f"{case.name}.{name}"]
        bound = 1e-4 * max(1.0, float(np.abs(expected).max()))
        if case.name == "cast":
            bound = 2e-3  # the gradient is f16 on its way
        np.testing.assert_allclose(results[f"{name}.grad"], expected, rtol=0, atol=bound,
                                   err_msg=f"{case.name}: gradient of {name}")


def differentiated(case):
    module = openatc.parse(case.module())
    module.run_passes("func.func(train-differentiate,train-lower-convolutions,canonicalize)")
    return module


def inputs_of(case):
    inputs = {chr(97 + index): value for index, value in enumerate(case.values())}
    return {**inputs, "weights": case.weights()}


@pytest.mark.parametrize("case", [*CASES, *RANDOM], ids=lambda case: case.name)
def test_gradients_are_those_of_pytorch(case):
    module = differentiated(case)
    check(case, module.interpret(inputs_of(case)))


# What moves and multiplies most; generated code of elementwise functions has tests of its own.
COMPILED = [case for case in [*CASES, *RANDOM[:6]]
            if case.name.startswith(("conv", "max_pool_o", "average_pool_o", "matmul_s", "gather",
                                     "slice_r", "reduce_prod_T", "resize_l", "random",
                                     "max_pool_space", "average_pool_space_F", "top_k",
                                     "scatter_e"))
            and case.name != "conv_space"]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.name)
def test_generated_code_computes_the_gradients(case):
    with openatc.Session(differentiated(case).compile(), threads=1) as session:
        check(case, session.run(inputs_of(case)))


@pytest.mark.parametrize("width, element", [(70, "i64"), (256, "i32"), (1, "i64")])
def test_gradients_of_embeddings_are_summed_rows(width, element):
    rows, count = 37, 50
    module = openatc.parse(f"""
func.func @main(%a: tensor<{rows}x{width}xf32> {{om.name = "a", train.parameter}},
                %i: tensor<5x10x{element}> {{om.name = "i"}},
                %w: tensor<5x10x{width}xf32> {{om.name = "w"}}) -> (tensor<f32> {{om.name = "loss"}}) {{
  %0 = graph.gather %a, %i {{axis = 0 : i64}} : (tensor<{rows}x{width}xf32>, tensor<5x10x{element}>) -> tensor<5x10x{width}xf32>
  %1 = graph.mul %0, %w : (tensor<5x10x{width}xf32>, tensor<5x10x{width}xf32>) -> tensor<5x10x{width}xf32>
  %2 = graph.reduce %1 {{axes = array<i64: 0, 1, 2>, keepdims = false, kind = #graph<reduce_kind sum>}} : (tensor<5x10x{width}xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}}""")
    module.run_passes("func.func(train-differentiate,canonicalize)")
    rng = np.random.default_rng(3)
    indices = rng.integers(-rows, rows, (5, 10)).astype("int64" if element == "i64" else "int32")
    weights = rng.standard_normal((5, 10, width)).astype(np.float32)
    expected = np.zeros((rows, width))
    np.add.at(expected, indices.reshape(count), weights.reshape(count, width))
    given = {"a": np.zeros((rows, width), np.float32), "i": indices, "w": weights}
    np.testing.assert_allclose(module.interpret(given)["a.grad"], expected, atol=1e-5)
    with openatc.Session(module.compile(), threads=2) as session:
        np.testing.assert_allclose(session.run(given)["a.grad"], expected, atol=1e-5)


# ---- the trainer ---------------------------------------------------------------------------------

BATCH = 16


@pytest.fixture(scope="module")
def batch():
    data = np.load(DIGITS / "heldout.npz")
    images = data["images"][:BATCH].astype(np.float32)[:, None] / np.float32(255)
    return images, data["labels"][:BATCH].astype(np.int64)


def make(**options):
    options.setdefault("threads", 1)
    return openatc.train(DIGITS / "digits.onnx", input_shapes={"image": (BATCH, 1, 28, 28)},
                         **options)


@pytest.fixture(scope="module")
def trainer(batch):
    return make(optimizer="adamw", learning_rate=1e-3)


def test_steps_lower_the_loss_and_keep_the_state(trainer, batch):
    losses = [trainer.step(*batch) for _ in range(8)]
    assert all(np.isfinite(losses)) and losses[-1] < 0.5 * losses[0]
    assert trainer.steps == 8
    state = trainer.state_dict()
    assert state["train.step"] == 8
    assert {name + ".mean" for name in trainer.parameters} <= set(state)


def test_a_checkpoint_continues_where_it_was_written(trainer, batch, tmp_path):
    trainer.save(tmp_path / "checkpoint.onnx")
    before = trainer.steps
    expected = [trainer.step(*batch) for _ in range(3)]
    trainer.load(tmp_path / "checkpoint.onnx")
    assert trainer.steps == before
    assert [trainer.step(*batch) for _ in range(3)] == expected


def test_the_exported_model_has_the_trained_weights(trainer, batch, tmp_path):
    trainer.export_onnx(tmp_path / "trained.onnx")
    state = trainer.state_dict()
    written = openatc._compiler.read_onnx(tmp_path / "trained.onnx")
    assert set(trainer.parameters) < set(written) and "train.step" not in written
    for name in trainer.parameters:
        np.testing.assert_array_equal(written[name], state[name])
    model = openatc.compile(tmp_path / "trained.onnx", input_shapes={"image": (BATCH, 1, 28, 28)})
    with openatc.Session(model, threads=1) as session:
        scores, = session.run([batch[0]])
    assert (scores.argmax(axis=1) == batch[1]).all()


def test_accumulated_gradients_are_one_update(batch):
    images, labels = batch
    whole = make(optimizer={"kind": "sgd", "momentum": 0.9}, learning_rate=0.05,
                 batch_statistics=False, parameters=["scores*", "head*"])
    parts = openatc.train(DIGITS / "digits.onnx", threads=1, accumulate=4,
                          parameters=["scores*", "head*"],
                          input_shapes={"image": (BATCH // 4, 1, 28, 28)}, batch_statistics=False,
                          optimizer={"kind": "sgd", "momentum": 0.9}, learning_rate=0.05)
    for _ in range(2):
        whole.step(images, labels)
        for first in range(0, BATCH, BATCH // 4):
            parts.step(images[first:first + BATCH // 4], labels[first:first + BATCH // 4])
    expected, state = whole.state_dict(), parts.state_dict()
    for name in whole.parameters:
        np.testing.assert_allclose(state[name], expected[name], atol=1e-5)


def test_an_overflow_skips_the_update_and_halves_the_loss_scale(batch):
    trainer = make(optimizer="sgd", loss_scale="dynamic", learning_rate=0.01,
                   parameters=["scores*", "head*"])
    before = trainer.state_dict()
    trainer.step(np.full_like(batch[0], 1e38), batch[1])
    after = trainer.state_dict()
    assert after["train.loss_scale"] == before["train.loss_scale"] / 2
    for name in trainer.parameters:
        np.testing.assert_array_equal(after[name], before[name])
    trainer.load_state_dict(before)
    trainer.step(*batch)
    assert any((trainer.state_dict()[name] != before[name]).any() for name in trainer.parameters)


def test_run_returns_loss_rate_and_outputs(trainer, batch):
    assert isinstance(trainer, openatc.Trainer)
    ahead = trainer.learning_rate
    info = trainer.run({"image": batch[0]}, batch[1])
    assert isinstance(info, openatc.StepInfo) and info.learning_rate == ahead
    scores, = info.outputs.values()
    assert scores.shape == (BATCH, 10)
    shifted = scores - scores.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    assert info.loss == pytest.approx(-logs[np.arange(BATCH), batch[1]].mean(), rel=1e-3, abs=1e-6)


def test_targets_that_would_be_taken_for_others_are_refused(trainer, batch):
    images, labels = batch
    before = trainer.steps
    for wrong, text in [(labels + 9, "has the class 1., expected 0 to 9, or -100"),
                        (labels - 9, "has the class -., expected 0 to 9"),
                        (labels.astype(np.float32), "is float32, expected int64")]:
        with pytest.raises(openatc.Error, match="E10014: .*" + text):
            trainer.step(images, wrong)
    ignored = labels.copy()
    ignored[0] = -100
    assert np.isfinite(trainer.step(images, ignored)) and trainer.steps == before + 1


def test_frozen_parameters_stay_and_clipping_bounds_the_move(batch):
    trainer = make(optimizer="sgd", learning_rate=1.0, parameters=["scores*"],
                   frozen=["scores.weight"], clip_norm=1e-3, clip_value=1e-4,
                   loss={"kind": "softmax_cross_entropy", "smoothing": 0.5})
    assert trainer.parameters == ["scores.bias"]
    before = trainer.state_dict()["scores.bias"]
    trainer.step(*batch)
    move = np.abs(trainer.state_dict()["scores.bias"] - before)
    assert 0 < move.max() <= 1e-4 + 1e-7


@pytest.mark.parametrize("kind", ["mse", "l1", "bce", "bce_logits"])
def test_losses_compare_the_output_with_the_target(kind):
    module = openatc.parse("""
func.func @main(%w: tensor<2x2xf32> {om.name = "w", train.parameter})
    -> (tensor<2x2xf32> {om.name = "y"}) {
  %y = graph.sigmoid %w : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}""")
    module.run_passes(f"func.func(train-add-loss{{kind={kind}}},train-differentiate)")
    w = np.array([[0.3, -1.2], [2.0, 0.1]], np.float32)
    target = np.array([[0.0, 1.0], [0.25, 0.5]], np.float32)

    def loss(w):
        y = 1 / (1 + np.exp(-w.astype(np.float64)))
        p = 1 / (1 + np.exp(-y))
        return {"mse": (y - target) ** 2, "l1": np.abs(y - target),
                "bce": -(target * np.log(y) + (1 - target) * np.log(1 - y)),
                "bce_logits": -(target * np.log(p) + (1 - target) * np.log(1 - p))}[kind].mean()
    results = module.interpret({"w": w, "target": target})
    assert results["loss"] == pytest.approx(loss(w), rel=1e-5)
    for at in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[at] = 1e-5
        slope = (loss(w + step) - loss(w - step)) / 2e-5
        assert results["w.grad"][at] == pytest.approx(slope, rel=1e-3, abs=1e-6)


def test_the_simulated_npu_trains(batch):
    images, labels = batch[0][:4], batch[1][:4]
    trainer = openatc.train(DIGITS / "digits.onnx", input_shapes={"image": (4, 1, 28, 28)},
                            optimizer={"kind": "sgd", "momentum": 0.9}, learning_rate=0.02,
                            soc="Ascend310P3", threads=1)
    assert trainer.model.npu_bytes > 0
    losses = [trainer.step(images, labels) for _ in range(6)]
    assert all(np.isfinite(losses)) and losses[-1] < 0.7 * losses[0]


# ---- optimizers ----------------------------------------------------------------------------------

QUADRATIC = """
func.func @main(%x: tensor<3xf32> {om.name = "x"}, %w: tensor<3xf32> {om.name = "w",
    train.parameter}) -> (tensor<f32> {om.name = "loss"}) {
  %p = graph.mul %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s = graph.sin %p : (tensor<3xf32>) -> tensor<3xf32>
  %l = graph.reduce %s {kind = #graph<reduce_kind sum_square>, axes = array<i64: 0>,
      keepdims = false} : (tensor<3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
"""
OPTIMIZERS = np.load(FOLDER / "optimizers.npz")


@pytest.mark.parametrize("options", sorted(OPTIMIZERS.files))
def test_optimizers_update_as_their_references_do(options):
    module = openatc.parse(QUADRATIC)
    module.run_passes("func.func(train-differentiate)")
    module.run_passes(f"func.func(train-apply-optimizer{{{options}}})")
    with openatc.Session(module.compile(), threads=1) as session:
        session.keep_state = True
        session.write_state({"w": np.array([0.5, -1.0, 2.0], np.float32)})
        for expected in OPTIMIZERS[options]:
            session.run({"x": np.array([1.0, 0.7, -0.4], np.float32),
                         "learning_rate": np.array(0.1, np.float32)})
            np.testing.assert_allclose(session.read_state()["w"], expected, atol=2e-6)


# ---- dropout -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def dropping():
    """A model that drops a quarter of x * w, with w = 1."""
    graph = openatc.builder.Graph("dropping")
    x = graph.input("x", "float32", [64, 129])
    w = graph.constant(np.ones((64, 129), np.float32), "w")
    y = graph.op("Dropout", x * w, graph.constant(np.array(0.25, np.float32), "ratio"),
                 graph.constant(np.array(True), "mode"))
    graph.output("y", y)
    return graph.to_onnx()


def drop(model, runs=1, **options):
    """Returns the trainer and the outputs for an input of ones."""
    trainer = openatc.train(model, loss={"kind": "output", "reduction": "sum"}, optimizer="sgd",
                            learning_rate=0.5, threads=1, **options)
    x = np.ones((64 * options.get("ranks", 1), 129), np.float32)
    return trainer, [trainer.run(x).outputs["y"] for _ in range(runs)]


def test_dropout_drops_its_share_and_gradients_have_the_same_mask(dropping):
    trainer, (y,) = drop(dropping)
    kept = y != 0
    np.testing.assert_allclose(y[kept], 4 / 3, rtol=1e-6)
    # Four deviations of the binomial distribution; rows and columns have their share, too.
    assert abs(kept.mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / y.size)
    assert 0.5 < kept.mean(axis=0).min() and 0.5 < kept.mean(axis=1).min()
    np.testing.assert_allclose(trainer.state_dict()["w"], np.where(kept, 1 - 0.5 * 4 / 3, 1),
                               rtol=1e-6)
    again = trainer.run(np.ones((64, 129), np.float32)).outputs["y"]
    assert 0.5 < ((again != 0) == kept).mean() < 0.75  # 0.625 of independent masks
    state = trainer.state_dict()
    ahead = trainer.run(np.ones((64, 129), np.float32)).outputs["y"]
    trainer.load_state_dict(state)
    np.testing.assert_array_equal(trainer.run(np.ones((64, 129), np.float32)).outputs["y"], ahead)


def test_dropout_has_a_seed_and_can_be_left_out(dropping):
    (first,), (same,), (other,) = (drop(dropping, seed=seed)[1] for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, same)
    assert 0.5 < ((first != 0) == (other != 0)).mean() < 0.75
    trainer, (whole,) = drop(dropping, dropout=False)
    np.testing.assert_array_equal(whole, 1)
    assert "train.random" not in trainer.state_dict()
    with pytest.raises(openatc.Error, match="E15006: seed is -1"):
        drop(dropping, seed=-1)


def test_ranks_drop_different_elements(dropping):
    trainer, (y,) = drop(dropping, ranks=2)
    first, second = np.split(y != 0, 2)
    assert 0.5 < (first == second).mean() < 0.75
    np.testing.assert_array_equal(trainer.state_dict()["train.random"], [0, 0, 1])


# ---- recurrent layers ----------------------------------------------------------------------------

@pytest.mark.parametrize("kind, options", [
    ("LSTM", {"direction": "bidirectional"}), ("GRU", {"linear_before_reset": 0}),
    ("GRU", {"linear_before_reset": 1, "direction": "reverse"}), ("RNN", {})])
def test_recurrent_layers_are_their_steps(kind, options):
    """The values are those of the host kernel, and the gradient is the slope of the loss."""
    rng = np.random.default_rng(4)
    steps, batch, features, hidden = 4, 2, 3, 5
    directions = 2 if options.get("direction") == "bidirectional" else 1
    rows = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind] * hidden
    graph = openatc.builder.Graph(kind)
    x = graph.input("x", "float32", [steps, batch, features])
    weights = {name: rng.standard_normal((directions, *shape)).astype(np.float32) * 0.5
               for name, shape in [("w", (rows, features)), ("r", (rows, hidden)),
                                   ("b", (2 * rows,))]}
    w, r, b = (graph.constant(array, name) for name, array in weights.items())
    y, last = graph.op(kind, x, w, r, b, outputs=2, hidden_size=hidden, **options)
    graph.output("y", graph.op("Concat", graph.op("Reshape", y, np.array([-1])),
                               graph.op("Reshape", graph.op("Mul", last, last), np.array([-1])),
                               axis=0))
    values = {"x": rng.standard_normal((steps, batch, features)).astype(np.float32)}
    trainer = openatc.train(graph.to_onnx(), loss={"kind": "output", "reduction": "sum"},
                            optimizer="sgd", learning_rate=lambda step: float(step == 0), threads=1)
    first = trainer.run(values)
    with openatc.Session(openatc.compile(graph.to_onnx()), threads=1) as session:
        np.testing.assert_allclose(first.outputs["y"], session.run(values)["y"], atol=1e-5)
    gradient = {name: array - trainer.state_dict()[name] for name, array in weights.items()}
    for name, array in weights.items():
        move = rng.standard_normal(array.shape).astype(np.float32)
        losses = []
        for side in (1e-2, -1e-2):
            trainer.load_state_dict({**trainer.state_dict(), **weights, "train.step": np.ones(()),
                                     name: array + np.float32(side) * move})
            losses.append(trainer.step(values))
        slope = (losses[0] - losses[1]) / 2e-2
        assert (gradient[name] * move).sum() == pytest.approx(slope, rel=5e-3, abs=5e-3), name


# ---- errors --------------------------------------------------------------------------------------

def test_all_nodes_without_gradient_are_named_at_once():
    module = openatc.parse("""
func.func @main(%w: tensor<3xf32> {om.name = "w", train.parameter}) -> tensor<f32> {
  %0:1 = graph.host_call "CumSum"(%w) {} : (tensor<3xf32>) -> tensor<3xf32> loc("first")
  %1:1 = graph.host_call "Hardmax"(%0) {} : (tensor<3xf32>) -> tensor<3xf32> loc("second")
  %2 = graph.reduce %1 {kind = #graph<reduce_kind sum>, axes = array<i64: 0>, keepdims = false}
      : (tensor<3xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}""")
    with pytest.raises(openatc.UnsupportedError, match="E15003: .*'second' .Hardmax., 'first' .CumSum."):
        module.run_passes("func.func(train-differentiate)")


@pytest.mark.parametrize("options, message", [
    ({"optimizer": "sdg"}, "E15006: 'sdg' is not an optimizer"),
    ({"loss": "cross"}, "E15005: 'cross' is not a loss"),
    ({"loss": {"kind": "mse", "outptu": "x"}}, "E15006: .*'outptu'.*did you mean"),
    ({"optimizer": {"kind": "adam", "beta1": "x"}}, "E15006: .*'beta1' must be a number"),
    ({"parameters": ["nothing"]}, "E15002: .*'nothing'"),
    ({"loss_scale": "large"}, "E15006: .*neither a number nor"),
    ({"loss": {"kind": "mse", "output": "none"}}, "E15005: .*no output 'none'"),
])
def test_bad_settings_are_errors(options, message):
    with pytest.raises(openatc.ArgumentError, match=message):
        make(**options)


def test_bad_targets_and_inputs_are_errors(trainer, batch):
    with pytest.raises(openatc.Error, match="E10014: .*target"):
        trainer.step(batch[0])
    with pytest.raises(openatc.Error, match="E10014: 2 inputs are given"):
        trainer.step([batch[0], batch[0]], batch[1])
    with pytest.raises(openatc.Error, match="E10017: 'other'"):
        trainer.load_state_dict({"other": np.zeros(1, np.float32)})


def test_schedules():
    schedules = openatc.schedules
    assert schedules.constant(0.5)(7) == 0.5
    cosine = schedules.cosine(1.0, 10, warmup=2, final=0.1)
    assert [round(cosine(step), 6) for step in (0, 1, 2, 6, 10, 99)] == [0.5, 1, 1, 0.55, 0.1, 0.1]
    linear = schedules.linear(1.0, 4)
    assert [linear(step) for step in (0, 2, 4)] == [1, 0.5, 0]
    steps = schedules.steps(1.0, [2, 4], factor=0.5)
    assert [steps(step) for step in (1, 2, 4)] == [1, 0.5, 0.25]
