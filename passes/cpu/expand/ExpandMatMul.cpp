//===-- ExpandMatMul.cpp - cpu.matmul as register-tiled loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (batch, group of column blocks). A column block is `width` columns: a packed panel
// [K][width], or `width` adjacent columns of an unpacked matrix. The last block may be partial and
// is masked.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
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

class MatMulExpander {
public:
  MatMulExpander(MatMulOp op, TileAttr tile)
      : op(op), tile(tile), b(op), lhsStrides(stridesOf(op.getLhs())),
        rhsStrides(stridesOf(op.getRhs())), outStrides(stridesOf(op.getOutput())) {
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
  }

  void run();

private:
  void emitBlocks(Value batch, Value block, int64_t blocks, int64_t lastWidth);

  MatMulOp op;
  TileAttr tile;
  KernelBuilder b;
  SmallVector<int64_t> lhsStrides, rhsStrides, outStrides;
  int64_t rows, columns, depth, width, rhsBlockStride, rhsBatchStride;
  Value lhs, rhs, output;
  EpilogueBuffers epilogue;
};

void MatMulExpander::emitBlocks(Value batch, Value block, int64_t blocks, int64_t lastWidth) {
  PixelTiling tiling(/*height=*/1, rows, tile);
  tiling.forEachTile(b, b.index(0), [&](const PixelTile &tileRows) {
    RegisterTile acc(b, tileRows.count, blocks, width);
    Value channel = b.mul(block, width);
    EpilogueAt at{{channel}, {}, 0};
    startSum(b, acc, epilogue, at, width);

    auto rowAddresses = [&](Value base, int64_t stride) {
      Value first = b.mulAdd(tileRows.column, stride, base);
      SmallVector<Address> result;
      for (int64_t p = 0; p < tileRows.count; ++p)
        result.push_back({first, p * stride});
      return result;
    };
    SmallVector<Address> lhsAt = rowAddresses(b.mul(batch, lhsStrides[0]), lhsStrides[1]);
    Value rhsFirst = b.mulAdd(batch, rhsBatchStride, b.mul(block, rhsBlockStride));
    int64_t partial = op.getPacked() ? 0 : lastWidth; // Packed panels are full.

    int64_t unroll = std::min<int64_t>(depth, 8), tail = depth % unroll;
    acc.contract(lhs, lhsAt, rhs, {rhsFirst}, rhsBlockStride,
                 {{depth / unroll, unroll * lhsStrides[2], unroll * rhsStrides[1]},
                  {unroll, lhsStrides[2], rhsStrides[1], /*unroll=*/true}},
                 partial);
    if (tail) {
      for (Address &address : lhsAt)
        address = address + (depth - tail) * lhsStrides[2];
      acc.contract(lhs, lhsAt, rhs, {rhsFirst, (depth - tail) * rhsStrides[1]}, rhsBlockStride,
                   {{tail, lhsStrides[2], rhsStrides[1], /*unroll=*/true}}, partial);
    }
    finishSum(b, acc, epilogue, at, width);
    Value outBase = b.mulAdd(batch, outStrides[0], channel);
    acc.store(output, rowAddresses(outBase, outStrides[1]), width, lastWidth);
  });
}

void MatMulExpander::run() {
  lhs = b.flat(op.getLhs());
  rhs = b.flat(op.getRhs());
  output = b.flat(op.getOutput());
  if (op.getBias())
    epilogue.bias = b.flat(op.getBias());
  epilogue.activation = op.getActivation().value_or(graph::ActivationAttr());

  int64_t fullBlocks = columns / width, lastWidth = columns % width;
  int64_t step = std::min(tile.getBlocks(), std::max<int64_t>(fullBlocks, 1));
  int64_t steps = fullBlocks / step, rest = fullBlocks % step + (lastWidth != 0);
  int64_t stepsPerTask = std::max<int64_t>(1, tile.getGroups() / step);
  int64_t mainTasks = llvm::divideCeil(steps, stepsPerTask);

  // The blocks that do not fill a register tile are a task of their own.
  SmallVector<Value> task = b.beginTasks({shapeOf(op.getOutput())[0], mainTasks + (rest != 0)});
  auto emitMain = [&] {
    Value begin = b.mul(task[1], stepsPerTask * step);
    Value end = b.add(begin, stepsPerTask * step);
    if (steps % stepsPerTask)
      end = arith::MinUIOp::create(b, end, b.index(steps * step));
    b.loop(begin, end, step, [&](Value block) { emitBlocks(task[0], block, step, 0); });
  };
  auto emitRest = [&] { emitBlocks(task[0], b.index(steps * step), rest, lastWidth); };

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

struct CpuExpandMatMulPass : impl::CpuExpandMatMulBase<CpuExpandMatMulPass> {
  void runOnOperation() override {
    getOperation().walk([&](MatMulOp op) {
      TileAttr tile = op.getTileAttr();
      if (!tile) {
        op.emitOpError("needs a tile; run cpu-select-tiles first");
        return signalPassFailure();
      }
      MatMulExpander(op, tile).run();
    });
  }
};

} // namespace
} // namespace atc::cpu
