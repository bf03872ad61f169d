//===-- SelectPreprocessing.cpp - preprocessing that loads of images do ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ExpandPreprocessing.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/StorageAssignment.h"
#include "passes/npu/Passes.h"
#include "passes/npu/select/PixelLoads.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSELECTPREPROCESSING
#include "passes/npu/Passes.h.inc"

kernel::Storage PixelLoad::window(const kernel::Storage &image) const {
  if (!matrix.empty())
    return image.permuted({0, 3, 1, 2});
  return image.slice(1, crop[0], crop[2])
      .slice(2, crop[1], crop[3])
      .slice(3, first, count)
      .permuted({0, 3, 1, 2});
}

ir::PixelsAttr PixelLoad::attributes(Builder &builder) const {
  ir::YuvAttr yuv;
  if (!matrix.empty())
    yuv =
        ir::YuvAttr::get(builder.getContext(), builder.getDenseI64ArrayAttr(crop),
                         builder.getDenseI64ArrayAttr(matrix), builder.getDenseI64ArrayAttr(bias));
  return ir::PixelsAttr::get(builder.getContext(), builder.getDenseF64ArrayAttr(means),
                             builder.getDenseF64ArrayAttr(factors), yuv);
}

/// Returns mean + min where subtracting it from a pixel rounds as subtracting one after the other
/// does: the first difference is exact.
static std::optional<float> joinOffsets(float mean, float min) {
  const double sum = double(mean) + double(min);
  const bool isExact = std::nearbyint(mean) == mean && std::abs(mean) <= 65536;
  if (float(sum) != sum || !(isExact || min == 0))
    return std::nullopt;
  return float(sum);
}

/// Sets the planes of `load` from those of interleaved pixels. Returns why that is not possible.
static StringRef setChannels(graph::PreprocessOp op, PixelLoad &load) {
  const ArrayRef<int64_t> planes = op.getPlanes().take_front(op.getType().getDimSize(1));
  load.first = *llvm::min_element(planes);
  load.count = *llvm::max_element(planes) - load.first + 1;
  constexpr int64_t maxChannels = 4;
  if (op.getMatrix())
    return "colours are converted to luma and chroma";
  if (load.count > maxChannels)
    return "it has more than 4 channels";
  for (int64_t plane : planes) {
    if (llvm::is_contained(load.order, plane - load.first))
      return "two channels are one of the image";
    load.order.push_back(plane - load.first);
  }
  return "";
}

/// Sets the colours of `load` from luma and chroma. Returns why that is not possible.
static StringRef setColours(graph::PreprocessOp op, PixelLoad &load) {
  load.count = op.getType().getDimSize(1);
  if (load.count > 3)
    return "it has more than 3 channels";
  load.matrix.assign(load.count * 3, 0);
  load.bias.assign(load.count, 0);
  for (int64_t channel = 0; channel < load.count; ++channel) {
    load.order.push_back(channel);
    if (!op.getMatrix()) {
      load.matrix[channel * 3 + op.getPlanes()[channel]] = 256;
      continue;
    }
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t factor = (*op.getMatrix())[channel * 3 + i];
      load.matrix[channel * 3 + op.getPlanes()[i]] += factor;
      load.bias[channel] -= factor * (*op.getBefore())[i];
    }
    load.bias[channel] += 256 * (*op.getAfter())[channel];
  }
  return "";
}

std::optional<PixelLoad> findPixelLoad(graph::PreprocessOp op, std::string *reason) {
  auto refuse = [&](StringRef text) -> std::optional<PixelLoad> {
    if (reason)
      *reason = text.str();
    return std::nullopt;
  };
  PixelLoad load;
  llvm::append_range(load.crop, op.getCrop());
  if (StringRef text = op.getSemiPlanar() ? setColours(op, load) : setChannels(op, load);
      !text.empty())
    return refuse(text);
  load.means.assign(load.count, 0.0);
  load.factors.assign(load.count, 1.0);
  for (auto [channel, to] : llvm::enumerate(load.order)) {
    const std::optional<float> mean = joinOffsets(op.getMeans()[channel], op.getMins()[channel]);
    const float factor = op.getFactors()[channel];
    if (!mean || factor == 0 || !std::isfinite(factor))
      return refuse("the offsets of a channel do not join into one, or its factor is 0");
    load.means[to] = *mean;
    load.factors[to] = factor;
  }
  return load;
}

namespace {

struct SelectPreprocessingPass : impl::NpuSelectPreprocessingBase<SelectPreprocessingPass> {
  void runOnOperation() override {
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<graph::PreprocessOp>())) {
      joinCast(op);
      std::string reason = "other ops than convolutions of the cube read it";
      const bool areConvs = llvm::all_of(op->getUsers(), [](Operation *user) {
        auto conv = dyn_cast<graph::ConvOp>(user);
        return conv && kernel::readsImage(conv) && kernel::isKnown(conv.getFilter());
      });
      if (areConvs && findPixelLoad(op, &reason)) {
        remarkPassed(getArgument(), op.getLoc(), "Fused")
            << "the image is preprocessed while the convolution loads it";
        ++numFused;
        continue;
      }
      remarkMissed(getArgument(), op.getLoc(), "NotFused")
          << remark::add("kernels of their own preprocess the image: {0}", reason);
      graph::expandPreprocessing(op);
    }
  }

private:
  /// Lets `op` have the type that a cast makes of its result.
  static void joinCast(graph::PreprocessOp op) {
    auto cast = op->hasOneUse() ? dyn_cast<graph::CastOp>(*op->user_begin()) : graph::CastOp();
    if (!cast || !cast.getType().getElementType().isF16())
      return;
    op.getResult().setType(cast.getType());
    cast.replaceAllUsesWith(op.getResult());
    cast.erase();
  }
};

} // namespace
} // namespace atc::npu
