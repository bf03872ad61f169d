#===-- test_crash_safety_python.py - the tools in Python on a full disk, and ended by signals ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_crash_safety.py asks of the compiler's tools, of ais_bench, msame, msopst, msprof and
amct_onnx: no file is there in part, and each end is told in one line."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")

from models import net  # noqa: E402
from shim import run  # noqa: E402
from tools import BUILD, available, call  # noqa: E402

NIGHTLY = bool(os.environ.get("OPENATC_NIGHTLY"))
PACKAGES = BUILD / "python"
pytestmark = pytest.mark.skipif(not available() or not (PACKAGES / "ais_bench").is_dir(),
                                reason=f"the tools are not in {BUILD}")
AIS = ["-m", "ais_bench", "--model", "in/m.om"]
QUANTIZE = """
import amct_onnx
amct_onnx.create_quant_config("out/c.json", "in/m.onnx", batch_num=2)
amct_onnx.quantize_model("out/c.json", "in/m.onnx", "out/modified.onnx", "out/record.txt")
"""
# The arguments of Python, and a pattern of the files that are complete once they are there. Lines
# of a profile are added to a file; what compiles and runs an operator is not looked at.
RUNS = {
    "npy": ([*AIS, "--input", "in/data", "--output", "out", "--output_dirname", "d", "--outfmt", "NPY"], ".*"),
    "txt": ([*AIS, "--input", "in/data", "--output", "out", "--output_dirname", "d", "--outfmt", "TXT"], ".*"),
    "bin": ([*AIS, "--input", "in/data", "--output", "out", "--output_dirname", "d", "--outfmt", "BIN"], ".*"),
    "dump": ([*AIS, "--output", "out", "--dump", "1"], ".*"),
    "msame": ([str(BUILD / "bin/msame"), "--model", "in/m.om", "--input", "in/data", "--output", "out"], ".*"),
    "msopst": ([str(BUILD / "bin/msopst"), "run", "-i", "in/cases.json", "-soc", "Ascend310P3", "-out", "out"],
               r".*\.json|.*\.csv"),
    "msprof": ([str(BUILD / "bin/msprof"), "--output=out", sys.executable, *AIS], r".*\.json|.*\.csv"),
    "amct_onnx": (["-c", QUANTIZE], ".*"),
}
# What is not the same in each run: times.
VARYING = re.compile(r".*summary\.json|.*\.csv|.*msprof_#\.json|.*st_report\.json|.*trace\.json")
STAMPS = re.compile(r"20\d\d_[-_0-9]{14}|\d{10,}|(?<=_)[0-9A-F]{8}(?=/)")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs") / "in"
    (folder / "data").mkdir(parents=True)
    (folder / "m.onnx").write_bytes(net().SerializeToString())
    for i in range(2):
        np.save(folder / "data" / f"{i}.npy", np.random.default_rng(i).random((1, 3, 8, 8), np.float32))
    (folder / "cases.json").write_text(json.dumps([{
        "case_name": "a", "op": "Relu", "output_desc": [{"type": "float", "shape": [4]}],
        "input_desc": [{"type": "float", "shape": [4], "value_range": [-1, 1]}]}]))
    status, out, _ = call("atc", "--model=m.onnx", "--framework=5", "--output=m", "--target=cpu", cwd=folder)
    assert status == 0, out
    return folder


@pytest.fixture
def place(inputs, tmp_path, monkeypatch):
    """A folder with `in` and `out`, and the environment of the tools."""
    (tmp_path / "in").symlink_to(inputs)
    (tmp_path / "out").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(PACKAGES))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("OPENATC_BIN", str(BUILD / "bin"))
    return tmp_path


def contents(folder):
    """The files by their names without times and numbers of processes."""
    return {STAMPS.sub("#", str(path.relative_to(folder))): path.read_bytes()
            for path in folder.rglob("*") if path.is_file() and path.suffix != ".jsonl"}


