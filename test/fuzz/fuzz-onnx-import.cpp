//===-- fuzz-onnx-import.cpp - libFuzzer target for the ONNX importer ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes are, either a module comes out or at least one coded error.

#include "frontends/onnx/OnnxImport.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context of its own for each: what one model leaves in it is not the next one's.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  atc::Diagnostics diagnostics;
  // No model finds external data in a folder that is not there.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      atc::importOnnxBuffer({reinterpret_cast<const char *>(data), size}, "fuzzed.onnx",
                            "/nonexistent", {}, context, diagnostics);
  if (mlir::succeeded(module) != diagnostics.hasErrors())
    return 0;
  std::fputs("an import must either succeed or report an error\n", stderr);
  std::abort();
}
