//===-- ContractionTest.cpp - npu.conv2d and npu.matmul against plain loops ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/program/ProgramTime.h"
#include "test/passes/npu/contraction/ContractionRunner.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace atc::npu::test;
using atc::cpu::test::checkClose;
using atc::cpu::test::forEachPosition;

namespace {

std::string list(const Numbers &numbers) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + ">";
}

double activated(const std::string &activation, double x, double slope) {
  if (activation == "relu")
    return std::max(x, 0.0);
  if (activation == "clip, 0.0, 6.0")
    return std::min(std::max(x, 0.0), 6.0);
  if (activation == "leaky_relu, 0.125")
    return x < 0 ? x * 0.125 : x;
  if (activation == "prelu")
    return x < 0 ? x * slope : x;
  if (activation == "silu")
    return x / (1 + std::exp(-x));
  if (activation == "gelu")
    return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
  REQUIRE(activation == "");
  return x;
}

struct Conv {
  int64_t images = 1, c1 = 1, height = 8, width = 8, n1 = 1;
  Numbers kernel{3, 3}, strides{1, 1}, dilations{1, 1}, pads{1, 1, 1, 1};
  int64_t groups = 1;
  bool bias = true, residual = false, residualLast = false;
  std::string activation = "";
  std::string image;             ///< its element type
  int64_t channels = 3;          ///< ... and channels
  Numbers inStrides, outStrides; ///< other than dense
  ContractionOptions options = {};
};

void check(const Conv &c) {
  auto out = [&](int d, int64_t size) {
    return (size + c.pads[d] + c.pads[2 + d] - (c.kernel[d] - 1) * c.dilations[d] - 1) /
               c.strides[d] +
           1;
  };
  int64_t oh = out(0, c.height), ow = out(1, c.width), taps = c.kernel[0] * c.kernel[1];
  bool image = !c.image.empty();
  int64_t inGroup = image ? 1 : c.c1 / c.groups, outGroup = c.n1 / c.groups;
  int64_t k1 = image ? (taps * 4 + 15) / 16 : inGroup * taps;
  double range = 1 / std::sqrt(double(k1 * 16));
  Buffer in =
      image ? Buffer::random(c.image, {c.images, c.channels, c.height, c.width}, {}, 0,
                             c.image == "ui8" ? 4 : 1)
            : Buffer::random("f16", {c.images, c.c1, c.height, c.width, 16}, c.inStrides, -1, 1);
  Buffer filter = Buffer::random("f16", {c.groups, k1, outGroup, 16, 16}, {}, -range, range);
  Buffer bias = Buffer::random("f32", {c.n1 * 16}, {}, -1, 1);
  Buffer slope = Buffer::random("f16", {c.n1 * 16}, {}, -1, 1);
  Buffer result("f16", {c.images, c.n1, oh, ow, 16}, c.outStrides);
  Buffer residual = Buffer::random("f16", {c.images, c.n1, oh, ow, 16}, c.outStrides, -1, 1);
  Buffer expected = result;
  bool prelu = c.activation == "prelu";

  forEachPosition(result.shape(), [&](const Numbers &at) {
    int64_t block = at[1], group = block / outGroup;
    double sum = c.bias ? bias.get(Numbers{block * 16 + at[4]}) : 0;
    for (int64_t kh = 0; kh < c.kernel[0]; ++kh)
      for (int64_t kw = 0; kw < c.kernel[1]; ++kw) {
        int64_t y = at[2] * c.strides[0] - c.pads[0] + kh * c.dilations[0];
        int64_t x = at[3] * c.strides[1] - c.pads[1] + kw * c.dilations[1];
        if (y < 0 || y >= c.height || x < 0 || x >= c.width)
          continue;
        int64_t tap = kh * c.kernel[1] + kw;
        for (int64_t channel = 0; channel < (image ? c.channels : inGroup * 16); ++channel) {
          int64_t k = image ? tap * 4 + channel : ((channel / 16) * taps + tap) * 16 + channel % 16;
          double value = image
                             ? in.get({at[0], channel, y, x})
                             : in.get({at[0], group * inGroup + channel / 16, y, x, channel % 16});
          sum += value * filter.get({group, k / 16, block % outGroup, at[4], k % 16});
        }
      }
    double add = c.residual ? residual.get(at) : 0;
    double low = prelu ? slope.get(Numbers{block * 16 + at[4]}) : 0;
    sum = c.residualLast ? activated(c.activation, sum, low) + add
                         : activated(c.activation, sum + add, low);
    expected.set(at, sum);
  });

  OpText op("npu.conv2d", in, filter);
  op.add(c.bias, "bias", bias);
  op.add(c.residual, "residual", residual);
  op.add(prelu, "slope", slope);
  Buffer identity("f16", {16, 16});
  forEachPosition(identity.shape(), [&](const Numbers &at) { identity.set(at, at[0] == at[1]); });
  op.add(c.residual && atc::npu::findSoc(c.options.soc)->split, "identity", identity);
  op.add(true, "outs", result);
  op.text += " {kernel = " + list(c.kernel) + ", strides = " + list(c.strides) +
             ", dilations = " + list(c.dilations) + ", pads = " + list(c.pads) +
             ", block_groups = " + std::to_string(c.groups) + ", macs = 1";
  op.text += image ? ", image" : "";
  op.text += c.activation.empty() ? "" : ", activation = #graph.activation<" + c.activation + ">";
  op.text += c.residualLast ? ", residual_last" : "";
  runContraction(op.text + "} : " + op.types, op.buffers, c.options);
  checkClose(result, expected, 4e-3);
}

