//===-- fuzz-onnx-import.cpp - no model file crashes the importer ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/OnnxImport.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Outcome.h"
#include "test/fuzz/mutators/Mutators.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  atc::Diagnostics diagnostics;
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto module = atc::importOnnxBuffer(bytes, "fuzz.onnx", "/no-such-folder",
                                      atc::OnnxImportOptions(), context, diagnostics);
  return atc::fuzz::checkOutcome(mlir::succeeded(module), diagnostics);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  return atc::fuzz::mutateOnnx(data, size, maxSize, seed);
}
