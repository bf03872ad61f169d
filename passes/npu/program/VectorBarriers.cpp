//===-- VectorBarriers.cpp - barriers of the vector queue -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/VectorBarriers.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Footprint.h"

#include <queue>

using namespace mlir;

namespace atc::npu {

namespace {

/// Runs of bytes up to which two operands are compared run by run.
constexpr int64_t kMaxRuns = 256;

/// An operand of a vector instruction, without the clamping of its ranges, which only makes it
/// smaller.
struct Operand {
  Box box;                ///< with all ivs 0
  const Address *address; ///< null where the buffer has no offset yet
  Value buffer;
  int64_t low = 0, high = 0; ///< the bytes of the box
};

struct VectorInstruction {
  const SyncAnalysis::Node *node;
  SmallVector<Operand, 4> operands;
  SmallVector<int64_t, kMaxLoops> trips; ///< of the loops around it, from outside
};

/// Selects barriers block by block, the innermost first.
class Selection {
public:
  Selection(ir::ProgramOp program, const SyncAnalysis &analysis, ArrayRef<unsigned> meetings)
      : analysis(analysis) {
    for (const SyncBlock &block : analysis.blocks) {
      selected.emplace_back(block.children.size() + 1, false);
      all.push_back(block.barriers);
    }
    for (unsigned child : meetings)
      if (child)
        all[0][child] = true;
    for (auto [number, block] : llvm::enumerate(analysis.blocks))
      numberOf[block.block] = number;
    encode(program);
    for (const SyncAnalysis::Node &node : analysis.nodes)
      if (node.queue == Queue::V)
        add(node);
  }

  std::vector<std::vector<bool>> run() {
    SmallVector<unsigned> order(analysis.blocks.size());
    for (unsigned i = 0; i < order.size(); ++i)
      order[i] = i;
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return analysis.blocks[a].depth > analysis.blocks[b].depth;
    });
    for (unsigned block : order) {
      for (size_t later = 0; later < instructions.size(); ++later)
        for (size_t earlier = later; earlier-- > 0;)
          orderForward(instructions[earlier], instructions[later], block);
      if (analysis.blocks[block].depth)
        for (const VectorInstruction &earlier : instructions)
          for (const VectorInstruction &later : instructions)
            orderBackward(earlier, later, block);
    }
    return std::move(selected);
  }

private:
  using Path = ArrayRef<std::pair<unsigned, unsigned>>;

  /// Encodes the program, for the bytes of operands, if all buffers have offsets.
  void encode(ir::ProgramOp program) {
    bool isPlaced = true;
    program.walk([&](ir::AllocOp alloc) { isPlaced &= alloc.getOffset().has_value(); });
    if (!isPlaced)
      return;
    FailureOr<Program> result = encodeProgram(program);
    if (failed(result))
      return;
    encoded = std::move(*result);
    size_t next = 0;
    number(*program.getBody(), next);
    assert(next == encoded.code.size() && "instructions are in the order of their ops");
  }
  void number(Block &block, size_t &next) {
    for (Operation &op : block) {
      if (isa<ir::AllocOp>(op))
        continue;
      indexOf[&op] = next++;
      if (auto loop = dyn_cast<ir::LoopOp>(op)) {
        number(*loop.getBody(), next);
        ++next;
      }
    }
  }

  void add(const SyncAnalysis::Node &node) {
    VectorInstruction &added = instructions.emplace_back();
    added.node = &node;
    for (auto loop = node.op->getParentOfType<ir::LoopOp>(); loop;
         loop = loop->getParentOfType<ir::LoopOp>())
      added.trips.insert(added.trips.begin(), int64_t(loop.getTrips()));
    auto index = indexOf.find(node.op);
    if (index == indexOf.end()) {
      for (const BufferAccess &access : node.accesses) {
        Operand &operand = added.operands.emplace_back();
        operand.box.read = !access.written;
        operand.box.written = access.written;
        operand.address = nullptr;
        operand.buffer = access.buffer;
      }
      return;
    }
    const Instruction &instruction = encoded.code[index->second];
    Instruction whole = instruction;
    for (Range &range : whole.ranges)
      range = {Affine(), range.length, INT64_MAX};
    Box boxes[4];
    for (unsigned i = 0, count = boxesOf(whole, Frame(), boxes); i < count; ++i)
      added.operands.push_back({boxes[i], &instruction.addresses[boxes[i].address], Value(),
                                boxes[i].begin(), boxes[i].end()});
  }

