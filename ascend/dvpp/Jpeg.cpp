//===-- Jpeg.cpp - JPEG files through libjpeg-turbo ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace atc::ascend {
namespace {

/// The library ends an error by leaving the function; it must come back here.
struct ErrorManager {
  jpeg_error_mgr base;
  jmp_buf place;
  char message[JMSG_LENGTH_MAX] = {};

  static void leave(j_common_ptr common) {
    auto *manager = reinterpret_cast<ErrorManager *>(common->err);
    common->err->format_message(common, manager->message);
    longjmp(manager->place, 1);
  }
  static void ignore(j_common_ptr) {}

  jpeg_error_mgr *use() {
    jpeg_std_error(&base);
    base.error_exit = leave;
    base.output_message = ignore;
    return &base;
  }
};

acldvppJpegFormat subsamplingOf(const jpeg_decompress_struct &file) {
  if (file.num_components == 1)
    return ACL_JPEG_CSS_GRAY;
  if (file.num_components != 3)
    return ACL_JPEG_CSS_UNKNOWN;
  const jpeg_component_info *parts = file.comp_info;
  if (parts[1].h_samp_factor != parts[2].h_samp_factor ||
      parts[1].v_samp_factor != parts[2].v_samp_factor ||
      parts[0].h_samp_factor % parts[1].h_samp_factor ||
      parts[0].v_samp_factor % parts[1].v_samp_factor)
    return ACL_JPEG_CSS_UNKNOWN;
  const int h = parts[0].h_samp_factor / parts[1].h_samp_factor;
  const int v = parts[0].v_samp_factor / parts[1].v_samp_factor;
  if (v == 1)
    return h == 1   ? ACL_JPEG_CSS_444
           : h == 2 ? ACL_JPEG_CSS_422
           : h == 4 ? ACL_JPEG_CSS_411
                    : ACL_JPEG_CSS_UNKNOWN;
  return v == 2 && h == 2   ? ACL_JPEG_CSS_420
         : v == 2 && h == 1 ? ACL_JPEG_CSS_440
                            : ACL_JPEG_CSS_UNKNOWN;
}

/// Memory that decoding needs. It belongs to the function that errors return to by longjmp, because
/// nothing frees what functions below that one own.
struct Work {
  struct Part {
    std::vector<JSAMPLE> data;
    std::vector<JSAMPROW> rows;
  };
  std::vector<Part> parts;
  std::vector<JSAMPARRAY> arrays;
};

/// Limits the work of files with many scans, each of which may take next to no bytes but goes over
/// all of the picture.
struct ScanLimit {
  jpeg_progress_mgr base;

  static void check(j_common_ptr common) {
    constexpr uint64_t freeScans = 16, maxPixels = uint64_t(1) << 30;
    const auto &file = *reinterpret_cast<j_decompress_ptr>(common);
    const auto scans = uint64_t(file.input_scan_number);
    if (scans <= freeScans || scans * file.image_width * file.image_height <= maxPixels)
      return;
    auto *manager = reinterpret_cast<ErrorManager *>(common->err);
    snprintf(manager->message, sizeof(manager->message), "it has more than %llu scans",
             static_cast<unsigned long long>(scans - 1));
    longjmp(manager->place, 1);
  }
};

/// Reads the header; leaves by longjmp where the file is broken.
void open(jpeg_decompress_struct &file, const void *data, size_t bytes) {
  jpeg_create_decompress(&file);
  jpeg_mem_src(&file, static_cast<const unsigned char *>(data), bytes);
  jpeg_read_header(&file, TRUE);
}

/// Decodes pixels of three components to full-size Y, U and V, whatever the file has.
void decodePixels(jpeg_decompress_struct &file, Work &work, Planes &planes) {
  file.out_color_space = file.num_components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  file.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&file);
  const size_t count = size_t(file.output_components);
  planes.channels.assign(count, Plane(file.output_width, file.output_height));
  std::vector<JSAMPLE> &row = work.parts.emplace_back().data;
  row.resize(count * file.output_width);
  while (file.output_scanline < file.output_height) {
    const uint32_t y = file.output_scanline;
    JSAMPROW rows[] = {row.data()};
    jpeg_read_scanlines(&file, rows, 1);
    for (uint32_t x = 0; x < file.output_width; ++x)
      for (size_t channel = 0; channel < count; ++channel)
        planes.channels[channel].at(x, y) = row[x * count + channel];
  }
  jpeg_finish_decompress(&file);
}

/// Decodes the samples that the file has, without making chroma larger.
void decodeSamples(jpeg_decompress_struct &file, Work &work, Planes &planes) {
  file.raw_data_out = TRUE;
  file.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&file);
  const int count = file.num_components;
  const uint32_t rowsPerCall = uint32_t(file.max_v_samp_factor) * DCTSIZE;
  std::vector<Work::Part> &parts = work.parts;
  std::vector<JSAMPARRAY> &arrays = work.arrays;
  parts.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const jpeg_component_info &info = file.comp_info[i];
    planes.channels.emplace_back(info.downsampled_width, info.downsampled_height);
    const size_t width = size_t(info.width_in_blocks) * DCTSIZE;
    const size_t rows = size_t(info.v_samp_factor) * DCTSIZE;
    parts[size_t(i)].data.resize(width * rows);
    for (size_t row = 0; row < rows; ++row)
      parts[size_t(i)].rows.push_back(parts[size_t(i)].data.data() + row * width);
    arrays.push_back(parts[size_t(i)].rows.data());
  }
  while (file.output_scanline < file.output_height) {
    const uint32_t scan = file.output_scanline;
    jpeg_read_raw_data(&file, arrays.data(), rowsPerCall);
    for (int i = 0; i < count; ++i) {
      Plane &plane = planes.channels[size_t(i)];
      const auto factor = uint32_t(file.comp_info[i].v_samp_factor);
      const uint32_t first = scan / uint32_t(file.max_v_samp_factor) * factor;
      for (uint32_t row = 0; row < factor * DCTSIZE && first + row < plane.height; ++row)
        for (uint32_t x = 0; x < plane.width; ++x)
          plane.at(x, first + row) = parts[size_t(i)].rows[row][x];
    }
  }
  jpeg_finish_decompress(&file);
}

} // namespace

