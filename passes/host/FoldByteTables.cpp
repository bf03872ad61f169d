//===-- FoldByteTables.cpp - functions of bytes become tables -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFOLDBYTETABLES
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The longest function that is looked at: what is traced again from each of its calls.
constexpr size_t maxCalls = 24;

/// Returns the positions of the operands that a call computes its elements of, one by one; its
/// other operands hold for all elements. Nothing for calls that do otherwise.
ArrayRef<unsigned> elementOperands(HostCallOp call) {
  static constexpr unsigned first[] = {0}, pair[] = {0, 1}, quantizedPair[] = {0, 3};
  return llvm::StringSwitch<ArrayRef<unsigned>>(call.getKernel())
      .Cases({"Abs",
              "Clip",
              "DequantizeLinear",
              "Elu",
              "Exp",
              "Gelu",
              "HardSigmoid",
              "HardSwish",
              "LeakyRelu",
              "Mish",
              "Neg",
              "QLinearLeakyRelu",
              "QLinearSigmoid",
              "QuantizeLinear",
              "Relu",
              "Sigmoid",
              "Softplus",
              "Sqrt",
              "Swish",
              "Tanh"},
             first)
      .Cases({"Add", "Div", "Mul", "Sub"}, pair)
      .Cases({"QLinearAdd", "QLinearMul"}, quantizedPair)
      .Default({});
}

/// Returns whether `value` is a constant with one element, of rank 0 or 1.
bool isNumber(Value value) {
  ElementsAttr elements = graph::getConstant(value);
  return elements && elements.getNumElements() == 1 && elements.getShapedType().getRank() <= 1;
}

/// A tensor of bytes as a function of another one, element by element.
struct ByteFunction {
  Value source;
  llvm::SetVector<Operation *> calls; ///< in program order
  bool raisesScalars = false;         ///< a number of rank 1 gives a source of rank 0 another rank

  /// Finds the function that computes `value`; returns false where there is none.
  bool trace(Value value) {
    if (isNumber(value)) {
      raisesScalars |= graph::getConstant(value).getShapedType().getRank() > 0;
      return true;
    }
    auto call = value.getDefiningOp<HostCallOp>();
    if (call && calls.contains(call))
      return true;
    if (!call || !compute(call)) {
      if (!isByte(value) || (source && source != value))
        return false;
      source = value;
      return true;
    }
    return true;
  }

private:
  /// Adds a call and what it reads. What fails leaves this as it was.
  bool compute(HostCallOp call) {
    const ArrayRef<unsigned> positions = elementOperands(call);
    const Type element = getElementTypeOrSelf(call.getResult(0).getType());
    if (positions.empty() || call->getNumResults() != 1 || !hasInputs(call, positions.back() + 1) ||
        !(element.isInteger(8) || element.isF32()) || calls.size() == maxCalls)
      return false;
    const SmallVector<Value> inputs = call.inputsByPosition();
    for (auto [position, input] : llvm::enumerate(inputs))
      if (input && !llvm::is_contained(positions, position) && !isNumber(input))
        return false;
    const Value oldSource = source;
    const size_t oldCount = calls.size();
    for (unsigned position : positions)
      if (!trace(inputs[position])) {
        source = oldSource;
        while (calls.size() > oldCount)
          calls.pop_back();
        return false;
      }
    return calls.insert(call);
  }
};

/// The numbers 0 to 255 as bytes of a type.
Value allBytes(OpBuilder &builder, Location loc, Type element) {
  std::vector<char> bytes(256);
  std::iota(bytes.begin(), bytes.end(), char(0));
  return graph::ConstantOp::create(
      builder, graph::derivedLoc(loc, "table"),
      graph::makeConstant(RankedTensorType::get({256}, element), std::move(bytes), "bytes"));
}

struct HostFoldByteTables : impl::HostFoldByteTablesBase<HostFoldByteTables> {
  void runOnOperation() override {
    SmallVector<HostCallOp> calls;
    getOperation().walk([&](HostCallOp call) { calls.push_back(call); });
    // The last call of a function first: what only it has read goes with it.
    for (HostCallOp call : llvm::reverse(calls)) {
      if (call.use_empty() && call->getNumResults() == 1 && tabled.contains(call)) {
        call.erase();
        continue;
      }
      if (call->getNumResults() == 1 && isByte(call.getResult(0)))
        fold(call);
    }
  }

  void fold(HostCallOp call) {
    ByteFunction function;
    if (!function.trace(call.getResult(0)) || !function.calls.contains(call) || !function.source)
      return;
    auto type = dyn_cast<RankedTensorType>(function.source.getType());
    if (function.raisesScalars && (!type || type.getRank() == 0))
      return;
    OpBuilder builder(call);
    const Value table = tabulate(builder, function);
    if (!table)
      return;
    tabled.insert_range(function.calls);
    call->replaceAllUsesWith(makeCall(builder, call.getLoc(), "ByteTable", {function.source, table},
                                      call.getResultTypes()));
    call.erase();
    ++numTables;
  }

  /// Returns the results for all bytes, a constant; null where a kernel refuses them.
  static Value tabulate(OpBuilder &builder, const ByteFunction &function) {
    IRMapping mapping;
    SmallVector<Value> made{allBytes(builder, function.source.getLoc(),
                                     getElementTypeOrSelf(function.source.getType()))};
    mapping.map(function.source, made.front());
    for (Operation *each : function.calls) {
      auto call = cast<HostCallOp>(each);
      graph::HostCall numbers;
      numbers.kernel = call.getKernel();
      for (Value input : call.inputsByPosition())
        numbers.inputs.push_back(input ? mapping.lookupOrDefault(input) : Value());
      numbers.parameters = call.getParameters();
      auto results = graph::foldHostCall(numbers, builder.getContext());
      if (failed(results) || results->front().getShapedType().getShape() != ArrayRef<int64_t>{256})
        break;
      made.push_back(graph::ConstantOp::create(builder, graph::derivedLoc(call.getLoc(), "table"),
                                               results->front()));
      mapping.map(call.getResult(0), made.back());
    }
    const bool isComplete = made.size() == function.calls.size() + 1;
    const Value table = isComplete ? made.pop_back_val() : Value();
    for (Value unused : made)
      unused.getDefiningOp()->erase();
    return table;
  }

  llvm::SmallPtrSet<Operation *, 16> tabled; ///< calls that are a part of a table
};

} // namespace
} // namespace atc::host
