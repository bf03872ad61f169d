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
  if (n.failed())
    return;
  SmallVector<NamedAttribute> attributes{n.hostInts("sorted", {0})};
  bool hasAxis = false;
  if (n.op().ends_with("V2")) {
    // Along an axis the values are slices; without one the input is a vector.
    SmallVector<int64_t> axis = n.constantInts(1);
    if (n.failed())
      return;
    if (axis.size() > 1)
      return n.failInput(1, "has " + Twine(axis.size()) + " elements, expected one axis or none");
    hasAxis = !axis.empty() && !(NodeContext::hasRank(input) && n.rank(input) == 1);
    if (hasAxis)
      attributes.push_back(n.hostInts("axis", axis));
    else if (NodeContext::hasRank(input))
      n.requireRank(0, 1, 1);
  }
  if (n.failed())
    return;
  graph::HostCall call{"Unique", {input}, n.builder().getDictionaryAttr(attributes), 4};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return;
  for (auto [index, result] : llvm::enumerate(results))
    if (!NodeContext::hasRank(result) && result.getDefiningOp<graph::HostCallOp>()) {
      const bool isSlices = hasAxis && index == 0;
      if (isSlices && !NodeContext::hasRank(input))
        continue;
      SmallVector<int64_t> dims(isSlices ? n.rank(input) : 1, ShapedType::kDynamic);
      result.setType(RankedTensorType::get(dims, n.elementType(result)));
    }
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

void importScan(NodeContext &n) {
  Value input = n.input(0), axis = n.input(1);
  const StringRef kernel = n.op() == "Cumsum"    ? "CumSum"
                           : n.op() == "Cumprod" ? "CumProd"
                                                 : "CumLogSumExp";
  if (!n.failed())
    n.setOutput(n.callHost(kernel, {input, axis},
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

/// Outputs are those of a kernel that decomposes matrices.
void setDecomposition(NodeContext &n, StringRef kernel, ArrayRef<NamedAttribute> attributes,
                      unsigned count) {
  Value input = n.input(0);
  if (n.failed())
    return;
  graph::HostCall call{kernel, {input}, n.builder().getDictionaryAttr(attributes), count};
  for (auto [index, value] : llvm::enumerate(n.callHost(call)))
    n.setOutput(index, value);
}

NamedAttribute isFull(NodeContext &n) {
  return n.hostInts("full_matrices", {n.boolAttr("full_matrices", false)});
}

/// Outputs are the singular values, U and V; the latter empty without compute_uv.
void importSvd(NodeContext &n) {
  setDecomposition(n, "Svd", {isFull(n)}, n.boolAttr("compute_uv", true) ? 3 : 1);
}

/// Outputs are the eigenvalues and, unless compute_v is false, the eigenvectors.
void importEigen(NodeContext &n) {
  setDecomposition(n, "SymmetricEigen", {}, n.boolAttr("compute_v", true) ? 2 : 1);
}

void importQr(NodeContext &n) { setDecomposition(n, "Qr", {isFull(n)}, 2); }

void importCholesky(NodeContext &n) {
  Value input = n.input(0);
  n.setOutput(n.callHost("Cholesky", {input}));
}

template <bool isTriangular> void importSolve(NodeContext &n) {
  Value matrix = n.input(0), right = n.input(1);
  SmallVector<NamedAttribute> attributes = {n.hostInts("adjoint", {n.boolAttr("adjoint", false)})};
  if (isTriangular)
    attributes.push_back(n.hostInts("lower", {n.boolAttr("lower", true)}));
  n.setOutput(
      n.callHost(isTriangular ? "TriangularSolve" : "MatrixSolve", {matrix, right}, attributes));
}

/// Functions of one to three tensors whose kernel has the operator's name.
template <unsigned count> void importFunction(NodeContext &n) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < count; ++i)
    inputs.push_back(n.input(i));
  n.setOutput(n.callHost(n.op(), inputs));
}

/// BesselI0, BesselI1e and so on: the kernel's name, the order, and `e` for the scaled function.
void importBessel(NodeContext &n) {
  Value input = n.input(0);
  StringRef name = n.op();
  SmallVector<NamedAttribute> attributes;
  if (name.starts_with("BesselI") || name.starts_with("BesselK"))
    attributes.push_back(n.hostInts("scaled", {name.consume_back("e")}));
  attributes.push_back(n.hostInts("order", {name.back() - '0'}));
  n.setOutput(n.callHost(name.drop_back(), {input}, attributes));
}

void importFresnel(NodeContext &n) {
  Value input = n.input(0);
  n.setOutput(n.callHost("Fresnel", {input}, {n.hostInts("cosine", {n.op() == "FresnelCos"})}));
}

void importInvert(NodeContext &n) {
  Value input = n.input(0);
  n.setOutput(n.callHost("BitwiseNot", {input}));
}

/// Brings what stands per dim of one layout, or per spatial dim, into the order of another one.
void importVecPermute(NodeContext &n) {
  Value input = n.input(0);
  std::string from = n.stringAttr("src_format", "NHWC"), to = n.stringAttr("dst_format", "NCHW");
  if (n.failed())
    return;
  const int64_t count = NodeContext::hasRank(input) && n.rank(input) > 0 ? n.shape(input)[0] : -1;
  if (count == static_cast<int64_t>(from.size()) - 2)
    for (std::string *layout : {&from, &to})
      llvm::erase_if(*layout, [](char dim) { return dim == 'N' || dim == 'C'; });
  SmallVector<int64_t> order;
  for (char dim : to)
    order.push_back(static_cast<int64_t>(from.find(dim)));
  if (count != static_cast<int64_t>(from.size()) || from.size() != to.size() ||
      llvm::is_contained(order, static_cast<int64_t>(std::string::npos)))
    return n.failInput(0, "does not have one row per dim of both layouts");
  n.setOutput(n.callHost("Gather", {input, n.intList(order)}, {n.hostInts("axis", {0})}));
}

void callEinsum(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  std::string equation = n.stringAttr("equation", "");
  n.setOutput(n.callHost("Einsum", inputs, {n.hostText("equation", equation)}));
}

} // namespace

