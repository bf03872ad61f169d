//===-- AlignRows.cpp - rows that begin at blocks of 32 bytes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"
#include "passes/npu/vector/TileNest.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUALIGNROWS
#include "passes/npu/VectorPasses.h.inc"

namespace {

constexpr int64_t kBlockBytes = 32;

/// Returns whether an operand is a matrix that the cube reads row by row.
bool isCubeMatrix(OpOperand &use) {
  auto product = dyn_cast<ir::MatMulOp>(use.getOwner());
  return product &&
         (use.get() == product.getLhs() || (use.get() == product.getRhs() && !product.getPacked()));
}

/// Returns whether a kernel computes each row of its result from one row of each operand.
bool worksByRow(Operation *op) {
  if (auto softmax = dyn_cast<kernel::SoftmaxOp>(op))
    return int64_t(softmax.getAxis()) + 1 ==
           cast<MemRefType>(softmax.getOutput().getType()).getRank();
  return isa<kernel::MapOp>(op);
}

/// A temporary of rows that do not begin at blocks, and its uses.
class Matrix {
public:
  explicit Matrix(om::AllocOp alloc)
      : alloc(alloc), root(alloc.getResult()), type(alloc.getType()), uses(usesOf(root)) {}

  /// Returns whether longer rows are possible: all of it is used at once, row by row.
  bool isAlignable() const {
    if (type.getRank() < 2 || !type.getLayout().isIdentity() || rowBytes() % kBlockBytes == 0)
      return false;
    return llvm::all_of(uses, [&](OpOperand *use) {
      const kernel::Storage storage = storageOf(use->get());
      return isa<kernel::KernelOpInterface>(use->getOwner()) && isWhole(storage) &&
             storage.shape.back() == type.getShape().back() && aligned(storage.shape);
    });
  }

  ArrayRef<OpOperand *> allUses() const { return uses; }

  /// Returns the cycles that all uses spend on moving the rows, as they are or aligned.
  double cycles(const SocTable &soc, bool isAligned) const {
    const double bytes = double(rowBytes());
    const double rows = double(type.getNumElements()) / double(type.getShape().back());
    const double part = std::min(1.0, bytes / double(soc.shortRun));
    const double share = soc.shortRunFloor + (1 - soc.shortRunFloor) * part;
    double sum = 0;
    for (OpOperand *use : uses) {
      // Rows without gaps are one run, except for the cube, which loads each by itself.
      const double run = isAligned ? share : 1;
      double row = bytes / (soc.gmToUb * run) / double(vectorCoreCount(soc));
      if (isCubeMatrix(*use)) {
        const double rate = soc.gmToL1 * share;
        row = bytes / (isAligned ? rate : std::min(rate, soc.ndToNzUnaligned)) /
              double(soc.cubeCores);
      } else if (isa<ir::MatMulOp>(use->getOwner())) {
        const double rate = (soc.split ? soc.l0cToGm : soc.ubToGm) * run;
        const double min = soc.split && isAligned ? double(soc.l0cToGmRun) : 0;
        row = std::max(bytes / rate, min) / double(soc.cubeCores);
      }
      sum += rows * row;
    }
    return sum;
  }

  /// Lets all uses work on aligned rows.
  void align() {
    OpBuilder builder(alloc);
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = pitch();
    memory =
        om::AllocOp::create(builder, alloc.getLoc(), MemRefType::get(shape, type.getElementType()),
                            /*offset=*/IntegerAttr());
    for (OpOperand *use : uses) {
      before.push_back(use->get());
      kernel::Storage storage = *aligned(storageOf(use->get()).shape);
      storage.base = memory.getResult();
      builder.setInsertionPoint(use->getOwner());
      use->set(bufferOf(builder, use->getOwner()->getLoc(), storage));
    }
  }

  void undo() {
    for (auto [use, value] : llvm::zip_equal(uses, before)) {
      Operation *view = use->get().getDefiningOp();
      use->set(value);
      if (view->use_empty())
        view->erase();
    }
    memory.erase();
  }

