//===-- MemoryShare.h - bytes that om-run itself may hold -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_MEMORYSHARE_H
#define OPENATC_TOOLS_OMRUN_MEMORYSHARE_H

#include "openatc/om.hpp"

#include <string>
#include <vector>

namespace atc::tools {

/// Counts the inputs and outputs that om-run holds beside its session, before they are allocated:
/// their dims come from the model, from --shape and from files, and may state any size.
class MemoryShare {
public:
  /// `maxBytes` is that of --max_memory; 0: the default of a session.
  explicit MemoryShare(uint64_t maxBytes);
  /// Counts tensors. Returns false and sets `errorText` to one line with a code at the first that
  /// does not fit.
  bool take(const std::vector<om::Tensor> &tensors, std::string &errorText);

private:
  const uint64_t max;
  uint64_t left;
};

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_MEMORYSHARE_H
