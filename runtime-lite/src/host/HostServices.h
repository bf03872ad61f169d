//===-- HostServices.h - the host's services for kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_HOSTSERVICES_H
#define OPENATC_RUNTIME_HOSTSERVICES_H

#include "runtime-lite/src/host/HostMachine.h"

namespace atc::rt {

/// Implements the functions of atc::host::Host (documented there) on the machine of a call.
struct HostMachine::Services {
  static const host::Host table;

  /// Returns the machine that runs `call`.
  static HostMachine &of(host::Call *call) { return *static_cast<MachineCall *>(call)->machine; }

  /// Implement the functions of host::Host, on the machine behind `call`.
  static void *makeTensor(host::Call *call, uint32_t index, uint8_t dtype, uint32_t rank,
                          const int64_t *dims);
  static void share(host::Call *call, uint32_t index, const host::Value *source, uint32_t rank,
                    const int64_t *dims);
  static void forward(host::Call *call, uint32_t index, const host::Value *source);
  static void makeSequence(host::Call *call, uint32_t index, host::Kind kind, uint8_t dtype,
                           uint64_t count, const host::Value *const *items);
  static const host::Value *makeItem(host::Call *call, uint8_t dtype, uint32_t rank,
                                     const int64_t *dims);
  static void makeNone(host::Call *call, uint32_t index);
  static char *makeText(host::Call *call, uint64_t bytes);
  static void *scratch(host::Call *call, uint64_t bytes);
  static void parallel(host::Call *call, int64_t tasks, void (*task)(void *, int64_t, int64_t),
                       void *arg);
  static void fail(host::Call *call, const char *text, const int64_t *numbers, uint32_t count);
  static uint64_t entropy(host::Call *call);
  static const host::Value *makeMapItem(host::Call *call, const host::Value *keys,
                                        const host::Value *values);
  static void *append(host::Call *call, uint32_t index, const host::Value *past, uint32_t axis,
                      int64_t added, int64_t *room);
  static int64_t roomOf(host::Call *call, const host::Value *value, uint32_t axis);

private:
  /// Makes a tensor in the machine's memory; on failure records it and returns null.
  static om_value *tensor(HostMachine &machine, uint8_t dtype, uint32_t rank, const int64_t *dims);
  /// Returns a value of the machine that refers to `source`, with one more reference: `source`
  /// itself where the machine made it, else a copy of its description.
  static om_value *managed(HostMachine &machine, const host::Value &source);
  static om_value *changedList(HostMachine &machine, uint8_t dtype, uint64_t count,
                               const host::Value *const *items);
  static om_value *list(HostMachine &machine, host::Kind kind, uint8_t dtype, uint64_t count,
                        const host::Value *const *items);
  static const host::Value *item(HostMachine &machine, om_value *value);
  static void failWith(HostMachine &machine, const char *text, const int64_t *numbers,
                       uint32_t count);
};

} // namespace atc::rt

#endif
