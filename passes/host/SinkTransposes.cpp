//===-- SinkTransposes.cpp - images stay in the order of convolutions -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Importers of models with the channels last put a Transpose on both sides of each convolution.
// What stands between two convolutions is moved in front of the first of the two Transposes, which
// cancel then.

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTSINKTRANSPOSES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns whether a call computes each element of its result from one element of each operand.
bool isElementwise(StringRef kernel) {
  static const llvm::StringSet<> kernels = {
      "Abs",        "Add",       "Ceil",     "Clip",    "Cos",  "Div", "Elu",
      "Erf",        "Exp",       "Floor",    "Gelu",    "Log",  "Max", "HardSigmoid",
      "HardSwish",  "LeakyRelu", "Min",      "Mul",     "Neg",  "Pow", "Relu",
      "Reciprocal", "Round",     "Selu",     "Sigmoid", "Sign", "Sin", "Sqrt",
      "Sub",        "Softplus",  "Softsign", "Tanh",    "Mish", "Celu"};
  return kernels.contains(kernel);
}

bool isReduction(StringRef kernel) {
  return llvm::is_contained({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"}, kernel);
}

/// Returns the call that moves the channels of images to the end and makes `value`; null for
/// others.
HostCallOp channelsLast(Value value) {
  HostCallOp call = callOf(value, "Transpose");
  if (!call || !hasInputs(call, 1))
    return {};
  ArrayRef<int64_t> order = integersOf(call, "perm");
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (order.size() < 4 || !type || type.getRank() != int64_t(order.size()))
    return {};
  SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(order.size()));
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  return order == ArrayRef(last) ? call : HostCallOp();
}

/// Returns whether `value` is computed from the result of a convolution or a pool by a few calls
/// that this pass moves. Transposes of other values belong to attention, whose fusions expect them
/// where they are.
bool isImage(Value value, unsigned depth = 8) {
  HostCallOp call = callOf(value);
  if (!call || depth == 0)
    return false;
  const StringRef kernel = call.getKernel();
  if (llvm::is_contained({"Conv", "ConvTranspose", "MaxPool", "AveragePool"}, kernel))
    return true;
  if (kernel == "Concat" || kernel == "Pad" || isElementwise(kernel))
    return llvm::any_of(llvm::seq<size_t>(std::min<size_t>(call.getInputs().size(), 2)),
                        [&](size_t i) { return isImage(call.getInputs()[i], depth - 1); });
  return false;
}

/// Moves a call in front of the Transposes that make its operands.
struct SinkTransposes : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call->getNumResults() != 1)
      return failure();
    const StringRef kernel = call.getKernel();
    if (isElementwise(kernel))
      return sinkElementwise(call, rewriter);
    if (!hasInputs(call, 1))
      return failure();
    HostCallOp transpose = channelsLast(call.getInputs()[0]);
    if (!transpose || !isImage(transpose.getInputs()[0]))
      return rewriter.notifyMatchFailure(call, "the operand is no image with the channels last");
    if (isReduction(kernel))
      return sinkReduction(call, transpose, rewriter);
    if (kernel == "Pad")
      return sinkPad(call, transpose, rewriter);
    return kernel == "Concat" ? sinkConcat(call, transpose, rewriter) : failure();
  }

