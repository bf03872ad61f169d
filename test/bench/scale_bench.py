#!/usr/bin/env python3
"""Time and memory of atc on models of growing size.

  scale_bench.py [--sizes 1000,10000,100000] [--timeout 120] [--flags="--target=cpu"] [--json]
                 [model ...]

Models (test/common/scale_models.py, scale_shapes.py): chains of elementwise or varied operators, many
inputs or outputs, calls of functions, nested Ifs and Loops, huge constants, values with many users,
chains of operators that move elements, long lists and names; without names all of them. Sizes of
those that nest or double are levels, of those that fill a constant the logarithm of its elements.
A line for each size: processor seconds, the largest resident size and the outcome; `growth` is the
seconds over those of the size before, per factor of the sizes: 1 is linear, 10 (of tenfold sizes)
quadratic. Time below 0.05 s counts as that. Needs numpy and onnx; TensorFlow models need protoc.
`--json` prints one object per line."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import scale_models
from openatc_tools import tool

# What grows by levels or by doubling has sizes of its own.
SIZES = {"bomb": [8, 12, 16, 30], "tf_bomb": [8, 12, 16, 30], "call_depth": [10, 100, 1000],
         "ifs": [10, 100, 1000], "both": [6, 10, 14], "both_static": [6, 10, 14], "both_varied": [6, 10, 14], "loops": [5, 10, 20, 100, 1000],
         "loop_bomb": [2, 4, 8, 16, 30],
         "fill": [20, 26, 33], "ranges": [16, 24, 33]}


def outcome_of(status, text):
    """One word, or the coded line that atc ended with."""
    if status == 0:
        return "compiled"
    if status == -signal.SIGKILL:
        return "timeout"
    coded = [line for line in text.splitlines() if line[:1] == "E" and line[6:7] == ":"]
    if status == 1 and coded:
        return coded[0][:100]
    return f"CRASH {status}: {text[-200:]!r}"


def run(command, timeout, cwd=None):
    """Seconds of the processor, which do not depend on what else the machine does, peak resident
    bytes, exit status and output of a command, killed after `timeout` seconds."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=cwd)
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, process.returncode,
                out.read())


def generate(name, size, folder):
    """Path of the model and flags for it. Another process makes it: a child's peak is never below
    what its parent had when it began."""
    return subprocess.run([sys.executable, scale_models.__file__, name, str(size), folder],
                          check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--sizes", help="for all models, instead of those that suit each")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--flags", default="--target=cpu", help="more flags of atc")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    known = {**scale_models.MODELS, **scale_models.TF_MODELS}
    for name in options.models:
        if name not in known:
            parser.error(f"no model {name}; there are {', '.join(known)}")
    if not options.json:
        print(f"{'model':<15} {'size':>7} {'seconds':>8} {'peak MB':>8} {'growth':>7}  outcome")
    for name in options.models or known:
        sizes = ([int(size) for size in options.sizes.split(",")] if options.sizes
                 else SIZES.get(name, [1000, 10000, 100000]))
        before = None
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                path, *flags = generate(name, size, folder)
                seconds, peak, status, text = run(
                    [tool("atc"), f"--model={path}", f"--output={folder}/out", *flags,
                     *options.flags.split()], options.timeout)
                left = sorted(set(os.listdir(folder)) - {os.path.basename(path), "out.om"})
            outcome = outcome_of(status, text)
            if left:
                outcome += f"; left {left}"
            row = {"model": name, "size": size, "seconds": round(seconds, 3), "peak_bytes": peak,
                   "outcome": outcome}
            if before and outcome == "compiled":
                row["growth"] = round(max(seconds, 0.05) / before[1] / (size / before[0]), 3)
            before = (size, max(seconds, 0.05)) if outcome == "compiled" else None
            if options.json:
                print(json.dumps(row), flush=True)
            else:
                growth = f"{row['growth']:7.2f}" if "growth" in row else " " * 7
                print(f"{name:<15} {size:>7} {seconds:8.2f} {peak / 1e6:8.0f} {growth}  {outcome}",
                      flush=True)
            if outcome == "timeout":
                break


if __name__ == "__main__":
    main()
