# Operators whose axes, shapes and orders are inputs: values that are constants, or that a program has
# only in memory, are part of what is compiled, so each other value is another operator.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import pathlib
import sys

import numpy as np
import pytest
from acl_begin import BEGUN

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, os.environ.get("OPENATC_ACL_PYTHON", str(BUILD / "python")))
TYPES = {"float32": 0, "int32": 3, "int64": 9}
HOST = 1
A = np.arange(9, dtype=np.float32).reshape(3, 3)
NOT_FOUND = 100024


@pytest.fixture(scope="module")
def acl():
    os.environ["OPENATC_ATC"] = str(BUILD / "bin/atc")
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
