# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Video: channels that decode and encode. The names are part of acl.media."""

import ctypes
import itertools

from . import _library

_LIBRARY = _library.load("libacl_dvpp.so")
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_callbacks = {}  # by description: they must stay

_library.bind_all(globals(), _LIBRARY, {
    "vdec_create_channel_desc": "aclvdecCreateChannelDesc p",
    "vdec_destroy_channel_desc": "aclvdecDestroyChannelDesc e p",
    "vdec_create_channel": "aclvdecCreateChannel e p",
    "vdec_destroy_channel": "aclvdecDestroyChannel e p",
    "vdec_create_frame_config": "aclvdecCreateFrameConfig p",
    "vdec_destroy_frame_config": "aclvdecDestroyFrameConfig e p",
    "venc_create_channel_desc": "aclvencCreateChannelDesc p",
    "venc_destroy_channel_desc": "aclvencDestroyChannelDesc e p",
    "venc_create_channel": "aclvencCreateChannel e p",
    "venc_destroy_channel": "aclvencDestroyChannel e p",
    "venc_create_frame_config": "aclvencCreateFrameConfig p",
    "venc_destroy_frame_config": "aclvencDestroyFrameConfig e p",
    "venc_set_frame_config_eos": "aclvencSetFrameConfigEos e p B",
    "venc_get_frame_config_eos": "aclvencGetFrameConfigEos B p",
    "venc_set_frame_config_force_i_frame": "aclvencSetFrameConfigForceIFrame e p B",
    "venc_get_frame_config_force_i_frame": "aclvencGetFrameConfigForceIFrame B p",
    "vdec_get_channel_desc_thread_id": "aclvdecGetChannelDescThreadId U p",
    "venc_get_channel_desc_thread_id": "aclvencGetChannelDescThreadId U p",
    "venc_get_channel_desc_channel_id": "aclvencGetChannelDescChannelId I p",
} | {f"{kind}_{verb.lower()}_channel_desc_{name}":
     f"acl{kind}{verb}ChannelDesc{c_name} " + (f"e p {letter}" if verb == "Set" else f"{letter} p")
     for kind, fields in {
         "vdec": (("channel_id", "ChannelId", "I"),
                  ("entype", "EnType", "i"), ("out_pic_format", "OutPicFormat", "i"),
                  ("out_pic_width", "OutPicWidth", "I"), ("out_pic_height", "OutPicHeight", "I"),
                  ("ref_frame_num", "RefFrameNum", "I"), ("bit_depth", "BitDepth", "I"),
                  ("out_mode", "OutMode", "I")),
         "venc": (("entype", "EnType", "i"),
                  ("pic_format", "PicFormat", "i"), ("pic_width", "PicWidth", "I"),
                  ("pic_height", "PicHeight", "I"),
                  ("key_frame_interval", "KeyFrameInterval", "I"), ("rc_mode", "RcMode", "I"),
                  ("src_rate", "SrcRate", "I"), ("max_bit_rate", "MaxBitRate", "I"),
                  ("buf_addr", "BufAddr", "p"), ("buf_size", "BufSize", "I"))}.items()
     for name, c_name, letter in fields for verb in ("Set", "Get")
     } | {f"{kind}_set_channel_desc_thread_id": f"acl{kind}SetChannelDescThreadId e p U"
          for kind in ("vdec", "venc")
     } | {f"dvpp_set_stream_desc_{name}": f"acldvppSetStreamDesc{c_name} e p {letter}"
          for name, c_name, letter in (
              ("data", "Data", "p"), ("size", "Size", "I"), ("format", "Format", "i"),
              ("timestamp", "Timestamp", "U"), ("ret_code", "RetCode", "I"), ("eos", "Eos", "B"))
          } | {f"dvpp_get_stream_desc_{name}": f"acldvppGetStreamDesc{c_name} {letter} p"
               for name, c_name, letter in (
                   ("data", "Data", "p"), ("size", "Size", "I"), ("format", "Format", "i"),
                   ("timestamp", "Timestamp", "U"), ("ret_code", "RetCode", "I"),
                   ("eos", "Eos", "B"))})

