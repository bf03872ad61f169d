/* Peak f32 multiply-adds of one core: independent FMAs on registers only. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <time.h>

#if defined(__AVX512F__)
#define LANES 16
#define CHAINS 24
#else
#define LANES 8
#define CHAINS 12
#endif
typedef float vec __attribute__((vector_size(LANES * 4)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* GFLOP/s of the best of `rounds` short runs. */
double peak_gflops(int rounds) {
  double best = 0;
  volatile float sink;
  for (int r = 0; r < rounds; ++r) {
    vec acc[CHAINS], a = (vec){} + 0.999f, b = (vec){} + 1e-3f;
    for (int i = 0; i < CHAINS; ++i)
      acc[i] = (vec){} + (float)i;
    const long steps = 2000000;
    double start = now();
    for (long n = 0; n < steps; ++n)
#pragma clang loop unroll(full)
      for (int i = 0; i < CHAINS; ++i)
        acc[i] = acc[i] * a + b;
    double seconds = now() - start;
    vec sum = acc[0];
    for (int i = 1; i < CHAINS; ++i)
      sum += acc[i];
    sink = sum[0];
    double gflops = 2.0 * LANES * CHAINS * steps / seconds * 1e-9;
    best = gflops > best ? gflops : best;
  }
  (void)sink;
  return best;
}
