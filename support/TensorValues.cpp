//===-- TensorValues.cpp - reads the elements of a tensor -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/TensorValues.h"

#include "runtime-lite/abi/SmallFloats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace atc {

template <typename T> static T load(const void *data, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
  return value;
}

bool hasValues(om_dtype dtype) {
  switch (dtype) {
  case OM_UNDEFINED:
  case OM_STRING:
  case OM_C64:
  case OM_C128:
  case OM_F8E4M3FN:
  case OM_F8E4M3FNUZ:
  case OM_F8E5M2:
  case OM_F8E5M2FNUZ:
  case OM_F8E8M0:
  case OM_F4E2M1:
    return false;
  default:
    return true;
  }
}

double valueAt(om_dtype dtype, const void *data, uint64_t index) {
  switch (dtype) {
  case OM_F32:
    return load<float>(data, index);
  case OM_F64:
    return load<double>(data, index);
  case OM_F16:
    return halfToFloat(load<uint16_t>(data, index));
  case OM_BF16:
    return bf16ToFloat(load<uint16_t>(data, index));
  case OM_I8:
    return load<int8_t>(data, index);
  case OM_U8:
  case OM_BOOL:
    return load<uint8_t>(data, index);
  case OM_I16:
    return load<int16_t>(data, index);
  case OM_U16:
    return load<uint16_t>(data, index);
  case OM_I32:
    return load<int32_t>(data, index);
  case OM_U32:
    return load<uint32_t>(data, index);
  case OM_I64:
    return static_cast<double>(load<int64_t>(data, index));
  case OM_U64:
    return static_cast<double>(load<uint64_t>(data, index));
  case OM_U4:
  case OM_I4: {
    int value = load<uint8_t>(data, index / 2) >> (index % 2 * 4) & 15;
    return dtype == OM_I4 && value > 7 ? value - 16 : value;
  }
  case OM_U2:
  case OM_I2: {
    int value = load<uint8_t>(data, index / 4) >> (index % 4 * 2) & 3;
    return dtype == OM_I2 && value > 1 ? value - 4 : value;
  }
  default:
    return 0;
  }
}

Range rangeOf(const ::om::Tensor &tensor, const void *data) {
  Range range;
  bool first = true;
  for (uint64_t i = 0; i < tensor.elements; ++i) {
    const double value = valueAt(tensor.dtype, data, i);
    if (!std::isfinite(value)) {
      ++range.notFinite;
      continue;
    }
    range.min = first ? value : std::min(range.min, value);
    range.max = first ? value : std::max(range.max, value);
    first = false;
  }
  return range;
}

Difference differenceOf(const ::om::Tensor &tensor, const void *ours, const void *right) {
  Difference error;
  double product = 0, ourSquare = 0, rightSquare = 0;
  for (uint64_t i = 0; i < tensor.elements; ++i) {
    const double x = valueAt(tensor.dtype, ours, i), y = valueAt(tensor.dtype, right, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      if (!std::isfinite(x))
        continue;
    } else if (!std::isfinite(x) || !std::isfinite(y)) {
      error.maxAbs = std::numeric_limits<double>::infinity();
      continue;
    }
    error.maxAbs = std::max(error.maxAbs, std::fabs(x - y));
    product += x * y;
    ourSquare += x * x;
    rightSquare += y * y;
  }
  // Below the smallest normal number the format itself has only a few bits.
  if (error.maxAbs < std::numeric_limits<float>::min())
    error.maxAbs = 0;
  // A constant tensor has no range: its magnitude is used instead, else the error itself.
  const Range range = rangeOf(tensor, right);
  double extent = range.max - range.min;
  if (extent == 0)
    extent = std::fabs(range.max);
  error.ofRange = error.maxAbs == 0 || extent == 0 ? error.maxAbs : error.maxAbs / extent;
  const double lengths = std::sqrt(ourSquare) * std::sqrt(rightSquare);
  error.cosine = lengths > 0 ? product / lengths : ourSquare == rightSquare ? 1 : 0;
  return error;
}

std::vector<uint64_t> largest(const ::om::Tensor &tensor, const void *data, size_t count) {
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < tensor.elements; ++i)
    if (!std::isnan(valueAt(tensor.dtype, data, i)))
      order.push_back(i);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](uint64_t a, uint64_t b) {
    const double x = valueAt(tensor.dtype, data, a), y = valueAt(tensor.dtype, data, b);
    return x != y ? x > y : a < b;
  });
  order.resize(count);
  return order;
}

} // namespace atc
