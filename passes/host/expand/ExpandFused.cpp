//===-- ExpandFused.cpp - fused operators as those they consist of --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX Runtime's optimizer and model builder replace chains of operators by operators of
// com.microsoft. A target without host kernels has code for the chains.

#include "dialects/graph/ops/ConvOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/expand/CallOps.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDFUSED
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

constexpr StringLiteral fusedProducts[] = {"FusedConv", "FusedGemm", "FusedMatMul",
                                           "TransposeMatMul"};
constexpr StringLiteral fusedOthers[] = {"BiasSplitGelu", "SimplifiedLayerNormalization",
                                         "SkipLayerNormalization",
                                         "SkipSimplifiedLayerNormalization"};

/// Returns the list `name` of a call, `count` numbers; `value` for each where it is missing.
/// Nothing for a list of another length.
std::optional<SmallVector<int64_t>> listOf(HostCallOp call, StringRef name, size_t count,
                                           int64_t value) {
  ArrayRef<int64_t> list = integersOf(call, name);
  if (list.empty())
    return SmallVector<int64_t>(count, value);
  if (list.size() != count)
    return std::nullopt;
  return SmallVector<int64_t>(list);
}

/// Replaces a call of static shapes by graph ops. Returns the reason why it stays; empty: it was
/// replaced.
class FusedExpander {
public:
  explicit FusedExpander(HostCallOp call) : call(call), ops(call), inputs(inputsOf(call, 5)) {}

  StringRef run() {
    const StringRef kernel = call.getKernel(), function = textOf(call, "activation", "");
    if (!function.empty() && !llvm::is_contained({"Relu", "Sigmoid", "Tanh"}, function))
      return "its activation has no op";
    if (kernel == "BiasSplitGelu")
      return splitGelu();
    if (kernel == "SimplifiedLayerNormalization")
      return rootMeanSquare();
    if (kernel == "SkipLayerNormalization" || kernel == "SkipSimplifiedLayerNormalization")
      return skipNorm(kernel == "SkipSimplifiedLayerNormalization");
    if (kernel == "FusedMatMul" || kernel == "TransposeMatMul")
      return product();
    if (kernel == "FusedGemm")
      return gemm();
    return convolution();
  }

private:
  double alpha(double fallback) { return numberOf(call, "alpha", fallback); }
  int64_t rankOf(Value x) { return graph::getTensorType(x).getRank(); }
  bool isUsed(unsigned result) {
    return result < call.getNumResults() && !call.getResult(result).use_empty();
  }
  StringRef finish(Value result) {
    ops.replace(0, result);
    return {};
  }

  StringRef splitGelu() {
    Value sum = ops.add(inputs[0], inputs[1]);
    const int64_t last = rankOf(sum) - 1, half = graph::getTensorType(sum).getDimSize(last) / 2;
    return finish(ops.mul(ops.slice(sum, last, 0, half),
                          ops.gelu(ops.slice(sum, last, half, half), /*approximate=*/false)));
  }

  Value scaled(Value x, double epsilon, Value scale) {
    Value square = ops.meanOfRows(ops.mul(x, x));
    Value inverse = ops.inverseRoot(ops.add(square, ops.number(epsilon, square)));
    return ops.mul(ops.mul(x, inverse), scale);
  }

  StringRef rootMeanSquare() {
    const int64_t axis = integerOf(call, "axis", -1);
    if (axis != -1 && axis != rankOf(inputs[0]) - 1)
      return "its rows have several dims";
    if (isUsed(1))
      return "its statistics are read";
    return finish(scaled(inputs[0], numberOf(call, "epsilon", 1e-5), inputs[1]));
  }

  /// Returns a tensor of one number per element of a row as [size]; null for null.
  Value row(Value x) {
    return x ? ops.reshape(x, {graph::getTensorType(x).getNumElements()}) : Value();
  }

  StringRef skipNorm(bool simple) {
    if (isUsed(1) || isUsed(2))
      return "its statistics are read";
    // A skip with fewer elements is repeated as a whole, which is what the last dims broadcast to.
    ArrayRef<int64_t> all = graph::getTensorType(inputs[0]).getShape();
    ArrayRef<int64_t> skip = graph::getTensorType(inputs[1]).getShape();
    skip = skip.drop_while([](int64_t dim) { return dim == 1; });
    if (skip.size() > all.size() || skip != all.take_back(skip.size()))
      return "its skip does not broadcast";
    // Without a mean nothing is added behind the scale.
    Value beta = row(simple ? Value() : inputs[3]), bias = row(inputs[simple ? 3 : 4]);
    Value sum = ops.add(inputs[0], ops.reshape(inputs[1], skip));
    if (bias)
      sum = ops.add(sum, bias);
    Value centered = simple ? sum : ops.sub(sum, ops.meanOfRows(sum));
    Value result = scaled(centered, numberOf(call, "epsilon", 1e-12f), row(inputs[2]));
    if (beta)
      result = ops.add(result, beta);
    ops.replace(3, sum);
    return finish(result);
  }

