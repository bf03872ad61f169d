#!/usr/bin/python3
"""Measures that --target=auto is never slower than the better of the two targets.

  test/models/measure_auto_target.py [MODELS...] [--soc Ascend310P3,Ascend910B1] [--placement_cpu modelled|measured] [--json]

Without MODELS: 20 networks made from a seed, from convolutional ones over transformers and recurrent ones to chains of
small maps, of which some belong on the NPU, some on the CPU, and some on both. Each is compiled for the NPU, for the CPU
and with --target=auto. By the modelled times of the CPU the three are compared as atc states them. With
--placement_cpu=measured the times of the CPU are those of om-run on this machine, in turn: of the model as a whole, and of
the host's kernels of a model on the NPU, with switches and copies as atc charges them; a clock varies, so that 5 % and
20 us are no difference. Returns 1 where auto is slower.

Needs the onnx package. The tools are those of build/bin, or of $OPENATC_BUILD_DIR.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np
from onnx import TensorProto

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "common"), str(ROOT / "examples" / "models")]
from make import Graph  # noqa: E402
from openatc_tools import call, tool  # noqa: E402


class Network(Graph):
    """A network from x to y, whose shape is known last; each method returns the name of its result."""

    def conv(self, x, channels, filters, kernel=3, stride=1, groups=1):
        y = self.node("Conv", x, self.random(filters, channels // groups, kernel, kernel), strides=[stride] * 2,
                      pads=[kernel // 2] * 4, group=groups)
        return self.node("Relu", y)

    def dense(self, x, rows, columns):
        return self.node("MatMul", x, self.random(rows, columns))

    def lstm(self, x, width, hidden):
        y = self.node("LSTM", x, self.random(1, 4 * hidden, width), self.random(1, 4 * hidden, hidden), hidden_size=hidden)
        return self.node("Squeeze", y, self.constant(np.array([1])))

    def save(self, path, shape):
        self.inputs["x"] = (TensorProto.FLOAT, shape)
        self.nodes[-1].output[0] = "y"
        self.write(path, "y")
        return path


def convolutional(n, channels, size, depth, groups=1):
    x = n.conv("x", 3, channels, stride=2)
    for _ in range(depth):
        x = n.node("Add", x, n.conv(n.conv(x, channels, channels, groups=groups), channels, channels, kernel=1))
    n.dense(n.node("Flatten", n.node("GlobalAveragePool", x)), channels, 100)
    return [1, 3, size, size]


def transformer(n, tokens, width, layers):
    x = "x"
    for _ in range(layers):
        q, k, v = (n.dense(x, width, width) for _ in range(3))
        scores = n.node("Softmax", n.node("MatMul", q, n.node("Transpose", k, perm=[0, 2, 1])), axis=-1)
        x = n.node("Add", x, n.dense(n.node("MatMul", scores, v), width, width))
        x = n.node("Add", x, n.dense(n.node("Relu", n.dense(x, width, 4 * width)), 4 * width, width))
    n.node("Relu", x)
    return [1, tokens, width]


def perceptron(n, width, layers):
    x = "x"
    for _ in range(layers):
        x = n.node("Relu", n.dense(x, width, width))
    return [1, width]


def recurrent(n, steps, hidden, layers):
    x = "x"
    for _ in range(layers):
        x = n.lstm(x, hidden, hidden)
    n.node("LeakyRelu", x)
    return [steps, 1, hidden]


def mixed(n, channels, size, layers):
    """Convolutions for the NPU, and layers behind them that are small."""
    x = n.conv(n.conv("x", 3, channels), channels, channels)
    x = n.node("Transpose", n.node("GlobalAveragePool", x), perm=[1, 0, 2, 3])
    x = n.node("Reshape", x, n.constant(np.array([channels, 1, 1])))
    width = 1
    for _ in range(layers):
        x = n.node("LeakyRelu", n.lstm(x, width, 32))
        width = 32
    return [1, 3, size, size]


def maps(n, size, depth):
    x = "x"
    for i in range(depth):
        x = n.node(("Tanh", "Sigmoid", "Abs", "Neg")[i % 4], x)
    return [1, size]


NETWORKS = {
    "conv-tiny": (convolutional, 16, 32, 2), "conv-small": (convolutional, 32, 64, 4),
    "conv-medium": (convolutional, 64, 112, 6), "conv-large": (convolutional, 128, 112, 4),
    "conv-wide": (convolutional, 256, 56, 2), "conv-depthwise": (convolutional, 96, 96, 5, 96),
    "transformer-tiny": (transformer, 16, 64, 1), "transformer-small": (transformer, 64, 128, 2),
    "transformer-medium": (transformer, 128, 256, 3), "transformer-wide": (transformer, 64, 768, 1),
    "perceptron-tiny": (perceptron, 64, 3), "perceptron-small": (perceptron, 256, 6),
    "perceptron-large": (perceptron, 2048, 4), "lstm-small": (recurrent, 8, 32, 1),
    "lstm-deep": (recurrent, 16, 64, 3), "mixed-small": (mixed, 32, 28, 1),
    "mixed-large": (mixed, 128, 56, 2), "maps-small": (maps, 1000, 6),
    "maps-large": (maps, 2000000, 4), "maps-deep": (maps, 65536, 24),
}


def make(folder):
    paths = []
    for name, (build, *arguments) in NETWORKS.items():
        network = Network(name)
        shape = build(network, *arguments)
        paths.append(network.save(folder / f"{name}.onnx", shape))
    return paths


def run(name, *arguments):
    code, out, err = call(tool(name), *arguments)
    if code:
        raise SystemExit(f"{name} {' '.join(map(str, arguments))}\n{out}{err}")
    return out


def compile_for(model, work, target, *flags):
    summary = work / f"{target}.json"
    run("atc", f"--model={model}", "--framework=5", f"--output={work / target}", f"--target={target}", f"--json={summary}",
        *flags)
    return json.loads(summary.read_text())


def measured_ms(work, target, switches, processors):
    """Milliseconds of a run: of the simulated NPU and of this machine's CPU, with what switches are charged."""
    flags = ["--json", "--loop", "11", "--warmup", "2", "--threads", processors]
    report = json.loads(run("om-run", work / f"{target}.om", *flags))
    npu = report.get("npu")
    return report["latency_ms"]["median"] if npu is None else npu["ms"] + npu["host"]["ms"] + switches


