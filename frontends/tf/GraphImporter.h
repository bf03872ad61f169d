//===-- GraphImporter.h - imports a frozen TensorFlow graph ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_GRAPHIMPORTER_H
#define OPENATC_FRONTENDS_TF_GRAPHIMPORTER_H

#include <optional>
#include <string>
#include <vector>

#include "frontends/DynamicInputs.h"
#include "frontends/MainFunction.h"
#include "frontends/Placeholder.h"
#include "frontends/tf/ControlFlowState.h"
#include "frontends/tf/LoopFrames.h"
#include "frontends/tf/TensorData.h"
#include "frontends/tf/TfImport.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tf_import {

/// "node 'conv1' (Conv2D)".
std::string describeNode(const pb::NodeDef &node);

/// Turns a graph without variables and functions into the function @main. Errors are
/// collected: a node that cannot be imported only takes the nodes behind it with it.
class GraphImporter {
public:
  GraphImporter(pb::GraphDef &graph, llvm::StringRef name, const GraphBoundary &boundary,
                const TfImportOptions &options, mlir::MLIRContext &context,
                Diagnostics &diagnostics);

  /// Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  /// Returns where errors are reported.
  Diagnostics &diagnostics() { return *diags; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// Whether the target can generate code for an op.
  bool canGenerate(mlir::Operation *op) { return !options.canGenerate || options.canGenerate(op); }

  //--- Tensors of the innermost scope that has them: the graph, an iteration of a loop.
  /// The value of a tensor; null where the node that makes it failed.
  mlir::Value lookup(TensorName tensor) const;
  void define(TensorName tensor, mlir::Value value);
  /// The imaginary part of a complex tensor, whose real part lookup() returns; null where the
  /// tensor is not complex.
  mlir::Value imaginaryOf(TensorName tensor) const;
  void defineImaginary(TensorName tensor, mlir::Value value);
  /// Whether the imaginary part of a node's outputs is imported: lookup() then returns the
  /// imaginary parts of complex tensors, and define() sets them.
  bool importsImaginary() const { return isImaginary; }
  /// The list that a tensor stands for; null where it stands for none.
  const TensorList *findList(TensorName tensor) const;
  void setList(TensorName tensor, TensorList list);
  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }
  /// Whether the innermost scope has a value for a tensor.
  bool definesHere(TensorName tensor) const { return scopes.back().values.contains(tensor.str()); }

  /// Imports nodes in the order of execution; a loop where its first Exit stands.
  void importNodes(llvm::ArrayRef<pb::NodeDef *> list);
  /// Begins a loop inside those that are being imported; false, with an error, where they
  /// are too many.
  bool enterLoop(const LoopFrame &frame);
  void leaveLoop() { --loopDepth; }
  /// Counts the nodes of a loop's body each time that it is imported; false, with an error,
  /// where they become too many.
  bool spend(const LoopFrame &frame);
  /// Runs `import`; where it fails returns what it reported, which then is not reported.
  std::optional<Diagnostics> attempt(llvm::function_ref<bool()> import);

  /// Under which conditions tensors exist.
  Guards guardsOf(llvm::ArrayRef<TensorName> tensors) const;
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
  bool findLoops();
  bool sortNodes();
  bool isInput(const pb::NodeDef &node) const;
  std::vector<std::string> nodeNames() const;
  bool importInputs(MainFunction &main);
  void setStates(mlir::ModuleOp module);
  void checkShapeNames(llvm::ArrayRef<const pb::NodeDef *> inputs);
  bool inputType(const pb::NodeDef &node, mlir::RankedTensorType &type,
                 std::vector<DynamicInput> &dynamic);
  void reportDynamic(llvm::ArrayRef<DynamicInput> dynamic, bool isError);
  /// The types of the cut tensors as the graph in front of them makes them;
  /// null where it cannot be imported.
  void inferCutTypes();
  void importNode(pb::NodeDef &node);
  /// Makes the outputs of a node where a dynamic dim has a placeholder.
  void makeWithPlaceholder(pb::NodeDef &node);
  void makeOutputs(pb::NodeDef &node);
  /// Calls the builder of the node's row; all inputs have values.
  void makeByRows(pb::NodeDef &node);
  /// Reports each input of `node` that holds strings; returns whether none does.
  bool hasNumericInputs(const pb::NodeDef &node);
  /// Reports each input of `node` whose elements are not of the type that the node states for it;
  /// returns whether there is none.
  bool hasStatedTypes(const pb::NodeDef &node);
  /// Imports a node that reads complex tensors.
  void makeComplexOutputs(pb::NodeDef &node);
  bool readsComplex(const pb::NodeDef &node) const;
  void makeConstant(pb::NodeDef &node);
  bool hasStaticInputs(const pb::NodeDef &node) const;
  /// Whether an input of a node says what it needs: control inputs do not, but for
  /// those that say on which side of a Switch a constant stands.
  bool isNeeded(const TensorName &input) const;
  /// Finds the nodes that say on which side of a condition another one stands.
  void findConditions();
  bool checkGuards();

  pb::GraphDef &graph;
  std::string name;
  const GraphBoundary &boundary;
  llvm::StringMap<llvm::SmallVector<llvm::StringRef, 1>> boundaryNames; ///< of inputs, by node
  const TfImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics *diags;
  mlir::OpBuilder opBuilder;
  llvm::StringMap<pb::NodeDef *> nodes;
  std::vector<Output> outputs;
  /// Each Switch of a condition, and each Identity and NoOp through which it orders others.
  llvm::StringSet<> conditions;
  /// Nodes from which no edge leads to a Switch, found while no node had guards: a long chain of
  /// what only orders others is walked once.
  mutable llvm::DenseSet<const pb::NodeDef *> unguarded;
  llvm::StringSet<> cuts;
  llvm::StringMap<mlir::RankedTensorType> cutTypes;
  /// The nodes that the outputs need, in the order of the file, after sorting in that of execution.
  std::vector<pb::NodeDef *> needed;
  struct Scope {
    llvm::StringMap<mlir::Value> values, imaginary;
    llvm::StringMap<TensorList> lists;
  };
  llvm::SmallVector<Scope, 4> scopes;
  LoopFrames frames;
  unsigned loopDepth = 0;
  uint64_t spentNodes = 0;
  bool isImaginary = false;
  std::optional<PlaceholderRules> placeholder;
  Flow controlFlow;
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_GRAPHIMPORTER_H
