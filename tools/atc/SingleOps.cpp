//===-- SingleOps.cpp - compiles the operators of a .json file ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/SingleOps.h"

#include "frontends/onnx/SingleOp.h"
#include "tools/atc/SettingsFile.h"
#include "tools/common/OutputFolder.h"

#include <set>

namespace atc::tools {

static void compileOp(const SingleOp &op, const std::string &file, const AtcOptions &options,
                      FlagValues flags, Diagnostics &diagnostics) {
  driver::CompilerOptions compilerOptions = options.compiler;
  compilerOptions.source.bytes = makeSingleOpModel(op, diagnostics);
  if (!compilerOptions.source.bytes)
    return;
  // The model is called as the operator is.
  compilerOptions.source.path = op.type;
  compilerOptions.source.format = driver::ModelFormat::Onnx;
  flags.given["singleop"] = describeSingleOp(op);
  compilerOptions.commandLine = recordedCommand(flags);
  auto context = driver::makeCompilerContext();
  driver::Compiler(*context, std::move(compilerOptions), diagnostics).emitFile(file);
}

void compileSingleOps(const AtcOptions &options, const FlagValues &flags,
                      Diagnostics &diagnostics) {
  auto file = SettingsFile::read("singleop", options.singleOps, diagnostics);
  if (!file)
    return;
  auto json = file->json(diagnostics, "E10025");
  if (!json)
    return;
  const std::vector<SingleOp> ops = readSingleOps(*json, file->origin(), diagnostics);
  std::set<std::string> names;
  for (size_t i = 0; i < ops.size(); ++i)
    if (const std::string name = singleOpFileName(ops[i], i); !names.insert(name).second)
      diagnostics.error("E13009",
                        file->origin() + ": two operators have the name \"" + name + "\"");
  const std::string folder = options.outputFile + "/";
  if (diagnostics.hasErrors() || !makeFolderOf(folder + "x", "--output", diagnostics))
    return;
  for (size_t i = 0; i < ops.size() && !diagnostics.hasErrors(); ++i)
    compileOp(ops[i], folder + singleOpFileName(ops[i], i) + ".om", options, flags, diagnostics);
}

} // namespace atc::tools
