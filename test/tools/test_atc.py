# Tests of the compiler's command line: flags, messages, files, and small models
# compiled and run. Run with `pytest test/tools`; OPENATC_BUILD_DIR names another
# build folder.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
DIGITS = ROOT / "examples" / "digits"

START = "ATC start working now, please wait for a moment."
SUCCESS = "ATC run success, welcome to the next use."
FAILURE = "ATC run failed, Please check the detail log, Try 'atc --help' for more information"

MAP = """func.func @main(%in: memref<{n}xf32> {{om.name = "x"}},
                    %out: memref<{n}xf32> {{om.name = "y", om.output}}) {{
  kernel.map %in outs %out : memref<{n}xf32>, memref<{n}xf32> {{
  ^bb0(%v: f32):
{body}
    kernel.yield %r : f32
  }}
  return
}}
"""


def tool(name, *args, cwd=None):
    return subprocess.run([openatc_tools.tool(name), *map(str, args)], cwd=cwd, capture_output=True,
                          text=True, timeout=300)


def atc(*args, cwd=None):
    return tool("atc", *args, cwd=cwd)


def check_success(result):
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stdout
    assert lines[0] == START
    assert lines[-1] == SUCCESS
    assert FAILURE not in lines


def check_failure(result, *codes):
    """The run failed with these codes, in any order, one line each."""
    lines = result.stdout.splitlines()
    assert result.returncode == 1
    assert lines[0] == START
    assert SUCCESS not in lines
    errors = lines[lines.index(FAILURE) + 1:]
    assert sorted(line.split(":")[0] for line in errors) == sorted(codes), errors
    return errors


@pytest.fixture
def model(tmp_path):
    (tmp_path / "m.mlir").write_text(MAP.format(n=1003, body="    %r = arith.negf %v : f32"))
    return tmp_path


def test_code_that_is_kept_is_that_of_a_first_compilation(model):
    """A kernel that did not change is taken from the cache, another one is generated."""
    def compiled(name):
        check_success(atc("--model=m.mlir", f"--output={name}", "--target=cpu", "--op_compiler_cache_dir=cache",
                          cwd=model))
        return (model / f"{name}.om").read_bytes(), {path.name: path.stat().st_ino for path in (model / "cache").iterdir()}
    first, kept = compiled("m")
    assert kept and compiled("m") == (first, kept)
    (model / "m.mlir").write_text(MAP.format(n=1003, body="    %r = arith.mulf %v, %v : f32"))
    other, both = compiled("m")
    assert other != first and kept.items() < both.items()
    for path in (model / "cache").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert compiled("m")[0] == other


def run(folder, om, x, *args):
    np.save(folder / "x.npy", x)
    result = tool("om-run", folder / om, "--input", folder / "x.npy", "--output", folder / "out", *args)
    assert result.returncode == 0, result.stderr
    return np.load(folder / "out" / "y.npy")


# ---- the parser ---------------------------------------------------------------


@pytest.mark.parametrize("flags", [
    ["--model=m.mlir", "--output=m", "--target=cpu"],
    ["--model", "m.mlir", "--output", "m", "--target", "cpu"],
    ["-model=m.mlir", "-output=m", "-target=cpu"],
    ["-model", "m.mlir", "--output=m", "--target=cpu", "--fram=5"],
    ["--model=m.mlir", "--output=m", "--target=cpu", "--target-cpu=host"],
    ["--model=m.mlir", "--output=m", "--target=cpu", "--verbose", "--mode=0"],
    ["--model=m.mlir", "--output=m", "--target=cpu", "--verbose", "false"],
    ["--model=other.mlir", "--output=m", "--target=cpu", "--model=m.mlir"],
])
def test_ways_to_write_flags(model, flags):
    check_success(atc(*flags, cwd=model))
    assert (model / "m.om").exists()


