//===-- NumberText.cpp - exact conversion of numbers to and from text -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses integers of any size, so that every digit is correct: converting numbers to text and back
// must not change them.

#include "kernels/core/Math.h"
#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

/// An unsigned integer below 2^4096: the largest one has 780 digits times the powers of ten and two
/// of double's range.
struct Natural {
  static constexpr int kWords = 132;
  uint32_t words[kWords];
  int size = 0; ///< words[size - 1] is not 0

  explicit Natural(uint64_t value = 0) {
    for (; value; value >>= 32)
      words[size++] = uint32_t(value);
  }
  bool isZero() const { return size == 0; }
  int bits() const { return size ? size * 32 - __builtin_clz(words[size - 1]) : 0; }
  void multiplyAdd(uint32_t factor, uint32_t summand) {
    uint64_t carry = summand;
    for (int i = 0; i < size; ++i) {
      carry += uint64_t(words[i]) * factor;
      words[i] = uint32_t(carry);
      carry >>= 32;
    }
    if (carry && size < kWords)
      words[size++] = uint32_t(carry);
  }
  void multiplyPower10(int exponent) {
    for (; exponent >= 9; exponent -= 9)
      multiplyAdd(1000000000, 0);
    for (; exponent > 0; --exponent)
      multiplyAdd(10, 0);
  }
  void shiftLeft(int count) {
    if (!size || !count)
      return;
    const int whole = count / 32, part = count % 32;
    const int newSize = minimum(size + whole + 1, kWords);
    for (int i = newSize - 1; i >= 0; --i) {
      const int from = i - whole;
      uint64_t high = from >= 0 && from < size ? words[from] : 0;
      uint64_t low = from >= 1 && from - 1 < size ? words[from - 1] : 0;
      words[i] = uint32_t((high << 32 | low) << part >> 32);
    }
    size = newSize;
    trim();
  }
  /// Divides by 2^count, to the nearest integer and of two to the even one.
  void divideByPower2(int count) {
    if (count == 0)
      return;
    const int whole = count / 32, part = count % 32;
    auto bit = [&](int at) { return at / 32 < size && (words[at / 32] >> (at % 32) & 1); };
    const bool half = bit(count - 1), odd = bit(count);
    bool rest = false;
    for (int i = 0; i < minimum(size, (count - 1) / 32 + 1) && !rest; ++i) {
      const int inner = count - 1 - 32 * i; // bits of this word that lie below the half
      rest = words[i] & (inner >= 32 ? ~0u : (1u << inner) - 1);
    }
    for (int i = 0; i + whole < size; ++i) {
      const uint64_t high = i + whole + 1 < size ? words[i + whole + 1] : 0;
      words[i] = uint32_t((high << 32 | words[i + whole]) >> part);
    }
    size = maximum(size - whole, 0);
    trim();
    if (half && (rest || odd))
      add(Natural(1));
  }
  /// Divides by a word and returns the remainder.
  uint32_t divide(uint32_t divisor) {
    uint64_t rest = 0;
    for (int i = size - 1; i >= 0; --i) {
      rest = rest << 32 | words[i];
      words[i] = uint32_t(rest / divisor);
      rest %= divisor;
    }
    trim();
    return uint32_t(rest);
  }
  void subtract(const Natural &other) {
    int64_t borrow = 0;
    for (int i = 0; i < size; ++i) {
      borrow += int64_t(words[i]) - (i < other.size ? other.words[i] : 0);
      words[i] = uint32_t(borrow);
      borrow >>= 32;
    }
    trim();
  }
  void add(const Natural &other) {
    uint64_t carry = 0;
    const int longest = maximum(size, other.size);
    for (int i = 0; i < longest; ++i) {
      carry += uint64_t(i < size ? words[i] : 0) + (i < other.size ? other.words[i] : 0);
      words[i] = uint32_t(carry);
      carry >>= 32;
    }
    size = longest;
    if (carry && size < kWords)
      words[size++] = uint32_t(carry);
  }
  static int compare(const Natural &a, const Natural &b) {
    if (a.size != b.size)
      return a.size < b.size ? -1 : 1;
    for (int i = a.size - 1; i >= 0; --i)
      if (a.words[i] != b.words[i])
        return a.words[i] < b.words[i] ? -1 : 1;
    return 0;
  }

private:
  void trim() {
    while (size && !words[size - 1])
      --size;
  }
};

