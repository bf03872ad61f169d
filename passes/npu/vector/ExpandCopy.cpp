//===-- ExpandCopy.cpp - kernel.copy and fill as programs --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy moves boxes into ub and out again. Where the dim that is contiguous in the output is not
// contiguous in the input, elements of one or two bytes are transposed in ub in blocks of 16 x 16;
// others are moved one by one, each into 32 bytes of its own.
//
//===----------------------------------------------------------------------===//

#include "passes/ValueTypes.h"
#include "passes/npu/Passes.h"
#include "passes/npu/vector/BoxOperand.h"
#include "passes/npu/vector/Transposes.h"
#include "passes/npu/vector/VectorKernels.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDCOPY
#include "passes/npu/Passes.h.inc"

namespace {

class CopyExpander {
public:
  CopyExpander(kernel::CopyOp op, const SocTable &soc)
      : op(op), soc(soc), element(bufferTypeOf(op.getInput()).getElementType()),
        bytes(elementBytes(op.getInput())),
        space(bufferTypeOf(op.getOutput()).getShape(), {op.getInput(), op.getOutput()}) {
    space.normalize(1);
    space.pad(1);
    size_t last = space.rank() - 1;
    int64_t in = space.strides[0][last], out = space.strides[1][last];
    bool isOne = space.sizes[last] == 1;
    isPlain = isOne || (in == 1 && out == 1);
    isSpread = !isOne && in == 0 && out == 1 && bytes <= 4;
    space.pad(3);
    if (!isPlain && !isSpread && bytes <= 2 && out == 1)
      for (size_t dim = 0; dim + 1 < space.rank(); ++dim)
        if (space.strides[0][dim] == 1)
          contiguous = dim;
  }

  std::string whyUnsupported() {
    if (isSpread) {
      if (std::string why = input().whyUnsupported(); why.size())
        return why;
      if (!element.isF16() && !element.isF32() && !element.isInteger(32))
        return "elements that are repeated along the last dim and are not f16, f32 or i32";
    }
    if (contiguous >= 0)
      return transposed().fits() ? "" : "more than 6 loops";
    return (isPlain || isSpread ? boxPlan() : elementPlan()).fitsLoops() ? "" : "more than 6 loops";
  }

  void expand(func::FuncOp function) {
    if (contiguous >= 0)
      return transposed().expand(function, onVectorCores(soc));
    isPlain || isSpread ? copyBoxes(function) : copyElements(function);
  }

private:
  BoxOperand input() const {
    return BoxOperand(element, space.strides[0], isSpread ? LaneKind::Scalar : LaneKind::Full);
  }
  TileNest boxPlan() const {
    return planOfBoxes(op, [&](int64_t percent) { return boxPlan(percent); });
  }

  TileNest boxPlan(int64_t percent) const {
    SmallVector<Axis> axes;
    for (int64_t size : space.sizes)
      axes.push_back({size});
    int64_t cores = vectorCoreCount(soc), perElement = isSpread ? 2 * bytes + 12 : 2 * bytes;
    chooseTiles(axes, (int64_t(soc.ubBytes) - 4096) / perElement, cores, 32, 128, percent);
    makeExact(axes, 3);
    return TileNest(axes, cores);
  }

  void copyBoxes(func::FuncOp function) {
    TileNest nest = boxPlan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    BoxLayout layout{nest, 1, 32};
    nest.loops(w, [&] {
      BoxOperand source = input(), target(element, space.strides[1], LaneKind::Full);
      source.load(w, w.argument(0u), layout);
      if (isSpread) {
        target.allocate(w, layout);
        VectorShape shape = layout.shape();
        w.vector(VectorOp::Copy, target.operand().buffer, target.operand().steps,
                 source.operand().source(), {}, {}, shape.outer, shape.inner, shape.lanes, element,
                 element);
      } else {
        target.use(source.operand());
      }
      target.store(w, w.argument(1u), layout);
    });
    w.finish();
  }

  TileNest elementPlan() const {
    SmallVector<Axis> axes;
    for (int64_t size : space.sizes)
      axes.push_back({size});
    int64_t cores = vectorCoreCount(soc);
    chooseTiles(axes, (int64_t(soc.ubBytes) - 4096) / 64, cores, 1, 16);
    axes[axes.size() - 3].tile = 1;
    makeExact(axes, 2);
    return TileNest(axes, cores);
  }

  void copyElements(func::FuncOp function) {
    TileNest nest = elementPlan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    size_t lanes = nest.size() - 1, rows = lanes - 1;
    nest.loops(w, [&] {
      int64_t row = nest.axis(lanes).tile * 32;
      Value buffer = w.alloc(ir::MemoryKind::UB, row * nest.axis(rows).tile);
      auto address = [&](unsigned i) {
        Expr address;
        for (size_t dim = 0; dim < nest.size(); ++dim)
          address = address + nest.start(dim) * (space.strides[i][dim] * bytes);
        return BufferAddress(w.argument(i), address);
      };
      auto steps = [&](unsigned i) {
        return Steps{space.strides[i][rows] * bytes, space.strides[i][lanes] * bytes};
      };
      w.move(buffer, address(0), {bytes, {}}, nest.span(rows), {row, 32}, steps(0),
             nest.span(lanes));
      w.move(address(1), buffer, {bytes, {}}, nest.span(rows), steps(1), {row, 32},
             nest.span(lanes));
    });
    w.finish();
  }

