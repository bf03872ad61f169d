//===-- MappedFile.h - a whole file, mapped for reading -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_MAPPEDFILE_H
#define OPENATC_TOOLS_COMMON_MAPPEDFILE_H

#include "runtime-lite/src/Support.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace atc::tools {

/// A file that is mapped for reading while the object lives.
class MappedFile {
public:
  /// Maps the file. On failure returns false and sets `error` to one line with an error code.
  bool open(const std::string &path, std::string &error) {
    // Opening a pipe would wait for whoever writes into it.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
      error = errno == ENOENT ? "E10410: the file '" + path + "' does not exist."
                              : "E13001: cannot open '" + path + "': " + std::strerror(errno) + ".";
      return false;
    }
    struct stat info;
    const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const uint64_t bytes = regular ? info.st_size : 0;
    const bool mapped = regular && (bytes == 0 || mapping.mapFile(fd, 0, bytes, /*code=*/false));
    close(fd);
    if (!mapped)
      error = "E13003: cannot read '" + path + "': it is not a regular file or cannot be mapped.";
    return mapped;
  }
  const char *data() const { return mapping.data(); }
  uint64_t size() const { return mapping.size(); }

private:
  atc::rt::Mapping mapping;
};

} // namespace atc::tools

#endif
