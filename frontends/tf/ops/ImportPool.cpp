//===-- ImportPool.cpp - pools, resampling, blocks of pixels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Im2Col.h"
#include "frontends/tf/ops/ResizeMatrices.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::tf_import {
namespace {

template <typename OpTy> Value poolImage(NodeContext &n, Value image, const Window &window) {
  return n.create<OpTy>(image, window.kernel, window.strides, window.pads, window.dilations,
                        /*ceil_mode=*/false);
}

/// [N, C, D, H, W] as two pools of images: over H and W, then over D. That a mean does
/// not count pads holds for the parts as for the whole.
template <typename OpTy> Value poolVolume(NodeContext &n, Value image, const Window &window) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(n.shape(image));
  auto choose = [&](ArrayRef<unsigned> dims) {
    Window part;
    for (unsigned dim : dims) {
      part.kernel.push_back(window.kernel[dim]);
      part.strides.push_back(window.strides[dim]);
      part.dilations.push_back(window.dilations[dim]);
    }
    for (unsigned side : {0, 3})
      for (unsigned dim : dims)
        part.pads.push_back(window.pads[side + dim]);
    return part;
  };
  Value planes = n.reshape(image, {shape[0], shape[1] * shape[2], shape[3], shape[4]});
  planes = poolImage<OpTy>(n, planes, choose({1, 2}));
  if (n.failed())
    return {};
  int64_t height = n.shape(planes)[2], width = n.shape(planes)[3];
  Window deep = choose({0});
  deep.kernel.push_back(1);
  deep.strides.push_back(1);
  deep.dilations.push_back(1);
  deep.pads = {deep.pads[0], 0, deep.pads[1], 0};
  Value columns = n.reshape(planes, {shape[0], shape[1], shape[2], height * width});
  columns = poolImage<OpTy>(n, columns, deep);
  if (n.failed())
    return {};
  return n.reshape(columns, {shape[0], shape[1], n.shape(columns)[2], height, width});
}

template <typename OpTy, int64_t rank> void importPool(NodeContext &n) {
  n.requireRank(0, rank, rank);
  ImageLayout layout(n, rank);
  SmallVector<int64_t> kernel = layout.spatial(n, "ksize");
  if (!n.failed() && !n.hasAttr("ksize"))
    n.failAttribute("ksize", "is missing; the operator needs it");
  if (n.failed())
    return;
  Value image = layout.toCanonical(n, n.input(0));
  std::optional<Window> window = readWindow(n, layout, kernel, n.shape(image).drop_front(2));
  if (!window)
    return;
  Value result =
      rank == 5 ? poolVolume<OpTy>(n, image, *window) : poolImage<OpTy>(n, image, *window);
  n.setOutput(layout.fromCanonical(n, result));
}

/// The maximum over a window of a single channel and a filter added to it; images are
/// NHWC, the filter is [h, w, channels].
void importDilation(NodeContext &n) {
  n.requireRank(0, 4, 4);
  n.requireRank(1, 3, 3);
  if (n.failed())
    return;
  ImageLayout layout(n, 4);
  Value image = n.input(0), filter = n.input(1);
  SmallVector<int64_t> shape(n.shape(filter));
  if (shape[2] != n.shape(image)[3])
    return n.failInput(1, "is for " + Twine(shape[2]) + " channels, the input has " +
                              Twine(n.shape(image)[3]));
  std::optional<Window> window = readWindow(n, layout, ArrayRef(shape).take_front(2),
                                            n.shape(image).drop_front().drop_back(), "rates");
  if (!window)
    return;
  if (!n.isFloat(image))
    return n.failInput(0, "must hold floats");
  // Pads never win.
  double min = -std::numeric_limits<double>::infinity();
  Value rows = n.reshape(filter, {shape[0] * shape[1], shape[2]}), result;
  for (auto [index, slice] : llvm::enumerate(slicesOfWindow(n, image, *window, min))) {
    Value weights =
        n.create<graph::SliceOp>(rows, ArrayRef<int64_t>{static_cast<int64_t>(index), 0},
                                 ArrayRef<int64_t>{1, shape[2]}, ArrayRef<int64_t>{1, 1});
    Value sum = n.add(slice, n.reshape(weights, {shape[2]}));
    result = result ? n.create<graph::MaxOp>(result, sum) : sum;
  }
  n.setOutput(result);
}

/// The pixels of every window one after the other in the channels.
template <int64_t rank> void importPatches(NodeContext &n) {
  n.requireRank(0, rank, rank);
  ImageLayout layout(n, rank);
  SmallVector<int64_t> kernel = layout.spatial(n, "ksizes");
  if (n.failed())
    return;
  Value image = n.input(0);
  std::optional<Window> window =
      readWindow(n, layout, kernel, n.shape(image).drop_front().drop_back(), "rates");
  if (!window)
    return;
  SmallVector<Value> slices = slicesOfWindow(n, image, *window, 0.0);
  if (!n.failed())
    n.setOutput(slices.size() == 1 ? slices.front()
                                   : n.create<graph::ConcatOp>(ValueRange(slices), rank - 1));
}

