//===-- Verify.cpp - what is proved of a program before it runs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/npu/Verify.h"

#include "runtime-lite/npu/Footprint.h"

namespace atc::npu {

namespace {

// Numbers of a program stay below this, so that no sum of products overflows.
constexpr int64_t kLargest = int64_t(1) << 40, kMostTrips = int64_t(1) << 20;
constexpr int64_t kMostPoints = 1000000;

bool within(int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; }

class Verifier {
public:
  Verifier(const Program &program, const SocTable &soc) : program(program), soc(soc) {}

  std::vector<std::string> run() {
    uint64_t cores = 1;
    for (unsigned i = 0; i < kGridDims; ++i) {
      frame.trips[i] = program.grid[i];
      cores = program.grid[i] > 65535 ? UINT32_MAX
                                      : std::min<uint64_t>(cores * program.grid[i], UINT32_MAX);
    }
    line = 0;
    if (cores == 0 || cores > soc.cores(program.vectorCore))
      fault("grid of " + std::to_string(cores) + " cores, " + soc.name + " has " +
            std::to_string(soc.cores(program.vectorCore)));
    if (program.arguments.size() > 256)
      fault("more than 256 arguments");
    for (uint64_t bytes : program.arguments)
      if (bytes > uint64_t(kLargest))
        fault("argument of " + std::to_string(bytes) + " bytes");
    if (!faults.empty())
      return std::move(faults);
    for (line = 0; line < program.code.size(); ++line)
      instruction(program.code[line]);
    if (frame.depth)
      fault(std::to_string(frame.depth) + " loops are not ended");
    return std::move(faults);
  }

private:
  void fault(const std::string &what) {
    std::string where = line < program.code.size()
                            ? "instruction " + std::to_string(line) + " (" +
                                  (unsigned(program.code[line].opcode) < kOpcodes
                                       ? infoOf(program.code[line].opcode).mnemonic
                                       : "?") +
                                  "): "
                            : "";
    faults.push_back(where + what);
  }

  void instruction(const Instruction &in) {
    if (unsigned(in.opcode) >= kOpcodes)
      return fault("unknown opcode");
    if (in.opcode == Opcode::LoopBegin) {
      int64_t trips = in.fields[LoopBegin::trips];
      if (frame.depth == kMaxLoops || !within(trips, 1, kMostTrips)) {
        fault("a loop of " + std::to_string(trips) + " trips at depth " +
              std::to_string(frame.depth + 1) + " (at most " + std::to_string(kMaxLoops) + ")");
        trips = 1;
      }
      if (frame.depth < kMaxLoops)
        frame.trips[kGridDims + frame.depth] = trips;
      ++frame.depth;
      return;
    }
    if (in.opcode == Opcode::LoopEnd) {
      if (!frame.depth)
        return fault("ends no loop");
      if (--frame.depth < kMaxLoops)
        frame.trips[kGridDims + frame.depth] = 1;
      return;
    }
    size_t before = faults.size();
    if (unsigned(in.guard.kind) > Guard::NotLast ||
        (in.guard.kind != Guard::Always && in.guard.iv >= kGridDims + depth()))
      fault("guarded by iv " + std::to_string(in.guard.iv) + ", which is not of an open loop");
    const OpcodeInfo &info = infoOf(in.opcode);
    for (unsigned i = 0; i < info.addressCount; ++i)
      address(in.addresses[i], info.addresses[i].name);
    for (unsigned i = 0; i < info.rangeCount; ++i) {
      const Range &range = in.ranges[i];
      affine(range.start, info.ranges[i]);
      if (!within(range.length, 0, kLargest) || range.limit < 0)
        fault(std::string(info.ranges[i]) + " has length " + std::to_string(range.length) +
              " and limit " + std::to_string(range.limit));
    }
    for (unsigned i = 0; i < info.fieldCount; ++i)
      field(info.fields[i], in.fields[i]);
    if (faults.size() != before)
      return;
    special(in);
    if (faults.size() == before)
      accesses(in);
  }

