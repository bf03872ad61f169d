//===-- Outcome.h - what may become of an input ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_OUTCOME_H
#define OPENATC_TEST_FUZZ_OUTCOME_H

#include "support/Diagnostics.h"

#include <cstdio>
#include <cstdlib>

namespace atc::fuzz {

/// Ends the program unless there is a result or an error, never both and never neither, and no
/// error says that the compiler itself has failed: what a file holds is the file's fault. Returns 0
/// for a result, -1 for an error, as libFuzzer wants it.
inline int checkOutcome(bool hasResult, const Diagnostics &diagnostics) {
  bool isRight = hasResult != diagnostics.hasErrors();
  for (const CodedMessage &message : diagnostics.all())
    isRight &= message.code != "E19999";
  if (isRight)
    return hasResult ? 0 : -1;
  std::fprintf(stderr, "there is %s result\n", hasResult ? "a" : "no");
  for (const CodedMessage &message : diagnostics.all())
    std::fprintf(stderr, "%s\n", message.line().c_str());
  std::abort();
}

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_OUTCOME_H
