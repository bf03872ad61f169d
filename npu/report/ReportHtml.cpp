//===-- ReportHtml.cpp - the page of a report -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/report/ReportParts.h"
#include "npu/report/Text.h"

#include <map>

using namespace atc::npu;

namespace {

constexpr size_t kMaxItems = 120000; // about 2 MB of the page
constexpr size_t kTopLayers = 25;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string percent(double share) { return fixed(share * 100, 1) + " %"; }

std::string time(double microseconds) {
  return microseconds >= 1000 ? fixed(microseconds / 1000, 3) + " ms"
                              : fixed(microseconds, 2) + " us";
}

std::string bytes(uint64_t count) {
  if (count >= 10000000)
    return fixed(double(count) / 1e6, 0) + " MB";
  if (count >= 100000)
    return fixed(double(count) / 1e6, 2) + " MB";
  return count >= 1000 ? fixed(double(count) / 1e3, 1) + " kB" : std::to_string(count) + " B";
}

/// Returns a bar with up to two shares of the whole; the second in another colour.
std::string track(double part, double rest = 0, const char *kind = "") {
  auto piece = [](double share, const char *name) {
    return std::string("<i class=\"") + name +
           "\" style=\"width:" + fixed(std::clamp(share, 0.0, 1.0) * 100, 2) + "%\"></i>";
  };
  return "<div class=\"track\">" + piece(part, kind) + (rest > 0 ? piece(rest, "w") : "") +
         "</div>";
}

/// A table; columns named `>...` hold numbers and are right-aligned.
class Table {
public:
  explicit Table(std::initializer_list<const char *> columns) {
    for (const char *column : columns) {
      kinds.push_back(*column == '>' ? " class=\"n\"" : "");
      text += "<th" + kinds.back() + ">" + (*column == '>' ? column + 1 : column) + "</th>";
    }
    text = "<table><tr>" + text + "</tr>";
  }
  void row(std::initializer_list<std::string> cells) {
    text += "<tr>";
    size_t i = 0;
    for (const std::string &cell : cells) {
      text += "<td" + (i ? kinds[i] : std::string(" class=\"name\"")) + ">" + cell + "</td>";
      ++i;
    }
    text += "</tr>\n";
    any = true;
  }
  std::string end(const char *empty = "Nothing.") const {
    return any ? text + "</table>" : "<p class=\"soft\">" + std::string(empty) + "</p>";
  }

private:
  std::vector<std::string> kinds;
  std::string text;
  bool any = false;
};

class Page {
public:
  explicit Page(const ReportInput &input)
      : input(input), figures(input), soc(figures.soc), run(figures.run), line(rooflineOf(input)) {}

  std::string cards() const {
    std::string text;
    auto card = [&](const std::string &value, const char *what) {
      text += "<div class=\"card\"><b>" + value + "</b><span>" + what + "</span></div>";
    };
    card(time(line.time), "time on the NPU");
    if (line.bound() > 0)
      card(fixed(line.times(), 2) + " x", "the lower bound");
    card(std::to_string(figures.launchCount()), "launches");
    if (figures.joinedLayers)
      card(std::to_string(figures.launches.size() - figures.first), "kernels in them");
    card(fixed(double(figures.kernelMacs) / 1e9, 3), "giga-MACs");
    card(percent(ratio(run.cubeCycles, run.cycles * double(soc.cubeCores))), "of the cube's peak");
    card(bytes(run.ddrRead + run.ddrWritten), "through DDR");
    card(percent(ratio(double(run.l2Hit), double(run.l2Hit + run.l2Missed))), "found in L2");
    if (input.modelMacs)
      card(percent(ratio(double(figures.kernelMacs), double(input.modelMacs))), "of the MACs");
    return text;
  }

  std::string roofline() const {
    double whole = std::max(line.time, line.bound());
    Table table({"", ">time", ""});
    table.row({"this run", time(line.time), track(ratio(line.time, whole))});
    table.row({"MACs at the cube's rate", time(line.cube), track(ratio(line.cube, whole), 0, "b")});
    table.row({"weights, inputs and outputs at DDR's rate", time(line.ddr),
               track(ratio(line.ddr, whole), 0, "b")});
    return table.end();
  }

  std::string queues() const {
    Table table({"queue", ">busy", ">waits", ""});
    for (unsigned queue = 0; queue < kQueues; ++queue) {
      double whole = run.cycles * figures.coresOf(queue);
      double busy = ratio(run.busy[queue], whole), waits = ratio(figures.stallOf(queue), whole);
      if (busy + waits > 0)
        table.row({nameOf(Queue(queue)), percent(busy), percent(waits), track(busy, waits)});
    }
    return table.end() + "<p class=\"soft\">Of the time of all cores that have the queue.</p>";
  }

