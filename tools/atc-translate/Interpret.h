//===-- Interpret.h - runs a module in the reference interpreter ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATCTRANSLATE_INTERPRET_H
#define OPENATC_TOOLS_ATCTRANSLATE_INTERPRET_H

#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace atc::tools {

/// Runs @main on the files of `input` ("a.npy,b.npy" or "name=file,...", zeros
/// where none is given). Every named tensor is written into the folder `dump` as
/// .npy; manifest.json there tells which file holds which. False after an error,
/// which is on stderr.
bool interpretModule(mlir::ModuleOp module, const std::string &input, const std::string &dump);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATCTRANSLATE_INTERPRET_H
