//===-- IndexBound.cpp - how large the indices in an argument are ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/IndexBound.h"

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"

using namespace mlir;

namespace atc::graph {

/// One integer that says whether negative indices count from the end, and then the sizes.
static constexpr llvm::StringLiteral kIndexRangeAttr = "graph.index_range";

static func::FuncOp functionOf(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  return isa_and_nonnull<func::FuncOp>(parent) && argument.getOwner()->isEntryBlock()
             ? cast<func::FuncOp>(parent)
             : func::FuncOp();
}

static std::string nameOnFunction(unsigned argument) {
  return kIndexRangeAttr.str() + "_" + std::to_string(argument);
}

static std::optional<IndexRange> read(Attribute attribute) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  if (!list || list.size() < 2)
    return std::nullopt;
  return IndexRange{list[0] != 0, llvm::to_vector(list.asArrayRef().drop_front())};
}

std::optional<IndexRange> IndexRange::of(BlockArgument argument) {
  func::FuncOp function = functionOf(argument);
  return function ? read(function.getArgAttr(argument.getArgNumber(), kIndexRangeAttr))
                  : std::nullopt;
}

std::optional<NamedAttribute> IndexRange::take(func::FuncOp function, unsigned argument) {
  Attribute list = function->removeAttr(nameOnFunction(argument));
  if (!list)
    return std::nullopt;
  return NamedAttribute(StringAttr::get(function.getContext(), kIndexRangeAttr), list);
}

/// Whether each element of operand 0 is one of the result's: the op may change their order.
static bool keepsAll(Operation *op) {
  if (isa<TransposeOp>(op))
    return true;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return isa<ExpandOp, TileOp>(op) && type && type.hasStaticShape() && type.getNumElements() > 0;
}

/// Returns the value that has the same integers, in the same order unless that is open; `indices`
/// where nothing is known.
static Value sourceOf(Value indices, bool inOrder) {
  while (Operation *op = indices.getDefiningOp()) {
    auto cast = dyn_cast<CastOp>(op);
    if (!cast && !isa<ReshapeOp>(op) && (inOrder || !keepsAll(op)))
      break;
    Value from = op->getOperand(0);
    auto narrow = dyn_cast<IntegerType>(getElementTypeOrSelf(from.getType()));
    auto wide = dyn_cast<IntegerType>(getElementTypeOrSelf(indices.getType()));
    if (!narrow || !wide || narrow.isUnsigned() || narrow.getWidth() > wide.getWidth())
      break;
    indices = from;
  }
  return indices;
}

DenseI64ArrayAttr IndexRange::attribute(MLIRContext *context) const {
  SmallVector<int64_t> list{wraps};
  list.append(sizes);
  return DenseI64ArrayAttr::get(context, list);
}

void IndexRange::set(func::FuncOp function, unsigned argument, BlockArgument input) const {
  function.setArgAttr(argument, kIndexRangeAttr, attribute(function.getContext()));
  if (func::FuncOp main = functionOf(input))
    if (Attribute name = main.getArgAttr(input.getArgNumber(), "om.name"))
      function.setArgAttr(argument, "om.name", name);
}

void IndexRange::require(Value indices) const {
  if (sizes.empty())
    return;
  // One size holds for all indices, wherever they stand.
  auto argument = dyn_cast<BlockArgument>(sourceOf(indices, /*inOrder=*/sizes.size() > 1));
  func::FuncOp function = argument ? functionOf(argument) : func::FuncOp();
  if (!function)
    return;
  const std::string name = nameOnFunction(argument.getArgNumber());
  IndexRange both = *this;
  if (std::optional<IndexRange> known = read(function->getAttr(name))) {
    both.wraps &= known->wraps;
    // Lists of different lengths repeat until they fit.
    const size_t count = std::max(sizes.size(), known->sizes.size());
    if (count % sizes.size() != 0 || count % known->sizes.size() != 0)
      return;
    both.sizes.resize(count);
    for (size_t i = 0; i < count; ++i)
      both.sizes[i] = std::min(sizes[i % sizes.size()], known->sizes[i % known->sizes.size()]);
  }
  function->setAttr(name, both.attribute(function.getContext()));
}

} // namespace atc::graph
