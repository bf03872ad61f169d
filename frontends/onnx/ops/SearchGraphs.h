//===-- SearchGraphs.h - graphs of a search for tokens --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_SEARCHGRAPHS_H
#define OPENATC_FRONTENDS_ONNX_OPS_SEARCHGRAPHS_H

#include "frontends/onnx/ops/FunctionWriter.h"

namespace atc::onnx_import {

using Names = std::vector<std::string>;
using Ints = llvm::SmallVector<int64_t>;

/// The largest number of beams, as in ONNX Runtime.
constexpr int64_t maxBeams = 128;

/// The forms of decoders that attribute 'model_type' names.
enum ModelType : int64_t { Gpt = 0, T5 = 1, Whisper = 2 };

inline const OnnxAttributes toInt32 = {{"to", int64_t(onnx::TensorProto::INT32)}};

/// Writes nodes to one graph, and constants that it reads to the graph around it.
class SearchWriter {
public:
  SearchWriter(onnx::GraphProto &graph, onnx::GraphProto &constants, std::string prefix)
      : graph(graph), constants(constants), prefix(std::move(prefix)) {}

  /// Adds a node of one or more outputs.
  void add(const char *op, const Names &inputs, const Names &outputs,
           const OnnxAttributes &attributes = {}) {
    onnx::NodeProto &node = addOnnxNode(graph, op, outputs.front(), inputs, attributes);
    for (const std::string &output : outputs)
      node.add_output(output);
  }
  /// Makes the last node one of com.microsoft.
  void setMicrosoft() { graph.mutable_node(graph.node_size() - 1)->set_domain("com.microsoft"); }
  std::string name(const llvm::Twine &own) const { return (llvm::Twine(prefix) + own).str(); }
  /// Adds a node of one output and returns that output's name.
  std::string make(const char *op, const Names &inputs, const OnnxAttributes &attributes = {}) {
    const std::string output = name("value" + llvm::Twine(graph.node_size()));
    add(op, inputs, {output}, attributes);
    return output;
  }
  /// Makes two outputs: elements and their indices.
  std::pair<std::string, std::string> topK(const std::string &x, const std::string &count,
                                           bool largest = true) {
    const std::string values = name("value" + llvm::Twine(graph.node_size())),
                      indices = values + "/i";
    add("TopK", {x, count}, {values, indices},
        {{"axis", int64_t(1)}, {"largest", int64_t(largest)}, {"sorted", int64_t(1)}});
    return {values, indices};
  }

  /// Return constants: a vector of i64, and scalars of i64, i32 and f32.
  std::string integers(const Ints &values) {
    return constant(onnx::TensorProto::INT64, {int64_t(values.size())}, values);
  }
  std::string index(int64_t value) { return constant(onnx::TensorProto::INT64, {}, Ints{value}); }
  std::string token(int64_t value) {
    return constant(onnx::TensorProto::INT32, {}, std::vector<int32_t>{int32_t(value)});
  }
  std::string number(float value) {
    return constant(onnx::TensorProto::FLOAT, {}, std::vector<float>{value});
  }

  /// Returns x[..., begin:end, ...] along an axis.
  std::string slice(const std::string &x, int64_t begin, int64_t end, int64_t axis) {
    return make("Slice", {x, integers({begin}), integers({end}), integers({axis})});
  }
  /// Returns `x` of another shape.
  std::string reshape(const std::string &x, const Ints &shape) {
    return make("Reshape", {x, integers(shape)});
  }
  /// Returns the parts behind each other along an axis.
  std::string concat(const Names &parts, int64_t axis) {
    return make("Concat", parts, {{"axis", axis}});
  }
  /// Returns one dim of `x` as a vector.
  std::string dim(const std::string &x, int64_t axis) {
    return make("Gather", {make("Shape", {x}), integers({axis})});
  }
  std::string gather(const std::string &x, const std::string &at, int64_t axis) {
    return make("Gather", {x, at}, {{"axis", axis}});
  }
  /// Returns `x`; a run fails with the sentence where the condition does not hold.
  std::string require(const std::string &x, const std::string &condition,
                      const std::string &sentence) {
    return make("Require", {x, condition}, {{"message", sentence}});
  }
  /// Returns 0, 1, ... `count` - 1 (a vector of one number) times `factor`, as a column.
  std::string steps(const std::string &count, const std::string &factor) {
    const std::string all =
        make("Range", {index(0), make("Reshape", {count, integers({})}), index(1)});
    return make("Mul", {reshape(all, {-1, 1}), factor});
  }

private:
  template <typename T>
  std::string constant(int type, llvm::ArrayRef<int64_t> dims, const T &values) {
    const std::string own = name("constant" + llvm::Twine(constants.initializer_size()));
    addOnnxConstant(constants, own, type, dims,
                    values.empty() ? llvm::StringRef() : bytesOf(values));
    return own;
  }

