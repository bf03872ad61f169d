//===-- InsertedPasses.cpp - a user's passes behind a phase ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/InsertedPasses.h"

#include "driver/Registration.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>

using namespace mlir;

namespace atc::driver {

bool loadPassPlugins(ArrayRef<std::string> files, Diagnostics &diagnostics) {
  static std::once_flag registered;
  std::call_once(registered, registerAllPasses);
  const unsigned before = diagnostics.numErrors();
  for (const std::string &file : files) {
    llvm::Expected<PassPlugin> plugin = PassPlugin::load(file);
    if (plugin)
      plugin->registerPassRegistryCallbacks();
    else
      diagnostics.error("E10041", "the plug-in \"" + file +
                                      "\" cannot be loaded: " + toString(plugin.takeError()));
  }
  return diagnostics.numErrors() == before;
}

/// Adds the passes of `pipeline` to an empty pass manager for modules; those on functions are
/// nested. Returns the error, or nothing.
static std::string addPasses(StringRef pipeline, OpPassManager &pm) {
  std::string error;
  llvm::raw_string_ostream os(error);
  if (succeeded(parsePassPipeline(pipeline, pm, os)))
    return {};
  pm.clear();
  const std::string nested = ("func.func(" + pipeline + ")").str();
  if (succeeded(parsePassPipeline(nested, pm, llvm::nulls())))
    return {};
  // The parser shows the text with a caret in further lines.
  return StringRef(error).split('\n').first.str();
}

std::vector<InsertedPasses> readInsertedPasses(StringRef text, Diagnostics &diagnostics) {
  std::vector<InsertedPasses> result;
  for (StringRef part : llvm::split(text, ';')) {
    if (part.trim().empty())
      continue;
    auto [name, pipeline] = part.split(':');
    const std::optional<Phase> phase = findPhase(name.trim());
    if (!phase || *phase == Phase::Emit || pipeline.trim().empty()) {
      diagnostics.error("E10001", "the value \"" + part +
                                      "\" of --extra_passes is invalid: write <phase>:<passes>, "
                                      "where the phase is one of " +
                                      phaseNames(Phase::Programs));
      continue;
    }
    OpPassManager pm(ModuleOp::getOperationName());
    if (std::string error = addPasses(pipeline.trim(), pm); !error.empty())
      diagnostics.error("E10001", "the passes \"" + pipeline.trim() +
                                      "\" of --extra_passes are invalid: " + error);
    else
      result.push_back({*phase, pipeline.trim().str()});
  }
  return result;
}

bool runInsertedPasses(ArrayRef<InsertedPasses> passes, Phase phase, ModuleOp module,
                       Diagnostics &diagnostics) {
  for (const InsertedPasses &inserted : passes) {
    if (inserted.after != phase)
      continue;
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    std::string error = addPasses(inserted.pipeline, pm);
    if (error.empty() && succeeded(pm.run(module)))
      continue;
    if (!diagnostics.hasErrors())
      diagnostics.error("E10041", "the passes \"" + inserted.pipeline +
                                      "\" of --extra_passes failed behind the phase " +
                                      std::string(phaseName(phase)) +
                                      (error.empty() ? "" : ": " + error));
    return false;
  }
  return true;
}

} // namespace atc::driver
