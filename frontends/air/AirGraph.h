//===-- AirGraph.h - makes an ONNX graph of an .air graph -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIR_AIRGRAPH_H
#define OPENATC_FRONTENDS_AIR_AIRGRAPH_H

#include "frontends/UnsupportedOps.h"
#include "frontends/air/AirOps.h"
#include "frontends/onnx/OnnxModel.h"

#include "llvm/ADT/StringMap.h"

#include <onnx/onnx_pb.h>

namespace atc::air {

/// Makes an ONNX model of a graph. Tensor "conv1:0" is output 0 of the operator "conv1"; an input
/// has the name of its Data operator.
class AirGraph {
public:
  /// `graph` and the others must outlive this object; constants are moved out of `graph`.
  AirGraph(pb::Graph &graph, const OnnxImportOptions &options, mlir::MLIRContext &context,
           Diagnostics &diagnostics)
      : graph(graph), options(options), context(context), diagnostics(diagnostics) {}

  /// Builds the model. Returns false after an error.
  bool run();

  /// Returns the model that run() has built.
  onnx::ModelProto &result() { return model; }

private:
  /// The most elements of a constant that operators read as axes, shapes, permutations and scales.
  static constexpr int64_t maxSettings = 8192;

  /// A tensor of the graph that an operator has made.
  struct Value {
    std::string name;                   ///< in the ONNX graph
    SingleOpTensor tensor;              ///< with its dims; of a constant without its values
    const pb::Tensor *values = nullptr; ///< of a constant
  };

  /// Orders the operators so that each comes behind those that it reads. Returns false after an
  /// error.
  bool sortOps();
  /// Marks the operators that the outputs need, and finds the outputs.
  void findOutputs();
  void importInputs();
  void importOp(pb::Op &op);
  void importData(const pb::Op &op);
  void importConstant(pb::Op &op);
  void importOther(const pb::Op &op);
  /// Sets the inputs of `single` from what the operator reads. Returns false where one is missing.
  bool readInputs(const pb::Op &op, SingleOp &single, std::vector<std::string> &names);
  /// Sets the outputs of `single` from what the operator states; the attributes are there already.
  void readOutputs(const pb::Op &op, SingleOp &single);
  /// Adds the nodes and constants of a model of one operator to the graph.
  void append(onnx::GraphProto &part, const pb::Op &op, llvm::ArrayRef<std::string> inputs);
  void addOutputs();
  void fail(ErrorCode code, const pb::Op &op, const llvm::Twine &what);

  pb::Graph &graph;
  const OnnxImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  onnx::ModelProto model;
  llvm::StringMap<size_t> positions; ///< of operators, by name
  std::vector<size_t> order;
  std::vector<bool> isNeeded;
  std::vector<std::string> outputs; ///< "conv1:0"
  llvm::StringMap<Value> values;    ///< by "conv1:0"
  UnsupportedOps unsupported;
};

} // namespace atc::air

#endif // OPENATC_FRONTENDS_AIR_AIRGRAPH_H
