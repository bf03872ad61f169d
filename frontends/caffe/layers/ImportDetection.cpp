//===-- ImportDetection.cpp - layers of detectors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerTable.h"

#include <cmath>

using llvm::Twine;

namespace atc::caffe {
namespace {

/// Computes the boxes of a PriorBox layer, which depend on sizes alone.
class PriorBoxes {
public:
  PriorBoxes(LayerContext &c, const pb::PriorBoxParameter &p) : c(c), p(p) {}

  void run() {
    c.requireRank(0, 4);
    c.requireRank(1, 4);
    readSizes();
    readRatios();
    readVariances();
    if (c.failed())
      return;
    const int64_t height = c.bottom(0).dims[2], width = c.bottom(0).dims[3];
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        addPixel((float(x) + p.offset()) * stepW, (float(y) + p.offset()) * stepH);
    const int64_t count = boxes.size();
    for (int64_t i = 0; i < count; i += 4)
      boxes.insert(boxes.end(), variances.begin(), variances.end());
    Tensor table = c.constant({1, 2, count}, boxes);
    c.setTop(c.node("Identity", {table}, table.dims));
  }

private:
  void readSizes() {
    const bool hasSize = p.has_img_size() || (p.has_img_h() && p.has_img_w());
    c.knownDim(0, 2, "the boxes");
    c.knownDim(0, 3, "the boxes");
    imageH =
        float(hasSize ? (p.has_img_h() ? p.img_h() : p.img_size()) : c.knownDim(1, 2, "the boxes"));
    imageW =
        float(hasSize ? (p.has_img_w() ? p.img_w() : p.img_size()) : c.knownDim(1, 3, "the boxes"));
    if (c.failed())
      return;
    stepH = p.has_step_h() ? p.step_h() : p.step();
    stepW = p.has_step_w() ? p.step_w() : p.step();
    if (stepH == 0 || stepW == 0) {
      stepH = imageH / float(c.bottom(0).dims[2]);
      stepW = imageW / float(c.bottom(0).dims[3]);
    }
    if (p.min_size_size() == 0)
      c.fail("min_size is missing");
    if (p.max_size_size() && p.max_size_size() != p.min_size_size())
      c.fail("max_size has " + Twine(p.max_size_size()) + " values, expected the " +
             Twine(p.min_size_size()) + " of min_size");
  }

  void readRatios() {
    ratios = {1};
    for (float ratio : p.aspect_ratio()) {
      if (ratio <= 0)
        return c.fail("aspect_ratio " + std::to_string(ratio) + " must be positive");
      if (llvm::any_of(ratios, [&](float known) { return std::fabs(known - ratio) < 1e-6f; }))
        continue;
      ratios.push_back(ratio);
      if (p.flip())
        ratios.push_back(1 / ratio);
    }
  }

  void readVariances() {
    variances.assign(p.variance().begin(), p.variance().end());
    if (variances.empty())
      variances = {0.1f};
    if (variances.size() == 1)
      variances.resize(4, variances[0]);
    if (variances.size() != 4)
      c.fail("variance has " + Twine(variances.size()) + " values, expected 1 or 4");
  }

  void addBox(float x, float y, float width, float height) {
    const float box[] = {(x - width / 2) / imageW, (y - height / 2) / imageH,
                         (x + width / 2) / imageW, (y + height / 2) / imageH};
    for (float value : box)
      boxes.push_back(p.clip() ? std::min(std::max(value, 0.0f), 1.0f) : value);
  }

  void addPixel(float x, float y) {
    for (int i = 0; i < p.min_size_size(); ++i) {
      const float minimum = p.min_size(i);
      addBox(x, y, minimum, minimum);
      if (p.max_size_size()) {
        const float mean = std::sqrt(minimum * p.max_size(i));
        addBox(x, y, mean, mean);
      }
      for (float ratio : llvm::ArrayRef(ratios).drop_front())
        addBox(x, y, minimum * std::sqrt(ratio), minimum / std::sqrt(ratio));
    }
  }

  LayerContext &c;
  const pb::PriorBoxParameter &p;
  float imageH = 1, imageW = 1, stepH = 1, stepW = 1;
  std::vector<float> ratios, variances, boxes;
};

void importPriorBox(LayerContext &c) { PriorBoxes(c, c.layer().prior_box_param()).run(); }

void importRoiPooling(LayerContext &c) {
  const pb::RoiPoolingParameter &p = c.layer().roi_pooling_param();
  c.requireRank(0, 4);
  Tensor regions = c.bottom(1);
  if (c.failed())
    return;
  if (regions.rank() < 2 || product(regions.dims, 1, regions.rank()) != 5)
    return c.fail("bottom '" + c.layer().bottom(1) + "' has the shape " + printShape(regions.dims) +
                  ", expected [n, 5]");
  if (p.pooled_h() < 1 || p.pooled_w() < 1)
    return c.fail("pooled_h and pooled_w must be 1 or more");
  if (regions.rank() != 2)
    regions = c.reshape(regions, {regions.dims[0], 5});
  const Dims pooled = {p.pooled_h(), p.pooled_w()};
  c.setTop(c.node("MaxRoiPool", {c.bottom(0), regions},
                  {regions.dims[0], c.bottom(0).dims[1], pooled[0], pooled[1]},
                  {{"pooled_shape", pooled}, {"spatial_scale", double(p.spatial_scale())}}));
}

} // namespace

llvm::ArrayRef<LayerRow> detectionLayers() {
  static const LayerRow rows[] = {{"DetectionOutput", importDetectionOutput},
                                  {"PriorBox", importPriorBox},
                                  {"ROIPooling", importRoiPooling},
                                  {"SSDDetectionOutput", importSsdDetectionOutput}};
  return rows;
}

} // namespace atc::caffe
