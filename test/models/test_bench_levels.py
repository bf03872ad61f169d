#===-- test_bench_levels.py - benchmarks on processors of a lower level ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`bench.py --level` hides from CPUID what a level does not have: the loader, which selects code by
CPUID, then takes the code of that level, as would the libraries that are measured."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/common"), str(ROOT / "test/bench")]
import levels  # noqa: E402
from openatc_tools import compile_model, tool  # noqa: E402

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64" or not shutil.which("clang-22"),
                                reason="CPUID is an instruction of x86-64")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("cpuid") / "cpuid.so"
    levels.build_library(path)
    probe = subprocess.run(["true"], env=levels.environment(path, levels.LEVELS[0]),
                           capture_output=True, text=True)
    if "does not let CPUID fault" in probe.stderr:
        pytest.skip("CPUID does not fault here")
    return path


@pytest.fixture(scope="module")
def om(tmp_path_factory):
    folder = tmp_path_factory.mktemp("om")
    return compile_model(ROOT / "examples/digits/digits.onnx", folder,
                         f"--target_cpu={','.join(levels.LEVELS)}")


def level_of(om, env=None):
    result = subprocess.run([tool("om-run"), om, "--json"], env=env, capture_output=True, text=True)
    return json.loads(result.stdout)["cpu_level"]


@pytest.mark.parametrize("level", levels.LEVELS)
def test_loader_sees_the_level(library, om, level):
    own = levels.LEVELS.index(level_of(om))
    expected = levels.LEVELS[min(own, levels.LEVELS.index(level))]
    assert level_of(om, levels.environment(library, level)) == expected


def test_other_faults_end_the_process(library):
    crash = [sys.executable, "-c", "import ctypes; ctypes.string_at(8)"]
    env = levels.environment(library, levels.LEVELS[0])
    assert subprocess.run(crash, env=env, capture_output=True).returncode == -11


def test_unknown_level(library):
    result = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": str(library),
                                           levels.VARIABLE: "x86-64-v9"},
                            capture_output=True, text=True)
    assert result.returncode == 1 and "is none of x86-64-v3" in result.stderr
