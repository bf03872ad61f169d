//===-- BankOptions.cpp - tuned choices of a compilation ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/BankOptions.h"

#include "tuning/BankFiles.h"
#include "tuning/ShippedBanks.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>

using namespace llvm;

namespace atc::tools {

/// The value of a flag that keeps the compiler's own banks away, too.
static constexpr StringLiteral kNoBank = "none";

/// Adds the choices of a user's bank. Returns false after an error.
static bool readInto(driver::CompilerOptions &compiler, const std::string &path,
                     tuning::BankPart part, size_t &others, Diagnostics &diagnostics) {
  for (const std::string &target : compiler.target->choiceTargets()) {
    tuning::Bank bank;
    std::string error;
    if (!tuning::readBank(path, target, bank, error)) {
      diagnostics.errorLine(error);
      return false;
    }
    compiler.choices.merge(bank.choicesFor(target, part, others));
  }
  return true;
}

void readBanks(const FlagValues &flags, driver::CompilerOptions &compiler,
               Diagnostics &diagnostics) {
  constexpr std::pair<const char *, tuning::BankPart> banks[] = {
      {"mdl_bank_path", tuning::BankPart::Model}, {"op_bank_path", tuning::BankPart::Operator}};
  const char *variable = std::getenv("TUNE_BANK_PATH");
  size_t others = 0;
  for (const auto &[flag, part] : banks) {
    const bool isGiven = flags.has(flag);
    const std::string path = isGiven ? flags.get(flag) : variable ? variable : "";
    if (path == kNoBank)
      continue;
    if (!path.empty() && !sys::fs::exists(path)) {
      const std::string origin = isGiven ? std::string("--") + flag : "TUNE_BANK_PATH";
      diagnostics.warning("W10055", origin + " has no effect: there is no bank \"" + path +
                                        "\"; aoe makes one");
    } else if (!path.empty() && !readInto(compiler, path, part, others, diagnostics)) {
      return;
    }
    // The choices of the user's bank, which was merged before, take precedence.
    for (const std::string &target : compiler.target->choiceTargets())
      compiler.choices.merge(tuning::shippedBank(target).choicesFor(target, part, others));
  }
  if (others)
    diagnostics.warning("W10055", Twine(others) +
                                      " entries of the bank have no effect: they are of other "
                                      "versions of the compiler; aoe tunes anew");
}

} // namespace atc::tools
