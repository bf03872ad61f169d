#!/usr/bin/env python3
# Every function that the headers declare is there, and none crashes on what it cannot use.
# Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import pathlib
import re
import subprocess
import sys

import pytest
from acl_begin import BEGUN

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
LIBRARIES = pathlib.Path(os.environ.get("OPENATC_ACL_LIBRARY_DIR", BUILD / "lib"))
HEADERS = ROOT / "ascend/include/acl"
DECLARED = re.compile(r"(?:ACL_FUNC_VISIBILITY|MSVP_PROF_API)\s+([\w\s]+?[\s*]+)(\w+)\(([^;{]*?)\)"
                      r"(?:\s*#if.*?#endif)?\s*;", re.S)
# What waits, or ends what the test needs.
LEFT_OUT = {"aclAppLog", "aclInit", "aclFinalize", "aclFinalizeReference", "aclrtProcessReport", "aclGetRecentErrMsg",
            "aclrtProcessHostFunc", "aclrtPeekAtLastError", "aclrtGetLastError"}
HANDLES = {"aclrtStream", "aclrtEvent", "aclrtContext", "aclrtNotify", "aclrtCntNotify",
           "aclrtDrvMemHandle", "aclmdlRI", "aclrtBinary", "aclrtBinHandle",
           "aclrtFuncHandle", "aclrtArgsHandle", "aclrtParamHandle", "aclrtMbuf", "aclrtLabel",
           "aclrtLabelList", "aclrtTaskGrp", "aclrtMemPool", "aclmdlRITask"}
POINTERS = HANDLES | {"aclrtCallback", "aclrtHostFunc",
            "aclopCompileFunc", "aclDataDeallocator", "aclvdecCallback", "aclvencCallback",
            "aclrtExceptionInfoCallback", "acltdtBuf", "aclrtAllocatorDesc", "aclrtAllocator",
            "aclrtAllocatorAllocFunc", "aclrtAllocatorFreeFunc", "aclrtAllocatorAllocAdviseFunc",
            "aclrtAllocatorGetAddrFromBlockFunc", "acldumpMessageCallback",
            "aclrtNotify", "aclrtCntNotify", "aclrtDrvMemHandle", "aclInitCallbackFunc", "aclFinalizeCallbackFunc",
            "aclrtDeviceStateCallback", "aclrtStreamStateCallback", "aclrtDeviceTaskAbortCallback",
            "aclrtSnapShotCallBack", "aclrtOpExceptionCallback"}
MEDIA = ("acldvpp", "aclvdec", "aclvenc", "hi_")
WORDS = {"uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t,
         "float": ctypes.c_float, "double": ctypes.c_double, "int16_t": ctypes.c_int16,
         "uint8_t": ctypes.c_uint8, "int8_t": ctypes.c_int8}


def declared():
    """{function: (result, types of arguments)} of all headers."""
    found = {}
    for header in sorted(HEADERS.rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        text = re.sub(r"^#define[^\n]*(\\\n[^\n]*)*", "", text, flags=re.M)
        for result, name, arguments in DECLARED.findall(text):
            parts = [" ".join(part.split()) for part in arguments.split(",")]
            found[name] = (result.strip(), [] if parts in ([""], ["void"]) else parts)
    return found


def libraries():
    return [name for name in ("libascendcl.so", "libacl_dvpp.so") if (LIBRARIES / name).exists()]


def kind_of(argument):
    if "*" in argument or "[" in argument or \
            argument.removeprefix("const ").split()[0] in POINTERS:
        return ctypes.c_void_p
    return next((kind for word, kind in WORDS.items() if word in argument), ctypes.c_int32)


def test_the_headers_are_read():
    functions = declared()
    assert len(functions) > 480
    assert functions["aclrtMemcpy"][1][1] == "size_t destMax"
    assert sum(name.startswith(MEDIA[:3]) for name in functions) == 176
    assert sum(name.startswith("acltdt") for name in functions) > 50
    assert sum(name.startswith("hi_") for name in functions) > 50


def test_every_function_is_exported():
    exported = set()
    for name in libraries():
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / name],
                                capture_output=True, text=True, check=True).stdout
        exported |= {line.split()[-1] for line in listed.splitlines()}
    wanted = {name for name in declared() if len(libraries()) == 2
              or not name.startswith(MEDIA)}
    assert wanted <= exported, sorted(wanted - exported)


