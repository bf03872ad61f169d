#!/usr/bin/env python3
"""Writes expected/<name>.npz: ONNX Runtime's answers to the inputs of recipes.py.

  make_expected.py --zoo build/zoo --models <folder of the trained models> [name ...]

Needs a Python with onnxruntime and numpy. A file holds, for output i, its shape,
a sample of its values (recipes.samples), the largest values with their places,
and its range (recipes.ranges); and checksums of the model and the inputs.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import zlib

import numpy as np
import onnxruntime

import recipes

LARGEST = 100


def describe(index, name, value):
    flat = np.ascontiguousarray(value).reshape(-1)
    largest = np.argsort(-flat, kind="stable")[:LARGEST]
    return {f"name{index}": name, f"shape{index}": np.array(value.shape, np.int64),
            f"values{index}": flat[recipes.samples(flat.size)],
            f"largest{index}": largest.astype(np.int32), f"largest_values{index}": flat[largest],
            f"ranges{index}": recipes.ranges(value)}


def make(name, path, pictures):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = recipes.inputs_of(name, pictures)
    names = [value.name for value in session.get_inputs()]
    outputs = session.run(None, dict(zip(names, inputs, strict=True)))
    arrays = {"outputs": len(outputs), "onnxruntime": onnxruntime.__version__,
              "inputs_crc": recipes.checksum(inputs), "model_crc": zlib.crc32(path.read_bytes())}
    for index, (value, output) in enumerate(zip(session.get_outputs(), outputs)):
        arrays |= describe(index, value.name, output)
    target = recipes.EXPECTED / f"{name}.npz"
    np.savez_compressed(target, **arrays)
    print(f"{target.name}: {target.stat().st_size} bytes, "
          + ", ".join(f"{v.name} {list(o.shape)} {o.min():.4g}..{o.max():.4g}"
                      for v, o in zip(session.get_outputs(), outputs)))


def main():
    args = recipes.arguments(__doc__, "zoo", "models")
    recipes.EXPECTED.mkdir(exist_ok=True)
    for name in args.names or [*recipes.ZOO, *recipes.REAL]:
        folder = args.zoo if name in recipes.ZOO else args.models
        make(name, folder / f"{name}.onnx", args.models / "inputs")


if __name__ == "__main__":
    main()
