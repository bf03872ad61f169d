//===-- LocalMemory.h - allocates buffers in a core's memories ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_LOCALMEMORY_H
#define OPENATC_PASSES_NPU_PROGRAM_LOCALMEMORY_H

#include "dialects/npu/Npu.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// A buffer with all its copies. It is live from op `begin` to op `end`, both included; ops are
/// numbered in program order.
struct LocalBuffer {
  ir::AllocOp alloc;
  int64_t begin = 0, end = 0, bytes = 0, offset = 0;
  /// Returns whether both hold values at a time.
  bool livesWith(const LocalBuffer &other) const {
    return begin <= other.end && other.begin <= end;
  }
  /// Returns whether both occupy a common byte.
  bool overlaps(const LocalBuffer &other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
};

/// The buffers of one memory in program order; sizes are in bytes.
struct MemoryUse {
  Memory memory;
  int64_t capacity = 0, alignment = 1;
  std::vector<LocalBuffer> buffers;
  int64_t lowerBound() const; ///< maximum number of bytes that are live at the same time
  int64_t used() const;       ///< end of the last buffer
  bool shares() const;        ///< whether buffers share bytes
  /// Assigns an offset to all buffers. Returns false if no order that was tried fits; `used` then
  /// returns what the best order needs.
  bool allocate();
};

/// Returns one entry per memory in which the program has buffers.
std::vector<MemoryUse> memoryUses(ir::ProgramOp program, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_LOCALMEMORY_H