private:
  /// Replaces `call` by a Transpose of the same call on `inputs`.
  void replace(HostCallOp call, HostCallOp transpose, ArrayRef<Value> inputs,
               DictionaryAttr parameters, PatternRewriter &rewriter) const {
    ArrayRef<int64_t> order = integersOf(transpose, "perm");
    auto type = cast<RankedTensorType>(call.getResult(0).getType());
    SmallVector<int64_t> dims(order.size());
    for (auto [axis, from] : llvm::enumerate(order))
      dims[from] = type.getDimSize(axis);
    HostCallOp inner =
        makeCall(rewriter, graph::derivedLoc(call.getLoc(), "channels_first"), call.getKernel(),
                 inputs, RankedTensorType::get(dims, type.getElementType()), parameters);
    HostCallOp moved = makeCall(rewriter, call.getLoc(), "Transpose", inner.getResult(0), type,
                                transpose.getParameters());
    rewriter.replaceOp(call, moved.getResults());
    ++count;
  }

  static bool hasRankOf(HostCallOp call, HostCallOp transpose) {
    auto type = dyn_cast<RankedTensorType>(call.getResult(0).getType());
    return type && type.getRank() == int64_t(integersOf(transpose, "perm").size());
  }

  /// Returns a constant with at most one dim other than 1, as an operand of a call on images with
  /// the channels first; null for other values.
  static Value constantFor(Value value, ArrayRef<int64_t> order, PatternRewriter &rewriter) {
    ElementsAttr constant = graph::getConstant(value);
    if (!constant)
      return {};
    auto type = cast<RankedTensorType>(constant.getType());
    const int64_t missing = int64_t(order.size()) - type.getRank();
    if (missing < 0)
      return {};
    if (type.getNumElements() == 1)
      return value;
    std::optional<SmallVector<double>> values;
    if (llvm::count_if(type.getShape(), [](int64_t dim) { return dim != 1; }) == 1)
      values = graph::getVectorConstant(value);
    if (!values)
      return {};
    SmallVector<int64_t> dims(order.size(), 1);
    for (auto [axis, from] : llvm::enumerate(order))
      if (int64_t(axis) >= missing)
        dims[from] = type.getDimSize(axis - missing);
    return graph::createConstant(rewriter, value.getLoc(), type.clone(dims), *values);
  }

  LogicalResult sinkElementwise(HostCallOp call, PatternRewriter &rewriter) const {
    SmallVector<Value> inputs = call.inputsByPosition();
    HostCallOp transpose;
    for (Value input : inputs)
      if (HostCallOp found = input ? channelsLast(input) : HostCallOp();
          found && isImage(found.getInputs()[0]))
        transpose = found;
    if (!transpose || !hasRankOf(call, transpose))
      return rewriter.notifyMatchFailure(call, "no operand is an image with the channels last");
    ArrayRef<int64_t> order = integersOf(transpose, "perm");
    for (Value &input : inputs) {
      if (!input)
        continue;
      HostCallOp other = channelsLast(input);
      if (other && integersOf(other, "perm") == order)
        input = other.getInputs()[0];
      else
        input = constantFor(input, order, rewriter);
      if (!input)
        return rewriter.notifyMatchFailure(call, "another operand is no constant of one axis");
    }
    replace(call, transpose, inputs, call.getParameters(), rewriter);
    return success();
  }

  /// Returns the integers of a constant operand; nothing for other values.
  static std::optional<SmallVector<int64_t>> integersIn(Value value) {
    auto constant = dyn_cast_or_null<DenseIntElementsAttr>(graph::getConstant(value));
    if (!constant)
      return std::nullopt;
    return llvm::map_to_vector(constant.getValues<APInt>(),
                               [](const APInt &number) { return number.getSExtValue(); });
  }

  static Value integers(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> values) {
    auto type = RankedTensorType::get(int64_t(values.size()), rewriter.getI64Type());
    return graph::ConstantOp::create(rewriter, loc, DenseIntElementsAttr::get(type, values));
  }

  LogicalResult sinkReduction(HostCallOp call, HostCallOp transpose,
                              PatternRewriter &rewriter) const {
    SmallVector<Value> inputs = call.inputsByPosition();
    auto axes = inputs.size() == 2 && inputs[1] ? integersIn(inputs[1]) : std::nullopt;
    ArrayRef<int64_t> order = integersOf(transpose, "perm");
    const int64_t rank = order.size();
    if (!axes || axes->empty())
      return rewriter.notifyMatchFailure(call, "the axes are not known");
    llvm::SmallDenseSet<int64_t> reduced;
    for (int64_t &axis : *axes) {
      axis += axis < 0 ? rank : 0;
      if (axis < 0 || axis >= rank)
        return failure();
      axis = order[axis];
      reduced.insert(axis);
    }
    // Layer norms are found behind convolutions with the channels last, as models write them.
    if (reduced.contains(order.back()))
      return rewriter.notifyMatchFailure(call, "the channels are reduced, as in a layer norm");
    const bool keepsDims = integerOf(call, "keepdims", 1) != 0;
    SmallVector<int64_t> left = llvm::to_vector(
        llvm::make_filter_range(order, [&](int64_t axis) { return !reduced.contains(axis); }));
    if (keepsDims ? !hasRankOf(call, transpose) : !llvm::is_sorted(left))
      return rewriter.notifyMatchFailure(call, "the axes that stay change their order");
    inputs = {transpose.getInputs()[0], integers(rewriter, call.getLoc(), *axes)};
    if (keepsDims) {
      replace(call, transpose, inputs, call.getParameters(), rewriter);
      return success();
    }
    HostCallOp inner = makeCall(rewriter, call.getLoc(), call.getKernel(), inputs,
                                call->getResultTypes(), call.getParameters());
    rewriter.replaceOp(call, inner.getResults());
    ++count;
    return success();
  }

  LogicalResult sinkPad(HostCallOp call, HostCallOp transpose, PatternRewriter &rewriter) const {
    SmallVector<Value> inputs = inputsOf(call, 4);
    auto pads = inputs[1] ? integersIn(inputs[1]) : std::nullopt;
    ArrayRef<int64_t> order = integersOf(transpose, "perm");
    if (!pads || pads->size() != 2 * order.size() || inputs[3] || !hasRankOf(call, transpose))
      return rewriter.notifyMatchFailure(call, "the pads of all axes are not known");
    SmallVector<int64_t> moved(pads->size());
    for (auto [axis, from] : llvm::enumerate(order)) {
      moved[from] = (*pads)[axis];
      moved[from + order.size()] = (*pads)[axis + order.size()];
    }
    inputs[0] = transpose.getInputs()[0];
    inputs[1] = integers(rewriter, call.getLoc(), moved);
    inputs.resize(inputs[2] ? 3 : 2);
    replace(call, transpose, inputs, call.getParameters(), rewriter);
    return success();
  }

  LogicalResult sinkConcat(HostCallOp call, HostCallOp transpose, PatternRewriter &rewriter) const {
    ArrayRef<int64_t> order = integersOf(transpose, "perm");
    std::optional<int64_t> axis = axisOf(call, 0, order.size());
    if (!axis || !hasRankOf(call, transpose))
      return failure();
    SmallVector<Value> inputs = call.inputsByPosition();
    for (Value &input : inputs) {
      HostCallOp other = input ? channelsLast(input) : HostCallOp();
      if (!other)
        return rewriter.notifyMatchFailure(call, "another operand has no Transpose of its own");
      input = other.getInputs()[0];
    }
    NamedAttrList parameters(call.getParameters());
    parameters.set("axis", rewriter.getDenseI64ArrayAttr(order[*axis]));
    replace(call, transpose, inputs, parameters.getDictionary(getContext()), rewriter);
    return success();
  }
};

/// Two Transposes that undo each other are none.
struct CancelTransposes : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "Transpose" || !hasInputs(call, 1))
      return failure();
    HostCallOp first = channelsLast(call.getInputs()[0]);
    ArrayRef<int64_t> second = integersOf(call, "perm");
    if (!first)
      return rewriter.notifyMatchFailure(call, "the operand is no Transpose of images");
    ArrayRef<int64_t> order = integersOf(first, "perm");
    Value source = first.getInputs()[0];
    if (second.size() != order.size() || source.getType() != call.getResult(0).getType())
      return failure();
    for (auto [axis, from] : llvm::enumerate(second))
      if (order[from] != int64_t(axis))
        return rewriter.notifyMatchFailure(call, "the axes have another order");
    rewriter.replaceOp(call, source);
    ++count;
    return success();
  }
};

struct HostSinkTransposes : impl::HostSinkTransposesBase<HostSinkTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkTransposes>(&getContext(), numMoved);
    patterns.add<CancelTransposes>(&getContext(), numCancelled);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
