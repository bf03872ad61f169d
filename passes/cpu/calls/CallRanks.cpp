//===-- CallRanks.cpp - ranks of values in dynamic schedules --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallRanks.h"

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/cpu/calls/CallEquation.h"
#include "passes/host/QuantizedCalls.h"
#include "runtime-lite/abi/HostKernel.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::cpu {

std::optional<SmallVector<int64_t>> constantIntegers(Value value) {
  auto constant = value ? value.getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!dense)
    return std::nullopt;
  return llvm::map_to_vector(dense.getValues<APInt>(),
                             [](const APInt &element) { return element.getSExtValue(); });
}

std::optional<SmallVector<int64_t>> integersOf(graph::HostCallOp call, StringRef name) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(call.getParameters().get(name));
  return list ? std::optional(SmallVector<int64_t>(list.asArrayRef())) : std::nullopt;
}

std::optional<int64_t> axisOf(graph::HostCallOp call, int64_t otherwise, int64_t rank) {
  const int64_t axis = host::integerOf(call, "axis", otherwise);
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

bool isLarge(Value weights, int64_t mostProducts) {
  constexpr int64_t few = 16;
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  return type && type.hasStaticShape() && type.getNumElements() > mostProducts / few;
}

bool hasText(graph::HostCallOp call, StringRef name, StringRef otherwise, StringRef wanted) {
  auto text = dyn_cast_or_null<StringAttr>(call.getParameters().get(name));
  return (text ? text.getValue() : otherwise) == wanted;
}

CallRanks::CallRanks(func::FuncOp main) {
  main.walk([&](graph::HostCallOp call) {
    for (Value result : call.getResults())
      of(result);
  });
}

std::optional<int64_t> CallRanks::of(Value value) {
  if (!value)
    return std::nullopt;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type.getRank();
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<int64_t> rank;
  if (auto call = value.getDefiningOp<graph::HostCallOp>()) {
    static const llvm::StringSet<> areLikeInput = {"LayerNormalization", "MaxPool",
                                                   "SoftmaxCrossEntropyLoss", "Split", "TopK"};
    const SmallVector<Value> inputs = call.inputsByPosition();
    if (value == call.getResult(0))
      rank = infer(call);
    else if (areLikeInput.contains(call.getKernel()) && !inputs.empty())
      rank = of(inputs[0]);
    else if (call.getKernel() == "DynamicQuantizeLinear")
      rank = 0;
  }
  // A shape of a million dims is an operand like any other; the call fails when it runs.
  if (rank && (*rank < 0 || *rank > int64_t(host::kMaxRank)))
    rank = std::nullopt;
  known[value] = rank;
  return rank;
}

/// Returns the number of elements of a vector of known length.
static std::optional<int64_t> lengthOf(Value vector) {
  auto type = vector ? dyn_cast<RankedTensorType>(vector.getType()) : RankedTensorType();
  if (!type || type.getRank() != 1 || type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

std::optional<int64_t> CallRanks::infer(graph::HostCallOp call) {
  static const llvm::StringSet<> keepsRank = {"BatchNormalization",
                                              "Cast",
                                              "Clip",
                                              "Concat",
                                              "Conv",
                                              "ConvInteger",
                                              "ConvTranspose",
                                              "CumSum",
                                              "DequantizeLinear",
                                              "Dropout",
                                              "DynamicQuantizeLinear",
                                              "GridSample",
                                              "Hardmax",
                                              "Identity",
                                              "InstanceNormalization",
                                              "LRN",
                                              "LayerNormalization",
                                              "LogSoftmax",
                                              "MaxPool",
                                              "MaxUnpool",
                                              "AveragePool",
                                              "Pad",
                                              "QLinearAveragePool",
                                              "QLinearConv",
                                              "QLinearGlobalAveragePool",
                                              "QLinearLeakyRelu",
                                              "QLinearSigmoid",
                                              "QLinearSoftmax",
                                              "QuantizeLinear",
                                              "Resize",
                                              "ReverseSequence",
                                              "RoiAlign",
                                              "Slice",
                                              "Softmax",
                                              "Split",
                                              "Tile",
                                              "TopK",
                                              "Transpose",
                                              "Trilu",
                                              "Upsample",
                                              "GlobalAveragePool",
                                              "GlobalMaxPool",
                                              "RMSNormalization",
                                              "DepthToSpace",
                                              "ScatterElements",
                                              "ScatterND",
                                              "SpaceToDepth",
                                              "LpNormalization",
                                              "GroupNormalization"};
  const SmallVector<Value> inputs = call.inputsByPosition();
  const StringRef kernel = call.getKernel();
  const std::optional<int64_t> first = inputs.empty() ? std::nullopt : of(inputs[0]);
  if (keepsRank.contains(kernel))
    return first;
  if (kernel == "Map") {
    int64_t rank = 0;
    for (Value input : inputs) {
      const std::optional<int64_t> own = of(input);
      if (!own)
        return std::nullopt;
      rank = std::max(rank, *own);
    }
    return rank;
  }
  if (kernel == "Reshape" && inputs.size() > 1)
    return lengthOf(inputs[1]);
  if (kernel == "Flatten" || kernel == "EyeLike")
    return 2;
  if (kernel == "Range")
    return 1;
  if (kernel == "Compress")
    return call.getParameters().get("axis") ? first : 1;
  if (kernel == "Unsqueeze" && first && inputs.size() > 1)
    if (std::optional<int64_t> added = lengthOf(inputs[1]))
      return *first + *added;
  if (kernel == "Squeeze" && first && inputs.size() > 1)
    if (std::optional<int64_t> removed = lengthOf(inputs[1]))
      return *first - *removed;
  if (kernel == "Gather" && first && inputs.size() > 1)
    if (std::optional<int64_t> rank = of(inputs[1]))
      return *first + *rank - 1;
  if (kernel.starts_with("Reduce") && first) {
    if (host::integerOf(call, "keepdims", 1) != 0)
      return first;
    if (inputs.size() > 1 && inputs[1])
      if (std::optional<int64_t> removed = lengthOf(inputs[1]); removed && *removed > 0)
        return *first - *removed;
  }
  if ((kernel == "ArgMax" || kernel == "ArgMin") && first)
    return host::integerOf(call, "keepdims", 1) != 0 ? *first : *first - 1;
  if (kernel == "MatMul" && first && inputs.size() > 1)
    if (std::optional<int64_t> rank = of(inputs[1]); rank && *first >= 2 && *rank >= 2)
      return std::max(*first, *rank);
  if ((kernel == "QLinearAdd" || kernel == "QLinearMul") && first && inputs.size() > 3)
    if (std::optional<int64_t> rank = of(inputs[3]))
      return std::max(*first, *rank);
  if (kernel == "QLinearConcat" && inputs.size() > 2)
    return of(inputs[2]);
  if (kernel == "Gemm" || kernel == "QGemm")
    return 2;
  if (kernel == "GatherND" && first && inputs.size() > 1)
    if (auto tuples = dyn_cast<RankedTensorType>(inputs[1].getType());
        tuples && tuples.getRank() > 0 && !tuples.isDynamicDim(tuples.getRank() - 1))
      return *first + tuples.getRank() - 1 - host::integerOf(call, "batch_dims", 0) -
             tuples.getDimSize(tuples.getRank() - 1);
  if (auto text = dyn_cast_or_null<StringAttr>(call.getParameters().get("equation"));
      text && kernel == "Einsum") {
    SmallVector<int64_t> ranks;
    for (Value input : inputs) {
      const std::optional<int64_t> own = of(input);
      if (!own)
        return std::nullopt;
      ranks.push_back(*own);
    }
    if (std::optional<Equation> equation = Equation::read(text.getValue(), ranks))
      return equation->output.size();
  }
  if (kernel == "OneHot" && first)
    return *first + 1;
  if (kernel == "GatherElements" && inputs.size() > 1)
    return of(inputs[1]);
  if (kernel == "NegativeLogLikelihoodLoss" || kernel == "SoftmaxCrossEntropyLoss") {
    if (!hasText(call, "reduction", "mean", "none"))
      return 0;
    return first ? std::optional(*first - 1) : std::nullopt;
  }
  if (kernel == "Expand" && first && inputs.size() > 1)
    if (std::optional<int64_t> length = lengthOf(inputs[1]))
      return std::max(*first, *length);
  return std::nullopt;
}

} // namespace atc::cpu
