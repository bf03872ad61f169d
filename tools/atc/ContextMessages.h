//===-- ContextMessages.h - what MLIR says, as coded messages -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_CONTEXTMESSAGES_H
#define OPENATC_TOOLS_ATC_CONTEXTMESSAGES_H

#include "frontends/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <mutex>
#include <string>

namespace atc::tools {

/// While it lives, the errors and coded warnings of a context go into a
/// Diagnostics, in one line each and with the node they are about.
class ContextMessages {
public:
  ContextMessages(mlir::MLIRContext &context, Diagnostics &diagnostics);
  ~ContextMessages();
  ContextMessages(const ContextMessages &) = delete;
  ContextMessages &operator=(const ContextMessages &) = delete;

  /// The code of messages that have none of their own; E19999 at first.
  void setCode(llvm::StringRef newCode) { code = newCode.str(); }

  /// Adds `text` as an error unless there is one already, which has said more.
  /// Returns false.
  bool fail(const std::string &text);

private:
  void take(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  mlir::DiagnosticEngine::HandlerID handler;
  std::mutex lock; ///< passes speak from several threads
  std::string code = "E19999";
};

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_CONTEXTMESSAGES_H