double timesPower2(double value, int exponent) {
  for (; exponent > 1000; exponent -= 1000)
    value *= 0x1p1000;
  // Scaled in two steps, of which only the second can become subnormal.
  for (; exponent < -1000; exponent += 537)
    value *= 0x1p-537;
  return value * __builtin_bit_cast(double, uint64_t(exponent + 1023) << 52);
}

int64_t put(char *to, const char *text) {
  const int64_t size = int64_t(__builtin_strlen(text));
  copyBytes(to, text, size);
  return size;
}

/// Returns the decimal exponent of significand * 2^exponent as 0.d1d2d3... * 10^point, or one less.
int minPoint(uint64_t significand, int exponent) {
  const int bits = 63 - __builtin_clzll(significand) + exponent;
  return int(math::ceil(bits * 0.30102999566398119521 - 1e-10));
}

/// The shortest digits that are nearer to significand * 2^exponent than to its
/// neighbours. Returns how many; the value is 0.d1d2d3... * 10^point.
int shortestDigits(uint64_t significand, int exponent, RealFormat format, char *digits,
                   int &point) {
  // The neighbours are value +- gap / 2; below a power of two the gap is half.
  const bool narrow =
      significand == uint64_t(1) << (format.bits - 1) && exponent > format.minExponent;
  const bool even = significand % 2 == 0;
  Natural rest(significand), scale(1), up(1), down(1);
  rest.shiftLeft(1 + narrow + maximum(exponent, 0));
  scale.shiftLeft(1 + narrow + maximum(-exponent, 0));
  up.shiftLeft(narrow + maximum(exponent, 0));
  down.shiftLeft(maximum(exponent, 0));
  point = minPoint(significand, exponent);
  if (point > 0) {
    scale.multiplyPower10(point);
  } else {
    rest.multiplyPower10(-point);
    up.multiplyPower10(-point);
    down.multiplyPower10(-point);
  }
  Natural high = rest;
  high.add(up);
  const int reached = Natural::compare(high, scale);
  if (reached > 0 || (reached == 0 && even)) {
    ++point;
  } else {
    rest.multiplyAdd(10, 0);
    up.multiplyAdd(10, 0);
    down.multiplyAdd(10, 0);
  }
  for (int count = 0;;) {
    int digit = 0;
    for (; Natural::compare(rest, scale) >= 0; ++digit)
      rest.subtract(scale);
    const int toLow = Natural::compare(rest, down);
    high = rest;
    high.add(up);
    const int toHigh = Natural::compare(high, scale);
    const bool low = toLow < 0 || (toLow == 0 && even), top = toHigh > 0 || (toHigh == 0 && even);
    if (low || top) {
      if (low && top) {
        rest.shiftLeft(1);
        const int half = Natural::compare(rest, scale);
        digit += half > 0 || (half == 0 && digit % 2); // a tie rounds to even
      } else {
        digit += top;
      }
      digits[count++] = char('0' + digit);
      return count;
    }
    digits[count++] = char('0' + digit);
    rest.multiplyAdd(10, 0);
    up.multiplyAdd(10, 0);
    down.multiplyAdd(10, 0);
  }
}

