#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sends requests of many clients to a server of the Open Inference Protocol and prints latencies.

    examples/serve/load.py digits --requests 1000 --clients 32

Inputs are random values of the model's ports, the same for every request, so all answers must be
equal up to `--tolerance` of their range: a batch may add up in another order. With --pid, the
resident memory of that process (and its children) before and after is printed as well. Needs only
Python's standard library and numpy.
"""

import argparse
import http.client
import json
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np

DTYPES = {"BOOL": "bool", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32",
          "UINT64": "uint64", "INT8": "int8", "INT16": "int16", "INT32": "int32",
          "INT64": "int64", "FP16": "float16", "FP32": "float32", "FP64": "float64"}


def body(server, model, dim):
    """Returns a request with random values; dynamic dims become `dim`."""
    connection = http.client.HTTPConnection(server, timeout=60)
    connection.request("GET", f"/v2/models/{model}")
    metadata = json.loads(connection.getresponse().read())
    random = np.random.default_rng(0)
    inputs = []
    for port in metadata["inputs"]:
        shape = [dim if size < 0 else size for size in port["shape"]]
        dtype = np.dtype(DTYPES[port["datatype"]])
        values = random.random(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
        inputs.append({"name": port["name"], "datatype": port["datatype"], "shape": shape,
                       "data": values.astype(dtype).reshape(-1).tolist()})
    return json.dumps({"inputs": inputs}).encode()


def outputs(answer):
    return np.concatenate([np.array(output["data"], np.float64).reshape(-1)
                           for output in json.loads(answer)["outputs"]])


def memory(pid):
    """Returns the resident bytes of a process and its children."""
    total = 0
    for status in Path(f"/proc/{pid}").glob("task/*/children"):
        total += sum(memory(child) for child in status.read_text().split())
    return total + int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


class Clients:
    """`clients` threads with a connection each, until `requests` are sent or time is up."""

    def __init__(self, arguments, request):
        self.arguments, self.request = arguments, request
        self.seconds, self.errors = [], []
        self.answer = None
        self.lock = threading.Lock()
        self.left = arguments.requests
        self.end = time.monotonic() + (arguments.seconds or 1e9)

    def take(self):
        with self.lock:
            if time.monotonic() > self.end or (not self.arguments.seconds and self.left == 0):
                return False
            self.left -= 1
            return True

    def client(self):
        connection = http.client.HTTPConnection(self.arguments.server, timeout=60)
        while self.take():
            start = time.perf_counter()
            try:
                connection.request("POST", f"/v2/models/{self.arguments.model}/infer",
                                   self.request, {"Content-Type": "application/json"})
                response = connection.getresponse()
                text = response.read()
                error = None if response.status == 200 else f"{response.status}: {text[:200]!r}"
            except OSError as exception:
                error = str(exception)
                connection.close()
            seconds = time.perf_counter() - start
            values = outputs(text) if error is None else None
            with self.lock:
                self.note(seconds, values, error)

    def note(self, seconds, values, error):
        self.seconds.append(seconds)
        if error is None:
            self.answer = values if self.answer is None else self.answer
            scale = float(np.ptp(self.answer)) or 1.0
            if np.abs(values - self.answer).max() > self.arguments.tolerance * scale:
                error = "another answer"
        if error is not None:
            self.errors.append(error)

    def run(self):
        threads = [threading.Thread(target=self.client) for _ in range(self.arguments.clients)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--server", default="127.0.0.1:8080")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, help="so long, instead of a number of requests")
    parser.add_argument("--dim", type=int, default=1, help="size of dynamic dims")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--pid", type=int, help="the server's process")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    try:
        request = body(arguments.server, arguments.model, arguments.dim)
    except (OSError, KeyError, ValueError) as error:
        print(f"load.py: no metadata of model '{arguments.model}' at {arguments.server}: {error}",
              file=sys.stderr)
        return 1
    Clients(argparse.Namespace(**{**vars(arguments), "seconds": None, "requests": 64}), request).run()
    before = memory(arguments.pid) if arguments.pid else None
    clients = Clients(arguments, request)
    wall = clients.run()
    times = sorted(clients.seconds)
    result = {"requests": len(times), "clients": arguments.clients, "errors": len(clients.errors),
              "per_second": len(times) / wall, "median_ms": statistics.median(times) * 1e3,
              "p90_ms": times[int(len(times) * 0.9)] * 1e3,
              "p99_ms": times[int(len(times) * 0.99)] * 1e3, "max_ms": times[-1] * 1e3}
    if arguments.pid:
        result["memory_before_mb"] = before / 1e6
        result["memory_after_mb"] = memory(arguments.pid) / 1e6
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:18} {value:12.3f}" if isinstance(value, float) else f"{name:18} {value:12}")
        for error in sorted(set(clients.errors))[:5]:
            print(f"error: {error}", file=sys.stderr)
    return 1 if clients.errors else 0


if __name__ == "__main__":
    sys.exit(main())
