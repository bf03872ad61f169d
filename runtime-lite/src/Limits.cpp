//===-- Limits.cpp - what a session may take, and when a run must end -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Limits.h"

#include "runtime-lite/src/Pool.h"
#include "runtime-lite/src/Support.h"

#include <fcntl.h>
#include <unistd.h>

namespace atc::rt {

using ull = unsigned long long;

/// Returns the memory of the machine, or of the container where that is less, in bytes.
static uint64_t usableMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), pageBytes = sysconf(_SC_PAGESIZE);
  uint64_t bytes = pages > 0 && pageBytes > 0
                       ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageBytes)
                       : UINT64_MAX;
  const int file = open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return bytes;
  char text[32];
  const ssize_t size = ::read(file, text, sizeof(text) - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  // The word "max" stands for no limit.
  const uint64_t limit = std::strtoull(text, nullptr, 10);
  return limit && limit < bytes ? limit : bytes;
}

void Limits::set(const om_session_options &options) {
  memory = options.max_memory ? options.max_memory : usableMemory() / 4 * 3;
  maxIterations = options.max_iterations ? options.max_iterations : OM_NO_LIMIT;
  const uint64_t microseconds = options.max_run_us;
  nanoseconds = microseconds && microseconds < UINT64_MAX / 1000 ? microseconds * 1000 : UINT64_MAX;
}

void Limits::beginRun() {
  iterations = 0;
  begin = hasDeadline() ? nowNanoseconds() : 0;
}

bool Limits::isLate() const { return hasDeadline() && nowNanoseconds() - begin >= nanoseconds; }

om_status Limits::refuse(const char *kind, const char *name, om_error *error) const {
  if (isCancelled())
    return fail(error, OM_ERROR_CANCELLED, "the run was cancelled before or in %s '%s'.", kind,
                name);
  return fail(error, OM_ERROR_LIMIT,
              "the run has taken longer than its ceiling of %llu microseconds before or in %s "
              "'%s': raise max_run_us of the session's options if it should.",
              ull(nanoseconds / 1000), kind, name);
}

om_status Limits::refuseIterations(const char *name, om_error *error) const {
  return fail(error, OM_ERROR_LIMIT,
              "the loop around node '%s' has gone beyond the ceiling of %llu iterations in a run: "
              "raise max_iterations of the session's options if it should.",
              name, ull(maxIterations));
}

om_status Limits::refuseMemory(const char *what, uint64_t bytes, uint64_t held,
                               om_error *error) const {
  return fail(error, OM_ERROR_LIMIT,
              "%s needs %llu bytes, which with the %llu that the session holds is beyond its "
              "ceiling of %llu bytes: raise max_memory of the session's options if it should.",
              what, ull(bytes), ull(held), ull(memory));
}

} // namespace atc::rt
