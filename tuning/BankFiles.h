//===-- BankFiles.h - banks in files and folders ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_BANKFILES_H
#define OPENATC_TUNING_BANKFILES_H

#include "tuning/Bank.h"

namespace atc::tuning {

/// Returns the file of a target in the bank at `path`: `path` itself where its name ends in .jsonl,
/// else `<path>/<target>.jsonl`.
std::string bankFile(const std::string &path, const std::string &target);

/// Adds the bank for a target at `path`, a file or a folder of them. A file that is not there is an
/// empty bank. Returns false with `error` set to one line with a code where it cannot be read or is
/// damaged.
bool readBank(const std::string &path, const std::string &target, Bank &bank, std::string &error);

/// Replaces the file of a target in the bank at `path`, as a whole: a reader sees the old file or
/// the new one. Makes the folder where it is missing. Returns false with `error` set to one line
/// with a code.
bool writeBank(const std::string &path, const std::string &target, const Bank &bank,
               std::string &error);

} // namespace atc::tuning

#endif // OPENATC_TUNING_BANKFILES_H
