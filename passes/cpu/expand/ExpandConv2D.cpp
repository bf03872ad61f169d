//===-- ExpandConv2D.cpp - cpu.conv2d as register-tiled loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, group of channel blocks, rows of pixels). Inside it:
//
//   for depth chunk            the filter panel below stays in L1
//     for blocks of channels
//       for pixel tiles        accumulators in registers
//         for input block, kh, kw, channel: broadcast, multiply, add
//
// With more than one depth chunk the accumulators are kept in the output buffer between chunks;
// bias and residual are added before the first chunk and the activation is applied after the last.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/Epilogue.h"
#include "passes/cpu/tiles/PixelTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDCONV2D
#include "passes/cpu/Passes.h.inc"

namespace {

/// The share of taps that read only padding from which on their multiplications cost more than the
/// bounds of a loop that leaves them out.
constexpr double kWorthSkipping = 0.08;

/// Returns the share of taps that read only padding, over all positions of a window along a dim.
double paddingShare(Conv2DOp op, unsigned dim) {
  const int64_t taps = shapeOf(op.getFilter())[dim + 2], size = shapeOf(op.getOutput())[dim + 2];
  const int64_t low = (*op.getImage())[dim], high = low + (*op.getImage())[dim + 2];
  const int64_t stride = op.getStrides()[dim], dilation = op.getDilations()[dim];
  // Counted per position: taps and positions may both be many.
  auto tapsBefore = [&](int64_t end, int64_t at) {
    return std::clamp<int64_t>(llvm::divideCeilSigned(end - at * stride, dilation), 0, taps);
  };
  int64_t inside = 0;
  for (int64_t at = 0; at < size; ++at)
    inside += tapsBefore(high, at) - tapsBefore(low, at);
  return 1 - double(inside) / (double(taps) * double(size));
}

class Conv2DExpander {
public:
  Conv2DExpander(Conv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), filterShape(shapeOf(op.getFilter())),
        filterStrides(stridesOf(op.getFilter())), in(op.getInput(), op.getStrides()),
        out(op.getOutput(), {1, 1}) {
    width = filterShape[5];
    fullBlocks = op.getChannels() / filterShape[4];
    tailChannels = op.getChannels() % filterShape[4];
    depth = tailChannels ? fullBlocks : std::min<int64_t>(tile.getDepth(), fullBlocks);
    chunks = tailChannels ? 1 : fullBlocks / depth;
    for (unsigned dim = 0; dim < 2; ++dim)
      skips[dim] = op.getImage() && paddingShare(op, dim) >= kWorthSkipping;
  }

  void run();

private:
  Value nextPanel(int64_t tiles, Value chunk, Value block, Value firstBlock, Value endBlock);
  void emitTile(const PixelTile &pixels, const Lookahead &ahead, Value chunk, Value block,
                Value image);
  SmallVector<SumLoop> sumLoops(int64_t inputBlocks, int64_t channels, const PixelTile &pixels);
  void skipPadding(SumLoop &loop, unsigned dim, Value first, Value last);

  Conv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  ArrayRef<int64_t> filterShape;
  SmallVector<int64_t> filterStrides;
  PixelGrid in, out;
  int64_t width, fullBlocks, tailChannels, depth, chunks;
  bool skips[2] = {}; ///< whether taps of a row, and of a column, that read padding are left out
  Value input, filter, output;
  EpilogueBuffers epilogue;
};

/// Returns the first element of the panel that comes next where it pays off to request it; null
/// where it does not. The first pixel tile that uses a panel would wait for all of it, while the
/// other tiles would have nothing to wait for; so every tile requests its share. A network reads
/// all of its weights in a run, so that even small filters come from beyond L2; those are requested
/// where enough `tiles` share a panel, as each row of tasks repeats the requests.
Value Conv2DExpander::nextPanel(int64_t tiles, Value chunk, Value block, Value firstBlock,
                                Value endBlock) {
  constexpr int64_t kEnoughTiles = 8; // Two lines per sixteen steps and block.
  const int64_t bytes = cast<MemRefType>(op.getFilter().getType()).getNumElements() * 4;
  if (bytes <= (tiles < kEnoughTiles ? b.level().getL2() / 2 : b.level().getL1()))
    return {};
  Value chunkStart = b.mul(chunk, depth * filterStrides[1]);
  Value next = b.add(block, tile.getBlocks());
  Value sameChunk = b.mulAdd(next, filterStrides[0], chunkStart);
  if (chunks == 1)
    return sameChunk;
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, next, endBlock);
  Value nextChunk =
      b.add(b.mulAdd(firstBlock, filterStrides[0], chunkStart), depth * filterStrides[1]);
  return arith::SelectOp::create(b, isLast, nextChunk, sameChunk);
}

