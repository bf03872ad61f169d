//===-- Trace.cpp - a run as a timeline -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/npu/Simulator.h"

#include <charconv>

using namespace atc::npu;

namespace {

std::string quoted(const std::string &text) {
  static const char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (uint8_t(c) < 32)
      result.append("\\u00").append(1, digits[uint8_t(c) >> 4]).append(1, digits[c & 15]);
    else
      result += c;
  }
  return result + '"';
}

std::string number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 4).ptr};
}

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
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" +
                     nameRow("process_name", 0, 0, soc.name + " launches");
  unsigned cores = unsigned(simulator.total().coreCount);
  for (unsigned core = 0; core < cores; ++core) {
    text += ",\n" + nameRow("process_name", core + 1, 0, "core " + std::to_string(core));
    for (unsigned queue = 0; queue < kQueues; ++queue)
      text += ",\n" + nameRow("thread_name", core + 1, queue, nameOf(Queue(queue)));
  }
  auto nameOfLaunch = [&](size_t launch) {
    return launch < launchNames.size() ? launchNames[launch] : std::to_string(launch);
  };
  double start = 0;
  for (size_t i = 0; i < simulator.launches().size(); ++i) {
    const Statistics &launch = simulator.launches()[i];
    text +=
        ",\n" + bar(0, 0, nameOfLaunch(i), soc.microseconds(start),
                    soc.microseconds(start + launch.cycles), "\"cycles\":" + number(launch.cycles));
    start += launch.cycles;
  }
  for (const Span &span : simulator.spans)
    text += ",\n" + bar(span.core + 1u, unsigned(span.queue), infoOf(span.opcode).mnemonic,
                        soc.microseconds(span.start), soc.microseconds(span.end),
                        "\"instruction\":" + std::to_string(span.line) +
                            ",\"launch\":" + quoted(nameOfLaunch(span.launch)));
  return text + "\n]}\n";
}
