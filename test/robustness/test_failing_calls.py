#===-- test_failing_calls.py - one call of the system fails ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory, a mapping, a thread, a file: whatever call fails, a tool ends with one coded line that is no
internal error, or does without, and leaves nothing half done."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import conv, model, node, tensor  # noqa: E402
from shim import built  # noqa: E402
from tools import BUILD, MAX_SECONDS, available, call, files_in  # noqa: E402

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")

# Calls that are tried of those that a tool makes; all of them by night.
TRIED = 100000 if os.environ.get("OPENATC_NIGHTLY") else 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("failing")
    (place / "fixed.onnx").write_bytes(conv().SerializeToString())
    (place / "open.onnx").write_bytes(model(
        [node("Relu", ["x"], ["r"]), node("Softmax", ["r"], ["y"])],
        inputs=[tensor("x", ["n", 6])]).SerializeToString())
    np.save(place / "x.npy", np.ones((3, 6), np.float32))
    for name, source, target in (("cpu", "fixed", "--target=cpu"), ("dynamic", "open", "--target=cpu"),
                                 ("npu", "fixed", "--soc_version=Ascend310P3")):
        status, out, _ = call("atc", f"--model={source}.onnx", "--framework=5", f"--output={name}", target, cwd=place)
        assert status == 0, out
    return place


def run(folder, words, kind, at, **more):
    """The exit status, the errors, and the number of its calls of this kind."""
    count = folder / "count"
    count.unlink(missing_ok=True)
    environment = {**os.environ, "LD_PRELOAD": str(built("failing.c")), "FAIL_KIND": kind, "FAIL_AT": str(at),
                   "FAIL_COUNT": str(count), **more}
    done = subprocess.run([str(BUILD / "bin" / words[0]), *words[1:]], cwd=folder, env=environment, check=False,
                          capture_output=True, timeout=MAX_SECONDS)
    calls = int(count.read_text() or 0) if count.exists() else 0
    count.unlink(missing_ok=True)
    return done.returncode, done.stderr.decode(), calls


COMMANDS = {"cpu": ["om-run", "cpu.om"], "npu": ["om-run", "npu.om"], "dump": ["om-dump", "cpu.om"],
            "dynamic": ["om-run", "dynamic.om", "--input", "x.npy"]}


@pytest.mark.parametrize("kind", ["memory", "map", "thread", "open", "read"])
@pytest.mark.parametrize("command", COMMANDS)
def test_one_call_fails(command, kind, folder):
    words = COMMANDS[command]
    status, said, calls = run(folder, words, kind, 0)
    assert status == 0, said
    before = files_in(folder)
    for at in range(1, calls + 1, max(1, calls // TRIED)):
        status, said, _ = run(folder, words, kind, at)
        coded = re.search(r"^E(?!19999)\d{5}: ", said, re.M)
        assert status == 0 or (status == 1 and coded), (at, status, said[-500:])
        assert files_in(folder) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_no_more_memory(command, folder):
    words = COMMANDS[command]
    calls = run(folder, words, "memory", 0)[2]
    for at in range(1, calls + 1, max(1, calls // TRIED)):
        status, said, _ = run(folder, words, "memory", at, FAIL_ALL="1")
        assert status == 0 or (status == 1 and re.search(r"^E(?!19999)\d{5}: ", said, re.M)), (at, status, said[-500:])


@pytest.mark.parametrize("words, file", [
    (["om-run", "cpu.om"], "cpu.om"), (["om-dump", "cpu.om"], "cpu.om"),
    (["om-run", "cpu.om", "--no-verify"], "cpu.om"),
    (["atc", "--model=outside.onnx", "--framework=5", "--target=cpu", "--output=made"], "w.bin"),
], ids=lambda each: each if isinstance(each, str) else " ".join(each[:1] + each[2:3]))
def test_a_mapped_file_that_becomes_shorter(words, file, folder, tmp_path):
    """The system has a signal for that, SIGBUS, which is no crash of the tool."""
    outside = onnx.load(folder / "fixed.onnx")
    onnx.external_data_helper.convert_model_to_external_data(outside, location="w.bin", size_threshold=0)
    onnx.save(outside, str(tmp_path / "outside.onnx"))
    if file != "w.bin":
        shutil.copy(folder / file, tmp_path / file)
    files = files_in(tmp_path)
    bytes_before = (tmp_path / file).read_bytes()
    coded = 0
    for at in range(1, 4):
        status, said, calls = run(tmp_path, words, "shrink", at)
        if status == 0 and calls < at:
            break
        coded += status == 1 and re.search(r"^E(?!19999)\d{5}: ", said, re.M) is not None
        assert status in (0, 1), (at, status, said[-500:])
        (tmp_path / file).write_bytes(bytes_before)
        assert status == 0 or files_in(tmp_path) == files
    assert coded


def test_a_simulated_npu_without_helpers(folder):
    """Other cores are simulated by this thread then."""
    words = ["om-run", "npu.om", "--json"]
    for at in range(2, 5):
        status, said, _ = run(folder, words, "thread", at)
        assert status == 0 or "E19001: " in said, (at, said[-500:])


def test_a_machine_without_proc(folder):
    """The linker of code reaches its files there; models run without."""
    def without_proc(words):
        return subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none /proc && exec {words}"], cwd=folder,
                              check=False, capture_output=True, text=True, timeout=MAX_SECONDS)
    if without_proc("true").returncode:
        pytest.skip("file systems cannot be mounted here")
    done = without_proc(f"{BUILD}/bin/atc --model=open.onnx --framework=5 --output=none --target=cpu")
    assert done.returncode == 1 and re.search(r"^E13004: .*/proc", done.stdout, re.M), done.stdout
    assert not (folder / "none.om").exists()
    done = without_proc(f"{BUILD}/bin/om-run cpu.om")
    assert done.returncode == 0, done.stderr
