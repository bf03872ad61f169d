//===-- ReplayMain.cpp - runs a fuzz target without libFuzzer -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   fuzz-x FOLDER...                               runs the files of the folders
//   fuzz-x --mutations=N [--seed=S] FOLDER...      and N mutations of them
//   fuzz-x --replay=0 --mutations=N FOLDER...      the mutations alone
//
// The second form ends with one line: how many were accepted and refused, how many
// crashed or hung, and a digest of all of them. What crashes or hangs is written to the
// current folder, and with --slow=MS what takes so many milliseconds.

#include "test/fuzz/CountMutations.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

bool takeNumber(std::string_view argument, std::string_view name, uint64_t &number) {
  if (!argument.starts_with(name))
    return false;
  number = std::strtoull(argument.data() + name.size(), nullptr, 10);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  atc::fuzz::CountOptions options;
  std::vector<std::vector<uint8_t>> corpus;
  size_t accepted = 0;
  uint64_t replay = 1;
  for (int i = 1; i < argc; ++i) {
    if (takeNumber(argv[i], "--mutations=", options.mutations) ||
        takeNumber(argv[i], "--seed=", options.seed) || takeNumber(argv[i], "--replay=", replay) ||
        takeNumber(argv[i], "--slow=", options.slowMilliseconds))
      continue;
    std::error_code error;
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(argv[i], error))
      paths.push_back(entry.path());
    // A seed gives the same mutations wherever the folder lies.
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path &path : paths) {
      std::ifstream stream(path, std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
      if (!replay)
        continue;
      std::printf("%s\n", path.c_str());
      std::fflush(stdout);
      accepted += LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size()) == 0;
    }
  }
  std::printf("%zu files, accepted %zu\n", corpus.size(), accepted);
  // A corpus that is not found, or of which nothing gets past the first check, must not count as
  // tried.
  if (replay && !accepted)
    return 1;
  return options.mutations ? atc::fuzz::countMutations(corpus, options) : 0;
}
