#!/usr/bin/env python3
"""What a dynamic dim costs: a model compiled with its dims open beside the same model compiled
for the shape, and beside ONNX Runtime, interleaved in one run.

  dynamic_bench.py [--threads 1,2] [--rounds 9] [--sizes 1,8] [--seconds 2] [--several]
                   [--clock processor] [--statistic min] [--json] model.onnx ...

The outermost dim of every input becomes dynamic, beside those that the model leaves open; all have
the sizes of --sizes one after the other, but for names with a size of their own:
`--symbols sequence=128`. With --several the height and width of images and the sequence of tokens
become dynamic, too; they have the sizes of the model where it states them. Reported are medians
(or minima): the static file, the dynamic file at the same shape, its first run at a new shape, and
ONNX Runtime with the dynamic model where it is installed; and with --json what each run at one
shape allocates beside its outputs, where the program of test/runtime-lite that counts is built. A
model that does not compile is reported; the others are measured, and the exit code is 1.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))
from openatc_runtime import Session

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.INT64: np.int64,
         onnx.TensorProto.INT32: np.int32, onnx.TensorProto.UINT8: np.uint8,
         onnx.TensorProto.INT8: np.int8, onnx.TensorProto.FLOAT16: np.float16,
         onnx.TensorProto.BOOL: np.bool_}


SEVERAL = {4: {2: "height", 3: "width"}, 2: {1: "sequence"}}  # by rank: dims of an input


def open_reshapes(model):
    """Replaces a batch of 1 that Reshape states by 0, which copies the dim of the data."""
    known = onnx.shape_inference.infer_shapes(model).graph
    first = {info.name: info.type.tensor_type.shape.dim[0].dim_value
             for info in [*known.value_info, *known.input]
             if info.type.tensor_type.shape.dim}
    graph = model.graph
    constants = {each.name: each for each in graph.initializer}
    constants |= {node.output[0]: node.attribute[0].t for node in graph.node
                  if node.op_type == "Constant" and node.attribute[0].name == "value"}
    for node in graph.node:
        if node.op_type != "Reshape" or first.get(node.input[0]) != 1:
            continue
        shape = constants.get(node.input[1])
        dims = [] if shape is None else onnx.numpy_helper.to_array(shape).tolist()
        if dims[:1] != [1] or any(each.name == "allowzero" and each.i for each in node.attribute):
            continue
        name = f"{node.output[0]}_open_shape"
        graph.initializer.append(onnx.numpy_helper.from_array(np.int64([0, *dims[1:]]), name))
        node.input[1] = name


def open_joins(model):
    """Expands constants with a batch of 1 that Concat joins to data behind the batch, as exporters
    do for class tokens where the batch is dynamic."""
    graph, nodes = model.graph, []
    batches = {each.name: each.dims[0] for each in graph.initializer if len(each.dims) > 1}
    for node in graph.node:
        tokens = [i for i, name in enumerate(node.input) if batches.get(name) == 1]
        data = [name for name in node.input if name not in batches]
        if node.op_type == "Concat" and tokens and data and node.attribute[0].i != 0:
            rank = len(next(each.dims for each in graph.initializer
                            if each.name == node.input[tokens[0]]))
            name = f"{node.output[0]}_batch"
            for suffix, values in (("start", [0]), ("end", [1]), ("ones", [1] * (rank - 1))):
                graph.initializer.append(
                    onnx.numpy_helper.from_array(np.int64(values), f"{name}_{suffix}"))
            make = onnx.helper.make_node
            nodes += [make("Shape", [data[0]], [f"{name}_shape"]),
                      make("Slice", [f"{name}_shape", f"{name}_start", f"{name}_end"], [name]),
                      make("Concat", [name, f"{name}_ones"], [f"{name}_dims"], axis=0)]
            for i in tokens:
                nodes.append(make("Expand", [node.input[i], f"{name}_dims"], [f"{name}_{i}"]))
                node.input[i] = f"{name}_{i}"
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


def open_dims(source, target, several, symbols):
    """Writes the model with a dynamic outermost dim, or with several dynamic dims, whose stated
    sizes it adds to `symbols`; returns its inputs."""
    model = onnx.load(str(source))
    open_reshapes(model)
    open_joins(model)
    weights = {weight.name for weight in model.graph.initializer}
    inputs = [info for info in model.graph.input if info.name not in weights]
    for info in [*inputs, *model.graph.output]:
        dims = info.type.tensor_type.shape.dim
        if dims and not dims[0].dim_param:
            dims[0].dim_param = "N"
        names = SEVERAL.get(len(dims), {}) if several and info in inputs else {}
        for axis, name in names.items():
            if not dims[axis].dim_param:
                symbols.setdefault(name, dims[axis].dim_value)
                dims[axis].dim_param = name
    if several:
        for info in model.graph.output:  # They may grow with any of the dims.
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                if not dim.dim_param:
                    dim.dim_param = f"{info.name}_{axis}"
    # Shapes inside that somebody inferred for the stated batch hold no longer.
    del model.graph.value_info[:]
    onnx.save(model, str(target))
    return inputs


def shape_of(info, size, symbols):
    return [dim.dim_value if dim.HasField("dim_value") else symbols.get(dim.dim_param, size)
            for dim in info.type.tensor_type.shape.dim]


class CompileError(Exception):
    pass


def compile_model(build, model, output, shapes=None):
    command = [build / "bin/atc", f"--model={model}", "--framework=5", f"--output={output}",
               "--target=cpu"]
    if shapes:
        command.append("--input_shape=" + ";".join(
            f"{name}:{','.join(map(str, dims))}" for name, dims in shapes.items()))
    start = time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"atc failed on {model}:\n{done.stdout}{done.stderr}")
    return f"{output}.om", time.perf_counter() - start


class OnnxRuntime:
    def __init__(self, model, threads):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    def run(self, feed):
        return self.session.run(None, feed)


CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
STATISTICS = {"median": statistics.median, "min": min}


def allocations(build, model, shapes):
    """The allocations of each of eight runs at one shape, without those of the outputs."""
    program = build / "bin/runtime-no-allocation-test"
    if not program.exists():
        return None
    text = ["x".join(map(str, dims)) or "-" for dims in shapes.values()]
    done = subprocess.run([program, model, *text], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["allocations"]


def timed(clock, function, *arguments):
    start = clock()
    function(*arguments)
    return 1e3 * (clock() - start)


def measure(clock, statistic, files, feed, threads, rounds, seconds):
    """Times in ms by name; `files` are functions that run the feed."""
    times = {name: [] for name in files}
    end = time.perf_counter() + seconds
    for count in range(rounds):
        if count >= 3 and time.perf_counter() > end:
            break
        for name, run in files.items():
            run(feed)  # Caches and threads are each one's own again.
            times[name].append(timed(clock, run, feed))
            if name == "ort" and threads > 1:
                time.sleep(0.03)  # Its threads spin on for a while.
    return {name: statistic(values) for name, values in times.items()}


def rows(args, model, work):
    opened = work / f"{model.stem}.onnx"
    symbols = dict(args.symbols)
    inputs = open_dims(model, opened, args.several, symbols)
    dynamic, dynamic_seconds = compile_model(args.build, opened, work / "dynamic")
    dump = subprocess.run([args.build / "bin/om-dump", dynamic], capture_output=True, text=True)
    rng = np.random.default_rng(1)
    for size in args.sizes:
        shapes = {info.name: shape_of(info, size, symbols) for info in inputs}
        static, static_seconds = compile_model(args.build, opened, work / f"static{size}", shapes)
        feed = {}
        for info in inputs:
            dtype = TYPES[info.type.tensor_type.elem_type]
            feed[info.name] = (rng.standard_normal(shapes[info.name]).astype(dtype)
                               if np.issubdtype(dtype, np.floating)
                               else np.ones(shapes[info.name], dtype))
        allocated = allocations(args.build, dynamic, shapes)
        for threads in args.threads:
            library = str(args.build / "lib/libopenatc_runtime.so")
            sessions = {"static": Session(library, static, threads),
                        "dynamic": Session(library, dynamic, threads)}
            files = {name: session.run_values for name, session in sessions.items()}
            try:
                files["ort"] = OnnxRuntime(opened, threads).run
            except ImportError:
                pass
            # The first run at this shape, of a session that has run at another one.
            files["dynamic"]({name: np.concatenate([value[:1], value])
                              for name, value in feed.items()})
            clock = CLOCKS[args.clock]
            start = clock()
            got = files["dynamic"](feed)
            first = 1e3 * (clock() - start)
            want = files["static"](feed)
            error = max((float(np.abs(want[name] - got[name]).max() / (np.ptp(want[name]) or 1))
                         for name in want if want[name].size), default=0.0)
            found = measure(clock, STATISTICS[args.statistic], files, feed, threads, args.rounds,
                            args.seconds)
            row = {"model": model.stem, "size": size, "threads": threads,
                   "tiles": " = tiles(" in dump.stdout, "error_of_range": error,
                   "dynamic_bytes": pathlib.Path(dynamic).stat().st_size,
                   "static_bytes": pathlib.Path(static).stat().st_size,
                   "dynamic_compile_s": dynamic_seconds, "static_compile_s": static_seconds,
                   "dynamic_first_ms": first,
                   "allocations": allocated}
            row |= {f"{name}_ms": value for name, value in found.items()}
            row["ratio"] = row["dynamic_ms"] / row["static_ms"]
            if "ort" in found:
                row["ort_ratio"] = row["ort_ms"] / row["dynamic_ms"]
            yield row
            for session in sessions.values():
                session.close()


def print_row(row):
    print(f"{row['model']:20} {row['size']:4} {row['threads']:3} "
          f"{row['static_ms']:9.2f} {row['dynamic_ms']:10.2f} {row['ratio']:6.2f} "
          f"{row['dynamic_first_ms']:8.2f} {row.get('ort_ms', 0):8.2f} "
          f"{row.get('ort_ratio', 0):9.2f} {row['error_of_range']:7.1e}"
          f"{'' if row['tiles'] else '  host kernels'}", flush=True)


def main():
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--sizes", type=numbers, default=[1, 8], help="of dims without a size")
    parser.add_argument("--symbols", default="", help="sizes of named dims: sequence=128,...")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=10, help="at most, for each row")
    parser.add_argument("--several", action="store_true", help="more dims than the outermost one")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall",
                        help="processor: time of all threads, where others compute, too")
    parser.add_argument("--statistic", choices=list(STATISTICS), default="median",
                        help="min: for machines that are never idle")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args()
    args.symbols = {name: int(size) for name, size in
                    (item.split("=") for item in args.symbols.split(",") if item)}
    found = []
    if not args.json:
        print(f"{'model':20} size thr static ms dynamic ms  ratio first ms   ORT ms  ORT/ours   error")
    refused = []
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for row in rows(args, model, pathlib.Path(folder)):
                    found.append(row)
                    if not args.json:
                        print_row(row)
            except (CompileError, RuntimeError) as error:
                # A model may state sizes inside (grids, positions, a batch of 1 in a class token),
                # which the compiler or a run at another size finds: others are still measured.
                refused.append(model.stem)
                print(f"{model.stem}: {error}", file=sys.stderr, flush=True)
    if args.json:
        json.dump({"rows": found, "refused": refused}, sys.stdout, indent=1)
        print()
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
