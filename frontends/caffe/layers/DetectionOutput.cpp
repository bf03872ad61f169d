//===-- DetectionOutput.cpp - boxes of SSD that are left ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

using llvm::Twine;

namespace atc::caffe {
namespace {

/// Rows [image, label, score, x1, y1, x2, y2] from offsets, scores and prior boxes: an image
/// decodes its boxes, takes the best ones of each class that do not cover each other, and of
/// those the best ones of all classes, in the order of classes and scores.
class Detections {
public:
  Detections(LayerContext &c, const pb::DetectionOutputParameter &p) : c(c), p(p) {}

  /// Rows of all images, [1, 1, rows, 7].
  void run() {
    check();
    if (c.failed())
      return;
    std::vector<Tensor> rows;
    for (int64_t image = 0; image < images; ++image)
      rows.push_back(rowsOf(image));
    Tensor all =
        rows.size() == 1 ? rows[0] : c.node("Concat", rows, {-1, 7}, {{"axis", int64_t(0)}});
    c.setTop(c.reshape(all, {1, 1, -1, 7}));
  }

  /// The number of rows of each image, [images, 8] of int32 of which the first counts, and
  /// keep_top_k rows for each image, [images, keep_top_k, 8]: zeros behind those there are.
  void runPadded() {
    check();
    if (p.keep_top_k() < 1)
      c.fail("keep_top_k " + Twine(p.keep_top_k()) + " must be 1 or more");
    if (c.failed())
      return;
    const int64_t limit = p.keep_top_k();
    std::vector<Tensor> counts, tables;
    for (int64_t image = 0; image < images; ++image) {
      Tensor rows = rowsOf(image);
      Tensor count = slice(c.node("Shape", {rows}, {2}), 0, 0, 1);
      Tensor missing = c.node("Sub", {c.ints({limit}), count}, {1});
      Tensor pads =
          c.node("Concat", {c.ints({0, 0}), missing, c.ints({1})}, {4}, {{"axis", int64_t(0)}});
      tables.push_back(c.reshape(c.node("Pad", {rows, pads}, {limit, 8}), {1, limit, 8}));
      Tensor number = c.node("Cast", {count}, {1}, {{"to", int64_t(onnx::TensorProto::INT32)}});
      counts.push_back(c.reshape(c.node("Pad", {number, c.ints({0, 7})}, {8}), {1, 8}));
    }
    const Attrs first = {{"axis", int64_t(0)}};
    c.setTops({c.node("Concat", counts, {images, 8}, first),
               c.node("Concat", tables, {images, limit, 8}, first)});
  }

private:
  void check() {
    const Dims loc = c.knownDims(0, "the detections"), conf = c.knownDims(1, "the detections"),
               prior = c.knownDims(2, "the detections");
    if (c.failed())
      return;
    classes = p.num_classes();
    images = loc[0];
    boxes = product(prior, 2, prior.size()) / 4;
    if (classes < 1 || prior.size() != 3 || prior[1] != 2 || prior[2] % 4 ||
        product(loc, 1, loc.size()) != 4 * boxes ||
        product(conf, 1, conf.size()) != classes * boxes)
      return c.fail("bottoms have the shapes " + printShape(loc) + ", " + printShape(conf) +
                    " and " + printShape(prior) + ", expected [n, 4 * boxes], [n, " +
                    Twine(classes) + " * boxes] and [1, 2, 4 * boxes]");
    isCentre = p.code_type() == pb::CENTER_SIZE;
    if (p.code_type() == pb::CORNER_SIZE)
      c.fail("code_type CORNER_SIZE is not supported, only CORNER and CENTER_SIZE");
    if (!p.share_location())
      c.fail("share_location: false is not supported");
    if (p.nms_param().eta() != 1)
      c.fail("eta " + std::to_string(p.nms_param().eta()) + " is not supported, only 1");
    first = p.background_label_id() == 0 ? 1 : 0;
    if (p.background_label_id() > 0 || classes <= first)
      c.fail("background_label_id " + Twine(p.background_label_id()) + " of " + Twine(classes) +
             " classes is not supported, only 0 and -1");
  }

  Tensor slice(const Tensor &value, int64_t axis, int64_t begin, int64_t end) {
    Dims dims = value.dims;
    dims[axis] = end - begin;
    return c.node("Slice", {value, c.ints({begin}), c.ints({end}), c.ints({axis})}, dims);
  }

  /// Columns `begin` and `begin` + 1 of [boxes, 4].
  Tensor pair(const Tensor &value, int64_t begin) { return slice(value, 1, begin, begin + 2); }

  Tensor subtract(const Tensor &a, const Tensor &b) { return c.node("Sub", {a, b}, a.dims); }

  /// Corners of the boxes of an image, [boxes, 4].
  Tensor decode(int64_t image) {
    const Dims dims = {boxes, 4};
    Tensor offsets = c.reshape(slice(c.bottom(0), 0, image, image + 1), dims);
    Tensor prior = c.reshape(slice(c.bottom(2), 1, 0, 1), dims);
    if (!p.variance_encoded_in_target())
      offsets = c.mul(offsets, c.reshape(slice(c.bottom(2), 1, 1, 2), dims));
    if (!isCentre)
      return c.add(prior, offsets);
    Tensor low = pair(prior, 0), size = subtract(pair(prior, 2), low);
    Tensor centre = c.add(low, c.mul(size, c.scalar(0.5)));
    centre = c.add(centre, c.mul(pair(offsets, 0), size));
    Tensor half = c.mul(c.node("Exp", {pair(offsets, 2)}, {boxes, 2}), c.mul(size, c.scalar(0.5)));
    return c.node("Concat", {subtract(centre, half), c.add(centre, half)}, dims,
                  {{"axis", int64_t(1)}});
  }

