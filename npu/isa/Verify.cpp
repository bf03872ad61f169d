//===-- Verify.cpp - checks a program before it runs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file checks loops, flags and the limits of all values; the rules of each opcode and the
// accesses have files of their own. Values of a program are only compared here, or are Checked: no
// arithmetic on them can overflow.

#include "npu/isa/Verify.h"

#include "npu/isa/Proof.h"
#include "npu/isa/VerifyParts.h"

namespace atc::npu {

namespace {

constexpr Checked kMaxNumber(Limits::MaxNumber);

bool within(int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; }

class Verifier {
public:
  Verifier(const Program &program, const Section &section, const SocTable &soc,
           VerifyBudget &budget)
      : v{program, soc, budget}, program(program), section(section) {}

  std::vector<std::string> run() {
    v.line = program.code.size();
    if (header())
      code();
    if (v.unlisted)
      v.errors.push_back(std::to_string(v.unlisted) + " more errors");
    return std::move(v.errors);
  }

private:
  bool header();
  void code();
  void loopBegin(const Instruction &in);
  void loopEnd();
  void instruction(const Instruction &in);
  bool numbers(const Instruction &in);
  void affine(const Affine &value, const char *name);
  void address(const Address &value, const char *name);
  void field(const FieldInfo &info, int64_t value);
  void flags();
  Checked rounds() const;

