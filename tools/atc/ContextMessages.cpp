//===-- ContextMessages.cpp - what MLIR says, as coded messages -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/ContextMessages.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace atc::tools {

namespace {

/// Messages that passes gave a code keep it: "E10055: ...".
bool startsWithCode(StringRef text) {
  return text.size() > 7 && (text[0] == 'E' || text[0] == 'W') && text[6] == ':' &&
         llvm::all_of(text.substr(1, 5), llvm::isDigit);
}

std::string describe(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? "" : describe(fused.getLocations().back());
  if (auto name = dyn_cast<NameLoc>(location)) {
    auto node = dyn_cast<NameLoc>(name.getChildLoc());
    return "'" + (node && !node.getName().empty() ? node : name).getName().str() + "': ";
  }
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ": ";
  return "";
}

} // namespace

ContextMessages::ContextMessages(MLIRContext &context, Diagnostics &diagnostics)
    : context(context), diagnostics(diagnostics),
      handler(context.getDiagEngine().registerHandler(
          [this](Diagnostic &diagnostic) { take(diagnostic); })) {}

ContextMessages::~ContextMessages() { context.getDiagEngine().eraseHandler(handler); }

void ContextMessages::take(Diagnostic &diagnostic) {
  std::string bare = diagnostic.str();
  std::string text = describe(diagnostic.getLocation()) + bare;
  const bool isCoded = startsWithCode(bare);
  if (isCoded)
    text = bare.substr(8);
  for (Diagnostic &note : diagnostic.getNotes())
    text += "; " + note.str();
  const bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  std::lock_guard<std::mutex> guard(lock);
  if (isError)
    diagnostics.error(isCoded ? bare.substr(0, 6) : code, text);
  else if (isCoded)
    diagnostics.warning(bare.substr(0, 6), text);
}

bool ContextMessages::fail(const std::string &text) {
  if (!diagnostics.hasErrors())
    diagnostics.error(startsWithCode(text) ? text.substr(0, 6) : code,
                      startsWithCode(text) ? text.substr(8) : text);
  return false;
}

} // namespace atc::tools
