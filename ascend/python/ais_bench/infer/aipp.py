# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters of dynamic AIPP from a file with a section [aipp_op]."""

import configparser

import acl

_FORMATS = {"YUV420SP_U8": 1, "XRGB8888_U8": 2, "RGB888_U8": 3, "YUV400_U8": 4}
_KNOWN = {"input_format", "src_image_size_w", "src_image_size_h", "crop", "load_start_pos_w",
          "load_start_pos_h", "crop_size_w", "crop_size_h", "padding", "padding_size_top",
          "padding_size_bottom", "padding_size_left", "padding_size_right", "csc_switch",
          "rbuv_swap_switch", "ax_swap_switch"}
_KNOWN |= {f"matrix_r{row}c{column}" for row in range(3) for column in range(3)}
_KNOWN |= {f"{name}_{i}" for name in ("input_bias", "output_bias") for i in range(3)}
_KNOWN |= {f"{name}_chn_{i}" for name in ("mean", "min", "var_reci") for i in range(4)}


def read(path):
    """Returns the settings of a file, as text by name."""
    parser = configparser.ConfigParser(inline_comment_prefixes=("#", ";"))
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (OSError, configparser.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not parser.has_section("aipp_op"):
        raise ValueError(f"{path} has no section [aipp_op]")
    settings = dict(parser["aipp_op"])
    if unknown := sorted(set(settings) - _KNOWN):
        raise ValueError(f"{path}: there is no setting '{unknown[0]}'")
    for name in ("input_format", "src_image_size_w", "src_image_size_h"):
        if name not in settings:
            raise ValueError(f"{path}: [aipp_op] has no '{name}'")
    if settings["input_format"] not in _FORMATS:
        raise ValueError(f"{path}: input_format is '{settings['input_format']}'; give "
                         + ", ".join(_FORMATS))
    return settings


def create(settings, batch):
    """Returns a handle with the settings for each image of a batch; acl.mdl.destroy_aipp frees
    it."""
    def numbers(*names, default=0, kind=int):
        try:
            return [kind(float(settings.get(name, default))) for name in names]
        except ValueError as error:
            raise ValueError(f"[aipp_op]: {error}") from None

    def must(code):
        if code:
            raise ValueError(f"[aipp_op]: {acl.get_recent_err_msg()}")

    mdl = acl.mdl
    handle = mdl.create_aipp(batch)
    must(mdl.set_aipp_input_format(handle, _FORMATS[settings["input_format"]]))
    must(mdl.set_aipp_src_image_size(handle, *numbers("src_image_size_w", "src_image_size_h")))
    must(mdl.set_aipp_rbuv_swap_switch(handle, *numbers("rbuv_swap_switch")))
    must(mdl.set_aipp_ax_swap_switch(handle, *numbers("ax_swap_switch")))
    must(mdl.set_aipp_csc_params(
        handle, *numbers("csc_switch"),
        *numbers(*(f"matrix_r{row}c{column}" for row in range(3) for column in range(3))),
        *numbers(*(f"output_bias_{i}" for i in range(3))),
        *numbers(*(f"input_bias_{i}" for i in range(3)))))
    for image in range(batch):
        must(mdl.set_aipp_crop_params(handle, *numbers("crop", "load_start_pos_w", "load_start_pos_h",
                                                       "crop_size_w", "crop_size_h"), image))
        must(mdl.set_aipp_padding_params(
            handle, *numbers("padding", "padding_size_top", "padding_size_bottom",
                             "padding_size_left", "padding_size_right"), image))
        for name, default, kind, function in (
                ("mean", 0, int, mdl.set_aipp_dtc_pixel_mean), ("min", 0, float, mdl.set_aipp_dtc_pixel_min),
                ("var_reci", 1, float, mdl.set_aipp_pixel_var_reci)):
            must(function(handle, *numbers(*(f"{name}_chn_{i}" for i in range(4)), default=default,
                                           kind=kind), image))
    return handle
