//===-- Names.h - the names of operations for users -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_NAMES_H
#define OPENATC_BACKENDS_OM_NAMES_H

#include "mlir/IR/Location.h"

#include <string>

namespace atc::om {

/// The names of an op in the model. The importer writes NameLoc(tensor, NameLoc(node)); in fused
/// locations the last one is that of the op whose result is kept.
struct Names {
  std::string tensor, node;
};
/// Returns the names in a location; empty where there are none.
Names namesOf(mlir::Location location);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_NAMES_H
