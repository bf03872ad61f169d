//===-- OpContext.h - one operator while it becomes ONNX nodes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_OPCONTEXT_H
#define OPENATC_FRONTENDS_TFLITE_OPCONTEXT_H

#include <map>
#include <optional>
#include <vector>

#include "frontends/onnx/NodeWriter.h"
#include "frontends/tflite/ModelReader.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tflite {

/// A tensor of the ONNX graph.
struct Value {
  std::string name = {};
  /// Whether it holds the integers of a quantized tensor and not the real values.
  bool isStored = false;
};

/// A variable of the model, which several operators read and write by the name of its handle.
struct Variable {
  const fb::Tensor *initial = nullptr; ///< what initializes it, a constant; null without one
  const fb::Tensor *stored = nullptr;  ///< what reads or writes it: its type and shape
  bool isWritten = false;              ///< whether the model changes it
  bool isState = false;                ///< whether a run begins with what the last one wrote
  std::string value =
      {}; ///< the tensor that holds it at this position of the graph; empty: none yet
};

/// The state that all operators of a model share while it is converted.
class ModelState {
public:
  ModelState(const ModelReader &reader, onnx::GraphProto &main, Diagnostics &diagnostics)
      : reader(reader), main(main), diagnostics(diagnostics) {}
  virtual ~ModelState() = default;

  /// Returns a name that no other tensor of the model has: "base/7".
  std::string uniqueName(llvm::StringRef base) {
    return (base + "/" + llvm::Twine(numNames++)).str();
  }

  /// Reports whether a tensor may have this name: no other one has it.
  bool claimName(llvm::StringRef name) { return usedNames.insert(name).second; }

  /// Makes the nodes of a subgraph in `graph`, with `inputs` as its inputs, and returns the names
  /// of its outputs. Returns none after an error.
  virtual std::optional<std::vector<std::string>>
  inlineSubgraph(onnx::GraphProto &graph, int64_t index,
                 const std::vector<std::string> &inputs) = 0;

  /// Makes a variable that is written a state: an input with the variable's name. Returns the
  /// name of the input.
  virtual std::string addState(llvm::StringRef name, Variable &variable) = 0;

  const ModelReader &reader;
  onnx::GraphProto &main; ///< holds all constants
  /// Whether products of real values and weights in bytes round those values at run time.
  bool roundsToBytes = false;
  Diagnostics &diagnostics;
  std::map<std::string, Variable> variables; ///< by the names of their handles

private:
  unsigned numNames = 0;
  llvm::StringSet<> usedNames;
};

/// The tensors of one subgraph, by index, where its nodes are made.
struct GraphState {
  onnx::GraphProto &graph;
  size_t subgraph;
  std::vector<std::string> names; ///< of the tensors that are known; empty for others
  llvm::StringMap<std::string> dequantized = {}; ///< real values, by the names of the integers
  llvm::DenseMap<int32_t, const fb::Operator *> producers{}; ///< by tensor, so far
};

/// Gives the importer of an operator its parameters and inputs, and the means to make nodes. After
/// the first error nothing more is made, and `failed()` is true. Indices are positions in the
/// operator's lists.
class OpContext {
public:
  OpContext(ModelState &model, GraphState &graph, const fb::Operator &op);

  bool failed() const { return hasFailed; }
  /// Reports E14001: "operator CONV_2D of 'name': text".
  void fail(const llvm::Twine &text);

  /// Returns the parameters; null where the file has none of this type.
  template <typename Options> const Options *options() const {
    return proto.builtin_options_as<Options>();
  }

  /// Returns the parameters of an operator whose parameters are in the second union.
  template <typename Options> const Options *options2() const {
    return proto.builtin_options_2_as<Options>();
  }

  //--- Inputs.
  unsigned numInputs() const { return proto.inputs() ? proto.inputs()->size() : 0; }
  unsigned numOutputs() const { return proto.outputs() ? proto.outputs()->size() : 0; }
  bool hasInput(unsigned index) const {
    return index < numInputs() && proto.inputs()->Get(index) >= 0;
  }
  /// Returns the description of an input; that of an empty tensor, and an error, without it.
  const fb::Tensor &inputTensor(unsigned index);
  const fb::Tensor &outputTensor(unsigned index);
  Dims dims(unsigned index) { return dimsOf(inputTensor(index)); }
  int64_t rank(unsigned index) { return dims(index).size(); }
  /// Returns the dims of an input, which must be known from axis `first` on; others may be -1.
  Dims knownDims(unsigned index, size_t first = 0);
  Dims outputDims(unsigned index = 0) { return dimsOf(outputTensor(index)); }
  /// Makes -rank <= axis < rank non-negative, or fails.
  int64_t axis(int64_t axis, int64_t rank);