@pytest.mark.parametrize("flag, code, words", [
    ("--no_such_flag=1", "E10055", "--no_such_flag"),
    ("--inptu_shape=x", "E10055", "did you mean --input_shape?"),
    ("--o=x", "E10055", "--out_nodes"),
    ("\u201cword\u201d", "E10055", "is not a flag"),
    ("--log=", "E10004", "--log"),
    ("--log", "E10004", "--log"),
    ("--log=loud", "E10010", "loud"),
    ("--verbose=perhaps", "E10005", "perhaps"),
    ("--deterministic=2", "E10006", "2"),
    ("--mode=8", "E10001", "0, 1, 3, 5, 6"),
    ("--mode=30", "E10055", "--mode=0"),
    ("--foo=1", "E10055", "atc --help lists all flags"),
    ("--target_cpu=v9", "E10001", "x86-64-v3"),
    ("--target=gpu", "E10001", "gpu"),
    ("--buffer_optimize=l3", "E10001", "l2_optimize"),
    ("--auto_tune_mode=RL", "E10001", "aoe"),
    ("--insert_op_conf=a.cfg", "E10410", "--insert_op_conf"),
    ("--output_type=FP61", "E10001", "--output_type"),
    ("--disable_passes=no-such-pass", "E10001", "no-such-pass"),
    ("--remarks=some", "E10001", "passed, missed and analysis"),
    ("--disable_passes=cpu-lower-graph", "E10001", "cpu-lower-graph"),
])
def test_bad_flag(model, flag, code, words):
    result = atc("--model=m.mlir", "--output=m", "--target=cpu", flag, cwd=model)
    errors = check_failure(result, code)
    assert words in errors[0]
    assert os.listdir(model) == ["m.mlir"]


def test_all_errors_at_once(tmp_path):
    check_failure(atc(cwd=tmp_path), "E10007", "E10007", "E10007", "E10007")
    check_failure(atc("--model=none.onnx", "--framework=5", "--output=no/where", "--target=cpu",
                      "--log=loud", cwd=tmp_path), "E10410", "E10010")


def test_an_unknown_mode_is_the_only_error(tmp_path):
    """What else a command line needs depends on its mode."""
    check_failure(atc("--mode=31", "--om=x.om", cwd=tmp_path), "E10001")


def test_error_without_errors_in_flags(model):
    check_failure(atc("--model=m.mlir", "--output=m", cwd=model), "E10007")
    check_failure(atc("--model=m.mlir", "--output=m", "--target=npu", cwd=model), "E10007")


@pytest.mark.parametrize("output, code", [("", "E10004"), ("sub/", "E10022"), ("m.mlir/x", "E13004"),
                                          ("x" * 300, "E10021"), ("folder", "E13004")])
def test_bad_output(model, output, code):
    (model / "sub").mkdir()
    (model / "folder.om").mkdir()
    check_failure(atc("--model=m.mlir", "--target=cpu", "--output=" + output, cwd=model), code)


@pytest.mark.parametrize("framework, codes", [("0", ["E10008"]), ("1", ["E13005"]),
                                              ("3", ["E13005"]), ("2", ["E10001"])])
def test_other_frameworks(tmp_path, framework, codes):
    (tmp_path / "m.pb").write_bytes(b"x")
    check_failure(atc("--model=m.pb", "--framework=" + framework, "--output=m", "--target=cpu",
                      cwd=tmp_path), *codes)


def test_only_frameworks_that_are_supported_are_named(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"x")
    errors = check_failure(atc("--model=m.onnx", "--framework=onnx", "--output=m", "--target=cpu",
                               cwd=tmp_path), "E10001")
    assert "it must be 5 (ONNX), 3 (TensorFlow), 0 (Caffe), 1 (MindSpore AIR) or 6 (TensorFlow Lite)" in errors[0]


@pytest.mark.parametrize("shape, code, words", [
    ("1,3,4", "E10002", "no name"),
    ("x:1,a,3", "E10014", '"a" is not a number'),
    ("x:1,4,", "E10014", "is not a number"),
    ("x:1,4a", "E10002", '"4a" is not a number'),
    ("x:1,,3", "E10014", "is not a number"),
    ("x:1;x:2", "E10002", "twice"),
    ("x:1,0,3", "E10011", "neither positive nor -1"),
    ("x:1,-2", "E10011", "neither positive nor -1"),
    ("x:10~1,3", "E10002", "no size, no range"),
    ("x:99999999999999999999", "E10013", "more than 64 bits"),
])
def test_bad_input_shape(shape, code, words, tmp_path):
    result = atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m", "--target=cpu",
                 "--input_shape", shape, cwd=tmp_path)
    errors = check_failure(result, code)
    assert words in errors[0]


def test_open_input_shape(tmp_path):
    """-1 leaves a dim open: one file serves every batch."""
    result = atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m", "--target=cpu",
                 "--input_shape", "image:-1,1,28,28", cwd=tmp_path)
    assert result.returncode == 0 and "W11001" not in result.stdout, result.stdout
    result = atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m", "--target=cpu",
                 "--input_shape", "image:-1,1,28,28", "--disable_passes=host-tile-dynamic-dim",
                 cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    assert "W11001: the shape of these inputs is dynamic: 'image'" in result.stdout
    assert (tmp_path / "m.om").exists()


