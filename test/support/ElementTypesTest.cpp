//===-- ElementTypesTest.cpp - names and small floats ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/ElementTypes.h"

#include "runtime-lite/abi/SmallFloats.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

using namespace atc;

TEST_CASE("types have the names of users and of NumPy") {
  CHECK(dtypeNamed("float32") == OM_F32);
  CHECK(dtypeNamed("bfloat16") == OM_BF16);
  CHECK(dtypeNamed("f32") == OM_UNDEFINED);
  CHECK(dtypeNamed("") == OM_UNDEFINED);
  CHECK(numpyName(OM_C128) == std::string("complex128"));
  CHECK(numpyName(OM_BOOL) == std::string("bool"));
  for (om_dtype dtype : {OM_UNDEFINED, OM_STRING, OM_BF16, OM_F8E5M2, OM_U4, OM_I2})
    CHECK(numpyName(dtype) == nullptr);
  CHECK(npyType(OM_F16) == std::string("<f2"));
  CHECK(npyType(OM_BF16) == std::string("<V2"));
  CHECK(npyType(OM_U4) == std::string("|u1"));
  CHECK(npyType(OM_STRING) == std::string());
  CHECK(npyType(static_cast<om_dtype>(200)) == std::string());
}

TEST_CASE("every f16 survives f32") {
  unsigned wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = halfToFloat(uint16_t(bits));
    // The value by its definition.
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double expected =
        exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    if (exponent == 31)
      expected = fraction ? NAN : INFINITY;
    expected = bits >> 15 ? -expected : expected;
    const bool isNan = std::isnan(expected);
    wrong += isNan ? !std::isnan(value) : value != expected;
    wrong += isNan ? !std::isnan(halfToFloat(floatToHalf(value))) : floatToHalf(value) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("f16 rounds half to even") {
  CHECK(floatToHalf(1.0f + 0x1p-11f) == 0x3c00); // between 0x3c00 and 0x3c01
  CHECK(floatToHalf(1.0f + 0x3p-11f) == 0x3c02);
  CHECK(floatToHalf(1.0f + 0x1.8p-11f) == 0x3c01);
  CHECK(floatToHalf(65519.0f) == 0x7bff);
  CHECK(floatToHalf(65520.0f) == 0x7c00);
  CHECK(floatToHalf(-INFINITY) == 0xfc00);
  CHECK(floatToHalf(0x1p-25f) == 0); // half of the smallest
  CHECK(floatToHalf(0x1.8p-25f) == 1);
  CHECK(floatToHalf(-0.0f) == 0x8000);
}

TEST_CASE("bf16 rounds half to even, and keeps NaN") {
  unsigned wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16ToFloat(uint16_t(bits));
    wrong += std::isnan(value) ? !std::isnan(bf16ToFloat(floatToBf16(value)))
                               : floatToBf16(value) != bits;
  }
  CHECK(wrong == 0);
  CHECK(floatToBf16(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(floatToBf16(1.0f + 0x3p-8f) == 0x3f82);
  CHECK(floatToBf16(3.4028235e38f) == 0x7f80);
}
