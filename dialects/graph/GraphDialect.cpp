//===-- GraphDialect.cpp - registration of the graph dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/DerivedConstants.h"
#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/gradient/Gradient.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/ops/RegisterOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/GraphEnums.cpp.inc"
#include "dialects/graph/GraphInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/graph/GraphTypes.cpp.inc"

namespace {
/// Folds every operator whose operands are constants and whose result is small
/// by evaluating it. Large results are left to a pass that can weigh them.
struct GraphFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  LogicalResult fold(Operation *op, ArrayRef<Attribute> operands,
                     SmallVectorImpl<OpFoldResult> &results) const final {
    // Integers and their parameters stay apart until a pass has used them.
    if (op->getNumResults() != 1 || llvm::is_contained(operands, Attribute()) ||
        op->hasTrait<ConvertsQuantized>() || op->hasTrait<RunsOnHost>())
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    std::optional<int64_t> count = getElementCount(type);
    if (!count || *count > kMaxFoldedElements || type.getEncoding())
      return failure();
    SmallVector<Tensor> tensors;
    for (Attribute operand : operands) {
      FailureOr<Tensor> tensor = Tensor::fromAttribute(operand);
      if (failed(tensor))
        return failure();
      tensors.push_back(std::move(*tensor));
    }
    auto pointers = llvm::map_to_vector(tensors, [](const Tensor &t) { return &t; });
    // An op that cannot be evaluated (an index out of range, ...) is not folded.
    std::string error;
    SmallVector<Tensor, 1> values;
    if (failed(evaluate(op, pointers, values, &error)))
      return failure();
    results.push_back(std::move(values[0]).toAttribute(type, "folded"));
    return success();
  }

  /// Results of more elements are not folded while building.
  static constexpr int64_t kMaxFoldedElements = 1024;
};
} // namespace

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/graph/GraphAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/graph/GraphTypes.cpp.inc"
      >();
  registerBinaryOps(*this);
  registerConvOps(*this);
  registerHostOps(*this);
  registerImageOps(*this);
  registerQuantOps(*this);
  registerReduceOps(*this);
  registerShapeOps(*this);
  registerStructureOps(*this);
  registerUnaryOps(*this);
  registerCollectives(*this);
  registerScatter(*this);
  registerGradient(*this);
  addInterfaces<GraphFoldInterface, DerivedConstants>();
  attachTiledDims(*getContext());
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

Attribute ActivationAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  auto kind = FieldParser<ActivationKind>::parse(parser);
  if (failed(kind))
    return {};
  APFloat numbers[] = {APFloat(0.0), APFloat(0.0)};
  for (APFloat &number : numbers)
    if (succeeded(parser.parseOptionalComma()) && parser.parseFloat(APFloat::IEEEdouble(), number))
      return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind, numbers[0].convertToDouble(),
             numbers[1].convertToDouble());
}

void ActivationAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyActivationKind(getKind());
  if (getAlpha() != 0.0 || getBeta() != 0.0)
    printer << ", " << APFloat(getAlpha());
  if (getBeta() != 0.0)
    printer << ", " << APFloat(getBeta());
  printer << ">";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t block,
                                 ArrayRef<int64_t> halo, int64_t) {
  if (block < 0)
    return emitError() << "layout block must be at least 0, but is " << block;
  if (halo.size() != 4 || llvm::any_of(halo, [](int64_t size) { return size < 0; }))
    return emitError() << "layout halo must be 4 sizes of at least 0 (top, left, bottom, right), "
                          "but is ["
                       << halo << "]";
  return success();
}

void atc::graph::registerGraphDialect(DialectRegistry &registry) {
  registry.insert<GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                  quant::QuantDialect>();
}
