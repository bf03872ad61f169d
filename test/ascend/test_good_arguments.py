# Functions that no other test of this folder calls with what they are made for. Run with `pytest
# test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes

import pytest
from acl_begin import BEGUN
from test_every_function import LIBRARIES
from test_python import compiled

POINTER, INT, LONG, SIZE = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t
FLOAT, FLOAT16, FORMAT_ND, NO_KERNELS = 0, 1, 2, 200001
NOT_REGISTERED, REGISTERED, INVALID_PARAM, INVALID_HANDLE = 100028, 100030, 100000, 200005
CHOOSE = ctypes.CFUNCTYPE(INT, INT, POINTER, INT, POINTER, POINTER, POINTER)
REPORT = ctypes.CFUNCTYPE(None, POINTER)


@pytest.fixture(scope="module")
def acl():
    library = ctypes.CDLL(str(LIBRARIES / "libascendcl.so"))
    for name in ("aclCreateTensorDesc", "aclGetTensorDescAddress", "aclGetTensorDescByIndex", "aclmdlCreateDesc",
                 "aclmdlCreateAIPP", "aclopCreateAttr"):
        getattr(library, name).restype = POINTER
    assert library.aclInit(None) in BEGUN and library.aclrtSetDevice(0) == 0
    yield library
    assert library.aclrtResetDevice(0) == 0 and library.aclFinalize() == 0


def description(acl, kind=FLOAT, dims=(2, 3)):
    return POINTER(acl.aclCreateTensorDesc(kind, len(dims), (LONG * len(dims))(*dims), FORMAT_ND))


def test_descriptions_of_tensors(acl):
    tensor = description(acl)
    assert acl.aclGetTensorDescFormat(tensor) == FORMAT_ND
    assert acl.aclGetTensorDescAddress(tensor) is None  # operators have their data in buffers
    assert acl.aclGetTensorDescByIndex(tensor, SIZE(0)) == tensor.value
    assert acl.aclGetTensorDescByIndex(tensor, SIZE(1)) is None
    acl.aclDestroyTensorDesc(tensor)
    assert acl.aclGetTensorDescFormat(tensor) == -1


def test_functions_that_choose_kernels(acl):
    seen = []
    choose = CHOOSE(lambda inputs, _, outputs, *__: seen.append((inputs, outputs)) or 0)
    x, y, attributes = description(acl), description(acl, FLOAT16), POINTER(acl.aclopCreateAttr())
    assert acl.aclopSetAttrFloat(attributes, b"alpha", ctypes.c_float(0.5)) == 0
    assert acl.aclopSetAttrFloat(attributes, None, ctypes.c_float(0.5)) == INVALID_PARAM
    call = b"MyOp", 1, (POINTER * 1)(x), 1, (POINTER * 1)(y), attributes
    assert acl.aclopUpdateParams(*call) == NOT_REGISTERED
    assert acl.aclopRegisterCompileFunc(b"MyOp", choose) == 0
    assert acl.aclopRegisterCompileFunc(b"MyOp", choose) == REGISTERED
    assert acl.aclopUpdateParams(*call) == NO_KERNELS and seen == [(1, 1)]  # none was set
    assert acl.aclopUnregisterCompileFunc(b"MyOp") == 0
    # Kernels of the vendor's instruction set do not run here.
    assert acl.aclopCreateKernel(b"MyOp", b"id", b"kernel", b"code", 4, 0, None) == NO_KERNELS
    assert acl.aclopSetKernelArgs(None, b"id", 1, b"args", 4) == NO_KERNELS
    acl.aclopDestroyAttr(attributes)
    for tensor in (x, y):
        acl.aclDestroyTensorDesc(tensor)


def test_parameters_of_images(acl):
    parameters = POINTER(acl.aclmdlCreateAIPP(ctypes.c_uint64(2)))
    assert acl.aclmdlSetAIPPAxSwapSwitch(parameters, ctypes.c_int8(1)) == 0
    assert acl.aclmdlSetAIPPAxSwapSwitch(parameters, ctypes.c_int8(2)) == INVALID_PARAM
    scale = ctypes.c_int8(1), 64, 64, 32, 32
    assert acl.aclmdlSetAIPPScfParams(parameters, *scale, ctypes.c_uint64(1)) == 0
    assert acl.aclmdlSetAIPPScfParams(parameters, *scale, ctypes.c_uint64(2)) == INVALID_PARAM
    assert acl.aclmdlDestroyAIPP(parameters) == 0
    assert acl.aclmdlSetAIPPAxSwapSwitch(parameters, ctypes.c_int8(1)) == INVALID_HANDLE


def test_a_model_in_memory_of_the_program(acl, tmp_path):
    model = compiled(tmp_path, "digits").read_bytes()
    work, weights, number = SIZE(), SIZE(), ctypes.c_uint32()
    assert acl.aclmdlQuerySizeFromMem(model, SIZE(len(model)), ctypes.byref(work), ctypes.byref(weights)) == 0
    memory = [POINTER(), POINTER()]
    for pointer, size in zip(memory, (work, weights), strict=True):
        assert acl.aclrtMalloc(ctypes.byref(pointer), SIZE(size.value + 1), 0) == 0

    def load(size):
        return acl.aclmdlLoadFromMemWithMem(model, SIZE(len(model)), ctypes.byref(number), memory[0], work,
                                            memory[1], SIZE(size))
    assert load(weights.value - 1) == INVALID_PARAM
    assert load(weights.value) == 0
    facts, dims = POINTER(acl.aclmdlCreateDesc()), (LONG * 145)()  # a name of 128 bytes, a count, 128 dims
    assert acl.aclmdlGetDesc(facts, number) == 0
    assert acl.aclmdlGetOutputDataType(facts, SIZE(0)) == FLOAT and acl.aclmdlGetOutputDataType(facts, SIZE(9)) == -1
    assert acl.aclmdlGetInputDimsV2(facts, SIZE(0), dims) == 0 and list(dims[16:21]) == [4, 1, 1, 28, 28]
    assert acl.aclmdlGetInputDimsV2(facts, SIZE(9), dims) == INVALID_PARAM
    assert acl.aclmdlDestroyDesc(facts) == 0 and acl.aclmdlUnload(number) == 0
    for pointer in memory:
        assert acl.aclrtFree(pointer) == 0


def test_what_an_exception_says(acl):
    seen = []
    asks = [getattr(acl, f"aclrtGet{what}FromExceptionInfo") for what in ("TaskId", "StreamId", "DeviceId")]
    for ask in asks:
        ask.restype, ask.argtypes = ctypes.c_uint32, [POINTER]
    report = REPORT(lambda info: seen.append([ask(info) for ask in asks]))
    assert acl.aclrtSetExceptionInfoCallback(report) == 0
    assert [ask(None) for ask in asks] == [0xFFFFFFFF] * 3
    assert acl.aclrtSetExceptionInfoCallback(None) == 0 and seen == []
