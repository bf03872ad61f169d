//===-- Report.cpp - what om-run measured, as tables or JSON --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Report.h"

#include "support/JsonText.h"
#include "support/ModelText.h"
#include "support/TensorValues.h"
#include "tools/common/Print.h"
#include "tools/om-run/Benchmark.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace atc::tools {

namespace {
using Json = nlohmann::ordered_json;

struct Latency {
  double median, min, p90, p99;
};

Latency summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  const double median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  return {median, times.front(), percentile(times, 0.9), percentile(times, 0.99)};
}

/// Returns the peak memory of the process as the system counts it.
uint64_t peakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

void printLabels(const NamedTensor &output, const std::vector<std::string> &labels) {
  const void *data = output.value.data();
  print(stdout, "  top %zu:\n", std::min<size_t>(5, labels.size()));
  for (uint64_t index : largest(output.tensor, data, 5))
    print(stdout, "    %10g  %s (%llu)\n", valueAt(output.tensor.dtype, data, index),
          printable(labels[index]).c_str(), static_cast<unsigned long long>(index));
}

} // namespace

void printOutput(const NamedTensor &output, const std::vector<std::string> &labels) {
  const om::Tensor &tensor = output.tensor;
  const void *data = output.value.data();
  if (tensor.dtype == OM_STRING) {
    print(stdout, "output %s %s", tensor.name.c_str(), typeText(tensor.dtype, tensor.dims).c_str());
    for (uint64_t i = 0; i < output.value.size() && i < 5; ++i)
      print(stdout, "  '%s'", output.value.string(i).c_str());
    print(stdout, "\n");
    return;
  }
  if (!hasValues(tensor.dtype)) {
    print(stdout, "output %s %s\n", tensor.name.c_str(),
          typeText(tensor.dtype, tensor.dims).c_str());
    return;
  }
  const Range range = rangeOf(tensor, data);
  print(stdout, "output %s %s  min %g  max %g", tensor.name.c_str(),
        typeText(tensor.dtype, tensor.dims).c_str(), range.min, range.max);
  if (range.notFinite)
    print(stdout, "  (%llu values are NaN or infinite)",
          static_cast<unsigned long long>(range.notFinite));
  print(stdout, "\n");
  if (isLabelled(output, labels))
    return printLabels(output, labels);
  if (tensor.dims.size() != 2 || tensor.dims[0] != 1 || tensor.dims[1] < 2)
    return;
  print(stdout, "  top 5:");
  for (uint64_t index : largest(tensor, data, 5))
    print(stdout, "  %llu (%g)", static_cast<unsigned long long>(index),
          valueAt(tensor.dtype, data, index));
  print(stdout, "\n");
}

namespace {

/// Returns the text of om_npu_text about the last run with the figures that follow from it.
Json npuJson(const std::string &text, const Report &report) {
  Json npu = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!npu.is_object() || !npu.contains("roofline"))
    return nullptr;
  const Json &roofline = npu["roofline"];
  const double macs = npu["macs_npu"], total = npu["macs_model"];
  const double hit = npu["l2"]["hit_bytes"], missed = npu["l2"]["missed_bytes"];
  const uint64_t read = npu["ddr"]["read_bytes"], written = npu["ddr"]["written_bytes"];
  const bool cube = roofline["cube_ms"] >= roofline["ddr_ms"];
  Json bound = {{"what", cube ? "cube" : "ddr"}, {"ms", roofline["bound_ms"]}};
  Json times = roofline["times_bound"];
  npu["first_run"] = report.isFirstRun;
  npu["macs_total"] = npu["macs_model"];
  npu["macs_share"] = total > 0 ? macs / total : 0;
  npu["l2"]["hit_rate"] = hit + missed > 0 ? hit / (hit + missed) : 0;
  npu["ddr_bytes"] = read + written;
  Json &host = npu["host"];
  host["ms"] = host["kernels"] > 0 ? report.hostMs : 0;
  npu["total_ms"] = npu["ms"].get<double>() + host["ms"].get<double>();
  npu["bound"] = std::move(bound);
  npu["times_bound"] = std::move(times);
  return npu;
}

