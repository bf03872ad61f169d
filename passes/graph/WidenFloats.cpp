//===-- WidenFloats.cpp - graphs with small floats computed in f32 --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHWIDENFLOATS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

bool isSmallFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().isF16() || type.getElementType().isBF16());
}

bool multipliesSmallFloats(Operation *op) {
  return op->hasTrait<IsContraction>() && llvm::any_of(op->getOperands(), isSmallFloat);
}

/// Ops whose types mean something: the rounding of a cast is the model's own, and
/// scalar code is written for its types.
bool keepsTypes(Operation *op) {
  return op->getNumRegions() != 0 || op->hasTrait<ConvertsQuantized>() || isa<CastOp>(op);
}

struct WidenFloats : atc::graph::impl::GraphWidenFloatsBase<WidenFloats> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()) ||
        !llvm::any_of(function.getOps(), [](Operation &op) { return multipliesSmallFloats(&op); }))
      return;
    wide.clear();
    narrow.clear();
    for (Operation &op : llvm::make_early_inc_range(function.getOps())) {
      const bool keeps = keepsTypes(&op) || isa<func::ReturnOp>(op);
      for (OpOperand &operand : op.getOpOperands())
        operand.set(keeps ? asBefore(operand.get()) : asWide(operand.get()));
      if (keeps || isa<ConstantOp>(op))
        continue;
      for (Value result : op.getResults()) {
        if (!isSmallFloat(result))
          continue;
        narrow[result] = {result.getType(), Value()};
        result.setType(getTensorType(result).clone(Float32Type::get(&getContext())));
        ++numWidened;
      }
    }
  }

private:
  Value convert(Value value, Type type) {
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    return CastOp::create(builder, derivedLoc(value.getLoc(), "cast"), type, value);
  }
  Value asWide(Value value) {
    if (!isSmallFloat(value))
      return value;
    Value &made = wide[value];
    if (!made)
      made = convert(value, getTensorType(value).clone(Float32Type::get(&getContext())));
    return made;
  }
  /// Returns `value` converted to its previous type.
  Value asBefore(Value value) {
    auto found = narrow.find(value);
    if (found == narrow.end())
      return value;
    auto &[type, made] = found->second;
    if (!made)
      made = convert(value, type);
    return made;
  }

  DenseMap<Value, Value> wide;
  DenseMap<Value, std::pair<Type, Value>> narrow;
};

} // namespace
