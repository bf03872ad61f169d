//===-- GraphDialect.h - the dialect, its attributes, types and interfaces ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_GRAPHDIALECT_H
#define OPENATC_DIALECTS_GRAPH_GRAPHDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/graph/Number.h"
#include "dialects/graph/OpTraits.h"
#include "dialects/graph/QuantTypes.h"
#include "dialects/graph/TypeInference.h"

#include "dialects/graph/GraphDialect.h.inc"
#include "dialects/graph/GraphEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/graph/GraphInterfaces.h.inc"
#include "dialects/graph/GraphTypes.h.inc"

namespace atc::graph {
/// Registers the graph dialect and the upstream dialects its bodies use.
void registerGraphDialect(mlir::DialectRegistry &registry);
} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_GRAPHDIALECT_H
