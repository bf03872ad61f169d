# ===-- tool_server.py - a plug-in of pytest: the compiler is started once --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the compiler in a server (test/tool-server), which saves the time that the dynamic loader needs at
each of thousands of starts. openatc_tools.tool then returns the client; a run without this plug-in, and
a test that calls the file in build/bin by itself, start the tool each time."""

import contextlib
import os
import subprocess
import tempfile
import time

from openatc_tools import BUILD

SERVED = ("atc", "atc-translate", "amct", "aoe")
PRELOADED = BUILD / "lib/libopenatc_tool_server.so"


@contextlib.contextmanager
def servers():
    """The tools have servers; none where the build has no library for it (with sanitizers)."""
    with contextlib.ExitStack() as stack:
        if PRELOADED.exists():
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="openatc-tools-"))
            for name in SERVED:
                # It ends with its standard input.
                server = stack.enter_context(subprocess.Popen(
                    [BUILD / "bin" / name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    env=os.environ | {"LD_PRELOAD": str(PRELOADED), "LD_BIND_NOW": "1",
                                      "OPENATC_SERVE_SOCKET": f"{folder}/{name}"}))
                while not os.path.exists(f"{folder}/{name}") and server.poll() is None:
                    time.sleep(0.002)
            os.environ |= {"OPENATC_TOOL_SOCKETS": folder, "OPENATC_TOOLS": str(BUILD / "bin"),
                           "OPENATC_ATC": str(BUILD / "bin/served/atc")}
        yield


def pytest_configure(config):
    config.openatc_servers = contextlib.ExitStack()
    config.openatc_servers.enter_context(servers())


def pytest_unconfigure(config):
    config.openatc_servers.close()
