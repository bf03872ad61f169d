/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Needs the C library. */
float expf(float);
int puts(const char *);

float calls(float x) { return expf(x) + puts("x"); }
