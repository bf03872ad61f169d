//===-- QueueUse.h - what a program does on its queues ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_QUEUEUSE_H
#define OPENATC_PASSES_NPU_PROGRAM_QUEUEUSE_H

#include "dialects/npu/Npu.h"
#include "passes/npu/program/SyncAnalysis.h"

namespace atc::npu {

/// The flag id by which queues meet between two parts.
inline constexpr unsigned kMeetingId = kFlagIds - 1;

/// The properties of a part by which the queues of a core meet at its begin and end.
struct QueueUse {
  /// Begins without any use.
  QueueUse() = default;
  /// Looks at all instructions of a program.
  explicit QueueUse(ir::ProgramOp program) {
    program.walk([&](ir::InstructionOpInterface op) {
      const Queue queue = *queueOf(op);
      queues |= 1u << unsigned(queue);
      loadsOthers |= queue == Queue::MTE2 && !isBetweenMte1And2(op) && !fillsL1(op);
      if (auto set = mlir::dyn_cast<ir::SetFlagOp>(*op))
        usesMeetingId |= set.getId() + set.getSlots() > kMeetingId;
      for (const BufferAccess &access : accessesOf(op))
        if (access.buffer && memoryOf(access.buffer) == Memory::L1)
          sharesL1 |= queue != Queue::MTE1 && queue != Queue::MTE2;
    });
  }

  /// Returns the memory of a buffer.
  static Memory memoryOf(mlir::Value buffer) {
    return Memory(mlir::cast<ir::BufferType>(buffer.getType()).getMemory());
  }
  /// Returns whether the program has instructions on a queue.
  bool has(Queue queue) const { return queues >> unsigned(queue) & 1; }

  /// Returns whether an instruction writes to l1 only.
  static bool fillsL1(mlir::Operation *op) {
    return llvm::all_of(accessesOf(op), [](const BufferAccess &access) {
      return !access.written || memoryOf(access.buffer) == Memory::L1;
    });
  }

  /// Returns whether an op is a flag from `from` of MTE1 and MTE2 to the other.
  template <typename OpT> static bool isFlagFrom(mlir::Operation *op, Queue from) {
    auto flag = mlir::dyn_cast<OpT>(op);
    const Queue to = from == Queue::MTE1 ? Queue::MTE2 : Queue::MTE1;
    return flag && Queue(flag.getFrom()) == from && Queue(flag.getTo()) == to;
  }

  /// Returns whether an op on MTE2 is a flag to or from MTE1.
  static bool isBetweenMte1And2(mlir::Operation *op) {
    return isFlagFrom<ir::SetFlagOp>(op, Queue::MTE2) ||
           isFlagFrom<ir::WaitFlagOp>(op, Queue::MTE1);
  }

  unsigned queues = 0;        ///< a bit per queue
  bool usesMeetingId = false; ///< some flag has the id by which queues meet
  bool sharesL1 = false;      ///< others than MTE1 and MTE2 access l1
  bool loadsOthers = false;   ///< MTE2 does more than to fill l1, with flags of MTE1
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_QUEUEUSE_H
