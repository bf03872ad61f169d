#!/usr/bin/python3
"""Compares simulated times with published measurements of silicon.

  validate.py                      every point: published, simulated, ratio; then means per SoC
  validate.py --json               the same as one JSON object
  validate.py --write PAGE         writes the tables into the page (docs/npu-validation.md)
  validate.py --sensitivity        what halving and doubling each constant without a source does
  validate.py --fit                searches runCycles and chainCycles on the fitted half of the points
  validate.py --max-batch 4        --sensitivity and --fit on points up to this batch, which is quicker
  validate.py --own                also the times with the parts of the batch of this compiler
  validate.py --only TEXT          points whose network, SoC or batch ("resnet18 Ascend310P3 4") has it

The points are networks.json (images per second of a whole network) and those of npu-ladder (kernels
that are written in the npu dialect). Networks are compiled with each layer on the whole batch, as the
published programs presumably were, and without the passes of this compiler that split it, load weights
ahead and join launches. Files are kept in --work for the next call.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import itertools
import json
import math
import pathlib
import subprocess
import tempfile

import networks

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
# The constants of the 310P3's table that no document or measurement of the part itself supports.
UNSOURCED = {"ddrEfficiency": 0.82, "gmToL1": 128, "gmToUb": 128, "mmadStart": 3, "mmadLatency": 30,
             "vectorStart": 2, "vectorLatency": 28, "mte1Start": 4, "mte1Latency": 20, "gmStart": 8,
             "scalarIssue": 1, "scalarLoop": 4, "flagLatency": 4, "runCycles": 106000,
             "launchCycles": 2120, "chainCycles": 1060}


SENSITIVITY = "### Sensitivity"


class Validation:
    def __init__(self, build, work):
        self.build, self.work = pathlib.Path(build), pathlib.Path(work)
        self.work.mkdir(parents=True, exist_ok=True)

    def tool(self, name, *arguments):
        done = subprocess.run([self.build / "bin" / name, *map(str, arguments)], capture_output=True,
                              text=True)
        if done.returncode:
            raise SystemExit(f"{name} {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def model(self, network):
        """The ONNX file of a network, which is made once."""
        path = self.work / f"{network}.onnx"
        if not path.exists():
            networks.build(network, path)
        return path

    def program(self, point, split):
        """The compiled network of a point, which is made once."""
        name = "{network}-{soc}-{batch}".format(**point) + ("-split" if split else "")
        om, model = self.work / f"{name}.om", self.model(point["network"])
        if not om.exists():
            self.tool("atc", f"--model={model}", "--framework=5", f"--output={self.work / name}",
                      f"--soc_version={point['soc']}", f"--input_shape={networks.inputs(point['network'], point['batch'])}",
                      "--mdl_bank_path=none", "--op_bank_path=none",
                      *([] if split else ["--disable_passes=npu-split-batch,npu-preload-weights,npu-join-launches"]))
        return om

    def milliseconds(self, point, split=False, changes=None):
        """Time of the second run of a point's network, with changed constants if they are given."""
        flags = []
        om = self.program(point, split)
        if changes:
            text = f"base = {point['soc']}\n" + "".join(f"{k} = {v}\n" for k, v in changes.items())
            # Points are measured at the same time: each has a file of its own.
            table = om.with_suffix(".soc")
            table.write_text(text)
            flags = ["--soc-file", table]
        run = json.loads(self.tool("om-run", om, "--no-functional", "--json", "--loop", 1, "--warmup", 0,
                                   *flags))["npu"]
        return run["ms"]

    def measure(self, points, own=False, changes=None):
        def one(point):
            published = 1e3 * point["batch"] / point["images_per_second"]
            simulated = self.milliseconds(point, changes=changes)
            row = {**point, "published_ms": published, "simulated_ms": simulated,
                   "ratio": simulated / published}
            if own:
                row["own_ms"] = self.milliseconds(point, True, changes)
            return row
        for network in {point["network"] for point in points}:
            self.model(network)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(one, points))

    def kernels(self):
        rows = json.loads(self.tool("npu-ladder", "--json"))
        for row in rows:
            row["ratio"] = row["simulated_us"] / row["published_us"]
        return rows


def summary(rows):
    """Geometric mean of simulated over published, and how many points are within 15 and 25 %."""
    ratios = [row["ratio"] for row in rows]
    near = {limit: sum(1 - limit / 100 <= r <= 1 + limit / 100 for r in ratios) for limit in (15, 25)}
    return {"points": len(ratios), "geometric_mean": math.exp(sum(map(math.log, ratios)) / len(ratios)),
            "within_15": near[15], "within_25": near[25]}


def groups(rows):
    """The means of each SoC and half, by name; transformers are apart."""
    result = {}
    for row in rows:
        names = [row["soc"], f"{row['soc']}, {row['half']}"]
        if row["network"] in networks.TRANSFORMERS:
            names = [f"{row['soc']}, transformers"]
        for name in names:
            result.setdefault(name, []).append(row)
    return {name: summary(part) for name, part in sorted(result.items())}


