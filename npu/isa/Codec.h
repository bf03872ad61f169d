//===-- Codec.h - programs of the NPU as bytes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_CODEC_H
#define OPENATC_NPU_ISA_CODEC_H

#include "npu/isa/Isa.h"

#include <string>

namespace atc::npu {

/// Returns a program as bytes: "NPU", version, header, instructions. Integers have a variable
/// length; values equal to their default take no bytes.
std::vector<uint8_t> encode(const Program &program);

/// Decodes a program. Returns false, with what is wrong and where in `error`, for anything but the
/// output of encode for a program within Limits::MaxArguments and MaxInstructions.
bool decode(const uint8_t *data, size_t size, Program &program, std::string &error);
inline bool decode(const std::vector<uint8_t> &bytes, Program &program, std::string &error) {
  return decode(bytes.data(), bytes.size(), program, error);
}

} // namespace atc::npu

#endif