  onnx::GraphProto &graph, &constants;
  std::string prefix;
};

/// A graph of an attribute, which becomes nodes of another one: an encoder or a decoder.
struct SearchGraph {
  onnx::GraphProto *graph = nullptr;
  /// The interface of a run: inputs that have no stored value, and outputs.
  std::vector<onnx::ValueInfoProto> inputs, outputs;

  explicit operator bool() const { return graph; }
  /// Puts the inputs of a decoder of the form of GPT-2 in order: input_ids, position_ids and
  /// attention_mask, which are found by name, and one past [2, batch, heads, length, size] per
  /// layer. The outputs are logits and one present per layer. Returns what is wrong with it.
  std::string orderDecoder();
  /// Finds the graph and its interface.
  void read(onnx::NodeProto &node, llvm::StringRef attribute);
  /// Renames all values, so that no other graph has these names: they begin with `prefix`.
  void nameOwn(const std::string &prefix);
  /// Moves the nodes to `nodes` and the weights to `weights`.
  void moveTo(onnx::GraphProto &nodes, onnx::GraphProto &weights);

  const std::string &input(size_t i) const { return inputs[i].name(); }
  const std::string &output(size_t i) const { return outputs[i].name(); }
  /// Returns a dim of an input, or -1 where it is no number.
  int64_t inputDim(size_t i, int dim, int rank) const;
  int64_t inputType(size_t i) const { return inputs[i].type().tensor_type().elem_type(); }
  /// Returns the size of the vocabulary, which is the last dim of logits, or 0 where the graph does
  /// not state it.
  int64_t vocabulary() const;
};

/// Which inputs and outputs an encoder and its decoder have.
struct CoderForm {
  bool hasFirst = false; ///< the encoder makes the logits of the first tokens
  int64_t layers = 0;
  size_t firstPast = 0; ///< the input of the decoder

  /// Reads them; returns what is wrong. The encoder: input_ids or features, for T5
  /// encoder_attention_mask, and decoder_input_ids to logits of the first token,
  /// encoder_hidden_states, and a key and a value per layer of the decoder's own attention and of
  /// that to the encoder. It may also only make the last ones, from all but decoder_input_ids. The
  /// decoder: input_ids, for T5 encoder_attention_mask, maybe encoder_hidden_states, and the keys
  /// and values to logits and the new own keys and values.
  std::string read(int64_t type, const SearchGraph &encoder, const SearchGraph &decoder);
};

/// Returns a float attribute of a node.
float numberOf(const onnx::NodeProto &node, llvm::StringRef name, float otherwise);

/// Makes the numbers that choose the tokens of Sampling, [steps, batch, 1] in [0, 1).
std::string makeChances(SearchWriter &w, const onnx::NodeProto &node, const std::string &steps,
                        const std::string &batch);
/// Returns tokens that `chance`, [rows, 1], chooses by their scores, [rows, vocabulary]. The least
/// probable ones, whose probabilities sum up to less than 1 - top_p, are hardly chosen.
std::string sampleTokens(SearchWriter &w, const onnx::NodeProto &node, const std::string &scores,
                         const std::string &chance);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_SEARCHGRAPHS_H
