//===-- ModuleParts.h - what is behind a module of Python -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the files that need MLIR; no Python header, as in CompilerModule.h.

#ifndef OPENATC_PYTHON_MODULEPARTS_H
#define OPENATC_PYTHON_MODULEPARTS_H

#include "driver/Compiler.h"
#include "python-bindings/src/ArgumentNames.h"
#include "python-bindings/src/CompilerModule.h"
#include "support/OneLine.h"

#include <mutex>

namespace atc::python {

/// Returns the errors, or the warnings, one line each.
inline std::vector<std::string> linesOf(const Diagnostics &diagnostics, bool errors) {
  std::vector<std::string> lines;
  for (const CodedMessage &message : diagnostics.all())
    if (message.isError == errors)
      lines.push_back(message.code + ": " + withArgumentNames(oneLine(message.text)));
  return lines;
}

/// Throws the collected errors, if there are any.
inline void throwErrors(const Diagnostics &diagnostics) {
  if (diagnostics.hasErrors())
    throw ErrorLines{linesOf(diagnostics, /*errors=*/true)};
}

/// Returns the source that a request names. Throws ErrorLines where the file does not exist.
driver::ModelSource sourceOf(const ModelRequest &model);

struct CompilerModule::Parts {
  std::mutex lock;
  std::unique_ptr<mlir::MLIRContext> context = driver::makeCompilerContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string source = "module";
};

} // namespace atc::python

#endif // OPENATC_PYTHON_MODULEPARTS_H
