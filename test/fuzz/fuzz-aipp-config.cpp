//===-- fuzz-aipp-config.cpp - no --insert_op_conf file crashes its reader ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/aipp/AippFile.h"
#include "test/fuzz/Outcome.h"

/// Returns 0 for files without an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  atc::Diagnostics diagnostics;
  const auto entries = atc::aipp::readAippText(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), "fuzz.cfg", diagnostics);
  return atc::fuzz::checkOutcome(!entries.empty(), diagnostics);
}
