//===-- Verify.cpp - proves that an .om file is well-formed ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that later code relies on is checked here, once; docs/runtime.md lists the checks.
// Messages identify the wrong item by its index and name.

#include "runtime-lite/src/Verify.h"

#include "runtime-lite/src/FileLimits.h"
#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Signature.h"
#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Tensor.h"

#include <cstring>

namespace fb = atc::om::fb;

namespace atc::rt {

using ull = unsigned long long;

static_assert(static_cast<int>(fb::DataType::i4) == OM_I4 &&
                  static_cast<int>(fb::DataType::bf16) == OM_BF16 &&
                  static_cast<int>(fb::DataType::u64) == OM_U64 &&
                  static_cast<int>(fb::DataType::MAX) == OM_I2,
              "the schema and om.h number element types alike");
static_assert(static_cast<int>(fb::Space::arena) == OM_ARENA &&
                  static_cast<int>(fb::Space::weights) == OM_WEIGHTS &&
                  static_cast<int>(fb::Space::input) == OM_INPUT &&
                  static_cast<int>(fb::Space::output) == OM_OUTPUT,
              "the schema and om.h number spaces alike");

namespace {
constexpr uint64_t prefixBytes = sizeof(flatbuffers::uoffset_t);
constexpr uint64_t hashBytes = sizeof(uint64_t);

/// The two fields every version of the schema starts with.
struct VersionOnly : flatbuffers::Table {
  bool Verify(flatbuffers::Verifier &verifier) const {
    return VerifyTableStart(verifier) &&
           VerifyField<uint16_t>(verifier, fb::Model::VT_SCHEMA_MAJOR, sizeof(uint16_t)) &&
           VerifyField<uint16_t>(verifier, fb::Model::VT_SCHEMA_MINOR, sizeof(uint16_t)) &&
           verifier.EndTable();
  }
};

/// The checks on a header that FlatBuffers has already found to be well formed.
class Checker {
public:
  Checker(const fb::Model &model, om_error *error) : model(model), error(error) {}

  om_status run(uint64_t headerBytes, uint64_t fileBytes) {
    om_status status = fileSize(fileBytes);
    if (status == OM_OK)
      status = alignment();
    if (status == OM_OK)
      status = verifyLists(model, headerBytes, error);
    if (status == OM_OK)
      status = segments(headerBytes, fileBytes);
    if (status == OM_OK)
      status = memory();
    if (status == OM_OK)
      status = ends(*model.inputs(), fb::Space::input, "input");
    if (status == OM_OK)
      status = ends(*model.outputs(), fb::Space::output, "output");
    if (status == OM_OK)
      status = endBytes();
    if (status == OM_OK)
      status = addressable();
    if (status == OM_OK)
      status = tensors();
    if (status == OM_OK)
      status = images();
    if (status == OM_OK)
      status = npuPrograms();
    if (status == OM_OK)
      status = schedule();
    return status == OM_OK ? dynamicParts() : status;
  }

private:
#ifdef OPENATC_STATIC_MODELS_ONLY
  /// Refuses what only the whole runtime runs.
  om_status dynamicParts() {
    bool isStatic = !model.host() && !model.gears();
    for (const fb::Step *step : *model.schedule())
      isStatic = isStatic && step->what_as_Launch();
    return isStatic
               ? OM_OK
               : fail(error, OM_ERROR_UNSUPPORTED,
                      "the model has dynamic shapes, gears or NPU launches, which this runtime "
                      "does not run.");
  }
#else
  om_status dynamicParts() {
    om_status status = verifyHostProgram(model, error);
    if (status == OM_OK)
      status = verifyGears(model, error);
    return status == OM_OK ? verifyStates(model, error) : status;
  }
#endif
  om_status fileSize(uint64_t fileBytes);
  om_status segments(uint64_t headerBytes, uint64_t fileBytes);
  om_status memory();
  om_status endBytes();
  om_status addressable();
  om_status alignment();
  om_status ends(const flatbuffers::Vector<uint32_t> &list, fb::Space space, const char *word);
  om_status tensors();
  om_status images();
  om_status npuPrograms();
  const char *npuProgram(const fb::NpuProgram &program, uint64_t &codeLeft) const;
  om_status schedule();
  om_status launch(uint32_t index, const fb::Launch &launch);
  om_status npuLaunch(uint32_t index, const fb::NpuLaunch &launch);
  template <typename Launch> om_status references(uint32_t index, const Launch &launch);

