//===-- LoopbackTest.cpp - collectives between threads --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/ranks.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

/// The ranks of a test, all connected.
class Ranks {
public:
  explicit Ranks(uint32_t count, double timeout = 20) : ranks(count), group(count) {
    om_error error;
    REQUIRE(om_loopback_open(count, timeout, ranks.data(), &error) == OM_OK);
    std::iota(group.begin(), group.end(), 0);
  }
  ~Ranks() {
    for (om_ranks *own : ranks)
      own->close(own);
  }

  /// Calls `body(rank)` in a thread per rank.
  void run(const std::function<void(uint32_t)> &body) {
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks.size(); ++rank)
      threads.emplace_back(body, rank);
    for (std::thread &thread : threads)
      thread.join();
  }

  /// Runs a collective of the whole group on one rank; returns "" or the error.
  template <typename T>
  std::string meet(uint32_t rank, om_collective_kind kind, om_dtype dtype,
                   const std::vector<T> &input, std::vector<T> &output,
                   om_reduction reduction = OM_REDUCE_SUM, uint32_t root = 0) {
    om_collective op = {};
    op.name = "test";
    op.kind = kind;
    op.reduction = reduction;
    op.dtype = dtype;
    op.ranks = group.data();
    op.rank_count = group.size();
    op.root = root;
    op.input = input.data();
    op.input_bytes = input.size() * sizeof(T);
    op.output = output.data();
    op.output_bytes = output.size() * sizeof(T);
    return finish(rank, op);
  }

  std::string finish(uint32_t rank, const om_collective &op) {
    const om_collectives &table = *ranks[rank]->collectives;
    void *request = nullptr;
    om_error error;
    if (table.start(table.user, &op, &request, &error) != OM_OK ||
        table.wait(table.user, request, &error) != OM_OK)
      return error.message;
    return "";
  }

  om_traffic traffic(uint32_t rank) {
    om_traffic result;
    ranks[rank]->traffic(ranks[rank], &result);
    return result;
  }

  std::vector<om_ranks *> ranks;
  std::vector<uint32_t> group;
};

/// Element `i` of rank `rank`: small integers, whose sums are exact.
float valueOf(uint32_t rank, size_t i) { return float((rank * 7 + i * 3) % 11) - 5; }

std::vector<float> inputOf(uint32_t rank, size_t size) {
  std::vector<float> values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = valueOf(rank, i);
  return values;
}

} // namespace

TEST_CASE("every collective on 1 to 7 ranks, of sizes that they do not divide", "[loopback]") {
  const uint32_t count = GENERATE(1u, 2u, 3u, 4u, 7u);
  const size_t size = GENERATE(size_t(0), size_t(1), size_t(5), size_t(1000));
  const size_t part = size * count;
  Ranks ranks(count);
  std::vector<std::vector<float>> reduced(count), gathered(count), scattered(count), all(count),
      shared(count);
  std::vector<std::string> errors(count);
  ranks.run([&](uint32_t rank) {
    reduced[rank].resize(size);
    gathered[rank].resize(part);
    scattered[rank].resize(size);
    all[rank].resize(part);
    shared[rank].resize(size);
    errors[rank] = ranks.meet(rank, OM_ALL_REDUCE, OM_F32, inputOf(rank, size), reduced[rank]) +
                   ranks.meet(rank, OM_ALL_GATHER, OM_F32, inputOf(rank, size), gathered[rank]) +
                   ranks.meet(rank, OM_REDUCE_SCATTER, OM_F32, inputOf(rank, part), scattered[rank],
                              OM_REDUCE_MAX) +
                   ranks.meet(rank, OM_ALL_TO_ALL, OM_F32, inputOf(rank, part), all[rank]) +
                   ranks.meet(rank, OM_BROADCAST, OM_F32, inputOf(rank, size), shared[rank],
                              OM_REDUCE_SUM, count - 1);
  });
  for (uint32_t rank = 0; rank < count; ++rank) {
    REQUIRE(errors[rank].empty());
    bool good = true;
    for (size_t i = 0; i < size; ++i) {
      float sum = 0, max = -100;
      for (uint32_t other = 0; other < count; ++other) {
        sum += valueOf(other, i);
        max = std::max(max, valueOf(other, rank * size + i));
        good &= gathered[rank][other * size + i] == valueOf(other, i);
        good &= all[rank][other * size + i] == valueOf(other, rank * size + i);
      }
      good &= reduced[rank][i] == sum && scattered[rank][i] == max &&
              shared[rank][i] == valueOf(count - 1, i);
    }
    CHECK(good);
  }
}

TEST_CASE("a ring sends what its formula says", "[loopback]") {
  const uint32_t count = GENERATE(2u, 3u, 8u);
  Ranks ranks(count);
  const size_t size = 24 * 5;
  ranks.run([&](uint32_t rank) {
    std::vector<float> output(size), share(size / count);
    ranks.meet(rank, OM_ALL_REDUCE, OM_F32, inputOf(rank, size), output);
    ranks.meet(rank, OM_REDUCE_SCATTER, OM_F32, inputOf(rank, size), share);
    ranks.meet(rank, OM_ALL_GATHER, OM_F32, inputOf(rank, size / count), output);
  });
  for (uint32_t rank = 0; rank < count; ++rank) {
    const om_traffic traffic = ranks.traffic(rank);
    CHECK(traffic.sent_bytes[OM_ALL_REDUCE] == 2 * (count - 1) * size * 4 / count);
    CHECK(traffic.received_bytes[OM_ALL_REDUCE] == 2 * (count - 1) * size * 4 / count);
    CHECK(traffic.sent_bytes[OM_REDUCE_SCATTER] == (count - 1) * size * 4 / count);
    CHECK(traffic.sent_bytes[OM_ALL_GATHER] == (count - 1) * size * 4 / count);
    CHECK(traffic.calls[OM_ALL_REDUCE] == 1);
  }
}

