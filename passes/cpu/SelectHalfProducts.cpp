//===-- SelectHalfProducts.cpp - contractions in f16 ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Half.h"
#include "dialects/cpu/HalfChunk.h"
#include "dialects/om/Om.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/cpu/WeightPasses.h"
#include "passes/kernel/pack/NarrowWeights.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUSELECTHALFPRODUCTS
#include "passes/cpu/WeightPasses.h.inc"

namespace {

constexpr int64_t kHalfBlock = 16;
/// Fewer pixels are limited by reading the weights, and are not worth rounding.
constexpr int64_t kMinPixels = 8;

/// Returns [B][rows][K] as the image [B][1][1][rows][K], or the columns of [B][rows][N] as the
/// blocks of [B][N / 16][1][rows][16].
Value asImage(OpBuilder &builder, Location loc, Value matrix, bool inBlocks) {
  MemRefType type = bufferTypeOf(matrix);
  ArrayRef<int64_t> shape = type.getShape();
  const SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  const int64_t width = inBlocks ? kHalfBlock : shape[2];
  const SmallVector<int64_t> sizes{shape[0], shape[2] / width, 1, shape[1], width};
  const SmallVector<int64_t> steps{strides[0], width, shape[1] * strides[1], strides[1],
                                   strides[2]};
  auto layout = StridedLayoutAttr::get(builder.getContext(), /*offset=*/0, steps);
  return om::ViewOp::create(builder, loc, MemRefType::get(sizes, type.getElementType(), layout),
                            matrix,
                            /*offset=*/0);
}

struct SelectHalfProductsPass : impl::CpuSelectHalfProductsBase<SelectHalfProductsPass> {
  void runOnOperation() override {
    func::FuncOp main = om::findMain(getOperation());
    if (!main)
      return;
    main.walk([&](Operation *op) {
      if (auto product = dyn_cast<MatMulOp>(op))
        select(product, whyFloat(product), [&] { return rewrite(product); });
      else if (auto conv = dyn_cast<Conv2DOp>(op))
        select(conv, whyFloat(conv), [&] { return rewrite(conv); });
    });
  }

private:
  void select(Operation *op, StringRef why, llvm::function_ref<bool()> rewrite) {
    const Location loc = op->getLoc();
    if (why.empty() && !rewrite())
      why = "a weight is beyond the range of f16";
    if (!why.empty()) {
      remarkMissed(getArgument(), loc, "Float") << why;
      return;
    }
    remarkPassed(getArgument(), loc, "Half");
    ++numHalf;
  }

  static om::WeightOp weightsOf(Value value) {
    auto weight = value.getDefiningOp<om::WeightOp>();
    return weight && bufferTypeOf(weight).getElementType().isF32() ? weight : om::WeightOp();
  }

  /// Returns why a product stays in f32; empty: it does not.
  static StringRef whyFloat(MatMulOp op) {
    if (!op.getPacked() || !weightsOf(op.getRhs()))
      return "its weights are not constant and of f32";
    ArrayRef<int64_t> lhs = bufferTypeOf(op.getLhs()).getShape(),
                      out = bufferTypeOf(op.getOutput()).getShape();
    if (bufferTypeOf(op.getRhs()).getDimSize(2) != kHalfBlock || out[2] % kHalfBlock)
      return "its columns are no whole blocks of 16";
    if (lhs[2] % 2 || lhs[0] != out[0])
      return "its rows have no pairs";
    for (Value matrix : {op.getLhs(), op.getOutput()})
      if (bufferTypeOf(matrix).getStridesAndOffset().first.back() != 1)
        return "its rows are not dense";
    return out[1] < kMinPixels ? "it has few rows" : "";
  }

  static StringRef whyFloat(Conv2DOp op) {
    if (!weightsOf(op.getFilter()))
      return "its weights are not constant and of f32";
    ArrayRef<int64_t> filter = bufferTypeOf(op.getFilter()).getShape(),
                      out = bufferTypeOf(op.getOutput()).getShape();
    if (op.getGroups() != 1)
      return "it has groups";
    // Lanes past the last channel hold anything.
    if (filter[4] != kHalfBlock || filter[5] != kHalfBlock ||
        int64_t(op.getChannels()) != filter[1] * kHalfBlock)
      return "its channels are no whole blocks of 16";
    return out[2] * out[3] < kMinPixels ? "it has few pixels" : "";
  }

  /// Creates the contraction in f16 in front of `op`, which it replaces; false where a weight is
  /// too large.
  template <typename Op>
  bool replace(Op op, om::WeightOp weight, int64_t channels, ArrayRef<int64_t> shape, Value input,
               Value residual, Value slope, Value output, ArrayRef<int64_t> strides,
               ArrayRef<int64_t> dilations, bool residualLast) {
    ElementsAttr packed = kernel::packPairs(weight.getValue(), channels, shape);
    if (!packed)
      return false;
    OpBuilder builder(op);
    auto type = MemRefType::get(shape, builder.getF16Type());
    auto filter = om::WeightOp::create(builder, op.getLoc(), type, packed);
    auto made = HalfConv2DOp::create(
        builder, op.getLoc(), input, filter, op.getBias(), residual, slope, output, strides,
        dilations, op.getActivation().value_or(graph::ActivationAttr()), residualLast, TileAttr());
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op.erase();
    if (weight.use_empty())
      weight.erase();
    return true;
  }

  bool rewrite(MatMulOp op) {
    OpBuilder builder(op);
    const int64_t depth = bufferTypeOf(op.getLhs()).getDimSize(2);
    const int64_t blocks = bufferTypeOf(op.getRhs()).getDimSize(0);
    auto view = [&](Value matrix, bool inBlocks) {
      return matrix ? asImage(builder, op.getLoc(), matrix, inBlocks) : Value();
    };
    return replace(op, weightsOf(op.getRhs()), depth,
                   {blocks, 1, 1, 1, HalfChunk::storedPairs(depth), 2 * kHalfBlock},
                   view(op.getLhs(), false), view(op.getResidual(), true), /*slope=*/Value(),
                   view(op.getOutput(), true), {1, 1}, {1, 1}, /*residualLast=*/false);
  }

  bool rewrite(Conv2DOp op) {
    ArrayRef<int64_t> filter = bufferTypeOf(op.getFilter()).getShape();
    return replace(op, weightsOf(op.getFilter()), kHalfBlock,
                   {filter[0], filter[1], filter[2], filter[3], kHalfBlock / 2, 2 * kHalfBlock},
                   op.getInput(), op.getResidual(), op.getSlope(), op.getOutput(), op.getStrides(),
                   op.getDilations(), op.getResidualLast());
  }
};

} // namespace
} // namespace atc::cpu
