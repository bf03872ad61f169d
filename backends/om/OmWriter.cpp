//===-- OmWriter.cpp - writes .om files -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmWriter.h"

#include "backends/om/GearTableWriter.h"
#include "backends/om/HostProgramWriter.h"
#include "backends/om/OmSink.h"
#include "runtime-lite/abi/Architectures.h"
#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/FileLimits.h"
#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Signature.h"
#include "runtime-lite/src/Verify.h"
#include "support/ErrorCodes.h"

#include <algorithm>

namespace atc::om {

namespace {
using Builder = flatbuffers::FlatBufferBuilder;
template <typename T> using Tables = std::vector<flatbuffers::Offset<T>>;

constexpr uint64_t weightAlignment = 64, programAlignment = 8;
/// Smaller weights gain nothing from threads, and any runtime can read them.
constexpr uint64_t minBytesInParts = 4 * rt::hashPartBytes;

struct Segment {
  fb::SegmentKind kind;
  uint64_t offset = 0, size = 0, hash = 0;
  bool inParts = false;
};

/// Computes the hash of a segment, at once or in parts, while it is written.
class SegmentHash {
public:
  explicit SegmentHash(bool inParts) : inParts(inParts) {}

  void update(const char *data, uint64_t bytes) {
    while (inParts && bytes >= rt::hashPartBytes - held) {
      const uint64_t take = rt::hashPartBytes - held;
      current.update(data, take);
      data += take;
      bytes -= take;
      finishPart();
    }
    current.update(data, bytes);
    held += bytes;
  }

  /// Returns the hash; nothing may follow.
  uint64_t digest() {
    if (!inParts)
      return current.digest();
    if (held)
      finishPart();
    return sum;
  }

private:
  void finishPart() {
    sum += rt::finishHashPart(current, parts++);
    current = {};
    held = 0;
  }

  const bool inParts;
  rt::Hash64 current;
  uint64_t held = 0, parts = 0, sum = 0;
};

/// Returns whether each value of the gears is a dim of an input, and each dim of an input that
/// depends on the gear is one of the values.
bool isChosenByAxes(const OmGears &gears) {
  if (gears.gears.empty())
    return true; // which the writer refuses
  std::vector<bool> found(gears.gears[0].values.size());
  size_t dims = 0, axes = 0;
  for (const OmHostPort &port : gears.inputs)
    dims += std::count(port.dims.begin(), port.dims.end(), -1);
  for (const OmGearAxis &axis : gears.axes)
    if (!axis.output) {
      ++axes;
      if (axis.value < found.size())
        found[axis.value] = true;
    }
  return dims == axes && std::find(found.begin(), found.end(), false) == found.end();
}

/// Returns the oldest schema version that can represent the model, so that older runtimes can read
/// the file.
uint16_t schemaMinor(const OmModel &model) {
  auto isNew = [](const OmTensor &tensor) {
    switch (tensor.dtype) {
    case OM_C64:
    case OM_C128:
    case OM_F8E4M3FN:
    case OM_F8E4M3FNUZ:
    case OM_F8E5M2:
    case OM_F8E5M2FNUZ:
      return true;
    default:
      return tensor.dtype > OM_I4;
    }
  };
  auto hasTiles = [](const std::vector<OmHostStep> &steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const OmHostStep &step) { return step.kind == OmHostStep::Kind::Tiles; });
  };
  auto hasCollectives = [](const std::vector<OmHostStep> &steps) {
    return std::any_of(steps.begin(), steps.end(), [](const OmHostStep &step) {
      return step.kind == OmHostStep::Kind::Collective;
    });
  };
  auto hasNames = [](const auto &program) {
    auto isNamed = [](const OmHostPort &port) { return port.namesDynamicDims(); };
    return std::any_of(program.inputs.begin(), program.inputs.end(), isNamed) ||
           std::any_of(program.outputs.begin(), program.outputs.end(), isNamed);
  };
  if (std::any_of(model.states.begin(), model.states.end(),
                  [](const OmState &state) { return state.initial != 0; }))
    return 9;
  if (!model.metadata.empty() || (model.host && hasNames(*model.host)) ||
      (model.gears && (hasNames(*model.gears) || !isChosenByAxes(*model.gears))))
    return 7;
  if (model.host && (model.host->ranks || std::any_of(model.host->blocks.begin(),
                                                      model.host->blocks.end(), hasCollectives)))
    return 6;
  // Kernels that ask for the room of a cache need a host that has it.
  if (!model.states.empty() ||
      std::find(model.kernels.begin(), model.kernels.end(), "KvAttention") != model.kernels.end())
    return 5;
  if (model.gears ||
      (model.host && std::any_of(model.host->blocks.begin(), model.host->blocks.end(), hasTiles)))
    return 4;
  return model.host || std::any_of(model.tensors.begin(), model.tensors.end(), isNew) ? 3 : 2;
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::State>>>
buildStates(flatbuffers::FlatBufferBuilder &builder, const std::vector<OmState> &states) {
  std::vector<flatbuffers::Offset<fb::State>> tables;
  for (const OmState &state : states) {
    std::vector<fb::StateDim> dims;
    for (const OmState::Dim &dim : state.dims)
      dims.emplace_back(dim.dim, dim.input, dim.inputDim);
    tables.push_back(fb::CreateState(builder, state.input, state.output,
                                     builder.CreateVectorOfStructs(dims), state.initial));
  }
  return builder.CreateVector(tables);
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Metadata>>>
buildMetadata(flatbuffers::FlatBufferBuilder &builder,
              const std::map<std::string, std::string> &metadata) {
  std::vector<flatbuffers::Offset<fb::Metadata>> tables;
  for (const auto &[key, value] : metadata) {
    auto keyText = builder.CreateSharedString(key);
    tables.push_back(fb::CreateMetadata(builder, keyText, builder.CreateSharedString(value)));
  }
  return builder.CreateVector(tables);
}

class Writer {
public:
  Writer(const OmModel &model, OmSink &sink, std::string &error)
      : model(model), sink(sink), error(error) {}
  bool run();

private:
  using Pieces = std::vector<const OmWeights *>; ///< by offset

  bool planWeights(const std::vector<OmWeights> &given, Pieces &pieces);
  void planSegments();
  bool fitsAddresses();
  bool fitsMemory();
  bool writeSegments();
  bool writePieces(const Pieces &pieces, Segment &segment);
  bool writeHashed(uint64_t offset, const void *data, uint64_t bytes, SegmentHash &hash);
  bool writeHeader();
  std::vector<char> buildHeader() const;
  uint16_t version() const;
  Tables<fb::Segment> buildSegments(Builder &builder) const;
  Tables<fb::Tensor> buildTensors(Builder &builder) const;
  Tables<fb::CodeImage> buildImages(Builder &builder) const;
  Tables<fb::NpuProgram> buildPrograms(Builder &builder) const;
  Tables<fb::Step> buildSchedule(Builder &builder) const;

  fb::BufferRef bufferRef(const OmBufferRef &ref) const {
    // The weights and the tables, where there are any, are the first segments.
    return fb::BufferRef(static_cast<fb::Space>(ref.space), ref.index, ref.offset, ref.size);
  }

  bool failed(ErrorCode code, const std::string &sentence) {
    error = codedLine(code, sentence);
    return false;
  }
  bool fileFailed() {
    error = sink.errorLine();
    return false;
  }

  const OmModel &model;
  OmSink &sink;
  std::string &error;
  Pieces weights, tables;
  /// The weights and the tables, if any, the code of each image, the NPU programs, if any.
  std::vector<Segment> segments;
  uint32_t firstImage = 0;       ///< the segment of the first image
  std::vector<uint8_t> programs; ///< the NPU's, concatenated
  std::vector<uint64_t> programOffsets;
  uint64_t headerBytes = 0, fileBytes = 0;
};

bool Writer::planWeights(const std::vector<OmWeights> &given, Pieces &pieces) {
  for (const OmWeights &piece : given)
    if (piece.size)
      pieces.push_back(&piece);
  std::sort(pieces.begin(), pieces.end(),
            [](const OmWeights *a, const OmWeights *b) { return a->offset < b->offset; });
  uint64_t end = 0;
  for (const OmWeights *piece : pieces) {
    if (piece->offset % weightAlignment || piece->offset < end)
      return failed("E19999", "weights at offset " + std::to_string(piece->offset) +
                                  " are not 64-byte aligned or overlap others.");
    end = piece->offset + piece->size;
  }
  return true;
}

void Writer::planSegments() {
  auto addWeights = [&](const Pieces &pieces) {
    const uint64_t end = pieces.empty() ? 1 : pieces.back()->offset + pieces.back()->size;
    const uint64_t size = roundUp(end, weightAlignment);
    segments.push_back({fb::SegmentKind::weights, 0, size, 0, size >= minBytesInParts});
  };
  // Only a second one is known to hold tables.
  if (!weights.empty() || !tables.empty())
    addWeights(weights);
  if (!tables.empty())
    addWeights(tables);
  firstImage = static_cast<uint32_t>(segments.size());
  for (const OmImage &image : model.images)
    segments.push_back({fb::SegmentKind::code, 0, image.codeSize});
  for (const OmNpuProgram &program : model.npuPrograms) {
    programOffsets.push_back(programs.size());
    programs.insert(programs.end(), program.code.begin(), program.code.end());
    programs.resize(roundUp(programs.size(), programAlignment), 0);
  }
  if (!programs.empty())
    segments.push_back({fb::SegmentKind::npu, 0, programs.size()});

  // The header's size does not depend on the values in it, so one with zeros determines where the
  // segments can start.
  headerBytes = buildHeader().size();
  fileBytes = headerBytes;
  for (Segment &segment : segments) {
    segment.offset = roundUp(fileBytes, rt::segmentAlignment);
    fileBytes = segment.offset + segment.size;
  }
}

/// Hashes in chunks what has just been written, while it is in the cache.
bool Writer::writeHashed(uint64_t offset, const void *data, uint64_t bytes, SegmentHash &hash) {
  constexpr uint64_t piece = 256 * 1024;
  const char *from = static_cast<const char *>(data);
  for (uint64_t done = 0; done < bytes; done += piece) {
    uint64_t size = std::min(piece, bytes - done);
    if (!sink.write(offset + done, from + done, size))
      return fileFailed();
    hash.update(from + done, size);
  }
  return true;
}

bool Writer::writePieces(const Pieces &pieces, Segment &segment) {
  SegmentHash hash(segment.inParts);
  uint64_t at = 0;
  auto hashZeros = [&](uint64_t until) {
    static const char zeros[4096] = {};
    for (; at < until; at += std::min<uint64_t>(sizeof(zeros), until - at))
      hash.update(zeros, std::min<uint64_t>(sizeof(zeros), until - at));
  };
  for (const OmWeights *piece : pieces) {
    hashZeros(piece->offset);
    if (!writeHashed(segment.offset + piece->offset, piece->data, piece->size, hash))
      return false;
    at = piece->offset + piece->size;
  }
  hashZeros(segment.size);
  segment.hash = hash.digest();
  return true;
}

bool Writer::writeSegments() {
  if (!sink.setSize(fileBytes))
    return fileFailed();
  size_t next = 0;
  for (const Pieces *pieces : {&weights, &tables})
    if (next < firstImage && !writePieces(*pieces, segments[next++]))
      return false;
  for (const OmImage &image : model.images) {
    Segment &segment = segments[next++];
    SegmentHash hash(segment.inParts);
    if (!writeHashed(segment.offset, image.code, image.codeSize, hash))
      return false;
    segment.hash = hash.digest();
  }
  if (programs.empty())
    return true;
  SegmentHash hash(segments.back().inParts);
  if (!writeHashed(segments.back().offset, programs.data(), programs.size(), hash))
    return false;
  segments.back().hash = hash.digest();
  return true;
}

/// Returns the segments, without signatures: om-sign fills them in.
Tables<fb::Segment> Writer::buildSegments(Builder &builder) const {
  Tables<fb::Segment> tables;
  const fb::Digest unsignedYet;
  for (const Segment &segment : segments)
    tables.push_back(fb::CreateSegment(builder, segment.kind, segment.offset, segment.size,
                                       segment.hash, &unsignedYet, segment.inParts));
  return tables;
}

/// Returns the tensors with their strides in elements.
Tables<fb::Tensor> Writer::buildTensors(Builder &builder) const {
  Tables<fb::Tensor> tables;
  for (const OmTensor &tensor : model.tensors) {
    auto strides =
        tensor.strides.empty() ? denseStrides(tensor.dims, tensor.block) : tensor.strides;
    auto place = bufferRef(tensor.place);
    auto name = builder.CreateSharedString(tensor.name);
    auto dims = builder.CreateVector(tensor.dims);
    auto written = builder.CreateVector(strides);
    flatbuffers::Offset<flatbuffers::Vector<int64_t>> sizes;
    if (!tensor.indexSizes.empty())
      sizes = builder.CreateVector(tensor.indexSizes);
    tables.push_back(fb::CreateTensor(builder, name, static_cast<fb::DataType>(tensor.dtype), dims,
                                      tensor.block, written, &place, sizes, tensor.indexWraps));
  }
  return tables;
}

/// Returns the code images of the CPU levels.
Tables<fb::CodeImage> Writer::buildImages(Builder &builder) const {
  Tables<fb::CodeImage> images;
  for (const OmImage &image : model.images) {
    Tables<flatbuffers::String> features;
    for (const std::string &feature : image.features)
      features.push_back(builder.CreateSharedString(feature));
    auto segment = static_cast<uint32_t>(images.size()) + firstImage;
    auto arch = builder.CreateSharedString(image.arch);
    auto level = builder.CreateSharedString(image.level);
    auto featureList = builder.CreateVector(features);
    auto entries = builder.CreateVector(image.entries);
    images.push_back(fb::CreateCodeImage(builder, arch, level, featureList, segment, entries,
                                         builder.CreateVector(image.tasks), image.scratchBytes));
  }
  return images;
}

/// Returns the programs of the NPU, which lie in the last segment.
Tables<fb::NpuProgram> Writer::buildPrograms(Builder &builder) const {
  Tables<fb::NpuProgram> programs;
  for (size_t i = 0; i < model.npuPrograms.size(); ++i) {
    const OmNpuProgram &program = model.npuPrograms[i];
    auto name = builder.CreateSharedString(program.name);
    auto grid = builder.CreateVector(program.grid);
    programs.push_back(fb::CreateNpuProgram(
        builder, name, static_cast<uint32_t>(segments.size() - 1), programOffsets[i],
        program.code.size(), program.vectorCore, grid, builder.CreateVector(program.arguments)));
  }
  return programs;
}

/// Returns the launches in their order.
Tables<fb::Step> Writer::buildSchedule(Builder &builder) const {
  auto refVector = [&](const std::vector<OmBufferRef> &list) {
    std::vector<fb::BufferRef> refs;
    for (const OmBufferRef &ref : list)
      refs.push_back(bufferRef(ref));
    return builder.CreateVectorOfStructs(refs);
  };
  Tables<fb::Step> schedule;
  for (const OmLaunch &launch : model.schedule) {
    auto args = refVector(launch.args);
    auto name = builder.CreateSharedString(launch.name);
    auto reads = builder.CreateVector(launch.reads);
    auto writes = builder.CreateVector(launch.writes);
    if (launch.npu) {
      auto table = fb::CreateNpuLaunch(builder, launch.kernel, args, name, launch.cost / 2, reads,
                                       writes, launch.chained, refVector(launch.prefetch));
      schedule.push_back(fb::CreateStep(builder, fb::StepKind::NpuLaunch, table.Union()));
      continue;
    }
    auto table = fb::CreateLaunch(builder, launch.kernel, args, name, launch.cost, reads, writes,
                                  launch.macs.value_or(~uint64_t(0)));
    schedule.push_back(fb::CreateStep(builder, fb::StepKind::Launch, table.Union()));
  }
  return schedule;
}

/// Returns the oldest minor version that can represent the file.
uint16_t Writer::version() const {
  const bool inParts = std::any_of(segments.begin(), segments.end(),
                                   [](const Segment &segment) { return segment.inParts; });
  const bool isExtended =
      std::any_of(model.npuPrograms.begin(), model.npuPrograms.end(),
                  [](const OmNpuProgram &program) { return program.isExtended; });
  return std::max<uint16_t>(isExtended ? 9 : inParts ? 8 : 0, schemaMinor(model));
}

/// Returns the size-prefixed FlatBuffer, its hash and space for a signature, with the values known
/// so far.
std::vector<char> Writer::buildHeader() const {
  Builder builder(1 << 16);
  builder.ForceDefaults(true); // equal sizes for all values
  auto shared = [&](const std::string &text) { return builder.CreateSharedString(text); };

  const Tables<fb::Segment> segmentTables = buildSegments(builder);
  const Tables<fb::Tensor> tensors = buildTensors(builder);
  Tables<flatbuffers::String> kernels;
  for (const std::string &kernel : model.kernels)
    kernels.push_back(shared(kernel));
  const Tables<fb::CodeImage> images = buildImages(builder);
  const Tables<fb::NpuProgram> npuPrograms = buildPrograms(builder);
  const Tables<fb::Step> schedule = buildSchedule(builder);

  auto producer = shared(model.producer), commandLine = shared(model.commandLine),
       name = shared(model.name), target = shared(model.target);
  auto segmentList = builder.CreateVector(segmentTables);
  auto tensorList = builder.CreateVector(tensors);
  auto inputs = builder.CreateVector(model.inputs), outputs = builder.CreateVector(model.outputs);
  auto kernelList = builder.CreateVector(kernels);
  auto imageList = builder.CreateVector(images);
  auto steps = builder.CreateVector(schedule);
  flatbuffers::Offset<flatbuffers::String> soc, socTable;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::NpuProgram>>> programList;
  if (!npuPrograms.empty()) {
    soc = shared(model.soc);
    socTable = shared(model.socTable);
    programList = builder.CreateVector(npuPrograms);
  }
  flatbuffers::Offset<fb::HostProgram> host;
  if (model.host)
    host = buildHostProgram(builder, *model.host);
  flatbuffers::Offset<fb::GearTable> gears;
  if (model.gears)
    gears = buildGears(builder, *model.gears);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::State>>> states;
  if (!model.states.empty())
    states = buildStates(builder, model.states);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Metadata>>> metadata;
  if (!model.metadata.empty())
    metadata = buildMetadata(builder, model.metadata);
  fb::FinishSizePrefixedModelBuffer(
      builder, fb::CreateModel(builder, OM_SCHEMA_MAJOR, version(), producer, commandLine, name,
                               target, segmentList, tensorList, inputs, outputs, kernelList,
                               imageList, steps, model.arenaSize, fileBytes, soc, socTable,
                               programList, host, gears, states, metadata));

  const char *bytes = reinterpret_cast<const char *>(builder.GetBufferPointer());
  std::vector<char> header(bytes, bytes + builder.GetSize());
  uint64_t hash = rt::hash64(header.data(), header.size());
  header.insert(header.end(), reinterpret_cast<const char *>(&hash),
                reinterpret_cast<const char *>(&hash + 1));
  header.resize(header.size() + sizeof(rt::SignatureBlock), 0);
  return header;
}

bool Writer::writeHeader() {
  std::vector<char> header = buildHeader();
  if (header.size() != headerBytes)
    return failed("E19999", "the .om header changed its size while it was written.");
  // A file that the runtime would refuse is never written: an error here is a bug of the compiler.
  const fb::Model *checked = nullptr;
  om_error errorText;
  if (rt::verifyHeader(header.data(), header.size(), fileBytes, &checked, &errorText) != OM_OK)
    return failed("E19999", "the compiled model does not pass the loader's checks: " +
                                std::string(errorText.message));
  return sink.write(0, header.data(), header.size()) || fileFailed();
}

/// Refuses a model of tensors that no loader makes room for.
bool Writer::fitsMemory() {
  uint64_t ends = 0;
  for (const auto *list : {&model.inputs, &model.outputs})
    for (uint32_t tensor : *list)
      ends += std::min(model.tensors[tensor].place.size, rt::limits::maxMemory + 1 - ends);
  const bool isArena = model.arenaSize > rt::limits::maxMemory;
  if (!isArena && ends <= rt::limits::maxMemory)
    return true;
  const std::string size =
      isArena ? std::to_string(model.arenaSize) : "more than " + std::to_string(ends - 1);
  return failed("E19001", "the model needs " + size + " bytes for its " +
                              (isArena ? "intermediate tensors" : "inputs and outputs") +
                              "; a compiled model may need " +
                              std::to_string(rt::limits::maxMemory) + ": make its inputs smaller.");
}

/// Refuses a model with blocks of memory for which a level of its code has no addresses.
bool Writer::fitsAddresses() {
  auto isShort = [](const OmImage &image) {
    const auto *arch =
        std::find_if(std::begin(abi::kArchitectures), std::end(abi::kArchitectures),
                     [&](const abi::Architecture &each) { return image.arch == each.name; });
    return arch != std::end(abi::kArchitectures) && arch->bits == 32;
  };
  const auto image = std::find_if(model.images.begin(), model.images.end(), isShort);
  if (image == model.images.end())
    return true;
  uint64_t max = model.arenaSize;
  std::string what = "its intermediate tensors";
  auto compare = [&](uint64_t bytes, const std::string &of) {
    if (bytes > max) {
      max = bytes;
      what = of;
    }
  };
  for (const auto *list : {&model.inputs, &model.outputs})
    for (uint32_t tensor : *list)
      compare(model.tensors[tensor].place.size, "'" + model.tensors[tensor].name + "'");
  compare(fileBytes, "its file, most of which are weights");
  return max <= rt::limits::maxShortBlock ||
         failed("E10055", "the model needs " + std::to_string(max) + " bytes in one piece for " +
                              what + ", more than the " +
                              std::to_string(rt::limits::maxShortBlock) +
                              " that a process with addresses of 32 bits has: make it smaller, or "
                              "leave " +
                              image->level + " out of --target_cpu.");
}

bool Writer::run() {
  if (!planWeights(model.weights, weights) || !planWeights(model.tables, tables))
    return false;
  planSegments();
  return fitsMemory() && fitsAddresses() && writeSegments() && writeHeader() &&
         (sink.commit() || fileFailed());
}
} // namespace

std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims, uint32_t block) {
  std::vector<int64_t> physical = dims;
  if (block && dims.size() >= 2) {
    physical[1] = physical[1] / block + (physical[1] % block != 0);
    physical.push_back(block);
  }
  std::vector<int64_t> strides(physical.size());
  uint64_t stride = 1; // absurd dims wrap around here and are refused later
  for (size_t i = physical.size(); i-- > 0; stride *= static_cast<uint64_t>(physical[i]))
    strides[i] = static_cast<int64_t>(stride);
  return strides;
}

bool writeOm(const OmModel &model, OmSink &sink, std::string &error) {
  return Writer(model, sink, error).run();
}

bool writeOm(const OmModel &model, const std::string &path, std::string &error) {
  OmFileSink sink(path);
  return writeOm(model, sink, error);
}

} // namespace atc::om
