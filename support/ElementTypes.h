//===-- ElementTypes.h - element types by the names of others ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_ELEMENTTYPES_H
#define OPENATC_SUPPORT_ELEMENTTYPES_H

#include "openatc/om.h"
#include <string_view>

namespace atc {

/// Returns NumPy's name of a type, such as "float32"; null for one that NumPy lacks: text, bf16,
/// smaller floats, integers of less than a byte. The text is static.
const char *numpyName(om_dtype dtype);

/// Returns the type in which an .npy file stores elements, such as "<f4"; empty where none can.
const char *npyType(om_dtype dtype);

/// Returns the type that users call `name`, such as "float32" or "bfloat16"; OM_UNDEFINED for
/// other names.
om_dtype dtypeNamed(std::string_view name);

} // namespace atc

#endif // OPENATC_SUPPORT_ELEMENTTYPES_H
