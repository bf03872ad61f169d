//===-- PipelineRegistration.h - pipelines by name ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_PIPELINEREGISTRATION_H
#define OPENATC_PASSES_PIPELINEREGISTRATION_H

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <string>

namespace atc {

/// Makes a pipeline known by its name, for pass pipelines in text. `build` adds its passes, or
/// returns failure after it has called the handler with the reason. Unlike MLIR's
/// PassPipelineRegistration it reports an option that does not exist to the handler of the caller
/// and not to the standard error stream, which a library must leave alone.
template <typename Options>
void registerCheckedPipeline(
    llvm::StringRef name, llvm::StringRef description,
    std::function<
        llvm::LogicalResult(mlir::OpPassManager &pm, const Options &options,
                            llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> emitError)>
        build) {
  using ErrorHandler = llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)>;
  mlir::registerPassPipeline(
      name, description,
      [build](mlir::OpPassManager &pm, llvm::StringRef text,
              ErrorHandler emitError) -> llvm::LogicalResult {
        Options options;
        std::string reason;
        llvm::raw_string_ostream os(reason);
        if (llvm::failed(options.parseFromString(text, os))) {
          llvm::StringRef line = llvm::StringRef(reason).trim();
          line.consume_front("<Pass-Options-Parser>: ");
          return emitError(line);
        }
        return build(pm, options, emitError);
      },
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(Options());
      });
}

/// Registers a pipeline that takes every value of its options.
template <typename Options>
void registerPipeline(llvm::StringRef name, llvm::StringRef description,
                      void (*build)(mlir::OpPassManager &, const Options &)) {
  registerCheckedPipeline<Options>(name, description,
                                   [build](mlir::OpPassManager &pm, const Options &options, auto) {
                                     build(pm, options);
                                     return llvm::success();
                                   });
}

/// Registers a pipeline without options.
inline void registerPipeline(llvm::StringRef name, llvm::StringRef description,
                             void (*build)(mlir::OpPassManager &)) {
  registerCheckedPipeline<mlir::EmptyPipelineOptions>(
      name, description, [build](mlir::OpPassManager &pm, const auto &, auto) {
        build(pm);
        return llvm::success();
      });
}

} // namespace atc

#endif // OPENATC_PASSES_PIPELINEREGISTRATION_H
