//===-- ExpandPreprocessing.cpp - pixels of cameras as maps ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/ExpandPreprocessing.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/graph/scalar/ScalarBuilder.h"
#include "passes/graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/TypeUtilities.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHEXPANDPREPROCESSING
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

class Expansion {
public:
  explicit Expansion(PreprocessOp op)
      : op(op), builder(op), loc(op.getLoc()), batch(op.getImage().getType().getDimSize(0)) {}

  Value run() {
    const SmallVector<Value> planes = op.getSemiPlanar() ? semiPlanarPlanes() : packedPlanes();
    SmallVector<Value> results;
    for (int64_t i = 0; i < op.getType().getDimSize(1); ++i)
      results.push_back(channel(planes, i));
    return results.size() == 1 ? results.front()
                               : ConcatOp::create(builder, loc, results, /*axis=*/1).getResult();
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(builder, loc, withShape(value, shape), value);
  }

  /// Returns sizes[i] elements of each dim of rank 4 from starts[i].
  Value slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
    if (sizes == shapeOf(value))
      return value;
    return SliceOp::create(builder, loc, withShape(value, sizes), value, starts, sizes,
                           ArrayRef<int64_t>{1, 1, 1, 1});
  }

  //===--- Planes: uint8 [n, 1, h, w] of the window -------------------------===//

  Value plane(Value cropped, int64_t index) {
    const ArrayRef<int64_t> shape = shapeOf(cropped);
    const int64_t height = shape[1], width = shape[2];
    Value one = slice(cropped, {0, 0, 0, index}, {batch, height, width, 1});
    return reshape(one, {batch, 1, height, width});
  }

  SmallVector<Value> packedPlanes() {
    ArrayRef<int64_t> crop = op.getCrop();
    Value cropped = slice(op.getImage(), {0, crop[0], crop[1], 0},
                          {batch, crop[2], crop[3], op.getImage().getType().getDimSize(3)});
    return llvm::map_to_vector(op.getPlanes(), [&](int64_t from) { return plane(cropped, from); });
  }

  SmallVector<Value> semiPlanarPlanes() {
    ArrayRef<int64_t> crop = op.getCrop();
    const int64_t top = crop[0], left = crop[1], height = crop[2], width = crop[3];
    const int64_t lumaRows = op.getImage().getType().getDimSize(1) / 3 * 2;
    Value luma = slice(op.getImage(), {0, top, left, 0}, {batch, height, width, 1});
    Value pairs =
        slice(op.getImage(), {0, lumaRows + top / 2, left, 0}, {batch, height / 2, width, 1});
    pairs = reshape(pairs, {batch, height / 2, width / 2, 2});
    Value all[] = {reshape(luma, {batch, 1, height, width}), repeatPixels(plane(pairs, 0)),
                   repeatPixels(plane(pairs, 1))};
    return llvm::map_to_vector(op.getPlanes(), [&](int64_t from) { return all[from]; });
  }

  /// Returns a plane in which each pixel became 2 x 2.
  Value repeatPixels(Value half) {
    const int64_t height = shapeOf(half)[2], width = shapeOf(half)[3];
    Value single = reshape(half, {batch, height, 1, width, 1});
    Value repeated =
        ExpandOp::create(builder, loc, withShape(half, {batch, height, 2, width, 2}), single);
    return reshape(repeated, {batch, 1, height * 2, width * 2});
  }

  //===--- Arithmetic of one channel ----------------------------------------===//

  /// Returns the planes that a channel is made of.
  SmallVector<unsigned> planesOf(int64_t index) {
    SmallVector<unsigned> used;
    if (!isColour(index))
      return {unsigned(index)};
    for (unsigned i = 0; i < 3; ++i)
      if ((*op.getMatrix())[index * 3 + i])
        used.push_back(i);
    // A row of zeros still needs an input to have its shape from.
    if (used.empty())
      used.push_back(0);
    return used;
  }

  /// Returns whether the colour conversion makes the channel; the fourth is no colour.
  bool isColour(int64_t index) { return op.getMatrix() && index < 3; }

  Value channel(ArrayRef<Value> planes, int64_t index) {
    const SmallVector<unsigned> used = planesOf(index);
    const SmallVector<Value> inputs =
        llvm::map_to_vector(used, [&](unsigned i) { return planes[i]; });
    Type element = op.getType().getElementType();
    auto map = MapOp::create(builder, loc, RankedTensorType::get(shapeOf(inputs.front()), element),
                             inputs);
    Block &block = map.getBody().emplaceBlock();
    for (size_t i = 0; i < inputs.size(); ++i)
      block.addArgument(builder.getIntegerType(8), loc);
    OpBuilder inner = OpBuilder::atBlockBegin(&block);
    const ScalarBuilder s{inner, loc};
    Value value = isColour(index)
                      ? convertColour(s, index, used, block.getArguments())
                      : s.op<arith::UIToFPOp>(builder.getF32Type(), block.getArgument(0));
    value = normalize(s, index, value);
    if (value.getType() != element)
      value = s.op<arith::TruncFOp>(element, value);
    YieldOp::create(inner, loc, value);
    return map;
  }

  /// Returns whether f32 holds every partial sum of a row of the matrix exactly.
  bool isExactInFloat(int64_t row) {
    int64_t bound = 0;
    for (unsigned i = 0; i < 3; ++i) {
      const int64_t before = (*op.getBefore())[i];
      bound += std::abs((*op.getMatrix())[row * 3 + i]) * std::max<int64_t>(before, 255 - before);
    }
    return bound < (1 << 24);
  }

  Value convertColour(const ScalarBuilder &s, int64_t row, ArrayRef<unsigned> used,
                      ValueRange pixels) {
    // Integers either way; f64 has room for any of them.
    Type type = isExactInFloat(row) ? Type(builder.getF32Type()) : Type(builder.getF64Type());
    Value sum;
    for (auto [index, pixel] : llvm::zip_equal(used, pixels)) {
      Value value = s.op<arith::UIToFPOp>(type, pixel);
      if (int64_t before = (*op.getBefore())[index])
        value = s.add(value, -double(before));
      value = s.mul(value, double((*op.getMatrix())[row * 3 + index]));
      sum = sum ? s.add(sum, value) : value;
    }
    Value shifted = s.op<math::FloorOp>(s.mul(sum, 1.0 / 256));
    if (int64_t after = (*op.getAfter())[row])
      shifted = s.add(shifted, double(after));
    Value clamped = s.min(s.max(shifted, 0), 255);
    return type.isF32() ? clamped : s.op<arith::TruncFOp>(builder.getF32Type(), clamped);
  }

  Value normalize(const ScalarBuilder &s, int64_t index, Value value) {
    for (float offset : {op.getMeans()[index], op.getMins()[index]})
      if (offset != 0)
        value = s.sub(value, s.constant(value, offset));
    const float factor = op.getFactors()[index];
    return factor == 1 ? value : s.mul(value, factor);
  }

  PreprocessOp op;
  OpBuilder builder;
  const Location loc;
  const int64_t batch;
};

