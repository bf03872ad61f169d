//===-- CallKernel.cpp - host kernels for Python's ctypes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/native/NativeHost.h"

#include <cstring>

using namespace atc;

/// Calls a kernel; the outputs live until the next call. Returns 0, 1 where there
/// is no such kernel, 2 where the call failed with `error`.
extern "C" int call_kernel(const char *name, const host::Value *const *inputs, uint32_t inputCount,
                           const host::Attribute *attributes, uint32_t attributeCount,
                           uint32_t outputCount, uint32_t wanted, int onlyShapes,
                           const host::Value **outputs, char *error, size_t errorSize) {
  static kernels::native::Values values;
  const kernels::native::Row *row = kernels::native::find(name);
  if (!row)
    return 1;
  values.clear();
  auto outcome = kernels::native::run(*row, {inputs, inputs + inputCount},
                                      {attributes, attributes + attributeCount}, outputCount,
                                      wanted, onlyShapes != 0, values);
  for (uint32_t i = 0; i < outputCount; ++i)
    outputs[i] = outcome.outputs[i];
  std::strncpy(error, outcome.error.c_str(), errorSize - 1);
  return outcome.error.empty() ? 0 : 2;
}
