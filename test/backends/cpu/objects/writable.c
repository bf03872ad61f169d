/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Needs memory it can write to. */
int counter = 5;
int zeroed[10];

int count(int i) { return counter++ + zeroed[i]++; }
