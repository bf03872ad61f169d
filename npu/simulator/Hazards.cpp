//===-- Hazards.cpp - accesses that nothing orders ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/HazardWalk.h"

namespace atc::npu::hazards {

void Walk::locateArguments() {
  size_t count = program.arguments.size();
  addresses.resize(count);
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i)
    order[i] = i;
  bool real = launch.addresses.size() >= count;
  if (real)
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return std::pair(launch.addresses[a], a) < std::pair(launch.addresses[b], b);
    });
  unsigned groups = 0;
  uint64_t start = 0, end = 0;
  for (unsigned i : order) {
    uint64_t address = real ? launch.addresses[i] : 0;
    if (!groups || !real || address >= end) {
      ++groups;
      start = address;
      end = address;
    }
    addresses[i] = {groups - 1, address - start};
    end = std::max(end, address + program.arguments[i]);
  }
  gm.resize(groups);
  written.assign(groups, false);
  for (const Instruction &in : code) {
    Operand operands[4];
    unsigned used = operandsOf(in, operands);
    for (unsigned i = 0; i < used; ++i) {
      const Address &address = in.addresses[operands[i].address];
      if (address.memory == Memory::GM && operands[i].written)
        written[addresses[address.argument].group] = true;
    }
  }
}

void Walk::access(unsigned number, unsigned queue, const Instruction &in, const Frame &frame) {
  Box boxes[4];
  unsigned count = boxesOf(in, frame, boxes);
  ++serial;
  AccessRecord record{uint64_t(frame.linear(0, frame.depth)), own(number, queue), indexOf(in),
                      uint16_t(number), uint8_t(queue)};
  // All reads of an instruction come before its writes.
  for (bool writes : {false, true})
    for (unsigned i = 0; i < count; ++i) {
      Box box = boxes[i];
      if (!(writes ? box.written : box.read))
        continue;
      box.written = writes;
      uint64_t base = 0;
      Shadow *shadow;
      if (box.memory == Memory::GM) {
        const ArgumentAddress &address = addresses[box.argument];
        if (!written[address.group])
          continue;
        base = address.offset;
        shadow = &gm[address.group];
      } else {
        shadow = &local[number][unsigned(box.memory)];
      }
      for (int64_t x = 0; x < box.count[0]; ++x)
        for (int64_t y = 0; y < box.count[1]; ++y)
          for (int64_t z = 0; z < box.count[2]; ++z) {
            uint64_t begin = base + uint64_t(box.base + x * box.stride[0] + y * box.stride[1] +
                                             z * box.stride[2]);
            uint64_t before = shadow->records();
            touch(*shadow, box, begin, begin + uint64_t(box.bytes), record, base);
            records += shadow->records() - before; // modulo 2^64 where it shrinks
            if (!spend(1))
              return;
          }
    }
}

void Walk::touch(Shadow &shadow, const Box &box, uint64_t begin, uint64_t end,
                 const AccessRecord &record, uint64_t base) {
  const Clock &clock = cores[record.core].queues[record.queue].clock;
  auto same = [&](const AccessRecord &other) {
    return other.core == record.core && other.queue == record.queue;
  };
  auto isBefore = [&](const AccessRecord &other) {
    if (!same(other))
      return ordered(other, record.core, clock);
    // Operands of one instruction are not two accesses.
    return isComplete(other, !box.written && box.memory != Memory::GM) ||
           (other.index == record.index && other.iteration == record.iteration);
  };
  if (box.written) {
    shadow.write(begin, end, record, [&](uint64_t from, uint64_t to, Shadow::Segment *segment) {
      left -= std::min<uint64_t>(left, 1);
      if (!segment)
        return;
      const AccessRecord &writer = segment->writer;
      if (writer.clock && !isBefore(writer))
        pairFound(Hazard::WriteAfterWrite, writer, record, box, from - base, to - base);
      for (const AccessRecord &reader : segment->readers)
        if (!isBefore(reader))
          pairFound(Hazard::WriteAfterRead, reader, record, box, from - base, to - base);
    });
    return;
  }
  shadow.read(begin, end, [&](Shadow::Segment &segment) {
    left -= std::min<uint64_t>(left, 1);
    const AccessRecord &writer = segment.writer;
    if (writer.clock && writer.index != record.index)
      readsWritten[4 * record.index + box.address] = true;
    if (!writer.clock && box.memory != Memory::GM)
      pairFound(Hazard::Uninitialised, record, record, box, segment.begin - base,
                segment.end - base);
    else if (writer.clock && !isBefore(writer))
      pairFound(Hazard::ReadAfterWrite, writer, record, box, segment.begin - base,
                segment.end - base);
    // Who has to come after this reader comes after those before it as well. But this instruction
    // may write to what it reads, and on the vector queue others may still read it then.
    std::vector<AccessRecord> &readers = segment.readers;
    size_t kept = 0;
    for (const AccessRecord &reader : readers)
      if (same(reader) ? reader.index != record.index && !isComplete(reader)
                       : !ordered(reader, record.core, clock))
        readers[kept++] = reader;
    readers.resize(kept);
    readers.push_back(record);
  });
}

