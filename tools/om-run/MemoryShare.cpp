//===-- MemoryShare.cpp - bytes that om-run itself may hold ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/MemoryShare.h"

#include "support/ErrorCodes.h"
#include "support/ModelText.h"
#include "tools/common/MemoryLimit.h"

namespace atc::tools {

MemoryShare::MemoryShare(uint64_t maxBytes)
    : max(maxBytes ? maxBytes : defaultMemoryLimit()), left(max) {}

bool MemoryShare::take(const std::vector<om::Tensor> &tensors, std::string &errorText) {
  for (const om::Tensor &tensor : tensors) {
    if (tensor.bytes > left) {
      errorText = codedLine(
          "E10058",
          "'" + printable(tensor.name) + "' " + typeText(tensor.dtype, tensor.dims) + " needs " +
              bytesText(tensor.bytes) + " of memory beside " + bytesText(max - left) +
              " of other inputs and outputs, but --max_memory allows " + bytesText(max) + ".");
      return false;
    }
    left -= tensor.bytes;
  }
  return true;
}

} // namespace atc::tools
