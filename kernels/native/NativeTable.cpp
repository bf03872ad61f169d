//===-- NativeTable.cpp - the rows of all host kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/native/NativeRows.h"

#include <map>

namespace atc::kernels::native {

const std::vector<Row> &allRows() {
  static const std::vector<Row> all = {
#define KERNEL(Name, Attributes, Results, Inputs) rows::Name(),
#include "kernels/Kernels.def"
  };
  return all;
}

const Row *find(std::string_view name) {
  static const auto map = [] {
    std::map<std::string_view, const Row *> all;
    for (const Row &row : allRows())
      all[row.name] = &row;
    return all;
  }();
  auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

} // namespace atc::kernels::native
