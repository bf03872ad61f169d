# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures: decode, encode, resize, crop, paste. Descriptions and areas are handles."""

import ctypes

from . import _library, video
from ._library import bind

_LIBRARY = _library.load("libacl_dvpp.so")
_FIELDS = {"data": "p", "size": "I", "format": "i", "width": "I", "height": "I",
           "width_stride": "I", "height_stride": "I", "ret_code": "I"}


def _camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


_library.bind_all(globals(), _LIBRARY, {
    "dvpp_malloc": "acldvppMalloc e >p N",
    "dvpp_free": "acldvppFree e p",
    "dvpp_create_channel_desc": "acldvppCreateChannelDesc p",
    "dvpp_destroy_channel_desc": "acldvppDestroyChannelDesc e p",
    "dvpp_create_channel": "acldvppCreateChannel e p",
    "dvpp_destroy_channel": "acldvppDestroyChannel e p",
    "dvpp_get_channel_desc_channel_id": "acldvppGetChannelDescChannelId U p",
    "dvpp_vpc_equalize_hist_async": "acldvppVpcEqualizeHistAsync e p p p p p",
    "dvpp_set_channel_desc_mode": "acldvppSetChannelDescMode e p I",
    "dvpp_create_pic_desc": "acldvppCreatePicDesc p",
    "dvpp_destroy_pic_desc": "acldvppDestroyPicDesc e p",
    "dvpp_create_batch_pic_desc": "acldvppCreateBatchPicDesc p I",
    "dvpp_destroy_batch_pic_desc": "acldvppDestroyBatchPicDesc e p",
    "dvpp_get_pic_desc": "acldvppGetPicDesc p p I",
    "dvpp_create_roi_config": "acldvppCreateRoiConfig p I I I I",
    "dvpp_destroy_roi_config": "acldvppDestroyRoiConfig e p",
    "dvpp_set_roi_config": "acldvppSetRoiConfig e p I I I I",
    "dvpp_set_roi_config_left": "acldvppSetRoiConfigLeft e p I",
    "dvpp_set_roi_config_right": "acldvppSetRoiConfigRight e p I",
    "dvpp_set_roi_config_top": "acldvppSetRoiConfigTop e p I",
    "dvpp_set_roi_config_bottom": "acldvppSetRoiConfigBottom e p I",
    "dvpp_vpc_pyr_down_async": "acldvppVpcPyrDownAsync e p p p p p",
    "dvpp_vpc_make_border_async": "acldvppVpcMakeBorderAsync e p p p p p",
    "dvpp_create_resize_config": "acldvppCreateResizeConfig p",
    "dvpp_destroy_resize_config": "acldvppDestroyResizeConfig e p",
    "dvpp_set_resize_config_interpolation": "acldvppSetResizeConfigInterpolation e p I",
    "dvpp_get_resize_config_interpolation": "acldvppGetResizeConfigInterpolation I p",
    "dvpp_create_jpege_config": "acldvppCreateJpegeConfig p",
    "dvpp_destroy_jpege_config": "acldvppDestroyJpegeConfig e p",
    "dvpp_set_jpege_config_level": "acldvppSetJpegeConfigLevel e p I",
    "dvpp_get_jpege_config_level": "acldvppGetJpegeConfigLevel I p",
    "dvpp_jpeg_get_image_info": "acldvppJpegGetImageInfo e p I >I >I >i",
    "dvpp_jpeg_get_image_info_v2": "acldvppJpegGetImageInfoV2 e p I >I >I >i >i",
    "dvpp_jpeg_predict_dec_size": "acldvppJpegPredictDecSize e p I i >I",
    "dvpp_jpeg_predict_enc_size": "acldvppJpegPredictEncSize e p p >I",
    "dvpp_png_get_image_info": "acldvppPngGetImageInfo e p I >I >I >i",
    "dvpp_png_predict_dec_size": "acldvppPngPredictDecSize e p I i >I",
    "dvpp_jpeg_decode_async": "acldvppJpegDecodeAsync e p p I p p",
    "dvpp_png_decode_async": "acldvppPngDecodeAsync e p p I p p",
    "dvpp_vpc_resize_async": "acldvppVpcResizeAsync e p p p p p",
    "dvpp_vpc_crop_async": "acldvppVpcCropAsync e p p p p p",
    "dvpp_vpc_crop_resize_async": "acldvppVpcCropResizeAsync e p p p p p p",
    "dvpp_vpc_crop_and_paste_async": "acldvppVpcCropAndPasteAsync e p p p p p p",
    "dvpp_vpc_crop_resize_paste_async": "acldvppVpcCropResizePasteAsync e p p p p p p p",
    "dvpp_vpc_convert_color_async": "acldvppVpcConvertColorAsync e p p p p",
    "dvpp_vpc_calc_hist_async": "acldvppVpcCalcHistAsync e p p p p p",
    "dvpp_create_lut_map": "acldvppCreateLutMap p",
    "dvpp_destroy_lut_map": "acldvppDestroyLutMap e p",
    "dvpp_get_lut_map_dims": "acldvppGetLutMapDims I p",
    "dvpp_get_lut_map_data": "acldvppGetLutMapData e p I >p >I",
    "dvpp_create_hist": "acldvppCreateHist p",
    "dvpp_destroy_hist": "acldvppDestroyHist e p",
    "dvpp_clear_hist": "acldvppClearHist e p",
    "dvpp_get_hist_dims": "acldvppGetHistDims I p",
    "dvpp_get_hist_data": "acldvppGetHistData e p I >p >H",
    "dvpp_get_hist_ret_code": "acldvppGetHistRetCode I p",
    "dvpp_create_border_config": "acldvppCreateBorderConfig p",
    "dvpp_destroy_border_config": "acldvppDestroyBorderConfig e p",
    "dvpp_set_border_config_value": "acldvppSetBorderConfigValue e p I d",
    "dvpp_get_border_config_value": "acldvppGetBorderConfigValue d p I",
    "dvpp_set_border_config_border_type": "acldvppSetBorderConfigBorderType e p i",
    "dvpp_get_border_config_border_type": "acldvppGetBorderConfigBorderType i p",
    "dvpp_vpc_batch_crop_resize_make_border_async":
        "acldvppVpcBatchCropResizeMakeBorderAsync e p p *I # p *p *p p p",
    "dvpp_create_stream_desc": "acldvppCreateStreamDesc p",
    "dvpp_destroy_stream_desc": "acldvppDestroyStreamDesc e p",
} | {f"dvpp_set_pic_desc_{name}": f"acldvppSetPicDesc{_camel(name)} e p {kind}"
     for name, kind in _FIELDS.items()
     } | {f"dvpp_get_pic_desc_{name}": f"acldvppGetPicDesc{_camel(name)} {kind} p"
          for name, kind in _FIELDS.items()
          } | {f"dvpp_{verb}_border_config_{side}": f"acldvpp{verb.capitalize()}BorderConfig"
               f"{side.capitalize()} " + ("e p I" if verb == "set" else "I p")
               for side in ("top", "bottom", "left", "right") for verb in ("set", "get")})

