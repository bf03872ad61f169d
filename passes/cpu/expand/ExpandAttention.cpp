//===-- ExpandAttention.cpp - cpu.attention as loops ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (batch, head, rows of queries). Inside it:
//
//   transpose the keys of the head          to scratch memory, unless they already are
//   copy its values                         to scratch memory, where their rows are pages apart
//   for tiles of rows
//     for blocks of keys                    products: scores to scratch memory
//     for rows                              body of the op, maximum; exponentials and their sum
//     for blocks of columns                 products with the values, divided by the sums
//
// The scores of a tile of rows stay in L1 or L2. All of their rows are complete, so that one pass
// over the keys suffices and the maximum is exact.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/AttentionTiles.h"
#include "passes/cpu/expand/Reductions.h"
#include "passes/cpu/tiles/BodyCloner.h"
#include "passes/cpu/tiles/PixelTiles.h"
#include "passes/cpu/tiles/Scratch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDATTENTION
#include "passes/cpu/Passes.h.inc"

AttentionTiles::AttentionTiles(AttentionOp op, LevelAttr level) {
  constexpr int64_t kWantedTasks = 8;
  ArrayRef<int64_t> out = shapeOf(op.getOutput()), key = shapeOf(op.getKey());
  const int64_t keyBlocks = llvm::divideCeil(key[3], kWidth);
  packsKeys = key[3] > 1 && stridesOf(op.getKey())[3] != 1;
  keyElements = packsKeys ? keyBlocks * kWidth * key[2] : 0;
  // A line more, so that rows are not in one set of a cache.
  scoreStride = (keyBlocks + 1) * kWidth;
  // Accumulators, the vectors of a block and one broadcast share the registers.
  const int64_t vectors = std::max<int64_t>(1, kWidth / level.getLanes());
  blocks = vectors == 1 ? 2 : 1;
  rows = std::max<int64_t>(1, (level.getRegisters() - 1) / (blocks * vectors) - 1);
  rows = llvm::divideCeil(out[2], llvm::divideCeil(out[2], std::min(rows, out[2])));
  rowTasks = 1;
  for (int64_t tasks = 2; out[0] * out[1] * rowTasks < kWantedTasks && tasks <= out[2] / (2 * rows);
       ++tasks)
    if (out[2] % tasks == 0)
      rowTasks = tasks;
  // Values of several heads lie side by side. Each tile of rows reads a few lines of every row: in
  // pages of their own these need an entry of the TLB each, and no prefetcher finds the next one.
  // Some hundred entries suffice for short sequences.
  constexpr int64_t kFarRows = 256, kManyRows = 512, kTilesPerCopy = 4;
  packsValues = out[2] / rowTasks >= kTilesPerCopy * rows && key[3] >= kManyRows &&
                stridesOf(op.getValue())[2] >= kFarRows;
  valueElements = packsValues ? llvm::divideCeil(out[3], kWidth) * kWidth * key[3] : 0;
}

namespace {

/// Four dims [B][H][rows][columns] of a flat buffer; dims of size 1 broadcast.
struct Heads {
  Heads(KernelBuilder &b, Value buffer) : flat(b.flat(buffer)), strides(stridesOf(buffer)) {
    for (auto [stride, size] : llvm::zip(strides, shapeOf(buffer)))
      if (size == 1)
        stride = 0;
  }
  /// Returns the offset of the head `task[1]` of the batch `task[0]`.
  Value head(KernelBuilder &b, ArrayRef<Value> task) const {
    return b.mulAdd(task[0], strides[0], b.mul(task[1], strides[1]));
  }
  Value flat;
  SmallVector<int64_t> strides;
};

class AttentionExpander {
public:
  explicit AttentionExpander(AttentionOp op)
      : op(op), b(op), tiles(op, b.level()),
        lanes(std::min(AttentionTiles::kWidth, b.level().getLanes())), keyLanes(b, op.getKey()) {
    ArrayRef<int64_t> out = shapeOf(op.getOutput()), key = shapeOf(op.getKey());
    rows = out[2];
    depth = key[2];
    keys = key[3];
    columns = out[3];
  }

