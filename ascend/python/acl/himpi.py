# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second media interface: pictures and video by channels with numbers. Structures are
dictionaries with the names of the C fields, codes are numbers without sign."""

import ctypes

from . import _library
from ._library import bind
from ._structures import KINDS, define, fill, read

_LIBRARY = _library.load("libacl_dvpp.so")

define("""
hi_video_size: I width, I height
hi_pic_info: p picture_address, I picture_buffer_size, I picture_width, I picture_height, I picture_width_stride, I picture_height_stride, i picture_format
hi_img_stream: i type, p addr, I len, U pts, i reserved*2
hi_img_info: I width, I height, I width_stride, I height_stride, I img_buf_size, i pixel_format, I reserved*4
hi_pic_buf_attr: I width, I height, I align, i bit_width, i pixel_format, i compress_mode
hi_video_frame: I width, I height, i field, i pixel_format, i video_format, i compress_mode, i dynamic_range, i color_gamut, I header_stride*3, I width_stride*3, I height_stride*3, U header_phys_addr*3, U phys_addr*3, p header_virt_addr*3, p virt_addr*3, I time_ref, U pts, U user_data*2, I frame_flag
hi_video_frame_info: hi_video_frame v_frame, I pool_id, i mod_id
hi_vdec_video_supplement_info: I frame_type, I err_rate, I poc
hi_vdec_supplement_info: i type, hi_vdec_video_supplement_info video_supplement_info
hi_vdec_chn_status: i type, I left_stream_bytes, I left_stream_frames, I left_decoded_frames, i is_started, I recv_stream_frames, I dec_stream_frames, I width, I height
hi_vdec_video_attr: I ref_frame_num, i temporal_mvp_en, I tmv_buf_size
hi_vdec_chn_attr: i type, i mode, I pic_width, I pic_height, I stream_buf_size, I frame_buf_size, I frame_buf_cnt, hi_vdec_video_attr video_attr
hi_vdec_stream: i end_of_frame, i end_of_stream, i need_display, U pts, U private_data, I len, p addr
hi_vdec_video_param: i composite_dec_en, i slice_input_en, i err_threshold, i dec_mode, i out_order, i compress_mode, i video_format
hi_vdec_pic_param: i pixel_format, I alpha
hi_vdec_chn_param: i type, I display_frame_num, (hi_vdec_video_param video_param | hi_vdec_pic_param pic_param)
hi_vdec_pic_info: I width, I height, I width_stride, I height_stride, i pixel_format, U vir_addr, I buffer_size, h offset_top, h offset_bottom, h offset_left, h offset_right
hi_pngd_chn_attr: i unused*4
hi_coefficient: d csc_matrix_r0_c0, d csc_matrix_r0_c1, d csc_matrix_r0_c2, d csc_matrix_r1_c0, d csc_matrix_r1_c1, d csc_matrix_r1_c2, d csc_matrix_r2_c0, d csc_matrix_r2_c1, d csc_matrix_r2_c2, d csc_bias_r0, d csc_bias_r1, d csc_bias_r2
hi_csc_coefficient: hi_coefficient yuv_to_rgb_coefficient, hi_coefficient rgb_to_yuv_coefficient
hi_dvpp_epoll_event: I events, p data
hi_venc_pack_info: I pack_type, I pack_offset, I pack_len
hi_venc_pack: U input_addr, p addr, I len, U pts, i is_frame_end, I data_type, I offset, I data_num, hi_venc_pack_info pack_info*8
hi_venc_jpeg_stream_info: I pic_bytes, I update_attr_cnt, I qfactor
hi_venc_stream: p pack, I pack_cnt, I seq, hi_venc_jpeg_stream_info jpeg_info
hi_venc_chn_status: I left_pics, I left_stream_bytes, I left_stream_frames, I cur_packs, I left_recv_pics, I left_enc_pics, i is_jpeg_snap_end
hi_venc_h264_attr: i rcn_ref_share_buf_en, I frame_buf_ratio
hi_venc_mpf_cfg: B large_thumbnail_num, hi_video_size large_thumbnail_size*2
hi_venc_jpeg_attr: i dcf_en, hi_venc_mpf_cfg mpf_cfg, i recv_mode
hi_venc_attr: i type, I max_pic_width, I max_pic_height, I buf_size, I profile, i is_by_frame, I pic_width, I pic_height, (hi_venc_h264_attr h264_attr | hi_venc_h264_attr h265_attr | hi_venc_jpeg_attr jpeg_attr)
hi_venc_cbr: I gop, I stats_time, I src_frame_rate, I dst_frame_rate, I bit_rate
hi_venc_vbr: I gop, I stats_time, I src_frame_rate, I dst_frame_rate, I max_bit_rate
hi_venc_qvbr: I gop, I stats_time, I src_frame_rate, I dst_frame_rate, I target_bit_rate
hi_venc_cvbr: I gop, I stats_time, I src_frame_rate, I dst_frame_rate, I max_bit_rate, I short_term_stats_time, I long_term_stats_time, I long_term_max_bit_rate, I long_term_min_bit_rate
hi_venc_fixqp: I gop, I src_frame_rate, I dst_frame_rate, I i_qp, I p_qp, I b_qp
hi_venc_h264_qpmap: I gop, I stats_time, I src_frame_rate, I dst_frame_rate
hi_venc_h265_qpmap: I gop, I stats_time, I src_frame_rate, I dst_frame_rate, i qpmap_mode
hi_venc_mjpeg_cbr: I stats_time, I src_frame_rate, I dst_frame_rate, I bit_rate
hi_venc_mjpeg_vbr: I stats_time, I src_frame_rate, I dst_frame_rate, I max_bit_rate
hi_venc_mjpeg_fixqp: I src_frame_rate, I dst_frame_rate, I qfactor
hi_venc_rc_attr: i rc_mode, (hi_venc_cbr h264_cbr | hi_venc_vbr h264_vbr | hi_venc_vbr h264_avbr | hi_venc_qvbr h264_qvbr | hi_venc_cvbr h264_cvbr | hi_venc_fixqp h264_fixqp | hi_venc_h264_qpmap h264_qpmap | hi_venc_mjpeg_cbr mjpeg_cbr | hi_venc_mjpeg_vbr mjpeg_vbr | hi_venc_mjpeg_fixqp mjpeg_fixqp | hi_venc_cbr h265_cbr | hi_venc_vbr h265_vbr | hi_venc_vbr h265_avbr | hi_venc_qvbr h265_qvbr | hi_venc_cvbr h265_cvbr | hi_venc_fixqp h265_fixqp | hi_venc_h265_qpmap h265_qpmap)
hi_venc_gop_normal_p: i ip_qp_delta
hi_venc_gop_dual_p: I sp_interval, i sp_qp_delta, i ip_qp_delta
hi_venc_gop_smart_p: I bg_interval, i bg_qp_delta, i vi_qp_delta
hi_venc_gop_bipred_b: I b_frame_num, i b_qp_delta, i ip_qp_delta
hi_venc_gop_attr: i gop_mode, (hi_venc_gop_normal_p normal_p | hi_venc_gop_dual_p dual_p | hi_venc_gop_smart_p smart_p | hi_venc_gop_smart_p adv_smart_p | hi_venc_gop_bipred_b bipred_b)
hi_venc_chn_attr: hi_venc_attr venc_attr, hi_venc_rc_attr rc_attr, hi_venc_gop_attr gop_attr
hi_venc_venc_mod_param: I buf_cache, I frame_buf_recycle
hi_venc_h264_mod_param: I one_stream_buf, I mini_buf_mode, I low_power_mode, i vb_src, i qp_hist_en, I max_user_data_len
hi_venc_jpeg_mod_param: I one_stream_buf, I mini_buf_mode, I clear_stream_buf, I dering_mode
hi_venc_mod_param: i mod_type, (hi_venc_venc_mod_param venc_mod_param | hi_venc_h264_mod_param h264_mod_param | hi_venc_h264_mod_param h265_mod_param | hi_venc_jpeg_mod_param jpeg_mod_param)
hi_venc_h264_cbr_param: I max_i_proportion, I min_i_proportion, I max_qp, I min_qp, I max_i_qp, I min_i_qp, i max_reencode_times, i qpmap_en
hi_venc_h264_vbr_param: i chg_pos, I max_i_proportion, I min_i_proportion, i max_reencode_times, i qpmap_en, I max_qp, I min_qp, I max_i_qp, I min_i_qp
hi_venc_h264_avbr_param: i chg_pos, I max_i_proportion, I min_i_proportion, i max_reencode_times, i qpmap_en, i min_still_percent, I max_still_qp, I min_still_psnr, I max_qp, I min_qp, I max_i_qp, I min_i_qp, I min_qp_delta, I motion_sensitivity, i save_bitrate_en
hi_venc_h264_qvbr_param: I max_i_proportion, I min_i_proportion, i max_reencode_times, i qpmap_en, I max_qp, I min_qp, I max_i_qp, I min_i_qp, i max_bit_percent, i min_bit_percent, i max_psnr_fluctuate, i min_psnr_fluctuate
hi_venc_h264_cvbr_param: I max_i_proportion, I min_i_proportion, i max_reencode_times, i qpmap_en, I max_qp, I min_qp, I max_i_qp, I min_i_qp, I min_qp_delta, I max_qp_delta, I extra_bit_percent, I long_term_stats_time_unit, i save_bitrate_en
hi_venc_h265_cbr_param: I max_i_proportion, I min_i_proportion, I max_qp, I min_qp, I max_i_qp, I min_i_qp, i max_reencode_times, i qpmap_en, i qpmap_mode
hi_venc_h265_vbr_param: i chg_pos, I max_i_proportion, I min_i_proportion, i max_reencode_times, I max_qp, I min_qp, I max_i_qp, I min_i_qp, i qpmap_en, i qpmap_mode
hi_venc_h265_avbr_param: i chg_pos, I max_i_proportion, I min_i_proportion, i max_reencode_times, i min_still_percent, I max_still_qp, I min_still_psnr, I max_qp, I min_qp, I max_i_qp, I min_i_qp, I min_qp_delta, I motion_sensitivity, i qpmap_en, i qpmap_mode
hi_venc_h265_qvbr_param: I max_i_proportion, I min_i_proportion, i max_reencode_times, i qpmap_en, i qpmap_mode, I max_qp, I min_qp, I max_i_qp, I min_i_qp, i max_bit_percent, i min_bit_percent, i max_psnr_fluctuate, i min_psnr_fluctuate
hi_venc_h265_cvbr_param: I max_i_proportion, I min_i_proportion, i max_reencode_times, i qpmap_en, i qpmap_mode, I max_qp, I min_qp, I max_i_qp, I min_i_qp, I min_qp_delta, I max_qp_delta, I extra_bit_percent, I long_term_stats_time_unit
hi_venc_mjpeg_cbr_param: I max_qfactor, I min_qfactor
hi_venc_mjpeg_vbr_param: i chg_pos, I max_qfactor, I min_qfactor
hi_venc_scene_chg_detect: i detect_scene_chg_en, i adapt_insert_idr_frame_en
hi_venc_rc_param: I threshold_i*16, I threshold_p*16, I threshold_b*16, I direction, I row_qp_delta, i first_frame_start_qp, hi_venc_scene_chg_detect scene_chg_detect, (hi_venc_h264_cbr_param h264_cbr_param | hi_venc_h264_vbr_param h264_vbr_param | hi_venc_h264_avbr_param h264_avbr_param | hi_venc_h264_qvbr_param h264_qvbr_param | hi_venc_h264_cvbr_param h264_cvbr_param | hi_venc_h265_cbr_param h265_cbr_param | hi_venc_h265_vbr_param h265_vbr_param | hi_venc_h265_avbr_param h265_avbr_param | hi_venc_h265_qvbr_param h265_qvbr_param | hi_venc_h265_cvbr_param h265_cvbr_param | hi_venc_mjpeg_cbr_param mjpeg_cbr_param | hi_venc_mjpeg_vbr_param mjpeg_vbr_param)
hi_rect: i x, i y, I width, I height
hi_crop_info: i enable, hi_rect rect
hi_frame_rate_ctrl: i src_frame_rate, i dst_frame_rate
hi_venc_chn_param: i color_to_grey_en, I priority, I max_stream_cnt, I poll_wake_up_frame_cnt, hi_crop_info crop_info, hi_frame_rate_ctrl frame_rate
hi_venc_ref_param: I base, I enhance, i pred_en
hi_venc_start_param: i recv_pic_num
hi_venc_jpeg_param: I qfactor, B y_qt*64, B cb_qt*64, B cr_qt*64, I mcu_per_ecs, i ecs_output_en
hi_vpc_scalar: d val*4
hi_vpc_make_border_info: I top, I bottom, I left, I right, i border_type, hi_vpc_scalar scalar_value
hi_vpc_crop_region: I top_offset, I left_offset, I crop_width, I crop_height
hi_vpc_crop_region_info: hi_pic_info dest_pic_info, hi_vpc_crop_region crop_region
hi_vpc_resize_info: I resize_width, I resize_height, I interpolation
hi_vpc_crop_resize_region: hi_pic_info dest_pic_info, hi_vpc_crop_region crop_region, hi_vpc_resize_info resize_info
hi_vpc_crop_resize_paste_region: hi_pic_info dest_pic_info, hi_vpc_crop_region crop_region, hi_vpc_resize_info resize_info, I dest_top_offset, I dest_left_offset
hi_vpc_crop_resize_border_region: hi_pic_info dest_pic_info, hi_vpc_crop_region crop_region, hi_vpc_resize_info resize_info, I dest_top_offset, I dest_left_offset, i border_type, hi_vpc_scalar scalar_value
hi_vpc_chn_attr: i attr, I pic_width, I pic_height
hi_vpc_histogram_config: I histogram_y_or_r*256, I histogram_u_or_g*256, I histogram_v_or_b*256
hi_vpc_lut_remap: B map_value_y_or_r*256, B map_value_u_or_g*256, B map_value_v_or_b*256
""")

_library.bind_all(globals(), _LIBRARY, {
    "sys_init": "hi_mpi_sys_init E",
    "sys_exit": "hi_mpi_sys_exit E",
    "sys_get_cur_pts": "hi_mpi_sys_get_cur_pts E >U",
    "sys_create_epoll": "hi_mpi_sys_create_epoll E i >i",
    "sys_ctl_epoll": "hi_mpi_sys_ctl_epoll E i i i hi_dvpp_epoll_event",
    "sys_close_epoll": "hi_mpi_sys_close_epoll E i",
    "dvpp_malloc": "hi_mpi_dvpp_malloc E I >p U",
    "dvpp_free": "hi_mpi_dvpp_free E p",
    "dvpp_get_version": "hi_mpi_dvpp_get_version E >i >i >i",
    "dvpp_get_image_info": "hi_mpi_dvpp_get_image_info E i hi_vdec_stream >hi_img_info",
    "vdec_create_chn": "hi_mpi_vdec_create_chn E i hi_vdec_chn_attr",
    "vdec_sys_create_chn": "hi_mpi_vdec_sys_create_chn E >i hi_vdec_chn_attr",
    "vdec_destroy_chn": "hi_mpi_vdec_destroy_chn E i",
    "vdec_get_chn_attr": "hi_mpi_vdec_get_chn_attr E i >hi_vdec_chn_attr",
    "vdec_set_chn_param": "hi_mpi_vdec_set_chn_param E i hi_vdec_chn_param",
    "vdec_get_chn_param": "hi_mpi_vdec_get_chn_param E i >hi_vdec_chn_param",
    "vdec_start_recv_stream": "hi_mpi_vdec_start_recv_stream E i",
    "vdec_stop_recv_stream": "hi_mpi_vdec_stop_recv_stream E i",
    "vdec_query_status": "hi_mpi_vdec_query_status E i >hi_vdec_chn_status",
    "vdec_reset_chn": "hi_mpi_vdec_reset_chn E i",
    "vdec_send_stream": "hi_mpi_vdec_send_stream E i hi_vdec_stream hi_vdec_pic_info i",
    "vdec_get_frame": "hi_mpi_vdec_get_frame E i >hi_video_frame_info >hi_vdec_supplement_info "
                      ">hi_vdec_stream i",
    "vdec_release_frame": "hi_mpi_vdec_release_frame E i hi_video_frame_info",
    "vdec_get_fd": "hi_mpi_vdec_get_fd i i",
    "vdec_close_fd": "hi_mpi_vdec_close_fd E i",
    "vdec_get_pic_buf_size": "hi_vdec_get_pic_buf_size I i hi_pic_buf_attr",
    "vdec_get_tmv_buf_size": "hi_vdec_get_tmv_buf_size I i I I",
    "pngd_create_chn": "hi_mpi_pngd_create_chn E i hi_pngd_chn_attr",
    "pngd_destroy_chn": "hi_mpi_pngd_destroy_chn E i",
    "pngd_send_stream": "hi_mpi_pngd_send_stream E i hi_img_stream hi_pic_info i",
    "pngd_get_image_data": "hi_mpi_pngd_get_image_data E i >hi_pic_info >hi_img_stream i",
    "png_get_image_info": "hi_mpi_pngd_get_image_info E hi_img_stream >hi_img_info",
    "venc_create_chn": "hi_mpi_venc_create_chn E i hi_venc_chn_attr",
    "venc_sys_create_chn": "hi_mpi_venc_sys_create_chn E >i hi_venc_chn_attr",
    "venc_destroy_chn": "hi_mpi_venc_destroy_chn E i",
    "venc_start_chn": "hi_mpi_venc_start_chn E i hi_venc_start_param",
    "venc_stop_chn": "hi_mpi_venc_stop_chn E i",
    "venc_query_status": "hi_mpi_venc_query_status E i >hi_venc_chn_status",
    "venc_get_fd": "hi_mpi_venc_get_fd i i",
    "venc_close_fd": "hi_mpi_venc_close_fd E i",
    "venc_get_chn_attr": "hi_mpi_venc_get_chn_attr E i >hi_venc_chn_attr",
    "venc_set_chn_attr": "hi_mpi_venc_set_chn_attr E i hi_venc_chn_attr",
    "venc_set_mod_param": "hi_mpi_venc_set_mod_param E hi_venc_mod_param",
    "venc_set_rc_param": "hi_mpi_venc_set_rc_param E i hi_venc_rc_param",
    "venc_get_rc_param": "hi_mpi_venc_get_rc_param E i >hi_venc_rc_param",
    "venc_set_scene_mode": "hi_mpi_venc_set_scene_mode E i i",
    "venc_get_scene_mode": "hi_mpi_venc_get_scene_mode E i >i",
    "venc_set_chn_param": "hi_mpi_venc_set_chn_param E i hi_venc_chn_param",
    "venc_get_chn_param": "hi_mpi_venc_get_chn_param E i >hi_venc_chn_param",
    "venc_set_ref_param": "hi_mpi_venc_set_ref_param E i hi_venc_ref_param",
    "venc_get_ref_param": "hi_mpi_venc_get_ref_param E i >hi_venc_ref_param",
    "venc_request_idr": "hi_mpi_venc_request_idr E i i",
    "venc_set_jpeg_param": "hi_mpi_venc_set_jpeg_param E i hi_venc_jpeg_param",
    "venc_get_jpeg_param": "hi_mpi_venc_get_jpeg_param E i >hi_venc_jpeg_param",
    "venc_get_jpege_predicted_size":
        "hi_mpi_venc_get_jpege_predicted_size E hi_video_frame_info hi_venc_jpeg_param >I",
    "venc_send_frame": "hi_mpi_venc_send_frame E i hi_video_frame_info i",
    "venc_send_jpege_frame":
        "hi_mpi_venc_send_jpege_frame E i hi_video_frame_info hi_img_stream i",
    "vpc_create_chn": "hi_mpi_vpc_create_chn E i hi_vpc_chn_attr",
    "vpc_sys_create_chn": "hi_mpi_vpc_sys_create_chn E >i hi_vpc_chn_attr",
    "vpc_destroy_chn": "hi_mpi_vpc_destroy_chn E i",
    "vpc_resize": "hi_mpi_vpc_resize E i hi_pic_info hi_pic_info d d I >I i",
    "vpc_convert_color": "hi_mpi_vpc_convert_color E i hi_pic_info hi_pic_info >I i",
    "vpc_convert_color_to_yuv420":
        "hi_mpi_vpc_convert_color_to_yuv420 E i hi_pic_info hi_pic_info >I i",
    "vpc_copy_make_border":
        "hi_mpi_vpc_copy_make_border E i hi_pic_info hi_pic_info .hi_vpc_make_border_info >I i",
    "vpc_equalize_hist":
        "hi_mpi_vpc_equalize_hist E i hi_pic_info hi_pic_info hi_vpc_lut_remap >I i",
    "vpc_calc_hist": "hi_mpi_vpc_calc_hist E i hi_pic_info >hi_vpc_histogram_config >I i",
    "vpc_get_process_result": "hi_mpi_vpc_get_process_result E i I i",
})

_NULL_POINTER, _ILLEGAL, _NOT_SUPPORTED = 6, 3, 8
_MODULES = {"sys": 2, "vdec": 5, "vpc": 7, "venc": 8}
_calc_hist = bind(_LIBRARY, "hi_mpi_vpc_calc_hist E i hi_pic_info p >I i")
_pyramid = bind(_LIBRARY, "hi_mpi_vpc_pyrdown E i hi_pic_info *hi_pic_info I p H "
                          ".hi_vpc_make_border_info >I i")
_get_stream = bind(_LIBRARY, "hi_mpi_venc_get_stream E i p i")
_release_stream = bind(_LIBRARY, "hi_mpi_venc_release_stream E i p")
_set_matrix = bind(_LIBRARY, "hi_mpi_sys_set_chn_csc_matrix E i i i p")
_get_matrix = bind(_LIBRARY, "hi_mpi_sys_get_chn_csc_matrix E i i >i >hi_csc_coefficient")
_get_mod_param = bind(_LIBRARY, "hi_mpi_venc_get_mod_param E p")
_wait_epoll = bind(_LIBRARY, "hi_mpi_sys_wait_epoll E i p i i >i")
_MAX_PACKS = 64


def _error(module, number):
    """Returns the code of a module's error, as HI_DEFINE_ERR."""
    return 0xA0008000 | _MODULES[module] << 16 | number


