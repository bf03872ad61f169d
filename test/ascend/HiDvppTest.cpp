//===-- HiDvppTest.cpp - the second media interface -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/dvpp/hi_dvpp.h"
#include "test/ascend/AclTest.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

#define HI_GOOD(call)                                                                              \
  do {                                                                                             \
    const unsigned code = unsigned(call);                                                          \
    const char *message = code ? aclGetRecentErrMsg() : nullptr;                                   \
    INFO(#call << ": " << std::hex << code << " " << (message ? message : ""));                    \
    CHECK(code == 0);                                                                              \
  } while (false)
#define HI_BAD(wanted, call)                                                                       \
  do {                                                                                             \
    const unsigned code = unsigned(call);                                                          \
    const char *message = aclGetRecentErrMsg();                                                    \
    INFO(#call << ": " << std::hex << code << " " << (message ? message : ""));                    \
    CHECK(code == (wanted));                                                                       \
    CHECK(message != nullptr);                                                                     \
  } while (false)

/// A picture in device memory.
struct Image {
  Image(hi_pixel_format format, hi_u32 width, hi_u32 height, hi_u32 rowBytes, double planes) {
    info.picture_width = width;
    info.picture_height = height;
    info.picture_width_stride = (rowBytes + 15) / 16 * 16;
    info.picture_height_stride = (height + 1) / 2 * 2;
    info.picture_format = format;
    info.picture_buffer_size =
        hi_u32(info.picture_width_stride * info.picture_height_stride * planes);
    REQUIRE(hi_mpi_dvpp_malloc(0, &info.picture_address, info.picture_buffer_size) == 0);
    memset(info.picture_address, 0, info.picture_buffer_size);
  }
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image() { CHECK(hi_mpi_dvpp_free(info.picture_address) == 0); }
  uint8_t &at(uint32_t x, uint32_t y) {
    return static_cast<uint8_t *>(info.picture_address)[y * info.picture_width_stride + x];
  }
  void ramp() {
    for (hi_u32 y = 0; y < info.picture_height; ++y)
      for (hi_u32 x = 0; x < info.picture_width; ++x)
        at(x, y) = uint8_t(x * 3 + y);
  }

  hi_vpc_pic_info info{};
};

struct Gray : Image {
  Gray(hi_u32 width, hi_u32 height) : Image(HI_PIXEL_FORMAT_YUV_400, width, height, width, 1) {}
};

/// AscendCL with a channel of pictures.
struct Vpc : Started {
  Vpc() {
    HI_GOOD(hi_mpi_sys_init());
    hi_vpc_chn_attr attr{};
    HI_GOOD(hi_mpi_vpc_sys_create_chn(&channel, &attr));
  }
  ~Vpc() {
    CHECK(hi_mpi_vpc_destroy_chn(channel) == 0);
    CHECK(hi_mpi_sys_exit() == 0);
  }
  void finish(hi_u32 task) { HI_GOOD(hi_mpi_vpc_get_process_result(channel, task, -1)); }
  hi_vpc_chn channel = -1;
};

} // namespace

TEST_CASE_METHOD(Vpc, "areas are cut out, resized and pasted") {
  Gray source(64, 32);
  source.ramp();
  Gray cut(16, 8), pasted(32, 16), same(64, 32);
  hi_u32 task = 0;

  hi_vpc_crop_region_info crop{cut.info, {4, 8, 16, 8}};
  HI_GOOD(hi_mpi_vpc_crop(channel, &source.info, &crop, 1, &task, -1));
  finish(task);
  CHECK(cut.at(0, 0) == source.at(8, 4));
  CHECK(cut.at(15, 7) == source.at(23, 11));
  HI_BAD(HI_ERR_VPC_ILLEGAL_PARAM, hi_mpi_vpc_get_process_result(channel, task, -1));

  HI_GOOD(hi_mpi_vpc_resize(channel, &source.info, &same.info, 0, 0, 1, &task, -1));
  finish(task);
  CHECK(memcmp(same.info.picture_address, source.info.picture_address, 64 * 32) == 0);

  hi_vpc_crop_resize_paste_region paste{pasted.info, {0, 0, 16, 8}, {16, 8, 1}, 6, 10};
  HI_GOOD(hi_mpi_vpc_crop_resize_paste(channel, &source.info, &paste, 1, &task, -1));
  finish(task);
  CHECK(pasted.at(10, 6) == source.at(0, 0));
  CHECK(pasted.at(25, 13) == source.at(15, 7));
  CHECK(pasted.at(9, 6) == 0);
  CHECK(pasted.at(26, 13) == 0);

  const hi_vpc_pic_info *sources[2] = {&source.info, &same.info};
  Gray second(16, 8);
  hi_vpc_crop_resize_paste_region areas[2] = {{cut.info, {0, 0, 16, 8}, {16, 8, 1}, 0, 0},
                                              {second.info, {8, 8, 16, 8}, {16, 8, 1}, 0, 0}};
  hi_u32 counts[2] = {1, 1};
  HI_GOOD(hi_mpi_vpc_batch_crop_resize_paste(channel, sources, 2, areas, counts, &task, -1));
  CHECK(cut.at(3, 2) == source.at(3, 2));
  CHECK(second.at(3, 2) == same.at(11, 10));

  crop.crop_region.left_offset = 60;
  HI_BAD(HI_ERR_VPC_ILLEGAL_PARAM, hi_mpi_vpc_crop(channel, &source.info, &crop, 1, &task, -1));
  HI_BAD(HI_ERR_VPC_NULL_PTR, hi_mpi_vpc_crop(channel, nullptr, &crop, 1, &task, -1));
  HI_BAD(HI_ERR_VPC_UNEXIST, hi_mpi_vpc_crop(7, &source.info, &crop, 1, &task, -1));
  hi_vpc_chn_attr attr{};
  HI_BAD(HI_ERR_VPC_EXIST, hi_mpi_vpc_create_chn(channel, &attr));
  HI_BAD(HI_ERR_VPC_INVALID_CHN_ID, hi_mpi_vpc_create_chn(VPC_MAX_CHN_NUM, &attr));
}

TEST_CASE_METHOD(Vpc, "borders fill what is left of a picture") {
  Gray source(16, 8);
  source.ramp();
  Gray padded(20, 14);
  hi_vpc_make_border_info border{2, 4, 3, 1, HI_BORDER_CONSTANT, {{200, 128, 128, 0}}};
  hi_u32 task = 0;
  HI_GOOD(hi_mpi_vpc_copy_make_border(channel, &source.info, &padded.info, border, &task, -1));
  finish(task);
  CHECK(padded.at(3, 2) == source.at(0, 0));
  CHECK(padded.at(18, 9) == source.at(15, 7));
  CHECK(padded.at(2, 2) == 200);
  CHECK(padded.at(19, 13) == 200);
  border.left = 4;
  HI_BAD(HI_ERR_VPC_ILLEGAL_PARAM,
         hi_mpi_vpc_copy_make_border(channel, &source.info, &padded.info, border, &task, -1));

  hi_vpc_crop_resize_border_region region{padded.info, {0, 0, 16, 8},       {16, 8, 1}, 1,
                                          2,           HI_BORDER_REPLICATE, {}};
  HI_GOOD(hi_mpi_vpc_crop_resize_make_border(channel, &source.info, &region, 1, &task, -1));
  CHECK(padded.at(2, 1) == source.at(0, 0));
  CHECK(padded.at(0, 0) == source.at(0, 0));
  CHECK(padded.at(19, 13) == source.at(15, 7));
}

TEST_CASE_METHOD(Vpc, "formats are converted, values counted and replaced") {
  Image nv12(HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, 16, 8, 16, 1.5);
  memset(nv12.info.picture_address, 128, nv12.info.picture_buffer_size);
  Image rgb(HI_PIXEL_FORMAT_RGB_888, 16, 8, 48, 1);
  hi_u32 task = 0;
  // The matrix that a channel has at first is BT.601 wide.
  hi_csc_matrix matrix = HI_CSC_MATRIX_BT709_NARROW;
  HI_GOOD(hi_mpi_sys_get_chn_csc_matrix(HI_ID_VPC, channel, &matrix, nullptr));
  CHECK(matrix == HI_CSC_MATRIX_BT601_WIDE);
  hi_csc_coefficient numbers{};
  HI_GOOD(hi_mpi_sys_get_chn_csc_matrix(HI_ID_VPC, channel, &matrix, &numbers));
  CHECK(numbers.yuv_to_rgb_coefficient.csc_matrix_r0_c2 == Approx(1.402));
  CHECK(numbers.yuv_to_rgb_coefficient.csc_matrix_r1_c1 == Approx(-0.344136));
  CHECK(numbers.rgb_to_yuv_coefficient.csc_matrix_r1_c0 == Approx(-0.168736));
  CHECK(numbers.rgb_to_yuv_coefficient.csc_bias_r1 == 128);
  HI_GOOD(hi_mpi_vpc_convert_color(channel, &nv12.info, &rgb.info, &task, -1));
  finish(task);
  CHECK(rgb.at(0, 0) == 128);
  CHECK(rgb.at(47, 7) == 128);
  Image back(HI_PIXEL_FORMAT_YVU_SEMIPLANAR_420, 16, 8, 16, 1.5);
  HI_GOOD(hi_mpi_vpc_convert_color_to_yuv420(channel, &rgb.info, &back.info, &task, -1));
  CHECK(back.at(5, 3) == 128);
  HI_BAD(HI_ERR_VPC_NOT_SUPPORT,
         hi_mpi_vpc_convert_color_to_yuv420(channel, &nv12.info, &rgb.info, &task, -1));

  Gray gray(16, 8), mapped(16, 8);
  gray.ramp();
  hi_vpc_histogram_config counts;
  HI_GOOD(hi_mpi_vpc_calc_hist(channel, &gray.info, &counts, &task, -1));
  hi_u32 total = 0;
  for (hi_u32 count : counts.histogram_y_or_r)
    total += count;
  CHECK(total == 16 * 8);
  CHECK(counts.histogram_y_or_r[0] == 1);
  CHECK(counts.histogram_y_or_r[3] == 2); // 3 x 1 + 0 and 3 x 0 + 3
  hi_vpc_lut_remap table{};
  for (int value = 0; value < 256; ++value)
    table.map_value_y_or_r[value] = uint8_t(255 - value);
  HI_GOOD(hi_mpi_vpc_equalize_hist(channel, &gray.info, &mapped.info, &table, &task, -1));
  CHECK(mapped.at(7, 5) == 255 - gray.at(7, 5));

  Gray half(8, 4), quarter(4, 2);
  memset(gray.info.picture_address, 77, gray.info.picture_buffer_size);
  hi_vpc_pic_info levels[2] = {half.info, quarter.info};
  hi_s8 filter[5][5];
  memset(filter, 2, sizeof filter);
  hi_vpc_make_border_info border{0, 0, 0, 0, HI_BORDER_REFLECT_101, {}};
  HI_GOOD(hi_mpi_vpc_pyrdown(channel, &gray.info, levels, 2, filter, 50, border, &task, -1));
  CHECK(half.at(7, 3) == 77);
  CHECK(quarter.at(3, 1) == 77);
  HI_BAD(HI_ERR_VPC_ILLEGAL_PARAM,
         hi_mpi_vpc_pyrdown(channel, &gray.info, levels, 0, filter, 50, border, &task, -1));
}

/// Waits for one channel, as programs do for many.
class WaitsFor {
public:
  explicit WaitsFor(hi_s32 file) : file(file) {
    REQUIRE(file >= 0);
    HI_BAD(HI_ERR_SYS_ILLEGAL_PARAM, hi_mpi_sys_create_epoll(0, &epoll));
    HI_GOOD(hi_mpi_sys_create_epoll(10, &epoll));
    hi_dvpp_epoll_event event{HI_DVPP_EPOLL_IN, this};
    HI_GOOD(hi_mpi_sys_ctl_epoll(epoll, HI_DVPP_EPOLL_CTL_ADD, file, &event));
    HI_BAD(HI_ERR_SYS_EXIST, hi_mpi_sys_ctl_epoll(epoll, HI_DVPP_EPOLL_CTL_ADD, file, &event));
    HI_BAD(HI_ERR_SYS_NULL_PTR, hi_mpi_sys_ctl_epoll(epoll, HI_DVPP_EPOLL_CTL_MOD, file, nullptr));
    HI_BAD(HI_ERR_SYS_ILLEGAL_PARAM, hi_mpi_sys_ctl_epoll(epoll, 7, file, &event));
    HI_BAD(HI_ERR_SYS_ILLEGAL_PARAM, hi_mpi_sys_close_epoll(0));
  }
  WaitsFor(const WaitsFor &) = delete;
  WaitsFor &operator=(const WaitsFor &) = delete;
  ~WaitsFor() {
    // Its channel has ended, and with it the descriptor.
    HI_BAD(HI_ERR_SYS_ILLEGAL_PARAM,
           hi_mpi_sys_ctl_epoll(epoll, HI_DVPP_EPOLL_CTL_DEL, file, nullptr));
    HI_GOOD(hi_mpi_sys_close_epoll(epoll));
  }

  /// Returns the number of events at this moment.
  int count() {
    hi_dvpp_epoll_event events[3];
    hi_s32 found = -1;
    HI_GOOD(hi_mpi_sys_wait_epoll(epoll, events, 3, 0, &found));
    if (found == 1)
      CHECK((events[0].data == this && events[0].events == hi_u32(HI_DVPP_EPOLL_IN)));
    return found;
  }

private:
  hi_s32 file, epoll = -1;
};

TEST_CASE_METHOD(Started, "of threads that close an epoll one does") {
  for (int round = 0; round < 50; ++round) {
    hi_s32 epoll = -1;
    HI_GOOD(hi_mpi_sys_create_epoll(1, &epoll));
    std::atomic<int> ready = 0, closed = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (++ready; ready < 4;)
          std::this_thread::yield();
        closed += hi_mpi_sys_close_epoll(epoll) == HI_SUCCESS;
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(closed == 1);
  }
}

TEST_CASE_METHOD(Started, "settings of encoders are those that were set") {
  hi_venc_chn_attr encoder{};
  encoder.venc_attr.type = HI_PT_JPEG;
  encoder.venc_attr.pic_width = 48;
  HI_GOOD(hi_mpi_venc_create_chn(5, &encoder));
  hi_venc_chn_attr attributes{};
  HI_GOOD(hi_mpi_venc_get_chn_attr(5, &attributes));
  CHECK(attributes.venc_attr.pic_width == 48);
  hi_venc_rc_param rate{};
  HI_GOOD(hi_mpi_venc_get_rc_param(5, &rate));
  CHECK(rate.first_frame_start_qp == -1);
  HI_GOOD(hi_mpi_venc_set_rc_param(5, &rate));
  rate.threshold_i[3] = 200;
  HI_GOOD(hi_mpi_venc_set_rc_param(5, &rate));
  rate = {};
  HI_GOOD(hi_mpi_venc_get_rc_param(5, &rate));
  CHECK(rate.threshold_i[3] == 200);
  hi_venc_scene_mode scene = HI_VENC_SCENE_2;
  HI_GOOD(hi_mpi_venc_get_scene_mode(5, &scene));
  CHECK(scene == HI_VENC_SCENE_0);
  HI_GOOD(hi_mpi_venc_set_scene_mode(5, HI_VENC_SCENE_1));
  HI_GOOD(hi_mpi_venc_get_scene_mode(5, &scene));
  CHECK(scene == HI_VENC_SCENE_1);
  HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_set_scene_mode(5, HI_VENC_SCENE_BUTT));
  hi_venc_chn_param channel{};
  HI_GOOD(hi_mpi_venc_get_chn_param(5, &channel));
  CHECK(channel.priority == 0);
  CHECK(channel.crop_info.enable == HI_FALSE);
  channel.priority = 1;
  HI_GOOD(hi_mpi_venc_set_chn_param(5, &channel));
  channel = {};
  HI_GOOD(hi_mpi_venc_get_chn_param(5, &channel));
  CHECK(channel.priority == 1);
  channel.crop_info = {HI_TRUE, {0, 0, 16, 16}};
  HI_GOOD(hi_mpi_venc_set_chn_param(5, &channel));
  channel.priority = 2;
  HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_set_chn_param(5, &channel));
  hi_venc_ref_param reference{};
  HI_GOOD(hi_mpi_venc_get_ref_param(5, &reference));
  CHECK(reference.base == 1);
  CHECK(reference.enhance == 0);
  CHECK(reference.pred_en == HI_TRUE);
  reference.enhance = 1;
  HI_GOOD(hi_mpi_venc_set_ref_param(5, &reference));
  reference = {};
  HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_set_ref_param(5, &reference));
  HI_GOOD(hi_mpi_venc_get_ref_param(5, &reference));
  CHECK(reference.enhance == 1);
  HI_BAD(HI_ERR_VENC_NULL_PTR, hi_mpi_venc_set_ref_param(5, nullptr));
  HI_BAD(HI_ERR_VENC_UNEXIST, hi_mpi_venc_get_chn_param(6, &channel));
  HI_BAD(HI_ERR_VENC_NULL_PTR, hi_mpi_venc_get_rc_param(5, nullptr));
  HI_BAD(HI_ERR_VENC_UNEXIST, hi_mpi_venc_get_scene_mode(6, &scene));
  HI_GOOD(hi_mpi_venc_destroy_chn(5));

  hi_venc_mod_param module{};
  module.mod_type = HI_VENC_MOD_H265;
  HI_GOOD(hi_mpi_venc_get_mod_param(&module));
  CHECK(module.h265_mod_param.one_stream_buf == 0);
  module.h265_mod_param.one_stream_buf = 1;
  HI_GOOD(hi_mpi_venc_set_mod_param(&module));
  module.mod_type = HI_VENC_MOD_H264;
  HI_GOOD(hi_mpi_venc_get_mod_param(&module));
  CHECK(module.h264_mod_param.one_stream_buf == 0);
  module.mod_type = HI_VENC_MOD_RC;
  HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_get_mod_param(&module));
}

