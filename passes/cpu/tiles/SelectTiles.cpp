//===-- SelectTiles.cpp - register tiles and task sizes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the register tile that is fastest in a small model of a core: each step of the
// contraction costs the maximum of its multiply-adds (two per cycle), its loads (two per cycle) and
// the latency of one multiply-add (four cycles), and a little more for each load.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/FloatWinograd.h"
#include "dialects/cpu/Half.h"
#include "dialects/cpu/Winograd.h"
#include "passes/Remarks.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/CpuTileChoice.h"
#include "passes/cpu/tiles/PixelTiles.h"
#include "passes/cpu/tiles/TileRows.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUSELECTTILES
#include "passes/cpu/Passes.h.inc"

namespace {

/// Work below which another task costs more than it brings.
constexpr int64_t kMinTaskFlops = 1 << 20;
/// Tasks a kernel should have, so that a few threads finish together.
constexpr int64_t kWantedTasks = 8;

struct Shape {
  int64_t pixels = 1, blocks = 1;
  double cost = 0; // Cycles per step of the contraction over all pixels, per block.
};

/// Returns the cycles per step of the contraction for a register tile.
double stepCost(int64_t pixels, int64_t blocks, int64_t vectors) {
  // Loads that fit beside the multiply-adds still delay some of them. The filter's vectors also
  // have to be brought from L2, as a panel is larger than what L1 keeps for it.
  constexpr double kPerPixel = 0.08, kPerVector = 0.2;
  const double fmas = pixels * blocks * vectors / 2.0;
  const double loads = (pixels + blocks * vectors) / 2.0;
  // Overheads that the model ignores (loop and address arithmetic) favour larger tiles.
  return std::max({fmas, loads, 4.0}) + 0.25 + kPerPixel * pixels + kPerVector * blocks * vectors;
}

/// Returns the registers that a tile leaves free. LLVM loads some of the next step's operands
/// early, and an activation has constants and intermediate values: where accumulators fill all
/// registers, some of them wait on the stack. Few registers are worth more as accumulators.
int64_t spareRegisters(LevelAttr level) { return level.getRegisters() >= 32 ? 3 : 0; }

/// Returns the best tile for runs of `length` pixels and `blocks` channel blocks that leaves
/// `spare` registers free.
Shape bestShape(int64_t length, int64_t blocks, int64_t width, LevelAttr level,
                ArrayRef<int64_t> blockChoices, int64_t spare) {
  const int64_t vectors = std::max<int64_t>(1, width / level.getLanes());
  Shape best;
  for (int64_t tileBlocks : blockChoices) {
    if (blocks % tileBlocks)
      continue;
    for (int64_t pixels = 1; pixels <= length; ++pixels) {
      // Accumulators, the filter's vectors and one broadcast share the
      // registers; one pixel alone takes the filter straight from memory.
      int64_t held = tileBlocks * vectors * (pixels + (pixels > 1));
      if (held + 1 + spare > level.getRegisters())
        break;
      int64_t tiles = llvm::divideCeil(length, pixels), large = length % tiles;
      int64_t small = length / tiles;
      double cost = (large * stepCost(small + 1, tileBlocks, vectors) +
                     (tiles - large) * stepCost(small, tileBlocks, vectors)) /
                    tileBlocks;
      if (best.cost == 0 || cost < best.cost * 0.999)
        best = {pixels, tileBlocks, cost};
    }
  }
  return best;
}

/// Rows and channel blocks of a task: as large as keeps `wanted` tasks.
int64_t splitEvenly(int64_t size, int64_t parts, int64_t multiple = 1) {
  int64_t units = llvm::divideCeil(size, multiple);
  return llvm::divideCeil(units, std::clamp<int64_t>(parts, 1, units)) * multiple;
}

TileAttr tileFor(Conv2DOp op) {
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput()), filter = shapeOf(op.getFilter());
  int64_t blocksPerGroup = out[1] / op.getGroups(), width = filter[5];

  const int64_t spare = spareRegisters(level);
  Shape shape = bestShape(out[3], blocksPerGroup, width, level, {1, 2, 4}, spare);
  Shape flat = bestShape(out[2] * out[3], blocksPerGroup, width, level, {1, 2, 4}, spare);
  // Tiles across row ends cost address arithmetic, which must pay off.
  bool flatten = out[2] * out[3] <= 256 && flat.cost < 0.95 * shape.cost * out[2];
  if (flatten)
    shape = flat;

