//===-- FuzzHost.h - a host whose buffers end where their elements end ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_HOST_FUZZHOST_H
#define OPENATC_TEST_FUZZ_HOST_FUZZHOST_H

#include "kernels/core/Support.h"
#include "runtime-lite/abi/HostValueRules.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace atc::fuzz {

/// Bytes that a call may ask for, as a session's ceiling would have it.
inline constexpr uint64_t kCeiling = 32u << 20;

/// The maximum product of the other dims of a tensor with a dim of 0. In hosts it is 2^31, where
/// loops over nothing take up to some seconds; less here, for millions of calls.
inline constexpr uint64_t kMaxDimsOfEmpty = host::kMaxDimsOfEmpty >> 9;

/// Bytes in front of and behind a block that nobody may change. AddressSanitizer has its own.
#if __has_feature(address_sanitizer)
inline constexpr uint64_t kMargin = 0;
#else
inline constexpr uint64_t kMargin = 64;
#endif

/// Memory whose blocks end where their elements end. Margins show what a kernel writes beyond them,
/// and as they have the fill, too, results that depend on what it reads there.
class Blocks {
public:
  /// What memory holds before a kernel writes it.
  uint8_t fill = 0;

  ~Blocks() {
    for (const Block &block : blocks) {
      for (uint64_t i = 0; i < kMargin; ++i)
        if (block.begin[i] != block.fill || block.begin[kMargin + block.bytes + i] != block.fill) {
          std::fprintf(stderr, "memory beside a buffer of %llu bytes is changed\n",
                       static_cast<unsigned long long>(block.bytes));
          std::abort();
        }
      std::free(block.begin);
    }
  }
  /// Returns null above the ceiling; what is small, as names and lists are, is always there.
  char *make(uint64_t bytes) {
    constexpr uint64_t kSmall = 1 << 12;
    void *block = nullptr;
    if ((bytes > kSmall && used + bytes > kCeiling) || bytes > kCeiling ||
        posix_memalign(&block, 64, bytes + 2 * kMargin + !bytes))
      return nullptr;
    std::memset(block, fill, bytes + 2 * kMargin);
    used += bytes;
    blocks.push_back({static_cast<uint8_t *>(block), bytes, fill});
    return static_cast<char *>(block) + kMargin;
  }
  host::Value *value() {
    auto *made = reinterpret_cast<host::Value *>(make(sizeof(host::Value)));
    return made ? new (made) host::Value() : nullptr;
  }
  host::Value *tensor(uint8_t dtype, uint32_t rank, const int64_t *dims) {
    int64_t count = 1, bits = kernels::bitsOf(dtype);
    bool isEmpty = false;
    for (uint32_t i = 0; i < rank; ++i) {
      isEmpty |= dims[i] == 0;
      if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i] ? dims[i] : 1, &count))
        return nullptr;
    }
    // As hosts have it.
    if (isEmpty && uint64_t(count) > kMaxDimsOfEmpty)
      return nullptr;
    count = isEmpty ? 0 : count;
    if (rank > host::kMaxRank || !bits || count > int64_t(kCeiling) * 4)
      return nullptr;
    char *data = make(uint64_t(kernels::bytesOf(dtype, count)));
    host::Value *made = data ? value() : nullptr;
    if (!made)
      return nullptr;
    made->kind = host::Kind::Tensor;
    made->dtype = dtype;
    made->rank = uint16_t(rank);
    std::memcpy(made->dims, dims, rank * sizeof(int64_t));
    made->data = data;
    return made;
  }

private:
  struct Block {
    uint8_t *begin; ///< of the margin in front
    uint64_t bytes; ///< between the margins
    uint8_t fill;
  };
  std::vector<Block> blocks;
  uint64_t used = 0;
};

/// A call with all that its kernel has asked for.
struct FuzzCall : host::Call {
  Blocks memory;
  std::vector<host::Value *> made;
  std::string error;
  bool onlyShapes = false;
  std::clock_t start = std::clock(); ///< for the time that the call may take
  /// The services that the host provides to kernels.
  static const host::Host services;

  static FuzzCall &of(host::Call *call) { return *static_cast<FuzzCall *>(call); }
  void set(uint32_t i, host::Value *value) {
    if (i < made.size())
      made[i] = value;
  }
};

/// Reads every element, so that a result in somebody else's memory is found. Returns a
/// checksum.
uint64_t readAll(const host::Value *value, int depth = 0);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_HOST_FUZZHOST_H
