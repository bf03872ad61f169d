//===-- MergeProducts.cpp - one product by several constant matrices ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries, keys and values of a transformer are three products of one tensor. As one product they
// are a single launch with three times the columns to share among threads, and the rows of the
// tensor are read once. The parts are views of its result, so that nothing is copied.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"
#include "llvm/ADT/MapVector.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHMERGEPRODUCTS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Returns whether the last dims of `shape` have exactly `columns` elements: strides can then
/// express a reshape to it of a tensor whose rows of `columns` elements have gaps between them.
bool keepsRows(ArrayRef<int64_t> shape, int64_t columns) {
  int64_t elements = 1;
  for (int64_t size : llvm::reverse(shape)) {
    if (elements >= columns)
      break;
    elements *= size;
  }
  return elements == columns;
}

/// Returns whether all readers of `value` accept rows with gaps between them. A result of the
/// function, or a part of a concat, is memory of its own: the gaps would cost a copy.
bool isReadWithGaps(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return keepsRows(reshape.getType().getShape(), getTensorType(value).getShape().back()) &&
             isReadWithGaps(reshape.getResult());
    if (isa<TransposeOp>(user))
      return llvm::all_of(user->getUsers(),
                          [](Operation *next) { return !isa<func::ReturnOp, ConcatOp>(next); });
    return isa<ElementwiseOpInterface, MapOp, FullyConnectedOp, MatMulOp, ReduceOp, SoftmaxOp>(
        user);
  });
}

/// Returns whether a product can be a part of a larger one.
bool canMerge(FullyConnectedOp op) {
  RankedTensorType type = op.getType();
  const bool isConstant =
      getConstant(op.getFilter()) && (!op.getBias() || getConstant(op.getBias()));
  return isConstant && type.hasStaticShape() && type.getRank() >= 2 && !type.getEncoding() &&
         op.getFilter().hasOneUse() && isReadWithGaps(op.getResult());
}

/// Returns a constant with the rows of `parts` one after the other; those of a part that is null
/// are zeros. `rows` are the rows of each part. Null where the data of one cannot be read.
ElementsAttr stack(ArrayRef<Value> parts, ArrayRef<int64_t> rows, RankedTensorType type) {
  const int64_t rowBytes =
      type.getNumElements() / type.getDimSize(0) * getElementBytes(type.getElementType());
  std::vector<char> bytes;
  bytes.reserve(type.getDimSize(0) * rowBytes);
  for (auto [part, count] : llvm::zip_equal(parts, rows)) {
    if (!part) {
      bytes.resize(bytes.size() + count * rowBytes);
      continue;
    }
    FailureOr<ConstantBytes> data = ConstantBytes::get(getConstant(part));
    if (failed(data))
      return {};
    ArrayRef<char> elements = data->expanded();
    bytes.insert(bytes.end(), elements.begin(), elements.end());
  }
  return makeConstant(type, std::move(bytes), "weight");
}

struct MergeProducts : atc::graph::impl::GraphMergeProductsBase<MergeProducts> {
  void runOnOperation() override {
    // In the order of the function, so that the result does not depend on addresses.
    llvm::MapVector<std::tuple<Value, Attribute, Block *>, SmallVector<FullyConnectedOp>> groups;
    getOperation().walk([&](FullyConnectedOp op) {
      if (canMerge(op))
        groups[{op.getInput(), op.getActivationAttr(), op->getBlock()}].push_back(op);
    });
    for (auto &[key, ops] : groups)
      if (ops.size() > 1)
        merge(ops);
  }

private:
  void merge(ArrayRef<FullyConnectedOp> ops) {
    FullyConnectedOp first = ops.front();
    SmallVector<Value> filters, biases;
    SmallVector<int64_t> columns;
    int64_t total = 0;
    for (FullyConnectedOp op : ops) {
      filters.push_back(op.getFilter());
      biases.push_back(op.getBias());
      columns.push_back(op.getType().getShape().back());
      total += columns.back();
    }
    Type element = getTensorType(first.getFilter()).getElementType();
    const int64_t depth = getTensorType(first.getFilter()).getDimSize(1);
    ElementsAttr filter = stack(filters, columns, RankedTensorType::get({total, depth}, element));
    const bool hasBias = llvm::any_of(biases, [](Value bias) { return bool(bias); });
    ElementsAttr bias =
        hasBias ? stack(biases, columns, RankedTensorType::get(total, element)) : ElementsAttr();
    if (!filter || (hasBias && !bias)) {
      atc::remarkMissed(getArgument(), first.getLoc(), "NotMerged")
          << "the weights of a product cannot be read";
      return;
    }

    OpBuilder builder(first);
    auto constant = [&](ElementsAttr value, StringRef suffix) -> Value {
      return ConstantOp::create(builder, derivedLoc(first.getLoc(), suffix), value);
    };
    SmallVector<int64_t> shape(first.getType().getShape());
    shape.back() = total;
    auto merged = FullyConnectedOp::create(
        builder, derivedLoc(first.getLoc(), "merged"), first.getType().clone(shape),
        first.getInput(), constant(filter, "weight"), hasBias ? constant(bias, "bias") : Value(),
        first.getActivationAttr());
    SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
    for (FullyConnectedOp op : ops) {
      builder.setInsertionPoint(op);
      Value part = SliceOp::create(builder, op.getLoc(), op.getType(), merged.getResult(), starts,
                                   op.getType().getShape(), steps);
      starts.back() += op.getType().getShape().back();
      op.replaceAllUsesWith(part);
      op.erase();
    }
    numMerged += ops.size() - 1;
    atc::remarkPassed(getArgument(), merged.getLoc(), "Merged") << mlir::remark::add(
        "{0} products of one tensor become one of {1} columns", ops.size(), total);
  }
};

} // namespace
