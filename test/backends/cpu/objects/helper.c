/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The other object. */
int helper_value(int i) { return i + 1; }
