/*===-- acl/dvpp/hi_dvpp_common.h - types of the second media interface -----===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * The functions hi_mpi_... of the media library return 0 or an error code of their module; after
 * an error aclGetRecentErrMsg returns what happened, on the thread of the call. Strides are bytes
 * per row and rows per plane, 0 for the smallest allowed; pictures and streams are in memory of
 * hi_mpi_dvpp_malloc. AscendCL must be started and a device set.
 */
#ifndef OPENATC_ACL_DVPP_HI_DVPP_COMMON_H
#define OPENATC_ACL_DVPP_HI_DVPP_COMMON_H

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned char hi_u8;
typedef unsigned char hi_uchar;
typedef unsigned short hi_u16;
typedef unsigned int hi_u32;
typedef unsigned long long hi_u64;
typedef signed char hi_s8;
typedef short hi_s16;
typedef int hi_s32;
typedef long long hi_s64;
typedef char hi_char;
typedef float hi_float;
typedef double hi_double;
typedef void hi_void;
typedef enum { HI_FALSE = 0, HI_TRUE = 1 } hi_bool;

#define HI_NULL 0L
#define HI_SUCCESS 0
#define HI_FAILURE (-1)

#ifndef ALIGN_UP
#define ALIGN_UP(x, a) ((((x) + ((a) - 1U)) / (a)) * (a))
#endif
#define DEFAULT_ALIGN 32U
#define HI_MAX_COLOR_COMPONENT 3
#define HI_MAX_USER_DATA_NUM 2

#define HI_ERR_APP_ID (0x80000000U + 0x20000000U)
#define HI_DEFINE_ERR(mod, level, err_id)                                                          \
  ((hi_s32)((HI_ERR_APP_ID) | ((hi_u32)(mod) << 16) | ((hi_u32)(level) << 13) | (hi_u32)(err_id)))

typedef enum {
  HI_ERR_INVALID_DEV_ID = 1,
  HI_ERR_INVALID_CHN_ID = 2,
  HI_ERR_ILLEGAL_PARAM = 3,
  HI_ERR_EXIST = 4,
  HI_ERR_UNEXIST = 5,
  HI_ERR_NULL_PTR = 6,
  HI_ERR_NOT_CFG = 7,
  HI_ERR_NOT_SUPPORT = 8,
  HI_ERR_NOT_PERM = 9,
  HI_ERR_NO_MEM = 12,
  HI_ERR_NO_BUF = 13,
  HI_ERR_BUF_EMPTY = 14,
  HI_ERR_BUF_FULL = 15,
  HI_ERR_NOT_READY = 16,
  HI_ERR_BAD_ADDR = 17,
  HI_ERR_BUSY = 18,
  HI_ERR_SIZE_NOT_ENOUGH = 19,
  HI_ERR_TIMEOUT = 20,
  HI_ERR_SYS_ERROR = 21
} hi_errno;

typedef enum { HI_ERR_LEVEL_DEBUG = 0, HI_ERR_LEVEL_ERROR = 4 } hi_err_level;

typedef enum {
  HI_ID_CMPI = 0,
  HI_ID_VB = 1,
  HI_ID_SYS = 2,
  HI_ID_CHNL = 4,
  HI_ID_VDEC = 5,
  HI_ID_VPC = 7,
  HI_ID_VENC = 8,
  HI_ID_JPEGE = 11,
  HI_ID_JPEGD = 14,
  HI_ID_USER = 30,
  HI_ID_PNGD = 64,
  HI_ID_BUTT = 0x100
} hi_mod_id;

typedef enum {
  HI_PT_JPEG = 26,
  HI_PT_H264 = 96,
  HI_PT_H265 = 265,
  HI_PT_PNG = 268,
  HI_PT_MJPEG = 1002,
  HI_PT_VPC = 2000,
  HI_PT_BUTT
} hi_payload_type;

typedef enum {
  HI_DATA_BIT_WIDTH_8 = 0,
  HI_DATA_BIT_WIDTH_10,
  HI_DATA_BIT_WIDTH_12,
  HI_DATA_BIT_WIDTH_14,
  HI_DATA_BIT_WIDTH_16,
  HI_DATA_BIT_WIDTH_BUTT
} hi_data_bit_width;

