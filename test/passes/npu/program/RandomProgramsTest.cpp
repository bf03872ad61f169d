//===-- RandomProgramsTest.cpp - the passes on programs drawn by seeds ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OPENATC_NIGHTLY=1 draws 2,000 programs; NPU_PROGRAMS_SEED=n draws the one of seed n.

#include "npu/isa/Disassemble.h"
#include "npu/simulator/Hazards.h"
#include "test/passes/npu/ProgramRunner.h"
#include "test/passes/npu/Programs.h"
#include "test/passes/npu/program/OrderReference.h"
#include "test/passes/npu/program/RandomProgram.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <random>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

const SocTable &soc() { return *findSoc("Ascend310P3"); }

std::vector<Hazard> hazardsOf(const Program &program) {
  return HazardChecker(soc()).check({&program, "p", {}, {}});
}

Ordered verdictOf(const Program &program) {
  Ordered verdict = Ordered::Yes;
  for (const Hazard &hazard : hazardsOf(program)) {
    if (hazard.kind == Hazard::NeverSatisfied)
      return Ordered::Hangs;
    if (hazard.kind <= Hazard::WriteAfterWrite)
      verdict = Ordered::No;
  }
  return verdict;
}

/// The instruction does nothing any more; loops and lines stay what they are.
void remove(Program &program, size_t index) {
  program.code[index].opcode = Opcode::PipeBarrier;
  program.code[index].fields[PipeBarrier::queue] = int64_t(Queue::M);
}

/// The barriers, and the pairs of a set and a wait of the same flag that stand in
/// the same loop: without any of them the rest is a program.
std::vector<std::vector<size_t>> removable(const Program &program) {
  std::vector<std::vector<size_t>> result;
  using Key = std::vector<int64_t>;
  std::map<Key, std::vector<size_t>> sets, waits;
  std::vector<int64_t> open;
  int64_t loops = 0;
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction &in = program.code[i];
    if (in.opcode == Opcode::LoopBegin)
      open.push_back(++loops);
    else if (in.opcode == Opcode::LoopEnd)
      open.pop_back();
    else if (in.opcode == Opcode::PipeBarrier)
      result.push_back({i});
    if (in.opcode != Opcode::SetFlag && in.opcode != Opcode::WaitFlag)
      continue;
    Key key(in.fields, in.fields + SetFlag::fieldCount);
    key.push_back(in.guard.kind);
    key.push_back(in.guard.iv);
    key.insert(key.end(), open.begin(), open.end());
    (in.opcode == Opcode::SetFlag ? sets : waits)[key].push_back(i);
  }
  for (const auto &[key, list] : sets)
    for (size_t set : list)
      for (size_t wait : waits[key])
        result.push_back({set, wait});
  return result;
}

uint64_t instancesOf(const Program &program) {
  uint64_t count = 0, rounds = 1;
  std::vector<uint64_t> trips;
  for (const Instruction &in : program.code) {
    if (in.opcode == Opcode::LoopBegin) {
      trips.push_back(uint64_t(in.fields[LoopBegin::trips]));
      rounds *= trips.back();
    } else if (in.opcode == Opcode::LoopEnd) {
      rounds /= trips.back();
      trips.pop_back();
    } else {
      count += rounds;
    }
  }
  return count;
}

std::string textOf(const std::vector<Hazard> &hazards) {
  std::string text;
  for (const Hazard &hazard : hazards)
    text += hazard.text + "\n";
  return text;
}

} // namespace

TEST_CASE("random programs on all queues") {
  unsigned removed = 0, mattered = 0, looked = 0;
  const char *only = std::getenv("NPU_PROGRAMS_SEED");
  const uint32_t firstSeed = only ? uint32_t(std::strtoul(only, nullptr, 10)) : 0;
  const uint32_t seedCount = only ? 1 : std::getenv("OPENATC_NIGHTLY") ? 2000 : 200;
  for (uint32_t seed = firstSeed; seed < firstSeed + seedCount; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text = randomProgram(seed);
    INFO(text);
    Program plain = compile(text, nullptr);
    Options options{seed % 2 == 0, seed % 3 != 0, seed % 5 != 0, seed % 7 != 0};
    CAPTURE(options.doubleBuffering, options.reorder, options.minimise, options.allocate);
    Program program = compile(text, &options);
    INFO(disassemble(program));
    CHECK(textOf(hazardsOf(program)) == "");

    Contents inputs = inputsOf(plain), expected = runSequentially(plain, soc(), inputs);
    std::string error;
    bool same = runSimulated(program, soc(), inputs, true, error) == expected;
    CHECK(error == "");
    CHECK(same);

    if (instancesOf(program) > 1200)
      continue;
    ++looked;
    CHECK(orderOf(program) == Ordered::Yes);
    std::vector<std::vector<size_t>> parts = removable(program);
    std::shuffle(parts.begin(), parts.end(), random);
    if (parts.size() > 12)
      parts.resize(12);
    for (const std::vector<size_t> &part : parts) {
      Program less = program;
      for (size_t index : part)
        remove(less, index);
      Ordered expectedVerdict = orderOf(less), verdict = verdictOf(less);
      // A full queue can hang what endless queues would not.
      if (verdict == Ordered::Hangs)
        expectedVerdict = verdict;
      CAPTURE(part);
      CHECK(int(verdict) == int(expectedVerdict));
      ++removed;
      mattered += verdict != Ordered::Yes;
    }
  }
  // The drawings must be worth something.
  if (!only) {
    CHECK(looked > seedCount / 2);
    CHECK(mattered > 2 * seedCount);
  }
  WARN(looked << " programs looked at, " << removed << " removals, " << mattered << " mattered");
}

TEST_CASE("100 of 100 missing barriers of the vector queue are found") {
  unsigned removed = 0, needless = 0;
  for (uint32_t seed = 0; removed < 100 && seed < 1000; ++seed) {
    CAPTURE(seed);
    Options options{true, true, true, true};
    Program program = compile(randomProgram(seed), &options);
    if (instancesOf(program) > 1200)
      continue;
    for (size_t i = 0; i < program.code.size() && removed < 100; ++i) {
      const Instruction &in = program.code[i];
      if (in.opcode != Opcode::PipeBarrier || in.fields[PipeBarrier::queue] != int64_t(Queue::V))
        continue;
      Program less = program;
      remove(less, i);
      if (orderOf(less) == Ordered::Yes) {
        ++needless;
        continue;
      }
      ++removed;
      CAPTURE(i);
      CHECK(int(verdictOf(less)) == int(Ordered::No));
    }
  }
  CHECK(removed == 100);
  // Clamped ranges and guards make some conflicts of whole buffers none.
  CHECK(needless < 60);
}

TEST_CASE("programs as expanders write them have no hazards") {
  std::string texts[] = {matmul({64, 48, 96, 32, 32, 32, 16}),
                         matmul({100, 50, 72, 32, 32, 64, 32, true}),
                         elementwise(1100),
                         convolution(),
                         twoStages(),
                         accumulate(),
                         pieces(),
                         inPlace(),
                         pingPong(7),
                         straight(20)};
  for (const std::string &text : texts)
    for (unsigned bits = 0; bits < 8; ++bits) {
      Options options{bool(bits & 1), bool(bits & 2), bool(bits & 4)};
      Program program = compile(text, &options);
      INFO(disassemble(program));
      CHECK(textOf(hazardsOf(program)) == "");
    }
}