  unsigned depth() const { return std::min(frame.depth, kMaxLoops); }

  void affine(const Affine &value, const char *name) {
    bool large = !within(value.base, -kLargest, kLargest);
    for (unsigned i = 0; i < kMaxIvs; ++i) {
      large |= !within(value.strides[i], -kLargest, kLargest);
      large |= value.strides[i] &&
               !within(value.strides[i], -kLargest / frame.trips[i], kLargest / frame.trips[i]);
      if (value.strides[i] && i >= kGridDims + depth())
        fault(std::string(name) + " uses iv " + std::to_string(i) + " outside its loop");
    }
    if (large)
      fault(std::string(name) + " is too large");
  }

  void address(const Address &value, const char *name) {
    if (unsigned(value.memory) >= kMemories)
      return fault(std::string(name) + " is in no memory");
    if (value.memory == Memory::GM && value.argument >= program.arguments.size())
      fault(std::string(name) + " is in argument " + std::to_string(value.argument) + " of " +
            std::to_string(program.arguments.size()));
    if (value.slots < 1 || value.depth > depth() || !within(value.slotBytes, -kLargest, kLargest))
      fault(std::string(name) + " has " + std::to_string(value.slots) + " slots over " +
            std::to_string(value.depth) + " loops");
    affine(value.offset, name);
  }

  void field(const FieldInfo &info, int64_t value) {
    bool good = true;
    switch (info.kind) {
    case FieldKind::Bytes:
      good = within(value, -kLargest, kLargest);
      break;
    case FieldKind::Count:
      good = within(value, 0, kMostTrips);
      break;
    case FieldKind::Flag:
      good = within(value, 0, 1);
      break;
    case FieldKind::Float:
      break;
    case FieldKind::Type:
      good = isType(value);
      break;
    case FieldKind::Op:
      good = within(value, 0, kVectorOps - 1);
      break;
    case FieldKind::Unit:
      good = within(value, 0, kQueues - 1);
      break;
    case FieldKind::Mask:
      good = within(value, 0, (int64_t(1) << kMaxIvs) - 1);
      break;
    }
    if (!good)
      fault(std::string(info.name) + " is " + std::to_string(value));
  }

  void expect(bool good, const char *what) {
    if (!good)
      fault(what);
  }

  static bool oneOf(DataType type, std::initializer_list<DataType> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  }

