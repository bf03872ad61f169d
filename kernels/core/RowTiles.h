//===-- RowTiles.h - divides rows into register tiles ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_ROWTILES_H
#define OPENATC_KERNELS_CORE_ROWTILES_H

#include <stdint.h>

namespace atc::kernels {

/// Calls next.template operator()<rows>(row) for tiles of 12, 8, 4, 2 and 1 rows that make m rows,
/// the first at row 0.
template <typename Next> void forRowTiles(int64_t m, Next next) {
  int64_t row = 0;
  auto advance = [&]<int rows>() {
    next.template operator()<rows>(row);
    row += rows;
  };
  // Twice 8 rows waste fewer cycles than 12 and 4.
  // NOLINTNEXTLINE(bugprone-infinite-loop): advance() counts the rows
  while (m - row >= 12 && m - row != 16)
    advance.template operator()<12>();
  while (m - row >= 8) // NOLINT(bugprone-infinite-loop): so it does here
    advance.template operator()<8>();
  if (m - row >= 4)
    advance.template operator()<4>();
  if (m - row >= 2)
    advance.template operator()<2>();
  if (m - row >= 1)
    advance.template operator()<1>();
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_ROWTILES_H
