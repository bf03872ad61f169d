//===-- ModelGraph.cpp - an .om file as a graph of operators --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-dump/ModelGraph.h"

#include "support/ModelText.h"

#include <map>

namespace fb = atc::om::fb;

namespace atc::tools {

namespace {
using Ports = flatbuffers::Vector<flatbuffers::Offset<fb::HostPort>>;

class Collector {
public:
  explicit Collector(const fb::Model &model) : model(model) {
    std::map<std::string, uint32_t> used;
    for (const fb::Tensor *tensor : *model.tensors()) {
      const std::string name = printable(tensor->name()->str());
      const uint32_t before = used[name]++;
      tensorNames.push_back(before ? name + "." + std::to_string(before) : name);
    }
  }

  ModelGraph run() {
    ModelGraph graph;
    graph.name = printable(model.name()->str());
    if (const fb::HostProgram *host = model.host())
      return hostGraph(*host, graph.name);
    if (!model.gears()) {
      addRange(graph, 0, model.schedule()->size(), 0, model.inputs()->size(), 0,
               model.outputs()->size());
      return graph;
    }
    for (const fb::HostPort *port : *model.gears()->inputs())
      graph.inputs.push_back(valueOf(*port, printable(port->name()->str())));
    for (const fb::HostPort *port : *model.gears()->outputs())
      graph.outputs.push_back(valueOf(*port, printable(port->name()->str())));
    for (const fb::Gear *gear : *model.gears()->gears()) {
      std::vector<int64_t> values(gear->values()->begin(), gear->values()->end());
      GraphNode node = {"gear " + dimsText(values), "Gear", "host", namesOf(graph.inputs),
                        namesOf(graph.outputs)};
      node.bodies.push_back(gear->host() ? hostGraph(*gear->host(), node.name)
                                         : part(*gear->part(), node.name));
      graph.nodes.push_back(std::move(node));
    }
    return graph;
  }

private:
  static std::vector<std::string> namesOf(const std::vector<GraphValue> &values) {
    std::vector<std::string> names;
    for (const GraphValue &value : values)
      names.push_back(value.name);
    return names;
  }

  static GraphValue valueOf(const fb::HostPort &port, const std::string &name) {
    GraphValue value = {name};
    if (port.kind() != fb::HostKind::tensor)
      return value;
    value.dtype = static_cast<om_dtype>(port.dtype());
    value.isRanked = !port.unranked();
    value.dims.assign(port.dims()->begin(), port.dims()->end());
    if (port.dim_names())
      for (const flatbuffers::String *dim : *port.dim_names())
        value.names.push_back(printable(dim->str()));
    return value;
  }

  GraphValue tensor(uint32_t index) const {
    const fb::Tensor &tensor = *model.tensors()->Get(index);
    return {tensorNames[index],
            static_cast<om_dtype>(tensor.dtype()),
            true,
            {tensor.dims()->begin(), tensor.dims()->end()}};
  }

  template <typename Launch> GraphNode launchNode(const Launch &launch, const char *place) const {
    GraphNode node = {printable(launch.name()->str()), "", place, {}, {}};
    for (uint32_t index : *launch.reads())
      node.inputs.push_back(tensorNames[index]);
    for (uint32_t index : *launch.writes())
      node.outputs.push_back(tensorNames[index]);
    return node;
  }

  /// Adds launches and the inputs and outputs that belong to them.
  void addRange(ModelGraph &graph, uint32_t first, uint32_t count, uint32_t firstInput,
                uint32_t inputs, uint32_t firstOutput, uint32_t outputs) const {
    for (uint32_t i = 0; i < inputs; ++i)
      graph.inputs.push_back(tensor(model.inputs()->Get(firstInput + i)));
    for (uint32_t i = 0; i < outputs; ++i)
      graph.outputs.push_back(tensor(model.outputs()->Get(firstOutput + i)));
    for (uint32_t i = first; i < first + count; ++i) {
      const fb::Step &step = *model.schedule()->Get(i);
      const fb::Launch *cpu = step.what_as_Launch();
      const fb::NpuLaunch *npu = step.what_as_NpuLaunch();
      GraphNode node = cpu ? launchNode(*cpu, "cpu") : launchNode(*npu, "npu");
      node.kernel = printable(cpu ? model.kernels()->Get(cpu->kernel())->str()
                                  : model.npu_programs()->Get(npu->program())->name()->str());
      for (uint32_t index : cpu ? *cpu->writes() : *npu->writes())
        graph.values.push_back(tensor(index));
      graph.nodes.push_back(std::move(node));
    }
  }

