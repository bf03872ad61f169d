//===-- ProofTest.cpp - the proof of addresses against brute force --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every address is worked out here by the words of docs/npu-isa.md, with nothing
// of the code that is tested: a program is to be accepted if no address leaves its
// memory, and only then.

#include <catch2/catch.hpp>

#include "npu/isa/ProgramBuilder.h"
#include "npu/isa/Proof.h"
#include "npu/isa/Verify.h"

#include <random>

using namespace atc::npu;

namespace {

using B = ProgramBuilder;
using Wide = __int128;

std::mt19937_64 randomNumbers(7);
int64_t pick(int64_t low, int64_t high) {
  return low + int64_t(randomNumbers() % uint64_t(high - low + 1));
}
bool oneIn(unsigned n) { return randomNumbers() % n == 0; }

const SocTable &coupled() { return *findSoc("Ascend310P3"); }

/// First and last byte that an operand touches in any iteration.
struct Hull {
  Wide begin = 0, end = 0;
  bool empty = true;
  void add(Wide from, Wide bytes) {
    begin = empty ? from : std::min(begin, from);
    end = empty ? from + bytes : std::max(end, from + bytes);
    empty = false;
  }
};

/// Calls `visit` with the values of all ivs, in every round of every core.
template <typename Visit> void eachIteration(const Program &program, Visit visit) {
  std::vector<int64_t> trips(program.grid, program.grid + kGridDims);
  for (const Instruction &in : program.code)
    if (in.opcode == Opcode::LoopBegin)
      trips.push_back(in.fields[LoopBegin::trips]);
  std::vector<int64_t> ivs(kMaxIvs, 0);
  for (size_t at = 0; at < trips.size();) {
    visit(ivs, trips);
    for (at = 0; at < trips.size() && ++ivs[at] == trips[at]; ++at)
      ivs[at] = 0;
  }
}

Wide affine(const Affine &value, const std::vector<int64_t> &ivs) {
  Wide sum = value.base;
  for (unsigned i = 0; i < kMaxIvs; ++i)
    sum += Wide(value.strides[i]) * ivs[i];
  return sum;
}

Wide addressOf(const Address &address, const std::vector<int64_t> &ivs,
               const std::vector<int64_t> &trips) {
  Wide turn = 0;
  for (unsigned loop = 0; loop < address.depth; ++loop)
    turn = turn * trips[kGridDims + loop] + ivs[kGridDims + loop];
  return affine(address.offset, ivs) + turn % address.slots * address.slotBytes;
}

/// The positions of a range that are not cut off.
std::vector<int64_t> positions(const Range &range, const std::vector<int64_t> &ivs) {
  std::vector<int64_t> result;
  Wide start = affine(range.start, ivs);
  for (int64_t i = 0; i < range.length; ++i)
    if (start + i >= 0 && start + i < range.limit)
      result.push_back(i);
  return result;
}

bool guarded(const Guard &guard, const std::vector<int64_t> &ivs,
             const std::vector<int64_t> &trips) {
  switch (guard.kind) {
  case Guard::Always:
    return true;
  case Guard::First:
    return ivs[guard.iv] == 0;
  case Guard::NotFirst:
    return ivs[guard.iv] != 0;
  case Guard::Last:
    return ivs[guard.iv] == trips[guard.iv] - 1;
  case Guard::NotLast:
    return ivs[guard.iv] != trips[guard.iv] - 1;
  }
  return false;
}

/// Both operands of the program's only move, byte by byte.
void enumerateMove(const Program &program, const Instruction &in, Hull (&hulls)[2]) {
  eachIteration(program, [&](const std::vector<int64_t> &ivs, const std::vector<int64_t> &trips) {
    if (!guarded(in.guard, ivs, trips))
      return;
    Wide dst = addressOf(in.addresses[Move::dst], ivs, trips);
    Wide src = addressOf(in.addresses[Move::src], ivs, trips);
    for (int64_t o : positions(in.ranges[Move::outer], ivs))
      for (int64_t i : positions(in.ranges[Move::inner], ivs))
        for (int64_t b : positions(in.ranges[Move::bytes], ivs)) {
          hulls[0].add(dst + Wide(o) * in.fields[Move::dstOuter] +
                           Wide(i) * in.fields[Move::dstInner] + b,
                       1);
          hulls[1].add(src + Wide(o) * in.fields[Move::srcOuter] +
                           Wide(i) * in.fields[Move::srcInner] + b,
                       1);
        }
  });
}

Affine anyAffine(unsigned loops, int64_t unit, int64_t reach) {
  Affine value = constant(pick(-reach, reach) * unit);
  for (unsigned iv : {0u, 1u, kGridDims, kGridDims + 1, kGridDims + 2})
    if (iv < kGridDims + loops && oneIn(2))
      value.strides[iv] = pick(-reach, reach) * unit;
  return value;
}

/// A move in loops, on a grid, with buffers in turn, cut ranges and a guard, or with
/// a part of these. Sizes of the memories are given later.
Program anyMove(bool plain) {
  B b({uint32_t(pick(1, 3)), uint32_t(pick(1, 2)), 1});
  b.argument(1);
  unsigned loops = unsigned(pick(0, 3));
  std::function<void(unsigned)> nest = [&](unsigned depth) {
    if (depth < loops)
      return b.loop(pick(1, 4), [&](Affine) { nest(depth + 1); });
    Address dst = at(Memory::UB, anyAffine(loops, 32, 3)), src = gm(0, anyAffine(loops, 1, 9));
    Range ranges[3];
    for (unsigned r = 0; r < 3; ++r) {
      ranges[r] = range(pick(plain ? 1 : 0, r == 2 ? 9 : 4));
      if (plain || oneIn(2))
        continue;
      ranges[r].start = anyAffine(loops, 1, 3);
      if (oneIn(2))
        ranges[r].limit = pick(0, 8);
      // Mostly addresses move with the start, as those of tiles do.
      if (!oneIn(3))
        src.offset = src.offset + ranges[r].start * pick(-4, 9);
    }
    if (!plain && oneIn(2))
      dst = rotating(dst, unsigned(pick(1, 5)), pick(-4, 4) * 32, unsigned(pick(0, loops)));
    if (!plain && oneIn(3))
      src = rotating(src, unsigned(pick(1, 5)), pick(-40, 40), unsigned(pick(0, loops)));
    Instruction &in = b.add(Opcode::Move, {dst, src}, {ranges[0], ranges[1], ranges[2]},
                            {pick(-3, 3) * 32, pick(-3, 3) * 32, pick(-40, 40), pick(-9, 40)});
    if (!plain && oneIn(3))
      in.guard = {Guard::Kind(pick(1, 4)), uint8_t(pick(0, 2 + int64_t(loops)))};
  };
  nest(0);
  return b.take();
}

Instruction &moveOf(Program &program) {
  for (Instruction &in : program.code)
    if (in.opcode == Opcode::Move)
      return in;
  throw std::logic_error("no move");
}

struct Tally {
  unsigned accepted = 0, refused = 0, empty = 0, bounds = 0;
};

/// Sizes that fit to the byte, or do not.
Tally compareMoves(bool plain, int rounds) {
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    Program program = anyMove(plain);
    Instruction &in = moveOf(program);
    Hull hulls[2];
    enumerateMove(program, in, hulls);
    SocTable soc = coupled();
    if (!hulls[0].empty) {
      // Mostly both begin at 0 or a block before it.
      in.addresses[0].offset.base -= int64_t(hulls[0].begin) / 32 * 32 + (oneIn(8) ? 32 : 0);
      in.addresses[1].offset.base -= int64_t(hulls[1].begin) + (oneIn(8) ? 1 : 0);
      hulls[0] = hulls[1] = Hull();
      enumerateMove(program, in, hulls);
      soc.ubBytes = uint64_t(std::max<Wide>(1, hulls[0].end - oneIn(6)));
      program.arguments[0] = uint64_t(std::max<Wide>(1, hulls[1].end - oneIn(6) + 3 * oneIn(6)));
    }
    bool inside = true;
    for (unsigned i = 0; i < 2; ++i)
      inside &= hulls[i].empty || (hulls[i].begin >= 0 &&
                                   hulls[i].end <= Wide(i ? program.arguments[0] : soc.ubBytes));
    // Alignment of ub is not the question: all of it is a multiple of 32.
    std::vector<std::string> errors = verify(program, soc);
    if (errors.empty() != inside) {
      INFO("round " << round << (plain ? " plain " : " ") << (errors.empty() ? "" : errors[0]));
      CHECK(errors.empty() == inside);
    }
    tally.empty += hulls[0].empty;
    (inside ? tally.accepted : tally.refused) += 1;
    Frame frame;
    std::copy_n(program.grid, kGridDims, frame.trips);
    for (const Instruction &other : program.code)
      if (other.opcode == Opcode::LoopBegin)
        frame.trips[kGridDims + frame.depth++] = other.fields[LoopBegin::trips];
    CheckedInstruction checked(in, frame);
    IvBox box(frame, in.guard);
    Proof proof(checked, box);
    bool proven =
        proof.never() ||
        (proof.cover(0, Checked(soc.ubBytes)).isInside(Checked(soc.ubBytes)) &&
         proof.cover(1, Checked(program.arguments[0])).isInside(Checked(program.arguments[0])));
    if (proven && !inside)
      FAIL_CHECK("bounds prove what is wrong in round " << round);
    if (plain)
      CHECK(proven == inside);
    tally.bounds += proven;
  }
  return tally;
}

} // namespace