/* The values are those of acldvppPixelFormat. */
typedef enum {
  HI_PIXEL_FORMAT_YUV_400 = 0,
  HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420 = 1,
  HI_PIXEL_FORMAT_YVU_SEMIPLANAR_420 = 2,
  HI_PIXEL_FORMAT_YUV_SEMIPLANAR_422 = 3,
  HI_PIXEL_FORMAT_YVU_SEMIPLANAR_422 = 4,
  HI_PIXEL_FORMAT_YUV_SEMIPLANAR_444 = 5,
  HI_PIXEL_FORMAT_YVU_SEMIPLANAR_444 = 6,
  HI_PIXEL_FORMAT_YUYV_PACKED_422 = 7,
  HI_PIXEL_FORMAT_UYVY_PACKED_422 = 8,
  HI_PIXEL_FORMAT_YVYU_PACKED_422 = 9,
  HI_PIXEL_FORMAT_VYUY_PACKED_422 = 10,
  HI_PIXEL_FORMAT_YUV_PACKED_444 = 11,
  HI_PIXEL_FORMAT_RGB_888 = 12,
  HI_PIXEL_FORMAT_BGR_888 = 13,
  HI_PIXEL_FORMAT_ARGB_8888 = 14,
  HI_PIXEL_FORMAT_ABGR_8888 = 15,
  HI_PIXEL_FORMAT_RGBA_8888 = 16,
  HI_PIXEL_FORMAT_BGRA_8888 = 17,
  HI_PIXEL_FORMAT_YUV_SEMI_PLANNER_420_10BIT = 18,
  HI_PIXEL_FORMAT_YVU_SEMI_PLANNER_420_10BIT = 19,
  HI_PIXEL_FORMAT_YVU_PLANAR_420 = 20,
  HI_PIXEL_FORMAT_YVU_PLANAR_422 = 21,
  HI_PIXEL_FORMAT_YVU_PLANAR_444 = 22,
  HI_PIXEL_FORMAT_YUV_PLANAR_420 = 55,
  HI_PIXEL_FORMAT_YUV_PLANAR_422 = 56,
  HI_PIXEL_FORMAT_YUV_PLANAR_444 = 57,
  HI_PIXEL_FORMAT_RGB_888_PLANAR = 69,
  HI_PIXEL_FORMAT_BGR_888_PLANAR = 70,
  HI_PIXEL_FORMAT_YUV_SEMIPLANAR_440 = 1000,
  HI_PIXEL_FORMAT_YVU_SEMIPLANAR_440 = 1001,
  HI_PIXEL_FORMAT_FLOAT32 = 1002,
  HI_PIXEL_FORMAT_BUTT = 1003,
  HI_PIXEL_FORMAT_UNKNOWN = 10000
} hi_pixel_format;

typedef enum { HI_VIDEO_FORMAT_LINEAR = 0, HI_VIDEO_FORMAT_TILE_64x16 } hi_video_format;
typedef enum {
  HI_COMPRESS_MODE_NONE = 0,
  HI_COMPRESS_MODE_SEG,
  HI_COMPRESS_MODE_TILE,
  HI_COMPRESS_MODE_HFBC
} hi_compress_mode;
typedef enum {
  HI_COLOR_GAMUT_BT601 = 0,
  HI_COLOR_GAMUT_BT709,
  HI_COLOR_GAMUT_BT2020,
  HI_COLOR_GAMUT_USER
} hi_color_gamut;
typedef enum {
  HI_DYNAMIC_RANGE_SDR8 = 0,
  HI_DYNAMIC_RANGE_SDR10,
  HI_DYNAMIC_RANGE_HDR10,
  HI_DYNAMIC_RANGE_HLG
} hi_dynamic_range;
typedef enum {
  HI_VIDEO_FIELD_TOP = 1,
  HI_VIDEO_FIELD_BOTTOM = 2,
  HI_VIDEO_FIELD_INTERLACED = 3,
  HI_VIDEO_FIELD_FRAME = 4
} hi_video_field;
typedef enum { HI_VIDEO_OUT_ORDER_DISPLAY = 0, HI_VIDEO_OUT_ORDER_DEC } hi_video_out_order;

