//===-- ImportLoss.cpp - losses by class labels ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

using graph::ReduceKind;

/// Builds -weight[label] * logProb[n, label, ...] of every sample, or their sum or mean. Labels are
/// input 1, the weights of the classes input 2; samples with the label `ignore_index` do not count.
Value labelLoss(NodeContext &n, Value logProb) {
  Value labels = n.input(1), weights = n.optionalInput(2);
  std::string reduction = n.choiceAttr("reduction", {"mean", "sum", "none"});
  bool ignores = n.hasAttr("ignore_index");
  int64_t ignored = n.intAttr("ignore_index", 0);
  if (n.failed())
    return {};
  int64_t rank = n.rank(logProb);
  if (rank < 2 || n.rank(labels) != rank - 1) {
    n.failInput(1, "has rank " + Twine(n.rank(labels)) + " beside scores of rank " + Twine(rank) +
                       ", expected one less");
    return {};
  }
  int64_t classes = n.shape(logProb)[1];
  if (weights && n.shape(weights) != ArrayRef<int64_t>{classes}) {
    n.failInput(2, "expected one weight for each of the " + Twine(classes) + " classes");
    return {};
  }
  // Selects the labelled class of each sample.
  SmallVector<int64_t> perClass(rank - 1, 1), labelShape(n.shape(labels));
  perClass[0] = classes;
  labelShape.insert(labelShape.begin() + 1, 1);
  Type index = n.builder().getI64Type();
  Value wide = n.reshape(n.cast(labels, index), labelShape);
  Value range = n.reshape(n.intList(llvm::to_vector(llvm::seq<int64_t>(0, classes))), perClass);
  Value isLabel = n.create<graph::CompareOp>(wide, range, graph::ComparePredicate::Eq);
  if (ignores) {
    Value number = n.reshape(n.intList({ignored}), {});
    Value counts = n.create<graph::CompareOp>(wide, number, graph::ComparePredicate::Ne);
    isLabel = n.create<graph::AndOp>(isLabel, counts);
  }
  Value zero = n.scalarLike(0, logProb);
  Value weight = weights ? n.reshape(weights, perClass) : n.scalarLike(1, logProb);
  Value weighted = weights ? n.mul(logProb, weight) : logProb;
  auto ofLabel = [&](Value value) {
    Value chosen = n.create<graph::WhereOp>(isLabel, value, zero);
    return n.reduce(ReduceKind::Sum, chosen, {1}, /*keepdims=*/false);
  };
  Value loss = n.create<graph::NegOp>(ofLabel(weighted));
  if (reduction == "none" || n.failed())
    return loss;
  auto sum = [&](Value value) {
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(value)));
    return n.reduce(ReduceKind::Sum, value, axes, /*keepdims=*/false);
  };
  Value total = sum(loss);
  return reduction == "sum" ? total : n.div(total, sum(ofLabel(weight)));
}

void importNegativeLogLikelihoodLoss(NodeContext &n) { n.setOutput(labelLoss(n, n.input(0))); }

void importSoftmaxCrossEntropyLoss(NodeContext &n) {
  n.requireRank(0, 2, INT64_MAX);
  Value logProb = n.create<graph::LogSoftmaxOp>(n.input(0), /*axis=*/1);
  n.setOutput(0, labelLoss(n, logProb));
  n.setOutput(1, logProb);
}

} // namespace

ArrayRef<OpRow> lossRows() {
  static const OpRow rows[] = {
      {"NegativeLogLikelihoodLoss", 12, latestOpset, importNegativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 12, latestOpset, importSoftmaxCrossEntropyLoss},
  };
  return rows;
}

} // namespace atc::onnx_import
