# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""om-run as a tool to try models out: images, random inputs, labels, sessions, files on the CPU."""

import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import images  # noqa: E402
from openatc_tools import ROOT, call, compile_model, tool  # noqa: E402

DIGITS = ROOT / "examples" / "digits"
PICTURE = DIGITS / "pictures" / "digit_7.npy"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return compile_model(DIGITS / "digits.onnx", tmp_path_factory.mktemp("digits"))


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory):
    return compile_model(DIGITS / "digits.onnx", tmp_path_factory.mktemp("dynamic"),
                         "--input_shape=image:-1,1,28,28")


def om_run(*words):
    code, out, err = call(tool("om-run"), *words)
    assert (code, err) == (0, ""), out + err
    return out


def refused(*words):
    code, _, err = call(tool("om-run"), *words)
    assert code == 1 and err.count("\n") == 1, err
    return err


def write_image(folder, name="seven.png", encode=images.png):
    """The digit as an image: its file and the pixels, 0 to 255."""
    pixels = np.clip(np.load(PICTURE)[0, 0] * 255, 0, 255).round().astype("u1")
    (folder / name).write_bytes(encode(pixels))
    return folder / name, pixels


@pytest.mark.parametrize("name, encode", [("seven.png", images.png), ("seven.BMP", images.bmp),
                                          ("seven.pgm", images.pnm)])
def test_images(digits, dynamic, tmp_path, name, encode):
    path, pixels = write_image(tmp_path, name, encode)
    flags = ["--mean_chn=12", "--std_chn=255", "--output", tmp_path / "out"]
    np.save(tmp_path / "same.npy", ((pixels - 12.0) / 255).astype("f4")[None, None])
    outputs = []
    for file, more in ((path, flags), (path, [*flags[:1], "--var_reci_chn=0.00392156862745098",
                                              *flags[2:]]),
                       (tmp_path / "same.npy", flags[2:])):
        om_run(digits, "--input", file, *more)
        outputs.append(np.load(tmp_path / "out" / "scores.npy"))
    np.testing.assert_allclose(outputs[0], outputs[2], atol=1e-4)
    np.testing.assert_allclose(outputs[1], outputs[2], atol=1e-4)
    # With a dynamic batch one image stands for all of it.
    om_run(dynamic, "--input", path, "--shape=image:3,1,28,28", *flags)
    np.testing.assert_allclose(np.load(tmp_path / "out" / "scores.npy"),
                               np.repeat(outputs[0], 3, 0), atol=1e-4)


def test_errors_of_images(digits, dynamic, tmp_path):
    path, _ = write_image(tmp_path)
    (tmp_path / "wrong.png").write_bytes(b"no image")
    assert "E10014" in refused(digits, "--input", tmp_path / "wrong.png")
    assert "E13001" in refused(digits, "--input", tmp_path / "none.png")
    # A small file may hold more pixels than there is memory for.
    large = bytearray(images.png(np.zeros((1, 1), "u1")))
    large[16:24] = struct.pack(">II", 1 << 13, (1 << 13) + 1)
    (tmp_path / "large.png").write_bytes(large)
    assert "67117056 pixels" in refused(digits, "--input", tmp_path / "large.png")
    assert "GRAY" in refused(digits, "--input", path, "--image_format=BGR")
    assert "more numbers" in refused(digits, "--input", path, "--mean_chn=1,2,3")
    assert "exclude" in refused(digits, "--input", path, "--std_chn=1", "--var_reci_chn=1")
    assert "has a 0" in refused(digits, "--input", path, "--std_chn=0")
    assert "--shape" in refused(dynamic, "--input", path)


