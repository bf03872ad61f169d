//===-- NativeHost.h - runs host kernels in this process ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler calls host kernels with values from a model: with shapes to infer types, with
// constants to fold them. Any of it may be invalid, so a call has a limit of bytes, and its
// requests are checked as in the runtime.

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

  /// Returns the maximum number of results of the kernel: a call must not request more.
  uint32_t maxResults() const;
};

/// Returns the row of a kernel; null where there is no such kernel.
const Row *find(std::string_view name);
const std::vector<Row> &allRows();

/// Owns values and their elements. Nothing throws: all functions return null where memory could not
/// be allocated.
class Values {
public:
  Values() = default;
  Values(const Values &) = delete;
  Values &operator=(const Values &) = delete;
  ~Values() { clear(); }
  /// Frees all values.
  void clear();

  /// Makes a tensor with zeroed elements. Returns null also for dims that are negative, too many or
  /// too large, and with data for an unknown element type.
  host::Value *tensor(uint8_t dtype, uint32_t rank, const int64_t *dims, bool withData = true);
  /// Makes a sequence or map of items that HostValueRules.h allows.
  host::Value *list(host::Kind kind, uint8_t dtype, size_t count, const host::Value *const *items);
  /// Makes an optional without a value.
  host::Value *none();
  /// Makes a deep copy of a value.
  host::Value *copyOf(const host::Value &value);
  /// Makes 64-byte aligned, zeroed memory.
  void *bytes(size_t count);

private:
  /// The header of a block of memory.
  struct alignas(64) Block {
    Block *next;
  };
  Block *blocks = nullptr;
};

/// The result of a call.
struct Outcome {
  /// A null output was not made, because its shape depends on elements that are not known, or
  /// because the call failed. Values belong to the Values of the call.
  std::vector<host::Value *> outputs;
  std::string error; ///< empty: the call succeeded
};

/// The default limit of bytes per call: 8 GiB.
inline constexpr uint64_t kDefaultCallBytes = uint64_t(8) << 30;

/// Calls a kernel. With `onlyShapes` the outputs have no elements: the kernel ends when it has
/// requested the last of them. A call that requests more than `maxBytes` bytes fails; the error
/// says how many.
Outcome run(const Row &row, const std::vector<const host::Value *> &inputs,
            const std::vector<host::Attribute> &attributes, unsigned outputs, uint32_t wanted,
            bool onlyShapes, Values &values, const void *body = nullptr,
            uint64_t maxBytes = kDefaultCallBytes);

} // namespace atc::kernels::native

#endif // OPENATC_KERNELS_NATIVE_NATIVEHOST_H
