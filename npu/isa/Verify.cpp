//===-- Verify.cpp - what is proved of a program before it runs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Verify.h"

#include "npu/isa/Proof.h"

namespace atc::npu {

namespace {

// Numbers of a program stay below this, so that no sum of products overflows.
constexpr int64_t kLargest = int64_t(1) << 40, kMostTrips = int64_t(1) << 20;
// Instructions that a core runs, and elements that one of them goes over.
constexpr int64_t kMostInstances = int64_t(1) << 40, kMostWork = int64_t(1) << 32;
// Iterations that are looked at where bounds prove nothing: of one instruction
// and of a program.
constexpr int64_t kMostPoints = 100000, kMostPointsInAll = 1000000;

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
    else if (faults.empty())
      flags();
    return std::move(faults);
  }

private:
  /// Each core raises as many flags of a pair of queues as it waits for.
  void flags() {
    struct Sync {
      const Instruction *in;
      int64_t rounds;
    };
    std::vector<Sync> all;
    bool differ = false; // do the cores?
    for (line = 0; line < program.code.size(); ++line) {
      const Instruction &in = program.code[line];
      if (in.opcode == Opcode::LoopBegin) {
        frame.trips[kGridDims + frame.depth++] = in.fields[LoopBegin::trips];
      } else if (in.opcode == Opcode::LoopEnd) {
        frame.trips[kGridDims + --frame.depth] = 1;
      } else if (in.opcode == Opcode::SetFlag || in.opcode == Opcode::WaitFlag) {
        int64_t count = int64_t(rounds());
        bool grid = in.guard.kind != Guard::Always && in.guard.iv < kGridDims;
        differ |= grid;
        if (in.guard.kind != Guard::Always && !grid) {
          int64_t trips = frame.trips[in.guard.iv];
          bool once = in.guard.kind == Guard::First || in.guard.kind == Guard::Last;
          count = count / trips * (once ? 1 : trips - 1);
        }
        all.push_back({&in, count});
      }
    }
    uint64_t cores = differ ? uint64_t(program.grid[0]) * program.grid[1] * program.grid[2] : 1;
    for (uint64_t core = 0; core < cores; ++core) {
      uint64_t rest = core;
      for (int dim = kGridDims - 1; dim >= 0; rest /= program.grid[dim--])
        frame.ivs[dim] = int64_t(rest % program.grid[dim]);
      int64_t raised[kQueues][kQueues] = {}, taken[kQueues][kQueues] = {};
      for (const Sync &sync : all) {
        bool grid = sync.in->guard.kind != Guard::Always && sync.in->guard.iv < kGridDims;
        if (grid && !sync.in->guard.admits(frame))
          continue;
        const int64_t *f = sync.in->fields;
        auto &counts = sync.in->opcode == Opcode::SetFlag ? raised : taken;
        counts[f[SetFlag::from]][f[SetFlag::to]] += sync.rounds;
      }
      for (unsigned from = 0; from < kQueues; ++from)
        for (unsigned to = 0; to < kQueues; ++to)
          if (raised[from][to] != taken[from][to])
            fault("core " + std::to_string(core) + " raises " + std::to_string(raised[from][to]) +
                  " flags " + nameOf(Queue(from)) + " -> " + nameOf(Queue(to)) + " and waits for " +
                  std::to_string(taken[from][to]));
      if (!faults.empty())
        return;
    }
  }

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
      if (!tooLong && rounds() > kMostInstances)
        tooLong = true, fault("runs more than 2^40 instructions with the loops around it");
      return;
    }
    if (!tooLong && (instances += rounds()) > kMostInstances)
      tooLong = true, fault("the program runs more than 2^40 instructions up to here");
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

  /// Iterations of the open loops.
  Wide rounds() const {
    Wide product = 1;
    for (unsigned i = 0; i < depth(); ++i)
      product *= frame.trips[kGridDims + i];
    return product;
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
      if (in.opcode == Opcode::LoadImage) {
        expect(f(LoadImage::channels) <= f(LoadImage::c0) && f(LoadImage::c0) <= 16 &&
                   f(LoadImage::width) > 0 &&
                   oneOf(type(LoadImage::type),
                         {DataType::F32, DataType::F16, DataType::U8, DataType::S8}),
               "takes up to c0 <= 16 channels of f32, f16, u8 or s8");
        expect(floatOf(f(LoadImage::scale)) == 0 ||
                   oneOf(type(LoadImage::type), {DataType::F32, DataType::F16}),
               "quantizes f32 and f16 only");
      }
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
      expect(oneOf(type(Mmad::type), {DataType::F16, DataType::BF16, DataType::F32, DataType::S8,
                                      DataType::U8}),
             "type must be f16, bf16, f32, s8 or u8");
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
    case Opcode::Requantize: {
      using I = Requantize;
      expect(memory(I::src) == M::L0C && memory(I::dst) == M::UB && memory(I::scales) == M::UB &&
                 !soc.split,
             "goes from l0c to ub of coupled cores, with scales in ub");
      DataType to = type(I::dstType), stored = type(I::stored);
      expect(oneOf(type(I::type), {DataType::F32, DataType::S32}) &&
                 oneOf(stored, {DataType::U8, DataType::S8}) &&
                 (to == stored || to == DataType::F32),
             "no such conversion");
      break;
    }
    case Opcode::RequantizeAdd: {
      using I = RequantizeAdd;
      expect(memory(I::src) == M::L0C && memory(I::dst) == M::UB && memory(I::scales) == M::UB &&
                 memory(I::addend) == M::UB && !soc.split,
             "goes from l0c to ub of coupled cores, with scales and addend in ub");
      auto isByte = [&](unsigned i) { return oneOf(type(i), {DataType::U8, DataType::S8}); };
      expect(oneOf(type(I::type), {DataType::F32, DataType::S32}) && isByte(I::dstType) &&
                 isByte(I::stored) && isByte(I::addendType),
             "stores and adds u8 and s8 only");
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
      bool moves = op == VectorOp::Copy || op == VectorOp::Fill || isCast(op);
      expect(!bytes || moves, "bytes can only be copied, filled and cast");
      expect(!isCast(op) || isType(f(Vector::dstType)), "casts to no type");
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

  /// By bounds over all iterations and, where these prove nothing, by looking at
  /// each.
  void accesses(const Instruction &in) {
    if (!infoOf(in.opcode).addressCount)
      return;
    Proof proof(in, frame);
    if (proof.never())
      return;
    Wide work = 1;
    for (unsigned i = 0; i < infoOf(in.opcode).rangeCount; ++i)
      if (in.opcode != Opcode::Img2Col || i != Img2Col::row0)
        work = std::min<Wide>(work * proof.positions(i), Wide(kMostWork) + 1);
    if (work > kMostWork)
      return fault("goes over more than 2^32 elements at once");
    Operand operands[4];
    unsigned count = operandsOf(in, operands);
    for (unsigned i = 0; i < count; ++i)
      if (!aligned(in, operands[i], proof))
        return;
    for (unsigned i = 0; i < count; ++i) {
      const Address &address = in.addresses[operands[i].address];
      Cover cover = proof.cover(operands[i], Wide(sizeOf(address)));
      std::string name = infoOf(in.opcode).addresses[operands[i].address].name;
      if (cover.tooLarge)
        return fault(name + " is too large");
      if (cover.begin >= 0 && cover.end <= Wide(sizeOf(address)))
        continue;
      if (!points(in))
        fault(name + " may cover bytes " + text(cover.begin) + " to " + text(cover.end) + " of " +
              nameOf(address.memory) + ", which has " + std::to_string(sizeOf(address)) +
              "; its many iterations were not looked at");
      return; // looked at with all operands
    }
  }

  /// Addresses and the strides between blocks in local memories.
  bool aligned(const Instruction &in, const Operand &operand, const Proof &proof) {
    const Address &address = in.addresses[operand.address];
    int64_t step = int64_t(soc.alignment(address.memory));
    std::string name = infoOf(in.opcode).addresses[operand.address].name;
    auto must = [&](int64_t value, const std::string &what) {
      if (step <= 1 || value % step == 0)
        return true;
      fault(name + what + std::to_string(value) + " of " + nameOf(address.memory) +
            ", which must be a multiple of " + std::to_string(step));
      return false;
    };
    const IvBox &ivs = proof.ivs();
    int64_t lowest = address.offset.at(ivs.low);
    if (!must(lowest, " lies at byte "))
      return false;
    for (unsigned i = 0; i < kMaxIvs; ++i)
      if (ivs.high[i] > ivs.low[i] && !must(address.offset.strides[i], " moves by bytes "))
        return false;
    if (address.slots > 1 && !must(address.slotBytes, " turns by bytes "))
      return false;
    for (unsigned t = 0; t < operand.termCount; ++t)
      if (operand.terms[t].given && proof.moves(operand.terms[t]) &&
          !must(operand.terms[t].stride, " has blocks at strides of bytes "))
        return false;
    return true;
  }

  static std::string text(Wide value) {
    bool less = value < 0;
    std::string digits;
    for (Wide rest = less ? -value : value; rest || digits.empty(); rest /= 10)
      digits.insert(digits.begin(), char('0' + int(rest % 10)));
    return less ? "-" + digits : digits;
  }

  /// Looks at every iteration; ivs that no part of the instruction uses stay 0.
  /// False if they are too many.
  bool points(const Instruction &in) {
    const OpcodeInfo &info = infoOf(in.opcode);
    bool used[kMaxIvs] = {};
    auto mark = [&](const Affine &value) {
      for (unsigned i = 0; i < kMaxIvs; ++i)
        used[i] |= value.strides[i] != 0;
    };
    for (unsigned i = 0; i < info.rangeCount; ++i)
      mark(in.ranges[i].start);
    for (unsigned i = 0; i < info.addressCount; ++i) {
      mark(in.addresses[i].offset);
      if (in.addresses[i].slots > 1)
        for (unsigned loop = 0; loop < in.addresses[i].depth; ++loop)
          used[kGridDims + loop] = true;
    }
    if (in.guard.kind != Guard::Always)
      used[in.guard.iv] = true;
    int64_t count = 1;
    for (unsigned i = 0; i < kMaxIvs; ++i) {
      if (used[i])
        count *= frame.trips[i];
      if (count > std::min(kMostPoints, pointsLeft))
        return false;
    }
    pointsLeft -= count;
    Frame at = frame;
    for (;;) {
      if (in.guard.admits(at) && !point(in, at))
        return true;
      unsigned i = 0;
      for (; i < kMaxIvs; ++i) {
        if (!used[i])
          continue;
        if (++at.ivs[i] < at.trips[i])
          break;
        at.ivs[i] = 0;
      }
      if (i == kMaxIvs)
        return true;
    }
  }

  /// One iteration; false after a fault.
  bool point(const Instruction &in, const Frame &at) {
    Box boxes[4];
    unsigned count = boxesOf(in, at, boxes);
    for (unsigned i = 0; i < count; ++i) {
      const Box &box = boxes[i];
      const Address &address = in.addresses[box.address];
      if (box.begin() < 0 || uint64_t(box.end()) > sizeOf(address)) {
        fault(name(in, box) + " covers bytes " + std::to_string(box.begin()) + " to " +
              std::to_string(box.end()) + " of " + nameOf(address.memory) + ", which has " +
              std::to_string(sizeOf(address)));
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
  int64_t pointsLeft = kMostPointsInAll;
  bool tooLong = false;
  Wide instances = 0; ///< of all instructions so far, on one core
  std::vector<std::string> faults;
};

} // namespace

std::vector<std::string> verify(const Program &program, const SocTable &soc) {
  return Verifier(program, soc).run();
}

} // namespace atc::npu
