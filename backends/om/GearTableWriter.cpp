//===-- GearTableWriter.cpp - the table of gears --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/GearTableWriter.h"

#include "backends/om/HostProgramWriter.h"

namespace atc::om {

flatbuffers::Offset<fb::GearTable> buildGears(flatbuffers::FlatBufferBuilder &builder,
                                              const OmGears &gears) {
  auto ports = [&](const std::vector<OmHostPort> &list) {
    std::vector<flatbuffers::Offset<fb::HostPort>> tables;
    for (const OmHostPort &port : list)
      tables.push_back(buildHostPort(builder, port));
    return builder.CreateVector(tables);
  };
  std::vector<flatbuffers::Offset<fb::GearAxis>> axes;
  for (const OmGearAxis &axis : gears.axes)
    axes.push_back(fb::CreateGearAxis(builder, axis.output, axis.index, axis.dim, axis.value));
  std::vector<flatbuffers::Offset<fb::Gear>> tables;
  for (const OmGear &gear : gears.gears) {
    auto values = builder.CreateVector(gear.values);
    auto part = buildHostPart(builder, gear.part);
    flatbuffers::Offset<fb::HostProgram> host;
    if (gear.host)
      host = buildHostProgram(builder, *gear.host);
    tables.push_back(fb::CreateGear(builder, values, part, gear.arenaSize, host));
  }
  auto inputs = ports(gears.inputs), outputs = ports(gears.outputs);
  auto axisList = builder.CreateVector(axes);
  auto gearList = builder.CreateVector(tables);
  flatbuffers::Offset<flatbuffers::Vector<int64_t>> min;
  if (gears.kind == OM_GEARS_RANGE)
    min = builder.CreateVector(gears.min);
  return fb::CreateGearTable(builder, static_cast<fb::GearKind>(gears.kind), inputs, outputs,
                             axisList, min, gearList);
}

} // namespace atc::om
