//===-- ArmLibraryTest.cpp - what ARMv7 has no instructions for -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions are compiled for this machine, whose own arithmetic they must equal.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

typedef uint64_t Division __attribute__((vector_size(16)));
extern "C" {
Division __aeabi_uldivmod(uint64_t, uint64_t);
Division __aeabi_ldivmod(int64_t, int64_t);
uint64_t __aeabi_uidivmod(uint32_t, uint32_t);
uint64_t __aeabi_idivmod(int32_t, int32_t);
uint32_t __aeabi_uidiv(uint32_t, uint32_t);
int32_t __aeabi_idiv(int32_t, int32_t);
float __aeabi_ul2f(uint64_t);
float __aeabi_l2f(int64_t);
double __aeabi_ul2d(uint64_t);
double __aeabi_l2d(int64_t);
uint64_t __aeabi_d2ulz(double);
int64_t __aeabi_d2lz(double);
uint64_t __aeabi_f2ulz(float);
int64_t __aeabi_f2lz(float);
}

namespace {

/// Returns words of all magnitudes: those around powers of two, and random ones of every width.
std::vector<uint64_t> words() {
  std::vector<uint64_t> all;
  std::mt19937_64 random(3);
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t(1) << bit;
    for (uint64_t word : {power - 1, power, power + 1, 3 * power, ~power, -power})
      all.push_back(word);
    for (int i = 0; i < 4; ++i)
      all.push_back(random() >> bit);
  }
  return all;
}

} // namespace

TEST_CASE("quotients and remainders of 64 and of 32 bits") {
  for (uint64_t a : words())
    for (uint64_t b : words()) {
      if (b != 0) {
        const Division result = __aeabi_uldivmod(a, b);
        REQUIRE((result[0] == a / b && result[1] == a % b));
        const auto x = int64_t(a), y = int64_t(b);
        if (x != INT64_MIN || y != -1) {
          const Division sign = __aeabi_ldivmod(x, y);
          REQUIRE((int64_t(sign[0]) == x / y && int64_t(sign[1]) == x % y));
        }
      }
      const auto c = uint32_t(a), d = uint32_t(b);
      if (d == 0)
        continue;
      const uint64_t pair = __aeabi_uidivmod(c, d);
      REQUIRE((uint32_t(pair) == c / d && uint32_t(pair >> 32) == c % d));
      REQUIRE(__aeabi_uidiv(c, d) == c / d);
      const auto x = int32_t(c), y = int32_t(d);
      if (x == INT32_MIN && y == -1)
        continue;
      const uint64_t sign = __aeabi_idivmod(x, y);
      REQUIRE((int32_t(sign) == x / y && int32_t(sign >> 32) == x % y));
      REQUIRE(__aeabi_idiv(x, y) == x / y);
    }
}

TEST_CASE("words of 64 bits become floats, rounded once") {
  std::vector<uint64_t> all = words();
  // Half of the last place of an f32 and of an f64, and a bit more and less.
  for (int shift = 0; shift < 40; ++shift)
    for (int64_t more : {-1, 0, 1})
      for (uint64_t mantissa : {0x1000001u, 0x1000003u, 0x1ffffffu})
        all.push_back((mantissa << shift) + more);
  for (int shift = 0; shift < 10; ++shift)
    for (int64_t more : {-1, 0, 1})
      all.push_back((((uint64_t(1) << 53) + 1) << shift) + more);
  for (uint64_t x : all) {
    REQUIRE(__aeabi_ul2f(x) == static_cast<float>(x));
    REQUIRE(__aeabi_ul2d(x) == static_cast<double>(x));
    REQUIRE(__aeabi_l2f(int64_t(x)) == static_cast<float>(int64_t(x)));
    REQUIRE(__aeabi_l2d(int64_t(x)) == static_cast<double>(int64_t(x)));
  }
}

TEST_CASE("floats become words of 64 bits, towards zero") {
  for (uint64_t word : words())
    for (double x :
         {double(int64_t(word)), double(word) + 0.75, -double(word) / 3, double(word) * 0x1p-40}) {
      if (x >= 0 && x < 0x1p64)
        REQUIRE(__aeabi_d2ulz(x) == static_cast<uint64_t>(x));
      if (x > -0x1p63 && x < 0x1p63)
        REQUIRE(__aeabi_d2lz(x) == static_cast<int64_t>(x));
      const auto narrow = static_cast<float>(x);
      if (narrow >= 0 && narrow < 0x1p64f)
        REQUIRE(__aeabi_f2ulz(narrow) == static_cast<uint64_t>(narrow));
      if (narrow > -0x1p63f && narrow < 0x1p63f)
        REQUIRE(__aeabi_f2lz(narrow) == static_cast<int64_t>(narrow));
    }
  // What the result cannot hold becomes the nearest number, NaN zero.
  CHECK(__aeabi_d2ulz(1e30) == UINT64_MAX);
  CHECK(__aeabi_d2ulz(-5) == 0);
  CHECK(__aeabi_d2lz(1e30) == INT64_MAX);
  CHECK(__aeabi_d2lz(-1e30) == INT64_MIN);
  CHECK(__aeabi_d2lz(NAN) == 0);
  CHECK(__aeabi_d2ulz(NAN) == 0);
}
