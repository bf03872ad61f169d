//===-- SetText.h - sets of memories and types as text ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_ISA_SETTEXT_H
#define OPENATC_NPU_ISA_SETTEXT_H

#include "npu/soc/Hardware.h"

#include <string>

namespace atc::npu {

/// Returns the members of a MemorySet or TypeSet as "l1 or ub"; `Member` is Memory or DataType.
template <typename Member> std::string textOf(uint32_t set) {
  std::string text;
  for (unsigned i = 0; i < 32; ++i)
    if (set >> i & 1)
      text += std::string(text.empty() ? "" : " or ") + nameOf(Member(i));
  return text;
}

} // namespace atc::npu

#endif
