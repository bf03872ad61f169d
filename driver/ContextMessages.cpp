//===-- ContextMessages.cpp - MLIR's diagnostics as coded messages --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/ContextMessages.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace atc::driver {

std::string nodeOf(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? "" : nodeOf(fused.getLocations().back());
  if (auto name = dyn_cast<NameLoc>(location)) {
    auto node = dyn_cast<NameLoc>(name.getChildLoc());
    return "'" + (node && !node.getName().empty() ? node : name).getName().str() + "': ";
  }
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ": ";
  return "";
}

ContextMessages::ContextMessages(MLIRContext &context, Diagnostics &diagnostics)
    : context(context), diagnostics(diagnostics),
      handler(context.getDiagEngine().registerHandler(
          [this](Diagnostic &diagnostic) { take(diagnostic); })) {}

ContextMessages::~ContextMessages() { context.getDiagEngine().eraseHandler(handler); }

void ContextMessages::take(Diagnostic &diagnostic) {
  const std::string bare = diagnostic.str();
  // Messages that passes gave a code keep it, and name their node themselves.
  const std::optional<CodedLine> coded = splitCodedLine(bare);
  std::string text = coded ? std::string(coded->text) : nodeOf(diagnostic.getLocation()) + bare;
  for (Diagnostic &note : diagnostic.getNotes())
    text += "; " + note.str();
  std::lock_guard<std::mutex> guard(lock);
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    diagnostics.error(coded ? coded->code : code, text);
  else if (coded)
    diagnostics.warning(coded->code, text);
}

bool ContextMessages::fail(const std::string &text) {
  if (!diagnostics.hasErrors())
    diagnostics.errorLine(text, code);
  return false;
}

} // namespace atc::driver
