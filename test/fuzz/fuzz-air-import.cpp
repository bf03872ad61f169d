//===-- fuzz-air-import.cpp - no .air graph crashes the importer ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirImport.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/Outcome.h"

/// Returns 0 for graphs that are imported.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const atc::fuzz::MemoryFile file(data, size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  atc::Diagnostics diagnostics;
  auto module = atc::importAir(file.path(), atc::OnnxImportOptions(), context, diagnostics);
  return atc::fuzz::checkOutcome(mlir::succeeded(module), diagnostics);
}
