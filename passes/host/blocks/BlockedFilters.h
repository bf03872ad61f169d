//===-- BlockedFilters.h - filters of images in blocks of channels --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_BLOCKS_BLOCKEDFILTERS_H
#define OPENATC_PASSES_HOST_BLOCKS_BLOCKEDFILTERS_H

#include "dialects/graph/ops/HostOps.h"
#include "llvm/Support/MathExtras.h"

namespace atc::host {

/// The channels per block; kBlock of kernels/conv/ChannelBlocks.h and
/// ByteBlocks.h.
inline constexpr int64_t blockSize = 16;
inline int64_t blocksOf(int64_t channels) { return llvm::divideCeil(channels, blockSize); }

/// A convolution with fewer output channels would compute more padding than
/// results.
inline constexpr int64_t minChannels = 8;

/// Returns whether a call computes each element from one element of its first
/// input, and a finite value for 0.
bool isElementwise(llvm::StringRef kernel);

/// Groups of f32 that are joined compute zeros: this many times the products at
/// most, which costs what blocks save.
inline constexpr int64_t maxJoinedFloats = 4;
/// Returns how many groups of a convolution, up to `max`, become one, so that
/// its channels fill blocks or all of them are one; 0 where none do. `channels`
/// are those per group.
int64_t groupsPerBlock(int64_t outputs, int64_t channels, int64_t groups, int64_t max);
/// Returns f32 weights [outputs, channels per group, ...taps] for groups of
/// which `joined` are one, with zeros between them; null where the data cannot
/// be read.
mlir::ElementsAttr joinGroups(mlir::ElementsAttr weights, int64_t groups, int64_t joined);

/// Returns f32 weights [outputs, inputs, ...taps] as [output blocks, input
/// blocks, taps, lanes, 16], where `lanes` input channels are a block; zeros
/// for channels that do not exist. `images` are the channels of each image that
/// is read, which begins with a block of its own. Null where the data cannot be
/// read.
mlir::ElementsAttr packWeights(mlir::ElementsAttr weights, int64_t lanes,
                               llvm::ArrayRef<int64_t> images);
/// Returns f32 weights [channels, 1, ...taps] of a depthwise convolution as
/// [blocks, taps, 16]; null where the data cannot be read.
mlir::ElementsAttr packDepthwise(mlir::ElementsAttr weights);

/// The constants that a QLinearConv of images in blocks of 16 channels reads, in the order of
/// kernels/conv/ByteBlocks.h.
struct ByteFilters {
  mlir::ElementsAttr weights, bias,
      factors;        ///< weights: null where there is no such form
  int64_t groups = 1; ///< of whole blocks
  bool isDepthwise = false;

  explicit operator bool() const { return weights != nullptr; }
};

/// Returns the filters of a QLinearConv of `groups` groups whose operands other
/// than the data are constant, with signed weights of zero point 0 or unsigned
/// ones of 128. Groups whose channels do not fill blocks are joined, with zeros
/// between them.
ByteFilters packByteFilters(graph::HostCallOp call, int64_t groups);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_BLOCKS_BLOCKEDFILTERS_H
