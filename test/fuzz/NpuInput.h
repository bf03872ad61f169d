//===-- NpuInput.h - what the fuzz target of NPU programs is given --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input is an encoded program, with the table of a SoC in front of it where it
// begins with "SOC": the text that readSoc reads, and a byte 0.

#ifndef OPENATC_TEST_FUZZ_NPUINPUT_H
#define OPENATC_TEST_FUZZ_NPUINPUT_H

#include <cstdint>
#include <cstring>
#include <string>

namespace atc::npu::test {

struct NpuInput {
  std::string table; ///< "" without one
  const uint8_t *code;
  size_t codeBytes;
};

inline NpuInput splitInput(const uint8_t *data, size_t size) {
  if (size >= 3 && std::memcmp(data, "SOC", 3) == 0)
    if (const void *end = std::memchr(data, 0, size)) {
      size_t length = size_t(static_cast<const uint8_t *>(end) - data);
      return {std::string(reinterpret_cast<const char *>(data) + 3, length - 3), data + length + 1,
              size - length - 1};
    }
  return {"", data, size};
}

} // namespace atc::npu::test

#endif
