//===-- Transposes.cpp - copies that change the contiguous dim ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/Transposes.h"

#include "dialects/kernel/Kernel.h"

using namespace mlir;

namespace atc::npu {

constexpr int64_t kBlock = 16;

void Transposition::addLoop(int64_t size, int64_t inStride, int64_t outStride) {
  if (size > 1)
    loops.addDim(size, {inStride, outStride});
}
void Transposition::setRows(int64_t size, int64_t inStride) {
  rows = size;
  rowStride = inStride;
}
void Transposition::setColumns(int64_t size, int64_t outStride) {
  columns = size;
  columnStride = outStride;
}
void Transposition::groupRows(int64_t size, int64_t count, int64_t inStride, int64_t outStride) {
  group = int(loops.rank());
  loops.addDim(llvm::divideCeil(count, size), {inStride, outStride});
  groupsRows = true;
  groupSize = size;
  groupCount = count;
}
void Transposition::groupColumns(int64_t size, int64_t count, int64_t inStride, int64_t outStride) {
  groupRows(size, count, inStride, outStride);
  groupsRows = false;
}

TileSpace Transposition::padded() const {
  TileSpace result = loops;
  if (result.rank() == 0)
    result.addDim(1, {0, 0});
  return result;
}

TileNest Transposition::plan() const {
  TileSpace loops = padded();
  int64_t cores = vectorCoreCount(soc), steps = 1;
  SmallVector<Axis> axes;
  for (int64_t size : loops.sizes) {
    axes.push_back({size});
    steps *= size;
  }
  // Each of two buffers twice, of whole blocks of 16 x 16; bytes have two more, and lie in rows of
  // whole blocks of 32.
  const int64_t available = (int64_t(soc.ubBytes) - 4096) / (bytes == 1 ? 24 : 4 * bytes);
  int64_t capacity = available;
  int64_t wanted = std::max<int64_t>(rows * columns * steps / (2 * cores), 2048);
  capacity = std::min(capacity, wanted);
  auto tileOf = [](int64_t size, int64_t max) {
    max = std::max(kBlock, max / kBlock * kBlock);
    if (size <= max)
      return size;
    return int64_t(llvm::alignTo(llvm::divideCeil(size, llvm::divideCeil(size, max)), kBlock));
  };
  // Both runs in gm should be long. Groups are not divided.
  const bool isWhole = group >= 0 && !groupsRows;
  int64_t rowTile = tileOf(rows, isWhole ? std::min<int64_t>(256, available / columns) : 256);
  int64_t columnTile =
      isWhole ? columns : tileOf(columns, capacity / int64_t(llvm::alignTo(rowTile, kBlock)));
  // Moves clamp one of the loops.
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i].isExact = i != cutLoop();
  axes.push_back({rows, rowTile});
  axes.push_back({columns, columnTile});
  return TileNest(axes, cores);
}

void Transposition::expand(func::FuncOp function, bool vectorCore) const {
  TileSpace loops = padded();
  TileNest nest = plan();
  ProgramWriter w(function, nest.grid(), vectorCore);
  nest.enter(w);
  size_t rowAxis = loops.rank(), columnAxis = rowAxis + 1;
  int64_t rowTile = nest.axis(rowAxis).tile, columnTile = nest.axis(columnAxis).tile;
  // A row of bytes has whole blocks of 32 bytes as well.
  const int64_t unit = bytes == 1 ? 2 : 1;
  int64_t rowBlocks = llvm::alignTo(llvm::divideCeil(rowTile, kBlock), unit);
  int64_t columnBlocks = llvm::alignTo(llvm::divideCeil(columnTile, kBlock), unit);
  int64_t inPitch = columnBlocks * 32, outPitch = rowBlocks * 32;
  const int64_t elements = rowBlocks * columnBlocks * kBlock * kBlock;
  Type f16 = w.builder().getF16Type(), byte = w.builder().getI8Type();
  nest.loops(w, [&] {
    Expr from, to;
    for (size_t i = 0; i < loops.rank(); ++i) {
      from = from + nest.start(i) * (loops.strides[0][i] * bytes);
      to = to + nest.start(i) * (loops.strides[1][i] * bytes);
    }
    auto cast = [&](Value source, Type sourceType, Type type) {
      Value result = w.alloc(ir::MemoryKind::UB, elements * type.getIntOrFloatBitWidth() / 8);
      w.vector(VectorOp::Cast, result, {}, VectorSource{source, {}, 32}, {}, {}, {}, {},
               Span{elements, {}}, sourceType, type);
      return result;
    };
    Value in = w.alloc(ir::MemoryKind::UB, elements * bytes);
    Value out = w.alloc(ir::MemoryKind::UB, elements * 2);
    // A partial group has only some of its elements.
    Span groups = group < 0 ? Span() : Span{groupSize, nest.start(group) * groupSize, groupCount};
    Span inRows = group >= 0 && groupsRows ? groups : nest.span(rowAxis);
    Span outRows = group >= 0 && !groupsRows ? groups : nest.span(columnAxis);
    if (group >= 0 && groupsRows && groupCount % groupSize)
      w.vector(VectorOp::Fill, in, {}, {}, {}, {}, {}, {}, Span{elements * bytes / 2, {}}, f16, f16,
               0);
    w.move(in,
           {w.argument(0u),
            from + nest.start(rowAxis) * (rowStride * bytes) + nest.start(columnAxis) * bytes},
           nest.span(columnAxis, bytes), inRows, {inPitch / 2 * bytes, 0}, {rowStride * bytes, 0},
           nest.span(cutLoop()));
    w.transpose(out, {32, kBlock * outPitch}, outPitch, bytes == 1 ? cast(in, byte, f16) : in,
                {kBlock * inPitch, 32}, inPitch, {rowBlocks, {}}, {columnBlocks, {}});
    w.move({w.argument(1u),
            to + nest.start(rowAxis) * bytes + nest.start(columnAxis) * (columnStride * bytes)},
           bytes == 1 ? cast(out, f16, byte) : out, nest.span(rowAxis, bytes), outRows,
           {columnStride * bytes, 0}, {outPitch / 2 * bytes, 0}, nest.span(cutLoop()));
  });
  w.finish();
}

//===----------------------------------------------------------------------===//
// kernel.pack and unpack
//===----------------------------------------------------------------------===//

namespace {

/// Expands a copy between plain [N][C][H][W] and [N][C1][H][W][16], or blocks of 32 channels.
class PackExpander {
public:
  PackExpander(Operation *op, const SocTable &soc)
      : soc(soc), isPack(isa<kernel::PackOp>(op)),
        plain(cast<MemRefType>(op->getOperand(isPack ? 0 : 1).getType())),
        blocked(cast<MemRefType>(op->getOperand(isPack ? 1 : 0).getType())),
        bytes(elementBytes(op->getOperand(0))), block(blocked.getDimSize(4)) {
    p = plain.getStridesAndOffset().first;
    b = blocked.getStridesAndOffset().first;
    channels = plain.getDimSize(1);
    pixels.addDim(plain.getDimSize(0), {p[0], b[0]});
    pixels.addDim(plain.getDimSize(2), {p[2], b[2]});
    pixels.addDim(plain.getDimSize(3), {p[3], b[3]});
    pixels.normalize(1);
    byChannels = channels == 1 || p[1] == 1;
    if (!byChannels) {
      pixels.pad(1);
      isOnePixel = pixels.sizes.back() == 1;
      byBlocks = bytes <= 2 && (isOnePixel || pixels.strides[0].back() == 1);
    }
  }

  std::string whyUnsupported() {
    if (plain.getElementType() != blocked.getElementType())
      return "a change of the element type";
    const Type element = plain.getElementType();
    if (!element.isF16() && !element.isF32() && !element.isInteger(8))
      return "elements that are neither f16, f32 nor bytes";
    if ((block != kBlock && block != 2 * kBlock) || b[4] != 1)
      return "blocks that are neither 16 nor 32 channels";
    if (byBlocks)
      return transposition().fits() ? "" : "more than 6 loops";
    return elementPlan().fitsLoops() ? "" : "more than 6 loops";
  }

  void expand(func::FuncOp function) {
    if (byBlocks)
      return transposition().expand(function, onVectorCores(soc));
    moveElements(function);
  }

private:
  Transposition transposition() const {
    Transposition result(soc, bytes);
    size_t last = pixels.rank() - 1;
    auto stride = [&](size_t dim, bool ofInput) {
      return pixels.strides[ofInput == isPack ? 0 : 1][dim];
    };
    for (size_t dim = 0; dim < last; ++dim)
      result.addLoop(pixels.sizes[dim], stride(dim, true), stride(dim, false));
    if (isPack) {
      result.groupRows(block, channels, block * p[1], b[1]);
      result.setRows(block, p[1]);
      result.setColumns(pixels.sizes[last], stride(last, false));
    } else {
      result.groupColumns(block, channels, b[1], block * p[1]);
      result.setRows(pixels.sizes[last], stride(last, true));
      result.setColumns(block, p[1]);
    }
    return result;
  }

  /// Axes: dims of pixels, blocks, and a block's lanes.
  TileNest elementPlan() const {
    SmallVector<Axis> axes;
    int64_t cores = vectorCoreCount(soc), all = 1;
    for (int64_t size : pixels.sizes) {
      axes.push_back({size});
      all *= size;
    }
    if (axes.empty())
      axes.push_back({1});
    int64_t perPixel = byChannels ? runBytes() : block * 32;
    int64_t max = std::min((int64_t(soc.ubBytes) - 4096) / (2 * perPixel),
                           std::max<int64_t>(64, llvm::divideCeil(all, cores)));
    Axis &last = axes.back();
    last.tile = llvm::divideCeil(last.size, llvm::divideCeil(last.size, std::min(max, last.size)));
    axes.push_back({int64_t(llvm::divideCeil(channels, block))});
    axes.back().isExact = true;
    makeExact(axes, 2);
    return TileNest(axes, cores);
  }

  /// Returns the bytes in ub of a pixel whose channels are a run.
  int64_t runBytes() const { return llvm::alignTo(block * bytes, 32); }

  /// Copies channels: contiguous ones as runs, others one by one, each into 32 bytes of its own.
  void moveElements(func::FuncOp function) {
    TileNest nest = elementPlan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    size_t blocks = nest.size() - 1, pixel = blocks - 1;
    Type element = plain.getElementType();
    nest.loops(w, [&] {
      Expr plainAt = nest.start(blocks) * (block * p[1] * bytes);
      Expr blockedAt = nest.start(blocks) * (b[1] * bytes);
      for (size_t dim = 0; dim < pixels.rank(); ++dim) {
        plainAt = plainAt + nest.start(dim) * (pixels.strides[0][dim] * bytes);
        blockedAt = blockedAt + nest.start(dim) * (pixels.strides[1][dim] * bytes);
      }
      int64_t plainStep = pixels.rank() ? pixels.strides[0].back() * bytes : 0;
      int64_t blockedStep = pixels.rank() ? pixels.strides[1].back() * bytes : 0;
      // The existing channels of the block, in units of a move.
      int64_t lane = byChannels ? runBytes() : 32, scale = byChannels ? bytes : 1;
      Span there{block * scale, nest.start(blocks) * (block * scale), channels * scale};
      Value buffer =
          w.alloc(ir::MemoryKind::UB, nest.axis(pixel).tile * (byChannels ? lane : block * lane));
      BufferAddress plainPlace(w.argument(isPack ? 0u : 1u), plainAt);
      BufferAddress blockedLayout(w.argument(isPack ? 1u : 0u), blockedAt);
      Span points = nest.span(pixel);
      if (isPack && channels % block)
        w.vector(VectorOp::Fill, buffer, {}, {}, {}, {}, {}, {},
                 Span{nest.axis(pixel).tile * (byChannels ? 1 : block) * lane / bytes, {}}, element,
                 element, 0);
      if (byChannels) {
        Steps inUb{lane, 0};
        if (isPack) {
          w.move(buffer, plainPlace, there, points, inUb, {plainStep, 0});
          w.move(blockedLayout, buffer, {block * bytes, {}}, points, {blockedStep, 0}, inUb);
        } else {
          w.move(buffer, blockedLayout, {block * bytes, {}}, points, inUb, {blockedStep, 0});
          w.move(plainPlace, buffer, there, points, {plainStep, 0}, inUb);
        }
        return;
      }
      Steps inUb{block * 32, 32}, inPlain{plainStep, p[1] * bytes};
      Steps inBlocked{blockedStep, bytes};
      if (isPack) {
        w.move(buffer, plainPlace, {bytes, {}}, points, inUb, inPlain, there);
        w.move(blockedLayout, buffer, {bytes, {}}, points, inBlocked, inUb, {block, {}});
      } else {
        w.move(buffer, blockedLayout, {bytes, {}}, points, inUb, inBlocked, {block, {}});
        w.move(plainPlace, buffer, {bytes, {}}, points, inPlain, inUb, there);
      }
    });
    w.finish();
  }

  SocTable soc;
  bool isPack;
  MemRefType plain, blocked;
  int64_t bytes, block; ///< `block`: channels side by side
  int64_t channels;
  SmallVector<int64_t> p, b;
  TileSpace pixels;
  bool byChannels = false, byBlocks = false, isOnePixel = false;
};

} // namespace

std::string whyUnsupportedPack(Operation *op, const SocTable &soc) {
  return PackExpander(op, soc).whyUnsupported();
}

void expandPack(func::FuncOp function, Operation *op) {
  PackExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu
