//===-- ProgramBuilder.h - writes programs of the NPU -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a Program one instruction after the other; addresses, ranges and fields are given in the
// order of Isa.def:
//
//   ProgramBuilder builder({8, 1, 1});
//   unsigned x = builder.argument(1 << 20);
//   builder.loop(4, [&](Affine i) {
//     builder.add(Opcode::Move, {at(Memory::UB, 0), gm(x, grid(0) * 4096 + i * 1024)},
//                 {range(1), range(1), range(1024)});
//   });

#ifndef OPENATC_NPU_ISA_PROGRAMBUILDER_H
#define OPENATC_NPU_ISA_PROGRAMBUILDER_H

#include "npu/isa/Isa.h"

#include <functional>
#include <initializer_list>

namespace atc::npu {

/// Returns the value of induction variable `iv`, times `stride`.
Affine ivValue(unsigned iv, int64_t stride = 1);
/// Returns a core's position in dimension `dim` of the grid.
inline Affine grid(unsigned dim) { return ivValue(dim); }

/// Returns a function that does not depend on induction variables.
Affine constant(int64_t value);
Affine operator+(Affine a, const Affine &b);
Affine operator+(Affine a, int64_t b);
Affine operator-(Affine a, int64_t b);
Affine operator*(Affine a, int64_t factor);

/// Returns an address in a local memory; offsets are in bytes.
Address at(Memory memory, Affine offset);
Address at(Memory memory, int64_t offset);
/// Returns an address in gm argument `argument`; offsets are in bytes.
Address gm(unsigned argument, Affine offset);
Address gm(unsigned argument, int64_t offset = 0);
/// Returns an address that rotates through `slots` buffers, `bytes` bytes apart, with the
/// iterations of the outermost `depth` loops: multi-buffering.
Address rotating(Address address, unsigned slots, int64_t bytes, unsigned depth);

/// Return a range; one with a `start` is clamped to [0, limit).
Range range(int64_t length);
Range range(Affine start, int64_t length, int64_t limit = INT64_MAX);

/// Builds a program. Programs are verified later, not here.
class ProgramBuilder {
public:
  explicit ProgramBuilder(std::initializer_list<uint32_t> grid = {1, 1, 1},
                          bool vectorCore = false);

  /// Makes the program a mixed one: what is appended from here on runs on a grid of vector cores,
  /// at the same time as what was appended so far.
  void onVectorCores(std::initializer_list<uint32_t> grid);

  /// Adds a gm buffer of at least `bytes` bytes and returns its index.
  unsigned argument(uint64_t bytes);

  /// Appends an instruction. The reference is valid until the next instruction is added.
  Instruction &add(Opcode opcode, std::initializer_list<Address> addresses = {},
                   std::initializer_list<Range> ranges = {},
                   std::initializer_list<int64_t> fields = {});

  /// Appends a loop around the instructions that `body` adds; `iv` is its induction variable.
  void loop(int64_t trips, const std::function<void(Affine iv)> &body);

  /// Append flag instructions. With `slots` > 1 the flag's id rotates with the iterations of the
  /// outermost `depth` loops.
  void setFlag(Queue from, Queue to, unsigned id, unsigned slots = 1, unsigned depth = 0);
  void waitFlag(Queue from, Queue to, unsigned id, unsigned slots = 1, unsigned depth = 0);
  /// Appends a barrier that waits for all earlier instructions of the queue.
  void pipeBarrier(Queue queue);

  /// Appends a move of `bytes` contiguous bytes.
  Instruction &move(Address dst, Address src, int64_t bytes);
  /// Appends dst = op(a, b) over `lanes` contiguous lanes.
  Instruction &vector(VectorOp op, DataType type, Address dst, Address a, Address b, int64_t lanes,
                      double scalar = 0);
  /// Appends a conversion of `lanes` contiguous lanes.
  Instruction &cast(DataType from, DataType to, Address dst, Address a, int64_t lanes);
  /// Appends a matrix product of contiguous fractals: l0a of m x k, l0b of k x n, l0c of m x n.
  Instruction &mmad(DataType type, Address dst, Address a, Address b, int64_t m, int64_t n,
                    int64_t k, bool accumulate = false);

  /// Returns the number of loops around the next instruction.
  unsigned depth() const { return openLoops; }
  /// Hands over the program; the builder must not be used afterwards.
  Program take() { return std::move(program); }
  const Program &get() const { return program; }

private:
  Program program;
  unsigned openLoops = 0;
};

} // namespace atc::npu

#endif
