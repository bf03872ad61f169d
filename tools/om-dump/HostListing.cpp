//===-- HostListing.cpp - prints the dynamic schedule of an .om file ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-dump/HostListing.h"

#include "support/ModelText.h"
#include "tools/om-dump/Fields.h"

#include <vector>

namespace fb = atc::om::fb;
using Json = nlohmann::ordered_json;

namespace atc::tools {

namespace {
using Slots = flatbuffers::Vector<int32_t>;

/// "%0, -, %3"
std::string slotsText(const Slots &slots) {
  std::string line;
  for (int32_t slot : slots)
    line += (line.empty() ? "" : ", ") + (slot < 0 ? "-" : "%" + std::to_string(slot));
  return line;
}

/// "f32[?,3]", "sequence of i64", "map"
std::string portType(const fb::HostPort &port) {
  const bool any = port.dtype() == fb::DataType::undefined;
  std::string type = any ? "any" : om_dtype_name(static_cast<om_dtype>(port.dtype()));
  if (port.kind() == fb::HostKind::tensor) {
    std::vector<std::string> names;
    if (port.dim_names())
      for (const flatbuffers::String *name : *port.dim_names())
        names.push_back(name->str());
    type = port.unranked() ? type + "[*]" : typeText(type, *port.dims(), names);
  } else {
    type = std::string(fb::EnumNameHostKind(port.kind())) + (any ? "" : " of " + type);
  }
  return port.optional() ? type + " or none" : type;
}

class Listing {
public:
  explicit Listing(const fb::Model &model) : model(model), host(*model.host()) {}

  std::string take() {
    lines = "\nhost program: " + std::to_string(host.slots()) + " slots, " +
            std::to_string(host.blocks()->size()) + " blocks, " +
            std::to_string(host.constants()->size()) + " constants\n";
    ports("input", *host.inputs());
    ports("output", *host.outputs());
    for (const fb::HostConstant *constant : *host.constants()) {
      lines += "  constant ";
      if (constant->slot() >= 0)
        lines += "%" + std::to_string(constant->slot()) + "  ";
      lines += typeText(static_cast<om_dtype>(constant->dtype()), *constant->dims()) + "\n";
    }
    for (uint32_t i = 0; i < host.parts()->size(); ++i) {
      const fb::HostPart &part = *host.parts()->Get(i);
      lines += "  part " + std::to_string(i) + "  launches " + std::to_string(part.first_launch()) +
               ".." + std::to_string(part.first_launch() + part.launches()) + "\n";
    }
    block(static_cast<int32_t>(host.main()), 1);
    return lines;
  }

private:
  void ports(const char *word, const flatbuffers::Vector<flatbuffers::Offset<fb::HostPort>> &list) {
    for (const fb::HostPort *port : list)
      lines += std::string("  ") + word + " %" + std::to_string(port->slot()) + "  " +
               text(port->name()) + "  " + portType(*port) + "\n";
  }

  std::string kernel(uint32_t index) const { return text(model.kernels()->Get(index)); }

  std::string attribute(const fb::HostAttribute &attribute) const {
    std::string line;
    auto add = [&](const std::string &item) { line += (line.empty() ? "" : ",") + item; };
    if (attribute.ints())
      for (int64_t number : *attribute.ints())
        add(std::to_string(number));
    if (attribute.floats())
      for (double number : *attribute.floats())
        add(Json(number).dump());
    if (attribute.strings())
      for (const flatbuffers::String *string : *attribute.strings())
        add("'" + text(string) + "'");
    if (attribute.tensors())
      for (uint32_t tensor : *attribute.tensors())
        add("constant " + std::to_string(tensor));
    return text(attribute.name()) + "=[" + line + "]";
  }

