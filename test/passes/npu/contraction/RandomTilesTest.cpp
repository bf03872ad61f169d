//===-- RandomTilesTest.cpp - the expansions with choices drawn by seeds ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever tile, size of boxes or number of buffers a tuner sets, an expansion computes the same
// bits, without hazards, in any order that the queues may take: those of plain loops for
// contractions, which have small whole numbers, whose sums are exact in every order, and those of
// its own choice for other kernels. OPENATC_NIGHTLY=1 draws 12,000 cases and NPU_TILES_CASES=n that
// many, whose numbers it prints as an object of JSON; NPU_TILES_SEED=n runs the one of a seed, with
// NPU_TILES_CASES the cases from that seed on.

#include "passes/npu/contraction/TileChoice.h"
#include "passes/npu/contraction/TileCosts.h"
#include "test/passes/npu/contraction/ContractionRunner.h"
#include "test/passes/npu/vector/VectorRunner.h"
#include "tuning/TileMoves.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>

using namespace atc::npu;
using namespace atc::npu::test;
using atc::cpu::test::forEachPosition;

namespace {

class Random {
public:
  explicit Random(uint32_t seed) : generator(seed) {}
  /// Returns a number from `low` to `high`.
  int64_t range(int64_t low, int64_t high) {
    return low + int64_t(generator() % uint64_t(high - low + 1));
  }
  bool coin() { return generator() % 2; }
  template <typename T> T of(std::initializer_list<T> list) {
    return list.begin()[generator() % list.size()];
  }

private:
  std::mt19937_64 generator;
};

/// Returns a buffer of whole numbers from -2 to 2.
Buffer wholeNumbers(Random &random, const std::string &element, const Numbers &shape) {
  Buffer buffer(element, shape);
  forEachPosition(shape, [&](const Numbers &at) { buffer.set(at, double(random.range(-2, 2))); });
  return buffer;
}

/// Counts of the tiles and boxes that were drawn, and of their differences from those of the pass.
struct Counts {
  unsigned tiles = 0, boxes = 0, otherSteps = 0, otherCores = 0, otherOrder = 0, dividedDepth = 0,
           otherBuffers = 0;

