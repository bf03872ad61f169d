//===-- EvaluateRanks.cpp - collectives of the reference interpreter ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every collective is made of messages between two ranks: each rank of a group sends its tensor to
// the others and computes the result from all of them. Messages between two ranks arrive in
// the order in which they were sent.

#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/interpreter/RankExchange.h"

#include "llvm/ADT/TypeSwitch.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

using namespace mlir;

namespace atc::graph {

namespace {

using Tensors = SmallVector<Tensor>;

/// The messages on their way, and how many ranks wait for one.
class Mailbox {
public:
  explicit Mailbox(size_t ranks) : running(ranks) {}

  void send(int64_t from, int64_t to, int64_t tag, const Tensor &tensor) {
    std::lock_guard lock(mutex);
    messages[{from, to, tag}].push_back(Tensor::copyOf(tensor.getType(), tensor.bytes()));
    arrived.notify_all();
  }

  /// Waits for a message. Returns nothing where all ranks that still run wait.
  std::optional<Tensor> receive(int64_t from, int64_t to, int64_t tag) {
    std::unique_lock lock(mutex);
    auto &queue = messages[{from, to, tag}];
    ++waiting;
    waitingFor.push_back(&queue);
    arrived.wait(lock, [&] { return !queue.empty() || stuck(); });
    waitingFor.erase(llvm::find(waitingFor, &queue));
    --waiting;
    if (queue.empty()) {
      // The others are stuck for good, too.
      isStuck = true;
      arrived.notify_all();
      return std::nullopt;
    }
    Tensor tensor = std::move(queue.front());
    queue.pop_front();
    return tensor;
  }

  void end() {
    std::lock_guard lock(mutex);
    --running;
    arrived.notify_all();
  }

private:
  using Queue = std::deque<Tensor>;
  bool stuck() const {
    return isStuck || (waiting == running &&
                       llvm::all_of(waitingFor, [](const Queue *queue) { return queue->empty(); }));
  }

  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::tuple<int64_t, int64_t, int64_t>, Queue> messages;
  std::vector<const Queue *> waitingFor;
  size_t running, waiting = 0;
  bool isStuck = false;
};

/// A box of a tensor: all of it but for one dim.
struct Share {
  int64_t axis, begin, size;
};

/// Copies between a share of a large tensor and a tensor of the share's shape.
template <typename Copy>
void forEachRow(ArrayRef<int64_t> large, int64_t elementBytes, Share share, Copy copy) {
  int64_t outer = 1, inner = elementBytes;
  for (auto [dim, size] : llvm::enumerate(large)) {
    outer *= int64_t(dim) < share.axis ? size : 1;
    inner *= int64_t(dim) > share.axis ? size : 1;
  }
  const int64_t row = share.size * inner;
  for (int64_t i = 0; i < outer; ++i)
    copy((i * large[share.axis] + share.begin) * inner, i * row, row);
}

Tensor take(const Tensor &whole, Share share) {
  SmallVector<int64_t> shape(whole.getShape());
  shape[share.axis] = share.size;
  Tensor part(whole.getType().clone(shape));
  forEachRow(whole.getShape(), getElementBytes(whole.getElementType()), share,
             [&](int64_t from, int64_t to, int64_t bytes) {
               std::memcpy(part.mutableBytes().data() + to, whole.bytes().data() + from, bytes);
             });
  return part;
}

Tensor concatenate(ArrayRef<Tensor> parts, int64_t axis) {
  SmallVector<int64_t> shape(parts.front().getShape());
  const int64_t size = shape[axis];
  shape[axis] *= parts.size();
  Tensor whole(parts.front().getType().clone(shape));
  for (auto [index, part] : llvm::enumerate(parts))
    forEachRow(shape, getElementBytes(part.getElementType()), {axis, int64_t(index) * size, size},
               [&](int64_t to, int64_t from, int64_t bytes) {
                 std::memcpy(whole.mutableBytes().data() + to, part.bytes().data() + from, bytes);
               });
  return whole;
}

Tensor combine(ArrayRef<Tensor> parts, ReduceKind kind) {
  auto fold = [kind](auto a, auto b) {
    return kind == ReduceKind::Sum   ? a + b
           : kind == ReduceKind::Max ? std::max(a, b)
                                     : std::min(a, b);
  };
  RankedTensorType type = parts.front().getType();
  if (isa<FloatType>(type.getElementType())) {
    std::vector<double> all = parts.front().toDoubles();
    for (const Tensor &part : parts.drop_front())
      for (auto [sum, element] : llvm::zip_equal(all, part.toDoubles()))
        sum = fold(sum, element);
    return Tensor::fromDoubles(type, all);
  }
  std::vector<uint64_t> all = parts.front().toIntegers();
  const bool isUnsigned = isUnsignedElement(type.getElementType());
  for (const Tensor &part : parts.drop_front())
    for (auto [sum, element] : llvm::zip_equal(all, part.toIntegers()))
      sum = isUnsigned ? fold(sum, element)
                       : static_cast<uint64_t>(
                             fold(static_cast<int64_t>(sum), static_cast<int64_t>(element)));
  return Tensor::fromIntegers(type, all);
}

/// Connects one of several ranks in this process.
class ThreadRank : public RankExchange {
public:
  ThreadRank(Mailbox &mailbox, int64_t rank) : mailbox(mailbox), rank(rank) {}

