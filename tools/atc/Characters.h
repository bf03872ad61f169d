//===-- Characters.h - characters that no shell means ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Word processors, web pages and input methods put typographic quotes, dashes and wide
// punctuation into command lines. They are named, with what to type in their place.

#ifndef OPENATC_TOOLS_ATC_CHARACTERS_H
#define OPENATC_TOOLS_ATC_CHARACTERS_H

#include "support/Diagnostics.h"

namespace atc::tools {

/// Returns an argument with hyphens in place of the typographic dashes that it begins with, each
/// reported as an error.
std::string withPlainDashes(llvm::StringRef argument, Diagnostics &diagnostics);

/// Reports typographic characters, a carriage return and a quote that is part of a value. A path
/// may have any of them inside, only not at its ends. Returns false after an error.
bool checkCharacters(llvm::StringRef flag, llvm::StringRef value, bool isPath,
                     Diagnostics &diagnostics);

/// Returns a value as it was meant: with plain characters, and without the quotes and the carriage
/// return around it, so that there is one error for each mistake.
std::string withPlainCharacters(llvm::StringRef value);

/// Returns the message about an argument that is no flag.
std::string describeWord(llvm::StringRef word);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_CHARACTERS_H
