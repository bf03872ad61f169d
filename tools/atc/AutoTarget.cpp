//===-- AutoTarget.cpp - --target=auto and --op_placement -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/AutoTarget.h"

#include "driver/targets/MakeTarget.h"
#include "support/NearestName.h"
#include "support/OneLine.h"
#include "tools/atc/SettingsFile.h"

#include "llvm/Support/FormatVariadic.h"

#include <thread>

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace atc::tools {

std::vector<driver::PlacementRule> readPlacementRules(const FlagValues &flags,
                                                      Diagnostics &diagnostics) {
  std::vector<driver::PlacementRule> rules;
  if (!flags.has("op_placement"))
    return rules;
  auto file = SettingsFile::read("op_placement", flags.get("op_placement"), diagnostics);
  if (!file)
    return rules;
  forEachRule(*file, diagnostics, [&](const SettingsRule &rule) {
    if (rule.name.empty() || (rule.value != "npu" && rule.value != "cpu"))
      diagnostics.error("E10001", rule.line.origin + ": \"" + rule.line.text +
                                      "\" must be name = npu or name = cpu" +
                                      didYouMean(rule.value, {"npu", "cpu"}));
    else
      rules.push_back({rule.name, rule.isType, rule.value == "cpu", rule.line.origin});
  });
  return rules;
}

std::optional<tuning::AutoOptions> readAutoTarget(const FlagValues &flags,
                                                  const driver::TargetRequest &request,
                                                  Diagnostics &diagnostics) {
  if (!request.soc && !request.socFile) {
    diagnostics.error("E10007", "--soc_version is required with --target=auto: it names the NPU");
    return std::nullopt;
  }
  tuning::AutoOptions options;
  driver::TargetRequest cpu;
  cpu.target = "cpu";
  cpu.cpuLevels = request.cpuLevels;
  auto levels = cpu::parseCpuLevels(request.cpuLevels);
  if (!levels || levels->empty()) {
    consumeError(levels.takeError());
    return std::nullopt; // makeTarget reports them
  }
  options.level = levels->back();
  options.cpu = driver::makeTarget(cpu, diagnostics);
  if (!options.cpu)
    return std::nullopt;
  options.processors = std::max(1u, std::thread::hardware_concurrency());
  auto read = [&](const char *flag, auto &number, uint64_t min) {
    uint64_t value = 0;
    if (!flags.has(flag))
      return;
    if (StringRef(flags.get(flag)).getAsInteger(10, value) || value < min || value > 1000000)
      diagnostics.error("E10001", "the value \"" + flags.get(flag) + "\" of --" + flag +
                                      " is invalid: it must be a whole number from " + Twine(min) +
                                      " to 1000000");
    else
      number = value;
  };
  read("placement_switches", options.maxSwitches, 0);
  read("placement_processors", options.processors, 1);
  return options;
}

void checkBesideAuto(const AtcOptions &options, Diagnostics &diagnostics) {
  auto refuse = [&](const Twine &what) {
    diagnostics.error("E10055", what + " not supported with --target=auto: compile with "
                                       "--target=npu and --op_placement");
  };
  if (options.mode != Mode::Compile)
    refuse("--mode and --singleop are");
  if (options.gears)
    refuse("gears are");
  if (options.shards)
    refuse("--parallel is");
  if (options.stopAfter != driver::Phase::Emit)
    refuse("--stop_after is");
  if (!options.compressionConf.empty())
    refuse("--compression_optimize_conf is");
}

std::vector<std::string> describeAuto(const tuning::AutoPlacement &placement) {
  std::vector<std::string> lines = {formatv("{0,-10} {1,10} {2,10} {3,10} {4,10} {5,8}",
                                            "placement", "NPU ms", "CPU ms", "copies ms",
                                            "total ms", "switches")};
  for (const auto &[index, candidate] : enumerate(placement.candidates)) {
    if (!candidate.error.empty()) {
      lines.push_back(formatv("{0,-10} {1}", candidate.name, oneLine(candidate.error)));
      continue;
    }
    lines.push_back(formatv("{0,-10} {1,10:f3} {2,10:f3} {3,10:f3} {4,10:f3} {5,8}{6}",
                            candidate.name, candidate.npuSeconds * 1e3, candidate.hostSeconds * 1e3,
                            (candidate.copySeconds + candidate.switchSeconds) * 1e3,
                            candidate.seconds() * 1e3, candidate.switches,
                            index == placement.chosen ? "  chosen" : ""));
  }
  lines.push_back(formatv("The NPU is simulated; the CPU is modelled with {0} processor{1}, a "
                          "switch costs {2:f1} us, copies run at {3:f1} GB/s",
                          placement.rates.processors, placement.rates.processors == 1 ? "" : "s",
                          placement.link.switchSeconds * 1e6,
                          placement.link.bytesPerSecond * 1e-9));
  return lines;
}

Json autoJson(const tuning::AutoPlacement &placement) {
  const driver::HostRates &rates = placement.rates;
  Json out = {{"chosen", placement.best().name},
              {"host",
               {{"processors", rates.processors},
                {"float_macs_per_second", rates.floatMacs},
                {"integer_macs_per_second", rates.integerMacs},
                {"host_call_macs_per_second", rates.hostCallMacs},
                {"operations_per_second", rates.operations},
                {"bytes_per_second", rates.bytes},
                {"launch_us", rates.launchSeconds * 1e6}}},
              {"switch_us", placement.link.switchSeconds * 1e6},
              {"link_bytes_per_second", placement.link.bytesPerSecond},
              {"candidates", Json::array()},
              {"kernels", Json::array()}};
  for (const tuning::PlacementCandidate &candidate : placement.candidates) {
    Json entry = {{"name", candidate.name}};
    if (!candidate.error.empty()) {
      entry["error"] = candidate.error;
    } else {
      entry["npu_ms"] = candidate.npuSeconds * 1e3;
      entry["cpu_ms"] = candidate.hostSeconds * 1e3;
      entry["switches_ms"] = candidate.switchSeconds * 1e3;
      entry["copies_ms"] = candidate.copySeconds * 1e3;
      entry["total_ms"] = candidate.seconds() * 1e3;
      entry["switches"] = candidate.switches;
      entry["copied_bytes"] = candidate.copiedBytes;
    }
    out["candidates"].push_back(std::move(entry));
  }
  for (const tuning::ChargedKernel &charged : placement.best().kernels)
    out["kernels"].push_back({{"kernel", charged.kernel.kernel},
                              {"nodes", charged.kernel.nodes},
                              {"side", charged.kernel.onNpu ? "npu" : "cpu"},
                              {"ms", charged.seconds * 1e3},
                              {"macs", charged.kernel.macs ? Json(*charged.kernel.macs) : Json()},
                              {"operations", charged.kernel.operations},
                              {"bytes", charged.kernel.bytes},
                              {"pinned", charged.kernel.isPinned}});
  return out;
}

} // namespace atc::tools
