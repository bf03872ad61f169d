//===-- Bank.h - tuned choices that outlive a run ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bank is a text of JSON lines, one entry per line:
//
//   {"format":1,"pass":"npu-select-tiles","target":"Ascend310P3","op":"npu.conv2d",
//    "operands":["1x4x56x56x16xf16",...],"hash":"3f0c...","compiler":"0.4.0",
//    "choice":"64,64,64,64,64,64,8,1,lhs","before_cycles":1200.5,"after_cycles":1100.0,
//    "model":"resnet50"}
//
// The first five fields behind `format` are the key of passes/Choices.h. Lines are sorted by key,
// so that banks with the same entries have the same bytes.

#ifndef OPENATC_TUNING_BANK_H
#define OPENATC_TUNING_BANK_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace atc::tuning {

/// Decisions of passes by their keys.
using Choices = std::map<std::string, std::string>;

/// The content of a bank about one decision.
struct BankEntry {
  std::string choice;
  std::string compiler;    ///< version of the compiler that the figures are from
  std::string model;       ///< name of the model that was tuned
  double beforeCycles = 0; ///< without the choice: of the kernel, or of the model for its passes
  double afterCycles = 0;  ///< with the choice

  /// Returns the time with the choice over that without; 1 where no time is known.
  double ratio() const { return beforeCycles > 0 ? afterCycles / beforeCycles : 1; }
};

/// Selects entries of a bank.
enum class BankPart {
  Model,    ///< of passes that see the whole model: groups of layers, prefetches
  Operator, ///< of passes that see one kernel: tiles, buffers
  All
};

/// Tuned choices by their keys.
class Bank {
public:
  /// Adds the lines of `text`. `name` is the file for messages. Returns false with `error` set to
  /// one line with a code, E13005, at the first line that is no entry; then nothing was added.
  bool read(std::string_view text, const std::string &name, std::string &error);
  /// Adds an entry. Where the key is known, the entry with the lower ratio() stays, and among equal
  /// ones the smaller text, so that the order of additions does not matter; an entry of another
  /// version of the compiler gives way to one of `om_version()`.
  void add(const std::string &key, BankEntry entry);
  /// Removes an entry, where there is one.
  void remove(const std::string &key) { entries.erase(key); }
  /// Adds all entries of another bank.
  void merge(const Bank &other);

  /// Returns the choices for a target. Entries of other versions of the compiler are not among
  /// them; `others` counts them.
  Choices choicesFor(std::string_view target, BankPart part, size_t &others) const;
  /// Returns the bank with the entries for a target alone.
  Bank only(std::string_view target) const;
  /// Returns the lines.
  std::string text() const;

  const std::map<std::string, BankEntry> &all() const { return entries; }
  bool empty() const { return entries.empty(); }

private:
  std::map<std::string, BankEntry> entries;
};

/// Returns part `index` (0: pass, 1: target, 2: op, 3: operands, 4: hash) of a key.
std::string_view partOfKey(std::string_view key, unsigned index);

/// Returns the key of the decision of another pass on the same kernel.
std::string withPass(std::string_view key, std::string_view pass);

} // namespace atc::tuning

#endif // OPENATC_TUNING_BANK_H