  /// Returns the integers of an input as the file or an operator stores them.
  Value raw(unsigned index);
  /// Returns the real values of an input; other integers as they are.
  Value in(unsigned index);
  /// Returns the stored integers of an input where the first output has the same scale and zero
  /// point, for operators that only move elements; else the real values.
  Value moved(unsigned index);
  /// Returns the elements of a constant filter as they are stored, permuted to as many dims.
  Value elements(unsigned index, const Dims &permutation);
  /// Returns the real values of a filter, permuted.
  Value filter(unsigned index, const Dims &permutation);
  /// Returns the real values of a bias, which is int32 with scales in quantized models.
  Value bias(unsigned index);
  /// Returns an integer input as int64.
  Value indices(unsigned index);
  /// Returns the values of a constant integer input; none where it is computed.
  std::optional<Dims> constantInts(unsigned index);
  /// Returns the values of a constant integer input, which `what` names in the error without it.
  Dims requireInts(unsigned index, const char *what);
  /// Returns the value of a constant float input of one element; none where it is computed.
  std::optional<float> constantFloat(unsigned index);

  //--- Nodes.
  Value node(const char *op, const std::vector<Value> &inputs,
             const OnnxAttributes &attributes = {});
  std::vector<Value> nodes(const char *op, const std::vector<Value> &inputs, unsigned results,
                           const OnnxAttributes &attributes = {});
  /// Makes a node with graphs as attributes, such as If; `fill` fills each of them.
  std::vector<Value>
  regionNode(const char *op, const std::vector<Value> &inputs, unsigned results,
             llvm::ArrayRef<const char *> graphs,
             llvm::function_ref<bool(unsigned graph, onnx::GraphProto &body)> fill,
             const OnnxAttributes &attributes = {});
  Value ints(llvm::ArrayRef<int64_t> values); ///< int64, one dim
  Value intScalar(int64_t value);             ///< int64, no dims
  Value constant(int type, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);
  /// Returns a constant without dims of the type in which input `index` is read: float for
  /// quantized tensors.
  Value scalarLike(unsigned index, double value);
  Value scalar(float value);
  Value floats(llvm::ArrayRef<float> values); ///< one dim
  /// Returns real values as the integers that a quantized tensor stores; others as they are.
  Value stored(Value value, const fb::Tensor &tensor);
  /// Returns a constant of the file.
  Value constantOf(const fb::Tensor &tensor);
  /// Returns the elements from `begin` up to `end` along an axis.
  Value slice(Value value, int64_t axis, int64_t begin, int64_t end);
  Value cast(Value value, int type);
  Value transpose(Value value, const Dims &permutation);
  Value reshape(Value value, const Dims &dims);
  Value unsqueeze(Value value, const Dims &axes);
  Value squeeze(Value value, const Dims &axes);
  /// Returns the image [n, ..., c] as [n, c, ...], or the reverse.
  Value channelsFirst(Value value, int64_t rank);
  Value channelsLast(Value value, int64_t rank);
  /// Applies the function that is fused into an operator.
  Value activate(Value value, fb::Activation activation);

  //--- Outputs.
  /// Sets an output, quantized as the file says, unless `value` is stored already.
  void setOutput(Value value, unsigned index = 0);

  ModelState &model;
  GraphState &graph;
  const fb::Operator &proto;

private:
  std::string uniqueName(const char *what);
  bool isOwn(const std::string &name) const;
  void rename(const std::string &from, const std::string &to);
  Value dequantize(Value value, const fb::Tensor &tensor, int64_t axis);
  Value quantize(Value value, const fb::Tensor &tensor);
  std::vector<Value> scaleAndZero(const fb::Tensor &tensor);

  std::string outputName; ///< what names the operator in messages: an input where it has none
  const int firstNode;    ///< of the graph, that this operator has made
  std::vector<std::string> madeReal; ///< integers of which it has made the real values
  bool hasFailed = false;
};

} // namespace atc::tflite

#endif // OPENATC_FRONTENDS_TFLITE_OPCONTEXT_H
