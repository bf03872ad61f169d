# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models called as people call them: one array, lists, names, objects with __array__, `with`."""

import asyncio
import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import openatc
from conftest import BUILD


class Tensor:
    """What another framework has: no buffer, but __array__."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


# --- Session -------------------------------------------------------------------------------

def test_a_session_is_called(digits, small, pictures, right_scores, pair):
    session = openatc.Session(digits, threads=1)
    np.testing.assert_allclose(session(pictures[3])[0], right_scores[3], atol=1e-4)
    np.testing.assert_allclose(session(image=pictures[3])[0], right_scores[3], atol=1e-4)
    np.testing.assert_allclose(session({"image": pictures[3]})["scores"][0], right_scores[3],
                               atol=1e-4)
    a, b = pair
    both = openatc.Session(small, threads=1)
    for total, positive in (both(a, b), both(b=b, a=a)):
        np.testing.assert_array_equal(total, a + b)
        np.testing.assert_array_equal(positive, np.maximum(a, 0))
    assert isinstance(both(a, b), tuple)
    with pytest.raises(TypeError):
        both(a, b=b)
    with pytest.raises(openatc.ArgumentError):
        both(a)
    with pytest.raises(openatc.ArgumentError):
        both(a=a, c=b)


def test_one_array_stands_for_a_list_of_one(digits, small, pictures, right_scores, pair):
    scores, = openatc.Session(digits, threads=1).run(pictures[2])
    np.testing.assert_allclose(scores[0], right_scores[2], atol=1e-4)
    with pytest.raises(TypeError):
        openatc.Session(small, threads=1).run(pair[0])


def test_outputs_are_named_in_front_of_a_dict_as_in_onnx_runtime(small, digits, pictures, pair):
    a, b = pair
    both, feeds = openatc.Session(small, threads=1), {"b": b, "a": a}
    names = [port.name for port in both.outputs]
    for given in (None, names, tuple(names)):
        total, positive = both.run(given, feeds)
        np.testing.assert_array_equal(total, a + b)
        np.testing.assert_array_equal(positive, np.maximum(a, 0))
    positive, again = both.run([names[1], names[1]], feeds)
    np.testing.assert_array_equal(positive, np.maximum(a, 0))
    np.testing.assert_array_equal(positive, again)
    total, _ = asyncio.run(both.run_async(None, feeds))
    np.testing.assert_array_equal(total, a + b)
    for wrong, message in ((["nothing"], "E10017: 'nothing' is not an output"),
                           (["nothing", "none"], "E10017: 'none' is not an output")):
        with pytest.raises(openatc.ArgumentError, match=message):
            both.run(wrong, feeds)
    with pytest.raises(openatc.ArgumentError, match="'b'"):
        both.run(None, {"a": a})
    for wrong in ((None, [a, b]), (None,), ([], feeds), ("total", feeds)):
        with pytest.raises((TypeError, openatc.ArgumentError)):
            both.run(*wrong)


def test_a_name_that_is_no_output_of_the_run_leaves_the_state_as_it_is(tmp_path):
    graph = openatc.builder.Graph("sum")
    x, h = (graph.input(name, "float32", [2]) for name in "xh")
    graph.output("h_next", x + h)
    graph.output("y", (x + h) * 2)
    graph.save(str(tmp_path / "sum.onnx"))
    done = subprocess.run([BUILD / "bin" / "atc", f"--model={tmp_path}/sum.onnx", "--framework=5",
                           "--target=cpu", f"--output={tmp_path}/sum", "--state=h=h_next"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    session, feeds = openatc.Session(str(tmp_path / "sum.om"), threads=1), {"x": np.ones(2, "f4")}
    session.keep_state = True
    assert len(session.run(None, feeds)) == 1  # the state is no output
    with pytest.raises(openatc.ArgumentError, match="E10017: 'h_next' .* outputs are: 'y'"):
        session.run(["h_next"], feeds)
    np.testing.assert_array_equal(session.run(["y"], feeds)[0], [4, 4])


def test_objects_with_array_and_lists(digits, small, pictures, right_scores, pair):
    session, a, b = openatc.Session(digits, threads=1), *pair
    np.testing.assert_allclose(session(Tensor(pictures[5]))[0], right_scores[5], atol=1e-4)
    np.testing.assert_allclose(session(pictures[5].tolist())[0], right_scores[5], atol=1e-4)
    both = openatc.Session(small, threads=1)
    total, _ = both.run([a.tolist(), Tensor(b)])
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(both([[1, 2, 3], [4, 5, 6]], b)[0],
                                  np.array([[1, 2, 3], [4, 5, 6]], np.float32) + b)
    # What has a type of its own is not converted silently.
    with pytest.raises(openatc.ArgumentError):
        session(Tensor(pictures[5].astype(np.float64)))
    with pytest.raises(TypeError):
        both([["1", "2", "3"], ["4", "5", "6"]], b)
    with pytest.raises(TypeError):
        both(a, None)


def test_a_list_of_arrays_is_for_run(digits, pictures):
    session = openatc.Session(digits, threads=1)
    for given in ([pictures[5]], (pictures[5],), [pictures[5], pictures[6]]):
        with pytest.raises(TypeError, match=r"session\.run\(arrays\)"):
            session(given)
    # Rows in a list are an array in the form of lists.
    np.testing.assert_array_equal(session(list(pictures[5])), session(pictures[5]))


def test_numbers_must_fit_their_type():
    model = openatc.compile(openatc.parse("""
        func.func @main(%x: tensor<2xui8> {om.name = "x"}) -> (tensor<2xui8> {om.name = "y"}) {
          %y = graph.max %x, %x : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
          return %y : tensor<2xui8>
        }"""))
    session = openatc.Session(model, threads=1)
    np.testing.assert_array_equal(session([7, 255]), np.array([7, 255], np.uint8))
    with pytest.raises(ValueError, match="do not fit"):
        session([7, 256])
    with pytest.raises(TypeError):
        session([7.5, 1.0])


def test_a_session_is_closed(digits, pictures):
    with openatc.Session(digits, threads=1) as session:
        session(pictures[0])
    for use in (lambda: session(pictures[0]), lambda: session.run([pictures[0]]),
                lambda: session.tensors([pictures[0]]), lambda: session.threads, session.profile,
                session.cancel):
        with pytest.raises(ValueError, match="closed"):
            use()
    session.close()
    assert session.model is digits


def test_a_session_of_a_file(digits_om, pictures, right_scores, tmp_path):
    for source in (digits_om, str(digits_om), digits_om.read_bytes()):
        session = openatc.Session(source, threads=1)
        np.testing.assert_allclose(session(pictures[3])[0], right_scores[3], atol=1e-4)
    with pytest.raises(FileNotFoundError, match="E10410"):
        openatc.Session(tmp_path / "none.om")
    with pytest.raises(TypeError, match="not NoneType"):
        openatc.Session(None)
    for threads in (-1, 2**32):
        with pytest.raises(ValueError, match="threads must be from 0"):
            openatc.Session(digits_om, threads=threads)


def test_models_are_copied_and_pickled_and_sessions_are_not(digits, digits_onnx, digits_om,
                                                            pictures, right_scores, tmp_path):
    in_memory = openatc.compile(digits_onnx)
    for model in (digits, in_memory, openatc.Model(digits_om.read_bytes())):
        assert copy.copy(model) is copy.deepcopy(model) is model
        again = pickle.loads(pickle.dumps(model))
        assert again is not model and again.name == model.name
        np.testing.assert_allclose(openatc.Session(again, threads=1)(pictures[3])[0],
                                   right_scores[3], atol=1e-4)
    levels = openatc.compile(digits_onnx, tmp_path / "levels.om", target_cpu="x86-64-v2,v3")
    chosen = openatc.Model(tmp_path / "levels.om", cpu_level="x86-64-v2")
    assert pickle.loads(pickle.dumps(chosen)).cpu_level == "x86-64-v2"
    assert pickle.loads(pickle.dumps(levels)).cpu_level == levels.cpu_level
    session = openatc.Session(digits, threads=1)
    for use in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make one of its model"):
            use(session)
    assert repr(session) == f"<openatc.Session of '{digits.name}'>"
    session.close()
    assert repr(session) == f"<openatc.Session of '{digits.name}', closed>"


def test_ports_by_name(digits, small):
    assert digits.inputs["image"].shape == (1, 1, 28, 28)
    assert digits.outputs["scores"].name == digits.outputs[0].name == "scores"
    assert digits.tensors["stem_relu"].dtype == "f32"
    assert [port.name for port in small.inputs[0:2]] == ["a", "b"]
    with pytest.raises(KeyError, match="'a', 'b'"):
        small.inputs["c"]
    assert isinstance(small.inputs, list)


# --- Errors --------------------------------------------------------------------------------

@pytest.mark.parametrize("code, kind, builtin", [
    ("E10410", openatc.MissingFileError, FileNotFoundError), ("E13005", openatc.FileError, OSError),
    ("E10014", openatc.ArgumentError, ValueError), ("E10058", openatc.LimitError, RuntimeError),
    ("E10059", openatc.CancelledError, RuntimeError),
    ("E16002", openatc.UnsupportedError, NotImplementedError), ("E19999", openatc.Error, Exception)])
def test_the_code_decides_the_class(code, kind, builtin):
    error = openatc.Error([code + ": one", "E10001: two"])
    assert type(error) is kind and isinstance(error, builtin) and isinstance(error, openatc.Error)
    assert error.code == code and str(error) == f"{code}: one\nE10001: two"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and again.messages == error.messages


def empty(module, kind):
    made = getattr(module, kind)
    return made.__new__(made)


@pytest.mark.parametrize("kind", ["LaunchInfo", "LaunchTime", "Model", "Ranks", "Session", "TensorInfo"])
def test_properties_of_what_was_never_initialized(kind):
    """Its memory holds nothing: to read it ended the process."""
    names = [name for name, member in vars(getattr(openatc._runtime, kind)).items() if isinstance(member, property)]
    assert names
    for name in names:
        with pytest.raises(TypeError, match=f"{kind} was not initialized: its __init__ was never called"):
            getattr(empty(openatc._runtime, kind), name)


def test_functions_of_what_was_never_initialized(digits):
    compiler, runtime = pytest.importorskip("openatc._compiler"), openatc._runtime
    request = compiler.ModelRequest.__new__(compiler.ModelRequest)
    for call in (lambda: repr(empty(runtime, "Model")), lambda: empty(runtime, "Model").verify_weights(),
                 lambda: openatc.Session(empty(runtime, "Model")), lambda: empty(runtime, "Session").run([]),
                 lambda: empty(runtime, "Session").close(), lambda: empty(compiler, "Module").copy(),
                 lambda: empty(compiler, "Quantized").table(), lambda: compiler.Module.load(request)):
        with pytest.raises(TypeError, match="was not initialized"):
            call()
    assert openatc.Session(digits, threads=1).threads == 1


RANGE = """
func.func @main(%a: tensor<i64> {om.name = "first"}, %b: tensor<i64> {om.name = "end"},
                %c: tensor<i64> {om.name = "step"}) -> (tensor<?xi64> {om.name = "y"}) {
  %0 = graph.host_call "Range"(%a, %b, %c) {}
      : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
"""


def test_a_value_that_a_node_cannot_take_is_a_mistake_of_the_caller():
    session = openatc.Session(openatc.compile(openatc.parse(RANGE)))
    with pytest.raises(openatc.ArgumentError, match="^E10014: node .*Range.* failed: delta is 0"):
        session(np.int64(0), np.int64(5), np.int64(0))
    assert session(np.int64(1), np.int64(6), np.int64(2)).tolist() == [1, 3, 5]


def test_file_errors_are_os_errors(tmp_path, digits_om):
    with pytest.raises(FileNotFoundError, match="E10410"):
        openatc.Model(tmp_path / "none.om")
    with pytest.raises(FileNotFoundError, match="E10410"):
        openatc.load(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"\xff\xff")
    with pytest.raises(OSError, match="E13005"):
        openatc.load(tmp_path / "bad.onnx")
    with pytest.raises(openatc.FileError):
        openatc.Model(b"abc")


# --- Sources -------------------------------------------------------------------------------

def test_models_in_memory(digits_onnx, pictures, right_scores):
    data = digits_onnx.read_bytes()
    sources = [data, bytearray(data), memoryview(data)]
    onnx = pytest.importorskip("onnx", reason="needs the onnx package")
    sources.append(onnx.load(str(digits_onnx)))
    for source in sources:
        session = openatc.Session(openatc.compile(source), threads=1)
        np.testing.assert_allclose(session(pictures[7])[0], right_scores[7], atol=1e-4)
    assert openatc.load(sources[-1]).inputs["image"].shape == (1, 1, 28, 28)
    assert "om.launch" in str(openatc.lower(data, "schedule"))
    scores, = openatc.interpret(data, [pictures[7]])
    np.testing.assert_allclose(scores[0], right_scores[7], atol=1e-3)
    with pytest.raises(OSError):
        openatc.compile(b"not a model")


@pytest.mark.parametrize("source, called", [
    (None, "an object of type NoneType"), ({"weight": 1}, "an object of type dict"),
    (openatc.Session, "the class Session")])
def test_objects_that_are_no_models(source, called):
    for use in (openatc.compile, openatc.load, lambda each: openatc.quantize(each, [np.zeros(1)])):
        with pytest.raises(TypeError, match=called + " is no model"):
            use(source)
    with pytest.raises(TypeError, match=called):
        openatc.compile(source, args=(1,))


@pytest.mark.parametrize("data, words", [
    (b"\x1c\0\0\0TFL3" + bytes(20), "a TensorFlow Lite model"), (b"PK\x03\x04" + bytes(20), "an archive"),
    (None, "openatc.Model")])
def test_bytes_of_other_formats(digits_om, data, words):
    with pytest.raises(openatc.FileError, match=words):
        openatc.compile(data or digits_om.read_bytes())


def test_shapes_that_are_text(digits_onnx):
    with pytest.raises(TypeError, match="must be a dict of shapes by name"):
        openatc.compile(digits_onnx, input_shapes="image:1,1,28,28")


# --- The interpreter -----------------------------------------------------------------------

def interpret_and_run(model, arrays):
    module = openatc.load(model)
    session = openatc.Session(openatc.compile(model), threads=1)
    for interpreted, ran in zip(module.interpret(arrays), session.run(arrays), strict=True):
        np.testing.assert_allclose(interpreted, ran, rtol=1e-4, atol=1e-5)
    return module


def onnx_model(nodes, inputs, outputs, constants=()):
    onnx = pytest.importorskip("onnx", reason="needs the onnx package")
    from onnx import helper, numpy_helper
    info, kind = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node(*node[:3], **node[3]) for node in nodes], "graph",
        [info(name, kind, dims) for name, dims in inputs],
        [info(name, kind, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_dynamic_models_are_interpreted():
    random = np.random.default_rng(1)
    weights = random.standard_normal((8, 4)).astype("f4")
    model = onnx_model([("MatMul", ["x", "w"], ["y"], {}), ("Relu", ["y"], ["z"], {})],
                       [("x", ["rows", 8])], ["z"], [("w", weights)])
    module = interpret_and_run(model, [random.standard_normal((3, 8)).astype("f4")])
    assert module.inputs["x"].shape == ("rows", 8)
    # A shape without a known rank is not that of a scalar.
    assert module.outputs["z"].shape in (None, (None, 4))
    assert "[...]" not in repr(module)


def test_recurrent_models_are_interpreted():
    random = np.random.default_rng(2)
    constants = [(name, random.standard_normal(shape).astype("f4") / 2) for name, shape in
                 (("w", (1, 24, 4)), ("r", (1, 24, 6)), ("b", (1, 48)))]
    model = onnx_model([("LSTM", ["x", "w", "r", "b"], ["y", "h"], {"hidden_size": 6})],
                       [("x", [5, 2, 4])], ["y", "h"], constants)
    interpret_and_run(model, [random.standard_normal((5, 2, 4)).astype("f4")])


def test_what_cannot_be_interpreted_is_a_coded_error():
    module = openatc.parse("""
        func.func @main(%x: tensor<2xf32> {om.name = "x"}) -> (tensor<*xf32> {om.name = "y"}) {
          %s = graph.host_call "SequenceConstruct"(%x, %x) {}
              : (tensor<2xf32>, tensor<2xf32>) -> !graph.sequence<tensor<*xf32>>
          %r = graph.host_call "ConcatFromSequence"(%s) {axis = array<i64: 0>}
              : (!graph.sequence<tensor<*xf32>>) -> tensor<*xf32>
          return %r : tensor<*xf32>
        }""")
    with pytest.raises(openatc.Error, match="E14001: .*SequenceConstruct"):
        module.interpret([np.ones(2, "f4")])
    with pytest.raises(openatc.ArgumentError):
        module.interpret([np.ones(3, "f4")])


# --- python -m openatc ---------------------------------------------------------------------

def command(*arguments):
    done = subprocess.run([sys.executable, "-m", "openatc", *map(str, arguments)], text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(BUILD / "python"),
                                                    "PATH": "/usr/bin:/bin"})
    return done.returncode, done.stdout, done.stderr


def test_the_module_is_a_command(digits_onnx, tmp_path, pictures, right_scores):
    om = tmp_path / "digits.om"
    code, out, err = command("compile", digits_onnx, om, "--input_shape", "image:1,1,28,28")
    assert code == 0 and "input  image: f32[1, 1, 28, 28]" in out, out + err
    np.save(tmp_path / "p.npy", pictures[6])
    code, out, err = command("run", om, tmp_path / "p.npy", "--threads", 1)
    assert code == 0 and out.startswith("scores: f32[1, 10]"), out + err
    assert command("run", om, f"image={tmp_path / 'p.npy'}")[1] == out
    assert command("run", om, json.dumps(pictures[6].tolist()))[1] == out
    assert command("info", om)[1].startswith("model digits for ")
    assert command("--version")[1] == f"openatc {openatc.__version__}\n"
    for wrong in (["run", om], ["run", om, "picture=p.npy"], ["run", om, "image=[[1,"],
                  *(["run", om, values] for values in ('[["a"]]', "[[true]]", "[[null]]", f"[[{10 ** 400}]]")),
                  ["run", om, "image=[1]", "image=[1]"], ["info", tmp_path / "none.om"], ["compile", "none.onnx", om],
                  ["compile", digits_onnx, om, "--input_shape", "image:a"]):
        code, out, err = command(*wrong)
        assert code == 1 and err.startswith("E") and "Traceback" not in err, (wrong, err)


# --- Help ----------------------------------------------------------------------------------

def documented():
    for name in openatc.__all__:
        value = getattr(openatc, name)
        if name in ("NO_LIMIT", "__version__"):
            continue
        yield name, value
        if isinstance(value, type):
            for member in vars(value):
                if not member.startswith("_"):
                    yield f"{name}.{member}", inspect_member(value, member)


def inspect_member(kind, member):
    value = vars(kind)[member]
    return getattr(value, "__func__", value)


@pytest.mark.parametrize("name, value", [each for each in documented()
                                         if callable(each[1]) or isinstance(each[1], property)],
                         ids=lambda each: each if isinstance(each, str) else "")
def test_every_public_name_has_a_docstring(name, value):
    text = (value.__doc__ or "").strip()
    # pybind11 begins with the signature.
    lines = [line for line in text.splitlines() if line.strip() and "->" not in line
             and not line.startswith("Overloaded")]
    assert lines, f"help(openatc.{name}) is empty"
