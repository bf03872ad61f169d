//===-- TransposeNorms.cpp - norms over channels become norms of rows -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layer norm over the channels of an image is five kernels, since the vector unit normalizes
// rows. Storing the image in rows of channels costs two moves of it, which the layouts in front of
// the norm and behind it need anyway: convolutions read and write blocks of channels.

#include "dialects/graph/Graph.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/npu/GraphPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUTRANSPOSENORMS
#include "passes/npu/GraphPasses.h.inc"

namespace {

/// A layer norm or RMS norm over one dim, as ops of the graph.
struct Norm {
  Value x;
  int64_t axis = 0;
  graph::ReduceOp mean;               ///< of x; null for an RMS norm
  graph::MapOp squares;               ///< of x - mean
  graph::ReduceOp variance;           ///< their mean
  SmallVector<Operation *> deviation; ///< maps and reshapes of the variance, in order
  graph::MapOp result;
};

/// Returns whether a reduction is the mean over one dim, which stays with size 1.
bool isMeanOverDim(graph::ReduceOp op) {
  return op && op.getKind() == graph::ReduceKind::Mean && op.getKeepdims() &&
         op.getAxes().size() == 1;
}

/// Returns whether a map reads constants that have one value, or one per position of `axis` if one
/// is given, beside the values of `known`.
bool readsOnly(graph::MapOp map, ArrayRef<Value> known, std::optional<int64_t> axis) {
  const RankedTensorType type = tensorTypeOf(map.getResult());
  return llvm::all_of(map.getInputs(), [&](Value input) {
    if (llvm::is_contained(known, input))
      return true;
    const RankedTensorType own = tensorTypeOf(input);
    return graph::getConstant(input) &&
           (own.getNumElements() == 1 || (axis && own.getRank() == type.getRank() &&
                                          own.getNumElements() == own.getDimSize(*axis)));
  });
}

/// Sets `norm.x`, and `norm.mean` where there is one, from what the squares read.
bool matchCentered(Norm &norm) {
  for (Value input : norm.squares.getInputs()) {
    auto reduce = input.getDefiningOp<graph::ReduceOp>();
    if (reduce && isMeanOverDim(reduce) && !norm.mean)
      norm.mean = reduce;
    else if (!norm.x)
      norm.x = input;
    else
      return false;
  }
  if (!norm.x || norm.x.getType() != norm.squares.getResult().getType())
    return false;
  return !norm.mean || (norm.mean.getInput() == norm.x && norm.mean.getAxes()[0] == norm.axis);
}

/// Follows the variance to the map that scales x, whose operand is `last`. Returns false where
/// others read what is in between.
bool matchResult(Norm &norm) {
  Value last = norm.variance.getResult();
  while (last.hasOneUse()) {
    Operation *user = *last.getUsers().begin();
    auto map = dyn_cast<graph::MapOp>(user);
    if (map && map.getResult().getType() == norm.x.getType()) {
      norm.result = map;
      SmallVector<Value> known{norm.x, last};
      if (norm.mean)
        known.push_back(norm.mean.getResult());
      return llvm::is_contained(map.getInputs(), norm.x) && readsOnly(map, known, norm.axis);
    }
    const bool isStep = isa<graph::ReshapeOp>(user) || (map && readsOnly(map, last, std::nullopt));
    if (!isStep ||
        tensorTypeOf(user->getResult(0)).getNumElements() != tensorTypeOf(last).getNumElements())
      return false;
    norm.deviation.push_back(user);
    last = user->getResult(0);
  }
  return false;
}

/// Returns the norm whose variance is `variance`, if it is one over a dim that is not the last.
std::optional<Norm> matchNorm(graph::ReduceOp variance) {
  Norm norm;
  norm.variance = variance;
  norm.squares = variance.getInput().getDefiningOp<graph::MapOp>();
  if (!isMeanOverDim(variance) || !norm.squares || !norm.squares.getResult().hasOneUse())
    return std::nullopt;
  norm.axis = variance.getAxes()[0];
  const RankedTensorType type = tensorTypeOf(norm.squares.getResult());
  if (norm.axis == type.getRank() - 1 || !type.hasStaticShape() ||
      !isa<FloatType>(type.getElementType()) || !matchCentered(norm) || !matchResult(norm))
    return std::nullopt;
  auto isOwn = [&](Operation *user) { return user == norm.squares || user == norm.result; };
  if (norm.mean && !llvm::all_of(norm.mean->getUsers(), isOwn))
    return std::nullopt;
  return norm;
}

struct TransposeNormsPass : impl::NpuTransposeNormsBase<TransposeNormsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    const graph::HostNodes hostNodes(function);
    const graph::Float32Nodes float32Nodes(function);
    SmallVector<graph::ReduceOp> reductions(function.getOps<graph::ReduceOp>());
    for (graph::ReduceOp reduce : reductions) {
      std::optional<Norm> norm = matchNorm(reduce);
      if (norm && !hostNodes.contains(norm->result) && !float32Nodes.contains(norm->result))
        rewrite(*norm);
    }
  }

