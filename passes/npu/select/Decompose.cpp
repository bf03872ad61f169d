//===-- Decompose.cpp - resizes as products, pools as means ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/npu/GraphPasses.h"
#include "passes/npu/select/DecomposeMoves.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUDECOMPOSE
#include "passes/npu/GraphPasses.h.inc"

namespace {

/// Returns whether a dim of the result differs from that of the input.
bool isResampled(graph::ResizeOp op, int64_t dim) {
  return tensorTypeOf(op.getInput()).getDimSize(dim) != op.getType().getDimSize(dim) ||
         op.getScales()[dim] != 1.0;
}

/// Returns the weights [output, input] by which a dim of a resize is resampled: what the reference
/// makes of the identity matrix.
FailureOr<ElementsAttr> weightsOf(graph::ResizeOp op, int64_t dim) {
  const int64_t in = tensorTypeOf(op.getInput()).getDimSize(dim),
                out = op.getType().getDimSize(dim);
  Type f32 = Float32Type::get(op.getContext());
  auto inputType = RankedTensorType::get({in, in}, f32),
       resultType = RankedTensorType::get({out, in}, f32);
  std::vector<double> identity(in * in, 0.0);
  for (int64_t i = 0; i < in; ++i)
    identity[i * in + i] = 1;
  OpBuilder builder(op.getContext());
  const graph::Tensor input = graph::Tensor::fromDoubles(inputType, identity);
  // The evaluation takes its operand from `input`; the op only has to have one.
  auto constant = graph::ConstantOp::create(builder, op.getLoc(), inputType,
                                            DenseElementsAttr::get(inputType, 0.0f));
  auto resize = graph::ResizeOp::create(
      builder, op.getLoc(), resultType, constant, ArrayRef<double>{op.getScales()[dim], 1.0},
      op.getMode(), op.getCoordinates(), op.getNearest(), op.getCubicCoefficient());
  SmallVector<graph::Tensor> results;
  std::string error;
  const bool isDone = succeeded(graph::evaluate(resize, {&input}, results, &error));
  resize->destroy();
  constant->destroy();
  if (!isDone)
    return failure();
  auto type = RankedTensorType::get({out, in}, op.getType().getElementType());
  return graph::Tensor::fromDoubles(type, results.front().toDoubles()).toAttribute(type);
}

/// Returns `value` with dim `dim` and the last one exchanged.
Value exchange(OpBuilder &builder, Location loc, Value value, int64_t dim) {
  const int64_t last = tensorTypeOf(value).getRank() - 1;
  if (dim == last)
    return value;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, last + 1));
  std::swap(order[dim], order[last]);
  SmallVector<int64_t> shape(tensorTypeOf(value).getShape());
  std::swap(shape[dim], shape[last]);
  return graph::TransposeOp::create(
      builder, loc, RankedTensorType::get(shape, tensorTypeOf(value).getElementType()), value,
      order);
}

struct DecomposePass : impl::NpuDecomposeBase<DecomposePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    const graph::Float32Nodes float32Nodes(function);
    const graph::HostNodes hostNodes(function);
    SmallVector<Operation *> ops;
    for (Operation &op : function.getOps()) {
      if (op.hasAttr(kernel::kCubeSumsAttr))
        return;
      // Moves are the same in any type.
      auto pad = dyn_cast<graph::PadOp>(op);
      const bool isMove =
          isa<graph::GatherOp>(op) || (pad && pad.getMode() != graph::PadMode::Constant);
      auto reduce = dyn_cast<graph::ReduceOp>(op);
      const bool isLogarithm = reduce && reduce.getKind() == graph::ReduceKind::LogSumExp;
      if ((isMove || isLogarithm ||
           (isa<graph::ResizeOp, graph::AveragePoolOp>(op) && !float32Nodes.contains(&op))) &&
          !hostNodes.contains(&op))
        ops.push_back(&op);
    }
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](graph::ResizeOp resize) { rewrite(resize); })
          .Case([&](graph::AveragePoolOp pool) { rewrite(pool); })
          .Case([&](graph::ReduceOp reduce) { rewrite(reduce); })
          .Case([&](graph::PadOp pad) { note(op->getLoc(), decomposePad(pad)); })
          .Case([&](graph::GatherOp gather) { note(op->getLoc(), decomposeGather(gather)); });
  }

