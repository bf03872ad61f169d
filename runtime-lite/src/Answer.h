//===-- Answer.h - structures that cross the C interface ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_ANSWER_H
#define OPENATC_RUNTIME_ANSWER_H

#include "openatc/om.h"

#include <cstring>

namespace atc::rt {

/// Gives a caller as much of an answer as its structure has room for.
template <typename Info> om_status writeAnswer(const Info &answer, Info *info) {
  if (!info || info->struct_size < sizeof(size_t))
    return OM_ERROR_ARGUMENT;
  size_t size = info->struct_size < sizeof(Info) ? info->struct_size : sizeof(Info);
  std::memcpy(reinterpret_cast<char *>(info) + sizeof(size_t),
              reinterpret_cast<const char *>(&answer) + sizeof(size_t), size - sizeof(size_t));
  return OM_OK;
}

} // namespace atc::rt

#endif
