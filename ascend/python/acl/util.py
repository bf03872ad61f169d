# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Addresses of NumPy arrays and bytes, and threads for callbacks."""

import collections
import ctypes
import threading

import numpy as np

from . import rt

_BY_NUMBER = {np.dtype(letter).num: np.dtype(letter) for letter in "?bBhHiIlLqQefdFD"}
_threads = {}
_latest = collections.deque(maxlen=16)  # what bytes_to_ptr was called with


def numpy_to_ptr(array):
    """Returns the address of the elements of a contiguous array, which must stay."""
    return array.ctypes.data


def numpy_contiguous_to_ptr(array):
    """Returns the address of the elements of the array, or of a contiguous copy, and the array that
    holds them, which must stay."""
    held = np.ascontiguousarray(array)
    return held.ctypes.data, held


def ptr_to_numpy(pointer, shape, dtype):
    """Returns an array on memory of this process. `dtype` is a type number of NumPy, such as 11
    for float32, or a type."""
    kind = _BY_NUMBER[dtype] if isinstance(dtype, int) else np.dtype(dtype)
    shape = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    memory = (ctypes.c_char * size).from_address(pointer) if size else b""
    return np.frombuffer(memory, dtype=kind).reshape(shape)


def bytes_to_ptr(data):
    """Returns the address of bytes. Those of the last calls stay: programs pass
    `array.tobytes()` without a name of its own."""
    _latest.append(data)
    while len(_latest) > 1 and sum(map(len, _latest)) > 256 << 20:
        _latest.popleft()
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def ptr_to_bytes(pointer, size):
    """Returns a copy of memory of this process."""
    return ctypes.string_at(pointer, size)


def start_thread(function, arguments):
    """Starts `function(arguments)` on a thread; returns its id, for acl.rt.subscribe_report."""
    def run():
        try:
            function(arguments)
        except SystemExit:  # stop_thread, in process_report
            pass

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    _threads[thread.ident] = thread
    return thread.ident, 0


def stop_thread(thread_id):
    """Waits for a thread; one that processes reports ends with the next of them."""
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return 100000
    rt._stopped.add(thread_id)
    thread.join(timeout=10)
    if thread.is_alive():
        return 500000
    rt._stopped.discard(thread_id)
    return 0
