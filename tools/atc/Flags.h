//===-- Flags.h - the flags of atc ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_FLAGS_H
#define OPENATC_TOOLS_ATC_FLAGS_H

#include "support/Diagnostics.h"
#include "tools/common/OptionTable.h"

#include <map>
#include <string>
#include <vector>

namespace atc::tools {

enum class FlagEffect {
  Used,
  /// Accepted; a warning says that it changes nothing.
  None,
  /// Refused with an error, because it would change what the model computes.
  Unsupported
};

/// The form in which a flag is recorded in the .om file.
enum class FlagRecord {
  Value,
  /// A path, of which the folders say nothing about the result.
  FileName,
  /// Not recorded: it only determines where results go or how much is printed.
  Nothing
};

struct Flag {
  const char *name;
  FlagEffect effect;
  const char *fallback; ///< what it stands for when it is not given
  /// Comma-separated values that are allowed; empty allows all. "bool" also
  /// makes the value optional.
  const char *values;
  const char *group;
  /// The help text; for a flag that is not used the reason, and what to do instead.
  const char *help;
  FlagRecord record = FlagRecord::Value;

  /// Returns whether the flag takes true or false.
  bool isBool() const { return std::string_view(values) == "bool"; }
};

/// Every flag, in the order of the help.
llvm::ArrayRef<Flag> allFlags();

/// The flags of a command line.
class FlagValues {
public:
  /// Returns whether the command line states the flag.
  bool has(const std::string &name) const { return given.count(name) != 0; }
  /// The value given, or the flag's default.
  std::string get(const std::string &name) const;
  bool getBool(const std::string &name) const;

  std::map<std::string, std::string> given;
  bool help = false, version = false;
};

/// Reads `--flag=v`, `--flag v`, `-flag=v`, dashes for underscores and unique
/// prefixes, and checks values that are one of a list. All errors become errors.
FlagValues parseFlags(llvm::ArrayRef<const char *> arguments, Diagnostics &diagnostics);

/// Returns the command line as the .om file records it: the flags that can change the
/// result, in the order of their names, with files without their folders. One model and
/// one set of options thus make the same bytes, wherever and however they are given.
std::string recordedCommand(const FlagValues &flags);

/// Prints all flags in their groups.
void printHelp(llvm::raw_ostream &os);

/// Returns every flag with its choices, for man pages and completions.
ListedCommand listFlags();

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_FLAGS_H
