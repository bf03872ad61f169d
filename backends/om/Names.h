//===-- Names.h - what users call an operation ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_NAMES_H
#define OPENATC_BACKENDS_OM_NAMES_H

#include "mlir/IR/Location.h"

#include <string>

namespace atc::om {

/// The importer writes NameLoc(tensor, NameLoc(node)); of fused locations the
/// last one is that of the op whose result is kept.
struct Names {
  std::string tensor, node;
};
Names namesOf(mlir::Location location);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_NAMES_H
