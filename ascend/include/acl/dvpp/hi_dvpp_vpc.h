/*===-- acl/dvpp/hi_dvpp_vpc.h - resize, crop, paste, convert ---------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Each function finishes its pictures before it returns, writes a task id, and returns what
 * hi_mpi_vpc_get_process_result returns for that id. `milli_sec` is -1, 0 or milliseconds.
 * interpolation: 0 bilinear, 1 nearest neighbour.
 */
#ifndef OPENATC_ACL_DVPP_HI_DVPP_VPC_H
#define OPENATC_ACL_DVPP_HI_DVPP_VPC_H

#include "hi_dvpp_common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VPC_MAX_CHN_NUM 512

#define HI_ERR_VPC_INVALID_CHN_ID 0xA0078002
#define HI_ERR_VPC_ILLEGAL_PARAM 0xA0078003
#define HI_ERR_VPC_EXIST 0xA0078004
#define HI_ERR_VPC_UNEXIST 0xA0078005
#define HI_ERR_VPC_NULL_PTR 0xA0078006
#define HI_ERR_VPC_NOT_CFG 0xA0078007
#define HI_ERR_VPC_NOT_SUPPORT 0xA0078008
#define HI_ERR_VPC_NOT_PERM 0xA0078009
#define HI_ERR_VPC_NO_MEM 0xA007800C
#define HI_ERR_VPC_NO_BUF 0xA007800D
#define HI_ERR_VPC_BUF_EMPTY 0xA007800E
#define HI_ERR_VPC_BUF_FULL 0xA007800F
#define HI_ERR_VPC_SYS_NOT_READY 0xA0078010
#define HI_ERR_VPC_BAD_ADDR 0xA0078011
#define HI_ERR_VPC_BUSY 0xA0078012

typedef hi_s32 hi_vpc_chn;

typedef enum {
  HI_BORDER_CONSTANT = 0,
  HI_BORDER_REPLICATE,
  HI_BORDER_REFLECT,
  HI_BORDER_REFLECT_101
} hi_vpc_bord_type;

typedef struct {
  hi_double val[4]; /* of Y, U, V or R, G, B, and alpha */
} hi_vpc_scalar;

typedef struct {
  hi_u32 top, bottom, left, right;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
} hi_vpc_make_border_info;

typedef hi_pic_info hi_vpc_pic_info;

typedef struct {
  hi_u32 top_offset, left_offset;
  hi_u32 crop_width, crop_height;
} hi_vpc_crop_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
} hi_vpc_crop_region_info;

typedef struct {
  hi_u32 resize_width, resize_height;
  hi_u32 interpolation;
} hi_vpc_resize_info;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info;
} hi_vpc_crop_resize_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info;
  hi_u32 dest_top_offset, dest_left_offset;
} hi_vpc_crop_resize_paste_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info;
  hi_u32 dest_top_offset, dest_left_offset;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
} hi_vpc_crop_resize_border_region;

typedef struct {
  hi_s32 attr;
  hi_u32 pic_width, pic_height; /* 0, or the largest picture; not used */
} hi_vpc_chn_attr;

typedef struct {
  hi_u32 histogram_y_or_r[256];
  hi_u32 histogram_u_or_g[256];
  hi_u32 histogram_v_or_b[256];
} hi_vpc_histogram_config;

typedef struct {
  hi_u8 map_value_y_or_r[256];
  hi_u8 map_value_u_or_g[256];
  hi_u8 map_value_v_or_b[256];
} hi_vpc_lut_remap;

/* Create channel `chn`, 0 to VPC_MAX_CHN_NUM - 1, or one of the library's choice; end one. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_create_chn(hi_vpc_chn chn, const hi_vpc_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_sys_create_chn(hi_vpc_chn *chnl, const hi_vpc_chn_attr *attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_destroy_chn(hi_vpc_chn chn);

/* Cuts `count` areas out; each has the size of its picture. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_crop(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                           hi_vpc_crop_region_info crop_info[], hi_u32 count,
                                           hi_u32 *task_id, hi_s32 milli_sec);
/* Resizes to the size of `dest_pic`; fx and fy are 0 or the factors between the sizes. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_resize(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                             hi_vpc_pic_info *dest_pic, hi_double fx, hi_double fy,
                                             hi_u32 interpolation, hi_u32 *task_id,
                                             hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_crop_resize(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                                  hi_vpc_crop_resize_region crop_resize_info[],
                                                  hi_u32 count, hi_u32 *task_id, hi_s32 milli_sec);
/* Pastes the resized area at the offset; the rest of the picture stays. */
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_vpc_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                             hi_vpc_crop_resize_paste_region crop_resize_paste_info[], hi_u32 count,
                             hi_u32 *task_id, hi_s32 milli_sec);
/* Takes count[i] of the areas from picture i. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_batch_crop_resize_paste(
    hi_vpc_chn chn, const hi_vpc_pic_info *source_pic[], hi_u32 pic_num,
    hi_vpc_crop_resize_paste_region crop_resize_paste_info[], hi_u32 count[], hi_u32 *task_id,
    hi_s32 milli_sec);
/* Puts the resized area at the offset and fills the rest of the picture with a border. */
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_vpc_crop_resize_make_border(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                   hi_vpc_crop_resize_border_region crop_resize_make_border_info[],
                                   hi_u32 count, hi_u32 *task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_batch_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info *source_pic[], hi_u32 pic_num,
    hi_vpc_crop_resize_border_region crop_resize_make_border_info[], hi_u32 count[],
    hi_u32 *task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_convert_color(hi_vpc_chn chn,
                                                    const hi_vpc_pic_info *source_pic,
                                                    hi_vpc_pic_info *dest_pic, hi_u32 *task_id,
                                                    hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_convert_color_to_yuv420(hi_vpc_chn chn,
                                                              const hi_vpc_pic_info *source_pic,
                                                              hi_vpc_pic_info *dest_pic,
                                                              hi_u32 *task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_copy_make_border(hi_vpc_chn chn,
                                                       const hi_vpc_pic_info *source_pic,
                                                       hi_vpc_pic_info *dest_pic,
                                                       hi_vpc_make_border_info make_border_info,
                                                       hi_u32 *task_id, hi_s32 milli_sec);
/* Halves YUV400 pictures `filter_level` times (1 to 4) with a filter of 5 x 5 over `divisor`. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_pyrdown(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                              hi_vpc_pic_info dest_pic[], hi_u32 filter_level,
                                              hi_s8 gaussian_filter[][5], hi_u16 divisor,
                                              hi_vpc_make_border_info make_border_info,
                                              hi_u32 *task_id, hi_s32 milli_sec);
/* Counts the values of each channel; those that the picture has not are 0. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_calc_hist(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                                hi_vpc_histogram_config *hist_config,
                                                hi_u32 *task_id, hi_s32 milli_sec);
/* Replaces the values of each channel by those of a table. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_equalize_hist(hi_vpc_chn chn,
                                                    const hi_vpc_pic_info *source_pic,
                                                    hi_vpc_pic_info *dest_pic,
                                                    const hi_vpc_lut_remap *lut_remap,
                                                    hi_u32 *task_id, hi_s32 milli_sec);
/* Returns 0 for a task of the channel; each id is asked for once. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_process_result(hi_vpc_chn chn, hi_u32 task_id,
                                                         hi_s32 milli_sec);

#ifdef __cplusplus
}
#endif

#endif
