//===-- LowerGraph.h - from graph ops to kernels on buffers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_LOWERGRAPH_H
#define OPENATC_PASSES_KERNEL_LOWERGRAPH_H

#include "dialects/cpu/Cpu.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "mlir/IR/Builders.h"
#include "passes/kernel/StorageAssignment.h"

namespace atc::graph {
#define OPENATC_LOWERED_OP(OP, LOWER, ERROR) class OP;
#include "passes/kernel/LoweredOps.def"
#undef OPENATC_LOWERED_OP
} // namespace atc::graph

namespace atc::kernel {

/// Discardable attribute of a kernel op: the logical type of the tensor that it writes.
inline constexpr llvm::StringLiteral kTensorAttr = "om.tensor";
/// Lets `to` state the type of the tensor that `from` states, if it does: for an op that replaces
/// it.
inline void copyTensorAttr(mlir::Operation *from, mlir::Operation *to) {
  if (mlir::Attribute tensor = from->getAttr(kTensorAttr))
    to->setAttr(kTensorAttr, tensor);
}

/// The kernels that a target has of its own, in addition to those that every target shares with the
/// CPU.
class TargetKernels {
public:
  virtual ~TargetKernels() = default;
  /// Returns the target's name for messages.
  virtual llvm::StringRef name() const { return "CPU"; }
  /// Returns whether the target runs `op` with a kernel of its own.
  virtual bool has(mlir::Operation *op) const { return false; }
  /// Lowers an op that has() accepts.
  virtual mlir::LogicalResult lower(class GraphLowering &lowering, mlir::Operation *op) const {
    return mlir::failure();
  }
  /// Returns whether every level adds four products of bytes to 32 bits without saturation.
  virtual bool hasExactDot() const { return false; }
  /// Returns whether some level multiplies matrices of bytes in tile registers, which read the
  /// channels of a pixel side by side.
  virtual bool hasTileRegisters() const { return false; }
};

/// Returns a tensor type in the terms of users: "float64 [2,3]".
std::string describeType(mlir::Type type);

/// Returns why there is no kernel for `op`; empty when there is one.
std::string whyUnsupported(mlir::Operation *op, const TargetKernels &target);

/// Lowers @main. The functions that lower one family of operators use it to name buffers and to
/// make kernels.
class GraphLowering {
public:
  /// Assigns storage to all tensors of `main`. `target` must outlive the lowering.
  GraphLowering(mlir::func::FuncOp main, const TargetKernels &target);
  /// Lowers all ops; fails after an error at the op.
  mlir::LogicalResult run();

  //===--- Buffers --------------------------------------------------------===//

  /// Returns the storage of a tensor of the graph.
  Storage storageOf(mlir::Value tensor) const { return storage.storageOf(tensor); }
  const StorageAssignment &getStorage() const { return storage; }
  /// Returns the memref of a storage, created on first use.
  mlir::Value buffer(const Storage &storage);
  mlir::Value buffer(mlir::Value tensor) { return buffer(storageOf(tensor)); }
  /// Returns a new row-major buffer.
  Storage temporary(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Returns `storage`, or a row-major copy of it where it is not contiguous.
  Storage contiguous(const Storage &storage);
  /// Returns `storage` with another shape, copied first if necessary.
  Storage reshaped(const Storage &storage, llvm::ArrayRef<int64_t> shape);
  /// Returns the storage of a weight with these elements.
  Storage constantStorage(mlir::ElementsAttr value);

  //===--- Constants ------------------------------------------------------===//

  /// Returns the value of a tensor known at compile time, as it is stored.
  mlir::FailureOr<mlir::ElementsAttr> constantOf(mlir::Value tensor);
  /// Returns the buffer of a weight; equal constants share one.
  mlir::Value weight(mlir::ElementsAttr value);

  const TargetKernels &getTarget() const { return target; }

  //===--- Kernels --------------------------------------------------------===//

  /// Creates a kernel op that writes tensor `result` of the graph to `output`.
  template <typename OpT, typename... Args>
  OpT kernel(mlir::Value result, const Storage &output, Args &&...args) {
    auto op = OpT::create(builder, location, std::forward<Args>(args)...);
    describe(op, result, output);
    return op;
  }
  /// Copies the elements of `from` to `to`, which has the same shape; nothing where they are the
  /// same storage.
  void copy(const Storage &from, const Storage &to);
  /// Copies `count` channels. The channels of a storage with a block are in its lanes, those of one
  /// without (0) along dim 1.
  struct Channels {
    const Storage &storage;
    int64_t block, first;
  };
  /// Copies `count` channels between storages whose other dims are equal.
  void copyChannels(Channels from, Channels to, int64_t count);
  /// Fills a storage, or only its `border`, with a value.
  void fill(const Storage &storage, double value, std::optional<Halo> border = std::nullopt);

  mlir::OpBuilder builder;
  /// The location of the graph op that is being lowered.
  mlir::Location location;

private:
  mlir::LogicalResult lower(mlir::Operation *op);
  void addArguments();
  void writeResults(mlir::func::ReturnOp op);
  void finish();
  mlir::Value memoryOf(mlir::Value base);
  mlir::Value allocate(mlir::Value tensor);
  void describe(mlir::Operation *op, mlir::Value result, const Storage &output);
  void releaseConstants(mlir::Operation *op);

  mlir::func::FuncOp main;
  const TargetKernels &target;
  StorageAssignment storage;
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, mlir::Type>, mlir::Value> views;
  llvm::DenseMap<mlir::Attribute, mlir::Value> weights;
  llvm::DenseMap<mlir::Operation *, unsigned> constantUses;
  int64_t unusedBytes = 0;
};

/// Implements the passes that lower graphs: @main becomes kernels; one error lists all ops that
/// have no kernel.
mlir::LogicalResult lowerGraph(mlir::ModuleOp module, const TargetKernels &target);

/// Returns the part of a padded tensor that a convolution reads, and nothing else.
template <typename OpT> Storage windowInput(const GraphLowering &lowering, OpT op) {
  Storage view = lowering.storageOf(op.getInput());
  for (unsigned dim : {0u, 1u}) {
    Window window = windowOf(op, dim);
    view.offset -= window.before * view.strides[2 + dim];
    view.shape[2 + dim] = window.extent();
  }
  return view;
}

/// The sizes of a matrix product; a vector is one row or one column.
struct ProductSizes {
  llvm::ArrayRef<int64_t> leftBatch, rightBatch;
  int64_t rows, depth, columns;
};
/// Returns the sizes of a matrix product.
ProductSizes sizesOf(graph::MatMulOp op);

/// Lowers an elementwise op, of which each has a formula, to a kernel on buffers.
void lowerElementwise(GraphLowering &lowering, mlir::Operation *op);

// The functions that lower one kind of op to kernels on buffers. They fail when the elements of a
// constant cannot be read.
#define OPENATC_LOWERED_OP(OP, LOWER, ERROR)                                                       \
  mlir::LogicalResult LOWER(GraphLowering &lowering, graph::OP op);
#include "passes/kernel/LoweredOps.def"
#undef OPENATC_LOWERED_OP

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_LOWERGRAPH_H
