//===-- Model.cpp - loads an .om file -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Model.h"

#include "runtime-lite/abi/Architectures.h"
#include "runtime-lite/src/Cpu.h"
#include "runtime-lite/src/Hash.h"
#include "runtime-lite/src/Pool.h"
#include "runtime-lite/src/Signature.h"
#include "runtime-lite/src/Verify.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace atc::rt;
namespace fb = atc::om::fb;

namespace {
/// Closes a file on every way out; its mappings stay.
struct File {
  explicit File(const char *path) : fd(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd >= 0)
      close(fd);
  }
  int fd;
};

/// Appends words to a bounded list "a, b, c".
class WordList {
public:
  void add(const char *word) {
    size_t room = sizeof(text) - used;
    int n = std::snprintf(text + used, room, "%s%s", used ? ", " : "", word);
    used += n < 0 ? 0 : static_cast<size_t>(n) < room ? n : room - 1;
  }
  const char *c_str() const { return used ? text : "none"; }

private:
  char text[200] = "";
  size_t used = 0;
};
} // namespace

om_status om_model::loadFile(const char *path, const om_load_options &options, om_error *error) {
  File source(path);
  if (source.fd < 0)
    return fail(error, OM_ERROR_IO, "cannot open '%s': %s.", path, std::strerror(errno));
  struct stat info;
  if (fstat(source.fd, &info) != 0 || !S_ISREG(info.st_mode))
    return fail(error, OM_ERROR_IO, "cannot read '%s': it is not a regular file.", path);
  bytes = static_cast<uint64_t>(info.st_size);
  if (bytes && !file.mapFile(source.fd, 0, bytes, /*code=*/false))
    return fail(error, OM_ERROR_IO, "cannot map '%s': %s.", path, std::strerror(errno));
  data = file.data();
  return finish(source.fd, options, error);
}

om_status om_model::loadMemory(const void *memory, size_t size, const om_load_options &options,
                               om_error *error) {
  data = static_cast<const char *>(memory);
  bytes = size;
  // Kernels expect their weights 64-byte aligned, which holds in the file but
  // not for every pointer a caller may have.
  if (reinterpret_cast<uintptr_t>(memory) % OM_ALIGNMENT) {
    if (!file.mapZeroed(size))
      return outOfMemory(error, size);
    std::memcpy(file.data(), memory, size);
    data = file.data();
  }
  return finish(-1, options, error);
}

om_status om_model::finish(int fd, const om_load_options &options, om_error *error) {
  om_status status = verifyFile(data, bytes, &header, error);
  if (status == OM_OK && !hostPlan.build(*header))
    status = outOfMemory(error, bytes);
  if (status == OM_OK && options.refuse_native_code)
    status = refuseNativeCode(error);
  if (status == OM_OK && options.require_signature)
    status = verifySignature(data, *header, options, error);
  if (status == OM_OK)
    status = chooseImage(options.cpu_level, error);
  if (status == OM_OK)
    status = verifySegments(options, error);
  if (status == OM_OK && image)
    status = mapCode(fd, options, error);
  return status;
}

om_status om_model::refuseNativeCode(om_error *error) const {
  WordList levels;
  for (const fb::CodeImage *candidate : *header->images())
    levels.add(candidate->level()->c_str());
  bool found = header->images()->size() != 0;
  for (const fb::Segment *part : *header->segments())
    found |= part->kind() == fb::SegmentKind::code;
  return found ? fail(error, OM_ERROR_NATIVE_CODE,
                      "the model holds native code (for %s), which the options of this load "
                      "refuse.",
                      levels.c_str())
               : OM_OK;
}

om_status om_model::verifyHash(uint32_t index, uint32_t threads, om_error *error) const {
  const fb::Segment &part = *header->segments()->Get(index);
  if (!part.in_parts())
    return verifySegment(*header, index, segment(index), error);
  struct Job {
    const char *data;
    uint64_t bytes, parts;
    decltype(&hashParts) hash;
    std::atomic<uint64_t> sum;
  } job = {segment(index),
           part.size(),
           countHashParts(part.size()),
           canHashWide() ? hashPartsWide : hashParts,
           {0}};
  // A task is a group of parts.
  const uint64_t tasks = job.parts / hashGroupParts + 1;
  const uint32_t chunks = std::min<uint64_t>(tasks, Pool::maxThreads);
  // A thread is started in the time in which a megabyte is read.
  constexpr uint64_t bytesPerThread = 8 << 20;
  if (!threads)
    threads = std::min<uint64_t>(usableProcessors(), 1 + job.bytes / bytesPerThread);
  Pool pool;
  // If not all threads can be started, the others do the work.
  pool.start(std::min(threads, chunks), nullptr, nullptr, 0, 0, nullptr);
  pool.run(
      static_cast<int64_t>(tasks), chunks,
      [](void *argument, int64_t begin, int64_t end) {
        Job &job = *static_cast<Job *>(argument);
        job.sum += job.hash(job.data, job.bytes, begin * hashGroupParts,
                            std::min(end * hashGroupParts, job.parts));
      },
      &job);
  return verifySegmentHash(*header, index, job.sum, error);
}

