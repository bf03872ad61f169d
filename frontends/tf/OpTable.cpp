//===-- OpTable.cpp - which TensorFlow ops can be imported, and by what ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/OpTable.h"

#include "llvm/ADT/StringMap.h"

namespace atc::tf_import {

const OpRow *findOp(llvm::StringRef op) {
  static const llvm::StringMap<const OpRow *> table = [] {
    llvm::StringMap<const OpRow *> all;
    for (llvm::ArrayRef<OpRow> family :
         {elementwiseRows(), convRows(), poolRows(), reduceRows(), shapeRows(), moveRows()})
      for (const OpRow &row : family)
        all[row.op] = &row;
    return all;
  }();
  return table.lookup(op);
}

} // namespace atc::tf_import
