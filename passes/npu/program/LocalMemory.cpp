//===-- LocalMemory.cpp - allocates buffers in a core's memories ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/LocalMemory.h"

#include "passes/npu/program/SyncAnalysis.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::npu {

namespace {

/// Numbers ops: the first and last number of each op, including its body.
class Numbering {
public:
  explicit Numbering(Block &block) { visit(block); }
  std::pair<int64_t, int64_t> of(Operation *op) const { return numbers.lookup(op); }

private:
  void visit(Block &block) {
    for (Operation &op : block) {
      int64_t begin = next++;
      if (auto loop = dyn_cast<ir::LoopOp>(op))
        visit(*loop.getBody());
      numbers[&op] = {begin, next - 1};
    }
  }
  DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
  int64_t next = 0;
};

LocalBuffer lifetimeOf(ir::AllocOp alloc, const Numbering &numbering) {
  LocalBuffer buffer;
  buffer.alloc = alloc;
  buffer.bytes = bytesTaken(alloc);
  bool isFirst = true;
  for (Operation *user : alloc->getUsers()) {
    auto [begin, end] = numbering.of(alloc->getBlock()->findAncestorOpInBlock(*user));
    buffer.begin = isFirst ? begin : std::min(buffer.begin, begin);
    buffer.end = isFirst ? end : std::max(buffer.end, end);
    isFirst = false;
  }
  if (isFirst)
    buffer.begin = buffer.end = numbering.of(alloc).first;
  return buffer;
}

/// The smallest gap between `others` that holds the buffer; the end of the last
/// one if there is none below the capacity.
int64_t bestGap(const MemoryUse &use, const LocalBuffer &buffer,
                SmallVector<const LocalBuffer *> others) {
  llvm::sort(others,
             [](const LocalBuffer *a, const LocalBuffer *b) { return a->offset < b->offset; });
  int64_t at = 0, best = -1, bestSize = INT64_MAX;
  auto consider = [&](int64_t end) {
    int64_t size = end - at;
    if (size >= buffer.bytes && size < bestSize) {
      best = at;
      bestSize = size;
    }
  };
  for (const LocalBuffer *other : others) {
    consider(other->offset);
    at = std::max(at, int64_t(llvm::alignTo(other->offset + other->bytes, use.alignment)));
  }
  consider(use.capacity);
  return best < 0 ? at : best;
}

} // namespace

int64_t MemoryUse::lowerBound() const {
  int64_t max = 0;
  for (const LocalBuffer &at : buffers) {
    int64_t sum = 0;
    for (const LocalBuffer &other : buffers)
      if (other.begin <= at.begin && at.begin <= other.end)
        sum += other.bytes;
    max = std::max(max, sum);
  }
  return max;
}

int64_t MemoryUse::used() const {
  int64_t end = 0;
  for (const LocalBuffer &buffer : buffers)
    end = std::max(end, buffer.offset + buffer.bytes);
  return end;
}

bool MemoryUse::shares() const {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (buffers[i].overlaps(buffers[j]))
        return true;
  return false;
}

bool MemoryUse::allocate() {
  // Side by side, if all fit.
  int64_t next = 0;
  for (LocalBuffer &buffer : buffers) {
    buffer.offset = llvm::alignTo(next, alignment);
    next = buffer.offset + buffer.bytes;
  }
  if (next <= capacity)
    return true;

  SmallVector<LocalBuffer *> order;
  for (LocalBuffer &buffer : buffers)
    order.push_back(&buffer);
  std::vector<int64_t> best;
  int64_t bestUsed = INT64_MAX;
  auto attempt = [&](bool avoidsSharing) {
    SmallVector<const LocalBuffer *> placed, alive;
    for (LocalBuffer *buffer : order) {
      alive.clear();
      for (const LocalBuffer *other : placed)
        if (buffer->livesWith(*other))
          alive.push_back(other);
      buffer->offset = bestGap(*this, *buffer, avoidsSharing ? placed : alive);
      if (avoidsSharing && buffer->offset + buffer->bytes > capacity)
        buffer->offset = bestGap(*this, *buffer, alive);
      placed.push_back(buffer);
    }
    if (used() < bestUsed) {
      bestUsed = used();
      best.clear();
      for (const LocalBuffer &buffer : buffers)
        best.push_back(buffer.offset);
    }
    return used() <= capacity;
  };
  // By size, by the time they live, in the order of the program.
  auto sortBy = [&](auto key) {
    llvm::sort(order, [&](const LocalBuffer *a, const LocalBuffer *b) {
      return std::tuple(key(*a), a) < std::tuple(key(*b), b);
    });
  };
  sortBy([](const LocalBuffer &buffer) { return -buffer.bytes; });
  bool fits = attempt(true) || attempt(false);
  if (!fits) {
    sortBy([](const LocalBuffer &buffer) { return buffer.begin - buffer.end; });
    fits = attempt(true) || attempt(false);
  }
  if (!fits) {
    sortBy([](const LocalBuffer &buffer) { return buffer.begin; });
    attempt(false);
  }
  for (auto [buffer, offset] : llvm::zip_equal(buffers, best))
    buffer.offset = offset;
  return bestUsed <= capacity;
}

std::vector<MemoryUse> memoryUses(ir::ProgramOp program, const SocTable &soc) {
  Numbering numbering(*program.getBody());
  std::vector<MemoryUse> uses;
  for (unsigned memory = unsigned(Memory::L1); memory < kMemories; ++memory) {
    MemoryUse use;
    use.memory = Memory(memory);
    use.capacity = soc.memoryBytes(use.memory);
    use.alignment = soc.alignment(use.memory);
    program.walk([&](ir::AllocOp alloc) {
      if (Memory(alloc.getType().getMemory()) == use.memory)
        use.buffers.push_back(lifetimeOf(alloc, numbering));
    });
    if (!use.buffers.empty())
      uses.push_back(std::move(use));
  }
  return uses;
}

} // namespace atc::npu
