/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constants, a table of jumps, and a call into another object. */
#include <stdint.h>

int helper_value(int);

static const int table[4] = {300, 305, 306, 307};

int lookup(int i) { return i >= 0 && i < 4 ? table[i] : -1; }

int choose(int i) {
  switch (i) {
  case 0:
    return helper_value(0) + 10;
  case 1:
    return helper_value(3) + 10;
  case 2:
    return helper_value(12) + 10;
  case 3:
    return helper_value(27) + 10;
  case 4:
    return helper_value(48) + 10;
  case 5:
    return helper_value(75) + 10;
  case 6:
    return helper_value(108) + 10;
  case 7:
    return helper_value(147) + 10;
  default:
    return -5;
  }
}

void scale(void *const *args, void *scratch, int64_t begin, int64_t end) {
  const float *x = args[0], *w = args[1];
  float *y = args[2];
  for (int64_t i = begin; i < end; ++i)
    y[i] = x[i] * w[i] + 0.125f;
}
