//===-- ImportControl.cpp - conditions ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/TensorLists.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {

void addGuards(Guards &to, ArrayRef<Guard> more) {
  for (const Guard &guard : more)
    if (!llvm::is_contained(to, guard))
      to.push_back(guard);
}

namespace {

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Output 0 exists where the predicate is false, output 1 where it is true.
void importSwitch(NodeContext &n) {
  Value data = n.input(0), predicate = n.input(1);
  if (n.failed())
    return;
  if (NodeContext::hasRank(predicate))
    n.requireRank(1, 0, 0);
  if (n.failed())
    return;
  if (!n.elementType(predicate).isInteger(1))
    return n.failInput(1, "must be a bool");
  Guards guards = n.importer().guardsOf(n.tensor(0));
  addGuards(guards, n.importer().guardsOf(n.tensor(1)));
  for (bool side : {false, true}) {
    Guards own(guards);
    addGuards(own, Guard{predicate, side});
    TensorName output{n.proto().name(), side ? 1 : 0};
    n.importer().flow().guards[output.str()] = own;
    if (const TensorList *list = n.importer().findList(n.tensor(0)))
      n.importer().setList(output, TensorList(*list));
    n.setOutput(side, data);
  }
}

/// A value that is `first` where the predicate is the guard's side, else `second`. What only
/// one of them needs moves into its branch when the whole graph has been imported.
Value branch(NodeContext &n, const Guard &guard, Value first, Value second) {
  Type type = graph::joinTypes(first.getType(), second.getType());
  if (!type) {
    n.failNode("joins values of different kinds or element types");
    return {};
  }
  OpBuilder &builder = n.builder();
  Location location = n.importer().tensorLocation(n.proto().name(), n.proto().name());
  auto op = graph::IfOp::create(builder, location, type, guard.predicate);
  if (!guard.side)
    std::swap(first, second);
  for (auto [region, value] :
       {std::pair(&op.getThenRegion(), first), std::pair(&op.getElseRegion(), second)}) {
    OpBuilder::InsertionGuard inside(builder);
    builder.createBlock(region);
    graph::LeaveOp::create(builder, location, value);
  }
  return op.getResult(0);
}

/// Whether a value comes from host calls or loops, within a few ops: what is to be computed
/// only where it is needed.
bool isHostWork(Value value) {
  SmallVector<Value> pending{value};
  for (unsigned looked = 0; !pending.empty() && looked < 64; ++looked) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (op->hasTrait<graph::RunsOnHost>())
      return true;
    llvm::append_range(pending, op->getOperands());
  }
  return false;
}

Value chooseValue(NodeContext &n, const Guard &guard, Value first, Value second) {
  if (first.getType() == second.getType() && NodeContext::isStatic(first) &&
      NodeContext::isStatic(guard.predicate) && !isHostWork(first) && !isHostWork(second))
    return guard.side ? n.create<graph::WhereOp>(guard.predicate, first, second)
                      : n.create<graph::WhereOp>(guard.predicate, second, first);
  return branch(n, guard, first, second);
}

/// Chooses of two lists: as tensors of all items, or as sequences.
bool chooseList(NodeContext &n, const Guard &guard) {
  const TensorList *lists[] = {n.importer().findList(n.tensor(0)),
                               n.importer().findList(n.tensor(1))};
  if (!lists[0] || !lists[1])
    return false;
  TensorList first = *lists[0], second = *lists[1];
  joinElements(n, first);
  joinElements(n, second);
  if (n.failed())
    return true;
  TensorList list = first.isEmpty() ? second : first;
  list.grows = first.grows || second.grows;
  if (first.count != second.count || first.size != second.size) {
    list.count = -1;
    list.size = {};
  }
  if (!first.isEmpty() || !second.isEmpty()) {
    bool stacks = first.stacked && second.stacked;
    Value a = stacks ? first.stacked
                     : sequenceOf(n, first, second.sequence ? second.sequence.getType() : Type());
    Value b = stacks ? second.stacked : sequenceOf(n, second, a ? a.getType() : Type());
    if (n.failed())
      return true;
    if (Value chosen = chooseValue(n, guard, a, b))
      setForm(list, chosen);
  }
  n.importer().setList(TensorName{n.proto().name()}, list);
  n.setOutput(0, n.scalar(0, n.builder().getF32Type()));
  return true;
}

/// The value whose side of the Switch is taken, and its number.
void importMerge(NodeContext &n) {
  if (n.numInputs() != 2)
    return n.failNode("joins " + Twine(n.numInputs()) + " values, expected 2");
  Value first = n.input(0), second = n.input(1);
  if (n.failed())
    return;
  Guards all = n.importer().guardsOf(n.tensor(0));
  Guards other = n.importer().guardsOf(n.tensor(1));
  auto parted = llvm::find_if(all, [&](const Guard &guard) {
    return llvm::is_contained(other, Guard{guard.predicate, !guard.side});
  });
  if (parted == all.end())
    return n.failNode("joins values that are not the two sides of one condition");
  Guard guard = *parted;
  addGuards(all, other);
  llvm::erase_if(all, [&](const Guard &one) { return one.predicate == guard.predicate; });
  n.importer().flow().guards[n.proto().name()] = all;

  Type index = n.builder().getI32Type();
  ElementsAttr known;
  if (matchPattern(guard.predicate, m_Constant(&known))) {
    bool isFirst = (readInts(known).front() != 0) == guard.side;
    if (const TensorList *list = n.importer().findList(n.tensor(isFirst ? 0 : 1)))
      n.importer().setList(TensorName{n.proto().name()}, TensorList(*list));
    n.setOutput(0, isFirst ? first : second);
    return n.setOutput(1, n.scalar(isFirst ? 0 : 1, index));
  }
  if (chooseList(n, guard))
    return;
  n.setOutput(0, chooseValue(n, guard, first, second));
  n.setOutput(1, chooseValue(n, guard, n.scalar(0, index), n.scalar(1, index)));
}

/// A value of a loop, or one that enters a loop, is the value that it reads.
void importEnter(NodeContext &n) { n.setOutput(n.input(0)); }

} // namespace

ArrayRef<OpRow> controlRows() {
  static constexpr llvm::StringLiteral ofLoops = "of a loop with Merge, Switch and LoopCond";
  static const OpRow rows[] = {
      {"Enter", importEnter, ofLoops},         {"Exit", importEnter, ofLoops},
      {"LoopCond", importEnter, ofLoops},      {"Merge", importMerge, "of a condition or a loop"},
      {"NextIteration", importEnter, ofLoops}, {"Switch", importSwitch, "of a condition or a loop"},
  };
  return rows;
}

} // namespace atc::tf_import
