#!/usr/bin/env python3
"""Writes expected/dynamic-<name>.npz: ONNX Runtime's answers to recipes_dynamic.py.

  make_expected_dynamic.py --models <folder of the trained models> [name ...]

Needs a Python with onnxruntime and numpy. A file holds, for output i at size s, its
shape, a sample of its values (recipes.samples) and its range, and the largest classes;
and checksums of the model and the inputs.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import zlib

import numpy as np
import onnxruntime

import recipes
import recipes_dynamic

SAMPLES = 500


def open_session(name, path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if name in recipes_dynamic.STEPS:
        # Its fast integer products saturate on machines without VNNI.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(None, inputs), strict=True))


def make(name, models):
    path, pictures = models / f"{name}.onnx", models / "inputs"
    run = open_session(name, path)
    feeds = recipes_dynamic.MODELS[name](pictures)
    arrays = {"onnxruntime": onnxruntime.__version__, "model_crc": zlib.crc32(path.read_bytes()),
              "inputs_crc": [recipes.checksum(feed.values()) for feed in feeds]}
    for size, feed in enumerate(feeds):
        for output, value in run(feed).items():
            flat = np.ascontiguousarray(value).reshape(-1)
            arrays |= {f"shape{size}.{output}": np.array(value.shape, np.int64),
                       f"values{size}.{output}": flat[recipes.samples(flat.size, SAMPLES)],
                       f"range{size}.{output}": np.float32(flat.max()) - np.float32(flat.min())}
            if value.ndim == 2 and value.shape[1] == 1000:
                arrays[f"top{size}.{output}"] = value.argmax(axis=1)
    if name.startswith("silero"):
        arrays["scores"], arrays["state"] = recipes_dynamic.listen(run, pictures / "silero-test.wav")
    target = recipes.EXPECTED / f"dynamic-{name}.npz"
    np.savez_compressed(target, **arrays)
    print(f"{target.name}: {target.stat().st_size} bytes, {len(feeds)} sizes")


def main():
    args = recipes.arguments(__doc__, "models")
    for name in args.names or recipes_dynamic.MODELS:
        make(name, args.models)


if __name__ == "__main__":
    main()
