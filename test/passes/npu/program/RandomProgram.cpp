//===-- RandomProgram.cpp - sequential npu programs drawn by a seed -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/program/RandomProgram.h"

#include "llvm/Support/FormatVariadic.h"

#include <random>

using llvm::formatv;

namespace atc::npu::test {

namespace {

constexpr int64_t kTile = 512, kRegion = 8192; ///< bytes: 256 f16, a core's part of gm

struct Writer {
  std::mt19937 random;
  std::string text;
  int64_t cores = 1;
  int64_t space = kTile; ///< of a buffer in ub: many large ones leave no room for copies
  unsigned max = 40;     ///< lines
  unsigned names = 0, statements = 0;
  struct Loop {
    std::string name;
    int64_t trips;
  };
  std::vector<Loop> loops;
  std::vector<std::string> full; ///< ub buffers that hold something here

  explicit Writer(uint32_t seed) : random(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return low + int64_t(random() % uint32_t(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::string fresh() { return formatv("b{0}", names++); }

  void line(const std::string &what) {
    text += std::string(2 * loops.size() + 2, ' ') + what + "\n";
    ++statements;
  }
  std::string buffer(const char *memory, int64_t bytes) {
    return formatv("!npu.buffer<{0}, {1}>", memory, bytes);
  }
  std::string ub() { return buffer("ub", space); }
  std::string gm() { return buffer("gm", kRegion * cores); }
  std::string alloc(const char *memory, int64_t bytes) {
    std::string name = fresh();
    line(formatv("%{0} = npu.alloc : {1}", name, buffer(memory, bytes)));
    return name;
  }

  std::string ivs() {
    std::string all = "%core";
    for (const Loop &loop : loops)
      all += ", %" + loop.name;
    return all;
  }
  /// A tile's position in the core's part of gm: base and strides of the loops.
  std::string address(int64_t bytes) {
    int64_t room = kRegion - bytes;
    std::string strides = formatv("{0}", kRegion);
    for (const Loop &loop : loops) {
      int64_t stride = pick(0, 3) * 256, reach = stride * (loop.trips - 1);
      stride = reach > room ? 0 : stride;
      room -= stride * (loop.trips - 1);
      strides += formatv(", {0}", stride).str();
    }
    return formatv("#npu.affine<{0}, [{1}]>", pick(0, room / 256) * 256, strides);
  }
  std::string guard() {
    static const char *const kinds[] = {"first", "not_first", "last", "not_last"};
    if (loops.empty() || !chance(20))
      return "";
    return formatv(", guard = #npu.guard<{0}, {1}>", kinds[pick(0, 3)],
                   pick(1, int64_t(loops.size())));
  }
  static std::string zero() { return "#npu.affine<0>"; }

  void fill(const std::string &name) {
    line(formatv("npu.vector \"fill\" %{0} {{offsets = [#npu.affine<0>], outer = #npu.range<1>, "
                 "inner = #npu.range<1>, lanes = #npu.range<256>, type = f16, dst_type = f16, "
                 "scalar = {1}.5} : {2}",
                 name, pick(0, 3), ub()));
  }
  /// 16 rows of 32 bytes, of which some may be cut off.
  void load(const std::string &name, int64_t argument, bool cut, const std::string &when) {
    std::string inner = "16", where = address(kTile);
    if (cut)
      inner = rows();
    line(formatv("npu.move %{0}, %g{1} at {2} {{offsets = [{3}, {4}], outer = #npu.range<1>, inner "
                 "= #npu.range<{5}>, bytes = #npu.range<32>, dst_inner = 32, src_inner = 32{6}} : "
                 "{7}, {8}",
                 name, argument, ivs(), zero(), where, inner, when, ub(), gm()));
  }
  std::string rows() {
    std::string strides = "0";
    for (size_t i = 0; i < loops.size(); ++i)
      strides += formatv(", {0}", pick(0, 6)).str();
    return formatv("16 from <{0}, [{1}]> below {2}", pick(-6, 6), strides, pick(8, 20));
  }
  void store(const std::string &name) {
    std::string inner = chance(30) ? rows() : "16", where = address(kTile);
    line(formatv("npu.move %g{0}, %{1} at {2} {{offsets = [{3}, {4}], outer = #npu.range<1>, inner "
                 "= #npu.range<{5}>, bytes = #npu.range<32>, dst_inner = 32, src_inner = 32{6}} : "
                 "{7}, {8}",
                 pick(1, 2), name, ivs(), where, zero(), inner, guard(), gm(), ub()));
  }
  void binary(const std::string &dst, const std::string &when) {
    static const char *const ops[] = {"add", "sub", "max", "min", "mul"};
    std::string a = any(), b = any();
    line(formatv("npu.vector \"{0}\" %{1}, %{2}, %{3} at {4} {{offsets = [{5}, {5}, {5}], outer = "
                 "#npu.range<1>, inner = #npu.range<1>, lanes = #npu.range<256>, type = f16, "
                 "dst_type = f16{6}} : {7}, {7}, {7}",
                 ops[pick(0, 4)], dst, a, b, ivs(), zero(), when, ub()));
  }
  std::string any() { return full[size_t(pick(0, int64_t(full.size()) - 1))]; }

  /// A new buffer that holds something.
  void produce() {
    std::string name;
    switch (pick(0, full.empty() ? 1 : 3)) {
    case 0:
      name = alloc("ub", space);
      load(name, pick(0, 2), false, "");
      break;
    case 1:
      name = alloc("ub", space);
      fill(name);
      load(name, pick(0, 2), true, guard());
      break;
    case 2:
      name = alloc("ub", space);
      binary(name, "");
      break;
    default:
      name = product();
      break;
    }
    full.push_back(name);
  }

  /// 16 x 16 results of a sum over 16 or, in a loop, more.
  std::string product() {
    int64_t trips = pick(1, 3);
    bool outside = chance(50); // l1 holds all of it, or a step's part
    std::string l0c = alloc("l0c", 1024), result = alloc("ub", space);
    std::string l1 = outside ? alloc("l1", 512 * trips) : "";
    if (outside)
      line(formatv("npu.move %{0}, %g0 at {1} {{offsets = [{2}, {3}], outer = #npu.range<1>, inner "
                   "= #npu.range<1>, bytes = #npu.range<{4}>} : {5}, {6}",
                   l1, ivs(), zero(), address(512 * trips), 512 * trips, buffer("l1", 512 * trips),
                   gm()));
    std::string k = "k" + fresh(), l1Type = buffer("l1", outside ? 512 * trips : 512);
    line(formatv("npu.loop %{0} = {1} {{", k, trips));
    loops.push_back({k, trips});
    if (!outside) {
      l1 = alloc("l1", 512);
      line(formatv("npu.move %{0}, %g{1} at {2} {{offsets = [{3}, {4}], outer = #npu.range<1>, "
                   "inner = #npu.range<1>, bytes = #npu.range<512>} : {5}, {6}",
                   l1, pick(0, 1), ivs(), zero(), address(512), l1Type, gm()));
    }
    std::string l0[2];
    for (int i = 0; i < 2; ++i) {
      const char *memory = i ? "l0b" : "l0a";
      l0[i] = alloc(memory, 512);
      line(formatv("npu.load2d %{0}, %{1} at %{2} {{offsets = [{3}, #npu.affine<0, [{4}]>], outer "
                   "= #npu.range<1>, inner = #npu.range<1>} : {5}, {6}",
                   l0[i], l1, k, zero(), outside ? 512 : 0, buffer(memory, 512), l1Type));
    }
    line(formatv("npu.mmad %{0}, %{1}, %{2} at %{3} {{offsets = [{4}, {4}, {4}], m = "
                 "#npu.range<16>, n = #npu.range<16>, k = #npu.range<16>, type = f16, first = "
                 "array<i64: 0>, dst_col = 1024, a_row = 512, b_row = 512} : {5}, {6}, {7}",
                 l0c, l0[0], l0[1], k, zero(), buffer("l0c", 1024), buffer("l0a", 512),
                 buffer("l0b", 512)));
    loops.pop_back();
    line("}");
    line(formatv("npu.move_l0c %{0}, %{1} {{offsets = [{2}, {2}], m = #npu.range<16>, n = "
                 "#npu.range<16>, type = f32, dst_type = f16, src_col = 1024, dst_row = 32, "
                 "dst_col = 512} : {3}, {4}",
                 result, l0c, zero(), ub(), buffer("l0c", 1024)));
    return result;
  }

  void block(unsigned depth) {
    size_t before = full.size();
    for (int64_t count = pick(2, 5); count-- && statements < max;) {
      if (full.empty() || (full.size() < 8 && chance(40))) {
        produce();
      } else if (depth < 3 && chance(45)) {
        Loop loop{formatv("i{0}", names++), pick(1, depth == 2 ? 2 : 4)};
        line(formatv("npu.loop %{0} = {1} {{", loop.name, loop.trips));
        loops.push_back(loop);
        block(depth + 1);
        loops.pop_back();
        line("}");
      } else if (chance(40)) {
        binary(any(), guard());
      } else {
        store(any());
      }
    }
    if (!full.empty())
      store(any());
    full.resize(before); // what was made inside ends here
  }
};

} // namespace

std::string randomProgram(uint32_t seed) {
  Writer writer(seed);
  writer.cores = writer.pick(1, 3);
  writer.space = writer.chance(25) ? 32 * kTile : kTile;
  writer.max = writer.chance(25) ? 100 : 40;
  // Enough for all random drawings of a seed to differ from the next seed's.
  writer.random.discard(16);
  writer.block(0);
  std::string gm = writer.gm();
  return formatv("npu.program @p(%g0: {0}, %g1: {0}, %g2: {0}) grid(%core = {1}) soc "
                 "\"Ascend310P3\" {{\n",
                 gm, writer.cores)
             .str() +
         writer.text + "}\n";
}

} // namespace atc::npu::test
