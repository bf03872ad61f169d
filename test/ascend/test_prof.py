# Profiles that a program collects itself: by the file of aclInit, and by aclprofStart; the tables
# that msprof makes of them. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import subprocess
import sys

import pytest

from test_msprof import BUILD, model, read, run  # noqa: F401 a fixture

# Executes a model twice; `words` say what happens around it.
PROGRAM = """
import ctypes, sys
import numpy as np
import acl
from acl._library import load
lib = load("libascendcl.so")
lib.aclprofCreateConfig.restype = ctypes.c_void_p
def call(name, *values):
    print(name, getattr(lib, name)(*values))
path, config, words = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
print("aclInit", acl.init(config))
assert acl.rt.set_device(0) == 0
folder = words[0].encode()
settings = ctypes.c_void_p(lib.aclprofCreateConfig((ctypes.c_uint32 * 1)(0), 1, 1, None, ctypes.c_uint64(7)))
other = ctypes.c_void_p(lib.aclprofCreateConfig((ctypes.c_uint32 * 1)(0), 1, 1, None, ctypes.c_uint64(7)))
arguments = {"Init": (folder, ctypes.c_size_t(len(folder))), "Start": (settings,), "Stop": (settings,),
             "StopOther": (other,), "Short": (folder, ctypes.c_size_t(len(folder) + 3))}
names = {"StopOther": "Stop", "Short": "Init"}
model = desc = None
for word in words[1:]:
    if word != "run":
        call("aclprof" + names.get(word, word), *arguments.get(word, ()))
        continue
    if model is None:
        model, ret = acl.mdl.load_from_file(path)
        assert ret == 0
        desc = acl.mdl.create_desc()
        acl.mdl.get_desc(desc, model)
        sets = []
        for size in (acl.mdl.get_input_size_by_index(desc, 0), acl.mdl.get_output_size_by_index(desc, 0)):
            data, ret = acl.rt.malloc(size, 0)
            sets.append(acl.mdl.create_dataset())
            acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(data, size))
    assert acl.mdl.execute(model, *sets) == 0
assert acl.mdl.unload(model) == 0 if model is not None else True
acl.rt.reset_device(0)
acl.finalize()
"""


def program(folder, path, config, words):
    (folder / "program.py").write_text(PROGRAM)
    (folder / "acl.json").write_text(json.dumps(config))
    done = run(sys.executable, folder / "program.py", path, folder / "acl.json", f"{folder},{words}")
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def test_a_program_starts_and_stops_a_profile(model, tmp_path):  # noqa: F811
    path, on_npu = model
    codes = program(tmp_path, path, {}, "Start,Init,Init,Stop,Start,Start,run,run,StopOther,Stop,run,Finalize,"
                                        "Finalize,Short")
    assert [code for _, code in codes] == [
        "0", "100043", "0", "100042", "100043", "0", "100042", "100000", "0", "0", "100043", "100000"]
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 0 and "2 executions" in done.stdout, done.stdout + done.stderr
    summary = read(tmp_path, "op_summary_*.csv")
    assert summary and len(summary) % 2 == 0
    # The model was loaded while the collection was open, so its NPU keeps time.
    if on_npu:
        assert all(int(row["total_cycles"]) > 0 for row in summary if row["Task Type"] == "AI_CORE")


def test_the_file_of_the_start_asks_for_a_profile(model, tmp_path):  # noqa: F811
    profiler = {"switch": "on", "output": str(tmp_path / "out"), "aic_metrics": "PipeUtilization", "aicpu": "on"}
    codes = program(tmp_path, model[0], {"profiler": profiler}, "Init,run,Stop,run,Finalize")
    assert [code for _, code in codes] == ["0", "100042", "100043", "100043"]
    (profile,) = (tmp_path / "out").glob("PROF_000001_*")
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={profile}")
    assert "2 executions" in done.stdout, done.stdout + done.stderr
    again = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path / 'out'}")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("profiler, code", [
    ({"switch": "off", "output": "/not/there"}, 0), ({"switch": "yes"}, 100010), ({}, 100010), ([], 100010),
    ({"switch": "on", "output": 3}, 100010), ({"switch": "on", "aicpu": 1}, 100010),
    ({"switch": "on", "output": "/proc/nothing/here"}, 100003)])