struct MatMul {
  Numbers batch{1, 1};
  int64_t m = 16, k = 16, n = 16;
  std::string form = "packed"; ///< or "", "transpose_rhs"
  bool bias = true, residual = false, residualLast = false;
  std::string activation = "", element = "f16";
  double scale = 1;
  Numbers rhsBatch{}, lhsStrides{}, outStrides{}, rhsStrides{};
  ContractionOptions options = {};
};

void check(const MatMul &c) {
  auto blocks = [](int64_t size) { return (size + 15) / 16; };
  bool packed = c.form == "packed", transposed = c.form == "transpose_rhs";
  double range = 1 / std::sqrt(double(c.k));
  int64_t b0 = c.batch[0], b1 = c.batch[1];
  Numbers rhsBatch = c.rhsBatch.empty() ? c.batch : c.rhsBatch;
  Buffer lhs = Buffer::random("f16", {b0, b1, c.m, c.k}, c.lhsStrides, -1, 1);
  Buffer rhs = packed ? Buffer::random("f16", {blocks(c.k), blocks(c.n), 16, 16}, {}, -range, range)
               : transposed ? Buffer::random("f16", {rhsBatch[0], rhsBatch[1], c.n, c.k},
                                             c.rhsStrides, -range, range)
                            : Buffer::random("f16", {rhsBatch[0], rhsBatch[1], c.k, c.n},
                                             c.rhsStrides, -range, range);
  Buffer bias = Buffer::random("f32", {blocks(c.n) * 16}, {}, -1, 1);
  Buffer residual = Buffer::random(c.element, {b0, b1, c.m, c.n}, c.outStrides, -1, 1);
  Buffer result(c.element, {b0, b1, c.m, c.n}, c.outStrides);
  Buffer expected = result;
  auto right = [&](int64_t i, int64_t j, int64_t k, int64_t n) {
    if (packed)
      return rhs.get({k / 16, n / 16, n % 16, k % 16});
    i = rhsBatch[0] == 1 ? 0 : i;
    j = rhsBatch[1] == 1 ? 0 : j;
    return transposed ? rhs.get({i, j, n, k}) : rhs.get({i, j, k, n});
  };
  forEachPosition(result.shape(), [&](const Numbers &at) {
    double sum = 0;
    for (int64_t k = 0; k < c.k; ++k)
      sum += lhs.get({at[0], at[1], at[2], k}) * right(at[0], at[1], k, at[3]);
    sum = sum * c.scale + (c.bias ? bias.get(Numbers{at[3]}) : 0);
    double add = c.residual ? residual.get(at) : 0;
    expected.set(at, c.residualLast ? activated(c.activation, sum, 0) + add
                                    : activated(c.activation, sum + add, 0));
  });
  OpText op("npu.matmul", lhs, rhs);
  op.add(c.bias, "bias", bias);
  op.add(c.residual, "residual", residual);
  op.add(true, "outs", result);
  op.text += " {scale = " + std::to_string(c.scale) + " : f64";
  op.text += c.form.empty() ? "" : ", " + c.form;
  op.text += c.activation.empty() ? "" : ", activation = #graph.activation<" + c.activation + ">";
  op.text += c.residualLast ? ", residual_last" : "";
  runContraction(op.text + "} : " + op.types, op.buffers, c.options);
  checkClose(result, expected, c.element == "f32" ? 1e-3 : 4e-3);
}

