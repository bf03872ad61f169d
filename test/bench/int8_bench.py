#!/usr/bin/env python3
"""A network in floats and in integers, and ONNX Runtime on the same integers.

  int8_bench.py [--threads 1] [--rounds 15] [--per-channel] [--json] model.onnx ...

Each model of floats is quantized with onnxruntime.quantization to QDQ form (u8
activations, s8 weights; random data calibrates, so only the speed means
something). A round runs our floats, our integers and ONNX Runtime's integers one
after the other; figures are medians over the rounds. `int8_speedup` is our floats
over our integers, `ort_ratio` ONNX Runtime's integers over ours: above 1 we are
faster. Needs a Python with onnxruntime, onnx and numpy.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import bench


def quantize(model, output, per_channel):
    import onnx
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                          quantize_static)
    from onnxruntime.quantization.shape_inference import quant_pre_process

    # Batch norms join their convolutions, as ONNX Runtime advises.
    folded = output.with_suffix(".folded.onnx")
    quant_pre_process(str(model), str(folded), skip_symbolic_shape=True)
    model = folded

    class Random(CalibrationDataReader):
        def __init__(self):
            rng = np.random.default_rng(0)
            known = {tensor.name for tensor in onnx.load(model).graph.initializer}
            inputs = [i for i in onnx.load(model).graph.input if i.name not in known]
            self.data = iter([
                {i.name: rng.standard_normal(
                    [dim.dim_value or 1 for dim in i.type.tensor_type.shape.dim]).astype(np.float32)
                 for i in inputs} for _ in range(2)])

        def get_next(self):
            return next(self.data, None)

    quantize_static(str(model), str(output), Random(), quant_format=QuantFormat.QDQ,
                    per_channel=per_channel, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8)


def measure(quantized, float_om, int_om, threads, rounds, library):
    ours = {"fp32": bench.Session(library, float_om, threads),
            "int8": bench.Session(library, int_om, threads)}
    rng = np.random.default_rng(1)
    feeds = [rng.standard_normal(array.shape).astype(np.float32)
             for _, array in ours["int8"].inputs]
    for session in ours.values():
        for (_, array), value in zip(session.inputs, feeds):
            array[...] = value
    rival = bench.OnnxRuntime(quantized, threads, feeds)
    runs = {"fp32": ours["fp32"].run, "int8": ours["int8"].run, "ort": rival.run}
    expected = rival.run()
    ours["int8"].run()
    error = max(float(np.abs(want - got).max() / max(float(np.ptp(want)), 1e-30))
                for want, (_, got) in zip(expected, ours["int8"].outputs))
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            run()
            times[name] += [bench.timed(run) for _ in range(3)]
            if name == "ort":
                bench.time.sleep(0.03)  # Its threads spin on for a while.
    row = {f"{name}_ms": statistics.median(values) for name, values in times.items()}
    row["int8_speedup"] = row["fp32_ms"] / row["int8_ms"]
    row["ort_ratio"] = row["ort_ms"] / row["int8_ms"]
    row["ort_version"], row["max_error_of_range"] = rival.version, error
    for session in ours.values():
        session.close()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=bench.ROOT / "build")
    parser.add_argument("--threads", default="1", help="thread counts, comma-separated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-channel", action="store_true", help="one scale for each filter")
    parser.add_argument("--atc-flags", default="", help="more flags for atc, space-separated")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args()

    library = str(args.build / "lib/libopenatc_runtime.so")
    flags = args.atc_flags.split()
    report = {"machine": bench.name_of_machine(),
              "per_channel": args.per_channel, "models": []}
    if not args.json:
        print(f"{'model':20} thr  fp32 ms  int8 ms   ORT ms  fp32/int8  ORT/int8   error")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for model in args.models:
            quantized = work / f"{model.stem}-int8.onnx"
            quantize(model, quantized, args.per_channel)
            bench.compile_model(args.build, model, work / "fp32", flags)
            bench.compile_model(args.build, quantized, work / "int8", flags)
            for threads in map(int, args.threads.split(",")):
                row = {"model": model.stem, "threads": threads,
                       **measure(quantized, work / "fp32.om", work / "int8.om", threads,
                                 args.rounds, library)}
                report["models"].append(row)
                if not args.json:
                    print(f"{row['model']:20} {threads:3} {row['fp32_ms']:8.2f} "
                          f"{row['int8_ms']:8.2f} {row['ort_ms']:8.2f} {row['int8_speedup']:10.2f} "
                          f"{row['ort_ratio']:9.2f} {row['max_error_of_range']:7.1e}", flush=True)
    if args.json:
        json.dump(report, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