TEST_CASE("numbers are exact or lost") {
  Checked large = Checked::power(125);
  CHECK(large.known());
  CHECK_FALSE((large + large).known());
  CHECK_FALSE((-large - large).known());
  CHECK((large + large - 1).known() == false);
  CHECK((large - 1 + large).known());
  CHECK((Checked(INT64_MAX) * Checked(INT64_MAX)).text() ==
        "85070591730234615847396907784232501249");
  CHECK((Checked(INT64_MIN) * Checked(INT64_MIN)).known() == false); // 2^126
  CHECK_FALSE((Checked::power(64) * Checked::power(63)).known());
  CHECK((Checked::power(64) * Checked::power(40)).text() == "20282409603651670423947251286016");
  CHECK((Checked::power(100) * 0).is(0));
  Checked lost = large * large;
  CHECK(lost.text() == "an unknown number");
  for (Checked other : {Checked(0), large, lost}) {
    CHECK_FALSE(lost.is(other));
    CHECK_FALSE(lost.isAtMost(other));
    CHECK_FALSE(lost.isAtLeast(other));
    CHECK_FALSE(lost.isBelow(other));
    CHECK_FALSE(lost.isAbove(other));
    CHECK_FALSE(other.isAtMost(lost));
    CHECK_FALSE((lost * other).known());
    CHECK_FALSE((lost + other).known());
    CHECK_FALSE((other - lost).known());
    CHECK_FALSE(Checked::min(lost, other).known());
    CHECK_FALSE(Checked::max(other, lost).known());
    CHECK_FALSE(lost.dividedBy(other).known());
    CHECK_FALSE(other.dividedBy(lost).known());
    CHECK_FALSE(other.isMultipleOf(lost));
  }
  CHECK_FALSE(Checked(3).dividedBy(0).known());
  for (int64_t a : {-7, -6, -1, 0, 1, 6, 7})
    for (int64_t b : {-3, -1, 1, 3}) {
      int64_t down = a / b - (a % b != 0 && (a < 0) != (b < 0));
      CHECK(Checked(a).dividedBy(Checked(b)).is(Checked(down)));
      CHECK(Checked(a).isMultipleOf(Checked(b)) == (a % b == 0));
    }
  static_assert(!std::is_convertible_v<int64_t, Checked> &&
                    !std::is_convertible_v<uint64_t, Checked> &&
                    std::is_convertible_v<int, Checked>,
                "a product of two 64-bit numbers does not become Checked unasked");
}

