//===-- Support.cpp - errors and memory of the runtime --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Support.h"

#include "runtime-lite/src/FileLimits.h"
#include "runtime-lite/src/PrintableText.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace atc::rt {

om_status fail(om_error *error, om_status code, const char *format, ...) {
  if (!error)
    return code;
  error->code = code;
  // The arguments may point into `error` itself.
  char sentence[2 * sizeof(error->message)];
  va_list args;
  va_start(args, format);
  const int written = std::vsnprintf(sentence, sizeof(sentence), format, args);
  va_end(args);
  const size_t bytes = written < 0 ? 0 : static_cast<size_t>(written);
  copyPrintable(error->message, sizeof(error->message), sentence,
                bytes < sizeof(sentence) ? bytes : sizeof(sentence) - 1);
  return code;
}

om_status outOfMemory(om_error *error, uint64_t bytes) {
  return fail(error, OM_ERROR_MEMORY, "there is no memory for %llu bytes.",
              static_cast<unsigned long long>(bytes));
}

bool Mapping::mapFile(int fd, uint64_t offset, uint64_t size, bool code) {
  reset();
  if (limits::hasShortAddresses && size > limits::maxBlock) {
    errno = EFBIG;
    return false;
  }
  int protection = PROT_READ | (code ? PROT_EXEC : 0);
  void *at = mmap(nullptr, size, protection, MAP_PRIVATE, fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED)
    return false;
  base = static_cast<char *>(at);
  bytes = size;
  return true;
}

/// The bytes of a huge page, which must be aligned to its size.
static constexpr uint64_t huge = uint64_t(2) << 20;

static void requestHugePages([[maybe_unused]] void *base, [[maybe_unused]] uint64_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(base, bytes / huge * huge, MADV_HUGEPAGE);
#endif
}

void *allocate(uint64_t bytes) {
  if (limits::hasShortAddresses && bytes > limits::maxBlock)
    return nullptr;
  const bool isLarge = bytes >= 2 * huge;
  void *block = nullptr;
  if (posix_memalign(&block, isLarge ? huge : OM_ALIGNMENT, bytes) != 0)
    return nullptr;
  if (isLarge)
    requestHugePages(block, bytes);
  return block;
}

bool Mapping::mapZeroed(uint64_t size) {
  reset();
  if (size == 0)
    size = 1;
  if (size > limits::maxBlock)
    return false;
  // Reserves the size of a huge page more and unmaps both ends.
  uint64_t slack = size >= huge ? huge : 0;
  void *at =
      mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return false;
  base = static_cast<char *>(at);
  bytes = size;
  if (slack) {
    uint64_t skip = (huge - reinterpret_cast<uintptr_t>(at) % huge) % huge;
    base += skip;
    uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    uint64_t used = (size + page - 1) / page * page;
    if (skip)
      munmap(at, skip);
    // slack > skip always, since skip is less than a huge page.
    munmap(base + used, slack - skip);
    requestHugePages(base, size);
  }
  return true;
}

bool Mapping::makeExecutable() {
  // Some processors (AArch64) fetch instructions past the data cache.
  __builtin___clear_cache(base, base + bytes);
  return mprotect(base, bytes, PROT_READ | PROT_EXEC) == 0;
}

void Mapping::reset() {
  if (base)
    munmap(base, bytes);
  base = nullptr;
  bytes = 0;
}

void BoundedText::add(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = std::vsnprintf(text + used, sizeof(text) - used, format, args);
  va_end(args);
  const size_t room = sizeof(text) - used;
  used += n < 0 ? 0 : static_cast<size_t>(n) < room ? static_cast<size_t>(n) : room - 1;
}

void BoundedText::addDims(uint32_t rank, const int64_t *dims) {
  add("[");
  for (uint32_t i = 0; i < rank; ++i)
    if (dims[i] < 0)
      add("%s?", i ? ", " : "");
    else
      add("%s%lld", i ? ", " : "", static_cast<long long>(dims[i]));
  add("]");
}

} // namespace atc::rt
