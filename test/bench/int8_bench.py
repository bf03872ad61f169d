#!/usr/bin/env python3
"""A network in floats and in integers, and ONNX Runtime and OpenVINO on the same integers.

  int8_bench.py [--threads 1] [--rounds 15] [--per-channel] [--dynamic] [--level LEVEL]
                [--against-level LEVEL] [--clock wall|processor] [--statistic median|min] [--json]
                model.onnx ...

Each model of floats is quantized with onnxruntime.quantization to QDQ form (u8
activations, s8 weights; random data calibrates, so only the speed means
something), or with `--dynamic` to MatMulInteger with scales that each run
computes. A round runs our floats, our integers and those of the rivals one after
the other; figures are medians over the rounds. `int8_speedup` is our floats over
our integers, `ort_ratio` and `openvino_ratio` the rival's integers over ours:
above 1 we are faster. `--against-level` also compiles the integers for another CPU
level (`level_ratio`, and whether all outputs are equal). `--level`,
`--clock` and `--statistic` are those of bench.py. Needs a Python with onnxruntime, onnx and numpy; a rival that is
not installed has no column.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import bench
import levels


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


def quantize_weights(model, output):
    from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(str(model), str(output))


def measure(quantized, ours, threads, rounds, library, clock, statistic):
    """`ours`: the files of our floats and integers, and perhaps of those for another level."""
    ours = {name: bench.Session(library, om, threads) for name, om in ours.items()}
    rng = np.random.default_rng(1)
    feeds = [rng.standard_normal(array.shape).astype(array.dtype) if array.dtype.kind == "f"
             else np.ones(array.shape, array.dtype) for _, array in ours["int8"].inputs]
    for session in ours.values():
        for (_, array), value in zip(session.inputs, feeds):
            array[...] = value
    rivals = bench.installed_rivals(quantized, threads, feeds)
    runners = {**ours, **rivals}
    row = {}
    ours["int8"].run()
    outputs = [array for _, array in ours["int8"].outputs]
    if rivals:
        expected = next(iter(rivals.values())).run()
        row["max_error_of_range"] = max(
            float(np.abs(want - got).max() / max(float(np.ptp(want)), 1e-30))
            for want, got in zip(expected, outputs))
    if "level" in ours:
        ours["level"].run()
        row["level_is_equal"] = all(np.array_equal(own, other) for own, (_, other)
                                    in zip(outputs, ours["level"].outputs))
    times = {name: [] for name in runners}
    for _ in range(rounds):
        for name, runner in runners.items():
            runner.run()
            times[name] += [bench.timed(runner.run, clock) for _ in range(3)]
            if name in rivals:
                bench.time.sleep(0.03)  # Its threads spin on for a while.
    row.update({f"{name}_ms": statistic(values) for name, values in times.items()})
    row["int8_speedup"] = row["fp32_ms"] / row["int8_ms"]
    for name in runners:
        if name not in ("fp32", "int8"):
            row[f"{name}_ratio"] = row[f"{name}_ms"] / row["int8_ms"]
    row.update({f"{name}_version": rival.version for name, rival in rivals.items()})
    for session in ours.values():
        session.close()
    return row


def text_of(row):
    def figure(key, width, places=2):
        return f"{row[key]:{width}.{places}f}" if key in row else f"{'-':>{width}}"

    text = f"{row['model']:20} {row['threads']:3} {figure('fp32_ms', 8)} {figure('int8_ms', 8)}"
    for other in ("ort", "openvino", "level"):
        text += f" {figure(f'{other}_ms', 8)} {figure(f'{other}_ratio', 6)}"
    text += f" {figure('int8_speedup', 10)}"
    if "max_error_of_range" in row:
        text += f" {row['max_error_of_range']:8.1e}"
    return text + ("" if row.get("level_is_equal", True) else "  levels differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=bench.ROOT / "build")
    parser.add_argument("--threads", default="1", help="thread counts, comma-separated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-channel", action="store_true", help="one scale for each filter")
    parser.add_argument("--dynamic", action="store_true", help="quantize weights of products only")
    parser.add_argument("--against-level", help="another CPU level to compare with")
    bench.add_measuring_options(parser)
    parser.add_argument("--atc-flags", default="", help="more flags for atc, space-separated")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args()
    levels.enter(args.level)

    library = str(args.build / "lib/libopenatc_runtime.so")
    flags = args.atc_flags.split()
    own = levels.atc_flags(args.level)
    measuring = bench.clock_and_statistic(args)
    report = {"machine": bench.name_of_machine(), "level": args.level,
              "per_channel": args.per_channel, "models": []}
    if not args.json:
        print(f"{'model':20} thr  fp32 ms  int8 ms   ORT ms  ratio    OV ms  ratio level ms  ratio "
              f" fp32/int8    error")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for model in args.models:
            quantized = work / f"{model.stem}-int8.onnx"
            if args.dynamic:
                quantize_weights(model, quantized)
            else:
                quantize(model, quantized, args.per_channel)
            ours = {"fp32": work / "fp32", "int8": work / "int8"}
            bench.compile_model(args.build, model, ours["fp32"], [*flags, *own])
            bench.compile_model(args.build, quantized, ours["int8"], [*flags, *own])
            if args.against_level:
                ours["level"] = work / "level"
                bench.compile_model(args.build, quantized, ours["level"],
                                    [*flags, f"--target_cpu={args.against_level}"])
            files = {name: file.with_suffix(".om") for name, file in ours.items()}
            for threads in map(int, args.threads.split(",")):
                row = {"model": model.stem, "threads": threads,
                       **measure(quantized, files, threads, args.rounds, library, *measuring)}
                report["models"].append(row)
                if not args.json:
                    print(text_of(row), flush=True)
    if args.json:
        json.dump(report, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