  /// The bytes of the space a reference points into; false when there is no
  /// such space.
  bool spaceBytes(const fb::BufferRef &ref, uint64_t &bytes) const;
  bool inside(const fb::BufferRef &ref) const {
    uint64_t bytes;
    return spaceBytes(ref, bytes) && ref.offset() <= bytes && ref.size() <= bytes - ref.offset();
  }

  const fb::Model &model;
  om_error *error;
};

/// Checks the version first: a file of another major version may not be a FlatBuffer of this schema
/// at all, but its version is always at the same offset.
om_status earlyVersion(const char *data, uint64_t length, om_error *error) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(data), length);
  const auto *root = reinterpret_cast<const flatbuffers::Table *>(fb::GetSizePrefixedModel(data));
  // Whatever is wrong here is found and named by the complete check.
  if (!verifier.VerifySizePrefixedBuffer<VersionOnly>(fb::ModelIdentifier()))
    return OM_OK;
  const auto major = root->GetField<uint16_t>(fb::Model::VT_SCHEMA_MAJOR, 0);
  const auto minor = root->GetField<uint16_t>(fb::Model::VT_SCHEMA_MINOR, 0);
  if (major == OM_SCHEMA_MAJOR && minor <= OM_SCHEMA_MINOR)
    return OM_OK;
  return fail(error, OM_ERROR_VERSION,
              "the file has schema version %u.%u, but this runtime reads %u.0 to %u.%u: compile "
              "the model again, or use a runtime of the compiler's version.",
              major, minor, OM_SCHEMA_MAJOR, OM_SCHEMA_MAJOR, OM_SCHEMA_MINOR);
}

om_status Checker::fileSize(uint64_t fileBytes) {
  if (fileBytes < model.file_size())
    return fail(error, OM_ERROR_TRUNCATED,
                "the file is cut off: it has %llu bytes and should have %llu.", ull(fileBytes),
                ull(model.file_size()));
  if (fileBytes > model.file_size())
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: it has %llu bytes and should have %llu.", ull(fileBytes),
                ull(model.file_size()));
  return OM_OK;
}

om_status Checker::segments(uint64_t headerBytes, uint64_t fileBytes) {
  uint64_t end = headerBytes;
  for (uint32_t i = 0; i < model.segments()->size(); ++i) {
    const fb::Segment &segment = *model.segments()->Get(i);
    if (segment.kind() > fb::SegmentKind::MAX)
      return fail(error, OM_ERROR_CORRUPT, "the file is damaged: segment %u has unknown kind %u.",
                  i, unsigned(segment.kind()));
    if (segment.offset() % segmentAlignment || segment.offset() < end || segment.size() == 0 ||
        segment.offset() > fileBytes || segment.size() > fileBytes - segment.offset())
      return fail(
          error, OM_ERROR_CORRUPT,
          "the file is damaged: segment %u (offset %llu, size %llu) is empty, unaligned, out "
          "of order or outside the file.",
          i, ull(segment.offset()), ull(segment.size()));
    end = segment.offset() + segment.size();
  }
  return OM_OK;
}

om_status Checker::memory() {
  if (model.arena_size() > limits::maxMemory)
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: it asks for %llu bytes of memory, more than %llu.",
                ull(model.arena_size()), ull(limits::maxMemory));
  return OM_OK;
}

/// Checks the bytes of all inputs and outputs: addresses on the device are sums of them.
om_status Checker::endBytes() {
  uint64_t left = limits::maxMemory;
  for (const auto *list : {model.inputs(), model.outputs()})
    for (uint32_t tensor : *list) {
      const uint64_t bytes = model.tensors()->Get(tensor)->place()->size();
      if (bytes > left)
        return fail(error, OM_ERROR_CORRUPT,
                    "the file is damaged: its inputs and outputs have more than %llu bytes.",
                    ull(limits::maxMemory));
      left -= bytes;
    }
  return OM_OK;
}