  Verification v;
  const Program &program;
  const Section section;
  Checked cores = 1;
  bool tooLong = false;
  Checked instances; ///< of all instructions so far, on one core
  Checked work;      ///< elements of all instructions so far, on one core
  Checked signals;   ///< on one core
};

bool Verifier::header() {
  for (unsigned i = 0; i < kGridDims; ++i) {
    v.frame.trips[i] = section.grid[i];
    cores *= section.grid[i];
  }
  if (!cores.isWithin(1, Checked(v.soc.cores(section.vectorCore))))
    v.error("grid of " + cores.text() + " cores, " + v.soc.name + " has " +
            std::to_string(v.soc.cores(section.vectorCore)));
  if (program.arguments.size() > size_t(Limits::MaxArguments))
    v.error(std::to_string(program.arguments.size()) + " arguments, more than " +
            std::to_string(Limits::MaxArguments));
  else
    for (uint64_t bytes : program.arguments)
      if (!Checked(bytes).isAtMost(kMaxNumber))
        v.error("argument of " + std::to_string(bytes) + " bytes");
  if (program.code.size() > size_t(Limits::MaxInstructions))
    v.error(std::to_string(program.code.size()) + " instructions, more than " +
            std::to_string(Limits::MaxInstructions));
  else if (int64_t(section.end - section.begin) > v.budget.instructions)
    v.error("all programs of a model together have more than " +
            std::to_string(Limits::MaxModelInstructions) + " instructions");
  if (v.errorCount())
    return false;
  v.budget.instructions -= int64_t(section.end - section.begin);
  return true;
}

void Verifier::code() {
  for (v.line = section.begin; v.line < section.end; ++v.line) {
    const Instruction &in = program.code[v.line];
    if (unsigned(in.opcode) >= kOpcodes)
      v.error("unknown opcode");
    else if (in.opcode == Opcode::LoopBegin)
      loopBegin(in);
    else
      instruction(in);
  }
  v.line = program.code.size();
  if (v.frame.depth)
    return v.error(std::to_string(v.frame.depth) + " loops are not ended");
  if (v.errorCount())
    return;
  if (!(work * cores).isAtMost(Checked(Limits::MaxWork)))
    v.error("works on " + (work * cores).text() + " elements on all cores, more than " +
            std::to_string(Limits::MaxWork));
  if (!(signals * cores).isAtMost(Checked(Limits::MaxSignals)))
    v.error("gives " + (signals * cores).text() + " signals on all cores, more than " +
            std::to_string(Limits::MaxSignals));
  flags();
}

/// Returns how many iterations the loops around an instruction have together.
Checked Verifier::rounds() const {
  Checked product = 1;
  for (unsigned i = 0; i < v.depth(); ++i)
    product *= Checked(v.frame.trips[kGridDims + i]);
  return product;
}

void Verifier::loopBegin(const Instruction &in) {
  int64_t trips = in.fields[LoopBegin::trips];
  if (v.frame.depth >= kMaxLoops || !within(trips, 1, Limits::MaxCount)) {
    v.error("a loop of " + std::to_string(trips) + " trips at depth " +
            std::to_string(v.frame.depth + 1) + " (at most " + std::to_string(kMaxLoops) + ")");
    trips = 1;
  }
  if (v.frame.depth < kMaxLoops)
    v.frame.trips[kGridDims + v.frame.depth] = trips;
  ++v.frame.depth;
  if (!tooLong && !rounds().isAtMost(Checked(Limits::MaxCoreInstructions))) {
    tooLong = true;
    v.error("runs more than " + std::to_string(Limits::MaxCoreInstructions) +
            " instructions with the loops around it");
  }
}

void Verifier::loopEnd() {
  if (!v.frame.depth)
    return v.error("ends no loop");
  if (--v.frame.depth < kMaxLoops)
    v.frame.trips[kGridDims + v.frame.depth] = 1;
}

void Verifier::instruction(const Instruction &in) {
  instances += rounds();
  if (!tooLong && !instances.isAtMost(Checked(Limits::MaxCoreInstructions))) {
    tooLong = true;
    v.error("the program runs more than " + std::to_string(Limits::MaxCoreInstructions) +
            " instructions up to here");
  }
  if (in.opcode == Opcode::LoopEnd)
    return loopEnd();
  size_t before = v.errorCount();
  if (!numbers(in))
    return;
  CheckedInstruction checked(in, v.frame);
  verifyOpcode(v, in, checked);
  if (v.errorCount() != before)
    return;
  if (in.opcode == Opcode::Signal)
    signals += rounds();
  if (!infoOf(in.opcode).addressCount)
    return;
  work += rounds() * verifyAccesses(v, in, checked);
}

/// Checks the limits of every value, independent of the opcode.
bool Verifier::numbers(const Instruction &in) {
  size_t before = v.errorCount();
  if (unsigned(in.guard.kind) > Guard::NotLast ||
      (in.guard.kind != Guard::Always && in.guard.iv >= kGridDims + v.depth()))
    v.error("guarded by iv " + std::to_string(in.guard.iv) + ", which is not of an open loop");
  const OpcodeInfo &info = infoOf(in.opcode);
  for (unsigned i = 0; i < info.addressCount; ++i)
    address(in.addresses[i], info.addresses[i].name);
  for (unsigned i = 0; i < info.rangeCount; ++i) {
    const Range &range = in.ranges[i];
    affine(range.start, info.ranges[i]);
    if (!within(range.length, 0, Limits::MaxNumber) || range.limit < 0)
      v.error(std::string(info.ranges[i]) + " has length " + std::to_string(range.length) +
              " and limit " + std::to_string(range.limit));
  }
  for (unsigned i = 0; i < info.fieldCount; ++i)
    field(info.fields[i], in.fields[i]);
  return v.errorCount() == before;
}

void Verifier::affine(const Affine &value, const char *name) {
  bool large = !Checked(value.base).magnitude().isAtMost(kMaxNumber);
  for (unsigned i = 0; i < kMaxIvs; ++i) {
    if (!value.strides[i])
      continue;
    Checked reach = Checked(value.strides[i]) * Checked(v.frame.trips[i]);
    large |= !reach.magnitude().isAtMost(kMaxNumber);
    if (i >= kGridDims + v.depth())
      v.error(std::string(name) + " uses iv " + std::to_string(i) + " outside its loop");
  }
  if (large)
    v.error(std::string(name) + " is too large");
}

void Verifier::address(const Address &value, const char *name) {
  if (unsigned(value.memory) >= kMemories)
    return v.error(std::string(name) + " is in no memory");
  if (value.memory == Memory::GM && value.argument >= program.arguments.size())
    v.error(std::string(name) + " is in argument " + std::to_string(value.argument) + " of " +
            std::to_string(program.arguments.size()));
  if (value.slots < 1 || value.depth > v.depth() ||
      !within(value.slotBytes, -Limits::MaxNumber, Limits::MaxNumber))
    v.error(std::string(name) + " has " + std::to_string(value.slots) + " slots over " +
            std::to_string(value.depth) + " loops");
  affine(value.offset, name);
}

void Verifier::field(const FieldInfo &info, int64_t value) {
  bool good = true;
  switch (info.kind) {
  case FieldKind::Bytes:
    good = within(value, -Limits::MaxNumber, Limits::MaxNumber);
    break;
  case FieldKind::Count:
    good = within(value, 0, Limits::MaxCount);
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
    v.error(std::string(info.name) + " is " + std::to_string(value));
}

/// Checks that each core raises as many flags of a pair of queues as it waits for.
void Verifier::flags() {
  struct Sync {
    const Instruction *in;
    Checked rounds;
    bool grid; ///< only some cores run it
  };
  std::vector<Sync> all;
  bool differ = false; // do the cores?
  for (const Instruction &in :
       std::span(program.code).subspan(section.begin, section.end - section.begin)) {
    if (in.opcode == Opcode::LoopBegin) {
      v.frame.trips[kGridDims + v.frame.depth++] = in.fields[LoopBegin::trips];
    } else if (in.opcode == Opcode::LoopEnd) {
      v.frame.trips[kGridDims + --v.frame.depth] = 1;
    } else if (in.opcode == Opcode::SetFlag || in.opcode == Opcode::WaitFlag) {
      Checked count = rounds();
      bool guarded = in.guard.kind != Guard::Always, grid = guarded && in.guard.iv < kGridDims;
      differ |= grid;
      if (guarded && !grid) {
        Checked trips(v.frame.trips[in.guard.iv]);
        bool once = in.guard.kind == Guard::First || in.guard.kind == Guard::Last;
        count = count.dividedBy(trips) * (once ? 1 : trips - 1);
      }
      all.push_back({&in, count, grid});
    }
  }
  uint32_t count = differ ? uint32_t(section.cores()) : 1;
  for (uint32_t core = 0; core < count; ++core) {
    uint32_t rest = core;
    for (int dim = kGridDims - 1; dim >= 0; rest /= section.grid[dim--])
      v.frame.ivs[dim] = int64_t(rest % section.grid[dim]);
    Checked raised[kQueues][kQueues], taken[kQueues][kQueues];
    for (const Sync &sync : all) {
      if (sync.grid && !sync.in->guard.admits(v.frame))
        continue;
      const int64_t *f = sync.in->fields;
      auto &counts = sync.in->opcode == Opcode::SetFlag ? raised : taken;
      counts[f[SetFlag::from]][f[SetFlag::to]] += sync.rounds;
    }
    for (unsigned from = 0; from < kQueues; ++from)
      for (unsigned to = 0; to < kQueues; ++to)
        if (!raised[from][to].is(taken[from][to]))
          v.error("core " + std::to_string(core) + " raises " + raised[from][to].text() +
                  " flags " + nameOf(Queue(from)) + " -> " + nameOf(Queue(to)) + " and waits for " +
                  taken[from][to].text());
    if (v.errorCount())
      return;
  }
}

} // namespace

std::vector<std::string> verify(const Program &program, const SocTable &soc, VerifyBudget &budget) {
  if (program.isMixed() && (program.vectorCore || !soc.crossLatency || !soc.split))
    return {program.vectorCore
                ? "is for vector cores, and has instructions for more of them"
                : "runs on cube and vector cores at once, which " + soc.name + " cannot"};
  if (program.isMixed() && program.vectorBegin > program.code.size())
    return {"has " + std::to_string(program.code.size()) +
            " instructions, those for vector cores begin behind them"};
  std::vector<std::string> errors;
  for (const Section &section : program.sections())
    for (std::string &error : Verifier(program, section, soc, budget).run())
      if (errors.size() <= size_t(Limits::MaxErrors)) // and how many more there are
        errors.push_back(std::move(error));
  return errors;
}

std::vector<std::string> verify(const Program &program, const SocTable &soc) {
  VerifyBudget budget;
  return verify(program, soc, budget);
}

} // namespace atc::npu