/// Writes the first `count` digits of significand * 2^exponent, rounded, ties to even; the value is
/// 0.d1d2d3... * 10^point.
void roundedDigits(uint64_t significand, int exponent, int count, char *digits, int &point) {
  point = 1;
  for (int i = 0; i < count; ++i)
    digits[i] = '0';
  if (!significand)
    return;
  Natural rest(significand), scale(1);
  rest.shiftLeft(maximum(exponent, 0));
  scale.shiftLeft(maximum(-exponent, 0));
  point = minPoint(significand, exponent);
  if (point > 0)
    scale.multiplyPower10(point);
  else
    rest.multiplyPower10(-point);
  if (Natural::compare(rest, scale) >= 0)
    ++point;
  else
    rest.multiplyAdd(10, 0);
  for (int i = 0; i < count; ++i) {
    for (; Natural::compare(rest, scale) >= 0; ++digits[i])
      rest.subtract(scale);
    rest.multiplyAdd(i + 1 < count ? 10 : 2, 0);
  }
  const int half = Natural::compare(rest, scale);
  if (half < 0 || (half == 0 && digits[count - 1] % 2 == 0))
    return;
  int last = count - 1;
  for (; last >= 0 && digits[last] == '9'; --last)
    digits[last] = '0';
  if (last >= 0)
    ++digits[last];
  else
    digits[0] = '1', ++point;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; }

bool equalLower(String text, const char *wanted) {
  if (text.size != __builtin_strlen(wanted))
    return false;
  for (uint64_t i = 0; i < text.size; ++i)
    if (lower(text.data[i]) != wanted[i])
      return false;
  return true;
}

/// Returns the value of `format` nearest to digits * 10^exponent, ties to even.
double nearest(Natural number, int exponent, RealFormat format) {
  Natural divisor(1);
  if (exponent > 0)
    number.multiplyPower10(exponent);
  else
    divisor.multiplyPower10(-exponent);
  int power = maximum(number.bits() - divisor.bits() - format.bits, format.minExponent);
  if (power < 0)
    number.shiftLeft(-power);
  else
    divisor.shiftLeft(power);
  // Long division; the quotient has at most bits + 1 bits.
  divisor.shiftLeft(format.bits + 1);
  uint64_t quotient = 0;
  for (int i = 0; i <= format.bits + 1; ++i) {
    quotient <<= 1;
    if (Natural::compare(number, divisor) >= 0) {
      number.subtract(divisor);
      quotient |= 1;
    }
    number.shiftLeft(1);
  }
  bool up;
  if (quotient >> format.bits) {
    up = (quotient & 1) && (!number.isZero() || (quotient & 2));
    quotient >>= 1;
    ++power;
  } else {
    const int half = Natural::compare(number, divisor);
    up = half > 0 || (half == 0 && (quotient & 1));
  }
  return timesPower2(double(quotient + up), power);
}

} // namespace

int64_t printFixed(char *to, double value, int digits) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, value);
  int64_t size = 0;
  if (bits >> 63)
    to[size++] = '-';
  const int stored = int(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (stored == 0x7ff)
    return size + put(to + size, fraction ? "nan" : "inf");
  const int exponent = maximum(stored, 1) - 1075;
  Natural number(stored ? fraction | uint64_t(1) << 52 : fraction);
  number.multiplyPower10(digits);
  if (exponent >= 0)
    number.shiftLeft(exponent);
  else
    number.divideByPower2(-exponent);
  char reversed[kFixedText];
  int64_t count = 0;
  while (!number.isZero() || count <= digits) {
    uint32_t block = number.divide(1000000000);
    for (int i = 0; i < 9; ++i, block /= 10)
      reversed[count++] = char('0' + block % 10);
  }
  while (count > digits + 1 && reversed[count - 1] == '0')
    --count;
  while (count > 0) {
    to[size++] = reversed[--count];
    if (count == digits && digits)
      to[size++] = '.';
  }
  return size;
}

