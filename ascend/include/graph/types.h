/*===-- graph/types.h - element types and formats -------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_TYPES_H
#define OPENATC_GRAPH_TYPES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/ascend_string.h"

namespace ge {

using char_t = char;
using float32_t = float;
using float64_t = double;

constexpr int UNKNOWN_DIM = -1;
constexpr int UNKNOWN_DIM_NUM = -2;
static const std::vector<int64_t> UNKNOWN_SHAPE = {-1};
static const std::vector<int64_t> UNKNOWN_RANK = {-2};

enum DataType {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_STRING = 13,
  DT_DUAL_SUB_INT8 = 14,
  DT_DUAL_SUB_UINT8 = 15,
  DT_COMPLEX64 = 16,
  DT_COMPLEX128 = 17,
  DT_QINT8 = 18,
  DT_QINT16 = 19,
  DT_QINT32 = 20,
  DT_QUINT8 = 21,
  DT_QUINT16 = 22,
  DT_RESOURCE = 23,
  DT_STRING_REF = 24,
  DT_DUAL = 25,
  DT_VARIANT = 26,
  DT_BF16 = 27,
  DT_UNDEFINED = 28,
  DT_INT4 = 29,
  DT_UINT1 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_COMPLEX32 = 33,
  DT_MAX
};

enum Format {
  FORMAT_NCHW = 0,
  FORMAT_NHWC = 1,
  FORMAT_ND = 2,
  FORMAT_NC1HWC0 = 3,
  FORMAT_FRACTAL_Z = 4,
  FORMAT_NC1C0HWPAD = 5,
  FORMAT_NHWC1C0 = 6,
  FORMAT_C1HWNC0 = 9,
  FORMAT_NC1HWC0_C04 = 12,
  FORMAT_FRACTAL_Z_C04 = 13,
  FORMAT_CHWN = 14,
  FORMAT_HWCN = 16,
  FORMAT_NDHWC = 27,
  FORMAT_FRACTAL_NZ = 29,
  FORMAT_NCDHW = 30,
  FORMAT_DHWCN = 31,
  FORMAT_NDC1HWC0 = 32,
  FORMAT_FRACTAL_Z_3D = 33,
  FORMAT_CN = 34,
  FORMAT_NC = 35,
  FORMAT_DHWNC = 36,
  FORMAT_RESERVED = 40,
  FORMAT_NCL = 47,
  FORMAT_END
};

enum Placement { kPlacementHost = 0, kPlacementDevice = 1, kPlacementEnd };

/** Returns the bytes of an element; 0 for types without a size of whole bytes. */
inline int GetSizeByDataType(DataType type) {
  switch (type) {
  case DT_INT8:
  case DT_UINT8:
  case DT_BOOL:
  case DT_QINT8:
  case DT_QUINT8:
    return 1;
  case DT_FLOAT16:
  case DT_BF16:
  case DT_INT16:
  case DT_UINT16:
  case DT_QINT16:
  case DT_QUINT16:
    return 2;
  case DT_FLOAT:
  case DT_INT32:
  case DT_UINT32:
  case DT_QINT32:
  case DT_COMPLEX32:
    return 4;
  case DT_DOUBLE:
  case DT_INT64:
  case DT_UINT64:
  case DT_COMPLEX64:
    return 8;
  case DT_COMPLEX128:
    return 16;
  default:
    return 0;
  }
}

} // namespace ge

#endif
