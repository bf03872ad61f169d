# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Video: streams and channels can be described; creating a channel is error 200001, because no
video is decoded or encoded. The names are part of acl.media."""

import ctypes

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
    "vdec_send_frame": "aclvdecSendFrame e p p p p p",
    "vdec_send_skipped_frame": "aclvdecSendSkippedFrame e p p p p",
    "venc_create_channel_desc": "aclvencCreateChannelDesc p",
    "venc_destroy_channel_desc": "aclvencDestroyChannelDesc e p",
    "venc_create_channel": "aclvencCreateChannel e p",
    "venc_destroy_channel": "aclvencDestroyChannel e p",
    "venc_create_frame_config": "aclvencCreateFrameConfig p",
    "venc_destroy_frame_config": "aclvencDestroyFrameConfig e p",
    "venc_send_frame": "aclvencSendFrame e p p p p p",
} | {f"{kind}_set_channel_desc_{name}": f"acl{kind}SetChannelDesc{c_name} e p {letter}"
     for kind, fields in {
         "vdec": (("channel_id", "ChannelId", "I"), ("thread_id", "ThreadId", "U"),
                  ("entype", "EnType", "i"), ("out_pic_format", "OutPicFormat", "i"),
                  ("out_pic_width", "OutPicWidth", "I"), ("out_pic_height", "OutPicHeight", "I"),
                  ("ref_frame_num", "RefFrameNum", "I"), ("bit_depth", "BitDepth", "I"),
                  ("out_mode", "OutMode", "I")),
         "venc": (("thread_id", "ThreadId", "U"), ("entype", "EnType", "i"),
                  ("pic_format", "PicFormat", "i"), ("pic_width", "PicWidth", "I"),
                  ("pic_height", "PicHeight", "I"),
                  ("key_frame_interval", "KeyFrameInterval", "I"), ("rc_mode", "RcMode", "I"),
                  ("src_rate", "SrcRate", "I"), ("max_bit_rate", "MaxBitRate", "I"))}.items()
     for name, c_name, letter in fields
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


def _set_callback(kind, channel_desc, function):
    wrapped = _CALLBACK(lambda first, second, data: function(first or 0, second or 0, data or 0))
    _callbacks[channel_desc] = wrapped
    return _set_callbacks[kind](channel_desc, ctypes.cast(wrapped, ctypes.c_void_p).value)


def vdec_set_channel_desc_callback(channel_desc, function):
    """Sets function(input_stream_desc, output_pic_desc, user_data)."""
    return _set_callback("vdec", channel_desc, function)


def venc_set_channel_desc_callback(channel_desc, function):
    """Sets function(input_pic_desc, output_stream_desc, user_data)."""
    return _set_callback("venc", channel_desc, function)