int64_t printReal(char *to, double value, Notation notation, int digits, bool keepsPoint) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, value);
  const int stored = int(bits >> 52 & 0x7ff);
  if (notation == Notation::Fixed || stored == 0x7ff) {
    int64_t size = printFixed(to, value, digits);
    if (keepsPoint && !digits && stored != 0x7ff)
      to[size++] = '.';
    return size;
  }
  const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  const bool shortest = notation == Notation::Shortest;
  const int count = shortest ? maximum(digits, 1) : digits + 1;
  char text[kMaxDigits + 1];
  int point;
  roundedDigits(stored ? fraction | uint64_t(1) << 52 : fraction, maximum(stored, 1) - 1075, count,
                text, point);
  const int exponent = point - 1;
  const bool isPlain = shortest && exponent >= -4 && exponent < count;
  int64_t size = 0;
  if (isPlain) {
    size = printFixed(to, value, count - 1 - exponent);
    if (keepsPoint && count - 1 == exponent)
      to[size++] = '.';
  } else {
    if (bits >> 63)
      to[size++] = '-';
    to[size++] = text[0];
    if (count > 1 || keepsPoint)
      to[size++] = '.';
    copyBytes(to + size, text + 1, count - 1);
    size += count - 1;
  }
  const bool hasPoint = isPlain ? count - 1 > exponent : count > 1;
  if (shortest && hasPoint && !keepsPoint) {
    while (to[size - 1] == '0')
      --size;
    size -= to[size - 1] == '.';
  }
  if (isPlain)
    return size;
  to[size++] = 'e';
  to[size++] = exponent < 0 ? '-' : '+';
  const int power = exponent < 0 ? -exponent : exponent;
  if (power < 10)
    to[size++] = '0';
  return size + printNumber(to + size, uint64_t(power));
}

int64_t printNumber(char *to, uint64_t value) {
  char digits[20];
  int64_t count = 0;
  do
    digits[count++] = char('0' + value % 10);
  while (value /= 10);
  for (int64_t i = 0; i < count; ++i)
    to[i] = digits[count - 1 - i];
  return count;
}

int64_t printNumber(char *to, int64_t value) {
  if (value >= 0)
    return printNumber(to, uint64_t(value));
  *to = '-';
  return 1 + printNumber(to + 1, -uint64_t(value));
}

int64_t printReal(char *to, double value, RealFormat format) {
  if (isNan(value))
    return put(to, "NaN");
  char *start = to;
  if (__builtin_signbit(value)) {
    *to++ = '-';
    value = -value;
  }
  if (value == __builtin_inf())
    return to - start + put(to, "INF");
  if (value == 0)
    return to - start + put(to, "0.0");
  // value = significand * 2^exponent with as many bits as the format has.
  const uint64_t word = __builtin_bit_cast(uint64_t, value);
  uint64_t significand = word & 0xfffffffffffff;
  int exponent = int(word >> 52);
  if (exponent)
    significand |= uint64_t(1) << 52;
  else
    exponent = 1;
  exponent -= 1075;
  while (significand % 2 == 0 && (significand >> format.bits || exponent < format.minExponent)) {
    significand /= 2;
    ++exponent;
  }
  while (!(significand >> (format.bits - 1)) && exponent > format.minExponent) {
    significand *= 2;
    --exponent;
  }
  char digits[20];
  int point;
  const int count = shortestDigits(significand, exponent, format, digits, point);
  if (point > 16 || point < -3) {
    *to++ = digits[0];
    if (count > 1) {
      *to++ = '.';
      copyBytes(to, digits + 1, count - 1);
      to += count - 1;
    }
    const int power = point - 1;
    *to++ = 'e';
    *to++ = power < 0 ? '-' : '+';
    const int size = power < 0 ? -power : power;
    if (size < 10)
      *to++ = '0';
    to += printNumber(to, uint64_t(size));
  } else if (point <= 0) {
    to += put(to, "0.");
    for (int i = point; i < 0; ++i)
      *to++ = '0';
    copyBytes(to, digits, count);
    to += count;
  } else {
    for (int i = 0; i < point; ++i)
      *to++ = i < count ? digits[i] : '0';
    *to++ = '.';
    if (point >= count)
      *to++ = '0';
    for (int i = point; i < count; ++i)
      *to++ = digits[i];
  }
  return to - start;
}

