//===-- Jpeg.h - JPEG and PNG files as planes --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_JPEG_H
#define ASCEND_DVPP_JPEG_H

#include "ascend/dvpp/Planes.h"

#include <string>

namespace atc::ascend {

/// The contents of a file's header.
struct ImageHeader {
  uint32_t width = 0, height = 0;
  int32_t components = 0;
  acldvppJpegFormat subsampling = ACL_JPEG_CSS_UNKNOWN; ///< of JPEG
};

/// Reads the header of a JPEG file; false and what is wrong otherwise.
bool readJpegHeader(const void *data, size_t bytes, ImageHeader &header, std::string &error);
/// Decodes a JPEG file to Y, or Y, U and V as the file subsamples them.
bool decodeJpeg(const void *data, size_t bytes, Planes &planes, std::string &error);
/// Encodes Y, or Y, U and V of the subsampling of `format`, with a quality of 1 to 100.
bool encodeJpeg(const Planes &planes, const FormatFacts &format, int quality,
                std::vector<uint8_t> &file, std::string &error);

/// Reads the header of a PNG file.
bool readPngHeader(const void *data, size_t bytes, ImageHeader &header, std::string &error);
/// Decodes a PNG file to bytes of R, G, B and, with `alpha`, A.
bool decodePng(const void *data, size_t bytes, bool alpha, std::vector<uint8_t> &pixels,
               std::string &error);

} // namespace atc::ascend

#endif
