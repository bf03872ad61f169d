# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What devices are and how they are, limits of devices and streams, notifies. The names are part of
acl.rt."""

from . import _library, memory
from ._library import LIBRARY, bind
from ._structures import define

define("""
aclrtUtilizationInfo: i cubeUtilization, i vectorUtilization, i aicpuUtilization, i memoryUtilization, p utilizationExtend
aclrtUuid: B bytes*16
aclrtStreamAttrValue: (U failureMode | I overflowSwitch | I userCustomTag | I cacheOpInfoSwitch | I streamPriority | I reserved*4)
""")

_library.bind_all(globals(), LIBRARY, {
    "get_device_info": "aclrtGetDeviceInfo e I i >L",
    "query_device_status": "aclrtQueryDeviceStatus e i >i",
    "device_task_abort": "aclrtDeviceTaskAbort e i I",
    "device_get_stream_priority_range": "aclrtDeviceGetStreamPriorityRange e >i >i",
    "device_get_uuid": "aclrtDeviceGetUuid e i >aclrtUuid",
    "device_peer_access_status": "aclrtDevicePeerAccessStatus e i i >i",
    "get_device_capability": "aclrtGetDeviceCapability e i i >i",
    "get_device_res_limit": "aclrtGetDeviceResLimit e i i >I",
    "set_device_res_limit": "aclrtSetDeviceResLimit e i i I",
    "reset_device_res_limit": "aclrtResetDeviceResLimit e i",
    "get_devices_topo": "aclrtGetDevicesTopo e I I >U",
    "get_logic_dev_id_by_user_dev_id": "aclrtGetLogicDevIdByUserDevId e i >i",
    "get_user_dev_id_by_logic_dev_id": "aclrtGetUserDevIdByLogicDevId e i >i",
    "get_logic_dev_id_by_phy_dev_id": "aclrtGetLogicDevIdByPhyDevId e i >i",
    "get_phy_dev_id_by_logic_dev_id": "aclrtGetPhyDevIdByLogicDevId e i >i",
    "get_stream_available_num": "aclrtGetStreamAvailableNum e >I",
    "get_stream_res_limit": "aclrtGetStreamResLimit e p i >I",
    "set_stream_res_limit": "aclrtSetStreamResLimit e p i I",
    "reset_stream_res_limit": "aclrtResetStreamResLimit e p",
    "use_stream_res_in_current_thread": "aclrtUseStreamResInCurrentThread e p",
    "unuse_stream_res_in_current_thread": "aclrtUnuseStreamResInCurrentThread e p",
    "get_res_in_current_thread": "aclrtGetResInCurrentThread e i >I",
    "create_notify": "aclrtCreateNotify e >p U",
    "destroy_notify": "aclrtDestroyNotify e p",
    "record_notify": "aclrtRecordNotify e p p",
    "wait_and_reset_notify": "aclrtWaitAndResetNotify e p p I",
    "get_notify_id": "aclrtGetNotifyId e p >I",
    "notify_batch_reset": "aclrtNotifyBatchReset e *p #",
    "notify_set_import_pid": "aclrtNotifySetImportPid e p *i #",
    "notify_import_by_key": "aclrtNotifyImportByKey e >p s U",
})

_utilization = bind(LIBRARY, "aclrtGetDeviceUtilizationRate e i >aclrtUtilizationInfo")
_get_attribute = bind(LIBRARY, "aclrtGetStreamAttribute e p i >aclrtStreamAttrValue")
_primary_state = bind(LIBRARY, "aclrtGetPrimaryCtxState e i >I >i")
_notify_key = bind(LIBRARY, "aclrtNotifyGetExportKey e p p N U")
set_stream_attribute = bind(LIBRARY, "aclrtSetStreamAttribute e p i aclrtStreamAttrValue")
_STREAM_ATTRIBUTES = {1: "failureMode", 2: "overflowSwitch", 3: "userCustomTag",
                      4: "cacheOpInfoSwitch", 5: "streamPriority"}


def get_device_utilization_rate(device_id):
    """Returns the use of the device's units in percent, a dictionary, and the code."""
    found, code = _utilization(device_id)
    return {f"{name}_utilization": found[f"{name}Utilization"]
            for name in ("cube", "vector", "aicpu", "memory")} | {
                "utilization_extend": found["utilizationExtend"]}, code


def get_stream_attribute(stream, attribute):
    """Returns an attribute, a dictionary with its name, and the code."""
    found, code = _get_attribute(stream, attribute)
    name = _STREAM_ATTRIBUTES.get(attribute, "reserved")
    return {name: found[name]}, code


def get_primary_ctx_state(device_id):
    """Returns whether the default context is in use, its flags, and the code."""
    flags, active, code = _primary_state(device_id)
    return active, flags, code


def notify_get_export_key(notify, length, flag):
    """Returns the key of a notify for other processes, and the code."""
    return memory.export_key(_notify_key, (notify,), length, flag)
