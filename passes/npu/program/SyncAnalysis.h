//===-- SyncAnalysis.h - the dependences of an npu program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is treated as blocks: the children of a block are instructions and loops, and a loop
// occurs on each queue that its instructions use. Two instructions that access the same bytes are
// ordered in the innermost block in which they are, or are nested in, different children: forward,
// the first before the second, and backward, the second before the first `distance` iterations
// later.

#ifndef OPENATC_PASSES_NPU_PROGRAM_SYNCANALYSIS_H
#define OPENATC_PASSES_NPU_PROGRAM_SYNCANALYSIS_H

#include "dialects/npu/Npu.h"

#include <vector>

namespace atc::npu {

/// A buffer that an op accesses; null is all of gm.
struct BufferAccess {
  mlir::Value buffer;
  bool written;
};

/// Returns the queue of an instruction; nothing for buffers and loops.
std::optional<Queue> queueOf(mlir::Operation *op);
/// Returns the accesses of an op. Signals and awaits access all of gm: what they order on other
/// cores is there.
llvm::SmallVector<BufferAccess, 4> accessesOf(mlir::Operation *op);
/// Returns whether the order of two accesses must be kept: same bytes, at least one written.
bool doConflict(const BufferAccess &a, const BufferAccess &b);
/// Emits an error for a program that already has flags or barriers.
mlir::LogicalResult expectSequential(ir::ProgramOp program);
/// Returns the number of loops around an op.
unsigned loopsAround(mlir::Operation *op);
/// Returns the bytes from the start of the first copy to the end of the last one.
int64_t bytesTaken(ir::AllocOp alloc);
/// Returns the number of iterations between uses of the same bytes by two conflicting accesses
/// whose common block has `depth` loops around it.
unsigned reuseDistance(const BufferAccess &a, const BufferAccess &b, unsigned depth);

/// A block with its children.
struct SyncBlock {
  mlir::Block *block;
  unsigned depth;     ///< loops around the children
  unsigned nest;      ///< index of the program's child that contains it
  int64_t iterations; ///< of all loops around the children
  std::vector<mlir::Operation *> children;
  std::vector<uint8_t> queues; ///< bit set of queues per child
  std::vector<bool> barriers;  ///< before each child, and at the end
};

/// A dependence between two children of a block, on two queues.
struct SyncEdge {
  unsigned block, source, target;
  Queue from, to;
  unsigned distance; ///< 0: forward
  unsigned slots;
  int id = -1;
};

/// The dependences of a program, as edges that become flags or barriers.
class SyncAnalysis {
public:
  /// Treats buffers of the nests in `single` as having one copy. With `all` each dependence is an
  /// edge, else only the nearest of those with a common begin or end.
  SyncAnalysis(ir::ProgramOp program, llvm::ArrayRef<bool> single, bool all);

  /// Removes edges that the others, the order of queues and the barriers imply; returns their
  /// number.
  unsigned removeImplied();
  /// Removes edges that the barriers alone imply; returns their number.
  unsigned removeBehindBarriers();
  /// Merges the two edges of a nest and a pair of queues whose merging loses the least parallelism.
  /// Returns false where there are none.
  bool mergeOne(unsigned nest, Queue from, Queue to);
  /// Replaces the edges of a pair of queues by barriers in the block of a nest that has most of
  /// them.
  void useBarriers(unsigned nest, Queue from, Queue to);

  std::vector<SyncBlock> blocks; ///< the program's own first
  std::vector<SyncEdge> edges;
  unsigned found = 0; ///< edges before any were removed

  /// An instruction with its position.
  struct Node {
    mlir::Operation *op;
    Queue queue;
    llvm::SmallVector<BufferAccess, 4> accesses;
    llvm::SmallVector<std::pair<unsigned, unsigned>, 4> path; ///< block and child, from outside
  };
  std::vector<Node> nodes; ///< all instructions, in their order

private:
  void addBlock(mlir::Block &block, unsigned depth, unsigned nest, int64_t iterations);
  void collect(llvm::ArrayRef<bool> single);
  void keepNearest();
  bool isImplied(const SyncEdge &edge, bool byFlags) const;

  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> open;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_SYNCANALYSIS_H
