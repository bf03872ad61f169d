//===-- Memory.cpp - the C library functions that compilers call ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only part of the bitcode: the compiler's own process uses those of the C library.

#include <stddef.h>
#include <stdint.h>

namespace {
/// Bytes without an alignment, so that one function handles all addresses.
template <int size> struct Bytes {
  typedef char Type __attribute__((vector_size(size), aligned(1), may_alias));
};

template <int size> void copyBlock(char *to, const char *from) {
  using Block = typename Bytes<size>::Type;
  *reinterpret_cast<Block *>(to) = *reinterpret_cast<const Block *>(from);
}
/// Copies `size` to 2 * `size` bytes as two blocks, which may overlap.
template <int size> void copyTwo(char *to, const char *from, size_t bytes) {
  copyBlock<size>(to, from);
  copyBlock<size>(to + bytes - size, from + bytes - size);
}
} // namespace

extern "C" {

void *memcpy(void *__restrict to, const void *__restrict from, size_t bytes) {
  constexpr size_t block = 64;
  char *t = static_cast<char *>(to);
  const char *f = static_cast<const char *>(from);
  if (bytes > block) {
    // The last block may overlap the one before: no bytes are left to be copied one by one.
    const size_t last = bytes - block;
    for (size_t i = 0; i < last; i += block)
      copyBlock<block>(t + i, f + i);
    copyBlock<block>(t + last, f + last);
  } else if (bytes >= 32) {
    copyTwo<32>(t, f, bytes);
  } else if (bytes >= 16) {
    copyTwo<16>(t, f, bytes);
  } else if (bytes >= 8) {
    copyTwo<8>(t, f, bytes);
  } else if (bytes >= 4) {
    copyTwo<4>(t, f, bytes);
  } else {
    for (; bytes; --bytes)
      *t++ = *f++;
  }
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
  typedef unsigned char Block __attribute__((vector_size(64), aligned(1), may_alias));
  typedef uint64_t Word __attribute__((aligned(1), may_alias));
  const Block block = Block{} + static_cast<unsigned char>(value);
  for (; bytes >= 64; bytes -= 64, t += 64)
    *reinterpret_cast<Block *>(t) = block;
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