/// Limits the loop over the taps of a dim to those that read the image for any pixel from `first`
/// to `last`.
void Conv2DExpander::skipPadding(SumLoop &loop, unsigned dim, Value first, Value last) {
  const int64_t stride = op.getStrides()[dim], dilation = op.getDilations()[dim];
  const int64_t low = (*op.getImage())[dim], high = low + (*op.getImage())[dim + 2];
  auto atLeastZero = [&](Value x) -> Value { return arith::MaxSIOp::create(b, x, b.index(0)); };
  // Tap k of pixel p reads p * stride + k * dilation: the last pixel is the first one inside from
  // the image's begin on, and the first pixel the last one before its end.
  Value toBegin = atLeastZero(arith::SubIOp::create(b, b.index(low), b.mul(last, stride)));
  loop.begin = arith::DivUIOp::create(b, b.add(toBegin, dilation - 1), b.index(dilation));
  Value toEnd =
      atLeastZero(arith::SubIOp::create(b, b.index(high - 1 + dilation), b.mul(first, stride)));
  loop.end = arith::MinUIOp::create(b, arith::DivUIOp::create(b, toEnd, b.index(dilation)),
                                    b.index(loop.trip));
}

SmallVector<SumLoop> Conv2DExpander::sumLoops(int64_t inputBlocks, int64_t channels,
                                              const PixelTile &pixels) {
  int64_t kh = filterShape[2], kw = filterShape[3];
  ArrayRef<int64_t> dilations = op.getDilations();
  // A first layer has few channels: its kw loop is unrolled along with them. Not where the windows
  // of neighbours overlap: LLVM would keep what they share for later, in more registers than there
  // are.
  bool unrollKw = kw * channels <= 32 && (kw - 1) * dilations[1] < op.getStrides()[1];
  SumLoop rows = {kh, dilations[0] * in.stride(2), filterStrides[2]};
  SumLoop columns = {kw, dilations[1] * in.stride(3), filterStrides[3], unrollKw};
  if (skips[0]) {
    Value first = pixels.row, last = pixels.row;
    if (pixels.flat) {
      Value length = b.index(pixels.rowLength);
      first = arith::DivUIOp::create(b, pixels.flat, length);
      last = arith::DivUIOp::create(b, b.add(pixels.flat, pixels.count - 1), length);
    }
    skipPadding(rows, 0, first, last);
  }
  if (skips[1] && !pixels.flat)
    skipPadding(columns, 1, pixels.column, b.add(pixels.column, pixels.count - 1));
  return {{inputBlocks, in.stride(1), filterStrides[1]},
          rows,
          columns,
          {channels, 1, filterStrides[4], /*unroll=*/true}};
}

