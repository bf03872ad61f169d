#===-- test_hostile_files.py - files of settings that are none ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every flag that names a file meets pipes, links, files without an end, brackets without an end
and names without an end: one coded line each, at once, and no signal."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import net  # noqa: E402
from tools import BUILD, SANITIZED, available, call  # noqa: E402

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")

MAX_SECONDS = 60 if SANITIZED else 10
DEEP = 200000
NPU = ["atc", "--model=m.onnx", "--framework=5", "--output=o", "--soc_version=Ascend310P3"]
AMCT = ["amct", "calibrate", "--model", "m.onnx", "--data", "data", "--output", "q", "--config"]
NAMES = "{" + ",".join(f'"k{i}":{i}' for i in range(60000)) + "}"
FIELDS = "\n".join(f"f{i}: {i}" for i in range(60000))
NESTED = '{"a":[' * DEEP + "1" + "]}" * DEEP

FILES = {
    "names": NAMES,
    "fields": FIELDS,
    "nested": NESTED,
    "switches": '{"Switch":{"GraphFusion":' + NAMES + "}}",
    "lines": "[ByOpType]\n" + "Exp:cpu\n" * 3000,
    "modules.mlir": "module { " * 20000,
    "brackets.mlir": "module attributes {a = " + "[" * 100000,
    "word.mlir": "x" * 2000000,
    "signs.mlir": "module attributes {a = affine_map<(d0) -> (" + "-" * 100000 + "d0)>} {}",
    "bytecode.mlir": "ML\udcefR\1",
    "nested.manifest": NESTED,
    "bank": "{" + ",".join(f'"k{i}":{i}' for i in range(60000)) + "}",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    (place / "m.onnx").write_bytes(net().SerializeToString())
    (place / "data").mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text, errors="surrogateescape")
    os.mkfifo(place / "pipe")
    (place / "loop").symlink_to("loop")
    assert call(*NPU[:3], "--output=m", "--target=cpu", cwd=place)[0] == 0
    return place


def refuse(folder, words, code, *said, count=1):
    """The tool ends soon with `count` coded lines, the first of which says why."""
    if not (BUILD / "bin" / words[0]).exists():
        pytest.skip(f"{words[0]} is not built")
    begin = time.monotonic()
    status, out, err = call(*words, cwd=folder)
    assert time.monotonic() - begin < MAX_SECONDS
    lines = [line for line in (out + err).splitlines() if line.startswith("E")]
    assert status == 1 and len(lines) == count, (status, out[-2000:], err[-2000:])
    assert lines[0].startswith(code + ": ") and all(word in lines[0] for word in said), lines[0]
    assert max(map(len, lines)) < 25000
    return lines


@pytest.mark.parametrize("words, code, said", [
    ([*NPU, "--fusion_switch_file=switches"], "E10032", "more than 10000 names"),
    ([*NPU, "--fusion_switch_file=nested"], "E10032", "nested deeper than 64"),
    (["atc", "--singleop=names", "--output=s", "--soc_version=Ascend310P3"], "E10025",
     "more than 10000 names"),
    (["atc", "--mode=5", "--om=fields", "--json=j"], "E13018", "more than 10000 different fields"),
    ([*NPU, "--compression_optimize_conf=fields"], "E13018", "more than 10000 different fields"),
    ([*AMCT, "fields"], "E13018", "more than 10000 different fields"),
    ([*AMCT, "nested"], "E10032", "nested deeper than 64"),
    ([*NPU, "--train=nested"], "E15006", "nested deeper than 64"),
    ([*NPU, "--parallel=tp:2", "--cluster=nested"], "E13018", "nested deeper than 64"),
    ([*NPU, "--parallel=tp:2", "--shard_tensors=nested"], "E13018", "nested deeper than 64"),
    ([*NPU, "--mdl_bank_path=bank"], "E13005", "more than 10000 names"),
    ([*NPU, "--fusion_rules=modules.mlir"], "E13005", "nested deeper than 1000"),
    ([*NPU, "--fusion_rules=brackets.mlir"], "E13005", "nested deeper than 1000"),
    ([*NPU, "--fusion_rules=signs.mlir"], "E13005", "nested deeper than 1000"),
    ([*NPU, "--fusion_rules=bytecode.mlir"], "E13005", "MLIR bytecode"),
    (["npu-sim", "modules.mlir"], "E13018", "nested deeper than 1000"),
    (["npu-sim", "brackets.mlir"], "E13018", "nested deeper than 1000"),
    (["npu-sim", "bytecode.mlir"], "E13018", "MLIR bytecode"),
    (["npu-cluster", "nested", "nested"], "E13018", "nested deeper than 64"),
    (["om-run", "nested.manifest"], "E13005", "nested deeper than 64"),
], ids=lambda each: None if isinstance(each, list) else each)
def test_without_an_end(words, code, said, folder):
    refuse(folder, words, code, said)


