# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test/conformance/onnx_suite.py ends every test, whatever it does, and says what it did last."""

import os
import re
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

import onnx_suite  # noqa: E402

WAY = types.SimpleNamespace(timeout=1, jobs=2)


def results_of(monkeypatch, *tests):
    """(result, text) of functions in the place of tests, in their order."""
    monkeypatch.setattr(onnx_suite, "CLOCK_PER_PROCESSOR", 3)
    monkeypatch.setattr(onnx_suite, "run_test", lambda test, way, say: test(say))
    found = {test: (result, text) for test, result, text in onnx_suite.run_all(tests, WAY)}
    return [found[test] for test in tests]


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_answers(monkeypatch):
    def wrong(say):
        say("runs")
        raise onnx_suite.Outcome("wrong", "x" * 100000)

    good, bad, broken = results_of(monkeypatch, lambda say: None, wrong, lambda say: 1 / 0)
    assert good == ("pass", "")
    assert bad[0] == "wrong" and 100 < len(bad[1]) < 10000
    assert broken[0] == "crash" and "ZeroDivisionError" in broken[1]


def test_crash_and_endless_loop(monkeypatch):
    def crash(say):
        say("compiles")
        os.kill(os.getpid(), signal.SIGKILL)

    def spin(say):
        say("runs a loop")
        while True:
            pass

    crashed, spun = results_of(monkeypatch, crash, spin)
    assert crashed[0] == "crash"
    assert f"signal {signal.SIGKILL:d} while it compiles" in crashed[1]
    assert spun[0] == "crash" and re.search(r"while it runs a loop; [01]\.\d", spun[1])


def test_waiting_for_ever_ends_with_all_that_was_started(monkeypatch, tmp_path):
    def wait(say):
        say("waits")
        child = subprocess.Popen(["sleep", "1000"])
        (tmp_path / "pid").write_text(str(child.pid))
        child.wait()

    started = time.monotonic()
    (result, text), = results_of(monkeypatch, wait)
    assert time.monotonic() - started < 60
    assert result == "crash" and text.startswith("no answer after 3 s while it waits; 0.")
    process = int((tmp_path / "pid").read_text())
    while is_alive(process):
        assert time.monotonic() - started < 60
        time.sleep(0.1)
