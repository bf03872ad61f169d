//===-- ProgramRunner.cpp - runs npu programs in many orders --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/ProgramRunner.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Footprint.h"
#include "npu/isa/Verify.h"
#include "npu/simulator/Execute.h"
#include "npu/simulator/Hazards.h"
#include "npu/simulator/Loops.h"
#include "passes/npu/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <random>

using namespace mlir;

namespace atc::npu::test {

Program compile(const std::string &text, const Options *options, SyncCounts *counts) {
  DialectRegistry registry;
  ir::registerNpuDialect(registry);
  MLIRContext context(registry);
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  INFO(messages);
  REQUIRE(module);
  PassManager manager(&context);
  if (options) {
    NpuProgramOptions chosen;
    chosen.maxBuffers = options->doubleBuffering ? 2 : 1;
    chosen.reorder = options->reorder;
    chosen.minimiseSync = options->minimise;
    chosen.allocateFlags = options->allocate;
    buildNpuProgramPipeline(manager, chosen);
  } else {
    manager.addNestedPass<ir::ProgramOp>(createNpuAllocateLocalMemory());
  }
  bool passed = succeeded(manager.run(*module));
  INFO(messages);
  REQUIRE(passed);
  ir::ProgramOp program = *module->getOps<ir::ProgramOp>().begin();
  if (counts)
    program.walk([&](Operation *op) {
      counts->flags += isa<ir::SetFlagOp>(op);
      auto barrier = dyn_cast<ir::PipeBarrierOp>(op);
      counts->barriers += barrier && barrier.getQueue() == ir::QueueKind::S;
    });
  FailureOr<Program> encoded = encodeProgram(program);
  REQUIRE(succeeded(encoded));
  std::vector<std::string> errorLines = verify(*encoded, *findSoc(program.getSoc().str()));
  CHECK(errorLines == std::vector<std::string>());
  return std::move(*encoded);
}

Contents inputsOf(const Program &program) {
  Contents contents;
  std::mt19937 random(7);
  for (uint64_t bytes : program.arguments) {
    auto &content = contents.emplace_back(bytes);
    for (size_t i = 0; i + 1 < bytes; i += 2) {
      // f16 of magnitudes 1/8 to 1, both signs.
      uint16_t bits = uint16_t(0x3000 + random() % 0x0c00) | uint16_t((random() & 1) << 15);
      content[i] = uint8_t(bits);
      content[i + 1] = uint8_t(bits >> 8);
    }
  }
  return contents;
}

namespace {

bool runs(const Instruction &instruction, const Frame &frame) {
  Box boxes[4];
  return boxesOf(instruction, frame, boxes) > 0;
}

/// Walks a core's program in its order.
template <typename Fn> void walk(const Program &program, Frame frame, const Fn &visit) {
  std::vector<size_t> begins;
  for (size_t pc = 0; pc < program.code.size(); ++pc) {
    const Instruction &instruction = program.code[pc];
    if (instruction.opcode == Opcode::LoopBegin) {
      begins.push_back(pc);
      enterLoop(frame, instruction.fields[LoopBegin::trips]);
    } else if (instruction.opcode == Opcode::LoopEnd) {
      if (nextRound(frame))
        pc = begins.back();
      else
        begins.pop_back();
    } else if (instruction.guard.admits(frame)) {
      visit(instruction, frame);
    }
  }
}

template <typename Fn> void forEachCore(const Program &program, const Fn &visit) {
  unsigned cores = program.grid[0] * program.grid[1] * program.grid[2];
  for (unsigned core = 0; core < cores; ++core) {
    Frame frame;
    unsigned rest = core;
    for (int dim = kGridDims - 1; dim >= 0; --dim) {
      frame.ivs[dim] = rest % program.grid[dim];
      frame.trips[dim] = program.grid[dim];
      rest /= program.grid[dim];
    }
    visit(core, frame);
  }
}

CoreMemory memoryOf(const SocTable &soc, Contents &contents) {
  CoreMemory memory(soc);
  for (auto &content : contents)
    memory.arguments.push_back(content.data());
  return memory;
}

struct Issued {
  const Instruction *instruction;
  Frame frame;
  size_t barriers; ///< that come before it
};

/// A core with all instructions that it will execute.
struct ShuffledCore {
  std::vector<Issued> queues[kQueues];
  size_t done[kQueues] = {};
  std::vector<std::array<size_t, kQueues>> barriers; ///< what each waits for
  size_t passed = 0;
  unsigned up[kQueues][kQueues][kFlagIds] = {};

