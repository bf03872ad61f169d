//===-- OmIdentity.h - tells compiled files apart ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_OMIDENTITY_H
#define OPENATC_SUPPORT_OMIDENTITY_H

#include <string>

namespace atc {

/// Returns 16 hexadecimal digits that stand for all that an .om file computes: a hash of its
/// header, which has the hashes of weights and code, without what a signature adds. Empty where the
/// file cannot be read or is damaged.
std::string omIdentity(const std::string &path);

} // namespace atc

#endif // OPENATC_SUPPORT_OMIDENTITY_H
