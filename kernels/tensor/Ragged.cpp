//===-- Ragged.cpp - rows of different lengths ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Puts each value behind those of the same row; rows are filled up with the fallback, and what is
/// longer than the width is dropped. A negative number of columns stands for the longest row.
ATC_KERNEL(RaggedToDense) {
  const Tensor values = in(0), fallback = in(1), rowCount = in(2), rows = in(3), columns = in(4);
  if (!rowCount.known() || !columns.known())
    return;
  const int64_t height = rowCount.as<int64_t>()[0], count = values.count();
  int64_t width = columns.as<int64_t>()[0];
  if (height < 0)
    return fail("has % rows", height);
  if (!rows.known() && width < 0)
    return;
  if (rows.known()) {
    int64_t longest = 0, length = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = rows.as<int64_t>()[i], before = i ? rows.as<int64_t>()[i - 1] : 0;
      if (row < before || row >= height)
        return fail("row % of value % is out of order or not below %", row, i, height);
      length = i && row == before ? length + 1 : 1;
      longest = maximum(longest, length);
    }
    if (width < 0)
      width = longest;
  }
  char *out = make(0, values.dtype(), Dims(height, width));
  if (!out)
    return;
  const int64_t bytes = bytesOf(values.dtype(), 1);
  for (int64_t i = 0; i < height * width; ++i)
    copyBytes(out + i * bytes, fallback.bytes(), bytes);
  for (int64_t i = 0, at = 0; i < count; ++i) {
    const int64_t row = rows.as<int64_t>()[i];
    at = i && row == rows.as<int64_t>()[i - 1] ? at + 1 : 0;
    if (at < width)
      copyBytes(out + (row * width + at) * bytes, values.bytes() + i * bytes, bytes);
  }
}

} // namespace atc::kernels