TEST_CASE("moves are accepted if and only if no byte leaves its memory") {
  Tally tally = compareMoves(false, 6000);
  CHECK(tally.accepted > 2000);
  CHECK(tally.refused > 1000);
  CHECK(tally.bounds > 1500);
}

TEST_CASE("of plain moves bounds prove all that is in range") {
  Tally tally = compareMoves(true, 4000);
  CHECK(tally.accepted > 1500);
  CHECK(tally.refused > 800);
  CHECK(tally.bounds == tally.accepted);
}

TEST_CASE("runs of blocks and padded rows are accepted only if no element leaves") {
  // dst = a of a vector copy, f16: element l lies in block l / 16.
  unsigned accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    B b;
    Affine start;
    b.loop(pick(1, 4), [&](Affine i) {
      start = i * pick(-2, 3) + pick(-3, 3);
      Range lanes = range(start, pick(1, 40), oneIn(2) ? pick(1, 60) : INT64_MAX);
      int64_t blocks[2] = {pick(-2, 4) * 32, pick(-2, 4) * 32};
      b.add(Opcode::Vector,
            {at(Memory::UB, pick(0, 6) * 32), at(Memory::UB, i * (pick(-1, 2) * 32) + 64),
             at(Memory::UB, 0), at(Memory::UB, 0)},
            {range(pick(1, 3)), range(pick(1, 3)), lanes},
            {int64_t(VectorOp::Copy), int64_t(DataType::F16), int64_t(DataType::F16), 0,
             pick(-2, 3) * 32, pick(-2, 3) * 32, pick(-2, 3) * 32, pick(-2, 3) * 32, 0, 0, 0, 0,
             blocks[0], blocks[1], 32});
    });
    const Program &program = b.get();
    const Instruction &in = program.code[1];
    Hull hull;
    eachIteration(program, [&](const std::vector<int64_t> &ivs, const std::vector<int64_t> &trips) {
      for (unsigned operand = 0; operand < 2; ++operand) {
        Wide address = addressOf(in.addresses[operand], ivs, trips);
        int64_t outer = in.fields[operand ? Vector::aOuter : Vector::dstOuter];
        int64_t inner = in.fields[operand ? Vector::aInner : Vector::dstInner];
        int64_t block = in.fields[operand ? Vector::aBlock : Vector::dstBlock];
        for (int64_t o : positions(in.ranges[Vector::outer], ivs))
          for (int64_t i : positions(in.ranges[Vector::inner], ivs))
            for (int64_t l : positions(in.ranges[Vector::lanes], ivs))
              hull.add(address + o * outer + i * inner + l / 16 * block + l % 16 * 2, 2);
      }
    });
    SocTable soc = coupled();
    soc.ubBytes = uint64_t(std::max<Wide>(32, hull.end - oneIn(3) + 31 * oneIn(3)));
    bool inside = hull.empty || (hull.begin >= 0 && hull.end <= Wide(soc.ubBytes));
    bool taken = verify(program, soc).empty();
    accepted += taken;
    if (taken && !inside)
      FAIL_CHECK("round " << round);
  }
  CHECK(accepted > 300);

  // Rows and columns of the last block up to 16 and 32 bytes are zeroed.
  accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    int64_t rows = pick(1, 40), cols = pick(1, 40), dstCol = pick(0, 24) * 64;
    int64_t end = (cols - 1) / 16 * dstCol + (rows + 15) / 16 * 16 * 32;
    B b;
    unsigned x = b.argument(uint64_t((rows - 1) * 100 + cols * 2));
    b.add(Opcode::MoveNdToNz, {at(Memory::L1, 64), gm(x)}, {range(rows), range(cols)},
          {int64_t(DataType::F16), 100, dstCol});
    SocTable soc = coupled();
    soc.l1Bytes = uint64_t(64 + end - pick(0, 1));
    bool inside = 64 + end <= int64_t(soc.l1Bytes);
    accepted += inside;
    if (verify(b.get(), soc).empty() != inside)
      FAIL_CHECK("round " << round);
  }
  CHECK(accepted > 500);
}

