//===-- ContextMessages.h - MLIR's diagnostics as coded messages ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_CONTEXTMESSAGES_H
#define OPENATC_DRIVER_CONTEXTMESSAGES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "support/Diagnostics.h"

#include <mutex>
#include <string>

namespace atc::driver {

/// While it lives, the errors and coded warnings of a context go into a
/// Diagnostics, in one line each and with the node they are about. Passes may report from
/// several threads.
class ContextMessages {
public:
  ContextMessages(mlir::MLIRContext &context, Diagnostics &diagnostics);
  ~ContextMessages();
  ContextMessages(const ContextMessages &) = delete;
  ContextMessages &operator=(const ContextMessages &) = delete;

  /// Sets the code of messages that have none of their own; E19999 at first.
  void setCode(ErrorCode newCode) { code = newCode; }

  /// Adds `text`, with or without a code, as an error unless there is one already, which
  /// has said more. Returns false.
  bool fail(const std::string &text);

private:
  void take(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  mlir::DiagnosticEngine::HandlerID handler;
  std::mutex lock;
  ErrorCode code = "E19999";
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_CONTEXTMESSAGES_H