def test_settings(tmp_path, profiler, code):
    (tmp_path / "acl.json").write_text(json.dumps({"profiler": profiler}))
    done = run(sys.executable, "-c", f"import acl; print(acl.init('{tmp_path}/acl.json'), acl.get_recent_err_msg())")
    assert done.stdout.split()[0] == str(code), done.stdout + done.stderr


def test_what_a_card_would_sample():
    """Types and texts as programs give them, and those that are none."""
    code = ("import acl; print([acl.prof.set_config(t, c) for t, c in ((3, '15'), (1, '250MB'), (4, 'read'), "
            "(12, '10'), (0, '1'), (2, '1'), (13, '1'), (3, ''))])")
    done = run(sys.executable, "-c", code)
    assert done.stdout.strip() == str([0] * 4 + [100000] * 4), done.stdout + done.stderr


def test_errors_of_export(tmp_path):
    for words, code in (([], "E10007"), ([f"--output={tmp_path}"], "E10014"), (["--output=/not/there"], "E10410"),
                        ([f"--output={tmp_path}", "./main"], "E10056")):
        done = subprocess.run([BUILD / "bin/msprof", "--export=on", *words], capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.startswith(code), done.stderr


def test_the_text_of_a_stamp_may_be_shorter_than_its_length(tmp_path):
    """A length that is not the text's must not make the library read what lies behind it."""
    (tmp_path / "stamp.py").write_text("""
import acl
assert acl.init() == 0
stamp = acl.prof.create_stamp()
print([acl.prof.set_stamp_trace_message(stamp, "x", length) for length in (0, 1, 1 << 31)])
acl.prof.destroy_stamp(stamp)
print(acl.prof.set_stamp_trace_message(stamp, "x", 1) != 0)
""")
    done = run(sys.executable, tmp_path / "stamp.py")
    assert done.stdout == "[0, 0, 0]\nTrue\n", (done.returncode, done.stdout, done.stderr)


MARKS = """
import threading
import acl, mstx
assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
mstx.mark("outside")
assert acl.prof.init({folder!r}) == 0
settings = acl.prof.create_config([0], 1, 0, 0x80)
mstx.mark("still outside")
before = mstx.range_start("begins before", 0)
assert acl.prof.start(settings) == 0
mstx.range_end(before)
mstx.mark("moment, \\"quoted\\"")
mstx.mark("of a stream", stream)
first, second = mstx.range_start("first", stream), mstx.range_start("second", stream)
assert 0 < first < second
thread = threading.Thread(target=mstx.range_end, args=(first,))
thread.start(); thread.join()
mstx.range_end(second)
mstx.range_end(second)
assert mstx.range_start("no stream", 12345) == 0
stamp = acl.prof.create_stamp()
assert acl.prof.set_stamp_trace_message(stamp, "outer", 5) == 0 and acl.prof.push(stamp) == 0
assert acl.prof.set_stamp_trace_message(stamp, "inner", 5) == 0 and acl.prof.push(stamp) == 0
assert acl.prof.mark(stamp) == 0 and acl.prof.pop() == 0 and acl.prof.pop() == 0 and acl.prof.pop() != 0
number, ret = acl.prof.range_start(stamp)
assert ret == 0 and acl.prof.range_stop(number) == 0 and acl.prof.range_stop(number) != 0
assert acl.prof.mark_ex("behind", stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.prof.stop(settings) == 0
mstx.mark("behind")
assert acl.prof.finalize() == 0 and acl.finalize() == 0
"""


def test_marks_and_ranges_are_rows_of_the_profile(tmp_path):
    done = run(sys.executable, "-c", MARKS.format(folder=str(tmp_path)))
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = read(tmp_path, "msprof_tx_*.csv")
    names = [(row["message"], row["event_type"]) for row in rows]
    assert sorted(names) == sorted([
        ("begins before", "start/end"), ("moment, \"quoted\"", "marker"), ("of a stream", "marker"),
        ("first", "start/end"), ("second", "start/end"), ("outer", "push/pop"), ("inner", "push/pop"),
        ("inner", "marker"), ("inner", "start/end"), ("behind", "marker_ex")])
    rows = {name: {key: float(row[key]) for key in row if key.endswith("(us)") and row[key] != "N/A"}
            for name, row in zip(names, rows)}
    on_device = {name for name, row in rows.items() if "Device Start_time(us)" in row}
    assert on_device == {("of a stream", "marker"), ("first", "start/end"), ("second", "start/end"),
                         ("behind", "marker_ex")}
    for row in rows.values():
        assert row["Start_time(us)"] <= row["End_time(us)"]
        assert row.get("Device Start_time(us)", 0) <= row.get("Device End_time(us)", 0)
    outer, inner = rows["outer", "push/pop"], rows["inner", "push/pop"]
    assert outer["Start_time(us)"] <= inner["Start_time(us)"] <= inner["End_time(us)"] <= outer["End_time(us)"]
    assert rows["first", "start/end"]["Device Start_time(us)"] <= rows["second", "start/end"]["Device Start_time(us)"]
    (trace,) = tmp_path.glob("PROF_*/mindstudio_profiler_output/trace.json")
    assert {"outer", "first"} <= {event["name"] for event in json.loads(trace.read_text())}


OPERATORS = """
import ctypes
import acl
from acl._library import LIBRARY as lib
class Tensor(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("type", "format", "dtype", "rank")] + [("dims", ctypes.c_uint32 * 8)]
class Info(ctypes.Structure):
    _fields_ = [("name", ctypes.c_uint64), ("kind", ctypes.c_uint64)] + [
        (name, ctypes.c_uint32) for name in ("resv", "count", "kernel", "blocks")] + [
        ("stream", ctypes.c_void_p), ("tensors", ctypes.POINTER(Tensor))]
class Attributes(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("kind", ctypes.c_uint32),
                ("info", ctypes.POINTER(Info))]
lib.aclprofStr2Id.restype = ctypes.c_uint64
number = lib.aclprofStr2Id
assert acl.init() == 0 and acl.rt.set_device(0) == 0 and acl.prof.init({folder!r}) == 0
settings = acl.prof.create_config([0], 1, 0, 0x80)
assert acl.prof.start(settings) == 0
assert number(b"add_1") == number(b"add_1") != number(b"Add") and number(None) == 0
tensors = (Tensor * 3)(Tensor(0, 2, 1, 2, (8, 2048)), Tensor(0, 2, 1, 1, (2048,)), Tensor(1, 2, 1, 2, (8, 2048)))
info = Info(number(b"add_1"), number(b"Add"), 0, 3, 0, 8, None, tensors)
attributes = Attributes(1, ctypes.sizeof(Attributes), 0, ctypes.pointer(info))
push = lambda: lib.aclprofRangePushEx(ctypes.byref(attributes))
codes = [push(), lib.aclprofRangePop(), lib.aclprofRangePop()]
info.name = 999999
codes.append(push())
info.name, tensors[1].rank = info.kind, 9
codes.append(push())
attributes.kind = 7
codes.append(push())
print(codes)
assert acl.prof.stop(settings) == 0 and acl.prof.finalize() == 0 and acl.finalize() == 0
"""


def test_ranges_of_operators_have_their_shapes(tmp_path):
    done = run(sys.executable, "-c", OPERATORS.format(folder=str(tmp_path)))
    assert done.stdout == "[0, 0, 100000, 100000, 100000, 100000]\n", done.stdout + done.stderr
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row["message"] for row in read(tmp_path, "msprof_tx_*.csv")] == ["add_1 (Add): 8,2048; 2048 -> 8,2048"]


def test_steps_are_ranges_of_a_stream(tmp_path):
    (tmp_path / "acl.json").write_text(json.dumps({"profiler": {"switch": "on", "output": str(tmp_path)}}))
    done = run(sys.executable, "-c", f"""
import acl
acl.init({str(tmp_path / 'acl.json')!r})
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
step = acl.prof.create_step_info()
print([acl.prof.get_step_timestamp(step, tag, stream) for tag in (1, 2, 0, 1, 1)])
acl.rt.synchronize_stream(stream)
acl.prof.destroy_step_info(step)
acl.finalize()""")
    assert done.stdout == "[100000, 100000, 0, 0, 100000]\n", done.stdout + done.stderr
    done = run(BUILD / "bin/msprof", "--export=on", f"--output={tmp_path}")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = read(tmp_path, "msprof_tx_*.csv")
    assert (row["message"], row["event_type"]) == ("step", "start/end")
    assert float(row["Device Start_time(us)"]) <= float(row["Device End_time(us)"])
