//===-- Programs.cpp - sequential npu programs to test with ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/Programs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace atc::npu::test {

namespace {

std::string buffer(const char *memory, int64_t bytes) {
  return formatv("!npu.buffer<{0}, {1}>", memory, bytes);
}

std::string alloc(const char *name, const char *memory, int64_t bytes) {
  return formatv("%{0} = npu.alloc : {1}\n", name, buffer(memory, bytes));
}

std::string program(llvm::ArrayRef<int64_t> arguments, int64_t cores, const std::string &body) {
  std::string text = "npu.program @p(";
  for (auto [index, bytes] : llvm::enumerate(arguments))
    text += formatv("{0}%g{1}: {2}", index ? ", " : "", index, buffer("gm", bytes)).str();
  return text + formatv(") grid(%core = {0}) soc \"Ascend310P3\" {{\n", cores).str() + body + "}\n";
}

std::string loop(const char *iv, int64_t trips, const std::string &body) {
  return formatv("npu.loop %{0} = {1} {{\n{2}}\n", iv, trips, body);
}

/// `ranges` are the outer, inner and bytes ranges, `steps` further attributes.
std::string move(const std::string &dst, const std::string &dstType, const std::string &src,
                 const std::string &srcType, const std::string &ivs, const std::string &dstOffset,
                 const std::string &srcOffset, const std::string &bytes,
                 const std::string &more = "outer = #npu.range<1>, inner = #npu.range<1>") {
  return formatv("npu.move %{0}, %{1} {2} {{offsets = [#npu.affine<{3}>, #npu.affine<{4}>], {5}, "
                 "bytes = #npu.range<{6}>} : {7}, {8}\n",
                 dst, src, ivs.empty() ? "" : "at " + ivs, dstOffset, srcOffset, more, bytes,
                 dstType, srcType);
}

/// op over `lanes` f16 of whole buffers.
std::string vector(const char *op, llvm::ArrayRef<const char *> buffers, int64_t bytes,
                   int64_t lanes, const char *scalar = "0.0") {
  std::string names, offsets, types;
  for (auto [index, name] : llvm::enumerate(buffers)) {
    const char *comma = index ? ", " : "";
    names += formatv("{0}%{1}", comma, name).str();
    offsets += formatv("{0}#npu.affine<0>", comma).str();
    types += comma + buffer("ub", bytes);
  }
  return formatv(
      "npu.vector \"{0}\" {1} {{offsets = [{2}], outer = #npu.range<1>, inner = "
      "#npu.range<1>, lanes = #npu.range<{3}>, type = f16, dst_type = f16, scalar = {4}} "
      ": {5}\n",
      op, names, offsets, lanes, scalar, types);
}

} // namespace

