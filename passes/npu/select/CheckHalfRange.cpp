//===-- CheckHalfRange.cpp - numbers that f16 certainly does not hold -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/OpTraits.h"
#include "passes/Remarks.h"
#include "passes/ValueTypes.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/npu/GraphPasses.h"
#include "passes/npu/select/ElementBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cfloat>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUCHECKHALFRANGE
#include "passes/npu/GraphPasses.h.inc"

namespace {

constexpr double kLargestHalf = 65504;
/// From here on a number is rounded to infinity.
constexpr double kInfiniteHalf = 65520;

bool isHalf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF16();
}

/// Returns whether a number, or its opposite, is infinite in f16 but not in the model.
bool isLost(double number) { return number >= kInfiniteHalf && number <= FLT_MAX; }

/// Returns `text` with a number in it, of the length that a reader needs.
std::string inWords(const char *text, double number) {
  std::string digits;
  llvm::raw_string_ostream(digits) << llvm::format("%g", number);
  return llvm::formatv(text, digits);
}

/// Returns what is converted to f16 at the end of a map behind the bounds of f16, with which
/// npu-precision keeps finite what is made of larger constants; null where there are none.
Value clampedNumber(graph::MapOp map) {
  Value number = map.getBody().front().getTerminator()->getOperand(0);
  bool isClamped = false;
  while (Operation *op = number.getDefiningOp()) {
    FloatAttr bound;
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
        matchPattern(op->getOperand(1), m_Constant(&bound)) &&
        std::abs(bound.getValueAsDouble()) == kLargestHalf)
      isClamped = true;
    else if (!isa<arith::TruncFOp>(op))
      break;
    number = op->getOperand(0);
  }
  return isClamped ? number : Value();
}

struct CheckHalfRangePass : impl::NpuCheckHalfRangeBase<CheckHalfRangePass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (getOperation().isExternal())
      return;
    BoundsAnalysis bounds;
    std::string first;
    llvm::SetVector<StringRef> nodes;
    Operation *firstOp = nullptr;
    for (Operation &op : getOperation().getOps()) {
      bounds.note(op);
      if (op.getNumResults() != 1 || isa<graph::ConstantOp>(op) || !isHalf(op.getResult(0)))
        continue;
      std::string what = describeLost(op, bounds);
      if (what.empty())
        continue;
      // Results computed from it are lost as well, and are mended with it.
      bounds.forget(op.getResult(0));
      ++numBeyond;
      nodes.insert(graph::nodeNameOf(op.getLoc()));
      if (!firstOp) {
        firstOp = &op;
        first = std::move(what);
      }
    }
    if (firstOp)
      warn(firstOp, first, nodes.getArrayRef());
  }

private:
  /// Returns which numbers of a result are beyond f16 whatever the inputs are, in words; nothing
  /// where none need be.
  std::string describeLost(Operation &op, BoundsAnalysis &analysis) {
    const ElementBounds bounds = analysis.of(op.getResult(0));
    if (isLost(bounds.top))
      return inWords("{0} or more", bounds.top);
    if (isLost(-bounds.bottom))
      return inWords("{0} or less", bounds.bottom);
    if (auto map = dyn_cast<graph::MapOp>(op))
      if (Value number = clampedNumber(map)) {
        // Masks have some large numbers, and a bound is as good there.
        const Interval all = analysis.inBody(map, number).all;
        if (isLost(all.min))
          return inWords("{0} or more", all.min);
        if (isLost(-all.max))
          return inWords("{0} or less", all.max);
      }
    if ((isLost(bounds.all.max) || isLost(-bounds.all.min)) &&
        !op.hasTrait<graph::OnlyMovesElements>())
      remarkAnalysis(getArgument(), op.getLoc(), "MayOverflow")
          << remark::add("f16 ends at 65504, and all that is known of these numbers is that they "
                         "are from {0} to {1}",
                         bounds.all.min, bounds.all.max);
    return "";
  }

  static void warn(Operation *op, StringRef numbers, ArrayRef<StringRef> nodes) {
    InFlightDiagnostic warning = op->emitWarning("W11016: ");
    warning << "whatever the inputs are, node '" << nodes.front() << "' makes numbers of "
            << numbers << ", beyond 65504, where f16 ends";
    constexpr size_t maxNames = 4;
    ArrayRef<StringRef> more = nodes.drop_front();
    if (!more.empty())
      warning << "; so do " << more.size() << " more: ";
    for (auto [i, name] : llvm::enumerate(more.take_front(maxNames)))
      warning << (i ? ", '" : "'") << name << "'";
    if (more.size() > maxNames)
      warning << ", ...";
    warning << "; name them and the nodes that read them in a file of --keep_dtype, or try "
               "--precision_mode=allow_mix_precision";
  }
};

} // namespace
} // namespace atc::npu