typedef enum {
  HI_JPEG_RAW_FORMAT_YUV444 = 0,
  HI_JPEG_RAW_FORMAT_YUV422 = 1,
  HI_JPEG_RAW_FORMAT_YUV420 = 2,
  HI_JPEG_RAW_FORMAT_YUV440 = 3,
  HI_JPEG_RAW_FORMAT_YUV400 = 4,
  HI_JPEG_RAW_FORMAT_YUV411 = 5,
  HI_JPEG_RAW_FORMAT_MAX = 100
} hi_jpeg_raw_format;

typedef enum {
  HI_PNG_COLOR_FORMAT_GRAY = 0x0,
  HI_PNG_COLOR_FORMAT_RGB = 0x2,
  HI_PNG_COLOR_FORMAT_CLUT = 0x3,
  HI_PNG_COLOR_FORMAT_AGRAY = 0x4,
  HI_PNG_COLOR_FORMAT_ARGB = 0x6,
  HI_PNG_COLOR_FORMAT_BUTT = 0x100
} hi_png_color_format;

typedef enum {
  HI_CSC_MATRIX_BT601_WIDE = 0,
  HI_CSC_MATRIX_BT601_NARROW,
  HI_CSC_MATRIX_BT709_WIDE,
  HI_CSC_MATRIX_BT709_NARROW,
  HI_CSC_MATRIX_BT2020_WIDE,
  HI_CSC_MATRIX_BT2020_NARROW,
  HI_CSC_MATRIX_USER = 100,
  HI_CSC_MATRIX_BUTT
} hi_csc_matrix;

typedef struct {
  hi_double csc_matrix_r0_c0, csc_matrix_r0_c1, csc_matrix_r0_c2;
  hi_double csc_matrix_r1_c0, csc_matrix_r1_c1, csc_matrix_r1_c2;
  hi_double csc_matrix_r2_c0, csc_matrix_r2_c1, csc_matrix_r2_c2;
  hi_double csc_bias_r0, csc_bias_r1, csc_bias_r2;
} hi_coefficient;

typedef struct {
  hi_coefficient yuv_to_rgb_coefficient; /* matrix * (YUV - bias) */
  hi_coefficient rgb_to_yuv_coefficient; /* matrix * RGB + bias */
} hi_csc_coefficient;

#define HI_ERR_SYS_ILLEGAL_PARAM 0xA0028003
#define HI_ERR_SYS_EXIST 0xA0028004
#define HI_ERR_SYS_UNEXIST 0xA0028005
#define HI_ERR_SYS_NULL_PTR 0xA0028006
#define HI_ERR_SYS_NOT_SUPPORT 0xA0028008
#define HI_ERR_SYS_NOT_PERM 0xA0028009
#define HI_ERR_SYS_NO_MEM 0xA002800C
#define HI_ERR_SYS_NOT_READY 0xA0028010
#define HI_ERR_SYS_BUSY 0xA0028012
#define HI_ERR_SYS_ERR 0xA0028015

typedef enum {
  HI_DVPP_EPOLL_CTL_ADD = 1,
  HI_DVPP_EPOLL_CTL_MOD = 2,
  HI_DVPP_EPOLL_CTL_DEL = 3,
  HI_DVPP_EPOLL_CTL_BUTT
} hi_dvpp_epoll_ctl_op;

typedef enum {
  HI_DVPP_EPOLL_IN = 1u,
  HI_DVPP_EPOLL_OUT = 1u << 1u,
  HI_DVPP_EPOLL_ET = (hi_u32)1u << 31u
} hi_dvpp_epoll_event_type;

typedef struct {
  hi_u32 events; /* of hi_dvpp_epoll_event_type */
  hi_void *data; /* the caller's */
} hi_dvpp_epoll_event;

