//===-- Support.h - errors and memory of the runtime ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime allocates memory through malloc and mmap only and links without the C++ library, so
// that a C program can use it as it is.

#ifndef OPENATC_RUNTIME_SUPPORT_H
#define OPENATC_RUNTIME_SUPPORT_H

#include "openatc/om.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace atc::rt {

/// Fills `error` (which may be null) with a sentence in which all names are made printable, and
/// returns `code`.
__attribute__((format(printf, 3, 4))) om_status fail(om_error *error, om_status code,
                                                     const char *format, ...);
/// Fills `error` for an allocation of `bytes` bytes that failed, and returns OM_ERROR_MEMORY.
om_status outOfMemory(om_error *error, uint64_t bytes);

/// A piece of an error's sentence, which needs no memory: what does not fit is cut off.
class BoundedText {
public:
  /// Appends as printf does.
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...);
  /// Appends "[1, ?, 3]"; a negative dim is a question mark.
  void addDims(uint32_t rank, const int64_t *dims);
  /// Returns whether `bytes` characters more fit.
  bool hasRoom(size_t bytes) const { return used + bytes < sizeof(text); }

  const char *c_str() const { return text; }

private:
  char text[200] = "";
  size_t used = 0;
};

/// Gives a caller as much of an answer as its structure has room for.
template <typename Info> om_status writeAnswer(const Info &answer, Info *info) {
  if (!info || info->struct_size < sizeof(size_t))
    return OM_ERROR_ARGUMENT;
  size_t size = info->struct_size < sizeof(Info) ? info->struct_size : sizeof(Info);
  std::memcpy(reinterpret_cast<char *>(info) + sizeof(size_t),
              reinterpret_cast<const char *>(&answer) + sizeof(size_t), size - sizeof(size_t));
  return OM_OK;
}

/// A fixed-size array of trivial values from malloc, zeroed.
template <typename T> class Array {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { std::free(static_cast<void *>(items)); }

  /// Frees the items and allocates `n` zeroed ones. Returns false where memory could not be
  /// allocated.
  bool allocate(uint64_t n) {
    std::free(static_cast<void *>(items));
    items = n > SIZE_MAX ? nullptr : static_cast<T *>(std::calloc(n ? n : 1, sizeof(T)));
    count = items ? n : 0;
    return items != nullptr;
  }

  T *begin() { return items; }
  T *end() { return items + count; }
  const T *begin() const { return items; }
  const T *end() const { return items + count; }
  T *data() { return items; }
  const T *data() const { return items; }
  size_t size() const { return count; }
  T &operator[](size_t i) { return items[i]; }
  const T &operator[](size_t i) const { return items[i]; }

private:
  T *items = nullptr;
  size_t count = 0;
};

/// Allocates memory that std::free frees, at a multiple of OM_ALIGNMENT; large blocks are aligned
/// for huge pages and request them. Returns null on failure, and for more than limits::maxBlock.
void *allocate(uint64_t bytes);

/// Memory from mmap, unmapped on destruction.
class Mapping {
public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() { reset(); }

  /// Maps `bytes` bytes of a file from `offset`, read-only; executable too where `code`. Returns
  /// false on failure, with the reason in `errno`.
  bool mapFile(int fd, uint64_t offset, uint64_t bytes, bool code);
  /// Maps zeroed memory; large ranges are aligned for huge pages and request them. Returns false on
  /// failure.
  bool mapZeroed(uint64_t bytes);
  /// Makes zeroed memory that has been filled executable and read-only. Returns false on failure.
  bool makeExecutable();
  /// Unmaps the memory.
  void reset();

  char *data() const { return base; }
  uint64_t size() const { return bytes; }

private:
  char *base = nullptr;
  uint64_t bytes = 0;
};

/// Constructs an object in memory from malloc; returns null where that could not be allocated.
/// destroy() frees it.
template <typename T, typename... Args> T *create(Args &&...args) {
  void *memory = nullptr;
  constexpr size_t align = alignof(T) < sizeof(void *) ? sizeof(void *) : alignof(T);
  if (posix_memalign(&memory, align, sizeof(T)) != 0)
    return nullptr;
  return new (memory) T(std::forward<Args>(args)...);
}

/// Destroys an object from create(); null is allowed.
template <typename T> void destroy(T *object) {
  if (!object)
    return;
  object->~T();
  std::free(object);
}

} // namespace atc::rt

#endif
