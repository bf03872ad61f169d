//===-- AssignLayout.cpp - assigns the layout of every tensor -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocked tensors are the result of a minimum cut: operators that need blocks are tied to one
// side, those that need plain tensors to the other, operators that accept either are free, and
// cutting a tensor costs the bytes of its relayout.
//
// Where the cube computes convolutions of int8, blocks are those of bytes, and convolutions of
// floats are tied to the plain side: their operands and results are relayouts of plain tensors in
// blocks of their own.

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/MinCut.h"
#include "passes/kernel/Passes.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::kernel {
#define GEN_PASS_DEF_KERNELASSIGNLAYOUT
#include "passes/kernel/Passes.h.inc"

namespace {

/// Images with at most this many channels are read by convolutions in a block of just those
/// channels.
constexpr int64_t kImageChannels = 4;

struct AssignLayoutPass : impl::KernelAssignLayoutBase<AssignLayoutPass> {
  using KernelAssignLayoutBase::KernelAssignLayoutBase;

  void runOnOperation() override;

private:
  void keepReducedDims();
  void choose();
  void addTensor(MinCut &cut, const DenseMap<Operation *, int> &nodes, Value value);
  void rewrite();
  std::optional<int64_t> wantedBlock(OpOperand &operand) const;
  Value relayout(Value value, int64_t wanted, OpBuilder &builder);
  Value asRank4(Value value, OpBuilder &builder);
  void mergeIntoTransposes();

  int64_t blockSize() const { return bytes ? kCubeByteBlock : int64_t(block); }

  /// Returns whether an op has blocks of another size than all others.
  bool hasOwnBlocks(Operation *op) const { return bytes && isa<graph::ConvOp>(op); }

  bool bytes = false;
  DenseSet<Operation *> blockedOps;
  DenseMap<std::pair<Value, int64_t>, Value> relayouts;
};

/// Rewrites a spatial reduction that drops the dims it reduces to one that keeps them and a
/// reshape, so that it can read blocks.
void AssignLayoutPass::keepReducedDims() {
  for (auto reduce : llvm::make_early_inc_range(getOperation().getOps<graph::ReduceOp>())) {
    RankedTensorType input = tensorType(reduce.getInput());
    auto isSpatial = [](int64_t axis) { return axis >= 2; };
    if (reduce.getKeepdims() || input.getRank() != 4 || !llvm::all_of(reduce.getAxes(), isSpatial))
      continue;
    SmallVector<int64_t> shape(input.getShape());
    for (int64_t axis : reduce.getAxes())
      shape[axis] = 1;
    OpBuilder builder(reduce);
    Type type = RankedTensorType::get(shape, input.getElementType());
    auto kept = graph::ReduceOp::create(builder, reduce.getLoc(), type, reduce.getInput(),
                                        reduce.getKind(), reduce.getAxes(), /*keepdims=*/true);
    auto reshape =
        graph::ReshapeOp::create(builder, reduce.getLoc(), reduce.getType(), kept.getResult());
    reduce.replaceAllUsesWith(reshape.getResult());
    reduce.erase();
  }
}

void AssignLayoutPass::choose() {
  MinCut cut;
  DenseMap<Operation *, int> nodes;
  for (Operation &op : getOperation().getOps()) {
    if (hasOwnBlocks(&op))
      continue;
    LayoutRule rule = layoutRuleOf(&op, blockSize());
    if (rule.choice == LayoutRule::Blocked)
      nodes[&op] = MinCut::kSource;
    if (rule.choice != LayoutRule::Either)
      continue;
    int node = nodes[&op] = cut.addNode();
    // Where both layouts are the same memory, the plain one is simpler.
    if (isSameMemory(tensorType(op.getResult(0)), blockSize()))
      ++rule.blockedCost;
    cut.addEdge(node, MinCut::kSink, rule.blockedCost);
    cut.addEdge(MinCut::kSource, node, rule.plainCost);
  }
  for (Value argument : getOperation().getArguments())
    addTensor(cut, nodes, argument);
  for (Operation &op : getOperation().getOps())
    if (op.getNumResults() == 1)
      addTensor(cut, nodes, op.getResult(0));

  std::vector<bool> sourceSide = cut.solve();
  for (auto [op, node] : nodes)
    if (sourceSide[node])
      blockedOps.insert(op);
}

/// Adds a tensor to the network: it costs one relayout if any number of its users need another
/// layout than the one in which it is computed.
void AssignLayoutPass::addTensor(MinCut &cut, const DenseMap<Operation *, int> &nodes,
                                 Value value) {
  // Constants are brought into any form at compile time.
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 4 || graph::isConstant(value) || isSameMemory(type, blockSize()))
    return;
  auto nodeOf = [&](Operation *op) {
    auto node = nodes.find(op);
    return node == nodes.end() ? MinCut::kSink : node->second;
  };
  SmallVector<int> users;
  for (OpOperand &use : value.getUses()) {
    switch (wishOf(use)) {
    case Wish::Plain:
      users.push_back(MinCut::kSink);
      break;
    case Wish::Blocked:
      users.push_back(hasOwnBlocks(use.getOwner()) ? MinCut::kSink : MinCut::kSource);
      break;
    case Wish::AsResult:
      users.push_back(nodeOf(use.getOwner()));
      break;
    case Wish::Any:
    case Wish::Broadcast:
      break;
    }
  }
  int producer = nodeOf(value.getDefiningOp());
  int64_t cost = storedBytes(type, 0) + storedBytes(type, blockSize());
  int anyPlain = cut.addNode(), anyBlocked = cut.addNode();
  cut.addEdge(producer, anyPlain, cost);
  cut.addEdge(anyBlocked, producer, cost);
  for (int user : users) {
    cut.addEdge(anyPlain, user, MinCut::kInfinite);
    cut.addEdge(user, anyBlocked, MinCut::kInfinite);
  }
}

