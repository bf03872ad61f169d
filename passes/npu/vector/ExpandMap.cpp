//===-- ExpandMap.cpp - kernel.map as a program ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims are merged as far as all operands allow; boxes of the last three are loaded into ub, the
// body is executed on a box, one vector instruction per op, and the box is stored. Operands that
// repeat are loaded once and repeat in ub.
//
//===----------------------------------------------------------------------===//

#include "passes/npu/Passes.h"
#include "passes/npu/vector/BoxOperand.h"
#include "passes/npu/vector/VectorKernels.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDMAP
#include "passes/npu/Passes.h.inc"

namespace {

class MapExpander {
public:
  MapExpander(kernel::MapOp op, const SocTable &soc)
      : op(op), soc(soc), body(op->getRegion(0).front()),
        space(cast<MemRefType>(op.getOutput().getType()).getShape(),
              llvm::to_vector(op->getOperands())),
        output(op.getInputs().size()) {
    space.normalize(output);
    space.pad(1);
    kinds.assign(output + 1, LaneKind::Full);
    findPeriod();
    // Only then are there no dims but those of boxes and of loops.
    space.pad(3);
    for (unsigned i = 0; i <= output; ++i)
      operands.emplace_back(elementOf(i), space.strides[i], kinds[i]);
  }

  std::string whyUnsupported() {
    if (errorText.size())
      return errorText;
    if (std::string why = whyUnsupportedScalarCode(body); why.size())
      return why;
    for (const BoxOperand &operand : operands)
      if (std::string why = operand.whyUnsupported(); why.size())
        return why;
    if (!plan().fitsLoops())
      return "more than 6 loops";
    return {};
  }

  void expand(func::FuncOp function) {
    TileNest nest = plan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    BoxLayout layout{nest, unit, round()};
    const SmallVector<bool> isRead = readInputs(body);
    auto load = [&](bool resident) {
      for (unsigned i = 0; i < output; ++i)
        if (operands[i].isResident(nest) == resident && isRead[i])
          operands[i].load(w, w.argument(i), layout);
    };
    load(true);
    nest.loops(w, [&] {
      load(false);
      operands[output].allocate(w, layout);
      SmallVector<VectorOperand> all;
      for (unsigned i = 0; i <= output; ++i)
        if (i == output || isRead[i])
          all.push_back(operands[i].operand());
      VectorShape shape = layout.shape();
      flatten(all, shape, layout);
      SmallVector<VectorOperand> inputs(output);
      for (unsigned i = 0, next = 0; i < output; ++i)
        if (isRead[i])
          inputs[i] = all[next++];
      emitScalarCode(w, body, inputs, all.back(), shape);
      operands[output].store(w, w.argument(output), layout);
    });
    w.finish();
  }

private:
  Type elementOf(unsigned i) {
    return cast<MemRefType>(op->getOperand(i).getType()).getElementType();
  }
  int64_t round() {
    // Rows of bytes end on whole blocks, too.
    return llvm::any_of(op->getOperands(), [](Value operand) { return elementBytes(operand) == 1; })
               ? 32
               : 16;
  }

  /// Merges a last dim of 16 that repeats along the one before with it.
  void findPeriod() {
    size_t last = space.rank() - 1;
    auto strideOf = [&](unsigned i, size_t back) { return space.strides[i][last - back]; };
    bool hasPeriod = false;
    if (space.rank() >= 2 && space.sizes[last] == 16) {
      hasPeriod = true;
      for (unsigned i = 0; i <= output; ++i) {
        int64_t outside = strideOf(i, 1), inside = strideOf(i, 0);
        bool isFull = outside == 16 && inside == 1;
        // Bytes do not fill blocks.
        const bool repeatsBytes = !isFull && elementOf(i).getIntOrFloatBitWidth() <= 8;
        hasPeriod &= isFull || (outside == 0 && inside <= 1 && !repeatsBytes);
      }
    }
    if (hasPeriod) {
      for (unsigned i = 0; i <= output; ++i)
        kinds[i] = strideOf(i, 1)   ? LaneKind::Full
                   : strideOf(i, 0) ? LaneKind::Periodic
                                    : LaneKind::Scalar;
      unit = 16;
      space.removeDim(last);
      return;
    }
    for (unsigned i = 0; i <= output; ++i) {
      int64_t stride = strideOf(i, 0);
      kinds[i] =
          stride == 0 && (i != output && space.sizes[last] > 1) ? LaneKind::Scalar : LaneKind::Full;
      if (stride > 1 || stride < 0)
        errorText = "operand " + std::to_string(i) + " has a stride of " + std::to_string(stride) +
                    " along the last dim";
    }
  }

  TileNest plan() {
    return planOfBoxes(op, [&](int64_t percent) { return plan(percent); });
  }

  TileNest plan(int64_t percent) {
    int64_t bytes = 0;
    for (const BoxOperand &operand : operands)
      bytes += 2 * operand.bytesPerElement();
    bytes += llvm::divideCeil(scratchBytes(body, 4096), 4096);
    int64_t capacity = (int64_t(soc.ubBytes) - 4096) / bytes / unit;
    SmallVector<Axis> axes;
    for (int64_t size : space.sizes)
      axes.push_back({size});
    chooseTiles(axes, capacity, vectorCoreCount(soc), llvm::divideCeil(round(), unit),
                std::max<int64_t>(1, 128 / unit), percent);
    makeExact(axes, 3);
    return TileNest(axes, vectorCoreCount(soc));
  }

  kernel::MapOp op;
  SocTable soc;
  Block &body;
  TileSpace space;
  unsigned output;
  int64_t unit = 1;
  SmallVector<LaneKind> kinds;
  SmallVector<BoxOperand> operands;
  std::string errorText;
};

struct NpuExpandMapPass : impl::NpuExpandMapBase<NpuExpandMapPass> {
  void runOnOperation() override { expandKernels<kernel::MapOp>(getOperation(), expandMap); }
};

} // namespace

std::string whyUnsupportedMap(kernel::MapOp op, const SocTable &soc) {
  return MapExpander(op, soc).whyUnsupported();
}

void expandMap(func::FuncOp function, kernel::MapOp op) {
  MapExpander(op, socOf(function)).expand(function);
}

} // namespace atc::npu
