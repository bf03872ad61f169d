//===-- JoinedProgram.h - several programs as one ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_JOINEDPROGRAM_H
#define OPENATC_PASSES_NPU_PROGRAM_JOINEDPROGRAM_H

#include "dialects/npu/Npu.h"
#include "npu/isa/Isa.h"

#include <array>
#include <string>
#include <vector>

namespace atc::npu {

/// The sizes of a grid, filled up with 1.
using GridSizes = std::array<int64_t, kGridDims>;

/// The maximum number of streams of a section, whose parts signal the same event: half of the
/// events belong to each section of a mixed program.
inline constexpr size_t kStreams = kEvents / 2;

/// A number of parts that have signaled an event before another part goes on.
struct PartWait {
  unsigned event = 0, parts = 0;
  bool crosses = false; ///< they are parts of the other section of a mixed program
  bool operator==(const PartWait &) const = default;
};

/// A program that becomes part of another one.
struct ProgramPart {
  ir::ProgramOp program;
  llvm::SmallVector<unsigned> buffers; ///< for each of its buffers, that of the joined program
  /// The dims of its grid, of which one may grow: further cores have nothing to do (findGrowth).
  std::array<bool, kGridDims> grows = {};
  /// The parts that are done before this one reads or writes the same bytes. Each waits for the one
  /// before that signals the same event, so that a number of signals tells which parts are done.
  llvm::SmallVector<PartWait, 3> waits;
  unsigned event = 0;   ///< that its cores signal when it is done
  std::string name;     ///< of its launch, for reports
  int64_t macs = 0;     ///< of its launch
  int64_t position = 0; ///< among all parts, those of the other section included
};

/// Finds a grid in which the coordinates of several grids can be written: each of their dims is a
/// product of some of its dims, all different, or in dims that grow at most such a product.
class CommonGrid {
public:
  /// Begins with all grids of at most `cores` cores.
  explicit CommonGrid(int64_t cores);
  /// Adds the grid of a program. Returns false, and changes nothing, where no common grid is left.
  bool add(const ProgramPart &part);
  /// Returns the common grid of fewest cores, without dims of 1.
  llvm::SmallVector<int64_t> sizes() const;

private:
  std::vector<GridSizes> possible; ///< grids that serve all so far, those of fewest cores first
};

/// A gm buffer of a joined program.
struct JoinedBuffer {
  mlir::Type type;
  bool constant = false; ///< no part writes what lies there
  bool operator==(const JoinedBuffer &) const = default;
};

/// Sets the dims in which a grid of up to `cores` cores may grow: there the cores beyond write
/// nothing to gm, because the ranges of their moves are empty or become so when programs are
/// joined, and reach nothing that the SoC's checks refuse. They may read.
void findGrowth(ProgramPart &part, int64_t cores);

/// Returns whether a program can become a part: its cores do not signal each other, and no
/// instruction is guarded by a coordinate.
bool isJoinable(ir::ProgramOp program);

/// The maximum number of instructions between two parts.
inline constexpr size_t kMeetingInstructions = 48;

/// Returns whether a program may have so many instructions and buffers.
bool isPossibleSize(size_t instructions, size_t buffers);

/// The other section of the mixed program that a joined program becomes a part of.
struct OtherSection {
  int64_t cores = 0;         ///< 0: there is none
  bool waitsForLast = false; ///< its cores wait for the last part of this one
};

/// Builds a program with `buffers` that runs joinable `parts` one after the other on `grid`, a
/// common grid of theirs. The parts have offsets in local memories and are synchronized. Each part
/// waits for the parts that it names, on all cores, and for the part before on its own core; only
/// loads of constant buffers do not wait. The program is inserted in front of the last part's, with
/// its name. Of a mixed program it is one section.
ir::ProgramOp joinPrograms(llvm::ArrayRef<ProgramPart> parts, llvm::ArrayRef<int64_t> grid,
                           llvm::ArrayRef<JoinedBuffer> buffers, OtherSection other = {});

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_JOINEDPROGRAM_H