TEST_CASE("no product of strides and counts wraps") {
  auto errors = [](const std::function<void(B &)> &write) {
    B b;
    b.argument(4096);
    write(b);
    return verify(b.get(), coupled());
  };
  auto refused = [&](const char *what, const std::function<void(B &)> &write) {
    std::vector<std::string> all = errors(write);
    INFO((all.empty() ? std::string("accepted") : all[0]));
    return all.size() == 1 && all[0].find(what) != std::string::npos;
  };
  const int64_t stride = int64_t(1) << 40, count = (int64_t(1) << 24) + 1;
  // 2^24 * 2^40 is 0 modulo 2^64. In a loop whose buffers in turn bounds do not
  // prove, each iteration is looked at: its last byte seemed to be its first.
  for (unsigned slots : {1u, 3u})
    CHECK(refused("src is too large", [&](B &b) {
      b.loop(4, [&](Affine i) {
        Address dst = at(Memory::UB, i * 64000 + 32);
        b.add(Opcode::Move, {slots == 1 ? dst : rotating(dst, slots, -32, 1), gm(0)},
              {range(1), range(count), range(16)}, {0, 0, 0, stride});
      });
    }));
  CHECK(refused("dst is too large", [&](B &b) {
    b.loop(4, [&](Affine) {
      b.add(Opcode::Move, {rotating(at(Memory::UB, 0), 3, 32, 1), gm(0)},
            {range(count), range(1), range(16)}, {stride, 0, 0, 0});
    });
  }));
  // The products of two ranges cancel each other in the last position.
  CHECK(refused("src covers bytes -36027697507336192 to 36027697507336193", [&](B &b) {
    b.add(Opcode::Move, {at(Memory::UB, 0), gm(0)}, {range(1 << 15), range(1 << 15), range(1)},
          {0, 0, stride, -stride});
  }));
  // Far out positions of a range, of which the address takes the same off.
  CHECK(refused("src is too large", [&](B &b) {
    b.add(Opcode::Move, {at(Memory::UB, 0), gm(0)},
          {range(constant(-(int64_t(1) << 30)), int64_t(1) << 31, 4), range(1), range(16)},
          {0, 0, stride, 0});
  }));
  // ivs: 2^40 times 2^20 rounds, six loops of 2^20 rounds.
  CHECK(refused("src is too large", [&](B &b) {
    b.loop(1 << 20, [&](Affine i) { b.move(at(Memory::UB, 0), gm(0, i * stride), 16); });
  }));
  std::vector<std::string> deep = errors([&](B &b) {
    std::function<void(unsigned)> nest = [&](unsigned depth) {
      if (depth)
        return b.loop(1 << 20, [&](Affine) { nest(depth - 1); });
      b.move(rotating(at(Memory::UB, 0), 255, INT64_C(1) << 39, 6), gm(0), 16);
    };
    nest(6);
  });
  REQUIRE(!deep.empty());
  CHECK(deep[0].find("runs more than 4294967296 instructions") != std::string::npos);
  // Slots and their bytes.
  CHECK(refused("dst is too large", [&](B &b) {
          b.loop(300, [&](Affine) {
            b.move(rotating(at(Memory::UB, 0), 255, int64_t(1) << 40, 1), gm(0), 16);
          });
        }) == false);
  CHECK(refused("may cover bytes 0 to 279275953455120 of ub", [&](B &b) {
    b.loop(1 << 18, [&](Affine) {
      b.move(rotating(at(Memory::UB, 0), 255, int64_t(1) << 40, 1), gm(0), 16);
    });
  }));
  CHECK(refused("has 1 slots", [&](B &b) {
    b.loop(2,
           [&](Affine) { b.move(rotating(at(Memory::UB, 0), 1, int64_t(1) << 62, 1), gm(0), 16); });
  }));
  // Starts, lengths, limits and offsets at the ends of 64 bits.
  for (int64_t edge : {INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1, stride + 1}) {
    CHECK_FALSE(errors([&](B &b) {
                  b.add(Opcode::Move, {at(Memory::UB, 0), gm(0)},
                        {range(constant(edge), 4, 4), range(1), range(16)});
                }).empty());
    CHECK_FALSE(errors([&](B &b) { b.move(at(Memory::UB, 0), gm(0), edge); }).empty());
    CHECK_FALSE(errors([&](B &b) { b.move(at(Memory::UB, 0), gm(0, edge), 16); }).empty());
    CHECK_FALSE(errors([&](B &b) {
                  b.add(Opcode::Move, {at(Memory::UB, 0), gm(0)}, {range(2), range(1), range(16)},
                        {0, 0, edge, 0});
                }).empty());
  }
  CHECK(errors([&](B &b) {
          b.add(Opcode::Move, {at(Memory::UB, 0), gm(0)},
                {range(Affine(), 1, INT64_MAX - 1), range(1), range(16)});
        }).empty());
  // A whole row of an image that stands far away.
  CHECK(refused("src is too large", [&](B &b) {
    b.add(Opcode::Img2Col, {at(Memory::L0A, 0), at(Memory::L1, 0)},
          {range(16), range(1), range(constant(int64_t(1) << 39), 1)},
          {32, 4, 1, 16, 65535, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0, 8192});
  }));
  CHECK(refused("src is too large", [&](B &b) {
    b.add(Opcode::Img2Col, {at(Memory::L0A, 0), at(Memory::L1, 0)},
          {range(constant(int64_t(1) << 39), 16), range(1), range(constant(0), 1)},
          {16, 2, 1, 16, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, stride, 0, 8192});
  }));
}

