/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiled without -fPIC: the address of `numbers` is part of the code. */
const int numbers[1000] = {1, 2, 3};

const int *address(int i) { return &numbers[i * 3]; }
