//===-- fuzz-caffe-import.cpp - no Caffe model crashes the importer -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input is a .prototxt and, behind the first zero byte, a .caffemodel.

#include "frontends/caffe/CaffeImport.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/Outcome.h"

#include <algorithm>

/// Returns 0 for models that are imported.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const auto text = static_cast<size_t>(std::find(data, data + size, 0) - data);
  const size_t weights = std::min(text + 1, size);
  const atc::fuzz::MemoryFile prototxt(data, text), caffemodel(data + weights, size - weights);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  atc::Diagnostics diagnostics;
  auto module = atc::importCaffe(prototxt.path(), caffemodel.path(), atc::OnnxImportOptions(),
                                 context, diagnostics);
  return atc::fuzz::checkOutcome(mlir::succeeded(module), diagnostics);
}
