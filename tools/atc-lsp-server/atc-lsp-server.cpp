//===-- atc-lsp-server.cpp - a language server for .mlir files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An editor starts it for .mlir files and talks the Language Server Protocol on its standard
// streams: errors while typing, definitions, references and types for the dialects of OpenATC.

#include "driver/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  atc::driver::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
