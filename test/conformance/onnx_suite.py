#!/usr/bin/python3
#===-- onnx_suite.py - runs a folder of ONNX backend tests -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tests in the layout of the ONNX backend tests through atc and the runtime.

A test is a folder with model.onnx and test_data_set_*/input_*.pb, output_*.pb. Each one runs in
a process of its own, so that a crash is that test's result and not the end of the suite.

    onnx_suite.py                             the tests of Debian's libonnx-testdata
    onnx_suite.py FOLDER...                   other folders
    onnx_suite.py --check onnx_expected.txt   fails when a listed test does not pass any more,
                                              or any test crashes or gives a wrong answer
    onnx_suite.py --soc Ascend310P3           on the simulated NPU, where what is float is
                                              computed in float16
    onnx_suite.py --dynamic                   with every dim of every input left open; also prints
                                              how many tests on floats run generated code, and with
                                              --host-kernels which ones do not

Needs numpy and the onnx package.
"""

import argparse
import collections
import json
import math
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
    import onnx
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from onnx_values import Raw, difference, load_value  # noqa: E402
from openatc_runtime import Npu, Session  # noqa: E402
from openatc_tools import RUNTIME, call, tool  # noqa: E402
from tool_server import servers  # noqa: E402

DEBIAN = Path("/usr/share/libonnx-testdata/data")
# "skipped" is what no compiler can answer from the folder; the reason stands beside it.
RESULTS = ("pass", "unsupported", "wrong", "crash", "skipped")
LOUD = ("wrong", "crash")
# The suite's own tolerance beside 1e-3 of the number; onnx_values.py has that of small floats.
ATOL = 1e-7
# What computes a test on floats with dynamic dims.
FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE,
          onnx.TensorProto.BFLOAT16)
GENERATED, ON_HOST, MOVES_NOTHING = "generated code", "host kernels", "views"
# Kernels that compute shapes, or whose results share the elements of an input.
VIEWS = {"Flatten", "Identity", "Reshape", "Shape", "Size", "Squeeze", "Unsqueeze"}
# On the NPU an error may be this part of an output's range, or of the number itself.
NPU_TOLERANCE = 5e-3
# Operators that draw random numbers: shape and type of the answer are all that is defined.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}
# What float16 cannot answer: 10000..10003 are one number or two, 12! is above 65504.
BEYOND_FLOAT16 = {"test_softmax_large_number", "test_softmax_large_number_expanded",
                  "test_logsoftmax_large_number", "test_logsoftmax_large_number_expanded",
                  "test_reduce_prod_default_axes_keepdims_example"}
TRAINING = "ai.onnx.preview.training"
# Its answers were computed with an epsilon of 0.01, which the node does not have.
WRONG_DATA = {"test_adam_multiple"}
# Why a test that passes with static shapes is not run with dynamic ones.
STATIC_ONLY = "optimizers need static shapes"
# By the clock a test may take so much longer than it may use a processor.
CLOCK_PER_PROCESSOR = 10


class Outcome(Exception):
    """How a test ended, if not with a pass."""

    def __init__(self, result, text):
        super().__init__(text)
        self.result, self.text = result, text


def numbered(folder, kind):
    files = folder.glob(f"{kind}_*.pb")
    return sorted(files, key=lambda path: int(path.stem.rsplit("_", 1)[1]))


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from all_nodes(inner)


def is_random(model, inputs):
    for node in all_nodes(model.graph):
        if node.op_type in RANDOM:
            return True
        # A dropout that trains and drops: the third input is training_mode.
        if node.op_type == "Dropout" and len(node.input) > 2 and node.input[2] in inputs:
            ratio = inputs.get(node.input[1])
            if np.any(inputs[node.input[2]]) and (ratio is None or np.any(ratio)):
                return True
    return False


def shape_flags(model, values, soc):
    """--input_shape for the inputs with symbolic dims, from the stored inputs."""
    known = {tensor.name for tensor in model.graph.initializer}
    flags = []
    for value in model.graph.input:
        stored = values.get(value.name)
        if value.name in known or not isinstance(stored, (np.ndarray, Raw)):
            continue
        tensor_type = value.type.tensor_type
        declared = [dim.dim_value for dim in tensor_type.shape.dim if dim.HasField("dim_value")]
        dims = list(stored.dims if isinstance(stored, Raw) else stored.shape)
        # Some stored inputs have another shape than the model states.
        if tensor_type.HasField("shape") and len(tensor_type.shape.dim) != len(dims):
            raise Outcome("skipped", f"the stored input '{value.name}' has shape {dims}, which the "
                                     "model does not allow")
        if tensor_type.HasField("shape") and declared == dims:
            continue
        if 0 not in dims:
            flags.append(f"{value.name}:{','.join(str(dim) for dim in dims)}")
        elif soc:
            raise Outcome("skipped", f"the stored input '{value.name}' has no elements, which no "
                                     "shape for an NPU can state")
    return [f"--input_shape={';'.join(flags)}"] if flags else []


def open_shapes(model, path):
    """The model with every dim of its inputs left open and nothing said of other tensors."""
    known = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in known and value.type.HasField("tensor_type"):
            for number, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{number}"
    for value in model.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    onnx.save(model, path)
    return path


def compile_test(path, folder, soc, timeout, flags):
    target = f"--soc_version={soc}" if soc else "--target=cpu"
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5", target,
                          f"--output={folder}/model", *flags, timeout=timeout)
    if code == 0:
        return Path(folder) / "model.om"
    lines = (err + out).strip().splitlines()
    coded = [line for line in lines if re.search(r"\bE\d{5}\b", line)]
    # A code of an internal error is as bad as none.
    if code != 1 or not coded or any("E19999" in line for line in coded):
        raise Outcome("crash", f"atc ended with {code}: {' / '.join(lines[-3:])}")
    raise Outcome("unsupported", coded[0][coded[0].index("E"):])


def is_near(got, want, rtol, soc):
    """Which elements are as good as equal."""
    if not np.issubdtype(want.dtype, np.floating):
        return got == want
    got, want = got.astype("f8"), want.astype("f8")
    if not soc:
        return np.isclose(got, want, rtol=rtol, atol=ATOL, equal_nan=True)
    known = want[np.isfinite(want)]
    span = max(np.ptp(known), np.abs(known).max()) if known.size else 0
    return np.isclose(got, want, rtol=NPU_TOLERANCE, atol=NPU_TOLERANCE * span, equal_nan=True)


def compare(name, got, want, random, soc):
    def near(got, want, rtol):
        return is_near(got, want, rtol, soc)

    if text := difference(got, want, near, only_types=random):
        raise Outcome("wrong", f"output '{name}' {text}")


def run_test(folder, way, say):
    """Raises how the test ended where it is no pass; `say` hears what it does. Returns what
    computes a model on floats with dynamic dims."""
    path = folder / "model.onnx"
    if not path.exists():
        raise Outcome("skipped", "the model is not part of the suite")
    model = onnx.load(str(path))
    if way.dynamic and any(node.domain == TRAINING for node in all_nodes(model.graph)):
        raise Outcome("skipped", STATIC_ONLY)
    if folder.name in WRONG_DATA:
        raise Outcome("skipped", "its answers are not those of its node")
    if way.soc and folder.name in BEYOND_FLOAT16:
        raise Outcome("skipped", "its numbers are beyond float16")
    data_sets = sorted(folder.glob("test_data_set_*"))
    if not data_sets:
        raise Outcome("skipped", "no stored data")
    known = {tensor.name for tensor in model.graph.initializer}
    ends = [value for value in model.graph.input if value.name not in known]

    def load_inputs(data_set):
        return {value.name: load_value(file, value.type)
                for value, file in zip(ends, numbered(data_set, "input"))}

    with tempfile.TemporaryDirectory() as temporary:
        flags = shape_flags(model, load_inputs(data_sets[0]), way.soc)
        if way.dynamic:
            flags, path = [], open_shapes(model, f"{temporary}/model.onnx")
        say("compiles")
        om = compile_test(path, temporary, way.soc, way.timeout * CLOCK_PER_PROCESSOR, flags)
        say("opens the model")
        npu = Npu(check_hazards=True, timed=False) if way.soc else None
        session = Session(RUNTIME, om, threads=1, npu=npu)
        for data_set in data_sets:
            say(f"runs {data_set.name}")
            inputs = load_inputs(data_set)
            random = is_random(model, inputs)
            outputs = session.run_values(inputs)
            if npu and npu.text(npu.HAZARDS):
                raise Outcome("wrong", "accesses race: " + npu.text(npu.HAZARDS).splitlines()[0])
            for value, file in zip(model.graph.output, numbered(data_set, "output")):
                compare(value.name, outputs[value.name], load_value(file, value.type), random,
                        way.soc)
        return code_of(om, ends) if way.dynamic else ""


def code_of(om, ends):
    """What computes a model on floats: generated code, host kernels, or nothing where results are
    views of inputs; "" for other models."""
    if not any(end.type.tensor_type.elem_type in FLOATS for end in ends):
        return ""
    code, out, err = call(tool("om-dump"), "--json", om)
    if code:
        raise Outcome("crash", f"om-dump: {out}{err}")
    return code_kind(json.loads(out))


def code_kind(described):
    """Whether a model launches kernels or calls host kernels with generated code; if not, the host
    kernels, if any moves elements."""
    steps = [step for block in (described.get("host") or {}).get("blocks", []) for step in block]
    calls = [step for step in steps if step["kind"] == "call"]
    if described["schedule"] or any(call["body"] is not None for call in calls):
        return GENERATED
    kernels = {described["kernels"][call["kernel"]] for call in calls}
    return MOVES_NOTHING if kernels <= VIEWS else f"{ON_HOST}: {' '.join(sorted(kernels - VIEWS))}"


def in_child(folder, way, pipe):
    """Writes what it does and then the result of one test to the pipe, a JSON list per line; runs
    in a forked process, which has its own process group, so that what it starts ends with it."""
    def say(*words):
        os.write(pipe, json.dumps(words).encode() + b"\n")

    os.setpgid(0, 0)
    # A busy machine may stop a process for long: what a test may use is processor time.
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(way.timeout),) * 2)
    try:
        answer = ("pass", run_test(folder, way, lambda activity: say("does", activity)) or "")
    except Outcome as outcome:
        answer = (outcome.result, outcome.text)
    except Exception as error:  # whatever it is, it is this test's result
        answer = ("crash", f"{type(error).__name__}: {error}")
    say(answer[0], answer[1][:4000])


class Running:
    """A test in its process."""

    def __init__(self, folder, way):
        self.folder, self.way, self.data = folder, way, b""
        self.reader, writer = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.close(self.reader)
            in_child(folder, way, writer)
            os._exit(0)
        os.close(writer)
        self.deadline = time.monotonic() + way.timeout * CLOCK_PER_PROCESSOR

    def read(self):
        """Whether the process has closed its end. To be called when there is something to read."""
        part = os.read(self.reader, 1 << 16)
        self.data += part
        return not part

    def finish(self, is_late):
        """(result, text) of a test whose process has ended, or has no answer in time."""
        for kill in (os.killpg, os.kill):
            try:
                kill(self.child, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended, or has no group yet
        os.close(self.reader)
        _, status, used = os.wait4(self.child, 0)
        lines = [json.loads(line) for line in self.data.split(b"\n")[:-1]]
        if lines and lines[-1][0] != "does":
            return tuple(lines[-1])
        seconds = used.ru_utime + used.ru_stime
        activity = lines[-1][1] if lines else "begins"
        if is_late:
            why = f"no answer after {self.way.timeout * CLOCK_PER_PROCESSOR:.0f} s"
        else:
            why = f"the run ended with signal {os.WTERMSIG(status)}"
        return "crash", f"{why} while it {activity}; {seconds:.1f} s of processor time"


def run_all(folders, way):
    """Yields (folder, result, text), `way.jobs` tests at a time."""
    waiting, running = collections.deque(folders), {}
    while waiting or running:
        while waiting and len(running) < way.jobs:
            test = Running(waiting.popleft(), way)
            running[test.reader] = test
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for reader in list(running):
            test = running[reader]
            is_late = time.monotonic() > test.deadline
            if (reader in ready and test.read()) or is_late:
                del running[reader]
                yield test.folder, *test.finish(is_late)


def find_tests(folders):
    """The innermost folders that hold a model or, where it was left out, its description."""
    tests = set()
    for folder in folders:
        for name in ("model.onnx", "data.json"):
            tests.update(path.parent for path in folder.rglob(name))
    return sorted(tests)


def write_table(results, path):
    families = collections.defaultdict(collections.Counter)
    for name, (result, _) in results.items():
        families[name.rsplit("/", 1)[0] if "/" in name else ""][result] += 1
    with open(path, "w") as file:
        file.write(f"| folder | {' | '.join(RESULTS)} |\n|---|{'---|' * len(RESULTS)}\n")
        for family, counts in sorted(families.items()):
            file.write(f"| {family} | {' | '.join(str(counts[r]) for r in RESULTS)} |\n")
        file.write("\n| test | result | why |\n|---|---|---|\n")
        for name, (result, text) in sorted(results.items()):
            if result != "pass":
                file.write(f"| {name} | {result} | {text.replace('|', '/')[:200]} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[DEBIAN])
    parser.add_argument("--filter", default="", help="a regular expression the names must match")
    parser.add_argument("--soc", help="run on this simulated NPU, not on the CPU")
    parser.add_argument("--dynamic", action="store_true",
                        help="leave every dim of every input open")
    parser.add_argument("--host-kernels", action="store_true",
                        help="with --dynamic: list the tests on floats that only run host kernels")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60,
                        help="seconds of processor time per test; ten times as many by the clock")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--table", type=Path, help="write a Markdown table to this file")
    parser.add_argument("--quiet", action="store_true", help="do not list the unsupported tests")
    parser.add_argument("--check", type=Path, help="the names that must pass, one a line")
    parser.add_argument("--update", action="store_true", help="write --check's file anew")
    parser.add_argument("--every", type=int, default=1, help="only each n-th test: a sample")
    options = parser.parse_args()

    for folder in options.folders:
        if not folder.is_dir():
            print(f"skipped: there is no folder {folder}")
            return 77
    root = Path(os.path.commonpath(options.folders))
    tests = [path for path in find_tests(options.folders)
             if re.search(options.filter, str(path.relative_to(root)))][::options.every]
    if not tests:
        print("no tests found")
        return 1
    started, results = time.monotonic(), {}
    with servers():
        for folder, result, text in run_all(tests, options):
            name = str(folder.relative_to(root))
            results[name] = (result, text)
            if result in LOUD:
                print(f"{result.upper()}: {name}: {text}", flush=True)
    if not options.quiet:
        for name, (result, text) in sorted(results.items()):
            if result in ("unsupported", "skipped"):
                print(f"{result}: {name}: {text[:240]}")
    counts = collections.Counter(result for result, _ in results.values())
    print(f"{len(results)} tests in {time.monotonic() - started:.0f} s:",
          ", ".join(f"{counts[result]} {result}" for result in RESULTS))
    if options.dynamic:
        passed = {name: text for name, (result, text) in results.items() if result == "pass"}
        code = collections.Counter(text.split(":")[0] for text in passed.values())
        floats = code[GENERATED] + code[ON_HOST]
        print(f"{code[GENERATED]} of {floats} tests on floats that pass and compute or move elements "
              f"run generated code ({100 * code[GENERATED] / max(1, floats):.1f} %), the others only "
              f"host kernels; {code[MOVES_NOTHING]} more only have views")
        if options.host_kernels:
            for name, text in sorted(passed.items(), key=lambda item: (item[1], item[0])):
                if text.startswith(ON_HOST):
                    print(f"{text}: {name}")
    if options.json:
        options.json.write_text(json.dumps(
            {"counts": counts, "tests": {k: list(v) for k, v in sorted(results.items())}},
            indent=1) + "\n")
    if options.table:
        write_table(results, options.table)

    failed = any(counts[result] for result in LOUD)
    if options.check and options.update:
        passed = sorted(name for name, (result, _) in results.items() if result == "pass")
        options.check.write_text("\n".join(passed) + "\n")
    elif options.check:
        expected = set(options.check.read_text().split())
        for name in sorted(expected & set(results)):
            if results[name][0] != "pass" and results[name][1] != STATIC_ONLY:
                print(f"REGRESSED: {name}: {results[name][0]}: {results[name][1]}")
                failed = True
        if not expected & set(results):
            print("none of the expected tests was found")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
