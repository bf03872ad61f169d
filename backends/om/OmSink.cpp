//===-- OmSink.cpp - where the bytes of an .om file go --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmSink.h"

#include "support/ErrorCodes.h"

#include <cstring>

namespace atc::om {

bool OmMemorySink::allocate(uint64_t bytes) {
  buffer = ::om::Buffer(bytes);
  return static_cast<bool>(buffer);
}

bool OmMemorySink::write(uint64_t offset, const void *data, uint64_t bytes) {
  if (bytes)
    std::memcpy(buffer.data<char>() + offset, data, bytes);
  return true;
}

std::string OmMemorySink::errorLine() const {
  return codedLine("E13004", "there is no memory for the compiled model: it has " +
                                 std::to_string(size()) + " bytes.");
}

} // namespace atc::om
