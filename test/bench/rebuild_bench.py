#!/usr/bin/env python3
"""Time of the build after a change of a source, without a cache of compiled sources.

  rebuild_bench.py [--build build] [--jobs 2] [--json] [file ...]

Without files: each family of graph ops (dialects/graph/ops/*Ops.td). In a `.td` file the first
summary changes, so that its generated headers do; of any other file only the time stamp. The file
is as before afterwards, and the build is brought up to date in front of each file. A line per
file: seconds of the clock, seconds of the processors and edges that were built."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(options, environment):
    """Returns how many edges were built."""
    done = subprocess.run(["ninja", "-C", options.build, f"-j{options.jobs}"], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout)
    edges = re.findall(r"^\[(\d+)/\d+\]", done.stdout, re.MULTILINE)
    return int(edges[-1]) if edges else 0


def measure(path, options):
    build(options, None)
    original = path.read_bytes()
    changed = original
    if path.suffix == ".td":
        word = b'let summary = "'
        changed = original.replace(word, word + b"Changed: ", 1)
    path.write_bytes(changed)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        edges = build(options, {**os.environ, "CCACHE_DISABLE": "1"})
    finally:
        path.write_bytes(original)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"file": str(path.relative_to(ROOT)), "seconds": time.perf_counter() - start,
            "processor_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "edges": edges}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="a line of JSON per file")
    options = parser.parse_args()
    files = options.files or sorted((ROOT / "dialects/graph/ops").glob("*Ops.td"))
    if not options.json:
        print(f"{'file':<40} {'seconds':>8} {'processor':>9} {'edges':>6}")
    for path in files:
        row = measure(path.resolve(), options)
        if options.json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{row['file']:<40} {row['seconds']:8.1f} {row['processor_seconds']:9.1f} "
                  f"{row['edges']:6}", flush=True)
    build(options, None)


if __name__ == "__main__":
    main()
