//===-- Attempt.cpp - imports that may fail without an error --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Attempt.h"

namespace atc {

std::optional<Diagnostics> attemptImport(Diagnostics *&diags, llvm::function_ref<bool()> import) {
  Diagnostics trial, *outer = diags;
  diags = &trial;
  bool done = import() && !trial.hasErrors();
  diags = outer;
  if (!done)
    return trial;
  for (const CodedMessage &message : trial.all())
    diags->add(message);
  return std::nullopt;
}

} // namespace atc
