//===-- OutputFolder.cpp - the folder that a result goes into -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/OutputFolder.h"

#include "support/Interruption.h"

#include <string>
#include <unistd.h>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace atc::tools {

namespace {

/// The folders that this process has made. The object is destroyed when the process ends.
struct MadeFolders {
  std::vector<std::string> paths; ///< absolute; a folder stands in front of those inside it
  CleanupOnSignal onSignal{[this] { removeUnused(); }};

  MadeFolders() = default;
  ~MadeFolders() { removeUnused(); }

  /// The system refuses to remove a folder that holds something.
  void removeUnused() const {
    for (const std::string &path : llvm::reverse(paths))
      rmdir(path.c_str());
  }
};

/// The object, once a folder was made.
MadeFolders *known = nullptr;

MadeFolders &madeFolders() {
  static MadeFolders made;
  known = &made;
  return made;
}

} // namespace

bool makeFolderOf(llvm::StringRef path, const char *flag, Diagnostics &diagnostics) {
  llvm::SmallString<128> folder = llvm::sys::path::parent_path(path);
  if (folder.empty() || llvm::sys::fs::is_directory(folder))
    return true;
  std::error_code code = llvm::sys::fs::make_absolute(folder);
  // From the inside to the first one that exists.
  std::vector<std::string> missing;
  for (llvm::StringRef outer = folder; !code && !outer.empty() && !llvm::sys::fs::exists(outer);
       outer = llvm::sys::path::parent_path(outer))
    missing.push_back(outer.str());
  MadeFolders &made = madeFolders();
  for (const std::string &each : llvm::reverse(missing)) {
    SignalsPutOff putOff; // else a signal could come between the folder and its name in the list
    code = llvm::sys::fs::create_directory(each, /*IgnoreExisting=*/false);
    if (!code)
      made.paths.push_back(each);
    else if (llvm::sys::fs::is_directory(each)) // "a/." is "a"; another process may have made it
      code.clear();
    else
      break;
  }
  if (!code && !llvm::sys::fs::is_directory(folder))
    code = std::make_error_code(std::errc::not_a_directory);
  if (code)
    diagnostics.error("E13004", "the folder \"" + llvm::sys::path::parent_path(path) + "\" of " +
                                    flag + " does not exist and cannot be made: " + code.message());
  return !code;
}

void removeUnusedFolders() {
  if (known)
    known->removeUnused();
}

} // namespace atc::tools