/// Returns whether only convolutions of one group read `value`, whose dims stand in the order of
/// `dims`, directly or through ops that passes remove in front of them.
bool isReadByConvolutions(Value value, ArrayRef<int64_t> dims) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto conv = dyn_cast<ConvOp>(user))
      return use.getOperandNumber() == 0 && conv.getGroups() == 1 && isIdentityPermutation(dims);
    if (auto transpose = dyn_cast<TransposeOp>(user))
      return isReadByConvolutions(transpose.getResult(),
                                  applyPermutation(dims, transpose.getPermutation()));
    if (auto pad = dyn_cast<PadOp>(user))
      return pad.getMode() == PadMode::Constant && pad.getValue().isZero() &&
             isReadByConvolutions(pad.getResult(), dims);
    return isa<CastOp>(user) && isReadByConvolutions(user->getResult(0), dims);
  });
}

struct ExpandPreprocessing : atc::graph::impl::GraphExpandPreprocessingBase<ExpandPreprocessing> {
  using GraphExpandPreprocessingBase::GraphExpandPreprocessingBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    GraphExpandPreprocessingBase::getDependentDialects(registry);
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    for (PreprocessOp op : llvm::make_early_inc_range(getOperation().getOps<PreprocessOp>()))
      if (!keepForConv || !isReadByConvolutions(op.getResult(), {0, 1, 2, 3})) {
        expandPreprocessing(op);
        ++numExpanded;
      }
  }
};

} // namespace

void atc::graph::expandPreprocessing(PreprocessOp op) {
  op.replaceAllUsesWith(Expansion(op).run());
  op.erase();
}