  std::string traffic() const {
    Table table({"channel", ">moved", ">busy", ""});
    double channel = run.cycles * double(soc.cubeCores);
    auto row = [&](const char *name, uint64_t moved, double rate) {
      double share = ratio(double(moved), channel * rate);
      table.row({name, bytes(moved), percent(share), track(share)});
    };
    row("DDR read", run.ddrRead, soc.ddrRate());
    row("DDR write", run.ddrWritten, soc.ddrRate());
    row("L2 read", run.l2Read, soc.l2Read);
    row("L2 write", run.l2Written, soc.l2Write);
    return table.end() + "<p class=\"soft\">" + bytes(run.prefetched) +
           " of what was read were brought to L2 ahead of their use; " + bytes(run.bypassed) +
           " went past L2.</p>";
  }

  std::string stalls() const {
    std::vector<std::pair<double, std::string>> causes;
    double barrier = 0, signal = 0;
    for (unsigned queue = 0; queue < kQueues; ++queue) {
      barrier += run.barrierStall[queue];
      signal += run.signalStall[queue];
      causes.push_back(
          {run.queueFull[queue], std::string("S: queue ") + nameOf(Queue(queue)) + " is full"});
      for (unsigned from = 0; from < kQueues; ++from)
        causes.push_back({run.flagStall[from][queue],
                          std::string(nameOf(Queue(queue))) + " waits for " + nameOf(Queue(from))});
    }
    causes.push_back({barrier, "barriers of queues"});
    causes.push_back({signal, "signals of other cores"});
    causes.push_back({run.bandwidthStall, "moves to and from gm: L2 or DDR is busy with others"});
    causes.push_back({run.tailStall, "cores that are done: the last core of the launch"});
    causes.push_back({run.startCycles * double(std::max<uint64_t>(1, run.coreCount)),
                      "all cores: start of tasks, meeting between launches"});
    std::stable_sort(causes.begin(), causes.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    double whole = run.cycles * double(std::max<uint64_t>(1, run.coreCount));
    Table table({"who waits for what", ">cycles of all cores", ">of the time", ""});
    for (const auto &[cycles, what] : causes)
      if (cycles > 0 && ratio(cycles, whole) > 0.0005)
        table.row({what, fixed(cycles, 0), percent(ratio(cycles, whole)),
                   track(ratio(cycles, whole), 0, "b")});
    return table.end() + "<p class=\"soft\">Queues wait beside each other: the shares do not add "
                         "up.</p>";
  }

  std::string layers() const {
    // Launches with the same name are one layer: parts of a batch, for example.
    struct Layer {
      std::string name;
      size_t count = 0;
      Statistics sum, slowest;
    };
    std::vector<Layer> list;
    std::map<std::string, size_t> known;
    for (size_t i = figures.first; i < figures.launches.size(); ++i) {
      std::string name = figures.nameOf(input, i);
      auto [entry, fresh] = known.emplace(name, list.size());
      if (fresh)
        list.push_back({name, 0, {}, {}});
      Layer &layer = list[entry->second];
      layer.sum.add(figures.launches[i]);
      ++layer.count;
      if (figures.launches[i].cycles > layer.slowest.cycles)
        layer.slowest = figures.launches[i];
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Layer &a, const Layer &b) { return a.sum.cycles > b.sum.cycles; });
    std::string tables[2];
    for (size_t part = 0; part < 2; ++part) {
      Table table({"layer", ">launches", ">cores", ">cycles", ">time", ">share", ">cube", ">DDR",
                   "bound by", ""});
      size_t begin = part ? kTopLayers : 0, end = part ? list.size() : kTopLayers;
      for (size_t i = begin; i < std::min(end, list.size()); ++i) {
        const Layer &layer = list[i];
        double share = ratio(layer.sum.cycles, run.cycles);
        table.row(
            {htmlText(layer.name), std::to_string(layer.count), std::to_string(layer.sum.coreCount),
             fixed(layer.sum.cycles, 0), time(soc.microseconds(layer.sum.cycles)), percent(share),
             percent(ratio(layer.sum.cubeCycles, layer.sum.activeCycles * double(soc.cubeCores))),
             bytes(layer.sum.ddrRead + layer.sum.ddrWritten), boundOf(soc, layer.slowest),
             track(share)});
      }
      tables[part] = table.end();
    }
    if (list.size() <= kTopLayers)
      return tables[0];
    return tables[0] + "<details><summary>the other " + std::to_string(list.size() - kTopLayers) +
           " layers</summary>" + tables[1] + "</details>";
  }

