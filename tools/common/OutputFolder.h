//===-- OutputFolder.h - the folder that a result goes into -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_OUTPUTFOLDER_H
#define OPENATC_TOOLS_COMMON_OUTPUTFOLDER_H

#include "support/Diagnostics.h"

namespace atc::tools {

/// Makes the folder of the file at `path`, and those that it is in, where they are missing: at the
/// beginning, so that a tool does not work for minutes on what it cannot write. A folder that is
/// still empty when the process ends is removed, but for an end by SIGKILL or a crash. Returns
/// false after an error, which names `flag` ("--output"). Not thread-safe.
bool makeFolderOf(llvm::StringRef path, const char *flag, Diagnostics &diagnostics);

/// Removes the folders that makeFolderOf made and that are empty. Allocates no memory. A process
/// that ends by _exit calls it before.
void removeUnusedFolders();

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_OUTPUTFOLDER_H