/// Checks everything in the file, including code for other processors, but not the code that will
/// run: mapCode checks what it has mapped. Only the first weights segment may be left unchecked:
/// others hold tables from which code computes addresses.
om_status om_model::verifySegments(const om_load_options &options, om_error *error) const {
  bool isFirst = true;
  for (uint32_t i = 0; i < header->segments()->size(); ++i) {
    const bool weights = header->segments()->Get(i)->kind() == fb::SegmentKind::weights;
    const bool mayDiffer =
        weights && isFirst && !options.verify_weights && !options.require_signature;
    isFirst = isFirst && !weights;
    if ((image && i == image->segment()) || mayDiffer)
      continue;
    om_status status = verifyHash(i, options.threads, error);
    if (status == OM_OK && options.require_signature)
      status = verifyDigest(*header, i, segment(i), *options.crypto, error);
    if (status != OM_OK)
      return status;
  }
  return OM_OK;
}

/// Chooses, among the images whose features this machine has, the one with the most features.
om_status om_model::chooseImage(const char *level, om_error *error) {
  if (header->target()->string_view() != "cpu" && header->target()->string_view() != "npu")
    return fail(error, OM_ERROR_UNSUPPORTED,
                "the model is compiled for target '%s', which this runtime does not have.",
                header->target()->c_str());
  if (header->kernels()->size() == 0 && header->images()->size() == 0)
    return OM_OK;
  WordList levels;
  const fb::CodeImage *refused = nullptr;
  bool refusedOurs = false;
  for (const fb::CodeImage *candidate : *header->images()) {
    levels.add(candidate->level()->c_str());
    if (level && std::strcmp(level, candidate->level()->c_str()) != 0)
      continue;
    bool ours = std::strcmp(candidate->arch()->c_str(), atc::abi::kOwnArchitecture) == 0,
         fits = ours;
    for (const flatbuffers::String *feature : *candidate->features())
      fits = fits && cpuHas(feature->c_str());
    if (fits && (!image || candidate->features()->size() > image->features()->size()))
      image = candidate;
    // Reports why the least demanding image does not fit, preferring those of this architecture.
    if (!fits &&
        (!refused || (ours && !refusedOurs) ||
         (ours == refusedOurs && candidate->features()->size() < refused->features()->size()))) {
      refused = candidate;
      refusedOurs = ours;
    }
  }
  if (image)
    return OM_OK;
  if (!refused)
    return fail(error, OM_ERROR_UNSUPPORTED,
                "the model has no code for CPU level '%s', only for: %s.", level ? level : "any",
                levels.c_str());
  if (!refusedOurs)
    return fail(error, OM_ERROR_UNSUPPORTED,
                "the model is compiled for %s processors, but this is %s: compile it for this "
                "machine with --target_cpu.",
                refused->arch()->c_str(), atc::abi::kOwnArchitecture);
  WordList missing;
  for (const flatbuffers::String *feature : *refused->features())
    if (!cpuHas(feature->c_str()))
      missing.add(feature->c_str());
  return fail(
      error, OM_ERROR_UNSUPPORTED,
      "this processor lacks %s, which the model's code for '%s' needs (it has code for: %s): "
      "compile it for this machine with --target_cpu.",
      missing.c_str(), refused->level()->c_str(), levels.c_str());
}

/// Makes the chosen code executable: straight from the file where the system
/// allows it, else from a copy. No memory is ever writable and executable at
/// once. The hash is taken from what will run. Signed code always runs from a
/// copy: a mapping would follow a file that is changed after the check.
om_status om_model::mapCode(int fd, const om_load_options &options, om_error *error) {
  const uint32_t index = image->segment();
  const fb::Segment &part = *header->segments()->Get(index);
  if (fd >= 0 && !options.require_signature &&
      code.mapFile(fd, part.offset(), part.size(), /*code=*/true))
    return verifySegment(*header, index, code.data(), error);
  if (!code.mapZeroed(part.size()))
    return outOfMemory(error, part.size());
  std::memcpy(code.data(), segment(index), part.size());
  om_status status = verifySegment(*header, index, code.data(), error);
  if (status == OM_OK && options.require_signature)
    status = verifyDigest(*header, index, code.data(), *options.crypto, error);
  if (status == OM_OK && !code.makeExecutable())
    return fail(error, OM_ERROR_MEMORY, "the system does not allow executable memory: %s.",
                std::strerror(errno));
  return status;
}

om_status om_model::verifyWeights(om_error *error) const {
  for (uint32_t i = 0; i < header->segments()->size(); ++i)
    if (header->segments()->Get(i)->kind() == fb::SegmentKind::weights)
      if (om_status status = verifyHash(i, 0, error); status != OM_OK)
        return status;
  return OM_OK;
}