ArrayRef<OpRow> hostRows() {
  static const OpRow rows[] = {
      {"BesselI0", importBessel},
      {"BesselI0e", importBessel},
      {"BesselI1", importBessel},
      {"BesselI1e", importBessel},
      {"BesselJ0", importBessel},
      {"BesselJ1", importBessel},
      {"BesselK0", importBessel},
      {"BesselK0e", importBessel},
      {"BesselK1", importBessel},
      {"BesselK1e", importBessel},
      {"BesselY0", importBessel},
      {"BesselY1", importBessel},
      {"Betainc", importFunction<3>},
      {"Cholesky", importCholesky, "real matrices"},
      {"Cumprod", importScan},
      {"Cumsum", importScan},
      {"CumulativeLogsumexp", importScan},
      {"DataFormatVecPermute", importVecPermute},
      {"Dawsn", importFunction<1>},
      {"Digamma", importFunction<1>},
      {"Einsum", callEinsum},
      {"Erfinv", importFunction<1>},
      {"Expint", importFunction<1>},
      {"FresnelCos", importFresnel},
      {"FresnelSin", importFresnel},
      {"Igamma", importFunction<2>},
      {"Igammac", importFunction<2>},
      {"Invert", importInvert},
      {"InvertPermutation", importInvertPermutation},
      {"Lgamma", importFunction<1>},
      {"LogMatrixDeterminant", importLogDeterminant},
      {"MatrixBandPart", callBandPart},
      {"MatrixDeterminant", importDeterminant},
      {"MatrixInverse", importInverse},
      {"MatrixSolve", importSolve<false>, "real matrices"},
      {"MatrixTriangularSolve", importSolve<true>, "real matrices"},
      {"Ndtri", importFunction<1>},
      {"Polygamma", importFunction<2>},
      {"Qr", importQr, "real matrices"},
      {"SelfAdjointEigV2", importEigen, "real matrices"},
      {"Spence", importFunction<1>},
      {"Svd", importSvd},
      {"TopK", callTopK},
      {"TopKV2", callTopK},
      {"Unique", importUnique},
      {"UniqueV2", importUnique},
      {"UniqueWithCounts", importUnique},
      {"UniqueWithCountsV2", importUnique},
      {"Where", callWhere},
      {"Zeta", importFunction<2>},
  };
  return rows;
}

} // namespace atc::tf_import
