//===-- JoinedProgram.cpp - several programs as one -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/JoinedProgram.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Verify.h"
#include "npu/soc/Limits.h"
#include "passes/npu/program/IvRewriter.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/program/QueueUse.h"
#include "passes/npu/program/SyncAnalysis.h"

#include <numeric>

using namespace mlir;

namespace atc::npu {

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static GridSizes filledUp(ArrayRef<int64_t> grid) {
  GridSizes sizes;
  sizes.fill(1);
  llvm::copy(grid, sizes.begin());
  return sizes;
}

static int64_t coresOf(const GridSizes &grid) {
  return std::accumulate(grid.begin(), grid.end(), int64_t(1), std::multiplies<>());
}

/// Assigns each dim of `common` to the dim of the part's grid that it is a factor of; nothing where
/// there is no such assignment. Dims of 1 go anywhere. At most one dim grows: the move that is
/// empty beyond one dim is not where another one has changed its range, and what both reach
/// together was not verified.
static std::optional<std::array<unsigned, kGridDims>> assign(const GridSizes &common,
                                                             const ProgramPart &part) {
  const GridSizes grid = filledUp(ir::ProgramOp(part.program).getGrid());
  unsigned count = 1;
  for (unsigned i = 0; i < kGridDims; ++i)
    count *= kGridDims;
  for (unsigned number = 0; number < count; ++number) {
    GridSizes product = filledUp({});
    std::array<unsigned, kGridDims> owners;
    unsigned rest = number;
    for (unsigned i = 0; i < kGridDims; ++i, rest /= kGridDims) {
      owners[i] = rest % kGridDims;
      product[owners[i]] *= common[i];
    }
    bool fits = true;
    unsigned grown = 0;
    for (unsigned dim = 0; dim < kGridDims; ++dim) {
      grown += product[dim] > grid[dim];
      fits &= product[dim] == grid[dim] || (product[dim] > grid[dim] && part.grows[dim]);
    }
    if (fits && grown <= 1)
      return owners;
  }
  return std::nullopt;
}

CommonGrid::CommonGrid(int64_t cores) {
  for (int64_t x = 1; x <= cores; ++x)
    for (int64_t y = 1; y <= x && x * y <= cores; ++y)
      for (int64_t z = 1; z <= y && x * y * z <= cores; ++z)
        possible.push_back({x, y, z});
  // Fewer dims make shorter instructions.
  llvm::stable_sort(possible, [](const GridSizes &a, const GridSizes &b) {
    auto dims = [](const GridSizes &grid) { return grid.size() - size_t(llvm::count(grid, 1)); };
    return std::pair(coresOf(a), dims(a)) < std::pair(coresOf(b), dims(b));
  });
}

bool CommonGrid::add(const ProgramPart &part) {
  std::vector<GridSizes> left;
  llvm::copy_if(possible, std::back_inserter(left),
                [&](const GridSizes &common) { return assign(common, part).has_value(); });
  if (left.empty())
    return false;
  possible = std::move(left);
  return true;
}

/// Returns a grid without dims of 1.
static SmallVector<int64_t> shortened(const GridSizes &grid) {
  SmallVector<int64_t> sizes;
  llvm::copy_if(grid, std::back_inserter(sizes), [](int64_t size) { return size > 1; });
  if (sizes.empty())
    sizes.push_back(1);
  return sizes;
}

SmallVector<int64_t> CommonGrid::sizes() const { return shortened(possible.front()); }

/// Returns whether an instruction does nothing where the coordinate that is iv `number` of it is
/// `from` or more, whatever the others are.
static bool isEmptyFrom(const ir::InstructionParts &parts, size_t number, int64_t from) {
  return llvm::any_of(parts.ranges, [&](ir::RangeAttr range) {
    ir::AffineAttr start = range.getStart();
    if (!start || start.getStrides().empty() || start.getStrides()[number] <= 0 ||
        llvm::any_of(start.getStrides(), [](int64_t stride) { return stride < 0; }))
      return false;
    return start.getBase() + start.getStrides()[number] * from >= range.getLimit();
  });
}

/// Returns the values of an iv: as many as its loop has trips or its dim of the grid has cores.
static int64_t countOf(Value iv) {
  auto argument = cast<BlockArgument>(iv);
  if (auto loop = dyn_cast<ir::LoopOp>(argument.getOwner()->getParentOp()))
    return int64_t(loop.getTrips());
  auto program = cast<ir::ProgramOp>(argument.getOwner()->getParentOp());
  return program.getGrid()[size_t(llvm::find(program.getCoordinates(), iv) -
                                  program.getCoordinates().begin())];
}

/// Returns what makes a move empty where the coordinate that is iv `number` of it is `size` or
/// more, and leaves it as it is elsewhere: the name of a range that nothing clamps, and that range
/// with positions that go on from one core to the next.
static std::optional<NamedAttribute> emptiedFrom(ir::MoveOp move, size_t number, int64_t size) {
  const ValueRange ivs = ir::InstructionOpInterface(move).getParts().ivs;
  for (NamedAttribute attribute : move->getAttrs()) {
    auto range = dyn_cast<ir::RangeAttr>(attribute.getValue());
    if (!range)
      continue;
    SmallVector<int64_t> strides(ivs.size(), 0);
    int64_t base = 0;
    if (ir::AffineAttr start = range.getStart()) {
      base = start.getBase();
      if (!start.getStrides().empty())
        strides.assign(start.getStrides().begin(), start.getStrides().end());
    }
    int64_t min = base, max = base;
    for (auto [iv, stride] : llvm::zip_equal(ivs, strides))
      (stride < 0 ? min : max) += stride * (countOf(iv) - 1);
    const int64_t all = max + range.getLength();
    if (min < 0 || all > range.getLimit() || all > INT64_MAX / (2 * size))
      continue;
    strides[number] += all;
    MLIRContext *context = move.getContext();
    return NamedAttribute(attribute.getName(),
                          ir::RangeAttr::get(context, range.getLength(),
                                             ir::AffineAttr::get(context, base, strides),
                                             all * size));
  }
  return std::nullopt;
}

/// Lets the cores beyond `size` of a coordinate write nothing in gm; where `changes` is not set,
/// only returns whether that is possible. Moves that depend on the coordinate become empty, those
/// of reads as far as possible. What else the cores read, such as the rows of an image around a
/// part that is empty, changes nothing.
static bool makeIdleBeyond(ir::ProgramOp program, Value coordinate, int64_t size, bool changes) {
  return !program
              .walk([&](ir::InstructionOpInterface op) {
                bool reaches = false, writes = false;
                for (const BufferAccess &access : accessesOf(op))
                  if (access.buffer && isa<BlockArgument>(access.buffer)) {
                    reaches = true;
                    writes |= access.written;
                  }
                const ir::InstructionParts parts = op.getParts();
                const auto number = size_t(llvm::find(parts.ivs, coordinate) - parts.ivs.begin());
                if (!reaches || (number < parts.ivs.size() && isEmptyFrom(parts, number, size)))
                  return WalkResult::advance();
                auto move = dyn_cast<ir::MoveOp>(*op);
                std::optional<NamedAttribute> emptied;
                if (move && number < parts.ivs.size())
                  emptied = emptiedFrom(move, number, size);
                if (emptied && changes)
                  op->setAttr(emptied->getName(), emptied->getValue());
                return emptied || !writes ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

void findGrowth(ProgramPart &part, int64_t cores) {
  ir::ProgramOp program = part.program;
  const GridSizes grid = filledUp(program.getGrid());
  part.grows.fill(false);
  SmallVector<JoinedBuffer> buffers;
  ProgramPart alone;
  alone.program = program;
  for (BlockArgument buffer : program.getBuffers()) {
    alone.buffers.push_back(unsigned(buffers.size()));
    buffers.push_back({buffer.getType()});
  }
  for (auto [dim, coordinate] : llvm::enumerate(program.getCoordinates())) {
    GridSizes larger = grid;
    larger[dim] = cores / (coresOf(grid) / grid[dim]);
    if (larger[dim] <= grid[dim] ||
        !makeIdleBeyond(program, coordinate, grid[dim], /*changes=*/false))
      continue;
    alone.grows.fill(false);
    alone.grows[dim] = true;
    OwningOpRef<ir::ProgramOp> trial(joinPrograms(alone, shortened(larger), buffers));
    FailureOr<Program> encoded = encodeProgram(*trial);
    part.grows[dim] = succeeded(encoded) && verify(*encoded, socOf(program)).empty();
  }
}

namespace {

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Appends programs to one.
class Joiner {
public:
  Joiner(ArrayRef<ProgramPart> parts, ArrayRef<int64_t> grid, ArrayRef<JoinedBuffer> buffers,
         OtherSection other)
      : buffers(buffers), grid(grid), soc(socOf(parts.back().program)), other(other) {
    ir::ProgramOp last = parts.back().program;
    OpBuilder b(last);
    joined =
        ir::ProgramOp::create(b, last.getLoc(), last.getSymNameAttr(), b.getDenseI64ArrayAttr(grid),
                              last.getSocAttr(), last.getVectorCoreAttr(), FlatSymbolRefAttr());
    Block *body = b.createBlock(&joined.getBodyRegion());
    for (const JoinedBuffer &buffer : buffers)
      body->addArgument(buffer.type, last.getLoc());
    for (size_t i = 0; i < grid.size(); ++i)
      body->addArgument(b.getIndexType(), last.getLoc());
    for (int64_t size : grid)
      cores *= size;
  }

  ir::ProgramOp run(ArrayRef<ProgramPart> parts) {
    Block *body = joined.getBody();
    for (const ProgramPart &part : parts) {
      awaited.clear();
      for (const PartWait &wait : part.waits)
        awaited.push_back({wait, int64_t(wait.parts) * (wait.crosses ? other.cores : cores)});
      const QueueUse own(part.program);
      meetsByFlags = followsLast = false;
      if (&part != parts.begin()) {
        meetsByFlags = own.has(Queue::MTE1) && own.has(Queue::MTE2) && !own.usesMeetingId &&
                       !last.usesMeetingId && !last.sharesL1;
        const PartWait forLast{event, ++signaled[event]};
        followsLast = llvm::is_contained(part.waits, forLast);
        // The queues that fill other memories than l1 know only from the signals of all cores that
        // their own one is done.
        if (meetsByFlags && !followsLast && own.loadsOthers) {
          awaited.push_back({forLast, int64_t(forLast.parts) * cores});
          followsLast = true;
        }
        if (meetsByFlags)
          signalByFlags(own);
        else
          signal();
      }
      last = own;
      event = part.event;
      OpBuilder b = OpBuilder::atBlockEnd(body);
      ir::LayerOp::create(b, joined.getLoc(), part.name, ir::ProgramOp(part.program).getSymName(),
                          part.position, part.macs);
      if (meetsByFlags && !followsLast)
        for (Queue queue : kAfterStores)
          if (own.has(queue) && queue != stores())
            flag<ir::WaitFlagOp>(body->end(), stores(), queue);
      // Nothing is written before all that the part waits for is done.
      await(Queue::MTE3, body, body->end());
      if (hasFix())
        await(Queue::FIX, body, body->end());
      if (meetsByFlags && followsLast)
        for (Queue queue : {Queue::M, Queue::V})
          if (own.has(queue))
            await(queue, body, body->end(), /*others=*/false);
      Operation *before = body->empty() ? nullptr : &body->back();
      append(part);
      begin = before ? std::next(Block::iterator(before)) : body->begin();
      if (meetsByFlags)
        awaitOnMte1();
      if (!awaitLoads(begin))
        // The signal of the next part's begin must come behind this one.
        await(Queue::MTE2, body, body->end());
      // MTE2 may tell the stores again that it is done once they know of the last time.
      if (meetsByFlags && !followsLast)
        flag<ir::WaitFlagOp>(body->end(), stores(), Queue::MTE2);
    }
    if (other.waitsForLast)
      signal();
    return joined;
  }

private:
  /// The queues, besides MTE1 and MTE2, that a part may use before its core has stored the results
  /// of the last one.
  static constexpr Queue kAfterStores[] = {Queue::M, Queue::V, Queue::MTE3, Queue::FIX};

  bool hasFix() { return soc.split && !joined.getVectorCore(); }
  Queue stores() { return hasFix() ? Queue::FIX : Queue::MTE3; }

  /// Ends a part: each core tells the others that it is done.
  void signal() {
    OpBuilder b = OpBuilder::atBlockEnd(joined.getBody());
    ir::PipeBarrierOp::create(b, joined.getLoc(), ir::QueueKind::S);
    ir::SignalOp::create(b, joined.getLoc(), ir::QueueKind::MTE2, event);
  }

  /// Does the same without a barrier, so that MTE2 can load weights of the next part into l1 once
  /// MTE1 has read the last operands of this one, while the cube and the stores still work: the
  /// queue that stores signals when all other queues have told it that they are done. All queues of
  /// the `next` part wait for the signals, or where they do not wait for this part on other cores,
  /// for flags of that queue. Only MTE1 and MTE2 tell each other that they are done with l1 and
  /// with the flags between them.
  void signalByFlags(const QueueUse &next) {
    Block *body = joined.getBody();
    // What MTE1 waits for at the end, such as the cube's last steps, does not concern l1.
    Block::iterator lastUse = body->end();
    while (lastUse != begin && !usesL1(&*std::prev(lastUse)))
      --lastUse;
    flag<ir::SetFlagOp>(lastUse, Queue::MTE1, Queue::MTE2);
    for (unsigned number = 0; number < kQueues; ++number)
      if (const Queue queue = Queue(number);
          last.has(queue) && queue != Queue::S && queue != stores()) {
        flag<ir::SetFlagOp>(body->end(), queue, stores());
        flag<ir::WaitFlagOp>(body->end(), queue, stores());
      }
    OpBuilder b = OpBuilder::atBlockEnd(body);
    ir::SignalOp::create(b, joined.getLoc(), ir::QueueKind(stores()), event);
    if (!followsLast) {
      for (Queue queue : kAfterStores)
        if (next.has(queue) && queue != stores())
          flag<ir::SetFlagOp>(body->end(), stores(), queue);
      for (Queue queue : {Queue::MTE1, Queue::MTE2})
        flag<ir::SetFlagOp>(body->end(), stores(), queue);
    }
    flag<ir::WaitFlagOp>(body->end(), Queue::MTE1, Queue::MTE2);
    flag<ir::SetFlagOp>(body->end(), Queue::MTE2, Queue::MTE1);
    flag<ir::WaitFlagOp>(body->end(), Queue::MTE2, Queue::MTE1);
  }

  template <typename OpT> void flag(Block::iterator point, Queue from, Queue to) {
    OpBuilder b(joined.getBody(), point);
    OpT::create(b, joined.getLoc(), ir::QueueKind(from), ir::QueueKind(to), kMeetingId, 1, 0);
  }

  /// Returns whether MTE1 does more in a child of the program than to wait for other queues than
  /// MTE2.
  static bool usesL1(Operation *op) {
    return op
        ->walk([](ir::InstructionOpInterface inner) {
          auto wait = dyn_cast<ir::WaitFlagOp>(*inner);
          return queueOf(inner) == Queue::MTE1 && (!wait || wait.getFrom() == ir::QueueKind::MTE2)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Lets MTE1 wait for the signals, or for its own core's stores, in front of the first child of
  /// the part in which it does more than to tell MTE2 that buffers in l1 are free.
  void awaitOnMte1() {
    Block *body = joined.getBody();
    auto does = [](ir::InstructionOpInterface op) {
      return queueOf(op) == Queue::MTE1 && !QueueUse::isFlagFrom<ir::SetFlagOp>(op, Queue::MTE1)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    auto first = std::find_if(begin, body->end(),
                              [&](Operation &op) { return op.walk(does).wasInterrupted(); });
    if (followsLast)
      await(Queue::MTE1, body, first, /*others=*/false);
    else
      flag<ir::WaitFlagOp>(first, stores(), Queue::MTE1);
  }

  /// Lets a queue wait for all that the part waits for, without `others` only for the cores of this
  /// section.
  void await(Queue queue, Block *block, Block::iterator point, bool others = true) {
    OpBuilder b(block, point);
    for (auto [wait, count] : awaited) {
      if (!others && wait.crosses)
        continue;
      auto value = ir::RangeAttr::get(b.getContext(), 1,
                                      ir::AffineAttr::get(b.getContext(), count, {}), INT64_MAX);
      ir::AwaitOp::create(b, joined.getLoc(), ValueRange(), value, ir::QueueKind(queue),
                          wait.event);
    }
  }

  void append(const ProgramPart &part) {
    ir::ProgramOp copy = ir::ProgramOp(part.program).clone();
    OwningOpRef<ir::ProgramOp> owner(copy);
    const std::array<unsigned, kGridDims> owners = *assign(filledUp(grid), part);
    IvRewriter ivs;
    for (auto [dim, coordinate] : llvm::enumerate(copy.getCoordinates())) {
      IvRewriter::Terms terms;
      int64_t factor = 1;
      for (size_t i = 0; i < grid.size(); ++i)
        if (owners[i] == dim) {
          terms.push_back({joined.getCoordinates()[i], factor});
          factor *= grid[i];
        }
      if (const int64_t size = copy.getGrid()[dim]; factor > size)
        makeIdleBeyond(copy, coordinate, size, /*changes=*/true);
      ivs.replace(coordinate, std::move(terms));
    }
    ivs.run(copy);
    for (auto [buffer, index] : llvm::zip_equal(copy.getBuffers(), part.buffers))
      BlockArgument(buffer).replaceAllUsesWith(joined.getBuffers()[index]);
    joined.getBody()->getOperations().splice(joined.getBody()->end(),
                                             copy.getBody()->getOperations());
  }

  static bool isLoad(Operation *op) {
    return isa<ir::InstructionOpInterface>(op) &&
           !isa<ir::SetFlagOp, ir::WaitFlagOp, ir::PipeBarrierOp>(op) && queueOf(op) == Queue::MTE2;
  }

  /// Returns whether an op is or contains one on the queue for loads for which `wanted` holds.
  static bool containsLoad(Operation *op, function_ref<bool(Operation *)> wanted) {
    return op
        ->walk([&](ir::InstructionOpInterface inner) {
          return queueOf(inner) == Queue::MTE2 && wanted(inner) ? WalkResult::interrupt()
                                                                : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Returns whether an op on the queue for loads must wait for the signals: a load of what a part
  /// may have written, and where queues meet by flags, what others than MTE1 may still use.
  bool mustWaitOnQueue(Operation *op) {
    if (isLoad(op))
      return mustWait(op) || (meetsByFlags && !QueueUse::fillsL1(op));
    return meetsByFlags && !QueueUse::isBetweenMte1And2(op);
  }

  /// Returns whether a load reads what a part may have written.
  bool mustWait(Operation *load) {
    return llvm::any_of(load->getOperands(), [&](Value operand) {
      auto buffer = dyn_cast<BlockArgument>(operand);
      return buffer && buffer.getOwner() == joined.getBody() &&
             buffer.getArgNumber() < buffers.size() && !buffers[buffer.getArgNumber()].constant;
    });
  }

  /// Moves loads of constant buffers in front of the load `first` of the same block that must wait,
  /// as far as nothing between them on the queue for loads orders them: weights of a tile arrive
  /// while the cores wait for each other.
  void loadConstantsBefore(Operation *first) {
    SmallVector<Operation *> passed{first};
    for (Operation *op = first->getNextNode(), *next; op; op = next) {
      next = op->getNextNode();
      auto stops = [&](ir::InstructionOpInterface inner) {
        const bool orders = inner.getOperation() != op ? isOnQueueOfLoads(inner) : ordersLoads(op);
        return orders ? WalkResult::interrupt() : WalkResult::advance();
      };
      if (op->walk(stops).wasInterrupted())
        return;
      if (!isLoad(op))
        continue;
      auto conflicts = [&](const BufferAccess &access) {
        return llvm::any_of(passed, [&](Operation *other) {
          return llvm::any_of(accessesOf(other),
                              [&](const BufferAccess &its) { return doConflict(access, its); });
        });
      };
      if (mustWaitOnQueue(op) || llvm::any_of(accessesOf(op), conflicts)) {
        passed.push_back(op);
        continue;
      }
      for (Value operand : op->getOperands())
        if (Operation *alloc = operand.getDefiningOp();
            alloc && alloc->getBlock() == first->getBlock() && first->isBeforeInBlock(alloc))
          alloc->moveBefore(first);
      op->moveBefore(first);
    }
  }

  /// Returns whether an op belongs to the queue for loads or to the scalar unit, which hands all
  /// queues their instructions.
  static bool isOnQueueOfLoads(Operation *op) {
    const std::optional<Queue> queue = queueOf(op);
    return queue == Queue::MTE2 || queue == Queue::S;
  }

  /// Returns whether such an op is no load.
  static bool ordersLoads(Operation *op) { return isOnQueueOfLoads(op) && !isLoad(op); }

  /// Lets the queue for loads wait in front of the first load from `from` on that must: inside of
  /// loops in which other loads come before it. Returns whether there is one.
  bool awaitLoads(Block::iterator from) {
    Block *block = joined.getBody();
    auto waits = [&](Operation *op) { return mustWaitOnQueue(op); };
    for (;;) {
      auto first =
          std::find_if(from, block->end(), [&](Operation &op) { return containsLoad(&op, waits); });
      if (first == block->end())
        return false;
      if (isLoad(&*first))
        loadConstantsBefore(&*first);
      auto loop = dyn_cast<ir::LoopOp>(*first);
      bool loadsBefore = false;
      if (loop) {
        Block::iterator inner = loop.getBody()->begin();
        while (!containsLoad(&*inner, waits))
          ++inner;
        if (isLoad(&*inner))
          loadConstantsBefore(&*inner);
        loadsBefore = std::any_of(loop.getBody()->begin(), inner,
                                  [&](Operation &op) { return containsLoad(&op, isLoad); });
      }
      if (!loadsBefore) {
        await(Queue::MTE2, block, first);
        return true;
      }
      block = loop.getBody();
      from = block->begin();
    }
  }

  ArrayRef<JoinedBuffer> buffers;
  ir::ProgramOp joined;
  SmallVector<int64_t> grid;
  SocTable soc;
  OtherSection other;
  SmallVector<std::pair<PartWait, int64_t>, 3> awaited; ///< with signals, of the present part
  bool meetsByFlags = false;                            ///< ... begins without a barrier
  bool followsLast = false;                             ///< ... waits for the part before
  Block::iterator begin;                                ///< ... begins here
  QueueUse last;                                        ///< of the part before the present one
  unsigned event = 0;                                   ///< ... is signaled
  std::array<unsigned, kEvents> signaled = {};          ///< the parts so far, by their event
  int64_t cores = 1;
};

} // namespace

bool isJoinable(ir::ProgramOp program) {
  return !program
              .walk([&](Operation *op) {
                if (isa<ir::SignalOp, ir::AwaitOp>(op))
                  return WalkResult::interrupt();
                auto instruction = dyn_cast<ir::InstructionOpInterface>(op);
                if (!instruction)
                  return WalkResult::advance();
                const ir::InstructionParts parts = instruction.getParts();
                const bool byCoordinate =
                    parts.guard && llvm::is_contained(program.getCoordinates(),
                                                      parts.ivs[size_t(parts.guard.getIv())]);
                return byCoordinate ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

bool isPossibleSize(size_t instructions, size_t buffers) {
  return instructions <= size_t(Limits::MaxInstructions) && buffers <= size_t(Limits::MaxArguments);
}

ir::ProgramOp joinPrograms(ArrayRef<ProgramPart> parts, ArrayRef<int64_t> grid,
                           ArrayRef<JoinedBuffer> buffers, OtherSection other) {
  return Joiner(parts, grid, buffers, other).run(parts);
}

} // namespace atc::npu