def test_missing_folders_are_made(model):
    check_success(atc("--model=m.mlir", "--target=cpu", "--output=a/b/m", "--json=c/d/s.json",
                      cwd=model))
    assert (model / "a" / "b" / "m.om").exists() and (model / "c" / "d" / "s.json").exists()


def test_flags_exclude_each_other(model):
    base = ["--model=m.mlir", "--output=m", "--target=cpu"]
    check_failure(atc(*base, "--dynamic_dims=1;2", "--dynamic_batch_size=1,2", cwd=model),
                  "E10009")
    check_failure(atc(*base, "--dynamic_batch_size=1,2", cwd=model), "E10055")
    check_failure(atc(*base, "--precision_mode=force_fp32", "--precision_mode_v2=origin", cwd=model),
                  "E10056")


def test_options_of_graph_programs(model):
    """They are flags, over which those of the command line take precedence."""
    def options(**levels):
        (model / "o.json").write_text(json.dumps({"compile options": levels, "execute options": {}}))
        return "--model=m.mlir", "--output=m", "--target=cpu", "--raw_ge_options=o.json"
    check_success(atc(*options(session={"ge.exec.precision_mode": "force_fp32"}, graph={"ge.exec.deviceId": "0"}), cwd=model))
    precision = {"ge.exec.precision_mode": "force_fp32"}
    # Both flags of precision state one thing.
    check_success(atc(*options(graph=precision), "--precision_mode_v2=origin", cwd=model))
    check_success(atc(*options(graph=precision, **{"global": {"ge.exec.precision_mode_v2": "fp16"}}), cwd=model))
    check_failure(atc(*options(graph={"ge.exec.precision_mode": "fp33"}), cwd=model), "E10001")
    check_success(atc(*options(graph={"ge.exec.precision_mode": "fp33"}), "--precision_mode=force_fp32", cwd=model))
    check_success(atc(*options(graph=precision, **{"global": {"ge.exec.precision_mode": "force_fp16"}}), cwd=model))
    errors = check_failure(atc(*options(graph={"ge.unheardOf": "1"}), cwd=model), "E10055")
    assert '"ge.unheardOf" is not known' in errors[0]
    check_success(atc(*options(graph={"ge.unheardOf": "1"}), "--raw_ge_options_ignore_unsupported=true", cwd=model))
    check_failure(atc(*options(graph={"ge.socVersion": "Ascend310"}), cwd=model), "E10001")
    check_failure(atc(*options(graph={"ge.deterministic": 1}), cwd=model), "E10032")
    check_failure(atc(*options(device={}), cwd=model), "E10032")
    check_failure(atc("--model=m.mlir", "--output=m", "--target=cpu", "--raw_ge_options=", cwd=model), "E10004")
    (model / "more.json").write_text(json.dumps({"compile options": {}, "compiler options": {}}))
    check_failure(atc("--model=m.mlir", "--output=m", "--target=cpu", "--raw_ge_options=more.json", cwd=model), "E10032")


def test_flags_without_effect_warn_once(model):
    result = atc("--model=m.mlir", "--output=m", "--target=cpu", "--soc_version=Ascend310",
                 "--virtual_type=1", "--enable_small_channel=1",
                 "--op_select_implmode=high_performance", cwd=model)
    check_success(result)
    warnings = [line for line in result.stdout.splitlines() if line.startswith("W")]
    assert len(warnings) == 3
    for flag in ("--soc_version", "--virtual_type", "--enable_small_channel"):
        assert sum(flag + " has no effect" in line for line in warnings) == 1


def test_help_and_version():
    result = atc("--help")
    assert result.returncode == 0
    for flag in ("--model", "--target_cpu", "--disable_passes", "--topo_sorting_mode"):
        assert flag in result.stdout
    assert atc("--version").stdout.startswith("atc ")


# ---- failures leave nothing behind ------------------------------------------------


@pytest.mark.parametrize("text", [
    "func.func @main(",
    "func.func @other() { return }",
    "func.func @main(%x: memref<4xf32>, %y: memref<4xf32> {om.output}) { return }",
    MAP.format(n=8, body="    %w = arith.extf %v : f32 to f64\n    %e = math.sin %w : f64\n"
                         "    %r = arith.truncf %e : f64 to f32"),
])
def test_nothing_is_left_behind(tmp_path, text):
    (tmp_path / "m.mlir").write_text(text)
    result = atc("--model=m.mlir", "--output=m", "--target=cpu", cwd=tmp_path)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    errors = lines[lines.index(FAILURE) + 1:]
    assert errors and all(line[0] == "E" and line[6] == ":" for line in errors), lines
    assert os.listdir(tmp_path) == ["m.mlir"]


