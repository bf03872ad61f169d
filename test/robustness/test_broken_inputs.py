#===-- test_broken_inputs.py - atc refuses every broken model with one clear error -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checked by tools.atc_refuses: exit status 1, the three ATC lines, exactly the coded lines that
are due, the words that name what is wrong, nothing on stderr, no file left behind.

OPENATC_BUILD_DIR chooses the build. Needs numpy, pytest and onnx (Debian: python3-onnx).
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import broken_models  # noqa: E402
import broken_nodes  # noqa: E402
from models import conv, ints, model, net, node, tensor  # noqa: E402
from tools import (BUILD, GOLDEN, atc_compiles, atc_refuses, available, call, files_in,  # noqa: E402
                   plain_user)

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")

COMPILE = ["--model=m.onnx", "--framework=5", "--output=out", "--target=cpu"]
CASES = broken_models.CASES + broken_nodes.CASES


def save(folder, made):
    path = folder / "m.onnx"
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    return path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.build.__name__)
def test_model_is_refused(case, tmp_path):
    save(tmp_path, case.build())
    (tmp_path / "short.bin").write_bytes(bytes(100))
    (tmp_path / "folder").mkdir()
    atc_refuses([*COMPILE, *case.flags], tmp_path, case.code, *case.words, count=case.count)


@pytest.mark.parametrize("name, made, words", broken_nodes.HOSTED,
                         ids=[name for name, *_ in broken_nodes.HOSTED])
def test_model_has_a_host_program(name, made, words, tmp_path):
    save(tmp_path, made)
    code, out, err = call("atc", *COMPILE, cwd=tmp_path)
    assert (code, err) == (0, ""), out
    assert files_in(tmp_path) == ["m.onnx", "out.om"]
    warnings = [line for line in out.splitlines() if line.startswith("W")]
    assert len(warnings) == (1 if words else 0), out
    assert all(word in warnings[0] for word in words), out


def test_the_models_compile_before_they_are_broken(tmp_path):
    for made in (net(), conv(), conv(pads=[1, 1, 1, 1], strides=[2, 2])):
        save(tmp_path, made)
        atc_compiles(COMPILE, tmp_path)
        assert files_in(tmp_path) == ["m.onnx", "out.om"]


@pytest.mark.parametrize("shape", [[], [1], [1] * 16], ids=["scalar", "one", "rank-16"])
def test_the_ends_of_what_is_allowed(shape, tmp_path):
    save(tmp_path, model([node("Relu", ["x"], ["y"])], inputs=[tensor("x", shape)]))
    atc_compiles(COMPILE, tmp_path)
    assert call("om-run", "out.om", cwd=tmp_path)[0] == 0


def test_truncated_at_many_points(tmp_path):
    whole = net().SerializeToString()
    cuts = sorted({1, 2, 3, 10, len(whole) - 1, len(whole) - 2, *range(50, len(whole), 150)})
    for size in cuts:
        save(tmp_path, whole[:size])
        lines = atc_refuses(COMPILE, tmp_path, "E1")
        assert lines[0][:6] in ("E13005", "E16004", "E16005"), (size, lines)


def test_a_newer_opset_is_read_with_a_warning(tmp_path):
    save(tmp_path, model([node("Relu", ["x"], ["y"])], opset=999))
    status, out, _ = call("atc", *COMPILE, cwd=tmp_path)
    assert status == 0
    assert "W11001: the model has opset 999" in out


def test_a_failure_leaves_the_older_file_alone(tmp_path):
    save(tmp_path, net())
    atc_compiles(COMPILE, tmp_path)
    good = (tmp_path / "out.om").read_bytes()
    save(tmp_path, conv(group=0))
    atc_refuses(COMPILE, tmp_path, "E14001", "'group'")
    assert (tmp_path / "out.om").read_bytes() == good


@pytest.mark.parametrize("args, code", [
    (["--model=m.onnx", "--framework=5", "--output=new/sub/out"], "E14001"),
    (["--singleop=ops.json", "--output=new/sub"], "E10027"),
], ids=["model", "operators"])
def test_a_failure_leaves_no_folder(args, code, tmp_path):
    """The folder of a result is made before the work begins."""
    save(tmp_path, conv(group=0))
    (tmp_path / "ops.json").write_text('[{"op": "Relu", "input_desc": [{"shape": [1], "type": "float"}],'
                                       ' "output_desc": [{"shape": [2], "type": "float"}]}]')
    atc_refuses([*args, "--target=cpu"], tmp_path, code)


