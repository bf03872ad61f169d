//===-- HostCosts.cpp - the work in calls of host kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/HostCosts.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "passes/host/expand/RecurrentCells.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace atc::host {

namespace {

/// The rule by which the number of products of a kernel follows from its shapes.
enum class Products {
  None,
  Convolution,           ///< each output element has a filter without its first dim
  WordConvolution,       ///< the same with blocks of 16 words of four channels
  BlockedConvolution,    ///< each output element has a 16th of a filter block without its first dim
  WinogradConvolution,   ///< as above, but nine elements of it for all positions
  TransposedConvolution, ///< each input element has a filter without its first dim
  Matrix,                ///< each output element has as many as the first factor has columns
  Recurrence,            ///< each step and row has all elements of both weights
  Unknown,               ///< it has products, which no formula here counts
};

struct Formula {
  Products products = Products::None;
  unsigned data = 0, weights = 1; ///< positions of the inputs
};

Formula formulaOf(StringRef kernel) {
  using P = Products;
  return llvm::StringSwitch<Formula>(kernel)
      .Cases({"Conv", "ConvInteger", "FusedConv", "CausalConvWithState", "MsCausalConvWithState"},
             {P::Convolution, 0, 1})
      .Cases({"BlockedConv", "BlockedDepthwiseConv"}, {P::BlockedConvolution, 0, 1})
      .Cases({"BlockedQLinearConv", "BlockedQLinearDepthwiseConv"}, {P::WordConvolution, 0, 1})
      .Case("WinogradConv", {P::WinogradConvolution, 0, 1})
      .Case("QLinearConv", {P::Convolution, 0, 3})
      .Case("DeformConv", {P::Convolution, 0, 1})
      .Case("ConvTranspose", {P::TransposedConvolution, 0, 1})
      .Cases({"MatMul", "MatMulInteger", "Gemm", "FusedGemm", "FusedMatMul"}, {P::Matrix, 0, 1})
      .Cases({"DynamicQuantizeMatMul", "MatMulIntegerToFloat", "TransposeMatMul", "MatMulNBits",
              "PackedMatMul"},
             {P::Matrix, 0, 1})
      .Cases({"QLinearMatMul", "QGemm"}, {P::Matrix, 0, 3})
      .Cases({"LSTM", "GRU", "RNN"}, {P::Recurrence, 0, 1})
      .Cases({"Attention", "Einsum", "GroupQueryAttention", "KvAttention", "LinearAttention",
              "MsAttention", "MsLinearAttention", "MultiHeadAttention", "QAttention",
              "DynamicQuantizeLSTM"},
             {P::Unknown, 0, 1})
      .Default({});
}

RankedTensorType staticType(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

bool isSet(DictionaryAttr parameters, StringRef name) {
  auto number = dyn_cast_or_null<DenseI64ArrayAttr>(parameters.get(name));
  return number && number.size() == 1 && number[0] != 0;
}

} // namespace

std::optional<uint64_t> countMacs(graph::HostCallOp call) {
  const Formula formula = formulaOf(call.getKernel());
  if (formula.products == Products::None)
    return 0;
  const SmallVector<Value> inputs = call.inputsByPosition();
  auto input = [&](unsigned position) {
    return position < inputs.size() ? staticType(inputs[position]) : RankedTensorType();
  };
  // The first result that is used has the shape of the answer, or its rows.
  const RankedTensorType data = input(formula.data), weights = input(formula.weights),
                         result = staticType(call.getOutputs().front());
  switch (formula.products) {
  case Products::Convolution:
    if (!result || !weights || weights.getRank() == 0 || weights.getDimSize(0) == 0)
      return std::nullopt;
    return result.getNumElements() * (weights.getNumElements() / weights.getDimSize(0));
  case Products::BlockedConvolution:
    if (!result || !weights || weights.getRank() == 0 || weights.getNumElements() == 0)
      return std::nullopt;
    return result.getNumElements() *
           (weights.getNumElements() / weights.getDimSize(0) / weights.getShape().back());
  case Products::WordConvolution:
    if (!result || !weights || weights.getRank() == 0 || weights.getNumElements() == 0)
      return std::nullopt;
    return result.getNumElements() * (weights.getNumElements() / weights.getDimSize(0) /
                                      weights.getDimSize(weights.getRank() - 2));
  case Products::WinogradConvolution:
    if (!result || !weights || weights.getRank() != 4)
      return std::nullopt;
    return result.getNumElements() * 9 * weights.getDimSize(2);
  case Products::TransposedConvolution:
    if (!data || !weights || weights.getRank() == 0 || weights.getDimSize(0) == 0)
      return std::nullopt;
    return data.getNumElements() * (weights.getNumElements() / weights.getDimSize(0));
  case Products::Matrix: {
    if (!result || !data || data.getRank() == 0)
      return std::nullopt;
    const bool transposed = isSet(call.getParameters(), "transA") && data.getRank() >= 2;
    return result.getNumElements() * data.getDimSize(data.getRank() - (transposed ? 2 : 1));
  }
  case Products::Recurrence: {
    const RankedTensorType recurrent = input(2);
    if (!data || !weights || !recurrent || data.getRank() != 3 || weights.getRank() != 3 ||
        recurrent.getRank() != 3)
      return std::nullopt;
    // Narrow weights have fewer elements than products.
    const int64_t hidden = recurrent.getDimSize(2);
    return data.getDimSize(0) * data.getDimSize(1) * weights.getDimSize(0) *
           gatesOf(call.getKernel()) * hidden * (data.getDimSize(2) + hidden);
  }
  case Products::None:
  case Products::Unknown:
    break;
  }
  return std::nullopt;
}

uint64_t countBytes(graph::HostCallOp call) {
  uint64_t bytes = 0;
  auto add = [&](Value value) {
    if (RankedTensorType type = staticType(value); type && type.getElementType().isIntOrFloat())
      bytes += type.getNumElements() * graph::getElementBytes(type.getElementType());
  };
  for (Value value : call.getInputs())
    add(value);
  for (Value value : call.getOutputs())
    if (!value.use_empty())
      add(value);
  return bytes;
}

} // namespace atc::host
