#===-- tools.py - runs the command line tools and judges how they refuse -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every broken input must lead to, in one place.

OPENATC_BUILD_DIR names the build whose tools are tried (default: build/ of the checkout).
"""

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402

BUILD = Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
GOLDEN = ROOT / "test" / "runtime-lite" / "golden" / "schema-1.0.om"

START = "ATC start working now, please wait for a moment."
DONE = "ATC run success, welcome to the next use."
FAILED = ("ATC run failed, Please check the detail log, Try 'atc --help' for more information")
CODED = re.compile(r"E[0-9]{5}: \S.*")
SANITIZED = re.search(r"OPENATC_SANITIZE:\w+=ON", (BUILD / "CMakeCache.txt").read_text()
                      if (BUILD / "CMakeCache.txt").exists() else "") is not None
# The first is what nothing small may need; the second catches endless loops.
MAX_MEMORY = 6 << 30
MAX_SECONDS = 600 if SANITIZED else 60


def available():
    return all((BUILD / "bin" / tool).exists() for tool in ("atc", "om-run", "om-dump"))


NOBODY = 65534


def call(tool, *args, cwd=None, user=None, file_bytes=None, files=None, memory=MAX_MEMORY):
    """Exit status, stdout and stderr. A signal is a negative status."""
    def limit():
        # AddressSanitizer reserves terabytes of address space.
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # libMLIR is not instrumented, and its containers cross the boundary.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0:"
                                                 "allocator_may_return_null=1"}
    # A server's processes have limits of their own, but neither another user nor ignored signals.
    own = user is not None or file_bytes is not None
    done = subprocess.run([str(BUILD / "bin" / tool) if own else openatc_tools.tool(tool), *map(str, args)],
                          cwd=cwd, env=environment, preexec_fn=limit, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=MAX_SECONDS, check=False, user=user)
    errors = done.stderr.decode(errors="replace")
    if SANITIZED:
        # What AddressSanitizer says before it returns null, as asked for above.
        errors = re.sub(r"(?m)^==\d+==WARNING: AddressSanitizer failed to allocate .*\n", "", errors)
    return done.returncode, done.stdout.decode(errors="replace"), errors


def plain_user():
    """None, or for root somebody whom file modes stop; he must be able to run the tools."""
    if os.geteuid() != 0:
        return None
    try:
        subprocess.run([str(BUILD / "bin" / "om-run"), "--version"], user=NOBODY, cwd="/",
                       stdout=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("root may use every file, and no other user may run these tools")
    return NOBODY


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def check_errors(lines, code, words, count):
    assert len(lines) == count, lines
    for line in lines:
        assert CODED.fullmatch(line), line
        # A sentence that a person can read at once, not a dump of the model.
        assert len(line) < 3000, len(line)
    # "E1" stands for any code that begins so.
    assert lines[0].startswith(code + ": " if len(code) == 6 else code), lines
    for word in words:
        assert word in "\n".join(lines), (word, lines)


def atc_refuses(args, folder, code, *words, count=1, user=None, memory=MAX_MEMORY):
    """atc fails with `count` coded lines and leaves the folder as it was."""
    before = files_in(folder)
    status, out, err = call("atc", *args, cwd=folder, user=user, memory=memory)
    assert status == 1, (status, out, err)
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == START
    assert DONE not in lines
    at = lines.index(FAILED)
    assert all(re.fullmatch(r"W[0-9]{5}: \S.*", line) for line in lines[1:at]), lines
    check_errors(lines[at + 1:], code, words, count)
    assert files_in(folder) == before
    return lines[at + 1:]


def atc_compiles(args, folder):
    status, out, err = call("atc", *args, cwd=folder)
    assert (status, err) == (0, ""), (status, out, err)
    assert out.splitlines()[0] == START and out.splitlines()[-1] == DONE


def om_tool_refuses(tool, args, folder, code, *words, count=1):
    """om-run or om-dump fails with `count` coded lines on stderr and writes nothing."""
    before = files_in(folder)
    status, out, err = call(tool, *args, cwd=folder)
    assert status == 1, (status, out, err)
    assert out == ""
    check_errors(err.splitlines(), code, words, count)
    assert files_in(folder) == before
