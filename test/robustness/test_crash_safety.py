#===-- test_crash_safety.py - every file is the old one or the new one -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends the tools and fills the disk at the calls that change files, by way of shim.c.

After each such run every result is the file that was there before or, by its hash, the one that
an undisturbed run makes. Nothing else is left in the folder: after kill -9 at most a file that
is called <name>.<6 letters>.part, which the next run ignores.
"""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import TensorProto, conv, model, net, node, tensor, weights  # noqa: E402
from shim import run  # noqa: E402
from tools import BUILD, available, call, files_in, plain_user  # noqa: E402

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")
COMPILE = ["--model=in/m.onnx", "--framework=5", "--output=out/m"]
CPU, NPU = [*COMPILE, "--target=cpu"], [*COMPILE, "--soc_version=Ascend310P3"]
PART = re.compile(r".*\.[a-z0-5]{6}\.part")
INTERRUPTED = re.compile(r"E19998: [a-z-]+ was ended by SIG[A-Z]+: [^\n]*\n")
# Of the calls of a run, as many as this are disturbed in each way.
NIGHTLY = bool(os.environ.get("OPENATC_NIGHTLY"))
MAX_POINTS = 12 if NIGHTLY else 6
# Tools whose files are also written where a file system has no files without names. All of them
# write with support/OutputFile.h: those that are ready soonest show it on every run.
NAMED = ("atc", "amct", "om-run", "om-sign") if NIGHTLY else ("om-run", "om-sign")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with what the tools read."""
    folder = tmp_path_factory.mktemp("inputs") / "in"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(net().SerializeToString())
    (folder / "product.onnx").write_bytes(
        model([node("MatMul", ["x", "w"], ["y"], "product")], inputs=[tensor("x", [4, 256])],
              initializers=[weights("w", 256, 256)]).SerializeToString())
    data = folder / "data"
    data.mkdir()
    for i in range(2):
        np.save(data / f"{i}.npy", np.random.default_rng(i).random((1, 3, 8, 8), np.float32))
    for name, flags in (("cpu", ["--target=cpu"]), ("npu", ["--soc_version=Ascend310P3"])):
        status, out, _ = call("atc", "--model=m.onnx", "--framework=5", f"--output={name}", *flags,
                              cwd=folder)
        assert status == 0, out
    if (BUILD / "bin" / "om-sign").exists():
        assert call("om-sign", "keygen", folder / "key")[0] == 0
    return folder


# The command, and the files that it writes, in a folder with `in` and `out`.
RUNS = {
    "atc": ("atc", [*CPU, "--json=out/summary"], ["m.om"]),
    "atc-npu": ("atc", NPU, ["m.om"]),
    "atc-save_temps": ("atc", [*CPU, "--save_temps=out"], ["m.om", "1-import.mlir", "4-schedule.mlir"]),
    "atc-check": ("atc", ["--mode=3", "--model=in/m.onnx", "--framework=5",
                          "--check_report=out/report"], ["report"]),
    "atc-json": ("atc", ["--mode=1", "--om=in/cpu.om", "--json=out/m.json"], ["m.json"]),
    "amct": ("amct", ["calibrate", "--model", "in/m.onnx", "--data", "in/data", "--output", "out/m"],
             ["m_deploy_model.onnx", "m_fake_quant_model.onnx", "m_quant.json", "m_record.txt",
              "m_report.html", "m_report.json", "m_report.txt"]),
    "amct-weights": ("amct", ["weights", "--model", "in/product.onnx", "--output", "out/m.onnx",
                              "--weight_only", "int8"], ["m.onnx"]),
    "amct-prune": ("amct", ["prune", "--model", "in/m.onnx", "--output", "out/m.onnx",
                            "--prune_ratio", "0.5"], ["m.onnx"]),
    "om-run": ("om-run", ["in/cpu.om", "--output", "out", "--dump", "out"], ["y.npy", "r.npy"]),
    "om-run-npu": ("om-run", ["in/npu.om", "--timeline", "out/t.json", "--report", "out/r.html"],
                   ["t.json", "r.html"]),
    "om-sign": ("om-sign", ["sign", "in/cpu.om", "--key", "in/key", "-o", "out/m.om"], ["m.om"]),
    "atc-translate": ("atc-translate", ["--import-onnx", "in/m.onnx", "-o", "out/m.mlir"],
                      ["m.mlir"]),
    "atc-translate-dump": ("atc-translate", ["--interpret", "in/m.onnx", "--dump", "out"],
                           ["manifest.json", "y.npy"]),
}
# What is not the same in each run.
VARYING = {"summary"}


