//===-- GuardedMemory.cpp - buffers that nobody can leave unseen ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/npu/GuardedMemory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using atc::npu::test::GuardedMemory;

namespace {

constexpr size_t kGuard = size_t(4) << 30, kPage = 4096, kCanary = 256;
constexpr size_t kTouchable = GuardedMemory::kCapacity + kPage;
constexpr uint8_t kPattern = 0xa5;

} // namespace

GuardedMemory::~GuardedMemory() {
  for (const Region &region : regions)
    if (region.base)
      munmap(region.base, 2 * kGuard + kTouchable);
}

uint8_t *GuardedMemory::buffer(size_t number, size_t bytes, size_t alignment) {
  if (number >= regions.size())
    regions.resize(number + 1);
  Region &region = regions[number];
  if (!region.base) {
    void *base = mmap(nullptr, 2 * kGuard + kTouchable, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      return nullptr;
    region.base = static_cast<uint8_t *>(base);
    region.first = region.base + kGuard;
    region.end = region.first + kTouchable;
    if (mprotect(region.first, kTouchable, PROT_READ | PROT_WRITE) != 0)
      return nullptr;
  }
  region.bytes = std::min(bytes, kCapacity);
  size_t room = (region.bytes + alignment - 1) / alignment * alignment;
  region.data = region.end - room;
  std::memset(region.data - kCanary, kPattern, kCanary);
  std::memset(region.data + region.bytes, kPattern, room - region.bytes);
  return region.data;
}

bool GuardedMemory::untouched() const {
  auto isPattern = [](uint8_t byte) { return byte == kPattern; };
  for (const Region &region : regions)
    if (region.data && (!std::all_of(region.data - kCanary, region.data, isPattern) ||
                        !std::all_of(region.data + region.bytes, region.end, isPattern)))
      return false;
  return true;
}
