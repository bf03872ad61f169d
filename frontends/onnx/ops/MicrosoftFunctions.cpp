//===-- MicrosoftFunctions.cpp - operators of com.microsoft as functions --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>

#include "frontends/onnx/ops/FunctionWriter.h"
#include "frontends/onnx/ops/KnownFunctions.h"

namespace atc::onnx_import {

namespace {

using Ints = FunctionWriter::Ints;
using AttributeType = onnx::AttributeProto;

} // namespace

/// A token gets the score -inf where it would repeat `ngram_size` tokens: where those in front of
/// one of its indices are the last ones.
onnx::FunctionProto ngramRepeatBlock(const onnx::NodeProto &node, std::string &problem) {
  constexpr int64_t longest = 64;
  const int64_t size = integerOf(node, "ngram_size", 0);
  if (size < 1 || size > longest)
    problem = "attribute 'ngram_size' is " + std::to_string(size) + ", expected 1 to " +
              std::to_string(longest);
  FunctionWriter w({"ids", "scores"}, {"y"});
  if (!problem.empty())
    return w.take();
  const std::string tokens = slice(w, "ids", size - 1, toEnd, 1);
  std::string repeats;
  for (int64_t i = 0; i + 1 < size; ++i) {
    // From the end, so that there is no place where the row is too short for one.
    const std::string here = slice(w, "ids", i, i + 1 - size, 1);
    const std::string last = slice(w, "ids", i + 1 - size, i + 2 < size ? i + 2 - size : toEnd, 1);
    const std::string equal = w.make("Equal", {here, last});
    repeats = repeats.empty() ? equal : w.make("And", {repeats, equal});
  }
  const double infinity = std::numeric_limits<double>::infinity();
  std::string limits = w.number(-infinity);
  limits = repeats.empty() ? w.make("Expand", {limits, w.make("Shape", {tokens})})
                           : w.make("Where", {repeats, limits, w.number(infinity)});
  w.add("ScatterElements", {"scores", tokens, w.make("CastLike", {limits, "scores"})}, {"y"},
        {{"axis", int64_t(1)}, {"reduction", std::string("min")}});
  return w.take();
}

/// z * sigmoid(z) of z = factor * x; the product and the sigmoid are rounded to the type of x.
onnx::FunctionProto scaledSilu(const onnx::NodeProto &node, std::string &) {
  FunctionWriter w({"x", "scale"}, {"y"});
  w.setDefault("alpha", 1.0f);
  const std::string factor =
      hasInput(node, 1) ? w.make("Cast", {"scale"}, toReal) : w.real("alpha");
  const std::string z =
      w.make("CastLike", {w.make("Mul", {w.make("Cast", {"x"}, toReal), factor}), "x"});
  w.add("Mul", {z, w.make("Sigmoid", {z})}, {"y"});
  return w.take();
}

/// Windows of `size` elements along `dim`, which become the last axis.
onnx::FunctionProto unfoldTensor(const onnx::NodeProto &node, std::string &problem) {
  constexpr int64_t widest = 1024;
  const int64_t size = integerOf(node, "size", 0), step = integerOf(node, "step", 1);
  const int64_t axis = integerOf(node, "dim", -1);
  if (size < 1 || size > widest)
    problem =
        "attribute 'size' is " + std::to_string(size) + ", expected 1 to " + std::to_string(widest);
  else if (step < 1)
    problem = "attribute 'step' is " + std::to_string(step) + ", expected a number above 0";
  FunctionWriter w({"x"}, {"y"});
  if (!problem.empty())
    return w.take();
  FunctionWriter::Names columns;
  for (int64_t i = 0; i < size; ++i) {
    const std::string end = w.integers({i + 1 < size ? i + 1 - size : toEnd});
    const std::string column =
        w.make("Slice", {"x", w.integers({i}), end, w.integers({axis}), w.integers({step})});
    columns.push_back(w.make("Unsqueeze", {column, w.integers({-1})}));
  }
  w.add("Concat", columns, {"y"}, {{"axis", int64_t(-1)}});
  return w.take();
}

/// Each column of the tables is read at one of a token's three positions: in time, of its row or of
/// its column. What was read are the tables of an ordinary rotation, with a row per token.
onnx::FunctionProto multimodalRotaryEmbedding(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "positions", "cosines", "sines"}, {"y"});
  const onnx::AttributeProto *sections = findAttribute(node, "mrope_section");
  const int64_t layout = integerOf(node, "mrope_layout", 0);
  constexpr int64_t widest = 65536;
  if (!sections || sections->ints_size() != 3 ||
      llvm::any_of(sections->ints(), [](int64_t size) { return size < 0 || size > widest; }))
    problem = "attribute 'mrope_section' must have 3 numbers of 0 to " + std::to_string(widest);
  else if (layout != 0 && layout != 1)
    problem = "attribute 'mrope_layout' is " + std::to_string(layout) + ", expected 0 or 1";
  else if (integerOf(node, "is_packed_batching", 0) != 0)
    problem = "attribute 'is_packed_batching' is set, which is not supported";
  if (!problem.empty())
    return w.take();

  Ints streams;
  for (int64_t stream = 0; stream < 3; ++stream)
    streams.append(sections->ints(int(stream)), layout == 0 ? stream : 0);
  if (layout == 1)
    for (int64_t stream : {1, 2})
      for (int64_t i = stream;
           i < std::min<int64_t>(streams.size(), 3 * sections->ints(int(stream))); i += 3)
        streams[i] = stream;
  const std::string chosen = w.make("Gather", {"positions", w.integers(streams)});
  const std::string perToken =
      w.make("Reshape", {w.make("Transpose", {chosen}, {{"perm", Ints{1, 2, 0}}}),
                         w.integers({-1, int64_t(streams.size())})});
  auto read = [&](const std::string &table) {
    return w.make("GatherElements", {table, perToken}, {{"axis", int64_t(0)}});
  };
  const std::string cosines = read("cosines"), sines = read("sines");

  const std::string shape = w.make("Shape", {"positions"}, {{"start", int64_t(1)}});
  const std::string none = w.make("Squeeze", {w.integers({0})});
  const std::string one = w.make("Squeeze", {w.integers({1})});
  const std::string count = w.make("ReduceProd", {shape}, {{"keepdims", int64_t(0)}});
  const std::string tokens = w.make("Reshape", {w.make("Range", {none, count, one}), shape});
  onnx::NodeProto &rotation = w.add("RotaryEmbedding", {"x", tokens, cosines, sines}, {"y"});
  rotation.set_domain("com.microsoft");
  FunctionWriter::pass(rotation, {{"interleaved", AttributeType::INT},
                                  {"num_heads", AttributeType::INT},
                                  {"rotary_embedding_dim", AttributeType::INT},
                                  {"scale", AttributeType::FLOAT}});
  return w.take();
}

