//===-- PreparedModels.cpp - models lowered as far as nothing is chosen ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/PreparedModels.h"

namespace atc::tuning {

/// Contexts keep what compilations make of attributes and types. After so many a new one is made.
static constexpr unsigned kMaxUses = 256;

PreparedModels::Loan PreparedModels::lend() {
  Entry entry;
  bool isTried = true;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (!idle.empty()) {
      entry = std::move(idle.back());
      idle.pop_back();
      ++entry.uses;
      return Loan(*this, std::move(entry));
    }
    isTried = isPossible;
  }
  entry.context = driver::makeCompilerContext();
  entry.context->disableMultithreading();
  if (isTried) {
    // The compilation from the beginning, which follows where this one fails, says why.
    Diagnostics diagnostics;
    driver::Compiler compiler(*entry.context, options, diagnostics);
    if (compiler.prepare())
      entry.module = compiler.releaseModule();
    std::lock_guard<std::mutex> guard(lock);
    isPossible &= bool(entry.module);
  }
  return Loan(*this, std::move(entry));
}

void PreparedModels::giveBack(Entry entry) {
  std::lock_guard<std::mutex> guard(lock);
  // Another compilation in a context must not find what the last one has left.
  if (entry.module && entry.uses < kMaxUses)
    idle.push_back(std::move(entry));
}

} // namespace atc::tuning