def _cutting(name, region):
    """Makes a function that cuts `count` areas out of a picture."""
    function = bind(_LIBRARY, f"hi_mpi_vpc_{name} E i hi_pic_info *{region} I >I i")

    def call(channel, source, areas, count, milliseconds):
        if len(areas) != count:
            raise TypeError(f"count is {count}, {len(areas)} areas were given")
        return function(channel, source, areas, count, milliseconds)

    call.__name__ = call.__qualname__ = f"vpc_{name}"
    return call


def _cutting_batches(name, region):
    """Makes a function that cuts areas out of several pictures: counts[i] of picture i."""
    function = bind(_LIBRARY, f"hi_mpi_vpc_batch_{name} E i p I *{region} *I >I i")

    def call(channel, sources, number, areas, counts, milliseconds):
        if not len(sources) == len(counts) == number or len(areas) != sum(counts):
            raise TypeError("the numbers of pictures, areas and counts do not fit each other")
        pictures = [fill(KINDS["hi_pic_info"](), source) for source in sources]
        addresses = (ctypes.c_void_p * max(number, 1))(*map(ctypes.addressof, pictures))
        return function(channel, ctypes.addressof(addresses), number, areas, counts, milliseconds)

    call.__name__ = call.__qualname__ = f"vpc_batch_{name}"
    return call


