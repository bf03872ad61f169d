//===-- Arithmetic.cpp --------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/h265/Arithmetic.h"

#include <algorithm>

namespace atc::ascend::h265 {
namespace {

/// The initial values of the contexts of intra slices, in the order of ContextIndex.
constexpr uint8_t initialValues[ContextCount] = {
    139, 141, 157,                                                   // SplitFlag
    184,                                                             // PartMode
    184,                                                             // ModeIsLikely
    63,                                                              // ChromaMode
    111, 141,                                                        // LumaIsCoded
    94,  138, 182, 154,                                              // ChromaIsCoded
    110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, // LastX
    111, 79,  108, 123, 63,                                          //
    110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, // LastY
    111, 79,  108, 123, 63,                                          //
    91,  171, 134, 141,                                              // GroupIsCoded
    111, 111, 125, 110, 110, 94,  124, 108, 124, 107, 125, 141, 179, // IsSignificant
    153, 125, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179, 153, //
    125, 140, 139, 182, 182, 152, 136, 152, 136, 153, 136, 139, 111, //
    136, 139, 111,                                                   //
    140, 92,  137, 138, 140, 152, 138, 139, 153, 74,  149, 92,  139, // GreaterOne
    107, 122, 152, 140, 179, 166, 182, 140, 227, 122, 197,           //
    138, 153, 136, 167, 152, 152,                                    // GreaterTwo
};

/// The range of the less likely value by state and by two bits of the range.
constexpr uint8_t smallRanges[64][4] = {
    {128, 176, 208, 240}, {128, 167, 197, 227}, {128, 158, 187, 216}, {123, 150, 178, 205},
    {116, 142, 169, 195}, {111, 135, 160, 185}, {105, 128, 152, 175}, {100, 122, 144, 166},
    {95, 116, 137, 158},  {90, 110, 130, 150},  {85, 104, 123, 142},  {81, 99, 117, 135},
    {77, 94, 111, 128},   {73, 89, 105, 122},   {69, 85, 100, 116},   {66, 80, 95, 110},
    {62, 76, 90, 104},    {59, 72, 86, 99},     {56, 69, 81, 94},     {53, 65, 77, 89},
    {51, 62, 73, 85},     {48, 59, 69, 80},     {46, 56, 66, 76},     {43, 53, 63, 72},
    {41, 50, 59, 69},     {39, 48, 56, 65},     {37, 45, 54, 62},     {35, 43, 51, 59},
    {33, 41, 48, 56},     {32, 39, 46, 53},     {30, 37, 43, 50},     {29, 35, 41, 48},
    {27, 33, 39, 45},     {26, 31, 37, 43},     {24, 30, 35, 41},     {23, 28, 33, 39},
    {22, 27, 32, 37},     {21, 26, 30, 35},     {20, 24, 29, 33},     {19, 23, 27, 31},
    {18, 22, 26, 30},     {17, 21, 25, 28},     {16, 20, 23, 27},     {15, 19, 22, 25},
    {14, 18, 21, 24},     {14, 17, 20, 23},     {13, 16, 19, 22},     {12, 15, 18, 21},
    {12, 14, 17, 20},     {11, 14, 16, 19},     {11, 13, 15, 18},     {10, 12, 15, 17},
    {10, 12, 14, 16},     {9, 11, 13, 15},      {9, 11, 12, 14},      {8, 10, 12, 14},
    {8, 9, 11, 13},       {7, 9, 11, 12},       {7, 9, 10, 12},       {7, 8, 10, 11},
    {6, 8, 9, 11},        {6, 7, 9, 10},        {6, 7, 8, 9},         {2, 2, 2, 2}};

/// The state behind a less likely value.
constexpr uint8_t afterUnlikely[64] = {
    0,  0,  1,  2,  2,  4,  4,  5,  6,  7,  8,  9,  9,  11, 11, 12, 13, 13, 15, 15, 16, 16,
    18, 18, 19, 19, 21, 21, 22, 22, 23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30,
    31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63};

/// Returns the state with which a context starts.
uint8_t startOf(uint8_t initial, int qp) {
  const int slope = (initial >> 4) * 5 - 45, offset = ((initial & 15) << 3) - 16;
  const int position = std::clamp(((slope * std::clamp(qp, 0, 51)) >> 4) + offset, 1, 126);
  return position <= 63 ? uint8_t(2 * (63 - position)) : uint8_t(2 * (position - 64) + 1);
}

} // namespace

ArithmeticEncoder::ArithmeticEncoder(BitWriter &writer, int qp) : writer(writer) {
  for (unsigned i = 0; i < ContextCount; ++i)
    states[i] = startOf(initialValues[i], qp);
}

void ArithmeticEncoder::putBit(bool bit) {
  if (first)
    first = false;
  else
    writer.flag(bit);
  for (; outstanding > 0; --outstanding)
    writer.flag(!bit);
}

void ArithmeticEncoder::renormalize() {
  while (range < 256) {
    if (low < 256) {
      putBit(false);
    } else if (low >= 512) {
      low -= 512;
      putBit(true);
    } else {
      low -= 256;
      ++outstanding;
    }
    range <<= 1;
    low <<= 1;
  }
}

void ArithmeticEncoder::bin(unsigned context, bool value) {
  uint8_t &state = states[context];
  const unsigned position = state >> 1;
  const uint32_t small = smallRanges[position][range >> 6 & 3];
  range -= small;
  if (value == bool(state & 1)) {
    if (position < 62)
      state += 2;
  } else {
    low += range;
    range = small;
    state = uint8_t(afterUnlikely[position] << 1 | ((state & 1) ^ (position == 0)));
  }
  renormalize();
}

void ArithmeticEncoder::equalBins(uint32_t value, unsigned count) {
  while (count-- > 0) {
    low <<= 1;
    if (value >> count & 1)
      low += range;
    if (low >= 1024) {
      putBit(true);
      low -= 1024;
    } else if (low < 512) {
      putBit(false);
    } else {
      low -= 512;
      ++outstanding;
    }
  }
}

void ArithmeticEncoder::endOfSlice(bool ends) {
  range -= 2;
  if (!ends) {
    renormalize();
    return;
  }
  low += range;
  range = 2;
  renormalize();
  putBit(low >> 9 & 1);
  writer.bits((low >> 7 & 3) | 1, 2); // the last one is the stop bit of the unit
  writer.pad();
}

} // namespace atc::ascend::h265
