//===-- Memory.cpp - the C library functions that compilers call ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only part of the bitcode: the compiler's own process uses those of the C library.

#include <stddef.h>
#include <stdint.h>

extern "C" {

void *memcpy(void *__restrict to, const void *__restrict from, size_t bytes) {
  char *t = static_cast<char *>(to);
  const char *f = static_cast<const char *>(from);
  // Words without an alignment, so that one loop handles all addresses.
  typedef uint64_t Word __attribute__((aligned(1), may_alias));
  for (; bytes >= 32; bytes -= 32, t += 32, f += 32)
    for (int i = 0; i < 4; ++i)
      reinterpret_cast<Word *>(t)[i] = reinterpret_cast<const Word *>(f)[i];
  for (; bytes; --bytes)
    *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  char *t = static_cast<char *>(to);
  const char *f = static_cast<const char *>(from);
  if (t < f)
    for (size_t i = 0; i < bytes; ++i)
      t[i] = f[i];
  else
    for (size_t i = bytes; i-- > 0;)
      t[i] = f[i];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  unsigned char *t = static_cast<unsigned char *>(to);
  typedef uint64_t Word __attribute__((aligned(1), may_alias));
  const uint64_t word = 0x0101010101010101u * static_cast<unsigned char>(value);
  for (; bytes >= 8; bytes -= 8, t += 8)
    *reinterpret_cast<Word *>(t) = word;
  for (; bytes; --bytes)
    *t++ = static_cast<unsigned char>(value);
  return to;
}

int memcmp(const void *a, const void *b, size_t bytes) {
  const unsigned char *x = static_cast<const unsigned char *>(a);
  const unsigned char *y = static_cast<const unsigned char *>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

int strcmp(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

size_t strlen(const char *text) {
  size_t size = 0;
  while (text[size])
    ++size;
  return size;
}
}
