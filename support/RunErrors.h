//===-- RunErrors.h - the codes of errors of a session --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_RUNERRORS_H
#define OPENATC_SUPPORT_RUNERRORS_H

#include "openatc/om.h"
#include "support/ErrorCodes.h"

namespace atc {

/// Returns the code of an error that creating or running a session has reported; `otherwise` for a
/// status that has no code of its own. A node that fails does so on the values of the run,
/// `ofNode`, unless other ranks take part, which may have failed.
inline ErrorCode codeOf(om_status status, ErrorCode otherwise, ErrorCode ofNode = "E10014") {
  switch (status) {
  case OM_ERROR_RUN:
    return ofNode;
  case OM_ERROR_LIMIT:
    return "E10058";
  case OM_ERROR_MEMORY:
    return "E19001";
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
