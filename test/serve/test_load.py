# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten minutes of 32 clients: no error, one answer, and memory that does not grow."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("mlserver", reason="needs MLServer (pip install mlserver)")


def load(server, *flags):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "serve" / "load.py"), "digits",
                           f"--server=127.0.0.1:{server.http}", "--clients=32", "--json",
                           f"--pid={server.process.pid}", *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"), reason="takes eleven minutes")
def test_memory_does_not_grow_over_ten_minutes(server):
    load(server, "--seconds=45")
    result = load(server, "--seconds=600")
    print(json.dumps(result))
    assert result["errors"] == 0
    assert result["memory_after_mb"] < 1.02 * result["memory_before_mb"] + 8, result