void printNpu(const Json &npu) {
  print(stdout, "\nsimulated %s (%s)\n", npu["soc"].get<std::string>().c_str(),
        npu["first_run"].get<bool>()
            ? "the first run: L2 is empty at its start; --loop for later ones"
            : "the last run: L2 holds what the one before left");
  print(stdout, "%-16s %10.3f ms   %.0f cycles, %llu launches\n", "NPU time",
        npu["ms"].get<double>(), npu["cycles"].get<double>(),
        npu["launches"].get<unsigned long long>());
  const Json &host = npu["host"];
  if (host["kernels"] > 0) {
    auto count = [&](const char *what, const char *one, const char *many) {
      const auto number = host[what].get<unsigned long long>();
      return std::to_string(number) + " " + (number == 1 ? one : many);
    };
    print(stdout, "%-16s %10.3f ms   measured here, %s, %s\n", "host time",
          host["ms"].get<double>(), count("kernels", "kernel", "kernels").c_str(),
          count("switches", "switch", "switches").c_str());
    print(stdout, "%-16s %10.3f ms   without copies between their memories\n", "both",
          npu["total_ms"].get<double>());
  }
  print(stdout, "%-16s %10.3f ms   (%s), the time is %.2f x as long\n", "lower bound",
        npu["bound"]["ms"].get<double>(), npu["bound"]["what"].get<std::string>().c_str(),
        npu["times_bound"].get<double>());
  print(stdout, "%-16s %9.1f %%   of %.3f GMAC\n", "MACs on the NPU",
        100 * npu["macs_share"].get<double>(), npu["macs_total"].get<double>() * 1e-9);
  print(stdout, "%-16s", "queues busy");
  for (const auto &[name, queue] : npu["queues"].items())
    print(stdout, "  %s %.1f %%", name.c_str(), 100 * queue["utilisation"].get<double>());
  print(stdout, "\n%-16s %9.1f %%   (DDR moved %s)\n", "L2 hits",
        100 * npu["l2"]["hit_rate"].get<double>(),
        bytesText(npu["ddr_bytes"].get<uint64_t>()).c_str());
}

void printProfile(std::vector<ProfileRow> rows) {
  size_t nameWidth = 6, kernelWidth = 6;
  double total = 0, flops = 0;
  for (ProfileRow &row : rows) {
    row.name = printable(row.name);
    row.kernel = printable(row.kernel);
    nameWidth = std::max(nameWidth, columnsOf(row.name));
    kernelWidth = std::max(kernelWidth, columnsOf(row.kernel));
    total += row.microseconds;
    flops += row.gflops * row.microseconds;
  }
  print(stdout, "\n%s  %s  %10s  %7s  %9s\n", padded("launch", nameWidth).c_str(),
        padded("kernel", kernelWidth).c_str(), "us", "share", "GFLOP/s");
  for (const ProfileRow &row : rows)
    print(stdout, "%s  %s  %10.1f  %6.1f%%  %9.1f\n", padded(row.name, nameWidth).c_str(),
          padded(row.kernel, kernelWidth).c_str(), row.microseconds, 100 * row.share, row.gflops);
  print(stdout, "%s  %s  %10.1f  %6.1f%%  %9.1f\n", padded("total", nameWidth).c_str(),
        padded("", kernelWidth).c_str(), total, 100.0, total > 0 ? flops / total : 0);
}
} // namespace

bool isLabelled(const NamedTensor &output, const std::vector<std::string> &labels) {
  return !labels.empty() && hasValues(output.tensor.dtype) &&
         output.tensor.elements == labels.size();
}

std::vector<ProfileRow> readProfile(const om::Model &model, const om::Session &session,
                                    const om::Gears &gears) {
  std::vector<ProfileRow> rows;
  double total = 0;
  uint32_t first = 0, end = model.info().launches;
  if (session.gear() != OM_NO_GEAR) {
    first = gears.all[session.gear()].firstLaunch;
    end = first + gears.all[session.gear()].launches;
  }
  for (uint32_t i = 0; i < model.info().launches; ++i) {
    uint64_t nanoseconds = 0, runs = 0;
    om_session_get_profile(session.get(), i, &nanoseconds, &runs);
    const double mean = runs ? static_cast<double>(nanoseconds) / runs : 0;
    const om::Launch launch = model.launch(i);
    // Calls of host kernels are behind all launches; those of other gears have not run.
    const bool isOther =
        launch.host ? session.gear() != OM_NO_GEAR && !nanoseconds : i < first || i >= end;
    if (isOther)
      continue;
    rows.push_back({launch.name, launch.kernel, mean / 1000, 0, mean > 0 ? launch.cost / mean : 0});
    total += mean / 1000;
  }
  for (ProfileRow &row : rows)
    row.share = total > 0 ? row.microseconds / total : 0;
  return rows;
}

