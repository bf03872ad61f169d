//===-- GearTableWriter.h - the table of gears ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_GEARTABLEWRITER_H
#define OPENATC_BACKENDS_OM_GEARTABLEWRITER_H

#include "backends/om/OmWriter.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::om {

/// Writes the table of gears into the header that `builder` makes.
flatbuffers::Offset<fb::GearTable> buildGears(flatbuffers::FlatBufferBuilder &builder,
                                              const OmGears &gears);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_GEARTABLEWRITER_H
