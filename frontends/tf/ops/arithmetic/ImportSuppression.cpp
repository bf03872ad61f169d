//===-- ImportSuppression.cpp - boxes that overlap less than a threshold --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Calls the kernel on boxes [n, b, 4] and scores [n, c, b]; the result is a list of
/// [batch, class, box].
Value suppress(TensorMath &m, Value boxes, Value scores, Value max, Value overlap, Value min) {
  const SmallVector<int64_t, 1> one{1};
  return m.n.callHost("NonMaxSuppression",
                      {boxes, scores, m.reshape(m.toIndex(max), one),
                       m.reshape(m.toReal(overlap), one), m.reshape(m.toReal(min), one)},
                      {m.n.hostInts("center_point_box", {0})});
}

/// The versions differ in their inputs: the threshold of overlaps is an attribute of the first one,
/// V3 adds the least score, V5 the deviation of a soft suppression.
void importSuppression(NodeContext &n) {
  Value boxes = withRank(n, 0, 2), scores = withRank(n, 1, 1), max = n.input(2);
  if (n.failed())
    return;
  TensorMath m(n);
  const bool isFirst = n.op() == "NonMaxSuppression", isLast = n.op().ends_with("V5");
  const bool mayPad = isLast || n.op().ends_with("V4");
  Value overlap = isFirst ? m.real(n.floatAttr("iou_threshold", 0.5)) : n.input(3);
  Value min = isFirst || n.op().ends_with("V2") ? m.real(-std::numeric_limits<double>::infinity())
                                                : n.input(4);
  bool isSoft = false;
  if (isLast) {
    SmallVector<double> deviation = n.constantFloats(5);
    if (!n.failed() && (deviation.size() != 1 || !(deviation[0] >= 0)))
      n.failInput(5, "is no deviation of at least 0");
    isSoft = !n.failed() && deviation[0] > 0;
  }
  if (n.failed())
    return;
  Value kept, values;
  if (isSoft) {
    SmallVector<Value> found = n.callHost(graph::HostCall{
        "SoftSuppression",
        {m.toReal(boxes), m.toReal(scores), m.toIndex(max), m.toReal(min), m.toReal(n.input(5))},
        n.builder().getDictionaryAttr({}),
        2});
    if (found.empty())
      return;
    kept = withKnownDims(n, found[0], {ShapedType::kDynamic}, 0);
    values = withKnownDims(n, found[1], {ShapedType::kDynamic}, 0);
    values = n.cast(values, NodeContext::elementType(scores));
  } else {
    Value found = suppress(m, m.unsqueeze(m.toReal(boxes), {0}),
                           m.unsqueeze(m.toReal(scores), {0, 1}), max, overlap, min);
    kept = m.squeeze(m.slice(found, 2, 3, 1), {1});
    values = m.gather(scores, kept, 0);
  }
  Value number = m.dim(kept, 0);
  if (mayPad && n.boolAttr("pad_to_max_output_size", false)) {
    Value room = m.sub(m.toIndex(max), number);
    auto pad = [&](Value value) {
      return n.callHost(
          "Pad", {value, m.shapeOf({m.index(0), room}), n.scalarLike(0, value), n.intList({0})},
          {n.hostText("mode", "constant")});
    };
    kept = pad(kept);
    values = pad(values);
  }
  Type i32 = n.builder().getI32Type();
  n.setOutput(0, n.cast(kept, i32));
  if (isLast)
    n.setOutput(1, values);
  if (mayPad)
    n.setOutput(isLast ? 2 : 1, n.cast(number, i32));
}

