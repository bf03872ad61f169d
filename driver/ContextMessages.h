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

/// Returns the node that a location names, "'conv1': ", or its file and line; empty where it names
/// nothing.
std::string nodeOf(mlir::Location location);

/// Turns the errors and coded warnings of a context into messages of a Diagnostics while it lives,
/// each in one line with the node that it is about. Passes may report from several threads.
class ContextMessages {
public:
  /// Installs the handler; both arguments outlive the object.
  ContextMessages(mlir::MLIRContext &context, Diagnostics &diagnostics);
  /// Removes the handler.
  ~ContextMessages();
  ContextMessages(const ContextMessages &) = delete;
  ContextMessages &operator=(const ContextMessages &) = delete;

  /// Sets the code of messages that have none of their own; E19999 at first.
  void setCode(ErrorCode newCode) { code = newCode; }

  /// Adds `text`, with or without a code, as an error unless there is an error already, which says
  /// more. Returns false.
  bool fail(const std::string &text);

private:
  /// Adds the message of one diagnostic of MLIR.
  void take(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  mlir::DiagnosticEngine::HandlerID handler;
  std::mutex lock;
  ErrorCode code = "E19999";
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_CONTEXTMESSAGES_H