  /// Returns whether a range of bytes of `b` overlaps one of `a`, where the iterations of the first
  /// `common` loops are the same, except for loop `carrier` (-1: none), which is any number of
  /// iterations further for `b`. The other loops are in any iteration.
  static bool overlap(const VectorInstruction &first, const Operand &a,
                      const VectorInstruction &second, const Operand &b, unsigned common,
                      int carrier) {
    if (!a.address) {
      BufferAccess x{a.buffer, a.box.written}, y{b.buffer, b.box.written};
      return doConflict(x, y);
    }
    if (a.box.memory != b.box.memory)
      return false;
    const int64_t *s = a.address->offset.strides, *t = b.address->offset.strides;
    // Copies of a buffer rotate together, or are taken as a whole.
    int64_t rotationA = 0, rotationB = 0;
    if (a.address->slots > 1 || b.address->slots > 1) {
      const bool isSame = a.address->slots == b.address->slots &&
                          a.address->slotBytes == b.address->slotBytes &&
                          a.address->depth == b.address->depth && a.address->depth <= common;
      if (!isSame) {
        rotationA = (a.address->slots - 1) * a.address->slotBytes;
        rotationB = (b.address->slots - 1) * b.address->slotBytes;
      }
    }
    int64_t lowA = a.low, highA = a.high + rotationA, lowB = b.low, highB = b.high + rotationB;
    bool isExact = !rotationA && !rotationB;
    auto widen = [&](int64_t stride, int64_t trips, int64_t &low, int64_t &high) {
      const int64_t reach = stride * (trips - 1);
      isExact &= reach == 0;
      (reach < 0 ? low : high) += reach;
    };
    for (unsigned dim = 0; dim < kGridDims; ++dim)
      if (s[dim] != t[dim])
        return true;
    int64_t step = 0, steps = 0;
    for (unsigned loop = 0; loop < std::max(first.trips.size(), second.trips.size()); ++loop) {
      const unsigned iv = kGridDims + loop;
      if (loop < common && s[iv] == t[iv] && (carrier < 0 || int(loop) <= carrier)) {
        if (int(loop) == carrier) {
          step = t[iv];
          steps = second.trips[loop] - 1;
        }
        continue;
      }
      if (loop < first.trips.size())
        widen(s[iv], first.trips[loop], lowA, highA);
      if (loop < second.trips.size())
        widen(t[iv], second.trips[loop], lowB, highB);
    }
    if (carrier < 0 || step == 0)
      return lowA < highB && lowB < highA && !(isExact && apart(a.box, b.box));
    for (int64_t i = 1; i <= steps; ++i) {
      if (lowA < highB + i * step && lowB + i * step < highA)
        return true;
      if (step > 0 ? lowB + i * step >= highA : highB + i * step <= lowA)
        return false;
    }
    return false;
  }

  /// Returns whether two boxes whose bytes interleave have none in common.
  static bool apart(const Box &a, const Box &b) {
    auto runsOf = [](const Box &box) { return box.count[0] * box.count[1] * box.count[2]; };
    if (runsOf(a) > kMaxRuns || runsOf(b) > kMaxRuns)
      return false;
    auto beginsOf = [](const Box &box) {
      SmallVector<int64_t, 64> begins;
      for (int64_t i = 0; i < box.count[0]; ++i)
        for (int64_t j = 0; j < box.count[1]; ++j)
          for (int64_t k = 0; k < box.count[2]; ++k)
            begins.push_back(box.base + i * box.stride[0] + j * box.stride[1] + k * box.stride[2]);
      llvm::sort(begins);
      return begins;
    };
    SmallVector<int64_t, 64> first = beginsOf(a), second = beginsOf(b);
    for (size_t i = 0, j = 0; i < first.size() && j < second.size();) {
      if (first[i] < second[j] + b.bytes && second[j] < first[i] + a.bytes)
        return false;
      first[i] < second[j] ? ++i : ++j;
    }
    return true;
  }

  static bool depends(const VectorInstruction &first, const VectorInstruction &second,
                      unsigned common, int carrier) {
    for (const Operand &a : first.operands)
      for (const Operand &b : second.operands)
        if ((a.box.written || b.box.written) && overlap(first, a, second, b, common, carrier))
          return true;
    return false;
  }

  /// Returns the number of blocks that both instructions are in: the level of the first child
  /// that is not common.
  static unsigned levelOf(Path a, Path b) {
    unsigned level = 0;
    while (a[level] == b[level])
      ++level;
    return level;
  }

  void orderForward(const VectorInstruction &earlier, const VectorInstruction &later,
                    unsigned block) {
    Path from = earlier.node->path, to = later.node->path;
    const unsigned level = levelOf(from, to);
    if (from[level].first != block)
      return;
    const unsigned source = from[level].second, target = to[level].second;
    if (hasBarrier(block, source + 1, target) || isCoveredInside(from, to, level + 1) ||
        !depends(earlier, later, level, /*carrier=*/-1) ||
        isOrderedByFlags(block, source, target, 0))
      return;
    select(block, target);
  }

  /// Orders later iterations of the loop whose body is `block`.
  void orderBackward(const VectorInstruction &earlier, const VectorInstruction &later,
                     unsigned block) {
    Path from = earlier.node->path, to = later.node->path;
    const unsigned level = analysis.blocks[block].depth;
    if (level >= from.size() || level >= to.size() || from[level].first != block ||
        to[level].first != block)
      return;
    if (earlier.trips[level - 1] < 2 || isCoveredInside(from, to, level) ||
        !depends(earlier, later, level, int(level) - 1))
      return;
    // Flags of the innermost block order all later iterations, those of outer loops too.
    unsigned inner = level;
    while (inner + 1 < from.size() && inner + 1 < to.size() && from[inner] == to[inner])
      ++inner;
    const unsigned depth = analysis.blocks[from[inner].first].depth;
    if (isOrderedByFlags(from[inner].first, from[inner].second, to[inner].second,
                         distanceOf(earlier, later, depth)))
      return;
    select(block, to[level].second);
  }

