//===-- InputText.h - text files that users name ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings, rules, labels, banks, arrays, images and programs are read through this function: a
// device or a pipe has no end, and a large file of another kind would take all memory before
// anything is said.

#ifndef OPENATC_SUPPORT_INPUTTEXT_H
#define OPENATC_SUPPORT_INPUTTEXT_H

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace atc {

/// The maximum size of a text file; the text of a large network in MLIR without its weights is
/// smaller.
inline constexpr uint64_t kMaxTextBytes = uint64_t(256) << 20;

/// Reads a regular file of at most `max` bytes into `text`, or with `isPart` the first `max`
/// bytes of any regular file. Returns "", or the reason why it cannot be read.
inline std::string readInputText(const std::string &path, std::string &text,
                                 uint64_t max = kMaxTextBytes, bool isPart = false) {
  text.clear();
  // A pipe must not be waited for.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return std::strerror(errno);
  struct stat info;
  std::string reason;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    reason = "it is not a regular file";
  // Reads to the end instead of the stated size, because the file may grow meanwhile.
  char buffer[1 << 16];
  while (reason.empty() && !(isPart && text.size() >= max)) {
    const ssize_t got = read(file, buffer, sizeof(buffer));
    if (got == 0)
      break;
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      reason = std::strerror(errno);
    else if (!isPart && static_cast<uint64_t>(got) > max - text.size())
      reason = "it has more than " + std::to_string(max >> 20) + " MB";
    else
      text.append(buffer, static_cast<size_t>(got));
  }
  close(file);
  if (isPart && text.size() > max)
    text.resize(max);
  return reason;
}

} // namespace atc

#endif