def test_a_signal_leaves_no_folder(tmp_path):
    names = ["x", *(f"t{i}" for i in range(2999)), "y"]
    save(tmp_path, model([node("Sigmoid" if i % 2 else "Relu", [names[i]], [names[i + 1]]) for i in range(3000)]))
    with subprocess.Popen([BUILD / "bin/atc", "--model=m.onnx", "--framework=5", "--target=cpu",
                           "--output=new/sub/out"], cwd=tmp_path, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "new/sub").is_dir() and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM and err.startswith("E19998: "), err
    assert files_in(tmp_path) == ["m.onnx"]


@pytest.mark.parametrize("end", [2**31 + 1, 2**62, 2**63 - 1])
def test_a_range_beyond_all_dims(end, tmp_path):
    """The doubled sizes of its gears had no end."""
    save(tmp_path, conv())
    atc_refuses(["--model=m.onnx", "--framework=5", "--output=out", "--soc_version=Ascend310P3",
                 f"--input_shape=x:1,3,8~{end},8"], tmp_path, "E10002", f'"8~{end}"')


# --input_shape and --out_nodes against the model.

@pytest.mark.parametrize("shape, code, word", [
    ("z:1,3,8,8", "E10016", "'z'"),
    ("y:1,3,8,8", "E10017", "'y'"),
    ("x:1,3,8", "E10049", "3 dims"),
    ("x:1,3,8,8,8", "E10049", "5 dims"),
    ("x:1,3,8,eight", "E10014", "eight"),
    ("x:1,,8,8", "E10014", "x:1,,8,8"),
    ("x:1,3,8,8;x:1,3,8,8", "E10002", "twice"),
    ("1,3,8,8", "E10002", "no name"),
    (":1,3,8,8", "E10002", "no name"),
    ("x:0,3,8,8", "E10011", "0"),
    ("x:-2,3,8,8", "E10011", "-2"),
    ("x:4~1,3,8,8", "E10002", "4~1"),
    ("x:99999999999999999999,3,8,8", "E10013", "99999999999999999999"),
    ("x:9223372036854775807,3,8,8", "E14001", "9223372036854775807"),
    ("x:1048576,3,1048576,8", "E14001", "2^40"),
    ("x:1,4,8,8", "E14001", "'conv1' (Conv)"),
    ("x:1,3,2,2", "E14001", "'conv1' (Conv)"),
])
def test_input_shape(shape, code, word, tmp_path):
    made = conv()
    made.graph.input[0].CopyFrom(tensor("x", ["N", "C", "H", "W"]))
    save(tmp_path, made)
    atc_refuses([*COMPILE, f"--input_shape={shape}"], tmp_path, code, word)


@pytest.mark.parametrize("nodes, code, word", [
    ("none:0", "E10016", "'none:0'"),
    ("conv1:3", "E10016", "'conv1:3'"),
    ("conv1:-1", "E10016", "'conv1:-1'"),
    ("conv1:99999999999999999999", "E10013", "99999999999999999999"),
    ("conv1", "E10016", "'conv1'"),
    ("y;conv1:0", "E10001", "'y'"),
])
def test_out_nodes(nodes, code, word, tmp_path):
    save(tmp_path, conv())
    atc_refuses([*COMPILE, f"--out_nodes={nodes}"], tmp_path, code, word)


# Paths.

def test_model_path_missing(tmp_path):
    atc_refuses(COMPILE, tmp_path, "E10410", "m.onnx")


def test_model_path_is_a_folder(tmp_path):
    (tmp_path / "m.onnx").mkdir()
    atc_refuses(COMPILE, tmp_path, "E10041", "m.onnx", "folder")


def test_model_path_is_a_device(tmp_path):
    (tmp_path / "m.onnx").symlink_to("/dev/zero")
    atc_refuses(COMPILE, tmp_path, "E13000", "m.onnx", "regular file")


def test_model_path_is_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "m.onnx")
    atc_refuses(COMPILE, tmp_path, "E13000", "m.onnx", "regular file")


def test_model_path_links_to_itself(tmp_path):
    (tmp_path / "m.onnx").symlink_to("m.onnx")
    atc_refuses(COMPILE, tmp_path, "E10410", "m.onnx")


def test_model_path_of_many_characters(tmp_path):
    atc_refuses(["--model=" + "m" * 5000, *COMPILE[1:]], tmp_path, "E10410", "mmm...mmm")


def test_model_path_is_unreadable(tmp_path):
    save(tmp_path, net()).chmod(0)
    tmp_path.chmod(0o777)
    atc_refuses(COMPILE, tmp_path, "E13001", "m.onnx", "Permission denied", user=plain_user())


def test_external_data_that_is_unreadable(tmp_path):
    save(tmp_path, broken_models.external(location="w.bin"))
    (tmp_path / "w.bin").write_bytes(bytes(432))
    (tmp_path / "w.bin").chmod(0)
    tmp_path.chmod(0o777)
    atc_refuses(COMPILE, tmp_path, "E14001", "'w'", "'w.bin'", "ermission denied",
                user=plain_user())


