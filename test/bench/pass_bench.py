#!/usr/bin/env python3
"""Which optional pass of the NPU makes a network slower?

  pass_bench.py [--soc A] [--batch 1,4,16] [--passes a,b] [--jobs 2] model ...

Compiles each model at each batch with all passes and with each of them switched off, simulates the
times (nothing is computed) and prints every pass without which the model is faster by more than
--limit percent (1). The exit code is 1 if there is one. Files of --work are used again, so that an
interrupted call goes on; --seconds ends the call early. A model that does not take a batch is measured
as it is.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSES = ["graph-fuse-conv-add", "graph-fuse-conv-activation", "graph-fuse-elementwise",
          "graph-merge-products",
          "npu-add-on-cube", "npu-align-rows", "npu-compose-layer-norm", "npu-convert-parts", "npu-decompose", "npu-fuse-epilogues", "npu-fuse-input-quantization", "npu-select-preprocessing",
          "npu-split-batch", "npu-prefetch-weights", "npu-preload-weights", "npu-reorder", "npu-scale-queries", "npu-select-buffers",
          "npu-select-tiles", "npu-minimise-sync", "npu-allocate-flags", "npu-join-launches"]
FRAMEWORKS = {".onnx": 5, ".pb": 3, ".tflite": 6}


class Bench:
    def __init__(self, options):
        self.build, self.work, self.soc = pathlib.Path(options.build), pathlib.Path(options.work), options.soc
        self.work.mkdir(parents=True, exist_ok=True)
        self.end = time.monotonic() + options.seconds
        self.lock, self.inputs = threading.Lock(), {}

    def tool(self, name, *arguments):
        return subprocess.run([self.build / "bin" / name, *map(str, arguments)], capture_output=True,
                              text=True)

    def shapes(self, model, batch):
        """--input_shape for the batch; None where no input has one, or it cannot be told."""
        with self.lock:
            if model not in self.inputs:
                probe = self.work / (model.stem + "-probe")
                self.tool("atc", f"--model={model}", f"--framework={FRAMEWORKS[model.suffix]}",
                          f"--output={probe}", f"--soc_version={self.soc}")
                dump = self.tool("om-dump", f"{probe}.om", "--json")
                file = json.loads(dump.stdout) if dump.returncode == 0 else {"inputs": [], "tensors": []}
                self.inputs[model] = [file["tensors"][number] for number in file["inputs"]]
        inputs = self.inputs[model]
        if not inputs or any(not i["dims"] for i in inputs):
            return None
        dims = [[batch, *(d if d > 0 else 1 for d in i["dims"][1:])] for i in inputs]
        return ";".join(f"{i['name']}:{','.join(map(str, d))}" for i, d in zip(inputs, dims))

    def cycles(self, model, batch, disabled):
        """Simulated cycles, or None where the model cannot be compiled so or time is up."""
        key = hashlib.sha1(f"{model.resolve()} {batch} {self.soc} {disabled}".encode()).hexdigest()[:16]
        kept = self.work / f"{key}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        if time.monotonic() > self.end:
            return None
        shapes = self.shapes(model, batch)
        if batch > 1 and not shapes:
            return None
        done = self.tool("atc", f"--model={model}", f"--framework={FRAMEWORKS[model.suffix]}",
                         f"--output={self.work / key}", f"--soc_version={self.soc}",
                         *([f"--input_shape={shapes}"] if shapes else []),
                         *([f"--disable_passes={disabled}"] if disabled else []))
        cycles = None
        if done.returncode == 0:
            run = self.tool("om-run", self.work / f"{key}.om", "--no-functional", "--json",
                            "--loop", 1, "--warmup", 0)
            if run.returncode == 0:
                cycles = json.loads(run.stdout)["npu"]["cycles"]
        (self.work / f"{key}.om").unlink(missing_ok=True)
        kept.write_text(json.dumps(cycles))
        return cycles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--soc", default="Ascend310P3")
    parser.add_argument("--batch", default="1,4,16")
    parser.add_argument("--passes", default=",".join(PASSES))
    parser.add_argument("--limit", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--work", default=pathlib.Path(tempfile.gettempdir()) / "openatc-passes")
    parser.add_argument("--json", action="store_true", help="one JSON object per model, batch and pass")
    options = parser.parse_args()
    bench = Bench(options)
    passes = options.passes.split(",")
    points = [(m, b, p) for m in options.models for b in map(int, options.batch.split(","))
              for p in ["", *passes]]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cycles = dict(zip(points, pool.map(lambda point: bench.cycles(*point), points)))
    slower, measured = 0, 0
    for (model, batch, off), without in cycles.items():
        base = cycles[model, batch, ""]
        if not off or not base or not without:
            continue
        measured += 1
        gain = 100 * (base / without - 1)
        slower += gain > options.limit
        row = {"model": model.stem, "soc": options.soc, "batch": batch, "pass": off, "cycles": base,
               "cycles_without": without, "percent_faster_without": round(gain, 2)}
        if options.json:
            print(json.dumps(row))
        elif gain > options.limit:
            print(f"{model.stem:28} batch {batch:<3} {off:30} {gain:6.1f} % faster without it")
    if not options.json:
        left = sum(not v for v in cycles.values())
        print(f"{measured} comparisons, {slower} slower by more than {options.limit:g} %; {left} of {len(points)} "
              "points were not measured")
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
