//===-- AscendFunctions.cpp - operators that the Ascend toolchain adds ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes of these operators stand in models that were edited for the Ascend toolchain.

#include "frontends/onnx/ops/FunctionWriter.h"
#include "frontends/onnx/ops/KnownFunctions.h"

namespace atc::onnx_import {

namespace {

/// Returns a real attribute of the node, or `fallback` where it is left out.
double realOf(const onnx::NodeProto &node, llvm::StringRef name, double fallback) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? double(attribute->f()) : fallback;
}

} // namespace

/// Of boxes that overlap in one class, keeps the one with the largest score, and of all classes of
/// an image the `max_total_size` with the largest scores. What is left of the outputs is 0. Boxes
/// have the dims [batch, count, 1 or classes, 4], and scores [batch, count, classes].
onnx::FunctionProto batchMultiClassNms(const onnx::NodeProto &node, std::string &problem) {
  FunctionWriter w({"boxes", "scores", "window", "valid"}, {"b", "s", "c", "n"});
  const int64_t total = integerOf(node, "max_total_size", 0);
  const int64_t each = integerOf(node, "max_size_per_class", 0);
  if (hasInput(node, 2) || hasInput(node, 3) ||
      integerOf(node, "change_coordinate_frame", 0) != 0 ||
      integerOf(node, "transpose_box", 0) != 0)
    problem = "the inputs clip_window and num_valid_boxes and the attributes "
              "'change_coordinate_frame' and 'transpose_box' are not supported: clip and transpose "
              "the boxes before";
  else if (total < 1 || each < 1)
    problem = "the attributes 'max_size_per_class' and 'max_total_size' must be 1 or more";
  if (!problem.empty())
    return w.take();
  const auto dims = [&](int64_t begin, int64_t end) {
    return w.make("Shape", {"scores"}, {{"start", begin}, {"end", end}});
  };
  const auto list = [&](const FunctionWriter::Names &parts) {
    return w.make("Concat", parts, {{"axis", int64_t(0)}});
  };
  const std::string batch = dims(0, 1), count = dims(1, 2), four = w.integers({4});
  const auto byClass = [&](const std::string &x, FunctionWriter::Ints order) {
    return w.make("Transpose", {x}, {{"perm", std::move(order)}});
  };
  // Each class of each image is an image of its own, whose boxes may be those of all classes.
  const std::string wide =
      w.make("Expand", {w.make("Cast", {"boxes"}, toReal), list({dims(0, 3), four})});
  const std::string boxes = byClass(wide, {0, 2, 1, 3});
  const std::string scores =
      w.make("Reshape", {byClass(w.make("Cast", {"scores"}, toReal), {0, 2, 1}),
                         list({w.integers({-1, 1}), count})});
  const auto threshold = [&](const char *name, double fallback) {
    return w.make("Reshape", {w.number(realOf(node, name, fallback)), w.integers({1})});
  };
  const std::string selected = w.make(
      "NonMaxSuppression",
      {w.make("Reshape", {boxes, list({w.integers({-1}), count, four})}), scores,
       w.integers({each}), threshold("iou_threshold", 0.5), threshold("score_threshold", 0)});
  // The scores that are left, in a tensor of known dims: elsewhere stands what no score is. Behind
  // them are as many of those as there are rows to return.
  const std::string none = w.number(-1e30);
  const std::string left = w.make("ScatterND", {w.make("Expand", {none, w.make("Shape", {scores})}),
                                                selected, w.make("GatherND", {scores, selected})});
  const std::string row = w.make("Reshape", {left, list({batch, w.integers({-1})})});
  const std::string longer = w.make("Pad", {row, w.integers({0, 0, 0, total}), none});
  w.add("TopK", {longer, w.integers({total})}, {"best", "positions"}, {{"axis", int64_t(1)}});
  const std::string isBox = w.make("Greater", {"best", w.number(-1e29)});
  const std::string all =
      w.make("Pad", {w.make("Reshape", {boxes, list({batch, w.integers({-1}), four})}),
                     w.integers({0, 0, 0, 0, total, 0})});
  const std::string at = w.make("Unsqueeze", {"positions", w.integers({2})});
  const std::string taken = w.make("GatherND", {all, at}, {{"batch_dims", int64_t(1)}});
  // Not a product with 0: what is taken there may be infinite.
  const std::string zero = w.number(0);
  w.add("CastLike",
        {w.make("Where", {w.make("Unsqueeze", {isBox, w.integers({2})}), taken, zero}), "boxes"},
        {"b"});
  w.add("CastLike", {w.make("Where", {isBox, "best", zero}), "scores"}, {"s"});
  const std::string ofClass = w.make("Cast", {w.make("Div", {"positions", count})}, toReal);
  w.add("CastLike", {w.make("Where", {isBox, ofClass, zero}), "scores"}, {"c"});
  const std::string whole = w.make("Cast", {isBox}, {{"to", int64_t(onnx::TensorProto::INT32)}});
  w.add("ReduceSum", {whole, w.integers({1})}, {"n"}, {{"keepdims", int64_t(0)}});
  return w.take();
}

} // namespace atc::onnx_import