std::string matmul(const Matmul &s) {
  auto tiles = [](int64_t count, int64_t tile) { return (count + tile - 1) / tile; };
  int64_t c = s.tileM * s.tileN, steps = s.tileL1 / s.tileL0;
  std::string l0cType = buffer("l0c", c * 4), ubType = buffer("ub", c * 2);
  std::string l1a = buffer("l1", s.tileM * s.tileL1 * 2),
              l1b = buffer("l1", s.tileN * s.tileL1 * 2);
  std::string l0a = buffer("l0a", s.tileM * s.tileL0 * 2),
              l0b = buffer("l0b", s.tileN * s.tileL0 * 2);
  auto load = [&](const char *dst, const std::string &type, int argument, int64_t count,
                  const char *iv, int64_t tile, int64_t all) {
    return formatv("npu.move_nd2nz %{0}, %g{1} at %{2}, %kt {{offsets = [#npu.affine<0>, "
                   "#npu.affine<0, [{3}, {4}]>], rows = #npu.range<{5} from <0, [{5}, 0]> below "
                   "{6}>, cols = #npu.range<{7} from <0, [0, {7}]> below {8}>, type = f16, src_row "
                   "= {9}, dst_col = {10}} : {11}, {12}\n",
                   dst, argument, iv, tile * s.k * 2, s.tileL1 * 2, tile, all, s.tileL1, s.k,
                   s.k * 2, tile * 32, type, buffer("gm", count))
        .str();
  };
  std::string inner =
      alloc("a0", "l0a", s.tileM * s.tileL0 * 2) + alloc("b0", "l0b", s.tileN * s.tileL0 * 2);
  inner += formatv("npu.load2d %a0, %a1 at %k {{offsets = [#npu.affine<0>, #npu.affine<0, [{0}]>], "
                   "outer = #npu.range<{1}>, inner = #npu.range<{2}>, dst_outer = {3}, dst_inner = "
                   "512, src_outer = 512, src_inner = {4}} : {5}, {6}\n",
                   s.tileL0 / 16 * s.tileM * 32, s.tileM / 16, s.tileL0 / 16, s.tileL0 / 16 * 512,
                   s.tileM * 32, l0a, l1a)
               .str();
  inner += formatv("npu.load2d %b0, %b1 at %k {{offsets = [#npu.affine<0>, #npu.affine<0, [{0}]>], "
                   "outer = #npu.range<{1}>, inner = #npu.range<{2}>, dst_outer = {3}, dst_inner = "
                   "512, src_outer = {4}, src_inner = 512} : {5}, {6}\n",
                   s.tileL0 / 16 * s.tileN * 32, s.tileL0 / 16, s.tileN / 16, s.tileN / 16 * 512,
                   s.tileN * 32, l0b, l1b)
               .str();
  inner += formatv("npu.mmad %c, %a0, %b0 at %kt, %k {{offsets = [#npu.affine<0>, #npu.affine<0>, "
                   "#npu.affine<0>], m = #npu.range<{0}>, n = #npu.range<{1}>, k = #npu.range<{2} "
                   "from <0, [{3}, {2}]> below {4}>, type = f16, first = array<i64: 0, 1>, dst_col "
                   "= {5}, a_row = {6}, b_row = {7}} : {8}, {9}, {10}\n",
                   s.tileM, s.tileN, s.tileL0, s.tileL1, s.k, s.tileM * 64, s.tileL0 / 16 * 512,
                   s.tileN / 16 * 512, l0cType, l0a, l0b)
               .str();
  std::string l1 = alloc("a1", "l1", s.tileM * s.tileL1 * 2) +
                   alloc("b1", "l1", s.tileN * s.tileL1 * 2) +
                   load("a1", l1a, 0, s.m * s.k * 2, "mt", s.tileM, s.m) +
                   load("b1", l1b, 1, s.n * s.k * 2, "nt", s.tileN, s.n) + loop("k", steps, inner);
  std::string tile = alloc("c", "l0c", c * 4) + alloc("u", "ub", c * 2);
  if (s.residual)
    tile += alloc("r", "ub", c * 2) + alloc("s", "ub", c * 2);
  tile += loop("kt", tiles(s.k, s.tileL1), l1);
  std::string rows = formatv("outer = #npu.range<1>, inner = #npu.range<{0} from <0, [{0}, 0]> "
                             "below {1}>",
                             s.tileM, s.m);
  std::string bytes = formatv("{0} from <0, [0, {0}]> below {1}", s.tileN * 2, s.n * 2).str();
  std::string gmOffset = formatv("0, [{0}, {1}]", s.tileM * s.n * 2, s.tileN * 2);
  std::string gmType = buffer("gm", s.m * s.n * 2);
  const char *result = "u";
  tile +=
      formatv("npu.move_l0c %u, %c {{offsets = [#npu.affine<0>, #npu.affine<0>], m = "
              "#npu.range<{0}>, n = #npu.range<{1}>, type = f32, dst_type = f16, src_col = {2}, "
              "dst_row = {3}, dst_col = 32} : {4}, {5}\n",
              s.tileM, s.tileN, s.tileM * 64, s.tileN * 2, ubType, l0cType)
          .str();
  if (s.residual) {
    tile += move("r", ubType, "g3", gmType, "%mt, %nt", "0", gmOffset, bytes,
                 rows + formatv(", dst_inner = {0}, src_inner = {1}", s.tileN * 2, s.n * 2).str());
    tile += vector("add", {"s", "u", "r"}, c * 2, c);
    result = "s";
  }
  tile += move("g2", gmType, result, ubType, "%mt, %nt", gmOffset, "0", bytes,
               rows + formatv(", src_inner = {0}, dst_inner = {1}", s.tileN * 2, s.n * 2).str());
  std::vector<int64_t> arguments = {s.m * s.k * 2, s.n * s.k * 2, s.m * s.n * 2};
  if (s.residual)
    arguments.push_back(s.m * s.n * 2);
  return program(arguments, 1,
                 loop("nt", tiles(s.n, s.tileN), loop("mt", tiles(s.m, s.tileM), tile)));
}

