//===-- ReportPage.cpp - the error report as a page with plots ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/ErrorReport.h"
#include "support/PrintableText.h"

#include <algorithm>
#include <cmath>

namespace atc::quantize {

namespace {

std::string format(const char *pattern, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

constexpr const char *style = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Quantization report</title><style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em;
       color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse } td, th { padding: .15em .8em; text-align: right }
td:first-child, th:first-child { text-align: left } tr:nth-child(even) { background: #f4f4f4 }
.plots { display: flex; flex-wrap: wrap; gap: 1em } figure { margin: 0; width: 260px }
figcaption { font-size: 12px; overflow-wrap: anywhere }
.bar { fill: #4878a8 } .bad { fill: #c0504d } .cut { fill: #e8c4c2 } line { stroke: #c0504d }
text { font: 11px system-ui, sans-serif; fill: #222 }
</style></head><body>
)";

/// Returns a bar with the signal to noise ratio of every tensor.
std::string bars(const std::vector<TensorComparison> &tensors) {
  constexpr int row = 15, left = 300, width = 560;
  double max = 20;
  for (const TensorComparison &each : tensors)
    if (std::isfinite(each.sqnr))
      max = std::max(max, each.sqnr);
  std::string svg = format("<svg width=\"%d\" height=\"%zu\" role=\"img\">\n", left + width + 60,
                           tensors.size() * row + 4);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorComparison &each = tensors[i];
    const double value = std::isfinite(each.sqnr) ? each.sqnr : each.sqnr > 0 ? max : 0;
    const int y = int(i) * row;
    const std::string name = shortened(printable(each.name), 20, 24);
    svg += format("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", left - 6, y + 11) +
           htmlText(name) + "</text>";
    // Below 15 dB a third and more of the amplitude is noise.
    svg += format("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                  each.sqnr < 15 ? "bad" : "bar", left, y + 2, std::max(0.0, value / max * width),
                  row - 4);
    svg += format("<text x=\"%.1f\" y=\"%d\">%.1f</text>\n",
                  left + std::max(0.0, value / max * width) + 4, y + 11, each.sqnr);
  }
  return svg + "</svg>\n";
}

/// Plots counts (as square roots, so that tails are visible) and the part outside of the range.
std::string plot(const Histogram &histogram, const TensorEntry &entry) {
  constexpr int width = 256, height = 90, columns = 128;
  const Interval seen = histogram.seen();
  const double span = std::max(seen.max - seen.min, 1e-30);
  std::vector<double> heights(columns, 0);
  for (size_t bin = 0; bin < histogram.numBins(); ++bin)
    if (const uint64_t count = histogram.binCount(bin)) {
      const double at = (histogram.binCenter(bin) - seen.min) / span * columns;
      heights[std::clamp<int>(static_cast<int>(at), 0, columns - 1)] += count;
    }
  double max = 1;
  for (double &each : heights)
    max = std::max(max, each = std::sqrt(each));
  std::string svg = format("<svg width=\"%d\" height=\"%d\" role=\"img\">\n", width, height + 16);
  constexpr double column = double(width) / columns;
  for (int i = 0; i < columns; ++i) {
    const double value = seen.min + (i + 0.5) / columns * span;
    const bool isCut = value < entry.chosen.min || value > entry.chosen.max;
    const double tall = heights[i] / max * height;
    svg += format("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                  isCut ? "cut" : "bar", i * column, height - tall, column, tall);
  }
  for (double edge : {entry.chosen.min, entry.chosen.max})
    if (const double x = (edge - seen.min) / span * width; x >= 0 && x <= width)
      svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>", x, x, height);
  svg += format("\n<text x=\"0\" y=\"%d\">%.4g</text><text x=\"%d\" y=\"%d\" "
                "text-anchor=\"end\">%.4g</text>",
                height + 13, seen.min, width, height + 13, seen.max);
  return svg + "</svg>\n";
}

std::string rows(const std::vector<TensorComparison> &list) {
  std::string html = "<table><tr><th>tensor</th><th>cosine</th><th>SQNR, dB</th>"
                     "<th>largest error</th></tr>\n";
  for (const TensorComparison &each : list)
    html += "<tr><td>" + htmlText(each.name) +
            format("</td><td>%.6f</td><td>%.2f</td><td>%.4g</td></tr>\n", each.cosine, each.sqnr,
                   each.maxError);
  return html + "</table>\n";
}

} // namespace

/// Returns the plots of all calibrated tensors.
static std::string plots(const Calibration &calibration) {
  std::string html = "<h2>Where the numbers lie</h2>\n<p>Heights are square roots of counts. Lines "
                     "are the ends of the chosen range, pale columns what it cuts off.</p>\n"
                     "<div class=\"plots\">\n";
  for (size_t i = 0; i < calibration.table.tensors.size(); ++i) {
    const Histogram &histogram = calibration.histograms[i];
    const TensorEntry &entry = calibration.table.tensors[i];
    if (histogram.empty() || !histogram.numBins())
      continue; // it shares the parameters of another tensor, or has only zeros
    html += "<figure>" + plot(histogram, entry) + "<figcaption>" + htmlText(entry.name) +
            format("<br>scale %.4g, zero point %d</figcaption></figure>\n", entry.params.scale,
                   entry.params.zeroPoint);
  }
  return html + "</div>\n";
}

std::string reportHtml(const ErrorReport &report, const Calibration *calibration) {
  std::string html = style;
  html += "<h1>Quantization of " + htmlText(report.model) + "</h1>\n<p>";
  if (calibration)
    html += format("%zu layers and %zu tensors are int8. Calibrated with %zu samples; f",
                   calibration->table.layers.size(), calibration->table.tensors.size(),
                   calibration->samples);
  else
    html += "F";
  html += format("loat and quantized are compared on %zu%s.</p>\n", report.samples,
                 calibration ? " of them" : " samples");
  html += "<h2>Outputs</h2>\n" + rows(report.outputs);
  html += "<h2>Signal to quantization noise of every tensor, dB</h2>\n" + bars(report.tensors);
  if (calibration)
    html += plots(*calibration);
  html += "<h2>All tensors</h2>\n" + rows(report.tensors);
  return html + "</body></html>\n";
}

} // namespace atc::quantize