  /// Exchanges the last two dims, if there are two.
  Value swapped(Value x, bool swap) {
    const int64_t rank = rankOf(x);
    if (!swap || rank < 2)
      return x;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
    std::swap(order[rank - 1], order[rank - 2]);
    return ops.transpose(x, order);
  }

  StringRef product() {
    if (integerOf(call, "transBatchA", 0) || integerOf(call, "transBatchB", 0))
      return "its batch is not the first dim";
    Value lhs = swapped(inputs[0], integerOf(call, "transA", 0));
    Value rhs = swapped(inputs[1], integerOf(call, "transB", 0));
    // The smaller factor is multiplied, or the constant one, which is done when compiling.
    auto cost = [](Value x) {
      return graph::getConstant(x) ? 0 : graph::getTensorType(x).getNumElements();
    };
    Value &smaller = cost(inputs[0]) < cost(inputs[1]) ? lhs : rhs;
    smaller = ops.mul(smaller, alpha(1));
    return finish(ops.product(lhs, rhs));
  }

  /// Applies the function of a fused product or convolution.
  Value activated(Value x) {
    const StringRef name = textOf(call, "activation", "");
    return name.empty()        ? x
           : name == "Relu"    ? ops.relu(x)
           : name == "Sigmoid" ? ops.sigmoid(x)
                               : ops.tanh(x);
  }

  StringRef gemm() {
    Value result = ops.product(swapped(inputs[0], integerOf(call, "transA", 0)),
                               swapped(inputs[1], integerOf(call, "transB", 0)));
    result = ops.mul(result, alpha(1));
    if (inputs[2])
      result = ops.add(result, ops.mul(inputs[2], numberOf(call, "beta", 1)));
    return finish(activated(result));
  }

  StringRef convolution() {
    RankedTensorType data = graph::getTensorType(inputs[0]);
    const size_t spatial = std::max<int64_t>(data.getRank() - 2, 0);
    auto strides = listOf(call, "strides", spatial, 1),
         dilations = listOf(call, "dilations", spatial, 1),
         pads = listOf(call, "pads", 2 * spatial, 0);
    if (spatial != 2 || rankOf(inputs[1]) != 4 || !strides || !dilations || !pads)
      return "it has other than two spatial dims";
    if (textOf(call, "auto_pad", "NOTSET") != "NOTSET" ||
        llvm::any_of(*pads, [](int64_t pad) { return pad < 0; }))
      return "its pads are not stated";
    Value sum = inputs[3];
    if (sum && sum.getType() != call.getResult(0).getType())
      return "its addend is broadcast";
    if (!graph::getConstant(inputs[1]))
      return "its filter is no constant";
    // A bias that is computed is an addition of its own.
    const bool isKnownBias = !inputs[2] || graph::getConstant(inputs[2]);
    OpBuilder builder(call);
    Value result = graph::ConvOp::create(
        builder, graph::derivedLoc(call.getLoc(), "part"), inputs[0], inputs[1],
        isKnownBias ? inputs[2] : Value(), /*residual=*/Value(), /*slope=*/Value(), *strides, *pads,
        *dilations, integerOf(call, "group", 1), graph::ActivationAttr());
    if (!isKnownBias)
      result =
          ops.add(result, ops.reshape(inputs[2],
                                      {1, graph::getTensorType(inputs[2]).getNumElements(), 1, 1}));
    return finish(activated(sum ? ops.add(result, sum) : result));
  }

  HostCallOp call;
  CallOps ops;
  SmallVector<Value> inputs;
};

struct HostExpandFused : impl::HostExpandFusedBase<HostExpandFused> {
  using HostExpandFusedBase::HostExpandFusedBase;

  void runOnOperation() override {
    SmallVector<StringLiteral> kernels(std::begin(fusedProducts), std::end(fusedProducts));
    if (!onlyProducts)
      llvm::append_range(kernels, fusedOthers);
    numExpanded +=
        expandCalls(getOperation(), getArgument(), kernels, "the operators that it consists of",
                    [](HostCallOp call) { return FusedExpander(call).run(); });
  }
};

} // namespace

bool isFusedProduct(StringRef kernel) { return llvm::is_contained(fusedProducts, kernel); }

} // namespace atc::host
