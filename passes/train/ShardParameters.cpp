//===-- ShardParameters.cpp - each rank holds a share of the parameters ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Functions.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINSHARDPARAMETERS
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

class ShardParameters : public train::impl::TrainShardParametersBase<ShardParameters> {
public:
  using TrainShardParametersBase::TrainShardParametersBase;
  void runOnOperation() override;

private:
  /// A parameter, and the first op that reads it.
  struct Read {
    BlockArgument parameter;
    Operation *first;
  };
  SmallVector<Read> findParameters();
  void divide(BlockArgument parameter, Operation *before);
};

/// Returns the parameters that are worth a message, in the order in which the step reads them.
SmallVector<ShardParameters::Read> ShardParameters::findParameters() {
  func::FuncOp main = getOperation();
  Block &body = main.front();
  SmallVector<Read> found;
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!main.getArgAttr(argument.getArgNumber(), kParameterAttr) || argument.use_empty() ||
        !type || !type.hasStaticShape() || type.getNumElements() < minElements)
      continue;
    Operation *first = nullptr;
    for (Operation *user : argument.getUsers()) {
      Operation *op = body.findAncestorOpInBlock(*user);
      if (!first || op->isBeforeInBlock(first))
        first = op;
    }
    found.push_back({argument, first});
  }
  llvm::stable_sort(found, [](const Read &a, const Read &b) {
    return a.first != b.first && a.first->isBeforeInBlock(b.first);
  });
  return found;
}

/// Makes the argument a rank's share, and gathers those of all ranks in front of `before`.
void ShardParameters::divide(BlockArgument parameter, Operation *before) {
  func::FuncOp main = getOperation();
  auto whole = cast<RankedTensorType>(parameter.getType());
  const int64_t count = whole.getNumElements(), share = llvm::divideCeil(count, ranks);
  OpBuilder builder(before);
  main.setArgAttr(parameter.getArgNumber(), kShardedAttr,
                  builder.getDenseI64ArrayAttr(whole.getShape()));
  GraphMath g(builder, derivedName(parameter.getLoc(), "gathered"));
  parameter.setType(RankedTensorType::get({share}, whole.getElementType()));
  Value all = g.allGather(parameter, ranks);
  Operation *gather = all.getDefiningOp();
  if (share * ranks > count)
    all = g.slice(all, {0}, {count}, {1});
  parameter.replaceAllUsesExcept(g.reshape(all, whole.getShape()), gather);
  ++numSharded;
}

void ShardParameters::runOnOperation() {
  func::FuncOp main = getOperation();
  if (ranks <= 1 || !llvm::hasSingleElement(main.getBody()))
    return;
  // One parameter ahead: ranks exchange it while they compute with the one before. The backward
  // pass has the reverse order, so that the gradients of both are added up one after the other.
  Operation *before = nullptr;
  for (auto [parameter, first] : findParameters()) {
    divide(parameter, before ? before : first);
    before = first;
  }
  main.setType(
      FunctionType::get(&getContext(), main.front().getArgumentTypes(), main.getResultTypes()));
}

} // namespace
