//===-- fuzz-singleop-json.cpp - no --singleop file crashes its reader ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/OnnxImport.h"
#include "frontends/onnx/singleop/SingleOp.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/Outcome.h"
#include "tools/atc/SettingsFile.h"

using namespace atc;

/// Returns 0 for files whose operators are all imported.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const fuzz::MemoryFile memory(data, size);
  Diagnostics diagnostics;
  auto file = tools::SettingsFile::read("singleop", memory.path(), diagnostics);
  if (!file)
    std::abort();
  auto json = file->json(diagnostics, "E10025");
  if (fuzz::checkOutcome(json.has_value(), diagnostics) != 0)
    return -1;
  const std::vector<SingleOp> ops = readSingleOps(*json, file->origin(), diagnostics);
  for (size_t i = 0; i < ops.size() && !diagnostics.hasErrors(); ++i) {
    singleOpFileName(ops[i], i);
    describeSingleOp(ops[i]);
    const std::optional<std::string> bytes = makeSingleOpModel(ops[i], diagnostics);
    if (fuzz::checkOutcome(bytes.has_value(), diagnostics) != 0)
      break;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = importOnnxBuffer(*bytes, "fuzz.onnx", "/no-such-folder", OnnxImportOptions(),
                                   context, diagnostics);
    fuzz::checkOutcome(mlir::succeeded(module), diagnostics);
  }
  return diagnostics.hasErrors() ? -1 : 0;
}
