//===-- GearMerger.cpp - one file of several static models ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/GearMerger.h"

#include "runtime-lite/src/Hash.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace atc::om {

namespace {
constexpr uint64_t constantAlignment = 64;
/// Code reaches constants beside it relative to its page on some processors.
constexpr uint64_t codeAlignment = 4096;
} // namespace

std::vector<GearMerger::Moved> GearMerger::addConstants(const std::vector<OmWeights> &given,
                                                        Constants &all) {
  const bool isFirst = gears.gears.empty();
  std::vector<Moved> moved;
  for (const OmWeights &piece : given) {
    const uint64_t hash = rt::hash64(piece.data, piece.size);
    auto [begin, end] = all.byHash.equal_range(hash);
    auto known = std::find_if(begin, end, [&](const auto &entry) {
      const OmWeights &other = all.pieces[entry.second];
      return other.size == piece.size && std::memcmp(other.data, piece.data, piece.size) == 0;
    });
    if (!isFirst && known != end) {
      moved.push_back({piece.offset, all.pieces[known->second].offset});
      continue;
    }
    OmWeights added = piece;
    if (!isFirst) {
      const char *bytes = static_cast<const char *>(piece.data);
      added.data = copies.emplace_back(bytes, bytes + piece.size).data();
      added.offset = all.end;
    }
    moved.push_back({piece.offset, added.offset});
    all.byHash.emplace(hash, all.pieces.size());
    all.pieces.push_back(added);
    all.end = std::max(
        all.end, roundUp(added.offset + std::max<uint64_t>(added.size, 1), constantAlignment));
  }
  std::sort(moved.begin(), moved.end(),
            [](const Moved &a, const Moved &b) { return a.from < b.from; });
  return moved;
}

std::vector<uint32_t> GearMerger::addPrograms(const std::vector<OmNpuProgram> &given) {
  std::vector<uint32_t> indices;
  for (const OmNpuProgram &program : given) {
    const uint64_t hash = rt::hash64(program.code.data(), program.code.size());
    auto [begin, end] = programsByHash.equal_range(hash);
    auto known = std::find_if(begin, end, [&](const auto &entry) {
      const OmNpuProgram &other = model.npuPrograms[entry.second];
      return other.code == program.code && other.vectorCore == program.vectorCore &&
             other.grid == program.grid && other.arguments == program.arguments;
    });
    if (known != end) {
      indices.push_back(known->second);
      continue;
    }
    indices.push_back(static_cast<uint32_t>(model.npuPrograms.size()));
    programsByHash.emplace(hash, indices.back());
    model.npuPrograms.push_back(program);
  }
  return indices;
}

/// Puts the code of a gear behind that of the gears before it. A gear without kernels of
/// the CPU has no images.
void GearMerger::addImages(const OmModel &gear) {
  for (const OmImage &image : gear.images) {
    auto same = std::find_if(model.images.begin(), model.images.end(), [&](const OmImage &known) {
      return known.arch == image.arch && known.level == image.level;
    });
    const size_t index = same - model.images.begin();
    if (same == model.images.end()) {
      assert(model.kernels.empty() && "all gears are compiled for the same levels");
      model.images.push_back({image.arch, image.level, image.features, nullptr, 0, {}, {}, 0});
      code.emplace_back();
    }
    OmImage &all = model.images[index];
    assert(all.entries.size() == model.kernels.size() && "a gear's images have all its kernels");
    std::vector<char> &bytes = code[index];
    bytes.resize(roundUp(bytes.size(), codeAlignment));
    const uint64_t first = bytes.size();
    const char *from = static_cast<const char *>(image.code);
    bytes.insert(bytes.end(), from, from + image.codeSize);
    for (uint64_t entry : image.entries)
      all.entries.push_back(first + entry);
    all.tasks.insert(all.tasks.end(), image.tasks.begin(), image.tasks.end());
    all.scratchBytes = std::max(all.scratchBytes, image.scratchBytes);
  }
  model.kernels.insert(model.kernels.end(), gear.kernels.begin(), gear.kernels.end());
}

OmBufferRef GearMerger::moved(OmBufferRef ref, const Numbers &numbers) const {
  switch (ref.space) {
  case OM_ARENA:
    break;
  case OM_INPUT:
    ref.index += numbers.firstInput;
    break;
  case OM_OUTPUT:
    ref.index += numbers.firstOutput;
    break;
  case OM_WEIGHTS: {
    const std::vector<Moved> &list = numbers.moved[ref.index];
    // A reference may begin inside a constant, and never reaches out of it.
    auto next = std::upper_bound(list.begin(), list.end(), ref.offset,
                                 [](uint64_t offset, const Moved &m) { return offset < m.from; });
    assert(next != list.begin() && "a reference to weights is inside a constant");
    const Moved &piece = *std::prev(next);
    ref.offset = piece.to + (ref.offset - piece.from);
    break;
  }
  }
  return ref;
}

OmLaunch GearMerger::moved(const OmLaunch &launch, const Numbers &numbers) const {
  OmLaunch result = launch;
  result.kernel =
      launch.npu ? numbers.programs[launch.kernel] : launch.kernel + numbers.firstKernel;
  for (auto *list : {&result.args, &result.prefetch})
    for (OmBufferRef &ref : *list)
      ref = moved(ref, numbers);
  for (auto *list : {&result.reads, &result.writes})
    for (uint32_t &tensor : *list)
      tensor += numbers.firstTensor;
  return result;
}

OmHostProgram GearMerger::moved(OmHostProgram program, const Numbers &numbers,
                                uint32_t firstLaunch) const {
  for (OmHostConstant &constant : program.constants)
    if (constant.place.size)
      constant.place = moved(constant.place, numbers);
  for (OmHostPart &part : program.parts) {
    part.firstLaunch += firstLaunch;
    part.firstInput += numbers.firstInput;
    part.firstOutput += numbers.firstOutput;
  }
  for (std::vector<OmHostStep> &block : program.blocks)
    for (OmHostStep &step : block)
      if (step.kind == OmHostStep::Kind::Call) {
        step.kernel += numbers.firstKernel;
        step.body += step.body < 0 ? 0 : static_cast<int32_t>(numbers.firstKernel);
      }
  return program;
}

/// Returns an input or output of a gear that has been added.
OmHostPort GearMerger::portOf(const OmGear &gear, bool output, uint32_t index) const {
  if (gear.host)
    return (output ? gear.host->outputs : gear.host->inputs)[index];
  const OmTensor &tensor = model.tensors[output ? model.outputs[gear.part.firstOutput + index]
                                                : model.inputs[gear.part.firstInput + index]];
  OmHostPort port;
  port.name = tensor.name;
  port.dtype = tensor.dtype;
  port.dims = tensor.dims;
  port.dimNames = tensor.dimNames;
  return port;
}

void GearMerger::add(const OmModel &gear, std::vector<int64_t> values) {
  assert(!gear.gears && "a gear has no gears of its own");
  Numbers numbers;
  numbers.firstTensor = static_cast<uint32_t>(model.tensors.size());
  numbers.firstInput = static_cast<uint32_t>(model.inputs.size());
  numbers.firstOutput = static_cast<uint32_t>(model.outputs.size());
  numbers.firstKernel = static_cast<uint32_t>(model.kernels.size());
  numbers.moved[0] = addConstants(gear.weights, weights);
  numbers.moved[1] = addConstants(gear.tables, tables);
  numbers.programs = addPrograms(gear.npuPrograms);
  addImages(gear);

  OmGear added;
  added.values = std::move(values);
  added.arenaSize = gear.arenaSize;
  added.part = {static_cast<uint32_t>(model.schedule.size()),
                static_cast<uint32_t>(gear.schedule.size()),
                numbers.firstInput,
                static_cast<uint32_t>(gear.inputs.size()),
                numbers.firstOutput,
                static_cast<uint32_t>(gear.outputs.size())};
  if (gear.host)
    added.host = moved(*gear.host, numbers, added.part.firstLaunch);
  for (OmTensor tensor : gear.tensors) {
    tensor.place = moved(tensor.place, numbers);
    model.tensors.push_back(std::move(tensor));
  }
  for (uint32_t tensor : gear.inputs)
    model.inputs.push_back(tensor + numbers.firstTensor);
  for (uint32_t tensor : gear.outputs)
    model.outputs.push_back(tensor + numbers.firstTensor);
  for (const OmLaunch &launch : gear.schedule)
    model.schedule.push_back(moved(launch, numbers));
  model.arenaSize = std::max(model.arenaSize, gear.arenaSize);
  if (gear.target != "cpu") {
    model.target = gear.target;
    model.soc = gear.soc;
    model.socTable = gear.socTable;
  }
  gears.gears.push_back(std::move(added));
}

OmModel GearMerger::take(OmGears request) {
  request.gears = std::move(gears.gears);
  const OmGear &first = request.gears.front();
  for (bool output : {false, true}) {
    const size_t count = first.host ? (output ? first.host->outputs : first.host->inputs).size()
                         : output   ? first.part.outputs
                                    : first.part.inputs;
    for (uint32_t i = 0; i < count; ++i) {
      OmHostPort port = portOf(first, output, i);
      port.slot = 0;
      for (const OmGear &gear : request.gears)
        for (size_t d = 0; d < port.dims.size(); ++d)
          if (portOf(gear, output, i).dims[d] != port.dims[d])
            port.dims[d] = -1;
      (output ? request.outputs : request.inputs).push_back(std::move(port));
    }
  }
  for (const OmGearAxis &axis : request.axes)
    (axis.output ? request.outputs : request.inputs)[axis.index].dims[axis.dim] = -1;
  if (request.kind != OM_GEARS_RANGE) {
    OmHostPort shape;
    shape.name = OM_GEAR_INPUT_NAME;
    shape.dtype = OM_I64;
    shape.dims = {static_cast<int64_t>(first.values.size())};
    request.inputs.push_back(std::move(shape));
  }
  model.weights = std::move(weights.pieces);
  model.tables = std::move(tables.pieces);
  for (size_t i = 0; i < model.images.size(); ++i) {
    model.images[i].code = code[i].data();
    model.images[i].codeSize = code[i].size();
  }
  model.gears = std::move(request);
  return std::move(model);
}

} // namespace atc::om
