//===-- Cast.cpp - conversion of elements between types -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of elements are converted through one of two buffers that represent every value of a type
// exactly: doubles for floats, 64-bit integers for integers. So there is one loop per source type
// and two per target type, instead of one per pair.

#include "kernels/core/Nibbles.h"
#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {
/// The options of a conversion.
struct CastRounding {
  bool saturate = true;                                ///< to 8-bit floats
  enum Mode : uint8_t { Up, Down, Nearest } mode = Up; ///< to f8e8m0
};

constexpr int64_t kRun = 512;

constexpr bool isReal(uint8_t dtype) {
  switch (dtype) {
  case F32:
  case F64:
  case F16:
  case BF16:
  case F8E4M3FN:
  case F8E4M3FNUZ:
  case F8E5M2:
  case F8E5M2FNUZ:
  case F8E8M0:
  case F4E2M1:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Single rounding: a value rounded to odd (the last bit says that bits were truncated) can be
// rounded again to a much shorter format as if it were exact.
//===----------------------------------------------------------------------===//

float oddFloat(double value) {
  const float nearest = float(value);
  if (double(nearest) == value || isNan(value))
    return nearest;
  uint32_t word = __builtin_bit_cast(uint32_t, nearest);
  if (__builtin_fabs(double(nearest)) > __builtin_fabs(value))
    --word;
  return __builtin_bit_cast(float, word | 1);
}
double oddDouble(int64_t value) {
  if (value < -(int64_t(1) << 53) || value > int64_t(1) << 53)
    return double(value >> 11 | ((value & 0x7ff) != 0)) * 2048;
  return double(value);
}
double oddDouble(uint64_t value) {
  if (value > uint64_t(1) << 53)
    return double(int64_t(value >> 11 | ((value & 0x7ff) != 0))) * 2048;
  return double(int64_t(value));
}
double oddDouble(double value) { return value; }

uint8_t e8m0FromFloat(float value, CastRounding rounding) {
  const uint32_t word = __builtin_bit_cast(uint32_t, value) & 0x7fffffff;
  const uint8_t largest = rounding.saturate ? 254 : 255;
  if (word >= 0x7f800000)
    return word == 0x7f800000 ? largest : 255;
  if (word < 0x400000) // below 2^-127
    return rounding.saturate ? 0 : 255;
  uint32_t code = word >> 23, rest = word & 0x7fffff, half = 0x400000;
  if (code == 0) { // 2^-127 itself is not a normal float
    rest = (rest - half) * 2;
  }
  code += rounding.mode == CastRounding::Up        ? rest != 0
          : rounding.mode == CastRounding::Nearest ? rest >= half
                                                   : 0;
  return code > 254 ? largest : uint8_t(code);
}

uint8_t f4FromFloat(float value) {
  const uint8_t sign = __builtin_bit_cast(uint32_t, value) >> 28 & 8;
  const float magnitude = __builtin_fabsf(value);
  if (isNan(magnitude))
    return 8;
  // Halves up to 2, ones up to 4, twos up to 6; rounded half to even.
  if (magnitude < 2)
    return uint8_t(sign | int(__builtin_rintf(magnitude * 2)));
  if (magnitude < 4)
    return uint8_t(sign | (int(__builtin_rintf(magnitude)) + 2));
  return uint8_t(sign | (magnitude <= 5 ? 6 : 7));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

template <typename T, typename N> void loadRun(N *to, Tensor from, int64_t begin, int64_t count) {
  const T *data = from.as<T>() + begin;
  for (int64_t i = 0; i < count; ++i)
    to[i] = N(data[i]);
}

void loadReals(double *to, Tensor from, int64_t begin, int64_t count) {
  if (dispatchNumbers(from.dtype(), [&](auto type) {
        loadRun<typename decltype(type)::Type>(to, from, begin, count);
      }))
    return;
  for (int64_t i = 0; i < count; ++i)
    to[i] = numberAt(from, begin + i);
}

/// Loads integers as 64 bits; unsigned 64-bit values keep their bits.
void loadIntegers(int64_t *to, Tensor from, int64_t begin, int64_t count) {
  if (from.dtype() == Bool)
    return loadRun<uint8_t>(to, from, begin, count);
  if (dispatchIntegers(from.dtype(), [&](auto type) {
        loadRun<typename decltype(type)::Type>(to, from, begin, count);
      }))
    return;
  for (int64_t i = 0; i < count; ++i)
    to[i] = integerAt(from, begin + i);
}

template <typename T, typename N>
void storeRun(void *to, const N *from, int64_t begin, int64_t count) {
  T *data = static_cast<T *>(to) + begin;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (__is_same(T, float) || __is_same(T, double))
      data[i] = T(from[i]);
    else if constexpr (kIsFloat<T>)
      data[i] = T(oddFloat(oddDouble(from[i])));
    else if constexpr (!__is_same(N, double))
      data[i] = T(from[i]);
    else if constexpr (__is_same(T, uint64_t))
      data[i] = toUnsigned(from[i]);
    else
      data[i] = T(toInteger(from[i]));
  }
}

/// Writes a run of doubles or 64-bit integers. False for an unknown type.
template <typename N>
bool store(void *to, uint8_t dtype, const N *from, int64_t begin, int64_t count,
           CastRounding rounding) {
  if (dispatchNumbers(dtype, [&](auto type) {
        storeRun<typename decltype(type)::Type>(to, from, begin, count);
      }))
    return true;
  uint8_t *bytes = static_cast<uint8_t *>(to);
  switch (dtype) {
  case Bool:
    for (int64_t i = 0; i < count; ++i)
      bytes[begin + i] = from[i] != 0;
    return true;
  case F8E8M0:
    for (int64_t i = 0; i < count; ++i)
      bytes[begin + i] = e8m0FromFloat(oddFloat(oddDouble(from[i])), rounding);
    return true;
  case F8E4M3FN:
  case F8E4M3FNUZ:
  case F8E5M2:
  case F8E5M2FNUZ:
    for (int64_t i = 0; i < count; ++i)
      bytes[begin + i] = f8FromFloat(oddFloat(oddDouble(from[i])), dtype, rounding.saturate);
    return true;
  case F4E2M1:
  case U4:
  case I4:
  case U2:
  case I2: {
    uint8_t fields[kRun];
    for (int64_t i = 0; i < count; ++i)
      if (dtype == F4E2M1)
        fields[i] = f4FromFloat(oddFloat(oddDouble(from[i])));
      else if constexpr (__is_same(N, double))
        fields[i] = uint8_t(toInteger(from[i]));
      else
        fields[i] = uint8_t(from[i]);
    const int bits = int(bitsOf(dtype));
    packFields(bytes + begin * bits / 8, fields, count, bits);
    return true;
  }
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

constexpr RealFormat formatOf(uint8_t dtype) {
  return dtype == F64 ? kDouble : dtype == F16 ? kHalf : dtype == BF16 ? kBFloat : kFloat;
}

void toStrings(Context &c, Tensor from, String *out) {
  const int64_t count = from.count();
  char *text = c.makeText(maximum(count * kNumberText, int64_t(1)));
  if (!text)
    return;
  const uint8_t dtype = from.dtype();
  const RealFormat format = formatOf(dtype);
  for (int64_t i = 0; i < count; ++i) {
    int64_t size = isReal(dtype)  ? printReal(text, numberAt(from, i), format)
                   : dtype == U64 ? printNumber(text, from.as<uint64_t>()[i])
                                  : printNumber(text, integerAt(from, i));
    out[i] = {text, uint64_t(size)};
    text += size;
  }
}

/// Parses `count` strings from `begin` on as values for elements of `dtype`.
template <typename N>
bool parseRun(N *to, Tensor from, uint8_t dtype, int64_t begin, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const String text = from.as<String>()[begin + i];
    bool done;
    if constexpr (__is_same(N, double)) {
      // 8-bit floats and booleans are rounded from a double once.
      const bool wide = bitsOf(dtype) <= 8;
      done = parseReal(text, to[i], wide ? kDouble : formatOf(dtype));
    } else {
      done = parseNumber(text, to[i]);
    }
    if (!done)
      return false;
  }
  return true;
}

template <typename N>
void fromStrings(Context &c, Tensor from, uint8_t dtype, void *out, CastRounding rounding) {
  const int64_t count = from.count();
  for (int64_t begin = 0; begin < count; begin += kRun) {
    N run[kRun];
    const int64_t n = minimum(kRun, count - begin);
    if (!parseRun(run, from, dtype, begin, n))
      return c.fail("one of the strings % to % is no number", begin, begin + n - 1);
    if (!store(out, dtype, run, begin, n, rounding))
      return c.failType(dtype);
  }
}

CastRounding roundingOf(const Context &c) {
  CastRounding rounding;
  rounding.saturate = c.integer("saturate", 1) != 0;
  rounding.mode = c.is("round_mode", "up", "down")      ? CastRounding::Down
                  : c.is("round_mode", "up", "nearest") ? CastRounding::Nearest
                                                        : CastRounding::Up;
  return rounding;
}
void castTensor(Context &c, Tensor from, uint8_t dtype, CastRounding rounding) {
  const uint8_t source = from.dtype();
  if (source == dtype)
    return c.forward(0, from);
  char *out = c.make(0, dtype, from.dims());
  if (!out)
    return;
  if (bitsOf(dtype) == 0 || dtype == C64 || dtype == C128)
    return c.failType(dtype);
  if (bitsOf(source) == 0 || source == C64 || source == C128)
    return c.failType(source);
  if (dtype == Str)
    return toStrings(c, from, reinterpret_cast<String *>(out));
  if (source == Str) {
    if (isReal(dtype) || dtype == Bool)
      return fromStrings<double>(c, from, dtype, out, rounding);
    if (dtype == U64)
      return fromStrings<uint64_t>(c, from, dtype, out, rounding);
    return fromStrings<int64_t>(c, from, dtype, out, rounding);
  }
  const int64_t count = from.count();
  auto convert = [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) {
      const int64_t at = run * kRun, n = minimum(kRun, count - at);
      if (isReal(source)) {
        double buffer[kRun];
        loadReals(buffer, from, at, n);
        store(out, dtype, buffer, at, n, rounding);
      } else if (source == U64) {
        store(out, dtype, from.as<uint64_t>() + at, at, n, rounding);
      } else {
        int64_t buffer[kRun];
        loadIntegers(buffer, from, at, n);
        store(out, dtype, buffer, at, n, rounding);
      }
    }
  };
  const int64_t runs = ceilDiv(count, kRun);
  if (runs > 32)
    c.parallel(runs, convert);
  else
    convert(0, runs);
}

} // namespace

ATC_KERNEL(Cast) { castTensor(*this, in(0), uint8_t(integer("to", 0)), roundingOf(*this)); }

ATC_KERNEL(CastLike) { castTensor(*this, in(0), in(1).dtype(), roundingOf(*this)); }

ATC_KERNEL(BitCast) {
  const Tensor data = in(0);
  const uint8_t dtype = uint8_t(integer("to", 0));
  if (bitsOf(dtype) != bitsOf(data.dtype()) || data.dtype() == Str || dtype == Str)
    return fail("element type % does not have the size of type %", dtype, data.dtype());
  if (char *out = make(0, dtype, data.dims()))
    copyBytes(out, data.bytes(), bytesOf(dtype, data.count()));
}

} // namespace atc::kernels
