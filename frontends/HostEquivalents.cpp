//===-- HostEquivalents.cpp - host calls with the meaning of graph ops ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/HostEquivalents.h"

#include <limits>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc {

namespace {

/// Kernels that have the op's inputs and no attributes.
StringRef plainKernel(Operation *op) {
  static const llvm::StringMap<StringRef> names = {
      {"abs", "Abs"},           {"acos", "Acos"},
      {"acosh", "Acosh"},       {"add", "Add"},
      {"asin", "Asin"},         {"asinh", "Asinh"},
      {"atan", "Atan"},         {"atanh", "Atanh"},
      {"ceil", "Ceil"},         {"cos", "Cos"},
      {"cosh", "Cosh"},         {"div", "Div"},
      {"erf", "Erf"},           {"exp", "Exp"},
      {"floor", "Floor"},       {"hard_swish", "HardSwish"},
      {"is_nan", "IsNaN"},      {"log", "Log"},
      {"matmul", "MatMul"},     {"max", "Max"},
      {"min", "Min"},           {"mish", "Mish"},
      {"mul", "Mul"},           {"neg", "Neg"},
      {"not", "Not"},           {"pow", "Pow"},
      {"prelu", "PRelu"},       {"reciprocal", "Reciprocal"},
      {"relu", "Relu"},         {"round", "Round"},
      {"sigmoid", "Sigmoid"},   {"sign", "Sign"},
      {"silu", "Swish"},        {"sin", "Sin"},
      {"sinh", "Sinh"},         {"softplus", "Softplus"},
      {"softsign", "Softsign"}, {"sqrt", "Sqrt"},
      {"sub", "Sub"},           {"tan", "Tan"},
      {"tanh", "Tanh"},         {"where", "Where"}};
  return names.lookup(op->getName().stripDialect());
}

Type elementOf(Value value) { return getElementTypeOrSelf(value); }

/// The type that `op` states for its result.
RankedTensorType statedType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

class Equivalent {
public:
  Equivalent(Operation *op, HostCallBuilder &calls) : op(op), calls(calls) {}

  Value make() {
    if (StringRef kernel = plainKernel(op); !kernel.empty())
      return calls.call(kernel, operands());
    if (Value made = makeElementwise())
      return made;
    if (Value made = makeMoved())
      return made;
    return makeLayer();
  }

private:
  /// Return null, without a call, for an op of another kind.
  Value makeElementwise() {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<graph::RsqrtOp>(
            [&](auto) { return calls.call("Reciprocal", {calls.call("Sqrt", operands())}); })
        .Case([&](graph::GeluOp gelu) {
          return unary("Gelu",
                       {calls.text("approximate", gelu.getApproximate() ? "tanh" : "none")});
        })
        .Case([&](graph::LeakyReluOp relu) { return unary("LeakyRelu", {alpha(relu)}); })
        .Case([&](graph::EluOp elu) { return unary("Elu", {alpha(elu)}); })
        .Case(
            [&](graph::ThresholdedReluOp relu) { return unary("ThresholdedRelu", {alpha(relu)}); })
        .Case([&](graph::SeluOp selu) {
          return unary("Selu",
                       {alpha(selu), calls.floats("gamma", {selu.getGamma().convertToDouble()})});
        })
        .Case([&](graph::HardSigmoidOp sigmoid) {
          return unary(
              "HardSigmoid",
              {alpha(sigmoid), calls.floats("beta", {sigmoid.getBeta().convertToDouble()})});
        })
        .Case([&](graph::ClipOp clip) { return makeClip(clip); })
        .Case([&](graph::CastOp) { return calls.cast(input(), statedElement()); })
        .Case<graph::AndOp, graph::OrOp, graph::XorOp>([&](auto) { return makeLogic(); })
        .Case([&](graph::ModOp mod) {
          return calls.call("Mod", operands(), {calls.ints("fmod", {mod.getFmod()})});
        })
        .Case([&](graph::CompareOp compare) { return makeCompare(compare.getPredicate()); })
        .Default([](Operation *) { return Value(); });
  }

