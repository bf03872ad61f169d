//===-- SyncAnalysis.h - what must be ordered in an npu program -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is looked at as blocks: the children of a block are instructions and
// loops, and a loop is there on each queue that its instructions use. Two
// instructions that touch the same bytes are ordered in the block in which they
// are, or are in, different children: forward, the first before the second, and
// back, the second before the first `distance` iterations later.

#ifndef OPENATC_PASSES_NPU_PROGRAM_SYNCANALYSIS_H
#define OPENATC_PASSES_NPU_PROGRAM_SYNCANALYSIS_H

#include "dialects/npu/Npu.h"

#include <vector>

namespace atc::npu {

/// A buffer that an op touches; null is all of gm.
struct BufferAccess {
  mlir::Value buffer;
  bool written;
};

/// The queue of an instruction; none for buffers and loops.
std::optional<Queue> queueOf(mlir::Operation *op);
/// Signals and awaits touch all of gm: what they order on other cores lies there.
llvm::SmallVector<BufferAccess, 4> accessesOf(mlir::Operation *op);
/// Must two accesses, one after the other, stay so: same bytes, one written.
bool conflict(const BufferAccess &a, const BufferAccess &b);
/// Fails, with an error, on a program that has flags or barriers already.
mlir::LogicalResult expectSequential(ir::ProgramOp program);
unsigned loopsAround(mlir::Operation *op);
/// Bytes from the first copy's begin to the last one's end.
int64_t bytesTaken(ir::AllocOp alloc);
/// Iterations that lie between uses of the same bytes by two accesses that
/// conflict and whose common block has `depth` loops around it.
unsigned reuseDistance(const BufferAccess &a, const BufferAccess &b, unsigned depth);

struct SyncBlock {
  mlir::Block *block;
  unsigned depth;     ///< loops around the children
  unsigned nest;      ///< child of the program that it is in
  int64_t iterations; ///< of all loops around the children
  std::vector<mlir::Operation *> children;
  std::vector<uint8_t> queues; ///< of each child, a set
  std::vector<bool> barriers;  ///< before each child, and at the end
};

struct SyncEdge {
  unsigned block, source, target;
  Queue from, to;
  unsigned distance; ///< 0: forward
  unsigned slots;
  int id = -1;
};

class SyncAnalysis {
public:
  /// Buffers of the nests in `single` count as having one copy. With `all` each
  /// dependence is an edge, else the nearest of those that begin or end together.
  SyncAnalysis(ir::ProgramOp program, llvm::ArrayRef<bool> single, bool all);

  /// Removes edges that the others, the queues' order and the barriers imply.
  unsigned removeImplied();
  /// Removes those that the barriers alone imply.
  unsigned removeBehindBarriers();
  /// Makes one edge of the two of a nest and pair of queues that lose least by it.
  bool mergeOne(unsigned nest, Queue from, Queue to);
  /// Puts barriers in place of the edges of a pair of queues in the block of a
  /// nest that has most of them.
  void useBarriers(unsigned nest, Queue from, Queue to);

  std::vector<SyncBlock> blocks; ///< the program's own first
  std::vector<SyncEdge> edges;
  unsigned found = 0; ///< edges before any were removed

private:
  void addBlock(mlir::Block &block, unsigned depth, unsigned nest, int64_t iterations);
  void collect(llvm::ArrayRef<bool> single);
  void keepNearest();
  bool isImplied(const SyncEdge &edge, bool byFlags) const;

  struct Node {
    mlir::Operation *op;
    Queue queue;
    llvm::SmallVector<BufferAccess, 4> accesses;
    llvm::SmallVector<std::pair<unsigned, unsigned>, 4> path; ///< block and child, from outside
  };
  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> open;
  std::vector<Node> nodes;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_SYNCANALYSIS_H