/// Ways to compile: chosen tiles and small ones. With all passes a program is run
/// one instruction at a time and in the simulator.
std::vector<ContractionOptions> ways() {
  return {{"Ascend310P3", "", true}, {"Ascend310P3", "32x32x32", true}};
}

} // namespace

TEST_CASE("convolutions with windows", "[conv]") {
  for (const ContractionOptions &options : ways()) {
    Conv c;
    c.options = options;
    SECTION("3x3 " + options.fixed + (options.pipeline ? " pipeline" : "")) {
      c.c1 = 2;
      c.n1 = 3;
      check(c);
      c.height = 14, c.width = 14, c.images = 3;
      check(c);
      c.height = 7, c.width = 7, c.images = 5, c.activation = "relu", c.bias = false;
      check(c);
      c.height = 28, c.width = 30, c.images = 2, c.strides = {2, 2};
      check(c);
      c.height = 11, c.width = 13, c.dilations = {2, 3}, c.pads = {2, 3, 1, 0}, c.strides = {1, 2};
      check(c);
    }
    SECTION("5x5, 7x7, 1x7 " + options.fixed + (options.pipeline ? " pipeline" : "")) {
      c.kernel = {5, 5}, c.pads = {2, 2, 2, 2}, c.c1 = 3, c.n1 = 2, c.height = 20, c.width = 17;
      check(c);
      c.kernel = {7, 7}, c.pads = {3, 3, 3, 3}, c.strides = {2, 2}, c.images = 2;
      check(c);
      c.kernel = {1, 7}, c.pads = {0, 3, 0, 3}, c.strides = {1, 1};
      check(c);
    }
    SECTION("1x1 " + options.fixed + (options.pipeline ? " pipeline" : "")) {
      c.kernel = {1, 1}, c.pads = {0, 0, 0, 0}, c.c1 = 5, c.n1 = 4, c.height = 14, c.width = 14;
      c.images = 3;
      check(c);
      c.height = 7, c.width = 7, c.images = 8;
      check(c);
      c.height = 28, c.width = 28, c.images = 1, c.strides = {2, 2};
      check(c);
      c.height = 56, c.width = 56, c.strides = {1, 1}, c.c1 = 2, c.n1 = 2;
      check(c);
      c.pads = {1, 1, 1, 1}, c.height = 9, c.width = 5;
      check(c);
    }
  }
}

TEST_CASE("convolutions of images and groups", "[conv]") {
  for (const ContractionOptions &options : ways()) {
    Conv c;
    c.options = options;
    SECTION("image " + options.fixed + (options.pipeline ? " pipeline" : "")) {
      c.kernel = {7, 7}, c.pads = {3, 3, 3, 3}, c.strides = {2, 2}, c.n1 = 2, c.image = "f32";
      c.height = 40, c.width = 36, c.images = 2, c.activation = "relu";
      check(c);
      c.image = "ui8", c.kernel = {3, 3}, c.pads = {1, 1, 0, 0}, c.channels = 4;
      check(c);
      c.image = "f16", c.channels = 1, c.strides = {1, 1}, c.height = c.width = 28;
      check(c);
    }
    SECTION("groups " + options.fixed + (options.pipeline ? " pipeline" : "")) {
      c.groups = 6, c.c1 = 6, c.n1 = 6, c.height = c.width = 14, c.images = 2;
      check(c);
      c.groups = 3, c.n1 = 9, c.strides = {2, 2}, c.activation = "relu";
      check(c);
      c.groups = 10, c.c1 = 10, c.n1 = 10, c.kernel = {5, 5}, c.pads = {2, 2, 2, 2};
      check(c);
    }
  }
}

