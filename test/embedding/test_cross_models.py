# Whole models on other architectures under qemu-user: integers and roundings are equal bit by bit to
# those of x86-64, floats within a tolerance. Run with `pytest test/embedding`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

from conftest import BUILD, ROOT, SYSTEM, emulator, run

PROGRAM = pathlib.Path(__file__).parent / "programs" / "run_values.c"
TYPES = {np.dtype(name): number for name, number in
         [("float32", 1), ("uint8", 2), ("int8", 3), ("int32", 6), ("int64", 7), ("bool", 9), ("float64", 11),
          ("uint32", 12), ("uint64", 13)]}
# The oldest processor that qemu has for a level.
PROCESSOR = {"armv7-a": "cortex-a8", "armv7-a-vfpv4": "cortex-a7"}
NIGHTLY = bool(os.environ.get("OPENATC_NIGHTLY"))
LEVELS = [("armv7", "armv7-a"), ("armv7", "armv7-a-vfpv4")] if NIGHTLY else [("armv7", "armv7-a")]


@pytest.fixture(scope="session")
def runners(cross_trees, tmp_path_factory):
    """{architecture: the command that runs a model on tensors}; that of this machine is ""."""
    made = {}

    def make(arch):
        if arch not in made:
            program = tmp_path_factory.mktemp("runner") / "run_values"
            library = (cross_trees(arch) if arch else BUILD) / "lib" / "libopenatc_runtime.a"
            run(f"{SYSTEM[arch]}-gcc" if arch else "cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", PROGRAM,
                library, f"-I{ROOT / 'runtime-lite' / 'include'}", "-pthread", "-o", program)
            made[arch] = program
        return made[arch]
    return make


def compiled(model, level, output, refused=None):
    (output.with_suffix(".onnx")).write_bytes(model)
    said = subprocess.run([BUILD / "bin" / "atc", f"--model={output.with_suffix('.onnx')}", "--framework=5", "--target=cpu",
                           f"--output={output}", f"--target_cpu={level}"], capture_output=True, text=True)
    if refused:
        assert said.returncode == 1 and "E10055: the model needs 2" in said.stdout and refused in said.stdout, said.stdout
        assert not output.with_suffix(".om").exists()
        return None
    assert said.returncode == 0 and not said.stderr, said.stdout + said.stderr
    return output.with_suffix(".om")


def results(command, model, arrays, folder):
    """Runs a model on tensors; returns those that it gives."""
    def header(array):
        return struct.pack(f"<{2 + array.ndim}q", TYPES[array.dtype], array.ndim, *array.shape)
    (folder / "inputs").write_bytes(b"".join(header(array) + array.tobytes() for array in arrays))
    run(*command, model, folder / "inputs", folder / "outputs")
    data, at, found = (folder / "outputs").read_bytes(), 0, []
    while at < len(data):
        number, rank = struct.unpack_from("<2q", data, at)
        dims = struct.unpack_from(f"<{rank}q", data, at + 16)
        dtype = next(dtype for dtype, value in TYPES.items() if value == number)
        at += 16 + 8 * rank
        count = int(np.prod(dims, dtype=np.int64))
        found.append(np.frombuffer(data, dtype, count, at).reshape(dims))
        at += count * dtype.itemsize
    return found


def integers(graph, size, rng):
    """Arithmetic on words of 64 bits, which processors of 32 bits have no instructions for."""
    words = np.concatenate([rng.integers(-2**63, 2**63, 40, dtype=np.int64) >> rng.integers(0, 63, 40),
                            [0, 1, -1, 2**63 - 1, -2**63, 2**53 + 1, 2**53 - 1, 2**24 + 1, -2**24 - 1, 2**63 - 2**9]])
    others = np.concatenate([rng.integers(1, 2**62, 46, dtype=np.int64) >> rng.integers(0, 61, 46), [3, 10, -7, 7]])
    others[others == 0] = 5
    x, y = graph.input("x", "int64", size), graph.input("y", "int64", size)
    for kind in ("Add", "Mul", "Div", "Mod"):
        graph.output(f"y_{kind}".lower(), graph.op(kind, x, y))
    unsigned = graph.op("Cast", x, to=13), graph.op("Cast", y, to=13)
    for kind in ("Div", "Mod"):
        graph.output(f"y_u{kind.lower()}", graph.op(kind, *unsigned))
    shift = graph.op("Mod", unsigned[1], np.full(1, 64, np.uint64))
    for direction in ("LEFT", "RIGHT"):
        graph.output(f"y_{direction}".lower(), graph.op("BitShift", unsigned[0], shift, direction=direction))
    for number in (1, 11):
        graph.output(f"y_float{number}", graph.op("Cast", x, to=number))
        graph.output(f"y_ufloat{number}", graph.op("Cast", unsigned[0], to=number))
        small = graph.op("Cast", graph.op("Div", x, y), to=number)
        graph.output(f"y_back{number}", graph.op("Cast", graph.op("Mul", small, graph.op("Cast", np.float32(0.37), to=number)), to=7))
    graph.output("y_sum", graph.op("ReduceSum", x, np.array([0]), keepdims=0))
    graph.output("y_narrow", graph.op("Div", graph.op("Cast", x, to=6), np.full(1, 17, np.int32)))
    graph.output("y_rest", graph.op("Mod", graph.op("Cast", x, to=6), np.full(1, 29, np.int32)))
    return [words, others]


