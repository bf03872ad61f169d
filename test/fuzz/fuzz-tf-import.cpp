//===-- fuzz-tf-import.cpp - no model file crashes the importer -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/SavedModel.h"
#include "frontends/tf/TfImport.h"
#include "google/protobuf/stubs/logging.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Outcome.h"
#include "test/fuzz/mutators/Mutators.h"

using namespace atc;

/// Returns whether the graph is taken.
static bool checkImport(tf::pb::GraphDef &graph, const GraphBoundary &boundary,
                        const TfImportOptions &options = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics;
  auto module = importTfGraph(graph, "fuzz", boundary, options, context, diagnostics);
  return fuzz::checkOutcome(mlir::succeeded(module), diagnostics) == 0;
}

/// Bytes are a frozen GraphDef, else the saved_model.pb of a model without a checkpoint.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  google::protobuf::LogSilencer silencer;
  tf::pb::GraphDef graph;
  if (graph.ParseFromArray(data, static_cast<int>(size)) && graph.node_size() > 0) {
    // Importing takes the constants out of the graph.
    tf::pb::GraphDef copy = graph;
    const bool taken = checkImport(copy, {});
    TfImportOptions cut;
    cut.inputNodes = {graph.node(graph.node_size() / 2).name()};
    return checkImport(graph, {}, cut) || taken ? 0 : -1;
  }
  tf::pb::SavedModel model;
  if (!model.ParseFromArray(data, static_cast<int>(size)))
    return -1;
  Diagnostics diagnostics;
  std::optional<tf_import::FrozenModel> frozen =
      tf_import::freezeModel(model, "fuzz", /*checkpoint=*/nullptr, diagnostics);
  return fuzz::checkOutcome(frozen.has_value(), diagnostics) == 0 &&
                 checkImport(frozen->graph, frozen->boundary())
             ? 0
             : -1;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  return atc::fuzz::mutateGraphDef(data, size, maxSize, seed);
}