def test_an_old_file_survives_a_failure(model):
    (model / "m.om").write_text("old")
    (model / "m.mlir").write_text("nonsense")
    assert atc("--model=m.mlir", "--output=m", "--target=cpu", cwd=model).returncode == 1
    assert (model / "m.om").read_text() == "old"


# ---- what comes out ------------------------------------------------------------------


def test_levels_share_weights(tmp_path):
    result = atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m", "--target=cpu",
                 "--target_cpu=v2,x86-64-v3,v4,v3", "--json=summary.json", cwd=tmp_path)
    check_success(result)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [image["level"] for image in summary["images"]] == ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    dump = json.loads(tool("om-dump", "--json", tmp_path / "m.om").stdout)
    assert [image["level"] for image in dump["images"]] == ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    assert [segment["kind"] for segment in dump["segments"]].count("weights") == 1
    assert "avx512f" in dump["images"][2]["features"] and "avx2" not in dump["images"][0]["features"]
    assert summary["weights_bytes"] < 2 * (DIGITS / "digits.onnx").stat().st_size
    assert summary["arena_bytes"] >= summary["arena_lower_bound"] > 0
    assert summary["intermediate_bytes"] > 0


def test_intermediate_files(model):
    check_success(atc("--model=m.mlir", "--output=m", "--target=cpu", "--target_cpu=v2",
                      "--save_temps=temps/here", cwd=model))
    names = os.listdir(model / "temps" / "here")
    for name in ("1-import.mlir", "4-schedule.mlir", "x86-64-v2.loops.mlir", "x86-64-v2.llvm.mlir",
                 "x86-64-v2.0.ll", "x86-64-v2.0.s"):
        assert name in names


@pytest.mark.parametrize("phase, holds", [
    ("import", "graph.relu"), ("quantize", "graph.relu"), ("graph", "graph.activation"),
    ("kernels", "cpu.conv2d"), ("schedule", "om.launch"), ("programs", "om.launch")])
def test_stop_after(tmp_path, phase, holds):
    check_success(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                      "--target=cpu", "--stop_after", phase, "--verbose", cwd=tmp_path))
    assert os.listdir(tmp_path) == ["m.mlir"]
    text = (tmp_path / "m.mlir").read_text()
    assert holds in text and "dialect_resources" in text  # with its constants


def test_stop_after_on_an_npu(tmp_path):
    check_success(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                      "--soc_version=Ascend310P3", "--stop_after=programs", cwd=tmp_path))
    assert "npu.program" in (tmp_path / "m.mlir").read_text()


def test_a_stopped_model_goes_on(tmp_path):
    """What --stop_after writes after the graph passes is a model like others."""
    check_success(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                      "--target=cpu", "--stop_after=graph", cwd=tmp_path))
    check_success(atc("--model=m.mlir", "--output=m", "--target=cpu", cwd=tmp_path))
    run = tool("om-run", "m.om", "--input", DIGITS / "pictures" / "digit_3.npy", cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def test_stop_after_errors(tmp_path):
    check_failure(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                      "--target=cpu", "--stop_after=linking", cwd=tmp_path), "E10001")
    (tmp_path / "m.mlir").mkdir()
    check_failure(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                      "--target=cpu", "--stop_after=graph", cwd=tmp_path), "E13004")


def remarks_of(folder, kinds, *target):
    result = atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                 f"--remarks={kinds}", *target, cwd=folder)
    check_success(result)
    return [line for line in result.stdout.splitlines() if line.startswith("remark: ")]


def test_remarks_say_what_passes_decided(tmp_path):
    npu = remarks_of(tmp_path, "all", "--soc_version=Ascend310P3")
    assert npu == remarks_of(tmp_path, "all", "--soc_version=Ascend310P3")
    assert len(set(npu)) == len(npu)
    passed = [line for line in npu if line.startswith("remark: passed: ")]
    assert any("passed: graph-fuse-conv-activation: '" in line for line in passed)
    # Every contraction has a tile, and its line says on which node.
    assert any("passed: npu-select-tiles: '" in line and " cycles)" in line for line in passed)
    assert any(line.startswith("remark: analysis: npu-partition: ") for line in npu)
    cpu = remarks_of(tmp_path, "passed,missed", "--target=cpu")
    assert any("passed: cpu-select-tiles: '" in line for line in cpu)
    assert not any("npu-" in line or "analysis" in line for line in cpu)


