//===-- TokenSearch.cpp - searches for tokens as loops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/TokenSearch.h"

#include <limits>

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/ops/SearchInputs.h"
#include "llvm/ADT/StringMap.h"

namespace atc::onnx_import {

namespace {

using llvm::StringRef;
using llvm::Twine;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

/// The nodes are written in forms that all opsets from here on have.
constexpr int64_t oldestSearchOpset = 13;

const OnnxAttributes toTruth = {{"to", int64_t(TensorProto::BOOL)}};

/// Expands the node of a search. Greedy searches and those that sample tokens have one beam, which
/// is not scored.
class TokenSearch : SearchInputs {
public:
  TokenSearch(GraphProto &home, llvm::ArrayRef<const GraphProto *> around, NodeProto &node,
              const std::string &prefix)
      : SearchInputs(home, around, node), outer(home, home, prefix),
        inner(body, home, prefix + "loop/") {}

  /// Writes the loop; returns what is wrong with the node.
  std::string expand() {
    std::string problem = check();
    if (!problem.empty())
      return problem;
    decoder.nameOwn(inner.name("decoder/"));
    if (firstDecoder)
      firstDecoder.nameOwn(inner.name("first/"));
    if (encoder)
      encoder.nameOwn(outer.name("encoder/"));
    body.set_name(inner.name("body"));
    if (type == Gpt)
      prepareDecoder();
    else
      runEncoder();
    writeBody();
    finish();
    return "";
  }

private:
  std::string pad() { return outer.token(integerOf(node, "pad_token_id", 0)); }

  std::string check() {
    std::string problem = checkNode();
    if (!problem.empty())
      return problem;
    decoder.read(node, "decoder");
    firstDecoder.read(node, "init_decoder");
    encoder.read(node, "encoder");
    if (type != Gpt && (!encoder || firstDecoder))
      return "attribute 'encoder' is needed with this model_type, and 'init_decoder' is not "
             "supported";
    problem = type == Gpt ? decoder.orderDecoder() : form.read(type, encoder, decoder);
    if (!problem.empty())
      return problem;
    if (firstDecoder) {
      problem = firstDecoder.orderDecoder();
      if (problem.empty() && firstDecoder.inputs.size() != decoder.inputs.size())
        problem = "its decoder has other inputs than 'decoder'";
      if (!problem.empty())
        return "attribute 'init_decoder': " + problem;
    }
    return checkVocabulary();
  }
  /// Returns whether scores are of too few tokens, and whether that is only known in a run.
  std::string checkVocabulary() {
    for (const SearchGraph *graph : {&decoder, &firstDecoder, form.hasFirst ? &encoder : nullptr}) {
      if (!graph || !*graph)
        continue;
      const int64_t size = graph->vocabulary();
      isVocabularyKnown &= size > 0;
      if (size > 0 && vocabulary() > size)
        return "attribute 'vocab_size' is " + std::to_string(vocabulary()) +
               ", but the decoder has scores of " + std::to_string(size) + " tokens";
    }
    return "";
  }

  /// Lets a run fail where an input, which is no constant, is not as `condition` tells.
  std::string required(const std::string &x, const std::string &condition, StringRef input,
                       StringRef wanted) {
    return outer.require(
        x, condition, describeNode(node) + ": input '" + input.str() + "' must be " + wanted.str());
  }
  /// Returns a number of sequences, from 1 to `limit`, as a vector.
  std::string countOf(int at, const std::string &limit, StringRef input, StringRef wanted) {
    const std::string count = vectorOf(node.input(at));
    const std::string isPositive = outer.make("Greater", {count, outer.integers({0})});
    const std::string isAtMost = outer.make("Not", {outer.make("Greater", {count, limit})});
    return required(count, outer.make("And", {isPositive, isAtMost}), input, wanted);
  }
  /// Returns a real input as f32.
  std::string real(const std::string &x) { return outer.make("Cast", {x}, toReal); }

  std::string vectorOf(const std::string &x) {
    return outer.reshape(outer.make("Cast", {x}, toIndex), {1});
  }
  std::string carried(const Twine &name) const { return inner.name("in/" + name); }

  /// Returns rows of a batch, each as often as there are beams, which follow each other.
  std::string spread(const std::string &x) { return isBeam ? outer.gather(x, rowOf, 0) : x; }

