//===-- Lines.h - convolutions over one dim as those of images ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_BLOCKS_LINES_H
#define OPENATC_PASSES_HOST_BLOCKS_LINES_H

#include "mlir/IR/Builders.h"

namespace atc::host {

/// Rewrites convolutions over one dim to convolutions of images of one row where these can be
/// stored in blocks of channels, together with the pools, activations, sums and products between
/// them. An Unsqueeze and a Squeeze, which copy nothing, are around such a chain. A constant Pad of
/// zeros in front of a convolution becomes pads of it. Pointwise and depthwise convolutions alone
/// begin no chain: they are as fast without blocks.
void liftLines(mlir::Block &block);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_BLOCKS_LINES_H