def roundings(graph, size, rng):
    values = np.concatenate([rng.standard_normal(30) * 10.0 ** rng.integers(-3, 18, 30),
                             [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.3, 8388607.5, 8388609, 2.0**31, -2.0**40,
                              4503599627370495.5, np.inf, -np.inf, np.nan, 1e30, -0.99999994, 4194304.75]])
    arrays = [values.astype(np.float32), values]
    for name, number in (("float32", 1), ("float64", 11)):
        x = graph.input(name, name, size)
        # No integer stands for NaN.
        finite = graph.op("Where", graph.op("IsNaN", x), graph.op("Cast", np.float32(7), to=number), x)
        for kind in ("Floor", "Ceil", "Round"):
            graph.output(f"y_{kind}{number}".lower(), graph.op(kind, x))
        graph.output(f"y_whole{number}", graph.op("Cast", graph.op("Clip", finite, graph.op("Cast", np.float32(-1e9), to=number),
                                                                graph.op("Cast", np.float32(1e9), to=number)), to=7))
        graph.output(f"y_less{number}", graph.op("Max", x, graph.op("Cast", np.float32(0.25), to=number)))
    return arrays


def bytes_network(graph, size, rng):
    """An int8 network whose accumulators and results are integers."""
    batch = size[0]
    x = graph.input("x", "uint8", [batch, 3, 12, 12])

    def weights(*shape):
        return rng.integers(-128, 128, shape).astype(np.int8)
    y = graph.op("QLinearConv", x, np.float32(0.02), np.uint8(128), weights(16, 3, 3, 3), np.float32(0.01), np.int8(0),
                 np.float32(0.05), np.uint8(120), rng.integers(-500, 500, 16).astype(np.int32), pads=[1, 1, 1, 1])
    graph.output("y_conv", y)
    y = graph.op("QLinearConv", y, np.float32(0.05), np.uint8(120), weights(16, 1, 3, 3), np.float32(0.01), np.int8(0),
                 np.float32(0.03), np.uint8(100), group=16, strides=[2, 2])
    graph.output("y_depthwise", y)
    y = graph.op("MatMulInteger", graph.op("Flatten", y), weights(400, 12), np.uint8(100), np.int8(0))
    graph.output("y_products", y)
    return [rng.integers(0, 256, (5, 3, 12, 12)).astype(np.uint8)]


@pytest.mark.parametrize("network", [integers, roundings, bytes_network])
@pytest.mark.parametrize("form", ["static", "dynamic"])
@pytest.mark.parametrize("arch, level", LEVELS)
def test_exact_results(runners, tmp_path, network, form, arch, level):
    graph, arrays = built(network, form)
    here, there = answers(runners, graph, arrays, arch, level, tmp_path)
    for i, (one, other) in enumerate(zip(here, there, strict=True)):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other, err_msg=f"output {i}")
        if one.dtype.kind == "f":
            number = ~np.isnan(one)
            np.testing.assert_array_equal(np.signbit(one[number]), np.signbit(other[number]))


def built(network, form):
    sys.path.insert(0, str(BUILD / "python"))
    from openatc import builder
    graph = builder.Graph("net")
    count = {integers: 50, roundings: 50}.get(network, 5)
    arrays = network(graph, [count if form == "static" else "n"], np.random.default_rng(7))
    return graph, arrays


def answers(runners, graph, arrays, arch, level, folder):
    """The results of this machine and those of the other one."""
    model = graph.to_onnx()
    there = compiled(model, level, folder / "there")
    here = compiled(model, "host", folder / "here")
    options = ["-cpu", PROCESSOR[level]] if level in PROCESSOR else []
    command = [*emulator(arch, *options), runners(arch)]
    return results([runners("")], here, arrays, folder), results(command, there, arrays, folder)