std::string elementwise(int64_t count) {
  int64_t tiles = (count + 511) / 512;
  std::string ub = buffer("ub", 512), gm = buffer("gm", count * 2), ivs = "%core, %i";
  std::string offset = formatv("0, [{0}, 512]", tiles * 512);
  std::string bytes = formatv("512 from <0, [{0}, 512]> below {1}", tiles * 512, count * 2);
  return program({count * 2, count * 2, count * 2}, 2,
                 loop("i", tiles,
                      alloc("a", "ub", 512) + alloc("b", "ub", 512) + alloc("t", "ub", 512) +
                          alloc("c", "ub", 512) + move("a", ub, "g0", gm, ivs, "0", offset, bytes) +
                          vector("relu", {"t", "a"}, 512, 256) +
                          move("b", ub, "g1", gm, ivs, "0", offset, bytes) +
                          vector("add", {"c", "t", "b"}, 512, 256) +
                          move("g2", gm, "c", ub, ivs, offset, "0", bytes)));
}

std::string convolution() {
  // Two tiles of four output rows in each image; a row has 256 bytes.
  std::string l1 = buffer("l1", 6 * 256), l1w = buffer("l1", 9 * 512), ub = buffer("ub", 1024);
  std::string image = buffer("gm", 3 * 2048), l0c = buffer("l0c", 2048);
  std::string body = alloc("x", "l1", 6 * 256) + alloc("a", "l0a", 9 * 1024) +
                     alloc("c", "l0c", 2048) + alloc("u", "ub", 1024) + alloc("r", "ub", 1024);
  body +=
      move("x", l1, "g0", image, "%img, %t", "0", "-256, [2048, 1024]", "256",
           "outer = #npu.range<1>, inner = #npu.range<6 from <-1, [0, 4]> below 8>, dst_inner = "
           "256, src_inner = 256");
  body += formatv(
      "npu.img2col %a, %x at %t {{offsets = [#npu.affine<0>, #npu.affine<0>], m = #npu.range<32 "
      "from <0, [32]>>, k = #npu.range<9>, row0 = #npu.range<1 from <-1, [4]>>, c0 = 16, channels1 "
      "= 1, height = 8, width = 8, out_height = 8, out_width = 8, kernel_h = 3, kernel_w = 3, "
      "stride_h = 1, stride_w = 1, pad_top = 1, pad_left = 1, src_channel = 2048, dst_row = 4608} "
      ": "
      "{0}, {1}\n",
      buffer("l0a", 9 * 1024), l1);
  body +=
      formatv("npu.mmad %c, %a, %b {{offsets = [#npu.affine<0>, #npu.affine<0>, "
              "#npu.affine<0>], m = #npu.range<32>, n = #npu.range<16>, k = #npu.range<144>, "
              "type = f16, first = array<i64>, dst_col = 2048, a_row = 4608, b_row = 512} : {0}, "
              "{1}, {2}\n",
              l0c, buffer("l0a", 9 * 1024), buffer("l0b", 9 * 512));
  body += formatv("npu.move_l0c %u, %c {{offsets = [#npu.affine<0>, #npu.affine<0>], m = "
                  "#npu.range<32>, n = #npu.range<16>, type = f32, dst_type = f16, src_col = 2048, "
                  "dst_row = 32, dst_col = 32} : {0}, {1}\n",
                  ub, l0c);
  body += move("r", ub, "g3", image, "%img, %t", "0", "0, [2048, 1024]", "1024");
  body += vector("add", {"u", "u", "r"}, 1024, 512) + vector("relu", {"u", "u"}, 1024, 512);
  body += move("g2", image, "u", ub, "%img, %t", "0, [2048, 1024]", "0", "1024");
  std::string weights =
      alloc("w", "l1", 9 * 512) + alloc("b", "l0b", 9 * 512) +
      move("w", l1w, "g1", buffer("gm", 9 * 512), "", "0", "0", "4608") +
      formatv(
          "npu.load2d %b, %w {{offsets = [#npu.affine<0>, #npu.affine<0>], outer = "
          "#npu.range<1>, inner = #npu.range<9>, dst_inner = 512, src_inner = 512} : {0}, {1}\n",
          buffer("l0b", 9 * 512), l1w)
          .str();
  return program({3 * 2048, 9 * 512, 3 * 2048, 3 * 2048}, 1,
                 weights + loop("img", 3, loop("t", 2, body)));
}

