//===-- Codec.h - programs of the NPU as bytes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_CODEC_H
#define OPENATC_NPU_ISA_CODEC_H

#include "npu/isa/Isa.h"

#include <string>

namespace atc::npu {

/// "NPU", version, header, instructions. Numbers are variable-length; values
/// that are at their default cost nothing.
std::vector<uint8_t> encode(const Program &program);

/// False, with what is wrong and where in `error`, for anything but what encode
/// makes.
bool decode(const uint8_t *data, size_t size, Program &program, std::string &error);
inline bool decode(const std::vector<uint8_t> &bytes, Program &program, std::string &error) {
  return decode(bytes.data(), bytes.size(), program, error);
}

} // namespace atc::npu

#endif
