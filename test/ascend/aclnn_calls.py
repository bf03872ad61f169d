# Calls of aclnn functions from Python, for the tests of this folder.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import pathlib

import numpy as np
import pytest
from acl_begin import BEGUN

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
LIBRARIES = pathlib.Path(os.environ.get("OPENATC_ACL_LIBRARY_DIR", BUILD / "lib"))
TYPES = {"float32": 0, "float16": 1, "int32": 3, "int64": 9, "bool": 12, "int8": 2, "uint8": 4, "float64": 11}
POINTER, LONG, BOOL, DOUBLE = ctypes.c_void_p, ctypes.c_int64, ctypes.c_bool, ctypes.c_double
TINY = ctypes.c_int8


@pytest.fixture(scope="module")
def acl():
    library = ctypes.CDLL(str(LIBRARIES / "libascendcl.so"))
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    for name in ("Tensor", "Scalar", "IntArray", "TensorList"):
        getattr(library, f"aclCreate{name}").restype = POINTER
    assert library.aclInit(None) in BEGUN and library.aclrtSetDevice(0) == 0
    yield library
    assert library.aclrtResetDevice(0) == 0 and library.aclFinalize() == 0


class Tensor:
    """Device memory with the elements of an array, and a tensor of them."""

    def __init__(self, acl, array, kind=None, dims=None):
        self.acl, self.array = acl, np.asarray(array)
        dense = np.ascontiguousarray(self.array)
        self.data = POINTER()
        assert acl.aclrtMalloc(ctypes.byref(self.data), ctypes.c_size_t(max(dense.nbytes, 1)), 0) == 0
        ctypes.memmove(self.data, dense.ctypes.data, dense.nbytes)
        shape = self.array.shape if dims is None else dims
        dims, rank = (LONG * 8)(*shape), ctypes.c_uint64(len(shape))
        kind = TYPES[self.array.dtype.name] if kind is None else kind
        self.handle = POINTER(acl.aclCreateTensor(dims, rank, kind, None, LONG(0), 2, dims, rank, self.data))
        assert self.handle.value

    def read(self):
        result = np.empty(self.array.shape, self.array.dtype)
        ctypes.memmove(result.ctypes.data, self.data, result.nbytes)
        return result


def call(acl, name, *arguments):
    """Calls both functions of a pair. Arrays of NumPy are inputs, lists of numbers arrays, floats
    scalars, and tuples lists of tensors."""
    values, kept = prepare(acl, arguments)
    size, executor = ctypes.c_uint64(), POINTER()
    function = getattr(acl, f"aclnn{name}GetWorkspaceSize")
    code = function(*values, ctypes.byref(size), ctypes.byref(executor))
    assert code == 0, (name, code, acl.aclGetRecentErrMsg())
    code = getattr(acl, f"aclnn{name}")(None, size, executor, None)
    assert code == 0 and acl.aclrtSynchronizeStream(None) == 0, (name, code, acl.aclGetRecentErrMsg())
    del kept


def shown(acl, tensor):
    """Returns the dims that a tensor has now."""
    dims, rank = ctypes.POINTER(LONG)(), ctypes.c_uint64()
    assert acl.aclGetViewShape(tensor.handle, ctypes.byref(dims), ctypes.byref(rank)) == 0
    return dims[:rank.value]


def refused(acl, name, *arguments):
    """Returns the message of a call that is refused, whose arguments are those of call."""
    values, kept = prepare(acl, arguments)
    size, executor = ctypes.c_uint64(), POINTER()
    code = getattr(acl, f"aclnn{name}GetWorkspaceSize")(*values, ctypes.byref(size), ctypes.byref(executor))
    assert code == 161002 and not executor.value, (name, code)
    del kept
    return acl.aclGetRecentErrMsg().decode()


def failed(acl, name, *arguments):
    """Returns the message of a call that fails when it is run."""
    values, kept = prepare(acl, arguments)
    size, executor = ctypes.c_uint64(), POINTER()
    assert getattr(acl, f"aclnn{name}GetWorkspaceSize")(*values, ctypes.byref(size), ctypes.byref(executor)) == 0
    code = getattr(acl, f"aclnn{name}")(None, size, executor, None)
    assert acl.aclrtSynchronizeStream(None) != 0 or code != 0
    del kept
    return acl.aclGetRecentErrMsg().decode()


def prepare(acl, arguments):
    """Returns what a function takes for the arguments of call, and what must stay until it ends."""
    values, kept = [], []
    for argument in arguments:
        if isinstance(argument, tuple):
            tensors = [item if isinstance(item, Tensor) else Tensor(acl, item) for item in argument]
            kept += tensors
            handles = (POINTER * len(tensors))(*(tensor.handle for tensor in tensors))
            argument = POINTER(acl.aclCreateTensorList(handles, ctypes.c_uint64(len(tensors))))
        if isinstance(argument, np.ndarray):
            argument = Tensor(acl, argument)
        if isinstance(argument, Tensor):
            kept.append(argument)
            values.append(argument.handle)
        elif isinstance(argument, list):
            numbers = (LONG * len(argument))(*argument)
            values.append(POINTER(acl.aclCreateIntArray(numbers, ctypes.c_uint64(len(argument)))))
        elif isinstance(argument, float):
            values.append(POINTER(acl.aclCreateScalar(ctypes.byref(ctypes.c_float(argument)), 0)))
        else:
            values.append(argument)
    return values, kept


def whole(acl, value, kind="int64"):
    """Returns a scalar that is a whole number."""
    number = np.array(value, kind)
    return POINTER(acl.aclCreateScalar(ctypes.c_void_p(number.ctypes.data), TYPES[kind]))


def drawer(seed):
    """A function that draws an array of the given dims."""
    rng = np.random.default_rng(seed)
    return rng, lambda *dims, dtype=np.float32: rng.standard_normal(dims).astype(dtype)


def zeros(acl, *dims, kind=np.float32):
    return Tensor(acl, np.zeros(dims, kind))


def close(tensor, want, tolerance=2e-3):
    """A tensor has the wanted elements, but for a part of the largest one."""
    want = np.asarray(want, np.float64)
    most = np.nanmax(np.abs(want), initial=0)
    np.testing.assert_allclose(tensor.read(), want, rtol=tolerance, atol=tolerance * max(1, most))
