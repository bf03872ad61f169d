//===-- GeneratedCode.h - what kernels pass to generated code -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where dims are only known when the model runs, a call of a host kernel can have code that the
// compiler generated for it (host::Call::body, a host::GeneratedCode). The kernel checks the
// inputs, infers the shapes and makes the outputs; the code computes the elements.
//
// The kernel "Map" computes elementwise: its code has one buffer per input and one for the result,
// each of kMapChunk elements at a multiple of 64 bytes, and computes all of them; it has one task.
//
// The code of RNN, GRU and LSTM computes the cells of kCellUnits units of a sequence from their
// gates, which the kernel has multiplied; it has one task. Its buffers are, each of kCellUnits
// elements of the type in which the kernel computes:
//
//   RNN   the gate; the next state
//   GRU   the update gate, the new gate, the state; the next state
//   GRU   with linear_before_reset: the update gate, the reset gate, what the data contribute to
//         the new gate, what the state does, the state; the next state
//   LSTM  the gates in the order input, output, forget, cell, with peepholes those of input, output
//         and forget gate; the cell's state, which the code advances; the next state
//
// The code of all other kernels has as buffers: the dims (int64_t), the elements of each input by
// position (null: omitted), and the elements of each output (null: not wanted). The dims are
// kMaxRank values for each input and then for each output; behind them are kErrorWords words, in
// which the code stores an error: two values, and which error it is. A task is a row of output 0:
// one index in all of its dims but the last ones, as many as kGeneratedFor says.
//
// The code relies on ranks, element types and lengths that the compiler has inferred. They stand in
// the attribute kGeneratedFor, and the values of a call are compared with them before the code
// runs: where they differ, the kernel itself computes, and a "Map" fails. It computes, too, where
// an input that is not always empty is: code that has found a wrong index reads element 0 instead.

#ifndef OPENATC_KERNELS_CORE_GENERATEDCODE_H
#define OPENATC_KERNELS_CORE_GENERATEDCODE_H

#include <stdint.h>

namespace atc::kernels {

/// The number of elements that the code of a "Map" computes at a time.
inline constexpr int64_t kMapChunk = 1024;
/// The maximum number of operands of a "Map".
inline constexpr uint32_t kMapInputs = 8;
/// The attributes of a "Map" with the nodes that were fused, in their order: their names, and for
/// each one the number of its operands and these, an input i as i and the result of node i as
/// -1 - i. They are missing where only the last node has several operands.
inline constexpr char kMapNodes[] = "nodes", kMapOperands[] = "operands";
/// The maximum number of nodes that become one.
inline constexpr uint32_t kMapCalls = 24;
/// The number of units that the code of a recurrent cell computes at a time, and the maximum number
/// of its buffers.
inline constexpr int64_t kCellUnits = 32;
inline constexpr uint32_t kCellBuffers = 9;
/// The maximum numbers of inputs and outputs of other calls with generated code.
inline constexpr uint32_t kGeneratedInputs = 16, kGeneratedOutputs = 8;
/// The maximum numbers of products that generated code computes. With more of them it pays to pack
/// operands for register tiles, as the host kernels do.
inline constexpr int64_t kMaxProducts = 1 << 12, kMaxConvProducts = 1 << 12,
                         kMaxTransposedProducts = 1 << 15;
/// The attribute of a call with what its generated code is for: the number of dims that make a row
/// of output 0, and then for each input by position and for each output its element type, rank and
/// number of elements; kAny where that does not matter, as for inputs that are omitted.
inline constexpr char kGeneratedFor[] = "generated_for";
inline constexpr int64_t kAny = -1;
/// The number of values in kGeneratedFor before those of inputs and outputs, and for each of these.
inline constexpr uint32_t kRowFacts = 1, kPortFacts = 3;
/// The number of words that state an error: two values, and one of the kinds below or 0.
inline constexpr uint32_t kErrorWords = 3;
/// An index is out of range: the index, the size of its dim.
inline constexpr int64_t kIndexError = 1;
/// A dim does not broadcast: its size, the size that it would have to have.
inline constexpr int64_t kBroadcastError = 2;
/// A class is out of range: the class, the number of classes.
inline constexpr int64_t kClassError = 3;

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_GENERATEDCODE_H