/// Refuses blocks that this machine has no addresses for.
om_status Checker::addressable() {
  if (!limits::hasShortAddresses)
    return OM_OK;
  uint64_t max = model.arena_size();
  const char *what = "its intermediate tensors";
  for (const auto *list : {model.inputs(), model.outputs()})
    for (uint32_t tensor : *list)
      if (const uint64_t bytes = model.tensors()->Get(tensor)->place()->size(); bytes > max) {
        max = bytes;
        what = model.tensors()->Get(tensor)->name()->c_str();
      }
  if (max <= limits::maxBlock)
    return OM_OK;
  return fail(error, OM_ERROR_UNSUPPORTED,
              "the model needs %llu bytes in one piece for %s, more than the %llu that a process "
              "with addresses of %u bits can have: run it on a machine with longer ones.",
              ull(max), what, ull(limits::maxBlock), unsigned(8 * sizeof(void *)));
}

om_status Checker::alignment() {
  bool good = true;
  for (const fb::Tensor *tensor : *model.tensors())
    good &= isAligned(tensor->dims()) && isAligned(tensor->strides()) &&
            isAligned(tensor->index_sizes());
  for (const fb::CodeImage *image : *model.images())
    good &= isAligned(image->entries()) && isAligned(image->tasks());
  for (const fb::Step *step : *model.schedule())
    if (const fb::Launch *launch = step->what_as_Launch())
      good &= isAligned(launch->args());
    else if (const fb::NpuLaunch *npu = step->what_as_NpuLaunch())
      good &= isAligned(npu->args()) && isAligned(npu->prefetch());
  if (model.npu_programs())
    for (const fb::NpuProgram *program : *model.npu_programs())
      good &= isAligned(program->arguments());
  return good ? OM_OK
              : fail(error, OM_ERROR_CORRUPT, "the file is damaged: its header is not aligned.");
}

om_status Checker::ends(const flatbuffers::Vector<uint32_t> &list, fb::Space space,
                        const char *word) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (list.Get(i) >= model.tensors()->size())
      return fail(error, OM_ERROR_CORRUPT, "the file is damaged: %s %u is tensor %u of only %u.",
                  word, i, list.Get(i), model.tensors()->size());
    const fb::Tensor &tensor = *model.tensors()->Get(list.Get(i));
    const fb::BufferRef &place = *tensor.place();
    TensorSize size;
    const char *errorText = measureTensor(tensor, size);
    if (!errorText && (!size.dense || place.space() != space || place.index() != i ||
                       place.offset() != 0 || place.size() != size.denseBytes))
      errorText = "it is not plain, dense and in its own place";
    if (errorText)
      return fail(error, OM_ERROR_CORRUPT, "the file is damaged: %s %u ('%s') cannot be used: %s.",
                  word, i, tensor.name()->c_str(), errorText);
  }
  return OM_OK;
}

bool Checker::spaceBytes(const fb::BufferRef &ref, uint64_t &bytes) const {
  switch (ref.space()) {
  case fb::Space::arena:
    bytes = model.arena_size();
    return ref.index() == 0;
  case fb::Space::weights: {
    if (ref.index() >= model.segments()->size())
      return false;
    const fb::Segment &segment = *model.segments()->Get(ref.index());
    bytes = segment.size();
    return segment.kind() == fb::SegmentKind::weights;
  }
  case fb::Space::input:
  case fb::Space::output: {
    const auto &list = ref.space() == fb::Space::input ? *model.inputs() : *model.outputs();
    if (ref.index() >= list.size())
      return false;
    bytes = model.tensors()->Get(list.Get(ref.index()))->place()->size();
    return true;
  }
  }
  return false;
}

/// Returns whether the bounds of indices are sizes and belong to a type of indices, or are none.
static bool hasIndexSizes(const fb::Tensor &tensor) {
  if (!tensor.index_sizes())
    return true;
  for (int64_t size : *tensor.index_sizes())
    if (size < 0)
      return false;
  const auto dtype = om_dtype(tensor.dtype());
  return tensor.index_sizes()->size() > 0 && (dtype == OM_I32 || dtype == OM_I64);
}

om_status Checker::tensors() {
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    const fb::Tensor &tensor = *model.tensors()->Get(i);
    TensorSize size;
    const char *errorText = measureTensor(tensor, size);
    if (!errorText && (!inside(*tensor.place()) || size.storedBytes > tensor.place()->size()))
      errorText = "it reaches outside its place";
    if (!errorText &&
        tensor.place()->offset() % ((om_dtype_bits(om_dtype(tensor.dtype())) + 7) / 8))
      errorText = "it is not aligned to its element type";
    if (!errorText && !hasIndexSizes(tensor))
      errorText = "the sizes that its indices must fit make no sense";
    if (errorText)
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: tensor %u ('%s') cannot be used: %s.", i,
                  tensor.name()->c_str(), errorText);
  }
  return OM_OK;
}

om_status Checker::images() {
  for (uint32_t i = 0; i < model.images()->size(); ++i) {
    const fb::CodeImage &image = *model.images()->Get(i);
    const char *errorText = nullptr;
    // Each launch and host call is checked against all images.
    if (i == limits::maxImages)
      errorText = "there are too many";
    else if (image.segment() >= model.segments()->size() ||
             model.segments()->Get(image.segment())->kind() != fb::SegmentKind::code)
      errorText = "it names no code segment";
    else if (image.entries()->size() != model.kernels()->size() ||
             image.tasks()->size() != model.kernels()->size())
      errorText = "it does not have one entry and one task count for each kernel";
    else if (image.scratch_bytes() > limits::maxScratch)
      errorText = "it asks for too much scratch memory";
    else {
      uint64_t bytes = model.segments()->Get(image.segment())->size();
      for (uint64_t entry : *image.entries())
        if (entry >= bytes)
          errorText = "a kernel starts outside the code";
      for (uint64_t tasks : *image.tasks())
        if ((tasks == 0 && !hasHostProgram(model)) || tasks > limits::maxTasks)
          errorText = "a kernel has no tasks or too many";
    }
    if (errorText)
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: code image %u ('%s') cannot be used: %s.", i,
                  image.level()->c_str(), errorText);
  }
  return OM_OK;
}

om_status Checker::schedule() {
  if (model.schedule()->size() > limits::maxLaunches)
    return fail(error, OM_ERROR_UNSUPPORTED,
                "the schedule has %u steps, more than this runtime runs.",
                model.schedule()->size());
  for (uint32_t i = 0; i < model.schedule()->size(); ++i) {
    const fb::Step &step = *model.schedule()->Get(i);
    om_status status;
    if (const fb::Launch *cpu = step.what_as_Launch())
      status = launch(i, *cpu);
    else if (const fb::NpuLaunch *npu = step.what_as_NpuLaunch())
      status = npuLaunch(i, *npu);
    else
      status = fail(error, OM_ERROR_UNSUPPORTED,
                    "step %u of the schedule is of a kind (%u) this runtime does not know.", i,
                    unsigned(step.what_type()));
    if (status != OM_OK)
      return status;
  }
  return OM_OK;
}

om_status Checker::npuPrograms() {
  if (model.soc_table() && model.soc_table()->size() > limits::maxTableText)
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: its NPU table has %u characters, more than %llu.",
                model.soc_table()->size(), ull(limits::maxTableText));
  if (!model.npu_programs() || model.npu_programs()->size() == 0)
    return OM_OK;
  if (!model.soc() || model.soc()->size() == 0)
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: it has NPU programs, but names no NPU.");
  uint64_t codeLeft = 0;
  for (const fb::Segment *segment : *model.segments())
    if (segment->kind() == fb::SegmentKind::npu)
      codeLeft += segment->size();
  for (uint32_t i = 0; i < model.npu_programs()->size(); ++i) {
    const fb::NpuProgram &program = *model.npu_programs()->Get(i);
    if (const char *reason = npuProgram(program, codeLeft))
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: NPU program %u ('%s') cannot be used: %s.", i,
                  program.name()->c_str(), reason);
  }
  return OM_OK;
}

/// Returns null, or why a program cannot be used. `codeLeft` are the bytes of code that no
/// program before it has: programs that shared them would take many times the
/// file's size when they are decoded.
const char *Checker::npuProgram(const fb::NpuProgram &program, uint64_t &codeLeft) const {
  if (program.segment() >= model.segments()->size() ||
      model.segments()->Get(program.segment())->kind() != fb::SegmentKind::npu)
    return "it names no segment of NPU programs";
  uint64_t bytes = model.segments()->Get(program.segment())->size();
  if (program.offset() > bytes || program.size() > bytes - program.offset() || program.size() == 0)
    return "it reaches outside its segment";
  if (program.size() > codeLeft)
    return "it shares its code with other programs";
  codeLeft -= program.size();
  if (program.grid()->size() > 3)
    return "its grid has more than 3 dims";
  uint64_t cores = 1; // each factor is below 2^32, and the product at most 2^16 before it
  for (uint32_t size : *program.grid())
    if (cores *= size; cores == 0 || cores > limits::maxCores)
      return "its grid has no cores or more than 65536";
  static_assert(limits::maxCores == 65536 && limits::maxNpuArguments == 256);
  if (program.arguments()->size() > limits::maxNpuArguments)
    return "it has more than 256 arguments";
  for (uint64_t size : *program.arguments())
    if (size > limits::maxMemory)
      return "it asks for too large a buffer";
  return nullptr;
}

om_status Checker::npuLaunch(uint32_t index, const fb::NpuLaunch &launch) {
  const char *name = launch.name()->c_str();
  const uint32_t programs = model.npu_programs() ? model.npu_programs()->size() : 0;
  if (launch.program() >= programs)
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: launch %u ('%s') runs NPU program %u of only %u.", index,
                name, launch.program(), programs);
  const auto &sizes = *model.npu_programs()->Get(launch.program())->arguments();
  if (launch.args()->size() != sizes.size())
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: launch %u ('%s') has %u arguments, but its program takes %u.",
                index, name, launch.args()->size(), sizes.size());
  for (uint32_t i = 0; i < sizes.size(); ++i)
    if (launch.args()->Get(i)->size() < sizes.Get(i))
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: argument %u of launch %u ('%s') has %llu bytes, but its "
                  "program needs %llu.",
                  i, index, name, ull(launch.args()->Get(i)->size()), ull(sizes.Get(i)));
  for (uint32_t i = 0; i < launch.prefetch()->size(); ++i) {
    const fb::BufferRef &ref = *launch.prefetch()->Get(i);
    if (ref.space() != fb::Space::weights || !inside(ref))
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: prefetch %u of launch %u ('%s') is no range of weights "
                  "(space %u, index %u, offset %llu, size %llu).",
                  i, index, name, unsigned(ref.space()), ref.index(), ull(ref.offset()),
                  ull(ref.size()));
  }
  if (launch.chained() && (index == 0 || !model.schedule()->Get(index - 1)->what_as_NpuLaunch()))
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: launch %u ('%s') goes on in the task of the launch before "
                "it, but that is none of the NPU.",
                index, name);
  return references(index, launch);
}

om_status Checker::launch(uint32_t index, const fb::Launch &launch) {
  const char *name = launch.name()->c_str();
  if (launch.kernel() >= model.kernels()->size())
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: launch %u ('%s') runs kernel %u of only %u.", index, name,
                launch.kernel(), model.kernels()->size());
  for (const fb::CodeImage *image : *model.images())
    if (image->tasks()->Get(launch.kernel()) == 0)
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: launch %u ('%s') runs a host kernel.", index, name);
  return references(index, launch);
}

/// Checks the buffers that a launch of either kind refers to.
template <typename Launch> om_status Checker::references(uint32_t index, const Launch &launch) {
  const char *name = launch.name()->c_str();
  for (uint32_t i = 0; i < launch.args()->size(); ++i)
    if (!inside(*launch.args()->Get(i)))
      return fail(error, OM_ERROR_CORRUPT,
                  "the file is damaged: argument %u of launch %u ('%s') reaches outside its memory "
                  "(space %u, index %u, offset %llu, size %llu).",
                  i, index, name, unsigned(launch.args()->Get(i)->space()),
                  launch.args()->Get(i)->index(), ull(launch.args()->Get(i)->offset()),
                  ull(launch.args()->Get(i)->size()));
  for (const auto *list : {launch.reads(), launch.writes()})
    for (uint32_t tensor : *list)
      if (tensor >= model.tensors()->size())
        return fail(error, OM_ERROR_CORRUPT,
                    "the file is damaged: launch %u ('%s') names tensor %u of only %u.", index,
                    name, tensor, model.tensors()->size());
  return OM_OK;
}
} // namespace

om_status verifyHeader(const char *data, uint64_t available, uint64_t fileBytes,
                       const fb::Model **result, om_error *error) {
  if (available >= 4 && std::memcmp(data, "IMOD", 4) == 0)
    return fail(
        error, OM_ERROR_VENDOR_OM,
        "this .om file was made by the Ascend vendor's ATC and holds code for its NPUs only: "
        "compile the original model with this project's atc.");
  constexpr uint64_t identifierEnd = prefixBytes + 8;
  if (available < identifierEnd)
    return fail(error, available ? OM_ERROR_TRUNCATED : OM_ERROR_NOT_OM,
                "the file has only %llu bytes: it is no .om file or is cut off.", ull(available));
  if (std::memcmp(data + prefixBytes + 4, fb::ModelIdentifier(), 4) != 0)
    return fail(error, OM_ERROR_NOT_OM,
                "this is no .om file (OATC): compile the model with this project's atc.");

  uint64_t length =
      prefixBytes + flatbuffers::GetPrefixedSize(reinterpret_cast<const uint8_t *>(data));
  if (length % 8 != 0 || length > FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(error, OM_ERROR_CORRUPT, "the file is damaged: its header cannot have %llu bytes.",
                ull(length));
  if (available < length + hashBytes)
    return fail(error, OM_ERROR_TRUNCATED,
                "the file is cut off: it has %llu bytes, but its header alone should have %llu.",
                ull(available), ull(length + hashBytes));
  uint64_t stored;
  std::memcpy(&stored, data + length, sizeof(stored));
  if (stored != hash64(data, length))
    return fail(error, OM_ERROR_CORRUPT,
                "the file is damaged: its header does not match its hash.");

  if (om_status status = earlyVersion(data, length, error); status != OM_OK)
    return status;

  // FlatBuffers' own limit of a million tables is below large models; no table
  // takes less than 8 bytes.
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(data), length, 16,
                                 static_cast<flatbuffers::uoffset_t>(length / 8));
  if (!fb::VerifySizePrefixedModelBuffer(verifier))
    return fail(error, OM_ERROR_CORRUPT, "the file is damaged: its header is malformed.");

  const fb::Model *model = fb::GetSizePrefixedModel(data);
  const uint64_t headerBytes = length + hashBytes + signatureBytes(*model);
  if (available < headerBytes)
    return fail(error, OM_ERROR_TRUNCATED,
                "the file is cut off: it has %llu bytes, but its header alone should have %llu.",
                ull(available), ull(headerBytes));
  om_status status = Checker(*model, error).run(headerBytes, fileBytes);
  if (status == OM_OK && signatureBytes(*model))
    status = verifySignatureBlock(data + length + hashBytes, error);
  if (status == OM_OK)
    *result = model;
  return status;
}

/// Checks that the bytes between the segments of a file, which no hash covers, are zeros.
static om_status verifyGaps(const char *data, uint64_t bytes, const fb::Model &model,
                            om_error *error) {
  uint64_t at = headerLength(data) + hashBytes + signatureBytes(model);
  const uint32_t segments = model.segments()->size();
  for (uint32_t i = 0; i <= segments; ++i) {
    const fb::Segment *next = i < segments ? model.segments()->Get(i) : nullptr;
    for (const uint64_t end = next ? next->offset() : bytes; at < end; ++at)
      if (data[at])
        return fail(error, OM_ERROR_CORRUPT,
                    "the file is damaged: byte %llu, between its parts, is not zero.", ull(at));
    if (next)
      at = next->offset() + next->size();
  }
  return OM_OK;
}

om_status verifyFile(const char *data, uint64_t bytes, const fb::Model **model, om_error *error) {
  om_status status = verifyHeader(data, bytes, bytes, model, error);
  return status == OM_OK ? verifyGaps(data, bytes, **model, error) : status;
}

om_status verifySegment(const fb::Model &model, uint32_t index, const char *bytes,
                        om_error *error) {
  const fb::Segment &segment = *model.segments()->Get(index);
  const uint64_t size = segment.size();
  return verifySegmentHash(model, index,
                           segment.in_parts() ? hashParts(bytes, size, 0, countHashParts(size))
                                              : hash64(bytes, size),
                           error);
}

om_status verifySegmentHash(const fb::Model &model, uint32_t index, uint64_t found,
                            om_error *error) {
  const fb::Segment &segment = *model.segments()->Get(index);
  if (found == segment.hash())
    return OM_OK;
  return fail(error, OM_ERROR_CORRUPT,
              "the file is damaged: the %s of segment %u do not match their hash.",
              segment.kind() == fb::SegmentKind::code  ? "code bytes"
              : segment.kind() == fb::SegmentKind::npu ? "NPU programs"
                                                       : "weights",
              index);
}

} // namespace atc::rt
