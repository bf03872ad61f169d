//===-- AssignHalo.cpp - zero borders for padded convolutions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace atc::kernel {
#define GEN_PASS_DEF_KERNELASSIGNHALO
#include "passes/kernel/Passes.h.inc"

namespace {

Halo join(Halo a, Halo b) {
  for (auto [side, other] : llvm::zip(a, b))
    side = std::max(side, other);
  return a;
}

/// Returns whether the planes of a slice are the planes of its source, including the halo.
bool keepsPlanes(graph::SliceOp slice) {
  ArrayRef<int64_t> in = tensorType(slice.getInput()).getShape(),
                    out = tensorType(slice.getResult()).getShape();
  return in.drop_front(2) == out.drop_front(2) && slice.getSteps()[2] == 1 &&
         slice.getSteps()[3] == 1;
}

bool startsBlock(graph::ConcatOp concat, unsigned part) {
  int64_t channel = 0, block = blockOf(concat.getResult());
  if (concat.getAxis() == 1)
    for (Value before : concat.getInputs().take_front(part))
      channel += tensorType(before).getDimSize(1);
  return block != 0 && channel % block == 0;
}

/// Returns the columns behind the last window of a row that its bytes, taken four at a time, reach
/// into: so all fours of a window are adjacent, as tile registers want them. Windows of few fours
/// are left to dot products.
int64_t columnsOfFours(graph::IntegerConvOp conv) {
  constexpr int64_t kMinBytes = 16;
  const int64_t block = blockOf(conv.getInput());
  const int64_t bytes = tensorType(conv.getFilter()).getDimSize(3) * block;
  if (bytes < kMinBytes || conv.getDilations()[1] != 1)
    return 0;
  return llvm::divideCeil(llvm::alignTo(bytes, 4) - bytes, block);
}

struct AssignHaloPass : impl::KernelAssignHaloBase<AssignHaloPass> {
  void runOnOperation() override {
    needs.clear();
    fills.clear();
    for (auto conv : getOperation().getOps<graph::ConvOp>())
      if (blockOf(conv.getInput()) && !isCubeContraction(conv) && failed(addConv(conv)))
        return signalPassFailure();
    for (auto conv : getOperation().getOps<graph::IntegerConvOp>())
      if (blockOf(conv.getInput()) && !conv->hasAttr(kCubeSumsAttr) &&
          failed(addConv(conv, conv.getZeroPoint(), columnsOfFours(conv))))
        return signalPassFailure();
    // A halo that was propagated to another tensor may be propagated further.
    while (propagate()) {
    }
    for (auto [value, halo] : needs)
      value.setType(withLayout(tensorType(value), blockOf(value), halo, fills.lookup(value)));
  }

private:
  /// Adds the halo of a padded convolution, and `columns` more on the right.
  template <typename OpT> LogicalResult addConv(OpT conv, int64_t fill = 0, int64_t columns = 0) {
    Window h = windowOf(conv, 0), w = windowOf(conv, 1);
    Halo halo{h.before, w.before, h.after(), w.after()};
    if (halo == Halo{})
      return success();
    halo[3] += columns;
    if (!conv.getInput().getDefiningOp())
      return conv.emitOpError("reads a blocked argument of the function past its edge; "
                              "kernel-assign-layout keeps arguments plain");
    if (needs.contains(conv.getInput()) && fills.lookup(conv.getInput()) != fill)
      return conv.emitOpError("pads its input with ")
             << fill << ", another convolution pads it with " << fills.lookup(conv.getInput());
    fills[conv.getInput()] = fill;
    add(conv.getInput(), halo);
    return success();
  }

  bool add(Value value, Halo halo) {
    Halo old = join(haloOf(value.getType()), needs.lookup(value)), joined = join(old, halo);
    needs[value] = joined;
    return joined != old;
  }

  /// The halo of a view in what it is a view of, unless that has another.
  bool addTo(Value whole, Value view, Halo halo) {
    int64_t fill = fills.lookup(view);
    if (needs.contains(whole) && fills.lookup(whole) != fill)
      return false;
    fills[whole] = fill;
    return add(whole, halo);
  }

  /// Moves the halo of views to the tensor that they are views of: that of a slice to its source,
  /// that of a concat's operand to its result. This saves the copies that halos of their own would
  /// need.
  bool propagate() {
    bool changed = false;
    SmallVector<std::pair<Value, Halo>> known(needs.begin(), needs.end());
    for (auto [value, halo] : known) {
      auto slice = value.getDefiningOp<graph::SliceOp>();
      if (slice && isSliceView(slice, blockOf(value)) && keepsPlanes(slice) &&
          slice.getInput().getDefiningOp())
        changed |= addTo(slice.getInput(), value, halo);
      for (OpOperand &use : value.getUses())
        if (auto concat = dyn_cast<graph::ConcatOp>(use.getOwner()))
          if (!slice && concat.getAxis() < 2 && startsBlock(concat, use.getOperandNumber()))
            changed |= addTo(concat.getResult(), value, halo);
    }
    return changed;
  }

  /// In program order, so that output does not depend on addresses.
  llvm::MapVector<Value, Halo> needs;
  llvm::DenseMap<Value, int64_t> fills;
};

} // namespace
} // namespace atc::kernel