  /// Returns the minimum number of iterations of the innermost common block between uses of the
  /// same bytes.
  static unsigned distanceOf(const VectorInstruction &a, const VectorInstruction &b,
                             unsigned depth) {
    unsigned distance = kFlagIds;
    for (const BufferAccess &x : a.node->accesses)
      for (const BufferAccess &y : b.node->accesses)
        if (doConflict(x, y))
          distance = std::min(distance, reuseDistance(x, y, depth));
    return distance;
  }

  void select(unsigned block, unsigned child) { selected[block][child] = all[block][child] = true; }

  /// Returns whether there is a barrier before one of the children [first, last], or in a loop
  /// among the children [first, last).
  bool hasBarrier(unsigned block, unsigned first, unsigned last) const {
    for (unsigned child = first; child <= last; ++child)
      if (all[block][child] || (child < last && containsBarrier(block, child)))
        return true;
    return false;
  }
  bool containsBarrier(unsigned block, unsigned child) const {
    auto loop = dyn_cast<ir::LoopOp>(analysis.blocks[block].children[child]);
    if (!loop)
      return false;
    const unsigned body = numberOf.lookup(loop.getBody());
    return hasBarrier(body, 0, analysis.blocks[body].children.size());
  }

  /// Returns whether, in the blocks from `level` on, a barrier stands behind the source or before
  /// the target.
  bool isCoveredInside(Path from, Path to, unsigned level) const {
    for (unsigned i = level; i < from.size(); ++i)
      if (hasBarrier(from[i].first, from[i].second + 1,
                     analysis.blocks[from[i].first].children.size()))
        return true;
    for (unsigned i = level; i < to.size(); ++i)
      if (hasBarrier(to[i].first, 0, to[i].second))
        return true;
    return false;
  }

  /// Returns whether flags order the vector instruction of child `target`, `distance` iterations
  /// later, behind the end of that of child `source`: by a path that leaves the vector queue and
  /// comes back.
  bool isOrderedByFlags(unsigned number, unsigned source, unsigned target,
                        unsigned distance) const {
    const SyncBlock &block = analysis.blocks[number];
    const unsigned children = block.children.size();
    auto nodeOf = [](unsigned child, Queue queue) { return child * kQueues + unsigned(queue); };
    std::vector<SmallVector<std::pair<unsigned, unsigned>, 4>> along(children * kQueues),
        across(children * kQueues);
    for (unsigned queue = 1; queue < kQueues; ++queue) {
      std::optional<unsigned> first, last;
      for (unsigned child = 0; child < children; ++child) {
        if (!(block.queues[child] >> queue & 1))
          continue;
        const unsigned node = nodeOf(child, Queue(queue));
        if (last)
          along[*last].push_back({node, 0});
        else
          first = node;
        last = node;
      }
      if (first && block.depth)
        along[*last].push_back({*first, 1});
    }
    for (const SyncEdge &edge : analysis.edges)
      if (edge.block == number)
        across[nodeOf(edge.source, edge.from)].push_back(
            {nodeOf(edge.target, edge.to), edge.distance});
    // The state is a node, and whether the path has left the vector queue.
    using Entry = std::pair<unsigned, unsigned>; // iterations, state
    std::vector<unsigned> reached(2 * along.size(), ~0u);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> next;
    const unsigned goal = 2 * nodeOf(target, Queue::V) + 1;
    auto reach = [&](unsigned state, unsigned iterations) {
      if (iterations > distance || iterations >= reached[state])
        return;
      reached[state] = iterations;
      next.push({iterations, state});
    };
    reach(2 * nodeOf(source, Queue::V), 0);
    while (!next.empty()) {
      auto [iterations, state] = next.top();
      next.pop();
      if (state == goal)
        return true;
      if (iterations > reached[state])
        continue;
      for (auto [node, more] : along[state / 2])
        reach(2 * node + state % 2, iterations + more);
      for (auto [node, more] : across[state / 2])
        reach(2 * node + 1, iterations + more);
    }
    return false;
  }

  const SyncAnalysis &analysis;
  Program encoded;
  DenseMap<Operation *, size_t> indexOf;
  DenseMap<Block *, unsigned> numberOf;
  std::vector<VectorInstruction> instructions;
  std::vector<std::vector<bool>> selected, all; ///< `all` has those of all queues too
};

} // namespace

std::vector<std::vector<bool>> vectorBarriersOf(ir::ProgramOp program, const SyncAnalysis &analysis,
                                                ArrayRef<unsigned> meetings) {
  return Selection(program, analysis, meetings).run();
}

} // namespace atc::npu