vpc_crop = _cutting("crop", "hi_vpc_crop_region_info")
vpc_crop_resize = _cutting("crop_resize", "hi_vpc_crop_resize_region")
vpc_crop_resize_paste = _cutting("crop_resize_paste", "hi_vpc_crop_resize_paste_region")
vpc_crop_resize_make_border = _cutting("crop_resize_make_border",
                                       "hi_vpc_crop_resize_border_region")
vpc_batch_crop_resize_paste = _cutting_batches("crop_resize_paste",
                                               "hi_vpc_crop_resize_paste_region")
vpc_batch_crop_resize_make_border = _cutting_batches("crop_resize_make_border",
                                                     "hi_vpc_crop_resize_border_region")


def vpc_calc_hist_v2(channel, source, milliseconds, histogram):
    """Counts the values of each channel into memory of 3 x 256 uint32 at the address `histogram`."""
    return _calc_hist(channel, source, histogram, milliseconds)


def vpc_pyrdown(channel, source, destinations, level, gaussian_filter, divisor, border,
                milliseconds):
    """Halves a picture `level` times with a filter of 5 lists of 5 numbers; None: the usual one."""
    if len(destinations) < level:
        return 0, _error("vpc", _ILLEGAL)
    numbers = None
    if gaussian_filter is not None:
        rows = [number for row in gaussian_filter for number in row]
        if len(gaussian_filter) != 5 or len(rows) != 25:
            raise TypeError("a filter is 5 lists of 5 numbers")
        numbers = (ctypes.c_int8 * 25)(*rows)
    return _pyramid(channel, source, destinations, level,
                    numbers and ctypes.addressof(numbers), divisor, border, milliseconds)