bool readJpegHeader(const void *data, size_t bytes, ImageHeader &header, std::string &error) {
  jpeg_decompress_struct file = {};
  ErrorManager manager;
  file.err = manager.use();
  if (setjmp(manager.place)) {
    error = manager.message;
    jpeg_destroy_decompress(&file);
    return false;
  }
  open(file, data, bytes);
  header = {file.image_width, file.image_height, file.num_components, subsamplingOf(file)};
  jpeg_destroy_decompress(&file);
  return true;
}

bool decodeJpeg(const void *data, size_t bytes, Planes &planes, std::string &error) {
  jpeg_decompress_struct file = {};
  ErrorManager manager;
  Work work;
  ScanLimit limit = {};
  file.err = manager.use();
  planes = {};
  if (setjmp(manager.place)) {
    error = manager.message;
    jpeg_destroy_decompress(&file);
    return false;
  }
  open(file, data, bytes);
  limit.base.progress_monitor = ScanLimit::check;
  file.progress = &limit.base;
  const acldvppJpegFormat subsampling = subsamplingOf(file);
  const bool yuv = file.jpeg_color_space == JCS_YCbCr || file.jpeg_color_space == JCS_GRAYSCALE;
  if (file.num_components != 1 && file.num_components != 3) {
    error = "it has " + std::to_string(file.num_components) + " components; 1 or 3 are decoded";
  } else if (file.image_width > maxSide || file.image_height > maxSide) {
    error = "it has more than 16384 columns or rows";
  } else if (yuv && subsampling != ACL_JPEG_CSS_UNKNOWN) {
    decodeSamples(file, work, planes);
  } else if (yuv) {
    decodePixels(file, work, planes);
  } else {
    error = "its colours are neither YCbCr nor gray";
  }
  jpeg_destroy_decompress(&file);
  return error.empty();
}

bool encodeJpeg(const Planes &planes, const FormatFacts &format, int quality,
                std::vector<uint8_t> &result, std::string &error) {
  jpeg_compress_struct file = {};
  ErrorManager manager;
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  file.err = manager.use();
  // Rows of blocks: the planes, with their last samples repeated.
  std::vector<std::vector<JSAMPLE>> blocks(planes.channels.size());
  std::vector<std::vector<JSAMPROW>> rows(planes.channels.size());
  std::vector<JSAMPARRAY> arrays(planes.channels.size());
  if (setjmp(manager.place)) {
    error = manager.message;
    jpeg_destroy_compress(&file);
    free(memory);
    return false;
  }
  jpeg_create_compress(&file);
  jpeg_mem_dest(&file, &memory, &size);
  file.image_width = planes.channels[0].width;
  file.image_height = planes.channels[0].height;
  file.input_components = int(planes.channels.size());
  file.in_color_space = planes.channels.size() == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(&file);
  jpeg_set_quality(&file, quality, TRUE);
  file.raw_data_in = TRUE;
  file.dct_method = JDCT_ISLOW;
  file.comp_info[0].h_samp_factor = 1 << format.xShift;
  file.comp_info[0].v_samp_factor = 1 << format.yShift;
  for (int i = 1; i < file.num_components; ++i)
    file.comp_info[i].h_samp_factor = file.comp_info[i].v_samp_factor = 1;
  jpeg_start_compress(&file, TRUE);
  const uint32_t rowsPerCall = uint32_t(file.max_v_samp_factor) * DCTSIZE;
  while (file.next_scanline < file.image_height) {
    for (size_t i = 0; i < planes.channels.size(); ++i) {
      const Plane &plane = planes.channels[i];
      const auto factor = uint32_t(file.comp_info[i].v_samp_factor);
      const size_t width = size_t(file.comp_info[i].width_in_blocks) * DCTSIZE;
      const uint32_t first = file.next_scanline / uint32_t(file.max_v_samp_factor) * factor;
      blocks[i].resize(width * factor * DCTSIZE);
      rows[i].clear();
      for (uint32_t row = 0; row < factor * DCTSIZE; ++row) {
        const uint32_t y = std::min(first + row, plane.height - 1);
        for (size_t x = 0; x < width; ++x)
          blocks[i][row * width + x] = plane.at(uint32_t(std::min<size_t>(x, plane.width - 1)), y);
        rows[i].push_back(blocks[i].data() + row * width);
      }
      arrays[i] = rows[i].data();
    }
    jpeg_write_raw_data(&file, arrays.data(), rowsPerCall);
  }
  jpeg_finish_compress(&file);
  jpeg_destroy_compress(&file);
  result.assign(memory, memory + size);
  free(memory);
  return true;
}

} // namespace atc::ascend
