//===-- Isa.h - decoded instructions of the NPU -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The representation of a program of one launch between encoder and decoder. Every core of a launch
// runs the same program; induction variables (ivs) 0..2 are the core's position in the launch's
// grid, the following ones count the loops around an instruction, outermost first.

#ifndef OPENATC_NPU_ISA_ISA_H
#define OPENATC_NPU_ISA_ISA_H

#include "npu/soc/Hardware.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atc::npu {

/// Limits of loop nests; kMaxIvs is the number of induction variables.
constexpr unsigned kGridDims = 3, kMaxLoops = 6, kMaxIvs = kGridDims + kMaxLoops;
constexpr unsigned kFlagIds = 8; ///< per ordered pair of queues
constexpr unsigned kEvents = 16; ///< shared counters per launch
/// Size of a fractal: 16 rows of one 32-byte block.
constexpr unsigned kFractalBytes = 512;

/// Returns the elements per block of 32 bytes.
constexpr unsigned c0Of(DataType type) { return 32 / bytesOf(type); }

/// The operations of the vector unit. Broadcast writes a block of 32 bytes per element of `a` (the
/// inner count is in elements). Reductions and Broadcast pack their small side densely.
enum class VectorOp : uint8_t {
#define NPU_VECTOR_OP(Name, ...) Name,
#include "npu/isa/VectorOps.def"
};
/// Returns whether the operation's result has an element type of its own.
constexpr bool isCast(VectorOp op) { return op == VectorOp::Cast || op == VectorOp::CastScaled; }
constexpr unsigned kVectorOps = unsigned(VectorOp::CastScaled) + 1;

/// The operands that a vector operation has besides dst and the scalar.
struct VectorOperands {
  bool a, b, mask;
};
/// Returns the name of the operation in assembly.
const char *nameOf(VectorOp op);
/// Returns the operands that the operation reads.
VectorOperands operandsOf(VectorOp op);
/// Returns the operation of that name; nothing where there is none.
std::optional<VectorOp> findVectorOp(std::string_view name);

/// An affine function of the induction variables.
struct Affine {
  int64_t base = 0;
  int64_t strides[kMaxIvs] = {};
  /// Returns its value for kMaxIvs induction variables.
  int64_t at(const int64_t *ivs) const {
    int64_t value = base;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      value += strides[i] * ivs[i];
    return value;
  }
};

/// An address in a memory; offsets are in bytes. With `slots` > 1 it advances by `slotBytes` per
/// iteration of the outermost `depth` loops, taken as one loop, and wraps around after `slots`:
/// multi-buffering.
struct Address {
  Memory memory = Memory::GM;
  uint8_t argument = 0; ///< for gm: the index of the launch's argument
  uint8_t slots = 1, depth = 0;
  int64_t slotBytes = 0;
  Affine offset;
};

/// The positions [start, start + length) clamped to [0, limit).
struct Range {
  Affine start;
  int64_t length = 1, limit = INT64_MAX;
  struct Cut {
    int64_t skip, count; ///< positions clamped away in front, positions left (may be 0)
  };
  /// Returns the clamped range for the given induction variables.
  Cut at(const int64_t *ivs) const {
    int64_t first = start.at(ivs), low = std::max<int64_t>(first, 0);
    int64_t high = first >= limit ? limit : std::min(limit, first + length);
    return {low - first, std::max<int64_t>(0, high - low)};
  }
};

/// The position of a core in its program: the ivs and their trip counts (those of the grid first).
/// Loops that are not entered have iv 0 and trip count 1.
struct Frame {
  int64_t ivs[kMaxIvs] = {};
  int64_t trips[kMaxIvs] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  unsigned depth = 0; ///< number of loops entered
  /// Returns the number of completed iterations of loops first .. last - 1, taken as one loop.
  int64_t linear(unsigned first, unsigned last) const {
    int64_t value = 0;
    for (unsigned loop = first; loop < last && loop < kMaxLoops; ++loop)
      value = value * trips[kGridDims + loop] + ivs[kGridDims + loop];
    return value;
  }
  /// Returns the byte offset of an address here, including its slot.
  int64_t offset(const Address &address) const {
    int64_t value = address.offset.at(ivs);
    if (address.slots > 1)
      value += linear(0, address.depth) % address.slots * address.slotBytes;
    return value;
  }
};

/// A condition under which an instruction runs: some iterations of one loop only.
struct Guard {
  enum Kind : uint8_t {
#define NPU_GUARD(Name, name) Name,
#include "npu/isa/Isa.def"
  };
  Kind kind = Always;
  uint8_t iv = 0;
  /// Returns whether the instruction runs in this iteration.
  bool admits(const Frame &frame) const {
    int64_t value = frame.ivs[iv], last = frame.trips[iv] - 1;
    return kind == Always || (kind == First && value == 0) || (kind == NotFirst && value != 0) ||
           (kind == Last && value == last) || (kind == NotLast && value != last);
  }
};

/// The opcodes of Isa.def, in its order, which is their encoding.
enum class Opcode : uint8_t {
#define NPU_INSTRUCTION(Name, ...) Name,
#include "npu/isa/Isa.def"
};
#define NPU_INSTRUCTION(...) +1
constexpr unsigned kOpcodes = 0
#include "npu/isa/Isa.def"
    ;