@pytest.mark.parametrize("words, code", [
    ([*NPU, "--soc_file=pipe"], "E10001"),
    ([*NPU, "--load_pass_plugin=pipe"], "E13003"),
    ([*NPU, "--fusion_rules=pipe"], "E13003"),
    ([*NPU, "--mdl_bank_path=/proc/self/mem"], "E13005"),
    (["om-run", "m.om", "-i", "pipe"], "E13001"),
    (["om-run", "m.om", "-i", "/proc/self/mem"], "E13001"),
    (["om-run", "m.om", "--require-signature", "--trusted-key", "pipe"], "E13005"),
    (["om-sign", "sign", "m.om", "--key", "pipe", "-o", "s.om"], "E13003"),
    (["om-run", "loop"], "E10410"),
    (["om-run", "n" * 5000], "E10410"),
], ids=lambda each: None if isinstance(each, list) else each)
def test_no_file(words, code, folder):
    refuse(folder, words, code)


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer reports a full stack itself")
@pytest.mark.parametrize("file", ["modules.mlir", "brackets.mlir"])
@pytest.mark.parametrize("words", [["atc-translate", "--interpret"],
                                   ["atc", "--output=o", "--target=cpu", "--model"]],
                         ids=lambda words: words[0])
def test_the_stack_is_full(words, file, folder):
    refuse(folder, [*words, file], "E19002", "nested too deep")


def test_a_translator_of_rules_that_crashes(folder, tmp_path, monkeypatch):
    program = tmp_path / "mlir-pdll-22"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (folder / "rules.pdll").write_text("Pattern {}")
    refuse(folder, [*NPU, "--fusion_rules=rules.pdll"], "E13005", "mlir-pdll crashes on them")


def test_a_word_without_an_end(folder):
    refuse(folder, ["npu-sim", "word.mlir"], "E13018", "custom op")


@pytest.mark.parametrize("words, errors", [
    ([*NPU, "--op_placement=lines"], 3000),
    ([*AMCT, "names"], 60000),
], ids=["atc", "amct"])
def test_thousands_of_errors_are_counted(words, errors, folder):
    code = "E10001"
    last = refuse(folder, words, code, count=1001)[-1]
    assert last == f"{code}: {errors - 1000} more errors are not listed"


@pytest.mark.parametrize("words", [
    ["--output=x", "--json=m.onnx"], ["--output=x", "--json=./m.onnx"],
    ["--output=x", "--json=x.om"], ["--mode=3", "--check_report=m.onnx"]], ids=" ".join)
def test_a_report_does_not_replace_a_model(words, folder):
    before = (folder / "m.onnx").read_bytes()
    refuse(folder, ["atc", "--model=m.onnx", "--framework=5", "--target=cpu", *words], "E13004",
           "another name")
    assert (folder / "m.onnx").read_bytes() == before and not (folder / "x.om").exists()


def test_a_result_does_not_replace_the_model(folder, tmp_path):
    for name, words in (("x.om", ["--output=x"]), ("y.om", ["--output=y.om"]),
                        ("z.mlir", ["--output=z", "--stop_after=import"])):
        model = (folder / "m.onnx").read_bytes()
        (tmp_path / name).write_bytes(model)
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(name)
        for given in (name, f"./{name}", "link"):
            refuse(tmp_path, ["atc", f"--model={given}", "--framework=5", "--target=cpu", *words],
                   "E13004", "it is the file of --model; give it another name")
        assert (tmp_path / name).read_bytes() == model


def test_a_summary_that_cannot_be_written_leaves_the_old_file(folder, tmp_path):
    (tmp_path / "m.om").write_bytes(b"old")
    words = ["atc", f"--model={folder}/m.onnx", "--framework=5", "--target=cpu", "--output=m"]
    refuse(tmp_path, [*words, "--json=/dev/full"], "E13004", "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["m.om"]
    assert (tmp_path / "m.om").read_bytes() == b"old"
    assert call(*words, "--json=s.json", cwd=tmp_path)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.om", "s.json"]
    assert subprocess.run([BUILD / "bin" / "om-dump", tmp_path / "m.om"], check=False,
                          capture_output=True).returncode == 0


@pytest.mark.parametrize("line,said", [
    ("vectorCores = 0", "`vectorCores` is 0"), ("ubBytes = 512", "at least 16384"),
    ("l1Align = 64", "multiples of 32 bytes"), ("l0Align = 1024", "multiples of 512 bytes"),
    ("l0cAlign = 1024", "multiples of 512 bytes"), ("ubAlign = 4096", "multiples of 32 bytes"),
])
def test_a_table_that_programs_cannot_run_on(line, said, folder, tmp_path):
    """The simulator can model such an NPU, but no tile fits it: not an internal error."""
    table = tmp_path / "own.soc"
    table.write_text(f"base = Ascend910B1\n{line}\n")
    refuse(folder, [*NPU[:4], f"--soc_file={table}"], "E10001", line.split()[0], said)