  /// The loader allows 64 blocks in each other.
  void block(int32_t index, unsigned depth) {
    if (index < 0)
      return;
    const std::string indent(2 * depth, ' ');
    for (const fb::HostStep *step : *host.blocks()->Get(static_cast<uint32_t>(index))->steps()) {
      lines += indent;
      if (const fb::HostCall *call = step->what_as_HostCall()) {
        lines += slotsText(*call->outputs()) + " = " + kernel(call->kernel()) + "(" +
                 slotsText(*call->inputs()) + ")";
        if (call->body())
          lines += " body " + kernel(call->body() - 1);
        for (const fb::HostAttribute *item : *call->attributes())
          lines += " " + attribute(*item);
        lines += "  '" + text(call->name()) + "'\n";
      } else if (const fb::HostRun *run = step->what_as_HostRun()) {
        lines += slotsText(*run->outputs()) + " = part " + std::to_string(run->part()) + "(" +
                 slotsText(*run->inputs()) + ")\n";
      } else if (const fb::HostTiles *tiles = step->what_as_HostTiles()) {
        lines += slotsText(*tiles->outputs()) + (tiles->rows() ? " = rows(" : " = tiles(") +
                 slotsText(*tiles->inputs()) + ")";
        for (uint32_t i = 0; i < tiles->parts()->size(); ++i)
          lines += std::string(i ? "," : "") + " part " + std::to_string(tiles->parts()->Get(i)) +
                   " for " + std::to_string(tiles->sizes()->Get(i));
        lines += "\n";
      } else if (const fb::HostCollective *op = step->what_as_HostCollective()) {
        lines += (op->output() < 0 ? "" : "%" + std::to_string(op->output()) + " = ") +
                 fb::EnumNameCollectiveKind(op->kind()) + "(" +
                 (op->input() < 0 ? "" : "%" + std::to_string(op->input())) + ") ranks";
        for (uint32_t rank : *op->ranks())
          lines += " " + std::to_string(rank);
        lines += "  '" + text(op->name()) + "'\n";
      } else if (const fb::HostWait *wait = step->what_as_HostWait()) {
        lines += "wait " + slotsText(*wait->slots()) + "\n";
      } else if (const fb::HostIf *branch = step->what_as_HostIf()) {
        lines += "if %" + std::to_string(branch->condition()) + "\n";
        block(branch->then_block(), depth + 1);
        if (branch->else_block() >= 0)
          lines += indent + "else\n";
        block(branch->else_block(), depth + 1);
      } else if (const fb::HostLoop *loop = step->what_as_HostLoop()) {
        lines += "while %" + std::to_string(loop->condition()) + "\n";
        block(loop->body(), depth + 1);
      } else if (const fb::HostMove *move = step->what_as_HostMove()) {
        lines += slotsText(*move->to()) + " = " + slotsText(*move->from()) + "\n";
      } else {
        lines += "release " + slotsText(*step->what_as_HostRelease()->slots()) + "\n";
      }
    }
  }

