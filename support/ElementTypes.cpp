//===-- ElementTypes.cpp - element types by the names of others -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/ElementTypes.h"

#include <iterator>

namespace atc {

namespace {
struct TypeRow {
  const char *name, *npy;
};

constexpr TypeRow rows[] = {
#define OPENATC_ELEMENT_TYPE(OM, KERNEL, BITS, NAME, LONG, NUMPY) {LONG, NUMPY},
#include "runtime-lite/abi/ElementTypes.def"
};

const TypeRow &rowOf(om_dtype dtype) {
  const auto index = static_cast<size_t>(dtype);
  return rows[index < std::size(rows) ? index : OM_UNDEFINED];
}
} // namespace

const char *npyType(om_dtype dtype) { return rowOf(dtype).npy; }

const char *numpyName(om_dtype dtype) {
  const TypeRow &row = rowOf(dtype);
  const bool isKnown = *row.npy && row.npy[1] != 'V' && om_dtype_bits(dtype) >= 8;
  return isKnown ? row.name : nullptr;
}

om_dtype dtypeNamed(std::string_view name) {
  for (size_t index = 0; index < std::size(rows); ++index)
    if (name == rows[index].name)
      return static_cast<om_dtype>(index);
  return OM_UNDEFINED;
}

} // namespace atc
