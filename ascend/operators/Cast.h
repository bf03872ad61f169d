//===-- Cast.h - conversion of elements --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_CAST_H
#define ASCEND_SRC_CAST_H

#include "acl/acl_base.h"

namespace atc::ascend {

/// Converts `count` elements. Floats become integers by truncation, clamped to the type, and NaN
/// becomes 0; floats become smaller floats by rounding half to even; a bool is 0 or 1.
struct CastPlan {
  aclDataType from = ACL_DT_UNDEFINED, to = ACL_DT_UNDEFINED;
  size_t count = 0;

  /// Returns whether both types are numbers that can be converted.
  bool isKnown() const;
  /// Converts dense elements, which may overlap only if both types have the same size.
  void run(const void *source, void *target) const;
};

} // namespace atc::ascend

#endif