def test_the_same_model_gives_the_same_file(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        check_success(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=m",
                          "--target=cpu", "--target_cpu=v3", cwd=tmp_path / name))
    assert (tmp_path / "a" / "m.om").read_bytes() == (tmp_path / "b" / "m.om").read_bytes()


def test_show_model(model):
    check_success(atc("--model=m.mlir", "--output=m", "--target=cpu", cwd=model))
    result = atc("--mode=6", "--om=m.om", cwd=model)
    check_success(result)
    for words in ("Display Model Info start", "atc --model=m.mlir --target=cpu",
                  "system info: atc_version[OpenATC", "soc_version[cpu]", "memory_size[",
                  "om info: modeldef_size[", "name[x], type[f32], shape[1003]",
                  "Display Model Info end"):
        assert words in result.stdout
    check_success(atc("--mode=1", "--om=m.om", "--json=m.json", cwd=model))
    shown = json.loads((model / "m.json").read_text())
    assert shown["inputs"][0] == {"name": "x", "dtype": "f32", "shape": [1003],
                                  "dim_names": [""], "bytes": 4012}
    assert shown["launches"][0]["kernel"] == "map_negf"
    check_failure(atc("--mode=6", "--om=none.om", cwd=model), "E10410")
    check_failure(atc("--mode=6", "--om=m.mlir", cwd=model), "E10041")
    check_failure(atc("--mode=1", "--om=m.om", cwd=model), "E10007")
    check_failure(atc("--mode=5", cwd=model), "E10007", "E10007")


def test_precheck(tmp_path):
    check_success(atc("--mode=3", "--model", DIGITS / "digits.onnx", "--framework=5", cwd=tmp_path))
    report = json.loads((tmp_path / "check_result.json").read_text())
    assert report["result"] == "success"
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 64)
    result = atc("--mode=3", "--model=bad.onnx", "--framework=5", "--check_report=r.json", cwd=tmp_path)
    assert result.returncode == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["result"] == "failed" and report["messages"]


# ---- numbers --------------------------------------------------------------------------


def host_levels(folder):
    """The named levels that this machine can run."""
    levels = []
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        atc("--model=m.mlir", "--output=probe", "--target=cpu", "--target_cpu=" + level, cwd=folder)
        if tool("om-run", folder / "probe.om").returncode == 0:
            levels.append(level)
    return levels


def erf(x):
    return np.vectorize(math.erf)(x)


# name, meaning in f64, range, and the error allowed relative to max(|result|, 0.1)
FUNCTIONS = [
    ("exp", np.exp, -80, 80, 2e-6), ("log", np.log, 1e-6, 1e6, 2e-6), ("tanh", np.tanh, -10, 10, 2e-6),
    ("erf", erf, -4, 4, 2e-6), ("sin", np.sin, -30, 30, 2e-5), ("cos", np.cos, -30, 30, 2e-5),
    ("tan", np.tan, -1.5, 1.5, 1e-5), ("asin", np.arcsin, -1, 1, 2e-6),
    ("acos", np.arccos, -1, 1, 4e-6), ("atan", np.arctan, -20, 20, 4e-6),
    ("sinh", np.sinh, -10, 10, 2e-6), ("cosh", np.cosh, -10, 10, 2e-6),
    ("asinh", np.arcsinh, -50, 50, 2e-6), ("acosh", np.arccosh, 1, 50, 4e-6),
    ("atanh", np.arctanh, -0.99, 0.99, 2e-6), ("log1p", np.log1p, -0.9, 100, 2e-6),
    ("expm1", np.expm1, -5, 5, 2e-6), ("log2", np.log2, 1e-6, 1e6, 2e-6),
    ("exp2", np.exp2, -80, 80, 4e-6), ("cbrt", np.cbrt, -100, 100, 2e-6),
    ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-3, 1e3, 2e-6), ("sqrt", np.sqrt, 0, 100, 1e-6),
    ("roundeven", np.rint, -10, 10, 0), ("floor", np.floor, -10, 10, 0), ("ceil", np.ceil, -10, 10, 0),
    ("round", lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5), -10, 10, 0),
]


