//===-- LoopFrames.h - the loops of a graph with v1 control flow ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop is a frame: values come in by Enter nodes that name it and out by Exit nodes.
// A value that the loop carries is a Merge of an Enter and a NextIteration; a Switch by
// the LoopCond passes it to the body or to the Exit.

#ifndef OPENATC_FRONTENDS_TF_LOOPFRAMES_H
#define OPENATC_FRONTENDS_TF_LOOPFRAMES_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tf/TensorName.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// Returns the inputs of a node that are no control inputs.
std::vector<std::string> dataInputs(const pb::NodeDef &node);

/// Returns whether the node may only pass on under which condition its readers are executed: such
/// nodes stand outside of the loop that the condition is computed in.
bool standsForCondition(const pb::NodeDef &node);

struct LoopFrame {
  /// A value that the loop carries.
  struct Variable {
    const pb::NodeDef *merge = nullptr, *switchNode = nullptr;
    std::string initial;      ///< the Enter that the Merge reads
    std::string next;         ///< the tensor that NextIteration reads
    bool isInvariant = false; ///< the body hands it on as it is
  };
  std::string name;
  LoopFrame *parent = nullptr; ///< null: the graph itself
  std::vector<Variable> variables;
  const pb::NodeDef *condition = nullptr; ///< the LoopCond
  std::vector<const pb::NodeDef *> enters, nextIterations;
  std::vector<pb::NodeDef *> exits;
  /// The nodes that the condition and the next values need, in the order of execution.
  std::vector<pb::NodeDef *> conditionNodes, bodyNodes;
  std::vector<size_t> exitVariables; ///< the variable that each Exit leaves with
};

class LoopFrames {
public:
  using Nodes = llvm::StringMap<pb::NodeDef *>;

  /// Finds the loops among `needed` nodes; `isInput` says which of them are inputs of the
  /// model. False after an error: a loop that is not of the form above cannot be a
  /// structured one.
  bool find(llvm::ArrayRef<pb::NodeDef *> needed, const Nodes &nodes,
            std::function<bool(const pb::NodeDef &)> isInput, Diagnostics &diags);
  /// Distributes nodes, in the order of execution, to the loops; returns those that
  /// belong to none in `outside`. False after an error.
  bool distribute(llvm::ArrayRef<pb::NodeDef *> sorted, std::vector<pb::NodeDef *> &outside,
                  Diagnostics &diags);

  /// The loop that an Exit leaves; null for other nodes.
  LoopFrame *ofExit(const pb::NodeDef &node) const { return exits.lookup(&node); }
  /// Whether the input `index` of a node closes a loop.
  bool closesLoop(const pb::NodeDef &node, const TensorName &input) const;

private:
  const pb::NodeDef *nodeOf(llvm::StringRef tensor) const;
  LoopFrame *frameNamed(const pb::NodeDef &enter);
  bool addVariable(const pb::NodeDef &merge, Diagnostics &diags);
  bool checkForm(Diagnostics &diags);
  bool passesOn(const LoopFrame::Variable &variable) const;
  LoopFrame *frameOfValue(const pb::NodeDef &node) const;
  LoopFrame *frameOfCondition(const pb::NodeDef &node) const;
  std::vector<pb::NodeDef *> select(const LoopFrame &frame, llvm::ArrayRef<pb::NodeDef *> inside,
                                    std::vector<std::string> roots) const;

  std::vector<std::unique_ptr<LoopFrame>> frames;
  llvm::StringMap<LoopFrame *> byName;
  llvm::DenseMap<const pb::NodeDef *, LoopFrame *> exits;
  llvm::DenseMap<const pb::NodeDef *, LoopFrame *> frameOf; ///< where a node is executed
  /// Merge, Switch, LoopCond and NextIteration nodes of the loops themselves.
  llvm::DenseSet<const pb::NodeDef *> parts;
  llvm::DenseMap<const pb::NodeDef *, std::pair<LoopFrame *, size_t>> variableOfNode;
  const Nodes *nodes = nullptr;
  std::function<bool(const pb::NodeDef &)> isInput;
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_LOOPFRAMES_H