  // The filter panel of a register tile stays in half of L1, that of a 1x1 window in a quarter of
  // L2: it is read in order, and requested in time.
  int64_t panelHome = filter[2] * filter[3] == 1 ? std::max(level.getL1() / 2, level.getL2() / 4)
                                                 : level.getL1() / 2;
  int64_t inputBlocks = op.getChannels() / filter[4];
  int64_t panel = shape.blocks * filter[2] * filter[3] * filter[4] * width * 4;
  int64_t depth = std::max<int64_t>(1, std::min(inputBlocks, panelHome / panel));
  while (depth > 1 && inputBlocks % depth)
    --depth;

  int64_t wanted = std::clamp<int64_t>(op.flops() / kMinTaskFlops, 1, kWantedTasks);
  // The rows a task reads stay in L1 while its channel blocks go by. A filter
  // too large for L2 is better read seldom: then the rows stay in L2.
  int64_t filterBytes = cast<MemRefType>(op.getFilter().getType()).getNumElements() * 4;
  int64_t home = filterBytes > level.getL2() / 2 ? level.getL2() : level.getL1();
  int64_t rowBytes = shapeOf(op.getInput())[3] * filter[4] * depth * 4 * op.getStrides()[0];
  int64_t rows = flatten ? out[2] : std::clamp<int64_t>(home / 2 / rowBytes, 1, out[2]);
  rows = splitEvenly(out[2], llvm::divideCeil(out[2], rows));
  int64_t rowTasks = llvm::divideCeil(out[2], rows);
  if (out[2] == 1)
    rowTasks = llvm::divideCeil(
        out[3], PixelTiling::columnsPerTask(out[3], shape.pixels,
                                            columnTasksOf(out[0], out[1], shape.blocks)));
  int64_t groups = splitEvenly(
      blocksPerGroup, llvm::divideCeil(wanted, rowTasks * out[0] * op.getGroups()), shape.blocks);
  if (op.getGroups() > 1)
    while (blocksPerGroup % groups)
      groups -= shape.blocks;
  return TileAttr::get(op.getContext(), shape.pixels, shape.blocks, rows, groups, depth, flatten);
}

/// Returns the tasks that the rows of a depthwise convolution are divided into, for `wanted` tasks
/// in all.
int64_t rowTasksOfDepthwise(ArrayRef<int64_t> out, int64_t wanted) {
  const int64_t tasks = llvm::divideCeil(wanted, out[0] * out[1]);
  // Threads that divide the rows of such planes must be able to.
  return isLargePlane(out[2], out[3], out[1] * out[4])
             ? std::max(tasks, std::min(wanted, kWantedTasks / 2))
             : tasks;
}

TileAttr tileFor(DepthwiseConv2DOp op) {
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  int64_t vectors = std::max<int64_t>(1, out[4] / level.getLanes());
  int64_t pixels = std::max<int64_t>(1, (level.getRegisters() - 2 - vectors) / vectors);
  // More accumulators than hide the latency only make the code longer.
  pixels = std::min<int64_t>({pixels, out[3], 12});
  bool flatten = out[3] < 4 && out[2] * out[3] <= 64;
  int64_t wanted = std::clamp<int64_t>(op.flops() / (kMinTaskFlops / 8), 1, kWantedTasks);
  int64_t rows = splitEvenly(out[2], rowTasksOfDepthwise(out, wanted));
  return TileAttr::get(op.getContext(), pixels, /*blocks=*/1, flatten ? out[2] : rows,
                       /*groups=*/1, /*depth=*/1, flatten);
}

/// Returns the pixels of a tile with `sums` vectors of integer accumulators.
int64_t integerPixels(LevelAttr level, int64_t length, int64_t sums) {
  int64_t vectors = std::max<int64_t>(1, 16 / level.getLanes());
  sums = level.getRegisters() >= 32 ? 16 : sums;
  return std::clamp<int64_t>(sums / vectors, 1, std::max<int64_t>(1, length));
}

