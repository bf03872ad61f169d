//===-- Trace.cpp - a run as a timeline -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/report/Trace.h"

#include "npu/report/Text.h"

using namespace atc::npu;

namespace {

std::string number(double value) { return fixed(value, 4); }

std::string nameRow(const char *kind, unsigned process, unsigned row, const std::string &name) {
  return "{\"ph\":\"M\",\"name\":\"" + std::string(kind) + "\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(row) + ",\"args\":{\"name\":" + quoted(name) + "}}";
}

std::string bar(unsigned process, unsigned row, const std::string &name, double start, double end,
                const std::string &arguments) {
  return "{\"ph\":\"X\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(row) +
         ",\"name\":" + quoted(name) + ",\"ts\":" + number(start) +
         ",\"dur\":" + number(end - start) + ",\"args\":{" + arguments + "}}";
}

} // namespace

std::string atc::npu::chromeTrace(const SocTable &soc, const Simulator &simulator,
                                  const std::vector<std::string> &launchNames) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"soc\":" + quoted(soc.name);
  if (simulator.droppedSpans)
    text += ",\"truncated\":\"" + std::to_string(simulator.droppedSpans) +
            " spans after the first " + std::to_string(simulator.spans.size()) +
            " are left out\",\"dropped_spans\":" + std::to_string(simulator.droppedSpans);
  text += "},\"traceEvents\":[\n" +
          nameRow("process_name", 0, 0,
                  soc.name + " launches" +
                      (simulator.droppedSpans ? " (timeline truncated, see otherData)" : ""));
  // Cube and vector cores of a SoC with separate cores have rows of their own.
  const auto &launches = simulator.launches();
  auto processOf = [&](const TimeSpan &span) {
    return 1 + span.core + (span.onVectorCore ? unsigned(soc.cubeCores) : 0);
  };
  std::vector<bool> seen;
  for (const TimeSpan &span : simulator.spans) {
    unsigned process = processOf(span), row = process * kQueues + unsigned(span.queue);
    seen.resize(std::max<size_t>(seen.size(), (process + 1) * kQueues));
    seen[row] = true;
  }
  for (unsigned process = 1; process * kQueues < seen.size(); ++process) {
    bool vector = process > soc.cubeCores, used = false;
    unsigned core = process - 1 - (vector ? unsigned(soc.cubeCores) : 0);
    for (unsigned queue = 0; queue < kQueues; ++queue) {
      if (!seen[process * kQueues + queue])
        continue;
      if (!used)
        text += ",\n" + nameRow("process_name", process, 0,
                                (vector ? "vector core " : "core ") + std::to_string(core));
      used = true;
      text += ",\n" + nameRow("thread_name", process, queue, nameOf(Queue(queue)));
    }
  }
  auto nameOfLaunch = [&](size_t launch) {
    return launch < launchNames.size() ? launchNames[launch] : std::to_string(launch);
  };
  double start = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    const Statistics &launch = launches[i];
    text += ",\n" + bar(0, 0, nameOfLaunch(i), soc.microseconds(start),
                        soc.microseconds(start + launch.cycles),
                        "\"cycles\":" + number(launch.cycles) +
                            ",\"chained\":" + (launch.chained ? "true" : "false"));
    start += launch.cycles;
  }
  for (const TimeSpan &span : simulator.spans) {
    std::string name = infoOf(span.opcode).mnemonic;
    std::string arguments = "\"instruction\":" + std::to_string(span.line) +
                            ",\"layer\":" + quoted(nameOfLaunch(span.launch));
    if (span.stall != Stall::None) {
      name = std::string("waits: ") + nameOf(span.stall);
      if (span.stall == Stall::Flag || span.stall == Stall::QueueFull)
        name += std::string(" of ") + nameOf(span.other);
    } else if (span.delayed > 0) {
      arguments += ",\"bandwidth_stall_cycles\":" + number(span.delayed);
    }
    text += ",\n" + bar(processOf(span), unsigned(span.queue), name, soc.microseconds(span.start),
                        soc.microseconds(span.end), arguments);
  }
  return text + "\n]}\n";
}