def _packs(given):
    count = int(given.get("pack_cnt", 1))
    if not 0 < count <= _MAX_PACKS:
        raise ValueError(f"pack_cnt must be 1 to {_MAX_PACKS}")
    packs = (KINDS["hi_venc_pack"] * count)()
    stream = KINDS["hi_venc_stream"](pack=ctypes.addressof(packs), pack_cnt=count)
    return packs, stream


def venc_get_stream(channel, stream, milliseconds):
    """Takes the oldest file; `stream` says by pack_cnt how many packs fit. Returns a dictionary with
    pack, pack_cnt and seq, and the code."""
    packs, found = _packs(stream)
    code = _get_stream(channel, ctypes.addressof(found), milliseconds)
    if code != _library.SUCCESS:
        return stream, code
    return {"pack_cnt": found.pack_cnt, "seq": found.seq,
            "pack": [read(pack) for pack in packs[:found.pack_cnt]]}, code


def venc_release_stream(channel, stream):
    """Gives back what venc_get_stream returned."""
    packs, given = _packs(stream)
    given.seq = stream.get("seq", 0)
    for pack, item in zip(packs, stream.get("pack", [])):
        fill(pack, item)
    return _release_stream(channel, ctypes.addressof(given))


def sys_set_chn_csc_matrix(module, channel, matrix, coefficients=None):
    """Sets the matrix between YUV and RGB of a channel; the user's own is not supported."""
    return _set_matrix(module, channel, matrix, None)


