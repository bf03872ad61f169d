/* The functions of the C library that openatc_bare and the compiler call.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((unsigned char *)to)[i] = (unsigned char)value;
  return to;
}

int memcmp(const void *left, const void *right, size_t bytes) {
  const unsigned char *a = left, *b = right;
  for (size_t i = 0; i < bytes; ++i)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  return length;
}

int strncmp(const char *left, const char *right, size_t most) {
  for (size_t i = 0; i < most; ++i)
    if (left[i] != right[i] || !left[i])
      return (unsigned char)left[i] - (unsigned char)right[i];
  return 0;
}

int strcmp(const char *left, const char *right) { return strncmp(left, right, (size_t)-1); }

char *strchr(const char *text, int c) {
  for (; *text != (char)c; ++text)
    if (!*text)
      return NULL;
  return (char *)text;
}
