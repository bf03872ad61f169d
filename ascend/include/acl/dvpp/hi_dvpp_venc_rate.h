/*===-- acl/dvpp/hi_dvpp_venc_rate.h - the bit rate of channels that encode --===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * How many bits pictures of video may take. Channels are created with CBR or VBR, and groups of
 * pictures NORMAL_P; the others are there for programs that name them.
 */
#ifndef OPENATC_ACL_DVPP_HI_DVPP_VENC_RATE_H
#define OPENATC_ACL_DVPP_HI_DVPP_VENC_RATE_H

#include "hi_dvpp_common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HI_VENC_TEXTURE_THRESHOLD_SIZE 16

typedef enum {
  HI_VENC_RC_MODE_H264_CBR = 1,
  HI_VENC_RC_MODE_H264_VBR,
  HI_VENC_RC_MODE_H264_AVBR,
  HI_VENC_RC_MODE_H264_QVBR,
  HI_VENC_RC_MODE_H264_CVBR,
  HI_VENC_RC_MODE_H264_FIXQP,
  HI_VENC_RC_MODE_H264_QPMAP,
  HI_VENC_RC_MODE_MJPEG_CBR,
  HI_VENC_RC_MODE_MJPEG_VBR,
  HI_VENC_RC_MODE_MJPEG_FIXQP,
  HI_VENC_RC_MODE_H265_CBR,
  HI_VENC_RC_MODE_H265_VBR,
  HI_VENC_RC_MODE_H265_AVBR,
  HI_VENC_RC_MODE_H265_QVBR,
  HI_VENC_RC_MODE_H265_CVBR,
  HI_VENC_RC_MODE_H265_FIXQP,
  HI_VENC_RC_MODE_H265_QPMAP
} hi_venc_rc_mode;

typedef enum {
  HI_VENC_RC_QPMAP_MODE_MEAN_QP = 0,
  HI_VENC_RC_QPMAP_MODE_MIN_QP,
  HI_VENC_RC_QPMAP_MODE_MAX_QP,
  HI_VENC_RC_QPMAP_MODE_BUTT
} hi_venc_rc_qpmap_mode;

