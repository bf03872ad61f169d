//===-- CallRanks.cpp - ranks of values in dynamic schedules --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallRanks.h"

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/cpu/calls/CallEquation.h"
#include "passes/host/Passes.h"
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

bool isLarge(Value weights, int64_t maxProducts) {
  constexpr int64_t few = 16;
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  return type && type.hasStaticShape() && type.getNumElements() > maxProducts / few;
}

bool hasText(graph::HostCallOp call, StringRef name, StringRef otherwise, StringRef wanted) {
  auto text = dyn_cast_or_null<StringAttr>(call.getParameters().get(name));
  return (text ? text.getValue() : otherwise) == wanted;
}

CallRanks::CallRanks(func::FuncOp main) {
  main.walk([&](graph::HostCallOp call) {
    for (Value result : call.getResults())
      of(result);
    if (std::optional<int64_t> length = inferLength(call))
      lengths[call.getResult(0)] = *length;
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
  } else if (auto loop = value.getDefiningOp<func::CallOp>()) {
    // A loop over rows changes their width only.
    auto tiles = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(loop, loop.getCalleeAttr());
    if (tiles && tiles->hasAttr(host::kRowsAttr) && loop.getNumOperands() == 1)
      rank = of(loop.getOperand(0));
  }
  // A shape of a million dims is an operand like any other; the call fails when it runs.
  if (rank && (*rank < 0 || *rank > int64_t(host::kMaxRank)))
    rank = std::nullopt;
  known[value] = rank;
  return rank;
}

std::optional<int64_t> CallRanks::lengthOf(Value vector) const {
  if (!vector)
    return std::nullopt;
  if (auto type = dyn_cast<RankedTensorType>(vector.getType());
      type && type.getRank() <= 1 && type.hasStaticShape())
    return type.getNumElements();
  auto found = lengths.find(vector);
  return found == lengths.end() ? std::nullopt : std::optional(found->second);
}

/// Returns `index` of a vector of `length` elements as Slice and Shape read it: from the end if it
/// is negative, and inside of [0, length].
static int64_t clampIndex(int64_t index, int64_t length) {
  if (index < 0)
    index = index < -length ? 0 : index + length;
  return std::min(index, length);
}

/// Returns the number of elements that a Slice with steps of 1 takes from a vector of `length`.
static std::optional<int64_t> lengthOfSlice(ArrayRef<Value> inputs, int64_t length) {
  if (inputs.size() < 3)
    return std::nullopt;
  auto only = [&](size_t i) -> std::optional<int64_t> {
    auto elements = constantIntegers(inputs[i]);
    return elements && elements->size() == 1 ? std::optional(elements->front()) : std::nullopt;
  };
  for (size_t i = 4; i < inputs.size(); ++i)
    if (inputs[i] && only(i) != 1)
      return std::nullopt;
  const auto first = only(1), end = only(2);
  if (!first || !end)
    return std::nullopt;
  return std::max<int64_t>(clampIndex(*end, length) - clampIndex(*first, length), 0);
}

std::optional<int64_t> CallRanks::inferLength(graph::HostCallOp call) {
  const SmallVector<Value> inputs = call.inputsByPosition();
  const StringRef kernel = call.getKernel();
  const std::optional<int64_t> rank =
      call->getNumResults() == 1 ? of(call.getResult(0)) : std::nullopt;
  if (inputs.empty() || !rank || *rank > 1)
    return std::nullopt;
  if (*rank == 0)
    return 1;
  if (kernel == "Shape") {
    const std::optional<int64_t> dims = of(inputs[0]);
    if (!dims)
      return std::nullopt;
    const int64_t first = clampIndex(host::integerOf(call, "start", 0), *dims);
    return std::max<int64_t>(clampIndex(host::integerOf(call, "end", *dims), *dims) - first, 0);
  }
  const std::optional<int64_t> length = lengthOf(inputs[0]);
  if (kernel == "Cast" || kernel == "Identity" || kernel == "Unsqueeze")
    return length;
  if (kernel == "Slice")
    return length ? lengthOfSlice(inputs, *length) : std::nullopt;
  if (kernel == "Gather" && inputs.size() > 1 && of(inputs[0]) == 1)
    return lengthOf(inputs[1]);
  if (kernel == "Concat" || kernel == "Map") {
    int64_t sum = 0, max = 0;
    for (Value input : inputs) {
      const std::optional<int64_t> each = lengthOf(input);
      if (!each)
        return std::nullopt;
      sum += *each;
      max = std::max(max, *each);
    }
    return kernel == "Concat" ? sum : max;
  }
  return std::nullopt;
}

/// Returns whether the result of a kernel has the rank of its first input.
static bool keepsRank(StringRef kernel) {
  // clang-format off
  static const llvm::StringSet<> kernels = {
      "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat", "Conv", "ConvInteger",
      "ConvTranspose", "CumSum", "DepthToSpace", "DequantizeLinear", "Dropout", "DynamicQuantizeLinear",
      "GlobalAveragePool", "GlobalMaxPool", "GridSample", "GroupNormalization", "Hardmax",
      "Identity", "InstanceNormalization", "LRN", "LayerNormalization", "LogSoftmax",
      "LpNormalization", "MaxPool", "MaxUnpool", "Pad", "QLinearAveragePool", "QLinearConv",
      "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax",
      "QuantizeLinear", "RMSNormalization",
      "Resize", "ReverseSequence", "RoiAlign", "ScatterElements", "ScatterND", "Slice", "Softmax",
      "SpaceToDepth", "Split", "Tile", "TopK", "Transpose", "Trilu", "Upsample"};
  // clang-format on
  return kernels.contains(kernel);
}

std::optional<int64_t> CallRanks::rankOfMove(graph::HostCallOp call, ArrayRef<Value> inputs,
                                             std::optional<int64_t> first) const {
  const StringRef kernel = call.getKernel();
  const std::optional<int64_t> length =
      inputs.size() > 1 ? lengthOf(inputs[1]) : std::optional<int64_t>();
  if (kernel == "Reshape")
    return length;
  if (kernel == "Compress")
    return call.getParameters().get("axis") ? first : 1;
  if (!first)
    return std::nullopt;
  if (kernel == "OneHot")
    return *first + 1;
  if (kernel == "GatherND" && inputs.size() > 1)
    if (auto tuples = dyn_cast<RankedTensorType>(inputs[1].getType());
        tuples && tuples.getRank() > 0 && !tuples.isDynamicDim(tuples.getRank() - 1))
      return *first + tuples.getRank() - 1 - host::integerOf(call, "batch_dims", 0) -
             tuples.getDimSize(tuples.getRank() - 1);
  if (!length)
    return std::nullopt;
  if (kernel == "Unsqueeze")
    return *first + *length;
  if (kernel == "Squeeze")
    return *first - *length;
  if (kernel == "Expand")
    return std::max(*first, *length);
  return std::nullopt;
}

std::optional<int64_t> CallRanks::rankOfReduction(graph::HostCallOp call, ArrayRef<Value> inputs,
                                                  int64_t first) const {
  const StringRef kernel = call.getKernel();
  const bool isArg = kernel == "ArgMax" || kernel == "ArgMin";
  if (!isArg && !kernel.starts_with("Reduce"))
    return std::nullopt;
  if (host::integerOf(call, "keepdims", 1) != 0)
    return first;
  if (isArg)
    return first - 1;
  if (inputs.size() > 1 && inputs[1])
    if (std::optional<int64_t> removed = lengthOf(inputs[1]); removed && *removed > 0)
      return first - *removed;
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> CallRanks::ranksOf(ArrayRef<Value> values) {
  SmallVector<int64_t> ranks;
  for (Value value : values) {
    const std::optional<int64_t> rank = of(value);
    if (!rank)
      return std::nullopt;
    ranks.push_back(*rank);
  }
  return ranks;
}

std::optional<int64_t> CallRanks::infer(graph::HostCallOp call) {
  const SmallVector<Value> inputs = call.inputsByPosition();
  const StringRef kernel = call.getKernel();
  const std::optional<int64_t> first = inputs.empty() ? std::nullopt : of(inputs[0]);
  if (keepsRank(kernel))
    return first;
  if (kernel == "Flatten" || kernel == "EyeLike" || kernel == "Gemm" || kernel == "QGemm")
    return 2;
  // Images in blocks of 16 channels have a dim for these.
  constexpr int64_t blocked = 5;
  if (kernel == "BlockChannels" || kernel == "BlockedDepthwiseConv" || kernel == "BlockedConv" ||
      kernel == "WinogradConv") {
    const bool adds = inputs.size() > 3 && inputs[3];
    return !adds || of(inputs[3]) == blocked ? std::optional(blocked) : std::nullopt;
  }
  if (kernel == "UnblockChannels" && host::integerOf(call, "last", 0) == 0)
    return blocked - 1;
  if (kernel == "Range" || kernel == "Shape")
    return 1;
  if (kernel == "ConstantOfShape" && !inputs.empty())
    return lengthOf(inputs[0]);
  if (kernel == "NegativeLogLikelihoodLoss" || kernel == "SoftmaxCrossEntropyLoss") {
    if (!hasText(call, "reduction", "mean", "none"))
      return 0;
    return first ? std::optional(*first - 1) : std::nullopt;
  }
  if (kernel == "Map") {
    const auto ranks = ranksOf(inputs);
    return ranks ? std::optional(ranks->empty() ? 0 : *llvm::max_element(*ranks)) : std::nullopt;
  }
  if ((kernel == "QLinearAdd" || kernel == "QLinearMul") && first && inputs.size() > 3)
    if (std::optional<int64_t> other = of(inputs[3]))
      return std::max(*first, *other);
  if (kernel == "QLinearConcat" && inputs.size() > 2)
    return of(inputs[2]);
  if (auto text = dyn_cast_or_null<StringAttr>(call.getParameters().get("equation"));
      text && kernel == "Einsum") {
    const auto ranks = ranksOf(inputs);
    if (!ranks)
      return std::nullopt;
    if (std::optional<Equation> equation = Equation::read(text.getValue(), *ranks))
      return equation->output.size();
  }
  if (std::optional<int64_t> rank = rankOfMove(call, inputs, first))
    return rank;
  if (std::optional<int64_t> rank = first ? rankOfReduction(call, inputs, *first) : std::nullopt)
    return rank;
  const std::optional<int64_t> second =
      inputs.size() > 1 ? of(inputs[1]) : std::optional<int64_t>();
  if (kernel == "GatherElements")
    return second;
  if (first && second && kernel == "Gather")
    return *first + *second - 1;
  if (first && second && kernel == "MatMul" && *first >= 2 && *second >= 2)
    return std::max(*first, *second);
  return std::nullopt;
}

} // namespace atc::cpu
