//===-- MaskedFunctions.cpp - com.microsoft's operators with masks --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/FunctionWriter.h"
#include "frontends/onnx/ops/KnownFunctions.h"

namespace atc::onnx_import {

namespace {

using Ints = FunctionWriter::Ints;
using Names = FunctionWriter::Names;

constexpr int64_t widest = 64;

/// Returns the list attribute `name` of `count` numbers of `min` to 64, or `fallback` for each.
Ints pairOf(const onnx::NodeProto &node, llvm::StringRef name, size_t count, int64_t min,
            int64_t fallback, std::string &problem) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  if (!attribute)
    return Ints(count, fallback);
  Ints values(attribute->ints().begin(), attribute->ints().end());
  if (values.size() != count ||
      llvm::any_of(values, [&](int64_t value) { return value < min || value > widest; }))
    problem = "attribute '" + name.str() + "' must have " + std::to_string(count) + " numbers of " +
              std::to_string(min) + " to " + std::to_string(widest);
  return values;
}

} // namespace

/// The maximum over windows of images. In each row of a window a pixel whose mask is 0 hides
/// itself and those behind it; the first pixel of a plane is never hidden.
onnx::FunctionProto maskedMaxPool(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"x", "mask"}, {"y"});
  const Ints kernel = pairOf(node, "kernel_shape", 2, 1, 1, problem);
  const Ints strides = pairOf(node, "strides", 2, 1, 1, problem);
  const Ints pads = pairOf(node, "pads", 4, 0, 0, problem);
  const onnx::AttributeProto *automatic = findAttribute(node, "auto_pad");
  if (automatic && automatic->s() != "NOTSET" && automatic->s() != "VALID" &&
      !automatic->s().empty())
    problem = "attribute 'auto_pad' is '" + automatic->s() + "', expected NOTSET or VALID";
  else if (!findAttribute(node, "kernel_shape"))
    problem = "attribute 'kernel_shape' is missing";
  else if (integerOf(node, "storage_order", 0) != 0)
    problem = "attribute 'storage_order' is set, which is not supported";
  if (!problem.empty())
    return w.take();

  // Planes [images * channels, 1, h, w].
  const std::string plane = w.make("Shape", {"x"}, {{"start", int64_t(2)}});
  const std::string form = w.make("Concat", {w.integers({-1, 1}), plane}, {{"axis", int64_t(0)}});
  const std::string images = w.make("Reshape", {"x", form});
  // ONNX Runtime finds the mask of plane i at element i * h * w modulo the number of the mask's
  // planes, which for one plane is that plane.
  auto product = [&](const std::string &value, int64_t begin, int64_t end) {
    const std::string dims = w.make("Shape", {value}, {{"start", begin}, {"end", end}});
    return w.make("ReduceProd", {dims}, {{"keepdims", int64_t(0)}});
  };
  const std::string zero = w.make("Squeeze", {w.integers({0})});
  const std::string unit = w.make("Squeeze", {w.integers({1})});
  const std::string pixels = product("x", 2, 4);
  const std::string numbers = w.make("Range", {zero, product("x", 0, 2), unit});
  const std::string begins =
      w.make("Mod", {w.make("Mul", {numbers, pixels}), product("mask", 0, 2)});
  const std::string elements = w.make(
      "Add", {w.make("Unsqueeze", {begins, w.integers({1})}),
              w.make("Unsqueeze", {w.make("Range", {zero, pixels, unit}), w.integers({0})})});
  // Planes of another size are refused where the mask gets the planes of x.
  const std::string planes = w.make(
      "Concat", {w.make("Shape", {"mask"}, {{"end", int64_t(2)}}), plane}, {{"axis", int64_t(0)}});
  const std::string flat =
      w.make("Reshape", {w.make("Reshape", {"mask", planes}), w.integers({-1})});
  const std::string masks = w.make("Gather", {flat, elements});
  const std::string mask =
      w.make("Not", {w.make("Equal", {w.make("Reshape", {masks, form}),
                                      w.make("CastLike", {w.number(0), "mask"})})});

  const OnnxAttributes toMask = {{"to", int64_t(onnx::TensorProto::UINT8)}};
  const std::string lowest =
      w.make("CastLike", {w.number(std::numeric_limits<float>::lowest()), images});
  const std::string borders = w.integers({0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3]});
  const std::string padded = w.make("Pad", {images, borders, lowest});
  // Pixels of the border hide nothing.
  const std::string one = w.make("Cast", {w.number(1)}, toMask);
  const std::string paddedMask = w.make("Pad", {w.make("Cast", {mask}, toMask), borders, one});
  // The first pixel of each plane is seen whatever its mask says.
  const std::string size = w.make("Shape", {paddedMask}, {{"start", int64_t(2)}});
  auto along = [&](int64_t axis, int64_t position) {
    const std::string length = w.make("Squeeze", {w.make("Gather", {size, w.integers({axis})})});
    return w.make("Equal", {w.make("Range", {zero, length, unit}), w.integers({position})});
  };
  const std::string first =
      w.make("And", {w.make("Unsqueeze", {along(0, pads[0]), w.integers({1})}),
                     w.make("Unsqueeze", {along(1, pads[1]), w.integers({0})})});
  const std::string seen = w.make(
      "Or", {w.make("Cast", {paddedMask}, {{"to", int64_t(onnx::TensorProto::BOOL)}}), first});
  auto shifted = [&](const std::string &value, int64_t i, int64_t j) {
    auto end = [&](int64_t at, int64_t size) { return at + 1 < size ? at + 1 - size : toEnd; };
    return w.make("Slice",
                  {value, w.integers({i, j}), w.integers({end(i, kernel[0]), end(j, kernel[1])}),
                   w.integers({2, 3}), w.integers({strides[0], strides[1]})});
  };
  Names candidates;
  for (int64_t i = 0; i < kernel[0]; ++i) {
    std::string visible;
    for (int64_t j = 0; j < kernel[1]; ++j) {
      const std::string here = shifted(seen, i, j);
      visible = visible.empty() ? here : w.make("And", {visible, here});
      candidates.push_back(w.make("Where", {visible, shifted(padded, i, j), lowest}));
    }
  }
  const std::string best = w.make("Max", candidates);
  const std::string outer = w.make("Shape", {"x"}, {{"start", int64_t(0)}, {"end", int64_t(2)}});
  const std::string inner = w.make("Shape", {best}, {{"start", int64_t(2)}});
  w.add("Reshape", {best, w.make("Concat", {outer, inner}, {{"axis", int64_t(0)}})}, {"y"});
  return w.take();
}

