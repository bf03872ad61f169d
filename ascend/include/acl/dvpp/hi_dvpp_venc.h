/*===-- acl/dvpp/hi_dvpp_venc.h - channels that encode ----------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Channels of type HI_PT_JPEG encode JPEG files, those of HI_PT_H264 and HI_PT_H265 video, with the
 * rate control CBR or VBR. H.264 needs a build with its encoder.
 */
#ifndef OPENATC_ACL_DVPP_HI_DVPP_VENC_H
#define OPENATC_ACL_DVPP_HI_DVPP_VENC_H

#include "hi_dvpp_venc_rate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VENC_MAX_CHN_NUM 256
#define HI_VENC_JPEG_QT_COEF_NUM 64
#define HI_VENC_MAX_PACK_INFO_NUM 8
#define HI_VENC_MAX_MPF_NUM 2

#define HI_ERR_VENC_INVALID_CHN_ID 0xA0088002
#define HI_ERR_VENC_ILLEGAL_PARAM 0xA0088003
#define HI_ERR_VENC_EXIST 0xA0088004
#define HI_ERR_VENC_UNEXIST 0xA0088005
#define HI_ERR_VENC_NULL_PTR 0xA0088006
#define HI_ERR_VENC_NOT_SUPPORT 0xA0088008
#define HI_ERR_VENC_NOT_PERM 0xA0088009
#define HI_ERR_VENC_BUF_EMPTY 0xA008800E
#define HI_ERR_VENC_BUF_FULL 0xA008800F
#define HI_ERR_VENC_SYS_NOT_READY 0xA0088010

typedef hi_s32 hi_venc_chn;

typedef enum {
  HI_VENC_JPEG_PACK_ECS = 5,
  HI_VENC_JPEG_PACK_APP = 6,
  HI_VENC_JPEG_PACK_VDO = 7,
  HI_VENC_JPEG_PACK_PIC = 8
} hi_venc_jpege_pack_type;

typedef union {
  hi_u32 h264_type, h265_type;
  hi_venc_jpege_pack_type jpeg_type;
} hi_venc_data_type;

typedef struct {
  hi_venc_data_type pack_type;
  hi_u32 pack_offset, pack_len;
} hi_venc_pack_info;

typedef struct {
  union {
    hi_u64 phys_addr;
    hi_u64 input_addr; /* of the encoded picture */
  };
  hi_u8 *addr;
  hi_u32 len;
  hi_u64 pts;
  hi_bool is_frame_end;
  hi_venc_data_type data_type;
  hi_u32 offset; /* of the data behind `addr` */
  hi_u32 data_num;
  hi_venc_pack_info pack_info[HI_VENC_MAX_PACK_INFO_NUM];
} hi_venc_pack;

typedef struct {
  hi_u32 pic_bytes, update_attr_cnt, qfactor;
} hi_venc_jpeg_stream_info;

typedef struct {
  hi_venc_pack *pack; /* the caller's, of pack_cnt elements */
  hi_u32 pack_cnt;
  hi_u32 seq;
  hi_venc_jpeg_stream_info jpeg_info;
} hi_venc_stream;

typedef struct {
  hi_u32 left_pics, left_stream_bytes, left_stream_frames, cur_packs, left_recv_pics, left_enc_pics;
  hi_bool is_jpeg_snap_end;
} hi_venc_chn_status;

typedef struct {
  hi_bool rcn_ref_share_buf_en;
  hi_u32 frame_buf_ratio;
} hi_venc_h264_attr;
typedef hi_venc_h264_attr hi_venc_h265_attr;

typedef struct {
  hi_u8 large_thumbnail_num;
  hi_video_size large_thumbnail_size[HI_VENC_MAX_MPF_NUM];
} hi_venc_mpf_cfg;

typedef enum { HI_VENC_PIC_RECV_SINGLE = 0, HI_VENC_PIC_RECV_MULTI } hi_venc_pic_recv_mode;

typedef struct {
  hi_bool dcf_en;
  hi_venc_mpf_cfg mpf_cfg;
  hi_venc_pic_recv_mode recv_mode;
} hi_venc_jpeg_attr;

typedef struct {
  hi_payload_type type;
  hi_u32 max_pic_width, max_pic_height;
  hi_u32 buf_size;
  hi_u32 profile;
  hi_bool is_by_frame;
  hi_u32 pic_width, pic_height;
  union {
    hi_venc_h264_attr h264_attr;
    hi_venc_h265_attr h265_attr;
    hi_venc_jpeg_attr jpeg_attr;
  };
} hi_venc_attr;