typedef struct {
  hi_u32 gop, stats_time, src_frame_rate, dst_frame_rate, bit_rate;
} hi_venc_h264_cbr;
typedef struct {
  hi_u32 gop, stats_time, src_frame_rate, dst_frame_rate, max_bit_rate;
} hi_venc_h264_vbr;
typedef hi_venc_h264_vbr hi_venc_h264_avbr;
typedef struct {
  hi_u32 gop, stats_time, src_frame_rate, dst_frame_rate, target_bit_rate;
} hi_venc_h264_qvbr;
typedef struct {
  hi_u32 gop, stats_time, src_frame_rate, dst_frame_rate, max_bit_rate;
  hi_u32 short_term_stats_time, long_term_stats_time;
  hi_u32 long_term_max_bit_rate, long_term_min_bit_rate;
} hi_venc_h264_cvbr;
typedef struct {
  hi_u32 gop, src_frame_rate, dst_frame_rate, i_qp, p_qp, b_qp;
} hi_venc_h264_fixqp;
typedef struct {
  hi_u32 gop, stats_time, src_frame_rate, dst_frame_rate;
} hi_venc_h264_qpmap;
typedef struct {
  hi_u32 gop, stats_time, src_frame_rate, dst_frame_rate;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_qpmap;
typedef struct {
  hi_u32 stats_time, src_frame_rate, dst_frame_rate, bit_rate;
} hi_venc_mjpeg_cbr;
typedef struct {
  hi_u32 stats_time, src_frame_rate, dst_frame_rate, max_bit_rate;
} hi_venc_mjpeg_vbr;
typedef struct {
  hi_u32 src_frame_rate, dst_frame_rate, qfactor;
} hi_venc_mjpeg_fixqp;
typedef hi_venc_h264_cbr hi_venc_h265_cbr;
typedef hi_venc_h264_vbr hi_venc_h265_vbr;
typedef hi_venc_h264_avbr hi_venc_h265_avbr;
typedef hi_venc_h264_qvbr hi_venc_h265_qvbr;
typedef hi_venc_h264_cvbr hi_venc_h265_cvbr;
typedef hi_venc_h264_fixqp hi_venc_h265_fixqp;

typedef struct {
  hi_venc_rc_mode rc_mode;
  union {
    hi_venc_h264_cbr h264_cbr;
    hi_venc_h264_vbr h264_vbr;
    hi_venc_h264_avbr h264_avbr;
    hi_venc_h264_qvbr h264_qvbr;
    hi_venc_h264_cvbr h264_cvbr;
    hi_venc_h264_fixqp h264_fixqp;
    hi_venc_h264_qpmap h264_qpmap;
    hi_venc_mjpeg_cbr mjpeg_cbr;
    hi_venc_mjpeg_vbr mjpeg_vbr;
    hi_venc_mjpeg_fixqp mjpeg_fixqp;
    hi_venc_h265_cbr h265_cbr;
    hi_venc_h265_vbr h265_vbr;
    hi_venc_h265_avbr h265_avbr;
    hi_venc_h265_qvbr h265_qvbr;
    hi_venc_h265_cvbr h265_cvbr;
    hi_venc_h265_fixqp h265_fixqp;
    hi_venc_h265_qpmap h265_qpmap;
  };
} hi_venc_rc_attr;

typedef enum {
  HI_VENC_GOP_MODE_NORMAL_P = 0,
  HI_VENC_GOP_MODE_DUAL_P,
  HI_VENC_GOP_MODE_SMART_P,
  HI_VENC_GOP_MODE_ADV_SMART_P,
  HI_VENC_GOP_MODE_BIPRED_B,
  HI_VENC_GOP_MODE_LOW_DELAY_B,
  HI_VENC_GOP_MODE_BUTT
} hi_venc_gop_mode;

typedef struct {
  hi_s32 ip_qp_delta;
} hi_venc_gop_normal_p;
typedef struct {
  hi_u32 sp_interval;
  hi_s32 sp_qp_delta, ip_qp_delta;
} hi_venc_gop_dual_p;
typedef struct {
  hi_u32 bg_interval;
  hi_s32 bg_qp_delta, vi_qp_delta;
} hi_venc_gop_smart_p;
typedef hi_venc_gop_smart_p hi_venc_gop_adv_smart_p;
typedef struct {
  hi_u32 b_frame_num;
  hi_s32 b_qp_delta, ip_qp_delta;
} hi_venc_gop_bipred_b;

typedef struct {
  hi_venc_gop_mode gop_mode;
  union {
    hi_venc_gop_normal_p normal_p;
    hi_venc_gop_dual_p dual_p;
    hi_venc_gop_smart_p smart_p;
    hi_venc_gop_adv_smart_p adv_smart_p;
    hi_venc_gop_bipred_b bipred_b;
  };
} hi_venc_gop_attr;

typedef enum {
  HI_VENC_MOD_VENC = 1,
  HI_VENC_MOD_H264,
  HI_VENC_MOD_H265,
  HI_VENC_MOD_JPEG,
  HI_VENC_MOD_RC,
  HI_VENC_MOD_BUTT
} hi_venc_mod_type;

typedef enum {
  HI_VB_SRC_COMMON = 0,
  HI_VB_SRC_MOD,
  HI_VB_SRC_PRIVATE,
  HI_VB_SRC_USER,
  HI_VB_SRC_BUTT
} hi_vb_src;

typedef struct {
  hi_u32 buf_cache, frame_buf_recycle;
} hi_venc_venc_mod_param;
typedef struct {
  hi_u32 one_stream_buf, mini_buf_mode, low_power_mode;
  hi_vb_src vb_src;
  hi_bool qp_hist_en;
  hi_u32 max_user_data_len;
} hi_venc_h264_mod_param;
typedef hi_venc_h264_mod_param hi_venc_h265_mod_param;
typedef struct {
  hi_u32 one_stream_buf, mini_buf_mode, clear_stream_buf, dering_mode;
} hi_venc_jpeg_mod_param;

typedef struct {
  hi_venc_mod_type mod_type;
  union {
    hi_venc_venc_mod_param venc_mod_param;
    hi_venc_h264_mod_param h264_mod_param;
    hi_venc_h265_mod_param h265_mod_param;
    hi_venc_jpeg_mod_param jpeg_mod_param;
  };
} hi_venc_mod_param;

typedef enum {
  HI_VENC_SCENE_0 = 0,
  HI_VENC_SCENE_1,
  HI_VENC_SCENE_2,
  HI_VENC_SCENE_BUTT
} hi_venc_scene_mode;

typedef struct {
  hi_bool enable;
  hi_rect rect;
} hi_crop_info;

typedef struct {
  hi_s32 src_frame_rate, dst_frame_rate;
} hi_frame_rate_ctrl;

typedef struct {
  hi_bool color_to_grey_en;
  hi_u32 priority, max_stream_cnt, poll_wake_up_frame_cnt;
  hi_crop_info crop_info;
  hi_frame_rate_ctrl frame_rate;
} hi_venc_chn_param;

/* A base of 1 without enhancement, with prediction: each picture is predicted from the one before.
 */
typedef struct {
  hi_u32 base, enhance;
  hi_bool pred_en;
} hi_venc_ref_param;

typedef struct {
  hi_u32 max_i_proportion, min_i_proportion;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
} hi_venc_h264_cbr_param;
typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
} hi_venc_h264_vbr_param;
typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_s32 min_still_percent;
  hi_u32 max_still_qp, min_still_psnr;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_u32 min_qp_delta, motion_sensitivity;
  hi_bool save_bitrate_en;
} hi_venc_h264_avbr_param;
typedef struct {
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_s32 max_bit_percent, min_bit_percent, max_psnr_fluctuate, min_psnr_fluctuate;
} hi_venc_h264_qvbr_param;
typedef struct {
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_u32 min_qp_delta, max_qp_delta, extra_bit_percent, long_term_stats_time_unit;
  hi_bool save_bitrate_en;
} hi_venc_h264_cvbr_param;
typedef struct {
  hi_u32 max_i_proportion, min_i_proportion;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_cbr_param;
typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_vbr_param;
typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_s32 min_still_percent;
  hi_u32 max_still_qp, min_still_psnr;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_u32 min_qp_delta, motion_sensitivity;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_avbr_param;
typedef struct {
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_s32 max_bit_percent, min_bit_percent, max_psnr_fluctuate, min_psnr_fluctuate;
} hi_venc_h265_qvbr_param;
typedef struct {
  hi_u32 max_i_proportion, min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
  hi_u32 max_qp, min_qp, max_i_qp, min_i_qp;
  hi_u32 min_qp_delta, max_qp_delta, extra_bit_percent, long_term_stats_time_unit;
} hi_venc_h265_cvbr_param;
typedef struct {
  hi_u32 max_qfactor, min_qfactor;
} hi_venc_mjpeg_cbr_param;
typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_qfactor, min_qfactor;
} hi_venc_mjpeg_vbr_param;
typedef struct {
  hi_bool detect_scene_chg_en, adapt_insert_idr_frame_en;
} hi_venc_scene_chg_detect;

