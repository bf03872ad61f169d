#!/usr/bin/env python3
# Every aclnn function with tensors, lists, scalars and numbers that are wrong in all ways: handles that are
# freed, of another kind or none, dims and strides that wrap, sizes beyond all memory. None may crash.
# Run with `pytest test/robustness`; by hand: test_aclnn_hostile.py SEED ROUNDS [FUNCTION...].
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes as C
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/ascend"))
from acl_begin import BEGUN  # noqa: E402

BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
LIBRARIES = pathlib.Path(os.environ.get("OPENATC_ACL_LIBRARY_DIR", BUILD / "lib"))
MOST = 2**63 - 1
MEMORY = 1 << 16
SHAPES = [[2, 3], [2, 3], [4], [], [1, 4, 4, 2], [2, 2, 8, 8], [0], [2, 0], [1] * 8]
TYPES = [0, 0, 0, 1, 3, 9, 27, 12, 4, 2, 11, 17, 28, -1]
NUMBERS = [0, 1, 2, 3, -1, -2, 100, 2**31, 2**62, -2**63, MOST]
ARRAYS = [[0], [1], [0, 1], [-1], [2, 2], [1] * 4, [], [MOST], [-2**63, 1], [2**31] * 2, [0] * 64, [3, 3], [2**40] * 2, [0] * 2]
TEXTS = [b"BNSD", b"BSH", b"none", b"mean", b"tanh", b"", b"0", b"ij,jk->ik", b"\xff\xfe" * 50, b"x" * 10000, None]


def declared():
    """{function: its arguments, but for the two that GetWorkspaceSize adds}."""
    headers = sorted((ROOT / "ascend/include/aclnnop").glob("*.h"))
    text = "".join(f'#include "aclnnop/{header.name}"\n' for header in headers)
    text = subprocess.run(["cc", "-E", "-P", "-xc", "-I", ROOT / "ascend/include", "-"], input=text, text=True,
                          capture_output=True, check=True).stdout
    found = re.findall(r"(aclnn\w+)GetWorkspaceSize\s*\(([^;]*?)\)\s*;", text, re.S)
    return {name: [" ".join(part.split()).removeprefix("const ") for part in arguments.split(",")][:-2]
            for name, arguments in found}


class Values:
    """Draws arguments; `easy` ones are mostly right."""

    def __init__(self, library, seed):
        self.library, self.rng, self.easy = library, random.Random(seed), False
        for name in ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList"):
            getattr(library, f"aclCreate{name}").restype = C.c_void_p
        self.place = C.c_void_p()
        assert library.aclrtMalloc(C.byref(self.place), C.c_size_t(MEMORY), 0) == 0

    def made(self, kind, values, element):
        array = (element * max(1, len(values)))(*values)
        return getattr(self.library, f"aclCreate{kind}")(array, C.c_uint64(len(values)))

    def perhaps_freed(self, handle, kind, share=.06):
        if handle and not self.easy and self.rng.random() < share:
            getattr(self.library, f"aclDestroy{kind}")(C.c_void_p(handle))
        return handle

    def tensor(self):
        rng = self.rng
        right = self.easy and rng.random() < .85
        dims, strides, offset, storage, data, form = rng.choice(SHAPES), None, 0, None, self.place.value, 2
        kind = rng.choice(TYPES) if rng.random() < .5 else 0
        what = "" if right else rng.choice(["", "data", "dims", "strides", "offset", "storage", "rank", "form", "other",
                                            "wild", "null"])
        if what in ("wild", "null"):
            return 0x1230 if what == "wild" else None
        if what == "other":
            return self.scalar()
        if what == "data":
            data = None
        if what == "dims":
            dims = rng.choice([[-1], [2, -3], [2**40], [2**62, 4], [2**31, 2**31, 4], [MOST], [-2**63], [3, 2**61]])
        if what == "strides":
            dims, strides = [2, 3], rng.choice([[2**62] * 2, [-1, -1], [-2**63, 1], [0, 0], [MOST] * 2, [1, 1]])
        if what == "offset":
            offset = rng.choice([-1, 2**62, MOST, -2**63, 10**6])
        if what == "storage":
            storage = rng.choice([[0], [1], [-5], [2**62, 8]])
        if what == "rank":
            dims = [1] * rng.choice([9, 20, 33])
        if what == "form":
            form = rng.choice([0, 1, 29, -1, 999])
        if strides is None:
            strides, step = [], 1
            for dim in reversed(dims):
                strides.insert(0, step)
                step = max(-2**63, min(MOST, step * dim))
        storage = storage if storage is not None else dims

        def numbers(values):
            return (C.c_int64 * max(1, len(values)))(*values)
        handle = self.library.aclCreateTensor(numbers(dims), C.c_uint64(len(dims)), kind, numbers(strides), C.c_int64(offset),
                                              form, numbers(storage), C.c_uint64(len(storage)), C.c_void_p(data))
        return handle if right else self.perhaps_freed(handle, "Tensor")

    def scalar(self):
        value = self.rng.choice([0., 1., -1., float("nan"), float("inf"), 1e38, 3.])
        kind = self.rng.choice([0, 0, 11, 3, 9, 1, 12, 99, 28])
        whole = int(value) if abs(value) < 1e18 else -2**63
        data = struct.pack("f", value) if kind == 0 else struct.pack("d", value) if kind == 11 else struct.pack("q", whole)
        return self.perhaps_freed(self.library.aclCreateScalar(C.create_string_buffer(data, 16), kind), "Scalar")

    def of(self, argument):
        rng = self.rng
        kind = argument.split()[0].removeprefix("acl").rstrip("*")
        if kind in ("TensorList", "ScalarList"):
            items = [self.tensor() if kind[0] == "T" else self.scalar() for _ in range(rng.choice([0, 1, 2, 2, 3]))]
            return C.c_void_p(self.perhaps_freed(self.made(kind, items, C.c_void_p), kind))
        if kind == "Tensor":
            return C.c_void_p(self.tensor())
        if kind == "Scalar":
            return C.c_void_p(rng.choice([None, self.tensor()]) if rng.random() < .2 else self.scalar())
        if kind == "IntArray":
            return C.c_void_p(None if rng.random() < .1 else
                              self.perhaps_freed(self.made(kind, rng.choice(ARRAYS), C.c_int64), kind))
        if kind == "FloatArray":
            return C.c_void_p(self.made(kind, [float("nan"), 0, 1][:rng.choice([0, 1, 3])], C.c_float))
        if kind == "BoolArray":
            return C.c_void_p(self.made(kind, [True, False, True][:rng.choice([0, 1, 3])], C.c_bool))
        if "char" in argument:
            return C.c_char_p(rng.choice(TEXTS))
        if "*" in argument:
            return C.c_void_p(rng.choice([None, self.place.value]))
        if "double" in argument or "float" in argument:
            return (C.c_double if "double" in argument else C.c_float)(
                rng.choice([0., 1., -1., .5, float("nan"), float("inf")]))
        if "bool" in argument.lower():
            return C.c_bool(rng.random() < .5)
        number = rng.choice(NUMBERS)
        return (C.c_int64 if "64" in argument or "size_t" in argument else C.c_int8 if "int8" in argument
                else C.c_int32)(number)


