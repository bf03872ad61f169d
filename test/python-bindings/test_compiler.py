# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.load, parse, Module, ModulePort, compile, interpret, compare, Comparison, TensorError."""

import os
import pathlib
import shutil
import sys
import tarfile
import threading

import numpy as np
import pytest

import openatc
from conftest import SMALL
from test_runtime import error_text

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))
from scale_models import tf_bytes, tf_input, tf_node, tf_saved_model  # noqa: E402


@pytest.fixture
def module(digits_onnx):
    return openatc.load(digits_onnx)


# --- load, parse, text ---------------------------------------------------------------------

def test_load(module):
    assert isinstance(module, openatc.Module)
    image, = module.inputs
    assert isinstance(image, openatc.ModulePort)
    assert image.name == "image" and image.dtype == "f32" and image.shape[1:] == (1, 28, 28)
    assert [port.name for port in module.outputs] == ["scores"]
    assert "image" in repr(module)
    text = str(module)
    assert "func.func @main" in text and "graph.conv" in text
    assert text == module.to_text() and len(text) < len(module.to_text(weights=True)) / 5
    assert "loc(" in module.to_text(locations=True) and "loc(" not in text


@pytest.mark.skipif(not shutil.which("protoc"), reason="needs protoc (Debian: protobuf-compiler)")
def test_signatures_of_a_saved_model(tmp_path, digits_onnx):
    graph = tf_input("x") + tf_node("last", "Tanh", "x") + tf_node("other", "Neg", "x")
    text = tf_saved_model(graph)
    second = text[text.index("signature_def"):].replace("serving_default", "negate")
    second = second.replace("last:0", "other:0")
    (tmp_path / "saved_model.pb").write_bytes(tf_bytes(text.removesuffix("}") + second,
                                                       "SavedModel"))
    x = np.array([0, 1, -2, 3], "f4")
    for signature, want in ((None, np.tanh(x)), ("serving_default", np.tanh(x)), ("negate", -x)):
        model = openatc.compile(tmp_path, signature=signature)
        assert np.allclose(openatc.Session(model)(x), want, atol=1e-6)
    assert np.allclose(openatc.load(tmp_path, signature="negate").interpret([x])[0], -x)
    lowered = openatc.lower(tmp_path, "graph", signature="negate")
    assert "negf" in lowered.to_text()
    error = error_text(openatc.compile, tmp_path, signature="train")
    assert "'train'" in str(error) and "'negate', 'serving_default': choose one with signature" in \
        str(error)
    assert error_text(openatc.load, digits_onnx, signature="negate").code == "E10055"
    assert error_text(openatc.load, tmp_path, signature="").code == "E10004"
    with pytest.raises(TypeError, match="openatc.load"):
        openatc.compile(openatc.load(digits_onnx), signature="negate")


def test_a_signature_of_a_tflite_file(tmp_path):
    archive = pathlib.Path(__file__).parents[1] / "frontends/tflite/models.tar.xz"
    with tarfile.open(archive) as models:
        (tmp_path / "m.tflite").write_bytes(models.extractfile("abs.tflite").read())
    error = error_text(openatc.load, tmp_path / "m.tflite", signature="negate")
    assert error.code == "E13005" and "the model has no signature 'negate'" in str(error)


def test_load_with_shapes_and_outputs(digits_onnx):
    module = openatc.load(digits_onnx, input_shapes={"image": (3, 1, 28, 28)},
                          outputs=["stem_relu"])
    assert module.inputs[0].shape == (3, 1, 28, 28)
    assert module.outputs == [("stem_relu", "f32", (3, 16, 28, 28))]