/// The block an operand must have; nullopt when any storage will do.
std::optional<int64_t> AssignLayoutPass::wantedBlock(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  bool blocked = blockedOps.contains(op);
  switch (wishOf(operand)) {
  case Wish::Any:
    return std::nullopt;
  case Wish::Plain:
    return 0;
  case Wish::Blocked: {
    if (hasOwnBlocks(op))
      return block;
    int64_t channels = tensorType(operand.get()).getDimSize(1);
    if (operand.getOperandNumber() != 0 || channels > kImageChannels ||
        blockOf(operand.get()) != 0 || op->hasAttr(kCubeSumsAttr))
      return blockSize();
    auto conv = dyn_cast<graph::ConvOp>(op);
    bool isImage = conv && conv.getGroups() == 1;
    // Integers are read four neighbours at a time.
    if (auto sums = dyn_cast<graph::IntegerConvOp>(op))
      isImage = sums.getGroups() == 1 && sums.getDilations()[1] == 1 &&
                channels * tensorType(sums.getFilter()).getDimSize(3) >= 4;
    return isImage ? channels : blockSize();
  }
  case Wish::AsResult:
    return blocked ? blockSize() : 0;
  case Wish::Broadcast: {
    if (!blocked)
      return 0;
    // Dims of an operand of lower rank are the last ones.
    RankedTensorType type = tensorType(operand.get());
    bool hasChannels = type.getRank() >= 3 && type.getDimSize(type.getRank() - 3) != 1;
    return hasChannels ? blockSize() : 1;
  }
  }
  return std::nullopt;
}

Value AssignLayoutPass::relayout(Value value, int64_t wanted, OpBuilder &builder) {
  if (blockOf(value) == wanted)
    return value;
  // Between two ops with blocks of their own.
  if (auto plain = value.getDefiningOp<graph::RelayoutOp>();
      plain && blockOf(plain.getInput()) == wanted)
    return plain.getInput();
  Value &result = relayouts[{value, wanted}];
  if (result)
    return result;
  OpBuilder::InsertionGuard guard(builder);
  Operation *producer = value.getDefiningOp();
  if (producer && !graph::isConstant(value))
    builder.setInsertionPointAfter(producer);
  result = graph::RelayoutOp::create(builder, value.getLoc(), withLayout(tensorType(value), wanted),
                                     value);
  ++numRelayouts;
  return result;
}

Value AssignLayoutPass::asRank4(Value value, OpBuilder &builder) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() == 4)
    return value;
  SmallVector<int64_t> shape(4 - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  auto rank4 = RankedTensorType::get(shape, type.getElementType());
  Location loc = value.getLoc();
  return graph::ReshapeOp::create(builder, loc, rank4, value);
}

void AssignLayoutPass::rewrite() {
  SmallVector<graph::RelayoutOp> ownBlocks;
  for (Operation &op : llvm::make_early_inc_range(getOperation().getOps())) {
    OpBuilder builder(&op);
    for (OpOperand &operand : op.getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      std::optional<int64_t> wanted = wantedBlock(operand);
      if (!wanted)
        continue;
      if (*wanted != 0)
        operand.set(asRank4(operand.get(), builder));
      operand.set(relayout(operand.get(), *wanted, builder));
    }
    if (blockedOps.contains(&op))
      op.getResult(0).setType(withLayout(tensorType(op.getResult(0)), blockSize()));
    if (!hasOwnBlocks(&op) || tensorType(op.getResult(0)).getRank() != 4)
      continue;
    Value result = op.getResult(0);
    const RankedTensorType plain = tensorType(result);
    result.setType(withLayout(plain, block));
    builder.setInsertionPointAfter(&op);
    auto rows = graph::RelayoutOp::create(builder, op.getLoc(), plain, result);
    result.replaceAllUsesExcept(rows.getResult(), rows);
    ownBlocks.push_back(rows);
    ++numRelayouts;
  }
  for (graph::RelayoutOp rows : ownBlocks)
    if (rows->use_empty()) {
      rows.erase();
      --numRelayouts;
    }
}

/// Lets a transposition that is only read in blocks write blocks itself, which is as cheap as
/// writing rows.
void AssignLayoutPass::mergeIntoTransposes() {
  for (auto relayout : llvm::make_early_inc_range(getOperation().getOps<graph::RelayoutOp>())) {
    auto transpose = relayout.getInput().getDefiningOp<graph::TransposeOp>();
    if (!transpose || !transpose->hasOneUse() || blockOf(transpose.getInput()) != 0 ||
        isSameMemory(tensorType(relayout.getResult()), blockOf(relayout.getResult())))
      continue;
    transpose.getResult().setType(relayout.getType());
    relayout.replaceAllUsesWith(transpose.getResult());
    relayout.erase();
    --numRelayouts;
  }
}

void AssignLayoutPass::runOnOperation() {
  blockedOps.clear();
  relayouts.clear();
  bytes = llvm::any_of(getOperation().getOps<graph::IntegerConvOp>(),
                       [](Operation *op) { return op->hasAttr(kCubeSumsAttr); });
  keepReducedDims();
  choose();
  rewrite();
  mergeIntoTransposes();
  for (auto relayout : getOperation().getOps<graph::RelayoutOp>())
    if (!graph::isConstant(relayout.getInput()))
      remarkMissed(getArgument(), relayout.getLoc(), "Relayout") << remark::add(
          "the tensor is stored a second time, {0}: some of its readers need it so",
          blockOf(relayout.getResult())
              ? "in blocks of " + std::to_string(blockOf(relayout.getResult())) + " channels"
              : std::string("row-major"));
}

} // namespace
} // namespace atc::kernel
