/*===-- acl/dvpp/hi_dvpp_vdec.h - channels that decode ----------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Channels of type HI_PT_JPEG decode JPEG files, those of hi_mpi_pngd_create_chn PNG files, those
 * of HI_PT_H264 and HI_PT_H265 video, where this library was built with its decoder.
 */
#ifndef OPENATC_ACL_DVPP_HI_DVPP_VDEC_H
#define OPENATC_ACL_DVPP_HI_DVPP_VDEC_H

#include "hi_dvpp_common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VDEC_MAX_CHN_NUM 256
#define PNGD_MAX_CHN_NUM 128

#define HI_ERR_VDEC_INVALID_CHN_ID 0xA0058002
#define HI_ERR_VDEC_ILLEGAL_PARAM 0xA0058003
#define HI_ERR_VDEC_EXIST 0xA0058004
#define HI_ERR_VDEC_UNEXIST 0xA0058005
#define HI_ERR_VDEC_NULL_PTR 0xA0058006
#define HI_ERR_VDEC_NOT_SUPPORT 0xA0058008
#define HI_ERR_VDEC_NOT_PERM 0xA0058009
#define HI_ERR_VDEC_BUF_EMPTY 0xA005800E
#define HI_ERR_VDEC_BUF_FULL 0xA005800F
#define HI_ERR_VDEC_SYS_NOT_READY 0xA0058010

typedef hi_s32 hi_vdec_chn;
typedef hi_s32 hi_pngd_chn;

typedef enum {
  HI_VDEC_SEND_MODE_STREAM = 0,
  HI_VDEC_SEND_MODE_FRAME,
  HI_VDEC_SEND_MODE_COMPAT
} hi_vdec_send_mode;
typedef enum {
  HI_VIDEO_DEC_MODE_IPB = 0,
  HI_VIDEO_DEC_MODE_IP,
  HI_VIDEO_DEC_MODE_I
} hi_video_dec_mode;

typedef struct {
  hi_u32 frame_type, err_rate, poc;
} hi_vdec_video_supplement_info;

typedef struct {
  hi_payload_type type;
  union {
    hi_vdec_video_supplement_info video_supplement_info;
  };
} hi_vdec_supplement_info;

typedef struct {
  hi_payload_type type;
  hi_u32 left_stream_bytes, left_stream_frames;
  hi_u32 left_decoded_frames; /* pictures that wait for hi_mpi_vdec_get_frame */
  hi_bool is_started;
  hi_u32 recv_stream_frames, dec_stream_frames;
  hi_u32 width, height;
} hi_vdec_chn_status;

typedef struct {
  hi_u32 ref_frame_num;
  hi_bool temporal_mvp_en;
  hi_u32 tmv_buf_size;
} hi_vdec_video_attr;

typedef struct {
  hi_payload_type type;
  hi_vdec_send_mode mode;
  hi_u32 pic_width, pic_height; /* of the largest picture */
  hi_u32 stream_buf_size, frame_buf_size, frame_buf_cnt;
  union {
    hi_vdec_video_attr video_attr;
  };
} hi_vdec_chn_attr;

typedef struct {
  hi_bool end_of_frame, end_of_stream, need_display;
  hi_u64 pts, private_data;
  hi_u32 len;
  hi_u8 *addr;
} hi_vdec_stream;

typedef struct {
  hi_bool composite_dec_en, slice_input_en;
  hi_s32 err_threshold;
  hi_video_dec_mode dec_mode;
  hi_video_out_order out_order;
  hi_compress_mode compress_mode;
  hi_video_format video_format;
} hi_vdec_video_param;

typedef struct {
  hi_pixel_format pixel_format;
  hi_u32 alpha;
} hi_vdec_pic_param;

typedef struct {
  hi_payload_type type;
  hi_u32 display_frame_num;
  union {
    hi_vdec_video_param video_param;
    hi_vdec_pic_param pic_param;
  };
} hi_vdec_chn_param;