  void count(const Plan &drawn, const Plan &own) {
    const Tile &tile = drawn.tile, &other = own.tile;
    ++tiles;
    otherSteps += tile.m != other.m || tile.n != other.n || tile.k != other.k;
    otherCores += tile.coresM != other.coresM || tile.coresN != other.coresN;
    otherOrder += tile.order != other.order;
    dividedDepth += drawn.depthTrips > 1;
  }
  int64_t drawBuffers(Random &random) {
    const int64_t buffers = random.of<int64_t>({2, 1, 2, 3, 4});
    otherBuffers += buffers != 2;
    return buffers;
  }
};

/// Draws a possible tile: what random changes, which may pass through impossible tiles, make of one
/// of the cost model's best. Nothing where no other one is found.
std::optional<Tile> drawTile(Random &random, const Contraction &contraction, const SocTable &soc,
                             Counts &counts) {
  const std::vector<Plan> plans = selectPlans(contraction, soc, 20);
  const atc::tuning::Draw draw = [&](size_t end) {
    return end ? size_t(random.range(0, int64_t(end) - 1)) : 0;
  };
  for (int tries = 0; tries < 100; ++tries) {
    std::string text = textOf(plans[draw(plans.size())].tile);
    for (int64_t changes = random.range(1, 6); changes; --changes)
      text = atc::tuning::moveTile(text, draw);
    std::optional<Tile> tile = parseTile(text);
    REQUIRE(tile);
    tile->order = random.of({Order::Lhs, Order::Rhs, Order::None});
    if (random.coin()) { // the contracted dim in parts: both operands stream
      tile->order = Order::None;
      tile->l1M = tile->m;
      tile->l1N = tile->n;
      tile->l1K = tile->k * contraction.depthUnit * random.range(1, 3);
    }
    const Plan plan = planOf(contraction, *tile, soc);
    if (!plan.errorText.empty() || textOf(*tile) == textOf(plans[0].tile))
      continue;
    counts.count(plan, plans[0]);
    return tile;
  }
  return std::nullopt;
}

std::vector<uint8_t> bytesOf(const Buffer &buffer, int64_t elementBytes) {
  auto *data = static_cast<const uint8_t *>(const_cast<Buffer &>(buffer).data());
  return {data, data + buffer.span() * elementBytes};
}

/// Runs a contraction with a drawn tile, or its own where none is found, and a drawn number of
/// buffers. `expected` has the result of plain loops.
void checkTile(Random &random, const OpText &op, Buffer &result, const Buffer &expected,
               const std::string &soc, Counts &counts) {
  constexpr int64_t elementBytes = 2; // of f16
  ContractionOptions options{soc, "", true};
  options.buffers = counts.drawBuffers(random);
  options.tile = [&](const Contraction &contraction, const SocTable &table) {
    return drawTile(random, contraction, table, counts);
  };
  runContraction(op.text, op.buffers, options);
  CHECK(bytesOf(result, elementBytes) == bytesOf(expected, elementBytes));
}

void drawConvolution(Random &random, const std::string &soc, Counts &counts) {
  const int64_t kernel = random.of<int64_t>({1, 1, 3, 3, 5}), stride = random.range(1, 2);
  const int64_t pad = random.range(0, kernel / 2);
  const int64_t c1 = kernel == 5 ? 1 : random.range(1, 3), n1 = random.range(1, 7);
  const int64_t images = random.range(1, 3);
  const int64_t height = random.range(kernel, 26), width = random.range(kernel, 26);
  const int64_t oh = (height + 2 * pad - kernel) / stride + 1;
  const int64_t ow = (width + 2 * pad - kernel) / stride + 1;
  Buffer in = wholeNumbers(random, "f16", {images, c1, height, width, 16});
  Buffer filter = wholeNumbers(random, "f16", {1, c1 * kernel * kernel, n1, 16, 16});
  Buffer bias = wholeNumbers(random, "f32", {n1 * 16});
  Buffer residual = wholeNumbers(random, "f16", {images, n1, oh, ow, 16});
  Buffer result("f16", {images, n1, oh, ow, 16});
  OpText op("npu.conv2d", in, filter);
  const bool hasBias = random.coin();
  // The cube of split cores adds the residual by a matrix.
  const bool hasResidual = random.coin(), isSplit = findSoc(soc)->split;
  Buffer identity("f16", {16, 16});
  forEachPosition(identity.shape(), [&](const Numbers &at) { identity.set(at, at[0] == at[1]); });
  const bool relu = random.coin();
  op.add(hasBias, "bias", bias);
  op.add(hasResidual, "residual", residual);
  op.add(hasResidual && isSplit, "identity", identity);
  op.add(true, "outs", result);
  Buffer expected = result;
  forEachPosition(expected.shape(), [&](const Numbers &at) {
    double sum = hasBias ? bias.get({at[1] * 16 + at[4]}) : 0;
    for (int64_t kh = 0; kh < kernel; ++kh)
      for (int64_t kw = 0; kw < kernel; ++kw) {
        const int64_t y = at[2] * stride - pad + kh, x = at[3] * stride - pad + kw;
        if (y < 0 || y >= height || x < 0 || x >= width)
          continue;
        for (int64_t block = 0; block < c1; ++block) {
          const int64_t k1 = (block * kernel + kh) * kernel + kw;
          const int64_t pixel = in.at({at[0], block, y, x, 0});
          const int64_t row = filter.at({0, k1, at[1], at[4], 0});
          for (int64_t c = 0; c < 16; ++c)
            sum += in.get(pixel + c) * filter.get(row + c);
        }
      }
    sum += hasResidual ? residual.get(at) : 0;
    expected.set(at, relu ? std::max(sum, 0.0) : sum);
  });
  auto pair = [](int64_t a) { return std::to_string(a) + ", " + std::to_string(a); };
  op.text += " {kernel = array<i64: " + pair(kernel) + ">, strides = array<i64: " + pair(stride) +
             ">, dilations = array<i64: 1, 1>, pads = array<i64: " + pair(pad) + ", " + pair(pad) +
             ">, block_groups = 1, macs = 1";
  op.text += relu ? ", activation = #graph.activation<relu>" : "";
  op.text += "} : " + op.types;
  checkTile(random, op, result, expected, soc, counts);
}

void drawProduct(Random &random, const std::string &soc, Counts &counts) {
  const int64_t b0 = random.range(1, 3), b1 = random.range(1, 3);
  const int64_t m = random.range(1, 120), k = random.range(1, 300), n = random.range(1, 200);
  const std::string form = random.of<std::string>({"packed", "", "transpose_rhs"});
  const bool packed = form == "packed";
  auto blocks = [](int64_t size) { return (size + 15) / 16; };
  Buffer lhs = wholeNumbers(random, "f16", {b0, b1, m, k});
  Buffer rhs = packed         ? wholeNumbers(random, "f16", {blocks(k), blocks(n), 16, 16})
               : form.empty() ? wholeNumbers(random, "f16", {b0, b1, k, n})
                              : wholeNumbers(random, "f16", {b0, b1, n, k});
  Buffer bias = wholeNumbers(random, "f32", {blocks(n) * 16});
  Buffer result("f16", {b0, b1, m, n});
  OpText op("npu.matmul", lhs, rhs);
  const bool hasBias = packed && random.coin(), relu = random.coin();
  op.add(hasBias, "bias", bias);
  op.add(true, "outs", result);
  Buffer expected = result;
  forEachPosition(expected.shape(), [&](const Numbers &at) {
    double sum = hasBias ? bias.get({at[3]}) : 0;
    const int64_t row = lhs.at({at[0], at[1], at[2], 0});
    for (int64_t depth = 0; depth < k; ++depth)
      sum +=
          lhs.get(row + depth) * (packed ? rhs.get({depth / 16, at[3] / 16, at[3] % 16, depth % 16})
                                  : form.empty() ? rhs.get({at[0], at[1], depth, at[3]})
                                                 : rhs.get({at[0], at[1], at[3], depth}));
    expected.set(at, relu ? std::max(sum, 0.0) : sum);
  });
  op.text += " {scale = 1.0 : f64" + (form.empty() ? "" : ", " + form);
  op.text += relu ? ", activation = #graph.activation<relu>" : "";
  op.text += "} : " + op.types;
  checkTile(random, op, result, expected, soc, counts);
}

/// Runs a kernel of the vector queue with its own boxes and with boxes of a drawn size.
void compareBoxes(Random &random, const std::string &text, const std::vector<Buffer *> &buffers,
                  const std::string &soc, Counts &counts) {
  const int64_t bytes = buffers.back()->element() == "f32" ? 4 : 2;
  runVectorKernel(text, buffers, soc);
  const std::vector<uint8_t> expected = bytesOf(*buffers.back(), bytes);
  std::memset(buffers.back()->data(), 0, expected.size());
  const int64_t percent = random.of<int64_t>({1, 5, 12, 25, 35, 50, 70, 85, 140, 200, 400, 10000});
  const int64_t copies = counts.drawBuffers(random);
  INFO(percent << " percent, " << copies << " buffers");
  runVectorKernel(text, buffers, soc, percent, copies);
  ++counts.boxes;
  CHECK(bytesOf(*buffers.back(), bytes) == expected);
}

void drawVectorKernel(Random &random, const std::string &soc, Counts &counts) {
  const std::string type = random.of<std::string>({"f16", "f32"});
  const Numbers blocked = {random.range(1, 3), random.range(1, 4), random.range(3, 30),
                           random.range(3, 30), 16};
  const Numbers rows = {random.range(1, 40), random.range(1, 20), random.range(1, 300)};
  switch (random.range(0, 5)) {
  case 0: {
    const Numbers shape = random.coin() ? blocked : rows;
    Numbers other = shape;
    if (random.coin())
      other[shape.size() - 2] = 1;
    Buffer a = Buffer::random(type, shape), b = Buffer::random(type, other), out(type, shape);
    return compareBoxes(random,
                        "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%x: " + type +
                            ", %y: " + type + "):\n%s = arith.addf %x, %y : " + type +
                            "\n%r = math.tanh %s : " + type + "\nkernel.yield %r : " + type + "\n}",
                        {&a, &b, &out}, soc, counts);
  }
  case 1: {
    Buffer x = Buffer::random(type, rows), out(type, rows);
    return compareBoxes(random, "kernel.softmax %0, %1 {axis = 2 : i64} : $0, $1", {&x, &out}, soc,
                        counts);
  }
  case 2: {
    const int64_t axis = random.range(1, 2);
    // Reductions of one element are left to the host: no program for them is made.
    Numbers whole = rows, shape = rows;
    whole[size_t(axis)] = std::max<int64_t>(whole[size_t(axis)], 2);
    shape[size_t(axis)] = 1;
    Buffer x = Buffer::random(type, whole), out(type, shape);
    return compareBoxes(random,
                        "kernel.reduce %0, %1 {kind = #graph<reduce_kind " +
                            random.of<std::string>({"sum", "max"}) +
                            ">, axes = array<i64: " + std::to_string(axis) + ">} : $0, $1",
                        {&x, &out}, soc, counts);
  }
  case 3: {
    Numbers shape = blocked;
    for (size_t dim : {2u, 3u})
      shape[dim] = (shape[dim] + 2 - 3) / 2 + 1;
    Buffer x = Buffer::random("f16", blocked), out("f16", shape);
    return compareBoxes(random,
                        "kernel.pool %0, %1 {kind = #kernel<pool_kind " +
                            random.of<std::string>({"max", "average"}) +
                            ">, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = "
                            "array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : $0, $1",
                        {&x, &out}, soc, counts);
  }
  case 4: {
    const Numbers matrix = {rows[0] * rows[1], rows[2]};
    Buffer x = Buffer::random(type, matrix), out(type, matrix);
    Buffer gamma = Buffer::random("f32", {rows[2]}), beta = Buffer::random("f32", {rows[2]});
    return compareBoxes(random,
                        "npu.layer_norm %0 gamma %1 beta %2 outs %3 {epsilon = 1.0e-5 : f64} : "
                        "$0, $1, $2, $3",
                        {&x, &gamma, &beta, &out}, soc, counts);
  }
  default: {
    // A slice of longer rows.
    const int64_t pitch = rows[2] + random.range(0, 3);
    Buffer x = Buffer::random(type, rows, {rows[1] * pitch, pitch, 1}), out(type, rows);
    return compareBoxes(random, "kernel.copy %0, %1 : $0, $1", {&x, &out}, soc, counts);
  }
  }
}

} // namespace

