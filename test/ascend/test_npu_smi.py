# npu-smi: what scripts read of it. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import re
import subprocess

import pytest

pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()


def run(line, **environment):
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PATH": path} | environment)


def test_scripts_find_the_name_of_the_chip():
    given = {"OPENATC_ACL_SOC": "Ascend910B3", "OPENATC_ACL_DEVICES": "2"}
    lines = run("npu-smi info", **given).stdout.splitlines()
    assert len({len(line) for line in lines}) == 1, lines
    for line, said in (
            ("npu-smi info | grep OK | awk '{print $3}' | head -1", "910B3"),
            ("npu-smi info | grep -c 'No running processes found in NPU'", "2"),
            ("npu-smi info -l | grep 'Total Count' | awk -F: '{print $2}'", "2"),
            ("npu-smi info -m | awk 'NR==2{print $4 $5}'", "Ascend910B3"),
            ("npu-smi info -t board -i 1 | grep 'Chip Name' | cut -d: -f2", "910B3"),
            ("npu-smi info | awk -F'|' '/0000:/{print $3}' | tail -1", "0000:02:00.0"),
            ("npu-smi info -t proc-mem -i 0 -c 0 | awk -F: '/Process Count/{print $2}'", "0"),
            ("npu-smi info -t usages -i 0 -c 0 | grep -c 'Rate(%)'", "3"),
            ("npu-smi info -t board -i 0 -c 0 | awk -F: '/Chip Type|Chip Name/{print $2}' | xargs", "Ascend 910B3"),
            ("npu-smi info -t board -i 0 | grep -c 'Software Version'", "1"),
            ("npu-smi info -t topo | grep -c '^NPU[01] '", "2")):
        done = run(line, **given)
        assert done.stdout.strip() == said and not done.stderr, (line, done)


DEVICE = {  # as monitors read devices of two lines
    "Ascend310P3": r"\| (\d+) +(\w+) +\| (\w+) +\| ([\d.]+) +(\d+) .*\n\| \d+ +(?:\d+) +\| (\S+) +\| (\d+) +(\d+) */ *(\d+)",
    "Ascend910B3": r"\| (\d+) +(\w+) +\| (\w+) +\| ([\d.]+) +(\d+) .*\n\| \d+ +\| (\S+) +\| (\d+) +[^/]+/ \d+ +(\d+) */ *(\d+)"}


@pytest.mark.parametrize("chip", DEVICE)
def test_monitors_find_numbers(chip):
    """Chips with memory in their package have it in a column of its own."""
    said = run("npu-smi info", OPENATC_ACL_SOC=chip, OPENATC_ACL_DEVICES="2").stdout
    found = re.findall(DEVICE[chip], said)
    assert [row[:7] for row in found] == [(str(i), chip[6:], "OK", "0.0", "0", f"0000:0{i + 1}:00.0", "0") for i in range(2)]
    assert ("HBM-Usage(MB)" in said) == (chip == "Ascend910B3") and all(int(row[8]) > 1000 for row in found)


def test_loads_until_it_is_stopped():
    """Two rows, an interval of a second between them."""
    process = subprocess.Popen([BUILD / "bin" / "npu-smi", "info", "watch", "-i", "0", "-d", "1", "-s", "pam"],
                               stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline().split() for _ in range(3)]
    finally:
        process.terminate()
        process.wait(20)
    assert lines == ["NpuID(Idx) ChipId(Idx) Pwr(W) AI Core(%) Memory(%)".split(), *[["0(0)", "0(0)", "NA", "0", "0"]] * 2]


@pytest.mark.parametrize("words", ["info watch -d 1", "info"])
def test_readers_may_leave(words):
    done = run(f"set -o pipefail; npu-smi {words} | head -1 >/dev/null")
    assert done.returncode == 0 and not done.stderr, done


@pytest.mark.parametrize("words, code", [("info watch -s pz", "E10001"), ("info watch -d 0", "E10001"), ("info watch -d ²", "E10001"), ("info -i ²", "E10001"),
                                         ("info watch -t board", "E10055"), ("info -i 7", "E10001"), ("info -t fan -i 0", "E10001"),
                                         ("info --all", "E10055"), ("set -t reset -i 0", "E10055")])
def test_what_is_not_there(words, code):
    done = run(f"npu-smi {words}")
    assert done.returncode == 1 and done.stderr.startswith(code) and not done.stdout