TEST_CASE("epilogues of convolutions", "[conv]") {
  for (const ContractionOptions &options : ways()) {
    Conv c;
    c.options = options;
    c.c1 = 2, c.n1 = 4, c.height = 14, c.width = 14, c.images = 3;
    for (bool residualLast : {false, true})
      for (const char *activation : {"", "relu", "clip, 0.0, 6.0", "silu", "prelu"}) {
        SECTION(std::string(activation) + (residualLast ? " last " : " ") + options.fixed +
                (options.pipeline ? " pipeline" : "")) {
          c.residual = true, c.residualLast = residualLast, c.activation = activation;
          check(c);
          c.residual = false, c.kernel = {1, 1}, c.pads = {0, 0, 0, 0};
          check(c);
        }
      }
    SECTION("views of a concat " + options.fixed + (options.pipeline ? " pipeline" : "")) {
      c.residual = true;
      c.inStrides = {14 * 14 * 16 * 5, 14 * 14 * 16, 14 * 16, 16, 1};
      c.outStrides = {14 * 14 * 16 * 7, 14 * 14 * 16, 14 * 16, 16, 1};
      check(c);
      c.kernel = {1, 1}, c.pads = {0, 0, 0, 0};
      check(c);
      // Rows with a gap behind them.
      c.inStrides = {14 * 20 * 16 * 5, 14 * 20 * 16, 20 * 16, 16, 1};
      c.outStrides = {14 * 15 * 16 * 7, 14 * 15 * 16, 15 * 16, 16, 1};
      check(c);
      c.kernel = {3, 3}, c.pads = {1, 1, 1, 1};
      check(c);
    }
  }
}

TEST_CASE("the cube of split cores adds residuals", "[conv]") {
  for (const char *soc : {"Ascend910B1", "Ascend310B1"})
    for (const char *fixed : {"", "32x32x32"}) {
      INFO(soc << " " << fixed);
      Conv c;
      c.options = {soc, fixed, true};
      c.residual = true, c.activation = "relu";
      c.c1 = 2, c.n1 = 5, c.height = 14, c.width = 13, c.images = 3;
      check(c);
      c.bias = false, c.activation = "";
      c.kernel = {1, 1}, c.pads = {0, 0, 0, 0};
      check(c);
      c.height = c.width = 7;
      check(c);
      c.groups = 5, c.c1 = 5;
      check(c);
      // The result and the residual stand in a concat, whose rows have a gap behind them.
      c.groups = 1, c.height = c.width = 14;
      c.outStrides = {14 * 15 * 16 * 7, 14 * 15 * 16, 15 * 16, 16, 1};
      check(c);
    }
}

TEST_CASE("matmuls", "[matmul]") {
  for (const ContractionOptions &options : ways()) {
    for (const char *form : {"packed", "", "transpose_rhs"}) {
      SECTION(std::string(form) + options.fixed + (options.pipeline ? " pipeline" : "")) {
        MatMul c;
        c.options = options;
        c.form = form;
        check(c);
        c.m = 197, c.k = 100, c.n = 70;
        check(c);
        c.m = 1, c.k = 520, c.n = 1000, c.activation = "relu";
        check(c);
        c.m = 33, c.k = 64, c.n = 37, c.element = "f32", c.activation = "";
        check(c);
        c.residual = true, c.bias = false;
        check(c);
        c.element = "f16", c.scale = 0.25, c.residual = false;
        check(c);
        c.batch = {2, 3}, c.m = 50;
        check(c);
        c.batch = {5, 2}, c.bias = true, c.scale = 1, c.residual = true, c.activation = "gelu";
        check(c);
        c.m = 40, c.k = 48, c.lhsStrides = {2 * 48 * 40, 48, 2 * 48, 1};
        c.outStrides = {2 * 40 * 60, 60, 2 * 60, 1};
        check(c);
        if (c.form != "packed") {
          c.rhsBatch = {5, 1};
          check(c);
          c.rhsBatch = {1, 1};
          check(c);
        }
      }
    }
  }
}

