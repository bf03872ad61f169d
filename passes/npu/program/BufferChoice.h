//===-- BufferChoice.h - numbers of copies that somebody has set *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_BUFFERCHOICE_H
#define OPENATC_PASSES_NPU_PROGRAM_BUFFERCHOICE_H

#include "npu/isa/Isa.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace atc::npu {

/// The number of copies of each buffer where nobody has set another one: an iteration is loaded
/// while the one before it is computed.
inline constexpr int64_t kOwnCopies = 2;

/// Returns the maximum number of copies of a buffer that a choice of npu-select-buffers spells;
/// nothing where it spells none. npu-select-tiles reads it as well: it selects tiles for as many.
inline std::optional<int64_t> parseCopies(llvm::StringRef choice) {
  int64_t copies = 0;
  if (choice.getAsInteger(10, copies) || copies < 1 || copies > kFlagIds)
    return std::nullopt;
  return copies;
}

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_BUFFERCHOICE_H
