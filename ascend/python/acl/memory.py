# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory with settings, addresses that memory is mapped to, copies by descriptions, memory of other
processes. The names are part of acl.rt."""

import ctypes

from . import _library
from ._library import LIBRARY, bind
from ._structures import KINDS, define, fill

define("""
aclrtMemLocation: I id, i type
aclrtPtrAttributes: aclrtMemLocation location, I pageSize, I rsv*4
aclrtPhysicalMemProp: i handleType, i allocationType, i memAttr, aclrtMemLocation location, U reserve
aclrtMallocAttribute: i attr, (H moduleId | I deviceId | I vaFlag | B rsv*8)
aclrtMemUceInfo: p addr, N len, N reserved*14
""")

_library.bind_all(globals(), LIBRARY, {
    "malloc_align32": "aclrtMallocAlign32 e >p N i",
    "reserve_mem_address": "aclrtReserveMemAddress e >p N N p U",
    "release_mem_address": "aclrtReleaseMemAddress e p",
    "malloc_physical": "aclrtMallocPhysical e >p N aclrtPhysicalMemProp U",
    "free_physical": "aclrtFreePhysical e p",
    "map_mem": "aclrtMapMem e p N N p U",
    "unmap_mem": "aclrtUnmapMem e p",
    "mem_get_allocation_granularity":
        "aclrtMemGetAllocationGranularity e aclrtPhysicalMemProp i >N",
    "mem_export_to_shareable_handle": "aclrtMemExportToShareableHandle e p i U >U",
    "mem_import_from_shareable_handle": "aclrtMemImportFromShareableHandle e U i >p",
    "mem_set_pid_to_shareable_handle": "aclrtMemSetPidToShareableHandle e U *i #",
    "device_get_bare_tgid": "aclrtDeviceGetBareTgid e >i",
    "memcpy_async_with_condition": "aclrtMemcpyAsyncWithCondition e p N p N i p",
    "get_memcpy_desc_size": "aclrtGetMemcpyDescSize e i >N",
    "memcpy_async_with_desc": "aclrtMemcpyAsyncWithDesc e p i p",
    "ipc_mem_set_import_pid": "aclrtIpcMemSetImportPid e s *i #",
    "ipc_mem_import_by_key": "aclrtIpcMemImportByKey e >p s U",
    "ipc_mem_close": "aclrtIpcMemClose e s",
    "value_write": "aclrtValueWrite e p U I p",
    "value_wait": "aclrtValueWait e p U I p",
    "host_register": "aclrtHostRegister e p U i >p",
    "host_register_v2": "aclrtHostRegisterV2 e p U I",
    "host_unregister": "aclrtHostUnregister e p",
    "host_get_device_pointer": "aclrtHostGetDevicePointer e p >p I",
    "mem_uce_repair": "aclrtMemUceRepair e i *aclrtMemUceInfo #",
})

_attributes = bind(LIBRARY, "aclrtPointerGetAttributes e p >aclrtPtrAttributes")
_set_desc = bind(LIBRARY, "aclrtSetMemcpyDesc e p i p p N p")
_uce_info = bind(LIBRARY, "aclrtGetMemUceInfo e i p N >N")
_with_settings = {
    "malloc": bind(LIBRARY, "aclrtMallocWithCfg e >p N i p"),
    "scheduler": bind(LIBRARY, "aclrtMallocForTaskScheduler e >p N i p"),
    "host": bind(LIBRARY, "aclrtMallocHostWithCfg e >p N p"),
}
_KEY_LIMIT = 1024


class _MallocConfig(ctypes.Structure):
    _fields_ = [("attrs", ctypes.c_void_p), ("numAttrs", ctypes.c_size_t)]


def allocate(function, arguments, settings):
    """Calls a function whose last argument are settings: {} or
    {"attrs": [{"attr": 1, "value": {"deviceId": 0}}], "numAttrs": 1}."""
    if not settings:
        return function(*arguments, None)
    given = settings["attrs"]
    if settings.get("numAttrs", len(given)) != len(given):
        raise KeyError("numAttrs is not the number of attrs")
    attributes = (KINDS["aclrtMallocAttribute"] * max(len(given), 1))()
    for attribute, item in zip(attributes, given):
        fill(attribute, {"attr": item["attr"], **item["value"]})
    config = _MallocConfig(ctypes.addressof(attributes), len(given))
    return function(*arguments, ctypes.addressof(config))


def malloc_with_cfg(size, policy, cfg):
    """Allocates device memory; returns the address and the code."""
    return allocate(_with_settings["malloc"], (size, policy), cfg)


def malloc_for_task_scheduler(size, policy, cfg):
    """Allocates device memory; returns the address and the code."""
    return allocate(_with_settings["scheduler"], (size, policy), cfg)


def malloc_host_with_cfg(size, cfg):
    """Allocates host memory; returns the address and the code."""
    return allocate(_with_settings["host"], (size,), cfg)


def pointer_get_attributes(address):
    """Returns where an address is, a dictionary with location, page_size and rsv, and the code."""
    found, code = _attributes(address)
    return {"location": found["location"], "page_size": found["pageSize"],
            "rsv": found["rsv"]}, code


def set_memcpy_desc(desc, kind, source, destination, count, config):
    """Writes a description of a copy; returns it and the code."""
    return desc, _set_desc(desc, kind, source, destination, count, config)


def get_mem_uce_info(device_id, array_size):
    """Returns the damaged memory of a device, a list of dictionaries, and the code."""
    found = (KINDS["aclrtMemUceInfo"] * max(array_size, 1))()
    count, code = _uce_info(device_id, ctypes.addressof(found), array_size)
    return [{"addr": item.addr or 0, "len": item.len, "reserved": list(item.reserved)}
            for item in found[:count]], code


def export_key(function, arguments, length, flag):
    """Calls a function that writes a key of at most `length` bytes; returns it and the code."""
    if not 0 <= length < _KEY_LIMIT:
        raise ValueError(f"the length of a key must be less than {_KEY_LIMIT}")
    key = ctypes.create_string_buffer(length + 1)
    code = function(*arguments, ctypes.addressof(key), length, flag)
    return key.value.decode(errors="replace"), code


_export = bind(LIBRARY, "aclrtIpcMemGetExportKey e p N p N U")


def ipc_mem_get_export_key(address, size, length, flag):
    """Returns the key of memory for other processes, and the code."""
    return export_key(_export, (address, size), length, flag)
