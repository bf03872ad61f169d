//===-- LoopFrames.cpp - the loops of a graph with v1 control flow --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/LoopFrames.h"

using namespace llvm;

namespace atc::tf_import {

static std::string describe(const pb::NodeDef &node) {
  return "node '" + node.name() + "' (" + node.op() + ")";
}

static bool isEnter(const pb::NodeDef &node) {
  return node.op() == "Enter" || node.op() == "RefEnter";
}
static bool isNext(const pb::NodeDef &node) {
  return node.op() == "NextIteration" || node.op() == "RefNextIteration";
}
static bool isMerge(const pb::NodeDef &node) {
  return node.op() == "Merge" || node.op() == "RefMerge";
}
static bool isSwitch(const pb::NodeDef &node) {
  return node.op() == "Switch" || node.op() == "RefSwitch";
}
static bool isExit(const pb::NodeDef &node) {
  return node.op() == "Exit" || node.op() == "RefExit";
}

std::vector<std::string> dataInputs(const pb::NodeDef &node) {
  std::vector<std::string> inputs;
  for (const std::string &input : node.input())
    if (!StringRef(input).starts_with("^"))
      inputs.push_back(input);
  return inputs;
}

bool standsForCondition(const pb::NodeDef &node) {
  return llvm::is_contained({"Const", "NoOp", "Identity", "Switch"}, node.op());
}

const pb::NodeDef *LoopFrames::nodeOf(StringRef tensor) const {
  return nodes->lookup(TensorName::parse(tensor).node);
}

bool LoopFrames::closesLoop(const pb::NodeDef &node, const TensorName &input) const {
  if (!isMerge(node) || input.isControl)
    return false;
  const pb::NodeDef *from = nodes->lookup(input.node);
  return from && isNext(*from);
}

LoopFrame *LoopFrames::frameNamed(const pb::NodeDef &enter) {
  auto found = enter.attr().find("frame_name");
  StringRef name = found == enter.attr().end() ? StringRef() : StringRef(found->second.s());
  LoopFrame *&frame = byName[name];
  if (!frame) {
    frames.push_back(std::make_unique<LoopFrame>());
    frame = frames.back().get();
    frame->name = name.str();
  }
  return frame;
}

bool LoopFrames::addVariable(const pb::NodeDef &merge, Diagnostics &diags) {
  const pb::NodeDef *enter = nullptr, *next = nullptr;
  std::vector<std::string> inputs = dataInputs(merge);
  LoopFrame::Variable variable;
  for (const std::string &input : inputs) {
    const pb::NodeDef *from = nodeOf(input);
    if (from && isNext(*from))
      next = from;
    else if (from && isEnter(*from))
      enter = from;
  }
  if (!next)
    return true;
  if (!enter || inputs.size() != 2 || dataInputs(*next).size() != 1) {
    diags.error("E13010", describe(merge) + ": joins a value of an iteration (NextIteration) with "
                                            "other values than one that enters the loop: such a "
                                            "loop is not supported");
    return false;
  }
  variable.merge = &merge;
  variable.initial = enter->name();
  variable.next = dataInputs(*next).front();
  LoopFrame *frame = frameNamed(*enter);
  variableOfNode[&merge] = {frame, frame->variables.size()};
  frame->variables.push_back(variable);
  frame->nextIterations.push_back(next);
  parts.insert(&merge);
  parts.insert(next);
  return true;
}

/// Whether the next value of a variable is the one that the body got.
bool LoopFrames::passesOn(const LoopFrame::Variable &variable) const {
  std::string tensor = variable.next;
  for (size_t steps = 0; steps <= nodes->size(); ++steps) {
    TensorName name = TensorName::parse(tensor);
    const pb::NodeDef *node = nodes->lookup(name.node);
    if (!node)
      return false;
    if (node == variable.switchNode)
      return name.index == 1;
    if (node->op() != "Identity" || node->input_size() == 0)
      return false;
    tensor = node->input(0);
  }
  return false;
}

bool LoopFrames::checkForm(Diagnostics &diags) {
  bool good = true;
  for (auto &frame : frames) {
    for (LoopFrame::Variable &variable : frame->variables)
      variable.isInvariant = passesOn(variable);
    if (frame->exits.empty() || (frame->condition && dataInputs(*frame->condition).size() == 1))
      continue;
    diags.error("E13010", "loop '" + frame->name +
                              "' has no condition (LoopCond) that decides for its values whether "
                              "they stay: such a loop is not supported");
    good = false;
  }
  return good;
}

bool LoopFrames::find(ArrayRef<pb::NodeDef *> needed, const Nodes &allNodes,
                      std::function<bool(const pb::NodeDef &)> isModelInput, Diagnostics &diags) {
  nodes = &allNodes;
  isInput = std::move(isModelInput);
  for (const pb::NodeDef *node : needed) {
    if (isInput(*node))
      continue;
    if (isEnter(*node))
      frameNamed(*node)->enters.push_back(node);
    if (isMerge(*node) && !addVariable(*node, diags))
      return false;
  }
  for (const pb::NodeDef *node : needed) {
    if (isInput(*node) || !isSwitch(*node) || dataInputs(*node).size() != 2)
      continue;
    auto [data, predicate] = std::pair(nodeOf(dataInputs(*node)[0]), nodeOf(dataInputs(*node)[1]));
    auto found = variableOfNode.find(data);
    if (found == variableOfNode.end() || !predicate || predicate->op() != "LoopCond")
      continue;
    auto [frame, index] = found->second;
    if (frame->condition && frame->condition != predicate) {
      diags.error("E13010", "loop '" + frame->name +
                                "' has two conditions: such a loop is not "
                                "supported");
      return false;
    }
    frame->condition = predicate;
    frame->variables[index].switchNode = node;
    variableOfNode[node] = {frame, index};
    parts.insert(node);
    parts.insert(predicate);
  }
  for (pb::NodeDef *node : needed) {
    if (isInput(*node) || !isExit(*node))
      continue;
    std::vector<std::string> inputs = dataInputs(*node);
    const pb::NodeDef *from = inputs.empty() ? nullptr : nodeOf(inputs.front());
    auto found = variableOfNode.find(from);
    if (!from || !isSwitch(*from) || found == variableOfNode.end() ||
        TensorName::parse(inputs.front()).index != 0) {
      diags.error("E13010", describe(*node) + ": leaves a loop with a value that the loop does not "
                                              "carry: such a loop is not supported");
      return false;
    }
    auto [frame, index] = found->second;
    frame->exits.push_back(node);
    frame->exitVariables.push_back(index);
    exits[node] = frame;
  }
  return checkForm(diags);
}

/// The loop in which the outputs of a node are values.
LoopFrame *LoopFrames::frameOfValue(const pb::NodeDef &node) const {
  if (isEnter(node) && !isInput(node)) {
    auto name = node.attr().find("frame_name");
    return byName.lookup(name == node.attr().end() ? StringRef() : StringRef(name->second.s()));
  }
  return frameOf.lookup(&node);
}

/// The loop of the condition that a constant is under, by edges that order the execution; null
/// where there is none.
LoopFrame *LoopFrames::frameOfCondition(const pb::NodeDef &node) const {
  DenseSet<const pb::NodeDef *> reached;
  std::vector<const pb::NodeDef *> pending{&node};
  while (!pending.empty()) {
    const pb::NodeDef *next = pending.back();
    pending.pop_back();
    // The Switch of a value that the loop carries decides nothing inside it.
    if (!next || parts.contains(next) || !standsForCondition(*next) || !reached.insert(next).second)
      continue;
    if (LoopFrame *frame = frameOf.lookup(next); frame && isSwitch(*next))
      return frame;
    for (const std::string &input : next->input())
      pending.push_back(nodeOf(StringRef(input).ltrim('^')));
  }
  return nullptr;
}

static bool isInside(const LoopFrame *inner, const LoopFrame *outer) {
  // Frames that name each other as parents come to an end, too.
  for (unsigned depth = 0; inner && depth < 64; ++depth, inner = inner->parent)
    if (inner == outer)
      return true;
  return outer == nullptr;
}

bool LoopFrames::distribute(ArrayRef<pb::NodeDef *> sorted, std::vector<pb::NodeDef *> &outside,
                            Diagnostics &diags) {
  if (frames.empty()) {
    outside.assign(sorted.begin(), sorted.end());
    return true;
  }
  DenseMap<const LoopFrame *, std::vector<pb::NodeDef *>> inside;
  // The frame around a loop is only known after all of its Enter nodes were visited.
  for (bool last : {false, true})
    for (pb::NodeDef *node : sorted) {
      LoopFrame *frame = nullptr;
      bool fits = true;
      for (const std::string &input : dataInputs(*node)) {
        const pb::NodeDef *from = nodeOf(input);
        if (isInput(*node) || !from || closesLoop(*node, TensorName::parse(input)))
          continue;
        LoopFrame *other = frameOfValue(*from);
        if (!other)
          other = frameOfCondition(*from);
        fits &= isInside(frame, other) || isInside(other, frame);
        if (isInside(other, frame))
          frame = other;
      }
      if (auto found = exits.find(node); found != exits.end())
        frame = found->second->parent;
      if (isEnter(*node) && !isInput(*node))
        if (LoopFrame *named = frameNamed(*node); isInside(frame, named->parent))
          named->parent = frame;
      frameOf[node] = frame;
      if (!last)
        continue;
      if (isEnter(*node) && !isInput(*node) && isInside(frame, frameNamed(*node))) {
        diags.error("E13010", describe(*node) + ": enters the loop that it stands in");
        return false;
      }
      if (!fits) {
        diags.error("E13010", describe(*node) + ": reads values of two loops of which neither "
                                                "stands inside the other");
        return false;
      }
      if (frame)
        inside[frame].push_back(node);
      else
        outside.push_back(node);
    }
  for (auto &frame : frames) {
    if (!frame->condition)
      continue;
    ArrayRef<pb::NodeDef *> own = inside[frame.get()];
    std::vector<std::string> roots;
    for (const LoopFrame::Variable &variable : frame->variables)
      if (!variable.isInvariant)
        roots.push_back(variable.next);
    frame->bodyNodes = select(*frame, own, roots);
    frame->conditionNodes = select(*frame, own, dataInputs(*frame->condition));
  }
  return true;
}

/// The nodes of `inside` that `roots` need.
std::vector<pb::NodeDef *> LoopFrames::select(const LoopFrame &frame,
                                              ArrayRef<pb::NodeDef *> inside,
                                              std::vector<std::string> roots) const {
  DenseSet<const pb::NodeDef *> wanted, followed;
  auto follow = [&](const pb::NodeDef &node) {
    for (const std::string &input : node.input())
      roots.push_back(StringRef(input).ltrim('^').str());
  };
  auto want = [&](const pb::NodeDef *node) {
    const bool isOwn = node && frameOf.lookup(node) == &frame;
    if (isOwn && !parts.contains(node) && wanted.insert(node).second)
      follow(*node);
    // A constant stands outside, the condition that it is under perhaps not: nothing else may read
    // that condition, as where a loop continues or breaks.
    if (node && !isOwn && standsForCondition(*node) && followed.insert(node).second)
      follow(*node);
    // The node enters a loop inside this one.
    if (node)
      if (const LoopFrame *inner = exits.lookup(node))
        for (const pb::NodeDef *enter : inner->enters)
          roots.push_back(enter->name());
  };
  while (!roots.empty()) {
    std::string root = std::move(roots.back());
    roots.pop_back();
    const pb::NodeDef *node = nodeOf(root);
    if (node && !wanted.contains(node))
      want(node);
  }
  std::vector<pb::NodeDef *> result;
  for (pb::NodeDef *node : inside)
    if (wanted.contains(node))
      result.push_back(node);
  return result;
}

} // namespace atc::tf_import