def test_functions_without_a_math_library(tmp_path):
    names = [name for name, *_ in FUNCTIONS]
    (tmp_path / "m.mlir").write_text(MAP.format(n=4, body="    %r = arith.negf %v : f32"))
    levels = host_levels(tmp_path)
    assert levels
    n = 1003  # not a multiple of any vector
    arguments = ", ".join(f'%x{i}: memref<{n}xf32> {{om.name = "x{i}"}}' for i in range(len(names)))
    results = ", ".join(f'%y{i}: memref<{n}xf32> {{om.name = "{name}", om.output}}'
                        for i, name in enumerate(names))
    body = "\n".join(f"""  kernel.map %x{i} outs %y{i} : memref<{n}xf32>, memref<{n}xf32> {{
  ^bb0(%v: f32):
    %r = math.{name} %v : f32
    kernel.yield %r : f32
  }}""" for i, name in enumerate(names))
    (tmp_path / "f.mlir").write_text(f"func.func @main({arguments}, {results}) {{\n{body}\n  return\n}}\n")
    check_success(atc("--model=f.mlir", "--output=f", "--target=cpu",
                      "--target_cpu=" + ",".join(levels), cwd=tmp_path))
    inputs = []
    for i, (_, _, low, high, _) in enumerate(FUNCTIONS):
        np.save(tmp_path / f"x{i}.npy", np.linspace(low, high, n).astype(np.float32))
        inputs.append(f"x{i}={tmp_path}/x{i}.npy")
    for level in levels:
        result = tool("om-run", tmp_path / "f.om", "--input", ",".join(inputs), "--output",
                      tmp_path / level, "--cpu-level", level)
        assert result.returncode == 0, result.stderr
        for i, (name, function, _, _, allowed) in enumerate(FUNCTIONS):
            x = np.load(tmp_path / f"x{i}.npy").astype(np.float64)
            want = function(x)
            error = np.abs(np.load(tmp_path / level / f"{name}.npy") - want)
            error /= np.maximum(np.abs(want), 0.1)
            assert error.max() <= allowed, (level, name, error.max(), x[error.argmax()])


def test_remainder(tmp_path):
    (tmp_path / "m.mlir").write_text(MAP.format(n=1003, body="""    %c = arith.constant 0.37 : f32
    %r = arith.remf %v, %c : f32"""))
    check_success(atc("--model=m.mlir", "--output=m", "--target=cpu", cwd=tmp_path))
    x = (np.random.default_rng(0).standard_normal(1003) * 1e4).astype(np.float32)
    assert np.array_equal(run(tmp_path, "m.om", x), np.fmod(x, np.float32(0.37)))


def test_memory_is_reused(tmp_path):
    """A chain of elementwise kernels on one buffer, with the right result."""
    n, steps = 4096, 12
    body, source = "", "%in"
    for i in range(steps):
        target = "%out" if i == steps - 1 else f"%b{i}"
        if target != "%out":
            body += f"  {target} = om.alloc : memref<{n}xf32>\n"
        body += f"""  kernel.map {source} outs {target} : memref<{n}xf32>, memref<{n}xf32> {{
  ^bb0(%v: f32):
    %c = arith.constant {i + 1}.0 : f32
    %r = arith.addf %v, %c : f32
    kernel.yield %r : f32
  }}
"""
        source = target
    (tmp_path / "m.mlir").write_text(
        f'func.func @main(%in: memref<{n}xf32> {{om.name = "x"}}, '
        f'%out: memref<{n}xf32> {{om.name = "y", om.output}}) {{\n{body}  return\n}}\n')
    for flags, buffers in ((["--disable_passes=om-reuse-in-place"], 2), ([], 1)):
        check_success(atc("--model=m.mlir", "--output=m", "--target=cpu", "--json=s.json", *flags,
                          cwd=tmp_path))
        assert json.loads((tmp_path / "s.json").read_text())["arena_bytes"] == buffers * 4 * n
        x = np.arange(n, dtype=np.float32)
        assert np.array_equal(run(tmp_path, "m.om", x, "--threads", 2), x + steps * (steps + 1) / 2)


def test_digits(tmp_path):
    check_success(atc("--model", DIGITS / "digits.onnx", "--framework=5", "--output=digits",
                      "--target=cpu", cwd=tmp_path))
    pictures = sorted((DIGITS / "pictures").glob("digit_*.npy"))
    assert len(pictures) == 10
    for picture in pictures:
        result = tool("om-run", tmp_path / "digits.om", "--input", picture, "--output", tmp_path / "out")
        assert result.returncode == 0, result.stderr
        (scores,) = [np.load(path) for path in (tmp_path / "out").glob("*.npy")]
        assert scores.argmax() == int(picture.stem[-1])
