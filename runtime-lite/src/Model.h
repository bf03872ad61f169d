//===-- Model.h - a loaded .om file ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_MODEL_H
#define OPENATC_RUNTIME_MODEL_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Support.h"
#include "runtime-lite/src/host/HostPlan.h"

namespace atc::rt {

/// Runs tasks [begin, end) of a kernel. `args` are the addresses of its buffers, `scratch` is
/// 64-byte aligned memory of the calling thread.
using Kernel = void (*)(void *const *args, void *scratch, int64_t begin, int64_t end);

} // namespace atc::rt

/// A verified, mapped .om file. It is constant once loaded.
struct om_model {
  /// Maps the file at `path` and verifies it.
  om_status loadFile(const char *path, const om_load_options &options, om_error *error);
  /// Verifies a model in memory, which must outlive it; copies it only where `data` is not 64-byte
  /// aligned.
  om_status loadMemory(const void *data, size_t bytes, const om_load_options &options,
                       om_error *error);
  /// Compares the hashes of the weights segments with the file's.
  om_status verifyWeights(om_error *error) const;

  /// Returns the address of a kernel's code in the image chosen for this CPU.
  const void *entry(uint32_t kernel) const { return code.data() + image->entries()->Get(kernel); }
  atc::rt::Kernel kernel(uint32_t index) const {
    return reinterpret_cast<atc::rt::Kernel>(const_cast<void *>(entry(index)));
  }
  /// Returns the address of a segment.
  const char *segment(uint32_t index) const {
    return data + header->segments()->Get(index)->offset();
  }
  /// Returns a CPU launch of the schedule; null for a launch of the NPU.
  const atc::om::fb::Launch *cpuLaunch(uint32_t index) const {
    return header->schedule()->Get(index)->what_as_Launch();
  }
  /// Returns an NPU launch of the schedule; null for a launch of the CPU.
  const atc::om::fb::NpuLaunch *npuLaunch(uint32_t index) const {
    return header->schedule()->Get(index)->what_as_NpuLaunch();
  }
  /// Returns the arguments of a launch of either kind.
  const flatbuffers::Vector<const atc::om::fb::BufferRef *> &launchArgs(uint32_t index) const {
    const atc::om::fb::Launch *cpu = cpuLaunch(index);
    return cpu ? *cpu->args() : *npuLaunch(index)->args();
  }
  /// Returns the number of launches; calls of host kernels are numbered behind those of the
  /// schedule.
  uint32_t launches() const { return header->schedule()->size() + hostPlan.callCount; }
  /// Returns the call of a host kernel with the number `index`; null for a launch of the schedule.
  const atc::om::fb::HostCall *hostCall(uint32_t index) const {
    const uint32_t first = header->schedule()->size();
    return index < first ? nullptr : hostPlan.calls[index - first];
  }
  const char *launchName(uint32_t index) const {
    if (const atc::om::fb::HostCall *call = hostCall(index))
      return call->name()->c_str();
    const atc::om::fb::Launch *cpu = cpuLaunch(index);
    return cpu ? cpu->name()->c_str() : npuLaunch(index)->name()->c_str();
  }

  const atc::om::fb::Model *header = nullptr;
  /// The image chosen for this CPU; null in a model without CPU kernels.
  const atc::om::fb::CodeImage *image = nullptr;
  /// Empty where neither the model nor a gear of it has a dynamic schedule.
  atc::rt::HostPlan hostPlan;

private:
  /// Verifies `data` and makes its code executable. `fd` is the open file, or -1 for memory.
  om_status finish(int fd, const om_load_options &options, om_error *error);
  om_status chooseImage(const char *level, om_error *error);
  om_status refuseNativeCode(om_error *error) const;
  om_status verifySegments(const om_load_options &options, om_error *error) const;
  /// Compares the hash of segment `index` with its bytes, on up to `threads` threads; 0: as many
  /// as pay.
  om_status verifyHash(uint32_t index, uint32_t threads, om_error *error) const;
  om_status mapCode(int fd, const om_load_options &options, om_error *error);

  atc::rt::Mapping file; ///< or a copy of memory that was not aligned
  atc::rt::Mapping code;
  const char *data = nullptr;
  uint64_t bytes = 0;
};

#endif