TEST_CASE_METHOD(Started, "a picture is encoded to a JPEG file and decoded again") {
  hi_venc_chn_attr encoder{};
  encoder.venc_attr.type = HI_PT_JPEG;
  encoder.venc_attr.max_pic_width = encoder.venc_attr.pic_width = 64;
  encoder.venc_attr.max_pic_height = encoder.venc_attr.pic_height = 32;
  HI_GOOD(hi_mpi_venc_create_chn(3, &encoder));
  hi_venc_jpeg_param quality;
  HI_GOOD(hi_mpi_venc_get_jpeg_param(3, &quality));
  quality.qfactor = 95;
  HI_GOOD(hi_mpi_venc_set_jpeg_param(3, &quality));
  Image picture(HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, 64, 32, 64, 1.5);
  memset(picture.info.picture_address, 128, picture.info.picture_buffer_size);
  picture.ramp();
  hi_video_frame_info frame{};
  frame.v_frame.width = 64;
  frame.v_frame.height = 32;
  frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  frame.v_frame.width_stride[0] = frame.v_frame.width_stride[1] = 64;
  frame.v_frame.height_stride[0] = frame.v_frame.height_stride[1] = 32;
  frame.v_frame.virt_addr[0] = picture.info.picture_address;
  HI_BAD(HI_ERR_VENC_NOT_PERM, hi_mpi_venc_send_frame(3, &frame, 1000));
  hi_venc_start_param start{-1};
  HI_GOOD(hi_mpi_venc_start_chn(3, &start));
  WaitsFor encoded(hi_mpi_venc_get_fd(3));
  CHECK(encoded.count() == 0);
  HI_GOOD(hi_mpi_venc_send_frame(3, &frame, 1000));
  CHECK(encoded.count() == 1);
  CHECK(encoded.count() == 1); // until the file is taken
  hi_venc_pack pack{};
  hi_venc_stream file{};
  file.pack = &pack;
  file.pack_cnt = 1;
  HI_GOOD(hi_mpi_venc_get_stream(3, &file, -1));
  CHECK(encoded.count() == 0);
  REQUIRE(pack.len > 100);
  CHECK(pack.addr[0] == 0xFF);
  CHECK(pack.addr[1] == 0xD8);
  CHECK(pack.input_addr == reinterpret_cast<hi_u64>(picture.info.picture_address));

  hi_vdec_chn_attr decoder{};
  decoder.type = HI_PT_JPEG;
  decoder.mode = HI_VDEC_SEND_MODE_FRAME;
  HI_GOOD(hi_mpi_vdec_create_chn(0, &decoder));
  HI_GOOD(hi_mpi_vdec_start_recv_stream(0));
  hi_vdec_stream stream{};
  stream.addr = pack.addr;
  stream.len = pack.len;
  stream.pts = 42;
  stream.end_of_frame = HI_TRUE;
  hi_img_info header;
  HI_GOOD(hi_mpi_dvpp_get_image_info(HI_PT_JPEG, &stream, &header));
  CHECK(header.width == 64);
  CHECK(header.height == 32);
  CHECK(header.pixel_format == HI_JPEG_RAW_FORMAT_YUV420);
  void *memory = nullptr;
  HI_GOOD(hi_mpi_dvpp_malloc(0, &memory, header.img_buf_size));
  hi_vdec_pic_info out{};
  out.width = header.width;
  out.height = header.height;
  out.width_stride = header.width_stride;
  out.height_stride = header.height_stride;
  out.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  out.vir_addr = reinterpret_cast<hi_u64>(memory);
  out.buffer_size = header.img_buf_size;
  HI_GOOD(hi_mpi_vdec_send_stream(0, &stream, &out, 1000));
  hi_video_frame_info decoded;
  hi_vdec_supplement_info supplement;
  hi_vdec_stream from;
  HI_GOOD(hi_mpi_vdec_get_frame(0, &decoded, &supplement, &from, -1));
  CHECK(decoded.v_frame.frame_flag == 0);
  CHECK(decoded.v_frame.width == 64);
  CHECK(decoded.v_frame.pts == 42);
  CHECK(from.addr == pack.addr);
  REQUIRE(decoded.v_frame.virt_addr[0] == memory);
  double error = 0;
  for (hi_u32 y = 0; y < 32; ++y)
    for (hi_u32 x = 0; x < 64; ++x)
      error +=
          std::abs(static_cast<uint8_t *>(memory)[y * out.width_stride + x] - picture.at(x, y));
  CHECK(error / (64 * 32) < 3);
  HI_GOOD(hi_mpi_vdec_release_frame(0, &decoded));
  HI_BAD(HI_ERR_VDEC_BUF_EMPTY, hi_mpi_vdec_get_frame(0, &decoded, &supplement, &from, 0));

  // What is no JPEG file is a frame that says so.
  stream.len = 20;
  memset(pack.addr, 1, 20);
  HI_GOOD(hi_mpi_vdec_send_stream(0, &stream, &out, 1000));
  HI_GOOD(hi_mpi_vdec_get_frame(0, &decoded, &supplement, &from, -1));
  CHECK(decoded.v_frame.frame_flag == 1);
  HI_GOOD(hi_mpi_vdec_stop_recv_stream(0));
  HI_GOOD(hi_mpi_vdec_destroy_chn(0));
  HI_GOOD(hi_mpi_venc_release_stream(3, &file));
  HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_release_stream(3, &file));
  HI_GOOD(hi_mpi_venc_stop_chn(3));
  HI_GOOD(hi_mpi_venc_close_fd(3));
  HI_GOOD(hi_mpi_venc_destroy_chn(3));
  HI_GOOD(hi_mpi_dvpp_free(memory));

  decoder.type = HI_PT_PNG;
  HI_BAD(HI_ERR_VDEC_NOT_SUPPORT, hi_mpi_vdec_create_chn(1, &decoder));
  encoder.venc_attr.type = HI_PT_PNG;
  HI_BAD(HI_ERR_VENC_NOT_SUPPORT, hi_mpi_venc_create_chn(1, &encoder));
}

