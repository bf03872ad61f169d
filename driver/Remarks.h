//===-- Remarks.h - what the passes of a compilation decided ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_REMARKS_H
#define OPENATC_DRIVER_REMARKS_H

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <optional>
#include <string>

namespace atc::driver {

/// Selects remarks of passes and where they go.
struct RemarkOptions {
  bool passed = false;   ///< what passes changed
  bool missed = false;   ///< what they left as it is, and why
  bool analysis = false; ///< figures that explain decisions
  /// Takes each remark once, as one line "passed: npu-select-tiles: 'conv1': tile 64 x ...";
  /// empty: there are no remarks.
  std::function<void(const std::string &line)> sink;

  /// Returns whether remarks are collected at all.
  bool any() const { return sink && (passed || missed || analysis); }
};

/// Returns which remarks a list of all, passed, missed and analysis, separated by commas, selects;
/// nothing if it has another word. The sink is empty.
std::optional<RemarkOptions> parseRemarks(llvm::StringRef list);

/// Passes the selected remarks of all passes that run in the context to the sink, which must
/// outlive the context. The context becomes single-threaded, so that the order is the same each
/// time. Does nothing if no remarks are selected, or if the context has a receiver of remarks
/// already.
void enableRemarks(mlir::MLIRContext &context, const RemarkOptions &options);

} // namespace atc::driver

#endif // OPENATC_DRIVER_REMARKS_H
