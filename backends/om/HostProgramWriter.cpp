//===-- HostProgramWriter.cpp - writes the tables of dynamic schedules ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/HostProgramWriter.h"

namespace atc::om {

namespace {
template <typename T> using Offset = flatbuffers::Offset<T>;
template <typename T> using OffsetVector = Offset<flatbuffers::Vector<Offset<T>>>;

class HostBuilder {
public:
  explicit HostBuilder(flatbuffers::FlatBufferBuilder &builder) : builder(builder) {}

  Offset<fb::HostProgram> program(const OmHostProgram &program);

private:
  /// Writes one table per item, then the vector of them.
  template <typename Table, typename Item>
  OffsetVector<Table> list(const std::vector<Item> &items,
                           Offset<Table> (HostBuilder::*make)(const Item &)) {
    std::vector<Offset<Table>> tables;
    for (const Item &item : items)
      tables.push_back((this->*make)(item));
    return builder.CreateVector(tables);
  }
  OffsetVector<flatbuffers::String> texts(const std::vector<std::string> &items) {
    return list(items, &HostBuilder::text);
  }

  Offset<flatbuffers::String> text(const std::string &item) {
    return builder.CreateSharedString(item);
  }
  Offset<fb::HostPort> port(const OmHostPort &port) { return buildHostPort(builder, port); }
  Offset<fb::HostConstant> constant(const OmHostConstant &constant);
  Offset<fb::HostPart> part(const OmHostPart &part) { return buildHostPart(builder, part); }
  Offset<fb::HostAttribute> attribute(const OmHostAttribute &attribute);
  Offset<fb::HostStep> step(const OmHostStep &step);
  Offset<fb::HostBlock> block(const std::vector<OmHostStep> &steps) {
    return fb::CreateHostBlock(builder, list(steps, &HostBuilder::step));
  }

  flatbuffers::FlatBufferBuilder &builder;
};

Offset<fb::HostConstant> HostBuilder::constant(const OmHostConstant &constant) {
  auto dims = builder.CreateVector(constant.dims);
  const fb::BufferRef place(static_cast<fb::Space>(constant.place.space), constant.place.index,
                            constant.place.offset, constant.place.size);
  OffsetVector<flatbuffers::String> strings;
  if (constant.dtype == OM_STRING)
    strings = texts(constant.strings);
  return fb::CreateHostConstant(builder, constant.slot, static_cast<fb::DataType>(constant.dtype),
                                dims, &place, strings);
}

Offset<fb::HostAttribute> HostBuilder::attribute(const OmHostAttribute &attribute) {
  auto name = text(attribute.name);
  Offset<flatbuffers::Vector<int64_t>> ints;
  Offset<flatbuffers::Vector<double>> floats;
  OffsetVector<flatbuffers::String> strings;
  Offset<flatbuffers::Vector<uint32_t>> tensors;
  switch (attribute.kind) {
  case OmHostAttribute::Kind::Ints:
    ints = builder.CreateVector(attribute.ints);
    break;
  case OmHostAttribute::Kind::Floats:
    floats = builder.CreateVector(attribute.floats);
    break;
  case OmHostAttribute::Kind::Strings:
    strings = texts(attribute.strings);
    break;
  case OmHostAttribute::Kind::Tensors:
    tensors = builder.CreateVector(attribute.tensors);
    break;
  }
  return fb::CreateHostAttribute(builder, name, static_cast<fb::HostAttributeKind>(attribute.kind),
                                 ints, floats, strings, tensors);
}

Offset<fb::HostStep> HostBuilder::step(const OmHostStep &step) {
  switch (step.kind) {
  case OmHostStep::Kind::Call: {
    auto name = text(step.name);
    auto inputs = builder.CreateVector(step.inputs), outputs = builder.CreateVector(step.outputs);
    auto attributes = list(step.attributes, &HostBuilder::attribute);
    auto tensor = step.tensor == step.name ? Offset<flatbuffers::String>() : text(step.tensor);
    auto call = fb::CreateHostCall(builder, name, step.kernel, static_cast<uint32_t>(step.body + 1),
                                   inputs, outputs, attributes, step.macs, tensor);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostCall, call.Union());
  }
  case OmHostStep::Kind::Run: {
    auto inputs = builder.CreateVector(step.inputs), outputs = builder.CreateVector(step.outputs);
    auto run = fb::CreateHostRun(builder, step.part, inputs, outputs);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostRun, run.Union());
  }
  case OmHostStep::Kind::Tiles: {
    auto parts = builder.CreateVector(step.parts);
    auto sizes = builder.CreateVector(step.sizes);
    auto inputs = builder.CreateVector(step.inputs), outputs = builder.CreateVector(step.outputs);
    auto inputDims = builder.CreateVector(step.inputDims),
         outputDims = builder.CreateVector(step.outputDims);
    auto tiles = fb::CreateHostTiles(builder, parts, sizes, inputs, outputs, inputDims, outputDims,
                                     step.rows);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostTiles, tiles.Union());
  }
  case OmHostStep::Kind::If: {
    auto branch = fb::CreateHostIf(builder, step.condition, step.block, step.otherwise);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostIf, branch.Union());
  }
  case OmHostStep::Kind::Loop: {
    auto loop = fb::CreateHostLoop(builder, step.condition, step.block);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostLoop, loop.Union());
  }
  case OmHostStep::Kind::Move: {
    auto from = builder.CreateVector(step.inputs), to = builder.CreateVector(step.outputs);
    auto move = fb::CreateHostMove(builder, from, to);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostMove, move.Union());
  }
  case OmHostStep::Kind::Collective: {
    auto name = text(step.name);
    auto dims = builder.CreateVector(step.dims);
    auto ranks = builder.CreateVector(step.ranks);
    auto collective = fb::CreateHostCollective(
        builder, name, static_cast<fb::CollectiveKind>(step.collective),
        static_cast<fb::Reduction>(step.reduction), static_cast<fb::DataType>(step.dtype),
        step.inputs.at(0), step.outputs.at(0), step.elements, dims, ranks, step.root, step.tag);
    return fb::CreateHostStep(builder, fb::HostStepKind::HostCollective, collective.Union());
  }
  case OmHostStep::Kind::Wait: {
    auto wait = fb::CreateHostWait(builder, builder.CreateVector(step.outputs));
    return fb::CreateHostStep(builder, fb::HostStepKind::HostWait, wait.Union());
  }
  case OmHostStep::Kind::Release:
    break;
  }
  auto release = fb::CreateHostRelease(builder, builder.CreateVector(step.inputs));
  return fb::CreateHostStep(builder, fb::HostStepKind::HostRelease, release.Union());
}

