// What the programs share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CHECK_H
#define CHECK_H

#include "acl/acl.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

/// Ends the program where a call fails.
#define CHECK(call)                                                                                \
  do {                                                                                             \
    const aclError code = (call);                                                                  \
    if (code != ACL_SUCCESS) {                                                                     \
      const char *message = aclGetRecentErrMsg();                                                  \
      fprintf(stderr, "%s: %d %s\n", #call, code, message ? message : "");                         \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

inline std::vector<char> readFile(const std::string &path) {
  std::ifstream file(path.c_str(), std::ifstream::binary);
  return std::vector<char>((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
}

inline void writeFile(const std::string &path, const void *data, size_t size) {
  std::ofstream(path.c_str(), std::ofstream::binary).write(static_cast<const char *>(data), size);
}

/// Copies from the host to new device memory.
inline void *toDevice(const void *data, size_t size) {
  void *device = nullptr;
  CHECK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(device, size, data, size, ACL_MEMCPY_HOST_TO_DEVICE));
  return device;
}

#endif