//===----------------------------------------------------------------------===//
// CropAndResize
//===----------------------------------------------------------------------===//

namespace {

/// The positions of the crops' rows (or columns) in the image and whether they lie inside, both
/// [boxes, crop].
struct CropAxis {
  std::string position, isInside;
};

CropAxis cropAxis(FunctionWriter &w, int64_t dim) {
  const std::string dims = w.make("Shape", {"x"}, {{"start", dim + 2}, {"end", dim + 3}});
  const std::string last = w.make("Sub", {w.make("Cast", {dims}, toReal), w.number(1)});
  const std::string begin = slice(w, "boxes", dim, dim + 1, 1);
  const std::string end = slice(w, "boxes", dim + 2, dim + 3, 1);
  const std::string size =
      w.make("Squeeze", {w.make("Cast", {slice(w, "size", dim, dim + 1, 0)}, toReal)});
  const std::string number = w.make("Range", {w.number(0), size, w.number(1)});
  const std::string steps = w.make("Sub", {size, w.number(1)});
  const std::string step = w.make("Div", {w.make("Mul", {w.make("Sub", {end, begin}), last}),
                                          w.make("Max", {steps, w.number(1)})});
  const std::string several =
      w.make("Add", {w.make("Mul", {begin, last}), w.make("Mul", {number, step})});
  // A single pixel is taken from the middle of the box.
  const std::string middle =
      w.make("Mul", {w.make("Mul", {w.make("Add", {begin, end}), w.number(0.5)}), last});
  const std::string position = w.make(
      "Where", {w.make("Greater", {steps, w.number(0)}), several, w.make("Add", {middle, number})});
  const std::string isInside = w.make("And", {w.make("GreaterOrEqual", {position, w.number(0)}),
                                              w.make("LessOrEqual", {position, last})});
  return {w.make("Where", {isInside, position, w.number(0)}), isInside};
}

} // namespace

