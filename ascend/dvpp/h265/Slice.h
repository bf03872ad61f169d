//===-- Slice.h - a picture as a slice of intra blocks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_H265_SLICE_H
#define ASCEND_DVPP_H265_SLICE_H

#include "ascend/dvpp/Planes.h"
#include "ascend/dvpp/h265/Arithmetic.h"

namespace atc::ascend::h265 {

/// The side of coding blocks; pictures are padded to a multiple of it.
inline constexpr uint32_t kBlockSide = 16;

/// Appends the blocks of a picture of Y, U, V in 4:2:0 whose size is a multiple of kBlockSide.
/// Each block is predicted from its neighbours in the same picture.
void encodeBlocks(const Planes &picture, int qp, BitWriter &writer);

} // namespace atc::ascend::h265

#endif
