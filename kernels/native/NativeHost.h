//===-- NativeHost.h - runs host kernels in this process ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler calls host kernels with what a model holds: with shapes to infer
// types, with constants to fold them. Any of it may be wrong, so a call has a
// ceiling of bytes, and what it asks for is checked as the runtime checks it.

#ifndef OPENATC_KERNELS_NATIVE_NATIVEHOST_H
#define OPENATC_KERNELS_NATIVE_NATIVEHOST_H

#include "kernels/core/Contract.h"
#include "runtime-lite/abi/HostKernel.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atc::kernels::native {

/// A row of Kernels.def. The kernel checks its contract itself.
struct Row {
  const char *name, *attributes, *results, *inputs;
  const Contract *contract;
  host::Kernel kernel;

  /// Returns how many results the kernel can make: a call must not ask for more.
  uint32_t maxResults() const;
};

/// Null where there is no such kernel.
const Row *find(std::string_view name);
const std::vector<Row> &allRows();

/// Owns values and what they point at. Nothing throws: all functions return null
/// where there is no memory.
class Values {
public:
  Values() = default;
  Values(const Values &) = delete;
  Values &operator=(const Values &) = delete;
  ~Values() { clear(); }
  void clear();

  /// Makes a tensor; its elements are zeros. Null also for dims that are negative,
  /// too many or too large, and with data for an unknown element type.
  host::Value *tensor(uint8_t dtype, uint32_t rank, const int64_t *dims, bool withData = true);
  /// Makes a sequence or map of items that HostValueRules.h allows.
  host::Value *list(host::Kind kind, uint8_t dtype, size_t count, const host::Value *const *items);
  host::Value *none();
  host::Value *copyOf(const host::Value &value);
  /// Makes 64-byte aligned, zeroed memory.
  void *bytes(size_t count);

private:
  /// Stands before what was asked for.
  struct alignas(64) Block {
    Block *next;
  };
  Block *blocks = nullptr;
};

struct Outcome {
  /// Null: the output was not made, because its shape depends on elements that are
  /// not known, or because the call failed.
  std::vector<host::Value *> outputs;
  std::string error; ///< empty: the call did not fail
};

inline constexpr uint64_t kDefaultCallBytes = uint64_t(8) << 30;

/// Calls a kernel. With `onlyShapes` the outputs have no elements: the kernel ends
/// when it has asked for the last of them. A call that asks for more than `maxBytes`
/// fails; the error says how much that was.
Outcome run(const Row &row, const std::vector<const host::Value *> &inputs,
            const std::vector<host::Attribute> &attributes, unsigned outputs, uint32_t wanted,
            bool onlyShapes, Values &values, const void *body = nullptr,
            uint64_t maxBytes = kDefaultCallBytes);

} // namespace atc::kernels::native

#endif // OPENATC_KERNELS_NATIVE_NATIVEHOST_H
