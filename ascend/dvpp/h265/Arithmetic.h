//===-- Arithmetic.h - arithmetic codes of H.265 -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_H265_ARITHMETIC_H
#define ASCEND_DVPP_H265_ARITHMETIC_H

#include "ascend/dvpp/h265/BitWriter.h"

#include <array>

namespace atc::ascend::h265 {

/// The index of the first context of each kind of bin.
enum ContextIndex : unsigned {
  SplitFlag = 0,                    // 3: coded quadtree
  PartMode = SplitFlag + 3,         // 1
  ModeIsLikely = PartMode + 1,      // 1: prev_intra_luma_pred_flag
  ChromaMode = ModeIsLikely + 1,    // 1
  LumaIsCoded = ChromaMode + 1,     // 2: cbf_luma
  ChromaIsCoded = LumaIsCoded + 2,  // 4: cbf_cb and cbf_cr
  LastX = ChromaIsCoded + 4,        // 18: prefix of the last column
  LastY = LastX + 18,               // 18
  GroupIsCoded = LastY + 18,        // 4: coded_sub_block_flag
  IsSignificant = GroupIsCoded + 4, // 42
  GreaterOne = IsSignificant + 42,  // 24
  GreaterTwo = GreaterOne + 24,     // 6
  ContextCount = GreaterTwo + 6
};

/// Encodes bins with adaptive probabilities (CABAC), as they are in a slice of intra pictures.
class ArithmeticEncoder {
public:
  /// Starts a slice whose quantization parameter is `qp`; its bits go behind those of `writer`.
  ArithmeticEncoder(BitWriter &writer, int qp);

  /// Appends a bin whose probability `context` tracks.
  void bin(unsigned context, bool value);
  /// Appends bins that are as likely 0 as 1.
  void equalBins(uint32_t value, unsigned count);
  /// Appends whether the slice ends. The end is followed by no other bin: it ends the bits, too.
  void endOfSlice(bool ends);

private:
  void putBit(bool bit);
  void renormalize();

  BitWriter &writer;
  std::array<uint8_t, ContextCount> states; // 2 * state + the likelier value
  uint32_t low = 0, range = 510;
  uint32_t outstanding = 0;
  bool first = true;
};

} // namespace atc::ascend::h265

#endif