bool parseReal(String text, double &value, RealFormat format) {
  text = trimmed(text);
  const bool signs = text.size && (text.data[0] == '-' || text.data[0] == '+');
  const double sign = signs && text.data[0] == '-' ? -1 : 1;
  text.data += signs;
  text.size -= signs;
  if (equalLower(text, "inf") || equalLower(text, "infinity")) {
    value = sign * __builtin_inf();
    return true;
  }
  if (equalLower(text, "nan")) {
    value = __builtin_nan("");
    return true;
  }
  constexpr int kDigits = 780; // more than any value halfway between two doubles has
  Natural number;
  int64_t exponent = 0;
  int digits = 0;
  bool any = false, behindPoint = false, cut = false;
  uint64_t at = 0;
  for (; at < text.size; ++at) {
    const char c = text.data[at];
    if (c == '.' && !behindPoint) {
      behindPoint = true;
    } else if (isDigit(c)) {
      any = true;
      if (digits < kDigits) {
        if (digits || c != '0') {
          number.multiplyAdd(10, 0);
          number.add(Natural(uint64_t(c - '0')));
          ++digits;
        }
        exponent -= behindPoint;
      } else {
        cut |= c != '0';
        exponent += !behindPoint;
      }
    } else {
      break;
    }
  }
  if (!any)
    return false;
  if (at < text.size && lower(text.data[at]) == 'e') {
    ++at;
    bool negative = false;
    if (at < text.size && (text.data[at] == '-' || text.data[at] == '+'))
      negative = text.data[at++] == '-';
    if (at == text.size)
      return false;
    int64_t power = 0;
    for (; at < text.size && isDigit(text.data[at]); ++at)
      power = minimum(power * 10 + (text.data[at] - '0'), int64_t(1) << 40);
    exponent += negative ? -power : power;
  }
  if (at != text.size)
    return false;
  if (cut) { // decides what only seems halfway
    number.multiplyAdd(10, 0);
    number.add(Natural(1));
    ++digits;
    --exponent;
  }
  if (number.isZero() || digits + exponent < -400)
    value = sign * 0.0;
  else if (digits + exponent > 310)
    value = sign * __builtin_inf();
  else
    value = sign * nearest(number, int(exponent), format);
  return true;
}

bool parseNumber(String text, int64_t &value) {
  text = trimmed(text);
  const bool negative = text.size && text.data[0] == '-';
  String magnitude = text;
  if (negative)
    ++magnitude.data, --magnitude.size;
  uint64_t whole;
  if (negative && magnitude.size && !isDigit(magnitude.data[0]) && magnitude.data[0] != '.')
    return false;
  if (!parseNumber(magnitude, whole))
    return false;
  value = negative ? int64_t(-whole) : int64_t(whole);
  return true;
}

bool parseNumber(String text, uint64_t &value) {
  text = trimmed(text);
  uint64_t at = text.size && text.data[0] == '+';
  bool fits = true;
  uint64_t whole = 0;
  const uint64_t first = at;
  for (; at < text.size && isDigit(text.data[at]); ++at)
    fits &= !__builtin_mul_overflow(whole, uint64_t(10), &whole) &&
            !__builtin_add_overflow(whole, uint64_t(text.data[at] - '0'), &whole);
  if (at == text.size && at > first && fits) {
    value = whole;
    return true;
  }
  double real;
  if (!parseReal(text, real, kDouble) || isNan(real) || real >= 0x1p64 || real < -0x1p63)
    return false;
  value = real < 0 ? uint64_t(int64_t(real)) : uint64_t(real);
  return true;
}

} // namespace atc::kernels
