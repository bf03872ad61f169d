#!/usr/bin/env python3
"""Latency side by side with ONNX Runtime and OpenVINO, interleaved in one run.

  bench.py [--threads 1,2] [--rounds 15] [--clock wall|processor] [--statistic median|min]
           [--level LEVEL] [--process] [--json] model.onnx ...

Run it with a Python that has numpy, onnxruntime and openvino (a virtual environment:
`python3 -m venv rivals && rivals/bin/pip install numpy onnxruntime openvino`); a rival that is not
installed has no column. Every round measures all of them on the same data, one after the other; the
figures are medians over the rounds (`--statistic min`: their minima, on a machine that is never
idle) and a ratio is the rival's time over ours (above 1: we are
faster). The share of the limit is the achieved rate over the measured peak of the core times the
threads. `--clock processor` counts the time of the process on all processors instead, which other
programs on the machine disturb less: use it with one thread, as idle threads of a rival may spin.
`--level` compiles ours for a lower level than that of the machine (x86-64-v4-vnni: as Cascade Lake)
and hides what that level does not have from the rivals, which select their code by CPUID.
`--process` adds what a process of its own shows: the time of om-run from start to exit with one run
and all hashes checked, and the peak resident memory that loading and one run add to an interpreter
that has already loaded the library.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import ctypes
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))
import levels
from openatc_runtime import Session, aligned

ROOT = pathlib.Path(__file__).resolve().parents[2]


def peak_meter(work, level=None):
    """Returns a function that measures the peak of one core in GFLOP/s, by a loop of register-only FMAs of `level`."""
    library = work / "peak.so"
    machine = level.removesuffix("-vnni") if level else "native"
    subprocess.run(["clang-22", "-O3", f"-march={machine}", "-mprefer-vector-width=512",
                    "-ffp-contract=fast", "-shared", "-fPIC",
                    ROOT / "test/bench/peak.c", "-o", library], check=True)
    function = ctypes.CDLL(str(library)).peak_gflops
    function.restype = ctypes.c_double
    return lambda: function(15)


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


class OpenVino:
    def __init__(self, model, threads, feeds):
        import openvino
        core = openvino.Core()
        # Its default may be a precision below that of the model.
        options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": "1",
                   "INFERENCE_PRECISION_HINT": "f32"}
        start = time.perf_counter()
        self.request = core.compile_model(str(model), "CPU", options).create_infer_request()
        self.load_ms = 1e3 * (time.perf_counter() - start)
        self.feeds = dict(enumerate(feeds))
        self.version = openvino.__version__

    def run(self):
        return list(self.request.infer(self.feeds).values())


# The key of a rival in the report, and its name in the table.
RIVALS = {"ort": ("ORT", OnnxRuntime), "openvino": ("OV", OpenVino)}


def peak_resident():
    """Returns the peak resident bytes of this process."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def run_alone(key, model, threads, library, feeds):
    """Prints the bytes by which loading `model` and one run raise the peak of this process."""
    feeds = [array for _, array in sorted(np.load(feeds).items())]
    if key == "ours":
        ctypes.CDLL(library)
        # The inputs are the caller's, and there before the model is, as they are for the rivals.
        placed = [aligned(array.shape, array.dtype) for array in feeds]
        for array, value in zip(placed, feeds):
            array[...] = value
        before = peak_resident()
        runner = Session(library, model, threads)
        runner.use_inputs(placed)
    else:
        __import__({"ort": "onnxruntime"}.get(key, key))
        before = peak_resident()
        runner = RIVALS[key][1](model, threads, feeds)
    runner.run()
    print(peak_resident() - before)


def measure_processes(model, om, threads, rivals, feeds, build, work):
    """Returns the figures that need a process of their own."""
    def first_answer():
        subprocess.run([build / "bin/om-run", om, f"--threads={threads}"], check=True,
                       stdout=subprocess.DEVNULL)

    stored = work / "feeds.npz"
    np.savez(stored, **{f"{i:04}": array for i, array in enumerate(feeds)})
    row = {"first_answer_ms": min(timed(first_answer) for _ in range(7))}
    for key in ("ours", *rivals):
        command = [sys.executable, __file__, "--alone", key, "--build", build, "--threads",
                   str(threads), om if key == "ours" else model, stored]
        text = subprocess.run(command, check=True, capture_output=True, text=True,
                              env=levels.restricted).stdout
        row["peak_bytes" if key == "ours" else f"{key}_peak_bytes"] = int(text.split()[-1])
    stored.unlink()
    return row


def timed(function, clock=time.perf_counter):
    start = clock()
    function()
    return 1e3 * (clock() - start)


def installed_rivals(model, threads, feeds):
    """Returns the rivals that are installed and take the model."""
    rivals = {}
    for key, (name, rival) in RIVALS.items():
        try:
            rivals[key] = rival(model, threads, feeds)
        except ImportError:
            pass
        except RuntimeError as error:
            print(f"{name} does not take {model}: {str(error).splitlines()[0]}", file=sys.stderr)
    return rivals


