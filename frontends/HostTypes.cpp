//===-- HostTypes.cpp - types of host calls on dynamic shapes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/HostTypes.h"

#include "frontends/Tensors.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc {

namespace {

bool isDynamic(Value value) {
  auto tensor = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return tensor && !tensor.hasStaticShape();
}

/// The number of elements of a vector of known length; nothing otherwise.
std::optional<int64_t> lengthOf(Value vector) {
  auto type = vector ? dyn_cast<RankedTensorType>(vector.getType()) : RankedTensorType();
  if (!type || type.getRank() != 1 || type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

/// The rank of the result where an input that is not known states its dims.
std::optional<int64_t> statedRank(const graph::HostCall &call) {
  static const llvm::StringSet<> keepsRank = {"Slice", "Pad",    "Tile",      "Resize",
                                              "DFT",   "Concat", "Transpose", "Cast"};
  if (call.kernel == "Range")
    return 1;
  if (call.kernel == "NonZero")
    return 2;
  if (call.inputs.empty() || !call.inputs[0])
    return std::nullopt;
  if (call.kernel == "ConstantOfShape")
    return lengthOf(call.inputs[0]);
  if (call.kernel == "Reshape" && call.inputs.size() > 1)
    return lengthOf(call.inputs[1]);
  auto type = dyn_cast<RankedTensorType>(call.inputs[0].getType());
  if (!type)
    return std::nullopt;
  if (call.kernel == "Expand" && call.inputs.size() > 1)
    if (std::optional<int64_t> length = lengthOf(call.inputs[1]))
      return std::max(*length, type.getRank());
  if (keepsRank.contains(call.kernel))
    return type.getRank();
  if (call.kernel == "Gather" && call.inputs.size() > 1 && type.getRank() > 0)
    if (auto indices = dyn_cast<RankedTensorType>(call.inputs[1].getType()))
      return type.getRank() - 1 + indices.getRank();
  return std::nullopt;
}

/// Whether the rank of the result follows from a dim that is not known: the length of the tuples of
/// GatherND. Probes would find the rank for the only size that is a valid length.
bool hasOpenRank(const graph::HostCall &call) {
  if (call.kernel != "GatherND" || call.inputs.size() < 2 || !call.inputs[1])
    return false;
  auto tuples = dyn_cast<RankedTensorType>(call.inputs[1].getType());
  return tuples && tuples.getRank() > 0 && tuples.isDynamicDim(tuples.getRank() - 1);
}

/// Whether the inputs of a kernel are broadcast to its result.
bool broadcasts(StringRef kernel) {
  static const llvm::StringSet<> kernels = {
      "Add",   "And",           "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div",
      "Equal", "Greater",       "Less",     "Max",        "Mean",      "Min",        "Mod",
      "Mul",   "LessOrEqual",   "Or",       "Pow",        "Sub",       "Sum",        "Where",
      "Xor",   "GreaterOrEqual"};
  return kernels.contains(kernel);
}

/// Returns the type of a result that inputs are broadcast to, with the dims that one of them has:
/// no probe shows those beside a dim that is not known, which is as large or 1.
Type withBroadcastDims(const graph::HostCall &call, Type type) {
  auto result = dyn_cast<RankedTensorType>(type);
  if (!result || result.hasStaticShape() || !broadcasts(call.kernel))
    return type;
  SmallVector<int64_t> dims(result.getShape());
  for (Value input : call.inputs) {
    auto operand = input ? dyn_cast<RankedTensorType>(input.getType()) : RankedTensorType();
    if (!operand || operand.getRank() > result.getRank())
      return type;
    const int64_t missing = result.getRank() - operand.getRank();
    for (auto [axis, dim] : llvm::enumerate(operand.getShape()))
      if (int64_t &known = dims[missing + axis]; ShapedType::isDynamic(known) && dim != 1)
        known = dim;
  }
  return result.clone(dims);
}

/// The maximum number of bytes that a probe takes. Its sizes are not the model's: a few dynamic
/// dims of the largest probed size are gigabytes, which a kernel would clear for items of a
/// sequence.
constexpr uint64_t kMaxProbeBytes = uint64_t(64) << 20;

} // namespace

FailureOr<SmallVector<Type>> probeHostCall(const graph::HostCall &call, MLIRContext *context,
                                           std::string &error) {
  FailureOr<SmallVector<Type>> types = graph::inferHostCall(call, context, error);
  if (failed(types))
    return failure();
  if (llvm::any_of(call.inputs, isDynamic) && !hasOpenRank(call)) {
    // 1 is what broadcasts and what clamps show themselves at; the others are no
    // multiples of each other, but of the block sizes that models have.
    SmallVector<Type> joined;
    unsigned answers = 0;
    for (int64_t size : {1, 192, 320}) {
      Block block;
      graph::HostCall probe = call;
      for (Value &input : probe.inputs)
        if (isDynamic(input)) {
          auto type = cast<RankedTensorType>(input.getType());
          SmallVector<int64_t> shape(type.getShape());
          llvm::replace(shape, ShapedType::kDynamic, size);
          input = block.addArgument(RankedTensorType::get(shape, type.getElementType()),
                                    UnknownLoc::get(context));
        }
      std::string ignored;
      FailureOr<SmallVector<Type>> answer =
          graph::inferHostCall(probe, context, ignored, kMaxProbeBytes);
      if (failed(answer))
        continue;
      if (answers++ == 0) {
        joined = *answer;
        continue;
      }
      for (auto [type, other] : llvm::zip_equal(joined, *answer))
        if (Type both = graph::joinTypes(type, other))
          type = both;
    }
    // A single result says nothing about other sizes.
    for (Type &type : joined)
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && answers == 1)
        type = RankedTensorType::get(SmallVector<int64_t>(tensor.getRank(), ShapedType::kDynamic),
                                     tensor.getElementType());
    if (answers > 0)
      types = joined;
    if (types->size() == 1)
      types->front() = withBroadcastDims(call, types->front());
  }
  auto result = types->empty() ? TensorType() : dyn_cast<TensorType>(types->front());
  if (result && !result.hasRank())
    if (std::optional<int64_t> rank = statedRank(call)) {
      if (*rank > maxRank) {
        error = "its result has " + std::to_string(*rank) + " dims, more than the " +
                std::to_string(maxRank) + " that are supported";
        return failure();
      }
      types->front() = RankedTensorType::get(SmallVector<int64_t>(*rank, ShapedType::kDynamic),
                                             result.getElementType());
    }
  return types;
}

} // namespace atc
