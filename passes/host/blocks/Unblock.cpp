//===-- Unblock.cpp - what reads blocks of channels in another order ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/blocks/Unblock.h"

#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/blocks/BlockedFilters.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace atc::host {

using graph::HostCallOp;

Value unblock(OpBuilder &builder, const Blocked &source, Location loc, Type type, Value shape,
              bool isLast) {
  NamedAttrList parameters;
  parameters.append("channels", builder.getDenseI64ArrayAttr(source.channels));
  if (isLast)
    parameters.append("last", builder.getDenseI64ArrayAttr(int64_t(1)));
  return makeCall(builder, loc, "UnblockChannels", {source.value, shape}, type,
                  parameters.getDictionary(builder.getContext()))
      .getResult(0);
}

namespace {

/// Returns the constant sizes of the results of a Split.
std::optional<SmallVector<int64_t>> sizesOf(HostCallOp split) {
  auto sizes = dyn_cast_or_null<DenseIntElementsAttr>(graph::getConstant(split.getInputs()[1]));
  if (!sizes || sizes.getNumElements() != int64_t(split->getNumResults()))
    return {};
  return llvm::map_to_vector(sizes.getValues<APInt>(),
                             [](const APInt &size) { return size.getSExtValue(); });
}

/// Returns the Concat along the last of `rank` dims that alone reads `part`,
/// once, if its other inputs can be stored beside it.
HostCallOp joinOf(Value part, int64_t rank) {
  if (!part.hasOneUse())
    return {};
  auto concat = dyn_cast<HostCallOp>(*part.user_begin());
  if (!concat || concat.getKernel() != "Concat" || concat->getBlock() != part.getParentBlock() ||
      axisOf(concat, 0, rank) != rank - 1 || concat.getInputs().size() > maxImages + 1 ||
      !llvm::all_of(concat.getInputs(), isF32))
    return {};
  return concat;
}

/// Replaces the results of a Split of `rows`, the widest one first: only one
/// part of a Concat can be computed with it.
void storeParts(OpBuilder &builder, HostCallOp rows, int64_t rank, HostCallOp split) {
  const SmallVector<int64_t> sizes = *sizesOf(split);
  SmallVector<int64_t> starts;
  int64_t whole = 0;
  for (int64_t size : sizes) {
    starts.push_back(whole);
    whole += size;
  }
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(sizes.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return sizes[a] > sizes[b]; });
  for (unsigned i : order) {
    Value part = split.getResult(i);
    if (part.use_empty())
      continue;
    NamedAttrList parameters(rows.getParameters());
    parameters.set("columns",
                   builder.getDenseI64ArrayAttr({starts[i], starts[i] + sizes[i], whole}));
    SmallVector<Value> inputs = inputsOf(rows, 2);
    HostCallOp stored = split;
    Value result = part;
    if (HostCallOp concat = joinOf(part, rank); concat && sizes[i] >= blockSize) {
      const unsigned before = part.use_begin()->getOperandNumber();
      parameters.set("before", builder.getDenseI64ArrayAttr(int64_t(before)));
      for (auto [position, input] : llvm::enumerate(concat.getInputs()))
        if (position != before)
          inputs.push_back(input);
      stored = concat;
      result = concat.getResult(0);
    }
    builder.setInsertionPoint(stored);
    result.replaceAllUsesWith(makeCall(builder, stored.getLoc(), "UnblockChannels", inputs,
                                       result.getType(),
                                       parameters.getDictionary(builder.getContext()))
                                  .getResult(0));
    if (stored != split)
      stored.erase();
  }
  split.erase();
}

/// Computes what Splits along the channels, the last of `rank` dims, take from
/// rows of channels, if nothing else reads these, from the blocks. A Concat
/// along the channels that reads a part is computed with it: boxes of detectors
/// are split, some of their channels are mapped, and all are joined again.
void splitRows(OpBuilder &builder, HostCallOp rows, int64_t rank) {
  auto isSplit = [&](Operation *user) {
    auto split = dyn_cast<HostCallOp>(user);
    return split && split.getKernel() == "Split" && split->getBlock() == rows->getBlock() &&
           split.getInputs()[0] == rows.getResult(0) && hasInputs(split, 2) &&
           axisOf(split, 0, rank) == rank - 1 && sizesOf(split);
  };
  if (!llvm::all_of(rows.getResult(0).getUsers(), isSplit))
    return;
  const llvm::SmallSetVector<Operation *, 4> splits(rows.getResult(0).user_begin(),
                                                    rows.getResult(0).user_end());
  for (Operation *split : splits)
    storeParts(builder, rows, rank, cast<HostCallOp>(split));
  rows.erase();
}

} // namespace

bool unblockLast(OpBuilder &builder, const Blocked &source, Operation *user) {
  auto transpose = dyn_cast<HostCallOp>(user);
  Value shape;
  if (transpose && transpose.getKernel() == "Reshape" && transpose.getResult(0).hasOneUse() &&
      hasInputs(transpose, 2) && !integerOf(transpose, "allowzero", 0)) {
    shape = transpose.getInputs()[1];
    transpose = dyn_cast<HostCallOp>(*transpose.getResult(0).user_begin());
  }
  if (!transpose || transpose.getKernel() != "Transpose" ||
      transpose->getBlock() != Value(source.value).getParentBlock())
    return false;
  ArrayRef<int64_t> order = integersOf(transpose, "perm");
  const int64_t moved = shape ? 2 : 1;
  SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(order.size()));
  if (order.size() < 4 || (!shape && order.size() != 4))
    return false;
  std::rotate(last.begin() + moved, last.begin() + moved + 1, last.end());
  if (order != ArrayRef(last))
    return false;
  builder.setInsertionPoint(transpose);
  Value result = transpose.getResult(0);
  Value rows =
      unblock(builder, source, transpose.getLoc(), result.getType(), shape, /*isLast=*/true);
  result.replaceAllUsesWith(rows);
  splitRows(builder, rows.getDefiningOp<HostCallOp>(), int64_t(order.size()));
  const bool isReshaped = transpose != user;
  transpose.erase();
  if (isReshaped)
    user->erase();
  return true;
}

} // namespace atc::host
