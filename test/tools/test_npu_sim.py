# npu-sim on the programs of docs/npu-programs.md, on damaged ones and on a compiled model.
# Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
PAGE = (ROOT / "docs" / "npu-programs.md").read_text()
PROGRAMS = dict(re.findall(r"<!-- file (\S+) -->\n```mlir\n(.*?)```", PAGE, re.S))
MEND = "  npu.set_flag v to mte3 id 0\n  npu.wait_flag v to mte3 id 0\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def sim(folder, *arguments):
    return subprocess.run([BUILD / "bin/npu-sim", *arguments], cwd=folder, capture_output=True,
                          text=True)


def figures(folder, *arguments):
    run = sim(folder, "--json", *arguments)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout)


def test_messages_of_the_page_are_those_of_the_tool(folder):
    shown = re.findall(r"```\n\$ npu-sim (\S+)\n(E.*?)```", PAGE, re.S)
    assert [name for name, _ in shown] == ["tiles.mlir", "by-hand.mlir"]
    for name, text in shown:
        run = sim(folder, name)
        assert (run.returncode, run.stderr) == (1, text)


def test_the_sequential_program_is_scheduled_and_bound_by_memory(folder):
    run = sim(folder, "--schedule", "--cores", "tiles.mlir")
    assert run.returncode == 0 and run.stderr == ""
    assert "bound by         DDR" in run.stdout
    assert re.search(r"^7 +core +\d+ +V \d+", run.stdout, re.M)
    one = figures(folder, "--schedule", "tiles.mlir")
    assert one["soc"] == "Ascend310P3" and one["hazards"] == []
    assert len(one["per_core"]) == 8
    for queue in ("V", "MTE2", "MTE3"):
        cores = sum(core["queues"][queue]["busy_cycles"] for core in one["per_core"])
        assert cores == pytest.approx(one["queues"][queue]["busy_cycles"], rel=1e-3)
    # Twice a minimum: 2 MB through the channel of 8 cores.
    assert 2097152 / (one["cycles"] * 8) < 24
    assert figures(folder, "--schedule", "tiles.mlir") == one


def test_layers_are_told_apart_whatever_lines_they_are_on(folder):
    text = PROGRAMS["by-hand.mlir"].replace("  npu.move %y", MEND + '  npu.layer "last" of "relu" at 1\n  npu.move %y')
    text = text.replace("  %a = npu.alloc", '  npu.layer "first" of "relu" at 0\n  %a = npu.alloc')
    (folder / "layers.mlir").write_text("//\n" * 3000 + text)
    first = figures(folder, "layers.mlir")
    (folder / "layers.mlir").write_text(text)
    assert figures(folder, "layers.mlir") == first and first["hazards"] == []


def test_larger_tiles_halve_the_instructions(folder):
    text = PROGRAMS["tiles.mlir"].replace("16384", "32768").replace("8192", "16384")
    (folder / "large.mlir").write_text(text.replace("%i = 16", "%i = 8"))
    both = figures(folder, "--schedule", "tiles.mlir", "large.mlir")
    rows = both["comparison"]
    assert rows["instructions"]["ratio"] == pytest.approx(0.5, abs=0.1)
    assert rows["time"]["ratio"] == pytest.approx(1, abs=0.15)
    assert [p["file"] for p in both["programs"]] == ["tiles.mlir", "large.mlir"]
    assert "instructions" in sim(folder, "--schedule", "tiles.mlir", "large.mlir").stdout


def test_a_flag_mends_the_program_by_hand(folder):
    before, store = PROGRAMS["by-hand.mlir"].split("  npu.move %y")
    (folder / "mended.mlir").write_text(before + MEND + "  npu.move %y" + store)
    run = sim(folder, "mended.mlir")
    assert run.returncode == 0 and run.stderr == ""
    assert sim(folder, "--no-check-hazards", "by-hand.mlir").returncode == 0


def test_pages(folder):
    run = sim(folder, "--schedule", "tiles.mlir", "--report", "page.html", "--timeline", "t.json")
    assert run.returncode == 0
    assert "relu" in (folder / "page.html").read_text()
    events = json.loads((folder / "t.json").read_text())["traceEvents"]
    assert len([e for e in events if e.get("ph") == "X"]) > 8 * 16 * 4


def test_other_socs(folder):
    (folder / "half.txt").write_text("base = Ascend310P3\nddrPeak = 10\n")
    slow = figures(folder, "--schedule", "tiles.mlir", "--soc-file", "half.txt")
    assert slow["cycles"] > 1.5 * figures(folder, "--schedule", "tiles.mlir")["cycles"]
    assert figures(folder, "--schedule", "tiles.mlir", "--soc", "Ascend910A")["soc"] == "Ascend910A"
    run = sim(folder, "--schedule", "tiles.mlir", "--soc", "Ascend310")
    assert run.returncode == 1 and run.stderr.startswith("E14001: ") and "2" in run.stderr
    run = sim(folder, "tiles.mlir", "--soc", "Ascend311")
    assert run.returncode == 1 and run.stderr.startswith("E10001: the SoC 'Ascend311'")


@pytest.mark.parametrize("change, code, words", [
    (("npu.loop", "npu.lopp"), "E13018", ":3: "),
    (('soc "Ascend310P3"', 'soc "Ascend1"'), "E10001", "must be one of"),
    (("bytes = #npu.range<16384>", "bytes = #npu.range<16400>"), "E14001", "'relu'"),
])
def test_errors_are_single_coded_lines(folder, change, code, words):
    (folder / "bad.mlir").write_text(PROGRAMS["tiles.mlir"].replace(*change))
    run = sim(folder, "--schedule", "bad.mlir")
    assert run.returncode == 1 and run.stdout == ""
    assert all(line.startswith(code + ": ") for line in run.stderr.splitlines()), run.stderr
    assert words in run.stderr


def test_files_that_are_no_programs(folder):
    (folder / "empty.mlir").write_text("")
    (folder / "bad.om").write_bytes(b"no model")
    for name, code in (("empty.mlir", "E13018"), ("missing.mlir", "E10410"), ("bad.om", "E13005")):
        run = sim(folder, name)
        assert run.returncode == 1 and run.stderr.startswith(code + ": "), run.stderr


def test_queues_that_wait_for_ever_are_named(folder):
    # Both queues wait before they set.
    text = PROGRAMS["by-hand.mlir"].replace("  npu.set_flag mte2 to v id 0\n", "").replace(
        "  npu.move %y", "  npu.wait_flag v to mte2 id 0\n  npu.set_flag mte2 to v id 0\n"
        "  npu.set_flag v to mte2 id 0\n  npu.move %y")
    (folder / "hangs.mlir").write_text(text)
    run = sim(folder, "hangs.mlir")
    assert run.returncode == 1
    assert "waits at instruction 8 (wait_flag MTE2 -> V id 0)" in run.stderr
