//===-- DisabledPasses.h - pipelines without some of their passes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_DISABLEDPASSES_H
#define OPENATC_PASSES_DISABLEDPASSES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace atc {

/// Returns whether a pipeline runs a pass, that is, whether its `disable` option does not name it.
template <typename Options> bool isOn(const Options &options, llvm::StringRef pass) {
  return !llvm::is_contained(options.disable, pass.str());
}

} // namespace atc

#endif // OPENATC_PASSES_DISABLEDPASSES_H
