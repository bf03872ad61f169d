"""The runtime's C API through ctypes, as far as tests and benchmarks need it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes as C

import numpy as np

from value_types import (MAP, NONE, NUMBERS, SEQUENCE, STORAGE, STRING, TENSOR, Map, Raw, from_bytes,
                         has_address, stored_bytes, to_bytes)


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
                ("bytes", C.c_uint64), ("space", C.c_int), ("block", C.c_uint32),
                ("kind", C.c_int), ("ranked", C.c_int), ("optional", C.c_int)]


class _LoadOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("verify_weights", C.c_int), ("cpu_level", C.c_char_p)]


class _SessionOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("threads", C.c_uint32), ("spin_us", C.c_uint32),
                ("serial_cost", C.c_uint64), ("device", C.c_void_p)]


class _NpuOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("functional", C.c_int), ("timed", C.c_int),
                ("check_hazards", C.c_int), ("prefetch", C.c_int)]


class Npu:
    """A simulated NPU for one session, which must not outlive it."""

    STATISTICS, TIMELINE, REPORT, FAULTS, HAZARDS = range(5)

    def __init__(self, library=None, check_hazards=False, timed=True):
        from openatc_tools import BUILD
        self.lib = C.CDLL(library or str(BUILD / "lib/libopenatc_npu_shared.so"))
        self.lib.om_npu_device.restype = C.c_void_p
        self.lib.om_npu_device.argtypes = [C.c_void_p]
        self.lib.om_npu_text.restype = C.c_char_p
        self.lib.om_npu_text.argtypes = [C.c_void_p, C.c_int]
        self.handle, error = C.c_void_p(), _Error()
        options = _NpuOptions(C.sizeof(_NpuOptions), 1, int(timed), int(check_hazards), 1)
        if self.lib.om_npu_simulator(C.byref(options), C.byref(self.handle), C.byref(error)):
            raise RuntimeError(error.message.decode())

    def device(self):
        return self.lib.om_npu_device(self.handle)

    def text(self, kind):
        return (self.lib.om_npu_text(self.handle, kind) or b"").decode()


def _declare(library):
    """Pointers are wider than the int that ctypes takes everything for."""
    pointer, reference = C.c_void_p, C.c_void_p
    for name, result, arguments in (
            ("om_value_create_tensor", C.c_int,
             [C.c_int, C.c_uint32, pointer, C.c_char_p, reference, reference]),
            ("om_value_create_strings", C.c_int,
             [C.c_uint32, pointer, pointer, pointer, reference, reference]),
            ("om_value_create_sequence", C.c_int,
             [C.c_int, C.c_size_t, pointer, reference, reference]),
            ("om_value_create_map", C.c_int, [pointer, pointer, reference, reference]),
            ("om_value_create_none", C.c_int, [reference, reference]),
            ("om_value_release", None, [pointer]), ("om_value_kind", C.c_int, [pointer]),
            ("om_value_get_tensor", C.c_int, [pointer, reference, reference, reference, reference]),
            ("om_value_get_string", C.c_int, [pointer, C.c_uint64, reference, reference]),
            ("om_value_size", C.c_uint64, [pointer]),
            ("om_value_item", pointer, [pointer, C.c_uint64]),
            ("om_session_run_values", C.c_int, [pointer, pointer, pointer, reference])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _dims(shape):
    return (C.c_int64 * max(1, len(shape)))(*shape)


def aligned(shape, dtype):
    """An array whose data starts at a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size].view(dtype).reshape(shape)