/// The indices of an instruction's parts: Mmad::a, Mmad::m, Mmad::useBias ...
#define NPU_INSTRUCTION(Name, mnemonic, queue, summary, doc, time, addresses, ranges, fields, ...) \
  struct Name {                                                                                    \
    enum Addresses { addresses addressCount };                                                     \
    enum Ranges { ranges rangeCount };                                                             \
    enum Fields { fields fieldCount };                                                             \
  };
#define R(name, memories) name,
#define W(name, memories) name,
#define U(name, memories) name,
#define O(name, memories) name,
#define N(name) name,
#define F(name, kind) name,
#define D(name, kind, value) name,
#define T(name, types) name,
#define P(name, address) name,
#include "npu/isa/Isa.def"

/// The largest number of fields of an instruction.
#define NPU_INSTRUCTION(Name, ...) unsigned(Name::fieldCount),
constexpr unsigned kMaxFields = std::max({
#include "npu/isa/Isa.def"
    0u});

/// A decoded instruction. Addresses, ranges and fields stand at the indices that the struct of its
/// opcode names.
struct Instruction {
  Opcode opcode = Opcode::LoopEnd;
  Guard guard;
  Address addresses[4];
  Range ranges[3];
  int64_t fields[kMaxFields] = {};
  uint32_t line = 0; ///< the index in its program, for messages
};

/// The cores of one kind that a launch runs on, and the part of its program that each of them runs.
struct Section {
  bool vectorCore = false;        ///< the vector cores of a SoC that has them apart
  std::span<const uint32_t> grid; ///< kGridDims sizes; the number of cores is their product
  size_t begin = 0, end = 0;      ///< instructions [begin, end) of the program
  /// Returns the number of cores, at most `max`; no product overflows.
  uint64_t cores(uint64_t max = UINT32_MAX) const {
    uint64_t count = 1;
    for (uint32_t size : grid)
      count = count > max ? count : count * size;
    return std::min(count, max);
  }
};

/// A layer of a program that several launches became, for reports. Its instructions are those from
/// `begin` on up to the next layer of the section.
struct Layer {
  uint32_t begin = 0;
  std::string name, kernel; ///< of the launch and the program that it was; at most kMaxNameBytes
  uint64_t macs = 0;        ///< without the padding of tiles
};
constexpr size_t kMaxNameBytes = 1024;

/// The program of one launch.
struct Program {
  bool vectorCore = false;              ///< runs on the vector cores of a SoC that has them apart
  uint32_t grid[kGridDims] = {1, 1, 1}; ///< the number of cores is their product
  std::vector<uint64_t> arguments;      ///< minimum sizes in bytes of the gm buffers
  std::vector<Instruction> code;
  /// A mixed program: cube cores run the code up to `vectorBegin`, and vector cores, as many as the
  /// product of `vectorGrid`, at the same time that from there on. All zeros: no mixed program.
  uint32_t vectorGrid[kGridDims] = {0, 0, 0};
  uint32_t vectorBegin = 0;
  /// The layers of the program, in the order of the launches from which it was made. Empty: the
  /// program is one layer, which the launch names.
  std::vector<Layer> layers;

  bool isMixed() const { return vectorGrid[0] | vectorGrid[1] | vectorGrid[2]; }
  /// Returns for each instruction the index of its layer; nothing where there are no layers.
  std::vector<uint32_t> layerOfInstructions() const;
  /// Returns the one or two sections, cube cores first; valid as long as the program.
  std::vector<Section> sections() const {
    if (!isMixed())
      return {{vectorCore, grid, 0, code.size()}};
    return {{vectorCore, grid, 0, std::min<size_t>(vectorBegin, code.size())},
            {true, vectorGrid, std::min<size_t>(vectorBegin, code.size()), code.size()}};
  }
};

/// Returns the queue in which an instruction executes; S for loops, the sending queue for set_flag
/// and the waiting queue for wait_flag.
Queue queueOf(const Instruction &in);

/// Returns the index of the flag that a set_flag or wait_flag uses in this iteration.
unsigned flagOf(const Instruction &instruction, const Frame &frame);

/// The description of an opcode in Isa.def.
enum class FieldKind : uint8_t { Bytes, Count, Flag, Float, Type, Op, Unit, Mask };
enum class Access : uint8_t { Read, Write, Update };
struct AddressInfo {
  const char *name;
  Access access;
  MemorySet memories;    ///< those that it may be in
  bool optional = false; ///< whether the instruction reads it depends on its fields
};
struct FieldInfo {
  const char *name;
  FieldKind kind;
  TypeSet types = sets::AnyType; ///< the element types that a Type may be
  double initial = 0;            ///< the value of an op that leaves it out, if it may
  bool mayLack = false;
};
struct OpcodeInfo {
  const char *name, *mnemonic, *description, *time;
  const AddressInfo *addresses;
  const char *const *ranges;
  const FieldInfo *fields;
  unsigned addressCount, rangeCount, fieldCount;
};
/// Returns the description of an opcode.
const OpcodeInfo &infoOf(Opcode opcode);

/// A pair of memories between which an instruction moves data.
struct MemoryPath {
  Memory from, to;
  bool operator==(const MemoryPath &) const = default;
};
/// Returns the paths from `src` to `dst` of an instruction with addresses of these names, on any
/// SoC; nothing for other instructions.
std::span<const MemoryPath> pathsOf(Opcode opcode);

/// Convert between a double and the bits of a Float field.
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
