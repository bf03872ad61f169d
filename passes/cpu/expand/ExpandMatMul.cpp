//===-- ExpandMatMul.cpp - cpu.matmul as register-tiled loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (batch, group of column blocks). A column block is `width` columns: a packed panel
// [K][width], or `width` adjacent columns of an unpacked matrix. The last block may be partial and
// is masked. Inside a task:
//
//   for chunk of K               the rows of the left matrix stay in L2 meanwhile, and of an
//                                unpacked matrix the rows of a block of columns in L1
//     for blocks of columns
//       for tiles of rows        accumulators in registers
//         for k: broadcast, multiply, add
//
// With several chunks the accumulators are kept in the output between them; bias and residual are
// added before the first and the activation applied after the last.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/Reductions.h"
#include "passes/cpu/tiles/Epilogue.h"
#include "passes/cpu/tiles/PixelTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATMUL
#include "passes/cpu/Passes.h.inc"

namespace {

/// The columns per block of an unpacked matrix; packed weights have their own.
constexpr int64_t kPlainWidth = 16;

/// How far ahead of what it reads a tile requests panels that it has for itself, in lines of the
/// cache: 2 KB per panel are what memory delivers in its latency.
constexpr int64_t kLinesAhead = 32;

class MatMulExpander {
public:
  MatMulExpander(MatMulOp op, TileAttr tile)
      : op(op), tile(tile), b(op), lhsStrides(stridesOf(op.getLhs())),
        rhsStrides(stridesOf(op.getRhs())), outStrides(stridesOf(op.getOutput())) {
    if (op.getResidual())
      residualStrides = stridesOf(op.getResidual());
    ArrayRef<int64_t> out = shapeOf(op.getOutput()), rhs = shapeOf(op.getRhs());
    rows = out[1];
    columns = out[2];
    depth = shapeOf(op.getLhs())[2];
    width = op.getPacked() ? rhs[2] : kPlainWidth;
    // The start of the last block, and the stride of the contracted dim in rhs.
    rhsBlockStride = op.getPacked() ? rhsStrides[0] : width;
    if (shapeOf(op.getLhs())[0] == 1)
      lhsStrides[0] = 0;
    rhsBatchStride = op.getPacked() || rhs[0] == 1 ? 0 : rhsStrides[0];
    chunks = depth % tile.getDepth() ? 1 : tile.getDepth();
    depth /= chunks;
  }

  void run();

private:
  /// How tiles request parts of packed panels before they are read. The prefetchers of processors
  /// stop at the end of each page, so that a product of few rows would wait for memory and multiply
  /// in turns.
  enum class Requests {
    None,
    Ahead,     ///< each tile requests what it reads itself soon
    NextPanels ///< all tiles that read a panel request a share of the next one
  };
  Requests chooseRequests(int64_t step);

  void emitBlocks(Value batch, Value block, Value next, Value chunk, int64_t blocks,
                  int64_t lastWidth);
  void startChunk(RegisterTile &acc, const EpilogueAt &at, ArrayRef<Address> outAt, Value chunk,
                  int64_t lastWidth);
  void finishChunk(RegisterTile &acc, const EpilogueAt &at, ArrayRef<Address> outAt, Value chunk,
                   int64_t lastWidth);