/// Boxes of images, resized to one size; positions outside of the image get a constant.
onnx::FunctionProto cropAndResize(const onnx::NodeProto &node, std::string &problem) {
  const onnx::AttributeProto *attribute = findAttribute(node, "mode");
  const std::string mode = attribute ? attribute->s() : "bilinear";
  if (mode != "bilinear" && mode != "nearest")
    problem = "attribute 'mode' is '" + mode + "', expected bilinear or nearest";
  FunctionWriter w({"x", "rois", "numbers", "size"}, {"y"});
  w.setDefault("extrapolation_value", 0.0f);
  w.add("Cast", {"rois"}, {"boxes"}, toReal);
  const CropAxis rows = cropAxis(w, 0), columns = cropAxis(w, 1);

  // The pixels of all images in one list: pixel (image * H + row) * W + column.
  auto dim = [&](int64_t axis) {
    return w.make("Shape", {"x"}, {{"start", axis}, {"end", axis + 1}});
  };
  const std::string channels = dim(1), height = dim(2), width = dim(3);
  const std::string pixels =
      w.make("Reshape",
             {w.make("Transpose", {w.make("Cast", {"x"}, toReal)}, {{"perm", Ints{0, 2, 3, 1}}}),
              w.make("Concat", {w.integers({-1}), channels}, {{"axis", int64_t(0)}})});
  const std::string image =
      w.make("Unsqueeze", {w.make("Cast", {"numbers"}, toIndex), w.integers({1})});
  const std::string first = w.make("Mul", {image, height});
  auto pixelsAt = [&](const std::string &row, const std::string &column) {
    const std::string line =
        w.make("Mul", {w.make("Add", {first, w.make("Cast", {row}, toIndex)}), width});
    const std::string index =
        w.make("Add", {w.make("Unsqueeze", {line, w.integers({2})}),
                       w.make("Unsqueeze", {w.make("Cast", {column}, toIndex), w.integers({1})})});
    return w.make("Gather", {pixels, index});
  };
  std::string result;
  if (mode == "nearest") {
    // Halves go up: no position is negative.
    auto nearest = [&](const CropAxis &axis) {
      return w.make("Floor", {w.make("Add", {axis.position, w.number(0.5)})});
    };
    result = pixelsAt(nearest(rows), nearest(columns));
  } else {
    const std::string top = w.make("Floor", {rows.position});
    const std::string left = w.make("Floor", {columns.position});
    const std::string bottom = w.make("Ceil", {rows.position});
    const std::string right = w.make("Ceil", {columns.position});
    const std::string down =
        w.make("Unsqueeze", {w.make("Sub", {rows.position, top}), w.integers({2, 3})});
    const std::string across =
        w.make("Unsqueeze", {w.make("Sub", {columns.position, left}), w.integers({1, 3})});
    auto blend = [&](const std::string &a, const std::string &b, const std::string &share) {
      return w.make("Add", {a, w.make("Mul", {w.make("Sub", {b, a}), share})});
    };
    result = blend(blend(pixelsAt(top, left), pixelsAt(top, right), across),
                   blend(pixelsAt(bottom, left), pixelsAt(bottom, right), across), down);
  }
  const std::string isInside =
      w.make("And", {w.make("Unsqueeze", {rows.isInside, w.integers({2, 3})}),
                     w.make("Unsqueeze", {columns.isInside, w.integers({1, 3})})});
  result = w.make("Where", {isInside, result, w.real("extrapolation_value")});
  w.add("CastLike", {w.make("Transpose", {result}, {{"perm", Ints{0, 3, 1, 2}}}), "x"}, {"y"});
  return w.take();
}