def row(model, soc, options, work):
    chip = [f"--soc_version={soc}"]
    summary = compile_for(model, work, "auto", *chip, f"--placement_processors={options.processors}")["auto"]
    charged = {c["name"]: c for c in summary["candidates"] if "error" not in c}
    best = charged[summary["chosen"]]
    result = {"model": model.stem, "soc": soc, "chosen": summary["chosen"]}
    if options.placement_cpu == "modelled":
        times = {name: charged[name]["total_ms"] for name in ("npu", "cpu") if name in charged}
        result |= {"auto_ms": best["total_ms"], **{f"{name}_ms": ms for name, ms in times.items()}}
        result["good"] = best["total_ms"] <= min(times.values()) * (1 + 1e-9)
        return result
    compile_for(model, work, "npu", *chip)
    compile_for(model, work, "cpu")
    links = {"auto": best, "npu": charged.get("npu", best), "cpu": {"switches_ms": 0, "copies_ms": 0}}
    samples = {target: [] for target in links}
    for _ in range(3):
        for target, charge in links.items():
            samples[target].append(
                measured_ms(work, target, charge["switches_ms"] + charge["copies_ms"], options.processors))
    times = {target: statistics.median(values) for target, values in samples.items()}
    result |= {f"{target}_ms": ms for target, ms in times.items()}
    result["good"] = times["auto"] <= min(times["npu"], times["cpu"]) * 1.05 + 0.02
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--soc", default="Ascend310P3,Ascend910B1")
    parser.add_argument("--placement_cpu", choices=["modelled", "measured"], default="modelled")
    parser.add_argument("--processors", type=int, default=2, help="of the CPU, modelled or measured")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for model in options.models or make(folder):
            for soc in options.soc.split(","):
                rows.append(row(model, soc, options, folder))
                if not options.json:
                    times = "  ".join(f"{key[:-3]} {value:9.4f} ms" for key, value in rows[-1].items() if key.endswith("_ms"))
                    print(f"{rows[-1]['model']:20} {soc:12} {times}  {rows[-1]['chosen']:8}"
                          f"{'' if rows[-1]['good'] else '  SLOWER'}", flush=True)
    if options.json:
        print(json.dumps({"cpu": options.placement_cpu, "rows": rows, "good": all(r["good"] for r in rows)}, indent=2))
    return 0 if all(r["good"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
