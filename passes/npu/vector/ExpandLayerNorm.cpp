//===-- ExpandLayerNorm.cpp - npu.layer_norm as a program --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/vector/RowKernels.h"
#include "passes/npu/vector/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDLAYERNORM
#include "passes/npu/Passes.h.inc"

namespace {

class LayerNormExpander {
public:
  LayerNormExpander(ir::LayerNormOp op, const SocTable &soc)
      : op(op), soc(soc), inType(cast<MemRefType>(op.getInput().getType())),
        outType(cast<MemRefType>(op.getOutput().getType())),
        nest(inType.getShape(), {op.getInput(), op.getOutput()}, inType.getRank() - 1) {}

  std::string whyUnsupported() {
    for (Type type : {inType.getElementType(), outType.getElementType()})
      if (!type.isF16() && !type.isF32())
        return "elements that are neither f16 nor f32";
    for (Value row : {op.getGamma(), op.getBeta()}) {
      if (!row)
        continue;
      auto type = cast<MemRefType>(row.getType());
      if (!type.getElementType().isF32() || !type.getLayout().isIdentity())
        return "gamma and beta that are not rows of f32";
    }
    return nest.whyUnsupported(soc, bytesPerElement(), kResident);
  }

  void expand(func::FuncOp function) {
    Type in = inType.getElementType(), out = outType.getElementType();
    TileNest tiles = planOfBoxes(
        op, [&](int64_t percent) { return nest.plan(soc, bytesPerElement(), kResident, percent); });
    ProgramWriter w(function, tiles.grid(), onVectorCores(soc));
    Type f32 = w.builder().getF32Type();
    // Where input and output are f16, scaling and shifting are done in f16.
    Type narrow = in == out ? in : f32;
    tiles.enter(w);
    BoxLayout layout{tiles, 1, 16};
    auto loadRow = [&](Value operand) {
      Value row = w.alloc(ir::MemoryKind::UB, layout.rowElements() * 4);
      w.move(row, w.argument(operand), {nest.length * 4, {}});
      if (narrow == f32)
        return row;
      Value half = w.alloc(ir::MemoryKind::UB, layout.rowElements() * 2);
      w.vector(VectorOp::Cast, half, {}, VectorSource{row, {}, 32}, {}, {}, {}, {},
               {nest.length, {}}, f32, narrow);
      return half;
    };
    Value gamma = op.getGamma() ? loadRow(op.getGamma()) : Value();
    Value beta = op.getBeta() ? loadRow(op.getBeta()) : Value();
    tiles.loops(w, [&] {
      BoxOperand input = nest.operand(0, in), output = nest.operand(1, out);
      input.load(w, w.argument(op.getInput()), layout);
      output.allocate(w, layout);
      RowWriter rows(w, tiles.span(layout.inner()), nest.length);
      Rows source = rowsOf(input, in, layout), result = rowsOf(output, out, layout);
      Rows x = rows.allocate(f32), scratch = rows.allocateScratch(f32);
      rows.cast(x, source);
      const Rows scaled = op.getUncentered() ? scaleByRoot(rows, x, scratch, result, narrow)
                                             : center(rows, source, x, scratch, result, narrow);
      if (gamma)
        rows.applyRow(VectorOp::Mul, scaled, scaled, gamma);
      if (beta)
        rows.applyRow(VectorOp::Add, scaled, scaled, beta);
      if (narrow != out)
        rows.cast(result, scaled);
      output.store(w, w.argument(op.getOutput()), layout);
    });
    w.finish();
  }

private:
  /// Writes 1 / sqrt(mean of squares + epsilon) of each row of `x`, packed.
  Value inverseRoot(RowWriter &rows, const Rows &x, const Rows &scratch) {
    Value squares = rows.reduceSquares(x, scratch);
    rows.packed(VectorOp::MulScalar, squares, x.type, 1 / double(nest.length));
    rows.packed(VectorOp::AddScalar, squares, x.type, op.getEpsilon().convertToDouble());
    rows.packed(VectorOp::Rsqrt, squares, x.type);
    return squares;
  }

  /// Writes x over the root of its mean square, in f32: the factor of large elements is no normal
  /// number of f16. Returns the rows of it, which are of type `narrow`.
  Rows scaleByRoot(RowWriter &rows, const Rows &x, const Rows &scratch, const Rows &result,
                   Type narrow) {
    Value factor = inverseRoot(rows, x, scratch);
    // Where the output is f32 no cast follows: the products are written to it.
    const Rows product = result.type == x.type ? result : x;
    rows.applyScalars(VectorOp::Mul, product, x, rows.blocks(factor, x.type));
    if (narrow == x.type)
      return product;
    rows.cast(result, x);
    return result;
  }

  /// Writes (x - mean) over the deviation. `x` are the rows of `source` in f32.
  Rows center(RowWriter &rows, const Rows &source, const Rows &x, const Rows &scratch,
              const Rows &result, Type narrow) {
    Type f32 = x.type;
    Value mean = rows.reduce(VectorOp::Add, x, scratch);
    rows.packed(VectorOp::MulScalar, mean, f32, 1 / double(nest.length));
    Rows y = narrow == result.type ? result : x;
    if (narrow != f32) {
      // Both differences are to the same mean, the rounded one.
      Value rounded = rows.converted(mean, f32, narrow);
      rows.applyScalars(VectorOp::Sub, y, source, rows.blocks(rounded, narrow));
      mean = rows.converted(rounded, narrow, f32);
    }
    rows.applyScalars(VectorOp::Sub, x, x, rows.blocks(mean, f32));
    Value factor = inverseRoot(rows, x, scratch);
    if (narrow != f32) {
      // Rows without any variance stay 0.
      rows.packed(VectorOp::MinScalar, factor, f32, 65504);
      factor = rows.converted(factor, f32, narrow);
    }
    rows.applyScalars(VectorOp::Mul, y, narrow == f32 ? x : y, rows.blocks(factor, narrow));
    return y;
  }

  /// Input and output twice, rows of f32 and half as much to reduce in.
  int64_t bytesPerElement() {
    return 2 * elementBytes(op.getInput()) + 2 * elementBytes(op.getOutput()) + 6;
  }
  /// Gamma and beta in f32 and f16.
  static constexpr int64_t kResident = 12;

  ir::LayerNormOp op;
  SocTable soc;
  MemRefType inType, outType;
  RowNest nest;
};

struct NpuExpandLayerNormPass : impl::NpuExpandLayerNormBase<NpuExpandLayerNormPass> {
  void runOnOperation() override {
    expandKernels<ir::LayerNormOp>(getOperation(), expandLayerNorm);
  }
};

} // namespace

std::string whyUnsupportedLayerNorm(ir::LayerNormOp op, const SocTable &soc) {
  return LayerNormExpander(op, soc).whyUnsupported();
}

void expandLayerNorm(func::FuncOp function, ir::LayerNormOp op) {
  LayerNormExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu
