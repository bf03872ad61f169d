//===-- ShippedBanks.h - banks that come with the compiler ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_SHIPPEDBANKS_H
#define OPENATC_TUNING_SHIPPEDBANKS_H

#include "tuning/Bank.h"

namespace atc::tuning {

/// Returns what the compiler knows of common networks on a target, from tuning/banks; an empty bank
/// for a target without one.
Bank shippedBank(const std::string &target);

} // namespace atc::tuning

#endif // OPENATC_TUNING_SHIPPEDBANKS_H
