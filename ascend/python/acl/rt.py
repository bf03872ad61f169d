# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices, contexts, streams, events, callbacks and memory, of which more is in `memory`,
`devices` and `kernels`."""

import ctypes
import threading

from . import _library, devices, kernels, memory
from ._library import LIBRARY, bind

_library.bind_all(globals(), LIBRARY, {
    "get_version": "aclrtGetVersion e >i >i >i",
    "get_device_count": "aclrtGetDeviceCount e >I",
    "set_device": "aclrtSetDevice e i",
    "reset_device": "aclrtResetDevice e i",
    "reset_device_force": "aclrtResetDeviceForce e i",
    "get_device": "aclrtGetDevice e >i",
    "get_run_mode": "aclrtGetRunMode e >i",
    "set_ts_device": "aclrtSetTsDevice e i",
    "synchronize_device": "aclrtSynchronizeDevice e",
    "synchronize_device_with_timeout": "aclrtSynchronizeDeviceWithTimeout e i",
    "create_context": "aclrtCreateContext e >p i",
    "destroy_context": "aclrtDestroyContext e p",
    "set_context": "aclrtSetCurrentContext e p",
    "get_context": "aclrtGetCurrentContext e >p",
    "create_stream": "aclrtCreateStream e >p",
    "create_stream_with_config": "aclrtCreateStreamWithConfig e >p I I",
    "destroy_stream": "aclrtDestroyStream e p",
    "destroy_stream_force": "aclrtDestroyStreamForce e p",
    "synchronize_stream": "aclrtSynchronizeStream e p",
    "synchronize_stream_with_timeout": "aclrtSynchronizeStreamWithTimeout e p i",
    "stream_query": "aclrtStreamQuery e p >i",
    "set_stream_failure_mode": "aclrtSetStreamFailureMode e p U",
    "create_event": "aclrtCreateEvent e >p",
    "create_event_with_flag": "aclrtCreateEventWithFlag e >p I",
    "destroy_event": "aclrtDestroyEvent e p",
    "record_event": "aclrtRecordEvent e p p",
    "reset_event": "aclrtResetEvent e p p",
    "query_event": "aclrtQueryEvent e p >i",
    "query_event_status": "aclrtQueryEventStatus e p >i",
    "query_event_wait_status": "aclrtQueryEventWaitStatus e p >i",
    "synchronize_event": "aclrtSynchronizeEvent e p",
    "synchronize_event_with_timeout": "aclrtSynchronizeEventWithTimeout e p i",
    "event_elapsed_time": "aclrtEventElapsedTime e >f p p",
    "stream_wait_event": "aclrtStreamWaitEvent e p p",
    "set_op_wait_timeout": "aclrtSetOpWaitTimeout e I",
    "set_op_execute_time_out": "aclrtSetOpExecuteTimeOut e I",
    "subscribe_report": "aclrtSubscribeReport e U p",
    "unsubscribe_report": "aclrtUnSubscribeReport e U p",
    "malloc": "aclrtMalloc e >p N i",
    "malloc_cached": "aclrtMallocCached e >p N i",
    "mem_flush": "aclrtMemFlush e p N",
    "mem_invalidate": "aclrtMemInvalidate e p N",
    "free": "aclrtFree e p",
    "malloc_host": "aclrtMallocHost e >p N",
    "free_host": "aclrtFreeHost e p",
    "memcpy": "aclrtMemcpy e p N p N i",
    "memcpy_async": "aclrtMemcpyAsync e p N p N i p",
    "memcpy2d": "aclrtMemcpy2d e p N p N N N i",
    "memcpy2d_async": "aclrtMemcpy2dAsync e p N p N N N i p",
    "memset": "aclrtMemset e p N i N",
    "memset_async": "aclrtMemsetAsync e p N i N p",
    "get_mem_info": "aclrtGetMemInfo e i >N >N",
    "device_can_access_peer": "aclrtDeviceCanAccessPeer e >i i i",
    "device_enable_peer_access": "aclrtDeviceEnablePeerAccess e i I",
    "device_disable_peer_access": "aclrtDeviceDisablePeerAccess e i",
    "set_sys_param_opt": "aclrtSetSysParamOpt e i L",
    "get_sys_param_opt": "aclrtGetSysParamOpt e i >L",
    "ctx_set_sys_param_opt": "aclrtCtxSetSysParamOpt e i L",
    "ctx_get_sys_param_opt": "aclrtCtxGetSysParamOpt e i >L",
    "ctx_get_current_default_stream": "aclrtCtxGetCurrentDefaultStream e >p",
    "get_overflow_status": "aclrtGetOverflowStatus e p N p",
    "reset_overflow_status": "aclrtResetOverflowStatus e p",
    "set_device_sat_mode": "aclrtSetDeviceSatMode e i",
    "get_device_sat_mode": "aclrtGetDeviceSatMode e >i",
    "set_stream_overflow_switch": "aclrtSetStreamOverflowSwitch e p I",
    "get_stream_overflow_switch": "aclrtGetStreamOverflowSwitch e p >I",
    "stream_abort": "aclrtStreamAbort e p",
    "stream_get_id": "aclrtStreamGetId e p >i",
    "create_event_ex_with_flag": "aclrtCreateEventExWithFlag e >p I",
    "get_event_id": "aclrtGetEventId e p >I",
    "event_get_timestamp": "aclrtEventGetTimestamp e p >U",
    "set_op_execute_timeout": "aclrtSetOpExecuteTimeOut e I",
    "set_op_execute_timeout_v2": "aclrtSetOpExecuteTimeOutV2 e U >U",
    "get_op_execute_timeout": "aclrtGetOpExecuteTimeout e >I",
    "get_op_timeout_interval": "aclrtGetOpTimeOutInterval e >U",
    "get_event_avail_num": "aclrtGetEventAvailNum e >I",
    "get_thread_last_task_id": "aclrtGetThreadLastTaskId e >I",
    "reduce_async": "aclrtReduceAsync e p p U i i p p",
    "cmo_async": "aclrtCmoAsync e p N i p",
    "peek_at_last_error": "aclrtPeekAtLastError e i",
    "get_last_error": "aclrtGetLastError e i",
    "get_all_group_info": "aclrtGetAllGroupInfo e p",
    "set_group": "aclrtSetGroup e i",
    "create_group_info": "aclrtCreateGroupInfo p",
    "destroy_group_info": "aclrtDestroyGroupInfo e p",
    "get_task_id_from_exception_info": "aclrtGetTaskIdFromExceptionInfo I p",
    "get_stream_id_from_exception_info": "aclrtGetStreamIdFromExceptionInfo I p",
    "get_thread_id_from_exception_info": "aclrtGetThreadIdFromExceptionInfo I p",
    "get_device_id_from_exception_info": "aclrtGetDeviceIdFromExceptionInfo I p",
    "get_error_code_from_exception_info": "aclrtGetErrorCodeFromExceptionInfo I p",
})

for _part in (devices, kernels, memory):
    globals().update({name: value for name, value in vars(_part).items()
                      if callable(value) and not name.startswith("_")})

# Older names of this package.
memcpy_2d, memcpy_2d_async = memcpy2d, memcpy2d_async  # noqa: F821 bound by the table
set_ctx_sys_param_opt, get_ctx_sys_param_opt = ctx_set_sys_param_opt, ctx_get_sys_param_opt  # noqa: F821

get_soc_name = bind(LIBRARY, "aclrtGetSocName s")
_group_count = bind(LIBRARY, "aclrtGetGroupCount e >I")
_group_detail = bind(LIBRARY, "aclrtGetGroupInfoDetail e p i i p N >N")


def get_group_count(*_):
    """Returns how many groups of cores there are, and the code; an argument is not used."""
    return _group_count()


def get_group_info_detail(group_info, group_id, attribute):
    """Returns the numbers of an attribute of a group, and the code."""
    numbers = (ctypes.c_int32 * 256)()
    size, code = _group_detail(group_info, group_id, attribute, ctypes.addressof(numbers), 256)
    return list(numbers[:size]), code


_process_report = bind(LIBRARY, "aclrtProcessReport e i")
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_launch_callback = LIBRARY.aclrtLaunchCallback
_launch_callback.restype = ctypes.c_int32
_launch_callback.argtypes = [_CALLBACK, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]

_lock = threading.Lock()
_waiting = {}  # callbacks on their way, by number: what they call must stay
_next = 0
_stopped = set()  # threads that acl.util.stop_thread ends


def _run(number):
    with _lock:
        function, argument = _waiting.pop(number)
    function(argument)


_run_callback = _CALLBACK(_run)


def launch_callback(function, user_data, block_type, stream):
    """Puts `function(user_data)` behind the stream's tasks; the thread that has subscribed
    to the stream calls it."""
    global _next
    with _lock:
        _next += 1
        number = _next
        _waiting[number] = (function, user_data)
    code = _launch_callback(_run_callback, number, int(block_type), stream or None)
    if code != _library.SUCCESS:
        with _lock:
            _waiting.pop(number, None)
    return code


_launch_host_func = LIBRARY.aclrtLaunchHostFunc
_launch_host_func.restype = ctypes.c_int32
_launch_host_func.argtypes = [ctypes.c_void_p, _CALLBACK, ctypes.c_void_p]
_set_exception_callback = LIBRARY.aclrtSetExceptionInfoCallback
_set_exception_callback.restype = ctypes.c_int32
_set_exception_callback.argtypes = [_CALLBACK]
_exception_callback = _CALLBACK()


def launch_host_func(stream, function, user_data):
    """Puts `function(user_data)` behind the stream's tasks; the stream's own thread calls it."""
    global _next
    with _lock:
        _next += 1
        number = _next
        _waiting[number] = (function, user_data)
    code = _launch_host_func(stream or None, _run_callback, number)
    if code != _library.SUCCESS:
        with _lock:
            _waiting.pop(number, None)
    return code


def set_exception_info_callback(function=None):
    """Sets the function that is called with a handle where a task fails; None: none."""
    global _exception_callback
    _exception_callback = (_CALLBACK(lambda info: function(info or 0)) if function
                           else _CALLBACK())
    return _set_exception_callback(_exception_callback)


def process_report(timeout):
    """Waits for a callback and runs it, on this thread. Ends a thread that
    acl.util.stop_thread stops."""
    if threading.get_ident() in _stopped:
        raise SystemExit
    code = _process_report(timeout)
    if threading.get_ident() in _stopped:
        raise SystemExit
    return code
