# ===-- tool_server.py - a plug-in of pytest: the tools are started once ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the compiler in a server (test/tool-server), which saves the time that the dynamic loader needs at
each of thousands of starts. openatc_tools.tool then returns the client; a run without this plug-in, and
a test that calls the file in build/bin by itself, start the tool each time."""

import os
import pathlib
import subprocess
import tempfile
import time

SERVED = ("atc", "atc-translate")
BUILD = pathlib.Path(os.environ["OPENATC_BUILD_DIR"])
PRELOADED = BUILD / "lib/libopenatc_tool_server.so"


def pytest_configure(config):
    config.openatc_servers = []
    if not PRELOADED.exists():
        return
    folder = tempfile.TemporaryDirectory(prefix="openatc-tools-")
    config.openatc_servers.append(folder)
    for name in SERVED:
        socket = f"{folder.name}/{name}"
        server = subprocess.Popen([BUILD / "bin" / name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  env=os.environ | {"LD_PRELOAD": str(PRELOADED), "LD_BIND_NOW": "1",
                                                    "OPENATC_SERVE_SOCKET": socket})
        config.openatc_servers.append(server)
        while not os.path.exists(socket) and server.poll() is None:
            time.sleep(0.002)
    os.environ |= {"OPENATC_TOOL_SOCKETS": folder.name, "OPENATC_TOOLS": str(BUILD / "bin"),
                   "OPENATC_ATC": str(BUILD / "bin/served/atc")}


def pytest_unconfigure(config):
    for server in config.openatc_servers[1:]:
        server.stdin.close()
        server.wait()
    for folder in config.openatc_servers[:1]:
        folder.cleanup()