private:
  /// Computes the norm on rows of the dim that it normalizes.
  void rewrite(Norm &norm) {
    OpBuilder b(norm.result);
    const RankedTensorType type = tensorTypeOf(norm.x);
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    order.erase(order.begin() + norm.axis);
    order.push_back(norm.axis);
    auto permuted = [&](RankedTensorType of) {
      return RankedTensorType::get(applyPermutation(of.getShape(), order), of.getElementType());
    };
    IRMapping mapping;
    Location loc = norm.result.getLoc();
    mapping.map(norm.x, graph::TransposeOp::create(b, graph::derivedLoc(loc, "transposed"),
                                                   permuted(type), norm.x, order)
                            .getResult());
    const RankedTensorType statistics =
        permuted(tensorTypeOf(norm.variance.getResult())); // one value per row
    auto addMean = [&](graph::ReduceOp reduce) {
      const RankedTensorType of = RankedTensorType::get(
          statistics.getShape(), tensorTypeOf(reduce.getResult()).getElementType());
      mapping.map(reduce.getResult(),
                  graph::ReduceOp::create(b, reduce.getLoc(), of, mapping.lookup(reduce.getInput()),
                                          reduce.getKind(), ArrayRef<int64_t>{type.getRank() - 1},
                                          /*keepdims=*/true)
                      .getResult());
    };
    auto addMap = [&](graph::MapOp map, RankedTensorType resultType) {
      for (Value input : map.getInputs())
        if (!mapping.contains(input) && tensorTypeOf(input).getRank() == type.getRank())
          mapping.map(input, graph::ConstantOp::create(
                                 b, input.getLoc(),
                                 graph::transposeConstant(graph::getConstant(input), order)));
      Operation *copy = b.clone(*map, mapping);
      copy->getResult(0).setType(resultType);
      mapping.map(map.getResult(), copy->getResult(0));
    };
    if (norm.mean)
      addMean(norm.mean);
    addMap(norm.squares, permuted(type));
    addMean(norm.variance);
    for (Operation *step : norm.deviation) {
      if (auto map = dyn_cast<graph::MapOp>(step))
        addMap(map, RankedTensorType::get(statistics.getShape(),
                                          tensorTypeOf(map.getResult()).getElementType()));
      else
        mapping.map(step->getResult(0), mapping.lookup(step->getOperand(0)));
    }
    addMap(norm.result, permuted(type));
    Value back = graph::TransposeOp::create(b, loc, type, mapping.lookup(norm.result.getResult()),
                                            invertPermutationVector(order));
    remarkPassed(getArgument(), loc, "Transposed")
        << "the norm over channels is computed on rows of them";
    norm.result.getResult().replaceAllUsesWith(back);
    norm.result.erase();
    for (Operation *step : llvm::reverse(norm.deviation))
      step->erase();
    norm.variance.erase();
    norm.squares.erase();
    if (norm.mean)
      norm.mean.erase();
    ++numTransposed;
  }
};
} // namespace
} // namespace atc::npu