TEST_CASE("of huge numbers nothing is accepted whose ends are outside") {
  unsigned accepted = 0, huge = 0;
  auto edge = [&]() -> int64_t {
    int64_t power = int64_t(1) << (oneIn(3) ? 40 : pick(0, 41));
    return (oneIn(2) ? 1 : -1) * (oneIn(3) ? 0 : power + pick(-1, 1));
  };
  for (int round = 0; round < 20000; ++round) {
    B b;
    b.argument(uint64_t(1) << pick(8, 40));
    int64_t trips = int64_t(1) << pick(0, 20);
    int64_t lengths[3] = {1 + pick(0, 1) * (int64_t(1) << pick(0, 24)),
                          1 + pick(0, 1) * (int64_t(1) << pick(0, 24)), pick(1, 16)};
    b.loop(trips, [&](Affine i) {
      b.add(Opcode::Move, {at(Memory::UB, 0), gm(0, i * edge() + std::max<int64_t>(0, edge()))},
            {range(lengths[0]), range(lengths[1]), range(lengths[2])}, {0, 0, edge(), edge()});
    });
    const Instruction &in = b.get().code[1];
    // No range is cut: each factor counts alone.
    Wide begin = in.addresses[1].offset.base, end = begin + lengths[2];
    auto reach = [&](Wide stride, Wide count) {
      (stride < 0 ? begin : end) += stride * (count - 1);
    };
    reach(in.addresses[1].offset.strides[kGridDims], trips);
    reach(in.fields[Move::srcOuter], lengths[0]);
    reach(in.fields[Move::srcInner], lengths[1]);
    bool inside = begin >= 0 && end <= Wide(b.get().arguments[0]);
    bool taken = verify(b.get(), coupled()).empty();
    accepted += taken;
    huge += end - begin > Wide(1) << 62;
    if (taken && !inside)
      FAIL_CHECK("round " << round);
  }
  CHECK(accepted > 1000);
  CHECK(huge > 500);
}
