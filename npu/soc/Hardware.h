//===-- Hardware.h - memories, queues and element types ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SOC_HARDWARE_H
#define OPENATC_NPU_SOC_HARDWARE_H

#include <cstdint>

namespace atc::npu {

/// The memories: global memory, the cube's L1, L0A, L0B, L0C and bias table, and the unified buffer
/// of the vector unit.
enum class Memory : uint8_t {
#define NPU_MEMORY(Name, name) Name,
#include "npu/soc/Hardware.def"
};
/// The queues: scalar unit, cube, vector unit, the three memory transfer engines, fixpipe.
enum class Queue : uint8_t {
#define NPU_QUEUE(Name, name, meaning) Name,
#include "npu/soc/Hardware.def"
};
#define NPU_MEMORY(...) +1
constexpr unsigned kMemories = 0
#include "npu/soc/Hardware.def"
    ;
#define NPU_QUEUE(...) +1
constexpr unsigned kQueues = 0
#include "npu/soc/Hardware.def"
    ;

/// The element types, with the values of ONNX and of om.fbs.
enum class DataType : uint8_t {
#define NPU_TYPE(Name, number, name, bytes) Name = number,
#include "npu/soc/Hardware.def"
};
/// Returns the size of an element in bytes.
constexpr unsigned bytesOf(DataType type) {
  switch (type) {
#define NPU_TYPE(Name, number, name, bytes)                                                        \
  case DataType::Name:                                                                             \
    return bytes;
#include "npu/soc/Hardware.def"
  }
  return 2;
}

/// A set of memories: bit i stands for Memory(i).
using MemorySet = uint8_t;
constexpr MemorySet setOf(Memory memory) { return MemorySet(1 << unsigned(memory)); }
/// A set of element types: bit i stands for DataType(i).
using TypeSet = uint32_t;
constexpr TypeSet setOf(DataType type) { return TypeSet(1) << unsigned(type); }

/// Names of sets with one member, and of the set of all types, for tables: `GM | L1`.
namespace sets {
#define NPU_MEMORY(Name, name) constexpr MemorySet Name = setOf(Memory::Name);
#define NPU_TYPE(Name, number, name, bytes) constexpr TypeSet Name = setOf(DataType::Name);
#include "npu/soc/Hardware.def"
constexpr TypeSet AnyType = 0
#define NPU_TYPE(Name, ...) | Name
#include "npu/soc/Hardware.def"
    ;
} // namespace sets

/// Return the names of assembly; "?" for a value that is none of the enum's.
const char *nameOf(Memory memory);
const char *nameOf(Queue queue);
const char *nameOf(DataType type);
/// Returns whether this is the encoding of a DataType.
constexpr bool isType(int64_t number) {
  return number >= 0 && number < 32 && (sets::AnyType >> number & 1);
}

} // namespace atc::npu

#endif