def test_open_dims(digits_onnx, pictures, right_scores):
    """One compiled model for all sizes of a batch."""
    shapes = {"image": (-1, 1, 28, 28)}
    assert openatc.load(digits_onnx, input_shapes=shapes).inputs[0].shape == (None, 1, 28, 28)
    model = openatc.compile(digits_onnx, input_shapes=shapes)
    assert model.inputs[0].shape == (None, 1, 28, 28)
    session = openatc.Session(model)
    for count in (1, 4, 10):
        scores, = session.run([np.concatenate(pictures[:count])])
        np.testing.assert_allclose(scores, right_scores.reshape(10, -1)[:count], atol=1e-4)


def test_load_errors(digits_onnx, tmp_path):
    assert error_text(openatc.load, tmp_path / "none.onnx").code == "E10410"
    assert error_text(openatc.load, digits_onnx, outputs=["nowhere"]).code.startswith("E1")
    assert error_text(openatc.load, digits_onnx, input_shapes={"no": (1,)}).code == "E10016"
    with pytest.raises(TypeError, match="must be integers"):
        openatc.load(digits_onnx, input_shapes={"image": (1.5, 1, 28, 28)})
    with pytest.raises(ValueError, match="'image' has the dim 9223372036854775808, more than"):
        openatc.load(digits_onnx, input_shapes={"image": (1 << 63, 1, 28, 28)})
    with pytest.raises(ValueError, match="has the dim -9223372036854775808, expected 0 or more"):
        openatc.load(digits_onnx, input_shapes={"image": (-(1 << 63), 1, 28, 28)})
    error = error_text(openatc.load, digits_onnx, input_shapes={"image": (0, -2, 28, 28)})
    assert error.code == "E10011" and len(error.messages) == 2
    for name, content in (("a.onnx", b"no model"), ("b.onnx", b""), ("c.mlir", b"func @"),
                          ("d.pb", b"\xff\xff\xff")):
        (tmp_path / name).write_bytes(content)
        error_text(openatc.load, tmp_path / name)
    error_text(openatc.load, tmp_path)
    for wrong in (None, 3):
        with pytest.raises(TypeError):
            openatc.load(wrong)
    with pytest.raises(TypeError):
        openatc.load(digits_onnx, outputs="scores")
    with pytest.raises(TypeError):
        openatc.Module("func.func")


def test_all_unsupported_nodes_are_named(tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Strange", ["x"], ["t"], name="first"),
         onnx.helper.make_node("Stranger", ["t"], ["y"], name="second")],
        "g", [value("x", 1, [2])], [value("y", 1, [2])])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "strange.onnx")
    error = error_text(openatc.load, tmp_path / "strange.onnx")
    assert error.code == "E16002" and "first" in str(error) and "second" in str(error)
    assert isinstance(error, Exception) and error.messages == error.args[0]


def test_parse_takes_what_was_printed(module, pictures):
    again = openatc.parse(module.to_text(weights=True, locations=True))
    assert again.to_text(weights=True) == module.to_text(weights=True)
    np.testing.assert_array_equal(again.interpret([pictures[5]])[0],
                                  module.interpret([pictures[5]])[0])


@pytest.mark.parametrize("text", ["func.func @main(", "%", "\0", "graph.relu", '"x.y"() : () -> ()',
                                  SMALL.replace("2x3xf32> {om.name = \"b\"", "4xf32> {x"),
                                  # Parsers call themselves, and a full stack ends the process.
                                  pytest.param("module attributes {a = " + "[" * 200000, id="brackets"),
                                  pytest.param("module attributes {a = affine_map<(d0) -> (" +
                                               "-" * 200000, id="signs"),
                                  pytest.param("#l0 = loc(\"x\")\n" + "".join(
                                      f"#l{i} = loc(callsite(#l{i - 1} at #l0))\n"
                                      for i in range(1, 60000)) + "module {} loc(#l59999)",
                                               id="aliases")])
def test_parse_errors(text):
    assert error_text(openatc.parse, text).code == "E13005"


# --- passes --------------------------------------------------------------------------------

