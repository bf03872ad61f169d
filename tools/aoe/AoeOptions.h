//===-- AoeOptions.h - what a command line of aoe asks for ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_AOE_AOEOPTIONS_H
#define OPENATC_TOOLS_AOE_AOEOPTIONS_H

#include "tools/atc/Options.h"
#include "tuning/Search.h"

namespace atc::tools {

/// Options of aoe: those of atc, and its own.
struct AoeOptions {
  FlagValues flags;      ///< of atc
  AtcOptions compile;    ///< its `choices` are empty
  tuning::Choices known; ///< of the banks
  tuning::Budget budget;
  std::string bank;                   ///< a file or a folder
  std::string report;                 ///< the JSON file
  std::string target;                 ///< the second part of keys: the SoC
  std::vector<std::string> mergeFrom; ///< banks to merge into `bank`; then no model is tuned
  bool help = false, version = false;

  /// Returns whether the model is tuned for this machine's CPU, by measuring.
  bool isCpu() const { return compile.compiler.target->takesDynamicInputs(); }
};

/// Reads a command line without the program's name. Every flag that is not valid becomes an error;
/// the result is of use only when there are none.
AoeOptions parseAoe(llvm::ArrayRef<const char *> arguments, Diagnostics &diagnostics);

/// Prints what aoe does and its own flags.
void printAoeHelp(llvm::raw_ostream &os);

/// Returns its own flags, for man pages and completions.
ListedCommand listAoeFlags();

} // namespace atc::tools

#endif // OPENATC_TOOLS_AOE_AOEOPTIONS_H
