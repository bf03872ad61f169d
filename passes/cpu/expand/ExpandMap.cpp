//===-- ExpandMap.cpp - kernel.map as loops ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body is cloned with vectors in place of its scalars, along the dim in which the output is
// contiguous.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/BodyCloner.h"
#include "passes/cpu/tiles/LoopNest.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMAP
#include "passes/cpu/Passes.h.inc"

namespace {

void expand(MapOp op) {
  KernelBuilder b(op);
  // Results that are rounded to integers must be the same on all processors.
  BodyCloner body(b, op.getBody().front(), elementOf(op.getOutput()).isInteger(8));
  Space space(shapeOf(op.getOutput()), op->getOperands());
  unsigned output = op.getInputs().size();
  space.normalize(output);

  SmallVector<LaneBuffer> buffers;
  for (Value operand : op->getOperands())
    buffers.emplace_back(b, operand);
  Lanes lanes;
  if (body.canVectorize()) {
    lanes.width = b.level().getLanes();
    lanes.unroll = std::clamp<int64_t>(space.sizes.back() / lanes.width, 1, body.unroll());
  }
  int64_t bytes = body.costInBytes();
  for (auto [buffer, strides] : llvm::zip(buffers, space.strides))
    bytes += strides.back() == 0 ? 0 : buffer.bytes();

  forEachRow(b, space, bytes, lanes, [&](ArrayRef<Value> offsets, const Range &row) {
    // Operands that do not vary along the row are read once.
    SmallVector<Value> fixed(output);
    for (unsigned i = 0; i < output; ++i)
      if (space.strides[i].back() == 0)
        fixed[i] = buffers[i].splat(offsets[i], lanes.width);

    forEachVectors(b, row, lanes, [&](Value first, ArrayRef<int64_t> counts) {
      auto addressOf = [&](unsigned i, int64_t vector) {
        int64_t stride = space.strides[i].back();
        return b.add(b.mulAdd(first, stride, offsets[i]), vector * lanes.width * stride);
      };
      SmallVector<SmallVector<Value>> args(counts.size());
      for (auto [v, count] : llvm::enumerate(counts))
        for (unsigned i = 0; i < output; ++i)
          args[v].push_back(fixed[i] ? fixed[i]
                                     : buffers[i].load(addressOf(i, v), lanes.width, count,
                                                       space.strides[i].back()));
      for (auto [v, count] : llvm::enumerate(counts))
        buffers[output].store(body.clone(args[v], lanes.width), addressOf(output, v), count,
                              space.strides[output].back());
    });
  });
  op.erase();
}

struct CpuExpandMapPass : impl::CpuExpandMapBase<CpuExpandMapPass> {
  void runOnOperation() override {
    getOperation().walk([](MapOp op) { expand(op); });
  }
};

} // namespace
} // namespace atc::cpu
