//===-- PortChecks.h - what inputs and outputs must be --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_PORTCHECKS_H
#define OPENATC_RUNTIME_PORTCHECKS_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Value.h"

namespace atc::rt {

/// The type that an input or output must have; see HostPort in the schema. Pointers belong to the
/// file.
struct PortType {
  const char *name;
  host::Kind kind;
  uint8_t dtype;
  bool ranked, optional;
  uint32_t rank;
  const int64_t *dims;
};
/// Returns the type of an input or output of a dynamic schedule.
PortType portType(const om::fb::HostPort &port);
/// Returns the type of a static tensor.
PortType portType(const om::fb::Tensor &tensor);

using HostPorts = flatbuffers::Vector<flatbuffers::Offset<om::fb::HostPort>>;

/// Returns the inputs or outputs of a dynamic schedule or of gears; null where the model has
/// neither.
const HostPorts *dynamicPorts(const om::fb::Model &header, bool input);

/// Returns OM_OK where `value` (null: none) matches `type`. Otherwise fills the error with one
/// sentence and returns `code`. `word` is "input" or "output".
om_status checkPort(const PortType &port, const char *word, uint32_t index,
                    const host::Value *value, om_status code, om_error *error);

/// Checks the caller's memory, which `bytes` bytes are read from or written to: it must be 64-byte
/// aligned, and null only where `bytes` is 0. OM_ERROR_ARGUMENT otherwise.
om_status checkPointer(const void *pointer, uint64_t bytes, const char *word, uint32_t index,
                       const char *name, om_error *error);

} // namespace atc::rt

#endif