Offset<fb::HostProgram> HostBuilder::program(const OmHostProgram &program) {
  auto inputs = list(program.inputs, &HostBuilder::port);
  auto outputs = list(program.outputs, &HostBuilder::port);
  auto blocks = list(program.blocks, &HostBuilder::block);
  auto constants = list(program.constants, &HostBuilder::constant);
  auto parts = list(program.parts, &HostBuilder::part);
  return fb::CreateHostProgram(builder, inputs, outputs, blocks, program.main, program.slots,
                               constants, parts, program.rank, program.ranks);
}
} // namespace

Offset<fb::HostProgram> buildHostProgram(flatbuffers::FlatBufferBuilder &builder,
                                         const OmHostProgram &program) {
  return HostBuilder(builder).program(program);
}

bool OmHostPort::namesDynamicDims() const {
  for (size_t i = 0; i < dims.size() && i < dimNames.size(); ++i)
    if (dims[i] < 0 && !dimNames[i].empty())
      return true;
  return false;
}

Offset<fb::HostPort> buildHostPort(flatbuffers::FlatBufferBuilder &builder,
                                   const OmHostPort &port) {
  auto name = builder.CreateSharedString(port.name);
  auto dims = builder.CreateVector(port.dims);
  OffsetVector<flatbuffers::String> dimNames;
  if (port.namesDynamicDims()) {
    std::vector<Offset<flatbuffers::String>> names;
    for (size_t i = 0; i < port.dims.size(); ++i) {
      const bool isNamed = port.dims[i] < 0 && i < port.dimNames.size();
      names.push_back(builder.CreateSharedString(isNamed ? port.dimNames[i] : std::string()));
    }
    dimNames = builder.CreateVector(names);
  }
  return fb::CreateHostPort(builder, name, static_cast<fb::HostKind>(port.kind),
                            static_cast<fb::DataType>(port.dtype), dims, port.unranked,
                            port.optional, port.slot, dimNames);
}

Offset<fb::HostPart> buildHostPart(flatbuffers::FlatBufferBuilder &builder,
                                   const OmHostPart &part) {
  return fb::CreateHostPart(builder, part.firstLaunch, part.launches, part.firstInput, part.inputs,
                            part.firstOutput, part.outputs);
}

} // namespace atc::om
