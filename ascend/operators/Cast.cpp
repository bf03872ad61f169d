//===-- Cast.cpp --------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/Cast.h"

#include "runtime-lite/abi/SmallFloats.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace atc::ascend {
namespace {

struct Half {
  aclFloat16 bits;
};
struct Brain {
  uint16_t bits;
};
struct Truth {
  uint8_t bits;
};

template <typename T> T load(const char *at) {
  T value;
  memcpy(&value, at, sizeof(T));
  return value;
}

/// Returns an element as a number that holds it exactly: integers stay integers.
template <typename T> auto exact(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return halfToFloat(value.bits);
  else if constexpr (std::is_same_v<T, Brain>)
    return std::bit_cast<float>(uint32_t{value.bits} << 16);
  else if constexpr (std::is_same_v<T, Truth>)
    return uint8_t(value.bits != 0);
  else
    return value;
}

Brain brainOf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return {uint16_t((bits >> 16) | 0x40)};
  return {uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}

template <typename To, typename From> To converted(From value) {
  if constexpr (std::is_same_v<To, Half>) {
    // From double directly: two roundings could differ from one.
    if constexpr (std::is_same_v<From, double>)
      return {std::bit_cast<aclFloat16>(static_cast<_Float16>(value))};
    else
      return {floatToHalf(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<To, Brain>) {
    return brainOf(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Truth>) {
    return {uint8_t(value != 0)};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value))
      return 0;
    const double whole = std::trunc(static_cast<double>(value));
    if (whole <= static_cast<double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (whole >= static_cast<double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(value); // integers wrap
  }
}

/// Calls a function with an element of a type; false where it is none of numbers.
template <typename Function> bool withType(aclDataType type, const Function &function) {
  switch (type) {
  case ACL_FLOAT:
    function(float{});
    return true;
  case ACL_DOUBLE:
    function(double{});
    return true;
  case ACL_FLOAT16:
    function(Half{});
    return true;
  case ACL_BF16:
    function(Brain{});
    return true;
  case ACL_BOOL:
    function(Truth{});
    return true;
  case ACL_INT8:
    function(int8_t{});
    return true;
  case ACL_UINT8:
    function(uint8_t{});
    return true;
  case ACL_INT16:
    function(int16_t{});
    return true;
  case ACL_UINT16:
    function(uint16_t{});
    return true;
  case ACL_INT32:
    function(int32_t{});
    return true;
  case ACL_UINT32:
    function(uint32_t{});
    return true;
  case ACL_INT64:
    function(int64_t{});
    return true;
  case ACL_UINT64:
    function(uint64_t{});
    return true;
  default:
    return false;
  }
}

} // namespace

bool CastPlan::isKnown() const {
  auto nothing = [](auto) {};
  return withType(from, nothing) && withType(to, nothing);
}

void CastPlan::run(const void *source, void *target) const {
  const char *read = static_cast<const char *>(source);
  char *write = static_cast<char *>(target);
  withType(from, [&]<typename From>(From) {
    withType(to, [&]<typename To>(To) {
      for (size_t i = 0; i < count; ++i) {
        const To value = converted<To>(exact(load<From>(read + i * sizeof(From))));
        memcpy(write + i * sizeof(To), &value, sizeof(To));
      }
    });
  });
}

} // namespace atc::ascend
