//===-- TokenSearch.cpp - searches for tokens as loops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/TokenSearch.h"

#include <limits>

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/ops/FunctionWriter.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::onnx_import {

namespace {

using llvm::StringRef;
using llvm::Twine;
using Names = std::vector<std::string>;
using Ints = llvm::SmallVector<int64_t>;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

/// The nodes are written in forms that all opsets from here on have.
constexpr int64_t oldestSearchOpset = 13;

const OnnxAttributes toInt32 = {{"to", int64_t(TensorProto::INT32)}};
const OnnxAttributes toTruth = {{"to", int64_t(TensorProto::BOOL)}};

/// Writes nodes to one graph, and constants that it reads to the graph around it.
class SearchWriter {
public:
  SearchWriter(GraphProto &graph, GraphProto &constants, std::string prefix)
      : graph(graph), constants(constants), prefix(std::move(prefix)) {}

  void add(const char *op, const Names &inputs, const Names &outputs,
           const OnnxAttributes &attributes = {}) {
    NodeProto &node = addOnnxNode(graph, op, outputs.front(), inputs, attributes);
    for (const std::string &output : outputs)
      node.add_output(output);
  }
  std::string name(const Twine &own) const { return (Twine(prefix) + own).str(); }
  std::string make(const char *op, const Names &inputs, const OnnxAttributes &attributes = {}) {
    const std::string output = name("value" + Twine(graph.node_size()));
    add(op, inputs, {output}, attributes);
    return output;
  }
  /// Makes two outputs: elements and their indices.
  std::pair<std::string, std::string> topK(const std::string &x, const std::string &count,
                                           bool largest = true) {
    const std::string values = name("value" + Twine(graph.node_size())), indices = values + "/i";
    add("TopK", {x, count}, {values, indices},
        {{"axis", int64_t(1)}, {"largest", int64_t(largest)}, {"sorted", int64_t(1)}});
    return {values, indices};
  }

  /// Return constants: a vector of i64, and scalars of i64, i32 and f32.
  std::string integers(const Ints &values) {
    return constant(TensorProto::INT64, {int64_t(values.size())}, values);
  }
  std::string index(int64_t value) { return constant(TensorProto::INT64, {}, Ints{value}); }
  std::string token(int64_t value) {
    return constant(TensorProto::INT32, {}, std::vector<int32_t>{int32_t(value)});
  }
  std::string number(float value) {
    return constant(TensorProto::FLOAT, {}, std::vector<float>{value});
  }

  std::string slice(const std::string &x, int64_t begin, int64_t end, int64_t axis) {
    return make("Slice", {x, integers({begin}), integers({end}), integers({axis})});
  }
  std::string reshape(const std::string &x, const Ints &shape) {
    return make("Reshape", {x, integers(shape)});
  }
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
  /// Returns 0, 1, ... `count` - 1 (a vector of one number) times `factor`, as a column.
  std::string steps(const std::string &count, const std::string &factor) {
    const std::string all =
        make("Range", {index(0), make("Reshape", {count, integers({})}), index(1)});
    return make("Mul", {reshape(all, {-1, 1}), factor});
  }

private:
  template <typename T>
  std::string constant(int type, llvm::ArrayRef<int64_t> dims, const T &values) {
    const std::string own = name("constant" + Twine(constants.initializer_size()));
    addOnnxConstant(constants, own, type, dims, values.empty() ? StringRef() : bytesOf(values));
    return own;
  }

  GraphProto &graph, &constants;
  std::string prefix;
};

/// Renames what `names` has, in nodes and in the graphs inside them.
void rename(google::protobuf::RepeatedPtrField<NodeProto> &nodes,
            const llvm::StringMap<std::string> &names) {
  auto replace = [&](std::string &name) {
    if (auto found = names.find(name); found != names.end())
      name = found->second;
  };
  for (NodeProto &node : nodes) {
    for (std::string &input : *node.mutable_input())
      replace(input);
    for (std::string &output : *node.mutable_output())
      replace(output);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g()) {
        rename(*attribute.mutable_g()->mutable_node(), names);
        for (onnx::ValueInfoProto &output : *attribute.mutable_g()->mutable_output())
          replace(*output.mutable_name());
      }
  }
}

/// A decoder: input_ids, position_ids, attention_mask and one past [2, batch, heads, length, size]
/// per layer to logits and one present per layer.
struct Decoder {
  Names inputs, outputs; ///< after inlining
  std::vector<onnx::ValueInfoProto> pasts;
  int64_t idType = 0;

  /// Reads the interface; returns what is wrong with it.
  std::string read(const GraphProto &graph) {
    llvm::StringSet<> stored;
    for (const TensorProto &weight : graph.initializer())
      stored.insert(weight.name());
    for (const onnx::ValueInfoProto &input : graph.input())
      if (!stored.contains(input.name())) {
        if (inputs.size() >= 3)
          pasts.push_back(input);
        inputs.push_back(input.name());
        if (inputs.size() == 1)
          idType = input.type().tensor_type().elem_type();
      }
    for (const onnx::ValueInfoProto &output : graph.output())
      outputs.push_back(output.name());
    if (inputs.size() < 4 || outputs.size() != inputs.size() - 2)
      return "its decoder has " + std::to_string(inputs.size()) + " inputs and " +
             std::to_string(outputs.size()) +
             " outputs, expected input_ids, position_ids, attention_mask and one past per layer, "
             "and logits and one present per layer";
    for (const onnx::ValueInfoProto &past : pasts) {
      const onnx::TensorShapeProto &shape = past.type().tensor_type().shape();
      if (shape.dim_size() != 5 || shape.dim(2).dim_value() < 1 || shape.dim(4).dim_value() < 1)
        return "input '" + past.name() +
               "' of its decoder must have the shape [2, batch, heads, length, size], of which "
               "the heads and their size are numbers";
    }
    return "";
  }

  /// Gives all values names of their own.
  void nameOwn(GraphProto &graph, const SearchWriter &w) {
    llvm::StringMap<std::string> names;
    auto own = [&](const std::string &name) {
      if (!name.empty())
        names[name] = w.name("decoder/" + name);
    };
    llvm::for_each(inputs, own);
    for (const TensorProto &weight : graph.initializer())
      own(weight.name());
    for (const NodeProto &node : graph.node())
      llvm::for_each(node.output(), own);
    for (Names *list : {&inputs, &outputs})
      for (std::string &name : *list)
        if (auto found = names.find(name); found != names.end())
          name = found->second;
    rename(*graph.mutable_node(), names);
    for (TensorProto &weight : *graph.mutable_initializer())
      weight.set_name(names[weight.name()]);
  }
};

/// One search. Greedy ones have one beam, which is not scored.
class TokenSearch {
public:
  TokenSearch(GraphProto &main, NodeProto &node, const std::string &prefix)
      : main(main), node(node), isBeam(node.op_type() == "BeamSearch"), outer(main, main, prefix),
        inner(body, main, prefix + "loop/") {}

  /// Writes the loop; returns what is wrong with the node.
  std::string expand() {
    std::string problem = check();
    if (!problem.empty())
      return problem;
    decoder.nameOwn(*decoderGraph, inner);
    body.set_name(inner.name("body"));
    prepare();
    writeBody();
    finish();
    return "";
  }

private:
  /// The inputs, by the place that they have for a greedy search and for one with beams.
  std::string input(int greedy, int beam) const {
    const int at = isBeam ? beam : greedy;
    return at >= 0 && hasInput(node, at) ? node.input(at) : "";
  }
  std::string vocabMask() const { return input(4, 7); }
  std::string prefixMask() const { return input(5, 8); }
  std::string minLength() const { return input(2, 2); }
  std::string penalty() const { return input(3, 6); }
  int64_t eos() const { return integerOf(node, "eos_token_id", 0); }
  std::string pad() { return outer.token(integerOf(node, "pad_token_id", 0)); }

  std::string check() {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.name() == "decoder" && attribute.has_g())
        decoderGraph = attribute.mutable_g();
    if (integerOf(node, "model_type", 0) != 0)
      return "attribute 'model_type' is " + std::to_string(integerOf(node, "model_type", 0)) +
             ", expected 0: decoders of the form of GPT-2 are supported";
    if (findAttribute(node, "init_decoder"))
      return "attribute 'init_decoder' is not supported; export the model with one decoder";
    if (!decoderGraph || !hasInput(node, 0) || !hasInput(node, 1))
      return "attribute 'decoder' and inputs 'input_ids' and 'max_length' are needed";
    if (isBeam && !(hasInput(node, 3) && hasInput(node, 4)))
      return "inputs 'num_beams' and 'num_return_sequences' are needed";
    if (isBeam && (hasInput(node, 10) || hasInput(node, 11) || node.output_size() > 2))
      return "inputs 'decoder_input_ids' and 'logits_processor' and output 'scores' are not "
             "supported";
    return decoder.read(*decoderGraph);
  }

  std::string vectorOf(const std::string &x) {
    return outer.reshape(outer.make("Cast", {x}, toIndex), {1});
  }
  std::string carried(const Twine &name) const { return inner.name("in/" + name); }

  /// What the loop starts with.
  void prepare() {
    SearchWriter &w = outer;
    std::string ids = w.make("Cast", {node.input(0)}, toInt32);
    maxLength = vectorOf(node.input(1));
    // Positions count what is no padding, also where a mask is given.
    std::string counted = w.make("Cast", {w.make("Not", {w.make("Equal", {ids, pad()})})}, toInt32);
    std::string mask = input(6, 9).empty() ? counted : w.make("Cast", {input(6, 9)}, toInt32);
    batch = w.dim(ids, 0);
    const std::string length = w.dim(ids, 1);
    rows = batch;
    if (isBeam) {
      // The beams of a row follow each other, and all but the first one start hopeless.
      beams = vectorOf(node.input(3));
      rows = w.make("Mul", {batch, beams});
      const std::string shape = w.concat({batch, beams, length}, 0);
      const std::string flat = w.concat({rows, w.integers({-1})}, 0);
      for (std::string *x : {&ids, &mask, &counted})
        *x = w.make("Reshape",
                    {w.make("Expand", {w.make("Unsqueeze", {*x, w.integers({1})}), shape}), flat});
      first = w.steps(batch, beams);
      const std::string number =
          w.make("Reshape", {w.steps(beams, w.index(1)), w.concat({w.integers({1}), beams}, 0)});
      const std::string start =
          w.make("Where", {w.make("Equal", {number, w.index(0)}), w.number(0), w.number(-1e9f)});
      beamScores = w.make(
          "Reshape", {w.make("Expand", {start, w.concat({batch, beams}, 0)}), w.integers({-1, 1})});
      twice = w.make("Mul", {beams, w.integers({2})});
      rank = w.make("Reshape", {w.steps(twice, w.index(1)), w.integers({1, -1})});
    }
    const std::string column = w.concat({rows, w.integers({1})}, 0);
    one = w.make("Expand", {w.token(1), column});
    const std::string sums = w.make("CumSum", {counted, w.index(1)});
    const std::string positions = w.make("Mul", {counted, w.make("Sub", {sums, w.token(1)})});
    eosColumn = w.make("Expand", {w.index(eos()), column});
    padding = w.make("Expand", {pad(), w.concat({rows, maxLength}, 0)});
    states = {
        {"ids", ids},
        {"positions", positions},
        {"mask", mask},
        {"next", w.slice(sums, -1, toEnd, 1)},
        {"sequence", ids},
        {"done",
         w.make("Cast", {w.make("Expand", {w.token(0), w.concat({batch, w.integers({1})}, 0)})},
                toTruth)}};
    if (isBeam) {
      const std::string kept = w.concat({batch, beams}, 0);
      const std::string lowest = w.number(-std::numeric_limits<float>::infinity());
      states.push_back({"scores", beamScores});
      states.push_back({"kept_scores", w.make("Expand", {lowest, kept})});
      states.push_back({"kept", w.make("Expand", {pad(), w.concat({kept, maxLength}, 0)})});
    }
    for (auto [layer, past] : llvm::enumerate(decoder.pasts)) {
      const onnx::TypeProto_Tensor &type = past.type().tensor_type();
      const std::string shape = w.concat(
          {w.integers({2}), rows,
           w.integers({type.shape().dim(2).dim_value(), 0, type.shape().dim(4).dim_value()})},
          0);
      states.push_back(
          {"past" + std::to_string(layer), w.make("Cast", {w.make("Expand", {w.number(0), shape})},
                                                  {{"to", int64_t(type.elem_type())}})});
    }
    trips = w.make("Sub", {maxLength, length});
  }

  /// The scores of the next tokens, [rows, vocabulary].
  std::string nextScores() {
    SearchWriter &w = inner;
    std::string scores = w.slice(decoder.outputs[0], -1, toEnd, 1);
    scores = w.make("Cast", {w.reshape(scores, {0, -1})}, toReal);
    if (const int64_t size = integerOf(node, "vocab_size", -1); size > 0)
      scores = w.slice(scores, 0, size, 1);
    if (isBeam)
      scores = w.make("LogSoftmax", {scores}, {{"axis", int64_t(-1)}});
    const std::string sequence = w.make("Cast", {carried("sequence")}, toIndex);
    const OnnxAttributes alongRow = {{"axis", int64_t(1)}};
    const std::string lowest = w.number(std::numeric_limits<float>::lowest());
    if (!penalty().empty()) {
      const std::string old = w.make("GatherElements", {scores, sequence}, alongRow);
      const std::string changed =
          w.make("Where", {w.make("Less", {old, w.number(0)}), w.make("Mul", {old, penalty()}),
                           w.make("Div", {old, penalty()})});
      scores = w.make("ScatterElements", {scores, sequence, changed}, alongRow);
    }
    if (const int64_t size = integerOf(node, "no_repeat_ngram_size", 0); size > 0) {
      scores = w.make("NGramRepeatBlock", {sequence, scores}, {{"ngram_size", size}});
      body.mutable_node(body.node_size() - 1)->set_domain("com.microsoft");
    }
    auto isZero = [&](const std::string &mask) { return w.make("Equal", {mask, w.token(0)}); };
    if (!vocabMask().empty())
      scores = w.make("Where", {isZero(vocabMask()), lowest, scores});
    if (!prefixMask().empty()) {
      std::string mask = prefixMask();
      if (isBeam) {
        const std::string wide = w.make("Unsqueeze", {mask, w.integers({1})});
        const std::string shape = w.concat({batch, beams, w.dim(mask, 1)}, 0);
        mask = w.make("Reshape", {w.make("Expand", {wide, shape}), w.make("Shape", {scores})});
      }
      const std::string isFirst = w.make("Equal", {carried("step"), w.index(0)});
      scores = w.make("Where", {w.make("And", {isFirst, isZero(mask)}), lowest, scores});
    }
    if (!minLength().empty()) {
      const std::string isShort =
          w.make("Less", {w.dim(sequence, 1), w.make("Cast", {minLength()}, toIndex)});
      const std::string old = w.make("GatherElements", {scores, eosColumn}, alongRow);
      scores = w.make("ScatterElements",
                      {scores, eosColumn, w.make("Where", {isShort, lowest, old})}, alongRow);
    }
    return scores;
  }

  void writeBody() {
    SearchWriter &w = inner;
    body.add_input()->set_name(carried("step"));
    body.add_input()->set_name(carried("go"));
    for (auto &[name, value] : states)
      body.add_input()->set_name(carried(name));
    auto give = [&](int number, const std::string &value, int64_t type) {
      w.add("Cast", {value}, {decoder.inputs[number]}, {{"to", type}});
    };
    give(0, carried("ids"), decoder.idType);
    give(1, carried("positions"), decoder.idType);
    give(2, carried("mask"), decoder.idType);
    for (size_t layer = 0; layer < decoder.pasts.size(); ++layer)
      w.add("Identity", {carried("past" + Twine(layer))}, {decoder.inputs[3 + layer]});
    for (NodeProto &own : *decoderGraph->mutable_node())
      body.add_node()->Swap(&own);
    for (TensorProto &weight : *decoderGraph->mutable_initializer())
      main.add_initializer()->Swap(&weight);

    const std::string scores = nextScores();
    std::string tokens, done, from;
    std::vector<std::string> kept;
    if (isBeam) {
      chooseBeams(scores, tokens, done, from, kept);
    } else {
      tokens = w.make("ArgMax", {scores}, {{"axis", int64_t(-1)}, {"keepdims", int64_t(1)}});
      done = w.make("Or", {carried("done"), w.make("Equal", {tokens, w.index(eos())})});
      tokens = w.make("Where", {done, pad(), w.make("Cast", {tokens}, toInt32)});
    }
    auto rowsOf = [&](const std::string &x, int64_t axis) {
      return from.empty() ? x : w.gather(x, from, axis);
    };
    const std::string allDone =
        w.make("Cast",
               {w.make("ReduceMin", {w.make("Cast", {done}, toInt32)}, {{"keepdims", int64_t(0)}})},
               toTruth);
    Names results = {w.make("Not", {allDone}),
                     tokens,
                     rowsOf(carried("next"), 0),
                     w.concat({rowsOf(carried("mask"), 0), one}, 1),
                     w.make("Add", {rowsOf(carried("next"), 0), w.token(1)}),
                     w.concat({rowsOf(carried("sequence"), 0), tokens}, 1),
                     done};
    llvm::append_range(results, kept);
    for (size_t layer = 0; layer < decoder.pasts.size(); ++layer)
      results.push_back(rowsOf(decoder.outputs[1 + layer], 1));
    for (const std::string &result : results)
      // A value must not be an output twice, and none may be one of the graph around.
      body.add_output()->set_name(w.make("Identity", {result}));
  }

  /// Sequences [rows, length] with all of the longest length.
  std::string padded(SearchWriter &w, const std::string &sequence) {
    const std::string rest =
        w.make("Slice", {padding, w.dim(sequence, 1), maxLength, w.integers({1})});
    return w.concat({sequence, rest}, 1);
  }
  /// Scores are compared per token, of which longer sequences have more.
  std::string perToken(SearchWriter &w, const std::string &scores, const std::string &sequence) {
    const std::string length = w.make("Cast", {w.dim(sequence, 1)}, toReal);
    const std::string exponent = input(-1, 5).empty() ? w.number(1) : input(-1, 5);
    return w.make("Div", {scores, w.make("Pow", {length, exponent})});
  }
  /// Of the kept sequences and `others`, keeps the best ones.
  std::pair<std::string, std::string> keepBest(SearchWriter &w, const std::string &keptScores,
                                               const std::string &keptTokens,
                                               const std::string &scores, const std::string &others,
                                               const std::string &count) {
    const std::string all = w.concat({keptScores, scores}, 1);
    auto [best, at] = w.topK(all, count);
    const std::string begin = w.steps(batch, w.dim(all, 1));
    const std::string tokens = w.make(
        "Reshape", {w.concat({keptTokens, others}, 1), w.concat({w.integers({-1}), maxLength}, 0)});
    return {best, w.gather(tokens, w.make("Add", {at, begin}), 0)};
  }

  /// Of twice as many continuations as there are beams, those that end are kept as results, and
  /// the best of the others go on.
  void chooseBeams(const std::string &scores, std::string &tokens, std::string &done,
                   std::string &from, Names &kept) {
    SearchWriter &w = inner;
    const std::string lowest = w.number(-std::numeric_limits<float>::infinity());
    const std::string total = w.make("Add", {scores, carried("scores")});
    const std::string flat = w.make("Reshape", {total, w.concat({batch, w.integers({-1})}, 0)});
    const std::string vocabulary = w.dim(total, 1);
    auto [best, at] = w.topK(flat, twice);
    const std::string token = w.make("Mod", {at, vocabulary});
    const std::string row = w.make("Add", {w.make("Div", {at, vocabulary}), first});
    const std::string isEnd = w.make("Equal", {token, w.index(eos())});

    const std::string isKept = w.make("And", {w.make("And", {isEnd, w.make("Less", {rank, beams})}),
                                              w.make("Not", {carried("done")})});
    const std::string ended =
        w.make("Where", {isKept, perToken(w, best, carried("sequence")), lowest});
    auto [keptScores, keptTokens] =
        keepBest(w, carried("kept_scores"), carried("kept"), ended,
                 w.gather(padded(w, carried("sequence")), row, 0), beams);

    const std::string worst = w.slice(keptScores, -1, toEnd, 1);
    std::string stops = w.make("Greater", {worst, lowest});
    if (integerOf(node, "early_stopping", 0) == 0) {
      const std::string hope = perToken(w, w.slice(best, 0, 1, 1), carried("sequence"));
      stops = w.make("And", {stops, w.make("Not", {w.make("Less", {worst, hope})})});
    }
    done = w.make("Or", {carried("done"), stops});

    const std::string order = w.make("Add", {rank, w.make("Where", {isEnd, twice, w.index(0)})});
    const std::string chosen = w.topK(order, beams, /*largest=*/false).second;
    auto pick = [&](const std::string &x, const std::string &ifDone) {
      const std::string own = w.make("GatherElements", {x, chosen}, {{"axis", int64_t(1)}});
      return w.reshape(w.make("Where", {done, ifDone, own}), {-1, 1});
    };
    tokens = pick(w.make("Cast", {token}, toInt32), pad());
    from = w.reshape(pick(row, first), {-1});
    kept = {pick(best, w.number(0)), keptScores, keptTokens};
  }

  /// Calls the loop and makes the outputs.
  void finish() {
    SearchWriter &w = outer;
    Names inputs = {trips, ""}, outputs;
    llvm::StringMap<std::string> last;
    for (auto &[name, value] : states) {
      inputs.push_back(value);
      outputs.push_back(w.name("out/" + name));
      last[name] = outputs.back();
    }
    const std::string result = node.output(0),
                      scoresOut = node.output_size() > 1 ? node.output(1) : "";
    w.add("Loop", inputs, outputs);
    onnx::AttributeProto &attribute = *main.mutable_node(main.node_size() - 1)->add_attribute();
    attribute.set_name("body");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.mutable_g()->Swap(&body);
    if (!isBeam) {
      w.add("Identity", {padded(w, last["sequence"])}, {result});
      return;
    }
    const std::string kept = w.concat({batch, beams}, 0);
    const std::string scores =
        w.make("Where", {last["done"], w.number(-std::numeric_limits<float>::infinity()),
                         w.make("Reshape", {perToken(w, last["scores"], last["sequence"]), kept})});
    const std::string rest =
        w.make("Reshape", {padded(w, last["sequence"]), w.concat({kept, maxLength}, 0)});
    auto [bestScores, best] =
        keepBest(w, last["kept_scores"], last["kept"], scores, rest, vectorOf(node.input(4)));
    w.add("Identity", {best}, {result});
    if (!scoresOut.empty())
      w.add("Identity", {bestScores}, {scoresOut});
  }

  GraphProto &main;
  NodeProto &node;
  const bool isBeam;
  GraphProto body;
  SearchWriter outer, inner;
  GraphProto *decoderGraph = nullptr;
  Decoder decoder;
  std::string maxLength, batch, rows, beams, twice, rank, first, beamScores;
  std::string one, eosColumn, padding, trips;
  /// What the loop carries: names and initial values.
  std::vector<std::pair<std::string, std::string>> states;
};

} // namespace

bool expandTokenSearches(GraphProto &graph, int64_t opset, Diagnostics &diagnostics) {
  auto isSearch = [](const NodeProto &node) {
    return node.domain() == "com.microsoft" &&
           (node.op_type() == "GreedySearch" || node.op_type() == "BeamSearch");
  };
  bool isFine = true;
  const int count = graph.node_size();
  llvm::SmallVector<int> done;
  for (int i = 0; i < count; ++i) {
    if (!isSearch(graph.node(i)))
      continue;
    NodeProto node;
    node.Swap(graph.mutable_node(i)); // appending moves the nodes
    std::string problem = opset < oldestSearchOpset
                              ? "needs opset " + std::to_string(oldestSearchOpset)
                              : TokenSearch(graph, node, nameOf(node) + "/").expand();
    if (!problem.empty())
      diagnostics.error("E14001", describeNode(node) + ": " + problem);
    isFine &= problem.empty();
    done.push_back(i);
  }
  for (int i : llvm::reverse(done))
    graph.mutable_node()->DeleteSubrange(i, 1);
  return isFine;
}

} // namespace atc::onnx_import