/// Returns the tasks of an integer convolution on tile registers; nothing where those of dot
/// products are expected to be faster. A task is as many rows of pixels as divide the output and
/// leave the tasks that threads need.
TileAttr tileRegistersFor(IntegerConv2DOp op) {
  // Cycles of a product of tiles with its loads, which another thread of the core shares, and of a
  // dot product with its broadcast.
  constexpr double kTileCycles = 40, kDotCycles = 0.55;
  // More cycles of a tile that shares its weights with no other.
  constexpr double kAloneCycles = 12;
  // Cycles per pixel and block to store and load accumulators, and to skip a position that is none.
  constexpr double kStoreCycles = 2, kGapCycles = 4;
  // Cycles per byte that one core has written and another one reads, which are the inputs of tasks
  // of some channels, and their results where the next tasks are some rows; and of weights from
  // beyond L2, which tasks of some rows read completely.
  constexpr double kSharedCycles = 0.15, kWeightCycles = 0.1;
  LevelAttr level = levelOf(op);
  if (!fitsTileRegisters(op, level))
    return nullptr;
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  const int64_t steps = shapeOf(op.getSteps())[0], chunks = steps / *op.getAdjacent();
  const double pixels = double(out[2]) * out[3];
  const int64_t wanted = std::clamp<int64_t>(op.flops() / (8 * kMinTaskFlops), 1, kWantedTasks);
  const double sharedBytes = double(out[2]) * TileRows::rowStep(op) + pixels * out[1] * kSumBlock,
               weightBytes = double(steps) * out[1] * kSumBlock * 4;
  double best = pixels * steps * kDotCycles;
  TileAttr tile;
  for (int64_t rows = out[2]; rows >= 1; --rows)
    for (bool flatten : {false, true}) {
      if (out[2] % rows || (flatten && (rows == 1 || !TileRows::canFlatten(op))))
        continue;
      const TileRows parts(op, rows, flatten);
      const int64_t rowTasks = out[2] / rows;
      // The bytes that a task reads stay in half of L2.
      if (rows > 1 && rows * TileRows::rowStep(op) > level.getL2() / 2)
        continue;
      const int64_t groups =
          splitEvenly(out[1], llvm::divideCeil(wanted, rowTasks * out[0]), /*multiple=*/2);
      const double traffic = (groups < out[1] ? sharedBytes * kSharedCycles : 0) +
                             (rowTasks > 1 ? weightBytes * kWeightCycles : 0);
      const double cycles =
          double(rowTasks) * parts.runs() *
              ((parts.tiles() * kTileCycles + parts.tiles() % 2 * kAloneCycles) * chunks +
               (parts.hasGaps() ? parts.positions() * kGapCycles : 0)) +
          pixels * kStoreCycles + traffic / out[1];
      if (cycles >= best)
        continue;
      best = cycles;
      tile = TileAttr::get(op.getContext(), parts.height(), /*blocks=*/2, rows, groups, /*depth=*/1,
                           flatten, /*matrix=*/true);
    }
  return tile;
}

/// Returns whether two blocks share the integers that a step spreads: 16 loads for 28 products
/// instead of 30, where the level multiplies twice per cycle and loads twice.
bool multipliesBlockPairs(LevelAttr level) {
  return level.getDot() == "vnni" && level.getRegisters() >= 32 && level.getLanes() >= 16;
}

