//===-- TextDepth.h - how deep texts may be nested --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers that call themselves for each bracket take the whole stack of their thread for a file of
// brackets alone: what they read is checked with these functions before.

#ifndef OPENATC_SUPPORT_TEXTDEPTH_H
#define OPENATC_SUPPORT_TEXTDEPTH_H

#include <string>
#include <string_view>

namespace atc {

/// The maximum nesting of a file of settings.
inline constexpr int kMaxJsonDepth = 64;
/// The maximum nesting of MLIR: of regions, attributes and types together, where an alias counts as
/// what it stands for.
inline constexpr int kMaxMlirDepth = 1000;
/// The maximum number of references to aliases where each is written out.
inline constexpr double kMaxMlirReferences = 1e7;

/// Returns the sentence about a text that is nested deeper than `maxDepth`.
inline std::string depthReason(int maxDepth) {
  return "is nested deeper than " + std::to_string(maxDepth) + " levels";
}

/// The extent of a JSON text.
struct JsonExtent {
  int depth = 0; ///< the maximum nesting; of what is deeper than kMaxJsonDepth nothing is measured
  size_t names = 0; ///< the maximum number of names in one object
};

/// Measures JSON, with comments where `withComments`, in one walk over the text, which need not be
/// valid.
JsonExtent measureJson(std::string_view text, bool withComments = false);

/// Returns whether brackets outside of strings are nested deeper than kMaxJsonDepth. The text need
/// not be valid JSON.
inline bool isJsonTooDeep(std::string_view text) { return measureJson(text).depth > kMaxJsonDepth; }

/// Returns whether brackets outside of strings and comments, or signs in a row, are nested deeper
/// than kMaxMlirDepth, or aliases stand for more than kMaxMlirReferences others. The text need not
/// be valid MLIR.
bool isMlirTooDeep(std::string_view text);

} // namespace atc

#endif // OPENATC_SUPPORT_TEXTDEPTH_H