def test_run_pipeline(module, pictures, right_scores):
    assert "graph.batch_norm" in str(module) or "graph.relu" in str(module)
    before = str(module).count("graph.")
    module.run_pipeline("graph-pipeline")
    assert str(module).count("graph.") < before
    np.testing.assert_allclose(module.interpret([pictures[8]])[0][0], right_scores[8], atol=1e-4)


def test_pipeline_options(digits_onnx):
    plain, less = openatc.load(digits_onnx), openatc.load(digits_onnx)
    plain.run_pipeline("graph-pipeline")
    less.run_pipeline("graph-pipeline", disable=["canonicalize", "graph-cse"], release_constants=False)
    assert plain.outputs == less.outputs
    for options in ({"disable": 3, "wrong": 1}, {"release_constants": "maybe"}):
        assert error_text(plain.run_pipeline, "graph-pipeline", **options).code == "E10001"


@pytest.mark.parametrize("pipeline", ["graph-pipeline", "host-pipeline", "cpu-pipeline",
                                      "cpu-expand-pipeline", "npu-pipeline"])
def test_what_is_wrong_with_a_pipeline_is_in_the_exception_alone(module, capfd, pipeline):
    text = str(error_text(module.run_pipeline, pipeline, foo=1))
    assert "is invalid: no such option foo; " in text and "\\n" not in text
    assert capfd.readouterr() == ("", "")


def test_shapes_that_are_given(digits_onnx):
    module = openatc.load(digits_onnx, input_shapes={"image": (None, 1, 28, 28)})
    assert module.inputs[0].shape == (None, 1, 28, 28)
    for shape in ("1,1,28,28", ("batch", 1, 28, 28), 3, (1.5, 1, 28, 28)):
        with pytest.raises(TypeError, match="the shape of input 'image' must be integers"):
            openatc.load(digits_onnx, input_shapes={"image": shape})


def test_messages_name_arguments_of_python(digits_onnx):
    for arguments, named in (({"soc": "Ascend31"}, "of soc is invalid"),
                             ({"target_cpu": "avx"}, "of target_cpu is invalid"),
                             ({"outputs": ["none"]}, "given with outputs"),
                             ({"input_shapes": {"none": (1,)}}, "given with input_shapes"),
                             ({"gears": [1, 2]}, "gears needs dims of -1 in input_shapes")):
        text = str(error_text(openatc.compile, digits_onnx, **arguments))
        assert named in text and "--" not in text, text
    with pytest.raises(TypeError, match="gears must be a list of sizes"):
        openatc.compile(digits_onnx, input_shapes={"image": (-1, 1, 28, 28)}, gears=[1, "a"])


def test_run_passes(pictures):
    text = SMALL.replace("return %0, %1", "%2 = graph.relu %b : (tensor<2x3xf32>) -> "
                         "tensor<2x3xf32>\n  return %0, %1")
    module = openatc.parse(text)
    assert str(module).count("graph.relu") == 2
    module.run_passes(["canonicalize", "cse"])
    assert str(module).count("graph.relu") == 1
    module.run_passes("func.func(canonicalize,cse)")


def test_wrong_passes_leave_the_module(module):
    before = str(module)
    for wrong in ("no-such-pass", "canonicalize(", "cse{x=1}", "", "graph-pipeline,no-such-pass"):
        try:
            module.run_passes(wrong)
        except openatc.Error as error:
            assert error.code == "E10001"
            assert str(module) == before
    # The graph has not been lowered, so this cannot work.
    broken = openatc.parse(SMALL)
    text = str(broken)
    error_text(broken.run_passes, "cpu-expand-pipeline,om-plan-memory,cpu-lower-to-llvm-pipeline,nope")
    assert str(broken) == text


# --- interpret -----------------------------------------------------------------------------

def test_interpret(digits_onnx, module, pictures, right_scores):
    scores, = openatc.interpret(digits_onnx, [pictures[6]])
    np.testing.assert_allclose(scores[0], right_scores[6], atol=1e-4)
    named = openatc.interpret(module, {"image": pictures[6]})
    np.testing.assert_array_equal(named["scores"], scores)
    batch = np.concatenate(pictures)
    shaped = openatc.load(digits_onnx, input_shapes={"image": batch.shape})
    np.testing.assert_allclose(shaped.interpret([batch])[0], right_scores, atol=1e-4)


