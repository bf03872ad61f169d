//===-- SyncAnalysis.cpp - what must be ordered in an npu program ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/SyncAnalysis.h"

#include "llvm/Support/MathExtras.h"

#include <map>
#include <queue>
#include <set>

using namespace mlir;

namespace atc::npu {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

std::optional<Queue> queueOf(Operation *op) {
  auto source = dyn_cast<ir::InstructionOpInterface>(op);
  if (!source)
    return std::nullopt;
  // The queue follows from memories and from fields that name a queue.
  const ir::InstructionParts parts = source.getParts();
  Instruction instruction;
  instruction.opcode = source.getOpcode();
  for (auto [index, buffer] : llvm::enumerate(parts.buffers))
    if (buffer)
      instruction.addresses[index].memory =
          Memory(cast<ir::BufferType>(buffer.getType()).getMemory());
  for (auto [index, field] : llvm::enumerate(parts.fields))
    if (auto queue = dyn_cast_or_null<ir::QueueKindAttr>(field.second))
      instruction.fields[index] = int64_t(queue.getValue());
  return queueOf(instruction);
}

SmallVector<BufferAccess, 4> accessesOf(Operation *op) {
  SmallVector<BufferAccess, 4> accesses;
  if (isa<ir::SignalOp, ir::AwaitOp>(op))
    accesses.push_back({Value(), true});
  auto source = dyn_cast<ir::InstructionOpInterface>(op);
  if (!source)
    return accesses;
  const AddressInfo *addresses = infoOf(source.getOpcode()).addresses;
  for (auto [index, buffer] : llvm::enumerate(source.getParts().buffers))
    if (buffer)
      accesses.push_back({buffer, addresses[index].access != Access::Read});
  return accesses;
}

LogicalResult expectSequential(ir::ProgramOp program) {
  WalkResult result = program.walk([](Operation *op) {
    if (!isa<ir::SetFlagOp, ir::WaitFlagOp, ir::PipeBarrierOp>(op))
      return WalkResult::advance();
    op->emitError("orders queues; only a program without flags and barriers is expected here");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

unsigned loopsAround(Operation *op) {
  unsigned loops = 0;
  for (auto loop = op->getParentOfType<ir::LoopOp>(); loop;
       loop = loop->getParentOfType<ir::LoopOp>())
    ++loops;
  return loops;
}

int64_t bytesTaken(ir::AllocOp alloc) {
  int64_t bytes = alloc.getType().getBytes(), copies = alloc.getBuffers();
  return (copies - 1) * int64_t(llvm::alignTo(bytes, kFractalBytes)) + bytes;
}

static bool isGlobal(Value buffer) { return !buffer || isa<BlockArgument>(buffer); }

bool doConflict(const BufferAccess &a, const BufferAccess &b) {
  if (!a.written && !b.written)
    return false;
  if (a.buffer == b.buffer)
    return true;
  if (isGlobal(a.buffer) || isGlobal(b.buffer))
    return isGlobal(a.buffer) && isGlobal(b.buffer) && (!a.buffer || !b.buffer);
  auto first = a.buffer.getDefiningOp<ir::AllocOp>();
  auto second = b.buffer.getDefiningOp<ir::AllocOp>();
  if (!first || !second || !first.getOffset() || !second.getOffset() ||
      first.getType().getMemory() != second.getType().getMemory())
    return false;
  int64_t begin = *first.getOffset(), other = *second.getOffset();
  return begin < other + bytesTaken(second) && other < begin + bytesTaken(first);
}

unsigned reuseDistance(const BufferAccess &a, const BufferAccess &b, unsigned depth) {
  // Buffers rotate only in the loops around their allocation.
  auto alloc = a.buffer ? a.buffer.getDefiningOp<ir::AllocOp>() : nullptr;
  if (a.buffer != b.buffer || !alloc || loopsAround(alloc) != depth)
    return 1;
  return unsigned(std::min<int64_t>(alloc.getBuffers(), kFlagIds));
}

//===----------------------------------------------------------------------===//
// Blocks and edges
//===----------------------------------------------------------------------===//

SyncAnalysis::SyncAnalysis(ir::ProgramOp program, ArrayRef<bool> single, bool all) {
  addBlock(*program.getBody(), 0, 0, 1);
  collect(single);
  if (!all)
    keepNearest();
}

void SyncAnalysis::addBlock(Block &block, unsigned depth, unsigned nest, int64_t iterations) {
  unsigned number = blocks.size();
  blocks.push_back({&block, depth, nest, iterations, {}, {}, {}});
  for (Operation &op : block) {
    auto loop = dyn_cast<ir::LoopOp>(op);
    std::optional<Queue> queue = queueOf(&op);
    if (!loop && !queue)
      continue;
    unsigned child = blocks[number].children.size();
    blocks[number].children.push_back(&op);
    open.push_back({number, child});
    uint8_t queues = 0;
    if (loop) {
      unsigned inner = blocks.size();
      int64_t trips = loop.getTrips();
      int64_t product = std::min<int64_t>(iterations * std::min<int64_t>(trips, 1 << 20), 1 << 30);
      addBlock(*loop.getBody(), depth + 1, depth ? nest : child, product);
      for (uint8_t some : blocks[inner].queues)
        queues |= some;
    } else {
      queues = uint8_t(1) << unsigned(*queue);
      nodes.push_back({&op, *queue, accessesOf(&op), open});
    }
    blocks[number].queues.push_back(queues);
    open.pop_back();
  }
  blocks[number].barriers.assign(blocks[number].children.size() + 1, false);
}

void SyncAnalysis::collect(ArrayRef<bool> single) {
  std::set<std::tuple<unsigned, unsigned, unsigned, Queue, Queue, unsigned, unsigned>> seen;
  auto add = [&](SyncEdge edge) {
    if (seen.insert({edge.block, edge.source, edge.target, edge.from, edge.to, edge.distance,
                     edge.slots})
            .second)
      edges.push_back(edge);
  };
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      const Node &first = nodes[i], &second = nodes[j];
      if (first.queue == second.queue)
        continue;
      unsigned level = 0;
      while (first.path[level] == second.path[level])
        ++level;
      auto [block, source] = first.path[level];
      unsigned target = second.path[level].second, depth = blocks[block].depth;
      for (const BufferAccess &a : first.accesses)
        for (const BufferAccess &b : second.accesses) {
          if (!doConflict(a, b))
            continue;
          // An instruction of the scalar unit needs all queues to have finished, and delays all
          // that follow while it waits.
          if (second.queue == Queue::S)
            blocks[block].barriers[target] = true;
          if (first.queue == Queue::S && depth)
            blocks[block].barriers[source] = true;
          if (first.queue == Queue::S || second.queue == Queue::S)
            continue;
          unsigned distance = depth ? reuseDistance(a, b, depth) : 1;
          if (depth && first.path[0].second < single.size() && single[first.path[0].second])
            distance = 1;
          add({block, source, target, first.queue, second.queue, 0, distance});
          if (blocks[block].iterations > distance)
            add({block, target, source, second.queue, first.queue, distance, distance});
        }
    }
  found = edges.size();
}

/// Keeps, among the edges from one child to one queue, the nearest one, which implies the others;
/// likewise the latest of those that end at one child.
void SyncAnalysis::keepNearest() {
  for (bool byTarget : {false, true}) {
    std::map<std::tuple<unsigned, unsigned, Queue, Queue, unsigned>, size_t> nearest;
    std::vector<SyncEdge> kept;
    for (const SyncEdge &edge : edges) {
      auto [entry, isNew] = nearest.try_emplace(
          {edge.block, byTarget ? edge.target : edge.source, edge.from, edge.to, edge.distance},
          kept.size());
      if (isNew) {
        kept.push_back(edge);
        continue;
      }
      SyncEdge &known = kept[entry->second];
      bool nearer = byTarget ? edge.source > known.source : edge.target < known.target;
      bool same = edge.source == known.source && edge.target == known.target;
      if (nearer || (same && edge.slots < known.slots))
        known = edge;
    }
    edges = std::move(kept);
  }
}

//===----------------------------------------------------------------------===//
// Implied edges
//===----------------------------------------------------------------------===//

/// Returns whether there is a path from the source to the target that takes no more iterations:
/// along flags, and from each child to the next one on the same queue.
bool SyncAnalysis::isImplied(const SyncEdge &edge, bool byFlags) const {
  const SyncBlock &block = blocks[edge.block];
  unsigned children = block.children.size(), barriers = children * kQueues;
  std::vector<SmallVector<std::pair<unsigned, unsigned>, 4>> ways(barriers + children + 1);
  auto nodeOf = [](unsigned child, Queue queue) { return child * kQueues + unsigned(queue); };
  for (unsigned queue = 1; queue < kQueues; ++queue) {
    std::optional<unsigned> first, last;
    auto follow = [&](unsigned node) {
      if (last)
        ways[*last].push_back({node, 0});
      else
        first = node;
      last = node;
    };
    for (unsigned child = 0; child <= children; ++child) {
      if (block.barriers[child])
        follow(barriers + child);
      if (child < children && block.queues[child] >> queue & 1)
        follow(child * kQueues + queue);
    }
    if (first && block.depth)
      ways[*last].push_back({*first, 1});
  }
  if (byFlags)
    for (const SyncEdge &other : edges)
      if (&other != &edge && other.block == edge.block)
        ways[nodeOf(other.source, other.from)].push_back(
            {nodeOf(other.target, other.to), other.distance});

  unsigned from = nodeOf(edge.source, edge.from), to = nodeOf(edge.target, edge.to);
  std::vector<unsigned> reached(ways.size(), ~0u);
  using Entry = std::pair<unsigned, unsigned>; // iterations, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> next;
  reached[from] = 0;
  next.push({0, from});
  while (!next.empty()) {
    auto [distance, node] = next.top();
    next.pop();
    if (distance > reached[node])
      continue;
    if (node == to)
      return true;
    for (auto [target, more] : ways[node])
      if (distance + more <= edge.distance && distance + more < reached[target]) {
        reached[target] = distance + more;
        next.push({reached[target], target});
      }
  }
  return false;
}

unsigned SyncAnalysis::removeImplied() {
  // Edges with the largest span are the likeliest to be implied by shorter ones.
  auto key = [&](const SyncEdge &edge) {
    int64_t span = int64_t(edge.distance) * int64_t(blocks[edge.block].children.size()) +
                   int64_t(edge.target) - int64_t(edge.source);
    return std::tuple(-span, edge.block, edge.source, edge.from, edge.to, edge.slots);
  };
  llvm::sort(edges, [&](const SyncEdge &a, const SyncEdge &b) { return key(a) < key(b); });
  unsigned removed = 0;
  for (size_t i = 0; i < edges.size();) {
    if (!isImplied(edges[i], /*byFlags=*/true)) {
      ++i;
      continue;
    }
    edges.erase(edges.begin() + i);
    ++removed;
  }
  return removed;
}

unsigned SyncAnalysis::removeBehindBarriers() {
  size_t before = edges.size();
  llvm::erase_if(edges, [&](const SyncEdge &edge) { return isImplied(edge, /*byFlags=*/false); });
  return before - edges.size();
}

//===----------------------------------------------------------------------===//
// When ids do not suffice
//===----------------------------------------------------------------------===//

bool SyncAnalysis::mergeOne(unsigned nest, Queue from, Queue to) {
  std::optional<std::pair<size_t, size_t>> best;
  unsigned bestCost = ~0u;
  for (size_t i = 0; i < edges.size(); ++i)
    for (size_t j = i + 1; j < edges.size(); ++j) {
      const SyncEdge &a = edges[i], &b = edges[j];
      if (a.block != b.block || !blocks[a.block].depth || blocks[a.block].nest != nest ||
          a.from != from || a.to != to || b.from != from || b.to != to ||
          a.distance != b.distance || a.slots != b.slots)
        continue;
      unsigned source = std::max(a.source, b.source), target = std::min(a.target, b.target);
      if (!a.distance && source >= target)
        continue;
      unsigned cost =
          (source - a.source) + (source - b.source) + (a.target - target) + (b.target - target);
      if (cost < bestCost) {
        bestCost = cost;
        best = {i, j};
      }
    }
  if (!best)
    return false;
  SyncEdge &kept = edges[best->first];
  const SyncEdge &other = edges[best->second];
  kept.source = std::max(kept.source, other.source);
  kept.target = std::min(kept.target, other.target);
  edges.erase(edges.begin() + best->second);
  return true;
}

void SyncAnalysis::useBarriers(unsigned nest, Queue from, Queue to) {
  auto concerns = [&](const SyncEdge &edge) {
    return blocks[edge.block].depth && blocks[edge.block].nest == nest && edge.from == from &&
           edge.to == to;
  };
  std::map<unsigned, unsigned> ids;
  for (const SyncEdge &edge : edges)
    if (concerns(edge))
      ids[edge.block] += edge.slots;
  auto max = llvm::max_element(ids, llvm::less_second());
  if (max == ids.end())
    return;
  llvm::erase_if(edges, [&](const SyncEdge &edge) {
    if (edge.block != max->first || !concerns(edge))
      return false;
    SyncBlock &block = blocks[edge.block];
    block.barriers[edge.distance ? block.children.size() : edge.target] = true;
    return true;
  });
}

} // namespace atc::npu
