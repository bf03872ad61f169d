//===-- NativeHost.h - runs host kernels in this process ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NATIVE_NATIVEHOST_H
#define OPENATC_KERNELS_NATIVE_NATIVEHOST_H

#include "kernels/core/Contract.h"
#include "runtime-lite/abi/HostKernel.h"

#include <cstddef>
#include <deque>
#include <memory>
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

/// Owns values and what they point at.
class Values {
public:
  host::Value *tensor(uint8_t dtype, uint32_t rank, const int64_t *dims, bool withData = true);
  host::Value *list(host::Kind kind, uint8_t dtype, size_t count, const host::Value *const *items);
  host::Value *none();
  host::Value *copyOf(const host::Value &value);
  /// 64-byte aligned, zeroed.
  void *bytes(size_t count);

private:
  struct Free {
    void operator()(void *memory) const;
  };
  std::deque<host::Value> values;
  std::vector<std::unique_ptr<void, Free>> memory;
};

struct Outcome {
  /// Null: the output was not made, because its shape depends on elements that are
  /// not known, or because the call failed.
  std::vector<host::Value *> outputs;
  std::string error; ///< empty: the call did not fail
};

/// Calls a kernel. With `onlyShapes` the outputs have no elements: the kernel ends
/// when it has asked for the last of them.
Outcome run(const Row &row, const std::vector<const host::Value *> &inputs,
            const std::vector<host::Attribute> &attributes, unsigned outputs, uint32_t wanted,
            bool onlyShapes, Values &values, const void *body = nullptr);

} // namespace atc::kernels::native

#endif // OPENATC_KERNELS_NATIVE_NATIVEHOST_H
