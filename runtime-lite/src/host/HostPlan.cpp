//===-- HostPlan.cpp - a dynamic schedule as a linear list of steps -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/host/HostPlan.h"

namespace fb = atc::om::fb;

namespace atc::rt {

/// Calls `visit` with the model's dynamic schedule or with that of each gear that has one.
template <typename Visit> static void forEachProgram(const fb::Model &model, Visit visit) {
  if (model.host())
    visit(*model.host());
  for (uint32_t i = 0; model.gears() && i < model.gears()->gears()->size(); ++i)
    if (const fb::HostProgram *program = model.gears()->gears()->Get(i)->host())
      visit(*program);
}

bool HostPlan::build(const fb::Model &model) {
  size_t steps = 0, allCalls = 0, allPrograms = 0;
  forEachProgram(model, [&](const fb::HostProgram &program) {
    ++allPrograms;
    for (const fb::HostBlock *block : *program.blocks())
      for (const fb::HostStep *step : *block->steps()) {
        ++steps;
        allCalls += step->what_as_HostCall() != nullptr;
      }
  });
  // A branch or loop has at most two jumps.
  if (!ops.allocate(2 * steps) || !calls.allocate(allCalls) || !endsFirst.allocate(allCalls) ||
      !programs.allocate(allPrograms))
    return false;
  PlannedProgram *next = programs.data();
  forEachProgram(model, [&](const fb::HostProgram &program) {
    const uint32_t firstOp = opCount, firstCall = callCount;
    add(program, static_cast<int32_t>(program.main()));
    *next++ = {&program, firstOp, opCount - firstOp, firstCall, callCount - firstCall};
  });
  for (const PlannedProgram &plan : programs)
    if (!findLastUses(plan))
      return false;
  return true;
}

const PlannedProgram &HostPlan::find(const fb::HostProgram &program) const {
  const PlannedProgram *found = programs.begin();
  while (found->program != &program)
    ++found;
  return *found;
}

/// Goes through the steps of a program from the last one on.
bool HostPlan::findLastUses(const PlannedProgram &plan) {
  using Slots = const flatbuffers::Vector<int32_t>;
  // The stretch of steps in which the next access to a slot empties or fills it.
  Array<uint32_t> ending;
  if (!ending.allocate(plan.program->slots()))
    return false;
  uint32_t stretch = 1;
  auto mark = [&](Slots *slots, uint32_t value) {
    for (uint32_t i = 0; slots && i < slots->size(); ++i)
      if (slots->Get(i) >= 0)
        ending[static_cast<uint32_t>(slots->Get(i))] = value;
  };
  for (uint32_t op = plan.firstOp + plan.ops; op-- > plan.firstOp;) {
    Slots *reads = nullptr, *writes = nullptr;
    switch (const void *table = ops[op].table; ops[op].kind) {
    case HostOp::Call:
      reads = static_cast<const fb::HostCall *>(table)->inputs();
      writes = static_cast<const fb::HostCall *>(table)->outputs();
      break;
    case HostOp::Run:
      reads = static_cast<const fb::HostRun *>(table)->inputs();
      writes = static_cast<const fb::HostRun *>(table)->outputs();
      break;
    case HostOp::Move:
      reads = static_cast<const fb::HostMove *>(table)->from();
      writes = static_cast<const fb::HostMove *>(table)->to();
      break;
    case HostOp::Release:
      writes = static_cast<const fb::HostRelease *>(table)->slots();
      break;
    default:
      ++stretch;
      continue;
    }
    mark(writes, stretch);
    if (ops[op].kind == HostOp::Call && reads->size() && reads->Get(0) >= 0)
      endsFirst[ops[op].index] = ending[static_cast<uint32_t>(reads->Get(0))] == stretch;
    mark(reads, 0);
  }
  return true;
}

/// The loader has made sure that blocks are no deeper in each other than 64.
void HostPlan::add(const fb::HostProgram &program, int32_t block) {
  if (block < 0)
    return;
  for (const fb::HostStep *step : *program.blocks()->Get(static_cast<uint32_t>(block))->steps()) {
    if (const fb::HostCall *call = step->what_as_HostCall()) {
      push(HostOp::Call, callCount, call);
      calls[callCount++] = call;
    } else if (const fb::HostIf *branch = step->what_as_HostIf()) {
      const uint32_t unless = push(HostOp::JumpUnless, branch->condition(), nullptr);
      add(program, branch->then_block());
      if (branch->else_block() >= 0) {
        const uint32_t past = push(HostOp::Jump, 0, nullptr);
        ops[unless].target = opCount;
        add(program, branch->else_block());
        ops[past].target = opCount;
      } else {
        ops[unless].target = opCount;
      }
    } else if (const fb::HostLoop *loop = step->what_as_HostLoop()) {
      const uint32_t top = push(HostOp::JumpUnless, loop->condition(), nullptr);
      add(program, loop->body());
      ops[push(HostOp::Jump, 0, nullptr)].target = top;
      ops[top].target = opCount;
    } else if (const fb::HostRun *run = step->what_as_HostRun()) {
      push(HostOp::Run, run->part(), run);
    } else if (const fb::HostTiles *tiles = step->what_as_HostTiles()) {
      push(HostOp::Tiles, tiles->parts()->Get(0), tiles);
    } else if (const fb::HostMove *move = step->what_as_HostMove()) {
      push(HostOp::Move, 0, move);
    } else if (const fb::HostCollective *collective = step->what_as_HostCollective()) {
      push(HostOp::Collective, 0, collective);
    } else if (const fb::HostWait *wait = step->what_as_HostWait()) {
      push(HostOp::Wait, 0, wait);
    } else {
      push(HostOp::Release, 0, step->what_as_HostRelease());
    }
  }
}

} // namespace atc::rt
