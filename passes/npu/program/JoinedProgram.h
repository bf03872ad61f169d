//===-- JoinedProgram.h - several programs as one ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_JOINEDPROGRAM_H
#define OPENATC_PASSES_NPU_PROGRAM_JOINEDPROGRAM_H

#include "dialects/npu/Npu.h"

#include <array>
#include <vector>

namespace atc::npu {

/// The sizes of a grid, filled up with 1.
using GridSizes = std::array<int64_t, kGridDims>;

/// Finds a grid in which the coordinates of several grids can be written: each of their dims is a
/// product of some of its dims, all different.
class CommonGrid {
public:
  /// Adds the grid of a program. Returns false, and changes nothing, where no common grid is left.
  bool add(llvm::ArrayRef<int64_t> grid);
  /// Returns the common grid without dims of 1; after at least one add().
  llvm::SmallVector<int64_t> sizes() const;

private:
  std::vector<GridSizes> possible; ///< grids that serve all so far; empty before the first one
};

/// A program that becomes part of another one.
struct ProgramPart {
  ir::ProgramOp program;
  llvm::SmallVector<unsigned> buffers; ///< for each of its buffers, that of the joined program
};

/// A gm buffer of a joined program.
struct JoinedBuffer {
  mlir::Type type;
  bool constant = false; ///< no part writes what lies there
  bool operator==(const JoinedBuffer &) const = default;
};

/// Returns whether a program can become a part: its cores do not signal each other, and no
/// instruction is guarded by a coordinate.
bool isJoinable(ir::ProgramOp program);

/// Builds a program with `buffers` that runs joinable `parts` one after the other on `grid`, a
/// common grid of theirs. The parts have offsets in local memories and are synchronized. Between
/// two of them the cores wait for each other; only loads of constant buffers do not wait. The
/// program is inserted in front of the last part's, with its name.
ir::ProgramOp joinPrograms(llvm::ArrayRef<ProgramPart> parts, llvm::ArrayRef<int64_t> grid,
                           llvm::ArrayRef<JoinedBuffer> buffers);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_JOINEDPROGRAM_H