  MatMulOp op;
  TileAttr tile;
  KernelBuilder b;
  SmallVector<int64_t> lhsStrides, rhsStrides, outStrides, residualStrides;
  int64_t rows, columns, width, rhsBlockStride, rhsBatchStride;
  int64_t depth, chunks; ///< of K: `chunks` times `depth`
  Value lhs, rhs, output;
  EpilogueBuffers epilogue;
  Requests requests = Requests::None;
};

MatMulExpander::Requests MatMulExpander::chooseRequests(int64_t step) {
  // One row reads in order and has nothing to hide behind.
  if (!op.getPacked() || rows == 1)
    return Requests::None;
  const int64_t rowTiles = PixelTiling(/*height=*/1, rows, tile).tilesPerTask();
  if (rowTiles == 1)
    return Requests::Ahead;
  // A network reads all of its weights in a run, so that even small ones come from beyond L2. Two
  // sets of panels and the rows share it; where they do not fit, requests of few tiles would drive
  // out what the next tile reads.
  const int64_t bytes = step * rhsBlockStride * elementOf(op.getRhs()).getIntOrFloatBitWidth() / 8;
  return rowTiles >= 4 || bytes / chunks <= b.level().getL2() / 3 ? Requests::NextPanels
                                                                  : Requests::Ahead;
}

/// Initializes the accumulators: with the bias before the first chunk, else with the output.
void MatMulExpander::startChunk(RegisterTile &acc, const EpilogueAt &at, ArrayRef<Address> outAt,
                                Value chunk, int64_t lastWidth) {
  if (chunks == 1)
    return startSum(b, acc, epilogue, at, width);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, chunk, b.index(0));
  const SmallVector<Type> types(acc.values().size(), acc.vectorType());
  auto ifOp = scf::IfOp::create(b, types, isFirst, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  startSum(b, acc, epilogue, at, width);
  scf::YieldOp::create(b, acc.values());
  b.setInsertionPointToStart(ifOp.elseBlock());
  acc.load(output, outAt, width, lastWidth);
  scf::YieldOp::create(b, acc.values());
  acc.values().assign(ifOp.result_begin(), ifOp.result_end());
}

/// Stores the accumulators, after the activation where this is the last chunk.
void MatMulExpander::finishChunk(RegisterTile &acc, const EpilogueAt &at, ArrayRef<Address> outAt,
                                 Value chunk, int64_t lastWidth) {
  OpBuilder::InsertionGuard guard(b);
  if (chunks > 1 && epilogue.activation) {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, chunk, b.index(chunks - 1));
    auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.elseBlock());
    acc.store(output, outAt, width, lastWidth);
    b.setInsertionPointToStart(ifOp.thenBlock());
  }
  if (epilogue.activation)
    finishSum(b, acc, epilogue, at, width);
  acc.store(output, outAt, width, lastWidth);
}

/// Emits the products of `blocks` column blocks from `block` on, for one chunk. `next` is the first
/// element of the panels to request, if any.
void MatMulExpander::emitBlocks(Value batch, Value block, Value next, Value chunk, int64_t blocks,
                                int64_t lastWidth) {
  PixelTiling tiling(/*height=*/1, rows, tile);
  tiling.forEachTile(b, b.index(0), [&](const PixelTile &tileRows) {
    RegisterTile acc(b, tileRows.count, blocks, width);
    Value channel = b.mul(block, width);
    EpilogueAt at{{channel}, {}, 0};

    auto rowAddresses = [&](Value base, int64_t stride) {
      Value first = b.mulAdd(tileRows.column, stride, base);
      SmallVector<Address> result;
      for (int64_t p = 0; p < tileRows.count; ++p)
        result.push_back({first, p * stride});
      return result;
    };
    SmallVector<Address> outAt =
        rowAddresses(b.mulAdd(batch, outStrides[0], channel), outStrides[1]);
    if (epilogue.residual) {
      at.residual = rowAddresses(b.mulAdd(batch, residualStrides[0], channel), residualStrides[1]);
      at.residualBlockStride = width;
      at.lastBlockWidth = lastWidth;
    }
    startChunk(acc, at, outAt, chunk, lastWidth);

    Value lhsFirst = b.mul(batch, lhsStrides[0]);
    Value rhsFirst = b.mulAdd(batch, rhsBatchStride, b.mul(block, rhsBlockStride));
    if (chunks > 1) {
      lhsFirst = b.mulAdd(chunk, depth * lhsStrides[2], lhsFirst);
      rhsFirst = b.mulAdd(chunk, depth * rhsStrides[1], rhsFirst);
    }
    SmallVector<Address> lhsAt = rowAddresses(lhsFirst, lhsStrides[1]);
    int64_t partial = op.getPacked() ? 0 : lastWidth; // Packed panels are full.

    Lookahead lookahead{next, tiling.tilesPerTask(), tileRows.ordinal};
    if (requests == Requests::Ahead) {
      const int64_t line = 64 * 8 / elementOf(op.getRhs()).getIntOrFloatBitWidth();
      lookahead = {b.add(rhsFirst, kLinesAhead * line), /*tiles=*/1, /*ordinal=*/b.index(0)};
    }
    acc.contractRows(lhs, lhsAt, lhsStrides[2], rhs, {rhsFirst}, rhsStrides[1], rhsBlockStride,
                     depth, partial, lookahead.from ? &lookahead : nullptr);
    finishChunk(acc, at, outAt, chunk, lastWidth);
  });
}