template <typename T> static void checkSum(om_dtype dtype, T a, T b, T sum, T max) {
  Ranks ranks(2);
  std::vector<T> sums[2] = {{0}, {0}}, maxima[2] = {{0}, {0}};
  ranks.run([&](uint32_t rank) {
    const std::vector<T> input = {rank ? b : a};
    ranks.meet(rank, OM_ALL_REDUCE, dtype, input, sums[rank]);
    ranks.meet(rank, OM_ALL_REDUCE, dtype, input, maxima[rank], OM_REDUCE_MAX);
  });
  for (uint32_t rank = 0; rank < 2; ++rank) {
    CHECK(sums[rank][0] == sum);
    CHECK(maxima[rank][0] == max);
  }
}

TEST_CASE("element types", "[loopback]") {
  checkSum<double>(OM_F64, 0.5, -2, -1.5, 0.5);
  checkSum<uint16_t>(OM_F16, 0x3C00, 0xC000, 0xBC00, 0x3C00);  // 1, -2, -1
  checkSum<uint16_t>(OM_BF16, 0x3F80, 0xC000, 0xBF80, 0x3F80); // 1, -2, -1
  checkSum<int8_t>(OM_I8, 100, 100, int8_t(200), 100);
  checkSum<int64_t>(OM_I64, int64_t(1) << 62, -3, (int64_t(1) << 62) - 3, int64_t(1) << 62);
  checkSum<uint64_t>(OM_U64, UINT64_MAX, 2, 1, UINT64_MAX);
  checkSum<uint32_t>(OM_U32, 5, 7, 12, 7);
}

TEST_CASE("bools cannot be combined", "[loopback]") {
  Ranks ranks(2);
  std::string errors[2];
  ranks.run([&](uint32_t rank) {
    std::vector<uint8_t> input = {1}, output = {0};
    errors[rank] = ranks.meet(rank, OM_ALL_REDUCE, OM_BOOL, input, output);
  });
  CHECK(errors[0] == "elements of bool cannot be combined in 'test'");
}

TEST_CASE("messages with tags, sent before and after anybody waits", "[loopback]") {
  Ranks ranks(2);
  std::vector<float> first(3), second(3);
  ranks.run([&](uint32_t rank) {
    om_collective op = {};
    const uint32_t other = 1 - rank;
    op.name = "message";
    op.dtype = OM_F32;
    op.ranks = &other;
    op.rank_count = 1;
    const std::vector<float> values[2] = {{1, 2, 3}, {4, 5, 6}};
    for (uint32_t tag : {0u, 1u}) {
      op.kind = rank ? OM_RECEIVE : OM_SEND;
      // The receiver asks in the other order.
      op.tag = rank ? 1 - tag : tag;
      if (rank) {
        op.output = op.tag ? second.data() : first.data();
        op.output_bytes = 12;
      } else {
        op.input = values[tag].data();
        op.input_bytes = 12;
      }
      ranks.finish(rank, op);
    }
  });
  CHECK(first == std::vector<float>{1, 2, 3});
  CHECK(second == std::vector<float>{4, 5, 6});
}

TEST_CASE("a rank that does not come is named after the timeout", "[loopback]") {
  Ranks ranks(3, 0.2);
  std::vector<float> output(4);
  const std::string error = ranks.meet(0, OM_ALL_REDUCE, OM_F32, inputOf(0, 4), output);
  CHECK(error == "rank 0 has waited 0.2 s in all_reduce 'test' for rank 2, which has sent nothing: "
                 "it has ended, hangs, or runs another model.");
  // What comes afterwards fails at once, with the first sentence.
  CHECK(ranks.meet(0, OM_ALL_REDUCE, OM_F32, inputOf(0, 4), output) == error);
}

TEST_CASE("a rank that fails ends the others", "[loopback]") {
  Ranks ranks(2);
  std::string error;
  ranks.run([&](uint32_t rank) {
    std::vector<float> output(4);
    if (rank)
      ranks.ranks[1]->abort(ranks.ranks[1], "rank 1 has failed: no memory.");
    else
      error = ranks.meet(0, OM_ALL_REDUCE, OM_F32, inputOf(0, 4), output);
  });
  CHECK(error == "rank 1 has failed: no memory.");
}

TEST_CASE("tensors of other sizes on another rank are an error", "[loopback]") {
  Ranks ranks(2, 1);
  std::string errors[2];
  ranks.run([&](uint32_t rank) {
    std::vector<float> output(4 + rank);
    errors[rank] = ranks.meet(rank, OM_BROADCAST, OM_F32, inputOf(rank, 4 + rank), output);
  });
  CHECK(errors[1] == "rank 0 has sent 16 bytes where rank 1 expects 20: it runs another model.");
}
