# What the tests of embedding share: running commands, building the runtime alone,
# the bundled network and its pictures. Everything is made in pytest's own folders.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
DIGITS = ROOT / "examples" / "digits"
EXAMPLES = ROOT / "examples"
PICTURES = [DIGITS / "pictures" / f"digit_{digit}.npy" for digit in range(10)]


def cmake_program():
    """The CMake that configured the build: another in PATH may be older."""
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.MULTILINE)[1]


def run(*command, env=None, fails=False):
    result = subprocess.run(list(map(str, command)), env={**os.environ, **(env or {})},
                            capture_output=True, text=True, timeout=600)
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stderr if fails else result.stdout


def need(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        pytest.skip("not installed: " + ", ".join(missing))


def build_runtime(folder, *options):
    """Configures, builds and installs the runtime alone; returns the installed tree."""
    cmake = cmake_program()
    # It is built more than it runs.
    optimization = [f"-DCMAKE_{language}_FLAGS_RELEASE=-O1 -DNDEBUG" for language in ("C", "CXX")]
    run(cmake, "-S", ROOT, "-B", folder / "build", "-DOPENATC_BUILD_COMPILER=OFF",
        "-DOPENATC_BUILD_TESTS=OFF", "-DOPENATC_BUILD_TOOLS=OFF", "-DCMAKE_BUILD_TYPE=Release",
        *optimization, *options)
    cache = (folder / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
    assert "LLVM_DIR" not in cache and "MLIR_DIR" not in cache
    run(cmake, "--build", folder / "build", "--parallel", "2")
    run(cmake, "--install", folder / "build", "--prefix", folder / "tree")
    return folder / "tree"


# The names of Debian's cross compilers begin so; the first word names qemu's program.
SYSTEM = {"aarch64": "aarch64-linux-gnu", "riscv64": "riscv64-linux-gnu", "armv7": "arm-linux-gnueabihf"}


def qemu(arch):
    return f"qemu-{SYSTEM[arch].split('-')[0]}"


def emulator(arch, *options):
    return [qemu(arch), *options, "-L", f"/usr/{SYSTEM[arch]}"]


def toolchain(arch):
    return f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/{SYSTEM[arch]}.cmake"


@pytest.fixture(scope="session")
def cross_trees(tmp_path_factory):
    """{architecture: the runtime alone, built for it and installed}, made when it is asked for."""
    made = {}

    def make(arch):
        if arch not in made:
            need(f"{SYSTEM[arch]}-gcc", f"{SYSTEM[arch]}-g++", qemu(arch))
            made[arch] = build_runtime(tmp_path_factory.mktemp(arch), toolchain(arch))
        return made[arch]
    return make


def install(prefix, *components):
    """Installs components of the main build."""
    for component in components:
        run(cmake_program(), "--install", BUILD, "--component", component, "--prefix", prefix)


def build_example(example, tree, folder, *options, program="classify"):
    """Builds an example as a user would, with find_package; returns the program."""
    cmake = cmake_program()
    run(cmake, "-S", EXAMPLES / example, "-B", folder, f"-DCMAKE_PREFIX_PATH={tree}",
        "-DCMAKE_BUILD_TYPE=Release", *options)
    run(cmake, "--build", folder)
    return folder / program


def compile_digits(output, levels):
    return compile_digits_for(output, "--target=cpu", f"--target_cpu={levels}")


def compile_digits_for(output, *target):
    run(BUILD / "bin" / "atc", f"--model={DIGITS / 'digits.onnx'}", "--framework=5",
        f"--output={output.with_suffix('')}", *target)
    return output


def check_answers(program, model, env=None, emulator=()):
    """Runs the C example on all pictures; returns the scores."""
    rows = []
    for digit, picture in enumerate(PICTURES):
        first, second = run(*emulator, program, model, picture, env=env).splitlines()
        assert int(first) == digit
        rows.append([float(word) for word in second.split()])
    scores, reference = np.array(rows), np.load(DIGITS / "reference_scores.npy")
    assert np.abs(scores - reference).max() <= 1e-4 * np.ptp(reference)
    return scores


@pytest.fixture(scope="session")
def digits_om(tmp_path_factory):
    return compile_digits(tmp_path_factory.mktemp("model") / "digits.om", "host")


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """The runtime as `cmake --install` of the main build lays it out."""
    prefix = tmp_path_factory.mktemp("installed")
    install(prefix, "runtime", "dev", "tools")
    return prefix
