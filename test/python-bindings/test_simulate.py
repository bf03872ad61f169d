# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the npu dialect, simulated: those of docs/npu-programs.md."""

import re
from pathlib import Path

import pytest

import openatc

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "npu-programs.md").read_text()
PROGRAMS = dict(re.findall(r"<!-- file (\S+) -->\n```mlir\n(.*?)```", PAGE, re.S))


def test_file_and_text(tmp_path):
    path = tmp_path / "tiles.mlir"
    path.write_text(PROGRAMS["tiles.mlir"])
    run = openatc.simulate(path, schedule=True)
    assert isinstance(run, openatc.Simulation)
    assert run.bound_by == "DDR" and run.hazards == []
    assert run.microseconds == pytest.approx(run.figures["ms"] * 1e3) and run.microseconds > 10
    assert "relu" in run.html and "traceEvents" in run.timeline
    text = openatc.simulate(PROGRAMS["tiles.mlir"], schedule=True)
    assert text.figures["cycles"] == run.figures["cycles"]
    warm = openatc.simulate(path, schedule=True, warmup=1)
    assert warm.figures["cycles"] < run.figures["cycles"]


def test_other_socs(tmp_path):
    table = tmp_path / "half.txt"
    table.write_text("base = Ascend310P3\nddrPeak = 10\n")
    text = PROGRAMS["tiles.mlir"]
    run = openatc.simulate(text, schedule=True, soc_file=table)
    assert run.microseconds > openatc.simulate(text, schedule=True).microseconds
    assert openatc.simulate(text, schedule=True, soc="Ascend910A").figures["soc"] == "Ascend910A"


def test_errors_and_hazards():
    assert len(openatc.simulate(PROGRAMS["by-hand.mlir"]).hazards) == 1
    assert openatc.simulate(PROGRAMS["by-hand.mlir"], check_hazards=False).hazards == []
    with pytest.raises(openatc.Error, match="E14001.*no offset"):
        openatc.simulate(PROGRAMS["tiles.mlir"])
