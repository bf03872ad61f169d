//===-- TokenSearch.cpp - searches for tokens as loops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/TokenSearch.h"

#include <cstring>
#include <limits>
#include <optional>

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/ops/SearchDecoder.h"
#include "llvm/Support/FormatVariadic.h"

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

/// What ONNX Runtime takes.
constexpr int64_t maxBeams = 128;

const OnnxAttributes toInt32 = {{"to", int64_t(TensorProto::INT32)}};
const OnnxAttributes toTruth = {{"to", int64_t(TensorProto::BOOL)}};

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
    // The type of the scores is that of the penalties; a model may state either.
    for (const std::string &tensor : {node.output_size() > 1 ? node.output(1) : "", input(-1, 5)})
      if (scoreType == TensorProto::FLOAT && !tensor.empty())
        scoreType = typeOf(tensor);
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
    const std::string problem = checkNumbers();
    if (!problem.empty())
      return problem;
    if (isBeam && (hasInput(node, 10) || hasInput(node, 11) || node.output_size() > 2))
      return "inputs 'decoder_input_ids' and 'logits_processor' and output 'scores' are not "
             "supported";
    const std::string wrong = decoder.read(*decoderGraph);
    const int64_t size = integerOf(node, "vocab_size", -1);
    if (wrong.empty() && decoder.vocabulary > 0 && size > decoder.vocabulary)
      return "attribute 'vocab_size' is " + std::to_string(size) +
             ", but the decoder has scores of " + std::to_string(decoder.vocabulary) + " tokens";
    return wrong;
  }

  /// Returns what is wrong with the inputs that are constants.
  std::string checkNumbers() {
    auto wrong = [](StringRef name, double value, const Twine &wanted) {
      const bool isWhole = value == double(int64_t(value));
      return (Twine("input '") + name + "' is " +
              (isWhole ? Twine(int64_t(value)).str() : llvm::formatv("{0:F4}", value).str()) +
              ", expected " + wanted)
          .str();
    };
    const std::optional<double> longest = numberOf(node.input(1)), punished = numberOf(penalty());
    const std::optional<int64_t> length = promptLength();
    if (longest && *longest <= double(length.value_or(0)))
      return wrong("max_length", *longest,
                   length ? "more than the " + Twine(*length) + " tokens of 'input_ids'"
                          : Twine("a positive number"));
    if (punished && !(*punished > 0))
      return wrong("repetition_penalty", *punished, "a positive number");
    if (!isBeam)
      return "";
    const std::optional<double> width = numberOf(node.input(3)), wanted = numberOf(node.input(4));
    if (width && !(*width >= 1 && *width <= double(maxBeams)))
      return wrong("num_beams", *width, "1 to " + Twine(maxBeams));
    if (wanted && !(*wanted >= 1 && *wanted <= width.value_or(double(maxBeams))))
      return wrong("num_return_sequences", *wanted,
                   width ? "1 to the " + Twine(int64_t(*width)) + " of 'num_beams'"
                         : "1 to 'num_beams'");
    return "";
  }

  /// Returns the number that an initializer or constant of one element states.
  std::optional<double> numberOf(const std::string &tensor) const {
    for (const TensorProto &weight : main.initializer())
      if (weight.name() == tensor)
        return firstNumber(weight);
    for (const NodeProto &made : main.node())
      if (made.op_type() == "Constant" && made.output_size() == 1 && made.output(0) == tensor)
        if (const onnx::AttributeProto *value = findAttribute(made, "value"))
          return firstNumber(value->t());
    return std::nullopt;
  }
  static std::optional<double> firstNumber(const TensorProto &tensor) {
    auto first = [&](const auto &listed) -> std::optional<double> {
      using Number = std::decay_t<decltype(listed.Get(0))>;
      Number value;
      if (listed.size() == 1)
        return double(listed.Get(0));
      if (tensor.raw_data().size() != sizeof(value))
        return std::nullopt;
      std::memcpy(&value, tensor.raw_data().data(), sizeof(value));
      return double(value);
    };
    switch (tensor.data_type()) {
    case TensorProto::INT32:
      return first(tensor.int32_data());
    case TensorProto::INT64:
      return first(tensor.int64_data());
    case TensorProto::FLOAT:
      return first(tensor.float_data());
    default:
      return std::nullopt;
    }
  }
  /// Returns the length of the prompt where it is stated.
  std::optional<int64_t> promptLength() const {
    const onnx::ValueInfoProto *ids = find(main.input(), node.input(0));
    const onnx::TensorShapeProto *shape = ids ? &ids->type().tensor_type().shape() : nullptr;
    if (!shape || shape->dim_size() != 2 || !shape->dim(1).has_dim_value())
      return std::nullopt;
    return shape->dim(1).dim_value();
  }
  static const onnx::ValueInfoProto *
  find(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> &infos,
       const std::string &name) {
    auto found = llvm::find_if(infos, [&](const auto &info) { return info.name() == name; });
    return found == infos.end() ? nullptr : &*found;
  }
  /// Returns the type of a tensor where the model states it, else f32.
  int64_t typeOf(const std::string &tensor) const {
    for (const auto *infos : {&main.output(), &main.value_info(), &main.input()})
      if (const onnx::ValueInfoProto *info = find(*infos, tensor);
          info && info->type().tensor_type().elem_type())
        return info->type().tensor_type().elem_type();
    for (const TensorProto &weight : main.initializer())
      if (weight.name() == tensor)
        return weight.data_type();
    return TensorProto::FLOAT;
  }

  /// Lets a run fail where an input, which is no constant, is not as `condition` tells.
  std::string required(const std::string &x, const std::string &condition, StringRef input,
                       StringRef wanted) {
    return outer.require(
        x, condition, describeNode(node) + ": input '" + input.str() + "' must be " + wanted.str());
  }
  std::string isAtMost(const std::string &x, const std::string &limit) {
    return outer.make("Not", {outer.make("Greater", {x, limit})});
  }
  /// Returns a number of sequences, from 1 to `limit`, as a vector.
  std::string countOf(int at, const std::string &limit, StringRef input, StringRef wanted) {
    const std::string count = vectorOf(node.input(at));
    const std::string isPositive = outer.make("Greater", {count, outer.integers({0})});
    return required(count, outer.make("And", {isPositive, isAtMost(count, limit)}), input, wanted);
  }
  /// Returns a real input as f32.
  std::string real(const std::string &x) { return outer.make("Cast", {x}, toReal); }

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
    if (!numberOf(node.input(1)) || !promptLength())
      maxLength = required(maxLength, w.make("Greater", {maxLength, length}), "max_length",
                           "more than the number of tokens of 'input_ids'");
    if (!penalty().empty()) {
      repetition = real(penalty());
      if (!numberOf(penalty()))
        repetition = required(repetition, w.make("Greater", {repetition, w.number(0)}),
                              "repetition_penalty", "a positive number");
    }
    rows = batch;
    if (isBeam) {
      // The beams of a row follow each other, and all but the first one start hopeless.
      beams = numberOf(node.input(3)) ? vectorOf(node.input(3))
                                      : countOf(3, w.integers({maxBeams}), "num_beams", "1 to 128");
      results = numberOf(node.input(3)) && numberOf(node.input(4))
                    ? vectorOf(node.input(4))
                    : countOf(4, beams, "num_return_sequences", "1 to 'num_beams'");
      lengthPower = input(-1, 5).empty() ? w.number(1) : real(input(-1, 5));
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
    if (const int64_t size = integerOf(node, "vocab_size", -1); size > 0) {
      if (decoder.vocabulary < 1)
        scores =
            w.require(scores, w.make("Not", {w.make("Less", {w.dim(scores, 1), w.index(size)})}),
                      describeNode(node) +
                          ": the decoder has scores of fewer tokens than "
                          "the " +
                          std::to_string(size) + " of attribute 'vocab_size'");
      scores = w.slice(scores, 0, size, 1);
    }
    if (isBeam)
      scores = w.make("LogSoftmax", {scores}, {{"axis", int64_t(-1)}});
    const std::string sequence = w.make("Cast", {carried("sequence")}, toIndex);
    const OnnxAttributes alongRow = {{"axis", int64_t(1)}};
    const std::string lowest = w.number(std::numeric_limits<float>::lowest());
    if (!penalty().empty()) {
      const std::string old = w.make("GatherElements", {scores, sequence}, alongRow);
      const std::string changed =
          w.make("Where", {w.make("Less", {old, w.number(0)}), w.make("Mul", {old, repetition}),
                           w.make("Div", {old, repetition})});
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
    // A token outside of the vocabulary ends no search, which needs no shortest length then.
    if (!minLength().empty() && eos() >= 0 && numberOf(minLength()).value_or(1) > 0) {
      const std::string isShort =
          w.make("Less", {w.dim(sequence, 1), w.make("Cast", {minLength()}, toIndex)});
      const std::string count = w.make("Reshape", {w.dim(scores, 1), w.integers({})});
      const std::string isEnd =
          w.make("Equal", {w.make("Range", {w.index(0), count, w.index(1)}), w.index(eos())});
      scores = w.make("Where", {w.make("And", {isShort, isEnd}), lowest, scores});
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
    give(0, carried("ids"), decoder.types[0]);
    give(1, carried("positions"), decoder.types[1]);
    give(2, carried("mask"), decoder.types[2]);
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
    return w.make("Div", {scores, w.make("Pow", {length, lengthPower})});
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
    auto [bestScores, best] = keepBest(w, last["kept_scores"], last["kept"], scores, rest, results);
    w.add("Identity", {best}, {result});
    if (!scoresOut.empty())
      w.add("Cast", {bestScores}, {scoresOut}, {{"to", scoreType}});
  }

  GraphProto &main;
  NodeProto &node;
  const bool isBeam;
  GraphProto body;
  SearchWriter outer, inner;
  GraphProto *decoderGraph = nullptr;
  SearchDecoder decoder;
  std::string maxLength, batch, rows, beams, twice, rank, first, beamScores;
  std::string one, padding, trips, results, repetition, lengthPower;
  int64_t scoreType = TensorProto::FLOAT;
  /// What the loop carries: names and initial values.
  std::vector<std::pair<std::string, std::string>> states;
};

} // namespace

bool isTokenSearch(const NodeProto &node) {
  return node.domain() == "com.microsoft" &&
         (node.op_type() == "GreedySearch" || node.op_type() == "BeamSearch");
}

/// Returns what the names of a search's values begin with. Nodes may share a name, but no outputs.
static std::string prefixOf(const NodeProto &node) {
  return (node.output_size() ? node.output(0) : nameOf(node)) + "/";
}

bool expandTokenSearches(GraphProto &graph, int64_t opset, Diagnostics &diagnostics) {
  bool isFine = true;
  const int count = graph.node_size();
  llvm::SmallVector<int> done;
  for (int i = 0; i < count; ++i) {
    if (!isTokenSearch(graph.node(i)))
      continue;
    NodeProto node;
    node.Swap(graph.mutable_node(i)); // appending moves the nodes
    std::string problem = opset < oldestSearchOpset
                              ? "needs opset " + std::to_string(oldestSearchOpset)
                              : TokenSearch(graph, node, prefixOf(node)).expand();
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
