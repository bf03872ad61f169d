//===-- OutputFolder.h - the folder that a result goes into ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_OUTPUTFOLDER_H
#define OPENATC_TOOLS_COMMON_OUTPUTFOLDER_H

#include "support/Diagnostics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace atc::tools {

/// Makes the folder of the file at `path`, and those that it is in, where they are missing.
/// Returns false after an error, which names `flag` ("--output").
inline bool makeFolderOf(llvm::StringRef path, const char *flag, Diagnostics &diagnostics) {
  const llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty() || llvm::sys::fs::is_directory(folder))
    return true;
  const std::error_code code = llvm::sys::fs::create_directories(folder);
  if (code)
    diagnostics.error("E13004", "the folder \"" + folder + "\" of " + flag +
                                    " does not exist and cannot be made: " + code.message());
  return !code;
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_OUTPUTFOLDER_H
