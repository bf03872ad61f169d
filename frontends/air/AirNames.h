//===-- AirNames.h - names of the tensors of an .air graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIR_AIRNAMES_H
#define OPENATC_FRONTENDS_AIR_AIRNAMES_H

#include "frontends/air/AirOps.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atc::air {

/// Splits "conv1:0" into the operator and the output's number; -1 for an order of execution.
std::pair<llvm::StringRef, int64_t> splitInput(llvm::StringRef input);

/// Returns the name of an output: "conv1:0".
std::string keyOf(llvm::StringRef op, int64_t output);

/// Returns the names of the tensors that an operator reads; "" for those that are not given.
std::vector<std::string> dataInputs(const pb::Op &op);

} // namespace atc::air

#endif // OPENATC_FRONTENDS_AIR_AIRNAMES_H
