#!/usr/bin/python3
"""What aoe gains: tunes each model for each SoC, compiles it again with the bank alone, and prints
the gains with their geometric mean.

  test/bench/tune_bench.py MODELS... --soc Ascend310P3,Ascend910B1 --batch 4 --seconds 120 [--json]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, pathlib.Path(work)

    def tool(self, name, *arguments):
        command = [str(pathlib.Path(self.options.build) / "bin" / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def shapes(self, model):
        """--input_shape for the batch: the first dim of every input."""
        self.tool("atc", f"--model={model}", "--framework=5", "--target=cpu", "--target_cpu=x86-64-v2",
                  f"--output={self.work / 'probe'}")
        file = json.loads(self.tool("om-dump", self.work / "probe.om", "--json"))
        inputs = [file["tensors"][number] for number in file["inputs"]]
        return ";".join(f"{i['name']}:{','.join(map(str, [self.options.batch, *i['dims'][1:]]))}"
                        for i in inputs)

    def cycles(self, name):
        report = self.tool("om-run", self.work / f"{name}.om", "--json", "--no-functional")
        return json.loads(report)["npu"]["cycles"]

    def row(self, model, soc):
        flags = ["--framework=5", f"--model={model}", f"--soc_version={soc}",
                 f"--input_shape={self.shapes(model)}"]
        bank = self.work / f"{model.stem}-{soc}.jsonl"
        tuned = self.work / "tuned"
        limits = [f"--tune_seconds={self.options.seconds}", f"--job_type={self.options.job_type}",
                  f"--seed={self.options.seed}"]
        if self.options.trials:
            limits.append(f"--tune_trials={self.options.trials}")
        self.tool("aoe", *flags, f"--output={tuned}", f"--bank={bank}", *limits)
        report = json.loads((self.work / "tuned_aoe.json").read_text())
        self.tool("atc", *flags, f"--output={self.work / 'again'}", f"--mdl_bank_path={bank}",
                  f"--op_bank_path={bank}")
        return {"model": model.stem, "soc": soc, "batch": self.options.batch,
                "before_ms": report["before_ms"], "after_ms": report["after_ms"],
                "gain": report["gain"], "trials": report["trials"],
                "seconds": round(report["seconds"]),
                "reproduced": self.cycles("again") == self.cycles("tuned")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--soc", default="Ascend310P3,Ascend910B1")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=120, help="per model and SoC")
    parser.add_argument("--trials", type=int, default=0, help="0: any number")
    parser.add_argument("--job-type", default="1,2")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        for soc in options.soc.split(","):
            for model in options.models:
                row = bench.row(model, soc)
                rows.append(row)
                if not options.json:
                    print(f"{row['model']:20} {soc:12} batch {row['batch']}  "
                          f"{row['before_ms']:8.4f} ms -> {row['after_ms']:8.4f} ms  "
                          f"{row['gain']:.3f} x  {row['trials']} trials, {row['seconds']} s  "
                          f"{'same with the bank' if row['reproduced'] else 'NOT REPRODUCED'}",
                          flush=True)
    mean = math.exp(sum(math.log(row["gain"]) for row in rows) / len(rows))
    good = all(row["reproduced"] and row["gain"] >= 1 for row in rows)
    if options.json:
        print(json.dumps({"rows": rows, "geometric_mean_gain": mean}, indent=2))
    else:
        print(f"geometric mean gain {mean:.3f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
