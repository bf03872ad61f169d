//===-- WidenFloats.cpp - host programs with small floats computed in f32 -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "runtime-lite/abi/SmallFloats.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTWIDENFLOATS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

bool isSmallFloat(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
}
bool isSmallFloat(Value value) { return isSmallFloat(value.getType()); }

enum class Kind {
  Computes,
  Moves, ///< elements of its operands are those of its results, or it reads their dims only
  Keeps  ///< its types mean something, or are not those of tensors
};

Kind kindOf(HostCallOp call) {
  if (graph::isRandomKernel(call.getKernel()))
    return Kind::Keeps;
  return llvm::StringSwitch<Kind>(call.getKernel())
      .Cases({"Cast", "CastLike", "BitCast", "DequantizeLinear", "DynamicQuantizeLinear",
              "QuantizeLinear", "IsInf", "IsNaN"},
             Kind::Keeps)
      .Cases({"Optional", "OptionalGetElement", "OptionalHasElement", "SequenceAt",
              "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
              "SequenceLength", "SplitToSequence", "ConcatFromSequence"},
             Kind::Keeps)
      .Cases({"Compress",        "Concat",         "DepthToSpace", "Expand",    "Flatten",
              "Gather",          "GatherElements", "GatherND",     "Identity",  "Reshape",
              "ReverseSequence", "Shape",          "Size",         "Slice",     "SpaceToDepth",
              "Split",           "Squeeze",        "Tile",         "Transpose", "Unsqueeze"},
             Kind::Moves)
      .Default(Kind::Computes);
}

/// Returns whether a call sums up products of small floats: these are worth f32, which holds them
/// exactly.
bool isContraction(HostCallOp call) {
  const bool contracts =
      llvm::StringSwitch<bool>(call.getKernel())
          .Cases({"BlockedConv", "BlockedDepthwiseConv", "CausalConvWithState", "Conv",
                  "ConvTranspose", "DeformConv", "FusedConv", "MsCausalConvWithState",
                  "WinogradConv"},
                 true)
          .Cases({"Einsum", "FusedGemm", "FusedMatMul", "Gemm", "MatMul", "MatMulNBits",
                  "PackedMatMul", "TransposeMatMul"},
                 true)
          .Cases({"Attention", "GroupQueryAttention", "KvAttention", "LinearAttention",
                  "MsAttention", "MsLinearAttention", "MultiHeadAttention"},
                 true)
          .Cases({"GRU", "LSTM", "RNN"}, true)
          .Default(false);
  return contracts && llvm::any_of(call.getInputs(), [](Value v) { return isSmallFloat(v); });
}

/// Widens the calls of a function, in their order.
class Widener {
public:
  explicit Widener(func::FuncOp function)
      : context(function.getContext()), f32(Float32Type::get(context)) {}

  void run(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block)) {
        auto call = dyn_cast<HostCallOp>(op);
        if (!call || !widen(call))
          for (OpOperand &operand : op.getOpOperands())
            operand.set(asBefore(operand.get()));
        for (Region &inner : op.getRegions())
          run(inner);
      }
  }

  unsigned numWidened = 0;

