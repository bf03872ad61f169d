//===-- OmSinkTest.cpp - what a file sink is given reaches the file -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/OmSink.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

using atc::om::OmFileSink;

namespace {

constexpr uint64_t MiB = 1 << 20;

/// Writes ranges (offset, bytes) in their order, each with bytes of its own, and checks the file.
void check(uint64_t size, const std::vector<std::pair<uint64_t, uint64_t>> &ranges) {
  const std::string path = "om-sink-" + std::to_string(getpid()) + ".bin";
  std::vector<char> expected(size);
  {
    OmFileSink sink(path);
    REQUIRE(sink.setSize(size));
    unsigned number = 0;
    for (const auto &[offset, bytes] : ranges) {
      std::vector<char> data(bytes);
      ++number;
      for (uint64_t i = 0; i < bytes; ++i)
        data[i] = static_cast<char>(i * 31 + i / 251 + number * 7 + 1);
      std::copy(data.begin(), data.end(), expected.begin() + offset);
      REQUIRE(sink.write(offset, data.data(), bytes));
    }
    REQUIRE(sink.commit());
  }
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> found{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  REQUIRE(found.size() == size);
  CHECK(std::equal(found.begin(), found.end(), expected.begin()));
}

} // namespace

TEST_CASE("ranges in ascending order, with and without gaps") {
  check(100, {{0, 100}});
  check(9 * MiB, {{0, 9 * MiB}});
  check(9 * MiB + 7, {{4096, 4 * MiB}, {4 * MiB + 8192, 100}, {8 * MiB - 1, 2}, {9 * MiB, 7}});
  // A gap of whole pieces.
  check(30 * MiB, {{10, 20}, {29 * MiB, 5}});
}

TEST_CASE("ranges before the end") {
  // The header of a model comes last.
  check(9 * MiB, {{4096, 100}, {8 * MiB, 100}, {0, 4096}});
  // What is ahead of a range in its piece stays.
  check(4 * MiB, {{4096, 100}, {0, 50}, {8192, 100}, {4096, 10}, {4300, 5}, {3 * MiB, MiB}});
  check(9 * MiB, {{5 * MiB, 100}, {0, 5 * MiB + 50}, {8 * MiB, MiB}});
}