  /// Makes what all searches have, for sequences that begin with `ids`.
  void prepare(const std::string &ids) {
    SearchWriter &w = outer;
    const std::string length = w.dim(ids, 1);
    maxLength = vectorOf(node.input(1));
    if (!statedNumber(node.input(1)) || !promptLength())
      maxLength = required(maxLength, w.make("Greater", {maxLength, length}), "max_length",
                           std::string("more than the number of ") + promptName());
    if (!penalty().empty()) {
      repetition = real(penalty());
      if (!statedNumber(penalty()))
        repetition = required(repetition, w.make("Greater", {repetition, w.number(0)}),
                              "repetition_penalty", "a positive number");
    }
    batch = w.dim(ids, 0);
    rows = batch;
    if (isBeam) {
      const bool isStated = statedNumber(node.input(3)).has_value();
      beams = isStated ? vectorOf(node.input(3))
                       : countOf(3, w.integers({maxBeams}), "num_beams", "1 to 128");
      wanted = isStated && statedNumber(node.input(4))
                   ? vectorOf(node.input(4))
                   : countOf(4, beams, "num_return_sequences", "1 to 'num_beams'");
      lengthPower = input(-1, 5).empty() ? w.number(1) : real(input(-1, 5));
      rows = w.make("Mul", {batch, beams});
      kept = w.concat({batch, beams}, 0);
      first = w.steps(batch, beams);
      rowOf = w.reshape(w.make("Expand", {w.steps(batch, w.index(1)), kept}), {-1});
      // All beams of a row but the first one start hopeless.
      const std::string number =
          w.make("Reshape", {w.steps(beams, w.index(1)), w.concat({w.integers({1}), beams}, 0)});
      const std::string start =
          w.make("Where", {w.make("Equal", {number, w.index(0)}), w.number(0), w.number(-1e9f)});
      beamScores = w.reshape(w.make("Expand", {start, kept}), {-1, 1});
      twice = w.make("Mul", {beams, w.integers({2})});
      rank = w.make("Reshape", {w.steps(twice, w.index(1)), w.integers({1, -1})});
    }
    const std::string column = w.concat({rows, w.integers({1})}, 0);
    one = w.make("Expand", {w.token(1), column});
    padding = w.make("Expand", {pad(), w.concat({rows, maxLength}, 0)});
    const std::string begin = spread(ids);
    states = {
        {"ids", begin},
        {"sequence", begin},
        {"done",
         w.make("Cast", {w.make("Expand", {w.token(0), w.concat({batch, w.integers({1})}, 0)})},
                toTruth)}};
    if (isBeam) {
      const std::string lowest = w.number(-std::numeric_limits<float>::infinity());
      states.push_back({"scores", beamScores});
      states.push_back({"kept_scores", w.make("Expand", {lowest, kept})});
      states.push_back({"kept", w.make("Expand", {pad(), w.concat({kept, maxLength}, 0)})});
    }
    trips = w.make("Sub", {maxLength, length});
    if (isSampling)
      chances = makeChances(w, node, trips, batch);
  }
  /// Makes the first values of a loop around a decoder of GPT-2.
  void prepareDecoder() {
    SearchWriter &w = outer;
    const std::string ids = w.make("Cast", {node.input(0)}, toInt32);
    prepare(ids);
    // Positions count what is no padding, also where a mask is given.
    const std::string counted =
        spread(w.make("Cast", {w.make("Not", {w.make("Equal", {ids, pad()})})}, toInt32));
    const std::string mask =
        input(6, 9).empty() ? counted : spread(w.make("Cast", {input(6, 9)}, toInt32));
    const std::string sums = w.make("CumSum", {counted, w.index(1)});
    states.push_back({"positions", w.make("Mul", {counted, w.make("Sub", {sums, w.token(1)})})});
    states.push_back({"mask", mask});
    states.push_back({"next", w.slice(sums, -1, toEnd, 1)});
    for (size_t i = 3; i < decoder.inputs.size(); ++i)
      addPast(i, w.concat({w.integers({2}), rows,
                           w.integers({decoder.inputDim(i, 2, 5), 0, decoder.inputDim(i, 4, 5)})},
                          0));
  }
  /// Adds an empty past of a shape.
  void addPast(size_t i, const std::string &shape) {
    states.push_back(
        {past(states.size()), outer.make("Cast", {outer.make("Expand", {outer.number(0), shape})},
                                         {{"to", decoder.inputType(i)}})});
    pasts.push_back(states.back().first);
  }
  static std::string past(size_t i) { return "past" + std::to_string(i); }

