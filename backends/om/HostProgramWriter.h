//===-- HostProgramWriter.h - writes the tables of dynamic schedules ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_HOSTPROGRAMWRITER_H
#define OPENATC_BACKENDS_OM_HOSTPROGRAMWRITER_H

#include "backends/om/OmWriter.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::om {

/// Writes the tables of a dynamic schedule and returns their root.
flatbuffers::Offset<fb::HostProgram> buildHostProgram(flatbuffers::FlatBufferBuilder &builder,
                                                      const OmHostProgram &program);

/// Write the tables of a port and of a part, which gears have as well.
flatbuffers::Offset<fb::HostPort> buildHostPort(flatbuffers::FlatBufferBuilder &builder,
                                                const OmHostPort &port);
flatbuffers::Offset<fb::HostPart> buildHostPart(flatbuffers::FlatBufferBuilder &builder,
                                                const OmHostPart &part);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_HOSTPROGRAMWRITER_H
