#===-- test_tile_registers.py - int8 networks in the tile registers of x86-64-v4-amx -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized networks compiled for AMX have the results of the other levels, bit by bit, with any
number of threads; the loader selects AMX only where the system permits it."""

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, compile_model  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

LEVEL = "x86-64-v4-amx"
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="AMX belongs to x86-64")


def processor_has_amx():
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return False
    return {"amx_tile", "amx_int8", "avx512_vnni"} <= set(flags)


needs_amx = pytest.mark.skipif(not processor_has_amx(), reason="this processor has no AMX")


class Graph:
    """A network between float tensors, of QDQ form: activations of type `bytes_`, i8 weights per
    channel."""

    def __init__(self, seed, bytes_=np.uint8):
        self.rng = np.random.default_rng(seed)
        self.bytes = bytes_
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def quantized(self, x, scale=0.05, zero=117):
        zero = self.bytes(zero + np.iinfo(self.bytes).min)
        parameters = self.constant(np.float32(scale)), self.constant(zero)
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *parameters),
                         *parameters)

    def weights(self, shape):
        scales = self.constant(self.rng.uniform(0.001, 0.003, shape[0]).astype(np.float32))
        zeros = self.constant(np.zeros(shape[0], np.int8))
        values = self.constant(self.rng.integers(-128, 128, shape).astype(np.int8))
        return self.node("DequantizeLinear", values, scales, zeros, axis=0)

    def conv(self, x, channels, inputs, kernel=1, stride=1):
        bias = self.constant((0.1 * self.rng.standard_normal(channels)).astype(np.float32))
        return self.node("Conv", x, self.weights([channels, inputs, kernel, kernel]), bias,
                         kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=[kernel // 2] * 4)

    def save(self, path, inputs, outputs, element=TensorProto.FLOAT):
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, "network",
            [value(name, element, shape) for name, shape in inputs.items()],
            [value(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, str(path))
        return path


def residual_network(path, images=1, bytes_=np.uint8):
    """Windows of 1 and 3, strides, a sum that is added in place, channels that do not fill blocks
    or pairs of blocks, a dense layer."""
    graph = Graph(5, bytes_)
    x = graph.quantized("x")
    x = graph.quantized(graph.node("Relu", graph.conv(x, 64, 16, 3)))
    y = graph.quantized(graph.node("Relu", graph.conv(x, 80, 64, 3)))
    y = graph.quantized(graph.conv(y, 64, 80))
    x = graph.quantized(graph.node("Relu", graph.node("Add", y, x)))
    x = graph.quantized(graph.conv(x, 40, 64, 3, stride=2))
    x = graph.quantized(graph.conv(x, 72, 40, 1, stride=2))
    pooled = graph.quantized(graph.node("GlobalAveragePool", x))
    flat = graph.node("Flatten", pooled)
    graph.node("Gemm", flat, graph.weights([50, 72]), transB=1)
    graph.node("Identity", x)
    return graph.save(path, {"x": [images, 16, 30, 27]},
                      {graph.nodes[-2].output[0]: [images, 50],
                       graph.nodes[-1].output[0]: [images, 72, 8, 7]})


def dynamic_product(path, rows=37):
    """A product with bytes whose scale each run computes, as in language models."""
    graph = Graph(6)
    graph.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]))
    weights = graph.rng.integers(-128, 128, (160, 208)).astype(np.int8)
    sums = graph.node("MatMulInteger", "q", graph.constant(weights), "zero",
                      graph.constant(np.int8(0)))
    result = graph.node("Mul", graph.node("Cast", sums, to=TensorProto.FLOAT), "scale")
    return graph.save(path, {"x": [rows, 160]}, {result: [rows, 208]})


def signed_product(path, rows=37):
    """A product with signed bytes that the caller has, so that nothing before makes them unsigned;
    its columns are whole blocks and a rest."""
    graph = Graph(7)
    weights = graph.rng.integers(-128, 128, (160, 200)).astype(np.int8)
    sums = graph.node("MatMulInteger", "x", graph.constant(weights), graph.constant(np.int8(-5)),
                      graph.constant(np.int8(0)))
    result = graph.node("Cast", sums, to=TensorProto.FLOAT)
    return graph.save(path, {"x": [rows, 160]}, {result: [rows, 200]}, TensorProto.INT8)


NETWORKS = {"residual": residual_network, "product": dynamic_product,
            "images": lambda path: residual_network(path, images=3),
            "signed residual": lambda path: residual_network(path, bytes_=np.int8),
            "signed product": signed_product}
# The instruction is `tdpbusd` where bytes are, or have become, unsigned.
PRODUCTS = {"signed product": "tdpbssd"}


def results(om, threads, runs=1, level=None):
    session = Session(RUNTIME, om, threads, level)
    rng = np.random.default_rng(2)
    for _, array in session.inputs:
        values = rng.standard_normal(array.shape)
        array[...] = values if array.dtype == np.float32 else (40 * values).clip(-128, 127)
    for _ in range(runs):
        session.run()
    arrays = [array.copy() for _, array in session.outputs]
    session.close()
    return arrays


def has_products_of_tiles(folder, instruction="tdpbusd"):
    return any(instruction in path.read_text(encoding="utf-8") for path in Path(folder).rglob("*.s"))


@pytest.mark.parametrize("name", NETWORKS)
@needs_amx
def test_results_are_those_of_other_levels(tmp_path, name):
    model = NETWORKS[name](tmp_path / "network.onnx")
    want = {}
    for level in ("x86-64-v3", "x86-64-v4-vnni", LEVEL):
        folder = tmp_path / level
        folder.mkdir()
        om = compile_model(model, folder, f"--target_cpu={level}", f"--save_temps={folder}")
        instruction = PRODUCTS.get(name, "tdpbusd")
        assert has_products_of_tiles(folder, instruction) == (level == LEVEL)
        for threads in (1, 2, 3):
            got = results(om, threads, runs=3)
            want = want or got
            for own, other in zip(got, want, strict=True):
                assert len(np.unique(own)) > 20
                np.testing.assert_array_equal(own, other, err_msg=f"{level}, {threads} threads")


# A stack for signals that is too small for the registers: the system refuses the permission.
LOAD_WITHOUT_PERMISSION = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
class Stack(ctypes.Structure):
    _fields_ = [("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
memory = ctypes.create_string_buffer(8192)
small = Stack(ctypes.addressof(memory), 0, len(memory))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.sigaltstack(ctypes.byref(small), None) == 0
assert libc.syscall(158, 0x1023, 18) == -1
from openatc_runtime import Session
try:
    print(Session(sys.argv[2], sys.argv[3], 1).info.cpu_level.decode())
except RuntimeError as error:
    print(error)
"""


