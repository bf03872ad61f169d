//===-- PassPlugins.cpp - passes and rules of the user --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/PassPlugins.h"

#include "llvm/Support/FileSystem.h"

namespace atc::tools {

/// Reports a path of a flag that is no file. Returns whether it is one.
static bool checkFile(const char *flag, const std::string &path, Diagnostics &diagnostics) {
  // Whoever opens a pipe waits for it.
  if (llvm::sys::fs::is_regular_file(path))
    return true;
  const bool exists = llvm::sys::fs::exists(path);
  const std::string file = "the file \"" + path + "\" of --" + flag;
  if (exists)
    diagnostics.error("E13003", file + " cannot be read: it is not a regular file");
  else
    diagnostics.error("E10410", file + " does not exist");
  return false;
}

void readUserChanges(const FlagValues &flags, driver::CompilerOptions &options,
                     Diagnostics &diagnostics) {
  options.fusionRules = flags.get("fusion_rules");
  if (!options.fusionRules.empty())
    checkFile("fusion_rules", options.fusionRules, diagnostics);

  const std::vector<std::string> plugins = splitNames(flags.get("load_pass_plugin"));
  if (plugins.empty() && !flags.has("extra_passes"))
    return;
  bool found = true;
  for (const std::string &path : plugins)
    found &= checkFile("load_pass_plugin", path, diagnostics);
  // Names of passes mean nothing before the plug-ins are there.
  if (found && driver::loadPassPlugins(plugins, diagnostics))
    options.insertedPasses = driver::readInsertedPasses(flags.get("extra_passes"), diagnostics);
}

} // namespace atc::tools
