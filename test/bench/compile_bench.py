#!/usr/bin/env python3
"""Time and memory of atc on whole models, with an empty cache of objects.

  compile_bench.py [--rounds 3] [--flags="--target=cpu"] [--cached] [--json] [model.onnx ...]

Without models, those whose time the documents state: `transformer` (two layers of 128, dynamic
batch and sequence), `lstm` (one operator) and `elementwise` (1000 operators in a row). A line per
model: seconds of the clock and of the processors (their median, minimum and maximum over
the rounds) and peak resident memory. `--cached` keeps the user's cache. Needs numpy and onnx."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import scale_bench
from openatc_tools import tool
from scale_models import constant, elementwise, model, value, weights


class Transformer:
    """The encoder of a transformer, as exporters write it: shapes are computed from `x`."""

    def __init__(self, layers, width, heads):
        self.width, self.heads = width, heads
        self.rng = np.random.default_rng(layers)
        self.nodes, self.initializers = [], []
        last = "x"
        for layer in range(layers):
            last = self.block(f"l{layer}", last)
        self.nodes.append(helper.make_node("Identity", [last], ["y"]))

    def op(self, kind, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def stored(self, values, kind=np.float32):
        name = f"c{len(self.initializers)}"
        self.initializers.append(constant(name, values, kind))
        return name

    def linear(self, x, inputs, outputs):
        name = f"c{len(self.initializers)}"
        self.initializers.append(weights(name, self.rng, inputs, outputs))
        return self.op("Add", self.op("MatMul", x, name), self.stored(np.zeros(outputs)))

    def norm(self, x):
        return self.op("LayerNormalization", x, self.stored(np.ones(self.width)),
                       self.stored(np.zeros(self.width)), axis=-1)

    def split_heads(self, x, shape, order):
        return self.op("Transpose", self.op("Reshape", x, shape), perm=order)

    def block(self, name, x):
        size = self.width // self.heads
        dims = [self.op("Gather", self.op("Shape", x), self.stored([axis], np.int64))
                for axis in (0, 1)]
        split = self.op("Concat", *dims, self.stored([self.heads, size], np.int64), axis=0)
        joined = self.op("Concat", *dims, self.stored([self.width], np.int64), axis=0)
        query, key, rows = (self.linear(x, self.width, self.width) for _ in range(3))
        scores = self.op("MatMul", self.split_heads(query, split, [0, 2, 1, 3]),
                         self.split_heads(key, split, [0, 2, 3, 1]))
        shares = self.op("Softmax", self.op("Div", scores, self.stored(np.sqrt(size))), axis=-1)
        heads = self.op("MatMul", shares, self.split_heads(rows, split, [0, 2, 1, 3]))
        attended = self.op("Reshape", self.op("Transpose", heads, perm=[0, 2, 1, 3]), joined)
        x = self.norm(self.op("Add", x, self.linear(attended, self.width, self.width)))
        hidden = self.linear(x, self.width, 4 * self.width)
        error = self.op("Erf", self.op("Div", hidden, self.stored(np.sqrt(2))))
        gelu = self.op("Mul", self.op("Mul", hidden, self.op("Add", error, self.stored(1))),
                       self.stored(0.5))
        return self.norm(self.op("Add", x, self.linear(gelu, 4 * self.width, self.width)))


def transformer():
    made = Transformer(layers=2, width=128, heads=4)
    shape = ("batch", "sequence", made.width)
    return model(made.nodes, [value("x", shape)], [value("y", shape)], made.initializers)


def lstm(inputs=64, units=64):
    rng = np.random.default_rng(0)
    node = helper.make_node("LSTM", ["x", "w", "r"], ["", "y"], hidden_size=units)
    return model([node], [value("x", (50, 1, inputs))], [value("y", (1, 1, units))],
                 [weights("w", rng, 1, 4 * units, inputs), weights("r", rng, 1, 4 * units, units)])


MODELS = {"transformer": transformer, "lstm": lstm, "elementwise": lambda: elementwise(1000)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="model.onnx")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--flags", default="--target=cpu", help="more flags of atc")
    parser.add_argument("--cached", action="store_true", help="with the user's cache of objects")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.cached:
        os.environ["OPENATC_CACHE_DIR"] = ""
    if not options.json:
        print(f"{'model':<24} {'seconds':>8} {'processor':>9} {'min':>7} {'max':>7} "
              f"{'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models or MODELS:
            path = name
            if name in MODELS:
                path = f"{folder}/{name}.onnx"
                onnx.save(MODELS[name](), path)
            command = [tool("atc"), f"--model={path}", "--framework=5", f"--output={folder}/out",
                       *options.flags.split()]
            clock, processor, peaks = [], [], []
            for _ in range(options.rounds):
                start = time.perf_counter()
                seconds, peak, status, text = scale_bench.run(command, options.timeout)
                clock.append(time.perf_counter() - start)
                if status:
                    sys.exit(f"{name}: atc ended with {status}\n{text}")
                processor.append(seconds)
                peaks.append(peak)
            row = {"model": pathlib.Path(path).stem, "seconds": statistics.median(clock),
                   "processor_seconds": statistics.median(processor),
                   "min_processor_seconds": min(processor),
                   "max_processor_seconds": max(processor), "peak_bytes": max(peaks)}
            if options.json:
                print(json.dumps(row), flush=True)
            else:
                print(f"{row['model']:<24} {row['seconds']:8.2f} {row['processor_seconds']:9.2f} "
                      f"{row['min_processor_seconds']:7.2f} {row['max_processor_seconds']:7.2f} "
                      f"{row['peak_bytes'] / 1e6:8.0f}", flush=True)


if __name__ == "__main__":
    main()
