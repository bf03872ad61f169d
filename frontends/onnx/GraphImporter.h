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
#include "llvm/ADT/StringMap.h"

namespace atc::onnx_import {

/// "node 'conv1' (Conv)", or with its first output where it has no name.
std::string describeNode(const onnx::NodeProto &node);

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

  Diagnostics &diagnostics() { return diags; }
  ExternalFiles &files() { return externalFiles; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// The value of a tensor; null where the node that makes it failed. An
  /// initializer becomes a constant at its first use.
  mlir::Value lookup(llvm::StringRef tensor);
  void define(llvm::StringRef tensor, mlir::Value value) { values[tensor] = value; }

  /// The shape that the model states for a tensor, if all its dims are fixed.
  std::optional<llvm::SmallVector<int64_t>> declaredShape(llvm::StringRef tensor) const;

  /// Shapes that a model holds as constants follow it.
  std::optional<BatchChange> batchChange() const { return batch; }

  mlir::Location tensorLocation(llvm::StringRef tensor, llvm::StringRef node);

private:
  bool importInputs(MainFunction &main);
  void importNode(onnx::NodeProto &node);
  mlir::Value importInitializer(llvm::StringRef tensor);
  void findBatchChange();

  onnx::GraphProto &graph;
  int64_t opset;
  ExternalFiles externalFiles;
  const OnnxImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics &diags;
  mlir::OpBuilder opBuilder;
  std::optional<BatchChange> batch;
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<onnx::TensorProto *> initializers;
  llvm::StringMap<onnx::SparseTensorProto *> sparseInitializers;
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_GRAPHIMPORTER_H
