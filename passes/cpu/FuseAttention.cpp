//===-- FuseAttention.cpp - products around a softmax become attention ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Transformer.h"
#include "dialects/om/Om.h"
#include "passes/Remarks.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/kernel/BufferViews.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/om/Schedule.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUFUSEATTENTION
#include "passes/cpu/Passes.h.inc"

namespace {

using kernel::Storage;

/// Returns whether `buffer` is all of a buffer of the arena that only `reader` reads, and one
/// kernel writes.
bool isReadOnce(Value buffer) {
  Value root = om::resolveViews(buffer).root;
  return root.getDefiningOp<om::AllocOp>() && kernel::usesOf(root).size() == 2 &&
         kernel::isWhole(kernel::storageOf(buffer));
}

/// Returns the kernel of type `OpT` that writes all of `buffer`, which nothing else reads; null
/// where there is none.
template <typename OpT> OpT onlyWriterOf(Value buffer) {
  auto writer = isReadOnce(buffer) ? dyn_cast_or_null<OpT>(kernel::writerOf(buffer)) : OpT();
  return writer && kernel::isWhole(kernel::storageOf(writer->getOperands().back())) ? writer
                                                                                    : OpT();
}

bool isDense(const Storage &storage, unsigned dim) {
  return storage.shape[dim] == 1 || storage.strides[dim] == 1;
}

/// Returns the storage without its dims of size 1.
Storage withoutUnits(const Storage &storage) {
  Storage result = storage;
  result.shape.clear();
  result.strides.clear();
  for (auto [size, stride] : llvm::zip_equal(storage.shape, storage.strides))
    if (size != 1) {
      result.shape.push_back(size);
      result.strides.push_back(stride);
    }
  return result;
}

/// The kernels of an attention, in their order.
struct Chain {
  MatMulOp scores;
  MapOp map; ///< null where the softmax reads the products
  unsigned scoresInput = 0;
  SoftmaxOp softmax;
  MatMulOp product;
  CopyOp transpose; ///< of the result; null where there is none

  Operation *last() { return transpose ? transpose.getOperation() : product.getOperation(); }
};

/// Returns the kernels of the attention that ends in `product`, or the reason why it is none.
FailureOr<Chain> findChain(MatMulOp product, StringRef &reason) {
  Chain chain;
  chain.product = product;
  if (product.getPacked())
    return failure();
  chain.softmax = onlyWriterOf<SoftmaxOp>(product.getLhs());
  if (!chain.softmax || chain.softmax.getLog())
    return failure();
  ArrayRef<int64_t> shape = shapeOf(chain.softmax.getInput());
  reason = "its softmax does not run along the last dim";
  if (chain.softmax.getAxis() + 1 != shape.size())
    return failure();
  reason = "something else reads the scores, or they are no product";
  chain.map = onlyWriterOf<MapOp>(chain.softmax.getInput());
  if (chain.map) {
    for (auto [index, input] : llvm::enumerate(chain.map.getInputs()))
      if (auto scores = onlyWriterOf<MatMulOp>(input);
          scores && shapeOf(input) == shapeOf(chain.map.getOutput())) {
        chain.scores = scores;
        chain.scoresInput = index;
        break;
      }
  } else {
    chain.scores = onlyWriterOf<MatMulOp>(chain.softmax.getInput());
  }
  if (!chain.scores || chain.scores.getPacked())
    return failure();
  reason = "a scale or mask of the scores has no vector form, or too many dims";
  if (chain.map) {
    const bool isVector =
        llvm::all_of(chain.map.getBody().front().without_terminator(), [](Operation &op) {
          return isa<arith::ConstantOp>(op) || op.hasTrait<OpTrait::Vectorizable>();
        });
    if (!isVector ||
        (shapeOf(chain.map.getOutput()).size() > 4 && chain.map.getInputs().size() > 1))
      return failure();
  }
  reason = "it is not computed in f32";
  for (Value buffer :
       {chain.scores.getLhs(), chain.scores.getRhs(), chain.scores.getOutput(),
        chain.softmax.getInput(), chain.softmax.getOutput(), product.getRhs(), product.getOutput()})
    if (!elementOf(buffer).isF32())
      return failure();
  return chain;
}

class AttentionFuser {
public:
  explicit AttentionFuser(Chain given) : chain(given) {
    // The map knows batch and heads apart where the softmax after it reads them as one dim.
    ArrayRef<int64_t> out = shapeOf(chain.product.getOutput()),
                      scores = chain.map ? shapeOf(chain.map.getOutput())
                                         : shapeOf(chain.softmax.getInput());
    rows = out[1];
    columns = out[2];
    depth = shapeOf(chain.scores.getLhs())[2];
    keys = shapeOf(chain.scores.getOutput())[2];
    const bool splits = scores.size() == 4 && scores[0] * scores[1] == out[0];
    batch = splits ? scores[0] : 1;
    heads = splits ? scores[1] : out[0];
  }