def call_all(handle):
    """Calls every function with zeros, and with `handle` for each pointer to a handle."""
    opaque = re.compile(r"^(const )?(acl\w+|tagRtGroupInfo|rtExceptionInfo) \*\w+$")
    filled = {"aclmdlIODims", "aclmdlBatch", "aclmdlHW", "aclAippInfo", "aclmdlIODimsRange",
              "aclmdlExeOMDesc", "aclrtUtilizationInfo", "aclFloat16", "aclrtRunMode",
              "aclmdlInputAippType", "aclrtContext", "aclrtStream", "aclrtEvent", "acldvppJpegFormat",
              "aclrtFloatOverflowMode", "aclrtStreamStatus", "aclrtEventStatus", "aclDataType",
              "aclrtEventRecordedStatus", "aclrtEventWaitStatus", "aclrtExceptionInfo", "acltdtBuf",
              "aclrtMallocConfig", "aclrtPtrAttributes", "aclrtMemUsageInfo", "aclrtNotify",
              "aclrtMemcpyBatchAttr", "aclrtDrvMemHandle", "aclrtPhysicalMemProp",
              "aclrtMemAccessDesc", "aclrtMemLocation", "aclrtCntNotify", "aclrtDeviceStatus",
              "aclrtCntNotifyRecordInfo", "aclrtCntNotifyWaitInfo", "aclrtStreamAttrValue",
              "aclCANNPackageVersion", "aclmdlRI", "aclmdlRICaptureStatus", "aclmdlRICaptureMode",
              "aclrtUuid", "aclCannAttr", "aclrtAtomicOperation", "aclrtBinHandle", "aclrtFuncHandle", "aclrtArgsHandle",
              "aclrtParamHandle", "aclrtMbuf", "aclrtBinaryLoadOptions", "aclrtLaunchKernelCfg",
              "aclrtPlaceHolderInfo", "aclrtErrorInfo", "aclrtMemUceInfo", "aclrtRandomNumTaskInfo",
              "aclrtTaskUpdateInfo", "aclrtBarrierTaskInfo", "aclrtServerPid", "aclrtIpcEventHandle",
              "aclrtTaskGrp", "aclrtLabel", "aclrtLabelList", "aclrtMemPool", "aclrtMemPoolProps",
              "aclprofEventAttributes", "aclmdlRITask", "aclmdlRITaskParams", "aclmdlRITaskType",
              "aclrtLaunchKernelAttrValue", "aclrtSnapShotBackupArgs", "aclrtSnapShotRestoreArgs",
              "aclrtHostMemMapCapability", "aclrtAllocatorAllocFunc", "aclrtAllocatorFreeFunc",
              "aclrtAllocatorAllocAdviseFunc", "aclrtAllocatorGetAddrFromBlockFunc",
              "aclrtAllocator", "aclrtAllocatorDesc"}
    loaded = [ctypes.CDLL(str(LIBRARIES / name), mode=ctypes.RTLD_GLOBAL) for name in libraries()]
    assert loaded[0].aclInit(None) in BEGUN and loaded[0].aclrtSetDevice(0) == 0
    refused = 0
    for name, (result, arguments) in sorted(declared().items()):
        function = next((getattr(library, name) for library in loaded if hasattr(library, name)),
                        None)
        if function is None or name in LEFT_OUT or "Reset" in name:
            continue
        values = []
        for argument in arguments:
            kind = kind_of(argument)
            match = opaque.match(argument)
            is_handle = match and match.group(2) not in filled or \
                argument.split()[0] in HANDLES and "*" not in argument
            values.append(kind(handle) if is_handle and handle else kind())
        function.restype = ctypes.c_void_p if "*" in result else \
            ctypes.c_int32 if result == "aclError" else ctypes.c_uint64
        print(name, flush=True)
        code = function(*values)
        if result == "aclError" and code != 0:
            refused += 1
            loaded[0].aclGetRecentErrMsg.restype = ctypes.c_char_p
            message = loaded[0].aclGetRecentErrMsg()
            assert message and f"[{code}]" in message.decode(), (name, code, message)
    print("refused", refused)


@pytest.mark.parametrize("handle", [0, 0x1230, 0x0A04000000000120])
def test_nothing_crashes(handle):
    result = subprocess.run([sys.executable, __file__, str(handle)], capture_output=True, text=True,
                            timeout=300)
    lines = result.stdout.splitlines()
    assert result.returncode == 0, lines[-1:] + [result.stderr]
    assert lines[-1].startswith("refused") and int(lines[-1].split()[1]) > 250


if __name__ == "__main__":
    call_all(int(sys.argv[1]))
