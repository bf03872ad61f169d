//===-- GraphInterfaces.td - interfaces of graph ops ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_GRAPH_INTERFACES_TD
#define OPENATC_GRAPH_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Graph_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::atc::graph";
  let description = [{
    Each element of the result depends only on the elements of the operands at
    the same (broadcast) position. All such ops share one lowering.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the computation of one element from `args` (one per operand), with
      arith and math ops. `args` may as well be vectors: every op it builds is
      elementwise. Arguments and result have signless integer types (i8 for
      ui8): the operator knows the signedness from its operands.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>
  ];
}

#endif // OPENATC_GRAPH_INTERFACES_TD
