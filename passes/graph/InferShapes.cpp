//===-- InferShapes.cpp - refine result types -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHINFERSHAPES
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

using Shape = SmallVector<int64_t>;

/// Returns the shape of a reshape of a known number of elements with one dynamic dim.
std::optional<Shape> inferReshape(ReshapeOp op) {
  RankedTensorType input = getTensorType(op.getInput());
  Shape shape(op.getType().getShape());
  int64_t known = 1;
  for (int64_t dim : shape)
    known *= ShapedType::isDynamic(dim) ? 1 : dim;
  if (!input.hasStaticShape() || op.getType().getNumDynamicDims() != 1 || known == 0)
    return std::nullopt;
  *llvm::find(shape, ShapedType::kDynamic) = input.getNumElements() / known;
  return shape;
}

std::optional<Shape> inferMap(MapOp op) {
  Shape shape;
  for (Value input : op.getInputs()) {
    auto both = broadcastShapes(shape, getTensorType(input).getShape());
    if (!both)
      return std::nullopt;
    shape = *both;
  }
  return shape;
}

/// Returns the shape that follows from the operands; nullopt when it is not determined.
std::optional<Shape> inferShape(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return inferReshape(reshape);
  if (auto map = dyn_cast<MapOp>(op))
    return inferMap(map);
  if (op->hasTrait<KeepsShape>())
    return Shape(getTensorType(op->getOperand(0)).getShape());
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  SmallVector<Type> types;
  if (!inference || op->getNumResults() != 1 ||
      failed(inference.inferReturnTypes(op->getContext(), std::nullopt, op->getOperands(),
                                        op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                        op->getRegions(), types)))
    return std::nullopt;
  return Shape(cast<RankedTensorType>(types[0]).getShape());
}

struct InferShapes : atc::graph::impl::GraphInferShapesBase<InferShapes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa_and_nonnull<GraphDialect>(op->getDialect()) && op->getNumResults() == 1)
        refine(op);
    });
  }

  /// Other dialects' ops may demand the type they were made with.
  static bool canRefine(Operation *op) {
    return llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user) || isa_and_nonnull<GraphDialect>(user->getDialect());
    });
  }

  void refine(Operation *op) {
    RankedTensorType type = getTensorType(op->getResult(0));
    auto shape = type.hasStaticShape() ? std::nullopt : inferShape(op);
    if (!shape || shape->size() != type.getShape().size() || !canRefine(op))
      return;
    // A dim is static if either side knows it.
    for (auto [known, dim] : llvm::zip_equal(*shape, type.getShape()))
      if (ShapedType::isDynamic(known))
        known = dim;
    auto refined = RankedTensorType::get(*shape, type.getElementType(), type.getEncoding());
    if (refined == type || !setReturnTypes(op->getResult(0), refined))
      return;
    op->getResult(0).setType(refined);
    ++numRefined;
  }

  /// Gives the function the new type where it returns `value`; false when the
  /// function has callers that rely on the old one.
  bool setReturnTypes(Value value, Type type) {
    func::FuncOp function = getOperation();
    SmallVector<Type> results(function.getResultTypes());
    for (OpOperand &use : value.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        results[use.getOperandNumber()] = type;
    if (TypeRange(results) == TypeRange(function.getResultTypes()))
      return true;
    if (!function.isPublic())
      return false;
    function.setType(
        FunctionType::get(function.getContext(), function.getArgumentTypes(), results));
    return true;
  }
};

} // namespace