std::string twoStages() {
  constexpr int64_t bytes = 49152, lanes = bytes / 2;
  std::string ub = buffer("ub", bytes), gm = buffer("gm", 4 * bytes);
  std::string offset = formatv("0, [{0}]", bytes), count = std::to_string(bytes);
  auto stage = [&](const char *iv, const char *from, const char *to, const char *op,
                   const char *scalar) {
    return loop(iv, 4,
                alloc("a", "ub", bytes) + alloc("t", "ub", bytes) + alloc("c", "ub", bytes) +
                    move("a", ub, from, gm, std::string("%") + iv, "0", offset, count) +
                    vector("relu", {"t", "a"}, bytes, lanes) +
                    vector(op, {"c", "t"}, bytes, lanes, scalar) +
                    move(to, gm, "c", ub, std::string("%") + iv, offset, "0", count));
  };
  return program({4 * bytes, 4 * bytes, 4 * bytes}, 1,
                 stage("i", "g0", "g1", "add_scalar", "-0.25") +
                     stage("j", "g1", "g2", "mul_scalar", "0.5"));
}

std::string accumulate() {
  std::string ub = buffer("ub", 512), in = buffer("gm", 5 * 7 * 512), out = buffer("gm", 5 * 512);
  std::string inner = alloc("x", "ub", 512) +
                      move("x", ub, "g0", in, "%i, %j", "0", "0, [3584, 512]", "512") +
                      vector("add", {"s", "s", "x"}, 512, 256);
  return program({5 * 7 * 512, 5 * 512}, 1,
                 loop("i", 5,
                      alloc("s", "ub", 512) + vector("fill", {"s"}, 512, 256, "0.5") +
                          loop("j", 7, inner) +
                          move("g1", out, "s", ub, "%i", "0, [512]", "0", "512")));
}

std::string pieces() {
  std::string ub = buffer("ub", 2048), gm = buffer("gm", 6 * 2048);
  std::string fill = move("x", ub, "g0", gm, "%i, %j", "0, [0, 512]", "0, [2048, 512]", "512");
  std::string use = vector("add_scalar", {"x", "x"}, 2048, 1024, "1.0") +
                    vector("mul_scalar", {"y", "x"}, 2048, 1024, "0.5") +
                    move("g1", gm, "y", ub, "%i, %l", "0, [2048, 1024]", "0, [0, 1024]", "1024");
  return program({6 * 2048, 6 * 2048}, 1,
                 loop("i", 6,
                      alloc("x", "ub", 2048) + alloc("y", "ub", 2048) + loop("j", 4, fill) +
                          loop("l", 2, use)));
}

std::string inPlace() {
  auto pass = [&](const char *iv, int64_t tiles, int64_t bytes) {
    std::string ub = buffer("ub", bytes), gm = buffer("gm", 6144), at = std::string("%") + iv;
    std::string offset = formatv("0, [{0}]", bytes);
    return loop(iv, tiles,
                alloc("x", "ub", bytes) +
                    move("x", ub, "g0", gm, at, "0", offset, std::to_string(bytes)) +
                    vector("mul_scalar", {"x", "x"}, bytes, bytes / 2, "2.0") +
                    move("g0", gm, "x", ub, at, offset, "0", std::to_string(bytes)));
  };
  return program({6144}, 1, pass("i", 6, 1024) + pass("j", 4, 1536));
}