TEST_CASE("split cores", "[conv][matmul]") {
  for (bool pipeline : {false, true})
    for (const char *fixed : {"", "64x64x64"}) {
      Conv c;
      c.options = {"Ascend910B1", fixed, pipeline};
      SECTION(std::string("conv ") + fixed + (pipeline ? " pipeline" : "")) {
        c.c1 = 2, c.n1 = 3, c.images = 3, c.height = c.width = 7, c.activation = "relu";
        check(c);
        c.height = c.width = 28;
        c.outStrides = {28 * 30 * 16 * 3, 28 * 30 * 16, 30 * 16, 16, 1};
        check(c);
      }
      SECTION(std::string("matmul ") + fixed + (pipeline ? " pipeline" : "")) {
        MatMul m;
        m.options = c.options;
        m.form = "", m.m = 130, m.n = 70, m.k = 300;
        check(m);
        m.element = "f32", m.batch = {3, 1};
        check(m);
      }
    }
}

TEST_CASE("heads of an attention stand side by side", "[matmul]") {
  // [images][heads][rows][depth] of rows that hold all heads.
  auto heads = [](int64_t rows, int64_t heads, int64_t width) {
    return Numbers{rows * heads * width, width, heads * width, 1};
  };
  for (const char *soc : {"Ascend310P3", "Ascend910A", "Ascend910B1"}) {
    bool split = std::string(soc) == "Ascend910B1";
    for (auto [images, count, rows, width] : {std::array<int64_t, 4>{2, 4, 100, 32},
                                              {1, 12, 40, 32},
                                              {3, 2, 16, 16},
                                              {1, 2, 213, 48}}) {
      MatMul c;
      c.options = {soc, "", true};
      c.batch = {images, count};
      c.bias = false;
      INFO(soc << " " << images << " x " << count << " heads of " << rows << " x " << width);
      c.m = c.n = rows;
      c.k = width;
      c.form = "transpose_rhs";
      c.lhsStrides = c.rhsStrides = heads(rows, count, width);
      c.scale = split ? 1 : 0.125;
      c.residual = !split && images != 2;
      check(c);
      c.form = "";
      c.scale = 1;
      c.residual = false;
      c.k = rows;
      c.n = width;
      c.lhsStrides = {};
      c.outStrides = heads(rows, count, width);
      check(c);
    }
  }
}

TEST_CASE("measured tiles are no slower than those of the model", "[matmul]") {
  std::vector<std::string> types = {"memref<1x1x392x512xf16>", "memref<32x32x16x16xf16>",
                                    "memref<1x1x392x512xf16>"};
  bool faster = false;
  for (const char *soc : {"Ascend310P3", "Ascend310", "Ascend910B1"}) {
    ContractionOptions options{soc, "", true};
    auto compile = [&] {
      return compileContraction("npu.matmul %0, %1 outs %2 {packed} : $0, $1, $2", types, options);
    };
    Contracted model = compile();
    options.measure = 8;
    Contracted measured = compile();
    INFO(soc << ": " << model.tile << ", measured " << measured.tile);
    std::optional<double> before = atc::npu::timeOfProgram(model.program, *atc::npu::findSoc(soc)),
                          after =
                              atc::npu::timeOfProgram(measured.program, *atc::npu::findSoc(soc));
    REQUIRE((before && after));
    CHECK(*after <= *before);
    faster |= *after < *before;
    CHECK(compile().tile == measured.tile);
  }
  CHECK(faster);
}
