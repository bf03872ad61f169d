# Operators whose axes, shapes and orders are inputs: values that are constants, or that a program has
# only in memory, are part of what is compiled, so each other value is another operator.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import os
import pathlib
import sys

import numpy as np
import pytest
from acl_begin import BEGUN

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, os.environ.get("OPENATC_ACL_PYTHON", str(BUILD / "python")))
TYPES = {"float32": 0, "int32": 3, "int64": 9}
HOST = 1
A = np.arange(9, dtype=np.float32).reshape(3, 3)
NOT_FOUND = 100024


@pytest.fixture(scope="module")
def acl():
    os.environ["OPENATC_ATC"] = openatc_tools.tool("atc")
    acl = pytest.importorskip("acl")
    begun = acl.init()
    assert begun in BEGUN
    assert acl.rt.set_device(0) == 0
    yield acl
    assert acl.rt.reset_device(0) == 0
    assert begun or acl.finalize() == 0


class Operator:
    """A call with inputs in device memory; those of `constants` are constants, too."""

    def __init__(self, acl, type, inputs, output, constants=(), place=0):
        self.acl, self.type, self.output = acl, type, output
        self.kept = []  # what descriptions and buffers in host memory point to
        self.attr = acl.op.create_attr()
        self.stream, _ = acl.rt.create_stream()
        self.inputs = [self.tensor(x, i in constants, place if i else 0) for i, x in enumerate(inputs)]
        self.result = self.tensor(output)

    def tensor(self, array, is_constant=False, place=0):
        acl = self.acl
        desc = acl.create_tensor_desc(TYPES[str(array.dtype)], list(array.shape), 2)
        if is_constant:
            assert acl.set_tensor_const(desc, acl.util.numpy_to_ptr(array), array.nbytes) == 0
        if place == HOST:
            assert acl.set_tensor_place_ment(desc, HOST) == 0
            self.kept.append(array)
            return desc, acl.create_data_buffer(acl.util.numpy_to_ptr(array), array.nbytes)
        memory, ret = acl.rt.malloc(array.nbytes, 0)
        assert ret == 0
        # The bytes have no name, as in many programs.
        assert acl.rt.memcpy(memory, array.nbytes, acl.util.bytes_to_ptr(array.tobytes()), array.nbytes, 1) == 0
        return desc, acl.create_data_buffer(memory, array.nbytes)

    def arguments(self):
        (desc, buffer), inputs = self.result, list(zip(*self.inputs))
        return self.type, list(inputs[0]), list(inputs[1]), [desc], [buffer], self.attr

    def compile_and_execute(self):
        return self.got(self.acl.op.compile_and_execute(*self.arguments(), 0, 0, None, self.stream))

    def execute(self):
        return self.got(self.acl.op.execute_v2(*self.arguments(), self.stream))

    def got(self, ret):
        acl = self.acl
        assert ret == 0, acl.get_recent_err_msg()
        assert acl.rt.synchronize_stream(self.stream) == 0
        memory = acl.util.ptr_to_bytes(acl.get_data_buffer_addr(self.result[1]), self.output.nbytes)
        return np.frombuffer(memory, self.output.dtype).reshape(self.output.shape)


def axis(value):
    return np.array([value], np.int32)


@pytest.mark.parametrize("place", [0, HOST])
def test_values_in_memory(acl, place):
    for value in (1, 0, 1):
        got = Operator(acl, "Cumsum", [A, axis(value)], np.zeros_like(A), place=place).compile_and_execute()
        assert np.array_equal(got, A.cumsum(value))
    for order in ([1, 0], [0, 1]):
        made = Operator(acl, "Transpose", [A, np.array(order, np.int64)], np.zeros_like(A), place=place)
        assert np.array_equal(made.compile_and_execute(), A.transpose(order))


def test_constants(acl):
    for value in (0, 1, 0):
        made = Operator(acl, "ArgMaxV2", [A[::-1].copy(), axis(value)], np.zeros(3, np.int32), constants=[1])
        assert np.array_equal(made.compile_and_execute(), A[::-1].argmax(value))


