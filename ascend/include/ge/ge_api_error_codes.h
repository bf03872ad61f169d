/*===-- ge/ge_api_error_codes.h -------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GE_GE_API_ERROR_CODES_H
#define OPENATC_GE_GE_API_ERROR_CODES_H

#include "ge/ge_api_types.h"

namespace ge {

constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;
constexpr Status PARAM_INVALID = 1343225857;

} // namespace ge

#endif