TileAttr tileFor(IntegerConv2DOp op) {
  if (TileAttr tile = tileRegistersFor(op))
    return tile;
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  // Few registers are left to weights and bytes; addresses in several rows need
  // registers, too.
  int64_t group = *llvm::max_element(op.getGroups());
  const int64_t blocks = sharesSteps(op) && multipliesBlockPairs(level) && out[1] > 1 ? 2 : 1;
  constexpr int64_t kCrossingPixels = 12;
  auto pixelsOf = [&](int64_t length, int64_t wideGroup) {
    if (blocks == 2)
      return length == out[3]
                 ? bestShape(length, blocks, kSumBlock, level, {blocks}, /*spare=*/0).pixels
                 : std::min<int64_t>(kCrossingPixels, length);
    if (vectorsTakeTurns(op, level))
      return std::min<int64_t>(group <= 2 ? 8 : 6, length);
    return integerPixels(level, length, level.getLanes() >= 8 && group <= wideGroup ? 10 : 8);
  };
  int64_t pixels = pixelsOf(out[3], 2), crossing = pixelsOf(out[2] * out[3], 1);
  // Tiles across row ends cost address arithmetic, which must pay off.
  int64_t inRows = out[2] * llvm::divideCeil(out[3], pixels);
  int64_t flat = llvm::divideCeil(out[2] * out[3], crossing);
  bool flatten = out[2] * out[3] <= 256 && flat * 10 < inRows * 9;
  if (flatten)
    pixels = crossing;
  // The bytes that the rows of a task read stay in L1 while its blocks go by.
  int64_t rowBytes = shapeOf(op.getInput())[1] * shapeOf(op.getInput())[3] *
                     shapeOf(op.getInput())[4] * op.getStrides()[0];
  int64_t rows = flatten ? out[2] : std::clamp<int64_t>(level.getL1() / 2 / rowBytes, 1, out[2]);
  rows = splitEvenly(out[2], llvm::divideCeil(out[2], rows));
  int64_t wanted = std::clamp<int64_t>(op.flops() / (2 * kMinTaskFlops), 1, kWantedTasks);
  int64_t rowTasks = llvm::divideCeil(out[2], rows);
  int64_t groups = splitEvenly(out[1], llvm::divideCeil(wanted, rowTasks * out[0]), blocks);
  return TileAttr::get(op.getContext(), pixels, blocks, rows, groups, /*depth=*/1, flatten);
}

TileAttr tileFor(WinogradConv2DOp op) {
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  Winograd form = *Winograd::ofPoints(shapeOf(op.getInput())[1]);
  int64_t tileRows = form.tilesAlong(out[2]), tileColumns = form.tilesAlong(out[3]);
  // The accumulators of a task stay in L2, 1 or 2.25 KB per tile; its tile rows share them evenly.
  constexpr int64_t kTaskTiles = 56;
  int64_t rows = std::clamp<int64_t>(kTaskTiles / tileColumns, 1, tileRows);
  while (tileRows % rows)
    --rows;
  const int64_t blocks = multipliesBlockPairs(level) && out[1] > 1 ? 2 : 1;
  int64_t vectors = std::max<int64_t>(1, 16 / level.getLanes());
  int64_t pixels = std::max<int64_t>(1, (level.getRegisters() - 2 - vectors) / vectors);
  pixels = std::min<int64_t>({pixels, rows * tileColumns, 12});
  if (blocks == 2)
    pixels = bestShape(rows * tileColumns, blocks, kSumBlock, level, {blocks}, /*spare=*/0).pixels;
  int64_t wanted = std::clamp<int64_t>(op.flops() / (2 * kMinTaskFlops), 1, kWantedTasks);
  int64_t groups = splitEvenly(out[1], llvm::divideCeil(wanted, tileRows / rows * out[0]), blocks);
  return TileAttr::get(op.getContext(), pixels, blocks, rows, groups, /*depth=*/1,
                       /*flatten=*/false);
}

