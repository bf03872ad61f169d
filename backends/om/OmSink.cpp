//===-- OmSink.cpp - where the bytes of an .om file go --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmSink.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace atc::om {

OmFileSink::~OmFileSink() {
  if (fd < 0)
    return;
  close(fd);
  if (!committed)
    unlink(temporary.c_str());
}

bool OmFileSink::open() {
  fd = mkostemp(temporary.data(), O_CLOEXEC);
  return fd >= 0;
}

bool OmFileSink::setSize(uint64_t bytes) {
  fileBytes = bytes;
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0;
}

bool OmFileSink::write(uint64_t offset, const void *data, uint64_t bytes) {
  const char *from = static_cast<const char *>(data);
  while (bytes) {
    ssize_t written = pwrite(fd, from, std::min<uint64_t>(bytes, 1u << 30), offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    offset += written;
    bytes -= written;
  }
  return true;
}

bool OmFileSink::commit() {
  // mkostemp makes files private; give this one what a new file would have.
  mode_t mask = umask(0);
  umask(mask);
  committed = fchmod(fd, 0666 & ~mask) == 0 && rename(temporary.c_str(), path.c_str()) == 0;
  return committed;
}

bool OmMemorySink::setSize(uint64_t bytes) {
  fileBytes = bytes;
  buffer = ::om::Buffer(bytes);
  if (!buffer)
    errno = ENOMEM;
  return static_cast<bool>(buffer);
}

bool OmMemorySink::write(uint64_t offset, const void *data, uint64_t bytes) {
  if (bytes)
    std::memcpy(buffer.data<char>() + offset, data, bytes);
  return true;
}

} // namespace atc::om
