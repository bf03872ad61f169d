//===-- Verify.h - proves that an .om file is well-formed ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_VERIFY_H
#define OPENATC_RUNTIME_VERIFY_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// Checks everything but the segments' hashes in the file at `data` (8-byte aligned, `bytes` long)
/// and returns its header, which points into `data`, in `model`. Afterwards every offset, size and
/// index in the header is known to be valid.
om_status verifyFile(const char *data, uint64_t bytes, const om::fb::Model **model,
                     om_error *error);

/// Checks a header alone, in `headerBytes` bytes with prefix and hash, of a file of `fileBytes`
/// bytes. The writer calls it before it writes a file.
om_status verifyHeader(const char *header, uint64_t headerBytes, uint64_t fileBytes,
                       const om::fb::Model **model, om_error *error);

/// Compares the hash of a segment with its bytes; OM_ERROR_CORRUPT where they differ.
om_status verifySegment(const om::fb::Model &model, uint32_t segment, const char *bytes,
                        om_error *error);
/// Compares the hash of a segment with the one that its bytes have.
om_status verifySegmentHash(const om::fb::Model &model, uint32_t segment, uint64_t found,
                            om_error *error);

/// Checks, as a part of verifyFile, that the lists of a header of `headerBytes` bytes together are
/// no longer than that: several tables could share one list.
om_status verifyLists(const om::fb::Model &model, uint64_t headerBytes, om_error *error);

/// Checks the dynamic schedule, as the last part of verifyFile.
om_status verifyHostProgram(const om::fb::Model &model, om_error *error);

/// Returns null, or the reason why a dynamic schedule of the model cannot be used. Its static
/// regions must lie in `whole`, whose ranges are in the model.
const char *findHostError(const om::fb::Model &model, const om::fb::HostProgram &host,
                          const om::fb::HostPart &whole);

/// Returns whether the items of a vector are aligned, which FlatBuffers' verifier does not check:
/// it proves only that they are inside the file. A vector without items may be anywhere.
template <typename Vector> bool isAligned(const Vector *vector) {
  return !vector || vector->size() == 0 || reinterpret_cast<uintptr_t>(vector->Data()) % 8 == 0;
}

/// Returns whether a port has a name for each of its dims, or for none.
inline bool hasNamePerDim(const om::fb::HostPort &port) {
  return !port.dim_names() || port.dim_names()->size() == port.dims()->size();
}

/// Returns whether the model or one of its gears has a dynamic schedule.
bool hasHostProgram(const om::fb::Model &model);

/// Checks the states as a part of verifyFile, after everything else has been verified.
om_status verifyStates(const om::fb::Model &model, om_error *error);

/// Checks the gears as a part of verifyFile, after everything else has been verified.
om_status verifyGears(const om::fb::Model &model, om_error *error);

/// Returns null, or the reason why a part of the schedule cannot run on its own: it begins in the
/// middle of a task, or accesses an input or output that is not the part's. The ranges of the part
/// must be valid.
const char *findPartError(const om::fb::Model &model, const om::fb::HostPart &part);

/// Alignment in bytes of every segment in the file.
constexpr uint64_t segmentAlignment = 4096;

} // namespace atc::rt

#endif