def test_model_path_has_control_characters(tmp_path):
    atc_refuses(["--model=a\nb\x1b[31m.onnx", *COMPILE[1:]], tmp_path, "E10410", "a\\nb\\x1B[31m")


def test_external_data_behind_a_link_that_leads_out(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(432))
    (inside / "short.bin").symlink_to("../secret.bin")
    save(inside, broken_models.external(location="short.bin"))
    atc_refuses(COMPILE, inside, "E14001", "'w'", "leads out")


@pytest.mark.parametrize("output, code, word", [
    ("m.onnx/out", "E13004", "m.onnx"),
    ("folder/", "E10022", "folder/"),
    ("..", "E10022", ".."),
    ("o" * 300, "E10021", "300"),
    ("taken", "E13004", "taken.om"),
    ("", "E10004", "--output"),
])
def test_output_path(output, code, word, tmp_path):
    save(tmp_path, net())
    (tmp_path / "folder").mkdir()
    (tmp_path / "taken.om").mkdir()
    atc_refuses([*COMPILE[:2], f"--output={output}", COMPILE[3]], tmp_path, code, word)


def test_output_folder_is_read_only(tmp_path):
    save(tmp_path, net())
    (tmp_path / "folder").mkdir(mode=0o555)
    tmp_path.chmod(0o777)
    atc_refuses([*COMPILE[:2], "--output=folder/out", COMPILE[3]], tmp_path, "E13004",
                "folder/out.om", user=plain_user())


def test_output_into_a_folder_that_takes_no_files(tmp_path):
    save(tmp_path, net())
    atc_refuses([*COMPILE[:2], "--output=/proc/out", COMPILE[3]], tmp_path, "E13004", "/proc/out.om")


def test_output_is_no_file(tmp_path):
    """An .om has a table in front of what is written first: it goes into a regular file."""
    save(tmp_path, net())
    os.mkfifo(tmp_path / "pipe.om")
    (tmp_path / "device.om").symlink_to("/dev/full")
    for name, word in (("pipe", "No program reads from this pipe"), ("device", "It is not a regular file")):
        atc_refuses([*COMPILE[:2], f"--output={name}", COMPILE[3]], tmp_path, "E13004", word)


def test_output_larger_than_the_system_allows(tmp_path):
    # As on a full disk: writing fails in the middle of the file.
    save(tmp_path, net())
    atc_compiles(COMPILE, tmp_path)
    size = (tmp_path / "out.om").stat().st_size
    (tmp_path / "out.om").unlink()
    before = files_in(tmp_path)
    # Room for all but the last byte: what the linker holds in memory is limited too.
    status, out, err = call("atc", *COMPILE, cwd=tmp_path, file_bytes=size - 1)
    assert (status, err) == (1, "")
    assert re.search(r"^E13004: .*'out\.om'", out, re.MULTILINE), out
    assert files_in(tmp_path) == before


def test_few_open_files(tmp_path):
    """`ulimit -n` counts for the objects that the linker reads, too."""
    save(tmp_path, net())
    ends = set()
    for files in range(6, 30, 2):
        status, out, err = call("atc", *COMPILE, cwd=tmp_path, files=files)
        # Where not even the libraries can be opened, the system's loader says so.
        if status == 127:
            continue
        assert status == 0 or (status == 1 and "Too many open files" in out), (files, out, err)
        assert status == 0 or re.search(r"^E1[0-8]\d{3}: ", out, re.MULTILINE), (files, out)
        ends.add(status)
    assert ends == {0, 1}


# The wrong kind of file.

def test_om_file_given_as_model(tmp_path):
    save(tmp_path, GOLDEN.read_bytes())
    atc_refuses(COMPILE, tmp_path, "E13005", "m.onnx")


def test_vendor_om_given_as_model(tmp_path):
    save(tmp_path, b"IMOD" + bytes(4092))
    atc_refuses(COMPILE, tmp_path, "E13005", "m.onnx")


@pytest.mark.parametrize("mode", ["1", "6"])
def test_onnx_given_as_om(mode, tmp_path):
    save(tmp_path, net())
    atc_refuses([f"--mode={mode}", "--om=m.onnx", "--json=out.json"], tmp_path, "E10041", "m.onnx")