class Place:
    """A folder in which one command runs again and again."""

    def __init__(self, folder, inputs, name):
        self.folder, (self.tool, self.args, self.known) = folder, RUNS[name]
        if not (BUILD / "bin" / self.tool).exists():
            pytest.skip(f"{self.tool} is not built")
        (folder / "in").symlink_to(inputs)
        self.out = folder / "out"
        self.out.mkdir()

    def run(self, **settings):
        # What is read is not in the folder that is watched.
        return run(self.folder, self.tool, *self.args, **settings)

    def contents(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in self.out.iterdir()}

    def reset(self, names, old):
        for path in self.out.iterdir():
            path.unlink()
        if old:
            for name in names:
                (self.out / name).write_bytes(b"old " + name.encode())


@pytest.mark.parametrize("name, named", [*((name, 0) for name in RUNS),
                                         *((name, 1) for name in NAMED)])
def test_old_or_new(name, named, inputs, tmp_path):
    """`named`: on a file system without files that have no name."""
    place = Place(tmp_path, inputs, name)
    status, out, err, calls = place.run(named=named)
    assert status == 0, (out, err)
    new = place.contents()
    assert set(place.known) <= set(new)
    assert calls >= 3
    chosen = random.Random(f"{name} {named}")
    disturbed = 0
    for what in ("kill", "full", "term"):
        points = range(1, calls + 1)
        if calls > MAX_POINTS:
            # The last ones are those in which the files appear.
            points = sorted({*chosen.sample(points, MAX_POINTS - 4), *points[-4:]})
        for at in points:
            place.reset(new, old=chosen.random() < 0.5)
            before = place.contents()
            status, out, err, _ = place.run(named=named, do=what, at=at)
            where = (what, at, status, out, err)
            now = place.contents()
            litter = [each for each in now if each not in new]
            assert all(what == "kill" and PART.fullmatch(each) for each in litter), (where, litter)
            for each in new:
                allowed = {before.get(each), new[each]}
                assert each in VARYING or now.get(each) in allowed, (where, each)
            if what == "kill":
                assert status == -signal.SIGKILL, where
            elif what == "term" and status != 0:
                # Progress may stand in front of it.
                last = err.splitlines(keepends=True)[-1]
                assert status == -signal.SIGTERM and INTERRUPTED.fullmatch(last), where
                assert err.count("E19998") == 1, where
            elif what == "full" and status != 0:
                lines = [line for line in (out + err).splitlines() if line.startswith("E")]
                assert status == 1 and lines, where
                assert all(line.startswith("E13004: ") for line in lines), where
                assert any("No space left on device" in line for line in lines), where
            disturbed += status != 0
    assert disturbed >= calls / 2 or calls > MAX_POINTS
    # What is left does not stand in the way of the next run.
    place.run(named=named, do="kill", at=calls)
    assert place.run(named=named)[0] == 0
    now = place.contents()
    assert all(now[each] == new[each] for each in new if each not in VARYING)


