//===-- ExpandSoftmax.cpp - kernel.softmax as a program ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/vector/RowKernels.h"
#include "passes/npu/vector/VectorKernels.h"

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
    TileNest tiles = planOfBoxes(op, [&](int64_t percent) {
      return nest.plan(soc, bytesPerElement(), /*resident=*/0, percent);
    });
    ProgramWriter w(function, tiles.grid(), onVectorCores(soc));
    Type compute = inHalf() ? in : Type(w.builder().getF32Type());
    tiles.enter(w);
    BoxLayout layout{tiles, 1, 16};
    tiles.loops(w, [&] {
      BoxOperand input = nest.operand(0, in), output = nest.operand(1, out);
      input.load(w, w.argument(0u), layout);
      output.allocate(w, layout);
      RowWriter rows(w, tiles.span(layout.inner()), nest.length);
      Rows source = rowsOf(input, in, layout), result = rowsOf(output, out, layout);
      Rows x = compute == out ? result : rows.allocate(compute);
      Rows scratch = op.getLog() ? rows.allocate(compute) : rows.allocateScratch(compute);
      // The maximum is exact in any type, so it can share this buffer.
      Rows narrow{scratch.buffer, in, scratch.pitch / scratch.bytes() * source.bytes()};
      Value largest = rows.reduce(VectorOp::Max, source, narrow);
      if (in != compute) {
        largest = rows.converted(largest, in, compute);
        rows.cast(x, source);
        source = x;
      }
      rows.applyScalars(VectorOp::Sub, x, source, rows.blocks(largest, compute));
      if (op.getLog()) {
        rows.apply(VectorOp::Exp, scratch, x);
        Value sum = rows.reduce(VectorOp::Add, scratch, scratch);
        rows.packed(VectorOp::Ln, sum, compute);
        rows.applyScalars(VectorOp::Sub, x, x, rows.blocks(sum, compute));
      } else {
        rows.apply(VectorOp::Exp, x, x);
        Value sum = rows.reduce(VectorOp::Add, x, scratch);
        rows.packed(VectorOp::Reciprocal, sum, compute);
        rows.applyScalars(VectorOp::Mul, x, x, rows.blocks(sum, compute));
      }
      if (compute != out)
        rows.cast(result, x);
      output.store(w, w.argument(1u), layout);
    });
    w.finish();
  }

private:
  /// Returns whether to compute in f16: the differences to the maximum are no less accurate than
  /// their inputs, and so are sums by halves of that many elements.
  bool inHalf() const {
    Type out = cast<MemRefType>(op.getOutput().getType()).getElementType();
    return type.getElementType().isF16() && out.isF16() && !op.getLog() && nest.length <= 2048;
  }

  /// Input and output twice, rows to compute in, half as much to reduce in.
  int64_t bytesPerElement() const {
    int64_t twice = 2 * elementBytes(op.getInput()) + 2 * elementBytes(op.getOutput());
    return twice + (inHalf() ? 1 : 8);
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