/// Returns the tile of a Winograd convolution of f32: the rows of tiles per task that cost the
/// fewest cycles, of products (rows that are left over in the last task are computed for nothing)
/// and of traffic from beyond L2, half of which is hidden.
TileAttr tileFor(FloatWinogradOp op) {
  constexpr double kCyclesPerByte = 0.5 / 8;
  constexpr int64_t kMaxScratch = 16 << 20;
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput()), filter = shapeOf(op.getFilter());
  Winograd form = *Winograd::ofPoints(filter[1]);
  int64_t channels = filter[2], blocks = out[1], width = filter[3];
  int64_t tileRows = form.tilesAlong(out[2]), tileColumns = form.tilesAlong(out[3]);
  int64_t wanted = std::clamp<int64_t>(op.flops() / (4 * kMinTaskFlops), 1, kWantedTasks);
  auto bytesOf = [&](int64_t tiles, int64_t lanes) { return form.points() * tiles * lanes * 4; };
  int64_t weights = bytesOf(blocks * width, channels);
  TileAttr best;
  double bestCycles = 0;
  for (int64_t rows = 1; rows <= tileRows; ++rows) {
    int64_t tiles = rows * tileColumns, rowTasks = llvm::divideCeil(tileRows, rows);
    Shape shape = bestShape(tiles, blocks, width, level, {1, 2, 4}, spareRegisters(level));
    int64_t groups = splitEvenly(blocks, llvm::divideCeil(wanted, rowTasks * out[0]), shape.blocks);
    int64_t input = bytesOf(tiles, channels);
    bool inL2 = input + bytesOf(tiles, shape.blocks * width) <= level.getL2() / 8 * 5;
    // Beyond L2 the input is read once per task, and the products are written and read.
    int64_t depth = inL2 ? shape.blocks : groups;
    if (best && input + bytesOf(tiles, depth * width) > kMaxScratch)
      break;
    double traffic = weights;
    if (inL2 && weights + input <= level.getL2())
      traffic /= rowTasks;
    if (!inL2)
      traffic +=
          double(input) * llvm::divideCeil(blocks, groups) + 2 * bytesOf(tiles, blocks * width);
    double cycles =
        rowTasks * (shape.cost * form.points() * channels * blocks + traffic * kCyclesPerByte);
    if (best && cycles >= bestCycles)
      continue;
    bestCycles = cycles;
    best = TileAttr::get(op.getContext(), shape.pixels, shape.blocks, rows, groups, depth,
                         /*flatten=*/false);
  }
  return best;
}

/// Returns the tile of a contraction in f16. The rounded input of a task stays in L2 while all of
/// its channel blocks go by.
TileAttr tileFor(HalfConv2DOp op) {
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getOutput()),
                    filter = shapeOf(op.getFilter());
  const int64_t spare = spareRegisters(level), width = out[4];
  Shape shape = bestShape(out[3], out[1], width, level, {1, 2, 3, 4}, spare);
  Shape flat = bestShape(out[2] * out[3], out[1], width, level, {1, 2, 3, 4}, spare);
  const bool flatten = out[2] * out[3] <= 256 && flat.cost < 0.95 * shape.cost * out[2];
  if (flatten)
    shape = flat;
  const int64_t rowBytes = in[1] * in[3] * filter[4] * 4 * op.getStrides()[0];
  int64_t rows = flatten ? out[2] : std::clamp<int64_t>(level.getL2() / 2 / rowBytes, 1, out[2]);
  rows = splitEvenly(out[2], llvm::divideCeil(out[2], rows));
  const int64_t wanted = std::clamp<int64_t>(op.flops() / (2 * kMinTaskFlops), 1, kWantedTasks);
  const int64_t rowTasks = llvm::divideCeil(out[2], rows);
  const int64_t groups =
      splitEvenly(out[1], llvm::divideCeil(wanted, rowTasks * out[0]), shape.blocks);
  return TileAttr::get(op.getContext(), shape.pixels, shape.blocks, rows, groups, /*depth=*/1,
                       flatten);
}

TileAttr tileFor(IntegerDepthwiseOp op) {
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  int64_t pixels = integerPixels(level, out[3], /*sums=*/8);
  bool flatten = out[3] < 4 && out[2] * out[3] <= 64;
  int64_t wanted = std::clamp<int64_t>(op.flops() / (kMinTaskFlops / 8), 1, kWantedTasks);
  int64_t rows = splitEvenly(out[2], rowTasksOfDepthwise(out, wanted));
  return TileAttr::get(op.getContext(), pixels, /*blocks=*/1, flatten ? out[2] : rows,
                       /*groups=*/1, /*depth=*/1, flatten);
}

/// Returns the number of chunks in which a product with packed weights is accumulated, so that a
/// chunk of a left matrix that does not fit L2 stays there while the columns go by. Few rows are
/// limited by the weights, which are read once in any case.
///
/// The left matrix shares L2 with the panels that pass through, and to read the accumulators again
/// costs more than a matrix that fills a little more than half of it. Where chunks are needed they
/// are a quarter of a large L2: measured, 5 % faster than half of it.
int64_t depthChunks(MatMulOp op, LevelAttr level) {
  constexpr int64_t kMinRows = 64, kUnroll = 8, kMinChunkBytes = 256 << 10;
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs());
  const int64_t rows = lhs[1], depth = lhs[2], bytes = rows * depth * 4, l2 = level.getL2();
  if (!op.getPacked() || lhs[0] != 1 || rows < kMinRows || bytes <= l2 / 8 * 5 ||
      shapeOf(op.getOutput())[2] % shapeOf(op.getRhs())[2])
    return 1;
  const int64_t home = std::min(l2 / 2, std::max(l2 / 4, kMinChunkBytes));
  for (int64_t chunks = llvm::divideCeil(bytes, home); chunks <= depth / 64; ++chunks)
    if (depth % (chunks * kUnroll) == 0)
      return chunks;
  return 1;
}

