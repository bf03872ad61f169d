/*===-- graph/ge_error_codes.h --------------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_GE_ERROR_CODES_H
#define OPENATC_GRAPH_GE_ERROR_CODES_H

#include <cstdint>

namespace ge {

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_NOT_CHANGED = 1343242304;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr graphStatus GRAPH_NODE_WITHOUT_CONST_INPUT = 50331648;
constexpr graphStatus GRAPH_INVALID_IR_DEF = 50331650;
constexpr graphStatus OP_WITHOUT_IR_DATATYPE_INFER_RULE = 50331651;

} // namespace ge

#endif
