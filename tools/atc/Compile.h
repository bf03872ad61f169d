//===-- Compile.h - from a model file to an .om file ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_COMPILE_H
#define OPENATC_TOOLS_ATC_COMPILE_H

#include "tools/atc/Options.h"
#include "tools/atc/StageTimer.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace atc::tools {

/// What a compilation did, for --verbose and --json.
struct CompileSummary {
  StageTimer timer;
  uint64_t launches = 0, kernels = 0, arenaBytes = 0, arenaLowerBound = 0,
           intermediateBytes = 0, weightsBytes = 0,
           fileBytes = 0;
  std::vector<std::pair<std::string, uint64_t>> images; ///< level, bytes of code
};

/// A context with every dialect that a compilation goes through.
std::unique_ptr<mlir::MLIRContext> makeCompilerContext();

/// Reads options.model, whatever its framework. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const AtcOptions &options,
                                              mlir::MLIRContext &context,
                                              Diagnostics &diagnostics);

/// Compiles a module into options.outputFile. It must be the only one in its
/// context, whose constants are freed on the way. On failure there is at least one
/// error and no file.
void compileModule(mlir::OwningOpRef<mlir::ModuleOp> module, const AtcOptions &options,
                   const std::string &commandLine, CompileSummary &summary,
                   Diagnostics &diagnostics);

/// Compiles options.model into options.outputFile. On failure there is at least
/// one error and no file.
void compileModel(const AtcOptions &options, const std::string &commandLine,
                  CompileSummary &summary, Diagnostics &diagnostics);

/// Only reads and checks the model.
void checkModel(const AtcOptions &options, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_COMPILE_H
