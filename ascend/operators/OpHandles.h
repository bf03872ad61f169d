//===-- OpHandles.h - operators that are executed again and again -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_OPHANDLES_H
#define ASCEND_SRC_OPHANDLES_H

#include "ascend/src/Handles.h"

#include "acl/acl_op.h"

#include <functional>

namespace atc::ascend {

/// Holds what aclopExecWithHandle executes: an operator of a file, a cast or a matrix product.
struct OpHandle {
  std::function<aclError(const char *function, int numInputs, const aclDataBuffer *const inputs[],
                         int numOutputs, aclDataBuffer *const outputs[], aclrtStream stream)>
      execute;
};

/// Returns the process-wide table that owns the operators behind handles.
ACL_FUNC_VISIBILITY HandleTable<OpHandle> &opHandles();

} // namespace atc::ascend

#endif