void printJson(const Report &report, const om::Model &model, const std::string &npu) {
  const om_model_info info = model.info();
  const Latency latency = summarize(report.latenciesMs);
  Json json = {{"model", info.name},
               {"file", report.path},
               {"threads", report.threads},
               {"cpu_level", info.cpu_level},
               {"load_ms", report.loadMs},
               {"first_run_ms", report.firstRunMs},
               {"latency_ms",
                {{"median", latency.median},
                 {"min", latency.min},
                 {"p50", latency.median},
                 {"p90", latency.p90},
                 {"p99", latency.p99}}},
               {"sessions", report.sessions},
               {"runs_per_second", report.runsPerSecond},
               {"loop", report.latenciesMs.size()},
               {"peak_memory_bytes", peakMemoryBytes()},
               {"weights_bytes", info.weights_bytes},
               {"arena_bytes", info.arena_bytes},
               {"outputs", Json::array()}};
  for (const NamedTensor &output : report.outputs)
    json["outputs"].push_back({{"name", output.tensor.name},
                               {"dtype", om_dtype_name(output.tensor.dtype)},
                               {"dims", output.tensor.dims}});
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    const NamedTensor &output = report.outputs[i];
    if (!isLabelled(output, report.labels))
      continue;
    for (uint64_t index : largest(output.tensor, output.value.data(), 5))
      json["outputs"][i]["top"].push_back(
          {{"index", index},
           {"value", valueAt(output.tensor.dtype, output.value.data(), index)},
           {"label", report.labels[index]}});
  }
  if (!report.gear.empty())
    json["gear"] = report.gear;
  if (!report.profile.empty()) {
    json["profile"] = Json::array();
    for (const ProfileRow &row : report.profile)
      json["profile"].push_back({{"name", row.name},
                                 {"kernel", row.kernel},
                                 {"us", row.microseconds},
                                 {"share", row.share},
                                 {"gflops", row.gflops}});
  }
  if (!npu.empty())
    json["npu"] = npuJson(npu, report);
  printLines(stdout, jsonText(json));
}

/// Returns whether an output has elements that are infinite or NaN.
static bool hasNotFinite(const NamedTensor &output) {
  return output.tensor.dtype != OM_STRING && hasValues(output.tensor.dtype) &&
         rangeOf(output.tensor, output.value.data()).notFinite > 0;
}

void printTables(const Report &report, const om::Model &model, const std::string &npu) {
  const om_model_info info = model.info();
  const Latency latency = summarize(report.latenciesMs);
  for (const NamedTensor &output : report.outputs)
    printOutput(output, report.labels);
  if (!npu.empty() && std::any_of(report.outputs.begin(), report.outputs.end(), hasNotFinite))
    print(stdout, "f16 ends at 65504: --check-ranges names the layers that leave it\n");
  const std::string level = *info.cpu_level ? info.cpu_level : "the NPU only";
  print(stdout, "\nmodel %s, code for %s, %u thread%s\n", info.name, level.c_str(), report.threads,
        report.threads == 1 ? "" : "s");
  if (!report.gear.empty())
    print(stdout, "%-16s %s\n", "gear", dimsText(report.gear).c_str());
  print(stdout, "%-16s %10.3f ms\n", "load", report.loadMs);
  print(stdout, "%-16s %10.3f ms\n", "first run", report.firstRunMs);
  print(stdout, "%-16s %10.3f ms   min %.3f   p90 %.3f   p99 %.3f   (%zu run%s)\n",
        "latency, median", latency.median, latency.min, latency.p90, latency.p99,
        report.latenciesMs.size(), report.latenciesMs.size() == 1 ? "" : "s");
  if (report.runsPerSecond > 0)
    print(stdout, "%-16s %10.1f per second   (%u session%s)\n", "throughput", report.runsPerSecond,
          report.sessions, report.sessions == 1 ? "" : "s");
  print(stdout, "%-16s %13s   (weights %s, arena %s)\n", "peak memory",
        bytesText(peakMemoryBytes()).c_str(), bytesText(info.weights_bytes).c_str(),
        bytesText(info.arena_bytes).c_str());
  if (!report.profile.empty())
    printProfile(report.profile);
  if (const Json figures = npuJson(npu, report); figures.is_object())
    printNpu(figures);
}

} // namespace atc::tools
