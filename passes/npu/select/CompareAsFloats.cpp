//===-- CompareAsFloats.cpp - comparisons of integers for the vector unit --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/npu/Npu.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/select/Partition.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUCOMPAREASFLOATS
#include "passes/npu/VectorPasses.h.inc"

namespace {

/// Integers below this number are the only ones that become the f32 of the same value: comparing
/// them with any integer as f32 gives the same answer.
constexpr int64_t kExact = 1 << 24;

bool isSmall(int64_t number) { return number > -kExact && number < kExact; }

/// Returns whether all elements of a weight are small integers.
bool areSmall(om::WeightOp weight) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(weight.getValue());
  if (failed(bytes))
    return false;
  if (weight.getValue().getElementType().isInteger(64))
    return llvm::all_of(bytes->expandedAs<int64_t>(), isSmall);
  return weight.getValue().getElementType().isInteger(32) &&
         llvm::all_of(bytes->expandedAs<int32_t>(), isSmall);
}

std::optional<arith::CmpFPredicate> asFloat(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return arith::CmpFPredicate::OEQ;
  case arith::CmpIPredicate::ne:
    return arith::CmpFPredicate::UNE;
  case arith::CmpIPredicate::slt:
    return arith::CmpFPredicate::OLT;
  case arith::CmpIPredicate::sle:
    return arith::CmpFPredicate::OLE;
  case arith::CmpIPredicate::sgt:
    return arith::CmpFPredicate::OGT;
  case arith::CmpIPredicate::sge:
    return arith::CmpFPredicate::OGE;
  default:
    return std::nullopt;
  }
}

struct CompareAsFloatsPass : impl::NpuCompareAsFloatsBase<CompareAsFloatsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    const SocTable soc = socOf(main);
    const graph::HostNodes hostNodes(main);
    for (auto map : llvm::make_early_inc_range(main.getOps<kernel::MapOp>()))
      if (!hostNodes.contains(map) && !map.getBody().getOps<arith::CmpIOp>().empty())
        rewrite(map, soc);
  }

private:
  /// Replaces a map whose comparisons are all exact as floats, if the NPU computes it then.
  void rewrite(kernel::MapOp map, const SocTable &soc) {
    for (auto compare : map.getBody().getOps<arith::CmpIOp>())
      if (!isExact(map, compare))
        return;
    OpBuilder builder(map);
    auto copy = cast<kernel::MapOp>(builder.clone(*map));
    for (auto compare : llvm::make_early_inc_range(copy.getBody().getOps<arith::CmpIOp>()))
      replace(compare);
    if (!whyNotOnNpu(copy, soc).empty()) {
      copy.erase();
      return;
    }
    map.erase();
    ++numRewritten;
  }

  /// Returns whether both operands are arguments or constants, and one of them is small.
  static bool isExact(kernel::MapOp map, arith::CmpIOp compare) {
    if (!asFloat(compare.getPredicate()))
      return false;
    bool isAnySmall = false;
    for (Value operand : compare->getOperands()) {
      APInt number;
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!operand.getType().isInteger(64) && !operand.getType().isInteger(32))
        return false;
      if (matchPattern(operand, m_ConstantInt(&number))) {
        isAnySmall |= isSmall(number.getSExtValue());
      } else if (argument) {
        Value buffer = map.getInputs()[argument.getArgNumber()];
        auto weight = om::resolveViews(buffer).root.getDefiningOp<om::WeightOp>();
        isAnySmall |= weight && areSmall(weight);
      } else {
        return false;
      }
    }
    return isAnySmall;
  }

  static void replace(arith::CmpIOp compare) {
    OpBuilder builder(compare);
    auto widened = [&](Value value) -> Value {
      APInt number;
      if (matchPattern(value, m_ConstantInt(&number)))
        return arith::ConstantOp::create(builder, compare.getLoc(),
                                         builder.getF32FloatAttr(float(number.getSExtValue())));
      return arith::SIToFPOp::create(builder, compare.getLoc(), builder.getF32Type(), value);
    };
    Value result =
        arith::CmpFOp::create(builder, compare.getLoc(), *asFloat(compare.getPredicate()),
                              widened(compare.getLhs()), widened(compare.getRhs()));
    compare.replaceAllUsesWith(result);
    compare.erase();
  }
};

} // namespace
} // namespace atc::npu
