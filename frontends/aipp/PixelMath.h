//===-- PixelMath.h - pixels of cameras as values of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIPP_PIXELMATH_H
#define OPENATC_FRONTENDS_AIPP_PIXELMATH_H

#include "frontends/aipp/ImageGeometry.h"

#include "dialects/graph/GraphDialect.h"

namespace atc::aipp {

/// Returns how many channels an image of the format has behind the swaps and the colour
/// conversion. A model may read fewer: the first ones.
int64_t channelsOf(pb::InputFormat format);

/// Returns the dims of the uint8 input in place of the model's: [n, h, w, channels], or for
/// YUV420SP_U8 [n, h * 3 / 2, w, 1], rows of Y before rows of interleaved U and V.
llvm::SmallVector<int64_t> sourceShape(pb::InputFormat format, int64_t batch,
                                       const ImageGeometry &geometry);

/// Builds the graph ops that turn `image`, of sourceShape(), into float32 [n, channels, h, w]
/// as the entry says: swap, crop, colour conversion, resize, normalization, padding.
mlir::Value buildPreprocessing(mlir::OpBuilder &builder, mlir::Location loc, const AippEntry &entry,
                               const ImageGeometry &geometry, mlir::Value image, int64_t channels);

} // namespace atc::aipp

#endif // OPENATC_FRONTENDS_AIPP_PIXELMATH_H
