#!/usr/bin/env python3
"""Latency side by side with ONNX Runtime, interleaved in one run.

  bench.py [--threads 1,2] [--rounds 15] [--json] model.onnx ...

Run it with a Python that has onnxruntime and numpy (a virtual environment);
without onnxruntime only our own figures are printed. Every round measures both
on the same data, one after the other; the figures are medians over the rounds
and the ratio is ORT / ours (above 1: we are faster). The share of the limit is
the achieved rate over the measured peak of the core times the threads.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import ctypes
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))
from openatc_runtime import Session

ROOT = pathlib.Path(__file__).resolve().parents[2]


def peak_gflops(work):
    """Measured peak of one core, by a loop of register-only FMAs."""
    library = work / "peak.so"
    subprocess.run(["clang-22", "-O3", "-march=native", "-mprefer-vector-width=512",
                    "-ffp-contract=fast", "-shared", "-fPIC",
                    ROOT / "test/bench/peak.c", "-o", library], check=True)
    function = ctypes.CDLL(str(library)).peak_gflops
    function.restype = ctypes.c_double
    return function(15)


def compile_model(build, model, output, flags):
    """Runs atc; returns seconds and peak resident bytes of the compiler."""
    command = [build / "bin/atc", f"--model={model}", "--framework=5", f"--output={output}",
               "--target=cpu", *flags]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"atc failed on {model}:\n{text}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def flops_of(model, build, om):
    """FLOPs of convolutions and matmuls: from the generator's list beside the
    model, else the schedule's own estimate."""
    zoo = model.parent / "zoo.json"
    if zoo.exists() and model.stem in (known := json.loads(zoo.read_text())):
        return 2 * known[model.stem]["macs"]
    dump = subprocess.run([build / "bin/om-dump", om, "--json"], check=True, capture_output=True)
    return sum(step["cost"] for step in json.loads(dump.stdout)["schedule"])


class OnnxRuntime:
    def __init__(self, model, threads, feeds):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.load_ms = 1e3 * (time.perf_counter() - start)
        self.feeds = dict(zip([i.name for i in self.session.get_inputs()], feeds))
        self.version = ort.__version__

    def run(self):
        return self.session.run(None, self.feeds)


def timed(function):
    start = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - start)


def measure(model, om, threads, rounds, library):
    start = time.perf_counter()
    ours = Session(library, om, threads)
    load_ms = 1e3 * (time.perf_counter() - start)
    rng = np.random.default_rng(1)
    for _, array in ours.inputs:
        array[...] = rng.standard_normal(array.shape) if array.dtype.kind == "f" else 1
    first_ms = timed(ours.run)
    row = {"threads": threads, "load_ms": load_ms, "first_run_ms": first_ms}

    try:
        rival = OnnxRuntime(model, threads, [array for _, array in ours.inputs])
    except ImportError:
        rival = None
    if rival:
        expected = rival.run()
        error = max(float(np.abs(want - got).max() / max(float(np.ptp(want)), 1e-30))
                    for want, (_, got) in zip(expected, ours.outputs))
        row.update(ort_version=rival.version, ort_load_ms=rival.load_ms, max_error_of_range=error)

    times, rival_times = [], []
    # A round is a few runs, so that caches are each one's own again.
    inner = max(1, min(20, int(60 / max(first_ms, 0.1))))
    for _ in range(rounds):
        if rival:
            rival.run()
            rival_times += [timed(rival.run) for _ in range(inner)]
            time.sleep(0.03)  # Its threads spin on for a while.
        ours.run()
        times += [timed(ours.run) for _ in range(inner)]
    row["ms"] = statistics.median(times)
    if rival:
        row["ort_ms"] = statistics.median(rival_times)
        row["ratio"] = row["ort_ms"] / row["ms"]
    row["weights_bytes"], row["arena_bytes"] = ours.info.weights_bytes, ours.info.arena_bytes
    ours.close()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--threads", default="1,2", help="thread counts, comma-separated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--atc-flags", default="", help="more flags for atc, space-separated")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args()

    library = str(args.build / "lib/libopenatc_runtime.so")
    report = {"machine": platform.processor() or platform.machine(), "models": []}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        report["peak_gflops_core"] = peak_gflops(work)
        if not args.json:
            print(f"peak of a core: {report['peak_gflops_core']:.0f} GFLOP/s")
            print(f"{'model':20} thr  ours ms   ORT ms  ratio  limit   error  load ms (ORT)  compile s    MB")
        # All compilation comes first: a child's peak memory starts at its
        # parent's, which is still small.
        compiled = {model: compile_model(args.build, model, work / model.stem, args.atc_flags.split())
                    for model in args.models}
        for model, (seconds, resident) in compiled.items():
            om = work / f"{model.stem}.om"
            flops = flops_of(model, args.build, om)
            for threads in map(int, args.threads.split(",")):
                row = {"model": model.stem, "gflop": flops * 1e-9, "compile_s": seconds,
                       "compile_peak_bytes": resident}
                row.update(measure(model, om, threads, args.rounds, library))
                row["share_of_limit"] = (flops * 1e-6 / row["ms"] /
                                         (report["peak_gflops_core"] * threads))
                report["models"].append(row)
                if not args.json:
                    print(f"{row['model']:20} {threads:3} {row['ms']:8.2f} {row.get('ort_ms', 0):8.2f} "
                          f"{row.get('ratio', 0):6.2f} {row['share_of_limit']:6.0%} "
                          f"{row.get('max_error_of_range', 0):7.1e} {row['load_ms']:6.1f} "
                          f"({row.get('ort_load_ms', 0):.0f}) {seconds:9.1f} {resident / 1e6:7.0f}",
                          flush=True)
            om.unlink()
    if args.json:
        json.dump(report, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
