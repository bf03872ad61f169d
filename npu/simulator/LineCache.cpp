//===-- LineCache.cpp - which lines L2 holds ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/LineCache.h"

using namespace atc::npu;

uint64_t LineCache::hash(uint64_t line) {
  line ^= line >> 29;
  line *= 0x9E3779B97F4A7C15u;
  return line ^ line >> 31;
}

/// Returns the slot where the chain of a line begins. Lines that follow each other in memory are
/// mostly looked up one after the other: their slots share a line of the host's cache.
size_t LineCache::homeOf(uint64_t line) const {
  constexpr uint64_t kTogether = 16;
  return (hash(line / kTogether) * kTogether + line % kTogether) & (table.size() - 1);
}

/// Returns the slot of the line, or the empty slot that ends its chain.
size_t LineCache::slotOf(uint64_t line) const {
  size_t mask = table.size() - 1, slot = homeOf(line);
  while (table[slot] != kNone && nodes[table[slot]].line != line)
    slot = (slot + 1) & mask;
  return slot;
}

uint32_t LineCache::find(uint64_t line) const {
  return table.empty() ? kNone : table[slotOf(line)];
}

void LineCache::enter(uint32_t node) {
  if (2 * (held + 1) > table.size()) {
    table.assign(table.empty() ? 1024 : 2 * table.size(), kNone);
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].used && i != node)
        table[slotOf(nodes[i].line)] = i;
  }
  table[slotOf(nodes[node].line)] = node;
  nodes[node].used = true;
  ++held;
}

/// Removes a line from the table. Entries behind it move up, so that chains stay without gaps.
void LineCache::leave(uint64_t line) {
  size_t mask = table.size() - 1, gap = slotOf(line);
  nodes[table[gap]].used = false;
  for (size_t slot = (gap + 1) & mask; table[slot] != kNone; slot = (slot + 1) & mask) {
    size_t home = homeOf(nodes[table[slot]].line);
    if (((slot - home) & mask) >= ((slot - gap) & mask)) {
      table[gap] = table[slot];
      gap = slot;
    }
  }
  table[gap] = kNone;
  --held;
}

void LineCache::link(Set &set, uint32_t node) {
  nodes[node].newer = kNone;
  nodes[node].older = set.newest;
  (set.newest == kNone ? set.oldest : nodes[set.newest].newer) = node;
  set.newest = node;
  ++set.count;
}

void LineCache::unlink(Set &set, uint32_t node) {
  uint32_t newer = nodes[node].newer, older = nodes[node].older;
  (newer == kNone ? set.newest : nodes[newer].older) = older;
  (older == kNone ? set.oldest : nodes[older].newer) = newer;
  --set.count;
}

bool LineCache::lookUp(uint64_t line, bool write, bool &evictsDirty) {
  evictsDirty = false;
  if (sets.empty())
    return false;
  Set &set = setOf(line);
  uint32_t node = find(line);
  bool hit = node != kNone;
  if (hit) {
    nodes[node].dirty |= write;
    if (set.newest == node)
      return true;
    unlink(set, node);
  } else {
    if (set.count == ways) {
      node = set.oldest;
      evictsDirty = nodes[node].dirty;
      unlink(set, node);
      leave(nodes[node].line);
    } else if (!spare.empty()) {
      node = spare.back();
      spare.pop_back();
    } else {
      node = uint32_t(nodes.size());
      nodes.push_back({});
    }
    nodes[node] = {line, kNone, kNone, write, false};
    enter(node);
  }
  link(set, node);
  return hit;
}

void LineCache::forRange(uint64_t first, uint64_t end, bool clean,
                         const std::function<bool(uint64_t line, bool dirty)> &visit) {
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    Node &node = nodes[i];
    if (!node.used || node.line < first || node.line >= end)
      continue;
    if (visit(node.line, node.dirty)) {
      unlink(setOf(node.line), i);
      leave(node.line);
      spare.push_back(i);
    } else if (clean) {
      node.dirty = false;
    }
  }
}