void MatMulExpander::run() {
  lhs = b.flat(op.getLhs());
  rhs = b.flat(op.getRhs());
  output = b.flat(op.getOutput());
  if (op.getBias())
    epilogue.bias = b.flat(op.getBias());
  if (op.getResidual())
    epilogue.residual = b.flat(op.getResidual());
  epilogue.activation = op.getActivation().value_or(graph::ActivationAttr());

  int64_t fullBlocks = columns / width, lastWidth = columns % width;
  int64_t step = std::min(tile.getBlocks(), std::max<int64_t>(fullBlocks, 1));
  int64_t steps = fullBlocks / step, rest = fullBlocks % step + (lastWidth != 0);
  int64_t stepsPerTask = std::max<int64_t>(1, tile.getGroups() / step);
  int64_t mainTasks = llvm::divideCeil(steps, stepsPerTask);

  // The blocks that do not fill a register tile are a task of their own.
  SmallVector<Value> task = b.beginTasks({shapeOf(op.getOutput())[0], mainTasks + (rest != 0)});
  auto forEachChunk = [&](auto body) {
    if (chunks == 1)
      body(Value());
    else
      b.loop(chunks, body);
  };
  requests = chooseRequests(step);
  // The panels that come next: those of the next blocks, or of the first ones in the next chunk.
  auto nextPanel = [&](Value begin, Value end, Value block, Value chunk) -> Value {
    Value behind = b.mul(b.add(block, step), rhsBlockStride);
    if (chunks == 1)
      return behind;
    const int64_t perChunk = depth * rhsStrides[1];
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, b.add(block, step), end);
    Value inNextChunk = b.add(b.mul(begin, rhsBlockStride), perChunk);
    return b.mulAdd(chunk, perChunk, arith::SelectOp::create(b, isLast, inNextChunk, behind));
  };
  auto emitMain = [&] {
    Value begin = b.mul(task[1], stepsPerTask * step);
    Value end = b.add(begin, stepsPerTask * step);
    if (steps % stepsPerTask)
      end = arith::MinUIOp::create(b, end, b.index(steps * step));
    forEachChunk([&](Value chunk) {
      b.loop(begin, end, step, [&](Value block) {
        Value next =
            requests == Requests::NextPanels ? nextPanel(begin, end, block, chunk) : Value();
        emitBlocks(task[0], block, next, chunk, step, 0);
      });
    });
  };
  auto emitRest = [&] {
    forEachChunk([&](Value chunk) {
      emitBlocks(task[0], b.index(steps * step), Value(), chunk, rest, lastWidth);
    });
  };

  if (mainTasks && rest) {
    Value isMain = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, task[1], b.index(mainTasks));
    auto ifOp = scf::IfOp::create(b, isMain, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emitMain();
    b.setInsertionPointToStart(ifOp.elseBlock());
    emitRest();
  } else if (mainTasks) {
    emitMain();
  } else {
    emitRest();
  }
  op.erase();
}

