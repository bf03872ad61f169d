//===-- CpuPage.cpp - files on where the time of a run on the CPU went ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/CpuPage.h"

#include "support/JsonText.h"
#include "support/ModelText.h"
#include "support/PrintableText.h"
#include "tools/om-run/Benchmark.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace atc::tools {

namespace {
using Json = nlohmann::ordered_json;

std::string number(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

const char *const style =
    "<style>\nbody { font: 14px system-ui, sans-serif; margin: 2em; max-width: 70em }\n"
    "table { border-collapse: collapse } td, th { padding: 2px 10px; text-align: right }\n"
    "td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left }\n"
    "th { cursor: pointer; border-bottom: 1px solid #999 }\n"
    ".bar { background: #4a7ebb; height: 10px }\n</style>\n";

/// Sorts the table by the column that is clicked.
const char *const script =
    "<script>\nfor (const [i, head] of [...document.querySelectorAll('th')].entries())\n"
    "  head.onclick = () => {\n"
    "    const body = document.querySelector('tbody'), key = row => row.cells[i].innerText;\n"
    "    const rows = [...body.rows].sort((a, b) => i < 2 ? key(a).localeCompare(key(b))\n"
    "                                                     : parseFloat(key(b)) - "
    "parseFloat(key(a)));\n"
    "    body.append(...rows);\n  };\n</script>\n";
} // namespace

std::string cpuReportPage(const Report &report, const om::Model &model) {
  const om_model_info info = model.info();
  std::vector<double> times = report.latenciesMs;
  std::sort(times.begin(), times.end());
  const std::string title = htmlText(info.name);
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" +
                     title + "</title>\n" + style + "<h1>" + title + "</h1>\n<p>Code for " +
                     htmlText(info.cpu_level) + ", " + std::to_string(report.threads) +
                     " threads, weights " + bytesText(info.weights_bytes) + ", arena " +
                     bytesText(info.arena_bytes) + ".</p>\n<p>";
  for (const auto &[name, share] :
       {std::pair("min", 0.0), {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}})
    page += std::string(name) + " " + number("%.3f ms, ", percentile(times, share));
  page += std::to_string(times.size()) + " runs";
  if (report.runsPerSecond > 0)
    page += number(", %.1f per second", report.runsPerSecond);
  page += "</p>\n<table>\n<thead><tr><th>launch</th><th>kernel</th><th>us</th><th>share</th>"
          "<th>GFLOP/s</th><th></th></tr></thead>\n<tbody>\n";
  double longest = 0;
  for (const ProfileRow &row : report.profile)
    longest = std::max(longest, row.share);
  for (const ProfileRow &row : report.profile)
    page += "<tr><td>" + htmlText(row.name) + "</td><td>" + htmlText(row.kernel) + "</td><td>" +
            number("%.1f", row.microseconds) + "</td><td>" + number("%.1f %%", 100 * row.share) +
            "</td><td>" + number("%.1f", row.gflops) +
            "</td><td style=\"width:20em\"><div class=\"bar\" style=\"width:" +
            number("%.1f%%", longest > 0 ? 100 * row.share / longest : 0) + "\"></div></td></tr>\n";
  return page + "</tbody>\n</table>\n" + script + "</html>\n";
}

std::string cpuTimelineJson(const std::vector<LaunchSpan> &spans) {
  Json events = Json::array();
  for (const LaunchSpan &span : spans)
    events.push_back({{"name", span.name},
                      {"cat", span.kernel},
                      {"ph", "X"},
                      {"ts", span.begin},
                      {"dur", span.end - span.begin},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"kernel", span.kernel}}}});
  const Json json = {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
  return jsonText(json);
}

} // namespace atc::tools