def test_module_tensors(module, pictures):
    tensors = module.tensors([pictures[0]])
    assert {"image", "stem_relu", "scores"} <= set(tensors)
    np.testing.assert_array_equal(tensors["image"], pictures[0])
    assert tensors["stem_relu"].shape == (1, 16, 28, 28)


@pytest.mark.parametrize("dtype, numpy_type", [("f64", "f8"), ("i8", "i1"), ("ui8", "u1"),
                                               ("i64", "i8"), ("f16", "f2"), ("i32", "i4")])
def test_interpret_types(dtype, numpy_type):
    module = openatc.parse(SMALL.replace("xf32", "x" + dtype))
    a = np.arange(-3, 3).astype(numpy_type).reshape(2, 3)
    total, positive = module.interpret([a, a.T.reshape(2, 3)])
    assert total.dtype == positive.dtype == np.dtype(numpy_type)
    np.testing.assert_array_equal(total, a + a.T.reshape(2, 3))


def test_interpret_errors(module, pictures):
    picture = pictures[0]
    for wrong in ([], [picture, picture], [picture[0]], [picture.astype("f8")]):
        assert error_text(module.interpret, wrong).code == "E10014"
    error = error_text(module.interpret, {"other": picture})
    assert error.code == "E10017" and len(error.messages) == 2
    np.testing.assert_array_equal(module.interpret(picture)[0], module.interpret([picture])[0])
    with pytest.raises((TypeError, openatc.Error)):
        module.interpret(["picture"])
    assert error_text(openatc.parse("module {}").interpret, []).code == "E16004"


# --- compile -------------------------------------------------------------------------------

def test_compile_to_a_file(digits_onnx, tmp_path, pictures, right_scores):
    path = tmp_path / "out.om"
    model = openatc.compile(digits_onnx, path, input_shapes={"image": (2, 1, 28, 28)})
    assert model.inputs[0].shape == (2, 1, 28, 28) and path.stat().st_size == model.file_bytes
    scores, = openatc.Session(model).run([np.concatenate(pictures[2:4])])
    np.testing.assert_allclose(scores, right_scores[2:4], atol=1e-4)


def test_compile_a_module_keeps_it(module, pictures, right_scores):
    before = module.to_text(weights=True)
    for _ in range(2):
        model = module.compile()
        scores, = openatc.Session(model, threads=1).run([pictures[9]])
        np.testing.assert_allclose(scores[0], right_scores[9], atol=1e-4)
    assert module.to_text(weights=True) == before
    module.run_pipeline("graph-pipeline")
    scores, = openatc.Session(openatc.compile(module)).run([pictures[9]])
    np.testing.assert_allclose(scores[0], right_scores[9], atol=1e-4)


def test_compile_options(digits_onnx, tmp_path, pictures, right_scores):
    model = openatc.compile(digits_onnx, target_cpu="x86-64-v2,v3", outputs=["stem_relu"],
                            disable_passes=["graph-cse"], save_temps=tmp_path / "temps")
    assert [port.name for port in model.outputs] == ["stem_relu"]
    assert (tmp_path / "temps" / "1-import.mlir").exists()
    path = tmp_path / "no-load.om"
    assert openatc.compile(digits_onnx, path, load=False) is None and path.exists()
    for wrong in ({"load": False}, {"disable_passes": "graph-cse"}):
        with pytest.raises((TypeError, ValueError)):
            openatc.compile(digits_onnx, **wrong)
    with pytest.raises(TypeError):
        openatc.compile(openatc.load(digits_onnx), outputs=["stem_relu"])


