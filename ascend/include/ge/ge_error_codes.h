/*===-- ge/ge_error_codes.h - codes of models, and of graphs --------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GE_GE_ERROR_CODES_H
#define OPENATC_GE_GE_ERROR_CODES_H

#include "acl/error_codes/ge_error_codes.h"
#include "graph/ge_error_codes.h"

#endif
