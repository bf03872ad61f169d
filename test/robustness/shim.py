#===-- shim.py - runs tools on a machine on which something goes wrong -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds shim.c and the like, which are preloaded into tools, and runs them with it."""

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tools import BUILD, MAX_SECONDS, SANITIZED

@functools.lru_cache
def built(source):
    """The path of the library that is built from a source of this folder."""
    compiler = next((found for name in ("cc", "gcc", "clang", "clang-22")
                     if (found := shutil.which(name))), None)
    if SANITIZED or compiler is None:
        pytest.skip("needs a C compiler and tools without sanitizers")
    library = Path(tempfile.mkdtemp(prefix="openatc-shim-")) / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name(source), "-ldl"],
                   check=True)
    return library


def run(folder, tool, *args, **settings):
    """Runs a tool in `folder` with settings of the shim, such as do="kill", at=3. Returns the
    exit status (negative for a signal), stdout, stderr and the number of calls that were
    counted, None where the process was killed."""
    with tempfile.TemporaryDirectory() as place:
        count = Path(place) / "count"
        environment = {**os.environ, "LD_PRELOAD": str(built("shim.c")), "SHIM_FOLDER": str(folder),
                       "SHIM_COUNT": str(count)}
        environment.update({f"SHIM_{name.upper()}": str(value)
                            for name, value in settings.items()})
        command = [str(BUILD / "bin" / tool), *map(str, args)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True,
                              timeout=MAX_SECONDS, check=False)
        # A process that was ended in the midst of writing it has not counted to the end.
        text = count.read_text() if count.exists() else ""
        calls = int(text) if text else None
    return done.returncode, done.stdout.decode(), done.stderr.decode(), calls
