//===-- AscendTypes.cpp - operators in the words of the Ascend toolchain --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/AscendTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc {

namespace {

struct Row {
  StringLiteral ascend;
  StringLiteral types; ///< of ONNX and TensorFlow, separated by blanks
};

// Names without the D, V2 ... at their end; where both sides have the same name, no types.
constexpr Row rows[] = {
    {"Abs", ""},
    {"Acos", ""},
    {"Add", "AddV2"},
    {"AddN", "Sum"},
    {"ArgMax", ""},
    {"ArgMin", ""},
    {"Asin", ""},
    {"Atan", ""},
    {"AvgPool", "AveragePool"},
    {"BNInference", "BatchNormalization FusedBatchNorm FusedBatchNormV3"},
    {"BNInfer", "BatchNormalization FusedBatchNorm FusedBatchNormV3"},
    {"BatchMatMul", "MatMul BatchMatMulV2"},
    {"BatchNorm", "BatchNormalization FusedBatchNorm FusedBatchNormV3"},
    {"BiasAdd", "Add"},
    {"Cast", ""},
    {"Ceil", ""},
    {"ClipByValue", "Clip"},
    {"Concat", "ConcatV2"},
    {"Conv2D", "Conv"},
    {"Conv2DTranspose", "ConvTranspose Conv2DBackpropInput"},
    {"Conv3D", "Conv"},
    {"Cos", ""},
    {"Cosh", ""},
    {"Cumsum", "CumSum"},
    {"Deconvolution", "ConvTranspose Conv2DBackpropInput"},
    {"DepthwiseConv2D", "Conv DepthwiseConv2dNative"},
    {"Div", "RealDiv"},
    {"Elu", ""},
    {"Equal", ""},
    {"Erf", ""},
    {"Exp", ""},
    {"Expand", "BroadcastTo"},
    {"Expm1", ""},
    {"Floor", ""},
    {"FullyConnection", "Gemm MatMul"},
    {"GEMM", "Gemm MatMul"},
    {"Gather", "GatherV2"},
    {"Gelu", "Erf"},
    {"Greater", ""},
    {"GroupNorm", "GroupNormalization"},
    {"HardSwish", ""},
    {"HardSigmoid", ""},
    {"InstanceNorm", "InstanceNormalization"},
    {"L2Normalize", "LpNormalization"},
    {"LayerNorm", "LayerNormalization"},
    {"LeakyRelu", ""},
    {"Less", ""},
    {"Log", ""},
    {"Log1p", ""},
    {"LogSoftmax", ""},
    {"LpNorm", "ReduceL1 ReduceL2"},
    {"LRN", ""},
    {"MatMul", "Gemm"},
    {"MaxPool", ""},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Mul", ""},
    {"Neg", ""},
    {"PRelu", "PRelu"},
    {"Pad", "PadV2 MirrorPad"},
    {"Pooling", "MaxPool AveragePool AvgPool GlobalAveragePool GlobalMaxPool"},
    {"Pow", ""},
    {"Power", "Pow"},
    {"RealDiv", "Div"},
    {"Reciprocal", ""},
    {"ReduceLogSumExp", ""},
    {"ReduceMax", "Max"},
    {"ReduceMean", "Mean GlobalAveragePool"},
    {"ReduceMin", "Min"},
    {"ReduceProd", "Prod"},
    {"ReduceSum", "Sum"},
    {"ReduceSumSquare", ""},
    {"Relu", ""},
    {"Relu6", "Clip"},
    {"Reshape", ""},
    {"ResizeBilinear", "Resize"},
    {"ResizeNearestNeighbor", "Resize"},
    {"Round", ""},
    {"Rsqrt", ""},
    {"Select", "Where SelectV2"},
    {"Selu", ""},
    {"Sigmoid", ""},
    {"Sin", ""},
    {"Sinh", ""},
    {"Slice", "StridedSlice"},
    {"Softmax", ""},
    {"SoftmaxCrossEntropy", ""},
    {"Softplus", ""},
    {"Softsign", ""},
    {"Split", "SplitV"},
    {"Sqrt", ""},
    {"Square", ""},
    {"SquareSum", "ReduceSumSquare"},
    {"SquaredDifference", ""},
    {"Sub", ""},
    {"Swish", "Sigmoid"},
    {"Tan", ""},
    {"Tanh", ""},
    {"Tile", ""},
    {"TopK", "TopKV2"},
    {"Transpose", ""},
    {"Upsample", "Resize"},
    {"Xlogy", ""},
};

/// Returns the name of an operator without the letters that tell its variants apart.
StringRef baseName(StringRef type) {
  StringRef name = type;
  if (name.size() > 2 && isDigit(name.back()) && name[name.size() - 2] == 'V')
    name = name.drop_back(2);
  // MatMul and Conv2D end in capitals of their own.
  if (name.size() > 2 && name.back() == 'D' && !isDigit(name[name.size() - 2]))
    name = name.drop_back(1);
  return name;
}

const Row *findRow(StringRef asked) {
  for (StringRef name : {asked, baseName(asked)})
    for (const Row &row : rows)
      if (row.ascend == name)
        return &row;
  return nullptr;
}

bool isListed(StringRef types, StringRef type) { return is_contained(split(types, ' '), type); }

} // namespace

bool isOperatorType(StringRef asked, StringRef type) {
  if (asked == type || baseName(asked) == baseName(type))
    return true;
  const Row *row = findRow(asked);
  return row && isListed(row->types, type);
}

bool isAscendType(StringRef asked) { return findRow(asked) != nullptr; }

bool isContractionType(StringRef type) {
  return isListed("Conv ConvTranspose Gemm MatMul Conv2D Conv3D DepthwiseConv2dNative "
                  "Conv2DBackpropInput BatchMatMul BatchMatMulV2 conv conv_transpose matmul "
                  "fully_connected",
                  type);
}

bool isSensitiveType(StringRef type) {
  return isListed("CumSum Cumsum Div Exp Expm1 GroupNormalization InstanceNormalization LRN "
                  "LayerNormalization Log Log1p LogSoftmax LpNormalization Mean "
                  "MeanVarianceNormalization Pow Prod RealDiv Reciprocal ReduceL1 ReduceL2 "
                  "ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd ReduceSum ReduceSumSquare "
                  "Rsqrt Softmax Softplus Sqrt Square SquaredDifference Sum exp log log_softmax "
                  "pow reciprocal reduce rsqrt softmax softplus sqrt div",
                  type);
}

} // namespace atc