  void expand();

private:
  using Body = function_ref<void(Value block, int64_t blocks, int64_t lastWidth)>;

  void packKeys(Value from);
  void packBlock(Value from, Value to, int64_t count);
  void packValues(Value from);
  void forEachBlocks(int64_t size, Body body);
  SmallVector<Address> rowsFrom(Value first, int64_t count, int64_t stride);
  void multiplyKeys(Value query, Value key, int64_t count);
  void exponentials(ArrayRef<Value> task, Value firstRow, Value row);
  void multiplyValues(Value value, Value output, int64_t count);

  AttentionOp op;
  KernelBuilder b;
  AttentionTiles tiles;
  int64_t lanes, rows, depth, keys, columns;
  LaneBuffer keyLanes;
  std::optional<LaneBuffer> scratchLanes;
  std::optional<Heads> query, key, value, output;
  SmallVector<LaneBuffer> inputs;
  Value scratch, valuesAt, scoresAt, factorsAt;
};

/// Transposes `count` keys, whose first element is at `from`, to a panel [depth][16] of the scratch
/// memory at `to`; the columns behind them become 0.
void AttentionExpander::packBlock(Value from, Value to, int64_t count) {
  const int64_t keyStride = key->strides[3];
  Value zero = laneConstant(b, b.getF32Type(), lanes, 0.0);
  forEachVectors(b, Range{depth}, {lanes, 1}, [&](Value d, ArrayRef<int64_t> counts) {
    for (int64_t group = 0; group < AttentionTiles::kWidth; group += lanes) {
      SmallVector<Value> vectors(lanes, zero);
      for (int64_t i = 0; i < lanes && group + i < count; ++i)
        vectors[i] = keyLanes.load(b.add(b.add(from, d), (group + i) * keyStride), lanes, counts[0],
                                   /*stride=*/1, zero);
      SmallVector<Value> transposed = transposeBlock(b, vectors);
      Value at = b.add(b.mulAdd(d, AttentionTiles::kWidth, to), group);
      for (int64_t i = 0; i < counts[0]; ++i)
        scratchLanes->store(transposed[i], b.add(at, i * AttentionTiles::kWidth), lanes);
    }
  });
}

void AttentionExpander::packKeys(Value from) {
  constexpr int64_t width = AttentionTiles::kWidth;
  b.loop(keys / width, [&](Value block) {
    packBlock(b.mulAdd(block, width * key->strides[3], from), b.mul(block, width * depth), width);
  });
  if (int64_t rest = keys % width)
    packBlock(b.add(from, (keys - rest) * key->strides[3]), b.index((keys - rest) * depth), rest);
}

/// Copies the values of a head, whose first element is at `from`, to panels [column block][key][16]
/// of the scratch memory; the columns behind them become 0.
void AttentionExpander::packValues(Value from) {
  constexpr int64_t width = AttentionTiles::kWidth;
  LaneBuffer valueLanes(b, op.getValue());
  Value zero = laneConstant(b, b.getF32Type(), lanes, 0.0);
  b.loop(keys, [&](Value row) {
    Value rowAt = b.mulAdd(row, value->strides[2], from);
    Value to = b.mulAdd(row, width, valuesAt);
    for (int64_t column = 0; column < columns; column += lanes) {
      Value elements = valueLanes.load(b.add(rowAt, column), lanes,
                                       std::min(lanes, columns - column), /*stride=*/1, zero);
      scratchLanes->store(elements, b.add(to, column / width * width * keys + column % width),
                          lanes);
    }
    // Blocks of several vectors are whole.
    const int64_t end = llvm::alignTo(columns, width);
    for (int64_t column = llvm::alignTo(columns, lanes); column < end; column += lanes)
      scratchLanes->store(zero, b.add(to, column / width * width * keys + column % width), lanes);
  });
}

/// Builds loops over the blocks of `size` columns, as many at once as a register tile has. The last
/// one may be partial.
void AttentionExpander::forEachBlocks(int64_t size, Body body) {
  constexpr int64_t width = AttentionTiles::kWidth;
  const int64_t whole = size / width, step = std::min(tiles.blocks, std::max<int64_t>(whole, 1));
  const int64_t steps = whole / step, lastWidth = size % width;
  const int64_t rest = whole % step + (lastWidth != 0);
  b.loop(steps, [&](Value i) { body(b.mul(i, step), step, 0); });
  if (rest)
    body(b.index(steps * step), rest, lastWidth);
}

SmallVector<Address> AttentionExpander::rowsFrom(Value first, int64_t count, int64_t stride) {
  SmallVector<Address> result;
  for (int64_t p = 0; p < count; ++p)
    result.push_back({first, p * stride});
  return result;
}

/// Writes the products of `count` queries and all keys to the scores; `queryAt` and `keyAt` are the
/// offsets of the first of them.
void AttentionExpander::multiplyKeys(Value queryAt, Value keyAt, int64_t count) {
  constexpr int64_t width = AttentionTiles::kWidth;
  Value keyFlat = tiles.packsKeys ? scratch : key->flat;
  const int64_t blockStride = tiles.packsKeys ? width * depth : width;
  const int64_t stepStride = tiles.packsKeys ? width : key->strides[2];
  forEachBlocks(keys, [&](Value block, int64_t blocks, int64_t lastWidth) {
    RegisterTile acc(b, count, blocks, width);
    acc.zero();
    Value from = b.mul(block, blockStride);
    if (!tiles.packsKeys)
      from = b.add(from, keyAt);
    acc.contractRows(query->flat, rowsFrom(queryAt, count, query->strides[2]), query->strides[3],
                     keyFlat, {from}, stepStride, blockStride, depth,
                     tiles.packsKeys ? 0 : lastWidth);
    acc.store(scratch, rowsFrom(b.mulAdd(block, width, scoresAt), count, tiles.scoreStride), width);
  });
}

/// Turns row `row` of the scores, that of query `firstRow` + `row`, into exponentials, and writes
/// one over their sum to the row's factor.
void AttentionExpander::exponentials(ArrayRef<Value> task, Value firstRow, Value row) {
  Type element = b.getF32Type();
  Value from = b.mulAdd(row, tiles.scoreStride, scoresAt);
  Value lowest = neutral(b, Combiner::Larger, element, lanes);
  auto addressOf = [&](Value i, int64_t v) { return b.add(b.add(from, i), v * lanes); };
  auto total = [&](Combiner how, int64_t unroll, VectorAtFn valueAt) {
    const Lanes steps{lanes, std::clamp<int64_t>(keys / lanes, 1, unroll)};
    return reduceRow(b, how, element, keys, steps, valueAt);
  };

  std::optional<BodyCloner> body;
  SmallVector<Value> inputAt;
  SmallVector<int64_t> inputStrides;
  if (!op.getBody().empty()) {
    body.emplace(b, op.getBody().front());
    for (Value input : op.getInputs()) {
      Heads heads(b, input);
      inputAt.push_back(b.mulAdd(b.add(firstRow, row), heads.strides[2], heads.head(b, task)));
      inputStrides.push_back(heads.strides[3]);
    }
  }
  // The exponential of a NaN is one, whatever is subtracted before.
  Value largest = total(Combiner::Larger, 4, [&](Value i, int64_t v, int64_t count) {
    if (!body)
      return scratchLanes->load(addressOf(i, v), lanes, count, 1, lowest);
    // Lanes past the last key are not scores: they must not become the maximum.
    SmallVector<Value> args{scratchLanes->load(addressOf(i, v), lanes)};
    for (auto [input, at, stride] : llvm::zip_equal(inputs, inputAt, inputStrides)) {
      Value position = b.add(b.mulAdd(i, stride, at), v * lanes * stride);
      args.push_back(stride == 0 ? input.splat(at, lanes)
                                 : input.load(position, lanes, count, stride));
    }
    Value score = body->clone(args, lanes);
    scratchLanes->store(score, addressOf(i, v), lanes);
    if (count < lanes)
      score = scratchLanes->load(addressOf(i, v), lanes, count, 1, lowest);
    return score;
  });
  largest = spread(b, largest, lanes);
  Value sum = total(Combiner::Sum, 2, [&](Value i, int64_t v, int64_t count) {
    Value score = scratchLanes->load(addressOf(i, v), lanes, count, 1, lowest);
    Value e = math::ExpOp::create(b, arith::SubFOp::create(b, score, largest));
    scratchLanes->store(e, addressOf(i, v), lanes);
    return e;
  });
  Value factor = arith::DivFOp::create(b, laneConstant(b, element, 1, 1.0), sum);
  memref::StoreOp::create(b, factor, scratch, ValueRange{b.add(factorsAt, row)});
}

/// Writes the products of `count` rows of exponentials and all values, times the rows' factors, to
/// the output; `valueAt` and `outputAt` are the offsets of the first of them.
void AttentionExpander::multiplyValues(Value valueAt, Value outputAt, int64_t count) {
  constexpr int64_t width = AttentionTiles::kWidth;
  forEachBlocks(columns, [&](Value block, int64_t blocks, int64_t lastWidth) {
    RegisterTile acc(b, count, blocks, width);
    acc.zero();
    Value column = b.mul(block, width);
    const SmallVector<Address> scores = rowsFrom(scoresAt, count, tiles.scoreStride);
    if (tiles.packsValues)
      acc.contractRows(scratch, scores, /*lhsStride=*/1, scratch,
                       {b.mulAdd(block, width * keys, valuesAt)}, width, width * keys, keys);
    else
      acc.contractRows(scratch, scores, /*lhsStride=*/1, value->flat, {b.add(valueAt, column)},
                       value->strides[2], width, keys, lastWidth);
    SmallVector<Value> factors;
    for (int64_t p = 0; p < count; ++p) {
      Value factor = memref::LoadOp::create(b, scratch, ValueRange{b.add(factorsAt, p)});
      factors.push_back(spread(b, factor, lanes));
    }
    acc.map([&](Value x, int64_t p, int64_t, int64_t) -> Value {
      return arith::MulFOp::create(b, x, factors[p]);
    });
    acc.store(output->flat, rowsFrom(b.add(outputAt, column), count, output->strides[2]), width,
              lastWidth);
  });
}

void AttentionExpander::expand() {
  scratch = addScratch(op, tiles.scratchElements());
  scratchLanes.emplace(b, scratch);
  query.emplace(b, op.getQuery());
  key.emplace(b, op.getKey());
  value.emplace(b, op.getValue());
  output.emplace(b, op.getOutput());
  for (Value input : op.getInputs())
    inputs.emplace_back(b, input);
  valuesAt = b.index(tiles.keyElements);
  scoresAt = b.index(tiles.keyElements + tiles.valueElements);
  factorsAt = b.add(scoresAt, tiles.rows * tiles.scoreStride);

  ArrayRef<int64_t> out = shapeOf(op.getOutput());
  const int64_t taskRows = rows / tiles.rowTasks;
  SmallVector<Value> task = b.beginTasks({out[0], out[1], tiles.rowTasks});
  Value keyAt = key->head(b, task), valueAt = value->head(b, task);
  Value queryHead = query->head(b, task), outputHead = output->head(b, task);
  if (tiles.packsKeys)
    packKeys(keyAt);
  if (tiles.packsValues)
    packValues(valueAt);
  Value taskRow = b.mul(task[2], taskRows);
  auto flat = TileAttr::get(b.getContext(), tiles.rows, 1, 1, 1, 1, /*flatten=*/false);
  PixelTiling(1, taskRows, flat).forEachTile(b, b.index(0), [&](const PixelTile &run) {
    Value first = b.add(taskRow, run.column);
    multiplyKeys(b.mulAdd(first, query->strides[2], queryHead), keyAt, run.count);
    b.loop(run.count, [&](Value row) { exponentials(task, first, row); });
    multiplyValues(valueAt, b.mulAdd(first, output->strides[2], outputHead), run.count);
  });
  op.erase();
}

struct CpuExpandAttentionPass : impl::CpuExpandAttentionBase<CpuExpandAttentionPass> {
  void runOnOperation() override {
    getOperation().walk([](AttentionOp op) { AttentionExpander(op).expand(); });
  }
};

} // namespace
} // namespace atc::cpu
