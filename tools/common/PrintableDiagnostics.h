//===-- PrintableDiagnostics.h - makes MLIR's own output printable --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_PRINTABLEDIAGNOSTICS_H
#define OPENATC_TOOLS_COMMON_PRINTABLEDIAGNOSTICS_H

#include "support/PrintableText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace atc::tools {

/// Makes the texts of a context's diagnostics printable before handlers that were registered
/// earlier, or MLIR itself, print them. MLIR escapes attributes, types and locations, but not the
/// texts that passes compose.
inline void makeDiagnosticsPrintable(mlir::MLIRContext &context) {
  context.getDiagEngine().registerHandler([&context](mlir::Diagnostic &diagnostic) {
    auto escape = [&](mlir::Diagnostic &each) {
      for (mlir::DiagnosticArgument &argument : each.getArguments())
        if (argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::String) {
          // Passes list unsupported ops line by line.
          const std::string shown = printableLines(argument.getAsString());
          // The context owns the text of an attribute.
          argument = mlir::DiagnosticArgument(mlir::StringAttr::get(&context, shown).getValue());
        }
    };
    escape(diagnostic);
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      escape(note);
    return mlir::failure(); // others are to print it
  });
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_PRINTABLEDIAGNOSTICS_H
