//===-- MemoryFile.h - bytes as a file that only this process sees --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_MEMORYFILE_H
#define OPENATC_TEST_FUZZ_MEMORYFILE_H

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace atc::fuzz {

/// Gives bytes a path, for readers that take no bytes. The file goes with the object.
class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size) : fd(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size))
      std::abort();
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() { close(fd); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  const int fd;
};

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_MEMORYFILE_H
