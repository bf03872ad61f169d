# msprof: what the models of a program took. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
PYTHON = os.environ.get("OPENATC_ACL_PYTHON", str(BUILD / "python"))


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=300, env=os.environ | {"PYTHONPATH": PYTHON}, check=False)


# Shapes of every kernel are known where each has a launch of its own.
@pytest.fixture(scope="module", params=[("--soc_version=Ascend310P3", "--disable_passes=npu-join-launches"), ("--target=cpu",)],
                ids=["npu", "cpu"])
def model(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "digits"
    done = run(BUILD / "bin/atc", "--model", ROOT / "examples/digits/digits.onnx", "--framework=5",
               f"--output={path}", *request.param)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(path) + ".om", request.param != ("--target=cpu",)


def read(folder, pattern):
    (path,) = folder.glob(f"PROF_*/mindstudio_profiler_output/{pattern}")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("form", ["application", "words"])
def test_tables_of_a_program(model, tmp_path, form):
    path, on_npu = model
    words = [sys.executable, "-m", "ais_bench", "--model", path, "--loop", "3",
             "--warmup_count", "0"]
    program = [f"--application={' '.join(words)}"] if form == "application" else words
    tool = [] if form == "application" else ["op"]  # whose tables are of operators, too
    done = run(BUILD / "bin/msprof", *tool, f"--output={tmp_path}", "--ascendcl=on", "--aicore=on", *program)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = read(tmp_path, "op_summary_*.csv")
    assert len(summary) % 3 == 0 and len(summary) >= 24
    # The vendor's columns, in its order; scripts read them by name or by position.
    assert list(summary[0])[:18] == [
        "Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State",
        "Task Type", "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)", "Block Dim",
        "Mix Block Dim", "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats",
        "Output Shapes"]
    for row in summary:
        assert float(row["Task Duration(us)"]) >= 0 and row["Op Name"] and row["OP Type"]
        assert (row["Task Type"] == "AI_CPU") != on_npu
        assert (row["total_cycles"] != "N/A") == on_npu
    convolutions = [row for row in summary if row["OP Type"] == "Conv2D"]
    assert convolutions and all(row["Input Data Types"] for row in convolutions)
    assert any("28,28" in row["Input Shapes"] for row in summary)
    if on_npu:
        assert all(row["Task Type"] == "AI_CORE" for row in convolutions)
        # The first one has the start of the run in its time.
        assert any(float(row["mac_ratio"]) > 0 for row in convolutions)
        # The simulated time is the same in every run.
        each = len(summary) // 3
        assert [row["total_cycles"] for row in summary[each:2 * each]] == [
            row["total_cycles"] for row in summary[2 * each:]]
    total = sum(float(row["Task Duration(us)"]) for row in summary)
    statistic = read(tmp_path, "op_statistic_*.csv")
    assert sum(int(row["Count"]) for row in statistic) == len(summary)
    assert sum(float(row["Total Time(us)"]) for row in statistic) == pytest.approx(total, abs=0.1)
    assert sum(float(row["Ratio(%)"]) for row in statistic) == pytest.approx(100, abs=0.1)
    tasks = read(tmp_path, "task_time_*.csv")
    assert [row["kernel_name"] for row in tasks] == [row["Op Name"] for row in summary]
    (trace,) = tmp_path.glob("PROF_*/mindstudio_profiler_output/trace.json")
    events = json.loads(trace.read_text())
    assert sum(event["name"] == "aclmdlExecute" for event in events) == 3


def test_profiles_are_read_again(model, tmp_path):
    path, on_npu = model
    msprof = BUILD / "bin/msprof"
    done = run(msprof, f"--output={tmp_path}", sys.executable, "-m", "ais_bench", "--model", path)
    assert done.returncode == 0, done.stderr
    (profile,) = tmp_path.glob("PROF_*")
    wanted = read(tmp_path, "op_summary_*.csv")
    for file in (profile / "mindstudio_profiler_output").iterdir():
        file.unlink()
    for folder in (tmp_path, profile):
        done = run(msprof, "--parse=on", f"--output={folder}")
        assert done.returncode == 0 and "2 executions" in done.stdout
    done = run(msprof, "--query=on", f"--output={profile}")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 2 and lines[1][:3] == ["0", "1", "2"] and pathlib.Path(path).stem in lines[1][4]
    done = run(msprof, "--export=on", f"--output={profile}", "--summary-format=json", "--model-id=1")
    assert done.returncode == 0, done.stderr
    (file,) = profile.glob("mindstudio_profiler_output/op_summary_*.json")
    rows = json.loads(file.read_text())
    assert [row["Op Name"] for row in rows] == [row["Op Name"] for row in wanted]
    done = run(msprof, "--export=on", f"--output={profile}", "--model-id=2")
    assert done.returncode == 1 and "no model 2" in done.stderr
    done = run(msprof, "--analyze=on", f"--output={profile}", "--rule=communication")
    assert done.returncode == 1 and done.stderr.startswith("E10055") and "--export=on" in done.stderr


def test_dynamic_profiles_have_what_runs_between_start_and_stop(model, tmp_path):
    program = (sys.executable, "-m", "ais_bench", "--model", model[0], "--warmup_count", "0")
    command = [str(part) for part in (BUILD / "bin/msprof", "--dynamic=on", f"--output={tmp_path}", *program)]

    def collect(code, *lines):
        done = subprocess.run(command, input="".join(line + "\n" for line in lines), capture_output=True, text=True,
                              timeout=300, env=os.environ | {"PYTHONPATH": PYTHON}, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr
    assert "1 executions" in collect(0, "start")
    assert len(list(tmp_path.glob("PROF_*/mindstudio_profiler_output/op_summary_*.csv"))) == 1
    text = collect(1, "again", "start", "stop", "quit", "start")
    assert "E10014" in text and "between start and stop" in text and "write start, stop or quit" in text
    assert len(list(tmp_path.glob("PROF_*"))) == 1
    done = run(BUILD / "bin/msprof", "--dynamic=on", "--pid=1", f"--output={tmp_path}")
    assert done.returncode == 1 and "E10055: --pid" in done.stderr


def test_errors(tmp_path):
    for words, code in (([], "E10007"), (["--nothing=1", "true"], "E10055"),
                        (["--application=true", "true"], "E10056"), (["./not-there"], "E10410"),
                        (["true"], "E10014"), (['--application="x'], "E10001"), (["--ai-core=maybe", "true"], "E10001"),
                        (["--aic-metrics=Pipe", "true"], "E10001"), (["--task-time=l9", "true"], "E10001")):
        for output in (tmp_path, tmp_path / "new" / "folder"):
            done = run(BUILD / "bin/msprof", f"--output={output}", *words)
            assert done.returncode == 1 and done.stderr.startswith(code), done.stderr
            assert not list(tmp_path.iterdir())


def test_a_program_whose_name_acts_on_the_terminal(tmp_path):
    done = run(BUILD / "bin/msprof", f"--output={tmp_path}", "./a\x1b[31m")
    assert done.returncode == 1 and r"'./a\x1b[31m'" in done.stderr, done.stderr


EXECUTION = {"pid": 7, "tid": 8, "model": "net\x1b[31m\u202e", "begin_us": 1.5, "end_us": 4.0,
             "launches": [{"name": "a", "kernel": "add_1", "npu": False, "us": 2.0, "tasks": 1,
                           "reads": [{"dims": [1, 4], "type": "f32"}],
                           "writes": [{"dims": [4], "type": "f32"}]}]}


def profile_of(folder, *lines):
    data = folder / "PROF_1" / "device_0" / "data"
    data.mkdir(parents=True)
    (data / "7.jsonl").write_text("\n".join(
        line if isinstance(line, str) else json.dumps(line) for line in lines))


def test_the_last_line_of_a_program_that_was_killed_is_left_out(tmp_path):
    whole = json.dumps(EXECUTION)
    profile_of(tmp_path, whole, whole[:len(whole) // 2])
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 0 and "1 executions, 1 tasks" in done.stdout, done.stderr
    assert "[WARNING] the last line of" in done.stderr
    done = run(BUILD / "bin/msprof", "--query=on", f"--output={tmp_path}")
    assert done.returncode == 0 and r"net\x1b[31m\u202e, PROF_1" in done.stdout, done.stdout


@pytest.mark.parametrize("line", [
    "{", "[]", "7", "[" * 100000, json.dumps({**EXECUTION, "pid": "x"}),
    json.dumps({**EXECUTION, "begin_us": float("nan")}), json.dumps({**EXECUTION, "end_us": 0}),
    json.dumps({**EXECUTION, "launches": 3}), json.dumps({**EXECUTION, "launches": [{}]}),
    json.dumps({**EXECUTION, "npu": {"per_launch": 4}}), "\\x00\ufffd"])
def test_a_damaged_profile_is_one_error(tmp_path, line):
    profile_of(tmp_path, line, EXECUTION)
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"E13005: the profile '.*7\.jsonl' is damaged: line 1 describes no execution\n",
                        done.stderr), done.stderr


def test_kernels_that_were_joined_have_a_row_each(tmp_path):
    tensor = [{"dims": [4], "type": "f32"}]
    on_npu = {"name": "last", "kernel": "relu_joined", "npu": True, "us": 9.0, "tasks": 1, "reads": tensor, "writes": tensor}
    rows = [{"name": name, "program": program, "joined": joined, "us": us, "cycles": us * 1000, "cores": 8, "macs": 0, "uses": {}}
            for name, program, joined, us in (("first", "conv2d", False, 2.0), ("last", "relu", True, 1.0),
                                              ("alone", "add", False, 0.5))]
    launches = [on_npu, *EXECUTION["launches"], {**on_npu, "name": "alone", "kernel": "add"}]
    profile_of(tmp_path, {**EXECUTION, "launches": launches, "npu": {"per_launch": rows}})
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 0 and "1 executions, 4 tasks" in done.stdout, done.stdout + done.stderr
    table = read(tmp_path, "op_summary_*.csv")
    assert [row["Op Name"] for row in table] == ["first", "last", "a", "alone"]
    assert [float(row["Task Duration(us)"]) for row in table] == [2, 1, 2, 0.5]
    # What the launch reads is the first kernel's, what it writes the last one's.
    assert [bool(row["Input Shapes"].strip('"')) for row in table] == [True, False, True, True]
    assert [bool(row["Output Shapes"].strip('"')) for row in table] == [False, True, True, True]