  ModelGraph part(const fb::HostPart &part, const std::string &name) const {
    ModelGraph graph;
    graph.name = name;
    addRange(graph, part.first_launch(), part.launches(), part.first_input(), part.inputs(),
             part.first_output(), part.outputs());
    return graph;
  }

  //===--- Dynamic schedules ----------------------------------------------===//

  ModelGraph hostGraph(const fb::HostProgram &program, const std::string &name) {
    slotNames.clear();
    ModelGraph graph;
    graph.name = name;
    for (const fb::HostPort *port : *program.inputs()) {
      slotNames[static_cast<int32_t>(port->slot())] = printable(port->name()->str());
      graph.inputs.push_back(valueOf(*port, printable(port->name()->str())));
    }
    for (const fb::HostPort *port : *program.outputs()) {
      const std::string portName = printable(port->name()->str());
      slotNames.try_emplace(static_cast<int32_t>(port->slot()), portName);
      graph.outputs.push_back(valueOf(*port, slotName(static_cast<int32_t>(port->slot()))));
    }
    addBlock(program, static_cast<int32_t>(program.main()), graph);
    return graph;
  }

  std::string slotName(int32_t slot) const {
    if (slot < 0)
      return "";
    auto known = slotNames.find(slot);
    return known == slotNames.end() ? "%" + std::to_string(slot) : known->second;
  }
  template <typename Slots> std::vector<std::string> slotsOf(const Slots &slots) const {
    std::vector<std::string> names;
    for (int32_t slot : slots)
      names.push_back(slotName(slot));
    return names;
  }

  ModelGraph blockGraph(const fb::HostProgram &program, int32_t block, const std::string &name) {
    ModelGraph graph;
    graph.name = name;
    addBlock(program, block, graph);
    return graph;
  }

  /// The loader allows 64 blocks in each other.
  void addBlock(const fb::HostProgram &program, int32_t block, ModelGraph &graph) {
    if (block < 0)
      return;
    for (const fb::HostStep *step : *program.blocks()->Get(static_cast<uint32_t>(block))->steps()) {
      GraphNode node = {"", "", "host", {}, {}};
      if (const fb::HostCall *call = step->what_as_HostCall()) {
        node = {printable(call->name()->str()), kernelName(call->kernel()), "host",
                slotsOf(*call->inputs()), slotsOf(*call->outputs())};
      } else if (const fb::HostRun *run = step->what_as_HostRun()) {
        node = {"region " + std::to_string(run->part()), "Region", "host", slotsOf(*run->inputs()),
                slotsOf(*run->outputs())};
        node.bodies.push_back(part(*program.parts()->Get(run->part()), node.name));
      } else if (const fb::HostTiles *tiles = step->what_as_HostTiles()) {
        node = {"tiles", "Tiles", "host", slotsOf(*tiles->inputs()), slotsOf(*tiles->outputs())};
        for (uint32_t i = 0; i < tiles->parts()->size(); ++i)
          node.bodies.push_back(part(*program.parts()->Get(tiles->parts()->Get(i)),
                                     "tile of " + std::to_string(tiles->sizes()->Get(i))));
      } else if (const fb::HostIf *branch = step->what_as_HostIf()) {
        node = {"if", "If", "host", {slotName(static_cast<int32_t>(branch->condition()))}, {}};
        node.bodies.push_back(blockGraph(program, branch->then_block(), "then"));
        node.bodies.push_back(blockGraph(program, branch->else_block(), "else"));
      } else if (const fb::HostLoop *loop = step->what_as_HostLoop()) {
        node = {"loop", "Loop", "host", {slotName(static_cast<int32_t>(loop->condition()))}, {}};
        node.bodies.push_back(blockGraph(program, loop->body(), "body"));
      } else if (const fb::HostMove *move = step->what_as_HostMove()) {
        node = {"move", "Move", "host", slotsOf(*move->from()), slotsOf(*move->to())};
      } else if (const fb::HostCollective *collective = step->what_as_HostCollective()) {
        node = {printable(collective->name()->str()),
                fb::EnumNameCollectiveKind(collective->kind()),
                "host",
                {slotName(collective->input())},
                {slotName(collective->output())}};
      } else {
        continue; // releases and waits change no value
      }
      graph.nodes.push_back(std::move(node));
    }
  }

  std::string kernelName(uint32_t index) const {
    return printable(model.kernels()->Get(index)->str());
  }

  const fb::Model &model;
  std::vector<std::string> tensorNames;
  std::map<int32_t, std::string> slotNames;
};
} // namespace

ModelGraph collectGraph(const fb::Model &model) { return Collector(model).run(); }

} // namespace atc::tools
