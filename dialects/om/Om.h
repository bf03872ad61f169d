//===-- Om.h - the om dialect ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_OM_OM_H
#define OPENATC_DIALECTS_OM_OM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/om/OmDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/om/OmOps.h.inc"

namespace atc::om {
/// Registers the om dialect.
void registerOmDialect(mlir::DialectRegistry &registry);

/// Returns the bytes from the first to one past the last element of a static memref.
int64_t spanInBytes(mlir::MemRefType type);
} // namespace atc::om

#endif // OPENATC_DIALECTS_OM_OM_H
