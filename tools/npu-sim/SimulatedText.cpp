//===-- SimulatedText.cpp - figures of simulations as tables --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/npu-sim/Simulated.h"

#include <cstdarg>
#include <cstdio>

namespace atc::tools {

namespace {

using Json = nlohmann::ordered_json;

/// Appends a line as printf makes it.
[[gnu::format(printf, 2, 3)]] void append(std::string &text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  text += line;
}

double number(const Json &object, const char *key) { return object.value(key, 0.0); }

/// Returns the sum of all numbers of an object.
double sumOf(const Json &object) {
  double sum = 0;
  for (const auto &[key, value] : object.items())
    sum += value.get<double>();
  return sum;
}

/// A figure of two simulations.
struct Compared {
  const char *name, *unit;
  double first, second;
};

std::vector<Compared> comparedOf(const Json &a, const Json &b) {
  std::vector<Compared> rows;
  auto add = [&](const char *name, const char *unit, auto value) {
    rows.push_back({name, unit, value(a), value(b)});
  };
  add("time", "us", [](const Json &f) { return number(f, "ms") * 1e3; });
  add("instructions", "", [](const Json &f) { return number(f, "instructions"); });
  add("DDR read", "bytes", [](const Json &f) { return number(f.at("ddr"), "read_bytes"); });
  add("DDR written", "bytes", [](const Json &f) { return number(f.at("ddr"), "written_bytes"); });
  add("L2 hits", "bytes", [](const Json &f) { return number(f.at("l2"), "hit_bytes"); });
  for (const char *queue : {"S", "M", "V", "MTE1", "MTE2", "MTE3", "FIX"})
    add(queue, "% busy",
        [&](const Json &f) { return number(f.at("queues").at(queue), "utilisation") * 100; });
  add("waits for flags", "cycles",
      [](const Json &f) { return sumOf(f.at("stalls").at("flags_cycles")); });
  add("waits at barriers", "cycles",
      [](const Json &f) { return number(f.at("stalls"), "barrier_cycles"); });
  add("waits for bandwidth", "cycles",
      [](const Json &f) { return number(f.at("stalls"), "bandwidth_cycles"); });
  return rows;
}

std::string boundOf(const Json &figures) { return figures.at("bound_by").get<std::string>(); }

} // namespace

std::string textOf(const Simulated &simulated, bool cores) {
  const Json &f = simulated.figures;
  const Json &line = f.at("roofline");
  std::string text = simulated.file + " on " + f.at("soc").get<std::string>() + "\n";
  append(text, "time             %12.3f us   %.0f cycles, %.0f launches, %.0f instructions\n",
         number(f, "ms") * 1e3, number(f, "cycles"), number(f, "launches"),
         number(f, "instructions"));
  // Programs leave results in L2, so only networks are bound by DDR.
  if (number(line, "bound_ms") > 0)
    append(text, "lower bound      %12.3f us   (%s), the time is %.2f x as long\n",
           number(line, "bound_ms") * 1e3, line.at("bound_by").get<std::string>().c_str(),
           number(line, "times_bound"));
  append(text, "bound by         %s\n", boundOf(f).c_str());
  append(text, "DDR              %12.0f bytes read, %.0f written\n",
         number(f.at("ddr"), "read_bytes"), number(f.at("ddr"), "written_bytes"));
  append(text, "\n%-8s %14s %8s %14s\n", "queue", "busy cycles", "busy", "waits cycles");
  for (const auto &[name, queue] : f.at("queues").items())
    if (number(queue, "busy_cycles") > 0 || number(queue, "waits_cycles") > 0)
      append(text, "%-8s %14.0f %7.1f%% %14.0f\n", name.c_str(), number(queue, "busy_cycles"),
             number(queue, "utilisation") * 100, number(queue, "waits_cycles"));
  const Json &stalls = f.at("stalls");
  for (const auto &[pair, count] : stalls.at("flags_cycles").items())
    append(text, "%-14s waited %14.0f cycles for flags\n", pair.c_str(), count.get<double>());
  if (f.at("per_launch").size() > 1) {
    append(text, "\n%-28s %10s %7s %6s  %s\n", "launch", "us", "cube", "cores", "bound by");
    for (const Json &launch : f.at("per_launch"))
      append(text, "%-28.28s %10.3f %6.1f%% %6.0f  %s\n",
             launch.at("name").get<std::string>().c_str(), number(launch, "us"),
             number(launch, "cube_utilisation") * 100, number(launch, "cores"),
             launch.at("bound_by").get<std::string>().c_str());
  }
  if (!cores)
    return text;
  append(text, "\n%-8s %-7s %12s   %s\n", "core", "kind", "instructions",
         "busy cycles per queue (waits)");
  for (const Json &core : f.at("per_core")) {
    append(text, "%-8.0f %-7s %12.0f  ", number(core, "core"),
           core.at("kind").get<std::string>().c_str(), number(core, "instructions"));
    for (const auto &[name, queue] : core.at("queues").items())
      append(text, " %s %.0f (%.0f)", name.c_str(), number(queue, "busy_cycles"),
             number(queue, "waits_cycles"));
    text += "\n";
  }
  return text;
}

std::string comparisonOf(const Simulated &first, const Simulated &second) {
  std::string text;
  append(text, "%-22s %16s %16s %9s\n", "", "first", "second", "ratio");
  for (const Compared &row : comparedOf(first.figures, second.figures)) {
    if (row.first == 0 && row.second == 0)
      continue;
    const std::string name =
        std::string(row.name) + (*row.unit ? std::string(", ") + row.unit : "");
    append(text, "%-22s %16.3f %16.3f", name.c_str(), row.first, row.second);
    if (row.first > 0)
      append(text, " %8.3fx", row.second / row.first);
    text += "\n";
  }
  append(text, "%-22s %16s %16s\n", "bound by", boundOf(first.figures).c_str(),
         boundOf(second.figures).c_str());
  return text;
}

nlohmann::ordered_json comparisonJson(const Simulated &first, const Simulated &second) {
  Json rows = Json::object();
  for (const Compared &row : comparedOf(first.figures, second.figures)) {
    Json &entry = rows[row.name];
    entry = {{"unit", row.unit}, {"first", row.first}, {"second", row.second}};
    if (row.first > 0)
      entry["ratio"] = row.second / row.first;
  }
  return rows;
}

} // namespace atc::tools