/// Suppresses per image and class, and then keeps the best of all classes of an image. Outputs are
/// filled with zeros behind the valid ones.
void importCombined(NodeContext &n) {
  Value boxes = withRank(n, 0, 4), scores = withRank(n, 1, 3);
  Value perClass = n.input(2), total = n.input(3), overlap = n.input(4), min = n.input(5);
  if (n.failed())
    return;
  const int64_t owners = n.shape(boxes)[2];
  if (ShapedType::isDynamic(owners))
    return n.failInput(0, "has a number of classes, axis 2, that is not fixed; give it with "
                          "--input_shape");
  const bool isShared = owners == 1;
  TensorMath m(n);
  Value images = m.dim(scores, 0), number = m.dim(scores, 1), classes = m.dim(scores, 2);
  Value byClass = n.transpose(scores, {0, 2, 1});
  Value four = m.index(4), one = m.index(1), zero = m.index(0);
  // With boxes of their own, classes are images of one class.
  Value found = isShared
                    ? suppress(m, m.squeeze(boxes, {2}), byClass, perClass, overlap, min)
                    : suppress(m,
                               m.reshape(n.transpose(boxes, {0, 2, 1, 3}),
                                         m.shapeOf({m.mul(images, classes), number, four})),
                               m.reshape(byClass, m.shapeOf({m.mul(images, classes), one, number})),
                               perClass, overlap, min);
  auto column = [&](int64_t index) { return m.squeeze(m.slice(found, index, index + 1, 1), {1}); };
  Value owner = isShared ? m.add(m.mul(column(0), classes), column(1)) : column(0);
  Value location = m.add(m.mul(owner, number), column(2));
  // The kept scores where they stood, all others below every score.
  Value flat = m.reshape(byClass, ArrayRef<int64_t>{-1});
  Value none = n.scalarLike(-std::numeric_limits<double>::infinity(), scores);
  Value rest = n.callHost("Expand", {none, shapeVector(n, flat)});
  Value kept = n.callHost("ScatterElements", {rest, location, m.gather(flat, location, 0)},
                          {n.hostInts("axis", {0})});
  Value perImage = m.mul(classes, number), max = m.toIndex(total);
  if (n.boolAttr("pad_per_class", false))
    max = m.min(max, m.mul(m.toIndex(perClass), classes));
  Value padded = n.callHost("Pad",
                            {m.reshape(kept, m.shapeOf({images, perImage})), m.shapeOf({zero, max}),
                             none, n.intList({1})},
                            {n.hostText("mode", "constant")});
  graph::HostCall best{"TopK",
                       {padded, m.shapeOf({max})},
                       n.builder().getDictionaryAttr({n.hostInts("axis", {1})}),
                       2};
  SmallVector<Value> results = n.callHost(best);
  if (results.empty())
    return;
  Value isValid = m.greater(results[0], none), position = m.select(isValid, results[1], zero);
  Value type = m.div(position, number), box = m.sub(position, m.mul(type, number));
  Value line = m.add(m.mul(m.unsqueeze(m.count(images), {1}), number), box);
  line = m.add(m.mul(line, m.index(owners)), isShared ? zero : type);
  Value corners = m.gather(m.reshape(boxes, ArrayRef<int64_t>{-1, 4}), line, 0);
  if (n.boolAttr("clip_boxes", true))
    corners = m.clamp(corners, n.scalarLike(0, boxes), n.scalarLike(1, boxes));
  n.setOutput(0, m.select(m.unsqueeze(isValid, {2}), corners, n.scalarLike(0, boxes)));
  n.setOutput(1, m.select(isValid, results[0], n.scalarLike(0, scores)));
  n.setOutput(2, m.toReal(m.select(isValid, type, zero)));
  Value counts = m.sum(m.toIndex(isValid), 1);
  n.setOutput(3, n.cast(m.squeeze(counts, {1}), n.builder().getI32Type()));
}

/// Inputs: overlaps [n, n], scores [n], the most boxes, the threshold of overlaps, the least score.
void importStatedOverlaps(NodeContext &n) {
  Value overlaps = withRank(n, 0, 2), scores = withRank(n, 1, 1), max = n.input(2),
        limit = n.input(3), min = n.input(4);
  if (n.failed())
    return;
  TensorMath m(n);
  Value kept = n.callHost("OverlapSuppression", {m.toReal(overlaps), m.toReal(scores),
                                                 m.toIndex(max), m.toReal(limit), m.toReal(min)});
  kept = withKnownDims(n, kept, {ShapedType::kDynamic}, 0);
  n.setOutput(n.cast(kept, n.builder().getI32Type()));
}

} // namespace

ArrayRef<OpRow> suppressionRows() {
  static const OpRow rows[] = {
      {"CombinedNonMaxSuppression", importCombined},
      {"NonMaxSuppression", importSuppression},
      {"NonMaxSuppressionV2", importSuppression},
      {"NonMaxSuppressionV3", importSuppression},
      {"NonMaxSuppressionV4", importSuppression},
      {"NonMaxSuppressionV5", importSuppression, "a constant `soft_nms_sigma`"},
      {"NonMaxSuppressionWithOverlaps", importStatedOverlaps},
  };
  return rows;
}

} // namespace atc::tf_import