  /// Rows along the contiguous dim of the input become rows of the output.
  Transposition transposed() const {
    Transposition result(soc, bytes);
    size_t last = space.rank() - 1;
    for (size_t dim = 0; dim < last; ++dim)
      if (int(dim) != contiguous)
        result.addLoop(space.sizes[dim], space.strides[0][dim], space.strides[1][dim]);
    result.setRows(space.sizes[last], space.strides[0][last]);
    result.setColumns(space.sizes[contiguous], space.strides[1][contiguous]);
    return result;
  }

  kernel::CopyOp op;
  SocTable soc;
  Type element;
  int64_t bytes;
  TileSpace space;
  bool isPlain, isSpread;
  int contiguous = -1;
};

class FillExpander {
public:
  FillExpander(kernel::FillOp op, const SocTable &soc)
      : op(op), soc(soc), element(bufferTypeOf(op.getOutput()).getElementType()),
        space(bufferTypeOf(op.getOutput()).getShape(), {op.getOutput()}) {
    space.normalize(0);
    space.pad(1);
    // Elements that lie apart are runs of one.
    if (space.sizes.back() > 1 && space.strides[0].back() != 1)
      space.addDim(1, {1});
    space.pad(3);
  }

  std::string whyUnsupported() {
    if (op.getBorder())
      return "borders";
    if (!element.isF16() && !element.isF32() && !element.isInteger(32) && !element.isInteger(8))
      return "elements that the vector unit cannot fill";
    return plan().fitsLoops() ? "" : "more than 6 loops";
  }

  void expand(func::FuncOp function) {
    TileNest nest = plan();
    ProgramWriter w(function, nest.grid(), onVectorCores(soc));
    nest.enter(w);
    BoxLayout layout{nest, 1, 32};
    BoxOperand target(element, space.strides[0], LaneKind::Full);
    // A single buffer with the value serves all boxes.
    target.allocate(w, layout);
    w.vector(VectorOp::Fill, target.operand().buffer, {}, {}, {}, {}, {}, {},
             Span{layout.elements(), {}}, element, element, storedValue());
    nest.loops(w, [&] { target.store(w, w.argument(0u), layout); });
    w.finish();
  }

private:
  /// The vector unit reads integers with a sign and saturates: what a buffer without signs has in
  /// its upper half are the same bits as a negative number.
  double storedValue() {
    const double value = op.getValue().convertToDouble();
    if (!element.isInteger())
      return value;
    const double range = std::ldexp(1.0, int(element.getIntOrFloatBitWidth()));
    return value >= range / 2 ? value - range : value;
  }

  TileNest plan() const {
    SmallVector<Axis> axes;
    for (int64_t size : space.sizes)
      axes.push_back({size});
    int64_t cores = vectorCoreCount(soc);
    chooseTiles(axes, 32768 / (element.getIntOrFloatBitWidth() / 8), cores, 32);
    makeExact(axes, 3);
    return TileNest(axes, cores);
  }

  kernel::FillOp op;
  SocTable soc;
  Type element;
  TileSpace space;
};

struct NpuExpandCopyPass : impl::NpuExpandCopyBase<NpuExpandCopyPass> {
  void runOnOperation() override {
    expandKernels<kernel::CopyOp, kernel::PackOp, kernel::UnpackOp, kernel::FillOp>(getOperation(),
                                                                                    expandCopyLike);
  }
};

} // namespace

std::string whyUnsupportedCopy(Operation *op, const SocTable &soc) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<kernel::CopyOp>([&](auto copy) { return CopyExpander(copy, soc).whyUnsupported(); })
      .Case<kernel::PackOp, kernel::UnpackOp>(
          [&](Operation *pack) { return whyUnsupportedPack(pack, soc); })
      .Case<kernel::FillOp>([&](auto fill) { return FillExpander(fill, soc).whyUnsupported(); })
      .Default(
          [](Operation *op) { return "no program for " + op->getName().getStringRef().str(); });
}

void expandCopyLike(func::FuncOp function, Operation *op) {
  SocTable soc = socOf(function);
  llvm::TypeSwitch<Operation *>(op)
      .Case<kernel::CopyOp>([&](auto copy) { CopyExpander(copy, soc).expand(function); })
      .Case<kernel::PackOp, kernel::UnpackOp>([&](Operation *pack) { expandPack(function, pack); })
      .Case<kernel::FillOp>([&](auto fill) { FillExpander(fill, soc).expand(function); });
}

} // namespace atc::npu
