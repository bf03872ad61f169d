//===-- ReportTimeline.cpp - spans small enough for a page ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/report/ReportParts.h"
#include "npu/report/Text.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace atc::npu;

namespace {

constexpr unsigned kStallKinds = 32; // stalls come after the opcodes
static_assert(kOpcodes <= kStallKinds);

unsigned kindOf(const TimeSpan &span) {
  if (span.stall == Stall::None)
    return unsigned(span.opcode);
  return kStallKinds + unsigned(span.stall) * kQueues + unsigned(span.other);
}

std::string nameOfKind(unsigned kind) {
  if (kind < kOpcodes)
    return infoOf(Opcode(kind)).mnemonic;
  if (kind < kStallKinds)
    return "";
  Stall stall = Stall((kind - kStallKinds) / kQueues);
  std::string name = std::string("waits: ") + nameOf(stall);
  if (stall == Stall::Flag || stall == Stall::QueueFull)
    name += std::string(" of ") + nameOf(Queue((kind - kStallKinds) % kQueues));
  return name;
}

struct Item {
  double start, end;
  unsigned kind;
  uint32_t line;
  size_t spans = 1;
  double lead; ///< by how much the kind is ahead of the others in it
};

struct RowKey {
  bool vector;
  unsigned core, queue;
  auto operator<=>(const RowKey &) const = default;
};

/// Merges adjacent items within `quantum`; the result has the kind that takes most of the time.
std::vector<Item> merged(const std::vector<Item> &items, double quantum) {
  std::vector<Item> result;
  for (const Item &item : items) {
    if (result.empty() || item.end - result.back().start > quantum) {
      result.push_back(item);
      continue;
    }
    Item &last = result.back();
    double length = item.end - item.start;
    if (item.kind == last.kind) {
      last.lead += length;
    } else if ((last.lead -= length) < 0) {
      last.lead = -last.lead;
      last.kind = item.kind;
      last.line = item.line;
    }
    last.end = std::max(last.end, item.end);
    last.spans += item.spans;
  }
  return result;
}

constexpr Memory kLocalMemories[] = {Memory::L1, Memory::L0A, Memory::L0B, Memory::L0C, Memory::UB};

/// Returns the shares of the local memories that a launch uses, and of the time in which the
/// channels of L2 and of DDR are busy: whole percents.
std::string memoriesOf(const SocTable &soc, const Statistics &launch) {
  std::string text;
  auto add = [&](double share) {
    text += (text.empty() ? "" : ",") + fixed(100 * std::clamp(share, 0.0, 1.0), 0);
  };
  for (Memory memory : kLocalMemories) {
    const double bytes = double(soc.memoryBytes(memory));
    add(bytes > 0 ? double(launch.localBytes[unsigned(memory)]) / bytes : 0);
  }
  // The last of the uses: DDR, L2 read, L2 write.
  const std::vector<Use> uses = usesOf(soc, launch);
  add(std::max(uses[uses.size() - 2].share, uses.back().share));
  add(uses[uses.size() - 3].share);
  return text;
}

} // namespace

std::string atc::npu::timelineJson(const ReportInput &input, const Figures &figures, size_t max) {
  std::map<RowKey, std::vector<Item>> rows;
  size_t count = 0;
  for (const TimeSpan &span : input.simulator->spans) {
    if (span.launch < figures.first)
      continue;
    rows[{span.onVectorCore, span.core, unsigned(span.queue)}].push_back(
        {span.start - figures.origin, span.end - figures.origin, kindOf(span), span.line, 1,
         span.end - span.start});
    ++count;
  }
  for (auto &[key, items] : rows)
    std::stable_sort(items.begin(), items.end(),
                     [](const Item &a, const Item &b) { return a.start < b.start; });
  double quantum = 1;
  while (count > max) {
    quantum *= 2;
    count = 0;
    for (auto &[key, items] : rows) {
      items = merged(items, quantum);
      count += items.size();
    }
  }
  // Numbers in the page are whole ones of this unit.
  double unit = quantum > 8 ? quantum / 8 : quantum > 1 ? 1 : 0.25;
  std::string text = "{\"quantum\":" + fixed(quantum, 0) + ",\"unit\":" + fixed(unit, 2) +
                     ",\"mhz\":" + std::to_string(figures.soc.mhz) +
                     ",\"end\":" + fixed(figures.end - figures.origin, 1) + ",\"kinds\":[";
  for (unsigned kind = 0; kind < kStallKinds + kStalls * kQueues; ++kind)
    text += (kind ? "," : "") + quoted(nameOfKind(kind));
  text += "],\"memories\":[";
  for (Memory memory : kLocalMemories)
    text += quoted(nameOf(memory)) + ",";
  text += "\"L2 channel\",\"DDR channel\"],\"launches\":[";
  for (size_t i = figures.first; i < figures.launches.size(); ++i)
    text += (i > figures.first ? "," : "") + ("[" + fixed(figures.launches[i].cycles, 1)) + "," +
            // The page draws it: it must be safe to see, not only to parse.
            quoted(printable(figures.nameOf(input, i))) + ",[" +
            memoriesOf(figures.soc, figures.launches[i]) + "]]";
  text += "],\"rows\":[";
  const char *separator = "";
  for (auto &[key, items] : rows) {
    std::string core = (key.vector ? "vector core " : "core ") + std::to_string(key.core);
    text += std::string(separator) + "\n{\"core\":" + quoted(core) +
            ",\"queue\":" + quoted(nameOf(Queue(key.queue))) + ",\"items\":[";
    separator = ",";
    int64_t last = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      const Item &item = items[i];
      int64_t start = std::llround(item.start / unit), end = std::llround(item.end / unit);
      end = std::max(end, start + 1);
      text += (i ? "," : "") + std::to_string(start - last) + "," + std::to_string(end - start) +
              "," + std::to_string(item.kind) + "," + std::to_string(item.line) + "," +
              std::to_string(item.spans);
      last = start;
    }
    text += "]}";
  }
  return text + "]}";
}
