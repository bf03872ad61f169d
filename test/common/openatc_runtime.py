"""The runtime's C API through ctypes, as far as tests and benchmarks need it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes as C

import numpy as np

# 16 is bfloat16, which numpy does not have: its bits.
_DTYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2",
           11: "f8", 12: "u4", 13: "u8", 16: "u2"}


class _Error(C.Structure):
    _fields_ = [("code", C.c_int), ("message", C.c_char * 508)]


class _ModelInfo(C.Structure):
    _fields_ = [("struct_size", C.c_size_t)] + [
        (name, C.c_char_p) for name in ("name", "producer", "command_line", "target", "cpu_level")
    ] + [(name, C.c_uint32) for name in ("schema_major", "schema_minor", "inputs", "outputs",
                                         "tensors", "launches")
    ] + [(name, C.c_uint64) for name in ("file_bytes", "weights_bytes", "code_bytes",
                                         "arena_bytes", "scratch_bytes")]


class _TensorInfo(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("name", C.c_char_p), ("dtype", C.c_int),
                ("rank", C.c_uint32), ("dims", C.POINTER(C.c_int64)), ("elements", C.c_uint64),
                ("bytes", C.c_uint64), ("space", C.c_int), ("block", C.c_uint32)]


class _LoadOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("verify_weights", C.c_int), ("cpu_level", C.c_char_p)]


class _SessionOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("threads", C.c_uint32), ("spin_us", C.c_uint32),
                ("serial_cost", C.c_uint64)]


def aligned(shape, dtype):
    """An array whose data starts at a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size].view(dtype).reshape(shape)


class Session:
    """A loaded `.om` with its own threads; `run` uses the given arrays in place."""

    def __init__(self, library, path, threads=0, cpu_level=None):
        self.lib = C.CDLL(library)
        self.model, self.session, self.error = C.c_void_p(), C.c_void_p(), _Error()
        loading = _LoadOptions(C.sizeof(_LoadOptions), 0, cpu_level.encode() if cpu_level else None)
        self._check(self.lib.om_model_load_file(str(path).encode(), C.byref(loading),
                                                C.byref(self.model), C.byref(self.error)))
        options = _SessionOptions(C.sizeof(_SessionOptions), threads, 200, 30000)
        self._check(self.lib.om_session_create(self.model, C.byref(options),
                                               C.byref(self.session), C.byref(self.error)))
        self.info = _ModelInfo(C.sizeof(_ModelInfo))
        self._check(self.lib.om_model_get_info(self.model, C.byref(self.info)))
        self.inputs = [self._array(self.lib.om_model_get_input, i) for i in range(self.info.inputs)]
        self.outputs = [self._array(self.lib.om_model_get_output, i)
                        for i in range(self.info.outputs)]
        self._in = (C.c_void_p * len(self.inputs))(*(a.ctypes.data for _, a in self.inputs))
        self._out = (C.c_void_p * len(self.outputs))(*(a.ctypes.data for _, a in self.outputs))

    def _check(self, status):
        if status:
            raise RuntimeError(self.error.message.decode() or f"status {status}")

    def _array(self, query, index):
        info = _TensorInfo(C.sizeof(_TensorInfo))
        self._check(query(self.model, index, C.byref(info)))
        shape = [info.dims[i] for i in range(info.rank)]
        return info.name.decode(), aligned(shape, _DTYPES[info.dtype])

    def run(self):
        self._check(self.lib.om_session_run(self.session, self._in, self._out,
                                            C.byref(self.error)))

    def close(self):
        self.lib.om_session_free(self.session)
        self.lib.om_model_free(self.model)
