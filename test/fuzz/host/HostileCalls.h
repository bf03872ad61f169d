//===-- HostileCalls.h - the inputs and attributes of hostile calls -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_HOST_HOSTILECALLS_H
#define OPENATC_TEST_FUZZ_HOST_HOSTILECALLS_H

#include "kernels/native/NativeHost.h"
#include "test/fuzz/host/FuzzHost.h"

#include <vector>

namespace atc::fuzz {

/// The arguments of a kernel call; `memory` owns all of them.
struct HostileCall {
  Blocks memory;
  std::vector<const host::Value *> inputs; ///< null: left out
  std::vector<host::Attribute> attributes;
  /// As when the compiler infers shapes: some inputs have no elements, and the kernel is
  /// to end when it has asked for its outputs.
  bool onlyShapes = false;
};

/// Fills an empty call of the row's kernel. Equal seeds make equal calls.
void fillHostileCall(const kernels::native::Row &row, uint64_t seed, HostileCall &call);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_HOST_HOSTILECALLS_H