std::string pingPong(unsigned stages) {
  std::string ub = buffer("ub", 512), in = buffer("gm", stages * 4 * 512);
  std::string body = alloc("s", "ub", 512) + vector("fill", {"s"}, 512, 256, "0.5");
  for (unsigned stage = 0; stage < stages; ++stage) {
    std::string x = "x" + std::to_string(stage), y = "y" + std::to_string(stage);
    std::string offset = formatv("{0}, [512]", stage * 4 * 512);
    body += alloc(x.c_str(), "ub", 512) + alloc(y.c_str(), "ub", 512) +
            move(x, ub, "g0", in, "%i", "0", offset, "512") +
            vector("add", {"s", "s", x.c_str()}, 512, 256) +
            vector("relu", {y.c_str(), "s"}, 512, 256) +
            move("g1", in, y, ub, "%i", offset, "0", "512");
  }
  return program({stages * 4 * 512, stages * 4 * 512}, 1, loop("i", 4, body));
}

std::string manyLoads(unsigned count) {
  std::string ub = buffer("ub", 512), in = buffer("gm", count * 4 * 512);
  std::string loads, uses = alloc("s", "ub", 512) + vector("fill", {"s"}, 512, 256, "0.5");
  for (unsigned index = 0; index < count; ++index) {
    std::string x = "x" + std::to_string(index);
    loads += alloc(x.c_str(), "ub", 512) +
             move(x, ub, "g0", in, "%i", "0", formatv("{0}, [512]", index * 4 * 512), "512");
    uses += vector("add", {"s", "s", x.c_str()}, 512, 256);
  }
  uses += move("g1", buffer("gm", 2048), "s", ub, "%i", "0, [512]", "0", "512");
  return program({count * 4 * 512, 2048}, 1, loop("i", 4, loads + uses));
}

std::string earlyLoad() {
  constexpr int64_t bytes = 16384, lanes = bytes / 2;
  std::string ub = buffer("ub", bytes), gm = buffer("gm", 16 * bytes);
  std::string offset = formatv("0, [{0}]", bytes), count = std::to_string(bytes);
  std::string body = alloc("a", "ub", bytes) + alloc("b", "ub", bytes) + alloc("c", "ub", bytes) +
                     alloc("d", "ub", bytes);
  body +=
      move("b", ub, "g1", gm, "%i", "0", offset, count) +
      move("a", ub, "g0", gm, "%i", "0", offset, count) + vector("exp", {"c", "a"}, bytes, lanes) +
      vector("exp", {"c", "c"}, bytes, lanes) + vector("exp", {"c", "c"}, bytes, lanes) +
      move("g2", gm, "c", ub, "%i", offset, "0", count) + vector("exp", {"d", "b"}, bytes, lanes) +
      move("g3", gm, "d", ub, "%i", offset, "0", count);
  return program({16 * bytes, 16 * bytes, 16 * bytes, 16 * bytes}, 1, loop("i", 16, body));
}

std::string straight(unsigned steps) {
  std::string ub = buffer("ub", 512), gm = buffer("gm", steps * 512), body;
  body = alloc("s", "ub", 512) + vector("fill", {"s"}, 512, 256, "0.0");
  for (unsigned step = 0; step < steps; ++step) {
    std::string x = "x" + std::to_string(step);
    body += alloc(x.c_str(), "ub", 512) +
            move(x, ub, "g0", gm, "", "0", std::to_string(step * 512), "512") +
            vector("add", {"s", "s", x.c_str()}, 512, 256);
  }
  return program({steps * 512, 512}, 1,
                 body + move("g1", buffer("gm", 512), "s", ub, "", "0", "0", "512"));
}

} // namespace atc::npu::test