typedef struct {
  hi_u32 width, height; /* 0, or those of the file */
  hi_u32 width_stride, height_stride;
  hi_pixel_format pixel_format; /* HI_PIXEL_FORMAT_UNKNOWN: YVU with the file's subsampling */
  hi_u64 vir_addr;
  hi_u32 buffer_size;
  hi_s16 offset_top, offset_bottom, offset_left, offset_right;
} hi_vdec_pic_info;

typedef struct {
  hi_s32 reserved[4];
} hi_pngd_chn_attr;

/* Returns the bytes of a decoded picture of the attributes. */
ACL_FUNC_VISIBILITY hi_u32 hi_vdec_get_pic_buf_size(hi_payload_type type,
                                                    hi_pic_buf_attr *buf_attr);
/* Returns 0: decoders have memory of their own. */
ACL_FUNC_VISIBILITY hi_u32 hi_vdec_get_tmv_buf_size(hi_payload_type type, hi_u32 width,
                                                    hi_u32 height);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_create_chn(hi_vdec_chn chn, const hi_vdec_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_sys_create_chn(hi_vdec_chn *chn,
                                                      const hi_vdec_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_destroy_chn(hi_vdec_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_get_chn_attr(hi_vdec_chn chn, hi_vdec_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_set_chn_param(hi_vdec_chn chn,
                                                     const hi_vdec_chn_param *chn_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_get_chn_param(hi_vdec_chn chn, hi_vdec_chn_param *chn_param);
/* A channel takes files between start and stop; HI_ERR_VDEC_NOT_PERM otherwise. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_start_recv_stream(hi_vdec_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_stop_recv_stream(hi_vdec_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_query_status(hi_vdec_chn chn, hi_vdec_chn_status *status);
/* Discards the pictures that wait. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_reset_chn(hi_vdec_chn chn);
/* Decodes a file to the memory of `vdec_pic_info`. A file that cannot be decoded is a frame with
 * frame_flag 1; arguments that do not fit are HI_ERR_VDEC_ILLEGAL_PARAM. A stream of no bytes with
 * end_of_stream becomes a frame of no picture. Of video, a call has the bytes of one picture in
 * device memory; pictures come in the order in which they are shown, to the outputs in the order in
 * which those were sent, and the end of the stream passes on the last ones. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_send_stream(hi_vdec_chn chn, const hi_vdec_stream *stream,
                                                   hi_vdec_pic_info *vdec_pic_info,
                                                   hi_s32 milli_sec);
/* Takes the oldest picture and the stream it was decoded from; HI_ERR_VDEC_BUF_EMPTY where none
 * comes within `milli_sec` milliseconds (-1: without end). `supplement` may be NULL. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_get_frame(hi_vdec_chn chn, hi_video_frame_info *frame_info,
                                                 hi_vdec_supplement_info *supplement,
                                                 hi_vdec_stream *stream, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_release_frame(hi_vdec_chn chn,
                                                     const hi_video_frame_info *frame_info);
/* The file of a channel, to wait for with select or poll; see hi_mpi_venc_get_fd and
 * hi_mpi_venc_close_fd. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_get_fd(hi_vdec_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vdec_close_fd(hi_vdec_chn chn);
/* Reads the header of a JPEG (HI_PT_JPEG) or PNG (HI_PT_PNG) file. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_get_image_info(hi_payload_type img_type,
                                                      const hi_vdec_stream *stream,
                                                      hi_img_info *img_info);

ACL_FUNC_VISIBILITY hi_s32 hi_mpi_pngd_create_chn(hi_pngd_chn chn, const hi_pngd_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_pngd_sys_create_chn(hi_pngd_chn *chn,
                                                      const hi_pngd_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_pngd_destroy_chn(hi_pngd_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_pngd_get_image_info(const hi_img_stream *img_stream,
                                                      hi_img_info *img_info);
/* Decodes a PNG file to RGB888 or RGBA8888; the picture waits for hi_mpi_pngd_get_image_data. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_pngd_send_stream(hi_pngd_chn chn, const hi_img_stream *img_stream,
                                                   hi_pic_info *pic_info, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_pngd_get_image_data(hi_pngd_chn chn, hi_pic_info *pic_info,
                                                      hi_img_stream *stream, hi_s32 milli_sec);

#ifdef __cplusplus
}
#endif

#endif