@pytest.mark.parametrize("what", ["full", "term"])
@pytest.mark.parametrize("name", RUNS)
def test_files_are_complete(name, what, place):
    if (name, what) == ("amct_onnx", "term"):
        pytest.skip("a signal ends the program that has imported it, and is not its own")
    words, complete = RUNS[name]
    out = place / "out"
    status, text, err, calls = run(place, sys.executable, *words)
    assert status == 0 and calls >= 3, (text, err)
    new = contents(out)
    chosen = random.Random(f"{name} {what}")
    points = range(1, calls + 1)
    for at in points if NIGHTLY else sorted(chosen.sample(points, min(calls, 5))):
        subprocess.run(["rm", "-r", out], check=True)
        out.mkdir()
        status, text, err, _ = run(place, sys.executable, *words, do=what, at=at)
        where = (at, status, text, err)
        for path, content in contents(out).items():
            if not re.fullmatch(complete, path):
                continue
            assert path in new, (path, where)
            if VARYING.fullmatch(path):
                assert not path.endswith(".json") or json.loads(content), (path, where)
            else:
                assert content == new[path], (path, where)
        if status == 0:
            continue
        if name != "amct_onnx":  # a program, to which it is an exception
            assert "Traceback" not in err, where
            last = err.strip().splitlines()[-1]
            if what == "term" and status < 0:
                assert re.fullmatch(r"E19998: [a-z_]+ was ended by SIGTERM: .*", last), where
            elif name != "msopst":  # has a row for a case that fails
                assert re.match(r"E\d{5}: |\[ERROR\] ", last), where


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["ais_bench", "msame", "msprof"])
def test_signal_while_it_runs(name, number, place):
    words = {"ais_bench": [*AIS, "--loop", "100000000"],
             "msame": [str(BUILD / "bin/msame"), "--model", "in/m.om", "--loop", "100000000"],
             "msprof": [str(BUILD / "bin/msprof"), "--output=out", sys.executable, *AIS, "--loop", "100000000"]}
    process = subprocess.Popen([sys.executable, *words[name]], cwd=place, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(1)
    process.send_signal(number)
    # The pipes are closed when what msprof has started is gone, too.
    _, err = process.communicate(timeout=60)
    assert process.returncode == -number, err
    told = err.decode().strip().splitlines()
    assert told[-1] == f"E19998: {name} was ended by {number.name}: every file is as it was, or is complete."
    assert b"Traceback" not in err


def limited(size, *command, **environment):
    """Runs a command whose files may have that many bytes."""
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120,
                          env=os.environ | environment,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))


def test_lines_of_a_profile_are_whole(place):
    """A profile that cannot be written does not disturb the program, is told once, and can be read."""
    done = limited(5000, sys.executable, "-m", "ais_bench", "--model", place / "in/m.om", "--loop", "30",
                   OPENATC_ACL_PROFILE=str(place / "out"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("E13004: cannot write") == 1 and "File too large" in done.stderr
    path, = (place / "out").glob("*.jsonl")
    lines = path.read_text().splitlines()
    assert lines and all(json.loads(line)["model"] for line in lines)


def test_files_in_memory_have_the_limit_of_files(place):
    """`ulimit -f` counts for the objects that the compiler links, too."""
    done = limited(0, BUILD / "bin/atc", f"--model={place}/in/m.onnx", "--framework=5", f"--output={place}/out/m",
                   "--target=cpu")
    assert done.returncode == 1
    assert re.search(r"E13004: cannot write .*: File too large", done.stdout + done.stderr), done.stdout
    assert "E19999" not in done.stdout + done.stderr


def test_pipes_without_a_reader(tmp_path, monkeypatch):
    """The helper of what writes files alone; a reader that comes a moment later gets all of them."""
    sys.path.insert(0, str(PACKAGES))
    from openatc import _output
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = bytes(range(256)) * 1000  # more than a pipe holds
    reader = subprocess.Popen(["sh", "-c", f"sleep 0.1; cat '{pipe}' > '{tmp_path / 'read'}'"])
    _output.write_file(pipe, data)
    assert reader.wait(60) == 0
    assert (tmp_path / "read").read_bytes() == data
    monkeypatch.setattr(_output, "_SECONDS_FOR_A_READER", 0.1)
    with pytest.raises(OSError, match="no program reads from this pipe"):
        _output.write_file(pipe, data)
    _output.write_file("/dev/null", data)