@needs_amx
def test_loader_asks_for_permission(tmp_path):
    model = dynamic_product(tmp_path / "network.onnx")

    def refused(om):
        command = [sys.executable, "-c", LOAD_WITHOUT_PERMISSION,
                   Path(__file__).resolve().parents[1] / "common", RUNTIME, om]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    both = compile_model(model, tmp_path, f"--target_cpu=x86-64-v4-vnni,{LEVEL}",
                         f"--save_temps={tmp_path}")
    assert has_products_of_tiles(tmp_path)
    session = Session(RUNTIME, both, 1)
    assert session.info.cpu_level.decode() == LEVEL
    session.close()
    for own, other in zip(results(both, 2), results(both, 2, level="x86-64-v4-vnni"), strict=True):
        np.testing.assert_array_equal(own, other)
    assert refused(both) == "x86-64-v4-vnni"
    only = compile_model(model, tmp_path, f"--target_cpu={LEVEL}")
    text = refused(only)
    assert "lacks amx-tile, amx-int8, which" in text and LEVEL in text


def test_other_processors_name_what_they_lack(tmp_path):
    """The compiler has the code of the level everywhere."""
    om = compile_model(dynamic_product(tmp_path / "network.onnx"), tmp_path,
                       f"--target_cpu={LEVEL}")
    if processor_has_amx():
        assert all(np.isfinite(array).all() for array in results(om, 1))
        return
    with pytest.raises(RuntimeError, match="amx-tile, amx-int8"):
        Session(RUNTIME, om, 1)
