//===-- ReplayMain.cpp - runs a fuzz target over files, without a fuzzer ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  unsigned files = 0;
  for (int i = 1; i < argc; ++i) {
    std::error_code fault;
    for (const auto &entry : std::filesystem::directory_iterator(argv[i], fault)) {
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::printf("%u files\n", files);
  // A corpus that is not found must not count as tried.
  return files ? 0 : 1;
}
