//===-- LoopImporter.cpp - loops of v1 control flow as graph.loop ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/LoopImporter.h"

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/ops/TensorLists.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// A value that the loop carries: a tensor, or a list.
struct Carried {
  const LoopFrame::Variable *variable = nullptr;
  bool isList = false;
  TensorList list; ///< before the loop
  Value initial;   ///< null for a list in which nothing was written
  Type type;       ///< null as `initial`
};

class LoopImporter {
public:
  LoopImporter(GraphImporter &importer, LoopFrame &frame)
      : importer(importer), frame(frame), builder(importer.builder()),
        n(importer, *frame.exits.front()),
        location(
            importer.tensorLocation(frame.exits.front()->name(), frame.exits.front()->name())) {}

  void run() {
    for (const pb::NodeDef *exit : frame.exits)
      importer.define(TensorName{exit->name()}, {});
    if (!readInitial() || !importer.enterLoop(frame))
      return;
    Value condition = importCondition(initialValues());
    if (condition && !n.failed())
      makeLoop(condition);
    importer.leaveLoop();
  }

private:
  static std::string text(Type type) {
    std::string printed;
    llvm::raw_string_ostream(printed) << type;
    return printed;
  }
  std::string name(const Carried &carried) const {
    return "'" + carried.variable->merge->name() + "'";
  }
  static Value valueOf(const TensorList &list) {
    return list.stacked ? list.stacked : list.sequence;
  }

  bool readInitial() {
    for (const LoopFrame::Variable &variable : frame.variables) {
      Carried one;
      one.variable = &variable;
      TensorName tensor = TensorName::parse(variable.initial);
      if (const TensorList *list = importer.findList(tensor)) {
        one.isList = true;
        one.list = *list;
        joinElements(n, one.list);
        one.initial = valueOf(one.list);
      } else if (!(one.initial = importer.lookup(tensor))) {
        return false;
      }
      if (one.initial)
        one.type = one.initial.getType();
      carried.push_back(std::move(one));
    }
    return !n.failed();
  }

  SmallVector<Value> initialValues() const {
    return llvm::map_to_vector(carried, [](const Carried &one) { return one.initial; });
  }

  /// Makes `value` what the nodes of the loop read of a carried value.
  void bind(const Carried &one, Value value) {
    SmallVector<TensorName> tensors{TensorName{one.variable->merge->name()}};
    if (one.variable->switchNode)
      for (int64_t side : {0, 1})
        tensors.push_back(TensorName{one.variable->switchNode->name(), side});
    TensorList list = one.list;
    if (one.isList && value)
      setForm(list, value);
    if (one.isList)
      value = n.scalar(0, builder.getF32Type());
    for (const TensorName &tensor : tensors) {
      importer.define(tensor, value);
      if (one.isList)
        importer.setList(tensor, list);
    }
  }

  void bindAll(ArrayRef<Value> values) {
    for (auto [one, value] : llvm::zip_equal(carried, values))
      bind(one, one.variable->isInvariant ? one.initial : value);
  }

  /// The condition for carried values; null after an error.
  Value importCondition(ArrayRef<Value> values) {
    importer.pushScope();
    bindAll(values);
    importer.importNodes(frame.conditionNodes);
    Value condition = importer.lookup(TensorName::parse(conditionInput));
    importer.popScope();
    if (!condition)
      return {};
    auto type = dyn_cast<TensorType>(condition.getType());
    if (!type || !type.getElementType().isInteger(1) ||
        (type.hasStaticShape() && type.getNumElements() != 1)) {
      n.failNode("the condition of its loop is not one bool");
      return {};
    }
    return condition;
  }

  /// Returns whether the body's next value of a carried value could be built; `next` is null for a
  /// list without elements.
  bool nextValue(Carried &one, Value &next) {
    TensorName tensor = TensorName::parse(one.variable->next);
    if (!one.isList)
      return (next = importer.lookup(tensor)) != Value();
    const TensorList *found = importer.findList(tensor);
    if (!found) {
      n.failNode("its loop carries " + name(one) + ", which is a list at first and then none");
      return false;
    }
    TensorList list = *found;
    joinElements(n, list);
    next = valueOf(list);
    if (!one.list.item && list.item)
      one.list.item = list.item;
    learnSize(one.list, list);
    return !n.failed();
  }

  /// Forgets what is known of the number of items before the loop and does not hold for `next`,
  /// which the body makes of the list.
  void learnSize(TensorList &list, const TensorList &next) {
    const bool grows = next.grows && !list.grows;
    const bool isLost =
        next.sequence && next.count < 0 && !next.size && (list.count >= 0 || list.size);
    list.grows |= grows;
    if (isLost) {
      list.count = -1;
      list.size = {};
    }
    sizesChange |= grows || isLost;
  }

