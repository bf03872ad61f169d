//===-- ProgressBar.h - how far a long run is -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_PROGRESSBAR_H
#define OPENATC_TOOLS_COMMON_PROGRESSBAR_H

#include <cstddef>
#include <cstdio>

namespace atc::tools {

/// On a terminal a bar that is drawn over again, elsewhere a line for every tenth.
class ProgressBar {
public:
  ProgressBar(const char *what, std::FILE *stream);
  /// `all` is 0 where the end is not known.
  void update(size_t done, size_t all);

private:
  const char *what;
  std::FILE *stream;
  bool isTerminal;
  size_t tenths = 0;
};

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_PROGRESSBAR_H
