//===-- ScaleQueries.cpp - scales of scores join the weights of queries ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of queries and keys grow with their width before they are divided by its root, and leave
// f16 where the scaled scores would not: the result of a product is f16 before other kernels, or
// the vector unit behind the cube, see it.

#include "dialects/graph/Graph.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/npu/GraphPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSCALEQUERIES
#include "passes/npu/GraphPasses.h.inc"

namespace {

/// A tensor that ops which only move elements make of the result of a linear op, and the channel
/// that each of its elements comes from.
struct Moved {
  Value value;
  std::vector<int32_t> channels;
};

/// The operation of a map that scales the result of a product.
struct Scale {
  Operation *op = nullptr;
  Value scaled;
  double factor = 1;
};

/// Returns the elements that `op` takes of `from`; nothing where it is no such move.
std::optional<std::vector<int32_t>> moveElements(Operation *op, const Moved &from) {
  if (isa<graph::ReshapeOp>(op))
    return from.channels;
  const ArrayRef<int64_t> shape = tensorTypeOf(from.value).getShape();
  const SmallVector<int64_t> strides = computeStrides(shape);
  SmallVector<int64_t> steps;
  int64_t first = 0;
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    steps = applyPermutation(strides, transpose.getPermutation());
  } else if (auto slice = dyn_cast<graph::SliceOp>(op)) {
    for (auto [start, step, stride] :
         llvm::zip_equal(slice.getStarts(), slice.getSteps(), strides)) {
      first += start * stride;
      steps.push_back(step * stride);
    }
  } else {
    return std::nullopt;
  }
  const RankedTensorType type = tensorTypeOf(op->getResult(0));
  std::vector<int32_t> moved(type.getNumElements());
  SmallVector<int64_t> index(type.getRank(), 0);
  int64_t position = first;
  for (int32_t &channel : moved) {
    channel = from.channels[position];
    for (int64_t dim = type.getRank(); dim-- > 0;) {
      position += steps[dim];
      if (++index[dim] < type.getDimSize(dim))
        break;
      position -= steps[dim] * index[dim];
      index[dim] = 0;
    }
  }
  return moved;
}

/// Returns the channel of each element of a linear op's result.
std::vector<int32_t> channelsOf(graph::LinearOp linear) {
  const int64_t count = linear.getNumChannels();
  const int64_t inner =
      computeProduct(linear.getType().getShape().drop_front(linear.getChannelDim() + 1));
  std::vector<int32_t> channels(linear.getType().getNumElements());
  for (auto [i, channel] : llvm::enumerate(channels))
    channel = int32_t(int64_t(i) / inner % count);
  return channels;
}

/// Returns the linear op whose result, moved, is `value`.
graph::LinearOp linearOpOf(Value value) {
  while (
      isa_and_nonnull<graph::ReshapeOp, graph::TransposeOp, graph::SliceOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return graph::LinearOp::definedBy(value);
}

/// Returns which channels only `use` reads: 1 for these, 0 for others. Nothing where one that it
/// reads is read elsewhere, too.
std::optional<SmallVector<bool>> channelsOnlyIn(graph::LinearOp linear, OpOperand &use) {
  const int64_t count = linear.getNumChannels();
  SmallVector<bool> ours(count, false), others(count, false);
  SmallVector<Moved> work;
  work.push_back({linear->getResult(0), channelsOf(linear)});
  while (!work.empty()) {
    const Moved from = work.pop_back_val();
    for (OpOperand &reader : from.value.getUses()) {
      if (std::optional<std::vector<int32_t>> moved = moveElements(reader.getOwner(), from)) {
        work.push_back({reader.getOwner()->getResult(0), std::move(*moved)});
        continue;
      }
      for (int32_t channel : from.channels)
        (&reader == &use ? ours : others)[channel] = true;
    }
  }
  for (auto [our, other] : llvm::zip_equal(ours, others))
    if (our && other)
      return std::nullopt;
  return ours;
}

/// Returns how a map scales the product that it reads, if it makes it smaller.
Scale scaleOf(graph::MapOp map, Value product) {
  Value argument;
  for (auto [input, inner] : llvm::zip_equal(map.getInputs(), map.getBody().getArguments()))
    if (input == product)
      argument = argument ? Value() : inner;
  if (!argument || !argument.hasOneUse())
    return {};
  Operation *op = *argument.user_begin();
  if (!isa<arith::MulFOp, arith::DivFOp>(op))
    return {};
  const bool isFirst = op->getOperand(0) == argument;
  llvm::APFloat constant(0.0);
  if ((isa<arith::DivFOp>(op) && !isFirst) ||
      !matchPattern(op->getOperand(isFirst ? 1 : 0), m_ConstantFloat(&constant)))
    return {};
  const double number = constant.convertToDouble();
  const double factor = isa<arith::DivFOp>(op) ? 1 / number : number;
  constexpr double smallest = 1.0 / 1024; // Of weights that still are normal numbers of f16.
  return std::abs(factor) < 1 && std::abs(factor) >= smallest ? Scale{op, argument, factor}
                                                              : Scale();
}

struct ScaleQueriesPass : impl::NpuScaleQueriesBase<ScaleQueriesPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (auto product : llvm::make_early_inc_range(getOperation().getOps<graph::MatMulOp>()))
      if (product.getResult().hasOneUse() && tensorTypeOf(product.getResult()).hasStaticShape())
        if (auto map = dyn_cast<graph::MapOp>(*product.getResult().user_begin()))
          scaleOperand(product, map);
  }

private:
  /// Returns whether a user wants an op to compute in f32 or on the CPU.
  bool isNamed(Operation *op) {
    return graph::Float32Nodes(op).contains(op) || graph::HostNodes(op).contains(op);
  }

  void scaleOperand(graph::MatMulOp product, graph::MapOp map) {
    const Scale scale = scaleOf(map, product.getResult());
    if (!scale.op || isNamed(map) || isNamed(product))
      return;
    for (OpOperand &use : product->getOpOperands()) {
      graph::LinearOp linear = linearOpOf(use.get());
      constexpr int64_t largest = 1 << 25;
      if (!linear || !linear.isBare() || isNamed(linear.getOperation()) ||
          !linear.getType().hasStaticShape() || linear.getType().getNumElements() > largest)
        continue;
      std::optional<SmallVector<bool>> channels = channelsOnlyIn(linear, use);
      if (!channels)
        continue;
      const SmallVector<double> factors = llvm::map_to_vector(
          *channels, [&](bool isScaled) { return isScaled ? scale.factor : 1.0; });
      OpBuilder builder(&getContext());
      if (failed(graph::applyAffine(builder, linear, factors, {})))
        continue;
      // Dumps shall not have other numbers under the model's names.
      for (Operation *op = use.get().getDefiningOp();; op = op->getOperand(0).getDefiningOp()) {
        op->setLoc(graph::derivedLoc(op->getLoc(), "scaled"));
        if (op == linear.getOperation())
          break;
      }
      remarkPassed(getArgument(), map.getLoc(), "Scaled")
          << "the scale of the product joins the weights of an operand";
      scale.op->getResult(0).replaceAllUsesWith(scale.scaled);
      scale.op->erase();
      if (map.getBody().front().getTerminator()->getOperand(0) == scale.scaled &&
          map.getResult().getType() == product.getResult().getType()) {
        product->setLoc(map.getLoc());
        map.getResult().replaceAllUsesWith(product.getResult());
        map.erase();
      } else {
        product->setLoc(graph::derivedLoc(product.getLoc(), "scaled"));
      }
      ++numScaled;
      return;
    }
  }
};
} // namespace
} // namespace atc::npu