TEST_CASE("drawn tiles and boxes compute the same bits without hazards") {
  const char *only = std::getenv("NPU_TILES_SEED");
  const uint32_t firstSeed = only ? uint32_t(std::strtoul(only, nullptr, 10)) : 0;
  const char *cases = std::getenv("NPU_TILES_CASES");
  const uint32_t seedCount = cases  ? uint32_t(std::strtoul(cases, nullptr, 10))
                             : only ? 1
                             : std::getenv("OPENATC_NIGHTLY") ? 12'000
                                                              : 300;
  Counts counts;
  for (uint32_t seed = firstSeed; seed < firstSeed + seedCount; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::string soc = random.of<std::string>({"Ascend310P3", "Ascend910B1"});
    switch (random.range(0, 3)) {
    case 0:
      drawConvolution(random, soc, counts);
      break;
    case 1:
      drawProduct(random, soc, counts);
      break;
    default:
      drawVectorKernel(random, soc, counts);
      break;
    }
  }
  // Nearly all contractions have a possible tile among those drawn.
  CHECK(counts.tiles + counts.boxes >= seedCount * 9 / 10);
  CHECK((seedCount < 100 || (counts.tiles > seedCount / 4 && counts.boxes > seedCount / 4)));
  if (cases)
    std::cout << "{\"cases\": " << seedCount << ", \"tiles\": " << counts.tiles
              << ", \"boxes\": " << counts.boxes << ", \"other_steps\": " << counts.otherSteps
              << ", \"other_cores\": " << counts.otherCores
              << ", \"other_order\": " << counts.otherOrder
              << ", \"divided_depth\": " << counts.dividedDepth
              << ", \"other_buffers\": " << counts.otherBuffers << "}\n";
}