globals().update({name: value for name, value in vars(video).items()
                  if name.startswith(("vdec_", "venc_", "dvpp_"))})

_encode = bind(_LIBRARY, "acldvppJpegEncodeAsync e p p p p p p")
_batch_crop = bind(_LIBRARY, "acldvppVpcBatchCropAsync e p p p I p p p")
_batch_crop_paste = bind(_LIBRARY, "acldvppVpcBatchCropAndPasteAsync e p p p I p p p p")
_batch_crop_resize_paste = bind(
    _LIBRARY, "acldvppVpcBatchCropResizePasteAsync e p p p I p p p p p")
_batch_crop_resize = bind(_LIBRARY, "acldvppVpcBatchCropResizeAsync e p p p I p p p p")


_malloc = bind(_LIBRARY, "acldvppMalloc e >p N")
_set_param = bind(_LIBRARY, "acldvppSetChannelDescParam e p i N p")
_get_param = bind(_LIBRARY, "acldvppGetChannelDescParam e p i N >N p")


def dvpp_malloc_with_cfg(size, policy, cfg):
    """Allocates device memory; the policy and the settings change nothing."""
    return _malloc(size)


def dvpp_set_channel_desc_param(channel_desc, kind, value):
    """Sets a number, such as the matrix between YUV and RGB; returns the description and the code."""
    number = ctypes.c_uint32(value)
    return channel_desc, _set_param(channel_desc, kind, 4, ctypes.addressof(number))


def dvpp_get_channel_desc_param(channel_desc, kind):
    """Returns the bytes of a number, the number, and the code."""
    number = ctypes.c_uint64()
    size, code = _get_param(channel_desc, kind, 4, ctypes.addressof(number))
    return size, number.value, code


def dvpp_jpeg_encode_async(channel_desc, input_desc, data, size_ptr, config, stream):
    """Encodes a picture. `size_ptr` is the address of 4 bytes: the room, then the size."""
    return _encode(channel_desc, input_desc, data, size_ptr, config, stream)


def _lists(counts, areas):
    return (ctypes.c_uint32 * max(len(counts), 1))(*counts), (
        ctypes.c_void_p * max(len(areas), 1))(*areas)


def dvpp_vpc_batch_crop_async(channel_desc, sources, counts, targets, areas, stream):
    """Cuts areas out of several pictures: counts[i] of picture i. Returns (targets, ret)."""
    numbers, handles = _lists(counts, areas)
    return targets, _batch_crop(channel_desc, sources, ctypes.addressof(numbers), len(counts),
                                targets, ctypes.addressof(handles), stream)


def dvpp_vpc_batch_crop_and_paste_async(channel_desc, sources, counts, targets, areas, places,
                                        stream):
    """Cuts areas out of several pictures and pastes them. Returns (targets, ret)."""
    numbers, handles = _lists(counts, areas)
    _, onto = _lists((), places)
    return targets, _batch_crop_paste(
        channel_desc, sources, ctypes.addressof(numbers), len(counts), targets,
        ctypes.addressof(handles), ctypes.addressof(onto), stream)


def dvpp_vpc_batch_crop_resize_paste_async(channel_desc, sources, counts, targets, areas, places,
                                           resize, stream):
    """Cuts areas out of several pictures, resizes and pastes them."""
    numbers, handles = _lists(counts, areas)
    _, onto = _lists((), places)
    return _batch_crop_resize_paste(
        channel_desc, sources, ctypes.addressof(numbers), len(counts), targets,
        ctypes.addressof(handles), ctypes.addressof(onto), resize, stream)


def dvpp_vpc_batch_crop_resize_async(channel_desc, sources, counts, targets, areas, resize, stream):
    """Cuts areas out of several pictures and resizes them."""
    numbers, handles = _lists(counts, areas)
    return _batch_crop_resize(channel_desc, sources, ctypes.addressof(numbers), len(counts),
                              targets, ctypes.addressof(handles), resize, stream)
