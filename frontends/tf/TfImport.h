//===-- TfImport.h - TensorFlow models to the graph dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_TFIMPORT_H
#define OPENATC_FRONTENDS_TF_TFIMPORT_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ModelNodes.h"
#include "frontends/ModelOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "support/Diagnostics.h"

namespace atc {

namespace tf::pb {
class GraphDef;
}

struct TfImportOptions {
  /// `--input_shape`: the shape of an input, by its name; -1 is a dynamic dim. It replaces
  /// the shape that the model states.
  InputShapes inputShapes = {};
  /// `--out_nodes`: "node:0" or "node". Empty keeps the outputs of the model: those
  /// of its signature, or of a graph what no node reads.
  std::vector<std::string> outputs = {};
  /// `--input_nodes`: these nodes become inputs, what stands in front of them is
  /// cut off.
  std::vector<std::string> inputNodes = {};
  /// Whether the target can generate code for an op; what it cannot becomes a call of a
  /// host kernel. Empty: it can generate everything.
  std::function<bool(mlir::Operation *)> canGenerate = {};
  /// Called for a model whose inputs have one dynamic dim, as OnnxImportOptions::makeTiles.
  std::function<bool(mlir::ModuleOp)> makeTiles = {};
  /// `--signature_def`: the signature of a SavedModel. Empty: "serving_default" or the only one.
  std::string signature = {};
  /// Set by the importer: the size of `inputShapes` that stands for the dynamic dim; 0 for none.
  int64_t placeholder = 0;
};

/// The boundary that a signature gives a graph: the name of each input and output and the
/// tensor ("node:0") that it stands for. Empty for a bare graph. States are an input, and the
/// output that is its value in the next run.
struct GraphBoundary {
  std::vector<std::pair<std::string, std::string>> inputs, outputs, states;
};

/// Reads a frozen GraphDef (.pb) or the folder of a SavedModel into a module with
/// one function @main of graph ops.
///
/// Arguments and results carry their name as `om.name`, the module has
/// `graph.name`. The location of an op is NameLoc(tensor name, NameLoc(node
/// name)). Only what the outputs need is imported. On failure `diagnostics` holds
/// at least one error.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importTf(llvm::StringRef path,
                                                            const TfImportOptions &options,
                                                            mlir::MLIRContext &context,
                                                            Diagnostics &diagnostics);

/// Imports a GraphDef in memory without variables and function calls; its constants are
/// moved out of it.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importTfGraph(tf::pb::GraphDef &graph, llvm::StringRef name, const GraphBoundary &boundary,
              const TfImportOptions &options, mlir::MLIRContext &context, Diagnostics &diagnostics);

/// Returns the nodes of a frozen GraphDef or of the main graph of a SavedModel. Empty after an
/// error.
std::vector<ModelNode> listTfNodes(llvm::StringRef path, llvm::StringRef signature,
                                   Diagnostics &diagnostics);

/// Writes the supported operators as a page of Markdown.
void printTfSupport(llvm::raw_ostream &os);

} // namespace atc

#endif // OPENATC_FRONTENDS_TF_TFIMPORT_H