void Walk::pairFound(Hazard::Kind kind, const AccessRecord &earlier, const AccessRecord &later,
                     const Box &box, uint64_t begin, uint64_t end) {
  // Pairs on one core and on two, operands of one instruction.
  unsigned which = kind == Hazard::Uninitialised ? box.address : earlier.core != later.core;
  auto [entry, fresh] =
      known.insert({Key{kind, earlier.index, later.index, box.memory, which}, found.size()});
  if (fresh) {
    found.push_back({});
    records += 4;
    Found &one = found.back();
    one.hazard.kind = kind;
    one.earlier = earlier;
    one.later = later;
    one.memory = box.memory;
    one.argument = box.argument;
    one.address = box.address;
    one.begin = begin;
    one.end = end;
    one.lastSerial = serial;
    one.lastEarlier = earlier;
    return;
  }
  Found &one = found[entry->second];
  if (one.lastSerial != serial || one.lastEarlier.iteration != earlier.iteration ||
      one.lastEarlier.core != earlier.core) {
    ++one.hazard.count;
    one.lastSerial = serial;
    one.lastEarlier = earlier;
  } else if (one.hazard.count == 1) {
    // The bytes between runs are named with them.
    one.begin = std::min(one.begin, begin);
    one.end = std::max(one.end, end);
  }
}

/// Records an error of one instruction; instances are counted.
void Walk::addHazard(Hazard::Kind kind, uint32_t index, const std::string &text) {
  auto [entry, fresh] = known.insert({Key{kind, index, index, Memory::GM, 0}, found.size()});
  if (!fresh) {
    ++found[entry->second].hazard.count;
    return;
  }
  found.push_back({});
  found.back().hazard.kind = kind;
  found.back().earlier.index = found.back().later.index = index;
  found.back().hazard.text = text;
}

std::string Walk::ivs(uint32_t index, uint64_t iteration) const {
  std::vector<uint64_t> trips;
  for (uint32_t i = 0; i < index; ++i) {
    if (code[i].opcode == Opcode::LoopBegin)
      trips.push_back(uint64_t(code[i].fields[LoopBegin::trips]));
    else if (code[i].opcode == Opcode::LoopEnd)
      trips.pop_back();
  }
  std::string text;
  for (size_t i = trips.size(); i-- > 0; iteration /= trips[i])
    text = " " + std::to_string(iteration % trips[i]) + text;
  return text.empty() ? text : ", loops" + text;
}

std::string Walk::instance(const AccessRecord &record) const {
  const Instruction &in = code[record.index];
  return std::string(infoOf(in.opcode).mnemonic) + " (line " + std::to_string(in.line) + ", core " +
         std::to_string(record.core) + " " + nameOf(Queue(record.queue)) +
         ivs(record.index, record.iteration) + ")";
}

std::vector<Hazard> Walk::report() {
  std::vector<Hazard> result;
  for (Found &one : found) {
    Hazard &hazard = one.hazard;
    if (hazard.kind == Hazard::Uninitialised && !partlyWritten &&
        readsWritten[4 * one.later.index + one.address])
      continue;
    hazard.earlier = code[one.earlier.index].line;
    hazard.later = code[one.later.index].line;
    std::string where = nameOf(one.memory);
    if (one.memory == Memory::GM)
      where += " argument " + std::to_string(one.argument);
    where += " bytes " + std::to_string(one.begin) + " to " + std::to_string(one.end);
    std::string later = instance(one.later), text;
    switch (hazard.kind) {
    case Hazard::ReadAfterWrite:
      text = "nothing orders that " + later + " reads " + where + " after " +
             instance(one.earlier) + " writes it";
      break;
    case Hazard::WriteAfterRead:
      text = "nothing orders that " + later + " writes " + where + " after " +
             instance(one.earlier) + " reads it";
      break;
    case Hazard::WriteAfterWrite:
      text = "nothing orders that " + later + " writes " + where + " after " +
             instance(one.earlier) + " writes it";
      break;
    case Hazard::Uninitialised:
      text = later + " reads " + where + ", which this launch has not written";
      break;
    default:
      text = std::string(infoOf(code[one.later.index].opcode).mnemonic) + " (line " +
             std::to_string(hazard.later) + ") " + hazard.text;
      break;
    }
    if (hazard.kind <= Hazard::WriteAfterWrite && one.earlier.core == one.later.core &&
        one.earlier.queue == one.later.queue)
      text += ": the queue needs a pipe_barrier between them";
    hazard.text = name() + text;
    if (hazard.count > 1)
      hazard.text += "; " + std::to_string(hazard.count) + " times";
    result.push_back(std::move(hazard));
  }
  return result;
}

} // namespace atc::npu::hazards

std::vector<atc::npu::Hazard> atc::npu::HazardChecker::check(const Launch &launch) const {
  return hazards::Walk(launch, soc, *this).run();
}