@pytest.mark.parametrize("flag", ["--max_time", "--duration", "--tolerance", "--rank_timeout",
                                  "--mean_chn", "--std_chn"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
def test_numbers_are_finite(digits, flag, value):
    """No number is less than a NaN, so that it passed as a limit that nothing exceeds."""
    assert "E10001" in refused(digits, f"{flag}={value}")


@pytest.mark.parametrize("flag, value, said", [
    ("--max_time", "0", "0 is not more than 0"), ("--duration", "-1", "-1 is not more than 0"),
    ("--tolerance", "-0.1", "-0.1 is less than 0"), ("--max_time", "soon", "soon")])
def test_numbers_have_a_least_value(digits, flag, value, said):
    errors = refused(digits, f"{flag}={value}")
    assert "E10001" in errors and said in errors and len(errors) < 200, errors


def test_files_of_unknown_versions_of_npy(digits, tmp_path):
    file = bytearray(PICTURE.read_bytes())
    for version in (0, 4, 9, 255):
        file[6] = version
        (tmp_path / "x.npy").write_bytes(file)
        assert "E13005" in refused(digits, "--input", tmp_path / "x.npy")


def headed(dictionary, data):
    """A .npy file."""
    text = dictionary.encode()
    return b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text + data


def test_headers_that_numpy_does_not_write(digits, tmp_path):
    data = np.load(PICTURE).astype("f4").tobytes()
    shape = "(1, 1, 28, 28)"
    for dictionary in (f"{{'descr': '<f4', 'fortran_order': Maybe, 'shape': {shape}, }}",
                       f"{{'descr': '<f4', 'fortran_order': Falsehood, 'shape': {shape}, }}",
                       f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, 'shape': (784,), }}",
                       f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, 'more': True, }}",
                       f"{{'descr': '<f4', 'shape': {shape}, }}",
                       "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28, }",
                       f"'descr': '<f4', 'fortran_order': False, 'shape': {shape}",
                       f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }} and more",
                       "{'descr"):
        (tmp_path / "x.npy").write_bytes(headed(dictionary, data))
        errors = refused(digits, "--input", tmp_path / "x.npy")
        assert "E13005" in errors and "is no .npy file" in errors, dictionary


@pytest.mark.parametrize("dictionary", [
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }   \n",
    "{'shape': (1L, 1L, 28L, 28L), 'fortran_order': False, 'descr': '=f4'}",
    '{"shape":(1,1,28,28),"fortran_order":False,"descr":"<f4"}\n'])
def test_headers_of_other_writers(digits, tmp_path, dictionary):
    (tmp_path / "x.npy").write_bytes(headed(dictionary, np.load(PICTURE).astype("f4").tobytes()))
    om_run(digits, "--input", tmp_path / "x.npy", "--output", tmp_path)
    assert np.load(tmp_path / "scores.npy").size == 10


def test_archives_of_arrays_are_no_inputs(digits, dynamic, tmp_path):
    """Their bytes were taken for those of the elements: an archive of the right size ran."""
    np.savez(tmp_path / "x.npz", image=np.load(PICTURE))
    errors = refused(digits, "--input", tmp_path / "x.npz")
    assert errors.startswith("E13005") and "as a .npy file of its own" in errors
    assert "must be a .npy file" in refused(dynamic, "--input", tmp_path / "x.npz")


def test_models_that_are_not_compiled():
    errors = refused(DIGITS / "digits.onnx")
    assert errors.startswith("E10041") and "compile the model with this project's atc" in errors


def test_random_inputs(digits, dynamic, tmp_path):
    def scores(om, *words):
        om_run(om, "--output", tmp_path, *words)
        return np.load(tmp_path / "scores.npy")

    zeros, first = scores(digits), scores(digits, "--random")
    assert np.abs(zeros - first).max() > 1e-3
    np.testing.assert_array_equal(first, scores(digits, "--random"))
    assert np.abs(scores(digits, "--random", "--seed=5") - first).max() > 1e-3
    assert scores(dynamic, "--random", "--shape=image:4,1,28,28").std(0).max() > 1e-3
    np.testing.assert_array_equal(scores(digits, "--random", "--input", PICTURE),
                                  scores(digits, "--input", PICTURE))


def test_options_of_several_inputs_are_given_once_each(tmp_path):
    """--input a=... --input b=... is --input a=...,b=...; so is --shape."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto as T, helper as H
    ports = [H.make_tensor_value_info(name, T.FLOAT, ["n"]) for name in "aby"]
    graph = H.make_graph([H.make_node("Sub", ["a", "b"], ["y"])], "sub", ports[:2], ports[2:])
    model = H.make_model(graph, opset_imports=[H.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "sub.onnx"))
    om = compile_model(tmp_path / "sub.onnx", tmp_path)
    for name, value in (("a", [5, 7]), ("b", [2, 3])):
        np.save(tmp_path / f"{name}.npy", np.array(value, np.float32))
    om_run(om, "--output", tmp_path, "--input", f"b={tmp_path}/b.npy", "--input",
           f"a={tmp_path}/a.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), [3, 4])
    om_run(om, "--output", tmp_path, "--shape", "a:5", "--shape", "b:5")
    assert np.load(tmp_path / "y.npy").shape == (5,)
    errors = refused(om, "--input", f"a={tmp_path}/a.npy", "--input", "c=x.npy")
    assert "E10017: 'c' in --input is not an input of the model" in errors


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """Models of y = cast(x) for a type: the .onnx and the .om file of a static and a dynamic one."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto as T, helper as H
    folder = tmp_path_factory.mktemp("typed")

    def make(dtype, dims):
        kind = T.DataType.Value(dtype)
        node = H.make_node("Identity", ["x"], ["y"]) if dtype == "STRING" else \
            H.make_node("Cast", ["x"], ["y"], to=T.DOUBLE)
        graph = H.make_graph([node], "typed", [H.make_tensor_value_info("x", kind, dims)],
                             [H.make_tensor_value_info("y", 8 if dtype == "STRING" else T.DOUBLE, None)])
        path = folder / f"{dtype}{len(dims)}{isinstance(dims[0] if dims else 0, str)}.onnx"
        onnx.save(H.make_model(graph, opset_imports=[H.make_opsetid("", 17)], ir_version=8), str(path))
        return path, compile_model(path, folder)
    return make


