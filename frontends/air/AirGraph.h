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

/// A tensor that an operator has made.
struct AirValue {
  std::string name;                   ///< in the ONNX graph
  SingleOpTensor tensor;              ///< with its dims; of a constant without its values
  const pb::Tensor *values = nullptr; ///< of a constant
};

/// The parts that the graphs of a file share; the model, options and context must outlive it.
struct AirFile {
  AirFile(pb::Model &model, const OnnxImportOptions &options, mlir::MLIRContext &context,
          Diagnostics &diagnostics);

  const OnnxImportOptions &options;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  llvm::StringMap<pb::Graph *> graphs; ///< by name, those that operators call
  UnsupportedOps unsupported;
  int64_t numOps = 0; ///< imported so far; those of a body as often as it is imported
};

/// Makes an ONNX graph of a graph. Tensor "conv1:0" is output 0 of the operator "conv1"; an input
/// has the name of its Data operator. Operators with graphs inside become ONNX's If and Loop, whose
/// graphs read tensors around them by their names; calls are inlined.
class AirGraph {
public:
  /// `graph`, `file` and `whole`, to which the nodes are added, must outlive this object. `prefix`
  /// is put in front of all names, and `depth` is the number of graphs around this one.
  AirGraph(pb::Graph &graph, AirFile &file, onnx::GraphProto &whole, const std::string &prefix = "",
           unsigned depth = 0)
      : graph(graph), file(file), diagnostics(file.diagnostics), whole(whole), prefix(prefix),
        depth(depth) {}

  /// Builds the graph of a model, with inputs and outputs. Constants are moved out of `graph`.
  /// Returns false after an error.
  bool run();

  /// Builds a graph that an operator calls. Input i of the operator is `arguments[i]`, null where
  /// it is not given; where a Data operator has only a number of its own, inputs[number] is the
  /// operator's input that it stands for. Returns the results; nothing after an error.
  std::optional<std::vector<AirValue>> runBody(llvm::ArrayRef<const AirValue *> arguments,
                                               llvm::ArrayRef<size_t> inputs);

  /// Returns the operator's input that each result of a graph is, unchanged; -1 where it is made.
  std::vector<int64_t> passedInputs(llvm::ArrayRef<size_t> inputs);

private:
  /// The most elements of a constant that operators read as axes, shapes, permutations and scales.
  static constexpr int64_t maxSettings = 8192;

  /// Registers the names of the operators and sorts them. Returns false after an error.
  bool start();
  /// Orders the operators so that each comes behind those that it reads. Returns false after an
  /// error.
  bool sortOps();
  /// Marks the operators that the outputs need, and finds the outputs.
  void findOutputs(const std::vector<std::string> &named);
  /// Returns the Data operators in the order of their numbers, and then of the file.
  std::vector<const pb::Op *> inputOps();
  /// Returns inputOps(), each with the input of the calling operator that it is; -1 where there is
  /// none.
  std::vector<std::pair<const pb::Op *, int64_t>> argumentOps(llvm::ArrayRef<size_t> inputs);
  /// Imports the operators that are needed.
  void importOps();
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
  /// Returns the name that an output has in the ONNX graph.
  std::string outputName(const pb::Op &op, int64_t output);

  //===--- Operators with graphs inside -----------------------------------===//

  using Values = std::vector<AirValue>;

  void importControl(const pb::Op &op);
  void importIf(const pb::Op &op, llvm::ArrayRef<const AirValue *> arguments);
  void importCase(const pb::Op &op, llvm::ArrayRef<const AirValue *> arguments);
  void importWhile(const pb::Op &op, llvm::ArrayRef<const AirValue *> arguments);
  void importFor(const pb::Op &op, llvm::ArrayRef<const AirValue *> arguments);
  /// Returns the graph `index` that an operator calls; null after an error.
  pb::Graph *bodyOf(const pb::Op &op, int index);
  /// Returns passedInputs() of graph `index` that an operator calls; nothing after an error.
  std::optional<std::vector<int64_t>> passedBy(const pb::Op &op, int index,
                                               llvm::ArrayRef<size_t> inputs);
  /// Builds graph `index` that an operator calls into `into`, as runBody().
  std::optional<Values> build(const pb::Op &op, int index, onnx::GraphProto &into,
                              const std::string &inner, llvm::ArrayRef<const AirValue *> arguments,
                              llvm::ArrayRef<size_t> inputs);
  /// Makes results the outputs of a graph.
  static void addResults(onnx::GraphProto &into, const std::string &inner, const Values &results);
  /// Adds an If over two graphs that have the outputs `first` and `second`. Returns its results,
  /// named `name`:0 ...; nothing after an error.
  std::optional<Values> addIf(const pb::Op &op, onnx::GraphProto &into, const std::string &name,
                              const std::string &condition, onnx::GraphProto &thenGraph,
                              const Values &first, onnx::GraphProto &elseGraph,
                              const Values &second);
  /// Adds the If's over branches `first` to `last` of a Case.
  std::optional<Values> addBranches(const pb::Op &op, onnx::GraphProto &into,
                                    const std::string &name, const std::string &index, int first,
                                    int last, llvm::ArrayRef<const AirValue *> arguments,
                                    llvm::ArrayRef<size_t> inputs);
  /// Adds the Loop of a While or a For. The values that the loop carries are the operator's inputs
  /// from `firstCarried` on; `trips` and `first` are names of the number of rounds and of the
  /// condition of the first one, "" where there is none. `makeBody` builds the body in a graph and
  /// returns what it carries and the name of its condition.
  using Body = llvm::function_ref<std::optional<Values>(
      onnx::GraphProto &body, const std::string &inner, llvm::ArrayRef<const AirValue *> arguments,
      std::string &condition)>;
  void addLoop(const pb::Op &op, llvm::ArrayRef<const AirValue *> arguments, size_t firstCarried,
               llvm::ArrayRef<int64_t> passed, const std::string &trips, const std::string &first,
               Body makeBody);
  /// Adds the nodes that make a bool of a condition; returns its name.
  std::string addCondition(onnx::GraphProto &into, const std::string &name, const AirValue &value);
  /// Makes the results of an operator known to those that read them.
  void define(const pb::Op &op, Values results);

  pb::Graph &graph;
  AirFile &file;
  Diagnostics &diagnostics;
  onnx::GraphProto &whole;
  const std::string prefix;
  const unsigned depth;
  llvm::StringMap<size_t> positions; ///< of operators, by name
  std::vector<size_t> order;
  std::vector<bool> isNeeded;
  std::vector<std::string> outputs; ///< "conv1:0"
  llvm::StringMap<AirValue> values; ///< by "conv1:0"
};

} // namespace atc::air

#endif // OPENATC_FRONTENDS_AIR_AIRGRAPH_H
