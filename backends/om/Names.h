//===-- Names.h - the names of operations for users -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_NAMES_H
#define OPENATC_BACKENDS_OM_NAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace atc::om {

/// Returns the names of dims that an attribute `om.dim_names` has; none where it is null.
inline std::vector<std::string> dimNamesOf(mlir::ArrayAttr names) {
  std::vector<std::string> texts;
  if (names)
    for (auto name : names.getAsRange<mlir::StringAttr>())
      texts.push_back(name.str());
  return texts;
}

/// The names of an op in the model. The importer writes NameLoc(tensor, NameLoc(node)); in fused
/// locations the last one is that of the op whose result is kept.
struct Names {
  std::string tensor, node;
};
/// Returns the names in a location; empty where there are none.
Names namesOf(mlir::Location location);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_NAMES_H
