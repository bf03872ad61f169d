//===-- OmMutator.h - changes to .om files that their header's hash allows --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header's hash would stop nearly every mutation, so it is made right: what is tried is
// everything behind it. OmMutator.cpp has the mutator of fuzz targets that read .om files.

#ifndef OPENATC_TEST_FUZZ_OM_OMMUTATOR_H
#define OPENATC_TEST_FUZZ_OM_OMMUTATOR_H

#include <cstdint>
#include <vector>

namespace atc::fuzz {

/// Sets the hash of the header in the bytes of an .om file to the one that it has; leaves bytes
/// that have no room for one.
void repairHash(std::vector<char> &file);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_OM_OMMUTATOR_H
