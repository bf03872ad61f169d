# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wheel, given with OPENATC_WHEEL, in a virtual environment of its own."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import DIGITS

WHEEL = os.environ.get("OPENATC_WHEEL")
pytestmark = pytest.mark.skipif(not WHEEL, reason="OPENATC_WHEEL names no wheel to check")

CODE = r"""
import json, sys, tempfile, warnings
import numpy as np

def libraries():
    return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}

before = libraries()
import openatc
folder, site = sys.argv[1:]
assert openatc.__file__.startswith(site), openatc.__file__
picture = np.load(folder + "/pictures/digit_3.npy")
right = np.load(folder + "/reference_scores.npy")[3]
answers = []
for soc in (None, "Ascend310P3"):
    session = openatc.Session(openatc.compile(folder + "/digits.onnx", soc=soc))
    answers.append(float(abs(session.run([picture])[0][0] - right).max()))
print(json.dumps([answers, sorted(libraries() - before), session.npu["cycles"]]))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Of an environment with the wheel, and numpy from outside of it."""
    folder = tmp_path_factory.mktemp("venv")

    def run(*command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    run(sys.executable, "-m", "venv", "--system-site-packages", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "--no-index", "--no-deps", WHEEL)
    return folder / "bin" / "python"


def test_compiles_and_runs(python, tmp_path):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    done = subprocess.run([python, "-c", CODE, str(DIGITS), str(python.parents[1])], text=True,
                          capture_output=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers, libraries, cycles = json.loads(done.stdout)
    assert answers[0] < 1e-4 and answers[1] < 0.05 and cycles > 0
    # What is not the wheel's own is what every Linux with this Python has.
    ours = [path for path in libraries if path.startswith(str(python.parents[1]))]
    assert not any(re.search("libLLVM|libMLIR|libicu|libz3|libedit", path) for path in libraries)
    foreign = [Path(path).name for path in libraries if path not in ours
               and "lib-dynload" not in path]
    assert all(re.match(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z)[.-]|ld-linux)", name)
               for name in foreign), foreign


def test_console_scripts(python, tmp_path):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "LD_LIBRARY_PATH")}

    def run(name, *arguments):
        return subprocess.run([python.parent / name, *map(str, arguments)], text=True, cwd=tmp_path,
                              capture_output=True, env=environment)

    done = run("amct", "calibrate", "--model", DIGITS / "digits.onnx", "--data", DIGITS / "pictures",
               "--output", "int8/digits")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("atc", "--model=int8/digits_deploy_model.onnx", "--framework=5", "--target=cpu",
               "--output=digits")
    assert done.returncode == 0 and "ATC run success" in done.stdout, done.stdout
    done = run("om-run", "digits.om", "--input", DIGITS / "pictures" / "digit_3.npy", "--output", "out")
    assert done.returncode == 0, done.stderr
    # Errors, and the exit code, arrive as from the tools themselves.
    done = run("atc", "--model=nothing.onnx", "--framework=5", "--target=cpu", "--output=x")
    assert done.returncode == 1 and "E10410" in done.stdout


def test_content():
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        metadata, points = (
            wheel.read(next(n for n in names if n.endswith(f".dist-info/{file}"))).decode()
            for file in ("METADATA", "entry_points.txt"))
    assert "[torch_dynamo_backends]\nopenatc = openatc._torch:backend\n" in points
    assert "[console_scripts]\natc = " in points
    files = {name for name in names if name.startswith("openatc/")}
    assert {f"openatc/{name}" for name in (
        "__init__.py", "_compile.py", "_compare.py", "_error.py", "_compiler.pyi", "_runtime.pyi",
        "py.typed")} <= files
    assert sum(name.endswith(".so") and "cpython" in name for name in files) == 2
    assert all(name.startswith("openatc/") or ".dist-info/" in name for name in names), names
    assert {name.rsplit("/")[-1] for name in names if "/licenses/" in name} == {
        "LICENSE", "THIRD-PARTY-NOTICES.md"}
    assert os.stat(WHEEL).st_size <= 60e6
    with zipfile.ZipFile(WHEEL) as wheel:
        build = os.fsencode(DIGITS.parents[1])
        assert not [name for name in names if build in wheel.read(name)]
    assert "Requires-Dist: numpy" in metadata and Path(WHEEL).name.startswith("openatc-")