typedef struct {
  hi_u32 width, height;
  hi_video_field field;
  hi_pixel_format pixel_format;
  hi_video_format video_format;
  hi_compress_mode compress_mode;
  hi_dynamic_range dynamic_range;
  hi_color_gamut color_gamut;
  hi_u32 header_stride[HI_MAX_COLOR_COMPONENT];
  hi_u32 width_stride[HI_MAX_COLOR_COMPONENT];
  hi_u32 height_stride[HI_MAX_COLOR_COMPONENT];
  hi_u64 header_phys_addr[HI_MAX_COLOR_COMPONENT];
  hi_u64 phys_addr[HI_MAX_COLOR_COMPONENT];
  hi_void *header_virt_addr[HI_MAX_COLOR_COMPONENT];
  hi_void *virt_addr[HI_MAX_COLOR_COMPONENT];
  hi_u32 time_ref;
  hi_u64 pts;
  hi_u64 user_data[HI_MAX_USER_DATA_NUM];
  hi_u32 frame_flag; /* of a decoded frame: 0, or 1 where the file cannot be decoded */
} hi_video_frame;

typedef struct {
  hi_video_frame v_frame;
  hi_u32 pool_id;
  hi_mod_id mod_id;
} hi_video_frame_info;

typedef struct {
  hi_u32 width, height;
} hi_video_size;

typedef struct {
  hi_u32 width, height;
  hi_u32 width_stride, height_stride;
  hi_u32 img_buf_size; /* bytes of the decoded picture */
  union {
    hi_jpeg_raw_format pixel_format;
    hi_png_color_format png_pixel_format;
  };
  hi_u32 reserved[4];
} hi_img_info;

typedef struct {
  hi_u32 width, height, align;
  hi_data_bit_width bit_width;
  hi_pixel_format pixel_format;
  hi_compress_mode compress_mode;
} hi_pic_buf_attr;

typedef struct {
  hi_payload_type type;
  hi_u8 *addr;
  hi_u32 len;
  hi_u64 pts;
  hi_s32 reserved[2];
} hi_img_stream;

typedef struct {
  hi_void *picture_address;
  hi_u32 picture_buffer_size;
  hi_u32 picture_width, picture_height;
  hi_u32 picture_width_stride, picture_height_stride;
  hi_pixel_format picture_format;
} hi_pic_info;

typedef struct {
  hi_s32 x, y;
  hi_u32 width, height;
} hi_rect;

/* Allocates and frees `size` bytes of device memory; `dev_id` is the device. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, hi_void **dev_ptr, hi_u64 size);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_free(hi_void *dev_ptr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_get_version(hi_s32 *major_version, hi_s32 *minor_version,
                                                   hi_s32 *patch_version);

/* Begin and end the use of the library; both may be called more than once. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_init(void);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_exit(void);
/* Set and get the matrix between YUV and RGB of a channel of HI_ID_VPC or, of video, HI_ID_VDEC; it
 * is BT.601 wide at first. Another module, and HI_CSC_MATRIX_USER, which alone reads
 * `csc_coefficient`, is HI_ERR_NOT_SUPPORT. Getting may have no `csc_coefficient`, too. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_set_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn,
                                                         hi_csc_matrix csc_matrix,
                                                         hi_csc_coefficient *csc_coefficient);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_get_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn,
                                                         hi_csc_matrix *csc_matrix,
                                                         hi_csc_coefficient *csc_coefficient);
/* Wait for several channels: descriptors of hi_mpi_venc_get_fd and hi_mpi_vdec_get_fd are ready to
 * be read (HI_DVPP_EPOLL_IN) while a result waits. `size` is positive and means nothing else.
 * Waiting ends after `timeout` milliseconds (-1: never) with no event, which is no error. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_create_epoll(hi_s32 size, hi_s32 *epoll_fd);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_ctl_epoll(hi_s32 epoll_fd, hi_s32 operation, hi_s32 fd,
                                                hi_dvpp_epoll_event *event);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_wait_epoll(hi_s32 epoll_fd, hi_dvpp_epoll_event *events,
                                                 hi_s32 max_events, hi_s32 timeout,
                                                 hi_s32 *event_num);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_close_epoll(hi_s32 epoll_fd);
/* Writes microseconds since the start of the machine. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_sys_get_cur_pts(hi_u64 *cur_pts);

#ifdef __cplusplus
}
#endif

#endif