  Value makeMoved() {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](graph::ReshapeOp) {
          // A dim of 0 elements is stated, not copied.
          return calls.call("Reshape", {input(), calls.constant(statedType(op).getShape())},
                            {calls.ints("allowzero", {1})});
        })
        .Case([&](graph::ExpandOp) {
          return calls.call("Expand", {input(), calls.constant(statedType(op).getShape())});
        })
        .Case([&](graph::TransposeOp transpose) {
          return unary("Transpose", {calls.ints("perm", transpose.getPermutation())});
        })
        .Case([&](graph::TileOp tile) {
          return calls.call("Tile", {input(), calls.constant(tile.getRepeats())});
        })
        .Case([&](graph::ConcatOp concat) {
          return calls.call("Concat", operands(), {axis(concat.getAxis())});
        })
        .Case([&](graph::GatherOp gather) {
          return calls.call("Gather", operands(), {axis(gather.getAxis())});
        })
        .Case([&](graph::SliceOp slice) { return makeSlice(slice); })
        .Case([&](graph::PadOp pad) { return makePad(pad); })
        .Case([&](graph::DepthToSpaceOp move) {
          return unary(
              "DepthToSpace",
              {calls.ints("blocksize", {int64_t(move.getBlock())}),
               calls.text("mode", move.getOrder() == graph::DepthOrder::DCR ? "DCR" : "CRD")});
        })
        .Case([&](graph::SpaceToDepthOp move) {
          return unary("SpaceToDepth", {calls.ints("blocksize", {int64_t(move.getBlock())})});
        })
        .Default([](Operation *) { return Value(); });
  }

  /// Reductions and layers with weights or windows.
  Value makeLayer() {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](graph::ReduceOp reduce) { return makeReduce(reduce); })
        .Case([&](graph::ArgMaxOp arg) { return makeArg("ArgMax", arg); })
        .Case([&](graph::ArgMinOp arg) { return makeArg("ArgMin", arg); })
        .Case([&](graph::SoftmaxOp softmax) { return unary("Softmax", {axis(softmax.getAxis())}); })
        .Case([&](graph::LogSoftmaxOp softmax) {
          return unary("LogSoftmax", {axis(softmax.getAxis())});
        })
        .Case([&](graph::ConvOp conv) { return makeConv(conv); })
        .Case([&](graph::ConvTransposeOp conv) {
          return calls.call("ConvTranspose", operands(),
                            {calls.ints("strides", conv.getStrides()),
                             calls.ints("pads", conv.getPads()),
                             calls.ints("dilations", conv.getDilations()),
                             calls.ints("output_padding", conv.getOutputPadding()),
                             calls.ints("group", {int64_t(conv.getGroups())})});
        })
        .Case([&](graph::MaxPoolOp pool) { return unary("MaxPool", window(pool)); })
        .Case([&](graph::AveragePoolOp pool) {
          SmallVector<NamedAttribute> attributes = window(pool);
          attributes.push_back(calls.ints("count_include_pad", {pool.getCountIncludePad()}));
          return unary("AveragePool", attributes);
        })
        .Case([&](graph::BatchNormOp norm) {
          return calls.call("BatchNormalization", operands(),
                            {calls.floats("epsilon", {norm.getEpsilon().convertToDouble()})});
        })
        .Default([](Operation *) { return Value(); });
  }

  Value input() { return op->getOperand(0); }
  SmallVector<Value> operands() { return SmallVector<Value>(op->getOperands()); }
  Type statedElement() { return cast<TensorType>(op->getResult(0).getType()).getElementType(); }
  Value unary(StringRef kernel, ArrayRef<NamedAttribute> attributes) {
    return calls.call(kernel, {input()}, attributes);
  }
  template <typename Op> NamedAttribute alpha(Op of) {
    return calls.floats("alpha", {of.getAlpha().convertToDouble()});
  }
  NamedAttribute axis(int64_t value) { return calls.ints("axis", {value}); }

  Value scalar(double value, Type element) {
    OpBuilder builder(op->getContext());
    auto type = RankedTensorType::get({}, builder.getF64Type());
    return calls.cast(calls.constantOf(DenseElementsAttr::get(type, value)), element);
  }

  Value makeClip(graph::ClipOp clip) {
    Type element = elementOf(input());
    return calls.call("Clip", {input(), scalar(clip.getMin().convertToDouble(), element),
                               scalar(clip.getMax().convertToDouble(), element)});
  }

  Value makeLogic() {
    const bool isBool = elementOf(input()).isInteger(1);
    StringRef name = isa<graph::AndOp>(op) ? "And" : isa<graph::OrOp>(op) ? "Or" : "Xor";
    return calls.call(isBool ? name.str() : ("Bitwise" + name).str(), operands());
  }

  Value makeCompare(graph::ComparePredicate predicate) {
    using graph::ComparePredicate;
    if (predicate == ComparePredicate::Ne)
      return calls.call("Not", {calls.call("Equal", operands())});
    StringRef name = predicate == ComparePredicate::Eq   ? "Equal"
                     : predicate == ComparePredicate::Lt ? "Less"
                     : predicate == ComparePredicate::Le ? "LessOrEqual"
                     : predicate == ComparePredicate::Gt ? "Greater"
                                                         : "GreaterOrEqual";
    return calls.call(name, operands());
  }

  Value makeSlice(graph::SliceOp slice) {
    SmallVector<int64_t> starts, ends, axes, steps;
    constexpr int64_t all = std::numeric_limits<int32_t>::max();
    for (auto [dim, start, size, step] :
         llvm::enumerate(slice.getStarts(), slice.getSizes(), slice.getSteps())) {
      axes.push_back(static_cast<int64_t>(dim));
      starts.push_back(start);
      steps.push_back(step);
      int64_t end = size < 0 ? all : start + size * step;
      // A negative end would count from the end of the axis.
      ends.push_back(end < 0 ? -all : end);
    }
    return calls.call("Slice", {input(), calls.constant(starts), calls.constant(ends),
                                calls.constant(axes), calls.constant(steps)});
  }

  Value makePad(graph::PadOp pad) {
    SmallVector<int64_t> pads(pad.getLow());
    llvm::append_range(pads, pad.getHigh());
    static constexpr StringLiteral modes[] = {"constant", "edge", "reflect", "wrap"};
    return calls.call("Pad",
                      {input(), calls.constant(pads),
                       scalar(pad.getValue().convertToDouble(), elementOf(input()))},
                      {calls.text("mode", modes[static_cast<unsigned>(pad.getMode())])});
  }

  Value makeReduce(graph::ReduceOp reduce) {
    static constexpr StringLiteral names[] = {
        "ReduceSum", "ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",
        "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
    return calls.call(
        names[static_cast<unsigned>(reduce.getKind())], {input(), calls.constant(reduce.getAxes())},
        {calls.ints("keepdims", {reduce.getKeepdims()}), calls.ints("noop_with_empty_axes", {1})});
  }

  template <typename Op> Value makeArg(StringRef kernel, Op arg) {
    return unary(kernel, {axis(arg.getAxis()), calls.ints("keepdims", {arg.getKeepdims()}),
                          calls.ints("select_last_index", {arg.getSelectLast()})});
  }

  template <typename Op> SmallVector<NamedAttribute> window(Op pool) {
    return {calls.ints("kernel_shape", pool.getKernel()), calls.ints("strides", pool.getStrides()),
            calls.ints("pads", pool.getPads()), calls.ints("dilations", pool.getDilations()),
            calls.ints("ceil_mode", {pool.getCeilMode()})};
  }

  Value makeConv(graph::ConvOp conv) {
    // Importers create no convolutions with fused ops; only passes do.
    if (conv.getResidual() || conv.getSlope() || conv.getActivation())
      return {};
    return calls.call("Conv", operands(),
                      {calls.ints("strides", conv.getStrides()), calls.ints("pads", conv.getPads()),
                       calls.ints("dilations", conv.getDilations()),
                       calls.ints("group", {int64_t(conv.getGroups())})});
  }

  Operation *op;
  HostCallBuilder &calls;
};

} // namespace

Value makeHostEquivalent(Operation *op, HostCallBuilder &calls) {
  return Equivalent(op, calls).make();
}

} // namespace atc
