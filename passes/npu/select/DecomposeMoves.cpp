//===-- DecomposeMoves.cpp - pads and gathers as slices -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/DecomposeMoves.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/PositionRuns.h"
#include "passes/graph/RewriteUtils.h"

using namespace mlir;

namespace atc::npu {

namespace {

using graph::getTensorType;
using graph::PositionRun;
using graph::runsOf;

/// More slices than this cost more than the switch to the CPU and back.
constexpr size_t kMaxRuns = 33;

/// Returns the runs of `value` along `dim`, one behind the other.
Value pick(OpBuilder &builder, Location loc, Value value, int64_t dim, ArrayRef<PositionRun> runs) {
  RankedTensorType type = getTensorType(value);
  SmallVector<Value> parts;
  for (PositionRun run : runs) {
    SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()),
        steps(type.getRank(), 1);
    if (run.start == 0 && run.size == sizes[dim]) {
      parts.push_back(value);
      continue;
    }
    starts[dim] = run.start;
    sizes[dim] = run.size;
    parts.push_back(graph::SliceOp::create(builder, loc, value, starts, sizes, steps));
  }
  return parts.size() == 1 ? parts.front()
                           : graph::ConcatOp::create(builder, loc, parts, dim).getResult();
}

/// Returns `value` along `dim` with elements in front of it and behind it that the positions name.
Value surround(OpBuilder &builder, Location loc, Value value, int64_t dim, ArrayRef<int64_t> front,
               ArrayRef<int64_t> back) {
  SmallVector<Value> parts;
  auto gather = [&](ArrayRef<int64_t> positions) {
    if (positions.empty())
      return;
    auto type = RankedTensorType::get(positions.size(), builder.getI64Type());
    Value indices =
        graph::ConstantOp::create(builder, loc, type, graph::makeConstant(type, positions));
    SmallVector<int64_t> shape(getTensorType(value).getShape());
    shape[dim] = positions.size();
    parts.push_back(graph::GatherOp::create(
        builder, loc, RankedTensorType::get(shape, getTensorType(value).getElementType()), value,
        indices, dim));
  };
  gather(front);
  parts.push_back(value);
  gather(back);
  return graph::ConcatOp::create(builder, loc, parts, dim);
}

/// Returns the position that an index outside of [0, size) repeats; nothing where it is too far
/// outside.
std::optional<int64_t> repeated(graph::PadMode mode, int64_t index, int64_t size) {
  if (index >= 0 && index < size)
    return index;
  int64_t result = index;
  if (mode == graph::PadMode::Edge)
    result = index < 0 ? 0 : size - 1;
  else if (mode == graph::PadMode::Reflect)
    result = index < 0 ? -index : 2 * (size - 1) - index;
  else
    result = index < 0 ? index + size : index - size;
  return result >= 0 && result < size ? std::optional(result) : std::nullopt;
}

} // namespace

std::string decomposePad(graph::PadOp op) {
  assert(op.getMode() != graph::PadMode::Constant && "it repeats no elements");
  RankedTensorType type = getTensorType(op.getInput());
  if (!type.hasStaticShape())
    return "its sizes are not known";
  SmallVector<SmallVector<PositionRun>> runs;
  SmallVector<SmallVector<int64_t>> all; // positions by dim
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    const int64_t size = type.getDimSize(dim), low = op.getLow()[dim], high = op.getHigh()[dim];
    if (low < 0 || high < 0)
      return "it crops";
    SmallVector<int64_t> positions;
    for (int64_t index = -low; index < size + high; ++index) {
      std::optional<int64_t> position = repeated(op.getMode(), index, size);
      if (!position)
        return "its borders are wider than its input";
      positions.push_back(*position);
    }
    runs.push_back(runsOf(positions, kMaxRuns));
    all.push_back(std::move(positions));
  }
  OpBuilder builder(op);
  Location loc = graph::derivedLoc(op.getLoc(), "border");
  Value value = op.getInput();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (runs[dim].size() > kMaxRuns) {
      ArrayRef<int64_t> positions = all[dim];
      value = surround(builder, loc, value, dim, positions.take_front(op.getLow()[dim]),
                       positions.take_back(op.getHigh()[dim]));
    } else if (op.getLow()[dim] || op.getHigh()[dim]) {
      value = pick(builder, loc, value, dim, runs[dim]);
    }
  op.replaceAllUsesWith(value);
  op.erase();
  return "";
}

std::string decomposeGather(graph::GatherOp op) {
  RankedTensorType type = getTensorType(op.getInput());
  ElementsAttr indices = graph::getConstant(op.getIndices());
  if (!indices || !isa<IntegerType>(indices.getElementType()))
    return "its indices are not known";
  if (!type.hasStaticShape() || !op.getType().hasStaticShape() || indices.getNumElements() == 0)
    return "its sizes are not known or 0";
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(indices);
  if (failed(bytes))
    return "its indices cannot be read";
  const int64_t size = type.getDimSize(op.getAxis());
  SmallVector<int64_t> positions;
  auto read = [&](auto all) {
    for (int64_t index : all)
      positions.push_back(index < 0 ? index + size : index);
  };
  if (indices.getElementType().isInteger(64))
    read(bytes->expandedAs<int64_t>());
  else if (indices.getElementType().isInteger(32))
    read(bytes->expandedAs<int32_t>());
  if (positions.empty() ||
      llvm::any_of(positions, [&](int64_t at) { return at < 0 || at >= size; }))
    return "its indices are out of range";
  SmallVector<PositionRun> runs = runsOf(positions, kMaxRuns);
  if (runs.size() > kMaxRuns)
    return "its indices have no order";
  OpBuilder builder(op);
  Location loc = graph::derivedLoc(op.getLoc(), "rows");
  Value value = pick(builder, loc, op.getInput(), op.getAxis(), runs);
  if (value.getType() != op.getType())
    value = graph::ReshapeOp::create(builder, op.getLoc(), op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
  return "";
}

} // namespace atc::npu
