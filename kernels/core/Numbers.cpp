//===-- Numbers.cpp - small floats, and elements one by one ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Numbers.h"

namespace atc::kernels {

float floatFromHalf(uint16_t bits) { return halfToFloat(bits); }
uint16_t halfFromFloat(float value) { return floatToHalf(value); }

namespace {
/// The layout of the bits of an 8-bit float.
struct NarrowFormat {
  int mantissaBits, bias;
  bool hasInfinity;  ///< IEEE-like: the last exponent is infinity and NaN
  bool unsignedZero; ///< 0x80 is NaN ("fnuz")
};
constexpr NarrowFormat narrowFormatOf(uint8_t dtype) {
  switch (dtype) {
  case F8E4M3FN:
    return {3, 7, false, false};
  case F8E4M3FNUZ:
    return {3, 8, false, true};
  case F8E5M2:
    return {2, 15, true, false};
  default:
    return {2, 16, false, true}; // F8E5M2FNUZ
  }
}
float scaled(float value, int exponent) {
  // Scaled in two steps, so that neither factor overflows a float.
  int half = exponent / 2;
  auto power = [](int e) { return __builtin_bit_cast(float, uint32_t(e + 127) << 23); };
  return value * power(half) * power(exponent - half);
}
} // namespace

float floatFromF8(uint8_t bits, uint8_t dtype) {
  if (dtype == F8E8M0)
    return bits == 255 ? __builtin_nanf("") : scaled(1.0f, int(bits) - 127);
  NarrowFormat format = narrowFormatOf(dtype);
  uint32_t magnitude = bits & 0x7f;
  bool negative = bits & 0x80;
  if (format.unsignedZero ? bits == 0x80 : false)
    return __builtin_nanf("");
  if (!format.unsignedZero) {
    if (format.hasInfinity && magnitude >= 0x7c)
      return magnitude == 0x7c ? (negative ? -__builtin_inff() : __builtin_inff())
                               : __builtin_nanf("");
    if (!format.hasInfinity && magnitude == 0x7f)
      return __builtin_nanf("");
  }
  int exponent = int(magnitude >> format.mantissaBits);
  int mantissa = int(magnitude & ((1u << format.mantissaBits) - 1));
  if (exponent)
    mantissa |= 1 << format.mantissaBits;
  else
    exponent = 1;
  float value = scaled(float(mantissa), exponent - format.bias - format.mantissaBits);
  return negative ? -value : value;
}

uint8_t f8FromFloat(float value, uint8_t dtype, bool saturate) {
  if (dtype == F8E8M0) {
    // The power of two at or above the magnitude.
    uint32_t word = __builtin_bit_cast(uint32_t, value) & 0x7fffffff;
    if (word >= 0x7f800000)
      return saturate && word == 0x7f800000 ? 254 : 255;
    uint32_t exponent = word >> 23, rest = word & 0x7fffff;
    // Round half to even of the exponent is rounding up at 1.5.
    exponent += rest >= 0x400000;
    return uint8_t(exponent > 254 ? (saturate ? 254 : 255) : exponent);
  }
  NarrowFormat format = narrowFormatOf(dtype);
  uint32_t word = __builtin_bit_cast(uint32_t, value);
  uint8_t sign = uint8_t(word >> 24 & 0x80);
  uint32_t magnitude = word & 0x7fffffff;
  uint8_t nan = format.unsignedZero ? 0x80 : uint8_t(sign | (format.hasInfinity ? 0x7e : 0x7f));
  uint8_t largest = format.hasInfinity ? 0x7b : format.unsignedZero ? 0x7f : 0x7e;
  uint8_t overflow = saturate             ? uint8_t(sign | largest)
                     : format.hasInfinity ? uint8_t(sign | 0x7c)
                                          : nan;
  if (magnitude > 0x7f800000)
    return nan;
  if (magnitude == 0x7f800000)
    return overflow;
  // In units in the last place of the result, rounded half to even.
  int exponent = int(magnitude >> 23) - 127;
  int min = 1 - format.bias;
  int unit = (exponent < min ? min : exponent) - format.mantissaBits;
  float inUnits = scaled(__builtin_bit_cast(float, magnitude), -unit);
  float rounded = (inUnits + 0x1p23f) - 0x1p23f;
  uint32_t units = uint32_t(rounded);
  uint32_t exponentField = exponent < min ? 0 : uint32_t(exponent + format.bias);
  uint32_t bits = exponentField ? ((exponentField - 1) << format.mantissaBits) + units : units;
  if (bits > largest)
    return overflow;
  if (bits == 0)
    return format.unsignedZero ? 0 : sign;
  return uint8_t(sign | bits);
}

namespace {
constexpr float kF4[16] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};

unsigned fieldAt(Tensor tensor, int64_t i, int bits) {
  int perByte = 8 / bits;
  uint8_t byte = tensor.as<uint8_t>()[i / perByte];
  return byte >> (i % perByte * bits) & ((1 << bits) - 1);
}
} // namespace

int64_t integerAt(Tensor tensor, int64_t i) {
  switch (tensor.dtype()) {
  case I8:
    return tensor.as<int8_t>()[i];
  case U8:
  case Bool:
    return tensor.as<uint8_t>()[i];
  case I16:
    return tensor.as<int16_t>()[i];
  case U16:
    return tensor.as<uint16_t>()[i];
  case I32:
    return tensor.as<int32_t>()[i];
  case U32:
    return tensor.as<uint32_t>()[i];
  case I64:
    return tensor.as<int64_t>()[i];
  case U64:
    return int64_t(tensor.as<uint64_t>()[i]);
  case U4:
    return fieldAt(tensor, i, 4);
  case I4:
    return int8_t(fieldAt(tensor, i, 4) << 4) >> 4;
  case U2:
    return fieldAt(tensor, i, 2);
  case I2:
    return int8_t(fieldAt(tensor, i, 2) << 6) >> 6;
  default:
    return toInteger(numberAt(tensor, i));
  }
}

double numberAt(Tensor tensor, int64_t i) {
  switch (tensor.dtype()) {
  case F32:
    return tensor.as<float>()[i];
  case F64:
    return tensor.as<double>()[i];
  case F16:
    return tensor.as<Half>()[i];
  case BF16:
    return tensor.as<BFloat>()[i];
  case F8E4M3FN:
  case F8E4M3FNUZ:
  case F8E5M2:
  case F8E5M2FNUZ:
  case F8E8M0:
    return floatFromF8(tensor.as<uint8_t>()[i], tensor.dtype());
  case F4E2M1:
    return kF4[fieldAt(tensor, i, 4)];
  case U64:
    return double(tensor.as<uint64_t>()[i]);
  case Str:
  case C64:
  case C128:
  case Undefined:
    return 0;
  default:
    return double(integerAt(tensor, i));
  }
}

} // namespace atc::kernels
