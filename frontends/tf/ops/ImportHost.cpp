//===-- ImportHost.cpp - operators that only host kernels compute ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/DynamicForms.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

//===----------------------------------------------------------------------===//
// Results as long as the data says
//===----------------------------------------------------------------------===//

/// Indices [n, rank] of the elements that are not 0.
void callWhere(NodeContext &n) {
  Value condition = n.input(0);
  Value found = n.callHost("NonZero", {condition});
  if (n.failed())
    return;
  int64_t rank = NodeContext::hasRank(condition) ? n.rank(condition) : ShapedType::kDynamic;
  if (found.getDefiningOp<graph::HostCallOp>())
    found.setType(RankedTensorType::get({rank, ShapedType::kDynamic}, n.builder().getI64Type()));
  n.setOutput(n.callHost("Transpose", {found}, {n.hostInts("perm", {1, 0})}));
}

/// Outputs: the values in the order in which they first stand, for each element the number
/// of its value, and (UniqueWithCounts) how often each value stands.
void importUnique(NodeContext &n) {
  Value input = n.input(0);
  Type index = n.typeAttr("out_idx", pb::DT_INT32);
  if (n.op().ends_with("V2") && NodeContext::hasRank(input))
    n.requireRank(0, 1, 1);
  if (n.failed())
    return;
  graph::HostCall call{
      "Unique", {input}, n.builder().getDictionaryAttr({n.hostInts("sorted", {0})}), 4};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return;
  for (Value result : results)
    if (!NodeContext::hasRank(result) && result.getDefiningOp<graph::HostCallOp>())
      result.setType(RankedTensorType::get({ShapedType::kDynamic}, n.elementType(result)));
  n.setOutput(0, results[0]);
  n.setOutput(1, n.cast(results[2], index));
  if (n.op().starts_with("UniqueWithCounts"))
    n.setOutput(2, n.cast(results[3], index));
}

/// Element i of the result is where i stands: the order of the elements.
void importInvertPermutation(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  graph::HostCall call{
      "TopK",
      {input, shapeVector(n, input)},
      n.builder().getDictionaryAttr({n.hostInts("axis", {0}), n.hostInts("largest", {0})}),
      2};
  SmallVector<Value> results = n.callHost(call);
  if (!results.empty())
    n.setOutput(n.cast(results[1], n.elementType(input)));
}

void callTopK(NodeContext &n) {
  Value input = n.input(0);
  Value count = n.op() == "TopK" ? n.intList({n.requiredInt("k")}) : n.input(1);
  Type index = n.typeAttr("index_type", pb::DT_INT32);
  if (n.failed())
    return;
  graph::HostCall call{
      "TopK", {input, indexVector(n, count)}, n.builder().getDictionaryAttr({}), 2};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return;
  n.setOutput(0, results[0]);
  n.setOutput(1, n.cast(results[1], index));
}

template <int isProduct> void importScan(NodeContext &n) {
  Value input = n.input(0), axis = n.input(1);
  if (!n.failed())
    n.setOutput(n.callHost(isProduct ? "CumProd" : "CumSum", {input, axis},
                           {n.hostInts("exclusive", {n.boolAttr("exclusive", false)}),
                            n.hostInts("reverse", {n.boolAttr("reverse", false)})}));
}

/// Keeps some diagonals below and above the main one; a negative number keeps all.
void callBandPart(NodeContext &n) {
  Value value = n.input(0);
  int64_t lower = n.constantInt(1), upper = n.constantInt(2);
  if (n.failed())
    return;
  Type index = n.builder().getI64Type();
  if (lower >= 0)
    value = n.callHost("Trilu", {value, n.scalar(-static_cast<double>(lower), index)},
                       {n.hostInts("upper", {1})});
  if (upper >= 0)
    value = n.callHost("Trilu", {value, n.scalar(static_cast<double>(upper), index)},
                       {n.hostInts("upper", {0})});
  n.setOutput(value);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

void importInverse(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  if (n.boolAttr("adjoint", false)) {
    if (!NodeContext::hasRank(input) || n.rank(input) < 2)
      return n.failInput(0, "is no matrix of known rank");
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(input)));
    std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
    input = n.transpose(input, permutation);
  }
  n.setOutput(n.callHost("Inverse", {input}));
}

void importDeterminant(NodeContext &n) {
  Value input = n.input(0);
  n.setOutput(n.callHost("Det", {input}));
}

/// Outputs are the sign and the logarithm of the absolute value.
void importLogDeterminant(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  Value determinant = n.callHost("Det", {input});
  n.setOutput(0, n.callHost("Sign", {determinant}));
  n.setOutput(1, n.callHost("Log", {n.callHost("Abs", {determinant})}));
}

/// Outputs are the singular values, U and V; the latter empty without compute_uv.
void importSvd(NodeContext &n) {
  Value input = n.input(0);
  bool wantsVectors = n.boolAttr("compute_uv", true);
  bool isFull = n.boolAttr("full_matrices", false);
  if (n.failed())
    return;
  graph::HostCall call{"Svd",
                       {input},
                       n.builder().getDictionaryAttr({n.hostInts("full_matrices", {isFull})}),
                       wantsVectors ? 3u : 1u};
  for (auto [index, value] : llvm::enumerate(n.callHost(call)))
    n.setOutput(index, value);
}

/// The bits of each element as another type of the same width.
void importBitcast(NodeContext &n) {
  Value input = n.input(0);
  Type type = n.typeAttr("type", pb::DT_FLOAT);
  if (n.failed())
    return;
  Type from = n.elementType(input);
  if (!from.isIntOrFloat() || !type.isIntOrFloat() || from.isInteger(1) || type.isInteger(1) ||
      from.getIntOrFloatBitWidth() != type.getIntOrFloatBitWidth())
    return n.failAttribute("type", "is not as wide as the type of the input");
  n.setOutput(n.callHost("BitCast", {input}, {n.hostInts("to", {graph::dtypeOf(type)})}));
}

void importZeta(NodeContext &n) {
  Value x = n.input(0), q = n.input(1);
  n.setOutput(n.callHost("Zeta", {x, q}));
}

void callEinsum(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  std::string equation = n.stringAttr("equation", "");
  n.setOutput(n.callHost("Einsum", inputs, {n.hostText("equation", equation)}));
}

} // namespace

ArrayRef<OpRow> hostRows() {
  static const OpRow rows[] = {
      {"Bitcast", importBitcast, "types of the same width"},
      {"Cumprod", importScan<1>},
      {"Cumsum", importScan<0>},
      {"Einsum", callEinsum},
      {"InvertPermutation", importInvertPermutation},
      {"LogMatrixDeterminant", importLogDeterminant},
      {"MatrixBandPart", callBandPart},
      {"MatrixDeterminant", importDeterminant},
      {"MatrixInverse", importInverse},
      {"Svd", importSvd},
      {"TopK", callTopK},
      {"TopKV2", callTopK},
      {"Unique", importUnique},
      {"UniqueV2", importUnique, "of vectors"},
      {"UniqueWithCounts", importUnique},
      {"UniqueWithCountsV2", importUnique, "of vectors"},
      {"Where", callWhere},
      {"Zeta", importZeta},
  };
  return rows;
}

} // namespace atc::tf_import
