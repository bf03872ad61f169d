//===-- ExpandRecurrent.cpp - the steps of recurrent operators as graph ops --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/host/expand/RecurrentSteps.h"

#include "passes/Remarks.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTEXPANDRECURRENT
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Replaces the results of a call.
class RecurrentExpander {
public:
  RecurrentExpander(HostCallOp call, const Recurrence &recurrence)
      : call(call), r(recurrence), builder(call), loc(graph::derivedLoc(call.getLoc(), "step")) {}

  void run() {
    for (int64_t direction = 0; direction < r.directions; ++direction)
      runDirection(direction);
    if (!call.getResult(0).use_empty())
      replace(0, r.batchFirst ? exchange(outputs(), {2, 0, 1, 3}) : outputs());
    for (unsigned i = 1; i < call.getNumResults(); ++i)
      if (!call.getResult(i).use_empty()) {
        Value state = concat(i == 1 ? lastH : lastC, 0);
        replace(i, r.batchFirst ? exchange(state, {1, 0, 2}) : state);
      }
    call.erase();
  }

private:
  void runDirection(int64_t direction) {
    StepBuilder steps(builder, loc, r, direction);
    const bool isReverse = direction == 1 || r.backwardOnly;
    SmallVector<Value> all(r.steps);
    Value h = initial(5, direction), c = initial(6, direction);
    for (int64_t i = 0; i < r.steps; ++i) {
      const int64_t time = isReverse ? r.steps - 1 - i : i;
      auto [nextH, nextC] = steps.advance(time, h, c);
      Value output = nextH;
      if (r.lengths) {
        // A sequence that has ended keeps its states, and its outputs are zeros; backward it has
        // not begun yet.
        Value isInside = insideAt(time);
        output = mul(isInside, nextH);
        nextH = kept(isInside, output, h);
        if (nextC)
          nextC = kept(isInside, mul(isInside, nextC), c);
      }
      h = nextH;
      c = nextC;
      all[time] = steps.joinsStates() ? reshape(steps.states(), {1, 2, r.batch, r.hidden})
                                      : reshape(output, {1, 1, r.batch, r.hidden});
    }
    lastH.push_back(reshape(h, {1, r.batch, r.hidden}));
    if (c)
      lastC.push_back(reshape(c, {1, r.batch, r.hidden}));
    if (call.getResult(0).use_empty())
      return;
    sequences.push_back(concat(all, 0));
    if (steps.joinsStates())
      sequences.back() = graph::SliceOp::create(
          builder, loc, sequences.back(), ArrayRef<int64_t>{0, 1, 0, 0},
          ArrayRef<int64_t>{r.steps, 1, r.batch, r.hidden}, ArrayRef<int64_t>{1, 1, 1, 1});
  }

  /// Returns 1 for each sequence that has an element at `time`, 0 for others: [batch, 1].
  Value insideAt(int64_t time) {
    auto type =
        RankedTensorType::get({r.batch, 1}, graph::getTensorType(r.inputs[0]).getElementType());
    if (!lengths)
      lengths = reshape(
          graph::CastOp::create(builder, loc,
                                RankedTensorType::get({r.batch}, type.getElementType()), r.lengths),
          {r.batch, 1});
    auto number = [&](double value) {
      auto scalar = RankedTensorType::get({}, type.getElementType());
      return graph::createConstant(builder, loc, scalar, value);
    };
    Value left = graph::SubOp::create(builder, loc, lengths, number(double(time)));
    left = graph::MaxOp::create(builder, loc, left, number(0));
    return graph::MinOp::create(builder, loc, left, number(1));
  }
  Value mul(Value a, Value b) { return graph::MulOp::create(builder, loc, a, b); }
  /// Returns `next`, which is 0 for sequences that are not inside, with their state before.
  Value kept(Value isInside, Value next, Value before) {
    if (!before)
      return next;
    auto scalar = RankedTensorType::get({}, graph::getTensorType(isInside).getElementType());
    Value isOutside = graph::SubOp::create(
        builder, loc, graph::createConstant(builder, loc, scalar, 1.0), isInside);
    return graph::AddOp::create(builder, loc, next, mul(isOutside, before));
  }

  /// Returns the state [batch, hidden] that a direction begins with; null where it is zero.
  Value initial(unsigned input, int64_t direction) {
    Value state = r.inputs[input];
    if (!state || graph::getScalarConstant(state) == 0.0)
      return {};
    if (r.batchFirst)
      state = exchange(state, {1, 0, 2});
    if (r.directions > 1)
      state = graph::SliceOp::create(builder, loc, state, ArrayRef<int64_t>{direction, 0, 0},
                                     ArrayRef<int64_t>{1, r.batch, r.hidden},
                                     ArrayRef<int64_t>{1, 1, 1});
    return reshape(state, {r.batch, r.hidden});
  }

  /// Returns the states after all steps [steps, directions, batch, hidden].
  Value outputs() { return concat(sequences, 1); }

  Value concat(ArrayRef<Value> parts, int64_t axis) {
    return parts.size() == 1 ? parts.front()
                             : graph::ConcatOp::create(builder, loc, parts, axis).getResult();
  }
  Value exchange(Value value, ArrayRef<int64_t> order) {
    return graph::TransposeOp::create(builder, loc, value, order);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, graph::getTensorType(value).getElementType());
    return graph::ReshapeOp::create(builder, loc, type, value);
  }
  /// Replaces a result by `value`, whose op takes over the name of the result.
  void replace(unsigned result, Value value) {
    if (result == 0)
      value.getDefiningOp()->setLoc(call.getLoc());
    call.getResult(result).replaceAllUsesWith(value);
  }

  HostCallOp call;
  const Recurrence &r;
  OpBuilder builder;
  Location loc;
  SmallVector<Value> sequences, lastH, lastC; // per direction
  Value lengths;                              // [batch, 1] in the type of the data
};

struct HostExpandRecurrent : impl::HostExpandRecurrentBase<HostExpandRecurrent> {
  using HostExpandRecurrentBase::HostExpandRecurrentBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    const graph::HostNodes hostNodes(function);
    const graph::Float32Nodes float32Nodes(function);
    SmallVector<HostCallOp> calls;
    function.walk([&](HostCallOp call) {
      // The cube has no products of f32.
      if (Recurrence::isKernel(call.getKernel()) && !hostNodes.contains(call) &&
          !float32Nodes.contains(call))
        calls.push_back(call);
    });
    for (HostCallOp call : calls) {
      Recurrence recurrence;
      if (std::string why = recurrence.read(call, maxSteps); !why.empty()) {
        remarkMissed(getArgument(), call.getLoc(), "Kept")
            << remark::add("{0} stays a call of a host kernel: {1}", call.getKernel(), why);
        continue;
      }
      remarkPassed(getArgument(), call.getLoc(), "Expanded")
          << remark::add("{0} steps become graph ops", recurrence.steps * recurrence.directions);
      RecurrentExpander(call, recurrence).run();
      ++numExpanded;
    }
  }
};

} // namespace
} // namespace atc::host