@pytest.mark.parametrize("dtype, values", [
    ("FLOAT", [0.5, -1e30, 3]), ("DOUBLE", [0.1, 1e300, -2]), ("FLOAT16", [65504, 0.25, -1]),
    ("INT8", [-128, 127, 0]), ("UINT8", [0, 255, 1]), ("INT16", [-32768, 32767, 0]),
    ("UINT16", [0, 65535, 1]), ("INT32", [-2**31, 2**31 - 1, 0]), ("UINT32", [0, 2**32 - 1, 1]),
    ("INT64", [-2**63, 2**53, 0]), ("UINT64", [0, 2**53, 1]), ("BOOL", [True, False, True])])
def test_values_stand_for_a_file(typed, tmp_path, dtype, values):
    for dims in ([1, 3], ["n", "m"]):
        _, om = typed(dtype, dims)
        om_run(om, "--input", f"x={json.dumps([values])}", "--output", tmp_path)
        np.testing.assert_array_equal(
            np.load(tmp_path / "y.npy"), np.array([values], "f4" if dtype == "FLOAT" else "f8"))
        # By position, in brackets alone.
        om_run(om, "--input", json.dumps([values]), "--output", tmp_path)
        assert np.load(tmp_path / "y.npy").shape == (1, 3)


def test_typed_strings_and_scalars(typed, tmp_path):
    om_run(typed("STRING", ["n"])[1], "--input", 'x=["a, b", "]=[", "\\""]', "--output", tmp_path)
    assert np.load(tmp_path / "y.npy").tolist() == [b"a, b", b"]=[", b'"']
    # Nothing else stands for them, though their number is known or given.
    for dims, more in (([1], []), (["n"], ["--shape=x:2"])):
        assert refused(typed("STRING", dims)[1], "--random", *more).startswith(
            "E10014: input 'x' has strings")
    om_run(typed("FLOAT", [])[1], "--input", "x=[2.5]", "--output", tmp_path)
    assert np.load(tmp_path / "y.npy") == np.float32(2.5)


@pytest.mark.parametrize("dtype, text, reason", [
    ("INT8", "[[1,2,128]]", "128 is no i8"), ("INT8", "[[1,2,-129]]", "-129 is no i8"),
    ("UINT8", "[[1,2,-1]]", "-1 is no u8"), ("INT64", "[[1,2,9223372036854775808]]", "is no i64"),
    ("INT32", "[[1,2,0.5]]", "0.5 is no i32"), ("FLOAT", "[[1,2,1e39]]", "1e+39 is no f32"),
    ("FLOAT16", "[[1,2,70000]]", "70000 is no f16"), ("FLOAT", "[[1,2,true]]", "true is no f32"),
    ("BOOL", "[[1,0,1]]", "1 is no bool"), ("FLOAT", "[[1,2,null]]", "null is no f32"),
    ("FLOAT", "[[1,2]]", "the shape [1,2], but the model has f32[1,3]"),
    ("FLOAT", "[1,2,3]", "the shape [3], but"), ("FLOAT", "[[1,2,3],[1,2]]", "of 3 and of 2 items"),
    ("FLOAT", "[[1,2,3],4]", "side by side"), ("FLOAT", "[1,[1,2,3]]", "side by side"),
    ("FLOAT", "[[1,2,3]", "not valid JSON"), ("FLOAT", "[" * 100, "nested deeper")])
def test_values_that_an_input_cannot_have(typed, dtype, text, reason):
    model, om = typed(dtype, [1, 3])
    for name in ("", "x="):
        errors = refused(om, "--input", name + text)
        assert errors.startswith("E10014: input 'x' cannot have the values") and reason in errors
    code, _, errors = call(tool("atc-translate"), "--interpret", model, "--input", f"x={text}")
    assert code == 1 and reason in errors


