# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles: collections in a folder, stamps, and subscriptions, which send what the operators of a
model took to a pipe. Settings and stamps are handles."""

import ctypes

from . import _library
from ._library import LIBRARY, bind

_library.bind_all(globals(), LIBRARY, {
    "finalize": "aclprofFinalize e",
    "start": "aclprofStart e p",
    "stop": "aclprofStop e p",
    "destroy_config": "aclprofDestroyConfig e p",
    "destroy_subscribe_config": "aclprofDestroySubscribeConfig e p",
    "model_subscribe": "aclprofModelSubscribe e I p",
    "model_un_subscribe": "aclprofModelUnSubscribe e I",
    "get_op_desc_size": "aclprofGetOpDescSize e >N",
    "get_op_num": "aclprofGetOpNum e p N >I",
    "get_op_type_len": "aclprofGetOpTypeLen e p N I >N",
    "get_op_name_len": "aclprofGetOpNameLen e p N I >N",
    "get_op_start": "aclprofGetOpStart U p N I",
    "get_op_end": "aclprofGetOpEnd U p N I",
    "get_op_duration": "aclprofGetOpDuration U p N I",
    "get_model_id": "aclprofGetModelId N p N I",
    "create_step_info": "aclprofCreateStepInfo p",
    "destroy_step_info": "aclprofDestroyStepInfo - p",
    "get_step_timestamp": "aclprofGetStepTimestamp e p i p",
    "create_stamp": "aclprofCreateStamp p",
    "destroy_stamp": "aclprofDestroyStamp - p",
    "set_stamp_trace_message": "aclprofSetStampTraceMessage e p s I",
    "mark": "aclprofMark e p",
    "push": "aclprofPush e p",
    "pop": "aclprofPop e",
    "range_start": "aclprofRangeStart e p >I",
    "range_stop": "aclprofRangeStop e I",
})
model_unsubscribe = model_un_subscribe  # noqa: F821 the vendor's pages have both names

_init = bind(LIBRARY, "aclprofInit e s N")
_create_config = bind(LIBRARY, "aclprofCreateConfig p p I i p U")
_set_config = bind(LIBRARY, "aclprofSetConfig e i s N")
_create_subscribe_config = bind(LIBRARY, "aclprofCreateSubscribeConfig p i i p")
_mark_ex = bind(LIBRARY, "aclprofMarkEx e s N p")
_get_text = {kind: bind(LIBRARY, f"aclprofGetOp{kind} e p N I p N") for kind in ("Type", "Name")}
_get_length = {"Type": get_op_type_len, "Name": get_op_name_len}  # noqa: F821


def init(path):
    """Makes the folder of a profile in the folder `path`."""
    return _init(path, len(path.encode()))


def create_config(device_list, aicore_metrics, aicore_events, data_type_config):
    """Creates the settings of a profile of devices; 0 for bad ones."""
    numbers = (ctypes.c_uint32 * max(len(device_list), 1))(*device_list)
    return _create_config(ctypes.addressof(numbers), len(device_list), aicore_metrics,
                          aicore_events, data_type_config)


def set_config(config_type, config):
    """Accepts what a profile shall sample of a card, such as `3, "50"`."""
    return _set_config(config_type, config, len(config.encode()))


def create_subscribe_config(time_info_switch, aicore_metrics, fd):
    """Creates the settings of a subscription that writes to `fd`, a pipe's end for writing."""
    number = ctypes.c_int(fd)
    return _create_subscribe_config(time_info_switch, aicore_metrics, ctypes.addressof(number))


def mark_ex(message, stream):
    """Marks a moment of a stream with a message."""
    return _mark_ex(message, len(message.encode()), stream)


def _text(kind, info, size, index, room):
    if room is None:
        room, code = _get_length[kind](info, size, index)
        if code != _library.SUCCESS:
            return None, code
    if not 0 <= room <= 4096:
        return "", 100000
    text = ctypes.create_string_buffer(room + 1)
    code = _get_text[kind](info, size, index, ctypes.addressof(text), room)
    return text.value.decode(errors="replace"), code


def get_op_type(op_info, op_info_len, index, op_type_len=None):
    """Returns the type of operator `index` of what was read from the pipe."""
    return _text("Type", op_info, op_info_len, index, op_type_len)


def get_op_name(op_info, op_info_len, index, op_name_len=None):
    """Returns the name of operator `index` of what was read from the pipe."""
    return _text("Name", op_info, op_info_len, index, op_name_len)


def get_op_type_v2(op_info, op_info_len, index):
    """Returns the type of operator `index` of what was read from the pipe."""
    return _text("Type", op_info, op_info_len, index, None)


def get_op_name_v2(op_info, op_info_len, index):
    """Returns the name of operator `index` of what was read from the pipe."""
    return _text("Name", op_info, op_info_len, index, None)
