//===-- ExpandResize.cpp - kernel.resize as a program ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Supports nearest neighbours where every element is repeated the same number of times: rows of
// blocks are loaded into ub, pixels are repeated by instructions that skip blocks, and rows are
// stored as often as they are repeated.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/ResizePositions.h"
#include "passes/npu/Passes.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorKernels.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDRESIZE
#include "passes/npu/Passes.h.inc"

namespace {

class ResizeExpander {
public:
  ResizeExpander(kernel::ResizeOp op, const SocTable &soc)
      : op(op), soc(soc), inType(cast<MemRefType>(op.getInput().getType())),
        outType(cast<MemRefType>(op.getOutput().getType())), element(inType.getElementType()),
        bytes((inType.getElementTypeBitWidth() + 7) / 8),
        // Four bytes are moved as one integer: a NaN of halves would change its bits.
        moved(bytes == 1 ? Type(IntegerType::get(op.getContext(), 32)) : element) {
    in = inType.getStridesAndOffset().first;
    out = outType.getStridesAndOffset().first;
  }

  std::string whyUnsupported() {
    if (op.getMode() != graph::ResizeMode::Nearest)
      return "interpolation";
    if ((!element.isF16() && !element.isF32() && !element.isInteger(8)) ||
        outType.getElementType() != element)
      return "elements that are neither f16 nor f32 nor bytes";
    if (inType.getRank() != 5 || (block() != 16 && (block() != 32 || bytes != 1)) ||
        outType.getDimSize(4) != block() || in[4] != 1 || out[4] != 1)
      return "a buffer that is not [N][C1][H][W][16]";
    if (inType.getDimSize(0) != outType.getDimSize(0) ||
        inType.getDimSize(1) != outType.getDimSize(1))
      return "resized images or channels";
    if ((in[3] != block() && inType.getDimSize(3) > 1) || out[3] != block())
      return "columns that do not lie behind each other";
    for (size_t dim : {2, 3})
      if (!kernel::repetitionOf(op, dim))
        return "elements that are not repeated equally often";
    if (rowBytes() > int64_t(soc.ubBytes) - 4096)
      return "a row does not fit into ub";
    return {};
  }

  void expand(func::FuncOp function) {
    int64_t height = inType.getDimSize(2), width = inType.getDimSize(3);
    int64_t down = kernel::repetitionOf(op, 2), across = kernel::repetitionOf(op, 3);
    int64_t cores = vectorCoreCount(soc);
    int64_t rows = std::min(height, (int64_t(soc.ubBytes) - 4096) / rowBytes());
    int64_t all = inType.getDimSize(0) * inType.getDimSize(1) * height;
    rows = std::min(rows, std::max<int64_t>(1, all / (2 * cores)));
    rows = llvm::divideCeil(height, llvm::divideCeil(height, rows));
    Axis axes[] = {{inType.getDimSize(0)}, {inType.getDimSize(1)}, {height, rows}};
    const bool isNarrow = pixelBytes() < 32;
    makeExact(axes, isNarrow ? 1 : 2);
    TileNest nest(axes, cores);
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    int64_t pixel = pixelBytes(), blocks = pixel / 32;
    int64_t inRow = width * pixel, outRow = inRow * across;
    nest.loops(w, [&] {
      auto address = [&](unsigned operand, ArrayRef<int64_t> strides, int64_t rowScale) {
        return BufferAddress(w.argument(operand),
                             nest.start(0) * (strides[0] * bytes) +
                                 nest.start(1) * (strides[1] * bytes) +
                                 nest.start(2) * (strides[2] * bytes * rowScale));
      };
      if (isNarrow) {
        // The vector unit repeats blocks of 32 bytes only: each pixel has one in ub, and is stored
        // as often as it is repeated.
        const int64_t row = width * 32;
        Value pixels = w.alloc(ir::MemoryKind::UB, row * rows);
        w.move(pixels, address(0, in, 1), Span{pixel, {}}, nest.span(2), {row, 32},
               {in[2] * bytes, pixel}, Span{width, {}});
        for (int64_t i = 0; i < down * across; ++i) {
          BufferAddress to = address(1, out, down);
          to.offset = to.offset + Expr(i / across * out[2] * bytes + i % across * pixel);
          w.move(to, pixels, Span{pixel, {}}, nest.span(2), {down * out[2] * bytes, across * pixel},
                 {row, 32}, Span{width, {}});
        }
        return;
      }
      Value source = w.alloc(ir::MemoryKind::UB, inRow * rows);
      w.move(source, address(0, in, 1), Span{inRow, {}}, nest.span(2), {inRow, 0},
             {in[2] * bytes, 0}, nest.span(1));
      Value wide = source;
      if (across > 1) {
        wide = w.alloc(ir::MemoryKind::UB, outRow * rows);
        for (int64_t i = 0; i < across; ++i)
          w.vector(VectorOp::Copy, {wide, i * pixel}, {outRow, 32},
                   VectorSource{source, {inRow, 32}, pixel}, {}, {}, nest.span(2), Span{blocks, {}},
                   Span{width * 32 / int64_t(moved.getIntOrFloatBitWidth() / 8), {}}, moved, moved,
                   0, across * pixel);
      }
      for (int64_t i = 0; i < down; ++i) {
        BufferAddress to = address(1, out, down);
        to.offset = to.offset + Expr(i * out[2] * bytes);
        w.move(to, wide, Span{outRow, {}}, nest.span(2), {down * out[2] * bytes, 0}, {outRow, 0},
               nest.span(1));
      }
    });
    w.finish();
  }

private:
  int64_t block() { return inType.getDimSize(4); }
  int64_t pixelBytes() { return block() * bytes; }

  /// Returns the bytes of ub per row of the input, with both buffers doubled.
  int64_t rowBytes() {
    if (pixelBytes() < 32)
      return 2 * inType.getDimSize(3) * 32;
    return 2 * inType.getDimSize(3) * pixelBytes() * (1 + kernel::repetitionOf(op, 3));
  }

  kernel::ResizeOp op;
  SocTable soc;
  MemRefType inType, outType;
  Type element;
  int64_t bytes;
  Type moved;
  SmallVector<int64_t> in, out;
};

struct NpuExpandResizePass : impl::NpuExpandResizeBase<NpuExpandResizePass> {
  void runOnOperation() override { expandKernels<kernel::ResizeOp>(getOperation(), expandResize); }
};

} // namespace

std::string whyUnsupportedResize(kernel::ResizeOp op, const SocTable &soc) {
  return ResizeExpander(op, soc).whyUnsupported();
}

void expandResize(func::FuncOp function, kernel::ResizeOp op) {
  ResizeExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu
