//===-- Bare.cpp - runs static models in the caller's memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/bare.h"
#include "runtime-lite/abi/Architectures.h"
#include "runtime-lite/abi/TileRegisters.h"
#include "runtime-lite/bare/Pieces.h"
#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/Tensor.h"
#include "runtime-lite/src/Verify.h"

#include <cstring>
#include <new>

using namespace atc::rt;
namespace fb = atc::om::fb;

namespace {
using Kernel = void (*)(void *const *args, void *scratch, int64_t begin, int64_t end);

/// The addresses that a schedule needs, by the space of a reference.
struct Spaces {
  const char *file;
  char *arena;
  const void *const *inputs;
  void *const *outputs;
};
} // namespace

struct om_bare {
  const fb::Model *header;
  const fb::CodeImage *image; ///< null for a model without launches
  const char *file;
  void **arguments;
  char *arena, *scratch;
  om_allocator allocator; ///< without functions where the memory is the caller's
  size_t bytes;           ///< of the whole memory

  void *addressOf(const fb::BufferRef &ref, const Spaces &spaces) const {
    char *base = nullptr;
    switch (ref.space()) {
    case fb::Space::arena:
      base = spaces.arena;
      break;
    case fb::Space::weights: // kernels read them; the ABI has one pointer type for all arguments
      base = const_cast<char *>(spaces.file) + header->segments()->Get(ref.index())->offset();
      break;
    case fb::Space::input:
      base = static_cast<char *>(const_cast<void *>(spaces.inputs[ref.index()]));
      break;
    case fb::Space::output:
      base = static_cast<char *>(spaces.outputs[ref.index()]);
      break;
    }
    return base + ref.offset();
  }
};

static_assert(sizeof(om_bare) <= bareStateBytes && sizeof(void *) <= 8,
              "Pieces.h has room for the state and the pointers");

/// Models with either are refused, after the rest of them has been verified.
bool atc::rt::hasHostProgram(const fb::Model &model) { return model.host() || model.gears(); }

static om_status verify(const void *file, size_t bytes, const fb::Model **header, om_error *error) {
  if (!file)
    return fail(error, OM_ERROR_ARGUMENT, "there is no file (null).");
  if (reinterpret_cast<uintptr_t>(file) % OM_ALIGNMENT)
    return fail(error, OM_ERROR_ARGUMENT, "the file is not at a multiple of %u.", OM_ALIGNMENT);
  return verifyFile(static_cast<const char *>(file), bytes, header, error);
}

size_t om_bare_memory(const void *file, size_t bytes, om_error *error) {
  const fb::Model *header = nullptr;
  if (verify(file, bytes, &header, error) != OM_OK)
    return 0;
  const uint64_t all = barePiecesOf(*header).all();
  if (all <= SIZE_MAX)
    return static_cast<size_t>(all);
  outOfMemory(error, all);
  return 0;
}

/// Finds the code of a level, or without one that of this architecture with the fewest features.
static om_status chooseImage(const fb::Model &header, const char *level,
                             const fb::CodeImage **chosen, om_error *error) {
  if (header.schedule()->size() == 0)
    return OM_OK;
  for (const fb::CodeImage *image : *header.images()) {
    const bool fits = std::strcmp(image->arch()->c_str(), atc::abi::kOwnArchitecture) == 0 &&
                      (!level || std::strcmp(image->level()->c_str(), level) == 0);
    if (fits && (!*chosen || image->features()->size() < (*chosen)->features()->size()))
      *chosen = image;
  }
  if (!*chosen)
    return fail(error, OM_ERROR_UNSUPPORTED,
                "the model has no code for %s%s%s: compile it with --target_cpu.",
                atc::abi::kOwnArchitecture, level ? ", level " : "", level ? level : "");
  for (const flatbuffers::String *feature : *(*chosen)->features())
    if (std::strcmp(feature->c_str(), "amx-tile") == 0 && !atc::abi::requestTileRegisters())
      return fail(error, OM_ERROR_UNSUPPORTED,
                  "this system does not permit amx-tile, which the model's code for '%s' needs: "
                  "compile it for this machine with --target_cpu.",
                  (*chosen)->level()->c_str());
  return OM_OK;
}

om_status om_bare_open(const void *file, size_t bytes, const om_load_options *options, void *memory,
                       size_t memoryBytes, om_bare **result, om_error *error) {
  if (!result)
    return fail(error, OM_ERROR_ARGUMENT, "there is no place for the model (null).");
  *result = nullptr;
  const fb::Model *header = nullptr;
  if (om_status status = verify(file, bytes, &header, error); status != OM_OK)
    return status;
  const fb::CodeImage *image = nullptr;
  if (om_status status =
          chooseImage(*header, options ? options->cpu_level : nullptr, &image, error);
      status != OM_OK)
    return status;
  const auto *begin = static_cast<const char *>(file);
  for (uint32_t i = 0; i < header->segments()->size(); ++i) {
    const fb::Segment &segment = *header->segments()->Get(i);
    if (segment.kind() == fb::SegmentKind::weights && options && !options->verify_weights)
      continue;
    if (om_status status = verifySegment(*header, i, begin + segment.offset(), error);
        status != OM_OK)
      return status;
  }
  const BarePieces pieces = barePiecesOf(*header);
  if (!memory || reinterpret_cast<uintptr_t>(memory) % OM_ALIGNMENT || memoryBytes < pieces.all())
    return fail(error, OM_ERROR_ARGUMENT,
                "the model needs %llu bytes of memory at a multiple of %u, not %llu.",
                static_cast<unsigned long long>(pieces.all()), OM_ALIGNMENT,
                static_cast<unsigned long long>(memory ? memoryBytes : 0));
  char *at = static_cast<char *>(memory);
  char *arguments = at + pieces.state, *arena = arguments + pieces.arguments,
       *scratch = arena + pieces.arena;
  *result = new (memory)
      om_bare{header, image, begin, reinterpret_cast<void **>(arguments), arena, scratch, {}, 0};
  return OM_OK;
}

om_status om_bare_create(const void *file, size_t bytes, const om_load_options *options,
                         const om_allocator *allocator, om_bare **model, om_error *error) {
  if (!model || !allocator)
    return fail(error, OM_ERROR_ARGUMENT, "there is no place for the model, or no allocator.");
  *model = nullptr;
  om_error reason;
  const size_t needed = om_bare_memory(file, bytes, &reason);
  if (!needed)
    return fail(error, reason.code, "%s", reason.message);
  void *memory = allocator->allocate(allocator->user, needed, OM_ALIGNMENT);
  if (!memory)
    return outOfMemory(error, needed);
  const om_status status = om_bare_open(file, bytes, options, memory, needed, model, error);
  if (status != OM_OK) {
    allocator->release(allocator->user, memory, needed);
    return status;
  }
  (*model)->allocator = *allocator;
  (*model)->bytes = needed;
  return OM_OK;
}

void om_bare_free(om_bare *model) {
  if (!model || !model->allocator.release)
    return;
  const om_allocator allocator = model->allocator;
  allocator.release(allocator.user, model, model->bytes);
}

static om_status describe(const om_bare *model, const flatbuffers::Vector<uint32_t> &list,
                          uint32_t index, om_tensor_info *info) {
  if (index >= list.size())
    return OM_ERROR_ARGUMENT;
  return writeAnswer(describeTensor(*model->header->tensors()->Get(list.Get(index))), info);
}

om_status om_bare_get_input(const om_bare *model, uint32_t index, om_tensor_info *info) {
  return describe(model, *model->header->inputs(), index, info);
}

om_status om_bare_get_output(const om_bare *model, uint32_t index, om_tensor_info *info) {
  return describe(model, *model->header->outputs(), index, info);
}

/// Checks that the caller's tensors are there and aligned.
static om_status checkEnds(const fb::Model &header, const flatbuffers::Vector<uint32_t> &list,
                           const void *const *pointers, const char *word, om_error *error) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    const fb::Tensor &tensor = *header.tensors()->Get(list.Get(i));
    const void *pointer = pointers ? pointers[i] : nullptr;
    if (tensor.place()->size() && (!pointer || reinterpret_cast<uintptr_t>(pointer) % OM_ALIGNMENT))
      return fail(error, OM_ERROR_ARGUMENT, "%s %u ('%s') is null or not at a multiple of %u.",
                  word, i, tensor.name()->c_str(), OM_ALIGNMENT);
    // Only inputs have bounds of indices.
    if (om_status status = checkIndices(tensor, pointer, error); status != OM_OK)
      return status;
  }
  return OM_OK;
}

om_status om_bare_run(om_bare *model, const void *const *inputs, void *const *outputs,
                      om_error *error) {
  const fb::Model &header = *model->header;
  if (om_status status = checkEnds(header, *header.inputs(), inputs, "input", error);
      status != OM_OK)
    return status;
  if (om_status status = checkEnds(header, *header.outputs(), outputs, "output", error);
      status != OM_OK)
    return status;
  const Spaces spaces = {model->file, model->arena, inputs, outputs};
  const char *code = model->image
                         ? model->file + header.segments()->Get(model->image->segment())->offset()
                         : nullptr;
  for (const fb::Step *step : *header.schedule()) {
    const fb::Launch &launch = *step->what_as_Launch();
    uint32_t count = 0;
    for (const fb::BufferRef *ref : *launch.args())
      model->arguments[count++] = model->addressOf(*ref, spaces);
    const auto kernel = reinterpret_cast<Kernel>(reinterpret_cast<uintptr_t>(code) +
                                                 model->image->entries()->Get(launch.kernel()));
    kernel(model->arguments, model->scratch, 0,
           static_cast<int64_t>(model->image->tasks()->Get(launch.kernel())));
  }
  return OM_OK;
}
