# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hooks, progress, walking operations, and the names of dims."""

import numpy as np
import pytest

import openatc
from conftest import BUILD  # noqa: F401  (puts the package on the path)


def linear(rows="batch"):
    graph = openatc.builder.Graph("linear")
    x = graph.input("x", "float32", [rows, "seq", 4] if rows else [2, 3, 4])
    graph.output("y", graph.op("Relu", x @ np.eye(4, dtype="float32") + 1))
    return graph


def test_a_model_keeps_the_names_of_its_dims():
    module = openatc.load(linear())
    assert module.inputs["x"].shape == ("batch", "seq", 4) == module.inputs[0].shape
    model = openatc.compile(linear())
    session = openatc.Session(model)
    assert session.inputs[0].shape == ["batch", "seq", 4]
    assert session.inputs["x"].shape != ["batch", "seq", 5] and session.outputs["y"].name == "y"
    assert isinstance(session.inputs[0].shape, openatc.Shape)
    assert hash(session.inputs[0].shape) == hash(("batch", "seq", 4))
    assert repr(model.inputs[0]) == "<openatc.TensorInfo 'x' f32[batch,seq,4]>"
    assert "[batch, seq, 4]" in model._repr_html_()
    assert session(np.ones((5, 2, 4), "float32")).shape == (5, 2, 4)
    # A dim that was given a size has no name, and an input of no known rank no shape.
    fixed = openatc.compile(linear(), input_shapes={"x": (2, 3, 4)})
    assert fixed.inputs[0].shape == (2, 3, 4) and fixed.schema_version < (1, 7)


def test_gears_keep_the_names_of_dims():
    geared = openatc.compile(linear(), input_shapes={"x": (-1, 3, 4)}, gears=[1, 2])
    assert geared.inputs["x"].shape == ["batch", 3, 4]


def field(number, value):
    """A field of a protobuf message: bytes, or text."""
    data = value if isinstance(value, bytes) else value.encode()
    size, length = len(data), b""
    while True:
        length += bytes([size % 128 + (128 if size > 127 else 0)])
        size //= 128
        if not size:
            return bytes([number << 3 | 2]) + length + data


def test_a_model_keeps_its_metadata():
    facts = field(14, field(1, "author") + field(2, "the tests")) \
        + field(14, field(1, "classes") + field(2, "zero,one")) \
        + field(14, field(1, "program") + field(2, "x" * 5000))  # no user of the model reads it
    model = openatc.compile(linear(None).to_onnx() + facts)
    assert model.metadata == {"author": "the tests", "classes": "zero,one"}
    assert openatc.compile(linear(None)).metadata == {}


def test_progress_names_the_stages():
    stages = []
    openatc.compile(linear(None), progress=stages.append)
    assert stages[0] == "import" and len(stages) > 3 and all(stages)


def test_hooks_see_and_change_the_module_behind_a_phase():
    seen = {}

    def look(module):
        seen["graph"] = [op.name for op in module.walk()]

    def change(module):
        text = module.to_text(weights=True)
        assert "graph.relu" in text
        return openatc.parse(text.replace("graph.relu", "graph.sigmoid"))

    x = np.zeros((2, 3, 4), "float32")
    model = openatc.compile(linear(None), hooks={"import": change, "graph": look})
    np.testing.assert_allclose(openatc.Session(model)(x), 1 / (1 + np.exp(-1.0)), rtol=1e-5)
    assert "func.func" in seen["graph"] and any(name.startswith("graph.")
                                                for name in seen["graph"])
    phases = []
    hooks = openatc.Hooks()
    for phase in ("import", "graph", "kernels", "schedule", "programs"):
        hooks.after_phase(phase, lambda module, phase=phase: phases.append(phase))
    assert hooks.phases == ["import", "graph", "kernels", "schedule", "programs"]
    openatc.lower(linear(None), "graph", hooks=hooks)
    assert phases == ["import", "graph"]
    openatc.load(linear(None)).compile(hooks=hooks.after_phase("graph", "canonicalize"))
    assert phases[2:] == ["graph", "kernels", "schedule"]


def test_operations_of_a_module():
    function, *inside = openatc.load(linear(None)).walk()
    assert isinstance(function, openatc.Operation) and function.name == "func.func"
    assert function.depth == 0 and all(op.depth == 1 for op in inside)
    relu = next(op for op in inside if op.name == "graph.relu")
    assert relu.operands == relu.results == ("tensor<2x3x4xf32>",)
    constant = next(op for op in inside if op.name == "graph.constant")
    assert constant.location == "" or isinstance(constant.location, str)
    assert "dense" in constant.attributes["value"]


