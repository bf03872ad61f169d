//===-- PixelLoads.h - preprocessing that loads of images do ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_PIXELLOADS_H
#define OPENATC_PASSES_NPU_SELECT_PIXELLOADS_H

#include "dialects/graph/ops/ImageOps.h"
#include "dialects/npu/Npu.h"
#include "passes/kernel/Storage.h"

#include <optional>

namespace atc::npu {

/// Describes how a convolution loads the pixels that a graph.preprocess reads: adjacent channels of
/// a window of interleaved pixels, which keep the order of the image (the filter is permuted
/// instead), or the colours of luma and chroma. Each channel is normalized.
struct PixelLoad {
  int64_t first = 0, count = 0;                ///< channels of the image
  llvm::SmallVector<int64_t, 4> order;         ///< the loaded channel of each channel of the result
  llvm::SmallVector<double, 4> means, factors; ///< of each loaded channel
  llvm::SmallVector<int64_t, 4> crop;          ///< top, left, height, width
  llvm::SmallVector<int64_t, 9> matrix; ///< from luma, u and v to each channel; empty: interleaved
  llvm::SmallVector<int64_t, 3> bias;   ///< of each channel, times 256

  /// Returns the loaded channels of `image`, the storage [N][H][W][C] of pixels, as [N][c][h][w];
  /// of luma and chroma the whole image [N][1][H * 3/2][W].
  kernel::Storage window(const kernel::Storage &image) const;
  ir::PixelsAttr attributes(mlir::Builder &builder) const;
};

/// Returns the load of what `op` reads; nothing, with the reason in `reason` where it is not null,
/// where load_image cannot compute what `op` does.
std::optional<PixelLoad> findPixelLoad(graph::PreprocessOp op, std::string *reason = nullptr);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_PIXELLOADS_H
