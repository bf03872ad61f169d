//===-- GraphDialect.cpp - registration of the graph dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/GraphEnums.cpp.inc"
#include "dialects/graph/GraphInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/GraphOps.cpp.inc"
      >();
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
    if (succeeded(parser.parseOptionalComma()) &&
        parser.parseFloat(APFloat::IEEEdouble(), number))
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
                                 ArrayRef<int64_t> halo) {
  if (block < 0)
    return emitError() << "layout block must be at least 0, but is " << block;
  if (halo.size() != 4 || llvm::any_of(halo, [](int64_t size) { return size < 0; }))
    return emitError() << "layout halo must be 4 sizes of at least 0 (top, left, bottom, right), "
                          "but is ["
                       << halo << "]";
  return success();
}

void atc::graph::registerGraphDialect(DialectRegistry &registry) {
  registry.insert<GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
}
