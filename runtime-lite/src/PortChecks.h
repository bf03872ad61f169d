//===-- PortChecks.h - what inputs and outputs must be --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_PORTCHECKS_H
#define OPENATC_RUNTIME_PORTCHECKS_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Value.h"

namespace atc::rt {

/// What an input must be; see HostPort.
struct PortType {
  const char *name;
  host::Kind kind;
  uint8_t dtype;
  bool ranked, optional;
  uint32_t rank;
  const int64_t *dims;
};
PortType portType(const om::fb::HostPort &port);
PortType portType(const om::fb::Tensor &tensor);

/// One clear sentence unless `value` (null: none) fits. `word` is "input" or "output".
om_status checkPort(const PortType &port, const char *word, uint32_t index,
                    const host::Value *value, om_status code, om_error *error);

/// The same for the caller's memory, which `bytes` bytes are read from or written to.
om_status checkPointer(const void *pointer, uint64_t bytes, const char *word, uint32_t index,
                       const char *name, om_error *error);

} // namespace atc::rt

#endif
