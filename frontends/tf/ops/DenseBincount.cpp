//===-- DenseBincount.cpp - counts of numbers -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/ops/IndexMasks.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

std::optional<int64_t> constantOf(Value value) {
  ElementsAttr known;
  if (!matchPattern(value, m_Constant(&known)) || known.getNumElements() != 1 ||
      !isa<IntegerType>(known.getElementType()))
    return std::nullopt;
  return readInts(known).front();
}

/// Returns the constant operand of `value`, a maximum or minimum of two, and the other operand.
template <typename OpTy>
std::optional<std::pair<int64_t, Value>> boundOf(Value value, StringRef kernel) {
  Operation *op = value.getDefiningOp();
  auto call = dyn_cast_or_null<graph::HostCallOp>(op);
  if (!op || !(isa<OpTy>(op) || (call && call.getKernel() == kernel)) || op->getNumOperands() != 2)
    return std::nullopt;
  for (unsigned index : {0, 1})
    if (std::optional<int64_t> bound = constantOf(op->getOperand(index)))
      return std::pair(*bound, op->getOperand(1 - index));
  return std::nullopt;
}

/// Returns the number that a scalar is at compile time: tf.math.bincount states its size as
/// min(bound, max(bound, found in the data)).
std::optional<int64_t> knownSize(Value size) {
  if (std::optional<int64_t> known = constantOf(size))
    return known;
  auto upper = boundOf<graph::MinOp>(size, "Min");
  if (!upper)
    return std::nullopt;
  auto lower = boundOf<graph::MaxOp>(upper->second, "Max");
  return lower && lower->first >= upper->first ? std::optional(upper->first) : std::nullopt;
}

/// Returns `value` with a dim of 1 behind.
Value withLastDim(NodeContext &n, Value value) {
  if (!NodeContext::isStatic(value))
    return n.callHost("Unsqueeze", {value, n.intList({-1})});
  SmallVector<int64_t> shape(n.shape(value));
  shape.push_back(1);
  return n.reshape(value, shape);
}

} // namespace

void importDenseBincount(NodeContext &n) {
  Value numbers = n.input(0), count = n.input(1), weights = n.input(2);
  const bool isBinary = n.boolAttr("binary_output", false);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(numbers))
    return n.failInput(0, "has no known rank");
  n.requireRank(0, 1, 2);
  std::optional<int64_t> size = knownSize(count);
  if (n.failed())
    return;
  if (!size)
    return importBincountOfAnySize(n);
  constexpr int64_t max = 1 << 20;
  if (*size < 0 || *size > max)
    return n.failInput(1, "is " + Twine(*size) + ", expected 0 to " + Twine(max) +
                              ": give minlength and maxlength the number of values");
  const int64_t rank = n.rank(numbers);
  SmallVector<int64_t> dims(n.shape(numbers));
  llvm::erase(dims, ShapedType::kDynamic);
  dims.push_back(*size);
  if (!checkElements(n, dims))
    return;
  Value found = n.compare(withLastDim(n, numbers),
                          indicesAlong(n, rank, rank + 1, *size, n.elementType(numbers)),
                          graph::ComparePredicate::Eq);
  Type element = n.elementType(weights);
  Value counted = n.cast(found, element);
  const bool isWeighted =
      !NodeContext::isStatic(weights) || ShapedType::getNumElements(n.shape(weights)) != 0;
  if (isWeighted && !isBinary)
    counted = n.create<graph::WhereOp>(found, withLastDim(n, weights), n.scalar(0, element));
  n.setOutput(n.reduce(isBinary ? graph::ReduceKind::Max : graph::ReduceKind::Sum, counted,
                       {rank - 1}, /*keepdims=*/false));
}

} // namespace atc::tf_import