void Conv2DExpander::emitTile(const PixelTile &pixels, const Lookahead &ahead, Value chunk,
                              Value block, Value image) {
  int64_t blocks = tile.getBlocks();
  RegisterTile acc(b, pixels.count, blocks, width);
  Value channel = b.mul(block, width);

  SmallVector<Address> outAt =
      out.addresses(b, pixels, b.mulAdd(image, out.stride(0), b.mul(block, out.stride(1))));
  EpilogueAt at{{channel}, {}, 0};
  if (epilogue.residual) {
    PixelGrid residual(op.getResidual(), {1, 1});
    at.residualBlockStride = residual.stride(1);
    at.residual = residual.addresses(
        b, pixels, b.mulAdd(image, residual.stride(0), b.mul(block, residual.stride(1))));
  }
  if (chunks == 1) {
    startSum(b, acc, epilogue, at, width);
  } else {
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, chunk, b.index(0));
    auto ifOp = scf::IfOp::create(b, SmallVector<Type>(acc.values().size(), acc.vectorType()),
                                  first, /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    startSum(b, acc, epilogue, at, width);
    scf::YieldOp::create(b, acc.values());
    b.setInsertionPointToStart(ifOp.elseBlock());
    acc.load(output, outAt, out.stride(1));
    scf::YieldOp::create(b, acc.values());
    acc.values().assign(ifOp.result_begin(), ifOp.result_end());
  }

  // Input and filter of this group of the convolution.
  Value inBase = b.mul(image, in.stride(0));
  if (op.getGroups() > 1) {
    int64_t blocksPerGroup = filterShape[0] / op.getGroups();
    Value group = arith::DivUIOp::create(b, block, b.index(blocksPerGroup));
    inBase = b.mulAdd(group, filterShape[1] * in.stride(1), inBase);
  }
  Value filterBase = b.mul(block, filterStrides[0]);
  if (chunks > 1) {
    inBase = b.mulAdd(chunk, depth * in.stride(1), inBase);
    filterBase = b.mulAdd(chunk, depth * filterStrides[1], filterBase);
  }
  SmallVector<Address> inAt = in.addresses(b, pixels, inBase);
  if (fullBlocks)
    acc.contract(input, inAt, filter, {filterBase}, filterStrides[0],
                 sumLoops(depth, filterShape[4], pixels), /*lastBlockWidth=*/0,
                 ahead.from ? &ahead : nullptr);
  if (tailChannels) {
    for (Address &address : inAt)
      address = address + fullBlocks * in.stride(1);
    acc.contract(input, inAt, filter, {filterBase, fullBlocks * filterStrides[1]}, filterStrides[0],
                 sumLoops(1, tailChannels, pixels));
  }

  if (chunks == 1) {
    finishSum(b, acc, epilogue, at, width);
    acc.store(output, outAt, out.stride(1));
    return;
  }
  Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, chunk, b.index(chunks - 1));
  auto ifOp = scf::IfOp::create(b, last, /*withElseRegion=*/true);
  SmallVector<Value> sums = acc.values();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  finishSum(b, acc, epilogue, at, width);
  acc.store(output, outAt, out.stride(1));
  acc.values() = sums;
  b.setInsertionPointToStart(ifOp.elseBlock());
  acc.store(output, outAt, out.stride(1));
}

void Conv2DExpander::run() {
  ArrayRef<int64_t> outShape = out.shape();
  input = b.flat(op.getInput());
  filter = b.flat(op.getFilter());
  output = b.flat(op.getOutput());
  epilogue = epilogueOf(b, op);

  int64_t groups = std::min(tile.getGroups(), outShape[1]);
  PixelTiling tiling(outShape[2], outShape[3], tile,
                     columnTasksOf(outShape[0], outShape[1], tile.getBlocks()));
  SmallVector<Value, 3> task =
      tiling.beginTasks(b, outShape[0], llvm::divideCeil(outShape[1], groups), outShape[1] * width);
  Value firstBlock = b.mul(task[1], groups);
  Value endBlock = b.add(firstBlock, groups);
  if (outShape[1] % groups)
    endBlock = arith::MinUIOp::create(b, endBlock, b.index(outShape[1]));

  b.loop(chunks, [&](Value chunk) {
    b.loop(firstBlock, endBlock, tile.getBlocks(), [&](Value block) {
      Value next = nextPanel(tiling.tilesPerTask(), chunk, block, firstBlock, endBlock);
      tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
        emitTile(pixels, {next, tiling.tilesPerTask(), pixels.ordinal}, chunk, block, task[0]);
      });
    });
  });
  op.erase();
}

struct CpuExpandConv2DPass : impl::CpuExpandConv2DBase<CpuExpandConv2DPass> {
  void runOnOperation() override {
    getOperation().walk([&](Conv2DOp op) {
      TileAttr tile = op.getTileAttr();
      if (!tile || shapeOf(op.getOutput())[1] % tile.getBlocks()) {
        op.emitOpError("needs a tile whose blocks divide the output's; run cpu-select-tiles first");
        return signalPassFailure();
      }
      Conv2DExpander(op, tile).run();
    });
  }
};

} // namespace
} // namespace atc::cpu
