//===-- Verify.h - proves that an .om file can be trusted -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_VERIFY_H
#define OPENATC_RUNTIME_VERIFY_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// Checks everything but the segments' hashes in the file at `data` (8-byte
/// aligned, `bytes` long) and returns its header in `model`. Afterwards every
/// offset, size and index in the header is known to be good.
om_status verifyFile(const char *data, uint64_t bytes, const om::fb::Model **model,
                     om_error *error);

/// The same for a header alone, in `headerBytes` bytes with prefix and hash, of
/// a file that has `fileBytes`: what the writer asks before it puts one down.
om_status verifyHeader(const char *header, uint64_t headerBytes, uint64_t fileBytes,
                       const om::fb::Model **model, om_error *error);

/// Compares the hash of a segment with its bytes.
om_status verifySegment(const om::fb::Model &model, uint32_t segment, const char *bytes,
                        om_error *error);

/// Refuses, as a part of verifyFile, a header of `headerBytes` bytes whose lists together
/// are longer than that, because several tables use one.
om_status verifyLists(const om::fb::Model &model, uint64_t headerBytes, om_error *error);

/// A part of verifyFile: what is checked of the host program, when all else is good.
om_status verifyHostProgram(const om::fb::Model &model, om_error *error);

/// A part of verifyFile: what is checked of the gears, when all else is good.
om_status verifyGears(const om::fb::Model &model, om_error *error);

/// Returns null, or why a part of the schedule cannot run on its own: it begins in the middle
/// of a task, or reaches into an input or output that is not the part's. The ranges of the
/// part are in the model.
const char *findPartFault(const om::fb::Model &model, const om::fb::HostPart &part);

constexpr uint64_t segmentAlignment = 4096;

} // namespace atc::rt

#endif
