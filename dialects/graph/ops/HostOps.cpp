//===-- HostOps.cpp - host_call, if, loop --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/RegisterOps.h"
#include "kernels/native/NativeHost.h"

using namespace mlir;
using namespace atc::graph;

#define GET_OP_CLASSES
#include "dialects/graph/ops/HostOps.cpp.inc"

void atc::graph::registerHostOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/HostOps.cpp.inc"
      >(dialect);
}

SmallVector<Value> HostCallOp::inputsByPosition() {
  std::optional<ArrayRef<int32_t>> positions = getPositions();
  if (!positions)
    return SmallVector<Value>(getInputs());
  SmallVector<Value> all;
  for (auto [position, value] : llvm::zip_equal(*positions, getInputs())) {
    all.resize(position + 1);
    all[position] = value;
  }
  return all;
}

LogicalResult HostCallOp::verify() {
  const auto *row = kernels::native::find(std::string_view(getKernel().data(), getKernel().size()));
  if (!row)
    return emitOpError() << "calls kernel '" << getKernel() << "', which there is not";
  if (getNumResults() > row->maxResults())
    return emitOpError() << "has " << getNumResults() << " results, expected at most "
                         << row->maxResults();
  std::optional<ArrayRef<int32_t>> positions = getPositions();
  if (!positions)
    return success();
  if (positions->size() != getInputs().size())
    return emitOpError() << "has " << positions->size() << " positions, expected "
                         << getInputs().size() << ", one for each operand";
  int32_t last = -1;
  for (int32_t position : *positions) {
    if (position <= last || position >= 4096)
      return emitOpError() << "positions must rise and stay below 4096, but are [" << *positions
                           << "]";
    last = position;
  }
  return success();
}

/// Declares an effect of random kernels, whose results differ from call to call: unused calls may
/// be removed, but two calls must not be merged.
void HostCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (isRandomKernel(getKernel()))
    for (OpResult result : getResults())
      effects.emplace_back(MemoryEffects::Allocate::get(), result);
}

/// Checks a condition: a bool tensor that may have one element.
static LogicalResult verifyCondition(Operation *op, Value condition) {
  auto type = cast<TensorType>(condition.getType());
  bool one = !type.hasRank() || !type.hasStaticShape() || type.getNumElements() == 1;
  if (type.getElementType().isInteger(1) && one)
    return success();
  return op->emitOpError() << "has a condition of type " << type
                           << ", expected a bool tensor of one element";
}

static LogicalResult verifyLeave(Operation *op, Region &region, StringRef what, size_t expected) {
  auto leave = dyn_cast<LeaveOp>(region.front().getTerminator());
  if (!leave)
    return op->emitOpError() << what << " must end with graph.leave";
  if (leave.getValues().size() == expected)
    return success();
  return op->emitOpError() << what << " leaves with " << leave.getValues().size()
                           << " values, expected " << expected;
}

LogicalResult IfOp::verify() {
  if (failed(verifyCondition(*this, getCondition())))
    return failure();
  if (failed(verifyLeave(*this, getThenRegion(), "the first branch", getNumResults())))
    return failure();
  return verifyLeave(*this, getElseRegion(), "the second branch", getNumResults());
}

LogicalResult LoopOp::verify() {
  if (failed(verifyCondition(*this, getCondition())))
    return failure();
  size_t carried = getCarried().size();
  if (getNumResults() != carried)
    return emitOpError() << "has " << getNumResults() << " results, expected " << carried
                         << ", one for each carried value";
  if (getBody().front().getNumArguments() != carried)
    return emitOpError() << "body has " << getBody().front().getNumArguments()
                         << " arguments, expected " << carried << ", one for each carried value";
  if (failed(verifyLeave(*this, getBody(), "the body", carried + 1)))
    return failure();
  return verifyCondition(*this, cast<LeaveOp>(getBody().front().getTerminator()).getValues()[0]);
}
