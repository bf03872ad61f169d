//===-- Attempt.h - imports that may fail without an error ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ATTEMPT_H
#define OPENATC_FRONTENDS_ATTEMPT_H

#include <optional>

#include "support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace atc {

/// Runs `import`, which reports to what `diags` points at. Where it returns false or reports
/// an error, returns all that it reported, and `diags` gets none of it.
std::optional<Diagnostics> attemptImport(Diagnostics *&diags, llvm::function_ref<bool()> import);

} // namespace atc

#endif // OPENATC_FRONTENDS_ATTEMPT_H