def sensitivity(validation, points, max_batch):
    """The means with each constant halved and doubled; programs stay as they are. Transformers are
    apart, as in the means."""
    points = [p for p in points if p["soc"] == "Ascend310P3" and p["batch"] <= max_batch and
              p["network"] not in networks.TRANSFORMERS]
    yield {"constant": "as it is", "times": 1, **summary(validation.measure(points))}
    for (key, value), times in itertools.product(UNSOURCED.items(), (0.5, 2)):
        changed = min(1, value * times) if key == "ddrEfficiency" else value * times
        changed = changed if key == "ddrEfficiency" or key.startswith("gmTo") else round(changed)
        rows = validation.measure(points, changes={key: changed})
        yield {"constant": f"{key} {value:g}", "times": times, **summary(rows)}


def fit(validation, points, max_batch):
    """Errors of the fitted half for choices of the costs of a run and of a launch, the best first."""
    points = [p for p in points if p["soc"] == "Ascend310P3" and p["half"] == "fitted"
              and p["batch"] <= max_batch]
    for run, chain in itertools.product((40, 60, 80, 100, 120), (0.5, 1, 1.5, 2, 3)):
        rows = validation.measure(points, changes={
            "runCycles": round(run * 1060), "chainCycles": round(chain * 1060)})
        error = sum(math.log(row["ratio"]) ** 2 for row in rows) / len(rows)
        yield {"run_us": run, "chain_us": chain, "rms_of_logarithm": error ** 0.5, **summary(rows)}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def tables(result):
    """The result as lines of Markdown."""
    lines = ["", "### Means", ""]
    lines += table(["points", "number", "geometric mean", "within 15 %", "within 25 %"], [
        [name, str(s["points"]), f"{s['geometric_mean']:.2f}", str(s["within_15"]), str(s["within_25"])]
        for name, s in result["means"].items()])
    lines += ["", "### Kernels on Ascend910B1", ""]
    lines += table(["series", "step", "published us", "simulated us", "ratio"], [
        [k["ladder"], k["step"], f"{k['published_us']:g}", f"{k['simulated_us']:.1f}", f"{k['ratio']:.2f}"]
        for k in result["kernels"]])
    lines += ["", "Busy times of the queues at the step whose times were published:", ""]
    lines += table(["step", "queue", "published us", "simulated us", "ratio"], [
        [k["step"], queue, f"{q['published_us']:g}", f"{q['simulated_us']:.0f}",
         f"{q['simulated_us'] / q['published_us']:.2f}"]
        for k in result["kernels"] for queue, q in k["queues"].items()])
    own = "own_ms" in result["networks"][0]
    for title, is_transformer in (("Networks", False), ("Transformers", True)):
        lines += ["", f"### {title}", ""]
        lines += table(["SoC", "network", "batch", "half", "published ms", "simulated ms", "ratio",
                        *(["own ms"] if own else [])], [
            [n["soc"], n["network"], str(n["batch"]), n["half"], f"{n['published_ms']:.3f}",
             f"{n['simulated_ms']:.3f}", f"{n['ratio']:.2f}",
             *([f"{n['own_ms']:.3f}"] if own else [])]
            for n in result["networks"] if (n["network"] in networks.TRANSFORMERS) == is_transformer])
    if "sensitivity" in result:
        lines += ["", SENSITIVITY, ""]
        lines += table(["constant", "times", "geometric mean", "within 25 %"], [
            [s["constant"], f"{s['times']:g}", f"{s['geometric_mean']:.3f}",
             f"{s['within_25']} of {s['points']}"] for s in result["sensitivity"]])
    return lines + [""]


def write(page, lines):
    """Replaces what lies between the marks of a page; a sensitivity table that was not measured
    again stays."""
    text = pathlib.Path(page).read_text()
    begin, end = "<!-- validate.py begin -->\n", "<!-- validate.py end -->"
    head, rest = text.split(begin)
    old, tail = rest.split(end)
    _, heading, table = old.partition(SENSITIVITY + "\n")
    if heading and SENSITIVITY not in lines:
        lines = lines + [SENSITIVITY, *table.split("\n")]
    pathlib.Path(page).write_text(head + begin + "\n".join(lines) + end + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--work", default=pathlib.Path(tempfile.gettempdir()) / "openatc-silicon")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write")
    parser.add_argument("--sensitivity", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--max-batch", type=int, default=1 << 30)
    options = parser.parse_args()
    validation = Validation(options.build, options.work)
    points = [p for p in json.loads((HERE / "networks.json").read_text())
              if options.only in "{network} {soc} {batch}".format(**p)]
    if options.fit:
        for row in sorted(fit(validation, points, options.max_batch), key=lambda row: row["rms_of_logarithm"]):
            print(json.dumps(row))
        return
    rows, kernels = validation.measure(points, options.own), validation.kernels()
    result = {"networks": rows, "kernels": kernels,
              "means": {**groups(rows), "Ascend910B1, kernels": summary(kernels)}}
    if options.sensitivity:
        result["sensitivity"] = list(
            sensitivity(validation, points, options.max_batch))
    if options.write:
        write(options.write, tables(result))
    elif options.json:
        print(json.dumps(result, indent=1))
    else:
        print("\n".join(tables(result)))


if __name__ == "__main__":
    main()