  /// Replaces the kernels by one; fails with a `reason`.
  FailureOr<AttentionOp> fuse(StringRef &reason);
  int64_t foldedCopies() const { return copies; }

private:
  /// Returns whether the map computes on [B][H][rows][keys]; leading dims of size 1 may be left
  /// out.
  bool mapsHeads() {
    SmallVector<int64_t> shape = llvm::to_vector(shapeOf(chain.map.getOutput()));
    while (shape.size() < 4)
      shape.insert(shape.begin(), 1);
    return shape == SmallVector<int64_t>{batch, heads, rows, keys};
  }

  /// Returns `storage` as [B][H][rows][columns], or with one batch and head.
  std::optional<Storage> asHeads(const Storage &storage, int64_t rowCount, int64_t columnCount) {
    const int64_t elements = ShapedType::getNumElements(storage.shape);
    if (elements == rowCount * columnCount)
      return storage.reshaped({1, 1, rowCount, columnCount});
    return storage.reshaped({batch, heads, rowCount, columnCount});
  }

  /// Returns the operand as [B][H][rows][columns]: what a copy in front of it reads, where that has
  /// this form and `accepts` it.
  std::optional<Storage> operand(Value buffer, int64_t rowCount, int64_t columnCount,
                                 function_ref<bool(const Storage &)> accepts) {
    if (auto copy = onlyWriterOf<CopyOp>(buffer); copy && elementOf(copy.getInput()).isF32() &&
                                                  !kernel::isWrittenBetween(copy, chain.last())) {
      std::optional<Storage> source =
          asHeads(kernel::storageOf(copy.getInput()), rowCount, columnCount);
      if (source && accepts(*source)) {
        ++copies;
        return source;
      }
    }
    std::optional<Storage> storage = asHeads(kernel::storageOf(buffer), rowCount, columnCount);
    return storage && accepts(*storage) ? storage : std::nullopt;
  }

  /// Returns where the copy behind the product writes the result, as [B][H][rows][columns]; nothing
  /// where it is no transposition.
  std::optional<Storage> transposedResult(CopyOp copy);
  void buildBody(AttentionOp attention);

  Chain chain;
  int64_t batch, heads, rows, columns, depth, keys, copies = 0;
};

std::optional<Storage> AttentionFuser::transposedResult(CopyOp copy) {
  Storage from = withoutUnits(kernel::storageOf(copy.getInput())),
          to = withoutUnits(kernel::storageOf(copy.getOutput()));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, from.rank()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return from.strides[a] > from.strides[b]; });
  // In this order the copy reads the product's result as it is in memory.
  if (!kernel::isWhole(from.permuted(order)))
    return std::nullopt;
  std::optional<Storage> result = to.permuted(order).reshaped({batch, heads, rows, columns});
  return result && isDense(*result, 3) ? result : std::nullopt;
}

/// Clones the body of the map with the score as its first argument.
void AttentionFuser::buildBody(AttentionOp attention) {
  if (!chain.map)
    return;
  OpBuilder builder(attention.getContext());
  Location location = chain.map.getLoc();
  Block &from = chain.map.getBody().front();
  Block *to = builder.createBlock(&attention.getBody());
  IRMapping mapping;
  mapping.map(from.getArgument(chain.scoresInput), to->addArgument(builder.getF32Type(), location));
  for (BlockArgument argument : from.getArguments())
    if (argument.getArgNumber() != chain.scoresInput)
      mapping.map(argument, to->addArgument(argument.getType(), location));
  for (Operation &op : from.without_terminator())
    builder.clone(op, mapping);
  ScoreYieldOp::create(builder, location,
                       mapping.lookupOrDefault(from.getTerminator()->getOperand(0)));
}

