//===-- ResizeMatrices.h - resizing as two matrix products ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_RESIZEMATRICES_H
#define OPENATC_FRONTENDS_TF_OPS_RESIZEMATRICES_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// Imports ResizeBicubic for images [N, H, W, C]. Where H, W and the new size are known, the
/// weights are constants.
void importResizeBicubic(NodeContext &n);

/// Imports ResizeArea, which takes the mean of the pixels that an output covers.
void importResizeArea(NodeContext &n);

/// Import the gradients of a resize of images [N, H, W, C], or of a mean over windows, whose sizes
/// are known.
void importResizeBilinearGrad(NodeContext &n);
void importResizeNearestGrad(NodeContext &n);
void importAvgPoolGrad(NodeContext &n);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_RESIZEMATRICES_H