typedef struct {
  hi_venc_attr venc_attr;
  hi_venc_rc_attr rc_attr;
  hi_venc_gop_attr gop_attr;
} hi_venc_chn_attr;

typedef struct {
  hi_s32 recv_pic_num; /* -1: as many as are sent */
} hi_venc_start_param;

typedef struct {
  hi_u32 qfactor; /* quality, 1 to 100; 0xFFFFFFFF: 90 */
  hi_u8 y_qt[HI_VENC_JPEG_QT_COEF_NUM];
  hi_u8 cb_qt[HI_VENC_JPEG_QT_COEF_NUM];
  hi_u8 cr_qt[HI_VENC_JPEG_QT_COEF_NUM];
  hi_u32 mcu_per_ecs;
  hi_bool ecs_output_en;
} hi_venc_jpeg_param;

ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_create_chn(hi_venc_chn chn, const hi_venc_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_sys_create_chn(hi_venc_chn *chn,
                                                      const hi_venc_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_destroy_chn(hi_venc_chn chn);
/* A channel takes pictures between start and stop; HI_ERR_VENC_NOT_PERM otherwise. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_start_chn(hi_venc_chn chn,
                                                 const hi_venc_start_param *recv_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_stop_chn(hi_venc_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_query_status(hi_venc_chn chn, hi_venc_chn_status *status);
/* Returns a descriptor of the process (below 0: an error) for select, poll and
 * hi_mpi_sys_ctl_epoll; it lives until it is closed, or its channel ends. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_fd(hi_venc_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_close_fd(hi_venc_chn chn);
/* Write what a channel was created with, or change it: the rate control and the pictures from one
 * that needs no other to the next. The next picture needs no other. Type, profile and size stay:
 * HI_ERR_NOT_PERM. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_chn_attr(hi_venc_chn chn, const hi_venc_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_chn_attr(hi_venc_chn chn, hi_venc_chn_attr *attr);
/* Settings of all channels of a type, which say how memory is used here only: mod_param->mod_type
 * is given in both. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_mod_param(const hi_venc_mod_param *mod_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_mod_param(hi_venc_mod_param *mod_param);
/* Hints for the rate control of video, which keeps to the bit rate of the channel: what is set is
 * returned again and changes nothing, which a warning says once. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_rc_param(hi_venc_chn chn,
                                                    const hi_venc_rc_param *rc_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_rc_param(hi_venc_chn chn, hi_venc_rc_param *rc_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_scene_mode(hi_venc_chn chn,
                                                      const hi_venc_scene_mode scene_mode);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_scene_mode(hi_venc_chn chn,
                                                      hi_venc_scene_mode *scene_mode);
/* Hints for the channel, whose priority is 0 or 1, and for what pictures of video are predicted
 * from: what is set is returned again. That pictures become grey, are cropped, are left out or are
 * predicted from another one is not done, which a warning says once. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_chn_param(hi_venc_chn chn,
                                                     const hi_venc_chn_param *chn_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_chn_param(hi_venc_chn chn, hi_venc_chn_param *chn_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_ref_param(hi_venc_chn chn,
                                                     const hi_venc_ref_param *ref_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_ref_param(hi_venc_chn chn, hi_venc_ref_param *ref_param);
/* Has the next picture of video need no other. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_request_idr(hi_venc_chn chn, hi_bool instant);
/* Set and get the quality. Quantization tables of the caller are not used. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_jpeg_param(hi_venc_chn chn,
                                                      const hi_venc_jpeg_param *jpeg_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_jpeg_param(hi_venc_chn chn,
                                                      hi_venc_jpeg_param *jpeg_param);
/* Writes bytes that are enough for the file of any picture of that size. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_jpege_predicted_size(
    const hi_video_frame_info *frame, const hi_venc_jpeg_param *jpeg_param, hi_u32 *size);
/* Encodes a picture; its data begin at virt_addr[0], planes behind each other by the strides. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_send_frame(hi_venc_chn chn, const hi_video_frame_info *frame,
                                                  hi_s32 milli_sec);
/* Encodes a picture to the caller's memory, jpege_stream->len bytes. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_send_jpege_frame(hi_venc_chn chn,
                                                        const hi_video_frame_info *frame,
                                                        const hi_img_stream *jpege_stream,
                                                        hi_s32 milli_sec);
/* Takes the oldest file: one pack, in device memory that is valid until
 * hi_mpi_venc_release_stream. HI_ERR_VENC_BUF_EMPTY where none comes in time. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_stream(hi_venc_chn chn, hi_venc_stream *stream,
                                                  hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_release_stream(hi_venc_chn chn, hi_venc_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