_set_callbacks = {kind: _library.bind(_LIBRARY, f"acl{kind}SetChannelDescCallback e p p")
                  for kind in ("vdec", "venc")}


_send = {
    "vdec": _library.bind(_LIBRARY, "aclvdecSendFrame e p p p p p"),
    "skipped": _library.bind(_LIBRARY, "aclvdecSendSkippedFrame e p p p p"),
    "venc": _library.bind(_LIBRARY, "aclvencSendFrame e p p p p p"),
}
_user_data = {}  # what calls were given, by the number that stands for it
_numbers = itertools.count(1)


def _set_callback(kind, channel_desc, function):
    def call(first, second, number):
        function(first or 0, second or 0, _user_data.pop(number, None))

    wrapped = _CALLBACK(call)
    _callbacks[channel_desc] = wrapped
    _functions[channel_desc] = function
    return _set_callbacks[kind](channel_desc, ctypes.cast(wrapped, ctypes.c_void_p).value)


def _send_with(kind, handles, user_data):
    """Sends with any object, which the callback gets."""
    number = next(_numbers)
    _user_data[number] = user_data
    code = _send[kind](*handles, number)
    if code != _library.SUCCESS:
        _user_data.pop(number, None)
    return code


def vdec_set_channel_desc_callback(channel_desc, function):
    """Sets function(input_stream_desc, output_pic_desc, user_data)."""
    return _set_callback("vdec", channel_desc, function)


def venc_set_channel_desc_callback(channel_desc, function):
    """Sets function(input_pic_desc, output_stream_desc, user_data)."""
    return _set_callback("venc", channel_desc, function)


def vdec_send_frame(channel_desc, input_desc, output_desc, config, user_data):
    """Decodes the bytes of a picture; the callback gets it with `user_data`."""
    return _send_with("vdec", (channel_desc, input_desc, output_desc, config), user_data)


def vdec_send_skipped_frame(channel_desc, input_desc, config, user_data):
    """Decodes the bytes of a picture that is not wanted, but that others may refer to."""
    return _send_with("skipped", (channel_desc, input_desc, config), user_data)


def venc_send_frame(channel_desc, input_desc, reserve, config, user_data):
    """Encodes a picture; the callback gets its bytes with `user_data`."""
    return _send_with("venc", (channel_desc, input_desc, reserve, config), user_data)


_functions = {}  # what callbacks call, by the description of their channel
_get_venc_param = _library.bind(_LIBRARY, "aclvencGetChannelDescParam e p i N >N p")
_set_venc_param = _library.bind(_LIBRARY, "aclvencSetChannelDescParam e p i N p")
_VENC_CALLBACK = 1
_VENC_SIZES = {0: 8, 7: 8}  # bytes of a thread's number and of an address; others have 4


def _get_callback(channel_desc):
    if channel_desc not in _functions:
        raise RuntimeError("the channel has no callback")
    return _functions[channel_desc]


vdec_get_channel_desc_callback = venc_get_channel_desc_callback = _get_callback


def venc_set_channel_desc_param(channel_desc, kind, value):
    """Sets a number, an address or the callback of a channel."""
    if kind == _VENC_CALLBACK:
        return _set_callback("venc", channel_desc, value)
    number = ctypes.c_uint64(value)
    return _set_venc_param(channel_desc, kind, _VENC_SIZES.get(kind, 4), ctypes.addressof(number))


def venc_get_channel_desc_param(channel_desc, kind):
    """Returns a number, an address or the callback of a channel, and the code."""
    if kind == _VENC_CALLBACK:
        return _get_callback(channel_desc), _library.SUCCESS
    number = ctypes.c_uint64()
    _, code = _get_venc_param(channel_desc, kind, _VENC_SIZES.get(kind, 4),
                              ctypes.addressof(number))
    return number.value, code
