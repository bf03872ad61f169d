//===-- ExpandCopy.cpp - kernel.copy, pack, unpack, fill and pad as loops ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/DataMovement.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDCOPY
#include "passes/cpu/Passes.h.inc"

void copyRows(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, const Space &space) {
  int64_t from = space.strides[0].back(), to = space.strides[1].back(), size = space.sizes.back();
  // A vector has the bytes of a register for any element type.
  int64_t width = std::max<int64_t>(1, b.level().getLanes() * 4 / output.bytes());
  Lanes lanes{width, std::clamp<int64_t>(size / width, 1, from == 1 && to == 1 ? 4 : 1)};
  if (to != 1)
    lanes = {1, 1};

  forEachRow(b, space, 2 * output.bytes(), lanes, [&](ArrayRef<Value> at, const Range &row) {
    Value repeated;
    if (from == 0)
      repeated = input.splat(at[0], lanes.width);
    forEachVectors(b, row, lanes, [&](Value first, ArrayRef<int64_t> counts) {
      SmallVector<Value> values;
      for (auto [v, count] : llvm::enumerate(counts))
        values.push_back(
            repeated ? repeated
                     : input.load(b.add(b.mulAdd(first, from, at[0]), v * lanes.width * from),
                                  lanes.width, count, from));
      for (auto [v, count] : llvm::enumerate(counts))
        output.store(values[v], b.add(b.mulAdd(first, to, at[1]), v * lanes.width * to), count, to);
    });
  });
}

namespace {

void expandCopy(CopyOp op) {
  KernelBuilder b(op);
  Space space(shapeOf(op.getOutput()), op->getOperands());
  space.normalize(/*key=*/1);
  LaneBuffer input(b, op.getInput()), output(b, op.getOutput());
  if (std::optional<size_t> dim = findTransposedDim(space))
    copyTransposed(b, input, output, space, *dim);
  else
    copyRows(b, input, output, space);
  op.erase();
}

struct CpuExpandCopyPass : impl::CpuExpandCopyBase<CpuExpandCopyPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<CopyOp>(expandCopy)
          .Case<PackOp>(expandPack)
          .Case<UnpackOp>(expandUnpack)
          .Case<FillOp>(expandFill)
          .Case<PadOp>(expandPad);
    });
  }
};

} // namespace
} // namespace atc::cpu