private:
  static constexpr int64_t kMaxElements = 4 << 20;

  /// Counts a move that was rewritten, or says why it stays.
  void note(Location loc, const std::string &why) {
    if (why.empty())
      ++numMoves;
    else
      remarkMissed(getArgument(), loc, "Kept") << why;
  }

  /// Returns the reason why a resize stays; empty: it becomes products.
  static std::string whyKept(graph::ResizeOp op) {
    RankedTensorType input = tensorTypeOf(op.getInput());
    if (!input.getElementType().isF32() && !input.getElementType().isF16())
      return "its elements are no f32 or f16";
    bool isFractional = false;
    for (int64_t dim = 0; dim < input.getRank(); ++dim) {
      const int64_t in = input.getDimSize(dim), out = op.getType().getDimSize(dim);
      if (ShapedType::isDynamic(in) || ShapedType::isDynamic(out) || in == 0 || out == 0)
        return "its sizes are not known or 0";
      if (!isResampled(op, dim))
        continue;
      if (std::max(in, out) * in > kMaxElements)
        return "its weights are too large";
      isFractional |= out % in != 0;
    }
    // Only images of several pixels are stored in blocks of channels.
    const bool isImage = input.getRank() == 4 && input.getDimSize(2) * input.getDimSize(3) > 1;
    if (op.getMode() == graph::ResizeMode::Nearest && !isFractional && isImage)
      return "the vector unit repeats elements";
    return "";
  }

  void rewrite(graph::ResizeOp op) {
    if (std::string why = whyKept(op); !why.empty()) {
      remarkMissed(getArgument(), op.getLoc(), "Kept") << why;
      return;
    }
    OpBuilder builder(op);
    Value value = op.getInput();
    for (int64_t dim = op.getType().getRank() - 1; dim >= 0; --dim) {
      if (!isResampled(op, dim))
        continue;
      FailureOr<ElementsAttr> weights = weightsOf(op, dim);
      if (failed(weights))
        return; // What was made so far has no use and is removed.
      value = multiply(builder, op, value, *weights, dim);
    }
    op.replaceAllUsesWith(value);
    op.erase();
    ++numResizes;
  }

  static Value multiply(OpBuilder &builder, graph::ResizeOp op, Value value, ElementsAttr weights,
                        int64_t dim) {
    Location loc = op.getLoc();
    Type element = op.getType().getElementType();
    Value matrix = graph::ConstantOp::create(builder, loc, weights.getShapedType(), weights);
    Value rows = exchange(builder, loc, value, dim);
    SmallVector<int64_t> shape(tensorTypeOf(rows).getShape());
    shape.back() = op.getType().getDimSize(dim);
    Value product =
        graph::FullyConnectedOp::create(builder, loc, RankedTensorType::get(shape, element), rows,
                                        matrix, /*bias=*/Value(), graph::ActivationAttr());
    return exchange(builder, loc, product, dim);
  }

  /// Rewrites the logarithm of a sum of exponentials as m + log(sum(exp(x - m))), m being the
  /// maximum. Where that is infinite the nearest number of f16 keeps differences from being NaN.
  void rewrite(graph::ReduceOp op) {
    RankedTensorType input = tensorTypeOf(op.getInput());
    if (!input.hasStaticShape() ||
        (!input.getElementType().isF32() && !input.getElementType().isF16()))
      return;
    constexpr double largest = 65504;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value max = graph::ReduceOp::create(builder, loc, op.getInput(), graph::ReduceKind::Max,
                                        op.getAxes(), /*keepdims=*/true);
    max = graph::ClipOp::create(builder, loc, max.getType(), max, builder.getF64FloatAttr(-largest),
                                builder.getF64FloatAttr(largest));
    Value powers = graph::SubOp::create(builder, loc, op.getInput(), max);
    powers = graph::ExpOp::create(builder, loc, powers);
    Value sum = graph::ReduceOp::create(builder, loc, op.getType(), powers, graph::ReduceKind::Sum,
                                        op.getAxes(), op.getKeepdims());
    if (max.getType() != op.getType())
      max = graph::ReshapeOp::create(builder, loc, op.getType(), max);
    Value result = graph::AddOp::create(builder, loc, graph::LogOp::create(builder, loc, sum), max);
    op.replaceAllUsesWith(result);
    op.erase();
    ++numLogarithms;
  }

  void rewrite(graph::AveragePoolOp op) {
    RankedTensorType input = tensorTypeOf(op.getInput());
    const int64_t rank = input.getRank();
    if (rank < 3 || !input.hasStaticShape() || !op.getType().hasStaticShape() ||
        int64_t(op.getKernel().size()) != rank - 2 ||
        llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }))
      return;
    SmallVector<int64_t> axes;
    for (int64_t dim = 2; dim < rank; ++dim) {
      if (op.getKernel()[dim - 2] != input.getDimSize(dim) || op.getType().getDimSize(dim) != 1)
        return;
      axes.push_back(dim);
    }
    OpBuilder builder(op);
    auto mean = graph::ReduceOp::create(builder, op.getLoc(), op.getType(), op.getInput(),
                                        graph::ReduceKind::Mean, axes, /*keepdims=*/true);
    op.replaceAllUsesWith(mean.getResult());
    op.erase();
    ++numPools;
  }
};

} // namespace
} // namespace atc::npu
