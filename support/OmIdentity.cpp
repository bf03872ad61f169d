//===-- OmIdentity.cpp - tells compiled files apart -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/OmIdentity.h"

#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Signature.h"
#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Verify.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace atc {

std::string omIdentity(const std::string &path) {
  rt::Mapping file;
  // A pipe must not be waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return "";
  struct stat info;
  const bool mapped = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
                      file.mapFile(descriptor, 0, static_cast<uint64_t>(info.st_size), false);
  close(descriptor);
  const om::fb::Model *model = nullptr;
  om_error error;
  if (!mapped || rt::verifyFile(file.data(), file.size(), &model, &error) != OM_OK)
    return "";
  std::string header(file.data(), rt::headerLength(file.data()));
  for (const om::fb::Segment *segment : *model->segments())
    if (const om::fb::Digest *digest = segment->digest())
      std::memset(
          &header[static_cast<size_t>(reinterpret_cast<const char *>(digest) - file.data())], 0,
          sizeof(*digest));
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(rt::hash64(header.data(), header.size())));
  return digits;
}

} // namespace atc
