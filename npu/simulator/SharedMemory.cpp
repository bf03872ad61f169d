//===-- SharedMemory.cpp - L2 and DDR as all cores share them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/SharedMemory.h"

#include "npu/soc/Limits.h"

using namespace atc::npu;

SharedMemory::SharedMemory(const SocTable &soc)
    : lineBytes(soc.l2Line), ways(unsigned(soc.l2Ways)), sets(soc.l2Bytes / (lineBytes * ways)),
      // A missed byte takes the L2's rate over hit : miss, a bypassing byte DDR's rate.
      missRatio(std::max(1.0, soc.ddrRead * soc.l2HitToMiss / soc.l2Read)), tags(sets * ways),
      l2Read(soc.l2Read * double(soc.cubeCores)), l2Write(soc.l2Write * double(soc.cubeCores)),
      ddrRead(soc.ddrRead * double(soc.cubeCores)), ddrWrite(soc.ddrWrite * double(soc.cubeCores)),
      evictSlack(soc.writeLatency) {}

void SharedMemory::endLaunch(double cycles) {
  advance(cycles);
  for (Channel *channel : {&l2Read, &l2Write, &ddrRead, &ddrWrite})
    channel->shift(cycles);
  for (Flight &flight : flights)
    flight.end -= cycles;
}

bool SharedMemory::lookUp(uint64_t line, bool write, bool &evictsDirty) {
  evictsDirty = false;
  if (!sets)
    return false;
  uint64_t *set = &tags[line % sets * ways], wanted = line + 1;
  unsigned way = 0;
  while (way < ways && set[way] >> 1 != wanted)
    ++way;
  bool hit = way < ways;
  uint64_t tag = hit ? set[way] | write : wanted << 1 | uint64_t(write);
  if (!hit)
    evictsDirty = set[--way] & 1;
  for (; way; --way)
    set[way] = set[way - 1];
  set[0] = tag;
  return hit;
}

void SharedMemory::touch(uint64_t address, uint64_t bytes, bool write, bool bypass, Piece &piece) {
  if (bypass || !sets) {
    piece.bypassed += bytes;
    return;
  }
  for (uint64_t end = address + bytes; address < end;) {
    uint64_t next = std::min(end, (address / lineBytes + 1) * lineBytes);
    uint64_t line = address / lineBytes;
    bool evictsDirty, hit = lookUp(line, write, evictsDirty);
    // A written line is not read from DDR; a partially read line is fetched as a whole.
    if (hit || write) {
      piece.hit += next - address;
    } else {
      piece.missed += lineBytes;
      asked.push_back(line);
    }
    if (const Flight &flight = flights[line % kFlights]; hit && !write && flight.line == line)
      piece.arrives = std::max(piece.arrives, flight.end);
    if (!hit && !queue.empty())
      drop(line);
    if (evictsDirty)
      piece.evicted += lineBytes;
    address = next;
  }
}

double SharedMemory::pass(double now, const Piece &piece, bool write) {
  double end = std::max(now, piece.arrives);
  Channel &l2 = write ? l2Write : l2Read, &ddr = write ? ddrWrite : ddrRead;
  if (uint64_t cached = piece.hit + piece.missed)
    end = std::max(end, l2.pass(now, double(cached)));
  if (piece.missed) {
    double there = ddr.pass(now, double(piece.missed) * missRatio);
    for (uint64_t line : asked)
      flights[line % kFlights] = {line, there};
    asked.clear();
    end = std::max(end, there);
  }
  if (piece.bypassed)
    end = std::max(end, ddr.pass(now, double(piece.bypassed)));
  // Lines are written back in the background until the buffer is full.
  if (piece.evicted)
    end = std::max(end, ddrWrite.pass(now, double(piece.evicted)) - evictSlack);
  return end;
}

bool SharedMemory::holds(uint64_t line) const {
  const uint64_t *set = &tags[line % sets * ways];
  for (unsigned way = 0; way < ways; ++way)
    if (set[way] >> 1 == line + 1)
      return true;
  return false;
}

void SharedMemory::prefetch(const Prefetch &range) {
  if (!sets || !range.bytes)
    return;
  uint64_t first = range.address / lineBytes;
  uint64_t end = (range.address + range.bytes - 1) / lineBytes + 1;
  if (queue.size() >= size_t(Limits::MaxPrefetches) ||
      end - first > uint64_t(Limits::MaxPrefetchLines) - queuedLines)
    return;
  queuedLines += end - first;
  queue.push_back({first, first, end, {}});
}

void SharedMemory::drop(uint64_t line) {
  for (Waiting &waiting : queue)
    if (line >= waiting.next && line < waiting.end) {
      waiting.dropped.resize(waiting.end - waiting.first);
      waiting.dropped[line - waiting.first] = true;
    }
}

void SharedMemory::runDma(double now) {
  while (!queue.empty() && ddrRead.freeAt() < now) {
    Waiting &front = queue.front();
    if (front.next == front.end) {
      queuedLines -= front.end - front.first;
      queue.pop_front();
      continue;
    }
    uint64_t line = front.next++;
    if ((!front.dropped.empty() && front.dropped[line - front.first]) || holds(line))
      continue;
    bool evictsDirty;
    lookUp(line, false, evictsDirty);
    double begin = ddrRead.freeAt();
    flights[line % kFlights] = {line, ddrRead.pass(begin, double(lineBytes))};
    prefetched += lineBytes;
    if (evictsDirty) {
      ddrWrite.pass(begin, double(lineBytes));
      prefetchEvicted += lineBytes;
    }
  }
}

uint64_t SharedMemory::waitingBytes() const {
  uint64_t lines = 0;
  for (const Waiting &waiting : queue) {
    lines += waiting.end - waiting.next;
    for (uint64_t line = waiting.next; !waiting.dropped.empty() && line < waiting.end; ++line)
      lines -= waiting.dropped[line - waiting.first];
  }
  return lines * lineBytes;
}
