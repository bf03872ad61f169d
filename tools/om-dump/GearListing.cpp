//===-- GearListing.cpp - shows the gears of an .om file ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-dump/GearListing.h"

#include "runtime-lite/src/gears/GearTable.h"
#include "support/ModelText.h"
#include "tools/om-dump/Fields.h"

namespace atc::tools {

namespace fb = atc::om::fb;
using Json = nlohmann::ordered_json;

namespace {

using Ports = flatbuffers::Vector<flatbuffers::Offset<fb::HostPort>>;

std::string portsText(const char *title, const Ports &ports) {
  std::string lines = std::string("\n") + title + "\n";
  for (const fb::HostPort *port : ports)
    lines += "  " + printable(port->name()->str()) + "  " +
             typeText(static_cast<om_dtype>(port->dtype()), *port->dims()) + "\n";
  return lines;
}

Json portsJson(const Ports &ports) {
  Json list = Json::array();
  for (const fb::HostPort *port : ports)
    list.push_back({{"name", port->name()->str()},
                    {"dtype", om_dtype_name(static_cast<om_dtype>(port->dtype()))},
                    {"dims", listOf(*port->dims())}});
  return list;
}

} // namespace

std::string gearText(const fb::Model &model) {
  if (!model.gears())
    return "";
  const fb::GearTable &table = *model.gears();
  const atc::rt::GearTable ends(model);
  std::string lines = portsText("inputs", *table.inputs()) + portsText("outputs", *table.outputs());
  lines += std::string("\ngears (") + fb::EnumNameGearKind(table.kind()) + ")";
  if (table.min())
    lines += "  runs take values from " + dimsText(*table.min());
  lines += "\n";
  for (const fb::GearAxis *axis : *table.axes()) {
    const Ports &ports = axis->output() ? *table.outputs() : *table.inputs();
    lines += "  value " + std::to_string(axis->value()) + " is dim " + std::to_string(axis->dim()) +
             " of " + (axis->output() ? "output " : "input ") +
             printable(ports.Get(axis->index())->name()->str()) + "\n";
  }
  for (uint32_t g = 0; g < table.gears()->size(); ++g) {
    const fb::Gear &gear = *table.gears()->Get(g);
    const fb::HostPart &part = *gear.part();
    lines += "  " + std::to_string(g) + "  " + dimsText(*gear.values()) + "  launches " +
             std::to_string(part.first_launch()) + " to " +
             std::to_string(uint64_t(part.first_launch()) + part.launches()) + "  arena " +
             bytesText(gear.arena_size()) + " ";
    for (uint32_t i = 0; i < ends.inputCount(); ++i)
      lines += " " + dimsText(*ends.end(g, /*output=*/false, i).dims);
    lines += " ->";
    for (uint32_t i = 0; i < table.outputs()->size(); ++i)
      lines += " " + dimsText(*ends.end(g, /*output=*/true, i).dims);
    lines += gear.host() ? "  with a host program\n" : "\n";
  }
  return lines;
}

Json gearJson(const fb::Model &model) {
  if (!model.gears())
    return nullptr;
  const fb::GearTable &table = *model.gears();
  Json out = {{"kind", fb::EnumNameGearKind(table.kind())},
              {"inputs", portsJson(*table.inputs())},
              {"outputs", portsJson(*table.outputs())},
              {"min", table.min() ? Json(listOf(*table.min())) : Json()},
              {"axes", Json::array()},
              {"gears", Json::array()}};
  for (const fb::GearAxis *axis : *table.axes())
    out["axes"].push_back({{"output", axis->output()},
                           {"index", axis->index()},
                           {"dim", axis->dim()},
                           {"value", axis->value()}});
  for (const fb::Gear *gear : *table.gears())
    out["gears"].push_back({{"values", listOf(*gear->values())},
                            {"first_launch", gear->part()->first_launch()},
                            {"launches", gear->part()->launches()},
                            {"first_input", gear->part()->first_input()},
                            {"inputs", gear->part()->inputs()},
                            {"first_output", gear->part()->first_output()},
                            {"outputs", gear->part()->outputs()},
                            {"arena_bytes", gear->arena_size()},
                            {"host_program", gear->host() != nullptr}});
  return out;
}

} // namespace atc::tools
