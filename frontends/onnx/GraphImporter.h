//===-- GraphImporter.h - imports the graph of a model --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H
#define OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H

#include <onnx/onnx_pb.h>
#include <optional>
#include <string>

#include "frontends/MainFunction.h"
#include "frontends/onnx/ExternalFiles.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/onnx/Scope.h"
#include "llvm/ADT/StringMap.h"

namespace atc::onnx_import {

/// "node 'conv1' (Conv)", or with its first output where it has no name.
std::string describeNode(const onnx::NodeProto &node);

/// Whether a node's operator is of the standard domain.
bool isStandard(const onnx::NodeProto &node);

/// The outermost dim of the inputs where --input_shape changes that one only.
struct BatchChange {
  int64_t from, to;
};

/// Turns a checked graph into the function @main. Faults are collected: a node
/// that cannot be imported only takes the nodes behind it with it.
class GraphImporter {
public:
  GraphImporter(onnx::ModelProto &model, int64_t opset, llvm::StringRef folder,
                const OnnxImportOptions &options, mlir::MLIRContext &context,
                Diagnostics &diagnostics);

  /// Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  Diagnostics &diagnostics() { return *diags; }
  ExternalFiles &files() { return externalFiles; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// The value of a tensor; null where the node that makes it failed. An
  /// initializer becomes a constant at its first use.
  mlir::Value lookup(llvm::StringRef tensor);
  void define(llvm::StringRef tensor, mlir::Value value) { scope->values[tensor] = value; }

  /// Imports a branch or a body where the builder stands; it sees the tensors around
  /// it. False after an error.
  bool importBody(onnx::GraphProto &graph, llvm::ArrayRef<mlir::Value> arguments,
                  llvm::SmallVectorImpl<mlir::Value> &results);
  /// The same for a graph that sees only its arguments.
  bool importClosed(onnx::GraphProto &graph, int64_t opset, llvm::ArrayRef<mlir::Value> arguments,
                    llvm::SmallVectorImpl<mlir::Value> &results);

  /// Begins and ends a branch or the body of a loop of `node`. False, with an error, when too
  /// many stand inside each other; it must be left in that case, too.
  bool enterRegion(const onnx::NodeProto &node);
  void leaveRegion() { --regions; }

  /// Imports what need not ever run, such as one of two branches: nodes whose inputs do not
  /// fit them then become calls that fail when they run, each with a warning.
  bool importUntaken(llvm::function_ref<bool()> import);
  /// Whether such a node may be deferred; tells of it if so.
  bool defer(const onnx::NodeProto &node, const std::string &reason);

  /// Imports on trial: when `import` is false, its errors are returned and not
  /// reported.
  std::optional<Diagnostics> attempt(llvm::function_ref<bool()> import);

  /// The type of a value that a graph states; null where it states none, or sequences and
  /// optionals too deep inside each other. `depth` is that of the type inside others.
  mlir::Type convertType(const onnx::TypeProto &type, unsigned depth = 0);

  /// The shape that the model states for a tensor, if all its dims are fixed.
  std::optional<llvm::SmallVector<int64_t>> declaredShape(llvm::StringRef tensor) const;

  /// Shapes that a model holds as constants follow it.
  std::optional<BatchChange> batchChange() const { return batch; }

  mlir::Location tensorLocation(llvm::StringRef tensor, llvm::StringRef node);

  int64_t opset() const { return scope->opset; }

private:
  bool importInputs(MainFunction &main);
  void importNode(onnx::NodeProto &node);
  bool importStatic(onnx::NodeProto &node);
  void importOnHost(onnx::NodeProto &node);
  void importFunction(onnx::NodeProto &node, const onnx::FunctionProto &function);
  void importNodes(llvm::ArrayRef<onnx::NodeProto *> nodes);
  /// `isChecked`: the operators are known to be supported.
  bool importGraph(Scope &inner, bool isChecked, llvm::ArrayRef<mlir::Value> arguments,
                   llvm::SmallVectorImpl<mlir::Value> &results);
  /// Counts the nodes of a function's body, a branch or a loop's body, each time that it is
  /// imported. False, and once an error, when they are too many.
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
  /// What functions became; constants read from them while importing.
  std::vector<std::unique_ptr<onnx::GraphProto>> expanded;
  unsigned depth = 0;                   ///< of calls of functions
  unsigned regions = 0;                 ///< inside each other, where the builder stands
  unsigned untaken = 0;                 ///< of importUntaken, inside each other
  uint64_t fileNodes = 0, imported = 0; ///< nodes, in the file and in spend()
  bool isTooLarge = false;
  ExternalFiles externalFiles;
  const OnnxImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics *diags;
  mlir::OpBuilder opBuilder;
  mlir::Block *mainBlock = nullptr;
  std::optional<BatchChange> batch;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H
