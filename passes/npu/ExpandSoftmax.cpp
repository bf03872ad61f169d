//===-- ExpandSoftmax.cpp - kernel.softmax as a program ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/RowKernels.h"
#include "passes/npu/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDSOFTMAX
#include "passes/npu/Passes.h.inc"

namespace {

class SoftmaxExpander {
public:
  SoftmaxExpander(kernel::SoftmaxOp op, const SocTable &soc)
      : op(op), soc(soc), type(cast<MemRefType>(op.getInput().getType())),
        nest(type.getShape(), {op.getInput(), op.getOutput()}, op.getAxis()) {}

  std::string whyUnsupported() const {
    Type in = type.getElementType();
    Type out = cast<MemRefType>(op.getOutput().getType()).getElementType();
    if ((!in.isF16() && !in.isF32()) || (!out.isF16() && !out.isF32()))
      return "elements that are neither f16 nor f32";
    return nest.whyUnsupported(soc, bytesPerElement());
  }

  void expand(func::FuncOp function) {
    Type in = type.getElementType();
    Type out = cast<MemRefType>(op.getOutput().getType()).getElementType();
    TileNest tiles = nest.plan(soc, bytesPerElement());
    ProgramWriter w(function, tiles.grid(), onVectorCores(soc));
    Type f32 = w.builder().getF32Type();
    tiles.enter(w);
    BoxLayout layout{tiles, 1, 16};
    tiles.loops(w, [&] {
      BoxOperand input = nest.operand(0, in), output = nest.operand(1, out);
      input.load(w, w.argument(0u), layout);
      output.allocate(w, layout);
      RowWriter rows(w, tiles.span(layout.inner()), nest.length);
      auto rowsOf = [&](const BoxOperand &operand, Type type) {
        int64_t bytes = type.getIntOrFloatBitWidth() / 8;
        return Rows{operand.operand().buffer, type, layout.rowElements() * bytes};
      };
      Rows source = rowsOf(input, in), x = rows.allocate(f32), half = rows.allocate(f32);
      Rows result = rowsOf(output, out);
      // The largest is exact in any type; its place in ub is as good as another.
      Rows scratch = in.isF32() ? half : Rows{half.buffer, in, source.pitch};
      Value largest = rows.reduce(VectorOp::Max, source, scratch);
      if (!in.isF32())
        largest = widened(w, largest, in, tiles.span(layout.inner()));
      rows.cast(x, source);
      rows.applyScalars(VectorOp::Sub, x, x, rows.blocks(largest, f32));
      if (op.getLog()) {
        rows.apply(VectorOp::Exp, half, x);
        Value sum = rows.reduce(VectorOp::Add, half, half);
        rows.packed(VectorOp::Ln, sum, f32);
        rows.applyScalars(VectorOp::Sub, x, x, rows.blocks(sum, f32));
      } else {
        rows.apply(VectorOp::Exp, x, x);
        Value sum = rows.reduce(VectorOp::Add, x, half);
        rows.packed(VectorOp::Reciprocal, sum, f32);
        rows.applyScalars(VectorOp::Mul, x, x, rows.blocks(sum, f32));
      }
      rows.cast(result, x);
      output.store(w, w.argument(1u), layout);
    });
    w.finish();
  }

private:
  /// Input and output twice, two rows of f32.
  int64_t bytesPerElement() const {
    return 2 * elementBytes(op.getInput()) + 2 * elementBytes(op.getOutput()) + 8;
  }

  static Value widened(ProgramWriter &w, Value packed, Type from, const Span &count) {
    Type f32 = w.builder().getF32Type();
    Value wide = w.alloc(ir::MemoryKind::UB, llvm::alignTo(count.length * 4, 32));
    w.vector(VectorOp::Cast, wide, {}, VectorSource{packed, {}, 32}, {}, {}, {}, {}, count, from,
             f32);
    return wide;
  }

  mutable kernel::SoftmaxOp op;
  SocTable soc;
  MemRefType type;
  RowNest nest;
};

struct NpuExpandSoftmaxPass : impl::NpuExpandSoftmaxBase<NpuExpandSoftmaxPass> {
  void runOnOperation() override {
    expandKernels<kernel::SoftmaxOp>(getOperation(), expandSoftmax);
  }
};

} // namespace

std::string whyUnsupportedSoftmax(kernel::SoftmaxOp op, const SocTable &soc) {
  return SoftmaxExpander(op, soc).whyUnsupported();
}

void expandSoftmax(func::FuncOp function, kernel::SoftmaxOp op) {
  SoftmaxExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu
