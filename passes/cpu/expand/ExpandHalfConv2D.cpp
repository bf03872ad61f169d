//===-- ExpandHalfConv2D.cpp - cpu.half_conv2d as loops -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, rows of pixels, group of channel blocks). Inside it:
//
//   round the input of the rows           to f16 in scratch memory [input block][row][column][pair]
//   for blocks of channels
//     for pixel tiles
//       bias and residual                 to the sums of the tile in scratch memory, of f32
//       for chunks of the contracted dims
//         for pairs of channels           accumulators of f16 in registers
//         add them to the sums
//       activation                        of the sums, to the output
//
// Tasks that follow each other in a call and have the same rows share the rounded input.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/Half.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/HalfTiles.h"
#include "passes/cpu/expand/RowInput.h"
#include "passes/cpu/tiles/Epilogue.h"
#include "passes/cpu/tiles/PixelTiles.h"
#include "passes/cpu/tiles/Scratch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDHALFCONV2D
#include "passes/cpu/Passes.h.inc"

namespace {

class HalfConv2DExpander {
public:
  HalfConv2DExpander(HalfConv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), tiles(op, tile), filterShape(shapeOf(op.getFilter())),
        filterStrides(stridesOf(op.getFilter())), in(shapeOf(op.getInput())),
        inStrides(stridesOf(op.getInput())),
        halves(in, {0, tiles.rows * tiles.rowStride(), tiles.rowStride(), tiles.pixelStride, 1},
               op.getStrides()),
        out(op.getOutput(), {1, 1}), width(out.shape()[4]) {}

  void run();

private:
  void roundInput(Value image, Value firstRow);
  void roundRun(Value from, Value to, int64_t count);
  void emitTile(const PixelTile &pixels, const Lookahead &ahead, Value firstRow, Value block,
                Value image);
  void accumulate(const PixelTile &pixels, ArrayRef<Address> inAt, Value filterAt,
                  ArrayRef<Address> sumsAt, const Lookahead &ahead);

  HalfConv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  HalfTiles tiles;
  ArrayRef<int64_t> filterShape;
  SmallVector<int64_t> filterStrides;
  ArrayRef<int64_t> in;
  SmallVector<int64_t> inStrides;
  PixelGrid halves, out;
  int64_t width;
  Value input, filter, output, scratch;
  EpilogueBuffers epilogue;
};

/// Rounds `count` adjacent elements of the input to pairs in scratch memory. Up to 16 pairs behind
/// them are overwritten.
void HalfConv2DExpander::roundRun(Value from, Value to, int64_t count) {
  constexpr int64_t kLanes = 16, kUnroll = 4;
  const auto wide = VectorType::get({kLanes}, b.getF32Type());
  const auto half = VectorType::get({kLanes}, b.getF16Type());
  const auto pairs = VectorType::get({kLanes / 2}, b.getF32Type());
  auto roundVector = [&](Value at, int64_t offset, int64_t valid) {
    Value index = b.add(b.add(from, at), offset), value;
    if (valid == kLanes) {
      value = vector::LoadOp::create(b, wide, input, index);
    } else {
      auto maskType = VectorType::get({kLanes}, b.getI1Type());
      Value mask = vector::ConstantMaskOp::create(b, maskType, ArrayRef<int64_t>{valid});
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(wide));
      value = vector::MaskedLoadOp::create(b, wide, input, index, mask, zero);
    }
    Value rounded = arith::TruncFOp::create(b, half, value);
    Value position = b.add(to, arith::ShRUIOp::create(b, at, b.index(1)));
    vector::StoreOp::create(b, vector::BitCastOp::create(b, pairs, rounded), scratch,
                            b.add(position, offset / 2));
  };
  const int64_t group = kLanes * kUnroll, whole = count / group * group;
  if (whole)
    b.loop(b.index(0), b.index(whole), group, [&](Value at) {
      for (int64_t i = 0; i < kUnroll; ++i)
        roundVector(at, i * kLanes, kLanes);
    });
  for (int64_t at = whole; at < count; at += kLanes)
    roundVector(b.index(at), 0, std::min(kLanes, count - at));
}

void HalfConv2DExpander::roundInput(Value image, Value firstRow) {
  const int64_t channels = in[4], pairs = channels / 2;
  const int64_t padded = filterShape[4] - pairs;
  // Pixels without a gap on either side are one run.
  const bool isDense = inStrides[3] == channels && tiles.pixelStride == pairs;
  Value from = b.mulAdd(image, inStrides[0], b.mul(firstRow, op.getStrides()[0] * inStrides[2]));
  b.loop(in[1], [&](Value block) {
    Value blockFrom = b.mulAdd(block, inStrides[1], from), blockTo = b.mul(block, halves.stride(1));
    // The last task may have fewer rows.
    Value first = b.mul(firstRow, op.getStrides()[0]);
    Value rows = b.index(tiles.rows);
    if (tiles.rows < in[2])
      rows = arith::MinUIOp::create(b, rows, arith::SubIOp::create(b, b.index(in[2]), first));
    b.loop(b.index(0), rows, 1, [&](Value row) {
      Value rowFrom = b.mulAdd(row, inStrides[2], blockFrom);
      Value rowTo = b.mulAdd(row, tiles.rowStride(), blockTo);
      if (isDense)
        return roundRun(rowFrom, rowTo, in[3] * channels);
      b.loop(in[3], [&](Value column) {
        Value to = b.mulAdd(column, tiles.pixelStride, rowTo);
        roundRun(b.mulAdd(column, inStrides[3], rowFrom), to, channels);
        // Weights of channels that do not exist are zeros, but what they are multiplied by must be
        // finite.
        const auto type = VectorType::get({8}, b.getF32Type());
        Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
        for (int64_t i = 0; i < padded; i += 8)
          vector::StoreOp::create(b, zero, scratch, b.add(to, pairs + i));
      });
    });
  });
}

/// Accumulates all products of a tile in the sums.
void HalfConv2DExpander::accumulate(const PixelTile &pixels, ArrayRef<Address> inAt, Value filterAt,
                                    ArrayRef<Address> sumsAt, const Lookahead &ahead) {
  const SumLoop blocks{in[1], halves.stride(1), filterStrides[1]};
  const SumLoop windowRows{filterShape[2], op.getDilations()[0] * tiles.rowStride(),
                           filterStrides[2]};
  const SumLoop windowColumns{filterShape[3], op.getDilations()[1] * tiles.pixelStride,
                              filterStrides[3]};
  const SumLoop channels{filterShape[4], 1, filterStrides[4]};
  SmallVector<SumLoop> outer, inner;
  auto divide = [&](SumLoop loop, int64_t steps) {
    outer.push_back({loop.trip / steps, steps * loop.lhsStride, steps * loop.rhsStride});
    return SumLoop{steps, loop.lhsStride, loop.rhsStride};
  };
  const HalfChunk chunk = tiles.chunk;
  SumLoop some = channels;
  if (chunk.pairs < channels.trip) {
    outer = {blocks, windowRows, windowColumns};
    some = divide(channels, chunk.pairs);
  } else if (chunk.windowRows) {
    inner = {divide(blocks, chunk.blocks), windowRows, windowColumns};
  } else {
    outer = {blocks, windowRows};
    inner = {windowColumns};
  }
  constexpr int64_t kUnroll = 8;
  const int64_t unroll = some.trip % kUnroll ? 1 : kUnroll;
  inner.push_back({some.trip / unroll, unroll * some.lhsStride, unroll * some.rhsStride});
  inner.push_back({unroll, some.lhsStride, some.rhsStride, /*unroll=*/true});

  // Loops over the chunks around the body.
  std::function<void(size_t, Value, Value)> emit = [&](size_t depth, Value lhsMore, Value rhsMore) {
    if (depth < outer.size()) {
      const SumLoop &loop = outer[depth];
      b.loop(loop.trip, [&](Value i) {
        emit(depth + 1, b.mulAdd(i, loop.lhsStride, lhsMore), b.mulAdd(i, loop.rhsStride, rhsMore));
      });
      return;
    }
    RegisterTile acc(b, pixels.count, tile.getBlocks(), width, Products::HalfPairs);
    acc.zero();
    SmallVector<Address> lhsAt;
    llvm::SmallDenseMap<Value, Value> bases;
    for (const Address &address : inAt) {
      Value &base = bases[address.base];
      if (!base)
        base = b.add(address.base, lhsMore);
      lhsAt.push_back({base, address.offset});
    }
    Lookahead share = ahead;
    if (share.from)
      share.from = b.add(share.from, rhsMore);
    acc.contract(scratch, lhsAt, filter, {b.add(filterAt, rhsMore)}, filterStrides[0], inner,
                 /*lastBlockWidth=*/0, share.from ? &share : nullptr);
    acc.addTo(scratch, sumsAt, width);
  };
  emit(0, b.index(0), b.index(0));
}

void HalfConv2DExpander::emitTile(const PixelTile &pixels, const Lookahead &ahead, Value firstRow,
                                  Value block, Value image) {
  const int64_t blocks = tile.getBlocks();
  RegisterTile acc(b, pixels.count, blocks, width);
  SmallVector<Address> outAt =
      out.addresses(b, pixels, b.mulAdd(image, out.stride(0), b.mul(block, out.stride(1))));
  EpilogueAt at{{b.mul(block, width)}, {}, 0};
  if (epilogue.residual) {
    PixelGrid residual(op.getResidual(), {1, 1});
    at.residualBlockStride = residual.stride(1);
    at.residual = residual.addresses(
        b, pixels, b.mulAdd(image, residual.stride(0), b.mul(block, residual.stride(1))));
  }
  startSum(b, acc, epilogue, at, width);
  SmallVector<Address> sumsAt;
  for (int64_t p = 0; p < pixels.count; ++p)
    sumsAt.push_back({b.index(tiles.inputElements()), p * blocks * width});
  acc.store(scratch, sumsAt, width);

  Value before = b.mul(firstRow, op.getStrides()[0] * tiles.rowStride());
  Value base = arith::SubIOp::create(b, b.index(0), before);
  accumulate(pixels, halves.addresses(b, pixels, base), b.mul(block, filterStrides[0]), sumsAt,
             ahead);

  acc.load(scratch, sumsAt, width);
  finishSum(b, acc, epilogue, at, width);
  acc.store(output, outAt, out.stride(1));
}

void HalfConv2DExpander::run() {
  ArrayRef<int64_t> shape = out.shape();
  scratch = addScratch(op, tiles.scratchElements(tile));
  auto kernel = op->getParentOfType<func::FuncOp>();
  Value begin = kernel.getArgument(kernel.getNumArguments() - 2);
  input = b.flat(op.getInput());
  filter = b.flat(op.getFilter());
  output = b.flat(op.getOutput());
  epilogue = epilogueOf(b, op);

  const int64_t groups = std::min(tile.getGroups(), shape[1]);
  const int64_t groupTasks = llvm::divideCeil(shape[1], groups);
  PixelTiling tiling(shape[2], shape[3], tile);
  SmallVector<Value> task = b.beginTasks({shape[0], tiling.tasks(), groupTasks});
  Value firstRow = tile.getFlatten() ? b.index(0) : b.mul(task[1], tile.getRows());
  emitRowInput(b, task, groupTasks, begin, [&] { roundInput(task[0], firstRow); });

  Value firstBlock = b.mul(task[2], groups), endBlock = b.add(firstBlock, groups);
  if (shape[1] % groups)
    endBlock = arith::MinUIOp::create(b, endBlock, b.index(shape[1]));
  // Enough tiles share a panel to request the next one in small parts.
  constexpr int64_t kEnoughTiles = 4;
  const bool prefetches = tiling.tilesPerTask() >= kEnoughTiles;
  b.loop(firstBlock, endBlock, tile.getBlocks(), [&](Value block) {
    Value next = prefetches ? b.mul(b.add(block, tile.getBlocks()), filterStrides[0]) : Value();
    tiling.forEachTile(b, task[1], [&](const PixelTile &pixels) {
      emitTile(pixels, {next, tiling.tilesPerTask(), pixels.ordinal}, firstRow, block, task[0]);
    });
  });
  op.erase();
}

struct CpuExpandHalfConv2DPass : impl::CpuExpandHalfConv2DBase<CpuExpandHalfConv2DPass> {
  void runOnOperation() override {
    getOperation().walk([&](HalfConv2DOp op) {
      TileAttr tile = op.getTileAttr();
      if (!tile || shapeOf(op.getOutput())[1] % tile.getBlocks() ||
          shapeOf(op.getOutput())[4] != levelOf(op).getLanes()) {
        op.emitOpError(
            "needs a level whose vectors have as many lanes as a block has channels, and "
            "a tile whose blocks divide the output's; run cpu-select-tiles first");
        return signalPassFailure();
      }
      HalfConv2DExpander(op, tile).run();
    });
  }
};

} // namespace
} // namespace atc::cpu
