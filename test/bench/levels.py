"""Runs a benchmark as on a processor of a lower level: see cpuid.c."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import subprocess
import sys
import tempfile

LEVELS = ("x86-64-v3", "x86-64-v4", "x86-64-v4-vnni")
VARIABLE = "OPENATC_BENCH_LEVEL"

# Of this process, whose CPUID is that of the level: for others that shall see the same.
restricted = dict(os.environ)
if VARIABLE in os.environ:
    # Compilers handle SIGSEGV themselves; what they run as is no part of a measurement.
    os.environ.pop("LD_PRELOAD", None)


def add_option(parser):
    parser.add_argument("--level", choices=LEVELS,
                        help="compile for this level, and let the rivals see a processor of it")


def build_library(path):
    subprocess.run(["clang-22", "-O2", "-shared", "-fPIC", pathlib.Path(__file__).parent / "cpuid.c",
                    "-o", path], check=True)


def environment(library, level):
    """Returns the environment of a process that sees a processor of `level`."""
    return {**os.environ, "LD_PRELOAD": str(library), VARIABLE: level}


def enter(level):
    """Returns where the process sees CPUID of `level`: else runs the same command so, and exits."""
    if level is None or os.environ.get(VARIABLE) == level:
        return
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "cpuid.so"
        build_library(library)
        sys.exit(subprocess.run([sys.executable, *sys.argv],
                                env=environment(library, level)).returncode)


def atc_flags(level):
    return [f"--target_cpu={level}"] if level else []
