//===-- PartWaits.cpp - what parts of a joined launch wait for ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/schedule/PartWaits.h"

#include "passes/npu/program/SyncAnalysis.h"
#include "passes/om/Schedule.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace atc::npu {

SmallVector<Reach> reachesOf(om::LaunchOp launch, ir::ProgramOp program) {
  llvm::SmallBitVector written(unsigned(program.getBuffers().size()));
  program.walk([&](ir::InstructionOpInterface op) {
    for (const BufferAccess &access : accessesOf(op))
      if (auto buffer = dyn_cast_or_null<BlockArgument>(access.buffer);
          buffer && access.written && buffer.getOwner() == program.getBody())
        written.set(buffer.getArgNumber());
  });
  SmallVector<Reach> reaches;
  for (auto [number, operand, buffer] :
       llvm::enumerate(launch.getOperands_(), program.getBuffers())) {
    const om::BufferPart part = om::resolveViews(operand);
    if (part.root.getDefiningOp<om::WeightOp>())
      continue;
    auto alloc = part.root.getDefiningOp<om::AllocOp>();
    const int64_t begin = part.offset + (alloc ? int64_t(alloc.getOffset().value_or(0)) : 0);
    reaches.push_back({alloc ? Value() : part.root, begin,
                       begin + int64_t(cast<ir::BufferType>(buffer.getType()).getBytes()),
                       written[unsigned(number)]});
  }
  return reaches;
}

bool doConflict(ArrayRef<Reach> some, ArrayRef<Reach> others) {
  return llvm::any_of(some, [&](const Reach &one) {
    return llvm::any_of(others, [&](const Reach &other) { return one.conflictsWith(other); });
  });
}

void findWaits(ArrayRef<SmallVector<Reach>> reaches, MutableArrayRef<ProgramPart> parts) {
  struct Stream {
    int last = -1; ///< its last part so far
    unsigned count = 0;
  };
  std::array<std::array<Stream, kStreams>, 2> streams;
  SmallVector<unsigned> orders;
  int awaited[2] = {-1, -1}; // of the other section
  auto kindOf = [&](int i) { return ir::ProgramOp(parts[size_t(i)].program).getVectorCore(); };
  const int count = int(parts.size());
  bool isMixed = false;
  for (int i = 1; i < count; ++i)
    isMixed |= kindOf(i) != kindOf(0);
  for (int i = 0; i < count; ++i) {
    const bool kind = kindOf(i);
    int latest[2] = {-1, -1};
    for (int j = i - 1; j >= 0 && (latest[kind] < 0 || (isMixed && latest[!kind] < 0)); --j)
      if (latest[kindOf(j)] < 0 && doConflict(reaches[size_t(i)], reaches[size_t(j)]))
        latest[kindOf(j)] = j;
    // The stream whose last part is the latest one that is waited for anyway, else the oldest.
    Stream *own = nullptr;
    for (Stream &stream : streams[kind])
      if (!own || (stream.last <= latest[kind] ? own->last > latest[kind] || stream.last > own->last
                                               : stream.last < own->last))
        own = &stream;
    auto eventOf = [&](const Stream &stream) {
      return unsigned(isMixed && kind) + 2 * unsigned(&stream - streams[kind].data());
    };
    ProgramPart &part = parts[size_t(i)];
    part.event = eventOf(*own);
    if (own->last >= 0)
      part.waits.push_back({part.event, own->count});
    if (const int j = latest[kind]; j > own->last)
      part.waits.push_back({parts[size_t(j)].event, orders[size_t(j)]});
    if (const int j = latest[!kind]; j > awaited[kind]) {
      part.waits.push_back({parts[size_t(j)].event, orders[size_t(j)], /*crosses=*/true});
      awaited[kind] = j;
    }
    own->last = i;
    orders.push_back(++own->count);
  }
}

} // namespace atc::npu
