//===-- ProgramBuilder.h - programs of the NPU by hand ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a Program one instruction after the other; addresses, ranges and fields
// are given in the order of Isa.def:
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

/// The value of induction variable `iv`, times `stride`.
Affine ivValue(unsigned iv, int64_t stride = 1);
/// A core's place in dimension `dim` of the grid.
inline Affine grid(unsigned dim) { return ivValue(dim); }

Affine constant(int64_t value);
Affine operator+(Affine a, const Affine &b);
Affine operator+(Affine a, int64_t b);
Affine operator-(Affine a, int64_t b);
Affine operator*(Affine a, int64_t factor);

Address at(Memory memory, Affine offset);
Address at(Memory memory, int64_t offset);
Address gm(unsigned argument, Affine offset);
Address gm(unsigned argument, int64_t offset = 0);
/// `slots` buffers of `bytes` used in turn by the iterations of the outermost
/// `depth` loops.
Address rotating(Address address, unsigned slots, int64_t bytes, unsigned depth);

Range range(int64_t length);
Range range(Affine start, int64_t length, int64_t limit = INT64_MAX);

class ProgramBuilder {
public:
  explicit ProgramBuilder(std::initializer_list<uint32_t> grid = {1, 1, 1},
                          bool vectorCore = false);

  /// Adds a gm buffer of the launch and gives its number.
  unsigned argument(uint64_t bytes);

  /// The reference holds until the next instruction is added.
  Instruction &add(Opcode opcode, std::initializer_list<Address> addresses = {},
                   std::initializer_list<Range> ranges = {},
                   std::initializer_list<int64_t> fields = {});

  void loop(int64_t trips, const std::function<void(Affine iv)> &body);

  void setFlag(Queue from, Queue to, unsigned id, unsigned slots = 1, unsigned depth = 0);
  void waitFlag(Queue from, Queue to, unsigned id, unsigned slots = 1, unsigned depth = 0);
  void pipeBarrier(Queue queue);

  /// One piece of `bytes` bytes.
  Instruction &move(Address dst, Address src, int64_t bytes);
  /// dst = op(a, b) over one contiguous run of lanes.
  Instruction &vector(VectorOp op, DataType type, Address dst, Address a, Address b, int64_t lanes,
                      double scalar = 0);
  Instruction &cast(DataType from, DataType to, Address dst, Address a, int64_t lanes);
  /// Contiguous fractals: l0a of m x k, l0b of k x n, l0c of m x n.
  Instruction &mmad(DataType type, Address dst, Address a, Address b, int64_t m, int64_t n,
                    int64_t k, bool accumulate = false);

  unsigned depth() const { return openLoops; }
  Program take() { return std::move(program); }
  const Program &get() const { return program; }

private:
  Program program;
  unsigned openLoops = 0;
};

} // namespace atc::npu

#endif