/// The sizes are an input, [height, width]; images are NHWC.
template <graph::ResizeMode mode> void importResize(NodeContext &n) {
  n.requireRank(0, 4, 4);
  SmallVector<int64_t> size = n.constantInts(1);
  bool alignCorners = n.boolAttr("align_corners", false);
  bool halfPixel = n.boolAttr("half_pixel_centers", false);
  if (!n.failed() && size.size() != 2)
    n.failInput(1, "has " + Twine(size.size()) + " elements, expected height and width");
  if (n.failed())
    return;
  ImageLayout layout(n, 4);
  // Bilinear gives 32-bit floats whatever it is given.
  Value input = mode == graph::ResizeMode::Nearest ? n.input(0)
                                                   : n.cast(n.input(0), n.builder().getF32Type());
  Value image = layout.toCanonical(n, input);
  SmallVector<int64_t> shape(n.shape(image));
  SmallVector<double> scales(4, 1.0);
  for (int dim = 0; dim < 2; ++dim) {
    if (size[dim] < 1 || size[dim] > maxDim || shape[2 + dim] == 0)
      return n.failInput(1, "asks for the size " + Twine(size[dim]));
    scales[2 + dim] = static_cast<double>(size[dim]) / static_cast<double>(shape[2 + dim]);
    shape[2 + dim] = size[dim];
  }
  bool isNearest = mode == graph::ResizeMode::Nearest;
  auto coordinates = alignCorners ? graph::CoordinateMode::AlignCorners
                     : halfPixel  ? graph::CoordinateMode::HalfPixel
                                  : graph::CoordinateMode::Asymmetric;
  // Nearest takes floor((x + 0.5) * scale), which is half-pixel rounded up at halves.
  auto nearest = !isNearest || !(alignCorners || halfPixel) ? graph::NearestMode::Floor
                                                            : graph::NearestMode::RoundPreferCeil;
  Value result = ArrayRef(shape) == n.shape(image)
                     ? image
                     : n.createTyped<graph::ResizeOp>(shape, n.elementType(image), image, scales,
                                                      mode, coordinates, nearest, APFloat(-0.75));
  n.setOutput(layout.fromCanonical(n, result));
}

int64_t readBlock(NodeContext &n) {
  n.requireRank(0, 4, 4);
  int64_t block = n.requiredInt("block_size");
  if (!n.failed() && (block < 1 || block > maxDim / 2))
    n.failAttribute("block_size", Twine(block) + " is out of range");
  return block;
}

void importDepthToSpace(NodeContext &n) {
  int64_t block = readBlock(n);
  ImageLayout layout(n, 4);
  if (n.failed())
    return;
  n.setOutput(
      layout.fromCanonical(n, n.create<graph::DepthToSpaceOp>(layout.toCanonical(n, n.input(0)),
                                                              block, graph::DepthOrder::DCR)));
}

void importSpaceToDepth(NodeContext &n) {
  int64_t block = readBlock(n);
  ImageLayout layout(n, 4);
  if (n.failed())
    return;
  n.setOutput(layout.fromCanonical(
      n, n.create<graph::SpaceToDepthOp>(layout.toCanonical(n, n.input(0)), block)));
}

/// x / (bias + alpha * sum of squares over neighbouring channels) ^ beta.
void importLrn(NodeContext &n) {
  n.requireRank(0, 4, 4);
  int64_t radius = n.intAttr("depth_radius", 5);
  double bias = n.floatAttr("bias", 1), alpha = n.floatAttr("alpha", 1);
  double beta = n.floatAttr("beta", 0.5);
  if (!n.failed() && (radius < 0 || radius > (1 << 20)))
    n.failAttribute("depth_radius", Twine(radius) + " is out of range");
  if (n.failed())
    return;
  Value input = n.input(0);
  ArrayRef<int64_t> shape = n.shape(input);
  // The channels as the rows of a plane: a mean over a window that counts its pads.
  Value plane = n.reshape(n.mul(input, input), {1, 1, shape[0] * shape[1] * shape[2], shape[3]});
  int64_t size = 2 * radius + 1;
  Value mean = n.create<graph::AveragePoolOp>(
      plane, ArrayRef<int64_t>{1, size}, ArrayRef<int64_t>{1, 1},
      ArrayRef<int64_t>{0, radius, 0, radius}, ArrayRef<int64_t>{1, 1}, /*ceil_mode=*/false,
      /*count_include_pad=*/true);
  Value sum = n.reshape(n.mul(mean, n.scalarLike(alpha * static_cast<double>(size), input)), shape);
  Value power =
      n.create<graph::PowOp>(n.add(sum, n.scalarLike(bias, input)), n.scalarLike(beta, input));
  n.setOutput(n.div(input, power));
}

} // namespace

ArrayRef<OpRow> poolRows() {
  constexpr StringLiteral knownSizes = "NHWC of known height and width up to 8192";
  static const OpRow rows[] = {
      {"AvgPool", importPool<graph::AveragePoolOp, 4>},
      {"AvgPool3D", importPool<graph::AveragePoolOp, 5>},
      {"AvgPoolGrad", importAvgPoolGrad, knownSizes},
      {"DepthToSpace", importDepthToSpace},
      {"Dilation2D", importDilation},
      {"ExtractImagePatches", importPatches<4>},
      {"ExtractVolumePatches", importPatches<5>},
      {"LRN", importLrn},
      {"MaxPool", importPool<graph::MaxPoolOp, 4>},
      {"MaxPool3D", importPool<graph::MaxPoolOp, 5>},
      {"ResizeArea", importResizeArea, "up to 8192 pixels per axis where these are known"},
      {"ResizeBicubic", importResizeBicubic, "up to 8192 pixels per axis where these are known"},
      {"ResizeBilinear", importResize<graph::ResizeMode::Linear>},
      {"ResizeBilinearGrad", importResizeBilinearGrad, knownSizes},
      {"ResizeNearestNeighbor", importResize<graph::ResizeMode::Nearest>},
      {"ResizeNearestNeighborGrad", importResizeNearestGrad, knownSizes},
      {"SpaceToDepth", importSpaceToDepth},
  };
  return rows;
}

} // namespace atc::tf_import