  explicit ShuffledCore(const Program &program, const Frame &frame) {
    walk(program, frame, [&](const Instruction &instruction, const Frame &at) {
      unsigned queue = unsigned(queueOf(instruction));
      if (instruction.opcode == Opcode::PipeBarrier && queue == 0) {
        auto &wanted = barriers.emplace_back();
        for (unsigned q = 0; q < kQueues; ++q)
          wanted[q] = queues[q].size();
        return;
      }
      queues[queue].push_back({&instruction, at, barriers.size()});
    });
  }
  bool passBarrier() {
    if (passed == barriers.size())
      return false;
    for (unsigned queue = 0; queue < kQueues; ++queue)
      if (done[queue] < barriers[passed][queue])
        return false;
    ++passed;
    return true;
  }
  unsigned *flagAt(const Issued &entry) {
    const int64_t *fields = entry.instruction->fields;
    return &up[fields[SetFlag::from]][fields[SetFlag::to]][flagOf(*entry.instruction, entry.frame)];
  }
  bool canGo(unsigned queue) {
    if (done[queue] == queues[queue].size())
      return false;
    const Issued &entry = queues[queue][done[queue]];
    return entry.barriers <= passed &&
           (entry.instruction->opcode != Opcode::WaitFlag || *flagAt(entry));
  }
};

class MemoryObserver : public Observer {
public:
  MemoryObserver(const Program &program, const SocTable &soc, Contents &contents) {
    forEachCore(program, [&](unsigned, const Frame &) {
      memories.push_back(memoryOf(soc, contents));
      up.emplace_back();
    });
  }
  void execute(unsigned core, const Instruction &instruction, const Frame &frame) override {
    bool isSet = instruction.opcode == Opcode::SetFlag;
    if (isSet || instruction.opcode == Opcode::WaitFlag) {
      uint8_t &flag = up[core][instruction.fields[SetFlag::from]][instruction.fields[SetFlag::to]]
                        [flagOf(instruction, frame)];
      if (isSet && flag)
        ++raisedTwice;
      flag = isSet;
      return;
    }
    atc::npu::execute(instruction, frame, memories[core]);
  }
  bool anyUp() const {
    for (const auto &core : up)
      for (const auto &from : core)
        for (const auto &to : from)
          for (uint8_t flag : to)
            if (flag)
              return true;
    return false;
  }
  unsigned raisedTwice = 0;

private:
  using Flags = std::array<std::array<std::array<uint8_t, kFlagIds>, kQueues>, kQueues>;
  std::vector<CoreMemory> memories;
  std::vector<Flags> up;
};

} // namespace

Contents runSequentially(const Program &program, const SocTable &soc, Contents contents) {
  forEachCore(program, [&](unsigned, const Frame &frame) {
    CoreMemory memory = memoryOf(soc, contents);
    walk(program, frame, [&](const Instruction &instruction, const Frame &at) {
      if (runs(instruction, at))
        execute(instruction, at, memory);
    });
  });
  return contents;
}

Contents runShuffled(const Program &program, const SocTable &soc, Contents contents, uint32_t seed,
                     std::string &error) {
  std::mt19937 random(seed);
  forEachCore(program, [&](unsigned, const Frame &frame) {
    CoreMemory memory = memoryOf(soc, contents);
    ShuffledCore core(program, frame);
    // Some seeds always prefer the same queues: those run as far ahead as they can.
    unsigned order[kQueues];
    for (unsigned queue = 0; queue < kQueues; ++queue)
      order[queue] = queue;
    std::shuffle(order, order + kQueues, random);
    for (;;) {
      while (core.passBarrier()) {
      }
      if (seed % 2)
        std::shuffle(order, order + kQueues, random);
      auto queue = std::find_if(order, order + kQueues, [&](unsigned q) { return core.canGo(q); });
      if (queue == order + kQueues)
        break;
      const Issued &entry = core.queues[*queue][core.done[*queue]++];
      if (entry.instruction->opcode == Opcode::SetFlag) {
        if (++*core.flagAt(entry) > 1)
          error += "flag of instruction " + std::to_string(entry.instruction->line) +
                   " is raised twice\n";
      } else if (entry.instruction->opcode == Opcode::WaitFlag) {
        --*core.flagAt(entry);
      } else if (runs(*entry.instruction, entry.frame)) {
        execute(*entry.instruction, entry.frame, memory);
      }
    }
    for (unsigned queue = 0; queue < kQueues; ++queue) {
      if (core.done[queue] < core.queues[queue].size())
        error += std::string("queue ") + nameOf(Queue(queue)) + " waits in vain at instruction " +
                 std::to_string(core.queues[queue][core.done[queue]].instruction->line) + "\n";
      for (auto &flags : core.up[queue])
        for (unsigned up : flags)
          if (up)
            error += "a flag stays up\n";
    }
  });
  return contents;
}

Contents runSimulated(const Program &program, const SocTable &soc, Contents contents, bool timed,
                      std::string &error, Statistics *statistics) {
  Simulator simulator(soc);
  MemoryObserver observer(program, soc, contents);
  simulator.observer = &observer;
  simulator.timed = timed;
  Launch launch;
  launch.program = &program;
  launch.name = "test";
  uint64_t next = 0;
  for (uint64_t bytes : program.arguments) {
    launch.addresses.push_back(next);
    next += (bytes + 511) / 512 * 512;
  }
  if (simulator.run(launch, error)) {
    if (observer.raisedTwice)
      error += std::to_string(observer.raisedTwice) + " flags were raised twice\n";
    if (observer.anyUp())
      error += "a flag stays up\n";
  }
  if (statistics)
    *statistics = simulator.total();
  return contents;
}

std::string hazardsOf(const Program &program, const SocTable &soc) {
  std::string lines;
  for (const Hazard &hazard : HazardChecker(soc).check({&program, "p", {}, {}}))
    if (hazard.kind != Hazard::Uninitialised)
      lines += hazard.text + "\n";
  return lines;
}

} // namespace atc::npu::test
