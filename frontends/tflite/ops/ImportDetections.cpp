//===-- ImportDetections.cpp - boxes that are chosen by their scores ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>

#include <flatbuffers/flexbuffers.h>

#include "frontends/tflite/OpTable.h"

namespace atc::tflite {
namespace {

/// Adds `missing` zeros behind the elements of the first of `rank` dims.
Value padRows(OpContext &c, Value value, Value missing, size_t rank, Value zero) {
  Dims before(rank, 0), after(rank - 1, 0);
  std::vector<Value> parts = {c.ints(before), missing};
  if (!after.empty())
    parts.push_back(c.ints(after));
  return c.node("Pad", {value, c.node("Concat", parts, {{"axis", int64_t(0)}}), zero});
}

/// Inputs are boxes [n, 4], scores [n], the number of results and two thresholds; the results
/// behind the boxes that were found are 0.
void suppress(OpContext &c, bool isSoft) {
  const Dims count = c.requireInts(2, "number of boxes");
  if (!c.failed() && (count.size() != 1 || count[0] < 0 || count[0] > (1 << 24)))
    c.fail("its number of boxes must be 0 or more");
  if (isSoft && c.hasInput(5) && c.constantFloat(5) != 0.f)
    c.fail("a soft_nms_sigma other than 0 is not supported");
  if (c.failed())
    return;
  Value boxes = c.unsqueeze(c.in(0), {0}), scores = c.unsqueeze(c.in(1), {0, 1});
  // A box that overlaps by the threshold itself is left out; ONNX leaves out those above it. The
  // product is the largest number below the threshold.
  Value threshold = c.node("Mul", {c.in(3), c.scalar(1 - 0x1p-24f)});
  // All boxes overlap by 0, also those that do not touch.
  const std::optional<float> stated = c.constantFloat(3);
  const Dims limit = {stated && *stated <= 0 ? std::min<int64_t>(count[0], 1) : count[0]};
  Value chosen = c.node("NonMaxSuppression", {boxes, scores, c.ints(limit), threshold, c.in(4)});
  Value index = c.node("Gather", {chosen, c.intScalar(2)}, {{"axis", int64_t(1)}});
  Value found = c.node("Shape", {index});
  Value missing = c.node("Sub", {c.ints(count), found});
  c.setOutput(c.cast(padRows(c, index, missing, 1, c.intScalar(0)), onnx::TensorProto::INT32));
  if (isSoft)
    c.setOutput(padRows(c, c.node("Gather", {c.in(1), index}), missing, 1, c.scalar(0)), 1);
  c.setOutput(c.cast(c.squeeze(found, {0}), onnx::TensorProto::INT32), isSoft ? 2 : 1);
}
void importNms4(OpContext &c) { suppress(c, false); }
void importNms5(OpContext &c) { suppress(c, true); }

//===--- Detections of a network with anchors -----------------------------===//

/// The parameters of TFLite_Detection_PostProcess.
struct DetectionOptions {
  int64_t maxDetections = 0;
  int64_t maxClasses = 0; ///< of one box, unless each class has boxes of its own
  int64_t maxPerClass = 100;
  int64_t numClasses = 0;
  bool isPerClass = false; ///< boxes suppress only those of their class
  float minScore = 0, overlap = 0;
  float scales[4] = {1, 1, 1, 1}; ///< y, x, height, width
};

/// Returns false, after an error, where the parameters are damaged or not those of the operator.
bool readOptions(OpContext &c, DetectionOptions &options) {
  const auto *bytes = c.proto.custom_options();
  if (!bytes || !flexbuffers::VerifyBuffer(bytes->data(), bytes->size())) {
    c.fail("has no parameters, or damaged ones");
    return false;
  }
  const flexbuffers::Map map = flexbuffers::GetRoot(bytes->data(), bytes->size()).AsMap();
  auto readInt = [&](const char *name, int64_t low, int64_t &value) {
    if (!map[name].IsNull())
      value = map[name].AsInt64();
    if (value < low || value > (1 << 20))
      c.fail(llvm::Twine(name) + " is " + llvm::Twine(value) + ", expected " + llvm::Twine(low) +
             " to 1048576");
  };
  readInt("max_detections", 1, options.maxDetections);
  readInt("max_classes_per_detection", 1, options.maxClasses);
  readInt("detections_per_class", 1, options.maxPerClass);
  readInt("num_classes", 1, options.numClasses);
  options.isPerClass = map["use_regular_nms"].AsBool();
  options.minScore = map["nms_score_threshold"].AsFloat();
  options.overlap = map["nms_iou_threshold"].AsFloat();
  if (!(options.overlap > 0 && options.overlap <= 1))
    c.fail("nms_iou_threshold is " + std::to_string(options.overlap) +
           ", expected more than 0 and at most 1");
  constexpr const char *scaleNames[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  for (auto [scale, name] : llvm::zip_equal(options.scales, scaleNames)) {
    scale = map[name].AsFloat();
    if (scale == 0 || !std::isfinite(scale))
      c.fail(llvm::Twine(name) + " is " + std::to_string(scale) + ", expected another number");
  }
  return !c.failed();
}

/// Returns the boxes [n, 4] with their ends: the network states how far they are from the anchors.
Value decodeBoxes(OpContext &c, const DetectionOptions &options) {
  Value encoded = c.squeeze(c.in(0), {0}), anchors = c.in(2);
  auto scaled = [&](int64_t begin) {
    Value scale = c.floats(llvm::ArrayRef(options.scales).slice(begin, 2));
    return c.node("Div", {c.slice(encoded, 1, begin, begin + 2), scale});
  };
  Value anchorSize = c.slice(anchors, 1, 2, 4);
  Value center = c.node("Add", {c.node("Mul", {scaled(0), anchorSize}), c.slice(anchors, 1, 0, 2)});
  Value halfAnchor = c.node("Mul", {anchorSize, c.scalar(.5)});
  Value half = c.node("Mul", {c.node("Exp", {scaled(2)}), halfAnchor});
  return c.node("Concat", {c.node("Sub", {center, half}), c.node("Add", {center, half})},
                {{"axis", int64_t(1)}});
}

/// The detections that were found: as many rows as `count` [1] says.
struct Detections {
  Value boxes, classes, scores, count;
};

/// Lets each class choose boxes, and takes the best of all.
Detections choosePerClass(OpContext &c, const DetectionOptions &options, Value boxes, Value scores,
                          Value min) {
  Value chosen = c.node("NonMaxSuppression",
                        {c.unsqueeze(boxes, {0}), c.unsqueeze(c.transpose(scores, {1, 0}), {0}),
                         c.ints({options.maxPerClass}), c.floats({options.overlap}), min});
  Value classes = c.slice(chosen, 1, 1, 2), rows = c.slice(chosen, 1, 2, 3);
  Value values =
      c.node("GatherND", {scores, c.node("Concat", {rows, classes}, {{"axis", int64_t(1)}})});
  Value count = c.node("Min", {c.node("Shape", {values}), c.ints({options.maxDetections})});
  std::vector<Value> best = c.nodes("TopK", {values, count}, 2);
  auto ofBest = [&](Value all) { return c.node("Gather", {all, best[1]}); };
  return {ofBest(c.node("Gather", {boxes, c.squeeze(rows, {1})})),
          c.cast(ofBest(classes), onnx::TensorProto::FLOAT), c.unsqueeze(best[0], {1}), count};
}

/// Chooses boxes by the best score of each; a box may stand for several classes.
Detections chooseBest(OpContext &c, const DetectionOptions &options, Value boxes, Value scores,
                      Value min) {
  const int64_t classes = std::min(options.maxClasses, options.numClasses);
  std::vector<Value> best = c.nodes("TopK", {scores, c.ints({classes})}, 2);
  Value chosen = c.node("NonMaxSuppression",
                        {c.unsqueeze(boxes, {0}),
                         c.unsqueeze(c.transpose(c.slice(best[0], 1, 0, 1), {1, 0}), {0}),
                         c.ints({options.maxDetections}), c.floats({options.overlap}), min});
  Value rows = c.node("Gather", {chosen, c.intScalar(2)}, {{"axis", int64_t(1)}});
  auto ofRows = [&](Value all) { return c.node("Gather", {all, rows}); };
  return {ofRows(boxes), c.cast(ofRows(best[1]), onnx::TensorProto::FLOAT), ofRows(best[0]),
          c.node("Shape", {rows})};
}

/// Inputs: encoded boxes [1, n, 4 or more], scores [1, n, classes, with one for the background in
/// front or not], anchors [n, 4]. Outputs: boxes, classes, scores, and their number; the rows
/// behind it are 0.
void importDetections(OpContext &c) {
  DetectionOptions options;
  if (!readOptions(c, options))
    return;
  const Dims boxDims = c.dims(0), scoreDims = c.knownDims(1, 2), anchorDims = c.dims(2);
  if (boxDims.size() != 3 || scoreDims.size() != 3 || anchorDims.size() != 2)
    return c.fail("its inputs must have 3, 3 and 2 dims");
  if (boxDims[0] > 1 || scoreDims[0] > 1)
    return c.fail("its batch must be 1");
  const int64_t background = scoreDims[2] - options.numClasses;
  if (background != 0 && background != 1)
    return c.fail("num_classes is " + llvm::Twine(options.numClasses) + ", but it has " +
                  llvm::Twine(scoreDims[2]) + " scores per box");
  Value boxes = decodeBoxes(c, options);
  Value scores = c.slice(c.squeeze(c.in(1), {0}), 1, background, scoreDims[2]);
  // A score that is the least one counts; ONNX takes those above it.
  Value min = c.floats({std::nextafter(options.minScore, -std::numeric_limits<float>::infinity())});
  if (options.isPerClass)
    options.maxClasses = 1;
  Detections found =
      (options.isPerClass ? choosePerClass : chooseBest)(c, options, boxes, scores, min);
  const int64_t slots = options.maxClasses, total = options.maxDetections * slots;
  Value missing = c.node("Sub", {c.ints({options.maxDetections}), found.count});
  auto setRows = [&](Value value, const Dims &dims, unsigned index) {
    c.setOutput(c.reshape(padRows(c, value, missing, 2, c.scalar(0)), dims), index);
  };
  // Boxes with fewer classes than they have room for leave it empty.
  auto withRoom = [&](Value value) {
    const int64_t unused = slots - std::min(slots, options.numClasses);
    return unused > 0 ? c.node("Pad", {value, c.ints({0, 0, 0, unused}), c.scalar(0)}) : value;
  };
  setRows(slots > 1 ? c.node("Tile", {found.boxes, c.ints({1, slots})}) : found.boxes,
          {1, total, 4}, 0);
  setRows(withRoom(found.classes), {1, total}, 1);
  setRows(withRoom(found.scores), {1, total}, 2);
  c.setOutput(c.cast(found.count, onnx::TensorProto::FLOAT), 3);
}

} // namespace

llvm::ArrayRef<OpRow> detectionOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{CUSTOM, importDetections, nullptr, "TFLite_Detection_PostProcess"},
                               {NON_MAX_SUPPRESSION_V4, importNms4},
                               {NON_MAX_SUPPRESSION_V5, importNms5}};
  return rows;
}

} // namespace atc::tflite
