//===-- BitWriter.h - bits of parameter sets and headers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_H265_BITWRITER_H
#define ASCEND_DVPP_H265_BITWRITER_H

#include <bit>
#include <cstdint>
#include <vector>

namespace atc::ascend::h265 {

/// Appends bits to bytes, the most significant first.
class BitWriter {
public:
  /// Appends the low `count` bits of a value.
  void bits(uint32_t value, unsigned count) {
    while (count-- > 0) {
      last = uint8_t(last << 1 | (value >> count & 1));
      if (++filled == 8) {
        bytes.push_back(last);
        filled = 0;
      }
    }
  }
  /// Appends one bit.
  void flag(bool value) { bits(value, 1); }

  /// Appends a number in the code of Exp-Golomb, ue(v).
  void number(uint32_t value) {
    const unsigned width = unsigned(std::bit_width(value + 1));
    bits(0, width - 1);
    bits(value + 1, width);
  }
  /// Appends a number with a sign, se(v).
  void signedNumber(int32_t value) {
    number(value > 0 ? uint32_t(2 * value - 1) : uint32_t(-2 * value));
  }

  /// Ends with a one and zeros up to a whole byte.
  void align() {
    flag(true);
    pad();
  }

  /// Fills the last byte with zeros.
  void pad() {
    while (filled != 0)
      flag(false);
  }

  std::vector<uint8_t> bytes; ///< the whole ones

private:
  uint8_t last = 0;
  unsigned filled = 0;
};

/// The types of NAL units that are written.
enum class UnitType : uint8_t {
  IdrPicture = 19,
  VideoParameters = 32,
  SequenceParameters = 33,
  PictureParameters = 34
};

/// Appends a NAL unit behind a start code; three bytes that look like a start code get a 3 between
/// them.
inline void appendUnit(UnitType type, const std::vector<uint8_t> &payload,
                       std::vector<uint8_t> &stream) {
  stream.insert(stream.end(), {0, 0, 0, 1, uint8_t(uint8_t(type) << 1), 1});
  unsigned zeros = 0;
  for (uint8_t byte : payload) {
    if (zeros == 2 && byte <= 3) {
      stream.push_back(3);
      zeros = 0;
    }
    stream.push_back(byte);
    zeros = byte == 0 ? zeros + 1 : 0;
  }
}

} // namespace atc::ascend::h265

#endif
