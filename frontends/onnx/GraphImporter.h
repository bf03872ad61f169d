//===-- GraphImporter.h - imports the graph of a model --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H
#define OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H

#include <onnx/onnx_pb.h>
#include <optional>
#include <string>

#include "frontends/MainFunction.h"
#include "frontends/onnx/DynamicDim.h"
#include "frontends/onnx/ExternalFiles.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/onnx/Scope.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace atc::onnx_import {

/// Returns "node 'conv1' (Conv)", or the name of its first output where it has no name.
std::string describeNode(const onnx::NodeProto &node);

/// Returns whether a node's operator is of the standard domain.
bool isStandard(const onnx::NodeProto &node);

/// A change of the outermost dim of the inputs, where --input_shape changes that dim only.
struct BatchChange {
  int64_t from, to;
};

/// Imports a checked graph as the function @main. Errors are collected: a node that cannot be
/// imported only excludes the nodes that depend on it.
class GraphImporter {
public:
  GraphImporter(onnx::ModelProto &model, int64_t opset, llvm::StringRef folder,
                const OnnxImportOptions &options, mlir::MLIRContext &context,
                Diagnostics &diagnostics);

  /// Returns the module; null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  /// Returns where errors are reported.
  Diagnostics &diagnostics() { return *diags; }
  ExternalFiles &files() { return externalFiles; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// Returns the value of a tensor; null where its node failed. An initializer becomes a constant
  /// at its first use.
  mlir::Value lookup(llvm::StringRef tensor);
  /// Makes `value` the value of a tensor. One without elements is known and becomes a constant, so
  /// that nothing has to compute it and what reads it can be folded.
  void define(llvm::StringRef tensor, mlir::Value value);

  /// Imports a branch or a body at the builder's insertion point; it can use the tensors of
  /// enclosing graphs. Returns false after an error.
  bool importBody(onnx::GraphProto &graph, llvm::ArrayRef<mlir::Value> arguments,
                  llvm::SmallVectorImpl<mlir::Value> &results);
  /// Imports a graph that can use only its arguments. Returns false after an error.
  bool importClosed(onnx::GraphProto &graph, int64_t opset, llvm::ArrayRef<mlir::Value> arguments,
                    llvm::SmallVectorImpl<mlir::Value> &results);

  /// Begins a branch or the body of a loop of `node`; leaveRegion() must follow. Returns false,
  /// with an error, when the nesting is too deep.
  bool enterRegion(const onnx::NodeProto &node);
  void leaveRegion() {
    --regions;
    // The values of a region may be erased together with it.
    batchAxes.clear();
    while (!statedInside.empty() && statedInside.back().first > regions)
      statedConstants.erase(statedInside.pop_back_val().second);
  }

  /// Imports code that need not run, such as one of two branches: nodes whose inputs do not fit
  /// them become calls that fail when they run, each with a warning.
  bool importUntaken(llvm::function_ref<bool()> import);
  /// Returns whether such a node may be deferred; warns if so.
  bool defer(const onnx::NodeProto &node, const std::string &reason);

  /// Imports tentatively: when `import` returns false, its errors are returned and not reported.
  std::optional<Diagnostics> attempt(llvm::function_ref<bool()> import);

  /// Returns the type that a graph states for a value; null where it states none, or for too deeply
  /// nested sequences and optionals. `depth` is the nesting of the type.
  mlir::Type convertType(const onnx::TypeProto &type, unsigned depth = 0);

  /// Returns the shape that the model states for a tensor, if it is static.
  std::optional<llvm::SmallVector<int64_t>> declaredShape(llvm::StringRef tensor) const;

  /// Returns the change of the batch, which shapes in the model's constants follow.
  std::optional<BatchChange> batchChange() const { return batch; }
  /// Remembers a constant that the file itself states, other than one that is computed of shapes;
  /// inside a region until that is left.
  void addStated(mlir::Value constant) {
    statedConstants.insert(constant);
    if (regions)
      statedInside.emplace_back(regions, constant);
  }
  bool isStated(mlir::Value value) const { return statedConstants.contains(value); }
  /// Returns whether the images of the changed batch lie one after the other along the outermost
  /// dim of a value.
  bool hasBatchInFront(mlir::Value value);

  /// Returns the location of a tensor that `node` makes: both names.
  mlir::Location tensorLocation(llvm::StringRef tensor, llvm::StringRef node);

  int64_t opset() const { return scope->opset; }

private:
  bool importInputs(MainFunction &main);
  void importNode(onnx::NodeProto &node);
  /// Imports a node where a dynamic dim has a placeholder.
  void importWithPlaceholder(onnx::NodeProto &node);
  bool importStatic(onnx::NodeProto &node);
  void importOnHost(onnx::NodeProto &node);
  void importFunction(onnx::NodeProto &node, const onnx::FunctionProto &function);
  void importNodes(llvm::ArrayRef<onnx::NodeProto *> nodes);
  /// Imports the nodes of a scope. `isChecked`: its operators are known to be supported.
  bool importGraph(Scope &inner, bool isChecked, llvm::ArrayRef<mlir::Value> arguments,
                   llvm::SmallVectorImpl<mlir::Value> &results);
  /// Counts the nodes of a function's body, a branch or a loop's body, each time that it is
  /// imported. Returns false, after one error, when there are too many.
  bool spend(const onnx::GraphProto &body);
  const onnx::FunctionProto *findFunction(const onnx::NodeProto &node) const;
  bool checkSupported(llvm::ArrayRef<onnx::NodeProto *> nodes);
  mlir::Value importInitializer(Scope &owner, llvm::StringRef tensor);
  void findBatchChange();

  onnx::GraphProto &graph;
  llvm::StringMap<const onnx::FunctionProto *> functions; ///< by functionKey()
  NodeReads reads;
  Scope mainScope;
  Scope *scope = &mainScope;
  /// The expanded functions, from which constants are read while importing.
  std::vector<std::unique_ptr<onnx::GraphProto>> expanded;
  unsigned depth = 0;                   ///< nesting of function calls
  unsigned regions = 0;                 ///< nesting of regions at the builder's insertion point
  unsigned untaken = 0;                 ///< nesting of importUntaken
  uint64_t fileNodes = 0, imported = 0; ///< number of nodes, in the file and counted by spend()
  bool isTooLarge = false;
  ExternalFiles externalFiles;
  const OnnxImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics *diags;
  mlir::OpBuilder opBuilder;
  mlir::Block *mainBlock = nullptr;
  std::optional<BatchChange> batch;
  llvm::DenseSet<mlir::Value> statedConstants;
  /// Those of regions, with the nesting.
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> statedInside;
  enum class BatchAxis : uint8_t { None, Elsewhere, Front };
  llvm::DenseMap<mlir::Value, BatchAxis> batchAxes; ///< as hasBatchInFront() finds them
  std::optional<PlaceholderRules> placeholder;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H
