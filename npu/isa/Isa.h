//===-- Isa.h - decoded instructions of the NPU -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program of one launch is made of, in the form that the encoder takes
// and the decoder gives. Every core of a launch runs the same program; induction
// variables (ivs) 0..2 are the core's place in the launch's grid, those after
// them count the loops around an instruction, outermost first.

#ifndef OPENATC_NPU_ISA_ISA_H
#define OPENATC_NPU_ISA_ISA_H

#include "npu/soc/Hardware.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace atc::npu {

constexpr unsigned kGridDims = 3, kMaxLoops = 6, kMaxIvs = kGridDims + kMaxLoops;
constexpr unsigned kFlagIds = 8; ///< of an ordered pair of queues
constexpr unsigned kEvents = 16; ///< shared counters of a launch
constexpr unsigned kFractalBytes = 512;

/// Elements of a block of 32 bytes.
constexpr unsigned c0Of(DataType type) { return 32 / bytesOf(type); }

/// Broadcast gives a block of 32 bytes for each element of a (inner counts
/// elements). Reductions and Broadcast pack their small side.
enum class VectorOp : uint8_t {
#define NPU_VECTOR_OP(Name, ...) Name,
#include "npu/isa/VectorOps.def"
};
/// Their results have a type of their own.
constexpr bool isCast(VectorOp op) { return op == VectorOp::Cast || op == VectorOp::CastScaled; }
constexpr unsigned kVectorOps = unsigned(VectorOp::CastScaled) + 1;

/// Which operands a vector operation has beside dst and the scalar.
struct VectorOperands {
  bool a, b, mask;
};
const char *nameOf(VectorOp op);
VectorOperands operandsOf(VectorOp op);
std::optional<VectorOp> findVectorOp(std::string_view name);

struct Affine {
  int64_t base = 0;
  int64_t strides[kMaxIvs] = {};
  int64_t at(const int64_t *ivs) const {
    int64_t value = base;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      value += strides[i] * ivs[i];
    return value;
  }
};

/// A place in a memory. With `slots` > 1 it moves on by `slotBytes` with each
/// iteration of the outermost `depth` loops, taken as one loop, and comes back
/// after `slots`: buffers used in turn.
struct Address {
  Memory memory = Memory::GM;
  uint8_t argument = 0; ///< in gm: which argument of the launch
  uint8_t slots = 1, depth = 0;
  int64_t slotBytes = 0;
  Affine offset;
};

/// Positions [start, start + length) cut to [0, limit).
struct Range {
  Affine start;
  int64_t length = 1, limit = INT64_MAX;
  struct Cut {
    int64_t skip, count; ///< positions cut off in front, positions left (may be 0)
  };
  Cut at(const int64_t *ivs) const {
    int64_t first = start.at(ivs), low = std::max<int64_t>(first, 0);
    int64_t high = first >= limit ? limit : std::min(limit, first + length);
    return {low - first, std::max<int64_t>(0, high - low)};
  }
};

/// Where a core stands in its program: the ivs and how many values each takes
/// (those of the grid first). Loops that are not open have iv 0 and 1 trip.
struct Frame {
  int64_t ivs[kMaxIvs] = {};
  int64_t trips[kMaxIvs] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  unsigned depth = 0; ///< loops that are open
  /// Iterations of loops first .. last - 1 done so far, taken as one loop.
  int64_t linear(unsigned first, unsigned last) const {
    int64_t value = 0;
    for (unsigned loop = first; loop < last && loop < kMaxLoops; ++loop)
      value = value * trips[kGridDims + loop] + ivs[kGridDims + loop];
    return value;
  }
  int64_t offset(const Address &address) const {
    int64_t value = address.offset.at(ivs);
    if (address.slots > 1)
      value += linear(0, address.depth) % address.slots * address.slotBytes;
    return value;
  }
};

/// Runs the instruction only in some iterations of one loop.
struct Guard {
  enum Kind : uint8_t { Always, First, NotFirst, Last, NotLast } kind = Always;
  uint8_t iv = 0;
  bool admits(const Frame &frame) const {
    int64_t value = frame.ivs[iv], last = frame.trips[iv] - 1;
    return kind == Always || (kind == First && value == 0) || (kind == NotFirst && value != 0) ||
           (kind == Last && value == last) || (kind == NotLast && value != last);
  }
};

enum class Opcode : uint8_t {
#define NPU_INSTRUCTION(Name, ...) Name,
#define R(name)
#define W(name)
#define U(name)
#define N(name)
#define F(name, kind)
#include "npu/isa/Isa.def"
};

/// The indices of an instruction's parts: Mmad::a, Mmad::m, Mmad::useBias ...
#define NPU_INSTRUCTION(Name, mnemonic, doc, addresses, ranges, fields)                            \
  struct Name {                                                                                    \
    enum Addresses { addresses addressCount };                                                     \
    enum Ranges { ranges rangeCount };                                                             \
    enum Fields { fields fieldCount };                                                             \
  };
#define R(name) name,
#define W(name) name,
#define U(name) name,
#define N(name) name,
#define F(name, kind) name,
#include "npu/isa/Isa.def"

struct Instruction {
  Opcode opcode = Opcode::LoopEnd;
  Guard guard;
  Address addresses[4];
  Range ranges[3];
  int64_t fields[19] = {};
  uint32_t line = 0; ///< which instruction of its program, for messages
};

/// One launch's program.
struct Program {
  bool vectorCore = false;              ///< split mode: runs on the vector cores
  uint32_t grid[kGridDims] = {1, 1, 1}; ///< cores it runs on: their product
  std::vector<uint64_t> arguments;      ///< sizes in bytes of the gm buffers it is given
  std::vector<Instruction> code;
};

/// The queue that an instruction is put into; S for loops, the sending queue of
/// set_flag and the waiting queue of wait_flag.
Queue queueOf(const Instruction &instruction);

/// The flag that a set_flag or wait_flag means at this place.
unsigned flagOf(const Instruction &instruction, const Frame &frame);

/// What Isa.def says about an opcode.
enum class FieldKind : uint8_t { Bytes, Count, Flag, Float, Type, Op, Unit, Mask };
enum class Access : uint8_t { Read, Write, Update };
struct AddressInfo {
  const char *name;
  Access access;
};
struct FieldInfo {
  const char *name;
  FieldKind kind;
};
struct OpcodeInfo {
  const char *name, *mnemonic, *description;
  const AddressInfo *addresses;
  const char *const *ranges;
  const FieldInfo *fields;
  unsigned addressCount, rangeCount, fieldCount;
};
constexpr unsigned kOpcodes = unsigned(Opcode::RequantizeAdd) + 1;
const OpcodeInfo &infoOf(Opcode opcode);

const char *nameOf(Memory memory);
const char *nameOf(Queue queue);
const char *nameOf(DataType type);
bool isType(int64_t number); ///< is this the number of a DataType

/// Float fields hold the bits of a double.
inline int64_t floatBits(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline double floatOf(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace atc::npu

#endif
