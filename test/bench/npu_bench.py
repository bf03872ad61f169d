#!/usr/bin/env python3
"""Networks on the simulated NPU: answers, time against the roofline, and what each
technique of the compiler is worth.

  npu_bench.py accuracy   [--soc A,B] model.onnx ...   cosine and top-1 against f32 on the CPU,
                                                       hazards, share of MACs on the NPU
  npu_bench.py roofline   [--soc A,B] [--batch 1,4] model.onnx ...
                                                       simulated time over its lower bound
  npu_bench.py shares     [--soc A,B] [--batch 1,4] model.onnx ...
                                                       where the time goes: what is busiest in each
                                                       layer, starts of launches, and waits
  npu_bench.py whatif     [--soc A,B] [--batch 1,4] model.onnx ...
                                                       how much faster the same programs would be if
                                                       something cost nothing
  npu_bench.py techniques [--soc A] [--batch 8] model.onnx
                                                       cycles with each technique off, over all on
  npu_bench.py int8       [--soc A] [--batch 8] model.onnx model_int8.onnx
                                                       cycles of a model and of its QDQ form
  npu_bench.py matmul     [--soc A] [--size 8192]      one f16 product
  npu_bench.py speed      [--soc A] model.onnx         the simulator's and the compiler's own time
  npu_bench.py tiles      [--cases 10000]              drawn tiles, boxes and numbers of buffers: same
                                                       bits, no hazards

Needs numpy; `matmul` needs the onnx package. Times are those of the simulated machine: host
work is not in them. `--json` prints one object for each line of the table.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What `--disable_passes` leaves out to switch a technique off.
TECHNIQUES = {
    "deep fusion": ["graph-fuse-conv-add", "graph-fuse-conv-activation", "graph-fuse-elementwise",
                    "npu-fuse-epilogues", "npu-split-batch", "npu-prefetch-weights",
                    "npu-preload-weights"],
    "double buffering": ["npu-select-buffers"],
    "reordering and sync minimisation": ["npu-reorder", "npu-minimise-sync"],
    "the same, and flags beside waits": ["npu-reorder", "npu-minimise-sync", "npu-allocate-flags"],
    "cost-model tiling": ["npu-select-tiles"],
}


# What makes other launches of the layers than one each.
SCHEDULING = ["npu-split-batch", "npu-prefetch-weights", "npu-preload-weights", "npu-join-launches"]


class Bench:
    def __init__(self, options, work):
        self.build = pathlib.Path(options.build)
        self.work = pathlib.Path(work)
        self.options = options

    def tool(self, name, *arguments):
        start = time.perf_counter()
        done = subprocess.run([self.build / "bin" / name, *map(str, arguments)],
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{name} {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
        return done.stdout, time.perf_counter() - start

    def inputs(self, model):
        """Name, dims and type of each input, by the model itself."""
        file = json.loads(self.dump(self.compile(model, None, "probe")))
        return [file["tensors"][number] for number in file["inputs"]]

    def compile(self, model, soc, name, batch=None, disable=(), summary=None):
        """The .om file; `summary` takes what atc says of the compilation."""
        flags = [f"--json={self.work / 'atc.json'}",
                 f"--model={model}", "--framework=5", f"--output={self.work / name}"]
        flags += [f"--soc_version={soc}"] if soc else ["--target=cpu"]
        if batch:
            flags.append("--input_shape=" + ";".join(
                f"{i['name']}:{','.join(map(str, [batch, *i['dims'][1:]]))}"
                for i in self.inputs(model)))
        if disable:
            flags.append("--disable_passes=" + ",".join(disable))
        self.tool("atc", *flags)
        if summary is not None:
            summary.update(json.loads((self.work / "atc.json").read_text()))
        return self.work / f"{name}.om"

    def dump(self, om):
        return self.tool("om-dump", om, "--json")[0]

    def cycles_on(self, om, soc, changes):
        """The cycles of the same programs on a table with other values."""
        table = self.work / "table.soc"
        table.write_text("\n".join([f"base = {soc}", *(f"{key} = {value}" for key, value in changes.items())]) + "\n")
        return self.run(om, "--no-functional", "--soc-file", table)[0]["npu"]["cycles"]

    def run(self, om, *flags):
        text, seconds = self.tool("om-run", om, "--json", *flags)
        return json.loads(text), seconds

    def layers(self, model, soc, batch):
        """The launches of the NPU, each layer by itself on the whole batch."""
        om = self.compile(model, soc, "layers", batch, SCHEDULING)
        schedule = json.loads(self.dump(om))["schedule"]
        om.unlink()
        return [step for step in schedule if step["kind"] == "npu_launch"]

    def simulate(self, model, soc, batch, disable=()):
        om = self.compile(model, soc, "npu", batch, disable)
        npu = self.run(om, "--no-functional")[0]["npu"]
        om.unlink()
        return npu


def describe(npu, soc, model, batch):
    return {"model": model, "soc": soc, "batch": batch, "ms": npu["ms"], "cycles": npu["cycles"],
            "fps": 1e3 * batch / npu["ms"], "cube": npu["cube_utilisation"],
            "bound_ms": npu["bound"]["ms"], "bound_by": npu["bound"]["what"],
            "times_bound": npu["times_bound"], "macs_on_npu": npu["macs_share"]}


def accuracy(bench, options):
    for model in options.models:
        inputs = bench.inputs(model)
        files = []
        random = np.random.default_rng(7)
        for number, tensor in enumerate(inputs):
            if tensor["dtype"].startswith(("i", "u")):  # token ids, masks
                data = random.integers(0, 2 if "mask" in tensor["name"] else 1000, tensor["dims"])
            else:
                data = random.standard_normal(tensor["dims"])
            dtype = {"f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "u8": "u1"}[tensor["dtype"]]
            path = bench.work / f"in{number}.npy"
            np.save(path, data.astype(dtype))
            files.append(str(path))
        answers = {}
        for soc in [None, *options.soc.split(",")]:
            om = bench.compile(model, soc, "accuracy")
            folder = bench.work / "out"
            flags = ["--check-hazards"] if soc else []
            result, _ = bench.run(om, "--input", ",".join(files), "--output", folder, *flags)
            arrays = {p.stem: np.load(p).astype("f8").ravel() for p in sorted(folder.glob("*.npy"))}
            om.unlink()
            if not soc:
                answers = arrays
                continue
            cosine = min(float(a @ arrays[n] / (np.linalg.norm(a) * np.linalg.norm(arrays[n])))
                         for n, a in answers.items())
            yield {"model": pathlib.Path(model).stem, "soc": soc, "cosine": cosine,
                   "same_top1": all(a.argmax() == arrays[n].argmax() for n, a in answers.items()),
                   "hazards": 0, "macs_on_npu": result["npu"]["macs_share"]}


def roofline(bench, options):
    for model in options.models:
        for soc in options.soc.split(","):
            for batch in map(int, options.batch.split(",")):
                npu = bench.simulate(model, soc, batch)
                yield describe(npu, soc, pathlib.Path(model).stem, batch)


# What a use of a layer's report counts as; FIX, MTE3 and UB are the way back to memory.
RESOURCES = {"cube": "cube", "vector": "vector", "L1 to L0": "l1_to_l0", "gm to L1, UB": "loads",
             "L2 read": "loads", "UB to gm, L1": "stores", "L0C to gm, L1": "stores",
             "L2 write": "stores", "DDR": "ddr"}


def shares_of(npu):
    """Shares of the time: each layer's busy time counts for what is busiest in it, the rest are
    starts of launches and waits for each other, which no layer hides."""
    cycles = dict.fromkeys(["start", *RESOURCES.values(), "waits"], 0.0)
    cycles["start"] = npu["stalls"]["start_cycles"]
    for number, layer in enumerate(npu["per_launch"]):
        what, use = max(layer["uses"].items(), key=lambda item: item[1])
        # A queue that moves what DDR delivers is as busy as DDR.
        if layer["uses"]["DDR"] >= 0.9 * use:
            what = "DDR"
        # The first layer's time has the call of the run, while weights arrive.
        own = layer["cycles"] - (0 if number else cycles["start"])
        cycles[RESOURCES[what]] += max(0.0, min(layer["cycles"] * use, own))
    cycles["waits"] = max(0.0, npu["cycles"] - sum(cycles.values()))
    return {name: count / npu["cycles"] for name, count in cycles.items()}


def table_of(soc):
    """The numbers of a built-in table."""
    lines = (ROOT / "npu" / "soc" / "tables" / f"{soc}.soc").read_text().splitlines()
    pairs = [line.split("#")[0].split("=") for line in lines if "=" in line.split("#")[0]]
    return {key.strip(): float(value) for key, value in pairs if key.strip() != "name"}


def layers_bound(layers, table, macs_per_cycle=4096):
    """Cycles that no choice of tiles, groups or launches goes below as long as layers hand their tensors on in L2: the
    call, and for each layer in turn the cube at its peak or what all cores at once read and write; or DDR for all weights.
    Of weights that are larger than L2, the rest cannot be there before their layer begins."""
    cores = table["cubeCores"]
    ddr_rate = table["ddrPeak"] * table["ddrEfficiency"] * cores
    sum_of_layers = ddr = 0
    for layer in layers:
        *read, written = layer["args"]
        # Of a table that is looked up, some rows are read.
        weights = sum(part["size"] if layer["macs"] else min(part["size"], written["size"])
                      for part in read if part["space"] == "weights")
        loaded = sum(part["size"] for part in read if part["space"] != "weights")
        ddr += weights / ddr_rate
        sum_of_layers += max(layer["macs"] / (macs_per_cycle * cores), loaded / (table["l2Read"] * cores),
                             written["size"] / (table["l2Write"] * cores),
                             (weights - table["l2Bytes"]) / ddr_rate)
    return table["runCycles"] + max(sum_of_layers, ddr)


def shares(bench, options):
    for model in options.models:
        for soc in options.soc.split(","):
            for batch in map(int, options.batch.split(",")):
                npu = bench.simulate(model, soc, batch)
                bound = layers_bound(bench.layers(model, soc, batch), table_of(soc))
                yield {"model": pathlib.Path(model).stem, "soc": soc, "batch": batch,
                       "ms": npu["ms"], "layers": len(npu["per_launch"]),
                       "times_bound": npu["times_bound"], "times_layers_bound": npu["cycles"] / bound, **shares_of(npu)}


# What would cost (nearly) nothing: the largest gain of a choice that saved all of it.
FREE = {
    "signals": {"signalLatency": 0, "crossLatency": 1},
    "latencies": {"readLatency": 1, "writeLatency": 1},
    "l2": {"l2Read": 1e4, "l2Write": 1e4, "gmToL1": 4096, "gmToUb": 4096, "ubToGm": 4096, "l0cToGm": 4096, "l0cToGmRun": 0},
    "ddr": {"ddrPeak": 1e4},
    "l1_to_l0": {"l1ToL0a": 2048, "l1ToL0b": 1024, "img2col": 1024},
}


def whatif(bench, options):
    for model in options.models:
        for soc in options.soc.split(","):
            own = table_of(soc)
            for batch in map(int, options.batch.split(",")):
                om = bench.compile(model, soc, "whatif", batch)
                now = bench.cycles_on(om, soc, {})
                row = {"model": pathlib.Path(model).stem, "soc": soc, "batch": batch, "cycles": now}
                for what, changes in FREE.items():
                    # Where cores of both kinds do not signal each other, they still do not.
                    changes = {key: value for key, value in changes.items() if key != "crossLatency" or own[key]}
                    row[what] = now / bench.cycles_on(om, soc, changes)
                om.unlink()
                yield row


def techniques(bench, options):
    soc, batch, model = options.soc.split(",")[0], int(options.batch.split(",")[0]), options.models[0]
    on = bench.simulate(model, soc, batch)["cycles"]
    everything = sorted({p for passes in TECHNIQUES.values() for p in passes})
    for name, passes in {**TECHNIQUES, "all of them": everything}.items():
        off = bench.simulate(model, soc, batch, passes)["cycles"]
        yield {"technique": name, "off": off, "on": on, "off_over_on": off / on}


def matmul(bench, options):
    from onnx import TensorProto, helper, save
    size, soc = options.size, options.soc.split(",")[0]
    matrix = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT16, [size, size])
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"])], "matmul",
                              [matrix("a"), matrix("b")], [matrix("c")])
    model = bench.work / "matmul.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), model)
    om = bench.compile(model, soc, "matmul")
    yield describe(bench.run(om, "--no-functional")[0]["npu"], soc, f"matmul {size}", 1)


def int8(bench, options):
    model, quantized = options.models
    soc, batch = options.soc.split(",")[0], int(options.batch.split(",")[0])
    before, after = (bench.simulate(path, soc, batch) for path in (model, quantized))
    yield {"model": pathlib.Path(model).stem, "soc": soc, "batch": batch,
           "f16_cycles": before["cycles"], "int8_cycles": after["cycles"],
           "times_faster": before["cycles"] / after["cycles"], "macs_on_npu": after["macs_share"]}


def speed(bench, options):
    for model in options.models:
        summary = {}
        om = bench.compile(model, options.soc.split(",")[0], "speed",
                           batch=int(options.batch.split(",")[0]), summary=summary)
        sizes = json.loads(bench.dump(om))
        timed = min(bench.run(om, "--no-functional")[1] for _ in range(2))
        full = min(bench.run(om)[1] for _ in range(2))
        yield {"model": pathlib.Path(model).stem, "compile_s": summary["seconds"], "run_s": full,
               "timed_only_s": timed,
               "program_bytes": sum(s["size"] for s in sizes["segments"] if s["kind"] == "npu"),
               "arena_over_intermediates": summary["arena_bytes"] / summary["intermediate_bytes"]}


def tiles(bench, options):
    done = subprocess.run([bench.build / "bin" / "npu-random-tiles-test"], capture_output=True, text=True,
                          env=os.environ | {"NPU_TILES_CASES": str(options.cases)})
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    yield json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = {f.__name__: f for f in (accuracy, roofline, shares, whatif, techniques, int8, matmul, speed, tiles)}
    parser.add_argument("job", choices=jobs)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--soc", default="Ascend310P3")
    parser.add_argument("--batch", default="1")
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--build", default=os.environ.get("OPENATC_BUILD_DIR", ROOT / "build"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as work:
        heads = None
        for row in jobs[options.job](Bench(options, work), options):
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            if heads is None:
                heads = list(row)
                print("  ".join(f"{h:>16}" for h in heads))
            print("  ".join(f"{v:>16.4f}" if isinstance(v, float) else f"{str(v):>16}"
                            for v in row.values()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
