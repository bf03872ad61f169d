//===-- GraphImporter.h - imports a frozen TensorFlow graph ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_GRAPHIMPORTER_H
#define OPENATC_FRONTENDS_TF_GRAPHIMPORTER_H

#include <string>
#include <vector>

#include "frontends/MainFunction.h"
#include "frontends/tf/ControlFlowState.h"
#include "frontends/tf/TensorData.h"
#include "frontends/tf/TfImport.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tf_import {

/// "node:1", "node" (output 0) or "^node" (only an order of execution).
struct TensorName {
  llvm::StringRef node;
  int64_t index = 0;
  bool isControl = false;

  static TensorName parse(llvm::StringRef text);
  /// As messages and the compiled model have it: "node", "node:1".
  std::string str() const {
    return index == 0 ? node.str() : (node + ":" + llvm::Twine(index)).str();
  }
};

/// "node 'conv1' (Conv2D)".
std::string describeNode(const pb::NodeDef &node);

/// Turns a graph without variables and functions into the function @main.
/// Faults are collected: a node that cannot be imported only takes the nodes
/// behind it with it.
class GraphImporter {
public:
  GraphImporter(pb::GraphDef &graph, llvm::StringRef name, const GraphBoundary &boundary,
                const TfImportOptions &options, mlir::MLIRContext &context,
                Diagnostics &diagnostics);

  /// Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  Diagnostics &diagnostics() { return diags; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// The value of a tensor; null where the node that makes it failed.
  mlir::Value lookup(TensorName tensor) { return values.lookup(tensor.str()); }
  void define(TensorName tensor, mlir::Value value) { values[tensor.str()] = value; }
  /// Under which conditions a tensor exists.
  Guards guardsOf(TensorName tensor) const;
  Flow &flow() { return controlFlow; }
  mlir::Location tensorLocation(llvm::StringRef tensor, llvm::StringRef node);

private:
  struct Output {
    std::string name; ///< in the compiled model
    TensorName tensor;
  };

  bool indexNodes();
  bool resolveOutputs();
  bool resolveCuts();
  bool collectNodes();
  bool checkSupported();
  bool checkVariables();
  bool sortNodes();
  bool isInput(const pb::NodeDef &node) const;
  std::vector<std::string> nodeNames() const;
  bool importInputs(MainFunction &main);
  void checkShapeNames(llvm::ArrayRef<const pb::NodeDef *> inputs);
  bool inputType(const pb::NodeDef &node, mlir::RankedTensorType &type,
                 std::vector<std::string> &unknown);
  /// The types of the cut tensors as the graph in front of them makes them;
  /// null where it cannot be imported.
  void inferCutTypes();
  void importNode(pb::NodeDef &node);
  void makeOutputs(pb::NodeDef &node);
  /// Whether an input of a node says what it needs: control inputs do not, but for
  /// those that say on which side of a Switch a constant stands.
  bool isNeeded(const TensorName &input);
  bool checkGuards();

  pb::GraphDef &graph;
  std::string name;
  const GraphBoundary &boundary;
  llvm::StringMap<llvm::SmallVector<llvm::StringRef, 1>> boundaryNames; ///< of inputs, by node
  const TfImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics &diags;
  mlir::OpBuilder opBuilder;
  llvm::StringMap<pb::NodeDef *> nodes;
  std::vector<Output> outputs;
  llvm::StringMap<bool> switches; ///< what isNeeded() has found for nodes
  llvm::StringSet<> cuts;
  llvm::StringMap<mlir::RankedTensorType> cutTypes;
  /// What the outputs need, in the order of the file, later in that of execution.
  std::vector<pb::NodeDef *> needed;
  llvm::StringMap<mlir::Value> values;
  Flow controlFlow;
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_GRAPHIMPORTER_H
