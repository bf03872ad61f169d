/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A constant that holds addresses. */
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }

int (*const table_of_pointers[2])(int) = {one, two};

int call(int i, int x) { return table_of_pointers[i & 1](x); }