def test_compile_keeps_no_file(digits_onnx, tmp_path, monkeypatch, pictures, right_scores):
    """Without an output nothing is written: not in the folder of temporary files either."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    model = openatc.compile(digits_onnx, tmp_path / "digits.om", target_cpu="x86-64-v2")
    in_memory = openatc.compile(digits_onnx, target_cpu="x86-64-v2")
    assert in_memory.file_bytes == model.file_bytes and in_memory.name == "digits"
    assert in_memory.command_line == model.command_line == "openatc.compile"
    assert os.listdir(tmp_path) == ["digits.om"]
    scores, = openatc.Session(in_memory).run([pictures[4]])
    np.testing.assert_allclose(scores[0], right_scores[4], atol=1e-4)


PHASES = {"import": "graph.relu", "quantize": "graph.relu", "graph": "graph.conv",
          "kernels": "cpu.conv2d", "schedule": "om.launch", "programs": "om.launch"}


@pytest.mark.parametrize("phase", PHASES)
def test_lower(digits_onnx, module, phase):
    before = module.to_text(weights=True)
    for lowered in (openatc.lower(digits_onnx, phase), openatc.lower(module, phase),
                    module.lower(phase)):
        assert isinstance(lowered, openatc.Module) and PHASES[phase] in str(lowered)
        assert ("graph.relu" in str(lowered)) == (phase in ("import", "quantize"))
    assert module.to_text(weights=True) == before


def test_lower_options(digits_onnx, module, tmp_path):
    programs = openatc.lower(digits_onnx, "programs", soc="Ascend310P3",
                             disable_passes=["npu-reorder"], save_temps=tmp_path / "temps",
                             input_shapes={"image": (2, 1, 28, 28)}, outputs=["stem_relu"])
    assert "npu.program" in str(programs) and "memref<2x" in str(programs)
    assert (tmp_path / "temps" / "5-programs.mlir").exists()
    kernels = module.lower("kernels", soc="Ascend310P3", precision_mode="must_keep_origin_dtype")
    assert "npu.device" in str(kernels) and "f16" not in str(kernels)
    table = tmp_path / "own.soc"
    table.write_text("base = Ascend310P3\nname = Mine\n")
    assert 'npu.soc = "Mine"' in str(module.lower("graph", soc_file=table))


def test_lowered_modules_go_on(digits_onnx, pictures, right_scores):
    """A module that stopped after the graph passes compiles to a model that gives the same."""
    lowered = openatc.lower(digits_onnx, "graph")
    scores, = openatc.Session(lowered.compile()).run([pictures[7]])
    np.testing.assert_allclose(scores[0], right_scores[7], atol=1e-4)


def test_lower_a_dynamic_model(digits_onnx):
    lowered = openatc.lower(digits_onnx, "schedule", input_shapes={"image": (-1, 1, 28, 28)})
    assert "graph.host_call" in str(lowered) or "host.program" in str(lowered)


def test_lower_errors(digits_onnx, module, tmp_path):
    for phase in ("emit", "", "linking"):
        error = error_text(module.lower, phase)
        assert error.code == "E10001" and "schedule" in str(error)
    assert error_text(openatc.lower, tmp_path / "none.onnx", "graph").code == "E10410"
    assert error_text(openatc.lower, digits_onnx, "graph", target_cpu="z80").code == "E10001"
    assert error_text(module.lower, "graph", disable_passes=["no-1"]).code == "E10001"
    assert error_text(module.lower, "graph", target_cpu="").code == "E10004"
    with pytest.raises(TypeError):
        openatc.lower(module, "graph", outputs=["stem_relu"])


def test_compile_errors(digits_onnx, module, tmp_path):
    assert error_text(openatc.compile, tmp_path / "none.onnx").code == "E10410"
    assert error_text(openatc.compile, digits_onnx, target_cpu="z80").code == "E10001"
    for source in (digits_onnx, module):
        error = error_text(openatc.compile, source, disable_passes=["no-1", "no-2"])
        assert error.code == "E10001" and len(error.messages) == 2
        error_text(openatc.compile, source, tmp_path / "no folder" / "x.om")
        error_text(openatc.compile, source, tmp_path)
    assert error_text(openatc.compile, openatc.parse("module {}")).code == "E16004"
    assert not list(tmp_path.glob("*.om"))


def test_threads_share_a_module(module, pictures, right_scores):
    answers = {}

    def work(d):
        answers[d] = openatc.Session(module.compile(), threads=1).run([pictures[d]])[0]
        answers[d + 10] = module.interpret([pictures[d]])[0]

    workers = [threading.Thread(target=work, args=(d,)) for d in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    for d, scores in answers.items():
        np.testing.assert_allclose(scores[0], right_scores[d % 10], atol=1e-4)
    assert len(answers) == 6


# --- compare -------------------------------------------------------------------------------

def test_compare_agrees(digits, digits_onnx, pictures):
    for reference in (digits_onnx, openatc.load(digits_onnx)):
        comparison = openatc.compare(digits, reference, [pictures[3]])
        assert isinstance(comparison, openatc.Comparison)
        assert comparison.agree and comparison.first_bad is None and len(comparison.errors) > 5
        last = comparison.errors[-1]
        assert isinstance(last, openatc.TensorError)
        assert last.tensor == "scores" and last.kernel == digits.launches[last.launch].kernel
        assert last.of_range < 1e-4 and last.cosine > 0.9999 and last.max_abs >= 0
        assert not comparison.is_bad(last) and "scores" in str(comparison)


def test_compare_finds_the_first_bad_layer(digits_om, digits_onnx, pictures):
    right = openatc.load(digits_onnx).tensors([pictures[3]])
    right["down_relu"] = right["down_relu"] + 1
    right["scores"] = right["scores"] * np.nan
    comparison = openatc.compare(digits_om, right, {"image": pictures[3]}, tolerance=1e-3)
    assert not comparison.agree and comparison.first_bad.tensor == "down_relu"
    assert comparison.first_bad.max_abs == pytest.approx(1, abs=1e-3)
    assert comparison.tolerance == 1e-3
    bad = [error.tensor for error in comparison.errors if comparison.is_bad(error)]
    assert bad == ["down_relu", "scores"] and np.isinf(comparison.errors[-1].max_abs)
    assert "down_relu" in next(line for line in str(comparison).splitlines() if "first bad" in line)
    del right["scores"]
    fewer = openatc.compare(digits_om, right, [pictures[3]])
    assert fewer.without_counterpart == comparison.without_counterpart + 1


def test_compare_reads_what_load_reads(digits, digits_onnx, pictures):
    for reference in (digits_onnx, digits_onnx.read_bytes(), openatc.load(digits_onnx)):
        assert openatc.compare(digits, reference, pictures[3]).agree
    dynamic = openatc.compile(digits_onnx, input_shapes={"image": (-1, 1, 28, 28)})
    for inputs in (pictures[3], [pictures[3]], {"image": pictures[3]}):
        assert openatc.compare(dynamic, digits_onnx, inputs).agree


def test_compare_errors(digits, small, pictures):
    with pytest.raises(TypeError, match="type int is no model"):
        openatc.compare(digits, 3, pictures[0])
    assert error_text(openatc.compare, digits, {"x": pictures[0]}, [pictures[0]]).code == "E10014"
    assert error_text(openatc.compare, "none.om", {}, []).code == "E10410"


def test_a_tensorflow_lite_file_is_known_by_its_ending(tmp_path):
    archive = pathlib.Path(__file__).resolve().parents[1] / "frontends/tflite/models.tar.xz"
    with tarfile.open(archive) as files:
        path = tmp_path / "add_int.tflite"
        path.write_bytes(files.extractfile(path.name).read())
    values = np.arange(6, dtype="i4").reshape(2, 3)
    result, = openatc.Session(openatc.compile(path), threads=1).run([values, values])
    assert np.array_equal(result, values + values)
