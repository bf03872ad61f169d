#===-- test_fuzz_report.py - one report of all fuzz programs -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test/fuzz/report.sh runs every fuzz program that there is."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import BUILD, ROOT, call, tool  # noqa: E402

PROGRAMS = sorted(path.stem for path in (ROOT / "test" / "fuzz").glob("fuzz-*.cpp"))
REPORT = ROOT / "test" / "fuzz" / "report.sh"


@pytest.fixture(autouse=True)
def built():
    missing = [name for name in PROGRAMS if not Path(tool(name)).exists()]
    if missing:
        pytest.skip(f"not built: {', '.join(missing)}")


def test_every_program_has_a_row():
    code, out, err = call(REPORT, "--inputs", "6", "--json", "--build", BUILD)
    assert code == 0, out + err
    rows = json.loads(out)
    assert [row["program"] for row in rows] == PROGRAMS
    for row in rows:
        assert row["inputs"] == 6 and row["findings"] == 0
        assert row["accepted"] + row["refused"] == 6, row


def test_the_table_is_one(tmp_path):
    code, out, err = call(REPORT, "--inputs", "1", "--build", BUILD)
    assert code == 0, out + err
    assert [line.split()[0] for line in out.splitlines()] == ["program", *PROGRAMS]


def test_the_numbers_are_divided():
    code, out, err = call(REPORT, "--divide", "500000", "--seed", "3", "--json", "--build", BUILD, "fuzz-regex", "fuzz-npy-read=5")
    assert code == 0, out + err
    assert [(row["program"], row["inputs"]) for row in json.loads(out)] == [("fuzz-regex", 2), ("fuzz-npy-read", 5)]
    assert [line.split()[0] for line in err.splitlines()] == ["program", "fuzz-regex", "fuzz-npy-read"]


def test_a_program_that_is_missing_is_told(tmp_path):
    code, out, err = call(REPORT, "--inputs", "5", "--build", tmp_path)
    assert code == 1
    assert err.count("build it first") == len(PROGRAMS)


@pytest.mark.parametrize("program, corpus, count", [
    ("fuzz-tf-import", "fuzz/corpus-tf", 300), ("fuzz-onnx-import", "fuzz/corpus-onnx", 300),
    ("fuzz-om-load", "runtime-lite/golden", 300), ("fuzz-npu-program", "fuzz/corpus-npu", 300),
    ("fuzz-settings", "fuzz/corpus-settings", 300)])
def test_a_seed_gives_the_same_mutations_in_every_process(program, corpus, count):
    """Maps and hashes have an order per process: a mutator that follows one is different elsewhere."""
    digests = set()
    for _ in range(3):
        code, out, err = call(tool(program), "--replay=0", f"--mutations={count}", "--seed=9",
                              ROOT / "test" / corpus)
        assert code == 0, out + err
        digests |= set(re.findall("digest ([0-9a-f]{16})", out))
    assert len(digests) == 1, digests


def test_a_seed_gives_the_same_calls_in_every_process():
    digests = {re.search("digest ([0-9a-f]{16})",
                         call(tool("fuzz-host-kernels"), "--calls", "5000", "--seed", "9")[1])[1]
               for _ in range(2)}
    assert len(digests) == 1, digests