class Session:
    """A loaded `.om` with its own threads; `run` uses the given arrays in place."""

    def __init__(self, library, path, threads=0, cpu_level=None, npu=None):
        self.lib = C.CDLL(library)
        _declare(self.lib)
        self.model, self.session, self.error = C.c_void_p(), C.c_void_p(), _Error()
        loading = _LoadOptions(C.sizeof(_LoadOptions), 0, cpu_level.encode() if cpu_level else None)
        self._check(self.lib.om_model_load_file(str(path).encode(), C.byref(loading),
                                                C.byref(self.model), C.byref(self.error)))
        self.npu = npu  # its device must live as long as the session
        options = _SessionOptions(C.sizeof(_SessionOptions), threads, 200, 30000,
                                  npu.device() if npu else None)
        self._check(self.lib.om_session_create(self.model, C.byref(options),
                                               C.byref(self.session), C.byref(self.error)))
        self.info = _ModelInfo(C.sizeof(_ModelInfo))
        self._check(self.lib.om_model_get_info(self.model, C.byref(self.info)))
        self.input_infos = [self._info(self.lib.om_model_get_input, i)
                            for i in range(self.info.inputs)]
        self.output_infos = [self._info(self.lib.om_model_get_output, i)
                             for i in range(self.info.outputs)]
        # Only `run_values` serves a model with ends of unknown sizes.
        self.fixed = all(info.kind == TENSOR and info.ranked and not info.optional and
                         has_address(info.dtype) and
                         all(info.dims[i] >= 0 for i in range(info.rank))
                         for info in self.input_infos + self.output_infos)
        self.inputs, self.outputs = [], []
        if not self.fixed:
            return
        self.inputs = [self._array(info) for info in self.input_infos]
        self.outputs = [self._array(info) for info in self.output_infos]
        self._in = (C.c_void_p * len(self.inputs))(*(a.ctypes.data for _, a in self.inputs))
        self._out = (C.c_void_p * len(self.outputs))(*(a.ctypes.data for _, a in self.outputs))

    def use_inputs(self, arrays):
        """Runs on these arrays, in the order of the inputs, instead of the session's own."""
        for (name, own), array in zip(self.inputs, arrays, strict=True):
            if (array.shape, array.dtype) != (own.shape, own.dtype) or array.ctypes.data % 64:
                raise ValueError(f"no array for the input {name}: {array.shape} {array.dtype}")
        self.inputs = [(name, array) for (name, _), array in zip(self.inputs, arrays)]
        self._in = (C.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))

    def _check(self, status):
        if status:
            raise RuntimeError(self.error.message.decode() or f"status {status}")

    def _info(self, query, index):
        info = _TensorInfo(C.sizeof(_TensorInfo))
        self._check(query(self.model, index, C.byref(info)))
        return info

    @staticmethod
    def _array(info):
        shape = [info.dims[i] for i in range(info.rank)]
        return info.name.decode(), aligned(shape, STORAGE[info.dtype])

    def run(self):
        self._check(self.lib.om_session_run(self.session, self._in, self._out,
                                            C.byref(self.error)))

    def keep_state(self):
        """States are not given to `run_values` from now on, and go on from run to run."""
        self._check(self.lib.om_session_keep_state(self.session, 1, C.byref(self.error)))

    def run_values(self, inputs):
        """Outputs by name for inputs by name, of any model: arrays (`Raw` for types that numpy
        lacks), arrays of dtype object for strings (bytes come out), lists for sequences, `Map`,
        None for no value. An input that is not in `inputs` has none."""
        names = [info.name.decode() for info in self.input_infos]
        unknown = set(inputs) - set(names)
        if unknown:
            raise KeyError(f"not inputs of the model: {sorted(unknown)}; it has {names}")
        given, made = [], (C.c_void_p * max(1, len(self.output_infos)))()
        try:
            for name, info in zip(names, self.input_infos):
                thing = inputs.get(name)
                given.append(None if thing is None else self._pack(thing, info.dtype))
            self._check(self.lib.om_session_run_values(
                self.session, (C.c_void_p * max(1, len(given)))(*given), made,
                C.byref(self.error)))
            return {info.name.decode(): self._unpack(made[i])
                    for i, info in enumerate(self.output_infos)}
        finally:
            for value in list(given) + list(made):
                self.lib.om_value_release(value)

    def _create(self, function, *arguments):
        value = C.c_void_p()
        self._check(function(*arguments, C.byref(value), C.byref(self.error)))
        return value.value

    def _pack(self, thing, dtype):
        """A new value; `dtype` is that of a sequence without items."""
        if thing is None:
            return self._create(self.lib.om_value_create_none)
        if isinstance(thing, (list, Map)):
            things = [thing.keys, thing.values] if isinstance(thing, Map) else thing
            items = [self._pack(item, dtype) for item in things]
            try:
                if isinstance(thing, Map):
                    return self._create(self.lib.om_value_create_map, *items)
                return self._create(self.lib.om_value_create_sequence,
                                    self._dtype(items[0], dtype) if items else dtype, len(items),
                                    (C.c_void_p * max(1, len(items)))(*items))
            finally:
                for item in items:
                    self.lib.om_value_release(item)
        if not isinstance(thing, Raw):
            thing = np.asarray(thing)
            if thing.dtype.kind in "OSU":
                texts = [text.encode() if isinstance(text, str) else bytes(text)
                         for text in thing.reshape(-1)]
                count = max(1, len(texts))
                return self._create(self.lib.om_value_create_strings, thing.ndim,
                                    _dims(thing.shape), (C.c_char_p * count)(*texts),
                                    (C.c_size_t * count)(*map(len, texts)))
        if isinstance(thing, Raw):
            number, dims, data = to_bytes(thing)
        else:  # The value copies the elements, which are not copied in front of it, too.
            thing = np.ascontiguousarray(thing).reshape(thing.shape)
            number, dims = NUMBERS[thing.dtype], thing.shape
            data = thing.ctypes.data_as(C.c_char_p)
        return self._create(self.lib.om_value_create_tensor, number, len(dims), _dims(dims), data)

    def _dtype(self, value, otherwise):
        dtype = C.c_int()
        status = self.lib.om_value_get_tensor(value, C.byref(dtype), None, None, None)
        return otherwise if status else dtype.value

    def _unpack(self, value):
        kind = self.lib.om_value_kind(value) if value else NONE  # a state that is kept
        if kind == NONE:
            return None
        if kind in (SEQUENCE, MAP):
            things = [self._unpack(self.lib.om_value_item(value, i))
                      for i in range(self.lib.om_value_size(value))]
            return Map(*things) if kind == MAP else things
        dtype, rank, dims, data = C.c_int(), C.c_uint32(), C.POINTER(C.c_int64)(), C.c_void_p()
        self._check(self.lib.om_value_get_tensor(value, C.byref(dtype), C.byref(rank),
                                                 C.byref(dims), C.byref(data)))
        number, shape = dtype.value, tuple(dims[:rank.value])
        count = self.lib.om_value_size(value)
        if number == STRING:
            texts = np.empty(count, object)
            text, size = C.c_void_p(), C.c_size_t()
            for i in range(count):
                self._check(self.lib.om_value_get_string(value, i, C.byref(text), C.byref(size)))
                texts[i] = C.string_at(text, size.value) if size.value else b""
            return texts.reshape(shape)
        size = stored_bytes(number, count)
        return from_bytes(number, shape,
                          (C.c_char * size).from_address(data.value) if size else b"")

    def close(self):
        self.lib.om_session_free(self.session)
        self.lib.om_model_free(self.model)
