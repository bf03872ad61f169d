//===-- ExpandMap.cpp - kernel.map as loops ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body is repeated with vectors in the place of its scalars, along the dim
// in which the output is contiguous.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/LaneBuffer.h"
#include "passes/cpu/LoopNest.h"
#include "passes/cpu/Passes.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMAP
#include "passes/cpu/Passes.h.inc"

namespace {

/// The operations of a map's body, to be repeated for vectors.
class BodyCloner {
public:
  BodyCloner(KernelBuilder &builder, MapOp op) : b(builder), block(op.getBody().front()) {
    for (Operation &inner : block.without_terminator()) {
      if (isa<arith::ConstantOp>(inner))
        continue;
      (isa<math::MathDialect>(inner.getDialect()) ? mathOps : plainOps) += 1;
      vectorizes &= inner.hasTrait<OpTrait::Vectorizable>();
    }
  }

  bool canVectorize() const { return vectorizes; }

  /// Time of an element, in bytes that memory moves meanwhile.
  int64_t costInBytes() const { return plainOps + 10 * mathOps; }

  /// Vectors per step: as many as hide the loop, with bounded code.
  int64_t unroll() const {
    if (mathOps > 0)
      return plainOps + mathOps < 8 ? 2 : 1;
    return plainOps <= 6 ? 4 : plainOps <= 16 ? 2 : 1;
  }

  Value clone(ValueRange args, int64_t width) {
    IRMapping mapping;
    mapping.map(block.getArguments(), args);
    // Constants may have been moved out of the body.
    auto lanesOf = [&](Value value) {
      if (Value own = mapping.lookupOrNull(value))
        return own;
      Value wide = spread(b, value, width);
      mapping.map(value, wide);
      return wide;
    };
    for (Operation &inner : block.without_terminator()) {
      auto constant = dyn_cast<arith::ConstantOp>(inner);
      if (constant && width > 1) {
        auto type = VectorType::get({width}, constant.getType());
        auto splat = DenseElementsAttr::get(type, Attribute(constant.getValue()));
        mapping.map(constant.getResult(), arith::ConstantOp::create(b, splat).getResult());
        continue;
      }
      for (Value operand : inner.getOperands())
        lanesOf(operand);
      Operation *copy = b.clone(inner, mapping);
      for (OpResult result : copy->getResults())
        result.setType(laneType(result.getType(), width));
    }
    return lanesOf(cast<YieldOp>(block.getTerminator()).getValue());
  }

private:
  KernelBuilder &b;
  Block &block;
  int64_t plainOps = 0, mathOps = 0;
  bool vectorizes = true;
};

void expand(MapOp op) {
  KernelBuilder b(op);
  BodyCloner body(b, op);
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
    // What does not change along the row is read once.
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
