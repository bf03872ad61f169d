//===-- StructureOps.cpp - constant, relayout, map -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/FoldChains.h"
#include "dialects/graph/ops/QuantOps.h" // IWYU pragma: keep
#include "dialects/graph/ops/RegisterOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

#define GET_OP_CLASSES
#include "dialects/graph/ops/StructureOps.cpp.inc"

void atc::graph::registerStructureOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/StructureOps.cpp.inc"
      >(dialect);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult RelayoutOp::verify() {
  auto input = getInput().getType(), result = getResult().getType();
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return emitOpError() << "changes the layout only, but input is " << input << " and result is "
                         << result;
  return success();
}

OpFoldResult RelayoutOp::fold(FoldAdaptor) { return foldChain(*this); }

/// The result shape of a map follows from its inputs; the element type is what
/// the body yields.
static LogicalResult verifyMapShape(MapOp op) {
  if (op.getInputs().empty())
    return success();
  SmallVector<int64_t> shape;
  for (Value input : op.getInputs()) {
    auto joined = broadcastShapes(shape, rankedType(input).getShape());
    if (!joined)
      return op.emitOpError() << "input shapes do not broadcast: " << op.getInputs().getTypes();
    shape = std::move(*joined);
  }
  if (failed(verifyCompatibleShape(shape, op.getType().getShape())))
    return op.emitOpError() << "result is " << op.getType() << ", but the inputs broadcast to "
                            << RankedTensorType::get(shape, op.getType().getElementType());
  return success();
}

LogicalResult MapOp::verify() {
  if (failed(verifyMapShape(*this)))
    return failure();
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError() << "body has " << body.getNumArguments() << " arguments, expected "
                         << getInputs().size() << ", one for each input";
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    Type expected = getScalarType(rankedType(getInputs()[index]).getElementType());
    if (argument.getType() != expected)
      return emitOpError() << "body argument " << index << " is " << argument.getType()
                           << ", expected " << expected << ", the element type of input " << index;
  }
  for (Operation &op : body.without_terminator()) {
    StringRef dialect = op.getName().getDialectNamespace();
    if (dialect != "arith" && dialect != "math")
      return emitOpError() << "body may use arith and math ops only, but has '" << op.getName()
                           << "'";
  }
  Value yielded = cast<YieldOp>(body.getTerminator()).getValue();
  Type expected = getScalarType(getType().getElementType());
  if (!yielded)
    return emitOpError() << "body yields nothing, expected " << expected;
  if (yielded.getType() != expected)
    return emitOpError() << "body yields " << yielded.getType() << ", expected " << expected
                         << ", the element type of the result";
  return success();
}

/// Only the implicit terminator of a map under construction yields nothing.
void YieldOp::build(OpBuilder &, OperationState &) {}