def measure(model, om, threads, rounds, library, clock=time.perf_counter,
            statistic=statistics.median):
    start = time.perf_counter()
    ours = Session(library, om, threads)
    load_ms = 1e3 * (time.perf_counter() - start)
    rng = np.random.default_rng(1)
    for _, array in ours.inputs:
        array[...] = rng.standard_normal(array.shape) if array.dtype.kind == "f" else 1
    first_ms = timed(ours.run)
    row = {"threads": threads, "load_ms": load_ms, "first_run_ms": first_ms}

    rivals = installed_rivals(model, threads, [array for _, array in ours.inputs])
    for key, rival in rivals.items():
        expected = rival.run()
        error = max(float(np.abs(want - got).max() / max(float(np.ptp(want)), 1e-30))
                    for want, (_, got) in zip(expected, ours.outputs))
        row.update({f"{key}_version": rival.version, f"{key}_load_ms": rival.load_ms})
        row.setdefault("max_error_of_range", error)

    times = {key: [] for key in ("ours", *rivals)}
    # A round is a few runs, so that caches are each one's own again.
    inner = max(1, min(20, int(60 / max(first_ms, 0.1))))
    for _ in range(rounds):
        for key, runner in (*rivals.items(), ("ours", ours)):
            runner.run()
            times[key] += [timed(runner.run, clock) for _ in range(inner)]
            if runner is not ours:
                time.sleep(0.03)  # Its threads spin on for a while.
    row["ms"] = statistic(times["ours"])
    for key in rivals:
        row[f"{key}_ms"] = statistic(times[key])
        row["ratio" if key == "ort" else f"{key}_ratio"] = row[f"{key}_ms"] / row["ms"]
    row["weights_bytes"], row["arena_bytes"] = ours.info.weights_bytes, ours.info.arena_bytes
    feeds = [array.copy() for _, array in ours.inputs]
    ours.close()
    return row, list(rivals), feeds


def add_measuring_options(parser):
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--statistic", choices=("median", "min"), default="median")
    levels.add_option(parser)


def clock_and_statistic(args):
    """Returns the functions that the options of add_measuring_options name."""
    return (time.process_time if args.clock == "processor" else time.perf_counter,
            min if args.statistic == "min" else statistics.median)


def name_of_machine():
    """Returns the name that the processor gives itself."""
    names = re.findall(r"(?m)^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text())
    return names[0] if names else platform.processor() or platform.machine()


def figures_of_rivals(row):
    """Returns time and ratio of each rival, empty where it is not installed."""
    text = ""
    for key, ratio in (("ort", "ratio"), ("openvino", "openvino_ratio")):
        present = f"{key}_ms" in row
        text += f"{row[f'{key}_ms']:8.2f} {row[ratio]:6.2f} " if present else f"{'-':>8} {'-':>6} "
    return text


def figures_of_processes(row):
    """Returns the first answer and the peaks of memory, empty where they were not measured."""
    if "peak_bytes" not in row:
        return ""
    peaks = [row.get(key, 0) / 1e6 for key in ("peak_bytes", "ort_peak_bytes", "openvino_peak_bytes")]
    return f" {row['first_answer_ms']:9.1f} {peaks[0]:8.0f} ({peaks[1]:.0f}, {peaks[2]:.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--threads", default="1,2", help="thread counts, comma-separated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--atc-flags", default="", help="more flags for atc, space-separated")
    add_measuring_options(parser)
    parser.add_argument("--process", action="store_true",
                        help="also the first answer of a new process, and peak memory")
    parser.add_argument("--alone", choices=("ours", *RIVALS), help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args()

    if args.alone:
        model, feeds = args.models
        return run_alone(args.alone, model, int(args.threads),
                         str(args.build / "lib/libopenatc_runtime.so"), feeds)
    levels.enter(args.level)
    flags = [*args.atc_flags.split(), *levels.atc_flags(args.level)]
    measuring = clock_and_statistic(args)
    library = str(args.build / "lib/libopenatc_runtime.so")
    report = {"machine": name_of_machine(), "level": args.level, "models": []}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        measured_peak = peak_meter(work, args.level)
        report["peak_gflops_core"] = measured_peak()
        if not args.json:
            print(f"peak of a core: {report['peak_gflops_core']:.0f} GFLOP/s")
            print(f"{'model':20} thr  ours ms   ORT ms  ratio    OV ms  ratio  limit   error  load ms (ORT)  compile s    MB"
                  + ("  first ms  peak MB (ORT, OV)" if args.process else ""))
        # All compilation comes first: a child's peak memory starts at its
        # parent's, which is still small.
        compiled = {model: compile_model(args.build, model, work / model.stem, flags)
                    for model in args.models}
        for model, (seconds, resident) in compiled.items():
            om = work / f"{model.stem}.om"
            peak = measured_peak()  # Again: the machine's clock changes with what else runs on it.
            flops = flops_of(model, args.build, om)
            for threads in map(int, args.threads.split(",")):
                row = {"model": model.stem, "gflop": flops * 1e-9, "peak_gflops_core": peak, "compile_s": seconds,
                       "compile_peak_bytes": resident}
                figures, rivals, feeds = measure(model, om, threads, args.rounds, library, *measuring)
                row.update(figures)
                if args.process:
                    row.update(measure_processes(model, om, threads, rivals, feeds, args.build, work))
                row["share_of_limit"] = flops * 1e-6 / row["ms"] / (peak * threads)
                report["models"].append(row)
                if not args.json:
                    print(f"{row['model']:20} {threads:3} {row['ms']:8.2f} "
                          f"{figures_of_rivals(row)}{row['share_of_limit']:6.0%} "
                          f"{row.get('max_error_of_range', 0):7.1e} {row['load_ms']:6.1f} "
                          f"({row.get('ort_load_ms', 0):.0f}) {seconds:9.1f} {resident / 1e6:7.0f}"
                          f"{figures_of_processes(row)}", flush=True)
            om.unlink()
    if args.json:
        json.dump(report, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