@pytest.mark.parametrize("what", ["kill", "full", "term"])
def test_cache_of_objects(what, tmp_path):
    """A cache that a disturbed run has left never changes what is compiled."""
    # A kernel of which the compiler has no object itself (CommonKernels.def).
    (tmp_path / "m.onnx").write_bytes(
        model([node("Unique", ["x"], ["y"], "unique")],
              outputs=[tensor("y", [None])]).SerializeToString())
    command = ["--model=m.onnx", "--framework=5", "--target=cpu", "--output=m",
               "--op_compiler_cache_mode=enable", "--op_compiler_cache_dir=cache"]
    cache, om = tmp_path / "cache", tmp_path / "m.om"
    status, out, err, calls = run(tmp_path, "atc", *command)
    assert status == 0 and list(cache.glob("*.oatc-object")), (out, err)
    new = om.read_bytes()
    chosen = random.Random(what)
    for at in sorted(chosen.sample(range(1, calls + 1), min(calls, MAX_POINTS // 3))):
        shutil.rmtree(cache, ignore_errors=True)
        om.unlink(missing_ok=True)
        run(tmp_path, "atc", *command, do=what, at=at)
        assert call("atc", *command, cwd=tmp_path)[0] == 0
        assert om.read_bytes() == new, (what, at)


@pytest.mark.parametrize("what", ["kill", "full", "term"])
def test_bank_of_aoe(what, inputs, tmp_path):
    """A search that is disturbed leaves a bank from which the next one goes on, and no litter."""
    if not (BUILD / "bin" / "aoe").exists():
        pytest.skip("aoe is not built")
    (tmp_path / "in").symlink_to(inputs)
    out = tmp_path / "out"
    command = ["--model=in/m.onnx", "--framework=5", "--soc_version=Ascend310P3", "--jobs=1",
               "--tune_trials=3", "--output=out/m", "--bank=out/bank.jsonl"]
    out.mkdir()
    status, text, err, calls = run(tmp_path, "aoe", *command)
    assert status == 0, (text, err)
    new = (out / "m.om").read_bytes()
    for at in sorted(random.Random(what).sample(range(1, calls + 1), min(calls, MAX_POINTS // 2))):
        shutil.rmtree(out)
        out.mkdir()
        status, text, err, _ = run(tmp_path, "aoe", *command, do=what, at=at)
        litter = set(files_in(out)) - {"m.om", "bank.jsonl", "m_aoe.json"}
        assert all(what == "kill" and PART.fullmatch(each) for each in litter), (at, litter)
        if what == "full" and status != 0:
            assert "E13004: " in text + err, (at, text, err)
        for line in (out / "bank.jsonl").read_text().splitlines() if "bank.jsonl" in files_in(
                out) else []:
            json.loads(line)
        if (out / "m.om").exists():
            assert call("om-dump", out / "m.om")[0] == 0
        status, text, err = call("aoe", *command, cwd=tmp_path)
        assert status == 0, (at, text, err)
        assert call("om-run", out / "m.om", cwd=tmp_path)[0] == 0
    assert new


CHECKPOINT = """
import sys, openatc
trainer = openatc.train("in/m.onnx", loss="mse", optimizer="sgd", learning_rate=0.1)
trainer.save("out/checkpoint.onnx")
"""
SWEEP = """
import sys, openatc.sweep
sys.exit(openatc.sweep.main(["in/m.onnx", "--html", "out/page.html"]))
"""
GRAPH = """
import openatc.builder
graph = openatc.builder.Graph("g")
x = graph.input("x", shape=[1, 4])
graph.output("y", graph.op("Relu", x))
graph.save("out/graph.onnx")
"""


@pytest.mark.parametrize("what", ["kill", "full"])
@pytest.mark.parametrize("program", [CHECKPOINT, SWEEP, GRAPH],
                         ids=["checkpoint", "npu-sweep", "builder"])
def test_files_of_python_programs(program, what, inputs, tmp_path, monkeypatch):
    package = BUILD / "python"
    if not (package / "openatc").is_dir():
        pytest.skip("the Python package is not built")
    monkeypatch.setenv("PYTHONPATH", str(package))
    (tmp_path / "in").symlink_to(inputs)
    out = tmp_path / "out"
    out.mkdir()
    words = ["-B", "-c", program]
    status, text, err, calls = run(tmp_path, sys.executable, *words)
    assert status == 0 and calls >= 2, (text, err)
    path, = out.iterdir()
    new = path.read_bytes()
    points = range(1, calls + 1) if NIGHTLY or program == GRAPH else [calls - 1, calls]
    for at in points:
        for left in out.iterdir():
            left.unlink()
        path.write_bytes(b"old")
        status, text, err, _ = run(tmp_path, sys.executable, *words, do=what, at=at)
        litter = set(files_in(out)) - {path.name}
        assert all(what == "kill" and each.endswith(".part") for each in litter), (at, litter)
        assert path.read_bytes() in (b"old", new), (at, text, err)
        assert status != 0 or path.read_bytes() == new, (at, text, err)


@pytest.mark.parametrize("what", ["kill", "full", "term"])
def test_a_pair_of_keys(what, inputs, tmp_path):
    """Random, so by what can be done with them."""
    if not (BUILD / "bin" / "om-sign").exists():
        pytest.skip("om-sign is not built")
    key, om = tmp_path / "key", tmp_path / "m.om"
    _, _, _, calls = run(tmp_path, "om-sign", "keygen", "key")
    assert key.stat().st_mode & 0o777 == 0o600
    for at in range(1, calls + 1):
        for path in tmp_path.iterdir():
            path.unlink()
        run(tmp_path, "om-sign", "keygen", "key", do=what, at=at)
        left = files_in(tmp_path)
        assert set(left) <= {"key", "key.pub"}
        for name in left:
            assert re.fullmatch(r"\S.* [0-9a-f]{64}\n", (tmp_path / name).read_text()), (what, at)
        if left == ["key", "key.pub"]:
            assert call("om-sign", "sign", inputs / "cpu.om", "--key", key, "-o", om)[0] == 0
            assert call("om-sign", "verify", om, "--key", f"{key}.pub")[0] == 0


def test_a_disk_that_is_really_full(inputs, tmp_path):
    """A file system of a few pages; needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        (disk / "m.om").write_bytes(b"old")
        commands = [
            ("atc", [f"--model={inputs}/m.onnx", "--framework=5", "--target=cpu",
                     f"--output={disk}/m"]),
            ("om-sign", ["sign", inputs / "cpu.om", "--key", inputs / "key", "-o", disk / "m.om"]),
            ("om-run", [inputs / "npu.om", "--timeline", disk / "m.om"]),
            ("om-run", [inputs / "npu.om", "--report", disk / "m.om"]),
            ("amct", ["calibrate", "--model", inputs / "m.onnx", "--data", inputs / "data",
                      "--output", f"{disk}/m"]),
        ]
        for tool, args in commands:
            if not (BUILD / "bin" / tool).exists():
                continue
            status, out, err = call(tool, *args, cwd=tmp_path)
            assert status == 1 and "E13004: " in out + err, (tool, args, out, err)
            assert "No space left on device" in out + err
            assert files_in(disk) == ["m.om"] and (disk / "m.om").read_bytes() == b"old"
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("tool, args, printed", [
    ("atc", ["--help"], True), ("atc", ["--version"], True),
    ("atc", ["--mode=6", "--om=in/cpu.om"], True),
    ("atc", ["--model=in/m.onnx", "--framework=5", "--target=cpu", "--output=out", "--json=-"],
     True),
    ("om-dump", ["in/cpu.om", "--tensors"], True), ("om-dump", ["in/cpu.om", "--json"], True),
    ("om-run", ["in/cpu.om"], True), ("om-run", ["in/cpu.om", "--json", "--profile"], True),
    ("amct", ["calibrate", "--model", "in/m.onnx", "--data", "in/data", "--output", "m"], True),
    ("atc-translate", ["--import-onnx", "in/m.onnx"], True),
    ("atc-translate", ["--onnx-support"], True),
])
def test_standard_output_that_is_full(tool, args, printed, inputs, tmp_path):
    (tmp_path / "in").symlink_to(inputs)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([BUILD / "bin" / tool, *args], cwd=tmp_path, stdout=full,
                              stderr=subprocess.PIPE, check=False, timeout=60)
    last = done.stderr.decode().splitlines()[-1:]
    assert done.returncode == 1
    assert last == ["E13004: cannot write to the standard output: No space left on device."]


@pytest.mark.parametrize("name", ["atc", "amct", "om-run", "om-sign", "atc-translate"])
def test_read_only_folder(name, inputs, tmp_path):
    user = plain_user()
    place = Place(tmp_path, inputs, name)
    for folder in (tmp_path, *tmp_path.parents, inputs, *inputs.parents):
        if folder.stat().st_mode & 0o007 != 0o005 and "pytest" in str(folder):
            folder.chmod(0o755)
    if name == "om-sign":
        pytest.skip("a key that others can read is refused before")
    place.out.chmod(0o555)
    status, out, err = call(place.tool, *place.args, cwd=tmp_path, user=user)
    place.out.chmod(0o755)
    lines = [line for line in (out + err).splitlines() if line.startswith("E")]
    assert status == 1 and lines, (out, err)
    assert all(line.startswith("E13004: ") and "Permission denied" in line for line in lines), lines
    assert files_in(place.out) == []


# Signals from outside, at any time.

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["atc", "amct", "om-run", "om-run-compare"])
def test_signal(name, number, inputs, tmp_path):
    compare = name == "om-run-compare"
    place = Place(tmp_path, inputs, "om-run" if compare else name)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    args = place.args
    if name == "om-run":
        args = [*args, "--loop", "100000000"]
    elif compare:
        args = ["in/cpu.om", "--compare", "in/m.onnx"]
    chosen = random.Random(f"{name} {number}")
    ended = 0
    for i in range(6):
        process = subprocess.Popen([BUILD / "bin" / place.tool, *args], cwd=tmp_path,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={"TMPDIR": str(scratch), "PATH": "/usr/bin"})
        # Once it has said how it ends on signals, which is before anything else.
        wait_for_handling(process, number)
        time.sleep(chosen.random() * 0.4 if i else 0)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        if process.returncode != 0:
            ended += 1
            assert process.returncode == -number, (out, err)
            # A thread may still tell its progress behind it.
            said = [line for line in err.decode().splitlines(keepends=True) if INTERRUPTED.fullmatch(line)]
            assert len(said) == 1 and number.name in said[0], err
            assert err.decode().count("E1") == 1
        assert files_in(scratch) == []
        assert not [each for each in files_in(place.out) if PART.fullmatch(each)]
        for each in place.known:
            if name == "atc" and (place.out / each).exists():
                assert call("om-dump", place.out / each)[0] == 0
    assert ended >= 1


def wait_for_handling(process, number):
    """Until the process blocks the signal, for the thread that waits for it to take it."""
    for _ in range(1000):
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return
        mask = int(re.search(r"SigBlk:\s*([0-9a-f]+)", status)[1], 16)
        if mask >> (number - 1) & 1 or "\nState:\tZ" in status:
            return
        time.sleep(0.002)


def test_ignored_signals_stay_ignored(inputs, tmp_path):
    (tmp_path / "in").symlink_to(inputs)
    (tmp_path / "out").mkdir()
    process = subprocess.Popen([BUILD / "bin" / "atc", *CPU], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for_handling(process, signal.SIGTERM)
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, (out, err)


def test_results_of_a_python_program(inputs, tmp_path):
    """What Python makes for itself has no name that could be left over."""
    package = BUILD / "python"
    if not (package / "openatc").is_dir():
        pytest.skip("the Python package is not built")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = ("import openatc, os, sys; model = openatc.compile(sys.argv[1]); "
               "print(len(model.launches)); print(os.listdir(sys.argv[2]))")
    done = subprocess.run([sys.executable, "-c", program, inputs / "m.onnx", scratch],
                          env={"PYTHONPATH": str(package), "TMPDIR": str(scratch)},
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "[]"
