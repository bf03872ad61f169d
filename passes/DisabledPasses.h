//===-- DisabledPasses.h - pipelines without some of their passes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_DISABLEDPASSES_H
#define OPENATC_PASSES_DISABLEDPASSES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace atc {

/// Whether a pass is none of those that a pipeline's `disable` option names.
template <typename Options> bool isOn(const Options &options, llvm::StringRef pass) {
  return !llvm::is_contained(options.disable, pass.str());
}

/// The names among `options.disable` that `optional` does not have.
template <typename Options>
llvm::SmallVector<std::string> disabledBeside(llvm::ArrayRef<llvm::StringLiteral> optional,
                                              const Options &options) {
  llvm::SmallVector<std::string> unknown;
  for (const std::string &name : options.disable)
    if (!llvm::is_contained(optional, llvm::StringRef(name)))
      unknown.push_back(name);
  return unknown;
}

} // namespace atc

#endif // OPENATC_PASSES_DISABLEDPASSES_H