/// Returns the number of chunks in which a product with an unpacked matrix is accumulated, so that
/// what a register tile reads of both matrices stays in half of L1 while the rows go by: rows of
/// the right matrix are far apart, in pages of their own.
int64_t unpackedChunks(MatMulOp op, const Shape &shape, int64_t width, LevelAttr level) {
  constexpr int64_t kMinChunk = 64;
  const int64_t depth = shapeOf(op.getLhs())[2], rows = shapeOf(op.getOutput())[1];
  const int64_t bytes = (shape.blocks * width + shape.pixels) * 4;
  const int64_t longest = std::max(kMinChunk, level.getL1() / 2 / bytes);
  // Few tiles of rows read the matrix too seldom for its rows to be worth keeping.
  if (op.getPacked() || depth <= 2 * longest || rows < 4 * shape.pixels)
    return 1;
  for (int64_t size = longest; size >= kMinChunk; --size)
    if (depth % size == 0)
      return depth / size;
  return 1;
}

TileAttr tileFor(MatMulOp op) {
  LevelAttr level = levelOf(op);
  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  int64_t width = op.getPacked() ? shapeOf(op.getRhs())[2] : 16;
  int64_t blocks = std::max<int64_t>(1, out[2] / width);
  // Any number of blocks is valid: the remainder is a task of its own.
  Shape shape;
  for (int64_t choice : {1, 2, 3, 4, 6}) {
    if (choice > blocks)
      break;
    Shape candidate = bestShape(out[1], choice, width, level, {choice}, spareRegisters(level));
    if (shape.cost == 0 || (candidate.cost && candidate.cost < 0.999 * shape.cost))
      shape = candidate;
  }
  int64_t chunks =
      op.getPacked() ? depthChunks(op, level) : unpackedChunks(op, shape, width, level);
  // Tasks of several chunks read all of the left matrix: there are few of them.
  int64_t wanted =
      std::clamp<int64_t>(op.flops() / (kMinTaskFlops / 4), 1,
                          op.getPacked() && chunks > 1 ? kWantedTasks : 4 * kWantedTasks);
  int64_t groups = splitEvenly(blocks, llvm::divideCeil(wanted, out[0]), shape.blocks);
  return TileAttr::get(op.getContext(), shape.pixels, shape.blocks, /*rows=*/1, groups,
                       /*depth=*/chunks, /*flatten=*/false);
}

struct CpuSelectTilesPass : impl::CpuSelectTilesBase<CpuSelectTilesPass> {
  void runOnOperation() override {
    auto select = [&](auto op) {
      if (op.getTileAttr())
        return;
      TileAttr tile = tileFor(op);
      if constexpr (llvm::is_one_of<decltype(op), Conv2DOp, MatMulOp>())
        tile = chosenTile(op, tile, levelOf(op), getArgument());
      op.setTileAttr(tile);
      remarkPassed(getArgument(), op.getLoc(), "Tiled") << remark::add(
          "register tile of {0} pixels x {1} channel blocks, tasks of {2} rows x {3} "
          "channel groups, depth {4}{5}{6}",
          tile.getPixels(), tile.getBlocks(), tile.getRows(), tile.getGroups(), tile.getDepth(),
          tile.getFlatten() ? ", across row ends" : "",
          tile.getMatrix() ? ", in tile registers" : "");
    };
    getOperation().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<Conv2DOp, DepthwiseConv2DOp, FloatWinogradOp, HalfConv2DOp, IntegerConv2DOp,
                IntegerDepthwiseOp, MatMulOp, WinogradConv2DOp>(select);
    });
  }
};

} // namespace
} // namespace atc::cpu