  /// Memories and fields that only this opcode knows.
  void special(const Instruction &in) {
    auto memory = [&](unsigned i) { return in.addresses[i].memory; };
    auto f = [&](unsigned i) { return in.fields[i]; };
    auto type = [&](unsigned i) { return DataType(in.fields[i]); };
    using M = Memory;
    switch (in.opcode) {
    case Opcode::Move: {
      M s = memory(Move::src), d = memory(Move::dst);
      expect((s == M::GM && (d == M::L1 || d == M::UB)) ||
                 (s == M::UB && (d == M::GM || d == M::L1)) ||
                 (s == M::L1 && (d == M::UB || d == M::BT)),
             "no such way between these memories");
      break;
    }
    case Opcode::MoveNdToNz:
    case Opcode::LoadImage:
      expect(memory(0) == M::L1 && memory(1) == M::GM, "goes from gm to l1 only");
      if (in.opcode == Opcode::LoadImage)
        expect(f(LoadImage::channels) <= f(LoadImage::c0) && f(LoadImage::c0) <= 16 &&
                   f(LoadImage::width) > 0 &&
                   oneOf(type(LoadImage::type), {DataType::F32, DataType::F16, DataType::U8}),
               "takes up to c0 <= 16 channels of f32, f16 or u8");
      break;
    case Opcode::Load2D:
      expect(memory(1) == M::L1 && (memory(0) == M::L0A || memory(0) == M::L0B),
             "goes from l1 to l0a or l0b only");
      break;
    case Opcode::Img2Col: {
      using I = Img2Col;
      expect(memory(1) == M::L1 && memory(0) == M::L0A, "goes from l1 to l0a only");
      int64_t bytes = f(I::elementBytes), c0 = f(I::c0);
      bool whole =
          (bytes == 1 || bytes == 2 || bytes == 4) && c0 >= 1 && c0 <= 32 && (c0 & (c0 - 1)) == 0;
      for (unsigned i : {I::channels1, I::height, I::width, I::outHeight, I::outWidth, I::kernelH,
                         I::kernelW, I::strideH, I::strideW, I::dilationH, I::dilationW})
        whole &= within(f(i), 1, 65535);
      expect(whole, "sizes must be positive, elements of 1, 2 or 4 bytes and c0 a power of 2");
      expect(lowest(in.ranges[I::m].start) >= 0 && lowest(in.ranges[I::k].start) >= 0,
             "m and k must not start below 0");
      break;
    }
    case Opcode::Mmad:
      expect(memory(Mmad::dst) == M::L0C && memory(Mmad::a) == M::L0A &&
                 memory(Mmad::b) == M::L0B && (!f(Mmad::useBias) || memory(Mmad::bias) == M::BT),
             "works on l0a, l0b, l0c and bt only");
      expect(oneOf(type(Mmad::type), {DataType::F16, DataType::BF16, DataType::F32, DataType::S8}),
             "type must be f16, bf16, f32 or s8");
      break;
    case Opcode::MoveL0C: {
      using I = MoveL0C;
      M d = memory(I::dst);
      expect(memory(I::src) == M::L0C, "source must be l0c");
      expect(soc.split ? d == M::GM || d == M::L1 : d == M::UB,
             soc.split ? "split cores write to gm or l1" : "coupled cores write to ub");
      DataType from = type(I::type), to = type(I::dstType);
      expect((from == DataType::F32 && oneOf(to, {DataType::F32, DataType::F16, DataType::BF16})) ||
                 (from == DataType::S32 && oneOf(to, {DataType::S32, DataType::F16, DataType::S8})),
             "no such conversion");
      break;
    }
    case Opcode::Vector: {
      VectorOp op = VectorOp(f(Vector::op));
      VectorOperands has = operandsOf(op);
      expect(memory(Vector::dst) == M::UB && (!has.a || memory(Vector::a) == M::UB) &&
                 (!has.b || memory(Vector::b) == M::UB) &&
                 (!has.mask || memory(Vector::mask) == M::UB),
             "works on ub only");
      DataType t = type(Vector::type);
      bool bytes = t == DataType::U8 || t == DataType::S8;
      bool moves = op == VectorOp::Copy || op == VectorOp::Fill || op == VectorOp::Cast;
      expect(!bytes || moves, "bytes can only be copied, filled and cast");
      expect(op != VectorOp::Cast || isType(f(Vector::dstType)), "casts to no type");
      break;
    }
    case Opcode::Transpose:
      expect(memory(0) == M::UB && memory(1) == M::UB, "works on ub only");
      break;
    case Opcode::SetFlag:
    case Opcode::WaitFlag:
      expect(f(SetFlag::id) + std::max<int64_t>(1, f(SetFlag::slots)) <= kFlagIds,
             "flag ids are 0 .. 7");
      expect(f(SetFlag::from) != f(SetFlag::to), "a queue needs no flag to itself");
      expect(f(SetFlag::depth) <= depth(), "counts more loops than are open");
      break;
    case Opcode::Signal:
      expect(f(Signal::event) < kEvents, "events are 0 .. 15");
      break;
    case Opcode::Await:
      expect(f(Await::event) < kEvents, "events are 0 .. 15");
      break;
    default:
      break;
    }
  }

  int64_t lowest(const Affine &value) const {
    int64_t sum = value.base;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      sum += std::min<int64_t>(0, value.strides[i] * (frame.trips[i] - 1));
    return sum;
  }

  uint64_t sizeOf(const Address &address) const {
    return address.memory == Memory::GM ? program.arguments[address.argument]
                                        : soc.memoryBytes(address.memory);
  }

