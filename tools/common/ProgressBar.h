//===-- ProgressBar.h - shows the progress of a long run ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_PROGRESSBAR_H
#define OPENATC_TOOLS_COMMON_PROGRESSBAR_H

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace atc::tools {

/// Draws a bar that is updated in place on a terminal, and prints a line per tenth elsewhere.
class ProgressBar {
public:
  ProgressBar(const char *what, std::FILE *stream);
  /// Shows `done` of `all` steps; `all` is 0 where the total is not known.
  void update(size_t done, size_t all);

private:
  const char *what;
  std::FILE *stream;
  bool isTerminal;
  size_t tenths = 0;
};

/// Shows what a long run is doing in one line of a terminal; shows nothing elsewhere.
class StageLine {
public:
  /// `stream` must outlive the object.
  explicit StageLine(std::FILE *stream);
  ~StageLine() { clear(); }

  /// Shows the name of the stage that begins, behind the seconds so far.
  void show(const std::string &stage);
  /// Removes the line.
  void clear();

private:
  std::FILE *stream;
  bool isTerminal, isShown = false;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_PROGRESSBAR_H