def test_values_are_compared_with_the_reference(typed):
    model, om = typed("FLOAT", [1, 3])
    assert "all 1 tensors agree" in om_run(om, "--compare", model, "--input", "x=[[1,2,3]]")


def test_labels(digits, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("\r\n".join("zero one two three four five six <seven>\x1b eight nine".split()))
    out = om_run(digits, "--input", PICTURE, "--labels", names)
    first = re.search(r"top 5:\n +([-\d.]+) +(.*)\n", out)
    assert first.group(2).startswith("<seven>") and first.group(2).endswith("(7)")
    assert "\x1b" not in out
    shown = json.loads(om_run(digits, "--input", PICTURE, "--labels", names, "--json"))
    top = shown["outputs"][0]["top"]
    assert len(top) == 5 and top[0]["index"] == 7
    assert [row["value"] for row in top] == sorted((row["value"] for row in top), reverse=True)
    names.write_text("a\nb\n")
    assert "2 labels" in refused(digits, "--labels", names)
    assert "E13001" in refused(digits, "--labels", tmp_path / "none.txt")


def test_percentiles_and_sessions(digits, dynamic):
    for om, words in ((digits, []), (dynamic, ["--shape=image:2,1,28,28"])):
        shown = json.loads(om_run(om, "--json", "--loop=20", *words))
        times = shown["latency_ms"]
        assert shown["loop"] == 20 and shown["sessions"] == 1 and shown["runs_per_second"] > 0
        assert times["min"] <= times["p50"] <= times["p90"] <= times["p99"]
        shown = json.loads(om_run(om, "--json", "--loop=20", "--sessions=3", "--threads=1",
                                  "--random", *words))
        assert shown["loop"] == 60 and shown["sessions"] == 3
    assert re.search(r"throughput +[\d.]+ per second +\(2 sessions\)",
                     om_run(digits, "--sessions=2", "--loop=3"))
    shown = json.loads(om_run(digits, "--json", "--duration=0.2"))
    assert shown["loop"] > 5
    assert 150 < shown["loop"] / shown["runs_per_second"] * 1000 < 2000
    for words in (["--sessions=0"], ["--duration=-1"], ["--duration=1", "--loop=3"]):
        refused(digits, *words)


def test_report_and_timeline_of_the_cpu(digits, dynamic, tmp_path):
    out = om_run(digits, "--report", tmp_path / "r.html", "--timeline", tmp_path / "t.json",
                 "--loop=3")
    assert "hazards" not in out
    launches = [row["name"] for row in json.loads(om_run(digits, "--profile", "--json"))["profile"]]
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and page.count("class=\"bar\"") == len(launches)
    assert all(name in page for name in launches) and "3 runs" in page
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == launches
    ends = [event["ts"] + event["dur"] for event in events]
    assert all(event["dur"] >= 0 for event in events)
    np.testing.assert_allclose([event["ts"] for event in events[1:]], ends[:-1])
    om_run(dynamic, "--report", tmp_path / "r.html", "--shape=image:2,1,28,28")
    assert "class=\"bar\"" in (tmp_path / "r.html").read_text()
    assert "E10057" in refused(dynamic, "--timeline", tmp_path / "t.json",
                               "--shape=image:2,1,28,28")
    assert "E10057" in refused(digits, "--check-hazards")


def test_no_hazards_are_said(tmp_path):
    code, out, err = call(tool("atc"), f"--model={DIGITS / 'digits.onnx'}", "--framework=5",
                          "--soc_version=Ascend310P3", f"--output={tmp_path / 'npu'}")
    assert code == 0, out + err
    om = tmp_path / "npu.om"
    assert re.search(r"hazards +none", om_run(om, "--check-hazards"))
    assert "hazards" not in om_run(om)
    assert "E10057" in refused(om, "--sessions=2")


def test_help_shows_each_option_once():
    code, out, _ = call(tool("om-run"), "--help")
    assert code == 0
    first_words = [line.split()[0] for line in out.splitlines() if re.match(r" {2}-", line)]
    plain = [name.replace("-", "_") for word in first_words for name in word.split(",")]
    assert len(plain) == len(set(plain)) > 30
    assert "{false}" not in out and ":INT" not in out and ":POSITIVE" not in out
    for hidden in ("--max-memory", "--check_hazards"):
        assert hidden not in plain and f"{hidden}," not in out