  /// Looks at every iteration; ivs that no part of the instruction uses stay 0.
  void accesses(const Instruction &in) {
    const OpcodeInfo &info = infoOf(in.opcode);
    if (!info.addressCount)
      return;
    bool used[kMaxIvs] = {};
    auto mark = [&](const Affine &value) {
      for (unsigned i = 0; i < kMaxIvs; ++i)
        used[i] |= value.strides[i] != 0;
    };
    for (unsigned i = 0; i < info.rangeCount; ++i)
      mark(in.ranges[i].start);
    bool cut = false;
    for (unsigned i = 0; i < info.rangeCount; ++i)
      for (int64_t stride : in.ranges[i].start.strides)
        cut |= stride != 0;
    bool turns = false;
    for (unsigned i = 0; i < info.addressCount; ++i) {
      mark(in.addresses[i].offset);
      turns |= in.addresses[i].slots > 1;
      if (in.addresses[i].slots > 1)
        for (unsigned loop = 0; loop < in.addresses[i].depth; ++loop)
          used[kGridDims + loop] = true;
    }
    if (in.guard.kind != Guard::Always)
      used[in.guard.iv] = true;
    // Without cuts and turns addresses are affine: the corners are enough.
    bool corners = !cut && !turns && in.guard.kind == Guard::Always;
    int64_t points = 1, step[kMaxIvs];
    for (unsigned i = 0; i < kMaxIvs; ++i) {
      step[i] = corners ? std::max<int64_t>(1, frame.trips[i] - 1) : 1;
      if (used[i])
        points *= corners ? std::min<int64_t>(2, frame.trips[i]) : frame.trips[i];
      if (points > kMostPoints)
        return fault("its addresses cannot be proved: more than 1000000 iterations");
    }
    Frame at = frame;
    for (;;) {
      if (in.guard.admits(at) && !point(in, at))
        return;
      unsigned i = 0;
      for (; i < kMaxIvs; ++i) {
        if (!used[i])
          continue;
        if ((at.ivs[i] += step[i]) < at.trips[i])
          break;
        at.ivs[i] = 0;
      }
      if (i == kMaxIvs)
        return;
    }
  }

  /// One iteration; false after a fault.
  bool point(const Instruction &in, const Frame &at) {
    Box boxes[4];
    unsigned count = boxesOf(in, at, boxes);
    for (unsigned i = 0; i < count; ++i) {
      const Box &box = boxes[i];
      const Address &address = in.addresses[box.address];
      // Strides and counts are below 2^40: a product that is too large is wrong
      // long before it could overflow.
      for (unsigned d = 0; d < 3; ++d)
        if (box.count[d] > 1 && std::abs(box.stride[d]) > kLargest / box.count[d])
          return fault(name(in, box) + " is too large"), false;
      if (box.begin() < 0 || uint64_t(box.end()) > sizeOf(address)) {
        fault(name(in, box) + " covers bytes " + std::to_string(box.begin()) + " to " +
              std::to_string(box.end()) + " of " + nameOf(address.memory) + ", which has " +
              std::to_string(sizeOf(address)));
        return false;
      }
      int64_t aligned = int64_t(soc.alignment(address.memory));
      if (aligned > 1 && at.offset(address) % aligned) {
        fault(name(in, box) + " lies at byte " + std::to_string(at.offset(address)) + " of " +
              nameOf(address.memory) + ", which must be a multiple of " + std::to_string(aligned));
        return false;
      }
    }
    return true;
  }

  std::string name(const Instruction &in, const Box &box) const {
    return infoOf(in.opcode).addresses[box.address].name;
  }

  const Program &program;
  const SocTable &soc;
  Frame frame;
  size_t line = 0;
  std::vector<std::string> faults;
};

} // namespace

std::vector<std::string> verify(const Program &program, const SocTable &soc) {
  return Verifier(program, soc).run();
}

} // namespace atc::npu