def convolutions(graph, size, rng):
    """Convolutions, a pool, a resize and a norm over dims that are all dynamic, or none is."""
    def weights(*shape):
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    x = graph.input("x", "float32", [size[0], 3, 17, 17] if isinstance(size[0], int) else ["n", 3, "h", "w"])
    y = graph.op("Relu", graph.op("Conv", x, weights(32, 3, 3, 3), weights(32), strides=[2, 2], pads=[1, 1, 1, 1]))
    y = graph.op("Sigmoid", graph.op("Conv", y, weights(32, 1, 3, 3), group=32, pads=[1, 1, 1, 1]))
    y = graph.op("Add", y, graph.op("Conv", y, weights(32, 32, 1, 1)))
    y = graph.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = graph.op("Resize", y, None, np.array([1, 1, 2, 2], np.float32), mode="linear")
    y = graph.op("Transpose", y, perm=[0, 2, 3, 1])
    y = graph.op("LayerNormalization", y, weights(32, 1)[:, 0], weights(32, 1)[:, 0])
    graph.output("y_features", graph.op("Softmax", y))
    return [rng.standard_normal((5, 3, 17, 17)).astype(np.float32)]


def functions(graph, size, rng):
    """Functions, in f32 and f64, and host kernels with results whose shape depends on values."""
    arrays = []
    for name, number in (("float32", 1), ("float64", 11)):
        x = graph.input(name, name, [size[0], 40])
        arrays.append((3 * rng.standard_normal((5, 40))).astype(name))
        for kind in ("Exp", "Tanh", "Erf", "Sin"):
            graph.output(f"y_{kind}{number}".lower(), graph.op(kind, x))
        graph.output(f"y_log{number}", graph.op("Log", graph.op("Abs", x)))
        graph.output(f"y_pow{number}", graph.op("Pow", graph.op("Abs", x), graph.op("Cast", np.float32(1.7), to=number)))
        graph.output(f"y_sqrt{number}", graph.op("Sqrt", graph.op("Abs", x)))
        top, at = graph.op("TopK", x, np.array([5]), outputs=2)
        graph.output(f"y_top{number}", top)
        graph.output(f"y_at{number}", at)
        graph.output(f"y_sum{number}", graph.op("CumSum", x, np.array(1)))
        graph.output(f"y_where{number}", graph.op("NonZero", graph.op("Greater", x, graph.op("Cast", np.float32(2), to=number))))
    return arrays


def recurrence(graph, size, rng):
    """An LSTM and a GRU over a dynamic number of steps."""
    def weights(*shape):
        return (0.3 * rng.standard_normal(shape)).astype(np.float32)
    x = graph.input("x", "float32", [size[0], 2, 24])
    y = graph.op("LSTM", x, weights(2, 128, 24), weights(2, 128, 32), hidden_size=32, direction="bidirectional")
    y = graph.op("ReduceMean", y, [1], keepdims=0)
    graph.output("y_states", graph.op("GRU", y, weights(1, 60, 32), weights(1, 60, 20), hidden_size=20))
    return [rng.standard_normal((5, 2, 24)).astype(np.float32)]


# Static networks of floats are those of test_cross.py, too.
@pytest.mark.parametrize("network", [convolutions, functions, recurrence])
@pytest.mark.parametrize("form", ["static", "dynamic"] if NIGHTLY else ["dynamic"])
@pytest.mark.parametrize("arch, level", LEVELS)
def test_float_results(runners, tmp_path, network, form, arch, level):
    graph, arrays = built(network, form)
    here, there = answers(runners, graph, arrays, arch, level, tmp_path)
    for i, (one, other) in enumerate(zip(here, there, strict=True)):
        assert one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.kind == "f":
            tolerance = 1e-5 if one.dtype == np.float32 else 1e-13
            assert np.abs(one - other).max() <= tolerance * max(1, np.ptp(one)), f"output {i}"
        else:
            np.testing.assert_array_equal(one, other, err_msg=f"output {i}")


@pytest.mark.parametrize("part", ["input", "intermediate"])
def test_blocks_beyond_short_addresses_are_refused(runners, tmp_path, part):
    """A tensor of 2 GB and more has no addresses on a processor of 32 bits."""
    sys.path.insert(0, str(BUILD / "python"))
    from openatc import builder
    graph = builder.Graph("net")
    rows = 600_000_000
    x = graph.input("x", "float32", [1, rows if part == "input" else 1])
    y = x if part == "input" else graph.op("Expand", x, np.array([1, rows]))
    graph.output("y_y", graph.op("ReduceMax", graph.op("Cos", y), np.array([1])))
    compiled(graph.to_onnx(), "armv7,x86-64-v2", tmp_path / "large", refused="armv7-a out of --target_cpu")
    # Code for other machines is looked at later.
    model = compiled(graph.to_onnx(), "x86-64-v2", tmp_path / "large")
    (tmp_path / "inputs").write_bytes(b"")
    text = run(*emulator("armv7"), runners("armv7"), model, tmp_path / "inputs", tmp_path / "outputs", fails=True)
    assert re.match(r"8: the model needs 2\d{9} bytes in one piece for .*addresses of 32 bits", text), text