def test_passes_are_inserted_and_replaced():
    graph = openatc.builder.Graph("chain")
    x = graph.input("x", "float32", [2, 3])
    graph.output("y", graph.op("Exp", graph.op("Sin", x)))

    def names(hooks):
        kept = []
        openatc.compile(graph, hooks=hooks.after_phase(
            "graph", lambda module: kept.append([op.name for op in module.walk()])))
        return kept[0]

    plain = names(openatc.Hooks())
    assert names(openatc.Hooks().insert_passes("canonicalize",
                                               after="graph-fold-constants")) == plain
    assert names(openatc.Hooks().insert_passes(["canonicalize", "cse"],
                                               before="graph-fold-constants")) == plain
    unfused = names(openatc.Hooks().replace_pass("graph-fuse-elementwise", "cse"))
    assert unfused != plain
    with pytest.raises(openatc.Error, match='graph-fuze-elementwise.*did you mean "graph-fuse-elementwise"'):
        names(openatc.Hooks().replace_pass("graph-fuze-elementwise", "cse"))
    with pytest.raises(openatc.Error, match="no-such-pass"):
        names(openatc.Hooks().insert_passes("no-such-pass", before="graph-fold-constants"))
    with pytest.raises(openatc.Error, match="empty list"):
        openatc.Hooks().replace_pass("graph-fold-constants", [])
    with pytest.raises(openatc.Error, match="it must be one of import"):
        openatc.Hooks().after_phase("emit", "cse")
    with pytest.raises(TypeError, match="before= or after="):
        openatc.Hooks().insert_passes("cse")


class Stop(Exception):
    pass


def test_what_a_hook_raises_comes_out():
    def stop(*_):
        raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        openatc.compile(linear(None), hooks={"graph": stop})
    with pytest.raises(Stop, match="enough"):
        openatc.compile(linear(None), progress=stop)
    with pytest.raises(openatc.Error, match="no-such-pass"):
        openatc.compile(linear(None), hooks={"graph": "no-such-pass"})
    with pytest.raises(AttributeError):
        openatc.compile(linear(None), hooks={"graph": lambda module: 3})


def test_calibrators_choose_ranges(digits_onnx, pictures):
    seen = {}

    class Widest:
        def __call__(self, tensor, histogram):
            assert isinstance(histogram, openatc.Histogram)
            assert len(histogram.edges) == len(histogram.counts) + 1
            slack = 1e-9 * (histogram.edges[-1] - histogram.edges[0])
            assert histogram.edges[0] - slack <= histogram.min <= histogram.max
            assert histogram.max <= histogram.edges[-1] + slack
            assert histogram.percentile(1.0) >= histogram.max - slack
            assert histogram.percentile(0.0) <= histogram.percentile(0.5)
            seen[tensor] = histogram
            return None if tensor == "image" else (2 * histogram.min, 2 * histogram.max)

    wide = openatc.quantize(digits_onnx, pictures, method=Widest())
    exact = openatc.quantize(digits_onnx, pictures, method="minmax")
    # A tensor that only moves another one's elements has its range.
    assert "stem_relu" in seen and set(seen) <= set(wide.scales)
    for name, scale in wide.scales.items():
        if name in seen and name != "image":
            np.testing.assert_allclose(scale.scale, 2 * exact.scales[name].scale, rtol=1e-3)
    with pytest.raises(openatc.Error, match="tensor '.*', which is no range"):
        openatc.quantize(digits_onnx, pictures, method=lambda tensor, histogram: (1.0, -1.0))

    def stop(tensor, histogram):
        raise Stop(tensor)

    with pytest.raises(Stop):
        openatc.quantize(digits_onnx, pictures, method=stop)
    with pytest.raises(TypeError, match="name of a method"):
        openatc.quantize(digits_onnx, pictures, method=3)


def test_compare_checks_the_layers_of_dynamic_models(tmp_path):
    path = tmp_path / "linear.onnx"
    linear().save(path)
    x = np.random.default_rng(0).standard_normal((3, 2, 4)).astype("float32")
    model = openatc.compile(path)
    for inputs in ([x], {"x": x}):
        result = openatc.compare(model, path, inputs)
        # The layer that the loop over tiles computes, and the output.
        assert result.agree and "y" in {each.tensor for each in result.errors}
        assert result.errors[0].launch < result.errors[-1].launch == len(model.launches)
        assert result.errors[0].cosine > 0.9999 and result.errors[-1].cosine > 0.9999
    wrong = openatc.compare(model, {"y": np.maximum(x + 1, 0) * 1.5}, [x])
    assert not wrong.agree and wrong.first_bad.tensor == "y"
    with pytest.raises(openatc.Error, match="none of the model's tensors"):
        openatc.compare(model, {"z": x}, [x])