  /// Runs the encoder once, and makes what a loop around its decoder starts with.
  void runEncoder() {
    SearchWriter &w = outer;
    auto give = [&](size_t i, const std::string &value) {
      w.add("Cast", {value}, {encoder.input(i)}, {{"to", encoder.inputType(i)}});
    };
    give(0, node.input(0));
    if (type == T5) {
      // Only paddings before the first word are left out: the end may be one, too.
      std::string isWord = input(-1, 9);
      if (isWord.empty()) {
        const std::string isPad = w.make("Equal", {encoder.input(0), pad()});
        const std::string counted = w.make("Cast", {w.make("Not", {isPad})}, toInt32);
        isWord = w.make("Cast", {w.make("CumSum", {counted, w.index(1)})}, toTruth);
      }
      give(1, isWord);
    }
    const bool isGiven = hasInput(node, 10);
    const std::string begin =
        isGiven ? w.make("Cast", {node.input(10)}, toInt32)
                : w.make("Expand", {w.token(integerOf(node, "decoder_start_token_id", 0)),
                                    w.concat({w.dim(node.input(0), 0), w.integers({1})}, 0)});
    if (form.hasFirst)
      give(encoder.inputs.size() - 1, begin);
    encoder.moveTo(home, home);
    prepare(begin);
    size_t from = 0;
    if (form.hasFirst) {
      firstLogits = spread(encoder.output(0));
      from = 2;
    }
    if (form.firstPast > size_t(type == T5 ? 2 : 1))
      hidden = spread(encoder.output(1));
    if (type == T5)
      encoderMask = spread(encoder.input(1));
    for (size_t i = 0; i < size_t(2 * form.layers); ++i)
      if (form.hasFirst) {
        pasts.push_back(past(states.size()));
        states.push_back({pasts.back(), spread(encoder.output(from++))});
      } else {
        const size_t at = form.firstPast + i;
        addPast(at, w.concat({rows, w.integers({decoder.inputDim(at, 1, 4), 0,
                                                decoder.inputDim(at, 3, 4)})},
                             0));
      }
    for (size_t i = 0; i < size_t(2 * form.layers); ++i)
      crossed.push_back(spread(encoder.output(from++)));
  }