/// A word is a row of [words, length] numbers of characters, 0 behind its end. Its vector is the
/// maximum of tanh(convolution of its characters' vectors) over the positions where the window fits
/// into as many characters as the word has, and at least into one window.
onnx::FunctionProto wordEmbedding(const onnx::NodeProto &, std::string &) {
  FunctionWriter w({"words", "filters", "bias", "characters"}, {"y"});
  const std::string image =
      w.make("Unsqueeze", {w.make("Gather", {"characters", "words"}), w.integers({1})});
  // [words, filters, positions]
  const std::string values = w.make(
      "Squeeze", {w.make("Tanh", {w.make("Conv", {image, "filters", "bias"})}), w.integers({3})});

  const std::string isCharacter =
      w.make("Greater", {w.make("Cast", {"words"}, toIndex), w.make("Squeeze", {w.integers({0})})});
  const std::string isWord =
      w.make("Cast",
             {w.make("Squeeze",
                     {slice(w, w.make("Cast", {isCharacter}, toIndex), 0, 1, 1), w.integers({1})})},
             {{"to", int64_t(onnx::TensorProto::BOOL)}});
  const std::string length =
      w.make("ReduceSum", {w.make("Cast", {isCharacter}, toIndex), w.integers({1})});
  const std::string window =
      w.make("Shape", {"filters"}, {{"start", int64_t(2)}, {"end", int64_t(3)}});
  const std::string positions =
      w.make("Add", {w.make("Sub", {w.make("Max", {length, window}), window}), w.integers({1})});
  const std::string position =
      w.make("Range", {w.make("Squeeze", {w.integers({0})}),
                       w.make("Squeeze", {w.make("Shape", {values}, {{"start", int64_t(2)}})}),
                       w.make("Squeeze", {w.integers({1})})});
  const std::string counts = w.make(
      "Unsqueeze", {w.make("Less", {w.make("Unsqueeze", {position, w.integers({0})}), positions}),
                    w.integers({1})});
  // Below every tanh.
  const std::string hidden = w.make("Where", {counts, values, w.number(-2)});
  const std::string max =
      w.make("ReduceMax", {hidden, w.integers({2})}, {{"keepdims", int64_t(0)}});
  w.add("Where", {w.make("Unsqueeze", {isWord, w.integers({1})}), max, w.number(0)}, {"y"});
  return w.take();
}

} // namespace atc::onnx_import