def test_operators_that_are_loaded(acl):
    """Execution alone finds the operator of the values, and no other one."""
    for value in (0, 1):
        made = Operator(acl, "ReduceSum", [A, axis(value)], np.zeros(3, np.float32), constants=[1])
        assert np.array_equal(made.compile_and_execute(), A.sum(value))
    for value in (0, 1):
        made = Operator(acl, "ReduceSum", [A, axis(value)], np.zeros(3, np.float32))
        assert np.array_equal(made.execute(), A.sum(value))
    other = Operator(acl, "ReduceSum", [A, axis(-1)], np.zeros(3, np.float32))
    assert acl.op.execute_v2(*other.arguments(), other.stream) == NOT_FOUND


@pytest.mark.parametrize("type, inputs, output", [
    ("Add", [A, A], A), ("ReduceSum", [A, axis(1)], np.zeros(3, np.float32))])
def test_the_graph_of_an_operator_is_written(acl, tmp_path, type, inputs, output):
    """Axes that the program has in memory are read, as they are when it is executed."""
    libraries = pathlib.Path(os.environ.get("OPENATC_ACL_LIBRARY_DIR", BUILD / "lib"))
    library = ctypes.CDLL(str(libraries / "libascendcl.so"))
    library.aclCreateGraphDumpOpt.restype = ctypes.c_void_p
    options = ctypes.c_void_p(library.aclCreateGraphDumpOpt())
    made = Operator(acl, type, inputs, output)

    def handles(values):
        return (ctypes.c_void_p * len(values))(*values)

    def dump(name, path):
        descs, buffers = (handles(column) for column in zip(*made.inputs))
        return library.aclGenGraphAndDumpForOp(name, len(inputs), descs, buffers, 1, handles(made.result[:1]),
                                               handles(made.result[1:]), ctypes.c_void_p(made.attr), 0, path, options)
    path = tmp_path / "graph.txt"
    assert dump(type.encode(), str(path).encode()) == 0
    ops = json.loads(path.read_text())["graph"][0]["op"]
    assert [op["type"] for op in ops] == ["Data", "Data" if type == "Add" else "Const", type, "NetOutput"]
    assert ops[2]["input"] == ["x0:0", "x1:0"] and ops[2]["output_desc"][0]["shape"] == {"dim": list(output.shape)}
    assert ops[0]["output_desc"][0]["dtype"] == "DT_FLOAT"
    assert dump(b"NoSuchOperator", str(path).encode()) == NOT_FOUND
    assert dump(type.encode(), None) == 100000
    assert dump(type.encode(), b"/nowhere/graph.txt") == 100004
    assert library.aclDestroyGraphDumpOpt(options) == 0 and library.aclDestroyGraphDumpOpt(options) != 0


def test_float32_stays_without_a_precision_mode(acl):
    """Numbers beyond float16 are moved and added as they are; what products read becomes float16."""
    big = np.float32([[70000.125, 1e6], [-1e30, 3e-8]])
    got = Operator(acl, "Add", [big, big], np.zeros_like(big)).compile_and_execute()
    assert np.array_equal(got, big + big)
    third = np.float32([[1 / 3]])
    got = Operator(acl, "MatMulV2", [third, third], np.zeros_like(third)).compile_and_execute()
    assert got == np.float32(np.float16(1 / 3)) ** 2


def test_another_precision_mode_compiles_an_operator_again(acl):
    third = np.float32([[1 / 3]])

    def difference():
        return Operator(acl, "Sub", [third, third / 1000], np.zeros_like(third)).compile_and_execute()[0, 0]
    exact = difference()
    assert exact == (third - third / 1000)[0, 0]
    v2 = 15  # ACL_PRECISION_MODE_V2
    assert acl.op.set_compile_opt(v2, "fp16") == 0
    try:
        got = difference()
    finally:
        assert acl.op.set_compile_opt(v2, "") == 0
    assert got == np.float32(np.float16(got)) != exact
    assert difference() == exact
