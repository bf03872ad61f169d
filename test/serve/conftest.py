# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server with the digit network, in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build"))
DIGITS = ROOT / "examples" / "digits"
sys.path.insert(0, str(BUILD / "python"))

np = pytest.importorskip("numpy", reason="needs numpy (Debian: python3-numpy)")
openatc = pytest.importorskip("openatc", reason="needs the built package (openatc_python)")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    """`python -m openatc.serve` with `options`; ends with the process that made it."""

    def __init__(self, folder, log, *options):
        self.http, self.grpc, self.metrics = free_ports(3)
        command = [sys.executable, "-m", "openatc.serve", str(folder),
                   f"--http_port={self.http}", f"--grpc_port={self.grpc}",
                   f"--metrics_port={self.metrics}", *options]
        self.log = log
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, cwd=log.parent,
                env={**os.environ, "PYTHONPATH": str(BUILD / "python")})

    def wait_ready(self, model="digits", seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if self.get(f"/v2/models/{model}/ready")[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError("not ready: " + self.log.read_text())

    def get(self, path, port=None):
        return self._open(urllib.request.Request(f"http://127.0.0.1:{port or self.http}{path}"))

    def post(self, path, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._open(urllib.request.Request(
            f"http://127.0.0.1:{self.http}{path}", data=data,
            headers={"Content-Type": "application/json"}))

    def infer(self, array, model="digits"):
        return self.post(f"/v2/models/{model}/infer", request(array))

    @staticmethod
    def _open(what):
        try:
            with urllib.request.urlopen(what, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def stop(self):
        """Sends SIGTERM and returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def request(array, name="image"):
    return {"inputs": [{"name": name, "datatype": "FP32", "shape": list(array.shape),
                        "data": array.reshape(-1).tolist()}]}


def scores(body):
    output = json.loads(body)["outputs"][0]
    return np.array(output["data"], np.float32).reshape(output["shape"])


@pytest.fixture(scope="session")
def pictures():
    return [np.load(DIGITS / "pictures" / f"digit_{d}.npy") for d in range(10)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """`digits` in two versions with a dynamic batch, and `single` with a static one."""
    root = tmp_path_factory.mktemp("models")
    for version in ("1", "2"):
        (root / "digits" / version).mkdir(parents=True)
        openatc.compile(DIGITS / "digits.onnx", root / "digits" / version / "model.om",
                        input_shapes={"image": (-1, 1, 28, 28)})
    openatc.compile(DIGITS / "digits.onnx", root / "single.om")
    return root


@pytest.fixture(scope="session")
def right(folder, pictures):
    """What a session answers, as om-run does, for each picture."""
    session = openatc.Session(openatc.Model(folder / "single.om"))
    return [session(picture) for picture in pictures]


@pytest.fixture(scope="session")
def server(folder, tmp_path_factory):
    pytest.importorskip("mlserver", reason="needs MLServer (pip install mlserver)")
    server = Server(folder, tmp_path_factory.mktemp("server") / "log",
                    "--max_batch=8", "--max_wait_ms=2")
    try:
        yield server.wait_ready()
    finally:
        server.process.kill()
        server.process.wait()