private:
  /// Returns whether a value had small floats and is computed in f32 now.
  bool isWidened(Value value) const { return narrowTypes.contains(value); }

  /// Widens a call; returns whether it is done with, so that its operands are as they should be.
  bool widen(HostCallOp call) {
    if (call.getKernel() == "Cast" && widenCast(call))
      return true;
    follow(call);
    const Kind kind = kindOf(call);
    if (kind == Kind::Keeps)
      return false;
    auto isSmall = [&](Value value) { return isSmallFloat(value) || isWidened(value); };
    if (llvm::none_of(call.getInputs(), isSmall))
      return false;
    if (kind == Kind::Moves &&
        llvm::none_of(call.getInputs(), [&](Value value) { return isWidened(value); }))
      return false;
    const bool hasPackedWeights = call.getKernel() == "PackedMatMul";
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(call.getInputs()))
      operands.push_back(hasPackedWeights && i == 1 ? operand : asWide(operand));
    const std::optional<SmallVector<Type>> types = typesWith(call, operands);
    if (!types)
      return false;
    call.getInputsMutable().assign(operands);
    for (auto [result, type] : llvm::zip_equal(call.getResults(), *types))
      if (result.getType() != type) {
        narrowTypes[result] = result.getType();
        result.setType(type);
      }
    ++numWidened;
    return true;
  }

  /// Widens a cast that leaves its value in f32; returns whether it is one. What went from f16 to
  /// f32 and comes back is not rounded on its way.
  bool widenCast(HostCallOp call) {
    if (!hasInputs(call, 1))
      return false;
    Value value = call.getInputs()[0], result = call.getResult(0);
    if (isF32(result)) {
      // A cast of what is computed in f32 changes nothing any more.
      const bool isFromSmall = isWidened(value) || isSmallFloat(value);
      if (isFromSmall)
        fromSmall.insert(result);
      return isFromSmall;
    }
    const bool isSame = isWidened(value) && elementOf(narrowTypes[value]) == elementOf(result);
    if (!isSmallFloat(result) || !(isSame || fromSmall.contains(value)))
      return false;
    NamedAttrList parameters(call.getParameters());
    OpBuilder builder(context);
    parameters.set("to", builder.getDenseI64ArrayAttr(graph::dtypeOf(f32)));
    call.setParametersAttr(parameters.getDictionary(context));
    narrowTypes[result] = result.getType();
    result.setType(withElement(result.getType(), f32));
    ++numWidened;
    return true;
  }

  static Type elementOf(Type type) { return cast<TensorType>(type).getElementType(); }
  static Type elementOf(Value value) { return elementOf(value.getType()); }

  /// Notes results in f32 that follow from small floats and constants alone.
  void follow(HostCallOp call) {
    const bool follows = llvm::all_of(call.getInputs(), [&](Value value) {
      return !isF32(value) || fromSmall.contains(value) || graph::getConstant(value);
    });
    if (follows && llvm::any_of(call.getInputs(), [&](Value v) { return fromSmall.contains(v); }))
      fromSmall.insert(call.result_begin(), call.result_end());
  }

  /// Returns the types of the results of a call with these operands; nothing where they differ from
  /// before by more than f32 in place of small floats.
  std::optional<SmallVector<Type>> typesWith(HostCallOp call, ArrayRef<Value> operands) {
    SmallVector<Value> inputs(call.inputsByPosition());
    size_t next = 0;
    for (Value &input : inputs)
      if (input)
        input = operands[next++];
    std::string error;
    FailureOr<SmallVector<Type>> inferred = graph::inferHostCallByRules(
        {call.getKernel(), inputs, call.getParameters(), call.getNumResults()}, context, error);
    if (failed(inferred) || inferred->size() != call.getNumResults())
      return std::nullopt;
    SmallVector<Type> types;
    for (auto [result, type] : llvm::zip_equal(call.getResults(), *inferred)) {
      auto before = dyn_cast<TensorType>(result.getType()), after = dyn_cast<TensorType>(type);
      if (!before || !after)
        return std::nullopt;
      const bool isWide = isSmallFloat(before) && after.getElementType() == f32;
      if (!isWide && before.getElementType() != after.getElementType())
        return std::nullopt;
      types.push_back(withElement(before, after.getElementType()));
    }
    return types;
  }

  Value asWide(Value value) {
    if (!isSmallFloat(value))
      return value;
    Value &made = wide[value];
    if (!made)
      made = convert(value, f32);
    return made;
  }

  /// Returns `value` in the type that it had.
  Value asBefore(Value value) {
    auto found = narrowTypes.find(value);
    if (found == narrowTypes.end())
      return value;
    Value &made = narrow[value];
    if (!made)
      made = convert(value, cast<TensorType>(found->second).getElementType());
    return made;
  }

  Value convert(Value value, Type element) {
    OpBuilder builder(context);
    builder.setInsertionPointAfterValue(value);
    const Location loc = graph::derivedLoc(value.getLoc(), "cast");
    if (ElementsAttr constant = graph::getConstant(value))
      if (ElementsAttr widened = widenConstant(constant))
        return graph::ConstantOp::create(builder, loc, widened);
    auto to = builder.getNamedAttr("to", builder.getDenseI64ArrayAttr(graph::dtypeOf(element)));
    return makeCall(builder, loc, "Cast", {value}, withElement(value.getType(), element),
                    builder.getDictionaryAttr(to))
        .getResult(0);
  }

  /// Returns a constant of small floats in f32; null where its data cannot be read.
  ElementsAttr widenConstant(ElementsAttr constant) {
    auto data = graph::ConstantBytes::get(constant);
    auto type = dyn_cast<RankedTensorType>(constant.getShapedType());
    if (failed(data) || !type)
      return {};
    const bool isHalf = type.getElementType().isF16();
    const auto values = llvm::map_to_vector(data->expandedAs<uint16_t>(), [&](uint16_t bits) {
      return isHalf ? halfToFloat(bits) : bf16ToFloat(bits);
    });
    return graph::makeConstant(type.clone(f32), ArrayRef<float>(values), "wide");
  }

  MLIRContext *context;
  FloatType f32;
  DenseMap<Value, Type> narrowTypes; ///< of values that are computed in f32 now
  DenseSet<Value> fromSmall;         ///< values of f32 in the model that were small floats before
  DenseMap<Value, Value> wide, narrow;
};

struct HostWidenFloats : impl::HostWidenFloatsBase<HostWidenFloats> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // As graph-widen-floats: the formulas of other models keep the rounding of each step.
    const WalkResult found = getOperation().walk([](HostCallOp call) {
      return isContraction(call) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return;
    Widener widener(getOperation());
    widener.run(getOperation().getBody());
    numWidened += widener.numWidened;
  }
};

} // namespace
} // namespace atc::host