TEST_CASE_METHOD(Started, "video is encoded and decoded, a frame per picture") {
  const auto type = GENERATE(HI_PT_H264, HI_PT_H265);
  constexpr hi_u32 side = 64, count = 5;
  hi_venc_chn_attr encoder{};
  encoder.venc_attr.type = type;
  encoder.venc_attr.max_pic_width = encoder.venc_attr.pic_width = side;
  encoder.venc_attr.max_pic_height = encoder.venc_attr.pic_height = side;
  HI_BAD(HI_ERR_VENC_NOT_SUPPORT, hi_mpi_venc_create_chn(1, &encoder)); // no rate control
  encoder.rc_attr.rc_mode =
      type == HI_PT_H264 ? HI_VENC_RC_MODE_H264_CBR : HI_VENC_RC_MODE_H265_CBR;
  HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_create_chn(1, &encoder));
  encoder.rc_attr.h264_cbr = {30, 1, 30, 30, 2000};
  hi_vdec_chn_attr decoder{};
  decoder.type = type;
  decoder.mode = HI_VDEC_SEND_MODE_FRAME;
  decoder.pic_width = decoder.pic_height = side;
  const unsigned code = unsigned(hi_mpi_venc_create_chn(1, &encoder));
  if (code == HI_ERR_VENC_NOT_SUPPORT ||
      unsigned(hi_mpi_vdec_create_chn(2, &decoder)) == HI_ERR_VDEC_NOT_SUPPORT) {
    WARN("skipped: " << aclGetRecentErrMsg());
    return;
  }
  REQUIRE(code == 0);
  hi_venc_start_param start{-1};
  HI_GOOD(hi_mpi_venc_start_chn(1, &start));
  HI_GOOD(hi_mpi_vdec_start_recv_stream(2));
  Image picture(HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, side, side, side, 1.5);
  memset(picture.info.picture_address, 128, picture.info.picture_buffer_size);
  std::vector<void *> memories;
  hi_vdec_stream end{};
  end.end_of_stream = HI_TRUE;
  for (hi_u32 i = 0; i < count; ++i) {
    memset(picture.info.picture_address, int(40 + 40 * i), side * side);
    hi_video_frame_info frame{};
    frame.v_frame.width = frame.v_frame.height = side;
    frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    frame.v_frame.width_stride[0] = frame.v_frame.height_stride[0] = side;
    frame.v_frame.virt_addr[0] = picture.info.picture_address;
    frame.v_frame.pts = i;
    if (i == 2) {
      encoder.rc_attr.h264_cbr.bit_rate = 500;
      HI_GOOD(hi_mpi_venc_set_chn_attr(1, &encoder));
      hi_venc_chn_attr held{};
      HI_GOOD(hi_mpi_venc_get_chn_attr(1, &held));
      CHECK(held.rc_attr.h264_cbr.bit_rate == 500);
      held.venc_attr.pic_width = 2 * side;
      HI_BAD(HI_ERR_VENC_NOT_PERM, hi_mpi_venc_set_chn_attr(1, &held));
      held = encoder;
      held.rc_attr.h264_cbr.bit_rate = 0;
      HI_BAD(HI_ERR_VENC_ILLEGAL_PARAM, hi_mpi_venc_set_chn_attr(1, &held));
    }
    if (i == 3)
      HI_GOOD(hi_mpi_venc_request_idr(1, HI_TRUE));
    HI_GOOD(hi_mpi_venc_send_frame(1, &frame, 1000));
    hi_venc_pack pack{};
    hi_venc_stream file{};
    file.pack = &pack;
    file.pack_cnt = 1;
    HI_GOOD(hi_mpi_venc_get_stream(1, &file, -1));
    CHECK(pack.pts == i);
    if (i == 0 || i == 2 || i == 3) // of key pictures
      CHECK(pack.data_type.h264_type == (type == HI_PT_H264 ? 5u : 19u));
    hi_vdec_stream stream{};
    stream.addr = pack.addr;
    stream.len = pack.len;
    stream.pts = pack.pts;
    stream.end_of_frame = stream.need_display = HI_TRUE;
    hi_vdec_pic_info out{};
    out.width = out.height = out.width_stride = out.height_stride = side;
    out.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    out.buffer_size = side * side * 3 / 2;
    memories.push_back(nullptr);
    HI_GOOD(hi_mpi_dvpp_malloc(0, &memories.back(), out.buffer_size));
    out.vir_addr = reinterpret_cast<hi_u64>(memories.back());
    HI_GOOD(hi_mpi_vdec_send_stream(2, &stream, &out, 1000));
    HI_GOOD(hi_mpi_venc_release_stream(1, &file));
  }
  HI_GOOD(hi_mpi_vdec_send_stream(2, &end, nullptr, -1));
  hi_vdec_chn_status status;
  HI_GOOD(hi_mpi_vdec_query_status(2, &status));
  CHECK((status.left_decoded_frames == count + 1 && status.left_stream_frames == 0));
  for (hi_u32 i = 0; i <= count; ++i) {
    hi_video_frame_info frame;
    hi_vdec_supplement_info supplement;
    hi_vdec_stream from;
    HI_GOOD(hi_mpi_vdec_get_frame(2, &frame, &supplement, &from, 0));
    if (i == count) {
      CHECK((frame.v_frame.frame_flag == 1 && from.end_of_stream));
      continue;
    }
    INFO("picture " << i);
    CHECK((frame.v_frame.frame_flag == 0 && frame.v_frame.pts == i));
    REQUIRE(frame.v_frame.virt_addr[0] == memories[i]);
    const int value = static_cast<uint8_t *>(memories[i])[20 * side + 20];
    CHECK(std::abs(value - int(40 + 40 * i)) < 8);
    HI_GOOD(hi_mpi_vdec_release_frame(2, &frame));
  }
  // What is no video is a frame that says so; memory of others is refused.
  hi_vdec_stream bad{};
  bad.addr = static_cast<hi_u8 *>(picture.info.picture_address);
  bad.len = 200;
  bad.need_display = HI_TRUE;
  hi_vdec_pic_info out{};
  out.buffer_size = 100;
  HI_BAD(HI_ERR_VDEC_ILLEGAL_PARAM, hi_mpi_vdec_send_stream(2, &bad, &out, 0));
  out.vir_addr = reinterpret_cast<hi_u64>(memories[0]);
  HI_GOOD(hi_mpi_vdec_send_stream(2, &bad, &out, 0));
  HI_GOOD(hi_mpi_vdec_reset_chn(2));
  HI_GOOD(hi_mpi_vdec_send_stream(2, &bad, &out, 0));
  hi_video_frame_info frame;
  hi_vdec_stream from;
  HI_GOOD(hi_mpi_vdec_get_frame(2, &frame, nullptr, &from, 0));
  CHECK(frame.v_frame.frame_flag == 1);
  HI_BAD(HI_ERR_VDEC_BUF_EMPTY, hi_mpi_vdec_get_frame(2, &frame, nullptr, &from, 0));
  for (void *memory : memories)
    HI_GOOD(hi_mpi_dvpp_free(memory));
  HI_GOOD(hi_mpi_vdec_stop_recv_stream(2));
  HI_GOOD(hi_mpi_vdec_destroy_chn(2));
  HI_GOOD(hi_mpi_venc_stop_chn(1));
  HI_GOOD(hi_mpi_venc_destroy_chn(1));
}