  FailureOr<Tensors> evaluate(Operation *op, ArrayRef<const Tensor *> operands) override {
    using Result = FailureOr<Tensors>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](SendOp send) -> Result {
          mailbox.send(rank, send.getTo(), send.getTag(), *operands[0]);
          return Tensors();
        })
        .Case([&](ReceiveOp receive) -> Result {
          FailureOr<Tensor> tensor = wait(op, receive.getFrom(), receive.getTag());
          if (failed(tensor))
            return failure();
          if (tensor->getType() != withoutEncoding(cast<RankedTensorType>(receive.getType())))
            return op->emitOpError() << "expects " << receive.getType() << ", but rank "
                                     << receive.getFrom() << " sends " << tensor->getType();
          return single(std::move(*tensor));
        })
        .Case([&](AllReduceOp reduce) {
          return meet(op, reduce.getRanks(), *operands[0], [&](ArrayRef<Tensor> all, int64_t) {
            return combine(all, reduce.getKind());
          });
        })
        .Case([&](AllGatherOp gather) {
          return meet(op, gather.getRanks(), *operands[0], [&](ArrayRef<Tensor> all, int64_t) {
            return concatenate(all, gather.getAxis());
          });
        })
        .Case([&](ReduceScatterOp scatter) {
          return meet(op, scatter.getRanks(), *operands[0], [&](ArrayRef<Tensor> all, int64_t own) {
            const int64_t axis = scatter.getAxis();
            const int64_t size = all.front().getShape()[axis] / int64_t(all.size());
            return take(combine(all, scatter.getKind()), {axis, own * size, size});
          });
        })
        .Case([&](AllToAllOp exchange) {
          return meet(op, exchange.getRanks(), *operands[0],
                      [&](ArrayRef<Tensor> all, int64_t own) {
                        const int64_t axis = exchange.getSplitAxis();
                        const int64_t size = all.front().getShape()[axis] / int64_t(all.size());
                        Tensors shares;
                        for (const Tensor &tensor : all)
                          shares.push_back(take(tensor, {axis, own * size, size}));
                        return concatenate(shares, exchange.getConcatAxis());
                      });
        })
        .Case([&](BroadcastOp broadcast) {
          return meet(op, broadcast.getRanks(), *operands[0], [&](ArrayRef<Tensor> all, int64_t) {
            const Tensor &root = all[llvm::find(broadcast.getRanks(), broadcast.getRoot()) -
                                     broadcast.getRanks().begin()];
            return Tensor::copyOf(root.getType(), root.bytes());
          });
        });
  }

private:
  /// The tag of the messages of collectives, which no send has.
  static constexpr int64_t kGroupTag = -1;

  static Tensors single(Tensor &&tensor) {
    Tensors results;
    results.push_back(std::move(tensor));
    return results;
  }

  FailureOr<Tensor> wait(Operation *op, int64_t from, int64_t tag) {
    std::optional<Tensor> tensor = mailbox.receive(from, rank, tag);
    if (!tensor)
      return op->emitOpError() << "waits for rank " << from << ", which never sends";
    return std::move(*tensor);
  }

  /// Exchanges the tensors of a group and returns what `compute` makes of them, in the order of
  /// `ranks`, and of the own index.
  FailureOr<Tensors> meet(Operation *op, ArrayRef<int64_t> ranks, const Tensor &own,
                          llvm::function_ref<Tensor(ArrayRef<Tensor>, int64_t)> compute) {
    const int64_t index = llvm::find(ranks, rank) - ranks.begin();
    if (index == int64_t(ranks.size()))
      return op->emitOpError() << "is run by rank " << rank << ", which is none of [" << ranks
                               << "]";
    for (int64_t other : ranks)
      if (other != rank)
        mailbox.send(rank, other, kGroupTag, own);
    Tensors all;
    for (int64_t other : ranks) {
      if (other == rank) {
        all.push_back(Tensor::copyOf(own.getType(), own.bytes()));
        continue;
      }
      FailureOr<Tensor> tensor = wait(op, other, kGroupTag);
      if (failed(tensor))
        return failure();
      if (tensor->getType() != own.getType())
        return op->emitOpError() << "has " << own.getType() << ", but rank " << other << " has "
                                 << tensor->getType();
      all.push_back(std::move(*tensor));
    }
    return single(compute(all, index));
  }

  Mailbox &mailbox;
  const int64_t rank;
};

} // namespace

FailureOr<std::vector<Tensors>> evaluateRanks(ArrayRef<func::FuncOp> functions,
                                              ArrayRef<Tensors> inputs) {
  assert(functions.size() == inputs.size() && "every rank has inputs");
  Mailbox mailbox(functions.size());
  std::vector<FailureOr<Tensors>> results(functions.size(), failure());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < functions.size(); ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank exchange(mailbox, rank);
      results[rank] = evaluateRank(functions[rank], inputs[rank], &exchange);
      mailbox.end();
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<Tensors> all;
  for (FailureOr<Tensors> &result : results) {
    if (failed(result))
      return failure();
    all.push_back(std::move(*result));
  }
  return all;
}

} // namespace atc::graph
