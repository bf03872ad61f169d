//===-- Interpreter.cpp - evaluates one operator --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/ops/ImageOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace atc::graph {
namespace interpreter {

LogicalResult Evaluation::fail(const Twine &message) const {
  if (!error)
    return op->emitOpError() << message;
  *error = message.str();
  return failure();
}

} // namespace interpreter

using namespace interpreter;

/// No tensor of a real network is larger; an absurd one must not eat the machine.
static constexpr int64_t kMaxBytes = int64_t(1) << 34;

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

/// The shape of a reshape whose result type has one unknown dim.
static FailureOr<SmallVector<int64_t>> reshapedShape(ReshapeOp op, int64_t elements) {
  SmallVector<int64_t> shape(op.getType().getShape());
  if (op.getType().getNumDynamicDims() != 1)
    return failure();
  int64_t known = 1;
  for (int64_t dim : shape)
    known *= ShapedType::isDynamic(dim) ? 1 : dim;
  if (known == 0 || elements % known != 0)
    return failure();
  *llvm::find(shape, ShapedType::kDynamic) = elements / known;
  return shape;
}

/// The result shape of operators that state it in their result type, with the
/// unknown dims filled in.
static FailureOr<SmallVector<int64_t>> statedShape(Operation *op,
                                                   ArrayRef<const Tensor *> operands) {
  if (auto map = dyn_cast<MapOp>(op)) {
    SmallVector<int64_t> shape;
    for (const Tensor *operand : operands) {
      auto joined = broadcastShapes(shape, operand->getShape());
      if (!joined)
        return failure();
      shape = std::move(*joined);
    }
    return shape;
  }
  if (operands.empty())
    return failure();
  ArrayRef<int64_t> input = operands[0]->getShape();
  SmallVector<int64_t> shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  if (op->hasTrait<KeepsShape>())
    return SmallVector<int64_t>(input);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshapedShape(reshape, operands[0]->getNumElements());
  if (auto resize = dyn_cast<ResizeOp>(op)) {
    for (auto [dim, size] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(size))
        size = static_cast<int64_t>(std::floor(input[dim] * resize.getScales()[dim]));
    return shape;
  }
  if (isa<ExpandOp>(op)) {
    size_t lead = shape.size() - input.size();
    for (size_t dim = 0; dim < input.size(); ++dim)
      if (ShapedType::isDynamic(shape[lead + dim]))
        shape[lead + dim] = input[dim];
    return shape;
  }
  return failure();
}

/// The static type of the result for these operands.
static FailureOr<RankedTensorType> concreteType(Operation *op, ArrayRef<const Tensor *> operands,
                                                const Evaluation &evaluation) {
  auto ranked = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!ranked)
    return evaluation.fail(
        "has a result without a rank, which only calls of host kernels may have");
  auto declared = withoutEncoding(ranked);
  RankedTensorType type = declared;
  if (!declared.hasStaticShape()) {
    if (auto inference = dyn_cast<InferTypeOpInterface>(op)) {
      // Inference needs values: these are stand-ins with the types of the operands.
      Block block;
      for (const Tensor *operand : operands)
        block.addArgument(operand->getType(), op->getLoc());
      SmallVector<Type, 1> types;
      if (failed(inference.inferReturnTypes(op->getContext(), std::nullopt, block.getArguments(),
                                            op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                            op->getRegions(), types)))
        return evaluation.fail("does not accept the shapes of its operands");
      type = cast<RankedTensorType>(types[0]);
    } else if (auto shape = statedShape(op, operands); succeeded(shape)) {
      type = declared.clone(*shape);
    }
  }
  if (failed(verifyCompatibleShape(type, declared)))
    return evaluation.fail("the result does not have the declared shape");
  std::optional<int64_t> count = getElementCount(type);
  if (!count)
    return evaluation.fail("the shape of the result is not known");
  // Calls of host kernels also have results of strings and of complex numbers.
  if (!getStoredType(type.getElementType()).isIntOrFloat())
    return evaluation.fail("has a result that is no tensor of numbers");
  if (*count > kMaxBytes / getElementBytes(type.getElementType()))
    return evaluation.fail("the result is too large to evaluate");
  return type;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Returns the input's elements with the result's type.
static Tensor copyElements(const Evaluation &evaluation) {
  ArrayRef<char> bytes = evaluation.operands[0]->bytes();
  return Tensor(evaluation.type, std::vector<char>(bytes.begin(), bytes.end()));
}

static Result dispatch(const Evaluation &e) {
  return llvm::TypeSwitch<Operation *, Result>(e.op)
      .Case([&](ConstantOp op) -> Result {
        Result value = Tensor::fromAttribute(op.getValue());
        if (failed(value))
          return e.fail("has no elements that can be read");
        return value;
      })
      .Case<RelayoutOp, StorageCastOp>([&](auto) -> Result { return copyElements(e); })
      .Case([&](ReshapeOp) -> Result {
        if (e.type.getNumElements() != e.operands[0]->getNumElements())
          return e.fail("input and result differ in their number of elements");
        return copyElements(e);
      })
#define OPENATC_EVALUATED_OP(OP, EVALUATE) .Case([&](OP op) { return EVALUATE(op, e); })
#include "dialects/graph/interpreter/EvaluatedOps.def"
#undef OPENATC_EVALUATED_OP
      .Default([&](Operation *) { return evaluateElementwise(e); });
}

LogicalResult evaluate(Operation *op, ArrayRef<const Tensor *> operands,
                       SmallVectorImpl<Tensor> &results, std::string *error) {
  Evaluation evaluation{op, operands, {}, error};
  if (!isa_and_nonnull<GraphDialect>(op->getDialect()) || op->getNumResults() != 1)
    return evaluation.fail("is not an operator that the graph interpreter knows");
  FailureOr<RankedTensorType> type = concreteType(op, operands, evaluation);
  if (failed(type))
    return failure();
  evaluation.type = *type;
  // Where there is nothing to compute, nothing goes through dims that may be of any size.
  if (llvm::is_contained(type->getShape(), 0)) {
    results.push_back(Tensor(*type));
    return success();
  }
  Result result = dispatch(evaluation);
  if (failed(result))
    return failure();
  results.push_back(std::move(*result));
  return success();
}

} // namespace atc::graph
