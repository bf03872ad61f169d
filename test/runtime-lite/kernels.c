/*===-- kernels.c - hand-written kernels for the runtime's tests -----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Each has the kernel ABI of docs/om-format.md. Shapes are baked in, as in
 * compiled kernels; TestModel.cpp gives them matching buffers.
 */
#include <stdint.h>

enum { Rows = 64, Columns = 48 };
enum { Channels = 5, Height = 3, Width = 4, Block = 4, PaddedHeight = 5, PaddedWidth = 6 };

/* x[64][48], scale[48], bias[48] -> y[64][48]; a task is a row. */
void scale_rows(void *const *args, void *scratch, int64_t begin, int64_t end) {
  const float *x = args[0], *scale = args[1], *bias = args[2];
  float *y = args[3];
  for (int64_t r = begin; r < end; ++r)
    for (int c = 0; c < Columns; ++c)
      y[r * Columns + c] = x[r * Columns + c] * scale[c] + bias[c];
}

/* y[64][48] -> sums[64], by way of the scratch area. */
void sum_rows(void *const *args, void *scratch, int64_t begin, int64_t end) {
  const float *y = args[0];
  float *sums = args[1];
  volatile float *own = scratch;
  for (int64_t r = begin; r < end; ++r) {
    for (int c = 0; c < Columns; ++c)
      own[c] = y[r * Columns + c];
    float sum = 0;
    for (int c = 0; c < Columns; ++c)
      sum += own[c];
    sums[r] = sum;
  }
}

/* y as [1][5][3][4] -> blocks of 4 channels inside a padded [1][2][5][6][4];
 * args[1] is its first element that is not padding. */
void pack_blocks(void *const *args, void *scratch, int64_t begin, int64_t end) {
  const float *y = args[0];
  float *packed = args[1];
  for (int c = 0; c < Channels; ++c)
    for (int h = 0; h < Height; ++h)
      for (int w = 0; w < Width; ++w)
        packed[((c / Block * PaddedHeight + h) * PaddedWidth + w) * Block + c % Block] =
            y[(c * Height + h) * Width + w];
}

/* The way back, negative values becoming zero. */
void unpack_relu(void *const *args, void *scratch, int64_t begin, int64_t end) {
  const float *packed = args[0];
  float *picked = args[1];
  for (int c = 0; c < Channels; ++c)
    for (int h = 0; h < Height; ++h)
      for (int w = 0; w < Width; ++w) {
        float x = packed[((c / Block * PaddedHeight + h) * PaddedWidth + w) * Block + c % Block];
        picked[(c * Height + h) * Width + w] = x > 0 ? x : 0;
      }
}

/* counts[] += 1 for each task, after some work that takes differently long. */
void count_tasks(void *const *args, void *scratch, int64_t begin, int64_t end) {
  volatile uint32_t *counts = args[0];
  volatile uint32_t *own = scratch;
  for (int64_t t = begin; t < end; ++t) {
    *own = (uint32_t)t;
    for (int i = 0; i < (int)(t % 7) * 20; ++i)
      *own = *own + 1;
    counts[t] += *own - (uint32_t)t == (uint32_t)(t % 7) * 20 ? 1 : 1000;
  }
}
