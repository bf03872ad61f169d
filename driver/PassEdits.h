//===-- PassEdits.h - a user's changes of the pipelines -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_PASSEDITS_H
#define OPENATC_DRIVER_PASSEDITS_H

#include "support/Diagnostics.h"

#include "mlir/Pass/PassManager.h"

#include <set>
#include <string>
#include <vector>

namespace atc::driver {

/// A pipeline of registered passes that runs before, after or in place of each occurrence of a
/// pass.
struct PassEdit {
  enum class Where { Before, After, InPlace };
  Where where;
  std::string pass;     ///< a pass of a phase: "graph-fuse-elementwise"
  std::string pipeline; ///< as atc-opt takes it: "my-pass{option=1},canonicalize"
};

/// Applies edits to the pipelines of a compilation. Afterwards missing() lists the passes that no
/// pipeline had.
class PassEditor {
public:
  explicit PassEditor(llvm::ArrayRef<PassEdit> edits) : edits(edits) {}

  /// Rebuilds `pm` with the edits whose passes it has; leaves it as it is where it has none of
  /// them. Returns false after an error, for a pipeline that cannot be parsed.
  bool apply(mlir::OpPassManager &pm, Diagnostics &diagnostics);
  /// Reports each pass of the edits that no pipeline had. Returns false if there is any.
  bool checkAllFound(Diagnostics &diagnostics) const;

private:
  std::string edited(llvm::StringRef text);

  llvm::ArrayRef<PassEdit> edits;
  std::set<std::string> found, known;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_PASSEDITS_H
