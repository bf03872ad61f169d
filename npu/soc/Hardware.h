//===-- Hardware.h - memories, queues and element types ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SOC_HARDWARE_H
#define OPENATC_NPU_SOC_HARDWARE_H

#include <cstdint>

namespace atc::npu {

/// The memories: global memory, the cube's L1, L0A, L0B, L0C and bias table, and the unified buffer
/// of the vector unit.
enum class Memory : uint8_t { GM, L1, L0A, L0B, L0C, UB, BT };
/// The queues: scalar unit, cube, vector unit, the three memory transfer engines, fixpipe.
enum class Queue : uint8_t { S, M, V, MTE1, MTE2, MTE3, FIX };
constexpr unsigned kMemories = 7, kQueues = 7;

/// The element types, with the values of ONNX and of om.fbs.
enum class DataType : uint8_t { F32 = 1, U8 = 2, S8 = 3, S32 = 6, F16 = 10, BF16 = 16 };
/// Returns the size of an element.
constexpr unsigned bytesOf(DataType type) {
  return type == DataType::F32 || type == DataType::S32 ? 4
         : type == DataType::U8 || type == DataType::S8 ? 1
                                                        : 2;
}

} // namespace atc::npu

#endif
