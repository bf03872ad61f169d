//===-- MemoryLimit.cpp - how much memory a tool may take -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/MemoryLimit.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace atc::tools {

namespace {

constexpr std::string_view suffixes = "KMGT";

std::atomic<uint64_t> limitInForce{kNoMemoryLimit};

/// Returns the integer in a file of one line; kNoMemoryLimit for "max" and where there is no file.
uint64_t readBytes(const std::string &path) {
  std::ifstream file(path);
  uint64_t bytes;
  return file >> bytes ? bytes : kNoMemoryLimit;
}

/// Returns the lowest limit of a control group and its parents. `path` is that of the group below
/// `root`.
uint64_t groupLimit(const std::string &root, std::string path, const char *file) {
  uint64_t min = kNoMemoryLimit;
  for (;;) {
    min = std::min(min, readBytes(root + path + "/" + file));
    if (path.empty())
      return min;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

uint64_t containerMemory() {
  uint64_t min = kNoMemoryLimit;
  std::ifstream groups("/proc/self/cgroup");
  // "0::/path" is the group of version 2, "5:memory:/path" one of version 1.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers.empty())
      min = std::min(min, groupLimit("/sys/fs/cgroup", path, "memory.max"));
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      min = std::min(min, groupLimit("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
  }
  return min;
}

uint64_t machineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : kNoMemoryLimit;
}

} // namespace

std::optional<uint64_t> parseMemorySize(std::string_view text) {
  if (text == "unlimited")
    return kNoMemoryLimit;
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  if (number.empty() || number.front() == '.' || number.back() == '.' || unit.empty() ||
      std::count(number.begin(), number.end(), '.') > 1)
    return std::nullopt;
  const size_t power = suffixes.find(static_cast<char>(std::toupper(unit.front())));
  unit.remove_prefix(1);
  if (power == std::string_view::npos || !(unit.empty() || unit == "B" || unit == "iB"))
    return std::nullopt;
  const double bytes = std::strtod(number.c_str(), nullptr) * std::ldexp(1.0, 10 * (power + 1));
  if (!(bytes >= 1 && bytes < 0x1p63))
    return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

uint64_t defaultMemoryLimit() {
  const uint64_t all = std::min(machineMemory(), containerMemory());
  return all == kNoMemoryLimit ? all : all / 4 * 3;
}

void limitMemory(uint64_t bytes) {
  limitInForce = bytes;
#ifndef OPENATC_TOOLS_SANITIZED
  rlimit limit{};
  if (bytes == kNoMemoryLimit || getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, bytes);
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

uint64_t memoryLimit() { return limitInForce; }

} // namespace atc::tools
