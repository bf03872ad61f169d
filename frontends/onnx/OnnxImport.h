//===-- OnnxImport.h - ONNX models to the graph dialect -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_ONNXIMPORT_H
#define OPENATC_FRONTENDS_ONNX_ONNXIMPORT_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontends/ModelNodes.h"
#include "frontends/ModelOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace atc {

/// The initializers that become inputs of a training step. A name may have one '*'.
struct TrainingImport {
  /// The float initializers to train; empty: all with several elements that are no settings of
  /// their node.
  std::vector<std::string> parameters = {};
  std::vector<std::string> frozen = {}; ///< initializers that stay constants
  /// Whether batch norms use the statistics of their batch and update the running ones.
  bool batchStatistics = true;
};

/// The options of importOnnx.
struct OnnxImportOptions {
  /// The value of `--input_shape`: shapes of inputs by name. They replace the shapes that the model
  /// states.
  InputShapes inputShapes = {};
  /// The value of `--out_nodes`: "node:0" (output 0 of a node) or the name of a tensor. Empty keeps
  /// the outputs of the model.
  std::vector<std::string> outputs = {};
  /// Returns whether the target has code for a graph op. Other ops are imported as calls of host
  /// kernels. Empty: it has code for all of them.
  std::function<bool(mlir::Operation *)> canGenerate = {};
  /// Called for a model whose inputs have one dynamic dim, with the module imported as graph ops
  /// and a placeholder as the dim's size (dialects/graph/tiling/TiledDims.h), unless that would not
  /// serve all sizes. Returns true to take the module as the result; otherwise the model is
  /// imported with its dynamic dim. Empty: it is imported so in any case.
  std::function<bool(mlir::ModuleOp)> makeTiles = {};
  /// Whether dims that the model states as 0 are 0, as ONNX has it, and not unknown, as some
  /// exporters have it: for targets whose code has every dim. Models of which `makeTiles` takes
  /// those dims serve any size in either case.
  bool keepsEmptyDims = false;
  /// Whether operators of TensorFlow Lite that multiply real values by weights in bytes round those
  /// values to bytes at run time, as its interpreter does: for targets that multiply such bytes.
  bool roundsToBytes = false;
  /// Set: weights become arguments behind the inputs, with the attributes of
  /// passes/train/Passes.h.
  const TrainingImport *training = nullptr;
  /// Called with training for each initializer that is an argument now: its value, and whether it
  /// is a parameter or a statistic of a batch norm.
  std::function<void(llvm::StringRef name, mlir::ElementsAttr value, bool isParameter)>
      onParameter = {};
  /// Set by the importer: the placeholder; 0 for none.
  int64_t placeholder = 0;
  /// Set by the importer: `inputShapes` are those of the file, but for the placeholder.
  bool hasStatedShapes = false;
};

/// Reads an ONNX file into a module with one function @main of graph ops.
///
/// Arguments and results carry their tensor's name as `om.name`; the module has
/// the graph's name as `graph.name`. The location of an op is
/// NameLoc(tensor name, NameLoc(node name)). Only what the outputs need is
/// imported. On failure `diagnostics` holds at least one error.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(llvm::StringRef path,
                                                              const OnnxImportOptions &options,
                                                              mlir::MLIRContext &context,
                                                              Diagnostics &diagnostics);

/// Reads a model in memory in the same way. `folder` contains its external data files; `name`
/// stands for the file in messages.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnxBuffer(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder,
                 const OnnxImportOptions &options, mlir::MLIRContext &context,
                 Diagnostics &diagnostics);

/// Returns the nodes of an ONNX file, those inside branches and loops behind their own; of
/// `bytes` where these are given. Empty after an error.
std::vector<ModelNode> listOnnxNodes(llvm::StringRef path, const std::optional<std::string> &bytes,
                                     Diagnostics &diagnostics);

/// Writes the supported operators as a page of Markdown.
void printOnnxSupport(llvm::raw_ostream &os);

} // namespace atc

#endif // OPENATC_FRONTENDS_ONNX_ONNXIMPORT_H
