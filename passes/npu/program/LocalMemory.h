//===-- LocalMemory.h - which buffers fit into a core's memories ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_LOCALMEMORY_H
#define OPENATC_PASSES_NPU_PROGRAM_LOCALMEMORY_H

#include "dialects/npu/Npu.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// A buffer with all its copies. It lives from op number `begin` to `end`, both
/// included; ops are numbered in the order of the program.
struct LocalBuffer {
  ir::AllocOp alloc;
  int64_t begin = 0, end = 0, bytes = 0, offset = 0;
  bool livesWith(const LocalBuffer &other) const {
    return begin <= other.end && other.begin <= end;
  }
  bool overlaps(const LocalBuffer &other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
};

/// The buffers of one memory, in the order of the program.
struct MemoryUse {
  Memory memory;
  int64_t capacity = 0, alignment = 1;
  std::vector<LocalBuffer> buffers;
  int64_t lowerBound() const; ///< most bytes that live at one time
  int64_t used() const;       ///< end of the last buffer
  bool shares() const;        ///< do buffers have bytes in common?
  /// Gives all buffers an offset. False if no order tried fits; `used` then says
  /// what the best one needs.
  bool place();
};

/// One for each memory in which the program has buffers.
std::vector<MemoryUse> memoryUses(ir::ProgramOp program, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_LOCALMEMORY_H
