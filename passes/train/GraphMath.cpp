//===-- GraphMath.cpp - builds graph ops like formulas --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/GraphMath.h"

#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::train {

/// Returns `value` as an attribute of a float or integer type.
static Attribute numberAttr(OpBuilder &builder, Type element, double value) {
  if (isa<FloatType>(element))
    return builder.getFloatAttr(element, value);
  return builder.getIntegerAttr(element, static_cast<int64_t>(value));
}

Value GraphMath::splat(RankedTensorType type, double value) const {
  Attribute number = numberAttr(builder, type.getElementType(), value);
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  return make<graph::ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(plain, number)));
}

Value GraphMath::scalar(Value like, double value) const {
  return splat(RankedTensorType::get({}, typeOf(like).getElementType()), value);
}

Value GraphMath::floats(Value like, ArrayRef<int64_t> shape, ArrayRef<double> values) const {
  Type element = typeOf(like).getElementType();
  auto numbers = llvm::map_to_vector(
      values, [&](double value) { return numberAttr(builder, element, value); });
  return make<graph::ConstantOp>(
      cast<ElementsAttr>(DenseElementsAttr::get(RankedTensorType::get(shape, element), numbers)));
}

Value GraphMath::range(Type element, ArrayRef<int64_t> shape) const {
  auto type = RankedTensorType::get(shape, element);
  auto numbers = llvm::map_to_vector(
      llvm::seq<int64_t>(0, type.getNumElements()),
      [&](int64_t value) -> Attribute { return builder.getIntegerAttr(element, value); });
  return make<graph::ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, numbers)));
}

Value GraphMath::identity(Value like, int64_t size) const {
  // The comparison of two ranges folds, for every float type.
  Type index = builder.getI64Type();
  Value equal =
      compare(range(index, {size, 1}), graph::ComparePredicate::Eq, range(index, {1, size}));
  return cast(equal, typeOf(like).getElementType());
}

Value GraphMath::cast(Value value, Type element) const {
  if (typeOf(value).getElementType() == element)
    return value;
  return make<graph::CastOp>(RankedTensorType::get(shapeOf(value), element), value);
}

Value GraphMath::reshape(Value value, ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape)
    return value;
  return make<graph::ReshapeOp>(RankedTensorType::get(shape, typeOf(value).getElementType()),
                                value);
}

Value GraphMath::expand(Value value, ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape)
    return value;
  return make<graph::ExpandOp>(RankedTensorType::get(shape, typeOf(value).getElementType()), value);
}

Value GraphMath::transpose(Value value, ArrayRef<int64_t> permutation) const {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return make<graph::TransposeOp>(value, permutation);
}

Value GraphMath::transposeMatrix(Value value) const {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return transpose(value, permutation);
}

Value GraphMath::reduce(graph::ReduceKind kind, Value value, ArrayRef<int64_t> axes,
                        bool keepdims) const {
  return make<graph::ReduceOp>(value, kind, axes, keepdims);
}

/// Returns the group of all ranks.
static SmallVector<int64_t> groupOf(int64_t ranks) {
  return llvm::to_vector(llvm::seq<int64_t>(0, ranks));
}

Value GraphMath::allReduce(graph::ReduceKind kind, Value value, int64_t ranks) const {
  return ranks == 1 ? value
                    : make<graph::AllReduceOp>(value.getType(), value, kind, groupOf(ranks));
}

Value GraphMath::allGather(Value value, int64_t ranks) const {
  SmallVector<int64_t> shape(shapeOf(value));
  shape[0] *= ranks;
  return make<graph::AllGatherOp>(typeOf(value).clone(shape), value, /*axis=*/0, groupOf(ranks));
}

Value GraphMath::sumAll(Value value) const {
  if (rankOf(value) == 0)
    return value;
  return sum(value, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value))), /*keepdims=*/false);
}

Value GraphMath::concat(ArrayRef<Value> parts, int64_t axis) const {
  return parts.size() == 1 ? parts.front() : make<graph::ConcatOp>(ValueRange(parts), axis);
}

Value GraphMath::slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> steps) const {
  const bool isWhole =
      shapeOf(value) == sizes && llvm::all_of(steps, [](int64_t step) { return step == 1; });
  return isWhole ? value : make<graph::SliceOp>(value, starts, sizes, steps);
}

Value GraphMath::pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                     double fill) const {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  return make<graph::PadOp>(value, low, high, graph::PadMode::Constant, APFloat(fill));
}

Value GraphMath::spread(Value value, ArrayRef<int64_t> steps) const {
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return value;
  SmallVector<int64_t> split, low, high, joined;
  for (auto [size, step] : llvm::zip(shapeOf(value), steps)) {
    split.append({size, 1});
    low.append({0, 0});
    high.append({0, step - 1});
    joined.push_back(size * step);
  }
  return reshape(pad(reshape(value, split), low, high), joined);
}

Value GraphMath::sumTo(Value value, ArrayRef<int64_t> shape) const {
  const int64_t added = rankOf(value) - static_cast<int64_t>(shape.size());
  SmallVector<int64_t> axes;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value))) {
    const int64_t own = static_cast<int64_t>(dim) - added;
    if (own < 0 || (shape[own] == 1 && size != 1))
      axes.push_back(dim);
  }
  return reshape(axes.empty() ? value : sum(value, axes), shape);
}

} // namespace atc::train
