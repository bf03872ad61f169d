//===-- fuzz-tflite-import.cpp - no TensorFlow Lite file crashes the importer //
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/TfLiteImport.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/Outcome.h"
#include "test/fuzz/mutators/Mutators.h"

/// Returns 0 for models that are imported.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const atc::fuzz::MemoryFile file(data, size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  atc::Diagnostics diagnostics;
  auto module = atc::importTfLite(file.path(), atc::OnnxImportOptions(), context, diagnostics);
  return atc::fuzz::checkOutcome(mlir::succeeded(module), diagnostics);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  return atc::fuzz::mutateTfLite(data, size, maxSize, seed);
}
