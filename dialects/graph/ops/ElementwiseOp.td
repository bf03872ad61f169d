//===-- ElementwiseOp.td - the base of elementwise ops -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_OPS_ELEMENTWISEOP_TD
#define OPENATC_GRAPH_OPS_ELEMENTWISEOP_TD

include "dialects/graph/GraphAttrs.td"
include "dialects/graph/GraphInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"

// `elements` names the element types that the operands may have (see
// ElementClass in TypeInference.h); `rule` determines the result's element type:
// that of the operands, bool, or that of the second operand after a bool
// condition.
class Graph_ElementwiseOp<string mnemonic, string elements, string rule = "Same",
                          list<Trait> traits = []>
    : Graph_InferOp<mnemonic, traits # [DeclareOpInterfaceMethods<Graph_ElementwiseOpInterface>]> {
  let results = (outs AnyRankedTensor:$result);
  let extraClassDefinition = inferDefinition # [{
    ::mlir::FailureOr<::mlir::RankedTensorType>
    $cppClass::inferType(Adaptor adaptor,
                         ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) {
      return ::atc::graph::detail::inferElementwiseType(
          adaptor.getOperands(), ::atc::graph::detail::ElementClass::}] # elements # [{,
          ::atc::graph::detail::ResultRule::}] # rule # [{, emitError);
    }
  }];
}

#endif // OPENATC_GRAPH_OPS_ELEMENTWISEOP_TD
