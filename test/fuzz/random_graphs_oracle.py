#!/usr/bin/env python3
"""Compares the results of the reference interpreter with those of ONNX Runtime.

  fuzz-random-graphs --graphs 1000 --emit FOLDER; random_graphs_oracle.py FOLDER [--json]

Graphs that ONNX Runtime refuses are counted by its reason. The exit code is 1 where a result
differs. Needs the Python packages onnx, onnxruntime and numpy."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import json
import pathlib
import re
import sys

import numpy as np
import onnx
import onnxruntime


def read(path, element, shape):
    kind = onnx.helper.tensor_dtype_to_np_dtype(element)
    return np.frombuffer(path.read_bytes(), kind).reshape(shape)


def dims_of(value):
    return [dim.dim_value for dim in value.type.tensor_type.shape.dim]


def difference(wanted, got):
    """The largest error as a part of what is tolerated."""
    if wanted.size != got.size:
        return float("inf")
    if wanted.dtype.kind != "f":
        return 0 if np.array_equal(wanted.reshape(-1), got.reshape(-1)) else float("inf")
    tolerance = 2e-2 if got.dtype == np.float16 else 1e-4
    left, right = wanted.reshape(-1).astype(float), got.reshape(-1).astype(float)
    finite = np.isfinite(right) & (np.abs(right) < 6e4)
    if not finite.any():
        return 0
    scale = max(1, np.abs(right[finite]).max())
    return float(np.nan_to_num(np.abs(left - right)[finite], nan=np.inf).max() / scale / tolerance)


def compare(path):
    """"same", "different ..." or why ONNX Runtime refuses the graph."""
    model = onnx.load(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # The last dims of a graph with dynamic dims are not in its file.
    if any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim):
        return "dynamic"
    try:
        session = onnxruntime.InferenceSession(str(path), options)
        feeds = {value.name: read(path.with_suffix(f".x{i}"), value.type.tensor_type.elem_type,
                                  dims_of(value)) for i, value in enumerate(model.graph.input)}
        results = session.run(None, feeds)
    except Exception as error:  # of many classes
        return "refused: " + re.sub(r"[A-Za-z_]*\d+\w*|'.*?'|\{.*?\}", "_", str(error))[:150]
    worst = 0
    for i, (value, got) in enumerate(zip(model.graph.output, results)):
        raw = path.with_suffix(f".y{i}")
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        wanted = np.frombuffer(raw.read_bytes(), kind)
        error = difference(wanted, np.asarray(got))
        if error > 1:
            return f"different: {path.name} result {value.name}: {error:.3g} of what is tolerated"
        worst = max(worst, error)
    return "same"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    counts = collections.Counter()
    for path in sorted(options.folder.glob("[0-9]*.onnx"), key=lambda each: int(each.stem)):
        counts[compare(path)] += 1
    if options.json:
        print(json.dumps(counts))
    else:
        for outcome, count in counts.most_common():
            print(f"{count:7} {outcome}")
    return any(outcome.startswith("different") for outcome in counts)


if __name__ == "__main__":
    sys.exit(main())