  const fb::Model &model;
  const fb::HostProgram &host;
  std::string lines;
};

Json attributeJson(const fb::HostAttribute &attribute) {
  Json value = Json::array();
  if (attribute.ints())
    value = listOf(*attribute.ints());
  if (attribute.floats())
    value = listOf(*attribute.floats());
  if (attribute.strings())
    for (const flatbuffers::String *string : *attribute.strings())
      value.push_back(string->str());
  if (attribute.tensors())
    value = listOf(*attribute.tensors());
  return {{"name", attribute.name()->str()},
          {"kind", fb::EnumNameHostAttributeKind(attribute.kind())},
          {"value", value}};
}

Json stepJson(const fb::HostStep &step) {
  if (const fb::HostCall *call = step.what_as_HostCall()) {
    Json attributes = Json::array();
    for (const fb::HostAttribute *item : *call->attributes())
      attributes.push_back(attributeJson(*item));
    Json body;
    if (call->body())
      body = call->body() - 1;
    return {{"kind", "call"},
            {"name", call->name()->str()},
            {"kernel", call->kernel()},
            {"body", body},
            {"inputs", listOf(*call->inputs())},
            {"outputs", listOf(*call->outputs())},
            {"attributes", attributes}};
  }
  if (const fb::HostRun *run = step.what_as_HostRun())
    return {{"kind", "run"},
            {"part", run->part()},
            {"inputs", listOf(*run->inputs())},
            {"outputs", listOf(*run->outputs())}};
  if (const fb::HostCollective *op = step.what_as_HostCollective())
    return {{"kind", fb::EnumNameCollectiveKind(op->kind())},
            {"name", printable(op->name()->str())},
            {"input", op->input()},
            {"output", op->output()},
            {"elements", op->elements()},
            {"ranks", listOf(*op->ranks())}};
  if (const fb::HostWait *wait = step.what_as_HostWait())
    return {{"kind", "wait"}, {"slots", listOf(*wait->slots())}};
  if (const fb::HostTiles *tiles = step.what_as_HostTiles())
    return {{"kind", "tiles"},
            {"parts", listOf(*tiles->parts())},
            {"sizes", listOf(*tiles->sizes())},
            {"inputs", listOf(*tiles->inputs())},
            {"outputs", listOf(*tiles->outputs())},
            {"input_dims", listOf(*tiles->input_dims())},
            {"output_dims", listOf(*tiles->output_dims())},
            {"rows", tiles->rows()}};
  if (const fb::HostIf *branch = step.what_as_HostIf())
    return {{"kind", "if"},
            {"condition", branch->condition()},
            {"then", branch->then_block()},
            {"else", branch->else_block()}};
  if (const fb::HostLoop *loop = step.what_as_HostLoop())
    return {{"kind", "loop"}, {"condition", loop->condition()}, {"body", loop->body()}};
  if (const fb::HostMove *move = step.what_as_HostMove())
    return {{"kind", "move"}, {"from", listOf(*move->from())}, {"to", listOf(*move->to())}};
  return {{"kind", "release"}, {"slots", listOf(*step.what_as_HostRelease()->slots())}};
}
} // namespace

std::string hostText(const fb::Model &model) {
  return model.host() ? Listing(model).take() : std::string();
}

Json hostJson(const fb::Model &model) {
  if (!model.host())
    return nullptr;
  const fb::HostProgram &host = *model.host();
  Json out = {{"slots", host.slots()}, {"main", host.main()}};
  for (const char *list : {"inputs", "outputs", "constants", "parts", "blocks"})
    out[list] = Json::array();
  auto ports = [&](const char *name, const auto &list) {
    for (const fb::HostPort *port : list) {
      Json dimNames = Json::array();
      if (port->dim_names())
        for (const flatbuffers::String *dim : *port->dim_names())
          dimNames.push_back(dim->str());
      out[name].push_back({{"name", port->name()->str()},
                           {"kind", fb::EnumNameHostKind(port->kind())},
                           {"dtype", om_dtype_name(static_cast<om_dtype>(port->dtype()))},
                           {"dims", listOf(*port->dims())},
                           {"dim_names", dimNames},
                           {"unranked", port->unranked()},
                           {"optional", port->optional()},
                           {"slot", port->slot()}});
    }
  };
  ports("inputs", *host.inputs());
  ports("outputs", *host.outputs());
  for (const fb::HostConstant *constant : *host.constants())
    out["constants"].push_back({{"slot", constant->slot()},
                                {"dtype", om_dtype_name(static_cast<om_dtype>(constant->dtype()))},
                                {"dims", listOf(*constant->dims())},
                                {"offset", constant->place()->offset()},
                                {"size", constant->place()->size()}});
  for (const fb::HostPart *part : *host.parts())
    out["parts"].push_back({{"first_launch", part->first_launch()},
                            {"launches", part->launches()},
                            {"first_input", part->first_input()},
                            {"inputs", part->inputs()},
                            {"first_output", part->first_output()},
                            {"outputs", part->outputs()}});
  for (const fb::HostBlock *block : *host.blocks()) {
    Json steps = Json::array();
    for (const fb::HostStep *step : *block->steps())
      steps.push_back(stepJson(*step));
    out["blocks"].push_back(steps);
  }
  return out;
}

} // namespace atc::tools