  /// Makes the first value of a list one of `type`, which the body makes of it.
  bool adaptList(Carried &one, Type type) {
    if (isa<graph::SequenceType>(type)) {
      one.initial = sequenceOf(n, one.list, type);
    } else if (NodeContext::isStaticType(type) && one.list.isEmpty()) {
      auto tensor = cast<RankedTensorType>(type);
      one.initial = n.fill(tensor.getShape(), n.scalar(0, tensor.getElementType()));
    } else {
      n.failNode("its loop makes " + name(one) + " a list of another form");
    }
    if (n.failed())
      return false;
    setForm(one.list, one.initial);
    one.type = isa<graph::SequenceType>(type) ? type : one.initial.getType();
    return true;
  }

  /// Imports the body for values of the present types. Returns false after an error;
  /// `stable` says whether the next values have the types, too, which else are changed.
  bool importBody(Block &block, SmallVectorImpl<Value> &leaves, bool &stable) {
    SmallVector<Value> arguments, next;
    sizesChange = false;
    for (const Carried &one : carried)
      arguments.push_back(one.type && !one.variable->isInvariant
                              ? Value(block.addArgument(one.type, location))
                              : Value());
    importer.pushScope();
    bindAll(arguments);
    importer.importNodes(frame.bodyNodes);
    bool good = !n.failed();
    for (Carried &one : carried) {
      next.emplace_back();
      good = good && (one.variable->isInvariant || nextValue(one, next.back()));
    }
    Value condition = good ? importCondition(next) : Value();
    importer.popScope();
    if (!condition)
      return false;
    leaves.push_back(condition);
    pendingTypes.assign(carried.size(), Type());
    stable = !sizesChange;
    for (auto [one, value, type] : llvm::zip_equal(carried, next, pendingTypes)) {
      if (one.variable->isInvariant || (!one.type && !value))
        continue;
      leaves.push_back(value);
      type = value.getType();
      stable &= type == one.type || (one.type && graph::joinTypes(one.type, type) == one.type);
    }
    return true;
  }

  /// Changes the types to what also holds for the values behind the body.
  bool widenTypes() {
    for (auto [one, type] : llvm::zip_equal(carried, pendingTypes)) {
      if (!type || type == one.type)
        continue;
      Type joined = one.type ? graph::joinTypes(one.type, type) : Type();
      if (joined)
        one.type = joined;
      else if (one.isList ? !adaptList(one, type) : true) {
        if (!n.failed())
          n.failNode("its loop carries " + name(one) + ", which is " + text(one.type) +
                     " before the body and " + text(type) +
                     " behind it, expected the same kind and element type");
        return false;
      }
    }
    return true;
  }

  void makeLoop(Value condition) {
    for (unsigned trial = 0; trial < 6; ++trial) {
      auto block = std::make_unique<Block>();
      SmallVector<Value> leaves;
      bool stable = false, good = false;
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(block.get());
        good = importer.spend(frame) && importBody(*block, leaves, stable);
        if (good && stable)
          graph::LeaveOp::create(builder, location, leaves);
      }
      if (good && stable)
        return finish(condition, std::move(block));
      block->dropAllReferences();
      if (!good || !widenTypes())
        return;
    }
    n.failNode("the types of the values that its loop carries change without end");
  }

  void finish(Value condition, std::unique_ptr<Block> block) {
    SmallVector<Value> initial;
    SmallVector<Type> types;
    for (const Carried &one : carried)
      if (one.type && !one.variable->isInvariant) {
        initial.push_back(one.initial);
        types.push_back(one.type);
      }
    auto op = graph::LoopOp::create(builder, location, types, condition, initial);
    op.getBody().push_back(block.release());
    auto results = op.getResults().begin();
    SmallVector<Value> last;
    for (const Carried &one : carried)
      last.push_back(one.type && !one.variable->isInvariant ? Value(*results++) : one.initial);
    Guards guards;
    for (const pb::NodeDef *enter : frame.enters)
      addGuards(guards, importer.guardsOf(TensorName{enter->name()}));
    for (auto [exit, index] : llvm::zip_equal(frame.exits, frame.exitVariables)) {
      TensorName tensor{exit->name()};
      const Carried &one = carried[index];
      importer.define(tensor, one.isList ? n.scalar(0, builder.getF32Type()) : last[index]);
      if (!guards.empty())
        importer.flow().guards[exit->name()] = guards;
      if (!one.isList)
        continue;
      TensorList list = one.list;
      if (last[index])
        setForm(list, last[index]);
      importer.setList(tensor, list);
    }
  }

  GraphImporter &importer;
  LoopFrame &frame;
  OpBuilder &builder;
  NodeContext n;
  Location location;
  std::string conditionInput = dataInputs(*frame.condition).front();
  SmallVector<Carried> carried;
  bool sizesChange = false;       ///< whether the body changed what holds for the sizes of lists
  SmallVector<Type> pendingTypes; ///< of the values behind the body; null where there are none
};

} // namespace

void importLoop(GraphImporter &importer, LoopFrame &frame) { LoopImporter(importer, frame).run(); }

} // namespace atc::tf_import