  /// Erases what `align` has replaced.
  void eraseOld() {
    llvm::SetVector<Operation *> dead;
    getForwardSlice(root, &dead);
    for (Operation *view : llvm::reverse(dead))
      view->erase();
    alloc.erase();
  }

private:
  int64_t elementBytes() const { return type.getElementTypeBitWidth() / 8; }
  int64_t rowBytes() const { return type.getShape().back() * elementBytes(); }
  int64_t pitch() const { return llvm::alignTo(rowBytes(), kBlockBytes) / elementBytes(); }

  /// Returns all elements as a tensor of `shape` in memory with aligned rows.
  std::optional<kernel::Storage> aligned(ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> wide(type.getShape());
    wide.back() = pitch();
    kernel::Storage storage = kernel::Storage::whole(root, type.getElementType(), wide);
    storage = storage.slice(storage.rank() - 1, 0, type.getShape().back());
    return storage.reshaped(shape);
  }

  om::AllocOp alloc, memory;
  Value root;
  MemRefType type;
  SmallVector<OpOperand *> uses;
  SmallVector<Value> before; ///< the operands that `align` has replaced
};

struct AlignRowsPass : impl::NpuAlignRowsBase<AlignRowsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    const SocTable soc = socOf(main);
    llvm::DenseSet<Operation *> seen;
    SmallVector<om::AllocOp> read;
    main.walk([&](ir::MatMulOp product) {
      for (OpOperand &operand : product->getOpOperands())
        if (auto alloc = om::resolveViews(operand.get()).root.getDefiningOp<om::AllocOp>();
            alloc && isCubeMatrix(operand))
          read.push_back(alloc);
    });
    for (om::AllocOp alloc : read)
      if (!seen.contains(alloc))
        alignTogether(alloc, soc, seen);
  }

private:
  /// Aligns the rows of a matrix and of those that vector kernels compute it from: they work in
  /// place, and on several rows at a time, where all rows have the same pitch.
  void alignTogether(om::AllocOp first, const SocTable &soc, llvm::DenseSet<Operation *> &seen) {
    llvm::SetVector<Operation *> allocs;
    allocs.insert(first);
    SmallVector<Matrix> matrices;
    for (size_t i = 0; i < allocs.size(); ++i) {
      matrices.emplace_back(cast<om::AllocOp>(allocs[i]));
      seen.insert(allocs[i]);
      if (!matrices.back().isAlignable())
        return;
      for (OpOperand *use : matrices.back().allUses())
        if (worksByRow(use->getOwner()))
          for (Value operand : use->getOwner()->getOperands())
            if (auto other = om::resolveViews(operand).root.getDefiningOp<om::AllocOp>();
                other && other.getType() == first.getType())
              allocs.insert(other);
    }
    double before = 0, after = 0;
    for (const Matrix &matrix : matrices) {
      before += matrix.cycles(soc, false);
      after += matrix.cycles(soc, true);
    }
    // Where others lose much, only what the product reads is aligned: less than that is what
    // kernels gain that work in place.
    constexpr double kMinGain = 0.2;
    const Matrix &own = matrices.front();
    if (const double alone = before - own.cycles(soc, false) + own.cycles(soc, true);
        alone < (1 - kMinGain) * after) {
      after = alone;
      matrices.truncate(1);
    }
    if (after >= before || !fits(matrices, soc))
      return;
    for (Matrix &matrix : matrices)
      matrix.align();
    if (!fits(matrices, soc)) {
      for (Matrix &matrix : matrices)
        matrix.undo();
      return;
    }
    remarkPassed(getArgument(), first.getLoc(), "Aligned")
        << remark::add("rows of {0} elements begin at blocks of 32 bytes, for products that read "
                       "them",
                       first.getType().getShape().back());
    numAligned += matrices.size();
    for (Matrix &matrix : matrices)
      matrix.eraseOld();
  }

  /// Returns whether the NPU computes all kernels that use the matrices.
  static bool fits(ArrayRef<Matrix> matrices, const SocTable &soc) {
    return llvm::all_of(matrices, [&](const Matrix &matrix) {
      return llvm::all_of(matrix.allUses(), [&](OpOperand *use) {
        return whyNotOnNpu(use->getOwner(), soc).empty();
      });
    });
  }
};

} // namespace
} // namespace atc::npu
