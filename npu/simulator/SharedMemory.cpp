//===-- SharedMemory.cpp - L2 and DDR as all cores share them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/SharedMemory.h"

#include "npu/soc/Limits.h"

using namespace atc::npu;

SharedMemory::SharedMemory(const SocTable &soc)
    : lineBytes(soc.l2Line), cache(soc.l2Bytes / (lineBytes * soc.l2Ways), soc.l2Ways),
      prefetches(soc.l2Prefetch), l2Read(soc.l2Read * double(soc.cubeCores)),
      l2Write(soc.l2Write * double(soc.cubeCores)), ddr(soc.ddrRate() * double(soc.cubeCores)),
      evictSlack(double(soc.writeLatency)) {}

void SharedMemory::endLaunch(double cycles) {
  advance(cycles);
  for (Channel *channel : {&l2Read, &l2Write, &ddr})
    channel->shift(cycles);
  for (Flight &flight : flights)
    flight.end -= cycles;
}

void SharedMemory::touch(uint64_t address, uint64_t bytes, bool write, bool bypass, Piece &piece) {
  if (bypass || cache.empty()) {
    piece.bypassed += bytes;
    return;
  }
  for (uint64_t end = address + bytes; address < end;) {
    uint64_t next = std::min(end, (address / lineBytes + 1) * lineBytes);
    uint64_t line = address / lineBytes;
    bool evictsDirty, hit = cache.lookUp(line, write, evictsDirty);
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
  Channel &l2 = write ? l2Write : l2Read;
  if (uint64_t cached = piece.hit + piece.missed)
    end = std::max(end, l2.pass(now, double(cached)));
  if (piece.missed) {
    double there = ddr.pass(now, double(piece.missed));
    for (uint64_t line : asked)
      flights[line % kFlights] = {line, there};
    asked.clear();
    end = std::max(end, there);
  }
  if (piece.bypassed)
    end = std::max(end, ddr.pass(now, double(piece.bypassed)));
  // Lines are written back in the background until the buffer is full.
  if (piece.evicted)
    end = std::max(end, ddr.pass(now, double(piece.evicted)) - evictSlack);
  return end;
}

uint64_t SharedMemory::writeBack(uint64_t address, uint64_t end) {
  uint64_t bytes = 0;
  cache.forRange(address / lineBytes, lineAfter(end), true, [&](uint64_t, bool dirty) {
    bytes += dirty ? lineBytes : 0;
    return false;
  });
  ddr.pass(0, double(bytes));
  return bytes;
}

void SharedMemory::invalidate(uint64_t address, uint64_t end) {
  cache.forRange(address / lineBytes, lineAfter(end), false, [](uint64_t, bool) { return true; });
}

uint64_t SharedMemory::residentBytes(uint64_t address, uint64_t end) {
  uint64_t bytes = 0;
  cache.forRange(address / lineBytes, lineAfter(end), false, [&](uint64_t, bool) {
    bytes += lineBytes;
    return false;
  });
  return bytes;
}

void SharedMemory::prefetch(const Prefetch &range) {
  if (!prefetches || cache.empty() || !range.bytes)
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
  while (!queue.empty() && ddr.freeAt() < now) {
    Waiting &front = queue.front();
    if (front.next == front.end) {
      queuedLines -= front.end - front.first;
      queue.pop_front();
      continue;
    }
    uint64_t line = front.next++;
    if ((!front.dropped.empty() && front.dropped[line - front.first]) || cache.holds(line))
      continue;
    bool evictsDirty;
    cache.lookUp(line, false, evictsDirty);
    double begin = ddr.freeAt();
    flights[line % kFlights] = {line, ddr.pass(begin, double(lineBytes))};
    prefetched += lineBytes;
    if (evictsDirty) {
      ddr.pass(begin, double(lineBytes));
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