/// The pads are values of the call: a transposed convolution without pads, cropped by them.
onnx::FunctionProto convTransposeWithPads(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "weights", "pads", "bias"}, {"y"});
  const onnx::AttributeProto *rule = findAttribute(node, "auto_pad");
  if (hasInput(node, 2) && rule && rule->s() != "NOTSET")
    problem = "attribute 'auto_pad' is " + rule->s() + ", expected NOTSET for pads that are given";
  onnx::NodeProto &conv = w.add("ConvTranspose", {"x", "weights", "bias"},
                                {hasInput(node, 2) ? std::string("whole") : "y"});
  FunctionWriter::pass(conv, {{"auto_pad", AttributeType::STRING},
                              {"dilations", AttributeType::INTS},
                              {"group", AttributeType::INT},
                              {"kernel_shape", AttributeType::INTS},
                              {"output_padding", AttributeType::INTS},
                              {"strides", AttributeType::INTS}});
  if (!hasInput(node, 2))
    return w.take();
  w.add("Split", {"pads"}, {"begins", "ends"}, {{"num_outputs", int64_t(2)}});
  const std::string spatial = w.make("Shape", {"whole"}, {{"start", int64_t(2)}});
  const std::string two = w.make("Squeeze", {w.integers({2})});
  const std::string one = w.make("Squeeze", {w.integers({1})});
  const std::string rank = w.make("Size", {w.make("Shape", {"whole"})});
  w.add("Slice",
        {"whole", "begins", w.make("Sub", {spatial, "ends"}), w.make("Range", {two, rank, one})},
        {"y"});
  return w.take();
}

/// The attention of one new token. Where past and present share a buffer, the past is its first
/// `past_sequence_length` positions, and the new one is written behind them.
onnx::FunctionProto decoderAttention(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"query", "key", "value", "mask", "addend", "past_key", "past_value", "length",
                    "beams", "beam_of_token", "bias"},
                   {"y", "present_key", "present_value"});
  const bool isShared = integerOf(node, "past_present_share_buffer", 0) != 0;
  if (hasInput(node, 8) || hasInput(node, 9))
    problem = "inputs 'beam_width' and 'cache_indirection' are not supported";
  else if (integerOf(node, "output_qk", 0) != 0)
    problem = "attribute 'output_qk' is set, which is not supported";
  else if (isShared && !(hasInput(node, 5) && hasInput(node, 6) && hasInput(node, 7)))
    problem = "attribute 'past_present_share_buffer' needs a past and its length";
  if (!problem.empty())
    return w.take();

  std::string query = "query", key = "key", value = "value";
  if (!hasInput(node, 1)) {
    w.add("Split", {"query"}, {"own_query", "own_key", "own_value"},
          {{"axis", int64_t(2)}, {"num_outputs", int64_t(3)}});
    query = "own_query", key = "own_key", value = "own_value";
  }
  std::string pastKey = "past_key", pastValue = "past_value", length;
  const std::string axis = w.integers({2});
  if (isShared) {
    length = w.make("Reshape", {w.make("Cast", {"length"}, toIndex), w.integers({1})});
    for (std::string *past : {&pastKey, &pastValue})
      *past = w.make("Slice", {*past, w.integers({0}), length, axis});
  }
  const std::string presentKey = isShared ? "grown_key" : "present_key";
  const std::string presentValue = isShared ? "grown_value" : "present_value";
  onnx::NodeProto &attention =
      w.add("MultiHeadAttention", {query, key, value, "bias", "mask", "addend", pastKey, pastValue},
            {"y", presentKey, presentValue});
  attention.set_domain("com.microsoft");
  FunctionWriter::pass(attention, {{"mask_filter_value", AttributeType::FLOAT},
                                   {"num_heads", AttributeType::INT},
                                   {"scale", AttributeType::FLOAT}});
  if (!isShared)
    return w.take();
  const std::string next = w.make("Add", {length, w.integers({1})});
  for (const char *name : {"key", "value"}) {
    const std::string rest =
        w.make("Slice", {std::string("past_") + name, next, w.integers({toEnd}), axis});
    w.add("Concat", {std::string("grown_") + name, rest}, {std::string("present_") + name},
          {{"axis", int64_t(2)}});
  }
  return w.take();
}

} // namespace atc::onnx_import