  /// Scores of the classes but the background, [classes, boxes]; -1 for all but the best
  /// top_k of a class.
  Tensor candidates(int64_t image) {
    const int64_t rows = classes - first, best = p.nms_param().top_k();
    Tensor scores = c.reshape(slice(c.bottom(1), 0, image, image + 1), {boxes, classes});
    scores = c.node("Transpose", {slice(scores, 1, first, classes)}, {rows, boxes},
                    {{"perm", Dims{1, 0}}});
    if (best <= 0 || best >= boxes)
      return scores;
    Tensor top = c.nodes("TopK", {scores, c.ints({best})}, {{rows, best}, {rows, best}},
                         {{"axis", int64_t(1)}})[0];
    Tensor isBelow = c.node("Less", {scores, slice(top, 1, best - 1, best)}, scores.dims);
    return c.node("Where", {isBelow, c.scalar(-1), scores}, scores.dims);
  }

  Tensor column(const Tensor &table, int64_t index) {
    return c.node("Squeeze", {slice(table, 1, index, index + 1), c.ints({1})}, {-1});
  }

  Tensor toFloat(const Tensor &value, const Dims &dims) {
    return c.node("Cast", {value}, dims, {{"to", int64_t(onnx::TensorProto::FLOAT)}});
  }

  /// The rows of `chosen` [image, class, box] with the best keep_top_k scores.
  Tensor keepBest(const Tensor &chosen, const Tensor &scores) {
    if (p.keep_top_k() < 0)
      return chosen;
    Tensor count = c.node("Shape", {scores}, {1});
    Tensor kept = c.node("Min", {count, c.ints({p.keep_top_k()})}, {1});
    Tensor best = c.nodes("TopK", {scores, kept}, {{-1}, {-1}}, {{"axis", int64_t(0)}})[1];
    // Back into the order of classes.
    Tensor order = c.nodes("TopK", {best, kept}, {{-1}, {-1}},
                           {{"axis", int64_t(0)}, {"largest", int64_t(0)}})[0];
    return c.node("Gather", {chosen, order}, {-1, 3}, {{"axis", int64_t(0)}});
  }

  Tensor scoresAt(const Tensor &scores, const Tensor &chosen) {
    return c.node("GatherND", {scores, slice(chosen, 1, 1, 3)}, {-1});
  }

  Tensor rowsOf(int64_t image) {
    Tensor corners = decode(image), scores = candidates(image);
    Tensor chosen =
        c.node("NonMaxSuppression",
               {c.reshape(corners, {1, boxes, 4}), c.reshape(scores, {1, classes - first, boxes}),
                c.ints({boxes}), c.constant({1}, {p.nms_param().nms_threshold()}),
                c.constant({1}, {p.has_confidence_threshold() ? p.confidence_threshold() : -0.5f})},
               {-1, 3});
    chosen = keepBest(chosen, scoresAt(scores, chosen));
    Tensor label = c.add(toFloat(slice(chosen, 1, 1, 2), {-1, 1}), c.scalar(double(first)));
    Tensor number = c.add(c.mul(label, c.scalar(0)), c.scalar(double(image)));
    Tensor score = c.node("Unsqueeze", {scoresAt(scores, chosen), c.ints({1})}, {-1, 1});
    Tensor found = c.node("Gather", {corners, column(chosen, 2)}, {-1, 4}, {{"axis", int64_t(0)}});
    return c.node("Concat", {number, label, score, found}, {-1, 7}, {{"axis", int64_t(1)}});
  }

  LayerContext &c;
  const pb::DetectionOutputParameter &p;
  int64_t classes = 0, images = 0, boxes = 0, first = 0;
  bool isCentre = false;
};

} // namespace

/// The Ascend toolchain's form of the layer: results have fixed sizes.
void importSsdDetectionOutput(LayerContext &context) {
  const pb::SsdDetectionOutputParameter &from = context.layer().ssddetectionoutput_param();
  pb::DetectionOutputParameter p;
  p.set_num_classes(from.num_classes());
  p.set_share_location(from.share_location());
  p.set_background_label_id(from.background_label_id());
  p.mutable_nms_param()->set_nms_threshold(from.iou_threshold());
  p.mutable_nms_param()->set_top_k(from.top_k());
  p.mutable_nms_param()->set_eta(from.eta());
  p.set_variance_encoded_in_target(from.variance_encoded_in_target());
  if (!pb::CodeType_IsValid(from.code_type()))
    return context.fail("code_type " + Twine(from.code_type()) +
                        " is not supported, only 1 (CORNER) and 2 (CENTER_SIZE)");
  p.set_code_type(static_cast<pb::CodeType>(from.code_type()));
  p.set_keep_top_k(from.keep_top_k());
  p.set_confidence_threshold(from.confidence_threshold());
  Detections(context, p).runPadded();
}

void importDetectionOutput(LayerContext &context) {
  Detections(context, context.layer().detection_output_param()).run();
}

} // namespace atc::caffe
