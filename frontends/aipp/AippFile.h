//===-- AippFile.h - the file of --insert_op_conf -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIPP_AIPPFILE_H
#define OPENATC_FRONTENDS_AIPP_AIPPFILE_H

#include "frontends/aipp/schema/aipp.pb.h"
#include "support/Diagnostics.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <vector>

namespace atc::aipp {

/// An `aipp_op { ... }` of a file, with the lines of its fields for messages.
struct AippEntry {
  pb::AippOp op;
  std::string file;
  int line = 1;                     ///< of the entry itself, counted from 1
  std::map<std::string, int> lines; ///< of each field that the file states

  /// Returns the integer (or 0 or 1 of a bool) that a field holds, its default where the
  /// file does not state it. `field` is a name of the schema.
  int64_t integer(const std::string &field) const;

  /// Returns the values of all fields that hold one number or a bool, by their names.
  llvm::json::Object numbers() const;

  /// Reports an error of a field as "file:line: field: value: text"; of the entry where the
  /// file does not state the field.
  void fail(Diagnostics &diagnostics, ErrorCode code, const std::string &field,
            const llvm::Twine &text) const;
};

/// Reads a file and checks each field by itself: its name, type and limits. Reports every
/// error with its line (E10052, or E13000 to E13005 for a file that cannot be read).
/// Returns the entries in the order of the file; nothing after an error.
std::vector<AippEntry> readAippFile(llvm::StringRef path, Diagnostics &diagnostics);

/// Reads the text of a file; `path` stands for it in messages.
std::vector<AippEntry> readAippText(llvm::StringRef text, llvm::StringRef path,
                                    Diagnostics &diagnostics);

} // namespace atc::aipp

#endif // OPENATC_FRONTENDS_AIPP_AIPPFILE_H
