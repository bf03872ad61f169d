//===-- ProgressBar.cpp - how far a long run is ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/ProgressBar.h"

#include "tools/common/Print.h"

#include <string>
#include <unistd.h>

namespace atc::tools {

ProgressBar::ProgressBar(const char *what, std::FILE *stream)
    : what(what), stream(stream), isTerminal(isatty(fileno(stream))) {}

void ProgressBar::update(size_t done, size_t all) {
  constexpr size_t width = 40;
  if (isTerminal) {
    if (all) {
      const size_t filled = width * done / all;
      const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
      print(stream, "\r%s [%s] %zu/%zu%s", what, bar.c_str(), done, all, done == all ? "\n" : "");
    } else {
      print(stream, "\r%s %zu", what, done);
    }
    std::fflush(stream);
    return;
  }
  if (all && done * 10 / all > tenths) {
    tenths = done * 10 / all;
    print(stream, "%s %zu %% (%zu of %zu)\n", what, tenths * 10, done, all);
  }
}

StageLine::StageLine(std::FILE *stream) : stream(stream), isTerminal(isatty(fileno(stream)) != 0) {}

void StageLine::show(const std::string &stage) {
  if (!isTerminal)
    return;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  print(stream, "\r\033[K%6.1f s  %s ...", passed.count(), stage.c_str());
  std::fflush(stream);
  isShown = true;
}

void StageLine::clear() {
  if (!isShown)
    return;
  print(stream, "\r\033[K");
  std::fflush(stream);
  isShown = false;
}

} // namespace atc::tools