typedef struct {
  hi_u32 threshold_i[HI_VENC_TEXTURE_THRESHOLD_SIZE];
  hi_u32 threshold_p[HI_VENC_TEXTURE_THRESHOLD_SIZE];
  hi_u32 threshold_b[HI_VENC_TEXTURE_THRESHOLD_SIZE];
  hi_u32 direction, row_qp_delta;
  hi_s32 first_frame_start_qp;
  hi_venc_scene_chg_detect scene_chg_detect;
  union {
    hi_venc_h264_cbr_param h264_cbr_param;
    hi_venc_h264_vbr_param h264_vbr_param;
    hi_venc_h264_avbr_param h264_avbr_param;
    hi_venc_h264_qvbr_param h264_qvbr_param;
    hi_venc_h264_cvbr_param h264_cvbr_param;
    hi_venc_h265_cbr_param h265_cbr_param;
    hi_venc_h265_vbr_param h265_vbr_param;
    hi_venc_h265_avbr_param h265_avbr_param;
    hi_venc_h265_qvbr_param h265_qvbr_param;
    hi_venc_h265_cvbr_param h265_cvbr_param;
    hi_venc_mjpeg_cbr_param mjpeg_cbr_param;
    hi_venc_mjpeg_vbr_param mjpeg_vbr_param;
  };
} hi_venc_rc_param;

#ifdef __cplusplus
}
#endif

#endif
