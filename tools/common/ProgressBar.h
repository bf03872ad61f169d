//===-- ProgressBar.h - shows the progress of a long run ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_PROGRESSBAR_H
#define OPENATC_TOOLS_COMMON_PROGRESSBAR_H

#include <cstddef>
#include <cstdio>

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

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_PROGRESSBAR_H