def call_functions(seed, rounds, names):
    """Calls functions in this process and prints the name of each before."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    library = C.CDLL(str(LIBRARIES / "libascendcl.so"), mode=C.RTLD_GLOBAL)
    operators = C.CDLL(str(LIBRARIES / "libopapi.so"), mode=C.RTLD_GLOBAL)
    assert library.aclInit(None) in BEGUN and library.aclrtSetDevice(0) == 0
    stream = C.c_void_p()
    assert library.aclrtCreateStream(C.byref(stream)) == 0
    ran = refused = 0
    for name, arguments in declared().items():
        if names and name not in names:
            continue
        values = Values(library, f"{seed}{name}")
        for i in range(rounds):
            values.easy = i % 2 == 1
            given = [values.of(argument) for argument in arguments]
            print(name, i, flush=True)
            size, executor, memory = C.c_uint64(), C.c_void_p(), C.c_void_p()
            code = getattr(operators, name + "GetWorkspaceSize")(*given, C.byref(size), C.byref(executor))
            refused += code != 0
            if code != 0 or size.value > 1 << 20:
                continue
            if size.value:
                library.aclrtMalloc(C.byref(memory), size, 0)
            getattr(operators, name)(memory, size, executor, stream)
            library.aclrtSynchronizeStream(stream)
            library.aclrtFree(memory)
            ran += 1
    print("ran", ran, "refused", refused)


pytestmark = pytest.mark.skipif(not (LIBRARIES / "libopapi.so").exists() or not shutil.which("cc"),
                                reason="needs libascendcl and a C compiler")


@pytest.mark.parametrize("part", range(4))
def test_no_function_crashes(part):
    rounds = 40 if os.environ.get("OPENATC_NIGHTLY") else 3
    names = sorted(declared())[part::4]
    assert len(names) > 100
    done = subprocess.run([sys.executable, __file__, "1", str(rounds), *names], capture_output=True, text=True,
                          timeout=3000, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    refused = int(lines[-1].split()[-1])
    assert refused > len(names)


@pytest.mark.parametrize("name", ["aclnnVar", "aclnnVarCorrection", "aclnnReplicationPad1d", "aclnnSplitWithSize", "aclnnCat"])
def test_functions_that_did(name):
    """A scalar has an axis 0, but no dim; a pad may be larger than all memory."""
    done = subprocess.run([sys.executable, __file__, "8", "100", name], capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-2000:])


if __name__ == "__main__":
    call_functions(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
