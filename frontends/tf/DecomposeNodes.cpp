//===-- DecomposeNodes.cpp - fused and older operators as others ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/DecomposeNodes.h"

#include <array>

#include "frontends/tf/decompose/GradientNodes.h"
#include "frontends/tf/decompose/GraphRewriter.h"
#include "frontends/tf/decompose/QuantizedNodes.h"

using namespace llvm;

namespace atc::tf_import {
namespace {

namespace pb = atc::tf::pb;

/// Operators with the inputs, attributes and results of others.
struct Renamed {
  StringLiteral op, becomes;
};
constexpr Renamed renamed[] = {
    {"BatchCholesky", "Cholesky"},
    {"BatchFFT", "FFT"},
    {"BatchFFT2D", "FFT2D"},
    {"BatchFFT3D", "FFT3D"},
    {"BatchIFFT", "IFFT"},
    {"BatchIFFT2D", "IFFT2D"},
    {"BatchIFFT3D", "IFFT3D"},
    {"BatchMatrixBandPart", "MatrixBandPart"},
    {"BatchMatrixDeterminant", "MatrixDeterminant"},
    {"BatchMatrixDiag", "MatrixDiag"},
    {"BatchMatrixDiagPart", "MatrixDiagPart"},
    {"BatchMatrixInverse", "MatrixInverse"},
    {"BatchMatrixSetDiag", "MatrixSetDiag"},
    {"BatchMatrixSolve", "MatrixSolve"},
    {"BatchMatrixSolveLs", "MatrixSolveLs"},
    {"BatchMatrixTriangularSolve", "MatrixTriangularSolve"},
    {"BatchSelfAdjointEigV2", "SelfAdjointEigV2"},
    {"BatchSvd", "Svd"},
    {"CheckNumericsV2", "Identity"},
    {"DeepCopy", "Identity"},
    {"GuaranteeConst", "Identity"},
    {"RefEnter", "Enter"},
    {"RefExit", "Exit"},
    {"RefIdentity", "Identity"},
    {"RefMerge", "Merge"},
    {"RefNextIteration", "NextIteration"},
    {"RefSwitch", "Switch"},
    {"ScatterNdNonAliasingAdd", "TensorScatterAdd"},
    {"SegmentMaxV2", "UnsortedSegmentMax"},
    {"SegmentMinV2", "UnsortedSegmentMin"},
    {"SegmentProdV2", "UnsortedSegmentProd"},
    {"SegmentSumV2", "UnsortedSegmentSum"},
    {"SparseMatMul", "MatMul"},
};

//===----------------------------------------------------------------------===//
// Older operators
//===----------------------------------------------------------------------===//

/// Print passes its input on; nothing is printed.
void decomposePrint(GraphRewriter &r, const Inputs &in) { r.become("Identity", {in[0]}); }

/// (x - mean) / sqrt(variance + epsilon), scaled by gamma where that is asked for, and moved.
void decomposeGlobalNormalization(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *epsilon = r.attribute("variance_epsilon"),
                      *scales = r.attribute("scale_after_normalization");
  if (!epsilon || !scales)
    return;
  std::string factor = r.add("Rsqrt", {r.add("AddV2", {in[2], r.constant(epsilon->f())})});
  if (scales->b())
    factor = r.add("Mul", {factor, in[4]});
  r.become("AddV2", {r.add("Mul", {r.add("Sub", {in[0], in[1]}), factor}), in[3]});
}

/// The block has one size for height and width.
template <bool joins> void decomposeBlocks(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *size = r.attribute("block_size");
  if (!size)
    return;
  const auto block = static_cast<int32_t>(size->i());
  r.become(joins ? "BatchToSpaceND" : "SpaceToBatchND", {in[0], r.constant({block, block}), in[1]});
}

/// Kernel and strides are inputs.
void decomposePool(GraphRewriter &r, const Inputs &in) {
  for (auto [index, name] : {std::pair(1, "ksize"), std::pair(2, "strides")}) {
    pb::AttrValue value;
    const std::vector<int64_t> sizes = r.constantInts(in[index]);
    if (sizes.empty())
      return;
    value.mutable_list()->mutable_i()->Add(sizes.begin(), sizes.end());
    r.set(name, value);
  }
  r.become("MaxPool", {in[0]});
}

/// Rows are replaced, or something is added to them.
void updateRows(GraphRewriter &r, const Inputs &in, const char *op) {
  r.become(op, {in[0], r.add("Reshape", {in[1], r.constant({-1, 1})}), in[2]});
}
void decomposeInplaceUpdate(GraphRewriter &r, const Inputs &in) {
  updateRows(r, in, "TensorScatterUpdate");
}
void decomposeInplaceAdd(GraphRewriter &r, const Inputs &in) {
  updateRows(r, in, "TensorScatterAdd");
}
void decomposeInplaceSub(GraphRewriter &r, const Inputs &in) {
  updateRows(r, in, "TensorScatterSub");
}

/// The slice of the elements' numbers says which ones the values replace.
void decomposeSliceUpdate(GraphRewriter &r, const Inputs &in) {
  const int32_t rest = -1; // {-1} would be a float
  const std::string shape = r.add("Shape", {in[0]}), all = r.constant(ArrayRef<int32_t>(rest)),
                    count = r.add("Size", {in[0]}),
                    numbers = r.add("Reshape",
                                    {r.add("Range", {r.number(0), count, r.number(1)}), shape});
  const std::string chosen = r.addSliceOf(numbers, {in[1], in[2], in[3]}),
                    values = r.add("BroadcastTo", {in[4], r.add("Shape", {chosen})}),
                    flat = r.add("TensorScatterUpdate",
                                 {r.add("Reshape", {in[0], all}),
                                  r.add("Reshape", {chosen, r.constant({-1, 1})}),
                                  r.add("Reshape", {values, all})});
  r.become("Reshape", {flat, shape});
}

/// A tensor whose elements nothing states: they are 0.
void decomposeEmpty(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *type = r.attribute("dtype");
  if (type && type->type() != pb::DT_STRING)
    r.become("Fill", {in[0], r.add("Cast", {r.constant(0.0F)}, {{"DstT", type}})});
}

/// Strings become empty ones.
void decomposeZeros(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *type = r.attribute("T");
  if (type && type->type() == pb::DT_STRING)
    r.become("Fill", {r.add("Shape", {in[0]}), r.text("")});
}

void decomposeApproximateEqual(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *tolerance = r.attribute("tolerance");
  const std::string limit =
      r.add("Cast", {r.constant(tolerance ? tolerance->f() : 1e-5F)}, {{"DstT", r.attribute("T")}});
  r.become("Less", {r.add("Abs", {r.add("Sub", {in[0], in[1]})}), limit});
}

void decomposeConjugateTranspose(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *type = r.attribute("T");
  if (type && (type->type() == pb::DT_COMPLEX64 || type->type() == pb::DT_COMPLEX128))
    return r.become("Conj", {r.add("Transpose", in)});
  r.become("Transpose", in);
}

//===----------------------------------------------------------------------===//
// What optimizers fuse
//===----------------------------------------------------------------------===//

/// Inputs: the image, in front of the pads perhaps the size that it is brought to, and the filter.
void decomposePaddedConv(GraphRewriter &r, const Inputs &in) {
  std::string image = in[0];
  const size_t pads = in.size() - 2;
  if (pads == 2)
    image = r.add("ResizeBilinear", {image, in[1]},
                  {{"align_corners", r.attribute("resize_align_corners")}});
  image = r.add("MirrorPad", {image, in[pads]}, {{"mode", r.attribute("mode")}});
  r.become("Conv2D", {image, in[pads + 1]});
}

/// Appends `ops`, which take `further` inputs one after the other. Returns the result, whose node
/// the last one of them becomes; empty where one is not known or inputs are missing.
void decomposeEpilogue(GraphRewriter &r, const char *op, const Inputs &in) {
  const pb::AttrValue *fused = r.attribute("fused_ops");
  if (!fused || in.size() < 2)
    return;
  SmallVector<std::pair<const char *, size_t>> steps; // each with the number of its inputs
  size_t taken = 2;
  for (const std::string &name : fused->list().s()) {
    const auto step = StringSwitch<std::pair<const char *, size_t>>(name)
                          .Case("BiasAdd", {"BiasAdd", 1})
                          .Case("Add", {"AddV2", 1})
                          .Case("FusedBatchNorm", {"FusedBatchNormV3", 4})
                          .Case("Relu", {"Relu", 0})
                          .Case("Relu6", {"Relu6", 0})
                          .Case("Elu", {"Elu", 0})
                          .Case("LeakyRelu", {"LeakyRelu", 0})
                          .Case("Sigmoid", {"Sigmoid", 0})
                          .Case("Tanh", {"Tanh", 0})
                          .Default({nullptr, 0});
    taken += step.second;
    if (!step.first || taken > in.size())
      return;
    steps.push_back(step);
  }
  if (steps.empty())
    return r.become(op, {in[0], in[1]});
  pb::AttrValue no;
  no.set_b(false);
  std::string value = r.add(op, {in[0], in[1]},
                            {{"strides", r.attribute("strides")},
                             {"padding", r.attribute("padding")},
                             {"explicit_paddings", r.attribute("explicit_paddings")},
                             {"dilations", r.attribute("dilations")},
                             {"data_format", r.attribute("data_format")},
                             {"transpose_a", r.attribute("transpose_a")},
                             {"transpose_b", r.attribute("transpose_b")},
                             {"T", r.attribute("T")}});
  size_t next = 2;
  for (auto [index, step] : enumerate(steps)) {
    Inputs operands{value};
    operands.insert(operands.end(), in.begin() + next, in.begin() + next + step.second);
    next += step.second;
    if (index + 1 < steps.size()) {
      value = r.add(step.first, operands,
                    {{"epsilon", r.attribute("epsilon")},
                     {"data_format", r.attribute("data_format")},
                     {"is_training", &no},
                     {"alpha", r.attribute("leakyrelu_alpha")}});
      continue;
    }
    r.set("is_training", no);
    if (const pb::AttrValue *slope = r.attribute("leakyrelu_alpha"))
      r.set("alpha", pb::AttrValue(*slope));
    r.become(step.first, operands);
  }
}
void decomposeFusedConv(GraphRewriter &r, const Inputs &in) { decomposeEpilogue(r, "Conv2D", in); }
void decomposeFusedDepthwise(GraphRewriter &r, const Inputs &in) {
  decomposeEpilogue(r, "DepthwiseConv2dNative", in);
}
void decomposeFusedMatMul(GraphRewriter &r, const Inputs &in) {
  decomposeEpilogue(r, "MatMul", in);
}

/// A batch norm with a summand and an activation behind it.
void decomposeFusedNorm(GraphRewriter &r, const Inputs &in) {
  const pb::AttrValue *activation = r.attribute("activation_mode"),
                      *training = r.attribute("is_training");
  if (!training || training->b() || !activation ||
      (activation->s() != "Identity" && activation->s() != "Relu"))
    return;
  const bool hasSummand = in.size() > 5, hasRelu = activation->s() == "Relu";
  const Inputs operands(in.begin(), in.begin() + 5);
  if (!hasSummand && !hasRelu)
    return r.become("FusedBatchNormV3", operands);
  const std::string norm = r.add("FusedBatchNormV3", operands,
                                 {{"epsilon", r.attribute("epsilon")},
                                  {"data_format", r.attribute("data_format")},
                                  {"is_training", training}});
  if (!hasRelu)
    return r.become("AddV2", {norm, in[5]});
  r.become("Relu", {hasSummand ? r.add("AddV2", {norm, in[5]}) : norm});
}

constexpr Decomposed decomposed[] = {
    {"ApproximateEqual", 2, decomposeApproximateEqual, "Sub, Abs, Cast, Less"},
    {"BatchNormWithGlobalNormalization", 5, decomposeGlobalNormalization, "Sub, Mul, Add"},
    {"BatchToSpace", 2, decomposeBlocks<true>, "BatchToSpaceND"},
    {"ConjugateTranspose", 2, decomposeConjugateTranspose, "Transpose, Conj"},
    {"Empty", 1, decomposeEmpty, "Fill, with 0; no strings"},
    {"FusedPadConv2D", 3, decomposePaddedConv, "MirrorPad, Conv2D"},
    {"FusedResizeAndPadConv2D", 4, decomposePaddedConv, "ResizeBilinear, MirrorPad, Conv2D"},
    {"InplaceAdd", 3, decomposeInplaceAdd, "TensorScatterAdd"},
    {"InplaceSub", 3, decomposeInplaceSub, "TensorScatterSub"},
    {"InplaceUpdate", 3, decomposeInplaceUpdate, "TensorScatterUpdate"},
    {"MaxPoolV2", 3, decomposePool, "MaxPool, of a constant window"},
    {"Print", 1, decomposePrint, "Identity"},
    {"SpaceToBatch", 2, decomposeBlocks<false>, "SpaceToBatchND"},
    {"TensorStridedSliceUpdate", 5, decomposeSliceUpdate, "StridedSlice, TensorScatterUpdate"},
    {"ZerosLike", 1, decomposeZeros, ""},
    {"_FusedBatchNormEx", 5, decomposeFusedNorm, "FusedBatchNormV3, Add, Relu"},
    {"_FusedConv2D", 2, decomposeFusedConv, "Conv2D and what follows"},
    {"_FusedDepthwiseConv2dNative", 2, decomposeFusedDepthwise,
     "DepthwiseConv2dNative and what follows"},
    {"_FusedMatMul", 2, decomposeFusedMatMul, "MatMul and what follows"},
};

std::array<ArrayRef<Decomposed>, 4> decomposedTables() {
  return {ArrayRef(decomposed), gradientNodes(), quantizedNodes(), fusedQuantizedNodes()};
}

} // namespace

void decomposeNodes(pb::GraphDef &graph) {
  StringMap<StringRef> names;
  for (const Renamed &row : renamed)
    names[row.op] = row.becomes;
  StringMap<const Decomposed *> rows;
  for (ArrayRef<Decomposed> table : decomposedTables())
    for (const Decomposed &row : table)
      rows[row.op] = &row;
  GraphRewriter rewriter(graph);
  for (pb::NodeDef &node : *graph.mutable_node()) {
    if (auto found = names.find(node.op()); found != names.end())
      node.set_op(found->second.str());
    const Decomposed *row = rows.lookup(node.op());
    if (!row)
      continue;
    rewriter.begin(node);
    if (const Inputs inputs = rewriter.inputs(); inputs.size() >= row->minInputs)
      row->rewrite(rewriter, inputs);
  }
  rewriter.finish(graph);
}

void forEachDecomposedOp(function_ref<void(StringRef, StringRef)> visit) {
  for (const Renamed &row : renamed)
    visit(row.op, row.becomes);
  for (ArrayRef<Decomposed> table : decomposedTables())
    for (const Decomposed &row : table)
      if (!row.becomes.empty()) // else it is listed among what is imported
        visit(row.op, row.becomes);
}

} // namespace atc::tf_import