/// Returns whether an op multiplies rows by one vector, which both lie along vectors.
bool multipliesVector(MatMulOp op) {
  const LevelAttr level = levelOf(op);
  return !op.getPacked() && !op.getBias() && !op.getResidual() && !op.getActivation() &&
         shapeOf(op.getOutput())[2] == 1 && elementOf(op.getLhs()).isF32() &&
         elementOf(op.getRhs()).isF32() && elementOf(op.getOutput()).isF32() &&
         stridesOf(op.getLhs())[2] == 1 && stridesOf(op.getRhs())[1] == 1 &&
         shapeOf(op.getLhs())[2] >= level.getLanes();
}

/// Multiplies rows by one vector: a tile of columns would use one lane of its registers.
void expandVectorProduct(MatMulOp op) {
  constexpr int64_t kRows = 4, kVectors = 2; // accumulators that hide the latency of additions
  KernelBuilder b(op);
  LaneBuffer lhs(b, op.getLhs()), rhs(b, op.getRhs()), output(b, op.getOutput());
  SmallVector<int64_t> left = stridesOf(op.getLhs()), right = stridesOf(op.getRhs()),
                       out = stridesOf(op.getOutput());
  ArrayRef<int64_t> shape = shapeOf(op.getOutput());
  const int64_t depth = shapeOf(op.getLhs())[2], width = b.level().getLanes();
  if (shapeOf(op.getLhs())[0] == 1)
    left[0] = 0;
  if (shapeOf(op.getRhs())[0] == 1)
    right[0] = 0;
  const Lanes rows{1, kRows}, steps{width, kVectors};
  Value zero = laneConstant(b, b.getF32Type(), width, 0.0);
  SmallVector<Range> ranges =
      beginTasks(b, shape.take_front(2), depth * lhs.bytes(), SmallVector<int64_t>{1, kRows});
  forEach(b, ranges[0], [&](Value batch) {
    forEachVectors(b, ranges[1], rows, [&](Value first, ArrayRef<int64_t> group) {
      const int64_t count = group.size();
      Value from = b.mulAdd(first, left[1], b.mul(batch, left[0]));
      Value vector = b.mul(batch, right[0]);
      const SmallVector<Value> start(count * kVectors, zero);
      SmallVector<Value> sums = forEachVectors(
          b, depth, steps, start, [&](Value k, ArrayRef<int64_t> counts, ValueRange carried) {
            SmallVector<Value> next(carried);
            for (auto [v, lanes] : llvm::enumerate(counts)) {
              Value at = b.add(k, v * width);
              Value y = rhs.load(b.add(vector, at), width, lanes, 1, zero);
              for (int64_t r = 0; r < count; ++r) {
                Value x = lhs.load(b.add(b.add(from, r * left[1]), at), width, lanes, 1, zero);
                Value &sum = next[r * kVectors + v];
                sum = b.madd(x, y, sum);
              }
            }
            return next;
          });
      Value to = b.mulAdd(first, out[1], b.mul(batch, out[0]));
      for (int64_t r = 0; r < count; ++r) {
        Value sum = sums[r * kVectors];
        for (int64_t v = 1; v < kVectors; ++v)
          sum = arith::AddFOp::create(b, sum, sums[r * kVectors + v]);
        output.store(combineLanes(b, Combiner::Sum, sum), b.add(to, r * out[1]), 1);
      }
    });
  });
  op.erase();
}

struct CpuExpandMatMulPass : impl::CpuExpandMatMulBase<CpuExpandMatMulPass> {
  void runOnOperation() override {
    getOperation().walk([&](MatMulOp op) {
      TileAttr tile = op.getTileAttr();
      if (!tile) {
        op.emitOpError("needs a tile; run cpu-select-tiles first");
        return signalPassFailure();
      }
      if (multipliesVector(op))
        return expandVectorProduct(op);
      MatMulExpander(op, tile).run();
    });
  }
};

} // namespace
} // namespace atc::cpu