@pytest.mark.parametrize("text, code, word", [
    ("not mlir", "E13005", "m.mlir"),
    ("", "E16004", "no graph"),
    ("module {}", "E16004", "no graph"),
    ("func.func private @main(tensor<4xf32>)", "E16004", "no graph"),
    ("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
     "  %0 = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32> }", "E", "?"),
    ("func.func @main(%x: i32) -> i32 { return %x : i32 }", "E", "i32"),
    ("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
     "  %0 = arith.addf %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32> }", "E", "arith.addf"),
    ("func.func @main() { %0 = \"no.such\"() : () -> i32\n return }", "E13005", "m.mlir:1"),
])
def test_mlir_source(text, code, word, tmp_path):
    (tmp_path / "m.mlir").write_text(text)
    status, out, err = call("atc", "--model=m.mlir", *COMPILE[2:], cwd=tmp_path)
    assert (status, err) == (1, ""), (status, out, err)
    assert f"\n{code}" in out and word in out
    assert files_in(tmp_path) == ["m.mlir"]


@pytest.mark.parametrize("flag, more", [("singleop", ["--target=cpu"]),
                                        ("keep_dtype", ["--model=m.onnx", "--framework=5",
                                                        "--soc_version=Ascend310P3"])])
@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_settings_without_an_end(flag, more, path, tmp_path):
    """Devices, and pipes that nobody writes into."""
    save(tmp_path, net())
    os.mkfifo(tmp_path / "pipe")
    atc_refuses([f"--{flag}={path}", "--output=out", *more], tmp_path, "E13003",
                f'"{path}" of --{flag} is not a regular file')


@pytest.mark.parametrize("number", ["1e999", "9" * 100000], ids=["exponent", "digits"])
@pytest.mark.parametrize("flag, code, more", [
    ("singleop", "E10025", ["--target=cpu"]),
    ("modify_mixlist", "E10032", ["--model=m.onnx", "--framework=5", "--soc_version=Ascend310P3",
                                  "--precision_mode=allow_mix_precision"])])
def test_settings_with_numbers_beyond_all(flag, code, more, number, tmp_path):
    """They were reported as errors of the compiler, with all digits."""
    save(tmp_path, net())
    (tmp_path / "f").write_text(f'{{"black-list": {number}}}')
    line, = atc_refuses([f"--{flag}=f", "--output=out", *more], tmp_path, code, "number overflow")
    assert len(line) < 400


def test_image_beyond_the_memory_of_the_npu(tmp_path):
    """No program of the NPU computes it, and no kernel of the CPU: it failed to be legalized."""
    big = conv()
    big.graph.input[0].CopyFrom(tensor("x", [1, 3, 100000, 100000]))
    save(tmp_path, big)
    atc_refuses(["--model=m.onnx", "--framework=5", "--soc_version=Ascend310P3", "--output=out"],
                tmp_path, "E10055", "node 'y'", "120.0 GB", "25.8 GB of memory of Ascend310P3")


@pytest.mark.parametrize("tool, args", [
    ("atc", ["--model=m.onnx", *COMPILE[1:], "--fusion_rules=endless.mlir"]),
    ("atc", ["--model=m.onnx", *COMPILE[1:], "--fusion_rules=endless.pdll"]),
    ("atc", ["--model=m.onnx", *COMPILE[1:], "--parallel=tp:2", "--cluster=endless.json"]),
    ("npu-sim", ["endless.mlir"]), ("npu-cluster", ["endless.json", "m.onnx"]),
    ("om-run", ["endless.manifest"])])
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_texts_without_an_end(tool, args, kind, tmp_path):
    """Neither all memory nor all time is taken before the file is refused."""
    save(tmp_path, net())
    for name in ("endless.mlir", "endless.pdll", "endless.json", "endless.manifest"):
        if kind == "pipe":
            os.mkfifo(tmp_path / name)
        else:
            (tmp_path / name).symlink_to("/dev/zero")
    status, out, err = call(tool, *args, cwd=tmp_path)
    assert status == 1 and "it is not a regular file" in out + err, (status, out, err)
    assert re.search(r"(?m)^E1\d{4}: .*endless", out + err), out + err


def test_a_pipe_given_as_om(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    status, out, err = call("om-run", "pipe", cwd=tmp_path)
    assert (status, out) == (1, "") and "it is not a regular file" in err
    atc_refuses(["--mode=1", "--om=pipe", "--json=out.json"], tmp_path, "E10041", "pipe")


@pytest.mark.parametrize("op, more", [("Softmax", {"axis": 1}), ("Transpose", {"perm": [1, 0]}),
                                      ("ReduceMax", {"axes": [1], "keepdims": 1}), ("Relu", {})])
def test_no_elements_beside_a_large_dim_take_no_time(op, more, tmp_path):
    nodes = [node("ConstantOfShape", ["s"], ["c"]), node(op, ["c"], ["y"], "op", **more)]
    save(tmp_path, model(nodes, initializers=[ints("s", 0, 2**31 - 1)], inputs=[]))
    code, out, err = call("atc", *COMPILE, cwd=tmp_path)
    assert (code, err) == (0, ""), out