FailureOr<AttentionOp> AttentionFuser::fuse(StringRef &reason) {
  constexpr int64_t kMaxScratchElements = 2 << 20, kMaxRows = 32;
  reason = "the keys of a head need too much memory of a thread";
  if ((keys + 32) * (depth + kMaxRows) > kMaxScratchElements)
    return failure();
  reason = "a mask of the scores has other dims than batch, heads, rows and keys";
  if (chain.map && chain.map.getInputs().size() > 1 && !mapsHeads())
    return failure();
  // The result goes where a transposition behind it would copy it.
  std::optional<Storage> output;
  Value result = chain.product.getOutput();
  if (isReadOnce(result))
    for (OpOperand *use : kernel::usesOf(om::resolveViews(result).root))
      if (auto copy = dyn_cast<CopyOp>(use->getOwner());
          copy && copy->getBlock() == chain.product->getBlock() &&
          elementOf(copy.getOutput()).isF32())
        if ((output = transposedResult(copy))) {
          chain.transpose = copy;
          ++copies;
        }
  if (!output)
    output = asHeads(kernel::storageOf(result), rows, columns);

  reason = "the strides of an operand or of the result are not supported";
  auto any = [](const Storage &) { return true; };
  std::optional<Storage> query = operand(chain.scores.getLhs(), rows, depth, any);
  std::optional<Storage> key = operand(chain.scores.getRhs(), depth, keys, [](const Storage &s) {
    return isDense(s, 2) || isDense(s, 3);
  });
  std::optional<Storage> value = operand(chain.product.getRhs(), keys, columns,
                                         [](const Storage &s) { return isDense(s, 3); });
  if (!output || !query || !key || !value || !isDense(*output, 3))
    return failure();
  reason = "an operand is overwritten before the product with the values";
  for (Operation *op :
       {chain.scores.getOperation(), chain.map.getOperation(), chain.product.getOperation()})
    if (op && op != chain.last() && kernel::isWrittenBetween(op, chain.last()))
      return failure();

  OpBuilder builder(chain.last());
  Location location = chain.last()->getLoc();
  auto buffer = [&](const Storage &storage) {
    return kernel::bufferOf(builder, location, storage);
  };
  SmallVector<Value> inputs;
  if (chain.map)
    for (auto [index, input] : llvm::enumerate(chain.map.getInputs())) {
      if (index == chain.scoresInput)
        continue;
      Storage storage = kernel::storageOf(input);
      while (storage.rank() < 4)
        storage = storage.withDim(0);
      inputs.push_back(buffer(storage));
    }
  auto attention = AttentionOp::create(builder, location, buffer(*query), buffer(*key),
                                       buffer(*value), inputs, buffer(*output));
  buildBody(attention);
  kernel::copyTensorAttr(chain.last(), attention);
  for (Operation *op :
       {chain.transpose.getOperation(), chain.product.getOperation(), chain.softmax.getOperation(),
        chain.map.getOperation(), chain.scores.getOperation()})
    if (op)
      op->erase();
  return attention;
}

struct FuseAttentionPass : impl::CpuFuseAttentionBase<FuseAttentionPass> {
  void runOnOperation() override {
    func::FuncOp main = om::findMain(getOperation());
    if (!main)
      return;
    bool any = false;
    // The product of the scores comes first in the list: it is never erased ahead of its turn.
    for (MatMulOp product : llvm::to_vector(main.getOps<MatMulOp>()))
      any |= fuse(product);
    if (any)
      kernel::eraseUnread(main);
  }

private:
  bool fuse(MatMulOp product) {
    StringRef reason;
    const Location location = product.getLoc();
    FailureOr<Chain> chain = findChain(product, reason);
    FailureOr<AttentionOp> attention = failure();
    if (succeeded(chain)) {
      AttentionFuser fuser(*chain);
      attention = fuser.fuse(reason);
      if (succeeded(attention)) {
        numCopies += fuser.foldedCopies();
        ++numFused;
        remarkPassed(getArgument(), location, "Fused") << remark::add(
            "products and softmax become one kernel; {0} copies disappear", fuser.foldedCopies());
      }
    }
    if (failed(attention) && !reason.empty())
      remarkMissed(getArgument(), location, "NotFused")
          << remark::add("products and softmax stay kernels: {0}", reason);
    return succeeded(attention);
  }
};

} // namespace
} // namespace atc::cpu