def sys_get_chn_csc_matrix(module, channel):
    """Returns the matrix, its coefficients, and the code."""
    return _get_matrix(module, channel)


def sys_wait_epoll(epoll, max_events, milliseconds):
    """Returns the events, their number, and the code."""
    if not 0 <= max_events <= 4096:
        raise ValueError("max_events is from 0 to 4096")
    events = (KINDS["hi_dvpp_epoll_event"] * max(max_events, 1))()
    count, code = _wait_epoll(epoll, ctypes.addressof(events), max_events, milliseconds)
    return [read(event) for event in events[:count]], count, code


def venc_get_mod_param(parameters):
    """Returns the settings of the type of channels that `mod_type` of the dictionary names, and the
    code."""
    found = fill(KINDS["hi_venc_mod_param"](), parameters)
    code = _get_mod_param(ctypes.addressof(found))
    return read(found), code


def _unsupported(module, results=()):
    def call(*_):
        code = _error(module, _NOT_SUPPORTED)
        return (*results, code) if results else code

    call.__doc__ = "Returns that this is not supported."
    return call


# What the vendor's package has and this library has not, by module, with what they would return.
for _module, _names, _results in (
        ("sys", "get_image_align_info", ({},)),
        ("vdec", "set_chn_attr set_protocol_param set_jpegd_precision_mode "
                 "set_display_mode", ()),
        ("vdec", "get_protocol_param get_jpegd_output_info get_display_mode", ({},)),
        ("venc", "set_chn_attr "
                 "set_jpeg_huffman_param compact_jpeg_tables set_cu_pred set_h264_vui set_h265_vui "
                 "set_intra_refresh set_roi_attr set_slice_split "
                 "set_streamcopy_param send_frame_ex", ()),
        ("venc", "get_jpeg_huffman_param get_cu_pred get_h264_vui get_h265_vui get_intra_refresh "
                 "get_roi_attr get_slice_split get_qpmap_stride get_qpmap_size "
                 "get_streamcopy_param", ({},)),
        ("vpc", "convert_color_v2 crop_resize_resize_paste dilate draw_cover draw_line draw_mosaic "
                "draw_osd erode filter2d flip lut_remap median_blur rotate warp_affine blur "
                "gaussian_blur", (0,)),
        ("vpc", "get_affine_lut get_lut_mem_size get_affine_transform get_perspective_lut "
                "get_remap_lut get_rotation_matrix", ({},)),
        ("vpc", "set_chn_workspace set_chn_opt_attr", ())):
    for _name in _names.split():
        globals()[f"{_module}_{_name}"] = _unsupported(_module, _results)