  std::string device() const {
    Table table({"what", ">bytes", ">of gm", ""});
    uint64_t whole = input.weightBytes + input.arenaBytes + input.inputBytes + input.outputBytes +
                     input.codeBytes;
    auto row = [&](const char *name, uint64_t size) {
      if (size)
        table.row({name, bytes(size),
                   fixed(ratio(double(size), double(soc.gmBytes)) * 100, 3) + " %",
                   track(ratio(double(size), double(whole)))});
    };
    row("weights", input.weightBytes);
    row("arena of activations", input.arenaBytes);
    row("inputs", input.inputBytes);
    row("outputs", input.outputBytes);
    row("programs", input.codeBytes);
    return table.end("The caller gave no sizes.");
  }

  std::string moved() const {
    Table table({"from", "to", ">bytes"});
    for (unsigned i = 0; i < kMemories; ++i)
      for (unsigned j = 0; j < kMemories; ++j)
        if (run.bytes[i][j])
          table.row({nameOf(Memory(i)), nameOf(Memory(j)), bytes(run.bytes[i][j])});
    return table.end();
  }

  std::string local() const {
    static const Memory memories[] = {Memory::L1,  Memory::L0A, Memory::L0B,
                                      Memory::L0C, Memory::UB,  Memory::BT};
    std::map<std::string, Statistics> programs;
    for (size_t i = figures.first; i < figures.launches.size(); ++i) {
      std::string name = figures.programOf(input, i);
      if (name.empty())
        name = figures.nameOf(input, i);
      programs[name].add(figures.launches[i]);
    }
    Table table({"program", ">L1", ">L0A", ">L0B", ">L0C", ">UB", ">BT"});
    auto row = [&](const std::string &name, const Statistics &statistics) {
      std::string cells[6];
      for (size_t i = 0; i < 6; ++i) {
        uint64_t used = statistics.localBytes[unsigned(memories[i])];
        cells[i] =
            used ? bytes(used) + " (" +
                       fixed(ratio(double(used), double(soc.memoryBytes(memories[i]))) * 100, 0) +
                       " %)"
                 : "";
      }
      table.row({name, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]});
    };
    row("<b>most of any program</b>", run);
    std::string max = table.end();
    for (const auto &[name, statistics] : programs)
      row(htmlText(name), statistics);
    return max + "<details><summary>all " + std::to_string(programs.size()) +
           " programs</summary>" + table.end() + "</details>";
  }

  std::string truncated() const {
    uint64_t dropped = input.simulator->droppedSpans;
    if (dropped)
      return "Truncated: the first " + std::to_string(input.simulator->spans.size()) +
             " spans were kept, " + std::to_string(dropped) + " after them were not.";
    return input.simulator->spans.empty() ? "No spans were kept: only the layers are shown." : "";
  }

  std::string page() const {
    const std::pair<const char *, std::string> parts[] = {
        {"TITLE", htmlText(input.title.empty() ? soc.name : input.title + " on " + soc.name)},
        {"NOTE", htmlText(hostSentence(input))},
        {"CARDS", cards()},
        {"ROOFLINE", roofline()},
        {"QUEUES", queues()},
        {"TRAFFIC", traffic()},
        {"STALLS", stalls()},
        {"TRUNCATED", truncated()},
        {"LAYERS", layers()},
        {"DEVICE", device()},
        {"MOVED", moved()},
        {"LOCAL", local()},
        {"DATA", timelineJson(input, figures, kMaxItems)}};
    std::string page, frame = kReportPage;
    for (size_t at = 0;;) {
      size_t mark = frame.find('@', at), end = frame.find('@', mark + 1);
      page.append(frame, at, mark - at);
      if (mark == frame.npos)
        return page;
      std::string name = frame.substr(mark + 1, end - mark - 1);
      at = mark + 1;
      page += '@'; // not all of them are ours: @media
      for (const auto &[key, text] : parts)
        if (name == key) {
          page.back() = text.empty() ? ' ' : text[0];
          page.append(text, std::min<size_t>(1, text.size()), text.npos);
          at = end + 1;
        }
    }
  }

private:
  const ReportInput &input;
  Figures figures;
  const SocTable &soc;
  const Statistics &run;
  Roofline line;
};

} // namespace

std::string atc::npu::htmlReport(const ReportInput &input) { return Page(input).page(); }
