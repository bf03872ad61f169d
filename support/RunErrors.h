//===-- RunErrors.h - the codes of errors of a session --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_RUNERRORS_H
#define OPENATC_SUPPORT_RUNERRORS_H

#include "openatc/om.h"
#include "support/ErrorCodes.h"

namespace atc {

/// Returns the code of an error that creating or running a session has reported; `otherwise` for a
/// status that has no code of its own.
inline ErrorCode codeOf(om_status status, ErrorCode otherwise) {
  switch (status) {
  case OM_ERROR_LIMIT:
    return "E10058";
  case OM_ERROR_CANCELLED:
    return "E10059";
  case OM_ERROR_NO_DEVICE: // a rank alone, or a model of another NPU
    return "E10041";
  default:
    return otherwise;
  }
}

} // namespace atc

#endif
