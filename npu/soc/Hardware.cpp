//===-- Hardware.cpp - names of memories, queues and element types --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/soc/Hardware.h"

const char *atc::npu::nameOf(Memory memory) {
  switch (memory) {
#define NPU_MEMORY(Name, name)                                                                     \
  case Memory::Name:                                                                               \
    return name;
#include "npu/soc/Hardware.def"
  }
  return "?";
}

const char *atc::npu::nameOf(Queue queue) {
  switch (queue) {
#define NPU_QUEUE(Name, name, meaning)                                                             \
  case Queue::Name:                                                                                \
    return name;
#include "npu/soc/Hardware.def"
  }
  return "?";
}

const char *atc::npu::nameOf(DataType type) {
  switch (type) {
#define NPU_TYPE(Name, number, name, bytes)                                                        \
  case DataType::Name:                                                                             \
    return name;
#include "npu/soc/Hardware.def"
  }
  return "?";
}