  /// The scores of the next tokens, [rows, vocabulary].
  std::string nextScores(const std::string &logits) {
    SearchWriter &w = inner;
    std::string scores = w.make("Cast", {w.reshape(logits, {0, -1})}, toReal);
    if (const int64_t size = vocabulary(); size > 0) {
      if (!isVocabularyKnown)
        scores =
            w.require(scores, w.make("Not", {w.make("Less", {w.dim(scores, 1), w.index(size)})}),
                      describeNode(node) + ": the decoder has scores of fewer tokens than the " +
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
      w.setMicrosoft();
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
    if (!minLength().empty() && eos() >= 0 && statedNumber(minLength()).value_or(1) > 0) {
      const std::string isShort =
          w.make("Less", {w.dim(sequence, 1), w.make("Cast", {minLength()}, toIndex)});
      const std::string count = w.make("Reshape", {w.dim(scores, 1), w.integers({})});
      const std::string isEnd =
          w.make("Equal", {w.make("Range", {w.index(0), count, w.index(1)}), w.index(eos())});
      scores = w.make("Where", {w.make("And", {isShort, isEnd}), lowest, scores});
    }
    const std::string given = input(-1, 14);
    const float temperature = isSampling ? numberOf(node, "temperature", 1) : 1;
    if (!given.empty())
      scores = w.make("Div", {scores, w.make("Cast", {w.reshape(given, {1})}, toReal)});
    else if (temperature != 1)
      scores = w.make("Div", {scores, w.number(temperature)});
    const float presence = isSampling ? numberOf(node, "presence_penalty", 0) : 0;
    if (presence != 0 && hasInput(node, 7))
      scores = w.make("Sub", {scores, w.make("Mul", {w.make("Cast", {node.input(7)}, toReal),
                                                     w.number(presence)})});
    return scores;
  }

  void writeBody() {
    SearchWriter &w = inner;
    body.add_input()->set_name(carried("step"));
    body.add_input()->set_name(carried("go"));
    for (auto &[name, value] : states)
      body.add_input()->set_name(carried(name));
    const std::string scores = nextScores(runDecoder());
    std::string tokens, done, from;
    llvm::StringMap<std::string> results;
    if (isBeam) {
      chooseBeams(scores, tokens, done, from, results);
    } else {
      tokens = isSampling
                   ? sampleTokens(w, node, scores, w.gather(chances, carried("step"), 0))
                   : w.make("ArgMax", {scores}, {{"axis", int64_t(-1)}, {"keepdims", int64_t(1)}});
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
    results["ids"] = tokens;
    results["sequence"] = w.concat({rowsOf(carried("sequence"), 0), tokens}, 1);
    results["done"] = done;
    if (type == Gpt) {
      results["positions"] = rowsOf(carried("next"), 0);
      results["mask"] = w.concat({rowsOf(carried("mask"), 0), one}, 1);
      results["next"] = w.make("Add", {rowsOf(carried("next"), 0), w.token(1)});
    }
    for (auto [name, present] : llvm::zip_equal(pasts, presents))
      results[name] = rowsOf(present, type == Gpt ? 1 : 0);
    auto give = [&](const std::string &result) {
      // A value must not be an output twice, and none may be one of the graph around.
      body.add_output()->set_name(w.make("Identity", {result}));
    };
    give(w.make("Not", {allDone}));
    for (auto &[name, value] : states)
      give(results[name]);
    if (givesScores())
      give(results["all_scores"]);
  }
  bool givesScores() const { return isBeam && node.output_size() > 2 && !node.output(2).empty(); }

  /// Runs the decoder; returns the logits of the next tokens. The first ones may be those of an
  /// encoder or of a decoder of their own.
  std::string runDecoder() {
    SearchWriter &w = inner;
    feed(decoder);
    if (firstDecoder)
      feed(firstDecoder);
    if (!firstDecoder && firstLogits.empty())
      return runIn(body, w, decoder, presents);
    GraphProto branches[2];
    const bool isFirst[2] = {true, false};
    for (auto [branch, first] : llvm::zip_equal(branches, isFirst)) {
      branch.set_name(w.name(first ? "first" : "next"));
      SearchWriter own(branch, home, branch.name() + "/");
      Names made;
      std::string logits;
      if (first && !firstDecoder) {
        logits = own.slice(firstLogits, -1, toEnd, 1);
        for (const std::string &name : pasts)
          made.push_back(carried(name));
      } else {
        logits = runIn(branch, own, first ? firstDecoder : decoder, made);
      }
      branch.add_output()->set_name(own.make("Identity", {logits}));
      for (const std::string &present : made)
        branch.add_output()->set_name(own.make("Identity", {present}));
    }
    const std::string isBegin = w.make("Equal", {carried("step"), w.index(0)});
    Names outputs = {w.name("logits")};
    for (const std::string &name : pasts)
      outputs.push_back(w.name("present/" + name));
    w.add("If", {isBegin}, outputs);
    NodeProto &choice = *body.mutable_node(body.node_size() - 1);
    setGraph(choice, "then_branch", branches[0]);
    setGraph(choice, "else_branch", branches[1]);
    presents.assign(outputs.begin() + 1, outputs.end());
    return outputs[0];
  }
  static void setGraph(NodeProto &node, const char *name, GraphProto &graph) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.mutable_g()->Swap(&graph);
  }
  /// Makes a decoder's nodes part of `graph`; returns the logits of its last token.
  std::string runIn(GraphProto &graph, SearchWriter &w, SearchGraph &decoder, Names &presents) {
    decoder.moveTo(graph, home);
    for (size_t i = 1; i < decoder.outputs.size(); ++i)
      presents.push_back(decoder.output(i));
    return w.slice(decoder.output(0), -1, toEnd, 1);
  }
  /// Gives a decoder its inputs.
  void feed(const SearchGraph &decoder) {
    SearchWriter &w = inner;
    size_t at = 0;
    auto give = [&](const std::string &value) {
      w.add("Cast", {value}, {decoder.input(at)}, {{"to", decoder.inputType(at)}});
      ++at;
    };
    if (type == Gpt) {
      for (const char *name : {"ids", "positions", "mask"})
        give(carried(name));
    } else {
      // Where it takes more than one token it takes all.
      give(carried(decoder.inputDim(0, 1, 2) == 1 ? "ids" : "sequence"));
      for (const std::string &value : {encoderMask, hidden})
        if (!value.empty())
          give(value);
    }
    for (const std::string &name : pasts)
      give(carried(name));
    for (const std::string &value : crossed)
      give(value);
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
                   std::string &from, llvm::StringMap<std::string> &results) {
    SearchWriter &w = inner;
    const std::string lowest = w.number(-std::numeric_limits<float>::infinity());
    const std::string total = w.make("Add", {scores, carried("scores")});
    results["all_scores"] = total;
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
    results["scores"] = pick(best, w.number(0));
    results["kept_scores"] = keptScores;
    results["kept"] = keptTokens;
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
    const std::string all = w.name("out/all_scores");
    if (givesScores())
      outputs.push_back(all);
    w.add("Loop", inputs, outputs);
    setGraph(*home.mutable_node(home.node_size() - 1), "body", body);
    if (!isBeam) {
      w.add("Identity", {padded(w, last["sequence"])}, {result});
      return;
    }
    if (givesScores()) { // steps that are not run have zeros
      const std::string rest = w.make("Sub", {trips, w.dim(all, 0)});
      const std::string size = w.dim(all, 2);
      const std::string zeros = w.make("Expand", {w.number(0), w.concat({rest, rows, size}, 0)});
      w.add("Cast",
            {w.make("Reshape", {w.concat({all, zeros}, 0), w.concat({trips, kept, size}, 0)})},
            {node.output(2)}, {{"to", scoreType()}});
    }
    const std::string scores =
        w.make("Where", {last["done"], w.number(-std::numeric_limits<float>::infinity()),
                         w.make("Reshape", {perToken(w, last["scores"], last["sequence"]), kept})});
    const std::string rest =
        w.make("Reshape", {padded(w, last["sequence"]), w.concat({kept, maxLength}, 0)});
    auto [bestScores, best] = keepBest(w, last["kept_scores"], last["kept"], scores, rest, wanted);
    w.add("Identity", {best}, {result});
    if (!scoresOut.empty())
      w.add("Cast", {bestScores}, {scoresOut}, {{"to", scoreType()}});
  }

  GraphProto body;
  SearchWriter outer, inner;
  SearchGraph decoder, firstDecoder, encoder;
  CoderForm form;
  bool isVocabularyKnown = true;
  std::string maxLength, batch, rows, beams, wanted, twice, rank, first, rowOf, kept, beamScores;
  std::string one, padding, trips, chances, repetition, lengthPower;
  std::string firstLogits, hidden, encoderMask;
  Names pasts, presents, crossed;
  /// What the loop carries: names and initial values.
  std::vector<std::pair<std::string, std::string>> states;
};

} // namespace

bool isTokenSearch(const NodeProto &node) {
  return node.domain() == "com.microsoft" &&
         (node.op_type() == "GreedySearch" || node.op_type() == "Sampling" ||
          node.op_type() == "BeamSearch" || node.op_type() == "WhisperBeamSearch");
}

/// Returns what the names of a search's values begin with. Nodes may share a name, but no outputs.
static std::string prefixOf(const NodeProto &node) {
  return (node.output_size() ? node.output(0) : nameOf(node)) + "/";
}

bool expandTokenSearches(GraphProto &graph, int64_t opset, Diagnostics &diagnostics,
                         llvm::ArrayRef<const GraphProto *> around) {
  llvm::SmallVector<const GraphProto *> aroundInner = {&graph};
  llvm::append_range(aroundInner, around);
  bool isFine = true;
  llvm::SmallVector<int> done;
  for (int i = 0, count = graph.node_size(); i < count; ++i) {
    if (!isTokenSearch(graph.node(i))) {
      for (onnx::AttributeProto &attribute : *graph.mutable_node(i)->mutable_attribute())
        if (attribute.has_g())
          isFine &= expandTokenSearches(*attribute.mutable_g(), opset, diagnostics, aroundInner);
      continue;
    }
    NodeProto node;
    node.Swap(graph.mutable_node(i)); // appending moves the nodes
    std::string problem = opset < oldestSearchOpset
                              ? "needs opset " + std::to_string(oldestSearchOpset)
                              : TokenSearch(graph, around, node, prefixOf(node)).expand();
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
